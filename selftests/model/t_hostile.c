// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Drivers and processes write any values anywhere: the model may refuse them,
 * but must not fault, run forever, or lose a buffer.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

static u64 seed;

static u32 pick(u32 below)
{
	return (u32)((rnd(&seed) >> 16) % below);
}

static void random_bytes(void *mem, u32 len)
{
	u8 *bytes = mem;

	while (len--)
		*bytes++ = (u8)(rnd(&seed) >> 24);
}

static void random_row(struct angara_hw_row *row)
{
	u32 dirs = pick(4) ? 1U << pick(6) : pick(64);

	row->tree = (u8)pick(3);
	row->is_root = !pick(4);
	row->to_root = row->is_root ? ANGARA_PORT_NONE : (u8)pick(6);
	row->ports = cpu_to_le64(dirs);
	row->port_sum = (u8)__builtin_popcount(dirs);
	row->pe = cpu_to_le16((u16)(1 + pick(2)));
	row->pkey = cpu_to_le32(PKEY);
	row->epoch = cpu_to_le16((u16)pick(2));
	row->state = row->members = 0;
	row->life = 0;
}

static void random_command(struct angara_adm_cmd *cmd, u32 node)
{
	memset(cmd, 0, sizeof(*cmd));
	if (!pick(8)) {
		random_bytes(cmd, sizeof(*cmd));
		cmd->reserved = cmd->place = 0;
	}
	cmd->opcode = (u8)(ANGARA_ADM_FENCE + pick(8));
	cmd->tree = (u8)pick(3);
	cmd->ctx = cpu_to_le16((u16)pick(5));
	if (cmd->opcode == ANGARA_ADM_TREE_SET)
		random_row(&cmd->set.row);
	if (cmd->opcode == ANGARA_ADM_TREE_SET ||
	    cmd->opcode == ANGARA_ADM_TREE_CLEAR ||
	    cmd->opcode == ANGARA_ADM_TREE_GET)
		cmd->set.router = cpu_to_le32(pick(16) ? node : pick(4));
	if (cmd->opcode == ANGARA_ADM_JOIN)
		cmd->place = (u8)pick(4);
	if (cmd->opcode == ANGARA_ADM_FENCE && !pick(20))
		cmd->opcode = ANGARA_ADM_CTX_DESTROY;
}

static void random_entry(struct host *h, struct angara_wqe *w)
{
	memset(w, 0, sizeof(*w));
	w->opcode = (u8)pick(ANGARA_OP_NUM);
	w->tree = cpu_to_le16((u16)pick(3));
	w->dst_node = cpu_to_le32(pick(h->nodes));
	w->dst_ctx = cpu_to_le16((u16)pick(5));
	w->length = cpu_to_le32(w->opcode == ANGARA_OP_BARRIER ? 0 :
				4 * pick(600));
	wqe_dst(w, 8192);
	w->type = pick(2) ? ANGARA_TYPE_FLOAT : ANGARA_TYPE_INT32;
	w->flags = (u8)(pick(4) ? 0 : pick(16));
	while (!pick(4))
		((u8 *)w)[pick(sizeof(*w))] = (u8)pick(256);
}

