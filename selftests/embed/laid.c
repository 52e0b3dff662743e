// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collectives on a tree whose rows another process has set: a context on each
 * node joins it.  Their results are compared with sums and data that this
 * program computes.  For selftests/host/inband.t, with helpers of the
 * kselftests and the shim.  Argument: the tree.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "group.h"

#define HALF	65536
#define KEY	0

static struct at_group group;
static struct at_member members[AT_MAX_MEMBERS];

/* Finds the device of each node. */
static void find_nodes(void)
{
	unsigned int n = at_devices();
	struct angara_query q;

	if (n < 2 || n > AT_MAX_MEMBERS)
		errx(1, "%u devices", n);
	group.f.nodes = n;
	for (unsigned int dev = 0; dev < n; dev++) {
		int fd = at_open(dev);

		if (fd < 0 || at_query(fd, &q) || q.node >= n)
			errx(1, "device %u cannot be opened, or its node is out of range", dev);
		group.f.dev[q.node] = dev;
		close(fd);
	}
}

static void finish(unsigned int i)
{
	int ret = at_finish(&members[i]);

	if (ret)
		errx(1, "node %u: the operation ended with status %d", i, ret);
}

static void start(unsigned int i, const struct angara_wqe *w)
{
	int ret = at_start(&members[i], w);

	if (ret)
		errx(1, "node %u: cannot start an operation: %s", i, strerror(-ret));
}

static void compare(unsigned int i, const char *what, const void *want, size_t bytes)
{
	if (memcmp(members[i].mem + HALF, want, bytes) ||
	    !at_all(members[i].mem + HALF + bytes, HALF - bytes, 0x5A))
		errx(1, "node %u: %s of %zu bytes is wrong", i, what, bytes);
}

static void clear_results(void)
{
	for (unsigned int i = 0; i < group.f.nodes; i++)
		memset(members[i].mem + HALF, 0x5A, HALF);
}

static void allreduce(unsigned int tree, size_t count)
{
	size_t bytes = count * at_elem_size(ANGARA_TYPE_INT64);
	struct angara_wqe w = at_coll(ANGARA_OP_ALLREDUCE, tree, KEY, KEY, bytes);
	unsigned int who[AT_MAX_MEMBERS];
	static char want[HALF];

	w.type = ANGARA_TYPE_INT64;
	w.redop = ANGARA_RED_SUM;
	at_coll_dst(&w, HALF);
	clear_results();
	for (unsigned int i = 0; i < group.f.nodes; i++) {
		who[i] = i;
		at_give(members[i].mem, ANGARA_TYPE_INT64, count, i);
		start(i, &w);
	}
	at_reduce(want, ANGARA_TYPE_INT64, ANGARA_RED_SUM, count, who, group.f.nodes);
	for (unsigned int i = 0; i < group.f.nodes; i++)
		finish(i);
	for (unsigned int i = 0; i < group.f.nodes; i++)
		compare(i, "allreduce", want, bytes);
}

static void broadcast(unsigned int tree, unsigned int from, size_t bytes)
{
	struct angara_wqe w = at_coll(ANGARA_OP_BCAST, tree, KEY, KEY, bytes);
	uint64_t before[AT_MAX_MEMBERS];

	at_coll_dst(&w, HALF);
	clear_results();
	at_fill(members[from].mem, bytes, (unsigned int)bytes + from);
	for (unsigned int i = 0; i < group.f.nodes; i++)
		before[i] = at_counter(&members[i].x, ANGARA_CTR_BCAST(tree));
	start(from, &w);
	finish(from);
	for (unsigned int i = 0; i < group.f.nodes; i++) {
		if (at_wait_counter(&members[i].x, ANGARA_CTR_BCAST(tree), before[i] + 1,
				    AT_DEADLINE_MS))
			errx(1, "node %u: no broadcast from %u", i, from);
		compare(i, "broadcast", members[from].mem, bytes);
	}
}

int main(int argc, char **argv)
{
	unsigned int tree;

	if (argc != 2)
		errx(1, "usage: laid TREE");
	tree = (unsigned int)strtoul(argv[1], NULL, 10);
	find_nodes();
	for (unsigned int i = 0; i < group.f.nodes; i++) {
		int ret = at_member_open(&members[i], &group, i, 2 * HALF);

		if (ret != KEY)
			errx(1, "node %u: cannot open a member: %d, not the key %d", i, ret, KEY);
		ret = at_join(members[i].x.fd, tree);
		if (ret)
			errx(1, "node %u cannot join its tree: %s", i, strerror(-ret));
	}
	for (size_t count = 1; count <= HALF / 8; count = 3 * count + 1) {
		allreduce(tree, count);
		for (unsigned int from = 0; from < group.f.nodes; from++)
			broadcast(tree, from, 8 * count - 1);
	}
	for (unsigned int i = 0; i < group.f.nodes; i++)
		at_member_close(&members[i]);
	printf("%u nodes\n", group.f.nodes);
	return 0;
}
