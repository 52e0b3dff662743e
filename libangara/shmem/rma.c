// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts and gets.  A put of up to ANGARA_MAX_INLINE bytes is copied into the
 * queue; the source of a longer put must not change before the put is complete,
 * so the blocking form waits until the data is in the target's memory.
 */
#include "shi.h"

/**
 * struct rma_way - puts or gets
 * @nbi: starts an operation
 * @wait: starts an operation and waits for it
 */
struct rma_way {
	__typeof__(angara_put_nbi) *nbi;
	__typeof__(angara_put) *wait;
};

static const struct rma_way rma_put = { angara_put_nbi, angara_put };
static const struct rma_way rma_get = { angara_get_nbi, angara_get };

static size_t rma_chunk(size_t len)
{
	return len < SHI_CHUNK ? len : SHI_CHUNK;
}

/*
 * Executes an operation in parts, and waits for each part; the context is
 * locked.
 */
static int rma_wait(struct shmemi_ctx *c, const struct rma_way *way, const struct shi_at *at,
		    const void *local, size_t len)
{
	struct shi_local l = shi_local_of(local, len);
	size_t done, n;
	int ret = 0;

	for (done = 0; !ret && done < len; done += n) {
		n = rma_chunk(len - done);
		ret = way->wait(c->a, at->peer, at->key, at->off + done, l.mr, l.off + done,
				n);
	}
	return ret;
}

/* Starts an operation in parts, with the options @how; the context is locked. */
static int rma_start(struct shmemi_ctx *c, const struct rma_way *way, const struct shi_at *at,
		     struct shi_local l, size_t len, const struct angara_op *how)
{
	size_t done, n;
	int ret = 0;

	for (done = 0; !ret && done < len; done += n) {
		n = rma_chunk(len - done);
		ret = SHI_POST(c, way->nbi(c->a, at->peer, at->key, at->off + done, l.mr,
					   l.off + done, n, how));
	}
	return ret;
}

void shi_put(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	if (!len)
		return;
	shi_at_pe(c, dest, len, pe, "put", &at);
	shi_ctx_lock(c);
	if (len <= ANGARA_MAX_INLINE) {
		ret = SHI_POST(c, angara_put_inline_nbi(c->a, at.peer, at.key, at.off, source,
							len, SHI_HOW(c)));
	} else {
		shi_ctx_settle(c);
		ret = rma_wait(c, &rma_put, &at, source, len);
	}
	shi_ctx_unlock(c);
	shi_check_local(ret, "put", source, len, 0);
	shi_check_pe(c, ret, "put", pe);
}

void shi_put_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	if (!len)
		return;
	shi_at_pe(c, dest, len, pe, "put_nbi", &at);
	shi_ctx_lock(c);
	ret = rma_start(c, &rma_put, &at, shi_local_of(source, len), len, SHI_HOW(c));
	shi_ctx_unlock(c);
	shi_check_local(ret, "put_nbi", source, len, 0);
	shi_check_pe(c, ret, "put_nbi", pe);
}

void shi_get(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	if (!len)
		return;
	shi_at_pe(c, source, len, pe, "get", &at);
	shi_ctx_lock(c);
	if (len <= ANGARA_MAX_INLINE)
		ret = angara_get_inline(c->a, at.peer, at.key, at.off, dest, len);
	else
		ret = rma_wait(c, &rma_get, &at, dest, len);
	shi_ctx_unlock(c);
	shi_check_local(ret, "get", dest, len, ANGARA_ACCESS_LOCAL_WRITE);
	shi_check_pe(c, ret, "get", pe);
}

/* A get has no ANGARA_FENCE: a fence does not order gets. */
void shi_get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_at at;
	int ret;

	if (!len)
		return;
	shi_at_pe(c, source, len, pe, "get_nbi", &at);
	shi_ctx_lock(c);
	ret = rma_start(c, &rma_get, &at, shi_local_of(dest, len), len, NULL);
	shi_ctx_unlock(c);
	shi_check_local(ret, "get_nbi", dest, len, ANGARA_ACCESS_LOCAL_WRITE);
	shi_check_pe(c, ret, "get_nbi", pe);
}


void shi_stride_check(struct shi_stride s, const char *what)
{
	if (s.dst < 1 || s.sst < 1)
		shi_die("%s: the strides %td and %td must be 1 or more", what, s.dst, s.sst);
}

void shi_iput(shmem_ctx_t ctx, void *dest, const void *source, struct shi_stride s, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_local from;
	struct shi_at at;
	int ret;

	if (!s.n)
		return;
	shi_stride_check(s, "iput");
	shi_at_pe(c, dest, shi_span(s.size, s.n, s.dst), pe, "iput", &at);
	from = shi_local_of(source, shi_span(s.size, s.n, s.sst));
	shi_ctx_lock(c);
	shi_ctx_settle(c);
	ret = angara_put_strided(c->a, at.peer, at.key, at.off, s.dst * (int64_t)s.size,
				 from.mr, from.off, s.sst * (int64_t)s.size, s.size, s.n);
	shi_ctx_unlock(c);
	shi_check_pe(c, ret, "iput", pe);
}

