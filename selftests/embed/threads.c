// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads instead of processes, on an embedded fabric that all of them have
 * mapped at the same address, so that ThreadSanitizer sees all accesses.  They
 * do collectives, puts and gets, and every kind of wait, and check all data.
 *
 *	threads [THREADS [ROUNDS [SEED]]]
 */
#include <err.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "members.h"
#include "../library/pending.h"

#define LEN	(1U << 16)
#define HALF	(LEN / 2)
#define LIMIT	60000

static unsigned int threads = 4, rounds = 100;
static unsigned long seed = 1;
static pthread_barrier_t start;

struct worker {
	pthread_t thread;
	unsigned int rank;
	unsigned long common;	/* random numbers, equal in all threads */
	unsigned long own;
	struct member *m;
	uint64_t received, counted;
};

static unsigned int rnd(unsigned long *state, unsigned int below)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned int)(*state >> 33) % below;
}

static void finish(struct worker *w, int ret, struct pending *req)
{
	struct pollfd p = { .events = POLLIN };

	CHECK(ret);
	switch (rnd(&w->own, 8)) {
	case 0:
		while ((ret = pending_test(w->m->ctx, req)) == -EAGAIN)
			;
		break;
	case 1:
		p.fd = angara_ctx_fd(w->m->ctx);
		if (p.fd < 0)
			errx(1, "angara_ctx_fd: %s", strerror(-p.fd));
		while ((ret = pending_test(w->m->ctx, req)) == -EAGAIN)
			if (!angara_ctx_arm(w->m->ctx) && poll(&p, 1, LIMIT) == 0)
				errx(1, "no event at the context within %u ms", LIMIT);
		break;
	default:
		ret = pending_wait(w->m->ctx, req, LIMIT);
	}
	CHECK(ret);
}

static void expect(uint32_t got, uint32_t want, const char *what)
{
	if (got != want)
		errx(1, "%s: %u, not %u", what, got, want);
}

static void barrier(struct worker *w)
{
	struct pending req = { 0 };
	int ret = angara_barrier_nbi(&w->m->team, pending_op(&req));

	finish(w, ret, &req);
}

static void allreduce(struct worker *w, unsigned int count, unsigned int salt)
{
	uint32_t *data = angara_mr_addr(w->m->mr);
	struct pending req = { 0 };
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		data[i] = w->rank * 3 + i + salt;
	ret = angara_allreduce_nbi(&w->m->team, w->m->mr, HALF, w->m->mr, 0,
				   count, ANGARA_TYPE_UINT32, ANGARA_RED_SUM,
				   pending_op(&req));
	finish(w, ret, &req);
	for (i = 0; i < count; i++)
		expect(data[HALF / 4 + i], threads * (threads - 1) / 2 * 3 +
		       threads * (i + salt), "allreduce");
	/* Wait, since other threads would overwrite data that is not checked yet. */
	barrier(w);
}

static void bcast(struct worker *w, unsigned int from, unsigned int len,
		  unsigned int salt)
{
	unsigned char *data = angara_mr_addr(w->m->mr);
	struct pending req = { 0 };
	unsigned int i;
	int ret;

	if (w->rank == from) {
		memset(data, (int)(salt & 0xFF), len);
		ret = angara_bcast_nbi(&w->m->team, angara_mr_key(w->m->mr),
				       HALF, w->m->mr, 0, len, pending_op(&req));
		finish(w, ret, &req);
	}
	CHECK(angara_team_received_wait(&w->m->team, ++w->received, LIMIT));
	for (i = 0; i < len; i++)
		expect(data[HALF + i], salt & 0xFF, "broadcast");
	barrier(w);
}

/* Each thread writes to its neighbor, which is notified, and reads the data back. */
static void neighbours(struct worker *w, unsigned int len, unsigned int salt)
{
	struct angara_peer to = peers[(w->rank + 1) % threads];
	unsigned char *data = angara_mr_addr(w->m->mr);
	unsigned int before = (w->rank + threads - 1) % threads;
	struct pending req = { 0 };
	unsigned int i;
	int ret;

	memset(data, (int)((w->rank + salt) & 0xFF), len);
	ret = angara_put_nbi(w->m->ctx, to, angara_mr_key(w->m->mr), HALF,
			     w->m->mr, 0, len, pending_notify(&req, 5));
	finish(w, ret, &req);
	CHECK(angara_counter_wait(w->m->ctx, 5, ++w->counted, LIMIT));
	for (i = 0; i < len; i++)
		expect(data[HALF + i], (before + salt) & 0xFF, "put");
	ret = angara_get_nbi(w->m->ctx, to, angara_mr_key(w->m->mr), HALF,
			     w->m->mr, 0, len, pending_op(&req));
	finish(w, ret, &req);
	for (i = 0; i < len; i++)
		expect(data[i], (w->rank + salt) & 0xFF, "get");
	barrier(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int round;

	pthread_barrier_wait(&start);
	for (round = 0; round < rounds; round++) {
		unsigned int what = rnd(&w->common, 4);
		unsigned int len = 1 + rnd(&w->common, HALF);

		if (rnd(&w->common, 4))
			len = 1 + len % 300;
		if (what == 0)
			allreduce(w, 1 + len / 4, round);
		else if (what == 1)
			bcast(w, len % threads, len, round);
		else if (what == 2)
			neighbours(w, len, round);
		else
			barrier(w);
		/*
		 * Some threads are late, so they find the other threads
		 * asleep.
		 */
		if (!rnd(&w->own, 20))
			usleep(rnd(&w->own, 500));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[MAX_MEMBERS];
	unsigned int i;

	if (argc > 1)
		threads = (unsigned int)atoi(argv[1]);
	if (argc > 2)
		rounds = (unsigned int)atoi(argv[2]);
	if (argc > 3)
		seed = strtoul(argv[3], NULL, 0);
	if (threads < 2 || threads > MAX_MEMBERS || !rounds)
		errx(2, "usage: threads [2..%u [ROUNDS [SEED]]]", MAX_MEMBERS);
	team_set_up(threads, LEN);
	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		workers[i] = (struct worker){
			.rank = i, .common = seed, .own = seed * 31 + i,
			.m = &member[i],
		};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			errx(1, "cannot create a thread");
	}
	for (i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	team_end(threads);
	printf("%u rounds of %u threads\n", rounds, threads);
	return 0;
}
