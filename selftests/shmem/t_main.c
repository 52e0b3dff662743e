// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* oshrun -np N t: set-up, query, and the tests of the other files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmemx.h>

#include "t.h"

/*
 * A program may also use this declaration of libraries, although its variables
 * are symmetric anyway.
 */
SHMEMX_SYMMETRIC_LIBRARY;

int me, n, left, right;

static int failures, tests;
static int sum;
static long word;

void expect(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	if (!failures++)
		fprintf(stderr, "PE %d: %s:%d: %s\n", me, file, line, what);
}

void group(const char *name)
{
	sum = failures;
	shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &sum, 1);
	failures = 0;
	tests++;
	if (!me && sum)
		printf("not ok %d - %s: %d expectations failed, of all PEs\n", tests, name, sum);
	else if (!me)
		printf("ok %d - %s\n", tests, name);
	fflush(stdout);
}

void settle(shmem_ctx_t ctx)
{
	shmem_ctx_quiet(ctx);
	shmem_barrier_all();
}

static void test_query(void)
{
	char name[SHMEM_MAX_NAME_LEN] = "";
	int major = 0, minor = 0, level = -1, stack;

	shmem_info_get_version(&major, &minor);
	shmem_info_get_name(name);
	shmem_query_thread(&level);
	EXPECT(major == 1 && minor == 5 && !strcmp(name, SHMEM_VENDOR_STRING));
	EXPECT(level == SHMEM_THREAD_MULTIPLE);
	EXPECT(shmem_pe_accessible(n - 1) && !shmem_pe_accessible(n) &&
	       !shmem_pe_accessible(-1));
	EXPECT(shmem_addr_accessible(&word, right));
	EXPECT(!shmem_addr_accessible(&stack, right));
	EXPECT(shmem_ptr(&word, me) == &word);
	EXPECT(n == 1 || !shmem_ptr(&word, right));
	EXPECT(_my_pe() == me && _num_pes() == n);
	shmem_pcontrol(1, 2, 3);
	start_pes(0);
	EXPECT(shmem_my_pe() == me);
	group("query");
}

static void test_caches(void)
{
	shmem_set_cache_inv();
	shmem_clear_cache_inv();
	shmem_udcflush();
	shmem_set_cache_line_inv(&word);
	shmem_clear_cache_line_inv(&word);
	shmem_udcflush_line(&word);
	group("cache routines do nothing");
}

int main(void)
{
	int provided = -1;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	n = shmem_n_pes();
	left = (me + n - 1) % n;
	right = (me + 1) % n;
	EXPECT(provided == SHMEM_THREAD_MULTIPLE);
	/* A second initialization changes nothing. */
	shmem_init();
	group("set-up");
	test_query();
	test_caches();
	test_constants();
	test_heap();
	test_rma();
	test_rma_sizes();
	test_amo();
	test_sync();
	test_teams();
	test_coll();
	test_reduce();
	test_sets();
	test_locks();
	test_ext();
	test_generic();
	if (!me)
		printf("1..%d\n", tests);
	shmem_finalize();
	if (provided < 0)
		shmem_global_exit(1);
	return 0;
}
