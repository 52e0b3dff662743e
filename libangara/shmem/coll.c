// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives that synchronize and copy.
 *
 * A collective is an operation of libangara on the context of all teams,
 * shi.coll, with a request as its cookie; any thread that polls may mark the
 * request as done.  So several threads can wait for collectives of different
 * teams.
 *
 * The adapter executes broadcasts on a tree: it writes arriving packets to the
 * same offset of the same region at all members.  A member's memory must not
 * change before the member's call, so a barrier of the adapter precedes each
 * broadcast.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "shi.h"

#define REQ_BATCH	16

struct angara_op shi_req_op(struct shi_req *r)
{
	return (struct angara_op){
		.size = sizeof(struct angara_op),
		.cookie = (uintptr_t)r,
	};
}

/*
 * Takes a completion.  The caller holds the context.  @timeout_ms: longest wait
 */
static int req_take(int timeout_ms)
{
	struct angara_completion done[REQ_BATCH];
	int i, n;

	n = timeout_ms ? angara_poll_wait(shi.coll.a, done, REQ_BATCH, timeout_ms) :
			 angara_poll(shi.coll.a, done, REQ_BATCH);
	for (i = 0; i < n; i++) {
		struct shi_req *r = (struct shi_req *)(uintptr_t)done[i].cookie;

		r->status = done[i].status;
		r->node = done[i].node;
		__atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
	}
	return n;
}

/* Takes completions, unless another thread holds the context. */
void shi_req_poll(void)
{
	int n;

	if (!shi_ctx_trylock(&shi.coll)) {
		sched_yield();
		return;
	}
	n = req_take(0);
	shi_ctx_unlock(&shi.coll);
	shi_check(n, "collective");
}

/*
 * A PE that waits makes progress: on operations of the default context, and on
 * collectives with a request, since software executes some of these in calls of
 * the library.
 */
void shi_turn(void)
{
	shi_ctx_turn(&shi.def);
	if (__atomic_load_n(&shi.requests, __ATOMIC_RELAXED))
		shi_req_poll();
}

/*
 * Takes completions, and waits for one.  Threads that share the context poll
 * SHI_LOOKS times, then sleep without holding it.
 */
void shi_req_nap(unsigned int *looks)
{
	int n;

	if (!shi.coll.locked) {
		n = req_take(SHI_NAP_MS);
		if (n != -ETIMEDOUT)
			shi_check(n, "collective");
		return;
	}
	shi_req_poll();
	if ((*looks)++ >= SHI_LOOKS)
		shi_ctx_sleep(&shi.coll);
}

/* Return: a PE of the team that has ended; -1: not known. */
static int coll_ended(struct shmemi_team *t, uint32_t node)
{
	struct angara_team_info info = { .size = sizeof(info) };
	int pe;

	if (!angara_team_query(t->a, &info) && info.lost != ANGARA_NO_RANK)
		return t->pes ? t->pes[info.lost] : (int)info.lost;
	shi_ctx_lock(&shi.coll);
	pe = shi_ended(&shi.coll, t, node);
	shi_ctx_unlock(&shi.coll);
	return pe;
}

/*
 * Ends the program: a collective has failed. @node: node at fault; UINT32_MAX:
 * not known
 */
void shi_coll_failed(struct shmemi_team *t, int ret, uint32_t node, const char *what)
{
	int pe;

	if (ret == -EPROTO)
		shi_die("%s: PEs of the team call with different arguments", what);
	if (ret != -ECONNRESET && ret != -ENOTCONN)
		shi_die("%s: %s", what, strerror(-ret));
	if (node == UINT32_MAX)
		angara_team_check(t->a, &node);
	pe = coll_ended(t, node);
	if (pe >= 0)
		shi_die("%s: PE %d has ended", what, pe);
	if (node == UINT32_MAX)
		shi_die("%s: the network of the team is broken", what);
	shi_die("%s: the network of the team is broken at node %u", what, node);
}

