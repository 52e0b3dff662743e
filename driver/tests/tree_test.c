// SPDX-License-Identifier: GPL-2.0-only
/* KUnit tests of the rights to set, read and clear rows of trees. */
#include "fake.h"

#define TREE	9
#define PKEY(uid)	((uid) ? ANGARA_PKEY_UID(uid) : 0)

/* Users; 0 means that a row or delegation has no user. */
#define ALICE	1000
#define BOB	1001

/**
 * struct right - rights of a caller
 * @name: for the log
 * @delegated: user that the tree is delegated to
 * @row: owner of the row
 * @admin: the caller, ALICE, is an administrator
 * @set: result of setting the row
 * @get: result of reading the row that was set
 * @clear: result of clearing the row
 */
struct right {
	const char *name;
	u32 delegated;
	u32 row;
	bool admin;
	int set;
	int get;
	int clear;
};

static const struct right rights[] = {
	{ "administrator", 0, BOB, true, 0, 0, 0 },
	{ "administrator, delegated to another", BOB, BOB, true, 0, 0, 0 },
	{ "own, not delegated", 0, ALICE, false, -EPERM, 0, -EPERM },
	{ "own, delegated", ALICE, ALICE, false, 0, 0, 0 },
	{ "own, delegated to another", BOB, ALICE, false, -EPERM, 0, -EPERM },
	{ "another's, delegated", ALICE, BOB, false, -EPERM, -EPERM, -EPERM },
	{ "another user's row, delegated to that user", BOB, BOB, false, -EPERM, -EPERM, -EPERM },
};

static void right_name(const struct right *r, char *name)
{
	strscpy(name, r->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(right, rights, right_name);

static void rights_to_rows(struct kunit *test)
{
	const struct right *r = test->param_value;
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_delegate(f, filp, TREE, PKEY(r->delegated)));

	fake_as(f, ALICE, r->admin);
	KUNIT_EXPECT_EQ(test, r->set, fake_tree_set(f, filp, TREE, PKEY(r->row), 0));
	fake_as_self(f);
	KUNIT_EXPECT_EQ(test, !r->set, f->count[ANGARA_ADM_TREE_SET]);
	if (r->set)
		KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, TREE,
						       PKEY(r->row), 0));
	fake_as(f, ALICE, r->admin);
	KUNIT_EXPECT_EQ(test, r->get, fake_tree_get(f, filp, TREE, &get));
	if (!r->get) {
		KUNIT_EXPECT_EQ(test, PKEY(r->row), get.row.pkey);
		KUNIT_EXPECT_EQ(test, PKEY(r->delegated), get.delegated);
	}
	KUNIT_EXPECT_EQ(test, r->clear, fake_tree_clear(f, filp, TREE, 0));
	fake_as_self(f);
	KUNIT_EXPECT_EQ(test, !r->clear, f->count[ANGARA_ADM_TREE_CLEAR]);
}

static void unset_rows(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_get(f, filp, TREE, &get));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_clear(f, filp, TREE, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_delegate(f, filp, TREE, PKEY(ALICE)));
	fake_as(f, ALICE, false);
	KUNIT_EXPECT_EQ(test, 0, fake_tree_get(f, filp, TREE, &get));
	KUNIT_EXPECT_EQ(test, ANGARA_TREE_STATE_UNSET, get.state);
	KUNIT_EXPECT_EQ(test, PKEY(ALICE), get.delegated);
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_clear(f, filp, TREE, 0));
	KUNIT_EXPECT_EQ(test, -EPERM, fake_delegate(f, filp, TREE, 0));
	fake_as_self(f);
	fake_as(f, BOB, false);
	KUNIT_EXPECT_EQ(test, -EPERM, fake_tree_get(f, filp, TREE, &get));
	KUNIT_EXPECT_EQ(test, -EPERM, fake_tree_clear(f, filp, TREE, 0));
	fake_as_self(f);
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_delegate(f, filp, FAKE_TREES, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_tree_get(f, filp, FAKE_TREES, &get));
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_tree_clear(f, filp, FAKE_TREES, 0));
}

static void owned_rows_go_with_the_file(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *one, *two;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	one = fake_open(f);
	two = fake_open(f);
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, one, 1, 7, ANGARA_TREE_OWNED));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, one, 2, 7, ANGARA_TREE_OWNED));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, one, 3, 7, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_clear(f, two, 1,
						       ANGARA_TREE_CLEAR_OWNED));
	/*
	 * Row 2 is set again through another file, so the first file does not
	 * own the new row.
	 */
	KUNIT_EXPECT_EQ(test, 0, fake_tree_clear(f, two, 2, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, two, 2, 7, 0));
	fake_close(f, one);
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_clear(f, two, 1, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_clear(f, two, 2, 0));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_clear(f, two, 3, 0));
}

