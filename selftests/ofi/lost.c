// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peers that exit while a long message waits for them, or that receive nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <angara/angara.h>

#include "../common/alone.h"
#include "fi.h"

#define LEN	100000
#define WAIT_S	4	/* time for several checks of a silent peer */

/* Entry of a domain's directory that contains the domain's number. */
#define ID_ENTRY	(16384 + 16)

/* A peer that has a context, but whose software does nothing. */
struct peer {
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	uint64_t (*dir)[2];
};

static bool open_peer(struct peer *p, const char *device, struct side *from,
		      fi_addr_t *addr)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };
	struct angara_peer self;
	struct ep_name name = name_of(from->ep);

	p->dir = calloc(ID_ENTRY + 1, sizeof(*p->dir));
	p->dir[ID_ENTRY][0] = 77;
	if (!expect(alone_open(device, &attr, &p->ctx), 0))
		return false;
	self = alone_self(p->ctx);
	name.node = self.node;
	name.ctx = self.ctx;
	name.ep = 0;
	name.serial = 77 << 12 | 5;
	*addr = insert(from->av, &name);
	return expect(angara_mr_reg_key(angara_ctx_domain(p->ctx), p->dir,
					(ID_ENTRY + 1) * sizeof(*p->dir),
					ANGARA_ACCESS_REMOTE_READ, 0, &p->mr), 0);
}

static bool idle_for_long(struct side *a)
{
	time_t end = time(NULL) + WAIT_S;
	struct fi_cq_tagged_entry e;
	bool ok = true;

	while (ok && time(NULL) < end)
		ok = expect(fi_cq_sread(a->cq, &e, 1, NULL, 100), -FI_EAGAIN);
	return ok;
}

/*
 * Each of @count sends fails; the error wakes a thread that sleeps in
 * fi_cq_sread().
 */
static bool told(struct side *a, int count)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	bool ok = true;

	while (ok && count--)
		ok = expect(fi_cq_sread(a->cq, &e, 1, NULL, LONG_MS),
			    -FI_EAVAIL) &&
		     expect(fi_cq_readerr(a->cq, &err, 0), 1) &&
		     expect(err.err, FI_EHOSTUNREACH) &&
		     expect(err.op_context == a, true);
	return ok;
}

static bool send_long(struct side *a, char *data, fi_addr_t to, void *context)
{
	return expect(fi_send(a->ep, data, LEN, NULL, to, context), 0);
}

/*
 * Sends wait for a slow receiver, but not for one that is gone, even if another
 * process has its context.
 */
static bool lost(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct side a, b;
	struct peer gone, other;
	char *data = calloc(2, LEN);
	fi_addr_t slow, peer[2];
	struct fi_cq_tagged_entry e;
	bool ok;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara3");
	introduce(&a, &b, &slow);
	ok = open_peer(&gone, "5", &a, &peer[0]) &&
	     open_peer(&other, "5", &a, &peer[1]) &&
	     send_long(&a, data, slow, data) &&
	     send_long(&a, data, peer[0], &a) &&
	     send_long(&a, data, peer[0], &a) &&
	     send_long(&a, data, peer[1], &a) && idle_for_long(&a);
	if (ok)
		other.dir[ID_ENTRY][0] = 78;
	ok = ok && told(&a, 1);
	angara_ctx_close(gone.ctx);
	ok = ok && told(&a, 2) && expect(fi_recv(b.ep, data + LEN, LEN, NULL,
						 FI_ADDR_UNSPEC, &b), 0);
	while (ok && fi_cq_read(b.cq, &e, 1) != 1)
		fi_cq_read(a.cq, NULL, 0);
	ok = ok && expect(e.op_context == &b, true) && completion(&a, &e) &&
	     expect(e.op_context == data, true);
	angara_ctx_close(other.ctx);
	close_side(&a);
	close_side(&b);
	free(data);
	free(gone.dir);
	free(other.dir);
	return ok;
}

#define EACH	60	/* messages, more than fit in the receive buffer */
#define SHORT	4000

static unsigned long polls;

static void count_poll(void)
{
	polls++;
}

