// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Extensions: collectives with a request.  A reduction or barrier on a tree is
 * the adapter's, which needs no help until it is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <shmemx.h>

#include "shi.h"

/**
 * struct shmemx_req - a request of the program
 * @req: collective
 * @team: team of it
 * @what: its name
 */
struct shmemx_req {
	struct shi_req req;
	struct shmemi_team *team;
	const char *what;
};

#define EXT_DEF(ret, name, args) \
	extern __typeof__(pshmemx_##name) shmemx_##name \
		__attribute__((weak, alias("pshmemx_" #name))); \
	ret pshmemx_##name args

static struct shmemx_req *ext_new(struct shmemi_team *t, const char *what)
{
	struct shmemx_req *r = calloc(1, sizeof(*r));

	if (!r)
		shi_die("%s: no memory for a request", what);
	r->team = t;
	r->what = what;
	return r;
}

/* Starts a collective by @call, whose options are how. */
#define EXT_START(r, call) \
	do { \
		const struct angara_op how_ = shi_req_op(&(r)->req), *how = &how_; \
		int ret_; \
		shi_ctx_lock(&shi.coll); \
		while ((ret_ = (call)) == -EAGAIN) { \
			shi_ctx_unlock(&shi.coll); \
			shi_req_poll(SHI_NAP_MS); \
			shi_ctx_lock(&shi.coll); \
		} \
		shi_ctx_unlock(&shi.coll); \
		shi_check(ret_, (r)->what, shi.me); \
	} while (0)

EXT_DEF(int, sync_nb, (shmem_team_t team, shmemx_req_t *req))
{
	struct shmemx_req *r;

	*req = SHMEMX_REQ_INVALID;
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	r = ext_new(shi_team(team), "sync_nb");
	EXT_START(r, angara_barrier_nbi(r->team->a, how));
	*req = r;
	return 0;
}

static struct shi_local ext_local(const void *addr, size_t len, const char *what)
{
	struct shi_local l = shi_local_of(addr, len);

	if (len && !l.mr)
		shi_die("%s: %zu bytes at %p are not symmetric", what, len, addr);
	if (len > ANGARA_MAX_OP_BYTES)
		shi_die("%s: %zu bytes, more than %u", what, len, ANGARA_MAX_OP_BYTES);
	return l;
}

EXT_DEF(int, broadcastmem_nb, (shmem_team_t team, void *dest, const void *source,
			       size_t nelems, int pe_root, shmemx_req_t *req))
{
	struct shmemx_req *r;
	struct shi_local at;
	bool root;

	*req = SHMEMX_REQ_INVALID;
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	r = ext_new(shi_team(team), "broadcastmem_nb");
	if (pe_root < 0 || pe_root >= r->team->size)
		shi_die("broadcastmem_nb: the root %d is not from 0 to %d", pe_root,
			r->team->size - 1);
	root = pe_root == r->team->rank;
	at = ext_local(root ? source : dest, nelems, r->what);
	if (root)
		memmove(dest, source, nelems);
	EXT_START(r, angara_broadcast_nbi(r->team->a, at.mr, at.off, nelems,
					  (unsigned int)pe_root, how));
	*req = r;
	return 0;
}

static int ext_reduce(shmem_team_t team, void *dest, const void *source, size_t n,
		      size_t size, unsigned int type, unsigned int op, shmemx_req_t *req)
{
	struct shi_local to, from;
	struct shmemx_req *r;

	*req = SHMEMX_REQ_INVALID;
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	r = ext_new(shi_team(team), "reduce_nb");
	to = ext_local(dest, n * size, r->what);
	from = ext_local(source, n * size, r->what);
	EXT_START(r, angara_allreduce_nbi(r->team->a, to.mr, to.off, from.mr, from.off, n,
					  type, op, how));
	*req = r;
	return 0;
}

#define REDUCE(N, T, what, OP) \
	EXT_DEF(int, N##_##what##_reduce_nb, (shmem_team_t team, T *dest, const T *source, \
					      size_t nreduce, shmemx_req_t *req)) \
	{ \
		return ext_reduce(team, dest, source, nreduce, sizeof(T), SHI_TYPE(T), \
				  ANGARA_RED_##OP, req); \
	}
#define REDUCES(N, T) \
	REDUCE(N, T, sum, SUM) REDUCE(N, T, prod, PROD) REDUCE(N, T, min, MIN) \
	REDUCE(N, T, max, MAX)
SHMEMI_XAMO_TYPES(REDUCES)

static void ext_end(shmemx_req_t *req)
{
	struct shmemx_req *r = *req;

	shi_req_wait(r->team, &r->req, 0, r->what);
	free(r);
	*req = SHMEMX_REQ_INVALID;
}

EXT_DEF(int, req_test, (shmemx_req_t *req))
{
	struct shmemx_req *r = *req;

	if (!r)
		return 1;
	if (!__atomic_load_n(&r->req.done, __ATOMIC_ACQUIRE))
		shi_req_poll(0);
	if (!__atomic_load_n(&r->req.done, __ATOMIC_ACQUIRE))
		return 0;
	ext_end(req);
	return 1;
}

EXT_DEF(void, req_wait, (shmemx_req_t *req))
{
	if (*req)
		ext_end(req);
}
