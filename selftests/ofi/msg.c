// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sending and receiving.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fi.h"

#define MEM	(1U << 20)
#define TAG	0x1234567890ULL

/* Sizes around the longest message that is sent with its data. */
static const size_t sizes[] = { 0, 1, 256, 4064, 4065, 16385, 300000, MEM };

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

/* Takes a completion of each side, while both make progress. */
static bool both(struct fi_cq_tagged_entry e[2])
{
	bool have[2] = { false, false };
	long i;

	for (i = 0; !(have[0] && have[1]) && i < 200000000; i++) {
		int side = (int)(i & 1);
		ssize_t ret = have[side] ? fi_cq_read(s[side].cq, NULL, 0) :
					   fi_cq_read(s[side].cq, &e[side], 1);

		if (!have[side] && ret != -FI_EAGAIN && !expect(ret, 1))
			return false;
		have[side] |= ret == 1;
	}
	return expect(have[0] && have[1], true);
}

/* Takes the receiver's completion, while the sender makes progress. */
static bool arrives(struct fi_cq_tagged_entry *e)
{
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 200000000; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, e, 1);
	}
	return expect(ret, 1);
}

static bool check(const struct fi_cq_tagged_entry e[2], uint64_t kind,
		  size_t len, uint64_t data, void *from, void *to)
{
	uint64_t flags = FI_RECV | kind | (data ? FI_REMOTE_CQ_DATA : 0);

	return expect(e[0].op_context == from, true) &&
	       expect((long long)e[0].flags, (long long)(FI_SEND | kind)) &&
	       expect(e[1].op_context == to, true) &&
	       expect((long long)e[1].flags, (long long)flags) &&
	       expect((long long)e[1].len, (long long)len) &&
	       expect((long long)e[1].data, (long long)data) &&
	       expect(kind == FI_MSG || e[1].tag == TAG, true);
}

static ssize_t receive(size_t len, bool tagged, void *context)
{
	if (tagged)
		return fi_trecv(s[1].ep, mem[1], len, NULL, FI_ADDR_UNSPEC, TAG,
				0, context);
	return fi_recv(s[1].ep, mem[1], len, NULL, s[1].peer, context);
}

static ssize_t transmit(size_t len, bool tagged, uint64_t data, void *context)
{
	if (tagged && data)
		return fi_tsenddata(s[0].ep, mem[0], len, NULL, data, s[0].peer,
				    TAG, context);
	if (tagged)
		return fi_tsend(s[0].ep, mem[0], len, NULL, s[0].peer, TAG,
				context);
	if (data)
		return fi_senddata(s[0].ep, mem[0], len, NULL, data, s[0].peer,
				   context);
	return fi_send(s[0].ep, mem[0], len, NULL, s[0].peer, context);
}

/* Sends one message; the receive is posted before it, or after it if @late. */
static bool one(size_t len, bool tagged, bool late, uint64_t data)
{
	struct fi_cq_tagged_entry e[2];
	int a, b, i;
	bool ok;

	fill(mem[0], len, (unsigned int)len + late);
	memset(mem[1], 0, MEM);
	ok = (late || expect(receive(len, tagged, &b), 0)) &&
	     expect(transmit(len, tagged, data, &a), 0);
	/* Let the message arrive first, so that the provider keeps it. */
	for (i = 0; late && i < 100; i++)
		fi_cq_read(s[i & 1].cq, NULL, 0);
	return ok && (!late || expect(receive(len, tagged, &b), 0)) && both(e) &&
	       check(e, tagged ? FI_TAGGED : FI_MSG, len, data, &a, &b) &&
	       filled(mem[1], len, (unsigned int)len + late);
}

static bool all_ways(void)
{
	const struct how how = { 0 };
	bool ok = true;
	size_t i;
	int way;

	setup(&how);
	for (i = 0; ok && i < sizeof(sizes) / sizeof(*sizes); i++)
		for (way = 0; ok && way < 8; way++)
			ok = one(sizes[i], way & 1, way & 2, way & 4 ? 77 : 0);
	ok = ok && expect(fi_cntr_read(s[0].cntr), (long long)i * 8) &&
	     nothing(&s[0]) && nothing(&s[1]);
	teardown();
	return ok;
}

