// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions of the device.  A domain keeps a list of its regions, which are freed when the
 * domain is closed, and a bit for each slot in use.  Another thread may take a slot that was found
 * free; then the next slot is tried.
 *
 * mem.c registers regions for the program, and mr_cache.c for memory that the program has not
 * registered.  If mem.c finds no room, the cache frees unused ranges.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

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
 * @slot: first slot to try; out: first free slot from there on
 *
 * Another thread may take this slot at any time.
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
 * Return: 0; -EIO no random numbers are available.
 */
int ang_mr_draw(u64 *upper)
{
	u64 v;

	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		return -EIO;
	*upper = v - ANG_MR_SLOT(v);
	return 0;
}

/**
 * ang_mr_new() - register memory with a key
 * @dom: domain
 * @addr: first byte
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @flags: ANGARA_MR_*
 * @key: key
 * @out: out
 *
 * Return: 0; -EINVAL no bytes; -ENOMEM; -EEXIST the slot is in use; errors of the
 * device.
 */
int ang_mr_new(struct angara_domain *dom, void *addr, size_t len,
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

/**
 * ang_mr_new_random() - register memory with a random key
 * @dom: domain
 * @addr: first byte
 * @len: bytes
 * @access: ANGARA_ACCESS_*
 * @flags: ANGARA_MR_*
 * @slot: the lowest slot that the key may have
 * @mr: out
 *
 * Return: as ang_mr_new(); -ENOSPC no slot is free; -EIO no random numbers are
 * available.
 */
int ang_mr_new_random(struct angara_domain *dom, void *addr, size_t len,
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
			ret = ang_mr_new(dom, addr, len, access, flags,
					 upper | slot++, mr);
	} while (ret == -EEXIST);
	return ret;
}

/*
 * As angara_mr_reg(), but the driver reports when the memory is unmapped, and the
 * slot is above those that programs choose.
 */
int ang_mr_reg_watched(struct angara_domain *dom, void *addr, size_t len,
		       unsigned int access, struct angara_mr **mr)
{
	u32 slot = dom->first_slot < ANG_WATCHED_SLOT ? ANG_WATCHED_SLOT :
							dom->first_slot;

	return ang_mr_new_random(dom, addr, len, access, ANGARA_MR_WATCH, slot, mr);
}

/*
 * Removes a region from the device. Its slot stays reserved until the region is
 * freed.
 */
void ang_mr_revoke(struct angara_mr *mr)
{
	struct angara_mr_deregister arg = ANG_CMD_INIT(struct angara_mr_deregister);

	if (mr->revoked)
		return;
	mr->revoked = true;
	arg.key = mr->key;
	/*
	 * This fails only if the device is gone; then the registration is gone,
	 * too.
	 */
	ang_dev_cmd(&mr->dom->dev, ANGARA_IOCTL_MR_DEREG, &arg);
}

/** ang_mr_end() - free a region that has no other holder */
void ang_mr_end(struct angara_mr *mr)
{
	struct ang_dev *dev = &mr->dom->dev;

	/*
	 * Clear the bit before the device frees the slot: afterwards another region may have the
	 * slot, and its bit.
	 */
	slot_set(mr->dom, ANG_MR_SLOT(mr->key), false);
	ang_mr_revoke(mr);
	mr_unlink(mr);
	if (mr->mapped)
		dev->ops->free(dev, mr->addr, mr->mapped);
	free(mr);
}
