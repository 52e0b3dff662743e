// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads with a context or a domain each, all of which write to all threads of
 * the other side at once. Both sides have equally many threads.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "group.h"
#include "sep.h"

#define KEY	30
#define ROUNDS	64
#define LIMIT_S	60

/**
 * struct writer - a thread
 * @ep: its context or endpoint
 * @cq: completions
 * @to: threads of the other side
 * @row: bytes between the places of two threads in a region
 * @n: threads of a side
 * @k: its number
 * @ok: no error so far
 * @done: writes that have ended
 */
struct writer {
	struct fid_ep *ep;
	struct fid_cq *cq;
	fi_addr_t to[CTXS];
	size_t row;
	int n;
	int k;
	bool ok;
	int done;
};

/* [side][to][from]: the number of the last round that was written */
static uint64_t landed[2][CTXS][CTXS];
static uint64_t rounds[ROUNDS];
static time_t end;	/* deadline of all threads */

static bool late(void)
{
	return time(NULL) > end;
}

/* Takes completions, without waiting. */
static bool reap(struct writer *w)
{
	struct fi_cq_tagged_entry e[CTXS];
	ssize_t n = fi_cq_read(w->cq, e, CTXS);

	/* Poll again at once, as programs do. */
	if (n == -FI_EAGAIN)
		return !late();
	w->done += n > 0 ? (int)n : 0;
	return expect(n > 0, true);
}

static bool write_to(struct writer *w, int to, int round)
{
	const size_t place = w->row * (size_t)to +
			     sizeof(landed[0][0][0]) * (size_t)w->k;
	ssize_t ret = -FI_EAGAIN;

	while (w->ok && ret == -FI_EAGAIN) {
		ret = fi_write(w->ep, &rounds[round], 8, NULL, w->to[to], place,
			       KEY, w);
		if (ret == -FI_EAGAIN)
			w->ok = reap(w);
	}
	return w->ok && expect(ret, 0);
}

static void *writes(void *arg)
{
	struct writer *w = arg;
	int to, i;

	for (i = 0; w->ok && i < ROUNDS; i++) {
		for (to = 0; w->ok && to < w->n; to++)
			w->ok = write_to(w, to, i);
		/* The next round must not overtake this one. */
		while (w->ok && w->done < (i + 1) * w->n)
			w->ok = reap(w);
	}
	return NULL;
}

static bool all_landed(int n)
{
	bool ok = true;
	int side, to, from;

	for (side = 0; side < 2; side++)
		for (to = 0; to < n; to++)
			for (from = 0; ok && from < n; from++)
				ok = expect((long long)landed[side][to][from],
					    ROUNDS);
	return ok;
}

static struct writer writers[2 * CTXS];

/* Called before the writers are filled in. */
static void prepare(void)
{
	int i;

	memset(landed, 0, sizeof(landed));
	memset(writers, 0, sizeof(writers));
	for (i = 0; i < ROUNDS; i++)
		rounds[i] = (uint64_t)i + 1;
}

/* Runs all writers at once. */
static bool run(int n)
{
	pthread_t thread[2 * CTXS];
	struct timespec from, to;
	bool ok = true;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &from);
	end = time(NULL) + LIMIT_S;
	for (i = 0; i < 2 * n; i++) {
		writers[i].n = n;
		writers[i].k = i / 2;
		writers[i].ok = true;
		pthread_create(&thread[i], NULL, writes, &writers[i]);
	}
	for (i = 0; i < 2 * n; i++) {
		pthread_join(thread[i], NULL);
		ok = ok && writers[i].ok;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("# %d threads of each side: %ld ms\n", n,
	       (to.tv_sec - from.tv_sec) * 1000L +
	       (to.tv_nsec - from.tv_nsec) / 1000000L);
	return expect(late(), false) && ok && all_landed(n);
}

static bool all_to_all(int n, const struct how *how)
{
	struct fid_mr *mr[2];
	bool ok;
	int i, j;

	prepare();
	open_scalables(how, n);
	for (i = 0; i < 2; i++)
		mr[i] = reg(&q[i].s, landed[i], sizeof(landed[i]),
			    FI_REMOTE_WRITE, KEY);
	for (i = 0; i < 2 * n; i++) {
		struct scalable *me = &q[i & 1];

		writers[i].ep = me->tx[i / 2].ep;
		writers[i].cq = me->tx[i / 2].cq;
		writers[i].row = sizeof(landed[0][0]);
		for (j = 0; j < n; j++)
			writers[i].to[j] = to_ctx(me, j);
	}
	ok = run(n);
	for (i = 0; i < 2; i++)
		closed(&mr[i]->fid);
	close_scalables();
	return ok;
}

#define LONERS	6	/* domains of a side, fewer than a node has contexts */

/*
 * With a domain each, threads share nothing of the provider: the program
 * promises that each domain is used by one thread, and no call takes a lock.
 */
