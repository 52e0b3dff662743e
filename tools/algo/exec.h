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
/* Return: the greatest value of all processes. */
double exec_most(double value);
/*
 * Counts the messages between processes in exec_run() since the last call, by level.
 * All processes call it.
 */
void exec_traffic(const struct levels *s, struct traffic *t);
/* Runs the collective of the MPI itself.  Return: false: the MPI has none. */
bool exec_native(const struct ang_coll_args *args, char *in, char *out);

#endif /* EXEC_H */
