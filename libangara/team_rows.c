// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of a team's tree: build the tree, find a free TreeId, program the rows.
 * The row of a switch is programmed through the device of its keeper, the node
 * that represents the switch.  The coordinator programs all rows if it has the
 * devices of all rows; else several members program them, see team_apart.c.
 *
 * A TreeId names one tree per fabric.  Other processes may program rows at the
 * same time, and nothing locks a TreeId as a whole: rows are set in ascending
 * order of routers, so if two attempts overlap, one fails at the first common
 * row.  If they do not overlap, ANGARA_IOCTL_TREE_CHECK detects the other
 * attempt on the same machine; attempts on different machines do not conflict.
 * A process that fails clears the rows that it has set and tries the next
 * TreeId.
 *
 * An administrator may clear the rows of a team.  As long as the team exists,
 * no other team that shares a member with it gets this TreeId: the kernel could
 * not distinguish rows and memberships of both teams.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <angara/fabric.h>
#include <angara/topo.h>

#include "pool.h"
#include "team.h"

#define ANG_ROUNDS	3		/* rounds over all TreeIds */
#define ANG_BACKOFF_NS	8000000U	/* longest pause between two attempts */

/* A random number, or one from the clock: the number need not be secret. */
static u32 any_number(void)
{
	u32 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return (u32)(ang_now_ns() * 2654435761U) ^ (u32)getpid();
}

/*
 * Return: router of row @i for a command: the number of a switch; 0 for a node, whose device
 * implies the router.  @flags: ANGARA_TREE_ROUTER is added for a switch
 */
static u32 row_router(const struct ang_rows *r, u32 i, u32 *flags)
{
	if (r->routers[i] == r->nodes[i])
		return 0;
	*flags |= ANGARA_TREE_ROUTER;
	return r->routers[i];
}

static void rows_unset(struct ang_rows *r)
{
	struct angara_tree_clear arg = ANG_CMD_INIT(struct angara_tree_clear);

	/*
	 * Clear only rows that this process owns: another process may have
	 * cleared our row and set its own.
	 */
	arg.tree = r->tree;
	while (r->set) {
		u32 i = --r->set;

		if (!r->held[i])
			continue;
		arg.flags = ANGARA_TREE_CLEAR_OWNED;
		arg.router = row_router(r, i, &arg.flags);
		ang_dev_cmd(ang_pool_dev(r->pool, r->nodes[i]),
			    ANGARA_IOCTL_TREE_CLEAR, &arg);
	}
}

