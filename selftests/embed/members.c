// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * See members.h.  Uses library internals, since a team normally has one process
 * per member.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/topo.h>
#include <linux/angara.h>

#include "members.h"
#include "../common/alone.h"

struct member member[MAX_MEMBERS];
struct angara_peer peers[MAX_MEMBERS];
u32 member_area;

/*
 * Gives a member memory.  All members have the key that the device assigns to
 * the first one.
 */
static void give_memory(struct member *m, size_t len)
{
	size_t mapped;
	void *addr;

	if (m == member) {
		CHECK(alone_malloc(m->ctx, len, &m->mr));
		return;
	}
	CHECK(ang_mr_map(m->ctx->dom, len, 1, &addr, &mapped));
	CHECK(angara_mr_reg_key(m->ctx->dom, addr, len, ANGARA_ACCESS_ALL,
				angara_mr_key(member[0].mr), &m->mr));
	m->mr->mapped = mapped;
}

static void open_member(unsigned int i, unsigned int n, size_t len,
			const struct angara_tree_row *row)
{
	struct angara_tree_set set = ANG_CMD_INIT(struct angara_tree_set);
	struct angara_ctx_attr attr = {
		.size = sizeof(attr), .msg_bytes = member_area,
	};
	struct member *m = &member[i];
	char name[16];

	snprintf(name, sizeof(name), "%u", i);
	CHECK(alone_open(name, &attr, &m->ctx));
	give_memory(m, len);
	set.row = *row;
	set.row.pkey = m->ctx->dom->pkey;
	set.row.epoch = 1;
	CHECK(ang_dev_cmd(&m->ctx->dom->dev, ANGARA_IOCTL_TREE_SET, &set));
	peers[i].node = i;
	m->team = (struct angara_team){
		.ctx = m->ctx, .rank = i, .size = n, .peers = peers,
		.epoch = set.row.epoch, .offloaded = true,
	};
}

void team_set_up(unsigned int n, size_t len)
{
	struct angara_join join = ANG_CMD_INIT(struct angara_join);
	struct angara_topo topo = { .ndims = 1, .dims = { (u16)n } };
	struct angara_tree_row rows[MAX_MEMBERS];
	u16 pe[MAX_MEMBERS];
	char fabric[32];
	unsigned int i;

	snprintf(fabric, sizeof(fabric), "embedded:%u,heap=64", n);
	setenv("ANGARA_FABRIC", fabric, 1);
	for (i = 0; i < n; i++)
		pe[i] = 1;
	if (angara_tree_build(&topo, 0, pe, 0, rows) != (int)n)
		errx(1, "cannot build a tree of all nodes");
	for (i = 0; i < n; i++)
		open_member(i, n, len, &rows[i]);
	for (i = 0; i < n; i++)
		CHECK(ang_dev_cmd(&member[i].ctx->dev, ANGARA_IOCTL_JOIN, &join));
}

void team_end(unsigned int n)
{
	while (n--)
		angara_ctx_close(member[n].ctx);
}
