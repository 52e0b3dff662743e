// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions: from key and offset to host memory.  Packets name a region by
 * its whole key, a context names its own regions by their slots.
 *
 * The table of regions and the lists of pages are in host memory; the driver
 * writes them.  The device reads an entry again for every train, so
 * ANGARA_ADM_FENCE only has to wait until the view that holds the node executes
 * this command.
 */
#include "ang_int.h"

static int mr_read64(struct ang_view *v, struct ang_node *n, u64 addr, u64 *val)
{
	__le64 raw = 0;
	int rc = ang_dma_read(v, n, addr, &raw, sizeof(raw));

	*val = le64_to_cpu(raw);
	return rc;
}

/*
 * ang_pages_load() - slow path of ang_pages_at(): look up page @index, which is
 * not the page looked up last
 */
int ang_pages_load(struct ang_view *v, struct ang_node *n,
		   struct ang_pages *pages, u32 index)
{
	int rc;

	pages->index = 0;
	rc = mr_read64(v, n, pages->list + 8ULL * index, &pages->addr);
	if (!rc)
		pages->index = index + 1;
	return rc;
}

static u32 mr_entry(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		    u32 slot, struct angara_hw_mr *mr)
{
	struct ang_dom *d = ang_dom(v->fab, n, c->dom);
	struct ang_pages *mrt = &d->mrt;
	struct ang_pages seen;
	u64 addr;

	if (slot >= d->mrs)
		return ANGARA_ST_KEY;
	/*
	 * Several threads may be in lanes of the node: use a copy of the cached
	 * page, so none of them changes it.
	 */
	if (READ_ONCE(n->lanes)) {
		seen = d->mrt;
		mrt = &seen;
	}
	if (ang_pages_at(v, n, mrt, (u64)slot * sizeof(*mr), &addr) ||
	    ang_dma_read(v, n, addr, mr, sizeof(*mr)))
		return ANGARA_ST_DMA;
	if (mr->valid != 1)
		return ANGARA_ST_KEY;
	if (mr->levels > 2 || mr->page_shift < 12 || mr->page_shift > 30)
		return ANGARA_ST_DMA;
	return ANGARA_ST_OK;
}

static u32 mr_grants(const struct angara_hw_mr *mr, u64 off, u32 len, u32 access)
{
	u64 size = le64_to_cpu(mr->length);

	if ((mr->access & access) != access)
		return ANGARA_ST_ACCESS;
	if (off > size || len > size - off)
		return ANGARA_ST_BOUNDS;
	return ANGARA_ST_OK;
}

/* Find a context's own region by its slot. */
static u32 mr_own(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		  u32 slot, u64 off, u32 len, u32 access,
		  struct angara_hw_mr *mr)
{
	u32 status = mr_entry(v, n, c, slot, mr);

	return status ? status : mr_grants(mr, off, len, access);
}

/**
 * ang_mr_find() - find the region that a packet names
 * @v: view
 * @n: node
 * @c: context of the region's domain
 * @key: key of the region; its random bits have to match, too
 * @off: offset in the region
 * @len: bytes
 * @access: rights that the region must grant, ANGARA_ACCESS_*
 * @mr: out: entry of the region
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_mr_find(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u64 key, u64 off, u32 len, u32 access, struct angara_hw_mr *mr)
{
	u32 status = mr_entry(v, n, c, ANGARA_MR_SLOT(key), mr);

	if (status)
		return status;
	if (le64_to_cpu(mr->key) != key)
		return ANGARA_ST_KEY;
	return mr_grants(mr, off, len, access);
}

/*
 * Get the DMA address of the byte at offset @at from the start of the region's
 * first page, and the number of contiguous bytes there.
 */
