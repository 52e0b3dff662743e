// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages between members that arrive before they are expected.  They are copied and kept; the
 * memory for them is limited.
 *
 * Early messages are for an existing team, and for a step of a collective that
 * has not begun.  If a member sends more early messages than the rules of
 * coll_run.c allow, the team is lost.
 *
 * Strays are for a team that does not exist here yet.  A member sends them only
 * while it creates the team: it agrees with the others before it continues
 * (team.c), so such a message is short, and one member sends few.  But any
 * context of the job can send strays for any team, so each sender has one of
 * several queues.  If a queue is full, a stray replaces the oldest stray of its
 * sender, or the oldest of the queue if the sender has none there.
 *
 * If a stray is dropped, its team and sender are recorded.  If a team is
 * created here and one of its members has such a record, the team is lost at
 * once.  A record is removed after ANG_MISSED_NUM later records of the same
 * queue.  So many records mean that a sender floods the queue, since members
 * that create teams send few strays.
 *
 * ang_coll_fail() is here since all files of software collectives above this one
 * call it.
 */
#include <stdlib.h>

#include "coll_run.h"

/**
 * ang_coll_fail() - record that a team is lost
 * @team: team
 * @culprit: rank of the member whose loss is the cause
 * @status: ANGARA_ST_*
 */
void ang_coll_fail(struct angara_team *team, u32 culprit, u32 status)
{
	if (team->lost)
		return;
	team->lost = status;
	team->culprit = culprit;
	team->ctx->colls.still = false;
}

static struct ang_stray *stray_new(const struct ang_said *said,
				   const struct angara_message *msg)
{
	struct ang_stray *s = malloc(sizeof(*s) + msg->len);

	if (!s)
		return NULL;
	s->said = *said;
	s->peer = msg->peer;
	s->len = msg->len;
	if (msg->len)
		memcpy(s->data, msg->data, msg->len);
	return s;
}

static_assert(sizeof(struct ang_stray) + 16 <= ANG_KEPT_HEAD,
	      "kept head and overhead of malloc()");

static size_t stray_bytes(const struct ang_stray *s)
{
	return ANG_KEPT_HEAD + s->len;
}

static void kept_add(struct ang_kept *k, struct ang_stray *s)
{
	s->next = NULL;
	if (!k->num)
		k->last = &k->first;
	*k->last = s;
	k->last = &s->next;
	k->num++;
	k->bytes += stray_bytes(s);
}

/* Removes the message that @at points to.  Return: the message. */
struct ang_stray *ang_kept_take(struct ang_kept *k, struct ang_stray **at)
{
	struct ang_stray *s = *at;

	*at = s->next;
	if (k->last == &s->next)
		k->last = at;
	k->num--;
	k->bytes -= stray_bytes(s);
	return s;
}

void ang_kept_free(struct ang_kept *k)
{
	while (k->num)
		free(ang_kept_take(k, &k->first));
}

/*
 * Finds the member whose early messages have the most bytes; @last: sender of
 * the last message.
 */
static u32 early_most(const struct angara_team *team, u32 last)
{
	u64 *bytes = calloc(team->size, sizeof(*bytes));
	const struct ang_stray *s;
	u32 most = last;

	if (!bytes)
		return last;
	for (s = team->early.first; s; s = s->next) {
		bytes[s->said.from] += stray_bytes(s);
		if (bytes[s->said.from] > bytes[most])
			most = s->said.from;
	}
	free(bytes);
	return most;
}

/**
 * ang_kept_early() - keep a message to a step that has not begun
 * @team: team, which is lost if the message cannot be kept
 * @said: header of the message
 * @msg: message
 */
void ang_kept_early(struct angara_team *team, const struct ang_said *said,
		    const struct angara_message *msg)
{
	struct ang_stray *s;

	if (team->early.bytes + ANG_KEPT_HEAD + msg->len >
	    ang_early_max(team)) {
		ang_coll_fail(team, early_most(team, said->from),
			      ANGARA_ST_MISMATCH);
		return;
	}
	s = stray_new(said, msg);
	if (s)
		kept_add(&team->early, s);
	else
		ang_coll_fail(team, team->rank, ANGARA_ST_DMA);
}

