/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the test of the schedules and its network share.
 */
#ifndef ALGO_SIM_H
#define ALGO_SIM_H

#include "../algo/algo.h"

#define MAX_SIZE	33
#define MARGIN		64	/* bytes behind a buffer that nobody may touch */
#define FILLER		0xA5

/*
 * Elements are maps x -> a x + b of 32-bit numbers: to compose them is
 * associative and not commutative, so it tells in which order ranks stand.
 */
struct map {
	u32 a, b;
};


/**
 * struct member - a member of the simulated collective
 * @args: its view of it
 * @s: its schedule
 * @buf: its buffers, by enum ang_buf
 * @len: bytes of them
 * @begun: steps begun
 * @ended: of each step, whether it has ended
 * @prefix: steps that have ended, from the first on
 */
struct member {
	struct ang_coll_args args;
	struct ang_schedule s;
	char *buf[3];
	size_t len[3];
	u32 begun;
	bool *ended;
	u32 prefix;
};

extern struct member m[MAX_SIZE];
extern u64 seed;
extern u64 messages, bytes;	/* of the last run() */

/* What combines elements. */
extern struct map (*op)(struct map, struct map);

/* Why a test has failed.  wrong() is false. */
extern char why[256];
bool wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

u32 any(u32 below);
struct map given(u32 rank, size_t i);

/* Are the steps of a member in order, in range, and apart from each other? */
bool schedule_ok(const struct member *x);
/* Executes the schedules of members 0 to @n - 1. */
bool run(u32 n);
void clean(void);

#endif /* ALGO_SIM_H */
