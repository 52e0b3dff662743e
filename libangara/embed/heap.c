// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process's part of the segment: whole pages, first fit.
 *
 * What is allocated is known to its process alone; when that dies, the whole
 * part is given back.  Pages come zeroed, as they do not exist before.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "embed.h"

/**
 * struct emb_extent - allocated pages
 * @next: behind it
 * @off: where, in the heap
 * @len: bytes
 */
struct emb_extent {
	struct emb_extent *next;
	u64 off;
	u64 len;
};

static void punch(struct emb_fab *fab, u64 at, u64 len)
{
	while (fallocate(fab->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)at, (off_t)len) && errno == EINTR)
		;
}

/**
 * emb_heap_alloc() - allocate zeroed pages
 * @fab: fabric
 * @len: bytes, not 0
 * @off: out: offset in the segment
 *
 * Return: 0; -ENOMEM.
 */
int emb_heap_alloc(struct emb_fab *fab, u64 len, u64 *off)
{
	struct emb_extent **at = &fab->heap, *new;
	u64 end = 0;

	if (len > fab->head->heap_span)
		return -ENOMEM;
	len = (len + ANGARA_PAGE_SIZE - 1) & ~(ANGARA_PAGE_SIZE - 1ULL);
	for (; *at && (*at)->off - end < len; at = &(*at)->next)
		end = (*at)->off + (*at)->len;
	if (fab->head->heap_span - end < len)
		return -ENOMEM;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	*off = emb_heap_at(fab, fab->slot) + end;
	if (emb_reserve(fab->fd, *off, len)) {
		/* Some of it may be there. */
		punch(fab, *off, len);
		free(new);
		return -ENOMEM;
	}
	*new = (struct emb_extent){ .next = *at, .off = end, .len = len };
	*at = new;
	return 0;
}

void emb_heap_free(struct emb_fab *fab, u64 off)
{
	struct emb_extent **at, *old;

	off -= emb_heap_at(fab, fab->slot);
	for (at = &fab->heap; *at && (*at)->off != off; at = &(*at)->next)
		;
	old = *at;
	if (!old)
		return;
	*at = old->next;
	punch(fab, emb_heap_at(fab, fab->slot) + old->off, old->len);
	free(old);
}

/* Is all of this part of the segment allocated, in one piece? */
bool emb_heap_has(const struct emb_fab *fab, u64 off, u64 len)
{
	u64 base = emb_heap_at(fab, fab->slot);
	const struct emb_extent *e;

	if (off < base)
		return false;
	off -= base;
	for (e = fab->heap; e; e = e->next)
		if (off >= e->off && off - e->off <= e->len &&
		    len <= e->len - (off - e->off))
			return true;
	return false;
}

/* Gives back all that a process had. */
void emb_heap_drop(struct emb_fab *fab, u32 slot)
{
	punch(fab, emb_heap_at(fab, slot), fab->head->heap_span);
}

/* Forgets what is allocated; the pages stay. */
void emb_heap_forget(struct emb_fab *fab)
{
	while (fab->heap) {
		struct emb_extent *e = fab->heap;

		fab->heap = e->next;
		free(e);
	}
}
