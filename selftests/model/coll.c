// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives with known results; see coll.h.
 */
#include <string.h>

#include "test.h"
#include "coll.h"

void group_new(struct group *g, u32 local, u64 len)
{
	u32 i;

	g->n = g->h->nodes * local;
	g->ctx = calloc(g->n, sizeof(*g->ctx));
	for (i = 0; i < g->n; i++) {
		g->ctx[i] = ctx_new(g->h, i / local, i % local, PKEY, 6, 7);
		ctx_buffer(g->ctx[i], 2 * len);
	}
}

void group_del(struct group *g)
{
	u32 i;

	for (i = 0; i < g->n; i++)
		ctx_del(g->ctx[i]);
	free(g->ctx);
	EXPECT_EQ(g->h->faults, 0);
	EXPECT(!g->h->twin || !g->h->twin->faults);
	host_free(g->h);
}

static u32 *words(const struct tctx *c)
{
	return (u32 *)c->buf;
}

void coll_fill(struct ttree *t, u64 seed)
{
	u32 i, w;

	seed = seed * 0x9E3779B97F4A7C15ULL + 1;
	for (i = 0; i < t->n; i++) {
		u32 half = (u32)t->ctx[i]->buf_len / 2;

		for (w = 0; w < half / 4; w++)
			words(t->ctx[i])[w] = (u32)rnd(&seed);
		memset(t->ctx[i]->buf + half, 0x5A, half);
	}
}

u32 coll_sum(struct ttree *t, u32 i)
{
	u32 sum = 0;
	u32 c;

	for (c = 0; c < t->n; c++)
		sum += words(t->ctx[c])[i];
	return sum;
}

/*
 * Combines @in into @acc, or copies it if @acc holds no value yet (@some is 0).  Return:
 * 1: @acc holds a value.
 */
static int fold_add(u32 type, u32 op, void *acc, const void *in, u32 len, int some)
{
	if (some)
		ang_combine(acc, in, len, type, op);
	else
		memcpy(acc, in, len);
	return 1;
}

/*
 * Stores the result of the subtree of @node in @out.  Return: 1 if the subtree has a
 * participant.
 */
static int fold_node(struct ttree *t, u32 node, u32 type, u32 op, u64 off,
		     void *out, u32 len)
{
	struct ang_fabric *fab = t->h->fab;
	char *part = malloc(len + 1);
	int some = 0;
	u32 i, k;

	for (k = 0; node < t->h->nodes && k < t->pe[node]; k++)
		for (i = 0; i < t->n; i++)
			if (t->ctx[i]->node == node && t->place[i] == k)
				some = fold_add(type, op, out,
						t->ctx[i]->buf + off, len, some);
	for (k = 0; k < fab->nports; k++)
		if (t->rows[node].ports >> k & 1 &&
		    fold_node(t, ang_port(fab, ang_node(fab, node), k)->peer,
			      type, op, off, part, len))
			some = fold_add(type, op, out, part, len, some);
	free(part);
	return some;
}

void coll_fold(struct ttree *t, u32 type, u32 op, u64 off, void *out, u32 len)
{
	EXPECT(fold_node(t, t->root, type, op, off, out, len));
}

static void expect_untouched(const struct tctx *c, u64 from)
{
	u64 i;

	for (i = from; i < c->buf_len && i < from + 512; i++)
		EXPECT_EQ((u8)c->buf[i], 0x5A);
}

static void expect_sum(struct ttree *t, const struct tctx *c, u32 len)
{
	u64 half = c->buf_len / 2;
	u32 i;

	for (i = 0; i < len / 4; i++)
		EXPECT_EQ(words(c)[half / 4 + i], coll_sum(t, i));
	expect_untouched(c, half + len);
}

static void expect_cqe(struct tctx *c, u32 op, u32 len)
{
	struct angara_cqe cqe;

	EXPECT_EQ(finish(c, &cqe), ANGARA_ST_OK);
	EXPECT_EQ(cqe.opcode, op);
	EXPECT_EQ(le32_to_cpu(cqe.length), len);
}