/* Messages longer than the receive: only the receiver gets an error. */
static bool truncated(void)
{
	static const size_t lens[] = { 100, 100000 };
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err;
	bool ok = true;
	size_t i, room;

	setup(&how);
	for (i = 0; ok && i < 4; i++) {
		ssize_t ret = -FI_EAGAIN;

		room = i & 2 ? 0 : 40;
		memset(mem[1], 0, 200);
		fill(mem[0], lens[i & 1], 3);
		memset(&err, 0, sizeof(err));
		ok = expect(receive(room, true, mem), 0) &&
		     expect(transmit(lens[i & 1], true, 0, &e), 0);
		while (ok && ret == -FI_EAGAIN)
			ret = fi_cq_read(s[1].cq, &e, 1);
		ok = ok && expect(ret, -FI_EAVAIL) &&
		     expect(fi_cq_readerr(s[1].cq, &err, 0), 1) &&
		     expect(err.err, FI_ETRUNC) &&
		     expect((long long)err.len, (long long)room) &&
		     expect((long long)err.olen,
			    (long long)(lens[i & 1] - room)) &&
		     expect(err.op_context == mem, true) &&
		     filled(mem[1], room, 3) && expect(mem[1][room], 0) &&
		     completion(&s[0], &e);
	}
	teardown();
	return ok;
}

/*
 * A truncated message whose data cannot be fetched has not arrived: both sides
 * get the error of the fetch.
 */
static bool unfetched(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = -FI_EAGAIN;
	bool ok;
	int a;

	setup(&how);
	ok = expect(fi_recv(s[1].ep, (void *)4096, 1 << 18, NULL, s[1].peer, &err),
		    0) &&
	     expect(transmit(300000, false, 0, &a), 0);
	while (ok && ret == -FI_EAGAIN) {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, &e, 1);
	}
	ok = ok && expect(ret, -FI_EAVAIL) &&
	     expect(fi_cq_readerr(s[1].cq, &err, 0), 1) &&
	     expect(err.err, FI_EFAULT) && expect(err.op_context == &err, true) &&
	     expect((long long)err.len, 0) && expect((long long)err.olen, 0) &&
	     error(&s[0], FI_EFAULT, &a) && nothing(&s[1]);
	teardown();
	return ok;
}

/* Sends and receives data in pieces; too many pieces are refused. */
static bool pieces(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[2];
	struct iovec from[5], to[4];
	bool ok = true;
	int round;

	setup(&how);
	for (round = 0; ok && round < 2; round++) {
		size_t unit = round ? 30000 : 300;
		int i;

		for (i = 0; i < 4; i++) {
			from[i].iov_base = mem[0] + i * 2 * unit;
			from[i].iov_len = i == 1 ? 0 : unit + (size_t)i;
			to[i].iov_base = mem[1] + i * 2 * unit;
			to[i].iov_len = i == 2 ? 0 : unit + 7 - (size_t)i;
		}
		from[4] = from[0];
		fill(mem[0], MEM, (unsigned int)round);
		ok = expect(fi_trecvv(s[1].ep, to, NULL, 4, s[1].peer, TAG, 0,
				      to), 0) &&
		     expect(fi_tsendv(s[0].ep, from, NULL, 5, s[0].peer, TAG,
				      from), -FI_EINVAL) &&
		     expect(fi_tsendv(s[0].ep, from, NULL, 4, s[0].peer, TAG,
				      from), 0) && both(e) &&
		     expect((long long)e[1].len, (long long)(3 * unit + 5)) &&
		     expect(memcmp(mem[1], mem[0], unit), 0) &&
		     expect(memcmp(mem[1] + unit, mem[0] + 4 * unit, 7), 0) &&
		     expect(memcmp(mem[1] + 2 * unit, mem[0] + 4 * unit + 7,
				   unit - 5), 0);
	}
	teardown();
	return ok;
}

