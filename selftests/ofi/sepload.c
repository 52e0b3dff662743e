// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Scalable endpoints: all contexts at once, threads with a context each,
 * several processes, and closing.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sep.h"

#define SLOT	6000	/* bytes of a message */
#define EACH	3	/* messages from each context to each other */
#define LONG	70000	/* bytes, fetched by the receiver */

static size_t len_of(int i)
{
	return i % 3 == 1 ? SLOT : (size_t)(16 + i);
}

/* Content of a message: sender, receiver and number. */
struct stamp {
	int from;
	int to;
	int i;
};

static bool sent_now(int from, int to, char *mem, size_t len)
{
	ssize_t ret;

	while ((ret = fi_send(q[0].tx[from].ep, mem, len, NULL,
			      to_ctx(&q[0], to), mem)) == -FI_EAGAIN)
		settle_seps();
	return expect(ret, 0);
}

static bool send_all(char *mem)
{
	bool ok = true;
	int from, to, i;

	for (i = 0; ok && i < EACH; i++)
		for (from = 0; ok && from < CTXS; from++)
			for (to = 0; ok && to < CTXS; to++, mem += SLOT) {
				const struct stamp st = { from, to, i };

				fill(mem, SLOT, (unsigned int)(from * 7 + to));
				memcpy(mem, &st, sizeof(st));
				ok = sent_now(from, to, mem, len_of(i));
			}
	return ok;
}

/* Messages of one sender arrive at a context in the order of sending. */
static bool receive_all(int to, char *buf)
{
	int next[CTXS] = { 0 }, i;
	bool ok = true;

	for (i = 0; ok && i < CTXS * EACH; i++) {
		struct fi_cq_tagged_entry e;
		struct stamp st = { 0 };
		char *want = calloc(1, SLOT);
		fi_addr_t src;

		ok = expect(fi_recv(q[1].rx[to].ep, buf, SLOT, NULL,
				    FI_ADDR_UNSPEC, buf), 0) &&
		     next_of(q[1].rx[to].cq, &e, &src);
		memcpy(&st, buf, sizeof(st));
		ok = ok && expect(src == q[1].peer, true) &&
		     expect(st.to, to) && expect(st.from >= 0 &&
						 st.from < CTXS, true) &&
		     expect(st.i, next[st.from]++) &&
		     expect((long long)e.len, (long long)len_of(st.i));
		if (ok) {
			fill(want, SLOT, (unsigned int)(st.from * 7 + to));
			ok = expect(memcmp(want + sizeof(st), buf + sizeof(st),
					   e.len - sizeof(st)), 0);
		}
		free(want);
	}
	return ok;
}

static bool all_to_all(void)
{
	const struct how how = { .wait = FI_WAIT_NONE };
	char *mem = calloc(CTXS * CTXS * EACH, SLOT), *buf = calloc(1, SLOT);
	struct fi_cq_tagged_entry e;
	bool ok;
	int k, i;

	open_scalables(&how, CTXS);
	ok = send_all(mem);
	for (k = CTXS; ok && k--;)
		ok = receive_all(k, buf);
	for (k = 0; ok && k < CTXS; k++)
		for (i = 0; ok && i < CTXS * EACH; i++)
			ok = next_of(q[0].tx[k].cq, &e, NULL);
	ok = ok && silent();
	close_scalables();
	free(mem);
	free(buf);
	return ok;
}

#define BIG	(1U << 20)	/* bytes: so many that a later read could overtake the write */

/*
 * A read after a write finds the data of the write, even if both name different
 * contexts of the target.  The endpoint (@all) or one of its contexts (@one) requests
 * the order.
 */