/* Closing a domain sleeps while a message is in flight. */
static bool lingers(void)
{
	const struct how how = { 0 };
	char *data = calloc(1, SHORT);
	struct peer idle;
	struct side a;
	fi_addr_t to;
	bool ok;
	int i;

	open_side(&a, &how, "angara0");
	ok = open_peer(&idle, "1", &a, &to);
	for (i = 0; ok && i < EACH; i++) {
		ssize_t ret = fi_send(a.ep, data, SHORT, NULL, to, NULL);

		ok = !ret || expect(ret, -FI_EAGAIN);
	}
	polls = 0;
	at_poll = count_poll;
	close_side(&a);
	at_poll = NULL;
	/*
	 * The wait takes five seconds with at most a hundred polls each; allow
	 * more.
	 */
	ok = ok && expect(polls > 0, true) && expect(polls < 10000, true);
	angara_ctx_close(idle.ctx);
	free(idle.dir);
	free(data);
	return ok;
}

#define IDLE	16	/* peers that may receive nothing, by the man page */

/* Many receivers that receive nothing do not block others. */
static bool many_idle(void)
{
	const struct how how = { 0 };
	struct peer peers[IDLE] = { 0 };
	struct side a, b;
	char *data = calloc(2, SHORT);
	struct fi_cq_tagged_entry e;
	fi_addr_t addr, to;
	bool ok = true;
	long spins;
	int i, k;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara3");
	introduce(&a, &b, &to);
	for (i = 0; ok && i < IDLE; i++) {
		ok = open_peer(&peers[i], i & 1 ? "4" : "5", &a, &addr);
		for (k = 0; ok && k < EACH; k++) {
			ssize_t ret = fi_send(a.ep, data, SHORT, NULL, addr,
					      NULL);

			ok = !ret || expect(ret, -FI_EAGAIN);
			fi_cq_read(a.cq, &e, 1);
		}
	}
	for (k = 0; ok && k < EACH; k++) {
		ssize_t ret = -FI_EAGAIN;

		fill(data, SHORT, (unsigned int)k);
		ok = expect(fi_recv(b.ep, data + SHORT, SHORT, NULL,
				    FI_ADDR_UNSPEC, NULL), 0) &&
		     expect(fi_send(a.ep, data, SHORT, NULL, to, NULL), 0);
		for (spins = 0; ok && ret == -FI_EAGAIN && spins < 10000000;
		     spins++) {
			fi_cq_read(a.cq, NULL, 0);
			ret = fi_cq_read(b.cq, &e, 1);
		}
		ok = ok && expect(ret, 1) && completion(&a, &e) &&
		     expect(filled(data + SHORT, SHORT, (unsigned int)k), true);
	}
	for (i = 0; i < IDLE; i++) {
		angara_ctx_close(peers[i].ctx);
		free(peers[i].dir);
	}
	close_side(&a);
	close_side(&b);
	free(data);
	return ok;
}

#define COPIED	20000	/* bytes of a long message that is copied */

static void settle(struct side s[2])
{
	int i;

	for (i = 0; i < 1000; i++)
		fi_cq_read(s[i & 1].cq, NULL, 0);
}

/* Sends a long message that ends without a path to the receiver. */
static bool send_cut(struct side s[2], const char *data, void *context)
{
	bool ok = expect(fi_tsend(s[0].ep, data, COPIED, NULL, s[0].peer, 1,
				  context), 0);

	cut_off = 1;
	ok = ok && error(&s[0], FI_ENETUNREACH, context) && expect(cut_off, 0);
	cut_off = 0;
	settle(s);
	return ok;
}

/* A later message, of another tag, does not change the data of the first. */
static bool both_arrive(struct side s[2], const char *data, char *got)
{
	struct fi_cq_tagged_entry e;
	bool ok = expect(fi_tsend(s[0].ep, data, COPIED, NULL, s[0].peer, 2, got), 0);
	uint64_t tag;

	settle(s);
	for (tag = 1; ok && tag < 3; tag++) {
		ok = expect(fi_trecv(s[1].ep, got, COPIED, NULL, FI_ADDR_UNSPEC,
				     tag, 0, NULL), 0);
		settle(s);
		ok = ok && completion(&s[1], &e) &&
		     expect(filled(got, COPIED, (unsigned int)tag), true);
	}
	return ok && completion(&s[0], &e) && expect(e.op_context == got, true) &&
	       nothing(&s[0]);
}

/*
 * If only the way back from the receiver is lost, the message has arrived: the
 * receiver gets its data, or an error, but not the data of another message.
 */
