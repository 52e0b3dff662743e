// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Constants of OpenSHMEM 1.5, section "Library Constants".  The compiler checks
 * that they are constants, their order, and that deprecated names have the same
 * values; test_constants() checks that the values of a set differ.
 */
#include <string.h>

#include "t.h"

#define ORDERED(a, b)	_Static_assert((a) < (b), #a " is less than " #b)
#define OLD(name)	_Static_assert(_##name == name, "_" #name)
#define AT_LEAST_1(name) _Static_assert(name >= 1, #name)

ORDERED(SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED);
ORDERED(SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED);
ORDERED(SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE);

OLD(SHMEM_MAJOR_VERSION);
OLD(SHMEM_MINOR_VERSION);
OLD(SHMEM_MAX_NAME_LEN);
OLD(SHMEM_CMP_EQ);
OLD(SHMEM_CMP_NE);
OLD(SHMEM_CMP_GT);
OLD(SHMEM_CMP_GE);
OLD(SHMEM_CMP_LT);
OLD(SHMEM_CMP_LE);
OLD(SHMEM_SYNC_VALUE);
OLD(SHMEM_BARRIER_SYNC_SIZE);
OLD(SHMEM_BCAST_SYNC_SIZE);
OLD(SHMEM_COLLECT_SYNC_SIZE);
OLD(SHMEM_REDUCE_SYNC_SIZE);
OLD(SHMEM_REDUCE_MIN_WRKDATA_SIZE);

_Static_assert(SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION == 5, "version");
_Static_assert(sizeof(SHMEM_VENDOR_STRING) <= SHMEM_MAX_NAME_LEN, "length of the name");
_Static_assert(sizeof(_SHMEM_VENDOR_STRING) == sizeof(SHMEM_VENDOR_STRING), "name");

/* A work array of SHMEM_SYNC_SIZE words is enough for each collective. */
AT_LEAST_1(SHMEM_BARRIER_SYNC_SIZE);
AT_LEAST_1(SHMEM_BCAST_SYNC_SIZE);
AT_LEAST_1(SHMEM_COLLECT_SYNC_SIZE);
AT_LEAST_1(SHMEM_REDUCE_SYNC_SIZE);
AT_LEAST_1(SHMEM_ALLTOALL_SYNC_SIZE);
AT_LEAST_1(SHMEM_ALLTOALLS_SYNC_SIZE);
AT_LEAST_1(SHMEM_REDUCE_MIN_WRKDATA_SIZE);
_Static_assert(SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE &&
	       SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE &&
	       SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE &&
	       SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE &&
	       SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE &&
	       SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE, "SHMEM_SYNC_SIZE");

static bool differ(const long *value, int count)
{
	int i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			if (value[i] == value[j])
				return false;
	return true;
}

/* Options are bits, so that a program can combine them. */
static bool bits(const long *value, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (value[i] <= 0 || value[i] & (value[i] - 1))
			return false;
	return differ(value, count);
}

void test_constants(void)
{
	static const long cmp[] = { SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE,
				    SHMEM_CMP_LT, SHMEM_CMP_LE };
	static const long signal[] = { SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD };
	static const long ctx[] = { SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE,
				    SHMEM_CTX_NOSTORE };
	static const long hint[] = { SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE };
	static const long team[] = { SHMEM_TEAM_NUM_CONTEXTS };

	EXPECT(differ(cmp, 6) && differ(signal, 2));
	EXPECT(bits(ctx, 3) && bits(hint, 2) && bits(team, 1));
	EXPECT(SHMEM_CTX_DEFAULT != SHMEM_CTX_INVALID);
	EXPECT(SHMEM_TEAM_WORLD != SHMEM_TEAM_INVALID &&
	       SHMEM_TEAM_SHARED != SHMEM_TEAM_INVALID &&
	       SHMEM_TEAM_SHARED != SHMEM_TEAM_WORLD);
	EXPECT(!strcmp(_SHMEM_VENDOR_STRING, SHMEM_VENDOR_STRING));
	group("constants");
}
