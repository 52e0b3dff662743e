// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Deprecated routines.  Collectives of active sets use no pSync and no pWrk.
 */
#include <unistd.h>

#include "shi.h"

#define THE_SET		shi_set(PE_start, logPE_stride, PE_size)

SHI_DEF(void, barrier, (SHMEMI_SET, long *pSync))
{
	struct shmemi_team *t = THE_SET;

	(void)pSync;
	shi_quiet(&shi.def);
	shi_sync(t);
}

SHI_DEF(void, sync, (SHMEMI_SET, long *pSync))
{
	(void)pSync;
	shi_sync(THE_SET);
}

#define COLL_SIZE(S, B) \
	SHI_DEF(void, broadcast##S, (void *dest, const void *source, size_t nelems, \
				     int PE_root, SHMEMI_SET, long *pSync)) \
	{ \
		(void)pSync; \
		shi_broadcast(THE_SET, dest, source, shi_times(nelems, B), PE_root, false); \
	} \
	SHI_DEF(void, collect##S, (void *dest, const void *source, size_t nelems, \
				   SHMEMI_SET, long *pSync)) \
	{ \
		(void)pSync; \
		shi_collect(THE_SET, dest, source, shi_times(nelems, B)); \
	} \
	SHI_DEF(void, fcollect##S, (void *dest, const void *source, size_t nelems, \
				    SHMEMI_SET, long *pSync)) \
	{ \
		(void)pSync; \
		shi_fcollect(THE_SET, dest, source, shi_times(nelems, B)); \
	} \
	SHI_DEF(void, alltoall##S, (void *dest, const void *source, size_t nelems, \
				    SHMEMI_SET, long *pSync)) \
	{ \
		(void)pSync; \
		shi_alltoall(THE_SET, dest, source, shi_times(nelems, B)); \
	} \
	SHI_DEF(void, alltoalls##S, (void *dest, const void *source, ptrdiff_t dst, \
				     ptrdiff_t sst, size_t nelems, SHMEMI_SET, \
				     long *pSync)) \
	{ \
		(void)pSync; \
		shi_alltoalls(THE_SET, dest, source, \
			      (struct shi_stride){ dst, sst, B, nelems }); \
	}
SHMEMI_COLL_SIZES(COLL_SIZE)

SHI_DEF(void, wait, (long *ivar, long cmp_value))
{
	shi_wait_long(ivar, SHMEM_CMP_NE, cmp_value);
}

SHI_DEF(void, wait_until, (long *ivar, int cmp, long cmp_value))
{
	shi_wait_long(ivar, cmp, cmp_value);
}

/*
 * The cache routines do nothing: caches are coherent, so puts are visible
 * without them.
 */
SHI_DEF(void, set_cache_inv, (void))
{
}

SHI_DEF(void, clear_cache_inv, (void))
{
}

SHI_DEF(void, udcflush, (void))
{
}

SHI_DEF(void, set_cache_line_inv, (void *dest))
{
	(void)dest;
}

SHI_DEF(void, clear_cache_line_inv, (void *dest))
{
	(void)dest;
}

SHI_DEF(void, udcflush_line, (void *dest))
{
	(void)dest;
}

/* Ignores @npes: the launcher sets the number of PEs. */
void start_pes(int npes)
{
	(void)npes;
	shi_start(SHMEM_THREAD_SINGLE);
	shi.starter = getpid();
}

int _my_pe(void)
{
	return pshmem_my_pe();
}

int _num_pes(void)
{
	return pshmem_n_pes();
}

void *shmalloc(size_t size)
{
	return pshmem_malloc(size);
}

void shfree(void *ptr)
{
	pshmem_free(ptr);
}

void *shrealloc(void *ptr, size_t size)
{
	return pshmem_realloc(ptr, size);
}

void *shmemalign(size_t alignment, size_t size)
{
	return pshmem_align(alignment, size);
}
