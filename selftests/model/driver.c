// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The driver's part of an adapter: admin commands, contexts, doorbells; see
 * host.h.
 */
#include <string.h>

#include "test.h"

u32 adm(struct host *h, u32 node, const struct angara_adm_cmd *cmd,
	struct angara_adm_cpl *cpl)
{
	struct host_node *n = &host_at(h, node)->node[node];
	struct angara_adm_cpl *c = &n->acq[n->acq_ci % ADM_ENTRIES];
	struct angara_adm_cmd *at = &n->asq[n->asq_pi % ADM_ENTRIES];

	*at = *cmd;
	at->tag = cpu_to_le16((u16)(n->asq_pi * 7));
	host_reg(h, node, ANGARA_REG_ASQ_DB, ++n->asq_pi);
	host_run(h);
	EXPECT_EQ(c->phase & 1, !(n->acq_ci & ADM_ENTRIES));
	EXPECT_EQ(c->tag, at->tag);
	n->acq_ci++;
	if (cpl)
		*cpl = *c;
	return c->status;
}

u32 adm_op(struct host *h, u32 node, u32 opcode, u32 ctx, u32 tree)
{
	struct angara_adm_cmd cmd = {
		.opcode = (u8)opcode,
		.ctx = cpu_to_le16((u16)ctx),
		.tree = (u8)tree,
	};

	if (opcode == ANGARA_ADM_TREE_CLEAR || opcode == ANGARA_ADM_TREE_GET)
		cmd.set.router = cpu_to_le32(node);
	return adm(h, host_keeper(h, node), &cmd, NULL);
}

u32 adm_join(struct host *h, u32 node, u32 ctx, u32 tree, u32 place)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_JOIN,
		.ctx = cpu_to_le16((u16)ctx),
		.tree = (u8)tree,
		.place = (u8)place,
	};

	return adm(h, node, &cmd, NULL);
}

u32 adm_row(struct host *h, u32 node, const struct angara_tree_row *row)
{
	return adm_job_row(h, node, row, 0);
}

u32 adm_job_row(struct host *h, u32 node, const struct angara_tree_row *row,
		u64 job)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_TREE_SET };

	cmd.set.job = cpu_to_le64(job);
	cmd.set.row.tree = row->tree;
	cmd.set.row.is_root = row->is_root;
	cmd.set.row.to_root = row->to_root;
	cmd.set.row.port_sum = row->port_sum;
	cmd.set.row.ports = cpu_to_le64(row->ports);
	cmd.set.row.pe = cpu_to_le16(row->pe);
	cmd.set.row.pkey = cpu_to_le32(row->pkey);
	cmd.set.row.epoch = cpu_to_le16(row->epoch);
	cmd.set.row.life = cpu_to_le16((u16)row->reserved);
	cmd.set.router = cpu_to_le32(node);
	return adm(h, host_keeper(h, node), &cmd, NULL);
}

u32 adm_link(struct host *h, u32 router, u32 port,
	     const struct angara_adm_link *link)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_LINK_SET };

	cmd.link = *link;
	cmd.link.port = cpu_to_le32(port);
	cmd.link.router = cpu_to_le32(router);
	return adm(h, host_keeper(h, router), &cmd, NULL);
}

struct angara_adm_cmd adm_route_cmd(u32 what)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_ROUTE_SET };

	cmd.route.what = (u8)what;
	return cmd;
}

u32 adm_counters_get(struct host *h, u32 router, u32 kind, u32 index, void *out,
		     u32 len)
{
	u32 node = host_keeper(h, router);
	struct host_node *n = &host_at(h, node)->node[node];
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_COUNTERS };
	u32 status;
	u64 addr;
	void *mem;

	mem = host_alloc(h, node, len, &addr);
	cmd.counters.kind = cpu_to_le32(kind);
	cmd.counters.index = cpu_to_le32(index);
	cmd.counters.addr = cpu_to_le64(addr);
	cmd.counters.length = cpu_to_le32(len);
	cmd.counters.router = cpu_to_le32(router);
	status = adm(h, node, &cmd, NULL);
	memcpy(out, mem, len);
	/* The command's memory is still the last segment: no other one was added. */
	n->nsegs--;
	free(mem);
	return status;
}

int aeq_poll(struct host *h, u32 node, struct angara_hw_event *ev)
{
	struct host_node *n = &host_at(h, node)->node[node];
	struct angara_hw_event *e = &n->aeq[n->aeq_ci % AEQ_ENTRIES];

	if ((e->phase & 1) != !(n->aeq_ci & AEQ_ENTRIES))
		return 0;
	*ev = *e;
	n->aeq_ci++;
	host_reg(h, node, ANGARA_REG_AEQ_CI, n->aeq_ci);
	return 1;
}

/* Allocates a queue or table, and the list of its pages. */
static void *paged(struct host *h, u32 node, u64 len, __le64 *list_addr)
{
	u64 addr;
	__le64 *list = host_alloc(h, node, (len + 4095) / 4096 * 8, &addr);

	*list_addr = cpu_to_le64(addr);
	return host_alloc_pages(h, node, len, list);
}

