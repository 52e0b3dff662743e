/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSHMEM 1.5 on an Angara fabric, for C, C11 and C++.
 *
 * Each routine shmem_NAME is a weak alias of the strong symbol pshmem_NAME: a
 * profiling library defines shmem_NAME and calls pshmem_NAME.
 * Documentation/shmem.rst describes what the adapters execute, and the limits.
 */
#ifndef SHMEM_H
#define SHMEM_H

#include <shmem-types.h>

#define SHMEM_MAJOR_VERSION		1
#define SHMEM_MINOR_VERSION		5
#define SHMEM_MAX_NAME_LEN		64
#define SHMEM_VENDOR_STRING		"Angara"

#define SHMEM_THREAD_SINGLE		0
#define SHMEM_THREAD_FUNNELED		1
#define SHMEM_THREAD_SERIALIZED		2
#define SHMEM_THREAD_MULTIPLE		3

#define SHMEM_CMP_EQ			0
#define SHMEM_CMP_NE			1
#define SHMEM_CMP_GT			2
#define SHMEM_CMP_GE			3
#define SHMEM_CMP_LT			4
#define SHMEM_CMP_LE			5

#define SHMEM_SIGNAL_SET		0
#define SHMEM_SIGNAL_ADD		1

#define SHMEM_CTX_SERIALIZED		(1L << 0)
#define SHMEM_CTX_PRIVATE		(1L << 1)
#define SHMEM_CTX_NOSTORE		(1L << 2)

#define SHMEM_MALLOC_ATOMICS_REMOTE	(1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE	(1L << 1)

#define SHMEM_TEAM_NUM_CONTEXTS		(1L << 0)

/* The library needs no work arrays, but programs that use active sets declare them. */
#define SHMEM_SYNC_VALUE		0L
#define SHMEM_SYNC_SIZE			1
#define SHMEM_BARRIER_SYNC_SIZE		SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE		SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE		SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE		SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE	SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE	SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE	1

/* Deprecated names of constants. */
#define _SHMEM_MAJOR_VERSION		SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION		SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN		SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING		SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ			SHMEM_CMP_EQ
#define _SHMEM_CMP_NE			SHMEM_CMP_NE
#define _SHMEM_CMP_GT			SHMEM_CMP_GT
#define _SHMEM_CMP_GE			SHMEM_CMP_GE
#define _SHMEM_CMP_LT			SHMEM_CMP_LT
#define _SHMEM_CMP_LE			SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE		SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE	SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE		SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE	SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE		SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE	SHMEM_REDUCE_MIN_WRKDATA_SIZE

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmemi_ctx *shmem_ctx_t;
typedef struct shmemi_team *shmem_team_t;

#define SHMEM_CTX_INVALID		((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT		((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID		((shmem_team_t)0)
#define SHMEM_TEAM_WORLD		((shmem_team_t)1)
#define SHMEM_TEAM_SHARED		((shmem_team_t)2)

/**
 * struct shmem_team_config_t - configuration of a team
 * @num_contexts: contexts that the program will create from the team
 */
typedef struct {
	int num_contexts;
} shmem_team_config_t;

#define SHMEMI_DECL(ret, name, args)	ret shmem_##name args; ret pshmem_##name args;

#pragma GCC visibility push(default)

/* Set-up, exit, query. */
SHMEMI_DECL(void, init, (void))
SHMEMI_DECL(int, init_thread, (int requested, int *provided))
SHMEMI_DECL(void, query_thread, (int *provided))
SHMEMI_DECL(void, finalize, (void))
SHMEMI_DECL(__attribute__((noreturn)) void, global_exit, (int status))
SHMEMI_DECL(int, my_pe, (void))
SHMEMI_DECL(int, n_pes, (void))
SHMEMI_DECL(int, pe_accessible, (int pe))
SHMEMI_DECL(int, addr_accessible, (const void *addr, int pe))
SHMEMI_DECL(void *, ptr, (const void *dest, int pe))
SHMEMI_DECL(void, info_get_version, (int *major, int *minor))
SHMEMI_DECL(void, info_get_name, (char *name))
SHMEMI_DECL(void, pcontrol, (int level, ...))

