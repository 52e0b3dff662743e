// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The injection queue (SQ), of which the library is the producer, and the
 * completion queue (CQ), of which it is the consumer.  Indices run freely; the
 * entry is index modulo length.
 *
 * Ordering against the device:
 *
 *   we write the WQE          | device reads angara_ctl.sq_pi
 *   release store of sq_pi    | acquire
 *   kick                      | device reads the WQE
 *
 *   device writes the data    | acquire load of the CQE's last eight bytes,
 *   device writes the CQE,    |   which hold the phase bit
 *     last eight bytes last   | we read the rest of the CQE, then the data
 *
 *   we read the CQE           | device reads angara_ctl.cq_ci
 *   release store of cq_ci    | acquire; device overwrites the CQE
 *
 *   device reads the WQE      | acquire load of ANGARA_CTR_SQ_CI
 *   device counts SQ_CI       | we overwrite the WQE
 *
 * doorbell.c has the kick and its barrier.
 *
 * The CQ cannot overflow: an operation has at most one CQE, and at most
 * cq_entries operations are outstanding, that is, posted and not reaped; see
 * completion.c.
 */
#include <errno.h>

#include "lib.h"

#define ANG_SQ_ENTRY	sizeof(struct angara_wqe)

/*
 * A change of ANGARA_CTR_SQ_CI is not an event, so a wait for room checks the
 * counter at least this often.
 */
#define ANG_ROOM_MS	10

static_assert(sizeof(struct angara_wqe) == 64, "SQ entries are 64 bytes");
static_assert(sizeof(struct angara_cqe) == 32, "CQ entries are 32 bytes");
static_assert(offsetof(struct angara_cqe, status) == 24, "CQE tail");

/* Number of SQ entries that may be written now. */
static u32 sq_room(const struct angara_ctx *ctx)
{
	u32 fetched = (u32)ang_counter(ctx, ANGARA_CTR_SQ_CI);

	return ctx->create.sq_entries - (ctx->pi - fetched);
}

/*
 * Is there room for @n operations that need @need entries?  At most one of them
 * has a completion for the caller, depending on @kind.  This completion needs a
 * place in the ring (completion.c).
 */
static bool has_room(const struct angara_ctx *ctx, u32 n, u32 need,
		     unsigned int kind)
{
	u32 ready = 0;

	if (kind == ANG_SLOT_POLLED || kind == ANG_SLOT_SILENT)
		ready = ctx->ready_tail - ctx->ready_head;
	return ctx->outstanding + ready + n <= ctx->create.cq_entries &&
	       sq_room(ctx) >= need;
}

/*
 * Tries to make room: rings the doorbell if ANGARA_MORE has deferred it, takes the reduction that
 * this may put on a board off the board, and reaps completions.
 * Return: 0 there is room; -EAGAIN; -ENODEV.
 */
static int make_room(struct angara_ctx *ctx, u32 n, u32 need, unsigned int kind)
{
	int ret = ang_flush(ctx);

	if (ret)
		return ret;
	ang_board_settle(ctx);
	ang_reap(ctx);
	if (has_room(ctx, n, need, kind))
		return 0;
	ang_idle(ctx, ANG_IDLE_POST);
	return ctx->dead ? -ENODEV : -EAGAIN;
}

static void sq_write(struct angara_ctx *ctx, const struct angara_wqe *wqe,
		     const void *data, size_t len)
{
	u32 mask = ctx->create.sq_entries - 1;
	const char *from = data;

	ctx->sq[ctx->pi++ & mask] = *wqe;
	while (len) {
		size_t part = len < ANG_SQ_ENTRY ? len : ANG_SQ_ENTRY;

		memcpy(&ctx->sq[ctx->pi++ & mask], from, part);
		from += part;
		len -= part;
	}
}

/* Can an operation increment a user counter of the target? */
static bool takes_notify(const struct angara_wqe *wqe)
{
	return wqe->opcode == ANGARA_OP_PUT || wqe->opcode == ANGARA_OP_GET ||
	       wqe->opcode == ANGARA_OP_ATOMIC || wqe->opcode == ANGARA_OP_FETCH;
}

/*
 * Index of the counter of outstanding operations.  Collectives are counted per
 * tree, so that a team can wait for its own operations.
 */
