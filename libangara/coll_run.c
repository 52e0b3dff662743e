// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Software collectives in progress.
 *
 * A collective is a run of a schedule (algo/run.h).  Each call that polls the context advances all
 * collectives of the context, without waiting: a message that finds no room in the queues is
 * retried at the next poll.
 *
 * Collectives of a team are numbered in the order in which they are started,
 * the same at all members, and messages name the number; so several may be in
 * progress.  From time to time the members run an internal barrier before a
 * collective.  The barrier limits how many bytes a slow member receives early.
 * Each member computes this limit from the sequence of collectives, so all run
 * the barrier before the same collective.
 *
 * A short message carries the data.  A long message carries the address of the
 * data; the receiver reads the data, and sends a confirmation.
 *
 * A team whose member is lost is lost as a whole: all of its collectives end
 * with the same error, and the members notify each other.
 */
#include <errno.h>
#include <stdlib.h>

#include "ang_model.h"
#include "coll_run.h"

#define COMBINE_CHUNK	2048U	/* bytes combined at a time; a multiple of each element size */

/*
 * Combines by the caller's function, if there is one, else by the arithmetic of
 * the model.  The latter needs aligned operands: unaligned operands are copied
 * to aligned buffers, piece by piece.
 */
static void step_combine(void *arg, void *dst, const void *src, size_t len)
{
	u64 acc[COMBINE_CHUNK / 8], in[COMBINE_CHUNK / 8];
	const struct ang_coll_op *op = arg;
	size_t at, part;

	if (op->by.combine) {
		op->by.combine(dst, src, len / op->by.elem, op->by.arg);
		return;
	}
	if (!(((uintptr_t)dst | (uintptr_t)src) & 7)) {
		ang_combine(dst, src, (u32)len, op->type, op->redop);
		return;
	}
	for (at = 0; at < len; at += part) {
		part = len - at < sizeof(acc) ? len - at : sizeof(acc);
		memcpy(acc, (char *)dst + at, part);
		memcpy(in, (const char *)src + at, part);
		ang_combine(acc, in, (u32)part, op->type, op->redop);
		memcpy((char *)dst + at, acc, part);
	}
}

static int step_recv(void *arg, u32 i)
{
	struct ang_coll_op *op = arg;

	(void)i;
	op->team->asked = true;
	return 0;
}

static const struct ang_run_ops coll_run_ops = {
	.send = ang_talk_step,
	.recv = step_recv,
	.combine = step_combine,
	.has_temp = true,	/* ang_coll_new() takes registered memory, for messages */
};

/**
 * ang_coll_new() - allocate a collective, which is not started yet
 * @team: team
 * @args: arguments; rank and size are the team's
 * @out: out; the caller fills in the sides, their memory, @type and @redop
 *
 * Return: 0; -EINVAL as ang_schedule_make(); errors of ang_scratch_get().
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
	ret = ang_run_init(&op->run, &op->args, &coll_run_ops, op);
	if (ret)
		goto drop;
	if (op->run.sched.temp) {
		ret = ang_scratch_get(team->ctx, op->run.sched.temp, &op->scratch);
		if (ret)
			goto drop;
		op->run.at[ANG_BUF_TEMP] = op->scratch->mr->addr;
		op->side[ANG_BUF_TEMP].mr = op->scratch->mr;
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

/** ang_coll_drop() - free a collective that was not started */
void ang_coll_drop(struct ang_coll_op *op)
{
	if (op->team)
		op_release(op, op->team->ctx);
	ang_held_release(&op->held);
	ang_run_free(&op->run);
	free(op);
}

static void op_unlink(struct ang_coll_op *op)
{
	struct ang_coll_op **at = &op->team->ops;

	while (*at != op)
		at = &(*at)->next;
	*at = op->next;
}

/*
 * Removes a collective from its team while the adapter still executes parts of
 * it: the last part frees the collective.
 */
