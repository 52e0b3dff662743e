// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Neighbours of the members in a software tree.  This tree combines contributions in the order of
 * the team's tree in the network: at each router first those of the node's members, by rank, then
 * the results of the router's children, by port.  If a team has no tree in the network, the order
 * is that of the tree that it would have.
 *
 * The leader of a router combines the contributions that the router would
 * combine. The leader is the member of the router's node with the lowest rank;
 * if the router has no members, it is the leader of the router's first child.
 * Members that are not leaders are leaves.
 */
#include <errno.h>
#include <stdlib.h>

#include "coll_run.h"

#define NO_ROUTER	UINT32_MAX

/**
 * struct kin_tree - the tree of a team, while neighbours are computed
 * @team: team
 * @plan: tree of routers
 * @first: member of each router with the lowest rank, plus 1; 0: the router has
 *	no members
 * @next: next member of the same router, by rank, plus 1; 0: there is none
 */
struct kin_tree {
	const struct angara_team *team;
	struct ang_plan plan;
	u32 *first;
	u32 *next;
};

static u32 router_of(const struct kin_tree *t, u32 rank)
{
	return t->team->peers[rank].node;
}

static u32 parent_of(const struct kin_tree *t, u32 router)
{
	const struct angara_tree_row *row = &t->plan.rows[router];

	return row->is_root ? NO_ROUTER : ang_plan_peer(&t->plan, router, row->to_root);
}

/* Router at the lowest port of @ports, which is not empty. */
static u32 child_at(const struct kin_tree *t, u32 router, u64 ports)
{
	return ang_plan_peer(&t->plan, router, (u32)__builtin_ctzll(ports));
}

/*
 * Return: leader of a router.  A router without members has children; its leader is that of the
 * first child.
 */
static u32 leader_of(const struct kin_tree *t, u32 router)
{
	while (!t->first[router])
		router = child_at(t, router, t->plan.rows[router].ports);
	return t->first[router] - 1;
}

/* Adds the leaders of a router's children, except @self. */
static void children_add(const struct kin_tree *t, u32 router, u32 self, u32 *children,
			 u32 *num)
{
	u64 ports;

	for (ports = t->plan.rows[router].ports; ports; ports &= ports - 1) {
		u32 leader = leader_of(t, child_at(t, router, ports));

		if (leader != self)
			children[(*num)++] = leader;
	}
}

/*
 * Finds the children of a member, and its parent.  A member that leads its
 * router may also lead routers above.
 * @kin: out; its children are in @children
 */
static void kin_find(const struct kin_tree *t, u32 self, struct ang_kin *kin, u32 *children)
{
	u32 router = router_of(t, self), i;

	kin->num = 0;
	kin->children = children;
	kin->parent = leader_of(t, router);
	if (kin->parent != self)
		return;
	for (i = t->next[self]; i; i = t->next[i - 1])
		children[kin->num++] = i - 1;
	do {
		children_add(t, router, self, children, &kin->num);
		router = parent_of(t, router);
	} while (router != NO_ROUTER && leader_of(t, router) == self);
	if (router != NO_ROUTER)
		kin->parent = leader_of(t, router);
}

/* Return: largest number of neighbours that any member has. */
static u32 kin_arrivals(const struct kin_tree *t, u32 *children)
{
	struct ang_kin kin;
	u32 most = 0, i;

	for (i = 0; i < t->team->size; i++) {
		kin_find(t, i, &kin, children);
		kin.num += kin.parent != i;
		most = kin.num > most ? kin.num : most;
	}
	return most;
}

/* Computes the tree.  Return: as ang_team_kin(). */
static int tree_open(struct kin_tree *t)
{
	/*
	 * Count one member per node: the shape of the tree does not depend on
	 * the number of members on a node.
	 */
	int ret = ang_plan_make(&t->plan, t->team, t->team->root, 1, NULL);
	u32 i;

	if (ret < 0)
		return ret;
	t->first = calloc(t->plan.routers, sizeof(*t->first));
	t->next = calloc(t->team->size, sizeof(*t->next));
	if (!t->first || !t->next)
		return -ENOMEM;
	for (i = t->team->size; i--;) {
		if (router_of(t, i) >= t->plan.routers)
			return -EINVAL;
		t->next[i] = t->first[router_of(t, i)];
		t->first[router_of(t, i)] = i + 1;
	}
	return 0;
}

/**
 * ang_team_kin() - get the neighbours of this member in the order of the team's tree
 * @team: team
 * @kin: out: the neighbours; the team frees them
 *
 * Return: 0; -ENOMEM; -EINVAL the node of a member does not exist; -errno the
 * description of the fabric cannot be read.
 */
int ang_team_kin(struct angara_team *team, const struct ang_kin **kin)
{
	struct kin_tree t = { .team = team };
	struct ang_kin *mine = team->kin;
	int ret = 0;

	if (!mine) {
		mine = calloc(1, sizeof(*mine) + team->size * sizeof(u32));
		ret = mine ? tree_open(&t) : -ENOMEM;
		if (!ret) {
			mine->arrivals = kin_arrivals(&t, (u32 *)(mine + 1));
			kin_find(&t, team->rank, mine, (u32 *)(mine + 1));
			team->kin = mine;
		} else {
			free(mine);
		}
		ang_plan_free(&t.plan);
		free(t.first);
		free(t.next);
	}
	*kin = team->kin;
	return ret;
}
