// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fabrics of every kind: all operations of a torus work in them, with switches
 * in between, which have rows but no processing element.
 */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "coll.h"
#include "msgs.h"
#include "fabrics.h"

#define LEN 1536	/* bytes of most operations: six packets, in trains of four */

/*
 * A connected graph of @nodes and @switches, whose cables are random by @seed.
 * The first cables connect each router to an earlier one, at free ports.
 */
static const char *random_graph(char *text, u32 nodes, u32 switches, u32 cables, u64 seed)
{
	u8 used[64] = { 0 };
	u32 routers = nodes + switches;
	char *at = text;
	u32 i;

	EXPECT(routers <= NUM(used));
	at += sprintf(at, "graph random\n");
	for (i = 0; i < routers; i++)
		at += sprintf(at, "%s %c%u\n", i < nodes ? "node" : "switch",
			      i < nodes ? 'n' : 's', i);
	for (i = 1; i < cables; i++) {
		u32 a = i < routers ? i : (u32)(rnd(&seed) >> 16) % routers;
		u32 b = (u32)(rnd(&seed) >> 16) % (i < routers ? i : routers);

		if (a == b)
			continue;
		at += sprintf(at, "%c%u:%u %c%u:%u\n", a < nodes ? 'n' : 's', a,
			      used[a], b < nodes ? 'n' : 's', b, used[b]);
		used[a]++;
		used[b]++;
	}
	return text;
}

static char graphs[2][4096];

const char *fabric_of(u32 index)
{
	static const char * const texts[] = {
		"mesh:4x4", "hypercube:4", "mkns:4x4", "mkns:2x12,ports=6",
		"mkns:4x2x2", "kns:4x4", "kns:13x2,ports=6", "fattree:4,2",
		"fattree:4,3", "fattree:40,2,nodes=18", "torus:4x2x2x2",
	};

	if (index < NUM(texts))
		return texts[index];
	if (index == NUM(texts))
		return random_graph(graphs[0], 16, 5, 40, 3);
	if (index == NUM(texts) + 1)
		return random_graph(graphs[1], 24, 0, 30, 4);
	return NULL;
}

/* Makes a tree over the contexts of all nodes (@seed 0), or of random nodes. */
static struct ttree *lay(struct group *g, u32 root, u64 seed)
{
	u16 *pe = calloc(g->h->nodes, sizeof(*pe));
	struct ttree *t;
	u32 i, any = 0;

	for (i = 0; i < g->h->nodes; i++) {
		pe[i] = !seed || (rnd(&seed) >> 20) % 3 == 0;
		any += pe[i];
	}
	if (!any)
		pe[root % g->h->nodes] = 1;
	t = tree_over(g->h, root % 16, root, g->ctx, g->n, pe, root);
	free(pe);
	return t;
}

/* Runs each operation of a tree, with different members for each @turn. */
static void all_operations(struct ttree *t, u32 turn)
{
	coll_bcast(t, turn % t->n, LEN);
	coll_reduce(t, (turn + 1) % t->n, LEN);
	coll_allreduce(t, LEN);
	coll_barrier(t);
}

/*
 * In the fabric, an allreduce of one packet crosses each link of its tree once
 * up and once down, for any number of participants.
 */
static void reduced_on_the_way(struct ttree *t)
{
	struct traffic before, after;

	traffic(t->h, &before);
	coll_allreduce(t, 64);
	traffic(t->h, &after);
	EXPECT_EQ(after.link[ANGARA_VC_UP] - before.link[ANGARA_VC_UP],
		  t->in_tree - 1);
	EXPECT_EQ(after.link[ANGARA_VC_DOWN] - before.link[ANGARA_VC_DOWN],
		  t->in_tree - 1 + after.credits - before.credits);
	EXPECT_EQ(after.drops, before.drops);
}

/*
 * Do the channels of a tree with this root reach all nodes?  From a switch of
 * one dimension of MKNS or KNS they reach its line only; from a switch of a fat
 * tree or a graph, all nodes.
 */
static int leads_to_all(const struct ang_topo *topo, u32 root)
{
	return root < topo->nodes || topo->kind == ANG_TOPO_FATTREE ||
	       topo->kind == ANG_TOPO_GRAPH;
}