static bool same_peer(struct angara_peer a, struct angara_peer b)
{
	return a.node == b.node && a.ctx == b.ctx;
}

static struct ang_strays *strays_of(struct ang_colls *c, struct angara_peer peer)
{
	u64 hash = ((u64)peer.node << 16 | peer.ctx) * 0x9E3779B97F4A7C15ULL;

	return &c->strays[hash >> (64 - ANG_STRAY_BITS)];
}

static u32 strays_noted(const struct ang_strays *q)
{
	return q->nmissed < ANG_MISSED_NUM ? q->nmissed : ANG_MISSED_NUM;
}

static void strays_note(struct ang_strays *q, const struct ang_said *said,
			struct angara_peer peer)
{
	u32 i;

	for (i = 0; i < strays_noted(q); i++)
		if (q->missed[i].team == said->team &&
		    q->missed[i].from == said->from &&
		    same_peer(q->missed[i].peer, peer))
			return;
	q->missed[q->nmissed++ % ANG_MISSED_NUM] = (struct ang_missed){
		.team = said->team, .peer = peer, .from = said->from,
	};
}

/*
 * Drops the oldest message of the sender @peer.  If there is none, drops the
 * oldest of all senders: the queue is not empty.
 */
static void strays_drop(struct ang_strays *q, struct angara_peer peer)
{
	struct ang_stray **at = &q->kept.first, *s;

	while (*at && !same_peer((*at)->peer, peer))
		at = &(*at)->next;
	s = ang_kept_take(&q->kept, *at ? at : &q->kept.first);
	strays_note(q, &s->said, s->peer);
	free(s);
}

/**
 * ang_kept_stray() - keep a message to a team that does not exist here
 * @c: collectives of the context
 * @said: header of the message
 * @msg: message
 */
void ang_kept_stray(struct ang_colls *c, const struct ang_said *said,
		    const struct angara_message *msg)
{
	struct ang_strays *q = strays_of(c, msg->peer);
	struct ang_stray *s;

	/* Members that agree on a team never send longer messages. */
	if (msg->len > ANG_AGREE_BYTES)
		return;
	s = stray_new(said, msg);
	if (!s) {
		strays_note(q, said, msg->peer);
		return;
	}
	while (q->kept.num && q->kept.bytes + stray_bytes(s) > ANG_STRAY_BYTES)
		strays_drop(q, s->peer);
	kept_add(&q->kept, s);
}

/*
 * Moves the strays of @q for a team to the team.  Return: false: a message of a
 * member has been dropped.
 */
static bool strays_open(struct ang_strays *q, struct angara_team *team)
{
	struct ang_stray **at = &q->kept.first;
	bool whole = true;
	u32 i;

	while (*at) {
		struct ang_stray *s = *at;

		if (s->said.team == team->id &&
		    ang_is_member(team, s->said.from, s->peer))
			kept_add(&team->early, ang_kept_take(&q->kept, at));
		else
			at = &s->next;
	}
	for (i = 0; i < strays_noted(q); i++) {
		struct ang_missed *m = &q->missed[i];

		if (m->team == team->id && ang_is_member(team, m->from, m->peer)) {
			m->from = UINT32_MAX;
			whole = false;
		}
	}
	return whole;
}

/**
 * ang_kept_open() - move strays for a team to the team
 * @team: team
 *
 * Return: false: some strays for the team were dropped.
 */
bool ang_kept_open(struct angara_team *team)
{
	struct ang_colls *c = &team->ctx->colls;
	bool whole = true;
	u32 i;

	for (i = 0; i < ANG_STRAY_QUEUES; i++)
		whole &= strays_open(&c->strays[i], team);
	return whole;
}

/** ang_kept_end() - free the kept messages of a context that is closed */
void ang_kept_end(struct ang_colls *c)
{
	u32 i;

	for (i = 0; i < ANG_STRAY_QUEUES; i++)
		ang_kept_free(&c->strays[i].kept);
}