static bool inject(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	char buf[257];
	unsigned int i;
	bool ok = true;

	setup(&how);
	for (i = 0; ok && i < 100; i++) {
		memset(buf, (int)i, sizeof(buf));
		ok = expect(when_room(&s[0], fi_tinject(s[0].ep, buf, 256,
							s[0].peer, i)), 0) &&
		     expect(when_room(&s[0], fi_injectdata(s[0].ep, buf, i,
							   500 + i, s[0].peer)),
			    0);
		memset(buf, 0xFF, sizeof(buf));
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(s[1].cq, NULL, 0);
	}
	for (i = 0; ok && i < 100; i++)
		ok = expect(fi_trecv(s[1].ep, mem[1], 256, NULL, s[1].peer, i, 0,
				     mem), 0) &&
		     arrives(&e) && expect(mem[1][255], (int)i) &&
		     expect(fi_recv(s[1].ep, mem[1], 256, NULL, s[1].peer, mem),
			    0) &&
		     arrives(&e) && expect((long long)e.len, i) &&
		     expect((long long)e.data, 500 + i);
	ok = ok && nothing(&s[0]) &&
	     expect(fi_inject(s[0].ep, buf, 257, s[0].peer), -FI_EMSGSIZE);
	teardown();
	return ok;
}

/*
 * A receive selects messages by their source, and by the relevant bits of the
 * tag.
 */
static bool matching(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[2];
	fi_addr_t src = 0;
	int a, b, c;
	bool ok;

	setup(&how);
	ok = expect(fi_trecv(s[1].ep, mem[1], 8, NULL, s[1].self, 5, 0, &a), 0) &&
	     expect(fi_trecv(s[1].ep, mem[1] + 8, 8, NULL, s[1].peer, 0x500,
			     0xFF, &b), 0) &&
	     expect(fi_trecv(s[1].ep, mem[1] + 16, 8, NULL, FI_ADDR_UNSPEC, 0,
			     ~0ULL, &c), 0) &&
	     /*
	      * the message is not from the source of the first receive, so the
	      * last receive takes it
	      */
	     expect(fi_tsend(s[0].ep, "one", 4, NULL, s[0].peer, 5, &a), 0) &&
	     both(e) && expect(e[1].op_context == &c, true) &&
	     expect((long long)e[1].tag, 5) &&
	     expect(fi_tsend(s[0].ep, "two", 4, NULL, s[0].peer, 0x577, &a), 0) &&
	     both(e) && expect(e[1].op_context == &b, true) &&
	     expect((long long)e[1].tag, 0x577) &&
	     expect(strcmp(mem[1] + 8, "two"), 0) &&
	     /* an endpoint sends a message to itself */
	     expect(fi_tinject(s[1].ep, "own", 4, s[1].self, 5), 0) &&
	     arrives(&e[1]) && expect(e[1].op_context == &a, true) &&
	     expect(strcmp(mem[1], "own"), 0);
	ok = ok && expect(fi_tinject(s[0].ep, "src", 4, s[0].peer, 9), 0) &&
	     expect(fi_trecv(s[1].ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, 9, 0, &a),
		    0);
	while (ok && fi_cq_readfrom(s[1].cq, e, 1, &src) == -FI_EAGAIN)
		fi_cq_read(s[0].cq, NULL, 0);
	ok = ok && expect((long long)src, (long long)s[1].peer) &&
	     expect(fi_trecv(s[1].ep, mem[1], 8, NULL, 999, 9, 0, &a),
		    -FI_EINVAL);
	teardown();
	return ok;
}

static size_t nth_len(unsigned int i)
{
	return sizeof(i) + (i % 3 == 2 ? 5000 : i % 7);
}

/* Short and long messages arrive in order, each in its receive. */
static bool order(void)
{
	enum { N = 120 };
	const struct how how = { .cq_size = 16 };
	struct fi_cq_tagged_entry e;
	char *from = calloc(N, 5100), *to = calloc(N, 5100);
	unsigned int i, sent = 0, got = 0;
	bool ok = true;

	setup(&how);
	for (i = 0; ok && i < N / 2; i++)
		ok = expect(fi_recv(s[1].ep, to + i * 5100, 5100, NULL,
				    s[1].peer, to + i * 5100), 0);
	for (i = 0; ok && i < N; i++) {
		memcpy(from + i * 5100, &i, sizeof(i));
		ok = expect(when_room(&s[0], fi_send(s[0].ep, from + i * 5100,
						     nth_len(i), NULL,
						     s[0].peer, NULL)), 0);
	}
	for (i = N / 2; ok && i < N; i++)
		ok = expect(fi_recv(s[1].ep, to + i * 5100, 5100, NULL,
				    FI_ADDR_UNSPEC, to + i * 5100), 0);
	while (ok && (sent < N || got < N)) {
		ssize_t ret = fi_cq_read(s[0].cq, &e, 1);

		ok = ret == -FI_EAGAIN || expect(ret, 1);
		sent += ret == 1;
		ret = fi_cq_read(s[1].cq, &e, 1);
		ok = ok && (ret == -FI_EAGAIN || expect(ret, 1));
		got += ret == 1;
	}
	for (i = 0; ok && i < N; i++)
		ok = expect(memcmp(to + i * 5100, &i, sizeof(i)), 0);
	teardown();
	free(from);
	free(to);
	return ok;
}

