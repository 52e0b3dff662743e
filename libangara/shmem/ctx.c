// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts.  Operations have no completions of their own; a quiet waits for all
 * of them, and ends the program if one has failed.
 *
 * A fence does not wait.  After it, operations of the context have the flag
 * ANGARA_FENCE until the next quiet: the adapter starts each after earlier
 * operations to the same node.  A flag on only the first operation is not
 * enough, since the adapter may start later operations without the flag before
 * that one.  A quiet precedes operations that cannot have the flag.
 *
 * The adapter does not order stores to addresses from shmem_ptr(): once the
 * program has such an address, a fence is a quiet.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shi.h"

#define CTX_POLLS	256	/* polls for room before the caller sleeps */
#define CTX_DEATH_MS	1000	/* longest time until the death of a process is detected */

const struct angara_op shi_fenced = {
	.size = sizeof(shi_fenced),
	.flags = ANGARA_SILENT | ANGARA_FENCE,
};

int shi_ctx_open(struct shmemi_ctx *c, struct shmemi_team *team, bool locked,
		 unsigned int msg_bytes)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = msg_bytes };
	int ret = angara_ctx_open(shi.dom, &attr, &c->a);

	if (ret)
		return ret;
	c->team = team;
	c->pes = team->pes;
	c->n_pes = (unsigned int)team->size;
	c->locked = locked;
	c->dirty = false;
	c->fenced = false;
	pthread_mutex_init(&c->next_lock, NULL);
	pthread_mutex_init(&c->lock, NULL);
	return 0;
}

void shi_ctx_close(struct shmemi_ctx *c)
{
	angara_ctx_close(c->a);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->next_lock);
	c->a = NULL;
}

struct shmemi_ctx *shi_ctx(shmem_ctx_t ctx)
{
	if (ctx == SHMEM_CTX_DEFAULT)
		return &shi.def;
	if (ctx == SHMEM_CTX_INVALID)
		shi_die("the context is SHMEM_CTX_INVALID");
	return ctx;
}

/*
 * Locks a context.  A thread that waits in a loop releases the lock only
 * briefly; without @next_lock, other threads would hardly ever get the lock.
 */
void shi_ctx_lock(struct shmemi_ctx *c)
{
	if (!c->locked)
		return;
	pthread_mutex_lock(&c->next_lock);
	pthread_mutex_lock(&c->lock);
	pthread_mutex_unlock(&c->next_lock);
}

void shi_ctx_unlock(struct shmemi_ctx *c)
{
	if (c->locked)
		pthread_mutex_unlock(&c->lock);
}

/* Callback of angara_ctx_turns(): lets other threads use the context. */
void shi_coll_turn(void *unused)
{
	(void)unused;
	shi_ctx_unlock(&shi.coll);
	shi_ctx_lock(&shi.coll);
}

/* Ends the program if a call without a target PE has failed. */
void shi_check(int ret, const char *what)
{
	if (ret < 0)
		shi_die("%s: %s", what, strerror(-ret));
}

/*
 * Has a PE ended?  Tries to read its heap, whose region is removed with the process.
 * Other errors say nothing about the process: a system may forbid access to memory of
 * a process that lives.  The caller holds the context.
 */
bool shi_pe_ended(struct angara_ctx *a, int pe)
{
	char byte;
	int ret;

	if (pe == shi.me || !shi.heap.mr)
		return false;
	ret = angara_get_inline(a, shi.cards[pe].peer, shi.heap.key, 0, &byte, sizeof(byte));
	return ret == -ENOKEY || ret == -EHOSTUNREACH;
}

/*
 * Sleeps before or between calls of shi_pe_ended().  libangara detects the death of a
 * process while a caller sleeps in libangara: a loop of operations that complete at once
 * would not detect the death.
 */
void shi_pe_nap(struct angara_ctx *a)
{
	if (angara_counter_wait(a, 0, UINT64_MAX, SHI_NAP_MS) != -ETIMEDOUT)
		usleep(SHI_NAP_MS * 1000);
}

