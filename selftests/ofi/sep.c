// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Scalable endpoints: which contexts send and receive messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_trigger.h>

#include "sep.h"

#define MEM	(1U << 17)
#define TAG	0x77ULL

struct scalable q[2];
const char *shared_av;
static char *mem[2];

static void must(const char *what, int ret)
{
	if (!ret)
		return;
	printf("Bail out! %s: %s\n", what, fi_strerror(-ret));
	exit(1);
}

static void open_half(struct scalable *p, int i, bool sends)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct half *h = sends ? &p->tx[i] : &p->rx[i];
	struct fid_domain *d = p->s.domain;

	*h = (struct half){ 0 };
	must("context", sends ? fi_tx_context(p->ep, i, NULL, &h->ep, h) :
				fi_rx_context(p->ep, i, NULL, &h->ep, h));
	must("cq", fi_cq_open(d, &cq, &h->cq, NULL));
	must("cntr", fi_cntr_open(d, NULL, &h->cntr, NULL));
	must("fi_ep_bind, completion queue", fi_ep_bind(h->ep, &h->cq->fid,
				   sends ? FI_TRANSMIT : FI_RECV));
	must("fi_ep_bind, counter", fi_ep_bind(h->ep, &h->cntr->fid, sends ?
				     FI_SEND | FI_READ | FI_WRITE : FI_RECV));
	if (!sends && (p->s.info->caps & FI_RMA_EVENT)) {
		must("cntr", fi_cntr_open(d, NULL, &h->remote, NULL));
		must("bind", fi_ep_bind(h->ep, &h->remote->fid,
					FI_REMOTE_READ | FI_REMOTE_WRITE));
	}
	must("enable", fi_enable(h->ep));
}

static void close_half(struct half *h)
{
	must("close context", h->ep ? fi_close(&h->ep->fid) : 0);
	must("close cq", fi_close(&h->cq->fid));
	must("close cntr", fi_close(&h->cntr->fid));
	must("close remote", h->remote ? fi_close(&h->remote->fid) : 0);
}

struct fid_ep *new_sep(struct side *s, size_t ntx, size_t nrx)
{
	struct fid_ep *ep = NULL;

	s->info->ep_attr->tx_ctx_cnt = ntx;
	s->info->ep_attr->rx_ctx_cnt = nrx;
	must("fi_scalable_ep", fi_scalable_ep(s->domain, s->info, &ep, NULL));
	return ep;
}

void open_scalable(struct scalable *p, const struct how *how,
		   const char *domain, int n)
{
	struct fi_av_attr av = { .rx_ctx_bits = BITS, .name = shared_av };
	int i;

	open_side(&p->s, how, domain);
	p->n = n;
	p->ep = new_sep(&p->s, (size_t)n, (size_t)n);
	must("fi_av_open", fi_av_open(p->s.domain, &av, &p->av, NULL));
	must("bind", fi_scalable_ep_bind(p->ep, &p->av->fid, 0));
	must("enable", fi_enable(p->ep));
	for (i = 0; i < n; i++) {
		open_half(p, i, true);
		open_half(p, i, false);
	}
}

void close_scalable(struct scalable *p)
{
	int i;

	for (i = 0; i < p->n; i++) {
		close_half(&p->tx[i]);
		close_half(&p->rx[i]);
	}
	must("close endpoint", p->ep ? fi_close(&p->ep->fid) : 0);
	must("close av", fi_close(&p->av->fid));
	close_side(&p->s);
}

void open_scalables(const struct how *how, int n)
{
	struct ep_name name;
	int i;

	open_scalable(&q[0], how, "angara0", n);
	open_scalable(&q[1], how, "angara3", n);
	for (i = 0; i < 2; i++) {
		/* an additional entry makes the two vectors differ */
		name = name_of(q[i].s.ep);
		insert(q[i].av, &name);
		if (i)
			insert(q[i].av, &name);
		name = name_of(q[!i].ep);
		q[i].peer = insert(q[i].av, &name);
	}
}

void close_scalables(void)
{
	close_scalable(&q[0]);
	close_scalable(&q[1]);
}

static void setup(const struct how *how, int n)
{
	open_scalables(how, n);
	mem[0] = calloc(1, MEM);
	mem[1] = calloc(1, MEM);
}

static void teardown(void)
{
	close_scalables();
	free(mem[0]);
	free(mem[1]);
}

static void go_on(void)
{
	int i;

	/* the other endpoint may be in another process */
	for (i = 0; i < 2; i++)
		if (q[i].s.cq)
			fi_cq_read(q[i].s.cq, NULL, 0);
}

