// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Extensions: variables of shared libraries, and collectives with a request.
 * The adapter executes a reduction or barrier on a tree without help from
 * software.  Each request is one collective of libangara, started in the
 * program's call.  So members start the collectives of a team in the same
 * order.
 *
 * For this reason a broadcast is executed as a reduction.  The adapter's
 * broadcast needs a barrier before it, so the broadcast itself would start
 * after collectives that the program has started later.
 *
 * With SHMEM_DEBUG, another collective compares the arguments of all members;
 * its result is checked at the end of the request.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <shmemx.h>

#include "shi.h"

#define EXT_ARGS	2	/* arguments of a collective that are equal at all members */

/**
 * struct shmemx_req - a request of the program
 * @req: collective
 * @check: with SHMEM_DEBUG: comparison of @same
 * @same: arguments and their complements: the minimum over all members
 * @mine: arguments of this member
 * @team: its team
 * @what: name of the collective
 * @narrow: converts a result of 32 bits from @buffer; NULL: the result is copied
 *	unchanged
 * @dest: destination of the result in @buffer
 * @n: elements of the result; without @narrow: bytes
 * @buffer: result of the collective; NULL: the adapter writes to @dest directly
 */
struct shmemx_req {
	struct shi_req req;
	struct shi_req check;
	uint64_t same[2 * EXT_ARGS];
	uint64_t mine[EXT_ARGS];
	struct shmemi_team *team;
	const char *what;
	void (*narrow)(void *to, const int32_t *from, size_t n);
	void *dest;
	size_t n;
	void *buffer;
};

SHI_EXT(void, symmetric_library, (const void *variable))
{
	shi_lib_add(variable);
}

static struct shmemx_req *ext_new(struct shmemi_team *t, const char *what)
{
	struct shmemx_req *r = calloc(1, sizeof(*r));

	if (!r)
		shi_die("%s: no memory for a request", what);
	r->team = t;
	r->what = what;
	/* Without SHMEM_DEBUG the comparison counts as complete. */
	r->check.done = true;
	__atomic_add_fetch(&shi.requests, 1, __ATOMIC_RELAXED);
	return r;
}

/*
 * Starts a collective of request @r by @call, whose options are in the variable
 * how.
 */
#define EXT_START(r, req, call) \
	do { \
		const struct angara_op how_ = shi_req_op(req), *how = &how_; \
		int ret_ = SHI_START(call); \
		if (ret_) \
			shi_coll_failed((r)->team, ret_, UINT32_MAX, (r)->what); \
	} while (0)

/* With SHMEM_DEBUG: compares two arguments of all members, as shi_same(). */
static void ext_check(struct shmemx_req *r, uint64_t a, uint64_t b)
{
	const uint64_t both[EXT_ARGS] = { a, b };
	int i;

	if (!shi.debug)
		return;
	for (i = 0; i < EXT_ARGS; i++) {
		r->mine[i] = both[i];
		r->same[2 * i] = both[i];
		r->same[2 * i + 1] = ~both[i];
	}
	r->check.done = false;
	EXT_START(r, &r->check,
		  angara_allreduce_nbi(r->team->a, NULL, (uintptr_t)r->same, NULL,
				       (uintptr_t)r->same, 2 * EXT_ARGS, ANGARA_TYPE_UINT64,
				       ANGARA_RED_MIN, how));
}

static void ext_checked(struct shmemx_req *r)
{
	int i;

	shi_req_wait(r->team, &r->check, 0, r->what);
	for (i = 0; shi.debug && i < EXT_ARGS; i++)
		if (r->same[2 * i] != ~r->same[2 * i + 1])
			shi_differ(r->what, r->mine[i], r->same[2 * i], ~r->same[2 * i + 1]);
}

/*
 * Kinds of collectives; members compare the kind together with the arguments.
 */
#define EXT_SYNC	1
#define EXT_BCAST	2
#define EXT_REDUCE	3

static int ext_sync(shmem_team_t team, bool quiet, const char *what, shmemx_req_t *req)
{
	struct shmemx_req *r;

	*req = SHMEMX_REQ_INVALID;
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	r = ext_new(shi_team(team), what);
	if (quiet)
		shi_quiet(&shi.def);
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ext_check(r, EXT_SYNC, quiet);
	EXT_START(r, &r->req, angara_barrier_nbi(r->team->a, how));
	*req = r;
	return 0;
}

SHI_EXT(int, sync_nb, (shmem_team_t team, shmemx_req_t *req))
{
	return ext_sync(team, false, "sync_nb", req);
}

SHI_EXT(int, barrier_nb, (shmem_team_t team, shmemx_req_t *req))
{
	return ext_sync(team, true, "barrier_nb", req);
}

static struct shi_local ext_local(const void *addr, size_t len, const char *what)
{
	struct shi_local l = shi_local_of(addr, len);

	if (len && !l.mr)
		shi_die("%s: %zu bytes at %p are not symmetric", what, len, addr);
	if (len > ANGARA_MAX_OP_BYTES)
		shi_die("%s: %zu bytes are too many for one request, which takes at most "
			"%u", what, len, ANGARA_MAX_OP_BYTES);
	return l;
}

static void *ext_buffer(struct shmemx_req *r, size_t len)
{
	r->buffer = len > ANGARA_MAX_OP_BYTES ? NULL : malloc(len + 1);
	if (!r->buffer)
		shi_die("%s: no memory for %zu bytes", r->what, len);
	return r->buffer;
}

/*
 * Broadcasts by a reduction: bitwise OR of the root's data, which are in its
 * @dest, and zeros of the other members.  The adapter reduces words of 4 or 8
 * bytes; other lengths need a buffer.
 */
