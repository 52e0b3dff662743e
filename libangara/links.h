/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Links of trees, and lists of links that are down. */
#ifndef ANG_LINKS_H
#define ANG_LINKS_H

#include <linux/angara.h>
#include <angara/topo.h>

#include "ang_env.h"

struct angara_failure;

/**
 * struct ang_links - links that are down, each once, in ascending order
 * @link: links, by the end whose router has the lower number
 * @n: number of links
 * @room: links for which there is memory
 */
struct ang_links {
	struct angara_failure *link;
	u32 n;
	u32 room;
};

/**
 * struct ang_end - one end of a link
 * @router: router
 * @port: its port
 */
struct ang_end {
	u32 router;
	u32 port;
};

/** ang_row_uses() - does a tree with this row use the link at a port of its router? */
static inline bool ang_row_uses(const struct angara_tree_row *row, u32 port)
{
	return angara_tree_has(row) &&
	       (row->ports >> port & 1 || (!row->is_root && row->to_root == port));
}

int ang_links_add(struct ang_links *links, struct ang_end a, struct ang_end b);
void ang_links_free(struct ang_links *links);

/* netlink.c */
int ang_netlink_links(u64 fabric_id, struct ang_links *links);

#endif /* ANG_LINKS_H */
