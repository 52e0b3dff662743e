// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Many messages, peers that leave, and invalid messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/angara.h>

#include "../common/alone.h"
#include "fi.h"

#define MEM	(1U << 20)

static struct side s[2];
static char *mem[2];

static void setup(const struct how *how)
{
	open_pair_mem(s, how, mem, MEM);
}

static void teardown(void)
{
	close_pair_mem(s, mem);
}

/* Two senders and a receiver that is inactive for a long time. */
static bool overload(void)
{
	const struct how how = { 0 };
	struct side third;
	struct side *from[2] = { &s[0], &third };
	char got[4000];
	unsigned int next[2] = { 0, 0 }, sent[2] = { 0, 0 }, refused = 0, i;
	struct fi_cq_tagged_entry e;
	fi_addr_t to[2], addr[2];
	bool ok = true;

	setup(&how);
	open_side(&third, &how, "angara5");
	introduce(&third, &s[1], &to[1]);
	introduce(&s[1], &third, &addr[1]);
	to[0] = s[0].peer;
	addr[0] = s[1].peer;
	while (ok && refused < 100) {
		for (i = 0; i < 2; i++) {
			ssize_t ret;

			memcpy(mem[0], &sent[i], sizeof(sent[i]));
			ret = fi_tsend(from[i]->ep, mem[0], 3000, NULL, to[i], 1,
				       NULL);
			sent[i] += !ret;
			refused += !!ret;
			ok = !ret || expect(ret, -FI_EAGAIN);
			fi_cq_read(from[i]->cq, &e, 1);
		}
	}
	ok = ok && expect(sent[0] > 100 && sent[1] > 100, true);
	while (ok && (next[0] < sent[0] || next[1] < sent[1])) {
		unsigned int number;

		i = next[0] < sent[0] && (next[0] + next[1]) % 3 ? 0 :
		    next[1] < sent[1];
		fi_cq_read(s[0].cq, &e, 1);
		fi_cq_read(third.cq, &e, 1);
		ok = expect(fi_trecv(s[1].ep, got, sizeof(got), NULL, addr[i], 1,
				     0, got), 0);
		while (ok && fi_cq_read(s[1].cq, &e, 1) != 1) {
			fi_cq_read(s[0].cq, NULL, 0);
			fi_cq_read(third.cq, NULL, 0);
		}
		memcpy(&number, got, sizeof(number));
		ok = ok && expect(number, next[i]++);
	}
	close_side(&third);
	teardown();
	return ok;
}

/* A receiver closes before it has fetched a message. */
static bool left(void)
{
	const struct how how = { 0 };
	struct side a, b;
	char *data = calloc(1, 100000);
	fi_addr_t peer;
	int i;
	bool ok;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara5");
	introduce(&a, &b, &peer);
	ok = expect(fi_send(a.ep, data, 100000, NULL, peer, data), 0);
	for (i = 0; i < 100; i++) {
		fi_cq_read(a.cq, NULL, 0);
		fi_cq_read(b.cq, NULL, 0);
	}
	ok = ok && closed(&b.ep->fid) && expect(fi_cq_read(b.cq, NULL, 0),
						-FI_EAGAIN) &&
	     error(&a, FI_EHOSTUNREACH, data) &&
	     /*
	      * The address has no endpoint any more; another endpoint has its
	      * number.
	      */
	     expect(fi_endpoint(b.domain, b.info, &b.ep, NULL), 0) &&
	     expect(fi_ep_bind(b.ep, &b.av->fid, 0), 0) &&
	     expect(fi_ep_bind(b.ep, &b.cq->fid, FI_TRANSMIT | FI_RECV), 0) &&
	     expect(fi_enable(b.ep), 0) &&
	     expect(fi_recv(b.ep, data, 100000, NULL, FI_ADDR_UNSPEC, NULL), 0) &&
	     expect(fi_send(a.ep, data, 100000, NULL, peer, data), 0);
	for (i = 0; i < 100; i++) {
		fi_cq_read(a.cq, NULL, 0);
		fi_cq_read(b.cq, NULL, 0);
	}
	ok = ok && error(&a, FI_EHOSTUNREACH, data) && nothing(&b);
	close_side(&b);
	ok = ok && expect(fi_send(a.ep, data, 10, NULL, peer, data), 0) &&
	     error(&a, FI_EHOSTUNREACH, data) &&
	     expect(fi_send(a.ep, data, 100000, NULL, peer, data), 0) &&
	     error(&a, FI_EHOSTUNREACH, data);
	close_side(&a);
	free(data);
	return ok;
}

