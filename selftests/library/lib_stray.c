// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Early messages between members of teams: the memory that a process uses for
 * them is limited, for any sender.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Included before globals of the test, which functions of this header would
 * shadow.
 */
#include "../../libangara/coll_run.h"
#include "lib.h"

#define LEN	4096U
#define SHORT	ANG_AGREE_BYTES	/* longest message of a team's creation */
#define MANY	100000U		/* teams that are created and destroyed */

static struct angara_ctx *own;
static struct angara_peer self, other, stranger;

/* Gives the library an early message, as msg.c does. */
static void hear(struct angara_peer peer, uint64_t team, uint32_t from, uint32_t seq,
		 size_t len)
{
	static const char data[LEN];
	const struct angara_message msg = {
		.peer = peer, .data = data, .len = len,
		.head = {
			.tag = team, .code = ANG_CODE_TEAM,
			.imm = (uint64_t)seq << 40 | (uint64_t)from << 22 | ANG_TALK_DATA,
		},
	};

	ang_coll_hear(own, &msg);
}

/*
 * Runs a part with a context whose teams have members on this node, and whose
 * messages reach no process.
 */
static bool with_context(bool (*part)(void))
{
	bool ok = expect("context", angara_ctx_open(dom, NULL, &own), 0);

	if (!ok)
		return false;
	self = other = stranger = alone_self(own);
	other.ctx = self.ctx + 0x4001;
	stranger.ctx = self.ctx + 0x4002;
	ok = part();
	angara_ctx_close(own);
	return ok;
}

static bool team_open(struct angara_team *team)
{
	team->checker = calloc(1, sizeof(*team->checker));
	if (!team->checker)
		return false;
	ang_talk_open(team);
	return true;
}

/*
 * Opens a team of this process and @with. Return: true if the team has @early
 * early messages, and @lost tells whether it is lost.
 */
static bool opens(struct angara_peer with, uint64_t id, uint32_t early, bool lost)
{
	struct angara_peer both[2] = { self, with };
	struct angara_team team = { .ctx = own, .id = id, .size = 2, .peers = both };
	bool ok = team_open(&team);

	if (!ok)
		return false;
	ok = expect("messages", team.early.num, early) && expect("lost", !!team.lost, lost);
	ang_coll_leave(&team, true);
	return ok;
}

/* Return: the queue of early messages of a sender. */
static const struct ang_strays *queue_of(struct angara_peer peer)
{
	uint32_t before[ANG_STRAY_QUEUES], i;

	for (i = 0; i < ANG_STRAY_QUEUES; i++)
		before[i] = own->colls.strays[i].kept.num;
	hear(peer, UINT64_MAX, 1, 0, 0);
	for (i = 0; i < ANG_STRAY_QUEUES - 1; i++)
		if (own->colls.strays[i].kept.num != before[i])
			break;
	return &own->colls.strays[i];
}

/* Chooses senders with the same queue, for which a flood is most harmful. */
static void stand_together(void)
{
	const struct ang_strays *queue = queue_of(other);

	stranger = other;
	do
		stranger.ctx++;
	while (queue_of(stranger) != queue);
}

static size_t bytes_kept(void)
{
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < ANG_STRAY_QUEUES; i++)
		bytes += own->colls.strays[i].kept.bytes;
	return bytes;
}

/* Sends messages to teams that do not exist; any process may do that. */
static bool flood(void)
{
	uint64_t most = ANG_STRAY_BYTES / (ANG_KEPT_HEAD + SHORT), i;
	bool ok;

	stand_together();
	hear(stranger, 1, 1, 0, SHORT);
	for (i = 1; i <= most + 8; i++)
		hear(other, i, 1, 0, SHORT);
	ok = expect("memory", bytes_kept() < 2 * ANG_STRAY_BYTES, true) &&
	     expect("more than half of the limit", bytes_kept() > ANG_STRAY_BYTES / 2, true) &&
	     opens(stranger, 1, 1, false) && opens(other, 8, 0, true) &&
	     opens(other, 8, 0, false) && opens(other, most + 8, 1, false);
	/*
	 * Messages stay in order of arrival, even after one was removed from
	 * the middle.
	 */
	hear(other, most + 7, 1, 1, 0);
	hear(other, most + 9, 1, 0, SHORT);
	hear(other, most + 9, 1, 1, 0);
	/* This message is longer than any that a member sends. */
	hear(other, most + 10, 1, 0, LEN);
	return ok && opens(other, most + 7, 2, false) && opens(other, most + 9, 2, false) &&
	       opens(other, most + 10, 0, false);
}

static bool strays(void)
{
	return with_context(flood);
}

/*
 * A flood of messages from a process, also for forged teams, harms only teams
 * with that process.
 */
static bool flooded(void)
{
	bool ok = true;
	uint64_t i;

	for (i = 1; ok && i <= MANY; i++) {
		if (i % 1000 == 0)
			hear(stranger, i + 2, 1, 0, SHORT);
		hear(other, i, 1, 0, SHORT);
		hear(other, i + 1, 1, 0, 0);
		if (i % 1000 == 2)
			ok = i < 1000 || opens(stranger, i, 1, false);
		if (i % 1000 == 3)
			ok = opens(stranger, i << 32, 0, false) && opens(other, i << 32, 0, false);
	}
	return ok && expect("memory", bytes_kept() <= 2 * ANG_STRAY_BYTES, true);
}

