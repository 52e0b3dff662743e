// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions.  A domain keeps a list of its regions, so that closing it
 * frees them, and a bit for each slot in use.  Another thread may take a slot
 * that was found free; then the next one is tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib.h"

/* Does @mr belong to the domain of @ctx, and contain these bytes? */
bool ang_mr_fits(const struct angara_ctx *ctx, const struct angara_mr *mr,
		 u64 off, u64 len)
{
	return mr && mr->dom == ctx->dom && off <= mr->len && len <= mr->len - off;
}

static void mr_link(struct angara_domain *dom, struct angara_mr *mr)
{
	mr->dom = dom;
	mr->prev = &dom->mrs;
	pthread_mutex_lock(&dom->lock);
	mr->next = dom->mrs;
	if (mr->next)
		mr->next->prev = &mr->next;
	dom->mrs = mr;
	pthread_mutex_unlock(&dom->lock);
}

static void mr_unlink(struct angara_mr *mr)
{
	pthread_mutex_lock(&mr->dom->lock);
	*mr->prev = mr->next;
	if (mr->next)
		mr->next->prev = mr->prev;
	pthread_mutex_unlock(&mr->dom->lock);
}

static void slot_set(struct angara_domain *dom, u32 slot, bool taken)
{
	u64 bit = 1ULL << (slot % 64);

	pthread_mutex_lock(&dom->lock);
	if (taken)
		dom->slots[slot / 64] |= bit;
	else
		dom->slots[slot / 64] &= ~bit;
	pthread_mutex_unlock(&dom->lock);
}

/**
 * ang_mr_free_slot() - find a slot without a region
 * @dom: domain
 * @slot: where to begin; out: the first free one from there on
 *
 * Another thread may take it at any time.
 *
 * Return: 0; -ENOSPC there is none.
 */
int ang_mr_free_slot(struct angara_domain *dom, u32 *slot)
{
	u32 i = *slot;

	pthread_mutex_lock(&dom->lock);
	while (i < dom->query.max_mrs && dom->slots[i / 64] >> i % 64 & 1)
		i += ~dom->slots[i / 64] >> i % 64 ? 1 : 64 - i % 64;
	pthread_mutex_unlock(&dom->lock);
	*slot = i;
	return i < dom->query.max_mrs ? 0 : -ENOSPC;
}

/**
 * ang_mr_draw() - draw the random part of a key
 * @upper: out: 48 random bits above those of the slot, which are 0
 *
 * Return: 0; -EIO there is no randomness.
 */
int ang_mr_draw(u64 *upper)
{
	u64 v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		return -EIO;
	*upper = v - ANG_MR_SLOT(v);
	return 0;
}

static int mr_new(struct angara_domain *dom, void *addr, size_t len,
		  unsigned int access, u32 flags, u64 key, struct angara_mr **out)
{
	struct angara_mr_register arg = ANG_CMD_INIT(struct angara_mr_register);
	struct angara_mr *mr;
	int ret;

	*out = NULL;
	if (!len)
		return -EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	arg.addr = (uintptr_t)addr;
	arg.length = len;
	arg.access = access;
	arg.flags = ANGARA_MR_KEY | flags;
	arg.key = key;
	ret = ang_dev_cmd(&dom->dev, ANGARA_IOCTL_MR_REG, &arg);
	if (ret) {
		free(mr);
		return ret;
	}
	slot_set(dom, ANG_MR_SLOT(key), true);
	mr->addr = addr;
	mr->len = len;
	mr->key = key;
	mr->access = access;
	mr_link(dom, mr);
	*out = mr;
	return 0;
}

/* @slot: the lowest allowed */
static int mr_new_random(struct angara_domain *dom, void *addr, size_t len,
			 unsigned int access, u32 flags, u32 slot,
			 struct angara_mr **mr)
{
	u64 upper;
	int ret;

	*mr = NULL;
	do {
		ret = ang_mr_free_slot(dom, &slot);
		if (!ret)
			ret = ang_mr_draw(&upper);
		if (!ret)
			ret = mr_new(dom, addr, len, access, flags,
				     upper | slot++, mr);
	} while (ret == -EEXIST);
	return ret;
}

ANG_PUBLIC int angara_mr_reg(struct angara_domain *dom, void *addr, size_t len,
			     unsigned int access, struct angara_mr **mr)
{
	int ret;

	do {
		ret = mr_new_random(dom, addr, len, access, 0, dom->first_slot,
				    mr);
	} while ((ret == -ENOMEM || ret == -ENOSPC) && ang_mr_cache_yield(dom));
	return ret;
}

/*
 * As angara_mr_reg(); the driver reports when the memory is unmapped.  The slot
 * is above those that programs choose.
 */
int ang_mr_reg_watched(struct angara_domain *dom, void *addr, size_t len,
		       unsigned int access, struct angara_mr **mr)
{
	u32 slot = dom->first_slot < ANG_WATCHED_SLOT ? ANG_WATCHED_SLOT :
							dom->first_slot;

	return mr_new_random(dom, addr, len, access, ANGARA_MR_WATCH, slot, mr);
}

ANG_PUBLIC int angara_mr_reg_key(struct angara_domain *dom, void *addr, size_t len,
				 unsigned int access, uint64_t key,
				 struct angara_mr **mr)
{
	int ret;

	do {
		ret = mr_new(dom, addr, len, access, 0, key, mr);
	} while (ret == -ENOMEM && ang_mr_cache_yield(dom));
	return ret;
}

/* Removes it from the device.  No other region gets its slot before it is freed. */
void ang_mr_revoke(struct angara_mr *mr)
{
	struct angara_mr_deregister arg = ANG_CMD_INIT(struct angara_mr_deregister);

	if (mr->revoked)
		return;
	mr->revoked = true;
	arg.key = mr->key;
	/* Fails only if the device is gone; then the registration is gone, too. */
	ang_dev_cmd(&mr->dom->dev, ANGARA_IOCTL_MR_DEREG, &arg);
}

ANG_PUBLIC void angara_mr_dereg(struct angara_mr *mr)
{
	struct ang_dev *dev;

	if (!mr)
		return;
	/* The cache's range may have other holders. */
	if (mr->cached) {
		angara_mr_release(mr);
		return;
	}
	/*
	 * Before the device frees the slot: afterwards the bit may belong to
	 * another region.
	 */
	slot_set(mr->dom, ANG_MR_SLOT(mr->key), false);
	ang_mr_revoke(mr);
	mr_unlink(mr);
	dev = &mr->dom->dev;
	if (mr->mapped)
		dev->ops->free(dev, mr->addr, mr->mapped);
	free(mr);
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
 * @addr: out
 * @mapped: out: bytes to pass to the device's free()
 *
 * Return: 0; -EINVAL; -ENOMEM; errors of the device's alloc().
 */
int ang_mr_map(struct angara_domain *dom, size_t len, void **addr,
	       size_t *mapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	*addr = NULL;
	*mapped = (len + page - 1) & ~(page - 1);
	if (!len || *mapped < len)
		return len ? -ENOMEM : -EINVAL;
	return dom->dev.ops->alloc(&dom->dev, *mapped, addr);
}

ANG_PUBLIC int angara_malloc_access(struct angara_domain *dom, size_t len,
				    unsigned int access, struct angara_mr **mr)
{
	size_t mapped;
	void *addr;
	int ret;

	*mr = NULL;
	ret = ang_mr_map(dom, len, &addr, &mapped);
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
