/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs that test MPI share: communicators, random numbers. */
#ifndef WORLD_H
#define WORLD_H

#include <mpi.h>

#define COMMS	8

extern int rank, size;			/* in MPI_COMM_WORLD */
extern MPI_Comm comms[COMMS];		/* MPI_COMM_NULL for non-members */
extern const char *const comm_names[COMMS];

void comms_make(void);
void comms_free(void);
unsigned int draw(unsigned long *state);

#endif /* WORLD_H */
