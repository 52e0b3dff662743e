// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Actions of drivers and processes in all scenarios: commands, contexts,
 * entries, completions, and running nodes that have work.
 */
#include <string.h>

#include "explore.h"

u32 pick(struct actor *a, u32 n)
{
	return (u32)(rnd(&a->seed) >> 33) % n;
}

static void take_over(struct actor *a)
{
	shared_lock();
	ang_list_splice(fabric, &a->h.v.runq, &shared.runq);
	ang_timers_splice(fabric, &a->h.v.timers, &shared.timers);
	shared_unlock();
}

void hand_on(struct actor *a)
{
	if (!ang_view_busy(&a->h.v))
		return;
	moment("hand on");
	shared_lock();
	ang_list_splice(fabric, &shared.runq, &a->h.v.runq);
	ang_timers_splice(fabric, &shared.timers, &a->h.v.timers);
	shared_unlock();
	stepped();
}

/*
 * Did the view put a node back because a thread is in one of the node's lanes?
 */
static bool put_back(const struct ang_view *v, u32 id)
{
	const struct ang_lane *l;
	u32 i;

	if (id == ANG_NONE || v->runq.head == ANG_NONE || v->runq.tail != id)
		return false;
	l = (const void *)((char *)v->fab + ang_node(v->fab, id)->pe + v->fab->off_lane);
	for (i = 0; i < 2 * ANG_LANES; i++)
		if (__atomic_load_n(&l[i].taken, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

void run(struct actor *a, u32 budget)
{
	for (; budget && ang_view_busy(&a->h.v); budget--) {
		u32 id = a->h.v.runq.head;

		ang_run(&a->h.v, 1);
		if (put_back(&a->h.v, id))
			idle("lanes");
		else
			stepped();
	}
}

void run_some(struct actor *a)
{
	switch (pick(a, 4)) {
	case 0:
		hand_on(a);
		break;
	case 1:
		take_over(a);
		run(a, 1 + pick(a, 8));
		break;
	default:
		run(a, pick(a, 4));
	}
}

void actor_wait(struct actor *a, bool (*cond)(struct actor *a), const char *what)
{
	for (;;) {
		moment("wait");
		if (cond(a))
			return;
		take_over(a);
		if (!ang_view_busy(&a->h.v))
			idle(what);
		run(a, 1 + pick(a, 3));
		if (pick(a, 2))
			hand_on(a);
	}
}

void work(struct actor *w)
{
	while (!all_done()) {
		moment("work");
		take_over(w);
		if (!ang_view_busy(&w->h.v)) {
			idle("work");
			continue;
		}
		run(w, 1 + pick(w, 6));
		if (pick(w, 2))
			hand_on(w);
	}
}

static bool command_done(struct actor *a)
{
	u64 *last = (u64 *)acq_entry(a->index, a->acq_ci) + 3;

	return (__atomic_load_n(last, __ATOMIC_ACQUIRE) >> 56 & 1) ==
	       acq_phase(a->acq_ci);
}

void commands(struct actor *a, const struct angara_adm_cmd *cmd, u32 count,
	      u32 *status)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct angara_adm_cmd *at = asq_entry(a->index, a->asq_pi + i);

		*at = cmd[i];
		if (cmd[i].opcode == ANGARA_ADM_TREE_SET ||
		    cmd[i].opcode == ANGARA_ADM_TREE_CLEAR ||
		    cmd[i].opcode == ANGARA_ADM_TREE_GET)
			at->set.router = cpu_to_le32(a->index);
		at->tag = cpu_to_le16((u16)(a->asq_pi + i));
		TRACE("command %u, context %u, tree %u", cmd[i].opcode,
		      le16_to_cpu(cmd[i].ctx), cmd[i].tree);
	}
	a->asq_pi += count;
	ang_reg_write(&a->h.v, a->index, ANGARA_REG_ASQ_DB, a->asq_pi);
	for (i = 0; i < count; i++) {
		struct angara_adm_cpl *cpl;

		actor_wait(a, command_done, "a command");
		cpl = acq_entry(a->index, a->acq_ci);
		EXPECT_EQ(le16_to_cpu(cpl->tag), (u16)a->acq_ci);
		status[i] = cpl->status;
		TRACE("command %u: status %u", cmd[i].opcode, cpl->status);
		a->acq_ci++;
	}
}

u32 command(struct actor *a, const struct angara_adm_cmd *cmd)
{
	u32 status;

	commands(a, cmd, 1, &status);
	return status;
}

struct angara_adm_cmd cmd_op(u32 opcode, u32 ctx, u32 tree)
{
	return (struct angara_adm_cmd){
		.opcode = (u8)opcode,
		.ctx = cpu_to_le16((u16)ctx),
		.tree = (u8)tree,
	};
}

u32 command_op(struct actor *a, u32 opcode, u32 ctx, u32 tree)
{
	struct angara_adm_cmd cmd = cmd_op(opcode, ctx, tree);

	return command(a, &cmd);
}

struct angara_adm_cmd cmd_row(const struct angara_tree_row *row)
{
	return (struct angara_adm_cmd){
		.opcode = ANGARA_ADM_TREE_SET,
		.set.row = {
			.tree = row->tree,
			.is_root = row->is_root,
			.to_root = row->to_root,
			.port_sum = row->port_sum,
			.ports = cpu_to_le64(row->ports),
			.pe = cpu_to_le16(row->pe),
			.pkey = cpu_to_le32(row->pkey),
			.epoch = cpu_to_le16(row->epoch),
		},
	};
}

u32 command_row(struct actor *a, const struct angara_tree_row *row)
{
	struct angara_adm_cmd cmd = cmd_row(row);

	return command(a, &cmd);
}

u64 region_key(u32 cid, u32 life, u32 key)
{
	return family->share ? (u64)life << 16 | (cid % CTXS * 2 + key) : key;
}

struct angara_hw_mr *region_entry(struct context *c, u32 key)
{
	u32 node = c->cid / CTXS;

	return family->share ?
	       &dom_memory(node)->mrt[ANGARA_MR_SLOT(region_key(c->cid, 0, key))] :
	       &ctx_memory(node, c->t.id, c->life)->mrt[key];
}

/*
 * Stores word by word, like a driver: the device may read the entry meanwhile.
 * Leaves out the word that makes the entry valid. Return: that word.
 */
static u64 region_fill(struct context *c, u32 key, void *at, u32 len)
{
	u32 node = c->cid / CTXS;
	struct angara_hw_mr mr = {
		.addr = cpu_to_le64(memory_addr(node, at)),
		.length = cpu_to_le64(len),
		.access = ANGARA_ACCESS_ALL,
		.valid = 1,
		.page_shift = 12,
		.key = cpu_to_le64(region_key(c->cid, c->life, key)),
	};
	u64 *to = (u64 *)region_entry(c, key);
	u64 words[4];
	u32 i;

	static_assert(sizeof(mr) == sizeof(words), "an entry is four words");
	memcpy(words, &mr, sizeof(words));
	for (i = 0; i < 4; i++)
		if (i != 2)
			__atomic_store_n(to + i, words[i], __ATOMIC_RELAXED);
	return words[2];
}

static void region_valid(struct context *c, u32 key, u64 word)
{
	__atomic_store_n((u64 *)region_entry(c, key) + 2, word,
			 __ATOMIC_RELEASE);
}

/* Contexts may share the table: no other actor may run between fill and publish. */
static void regions_create(struct actor *a, struct context *c,
			   struct ctx_memory *m)
{
	u64 buf = region_fill(c, BUF_KEY, m->buf, sizeof(m->buf));
	u64 extra = region_fill(c, EXTRA_KEY, m->extra, sizeof(m->extra));

	if (family->share)
		EXPECT_EQ(command_op(a, ANGARA_ADM_FENCE, 0, 0),
			  ANGARA_ADM_ST_OK);
	region_valid(c, BUF_KEY, buf);
	region_valid(c, EXTRA_KEY, extra);
}

/*
 * Fences the regions of a context that is destroyed: its domain continues to
 * exist, and the memory gets another use.
 */
static void regions_destroy(struct actor *a, struct context *c)
{
	region_valid(c, BUF_KEY, 0);
	region_valid(c, EXTRA_KEY, 0);
	EXPECT_EQ(command_op(a, ANGARA_ADM_FENCE, 0, 0), ANGARA_ADM_ST_OK);
}

static void domain_create(struct actor *a, struct context *c,
			  struct ctx_memory *m)
{
	u32 dom = family->share ? 0 : c->t.id;
	struct angara_adm_cmd cmd = cmd_op(ANGARA_ADM_DOMAIN_CREATE, dom, 0);
	struct dom_memory *all = dom_memory(a->index);

	if (family->share && a->dom_ctxs++)
		return;
	all->list = cpu_to_le64(memory_addr(a->index, all->mrt));
	m->list[2] = cpu_to_le64(memory_addr(a->index, m->mrt));
	cmd.domain.mrt = cpu_to_le64(memory_addr(a->index, family->share ?
						 &all->list : &m->list[2]));
	cmd.domain.mrs = cpu_to_le32(MRS);
	cmd.domain.pkey = cpu_to_le32(PKEY);
	EXPECT_EQ(command(a, &cmd), ANGARA_ADM_ST_OK);
}

static void area_create(struct actor *a, struct context *c, struct ctx_memory *m)
{
	u32 node = a->index, id = c->t.id;
	struct angara_adm_cmd cmd = cmd_op(ANGARA_ADM_MSG_AREA, id, 0);
	u32 i;

	c->area.mem = (char *)area_memory(node, id, c->life);
	c->area.ci = 0;
	memset(c->area.mem, 0, 1U << AREA_LOG2);
	area_live(node, id, c->life, true);
	for (i = 0; i < (1U << AREA_LOG2) / ANGARA_PAGE_SIZE; i++)
		m->list[4 + i] = cpu_to_le64(memory_addr(node, c->area.mem) +
					     i * ANGARA_PAGE_SIZE);
	cmd.msg.pages = cpu_to_le64(memory_addr(node, &m->list[4]));
	cmd.msg.log2 = AREA_LOG2;
	EXPECT_EQ(command(a, &cmd), ANGARA_ADM_ST_OK);
}

/* Changes @life, which other actors read to detect a new life. */
static void next_life(struct context *c)
{
	__atomic_store_n(&c->life, c->life + 1, __ATOMIC_RELEASE);
}

void context_create(struct actor *a, struct context *c)
{
	u32 node = a->index;
	struct ctx_memory *m = ctx_memory(node, c->t.id, c->life + 1);
	struct angara_adm_cmd cmd = cmd_op(ANGARA_ADM_CTX_CREATE, c->t.id, 0);

	memset(m, 0, sizeof(*m));
	memory_live(m, sizeof(*m), true);
	memset(m->buf + NAME, (int)(0x40 + c->cid), NAME_LEN);
	m->list[0] = cpu_to_le64(memory_addr(node, m->sq));
	m->list[1] = cpu_to_le64(memory_addr(node, m->cq));
	c->t.sq_n = OPS;
	c->t.cq_n = OPS;
	c->t.sq_pi = 0;
	c->t.cq_ci = 0;
	c->t.sq = m->sq;
	c->t.cq = m->cq;
	c->t.ctl = &m->ctl;
	c->t.ctr = m->ctr;
	c->t.mrt = m->mrt;
	c->t.buf = (char *)m->buf;
	c->pending = 0;
	c->joined = 0;
	memset(c->op, 0, sizeof(c->op));
	cmd.create.sq = cpu_to_le64(memory_addr(node, &m->list[0]));
	cmd.create.cq = cpu_to_le64(memory_addr(node, &m->list[1]));
	cmd.create.ctl = cpu_to_le64(memory_addr(node, &m->ctl));
	cmd.create.ctr = cpu_to_le64(memory_addr(node, m->ctr));
	cmd.create.dom = cpu_to_le16(family->share ? 0 : (u16)c->t.id);
	cmd.create.sq_log2 = 3;
	cmd.create.cq_log2 = 3;
	next_life(c);
	domain_create(a, c, m);
	regions_create(a, c, m);
	EXPECT_EQ(command(a, &cmd), ANGARA_ADM_ST_OK);
	if (family->areas)
		area_create(a, c, m);
}

void context_destroy(struct actor *a, struct context *c)
{
	struct ctx_memory *m = ctx_memory(a->index, c->t.id, c->life);
	u32 i;

	if (family->share)
		regions_destroy(a, c);
	EXPECT_EQ(command_op(a, ANGARA_ADM_CTX_DESTROY, c->t.id, 0),
		  ANGARA_ADM_ST_OK);
	if (!family->share || !--a->dom_ctxs)
		EXPECT_EQ(command_op(a, ANGARA_ADM_DOMAIN_DESTROY,
				     family->share ? 0 : c->t.id, 0),
			  ANGARA_ADM_ST_OK);
	memory_live(m, sizeof(*m), false);
	if (family->areas)
		area_live(a->index, c->t.id, c->life, false);
	next_life(c);
	for (i = 0; i < OPS; i++)
		if (c->op[i].used && c->op[i].slot)
			a->slots &= ~(1U << (c->op[i].slot - 1));
	c->pending = 0;
	memset(c->op, 0, sizeof(c->op));
}

/* Is there room for one more operation in the queues of the context? */
bool may_post(const struct context *c)
{
	u32 ci = (u32)ctx_counter(&c->t, ANGARA_CTR_SQ_CI);

	return c->life & 1 && c->pending + 2 < OPS &&
	       c->t.sq_pi - ci + 2 <= OPS;
}

struct posted *post_op(struct actor *a, struct context *c, struct angara_wqe w,
		       const void *payload)
{
	struct posted *p;
	u32 i;

	for (i = 0; c->op[i].used; i++)
		;
	p = &c->op[i];
	memset(p, 0, sizeof(*p));
	p->used = 1;
	p->opcode = w.opcode;
	p->len = le32_to_cpu(w.length);
	p->to = le32_to_cpu(w.dst_node) * CTXS + le16_to_cpu(w.dst_ctx);
	w.cookie = cpu_to_le64((u64)c->life << 32 | c->posts++ << 8 | i);
	p->cookie = le64_to_cpu(w.cookie);
	c->pending++;
	TRACE("context %u posts operation %u of %u bytes, to %u:%u, tree %u, cookie %llx",
	      c->t.id, w.opcode, p->len, le32_to_cpu(w.dst_node),
	      le16_to_cpu(w.dst_ctx), le16_to_cpu(w.tree), (unsigned long long)p->cookie);
	post(&c->t, &w, payload);
	return p;
}

/* Rings the doorbell, which in half of the scenarios may run the context at once. */
void ring(struct actor *a, struct context *c)
{
	if (!(shared.plan & 4)) {
		kick(&c->t);
		return;
	}
	ang_reg_ring(&a->h.v, c->t.node, ANGARA_DB_PAGE(c->t.id) + ANGARA_DB_SQ,
		     c->t.sq_pi);
	/* Other actors may wait for the effects of the doorbell. */
	ang_mb();
	stepped();
}

/* Checks a completion: each operation completes once. */
static void take(struct actor *a, struct context *c, const struct angara_cqe *cqe)
{
	u64 cookie = le64_to_cpu(cqe->cookie);
	struct posted p;

	TRACE("context %u: operation %llx completes with status %u", c->t.id,
	      (unsigned long long)cookie, le16_to_cpu(cqe->status));
	EXPECT((cookie & 0xFF) < OPS);
	p = c->op[cookie & 0xFF];
	EXPECT(p.used && p.cookie == cookie);
	EXPECT_EQ(p.opcode, cqe->opcode);
	EXPECT(le16_to_cpu(cqe->status) < ANGARA_ST_NUM);
	c->op[cookie & 0xFF].used = 0;
	c->pending--;
	if (p.slot)
		a->slots &= ~(1U << (p.slot - 1));
	if (p.end)
		p.end(a, c, &p, le16_to_cpu(cqe->status));
}

void reap(struct actor *a)
{
	struct angara_cqe cqe;
	u32 i;

	for (i = 0; i < family->ctxs; i++) {
		struct context *c = &a->ctx[i];

		while (c->life & 1 && poll_cq(&c->t, &cqe))
			take(a, c, &cqe);
	}
}

bool nothing_pending(struct actor *a)
{
	u32 i;

	reap(a);
	for (i = 0; i < family->ctxs; i++)
		if (a->ctx[i].life & 1 && a->ctx[i].pending)
			return false;
	return true;
}
