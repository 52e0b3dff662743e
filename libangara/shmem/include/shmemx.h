/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Extensions: collectives of teams that go on while the program computes.  Their
 * names follow the proposals for OpenSHMEM 1.6, and may change with them.
 *
 * Members start the collectives of a team in the same order, blocking ones
 * included.  Until a request is complete, its memory must not be touched.  Each
 * returns 0, or not 0 if the team is SHMEM_TEAM_INVALID.
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

/* Complete when all members have started it. */
SHMEMXI_DECL(int, sync_nb, (shmem_team_t team, shmemx_req_t *req))
SHMEMXI_DECL(int, broadcastmem_nb, (shmem_team_t team, void *dest, const void *source,
				    size_t nelems, int pe_root, shmemx_req_t *req))

/* Types that the adapter reduces. */
#define SHMEMXI_REDUCE(N, T, op) \
	SHMEMXI_DECL(int, N##_##op##_reduce_nb, (shmem_team_t team, T *dest, \
						 const T *source, size_t nreduce, \
						 shmemx_req_t *req))
#define SHMEMXI_REDUCES(N, T) \
	SHMEMXI_REDUCE(N, T, sum) SHMEMXI_REDUCE(N, T, prod) \
	SHMEMXI_REDUCE(N, T, min) SHMEMXI_REDUCE(N, T, max)
SHMEMI_XAMO_TYPES(SHMEMXI_REDUCES)

/**
 * shmemx_req_test() - is a request complete?
 *
 * Return: 1, and the request is SHMEMX_REQ_INVALID then, for which it returns 1,
 * too; 0.
 */
SHMEMXI_DECL(int, req_test, (shmemx_req_t *req))
/* Waits for it, asleep; the request is SHMEMX_REQ_INVALID then. */
SHMEMXI_DECL(void, req_wait, (shmemx_req_t *req))

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* SHMEMX_H */