static void command(struct host *h, u32 node)
{
	struct host_node *n = &h->node[node];

	random_command(&n->asq[n->asq_pi % ADM_ENTRIES], node);
	host_reg(h, node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	host_reg(h, node, ANGARA_REG_AEQ_CI, pick(4) ? ~0U : pick(100));
}

static void entries(struct tctx *c)
{
	u32 k;

	for (k = pick(4); k; k--)
		random_entry(c->h, &c->sq[c->sq_pi++ & (c->sq_n - 1)]);
	c->ctl->cq_ci = cpu_to_le32(pick(3) ? c->sq_pi : pick(100));
	host_reg(c->h, c->node, ANGARA_DB_PAGE(c->id) + pick(3) * 4,
		 pick(10) ? c->sq_pi : pick(~0U));
}

static void registers(struct host *h, u32 node)
{
	if (!pick(30)) {
		host_reg(h, node, ANGARA_REG_CONTROL, 0);
		host_run(h);
		h->node[node].asq_pi = 0;
		host_reg(h, node, ANGARA_REG_CONTROL, 1);
		host_run(h);
	}
	host_reg(h, node, pick(ANGARA_DB_PAGE(5)), pick(~0U));
	ang_reg_read(&h->v, node, pick(ANGARA_DB_PAGE(5)));
}

/* Creates a domain whose table is at a random address. */
static void revive_domain(struct host *h, u32 node, u32 dom)
{
	struct host_node *n = &h->node[node];
	struct angara_adm_cmd *cmd = &n->asq[n->asq_pi % ADM_ENTRIES];

	memset(cmd, 0, sizeof(*cmd));
	cmd->opcode = ANGARA_ADM_DOMAIN_CREATE;
	cmd->ctx = cpu_to_le16((u16)dom);
	random_bytes(&cmd->domain.mrt, sizeof(cmd->domain.mrt));
	cmd->domain.pkey = cpu_to_le32(PKEY);
	cmd->domain.mrs = cpu_to_le32(pick(65536));
	host_reg(h, node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
}

/*
 * Creates a context again, on the queues that it had before it was destroyed
 * or reset.
 */
static void revive(struct host *h, struct tctx *c)
{
	struct angara_adm_cmd *cmd;
	struct host_node *n = &h->node[c->node];

	revive_domain(h, c->node, c->dom);
	cmd = &n->asq[n->asq_pi % ADM_ENTRIES];
	memset(cmd, 0, sizeof(*cmd));
	cmd->opcode = ANGARA_ADM_CTX_CREATE;
	cmd->ctx = cpu_to_le16((u16)c->id);
	/* Queues at random addresses: most of them fault, all are refused. */
	random_bytes(&cmd->create, sizeof(cmd->create));
	cmd->create.dom = cpu_to_le16((u16)c->dom);
	cmd->create.sq_log2 = cmd->create.cq_log2 = 3;
	memset(cmd->create.reserved, 0, sizeof(cmd->create.reserved));
	host_reg(h, c->node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
}

static void attack(u64 first)
{
	struct ang_cfg cfg = cfg_tight;
	struct group g;
	u32 i, k;

	seed = first * 0x9E3779B97F4A7C15ULL + 1;
	cfg.train = (u16)(1U << pick(7));
	g.h = host_new(pick(2) ? "3x2x2" : "4x1x3", &cfg);
	group_new(&g, 2, 8192);
	for (i = 0; i < 3000; i++) {
		struct tctx *c = g.ctx[pick(g.n)];

		switch (pick(8)) {
		case 0:
			registers(g.h, c->node);
			break;
		case 1:
		case 2:
			command(g.h, c->node);
			break;
		case 3:
			random_bytes(&c->mrt[pick(MRS)], 32);
			ctx_mr(c, 1, pick(1 << 20), 16384, ANGARA_ACCESS_ALL);
			break;
		case 4:
			if (!pick(20))
				revive(g.h, c);
			break;
		default:
			entries(c);
			break;
		}
		run_steps(&g.h->v, pick(30));
	}
	/* Reset all adapters: whatever they waited for, nothing may be left. */
	host_run(g.h);
	for (k = 0; k < g.h->nodes; k++)
		host_reg(g.h, k, ANGARA_REG_CONTROL, 0);
	host_run(g.h);
	for (k = 0; k < g.n; k++)
		free(g.ctx[k]);
	free(g.ctx);
	host_free(g.h);
}

static void attacks(void)
{
	u64 k;

	for (k = 1; k <= 60; k++)
		attack(k);
}

const struct test_case hostile_cases[] = {
	{ "hostile: random registers, commands, rows, entries, tables", attacks },
	{ NULL, NULL },
};
