// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of one team over all processes, from and to every member.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define MIB	(1024 * 1024)
#define ALONE	"needs two processes"

static const size_t lengths[] = { 0, 8, 256, 264, 4096, 100000, MIB + 8 };

#define LENGTHS	(sizeof(lengths) / sizeof(*lengths))

static struct angara_team *team_of_all(uint32_t root)
{
	struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE, .root = root,
	};
	struct angara_team *team;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		exit(1);
	return team;
}

static bool finish(const char *what, int ret, struct pending *req)
{
	return expect(what, ret, 0) &&
	       expect(what, pending_wait(ctx, req, LONG_MS), 0);
}

static bool barrier(struct angara_team *team)
{
	struct pending req;

	return finish("barrier", angara_barrier_nbi(team, pending_op(&req)), &req);
}

static bool bcast(void)
{
	struct angara_team *team = team_of_all(0);
	struct angara_mr *src = region(MIB + 8), *dst = region(MIB + 8);
	uint64_t n = 0;
	bool ok = true;
	unsigned int from;
	size_t i;

	for (i = 0; ok && i < LENGTHS; i++)
		for (from = 0; ok && from < size; from++) {
			struct pending req;

			memset(angara_mr_addr(dst), 0, lengths[i]);
			ok = barrier(team);
			if (rank == from) {
				fill(angara_mr_addr(src), lengths[i], from);
				ok &= finish("bcast",
					     angara_bcast_nbi(team, angara_mr_key(dst), 0,
							      src, 0, lengths[i], pending_op(&req)),
					     &req);
			}
			ok &= expect("received",
				     angara_team_received_wait(team, ++n, LONG_MS), 0) &&
			      filled("bcast", angara_mr_addr(dst), lengths[i], from);
			ok &= expect("count", (long long)angara_team_received(team),
				     (long long)n);
			ok &= barrier(team);
		}
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(dst);
	angara_free(src);
	return ok;
}

/* A barrier that the source starts later shows that broadcasts have arrived. */
static bool bcast_then_barrier(void)
{
	struct angara_team *team = team_of_all(size - 1);
	struct angara_mr *src = region(100000), *dst = region(100000);
	bool ok = barrier(team);

	fill(angara_mr_addr(src), 100000, 5);
	if (rank == 0)
		ok = expect("bcast", angara_bcast_nbi(team, angara_mr_key(dst), 0, src, 0,
						      100000, NULL), 0);
	ok &= barrier(team) && filled("bcast", angara_mr_addr(dst), 100000, 5);
	ok &= expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(dst);
	angara_free(src);
	return ok;
}

static bool bcast_from_first(struct angara_team *team, const struct angara_mr *src,
			     const struct angara_mr *dst, uint64_t n, int want)
{
	struct pending req;

	if (rank == 0 && !finish("bcast", angara_bcast_nbi(team, angara_mr_key(dst), 0,
							   src, 0, 8000, pending_op(&req)), &req))
		return false;
	/* If the broadcast was refused, the wait returns the error. */
	return expect("received", angara_team_received_wait(team, n, LONG_MS),
		      rank == size - 1 ? want : 0) & barrier(team);
}

/* Creates a region that peers may write to, except at the last process. */
static bool closed_at_last(struct angara_mr **mr)
{
	static char mem[8000];
	unsigned int access = rank == size - 1 ? 0 : ANGARA_ACCESS_REMOTE_WRITE;

	return expect("reg", angara_team_mr_reg(everybody(), mem, sizeof(mem), access, mr),
		      0);
}

/* A member whose region is closed gets the error once. */
static bool bcast_refused(void)
{
	struct angara_mr *src, *open, *closed;
	struct angara_team *team;
	bool ok;

	if (size < 2)
		return parts_skip(ALONE);
	team = team_of_all(0);
	src = region(8000);
	open = region(8000);
	ok = closed_at_last(&closed);
	if (!ok)
		return false;
	fill(angara_mr_addr(src), 8000, 3);
	ok = barrier(team) & bcast_from_first(team, src, open, 1, 0) &
	     bcast_from_first(team, src, closed, 2, -EIO) &
	     bcast_from_first(team, src, open, 3, 0) &
	     filled("open", angara_mr_addr(open), 8000, 3);
	ok &= expect("late", angara_team_received_wait(team, 4, 0), -ETIMEDOUT);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_mr_dereg(closed);
	angara_free(open);
	angara_free(src);
	return ok;
}

