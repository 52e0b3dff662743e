/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Extensions: symmetric variables of shared libraries, and collectives of teams
 * that proceed while the program computes.  The names of these collectives
 * follow the proposal for OpenSHMEM 1.6, specification pull request 456, and
 * will change if the proposal does.
 *
 * Members start all collectives of a team in the same order, including blocking
 * ones.  Until a request is complete, the program must not access the memory
 * passed to it.  Each function returns 0, or not 0 if the team is
 * SHMEM_TEAM_INVALID.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shmemx_req *shmemx_req_t;

#define SHMEMX_REQ_INVALID	((shmemx_req_t)0)

#define SHMEMXI_DECL(ret, name, args)	ret shmemx_##name args; ret pshmemx_##name args;

#pragma GCC visibility push(default)

/*
 * shmemx_symmetric_library() - make variables of a shared library symmetric
 * @variable: any writable global or static variable of the library
 *
 * All of its writable variables, data and bss, can then be used in puts, gets,
 * atomic operations and collectives, as those of the program.  The library
 * calls this function in a constructor, before shmem_init(): the macro
 * SHMEMX_SYMMETRIC_LIBRARY in one of its files generates such a constructor.
 * All PEs must load the same symmetric libraries, in the same order.
 */
SHMEMXI_DECL(void, symmetric_library, (const void *variable))
#define SHMEMX_SYMMETRIC_LIBRARY \
	static int shmemxi_variable = 1; \
	static void __attribute__((constructor)) shmemxi_construct(void) \
	{ \
		shmemx_symmetric_library(&shmemxi_variable); \
	} \
	extern int shmemxi_after_library

/* Start a barrier, which is complete when all members have started it. */
SHMEMXI_DECL(int, sync_nb, (shmem_team_t team, shmemx_req_t *req))
/* As shmemx_sync_nb(), after a quiet of the default context. */
SHMEMXI_DECL(int, barrier_nb, (shmem_team_t team, shmemx_req_t *req))
SHMEMXI_DECL(int, broadcastmem_nb, (shmem_team_t team, void *dest, const void *source,
				    size_t nelems, int pe_root, shmemx_req_t *req))
#define SHMEMXI_BROADCAST(N, T) \
	SHMEMXI_DECL(int, N##_broadcast_nb, (shmem_team_t team, T *dest, const T *source, \
					     size_t nelems, int pe_root, \
					     shmemx_req_t *req))
SHMEMI_RMA_TYPES(SHMEMXI_BROADCAST)

#define SHMEMXI_REDUCE(N, T, op) \
	SHMEMXI_DECL(int, N##_##op##_reduce_nb, (shmem_team_t team, T *dest, \
						 const T *source, size_t nreduce, \
						 shmemx_req_t *req))
#define SHMEMXI_REDUCE_AND(N, T) \
	SHMEMXI_REDUCE(N, T, and) SHMEMXI_REDUCE(N, T, or) SHMEMXI_REDUCE(N, T, xor)
#define SHMEMXI_REDUCE_MIN(N, T)	SHMEMXI_REDUCE(N, T, min) SHMEMXI_REDUCE(N, T, max)
#define SHMEMXI_REDUCE_SUM(N, T)	SHMEMXI_REDUCE(N, T, sum) SHMEMXI_REDUCE(N, T, prod)
SHMEMI_AND_TYPES(SHMEMXI_REDUCE_AND)
SHMEMI_MIN_TYPES(SHMEMXI_REDUCE_MIN)
SHMEMI_SUM_TYPES(SHMEMXI_REDUCE_SUM)

/**
 * shmemx_req_test() - is a request complete?
 *
 * Return: 1: the request is complete, and has been set to SHMEMX_REQ_INVALID, or was
 * SHMEMX_REQ_INVALID before; 0: the request is not complete.
 */
SHMEMXI_DECL(int, req_test, (shmemx_req_t *req))
/* Sleeps until a request is complete; then sets it to SHMEMX_REQ_INVALID. */
SHMEMXI_DECL(void, req_wait, (shmemx_req_t *req))

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* SHMEMX_H */