static bool cut_way_back(void)
{
	const struct how how = { 0 };
	struct side s[2];
	char *mem[2];
	bool ok;

	open_pair_mem(s, &how, mem, COPIED);
	fill(mem[0], COPIED, 1);
	ok = send_cut(s, mem[0], mem);
	fill(mem[0], COPIED, 2);
	ok = ok && both_arrive(s, mem[0], mem[1]);
	close_pair_mem(s, mem);
	return ok;
}

/*
 * A long message survives a link that fails for a short time, but not one that fails
 * for long.  The peer is probed in each round, except the round in which the message
 * was sent, and the round that has not ended.
 */
static bool cut_probes(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct side s[2];
	char *mem[2];
	bool ok;

	open_pair_mem(s, &how, mem, COPIED);
	fill(mem[0], COPIED, 1);
	pace.rounds = 0;
	ok = expect(fi_tsend(s[0].ep, mem[0], COPIED, NULL, s[0].peer, 1, mem), 0);
	settle(s);
	pace.probes = 0;
	cut_off = 1;
	ok = ok && idle_for_long(&s[0]) && expect(cut_off, 0) &&
	     expect(pace.probes, pace.rounds - 2);
	cut_off = 100;
	ok = ok && error(&s[0], FI_ENETUNREACH, mem);
	cut_off = 0;
	fill(mem[0], COPIED, 2);
	ok = ok && both_arrive(s, mem[0], mem[1]);
	close_pair_mem(s, mem);
	return ok;
}

#define FETCHED	3	/* kinds of messages, AFI_MSG_* */
#define PARTS	6
#define ASKED	300	/* messages: more than a sender registers before receivers ask for them */
#define APART	64	/* bytes between starts of messages */

/* Receives message @tag, while two messages of kind @kind between the sides are lost. */
static bool answers_lost(struct side s[2], char *got, size_t len, unsigned int kind,
			 uint64_t tag)
{
	time_t end = time(NULL) + 3 * WAIT_S;
	ssize_t ret[2] = { -FI_EAGAIN, -FI_EAGAIN };
	struct fi_cq_tagged_entry e;
	bool ok;
	int i;

	settle(s);
	loss = (struct loss){ .kind = kind, .count = 2 };
	ok = expect(fi_trecv(s[1].ep, got, len, NULL, FI_ADDR_UNSPEC, tag, 0, got), 0);
	while (ok && (ret[0] == -FI_EAGAIN || ret[1] == -FI_EAGAIN) && time(NULL) < end)
		for (i = 0; i < 2; i++)
			if (ret[i] == -FI_EAGAIN)
				ret[i] = fi_cq_read(s[i].cq, &e, 1);
			else
				fi_cq_read(s[i].cq, NULL, 0);
	ok = ok && expect(ret[0], 1) && expect(ret[1], 1) && expect(loss.count, 0);
	loss = (struct loss){ 0 };
	return ok;
}

/* Messages complete although links fail when their receivers answer. */
static bool cut_answers(void)
{
	const struct how how = { 0 };
	const size_t len = COPIED * 4, all = len + ASKED * APART;
	struct side s[2];
	char *mem[2];
	uint64_t i;
	bool ok;

	open_pair_mem(s, &how, mem, all);
	fill(mem[0], COPIED, 1);
	ok = expect(fi_tsend(s[0].ep, mem[0], COPIED, NULL, s[0].peer, 1000, mem), 0) &&
	     answers_lost(s, mem[1], COPIED, FETCHED, 1000) &&
	     expect(filled(mem[1], COPIED, 1), true);
	for (i = 0; ok && i < ASKED; i++)
		ok = expect(when_room(&s[0], fi_tsend(s[0].ep, mem[0] + i * APART, len,
						      NULL, s[0].peer, i, mem)), 0);
	fill(mem[0] + (ASKED - 1) * APART, len, 2);
	ok = ok && answers_lost(s, mem[1], len, PARTS, ASKED - 1) &&
	     expect(filled(mem[1], len, 2), true) && nothing(&s[0]);
	close_pair_mem(s, mem);
	return ok;
}

const struct part lost_parts[] = {
	{ "lost: receivers of long messages", lost },
	{ "lost: receivers, when a domain is closed", lingers },
	{ "lost: many receivers that receive nothing", many_idle },
	{ "lost: the way back of a message", cut_way_back },
	{ "lost: paths for a short and for a long time", cut_probes },
	{ "lost: paths of answers", cut_answers },
	{ 0 },
};