static bool in_order(bool all, bool one)
{
	const struct how how = { .order = all ? FI_ORDER_RAW : 0 };
	struct fi_tx_attr attr = { .msg_order = FI_ORDER_RAW };
	char *mem[2] = { calloc(1, BIG), calloc(1, BIG) }, last[8];
	struct half *tx = &q[0].tx[1];
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr;
	unsigned int i;
	bool ok = true;

	open_scalables(&how, 2);
	mr = reg(&q[1].s, mem[1], BIG, ALL_RIGHTS, 1);
	if (one)
		ok = closed(&tx->ep->fid) &&
		     expect(fi_tx_context(q[0].ep, 1, &attr, &tx->ep, NULL), 0) &&
		     expect((attr.msg_order & FI_ORDER_RAW) != 0, true) &&
		     expect(fi_ep_bind(tx->ep, &tx->cq->fid, FI_TRANSMIT), 0) &&
		     expect(fi_enable(tx->ep), 0);
	for (i = 1; ok && i < 5; i++) {
		ssize_t ret = -FI_EAGAIN;

		fill(mem[0], BIG, i);
		ok = expect(fi_write(tx->ep, mem[0], BIG, NULL, to_ctx(&q[0], 1),
				     0, 1, mem[0]), 0);
		while (ok && ret == -FI_EAGAIN)
			ret = fi_read(tx->ep, last, 8, NULL, to_ctx(&q[0], 0),
				      BIG - 8, 1, last);
		/*
		 * Only the read is in flight: it started after the write had
		 * ended.
		 */
		ok = ok && expect(ret, 0) &&
		     expect(tx->ep->ops->tx_size_left(tx->ep), 255) &&
		     next_of(tx->cq, &e, NULL) && next_of(tx->cq, &e, NULL) &&
		     expect(memcmp(last, mem[0] + BIG - 8, 8), 0);
	}
	closed(&mr->fid);
	close_scalables();
	free(mem[0]);
	free(mem[1]);
	return ok;
}

static bool ordered(void)
{
	return in_order(true, false) && in_order(false, true);
}

#define THREADS	5	/* on each side */
#define ROUNDS	20

/**
 * struct pair - transmit and receive context of a thread
 * @me: endpoint of the contexts
 * @k: number of both contexts
 * @mem: data to send; after it, received data; after that, the target of writes
 * @mr: region of the targets of writes
 * @ok: no error so far
 */
struct pair {
	struct scalable *me;
	int k;
	char *mem;
	struct fid_mr *mr;
	bool ok;
};

static bool waits_for(struct fid_cq *cq, void *context)
{
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	while ((ret = fi_cq_read(cq, &e, 1)) == -FI_EAGAIN)
		sched_yield();
	return expect(ret, 1) && expect(e.op_context == context, true);
}

/* Exchanges messages and writes with its counterpart on the other side. */
static bool exchange(struct pair *p, int round)
{
	static const size_t lens[] = { 100, 9000, LONG };
	struct half *tx = &p->me->tx[p->k], *rx = &p->me->rx[p->k];
	unsigned int own = (unsigned int)(p->me == q) * 1000, seed;
	uint64_t key = (uint64_t)p->k + 20;
	size_t len = lens[(p->k + round) % 3];
	fi_addr_t to = to_ctx(p->me, p->k);

	seed = (unsigned int)(p->k * ROUNDS + round);
	fill(p->mem, len, seed + own);
	return expect(fi_tsend(tx->ep, p->mem, len, NULL, to, seed, p->mem), 0) &&
	       expect(fi_trecv(rx->ep, p->mem + LONG, LONG, NULL, p->me->peer,
			       seed, 0, p), 0) &&
	       waits_for(rx->cq, p) && waits_for(tx->cq, p->mem) &&
	       filled(p->mem + LONG, len, seed + 1000 - own) &&
	       expect(fi_write(tx->ep, p->mem, 500, NULL, to, 0, key, p), 0) &&
	       waits_for(tx->cq, p) &&
	       expect(fi_read(tx->ep, p->mem + LONG, 500, NULL, to, 0, key, p),
		      0) &&
	       waits_for(tx->cq, p) &&
	       filled(p->mem + LONG, len < 500 ? len : 500, seed + own);
}

static void *work(void *arg)
{
	struct pair *p = arg;
	int i;

	for (i = 0; p->ok && i < ROUNDS; i++)
		p->ok = exchange(p, i);
	/* The other side may still wait for an answer. */
	for (i = 0; i < 1000; i++)
		fi_cq_read(p->me->rx[p->k].cq, NULL, 0);
	return NULL;
}

