// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Software collectives under way.
 *
 * A collective is a schedule (algo/algo.h) and how far this member is in it.
 * Whoever looks at the context moves all of them on, and nothing here waits: a
 * step that finds no room in the queues is tried again at the next look.
 *
 * Collectives of a team are numbered in the order in which they are started, the
 * same at all members, and messages name the number; so several may be under way.
 * Before each ANG_FENCE_EVERY-th the members meet in a barrier of their own:
 * what a slow member is sent before it asks is limited by that.
 *
 * A short message carries the data, a long one says where they can be read; the
 * receiver reads them, and says so.
 *
 * A team whose member is lost is lost as a whole: all of its collectives end
 * with the same error, and the members tell each other.
 */
#include <errno.h>
#include <stdlib.h>

#include "ang_model.h"
#include "coll_run.h"

#define ANG_FENCE_EVERY	64U
#define ANG_TELL_MS	1000	/* to tell members that the team is left */
#define COMBINE_CHUNK	2048U	/* bytes; a multiple of each element's */

/**
 * ang_coll_new() - a collective that is not started yet
 * @team: team
 * @args: what it is; rank and size are the team's
 * @out: out; the caller fills in the sides, @type and @redop
 *
 * Return: 0; -ENOMEM; -EINVAL as ang_schedule_make().
 */
int ang_coll_new(struct angara_team *team, const struct ang_coll_args *args,
		 struct ang_coll_op **out)
{
	struct ang_coll_op *op = calloc(1, sizeof(*op));
	int ret;

	if (!op)
		return -ENOMEM;
	op->team = team;
	op->args = *args;
	op->args.rank = team->rank;
	op->args.size = team->size;
	op->slot = ANG_NO_SLOT;
	ret = ang_schedule_make(&op->args, &op->sched);
	if (ret)
		goto drop;
	ret = -ENOMEM;
	op->state = calloc(op->sched.n ? op->sched.n : 1, 1);
	if (!op->state)
		goto drop;
	if (op->sched.temp) {
		op->scratch = ang_scratch_get(team->ctx, op->sched.temp);
		if (!op->scratch)
			goto drop;
		op->side[ANG_BUF_TEMP] = (struct ang_side){
			.at = op->scratch->mr->addr, .mr = op->scratch->mr,
		};
	}
	*out = op;
	return 0;

drop:
	ang_coll_drop(op);
	return ret;
}

static void op_release(struct ang_coll_op *op, struct angara_ctx *ctx)
{
	if (op->scratch)
		ang_scratch_put(ctx, op->scratch);
	op->scratch = NULL;
}

/** ang_coll_drop() - a collective that has not been started is not to be */
void ang_coll_drop(struct ang_coll_op *op)
{
	if (op->team)
		op_release(op, op->team->ctx);
	ang_schedule_free(&op->sched);
	free(op->state);
	free(op);
}

static void op_unlink(struct ang_coll_op *op)
{
	struct ang_coll_op **at = &op->team->ops;

	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
}

/* What the adapter has of it still is nobody's: the last one frees it. */
static void op_orphan(struct ang_coll_op *op, struct angara_ctx *ctx)
{
	op->team = NULL;
	op->next = ctx->colls.orphans;
	ctx->colls.orphans = op;
}

/* Ends a collective: the caller is told. */
static void op_over(struct ang_coll_op *op, u32 status, u32 node)
{
	struct angara_ctx *ctx = op->team->ctx;

	op_unlink(op);
	ctx->colls.busy--;
	if (op->slot != ANG_NO_SLOT)
		ang_slot_finish(ctx, op->slot, status, node,
				op->args.count * op->args.elem);
	if (op->sends || op->gets)
		op_orphan(op, ctx);
	else
		ang_coll_drop(op);
}

static char *range_at(const struct ang_coll_op *op, struct ang_range r)
{
	return op->side[r.buf].at + r.off;
}

/* The model's arithmetic wants aligned operands; the caller's need not be. */
static void step_combine(const struct ang_coll_op *op, const struct ang_step *s)
{
	u64 acc[COMBINE_CHUNK / 8], in[COMBINE_CHUNK / 8];
	char *dst = range_at(op, s->dst);
	const char *src = range_at(op, s->src);
	size_t len = s->len;

	if (!(((uintptr_t)dst | (uintptr_t)src) & 7)) {
		ang_combine(dst, src, (u32)len, op->type, op->redop);
		return;
	}
	while (len) {
		size_t part = len < sizeof(acc) ? len : sizeof(acc);

		memcpy(acc, dst, part);
		memcpy(in, src, part);
		ang_combine(acc, in, (u32)part, op->type, op->redop);
		memcpy(dst, acc, part);
		dst += part;
		src += part;
		len -= part;
	}
}