static unsigned int wqe_tree(const struct angara_wqe *wqe)
{
	return wqe->opcode >= ANGARA_OP_BCAST &&
	       wqe->opcode <= ANGARA_OP_BARRIER ?
	       le16_to_cpu(wqe->tree) + 1U : ANG_NO_TREE;
}

static u32 entries_of(size_t len)
{
	return 1 + (u32)((len + ANG_SQ_ENTRY - 1) / ANG_SQ_ENTRY);
}

/* Takes a free slot.  Return: its number. */
static u32 slot_new(struct angara_ctx *ctx, unsigned int tree, unsigned int kind,
		    u64 cookie)
{
	u32 number = ctx->free_slot;
	struct ang_posted *slot = &ctx->slots[number];

	ctx->free_slot = slot->next;
	slot->cookie = cookie;
	slot->status = ANGARA_ST_OK;
	slot->kind = (u8)kind;
	slot->tree = (u8)tree;
	slot->next = ctx->flight_step;
	ctx->by_tree[slot->tree]++;
	ctx->outstanding++;
	return number;
}

/* Records that the next entry is a collective. */
static inline void coll_note(struct angara_ctx *ctx)
{
	if (ctx->dev.boards && !ctx->dev.colls) {
		ctx->dev.colls = true;
		ctx->dev.colls_from = ctx->pi;
	}
}

static void sq_push(struct angara_ctx *ctx, struct angara_wqe *wqe,
		    const void *data, size_t len, unsigned int kind, u64 cookie)
{
	unsigned int tree = wqe_tree(wqe);

	if (tree != ANG_NO_TREE)
		coll_note(ctx);
	wqe->cookie = cpu_to_le64(slot_new(ctx, tree, kind, cookie));
	sq_write(ctx, wqe, data, len);
}

/*
 * Checks the caller's options.  @notify: the operation can increment a user
 * counter.
 * Return: 0; -EINVAL; -E2BIG.
 */
static inline int op_check(const struct angara_op *op, bool notify)
{
	if (op->size != sizeof(*op)) {
		struct angara_op known;
		int ret = ang_sized_take(&known, sizeof(known), op,
					 ANG_SIZED_FIRST(angara_op, reserved));

		if (ret)
			return ret;
	}
	if (op->flags & ~ANGARA_OP_FLAGS || op->reserved)
		return -EINVAL;
	if (op->flags & ANGARA_NOTIFY &&
	    (!notify || op->notify >= ANGARA_CTR_USER_NUM))
		return -EINVAL;
	return 0;
}

/* Applies the caller's options to an entry.  Return: as op_check(). */
static int op_apply(struct angara_wqe *wqe, const struct angara_op *op)
{
	int ret = op_check(op, takes_notify(wqe));

	if (ret)
		return ret;
	if (op->flags & ANGARA_FENCE)
		wqe->flags |= ANGARA_WQE_FENCE;
	if (op->flags & ANGARA_NOTIFY) {
		wqe->flags |= ANGARA_WQE_NOTIFY;
		wqe->counter = cpu_to_le16(op->notify);
	}
	return 0;
}

/* Returns how the completion of an operation with options @op is handled. */
static unsigned int kind_of(const struct angara_ctx *ctx,
			    const struct angara_op *op)
{
	if (!op)
		return ANG_SLOT_COUNTED;
	if (op == &ctx->flight)
		return ANG_SLOT_FLIGHT;
	return op->flags & ANGARA_SILENT ? ANG_SLOT_SILENT : ANG_SLOT_POLLED;
}

/*
 * Rings the doorbell, unless ANGARA_MORE defers it.  Returns no error, since an error would mean
 * that the operation is not posted, and it is.  A doorbell that fails makes the context dead, which
 * the next call reports.
 */
static void sq_ring(struct angara_ctx *ctx, const struct angara_op *op)
{
	if (!op || !(op->flags & ANGARA_MORE))
		ang_kick(ctx);
}

/**
 * ang_room() - ensure that operations can be posted next
 * @ctx: context
 * @n: operations
 * @len: bytes of inline payload of the last operation
 * @op: options of the operations; NULL: completions are only counted
 *
 * Return: 0; -EAGAIN there is no room now; -EINVAL,
 * -E2BIG bad @op; -ENODEV.
 */
