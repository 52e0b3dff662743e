// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory for the library's own use.  Freed memory is kept for later
 * requests of at most its size, since each registration needs system calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"

#define SCRATCH_FIRST	4096U

/**
 * ang_scratch_get() - get registered memory
 * @ctx: context
 * @len: bytes
 * @out: out, not zeroed; undo with ang_scratch_put()
 *
 * Return: 0; -ENOMEM; -ENODEV; errors of angara_malloc_access().
 */
int ang_scratch_get(struct angara_ctx *ctx, size_t len, struct ang_scratch **out)
{
	struct ang_scratch **at = &ctx->colls.scratch;
	size_t room = SCRATCH_FIRST;
	struct ang_scratch *s;
	int ret;

	for (; *at; at = &(*at)->next) {
		s = *at;
		if (s->mr->len < len)
			continue;
		*at = s->next;
		*out = s;
		return 0;
	}
	if (len > SIZE_MAX / 2)
		return -ENOMEM;
	while (room < len)
		room *= 2;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	/*
	 * Peers may read this memory, for long messages, but not write to it.
	 */
	ret = angara_malloc_access(ctx->dom, room, ANGARA_ACCESS_LOCAL_WRITE |
				   ANGARA_ACCESS_REMOTE_READ, &s->mr);
	if (ret)
		free(s);
	else
		*out = s;
	return ret;
}

void ang_scratch_put(struct angara_ctx *ctx, struct ang_scratch *s)
{
	struct ang_scratch **at = &ctx->colls.scratch;

	/*
	 * The list is sorted by length, so that a short request does not take a
	 * long buffer.
	 */
	while (*at && (*at)->mr->len < s->mr->len)
		at = &(*at)->next;
	s->next = *at;
	*at = s;
}

/*
 * Gets the context's buffer for the results of blocking calls.  Only one call
 * at a time uses the buffer.
 */
int ang_scratch(struct angara_ctx *ctx, const struct angara_mr **mr)
{
	int ret = 0;

	if (!ctx->scratch)
		ret = angara_mr_reg(ctx->dom, ctx->scratch_mem,
				    sizeof(ctx->scratch_mem),
				    ANGARA_ACCESS_LOCAL_WRITE, &ctx->scratch);
	*mr = ctx->scratch;
	return ret;
}

/** ang_scratch_end() - free the regions of a context that is closed */
void ang_scratch_end(struct angara_ctx *ctx)
{
	while (ctx->colls.scratch) {
		struct ang_scratch *s = ctx->colls.scratch;

		ctx->colls.scratch = s->next;
		angara_free(s->mr);
		free(s);
	}
}
