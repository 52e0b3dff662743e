// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of an adapter that is stopped and started again, and of an
 * adapter that disappears without notice.
 */
#include <linux/poll.h>
#include <linux/workqueue.h>

#include "fake.h"

#define GONE	(EPOLLHUP | EPOLLERR)

/* Expects the result @ret from ioctls of a file, and of its context if it has one. */
static void expect_ioctls(struct fake *f, struct file *filp, int ret)
{
	struct angara_query q = { .size = sizeof(q) };
	struct angara_kick k = { .size = sizeof(k), .flags = ANGARA_KICK_SQ };
	struct angara_tree_get get;
	u64 key = 0;

	KUNIT_EXPECT_EQ(f->test, ret, fake_ioctl(f, filp, ANGARA_IOCTL_QUERY,
						 &q, sizeof(q)));
	if (fake_ctx_of(f, filp))
		KUNIT_EXPECT_EQ(f->test, ret,
				fake_ioctl(f, fake_ctx_of(f, filp),
					   ANGARA_IOCTL_KICK, &k, sizeof(k)));
	KUNIT_EXPECT_EQ(f->test, ret, fake_domain(f, filp, 0));
	KUNIT_EXPECT_EQ(f->test, ret, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_EXPECT_EQ(f->test, ret, fake_ctx(f, filp, 8, 8));
	KUNIT_EXPECT_EQ(f->test, ret, fake_tree_get(f, filp, 3, &get));
}

static void expect_stopped(struct fake *f)
{
	KUNIT_EXPECT_EQ(f->test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
	KUNIT_EXPECT_FALSE(f->test, f->master);
	KUNIT_EXPECT_EQ(f->test, 0, fake_pages(f));
	KUNIT_EXPECT_EQ(f->test, 0, fake_bytes(f));
}

static u64 open_key; /* key of the region that open_all() made */

/* Opens a file with a context, a region and a row that the file owns. */
static struct file *open_all(struct fake *f)
{
	struct file *filp = fake_open_ctx(f);

	KUNIT_EXPECT_EQ(f->test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &open_key));
	KUNIT_EXPECT_EQ(f->test, 0, fake_tree_set(f, filp, 3, 1,
						  ANGARA_TREE_OWNED));
	return filp;
}

static void old_files_are_stale(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp, *idle;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	idle = fake_open(f);
	KUNIT_EXPECT_EQ(test, 0, (__force int)fake_poll(fake_ctx_of(f, filp), NULL));

	f->guarded = true;
	ang_dev_down(f->adev);
	f->guarded = false;
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_DESTROY]);
	expect_stopped(f);
	ang_dev_down(f->adev); /* no effect: already down */
	KUNIT_EXPECT_EQ(test, -EBUSY, PTR_ERR_OR_ZERO(fake_open(f)));
	expect_ioctls(f, filp, -ESTALE);
	expect_ioctls(f, idle, -ESTALE);
	KUNIT_EXPECT_EQ(test, (__force int)GONE,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));
	KUNIT_EXPECT_EQ(test, (__force int)GONE, (__force int)fake_poll(idle, NULL));

	KUNIT_ASSERT_EQ(test, 0, ang_dev_up(f->adev));
	KUNIT_EXPECT_EQ(test, 0, ang_dev_up(f->adev)); /* no effect: already up */
	expect_ioctls(f, filp, -ESTALE);
	expect_ioctls(f, idle, -ESTALE);
	KUNIT_EXPECT_EQ(test, (__force int)GONE,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));
}

