// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Dimensions of a team's ring allreduces, and the length of the packets that they send. */
#include <errno.h>

#include "coll_run.h"

ANG_PUBLIC int angara_team_rings(struct angara_team *team, const uint32_t *dims,
				 unsigned int ndims, size_t packet)
{
	u32 left = team->size, d;

	if (ndims > ANG_RINGS_MOST)
		return -EINVAL;
	for (d = 0; d < ndims; d++) {
		if (!dims[d] || left % dims[d])
			return -EINVAL;
		left /= dims[d];
	}
	if (ndims && left != 1)
		return -EINVAL;
	for (d = 0; d < ndims; d++)
		team->rings[d] = dims[d];
	team->nrings = ndims;
	team->packet = packet;
	return 0;
}

/**
 * ang_team_torus() - set the dimensions of an allreduce by ANGARA_ALGO_RING2D
 * @team: team
 * @a: arguments of the allreduce; afterwards they point to memory of the team
 */
void ang_team_torus(struct angara_team *team, struct ang_coll_args *a)
{
	if (!team->nrings) {
		ang_algo_square(team->size, team->rings);
		team->nrings = 2;
	}
	a->dims = team->rings;
	a->ndims = team->nrings;
}