/* Return: 0; -EAGAIN; -errno. */
static int step_begin(struct ang_coll_op *op, u32 i)
{
	const struct ang_step *s = &op->sched.steps[i];

	switch (s->kind) {
	case ANG_STEP_SEND:
		return ang_talk_data(op, i);
	case ANG_STEP_RECV:
		op->state[i] = ANG_STEP_BEGUN;
		return 0;
	case ANG_STEP_COPY:
		memmove(range_at(op, s->dst), range_at(op, s->src), s->len);
		break;
	case ANG_STEP_COMBINE:
		step_combine(op, s);
		break;
	}
	op->state[i] = ANG_STEP_ENDED;
	return 0;
}

static void op_count(struct ang_coll_op *op)
{
	while (op->prefix < op->begun && op->state[op->prefix] == ANG_STEP_ENDED)
		op->prefix++;
}

/* Tells senders that their memory has been read.  Return: -EAGAIN not all. */
static int op_pay(struct ang_coll_op *op)
{
	u32 i;

	for (i = op->prefix; op->owes && i < op->begun; i++) {
		int ret;

		if (op->state[i] != ANG_STEP_OWES)
			continue;
		ret = ang_talk_taken(op, i);
		if (ret)
			return ret;
		op->state[i] = ANG_STEP_ENDED;
		op->owes--;
	}
	return 0;
}

/* Begins what can be begun.  Return: 0; -EAGAIN there is no room; -errno. */
static int op_move(struct ang_coll_op *op)
{
	int ret = op_pay(op);

	op_count(op);
	while (!ret && op->begun < op->sched.n &&
	       op->sched.steps[op->begun].after <= op->prefix) {
		ret = step_begin(op, op->begun);
		if (!ret)
			op->begun++;
		op_count(op);
	}
	return ret;
}

static bool op_done(const struct ang_coll_op *op)
{
	return op->prefix == op->sched.n && !op->sends && !op->gets;
}

/* Return: has something come of it? */
static bool team_round(struct angara_team *team)
{
	struct ang_coll_op *op, *next;
	bool some = false;

	for (op = team->ops; op && !team->lost; op = next) {
		u32 begun = op->begun, prefix = op->prefix;
		bool fence = op->slot == ANG_NO_SLOT;
		int ret = op_move(op);

		next = op->next;
		some |= op->begun != begun || op->prefix != prefix;
		if (ret && ret != -EAGAIN) {
			ang_coll_fail(team, team->rank, ANGARA_ST_DMA);
		} else if (op_done(op)) {
			op_over(op, ANGARA_ST_OK, 0);
			some = true;
		} else if (fence) {
			break;
		}
	}
	return some;
}

/* Ends what a lost team has under way; what is being written to ends later. */
static void team_fail_ops(struct angara_team *team)
{
	struct ang_coll_op *op, *next;

	for (op = team->ops; op; op = next) {
		next = op->next;
		if (!op->gets)
			op_over(op, team->lost, team->peers[team->culprit].node);
	}
}

static void team_move(struct angara_team *team)
{
	if (team->doomed && !team->lost)
		ang_coll_fail(team, team->doomed_by, team->doomed);
	while (!team->lost) {
		bool some = team_round(team);

		if (!(team->early && ang_talk_early(team)) && !some)
			break;
	}
	if (team->lost) {
		team_fail_ops(team);
		ang_talk_spread(team);
	} else if (team->ops) {
		ang_talk_look(team);
	}
}

/** ang_coll_progress() - move all software collectives of a context on */
void ang_coll_progress(struct angara_ctx *ctx)
{
	struct ang_colls *c = &ctx->colls;
	struct angara_team *team;

	if (c->active || ctx->dead)
		return;
	c->active = true;
	ang_msg_hear(ctx);
	for (team = c->teams; team; team = team->next)
		team_move(team);
	ang_flush(ctx);
	c->active = false;
}

