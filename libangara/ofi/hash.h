/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hash tables that grow with their contents.  A table of zeroes is empty.  A
 * node is embedded in its object, which must not move while it is in the table.
 */
#ifndef AFI_HASH_H
#define AFI_HASH_H

#include "ang_env.h"

/**
 * struct afi_node - a member of a table
 * @next: next in its chain
 * @hash: hash of its key
 */
struct afi_node {
	struct afi_node *next;
	u32 hash;
};

/**
 * struct afi_hash - a table
 * @chains: @size of them
 * @size: 0 or a power of two
 * @count: members
 */
struct afi_hash {
	struct afi_node **chains;
	u32 size;
	u32 count;
};

/* Hash of two numbers; similar numbers have very different hashes. */
static inline u32 afi_mix(u64 a, u64 b)
{
	u64 x = (a + b * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL;

	return (u32)(x >> 32);
}

/* First node with @hash in a chain, from @node on; or NULL. */
static inline struct afi_node *afi_hash_next(struct afi_node *node, u32 hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

static inline struct afi_node *afi_hash_first(const struct afi_hash *h, u32 hash)
{
	return h->size ? afi_hash_next(h->chains[hash & (h->size - 1)], hash) :
			 NULL;
}

int afi_hash_add(struct afi_hash *h, struct afi_node *node, u32 hash);
void afi_hash_del(struct afi_hash *h, struct afi_node *node);
struct afi_node *afi_hash_pop(struct afi_hash *h);
void afi_hash_clear(struct afi_hash *h);
void afi_hash_free(struct afi_hash *h);

#endif /* AFI_HASH_H */