static bool side_by_side(const struct how *how)
{
	struct pair p[2 * THREADS];
	pthread_t thread[2 * THREADS];
	bool ok = true;
	int i;

	open_scalables(how, THREADS);
	for (i = 0; i < 2 * THREADS; i++) {
		p[i] = (struct pair){ .me = &q[i & 1], .k = i / 2, .ok = true };
		p[i].mem = calloc(3, LONG);
		p[i].mr = reg(&p[i].me->s, p[i].mem + (size_t)2 * LONG, LONG,
			      ALL_RIGHTS, (uint64_t)i / 2 + 20);
	}
	for (i = 0; i < 2 * THREADS; i++)
		pthread_create(&thread[i], NULL, work, &p[i]);
	for (i = 0; i < 2 * THREADS; i++)
		pthread_join(thread[i], NULL);
	ok = silent();
	for (i = 0; i < 2 * THREADS; i++) {
		ok = ok && p[i].ok;
		closed(&p[i].mr->fid);
		free(p[i].mem);
	}
	close_scalables();
	return ok;
}

static bool threads(void)
{
	const struct how how = { 0 };
	const struct how lazy = { .progress = FI_PROGRESS_AUTO };

	return side_by_side(&how) && side_by_side(&lazy);
}

/* Swaps the endpoints' names with the other process. */
static bool swap_names(int fd, const struct ep_name *mine,
		       struct ep_name *other)
{
	return expect(write(fd, mine, sizeof(*mine)), sizeof(*mine)) &&
	       expect(read(fd, other, sizeof(*other)), sizeof(*other));
}

/* Each process sends from all its contexts to all contexts of the other, in turn. */
int sep_process(int rank, int fd)
{
	const struct how how = { 0 };
	struct scalable *me = &q[rank];
	struct ep_name name, other;
	char *mem = calloc(2, LONG);
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	bool ok;
	int i;

	open_scalable(me, &how, rank ? "angara3" : "angara0", 4);
	name = name_of(me->ep);
	ok = swap_names(fd, &name, &other);
	me->peer = insert(me->av, &other);
	for (i = 0; ok && i < 32; i++) {
		size_t len = i & 1 ? LONG : 50;
		int from = i / 8, to = i / 2 % 4;

		fill(mem, len, (unsigned int)(i + rank));
		ok = expect(fi_recv(me->rx[to].ep, mem + LONG, LONG, NULL,
				    me->peer, mem + LONG), 0) &&
		     expect(fi_send(me->tx[from].ep, mem, len, NULL,
				    to_ctx(me, to), mem), 0) &&
		     next_of(me->rx[to].cq, &e, &src) &&
		     expect((long long)e.len, (long long)len) &&
		     expect(src == me->peer, true) &&
		     filled(mem + LONG, len, (unsigned int)(i + !rank)) &&
		     next_is(me->tx[from].cq, FI_SEND | FI_MSG, mem);
	}
	/* Neither process exits while the other one waits. */
	settle_seps();
	ok = ok && swap_names(fd, &name, &other);
	close_scalable(me);
	free(mem);
	close(fd);
	return !ok;
}

/* An embedded fabric without a name would be private to each process. */
static void name_fabric(int number)
{
	const char *fabric = getenv("ANGARA_FABRIC");
	char text[256];

	if (!fabric || strncmp(fabric, "embedded", 8) || strstr(fabric, "name="))
		return;
	snprintf(text, sizeof(text), "%s,name=fi-test-sep-%d", fabric, number);
	setenv("ANGARA_FABRIC", text, 1);
}

static pid_t start(int rank, int fd, int others)
{
	int number = getpid();
	pid_t pid = fork();
	char arg[2][16];

	if (pid)
		return pid;
	close(others);
	name_fabric(number);
	snprintf(arg[0], sizeof(arg[0]), "%d", rank);
	snprintf(arg[1], sizeof(arg[1]), "%d", fd);
	execl("/proc/self/exe", "fi-test", "sep", arg[0], arg[1], NULL);
	_exit(127);
}

