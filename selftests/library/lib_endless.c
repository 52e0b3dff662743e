// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reductions until a node is lost, for selftests/guest/cluster.t. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define COUNT	1000
#define WARM_UP	20	/* reductions before the message */

/* Executes a reduction.  Return: 0, or its error, with the node at fault. */
static int reduce_once(struct angara_team *team, struct angara_mr *mr,
		       uint32_t *node)
{
	int64_t *v = angara_mr_addr(mr);
	struct pending req = { 0 };
	int ret;
	size_t i;

	for (i = 0; i < COUNT; i++)
		v[i] = (int64_t)(rank + i);
	ret = angara_allreduce_nbi(team, mr, 0, mr, 0, COUNT, ANGARA_TYPE_INT64,
				   ANGARA_RED_SUM, pending_op(&req));
	if (!ret)
		ret = pending_wait(ctx, &req, LONG_MS);
	*node = req.ended ? req.c.node : UINT32_MAX;
	for (i = 0; !ret && i < COUNT; i++)
		if (v[i] != (int64_t)(size * (size - 1) / 2 + size * i))
			ret = -EILSEQ;
	return ret;
}

/*
 * Prints a message when reductions run, and the error that ends them.  Then it
 * does not exit: if one process ended, the launcher might kill the others
 * before they print their messages.
 */
bool endless(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team;
	struct angara_mr *mr = own_region(COUNT * sizeof(int64_t));
	unsigned int n = 0;
	uint32_t node;
	int ret;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, &wants, &team), 0))
		return false;
	do {
		ret = reduce_once(team, mr, &node);
		if (++n == WARM_UP)
			printf("# rank %u reduces\n", rank);
		fflush(stdout);
	} while (!ret);
	printf("# rank %u: node %u: %s\n", rank, node, strerror(-ret));
	fflush(stdout);
	for (;;)
		pause();
}
