// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peers that request answers but receive nothing: they do not block others, and
 * no expected message is lost.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fi_collective.h>

#include <angara/angara.h>

#include "../common/alone.h"
#include "fi.h"

#define LEN		4100	/* bytes of a message that the receiver fetches */
#define SHORT_MAX	4064	/* most bytes of a message that is sent with its
				 * data
				 */
#define NOBODY		7	/* number without an endpoint */
#define OPS		2048	/* operations of a domain */

/* Types of messages, and struct wire, the first words of a message; see msg.h. */
enum { LONG_ONE = 2, FETCHED = 3, TOUCHED = 4, ASK = 5, PARTS = 6, TALK = 15 };

struct wire {
	uint32_t to;
	uint32_t from;
	uint32_t flags;
	uint32_t err;
	uint32_t op;
	uint32_t gen;
	uint64_t len;
	uint32_t talk[14];	/* header of a TALK message; talk[4] is its type */
};

#define WIRE	32
#define CANCEL	5	/* value of talk[4] in a message that cancels a join */
#define PROBE	9

static struct side s[2];
static struct ep_name victim;	/* address of s[1] */
static struct angara_ctx *greedy;
static char *mem;

/* Entry of a domain's directory that contains the domain's number. */
#define ID_ENTRY	(16384 + 16)
static uint64_t (*dir)[2];
static struct angara_mr *dir_mr;

/* Publishes the victim's domain number in the greedy peer's directory, for probes. */
static bool lives(void)
{
	dir[ID_ENTRY][0] = victim.serial >> 12;
	return expect(angara_mr_reg_key(angara_ctx_domain(greedy), dir,
					(ID_ENTRY + 1) * sizeof(*dir),
					ANGARA_ACCESS_REMOTE_READ, 0, &dir_mr), 0);
}

static bool setup(uint64_t caps)
{
	const struct how how = { .caps = caps };
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };

	open_pair(s, &how);
	victim = name_of(s[1].ep);
	mem = calloc(1, 2 * LEN);
	dir = calloc(ID_ENTRY + 1, sizeof(*dir));
	return expect(alone_open("5", &attr, &greedy), 0);
}

static void teardown(void)
{
	angara_ctx_close(greedy);
	close_pair(s);
	free(mem);
	free(dir);
}

static bool say(int type, int ep, uint64_t tag, const struct wire *wire,
		size_t len)
{
	const struct angara_peer peer = {
		.node = victim.node,
		.ctx = victim.ctx,
	};
	const struct angara_head head = {
		.size = sizeof(head),
		.tag = tag,
		.code = (uint16_t)(type | ep << 4),
	};

	time_t end = time(NULL) + LONG_MS / 1000;
	int ret;

	/* The greedy peer's queue is full until the victim takes earlier messages. */
	do {
		fi_cq_read(s[1].cq, NULL, 0);
		ret = angara_send_inline_nbi(greedy, peer, &head, wire, len, NULL);
	} while (ret == -EAGAIN && time(NULL) < end);
	return expect(ret, 0);
}

static bool demand(int type, int ep, uint64_t tag, const struct wire *wire)
{
	return say(type, ep, tag, wire, type == TALK ? sizeof(*wire) : WIRE);
}

static uint32_t cancels;	/* count of cancel messages received */

/* Receives the messages that have arrived. */
static void answers_some(void)
{
	struct angara_message in = { .size = sizeof(in) };

	while (!angara_msg_next(greedy, &in))
		angara_msg_free(greedy, &in);
}

/* Counts the answers until no more arrive, at least @least. */
static uint32_t answers(uint32_t least)
{
	time_t end = time(NULL) + LONG_MS / 1000;
	struct angara_message in = { .size = sizeof(in) };
	uint32_t n = 0, idle = 0;
	struct wire wire;
	int type;

	while (idle++ < 1000 || (n < least && time(NULL) < end)) {
		fi_cq_read(s[1].cq, NULL, 0);
		if (angara_msg_next(greedy, &in))
			continue;
		type = in.head.code & 15;
		n += type == FETCHED || type == PARTS;
		memset(&wire, 0, sizeof(wire));
		memcpy(&wire, in.data, in.len < sizeof(wire) ? in.len :
			       sizeof(wire));
		cancels += type == TALK && wire.talk[4] == CANCEL;
		angara_msg_free(greedy, &in);
		idle = 0;
	}
	return n;
}

