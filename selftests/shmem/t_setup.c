// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Symmetric heap, teams, contexts, locks.
 */
#include <string.h>

#include "t.h"

static bool zero(const char *p, size_t len)
{
	while (len--)
		if (*p++)
			return false;
	return true;
}

/* The distance between two blocks must be equal at all PEs. */
static void same_offset(const char *base, const char *block)
{
	static long v[2];

	v[0] = block - base;
	v[1] = -v[0];
	shmem_barrier_all();
	shmem_long_max_reduce(SHMEM_TEAM_WORLD, v, v, 2);
	EXPECT(v[0] == -v[1]);
}

/* A block grows into free memory behind it; a block that shrinks gives the rest back. */
static void resized(void)
{
	char *a = shmem_malloc(1000), *b = shmem_malloc(1000), *c = shmem_malloc(1000);

	memset(a, 7, 1000);
	shmem_free(b);
	EXPECT(shmem_realloc(a, 1500) == a && a[0] == 7 && a[999] == 7);
	b = shmem_malloc(500);
	EXPECT(b == a + 1536);
	shmem_free(b);
	EXPECT(shmem_realloc(a, c - a) == a);
	EXPECT(shmem_realloc(a, 100) == a && a[99] == 7);
	b = shmem_malloc(1000);
	EXPECT(b == a + 128);
	EXPECT(shmem_realloc(a, 128) == a);
	a = shmem_realloc(a, 129);
	EXPECT(a && a != b - 128 && a[0] == 7 && a[99] == 7);
	EXPECT(!shmem_realloc(a, SIZE_MAX) && !shmem_realloc(a, (size_t)1 << 50));
	shmem_free(a);
	shmem_free(b);
	shmem_free(c);
}

/* @base is at the start of the heap, which has 32 MiB. */
static void aligned(const char *base)
{
	size_t align;
	char *block;

	for (align = 1; align <= 16 << 20; align *= 2) {
		block = shmem_align(align, 100);
		EXPECT(block && !((uintptr_t)block & (align - 1)));
		same_offset(base, block);
		shmem_free(block);
	}
	EXPECT(!shmem_align(0, 10));
}

void test_heap(void)
{
	/* This must fail even if the heap is empty, so that the block could begin at its start. */
	bool too_much = shmem_align((size_t)1 << 47, 10);
	char *a = shmem_malloc(1000), *b, *c, *d;

	EXPECT(!too_much);
	EXPECT(a && (uintptr_t)a % sizeof(long) == 0);
	b = shmem_align(4096, 100);
	EXPECT(b && (uintptr_t)b % 4096 == 0);
	same_offset(a, b);
	memset(b, 1, 100);
	shmem_free(b);
	c = shmem_calloc(50, 100);
	EXPECT(c && zero(c, 5000));
	same_offset(a, c);
	memset(a, 7, 1000);
	d = shmem_realloc(a, 20000);
	EXPECT(d && d != a && d[0] == 7 && d[999] == 7);
	EXPECT(shmem_realloc(d, 10) == d);
	b = shmem_malloc_with_hints(1000, SHMEM_MALLOC_ATOMICS_REMOTE);
	EXPECT(b == a);
	EXPECT(!shmem_malloc(0) && !shmem_malloc((size_t)1 << 50));
	EXPECT(!shmem_align(3, 10) && !shmem_malloc(SIZE_MAX));
	aligned(a);
	shmem_free(NULL);
	EXPECT(!shmem_realloc(d, 0));
	shmem_free(c);
	shmem_free(b);
	/* Adjacent free blocks are merged. */
	a = shmem_malloc(1000);
	b = shmem_malloc(1000);
	c = shmem_malloc(1000);
	d = shmem_malloc(1000);
	shmem_free(c);
	shmem_free(a);
	shmem_free(b);
	EXPECT(shmem_malloc(3000) == a);
	shmem_free(a);
	shmem_free(d);
	a = shmalloc(100);
	b = shmemalign(256, 100);
	EXPECT(a && b && (uintptr_t)b % 256 == 0);
	a = shrealloc(a, 5000);
	EXPECT(a && a != b);
	shfree(b);
	shfree(a);
	resized();
	group("symmetric heap");
}

