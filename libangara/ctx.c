// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Contexts: opening a device, mapping its queues, giving them back.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

#include "ang_hw.h"
#include "job.h"
#include "lib.h"
#include "pool.h"
#include "scan.h"
#include "sized.h"

#define ANG_SQ_DEFAULT	256U
#define ANG_CQ_DEFAULT	512U
#define ANG_MSG_DEFAULT	65536U
#define ANG_SPIN_US	20U

#define ANG_NUMBER_BYTES	16	/* of a device's number in text */

/*
 * Which fabric, and which device of it.  A path is a device of the driver,
 * whatever the environment says; no name is what the launcher chose.
 */
static int find_device(const char *device, struct ang_spec *spec, char *buf,
		       const char **name)
{
	u32 number;
	int ret;

	if (!device)
		device = getenv(ANG_ENV_DEVICE);
	*name = device;
	if (device && (*device < '0' || *device > '9')) {
		*spec = (struct ang_spec){ .kind = ANG_FABRIC_CDEV };
		return 0;
	}
	ret = ang_fabric_get(spec);
	if (ret || device)
		return ret;
	ret = ang_dev_choose(spec, &number);
	snprintf(buf, ANG_NUMBER_BYTES, "%u", number);
	*name = buf;
	return ret;
}

static int open_errno(int ret)
{
	switch (ret) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENXIO:
		return -ENODEV;
	case -EPERM:
		return -EACCES;
	default:
		return ret;
	}
}

static int query(struct angara_ctx *ctx)
{
	int ret;

	ctx->query = ANG_CMD_INIT(struct angara_query);
	ret = ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_QUERY, &ctx->query);
	/* Some other kind of file. */
	if (ret == -ENOTTY)
		return -ENODEV;
	if (ret)
		return ret;
	return ctx->query.abi == ANGARA_ABI_VERSION ? 0 : -EPROTO;
}

static u32 or_default(u32 value, u32 def, u32 max)
{
	if (value)
		return value;
	return def < max ? def : max;
}

static int create(struct angara_ctx *ctx, const struct angara_ctx_attr *attr)
{
	struct angara_ctx_create *c = &ctx->create;

	*c = ANG_CMD_INIT(struct angara_ctx_create);
	c->sq_entries = or_default(attr->sq_entries, ANG_SQ_DEFAULT,
				   ctx->query.max_sq_entries);
	c->cq_entries = or_default(attr->cq_entries, ANG_CQ_DEFAULT,
				   ctx->query.max_cq_entries);
	if (attr->msg_bytes && attr->msg_bytes != ANGARA_NO_MSG &&
	    !(ctx->query.caps & ANGARA_CAP_MSG))
		return -ENOTSUP;
	if (ctx->query.caps & ANGARA_CAP_MSG && attr->msg_bytes != ANGARA_NO_MSG)
		c->msg_bytes = or_default(attr->msg_bytes, ANG_MSG_DEFAULT,
					  ctx->query.max_msg_bytes);
	if (attr->pkey) {
		c->flags = ANGARA_CTX_PKEY;
		c->pkey = attr->pkey;
	}
	ctx->spin_ns = or_default(attr->spin_us, ANG_SPIN_US, ANG_SPIN_US) *
		       1000ULL;
	return ang_dev_cmd(&ctx->dev, ANGARA_IOCTL_CTX_CREATE, c);
}

static size_t sq_bytes(const struct angara_ctx *ctx)
{
	return ctx->create.sq_entries * sizeof(struct angara_wqe);
}

static size_t cq_bytes(const struct angara_ctx *ctx)
{
	return ctx->create.cq_entries * sizeof(struct angara_cqe);
}

static void unmap(struct angara_ctx *ctx, const void *addr, size_t len)
{
	if (addr)
		ctx->dev.ops->unmap(&ctx->dev, (void *)(uintptr_t)addr, len);
}

static void unmap_all(struct angara_ctx *ctx)
{
	unmap(ctx, ctx->sq, sq_bytes(ctx));
	unmap(ctx, ctx->cq, cq_bytes(ctx));
	unmap(ctx, ctx->ctl, ANGARA_PAGE_SIZE);
	unmap(ctx, ctx->ctr, ANGARA_PAGE_SIZE);
	unmap(ctx, ctx->doorbell, ANGARA_PAGE_SIZE);
	unmap(ctx, ctx->msg, ctx->create.msg_bytes);
}

static int map_all(struct angara_ctx *ctx)
{
	const struct angara_ctx_create *c = &ctx->create;
	struct ang_dev *dev = &ctx->dev;
	bool has_db = ctx->query.caps & ANGARA_CAP_DOORBELL_MMAP;

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

ANG_PUBLIC int angara_ctx_open(const char *device,
			       const struct angara_ctx_attr *attr,
			       struct angara_ctx **out)
{
	const size_t first = ANG_SIZED_FIRST(angara_ctx_attr, msg_bytes);
	struct angara_ctx_attr known;
	char buf[ANG_NUMBER_BYTES];
	struct angara_ctx *ctx;
	const char *name;
	int ret;

	*out = NULL;
	ret = ang_sized_take(&known, sizeof(known), attr, first);
	if (ret)
		return ret;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ret = find_device(device, &ctx->spec, buf, &name);
	if (!ret)
		ret = open_errno(ang_dev_open(&ctx->dev, &ctx->spec, name));
	if (ret)
		goto free_ctx;
	ret = query(ctx);
	if (ret)
		goto close_dev;
	ret = create(ctx, &known);
	if (ret)
		goto close_dev;
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
	free(ctx);
	return ret;
}

ANG_PUBLIC void angara_ctx_close(struct angara_ctx *ctx)
{
	if (!ctx)
		return;
	ang_coll_end(ctx);
	while (ctx->mrs)
		ang_mr_free(ctx->mrs);
	ang_pool_free(ctx->pool);
	unmap_all(ctx);
	ang_dev_close(&ctx->dev);
	ang_msg_close(ctx);
	ang_slots_free(ctx);
	free(ctx);
}

ANG_PUBLIC int angara_ctx_query(struct angara_ctx *ctx,
				struct angara_ctx_info *info)
{
	const size_t first = ANG_SIZED_FIRST(angara_ctx_info, max_msg_bytes);
	const struct angara_query *q = &ctx->query;
	struct angara_ctx_info known;

	known = (struct angara_ctx_info){
		.node = q->node,
		.nodes = q->nodes,
		.ports = q->ports,
		.fabric_id = q->fabric_id,
		.max_op_bytes = q->max_op_bytes,
		.max_mrs = q->max_mrs,
		.max_msg_bytes = q->caps & ANGARA_CAP_MSG ? q->max_msg_bytes : 0,
		.max_trees = q->max_trees,
		.pkey = ctx->create.pkey,
		.self = { .node = q->node, .ctx = (u16)ctx->create.ctx },
	};
	return ang_sized_give(info, &known, sizeof(known), first);
}
