/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A context in a domain of its own: both are closed together.
 */
#ifndef ANGTEST_ALONE_H
#define ANGTEST_ALONE_H

#include <angara/angara.h>

static inline int alone_open(const char *device,
			     const struct angara_ctx_attr *attr,
			     struct angara_ctx **ctx)
{
	struct angara_domain *dom;
	int ret;

	*ctx = NULL;
	ret = angara_domain_open(device, NULL, &dom);
	if (ret)
		return ret;
	ret = angara_ctx_open(dom, attr, ctx);
	angara_domain_close(dom);
	return ret;
}

static inline int alone_malloc(struct angara_ctx *ctx, size_t len,
			       struct angara_mr **mr)
{
	return angara_malloc(angara_ctx_domain(ctx), len, mr);
}

/* Return: the address of a context, for operations on itself. */
static inline struct angara_peer alone_self(const struct angara_ctx *ctx)
{
	struct angara_ctx_info info = { .size = sizeof(info) };

	angara_ctx_query(ctx, &info);
	return info.self;
}

static inline struct angara_domain_info alone_about(const struct angara_ctx *ctx)
{
	struct angara_domain_info info = { .size = sizeof(info) };

	angara_domain_query(angara_ctx_domain(ctx), &info);
	return info;
}

#endif /* ANGTEST_ALONE_H */
