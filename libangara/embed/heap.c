// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process's part of the segment: whole pages, first fit.
 *
 * Only the process itself knows which pages are allocated; after its death its
 * whole part is freed.  New pages are zero, since freed pages are removed from
 * the file.
 *
 * emb_fab.mutex protects all calls, except those that allocate or free pages.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "embed.h"

/**
 * struct emb_extent - allocated pages
 * @next: next extent
 * @off: offset in the heap
 * @len: bytes
 */
struct emb_extent {
	struct emb_extent *next;
	u64 off;
	u64 len;
};

static void heap_punch(struct emb_fab *fab, u64 at, u64 len)
{
	while (fallocate(fab->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			 (off_t)at, (off_t)len) && errno == EINTR)
		;
}

static u64 whole_pages(u64 len)
{
	return (len + ANGARA_PAGE_SIZE - 1) & ~(ANGARA_PAGE_SIZE - 1ULL);
}

/*
 * First offset in the heap, from @off on, whose address is a multiple of
 * @align.
 */
static u64 heap_aligned(const struct emb_fab *fab, u64 off, u64 align)
{
	u64 at = (uintptr_t)fab->head + emb_heap_at(fab, fab->slot) + off;

	return off + (-at & (align - 1));
}

/**
 * emb_heap_claim() - allocate a range, without pages
 * @fab: fabric
 * @len: bytes, not 0
 * @align: the address in this process is a multiple of this power of two, and
 *	of a page
 * @off: out: offset in the segment
 *
 * Return: 0; -ENOMEM.
 */
int emb_heap_claim(struct emb_fab *fab, u64 len, u64 align, u64 *off)
{
	struct emb_extent **at = &fab->heap, *new;
	u64 span = fab->head->heap_span, start = heap_aligned(fab, 0, align);

	if (len > span)
		return -ENOMEM;
	len = whole_pages(len);
	for (; *at && ((*at)->off < start || (*at)->off - start < len); at = &(*at)->next)
		start = heap_aligned(fab, (*at)->off + (*at)->len, align);
	if (start > span || span - start < len)
		return -ENOMEM;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	*new = (struct emb_extent){ .next = *at, .off = start, .len = len };
	*at = new;
	*off = emb_heap_at(fab, fab->slot) + start;
	return 0;
}

/**
 * emb_heap_fill() - allocate zeroed pages for a range
 * @fab: fabric
 * @off: offset from emb_heap_claim()
 * @len: as for emb_heap_claim()
 *
 * Context: any, also without a lock: allocating pages may be slow.
 *
 * Return: 0; -ENOMEM: no page was allocated.
 */
int emb_heap_fill(struct emb_fab *fab, u64 off, u64 len)
{
	if (!emb_reserve(fab->fd, off, whole_pages(len)))
		return 0;
	emb_heap_empty(fab, off, len);
	return -ENOMEM;
}

/**
 * emb_heap_empty() - free the pages of a range, which stays allocated
 * @fab: fabric
 * @off: offset from emb_heap_claim()
 * @len: as for emb_heap_claim()
 *
 * Context: any, also without a lock: freeing pages may be slow.
 */
void emb_heap_empty(struct emb_fab *fab, u64 off, u64 len)
{
	heap_punch(fab, off, whole_pages(len));
}

/**
 * emb_heap_unclaim() - free a range that has no pages
 * @fab: fabric
 * @off: offset from emb_heap_claim()
 */
void emb_heap_unclaim(struct emb_fab *fab, u64 off)
{
	struct emb_extent **at, *old;

	off -= emb_heap_at(fab, fab->slot);
	for (at = &fab->heap; *at && (*at)->off != off; at = &(*at)->next)
		;
	old = *at;
	if (!old)
		return;
	*at = old->next;
	free(old);
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
	int ret = emb_heap_claim(fab, len, 1, off);

	if (ret)
		return ret;
	ret = emb_heap_fill(fab, *off, len);
	if (ret)
		emb_heap_unclaim(fab, *off);
	return ret;
}

void emb_heap_free(struct emb_fab *fab, u64 off)
{
	const struct emb_extent *e = fab->heap;

	while (e && emb_heap_at(fab, fab->slot) + e->off != off)
		e = e->next;
	if (!e)
		return;
	emb_heap_empty(fab, off, e->len);
	emb_heap_unclaim(fab, off);
}

/* Is this part of the segment within one allocation? */
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

/* Is this part of the segment within the heap of one other process? */
bool emb_heap_is_other(const struct emb_fab *fab, u64 off, u64 len)
{
	u64 span = fab->head->heap_span, in, slot;

	if (off < emb_heap_at(fab, 0))
		return false;
	slot = (off - emb_heap_at(fab, 0)) / span;
	in = (off - emb_heap_at(fab, 0)) % span;
	return slot < fab->head->procs && slot != fab->slot && len <= span - in;
}

/* Frees the whole heap of a process. */
void emb_heap_drop(struct emb_fab *fab, u32 slot)
{
	heap_punch(fab, emb_heap_at(fab, slot), fab->head->heap_span);
}

/* Frees the list of extents; the pages stay. */
void emb_heap_forget(struct emb_fab *fab)
{
	while (fab->heap) {
		struct emb_extent *e = fab->heap;

		fab->heap = e->next;
		free(e);
	}
}