/* Symmetric heap: all PEs call, with the same arguments. */
SHMEMI_DECL(void *, malloc, (size_t size))
SHMEMI_DECL(void *, malloc_with_hints, (size_t size, long hints))
SHMEMI_DECL(void *, calloc, (size_t count, size_t size))
SHMEMI_DECL(void *, align, (size_t alignment, size_t size))
SHMEMI_DECL(void *, realloc, (void *ptr, size_t size))
SHMEMI_DECL(void, free, (void *ptr))

/* Teams. */
SHMEMI_DECL(int, team_my_pe, (shmem_team_t team))
SHMEMI_DECL(int, team_n_pes, (shmem_team_t team))
SHMEMI_DECL(int, team_get_config, (shmem_team_t team, long config_mask,
				   shmem_team_config_t *config))
SHMEMI_DECL(int, team_translate_pe, (shmem_team_t src_team, int src_pe,
				     shmem_team_t dest_team))
SHMEMI_DECL(int, team_split_strided, (shmem_team_t parent, int start, int stride, int size,
				      const shmem_team_config_t *config, long config_mask,
				      shmem_team_t *new_team))
SHMEMI_DECL(int, team_split_2d, (shmem_team_t parent, int xrange,
				 const shmem_team_config_t *xaxis_config, long xaxis_mask,
				 shmem_team_t *xaxis_team,
				 const shmem_team_config_t *yaxis_config, long yaxis_mask,
				 shmem_team_t *yaxis_team))
SHMEMI_DECL(void, team_destroy, (shmem_team_t team))

/* Contexts. */
SHMEMI_DECL(int, ctx_create, (long options, shmem_ctx_t *ctx))
SHMEMI_DECL(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
SHMEMI_DECL(void, ctx_destroy, (shmem_ctx_t ctx))
SHMEMI_DECL(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
SHMEMI_DECL(void, fence, (void))
SHMEMI_DECL(void, ctx_fence, (shmem_ctx_t ctx))
SHMEMI_DECL(void, quiet, (void))
SHMEMI_DECL(void, ctx_quiet, (shmem_ctx_t ctx))

/*
 * One-sided operations.  SHMEMI_BOTH declares a routine of the default context
 * and its form with a context.
 */
#define SHMEMI_UNWRAP(...) __VA_ARGS__
#define SHMEMI_BOTH(ret, name, args) \
	SHMEMI_DECL(ret, name, (SHMEMI_UNWRAP args)) \
	SHMEMI_DECL(ret, ctx_##name, (shmem_ctx_t ctx, SHMEMI_UNWRAP args))

#define SHMEMI_RMA(N, T) \
	SHMEMI_BOTH(void, N##_put, (T *dest, const T *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, N##_p, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_iput, (T *dest, const T *source, ptrdiff_t dst, \
				     ptrdiff_t sst, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, N##_get, (T *dest, const T *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(T, N##_g, (const T *source, int pe)) \
	SHMEMI_BOTH(void, N##_iget, (T *dest, const T *source, ptrdiff_t dst, \
				     ptrdiff_t sst, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, N##_put_nbi, (T *dest, const T *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, N##_get_nbi, (T *dest, const T *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, N##_put_signal, (T *dest, const T *source, size_t nelems, \
					   uint64_t *sig_addr, uint64_t signal, \
					   int sig_op, int pe)) \
	SHMEMI_BOTH(void, N##_put_signal_nbi, (T *dest, const T *source, size_t nelems, \
					       uint64_t *sig_addr, uint64_t signal, \
					       int sig_op, int pe))
SHMEMI_RMA_TYPES(SHMEMI_RMA)

#define SHMEMI_RMA_PLAIN(S) \
	SHMEMI_BOTH(void, put##S, (void *dest, const void *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, get##S, (void *dest, const void *source, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, put##S##_nbi, (void *dest, const void *source, size_t nelems, \
					 int pe)) \
	SHMEMI_BOTH(void, get##S##_nbi, (void *dest, const void *source, size_t nelems, \
					 int pe)) \
	SHMEMI_BOTH(void, put##S##_signal, (void *dest, const void *source, size_t nelems, \
					    uint64_t *sig_addr, uint64_t signal, \
					    int sig_op, int pe)) \
	SHMEMI_BOTH(void, put##S##_signal_nbi, (void *dest, const void *source, \
						size_t nelems, uint64_t *sig_addr, \
						uint64_t signal, int sig_op, int pe))
