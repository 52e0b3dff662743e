// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions.  A domain keeps a list of its own, so that closing it gives
 * them all back.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib.h"

/* Does @mr, a region of the domain of @ctx, hold these bytes? */
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

/* Takes the lowest slot that is free. */
static int slot_take(struct angara_domain *dom, u64 *key)
{
	int ret = -ENOSPC;
	u32 w;

	pthread_mutex_lock(&dom->lock);
	for (w = 0; w < ANG_SLOT_WORDS && !~dom->slots[w]; w++)
		;
	if (w < ANG_SLOT_WORDS) {
		*key = 64ULL * w + (u32)__builtin_ctzll(~dom->slots[w]);
		if (*key < dom->query.max_mrs) {
			dom->slots[w] |= 1ULL << (*key % 64);
			ret = 0;
		}
	}
	pthread_mutex_unlock(&dom->lock);
	return ret;
}

static int mr_new(struct angara_domain *dom, void *addr, size_t len,
		  unsigned int access, u64 key, struct angara_mr **out)
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
	arg.flags = ANGARA_MR_KEY;
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

/* Keys in order, so that processes that do the same have the same. */
static int mr_new_next(struct angara_domain *dom, void *addr, size_t len,
		       unsigned int access, struct angara_mr **out)
{
	u64 key;
	int ret;

	*out = NULL;
	if (!len)
		return -EINVAL;
	ret = slot_take(dom, &key);
	if (ret)
		return ret;
	ret = mr_new(dom, addr, len, access, key, out);
	if (ret)
		slot_set(dom, ANG_MR_SLOT(key), false);
	return ret;
}

ANG_PUBLIC int angara_mr_reg(struct angara_domain *dom, void *addr, size_t len,
			     unsigned int access, struct angara_mr **mr)
{
	return mr_new_next(dom, addr, len, access, mr);
}

ANG_PUBLIC int angara_mr_reg_key(struct angara_domain *dom, void *addr, size_t len,
				 unsigned int access, uint64_t key,
				 struct angara_mr **mr)
{
	return mr_new(dom, addr, len, access, key, mr);
}

ANG_PUBLIC void angara_mr_dereg(struct angara_mr *mr)
{
	struct angara_mr_deregister arg = ANG_CMD_INIT(struct angara_mr_deregister);
	struct ang_dev *dev;

	if (!mr)
		return;
	/* Fails only if the device is gone, and the registration with it. */
	dev = &mr->dom->dev;
	arg.key = mr->key;
	ang_dev_cmd(dev, ANGARA_IOCTL_MR_DEREG, &arg);
	mr_unlink(mr);
	slot_set(mr->dom, ANG_MR_SLOT(mr->key), false);
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

ANG_PUBLIC int angara_malloc_access(struct angara_domain *dom, size_t len,
				    unsigned int access, struct angara_mr **mr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = (len + page - 1) & ~(page - 1);
	void *addr;
	int ret;

	*mr = NULL;
	if (!len || mapped < len)
		return len ? -ENOMEM : -EINVAL;
	ret = dom->dev.ops->alloc(&dom->dev, mapped, &addr);
	if (ret)
		return ret;
	ret = mr_new_next(dom, addr, len, access, mr);
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
