// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests the provider's tables of objects. Includes the provider's own sources.
 */
#include <stdlib.h>
#include <string.h>

#include "util/hash.c"
#include "util/objects.c"

#include "fi.h"

#define MANY	10000U

struct thing {
	struct afi_node node;
	u32 number;
};

static u32 longest(const struct afi_hash *h)
{
	u32 most = 0, i;

	for (i = 0; i < h->size; i++) {
		const struct afi_node *node;
		u32 n = 0;

		for (node = h->chains[i]; node; node = node->next)
			n++;
		most = n > most ? n : most;
	}
	return most;
}

static struct thing *find(const struct afi_hash *h, u32 number)
{
	const u32 hash = afi_mix(number, 0);
	struct afi_node *node;

	for (node = afi_hash_first(h, hash); node;
	     node = afi_hash_next(node->next, hash)) {
		struct thing *t = afi_of(node, struct thing, node);

		if (t->number == number)
			return t;
	}
	return NULL;
}

/* Chains stay short for any number of members. */
static bool hashes(void)
{
	struct thing *things = calloc(MANY, sizeof(*things));
	struct afi_hash h = { 0 };
	bool ok = expect(find(&h, 0) == NULL, true);
	u32 i;

	for (i = 0; ok && i < MANY; i++) {
		things[i].number = i;
		ok = expect(afi_hash_add(&h, &things[i].node, afi_mix(i, 0)), 0);
	}
	ok = ok && expect(h.count, MANY) && expect(longest(&h) <= 12, true);
	for (i = 0; ok && i < MANY; i += 2)
		afi_hash_del(&h, &things[i].node);
	for (i = 0; ok && i < MANY; i++)
		ok = expect(find(&h, i) == (i & 1 ? &things[i] : NULL), true);
	for (i = 0; ok && i < MANY / 2; i++)
		ok = expect(afi_hash_pop(&h) != NULL, true);
	ok = ok && expect(afi_hash_pop(&h) == NULL, true) && expect(h.count, 0);
	/* Entries with equal hashes are distinguished. */
	for (i = 0; ok && i < 3; i++)
		ok = expect(afi_hash_add(&h, &things[i].node, afi_mix(1, 0)), 0);
	ok = ok && expect(find(&h, 1) == &things[1], true);
	afi_hash_clear(&h);
	ok = ok && expect(find(&h, 1) == NULL, true);
	afi_hash_free(&h);
	free(things);
	return ok;
}

/* Objects do not overlap, and freed ones are reused. */
static bool objects(void)
{
	static char *taken[MANY];
	const size_t size = 100;
	struct afi_objects o;
	size_t chunks = 0;
	const struct afi_link *link;
	bool ok = true;
	u32 i, round;

	afi_objects_init(&o, size);
	for (round = 0; ok && round < 2; round++) {
		for (i = 0; ok && i < MANY; i++) {
			taken[i] = afi_objects_take(&o);
			ok = expect(taken[i] != NULL, true) &&
			     expect((uintptr_t)taken[i] %
				    _Alignof(max_align_t), 0);
			if (ok)
				fill(taken[i], size, i);
		}
		for (i = 0; ok && i < MANY; i++) {
			ok = expect(filled(taken[i], size, i), true);
			afi_objects_give(&o, taken[i]);
		}
	}
	for (link = o.chunks.next; link != &o.chunks; link = link->next)
		chunks++;
	ok = ok && expect((long long)chunks, (MANY + AFI_CHUNK - 1) / AFI_CHUNK);
	afi_objects_free(&o);
	return ok;
}

const struct part table_parts[] = {
	{ "tables: chains in tables that grow", hashes },
	{ "tables: freed objects are reused", objects },
	{ 0 },
};
