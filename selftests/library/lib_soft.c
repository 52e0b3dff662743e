// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of teams with and without a tree, compared with their definition;
 * several at a time, on teams that share members.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define MAX_COUNT	10000	/* elements of a block */
#define MAX_MEMBERS	32

typedef int64_t elem;

static const size_t counts[] = { 0, 1, 5, 40, 700, MAX_COUNT };

#define COUNTS	(sizeof(counts) / sizeof(*counts))

static struct angara_team *team_new(unsigned int flags)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = flags };
	struct angara_team *team;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		exit(1);
	return team;
}

/*
 * Return: element @i that member @from contributes to its collective number
 * @round.
 */
static elem given(unsigned int round, unsigned int from, size_t i)
{
	return (elem)((i * 2654435761U + from * 97 + round * 1009) % 1000003) - 500000;
}

static elem sum_to(unsigned int round, unsigned int members, size_t i)
{
	elem v = 0;
	unsigned int m;

	for (m = 0; m < members; m++)
		v += given(round, m, i);
	return v;
}

enum kind {
	BARRIER, BROADCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER,
	REDUCE_SCATTERV, ALLGATHER, ALLGATHERV, GATHER, GATHERV, SCATTER, SCATTERV,
	ALLTOALL, ALLTOALLV, KINDS
};

static const char *const names[KINDS] = {
	"barrier", "broadcast", "reduce", "allreduce", "scan", "exscan", "reduce_scatter",
	"reduce_scatterv", "allgather", "allgatherv", "gather", "gatherv", "scatter",
	"scatterv", "alltoall", "alltoallv",
};

/**
 * struct task - a collective in progress
 * @team: team
 * @kind: collective
 * @round: number of the collective, which determines its data
 * @count: elements of a block
 * @root: rank of the root
 * @me: this member's rank
 * @n: members
 * @mem: memory: contribution, then result
 * @mr: region of @mem, NULL if it is not registered
 * @base: start of the memory: 0 in the region, or its address
 * @out: offset of the result in @mem
 * @in_counts: counts of the contribution's blocks, if they differ
 * @out_counts: counts of the result's blocks, if they differ
 * @displs: displacements of the result's blocks
 * @req: operation
 */
struct task {
	struct angara_team *team;
	enum kind kind;
	unsigned int round;
	size_t count;
	unsigned int root;
	unsigned int me;
	unsigned int n;
	char *mem;
	struct angara_mr *mr;
	uint64_t base;
	size_t out;
	size_t in_counts[MAX_MEMBERS];
	size_t out_counts[MAX_MEMBERS];
	size_t displs[MAX_MEMBERS];
	struct pending req;
};

/*
 * Return: number of elements that member @from has for member @to if blocks
 * differ.
 */
static size_t odd(const struct task *t, unsigned int from, unsigned int to)
{
	unsigned int x = from * 3 + to * 5 + t->round;

	return x % 4 == 1 ? 0 : t->count / (1 + x % 3);
}

static elem *in_of(const struct task *t)
{
	return (elem *)t->mem;
}

static elem *out_of(const struct task *t)
{
	return (elem *)(t->mem + t->out);
}

/*
 * Sets counts in units of @unit bytes, and the places of results: the last block
 * comes first.
 */
static void lay_out(struct task *t, size_t unit)
{
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < t->n; i++) {
		if (t->kind == ALLTOALLV) {
			t->in_counts[i] = odd(t, t->me, i) * unit;
			t->out_counts[i] = odd(t, i, t->me) * unit;
		} else {
			t->in_counts[i] = odd(t, i, 0) * unit;
			t->out_counts[i] = t->in_counts[i];
		}
	}
	for (i = t->n; i--; at += t->out_counts[i] + 8)
		t->displs[i] = at;
}

static size_t area(const struct task *t)
{
	return (t->count + 1) * (t->n + 1) * sizeof(elem);
}

static void task_fill(struct task *t)
{
	size_t i;

	memset(out_of(t), 0x5A, area(t));
	for (i = 0; i < area(t) / sizeof(elem); i++)
		in_of(t)[i] = given(t->round, t->me, i);
	if (t->kind == BROADCAST && t->me == t->root)
		memcpy(out_of(t), in_of(t), t->count * sizeof(elem));
}

