// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages between the members of a team.  They have a reserved code, and the
 * program never receives them.  coll_hear.c processes those that arrive.
 *
 *   tag of a message    number of the team
 *   imm, from bit 0     kind (4 bits), tag of the step (18), rank of the sender
 *			 (18), number of the collective (24)
 *
 * A message to a team that does not exist here yet, or to a step that has not begun, is kept, see
 * coll_kept.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"

#define CHECK_NS		100000000ULL	/* nanoseconds between two checks */
#define CHECKS		16U		/* members that one check asks */

#define KIND_BITS	4
#define TAG_BITS	18
#define RANK_BITS	18

static u64 said_pack(const struct ang_said *said)
{
	u64 v = said->seq;

	v = v << RANK_BITS | said->from;
	v = v << TAG_BITS | said->tag;
	return v << KIND_BITS | said->kind;
}

/** ang_said_unpack() - decode the header of a message between members */
struct ang_said ang_said_unpack(const struct angara_head *head)
{
	u64 v = head->imm;
	struct ang_said said = { .team = head->tag };

	said.kind = v & ((1U << KIND_BITS) - 1);
	v >>= KIND_BITS;
	said.tag = v & ((1U << TAG_BITS) - 1);
	v >>= TAG_BITS;
	said.from = v & ((1U << RANK_BITS) - 1);
	said.seq = (u32)(v >> RANK_BITS);
	return said;
}

/*
 * Return: options of an operation that the library posts for a collective.  The
 * completion refers to @op, @step and @get.
 */
static const struct angara_op *talk_flight(struct angara_ctx *ctx,
					   struct ang_coll_op *op, u32 step, bool get)
{
	ctx->flight.cookie = (uintptr_t)op | get;
	ctx->flight_step = step;
	return &ctx->flight;
}

static struct angara_head head_of(u64 id, const struct ang_said *said)
{
	return (struct angara_head){
		.size = sizeof(struct angara_head), .code = ANG_CODE_TEAM,
		.tag = id, .imm = said_pack(said),
	};
}

/* Sends a message to a member.  Return: 0; -EAGAIN; -errno. */
static int talk_say(struct angara_team *team, u32 to, const struct ang_said *said,
		    const void *data, size_t len, struct ang_coll_op *op, u32 step)
{
	struct angara_head head = head_of(team->id, said);
	struct angara_ctx *ctx = team->ctx;
	int ret = angara_send_inline_nbi(ctx, team->peers[to], &head, data, len,
					 talk_flight(ctx, op, step, false));

	if (ret)
		return ret;
	if (op)
		op->sends++;
	team->messages++;
	return 0;
}

static struct ang_said said_of(const struct ang_coll_op *op, u32 step, u32 kind)
{
	return (struct ang_said){
		.seq = op->seq, .tag = op->run.sched.steps[step].tag,
		.from = op->team->rank, .kind = kind,
	};
}

/*
 * Counts a message in the statistics of the team.  Each message is counted only
 * at the member that posts the operation which moves the data.
 */
static void talk_tally(const struct ang_coll_op *op, const struct ang_step *s)
{
	struct ang_tally *tally = op->team->tally;

	/* An internal barrier has no completion slot, and is not counted. */
	if (!tally || op->slot == ANG_NO_SLOT)
		return;
	tally[s->peer].messages++;
	tally[s->peer].bytes += s->len;
}

/**
 * ang_talk_step() - send the message of a step, see struct ang_run_ops
 * @arg: collective
 * @step: SEND: send its bytes, or their address; RECV: confirm that the bytes
 *	were read
 *
 * Return: 0; -EAGAIN; -errno.
 */