/* Ends the program if a PE has ended.  @pe: number in the world */
static void pe_check(struct shmemi_ctx *c, const char *what, int pe)
{
	bool ended;

	shi_ctx_lock(c);
	shi_pe_nap(c->a);
	ended = shi_pe_ended(c->a, pe);
	shi_ctx_unlock(c);
	if (ended)
		shi_die("%s: PE %d has ended", what, pe);
}

/* As shi_ended(), without waiting. */
static int ended_now(struct shmemi_ctx *c, const struct shmemi_team *t, uint32_t node)
{
	int i;

	for (i = 0; i < t->size; i++) {
		int pe = t->pes ? t->pes[i] : i;

		if ((node == UINT32_MAX || shi.cards[pe].peer.node == node) &&
		    shi_pe_ended(c->a, pe))
			return pe;
	}
	return -1;
}

/**
 * shi_ended() - after a failure, find a PE that has ended
 * @c: context; the caller holds it
 * @t: team of the PE
 * @node: node of the PE; UINT32_MAX: any
 *
 * An operation may fail before the death of its target is detected, so this function
 * waits up to CTX_DEATH_MS for the detection.
 *
 * Return: PE of the world; -1: there is none.
 */
int shi_ended(struct shmemi_ctx *c, const struct shmemi_team *t, uint32_t node)
{
	int64_t end = shi_now_ms() + CTX_DEATH_MS;
	int pe;

	while ((pe = ended_now(c, t, node)) < 0 && shi_now_ms() < end)
		shi_pe_nap(c->a);
	return pe;
}

/**
 * shi_local_failed() - after a failure, end the program if local memory is the cause
 * @what: routine
 * @addr: local memory
 * @len: bytes
 * @access: 0, or ANGARA_ACCESS_LOCAL_WRITE
 *
 * An operation registers memory that is not symmetric.  The error does not tell whether
 * the registration has failed or the access at the target, so this function registers the
 * memory again.
 */
void shi_local_failed(const char *what, const void *addr, size_t len, unsigned int access)
{
	struct angara_mr *mr;
	int ret;

	if (!len || shi_local_of(addr, len).mr)
		return;
	ret = angara_mr_hold(shi.dom, addr, len, access, NULL, &mr);
	if (ret == -EFAULT)
		shi_die("%s: this PE cannot %s all of the %zu bytes at %p", what,
			access ? "write" : "read", len, addr);
	if (ret)
		shi_die("%s: the %zu bytes at %p of this PE cannot be registered: %s%s", what,
			len, addr, strerror(-ret), ret == -ENOMEM ?
			"; raise the limit of locked memory (ulimit -l)" : "");
	angara_mr_release(mr);
}

/*
 * Ends the program: an operation has failed. @pe: target, in the context's team
 */
void shi_pe_failed(struct shmemi_ctx *c, int ret, const char *what, int pe)
{
	int world = c->pes ? c->pes[pe] : pe;
	uint32_t node = shi.cards[world].peer.node;
	int64_t end = shi_now_ms() + CTX_DEATH_MS;

	/* As in shi_ended(): the death of the PE may not be detected yet. */
	do
		pe_check(c, what, world);
	while (shi_now_ms() < end);
	if (ret == -ENETUNREACH)
		shi_die("%s: PE %d: there is no path to its node %u, or back", what, world,
			node);
	if (ret == -EFAULT)
		shi_die("%s: PE %d has memory that this PE cannot access: %s", what, world,
			angara_status_str(ANGARA_ST_DMA));
	shi_die("%s: PE %d: %s", what, world, strerror(-ret));
}

/**
 * shi_probe() - check the next PE; if it has ended, end the program
 * @what: what the caller waits for
 *
 * A PE that waits for another one without an operation on it, for a word or a
 * lock, calls this every SHI_PROBE_MS: a launcher may not end the job when a PE
 * dies.  Each PE begins with its neighbour, so all PEs are checked soon.
 */
