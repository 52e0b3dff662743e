/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test of all routines: what its files share.  They call every routine that
 * routines.txt has; shmem.t compares by nm(1).  A value says which PE it is from
 * and which element it is.
 */
#ifndef SHMEM_T_H
#define SHMEM_T_H

#include <shmem.h>
#include <stdbool.h>

#define K	300	/* elements, above what a queue entry holds for most types */

extern int me, n, left, right;

void expect(bool ok, const char *what, const char *file, int line);
#define EXPECT(cond)	expect(cond, #cond, __FILE__, __LINE__)
/* Ends a group of expectations of all PEs, and prints its result. */
void group(const char *name);

/* Routines of the default context, and those with one. */
#define CALL_plain(name, ...)	shmem_##name(__VA_ARGS__)
#define CALL_ctx(name, ...)	shmem_ctx_##name(ctx, __VA_ARGS__)

#define VAL(T, pe, i)	((T)((pe) * 16 + (int)(i) % 13 + 1))

/* All operations of the context are complete at all PEs. */
void settle(shmem_ctx_t ctx);

void test_rma(void);
void test_rma_sizes(void);
void test_amo(void);
void test_sync(void);
void test_coll(void);
void test_reduce(void);
void test_sets(void);
void test_teams(void);
void test_heap(void);
void test_locks(void);
void test_ext(void);

#endif /* SHMEM_T_H */
