// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Transmit and receive contexts that several endpoints share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/angara.h>

#include "../common/alone.h"
#include "fi.h"

#define EPS	3	/* number of endpoints that share */
#define MEM	(1U << 17)
#define TAG	0x55ULL

/**
 * struct sharer - an endpoint bound to shared contexts
 * @ep: endpoint
 * @cq: its completions
 * @cntr: counter of its receives
 * @addr: its address at the other side
 */
struct sharer {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	fi_addr_t addr;
};

static const struct how how;
static struct side s[2];	/* s[1] has the endpoints that share */
static char *mem[2];
static struct fid_stx *stx;
static struct fid_ep *srx;
static struct fid_cq *own_cq;	/* completion queue of the receive context, or NULL */
static struct sharer e[EPS];

static bool open_sharer(struct sharer *p, uint64_t selective)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct ep_name name;
	bool ok;

	s[1].info->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	s[1].info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	ok = expect(fi_endpoint(s[1].domain, s[1].info, &p->ep, NULL), 0) &&
	     expect(fi_cq_open(s[1].domain, &cq, &p->cq, NULL), 0) &&
	     expect(fi_cntr_open(s[1].domain, NULL, &p->cntr, NULL), 0) &&
	     expect(fi_ep_bind(p->ep, &s[1].av->fid, 0), 0) &&
	     expect(fi_ep_bind(p->ep, &p->cq->fid,
			       FI_TRANSMIT | FI_RECV | selective), 0) &&
	     expect(fi_ep_bind(p->ep, &p->cntr->fid, FI_RECV), 0) &&
	     /*
	      * Enabling fails while both contexts are missing, then while one
	      * is.
	      */
	     expect(fi_enable(p->ep), -FI_EOPBADSTATE) &&
	     expect(fi_ep_bind(p->ep, &stx->fid, 0), 0) &&
	     expect(fi_ep_bind(p->ep, &stx->fid, 0), -FI_EINVAL) &&
	     expect(fi_enable(p->ep), -FI_EOPBADSTATE) &&
	     expect(fi_ep_bind(p->ep, &srx->fid, 0), 0) &&
	     expect(fi_ep_bind(p->ep, &srx->fid, 0), -FI_EINVAL) &&
	     expect(fi_enable(p->ep), 0);
	name = name_of(p->ep);
	p->addr = insert(s[0].av, &name);
	return ok;
}

static bool close_sharer(struct sharer *p)
{
	return closed(&p->ep->fid) && closed(&p->cq->fid) &&
	       closed(&p->cntr->fid);
}

static bool setup(size_t tx_size, uint64_t selective)
{
	struct fi_tx_attr tx = { .size = tx_size };
	bool ok;
	int i;

	open_pair_mem(s, &how, mem, MEM);
	ok = expect(fi_stx_context(s[1].domain, &tx, &stx, NULL), 0) &&
	     expect(fi_srx_context(s[1].domain, NULL, &srx, NULL), 0);
	for (i = 0; ok && i < EPS; i++)
		ok = open_sharer(&e[i], selective);
	return ok;
}

static bool teardown(void)
{
	bool ok = true;
	int i;

	ok = expect(fi_close(&srx->fid), -FI_EBUSY) &&
	     expect(fi_close(&stx->fid), -FI_EBUSY);
	for (i = 0; i < EPS; i++)
		ok = (!e[i].ep || close_sharer(&e[i])) && ok;
	ok = closed(&srx->fid) && closed(&stx->fid) &&
	     (!own_cq || closed(&own_cq->fid)) && ok;
	own_cq = NULL;
	close_pair_mem(s, mem);
	return ok;
}

/* Takes the next completion of a queue, while both sides make progress. */
static ssize_t next(struct fid_cq *cq, struct fi_cq_tagged_entry *entry)
{
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 200000000; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(cq, entry, 1);
	}
	return ret;
}

/* Sends one message; the endpoint that gets it reports the receive. */
static bool one(int to, size_t len, bool late)
{
	struct fi_cq_tagged_entry entry;
	int other = (to + 1) % EPS, i;
	bool ok = true;

	fill(mem[0], len, (unsigned int)(len + (size_t)to));
	memset(mem[1], 0, len);
	if (!late)
		ok = expect(fi_trecv(srx, mem[1], MEM, NULL, FI_ADDR_UNSPEC, TAG,
				     0, &e[to]), 0);
	ok = ok && expect(fi_tsend(s[0].ep, mem[0], len, NULL, e[to].addr, TAG,
				   mem), 0);
	for (i = 0; late && i < 100; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(e[to].cq, NULL, 0);
	}
	if (late)
		ok = ok && expect(fi_trecv(srx, mem[1], MEM, NULL,
					   FI_ADDR_UNSPEC, TAG, 0, &e[to]), 0);
	return ok && expect(next(e[to].cq, &entry), 1) &&
	       expect(entry.op_context == &e[to], true) &&
	       expect((long long)entry.len, (long long)len) &&
	       filled(mem[1], len, (unsigned int)(len + (size_t)to)) &&
	       expect(next(s[0].cq, &entry), 1) &&
	       expect(fi_cq_read(e[other].cq, &entry, 1), -FI_EAGAIN);
}