/* In-band management clears and replaces a row; no event reports this to the core. */
static void rows_change_in_band(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_delegate(f, filp, TREE, PKEY(ALICE)));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, filp, TREE, PKEY(ALICE),
					       ANGARA_TREE_OWNED));
	f->row[TREE].state = ANGARA_TREE_STATE_UNSET;
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, filp, TREE, PKEY(ALICE),
					       ANGARA_TREE_OWNED));
	/* A row of another partition replaces the row: now only that partition has rights. */
	f->row[TREE].life = cpu_to_le16(++f->lives);
	f->row[TREE].pkey = cpu_to_le32(PKEY(BOB));
	fake_as(f, ALICE, false);
	KUNIT_EXPECT_EQ(test, -EPERM, fake_tree_get(f, filp, TREE, &get));
	KUNIT_EXPECT_EQ(test, -EPERM, fake_tree_clear(f, filp, TREE, 0));
	fake_as_self(f);
	fake_as(f, BOB, false);
	KUNIT_EXPECT_EQ(test, 0, fake_tree_get(f, filp, TREE, &get));
	KUNIT_EXPECT_EQ(test, PKEY(BOB), get.row.pkey);
	fake_as_self(f);
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, ANGARA_TREE_STATE_UP, f->row[TREE].state);
}

/* Closing a file does not clear a row that has replaced the file's row in-band. */
static void replaced_rows_stay(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, filp, TREE, 7, ANGARA_TREE_OWNED));
	f->row[TREE].life = cpu_to_le16(++f->lives);
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 1, f->count[ANGARA_ADM_TREE_CLEAR]);
	KUNIT_EXPECT_EQ(test, ANGARA_TREE_STATE_UP, f->row[TREE].state);
}

static void refused_by_the_adapter(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	f->status[ANGARA_ADM_TREE_SET] = ANGARA_ADM_ST_RULE;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_tree_set(f, filp, TREE, 7,
						     ANGARA_TREE_OWNED));
	f->status[ANGARA_ADM_TREE_SET] = ANGARA_ADM_ST_EXISTS;
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_tree_set(f, filp, TREE, 7,
						    ANGARA_TREE_OWNED));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_get(f, filp, TREE, &get));
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_TREE_CLEAR]);
}

static void rows_as_the_adapter_gets_them(struct kunit *test)
{
	struct angara_tree_set s = {
		.size = sizeof(s),
		.row = {
			.tree = TREE, .to_root = 1, .port_sum = 1, .ports = BIT(2),
			.pe = 3, .pkey = 0x12345678, .epoch = 0xABCD,
		},
	};
	struct fake *f = test->priv;
	struct angara_hw_row *hw = &f->last[ANGARA_ADM_TREE_SET].set.row;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_ioctl(f, filp, ANGARA_IOCTL_TREE_SET, &s,
					    sizeof(s)));
	KUNIT_EXPECT_EQ(test, TREE, hw->tree);
	KUNIT_EXPECT_EQ(test, 0, hw->is_root);
	KUNIT_EXPECT_EQ(test, 1, hw->to_root);
	KUNIT_EXPECT_EQ(test, 1, hw->port_sum);
	KUNIT_EXPECT_EQ(test, BIT(2), le64_to_cpu(hw->ports));
	KUNIT_EXPECT_EQ(test, 3, le16_to_cpu(hw->pe));
	KUNIT_EXPECT_EQ(test, 0x12345678, le32_to_cpu(hw->pkey));
	KUNIT_EXPECT_EQ(test, 0xABCD, le16_to_cpu(hw->epoch));
	KUNIT_EXPECT_EQ(test, 0, le16_to_cpu(hw->life));
}

static struct kunit_case tree_cases[] = {
	KUNIT_CASE_PARAM(rights_to_rows, right_gen_params),
	KUNIT_CASE(unset_rows),
	KUNIT_CASE(owned_rows_go_with_the_file),
	KUNIT_CASE(rows_change_in_band),
	KUNIT_CASE(replaced_rows_stay),
	KUNIT_CASE(refused_by_the_adapter),
	KUNIT_CASE(rows_as_the_adapter_gets_them),
	{}
};

struct kunit_suite tree_suite = {
	.name = "angara_tree",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = tree_cases,
};
