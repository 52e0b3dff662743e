// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows and trees: every rule broken one at a time, every tree that can be built
 * accepted, ownership of rows, and joining.
 */
#include <string.h>
#include <unistd.h>

#include "at_harness.h"
#include "group.h"
#include "nl.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define NODES	8	/* nodes with participants; all other nodes only forward */
#define TREE	5

FIXTURE(tree) {
	struct at_group g;
	struct angara_tree_row rows[AT_MAX_NODES];
	uint16_t pe[AT_MAX_NODES];
	unsigned int leaf;
	int count;
};

FIXTURE_SETUP(tree)
{
	unsigned int i;

	ASSERT_EQ(0, at_group_open(&self->g));
	for (i = 0; i < NODES; i++)
		self->pe[i] = 1;
	self->count = at_tree_rows(&self->g, TREE, 0, self->pe, self->rows);
	ASSERT_LE(NODES, self->count);
	for (i = 0; i < self->g.f.nodes; i++)
		if (at_tree_has(&self->rows[i]) && !self->rows[i].port_sum)
			self->leaf = i;
	ASSERT_NE(0, self->leaf);
}

FIXTURE_TEARDOWN(tree)
{
	at_tree_lift(&self->g, TREE);
	at_group_close(&self->g);
}

/* Sets @row on node 0 and clears it. */
static int try_row(FIXTURE_DATA(tree) *self, const struct angara_tree_row *row)
{
	int ret = at_tree_set(self->g.fd[0], row, 0);

	if (!ret)
		at_tree_clear(self->g.fd[0], row->tree);
	return ret;
}

#define REFUSED(row, what) do {						\
	struct angara_tree_row r = row;					\
	struct angara_tree_get get_;					\
	what;								\
	EXPECT_EQ(-EINVAL, try_row(self, &r)) {				\
		TH_LOG("accepted: %s", #what);				\
	}								\
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get_));	\
	EXPECT_EQ(0, try_row(self, &row));				\
} while (0)

static struct angara_tree_row root_row(FIXTURE_DATA(tree) *self)
{
	return (struct angara_tree_row) {
		.tree = TREE, .is_root = 1, .to_root = ANGARA_PORT_NONE,
		.port_sum = 1, .ports = 1, .pe = 1, .pkey = self->g.pkey,
	};
}

/* Return: the row of a node with port X- up and X+ down. */
static struct angara_tree_row inner_row(FIXTURE_DATA(tree) *self)
{
	return (struct angara_tree_row) {
		.tree = TREE, .to_root = 1, .port_sum = 1, .ports = 1,
		.pe = 1, .pkey = self->g.pkey,
	};
}

TEST_F(tree, row_fields)
{
	struct angara_tree_row root = root_row(self), inner = inner_row(self);
	unsigned int dirs = 2 * self->g.f.ndims, d;

	REFUSED(root, r.tree = 16);
	REFUSED(root, r.tree = 255);
	REFUSED(root, r.is_root = 2);
	REFUSED(root, r.is_root = 255);
	REFUSED(root, r.is_root = 0);
	REFUSED(root, r.to_root = 0);
	REFUSED(root, r.to_root = 8);
	REFUSED(root, r.port_sum = 0);
	REFUSED(root, r.port_sum = 2);
	REFUSED(root, r.port_sum = 255);
	REFUSED(root, r.ports = 0);
	REFUSED(root, r.ports = 3);
	REFUSED(root, r.ports = 1 << 15; r.port_sum = 1);
	REFUSED(root, r.pe = ANGARA_MAX_LOCAL + 1);
	REFUSED(root, r.pe = 0xFFFF);
	REFUSED(inner, r.is_root = 1);
	REFUSED(inner, r.to_root = ANGARA_PORT_NONE);
	REFUSED(inner, r.to_root = 254);
	for (d = dirs; d < 16; d++) {
		REFUSED(root, r.ports = 1 << d);
		REFUSED(inner, r.to_root = d; r.ports = 0; r.port_sum = 0);
	}
}

/*
 * A port down continues straight on from the port up, or is in a later
 * dimension, never back or in an earlier one.
 */
