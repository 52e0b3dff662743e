// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups whose members are absent, leave, die or send invalid messages.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "../common/alone.h"
#include "group.h"

#define NODE	5	/* node of a member that is not a libfabric endpoint */

static const int in_order[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Does the operation of rank @r fail with @err, and with @text as details? */
static bool fails(struct team *t, int r, int err, const char *text)
{
	struct side *s = &of(t, r)->s;
	struct fi_cq_err_entry e = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret = -FI_EAGAIN;
	char line[64];
	int ms;

	for (ms = 0; ret == -FI_EAGAIN && ms < LONG_MS; ms++) {
		ret = fi_cq_read(s->cq, &entry, 1);
		if (ret == -FI_EAGAIN)
			poll(NULL, 0, 1);
	}
	return expect(ret, -FI_EAVAIL) && expect(fi_cq_readerr(s->cq, &e, 0), 1) &&
	       expect(e.err, err) && expect(e.op_context == t, true) &&
	       expect((long long)e.flags, (long long)FI_COLLECTIVE) &&
	       expect(strcmp(fi_cq_strerror(s->cq, e.prov_errno, NULL, line,
					    sizeof(line)), text), 0);
}

static bool barrier(struct team *t, int r, int ret)
{
	return expect(fi_barrier(of(t, r)->s.ep, t->coll[r], t), ret);
}

/* Earlier failures do not affect later operations. */
static bool again(int n)
{
	struct team t;
	bool ok = join(&t, n, in_order);
	int r;

	for (r = 0; ok && r < n; r++)
		ok = barrier(&t, r, 0);
	ok = ok && ended(&t, 0, &t);
	leave(&t, ~0U);
	return ok;
}

/*
 * Sends a message.  The receiver processes messages of a sender in order, so after
 * this message it has processed all earlier messages of @from.
 */
static bool in_touch(int from, int to)
{
	struct fi_cq_tagged_entry e;
	static char byte[2];
	bool ok;

	ok = expect(fi_recv(all[to].s.ep, &byte[1], 1, NULL, FI_ADDR_UNSPEC,
			    NULL), 0) &&
	     expect(fi_inject(all[from].s.ep, byte, 1, all[from].addr[to]), 0);
	/* The completion of the send may have to wait. */
	fi_cq_read(all[from].s.cq, NULL, 0);
	return ok && completion(&all[to].s, &e);
}

static bool absent(void)
{
	struct team t;
	bool ok;

	setenv("FI_ANGARA_JOIN_TIMEOUT", "1", 1);
	open_members(3, &with_groups);
	unsetenv("FI_ANGARA_JOIN_TIMEOUT");
	ok = start_join(&t, 3, in_order, 3) &&
	     hears(&t, 0, FI_ETIMEDOUT, "node 2 failed or timed out") &&
	     hears(&t, 1, FI_ETIMEDOUT, NULL);
	leave(&t, ~0U);
	ok = ok && start_join(&t, 3, in_order, 6) &&
	     hears(&t, 1, FI_ETIMEDOUT, "node 0 failed or timed out") &&
	     hears(&t, 2, FI_ETIMEDOUT, "node 0 failed or timed out");
	leave(&t, ~0U);
	close_members(3);
	return ok;
}

/*
 * If a member closes the group before the join has ended, the join fails for
 * all members.
 */
static bool giving_up(void)
{
	struct team t;
	bool ok;

	open_members(3, &with_groups);
	ok = start_join(&t, 3, in_order, 3);
	leave(&t, 2);
	ok = ok && hears(&t, 0, FI_ECANCELED, "node 1 failed or timed out");
	leave(&t, ~0U);
	ok = ok && start_join(&t, 3, in_order, 5) && in_touch(2, 0);
	leave(&t, 1);
	ok = ok && hears(&t, 2, FI_ECANCELED, "node 0 failed or timed out");
	leave(&t, ~0U);
	/* Now rank 0 has not started to join when the others leave. */
	ok = ok && in_touch(1, 0) && in_touch(2, 0) &&
	     start_join(&t, 3, in_order, 6);
	leave(&t, ~0U);
	ok = ok && in_touch(1, 0) && in_touch(2, 0) && again(3);
	close_members(3);
	return ok;
}

static bool is_late(const char *way)
{
	struct team t;
	bool ok;

	setenv("FI_ANGARA_COLL_TIMEOUT", "1", 1);
	open_members_for(3, way);
	unsetenv("FI_ANGARA_COLL_TIMEOUT");
	ok = join(&t, 3, in_order) && barrier(&t, 0, 0) && barrier(&t, 2, 0) &&
	     fails(&t, 0, FI_ETIMEDOUT, "node 1 failed or timed out") &&
	     fails(&t, 2, FI_ETIMEDOUT, "node 1 failed or timed out") &&
	     barrier(&t, 0, -FI_ETIMEDOUT) && in_touch(0, 1) && in_touch(2, 1) &&
	     barrier(&t, 1, -FI_ETIMEDOUT);
	leave(&t, ~0U);
	close_members(3);
	return ok;
}

static bool late(void)
{
	return is_late("software") && is_late("auto");
}

/* A member that leaves notifies another member only on request. */
static bool leaving(void)
{
	struct team t;
	bool ok;

	open_members_for(3, "software");
	ok = join(&t, 3, in_order);
	leave(&t, 2);
	ok = ok && barrier(&t, 0, 0) && barrier(&t, 2, 0) &&
	     fails(&t, 0, FI_EHOSTUNREACH, "node 1 failed or timed out") &&
	     fails(&t, 2, FI_EHOSTUNREACH, "node 1 failed or timed out");
	leave(&t, ~0U);
	/* If a member leaves during an operation, the operation fails for all members. */
	ok = ok && join(&t, 3, in_order) && barrier(&t, 0, 0) &&
	     barrier(&t, 1, 0);
	leave(&t, 2);
	ok = ok && fails(&t, 0, FI_ECANCELED, "node 1 failed or timed out");
	t.who[0] = 1;
	ok = ok && fails(&t, 0, FI_ECANCELED, "node 1 failed or timed out");
	leave(&t, ~0U);
	ok = ok && in_touch(1, 0) && in_touch(0, 2) && in_touch(1, 2) && again(3);
	close_members(3);
	return ok;
}

/**
 * struct fake - a member without libfabric; rank 0 of a group of two
 * @ctx: context
 * @mr: memory that it sends
 * @own: name of the fake member
 * @other: name of the libfabric member
 * @t: group; @t.mc[1] is the libfabric member's
 * @id: the fake member's number of the group
 */
struct fake {
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	struct afi_name own;
	struct afi_name other;
	struct team t;
	uint64_t id;
};

static bool fake_open(struct fake *f)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 1 << 20 };
	struct angara_peer self;
	size_t len = sizeof(f->other);
	bool ok;

	memset(f, 0, sizeof(*f));
	f->id = 0xFA4E;
	ok = expect(alone_open("5", &attr, &f->ctx), 0) &&
	     expect(alone_malloc(f->ctx, 4096, &f->mr), 0) &&
	     expect(fi_getname(&all[0].s.ep->fid, &f->other, &len), 0);
	if (!ok)
		return false;
	self = alone_self(f->ctx);
	f->own = (struct afi_name){
		.fabric_id = alone_about(f->ctx).fabric_id,
		.node = self.node,
		.ctx = self.ctx,
		.serial = 77,
	};
	return expect(fi_av_insert(all[0].s.av, &f->own, 1, &all[0].addr[1], 0,
				   NULL), 1);
}