static int task_start_v(struct task *t, const struct angara_op *op)
{
	uint64_t in = t->base, out = t->base + t->out;

	switch (t->kind) {
	case REDUCE_SCATTERV:
		lay_out(t, 1);
		return angara_reduce_scatterv_nbi(t->team, t->mr, out, t->mr, in,
						  t->in_counts, ANGARA_TYPE_INT64,
						  ANGARA_RED_SUM, op);
	case ALLGATHERV:
		lay_out(t, sizeof(elem));
		return angara_allgatherv_nbi(t->team, t->mr, out, t->out_counts, t->displs,
					     t->mr, in, op);
	case GATHERV:
		lay_out(t, sizeof(elem));
		return angara_gatherv_nbi(t->team, t->mr, out, t->out_counts, t->displs,
					  t->mr, in, t->in_counts[t->me], t->root, op);
	case SCATTERV:
		lay_out(t, sizeof(elem));
		return angara_scatterv_nbi(t->team, t->mr, out, t->mr, in, t->in_counts,
					   t->displs, t->in_counts[t->me], t->root, op);
	default:
		lay_out(t, sizeof(elem));
		return angara_alltoallv_nbi(t->team, t->mr, out, t->out_counts, t->displs,
					    t->mr, in, t->in_counts, NULL, op);
	}
}

static int task_start(struct task *t)
{
	const struct angara_op *op = pending_op(&t->req);
	uint64_t in = t->base, out = t->base + t->out;
	size_t len = t->count * sizeof(elem);
	const unsigned int type = ANGARA_TYPE_INT64, sum = ANGARA_RED_SUM;
	bool here = t->me == t->root;

	switch (t->kind) {
	case BARRIER:
		return angara_barrier_nbi(t->team, op);
	case BROADCAST:
		return angara_broadcast_nbi(t->team, t->mr, out, len, t->root, op);
	case REDUCE:
		return angara_reduce_nbi(t->team, here ? t->mr : NULL, out, t->mr, in,
					 t->count, type, sum, t->root, op);
	case ALLREDUCE:
		return angara_allreduce_nbi(t->team, t->mr, out, t->mr, in, t->count, type,
					    sum, op);
	case SCAN:
		return angara_scan_nbi(t->team, t->mr, out, t->mr, in, t->count, type, sum,
				       op);
	case EXSCAN:
		return angara_exscan_nbi(t->team, t->mr, out, t->mr, in, t->count, type,
					 sum, op);
	case REDUCE_SCATTER:
		return angara_reduce_scatter_nbi(t->team, t->mr, out, t->mr, in, t->count,
						 type, sum, op);
	case ALLGATHER:
		return angara_allgather_nbi(t->team, t->mr, out, t->mr, in, len, op);
	case GATHER:
		return angara_gather_nbi(t->team, here ? t->mr : NULL, out, t->mr, in, len,
					 t->root, op);
	case SCATTER:
		return angara_scatter_nbi(t->team, t->mr, out, here ? t->mr : NULL, in, len,
					  t->root, op);
	case ALLTOALL:
		return angara_alltoall_nbi(t->team, t->mr, out, t->mr, in, len, op);
	default:
		return task_start_v(t, op);
	}
}

static bool is(const struct task *t, size_t i, elem want)
{
	return expect(names[t->kind], out_of(t)[i], want);
}

/*
 * Do @count elements of the result, from @out on, equal elements of member
 * @from, from @in on?
 */
static bool block(const struct task *t, size_t out, unsigned int from, size_t in,
		  size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!is(t, out + i, given(t->round, from, in + i)))
			return false;
	return true;
}

static bool sums(const struct task *t, size_t in, size_t count, unsigned int members)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!is(t, i, sum_to(t->round, members, in + i)))
			return false;
	return true;
}

static bool blocks_right(const struct task *t)
{
	size_t at = 0, i;
	unsigned int m, k;

	for (m = 0; m < t->n; m++) {
		size_t out = t->displs[m] / sizeof(elem);

		if (t->kind == ALLTOALLV) {
			for (at = 0, k = 0; k < t->me; k++)
				at += odd(t, m, k);
			if (!block(t, out, m, at, odd(t, m, t->me)))
				return false;
		} else if (t->kind == ALLTOALL) {
			if (!block(t, m * t->count, m, t->me * t->count, t->count))
				return false;
		} else if (t->kind == ALLGATHER || t->kind == GATHER) {
			if (!block(t, m * t->count, m, 0, t->count))
				return false;
		} else if (!block(t, out, m, 0, odd(t, m, 0))) {
			return false;
		}
	}
	/* Check that nothing was written between blocks. */
	for (i = 0, m = 0; t->displs[0] && m < t->n; m++)
		i += out_of(t)[(t->displs[m] + t->out_counts[m]) / sizeof(elem)] !=
		     (elem)0x5A5A5A5A5A5A5A5A;
	return t->kind == ALLTOALL || t->kind == ALLGATHER || t->kind == GATHER ||
	       expect("bytes between blocks", (long long)i, 0);
}

