// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory of the library's own: what is given back is kept for the
 * next that needs as much, since registering costs system calls.
 */
#include <stdlib.h>

#include "coll_run.h"

#define SCRATCH_FIRST	4096U

/** ang_scratch_get() - @len bytes of registered memory, not zeroed; or NULL */
struct ang_scratch *ang_scratch_get(struct angara_ctx *ctx, size_t len)
{
	struct ang_scratch **at = &ctx->colls.scratch;
	size_t room = SCRATCH_FIRST;
	struct ang_scratch *s;

	for (; *at; at = &(*at)->next) {
		s = *at;
		if (s->mr->len < len)
			continue;
		*at = s->next;
		return s;
	}
	while (room < len)
		room *= 2;
	s = malloc(sizeof(*s));
	if (s && angara_malloc(ctx->dom, room, &s->mr)) {
		free(s);
		return NULL;
	}
	return s;
}

void ang_scratch_put(struct angara_ctx *ctx, struct ang_scratch *s)
{
	struct ang_scratch **at = &ctx->colls.scratch;

	/* Shortest first, so that a short one takes no long one. */
	while (*at && (*at)->mr->len < s->mr->len)
		at = &(*at)->next;
	s->next = *at;
	*at = s;
}

/** ang_scratch_end() - a context is closed: the domain gets its regions back */
void ang_scratch_end(struct angara_ctx *ctx)
{
	while (ctx->colls.scratch) {
		struct ang_scratch *s = ctx->colls.scratch;

		ctx->colls.scratch = s->next;
		angara_free(s->mr);
		free(s);
	}
}