void shi_req_wait(struct shmemi_team *t, struct shi_req *r, int ret, const char *what)
{
	unsigned int looks = 0;

	if (ret)
		shi_coll_failed(t, ret, UINT32_MAX, what);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE)) {
		if (shi.coll.locked)
			shi_req_nap(&looks);
		else
			shi_check(req_take(ANGARA_FOREVER), "collective");
	}
	if (r->status)
		shi_coll_failed(t, angara_status_errno(r->status), r->node, what);
}

void shi_sync(struct shmemi_team *t)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	SHI_RUN(t, "barrier", angara_barrier_nbi(t->a, how));
}

/* Ends the program: the arguments of PEs differ.  @least, @most: over all PEs */
void shi_differ(const char *what, uint64_t mine, uint64_t least, uint64_t most)
{
	shi_die("%s: PEs call with different arguments: %llu at this PE, %llu to %llu over all "
		"PEs", what, (unsigned long long)mine, (unsigned long long)least,
		(unsigned long long)most);
}

/*
 * See shi_same().  The collective computes the minimum and the maximum of all
 * values, the maximum by the minimum of complements; if both are equal, all
 * values are equal.
 */
void shi_same_check(struct shmemi_team *t, uint64_t value, const char *what)
{
	uint64_t v[2] = { value, ~value };

	SHI_RUN(t, what, angara_allreduce_nbi(t->a, NULL, (uintptr_t)v, NULL, (uintptr_t)v, 2,
					      ANGARA_TYPE_UINT64, ANGARA_RED_MIN, how));
	if (v[0] != ~v[1])
		shi_differ(what, value, v[0], ~v[1]);
}

/*
 * See shi_same_place().  The region and the offset have to be the same at all members,
 * since the adapter writes a broadcast on a tree to the offset that the root has given.
 */
void shi_same_place_check(struct shmemi_team *t, const void *addr, const char *what)
{
	const struct shi_region *r = shi_region_of(addr);
	ptrdiff_t number;

	if (!r)
		return;
	number = r == &shi.heap ? 0 : r == &shi.globals ? 1 : r - shi.libs + 2;
	shi_same(t, (uint64_t)number, what);
	shi_same(t, (uint64_t)((const char *)addr - r->base), what);
}

/* Return: location of the symmetric memory that a collective uses. */
static struct shi_local coll_local(const void *addr, size_t len, const char *what)
{
	struct shi_local l = shi_local_of(addr, len);

	if (len && !l.mr)
		shi_die("%s: %zu bytes at %p are not symmetric", what, len, addr);
	return l;
}

/* Waits until broadcasts of the adapter have arrived. */
static void bcast_arrived(struct shmemi_team *t)
{
	unsigned int looks = 0;
	int ret;

	for (;;) {
		shi_ctx_lock(&shi.coll);
		ret = angara_team_received_wait(t->a, t->bcasts, shi.coll.locked ? 0 :
						ANGARA_FOREVER);
		shi_ctx_unlock(&shi.coll);
		if (ret != -ETIMEDOUT)
			break;
		shi_req_nap(&looks);
	}
	if (ret)
		shi_coll_failed(t, ret, UINT32_MAX, "broadcast");
}

static void bcast_by_adapter(struct shmemi_team *t, struct shi_local to, uint64_t key,
			     const void *source, size_t len, int root)
{
	struct shi_local from = coll_local(source, root == t->rank ? len : 0, "broadcast");

	shi_sync(t);
	t->bcasts++;
	if (root == t->rank)
		SHI_RUN(t, "broadcast", angara_bcast_nbi(t->a, key, to.off, from.mr, from.off,
							 len, how));
	bcast_arrived(t);
}

/**
 * shi_broadcast() - copy data of one member to all
 * @t: team
 * @dest: symmetric, at the other members
 * @source: symmetric, at the root
 * @len: bytes
 * @root: member
 * @to_root: also copy to the root's @dest: true for teams, false for active
 *	sets
 */