static bool many(void)
{
	return with_context(flooded);
}

/* Teams that were created, used and left do not affect new ones. */
static bool come_and_go(void)
{
	bool ok = true;
	uint64_t i;

	for (i = 1; ok && i <= MANY; i++) {
		hear(other, i, 1, 0, SHORT);
		ok = opens(other, i, 1, false);
		/* This process has no record any more that it destroyed this team. */
		if (i > 2 * ANG_ENDED_NUM)
			hear(other, i - 2 * ANG_ENDED_NUM, 1, 1, SHORT);
	}
	return ok && expect("memory", bytes_kept() <= ANG_STRAY_BYTES, true);
}

static bool left(void)
{
	return with_context(come_and_go);
}

/* Sends early messages from a member of the team. */
static bool hurry(void)
{
	struct angara_peer all[3] = { self, other, stranger };
	struct angara_team team = { .ctx = own, .id = 5, .size = 3, .peers = all };
	uint64_t most = ang_early_max(&team) / (ANG_KEPT_HEAD + LEN), i;
	bool ok = team_open(&team);

	if (!ok)
		return false;
	for (i = 0; i < most; i++)
		hear(other, 5, 1, (uint32_t)i, LEN);
	ok = expect("kept", team.early.num, (long long)most) &&
	     expect("not lost", team.lost, 0) &&
	     expect("the first", team.early.first->said.seq, 0);
	/* A harmless member sends one message more than the limit. */
	hear(stranger, 5, 2, 0, LEN);
	ok = ok && expect("lost", team.lost, ANGARA_ST_MISMATCH) &&
	     expect("member at fault", team.culprit, 1);
	ang_coll_progress(own);
	ok = ok && expect("kept of a lost team", team.early.num, 0);
	ang_coll_leave(&team, true);
	return ok;
}

static bool early(void)
{
	return with_context(hurry);
}

static bool poll_own(void)
{
	struct angara_completion c;

	return expect("poll", angara_poll(own, &c, 1), 0);
}

/*
 * Polls skip teams that have nothing to do.  A check of a member that ends late,
 * and a failure, still reach such a team, its members, and a team that was made
 * from it.
 */
static bool stir(void)
{
	struct angara_peer both[2] = { self, other };
	struct angara_team parent = { .ctx = own, .id = 6, .size = 2, .peers = both };
	struct angara_team child = {
		.ctx = own, .id = 7, .size = 2, .peers = both, .parent = &parent,
	};
	struct angara_team third = { .ctx = own, .id = 8, .size = 2, .peers = both };
	bool ok = team_open(&parent) && team_open(&child) && team_open(&third);

	if (!ok)
		return false;
	ok = poll_own() && expect("nothing to do", own->colls.still, true);
	parent.checker->sends = 1;
	own->colls.calls->landed(own, (uintptr_t)parent.checker, 1, ANGARA_ST_TARGET);
	ok = ok && poll_own() && expect("lost", parent.lost, ANGARA_ST_TREE_DOWN) &&
	     expect("member at fault", parent.culprit, 1) && poll_own() &&
	     expect("team made from it", child.lost, ANGARA_ST_TREE_DOWN) && poll_own();
	ang_coll_fail(&third, 1, ANGARA_ST_MISMATCH);
	ok = ok && poll_own() &&
	     expect("notified", ang_all_notified(third.spread, third.size), true) &&
	     expect("nothing is left", own->colls.still, true);
	ang_coll_leave(&third, true);
	ang_coll_leave(&child, true);
	ang_coll_leave(&parent, true);
	return ok;
}

static bool still(void)
{
	return with_context(stir);
}

static bool gathers(struct angara_team *team, struct angara_mr *mr)
{
	enum { N = 200 };
	unsigned char *in = angara_mr_addr(mr), *out = in + LEN;
	unsigned int i, r;
	bool ok = true;

	for (i = 0; ok && i < N; i++) {
		memset(in, (int)(i + rank), LEN);
		ok = expect("gather", angara_gather(team, mr, LEN, mr, 0, LEN, 0), 0);
		for (r = 0; ok && !rank && r < size; r++)
			ok = expect("block", out[r * LEN + i], (i + r) & 0xFF);
	}
	return ok;
}

/*
 * The root of gathers polls for messages, but does not call the gathers. The
 * messages that the other members can send meanwhile are limited, however many
 * members there are.
 */
static bool slow_root(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	uint64_t limit = ANG_AHEAD_BYTES + (size + 64) * (ANG_KEPT_HEAD + LEN);
	struct angara_mr *mr = own_region((size + 1ULL) * LEN);
	struct angara_completion c;
	struct angara_team *team;
	bool ok = expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0);
	unsigned int i;

	if (!ok)
		return false;
	for (i = 0; !rank && i < 100; i++) {
		usleep(1000);
		angara_poll(ctx, &c, 1);
	}
	if (!rank && size > 1)
		ok = expect("some", team->early.num > size, true) &&
		     expect("not too much", team->early.bytes <= limit, true);
	ok = gathers(team, mr) && ok;
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

const struct part stray_parts[] = {
	{ "messages to teams that are not made", strays },
	{ "a flood of messages to teams that are not made", many },
	{ "messages to teams that are gone", left },
	{ "messages of a member that does not wait", early },
	{ "messages to a member that is slow", slow_root },
	{ "teams that fail without a collective", still },
	{ NULL, NULL },
};