static void roots_of(const char *text)
{
	struct group g = { .h = host_new(text, &cfg_default) };
	u32 root;

	group_new(&g, 1, 4096);
	for (root = 0; root < g.h->v.topo.routers; root++) {
		struct ttree *t;

		if (!leads_to_all(&g.h->v.topo, root))
			continue;
		t = lay(&g, root, 0);
		all_operations(t, root);
		reduced_on_the_way(t);
		tree_del(t);
		t = lay(&g, root, root + 7);
		all_operations(t, root);
		tree_del(t);
	}
	group_del(&g);
}

static void roots(void)
{
	const char *text;
	u32 i;

	for (i = 0; (text = fabric_of(i)); i++)
		roots_of(text);
}

static void put(struct tctx *from, struct tctx *to)
{
	u32 len = 400 + 16 * from->node + to->node;
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to->node, to->id, 0, 2048, len);

	memset(from->buf, (int)(from->node * 16 + to->node), len);
	memset(to->buf + 2048, 0, 2048);
	EXPECT_EQ(status_of(from, w), ANGARA_ST_OK);
	EXPECT(!memcmp(from->buf, to->buf + 2048, len));
	EXPECT(!to->buf[2048 + len]);
}

static void talk(struct tctx *from, struct tctx *to, struct tarea *area)
{
	u32 tag = from->node << 8 | to->node;
	u32 voids = 0;

	send_msg(from, to->node, to->id, tag, 200);
	expect_next(area, tag, &voids);
	expect_cqe(from, tag, ANGARA_ST_OK);
	EXPECT_EQ(voids, 0);
}

static void pairs_of(const char *text)
{
	struct host *h = host_new(text, &cfg_default);
	struct tctx **c = calloc(h->nodes, sizeof(*c));
	struct tarea **area = calloc(h->nodes, sizeof(*area));
	struct traffic sum;
	u32 i, k;

	for (i = 0; i < h->nodes; i++) {
		c[i] = member(h, i, 0);
		area[i] = area_new(c[i], MSG_LOG2);
	}
	for (i = 0; i < h->nodes; i++)
		for (k = 0; k < h->nodes; k++) {
			put(c[i], c[k]);
			talk(c[i], c[k], area[k]);
		}
	traffic(h, &sum);
	EXPECT_EQ(sum.drops, 0);
	EXPECT_EQ(sum.hops, sum.link[ANGARA_VC_REQ] + sum.link[ANGARA_VC_RSP]);
	for (i = 0; i < h->nodes; i++) {
		ctx_del(c[i]);
		free(area[i]);
	}
	free(area);
	free(c);
	host_free(h);
}

static void pairs(void)
{
	const char *text;
	u32 i;

	for (i = 0; (text = fabric_of(i)); i++)
		pairs_of(text);
}

static struct angara_adm_cmd about(u32 opcode, u32 router)
{
	struct angara_adm_cmd cmd = {
		.opcode = (u8)opcode, .set.router = cpu_to_le32(router),
	};

	return cmd;
}

/* Only the keeper may program a switch, and only with valid rows. */
static void keepers(void)
{
	struct host *h = host_new("kns:4x2", &cfg_default);
	struct angara_tree_row row = {
		.is_root = 1, .to_root = ANGARA_PORT_NONE, .ports = 3,
		.port_sum = 2, .pkey = PKEY,
	};
	u32 s = h->nodes;
	u32 keeper = ang_topo_keeper(&h->v.topo, s);
	struct angara_adm_cmd get = about(ANGARA_ADM_TREE_GET, s);
	struct angara_adm_cpl cpl;

	EXPECT_EQ(adm_row(h, s, &row), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_row(h, s, &row), ANGARA_ADM_ST_EXISTS);
	EXPECT_EQ(adm(h, keeper, &get, &cpl), ANGARA_ADM_ST_OK);
	EXPECT_EQ(le64_to_cpu(cpl.row.ports), 3);
	EXPECT_EQ(cpl.row.state, ANGARA_TREE_STATE_UP);
	EXPECT_EQ(adm_op(h, keeper, ANGARA_ADM_TREE_GET, 0, 0),
		  ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm(h, keeper + 1, &get, NULL), ANGARA_ADM_ST_PARAM);
	get = about(ANGARA_ADM_TREE_GET, keeper + 1);
	EXPECT_EQ(adm(h, keeper, &get, NULL), ANGARA_ADM_ST_PARAM);
	get = about(ANGARA_ADM_TREE_GET, h->v.topo.routers);
	EXPECT_EQ(adm(h, keeper, &get, NULL), ANGARA_ADM_ST_PARAM);
	get = about(ANGARA_ADM_TREE_GET, s);
	get.set.reserved = cpu_to_le32(1);
	EXPECT_EQ(adm(h, keeper, &get, NULL), ANGARA_ADM_ST_PARAM);
	row.tree = 1;
	row.pe = 1;
	EXPECT_EQ(adm_row(h, s, &row), ANGARA_ADM_ST_RULE);
	EXPECT_EQ(adm_op(h, s, ANGARA_ADM_TREE_CLEAR, 0, 0), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, s, ANGARA_ADM_TREE_CLEAR, 0, 0),
		  ANGARA_ADM_ST_ABSENT);
	/* A switch has no registers. */
	EXPECT_EQ(ang_reg_read(&h->v, s, ANGARA_REG_MAGIC), ~0U);
	host_end(h);
}

