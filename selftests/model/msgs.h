/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts that send each other messages, and their checks.
 */
#ifndef TEST_MSGS_H
#define TEST_MSGS_H

#include "test.h"

#define MSG_MEMORY	8192	/* bytes of a member's buffer */
#define MSG_LOG2	14	/* log2 of the bytes of a receive buffer */
#define MSG_LEN		3000	/* bytes of a message: five fit into a receive
				 * buffer
				 */

/* Makes a context with memory and 64 entries in each queue. */
struct tctx *member(struct host *h, u32 node, u32 id);
/* Posts a message, with @tag also as cookie, and kicks. */
void send_msg(struct tctx *from, u32 node, u32 ctx, u32 tag, u32 len);
/*
 * Fills the empty receive buffer of a context with messages from the context
 * itself.  Return: number of messages.
 */
u32 fill_area(struct tctx *c);
/*
 * Expects message @tag as the next one when the fabric is idle; adds void
 * messages to @voids.
 */
void expect_next(struct tarea *a, u32 tag, u32 *voids);
void expect_cqe(struct tctx *c, u32 tag, u32 status);
/* Checks that nothing is in flight any more, and frees the host. */
void host_end(struct host *h);

/* Calls ang_msg_lost() for all of a context, as the model does after a loss. */
void area_lost(struct host *h, struct ang_node *n, struct ang_ctx *c);

#endif /* TEST_MSGS_H */
