/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations that the files of the test t share.  The test calls every routine of
 * routines.txt; shmem.t checks that by nm(1).  Each value identifies its PE and
 * element.
 */
#ifndef SHMEM_T_H
#define SHMEM_T_H

#include <shmem.h>
#include <stdbool.h>

#define K	300	/* elements; more than most queue entries hold */

extern int me, n, left, right;

void expect(bool ok, const char *what, const char *file, int line);
#define EXPECT(cond)	expect(cond, #cond, __FILE__, __LINE__)
/* Prints the result of a group of expectations, over all PEs. */
void group(const char *name);

/* Calls routines of the default context, or of context @ctx. */
#define CALL_plain(name, ...)	shmem_##name(__VA_ARGS__)
#define CALL_ctx(name, ...)	shmem_ctx_##name(ctx, __VA_ARGS__)

#define VAL(T, pe, i)	((T)((pe) * 16 + (int)(i) % 13 + 1))

/* Waits until all operations of the context are complete at all PEs. */
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
void test_generic(void);
void test_constants(void);

#endif /* SHMEM_T_H */