static bool cancelled(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[2];
	int a, b;
	bool ok;

	setup(&how);
	ok = expect(receive(8, true, &a), 0) && expect(receive(8, false, &b), 0) &&
	     expect(fi_cancel(&s[1].ep->fid, &a), 0) &&
	     error(&s[1], FI_ECANCELED, &a) &&
	     expect(fi_cancel(&s[1].ep->fid, &a), -FI_ENOENT) &&
	     expect(transmit(8, true, 0, &a), 0) && completion(&s[0], &e[0]) &&
	     nothing(&s[1]) && expect(receive(8, true, &a), 0) &&
	     arrives(&e[1]) && expect(e[1].op_context == &a, true) &&
	     expect(transmit(8, false, 0, &a), 0) && both(e) &&
	     expect(e[1].op_context == &b, true);
	teardown();
	return ok;
}

static ssize_t peek_at(struct fid_ep *ep, uint64_t flags, void *context)
{
	struct iovec iov = { mem[1], MEM };
	const struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = FI_ADDR_UNSPEC,
		.tag = TAG,
		.context = context,
	};

	return fi_trecvmsg(ep, &msg, flags);
}

static ssize_t peek(uint64_t flags, void *context)
{
	return peek_at(s[1].ep, flags, context);
}

/* Polls until the message has arrived. */
static bool found(uint64_t flags, void *context, size_t len)
{
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err = { 0 };
	int i;

	for (i = 0; i < 100000; i++) {
		ssize_t ret;

		fi_cq_read(s[0].cq, NULL, 0);
		if (!expect(peek(FI_PEEK | flags, context), 0))
			return false;
		ret = fi_cq_read(s[1].cq, &e, 1);
		if (ret == 1)
			return expect((long long)e.len, (long long)len) &&
			       expect(e.op_context == context, true) &&
			       expect(e.tag == TAG, true);
		if (!expect(ret, -FI_EAVAIL) ||
		    !expect(fi_cq_readerr(s[1].cq, &err, 0), 1) ||
		    !expect(err.err, FI_ENOMSG))
			return false;
	}
	return false;
}

static bool peeking(void)
{
	static const size_t lens[] = { 50, 50000 };
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct fi_context ctx;
	bool ok = true;
	int i, a;

	setup(&how);
	ok = expect(peek(FI_PEEK, &ctx), 0) && error(&s[1], FI_ENOMSG, &ctx) &&
	     expect(peek(FI_CLAIM, &ctx), -FI_EINVAL);
	for (i = 0; ok && i < 2; i++) {
		/* the message is peeked at, claimed, and received */
		fill(mem[0], lens[i], 4);
		memset(mem[1], 0, lens[i]);
		ok = expect(transmit(lens[i], true, 0, &a), 0) &&
		     found(0, &a, lens[i]) && found(FI_CLAIM, &ctx, lens[i]) &&
		     expect(peek(FI_PEEK, &a), 0) &&
		     error(&s[1], FI_ENOMSG, &a) &&
		     expect(peek(FI_CLAIM, &ctx), 0) && arrives(&e) &&
		     expect((long long)e.len, (long long)lens[i]) &&
		     filled(mem[1], lens[i], 4) && completion(&s[0], &e);
		/*
		 * one message is claimed, then discarded; another one is
		 * discarded at once
		 */
		ok = ok && expect(transmit(lens[i], true, 0, &a), 0) &&
		     found(FI_CLAIM, &ctx, lens[i]) &&
		     expect(peek(FI_CLAIM | FI_DISCARD, &ctx), 0) &&
		     arrives(&e) && completion(&s[0], &e) &&
		     expect(transmit(lens[i], true, 0, &a), 0) &&
		     found(FI_DISCARD, &a, lens[i]) && completion(&s[0], &e) &&
		     expect(peek(FI_PEEK, &a), 0) &&
		     error(&s[1], FI_ENOMSG, &a);
	}
	teardown();
	return ok;
}

