// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes of two partitions on one fabric, and their invariants; see net.h.
 *
 * The tag of a message holds its sender and number.  The immediate word
 * confirms the tag, except in malformed entries.
 */
#include <string.h>

#include "net.h"

#define QUIET_STEPS	60000
#define TAG(life, cookie)	((u64)(life) << 8 | (cookie))
#define CHECK(tag)		(~(tag))
#define LETTER		40		/* bytes of the secret partition's messages */

void process_new(struct net *net, u32 i)
{
	struct process *p = calloc(1, sizeof(*p));
	u32 id = i % LOCAL;
	u64 addr;

	EXPECT(net->lives < EVER);
	p->life = net->lives;
	p->place = i;
	p->t = ctx_new(net->h, i / LOCAL, id,
		       id == LOCAL - 1 ? SECRET_PKEY : PKEY, 3, 3);
	ctx_buffer(p->t, BUFFER);
	memset(p->t->buf, id == LOCAL - 1 ? SECRET : 0x11, BUFFER);
	p->sealed = host_alloc(net->h, p->t->node, SEALED_LEN, &addr);
	memset(p->sealed, SEALED, SEALED_LEN);
	ctx_mr(p->t, SEALED_KEY, addr, SEALED_LEN, 0);
	p->area = area_new(p->t, 14);
	net->p[i] = p;
	net->ever[net->lives++] = p;
}

void process_sends(struct net *net, struct process *p, struct angara_wqe *w)
{
	u64 bit = 1ULL << p->cookies;
	u64 tag = TAG(p->life, p->cookies);
	u32 node = le32_to_cpu(w->dst_node);
	u32 ctx = le16_to_cpu(w->dst_ctx);

	w->roff = cpu_to_le64(tag);
	w->aux = cpu_to_le64(CHECK(tag));
	p->sent |= bit;
	p->len[p->cookies] = le32_to_cpu(w->length);
	p->to[p->cookies] = ctx < LOCAL ? net->p[node * LOCAL + ctx]->life : EVER;
}

static void complete(struct process *p, const struct angara_cqe *cqe)
{
	u64 cookie = le64_to_cpu(cqe->cookie);
	u32 status = le16_to_cpu(cqe->status);
	u64 bit = 1ULL << cookie;

	EXPECT(cookie < p->cookies);
	EXPECT(p->pending & bit);
	EXPECT(status || !(p->quiet & bit));
	EXPECT(status < ANGARA_ST_NUM);
	EXPECT(status == ANGARA_ST_DESC || !(p->refused & bit));
	EXPECT(status != ANGARA_ST_DESC || !(p->sound & bit));
	p->pending &= ~bit;
	if (!status)
		p->done |= bit;
}

/* Does memory contain data that only the second partition knows? */
static int reveals(const void *data, u32 len)
{
	static const u8 some[] = { SECRET, SECRET, SECRET, SECRET };

	return memmem(data, len, some, sizeof(some)) != NULL;
}

/* Checks that each message arrives once, in the order of sending, at its receiver. */
static void arrive(struct net *net, struct process *p,
		   const struct angara_msg *m)
{
	u64 tag = le64_to_cpu(m->tag);
	u32 cookie = tag & 0xFF;
	struct process *from;

	EXPECT(!reveals(m + 1, le32_to_cpu(m->length)));
	if (le64_to_cpu(m->imm) != CHECK(tag)) {
		EXPECT(net->spoilt);
		return;
	}
	EXPECT(tag >> 8 < net->lives);
	from = net->ever[tag >> 8];
	EXPECT(cookie < from->cookies && from->sent >> cookie & 1);
	EXPECT(!(from->got >> cookie & 1));
	from->got |= 1ULL << cookie;
	EXPECT_EQ(le32_to_cpu(m->node), from->place / LOCAL);
	EXPECT_EQ(le16_to_cpu(m->ctx), from->place % LOCAL);
	EXPECT_EQ(le32_to_cpu(m->length), from->len[cookie]);
	EXPECT_EQ(net->ever[from->to[cookie]]->place, p->place);
	EXPECT(cookie >= from->last[p->place]);
	from->last[p->place] = cookie + 1;
}

