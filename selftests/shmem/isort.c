// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N isort: integers are sorted by buckets, one for each PE.  A PE
 * reserves room in a bucket by an atomic addition, then puts its keys there.
 */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS	20000	/* per PE */
#define RANGE	(1U << 20)

static uint64_t filled;		/* keys in this PE's bucket */
static uint64_t sum[2];		/* sums of keys: before and after */
static uint32_t edge[2];	/* smallest and largest key of this PE */

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t next_key(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33) % RANGE;
}

/* Sends the keys of one bucket. */
static void send_keys(uint32_t *bucket, const uint32_t *keys, size_t n, int pe)
{
	uint64_t at;

	if (!n)
		return;
	at = shmem_atomic_fetch_add(&filled, n, pe);
	shmem_put(bucket + at, keys, n, pe);
}

/* Return: number of errors. */
static int check(const uint32_t *bucket)
{
	int me = shmem_my_pe(), errors = 0;
	uint64_t i;

	for (i = 0; i < filled; i++) {
		errors += i && bucket[i - 1] > bucket[i];
		sum[1] += bucket[i];
	}
	edge[0] = bucket[0];
	edge[1] = bucket[filled - 1];
	shmem_sum_reduce(SHMEM_TEAM_WORLD, sum, sum, 2);
	shmem_sum_reduce(SHMEM_TEAM_WORLD, &filled, &filled, 1);
	errors += sum[0] != sum[1];
	errors += filled != (uint64_t)shmem_n_pes() * KEYS;
	if (me)
		errors += shmem_g(&edge[1], me - 1) > edge[0];
	return errors;
}

int main(void)
{
	uint32_t *bucket, *keys;
	uint64_t seed;
	uint32_t width;
	int n, pe, errors;
	size_t i, first;

	shmem_init();
	n = shmem_n_pes();
	bucket = shmem_malloc((size_t)n * KEYS * sizeof(*bucket));
	keys = malloc(KEYS * sizeof(*keys));
	seed = (uint64_t)shmem_my_pe() + 1;
	width = (RANGE + (uint32_t)n - 1) / (uint32_t)n;
	for (i = 0; i < KEYS; i++) {
		keys[i] = next_key(&seed);
		sum[0] += keys[i];
	}
	qsort(keys, KEYS, sizeof(*keys), by_value);
	for (pe = 0, i = 0; pe < n; pe++) {
		for (first = i; i < KEYS && keys[i] / width == (uint32_t)pe; i++)
			;
		send_keys(bucket, keys + first, i - first, pe);
	}
	shmem_barrier_all();
	qsort(bucket, filled, sizeof(*bucket), by_value);
	errors = check(bucket);
	free(keys);
	shmem_barrier_all();
	printf("isort: PE %d: %d errors\n", shmem_my_pe(), errors);
	shmem_finalize();
	return errors != 0;
}
