// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: angara/angaraN/{registers,contexts,trees,counters,commands}, and
 * workers if the transport has any.
 *
 * For inspection by root; programs use netlink.
 */
#include <linux/cred.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "ang_file.h"

static struct dentry *root;

static const struct {
	u32 offset;
	const char *name;
} registers[] = {
	{ ANGARA_REG_MAGIC, "magic" },
	{ ANGARA_REG_VERSION, "version" },
	{ ANGARA_REG_STATUS, "status" },
	{ ANGARA_REG_CONTROL, "control" },
	{ ANGARA_REG_NODE, "node" },
	{ ANGARA_REG_NODES, "nodes" },
	{ ANGARA_REG_PORTS, "ports" },
	{ ANGARA_REG_CONTEXTS, "contexts" },
	{ ANGARA_REG_TREES, "trees" },
	{ ANGARA_REG_FABRIC_LO, "fabric_lo" },
	{ ANGARA_REG_FABRIC_HI, "fabric_hi" },
	{ ANGARA_REG_ASQ_LO, "asq_lo" },
	{ ANGARA_REG_ASQ_HI, "asq_hi" },
	{ ANGARA_REG_ACQ_LO, "acq_lo" },
	{ ANGARA_REG_ACQ_HI, "acq_hi" },
	{ ANGARA_REG_AEQ_LO, "aeq_lo" },
	{ ANGARA_REG_AEQ_HI, "aeq_hi" },
	{ ANGARA_REG_ADM_ENTRIES, "adm_entries" },
	{ ANGARA_REG_AEQ_ENTRIES, "aeq_entries" },
};

