// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How members learn of the links that are down when their team gets a tree.
 *
 * A process sees only links of the adapters on its machine.  The coordinator plans a tree around
 * the links that it sees down.  If it lacks the devices of some rows, each member plans the tree by
 * itself, so the members first agree on the links: on all links that any member sees down.
 *
 * A link that goes down later takes the tree down.
 */
#include <errno.h>

#include "say.h"
#include "team.h"

#define DOWN_KEYS	(ANG_AGREE_BYTES / sizeof(u32))
#define NO_KEY		UINT32_MAX

static_assert(ANGARA_MAX_PORTS == 64, "6 bits of a key");

/**
 * ang_down_look() - note the links that this process sees down
 * @team: team
 *
 * Return: 0, also if this process cannot see links; -ENOMEM.
 */
int ang_down_look(struct angara_team *team)
{
	struct angara_domain *dom = team->ctx->dom;
	int ret = dom->dev.ops->links_down(&dom->dev, dom->query.fabric_id,
					   &team->rows.down);

	return ret == -ENOMEM ? ret : 0;
}

static bool has_link(const struct ang_links *links, const struct angara_failure *link)
{
	u32 i;

	for (i = 0; i < links->n; i++)
		if (links->link[i].router == link->router &&
		    links->link[i].port == link->port)
			return true;
	return false;
}

/* Selects the first links of @own that @all does not have. */
static void next_keys(const struct ang_links *own, const struct ang_links *all,
		      u32 keys[DOWN_KEYS])
{
	u32 i, n = 0;

	for (i = 0; i < own->n && n < DOWN_KEYS; i++)
		if (!has_link(all, &own->link[i]))
			keys[n++] = own->link[i].router << 6 | own->link[i].port;
	while (n < DOWN_KEYS)
		keys[n++] = NO_KEY;
}

static int add_keys(struct ang_links *all, const u32 keys[DOWN_KEYS])
{
	int ret = 0;
	u32 i;

	for (i = 0; i < DOWN_KEYS && !ret; i++) {
		const struct ang_end end = { keys[i] >> 6, keys[i] & 63 };

		if (keys[i] != NO_KEY)
			ret = ang_links_add(all, end, end);
	}
	return ret;
}

/**
 * ang_down_agree() - note the links that any member sees down
 * @team: team; all members call after ang_down_look()
 *
 * In each round, members offer in ascending order the links that the common list does not have, and
 * take the minimum.  So each round adds at least the lowest of these links to the list.
 *
 * Return: 0; -ENOMEM at this member; an error of the exchange, after which the team is
 * broken.
 */
int ang_down_agree(struct angara_team *team)
{
	struct ang_links all = { 0 };
	u32 keys[DOWN_KEYS] __attribute__((aligned(8)));
	int ret, err = 0;

	do {
		/* A member without memory offers nothing, so that the rounds end. */
		next_keys(err ? &all : &team->rows.down, &all, keys);
		ret = ang_team_min(team, keys, DOWN_KEYS, ANGARA_TYPE_UINT32);
		if (!ret && !err)
			err = add_keys(&all, keys);
	} while (!ret && keys[0] != NO_KEY);
	team->broken |= ret;
	ang_links_free(&team->rows.down);
	team->rows.down = all;
	return ret ? ret : err;
}

/**
 * ang_down_say() - report a link because of which a team gets no tree
 * @team: team
 * @root: rank whose node would be the root
 *
 * Prefers a link that the team's tree would use if no link were down.
 */
void ang_down_say(const struct angara_team *team, u32 root)
{
	const struct ang_links *down = &team->rows.down;
	const u32 nodes = team->ctx->dom->query.nodes;
	const struct angara_failure *link = NULL;
	struct ang_plan plan = { 0 };
	u32 i, to;

	if (ang_plan_make(&plan, team, root, ANG_PLAN_ALL, NULL) < 0)
		goto out;
	for (i = 0; i < down->n; i++) {
		const struct angara_failure *at = &down->link[i];
		bool uses;

		/* Another member may have named a router that does not exist. */
		if (at->router >= plan.routers)
			continue;
		uses = ang_row_uses(&plan.rows[at->router], at->port);
		if (!link || uses)
			link = at;
		if (uses)
			break;
	}
	if (!link)
		goto out;
	to = ang_plan_peer(&plan, link->router, link->port);
	ang_say("libangara",
		"a team gets no tree: port %u of %s %u, to %s %u, is down; links that are down: %u",
		link->port, link->router < nodes ? "node" : "switch",
		link->router, to < nodes ? "node" : "switch", to, down->n);
out:
	ang_plan_free(&plan);
}
