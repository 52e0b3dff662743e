// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messages: sending, and the receive buffer, which the library consumes.
 *
 *   device writes the record      | acquire load of the head's last eight bytes
 *   device stores its last eight  | we read the rest of it
 *     bytes
 *
 *   we read the record            | device reads angara_ctl.msg_ci
 *   release store of msg_ci       | acquire; device overwrites the record
 *   full barrier                  |
 *   load of ANGARA_CTR_MSG_WAIT   | see driver/model/ang_msg.c
 *
 * The caller gets records in order and frees them in any order.  A bit marks
 * each record that the caller has; msg_ci stays at the oldest of these.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib.h"
#include "records.h"

static_assert(sizeof(struct angara_msg) == ANGARA_MSG_UNIT, "a head is a unit");
static_assert(offsetof(struct angara_msg, length) == 56, "head of a record");

/* Return: 0; -ENOMEM. */
int ang_msg_open(struct angara_ctx *ctx)
{
	if (!ctx->create.msg_bytes)
		return 0;
	ctx->msg_held = calloc(ang_msg_units(ctx) / 64, sizeof(*ctx->msg_held));
	return ctx->msg_held ? 0 : -ENOMEM;
}

void ang_msg_close(struct angara_ctx *ctx)
{
	free(ctx->msg_held);
}

/*
 * Does the program use the code that is reserved for the library?  If the head
 * is too small to contain a code, another check refuses it.
 */
static bool code_taken(const struct angara_ctx *ctx,
		       const struct angara_head *head,
		       const struct angara_op *op)
{
	return head->size >= ANG_SIZED_FIRST(angara_head, imm) &&
	       head->code == ANG_CODE_TEAM && op != &ctx->flight;
}

int ang_send_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		 const struct angara_head *head, const struct angara_mr *src,
		 u64 src_off, size_t len, struct angara_wqe *wqe)
{
	struct angara_head known;

	if (!(ctx->dom->query.caps & ANGARA_CAP_MSG))
		return -ENOTSUP;
	if (head->size != sizeof(*head)) {
		int ret = ang_sized_take(&known, sizeof(known), head,
					 ANG_SIZED_FIRST(angara_head, imm));

		if (ret)
			return ret;
		head = &known;
	}
	if (head->reserved || len > ANGARA_MAX_MSG ||
	    ((len || src) && !ang_mr_fits(ctx, src, src_off, len)))
		return -EINVAL;
	*wqe = (struct angara_wqe){
		.opcode = ANGARA_OP_SEND,
		.dst_node = cpu_to_le32(peer.node),
		.dst_ctx = cpu_to_le16(peer.ctx),
		.length = cpu_to_le32(len),
		.lkey = cpu_to_le32(src ? ANG_MR_SLOT(src->key) : 0),
		.loff = cpu_to_le64(src_off),
		.roff = cpu_to_le64(head->tag),
		.aux = cpu_to_le64(head->imm),
		.code = cpu_to_le16(head->code),
	};
	return 0;
}

static int inline_wqe(const struct angara_ctx *ctx, struct angara_peer peer,
		      const struct angara_head *head, const void *data,
		      size_t len, struct angara_wqe *wqe)
{
	int ret = ang_send_wqe(ctx, peer, head, NULL, 0, 0, wqe);

	if (ret)
		return ret;
	if (len > ANGARA_MAX_INLINE || (len && !data))
		return -EINVAL;
	wqe->flags = ANGARA_WQE_INLINE;
	wqe->length = cpu_to_le32(len);
	return 0;
}

/* Sends unregistered memory: @src is its address. */
static int msg_send_held_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			     const struct angara_head *head, u64 src, size_t len,
			     const struct angara_op *op)
{
	struct angara_wqe wqe;
	struct angara_mr *mr;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_send_inline_nbi(ctx, peer, head,
					      (const void *)(uintptr_t)src, len, op);
	ret = ang_hold_begin_nbi(ctx, 1, 0, op, &src, len, 0, &mr);
	if (ret)
		return ret;
	ret = ang_send_wqe(ctx, peer, head, mr, src, len, &wqe);
	return ang_hold_post(ctx, ret, &wqe, NULL, 0, op, mr);
}

/* As msg_send_held_nbi(), and waits until the operation is complete. */
static int msg_send_held(struct angara_ctx *ctx, struct angara_peer peer,
			 const struct angara_head *head, u64 src, size_t len)
{
	struct angara_mr *mr;
	int ret;

	if (len <= ANGARA_MAX_INLINE)
		return angara_send_inline(ctx, peer, head, (const void *)(uintptr_t)src, len);
	ret = ang_hold_begin(ctx, &src, len, 0, &mr);
	if (ret)
		return ret;
	ret = angara_send(ctx, peer, head, mr, src, len);
	angara_mr_release(mr);
	return ret;
}