/* The members meet before the next collective.  Return: 0; -ENOMEM. */
static int fence_new(struct angara_team *team, struct ang_coll_op **fence)
{
	static const struct ang_coll_args args = {
		.coll = ANG_COLL_BARRIER, .elem = 1,
	};

	*fence = NULL;
	if (team->seq % ANG_FENCE_EVERY != ANG_FENCE_EVERY - 1)
		return 0;
	return ang_coll_new(team, &args, fence);
}

static void op_link(struct ang_coll_op *op)
{
	struct angara_team *team = op->team;
	struct ang_coll_op **at = &team->ops;

	while (*at)
		at = &(*at)->next;
	*at = op;
	op->seq = team->seq++;
	team->seq %= ANG_SEQ_NUM;
	team->ctx->colls.busy++;
}

/* Long messages are read from the sender's memory, into the receiver's. */
static int op_check(const struct ang_coll_op *op)
{
	u32 i;

	for (i = 0; i < op->sched.n; i++) {
		const struct ang_step *s = &op->sched.steps[i];
		const struct ang_side *side;

		if (s->len <= ANGARA_MAX_INLINE ||
		    (s->kind != ANG_STEP_SEND && s->kind != ANG_STEP_RECV))
			continue;
		if (s->len > op->team->ctx->dom->query.max_op_bytes)
			return -EINVAL;
		side = &op->side[s->kind == ANG_STEP_SEND ? s->src.buf : s->dst.buf];
		if (!side->mr)
			return -EINVAL;
		if (s->len > ANGARA_MAX_MSG &&
		    !(side->mr->access & (s->kind == ANG_STEP_SEND ?
					  ANGARA_ACCESS_REMOTE_READ :
					  ANGARA_ACCESS_LOCAL_WRITE)))
			return -EACCES;
	}
	return 0;
}

/**
 * ang_coll_start() - start a collective
 * @op: collective; it is dropped if it cannot be started
 * @how: what the caller wants of it
 * @b: NULL, or what waits for it: then @how is not looked at
 *
 * Return: 0; -EAGAIN there is no room now; -ENOTCONN the team is lost; -EACCES
 * the right for long messages is missing; -EINVAL; -ENOMEM; -ENODEV.
 */
int ang_coll_start(struct ang_coll_op *op, const struct angara_op *how,
		   struct ang_blocked *b)
{
	struct angara_team *team = op->team;
	struct angara_ctx *ctx = team->ctx;
	struct ang_coll_op *fence = NULL;
	int ret = team->lost ? -ENOTCONN : op_check(op);

	if (!ret)
		ret = fence_new(team, &fence);
	/* Half of the completions are for the messages. */
	if (!ret && !b && ctx->colls.busy >= ctx->create.cq_entries / 2)
		ret = -EAGAIN;
	if (!ret)
		ret = ang_slot_take(ctx, how, b, &op->slot);
	if (ret) {
		if (fence)
			ang_coll_drop(fence);
		ang_coll_drop(op);
		return ret;
	}
	if (fence)
		op_link(fence);
	op_link(op);
	ang_coll_progress(ctx);
	return 0;
}

/** ang_coll_wait() - start a collective, and wait for it.  Return: 0; -errno. */
int ang_coll_wait(struct ang_coll_op *op)
{
	struct angara_ctx *ctx = op->team->ctx;
	struct ang_blocked b = { 0 };
	int ret = ang_coll_start(op, NULL, &b);

	return ret ? ret : ang_blocked_wait(ctx, &b);
}

/* Return: the step that a message is for, or -1. */
static int find_step(const struct ang_coll_op *op, const struct ang_said *said)
{
	enum ang_step_kind kind = said->kind == ANG_TALK_TAKEN ? ANG_STEP_SEND :
								 ANG_STEP_RECV;
	u32 i;

	for (i = op->prefix; i < op->begun; i++) {
		const struct ang_step *s = &op->sched.steps[i];

		if (op->state[i] == ANG_STEP_BEGUN && s->kind == kind &&
		    s->peer == said->from && s->tag == said->tag)
			return (int)i;
	}
	return -1;
}

static bool op_offered(struct ang_coll_op *op, u32 i, const void *data, size_t len)
{
	const struct ang_step *s = &op->sched.steps[i];
	struct ang_offer offer;
	int ret;

	if (len != sizeof(offer))
		goto mismatch;
	memcpy(&offer, data, sizeof(offer));
	if (offer.len != s->len || s->len <= ANGARA_MAX_MSG)
		goto mismatch;
	ret = ang_talk_get(op, i, &offer);
	if (ret == -EAGAIN)
		return false;
	if (ret)
		ang_coll_fail(op->team, op->team->rank, ANGARA_ST_DMA);
	return true;

mismatch:
	ang_coll_fail(op->team, s->peer, ANGARA_ST_MISMATCH);
	return true;
}