static void op_orphan(struct ang_coll_op *op, struct angara_ctx *ctx)
{
	op->team = NULL;
	op->next = ctx->colls.orphans;
	ctx->colls.orphans = op;
}

/*
 * Revokes the memory that this member has offered: slower members can no longer
 * read it.
 */
static void op_hide(const struct ang_coll_op *op)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct angara_mr *mr = op->held.mr[i];

		if (mr && mr->access & ANGARA_ACCESS_REMOTE_READ)
			angara_mr_revoke(mr);
	}
}

/* Ends a collective and completes the caller's operation. */
static void op_over(struct ang_coll_op *op, u32 status, u32 node)
{
	struct angara_ctx *ctx = op->team->ctx;

	if (status != ANGARA_ST_OK)
		op_hide(op);
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

static bool op_done(const struct ang_coll_op *op)
{
	return ang_run_done(&op->run) && !op->sends && !op->gets;
}

/* Advances the collectives of a team.  Return: true if any has advanced. */
static bool team_round(struct angara_team *team)
{
	struct ang_coll_op *op, *next;
	bool some = false;

	for (op = team->ops; op && !team->lost; op = next) {
		bool fence = op->slot == ANG_NO_SLOT;
		int ret = ang_run_go(&op->run);

		next = op->next;
		some |= ret > 0;
		if (ret < 0) {
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

/*
 * Ends the collectives of a lost team.  A collective with a read in progress,
 * which may still write to its memory, ends later.
 */
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
	/*
	 * This team is being created.  Once the parent team is lost, some
	 * members may never take part in the collectives that create this team.
	 */
	if (team->parent && team->parent->lost)
		ang_coll_fail(team, team->rank, team->parent->lost);
	while (!team->lost) {
		bool some = team_round(team);

		if (team->early.num && team->asked)
			some |= ang_coll_early(team);
		if (!some)
			break;
	}
	if (team->lost) {
		ang_kept_free(&team->early);
		team_fail_ops(team);
		ang_talk_spread(team);
	} else if (team->ops) {
		ang_talk_look(team);
	}
}

/*
 * Has a team work although it has no collective in progress: is it going to be
 * lost, or are there members that have to be notified?
 */
static bool team_stirs(const struct angara_team *team)
{
	if (team->lost)
		return !ang_all_notified(team->spread, team->size);
	return team->doomed || (team->parent && team->parent->lost);
}

static bool teams_still(const struct ang_colls *c)
{
	const struct angara_team *team = c->teams;

	while (team && !team_stirs(team))
		team = team->next;
	return !team;
}

/** ang_coll_progress() - advance all software collectives of a context */
void ang_coll_progress(struct angara_ctx *ctx)
{
	struct ang_colls *c = &ctx->colls;
	struct angara_team *team;
	u32 before = ctx->pi, rung = ctx->rung;

	if (c->active || ctx->dead)
		return;
	c->active = true;
	ang_msg_hear(ctx);
	for (team = c->teams; team; team = team->next)
		team_move(team);
	c->still = teams_still(c);
	/*
	 * Ring the doorbell only if operations were posted here.  The same
	 * doorbell starts operations of the caller that ANGARA_MORE held back.
	 * ctx->pi may be unchanged although operations were posted: a reduction
	 * that left its board has removed its entry.  Then ctx->rung differs.
	 */
	if (ctx->pi != before || ctx->rung != rung)
		ang_flush(ctx);
	c->active = false;
}

/*
 * Allocates the internal barrier if it is due before the next collective.
 * @fence: out: the barrier, which is not started yet; NULL: it is not due.
 * Return: 0; -ENOMEM.
 */
static int fence_new(struct angara_team *team, struct ang_coll_op **fence)
{
	static const struct ang_coll_args args = {
		.coll = ANG_COLL_BARRIER, .elem = 1,
	};

	*fence = NULL;
	if (team->ahead < ANG_AHEAD_BYTES)
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
	team->ahead += ang_coll_weight(&op->args);
	team->ctx->colls.busy++;
}

/**
 * struct need - requirements of the messages of a collective on a buffer
 * @region: the buffer must be in a region
 * @access: rights that the region must grant
 */
struct need {
	bool region;
	unsigned int access;
};

/*
 * Finds what each buffer needs.  A message of more than ANGARA_MAX_INLINE bytes
 * is sent from a region.  The receiver reads a long message from a region of the
 * sender into its own region.  Return: 0; -EINVAL a message is too long.
 */
static int op_needs(const struct ang_coll_op *op, struct need *need)
{
	u32 i;

	for (i = 0; i < op->run.sched.n; i++) {
		const struct ang_step *s = &op->run.sched.steps[i];
		bool send = s->kind == ANG_STEP_SEND;
		struct need *n = &need[send ? s->src.buf : s->dst.buf];

		if (!send && s->kind != ANG_STEP_RECV)
			continue;
		if (s->len > op->team->ctx->dom->query.max_op_bytes)
			return -EINVAL;
		n->region |= s->len > (send ? ANGARA_MAX_INLINE : ANGARA_MAX_MSG);
		if (s->len > ANGARA_MAX_MSG)
			n->access |= send ? ANGARA_ACCESS_REMOTE_READ :
					    ANGARA_ACCESS_LOCAL_WRITE;
	}
	return 0;
}

/*
 * Checks the collective against @need.
 * Return: 0, and in @held whether the caller has to hold regions; -EINVAL;
 * -EACCES.
 */
static int op_check(const struct ang_coll_op *op, struct need *need, bool *held)
{
	int ret = op_needs(op, need);
	u32 i;

	*held = false;
	for (i = 0; !ret && i < ANG_BUF_NUM; i++) {
		const struct ang_side *side = &op->side[i];

		if (!need[i].region)
			continue;
		if (side->mr)
			ret = need[i].access & ~side->mr->access ? -EACCES : 0;
		else if (side->len)
			*held = true;
		else
			ret = -EINVAL;
	}
	return ret;
}

/*
 * Holds a region for a buffer that needs one and has none.  If peers may read
 * the region, only collectives of this team share it, so op_hide() can revoke it.
 */
static int side_hold(struct ang_coll_op *op, enum ang_buf buf,
		     const struct need *need)
{
	struct ang_side *side = &op->side[buf];
	bool shown = need->access & ANGARA_ACCESS_REMOTE_READ;
	struct angara_mr **mr = &op->held.mr[buf];
	char *at = op->run.at[buf];
	int ret;

	if (side->mr || !need->region)
		return 0;
	ret = angara_mr_hold(op->team->ctx->dom, at, side->len,
			     need->access, shown ? op->team : NULL, mr);
	if (ret)
		return ret;
	side->mr = *mr;
	side->off = (u64)(at - (char *)(*mr)->addr);
	return 0;
}

/*
 * Holds regions for the result and the contribution; if both are the same
 * memory, one region is used for both.  Return: as angara_mr_hold(); errors of
 * ang_room(): the queues have no room, and nothing is registered.
 */
static int op_hold(struct ang_coll_op *op, const struct need *need,
		   const struct angara_op *how, struct ang_blocked *b)
{
	int ret = b ? 0 : ang_room(op->team->ctx, 1, 0, how);

	if (!ret)
		ret = side_hold(op, ANG_BUF_OUT, &need[ANG_BUF_OUT]);
	return ret ? ret : side_hold(op, ANG_BUF_IN, &need[ANG_BUF_IN]);
}

/**
 * ang_coll_start() - start a collective
 * @op: collective; it is dropped if it cannot be started
 * @how: options and completion
 * @b: NULL, or the blocking call that waits for it: then @how is not used
 *
 * Return: 0; -EAGAIN there is no room now; -ENOTCONN the team is lost; -EACCES
 * the right for long messages is missing; -EINVAL; -ENOMEM; -ENODEV; for
 * unregistered memory: as angara_mr_hold().
 */
int ang_coll_start(struct ang_coll_op *op, const struct angara_op *how,
		   struct ang_blocked *b)
{
	struct angara_team *team = op->team;
	struct angara_ctx *ctx = team->ctx;
	struct ang_coll_op *fence = NULL;
	struct need need[ANG_BUF_NUM] = { { false, 0 } };
	bool held;
	int ret = team->lost ? -ENOTCONN : op_check(op, need, &held);

	if (!ret)
		ret = fence_new(team, &fence);
	/* The other half of the CQ is for the messages of collectives. */
	if (!ret && !b && ctx->colls.busy >= ctx->create.cq_entries / 2)
		ret = -EAGAIN;
	if (!ret && held)
		ret = op_hold(op, need, how, b);
	if (!ret)
		ret = ang_slot_take(ctx, how, b, &op->slot);
	if (ret) {
		if (fence)
			ang_coll_drop(fence);
		ang_coll_drop(op);
		return ret;
	}
	if (fence) {
		team->ahead = 0;
		op_link(fence);
	}
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

/**
 * coll_landed() - record that an operation of the library itself is complete
 * @ctx: context
 * @cookie: cookie of the operation: address of the collective; bit 0 is set for
 *	a read
 * @step: step for which the operation was posted
 * @status: ANGARA_ST_*
 *
 * The collective advances later, since the caller is still processing the
 * completion queue.
 */
static void coll_landed(struct angara_ctx *ctx, u64 cookie, u32 step, u32 status)
{
	struct ang_coll_op *op = (struct ang_coll_op *)(uintptr_t)(cookie & ~1ULL);
	struct ang_coll_op **at = &ctx->colls.orphans;

	if (!op)
		return;
	ctx->colls.still = false;
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

/*
 * Sends the notices that remain.  Return: true if this member has sent all its
 * notices.
 */
static bool all_notified(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;

	ang_coll_progress(ctx);
	return ang_all_notified(team->spread, team->size);
}

/*
 * The team is lost.  Waits until this member has notified the members that it
 * has to notify.
 */
static void tell_all(struct angara_team *team)
{
	ang_wait_until(team->ctx, all_notified, team, ANG_NOTIFY_MS);
}

/*
 * Are no reads in progress?  Finds collectives through the team each time,
 * since a wait may free any collective.
 */
static bool reads_done(struct angara_ctx *ctx, const void *arg)
{
	const struct angara_team *team = arg;
	const struct ang_coll_op *op = team->ops;

	while (op && !op->gets)
		op = op->next;
	return !op || ctx->dead;
}

/**
 * ang_coll_lose() - lose the team: this member cannot take part in a collective
 * that others have started
 * @team: team, which is lost; the other members are notified
 */
void ang_coll_lose(struct angara_team *team)
{
	ang_coll_fail(team, team->rank, ANGARA_ST_TREE_DOWN);
	tell_all(team);
}

/**
 * ang_coll_leave() - leave a team, even with collectives in progress
 * @team: team
 * @quietly: all members leave; else the other members are notified
 */
void ang_coll_leave(struct angara_team *team, bool quietly)
{
	struct angara_ctx *ctx = team->ctx;
	struct angara_team **at = &ctx->colls.teams;

	if (!quietly)
		ang_coll_fail(team, team->rank, ANGARA_ST_TREE_DOWN);
	/*
	 * Also notify members if the team is already lost: some members may
	 * still wait for this one.
	 */
	if (team->lost)
		tell_all(team);
	/* Wait for reads into the caller's memory: they always end. */
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

/** ang_coll_open() - set the functions that lower layers call for software collectives */
void ang_coll_open(struct angara_ctx *ctx)
{
	static const struct ang_coll_calls calls = {
		.progress = ang_coll_progress,
		.landed = coll_landed,
		.hear = ang_coll_hear,
	};

	ctx->colls.calls = &calls;
}

/** ang_coll_end() - free the collectives of a context that is closed */
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
