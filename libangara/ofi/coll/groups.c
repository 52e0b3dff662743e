// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The groups of a domain: by address, by number, and those with work. */
#include "coll.h"

struct afi_group *afi_group_at(const struct afi_domain *d, fi_addr_t addr)
{
	u32 slot = (u32)addr;
	struct afi_group *g;

	if (!d->coll || slot >= d->coll->nslots)
		return NULL;
	g = d->coll->slots[slot];
	return g && g->fid.fi_addr == addr ? g : NULL;
}

struct afi_group *afi_group_by_id(const struct afi_domain *d,
				  const struct afi_ep *ep, u64 id)
{
	const u32 hash = afi_mix(id, 0);
	struct afi_node *node;

	for (node = afi_hash_first(&d->coll->groups, hash); node;
	     node = afi_hash_next(node->next, hash)) {
		struct afi_group *g = afi_of(node, struct afi_group, node);

		if (g->id == id && g->ep == ep)
			return g;
	}
	return NULL;
}

void afi_group_set_busy(struct afi_group *g)
{
	if (g->is_busy)
		return;
	g->is_busy = true;
	afi_list_add(&g->domain->coll->busy, &g->busy);
}

u64 afi_digest(u64 hash, const void *data, size_t len)
{
	const u8 *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001B3ULL;
	return hash;
}