bool next_of(struct fid_cq *cq, struct fi_cq_tagged_entry *e, fi_addr_t *src)
{
	ssize_t ret = -FI_EAGAIN;
	fi_addr_t from;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 20000000; i++) {
		go_on();
		ret = fi_cq_readfrom(cq, e, 1, src ? src : &from);
	}
	return expect(ret, 1);
}

bool next_is(struct fid_cq *cq, uint64_t flags, void *context)
{
	struct fi_cq_tagged_entry e;

	return next_of(cq, &e, NULL) &&
	       expect((long long)e.flags, (long long)flags) &&
	       expect(e.op_context == context, true);
}

bool fails(struct fid_cq *cq, int err, void *context)
{
	struct fi_cq_err_entry e = { 0 };
	struct fi_cq_tagged_entry entry;
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 20000000; i++) {
		go_on();
		ret = fi_cq_read(cq, &entry, 1);
	}
	return expect(ret, -FI_EAVAIL) && expect(fi_cq_readerr(cq, &e, 0), 1) &&
	       expect(e.err, err) && expect(e.op_context == context, true);
}

void settle_seps(void)
{
	int i;

	for (i = 0; i < 200; i++)
		go_on();
}

bool silent(void)
{
	struct fi_cq_tagged_entry e;
	bool ok = true;
	int i, k;

	settle_seps();
	for (i = 0; i < 2; i++) {
		ok = ok && nothing(&q[i].s);
		for (k = 0; ok && k < q[i].n; k++)
			ok = expect(fi_cq_read(q[i].tx[k].cq, &e, 1),
				    -FI_EAGAIN) &&
			     expect(fi_cq_read(q[i].rx[k].cq, &e, 1),
				    -FI_EAGAIN);
	}
	return ok;
}

/* Sends a message between two contexts; no other context receives it. */
static bool message(int from, int to, size_t len, bool tagged)
{
	unsigned int seed = (unsigned int)(from * CTXS + to) + tagged;
	struct fid_ep *tx = q[0].tx[from].ep, *rx = q[1].rx[to].ep;
	uint64_t kind = tagged ? FI_TAGGED : FI_MSG;
	fi_addr_t addr = to_ctx(&q[0], to), src = FI_ADDR_NOTAVAIL;
	struct fi_cq_tagged_entry e;
	bool ok;

	fill(mem[0], len, seed);
	memset(mem[1], 0, len + 1);
	ok = expect(tagged ? fi_trecv(rx, mem[1], MEM, NULL, q[1].peer, TAG, 0,
				      mem[1]) :
			     fi_recv(rx, mem[1], MEM, NULL, FI_ADDR_UNSPEC,
				     mem[1]), 0) &&
	     expect(tagged ? fi_tsenddata(tx, mem[0], len, NULL, seed, addr, TAG,
					  mem[0]) :
			     fi_senddata(tx, mem[0], len, NULL, seed, addr,
					 mem[0]), 0) &&
	     next_of(q[1].rx[to].cq, &e, &src) &&
	     expect((long long)e.flags,
		    (long long)(FI_RECV | FI_REMOTE_CQ_DATA | kind)) &&
	     expect(e.op_context == mem[1], true) &&
	     expect((long long)e.len, (long long)len) &&
	     expect((long long)e.data, seed) && filled(mem[1], len, seed) &&
	     expect(src == q[1].peer, true) &&
	     next_is(q[0].tx[from].cq, FI_SEND | kind, mem[0]);
	return ok && silent();
}

static bool messages(void)
{
	static const size_t sizes[] = { 0, 200, 4064, 4065, 70000 };
	const struct how how = { 0 };
	int to, n = sizeof(sizes) / sizeof(*sizes), i;
	bool ok;

	setup(&how, CTXS);
	ok = expect((q[0].s.info->caps & FI_NAMED_RX_CTX) != 0, true);
	for (to = 0; ok && to < CTXS; to++)
		for (i = 0; ok && i < 2 * n; i++)
			ok = message((to * 5 + i) % CTXS, to, sizes[i / 2],
				     i & 1);
	for (to = 0; ok && to < CTXS; to++)
		ok = expect(fi_cntr_read(q[1].rx[to].cntr), 2 * n) &&
		     expect(fi_cntr_read(q[0].tx[to].cntr), 2 * n) &&
		     expect(fi_cntr_read(q[0].rx[to].cntr), 0);
	teardown();
	return ok;
}

