// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Schedules: the algorithms of each collective, and the choice among them. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "gen.h"

/*
 * Above these lengths bandwidth dominates the time, below them the number of
 * rounds.
 */
#define LONG_BCAST	32768U	/* bytes */
#define LONG_REDUCE	16384U
#define LONG_GATHER	4096U
#define SHORT_ALLTOALL	256U	/* bytes of a block */
#define FEW_MEMBERS	8U	/* below this number of members, a ring has few rounds */

typedef void (*gen_fn)(struct gen *g);

static const gen_fn generators[ANG_COLL_NUM][ANG_ALGO_NUM] = {
	[ANG_COLL_BARRIER] = {
		[ANG_ALGO_DISSEMINATION] = ang_gen_barrier,
	},
	[ANG_COLL_BCAST] = {
		[ANG_ALGO_BINOMIAL] = ang_gen_bcast_binomial,
		[ANG_ALGO_SCATTER_ALLGATHER] = ang_gen_bcast_scatter,
		[ANG_ALGO_RING] = ang_gen_bcast_torus,
	},
	[ANG_COLL_REDUCE] = {
		[ANG_ALGO_BINOMIAL] = ang_gen_reduce_binomial,
		[ANG_ALGO_RING] = ang_gen_reduce_torus,
	},
	[ANG_COLL_ALLREDUCE] = {
		[ANG_ALGO_RECURSIVE_DOUBLING] = ang_gen_allreduce_doubling,
		[ANG_ALGO_RABENSEIFNER] = ang_gen_allreduce_halving,
		[ANG_ALGO_RING] = ang_gen_allreduce_ring,
		[ANG_ALGO_TREE] = ang_gen_allreduce_tree,
	},
	[ANG_COLL_ALLGATHER] = {
		[ANG_ALGO_RECURSIVE_DOUBLING] = ang_gen_allgather_doubling,
		[ANG_ALGO_RING] = ang_gen_allgather_ring,
		[ANG_ALGO_BRUCK] = ang_gen_allgather_bruck,
	},
	[ANG_COLL_GATHER] = {
		[ANG_ALGO_BINOMIAL] = ang_gen_gather_binomial,
		[ANG_ALGO_LINEAR] = ang_gen_gather_linear,
	},
	[ANG_COLL_SCATTER] = {
		[ANG_ALGO_BINOMIAL] = ang_gen_scatter_binomial,
		[ANG_ALGO_LINEAR] = ang_gen_scatter_linear,
	},
	[ANG_COLL_ALLTOALL] = {
		[ANG_ALGO_PAIRWISE] = ang_gen_alltoall_pairwise,
		[ANG_ALGO_BRUCK] = ang_gen_alltoall_bruck,
	},
	[ANG_COLL_REDUCE_SCATTER] = {
		[ANG_ALGO_PAIRWISE] = ang_gen_reduce_scatter_pairwise,
		[ANG_ALGO_RING] = ang_gen_reduce_scatter_ring,
	},
	[ANG_COLL_SCAN] = {
		[ANG_ALGO_RECURSIVE_DOUBLING] = ang_gen_scan,
	},
	[ANG_COLL_EXSCAN] = {
		[ANG_ALGO_RECURSIVE_DOUBLING] = ang_gen_scan,
	},
};

/* Does the algorithm work for blocks of equal length only? */
static bool needs_equal_blocks(enum ang_coll coll, enum ang_algo algo)
{
	return algo == ANG_ALGO_BRUCK ||
	       (algo == ANG_ALGO_RECURSIVE_DOUBLING &&
		coll == ANG_COLL_ALLGATHER) ||
	       (algo == ANG_ALGO_BINOMIAL &&
		(coll == ANG_COLL_GATHER || coll == ANG_COLL_SCATTER));
}

