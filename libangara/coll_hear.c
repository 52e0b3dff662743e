// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages of members that arrive: each goes to the step that waits for it, or is kept until the
 * step begins or the team exists, see coll_kept.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"

static bool op_offered(struct ang_coll_op *op, u32 i, const void *data, size_t len)
{
	const struct ang_step *s = &op->run.sched.steps[i];
	struct ang_offer offer;
	int ret;

	if (len != sizeof(offer))
		goto mismatch;
	memcpy(&offer, data, sizeof(offer));
	if (offer.len != s->len || s->len <= ANGARA_MAX_MSG)
		goto mismatch;
	ret = ang_talk_get(op, i, &offer);
	if (ret == -EAGAIN) {
		/* The caller keeps the message and processes it again later. */
		op->team->asked = true;
		return false;
	}
	if (ret)
		ang_coll_fail(op->team, op->team->rank, ANGARA_ST_DMA);
	return true;

mismatch:
	ang_coll_fail(op->team, s->peer, ANGARA_ST_MISMATCH);
	return true;
}

/*
 * Processes a message of a member.  Return: false: it cannot be processed yet, since its step has
 * not begun or the queues are full.
 */
static bool coll_take(struct angara_team *team, const struct ang_said *said,
		      const void *data, size_t len)
{
	struct ang_coll_op *op = team->ops;
	bool taken = said->kind == ANG_TALK_TAKEN;
	const struct ang_step *s;
	u32 i;

	while (op && op->seq != said->seq)
		op = op->next;
	if (!op)
		return taken;
	i = ang_run_find(&op->run, taken ? ANG_STEP_SEND : ANG_STEP_RECV,
			 said->from, said->tag);
	if (i == ANG_NO_STEP)
		return taken;
	s = &op->run.sched.steps[i];
	if (said->kind == ANG_TALK_OFFER)
		return op_offered(op, i, data, len);
	/* A short message is complete when the adapter reports its completion. */
	if (taken && s->len <= ANGARA_MAX_MSG)
		return true;
	if (!taken && len != s->len) {
		ang_coll_fail(team, said->from, ANGARA_ST_MISMATCH);
		return true;
	}
	if (!taken && len)
		memcpy(ang_run_data(&op->run, i), data, len);
	ang_run_set(&op->run, i, ANG_RUN_ENDED);
	return true;
}

/* Return: true: the message is processed. */
static bool talk_hear(struct angara_team *team, const struct ang_said *said,
		      struct angara_peer peer, const void *data, size_t len)
{
	struct ang_abort abort;

	if (team->lost || !ang_is_member(team, said->from, peer))
		return true;
	if (said->kind != ANG_TALK_ABORT)
		return coll_take(team, said, data, len);
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
 * ang_coll_hear() - process a message with the code of teams
 * @ctx: context
 * @msg: message; its memory may be freed afterwards
 */
void ang_coll_hear(struct angara_ctx *ctx, const struct angara_message *msg)
{
	struct ang_said said = ang_said_unpack(&msg->head);
	struct angara_team *team = ctx->colls.teams;

	if (said.kind >= ANG_TALK_NUM)
		return;
	while (team && team->id != said.team)
		team = team->next;
	if (team ? talk_hear(team, &said, msg->peer, msg->data, msg->len) :
		   has_ended(&ctx->colls, said.team))
		return;
	if (team)
		ang_kept_early(team, &said, msg);
	else
		ang_kept_stray(&ctx->colls, &said, msg);
}

/* Processes early messages again.  Return: true if a message was processed. */
bool ang_coll_early(struct angara_team *team)
{
	struct ang_stray **at = &team->early.first;
	bool some = false;

	team->asked = false;
	while (*at) {
		struct ang_stray *s = *at;

		if (!talk_hear(team, &s->said, s->peer, s->data, s->len)) {
			at = &s->next;
			continue;
		}
		free(ang_kept_take(&team->early, at));
		some = true;
	}
	return some;
}
