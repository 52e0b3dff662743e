// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arguments of schedules: wrong ones, and the algorithms that are chosen for others. */
#include "algo_sim.h"

bool refuses(void)
{
	static const u32 dims[] = { 2, 3 };
	static const struct ang_kin kin = { 0 };
	static const struct ang_coll_args bad[] = {
		{ .coll = ANG_COLL_NUM, .size = 1, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .algo = ANG_ALGO_NUM, .size = 1, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .algo = ANG_ALGO_BRUCK, .size = 1, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .size = 0, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .size = 2, .rank = 2, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .size = 2, .root = 2, .elem = 1 },
		{ .coll = ANG_COLL_BCAST, .size = 2 },
		{ .coll = ANG_COLL_GATHER, .algo = ANG_ALGO_BINOMIAL, .size = 2, .elem = 1,
		  .irregular = true },
		{ .coll = ANG_COLL_BCAST, .algo = ANG_ALGO_RING, .size = 7, .elem = 1,
		  .dims = dims, .ndims = 2 },
		{ .coll = ANG_COLL_BCAST, .algo = ANG_ALGO_RING, .size = 5, .elem = 1,
		  .dims = dims, .ndims = 2 },
		{ .coll = ANG_COLL_ALLGATHER, .algo = ANG_ALGO_RECURSIVE_DOUBLING,
		  .size = 6, .elem = 1 },
		{ .coll = ANG_COLL_ALLGATHER, .algo = ANG_ALGO_BRUCK, .size = 2, .elem = 1,
		  .place = dims },
		{ .coll = ANG_COLL_ALLREDUCE, .algo = ANG_ALGO_TREE, .size = 2, .elem = 1 },
		{ .coll = ANG_COLL_ALLREDUCE, .algo = ANG_ALGO_RING, .size = 2, .elem = 1,
		  .kin = &kin },
		{ .coll = ANG_COLL_BCAST, .algo = ANG_ALGO_TREE, .size = 2, .elem = 1,
		  .kin = &kin },
	};
	struct ang_schedule s;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (ang_schedule_make(&bad[i], &s) != -22)
			return wrong("invalid arguments %zu are accepted", i);
	return true;
}

/*
 * All members choose the same algorithm.  For long data they choose the one that
 * sends fewer bytes.
 */
bool chooses(void)
{
	struct ang_coll_args a = { .size = 16, .elem = 8 };
	u32 rank;
	int coll;

	for (coll = 0; coll < ANG_COLL_NUM; coll++)
		for (a.count = 1; a.count < 1 << 20; a.count *= 4)
			for (rank = 0; rank < a.size; rank++) {
				enum ang_algo first;

				a.coll = coll;
				a.rank = 0;
				first = ang_algo_choose(&a);
				a.rank = rank;
				a.algo = first;
				if (ang_algo_choose(&a) != first || !ang_algo_valid(&a) ||
				    first == ANG_ALGO_AUTO)
					return wrong("%s: the chosen algorithm is not the same at all members, or not valid",
						     coll_names[coll]);
			}
	/*
	 * Teams limit early messages.  The limit assumes that a member receives
	 * at most size + 64 messages of a collective.
	 */
	for (a.size = 1; a.size < 5000; a.size += 1 + a.size / 3)
		for (coll = 0; coll < ANG_COLL_NUM; coll++)
			for (a.count = 1; a.count < 1 << 20; a.count *= 4) {
				size_t longest;

				a.coll = coll;
				a.algo = ANG_ALGO_AUTO;
				if (ang_algo_arrivals(&a, &longest) > a.size + 64)
					return wrong("%s: a member gets more messages than the limit", coll_names[coll]);
			}
	a.size = 16;
	a.coll = ANG_COLL_ALLREDUCE;
	a.count = 8;
	if (ang_algo_choose(&a) != ANG_ALGO_RECURSIVE_DOUBLING)
		return wrong("a short allreduce does not use recursive doubling");
	a.count = 1 << 20;
	return ang_algo_choose(&a) == ANG_ALGO_RABENSEIFNER || wrong("a long allreduce does not use rabenseifner");
}

/*
 * With 1000 members, each sends to only a few in the collectives that create
 * teams.
 */
bool scales(void)
{
	static const struct {
		enum ang_coll coll;
		enum ang_algo algo;
	} colls[] = {
		{ ANG_COLL_BARRIER, ANG_ALGO_DISSEMINATION },
		{ ANG_COLL_ALLREDUCE, ANG_ALGO_RECURSIVE_DOUBLING },
		{ ANG_COLL_ALLGATHER, ANG_ALGO_BRUCK },
	};
	struct ang_coll_args a = { .size = 1000, .elem = 8, .count = 1 };
	size_t c;

	for (c = 0; c < sizeof(colls) / sizeof(*colls); c++)
		for (a.rank = 0; a.rank < a.size; a.rank++) {
			struct ang_schedule s;
			u32 sends = 0, i;

			a.coll = colls[c].coll;
			a.algo = colls[c].algo;
			if (ang_schedule_make(&a, &s))
				return wrong("%s", coll_names[a.coll]);
			for (i = 0; i < s.n; i++)
				sends += s.steps[i].kind == ANG_STEP_SEND;
			ang_schedule_free(&s);
			if (sends > log2_up(a.size))
				return wrong("%s: %u sends %u", coll_names[a.coll],
					     a.rank, sends);
		}
	return true;
}
