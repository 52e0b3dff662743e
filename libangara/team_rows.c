// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of a team's tree: build the tree, find a free TreeId, program the rows.  The row of a switch
 * is programmed through the device of the node that keeps it.  The coordinator programs all rows if
 * it has the devices of all nodes; else see team_apart.c.
 *
 * A TreeId names one tree per fabric.  Other processes may program rows at the same time, and
 * nothing locks a TreeId as a whole: rows are set in ascending order of routers, so of two
 * overlapping attempts one fails at its first common row, and ANGARA_IOCTL_TREE_CHECK detects two
 * that do not overlap, if their devices are on one machine; on different machines they do not
 * conflict.  A process that fails clears the rows that it has set and tries the next TreeId.
 *
 * An administrator may clear the rows of a team.  As long as the team exists,
 * no other team with a common member gets its TreeId: the kernel could not
 * distinguish rows and memberships of the two.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <angara/fabric.h>
#include <angara/topo.h>

#include "pool.h"
#include "team.h"

#define ANG_ROUNDS	3		/* attempts over all trees */
#define ANG_BACKOFF_NS	8000000U	/* longest pause between two attempts */

/**
 * struct tree_plan - a tree
 * @torus: fabric, if that is one
 * @is_torus: it is
 * @fabric: fabric; NULL: it is a torus, and there is one tree
 * @routers: routers of it
 * @rows: one for each
 * @load: trees on each channel, as angara_fabric_tree() has it; NULL: there is
 *	one tree
 */
struct tree_plan {
	struct angara_topo torus;
	bool is_torus;
	struct angara_fabric *fabric;
	u32 routers;
	struct angara_tree_row *rows;
	u16 *load;
};

/* A number from the clock is sufficient: this is not a secret. */
static u32 any_number(void)
{
	u32 v;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) == (ssize_t)sizeof(v))
		return v;
	return (u32)(ang_now_ns() * 2654435761U) ^ (u32)getpid();
}

/* The router of row @i in commands: only a switch is named. */
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

	/* Another process may have cleared a row and set its own instead. */
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
 * Our rows are valid, so a broken rule means that another tree uses the id.  If
 * some rows are missing, rules that span nodes are broken, but there is one
 * root, and all rows present are ours.
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
 * ang_rows_propose() - program our rows on the next TreeId that is free here
 * @r: rows, none of them set; the one of the root is ours
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
		ret = r->taken >> tree & 1 ? -EBUSY : try_tree(r, tree);
		if (ret == -EBUSY)
			r->busy = true;
		else if (ret != -EPERM)
			return ret;
	}
	if (!r->busy)
		return -EPERM;
	return want ? -EBUSY : -ENOSPC;
}

/**
 * ang_rows_follow() - program our rows on the TreeId that the coordinator has
 * @r: rows, none of them set
 * @tree: TreeId
 * @epoch: incarnation
 *
 * Return: 0, or an error with no row set; -EBUSY and -EPERM as of this TreeId.
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
 * ang_rows_retract() - clear our rows: other members could not set theirs
 * @r: rows
 * @why: their error
 */
void ang_rows_retract(struct ang_rows *r, int why)
{
	rows_unset(r);
	if (why == -EBUSY)
		r->busy = true;
}

/* Keeps the rows of the routers that are in the tree, out of one for each. */
static int keep_rows(struct ang_rows *r, const struct tree_plan *plan, u32 pkey)
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

/* Opens the fabric of a domain, of any kind.  Return: 0; -errno. */
int ang_rows_fabric(struct angara_domain *dom, struct angara_fabric **fabric)
{
	char *text;
	int ret = dom->dev.ops->describe(&dom->dev, &text);

	if (ret)
		return ret;
	ret = angara_fabric_open(text, fabric, NULL, 0);
	free(text);
	return ret;
}

/* Return: 0, with a row for each router; -errno. */
static int plan_open(struct tree_plan *plan, struct angara_domain *dom,
		     bool several)
{
	int ret = angara_domain_topo(dom, &plan->torus);

	plan->is_torus = !ret;
	plan->routers = dom->query.nodes;
	if (ret == -EOPNOTSUPP || (!ret && several))
		ret = ang_rows_fabric(dom, &plan->fabric);
	if (ret)
		return ret;
	if (plan->fabric)
		plan->routers = angara_fabric_routers(plan->fabric);
	plan->rows = calloc(plan->routers, sizeof(*plan->rows));
	if (several)
		plan->load = calloc((size_t)plan->routers *
				    angara_fabric_ports(plan->fabric),
				    sizeof(*plan->load));
	return plan->rows && (!several || plan->load) ? 0 : -ENOMEM;
}