ANG_PUBLIC int angara_send_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			       const struct angara_head *head,
			       const struct angara_mr *src, uint64_t src_off,
			       size_t len, const struct angara_op *op)
{
	struct angara_wqe wqe;
	int ret = ang_send_wqe(ctx, peer, head, src, src_off, len, &wqe);

	if (code_taken(ctx, head, op))
		return -EINVAL;
	if (ret == -EINVAL && !src)
		return msg_send_held_nbi(ctx, peer, head, src_off, len, op);
	return ret ? ret : ang_post(ctx, &wqe, NULL, 0, op);
}

ANG_PUBLIC int angara_send(struct angara_ctx *ctx, struct angara_peer peer,
			   const struct angara_head *head,
			   const struct angara_mr *src, uint64_t src_off,
			   size_t len)
{
	struct angara_wqe wqe;
	int ret = ang_send_wqe(ctx, peer, head, src, src_off, len, &wqe);

	if (code_taken(ctx, head, NULL))
		return -EINVAL;
	if (ret == -EINVAL && !src)
		return msg_send_held(ctx, peer, head, src_off, len);
	return ret ? ret : ang_post_wait(ctx, &wqe, NULL, 0);
}

ANG_PUBLIC int angara_send_inline_nbi(struct angara_ctx *ctx,
				      struct angara_peer peer,
				      const struct angara_head *head,
				      const void *data, size_t len,
				      const struct angara_op *op)
{
	struct angara_wqe wqe;
	int ret = inline_wqe(ctx, peer, head, data, len, &wqe);

	if (code_taken(ctx, head, op))
		return -EINVAL;
	return ret ? ret : ang_post(ctx, &wqe, data, len, op);
}

ANG_PUBLIC int angara_send_inline(struct angara_ctx *ctx,
				  struct angara_peer peer,
				  const struct angara_head *head,
				  const void *data, size_t len)
{
	struct angara_wqe wqe;
	int ret = inline_wqe(ctx, peer, head, data, len, &wqe);

	if (code_taken(ctx, head, NULL))
		return -EINVAL;
	return ret ? ret : ang_post_wait(ctx, &wqe, data, len);
}

static u64 *held_word(struct angara_ctx *ctx, u32 at, u64 *bit)
{
	u32 place = at & (ang_msg_units(ctx) - 1);

	*bit = 1ULL << (place % 64);
	return &ctx->msg_held[place / 64];
}

/*
 * Rings the doorbell so that the adapter tells waiting senders that there is room.
 * A doorbell would also start a reduction that is on a board, so takes the reduction off the board
 * first.  ang_kick() may put a pending reduction on a board instead of ringing the doorbell; then
 * repeats both.  Return: 0; -errno.
 */
static int senders_ring(struct angara_ctx *ctx)
{
	int ret;

	do {
		ang_board_settle(ctx);
		ret = ang_kick(ctx);
	} while (!ret && ctx->dev.boarded);
	return ret;
}

/*
 * Frees records up to the oldest one that the caller holds.  Return: 0; -errno.
 */
static int give_back(struct angara_ctx *ctx)
{
	u32 ci = ctx->msg_ci;
	u32 units;
	u64 bit;

	while (ci != ctx->msg_at && !(*held_word(ctx, ci, &bit) & bit)) {
		ang_record_kind(ctx, ci, &units);
		ci += units;
	}
	if (ci == ctx->msg_ci)
		return 0;
	ctx->msg_ci = ci;
	ang_store_release(&ctx->ctl->msg_ci, cpu_to_le32(ci));
	ang_mb();
	return ang_counter(ctx, ANGARA_CTR_MSG_WAIT) ? senders_ring(ctx) : 0;
}

static struct angara_message message_of(const struct angara_msg *m, u32 at)
{
	return (struct angara_message){
		.size = sizeof(struct angara_message),
		.peer = { .node = le32_to_cpu(m->node),
			  .ctx = le16_to_cpu(m->ctx) },
		.head = { .size = sizeof(struct angara_head),
			  .tag = le64_to_cpu(m->tag),
			  .imm = le64_to_cpu(m->imm),
			  .code = le16_to_cpu(m->code) },
		.data = m + 1,
		.len = le32_to_cpu(m->length),
		.place = at,
	};
}

/* Is the record at @at a message of the library itself? */
static bool is_own(const struct angara_ctx *ctx, u32 at)
{
	return le16_to_cpu(ang_msg_record(ctx, at)->code) == ANG_CODE_TEAM;
}

/* Skips records that are not for the caller, up to ctx->msg_heard. */
static void skip_heard(struct angara_ctx *ctx)
{
	u32 from = ctx->msg_at;
	u32 units;

	while (ctx->msg_at != ctx->msg_heard) {
		u8 kind = ang_record_kind(ctx, ctx->msg_at, &units);

		if (kind == ANGARA_MSG_DATA && !is_own(ctx, ctx->msg_at))
			break;
		ctx->msg_at += units;
	}
	if (ctx->msg_at != from)
		give_back(ctx);
}

/**
 * ang_msg_hear() - handle the library's own messages
 * @ctx: context
 *
 * Also handles the library's messages that arrived after messages that the
 * caller has not taken yet.
 */
