// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rules of trees: each rule is broken alone, and random trees are changed at
 * random.  A second checker, written from the specification, has to agree.
 */
#include <string.h>

#include "test.h"

#define MAX_NODES	256

static struct angara_tree_row rows[MAX_NODES];
static struct ang_topo topo;

static void build(const char *dims, u32 root, u64 set)
{
	struct angara_topo t;
	u16 pe[MAX_NODES];
	u32 i;

	EXPECT(!angara_topo_parse(dims, &t));
	EXPECT(ang_topo_init(&topo, t.ndims, t.dims));
	EXPECT(topo.nodes <= MAX_NODES);
	for (i = 0; i < topo.nodes; i++)
		pe[i] = set >> (i % 64) & 1;
	EXPECT(angara_tree_build(&t, root, pe, 3, rows) > 0);
	for (i = 0; i < topo.nodes; i++) {
		rows[i].pkey = PKEY;
		rows[i].epoch = 9;
	}
}

static u32 check(u32 *bad)
{
	u32 node, count;
	u32 rule = ang_tree_check(&topo, rows, &node, &count);

	EXPECT(node < topo.nodes);
	if (bad)
		*bad = node;
	return rule;
}

static int in_tree(const struct angara_tree_row *r)
{
	return r->is_root || r->to_root != ANGARA_PORT_NONE;
}

/* The second checker of the rules, which walks from the root and counts. */
static int valid_row(const struct angara_tree_row *r)
{
	u32 dir, sum = 0;

	if (r->is_root > 1 || r->reserved || r->tree >= ANGARA_MAX_TREES || r->pe > 16)
		return 0;
	if (r->is_root != (r->to_root == ANGARA_PORT_NONE))
		return 0;
	if (!r->is_root && ang_topo_neighbor(&topo, 0, r->to_root) == ANG_NONE)
		return 0;
	for (dir = 0; dir < 16; dir++) {
		if (!(r->ports >> dir & 1))
			continue;
		sum++;
		if (ang_topo_neighbor(&topo, 0, dir) == ANG_NONE)
			return 0;
		if (!r->is_root && dir / 2 <= r->to_root / 2 &&
		    dir != (r->to_root ^ 1U))
			return 0;
	}
	return sum == r->port_sum && (sum || r->pe);
}

static int valid(void)
{
	u32 queue[MAX_NODES];
	u8 seen[MAX_NODES] = { 0 };
	u32 head = 0, tail = 0, members = 0;
	u32 i, dir;

	for (i = 0; i < topo.nodes; i++) {
		members += in_tree(&rows[i]);
		if (in_tree(&rows[i]) && !valid_row(&rows[i]))
			return 0;
		if (rows[i].is_root)
			queue[tail++] = i;
	}
	if (tail != 1)
		return 0;
	while (head < tail) {
		struct angara_tree_row *r = &rows[queue[head]];

		for (dir = 0; dir < 8; dir++) {
			u32 to = ang_topo_neighbor(&topo, queue[head], dir);
			struct angara_tree_row *c;

			if (!(r->ports >> dir & 1))
				continue;
			c = &rows[to];
			if (!in_tree(c) || c->is_root || seen[to] ||
			    c->to_root != (dir ^ 1) || c->pkey != r->pkey ||
			    c->epoch != r->epoch || c->tree != r->tree)
				return 0;
			seen[to] = 1;
			queue[tail++] = to;
		}
		head++;
	}
	return tail == members;
}

static void expect_rule(u32 rule, u32 node)
{
	u32 bad;

	EXPECT_EQ(check(&bad), rule);
	EXPECT_EQ(bad, node);
	EXPECT(!valid());
	build("3x3", 4, 0x1FF);
	EXPECT_EQ(check(NULL), ANGARA_TREE_VALID);
	EXPECT(valid());
}

/*
 * On 3x3 with root 4 in the middle: nodes 3 and 5 are below it along X, then
 * others along Y.
 */
