// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions of the program.  If the device has no room for a region, the
 * cache of registrations frees ranges that no operation holds.
 */
#include <errno.h>
#include <unistd.h>

#include "lib.h"

ANG_PUBLIC int angara_mr_reg(struct angara_domain *dom, void *addr, size_t len,
			     unsigned int access, struct angara_mr **mr)
{
	int ret;

	do {
		ret = ang_mr_new_random(dom, addr, len, access, 0,
					dom->first_slot, mr);
	} while ((ret == -ENOMEM || ret == -ENOSPC) && ang_mr_cache_yield(dom));
	return ret;
}

ANG_PUBLIC int angara_mr_reg_key(struct angara_domain *dom, void *addr, size_t len,
				 unsigned int access, uint64_t key,
				 struct angara_mr **mr)
{
	int ret;

	do {
		ret = ang_mr_new(dom, addr, len, access, 0, key, mr);
	} while (ret == -ENOMEM && ang_mr_cache_yield(dom));
	return ret;
}

ANG_PUBLIC void angara_mr_dereg(struct angara_mr *mr)
{
	if (!mr)
		return;
	/* Only release a region of the cache: other operations may hold its range. */
	if (mr->cached)
		angara_mr_release(mr);
	else
		ang_mr_end(mr);
}

ANG_PUBLIC uint64_t angara_mr_key(const struct angara_mr *mr)
{
	return mr->key;
}

ANG_PUBLIC void *angara_mr_addr(const struct angara_mr *mr)
{
	return mr->addr;
}

ANG_PUBLIC size_t angara_mr_len(const struct angara_mr *mr)
{
	return mr->len;
}

ANG_PUBLIC int angara_mr_place(const struct angara_mr *mr, uint64_t *place)
{
	struct ang_dev *dev = &mr->dom->dev;

	if (!mr->mapped || !dev->ops->place)
		return -EOPNOTSUPP;
	*place = dev->ops->place(dev, mr->addr);
	return 0;
}

ANG_PUBLIC int angara_domain_place(struct angara_domain *dom, uint64_t place, size_t len,
				   void **addr)
{
	*addr = dom->dev.ops->placed ? dom->dev.ops->placed(&dom->dev, place, len) : NULL;
	return *addr ? 0 : -EOPNOTSUPP;
}

ANG_PUBLIC void angara_domain_seal(struct angara_domain *dom)
{
	if (dom->dev.ops->seal)
		dom->dev.ops->seal(&dom->dev);
}

/**
 * ang_mr_map() - allocate memory that the device can reach
 * @dom: domain
 * @len: bytes
 * @align: the address is a multiple of this power of two, and of a page
 * @addr: out
 * @mapped: out: bytes to pass to the device's free()
 *
 * Return: 0; -EINVAL; -ENOMEM; errors of the device's alloc().
 */
int ang_mr_map(struct angara_domain *dom, size_t len, size_t align, void **addr,
	       size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*addr = NULL;
	*mapped = (len + page - 1) & ~(page - 1);
	if (!len || *mapped < len)
		return len ? -ENOMEM : -EINVAL;
	return dom->dev.ops->alloc(&dom->dev, *mapped, align, addr);
}

ANG_PUBLIC int angara_malloc_access(struct angara_domain *dom, size_t len,
				    unsigned int access, struct angara_mr **mr)
{
	size_t mapped;
	void *addr;
	int ret;

	*mr = NULL;
	ret = ang_mr_map(dom, len, 1, &addr, &mapped);
	if (ret)
		return ret;
	ret = angara_mr_reg(dom, addr, len, access, mr);
	if (ret) {
		dom->dev.ops->free(&dom->dev, addr, mapped);
		return ret;
	}
	(*mr)->mapped = mapped;
	return 0;
}

ANG_PUBLIC int angara_malloc(struct angara_domain *dom, size_t len,
			     struct angara_mr **mr)
{
	return angara_malloc_access(dom, len, ANGARA_ACCESS_ALL, mr);
}

ANG_PUBLIC void angara_free(struct angara_mr *mr)
{
	angara_mr_dereg(mr);
}