/**
 * ang_coll_take() - take a message of a member
 * @team: team
 * @said: what it says
 * @data: its data
 * @len: bytes of them
 *
 * Return: false: not yet: nobody has asked for it, or there is no room.
 */
bool ang_coll_take(struct angara_team *team, const struct ang_said *said,
		   const void *data, size_t len)
{
	struct ang_coll_op *op = team->ops;
	const struct ang_step *s;
	int i;

	while (op && op->seq != said->seq)
		op = op->next;
	i = op ? find_step(op, said) : -1;
	if (i < 0)
		return said->kind == ANG_TALK_TAKEN;
	s = &op->sched.steps[i];
	if (said->kind == ANG_TALK_OFFER)
		return op_offered(op, (u32)i, data, len);
	if (said->kind == ANG_TALK_DATA) {
		if (len != s->len) {
			ang_coll_fail(team, said->from, ANGARA_ST_MISMATCH);
			return true;
		}
		if (len)
			memcpy(range_at(op, s->dst), data, len);
	}
	op->state[i] = ANG_STEP_ENDED;
	return true;
}

/**
 * ang_coll_fail() - a team is lost
 * @team: team
 * @culprit: rank of the member that it was lost by
 * @status: ANGARA_ST_*
 */
void ang_coll_fail(struct angara_team *team, u32 culprit, u32 status)
{
	if (team->lost)
		return;
	team->lost = status;
	team->culprit = culprit;
}

/**
 * ang_coll_landed() - an operation of the library's own is complete
 * @ctx: context
 * @cookie: as posted: collective, and in its lowest bit whether it is a read
 * @step: step that it is for
 * @status: ANGARA_ST_*
 *
 * Only takes note: the completion queue is being gone through.
 */
void ang_coll_landed(struct angara_ctx *ctx, u64 cookie, u32 step, u32 status)
{
	struct ang_coll_op *op = (struct ang_coll_op *)(uintptr_t)(cookie & ~1ULL);
	struct ang_coll_op **at = &ctx->colls.orphans;

	if (!op)
		return;
	if (cookie & 1)
		op->gets--;
	else
		op->sends--;
	if (op->team) {
		ang_talk_landed(op, step, cookie & 1, status);
		return;
	}
	if (op->sends || op->gets)
		return;
	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
	op_release(op, ctx);
	ang_coll_drop(op);
}

/* The last that members learn of this one; a queue that has no room must make some. */
static bool all_told(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;

	ang_coll_progress(ctx);
	return team->spread >= 32 || 1U << team->spread >= team->size;
}

/* By the team: the progress of the wait may end and free any of its collectives. */
static bool reads_done(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;
	const struct ang_coll_op *op = team->ops;

	while (op && !op->gets)
		op = op->next;
	return !op || ctx->dead;
}

/**
 * ang_coll_leave() - a team goes, whatever it has under way
 * @team: team
 * @quietly: all members go; else those that are there are told
 */
void ang_coll_leave(struct angara_team *team, bool quietly)
{
	struct angara_ctx *ctx = team->ctx;
	struct angara_team **at = &ctx->colls.teams;

	if (!quietly && !team->lost) {
		ang_coll_fail(team, team->rank, ANGARA_ST_TREE_DOWN);
		ang_wait_until(ctx, all_told, team, ANG_TELL_MS);
	}
	/* Reads into the caller's memory are waited for: they end. */
	if (team->ops)
		ang_wait_until(ctx, reads_done, team, ANGARA_FOREVER);
	while (team->ops)
		op_over(team->ops, ANGARA_ST_TREE_DOWN,
			team->peers[team->rank].node);
	while (*at && *at != team)
		at = &(*at)->next;
	if (*at)
		*at = team->next;
	ang_talk_close(team);
}

/** ang_coll_end() - a context is closed: what it had under way is forgotten */
void ang_coll_end(struct angara_ctx *ctx)
{
	while (ctx->colls.orphans) {
		struct ang_coll_op *op = ctx->colls.orphans;

		ctx->colls.orphans = op->next;
		op_release(op, ctx);
		ang_coll_drop(op);
	}
	ang_talk_end(ctx);
	ang_scratch_end(ctx);
}
