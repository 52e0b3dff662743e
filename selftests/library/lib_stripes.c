// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reductions that a team spreads over several trees. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <angara/fabric.h>

#include "../../libangara/coll_run.h"
#include "lib.h"
#include "pending.h"

#define MAX_COUNT	20000U
#define INFLIGHT	8
#define MAX_TREES	64	/* most trees of any device */

static struct angara_team *team_of(uint32_t stripes, uint32_t root)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr), .root = root, .stripes = stripes,
	};
	struct angara_team *team;

	return expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0) ?
	       team : NULL;
}

static uint32_t trees_of(struct angara_team *team)
{
	struct angara_team_info info = { .size = sizeof(info) };

	expect("query", angara_team_query(team, &info), 0);
	return info.trees;
}

/*
 * Return: number of trees that a team with @stripes stripes has; 1 if it has a
 * single member.
 */
static uint32_t trees_for(uint32_t stripes)
{
	return size == 1 ? 1 : stripes;
}

static void contribute(uint64_t *v, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		v[i] = (uint64_t)(rank + 1) * (i + 7);
}

static bool summed(const uint64_t *v, unsigned int count)
{
	uint64_t times = (uint64_t)size * (size + 1) / 2;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (v[i] != times * (i + 7))
			return expect("element", i, -1);
	return expect("element after the last", (long long)v[count], 99);
}

/* Lengths around those at which a reduction uses one more tree. */
static const unsigned int counts[] = {
	0, 1, 511, 512, 1023, 1024, 1025, 1536, 5000, MAX_COUNT,
};

/*
 * If @registered, arguments are offsets in regions, which are not 0; else they
 * are addresses.
 */
static bool lengths(struct angara_team *team, uint64_t *in, uint64_t *out,
		    const struct angara_mr *registered)
{
	uint64_t at = registered ? 8 : address(in);
	uint64_t to = registered ? 8 + 8 * (MAX_COUNT + 1) : address(out);
	bool ok = true;
	unsigned int i;

	for (i = 0; ok && i < sizeof(counts) / sizeof(*counts); i++) {
		unsigned int root = i % size;

		contribute(in, counts[i]);
		out[counts[i]] = 99;
		ok = expect("allreduce",
			    angara_allreduce(team, registered, to, registered, at, counts[i],
					     ANGARA_TYPE_UINT64, ANGARA_RED_SUM), 0) &&
		     summed(out, counts[i]) &&
		     expect("reduce",
			    angara_reduce(team, registered, to, registered, at, counts[i],
					  ANGARA_TYPE_UINT64, ANGARA_RED_SUM, root), 0) &&
		     (rank != root || summed(out, counts[i]));
	}
	return ok;
}

static bool spread(uint32_t stripes)
{
	struct angara_team *team = team_of(stripes, size / 2);
	struct angara_mr *mr = own_region(16 * (MAX_COUNT + 2));
	uint64_t *v = angara_mr_addr(mr), *heap = malloc(16 * (MAX_COUNT + 1));
	bool ok = team && heap && expect("trees", trees_of(team), trees_for(stripes)) &&
		  lengths(team, v + 1, v + 2 + MAX_COUNT, mr) &&
		  lengths(team, heap, heap + MAX_COUNT + 1, NULL);

	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	free(heap);
	return ok;
}

static unsigned int tree_of(const struct angara_team *team, uint32_t i)
{
	return i ? team->stripes[i - 1]->tree : team->tree;
}

