// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np 2 order: the requests of the library to the adapter.  An embedded
 * fabric mostly executes an operation before it takes the next one, so a
 * program does not notice a missing fence.  This program interposes calls
 * between the libraries: it checks the flags of operations, counts waits, and
 * lets a team fail.
 */
#include <dlfcn.h>
#include <errno.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

#include <angara/angara.h>

static unsigned int flags;	/* flags of the last operation */
static int quiets, wrong;
static int syncs, bcasts, syncs_before;	/* syncs so far; @syncs at the last broadcast */
static int subsets, fails_at, leaves;	/* subsets made; which one fails; calls of leave */
static int word, many[1000];
static long counter;

#define NEXT(name)	((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static void note(const struct angara_op *op)
{
	flags = op ? op->flags : 0;
}

int angara_put_inline_nbi(struct angara_ctx *ctx, struct angara_peer peer, uint64_t dst_key,
			  uint64_t dst_off, const void *data, size_t len,
			  const struct angara_op *op)
{
	note(op);
	return NEXT(angara_put_inline_nbi)(ctx, peer, dst_key, dst_off, data, len, op);
}

int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer, uint64_t dst_key,
		   uint64_t dst_off, const struct angara_mr *src, uint64_t src_off, size_t len,
		   const struct angara_op *op)
{
	note(op);
	return NEXT(angara_put_nbi)(ctx, peer, dst_key, dst_off, src, src_off, len, op);
}

int angara_atomic_nbi(struct angara_ctx *ctx, struct angara_peer peer, uint64_t dst_key,
		      uint64_t dst_off, const void *x, size_t count, unsigned int type,
		      unsigned int op, const struct angara_op *how)
{
	note(how);
	return NEXT(angara_atomic_nbi)(ctx, peer, dst_key, dst_off, x, count, type, op, how);
}

int angara_put_signal_nbi(struct angara_ctx *ctx, struct angara_peer peer, uint64_t dst_key,
			  uint64_t dst_off, const struct angara_mr *src, uint64_t src_off,
			  size_t len, const struct angara_signal *sig,
			  const struct angara_op *op)
{
	note(op);
	return NEXT(angara_put_signal_nbi)(ctx, peer, dst_key, dst_off, src, src_off, len, sig,
					   op);
}

int angara_quiet(struct angara_ctx *ctx, int timeout_ms)
{
	quiets++;
	return NEXT(angara_quiet)(ctx, timeout_ms);
}

int angara_barrier_nbi(struct angara_team *team, const struct angara_op *how)
{
	syncs++;
	return NEXT(angara_barrier_nbi)(team, how);
}

int angara_bcast_nbi(struct angara_team *team, uint64_t dst_key, uint64_t dst_off,
		     const struct angara_mr *src, uint64_t src_off, size_t len,
		     const struct angara_op *how)
{
	bcasts++;
	syncs_before = syncs;
	return NEXT(angara_bcast_nbi)(team, dst_key, dst_off, src, src_off, len, how);
}

int angara_team_subset(struct angara_team *parent, const unsigned int *ranks, unsigned int n,
		       const struct angara_team_attr *attr, struct angara_team **team)
{
	if (++subsets == fails_at)
		return -ENOMEM;
	return NEXT(angara_team_subset)(parent, ranks, n, attr, team);
}

void angara_team_leave(struct angara_team *team)
{
	leaves++;
	NEXT(angara_team_leave)(team);
}

static void look(int ok, const char *what)
{
	if (!ok && !wrong++)
		fprintf(stderr, "order: PE %d: %s\n", shmem_my_pe(), what);
}

/* Does each kind of operation have the flags @want? */
static void all_flags(shmem_ctx_t ctx, unsigned int want, const char *what)
{
	static uint64_t sig;

	shmem_p(ctx, &word, 1, 0);
	look((flags & ANGARA_FENCE) == want, what);
	shmem_put_nbi(ctx, &word, &word, 1, 0);
	look((flags & ANGARA_FENCE) == want, what);
	shmem_atomic_inc(ctx, &counter, 0);
	look((flags & ANGARA_FENCE) == want, what);
	shmem_put_signal_nbi(ctx, &word, &word, 1, &sig, 1, SHMEM_SIGNAL_ADD, 0);
	look((flags & ANGARA_FENCE) == want, what);
}