static int registers_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;
	size_t i;
	int ret;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		seq_printf(m, "%03x %-12s %08x\n", registers[i].offset,
			   registers[i].name,
			   ang_read32(adev, registers[i].offset));
	ang_dev_exit(adev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(registers);

static int contexts_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;
	struct ang_ctx_info ctx;
	u32 i;
	int ret;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	seq_puts(m, "ctx pkey       pid     uid     mrs pinned\n");
	for (i = 0; i < adev->max_ctxs; i++)
		if (!ang_dev_ctx_info(adev, i, task_active_pid_ns(current), &ctx))
			seq_printf(m, "%3u 0x%08x %7u %7u %3u %llu\n",
				   ctx.ctx, ctx.pkey, ctx.pid,
				   from_kuid_munged(current_user_ns(), ctx.uid),
				   ctx.mrs, ctx.pinned);
	ang_dev_exit(adev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

/* Only root can open these files, so they show all rows. */
static const struct ang_cred admin = { .admin = true };

/* Calls @print for the node of a device, then for each switch of the node. */
static void each_router(struct seq_file *m, struct ang_dev *adev,
			void (*print)(struct seq_file *m, struct ang_dev *adev,
				      u32 router))
{
	const u32 *kept;
	u32 i, n;

	print(m, adev, adev->node);
	n = ang_graph_kept(adev->graph, adev->node, &kept);
	for (i = 0; i < n; i++) {
		print(m, adev, kept[i]);
		cond_resched();
	}
}

static void trees_print(struct seq_file *m, struct ang_dev *adev, u32 router)
{
	u32 i;

	for (i = 0; i < adev->own.rows.num; i++) {
		struct angara_tree_get get = { .row.tree = i, .router = router };

		if (ang_dev_tree_get(adev, &admin, &get))
			continue;
		seq_printf(m, "%4u %5u %4u %3u %#4llx %2u %6u 0x%08x %5u 0x%08x %6u\n",
			   i, get.state, get.row.is_root, get.row.to_root,
			   get.row.ports, get.row.pe, get.members, get.row.pkey,
			   get.row.epoch, get.delegated, router);
	}
}

static int trees_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;
	int ret;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	seq_puts(m, "tree state root up  down pe joined pkey       epoch delegated  router\n");
	each_router(m, adev, trees_print);
	ang_dev_exit(adev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(trees);

static const char *const node_names[] = ANGARA_NODE_COUNTER_NAMES;
static const char *const link_names[] = ANGARA_LINK_COUNTER_NAMES;
static const char *const tree_names[] = ANGARA_TREE_COUNTER_NAMES;
static const char *const ctx_names[] = ANGARA_CTX_COUNTER_NAMES;

/* Each structure of counters consists of 64-bit words only. */
#define MAX_COUNTERS	18

#define NAMES(_names, _struct) \
	.names = (_names), \
	.count = ARRAY_SIZE(_names) + \
		 BUILD_BUG_ON_ZERO(sizeof(struct _struct) != 8 * ARRAY_SIZE(_names)) + \
		 BUILD_BUG_ON_ZERO(ARRAY_SIZE(_names) > MAX_COUNTERS)

static const struct {
	const char *title;
	const char *const *names;
	size_t count;
} kinds[] = {
	[ANGARA_CNT_NODE] = { "node", NAMES(node_names, angara_hw_node_counters) },
	[ANGARA_CNT_LINK] = { "link", NAMES(link_names, angara_hw_link_counters) },
	[ANGARA_CNT_TREE] = { "tree", NAMES(tree_names, angara_hw_tree_counters) },
	[ANGARA_CNT_CTX] = { "ctx", NAMES(ctx_names, angara_hw_ctx_counters) },
};

/* Prints the counters of an object.  Lines of a switch begin with its number. */
static void counters_print(struct seq_file *m, struct ang_dev *adev, u32 router,
			   u32 kind, u32 index)
{
	__le64 values[MAX_COUNTERS] = { 0 };
	size_t i;

	if (ang_adm_counters(adev, router, kind, index, values,
			     8 * kinds[kind].count))
		return;
	for (i = 0; i < kinds[kind].count; i++) {
		if (!kinds[kind].names[i])
			continue;
		if (router != adev->node)
			seq_printf(m, "switch %u ", router);
		seq_printf(m, "%s %u %s %llu\n", kinds[kind].title, index,
			   kinds[kind].names[i], le64_to_cpu(values[i]));
	}
}

static void counters_print_router(struct seq_file *m, struct ang_dev *adev,
				  u32 router)
{
	u32 i;

	counters_print(m, adev, router, ANGARA_CNT_NODE, 0);
	for (i = 0; i < adev->ports; i++)
		if (ang_topo_neighbor(&adev->graph->topo, router, i) != ANG_NONE)
			counters_print(m, adev, router, ANGARA_CNT_LINK, i);
	for (i = 0; i < adev->own.rows.num; i++) {
		struct angara_tree_get get = { .row.tree = i, .router = router };

		if (!ang_dev_tree_get(adev, &admin, &get) &&
		    get.state != ANGARA_TREE_STATE_UNSET)
			counters_print(m, adev, router, ANGARA_CNT_TREE, i);
	}
}

static int counters_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;
	struct ang_ctx_info ctx;
	int ret;
	u32 i;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	each_router(m, adev, counters_print_router);
	for (i = 0; i < adev->max_ctxs; i++)
		if (!ang_dev_ctx_info(adev, i, &init_pid_ns, &ctx))
			counters_print(m, adev, adev->node, ANGARA_CNT_CTX, i);
	ang_dev_exit(adev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int workers_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;
	int ret;

	ret = ang_dev_enter(adev);
	if (ret)
		return ret;
	adev->ops->workers_show(adev, m);
	ang_dev_exit(adev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(workers);

/* Admin commands sent to the device since its start. */
static int commands_show(struct seq_file *m, void *unused)
{
	struct ang_dev *adev = m->private;

	seq_printf(m, "%u\n", READ_ONCE(adev->adm_pi));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(commands);

/**
 * ang_debugfs_dev_new() - show a device
 * @adev: device; ang_debugfs_dev_del() removes its files before it is freed
 *
 * Errors are ignored, since nothing depends on debugfs.
 */
void ang_debugfs_dev_new(struct ang_dev *adev)
{
	adev->debugfs = debugfs_create_dir(dev_name(&adev->dev), root);
	debugfs_create_file("registers", 0400, adev->debugfs, adev,
			    &registers_fops);
	debugfs_create_file("contexts", 0400, adev->debugfs, adev,
			    &contexts_fops);
	debugfs_create_file("trees", 0400, adev->debugfs, adev, &trees_fops);
	debugfs_create_file("counters", 0400, adev->debugfs, adev,
			    &counters_fops);
	if (adev->ops->workers_show)
		debugfs_create_file("workers", 0400, adev->debugfs, adev,
				    &workers_fops);
	debugfs_create_file("commands", 0400, adev->debugfs, adev,
			    &commands_fops);
}

/**
 * ang_debugfs_dev_del() - stop showing a device
 * @adev: device
 *
 * Waits for readers of its files.
 */
void ang_debugfs_dev_del(struct ang_dev *adev)
{
	debugfs_remove_recursive(adev->debugfs);
	adev->debugfs = NULL;
}

void __init ang_debugfs_init(void)
{
	root = debugfs_create_dir("angara", NULL);
}

void ang_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