static bool processes(void)
{
	int fds[2], i, status[2] = { -1, -1 };
	pid_t pid[2];

	if (!expect(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0))
		return false;
	fflush(stdout);
	for (i = 0; i < 2; i++)
		pid[i] = start(i, fds[i], fds[!i]);
	close(fds[0]);
	close(fds[1]);
	for (i = 0; i < 2; i++)
		waitpid(pid[i], &status[i], 0);
	return expect(status[0], 0) && expect(status[1], 0);
}

static bool open_again(struct scalable *p, int k)
{
	struct half *h = &p->rx[k];

	return expect(fi_rx_context(p->ep, k, NULL, &h->ep, NULL), 0) &&
	       expect(fi_ep_bind(h->ep, &h->cq->fid, FI_RECV), 0) &&
	       expect(fi_enable(h->ep), 0);
}

static bool sent(int from, int to, char *mem)
{
	return expect(fi_send(q[0].tx[from].ep, mem, LONG, NULL,
			      to_ctx(&q[0], to), mem), 0);
}

/* Closing a context ends the operations that wait for it, but no other operations. */
static bool ends(void)
{
	const struct how how = { 0 };
	char *mem = calloc(2, LONG), *got = mem + LONG;
	struct fi_cq_tagged_entry e;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = -FI_EAGAIN;
	bool ok;

	open_scalables(&how, 3);
	ok = sent(0, 1, mem) && sent(0, 2, mem) && silent() &&
	     closed(&q[1].rx[1].ep->fid) &&
	     fails(q[0].tx[0].cq, FI_EHOSTUNREACH, mem) && silent() &&
	     /* first there is no receiver, then one is opened again */
	     sent(1, 1, mem) && fails(q[0].tx[1].cq, FI_EHOSTUNREACH, mem) &&
	     open_again(&q[1], 1) && sent(1, 1, mem) &&
	     expect(fi_recv(q[1].rx[1].ep, got, LONG, NULL, FI_ADDR_UNSPEC, got),
		    0) &&
	     next_is(q[1].rx[1].cq, FI_RECV | FI_MSG, got) &&
	     next_is(q[0].tx[1].cq, FI_SEND | FI_MSG, mem) &&
	     /* the first context's message has not been fetched */
	     closed(&q[0].tx[0].ep->fid) &&
	     expect(fi_recv(q[1].rx[2].ep, got, LONG, NULL, FI_ADDR_UNSPEC, got),
		    0);
	q[0].tx[0].ep = NULL;
	while (ok && ret == -FI_EAGAIN) {
		settle_seps();
		ret = fi_cq_read(q[1].rx[2].cq, &e, 1);
	}
	ok = ok && expect(ret, -FI_EAVAIL) &&
	     expect(fi_cq_readerr(q[1].rx[2].cq, &err, 0), 1) &&
	     expect(err.op_context == got, true) && sent(1, 2, mem) &&
	     expect(fi_recv(q[1].rx[2].ep, got, LONG, NULL, FI_ADDR_UNSPEC, got),
		    0) &&
	     next_is(q[1].rx[2].cq, FI_RECV | FI_MSG, got) &&
	     next_is(q[0].tx[1].cq, FI_SEND | FI_MSG, mem) &&
	     /* receive context 0 is independent of transmit context 0 */
	     expect(fi_recv(q[0].rx[0].ep, got, 8, NULL, FI_ADDR_UNSPEC, got),
		    0) &&
	     expect(fi_inject(q[1].tx[2].ep, mem, 8, to_ctx(&q[1], 0)), 0) &&
	     next_is(q[0].rx[0].cq, FI_RECV | FI_MSG, got) &&
	     expect(fi_tx_context(q[0].ep, 0, NULL, &q[0].tx[0].ep, NULL), 0) &&
	     silent();
	close_scalables();
	free(mem);
	return ok;
}

