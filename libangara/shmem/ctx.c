// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts.  Operations are started without a completion of their own; quiet
 * waits for all of them and returns their first error.
 *
 * A fence does not wait.  After it, operations of the context carry
 * ANGARA_FENCE until the next quiet: each waits, in the adapter, for the earlier
 * ones to its node.  One fenced operation is not enough, as the adapter starts
 * later ones without the flag before it.  Operations that cannot carry the flag
 * are preceded by a quiet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shi.h"

#define CTX_POLLS	256	/* looks for room before the caller sleeps */

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
 * A thread that waits in a loop takes the lock again at once; without
 * @next_lock, no other thread would get it in between.
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

/* Ends the program if an operation has failed. */
void shi_check(int ret, const char *what, int pe)
{
	if (ret >= 0)
		return;
	if (ret == -EHOSTUNREACH || ret == -ENETUNREACH)
		shi_die("%s: PE %d has ended", what, pe);
	shi_die("%s, PE %d: %s", what, pe, strerror(-ret));
}

/* Fenced operations report their failure by a completion. */
static void ctx_reap(struct shmemi_ctx *c)
{
	struct angara_completion done;

	if (angara_poll(c->a, &done, 1) > 0)
		shi_die("an operation on node %u failed: %s", done.node,
			angara_status_str(done.status));
}

/* Return: true if the operation that returned @ret is to be tried again. */
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
		shi_die("an operation failed: %s", strerror(-ret));
	return true;
}

/* The context is locked. */
static void ctx_drain(struct shmemi_ctx *c)
{
	int ret;

	if (!c->dirty)
		return;
	ret = angara_quiet(c->a, ANGARA_FOREVER);
	if (ret)
		shi_die("an operation failed: %s", strerror(-ret));
	if (c->fenced)
		ctx_reap(c);
	c->dirty = false;
	c->fenced = false;
}

/* Before an operation without options; the context is locked. */
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
