// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Messages and bytes of the schedules, by the formulas in algo.h. */
#include "algo_sim.h"

u32 log2_up(u32 n)
{
	u32 l = 0;

	while (1U << l < n)
		l++;
	return l;
}

/* Return: number of members whose number differs from their rank. */
u64 moved(const struct ang_coll_args *a)
{
	u64 num = 0;
	u32 i;

	for (i = 0; a->place && i < a->size; i++)
		num += a->place[i] != i;
	return num;
}

/*
 * Return: number of messages along rings, one ring per dimension; a ring passes
 * on parts of the data, each in packets.
 */
static u64 ring_messages(const struct ang_coll_args *a)
{
	size_t part = a->count;
	u64 num = 0;
	u32 d;

	if (a->coll != ANG_COLL_ALLREDUCE)
		return (a->size - 1) * (u64)ang_algo_packets(a->count * a->elem,
							     a->packet);
	for (d = 0; d < (a->ndims ? a->ndims : 1); d++) {
		u32 r = a->ndims ? a->dims[d] : a->size;

		part = (part + r - 1) / r;
		num += (r - 1) * (1ULL + ang_algo_packets(part * a->elem, a->packet));
	}
	return a->size * num;
}

/* Bytes of a gather or scatter of @n blocks on a binomial tree. */
static u64 binomial_blocks(u64 n, u64 len)
{
	u64 k, total = 0;

	for (k = 1; k < n; k++)
		total += len * ((k & -k) < n - k ? (k & -k) : n - k);
	return total;
}

/* Messages of a scan of @n members by recursive doubling. */
static u64 doubling_messages(u64 n)
{
	u64 k, num = 0;

	for (k = 1; k < n; k *= 2)
		num += n - k;
	return num;
}

/*
 * Messages and bytes of an allgather.  @num: in: messages of its algorithm; out:
 * these, and those of the exchange.
 */
static void allgather_blocks(const struct ang_coll_args *a, u64 len, u64 *num,
			     u64 *total)
{
	u64 n = a->size, extra = a->exchange ? moved(a) : 0;

	*num += extra;
	*total = (n * (n - 1) + extra) * len;
}

/* Messages and bytes of a ring that carries a vector in parts. */
static void ring_parts(const struct ang_coll_args *a, u64 len, u64 *num,
		       u64 *total)
{
	*num = ring_messages(a);
	*total = (a->coll == ANG_COLL_ALLREDUCE ? 2 : 1) * (a->size - 1) * len;
	/* Short parts have fewer packets. */
	if (a->packet && a->count % a->size)
		*num = SKIP;
}

/* Messages and bytes by the table in algo.h. */
void formula(const struct ang_coll_args *a, u64 *num, u64 *total)
{
	u64 n = a->size, len = a->count * a->elem, p = 1, rounds = 0;

	while (2 * p <= n) {
		p *= 2;
		rounds++;
	}
	*num = *total = SKIP;
	switch (a->algo) {
	case ANG_ALGO_DISSEMINATION:
		*num = n * log2_up(a->size);
		*total = 0;
		break;
	case ANG_ALGO_BINOMIAL:
		*num = n - 1;
		*total = (n - 1) * len;
		if (a->coll == ANG_COLL_GATHER || a->coll == ANG_COLL_SCATTER)
			*total = binomial_blocks(n, len);
		break;
	case ANG_ALGO_LINEAR:
		*num = n - 1;
		*total = (n - 1) * len;
		break;
	case ANG_ALGO_RECURSIVE_DOUBLING:
		*num = p * rounds + 2 * (n - p);
		*total = *num * len;
		if (a->coll == ANG_COLL_ALLREDUCE)
			break;
		if (a->coll == ANG_COLL_ALLGATHER) {
			allgather_blocks(a, len, num, total);
			break;
		}
		*num = doubling_messages(n);
		*total = *num * len;
		break;
	case ANG_ALGO_RABENSEIFNER:
		*num = 2 * p * rounds + 2 * (n - p);
		*total = 2 * (p - 1) * len + 2 * (n - p) * len;
		break;
	case ANG_ALGO_RING:
	case ANG_ALGO_PAIRWISE:
		*num = n * (n - 1);
		*total = n * (n - 1) * len;
		if (a->algo == ANG_ALGO_RING && a->coll != ANG_COLL_ALLGATHER &&
		    a->coll != ANG_COLL_REDUCE_SCATTER)
			ring_parts(a, len, num, total);
		break;
	case ANG_ALGO_BRUCK:
		*num = n * log2_up(a->size);
		if (a->coll == ANG_COLL_ALLGATHER)
			allgather_blocks(a, len, num, total);
		break;
	case ANG_ALGO_TREE:
		*num = 2 * (n - 1) * ang_algo_packets(len, a->packet);
		*total = 2 * (n - 1) * len;
		break;
	default:
		break;
	}
}
