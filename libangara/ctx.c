// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Contexts: creating them, mapping their queues, destroying them. */
#include <errno.h>
#include <stdlib.h>

#include "ang_hw.h"
#include "lib.h"
#include "pool.h"
#include "sized.h"

#define ANG_SQ_DEFAULT	256U
#define ANG_CQ_DEFAULT	512U
#define ANG_MSG_DEFAULT	65536U
#define ANG_SPIN_US	20U	/* microseconds of the shortest spin, by default */

static u32 or_default(u32 value, u32 def, u32 max)
{
	if (value)
		return value;
	return def < max ? def : max;
}

static int ctx_create(struct angara_ctx *ctx, const struct angara_ctx_attr *attr)
{
	const struct angara_query *q = &ctx->dom->query;
	struct angara_ctx_create *c = &ctx->create;
	struct ang_dev *dev = &ctx->dom->dev;

	*c = ANG_CMD_INIT(struct angara_ctx_create);
	c->sq_entries = or_default(attr->sq_entries, ANG_SQ_DEFAULT,
				   q->max_sq_entries);
	c->cq_entries = or_default(attr->cq_entries, ANG_CQ_DEFAULT,
				   q->max_cq_entries);
	if (attr->msg_bytes && attr->msg_bytes != ANGARA_NO_MSG &&
	    !(q->caps & ANGARA_CAP_MSG))
		return -ENOTSUP;
	if (q->caps & ANGARA_CAP_MSG && attr->msg_bytes != ANGARA_NO_MSG)
		c->msg_bytes = or_default(attr->msg_bytes, ANG_MSG_DEFAULT,
					  q->max_msg_bytes);
	ctx->spin_least = 1000ULL * (attr->spin_us ? attr->spin_us : ANG_SPIN_US);
	ctx->spin_most = attr->spin_us ? ctx->spin_least : 1000ULL * dev->ops->spin_us;
	ctx->spin_ns = ctx->spin_most;
	return dev->ops->ctx_open(dev, c, &ctx->dev);
}

static size_t sq_bytes(const struct angara_ctx *ctx)
{
	return ctx->create.sq_entries * sizeof(struct angara_wqe);
}

static size_t cq_bytes(const struct angara_ctx *ctx)
{
	return ctx->create.cq_entries * sizeof(struct angara_cqe);
}

static void ctx_unmap(struct angara_ctx *ctx, const void *addr, size_t len)
{
	if (addr)
		ctx->dev.ops->unmap(&ctx->dev, (void *)(uintptr_t)addr, len);
}

static void unmap_all(struct angara_ctx *ctx)
{
	ctx_unmap(ctx, ctx->sq, sq_bytes(ctx));
	ctx_unmap(ctx, ctx->cq, cq_bytes(ctx));
	ctx_unmap(ctx, ctx->ctl, ANGARA_PAGE_SIZE);
	ctx_unmap(ctx, ctx->ctr, ANGARA_PAGE_SIZE);
	ctx_unmap(ctx, ctx->doorbell, ANGARA_PAGE_SIZE);
	ctx_unmap(ctx, ctx->msg, ctx->create.msg_bytes);
}

static int map_all(struct angara_ctx *ctx)
{
	const struct angara_ctx_create *c = &ctx->create;
	struct ang_dev *dev = &ctx->dev;
	bool has_db = ctx->dom->query.caps & ANGARA_CAP_DOORBELL_MMAP;

	ctx->sq = dev->ops->map(dev, c->sq_offset, sq_bytes(ctx), true);
	ctx->cq = dev->ops->map(dev, c->cq_offset, cq_bytes(ctx), false);
	ctx->ctl = dev->ops->map(dev, c->ctl_offset, ANGARA_PAGE_SIZE, true);
	ctx->ctr = dev->ops->map(dev, c->ctr_offset, ANGARA_PAGE_SIZE, false);
	if (has_db)
		ctx->doorbell = dev->ops->map(dev, c->db_offset,
					      ANGARA_PAGE_SIZE, true);
	if (c->msg_bytes)
		ctx->msg = dev->ops->map(dev, c->msg_offset, c->msg_bytes, false);
	if (ctx->sq && ctx->cq && ctx->ctl && ctx->ctr &&
	    (ctx->doorbell || !has_db) && (ctx->msg || !c->msg_bytes))
		return 0;
	unmap_all(ctx);
	return -ENOMEM;
}

ANG_PUBLIC int angara_ctx_open(struct angara_domain *dom,
			       const struct angara_ctx_attr *given,
			       struct angara_ctx **out)
{
	const size_t first = ANG_SIZED_FIRST(angara_ctx_attr, msg_bytes);
	struct angara_ctx_attr attr;
	struct angara_ctx *ctx;
	int ret;

	*out = NULL;
	ret = ang_sized_take(&attr, sizeof(attr), given, first);
	if (!ret && attr.flags)
		ret = -EINVAL;
	if (ret)
		return ret;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->failed_node = UINT32_MAX;
	ang_coll_open(ctx);
	ctx->dom = ang_dom_hold(dom);
	ret = ctx_create(ctx, &attr);
	if (ret)
		goto free_ctx;
	ret = map_all(ctx);
	if (ret)
		goto close_dev;
	ctx->flight = (struct angara_op){
		.size = sizeof(ctx->flight), .flags = ANGARA_MORE,
	};
	ret = ang_slots_init(ctx);
	if (ret)
		goto unmap;
	ret = ang_msg_open(ctx);
	if (ret)
		goto free_slots;
	*out = ctx;
	return 0;

free_slots:
	ang_slots_free(ctx);
unmap:
	unmap_all(ctx);
close_dev:
	ang_dev_close(&ctx->dev);
free_ctx:
	ang_dom_drop(ctx->dom);
	free(ctx);
	return ret;
}

ANG_PUBLIC void angara_ctx_close(struct angara_ctx *ctx)
{
	if (!ctx)
		return;
	ang_coll_end(ctx);
	ang_pool_free(ctx->pool);
	angara_mr_dereg(ctx->scratch);
	angara_mr_dereg(ctx->stage);
	unmap_all(ctx);
	ang_dev_close(&ctx->dev);
	ang_slots_unhold(ctx);
	ang_dom_drop(ctx->dom);
	ang_msg_close(ctx);
	ang_slots_free(ctx);
	free(ctx);
}

ANG_PUBLIC int angara_ctx_query(const struct angara_ctx *ctx,
				struct angara_ctx_info *info)
{
	const size_t first = ANG_SIZED_FIRST(angara_ctx_info, msg_bytes);
	const struct angara_ctx_info all = {
		.self = {
			.node = ctx->dom->query.node,
			.ctx = (u16)ctx->create.ctx,
		},
		.sq_entries = ctx->create.sq_entries,
		.cq_entries = ctx->create.cq_entries,
		.msg_bytes = ctx->create.msg_bytes,
		.failed_node = ctx->failed_node,
	};

	return ang_sized_give(info, &all, sizeof(all), first);
}

ANG_PUBLIC struct angara_domain *angara_ctx_domain(const struct angara_ctx *ctx)
{
	return ctx->dom;
}
