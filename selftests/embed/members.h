/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A team whose members are contexts of one process, one on each node of a ring:
 * for tools that analyse one process.
 */
#ifndef EMBED_MEMBERS_H
#define EMBED_MEMBERS_H

#include "team.h"
#include "check.h"

#define MAX_MEMBERS	16

struct member {
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	struct angara_team team;
};

extern struct member member[MAX_MEMBERS];
extern struct angara_peer peers[MAX_MEMBERS];
/* Bytes of the receive buffer that team_set_up() gives each member. */
extern u32 member_area;

/* Makes a team of @n members, each with @len bytes of memory. */
void team_set_up(unsigned int n, size_t len);
void team_end(unsigned int n);

#endif /* EMBED_MEMBERS_H */
