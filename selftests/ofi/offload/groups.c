// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups: many at a time, more than there are trees, and with a member that is
 * killed.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offload.h"

#define TREES	16	/* trees of the fabric, see trees= in angara(7) */
#define GROUPS	20	/* more than there are trees */
#define STEPS	10	/* longest join, in steps */

static ssize_t count_start(const struct group *g, uint32_t *sum)
{
	*sum = 1;
	return fi_allreduce(ep, sum, 1, NULL, sum, NULL, g->addr, FI_UINT32, FI_SUM,
			    0, sum);
}

/* Does an allreduce count all members of the group? */
static bool counts(const struct group *g)
{
	uint32_t sum;

	return expect(done(count_start(g, &sum), &sum), 0) && expect(sum, g->size);
}

/*
 * The groups are pairs of neighbours, every second process, and all processes.  Each
 * process is in several groups, and joins them in its own order.
 */
static bool at_once(void)
{
	unsigned int ranks[4][MAX_RANKS], n[4], i, k, mine = 0;
	struct group g[4];
	uint32_t sum[4];
	bool ok = true;

	for (i = 0; i < 2; i++) {
		unsigned int first = (rank + size - i) % size;
		unsigned int second = (first + 1) % size;

		ranks[i][0] = first < second ? first : second;
		ranks[i][1] = first < second ? second : first;
		n[i] = 2;
	}
	for (n[2] = 0, i = rank % 2; i < size; i += 2)
		ranks[2][n[2]++] = i;
	for (n[3] = 0; n[3] < size; n[3]++)
		ranks[3][n[3]] = n[3];
	/* With two processes both pairs are the same. */
	for (i = size == 2; i < 4; i++, mine++) {
		k = rank % 2 ? i : 3 - i + (size == 2);
		ok = ok && join_start(&g[k], ranks[k], n[k]);
	}
	ok = ok && join_wait(mine);
	/*
	 * Each process has operations of all groups in flight before it waits
	 * for the first.
	 */
	for (i = size == 2; ok && i < 4; i++)
		ok = expect(count_start(&g[i], &sum[i]), 0);
	for (i = size == 2; ok && i < 4; i++)
		ok = expect(await(&sum[i]), 0) && expect(sum[i], g[i].size);
	ok = ok && together();
	for (i = size == 2; ok && i < 4; i++)
		ok = leave(&g[i]);
	return ok;
}

/* Do routers carry the group's barriers? */
static bool offloaded(const struct group *g, bool *yes)
{
	struct links before, after;
	static char context;
	bool ok;

	ok = links(&before) &&
	     expect(done(fi_barrier(ep, g->addr, &context), &context), 0) &&
	     links(&after);
	*yes = after.up > before.up;
	return ok;
}

static const char *told_of(const struct group *g, char *buf, size_t len)
{
	g->mc->fid.ops->tostr(&g->mc->fid, buf, len);
	return buf;
}

/* The first @trees groups have trees; operations of later groups use messages. */
static bool many_groups(unsigned int n, unsigned int trees)
{
	struct group g[GROUPS];
	unsigned int i;
	bool ok = true, yes;

	for (i = 0; ok && i < n; i++)
		ok = join(&g[i], NULL, 0);
	for (i = 0; ok && i < n; i++)
		ok = counts(&g[i]);
	for (i = 0; ok && nodes > 1 && i < n; i++)
		ok = offloaded(&g[i], &yes) && (rank || expect(yes, i < trees));
	while (ok && i--)
		ok = leave(&g[i]);
	return ok;
}

static bool trees(void)
{
	return many_groups(GROUPS, TREES) &&
	       many_groups(TREES, TREES);
}

/*
 * Process 0 closes groups with process 1, which use all trees, and joins a
 * group with process 2 before process 1 has closed them.
 */
static bool late_trees(void)
{
	const unsigned int first[] = { 0, 1 }, second[] = { 0, 2 };
	struct group old[TREES], g;
	unsigned int i, k;
	char told[256];
	bool ok = true;

	if (size < 3)
		return true;
	for (i = 0; ok && rank < 2 && i < TREES; i++)
		ok = join(&old[i], first, 2);
	for (i = 0; ok && !rank && i < TREES; i++)
		ok = leave(&old[i]);
	if (rank % 2 == 0 && rank < 3)
		ok = ok && join_start(&g, second, 2);
	/* The joining processes do as much as they can before rank 1 leaves. */
	for (k = 0; ok && k < STEPS; k++) {
		for (i = 0; i < STEPS; i++)
			look();
		ok = together();
	}
	for (i = 0; ok && rank == 1 && i < TREES; i++)
		ok = leave(&old[i]);
	if (rank % 2 == 0 && rank < 3)
		ok = ok && join_wait(1) && counts(&g) &&
		     expect(strstr(told_of(&g, told, sizeof(told)),
				   "of 2, offloaded") != NULL, 1) && leave(&g);
	return ok;
}

/* The first member to leave does not destroy the tree, which others still use. */
static bool ends(void)
{
	static uint64_t v[8000];
	struct group g;
	unsigned int i;
	bool ok = true;

	for (i = 0; ok && i < 40; i++) {
		ok = join(&g, NULL, 0);
		if (ok && i % size == rank)
			usleep(2000);
		ok = ok && expect(done(fi_allreduce(ep, v, 8000, NULL, v, NULL, g.addr,
						    FI_UINT64, FI_SUM, 0, v), v), 0) &&
		     leave(&g);
	}
	return ok;
}