/* Checks that each of the team's trees carries a part of a reduction. */
static bool parts_posted(void)
{
	const size_t len = 8 * 5000;
	struct angara_team *team = team_of(4, 0);
	struct angara_mr *mr = own_region(len);
	bool ok = team && expect("start", angara_allreduce_nbi(team, mr, 0, mr, 0, len / 8,
							       ANGARA_TYPE_UINT64,
							       ANGARA_RED_SUM, NULL), 0);
	uint32_t i;

	for (i = 0; ok && i < trees_for(4); i++)
		ok = expect("on a tree", ctx->by_tree[1 + tree_of(team, i)], 1);
	ok = ok && expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	for (i = 0; ok && i < trees_for(4); i++)
		ok = expect("ended", ctx->by_tree[1 + tree_of(team, i)], 0);
	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

static unsigned int slots_of(unsigned int kind)
{
	unsigned int i, n = 0;

	for (i = 0; i < ctx->create.cq_entries; i++)
		n += ctx->slots[i].kind == kind;
	return n;
}

/* Memory that is not registered is held until the last part is complete. */
static bool held_whole(void)
{
	const unsigned int count = 5000;
	struct angara_team *team = team_of(4, 0);
	uint64_t *v = malloc(8 * count);
	bool ok = team && v &&
		  expect("start",
			 angara_allreduce_nbi(team, NULL, address(v), NULL, address(v), count,
					      ANGARA_TYPE_UINT64, ANGARA_RED_MAX, NULL),
			 0) &&
		  expect("holds",
			 slots_of(ANG_SLOT_COUNTED | ANG_SLOT_HOLDS |
				  (size > 1 ? ANG_SLOT_PARTS : 0)),
			 1) &&
		  expect("parts that hold memory", slots_of(ANG_SLOT_PART | ANG_SLOT_HOLDS), 0) &&
		  expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
		  expect("free slots with memory", slots_of(ANG_SLOT_FREE | ANG_SLOT_HOLDS), 0);

	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	free(v);
	return ok;
}

/*
 * Are the coordinator's rows of the tree @twin the rows @rows of a tree in the
 * plan?
 */
static bool rows_are(const struct angara_team *twin, const struct angara_tree_row *rows)
{
	const struct ang_rows *r = &twin->rows;
	uint32_t i;

	for (i = 0; i < r->n; i++)
		if (r->rows[i].ports != rows[r->routers[i]].ports ||
		    r->rows[i].to_root != rows[r->routers[i]].to_root)
			return expect("row of router", r->routers[i], -1);
	return true;
}

/* Roots are spread over the ranks, and each tree avoids the cables of earlier trees. */
static bool planned(void)
{
	struct angara_fabric *fabric = NULL;
	struct angara_team *team = team_of(4, 0);
	uint32_t nodes = dom->query.nodes, n = trees_for(4), i;
	struct angara_tree_row *rows;
	uint16_t *pe, *load;
	bool ok = team && expect("fabric", ang_plan_fabric(dom, &fabric), 0);

	if (!ok)
		return false;
	pe = calloc(nodes, sizeof(*pe));
	rows = calloc(angara_fabric_routers(fabric), sizeof(*rows));
	load = calloc(angara_fabric_routers(fabric) * angara_fabric_ports(fabric), sizeof(*load));
	for (i = 0; i < size; i++)
		pe[angara_team_peer(team, i).node]++;
	for (i = 0; i < n && ok; i++) {
		unsigned int root = size * i / n;

		ok = expect("tree", angara_fabric_tree(fabric, angara_team_peer(team, root).node,
						       pe, load, rows) > 0, true);
		if (ok && i && rank == root)
			ok = rows_are(team->stripes[i - 1], rows);
	}
	free(load);
	free(rows);
	free(pe);
	angara_fabric_close(fabric);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static bool numbers(void)
{
	return spread(1) && spread(2) && spread(3) && spread(ANGARA_MAX_STRIPES);
}

/* Each reduction has one completion, with the bytes of all parts. */
static bool completions(void)
{
	const size_t len = 8 * 5000;
	struct angara_mr *mr = own_region(INFLIGHT * (len + 8));
	uint64_t *v = angara_mr_addr(mr);
	struct angara_team *team = team_of(4, 0);
	struct angara_team_info info = { .size = sizeof(info) };
	struct pending req[INFLIGHT];
	bool ok = team;
	int i;

	for (i = 0; ok && i < INFLIGHT; i++) {
		uint64_t *at = v + i * 5001;
		int ret;

		contribute(at, 5000);
		at[5000] = 99;
		do {
			ret = angara_allreduce_nbi(team, mr, i * (len + 8), mr, i * (len + 8),
						   5000, ANGARA_TYPE_UINT64, ANGARA_RED_SUM,
						   pending_op(&req[i]));
		} while (ret == -EAGAIN);
		ok = expect("start", ret, 0);
	}
	for (i = 0; ok && i < INFLIGHT; i++)
		ok = expect("wait", pending_wait(ctx, &req[i], LONG_MS), 0) &&
		     expect("bytes", (long long)req[i].c.length, len) &&
		     summed(v + i * 5001, 5000);
	ok = ok && expect("counted", angara_allreduce_nbi(team, mr, 0, mr, 0, 5000,
							  ANGARA_TYPE_UINT64, ANGARA_RED_MAX,
							  NULL), 0) &&
	     expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
	     expect("query", angara_team_query(team, &info), 0) &&
	     expect("by device", (long long)info.by_device, INFLIGHT + 1);
	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

/*
 * If members pass different lengths, the whole reduction fails, not only one of
 * its stripes.
 */
static bool mismatch(void)
{
	struct angara_mr *mr = own_region(8 * 5000);
	struct angara_team *team = team_of(4, 0);
	bool ok = team;
	int ret;

	if (size > 1 && ok) {
		ret = angara_allreduce(team, mr, 0, mr, 0, rank ? 5000 : 4990,
				       ANGARA_TYPE_UINT64, ANGARA_RED_SUM);
		ok = expect("notified", ret == -EPROTO || ret == -ECONNRESET, true);
	}
	if (team)
		angara_team_leave(team);
	angara_free(mr);
	return ok & expect("barrier", angara_job_barrier(job), 0);
}

static bool inherited(void)
{
	const struct angara_team_attr one = { .size = sizeof(one), .stripes = 1 };
	struct angara_team *team = team_of(3, 0), *sub = NULL, *plain = NULL;
	bool ok = team && expect("subset", angara_team_subset(team, NULL, 0, NULL, &sub), 0) &&
		  expect("trees", trees_of(sub), trees_for(3)) && works(sub) &&
		  expect("plain", angara_team_subset(team, NULL, 0, &one, &plain), 0) &&
		  expect("tree", trees_of(plain), 1) && works(plain);

	if (sub)
		ok &= expect("destroy", angara_team_destroy(sub), 0);
	if (plain)
		ok &= expect("destroy", angara_team_destroy(plain), 0);
	if (team)
		ok &= works(team) & expect("destroy", angara_team_destroy(team), 0);
	return ok;
}

/* If trees run out, a team works with fewer trees, and frees all of them at its end. */
static bool few_trees(void)
{
	struct angara_mr *mr = own_region(16 * (MAX_COUNT + 2));
	struct angara_team *teams[MAX_TREES], *team;
	uint64_t *v = angara_mr_addr(mr);
	uint32_t trees = alone_about(ctx).max_trees, n = 0, i;
	bool ok = true;

	while (ok && n + 2 < trees) {
		teams[n] = team_of(1, n % size);
		ok = teams[n];
		n += ok;
	}
	team = ok ? team_of(4, 0) : NULL;
	ok = team && expect("trees", trees_of(team), trees_for(2)) &&
	     lengths(team, v + 1, v + 2 + MAX_COUNT, mr) &&
	     expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	for (i = 0; i < n; i++)
		ok &= expect("destroy", angara_team_destroy(teams[i]), 0);
	return ok && spread(4);
}

static bool bad_numbers(void)
{
	struct angara_team_attr attr = {
		.size = sizeof(attr), .stripes = ANGARA_MAX_STRIPES + 1,
	};
	struct angara_team *team;
	bool ok = expect("too many", angara_team_create(job, ctx, NULL, 0, &attr, &team),
			 -EINVAL);

	attr.stripes = 1 + (rank == size - 1);
	return ok & (size == 1 ||
		     expect("different", angara_team_create(job, ctx, NULL, 0, &attr, &team),
			    -EINVAL));
}

/* The plan of the fabric determines the number of trees; short reductions use one tree. */
static bool automatic(void)
{
	struct angara_mr *mr = own_region(16 * (MAX_COUNT + 2));
	struct angara_team *team = team_of(ANGARA_STRIPES_AUTO, 0);
	uint64_t *v = angara_mr_addr(mr);
	bool ok = team && expect("several", trees_of(team) > 1, size > 1) &&
		  lengths(team, v + 1, v + 2 + MAX_COUNT, mr);

	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(mr);
	return ok;
}

bool said_trees(void)
{
	struct angara_team *team = NULL;
	bool ok = expect("create", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0);

	if (ok && !rank)
		printf("# trees %u\n", trees_of(team));
	if (team)
		ok &= expect("destroy", angara_team_destroy(team), 0);
	return ok;
}

const struct part stripes_parts[] = {
	{ "reductions over several trees", numbers },
	{ "parts on their trees", parts_posted },
	{ "memory of all parts is held", held_whole },
	{ "trees avoid each other's cables", planned },
	{ "completions of parts", completions },
	{ "parts of different lengths", mismatch },
	{ "several trees of a subset", inherited },
	{ "as many trees as there are", few_trees },
	{ "wrong numbers of trees", bad_numbers },
	{ "trees by the plan of the fabric", automatic },
	{ 0 },
};
