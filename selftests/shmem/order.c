// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N order: what the library asks of the adapter.  An embedded fabric
 * mostly carries an operation out before it looks at the next one, so a program
 * does not see a missing fence.  This one stands between the libraries: it looks
 * at the flags of operations, and counts what has been waited for.
 */
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

#include <angara/angara.h>

static unsigned int flags;	/* of the last operation */
static int quiets, wrong;
static int word;
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

static void look(int ok, const char *what)
{
	if (!ok && !wrong++)
		fprintf(stderr, "order: PE %d: %s\n", shmem_my_pe(), what);
}

/* Of each kind of operation. */
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
	all_flags(ctx, 0, "a fence behind quiet");
	before = quiets;
	shmem_ctx_quiet(ctx);
	look(quiets == before + 1, "quiet does not wait");
	shmem_ctx_quiet(ctx);
	look(quiets == before + 1, "quiet waits for nothing");
}

static void barriers(void)
{
	static long sync;
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
}

int main(void)
{
	shmem_ctx_t ctx;

	shmem_init();
	shmem_ctx_create(0, &ctx);
	fences(SHMEM_CTX_DEFAULT, ctx);
	fences(ctx, SHMEM_CTX_DEFAULT);
	barriers();
	shmem_ctx_destroy(ctx);
	printf("order: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_finalize();
	return wrong != 0;
}