static bool task_right(const struct task *t)
{
	size_t at = 0;
	unsigned int k;

	switch (t->kind) {
	case BARRIER:
		return true;
	case BROADCAST:
		return block(t, 0, t->root, 0, t->count);
	case REDUCE:
		return t->me != t->root || sums(t, 0, t->count, t->n);
	case ALLREDUCE:
		return sums(t, 0, t->count, t->n);
	case SCAN:
		return sums(t, 0, t->count, t->me + 1);
	case EXSCAN:
		return !t->me || sums(t, 0, t->count, t->me);
	case REDUCE_SCATTER:
		return sums(t, t->me * t->count, t->count, t->n);
	case REDUCE_SCATTERV:
		for (k = 0; k < t->me; k++)
			at += odd(t, k, 0);
		return sums(t, at, odd(t, t->me, 0), t->n);
	case SCATTER:
		return block(t, 0, t->root, t->me * t->count, t->count);
	case SCATTERV:
		return block(t, 0, t->root, t->displs[t->me] / sizeof(elem),
			     odd(t, t->me, 0));
	case GATHER:
	case GATHERV:
		return t->me != t->root || blocks_right(t);
	default:
		return blocks_right(t);
	}
}

static void task_open(struct task *t, struct angara_team *team, size_t max,
		      bool registered)
{
	*t = (struct task){
		.team = team, .me = angara_team_rank(team), .n = angara_team_size(team),
		.count = max,
	};
	t->out = (area(t) + 63) / 64 * 64;
	if (registered) {
		t->mr = own_region(t->out + area(t));
		t->mem = angara_mr_addr(t->mr);
		return;
	}
	/*
	 * The length is not a multiple of a page, so regions from which
	 * messages are sent overlap.
	 */
	t->mem = malloc(t->out + area(t) + 100);
	if (!t->mem)
		exit(1);
	t->base = (uintptr_t)t->mem;
}

static void task_close(struct task *t)
{
	if (t->mr)
		angara_free(t->mr);
	else
		free(t->mem);
}

static bool task_run(struct task *t)
{
	task_fill(t);
	return expect(names[t->kind], task_start(t), 0) &&
	       expect(names[t->kind], pending_wait(ctx, &t->req, LONG_MS), 0) &&
	       task_right(t);
}

static bool all_kinds(struct angara_team *team, bool registered)
{
	unsigned int kind, root;
	struct task t;
	bool ok = true;
	size_t c;

	task_open(&t, team, MAX_COUNT, registered);
	for (kind = 0; ok && kind < KINDS; kind++)
		for (c = 0; ok && c < COUNTS; c++)
			for (root = 0; ok && root < t.n; root += 1 + t.n / 3) {
				t.kind = kind;
				t.count = counts[c];
				t.root = root;
				t.round++;
				ok = task_run(&t);
				if (!ok)
					printf("# %s, %zu elements, root %u\n",
					       names[kind], counts[c], root);
			}
	task_close(&t);
	return ok;
}