/* Sends a message to the libfabric member, with @len bytes of unused data. */
static bool says(struct fake *f, struct afi_talk talk, size_t len)
{
	struct angara_peer peer = { .node = f->other.node, .ctx = f->other.ctx };
	const struct angara_head head = {
		.size = sizeof(head),
		.code = afi_code(AFI_MSG_TALK, f->other.ep),
	};
	struct afi_wire *wire = angara_mr_addr(f->mr);

	talk.to = 1;
	*wire = (struct afi_wire){
		.to = f->other.serial,
		.from = f->own.serial,
		.len = sizeof(talk) + len,
	};
	memcpy(wire + 1, &talk, sizeof(talk));
	return expect(angara_send(f->ctx, peer, &head, f->mr, 0,
				  sizeof(*wire) + sizeof(talk) + len), 0);
}

/* Receives a message from the libfabric member. */
static bool hears_first(struct fake *f, struct afi_talk *talk)
{
	struct angara_message m = { .size = sizeof(m) };

	fi_cq_read(all[0].s.cq, NULL, 0);
	if (!expect(angara_msg_wait(f->ctx, LONG_MS, &m), 0))
		return false;
	memcpy(talk, (const char *)m.data + sizeof(struct afi_wire),
	       sizeof(*talk));
	angara_msg_free(f->ctx, &m);
	return true;
}