/* Addresses of contexts are equal in all endpoints that share the vector. */
static bool shared(void)
{
	const struct how how = { 0 };
	char name[64], buf[8];
	bool ok = true;
	int k;

	snprintf(name, sizeof(name), "fi-test-sep-%d", getpid());
	shared_av = name;
	setup(&how, 3);
	shared_av = NULL;
	for (k = 0; ok && k < 3; k++)
		ok = message(2 - k, k, 100, k & 1) &&
		     /* The peer's address of the context works here as well. */
		     expect(fi_recv(q[1].rx[k].ep, buf, 8, NULL, FI_ADDR_UNSPEC,
				    buf), 0) &&
		     expect(fi_inject(q[1].tx[0].ep, "own", 4, to_ctx(&q[0], k)),
			    0) &&
		     next_is(q[1].rx[k].cq, FI_RECV | FI_MSG, buf) &&
		     expect(strcmp(buf, "own"), 0) && silent();
	teardown();
	return ok;
}

/* The receiver sends its answer to a context that both sides have agreed on. */
static bool answers(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	bool ok = true;
	int k;

	setup(&how, 3);
	for (k = 0; ok && k < 3; k++) {
		int back = (k + 1) % 3;

		ok = expect(fi_recv(q[0].rx[back].ep, mem[0], 8, NULL,
				    to_ctx(&q[0], 2 - k), mem[0]), 0) &&
		     expect(fi_inject(q[0].tx[k].ep, "to", 3,
				      to_ctx(&q[0], k)), 0) &&
		     expect(fi_recv(q[1].rx[k].ep, mem[1], 8, NULL,
				    FI_ADDR_UNSPEC, mem[1]), 0) &&
		     next_of(q[1].rx[k].cq, &e, &src) &&
		     expect(strcmp(mem[1], "to"), 0) &&
		     expect(fi_inject(q[1].tx[back].ep, "back", 5,
				      fi_rx_addr(src, back, BITS)), 0) &&
		     next_of(q[0].rx[back].cq, &e, &src) &&
		     expect(strcmp(mem[0], "back"), 0) &&
		     expect(src == q[0].peer, true) && silent();
	}
	teardown();
	return ok;
}

/*
 * An address without context bits selects the first context; endpoints of one
 * context are addressed as usual.
 */
static bool plain(void)
{
	const struct how how = { 0 };
	struct ep_name name;
	struct fi_cq_tagged_entry e;
	fi_addr_t sep, ep, src;
	bool ok;

	setup(&how, 2);
	name = name_of(q[1].ep);
	sep = insert(q[0].s.av, &name);
	name = name_of(q[1].s.ep);
	ep = insert(q[0].av, &name);
	name = name_of(q[0].s.ep);
	insert(q[1].av, &name);
	ok = expect(fi_recv(q[1].rx[0].ep, mem[1], 8, NULL, FI_ADDR_UNSPEC,
			    mem[1]), 0) &&
	     expect(fi_send(q[0].s.ep, "one", 4, NULL, sep, &sep), 0) &&
	     next_of(q[1].rx[0].cq, &e, &src) &&
	     expect(src != FI_ADDR_NOTAVAIL && src != q[1].peer, true) &&
	     expect(strcmp(mem[1], "one"), 0) &&
	     next_is(q[0].s.cq, FI_SEND | FI_MSG, &sep) &&
	     expect(fi_recv(q[1].s.ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, mem[1]),
		    0) &&
	     expect(fi_send(q[0].tx[1].ep, "two", 4, NULL, ep, &ep), 0) &&
	     next_is(q[1].s.cq, FI_RECV | FI_MSG, mem[1]) &&
	     expect(strcmp(mem[1], "two"), 0) &&
	     next_is(q[0].tx[1].cq, FI_SEND | FI_MSG, &ep) && silent() &&
	     /* The peer has no context with that number. */
	     expect(fi_send(q[0].tx[1].ep, mem[0], 70000, NULL,
			    fi_rx_addr(ep, 1, BITS), &ep), 0) &&
	     fails(q[0].tx[1].cq, FI_EHOSTUNREACH, &ep) && silent();
	teardown();
	return ok;
}

