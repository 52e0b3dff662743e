// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Cases that depend on the user that runs them, or on a fabric that changes
 * while they run.  selftests/library/in-guest sets them up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define DELEGATED	3	/* TreeId */

static bool pkey(void)
{
	struct angara_domain_info info = alone_about(ctx);

	if (rank == 0)
		printf("# pkey %u\n", info.pkey);
	return true;
}

/*
 * Prints the node of each process; library/in-guest compares the nodes that the
 * library has chosen.
 */
static bool node(void)
{
	struct angara_domain_info info = alone_about(ctx);
	uint32_t *nodes = calloc(size, sizeof(*nodes));
	bool ok;

	if (!nodes)
		return false;
	ok = expect("allgather", angara_job_allgather(job, &info.node,
						      sizeof(*nodes), nodes), 0);
	for (unsigned int r = 0; ok && rank == 0 && r < size; r++)
		printf("# rank %u node %u\n", r, nodes[r]);
	free(nodes);
	return ok;
}

/*
 * An unprivileged user gets no tree: a team that requires one fails, another
 * team works in software.
 */
static bool unprivileged(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team;

	return expect("create", angara_team_create(job, ctx, NULL, 0, &wants, &team),
		      -EPERM) &&
	       expect("create", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0) &&
	       expect("tree", angara_team_tree(team), ANGARA_NO_TREE) & works(team) &
	       expect("destroy", angara_team_destroy(team), 0);
}

/* Delegates a tree; needs root, and a process on each node. */
static bool delegate(void)
{
	struct angara_tree_delegate arg = {
		.size = sizeof(arg),
		.tree = DELEGATED,
		.pkey = (uint32_t)strtoul(getenv("LIB_PKEY"), NULL, 10),
	};

	return expect("delegate", device_ioctl(ANGARA_IOCTL_TREE_DELEGATE,
						&arg), 0);
}

static bool delegated(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team, *other;
	bool ok;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0))
		return false;
	ok = expect("tree", angara_team_tree(team), DELEGATED) &&
	     expect("one more", angara_team_create(job, ctx, NULL, 0, &wants, &other),
		    -ENOSPC) &&
	     works(team);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/* Clears the rows of a tree of any user; needs an administrator, and the driver. */
static bool clear_rows(unsigned int tree)
{
	char command[64];

	snprintf(command, sizeof(command), "angaractl tree delete %u >/dev/null", tree);
	return expect("clear", system(command), 0);
}

/* A team whose rows were cleared keeps its TreeId: the next team gets another. */
static bool tree_cleared(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .tree = 5 };
	struct angara_team *first, *second;
	bool ok = true;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &first), 0))
		return false;
	if (!rank)
		ok = clear_rows(4);
	ok &= expect("barrier", angara_job_barrier(job), 0);
	ok &= expect("taken", angara_team_create(job, ctx, NULL, 0, &attr, &second),
		     -EBUSY);
	if (!expect("another", angara_team_create(job, ctx, NULL, 0, NULL, &second), 0))
		return false;
	ok &= expect("cleared", angara_team_destroy(first) < 0, 1);
	ok &= works(second) & expect("destroy", angara_team_destroy(second), 0);
	if (!expect("again", angara_team_create(job, ctx, NULL, 0, &attr, &second), 0))
		return false;
	return ok & works(second) & expect("destroy", angara_team_destroy(second), 0);
}

/*
 * The fabric is removed while all processes sleep on it; with LIB_BROKEN, its
 * devices stay and do not respond.
 */
static bool gone(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team;
	struct angara_mr *mr = own_region(4096);
	struct pending req = { 0 };
	bool ok;
	int ret;

	ok = expect("create", angara_team_create(job, ctx, NULL, 0, &wants, &team), 0);
	if (!ok)
		return false;
	/*
	 * Start an operation that cannot end, since the last process does not
	 * take part.
	 */
	if (rank != size - 1)
		ok = expect("barrier", angara_barrier_nbi(team, pending_op(&req)), 0);
	/*
	 * The script waits for this message, and until all processes sleep.
	 * Then it removes the adapters.
	 */
	ok &= expect("all", angara_job_barrier(job), 0);
	if (rank == 0)
		printf("# ready\n");
	fflush(stdout);
	ok &= expect("counter", angara_counter_wait(ctx, 0, 1, LONG_MS), -ENODEV);
	if (rank != size - 1) {
		do {
			ret = pending_test(ctx, &req);
		} while (ret == -EAGAIN);
		ok &= expect("test", ret == -ENODEV || ret == -ECONNRESET, 1);
	}
	ok &= expect("put", angara_put_nbi(ctx, peers()[0], 0, 0, mr, 0, 1, NULL),
		     -ENODEV);
	ok &= expect("malloc", angara_malloc(dom, 1, &mr),
		     getenv("LIB_BROKEN") ? -EIO : -ENODEV);
	ret = angara_team_destroy(team);
	return ok & expect("destroy", ret == -ENODEV || ret == -ECONNRESET ||
			   ret == -ENOTCONN, 1);
}

/* Sleeps until the process is killed. */
static bool stay(void)
{
	printf("# ready\n");
	fflush(stdout);
	return angara_counter_wait(ctx, 0, 1, ANGARA_FOREVER) == 0;
}

/* Keeps memory registered until there is a line on standard input. */
static bool hold(void)
{
	static char memory[4096];
	struct angara_mr *mr;
	bool ok;

	ok = expect("register", angara_mr_reg(dom, memory, sizeof(memory),
					      ANGARA_ACCESS_ALL, &mr), 0);
	printf("# hold %d %llu\n", (int)getpid(),
	       (unsigned long long)(uintptr_t)memory);
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
	angara_mr_dereg(mr);
	printf("# released\n");
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
	return ok;
}

const struct part named_parts[] = {
	{ "pkey", pkey },
	{ "node", node },
	{ "unprivileged", unprivileged },
	{ "delegate", delegate },
	{ "delegated", delegated },
	{ "cleared", tree_cleared },
	{ "names", device_names },
	{ "no device", device_none },
	{ "partition", device_partition },
	{ "gone", gone },
	{ "stay", stay },
	{ "hold", hold },
	{ "apart", apart },
	{ "endless", endless },
	{ "say keys", said_keys },
	{ "say trees", said_trees },
	{ NULL, NULL },
};