#define SHMEMI_RMA_SIZE(S, B) \
	SHMEMI_RMA_PLAIN(S) \
	SHMEMI_BOTH(void, iput##S, (void *dest, const void *source, ptrdiff_t dst, \
				    ptrdiff_t sst, size_t nelems, int pe)) \
	SHMEMI_BOTH(void, iget##S, (void *dest, const void *source, ptrdiff_t dst, \
				    ptrdiff_t sst, size_t nelems, int pe))
SHMEMI_SIZES(SHMEMI_RMA_SIZE)
SHMEMI_RMA_PLAIN(mem)

SHMEMI_DECL(uint64_t, signal_fetch, (const uint64_t *sig_addr))

/* Atomic operations. */
#define SHMEMI_XAMO(N, T) \
	SHMEMI_BOTH(T, N##_atomic_fetch, (const T *source, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_set, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(T, N##_atomic_swap, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_fetch_nbi, (T *fetch, const T *source, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_swap_nbi, (T *fetch, T *dest, T value, int pe)) \
	SHMEMI_DECL(T, N##_fetch, (const T *source, int pe)) \
	SHMEMI_DECL(void, N##_set, (T *dest, T value, int pe)) \
	SHMEMI_DECL(T, N##_swap, (T *dest, T value, int pe))
SHMEMI_XAMO_TYPES(SHMEMI_XAMO)

#define SHMEMI_AMO(N, T) \
	SHMEMI_BOTH(T, N##_atomic_compare_swap, (T *dest, T cond, T value, int pe)) \
	SHMEMI_BOTH(T, N##_atomic_fetch_inc, (T *dest, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_inc, (T *dest, int pe)) \
	SHMEMI_BOTH(T, N##_atomic_fetch_add, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_add, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_compare_swap_nbi, (T *fetch, T *dest, T cond, T value, \
							int pe)) \
	SHMEMI_BOTH(void, N##_atomic_fetch_inc_nbi, (T *fetch, T *dest, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_fetch_add_nbi, (T *fetch, T *dest, T value, int pe)) \
	SHMEMI_DECL(T, N##_cswap, (T *dest, T cond, T value, int pe)) \
	SHMEMI_DECL(T, N##_finc, (T *dest, int pe)) \
	SHMEMI_DECL(void, N##_inc, (T *dest, int pe)) \
	SHMEMI_DECL(T, N##_fadd, (T *dest, T value, int pe)) \
	SHMEMI_DECL(void, N##_add, (T *dest, T value, int pe))
SHMEMI_AMO_TYPES(SHMEMI_AMO)

#define SHMEMI_BITWISE_OP(N, T, op) \
	SHMEMI_BOTH(T, N##_atomic_fetch_##op, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_##op, (T *dest, T value, int pe)) \
	SHMEMI_BOTH(void, N##_atomic_fetch_##op##_nbi, (T *fetch, T *dest, T value, int pe))
#define SHMEMI_BITWISE(N, T) \
	SHMEMI_BITWISE_OP(N, T, and) SHMEMI_BITWISE_OP(N, T, or) \
	SHMEMI_BITWISE_OP(N, T, xor)
SHMEMI_BITWISE_TYPES(SHMEMI_BITWISE)

/* Waiting for words in the caller's memory. */
#define SHMEMI_SYNC(N, T) \
	SHMEMI_DECL(void, N##_wait_until, (T *ivar, int cmp, T value)) \
	SHMEMI_DECL(void, N##_wait_until_all, (T *ivars, size_t nelems, const int *status, \
					       int cmp, T value)) \
	SHMEMI_DECL(size_t, N##_wait_until_any, (T *ivars, size_t nelems, \
						 const int *status, int cmp, T value)) \
	SHMEMI_DECL(size_t, N##_wait_until_some, (T *ivars, size_t nelems, size_t *indices, \
						  const int *status, int cmp, T value)) \
	SHMEMI_DECL(void, N##_wait_until_all_vector, (T *ivars, size_t nelems, \
						      const int *status, int cmp, \
						      T *values)) \
	SHMEMI_DECL(size_t, N##_wait_until_any_vector, (T *ivars, size_t nelems, \
							const int *status, int cmp, \
							T *values)) \
	SHMEMI_DECL(size_t, N##_wait_until_some_vector, (T *ivars, size_t nelems, \
							 size_t *indices, \
							 const int *status, int cmp, \
							 T *values)) \
	SHMEMI_DECL(int, N##_test, (T *ivar, int cmp, T value)) \
	SHMEMI_DECL(int, N##_test_all, (T *ivars, size_t nelems, const int *status, \
					int cmp, T value)) \
	SHMEMI_DECL(size_t, N##_test_any, (T *ivars, size_t nelems, const int *status, \
					   int cmp, T value)) \
	SHMEMI_DECL(size_t, N##_test_some, (T *ivars, size_t nelems, size_t *indices, \
					    const int *status, int cmp, T value)) \
	SHMEMI_DECL(int, N##_test_all_vector, (T *ivars, size_t nelems, const int *status, \
					       int cmp, T *values)) \
	SHMEMI_DECL(size_t, N##_test_any_vector, (T *ivars, size_t nelems, \
						  const int *status, int cmp, T *values)) \
	SHMEMI_DECL(size_t, N##_test_some_vector, (T *ivars, size_t nelems, \
						   size_t *indices, const int *status, \
						   int cmp, T *values))
SHMEMI_SYNC_TYPES(SHMEMI_SYNC)
SHMEMI_DECL(uint64_t, signal_wait_until, (uint64_t *sig_addr, int cmp, uint64_t value))

/* Collectives of teams. */
SHMEMI_DECL(void, barrier_all, (void))
SHMEMI_DECL(void, sync_all, (void))
SHMEMI_DECL(int, team_sync, (shmem_team_t team))

#define SHMEMI_COLL(N, T) \
	SHMEMI_DECL(int, N##_broadcast, (shmem_team_t team, T *dest, const T *source, \
					 size_t nelems, int pe_root)) \
	SHMEMI_DECL(int, N##_collect, (shmem_team_t team, T *dest, const T *source, \
				       size_t nelems)) \
	SHMEMI_DECL(int, N##_fcollect, (shmem_team_t team, T *dest, const T *source, \
					size_t nelems)) \
	SHMEMI_DECL(int, N##_alltoall, (shmem_team_t team, T *dest, const T *source, \
					size_t nelems)) \
	SHMEMI_DECL(int, N##_alltoalls, (shmem_team_t team, T *dest, const T *source, \
					 ptrdiff_t dst, ptrdiff_t sst, size_t nelems))