void shi_probe(const char *what)
{
	static unsigned int probes;
	unsigned int next = __atomic_add_fetch(&probes, 1, __ATOMIC_RELAXED);

	pe_check(&shi.def, what, (int)(((unsigned int)shi.me + next) % shi.n));
}

/* Return: milliseconds of a clock that is never set, accurate to a few. */
int64_t shi_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/**
 * shi_missed() - note that a test of the program has failed
 * @what: what the program tests for
 *
 * Calls shi_probe() at most every SHI_PROBE_MS, since a program may wait by a loop
 * of tests.
 */
void shi_missed(const char *what)
{
	static __thread int64_t last;
	int64_t now = shi_now_ms();

	if (!last)
		last = now;
	if (now - last < SHI_PROBE_MS)
		return;
	last = now;
	shi_probe(what);
}

/*
 * Ends the program: an operation without a completion of its own has failed, as
 * quiet has found.
 */
static __attribute__((noreturn)) void ctx_failed(struct shmemi_ctx *c, uint32_t node,
						 const char *why)
{
	int pe = shi_ended(c, &shi.world, node);

	if (pe >= 0)
		shi_die("an operation has failed: PE %d has ended", pe);
	shi_die("an operation on node %u has failed: %s", node, why);
}

static __attribute__((noreturn)) void ctx_quiet_failed(struct shmemi_ctx *c, int ret)
{
	struct angara_ctx_info info = { .size = sizeof(info) };

	if (ret == -ENODEV || angara_ctx_query(c->a, &info))
		shi_die("quiet: %s", strerror(-ret));
	ctx_failed(c, info.failed_node,
		   ret == -ENETUNREACH ? angara_status_str(ANGARA_ST_UNREACHABLE) :
		   ret == -EFAULT ? angara_status_str(ANGARA_ST_DMA) : strerror(-ret));
}

/* Takes a completion; only failed operations with ANGARA_FENCE have one. */
static void ctx_reap(struct shmemi_ctx *c)
{
	struct angara_completion done;
	int n = angara_poll(c->a, &done, 1);

	if (n > 0)
		ctx_failed(c, done.node, angara_status_str(done.status));
	shi_check(n, "quiet");
}

/* Locks a context.  Return: false if another thread holds it. */
bool shi_ctx_trylock(struct shmemi_ctx *c)
{
	return !c->locked || !pthread_mutex_trylock(&c->lock);
}

/*
 * Sleeps until there may be an event of the context, at most SHI_NAP_MS.  The
 * caller does not hold the context, and other threads may take it during the
 * sleep.  If no descriptor can be created, the caller sleeps for the whole time.
 */
void shi_ctx_sleep(struct shmemi_ctx *c)
{
	struct pollfd at = { .fd = -1, .events = POLLIN };
	int ret = 0;

	if (!c->locked) {
		ret = angara_counter_wait(c->a, 0, UINT64_MAX, SHI_NAP_MS);
		if (ret != -ETIMEDOUT)
			shi_check(ret, "wait");
		return;
	}
	if (shi_ctx_trylock(c)) {
		at.fd = angara_ctx_fd(c->a);
		ret = angara_ctx_arm(c->a);
		shi_ctx_unlock(c);
	}
	if (ret == -EAGAIN)
		return;
	if (ret == -ENODEV)
		shi_check(ret, "wait");
	poll(&at, 1, SHI_NAP_MS);
}

/* Makes progress on the context, unless another thread holds it. */
void shi_ctx_turn(struct shmemi_ctx *c)
{
	if (!shi_ctx_trylock(c)) {
		sched_yield();
		return;
	}
	ctx_reap(c);
	shi_ctx_unlock(c);
}

/* Return: true if the caller must retry the operation that returned @ret. */
bool shi_ctx_room(struct shmemi_ctx *c, int ret)
{
	int i;

	if (ret != -EAGAIN) {
		c->dirty = true;
		return false;
	}
	for (i = 0; i < CTX_POLLS; i++)
		ctx_reap(c);
	ret = angara_quiet(c->a, SHI_NAP_MS);
	if (ret && ret != -ETIMEDOUT)
		ctx_quiet_failed(c, ret);
	return true;
}