static void fences(shmem_ctx_t ctx, shmem_ctx_t other)
{
	int before;

	shmem_ctx_quiet(ctx);
	all_flags(ctx, 0, "a fence without need");
	shmem_ctx_fence(other);
	all_flags(ctx, 0, "a fence of another context");
	before = quiets;
	shmem_ctx_fence(ctx);
	look(quiets == before, "a fence waits");
	all_flags(ctx, ANGARA_FENCE, "no fence");
	before = quiets;
	shmem_atomic_fetch(ctx, &counter, 0);
	look(quiets == before + 1, "a fetch overtakes operations before a fence");
	all_flags(ctx, 0, "a fence after quiet");
	shmem_ctx_fence(ctx);
	before = quiets;
	shmem_put(ctx, many, many, 1000, 0);
	look(quiets == before + 1, "a long put overtakes operations before a fence");
	all_flags(ctx, 0, "a fence after a long put");
	shmem_ctx_fence(ctx);
	before = quiets;
	shmem_iput(ctx, many, many, 2, 2, 4, 0);
	look(quiets == before + 1, "a strided put overtakes operations before a fence");
	all_flags(ctx, 0, "a fence after a strided put");
	before = quiets;
	shmem_ctx_quiet(ctx);
	look(quiets == before + 1, "quiet does not wait");
	shmem_ctx_quiet(ctx);
	look(quiets == before + 1, "quiet waits for nothing");
}

static void barriers(void)
{
	static long sync;
	shmemx_req_t req;
	int before;

	shmem_put_nbi(&word, &word, 1, 0);
	before = quiets;
	shmem_sync_all();
	look(quiets == before, "sync_all completes puts");
	shmem_barrier_all();
	look(quiets == before + 1, "barrier_all does not complete puts");
	shmem_put_nbi(&word, &word, 1, 0);
	before = quiets;
	shmem_barrier(0, 0, shmem_n_pes(), &sync);
	look(quiets == before + 1, "barrier does not complete puts");
	shmem_put_nbi(&word, &word, 1, 0);
	before = quiets;
	shmemx_sync_nb(SHMEM_TEAM_WORLD, &req);
	shmemx_req_wait(&req);
	look(quiets == before, "sync_nb completes puts");
	shmemx_barrier_nb(SHMEM_TEAM_WORLD, &req);
	shmemx_req_wait(&req);
	look(quiets == before + 1, "barrier_nb does not complete puts");
}

/* A broadcast by the adapter needs a barrier first: members may not have called yet. */
static void broadcasts(void)
{
	int before = syncs;

	shmem_broadcast(SHMEM_TEAM_WORLD, many, many, 10, 0);
	if (!shmem_my_pe())
		look(bcasts == 1 && syncs_before == before + 1,
		     "a broadcast of the adapter without a barrier");
}

/*
 * PE 1 cannot make its team of axis @axis: the split fails at both PEs, and each leaves the teams
 * that it has made.
 */
static void axes(int axis)
{
	shmem_team_t x, y;
	int ret;

	leaves = subsets = 0;
	fails_at = shmem_my_pe() ? axis : 0;
	ret = shmem_team_split_2d(SHMEM_TEAM_WORLD, axis == 2 ? 2 : 1, NULL, 0, &x, NULL, 0,
				  &y);
	fails_at = 0;
	look(ret && x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID,
	     "half of a split stays");
	look(leaves == 2 - shmem_my_pe(), "a team of a split that failed is not left");
	look(!shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y) &&
	     !shmem_team_sync(x) && !shmem_team_sync(y), "no split after one that failed");
	shmem_team_destroy(x);
	shmem_team_destroy(y);
}

/* PE 0 cannot make a team; PE 1, which is not in the team, learns that. */
static void strided(void)
{
	shmem_team_t team;
	int ret;

	subsets = 0;
	fails_at = !shmem_my_pe();
	ret = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
	fails_at = 0;
	look(ret && team == SHMEM_TEAM_INVALID, "a split fails at some PEs only");
	look(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team) &&
	     !shmem_team_sync(team), "no split after one that failed");
	shmem_team_destroy(team);
}

#define LONG	(16UL << 20)

/* shmem_finalize() completes the put, and keeps all memory until then. */
static void put_to_the_end(void)
{
	char *to = shmem_malloc(LONG), *from = calloc(1, LONG);
	shmem_ctx_t ctx;

	if (!to || !from || shmem_ctx_create(0, &ctx))
		wrong++;
	else if (!shmem_my_pe())
		shmem_ctx_putmem_nbi(ctx, to, from, LONG, shmem_n_pes() - 1);
}

int main(void)
{
	shmem_ctx_t ctx;

	shmem_init();
	shmem_ctx_create(0, &ctx);
	fences(SHMEM_CTX_DEFAULT, ctx);
	fences(ctx, SHMEM_CTX_DEFAULT);
	barriers();
	broadcasts();
	axes(1);
	axes(2);
	strided();
	shmem_ctx_destroy(ctx);
	put_to_the_end();
	printf("order: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_finalize();
	return wrong != 0;
}