/*
 * A counter, with or without a queue, counts a cancelled receive as an error;
 * it does not count a peek that finds nothing.
 */
static bool counted(void)
{
	const struct how how = { 0 };
	struct fid_cntr *cntr;
	struct fi_context ctx;
	struct fid_ep *ep;
	bool ok = true;
	int i;

	setup(&how);
	for (i = 0; ok && i < 2; i++) {
		ok = expect(fi_cntr_open(s[1].domain, NULL, &cntr, NULL), 0) &&
		     expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
		     expect(fi_ep_bind(ep, &s[1].av->fid, 0), 0) &&
		     expect(fi_ep_bind(ep, &cntr->fid, FI_RECV), 0) &&
		     (!i || expect(fi_ep_bind(ep, &s[1].cq->fid, FI_RECV), 0)) &&
		     expect(fi_enable(ep), 0) &&
		     expect(fi_recv(ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, &ctx),
			    0) &&
		     expect(fi_cancel(&ep->fid, &ctx), 0) &&
		     (!i || error(&s[1], FI_ECANCELED, &ctx)) &&
		     expect((long long)fi_cntr_readerr(cntr), 1) &&
		     expect(peek_at(ep, FI_PEEK, &ctx), 0) &&
		     (!i || error(&s[1], FI_ENOMSG, &ctx)) &&
		     expect((long long)fi_cntr_readerr(cntr), 1) &&
		     expect((long long)fi_cntr_read(cntr), 0) &&
		     closed(&ep->fid) && closed(&cntr->fid);
	}
	teardown();
	return ok;
}

static ssize_t deliver(fi_addr_t to, size_t len, bool tagged, void *context)
{
	const struct iovec iov = { mem[0], len };
	const struct fi_msg_tagged t = { .msg_iov = &iov, .iov_count = 1,
					 .addr = to, .tag = TAG,
					 .context = context };
	const struct fi_msg m = { .msg_iov = &iov, .iov_count = 1, .addr = to,
				  .context = context };

	return tagged ? fi_tsendmsg(s[0].ep, &t, FI_DELIVERY_COMPLETE) :
			fi_sendmsg(s[0].ep, &m, FI_DELIVERY_COMPLETE);
}

/* Takes the sender's completion, while the receiver makes progress. */
static ssize_t ends(struct fi_cq_tagged_entry *e)
{
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 200000000; i++) {
		fi_cq_read(s[1].cq, NULL, 0);
		ret = fi_cq_read(s[0].cq, e, 1);
	}
	return ret;
}

/* The endpoint of the address is closed, so the send fails. */
static bool undelivered(fi_addr_t to, size_t len, bool tagged)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;

	return expect(deliver(to, len, tagged, &err), 0) &&
	       expect(ends(&e), -FI_EAVAIL) &&
	       expect(fi_cq_readerr(s[0].cq, &err, 0), 1) &&
	       expect(err.err, FI_EHOSTUNREACH) &&
	       expect(err.op_context == &err, true);
}

/*
 * FI_DELIVERY_COMPLETE: a send completes when the peer's endpoint has the
 * message, in a receive or kept for one; it fails if that endpoint is closed.
 */
static bool delivered(void)
{
	static const size_t lens[] = { 0, 8, 4064, 4065 };
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[2];
	struct fid_ep *gone;
	struct ep_name name;
	fi_addr_t to;
	size_t i;
	int a, b;
	bool ok;

	setup(&how);
	ok = expect(fi_endpoint(s[1].domain, s[1].info, &gone, NULL), 0);
	name = name_of(gone);
	to = insert(s[0].av, &name);
	ok = closed(&gone->fid) && ok;
	for (i = 0; ok && i < sizeof(lens) / sizeof(*lens); i++) {
		bool tagged = i & 1;
		size_t len = lens[i];

		fill(mem[0], len, (unsigned int)i);
		ok = undelivered(to, len, tagged) &&
		     /* the receive is posted in time */
		     expect(receive(len, tagged, &b), 0) &&
		     expect(deliver(s[0].peer, len, tagged, &a), 0) &&
		     both(e) && check(e, tagged ? FI_TAGGED : FI_MSG, len, 0,
				      &a, &b) &&
		     filled(mem[1], len, (unsigned int)i);
	}
	/*
	 * The send completes before the receive is posted, when the peer
	 * polls.
	 */
	for (i = 0; ok && i < 100; i++)
		ok = (i || expect(deliver(s[0].peer, 8, true, &a), 0)) &&
		     nothing(&s[0]);
	ok = ok && expect(ends(&e[0]), 1) && expect(e[0].op_context == &a, true) &&
	     expect(receive(8, true, &b), 0) && arrives(&e[1]) &&
	     expect(e[1].op_context == &b, true) && nothing(&s[0]);
	/* Closing the sender does not wait for the delivery. */
	ok = ok && expect(deliver(s[0].peer, 8, false, &a), 0);
	teardown();
	return ok;
}