/* Messages arrive although the sender closes at once. */
static bool farewell(void)
{
	enum { COUNT = 150 };
	const struct how lazy = { 0 };
	const struct how how = { .progress = FI_PROGRESS_AUTO,
				 .wait = FI_WAIT_FD };
	struct fi_cq_tagged_entry e;
	struct side a, b;
	char data[256];
	fi_addr_t peer;
	bool ok = true;
	int i;

	open_side(&a, &lazy, "angara0");
	open_side(&b, &how, "angara5");
	introduce(&a, &b, &peer);
	for (i = 0; ok && i < COUNT; i++) {
		memset(data, i, sizeof(data));
		/* more messages than one receiver may have pending */
		ok = expect(when_room(&a, fi_inject(a.ep, data, sizeof(data),
						    peer)), 0);
	}
	close_side(&a);
	for (i = 0; ok && i < COUNT; i++)
		ok = expect(fi_recv(b.ep, data, sizeof(data), NULL,
				    FI_ADDR_UNSPEC, NULL), 0) &&
		     expect(fi_cq_sread(b.cq, &e, 1, NULL, LONG_MS), 1) &&
		     expect((unsigned char)data[0], i);
	close_side(&b);
	return ok;
}

#define LONG_LEN	66000	/* bytes, too many to be copied */
#define LONG_MANY	700	/* messages: more than there are keys */

static ssize_t send_tagged(int from, uint64_t tag, size_t len)
{
	ssize_t ret;

	do {
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(s[1].cq, NULL, 0);
		ret = fi_tsend(s[from].ep, mem[from] + tag, len, NULL,
			       s[from].peer, tag, NULL);
	} while (ret == -FI_EAGAIN);
	return ret;
}

/* Takes the next completion of a receive; skips those of sends. */
static bool receipt(int to, struct fi_cq_tagged_entry *e)
{
	ssize_t ret;
	long i;

	for (i = 0; i < 20000000; i++) {
		fi_cq_read(s[!to].cq, NULL, 0);
		ret = fi_cq_read(s[to].cq, e, 1);
		if (ret == 1 && (e->flags & FI_RECV))
			return true;
		if (ret != -FI_EAGAIN && !expect(ret, 1))
			return false;
	}
	return expect(ret, 1);
}

static bool receive_tagged(int to, char *buf, uint64_t tag)
{
	struct fi_cq_tagged_entry e;

	return expect(fi_trecv(s[to].ep, buf, LONG_LEN, NULL, s[to].peer, tag,
			       0, buf), 0) &&
	       receipt(to, &e) && expect((long long)e.len, LONG_LEN) &&
	       expect((long long)e.tag, (long long)tag) &&
	       expect(memcmp(buf, mem[!to] + tag, LONG_LEN), 0);
}

/* Takes the next error from the receiver's completion queue. */
static bool failure(struct fi_cq_err_entry *err)
{
	struct fi_cq_tagged_entry e;
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret != -FI_EAVAIL && i < 20000000; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, &e, 1);
	}
	return expect(fi_cq_readerr(s[1].cq, err, 0), 1);
}

/* Messages wait when no key is left for their data. */
static bool last_ones(char *buf)
{
	struct iovec iov = { buf, 3 * LONG_LEN };
	struct fi_msg multi = { &iov, NULL, 1, FI_ADDR_UNSPEC, buf, 0 };
	struct fi_msg_tagged peek = { NULL, NULL, 0, s[1].peer, 1, 0, buf, 0 };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	bool ok = expect(fi_recvmsg(s[1].ep, &multi, FI_MULTI_RECV), 0);
	int i;

	for (i = 0; ok && i < 3; i++)
		ok = expect(fi_send(s[0].ep, mem[0] + i, LONG_LEN, NULL,
				    s[0].peer, NULL), 0);
	for (i = 0; ok && i < 3; i++)
		ok = receipt(1, &e) &&
		     expect(!(e.flags & FI_MULTI_RECV), i < 2) &&
		     expect(memcmp(e.buf, mem[0] +
				   ((char *)e.buf - buf) / LONG_LEN,
				   LONG_LEN), 0);
	/* One message is discarded, one is longer than its receive buffer. */
	ok = ok && expect(fi_trecvmsg(s[1].ep, &peek, FI_PEEK | FI_DISCARD), 0) &&
	     receipt(1, &e) && expect((long long)e.tag, 1) &&
	     expect(fi_trecv(s[1].ep, buf, 5000, NULL, s[1].peer, 0, 0, &e), 0);
	return ok && failure(&err) && expect(err.err, FI_ETRUNC) && expect(err.len, 5000) &&
	       expect(err.olen, LONG_LEN - 5000) &&
	       expect(memcmp(buf, mem[0], 5000), 0);
}

