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

/* Messages and bytes by the table in algo.h. */
void formula(const struct ang_coll_args *a, u64 *num, u64 *total)
{
	u64 n = a->size, len = a->count * a->elem, p = 1, rounds = 0, k;

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
			for (k = 1, *total = 0; k < n; k++)
				*total += len * ((k & -k) < n - k ? (k & -k) : n - k);
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
			k = a->exchange ? moved(a) : 0;
			*num += k;
			*total = (n * (n - 1) + k) * len;
			break;
		}
		for (k = 1, *num = 0; k < n; k *= 2)
			*num += n - k;
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
		if (a->algo == ANG_ALGO_PAIRWISE || a->coll == ANG_COLL_ALLGATHER ||
		    a->coll == ANG_COLL_REDUCE_SCATTER)
			break;
		*num = ring_messages(a);
		*total = (a->coll == ANG_COLL_ALLREDUCE ? 2 : 1) * (n - 1) * len;
		/* Short parts have fewer packets. */
		if (a->packet && a->count % a->size)
			*num = SKIP;
		break;
	case ANG_ALGO_BRUCK:
		*num = n * log2_up(a->size);
		if (a->coll == ANG_COLL_ALLGATHER) {
			k = a->exchange ? moved(a) : 0;
			*num += k;
			*total = (n * (n - 1) + k) * len;
		}
		break;
	case ANG_ALGO_TREE:
		*num = 2 * (n - 1) * ang_algo_packets(len, a->packet);
		*total = 2 * (n - 1) * len;
		break;
	default:
		break;
	}
}