/* Memory belongs to the domain: any context may be named to access it. */
static bool writes(int k, struct fid_mr *mr)
{
	fi_addr_t addr = to_ctx(&q[0], k);
	struct fid_ep *tx = q[0].tx[k].ep;
	uint64_t key = fi_mr_key(mr), one = 1, old = 0;
	uint64_t sum = start_of(&q[1].s, mem[1]) + MEM - 8;
	uint64_t at = start_of(&q[1].s, mem[1]);
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	bool ok;

	fill(mem[0], 40000, (unsigned int)k);
	ok = expect(fi_write(tx, mem[0], 40000, NULL, addr, at, key, &at), 0) &&
	     next_is(q[0].tx[k].cq, FI_RMA | FI_WRITE, &at) &&
	     filled(mem[1], 40000, (unsigned int)k);
	memset(mem[0], 0, 40000);
	ok = ok && expect(fi_read(tx, mem[0], 40000, NULL, addr, at, key, &at), 0) &&
	     next_is(q[0].tx[k].cq, FI_RMA | FI_READ, &at) &&
	     filled(mem[0], 40000, (unsigned int)k) &&
	     expect(fi_fetch_atomic(tx, &one, 1, NULL, &old, NULL, addr, sum,
				    key, FI_UINT64, FI_SUM, &old), 0) &&
	     next_is(q[0].tx[k].cq, FI_ATOMIC | FI_READ, &old) &&
	     expect((long long)old, k) &&
	     /* The data of a write goes to the named context. */
	     expect(fi_inject_writedata(tx, "abc", 4, 90 + (uint64_t)k, addr, at,
					key), 0) &&
	     next_of(q[1].rx[k].cq, &e, &src) &&
	     expect((long long)e.flags,
		    FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA) &&
	     expect((long long)e.data, 90 + k) &&
	     expect(src == q[1].peer, true) && expect(strcmp(mem[1], "abc"), 0);
	return ok && silent();
}

static bool memory(int mr_mode, uint64_t caps)
{
	const struct how how = { .mr_mode = mr_mode, .caps = caps };
	struct fid_mr *mr;
	bool ok = true;
	int k;

	setup(&how, 5);
	mr = reg(&q[1].s, mem[1], MEM, ALL_RIGHTS, 5);
	for (k = 0; ok && k < 5; k++)
		ok = writes(k, mr) &&
		     expect(fi_cntr_read(q[0].tx[k].cntr), 4);
	/* Each counter counts operations that name its context. */
	for (k = 0; ok && k < 5 && q[1].rx[k].remote; k++)
		ok = expect(fi_cntr_read(q[1].rx[k].remote), 4) &&
		     expect(fi_cntr_read(q[1].rx[k].cntr), 0);
	closed(&mr->fid);
	teardown();
	return ok;
}

static bool rma(void)
{
	return memory(0, 0) && memory(BASIC, 0) &&
	       memory(0, FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT |
			 FI_NAMED_RX_CTX | FI_SOURCE);
}

static ssize_t peek(struct fid_ep *rx, uint64_t flags, void *context)
{
	struct iovec iov = { mem[1], MEM };
	const struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = FI_ADDR_UNSPEC,
		.tag = TAG,
		.context = context,
	};

	return fi_trecvmsg(rx, &msg, flags);
}

/* Polls until the message has arrived. */
static bool found(struct half *rx, void *context)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	int i;

	for (i = 0; i < 100000; i++) {
		ssize_t ret;

		if (!expect(peek(rx->ep, FI_PEEK, context), 0))
			return false;
		ret = fi_cq_read(rx->cq, &e, 1);
		if (ret == 1)
			return expect(e.op_context == context, true);
		if (!expect(ret, -FI_EAVAIL) ||
		    !expect(fi_cq_readerr(rx->cq, &err, 0), 1) ||
		    !expect(err.err, FI_ENOMSG))
			return false;
		settle_seps();
	}
	return false;
}

/* A message can be peeked, claimed and cancelled only at its context. */
static bool looking(void)
{
	const struct how how = { 0 };
	struct fid_ep *rx[2];
	struct fi_context ctx;
	struct fid_cq *cq;
	bool ok;

	setup(&how, 2);
	rx[0] = q[1].rx[0].ep;
	rx[1] = q[1].rx[1].ep;
	cq = q[1].rx[1].cq;
	fill(mem[0], 50000, 9);
	ok = expect(fi_tsend(q[0].tx[0].ep, mem[0], 50000, NULL,
			     to_ctx(&q[0], 1), TAG, mem), 0) &&
	     found(&q[1].rx[1], &ctx) &&
	     expect(peek(rx[0], FI_PEEK, &ctx), 0) &&
	     fails(q[1].rx[0].cq, FI_ENOMSG, &ctx) &&
	     expect(peek(rx[1], FI_PEEK | FI_CLAIM, &ctx), 0) &&
	     next_is(cq, FI_RECV | FI_TAGGED, &ctx) &&
	     expect(peek(rx[0], FI_CLAIM, &ctx), -FI_EINVAL) &&
	     expect(peek(rx[1], FI_CLAIM, &ctx), 0) &&
	     next_is(cq, FI_RECV | FI_TAGGED, &ctx) &&
	     filled(mem[1], 50000, 9) &&
	     next_is(q[0].tx[0].cq, FI_SEND | FI_TAGGED, mem) &&
	     expect(fi_trecv(rx[1], mem[1], 8, NULL, FI_ADDR_UNSPEC, TAG, 0,
			     &ctx), 0) &&
	     expect(fi_cancel(&rx[0]->fid, &ctx), -FI_ENOENT) &&
	     expect(fi_cancel(&q[1].tx[1].ep->fid, &ctx), -FI_ENOENT) &&
	     expect(fi_cancel(&rx[1]->fid, &ctx), 0) &&
	     fails(cq, FI_ECANCELED, &ctx) && silent();
	teardown();
	return ok;
}

