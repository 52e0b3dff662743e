/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: messages.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_MSG_H
#define ANGARA_MSG_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Messages.  A context has a message area, see angara_ctx_attr.msg_bytes, in which the messages of all senders arrive; those of one
 * context to another do so in the order in which they were sent.  While there
 * is no room the senders wait, each for its turn: nothing is lost, and nobody
 * else is held up.
 */

/**
 * struct angara_head - what a sender says of a message, beside its payload
 * @tag: of the sender's choice, as all
 * @imm: another word
 * @code: a short one, below 0xFFFF: that one is the library's
 */
struct angara_head {
	uint64_t tag;
	uint64_t imm;
	uint16_t code;
};

/**
 * angara_send_nbi() - send a message
 * @ctx: context
 * @peer: receiver
 * @head: what to say of it, copied
 * @src: local region with the payload; NULL if @len is 0
 * @src_off: offset in it
 * @len: bytes, at most ANGARA_MAX_MSG
 * @op: what the caller wants of it, or NULL
 *
 * Complete when it is in the receiver's message area; then, not before, the
 * payload may be changed.  That takes as long as the receiver has no room.  A
 * context has a number of operations in flight that waiting messages count
 * against: a program that sends to many has only a few under way to each.
 *
 * The completion tells: -EHOSTUNREACH no such context, or it has ended; -EACCES
 * it has no message area; -EPERM it is of another partition.
 *
 * Return: 0; -EAGAIN there is no room in the queues now: take messages, which
 * the receiver may wait for; -EINVAL a value out of range; -ENOTSUP the device
 * knows no messages; -ENODEV the device is gone.
 */
int angara_send_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		    const struct angara_head *head, const struct angara_mr *src,
		    uint64_t src_off, size_t len, const struct angara_op *op);
/*
 * angara_send() - send a message, and wait until it is in the receiver's area
 *
 * Messages that arrive meanwhile are not lost; but two programs that send to
 * each other, and whose areas are full, wait forever.
 *
 * Return: as angara_put(); -ENOTSUP the device knows no messages.
 */
int angara_send(struct angara_ctx *ctx, struct angara_peer peer,
		const struct angara_head *head, const struct angara_mr *src,
		uint64_t src_off, size_t len);
/**
 * angara_send_inline_nbi() - as angara_send_nbi(), from anywhere in memory
 * @ctx: context
 * @peer: receiver
 * @head: what to say of it, copied
 * @data: payload, copied
 * @len: bytes, at most ANGARA_MAX_INLINE
 * @op: what the caller wants of it, or NULL
 *
 * Few can wait for room at a time; then operations of the context that were
 * started later wait too, whoever they are for.
 *
 * Return: as angara_send_nbi().
 */
int angara_send_inline_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			   const struct angara_head *head, const void *data,
			   size_t len, const struct angara_op *op);
/** As angara_send(), from anywhere in memory; ANGARA_MAX_INLINE bytes at most. */
int angara_send_inline(struct angara_ctx *ctx, struct angara_peer peer,
		       const struct angara_head *head, const void *data,
		       size_t len);

/**
 * struct angara_message - a message that has arrived
 * @peer: sender
 * @head: what it said
 * @data: payload, in the message area, aligned to 64
 * @len: bytes of it
 * @place: for angara_msg_free()
 */
struct angara_message {
	struct angara_peer peer;
	struct angara_head head;
	const void *data;
	size_t len;
	uint32_t place;
};

/**
 * angara_msg_next() - take the next message
 * @ctx: context
 * @msg: out
 *
 * Its memory is the caller's until angara_msg_free().
 *
 * Return: 0; -EAGAIN there is none; -ENOTSUP the context has no message area;
 * -ENODEV there is none and the device is gone; -EIO the area is damaged.
 */
int angara_msg_next(struct angara_ctx *ctx, struct angara_message *msg);
/**
 * angara_msg_wait() - as angara_msg_next(), and wait for one
 * @ctx: context
 * @timeout_ms: deadline, or ANGARA_FOREVER
 * @msg: out
 *
 * Return: as angara_msg_next(), but -ETIMEDOUT for -EAGAIN.
 */
int angara_msg_wait(struct angara_ctx *ctx, int timeout_ms,
		    struct angara_message *msg);
/**
 * angara_msg_free() - give the memory of a message back
 * @ctx: context
 * @msg: as angara_msg_next() gave it
 *
 * In any order; room comes back in the order of arrival.
 *
 * Return: 0; -EINVAL it is no message that has been taken and not given back;
 * -ENODEV the device is gone.
 */
int angara_msg_free(struct angara_ctx *ctx, const struct angara_message *msg);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_MSG_H */