/* Only the team whose broadcast was refused gets the error. */
static bool bcast_refused_apart(void)
{
	struct angara_mr *src, *open, *closed;
	struct angara_team *loses, *gets;
	struct pending req;
	bool ok;

	if (size < 2)
		return parts_skip(ALONE);
	loses = team_of_all(0);
	gets = team_of_all(0);
	src = region(8000);
	open = region(8000);
	ok = closed_at_last(&closed);
	if (!ok)
		return false;
	ok = barrier(loses) & barrier(gets);
	if (rank == 0)
		ok &= finish("bcast", angara_bcast_nbi(loses, angara_mr_key(closed), 0,
						       src, 0, 8000, pending_op(&req)), &req);
	ok &= barrier(loses) & bcast_from_first(gets, src, open, 1, 0);
	ok &= expect("loss", angara_team_received_wait(loses, 1, LONG_MS),
		     rank == size - 1 ? -EIO : 0);
	ok &= expect("notified", angara_team_received_wait(loses, 1, LONG_MS), 0);
	ok &= expect("destroy", angara_team_destroy(gets), 0);
	ok &= expect("destroy", angara_team_destroy(loses), 0);
	angara_mr_dereg(closed);
	angara_free(open);
	angara_free(src);
	return ok;
}

static int64_t value(unsigned int from, size_t i)
{
	return (int64_t)((i * 2654435761U + from * 97) % 1000003) - 500000;
}

static int64_t combine(unsigned int op, int64_t a, int64_t b)
{
	switch (op) {
	case ANGARA_RED_SUM:
		return a + b;
	case ANGARA_RED_MIN:
		return a < b ? a : b;
	case ANGARA_RED_MAX:
		return a > b ? a : b;
	default:
		return a ^ b;
	}
}

static bool reduced(const char *what, const int64_t *got, size_t count, unsigned int op)
{
	unsigned int from;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t want = value(0, i);

		for (from = 1; from < size; from++)
			want = combine(op, want, value(from, i));
		if (!expect(what, got[i], want))
			return false;
	}
	return true;
}

static const unsigned int ops[] = {
	ANGARA_RED_SUM, ANGARA_RED_MIN, ANGARA_RED_MAX, ANGARA_RED_XOR,
};