SHMEMI_RMA_TYPES(SHMEMI_COLL)
SHMEMI_DECL(int, broadcastmem, (shmem_team_t team, void *dest, const void *source,
				size_t nelems, int pe_root))
SHMEMI_DECL(int, collectmem, (shmem_team_t team, void *dest, const void *source,
			      size_t nelems))
SHMEMI_DECL(int, fcollectmem, (shmem_team_t team, void *dest, const void *source,
			       size_t nelems))
SHMEMI_DECL(int, alltoallmem, (shmem_team_t team, void *dest, const void *source,
			       size_t nelems))
SHMEMI_DECL(int, alltoallsmem, (shmem_team_t team, void *dest, const void *source,
				ptrdiff_t dst, ptrdiff_t sst, size_t nelems))

#define SHMEMI_REDUCE(N, T, op) \
	SHMEMI_DECL(int, N##_##op##_reduce, (shmem_team_t team, T *dest, const T *source, \
					     size_t nreduce))
#define SHMEMI_REDUCE_AND(N, T) \
	SHMEMI_REDUCE(N, T, and) SHMEMI_REDUCE(N, T, or) SHMEMI_REDUCE(N, T, xor)
#define SHMEMI_REDUCE_MIN(N, T)	SHMEMI_REDUCE(N, T, min) SHMEMI_REDUCE(N, T, max)
#define SHMEMI_REDUCE_SUM(N, T)	SHMEMI_REDUCE(N, T, sum) SHMEMI_REDUCE(N, T, prod)
SHMEMI_AND_TYPES(SHMEMI_REDUCE_AND)
SHMEMI_MIN_TYPES(SHMEMI_REDUCE_MIN)
SHMEMI_SUM_TYPES(SHMEMI_REDUCE_SUM)