/* Are the numbers and dimensions valid for the algorithm? */
static bool shape_valid(const struct ang_coll_args *a)
{
	u64 product = 1;
	u32 d;

	if (!a->place != !a->rank_of || !a->kin != (a->algo != ANG_ALGO_TREE))
		return false;
	if (a->coll == ANG_COLL_ALLGATHER &&
	    a->algo == ANG_ALGO_RECURSIVE_DOUBLING && a->size & (a->size - 1))
		return false;
	for (d = 0; d < a->ndims; d++) {
		if (!a->dims[d] || a->dims[d] > a->size / product)
			return false;
		product *= a->dims[d];
	}
	return !a->ndims || product == a->size;
}

/**
 * ang_algo_square() - choose two dimensions of a torus for an allreduce
 * @n: members
 * @dims: out: sizes of the two dimensions, the greater one first
 *
 * For all sizes, a member moves the same number of bytes, (n - 1) / n of the
 * vector in each direction.  Only the number of messages differs: it grows with
 * the sum of the sizes, so the sizes with the least sum are fastest.
 */
void ang_algo_square(u32 n, u32 dims[2])
{
	u32 r;

	dims[1] = 1;
	for (r = 2; r <= n / r; r++)
		if (n % r == 0)
			dims[1] = r;
	dims[0] = n / dims[1];
}

/** ang_algo_valid() - does the algorithm exist for the collective? */
bool ang_algo_valid(const struct ang_coll_args *a)
{
	if ((unsigned int)a->coll >= ANG_COLL_NUM ||
	    (unsigned int)a->algo >= ANG_ALGO_NUM || !a->size ||
	    a->rank >= a->size || a->root >= a->size || !a->elem)
		return false;
	if (a->algo == ANG_ALGO_AUTO)
		return true;
	return generators[a->coll][a->algo] && shape_valid(a) &&
	       !(a->irregular && needs_equal_blocks(a->coll, a->algo));
}

/**
 * ang_algo_choose() - choose the algorithm for a collective
 * @a: arguments; only those that are equal at all members have an influence
 *
 * Return: ANG_ALGO_*, never AUTO.
 */
enum ang_algo ang_algo_choose(const struct ang_coll_args *a)
{
	size_t len = a->irregular ? SIZE_MAX : a->count * a->elem;

	switch (a->coll) {
	case ANG_COLL_BARRIER:
		return ANG_ALGO_DISSEMINATION;
	case ANG_COLL_BCAST:
		return len < LONG_BCAST || a->size < FEW_MEMBERS ?
		       ANG_ALGO_BINOMIAL : ANG_ALGO_SCATTER_ALLGATHER;
	case ANG_COLL_ALLREDUCE:
		if (len < LONG_REDUCE || a->count < a->size)
			return ANG_ALGO_RECURSIVE_DOUBLING;
		return a->size < FEW_MEMBERS ? ANG_ALGO_RING :
					       ANG_ALGO_RABENSEIFNER;
	case ANG_COLL_ALLGATHER:
		return len < LONG_GATHER ? ANG_ALGO_BRUCK : ANG_ALGO_RING;
	case ANG_COLL_GATHER:
	case ANG_COLL_SCATTER:
		return len < LONG_GATHER ? ANG_ALGO_BINOMIAL : ANG_ALGO_LINEAR;
	case ANG_COLL_ALLTOALL:
		return len < SHORT_ALLTOALL && a->size >= FEW_MEMBERS ?
		       ANG_ALGO_BRUCK : ANG_ALGO_PAIRWISE;
	case ANG_COLL_REDUCE_SCATTER:
		return len < LONG_REDUCE ? ANG_ALGO_PAIRWISE : ANG_ALGO_RING;
	case ANG_COLL_REDUCE:
		return ANG_ALGO_BINOMIAL;
	default:
		return ANG_ALGO_RECURSIVE_DOUBLING;
	}
}