void shi_iget(shmem_ctx_t ctx, void *dest, const void *source, struct shi_stride s, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct shi_local to;
	struct shi_at at;
	int ret;

	if (!s.n)
		return;
	shi_stride_check(s, "iget");
	shi_at_pe(c, source, shi_span(s.size, s.n, s.sst), pe, "iget", &at);
	to = shi_local_of(dest, shi_span(s.size, s.n, s.dst));
	shi_ctx_lock(c);
	ret = angara_get_strided(c->a, at.peer, at.key, at.off, s.sst * (int64_t)s.size,
				 to.mr, to.off, s.dst * (int64_t)s.size, s.size, s.n);
	shi_ctx_unlock(c);
	shi_check_pe(c, ret, "iget", pe);
}

static struct angara_signal signal_at(const struct shmemi_ctx *c, struct shi_signal sig,
				      int pe, const char *what)
{
	struct shi_at at;

	if (sig.op != SHMEM_SIGNAL_SET && sig.op != SHMEM_SIGNAL_ADD)
		shi_die("%s: the operation %d is not SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",
			what, sig.op);
	if ((uintptr_t)sig.addr & (sizeof(*sig.addr) - 1))
		shi_die("%s: the signal at %p is not aligned to %zu bytes", what,
			(void *)sig.addr, sizeof(*sig.addr));
	shi_at_pe(c, sig.addr, sizeof(*sig.addr), pe, what, &at);
	return (struct angara_signal){
		.size = sizeof(struct angara_signal),
		.op = sig.op == SHMEM_SIGNAL_SET ? ANGARA_SIGNAL_SET : ANGARA_SIGNAL_ADD,
		.key = at.key,
		.off = at.off,
		.value = sig.value,
	};
}

/* Posts the last part of the data and the signal, with a fence between them. */
static int signal_post(struct shmemi_ctx *c, const struct shi_at *at, const void *source,
		       size_t len, const struct angara_signal *sig)
{
	struct shi_local from = shi_local_of(source, len);
	size_t before = len ? (len - 1) / SHI_CHUNK * SHI_CHUNK : 0;
	int ret = rma_start(c, &rma_put, at, from, before, SHI_HOW(c));

	if (ret)
		return ret;
	return SHI_POST(c, angara_put_signal_nbi(c->a, at->peer, at->key, at->off + before,
						 from.mr, from.off + before, len - before, sig,
						 SHI_HOW(c)));
}

static void signal_target(struct shmemi_ctx *c, const void *dest, size_t len,
			  struct shi_signal sig, int pe, struct shi_at *at)
{
	/* If there is no data, the destination need not be valid. */
	shi_at_pe(c, len ? dest : sig.addr, len, pe, "put_signal", at);
}

void shi_put_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
			struct shi_signal sig, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct angara_signal s = signal_at(c, sig, pe, "put_signal_nbi");
	struct shi_at at;
	int ret;

	signal_target(c, dest, len, sig, pe, &at);
	shi_ctx_lock(c);
	ret = signal_post(c, &at, source, len, &s);
	shi_ctx_unlock(c);
	shi_check_local(ret, "put_signal_nbi", source, len, 0);
	shi_check_pe(c, ret, "put_signal_nbi", pe);
}

void shi_put_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
		    struct shi_signal sig, int pe)
{
	struct shmemi_ctx *c = shi_ctx(ctx);
	struct angara_signal s = signal_at(c, sig, pe, "put_signal");
	struct shi_at at;
	int ret;

	signal_target(c, dest, len, sig, pe, &at);
	shi_ctx_lock(c);
	if (len <= ANGARA_MAX_INLINE)
		ret = SHI_POST(c, angara_put_signal_inline_nbi(c->a, at.peer, at.key, at.off,
							       source, len, &s,
							       SHI_HOW(c)));
	else
		ret = signal_post(c, &at, source, len, &s);
	shi_ctx_unlock(c);
	shi_check_local(ret, "put_signal", source, len, 0);
	shi_check_pe(c, ret, "put_signal", pe);
	if (len > ANGARA_MAX_INLINE)
		shi_quiet(c);
}

SHI_DEF(uint64_t, signal_fetch, (const uint64_t *sig_addr))
{
	uint64_t value = 0;
	struct shi_amo amo = {
		.addr = sig_addr,
		.type = ANGARA_TYPE_UINT64,
		.op = ANGARA_ATOMIC_READ,
		.size = sizeof(value),
	};

	shi_amo_fetch(SHMEM_CTX_DEFAULT, amo, NULL, NULL, &value, shi.me);
	return value;
}