/* Deferred work for a context of the wrong direction is refused. */
static bool not_theirs(struct fi_deferred_work *work, struct fi_op_msg *op)
{
	struct fid *d = &q[0].s.domain->fid;
	struct fi_triggered_context t = { FI_TRIGGER_THRESHOLD };
	struct fi_rma_iov there = { 0, 4, 5 };
	struct iovec iov = { mem[0], 4 };
	struct fi_msg_rma rma = { &iov, NULL, 1, q[0].peer, &there, 1, &t, 0 };

	t.trigger.threshold.cntr = q[0].s.cntr;
	op->ep = q[0].rx[1].ep;
	if (!expect(fi_control(d, FI_QUEUE_WORK, work), -FI_EINVAL) ||
	    !expect(fi_writemsg(op->ep, &rma, FI_TRIGGER), -FI_EINVAL))
		return false;
	op->ep = q[0].tx[1].ep;
	work->op_type = FI_OP_RECV;
	return expect(fi_control(d, FI_QUEUE_WORK, work), -FI_EINVAL);
}

/* Deferred work of contexts waits for counters, and ends with its context. */
static bool later(void)
{
	const struct how how = { 0 };
	struct iovec from = { mem, 4 }, to = { NULL, 8 };
	struct fi_op_msg send = { 0 };
	struct fi_deferred_work work = { .threshold = 1, .op.msg = &send };
	struct fi_triggered_context t = { FI_TRIGGER_THRESHOLD };
	struct fi_msg recv = { &to, NULL, 1, FI_ADDR_UNSPEC, &t, 0 };
	struct fid *d;
	bool ok;

	setup(&how, 2);
	d = &q[0].s.domain->fid;
	to.iov_base = mem[1];
	send.ep = q[0].tx[1].ep;
	send.flags = FI_COMPLETION;
	send.msg = (struct fi_msg){ &from, NULL, 1, to_ctx(&q[0], 1), &work, 0 };
	work.op_type = FI_OP_SEND;
	work.triggering_cntr = q[0].s.cntr;
	t.trigger.threshold.cntr = q[1].s.cntr;
	t.trigger.threshold.threshold = 2;
	ok = expect(fi_control(d, FI_QUEUE_WORK, &work), 0) &&
	     expect(fi_recvmsg(q[1].rx[1].ep, &recv, FI_TRIGGER), 0) && silent() &&
	     expect(fi_cntr_add(q[0].s.cntr, 1), 0) &&
	     next_is(q[0].tx[1].cq, FI_SEND | FI_MSG, &work) && silent() &&
	     expect(fi_cntr_add(q[1].s.cntr, 2), 0) &&
	     next_is(q[1].rx[1].cq, FI_RECV | FI_MSG, &t) &&
	     expect(memcmp(mem[1], mem, 4), 0);
	/* The scalable endpoint itself executes no operations. */
	send.ep = q[0].ep;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_EINVAL) &&
	     not_theirs(&work, &send);
	send.ep = q[0].tx[1].ep;
	work.op_type = FI_OP_SEND;
	work.threshold = 5;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), 0) &&
	     closed(&q[0].tx[1].ep->fid) &&
	     expect(fi_cntr_set(q[0].s.cntr, 5), 0) && silent();
	if (ok)
		q[0].tx[1].ep = NULL;
	teardown();
	return ok;
}

const struct part sep_parts[] = {
	{ "sep: messages to each context", messages },
	{ "sep: a shared address vector", shared },
	{ "sep: answers", answers },
	{ "sep: endpoints of one context", plain },
	{ "sep: memory", rma },
	{ "sep: peek, claim, cancel", looking },
	{ "sep: deferred work", later },
	{ 0 },
};