/*
 * The last process kills itself when the others have started their operations.  The
 * others get an error, whether they wait for the adapter or for a message, and also
 * for operations that they start afterwards.  The remaining processes are no longer a
 * job, so each process reports for itself.
 */
static bool death(ssize_t (*start)(const struct group *g), void *context)
{
	struct group g;
	unsigned int i;
	int err;

	if (!join(&g, NULL, 0))
		return false;
	for (i = 0; i < 20; i++)
		if (!counts(&g))
			return false;
	if (rank == size - 1) {
		together();
		raise(SIGKILL);
	}
	if (!expect(start(&g), 0) || !together())
		return false;
	err = await(context);
	if (err != FI_ECONNRESET && err != FI_EHOSTUNREACH && err != FI_ENETUNREACH &&
	    !expect(err, FI_ECONNRESET))
		return false;
	if (!expect(done(start(&g), context) != 0, 1) || !leave(&g))
		return false;
	puts("# survived");
	exit(0);
}

static uint64_t given[10000];

static ssize_t reducing(const struct group *g)
{
	return fi_allreduce(ep, given, 10000, NULL, given, NULL, g->addr, FI_UINT64,
			    FI_SUM, 0, given);
}

static ssize_t receiving(const struct group *g)
{
	return fi_broadcast(ep, given, 1000, NULL, g->addr, addr_of(g, size - 1),
			    FI_UINT8, 0, given);
}

static bool death_reducing(void)
{
	return death(reducing, given);
}

static bool death_receiving(void)
{
	return death(receiving, given);
}

/*
 * With a short FI_ANGARA_COLL_TIMEOUT, the last process does not call the
 * operation in time.  All get an error, and so does the last one when it calls.
 */
static bool absent(void)
{
	static char context;
	struct group g;
	bool ok = join(&g, NULL, 0) && counts(&g);
	int err;

	if (rank == size - 1)
		ok = ok && together();
	err = ok ? done(fi_barrier(ep, g.addr, &context), &context) : 0;
	if (rank == size - 1)
		ok = ok && expect(err != 0, 1);
	else
		ok = ok && expect(err == FI_ETIMEDOUT || err == FI_ECONNRESET, 1) &&
		     together();
	return ok && leave(&g);
}

/* With FI_ANGARA_COLL=software no operation uses trees. */
static bool by_software(void)
{
	struct links before, after;
	struct group g;
	char told[256];

	return links(&before) && join(&g, NULL, 0) && counts(&g) && counts(&g) &&
	       expect(strstr(told_of(&g, told, sizeof(told)),
			     "by software: FI_ANGARA_COLL is software") != NULL, 1) &&
	       leave(&g) && links(&after) &&
	       expect(after.up, before.up) && expect(after.down, before.down);
}

static int query(enum fi_collective_op coll, enum fi_datatype type, enum fi_op op)
{
	struct fi_collective_attr attr = { .op = op, .datatype = type };

	return fi_query_collective(domain, coll, &attr, 0);
}

/* With FI_ANGARA_COLL=offload, operations that adapters lack fail. */
static bool by_adapters(void)
{
	uint16_t small[2] = { 0 };
	struct group g;
	char told[256];

	return expect(query(FI_BARRIER, FI_VOID, FI_NOOP), 0) &&
	       expect(query(FI_ALLREDUCE, FI_UINT64, FI_BXOR), 0) &&
	       expect(query(FI_REDUCE, FI_FLOAT, FI_PROD), 0) &&
	       expect(query(FI_REDUCE_SCATTER, FI_DOUBLE, FI_MIN), 0) &&
	       expect(query(FI_ALLGATHER, FI_UINT8, FI_NOOP), 0) &&
	       expect(query(FI_ALLREDUCE, FI_UINT16, FI_SUM), -FI_EOPNOTSUPP) &&
	       expect(query(FI_ALLREDUCE, FI_INT32, FI_LAND), -FI_EOPNOTSUPP) &&
	       expect(query(FI_ALLTOALL, FI_INT32, FI_NOOP), -FI_EOPNOTSUPP) &&
	       join(&g, NULL, 0) && counts(&g) &&
	       expect(fi_allreduce(ep, &small[0], 1, NULL, &small[1], NULL, g.addr,
				   FI_UINT16, FI_SUM, 0, NULL), -FI_EOPNOTSUPP) &&
	       expect(strstr(told_of(&g, told, sizeof(told)),
			     ", offloaded, 1 offloaded, 0 by software") != NULL, 1) &&
	       leave(&g);
}

const struct part group_parts[] = {
	{ "groups at once", at_once },
	{ "groups and trees", trees },
	{ "trees released late", late_trees },
	{ NULL, NULL },
};

const struct part lone_parts[] = {
	{ "death while all reduce", death_reducing },
	{ "death while others receive", death_receiving },
	{ "ends of groups", ends },
	{ "a member that does not call", absent },
	{ "by software", by_software },
	{ "by adapters alone", by_adapters },
	{ NULL, NULL },
};