/* Sends two messages, a short and a long one. */
static bool talk(int from)
{
	static const size_t lens[2] = { 8, LEN };
	struct fi_cq_tagged_entry e;
	bool ok = true;
	int i;

	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_recv(s[!from].ep, mem + LEN, LEN, NULL,
				    s[!from].peer, mem), 0) &&
		     expect(fi_send(s[from].ep, mem, lens[i], NULL,
				    s[from].peer, NULL), 0);
	for (i = 0; ok && i < 4; i++) {
		ssize_t ret = -FI_EAGAIN;
		long spins;

		for (spins = 0; ret == -FI_EAGAIN && spins < 1000000; spins++) {
			fi_cq_read(s[i & 1].cq, NULL, 0);
			ret = fi_cq_read(s[!(i & 1)].cq, &e, 1);
		}
		ok = expect(ret, 1);
	}
	return ok;
}

/* A sender to an endpoint that does not exist gets an error. */
static bool told(void)
{
	struct ep_name name = victim;
	fi_addr_t addr;

	name.ep = NOBODY;
	addr = insert(s[0].av, &name);
	return expect(fi_send(s[0].ep, mem, LEN, NULL, addr, &addr), 0) &&
	       expect(fi_cq_read(s[1].cq, NULL, 0), -FI_EAGAIN) &&
	       error(&s[0], FI_EHOSTUNREACH, &addr);
}

#define UNREAD		600	/* messages: more than fit in the receive buffer */
#define TRIES		10000	/* polls after which no message is expected */

/* Makes the greedy peer known to the victim as an endpoint. */
static bool known(fi_addr_t *addr)
{
	struct angara_peer self = alone_self(greedy);
	struct ep_name name = victim;

	name.node = self.node;
	name.ctx = self.ctx;
	*addr = insert(s[1].av, &name);
	return true;
}

/* Sends while there is room.  Return: number of messages that were accepted. */
static int sent_all(fi_addr_t addr)
{
	int n = 0, tries;
	ssize_t ret;

	for (tries = 0; tries < TRIES; tries++) {
		ret = fi_inject(s[1].ep, mem, 8, addr);
		if (!ret) {
			n++;
			tries = 0;
		} else if (!expect(ret, -FI_EAGAIN)) {
			return 0;
		}
		fi_cq_read(s[1].cq, NULL, 0);
	}
	return n;
}

/*
 * Messages to a peer that receives nothing leave the adapter and the send queue
 * free for other messages.
 */
static bool unread(void)
{
	fi_addr_t addr;
	bool ok = setup(0) && known(&addr);

	if (ok)
		ok = expect(sent_all(addr) > 64, true);
	ok = ok && talk(1) && talk(0);
	teardown();
	return ok;
}

/*
 * A peer makes the provider owe it as many answers as a domain has operations.
 */
static bool answered(void)
{
	uint32_t i;
	bool ok = setup(0);

	for (i = 0; ok && i < OPS; i++) {
		struct wire shows = { .to = 1, .op = i, .gen = 1, .len = LEN };
		struct wire asks = { .to = 1, .op = OPS };
		struct wire probes = {
			.to = 1,
			.len = sizeof(probes.talk),
			.talk = { 1, 0, 0, 0, PROBE },
		};

		ok = (i & 1 ? demand(LONG_ONE, NOBODY, 0, &shows) :
			      demand(ASK, NOBODY, 1ULL << 32 | i, &asks)) &&
		     demand(TALK, NOBODY, 0, &probes);
	}
	ok = ok && talk(0) && talk(1) && told() && expect(answers(OPS), OPS) &&
	     talk(0);
	teardown();
	return ok;
}

/* Requests beyond the limit get no answer. */
static bool limited(void)
{
	const uint32_t most = 4 * OPS;
	uint32_t i, n;
	bool ok = setup(0);

	for (i = 0; ok && i < most; i++) {
		struct wire shows = { .to = 1, .op = i, .len = LEN };

		ok = demand(LONG_ONE, NOBODY, 0, &shows);
	}
	ok = ok && talk(0) && talk(1) && told();
	n = answers(OPS + 1);
	ok = ok && expect(n > OPS && n < 3 * OPS, true);
	/* The last request of an operation replaces the earlier ones. */
	for (i = 0; ok && i < most; i++) {
		struct wire shows = { .to = 1, .op = 1, .gen = i, .len = LEN };

		ok = demand(LONG_ONE, NOBODY, 0, &shows);
	}
	ok = ok && expect(answers(1) < OPS, true);
	teardown();
	return ok;
}