static void one_at_a_time(void)
{
	build("3x3", 4, 0x1FF);
	EXPECT_EQ(check(NULL), ANGARA_TREE_VALID);
	rows[4].is_root = 0;
	rows[4].to_root = 2;
	rows[4].ports = 1 << 3;
	rows[4].port_sum = 1;
	EXPECT_EQ(check(NULL), ANGARA_TREE_RULE_ROOT);
	build("3x3", 4, 0x1FF);
	rows[8].is_root = 1;
	rows[8].to_root = ANGARA_PORT_NONE;
	expect_rule(ANGARA_TREE_RULE_ROOT, 8);
	rows[3].to_root = 2;
	rows[3].ports = 1 << 3;
	rows[3].port_sum = 1;
	expect_rule(ANGARA_TREE_RULE_LINK, 4);
	rows[0].to_root = ANGARA_PORT_NONE;
	expect_rule(ANGARA_TREE_RULE_LINK, 3);
	rows[0].ports = 1;
	rows[0].port_sum = 1;
	expect_rule(ANGARA_TREE_RULE_TORUS, 0);
	rows[6].pkey++;
	expect_rule(ANGARA_TREE_RULE_SHARED, 3);
	rows[6].epoch++;
	expect_rule(ANGARA_TREE_RULE_SHARED, 3);
	rows[6].tree++;
	expect_rule(ANGARA_TREE_RULE_SHARED, 3);
	rows[4].ports &= (u16)~1U;
	rows[4].port_sum--;
	expect_rule(ANGARA_TREE_RULE_REACH, 5);
}

static void fields(void)
{
	build("3x3", 4, 0x1FF);
#define BAD(node, member, value)					\
do {									\
	rows[node].member = (value);					\
	expect_rule(ANGARA_TREE_RULE_FIELD, node);			\
} while (0)
	BAD(0, tree, ANGARA_MAX_TREES);
	BAD(0, is_root, 2);
	BAD(0, reserved, 1);
	BAD(0, pe, 17);
	BAD(0, pe, 0);
	BAD(0, to_root, 4);
	BAD(0, to_root, 0xFE);
	BAD(0, ports, 0x100);
	BAD(0, ports, 0x8000);
	BAD(0, port_sum, 1);
	BAD(4, port_sum, 3);
	BAD(4, to_root, 0);
	BAD(4, ports, 0x1F);
#undef BAD
}

/* A closed ring of straight steps: all rows agree, but none is a root. */
static void ring_without_root(void)
{
	u32 i;

	build("3x3", 0, 7);
	EXPECT_EQ(check(NULL), ANGARA_TREE_VALID);
	for (i = 3; i < 6; i++) {
		rows[i].to_root = 1;
		rows[i].ports = 1;
		rows[i].port_sum = 1;
	}
	EXPECT_EQ(check(NULL), ANGARA_TREE_RULE_REACH);
	EXPECT(!valid());
}

static void change(u64 *seed)
{
	struct angara_tree_row *r = &rows[rnd(seed) % topo.nodes];
	u32 dir = rnd(seed) % 8;

	switch (rnd(seed) % 9) {
	case 0:
		r->to_root = (u8)dir;
		break;
	case 1:
		r->to_root = ANGARA_PORT_NONE;
		break;
	case 2:
		r->is_root ^= 1;
		break;
	case 3:
		r->ports ^= (u16)(1U << dir);
		break;
	case 4:
		r->ports ^= (u16)(1U << dir);
		r->port_sum = (u8)__builtin_popcountll(r->ports);
		break;
	case 5:
		r->pe ^= 1;
		break;
	case 6:
		r->epoch ^= (u16)(rnd(seed) & 1);
		break;
	case 7:
		r->port_sum ^= (u8)(rnd(seed) & 1);
		break;
	case 8: /* a child moved under another parent, or taken out */
		r->to_root = (u8)dir;
		rows[ang_topo_neighbor(&topo, 0, dir) == ANG_NONE ? 0 :
		     ang_topo_neighbor(&topo, (u32)(r - rows), dir)].ports |=
			(u16)(1U << (dir ^ 1));
		break;
	}
}

static void random_trees(void)
{
	static const char * const dims[] = { "3x3", "2x2x2", "4x3x2x2", "5", "6x4" };
	u64 seed = 77;
	u32 i, k, ok = 0;

	for (i = 0; i < 20000; i++) {
		const char *d = dims[rnd(&seed) % NUM(dims)];
		struct angara_topo t;
		u32 nodes;

		EXPECT(!angara_topo_parse(d, &t));
		nodes = angara_topo_nodes(&t);
		build(d, rnd(&seed) % nodes, rnd(&seed) | 1);
		EXPECT_EQ(check(NULL), ANGARA_TREE_VALID);
		EXPECT(valid());
		for (k = rnd(&seed) % 4; k; k--)
			change(&seed);
		EXPECT_EQ(check(NULL) == ANGARA_TREE_VALID, valid());
		ok += valid();
	}
	/* Both valid and invalid trees occurred. */
	EXPECT(ok > 1000 && ok < 19000);
}

const struct test_case tree_cases[] = {
	{ "tree: each rule broken alone", one_at_a_time },
	{ "tree: each field out of range", fields },
	{ "tree: a ring without a root", ring_without_root },
	{ "tree: random trees, changed at random", random_trees },
	{ NULL, NULL },
};