/*
 * Sends more long messages each way than there are keys, and receives them in
 * the worst order.
 */
static bool keyless(void)
{
	const struct how how = { 0 };
	char *buf = calloc(3, LONG_LEN);
	struct fi_cq_err_entry err = { 0 };
	uint64_t i;
	bool ok = true;

	setup(&how);
	fill(mem[0], LONG_LEN + LONG_MANY, 1);
	fill(mem[1], LONG_LEN + LONG_MANY, 2);
	for (i = 0; ok && i < LONG_MANY; i++)
		ok = expect(send_tagged(0, i, LONG_LEN), 0) &&
		     expect(send_tagged(1, i, LONG_LEN), 0);
	for (i = LONG_MANY; ok && i-- > 2;)
		ok = receive_tagged(1, buf, i) && receive_tagged(0, buf, i);
	ok = ok && receive_tagged(0, buf, 1) && receive_tagged(0, buf, 0);
	/* The keys were freed: all of them are used again. */
	for (i = 2; ok && i < LONG_MANY; i++)
		ok = expect(send_tagged(0, i, LONG_LEN), 0);
	ok = ok && last_ones(buf);
	/* Data without a key, which no peer can fetch, is lost when the sender is closed. */
	closed(&s[0].ep->fid);
	ok = ok && expect(fi_trecv(s[1].ep, buf, LONG_LEN, NULL, s[1].peer,
				   LONG_MANY - 1, 0, buf), 0) &&
	     failure(&err) && expect(err.err, FI_EHOSTUNREACH) &&
	     expect(err.op_context == buf, true) &&
	     /* teardown() closes an endpoint. */
	     expect(fi_endpoint(s[0].domain, s[0].info, &s[0].ep, NULL), 0);
	teardown();
	free(buf);
	return ok;
}

#define FEW_LEN		4100
#define PER_SENDER	1400	/* of each of two senders: together more than a
				 * domain's operations
				 */

/* Posts more receives at once than a domain has operations. */
static bool crowded(void)
{
	const struct how how = { 0 };
	struct side third;
	struct side *from[2] = { &s[0], &third };
	char got[FEW_LEN];
	fi_addr_t to[2];
	int i, k, done = 0;
	struct fi_cq_tagged_entry e;
	bool ok = true;

	setup(&how);
	open_side(&third, &how, "angara5");
	introduce(&third, &s[1], &to[1]);
	to[0] = s[0].peer;
	for (i = 0; ok && i < PER_SENDER; i++)
		for (k = 0; k < 2; k++)
			while (fi_send(from[k]->ep, mem[0], FEW_LEN, NULL, to[k],
				       NULL) == -FI_EAGAIN) {
				fi_cq_read(s[0].cq, NULL, 0);
				fi_cq_read(s[1].cq, NULL, 0);
				fi_cq_read(third.cq, NULL, 0);
			}
	for (i = 0; ok && i < 2 * PER_SENDER; i++)
		ok = expect(fi_recv(s[1].ep, got, FEW_LEN, NULL, FI_ADDR_UNSPEC,
				    NULL), 0);
	while (ok && done < 2 * PER_SENDER) {
		ssize_t ret = fi_cq_read(s[1].cq, &e, 1);

		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(third.cq, NULL, 0);
		done += ret == 1;
		ok = ret == 1 || expect(ret, -FI_EAGAIN);
	}
	close_side(&third);
	teardown();
	return ok;
}

/* Counts completed sends, with or without an error, until no more complete. */
static int ended(struct side *a)
{
	struct fi_cq_err_entry err;
	struct fi_cq_tagged_entry e;
	int n = 0, idle = 0;

	while (idle++ < 1000) {
		ssize_t ret = fi_cq_read(a->cq, &e, 1);

		fi_cq_read(s[1].cq, NULL, 0);
		if (ret == -FI_EAVAIL)
			ret = fi_cq_readerr(a->cq, &err, 0);
		if (ret == 1)
			idle = 0;
		n += ret == 1;
	}
	return n;
}