struct angara_hw_mr *dom_new(struct host *h, u32 node, u32 dom, u32 pkey,
			     u64 job, u32 mrs)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_DOMAIN_CREATE };
	struct angara_hw_mr *mrt;

	mrt = paged(h, node, mrs * sizeof(*mrt), &cmd.domain.mrt);
	cmd.domain.job = cpu_to_le64(job);
	cmd.domain.mrs = cpu_to_le32(mrs);
	cmd.domain.pkey = cpu_to_le32(pkey);
	cmd.ctx = cpu_to_le16((u16)dom);
	EXPECT_EQ(adm(h, node, &cmd, NULL), ANGARA_ADM_ST_OK);
	return mrt;
}

struct angara_hw_mr *dom_table(struct host *h, u32 node, u32 dom, u32 mrs,
			       const struct angara_hw_mr *old, u32 filled)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_DOMAIN_TABLE };
	struct angara_hw_mr *mrt;

	mrt = paged(h, node, mrs * sizeof(*mrt), &cmd.domain.mrt);
	memcpy(mrt, old, filled * sizeof(*mrt));
	cmd.domain.mrs = cpu_to_le32(mrs);
	cmd.ctx = cpu_to_le16((u16)dom);
	EXPECT_EQ(adm(h, node, &cmd, NULL), ANGARA_ADM_ST_OK);
	return mrt;
}

struct tctx *ctx_new(struct host *h, u32 node, u32 id, u32 pkey, u32 sq_log2,
		     u32 cq_log2)
{
	struct angara_hw_mr *mrt = dom_new(h, node, id, pkey, 0, MRS);
	struct tctx *c = ctx_in(h, node, id, id, mrt, sq_log2, cq_log2);

	c->own_dom = 1;
	return c;
}

struct tctx *ctx_in(struct host *h, u32 node, u32 id, u32 dom,
		    struct angara_hw_mr *mrt, u32 sq_log2, u32 cq_log2)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_CTX_CREATE };
	struct angara_adm_ctx *a = &cmd.create;
	struct tctx *c = calloc(1, sizeof(*c));
	u64 addr;

	c->h = host_at(h, node);
	c->node = node;
	c->id = id;
	c->dom = dom;
	c->mrt = mrt;
	c->sq_n = 1U << sq_log2;
	c->cq_n = 1U << cq_log2;
	c->sq = paged(h, node, c->sq_n * sizeof(*c->sq), &a->sq);
	c->cq = paged(h, node, c->cq_n * sizeof(*c->cq), &a->cq);
	c->ctl = host_alloc(h, node, sizeof(*c->ctl), &addr);
	a->ctl = cpu_to_le64(addr);
	c->ctr = host_alloc(h, node, ANGARA_CTR_NUM * 8, &addr);
	a->ctr = cpu_to_le64(addr);
	a->dom = cpu_to_le16((u16)dom);
	a->sq_log2 = (u8)sq_log2;
	a->cq_log2 = (u8)cq_log2;
	cmd.ctx = cpu_to_le16((u16)id);
	EXPECT_EQ(adm(h, node, &cmd, NULL), ANGARA_ADM_ST_OK);
	return c;
}

void ctx_del(struct tctx *c)
{
	EXPECT_EQ(adm_op(c->h, c->node, ANGARA_ADM_CTX_DESTROY, c->id, 0),
		  ANGARA_ADM_ST_OK);
	if (c->own_dom)
		EXPECT_EQ(adm_op(c->h, c->node, ANGARA_ADM_DOMAIN_DESTROY,
				 c->dom, 0), ANGARA_ADM_ST_OK);
	free(c);
}

void ctx_mr(struct tctx *c, u64 key, u64 addr, u64 len, u32 access)
{
	struct angara_hw_mr *mr = &c->mrt[ANGARA_MR_SLOT(key)];

	memset(mr, 0, sizeof(*mr));
	mr->addr = cpu_to_le64(addr);
	mr->length = cpu_to_le64(len);
	mr->access = (u8)access;
	mr->page_shift = 12;
	mr->key = cpu_to_le64(key);
	mr->valid = 1;
}

void ctx_buffer(struct tctx *c, u64 len)
{
	u64 addr;

	c->buf = host_alloc(c->h, c->node, len, &addr);
	c->buf_len = len;
	ctx_mr(c, BUF_KEY, addr, len, ANGARA_ACCESS_ALL);
}

void ctx_counters(struct tctx *c, struct angara_hw_ctx_counters *out)
{
	EXPECT_EQ(adm_counters_get(c->h, c->node, ANGARA_CNT_CTX, c->id, out,
				   sizeof(*out)), ANGARA_ADM_ST_OK);
}

void kick(struct tctx *c)
{
	host_reg(c->h, c->node, ANGARA_DB_PAGE(c->id) + ANGARA_DB_SQ, c->sq_pi);
}