void coll_bcast(struct ttree *t, u32 source, u32 len)
{
	struct tctx *src = t->ctx[source];
	u32 half = (u32)src->buf_len / 2;
	struct angara_wqe w = wqe_coll(ANGARA_OP_BCAST, t->tree, 0, half, len);
	u64 before[64];
	u32 i;

	coll_fill(t, len + source);
	for (i = 0; i < t->n && i < 64; i++)
		before[i] = ctx_counter(t->ctx[i], ANGARA_CTR_BCAST(t->tree));
	post(src, &w, NULL);
	kick(src);
	expect_cqe(src, ANGARA_OP_BCAST, len);
	for (i = 0; i < t->n; i++) {
		struct tctx *c = t->ctx[i];
		struct angara_cqe cqe;

		EXPECT(!memcmp(c->buf + half, src->buf, len));
		expect_untouched(c, half + len);
		EXPECT(!poll_cq(c, &cqe));
		if (i < 64)
			EXPECT_EQ(ctx_counter(c, ANGARA_CTR_BCAST(t->tree)),
				  before[i] + 1);
	}
}

static void reduce(struct ttree *t, u32 receiver, u32 len, int in_turn)
{
	struct tctx *to = t->ctx[receiver];
	u32 half = (u32)to->buf_len / 2;
	struct angara_wqe w = wqe_coll(ANGARA_OP_REDUCE, t->tree, 0, half, len);
	u32 i;

	coll_fill(t, len + receiver);
	w.dst_node = cpu_to_le32(to->node);
	w.dst_ctx = cpu_to_le16((u16)to->id);
	for (i = 0; i < t->n; i++) {
		post(t->ctx[i], &w, NULL);
		kick(t->ctx[i]);
		if (in_turn)
			host_run(t->h);
	}
	for (i = 0; i < t->n; i++) {
		expect_cqe(t->ctx[i], ANGARA_OP_REDUCE, len);
		if (i != receiver)
			expect_untouched(t->ctx[i], half);
	}
	expect_sum(t, to, len);
}

void coll_reduce(struct ttree *t, u32 receiver, u32 len)
{
	reduce(t, receiver, len, 0);
}

void coll_reduce_in_turn(struct ttree *t, u32 receiver, u32 len)
{
	reduce(t, receiver, len, 1);
}

static void everywhere(struct ttree *t, u32 op, u32 len)
{
	u32 half = (u32)t->ctx[0]->buf_len / 2;
	struct angara_wqe w = wqe_coll(op, t->tree, 0, half, len);
	u32 i;

	coll_fill(t, len);
	for (i = 0; i < t->n; i++) {
		struct angara_cqe cqe;

		EXPECT(!poll_cq(t->ctx[0], &cqe));
		post(t->ctx[i], &w, NULL);
		kick(t->ctx[i]);
		host_run(t->h);
	}
	for (i = 0; i < t->n; i++) {
		expect_cqe(t->ctx[i], op, len);
		expect_sum(t, t->ctx[i], len);
	}
}

void coll_allreduce(struct ttree *t, u32 len)
{
	everywhere(t, ANGARA_OP_ALLREDUCE, len);
}

void coll_barrier(struct ttree *t)
{
	everywhere(t, ANGARA_OP_BARRIER, 0);
}

void traffic(struct host *h, struct traffic *sum)
{
	u32 i, dir, vc;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < h->v.topo.routers; i++) {
		struct ang_fabric *fab = host_at(h, i)->fab;
		struct ang_node *n = ang_node(fab, i);

		for (dir = 0; dir < fab->nports; dir++)
			for (vc = 0; vc < ANGARA_VC_NUM; vc++)
				sum->link[vc] += ang_port_link(ang_port(fab, n, dir)).packets[vc];
		for (vc = 0; vc < host_at(h, i)->fab->cfg.trees; vc++)
			sum->credits += n->tree[vc].cnt.credits_sent *
					n->tree[vc].row.port_sum;
		for (vc = 0; vc < ANGARA_DROP_NUM; vc++)
			sum->drops += n->drops[vc];
		sum->injected += n->cnt.injected_packets;
		sum->ejected += n->cnt.ejected_packets;
		sum->hops += n->cnt.hops;
	}
}