static void plan_close(struct tree_plan *plan)
{
	angara_fabric_close(plan->fabric);
	free(plan->rows);
	free(plan->load);
}

static void plan_add_load(struct tree_plan *plan)
{
	u32 ports = angara_fabric_ports(plan->fabric);
	u32 i;

	for (i = 0; i < plan->routers; i++) {
		u64 set = plan->rows[i].ports;

		for (; set; set &= set - 1)
			plan->load[i * ports + (u32)__builtin_ctzll(set)]++;
	}
}

/* Return: routers in the tree, or -errno. */
static int plan_tree(struct tree_plan *plan, u32 root, const u16 *pe, bool first)
{
	int ret;

	if (!plan->is_torus || !first)
		return angara_fabric_tree(plan->fabric, root, pe, plan->load,
					  plan->rows);
	ret = angara_tree_build(&plan->torus, root, pe, 0, plan->rows);
	if (ret >= 0 && plan->load)
		plan_add_load(plan);
	return ret;
}

/**
 * ang_stripe_distance() - the distance in ranks of two roots
 * @size: members
 * @i: which tree
 * @parts: trees of the same members
 *
 * Return: how far the root of tree @i is from that of the first tree.
 */
u32 ang_stripe_distance(u32 size, u32 i, u32 parts)
{
	return (u32)((u64)size * i / parts);
}

/**
 * ang_stripe_root() - find the root of one of the trees of the same members
 * @team: team
 * @root: rank whose node is the root of this team's tree
 * @i: which tree
 *
 * Return: rank.
 */
u32 ang_stripe_root(const struct angara_team *team, u32 root, u32 i)
{
	u64 at = (u64)root + team->size +
		 ang_stripe_distance(team->size, i, team->parts) -
		 ang_stripe_distance(team->size, team->part, team->parts);

	return (u32)(at % team->size);
}

/*
 * The plan of each tree of the same members depends on the trees before it, so
 * these are planned as well.
 */
static int rows_build(struct ang_rows *r, const struct angara_team *team, u32 root)
{
	struct angara_domain *dom = team->ctx->dom;
	const struct angara_query *q = &dom->query;
	struct tree_plan plan = { 0 };
	u16 *pe = calloc(q->nodes, sizeof(*pe));
	int ret = pe ? plan_open(&plan, dom, team->part) : -ENOMEM;
	u32 i;

	for (i = 0; i < team->size && !ret; i++)
		if (team->peers[i].node < q->nodes &&
		    pe[team->peers[i].node] < 0xFFFF)
			pe[team->peers[i].node]++;
	for (i = 0; i <= team->part && ret >= 0; i++) {
		u32 rank = ang_stripe_root(team, root, i);

		ret = plan_tree(&plan, team->peers[rank].node, pe, !i);
	}
	if (ret < 0)
		goto out;
	r->n = (u32)ret;
	ret = keep_rows(r, &plan, dom->pkey);
out:
	plan_close(&plan);
	free(pe);
	return ret;
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

/**
 * ang_rows_plan() - build a tree, and open its devices that are on this machine
 * @r: out; freed by ang_rows_clear(), also after an error
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
	r->pool = ctx->pool;
	r->max_trees = ctx->dom->query.max_trees;
	ret = rows_build(r, team, root);
	if (!ret)
		hold_devices(r);
	return ret;
}

/** ang_rows_leave_to_others() - note that another process programs row @i */
void ang_rows_leave_to_others(struct ang_rows *r, u32 i)
{
	if (r->held[i])
		ang_pool_drop(r->pool, r->nodes[i]);
	r->held[i] = false;
}

void ang_rows_clear(struct ang_rows *r)
{
	u32 i;

	rows_unset(r);
	for (i = 0; i < r->n; i++)
		ang_rows_leave_to_others(r, i);
	free(r->rows);
	free(r->routers);
	free(r->nodes);
	free(r->held);
	*r = (struct ang_rows){ 0 };
}
