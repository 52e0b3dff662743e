// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows of trees and names of tori, compared with slow and simple references.
 *
 * Rows start as a tree of angara_tree_build(), which has to be valid, and are
 * then changed; ang_tree_check() must name one of the broken rules, or none if
 * no rule is broken.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"

#define MAX_NODES	64
#define RULE(r)		(1U << ANGARA_TREE_RULE_##r)

struct rows {
	u32 ndims;
	u32 size[ANG_MAX_DIMS];
	u32 nodes;
	struct angara_tree_row row[MAX_NODES];
};

static int in_tree(const struct angara_tree_row *r)
{
	return r->is_root || r->to_root != ANGARA_PORT_NONE;
}

/*
 * Takes one step along a dimension by counting coordinates, if there is a link.
 */
static u32 step(const struct rows *t, u32 node, u32 dir)
{
	u32 scale = 1;
	u32 at, d;

	for (d = 0; d < dir / 2; d++)
		scale *= t->size[d];
	at = node / scale % t->size[dir / 2];
	if (dir % 2)
		return at ? node - scale : node + scale * (t->size[dir / 2] - 1);
	return at + 1 < t->size[dir / 2] ? node + scale : node - scale * at;
}

static int has_link(const struct rows *t, u32 dir)
{
	return dir < 2 * t->ndims && t->size[dir / 2] > 1;
}

static u32 broken_fields(const struct rows *t, const struct angara_tree_row *r)
{
	u32 dir;
	u32 count = 0;

	for (dir = 0; dir < 64; dir++)
		if (r->ports >> dir & 1) {
			count++;
			if (!has_link(t, dir))
				return RULE(FIELD);
		}
	if (count != r->port_sum || (!count && !r->pe))
		return RULE(FIELD);
	if (r->tree >= ANGARA_MAX_TREES || r->is_root > 1 || r->reserved || r->pe > 16)
		return RULE(FIELD);
	if (r->is_root && r->to_root != ANGARA_PORT_NONE)
		return RULE(FIELD);
	if (!r->is_root && !has_link(t, r->to_root))
		return RULE(FIELD);
	return 0;
}

static u32 broken_order(const struct angara_tree_row *r)
{
	u32 dir;

	for (dir = 0; dir < 8 && !r->is_root; dir++)
		if (r->ports >> dir & 1 && dir / 2 <= r->to_root / 2 &&
		    dir != (r->to_root ^ 1U))
			return RULE(TORUS);
	return 0;
}

/* Return: broken rules that involve several nodes, for rows whose fields are in range. */
static u32 broken_links(const struct rows *t, u32 node, u64 *reached)
{
	const struct angara_tree_row *r = &t->row[node];
	u32 rules = 0;
	u32 dir;

	for (dir = 0; dir < 8; dir++) {
		u32 to;

		if (!(r->ports >> dir & 1))
			continue;
		to = step(t, node, dir);
		if (!in_tree(&t->row[to]) || t->row[to].is_root ||
		    t->row[to].to_root != (dir ^ 1U))
			rules |= RULE(LINK);
		else if (*reached >> node & 1)
			*reached |= 1ULL << to;
	}
	return rules;
}

static u32 broken(const struct rows *t, u32 *in)
{
	const struct angara_tree_row *any = NULL;
	u64 reached = 0, before;
	u32 roots = 0, rules = 0;
	u32 i;

	*in = 0;
	for (i = 0; i < t->nodes; i++) {
		const struct angara_tree_row *r = &t->row[i];

		if (!in_tree(r))
			continue;
		++*in;
		rules |= broken_fields(t, r) | broken_order(r);
		if (any && (any->pkey != r->pkey || any->epoch != r->epoch ||
			    any->tree != r->tree))
			rules |= RULE(SHARED);
		any = r;
		if (r->is_root) {
			roots++;
			reached |= 1ULL << i;
		}
	}
	if (roots != 1)
		rules |= RULE(ROOT);
	if (rules & RULE(FIELD))
		return rules;
	do {
		before = reached;
		for (i = 0; i < t->nodes; i++)
			if (in_tree(&t->row[i]))
				rules |= broken_links(t, i, &reached);
	} while (before != reached);
	for (i = 0; i < t->nodes; i++)
		if (in_tree(&t->row[i]) && !(reached >> i & 1))
			rules |= RULE(REACH);
	return rules;
}

static void check(const struct rows *t)
{
	struct ang_topo topo;
	u16 dims[ANG_MAX_DIMS];
	u32 bad, count, in, rule, rules, i;

	for (i = 0; i < ANG_MAX_DIMS; i++)
		dims[i] = (u16)t->size[i];
	EXPECT_EQ(ang_topo_init(&topo, t->ndims, dims), t->nodes);
	rules = broken(t, &in);
	rule = ang_tree_check(&topo, t->row, &bad, &count);
	EXPECT(bad < t->nodes && count <= in);
	EXPECT_EQ(!rule, !rules);
	if (rule)
		EXPECT(rules & 1U << rule);
	else
		EXPECT_EQ(count, in);
	for (i = 0; i < 2 * t->ndims; i++)
		EXPECT_EQ(ang_topo_neighbor(&topo, t->nodes - 1, i),
			  has_link(t, i) ? step(t, t->nodes - 1, i) : ANG_NONE);
}

