// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A library to preload before libangara, which corrupts results: after each
 * wait of rank SPOIL_RANK it writes 255 to offset SPOIL_AT of the first
 * allocated memory, a value that no early iteration has there.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <angara/angara.h>

static struct angara_mr *first;

int angara_team_malloc(struct angara_team *team, size_t len, struct angara_mr **mr)
{
	__typeof__(angara_team_malloc) *real;
	int ret;

	*(void **)&real = dlsym(RTLD_NEXT, "angara_team_malloc");
	ret = real(team, len, mr);
	if (!ret && !first)
		first = *mr;
	return ret;
}

int angara_quiet(struct angara_ctx *ctx, int timeout_ms)
{
	const char *rank = getenv("ANGARA_RANK"), *victim = getenv("SPOIL_RANK");
	const char *at = getenv("SPOIL_AT");
	__typeof__(angara_quiet) *real;
	int ret;

	*(void **)&real = dlsym(RTLD_NEXT, "angara_quiet");
	ret = real(ctx, timeout_ms);
	if (first && rank && victim && at && atoi(rank) == atoi(victim))
		((char *)angara_mr_addr(first))[atoi(at)] = -1;
	return ret;
}
