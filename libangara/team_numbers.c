// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Numbers under which the members of a team take part in an allgather, so that
 * little data crosses the upper levels of the system.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "algo/map.h"
#include "team.h"

#define LEVELS_MOST	16U

/*
 * Return: ANG_NUMBERED_* of an algorithm; ANG_NUMBERED_NUM: the algorithm has
 * no numbers.
 */
static enum ang_numbered numbers_of(u32 algo)
{
	switch (algo) {
	case ANGARA_ALGO_BRUCK:
		return ANG_NUMBERED_BRUCK;
	case ANGARA_ALGO_RECURSIVE_DOUBLING:
		return ANG_NUMBERED_DOUBLING;
	default:
		return ANG_NUMBERED_NUM;
	}
}

ANG_PUBLIC int angara_numbers(uint32_t algo, unsigned int n, const uint32_t *modules,
			      unsigned int levels, uint32_t *numbers)
{
	struct ang_graph g;
	u32 *rank_of;
	int ret;

	if (numbers_of(algo) == ANG_NUMBERED_NUM || levels > LEVELS_MOST)
		return -EINVAL;
	ret = ang_graph_make(&g, ANG_COLL_ALLGATHER, algo >> ANGARA_ALGO_SHIFT, n);
	if (ret)
		return ret;
	rank_of = calloc(n, sizeof(*rank_of));
	ret = rank_of ? ang_map(&g, modules, levels, numbers, rank_of) : -ENOMEM;
	free(rank_of);
	ang_graph_free(&g);
	return ret;
}

ANG_PUBLIC int angara_team_numbers(struct angara_team *team, uint32_t algo,
				   const uint32_t *numbers)
{
	enum ang_numbered which = numbers_of(algo);
	u32 *place, *rank_of, n = team->size, i;

	if (which == ANG_NUMBERED_NUM)
		return -EINVAL;
	place = calloc(2 * (size_t)n, sizeof(*place));
	if (!place)
		return -ENOMEM;
	rank_of = place + n;
	for (i = 0; i < n; i++)
		rank_of[i] = n;
	for (i = 0; i < n; i++) {
		if (numbers[i] >= n || rank_of[numbers[i]] != n) {
			free(place);
			return -EINVAL;
		}
		place[i] = numbers[i];
		rank_of[numbers[i]] = i;
	}
	free(team->numbers[which]);
	team->numbers[which] = place;
	return 0;
}