static int rows_set(struct ang_rows *r)
{
	struct angara_tree_set arg = ANG_CMD_INIT(struct angara_tree_set);

	for (; r->set < r->n; r->set++) {
		int ret;

		if (!r->held[r->set])
			continue;
		arg.flags = ANGARA_TREE_OWNED;
		arg.router = row_router(r, r->set, &arg.flags);
		arg.row = r->rows[r->set];
		arg.row.tree = (u8)r->tree;
		arg.row.epoch = (u16)r->epoch;
		ret = ang_dev_cmd(ang_pool_dev(r->pool, r->nodes[r->set]),
				  ANGARA_IOCTL_TREE_SET, &arg);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Checks that no other tree uses the TreeId.  Our rows are valid by themselves, so a broken rule
 * means that there are rows of another tree, or that other processes have yet to set rows of this
 * one.  In the second case, there is one root, and all rows that are present are ours.
 */
static int rows_check(struct ang_rows *r)
{
	struct angara_tree_verify arg = ANG_CMD_INIT(struct angara_tree_verify);
	struct ang_dev *dev = ang_pool_dev(r->pool, r->nodes[r->root]);
	int ret;

	arg.tree = r->tree;
	ret = ang_dev_cmd(dev, ANGARA_IOCTL_TREE_CHECK, &arg);
	if (ret)
		return ret == -EPERM ? -EBUSY : ret;
	if (!r->missing)
		return arg.rule ? -EBUSY : 0;
	return arg.rule == ANGARA_TREE_RULE_ROOT ||
	       arg.rule == ANGARA_TREE_RULE_FIELD ||
	       arg.nodes != r->n - r->missing ? -EBUSY : 0;
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

/**
 * ang_rows_propose() - program our rows with the next TreeId that is free here
 * @r: rows, none of them set; this process programs the row of the root
 * @want: TreeId + 1, or 0 for any
 *
 * Return: as angara_team_create().
 */
int ang_rows_propose(struct ang_rows *r, u32 want)
{
	u32 first = want ? want - 1 : 0;
	u32 num = want ? 1 : r->max_trees;

	while (r->turn < ANG_ROUNDS * num) {
		u32 tree = first + r->turn % num;
		int ret;

		if (r->turn && tree == first) {
			if (!r->busy)
				return -EPERM;
			r->busy = false;
			back_off();
		}
		r->turn++;
		ret = r->taken >> tree & 1 ? -EBUSY :
		      r->reserved >> tree & 1 ? -EPERM : try_tree(r, tree);
		if (ret == -EBUSY)
			r->busy = true;
		else if (ret != -EPERM)
			return ret;
	}
	if (!r->busy)
		return -EPERM;
	return want ? -EBUSY : -ENOSPC;
}

/** ang_rows_restart() - let ang_rows_propose() try all TreeIds again */
void ang_rows_restart(struct ang_rows *r)
{
	r->turn = 0;
	r->busy = false;
}

/** ang_lease_end() - return the lease of a tree whose rows are cleared */
void ang_lease_end(struct ang_rows *r)
{
	/*
	 * A child of the process may have the socket, too: closing it here is
	 * not enough.
	 */
	if (r->leased) {
		shutdown(r->lease, SHUT_RDWR);
		close(r->lease);
	}
	r->leased = false;
}

/**
 * ang_rows_follow() - program our rows with the TreeId that the coordinator has
 * chosen
 * @r: rows, none of them set
 * @tree: TreeId
 * @epoch: incarnation
 *
 * Return: 0; after an error no row is set; -EBUSY, -EPERM: this TreeId cannot
 * be used.
 */
int ang_rows_follow(struct ang_rows *r, u32 tree, u32 epoch)
{
	int ret;

	r->tree = tree;
	r->epoch = epoch;
	ret = rows_set(r);
	if (ret)
		rows_unset(r);
	return ret;
}

/**
 * ang_rows_retract() - clear our rows, because other members could not set
 * theirs
 * @r: rows
 * @why: error of these members
 */
void ang_rows_retract(struct ang_rows *r, int why)
{
	rows_unset(r);
	if (why == -EBUSY)
		r->busy = true;
}

/*
 * Selects from @plan, which has a row for each router, the rows of routers that
 * are in the tree.
 */
static int keep_rows(struct ang_rows *r, const struct ang_plan *plan, u32 pkey)
{
	u32 i;

	r->rows = calloc(r->n, sizeof(*r->rows));
	r->routers = calloc(r->n, sizeof(*r->routers));
	r->nodes = calloc(r->n, sizeof(*r->nodes));
	r->held = calloc(r->n, sizeof(*r->held));
	if (!r->rows || !r->routers || !r->nodes || !r->held) {
		r->n = 0;
		return -ENOMEM;
	}
	r->epoch = any_number() % 0xFFFF + 1;
	r->n = 0;
	for (i = 0; i < plan->routers; i++) {
		if (!angara_tree_has(&plan->rows[i]))
			continue;
		if (plan->rows[i].is_root)
			r->root = r->n;
		r->rows[r->n] = plan->rows[i];
		r->rows[r->n].pkey = pkey;
		r->routers[r->n] = i;
		r->nodes[r->n++] = plan->is_torus ? i :
				   angara_fabric_keeper(plan->fabric, i);
	}
	return 0;
}

static int rows_build(struct ang_rows *r, const struct angara_team *team, u32 root)
{
	struct ang_plan plan = { 0 };
	int ret = ang_plan_make(&plan, team, root, ANG_PLAN_ALL, &r->down);

	if (ret >= 0) {
		r->n = (u32)ret;
		ret = keep_rows(r, &plan, team->ctx->dom->pkey);
	}
	ang_plan_free(&plan);
	return ret == -EHOSTUNREACH ? -ENETDOWN : ret;
}

static void hold_devices(struct ang_rows *r)
{
	u32 i;

	for (i = 0; i < r->n; i++) {
		int ret = ang_pool_hold(r->pool, r->nodes[i]);

		if (ret && !r->missing++)
			r->why = ret;
		r->held[i] = !ret;
	}
}

/** ang_rows_leave_to_others() - note that another process programs row @i */
void ang_rows_leave_to_others(struct ang_rows *r, u32 i)
{
	if (r->held[i])
		ang_pool_drop(r->pool, r->nodes[i]);
	r->held[i] = false;
}

/* Forgets the planned rows, none of which is set. */
static void rows_drop(struct ang_rows *r)
{
	u32 i;

	for (i = 0; i < r->n; i++)
		ang_rows_leave_to_others(r, i);
	free(r->rows);
	free(r->routers);
	free(r->nodes);
	free(r->held);
	r->rows = NULL;
	r->routers = NULL;
	r->nodes = NULL;
	r->held = NULL;
	r->n = 0;
	r->missing = 0;
	r->why = 0;
}

/**
 * ang_rows_plan() - plan a tree that avoids the links in @r->down, and open those of
 * its devices that are on this machine
 * @r: out; none of its rows is set; freed by ang_rows_clear(), also after an error
 * @team: team
 * @root: rank whose node is the root
 *
 * Return: as angara_team_create().
 */
int ang_rows_plan(struct ang_rows *r, const struct angara_team *team, u32 root)
{
	struct angara_ctx *ctx = team->ctx;
	int ret;

	if (!ctx->pool) {
		ret = ang_pool_new(&ctx->dom->spec, ctx->dom->query.fabric_id,
				   ctx->dom->query.nodes, &ctx->pool);
		if (ret)
			return ret;
	}
	rows_drop(r);
	r->pool = ctx->pool;
	r->max_trees = ctx->dom->query.max_trees;
	ret = rows_build(r, team, root);
	if (!ret)
		hold_devices(r);
	return ret;
}

void ang_rows_clear(struct ang_rows *r)
{
	rows_unset(r);
	ang_lease_end(r);
	rows_drop(r);
	ang_links_free(&r->down);
	*r = (struct ang_rows){ 0 };
}
