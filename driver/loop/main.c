// SPDX-License-Identifier: GPL-2.0-only
/*
 * Angara loopback: module parameters and the bus angara_loop.
 *
 *   /sys/bus/angara_loop/new_fabric	write "2x2x2": make a torus
 *   /sys/bus/angara_loop/del_fabric	write its number: delete it
 *   /sys/bus/angara_loop/fabrics	read: number, dims, nodes, contexts per
 *					node, fabric id; one line each
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "loop.h"

#define SMALL_FABRIC	64U	/* up to so many nodes get more of everything */

static char *dims;
module_param(dims, charp, 0444);
MODULE_PARM_DESC(dims, "size of a torus made at load, such as 2x2x2 (default: none)");

static ushort contexts;
module_param(contexts, ushort, 0644);
MODULE_PARM_DESC(contexts, "contexts per node, 1..128 (default: 16, above 64 nodes 4)");

static ushort trees = ANG_DEF_TREES;
module_param(trees, ushort, 0644);
MODULE_PARM_DESC(trees, "trees per node, 1..64 (default: 16)");

/* Protects both. */
static DEFINE_MUTEX(loop_lock);
static DEFINE_XARRAY_ALLOC(loop_fabrics);
static bool loop_open;

struct bus_type loop_bus;

/* Return: number of nodes, 0 if @text is no size that fits. */
static u32 parse_dims(const char *text, struct ang_cfg *cfg)
{
	struct ang_topo topo;
	u32 nodes;

	cfg->ndims = ang_topo_parse(text, cfg->dims);
	nodes = ang_topo_init(&topo, cfg->ndims, cfg->dims);
	return nodes <= LOOP_MAX_NODES ? nodes : 0;
}

static int make_cfg(const char *text, struct ang_cfg *cfg)
{
	u32 nodes = parse_dims(text, cfg);
	bool small;

	if (!nodes) {
		pr_err("dims '%.32s': each size must be 1..65535, 1 to %u of them joined by 'x', at most %u nodes\n",
		       text, ANG_MAX_DIMS, LOOP_MAX_NODES);
		return -EINVAL;
	}
	small = nodes <= SMALL_FABRIC;
	cfg->ctxs = READ_ONCE(contexts);
	if (!cfg->ctxs)
		cfg->ctxs = small ? 16 : 4;
	if (cfg->ctxs > ANG_MAX_CTXS) {
		pr_err("contexts '%u': must be 1..%u\n", cfg->ctxs, ANG_MAX_CTXS);
		return -EINVAL;
	}
	cfg->trees = READ_ONCE(trees);
	if (!cfg->trees || cfg->trees > ANGARA_MAX_TREES) {
		pr_err("trees '%u': must be 1..%u\n", cfg->trees, ANGARA_MAX_TREES);
		return -EINVAL;
	}
	cfg->ops = small ? 64 : 16;
	cfg->bufs = small ? 64 : 16;
	cfg->depth = small ? 8 : 4;
	cfg->train = small ? 8 : 2;
	cfg->fabric_id = get_random_u64();
	return ang_cfg_check(cfg) ? 0 : -EINVAL;
}

static int new_fabric(const char *text)
{
	struct loop_fabric *fabric;
	struct ang_cfg cfg = {};
	u32 id;
	int ret;

	lockdep_assert_held(&loop_lock);

	ret = make_cfg(text, &cfg);
	if (ret)
		return ret;
	ret = xa_alloc(&loop_fabrics, &id, NULL,
		       XA_LIMIT(0, LOOP_MAX_FABRICS - 1), GFP_KERNEL);
	if (ret) {
		if (ret == -EBUSY)
			pr_err("%u fabrics are there already: delete one first\n",
			       LOOP_MAX_FABRICS);
		return ret;
	}
	fabric = loop_fabric_new(&cfg, id);
	if (IS_ERR(fabric)) {
		xa_erase(&loop_fabrics, id);
		if (PTR_ERR(fabric) == -EBUSY)
			pr_err("dims '%.32s': not enough of the %u device numbers are free: delete a fabric first\n",
			       text, ANG_MAX_DEVS);
		return PTR_ERR(fabric);
	}
	xa_store(&loop_fabrics, id, fabric, GFP_KERNEL);
	return 0;
}

