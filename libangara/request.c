// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests: a table of slots that grows and never moves an index.
 *
 * The cookie of an operation with a request is the request itself: generation
 * in the upper half, index in the lower.  Without a request the upper half is
 * 0 and the lower one the tree's number in angara_ctx.by_tree.  Generations
 * start from 1, so the two cannot be confused, and one that is stale names
 * nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib.h"

#define ANG_REQS_FIRST	64U
#define ANG_REQS_MAX	(1U << 24)

static int reqs_grow(struct angara_ctx *ctx)
{
	u32 n = ctx->nreqs ? 2 * ctx->nreqs : ANG_REQS_FIRST;
	struct ang_req *reqs;
	u32 i;

	if (n > ANG_REQS_MAX)
		return -ENOMEM;
	reqs = realloc(ctx->reqs, n * sizeof(*reqs));
	if (!reqs)
		return -ENOMEM;
	for (i = ctx->nreqs; i < n; i++)
		reqs[i] = (struct ang_req){
			.gen = 1,
			.next = i + 1 < n ? i + 1 : ANG_REQ_END,
		};
	ctx->free_req = ctx->nreqs;
	ctx->reqs = reqs;
	ctx->nreqs = n;
	return 0;
}

static struct ang_req *req_find(struct angara_ctx *ctx, angara_req_t req)
{
	u32 index = (u32)req;

	if (index >= ctx->nreqs || ctx->reqs[index].gen != req >> 32 ||
	    ctx->reqs[index].state == ANG_REQ_FREE)
		return NULL;
	return &ctx->reqs[index];
}

static void req_free(struct angara_ctx *ctx, struct ang_req *slot)
{
	slot->state = ANG_REQ_FREE;
	if (++slot->gen == 0)
		slot->gen = 1;
	slot->next = ctx->free_req;
	ctx->free_req = (u32)(slot - ctx->reqs);
}

/* Return: 0 or -ENOMEM. */
int ang_req_new(struct angara_ctx *ctx, unsigned int tree, angara_req_t *req)
{
	struct ang_req *slot;

	if (ctx->free_req == ANG_REQ_END) {
		int ret = reqs_grow(ctx);

		if (ret)
			return ret;
	}
	slot = &ctx->reqs[ctx->free_req];
	*req = (u64)slot->gen << 32 | ctx->free_req;
	ctx->free_req = slot->next;
	slot->state = ANG_REQ_PENDING;
	slot->tree = (u8)tree;
	return 0;
}

/* Gives back the slot of an operation that was not posted. */
void ang_req_cancel(struct angara_ctx *ctx, angara_req_t req)
{
	struct ang_req *slot = req_find(ctx, req);

	if (slot)
		req_free(ctx, slot);
}

/*
 * Takes note of a completion.  One that names nothing is ignored: the queue
 * is memory that the device writes, and is not trusted with our table.
 */
void ang_req_complete(struct angara_ctx *ctx, u64 cookie,
		      const struct angara_status *status)
{
	unsigned int tree;

	if (cookie >> 32) {
		struct ang_req *slot = req_find(ctx, cookie);

		if (!slot || slot->state != ANG_REQ_PENDING)
			return;
		slot->state = ANG_REQ_DONE;
		slot->status = *status;
		tree = slot->tree;
	} else {
		if (cookie >= ANG_TREE_SLOTS)
			return;
		tree = (unsigned int)cookie;
		if (status->status != ANGARA_ST_OK && !ctx->first_err)
			ctx->first_err = angara_status_errno(status->status);
	}
	if (ctx->outstanding && ctx->by_tree[tree]) {
		ctx->outstanding--;
		ctx->by_tree[tree]--;
	}
}

/*
 * Hands out the result of an operation that has ended and frees its slot.
 * Return: as angara_test().
 */
int ang_req_take(struct angara_ctx *ctx, angara_req_t req,
		 struct angara_status *status)
{
	struct ang_req *slot = req_find(ctx, req);
	u32 st;

	if (!slot)
		return -ENOENT;
	if (slot->state == ANG_REQ_PENDING)
		return -EAGAIN;
	st = slot->status.status;
	if (status)
		*status = slot->status;
	req_free(ctx, slot);
	return angara_status_errno(st);
}