static u64 ring_arrivals(const struct ang_coll_args *a)
{
	size_t count = a->count, len = a->count * a->elem;
	u64 num = 0;
	u32 d, r;

	switch (a->coll) {
	case ANG_COLL_BCAST:
		return (a->size > 1) * ang_algo_packets(len, a->packet);
	case ANG_COLL_REDUCE:
		/* In each dimension, messages arrive from both neighbours. */
		for (d = 0; d < (a->ndims ? a->ndims : 1); d++) {
			r = a->ndims ? a->dims[d] : a->size;
			num += r > 2 ? 2 : r - 1;
		}
		return num * ang_algo_packets(len, a->packet);
	case ANG_COLL_ALLREDUCE:
		for (d = 0; d < (a->ndims ? a->ndims : 1); d++) {
			r = a->ndims ? a->dims[d] : a->size;
			count = (count + r - 1) / r;
			num += (r - 1) * (1ULL + ang_algo_packets(count * a->elem,
								  a->packet));
		}
		return num;
	default:
		return a->size - 1;
	}
}

/**
 * ang_algo_arrivals() - bound on the messages that a member receives
 * @a: arguments; only those that are equal at all members have an influence
 * @longest: out: bytes of the longest message
 *
 * Return: number of messages.
 */
u64 ang_algo_arrivals(const struct ang_coll_args *a, size_t *longest)
{
	enum ang_algo algo = a->algo == ANG_ALGO_AUTO ? ang_algo_choose(a) :
							a->algo;
	u64 n = a->size, rounds = 0;

	while (1ULL << rounds < n)
		rounds++;
	*longest = a->irregular ? SIZE_MAX : a->count * a->elem;
	/* One message may contain blocks of several members. */
	if (needs_equal_blocks(a->coll, algo))
		*longest = *longest > SIZE_MAX / n ? SIZE_MAX : *longest * n;
	if (a->coll == ANG_COLL_SCATTER ||
	    (a->coll == ANG_COLL_BCAST && algo == ANG_ALGO_BINOMIAL))
		return n > 1;
	switch (algo) {
	case ANG_ALGO_SCATTER_ALLGATHER:
		return n;
	case ANG_ALGO_RABENSEIFNER:
		return 2 * rounds;
	case ANG_ALGO_RING:
		return ring_arrivals(a);
	case ANG_ALGO_TREE:
		return (u64)a->kin->arrivals * ang_algo_packets(a->count * a->elem, a->packet);
	case ANG_ALGO_LINEAR:
	case ANG_ALGO_PAIRWISE:
		return n - 1;
	default:
		return rounds + (a->place && a->exchange);
	}
}

/**
 * ang_schedule_make() - generate the steps of one member in a collective
 * @args: collective
 * @sched: out: free with ang_schedule_free(), also after an error
 *
 * Return: 0; -EINVAL there is no such algorithm or a rank is out of range;
 * -ENOMEM.
 */
int ang_schedule_make(const struct ang_coll_args *args,
		      struct ang_schedule *sched)
{
	struct gen g = { .a = args, .s = sched };
	enum ang_algo algo = args->algo;

	*sched = (struct ang_schedule){ 0 };
	if (!ang_algo_valid(args))
		return -EINVAL;
	if (algo == ANG_ALGO_AUTO)
		algo = ang_algo_choose(args);
	generators[args->coll][algo](&g);
	return g.err;
}

void ang_schedule_free(struct ang_schedule *sched)
{
	free(sched->steps);
	*sched = (struct ang_schedule){ 0 };
}

const char *ang_algo_name(enum ang_algo algo)
{
	static const char *const names[ANG_ALGO_NUM] = {
		[ANG_ALGO_AUTO] = "auto",
		[ANG_ALGO_DISSEMINATION] = "dissemination",
		[ANG_ALGO_BINOMIAL] = "binomial",
		[ANG_ALGO_LINEAR] = "linear",
		[ANG_ALGO_SCATTER_ALLGATHER] = "scatter-allgather",
		[ANG_ALGO_RECURSIVE_DOUBLING] = "recursive doubling",
		[ANG_ALGO_RABENSEIFNER] = "Rabenseifner",
		[ANG_ALGO_RING] = "ring",
		[ANG_ALGO_BRUCK] = "Bruck",
		[ANG_ALGO_PAIRWISE] = "pairwise",
		[ANG_ALGO_TREE] = "tree",
	};

	return (unsigned int)algo < ANG_ALGO_NUM ? names[algo] : "?";
}
