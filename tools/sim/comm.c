// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions sim_comm_* (funcs.h) for one process; comm_mpi.c has them for
 * several.
 */
#include "sim.h"

void sim_comm_init(struct sim_comm *c, int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	c->rank = 0;
	c->size = 1;
}

void sim_comm_end(void)
{
}

u64 sim_comm_min(u64 val)
{
	return val;
}

void sim_comm_sum(u64 *vals, u32 n)
{
	(void)vals;
	(void)n;
}

void sim_comm_max(u64 *vals, u32 n)
{
	(void)vals;
	(void)n;
}

void sim_comm_exchange(struct sim *s)
{
	(void)s;
}
