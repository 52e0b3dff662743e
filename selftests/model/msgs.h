/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contexts that send each other messages, and their checks.
 */
#ifndef TEST_MSGS_H
#define TEST_MSGS_H

#include "test.h"

#define MSG_MEMORY	8192	/* of a member, in its buffer */
#define MSG_LOG2	14	/* of a receive buffer */
#define MSG_LEN		3000	/* five of them fit into a receive buffer */

/* A context with memory and 64 entries in each queue. */
struct tctx *member(struct host *h, u32 node, u32 id);
/* Posts a message, with @tag also as cookie, and kicks. */
void send_msg(struct tctx *from, u32 node, u32 ctx, u32 tag, u32 len);
/*
 * Fills the empty receive buffer of a context with messages of its own. Return:
 * how many.
 */
u32 fill_area(struct tctx *c);
/* The next message after the fabric is idle; void ones are added to @voids. */
void expect_next(struct tarea *a, u32 tag, u32 *voids);
void expect_cqe(struct tctx *c, u32 tag, u32 status);
/* Nothing is under way any more: frees the host. */
void host_end(struct host *h);

#endif /* TEST_MSGS_H */