/* Receives messages until one of this kind arrives. */
static bool hears_of(struct fake *f, uint32_t kind, struct afi_talk *talk)
{
	do {
		if (!hears_first(f, talk))
			return false;
	} while (talk->kind != kind);
	return true;
}

/* The libfabric member joins a group in which the fake one is rank 0. */
static bool fake_join(struct fake *f)
{
	static const int who[] = { 1, 0 };
	struct afi_talk heard;

	return start_join(&f->t, 2, who, 2) &&
	       hears_of(f, AFI_TALK_JOIN, &heard) && expect(heard.from, 1) &&
	       says(f, (struct afi_talk){ .kind = AFI_TALK_WELCOME,
					  .group = ++f->id,
					  .ticket = heard.ticket }, 0) &&
	       hears_of(f, AFI_TALK_READY, &heard) &&
	       expect(heard.group == f->id, true) &&
	       says(f, (struct afi_talk){ .kind = AFI_TALK_GO,
					  .group = f->id }, 0) &&
	       hears(&f->t, 1, 0, NULL);
}

static bool fake_close(struct fake *f)
{
	leave(&f->t, ~0U);
	if (f->ctx)
		angara_ctx_close(f->ctx);
	close_members(1);
	return true;
}

static bool dying(void)
{
	struct fake f;
	bool ok;

	open_members(1, &with_groups);
	ok = fake_open(&f) && fake_join(&f) && barrier(&f.t, 1, 0);
	angara_ctx_close(f.ctx);
	f.ctx = NULL;
	ok = ok && fails(&f.t, 1, FI_EHOSTUNREACH, "node 5 failed or timed out") &&
	     barrier(&f.t, 1, -FI_EHOSTUNREACH);
	return fake_close(&f) && ok;
}

/* A member is dead before it is contacted. */
static bool dead(void)
{
	static const int who[] = { 1, 0 };
	struct fake f;
	bool ok;

	open_members(1, &with_groups);
	ok = fake_open(&f);
	angara_ctx_close(f.ctx);
	f.ctx = NULL;
	ok = ok && start_join(&f.t, 2, who, 2) &&
	     hears(&f.t, 1, FI_EHOSTUNREACH, "node 5 failed or timed out");
	return fake_close(&f) && ok;
}

/* Sends invalid messages of a member; the operation fails with @err. */
static bool lie(struct fake *f, struct afi_talk talk, size_t len, int times,
		int err)
{
	bool ok = fake_join(f) &&
		  expect(fi_broadcast(all[0].s.ep, &talk, 1, NULL, f->t.coll[1],
				      all[0].addr[1], FI_UINT32, 0, &f->t), 0);

	talk.group = f->id;
	while (ok && times--)
		ok = says(f, talk, len);
	ok = ok && fails(&f->t, 1, err, "node 5 failed or timed out");
	leave(&f->t, ~0U);
	return ok;
}

/* A message that is too short arrives before the operation starts. */
static bool lie_early(struct fake *f)
{
	struct afi_talk talk = { .kind = AFI_TALK_DATA, .seq = 1, .len = 4 };
	bool ok = fake_join(f);

	talk.group = f->id;
	ok = ok && says(f, talk, 3);
	fi_cq_read(all[0].s.cq, NULL, 0);
	ok = ok && expect(fi_broadcast(all[0].s.ep, &talk, 1, NULL, f->t.coll[1],
				       all[0].addr[1], FI_UINT32, 0, &f->t), 0) &&
	     fails(&f->t, 1, FI_EMSGSIZE, "node 5 failed or timed out");
	leave(&f->t, ~0U);
	return ok;
}

