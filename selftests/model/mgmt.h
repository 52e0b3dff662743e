/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of in-band management, sent and answered by admin commands. */
#ifndef TEST_MGMT_H
#define TEST_MGMT_H

#include "host.h"

/* The fabric that the functions use. */
extern struct host *mgmt_host;

/* MGMT_SEND or MGMT_RECV of a node.  Return: ANGARA_ADM_ST_*. */
u32 mgmt_cmd(u32 node, u32 opcode, struct angara_mgmt *p, u64 for_tid);
/*
 * As mgmt_cmd(): sends with the next transaction number, or takes the answer
 * to the last one.
 */
u32 mgmt_send(u32 node, struct angara_mgmt *p);
u32 mgmt_answer(u32 node, struct angara_mgmt *p);
/* Sends a request and takes its answer.  Return: status of the answer. */
u32 mgmt_ask(u32 node, struct angara_mgmt *p);

struct angara_mgmt mgmt_request(u32 method, u32 attr, u32 modifier);
struct angara_mgmt mgmt_get_node(const u8 *path, u32 hops);
struct angara_mgmt_node mgmt_node(const struct angara_mgmt *p);
/*
 * Return: number of SETs that a router has accepted.  @path leads to it from
 * node 0.
 */
u64 mgmt_writes(const u8 *path, u32 hops);
/* SET requests, with the number of SETs that the router has accepted so far. */
struct angara_mgmt mgmt_set(const u8 *path, u32 hops, u32 attr, u32 modifier, u64 key);
struct angara_mgmt mgmt_key(const u8 *path, u32 hops, u64 old, u64 new, u32 flags);
/* Return: number of packets dropped, summed over all routers. */
u64 mgmt_dropped(void);

#endif /* TEST_MGMT_H */