static bool receives(void)
{
	static const size_t lens[] = { 0, 8, 4064, 4065, MEM };
	size_t i, n = sizeof(lens) / sizeof(*lens);
	bool ok = setup(0, 0);
	int to;

	for (to = 0; ok && to < EPS; to++) {
		for (i = 0; ok && i < n; i++)
			ok = one(to, lens[i], false) && one(to, lens[i], true);
		ok = ok && expect((long long)fi_cntr_read(e[to].cntr),
				  2 * (long long)n);
	}
	return teardown() && ok;
}

/* Buffers for several messages receive from all endpoints. */
static bool several(void)
{
	struct iovec iov = { .iov_len = 1000 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1,
			      .addr = FI_ADDR_UNSPEC, .context = &msg };
	struct fi_cq_tagged_entry entry;
	bool ok = setup(0, 0);
	int i;

	iov.iov_base = mem[1];
	ok = ok && expect(fi_recvmsg(srx, &msg, FI_MULTI_RECV), 0);
	for (i = 0; ok && i < EPS; i++) {
		memset(mem[0], i + 1, 300);
		ok = expect(fi_inject(s[0].ep, mem[0], 256, e[i].addr), 0) &&
		     expect(next(e[i].cq, &entry), 1) &&
		     expect((char *)entry.buf - mem[1], i * 256) &&
		     expect(mem[1][i * 256], i + 1);
	}
	return teardown() && ok;
}

/*
 * Closing an endpoint ends its messages; the receives stay for other endpoints.  Only
 * a queue of the shared context itself reports a cancelled receive.
 */
static bool closing(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry entry;
	bool ok = setup(0, 0);
	int i;

	/* Send two unexpected messages, one to each of two endpoints. */
	memset(mem[0], 1, MEM);
	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_tsend(s[0].ep, mem[0], MEM, NULL, e[i].addr, TAG,
				     &e[i]), 0);
	for (i = 0; i < 300; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(e[2].cq, NULL, 0);
	}
	ok = ok && close_sharer(&e[0]);
	e[0].ep = NULL;
	ok = ok && expect(fi_trecv(srx, mem[1], MEM, NULL, FI_ADDR_UNSPEC, TAG, 0,
				   mem), 0) &&
	     expect(next(e[1].cq, &entry), 1);
	/* In any order: one message is received, the other one fails. */
	for (i = 0; ok && i < 2; i++) {
		ssize_t ret = next(s[0].cq, &entry);

		if (ret == 1)
			ok = expect(entry.op_context == &e[1], true);
		else
			ok = expect(ret, -FI_EAVAIL) &&
			     expect(fi_cq_readerr(s[0].cq, &err, 0), 1) &&
			     expect(err.err, FI_EHOSTUNREACH) &&
			     expect(err.op_context == &e[0], true);
	}
	ok = ok && expect(err.err, FI_EHOSTUNREACH) &&
	     expect(fi_recv(srx, mem[1], 8, NULL, FI_ADDR_UNSPEC, &ok), 0) &&
	     expect(fi_cancel(&srx->fid, &ok), 0) &&
	     expect(fi_cancel(&srx->fid, &ok), -FI_ENOENT) &&
	     expect(fi_cq_open(s[1].domain, &attr, &own_cq, NULL), 0) &&
	     expect(fi_ep_bind(srx, &own_cq->fid, FI_RECV), 0) &&
	     expect(fi_recv(srx, mem[1], 8, NULL, FI_ADDR_UNSPEC, &ok), 0) &&
	     expect(fi_cancel(&srx->fid, &ok), 0) &&
	     expect(next(own_cq, &entry), -FI_EAVAIL) &&
	     expect(fi_cq_readerr(own_cq, &err, 0), 1) &&
	     expect(err.err, FI_ECANCELED) &&
	     /* a receive that stays posted until the end */
	     expect(fi_recv(srx, mem[1], 8, NULL, FI_ADDR_UNSPEC, &ok), 0) &&
	     expect(fi_close(&own_cq->fid), -FI_EBUSY);
	return teardown() && ok;
}