TEST_F(tree, row_order)
{
	unsigned int dirs = 2 * self->g.f.ndims, up, down;
	struct angara_tree_row r = inner_row(self);
	int want;

	for (up = 0; up < dirs; up++) {
		for (down = 0; down < dirs; down++) {
			r.to_root = up;
			r.ports = 1 << down;
			r.port_sum = 1;
			want = down / 2 > up / 2 || down == (up ^ 1) ? 0 :
								       -EINVAL;
			if (self->g.f.dims[up / 2] < 2 ||
			    self->g.f.dims[down / 2] < 2)
				want = -EINVAL;
			EXPECT_EQ(want, try_row(self, &r)) {
				TH_LOG("up %u, down %u", up, down);
			}
		}
	}
}

TEST_F(tree, row_limits)
{
	struct angara_tree_row row = root_row(self);
	struct angara_tree_get get;
	struct angara_query q;

	ASSERT_EQ(0, at_query(self->g.fd[0], &q));
	EXPECT_LE(AT_TREES, q.max_trees);
	EXPECT_GE(ANGARA_MAX_TREES, q.max_trees);
	row.pe = ANGARA_MAX_LOCAL;
	row.epoch = 0xFFFF;
	for (row.tree = 0; row.tree < q.max_trees; row.tree++) {
		ASSERT_EQ(-ENOENT, at_tree_get(self->g.fd[0], row.tree, &get));
		EXPECT_EQ(0, at_tree_set(self->g.fd[0], &row, 0));
		EXPECT_EQ(0, at_tree_get(self->g.fd[0], row.tree, &get));
		EXPECT_EQ(0, memcmp(&row, &get.row, sizeof(row)));
		EXPECT_EQ(ANGARA_TREE_STATE_UP, get.state);
		EXPECT_EQ(0, get.members);
		EXPECT_EQ(0, get.delegated);
	}
	while (row.tree--) {
		EXPECT_EQ(0, at_tree_clear(self->g.fd[0], row.tree));
	}
}

static void set_rows(struct __test_metadata *_metadata,
		     FIXTURE_DATA(tree) *self)
{
	unsigned int i;

	at_tree_lift(&self->g, TREE);
	for (i = 0; i < self->g.f.nodes; i++)
		if (at_tree_has(&self->rows[i])) {
			ASSERT_EQ(0, at_tree_set(self->g.fd[i],
						 &self->rows[i], 0));
		}
}

/* Lets the kernel check the rows. Return: the rule that they break. */
static unsigned int rule(struct __test_metadata *_metadata,
			 FIXTURE_DATA(tree) *self, uint32_t *node)
{
	struct angara_tree_verify check;
	unsigned int i, first = 0;

	for (i = 0; i < self->g.f.nodes; i++) {
		EXPECT_EQ(0, at_tree_check(self->g.fd[i], TREE, &check));
		/* Every device gives the same answer. */
		if (i) {
			EXPECT_EQ(first, check.rule);
		}
		first = check.rule;
	}
	*node = check.node;
	return first;
}

/* Replaces the row of @node, or clears it if @row is NULL. */
static void replace(struct __test_metadata *_metadata,
		    FIXTURE_DATA(tree) *self, unsigned int node,
		    const struct angara_tree_row *row)
{
	at_tree_clear(self->g.fd[node], TREE);
	if (row) {
		ASSERT_EQ(0, at_tree_set(self->g.fd[node], row, 0));
	}
}

static unsigned int parent_of(FIXTURE_DATA(tree) *self, unsigned int node)
{
	return at_neighbor(&self->g.f, node, self->rows[node].to_root);
}

