// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Properties of tori and trees, over many tori, roots and sets of nodes.
 *
 * Distances are compared with a search that uses only neighbours, so an error
 * in the arithmetic is not repeated in the test.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/topo.h>
#include <linux/angara.h>

#define MAX_NODES	1024
#define EXHAUSTIVE	10	/* nodes up to which all sets are tried */
#define RANDOM_SETS	40	/* sets per root beyond that */

static const char * const tori[] = {
	"1", "2", "3", "4", "5", "7", "8", "1x1", "2x1", "1x2", "2x2", "3x2",
	"2x3", "1x5", "5x2", "2x2x2", "3x3x1", "1x3x3", "3x1x3", "5x1x2",
	"1x1x1x1", "2x1x2x2", "1x2x1x5", "3x1x1x3", "4x4", "5x5", "16x1",
	"3x3x3", "5x3x2", "2x3x5", "4x4x4", "2x2x2x2", "3x2x1x5", "5x3x2x1",
	"3x3x3x3", "4x3x5x2", "5x5x5x5", "2x5x3x4",
};

static unsigned int tests;
static unsigned int seed = 1;
static char why[256];

static bool fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return false;
}

static void report(bool ok, const char *what, const char *topo)
{
	printf("%sok %u - %s%s%s\n", ok ? "" : "not ", ++tests, what,
	       topo ? ": " : "", topo ? topo : "");
	if (!ok)
		printf("# %s\n", why);
}

/* A separate generator, so that a failure can be repeated on any machine. */
static unsigned int any(unsigned int below)
{
	seed = seed * 1103515245U + 12345U;
	return (seed >> 8) % below;
}

static bool parses(const char *text, int want)
{
	struct angara_topo topo;
	int ret = angara_topo_parse(text, &topo);

	return ret == want ? true : fail("angara_topo_parse('%s') returns %d, not %d", text, ret, want);
}

static bool test_parse(void)
{
	struct angara_topo t;

	if (angara_topo_parse("65535x1x2x4", &t) || t.ndims != 4 ||
	    t.dims[0] != 65535 || t.dims[1] != 1 || t.dims[2] != 2 ||
	    t.dims[3] != 4)
		return fail("65535x1x2x4 is read wrongly");
	return parses("1", 0) && parses("2x2x2", 0) && parses("", -EINVAL) &&
	       parses("0", -EINVAL) && parses("0x2", -EINVAL) &&
	       parses("2x", -EINVAL) && parses("x2", -EINVAL) &&
	       parses("2xx2", -EINVAL) && parses("2X2", -EINVAL) &&
	       parses(" 2", -EINVAL) && parses("+2", -EINVAL) &&
	       parses("-2", -EINVAL) && parses("2,2", -EINVAL) &&
	       parses("65536", -EINVAL) && parses("99999999999999999999", -EINVAL) &&
	       parses("2x2x2x2x2", -E2BIG) && parses("2x2x2x2xq", -EINVAL) &&
	       parses("65535x65535", -E2BIG);
}

static bool test_coordinates(const struct angara_topo *t)
{
	uint32_t nodes = angara_topo_nodes(t), node, dir;
	uint16_t c[ANGARA_MAX_DIMS];

	for (node = 0; node < nodes; node++) {
		angara_topo_coord(t, node, c);
		if (angara_topo_node(t, c) != node)
			return fail("coordinates of node %u are of another node", node);
		for (dir = 0; dir < ANGARA_MAX_DIRS; dir++) {
			uint32_t next = angara_topo_neighbor(t, node, dir);

			if (dir / 2 >= t->ndims || t->dims[dir / 2] == 1) {
				if (next != UINT32_MAX)
					return fail("node %u has a link %s, though its ring has one node", node,
						    angara_dir_name(dir));
				continue;
			}
			if (next >= nodes || next == node ||
			    angara_topo_neighbor(t, next, dir ^ 1) != node)
				return fail("link %s of node %u does not lead back to it", angara_dir_name(dir),
					    node);
		}
	}
	return true;
}