/* A buffer for several messages is released with its last message. */
static bool multi(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct iovec iov = { 0 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &msg,
			      .addr = FI_ADDR_UNSPEC };
	size_t min = 3000, len = sizeof(min), at = 0;
	unsigned int i, n = 0;
	bool last = false, ok;

	setup(&how);
	iov = (struct iovec){ mem[1], 20000 };
	ok = expect(fi_setopt(&s[1].ep->fid, FI_OPT_ENDPOINT,
			      FI_OPT_MIN_MULTI_RECV, &min, len), 0) &&
	     expect(fi_recvmsg(s[1].ep, &msg, FI_MULTI_RECV), 0);
	/* six messages of 300 and 6000 bytes leave less than 3000 */
	for (i = 0; ok && i < 7; i++) {
		memset(mem[0] + i * 6000, (int)i + 1, 6000);
		ok = expect(fi_send(s[0].ep, mem[0] + i * 6000,
				    i & 1 ? 6000 : 300, NULL, s[0].peer, NULL),
			    0);
	}
	while (ok && !last) {
		fi_cq_read(s[0].cq, &e, 1);
		if (fi_cq_read(s[1].cq, &e, 1) != 1)
			continue;
		ok = expect(e.op_context == &msg, true) &&
		     expect((char *)e.buf >= mem[1] &&
			    (char *)e.buf + e.len <= mem[1] + 20000, true);
		at += e.len;
		n++;
		last = e.flags & FI_MULTI_RECV;
	}
	ok = ok && expect(n, 6) && expect((long long)at, 3 * 6300);
	for (i = 0, at = 0; ok && i < 6; i++) {
		ok = expect(mem[1][at], (int)i + 1);
		at += i & 1 ? 6000 : 300;
	}
	/* The seventh message waits for another buffer. */
	ok = ok && expect(receive(400, false, &i), 0) && arrives(&e) &&
	     expect(e.op_context == &i, true) && expect(mem[1][0], 7);
	teardown();
	return ok;
}

/* A buffer that may be filled to its last byte is released when it is full. */
static bool multi_full(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[2];
	struct iovec iov = { 0 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &msg,
			      .addr = FI_ADDR_UNSPEC };
	size_t min = 0;
	bool ok;
	int a;

	setup(&how);
	iov = (struct iovec){ mem[1], 300 };
	fill(mem[0], 300, 4);
	ok = expect(fi_setopt(&s[1].ep->fid, FI_OPT_ENDPOINT,
			      FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)), 0) &&
	     expect(fi_recvmsg(s[1].ep, &msg, FI_MULTI_RECV |
			       FI_TRANSMIT_COMPLETE), 0) &&
	     expect(receive(400, false, &a), 0) &&
	     expect(transmit(300, false, 0, NULL), 0) && both(e) &&
	     expect((long long)e[1].flags, FI_MSG | FI_RECV | FI_MULTI_RECV) &&
	     expect(e[1].op_context == &msg, true) &&
	     expect(transmit(200, false, 0, NULL), 0) && both(e) &&
	     check(e, FI_MSG, 200, 0, NULL, &a);
	teardown();
	return ok;
}