/* All sends end when their receiver closes, however many there are. */
static bool deserted(int receives)
{
	const struct how how = { 0 };
	struct side third, *from[2] = { &s[0], &third };
	fi_addr_t to[2];
	int i, k;
	bool ok = true;

	setup(&how);
	open_side(&third, &how, "angara5");
	introduce(&third, &s[1], &to[1]);
	to[0] = s[0].peer;
	for (i = 0; i < PER_SENDER; i++)
		for (k = 0; k < 2; k++)
			while (fi_send(from[k]->ep, mem[0], FEW_LEN, NULL, to[k],
				       NULL) == -FI_EAGAIN) {
				fi_cq_read(s[0].cq, NULL, 0);
				fi_cq_read(s[1].cq, NULL, 0);
				fi_cq_read(third.cq, NULL, 0);
			}
	/* All messages have arrived. */
	for (i = 0; i < 1000; i++)
		fi_cq_read(s[1].cq, NULL, 0);
	for (i = 0; ok && i < receives; i++)
		ok = expect(fi_recv(s[1].ep, mem[1], FEW_LEN, NULL,
				    FI_ADDR_UNSPEC, NULL), 0);
	ok = closed(&s[1].ep->fid) &&
	     expect(fi_endpoint(s[1].domain, s[1].info, &s[1].ep, NULL), 0) &&
	     ok && expect(ended(&s[0]), PER_SENDER) &&
	     expect(ended(&third), PER_SENDER);
	close_side(&third);
	teardown();
	return ok;
}

static bool deserted_all(void)
{
	return deserted(0) && deserted(2 * PER_SENDER);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 8;
}

#define SLOT	6000
#define DEEP	40

/*
 * Tags select messages; receives are posted before the messages, after them,
 * and in another order.
 */
static bool mixed(void)
{
	const struct how how = { .progress = FI_PROGRESS_AUTO,
				 .wait = FI_WAIT_FD };
	uint32_t state = 20261120;
	bool ok = true;
	int round, i;

	setup(&how);
	for (round = 0; ok && round < 25; round++) {
		size_t len[DEEP];
		int done[2] = { 0, 0 };

		for (i = 0; i < DEEP; i++) {
			len[i] = next_random(&state) % SLOT;
			fill(mem[0] + i * SLOT, len[i], next_random(&state));
		}
		for (i = 0; ok && i < 2 * DEEP; i++) {
			int n = i / 2;
			/* Every other round starts with receives. */
			bool send = (i & 1) ^ (round & 1);
			int k = (n * 7 + round) % DEEP;

			ok = expect(when_room(&s[0], send ?
				fi_tsend(s[0].ep, mem[0] + n * SLOT, len[n],
					 NULL, s[0].peer, (uint64_t)n, NULL) :
				fi_trecv(s[1].ep, mem[1] + k * SLOT, SLOT, NULL,
					 s[1].peer, (uint64_t)k, 0, NULL)), 0);
		}
		while (ok && (done[0] < DEEP || done[1] < DEEP)) {
			struct fi_cq_tagged_entry e;
			int side = done[0] == DEEP;

			ok = expect(fi_cq_sread(s[side].cq, &e, 1, NULL,
						LONG_MS), 1);
			done[side]++;
		}
		for (i = 0; ok && i < DEEP; i++)
			ok = expect(memcmp(mem[0] + i * SLOT, mem[1] + i * SLOT,
					   len[i]), 0);
	}
	teardown();
	return ok;
}

#define COPIES	64	/* copies that a domain has room for */
#define COPY	16000	/* bytes of a copy */

static bool send_copies(void)
{
	struct fid_ep *ep;
	uint64_t i;
	bool ok;

	ok = expect(fi_endpoint(s[0].domain, s[0].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &s[0].av->fid, 0), 0) &&
	     expect(fi_ep_bind(ep, &s[0].cq->fid, FI_TRANSMIT | FI_RECV), 0) &&
	     expect(fi_enable(ep), 0);
	for (i = 0; ok && i < COPIES; i++) {
		fill(mem[0], COPY, (unsigned int)i);
		ok = expect(when_room(&s[0], fi_tsend(ep, mem[0], COPY, NULL,
						      s[0].peer, i, NULL)), 0);
	}
	return ok && closed(&ep->fid);
}

