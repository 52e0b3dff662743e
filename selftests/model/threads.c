// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Several views on one fabric, each with its thread.  A thread has the contexts
 * of some nodes, posts, kicks, runs the work in its view, and sometimes hands
 * over the rest of its queue, as the hosts do.  All operations must complete,
 * with the right data, and without a race under ThreadSanitizer.
 *
 * On each link PERCENT percent of the packets are lost, and as many corrupted.
 *
 *   model-threads [THREADS [ROUNDS [DIMS [PERCENT]]]]
 */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "coll.h"

#define MAX_THREADS	16
#define LEN		1040
#define SLOTS		16
#define SECONDS		900	/* limit for a run, which hangs if it takes
				 * longer
				 */

jmp_buf test_failed;

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("not ok - %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

struct worker {
	pthread_t thread;
	u32 index;
	struct ang_view v;
};

static struct group g;
static struct ttree *tree[4];
static struct worker workers[MAX_THREADS];
static u32 nthreads = 3, rounds = 40;
static const char *dims = "2x2x2";
static u32 percent;
static u32 finished;
/* Results of sums of floats, whose contributions are the same in all rounds. */
#define FLOATS		2U	/* first slot, and first tree, of sums of floats */
static u64 floats[4 - FLOATS][LEN / 8];

/* Work that a view hands over to the next one. */
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ang_list shared_runq = { ANG_NONE, ANG_NONE };
static struct ang_list shared_timers = { ANG_NONE, ANG_NONE };

static void hand_on(struct worker *w)
{
	pthread_mutex_lock(&shared_lock);
	ang_list_splice(g.h->fab, &shared_runq, &w->v.runq);
	ang_timers_splice(g.h->fab, &shared_timers, &w->v.timers);
	pthread_mutex_unlock(&shared_lock);
}

static void take_over(struct worker *w)
{
	pthread_mutex_lock(&shared_lock);
	ang_list_splice(g.h->fab, &w->v.runq, &shared_runq);
	ang_timers_splice(g.h->fab, &w->v.timers, &shared_timers);
	pthread_mutex_unlock(&shared_lock);
}

static u32 value(u32 ctx, u32 round, u32 what, u32 i)
{
	return (ctx + 1) * 2654435761U + round * 40503U + what * 977U + i;
}

static int is_float(u32 slot)
{
	return slot >= FLOATS && slot < 4;
}

static u32 *area(struct tctx *c, u32 half, u32 slot)
{
	return (u32 *)(c->buf + half * c->buf_len / 2 + slot * LEN);
}

/* Operations of a round: a put to a neighbour, a get, 4 allreduces, a barrier. */
static void post_round(u32 ctx, u32 round)
{
	struct tctx *c = g.ctx[ctx];
	struct tctx *peer = g.ctx[(ctx + 1 + round) % g.n];
	u32 slot, i;

	for (slot = 0; slot < 6; slot++) {
		struct angara_wqe w;
		u64 to = c->buf_len / 2 + slot * LEN;

		for (i = 0; i < LEN / 4 && !is_float(slot); i++)
			area(c, 0, slot)[i] = value(ctx, round, slot, i);
		if (slot < 4)
			w = wqe_coll(ANGARA_OP_ALLREDUCE, slot, slot * LEN, to,
				     LEN);
		else
			w = wqe_p2p(slot == 4 ? ANGARA_OP_PUT : ANGARA_OP_GET,
				    peer->node, peer->id, slot == 4 ?
				    4 * LEN : 7 * LEN, slot == 4 ?
				    peer->buf_len / 2 + (4 + ctx % 3) * LEN : to + 4 * LEN,
				    LEN);
		if (is_float(slot))
			w.type = ANGARA_TYPE_FLOAT;
		w.cookie = cpu_to_le64(round * 16 + slot);
		post(c, &w, NULL);
	}
}

/* Every other thread uses doorbells that run a context at once. */
static void ring(struct worker *w, struct tctx *c)
{
	u32 off = ANGARA_DB_PAGE(c->id) + ANGARA_DB_SQ;

	if (w->index % 2)
		ang_reg_ring(&w->v, c->node, off, c->sq_pi);
	else
		ang_reg_write(&w->v, c->node, off, c->sq_pi);
}

static void check_round(u32 ctx, u32 round)
{
	u32 slot, i, m;

	for (slot = FLOATS; slot < 4; slot++)
		EXPECT(!memcmp(area(g.ctx[ctx], 1, slot), floats[slot - FLOATS],
			       LEN));
	for (slot = 0; slot < FLOATS; slot++)
		for (i = 0; i < LEN / 4; i += 37) {
			u32 sum = 0;

			for (m = 0; m < g.n; m++)
				sum += value(m, round, slot, i);
			EXPECT_EQ(area(g.ctx[ctx], 1, slot)[i], sum);
		}
}

/*
 * Does the work of the contexts whose number modulo the number of threads is
 * the worker's number.
 */
static void *work(void *arg)
{
	struct worker *w = arg;
	u32 mine = (g.n - w->index + nthreads - 1) / nthreads;
	u32 round, i, left;
	u64 seed = w->index + 1;
	struct angara_cqe cqe;

	for (round = 0; round < rounds; round++) {
		for (i = w->index; i < g.n; i += nthreads) {
			post_round(i, round);
			ring(w, g.ctx[i]);
			w->v.turn = 1U << rnd(&seed) % 15;
			run_steps(&w->v, rnd(&seed) % 8);
		}
		for (left = 6 * mine; left;) {
			run_steps(&w->v, 1 + rnd(&seed) % 50);
			if (rnd(&seed) % 4 == 0)
				hand_on(w);
			take_over(w);
			for (i = w->index; i < g.n; i += nthreads)
				while (poll_cq(g.ctx[i], &cqe)) {
					EXPECT_EQ(cqe.status, 0);
					left--;
				}
			sched_yield();
		}
		for (i = w->index; i < g.n; i += nthreads)
			check_round(i, round);
	}
	hand_on(w);
	ang_fetch_add(&finished, 1);
	/* Nodes in this view's queue may have work for others. */
	while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) != nthreads) {
		take_over(w);
		run_steps(&w->v, 100);
		hand_on(w);
		sched_yield();
	}
	return NULL;
}