#define GREEDS		100
#define SENDS		1300	/* of each of two senders: together more than a
				 * domain's operations
				 */

#define TOLD		65536	/* completions that the provider keeps */

/*
 * The queue grows for completions that a peer causes only up to a limit.  Further
 * messages wait until the program reads completions.
 */
static bool tells(void)
{
	const int most = TOLD + 4096;
	struct fi_cq_tagged_entry *e = calloc(2 * TOLD, sizeof(*e));
	struct wire touched = { .flags = 2 };
	bool ok = setup(0);
	ssize_t n = 0, ret;
	int i;

	touched.to = victim.serial;
	for (i = 0; ok && i < most; i++)
		ok = demand(TOUCHED, victim.ep, 0, &touched);
	if (ok)
		n = fi_cq_read(s[1].cq, e, 2 * TOLD);
	ok = ok && expect(n, TOLD);
	for (i = 0; ok && i < 1000; i++) {
		ret = fi_cq_read(s[1].cq, e, 2 * TOLD);
		n += ret > 0 ? ret : 0;
	}
	ok = ok && expect(n, most) && talk(0);
	teardown();
	free(e);
	return ok;
}

/* A sender that does not send its data does not block other receives. */
static bool passed(void)
{
	const struct how how = { 0 };
	struct side third, *from[2] = { &s[0], &third };
	struct wire shows = { .len = LEN };
	struct fi_cq_tagged_entry e;
	int i, k, left = 2 * SENDS;
	fi_addr_t to[2];
	long spins;
	bool ok = setup(0);

	open_side(&third, &how, "angara5");
	to[0] = s[0].peer;
	to[1] = insert(third.av, &victim);
	for (i = 0; ok && i < UNREAD; i++, shows.op++)
		ok = demand(LONG_ONE, NOBODY, 0, &shows);
	shows.to = victim.serial;
	for (i = 0; ok && i < GREEDS; i++)
		ok = demand(LONG_ONE, victim.ep, 0, &shows);
	for (i = 0; ok && i < SENDS; i++)
		for (k = 0; k < 2; k++)
			while (fi_send(from[k]->ep, mem, LEN, NULL, to[k],
				       NULL) == -FI_EAGAIN) {
				fi_cq_read(s[0].cq, NULL, 0);
				fi_cq_read(s[1].cq, NULL, 0);
				fi_cq_read(third.cq, NULL, 0);
			}
	for (i = 0; ok && i < GREEDS + 2 * SENDS; i++)
		ok = expect(fi_recv(s[1].ep, mem + LEN, LEN, NULL,
				    FI_ADDR_UNSPEC, NULL), 0);
	for (spins = 0; ok && left && spins < 3000000; spins++) {
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(third.cq, NULL, 0);
		left -= fi_cq_read(s[1].cq, &e, 1) == 1;
	}
	ok = ok && expect(left, 0);
	close_side(&third);
	teardown();
	return ok;
}

/*
 * A peer that has made as many requests as there are operations, but sends no
 * data, does not keep the victim from sending and receiving.
 */
static bool hides(void)
{
	struct wire shows = { .len = LEN };
	struct fi_cq_tagged_entry e;
	uint64_t there = 0;
	struct fid_mr *mr;
	bool ok = setup(FI_MSG | FI_RMA) && lives();

	mr = reg(&s[0], &there, sizeof(there), FI_REMOTE_WRITE, 1);
	shows.to = victim.serial;
	shows.from = victim.serial;
	for (; ok && shows.op < 2 * OPS; shows.op++) {
		ok = expect(fi_recv(s[1].ep, mem, LEN, NULL, FI_ADDR_UNSPEC,
				    NULL), 0) &&
		     demand(LONG_ONE, victim.ep, 0, &shows);
		answers_some();
	}
	ok = ok && talk(0) && talk(1) &&
	     expect(fi_write(s[1].ep, "written", 8, NULL, s[1].peer,
			     start_of(&s[0], &there), fi_mr_key(mr), NULL), 0) &&
	     completion(&s[1], &e) && expect(!memcmp(&there, "written", 8), true);
	ok = closed(&mr->fid) && ok;
	teardown();
	return ok;
}