#define LOST	80	/* messages, more than a receiver requests at once */
#define LARGE	8192	/* bytes of each message, which its receiver fetches */

/* Announces a message, but never shows its data; see msg.h. */
static bool promise(struct angara_ctx *from, const struct sharer *to, uint32_t op)
{
	const struct ep_name name = name_of(to->ep);
	const struct angara_peer peer = { .node = name.node, .ctx = name.ctx };
	const struct {
		uint32_t to, from, flags, err, op, gen;
		uint64_t len;
	} wire = { .to = name.serial, .op = op, .len = LARGE };
	const struct angara_head head = {
		.size = sizeof(head),
		.code = (uint16_t)(2 | name.ep << 4),
	};
	int ret;

	do {
		fi_cq_read(to->cq, NULL, 0);
		ret = angara_send_inline_nbi(from, peer, &head, &wire,
					     sizeof(wire), NULL);
	} while (ret == -EAGAIN);
	return expect(ret, 0);
}

static bool promise_all(struct angara_ctx **from, const struct sharer *to, int n)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };
	bool ok = expect(alone_open("5", &attr, from), 0);
	int i;

	for (i = 0; ok && i < n; i++)
		ok = promise(*from, to, (uint32_t)i);
	for (i = 0; i < 1000; i++)
		fi_cq_read(to->cq, NULL, 0);
	return ok;
}

/*
 * Receives matched to messages of a closed endpoint, fetched or not, serve the
 * other endpoints, in order.
 */
static bool returning(void)
{
	struct fi_cq_tagged_entry entry;
	struct angara_ctx *silent = NULL;
	bool ok = setup(0, 0);
	int i;

	for (i = 0; ok && i <= LOST; i++)
		ok = expect(fi_recv(srx, mem[1] + 8 * i, 8, NULL, FI_ADDR_UNSPEC,
				    mem[1] + 8 * i), 0);
	ok = ok && promise_all(&silent, &e[0], LOST) && close_sharer(&e[0]);
	e[0].ep = NULL;
	for (i = 0; ok && i <= LOST; i++) {
		memset(mem[0], i, 8);
		ok = expect(when_room(&s[0], fi_inject(s[0].ep, mem[0], 8,
						       e[1].addr)), 0) &&
		     expect(next(e[1].cq, &entry), 1) &&
		     expect((char *)entry.op_context - mem[1], 8 * i) &&
		     expect(mem[1][8 * i + 7], i);
	}
	angara_ctx_close(silent);
	return teardown() && ok;
}

/* A failed message returns its part of a buffer for several messages. */
static bool returning_part(void)
{
	struct iovec iov = { .iov_len = LARGE + 100 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1,
			      .addr = FI_ADDR_UNSPEC, .context = &msg };
	struct fi_cq_tagged_entry entry;
	struct angara_ctx *silent = NULL;
	size_t min = 200;
	bool ok = setup(0, 0);

	iov.iov_base = mem[1];
	ok = ok && expect(fi_setopt(&srx->fid, FI_OPT_ENDPOINT,
				    FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)),
			  0) &&
	     expect(fi_recvmsg(srx, &msg, FI_MULTI_RECV), 0) &&
	     promise_all(&silent, &e[0], 1) && close_sharer(&e[0]);
	e[0].ep = NULL;
	fill(mem[0], LARGE, 3);
	ok = ok && expect(fi_send(s[0].ep, mem[0], LARGE, NULL, e[1].addr, mem),
			  0) &&
	     expect(next(e[1].cq, &entry), 1) &&
	     expect((long long)entry.len, LARGE) &&
	     expect(!!(entry.flags & FI_MULTI_RECV), true) &&
	     expect(entry.op_context == &msg, true) &&
	     filled(mem[1], LARGE, 3) && expect(next(s[0].cq, &entry), 1);
	angara_ctx_close(silent);
	return teardown() && ok;
}

/* Closing the context after its endpoint ends all receives. */
static bool returning_never(void)
{
	struct angara_ctx *silent = NULL;
	bool ok = setup(0, 0);
	int i;

	for (i = 0; ok && i < LOST; i++)
		ok = expect(fi_recv(srx, mem[1], MEM, NULL, FI_ADDR_UNSPEC, mem),
			    0);
	ok = ok && promise_all(&silent, &e[0], LOST);
	angara_ctx_close(silent);
	return teardown() && ok;
}