/* Waits until all operations are complete; the context is locked. */
static void ctx_drain(struct shmemi_ctx *c)
{
	int ret;

	if (!c->dirty)
		return;
	ret = angara_quiet(c->a, ANGARA_FOREVER);
	if (ret)
		ctx_quiet_failed(c, ret);
	if (c->fenced)
		ctx_reap(c);
	c->dirty = false;
	c->fenced = false;
}

/*
 * Prepares an operation that cannot have ANGARA_FENCE; the context is locked.
 */
void shi_ctx_settle(struct shmemi_ctx *c)
{
	if (c->fenced)
		ctx_drain(c);
}

void shi_quiet(struct shmemi_ctx *c)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	shi_ctx_lock(c);
	ctx_drain(c);
	shi_ctx_unlock(c);
}

static void ctx_fence(struct shmemi_ctx *c)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	shi_ctx_lock(c);
	if (__atomic_load_n(&shi.direct, __ATOMIC_RELAXED))
		ctx_drain(c);
	else
		c->fenced |= c->dirty;
	shi_ctx_unlock(c);
}

SHI_DEF(void, fence, (void))
{
	ctx_fence(&shi.def);
}

SHI_DEF(void, ctx_fence, (shmem_ctx_t ctx))
{
	if (ctx != SHMEM_CTX_INVALID)
		ctx_fence(shi_ctx(ctx));
}

SHI_DEF(void, quiet, (void))
{
	shi_quiet(&shi.def);
}

SHI_DEF(void, ctx_quiet, (shmem_ctx_t ctx))
{
	if (ctx != SHMEM_CTX_INVALID)
		shi_quiet(shi_ctx(ctx));
}

static int ctx_create(struct shmemi_team *t, long options, shmem_ctx_t *ctx)
{
	bool alone = options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED);
	struct shmemi_ctx *c;
	int ret;

	*ctx = SHMEM_CTX_INVALID;
	if (options & ~(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE))
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	ret = shi_ctx_open(c, t, !alone && shi.level == SHMEM_THREAD_MULTIPLE,
			   ANGARA_NO_MSG);
	if (ret) {
		free(c);
		return ret;
	}
	pthread_mutex_lock(&shi.lock);
	c->next = t->ctxs;
	t->ctxs = c;
	pthread_mutex_unlock(&shi.lock);
	*ctx = c;
	return 0;
}

SHI_DEF(int, ctx_create, (long options, shmem_ctx_t *ctx))
{
	shi_need();
	return ctx_create(&shi.world, options, ctx);
}

SHI_DEF(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
	if (team == SHMEM_TEAM_INVALID) {
		*ctx = SHMEM_CTX_INVALID;
		return -EINVAL;
	}
	return ctx_create(shi_team(team), options, ctx);
}

SHI_DEF(void, ctx_destroy, (shmem_ctx_t ctx))
{
	struct shmemi_ctx **at;

	if (ctx == SHMEM_CTX_INVALID)
		return;
	if (ctx == SHMEM_CTX_DEFAULT)
		shi_die("shmem_ctx_destroy: the default context cannot be destroyed");
	shi_quiet(ctx);
	pthread_mutex_lock(&shi.lock);
	for (at = &ctx->team->ctxs; *at && *at != ctx; at = &(*at)->next)
		;
	if (*at)
		*at = ctx->next;
	pthread_mutex_unlock(&shi.lock);
	shi_ctx_close(ctx);
	free(ctx);
}

SHI_DEF(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
	if (ctx == SHMEM_CTX_INVALID) {
		*team = SHMEM_TEAM_INVALID;
		return -EINVAL;
	}
	*team = shi_ctx(ctx)->team;
	if (*team == &shi.world)
		*team = SHMEM_TEAM_WORLD;
	else if (*team == &shi.shared)
		*team = SHMEM_TEAM_SHARED;
	return 0;
}