void process_reap(struct net *net, struct process *p)
{
	const struct angara_msg *m;
	struct angara_cqe cqe;
	u32 voids = 0;

	while (poll_cq(p->t, &cqe))
		complete(p, &cqe);
	while ((m = area_next(p->area, &voids))) {
		EXPECT(!is_secret(p->t));
		arrive(net, p, m);
		area_free(p->area, m);
	}
	EXPECT(!voids || !is_secret(p->t));
}

/* Takes all completions and messages, until the idle fabric has no more. */
static void settle(struct net *net)
{
	u64 before, after = 0;
	u32 i;

	do {
		before = after;
		EXPECT(fuzz_quiet(&net->f, QUIET_STEPS));
		after = 0;
		for (i = 0; i < net->n; i++) {
			struct process *p = net->p[i];

			process_reap(net, p);
			kick(p->t);
			after += p->t->cq_ci + p->area->ci +
				 ctx_counter(p->t, ANGARA_CTR_SQ_CI);
		}
	} while (before != after);
}

/*
 * Return: number of reduce packets that all participants of a tree have
 * started.
 */
static u32 common_seq(struct net *net, const struct ttree *t)
{
	u32 least = ~0U;
	u32 i;

	for (i = 0; i < t->n; i++) {
		struct tctx *c = t->ctx[i];
		struct ang_node *n = ang_node(net->h->fab, c->node);

		least = ang_min(least, ang_ctx(net->h->fab, n, c->id)->
				member[t->tree].seq);
	}
	return least;
}

/*
 * Checks operations that are in flight while the fabric is idle.  Each must
 * belong to a tree that is up.  A reduction waits for a participant that is
 * behind.  A broadcast waits for a reduction that its context has not sent
 * completely.
 */
static void check_waiting(struct net *net, const struct process *p)
{
	struct ang_node *n = ang_node(net->h->fab, p->t->node);
	struct ang_ctx *c = ang_ctx(net->h->fab, n, p->t->id);
	u32 reductions = 0, broadcasts = 0;
	u32 i;

	for (i = 0; i < net->h->cfg.ops; i++) {
		struct ang_op *op = ang_op(n, c, i);
		const struct ttree *t;

		if (op->state == ANG_OP_FREE)
			continue;
		/* A held operation waits for an earlier one. */
		if (op->state == ANG_OP_HELD) {
			EXPECT(op->after);
			continue;
		}
		EXPECT(ang_is_coll(op->opcode));
		EXPECT(op->tree < TREES && net->tree[op->tree]);
		t = net->tree[op->tree];
		EXPECT_EQ(n->tree[op->tree].state, ANGARA_TREE_STATE_UP);
		if (op->opcode == ANGARA_OP_BCAST) {
			broadcasts |= 1U << op->tree;
			continue;
		}
		if (!op->sent_all)
			reductions |= 1U << op->tree;
		EXPECT(op->seq + op->npkts > common_seq(net, t));
	}
	EXPECT(!(broadcasts & ~reductions));
	/* Entries remain in the queue only while an operation is in flight. */
	EXPECT(c->sq_ci == c->sq_pi || c->nops);
}

/* Are all bytes equal to @byte?  Uses a call, since fuzzing would trace a loop. */
static int all(const void *data, u32 len, u8 byte)
{
	const u8 *at = data;

	return *at == byte && !memcmp(at, at + 1, len - 1);
}

static void check_memory(const struct process *p)
{
	struct tctx *c = p->t;

	EXPECT(all(p->sealed, SEALED_LEN, SEALED));
	if (!is_secret(c)) {
		EXPECT(!reveals(c->buf, BUFFER));
		return;
	}
	EXPECT(all(c->buf, BUFFER, SECRET));
	EXPECT(all(c->ctr, ANGARA_CTR_NUM * 8, 0));
}

/* Checks that each message that was reported as sent was really sent. */
static void check_messages(struct net *net)
{
	u32 i, k;

	for (i = 0; i < net->lives; i++) {
		struct process *from = net->ever[i];
		u64 due = from->sent & from->done & ~from->got;

		for (k = 0; due; k++, due >>= 1) {
			const struct process *to;

			if (!(due & 1))
				continue;
			EXPECT(from->to[k] < EVER);
			to = net->ever[from->to[k]];
			EXPECT(net->p[to->place] != to);
		}
	}
}