/* Reads and writes of all endpoints together are limited. */
static bool budget(void)
{
	bool ok = setup(4, 0);
	struct fid_mr *mr = reg(&s[0], mem[0], MEM, ALL_RIGHTS, 1);
	struct fi_cq_tagged_entry entry;
	struct ep_name name = name_of(s[0].ep);
	fi_addr_t to = insert(s[1].av, &name);
	int i;

	for (i = 0; ok && i < 4; i++)
		ok = expect(fi_write(e[i % 2].ep, mem[1], MEM, NULL, to, 0, 1,
				     mem), 0);
	ok = ok && expect(e[2].ep->ops->tx_size_left(e[2].ep), 0) &&
	     /* a closed endpoint's operations do not limit others */
	     expect(fi_close(&e[0].ep->fid), 0) &&
	     expect(e[2].ep->ops->tx_size_left(e[2].ep), 2) &&
	     expect(next(e[1].cq, &entry), 1) &&
	     expect(next(e[1].cq, &entry), 1) &&
	     expect(e[2].ep->ops->tx_size_left(e[2].ep), 4);
	closed(&e[0].cq->fid);
	closed(&e[0].cntr->fid);
	e[0].ep = NULL;
	closed(&mr->fid);
	return teardown() && ok;
}

/* Completions are reported only on request. */
static bool selective(void)
{
	struct iovec iov = { .iov_len = 8 };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1,
			      .addr = FI_ADDR_UNSPEC, .context = &msg };
	struct fi_cq_tagged_entry entry;
	bool ok = setup(0, FI_SELECTIVE_COMPLETION);

	iov.iov_base = mem[1];
	ok = ok && expect(fi_recv(srx, mem[1], 8, NULL, FI_ADDR_UNSPEC, mem), 0) &&
	     expect(fi_inject(s[0].ep, "silent.", 8, e[0].addr), 0);
	while (ok && fi_cntr_read(e[0].cntr) < 1)
		fi_cq_read(s[0].cq, NULL, 0);
	ok = ok && expect(fi_cq_read(e[0].cq, &entry, 1), -FI_EAGAIN) &&
	     expect(fi_recvmsg(srx, &msg, FI_COMPLETION), 0) &&
	     expect(fi_inject(s[0].ep, "spoken.", 8, e[0].addr), 0) &&
	     expect(next(e[0].cq, &entry), 1) &&
	     expect(entry.op_context == &msg, true) &&
	     expect(strcmp(mem[1], "spoken."), 0);
	return teardown() && ok;
}

static bool refused(void)
{
	struct fi_rx_attr bad = { .op_flags = FI_INJECT };
	struct fi_tx_attr large = { .size = 1U << 20 };
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC, .context = &msg };
	struct fid_ep *ep = NULL, *other = NULL;
	struct fid_stx *none;
	bool ok = setup(0, 0);

	ok = ok && expect(fi_srx_context(s[1].domain, &bad, &ep, NULL),
			  -FI_EINVAL) &&
	     expect(fi_stx_context(s[1].domain, &large, &none, NULL),
		    -FI_EINVAL) &&
	     /* each kind of object has its own calls */
	     expect(fi_recv(e[0].ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, NULL),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_send(srx, mem[1], 8, NULL, 0, NULL), -FI_EOPNOTSUPP) &&
	     expect(fi_trecvmsg(srx, &msg, FI_PEEK), -FI_EOPNOTSUPP) &&
	     expect(fi_ep_bind(srx, &s[1].av->fid, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(srx, &s[0].cq->fid, FI_RECV), -FI_EINVAL) &&
	     expect(fi_enable(srx), 0) &&
	     /* a context of another domain; an endpoint that requested none */
	     expect(fi_srx_context(s[0].domain, NULL, &other, NULL), 0) &&
	     expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &other->fid, 0), -FI_EINVAL) &&
	     closed(&other->fid) && closed(&ep->fid);
	s[1].info->ep_attr->tx_ctx_cnt = 1;
	s[1].info->ep_attr->rx_ctx_cnt = 1;
	ok = ok && expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &srx->fid, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(ep, &stx->fid, 0), -FI_EINVAL) &&
	     closed(&ep->fid);
	return teardown() && ok;
}

const struct part shared_parts[] = {
	{ "shared: messages to each endpoint", receives },
	{ "shared: a buffer for several messages", several },
	{ "shared: endpoints that are closed", closing },
	{ "shared: receives of an endpoint that is closed", returning },
	{ "shared: a buffer of an endpoint that is closed", returning_part },
	{ "shared: a context closed after its endpoints", returning_never },
	{ "shared: reads and writes in progress", budget },
	{ "shared: completions on request", selective },
	{ "shared: refused calls", refused },
	{ 0 },
};
