// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes local memory accessible to the adapter: by a region that the program
 * has registered, by a buffer of the domain, or by a region that the library
 * registers and caches.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"

static_assert(AFI_POOL_PLACES == 64, "a bit for each in afi_pool.used");

static int pool_init(struct afi_domain *d, struct afi_pool *p,
		     unsigned int access)
{
	int ret = angara_malloc_access(d->dom, (size_t)AFI_POOL_PLACES *
				       AFI_PLACE_BYTES, access, &p->mr);

	if (!ret)
		p->mem = angara_mr_addr(p->mr);
	return ret;
}

int afi_local_init(struct afi_domain *d)
{
	int ret = pool_init(d, &d->bounce, ANGARA_ACCESS_LOCAL_WRITE);

	if (!ret && d->has_msgs)
		ret = pool_init(d, &d->stage, ANGARA_ACCESS_REMOTE_READ);
	return ret;
}

static u32 local_places(size_t len)
{
	return len ? (u32)((len - 1) / AFI_PLACE_BYTES + 1) : 1;
}

/* Takes consecutive buffers of a pool.  Return: false: not enough are free. */
static bool local_borrow(struct afi_pool *p, struct afi_local *l, size_t len)
{
	u64 starts = ~p->used;
	u32 i;

	for (i = 1; i < local_places(len); i++)
		starts &= ~p->used >> i;
	if (!starts)
		return false;
	i = (u32)__builtin_ctzll(starts);
	p->used |= ((1ULL << local_places(len)) - 1) << i;
	l->pool = p;
	l->mr = p->mr;
	l->off = (u64)i * AFI_PLACE_BYTES;
	l->len = len;
	return true;
}

static void give_back(struct afi_local *l)
{
	l->pool->used &= ~(((1ULL << local_places(l->len)) - 1) <<
			   (l->off / AFI_PLACE_BYTES));
	l->pool = NULL;
}

static bool local_covers(const struct afi_mr *mr, const char *addr, size_t len)
{
	return mr && addr >= mr->base && (size_t)(addr - mr->base) <= mr->len &&
	       len <= mr->len - (size_t)(addr - mr->base);
}

/**
 * afi_local_get() - make memory accessible to the adapter
 * @d: domain, locked
 * @ep: endpoint of the operation
 * @l: out
 * @addr: memory
 * @len: bytes
 * @desc: descriptor of the region that contains it, or NULL
 * @write: the adapter writes to it
 *
 * Return: 0; -FI_EAGAIN all buffers or regions are in use by operations in
 * progress; -FI_EFAULT not mapped; -FI_ENOMEM it cannot be pinned.
 */
int afi_local_get(struct afi_domain *d, const struct afi_ep *ep,
		  struct afi_local *l, void *addr, size_t len, void *desc,
		  bool write)
{
	const struct afi_mr *mr = desc;
	int ret;

	*l = (struct afi_local){ .addr = addr, .len = len };
	if (local_covers(mr, addr, len) && (!write || mr->writable)) {
		l->mr = mr->mr;
		l->off = (u64)((char *)addr - mr->base);
		return 0;
	}
	if (len <= AFI_BOUNCE_BYTES && local_borrow(&d->bounce, l, len)) {
		if (!write && len)
			memcpy(d->bounce.mem + l->off, addr, len);
		return 0;
	}
	ret = afi_temp_hold(d, ep, addr, len,
			    write ? ANGARA_ACCESS_LOCAL_WRITE : 0, &l->mr,
			    &l->off);
	l->temp = !ret;
	return ret == -FI_ENOSPC ? -FI_EAGAIN : ret;
}

/**
 * afi_local_stage() - allocate a buffer that peers may read
 * @d: domain, locked
 * @l: out
 * @len: bytes
 *
 * Return: buffer; NULL none is free, or none of that size.
 */
char *afi_local_stage(struct afi_domain *d, struct afi_local *l, size_t len)
{
	*l = (struct afi_local){ 0 };
	if (len > AFI_BOUNCE_BYTES || !local_borrow(&d->stage, l, len))
		return NULL;
	return d->stage.mem + l->off;
}

/*
 * Releases memory from afi_local_get() or afi_local_stage().  @back: first copy data
 * that arrived in a buffer to the program's memory.
 */
void afi_local_put(struct afi_domain *d, struct afi_local *l, bool back)
{
	if (l->temp) {
		afi_temp_release(d, l->mr);
	} else if (l->pool) {
		if (back && l->len)
			memcpy(l->addr, l->pool->mem + l->off, l->len);
		give_back(l);
	}
}
