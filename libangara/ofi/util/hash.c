// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "afi.h"

#define AFI_HASH_FIRST	64U	/* first number of chains */

static void hash_link(struct afi_hash *h, struct afi_node *node)
{
	struct afi_node **chain = &h->chains[node->hash & (h->size - 1)];

	node->next = *chain;
	*chain = node;
}

/* Grows the table; without memory the chains get longer instead. */
static void hash_grow(struct afi_hash *h)
{
	struct afi_hash to = {
		.size = h->size ? 2 * h->size : AFI_HASH_FIRST,
		.count = h->count,
	};
	u32 i;

	to.chains = calloc(to.size, sizeof(*to.chains));
	if (!to.chains)
		return;
	for (i = 0; i < h->size; i++)
		while (h->chains[i]) {
			struct afi_node *node = h->chains[i];

			h->chains[i] = node->next;
			hash_link(&to, node);
		}
	free(h->chains);
	*h = to;
}

/**
 * afi_hash_add() - add a member to a table
 * @h: table
 * @node: member
 * @hash: hash of its key
 *
 * Return: 0; -FI_ENOMEM only for the first member.
 */
int afi_hash_add(struct afi_hash *h, struct afi_node *node, u32 hash)
{
	if (h->count >= h->size)
		hash_grow(h);
	if (!h->size)
		return -FI_ENOMEM;
	node->hash = hash;
	hash_link(h, node);
	h->count++;
	return 0;
}

void afi_hash_del(struct afi_hash *h, struct afi_node *node)
{
	struct afi_node **at = &h->chains[node->hash & (h->size - 1)];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	h->count--;
}

/* Removes any member of a table.  Return: the member; NULL: the table is empty. */
struct afi_node *afi_hash_pop(struct afi_hash *h)
{
	u32 i;

	for (i = 0; h->count && i < h->size; i++)
		if (h->chains[i]) {
			struct afi_node *node = h->chains[i];

			afi_hash_del(h, node);
			return node;
		}
	return NULL;
}

/* Removes all members; the table keeps its size. */
void afi_hash_clear(struct afi_hash *h)
{
	if (h->size)
		memset(h->chains, 0, h->size * sizeof(*h->chains));
	h->count = 0;
}

void afi_hash_free(struct afi_hash *h)
{
	free(h->chains);
	*h = (struct afi_hash){ 0 };
}
