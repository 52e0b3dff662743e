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
 * Messages.  A context has one receive buffer, see angara_ctx_attr.msg_bytes,
 * for the messages of all senders.  Messages of one context to another arrive
 * in the order of sending.  While the buffer is full, senders wait in turn: no
 * message is lost, and no other receiver is delayed.
 */

/**
 * struct angara_head - fields of a message in addition to its payload
 * @size: sizeof(struct angara_head)
 * @code: chosen by the sender; below 0xFFFF, which the library uses itself
 * @reserved: 0
 * @tag: chosen by the sender
 * @imm: chosen by the sender
 */
struct angara_head {
	uint32_t size;
	uint16_t code;
	uint16_t reserved;
	uint64_t tag;
	uint64_t imm;
};

/**
 * angara_send_nbi() - send a message
 * @ctx: context
 * @peer: receiver
 * @head: fields of the message, copied
 * @src: local region with the payload; NULL: memory that is not registered, as
 *	for angara_put_nbi()
 * @src_off: offset in it; with NULL an address
 * @len: bytes, at most ANGARA_MAX_MSG
 * @op: options and completion, or NULL
 *
 * The operation is complete when the message is in the receiver's buffer; the
 * payload must not change before.  While the receiver's buffer is full, the
 * operation waits.  A context can have a limited number of operations in
 * progress, and waiting messages count: a program that sends to many peers
 * keeps only a few in progress to each.
 *
 * Errors in the completion: -EHOSTUNREACH there is no such context, or it has
 * been closed; -EACCES the peer has no receive buffer; -EPERM the peer is in
 * another partition.
 *
 * Return: 0; -EAGAIN the queues are full now: receive messages, since the peer
 * may wait for room here; -EINVAL a value out of range; -E2BIG @head has fields
 * that the library does not know; -ENOTSUP the device has no messages; -ENODEV
 * the device is gone.
 */
int angara_send_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		    const struct angara_head *head, const struct angara_mr *src,
		    uint64_t src_off, size_t len, const struct angara_op *op);
/*
 * angara_send() - send a message, and wait until it is in the receiver's buffer
 *
 * Messages that arrive meanwhile are kept.  But two programs wait forever if
 * they send to each other while both receive buffers are full.
 *
 * Return: as angara_put(); -ENOTSUP the device has no messages.
 */
int angara_send(struct angara_ctx *ctx, struct angara_peer peer,
		const struct angara_head *head, const struct angara_mr *src,
		uint64_t src_off, size_t len);
/**
 * angara_send_inline_nbi() - as angara_send_nbi(), from anywhere in memory
 * @ctx: context
 * @peer: receiver
 * @head: fields of the message, copied
 * @data: payload, copied
 * @len: bytes, at most ANGARA_MAX_INLINE
 * @op: options and completion, or NULL
 *
 * Only a few inline messages can wait for room at a time.  If more have to
 * wait, all later operations of the context wait too, whatever their target.
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
 * @size: in: sizeof(struct angara_message)
 * @place: for angara_msg_free()
 * @peer: sender
 * @data: payload, in the receive buffer, aligned to 64
 * @len: bytes of @data
 * @head: fields of the message in addition to its payload
 */
struct angara_message {
	uint32_t size;
	uint32_t place;
	struct angara_peer peer;
	const void *data;
	size_t len;
	struct angara_head head;
};

/**
 * angara_msg_next() - take the next message
 * @ctx: context
 * @msg: out
 *
 * The payload belongs to the caller until angara_msg_free().
 *
 * Return: 0; -EAGAIN there is no message; -EINVAL, -E2BIG bad size; -ENOTSUP
 * the context has no receive buffer; -ENODEV there is no message and the device
 * is gone; -EIO the receive buffer is corrupt.
 */
int angara_msg_next(struct angara_ctx *ctx, struct angara_message *msg);
/**
 * angara_msg_wait() - as angara_msg_next(), and wait for a message
 * @ctx: context
 * @timeout_ms: deadline, or ANGARA_FOREVER
 * @msg: out
 *
 * Return: as angara_msg_next(), with -ETIMEDOUT instead of -EAGAIN.
 */
int angara_msg_wait(struct angara_ctx *ctx, int timeout_ms,
		    struct angara_message *msg);
/**
 * angara_msg_free() - free the memory of a message
 * @ctx: context
 * @msg: message from angara_msg_next()
 *
 * Messages may be freed in any order.  Their memory becomes room for new
 * messages in the order in which they arrived.
 *
 * Return: 0; -EINVAL the message was not taken, or was freed already; -ENODEV
 * the device is gone.
 */
int angara_msg_free(struct angara_ctx *ctx, const struct angara_message *msg);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_MSG_H */