int ang_talk_step(void *arg, u32 step)
{
	struct ang_coll_op *op = arg;
	const struct ang_step *s = &op->run.sched.steps[step];
	const struct ang_side *side = &op->side[s->src.buf];
	struct ang_said said = said_of(op, step, ANG_TALK_DATA);
	struct angara_team *team = op->team;
	int ret;

	if (s->kind == ANG_STEP_RECV) {
		said.kind = ANG_TALK_TAKEN;
		ret = talk_say(team, s->peer, &said, NULL, 0, op, step);
	} else if (s->len > ANGARA_MAX_MSG) {
		struct ang_offer offer = {
			.key = side->mr->key, .off = side->off + s->src.off,
			.len = s->len,
		};

		said.kind = ANG_TALK_OFFER;
		ret = talk_say(team, s->peer, &said, &offer, sizeof(offer), op, step);
	} else if (s->len > ANGARA_MAX_INLINE) {
		struct angara_head head = head_of(team->id, &said);

		ret = angara_send_nbi(team->ctx, team->peers[s->peer], &head,
				      side->mr, side->off + s->src.off, s->len,
				      talk_flight(team->ctx, op, step, false));
		op->sends += !ret;
		team->messages += !ret;
	} else {
		ret = talk_say(team, s->peer, &said, ang_run_data(&op->run, step),
			       s->len, op, step);
	}
	if (!ret && s->len <= ANGARA_MAX_MSG)
		talk_tally(op, s);
	if (!ret && (s->kind == ANG_STEP_RECV || s->len <= ANGARA_MAX_INLINE))
		ang_run_set(&op->run, step, ANG_RUN_ENDED);
	return ret;
}

/*
 * Reads the bytes of a step from the sender's memory.  Return: as
 * ang_talk_step().
 */
int ang_talk_get(struct ang_coll_op *op, u32 step, const struct ang_offer *offer)
{
	const struct ang_step *s = &op->run.sched.steps[step];
	const struct ang_side *side = &op->side[s->dst.buf];
	struct angara_ctx *ctx = op->team->ctx;
	int ret = angara_get_nbi(ctx, op->team->peers[s->peer], offer->key,
				 offer->off, side->mr, side->off + s->dst.off,
				 s->len, talk_flight(ctx, op, step, true));

	if (ret)
		return ret;
	op->gets++;
	talk_tally(op, s);
	ang_run_set(&op->run, step, ANG_RUN_BUSY);
	return 0;
}

/* Does a status mean that the checked member does not exist, or cannot be reached? */
static bool is_gone(u32 status)
{
	return status == ANGARA_ST_TARGET || status == ANGARA_ST_UNREACHABLE ||
	       status == ANGARA_ST_PARTITION;
}

/**
 * ang_talk_landed() - handle a completed message or read of a collective
 * @op: collective, or the check of a member
 * @step: step, or rank of the checked member
 * @get: the operation is a read
 * @status: ANGARA_ST_*
 */
void ang_talk_landed(struct ang_coll_op *op, u32 step, bool get, u32 status)
{
	struct angara_team *team = op->team;
	const struct ang_step *s;

	if (op == team->checker) {
		if (is_gone(status) && !team->doomed) {
			team->doomed = ANGARA_ST_TREE_DOWN;
			team->doomed_by = step;
		}
		return;
	}
	s = &op->run.sched.steps[step];
	if (status != ANGARA_ST_OK && !team->doomed) {
		team->doomed = is_gone(status) ? ANGARA_ST_TREE_DOWN : status;
		team->doomed_by = s->peer;
	}
	if (get)
		ang_run_set(&op->run, step, ANG_RUN_SENDS);
	else if (s->kind == ANG_STEP_SEND && s->len <= ANGARA_MAX_MSG)
		ang_run_set(&op->run, step, ANG_RUN_ENDED);
}

/**
 * ang_talk_open() - enable software collectives of a team
 *
 * The team is lost at once if a message to it has been dropped.
 */
void ang_talk_open(struct angara_team *team)
{
	struct ang_colls *c = &team->ctx->colls;

	team->checker->team = team;
	team->next = c->teams;
	c->teams = team;
	c->still = false;
	if (!ang_kept_open(team))
		ang_coll_fail(team, team->rank, ANGARA_ST_DMA);
}

/** ang_talk_close() - drop later messages to a team */
void ang_talk_close(struct angara_team *team)
{
	struct ang_colls *c = &team->ctx->colls;

	ang_kept_free(&team->early);
	/*
	 * Completions of this team's checks that arrive later find no team, and
	 * are ignored.
	 */
	if (team->checker && team->checker->sends) {
		team->checker->team = NULL;
		team->checker->next = c->orphans;
		c->orphans = team->checker;
	} else {
		free(team->checker);
	}
	team->checker = NULL;
	c->ended[c->nended++ % ANG_ENDED_NUM] = team->id;
}

/** ang_talk_end() - free the state of a context that is closed */
void ang_talk_end(struct angara_ctx *ctx)
{
	ang_kept_end(&ctx->colls);
}