/* Breadth-first search that uses only neighbours. */
static void search(const struct angara_topo *t, uint32_t from, uint32_t *dist)
{
	static uint32_t queue[MAX_NODES];
	uint32_t nodes = angara_topo_nodes(t), head = 0, tail = 0, dir;

	memset(dist, 0xFF, nodes * sizeof(*dist));
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t node = queue[head++];

		for (dir = 0; dir < 2 * t->ndims; dir++) {
			uint32_t next = angara_topo_neighbor(t, node, dir);

			if (next == UINT32_MAX || dist[next] != UINT32_MAX)
				continue;
			dist[next] = dist[node] + 1;
			queue[tail++] = next;
		}
	}
}

static bool test_distances(const struct angara_topo *t)
{
	static uint32_t dist[MAX_NODES];
	uint32_t nodes = angara_topo_nodes(t), a, b;

	for (a = 0; a < nodes; a++) {
		search(t, a, dist);
		for (b = 0; b < nodes; b++)
			if (angara_topo_distance(t, a, b) != dist[b])
				return fail("distance from %u to %u is %u, not %u", a, b,
					    angara_topo_distance(t, a, b), dist[b]);
	}
	return true;
}

/*
 * Checks that every path up is a shortest one and uses the dimensions in
 * descending order.
 */
static bool way_up(const struct angara_topo *t, const struct angara_tree_row *rows,
		   uint32_t root, uint32_t node)
{
	uint32_t start = node, steps = 0;
	unsigned int dim = ANGARA_MAX_DIMS;

	while (node != root) {
		unsigned int up = rows[node].to_root;

		if (up / 2 > dim)
			return fail("path up from %u is out of order", start);
		dim = up / 2;
		node = angara_topo_neighbor(t, node, up);
		steps++;
	}
	if (steps != angara_topo_distance(t, root, start))
		return fail("path up from %u has %u steps, not the distance to the root", start, steps);
	return true;
}

static bool one_tree(const struct angara_topo *t, uint32_t root, const uint16_t *pe)
{
	static struct angara_tree_row rows[MAX_NODES];
	uint32_t nodes = angara_topo_nodes(t), node, in = 0, bad = 0;
	int count = angara_tree_build(t, root, pe, 5, rows);
	int rule;

	if (count < 1)
		return fail("root %u: angara_tree_build() returns %d", root, count);
	rule = angara_tree_check(t, rows, &bad);
	if (rule)
		return fail("root %u: node %u breaks rule %d", root, bad, rule);
	for (node = 0; node < nodes; node++) {
		const struct angara_tree_row *r = &rows[node];

		if (r->pe != pe[node] || r->tree != 5)
			return fail("root %u: node %u has wrong participants or TreeId", root, node);
		if (!angara_tree_has(r)) {
			if (r->pe || r->ports || r->port_sum)
				return fail("root %u: node %u is not in the tree, but its row is set", root, node);
			continue;
		}
		in++;
		if (!r->pe && !r->ports)
			return fail("root %u: the leaf %u has no participant", root, node);
		if (!way_up(t, rows, root, node))
			return false;
	}
	return in == (uint32_t)count ? true : fail("root %u: the tree has %u nodes, not %d",
						   root, in, count);
}

static bool all_sets(const struct angara_topo *t, uint32_t root)
{
	uint32_t nodes = angara_topo_nodes(t), set, i;
	uint16_t pe[EXHAUSTIVE];

	for (set = 1; set < 1U << nodes; set++) {
		for (i = 0; i < nodes; i++)
			pe[i] = set >> i & 1 ? (uint16_t)(1 + any(16)) : 0;
		if (!one_tree(t, root, pe))
			return false;
	}
	return true;
}

static bool some_sets(const struct angara_topo *t, uint32_t root)
{
	static uint16_t pe[MAX_NODES];
	uint32_t nodes = angara_topo_nodes(t), set, i;

	for (set = 0; set < RANDOM_SETS; set++) {
		unsigned int rarity = 1 + any(set < 2 ? 1 : nodes);

		memset(pe, 0, sizeof(pe));
		pe[any(nodes)] = 1;
		for (i = 0; i < nodes; i++)
			if (any(rarity) == 0)
				pe[i] = (uint16_t)(1 + any(16));
		if (!one_tree(t, root, pe))
			return false;
	}
	return true;
}