static int mr_locate(struct ang_view *v, struct ang_node *n,
		     const struct angara_hw_mr *mr, u64 at, u64 *addr, u32 *room)
{
	u64 page = at >> mr->page_shift;
	u64 in_page = at & ((1ULL << mr->page_shift) - 1);
	u64 list = le64_to_cpu(mr->addr);
	int rc = 0;

	*room = (u32)((1ULL << mr->page_shift) - in_page);
	if (mr->levels == 2) {
		rc = mr_read64(v, n, list + 8 * (page / ANGARA_MR_LIST_ENTRIES),
			       &list);
		page %= ANGARA_MR_LIST_ENTRIES;
	}
	if (!rc)
		rc = mr_read64(v, n, list + 8 * page, addr);
	*addr += in_page;
	return rc;
}

/*
 * ang_mr_copy() - copy from a region to @to; if @to is NULL, copy from @from to
 * the region
 */
u32 ang_mr_copy(struct ang_view *v, struct ang_node *n,
		const struct angara_hw_mr *mr, u64 off, u32 len, void *to,
		const void *from)
{
	u64 at = off + le32_to_cpu(mr->first);
	u32 done = 0;

	while (done < len) {
		u64 addr = le64_to_cpu(mr->addr) + off + done;
		u32 room = len - done;
		int rc = 0;

		if (mr->levels)
			rc = mr_locate(v, n, mr, at + done, &addr, &room);
		room = ang_min(room, len - done);
		if (!rc && to)
			rc = ang_dma_read(v, n, addr,
					      (char *)to + done, room);
		else if (!rc)
			rc = ang_dma_write(v, n, addr,
					       (const char *)from + done, room);
		if (rc)
			return ANGARA_ST_DMA;
		done += room;
	}
	return ANGARA_ST_OK;
}

/** ang_mr_read() - copy from the region that a packet names to @buf */
u32 ang_mr_read(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u64 key, u64 off, u32 len, void *buf)
{
	struct angara_hw_mr mr;
	u32 status = ang_mr_find(v, n, c, key, off, len,
				 ANGARA_ACCESS_REMOTE_READ, &mr);

	return status ? status : ang_mr_copy(v, n, &mr, off, len, buf, NULL);
}

/** ang_mr_write() - copy from @buf to the region that a packet names */
u32 ang_mr_write(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 u64 key, u64 off, u32 len, const void *buf)
{
	struct angara_hw_mr mr;
	u32 status = ang_mr_find(v, n, c, key, off, len,
				 ANGARA_ACCESS_REMOTE_WRITE, &mr);

	return status ? status : ang_mr_copy(v, n, &mr, off, len, NULL, buf);
}

/**
 * ang_mr_check() - may a context access its own region?
 * @v: view
 * @n: node
 * @c: context
 * @slot: slot of the region
 * @off: offset in the region
 * @len: bytes
 * @access: rights that the region must grant, ANGARA_ACCESS_*
 *
 * Return: ANGARA_ST_*.
 */
u32 ang_mr_check(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		 u32 slot, u64 off, u32 len, u32 access)
{
	struct angara_hw_mr mr;

	return mr_own(v, n, c, slot, off, len, access, &mr);
}

/** ang_mr_give() - copy from a context's own region to @buf */
u32 ang_mr_give(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u32 slot, u64 off, u32 len, void *buf)
{
	struct angara_hw_mr mr;
	u32 status = mr_own(v, n, c, slot, off, len, 0, &mr);

	return status ? status : ang_mr_copy(v, n, &mr, off, len, buf, NULL);
}

/** ang_mr_keep() - copy from @buf to a context's own region */
u32 ang_mr_keep(struct ang_view *v, struct ang_node *n, struct ang_ctx *c,
		u32 slot, u64 off, u32 len, const void *buf)
{
	struct angara_hw_mr mr;
	u32 status = mr_own(v, n, c, slot, off, len,
			    ANGARA_ACCESS_LOCAL_WRITE, &mr);

	return status ? status : ang_mr_copy(v, n, &mr, off, len, NULL, buf);
}
