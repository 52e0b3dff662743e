// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts, gets and atomic operations between contexts that stay, and between
 * contexts and regions that are created and removed.
 */
#include <string.h>

#include "explore.h"

#define ROUNDS	9

static u32 any_context(struct actor *a)
{
	return pick(a, family->nodes) * CTXS + pick(a, family->ctxs);
}

static u32 life_of(u32 cid)
{
	return __atomic_load_n(&context_of(cid)->life, __ATOMIC_ACQUIRE);
}

/* May the target's memory be read, because no other actor can end the target? */
static bool same_life(const struct posted *p)
{
	return (p->life & 1) && life_of(p->to) == p->life &&
	       (!threads || !family->lives);
}

static void status_check(struct context *c, u32 status, u32 life)
{
	if (!family->lives) {
		EXPECT_EQ(status, ANGARA_ST_OK);
		return;
	}
	EXPECT(status == ANGARA_ST_OK || status == ANGARA_ST_TARGET ||
	       status == ANGARA_ST_KEY);
}

static void put_end(struct actor *a, struct context *c, const struct posted *p,
		    u32 status)
{
	u8 *at;
	u32 i;

	status_check(c, status, p->life);
	if (status || !same_life(p))
		return;
	at = ctx_memory(p->to / CTXS, p->to % CTXS, p->life)->buf +
	     IN(a->index, p->slot - 1U);
	for (i = 0; i < p->len; i++)
		EXPECT_EQ(at[i], (u8)p->value);
}

static void get_end(struct actor *a, struct context *c, const struct posted *p,
		    u32 status)
{
	u8 *at = (u8 *)c->t.buf + OUT(p->slot - 1U);
	u32 i;

	status_check(c, status, p->life);
	for (i = 0; !status && i < p->len; i++)
		EXPECT_EQ(at[i], 0x40 + p->to);
}

static void extra_end(struct actor *a, struct context *c, const struct posted *p,
		      u32 status)
{
	status_check(c, status, p->life);
}

static void add_end(struct actor *a, struct context *c, const struct posted *p,
		    u32 status)
{
	status_check(c, status, p->life);
	if (!status)
		c->added += p->value;
}

/* Sets the keys for memory of context @c and of context @to. */
static void regions(struct context *c, struct angara_wqe *w, u32 to, u32 key)
{
	w->rkey = cpu_to_le64(region_key(to, life_of(to), key));
	w->lkey = cpu_to_le32(ANGARA_MR_SLOT((u32)region_key(c->cid, 0, key)));
	if (w->opcode == ANGARA_OP_FETCH)
		w->aux_key = w->lkey;
}

static void put(struct actor *a, struct context *c, u32 slot, u32 to)
{
	static const u32 lens[] = { 0, 8, 64, 300, 800, 800 };
	u32 len = lens[pick(a, NUM(lens))];
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to / CTXS, to % CTXS,
				      OUT(slot), IN(a->index, slot), len);
	u8 value = (u8)(1 + pick(a, 255));
	u8 payload[64];
	struct posted *p;
	u32 life = life_of(to);

	memset(c->t.buf + OUT(slot), value, len);
	memset(payload, value, sizeof(payload));
	if (len && len <= 64 && pick(a, 2))
		w.flags |= ANGARA_WQE_INLINE;
	if (!pick(a, 4))
		w.flags |= ANGARA_WQE_NOTIFY;
	regions(c, &w, to, BUF_KEY);
	p = post_op(a, c, w, w.flags & ANGARA_WQE_INLINE ? payload : NULL);
	p->slot = (u8)(slot + 1);
	p->value = value;
	p->life = life;
	p->end = put_end;
}

static void get(struct actor *a, struct context *c, u32 slot, u32 to)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_GET, to / CTXS, to % CTXS, NAME,
				      OUT(slot), 8 * (1 + pick(a, 8)));
	struct posted *p;

	memset(c->t.buf + OUT(slot), 0, NAME_LEN);
	regions(c, &w, to, BUF_KEY);
	p = post_op(a, c, w, NULL);
	p->slot = (u8)(slot + 1);
	p->end = get_end;
}

static void add(struct actor *a, struct context *c, u32 slot, u32 to)
{
	u32 op = pick(a, 2) ? ANGARA_OP_FETCH : ANGARA_OP_ATOMIC;
	struct angara_wqe w = wqe_p2p(op, to / CTXS, to % CTXS, OUT(slot), WORD,
				      8);
	u64 value = 1 + pick(a, 1000);
	__le64 raw = cpu_to_le64(value);
	struct posted *p;

	w.type = ANGARA_TYPE_UINT64;
	w.redop = ANGARA_ATOMIC_SUM;
	if (op == ANGARA_OP_FETCH)
		w.aux = cpu_to_le64(OUT(slot) + 8);
	memcpy(c->t.buf + OUT(slot), &raw, 8);
	regions(c, &w, to, BUF_KEY);
	p = post_op(a, c, w, NULL);
	p->slot = (u8)(slot + 1);
	p->value = value;
	p->end = add_end;
}

