// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Long reductions over several trees.
 *
 * A tree carries a limited number of packets at once, so on hardware a long
 * reduction is faster if several trees each reduce a part of the vector.  The
 * first tree is the team's own.  Each further tree belongs to a team of the
 * same members; the roots are spread over the ranks.
 *
 * All members cut a vector in the same way: they agree on a table of the number
 * of trees by length when the team is created.
 */
#include <errno.h>
#include <stdlib.h>

#include <angara/fabric.h>
#include <angara/plan.h>

#include "say.h"
#include "team.h"

#define STRIPE_BYTES	4096U	/* minimum bytes of a part of a vector */

static_assert(ANGARA_MAX_OP_BYTES < 1ULL << ANG_CUTS, "the table must cover all lengths");

/**
 * ang_stripes_env() - read ANGARA_STRIPES
 * @stripes: out: angara_team_attr.stripes, not 0
 *
 * Return: 0; -EINVAL it is neither a number of trees nor "auto".
 */
int ang_stripes_env(u32 *stripes)
{
	const char *text = getenv("ANGARA_STRIPES");
	char *end;
	unsigned long n;

	*stripes = 1;
	if (!text || !*text)
		return 0;
	if (!strcmp(text, "auto")) {
		*stripes = ANGARA_STRIPES_AUTO;
		return 0;
	}
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < 1 || n > ANGARA_MAX_STRIPES) {
		ang_say("libangara", "invalid ANGARA_STRIPES '%s': expected 1 to %u, or auto",
			text, ANGARA_MAX_STRIPES);
		return -EINVAL;
	}
	*stripes = (u32)n;
	return 0;
}

/*
 * Return: number of trees for a reduction of @len bytes, if up to @most trees
 * may be used.
 */
static u32 cut_by_number(u32 most, u64 len)
{
	u64 n = len / STRIPE_BYTES;

	return n < 1 ? 1 : n < most ? (u32)n : most;
}

/*
 * Fills in @cut: for each power of two, the number of trees for a reduction of that many bytes, by
 * the times that a plan of @most trees expects.  Return: 0; -errno.
 */
static int cut_by_plan(const struct angara_team *team, u32 most, u32 *cut)
{
	const struct angara_plan_attr attr = {
		.size = sizeof(attr), .trees = most,
		.root = ANGARA_PLAN_ROOT_ANY, .goal = ANGARA_PLAN_LOAD,
	};
	u32 nodes = team->ctx->dom->query.nodes;
	u16 *pe = calloc(nodes, sizeof(*pe));
	struct angara_fabric *fabric = NULL;
	struct angara_plan *plan = NULL;
	int ret = pe ? ang_plan_fabric(team->ctx->dom, &fabric) : -ENOMEM;
	u32 i;

	for (i = 0; i < team->size && !ret; i++)
		if (team->peers[i].node < nodes)
			pe[team->peers[i].node]++;
	if (!ret)
		ret = angara_plan_open(fabric, pe, &attr, &plan);
	for (i = 0; i < ANG_CUTS && !ret; i++) {
		u32 n = angara_plan_stripes(plan, ANGARA_OP_ALLREDUCE, 1ULL << i);

		cut[i] = cut_by_number(n ? n : 1, 1ULL << i);
	}
	angara_plan_close(plan);
	angara_fabric_close(fabric);
	free(pe);
	return ret;
}

/*
 * Return: number of operations that the adapter holds for a context; smaller on
 * fabrics of many routers.
 */
static u32 slots_of(struct angara_domain *dom)
{
	struct angara_fabric *fabric;
	u32 routers = UINT32_MAX;

	if (!ang_plan_fabric(dom, &fabric)) {
		routers = angara_fabric_routers(fabric);
		angara_fabric_close(fabric);
	}
	return routers <= 64 ? 64 : 16;
}

/*
 * Return: largest number of trees that this member can use.  A reduction takes
 * an operation slot for each part.  The limit leaves room for four reductions
 * at a time, so other operations continue while members wait for a slow member.
 */
static u32 most_of(const struct angara_team *team)
{
	const struct angara_ctx_create *c = &team->ctx->create;
	u32 room[] = {
		team->wanted, ANGARA_MAX_STRIPES, team->ctx->dom->query.max_trees,
		c->sq_entries / 8, c->cq_entries / 8,
		slots_of(team->ctx->dom) / 4,
	};
	u32 most = UINT32_MAX;
	u32 i;

	for (i = 0; i < sizeof(room) / sizeof(*room); i++)
		if (room[i] < most)
			most = room[i];
	return most ? most : 1;
}