int ang_room(struct angara_ctx *ctx, u32 n, size_t len,
	     const struct angara_op *op)
{
	u32 need = n - 1 + entries_of(len);
	int ret = ctx->dead ? -ENODEV : 0;
	unsigned int kind;

	ang_board_settle(ctx);
	if (op && !ret)
		ret = op_check(op, true);
	if (ret)
		return ret;
	kind = kind_of(ctx, op);
	return has_room(ctx, n, need, kind) ? 0 : make_room(ctx, n, need, kind);
}

/**
 * ang_post() - post an operation
 * @ctx: context
 * @wqe: entry, without the cookie and the fields that @op sets
 * @data: payload, with ANGARA_WQE_INLINE
 * @len: bytes of @data
 * @op: options; NULL: the operation is only counted
 *
 * Return: 0 the operation is posted; -EAGAIN there is no room now; -EINVAL,
 * -E2BIG bad @op; -ENODEV.
 */
int ang_post(struct angara_ctx *ctx, struct angara_wqe *wqe, const void *data,
	     size_t len, const struct angara_op *op)
{
	u32 need = entries_of(len);
	int ret = ctx->dead ? -ENODEV : 0;
	unsigned int kind;

	ang_board_settle(ctx);
	if (op && !ret)
		ret = op_apply(wqe, op);
	if (ret)
		return ret;
	kind = kind_of(ctx, op);
	if (!has_room(ctx, 1, need, kind))
		ret = make_room(ctx, 1, need, kind);
	if (ret)
		return ret;
	sq_push(ctx, wqe, data, len, kind, op ? op->cookie : 0);
	sq_ring(ctx, op);
	return 0;
}

/**
 * ang_post_two() - post two operations, both or none, with one completion
 * @ctx: context
 * @first: first operation, as @wqe of ang_post()
 * @data: payload of @first
 * @len: bytes of @data
 * @second: second operation, with a fence, to the same node
 * @data2: payload of @second
 * @len2: bytes of @data2
 * @op: options of both operations; a fence applies to the first
 *
 * Return: as ang_post().
 */
int ang_post_two(struct angara_ctx *ctx, struct angara_wqe *first,
		 const void *data, size_t len, struct angara_wqe *second,
		 const void *data2, size_t len2, const struct angara_op *op)
{
	u32 need = entries_of(len) + entries_of(len2);
	int ret = ctx->dead ? -ENODEV : 0;
	unsigned int kind;
	u32 behind;

	ang_board_settle(ctx);
	if (op && !ret)
		ret = op_apply(second, op);
	if (ret)
		return ret;
	kind = kind_of(ctx, op);
	if (!has_room(ctx, 2, need, kind))
		ret = make_room(ctx, 2, need, kind);
	if (ret)
		return ret;
	if (op && op->flags & ANGARA_FENCE)
		first->flags |= ANGARA_WQE_FENCE;
	behind = ctx->slots[ctx->free_slot].next;
	sq_push(ctx, first, data, len, ANG_SLOT_LINKED, behind);
	sq_push(ctx, second, data2, len2, kind, op ? op->cookie : 0);
	sq_ring(ctx, op);
	return 0;
}

/**
 * struct blocked_need - @slots and @entries for which a blocking call waits
 */
struct blocked_need {
	u32 slots;
	u32 entries;
};

static bool blocked_room(struct angara_ctx *ctx, const void *arg)
{
	const struct blocked_need *need = arg;

	return has_room(ctx, need->slots, need->entries, ANG_SLOT_BLOCKED);
}

/*
 * Waits until @slots slots and @entries entries are free.  Return: 0; -ENODEV.
 */
static int blocked_wait_room(struct angara_ctx *ctx, u32 slots, u32 entries)
{
	const struct blocked_need need = { .slots = slots, .entries = entries };
	int ret = 0;

	while (!ret && !blocked_room(ctx, &need)) {
		ret = ang_wait_until(ctx, blocked_room, &need, ANG_ROOM_MS);
		if (ret == -ETIMEDOUT)
			ret = 0;
	}
	/* The wait may have put a pending reduction on a board. */
	ang_board_settle(ctx);
	return ret;
}

/**
 * ang_blocked_post() - post an operation for a blocking call
 * @ctx: context
 * @wqe: entry, without the cookie
 * @data: payload, with ANGARA_WQE_INLINE
 * @len: bytes of @data
 * @b: the operations that the call waits for
 *
 * Waits for room.  ang_blocked_wait() rings the doorbell.
 *
 * Return: 0; -ENODEV.
 */