/* Posts a transfer to or from a region that may be removed meanwhile. */
static void extra(struct actor *a, struct context *c, u32 slot, u32 to)
{
	u32 len = pick(a, 2) ? EXTRA : 16;
	bool get = pick(a, 2);
	struct angara_wqe w = wqe_p2p(get ? ANGARA_OP_GET : ANGARA_OP_PUT,
				      to / CTXS, to % CTXS, 0, 0, len);
	struct posted *p;

	regions(c, &w, to, EXTRA_KEY);
	/* The entry may name any context of the domain. */
	if (family->share && pick(a, 2))
		w.dst_ctx = cpu_to_le16((u16)pick(a, family->ctxs));
	p = post_op(a, c, w, NULL);
	p->slot = (u8)(slot + 1);
	p->end = extra_end;
}

static void transfer(struct actor *a)
{
	struct context *c = &a->ctx[pick(a, family->ctxs)];
	u32 slot = a->slots & 1 ? 1 : 0;
	u32 to = any_context(a);

	if (a->slots == (1U << SLOTS) - 1 || !may_post(c))
		return;
	a->slots |= 1U << slot;
	switch (pick(a, family->lives ? 5 : 3)) {
	case 0:
		get(a, c, slot, to);
		break;
	case 1:
		add(a, c, slot, to);
		break;
	case 2:
	case 3:
		put(a, c, slot, to);
		break;
	default:
		extra(a, c, slot, to);
	}
	ring(a, c);
}

/* Arms any context, which an actor may do at any time. */
static void arm(struct actor *a)
{
	u32 to = any_context(a);

	ang_reg_write(&a->h.v, to / CTXS,
		      ANGARA_DB_PAGE(to % CTXS) + ANGARA_DB_ARM, pick(a, 3));
}

static void act_steady(struct actor *a)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		transfer(a);
		if (!pick(a, 4))
			arm(a);
		run_some(a);
		reap(a);
	}
	actor_wait(a, nothing_pending, "its transfers");
}

/* Checks the sums of atomic operations. */
static void end_steady(void)
{
	u64 added = 0, there = 0;
	u32 i, k;

	for (i = 0; i < family->nodes; i++)
		for (k = 0; k < family->ctxs; k++) {
			struct context *c = &shared.actor[i].ctx[k];
			__le64 raw;

			memcpy(&raw, c->t.buf + WORD, 8);
			there += le64_to_cpu(raw);
			added += c->added;
		}
	EXPECT_EQ(there, added);
}

const struct family transfers = {
	.name = "transfers", .nodes = 3, .ctxs = 1,
	.what = "puts, gets and atomic operations",
	.act = act_steady, .end = end_steady,
};

/* Removes a region, and uses its memory for another purpose. */
static void region_life(struct actor *a, struct context *c)
{
	struct ctx_memory *m;
	u64 *word;
	u64 old;

	if (!(c->life & 1))
		return;
	m = ctx_memory(a->index, c->t.id, c->life);
	word = (u64 *)region_entry(c, EXTRA_KEY) + 2;
	old = *word;
	TRACE("context %u: region %u goes", c->t.id, EXTRA_KEY);
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	EXPECT_EQ(command_op(a, ANGARA_ADM_FENCE, 0, 0), ANGARA_ADM_ST_OK);
	memory_live(m->extra, EXTRA, false);
	run_some(a);
	memory_live(m->extra, EXTRA, true);
	__atomic_store_n(word, old, __ATOMIC_RELEASE);
}

static void context_life(struct actor *a, struct context *c)
{
	if (c->life & 1)
		context_destroy(a, c);
	else
		context_create(a, c);
}

static void act_lives(struct actor *a)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct context *c = &a->ctx[pick(a, family->ctxs)];

		switch (pick(a, 8)) {
		case 0:
		case 1:
			context_life(a, c);
			break;
		case 2:
			region_life(a, c);
			break;
		case 3:
			arm(a);
			break;
		default:
			transfer(a);
		}
		if (pick(a, 2))
			run_some(a);
		reap(a);
	}
	if (pick(a, 2))
		actor_wait(a, nothing_pending, "its transfers");
	for (i = 0; i < family->ctxs; i++)
		if (a->ctx[i].life & 1)
			context_destroy(a, &a->ctx[i]);
}

const struct family transfers_lives = {
	.name = "lives", .nodes = 2, .ctxs = 2, .lives = true,
	.what = "the same, while contexts and regions come and go",
	.act = act_lives,
};

const struct family sharing = {
	.name = "sharing", .nodes = 2, .ctxs = 2, .lives = true, .share = true,
	.what = "contexts and regions that come and go within one domain",
	.act = act_lives,
};