/* Closes contexts in the order @order, then their endpoint, then its address vector. */
static bool close_in_order(const int *order)
{
	const struct how how = { 0 };
	struct fid_ep **ep[4];
	bool ok = true;
	int i;

	open_scalables(&how, 2);
	ep[0] = &q[1].rx[0].ep;
	ep[1] = &q[1].tx[0].ep;
	ep[2] = &q[1].rx[1].ep;
	ep[3] = &q[1].tx[1].ep;
	for (i = 0; i < 4; i++) {
		ok = ok && expect(fi_close(&q[1].ep->fid), -FI_EBUSY) &&
		     expect(fi_close(&q[1].av->fid), -FI_EBUSY) &&
		     closed(&(*ep[order[i]])->fid);
		*ep[order[i]] = NULL;
	}
	ok = ok && expect(fi_close(&q[1].av->fid), -FI_EBUSY) &&
	     closed(&q[1].ep->fid);
	q[1].ep = NULL;
	close_scalables();
	return ok;
}

static bool orders(void)
{
	static const int order[][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 1, 3, 0, 2 }, { 2, 0, 3, 1 },
	};
	bool ok = true;
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(*order); i++)
		ok = ok && close_in_order(order[i]);
	return ok;
}

/* A closed endpoint's address stays invalid if its numbers are reused. */
static bool successors(void)
{
	const struct how how = { 0 };
	char *mem = calloc(1, LONG);
	struct ep_name before, now;
	bool ok;
	int k;

	open_scalables(&how, 2);
	before = name_of(q[1].ep);
	for (k = 0; k < 2; k++) {
		closed(&q[1].rx[k].ep->fid);
		closed(&q[1].tx[k].ep->fid);
		q[1].tx[k].ep = NULL;
	}
	ok = closed(&q[1].ep->fid) && sent(0, 1, mem) &&
	     fails(q[0].tx[0].cq, FI_EHOSTUNREACH, mem);
	q[1].ep = new_sep(&q[1].s, 2, 2);
	now = name_of(q[1].ep);
	ok = ok && expect(now.ep, before.ep) &&
	     expect(now.serial != before.serial, true) &&
	     expect(fi_scalable_ep_bind(q[1].ep, &q[1].av->fid, 0), 0) &&
	     open_again(&q[1], 0) && open_again(&q[1], 1) &&
	     expect(fi_recv(q[1].rx[1].ep, mem, LONG, NULL, FI_ADDR_UNSPEC, mem),
		    0) &&
	     sent(0, 1, mem) && fails(q[0].tx[0].cq, FI_EHOSTUNREACH, mem) &&
	     silent();
	q[0].peer = insert(q[0].av, &now);
	ok = ok && sent(0, 1, mem) &&
	     next_is(q[1].rx[1].cq, FI_RECV | FI_MSG, mem) &&
	     next_is(q[0].tx[0].cq, FI_SEND | FI_MSG, mem);
	close_scalables();
	free(mem);
	return ok;
}

#define SEPS	16	/* scalable endpoints of a domain, with CTXS contexts each way */

/**
 * struct lot - the contexts of several endpoints of one domain
 * @s: domain, and the queue of all contexts
 * @av: addresses
 * @ep: endpoints
 * @tx: transmit contexts
 * @rx: receive contexts
 * @peer: endpoints of the other side
 */
struct lot {
	struct side s;
	struct fid_av *av;
	struct fid_ep *ep[SEPS];
	struct fid_ep *tx[SEPS][CTXS];
	struct fid_ep *rx[SEPS][CTXS];
	fi_addr_t peer[SEPS];
};

static struct lot lot[2];

static bool open_lot(struct lot *l, const char *domain)
{
	struct fi_av_attr av = { .rx_ctx_bits = BITS };
	const struct how how = { .caps = FI_MSG | FI_RMA | FI_NAMED_RX_CTX };
	bool ok;
	int e, i;

	open_side(&l->s, &how, domain);
	ok = expect(fi_av_open(l->s.domain, &av, &l->av, NULL), 0);
	for (e = 0; ok && e < SEPS; e++) {
		l->ep[e] = new_sep(&l->s, CTXS, CTXS);
		ok = expect(fi_scalable_ep_bind(l->ep[e], &l->av->fid, 0), 0) &&
		     expect(fi_enable(l->ep[e]), 0);
		for (i = 0; ok && i < CTXS; i++)
			ok = expect(fi_tx_context(l->ep[e], i, NULL, &l->tx[e][i],
						  NULL), 0) &&
			     expect(fi_rx_context(l->ep[e], i, NULL, &l->rx[e][i],
						  NULL), 0) &&
			     expect(fi_ep_bind(l->tx[e][i], &l->s.cq->fid,
					       FI_TRANSMIT), 0) &&
			     expect(fi_ep_bind(l->rx[e][i], &l->s.cq->fid,
					       FI_RECV), 0) &&
			     expect(fi_enable(l->tx[e][i]), 0) &&
			     expect(fi_enable(l->rx[e][i]), 0);
	}
	return ok;
}

