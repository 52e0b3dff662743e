// SPDX-License-Identifier: GPL-2.0-only
/* Create and delete loopback fabrics: model memory, one adapter per node. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "loop.h"

/**
 * loop_refuse() - log what is wrong with a description
 * @text: description; the message shows only the first line of a graph
 * @why: what is wrong
 *
 * Return: -EINVAL.
 */
int loop_refuse(const char *text, const struct ang_topo_why *why)
{
	int len = min_t(int, strcspn(text, "\n"), 32);

	if (why->line)
		pr_err("fabric '%.*s': line %u: %s\n", len, text, why->line,
		       why->what);
	else
		pr_err("fabric '%.*s': %s\n", len, text, why->what);
	return -EINVAL;
}

static void fabric_release(struct device *dev)
{
	struct loop_fabric *fabric = container_of(dev, struct loop_fabric, dev);

	loop_workers_free(fabric);
	kvfree(fabric->node);
	vfree(fabric->mem);
	kfree(fabric);
}

/* Sets up the routers; yields after each, since a large fabric takes long. */
static int fabric_fill(struct loop_fabric *fabric, const struct ang_cfg *cfg)
{
	struct ang_topo_why why;
	u32 i;

	if (!ang_fabric_begin(fabric->mem, cfg, &why))
		return loop_refuse(cfg->text, &why);
	for (i = 0; i < cfg->topo.routers; i++) {
		ang_fabric_add(fabric->mem, i);
		cond_resched();
	}
	return 0;
}

static int fabric_alloc(struct loop_fabric *fabric, const struct ang_cfg *cfg)
{
	u64 size = ang_fabric_size(cfg);
	int ret;

	if (size > ULONG_MAX)
		return -ENOMEM;
	fabric->mem = __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!fabric->mem) {
		pr_err("no memory for %u nodes and switches: %llu MiB needed\n",
		       cfg->topo.routers, size >> 20);
		return -ENOMEM;
	}
	fabric->node = kvcalloc(fabric->num_nodes, sizeof(*fabric->node),
				GFP_KERNEL);
	if (!fabric->node)
		return -ENOMEM;
	ret = fabric_fill(fabric, cfg);
	return ret ? ret : loop_workers_new(fabric);
}

/*
 * Allocates the adapters of all nodes before the first is registered: from then
 * on any node may raise an interrupt, which needs the node's adapter.
 */
static int nodes_alloc(struct loop_fabric *fabric)
{
	u32 i;

	for (i = 0; i < fabric->num_nodes; i++) {
		struct loop_node *node = &fabric->node[i];
		struct ang_dev *adev;

		node->fabric = fabric;
		node->id = i;
		adev = ang_dev_alloc(&loop_bus_ops, &fabric->dev, node);
		if (IS_ERR(adev))
			return PTR_ERR(adev);
		node->adev = adev;
		cond_resched();
	}
	return 0;
}

static void nodes_free(struct loop_fabric *fabric)
{
	u32 i;

	for (i = 0; i < fabric->num_nodes && fabric->node[i].adev; i++)
		ang_dev_put(fabric->node[i].adev);
}

static void nodes_unregister(struct loop_fabric *fabric, u32 count)
{
	while (count--) {
		ang_dev_unregister(fabric->node[count].adev);
		cond_resched();
	}
	loop_workers_flush(fabric);
}

static int nodes_register(struct loop_fabric *fabric)
{
	u32 i;
	int ret;

	for (i = 0; i < fabric->num_nodes; i++) {
		ret = ang_dev_register(fabric->node[i].adev);
		if (ret) {
			nodes_unregister(fabric, i);
			return ret;
		}
		cond_resched();
	}
	return 0;
}

/**
 * loop_fabric_new() - create a fabric
 * @cfg: configuration that ang_cfg_check() accepts
 * @id: number of the fabric
 * @bus: bus of its device
 *
 * Return: the fabric or an error pointer.
 * Context: process; may sleep.
 */
struct loop_fabric *loop_fabric_new(const struct ang_cfg *cfg, u32 id,
				    struct bus_type *bus)
{
	struct loop_fabric *fabric = kzalloc(sizeof(*fabric), GFP_KERNEL);
	int ret;

	if (!fabric)
		return ERR_PTR(-ENOMEM);
	fabric->cfg = *cfg;
	fabric->cfg.text = NULL;
	fabric->id = id;
	fabric->num_nodes = ang_cfg_check(cfg);
	device_initialize(&fabric->dev);
	fabric->dev.bus = bus;
	fabric->dev.release = fabric_release;
	ret = dev_set_name(&fabric->dev, "fabric%u", id);
	if (ret)
		goto err_put;
	ret = fabric_alloc(fabric, cfg);
	if (ret)
		goto err_put;
	ret = device_add(&fabric->dev);
	if (ret)
		goto err_put;
	ret = nodes_alloc(fabric);
	if (ret)
		goto err_nodes;
	ret = nodes_register(fabric);
	if (ret)
		goto err_nodes;
	return fabric;

err_nodes:
	nodes_free(fabric);
	device_del(&fabric->dev);
err_put:
	put_device(&fabric->dev);
	return ERR_PTR(ret);
}

/**
 * loop_fabric_delete() - delete a fabric
 * @fabric: fabric; processes may have its devices open
 *
 * Context: process; may sleep.
 */
void loop_fabric_delete(struct loop_fabric *fabric)
{
	nodes_unregister(fabric, fabric->num_nodes);
	nodes_free(fabric);
	device_unregister(&fabric->dev);
}