static void ext_bcast_adapter(struct shmemx_req *r, void *dest, struct shi_local at,
			      size_t len, bool root)
{
	size_t word = len % sizeof(uint64_t) ? sizeof(uint32_t) : sizeof(uint64_t);
	size_t words = (len + word - 1) / word;

	if (!root)
		memset(dest, 0, len);
	if (len % word) {
		at = (struct shi_local){ .off = (uintptr_t)ext_buffer(r, words * word) };
		memset(r->buffer, 0, words * word);
		memcpy(r->buffer, dest, len);
		r->dest = dest;
		r->n = len;
	}
	EXT_START(r, &r->req,
		  angara_allreduce_nbi(r->team->a, at.mr, at.off, at.mr, at.off, words,
				       word == sizeof(uint64_t) ? ANGARA_TYPE_UINT64 :
								  ANGARA_TYPE_UINT32,
				       ANGARA_RED_OR, how));
}

SHI_EXT(int, broadcastmem_nb, (shmem_team_t team, void *dest, const void *source,
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
	at = ext_local(dest, nelems, r->what);
	if (root) {
		ext_local(source, nelems, r->what);
		memmove(dest, source, nelems);
	}
	ext_check(r, (uint64_t)nelems << 2 | EXT_BCAST, (uint64_t)pe_root);
	if (r->team->offloaded)
		ext_bcast_adapter(r, dest, at, nelems, root);
	else
		EXT_START(r, &r->req, angara_broadcast_nbi(r->team->a, at.mr, at.off, nelems,
							   (unsigned int)pe_root, how));
	*req = r;
	return 0;
}

#define BROADCAST(N, T) \
	SHI_EXT(int, N##_broadcast_nb, (shmem_team_t team, T *dest, const T *source, \
					size_t nelems, int pe_root, shmemx_req_t *req)) \
	{ \
		return pshmemx_broadcastmem_nb(team, dest, source, \
					       shi_times(nelems, sizeof(T)), pe_root, req); \
	}
SHMEMI_RMA_TYPES(BROADCAST)

/* Reduces elements that the adapter cannot combine. */
static void ext_reduce_software(struct shmemx_req *r, const struct shi_kind *kind,
				struct shi_local to, struct shi_local from, size_t n)
{
	const struct angara_reducer by = shi_reducer(kind);

	EXT_START(r, &r->req, angara_allreduce_fn_nbi(r->team->a, to.mr, to.off, from.mr,
						      from.off, n, &by, how));
}

/* Reduces integers of 1 and 2 bytes as integers of 32 bits. */
static void ext_reduce_narrow(struct shmemx_req *r, const struct shi_kind *kind, void *dest,
			      const void *source, size_t n)
{
	struct shi_local at = {
		.off = (uintptr_t)ext_buffer(r, shi_times(n, sizeof(int32_t))),
	};

	r->narrow = kind->narrow;
	r->dest = dest;
	r->n = n;
	kind->widen(r->buffer, source, n);
	EXT_START(r, &r->req, angara_allreduce_nbi(r->team->a, NULL, at.off, NULL, at.off,
						   n, ANGARA_TYPE_INT32, kind->op, how));
}

int shi_reduce_nb(shmem_team_t team, const struct shi_kind *kind, void *dest,
		  const void *source, size_t n, shmemx_req_t *req)
{
	struct shi_local to, from;
	struct shmemx_req *r;

	*req = SHMEMX_REQ_INVALID;
	if (team == SHMEM_TEAM_INVALID)
		return -EINVAL;
	r = ext_new(shi_team(team), "reduce_nb");
	to = ext_local(dest, shi_times(n, kind->size), r->what);
	from = ext_local(source, shi_times(n, kind->size), r->what);
	ext_check(r, (uint64_t)n << 2 | EXT_REDUCE,
		  (uint64_t)kind->op << 32 | (uint32_t)kind->device);
	if (kind->device == SHI_NARROW)
		ext_reduce_narrow(r, kind, dest, source, n);
	else if (kind->device == SHI_SOFTWARE)
		ext_reduce_software(r, kind, to, from, n);
	else
		EXT_START(r, &r->req,
			  angara_allreduce_nbi(r->team->a, to.mr, to.off, from.mr, from.off,
					       n * kind->parts, (unsigned int)kind->device,
					       kind->op, how));
	*req = r;
	return 0;
}

static void ext_end(shmemx_req_t *req)
{
	struct shmemx_req *r = *req;

	ext_checked(r);
	shi_req_wait(r->team, &r->req, 0, r->what);
	if (r->narrow)
		r->narrow(r->dest, r->buffer, r->n);
	else if (r->buffer)
		memcpy(r->dest, r->buffer, r->n);
	free(r->buffer);
	free(r);
	__atomic_sub_fetch(&shi.requests, 1, __ATOMIC_RELAXED);
	*req = SHMEMX_REQ_INVALID;
}

static bool ext_done(const struct shmemx_req *r)
{
	return __atomic_load_n(&r->req.done, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&r->check.done, __ATOMIC_ACQUIRE);
}

SHI_EXT(int, req_test, (shmemx_req_t *req))
{
	struct shmemx_req *r = *req;

	if (!r)
		return 1;
	if (!ext_done(r))
		shi_req_poll();
	if (!ext_done(r)) {
		shi_missed(r->what);
		return 0;
	}
	ext_end(req);
	return 1;
}

SHI_EXT(void, req_wait, (shmemx_req_t *req))
{
	if (*req)
		ext_end(req);
}