static struct process *of_secret(struct net *net, u32 node)
{
	return net->p[node % net->h->nodes * LOCAL + LOCAL - 1];
}

static void expect_done(struct process *p, u32 completions)
{
	struct angara_cqe cqe;

	for (; completions; completions--)
		EXPECT(poll_cq(p->t, &cqe) && !cqe.status);
	EXPECT(!poll_cq(p->t, &cqe));
}

static void post_all(struct net *net, u32 op)
{
	u32 i;

	for (i = 0; i < net->h->nodes; i++) {
		struct tctx *c = of_secret(net, i)->t;
		struct angara_wqe w = wqe_p2p(op, (i + 1) % net->h->nodes,
					      LOCAL - 1, 0, BUFFER / 2,
					      BUFFER / 2);
		u64 one[ANGARA_MSG_UNIT / 8] = { 1 };

		if (op == ANGARA_OP_SEND) {
			w.length = cpu_to_le32(LETTER);
		} else if (op == ANGARA_OP_FETCH) {
			w.length = cpu_to_le32(8);
			w.type = ANGARA_TYPE_UINT64;
			w.flags = ANGARA_WQE_INLINE;
			w.roff = 0;
			w.aux = cpu_to_le64(8);
		}
		post_bytes(c, &w, one, op == ANGARA_OP_FETCH ? 8 : 0);
		kick(c);
	}
}

/* Checks a message of the neighbor, and the effect of its atomic operation. */
static void check_exchange(struct net *net, u32 i)
{
	struct process *p = of_secret(net, i);
	const struct angara_msg *m = area_next(p->area, NULL);
	u64 was, is;

	EXPECT(m && le32_to_cpu(m->length) == LETTER);
	EXPECT_EQ(le64_to_cpu(m->tag), BUFFER / 2);
	EXPECT(all(m + 1, LETTER, SECRET));
	area_free(p->area, m);
	EXPECT(!area_next(p->area, NULL));
	memcpy(&is, p->t->buf, 8);
	memcpy(&was, p->t->buf + 8, 8);
	EXPECT_EQ(was, 0x0101010101010101ULL * SECRET);
	EXPECT_EQ(is, was + 1);
}

/* Checks that the second partition works in any state of the first one. */
static void check_other(struct net *net)
{
	u32 nodes = net->h->nodes;
	u32 i;

	for (i = 0; i < nodes; i++) {
		struct angara_wqe w = wqe_coll(ANGARA_OP_BARRIER, SECRET_TREE,
					       0, 0, 0);

		post(of_secret(net, i)->t, &w, NULL);
	}
	post_all(net, ANGARA_OP_PUT);
	post_all(net, ANGARA_OP_SEND);
	EXPECT(fuzz_quiet(&net->f, QUIET_STEPS));
	for (i = 0; i < nodes; i++)
		expect_done(of_secret(net, i), 3);
	/* FETCH changes memory that the other operations read, so it comes last. */
	post_all(net, ANGARA_OP_FETCH);
	EXPECT(fuzz_quiet(&net->f, QUIET_STEPS));
	for (i = 0; i < nodes; i++) {
		expect_done(of_secret(net, i), 1);
		check_exchange(net, i);
	}
}

static void drop_trees(struct net *net)
{
	u32 i;

	for (i = 0; i < TREES; i++)
		if (net->tree[i])
			tree_del(net->tree[i]);
}

void net_finish(struct net *net)
{
	u32 i;

	settle(net);
	for (i = 0; i < net->n; i++) {
		check_waiting(net, net->p[i]);
		check_memory(net->p[i]);
	}
	check_messages(net);
	check_other(net);
	drop_trees(net);
	settle(net);
	for (i = 0; i < net->n; i++)
		EXPECT(!(net->p[i]->pending & ~net->p[i]->quiet));
	EXPECT_EQ(net->h->faults, 0);
	tree_del(net->secret);
	fuzz_end(&net->f);
	for (i = 0; i < net->lives; i++) {
		free(net->ever[i]->area);
		free(net->ever[i]->t);
		free(net->ever[i]);
	}
}