void shi_broadcast(struct shmemi_team *t, void *dest, const void *source, size_t len,
		   int root, bool to_root)
{
	struct shi_local to = coll_local(dest, len, "broadcast");
	struct shi_local from = coll_local(source, len, "broadcast");
	size_t done, n;

	shi_same(t, len, "broadcast");
	shi_same(t, (uint64_t)root, "broadcast");
	shi_same_place(t, dest, "broadcast: dest");
	if (root < 0 || root >= t->size)
		shi_die("broadcast: the root %d is not from 0 to %d", root, t->size - 1);
	if (root == t->rank)
		to = from;
	for (done = 0; done < len; done += n) {
		n = len - done < SHI_CHUNK ? len - done : SHI_CHUNK;
		if (t->offloaded && to_root) {
			struct shi_local at = shi_local_of((char *)dest + done, n);

			bcast_by_adapter(t, at, shi_region_of(dest)->key,
					 (const char *)source + done, n, root);
		} else {
			SHI_RUN(t, "broadcast", angara_broadcast_nbi(t->a, to.mr,
								     to.off + done, n,
								     (unsigned int)root,
								     how));
		}
	}
	if (to_root && !t->offloaded && root == t->rank && dest != source)
		memmove(dest, source, len);
}

void shi_fcollect(struct shmemi_team *t, void *dest, const void *source, size_t len)
{
	struct shi_local to = coll_local(dest, shi_times(len, (size_t)t->size), "fcollect");
	struct shi_local from = coll_local(source, len, "fcollect");

	shi_same(t, len, "fcollect");
	SHI_RUN(t, "fcollect", angara_allgather_nbi(t->a, to.mr, to.off, from.mr, from.off, len,
						    how));
}

/* Collects contributions of any size; the members first exchange the sizes. */
void shi_collect(struct shmemi_team *t, void *dest, const void *source, size_t len)
{
	struct shi_local from = coll_local(source, len, "collect"), to;
	size_t *counts = malloc((size_t)t->size * sizeof(*counts));
	size_t sum = 0;
	int i;

	if (!counts)
		shi_die("collect: no memory for %d counts", t->size);
	SHI_RUN(t, "collect", angara_allgather_nbi(t->a, NULL, (uintptr_t)counts, NULL,
						   (uintptr_t)&len, sizeof(len), how));
	for (i = 0; i < t->size; i++)
		if (__builtin_add_overflow(sum, counts[i], &sum))
			sum = SIZE_MAX;
	to = coll_local(dest, sum, "collect");
	SHI_RUN(t, "collect", angara_allgatherv_nbi(t->a, to.mr, to.off, counts, NULL, from.mr,
						    from.off, how));
	free(counts);
}

void shi_alltoall(struct shmemi_team *t, void *dest, const void *source, size_t len)
{
	size_t all = shi_times(len, (size_t)t->size);
	struct shi_local to = coll_local(dest, all, "alltoall");
	struct shi_local from = coll_local(source, all, "alltoall");

	shi_same(t, len, "alltoall");
	SHI_RUN(t, "alltoall", angara_alltoall_nbi(t->a, to.mr, to.off, from.mr, from.off, len,
						   how));
}

/* Copies @n elements; @dst and @sst are distances in elements. */
static void strided_copy(char *to, ptrdiff_t dst, const char *from, ptrdiff_t sst,
			 size_t size, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		memcpy(to + i * (size_t)dst * size, from + i * (size_t)sst * size, size);
}

/*
 * Exchanges strided elements: copies them to a buffer before, and from a buffer
 * afterwards.
 */
void shi_alltoalls(struct shmemi_team *t, void *dest, const void *source,
		   struct shi_stride s)
{
	size_t n = shi_times(s.n, (size_t)t->size);
	char *out, *in;

