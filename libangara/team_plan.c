// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The shape of a team's tree: a function of the fabric, the nodes of the members, the
 * root and the links that are down, so every member that knows these can compute it by
 * itself, with the same result.
 */
#include <errno.h>
#include <stdlib.h>

#include "team.h"

/**
 * ang_plan_fabric() - open the fabric of a domain, whatever its topology.
 * Return: 0; -errno.
 */
int ang_plan_fabric(struct angara_domain *dom, struct angara_fabric **fabric)
{
	char *text;
	int ret = dom->dev.ops->describe(&dom->dev, &text);

	if (ret)
		return ret;
	ret = angara_fabric_open(text, fabric, NULL, 0);
	free(text);
	return ret;
}

/* Opens a plan, with a row for each router.  Return: 0; -errno. */
static int plan_open(struct ang_plan *plan, struct angara_domain *dom,
		     bool several, const struct ang_links *down)
{
	int ret = angara_domain_topo(dom, &plan->torus);

	plan->is_torus = !ret;
	plan->routers = dom->query.nodes;
	plan->avoids = down && down->n;
	if (ret == -EOPNOTSUPP || (!ret && (several || plan->avoids)))
		ret = ang_plan_fabric(dom, &plan->fabric);
	if (!ret && plan->avoids)
		ret = angara_fabric_avoid(plan->fabric, down->link, down->n, NULL);
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

/** ang_plan_free() - free a plan, also after an error */
void ang_plan_free(struct ang_plan *plan)
{
	angara_fabric_close(plan->fabric);
	free(plan->rows);
	free(plan->load);
}

static void plan_add_load(struct ang_plan *plan)
{
	u32 ports = angara_fabric_ports(plan->fabric);
	u32 i;

	for (i = 0; i < plan->routers; i++) {
		u64 set = plan->rows[i].ports;

		for (; set; set &= set - 1)
			plan->load[i * ports + (u32)__builtin_ctzll(set)]++;
	}
}

/*
 * Computes a tree around links that are down: from another root if @root does not
 * reach all members.  That root is a member's node if possible: the device of a node
 * without members may be on a machine without a process of the team.
 * Return: as plan_tree().
 */
static int plan_around(struct ang_plan *plan, u32 root, const u16 *pe)
{
	u32 nodes = angara_fabric_nodes(plan->fabric), n;
	int ret = angara_fabric_tree(plan->fabric, root, pe, plan->load, plan->rows);
	int64_t best;

	if (ret != -EHOSTUNREACH)
		return ret;
	best = angara_fabric_root(plan->fabric, pe, plan->load);
	if (best < 0)
		return (int)best;
	for (n = 0; !pe[best] && n < nodes && ret == -EHOSTUNREACH; n++)
		if (pe[n])
			ret = angara_fabric_tree(plan->fabric, n, pe, plan->load,
						 plan->rows);
	if (ret != -EHOSTUNREACH)
		return ret;
	return angara_fabric_tree(plan->fabric, (u32)best, pe, plan->load, plan->rows);
}

/* Computes one tree.  Return: routers in the tree, or -errno. */
static int plan_tree(struct ang_plan *plan, u32 root, const u16 *pe, bool first)
{
	int ret;

	if (plan->avoids)
		return plan_around(plan, root, pe);
	if (!plan->is_torus || !first)
		return angara_fabric_tree(plan->fabric, root, pe, plan->load,
					  plan->rows);
	ret = angara_tree_build(&plan->torus, root, pe, 0, plan->rows);
	if (ret >= 0 && plan->load)
		plan_add_load(plan);
	return ret;
}

/**
 * ang_stripe_distance() - distance of a tree's root from that of the first tree
 * @size: members
 * @i: index of a tree among the trees of the same members
 * @parts: number of trees of the same members
 *
 * Return: distance in ranks between the root of tree @i and that of the first
 * tree.
 */
u32 ang_stripe_distance(u32 size, u32 i, u32 parts)
{
	return (u32)((u64)size * i / parts);
}

/**
 * ang_stripe_root() - find the root of one of the trees of the same members
 * @team: team
 * @root: rank whose node is the root of this team's tree
 * @i: index of the tree
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

/**
 * ang_plan_make() - compute a team's tree
 * @plan: out: zeroed by the caller; freed by ang_plan_free(), also after an error
 * @team: team
 * @root: rank whose node is the root
 * @most: largest number of members that are counted per node
 * @down: links that the tree avoids, for which it may have another root; NULL: none
 *
 * The plan of each tree of the same members depends on the trees before it, so
 * the earlier trees are planned as well.
 *
 * Return: routers in the tree; -EINVAL a node has more members than a row can
 * count; -EHOSTUNREACH no tree avoids the links; -ENOMEM; -errno the description
 * of the fabric cannot be read.
 */
int ang_plan_make(struct ang_plan *plan, const struct angara_team *team, u32 root,
		  u32 most, const struct ang_links *down)
{
	struct angara_domain *dom = team->ctx->dom;
	u16 *pe = calloc(dom->query.nodes, sizeof(*pe));
	int ret = pe ? plan_open(plan, dom, team->part, down) : -ENOMEM;
	u32 i;

	for (i = 0; i < team->size && !ret; i++)
		if (team->peers[i].node < dom->query.nodes &&
		    pe[team->peers[i].node] < most)
			pe[team->peers[i].node]++;
	for (i = 0; i <= team->part && ret >= 0; i++) {
		u32 rank = ang_stripe_root(team, root, i);

		ret = plan_tree(plan, team->peers[rank].node, pe, !i);
	}
	free(pe);
	return ret;
}

/** ang_plan_peer() - get the router at the other end of a port of the tree */
u32 ang_plan_peer(const struct ang_plan *plan, u32 router, u32 port)
{
	u32 far;

	return plan->is_torus ?
	       angara_topo_neighbor(&plan->torus, router, port) :
	       angara_fabric_peer(plan->fabric, router, port, &far);
}
