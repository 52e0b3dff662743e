// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Address vectors.  An fi_addr_t is an index in a table, also with FI_AV_MAP; a
 * hash table maps the address of a sender to its index.
 */
#include <stdlib.h>

#include "afi.h"

#define AFI_AV_FIRST	64U

static_assert(AFI_AV_MAX <= 1ULL << (64 - AFI_RX_CTX_BITS),
	      "an address has room for an entry and a context");

static u32 hash_of(const struct afi_name *name)
{
	return afi_mix((u64)name->serial << 32 | name->node,
		       (u32)name->ctx << 16 | name->ep);
}

/*
 * Adds an entry to the hash table. Return: 0; -FI_ENOMEM, only for the first
 * entry.
 */
static int av_link(struct afi_av *av, struct afi_peer *peer)
{
	return afi_hash_add(&av->found, &peer->node, hash_of(&peer->name));
}

/*
 * Enlarges the table.  Its entries move, so adds all of them to the hash table
 * again.
 */
int afi_av_grow(struct afi_av *av)
{
	u32 size = av->size ? 2 * av->size : AFI_AV_FIRST;
	struct afi_peer *peers;
	u32 i;

	if (size > AFI_AV_MAX)
		return -FI_ENOMEM;
	peers = realloc(av->peers, size * sizeof(*peers));
	if (!peers)
		return -FI_ENOMEM;
	av->peers = peers;
	av->size = size;
	afi_hash_clear(&av->found);
	for (i = 0; i < av->num; i++)
		if (peers[i].used)
			av_link(av, &peers[i]);
	return 0;
}

static bool av_valid(const struct afi_av *av, const struct afi_name *name)
{
	return name->fabric_id == av->domain->about.fabric_id &&
	       !name->reserved && name->ep < AFI_EPS;
}

static int av_put(struct afi_av *av, u32 index, const struct afi_name *name)
{
	struct afi_peer *peer = &av->peers[index];

	*peer = (struct afi_peer){ .name = *name };
	peer->used = !av_link(av, peer);
	return peer->used ? 0 : -FI_ENOMEM;
}

/* Applies changes that other processes made to a shared table. */
void afi_av_sync(struct afi_av *av)
{
	struct afi_name name;
	u32 seq, i;
	int num = av->share ? afi_share_news(av->share, &seq) : -1;

	if (num < 0)
		return;
	afi_hash_clear(&av->found);
	av->num = 0;
	for (i = 0; i < (u32)num; i++) {
		if (!afi_share_get(av->share, i, &name) ||
		    !av_valid(av, &name) || av_put(av, i, &name))
			av->peers[i].used = false;
		av->num = i + 1;
	}
	afi_share_seen(av->share, seq);
}

/* Adds an address in the lowest entry that is not used. */
int afi_av_add(struct afi_av *av, const struct afi_name *name, fi_addr_t *addr)
{
	u32 at = av->num;

	*addr = FI_ADDR_NOTAVAIL;
	if (!av_valid(av, name))
		return -FI_EINVAL;
	if (av->share)
		return afi_share_add(av->share, name, addr);
	if (!av->spares && av->num == av->size && afi_av_grow(av))
		return -FI_ENOMEM;
	if (av->spares)
		for (at = av->low; av->peers[at].used; at++)
			;
	if (av_put(av, at, name))
		return -FI_ENOMEM;
	if (av->spares) {
		av->spares--;
		av->low = at + 1;
	} else {
		av->num++;
	}
	*addr = at;
	return 0;
}

struct afi_peer *afi_av_peer(struct afi_av *av, fi_addr_t addr)
{
	afi_av_sync(av);
	return addr < av->num && av->peers[addr].used ? &av->peers[addr] : NULL;
}

void afi_av_drop(struct afi_av *av, struct afi_peer *peer)
{
	u32 at = (u32)(peer - av->peers);

	afi_hash_del(&av->found, &peer->node);
	peer->used = false;
	if (!av->spares++ || at < av->low)
		av->low = at;
}

/* Address of a peer, NULL if there is none.  The domain is locked. */
const struct afi_name *afi_av_get(struct afi_av *av, fi_addr_t addr)
{
	const struct afi_peer *peer = afi_av_peer(av, addr);

	return peer ? &peer->name : NULL;
}

/*
 * Clears the bits of an address in which fi_rx_addr() has stored a receive
 * context.
 */
fi_addr_t afi_av_entry(const struct afi_av *av, fi_addr_t addr)
{
	return addr & (UINT64_MAX >> av->ctx_bits);
}

/*
 * Resolves an address: an endpoint, or a receive context of a scalable
 * endpoint; the numbers of receive contexts are consecutive.  The domain is
 * locked.  Return: 0; -FI_EINVAL there is no such peer.
 */
int afi_av_target(struct afi_av *av, fi_addr_t addr, struct afi_name *name)
{
	u64 index = av->ctx_bits ? addr >> (64 - av->ctx_bits) : 0;
	const struct afi_name *base = afi_av_get(av, afi_av_entry(av, addr));

	if (!base || index >= AFI_EP_CTXS || base->ep + index >= AFI_EPS)
		return -FI_EINVAL;
	*name = *base;
	name->ep += (u16)index;
	return 0;
}

/* Return: index of a name; FI_ADDR_NOTAVAIL if it has not been inserted. */
fi_addr_t afi_av_find(struct afi_av *av, const struct afi_name *name)
{
	const u32 hash = hash_of(name);
	struct afi_node *node;

	afi_av_sync(av);
	for (node = afi_hash_first(&av->found, hash); node;
	     node = afi_hash_next(node->next, hash)) {
		const struct afi_peer *peer = afi_of(node, struct afi_peer, node);

		if (afi_name_same(&peer->name, name))
			return (fi_addr_t)(peer - av->peers);
	}
	return FI_ADDR_NOTAVAIL;
}