int ang_blocked_post(struct angara_ctx *ctx, struct angara_wqe *wqe,
		     const void *data, size_t len, struct ang_blocked *b)
{
	int ret = ctx->dead ? -ENODEV : 0;

	ang_board_settle(ctx);
	if (!ret)
		ret = blocked_wait_room(ctx, 1, entries_of(len));
	if (ret)
		return ret;
	sq_push(ctx, wqe, data, len, ANG_SLOT_BLOCKED, (uintptr_t)b);
	b->pending++;
	return 0;
}

/**
 * ang_slot_take() - take a slot for an operation that the library itself
 * executes
 * @ctx: context
 * @op: options; NULL: the operation is only counted
 * @b: NULL, or the blocking call, for which this function waits for room
 * @number: out: for ang_slot_finish()
 *
 * Return: 0; -EAGAIN there is no room now; -EINVAL, -E2BIG bad @op; -ENODEV.
 */
int ang_slot_take(struct angara_ctx *ctx, const struct angara_op *op,
		  struct ang_blocked *b, u32 *number)
{
	int ret = ctx->dead ? -ENODEV : 0;
	unsigned int kind;

	if (!ret && b) {
		ret = blocked_wait_room(ctx, 1, 0);
		if (ret)
			return ret;
		*number = slot_new(ctx, ANG_NO_TREE, ANG_SLOT_BLOCKED,
				   (uintptr_t)b);
		b->pending++;
		return 0;
	}
	if (!ret && op)
		ret = op_check(op, false);
	if (ret)
		return ret;
	kind = kind_of(ctx, op);
	if (!has_room(ctx, 1, 0, kind))
		ret = make_room(ctx, 1, 0, kind);
	if (ret)
		return ret;
	*number = slot_new(ctx, ANG_NO_TREE, kind, op ? op->cookie : 0);
	return 0;
}

/*
 * Checks that there is room for the parts, and applies the options; for a blocking call, only waits
 * for room.  Return: as ang_post().
 */
static int parts_room(struct angara_ctx *ctx, struct angara_wqe *wqes, u32 n,
		      const struct angara_op *op, struct ang_blocked *b)
{
	int ret = ctx->dead ? -ENODEV : 0;
	unsigned int kind;
	u32 i;

	ang_board_settle(ctx);
	if (b)
		return ret ? ret : blocked_wait_room(ctx, n + 1, n);
	for (i = 0; op && i < n && !ret; i++)
		ret = op_apply(&wqes[i], op);
	if (ret)
		return ret;
	/*
	 * Only the first part needs the fence: the adapter fetches the other
	 * parts after the first one.
	 */
	for (i = 1; i < n; i++)
		wqes[i].flags &= (u8)~ANGARA_WQE_FENCE;
	kind = kind_of(ctx, op);
	return has_room(ctx, n + 1, n, kind) ? 0 : make_room(ctx, n + 1, n, kind);
}

/**
 * ang_post_parts() - post an operation in parts, which has one completion
 * @ctx: context
 * @wqes: the parts; their cookies are set to the number of the operation's slot
 * @n: number of parts; the queues have n + 1 entries or more
 * @op: options; NULL: the operation is only counted
 * @b: NULL, or the blocking call, for which this function waits for room and ignores @op
 *
 * Return: as ang_post(); nothing is posted after an error.
 */
int ang_post_parts(struct angara_ctx *ctx, struct angara_wqe *wqes, u32 n,
		   const struct angara_op *op, struct ang_blocked *b)
{
	int ret = parts_room(ctx, wqes, n, op, b);
	u64 cookie = b ? (uintptr_t)b : op ? op->cookie : 0;
	u32 i, number;

	if (ret)
		return ret;
	number = slot_new(ctx, ANG_NO_TREE, ANG_SLOT_PARTS |
			  (b ? ANG_SLOT_BLOCKED : kind_of(ctx, op)), cookie);
	ctx->slots[number].next = n;
	ctx->slots[number].length = 0;
	for (i = 0; i < n; i++) {
		sq_push(ctx, &wqes[i], NULL, 0, ANG_SLOT_PART, number);
		wqes[i].cookie = cpu_to_le64(number);
	}
	if (b)
		b->pending++;
	else
		sq_ring(ctx, op);
	return 0;
}