static int del_fabric(const char *text)
{
	struct loop_fabric *fabric;
	u32 id;

	lockdep_assert_held(&loop_lock);

	if (kstrtou32(text, 10, &id)) {
		pr_err("fabric '%.32s': must be a number that /sys/bus/angara_loop/fabrics shows\n",
		       text);
		return -EINVAL;
	}
	fabric = xa_load(&loop_fabrics, id);
	if (!fabric) {
		pr_err("fabric %u: is not there; /sys/bus/angara_loop/fabrics shows which are\n",
		       id);
		return -ENOENT;
	}
	xa_erase(&loop_fabrics, id);
	loop_fabric_delete(fabric);
	return 0;
}

/* Run a command on the words written to an attribute. */
static ssize_t command(const char *buf, size_t count, int (*fn)(const char *))
{
	char *text = kstrndup(buf, count, GFP_KERNEL);
	int ret = -ENODEV;

	if (!text)
		return -ENOMEM;
	mutex_lock(&loop_lock);
	if (loop_open)
		ret = fn(strim(text));
	mutex_unlock(&loop_lock);
	kfree(text);
	return ret ? ret : count;
}

static ssize_t new_fabric_store(ang_attr_bus *bus, const char *buf, size_t count)
{
	return command(buf, count, new_fabric);
}
static BUS_ATTR_WO(new_fabric);

static ssize_t del_fabric_store(ang_attr_bus *bus, const char *buf, size_t count)
{
	return command(buf, count, del_fabric);
}
static BUS_ATTR_WO(del_fabric);

static int show_fabric(const struct loop_fabric *fabric, char *buf, int at)
{
	int start = at;
	u32 d;

	at += sysfs_emit_at(buf, at, "%u ", fabric->id);
	for (d = 0; d < fabric->cfg.ndims; d++)
		at += sysfs_emit_at(buf, at, "%s%u", d ? "x" : "",
				    fabric->cfg.dims[d]);
	at += sysfs_emit_at(buf, at, " %u %u %016llx\n", fabric->num_nodes,
			    fabric->cfg.ctxs, fabric->cfg.fabric_id);
	return at - start;
}

static ssize_t fabrics_show(ang_attr_bus *bus, char *buf)
{
	struct loop_fabric *fabric;
	unsigned long id;
	int at = 0;

	mutex_lock(&loop_lock);
	xa_for_each(&loop_fabrics, id, fabric)
		at += show_fabric(fabric, buf, at);
	mutex_unlock(&loop_lock);
	return at;
}
static BUS_ATTR_RO(fabrics);

static struct attribute *loop_bus_attrs[] = {
	&bus_attr_new_fabric.attr,
	&bus_attr_del_fabric.attr,
	&bus_attr_fabrics.attr,
	NULL
};
ATTRIBUTE_GROUPS(loop_bus);

struct bus_type loop_bus = {
	.name = "angara_loop",
	.bus_groups = loop_bus_groups,
};

static void del_all(void)
{
	struct loop_fabric *fabric;
	unsigned long id;

	mutex_lock(&loop_lock);
	loop_open = false;
	xa_for_each(&loop_fabrics, id, fabric) {
		xa_erase(&loop_fabrics, id);
		loop_fabric_delete(fabric);
	}
	mutex_unlock(&loop_lock);
}

static int __init loop_init(void)
{
	int ret;

	ret = loop_wq_init();
	if (ret)
		return ret;
	ret = bus_register(&loop_bus);
	if (ret)
		goto err_wq;
	mutex_lock(&loop_lock);
	loop_open = true;
	if (dims && *dims)
		ret = new_fabric(dims);
	mutex_unlock(&loop_lock);
	if (ret)
		goto err_bus;
	return 0;

err_bus:
	del_all();
	bus_unregister(&loop_bus);
err_wq:
	loop_wq_exit();
	return ret;
}

static void __exit loop_exit(void)
{
	del_all();
	bus_unregister(&loop_bus);
	loop_wq_exit();
	xa_destroy(&loop_fabrics);
}

module_init(loop_init);
module_exit(loop_exit);

MODULE_DESCRIPTION("Angara loopback: fabrics of emulated adapters");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