static bool allreduce(void)
{
	struct angara_team *team = team_of_all(size / 2);
	struct angara_mr *mr = region(MIB + 8);
	int64_t *v = angara_mr_addr(mr);
	bool ok = true;
	size_t i, k;

	for (i = 0; ok && i < LENGTHS; i++)
		for (k = 0; ok && k < 4; k++) {
			size_t count = lengths[i] / 8;
			struct pending req;

			for (size_t e = 0; e < count; e++)
				v[e] = value(rank, e);
			ok = finish("allreduce",
				    angara_allreduce_nbi(team, mr, 0, mr, 0, count,
							 ANGARA_TYPE_INT64, ops[k], pending_op(&req)),
				    &req) &&
			     reduced("allreduce", v, count, ops[k]);
		}
	ok &= expect("no result", angara_allreduce_nbi(team, NULL, 0, mr, 0, 1, 0, 0, NULL),
		     -EINVAL) &&
	      expect("type", angara_allreduce_nbi(team, mr, 0, mr, 0, 1,
						  ANGARA_TYPE_NUM, 0, NULL),
		     -EINVAL) &&
	      expect("op", angara_allreduce_nbi(team, mr, 0, mr, 0, 1, 0,
						ANGARA_RED_NUM, NULL),
		     -EINVAL) &&
	      expect("op of another type",
		     angara_allreduce_nbi(team, mr, 0, mr, 0, 1, ANGARA_TYPE_DOUBLE,
					  ANGARA_RED_XOR, NULL), -EINVAL);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

static bool reduce(void)
{
	struct angara_team *team = team_of_all(0);
	struct angara_mr *src = region(MIB + 8), *dst = region(MIB + 8);
	int64_t *v = angara_mr_addr(src);
	bool ok = true;
	unsigned int root;
	size_t i;

	for (i = 0; i < MIB / 8 + 1; i++)
		v[i] = value(rank, i);
	for (root = 0; ok && root < size; root++)
		for (i = 0; ok && i < LENGTHS; i++) {
			struct pending req;

			memset(angara_mr_addr(dst), 0, lengths[i]);
			ok = finish("reduce",
				    angara_reduce_nbi(team, rank == root ? dst : NULL, 0,
						      src, 0, lengths[i] / 8,
						      ANGARA_TYPE_INT64, ANGARA_RED_SUM,
						      root, pending_op(&req)), &req);
			if (rank == root)
				ok &= reduced("reduce", angara_mr_addr(dst),
					      lengths[i] / 8, ANGARA_RED_SUM);
		}
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(dst);
	angara_free(src);
	return ok;
}

/*
 * Starts many collectives without completions: only their order distinguishes
 * them.
 */
static bool many(void)
{
	enum { N = 200 };
	struct angara_team *team = team_of_all(0);
	struct angara_mr *mr = region(N * 512);
	int64_t *v = angara_mr_addr(mr);
	bool ok = true;
	size_t i;

	for (i = 0; i < N * 64; i++)
		v[i] = value(rank, i);
	for (i = 0; ok && i < N; i++)
		ok = expect("allreduce",
			    angara_allreduce_nbi(team, mr, i * 512, mr, i * 512, 64,
						 ANGARA_TYPE_INT64, ANGARA_RED_MAX, NULL),
			    0);
	ok &= expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
	      reduced("many", v, N * 64, ANGARA_RED_MAX);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

/*
 * Rounded sums have the same bits for any timing, also in another team of the
 * same members that join in another order.
 */
static bool same_bits(void)
{
	enum { N = 300, TEAMS = 3, ROUNDS = 8 };
	struct angara_mr *mr = region(2 * N * sizeof(double));
	double *v = angara_mr_addr(mr), first[N];
	unsigned int t, round, e;
	bool ok = true;

	for (e = 0; e < N; e++)
		v[e] = (e % 3 ? 1.0 : -1.0) * (rank + 1) / (3 + e + rank * rank);
	for (t = 0; ok && t < TEAMS; t++) {
		struct angara_team *team;
		struct pending req;

		usleep((rank + t) % size * 1000);
		team = team_of_all(0);
		for (round = 0; ok && round < ROUNDS; round++) {
			usleep((rank * 3 + round * 5 + t) % size * 500);
			ok = finish("sum", angara_allreduce_nbi(team, mr, N * sizeof(*v),
								mr, 0, N,
								ANGARA_TYPE_DOUBLE,
								ANGARA_RED_SUM, pending_op(&req)),
				    &req);
			if (t == 0 && round == 0)
				memcpy(first, v + N, sizeof(first));
			ok = ok && expect("bits of the sum differ",
					  memcmp(first, v + N, sizeof(first)), 0);
		}
		ok &= expect("destroy", angara_team_destroy(team), 0);
	}
	angara_free(mr);
	return ok;
}

struct double_loc {
	double value;
	int32_t index;
	int32_t pad;
};

/*
 * MINLOC returns the lowest rank with the minimum, and the position of a NaN.
 */
static bool least(void)
{
	enum { N = 100 };
	struct angara_team *team = team_of_all(size - 1);
	struct angara_mr *mr = region(N * sizeof(struct double_loc));
	struct double_loc *v = angara_mr_addr(mr);
	unsigned int e, r;
	struct pending req;
	bool ok;

	for (e = 0; e < N; e++) {
		v[e].value = (rank * 5 + e) % 3;
		v[e].index = (int32_t)rank;
		v[e].pad = 0;
	}
	if (rank == size - 1)
		v[N - 1].value = NAN;
	ok = finish("minloc", angara_allreduce_nbi(team, mr, 0, mr, 0, N,
						   ANGARA_TYPE_DOUBLE_LOC,
						   ANGARA_RED_MINLOC, pending_op(&req)), &req);
	for (e = 0; ok && e < N - 1; e++) {
		unsigned int best = 0;

		for (r = 1; r < size; r++)
			if ((r * 5 + e) % 3 < (best * 5 + e) % 3)
				best = r;
		ok = expect("index", v[e].index, best) &&
		     expect("value", (long long)v[e].value, (best * 5 + e) % 3);
	}
	ok = ok && expect("NaN", isnan(v[N - 1].value), 1) &&
	     expect("index of NaN", v[N - 1].index, size - 1);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

/* The first member starts as many barriers as possible before another member starts one. */
static bool barriers(void)
{
	enum { N = 1000 };
	unsigned int started = 0;
	struct angara_team *team;
	int ret = 0;
	bool ok;

	if (size < 2)
		return parts_skip(ALONE);
	team = team_of_all(0);
	ok = team != NULL;
	while (ok && !rank && !ret && started < N) {
		ret = angara_barrier_nbi(team, NULL);
		started += !ret;
	}
	ok = ok && (rank || expect("refused", ret, -EAGAIN)) &&
	     expect("all", angara_job_barrier(job), 0);
	while (ok && started < N) {
		ret = angara_barrier_nbi(team, NULL);
		started += !ret;
		ok = !ret || expect("barrier", ret, -EAGAIN);
	}
	return ok && expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
	       expect("destroy", angara_team_destroy(team), 0);
}

const struct part coll_parts[] = {
	{ "broadcast", bcast },
	{ "broadcast then barrier", bcast_then_barrier },
	{ "broadcast refused", bcast_refused },
	{ "broadcast refused, of two teams", bcast_refused_apart },
	{ "allreduce", allreduce },
	{ "reduce", reduce },
	{ "many at once", many },
	{ "sums with the same bits", same_bits },
	{ "place of the least", least },
	{ "more barriers than a queue holds", barriers },
	{ NULL, NULL },
};