static bool receive_copy(uint64_t tag)
{
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	if (!expect(fi_trecv(s[1].ep, mem[1], COPY, NULL, FI_ADDR_UNSPEC, tag, 0,
			     NULL), 0))
		return false;
	do {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, &e, 1);
	} while (ret == -FI_EAGAIN);
	return expect(ret, 1) && filled(mem[1], COPY, (unsigned int)tag);
}

/*
 * The provider keeps the copies of a closed endpoint until they are fetched,
 * then reuses their room: a program may change copied data after the send.
 */
static bool orphans(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	char *other = NULL;
	uint64_t i;
	bool ok;

	setup(&how);
	other = mem[0] + COPY;
	fill(other, COPY, COPIES);
	ok = send_copies() && expect(fi_tsend(s[0].ep, other, COPY, NULL,
					      s[0].peer, COPIES, NULL), 0);
	for (i = 0; ok && i <= COPIES; i++)
		ok = receive_copy(i);
	/*
	 * Wait for the completion, and for all messages that the receiver has
	 * sent before its answer.
	 */
	ok = ok && completion(&s[0], &e) &&
	     expect(fi_trecv(s[0].ep, mem[0], 8, NULL, s[0].peer, 1, 0, mem), 0) &&
	     expect(fi_tinject(s[1].ep, mem[1], 8, s[1].peer, 1), 0) &&
	     completion(&s[0], &e) && expect(e.op_context == mem, true);
	fill(mem[0], COPY, 1);
	ok = ok && expect(fi_tsend(s[0].ep, mem[0], COPY, NULL, s[0].peer, 1,
				   NULL), 0);
	memset(mem[0], 0, COPY);
	ok = ok && receive_copy(1) && completion(&s[0], &e);
	/* Closing does not wait for copies that are never fetched. */
	ok = ok && send_copies();
	teardown();
	return ok;
}

/* An invalid message harms only its sender. */
static bool nonsense(void)
{
	const struct how how = { 0 };
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };
	struct fi_cq_tagged_entry e;
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	uint32_t state = 1;
	struct ep_name name;
	size_t len;
	char *buf;
	bool ok;
	int i, ret;

	setup(&how);
	name = name_of(s[1].ep);
	ok = expect(alone_open("0", &attr, &ctx), 0) &&
	     expect(alone_malloc(ctx, 4096, &mr), 0);
	buf = ok ? angara_mr_addr(mr) : NULL;
	for (i = 0; ok && i < 3000; i++) {
		struct angara_peer peer = { .node = name.node, .ctx = name.ctx };
		struct angara_head head = {
			.size = sizeof(head),
			.tag = next_random(&state),
			.code = (uint16_t)(i % 7),
		};
		size_t j;

		for (j = 0; j < 96; j++)
			buf[j] = (char)(next_random(&state) & (i & 1 ? 1 : 255));
		/* two of three messages are for an existing endpoint */
		if (i % 3)
			memcpy(buf, &name.serial, sizeof(name.serial));
		len = next_random(&state) % 97;
		do {
			ret = angara_send_nbi(ctx, peer, &head, mr, 0, len, NULL);
			fi_cq_read(s[1].cq, NULL, 0);
		} while (ret == -EAGAIN);
		ok = expect(ret, 0);
	}
	angara_ctx_close(ctx);
	/* Any peer may claim that it has written: skip these completions. */
	for (i = 0; ok && i < 5000; i++)
		fi_cq_read(s[1].cq, &e, 1);
	ok = ok && expect(fi_trecv(s[1].ep, mem[1], 4000, NULL, s[1].peer, 9, 0,
				   mem), 0) &&
	     expect(fi_tsend(s[0].ep, mem[0], 4000, NULL, s[0].peer, 9, mem), 0) &&
	     completion(&s[1], &e) && expect(e.op_context == mem, true) &&
	     completion(&s[0], &e);
	teardown();
	return ok;
}

const struct part load_parts[] = {
	{ "load: many to one", overload },
	{ "load: receivers that leave", left },
	{ "load: a receiver that leaves many senders", deserted_all },
	{ "load: senders that leave", farewell },
	{ "load: 1000 random messages", mixed },
	{ "load: more long messages than keys", keyless },
	{ "load: more receives than operations", crowded },
	{ "load: copies of a closed endpoint", orphans },
	{ "load: invalid messages", nonsense },
	{ 0 },
};
