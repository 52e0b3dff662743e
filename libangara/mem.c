// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions.  A context keeps a list of its own, so that closing it
 * gives them all back.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib.h"

/* Does @mr, a region of @ctx, hold these bytes? */
bool ang_mr_fits(const struct angara_ctx *ctx, const struct angara_mr *mr,
		 u64 off, u64 len)
{
	return mr && mr->ctx == ctx && off <= mr->len && len <= mr->len - off;
}

static void mr_link(struct angara_ctx *ctx, struct angara_mr *mr)
{
	mr->ctx = ctx;
	mr->prev = &ctx->mrs;
	mr->next = ctx->mrs;
	if (mr->next)
		mr->next->prev = &mr->next;
	ctx->mrs = mr;
}

void ang_mr_free(struct angara_mr *mr)
{
	struct angara_mr_deregister arg = ANG_CMD_INIT(struct angara_mr_deregister);

	/* Fails only if the device is gone, and the registration with it. */
	arg.key = mr->key;
	ang_dev_cmd(&mr->ctx->dev, ANGARA_IOCTL_MR_DEREG, &arg);
	*mr->prev = mr->next;
	if (mr->next)
		mr->next->prev = mr->prev;
	if (mr->mapped)
		mr->ctx->dev.ops->free(&mr->ctx->dev, mr->addr, mr->mapped);
	free(mr);
}

static int mr_new(struct angara_ctx *ctx, void *addr, size_t len,
		  unsigned int access, const u32 *key, struct angara_mr **out)
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
	if (key) {
		arg.flags = ANGARA_MR_KEY;
		arg.key = *key;
	}
	ret = ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_MR_REG, &arg);
	if (ret) {
		free(mr);
		return ret;
	}
	mr->addr = addr;
	mr->len = len;
	mr->key = arg.key;
	mr->access = access;
	mr_link(ctx, mr);
	*out = mr;
	return 0;
}

ANG_PUBLIC int angara_mr_reg(struct angara_ctx *ctx, void *addr, size_t len,
			     unsigned int access, struct angara_mr **mr)
{
	return mr_new(ctx, addr, len, access, NULL, mr);
}

ANG_PUBLIC int angara_mr_reg_key(struct angara_ctx *ctx, void *addr, size_t len,
				 unsigned int access, uint32_t key,
				 struct angara_mr **mr)
{
	return mr_new(ctx, addr, len, access, &key, mr);
}

ANG_PUBLIC void angara_mr_dereg(struct angara_mr *mr)
{
	if (mr)
		ang_mr_free(mr);
}

ANG_PUBLIC uint32_t angara_mr_key(const struct angara_mr *mr)
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

ANG_PUBLIC int angara_malloc_access(struct angara_ctx *ctx, size_t len,
				    unsigned int access, struct angara_mr **mr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t mapped = (len + page - 1) & ~(page - 1);
	void *addr;
	int ret;

	*mr = NULL;
	if (!len || mapped < len)
		return len ? -ENOMEM : -EINVAL;
	ret = ctx->dev.ops->alloc(&ctx->dev, mapped, &addr);
	if (ret)
		return ret;
	ret = mr_new(ctx, addr, len, access, NULL, mr);
	if (ret) {
		ctx->dev.ops->free(&ctx->dev, addr, mapped);
		return ret;
	}
	(*mr)->mapped = mapped;
	return 0;
}

ANG_PUBLIC int angara_malloc(struct angara_ctx *ctx, size_t len,
			     struct angara_mr **mr)
{
	return angara_malloc_access(ctx, len, ANGARA_ACCESS_ALL, mr);
}

ANG_PUBLIC void angara_free(struct angara_mr *mr)
{
	angara_mr_dereg(mr);
}