/* Collectives of active sets, deprecated. */
#define SHMEMI_SET	int PE_start, int logPE_stride, int PE_size
SHMEMI_DECL(void, barrier, (SHMEMI_SET, long *pSync))
SHMEMI_DECL(void, sync, (SHMEMI_SET, long *pSync))
#define SHMEMI_COLL_SIZE(S, B) \
	SHMEMI_DECL(void, broadcast##S, (void *dest, const void *source, size_t nelems, \
					 int PE_root, SHMEMI_SET, long *pSync)) \
	SHMEMI_DECL(void, collect##S, (void *dest, const void *source, size_t nelems, \
				       SHMEMI_SET, long *pSync)) \
	SHMEMI_DECL(void, fcollect##S, (void *dest, const void *source, size_t nelems, \
					SHMEMI_SET, long *pSync)) \
	SHMEMI_DECL(void, alltoall##S, (void *dest, const void *source, size_t nelems, \
					SHMEMI_SET, long *pSync)) \
	SHMEMI_DECL(void, alltoalls##S, (void *dest, const void *source, ptrdiff_t dst, \
					 ptrdiff_t sst, size_t nelems, SHMEMI_SET, \
					 long *pSync))
SHMEMI_COLL_SIZES(SHMEMI_COLL_SIZE)

#define SHMEMI_TO_ALL(N, T, op) \
	SHMEMI_DECL(void, N##_##op##_to_all, (T *dest, const T *source, int nreduce, \
					      SHMEMI_SET, T *pWrk, long *pSync))
#define SHMEMI_TO_ALL_AND(N, T) \
	SHMEMI_TO_ALL(N, T, and) SHMEMI_TO_ALL(N, T, or) SHMEMI_TO_ALL(N, T, xor)
#define SHMEMI_TO_ALL_MIN(N, T)	SHMEMI_TO_ALL(N, T, min) SHMEMI_TO_ALL(N, T, max)
#define SHMEMI_TO_ALL_SUM(N, T)	SHMEMI_TO_ALL(N, T, sum) SHMEMI_TO_ALL(N, T, prod)
SHMEMI_AND_TO_ALL_TYPES(SHMEMI_TO_ALL_AND)
SHMEMI_MIN_TO_ALL_TYPES(SHMEMI_TO_ALL_MIN)
SHMEMI_SUM_TO_ALL_TYPES(SHMEMI_TO_ALL_SUM)

/* Locks. */
SHMEMI_DECL(void, set_lock, (long *lock))
SHMEMI_DECL(void, clear_lock, (long *lock))
SHMEMI_DECL(int, test_lock, (long *lock))

/* Deprecated; the cache routines do nothing. */
#define SHMEMI_WAIT(N, T) \
	SHMEMI_DECL(void, N##_wait, (T *ivar, T cmp_value))
SHMEMI_WAIT_TYPES(SHMEMI_WAIT)
SHMEMI_DECL(void, wait, (long *ivar, long cmp_value))
SHMEMI_DECL(void, wait_until, (long *ivar, int cmp, long cmp_value))
SHMEMI_DECL(void, set_cache_inv, (void))
SHMEMI_DECL(void, set_cache_line_inv, (void *dest))
SHMEMI_DECL(void, clear_cache_inv, (void))
SHMEMI_DECL(void, clear_cache_line_inv, (void *dest))
SHMEMI_DECL(void, udcflush, (void))
SHMEMI_DECL(void, udcflush_line, (void *dest))
void start_pes(int npes);
int _my_pe(void);
int _num_pes(void);
void *shmalloc(size_t size);
void shfree(void *ptr);
void *shrealloc(void *ptr, size_t size);
void *shmemalign(size_t alignment, size_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#elif __STDC_VERSION__ >= 201112L
#include <shmem-generic.h>
#endif

#endif /* SHMEM_H */