static void new_files_work(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp, *old;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	old = open_all(f);
	KUNIT_ASSERT_EQ(test, 0, fake_delegate(f, old, 5, 77));
	ang_dev_down(f->adev);
	KUNIT_ASSERT_EQ(test, 0, ang_dev_up(f->adev));

	filp = fake_open(f);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	/* The row was lost with the adapter's memory; the core has kept the delegation. */
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_EQ(test, 0, fake_tree_get(f, filp, 5, &get));
	KUNIT_EXPECT_EQ(test, 77, get.delegated);
	/*
	 * The queue starts at index 0 again: run more commands than it has
	 * entries.
	 */
	for (i = 0; i < 2 * ANG_ADM_ENTRIES; i++) {
		KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
		KUNIT_EXPECT_EQ(test, 0, fake_tree_clear(f, filp, 3, 0));
	}
	KUNIT_EXPECT_EQ(test, 0, fake_ctx(f, filp, 8, 8));
	fake_event(f, ANGARA_AEV_TREE_DOWN, 3, 0);
	flush_work(&f->adev->aeq_work);
	KUNIT_EXPECT_EQ(test, 1, f->reg[ANGARA_REG_AEQ_CI / 4]);

	/* The file that owned the old row does not own the new row. */
	KUNIT_EXPECT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	fake_close(f, old);
	KUNIT_EXPECT_EQ(test, 0, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_EQ(test, 0, f->count[ANGARA_ADM_CTX_DESTROY]);
}

static void closed_while_down(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	ang_dev_down(f->adev);
	fake_close(f, filp);
	KUNIT_ASSERT_EQ(test, 0, ang_dev_up(f->adev));
	ang_dev_down(f->adev);
	expect_stopped(f);
}

static void unregistered_while_down(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	ang_dev_down(f->adev);
	fake_unregister(f);
	expect_ioctls(f, filp, -ENODEV);
	KUNIT_EXPECT_EQ(test, -ENODEV, PTR_ERR_OR_ZERO(fake_open(f)));
	expect_stopped(f);
}

/* After each kind of failed start, another start can succeed. */
static void fails_to_start(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 *node = &f->reg[ANGARA_REG_NODE / 4];

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	ang_dev_down(f->adev);
	*node = FAKE_NODE - 1;
	KUNIT_EXPECT_EQ(test, -ENODEV, ang_dev_up(f->adev));
	KUNIT_EXPECT_EQ(test, FAKE_NODE, f->adev->node);
	KUNIT_EXPECT_EQ(test, -EIO, PTR_ERR_OR_ZERO(fake_open(f)));
	*node = FAKE_NODE;
	f->fail = 1;
	KUNIT_EXPECT_EQ(test, -ENOMEM, ang_dev_up(f->adev));
	f->unready = true;
	KUNIT_EXPECT_EQ(test, -EIO, ang_dev_up(f->adev));
	f->unready = false;
	expect_stopped(f);
	KUNIT_EXPECT_EQ(test, 0, ang_dev_up(f->adev));
	fake_open_ctx(f);
}

static void mends_what_broke(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;
	u32 pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	pages = fake_pages(f);
	f->wrong_tag = true;
	f->unstoppable = f->uncuttable = true;
	KUNIT_EXPECT_EQ(test, -EIO, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_TRUE(test, f->adev->broken && f->adev->stuck);
	f->wrong_tag = false;
	ang_dev_down(f->adev);
	KUNIT_EXPECT_EQ(test, -EBUSY, PTR_ERR_OR_ZERO(fake_open(f)));
	KUNIT_EXPECT_EQ(test, -EIO, ang_dev_up(f->adev)); /* the reset fails */
	KUNIT_EXPECT_EQ(test, -EIO, PTR_ERR_OR_ZERO(fake_open(f)));
	f->unstoppable = f->uncuttable = false;
	KUNIT_EXPECT_EQ(test, 0, ang_dev_up(f->adev));
	KUNIT_EXPECT_FALSE(test, f->adev->broken || f->adev->stuck);
	/* The adapter may still use the memory, so the memory is not freed. */
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	fake_open_ctx(f);
	fake_unregister(f);
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, pages, fake_forget(f));
}

/**
 * struct silence - an adapter that does not stop at a reset
 * @name: for the log
 * @absent: all registers read all ones
 * @unstoppable: the adapter still reports that it is enabled
 * @uncuttable: the adapter cannot be cut off from memory
 */
struct silence {
	const char *name;
	bool absent;
	bool unstoppable;
	bool uncuttable;
};

static const struct silence silences[] = {
	{ .name = "all ones", .absent = true },
	{ .name = "at work", .unstoppable = true },
	{ .name = "all ones, reaches memory", .absent = true, .uncuttable = true },
	{ .name = "at work, reaches memory", .unstoppable = true,
	  .uncuttable = true },
};

static void silence_name(const struct silence *s, char *name)
{
	strscpy(name, s->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(silence, silences, silence_name);

/*
 * An adapter that does not answer may still use memory, so memory is freed only
 * if the adapter is cut off from it.
 */
static void cut_off_before_memory_is_given_back(struct kunit *test)
{
	const struct silence *s = test->param_value;
	struct fake *f = test->priv;
	struct file *filp;
	u32 pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	pages = fake_pages(f);
	f->absent = s->absent;
	f->unstoppable = s->unstoppable;
	f->uncuttable = s->uncuttable;
	f->guarded = true;
	ang_dev_break(f->adev, "test");
	KUNIT_EXPECT_TRUE(test, f->adev->broken);
	KUNIT_EXPECT_EQ(test, s->uncuttable, f->adev->stuck);
	KUNIT_EXPECT_EQ(test, s->uncuttable, f->master);
	KUNIT_EXPECT_EQ(test, EPOLLERR,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, open_key));
	fake_unregister(f);
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, s->uncuttable ? pages : 0, fake_pages(f));
	KUNIT_EXPECT_EQ(test, s->uncuttable ? pages : 0, fake_forget(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
}

/*
 * An adapter that does not stop at a reset, as in the previous test, but the core
 * detects this only in ang_dev_unregister().
 */
static void cut_off_when_it_is_taken_away(struct kunit *test)
{
	const struct silence *s = test->param_value;
	struct fake *f = test->priv;
	struct file *filp;
	u32 pages;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	pages = fake_pages(f);
	f->absent = s->absent;
	f->unstoppable = s->unstoppable;
	f->uncuttable = s->uncuttable;
	f->guarded = true;
	fake_unregister(f);
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, s->uncuttable, f->master);
	KUNIT_EXPECT_EQ(test, s->uncuttable ? pages : 0, fake_pages(f));
	KUNIT_EXPECT_EQ(test, s->uncuttable ? pages : 0, fake_forget(f));
	KUNIT_EXPECT_EQ(test, 0, fake_bytes(f));
}

/**
 * struct breaker - calls ang_dev_break() after a delay
 * @work: delayed work
 * @f: adapter
 */
struct breaker {
	struct delayed_work work;
	struct fake *f;
};

static void breaker_work(struct work_struct *work)
{
	struct breaker *b = container_of(to_delayed_work(work), struct breaker,
					 work);

	b->f->absent = true;
	ang_dev_break(b->f->adev, "test");
}

/* If the adapter breaks, a caller that waits for an answer gets an error. */
static void break_ends_commands(struct kunit *test)
{
	struct fake *f = test->priv;
	struct breaker b = { .f = f };
	struct angara_tree_get get;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = open_all(f);
	f->adev->timeout = MAX_SCHEDULE_TIMEOUT;
	f->mute = true;
	INIT_DELAYED_WORK_ONSTACK(&b.work, breaker_work);
	schedule_delayed_work(&b.work, HZ / 10);
	KUNIT_EXPECT_EQ(test, -EIO, fake_tree_get(f, filp, 3, &get));
	flush_delayed_work(&b.work);
	destroy_delayed_work_on_stack(&b.work);
	KUNIT_EXPECT_TRUE(test, f->adev->broken);
}

/* The transport may carry fewer contexts than the adapter has. */
static void fewer_contexts(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 i;

	f->adev->ctx_limit = 2;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	for (i = 0; i < 2; i++)
		fake_open_ctx(f);
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_ctx(f, fake_open(f), 8, 8));
}

static struct kunit_case restart_cases[] = {
	KUNIT_CASE(old_files_are_stale),
	KUNIT_CASE(new_files_work),
	KUNIT_CASE(closed_while_down),
	KUNIT_CASE(unregistered_while_down),
	KUNIT_CASE(fails_to_start),
	KUNIT_CASE(mends_what_broke),
	KUNIT_CASE_PARAM(cut_off_before_memory_is_given_back,
			 silence_gen_params),
	KUNIT_CASE_PARAM(cut_off_when_it_is_taken_away, silence_gen_params),
	KUNIT_CASE(break_ends_commands),
	KUNIT_CASE(fewer_contexts),
	{}
};

struct kunit_suite restart_suite = {
	.name = "angara_restart",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = restart_cases,
};