static bool loners(void)
{
	const struct how how = { .threading = FI_THREAD_DOMAIN };
	static struct side s[2][LONERS];
	struct fid_mr *mr[2][LONERS];
	bool ok;
	int side, i, j;

	prepare();
	for (i = 0; i < LONERS; i++)
		for (side = 0; side < 2; side++) {
			struct writer *w = &writers[2 * i + side];

			open_side(&s[side][i], &how, side ? "angara3" : "angara0");
			mr[side][i] = reg(&s[side][i], landed[side][i],
					  sizeof(landed[0][0]), FI_REMOTE_WRITE,
					  KEY);
			w->ep = s[side][i].ep;
			w->cq = s[side][i].cq;
		}
	for (i = 0; i < LONERS; i++)
		for (j = 0; j < LONERS; j++)
			for (side = 0; side < 2; side++)
				introduce(&s[side][i], &s[!side][j],
					  &writers[2 * i + side].to[j]);
	ok = run(LONERS);
	for (i = 0; i < LONERS; i++)
		for (side = 0; side < 2; side++) {
			closed(&mr[side][i]->fid);
			close_side(&s[side][i]);
		}
	return ok;
}

static bool manual(void)
{
	const struct how how = { 0 };

	return all_to_all(2, &how) && all_to_all(4, &how) &&
	       all_to_all(8, &how) && all_to_all(16, &how);
}

static bool automatic(void)
{
	const struct how how = { .progress = FI_PROGRESS_AUTO };

	return all_to_all(2, &how) && all_to_all(8, &how);
}

static struct side *watched;
static bool entered, waited;

static void *enters(void *arg)
{
	fi_cntr_read(watched->cntr);
	__atomic_store_n(&entered, true, __ATOMIC_SEQ_CST);
	return arg;
}

static pthread_t visitor;

/* Lets another thread call while this one is in a call. */
static void visit(void)
{
	int ms;

	at_poll = NULL;
	entered = false;
	pthread_create(&visitor, NULL, enters, NULL);
	for (ms = 0; ms < 300 && !__atomic_load_n(&entered, __ATOMIC_SEQ_CST);
	     ms++)
		poll(NULL, 0, 1);
	waited = !__atomic_load_n(&entered, __ATOMIC_SEQ_CST);
}

/* Does a call wait for the end of another call on the same domain? */
static bool locks(struct side *s)
{
	watched = s;
	at_poll = visit;
	/*
	 * The visit is made in this call, or before it by the provider's
	 * thread.
	 */
	fi_cq_read(s->cq, NULL, 0);
	pthread_join(visitor, NULL);
	return waited;
}

/*
 * Do calls of a domain soon take no lock?  If a thread of the other domain happens to
 * make the visit, the visitor does not wait for this domain's lock: ask three times.
 */
static bool unlocks(struct side *s, int seconds)
{
	time_t last = time(NULL) + seconds;
	int n = 0;

	while (n < 3 && time(NULL) <= last) {
		n = locks(s) ? 0 : n + 1;
		poll(NULL, 0, 50);
	}
	return n == 3;
}

static bool joined(struct team *t)
{
	static const int who[] = { 0, 1 };
	bool ok = join(t, 2, who) && expect(locks(&all[0].s), true);

	leave(t, ~0U);
	return ok;
}

/* Calls take a lock, unless the program uses the domain from one thread. */
static bool locking(void)
{
	static const enum fi_threading kinds[] = {
		FI_THREAD_UNSPEC, FI_THREAD_SAFE, FI_THREAD_FID,
		FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT, FI_THREAD_DOMAIN,
	};
	struct how how = { .caps = FI_COLLECTIVE | FI_MSG | FI_RMA };
	struct team t = { 0 };
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < sizeof(kinds) / sizeof(*kinds); i++) {
		how.threading = kinds[i];
		how.progress = FI_PROGRESS_MANUAL;
		open_members(2, &how);
		ok = expect(locks(&all[0].s), kinds[i] != FI_THREAD_DOMAIN) &&
		     joined(&t);
		close_members(2);
	}
	how.progress = FI_PROGRESS_AUTO;
	open_members(1, &how);
	ok = ok && expect(locks(&all[0].s), true);
	close_members(1);
	return ok;
}

/*
 * If one thread uses the domain, calls need the lock for some seconds after the last
 * group; otherwise for ever.  A second group needs the lock again.
 */
static bool unlocking(void)
{
	struct how how = {
		.caps = FI_COLLECTIVE | FI_MSG | FI_RMA,
		.threading = FI_THREAD_SAFE,
	};
	struct team t = { 0 };
	bool ok;

	open_members(2, &how);
	ok = joined(&t) && expect(unlocks(&all[0].s, 6), false);
	close_members(2);
	how.threading = FI_THREAD_DOMAIN;
	open_members(2, &how);
	ok = ok && joined(&t) && expect(locks(&all[0].s), true) &&
	     expect(unlocks(&all[0].s, 20), true) && joined(&t);
	close_members(2);
	return ok;
}

const struct part many_parts[] = {
	{ "threads: all write to all, up to 16", manual },
	{ "threads: all write to all, with threads of the provider", automatic },
	{ "threads: all write to all, with a domain each", loners },
	{ "threads: which domains have a lock", locking },
	{ "threads: no lock some time after the last group", unlocking },
	{ 0 },
};