static u32 reads_switch(struct group *g, u32 s, u32 reader, u32 kind, u32 index,
			u32 len)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_COUNTERS };

	cmd.counters.kind = cpu_to_le32(kind);
	cmd.counters.index = cpu_to_le32(index);
	cmd.counters.addr = cpu_to_le64(0xBAD000);
	cmd.counters.length = cpu_to_le32(len);
	cmd.counters.router = cpu_to_le32(s);
	return adm(g->h, reader, &cmd, NULL);
}

/* Only the keeper reads the counters of its switch. */
static void switch_counters(void)
{
	struct group g = { .h = host_new("kns:4x2", &cfg_default) };
	struct angara_hw_node_counters at;
	struct angara_hw_tree_counters tree;
	struct angara_hw_link_counters link;
	struct ang_tree *at_tree;
	struct ang_node *n;
	struct ttree *t;
	u32 s, keeper, vc, port;
	u64 sent = 0;

	group_new(&g, 1, 4096);
	t = lay(&g, 3, 0);
	for (s = g.h->nodes; !angara_tree_has(&t->rows[s]); s++)
		;
	keeper = host_keeper(g.h, s);
	n = ang_node(g.h->fab, s);
	at_tree = &n->tree[t->tree];
	all_operations(t, 3);
	EXPECT_EQ(adm_counters_get(g.h, s, ANGARA_CNT_TREE, t->tree, &tree,
				   sizeof(tree)), ANGARA_ADM_ST_OK);
	EXPECT(at_tree->cnt.reduce_packets);
	EXPECT_EQ(le64_to_cpu(tree.reduce_packets), at_tree->cnt.reduce_packets);
	EXPECT_EQ(le64_to_cpu(tree.max_in_flight), at_tree->cnt.max_in_flight);
	for (port = 0; port < g.h->fab->nports; port++) {
		EXPECT_EQ(adm_counters_get(g.h, s, ANGARA_CNT_LINK, port, &link,
					   sizeof(link)), ANGARA_ADM_ST_OK);
		for (vc = 0; vc < ANGARA_VC_NUM; vc++) {
			EXPECT_EQ(le64_to_cpu(link.packets[vc]),
				  ang_port(g.h->fab, n, port)->link.packets[vc]);
			sent += le64_to_cpu(link.packets[vc]);
		}
	}
	EXPECT(sent);
	n->drops[ANGARA_DROP_PORT] += 77;
	EXPECT_EQ(adm_counters_get(g.h, s, ANGARA_CNT_NODE, 0, &at, sizeof(at)),
		  ANGARA_ADM_ST_OK);
	EXPECT_EQ(le64_to_cpu(at.drops[ANGARA_DROP_PORT]), 77);
	n->drops[ANGARA_DROP_PORT] -= 77;
	EXPECT_EQ(reads_switch(&g, s, keeper, ANGARA_CNT_CTX, 0, 4096), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(reads_switch(&g, s, keeper, ANGARA_CNT_LINK, 64, 4096),
		  ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(reads_switch(&g, s, keeper, ANGARA_CNT_LINK, 0, sizeof(link) - 1),
		  ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(reads_switch(&g, s, (keeper + 1) % g.h->nodes, ANGARA_CNT_LINK, 0, 4096),
		  ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(g.h->faults, 0);
	EXPECT_EQ(reads_switch(&g, s, keeper, ANGARA_CNT_LINK, 0, 4096), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(g.h->faults, 1);
	g.h->faults = 0;
	EXPECT_EQ(n->box.state, ANG_BOX_EMPTY);
	tree_del(t);
	group_del(&g);
}

/*
 * Ports down must not be of a lower class than the port up, and every port
 * must have a class.
 */
static void order(void)
{
	static const struct {
		const char *text;
		u8 up;
		u64 down;
		u32 rule;
	} rows[] = {
		{ "kns:2x2", 1, 1, ANGARA_TREE_RULE_ORDER },
		{ "kns:2x2", 0, 2, 0 },
		{ "mesh:3x3", 2, 1, ANGARA_TREE_RULE_ORDER },
		{ "mesh:3x3", 0, 4, 0 },
		{ "hypercube:3", 2, 2, ANGARA_TREE_RULE_ORDER },
		{ "hypercube:3", 1, 4, 0 },
		{ "torus:3x3", 2, 1, ANGARA_TREE_RULE_TORUS },
		{ "kns:2x2", 0, 8, ANGARA_TREE_RULE_FIELD },
	};
	u32 i;

	for (i = 0; i < NUM(rows); i++) {
		struct angara_tree_row row = {
			.to_root = rows[i].up, .ports = rows[i].down,
			.port_sum = 1, .pe = 1, .pkey = PKEY,
		};
		struct ang_topo_why why;
		struct ang_topo topo;

		EXPECT(ang_topo_read(&topo, rows[i].text, &why));
		EXPECT_EQ(ang_tree_row_check(&topo, 0, &row), rows[i].rule);
	}
}

/* The reset of a keeper clears its switches' rows, and trees over them go down. */
static void keeper_reset(void)
{
	struct group g = { .h = host_new("kns:4x2", &cfg_default) };
	struct ttree *t;
	u32 keeper, s;

	group_new(&g, 1, 4096);
	t = lay(&g, 3, 0);
	for (s = g.h->nodes; !angara_tree_has(&t->rows[s]); s++)
		;
	keeper = ang_topo_keeper(&g.h->v.topo, s);
	EXPECT_EQ(ang_node(g.h->fab, s)->tree[t->tree].state,
		  ANGARA_TREE_STATE_UP);
	host_reg(g.h, keeper, ANGARA_REG_CONTROL, 0);
	host_run(g.h);
	EXPECT_EQ(ang_node(g.h->fab, s)->tree[t->tree].state,
		  ANGARA_TREE_STATE_UNSET);
	EXPECT_EQ(ang_node(g.h->fab, 3)->tree[t->tree].state,
		  ANGARA_TREE_STATE_DOWN);
	EXPECT_EQ(ang_reg_read(&g.h->v, keeper, ANGARA_REG_STATUS), 0);
	EXPECT_EQ(ang_node(g.h->fab, s)->box.state, ANG_BOX_EMPTY);
	for (s = 0; s < g.h->v.topo.routers; s++)
		if (ang_node(g.h->fab, s)->tree[t->tree].state)
			EXPECT_EQ(adm_op(g.h, s, ANGARA_ADM_TREE_CLEAR, 0, t->tree),
				  ANGARA_ADM_ST_OK);
	for (s = 0; s < g.h->v.topo.routers; s++)
		t->rows[s] = (struct angara_tree_row){
			.to_root = ANGARA_PORT_NONE };
	tree_del(t);
	/* The contexts of the keeper no longer exist either. */
	free(g.ctx[keeper]);
	g.ctx[keeper] = g.ctx[--g.n];
	group_del(&g);
}

/* An operation that ends because of a switch names the node that programs the switch. */
static void switch_at_fault(void)
{
	struct group g = { .h = host_new("kns:4x2", &cfg_default) };
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 3, 0, LEN, LEN);
	struct angara_adm_cmd get = { .opcode = ANGARA_ADM_TREE_GET, .tree = 3 };
	struct angara_adm_cpl cpl;
	struct angara_hw_event ev = { 0 };
	struct angara_cqe cqe;
	struct ttree *t;
	u32 keeper, s;

	group_new(&g, 1, 4096);
	t = lay(&g, 3, 0);
	for (s = g.h->nodes; !angara_tree_has(&t->rows[s]); s++)
		;
	keeper = host_keeper(g.h, s);
	EXPECT(keeper != 3);
	post(g.ctx[3], &w, NULL);
	kick(g.ctx[3]);
	host_run(g.h);
	EXPECT_EQ(adm_op(g.h, s, ANGARA_ADM_TREE_CLEAR, 0, 3), ANGARA_ADM_ST_OK);
	t->rows[s] = (struct angara_tree_row){ .to_root = ANGARA_PORT_NONE };
	EXPECT_EQ(finish(g.ctx[3], &cqe), ANGARA_ST_TREE_DOWN);
	EXPECT_EQ(cqe.node, keeper);
	/* Operations that are posted after the loss get the same error. */
	EXPECT_EQ(status_of(g.ctx[3], w), ANGARA_ST_TREE_DOWN);
	get.set.router = cpu_to_le32(3);
	EXPECT_EQ(adm(g.h, 3, &get, &cpl), ANGARA_ADM_ST_OK);
	EXPECT_EQ(cpl.row.state, ANGARA_TREE_STATE_DOWN);
	EXPECT_EQ(cpl.value, keeper);
	while (ev.type != ANGARA_AEV_TREE_DOWN)
		EXPECT(aeq_poll(g.h, 3, &ev));
	EXPECT_EQ(ev.value, keeper);
	tree_del(t);
	group_del(&g);
}

/*
 * A command about a switch that another thread holds is answered after the thread
 * releases the switch.
 */
static void keeper_waits(void)
{
	struct host *h = host_new("kns:4x2", &cfg_default);
	u32 s = h->nodes;
	u32 keeper = ang_topo_keeper(&h->v.topo, s);
	struct host_node *n = &h->node[keeper];
	struct angara_adm_cmd *at = &n->asq[n->asq_pi % ADM_ENTRIES];

	host_freeze(h, s, 1);
	*at = about(ANGARA_ADM_TREE_GET, s);
	host_reg(h, keeper, ANGARA_REG_ASQ_DB, n->asq_pi + 1);
	host_run(h);
	EXPECT(n->acq[n->acq_ci % ADM_ENTRIES].phase != !(n->acq_ci & ADM_ENTRIES));
	host_freeze(h, s, 0);
	host_run(h);
	EXPECT_EQ(n->acq[n->acq_ci % ADM_ENTRIES].phase, !(n->acq_ci & ADM_ENTRIES));
	EXPECT_EQ(n->acq[n->acq_ci % ADM_ENTRIES].status, ANGARA_ADM_ST_ABSENT);
	n->asq_pi++;
	n->acq_ci++;
	host_end(h);
}

/*
 * Takes the adapter's answer to the next command.  Return: its status plus 1,
 * or 0 if there is no answer.
 */
static u32 answered(struct host_node *n)
{
	const struct angara_adm_cpl *cpl = &n->acq[n->acq_ci % ADM_ENTRIES];

	if ((cpl->phase & 1) == !!(n->acq_ci & ADM_ENTRIES))
		return 0;
	n->acq_ci++;
	return cpl->status + 1U;
}

/* Writing ENABLE during a reset does not end the reset. */
static void reset_enabled_again(void)
{
	struct host *h = host_new("kns:4x2", &cfg_default);
	u32 s = h->nodes;
	u32 keeper = ang_topo_keeper(&h->v.topo, s);
	struct host_node *n = &h->node[keeper];
	struct tctx *c = ctx_new(h, keeper, 1, PKEY, 3, 3);

	host_freeze(h, s, 1);
	host_reg(h, keeper, ANGARA_REG_CONTROL, 0);
	host_run(h);
	EXPECT_EQ(ang_reg_read(&h->v, keeper, ANGARA_REG_STATUS),
		  ANGARA_STATUS_READY);
	host_reg(h, keeper, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(h);
	host_freeze(h, s, 0);
	host_run(h);
	EXPECT_EQ(ang_reg_read(&h->v, keeper, ANGARA_REG_STATUS),
		  ANGARA_STATUS_READY);
	memset(n->acq, 0, ADM_ENTRIES * sizeof(*n->acq));
	n->asq_pi = 0;
	n->acq_ci = 0;
	EXPECT_EQ(adm_op(h, keeper, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
	/* The reset has removed the contexts. */
	EXPECT_EQ(adm_op(h, keeper, ANGARA_ADM_CTX_DESTROY, 1, 0),
		  ANGARA_ADM_ST_ABSENT);
	free(c);
	host_end(h);
}

/* A pending command is read once: a later change of its entry has no effect. */
static void waiting_command_changes(void)
{
	struct host *h = host_new("kns:4x2", &cfg_default);
	u32 s = h->nodes;
	u32 keeper = ang_topo_keeper(&h->v.topo, s);
	struct host_node *n = &h->node[keeper];
	struct angara_adm_cmd *at;
	struct angara_tree_row row = {
		.is_root = 1, .to_root = ANGARA_PORT_NONE, .ports = 3,
		.port_sum = 2, .pkey = PKEY,
	};

	EXPECT_EQ(adm_row(h, s, &row), ANGARA_ADM_ST_OK);
	at = &n->asq[n->asq_pi++ % ADM_ENTRIES];
	host_freeze(h, s, 1);
	*at = about(ANGARA_ADM_TREE_CLEAR, s);
	host_reg(h, keeper, ANGARA_REG_ASQ_DB, n->asq_pi);
	host_run(h);
	EXPECT_EQ(answered(n), 0);
	memset(at, 0xFF, sizeof(*at));
	host_freeze(h, s, 0);
	host_run(h);
	EXPECT_EQ(answered(n), ANGARA_ADM_ST_OK + 1);
	/* The answer to the pending command is not taken for the answer to this command. */
	EXPECT_EQ(adm_op(h, s, ANGARA_ADM_TREE_GET, 0, 0), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(ang_node(h->fab, s)->box.state, ANG_BOX_EMPTY);
	host_end(h);
}

/* Two fabrics host one network; each switch is in the fabric of its keeper. */
static void apart(void)
{
	static const char * const texts[] = {
		"mkns:4x2", "kns:4x2", "fattree:4,3", "mesh:4x2", "hypercube:3",
	};
	u32 i;

	for (i = 0; i < NUM(texts); i++) {
		struct traffic sum;

		work_everything(host_twins(texts[i], &cfg_tight, 0x35, twins_pump),
				3, &sum);
		EXPECT_EQ(sum.drops, 0);
		work_crowd(host_twins(texts[i], &cfg_tight, 0x0F, twins_pump));
	}
}

/* A child's place is its index among existing ports, so all places fit. */
static void many_ports(void)
{
	static const u16 pe[64] = { [0] = 2, [1] = 16, [62] = 3, [63] = 1 };
	struct ang_cfg cfg = cfg_default;
	struct group g;
	struct ttree *t;
	struct host *h;

	cfg.ctxs = 16;
	h = host_new("kns:64,ports=64", &cfg);
	g.h = h;
	EXPECT_EQ(h->fab->nports, 64);
	group_new(&g, 16, 4096);
	t = tree_over(h, 0, 64, g.ctx, g.n, pe, 1);
	all_operations(t, 5);
	tree_del(t);
	t = tree_over(h, 0, 63, g.ctx, g.n, pe, 2);
	all_operations(t, 20);
	tree_del(t);
	group_del(&g);
}

/* Routers of a fabric may be made in any order. */
static void made_in_parts(void)
{
	static const char * const texts[] = {
		"torus:3x2", "kns:4x2", "mkns:4x2", "fattree:4,3", "hypercube:3",
		"graph g\nnode a\nnode b\nswitch s\na:0 s:0\nb:0 s:1\n",
	};
	struct ang_topo_why why;
	u32 i, r;

	for (i = 0; i < NUM(texts); i++) {
		struct ang_cfg cfg = cfg_default;
		void *whole, *parts;
		u64 size;

		cfg.text = texts[i];
		EXPECT(ang_topo_read(&cfg.topo, texts[i], &why));
		size = (ang_fabric_size(&cfg) + 63) / 64 * 64;
		whole = aligned_alloc(64, size);
		parts = aligned_alloc(64, size);
		memset(whole, 0, size);
		memset(parts, 0, size);
		EXPECT(ang_fabric_init(whole, &cfg, &why));
		EXPECT(ang_fabric_begin(parts, &cfg, &why));
		for (r = cfg.topo.routers; r-- > 0;)
			ang_fabric_add(parts, r);
		EXPECT(!memcmp(whole, parts, size));
		free(whole);
		free(parts);
	}
}

const struct test_case graph_cases[] = {
	{ "graph: collectives from every root, of all and of some", roots },
	{ "graph: puts and messages between all pairs", pairs },
	{ "graph: a switch is programmed by its keeper", keepers },
	{ "graph: counters of a switch", switch_counters },
	{ "graph: rows keep to the order of channels", order },
	{ "graph: a keeper is reset", keeper_reset },
	{ "graph: a switch is at fault", switch_at_fault },
	{ "graph: a keeper waits for its switch", keeper_waits },
	{ "graph: ENABLE is written during a reset", reset_enabled_again },
	{ "graph: a waiting command is read once", waiting_command_changes },
	{ "graph: two fabrics host one network", apart },
	{ "graph: a switch of 64 ports", many_ports },
	{ "graph: routers are made in any order", made_in_parts },
	{ NULL, NULL },
};