/* Takes the next message of a type. Return: has one arrived? */
static bool hears(int type, struct wire *wire, uint64_t *tag)
{
	struct angara_message in = { .size = sizeof(in) };
	bool found = false;
	int idle;

	for (idle = 0; !found && idle < 100000; idle++) {
		fi_cq_read(s[1].cq, NULL, 0);
		if (angara_msg_next(greedy, &in))
			continue;
		found = (in.head.code & 15) == type;
		*tag = in.head.tag;
		memcpy(wire, in.data, WIRE);
		angara_msg_free(greedy, &in);
	}
	return expect(found, true);
}

/* A message with a false length is discarded. */
static bool shrinks(void)
{
	static const size_t lens[3] = { 0, 1, SHORT_MAX };
	struct wire shows = { 0 }, got;
	uint64_t tag;
	bool ok = setup(0) && lives() &&
		  expect(fi_recv(s[1].ep, mem, LEN, NULL, FI_ADDR_UNSPEC, mem),
			 0);
	int i;

	shows.to = victim.serial;
	shows.from = victim.serial;
	for (i = 0; ok && i < 3; i++) {
		shows.len = lens[i];
		ok = demand(LONG_ONE, victim.ep, 0, &shows);
	}
	for (i = 0; ok && i < 1000; i++)
		ok = nothing(&s[1]);
	shows.len = SHORT_MAX + 1;
	ok = ok && expect(answers(0), 0) &&
	     demand(LONG_ONE, victim.ep, 0, &shows) && hears(ASK, &got, &tag);
	teardown();
	return ok;
}