static bool liars(void)
{
	struct fake f;
	bool ok;

	open_members(1, &with_groups);
	ok = fake_open(&f) &&
	     /*
	      * Send messages with too much data for the operation, with too
	      * little, and with none.
	      */
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_DATA, .seq = 1,
					.len = 400 }, 400, 1,
		 FI_EMSGSIZE) &&
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_DATA, .seq = 1,
					.len = 4 }, 3, 1,
		 FI_EMSGSIZE) &&
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_DATA, .seq = 1,
					.len = 4, .off = 2 }, 2, 1,
		 FI_EMSGSIZE) &&
	     lie_early(&f) &&
	     /* Endless data for operations that have not started. */
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_DATA, .seq = 7,
					.len = 4 }, 4, AFI_AHEAD + 1, FI_EIO) &&
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_CREDIT, .seq = 1 }, 0, 1,
		 FI_EIO) &&
	     /*
	      * Failures without an error, with an unknown error, without a
	      * failed member.
	      */
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_FAIL }, 0, 1, FI_EIO) &&
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_FAIL,
					.step = 0x80000001 }, 0, 1, FI_EIO) &&
	     lie(&f, (struct afi_talk){ .kind = AFI_TALK_GONE }, 0, 1,
		 FI_EHOSTUNREACH);
	return fake_close(&f) && ok;
}

/* Does the group work?  In a failed group, this call would fail with another error. */
static bool is_well(struct fake *f)
{
	return expect(fi_broadcast(all[0].s.ep, f, 1, NULL, f->t.coll[1],
				   all[0].addr[1], FI_VOID, 0, NULL),
		      -FI_EOPNOTSUPP);
}

enum farewell { STAYS, LEAVES, CLOSES };

/* The libfabric member receives @blocks of a broadcast, then the farewell. */
static bool gives(struct fake *f, uint32_t seq, size_t blocks,
		  enum farewell farewell)
{
	static char got[AFI_AHEAD * AFI_BLOCK_MAX];
	const size_t len = blocks * AFI_BLOCK_MAX;
	struct fi_cq_tagged_entry e;
	size_t at;
	bool ok;

	ok = expect(fi_broadcast(all[0].s.ep, got, len, NULL, f->t.coll[1],
				 all[0].addr[1], FI_UINT8, 0, &f->t), 0);
	for (at = 0; ok && at < len; at += AFI_BLOCK_MAX)
		ok = says(f, (struct afi_talk){ .kind = AFI_TALK_DATA,
						.group = f->id, .seq = seq,
						.off = at,
						.len = len }, AFI_BLOCK_MAX);
	if (ok && farewell == LEAVES)
		ok = says(f, (struct afi_talk){ .kind = AFI_TALK_GONE,
						.group = f->id }, 0);
	if (ok && farewell == CLOSES) {
		angara_ctx_close(f->ctx);
		f->ctx = NULL;
	}
	return ok && completion(&all[0].s, &e) &&
	       expect(e.op_context == &f->t, true);
}

/*
 * A member that leaves after it has done its part causes no error. This holds
 * if one poll finds the last data and the departure, if the group is closed in
 * between, and in a member that sends credit to the one that has left.
 */