/* Numbers just below 2 in magnitude, whose sums are rounded. */
static void give_floats(u32 slot)
{
	u32 c, i;

	for (c = 0; c < g.n; c++)
		for (i = 0; i < LEN / 4; i++)
			area(g.ctx[c], 0, slot)[i] =
				(value(c, 0, slot, i * 7919) & 0x83FFFFFFU) |
				0x3C000000U;
	coll_fold(tree[slot], ANGARA_TYPE_FLOAT, ANGARA_RED_SUM, slot * LEN,
		  floats[slot - FLOATS], LEN);
}

static void set_up(void)
{
	u16 pe[64];
	u32 i;

	struct ang_cfg cfg = cfg_tight;

	cfg.ops = 8;
	cfg.fault.loss = cfg.fault.corrupt = ANGARA_FAULT_ONE / 100 * percent;
	g.h = host_new(dims, &cfg);
	EXPECT(g.h->nodes <= 64);
	g.h->ops.trace = NULL;
	group_new(&g, 1, SLOTS * LEN);
	for (i = 0; i < g.h->nodes; i++)
		pe[i] = 1;
	for (i = 0; i < 4; i++)
		tree[i] = tree_over(g.h, i, i % g.h->nodes, g.ctx, g.n, pe, 1);
	for (i = FLOATS; i < 4; i++)
		give_floats(i);
}

/* Return: number of packets that all links have retransmitted. */
static u64 again(void)
{
	u64 sum = 0;
	u32 i, k;

	for (i = 0; i < g.h->v.topo.routers; i++)
		for (k = 0; k < g.h->fab->nports; k++)
			sum += ang_port(g.h->fab, ang_node(g.h->fab, i),
					k)->retry.cnt.retransmitted;
	return sum;
}

int main(int argc, char **argv)
{
	u32 i;

	if (argc > 1)
		nthreads = (u32)atoi(argv[1]);
	if (argc > 2)
		rounds = (u32)atoi(argv[2]);
	if (argc > 3)
		dims = argv[3];
	if (argc > 4)
		percent = (u32)atoi(argv[4]);
	if (!nthreads || nthreads > MAX_THREADS || !rounds || percent > 50)
		return 2;
	alarm(SECONDS);
	set_up();
	for (i = 0; i < nthreads; i++) {
		workers[i].index = i;
		ang_view_init(&workers[i].v, g.h->fab, &g.h->ops, g.h);
		/*
		 * Without MODEL_EXPRESS every other view uses packets only.
		 * With it all views may bypass links.
		 */
		workers[i].v.packets = !getenv("MODEL_EXPRESS") && i % 2 == 0;
		workers[i].v.calm = 1;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 2;
	}
	for (i = 0; i < nthreads; i++)
		pthread_join(workers[i].thread, NULL);
	ang_list_splice(g.h->fab, &g.h->v.runq, &shared_runq);
	ang_timers_splice(g.h->fab, &g.h->v.timers, &shared_timers);
	host_check_idle(g.h);
	EXPECT(!again() == !percent);
	for (i = 0; i < 4; i++)
		tree_del(tree[i]);
	group_del(&g);
	printf("ok - %u threads, %u rounds on %s\n", nthreads, rounds, dims);
	return 0;
}