/* A cancelled join is reported to the other member when possible. */
static bool left(void)
{
	struct fi_av_set_attr attr = {
		.count = 2,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	struct wire shows = { .to = 1, .len = LEN };
	struct fid_av_set *set;
	struct fid_mc *mc;
	fi_addr_t addr;
	bool ok = setup(FI_MSG | FI_COLLECTIVE) && known(&addr) &&
		  expect(fi_av_set(s[1].av, &attr, &set, NULL), 0) &&
		  expect(fi_av_set_insert(set, addr), 0) &&
		  expect(fi_av_set_insert(set, s[1].self), 0) &&
		  expect(fi_join_collective(s[1].ep, FI_ADDR_NOTAVAIL, set, 0, &mc,
					    NULL), 0);

	for (; ok && shows.op < OPS; shows.op++)
		ok = demand(LONG_ONE, NOBODY, 0, &shows);
	cancels = 0;
	ok = ok && closed(&mc->fid) && closed(&set->fid) &&
	     expect(answers(OPS), OPS) && expect(cancels, 1);
	teardown();
	return ok;
}

/* An answer for the context's previous user has no effect, one for the current user has. */
static bool ends_right(int type, const struct wire *answer, int err)
{
	struct wire stale = *answer;
	int i;

	stale.to ^= 1U << 12;
	if (!demand(type, victim.ep, 0, &stale))
		return false;
	for (i = 0; i < 1000; i++)
		if (!nothing(&s[1]))
			return false;
	return demand(type, victim.ep, 0, answer) && error(&s[1], err, mem);
}

/* Operations of the context's previous user have the same numbers as the victim's. */
static bool stale(void)
{
	struct wire shows = { .len = LEN }, got, answer = { 0 };
	uint64_t tag;
	fi_addr_t addr;
	bool ok = setup(0) && lives() && known(&addr) &&
		  expect(fi_send(s[1].ep, mem, LEN, NULL, addr, mem), 0) &&
		  hears(LONG_ONE, &got, &tag);

	answer.to = got.from;
	answer.op = got.op;
	answer.gen = got.gen;
	answer.err = FI_EHOSTUNREACH;
	ok = ok && ends_right(FETCHED, &answer, FI_EHOSTUNREACH) &&
	     expect(fi_recv(s[1].ep, mem, LEN, NULL, FI_ADDR_UNSPEC, mem), 0);
	shows.to = victim.serial;
	shows.from = victim.serial;
	ok = ok && demand(LONG_ONE, victim.ep, 0, &shows) &&
	     hears(ASK, &got, &tag);
	answer.to = got.from;
	answer.op = (uint32_t)tag;
	answer.gen = (uint32_t)(tag >> 32);
	answer.err = FI_EACCES;
	ok = ok && ends_right(PARTS, &answer, FI_EACCES) && talk(0);
	teardown();
	return ok;
}

static uint32_t next(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525U + 1013904223U;
	return (*state >> 8) % below;
}

/* Sends a random message whose parts are mostly valid. */
static bool babble(uint32_t *state)
{
	static const int types[] = { 1, 2, 3, 4, 5, 6, 15, 15 };
	int type = types[next(state, 8)], ep = next(state, 8) ? 0 : NOBODY;
	struct wire wire = {
		.to = next(state, 8) ? victim.serial : next(state, 3),
		.from = next(state, 8) ? victim.serial : next(state, 3),
		.flags = next(state, 8),
		.err = next(state, 4) ? 0 : next(state, 5000),
		.op = next(state, 8) ? next(state, 4) : next(state, 1U << 24),
		.gen = next(state, 8),
	};
	const uint32_t words = sizeof(wire.talk) / sizeof(*wire.talk);
	uint32_t n = type == TALK && next(state, 8) ? words :
		     next(state, 4) * 4;
	uint32_t i;

	for (i = 0; i < words; i++)
		wire.talk[i] = next(state, 4) ? next(state, 3) :
				next(state, 1U << 24);
	wire.talk[4] = next(state, 13);
	wire.len = type == TALK || type == 1 ? n * 4 : 3000 * n / 4;
	/* A part is a key of 64 bits, an offset and a length: set the lengths. */
	for (i = 0; type != TALK && i + 3 < n; i += 4)
		wire.talk[i + 3] = 3000;
	if (!next(state, 8))
		wire.len = next(state, 1U << 24);
	return say(type, ep, (uint64_t)next(state, 8) << 32 | next(state, 4),
		   &wire, WIRE + n * 4);
}

/* Did the call succeed, or fail only for lack of room? */
static bool tried(ssize_t ret)
{
	return !ret || expect(ret, -FI_EAGAIN);
}

/* Sends random messages, in any state of a group and of receives. */
static bool babbles(void)
{
	struct fi_av_set_attr attr = {
		.count = 2,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	struct fi_cq_tagged_entry e[64];
	struct fi_cq_err_entry err;
	struct fid_av_set *set;
	uint32_t state = 1;
	struct fid_mc *mc;
	fi_addr_t addr;
	bool ok = setup(FI_MSG | FI_COLLECTIVE) && known(&addr) &&
		  expect(fi_av_set(s[1].av, &attr, &set, NULL), 0) &&
		  expect(fi_av_set_insert(set, s[1].self), 0) &&
		  expect(fi_av_set_insert(set, addr), 0);
	int i;

	for (i = 0; ok && i < 20000; i++) {
		if (i % 1000 == 0)
			ok = expect(fi_join_collective(s[1].ep, FI_ADDR_NOTAVAIL,
						       set, 0, &mc, NULL), 0);
		if (i % 16 == 0)
			ok = ok && expect(fi_recv(s[1].ep, mem, LEN, NULL,
						  FI_ADDR_UNSPEC, NULL), 0) &&
			     tried(fi_send(s[1].ep, mem, LEN, NULL, addr, NULL));
		ok = ok && babble(&state);
		if (i % 3 == 0)
			answers_some();
		while (fi_cq_read(s[1].cq, e, 64) == -FI_EAVAIL)
			fi_cq_readerr(s[1].cq, &err, 0);
		if (i % 1000 == 999)
			ok = ok && closed(&mc->fid);
	}
	ok = ok && closed(&set->fid) && told();
	teardown();
	return ok;
}

const struct part greedy_parts[] = {
	{ "greedy: a peer takes no messages", unread },
	{ "greedy: a peer takes no answers", answered },
	{ "greedy: a peer has more requests than the limit", limited },
	{ "greedy: a cancelled join is reported", left },
	{ "greedy: a peer reports many writes", tells },
	{ "greedy: a peer with many requests sends no data", hides },
	{ "greedy: a peer sends false lengths", shrinks },
	{ "greedy: a peer answers a context's previous user", stale },
	{ "greedy: a peer sends random messages", babbles },
	{ "greedy: a peer sends no data", passed },
	{ 0 },
};
