// SPDX-License-Identifier: GPL-2.0-only
/*
 * Angara loopback: module parameters and the bus angara_loop.
 *
 *   /sys/bus/angara_loop/new_fabric	write "torus:2x2x2", "mkns:4x4", ..., or the
 *					lines of a graph: make that fabric
 *   /sys/bus/angara_loop/del_fabric	write a number: delete that fabric
 *   /sys/bus/angara_loop/fabrics	read: number, description, nodes, contexts
 *					per node, fabric id; one line each
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "loop.h"

#define SMALL_FABRIC	64U	/* fabrics up to this size get more contexts */

static char *first;
module_param_named(fabric, first, charp, 0444);
MODULE_PARM_DESC(fabric, "fabric to create at load, such as torus:2x2x2 or mkns:4x4 (default: none)");

static ushort contexts;
module_param(contexts, ushort, 0644);
MODULE_PARM_DESC(contexts, "contexts per node, 1..128 (default: 16, above 64 nodes and switches 4)");

static ushort trees = ANG_DEF_TREES;
module_param(trees, ushort, 0644);
MODULE_PARM_DESC(trees, "trees per node, 1..64 (default: 16)");

/* Protects loop_fabrics and loop_open. */
static DEFINE_MUTEX(loop_lock);
static DEFINE_XARRAY_ALLOC(loop_fabrics);
static bool loop_open;

static struct bus_type loop_bus;

static int read_fabric(const char *text, struct ang_cfg *cfg)
{
	struct ang_topo_why why = {};

	cfg->text = text;
	if (ang_topo_read(&cfg->topo, text, &why)) {
		if (strlen(text) <= ANG_MAX_TEXT &&
		    cfg->topo.routers <= LOOP_MAX_ROUTERS)
			return 0;
		why.line = 0;
		why.what = cfg->topo.routers > LOOP_MAX_ROUTERS ?
			   "more than 4096 nodes and switches" :
			   "the description is longer than 4095 bytes";
	}
	return loop_refuse(text, &why);
}

static int make_cfg(const char *text, struct ang_cfg *cfg)
{
	int ret = read_fabric(text, cfg);
	bool small;

	if (ret)
		return ret;
	small = cfg->topo.routers <= SMALL_FABRIC;
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

static int add_fabric(const char *text, const struct ang_cfg *cfg)
{
	struct loop_fabric *fabric;
	u32 id;
	int ret;

	ret = xa_alloc(&loop_fabrics, &id, NULL,
		       XA_LIMIT(0, LOOP_MAX_FABRICS - 1), GFP_KERNEL);
	if (ret) {
		if (ret == -EBUSY)
			pr_err("%u fabrics exist already: delete one first\n",
			       LOOP_MAX_FABRICS);
		return ret;
	}
	fabric = loop_fabric_new(cfg, id, &loop_bus);
	if (IS_ERR(fabric)) {
		xa_erase(&loop_fabrics, id);
		if (PTR_ERR(fabric) == -EBUSY)
			pr_err("fabric '%.32s': not enough of the %u device numbers are free: delete a fabric first\n",
			       text, ANG_MAX_DEVS);
		return PTR_ERR(fabric);
	}
	xa_store(&loop_fabrics, id, fabric, GFP_KERNEL);
	return 0;
}

static int new_fabric(const char *text)
{
	struct ang_cfg cfg = {};
	int ret;

	lockdep_assert_held(&loop_lock);

	ret = make_cfg(text, &cfg);
	if (!ret)
		ret = add_fabric(text, &cfg);
	return ret;
}

static int del_fabric(const char *text)
{
	struct loop_fabric *fabric;
	u32 id;

	lockdep_assert_held(&loop_lock);

	if (kstrtou32(text, 10, &id)) {
		pr_err("fabric '%.32s': must be a number listed in /sys/bus/angara_loop/fabrics\n",
		       text);
		return -EINVAL;
	}
	fabric = xa_load(&loop_fabrics, id);
	if (!fabric) {
		pr_err("fabric %u: does not exist; see /sys/bus/angara_loop/fabrics\n",
		       id);
		return -ENOENT;
	}
	xa_erase(&loop_fabrics, id);
	loop_fabric_delete(fabric);
	return 0;
}

/* Call @fn with the text written to an attribute, without outer white space. */
static ssize_t loop_command(const char *buf, size_t count, int (*fn)(const char *))
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
	/*
	 * sysfs cuts off a write after PAGE_SIZE bytes, so the text may be
	 * incomplete.
	 */
	if (count == PAGE_SIZE) {
		pr_err("fabric: the text is longer than %lu bytes\n",
		       PAGE_SIZE - 1);
		return -EFBIG;
	}
	return loop_command(buf, count, new_fabric);
}
static BUS_ATTR_WO(new_fabric);

static ssize_t del_fabric_store(ang_attr_bus *bus, const char *buf, size_t count)
{
	return loop_command(buf, count, del_fabric);
}
static BUS_ATTR_WO(del_fabric);

static int show_fabric(const struct loop_fabric *fabric, char *buf, int at)
{
	char text[ANG_TOPO_TEXT] = "graph";

	/*
	 * ang_topo_describe() writes one line with a newline.  For a graph it
	 * does not change @text.
	 */
	ang_topo_describe(&fabric->cfg.topo, text);
	return sysfs_emit_at(buf, at, "%u %.*s %u %u %016llx\n", fabric->id,
			     (int)strcspn(text, "\n"), text,
			     fabric->num_nodes, fabric->cfg.ctxs,
			     fabric->cfg.fabric_id);
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

static struct bus_type loop_bus = {
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
	if (first && *first)
		ret = new_fabric(first);
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