static void cut_of(const struct angara_team *team, u32 *cut)
{
	u32 most = most_of(team);
	u32 i;

	for (i = 0; i < ANG_CUTS; i++)
		cut[i] = cut_by_number(most, 1ULL << i);
	if (team->wanted == ANGARA_STRIPES_AUTO && cut_by_plan(team, most, cut))
		for (i = 0; i < ANG_CUTS; i++)
			cut[i] = 1;
}

/**
 * ang_stripes_open() - create further trees for a team that has a tree
 * @team: team; all members call
 * @root: rank whose node is the root of the team's first tree
 *
 * If trees run out, the team uses those that it has.
 *
 * Return: as ang_team_min(), for exchanges in which the members agree.
 */
int ang_stripes_open(struct angara_team *team, u32 root)
{
	u32 parts = 1, i;
	u64 got;
	int ret;

	if (!team->offloaded || team->wanted == 1 || team->size == 1)
		return 0;
	cut_of(team, team->cut);
	ret = ang_team_min(team, team->cut, ANG_CUTS, ANGARA_TYPE_UINT32);
	if (ret)
		return ret;
	for (i = 0; i < ANG_CUTS; i++)
		if (team->cut[i] > parts)
			parts = team->cut[i];
	for (i = 1; i < parts; i++) {
		u64 at = (u64)root + ang_stripe_distance(team->size, i, parts);

		if (ang_team_twin(team, (u32)(at % team->size), i, parts,
				  &team->stripes[team->nstripes]))
			break;
		team->nstripes++;
	}
	got = team->nstripes;
	ret = ang_team_min(team, &got, 1, ANGARA_TYPE_UINT64);
	if (ret)
		return ret;
	while (team->nstripes > got)
		ang_team_end(team->stripes[--team->nstripes], true);
	for (i = 0; i < ANG_CUTS; i++)
		if (team->cut[i] > 1 + team->nstripes)
			team->cut[i] = 1 + team->nstripes;
	return 0;
}

void ang_stripes_close(struct angara_team *team, bool quietly)
{
	while (team->nstripes)
		ang_team_end(team->stripes[--team->nstripes], quietly);
}

/**
 * ang_stripes_messages() - number of messages that were sent to create the
 * further trees
 */
u64 ang_stripes_messages(const struct angara_team *team)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < team->nstripes; i++)
		sum += team->stripes[i]->messages;
	return sum;
}

/** ang_stripes_drained() - are all parts of this member's reductions complete? */
bool ang_stripes_drained(const struct angara_team *team)
{
	u32 i;

	for (i = 0; i < team->nstripes; i++)
		if (team->ctx->by_tree[1 + team->stripes[i]->tree])
			return false;
	return true;
}

/**
 * ang_stripes_post() - start a reduction over several trees
 * @team: team
 * @wqe: the whole reduction; out: its cookie
 * @n: trees
 * @elem: bytes of an element
 * @how: options and completion
 * @b: NULL, or the blocking call
 *
 * Return: as ang_post_parts().
 */
int ang_stripes_post(struct angara_team *team, struct angara_wqe *wqe, u32 n,
		     u32 elem, const struct angara_op *how,
		     struct ang_blocked *b)
{
	u64 count = le32_to_cpu(wqe->length) / elem;
	struct angara_wqe parts[ANGARA_MAX_STRIPES];
	u32 i;
	int ret;

	for (i = 0; i < n; i++) {
		u64 from = count * i / n * elem;
		u64 to = count * (i + 1) / n * elem;

		parts[i] = *wqe;
		if (i)
			parts[i].tree = cpu_to_le16(team->stripes[i - 1]->tree);
		parts[i].length = cpu_to_le32(to - from);
		parts[i].loff = cpu_to_le64(le64_to_cpu(wqe->loff) + from);
		/* Offset of the result; members without a result ignore it. */
		parts[i].aux = cpu_to_le64(le64_to_cpu(wqe->aux) + from);
	}
	ret = ang_post_parts(team->ctx, parts, n, how, b);
	wqe->cookie = parts[0].cookie;
	return ret;
}