	shi_stride_check(s, "alltoalls");
	shi_same(t, s.n, "alltoalls");
	shi_same(t, (uint64_t)s.dst, "alltoalls: dst");
	shi_same(t, (uint64_t)s.sst, "alltoalls: sst");
	if (!n)
		return;
	coll_local(dest, shi_span(s.size, n, s.dst), "alltoalls");
	coll_local(source, shi_span(s.size, n, s.sst), "alltoalls");
	out = malloc(n * s.size);
	in = malloc(n * s.size);
	if (!out || !in)
		shi_die("alltoalls: no memory for %zu bytes", 2 * n * s.size);
	strided_copy(out, 1, source, s.sst, s.size, n);
	SHI_RUN(t, "alltoalls", angara_alltoall_nbi(t->a, NULL, (uintptr_t)in, NULL,
						    (uintptr_t)out, s.n * s.size, how));
	strided_copy(dest, s.dst, in, 1, s.size, n);
	free(in);
	free(out);
}

SHI_DEF(void, barrier_all, (void))
{
	shi_need();
	shi_quiet(&shi.def);
	shi_sync(&shi.world);
}

SHI_DEF(void, sync_all, (void))
{
	shi_need();
	shi_sync(&shi.world);
}

SHI_DEF(int, team_sync, (shmem_team_t team))
{
	if (team == SHMEM_TEAM_INVALID)
		return -1;
	shi_sync(shi_team(team));
	return 0;
}

SHI_DEF(int, broadcastmem, (shmem_team_t team, void *dest, const void *source,
			    size_t nelems, int pe_root))
{
	if (team == SHMEM_TEAM_INVALID)
		return -1;
	shi_broadcast(shi_team(team), dest, source, nelems, pe_root, true);
	return 0;
}

#define PLAIN(name, call) \
	SHI_DEF(int, name, (shmem_team_t team, void *dest, const void *source, \
			    size_t nelems)) \
	{ \
		if (team == SHMEM_TEAM_INVALID) \
			return -1; \
		call(shi_team(team), dest, source, nelems); \
		return 0; \
	}
PLAIN(collectmem, shi_collect)
PLAIN(fcollectmem, shi_fcollect)
PLAIN(alltoallmem, shi_alltoall)

SHI_DEF(int, alltoallsmem, (shmem_team_t team, void *dest, const void *source,
			    ptrdiff_t dst, ptrdiff_t sst, size_t nelems))
{
	if (team == SHMEM_TEAM_INVALID)
		return -1;
	shi_alltoalls(shi_team(team), dest, source,
		      (struct shi_stride){ dst, sst, 1, nelems });
	return 0;
}

#define TYPED(N, T, name, call) \
	SHI_DEF(int, N##_##name, (shmem_team_t team, T *dest, const T *source, \
				  size_t nelems)) \
	{ \
		if (team == SHMEM_TEAM_INVALID) \
			return -1; \
		call(shi_team(team), dest, source, shi_times(nelems, sizeof(T))); \
		return 0; \
	}
#define COLL(N, T) \
	SHI_DEF(int, N##_broadcast, (shmem_team_t team, T *dest, const T *source, \
				     size_t nelems, int pe_root)) \
	{ \
		return pshmem_broadcastmem(team, dest, source, shi_times(nelems, sizeof(T)), pe_root); \
	} \
	TYPED(N, T, collect, shi_collect) \
	TYPED(N, T, fcollect, shi_fcollect) \
	TYPED(N, T, alltoall, shi_alltoall) \
	SHI_DEF(int, N##_alltoalls, (shmem_team_t team, T *dest, const T *source, \
				     ptrdiff_t dst, ptrdiff_t sst, size_t nelems)) \
	{ \
		if (team == SHMEM_TEAM_INVALID) \
			return -1; \
		shi_alltoalls(shi_team(team), dest, source, \
			      (struct shi_stride){ dst, sst, sizeof(T), nelems }); \
		return 0; \
	}
SHMEMI_RMA_TYPES(COLL)
