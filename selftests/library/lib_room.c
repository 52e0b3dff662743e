// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completions that the program has not polled stay unchanged, and blocking
 * calls make progress.  Teams that are left while the adapter reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define SHORT_CQ	8
#define TEAM_CQ		64

/* Opens a separate context with a short completion queue. */
static struct angara_ctx *own_open(uint32_t cq_entries)
{
	const struct angara_ctx_attr attr = {
		.size = sizeof(attr), .cq_entries = cq_entries,
		.msg_bytes = ANGARA_MIN_MSG_BYTES,
	};
	struct angara_ctx *own;

	if (!expect("context", alone_open(NULL, &attr, &own), 0))
		exit(1);
	return own;
}

/* Executes puts of the context to itself, with the cookies 1 to @n. */
static bool puts_unpolled(struct angara_ctx *own, const struct angara_mr *mr,
			  unsigned int n)
{
	struct angara_op op = { .size = sizeof(op) };
	bool ok = true;

	for (op.cookie = 1; ok && op.cookie <= n; op.cookie++)
		ok = expect("put", angara_put_inline_nbi(own, alone_self(own),
							 angara_mr_key(mr), 0, "x", 1,
							 &op), 0);
	return ok && expect("quiet", angara_quiet(own, LONG_MS), 0);
}

static bool puts_polled(struct angara_ctx *own, unsigned int n)
{
	struct angara_completion c[TEAM_CQ];
	unsigned int i;
	bool ok = expect("polled", angara_poll(own, c, TEAM_CQ), n);

	for (i = 0; ok && i < n; i++)
		ok = expect("cookie", (long long)c[i].cookie, i + 1);
	return ok;
}

/* A blocking put leaves a full ring of completions unchanged. */
static bool ring_full(void)
{
	struct angara_ctx *own = own_open(SHORT_CQ);
	struct angara_mr *mr;
	bool ok = expect("memory", alone_malloc(own, 64, &mr), 0);

	ok = ok && puts_unpolled(own, mr, SHORT_CQ) &&
	     expect("put", angara_put_inline(own, alone_self(own), angara_mr_key(mr), 0,
					     "y", 1), 0) &&
	     puts_polled(own, SHORT_CQ);
	angara_ctx_close(own);
	return ok;
}

/* Operations without a completion of their own need no room for one. */
static bool ring_counted(void)
{
	const struct angara_op polled = { .size = sizeof(polled), .cookie = 99 };
	const struct angara_op silent = { .size = sizeof(silent), .flags = ANGARA_SILENT };
	struct angara_ctx *own = own_open(SHORT_CQ);
	struct angara_peer self = alone_self(own);
	struct angara_mr *mr;
	uint64_t key;
	bool ok = expect("memory", alone_malloc(own, 64, &mr), 0);

	key = ok ? angara_mr_key(mr) : 0;
	ok = ok && puts_unpolled(own, mr, SHORT_CQ) &&
	     expect("polled", angara_put_inline_nbi(own, self, key, 0, "y", 1, &polled),
		    -EAGAIN) &&
	     expect("silent", angara_put_inline_nbi(own, self, key, 0, "y", 1, &silent),
		    -EAGAIN) &&
	     expect("counted", angara_put_inline_nbi(own, self, key, 0, "y", 1, NULL), 0) &&
	     expect("quiet", angara_quiet(own, LONG_MS), 0) && puts_polled(own, SHORT_CQ);
	angara_ctx_close(own);
	return ok;
}

/* Blocking collectives end while a full ring of completions is not polled. */
static bool ring_collective(void)
{
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_ctx *own = own_open(TEAM_CQ);
	struct angara_team *team = NULL;
	struct angara_mr *mr;
	bool ok;

	ok = expect("memory", alone_malloc(own, 64, &mr), 0) &&
	     expect("team", angara_team_create(job, own, NULL, 0, &soft, &team), 0) &&
	     puts_unpolled(own, mr, TEAM_CQ);
	alarm(LONG_MS / 1000);
	ok = ok && expect("barrier", angara_barrier(team), 0);
	alarm(0);
	ok = ok && puts_polled(own, TEAM_CQ);
	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_ctx_close(own);
	return ok;
}

/* A team is left while the adapter reads for one of its collectives. */
static bool leave_reading(void)
{
	enum { N = 1 << 17, TIMES = 8 };
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_op op = { .size = sizeof(op), .cookie = 1 };
	struct angara_mr *mr = own_region(2 * N * 8);
	struct angara_completion c;
	unsigned int i, k;
	bool ok = true;

	for (i = 0; ok && i < TIMES; i++) {
		struct angara_team *team;

		ok = expect("team", angara_team_create(job, ctx, NULL, 0, &soft, &team), 0) &&
		     expect("allreduce", angara_allreduce_nbi(team, mr, N * 8, mr, 0, N,
							      ANGARA_TYPE_UINT64,
							      ANGARA_RED_SUM, &op), 0) &&
		     expect("started", angara_job_barrier(job), 0);
		if (!ok)
			break;
		/* Handle offers, and start their reads. */
		for (k = 0; k < i; k++)
			if (angara_poll(ctx, &c, 1) == 1)
				break;
		angara_team_leave(team);
		if (k == i)
			ok = expect("ended", angara_poll_wait(ctx, &c, 1, LONG_MS), 1);
		ok &= expect("cookie", (long long)c.cookie, 1) &
		      expect("left", angara_job_barrier(job), 0);
	}
	angara_free(mr);
	return ok;
}

/* Tests blocks whose end overflows the type of a length. */
static bool wrapped_blocks(void)
{
	struct angara_team_attr soft = { .size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE };
	size_t *blocks = calloc(2 * size, sizeof(*blocks)), *displs = blocks + size;
	struct angara_mr *mr = own_region(4096);
	struct angara_team *team;
	unsigned int i;
	bool ok;

	if (!blocks)
		return false;
	ok = expect("team", angara_team_create(job, ctx, NULL, 0, &soft, &team), 0);
	for (i = 0; i < size; i++) {
		blocks[i] = 8;
		displs[i] = 8 * i;
	}
	displs[size - 1] = SIZE_MAX - 3;
	ok = ok && expect("displacement", angara_allgatherv(team, mr, 2048, blocks, displs, mr,
							    0), -EINVAL);
	blocks[0] = SIZE_MAX - 7;
	displs[size - 1] = 0;
	ok = ok && expect("counts", angara_allgatherv(team, mr, 2048, blocks, NULL, mr, 0),
			  -EINVAL) &&
	     expect("elements", angara_reduce_scatter(team, mr, 2048, mr, 0,
						      SIZE_MAX / 8 + 2, ANGARA_TYPE_UINT64,
						      ANGARA_RED_SUM), -EINVAL) &&
	     (size == 1 ||
	      expect("length", angara_allgather(team, mr, 2048, mr, 0, SIZE_MAX / size + 1),
		     -EINVAL));
	free(blocks);
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

const struct part room_parts[] = {
	{ "a full ring of completions", ring_full },
	{ "operations that need no place in it", ring_counted },
	{ "collectives while completions are not polled", ring_collective },
	{ "teams left while the adapter reads", leave_reading },
	{ "blocks that wrap around", wrapped_blocks },
	{ NULL, NULL },
};