/* All collectives run in software; angara_team_query() reports that. */
static bool by_software(void)
{
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *team = team_new(ANGARA_TEAM_SOFTWARE);
	bool ok = all_kinds(team, true);

	ok &= expect("query", angara_team_query(team, &info), 0) &&
	      expect("offloaded", info.offloaded, 0) &&
	      expect("tree", info.tree, ANGARA_NO_TREE) &&
	      expect("tree", angara_team_tree(team), ANGARA_NO_TREE) &&
	      expect("members", info.members, size) && expect("rank", info.rank, rank) &&
	      expect("lost", info.lost, ANGARA_NO_RANK) &&
	      expect("by device", (long long)info.by_device, 0) &&
	      expect("by software", info.by_software >= KINDS * COUNTS, 1);
	ok &= expect("one-sided", angara_bcast_nbi(team, 0, 0, NULL, 0, 0, NULL), -ENOTSUP) &
	      expect("received", angara_team_received_wait(team, 1, 0), -ENOTSUP);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static bool by_tree(void)
{
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *team = team_new(ANGARA_TEAM_TREE);
	bool ok = all_kinds(team, true);

	ok &= expect("query", angara_team_query(team, &info), 0) &&
	      expect("offloaded", info.offloaded, 1) &&
	      expect("by device", info.by_device >= 3 * COUNTS, 1) &&
	      expect("by software", info.by_software >= (KINDS - 3) * COUNTS, 1);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static uint64_t registrations(void)
{
	struct angara_mr_cache_info info = { .size = sizeof(info) };

	return angara_mr_cache_query(dom, &info) ? UINT64_MAX : info.misses;
}

/*
 * Uses memory that is not registered.  If a buffer is reused, sending from it
 * costs one registration and writing to it another one, for any collective.
 */
static bool unregistered(void)
{
	const unsigned int flags[] = { ANGARA_TEAM_SOFTWARE, ANGARA_TEAM_TREE };
	bool ok = true;
	unsigned int i;

	for (i = 0; ok && i < 2; i++) {
		struct angara_team *team = team_new(flags[i]);
		struct task t;

		ok = all_kinds(team, false);
		task_open(&t, team, MAX_COUNT, false);
		t.kind = ALLREDUCE;
		t.count = MAX_COUNT;
		for (t.round = 0; ok && t.round < 20; t.round++) {
			uint64_t was = registrations();

			ok = task_run(&t) &&
			     expect("registrations", registrations() - was <=
				    (t.round ? 0 : 4), 1);
		}
		task_close(&t);
		ok = ok &&
		     expect("broadcast without an address", angara_broadcast(team, NULL, 0, 8, 0),
			    -EINVAL) &&
		     expect("no result",
			    angara_allreduce(team, NULL, 0, NULL, 8, 1, ANGARA_TYPE_INT64,
					     ANGARA_RED_SUM),
			    -EINVAL);
		ok &= expect("destroy", angara_team_destroy(team), 0);
	}
	return ok;
}

/* Tests the blocking forms. */
static bool waiting(void)
{
	struct angara_team *team = team_new(ANGARA_TEAM_SOFTWARE);
	struct angara_mr *mr = own_region(4096);
	uint64_t *v = angara_mr_addr(mr);
	bool ok;

	v[0] = rank + 1;
	ok = expect("allreduce", angara_allreduce(team, mr, 0, mr, 0, 1, ANGARA_TYPE_UINT64,
						  ANGARA_RED_SUM), 0) &&
	     expect("sum", (long long)v[0], size * (size + 1) / 2);
	v[0] = rank;
	ok = ok && expect("broadcast", angara_broadcast(team, mr, 0, 8, size - 1), 0) &&
	     expect("value", (long long)v[0], size - 1) &&
	     expect("barrier", angara_barrier(team), 0);
	v[0] = rank + 7;
	ok = ok && expect("allgather", angara_allgather(team, mr, 64, mr, 0, 8), 0) &&
	     expect("last", (long long)v[8 + size - 1], size + 6);
	ok = ok && expect("root", angara_broadcast(team, mr, 0, 8, size), -EINVAL) &&
	     expect("range", angara_broadcast(team, mr, 4090, 8, 0), -EINVAL) &&
	     expect("type", angara_scan(team, mr, 0, mr, 0, 1, ANGARA_TYPE_NUM, 0), -EINVAL) &&
	     expect("op", angara_exscan(team, mr, 0, mr, 0, 1, ANGARA_TYPE_DOUBLE,
					ANGARA_RED_XOR), -EINVAL);
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static unsigned int state;

/* Return: a pseudo-random number below @below, the same at all processes. */
static unsigned int any(unsigned int below)
{
	state = state * 1103515245U + 12345U;
	return (state >> 8) % below;
}

#define TEAMS	5
#define DEEP	4
#define ROUNDS	150

struct lane {
	struct angara_team *team;
	struct task task[DEEP];
	bool flying[DEEP];
	unsigned int next;
};

static bool lane_finish(struct lane *l, unsigned int i)
{
	bool ok = true;

	if (l->flying[i])
		ok = expect("wait", pending_wait(ctx, &l->task[i].req, LONG_MS), 0) &&
		     task_right(&l->task[i]);
	l->flying[i] = false;
	return ok;
}

static bool lane_step(struct lane *l, unsigned int round)
{
	unsigned int kind = any(KINDS), root = any(64), c = any(COUNTS - 1);
	unsigned int late = any(4), wait = any(3);
	struct task *t;

	if (!l->team)
		return true;
	t = &l->task[l->next];
	if (!lane_finish(l, l->next))
		return false;
	t->kind = kind;
	t->count = counts[c];
	t->root = root % t->n;
	t->round = round;
	task_fill(t);
	if (late == rank % 4)
		usleep(300);
	if (!expect(names[kind], task_start(t), 0))
		return false;
	l->flying[l->next] = true;
	l->next = (l->next + 1) % DEEP;
	return wait || lane_finish(l, (l->next + DEEP - 1) % DEEP);
}

/*
 * Opens teams of all processes, of all in reverse order, and of halves; some
 * with trees and some without.
 */
static bool lanes_open(struct lane *l, struct angara_team *all)
{
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	unsigned int i, k;
	bool ok;

	l[0].team = all;
	ok = expect("reversed", angara_team_split(all, 0, size - rank, &soft, &l[1].team), 0) &&
	     expect("reversed", angara_team_rank(l[1].team), size - 1 - rank) &&
	     expect("halves", angara_team_split(all, rank % 2, 0, NULL, &l[2].team), 0) &&
	     expect("halves", angara_team_rank(l[2].team), rank / 2) &&
	     expect("strided", angara_team_strided(all, 0, 2, (size + 1) / 2, &soft,
						   &l[3].team), 0) &&
	     expect("copy", angara_team_subset(all, NULL, 0, NULL, &l[4].team), 0);
	for (i = 0; ok && i < TEAMS; i++)
		for (k = 0; l[i].team && k < DEEP; k++)
			task_open(&l[i].task[k], l[i].team, counts[COUNTS - 2],
				  (i + k) % 2);
	return ok;
}

static bool many_teams(void)
{
	struct lane l[TEAMS] = { 0 };
	struct angara_team *all = team_new(ANGARA_TEAM_SOFTWARE);
	unsigned int round, i, k;
	bool ok = lanes_open(l, all);

	state = 7;
	for (round = 0; ok && round < ROUNDS; round++)
		ok = lane_step(&l[any(TEAMS)], round);
	for (i = 0; ok && i < TEAMS; i++)
		for (k = 0; ok && k < DEEP; k++)
			ok = lane_finish(&l[i], (l[i].next + k) % DEEP);
	for (i = 0; i < TEAMS; i++) {
		for (k = 0; l[i].team && k < DEEP; k++)
			task_close(&l[i].task[k]);
		if (i && ok)
			ok &= expect("destroy", angara_team_destroy(l[i].team), 0);
	}
	return ok && expect("destroy", angara_team_destroy(all), 0);
}

/* Some members are far ahead: the messages sent to slow ones are limited. */
static bool far_ahead(void)
{
	enum { N = 600 };
	struct angara_team *team = team_new(ANGARA_TEAM_SOFTWARE);
	struct angara_mr *mr = own_region(N * 8);
	uint64_t *v = angara_mr_addr(mr);
	bool ok = true;
	unsigned int i;

	for (i = 0; i < N; i++)
		v[i] = rank ? 0 : i;
	if (rank)
		usleep(50000 * rank);
	for (i = 0; ok && i < N; i++)
		ok = expect("broadcast", angara_broadcast(team, mr, i * 8, 8, 0), 0);
	for (i = 0; ok && i < N; i++)
		ok = expect("value", (long long)v[i], i);
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/* Rounded sums have the same bits at all members, each time, at any address of the result. */
static bool same_bits(void)
{
	enum { N = 3000 };
	struct angara_team *team = team_new(ANGARA_TEAM_SOFTWARE);
	struct angara_mr *mr = own_region(3 * N * sizeof(double) + 64);
	double *v = angara_mr_addr(mr), first[N];
	unsigned int round, e;
	bool ok = true;

	for (e = 0; e < N; e++)
		v[e] = (e % 3 ? 1.0 : -1.0) * (rank + 1) / (3 + e + rank * rank);
	for (round = 0; ok && round < 8; round++) {
		/* A misaligned result is combined in pieces. */
		size_t off = N * sizeof(double) + round % 2 * 4;

		usleep((rank * 3 + round * 5) % size * 300);
		ok = expect("sum", angara_allreduce(team, mr, off, mr, 0, N,
						    ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM), 0);
		if (!round)
			memcpy(first, v + N, sizeof(first));
		ok = ok && expect("bits of the sum differ",
				  memcmp(first, (char *)v + off, sizeof(first)), 0);
	}
	memcpy(v + N, first, sizeof(first));
	ok = ok && expect("broadcast of bits",
			  angara_broadcast(team, mr, N * sizeof(double), sizeof(first), 0),
			  0) &&
	     expect("bits at all members", memcmp(first, v + N, sizeof(first)), 0);
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/*
 * Long data needs access rights: a missing right is an error before any
 * message.
 */
static bool rights(void)
{
	struct angara_team *team = team_new(ANGARA_TEAM_SOFTWARE);
	static char mem[8192];
	struct angara_mr *mr;
	bool ok = expect("reg", angara_mr_reg(dom, mem, sizeof(mem), 0, &mr), 0);

	if (!ok)
		return false;
	memset(mem, rank ? 0 : 9, sizeof(mem));
	if (size > 1)
		ok = expect("long", angara_broadcast(team, mr, 0, sizeof(mem), 0), -EACCES);
	ok = ok && expect("short", angara_broadcast(team, mr, 0, 4096, 0), 0) &&
	     expect("value", mem[4095], 9);
	angara_mr_dereg(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/* Creating a team costs each member as many messages as a few barriers. */
static bool few_messages(void)
{
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *all = team_new(ANGARA_TEAM_SOFTWARE), *part;
	unsigned int levels = 0;
	bool ok;

	while (1U << levels < size)
		levels++;
	ok = expect("query", angara_team_query(all, &info), 0) &&
	     expect("messages to make a team", info.messages <= levels + 1, 1) &&
	     expect("subset", angara_team_subset(all, NULL, 0, NULL, &part), 0) &&
	     expect("query", angara_team_query(part, &info), 0) &&
	     expect("messages to make a subset", info.messages <= 4 * (levels + 1), 1) &&
	     expect("destroy", angara_team_destroy(part), 0) &&
	     expect("split", angara_team_split(all, 0, 0, NULL, &part), 0) &&
	     expect("query", angara_team_query(all, &info), 0) &&
	     expect("messages to split a team", info.messages <= 2 * levels + 1, 1) &&
	     expect("destroy", angara_team_destroy(part), 0);
	return ok & expect("destroy", angara_team_destroy(all), 0);
}

static bool parts_of_teams(void)
{
	struct angara_team *all = team_new(0), *part;
	unsigned int both[2] = { size - 1, 0 }, twice[2] = { rank, rank };
	bool member = !rank || rank == size - 1, ok;

	ok = expect("no color", angara_team_split(all, rank ? 1 : ANGARA_NO_COLOR, 0, NULL,
						  &part), 0) &&
	     expect("team", !part, !rank) && expect("destroy", angara_team_destroy(part), 0) &&
	     expect("twice", angara_team_subset(all, twice, 2, NULL, &part), -EINVAL) &&
	     expect("stride", angara_team_strided(all, 0, 1, size + 1, NULL, &part), -EINVAL);
	if (ok && size > 1 && member)
		ok = expect("ends", angara_team_subset(all, both, 2, NULL, &part), 0) &&
		     expect("rank", angara_team_rank(part), rank ? 0 : 1) && works(part) &&
		     expect("destroy", angara_team_destroy(part), 0);
	return ok & expect("destroy", angara_team_destroy(all), 0);
}

/* Long data is read with the full key of its region, which differs by member. */
static bool whole_keys(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	static char mem[200000];
	struct angara_team *team;
	struct angara_mr *mr;
	bool ok = expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0) &&
		  expect("reg", angara_mr_reg_key(dom, mem, sizeof(mem), ANGARA_ACCESS_ALL,
						  (rank + 1ULL) << 40 | 300, &mr), 0);

	if (!ok)
		return false;
	if (rank == 0)
		fill(mem, sizeof(mem), 5);
	ok = expect("broadcast", angara_broadcast(team, mr, 0, sizeof(mem), 0), 0) &&
	     filled("broadcast", mem, sizeof(mem), 5);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(mr);
	return ok;
}

const struct part soft_parts[] = {
	{ "whole keys", whole_keys },
	{ "collectives by software", by_software },
	{ "collectives by tree and software", by_tree },
	{ "collectives of memory that is not registered", unregistered },
	{ "collectives that wait", waiting },
	{ "parts of teams", parts_of_teams },
	{ "several at once on several teams", many_teams },
	{ "members far ahead", far_ahead },
	{ "software sums with the same bits", same_bits },
	{ "rights for long data", rights },
	{ "few messages to make a team", few_messages },
	{ NULL, NULL },
};