static void close_lot(struct lot *l)
{
	int e, i;

	for (e = 0; e < SEPS && l->ep[e]; e++) {
		for (i = 0; i < CTXS; i++) {
			if (l->tx[e][i])
				closed(&l->tx[e][i]->fid);
			if (l->rx[e][i])
				closed(&l->rx[e][i]->fid);
		}
		closed(&l->ep[e]->fid);
	}
	closed(&l->av->fid);
	close_side(&l->s);
	memset(l, 0, sizeof(*l));
}

/*
 * Sends a message and a write from transmit context @i of endpoint @e to a receive
 * context with another number, of another endpoint.  That context receives the message.
 */
static bool lot_meets(int e, int i, uint64_t *landed)
{
	const int to = (e + 3) % SEPS, at = (i + 5) % CTXS;
	const fi_addr_t peer = fi_rx_addr(lot[0].peer[to], at, BITS);
	uint64_t out = (uint64_t)(e * CTXS + i + 1), in = 0;
	struct fi_cq_tagged_entry entry;

	return expect(fi_recv(lot[1].rx[to][at], &in, sizeof(in), NULL,
			      FI_ADDR_UNSPEC, &lot[1].rx[to][at]), 0) &&
	       expect(when_room(&lot[0].s, fi_send(lot[0].tx[e][i], &out,
						   sizeof(out), NULL, peer,
						   &lot[0].tx[e][i])), 0) &&
	       completion(&lot[1].s, &entry) &&
	       expect(entry.op_context == &lot[1].rx[to][at], true) &&
	       expect((long long)in, (long long)out) &&
	       completion(&lot[0].s, &entry) &&
	       expect(entry.op_context == &lot[0].tx[e][i], true) &&
	       expect(when_room(&lot[0].s,
				fi_write(lot[0].tx[e][i], &out, sizeof(out), NULL,
					 peer, 0, 1, &out)), 0) &&
	       completion(&lot[0].s, &entry) &&
	       expect(entry.op_context == &out, true) &&
	       expect((long long)*landed, (long long)out);
}

/*
 * Opens a domain with hundreds of contexts, each of which sends, receives and
 * writes.
 */
static bool hundreds(void)
{
	uint64_t landed = 0;
	struct fid_mr *mr;
	struct ep_name name;
	bool ok = open_lot(&lot[0], "angara0") && open_lot(&lot[1], "angara3");
	int e, i;

	mr = reg(&lot[1].s, &landed, sizeof(landed), FI_REMOTE_WRITE, 1);
	for (e = 0; ok && e < SEPS; e++) {
		name = name_of(lot[1].ep[e]);
		lot[0].peer[e] = insert(lot[0].av, &name);
	}
	for (e = 0; ok && e < SEPS; e++)
		for (i = 0; ok && i < CTXS; i++)
			ok = lot_meets(e, i, &landed);
	closed(&mr->fid);
	close_lot(&lot[0]);
	close_lot(&lot[1]);
	return ok;
}

const struct part sepload_parts[] = {
	{ "sep: all to all", all_to_all },
	{ "sep: operations in order", ordered },
	{ "sep: threads with a context each", threads },
	{ "sep: hundreds of contexts", hundreds },
	{ "sep: two processes", processes },
	{ "sep: closing contexts", ends },
	{ "sep: orders of closing", orders },
	{ "sep: reused numbers", successors },
	{ 0 },
};
