/* SPDX-License-Identifier: GPL-2.0-only */
/* angara-algo: execution of schedules between processes. */
#ifndef EXEC_H
#define EXEC_H

#include "tool.h"

extern const char exec_name[];	/* the library that delivers messages */

/*
 * Functions end the process if a call fails.  exec_memory() returns one piece
 * of memory for all collectives.
 */
void exec_start(u32 *rank, u32 *size);
void exec_end(void);
char *exec_memory(size_t bytes);
void exec_run(const struct ang_coll_args *args, char *in, char *out);
void exec_barrier(void);
/*
 * Between these two calls, exec_run() runs between processes @p < @q only, as
 * members 0 and 1.  All processes call both functions.
 */
void exec_pair(u32 p, u32 q);
void exec_pair_end(void);
/* Places of all processes, ANG_PLACE_LEVELS numbers for each. */
void exec_places(u32 *places);
/* Return: the greatest value of all processes. */
double exec_most(double value);
/*
 * Counts the messages between processes in exec_run() since the last call, by level.
 * All processes call it.
 */
void exec_traffic(const struct levels *s, struct traffic *t);
/* Adds doubles with the code that exec_run() uses. */
void exec_combine(void *dst, const void *src, size_t len);
/* Runs the MPI's own collective.  Return: false: the MPI has none. */
bool exec_native(const struct ang_coll_args *args, char *in, char *out);

/* measure.c */

#define MEASURE_WARMUP	2U		/* runs before the measured ones */
#define MEASURE_ROOM	(2U << 20)	/* bytes of memory that need_fitted() takes */

double measure(const struct job *j, char *in, char *out, bool native, u32 repeat);
void need_fitted(struct opts *o, struct levels *s, u32 rank, u32 size, char *memory);
bool need_system(struct opts *o, struct levels *s);

#endif /* EXEC_H */