/* Cancels a buffer for several messages while the data of a long message is in flight. */
static bool in_flight(const struct fi_msg *msg)
{
	bool ok = expect(fi_recvmsg(s[1].ep, msg, FI_MULTI_RECV), 0) &&
		  expect(transmit(50000, false, 0, mem), 0);
	int i;

	harvest_stuck = true;
	for (i = 0; ok && i < 1000; i++)
		fi_cq_read(s[i & 1].cq, NULL, 0);
	return ok && expect(fi_cancel(&s[1].ep->fid, msg->context), 0) &&
	       expect(fi_cancel(&s[1].ep->fid, msg->context), -FI_ENOENT) &&
	       nothing(&s[1]);
}

/*
 * The end of a cancelled buffer is reported once, after the data that was in flight.
 * It is not reported if the endpoint is closed earlier.
 */
static bool withdrawn(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct iovec iov = { .iov_len = MEM };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .context = &msg,
			      .addr = FI_ADDR_UNSPEC };
	bool ok;
	int a;

	setup(&how);
	fill(mem[0], 50000, 6);
	iov.iov_base = mem[1];
	ok = in_flight(&msg);
	harvest_stuck = false;
	ok = ok && arrives(&e) && expect(e.op_context == &msg, true) &&
	     expect((long long)e.flags, FI_RECV | FI_MSG) &&
	     expect((long long)e.len, 50000) && filled(mem[1], 50000, 6) &&
	     error(&s[1], FI_ECANCELED, &msg) && completion(&s[0], &e) &&
	     nothing(&s[0]) && nothing(&s[1]);
	/* The next message takes another receive. */
	ok = ok && expect(receive(8, false, &a), 0) &&
	     expect(transmit(8, false, 0, &a), 0) && arrives(&e) &&
	     expect(e.op_context == &a, true) && completion(&s[0], &e) &&
	     in_flight(&msg) && closed(&s[1].ep->fid) &&
	     expect(fi_endpoint(s[1].domain, s[1].info, &s[1].ep, NULL), 0);
	harvest_stuck = false;
	ok = ok && nothing(&s[1]);
	teardown();
	return ok;
}

/* A write with immediate data completes at the target when the data has arrived. */
static bool written(void)
{
	const struct how how = { .selective = false };
	struct fi_cq_tagged_entry e[2];
	struct fid_mr *mr;
	int a;
	bool ok;

	setup(&how);
	mr = reg(&s[1], mem[1], MEM, FI_REMOTE_WRITE, 3);
	fill(mem[0], 50000, 8);
	ok = expect(fi_writedata(s[0].ep, mem[0], 50000, NULL, 4711, s[0].peer,
				 start_of(&s[1], mem[1]), fi_mr_key(mr), &a),
		    0) && both(e) &&
	     expect((long long)e[1].flags,
		    FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA) &&
	     expect((long long)e[1].data, 4711) && filled(mem[1], 50000, 8) &&
	     expect(e[0].op_context == &a, true) &&
	     expect(fi_inject_writedata(s[0].ep, "abc", 4, 12, s[0].peer,
					start_of(&s[1], mem[1]), fi_mr_key(mr)),
		    0) && arrives(&e[1]) &&
	     expect((long long)e[1].data, 12) && expect(strcmp(mem[1], "abc"), 0) &&
	     nothing(&s[0]);
	/* A failed write causes no completion at the target. */
	ok = ok && expect(fi_writedata(s[0].ep, mem[0], 8, NULL, 1, s[0].peer, 0,
				       fi_mr_key(mr) + 1, &a), 0) &&
	     error(&s[0], FI_ENOKEY, &a) && nothing(&s[1]);
	closed(&mr->fid);
	teardown();
	return ok;
}

const struct part msg_parts[] = {
	{ "msg: all sizes, in time and late", all_ways },
	{ "msg: truncated", truncated },
	{ "msg: truncated, and not fetched", unfetched },
	{ "msg: memory in pieces", pieces },
	{ "msg: inject", inject },
	{ "msg: selection of a receive", matching },
	{ "msg: order", order },
	{ "msg: cancelled receives", cancelled },
	{ "msg: peek, claim, discard", peeking },
	{ "msg: counters of cancelled receives", counted },
	{ "msg: FI_DELIVERY_COMPLETE", delivered },
	{ "msg: buffers for several messages", multi },
	{ "msg: buffers for several messages, filled up", multi_full },
	{ "msg: cancelled buffers for several messages", withdrawn },
	{ "msg: writes with immediate data", written },
	{ 0 },
};
