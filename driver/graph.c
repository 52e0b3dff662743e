// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptions of fabrics, and tables computed from them.
 *
 * Devices that report the same text share one struct ang_graph: the routes and
 * neighbours of a graph, and the switches that each node keeps, are computed
 * once for all devices of a fabric. The text is the complete description, so it
 * does not matter which device reported it first.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ang_dev.h"

/* Protects the list of graphs, and ang_graph.users. */
static DEFINE_MUTEX(graphs_lock);
static LIST_HEAD(graphs);

static struct ang_graph *graph_find(const char *text)
{
	struct ang_graph *g;

	lockdep_assert_held(&graphs_lock);

	list_for_each_entry(g, &graphs, entry)
		if (!strcmp(g->text, text))
			return g;
	return NULL;
}

static void graph_free(struct ang_graph *g)
{
	kvfree(g->topo.table);
	kvfree(g->first);
	kvfree(g->kept);
	kfree(g->text);
	kfree(g);
}

/* Fills the table of a graph; other topologies need no table. */
static int graph_fill(struct ang_graph *g, struct ang_topo_why *why)
{
	void *table;

	if (g->topo.kind != ANG_TOPO_GRAPH)
		return 0;
	table = kvzalloc(ang_topo_table_size(&g->topo), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	if (ang_topo_fill(&g->topo, g->text, table, why))
		return 0;
	kvfree(table);
	return -ENODEV;
}

/*
 * List the switches of each node in ascending order: count the switches of each
 * node, then fill @kept from its end.
 */
static int graph_list_kept(struct ang_graph *g)
{
	const struct ang_topo *topo = &g->topo;
	u32 i;

	if (topo->routers == topo->nodes)
		return 0;
	g->first = kvcalloc(topo->nodes + 1, sizeof(*g->first), GFP_KERNEL);
	g->kept = kvcalloc(topo->routers - topo->nodes, sizeof(*g->kept), GFP_KERNEL);
	if (!g->first || !g->kept)
		return -ENOMEM;
	for (i = topo->nodes; i < topo->routers; i++) {
		g->first[ang_topo_keeper(topo, i)]++;
		cond_resched();
	}
	for (i = 1; i <= topo->nodes; i++)
		g->first[i] += g->first[i - 1];
	for (i = topo->routers; i-- > topo->nodes;) {
		g->kept[--g->first[ang_topo_keeper(topo, i)]] = i;
		cond_resched();
	}
	return 0;
}

static struct ang_graph *graph_new(const char *text, struct ang_topo_why *why)
{
	struct ang_graph *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!g)
		return ERR_PTR(-ENOMEM);
	g->text = kstrdup(text, GFP_KERNEL);
	if (!g->text)
		goto err_free;
	ret = -ENODEV;
	if (!ang_topo_read(&g->topo, text, why))
		goto err_free;
	ret = graph_fill(g, why);
	if (!ret)
		ret = graph_list_kept(g);
	if (!ret)
		return g;

err_free:
	graph_free(g);
	return ERR_PTR(ret);
}

/**
 * ang_graph_get() - get the shared description of a fabric
 * @text: description
 * @why: out: after -ENODEV, what is wrong with @text
 *
 * Return: the description, undo with ang_graph_put(); -ENODEV @text describes
 * no fabric; -ENOMEM.
 * Context: process; may sleep.
 */
struct ang_graph *ang_graph_get(const char *text, struct ang_topo_why *why)
{
	struct ang_graph *g;

	mutex_lock(&graphs_lock);
	g = graph_find(text);
	if (!g) {
		g = graph_new(text, why);
		if (!IS_ERR(g))
			list_add(&g->entry, &graphs);
	}
	if (!IS_ERR(g))
		g->users++;
	mutex_unlock(&graphs_lock);
	return g;
}

/**
 * ang_graph_put() - undo ang_graph_get()
 * @g: description, or NULL
 *
 * Context: process; may sleep.
 */
void ang_graph_put(struct ang_graph *g)
{
	if (!g)
		return;
	mutex_lock(&graphs_lock);
	if (!--g->users) {
		list_del(&g->entry);
		graph_free(g);
	}
	mutex_unlock(&graphs_lock);
}

/**
 * ang_graph_kept() - get the switches that a node keeps
 * @g: description
 * @node: node
 * @kept: out: numbers of these switches, ascending
 *
 * Return: number of these switches.
 */
u32 ang_graph_kept(const struct ang_graph *g, u32 node, const u32 **kept)
{
	if (!g->first)
		return 0;
	*kept = &g->kept[g->first[node]];
	return g->first[node + 1] - g->first[node];
}
