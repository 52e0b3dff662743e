// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What members of a team say to each other: messages with a code of their own,
 * which the program never sees.
 *
 *   tag of a message    number of the team
 *   imm, from bit 0     kind (4 bits), tag of the step (18), rank of the sender
 *			 (18), number of the collective (24)
 *
 * A message to a team that is not made here yet, or to a step that has not begun,
 * is kept, see coll_kept.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"

#define LOOK_NS		100000000ULL	/* between two looks at members */
#define LOOKS		16U		/* members looked at each time */

#define KIND_BITS	4
#define TAG_BITS	18
#define RANK_BITS	18

static u64 pack(const struct ang_said *said)
{
	u64 v = said->seq;

	v = v << RANK_BITS | said->from;
	v = v << TAG_BITS | said->tag;
	return v << KIND_BITS | said->kind;
}

static struct ang_said unpack(const struct angara_head *head)
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

/* What an operation of the library's own is posted with. */
static const struct angara_op *flight(struct angara_ctx *ctx,
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
		.tag = id, .imm = pack(said),
	};
}

/* Return: 0; -EAGAIN; -errno. */
static int say(struct angara_team *team, u32 to, const struct ang_said *said,
	       const void *data, size_t len, struct ang_coll_op *op, u32 step)
{
	struct angara_head head = head_of(team->id, said);
	struct angara_ctx *ctx = team->ctx;
	int ret = angara_send_inline_nbi(ctx, team->peers[to], &head, data, len,
					 flight(ctx, op, step, false));

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

/**
 * ang_talk_step() - send what a step has to send, see struct ang_run_ops
 * @arg: collective
 * @step: SEND: its bytes, or where they are; RECV: that they have been read
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
		ret = say(team, s->peer, &said, NULL, 0, op, step);
	} else if (s->len > ANGARA_MAX_MSG) {
		struct ang_offer offer = {
			.key = side->mr->key, .off = side->off + s->src.off,
			.len = s->len,
		};

		said.kind = ANG_TALK_OFFER;
		ret = say(team, s->peer, &said, &offer, sizeof(offer), op, step);
	} else if (s->len > ANGARA_MAX_INLINE) {
		struct angara_head head = head_of(team->id, &said);

		ret = angara_send_nbi(team->ctx, team->peers[s->peer], &head,
				      side->mr, side->off + s->src.off, s->len,
				      flight(team->ctx, op, step, false));
		op->sends += !ret;
		team->messages += !ret;
	} else {
		ret = say(team, s->peer, &said, ang_run_data(&op->run, step),
			  s->len, op, step);
	}
	if (!ret && (s->kind == ANG_STEP_RECV || s->len <= ANGARA_MAX_INLINE))
		ang_run_set(&op->run, step, ANG_RUN_ENDED);
	return ret;
}

/* Reads the bytes of a step from the sender's memory.  Return: as above. */
int ang_talk_get(struct ang_coll_op *op, u32 step, const struct ang_offer *offer)
{
	const struct ang_step *s = &op->run.sched.steps[step];
	const struct ang_side *side = &op->side[s->dst.buf];
	struct angara_ctx *ctx = op->team->ctx;
	int ret = angara_get_nbi(ctx, op->team->peers[s->peer], offer->key,
				 offer->off, side->mr, side->off + s->dst.off,
				 s->len, flight(ctx, op, step, true));

	if (ret)
		return ret;
	op->gets++;
	ang_run_set(&op->run, step, ANG_RUN_BUSY);
	return 0;
}

/* A member that is looked at answers in any way but that it is not there. */
static bool is_gone(u32 status)
{
	return status == ANGARA_ST_TARGET || status == ANGARA_ST_UNREACHABLE ||
	       status == ANGARA_ST_PARTITION;
}

/**
 * ang_talk_landed() - a message or a read of a collective is complete
 * @op: collective, or what members are looked at with
 * @step: step; rank of the member that was looked at
 * @get: it is a read
 * @status: ANGARA_ST_*
 */
void ang_talk_landed(struct ang_coll_op *op, u32 step, bool get, u32 status)
{
	struct angara_team *team = op->team;
	const struct ang_step *s;

	if (op == team->looker) {
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

/* Return: true: there is nothing more to do with it. */
static bool hear(struct angara_team *team, const struct ang_said *said,
		 struct angara_peer peer, const void *data, size_t len)
{
	struct ang_abort abort;

	if (team->lost || !ang_is_member(team, said->from, peer))
		return true;
	if (said->kind != ANG_TALK_ABORT)
		return ang_coll_take(team, said, data, len);
	if (len == sizeof(abort)) {
		memcpy(&abort, data, sizeof(abort));
		if (abort.culprit < team->size && abort.status)
			ang_coll_fail(team, abort.culprit, abort.status);
	}
	return true;
}

static bool has_ended(const struct ang_colls *c, u64 id)
{
	u32 i;

	for (i = 0; i < ANG_ENDED_NUM; i++)
		if (c->ended[i] == id)
			return true;
	return false;
}

/**
 * ang_talk_hear() - take a message with the code of teams
 * @ctx: context
 * @msg: message, whose memory may be given back afterwards
 */
void ang_talk_hear(struct angara_ctx *ctx, const struct angara_message *msg)
{
	struct ang_said said = unpack(&msg->head);
	struct angara_team *team = ctx->colls.teams;

	if (said.kind >= ANG_TALK_NUM)
		return;
	while (team && team->id != said.team)
		team = team->next;
	if (team ? hear(team, &said, msg->peer, msg->data, msg->len) :
		   has_ended(&ctx->colls, said.team))
		return;
	if (team)
		ang_kept_early(team, &said, msg);
	else
		ang_kept_stray(&ctx->colls, &said, msg);
}

/* Offers what came early again.  Return: has any been taken? */
bool ang_talk_early(struct angara_team *team)
{
	struct ang_stray **at = &team->early.first;
	bool some = false;

	team->asked = false;
	while (*at) {
		struct ang_stray *s = *at;

		if (!hear(team, &s->said, s->peer, s->data, s->len)) {
			at = &s->next;
			continue;
		}
		free(ang_kept_take(&team->early, at));
		some = true;
	}
	return some;
}

/**
 * ang_talk_open() - a team may have software collectives from now on
 *
 * It is lost at once if a message to it has been dropped.
 */
void ang_talk_open(struct angara_team *team)
{
	struct ang_colls *c = &team->ctx->colls;

	team->looker->team = team;
	team->next = c->teams;
	c->teams = team;
	if (!ang_kept_open(team))
		ang_coll_fail(team, team->rank, ANGARA_ST_DMA);
}

/** ang_talk_close() - what still comes for a team is dropped */
void ang_talk_close(struct angara_team *team)
{
	struct ang_colls *c = &team->ctx->colls;

	ang_kept_free(&team->early);
	/* What it has looked for is told to nobody. */
	if (team->looker && team->looker->sends) {
		team->looker->team = NULL;
		team->looker->next = c->orphans;
		c->orphans = team->looker;
	} else {
		free(team->looker);
	}
	team->looker = NULL;
	c->ended[c->nended++ % ANG_ENDED_NUM] = team->id;
}

/** ang_talk_end() - a context is closed */
void ang_talk_end(struct angara_ctx *ctx)
{
	ang_kept_end(&ctx->colls);
}

/*
 * Tells members 1, 2, 4, ... further up that the team is lost; they do the same,
 * so all know after as many steps as a barrier has, also where some are dead.
 */
void ang_talk_spread(struct angara_team *team)
{
	struct ang_abort abort = { .culprit = team->culprit, .status = team->lost };
	struct ang_said said = { .from = team->rank, .kind = ANG_TALK_ABORT };

	while (team->spread < 32 && 1U << team->spread < team->size) {
		u32 to = (team->rank + (1U << team->spread)) % team->size;

		/* Also the one at fault, which may be there and wait. */
		if (to != team->rank &&
		    say(team, to, &said, &abort, sizeof(abort), NULL, 0) == -EAGAIN)
			return;
		team->spread++;
	}
}

/**
 * struct refusal - what the members of a team are told that cannot be made
 * @parent: the team that it was to be made of
 * @picks: its members
 * @id: its number
 * @self: this member's rank
 * @step: distance to the next that is told
 */
struct refusal {
	const struct angara_team *parent;
	const struct ang_picks *picks;
	u64 id;
	u32 self;
	u32 *step;
};

static bool refused(struct angara_ctx *ctx, const void *arg)
{
	const struct refusal *r = arg;
	const struct ang_abort abort = {
		.culprit = r->self, .status = ANGARA_ST_TREE_DOWN,
	};
	const struct ang_said said = { .from = r->self, .kind = ANG_TALK_ABORT };
	const struct angara_head head = head_of(r->id, &said);

	for (; *r->step < r->picks->n; *r->step *= 2) {
		u32 to = ang_pick(r->picks, (r->self + *r->step) % r->picks->n);

		if (angara_send_inline_nbi(ctx, r->parent->peers[to], &head,
					   &abort, sizeof(abort),
					   flight(ctx, NULL, 0, false)) == -EAGAIN)
			return false;
	}
	return true;
}

/**
 * ang_talk_refuse() - this member has no memory for a team that others make
 * @parent: the team that it is made of
 * @picks: its members
 * @id: its number
 * @self: this member's rank in it
 *
 * They find the team lost, as by ang_talk_spread().
 */
void ang_talk_refuse(const struct angara_team *parent,
		     const struct ang_picks *picks, u64 id, u32 self)
{
	u32 step = 1;
	const struct refusal r = {
		.parent = parent, .picks = picks, .id = id, .self = self,
		.step = &step,
	};

	ang_wait_until(parent->ctx, refused, &r, ANG_TELL_MS);
	ang_flush(parent->ctx);
}

/*
 * Nothing tells that a context has ended, so while a collective waits, members
 * that it waits for are written to, without bytes: that fails if they are gone.
 */
void ang_talk_look(struct angara_team *team)
{
	const struct ang_coll_op *op = team->ops;
	struct angara_ctx *ctx = team->ctx;
	u64 now = ang_now_ns();
	u32 n = op->run.begun - op->run.prefix, k;

	if (!team->look) {
		team->look = now + LOOK_NS;
		return;
	}
	if (now < team->look || team->looker->sends || !n)
		return;
	for (k = 0; k < n && team->looker->sends < LOOKS; k++) {
		u32 i = op->run.prefix + team->turn++ % n;
		u32 rank = op->run.sched.steps[i].peer;

		if (op->run.steps[i].state == ANG_RUN_WAITS &&
		    !angara_put_inline_nbi(ctx, team->peers[rank], 0, 0, NULL, 0,
					   flight(ctx, team->looker, rank, false)))
			team->looker->sends++;
	}
	team->look = now + LOOK_NS;
}
