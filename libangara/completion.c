// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completions: from the completion queue to the caller.
 *
 * Each operation that was passed to the device takes a slot, whose number is
 * the cookie in the queue entry; the slot's kind says how its completion is
 * handled.  There are as many slots as entries in the CQ, so the CQ cannot
 * overflow.
 *
 *   counted	  it has no completion: angara_quiet() waits for it, and
 *		  returns the first error
 *   polled	  angara_poll() returns its completion
 *   silent	as polled if it fails, else as counted
 *   blocked	  a call of the library waits for it
 *   linked	  its error becomes that of the operation after it
 *   part	  the last part to complete completes the whole operation
 *   flight	  a part of a software collective, see coll_run.c
 *
 * A slot may also hold regions, see hold.c.
 *
 * A blocking call of the library also finds completions of other operations.
 * The call stores those in a ring for the caller, and angara_poll() returns them
 * first. An operation that may need a place in the ring is posted only if the
 * ring has room for all such operations in progress; other operations can be
 * posted even if the caller does not poll.
 *
 * The device writes the queue, so the library does not trust it with the table
 * of slots: a completion that names no slot in use is ignored.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib.h"
#include "records.h"

/* Allocates the slots.  Return: 0; -ENOMEM. */
int ang_slots_init(struct angara_ctx *ctx)
{
	u32 n = ctx->create.cq_entries;
	u32 i;

	ctx->slots = calloc(n, sizeof(*ctx->slots));
	ctx->ready = calloc(n, sizeof(*ctx->ready));
	if (!ctx->slots || !ctx->ready) {
		ang_slots_free(ctx);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		ctx->slots[i].next = i + 1;
	return 0;
}

void ang_slots_free(struct angara_ctx *ctx)
{
	free(ctx->slots);
	free(ctx->ready);
}

/* Releases the regions of a slot whose operation is complete. */
static void slot_unhold(struct angara_ctx *ctx, u32 number)
{
	ctx->slots[number].kind &= (u8)~ANG_SLOT_HOLDS;
	ang_held_release(&ctx->held[number]);
}

/*
 * Releases all regions that slots hold, and frees the table of them: the adapter
 * has destroyed the context.
 */
void ang_slots_unhold(struct angara_ctx *ctx)
{
	u32 i;

	for (i = 0; ctx->held && i < ctx->create.cq_entries; i++)
		if (ctx->slots[i].kind & ANG_SLOT_HOLDS)
			slot_unhold(ctx, i);
	free(ctx->held);
}

static void blocked_end(struct ang_blocked *b, const struct angara_completion *c)
{
	b->pending--;
	if (c->status != ANGARA_ST_OK && !b->err) {
		b->err = angara_status_errno(c->status);
		b->node = c->node;
	}
}

/*
 * Records the status of a linked operation in the slot of the operation that
 * follows, whose fence has kept it from starting.
 */
static void slot_link(struct angara_ctx *ctx, const struct angara_completion *c)
{
	struct ang_posted *behind = &ctx->slots[c->cookie];

	behind->status = (u16)c->status;
	behind->node = c->node;
}

/*
 * Adds the completion of a part to its operation.  Return: false: other parts
 * are in progress.
 */
static bool slot_part(struct angara_ctx *ctx, struct angara_completion *c)
{
	struct ang_posted *whole = &ctx->slots[c->cookie];

	if (!(whole->kind & ANG_SLOT_PARTS))
		return false;
	if (c->status != ANGARA_ST_OK && !whole->status) {
		whole->status = (u16)c->status;
		whole->node = c->node;
	}
	whole->length += (u32)c->length;
	c->length = whole->length;
	c->status = ANGARA_ST_OK;
	if (--whole->next)
		return false;
	whole->kind &= (u8)~ANG_SLOT_PARTS;
	return true;
}

/*
 * Ends an operation.  In @c->cookie the number of the slot is replaced by the
 * caller's cookie.  Return: true if the caller gets the completion.
 */
static bool slot_end(struct angara_ctx *ctx, struct angara_completion *c)
{
	struct ang_posted *slot;
	bool deliver = false, whole = false;
	u32 number = (u32)c->cookie;

	if (c->cookie >= ctx->create.cq_entries)
		return false;
	slot = &ctx->slots[number];
	/*
	 * The device executes only parts, so it cannot complete the operation
	 * itself.
	 */
	if (__builtin_expect(slot->kind & ANG_SLOT_PARTS, 0))
		return false;
	c->cookie = slot->cookie;
	if (slot->status && c->status == ANGARA_ST_OK) {
		c->status = slot->status;
		c->node = slot->node;
	}
	if (__builtin_expect(slot->kind & ANG_SLOT_HOLDS, 0))
		slot_unhold(ctx, number);
	switch (slot->kind) {
	case ANG_SLOT_COUNTED:
		if (c->status != ANGARA_ST_OK && !ctx->first_err) {
			ctx->first_err = angara_status_errno(c->status);
			ctx->failed_node = c->node;
		}
		break;
	case ANG_SLOT_POLLED:
		deliver = true;
		break;
	case ANG_SLOT_SILENT:
		deliver = c->status != ANGARA_ST_OK;
		break;
	case ANG_SLOT_BLOCKED:
		blocked_end((struct ang_blocked *)(uintptr_t)slot->cookie, c);
		break;
	case ANG_SLOT_LINKED:
		slot_link(ctx, c);
		break;
	case ANG_SLOT_PART:
		whole = slot_part(ctx, c);
		break;
	case ANG_SLOT_FLIGHT:
		ctx->colls.calls->landed(ctx, slot->cookie, slot->next, c->status);
		break;
	default:
		return false;
	}
	ctx->outstanding--;
	ctx->by_tree[slot->tree]--;
	slot->kind = ANG_SLOT_FREE;
	slot->next = ctx->free_slot;
	ctx->free_slot = number;
	return whole ? slot_end(ctx, c) : deliver;
}

/*
 * Adds a completion that the caller gets to the ring.  Do not add others: the
 * ring has room only for completions that the caller gets.
 */
static inline void ready_add(struct angara_ctx *ctx,
			     const struct angara_completion *c)
{
	ctx->ready[ctx->ready_tail++ & (ctx->create.cq_entries - 1)] = *c;
}

/*
 * Return: the CQE at the consumer index; NULL if the device has not written it.
 * @tail: out: last eight bytes of the CQE.
 */
static inline const struct angara_cqe *cq_peek(const struct angara_ctx *ctx,
					       u64 *tail)
{
	u32 entries = ctx->create.cq_entries;
	const struct angara_cqe *cqe = &ctx->cq[ctx->ci & (entries - 1)];
	u64 phase = ctx->ci & entries ? 0 : 1;

	*tail = ang_load_last(&cqe->status);
	return (*tail >> 56 & 1) == phase ? cqe : NULL;
}

/* Is there a completion that the caller could get? */
bool ang_has_completion(const struct angara_ctx *ctx)
{
	u64 tail;

	return ctx->ready_head != ctx->ready_tail || cq_peek(ctx, &tail);
}

/**
 * ang_slot_finish() - complete an operation that the library itself executes
 * @ctx: context
 * @number: number returned by ang_slot_take()
 * @status: ANGARA_ST_*
 * @node: node at fault
 * @length: bytes
 */
void ang_slot_finish(struct angara_ctx *ctx, u32 number, u32 status, u32 node,
		     u64 length)
{
	struct angara_completion c = {
		.cookie = number, .length = length, .status = status,
		.node = node,
	};

	if (slot_end(ctx, &c))
		ready_add(ctx, &c);
	ctx->idled = 0;
}

/*
 * Converts the CQE at the consumer index.  Return: true if the device has
 * written this CQE.
 */
static bool cq_next(const struct angara_ctx *ctx, struct angara_completion *c)
{
	u64 tail;
	const struct angara_cqe *cqe = cq_peek(ctx, &tail);

	if (!cqe)
		return false;
	c->cookie = le64_to_cpu(READ_ONCE(cqe->cookie));
	c->length = le32_to_cpu(READ_ONCE(cqe->length));
	c->status = (u16)tail;
	c->node = le32_to_cpu(READ_ONCE(cqe->node));
	c->reserved = 0;
	return true;
}

/**
 * ang_board_reap() - complete the reduction on a board, if it has finished
 * @ctx: context, with ang_dev.boarded
 * @end: take the reduction off the board in any case
 *
 * The entry of the reduction is the last one of the SQ, and is removed from the
 * SQ.
 *
 * Return: true if the reduction is complete.
 */
bool ang_board_reap(struct angara_ctx *ctx, bool end)
{
	const struct angara_wqe *wqe;

	if (!ctx->dev.ops->board(&ctx->dev, end))
		return false;
	ctx->rung = --ctx->pi;
	ang_store_release(&ctx->ctl->sq_pi, cpu_to_le32(ctx->pi));
	wqe = &ctx->sq[ctx->pi & (ctx->create.sq_entries - 1)];
	ang_slot_finish(ctx, (u32)le64_to_cpu(wqe->cookie), ANGARA_ST_OK, 0,
			le32_to_cpu(wqe->length));
	return true;
}

static void cq_consumed(struct angara_ctx *ctx)
{
	ctx->idled = 0;
	ang_store_release(&ctx->ctl->cq_ci, cpu_to_le32(ctx->ci));
}

/* Has a team of the context work? */
static bool coll_due(const struct angara_ctx *ctx)
{
	const struct ang_colls *c = &ctx->colls;

	return c->teams && (!c->still || c->busy ||
			    (ctx->create.msg_bytes && ang_msg_unheard(ctx)));
}

/*
 * Handles all completions in the CQ.  Return: true if there were completions.
 */
bool ang_reap(struct angara_ctx *ctx)
{
	struct angara_completion c;
	u32 from = ctx->ci;
	bool boarded = ctx->dev.boarded && ang_board_reap(ctx, false);

	while (cq_next(ctx, &c)) {
		ctx->ci++;
		if (slot_end(ctx, &c))
			ready_add(ctx, &c);
	}
	if (ctx->ci != from)
		cq_consumed(ctx);
	if (coll_due(ctx))
		ctx->colls.calls->progress(ctx);
	return boarded || ctx->ci != from;
}

/**
 * ang_harvest() - pass completions to the caller
 * @ctx: context
 * @out: completions
 * @n: capacity of @out
 *
 * Passes those of the ring first, then those of the CQ.  If the context has teams, the CQ is left to ang_reap() at the next
 * poll, since a completion may have to advance a collective.
 *
 * Return: number of completions.
 */
unsigned int ang_harvest(struct angara_ctx *ctx,
			 struct angara_completion *out, unsigned int n)
{
	u32 mask = ctx->create.cq_entries - 1;
	u32 from = ctx->ci;
	unsigned int got = 0;

	while (got < n && ctx->ready_head != ctx->ready_tail)
		out[got++] = ctx->ready[ctx->ready_head++ & mask];
	while (got < n && !ctx->colls.teams && cq_next(ctx, &out[got])) {
		ctx->ci++;
		got += slot_end(ctx, &out[got]);
	}
	if (ctx->ci != from)
		cq_consumed(ctx);
	return got;
}

ANG_PUBLIC int angara_poll(struct angara_ctx *ctx,
			   struct angara_completion *out, unsigned int n)
{
	if (ctx->colls.teams || ctx->dev.boarded)
		ang_reap(ctx);
	if (ang_has_completion(ctx)) {
		unsigned int got = ang_harvest(ctx, out, n < INT_MAX ? n : INT_MAX);

		if (got)
			return (int)got;
	}
	ang_idle(ctx, ANG_IDLE_POLL);
	return ctx->dead ? -ENODEV : 0;
}