TEST_F(tree, rules_across_nodes)
{
	struct angara_tree_row row;
	unsigned int parent = parent_of(self, self->leaf);
	uint32_t node;

	set_rows(_metadata, self);
	EXPECT_EQ(ANGARA_TREE_VALID, rule(_metadata, self, &node));

	replace(_metadata, self, 0, NULL);
	EXPECT_EQ(ANGARA_TREE_RULE_ROOT, rule(_metadata, self, &node));
	replace(_metadata, self, 0, &self->rows[0]);
	EXPECT_EQ(ANGARA_TREE_VALID, rule(_metadata, self, &node));

	/* First the row of a child is missing, then it has another port up. */
	replace(_metadata, self, self->leaf, NULL);
	EXPECT_EQ(ANGARA_TREE_RULE_LINK, rule(_metadata, self, &node));
	EXPECT_EQ(parent, node);
	row = self->rows[self->leaf];
	row.to_root = row.to_root < 2 ? row.to_root ^ 1 : 0;
	replace(_metadata, self, self->leaf, &row);
	EXPECT_EQ(ANGARA_TREE_RULE_LINK, rule(_metadata, self, &node));
	EXPECT_EQ(parent, node);

	row = self->rows[self->leaf];
	row.epoch++;
	replace(_metadata, self, self->leaf, &row);
	EXPECT_EQ(ANGARA_TREE_RULE_SHARED, rule(_metadata, self, &node));
	row.epoch--;
	row.pkey++;
	replace(_metadata, self, self->leaf, &row);
	EXPECT_EQ(ANGARA_TREE_RULE_SHARED, rule(_metadata, self, &node));

	/* The parent's row lacks the port to the child. */
	replace(_metadata, self, self->leaf, &self->rows[self->leaf]);
	row = self->rows[parent];
	row.ports &= ~(1U << (self->rows[self->leaf].to_root ^ 1));
	row.port_sum--;
	replace(_metadata, self, parent, &row);
	EXPECT_EQ(ANGARA_TREE_RULE_REACH, rule(_metadata, self, &node));
	EXPECT_EQ(self->leaf, node);

	replace(_metadata, self, parent, &self->rows[parent]);
	EXPECT_EQ(ANGARA_TREE_VALID, rule(_metadata, self, &node));
}

TEST_F(tree, two_roots)
{
	struct angara_tree_row second = root_row(self);
	uint32_t node;

	memset(self->pe, 0, sizeof(self->pe));
	self->pe[0] = 1;
	at_tree_rows(&self->g, TREE, 0, self->pe, self->rows);
	set_rows(_metadata, self);
	EXPECT_EQ(ANGARA_TREE_VALID, rule(_metadata, self, &node));
	second.ports = 0;
	second.port_sum = 0;
	second.epoch = 1;
	replace(_metadata, self, self->leaf, &second);
	EXPECT_EQ(ANGARA_TREE_RULE_ROOT, rule(_metadata, self, &node));
}

TEST_F(tree, every_root_and_subset)
{
	unsigned int root, set, i, step = 100 / at_scale(100);
	struct angara_tree_verify check;
	int n;

	for (root = 0; root < NODES; root++) {
		for (set = 1; set < 1U << NODES; set += step ? step : 1) {
			for (i = 0; i < NODES; i++)
				self->pe[i] = set >> i & 1;
			n = at_tree_lay(&self->g, TREE, root, self->pe);
			ASSERT_LT(0, n);
			ASSERT_EQ(0, at_tree_check(self->g.fd[root], TREE,
						   &check));
			ASSERT_EQ(0, check.rule) {
				TH_LOG("root %u, nodes %02x: rule %u at %u",
				       root, set, check.rule, check.node);
			}
			ASSERT_EQ(n, check.nodes);
			at_tree_lift(&self->g, TREE);
		}
	}
}

TEST_F(tree, set_twice_clear_twice)
{
	struct angara_tree_row row = root_row(self), other = row;
	struct angara_tree_get get;

	other.pe = 2;
	EXPECT_EQ(-ENOENT, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(0, at_tree_set(self->g.fd[0], &row, 0));
	EXPECT_EQ(-EBUSY, at_tree_set(self->g.fd[0], &row, 0));
	EXPECT_EQ(-EBUSY, at_tree_set(self->g.fd[0], &other, 0));
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(1, get.row.pe);
	EXPECT_EQ(0, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(-ENOENT, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));
}

TEST_F(tree, owned_rows_go_with_their_file)
{
	struct angara_tree_row row = root_row(self);
	int fd = at_open(self->g.f.dev[0]);
	struct angara_tree_get get;

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, at_tree_set(fd, &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	close(fd);
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));

	fd = at_open(self->g.f.dev[0]);
	EXPECT_EQ(0, at_tree_set(fd, &row, 0));
	close(fd);
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));

	/* A row that another file has set in the meantime stays. */
	at_tree_clear(self->g.fd[0], TREE);
	fd = at_open(self->g.f.dev[0]);
	EXPECT_EQ(0, at_tree_set(fd, &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(0, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(0, at_tree_set(self->g.fd[0], &row, 0));
	close(fd);
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
}

/* A context keeps the file on which it was created, and so the rows that this file owns. */
TEST_F(tree, owned_rows_outlive_their_file_by_its_contexts)
{
	struct angara_tree_row row = root_row(self);
	int fd = at_open(self->g.f.dev[0]);
	struct angara_tree_get get;
	struct at_ctx x;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, at_domain_create(fd, 0));
	ASSERT_EQ(0, at_ctx_add(&x, fd, NULL));
	EXPECT_EQ(0, at_tree_set(fd, &row, ANGARA_TREE_OWNED));
	close(fd);
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	at_ctx_close(&x);
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));
}

