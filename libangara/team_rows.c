// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The coordinator's part in making a team: build the tree, find a TreeId that
 * nobody uses, program the rows.
 *
 * A TreeId is good for one tree per fabric.  Others may be programming at the
 * same time, and nothing locks a TreeId as a whole: rows are set in ascending
 * order of nodes, so of two overlapping attempts one fails at its first common
 * row, and two that do not overlap are found out by ANGARA_IOCTL_TREE_CHECK.
 * Whoever fails takes back what it has set and goes on to the next TreeId.
 *
 * An administrator may clear the rows of a team.  As long as the team is there,
 * no other one with a member in common gets its TreeId: to the kernel, rows and
 * memberships of both would be the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <angara/topo.h>

#include "pool.h"
#include "team.h"

#define ANG_ROUNDS	3		/* attempts over all trees */
#define ANG_BACKOFF_NS	8000000U	/* between two of them, at most */

/* An answer from the clock is good enough: this is not a secret. */
static u32 any_number(void)
{
	u32 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return (u32)(ang_now_ns() * 2654435761U) ^ (u32)getpid();
}

static void rows_unset(struct ang_rows *r)
{
	struct angara_tree_clear arg = ANG_CMD_INIT(struct angara_tree_clear);

	/* Others may have cleared a row, and set their own in its place. */
	arg.flags = ANGARA_TREE_CLEAR_OWNED;
	arg.tree = r->tree;
	while (r->set) {
		u32 node = r->nodes[--r->set];

		ang_dev_cmd(ang_pool_dev(r->pool, node),
			    ANGARA_IOCTL_TREE_CLEAR, &arg);
	}
}

static int rows_set(struct ang_rows *r)
{
	struct angara_tree_set arg = ANG_CMD_INIT(struct angara_tree_set);

	arg.flags = ANGARA_TREE_OWNED;
	for (; r->set < r->n; r->set++) {
		struct ang_dev *dev = ang_pool_dev(r->pool, r->nodes[r->set]);
		int ret;

		arg.row = r->rows[r->set];
		arg.row.tree = (u8)r->tree;
		ret = ang_dev_cmd(dev, ANGARA_IOCTL_TREE_SET, &arg);
		if (ret)
			return ret;
	}
	return 0;
}

/* Our rows are valid: a broken rule means that another tree has the id. */
static int rows_check(struct ang_rows *r)
{
	struct angara_tree_check arg = ANG_CMD_INIT(struct angara_tree_check);
	struct ang_dev *dev = ang_pool_dev(r->pool, r->nodes[r->root]);
	int ret;

	arg.tree = r->tree;
	ret = ang_dev_cmd(dev, ANGARA_IOCTL_TREE_CHECK, &arg);
	if (ret)
		return ret == -EPERM ? -EBUSY : ret;
	return arg.rule ? -EBUSY : 0;
}

static int try_tree(struct ang_rows *r, u32 tree)
{
	int ret;

	r->tree = tree;
	ret = rows_set(r);
	if (!ret)
		ret = rows_check(r);
	if (ret)
		rows_unset(r);
	return ret;
}

static void back_off(void)
{
	struct timespec ts = { .tv_nsec = any_number() % ANG_BACKOFF_NS };

	nanosleep(&ts, NULL);
}

/* @want: TreeId + 1, or 0 for any.  Return: as angara_team_create(). */
static int choose_tree(struct ang_rows *r, u32 want)
{
	u32 first = want ? want - 1 : 0;
	u32 end = want ? want : ANGARA_MAX_TREES;
	u32 round, tree;

	for (round = 0; round < ANG_ROUNDS; round++) {
		bool busy = false;

		if (round)
			back_off();
		for (tree = first; tree < end; tree++) {
			int ret = r->taken >> tree & 1 ? -EBUSY :
				  try_tree(r, tree);

			if (ret == -EBUSY)
				busy = true;
			else if (ret != -EPERM)
				return ret;
		}
		if (!busy)
			return -EPERM;
	}
	return want ? -EBUSY : -ENOSPC;
}

/* Keeps the rows of the nodes that are in the tree, out of one for each. */
static int keep_rows(struct ang_rows *r, const struct angara_tree_row *all,
		     u32 nodes, u32 pkey)
{
	u32 node;

	r->rows = calloc(r->n, sizeof(*r->rows));
	r->nodes = calloc(r->n, sizeof(*r->nodes));
	if (!r->rows || !r->nodes)
		return -ENOMEM;
	r->epoch = any_number() % 0xFFFF + 1;
	r->n = 0;
	for (node = 0; node < nodes; node++) {
		if (!angara_tree_has(&all[node]))
			continue;
		if (all[node].is_root)
			r->root = r->n;
		r->rows[r->n] = all[node];
		r->rows[r->n].pkey = pkey;
		r->rows[r->n].epoch = (u16)r->epoch;
		r->nodes[r->n++] = node;
	}
	return 0;
}

static int build(struct ang_rows *r, const struct angara_ctx *ctx, u32 root,
		 const struct angara_peer *peers, u32 n)
{
	const struct angara_query *q = &ctx->query;
	struct angara_topo topo = { .ndims = q->ndims };
	struct angara_tree_row *all;
	int ret = -ENOMEM;
	u16 *pe;
	u32 i;

	memcpy(topo.dims, q->dims, sizeof(topo.dims));
	all = calloc(q->nodes, sizeof(*all));
	pe = calloc(q->nodes, sizeof(*pe));
	if (!all || !pe)
		goto out;
	for (i = 0; i < n; i++)
		if (peers[i].node < q->nodes && pe[peers[i].node] < 0xFFFF)
			pe[peers[i].node]++;
	ret = angara_tree_build(&topo, root, pe, 0, all);
	if (ret < 0)
		goto out;
	r->n = (u32)ret;
	ret = keep_rows(r, all, q->nodes, ctx->create.pkey);
out:
	free(pe);
	free(all);
	return ret;
}

static int hold_devices(struct ang_rows *r)
{
	int ret = 0;

	while (!ret && r->held < r->n) {
		ret = ang_pool_hold(r->pool, r->nodes[r->held]);
		if (!ret)
			r->held++;
	}
	return ret;
}

/**
 * ang_rows_program() - lay a tree
 * @r: out; ang_rows_clear() takes it back, also after an error
 * @ctx: the coordinator's context
 * @root: node of the root
 * @peers: members
 * @n: number of members
 * @want: TreeId + 1, or 0 for any
 *
 * Return: as angara_team_create().
 */
int ang_rows_program(struct ang_rows *r, struct angara_ctx *ctx, u32 root,
		     const struct angara_peer *peers, u32 n, u32 want)
{
	int ret;

	if (!ctx->pool) {
		ret = ang_pool_new(&ctx->spec, ctx->query.fabric_id,
				   ctx->query.nodes, &ctx->pool);
		if (ret)
			return ret;
	}
	r->pool = ctx->pool;
	ret = build(r, ctx, root, peers, n);
	if (!ret)
		ret = hold_devices(r);
	if (!ret)
		ret = choose_tree(r, want);
	return ret;
}

void ang_rows_clear(struct ang_rows *r)
{
	rows_unset(r);
	while (r->held)
		ang_pool_drop(r->pool, r->nodes[--r->held]);
	free(r->rows);
	free(r->nodes);
	*r = (struct ang_rows){ 0 };
}