static bool test_trees(const struct angara_topo *t)
{
	uint32_t nodes = angara_topo_nodes(t), root;
	/* Tori are symmetric: for large ones a sample of roots is enough. */
	uint32_t step = nodes > 128 ? nodes / 16 : 1;

	for (root = 0; root < nodes; root += step)
		if (!(nodes <= EXHAUSTIVE ? all_sets(t, root) : some_sets(t, root)))
			return false;
	return true;
}

static bool builds(const struct angara_topo *t, uint32_t root, unsigned int tree,
		   uint16_t first, uint16_t rest, int want)
{
	struct angara_tree_row rows[8];
	uint16_t pe[8];
	uint32_t i;
	int ret;

	for (i = 0; i < 8; i++)
		pe[i] = i ? rest : first;
	ret = angara_tree_build(t, root, pe, tree, rows);
	return ret == want ? true : fail("root %u, tree %u, pe %u: angara_tree_build() returns %d, not %d",
					 root, tree, first, ret, want);
}

static bool test_arguments(void)
{
	struct angara_topo t, none = { 0 };

	angara_topo_parse("2x2x2", &t);
	return builds(&t, 7, 15, 16, 1, 8) && builds(&t, 8, 0, 1, 1, -EINVAL) &&
	       builds(&t, 0, 64, 1, 1, -EINVAL) &&
	       builds(&t, 0, 0, 17, 1, -EINVAL) &&
	       builds(&t, 0, 0, 0, 0, -EINVAL) &&
	       builds(&none, 0, 0, 1, 1, -EINVAL) &&
	       builds(&t, 0, 0, 1, 0, 1) && builds(&t, 7, 0, 1, 0, 4);
}

enum field { END, IS_ROOT, UP, DIRS, SUM, PE, PKEY, EPOCH };

/**
 * struct damage - a change to one row of a valid tree
 * @rule: the rule that this breaks
 * @node: node of the row
 * @set: fields and their new values
 */
struct damage {
	int rule;
	uint32_t node;
	struct {
		enum field field;
		uint8_t value;
	} set[3];
};

/*
 * Node 0 is the root. Its neighbours are 1 (X+), 2 (Y+) and 4 (Z+); 7 is Z+ of
 * 3.
 */
static const struct damage damages[] = {
	{ ANGARA_TREE_VALID, 7, { { UP, 5 } } },
	{ ANGARA_TREE_RULE_ROOT, 0, { { IS_ROOT, 0 }, { UP, 1 } } },
	{ ANGARA_TREE_RULE_ROOT, 0, { { IS_ROOT, 0 }, { UP, 255 } } },
	{ ANGARA_TREE_RULE_ROOT, 1, { { IS_ROOT, 1 }, { UP, 255 } } },
	{ ANGARA_TREE_RULE_LINK, 7, { { UP, 4 } } },
	{ ANGARA_TREE_RULE_LINK, 7, { { UP, 255 } } },
	{ ANGARA_TREE_RULE_TORUS, 7, { { DIRS, 1 }, { SUM, 1 } } },
	{ ANGARA_TREE_RULE_FIELD, 1, { { SUM, 1 } } },
	{ ANGARA_TREE_RULE_FIELD, 7, { { PE, 0 } } },
	{ ANGARA_TREE_RULE_FIELD, 7, { { PE, 17 } } },
	{ ANGARA_TREE_RULE_FIELD, 7, { { UP, 6 } } },
	{ ANGARA_TREE_RULE_SHARED, 7, { { EPOCH, 9 } } },
	{ ANGARA_TREE_RULE_SHARED, 7, { { PKEY, 9 } } },
	{ ANGARA_TREE_RULE_REACH, 3, { { DIRS, 0 }, { SUM, 0 } } },
};

static void set_field(struct angara_tree_row *row, enum field field, uint8_t value)
{
	switch (field) {
	case IS_ROOT:
		row->is_root = value;
		break;
	case UP:
		row->to_root = value;
		break;
	case DIRS:
		row->ports = value;
		break;
	case SUM:
		row->port_sum = value;
		break;
	case PE:
		row->pe = value;
		break;
	case PKEY:
		row->pkey = value;
		break;
	case EPOCH:
		row->epoch = value;
		break;
	case END:
		break;
	}
}