void ang_msg_hear(struct angara_ctx *ctx)
{
	struct angara_message msg;
	u32 units, left;
	u8 kind;

	if (!ctx->create.msg_bytes)
		return;
	if ((s32)(ctx->msg_heard - ctx->msg_at) < 0)
		ctx->msg_heard = ctx->msg_at;
	while (ctx->msg_heard - ctx->msg_ci < ang_msg_units(ctx)) {
		kind = ang_record_kind(ctx, ctx->msg_heard, &units);
		left = ang_msg_units(ctx) -
		       (ctx->msg_heard & (ang_msg_units(ctx) - 1));
		if (kind == ANGARA_MSG_NONE || kind > ANGARA_MSG_VOID ||
		    units > left)
			break;
		if (kind == ANGARA_MSG_DATA && is_own(ctx, ctx->msg_heard)) {
			msg = message_of(ang_msg_record(ctx, ctx->msg_heard),
					 ctx->msg_heard);
			ctx->colls.calls->hear(ctx, &msg);
			ctx->idled = 0;
		}
		ctx->msg_heard += units;
	}
	skip_heard(ctx);
}

#define MESSAGE_FIRST	ANG_SIZED_FIRST(angara_message, head)

/* Checks the caller's structure.  Return: 0; -ENOTSUP; -EINVAL; -E2BIG. */
static int take_check(const struct angara_ctx *ctx,
		      const struct angara_message *msg)
{
	if (!ctx->create.msg_bytes)
		return -ENOTSUP;
	if (msg->size < MESSAGE_FIRST)
		return -EINVAL;
	return msg->size > ANG_SIZED_MAX ? -E2BIG : 0;
}

/*
 * Takes the next message for the caller.  Return: 0; -EAGAIN; -EIO the receive
 * buffer is corrupt; -ENODEV.
 */
static int msg_take(struct angara_ctx *ctx, struct angara_message *msg)
{
	struct angara_message known;
	u32 units, left;
	u64 bit;
	u8 kind;
	int ret;

	for (;;) {
		kind = ang_record_kind(ctx, ctx->msg_at, &units);
		if (kind == ANGARA_MSG_NONE)
			return -EAGAIN;
		left = ang_msg_units(ctx) -
		       (ctx->msg_at & (ang_msg_units(ctx) - 1));
		if (kind > ANGARA_MSG_VOID || units > left)
			return -EIO;
		if (kind == ANGARA_MSG_DATA) {
			u32 at = ctx->msg_at;

			if (!is_own(ctx, at))
				break;
			ctx->colls.calls->progress(ctx);
			if (ctx->msg_at == at)
				return -EAGAIN;
			continue;
		}
		ctx->msg_at += units;
		ret = give_back(ctx);
		if (ret)
			return ret;
	}
	known = message_of(ang_msg_record(ctx, ctx->msg_at), ctx->msg_at);
	if (msg->size == sizeof(known))
		*msg = known;
	else
		ang_sized_give(msg, &known, sizeof(known), MESSAGE_FIRST);
	*held_word(ctx, ctx->msg_at, &bit) |= bit;
	ctx->msg_at += units;
	ctx->idled = 0;
	return 0;
}

ANG_PUBLIC int angara_msg_next(struct angara_ctx *ctx,
			       struct angara_message *msg)
{
	int ret = take_check(ctx, msg);

	if (ret)
		return ret;
	ret = ang_has_record(ctx) ? msg_take(ctx, msg) : -EAGAIN;
	if (ret != -EAGAIN)
		return ret;
	if (ang_idle(ctx, ANG_IDLE_MSG) && ang_has_record(ctx))
		ret = msg_take(ctx, msg);
	return ret == -EAGAIN && ctx->dead ? -ENODEV : ret;
}

/**
 * struct msg_wait - state of angara_msg_wait()
 * @msg: out
 * @ret: as msg_take()
 */
struct msg_wait {
	struct angara_message *msg;
	int *ret;
};

static bool msg_done(struct angara_ctx *ctx, const void *arg)
{
	const struct msg_wait *w = arg;

	*w->ret = msg_take(ctx, w->msg);
	return *w->ret != -EAGAIN;
}

ANG_PUBLIC int angara_msg_wait(struct angara_ctx *ctx, int timeout_ms,
			       struct angara_message *msg)
{
	int result = -EAGAIN;
	struct msg_wait w = { .msg = msg, .ret = &result };
	int ret = take_check(ctx, msg);

	if (ret)
		return ret;
	ret = ang_wait_until(ctx, msg_done, &w, timeout_ms);
	return ret ? ret : result;
}

ANG_PUBLIC int angara_msg_free(struct angara_ctx *ctx,
			       const struct angara_message *msg)
{
	u64 *word, bit;

	if (!ctx->create.msg_bytes ||
	    msg->place - ctx->msg_ci >= ctx->msg_at - ctx->msg_ci)
		return -EINVAL;
	word = held_word(ctx, msg->place, &bit);
	if (!(*word & bit))
		return -EINVAL;
	*word &= ~bit;
	return give_back(ctx);
}
