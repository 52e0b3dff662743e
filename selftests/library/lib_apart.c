// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Teams of processes that each have only the device of their own node, as on
 * several machines; see selftests/library/one-device.
 */
#include <errno.h>
#include <sys/ioctl.h>

#include "lib.h"

static bool team_of_all(unsigned int root)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .root = root };
	struct angara_team *team;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		return false;
	return works(team) & expect("destroy", angara_team_destroy(team), 0);
}

/* Sets a row of another user on the device of process @at. */
static bool foreign_row(unsigned int at, uint8_t tree)
{
	struct angara_tree_set arg = {
		.size = sizeof(arg),
		.row = { .tree = tree, .is_root = 1, .pe = 1, .epoch = 1,
			 .to_root = ANGARA_PORT_NONE },
	};
	struct angara_domain_info info = alone_about(ctx);
	bool ok = true;

	arg.row.pkey = info.pkey;
	if (rank == at)
		ok = expect("set", device_ioctl(ANGARA_IOCTL_TREE_SET, &arg), 0);
	return ok & expect("barrier", angara_job_barrier(job), 0);
}

static bool foreign_row_clear(unsigned int at, uint8_t tree)
{
	struct angara_tree_clear arg = { .size = sizeof(arg), .tree = tree };
	bool ok = true;

	if (rank == at)
		ok = expect("clear", device_ioctl(ANGARA_IOCTL_TREE_CLEAR,
						  &arg), 0);
	return ok & expect("barrier", angara_job_barrier(job), 0);
}

/* If a TreeId is in use on any machine, all members try the next one. */
static bool taken(unsigned int at)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .tree = 1 };
	struct angara_team *team, *other;
	bool ok;

	if (!foreign_row(at, 0))
		return false;
	ok = expect("taken", angara_team_create(job, ctx, NULL, 0, &attr, &other),
		    -EBUSY);
	if (!expect("next", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0))
		return false;
	ok &= expect("tree", angara_team_tree(team), 1) & works(team);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	ok &= foreign_row_clear(at, 0);
	/* The failed attempts must leave no row on any device. */
	if (!expect("again", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		return false;
	return ok & works(team) & expect("destroy", angara_team_destroy(team), 0);
}

#define MAX_TREES	64	/* most trees that any device has */

static unsigned int max_trees(void)
{
	return alone_about(ctx).max_trees;
}

static bool all_at_once(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *teams[MAX_TREES], *more;
	unsigned int n;
	bool ok = true;

	for (n = 0; n < max_trees(); n++) {
		struct angara_team_attr attr = { .size = sizeof(attr), .root = n % size };

		if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr,
							 &teams[n]), 0))
			return false;
	}
	ok = expect("no more", angara_team_create(job, ctx, NULL, 0, &wants, &more),
		    -ENOSPC);
	while (n--)
		ok &= works(teams[n]) &
		      expect("destroy", angara_team_destroy(teams[n]), 0);
	return ok;
}

/* Processes 0 and 1 are neighbours in every torus.  Processes 0 and 7 of 2x2x2 are not. */
static bool parts_of_the_job(void)
{
	const unsigned int pair[] = { 0, 1 }, corners[] = { 0, 7 };
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team *team;
	bool ok = true;

	if (rank < 2)
		ok = expect("pair", angara_team_create(job, ctx, pair, 2, &wants, &team), 0) &&
		     works(team) & expect("destroy", angara_team_destroy(team), 0);
	if (size != 8 || (rank && rank != 7))
		return ok;
	return ok & expect("no device in between",
			   angara_team_create(job, ctx, corners, 2, &wants, &team),
			   -ENODEV) &&
	       expect("by software", angara_team_create(job, ctx, corners, 2, NULL, &team), 0) &&
	       works(team) & expect("destroy", angara_team_destroy(team), 0);
}

bool apart(void)
{
	unsigned int root;
	bool ok = true;

	for (root = 0; root < size; root++)
		ok &= team_of_all(root);
	return ok && taken(0) && taken(size - 1) && all_at_once() &&
	       parts_of_the_job() && team_of_all(0);
}
