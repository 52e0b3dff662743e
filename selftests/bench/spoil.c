// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Put before libangara by LD_PRELOAD, it spoils results: after each wait of
 * rank SPOIL_RANK, one byte of the first memory that was allocated, at offset
 * SPOIL_AT, is 255, which no early iteration has there.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <angara/angara.h>

static struct angara_mr *first;

int angara_malloc(struct angara_ctx *ctx, size_t len, struct angara_mr **mr)
{
	__typeof__(angara_malloc) *real;
	int ret;

	*(void **)&real = dlsym(RTLD_NEXT, "angara_malloc");
	ret = real(ctx, len, mr);
	if (!ret && !first)
		first = *mr;
	return ret;
}

int angara_wait(struct angara_ctx *ctx, angara_req_t req, int timeout_ms,
		struct angara_status *status)
{
	const char *rank = getenv("ANGARA_RANK"), *victim = getenv("SPOIL_RANK");
	const char *at = getenv("SPOIL_AT");
	__typeof__(angara_wait) *real;
	int ret;

	*(void **)&real = dlsym(RTLD_NEXT, "angara_wait");
	ret = real(ctx, req, timeout_ms, status);
	if (first && rank && victim && at && atoi(rank) == atoi(victim))
		((char *)angara_mr_addr(first))[atoi(at)] = -1;
	return ret;
}
