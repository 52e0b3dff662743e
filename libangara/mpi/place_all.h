/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places of all processes of an MPI program. */
#ifndef ANG_MPI_PLACE_ALL_H
#define ANG_MPI_PLACE_ALL_H

#include <mpi.h>

#include "place.h"

int ang_place_all(MPI_Comm world, u32 *places);

#endif /* ANG_MPI_PLACE_ALL_H */