/* Return: rank of the member that member @self notifies of a loss as its @i-th. */
static u32 notified(u32 self, u32 size, u32 i)
{
	u32 step = 1U << i / 2;

	return (u32)(((u64)self + (i % 2 ? size - step : step)) % size);
}

/*
 * Notifies the members 1, 2, 4, ... ranks above and below that the team is lost.
 * Each notified member does the same, so all members are notified after as many
 * steps as a barrier has, even if some members are dead.
 *
 * A link may be down, so that messages of this member do not arrive.  Most
 * algorithms exchange messages between members at these distances.  So a member
 * that waits for this member either is notified, or finds by ang_talk_look()
 * that this member cannot be reached.
 */
void ang_talk_spread(struct angara_team *team)
{
	struct ang_abort abort = { .culprit = team->culprit, .status = team->lost };
	struct ang_said said = { .from = team->rank, .kind = ANG_TALK_ABORT };

	while (!ang_all_notified(team->spread, team->size)) {
		u32 to = notified(team->rank, team->size, team->spread);

		/*
		 * Also notify the member at fault, which may be alive and
		 * waiting.
		 */
		if (to != team->rank &&
		    talk_say(team, to, &said, &abort, sizeof(abort), NULL, 0) == -EAGAIN)
			return;
		team->spread++;
	}
}

/**
 * struct refusal - notice to the members of a team that cannot be created
 * @parent: parent of the team
 * @picks: members of the team
 * @id: number of the team
 * @self: this member's rank
 * @spread: members notified so far, as in struct angara_team
 */
struct refusal {
	const struct angara_team *parent;
	const struct ang_picks *picks;
	u64 id;
	u32 self;
	u32 *spread;
};

static bool refusal_done(struct angara_ctx *ctx, const void *arg)
{
	const struct refusal *r = arg;
	const struct ang_abort abort = {
		.culprit = r->self, .status = ANGARA_ST_TREE_DOWN,
	};
	const struct ang_said said = { .from = r->self, .kind = ANG_TALK_ABORT };
	const struct angara_head head = head_of(r->id, &said);

	for (; !ang_all_notified(*r->spread, r->picks->n); ++*r->spread) {
		u32 to = ang_pick(r->picks, notified(r->self, r->picks->n, *r->spread));

		if (angara_send_inline_nbi(ctx, r->parent->peers[to], &head,
					   &abort, sizeof(abort),
					   talk_flight(ctx, NULL, 0, false)) == -EAGAIN)
			return false;
	}
	return true;
}

/**
 * ang_talk_refuse() - refuse a team that other members create, since this
 * member lacks memory
 * @parent: parent of the team
 * @picks: members of the team
 * @id: number of the team
 * @self: this member's rank in the team
 *
 * The other members find the team lost, as after ang_talk_spread().
 */
void ang_talk_refuse(const struct angara_team *parent,
		     const struct ang_picks *picks, u64 id, u32 self)
{
	u32 spread = 0;
	const struct refusal r = {
		.parent = parent, .picks = picks, .id = id, .self = self,
		.spread = &spread,
	};

	ang_wait_until(parent->ctx, refusal_done, &r, ANG_NOTIFY_MS);
	ang_flush(parent->ctx);
}

/*
 * Checks the members for which a collective waits, since no event reports the
 * end of a context.  Sends empty puts to these members: the put to a member
 * that is gone fails.
 */
void ang_talk_look(struct angara_team *team)
{
	const struct ang_coll_op *op = team->ops;
	struct angara_ctx *ctx = team->ctx;
	u64 now = ang_now_ns();
	u32 n = op->run.begun - op->run.prefix, k;

	if (!team->check_ns) {
		team->check_ns = now + CHECK_NS;
		return;
	}
	if (now < team->check_ns || team->checker->sends || !n)
		return;
	for (k = 0; k < n && team->checker->sends < CHECKS; k++) {
		u32 i = op->run.prefix + team->turn++ % n;
		u32 rank = op->run.sched.steps[i].peer;

		if (op->run.steps[i].state == ANG_RUN_WAITS &&
		    !angara_put_inline_nbi(ctx, team->peers[rank], 0, 0, NULL, 0,
					   talk_flight(ctx, team->checker, rank, false)))
			team->checker->sends++;
	}
	team->check_ns = now + CHECK_NS;
}