static int clear_owned(int fd, unsigned int tree)
{
	struct angara_tree_clear clear = {
		.size = sizeof(clear),
		.flags = ANGARA_TREE_CLEAR_OWNED,
		.tree = tree,
	};

	return at_ioctl(fd, ANGARA_IOCTL_TREE_CLEAR, &clear);
}

/* Closing a file clears the rows that it has set, and no others. */
TEST_F(tree, owned_rows_given_back)
{
	struct angara_tree_row row = root_row(self);
	int fd = at_open(self->g.f.dev[0]);
	struct angara_tree_get get;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOENT, clear_owned(fd, TREE));
	EXPECT_EQ(-EINVAL, clear_owned(fd, ANGARA_MAX_TREES));
	EXPECT_EQ(-EINVAL, clear_owned(fd, UINT32_MAX));

	EXPECT_EQ(0, at_tree_set(fd, &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(-ENOENT, clear_owned(self->g.fd[0], TREE));
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(0, clear_owned(fd, TREE));
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(-ENOENT, clear_owned(fd, TREE));

	/* A row that is set without ANGARA_TREE_OWNED has no owner. */
	EXPECT_EQ(0, at_tree_set(fd, &row, 0));
	EXPECT_EQ(-ENOENT, clear_owned(fd, TREE));
	EXPECT_EQ(0, at_tree_clear(fd, TREE));

	/* The file's own row was cleared; another file owns the present row. */
	EXPECT_EQ(0, at_tree_set(fd, &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(0, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(0, at_tree_set(self->g.fd[0], &row, ANGARA_TREE_OWNED));
	EXPECT_EQ(-ENOENT, clear_owned(fd, TREE));
	close(fd);
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(0, clear_owned(self->g.fd[0], TREE));
}

TEST_F(tree, delegation)
{
	struct angara_tree_get get;

	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(0, at_delegate(self->g.fd[0], TREE, 77));
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(77, get.delegated);
	EXPECT_EQ(ANGARA_TREE_STATE_UNSET, get.state);
	EXPECT_EQ(0, at_delegate(self->g.fd[0], TREE, 78));
	EXPECT_EQ(0, at_tree_get(self->g.fd[0], TREE, &get));
	EXPECT_EQ(78, get.delegated);
	EXPECT_EQ(0, at_delegate(self->g.fd[0], TREE, 0));
	EXPECT_EQ(-ENOENT, at_tree_get(self->g.fd[0], TREE, &get));
}

static struct angara_wqe barrier(void)
{
	return at_coll(ANGARA_OP_BARRIER, TREE, 0, 0, 0);
}

TEST_F(tree, join_and_leave)
{
	struct angara_tree_row row = root_row(self);
	struct angara_wqe w = barrier();
	struct angara_tree_get get;
	struct at_ctx a, b, c;
	int fd = self->g.fd[0];

	row.ports = 0;
	row.port_sum = 0;
	row.pe = 2;
	ASSERT_EQ(0, at_ctx_open(&a, self->g.f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&b, self->g.f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&c, self->g.f.dev[0], NULL));
	EXPECT_EQ(-ENOENT, at_join(a.fd, TREE));
	ASSERT_EQ(0, at_tree_set(fd, &row, 0));
	EXPECT_EQ(-ENOTCONN, at_leave(a.fd, TREE));
	EXPECT_EQ(ANGARA_ST_NO_TREE, at_do(&a, &w, NULL));
	EXPECT_EQ(0, at_join(a.fd, TREE));
	EXPECT_EQ(-EALREADY, at_join(a.fd, TREE));
	EXPECT_EQ(0, at_join(b.fd, TREE));
	EXPECT_EQ(-ENOSPC, at_join(c.fd, TREE));
	EXPECT_EQ(-ENOTCONN, at_leave(c.fd, TREE));
	EXPECT_EQ(0, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(2, get.members);
	EXPECT_EQ(ANGARA_TREE_STATE_UP, get.state);
	/* When one member leaves, the tree is down for all others. */
	EXPECT_EQ(0, at_leave(b.fd, TREE));
	EXPECT_EQ(ANGARA_ST_TREE_DOWN, at_do(&a, &w, NULL));
	EXPECT_EQ(-ENETDOWN, at_join(c.fd, TREE));
	EXPECT_EQ(0, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(ANGARA_TREE_STATE_DOWN, get.state);
	EXPECT_EQ(0, get.down_node);
	EXPECT_EQ(0, at_tree_clear(fd, TREE));
	EXPECT_EQ(ANGARA_ST_NO_TREE, at_do(&a, &w, NULL));
	/* After it is set again, the tree has no members. */
	ASSERT_EQ(0, at_tree_set(fd, &row, 0));
	EXPECT_EQ(0, at_tree_get(fd, TREE, &get));
	EXPECT_EQ(0, get.members);
	EXPECT_EQ(0, at_join(a.fd, TREE));
	EXPECT_EQ(0, at_join(c.fd, TREE));
	at_ctx_close(&a);
	at_ctx_close(&b);
	at_ctx_close(&c);
}

/* Counts the packets that nodes have dropped as stale. */
static uint64_t stale(FIXTURE_DATA(tree) *self)
{
	struct at_nl_obj obj;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < self->g.f.nodes; i++)
		if (!at_nl_dev(self->g.f.dev[i], &obj))
			sum += obj.cnt[ANGARA_A_NODE_COUNTER_DROPS_STALE];
	return sum;
}

/*
 * Rows of different epochs do not match: operations wait until the tree is
 * cleared.
 */
TEST_F(tree, other_epoch)
{
	struct angara_wqe w = at_coll(ANGARA_OP_BCAST, TREE, 0, 0, 100);
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	uint64_t before = stale(self);
	struct at_member root, leaf;

	self->rows[self->leaf].epoch = 2;
	set_rows(_metadata, self);
	ASSERT_EQ(0, at_member_open(&root, &self->g, 0, AT_PAGE));
	ASSERT_EQ(0, at_member_open(&leaf, &self->g, self->leaf, AT_PAGE));
	ASSERT_EQ(0, at_join(root.x.fd, TREE));
	ASSERT_EQ(0, at_join(leaf.x.fd, TREE));
	at_fill(root.mem, 100, 1);
	at_coll_dst(&w, 200);
	ASSERT_EQ(0, at_start(&root, &w));
	ASSERT_EQ(0, at_tree_clear(self->g.fd[0], TREE));
	EXPECT_EQ(ANGARA_ST_TREE_DOWN, at_finish(&root));
	while (stale(self) == before && at_now_ms() < end)
		;
	EXPECT_EQ(before + 1, stale(self));
	EXPECT_EQ(0, at_counter(&leaf.x, ANGARA_CTR_BCAST(TREE)));
	EXPECT_TRUE(at_all(leaf.mem, AT_PAGE, 0));
	EXPECT_TRUE(at_all(root.mem + 200, 100, 0));
	at_member_close(&root);
	at_member_close(&leaf);
}

TEST_F(tree, transit_node_has_no_place)
{
	struct angara_tree_row row = root_row(self);
	struct at_ctx a;

	row.pe = 0;
	ASSERT_EQ(0, at_ctx_open(&a, self->g.f.dev[0], NULL));
	ASSERT_EQ(0, at_tree_set(self->g.fd[0], &row, 0));
	EXPECT_EQ(-ENOSPC, at_join(a.fd, TREE));
	at_ctx_close(&a);
}

TEST_F(tree, join_of_another_partition)
{
	struct angara_tree_row row = root_row(self);
	struct at_ctx a;

	row.pkey++;
	ASSERT_EQ(0, at_ctx_open(&a, self->g.f.dev[0], NULL));
	ASSERT_EQ(0, at_tree_set(self->g.fd[0], &row, 0));
	EXPECT_EQ(-EPERM, at_join(a.fd, TREE));
	at_ctx_close(&a);
}

TEST_HARNESS_MAIN