static bool breaks(const struct damage *d)
{
	uint16_t pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct angara_tree_row rows[8];
	struct angara_topo t;
	size_t i;
	int rule;

	angara_topo_parse("2x2x2", &t);
	angara_tree_build(&t, 0, pe, 0, rows);
	for (i = 0; d->set[i].field != END; i++)
		set_field(&rows[d->node], d->set[i].field, d->set[i].value);
	rule = angara_tree_check(&t, rows, NULL);
	return rule == d->rule ? true : fail("damage of node %u breaks rule %d, not %d", d->node,
					     rule, d->rule);
}

/*
 * Makes a leaf of a valid tree a second root, and removes it from its parent's row.
 * The driver's tests cannot set most of these rows: no device accepts them.
 */
static bool two_roots(void)
{
	uint16_t pe[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct angara_tree_row rows[8];
	struct angara_topo t;
	int rule;

	angara_topo_parse("2x2x2", &t);
	angara_tree_build(&t, 0, pe, 0, rows);
	rule = angara_tree_check(&t, rows, NULL);
	if (rule != ANGARA_TREE_VALID)
		return fail("a valid tree breaks rule %d", rule);
	rows[7].is_root = 1;
	rows[7].to_root = ANGARA_PORT_NONE;
	rows[3].ports = 0;
	rows[3].port_sum = 0;
	rule = angara_tree_check(&t, rows, NULL);
	return rule == ANGARA_TREE_RULE_ROOT ? true : fail("two roots break rule %d", rule);
}

static bool test_rules(void)
{
	size_t i;

	if (!two_roots())
		return false;
	for (i = 0; i < sizeof(damages) / sizeof(*damages); i++)
		if (!breaks(&damages[i]))
			return false;
	return true;
}

/*
 * A million rows on long rings: walking up from each of them would take hours.
 * Then one column, which begins after node 7, is closed into a ring.
 */
static bool test_long(const struct angara_topo *t)
{
	uint32_t nodes = angara_topo_nodes(t), bad = 0, n;
	struct angara_tree_row *rows = calloc(nodes, sizeof(*rows));
	uint16_t *pe = calloc(nodes, sizeof(*pe));
	int rule = -1, ring = -1;

	if (rows && pe) {
		for (n = 0; n < nodes; n++)
			pe[n] = 1;
		angara_tree_build(t, 0, pe, 3, rows);
		rule = angara_tree_check(t, rows, NULL);
		rows[7].ports &= (uint16_t)~1U;
		rows[7].port_sum--;
		for (n = 8; n < nodes; n += 16) {
			rows[n].to_root = 3;
			rows[n].ports = 4;
			rows[n].port_sum = 1;
		}
		ring = angara_tree_check(t, rows, &bad);
	}
	free(pe);
	free(rows);
	if (rule != ANGARA_TREE_VALID)
		return fail("a valid tree breaks rule %d", rule);
	if (ring != ANGARA_TREE_RULE_REACH || bad % 16 != 8)
		return fail("a closed ring breaks rule %d at node %u", ring, bad);
	return true;
}

static bool test_names(void)
{
	unsigned int i;

	for (i = 0; i <= ANGARA_TREE_RULE_REACH + 1; i++)
		if (!*angara_tree_rule_str(i))
			return fail("rule %u has no text", i);
	if (strcmp(angara_dir_name(0), "X+") || strcmp(angara_dir_name(7), "W-") ||
	    strcmp(angara_dir_name(ANGARA_PORT_NONE), "-"))
		return fail("names of directions 0, 7 and none are not X+, W- and -");
	return true;
}

int main(void)
{
	struct angara_topo t;
	size_t i;

	report(test_parse(), "sizes are read strictly", NULL);
	report(test_arguments(), "build refuses what is out of range", NULL);
	report(test_rules(), "each broken rule is reported", NULL);
	report(test_names(), "directions and rules have names", NULL);
	if (!angara_topo_parse("16x65535", &t))
		report(test_long(&t), "long rings are checked", "16x65535");
	for (i = 0; i < sizeof(tori) / sizeof(*tori); i++) {
		if (angara_topo_parse(tori[i], &t))
			continue;
		report(test_coordinates(&t), "coordinates and links", tori[i]);
		report(test_distances(&t), "distances", tori[i]);
		report(test_trees(&t), "trees", tori[i]);
	}
	printf("1..%u\n", tests);
	return 0;
}
