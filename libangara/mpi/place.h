/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places of processes in their machines, as a tree of levels: node, processor,
 * L3 cache.  Used by the interposer and by angara-algo.
 */
#ifndef ANG_MPI_PLACE_H
#define ANG_MPI_PLACE_H

#include "ang_env.h"

#define ANG_PLACE_LEVELS	3U	/* node, processor, L3 cache */

void ang_place_own(u32 place[ANG_PLACE_LEVELS]);

#endif /* ANG_MPI_PLACE_H */
