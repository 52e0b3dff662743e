/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the test of the schedules and its network. */
#ifndef ALGO_SIM_H
#define ALGO_SIM_H

#include <stdint.h>

#include "../../libangara/algo/run.h"

#define MAX_SIZE	33
#define MARGIN		64	/* guard bytes after a buffer */
#define FILLER		0xA5

/*
 * Elements are maps x -> a x + b of 32-bit numbers: their composition is
 * associative but not commutative, so the result shows the order of ranks.
 */
struct map {
	u32 a, b;
};

/**
 * struct member - a member of the simulated collective
 * @args: its arguments
 * @run: its schedule and buffers
 * @len: bytes of the buffers
 * @knows: members whose data it has received, directly or through others; a bit
 *	each
 */
struct member {
	struct ang_coll_args args;
	struct ang_run run;
	size_t len[ANG_BUF_NUM];
	u64 knows;
};

extern struct member m[MAX_SIZE];
extern u64 seed;
extern u64 messages, bytes;	/* counters of the last run() */
extern const struct ang_run_ops sim_ops;

/* Operation that combines elements. */
extern struct map (*op)(struct map, struct map);

/* Reason of a failure.  wrong() returns false. */
extern char why[256];
bool wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

u32 any(u32 below);
struct map given(u32 rank, size_t i);

/* Are the steps of a member in order, in range, and disjoint? */
bool schedule_ok(const struct member *x);
/* Executes the schedules of members 0 to @n - 1. */
bool run(u32 n);

/* Messages and bytes by the table in algo.h; SKIP: it gives no exact number. */
#define SKIP	UINT64_MAX

void formula(const struct ang_coll_args *a, u64 *num, u64 *total);
/* Return: number of members whose number differs from their rank. */
u64 moved(const struct ang_coll_args *a);
u32 log2_up(u32 n);

extern const char *const coll_names[ANG_COLL_NUM];

/* These tests of arguments are in algo_args.c. */
bool refuses(void);
bool chooses(void);
bool scales(void);

#endif /* ALGO_SIM_H */