/* Makes a torus, and a tree over some of its nodes. */
static void begin(struct input *in, struct rows *t)
{
	struct angara_topo topo;
	u16 pe[MAX_NODES];
	u32 i, root;
	int n;

	t->ndims = 1 + in_below(in, ANG_MAX_DIMS);
	t->nodes = 1;
	for (i = 0; i < ANG_MAX_DIMS; i++) {
		u32 size = i < t->ndims ? 1 + in_below(in, 4) : 1;

		t->size[i] = t->nodes * size > MAX_NODES ? 1 : size;
		t->nodes *= t->size[i];
		topo.dims[i] = (u16)t->size[i];
	}
	topo.ndims = t->ndims;
	memset(t->row, 0, sizeof(t->row));
	for (i = 0; i < t->nodes; i++) {
		pe[i] = (u16)in_below(in, 20);
		t->row[i].to_root = ANGARA_PORT_NONE;
	}
	root = in_u8(in);
	n = angara_tree_build(&topo, root, pe, in_below(in, 18), t->row);
	EXPECT(n == -EINVAL || (n > 0 && (u32)n <= t->nodes));
	if (n > 0)
		EXPECT_EQ(angara_tree_check(&topo, t->row, NULL), 0);
	else
		for (i = 0; i < t->nodes; i++)
			t->row[i].to_root = ANGARA_PORT_NONE;
}

static void change(struct input *in, struct rows *t)
{
	struct angara_tree_row *r = &t->row[in_u8(in) % t->nodes];
	u8 what = in_u8(in);
	u8 val = in_u8(in);

	switch (what % 12) {
	case 0:
		r->to_root = val & 0x80 ? ANGARA_PORT_NONE : val;
		break;
	case 1:
		r->is_root = val & 3;
		break;
	case 2:
		r->ports = val;
		r->port_sum = (u8)__builtin_popcount(val);
		break;
	case 3:
		r->ports ^= (u16)(1U << val % 16);
		r->port_sum = (u8)__builtin_popcountll(r->ports);
		break;
	case 4:
		r->port_sum = val;
		break;
	case 5:
		r->pe = val;
		break;
	case 6:
		r->pkey = val;
		break;
	case 7:
		r->epoch = val;
		break;
	case 8:
		r->tree = val;
		break;
	case 9:
		*r = t->row[val % t->nodes];
		break;
	case 10:
		in_bytes(in, r, sizeof(*r));
		break;
	default:
		r->reserved = val & 1;
		break;
	}
}

static void rows(struct input *in)
{
	struct rows t;

	begin(in, &t);
	check(&t);
	while (in->left) {
		change(in, &t);
		check(&t);
	}
}

#define NUMBER_DIGITS	10	/* most digits of a number, with leading zeros */

/* Parses @text.  Return: number of dimensions, or 0 with the reason in @error. */
static int reference(const char *text, u64 *sizes, int *error)
{
	int n = 0;
	u64 nodes = 1;

	*error = -EINVAL;
	for (;;) {
		size_t digits = strspn(text, "0123456789");
		u64 size = 0;
		size_t i;

		for (i = 0; i < digits && size <= 0xFFFF; i++)
			size = size * 10 + (u64)(text[i] - '0');
		if (!digits || digits > NUMBER_DIGITS || !size || size > 0xFFFF)
			return 0;
		if (n < ANG_MAX_DIMS)
			sizes[n] = size;
		nodes = nodes * size > ANG_MAX_NODES ? ANG_MAX_NODES + 1ULL :
						       nodes * size;
		n++;
		text += digits;
		if (!*text)
			break;
		if (*text++ != 'x')
			return 0;
	}
	*error = -E2BIG;
	return n > ANG_MAX_DIMS || nodes > ANG_MAX_NODES ? 0 : n;
}

static void name(struct input *in)
{
	struct angara_topo topo = { .ndims = 77 };
	u64 sizes[ANG_MAX_DIMS];
	char *text = malloc(in->left + 1);
	int rc, n, error, i;

	memcpy(text, in->at, in->left);
	text[in->left] = 0;
	rc = angara_topo_parse(text, &topo);
	n = reference(text, sizes, &error);
	EXPECT_EQ((unsigned int)rc, (unsigned int)(n ? 0 : error));
	if (rc)
		EXPECT_EQ(topo.ndims, 77);
	for (i = 0; i < n; i++)
		EXPECT_EQ(topo.dims[i], sizes[i]);
	if (!rc)
		EXPECT_EQ(topo.ndims, (u32)n);
	free(text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	if (in_u8(&in) & 1)
		name(&in);
	else
		rows(&in);
	return 0;
}