static bool done_first(void)
{
	struct afi_talk heard;
	struct fake f;
	bool ok;
	int i;

	open_members(1, &with_groups);
	ok = fake_open(&f) && fake_join(&f) && gives(&f, 1, 1, LEAVES) &&
	     is_well(&f) &&
	     says(&f, (struct afi_talk){ .kind = AFI_TALK_GONE, .group = f.id },
		  0);
	/* After the close, the next message is a new join. */
	leave(&f.t, ~0U);
	ok = ok && start_join(&f.t, 2, (int[]){ 1, 0 }, 2) &&
	     hears_first(&f, &heard) && expect(heard.kind, AFI_TALK_JOIN);
	leave(&f.t, ~0U);
	ok = ok && hears_of(&f, AFI_TALK_CANCEL, &heard) && fake_join(&f) &&
	     gives(&f, 1, AFI_AHEAD / 8, STAYS) &&
	     gives(&f, 2, AFI_AHEAD / 8, CLOSES);
	for (i = 0; ok && i < 100; i++) {
		fi_cq_read(all[0].s.cq, NULL, 0);
		poll(NULL, 0, 1);
	}
	ok = ok && is_well(&f);
	return fake_close(&f) && ok;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/*
 * Sends a random message of the right form, as the fake member or, without @member, as
 * an endpoint that is not in the group.
 */
static bool babble(struct fake *f, uint32_t *state, bool member)
{
	struct afi_talk talk = {
		.group = next_random(state) % 4 ? f->id : next_random(state),
		.ticket = next_random(state) % 8,
		.kind = next_random(state) % 12,
		.from = next_random(state) % 3,
		.seq = next_random(state) % 5,
		.step = next_random(state) % 3,
		.off = next_random(state) % 5 * 1000,
		.len = next_random(state) % 5 * 1000,
	};

	if (!member)
		f->own.serial = 78 + next_random(state) % 5;
	return says(f, talk, next_random(state) % 100);
}

static bool strangers(void)
{
	struct fi_cq_tagged_entry e;
	uint32_t state = 1, word = 0;
	struct angara_message msg = { .size = sizeof(msg) };
	struct fake f;
	bool ok;
	int i;

	open_members(1, &with_groups);
	ok = fake_open(&f) && fake_join(&f) &&
	     expect(fi_broadcast(all[0].s.ep, &word, 1, NULL, f.t.coll[1],
				 all[0].addr[1], FI_UINT32, 0, &f.t), 0);
	/* Messages of a non-member do not harm the group. */
	for (i = 0; ok && i < 1000; i++) {
		ok = babble(&f, &state, false);
		fi_cq_read(all[0].s.cq, NULL, 0);
	}
	f.own.serial = 77;
	ok = ok && nothing(&all[0].s) &&
	     says(&f, (struct afi_talk){ .kind = AFI_TALK_DATA, .group = f.id,
					 .seq = 1, .len = 4 }, 4) &&
	     completion(&all[0].s, &e) && expect(e.op_context == &f.t, true);
	leave(&f.t, ~0U);
	/* Messages of a member may harm the group, but nothing else. */
	for (i = 0; ok && i < 20; i++) {
		int n;

		ok = start_join(&f.t, 2, (int[]){ 1, 0 }, 2);
		for (n = 0; ok && n < 50; n++) {
			ok = babble(&f, &state, true);
			fi_cq_read(all[0].s.cq, NULL, 0);
		}
		leave(&f.t, ~0U);
	}
	ok = ok && in_touch(0, 0);
	while (ok && !angara_msg_wait(f.ctx, 0, &msg))
		;
	return fake_close(&f) && ok;
}

/* The setting in the environment decides how operations are executed. */
static bool ways(void)
{
	struct fi_info *hints = hints_of(&with_groups, "angara0"), *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct team t;
	static const char *const said =
		"rank 0 of 2, by software: FI_ANGARA_COLL is software at a member, 0 offloaded, 1 by software";
	char line[128];
	bool ok;

	setenv("FI_ANGARA_COLL", "magic", 1);
	ok = expect(fi_getinfo(API, NULL, NULL, 0, hints, &info), 0) &&
	     expect(fi_fabric(info->fabric_attr, &fabric, NULL), 0) &&
	     expect(fi_domain(fabric, info, &domain, NULL), -FI_EINVAL) &&
	     closed(&fabric->fid);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	setenv("FI_ANGARA_COLL", "software", 1);
	open_members(2, &with_groups);
	ok = ok && join(&t, 2, in_order) && barrier(&t, 0, 0) &&
	     barrier(&t, 1, 0) && ended(&t, 0, &t) &&
	     expect(t.mc[0]->fid.ops->tostr(&t.mc[0]->fid, line, sizeof(line)),
		    0) &&
	     expect(strcmp(line, said), 0);
	leave(&t, ~0U);
	close_members(2);
	unsetenv("FI_ANGARA_COLL");
	return ok;
}

const struct part collfail_parts[] = {
	{ "members that do not join", absent },
	{ "members that give up", giving_up },
	{ "members that do not call", late },
	{ "members that leave", leaving },
	{ "a member that dies", dying },
	{ "a member that is dead", dead },
	{ "a member that leaves after its part", done_first },
	{ "members that send invalid messages", liars },
	{ "messages from non-members", strangers },
	{ "settings of collective operations", ways },
	{ NULL, NULL },
};