static void test_2d(void)
{
	shmem_team_t x, y;
	int range = n > 2 ? n / 2 : 1;

	EXPECT(!shmem_team_split_2d(SHMEM_TEAM_WORLD, range, NULL, 0, &x, NULL, 0, &y));
	EXPECT(shmem_team_my_pe(x) == me % range && shmem_team_my_pe(y) == me / range);
	EXPECT(shmem_team_translate_pe(x, 0, SHMEM_TEAM_WORLD) == me / range * range);
	EXPECT(shmem_team_translate_pe(y, 0, SHMEM_TEAM_WORLD) == me % range);
	EXPECT(!shmem_team_sync(x) && !shmem_team_sync(y));
	shmem_team_destroy(x);
	shmem_team_destroy(y);
	group("teams of two dimensions");
}

static void test_reversed(void)
{
	shmem_team_config_t config = { .num_contexts = 3 };
	shmem_team_t team, of;
	shmem_ctx_t ctx;
	static int from;

	EXPECT(!shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, &config,
					 SHMEM_TEAM_NUM_CONTEXTS, &team));
	EXPECT(shmem_team_my_pe(team) == n - 1 - me && shmem_team_n_pes(team) == n);
	config.num_contexts = 0;
	EXPECT(!shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config));
	EXPECT(config.num_contexts == 3);
	EXPECT(!shmem_team_create_ctx(team, 0, &ctx));
	EXPECT(!shmem_ctx_get_team(ctx, &of) && of == team);
	from = -1;
	shmem_barrier_all();
	/* PE 0 of the team is the last PE of the world. */
	if (!me)
		shmem_ctx_int_p(ctx, &from, 42, 0);
	shmem_ctx_quiet(ctx);
	shmem_barrier_all();
	EXPECT(from == (me == n - 1 ? 42 : -1));
	shmem_team_destroy(team);
	group("team in reverse order, with a context");
}

/* The shared team has the PEs whose heaps this PE can address. */
static void test_shared(void)
{
	char *word = shmem_malloc(1);
	int pe, near = 0;

	for (pe = 0; pe < n; pe++) {
		int place = shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED);

		EXPECT((shmem_ptr(word, pe) != NULL) == (place >= 0));
		EXPECT(pe != me || shmem_team_my_pe(SHMEM_TEAM_SHARED) == place);
		near += place >= 0;
	}
	EXPECT(shmem_team_n_pes(SHMEM_TEAM_SHARED) == near);
	shmem_free(word);
}

void test_teams(void)
{
	shmem_team_t team;
	shmem_ctx_t ctx;

	EXPECT(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me);
	EXPECT(shmem_team_n_pes(SHMEM_TEAM_WORLD) == n);
	test_shared();
	EXPECT(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1);
	EXPECT(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
	EXPECT(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n, SHMEM_TEAM_WORLD) == -1);
	EXPECT(!shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) && team == SHMEM_TEAM_WORLD);
	EXPECT(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) && team == SHMEM_TEAM_INVALID);
	EXPECT(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team));
	EXPECT(team == SHMEM_TEAM_INVALID);
	EXPECT(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team));
	EXPECT(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team));
	EXPECT(me ? team == SHMEM_TEAM_INVALID : shmem_team_n_pes(team) == 1);
	shmem_team_destroy(team);
	EXPECT(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) && ctx == SHMEM_CTX_INVALID);
	EXPECT(shmem_ctx_create(1L << 20, &ctx));
	group("teams");
	test_2d();
	test_reversed();
}

/* Increments a counter non-atomically, under a lock. */
void test_locks(void)
{
	static long lock, count;
	int i;

	for (i = 0; i < 20; i++) {
		shmem_set_lock(&lock);
		shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	EXPECT(me || count == 20 * n);
	shmem_barrier_all();
	for (i = 0; i < 5; i++) {
		while (shmem_test_lock(&lock))
			;
		shmem_long_p(&count, shmem_long_g(&count, 0) - 1, 0);
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	EXPECT(me || count == 15 * n);
	group("locks");
}
