// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the admin queue, of events and interrupts, and of adapters
 * that answer wrongly, do not answer, or do not stop.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "fake.h"

/* A thread that sleeps in poll(2). */
struct sleeper {
	poll_table table;
	wait_queue_entry_t entry;
	wait_queue_head_t *head;
	__poll_t woken;
};

static int sleeper_wake(wait_queue_entry_t *entry, unsigned int mode, int flags,
			void *key)
{
	container_of(entry, struct sleeper, entry)->woken |= key_to_poll(key);
	return 0;
}

static void sleeper_queue(struct file *filp, wait_queue_head_t *head,
			  poll_table *table)
{
	struct sleeper *s = container_of(table, struct sleeper, table);

	s->head = head;
	init_waitqueue_func_entry(&s->entry, sleeper_wake);
	add_wait_queue(head, &s->entry);
}

static __poll_t sleeper_start(struct sleeper *s, struct file *filp)
{
	*s = (struct sleeper){ 0 };
	init_poll_funcptr(&s->table, sleeper_queue);
	return fake_poll(filp, &s->table);
}

static __poll_t sleeper_end(struct sleeper *s)
{
	remove_wait_queue(s->head, &s->entry);
	return s->woken;
}

static void phases_over_laps(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	for (i = 0; i < 5 * ANG_ADM_ENTRIES; i++) {
		if (fake_tree_get(f, filp, 3, &get) ||
		    get.state != ANGARA_TREE_STATE_UP)
			break;
	}
	KUNIT_EXPECT_EQ(test, 5 * ANG_ADM_ENTRIES, i);
	KUNIT_EXPECT_EQ(test, i, f->count[ANGARA_ADM_TREE_GET]);
	KUNIT_EXPECT_EQ(test, i + 1 + f->count[ANGARA_ADM_DESCRIBE],
			f->reg[ANGARA_REG_ASQ_DB / 4]);
	KUNIT_EXPECT_FALSE(test, f->adev->broken);
}

static void statuses_as_errors(struct kunit *test)
{
	static const struct {
		u8 status;
		int ret;
	} map[] = {
		{ ANGARA_ADM_ST_OK, 0 },
		{ ANGARA_ADM_ST_OPCODE, -EIO },
		{ ANGARA_ADM_ST_PARAM, -EINVAL },
		{ ANGARA_ADM_ST_EXISTS, -EEXIST },
		{ ANGARA_ADM_ST_ABSENT, -ENOENT },
		{ ANGARA_ADM_ST_FULL, -ENOSPC },
		{ ANGARA_ADM_ST_PARTITION, -EPERM },
		{ ANGARA_ADM_ST_DOWN, -ENETDOWN },
		{ ANGARA_ADM_ST_DMA, -EIO },
		{ ANGARA_ADM_ST_RULE, -EINVAL },
		{ ANGARA_ADM_ST_SEALED, -EOPNOTSUPP },
		{ ANGARA_ADM_ST_SEALED + 1, -EIO },
		{ 255, -EIO },
	};
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	for (i = 0; i < ARRAY_SIZE(map); i++) {
		f->status[ANGARA_ADM_TREE_GET] = map[i].status;
		KUNIT_EXPECT_EQ(test, map[i].ret,
				fake_tree_get(f, filp, 3, &get));
	}
	KUNIT_EXPECT_FALSE(test, f->adev->broken);
}

/* A fault of an adapter, after which the driver must disable the adapter. */
struct fault {
	const char *name;
	bool mute;
	bool wrong_tag;
};

static const struct fault faults[] = {
	{ .name = "no answer", .mute = true },
	{ .name = "an answer without a command", .wrong_tag = true },
};

static void fault_name(const struct fault *fault, char *name)
{
	strscpy(name, fault->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fault, faults, fault_name);

static void breaks_and_lets_go(struct kunit *test)
{
	const struct fault *fault = test->param_value;
	struct angara_tree_get get;
	struct fake *f = test->priv;
	struct file *filp, *idle;
	struct sleeper with, without;
	u64 key = 0;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	idle = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	KUNIT_EXPECT_EQ(test, 0, (__force int)sleeper_start(&with, filp));
	KUNIT_EXPECT_EQ(test, 0, (__force int)sleeper_start(&without, idle));
	f->mute = fault->mute;
	f->wrong_tag = fault->wrong_tag;
	KUNIT_EXPECT_EQ(test, -EIO, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_TRUE(test, f->adev->broken);
	KUNIT_EXPECT_FALSE(test, f->adev->stuck);
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
	/* Sleepers on files of the device wake, with and without a context. */
	KUNIT_EXPECT_TRUE(test, sleeper_end(&with) & EPOLLERR);
	KUNIT_EXPECT_TRUE(test, sleeper_end(&without) & EPOLLERR);
	KUNIT_EXPECT_EQ(test, EPOLLERR, (__force int)fake_poll(filp, NULL));
	KUNIT_EXPECT_EQ(test, EPOLLERR,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));

	/*
	 * The core sends no more commands, even though the adapter would answer
	 * again.
	 */
	f->mute = f->wrong_tag = false;
	memset(f->count, 0, sizeof(f->count));
	KUNIT_EXPECT_EQ(test, -EIO, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_EQ(test, -EIO, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_EXPECT_EQ(test, -EIO, fake_ctx(f, idle, 8, 8));
	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	fake_close(f, filp);
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	KUNIT_EXPECT_NULL(test, memchr_inv(f->count, 0, sizeof(f->count)));
}

/* Memory to which the adapter may still write is never reused. */
static void stuck_keeps_its_memory(struct kunit *test)
{
	struct angara_tree_get get;
	struct fake *f = test->priv;
	unsigned long pinned = fake_pinned();
	struct file *filp;
	u64 key = 0;
	u32 pages;
	size_t bytes;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	KUNIT_ASSERT_EQ(test, 0, fake_mr(f, filp, f->ubuf, 1, 0, &key));
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	pages = fake_pages(f);
	bytes = fake_bytes(f);
	f->wrong_tag = true;
	f->unstoppable = f->uncuttable = true;
	KUNIT_EXPECT_EQ(test, -EIO, fake_tree_get(f, filp, 3, &get));
	KUNIT_EXPECT_TRUE(test, f->adev->stuck);
	f->unstoppable = f->uncuttable = false; /* the memory must stay allocated nevertheless */

	KUNIT_EXPECT_EQ(test, 0, fake_dereg(f, filp, key));
	KUNIT_EXPECT_EQ(test, pinned, fake_pinned());
	fake_close(f, filp);
	fake_unregister(f);
	KUNIT_EXPECT_EQ(test, bytes, fake_bytes(f));
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	KUNIT_EXPECT_EQ(test, pages, fake_forget(f));
}

static void destroy_refused(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	f->status[ANGARA_ADM_CTX_DESTROY] = ANGARA_ADM_ST_ABSENT;
	fake_close(f, filp);
	/*
	 * Since the adapter may still use the memory, the core resets the
	 * adapter.
	 */
	KUNIT_EXPECT_TRUE(test, f->adev->broken);
	KUNIT_EXPECT_EQ(test, 0, f->reg[ANGARA_REG_CONTROL / 4]);
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
}

/**
 * struct caller - a thread that calls an ioctl
 * @task: the thread
 * @mm: address space of @arg
 * @filp: file of the device or of a context
 * @cmd: ANGARA_IOCTL_*
 * @arg: user address of the argument
 * @ret: result of the ioctl
 * @done: the ioctl has returned
 */
struct caller {
	struct task_struct *task;
	struct mm_struct *mm;
	struct file *filp;
	u32 cmd;
	unsigned long arg;
	long ret;
	struct completion done;
};

static int caller_run(void *arg)
{
	struct caller *c = arg;

	allow_signal(SIGKILL);
	kthread_use_mm(c->mm);
	c->ret = c->filp->f_op->unlocked_ioctl(c->filp, c->cmd, c->arg);
	kthread_unuse_mm(c->mm);
	complete_all(&c->done);
	/* kthread_stop() needs the thread, so do not end earlier, even if killed. */
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void caller_start(struct fake *f, struct caller *c, const void *arg, size_t len)
{
	c->mm = current->mm;
	init_completion(&c->done);
	KUNIT_ASSERT_EQ(f->test, 0, copy_to_user((void __user *)c->arg, arg, len));
	c->task = kthread_run(caller_run, c, "angara_caller");
	KUNIT_ASSERT_FALSE(f->test, IS_ERR(c->task));
}

static bool caller_ends(struct caller *c)
{
	return wait_for_completion_timeout(&c->done, 10 * HZ);
}

/*
 * With a slow adapter, commands do not wait for each other, and killed callers
 * do not wait at all.
 */
static void many_commands_at_once(struct kunit *test)
{
	struct angara_join join = { .size = sizeof(join), .tree = 3 };
	struct fake *f = test->priv;
	unsigned long mem = fake_user(f, PAGE_SIZE), end;
	struct caller *c;
	struct file *filp;
	u32 i;

	c = kunit_kcalloc(test, FAKE_CTXS, sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(mem));
	f->adev->timeout = 60 * HZ;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	/*
	 * Create all contexts first, so JOIN commands take consecutive slots.
	 */
	for (i = 0; i < FAKE_CTXS; i++)
		c[i].filp = fake_ctx_of(f, fake_open_ctx(f));
	f->holds = true;
	for (i = 0; i < FAKE_CTXS; i++) {
		c[i].cmd = ANGARA_IOCTL_JOIN;
		c[i].arg = mem + 64 * i;
		caller_start(f, &c[i], &join, sizeof(join));
		end = jiffies + 10 * HZ;
		while (READ_ONCE(f->num_held) <= i && time_before(jiffies, end))
			msleep(20);
		/* All earlier commands are still in flight. */
		KUNIT_EXPECT_EQ(test, i + 1, READ_ONCE(f->num_held));
		if (READ_ONCE(f->num_held) <= i)
			break;
	}
	KUNIT_EXPECT_EQ(test, FAKE_CTXS, i);
	for (i = 0; i < FAKE_CTXS && c[i].task; i += 2) {
		send_sig(SIGKILL, c[i].task, 1);
		KUNIT_EXPECT_TRUE(test, caller_ends(&c[i]));
		KUNIT_EXPECT_EQ(test, -EINTR, c[i].ret);
	}
	KUNIT_EXPECT_FALSE(test, f->adev->broken);
	fake_answer(f);
	for (i = 0; i < FAKE_CTXS && c[i].task; i++) {
		KUNIT_EXPECT_TRUE(test, caller_ends(&c[i]));
		KUNIT_EXPECT_EQ(test, i % 2 ? 0 : -EINTR, c[i].ret);
		kthread_stop(c[i].task);
	}
	/* After the answers, the slots of killed callers can be used again. */
	for (i = 0; i < 2 * ANG_ADM_ENTRIES; i++) {
		struct angara_tree_get get;

		if (fake_tree_get(f, filp, 3, &get))
			break;
	}
	KUNIT_EXPECT_EQ(test, 2 * ANG_ADM_ENTRIES, i);
	KUNIT_EXPECT_FALSE(test, f->adev->broken);
	vm_munmap(mem, PAGE_SIZE);
}

/* The device can be stopped while a check of a tree waits for a tree lock. */
static void check_waits_outside(struct kunit *test)
{
	struct angara_tree_verify v = { .size = sizeof(v), .tree = 3 };
	struct fake *f = test->priv;
	unsigned long end = jiffies + 10 * HZ;
	struct caller c = { .cmd = ANGARA_IOCTL_TREE_CHECK, .arg = f->ubuf };
	bool can_stop;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	c.filp = fake_open(f);
	mutex_lock(&f->adev->tree_lock);
	caller_start(f, &c, &v, sizeof(v));
	/* Wait until the thread sleeps killably: it does so only for tree_lock. */
	while (!(READ_ONCE(c.task->__state) & TASK_WAKEKILL) &&
	       time_before(jiffies, end))
		msleep(20);
	can_stop = down_write_trylock(&f->adev->registration_lock);
	if (can_stop)
		up_write(&f->adev->registration_lock);
	mutex_unlock(&f->adev->tree_lock);
	KUNIT_EXPECT_TRUE(test, can_stop);
	KUNIT_EXPECT_TRUE(test, caller_ends(&c));
	KUNIT_EXPECT_EQ(test, 0, c.ret);
	kthread_stop(c.task);
}

/*
 * If the adapter does not answer, close() keeps the file's memory and returns.
 */
static void closed_before_the_answer(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long since;
	struct file *filp;
	u32 pages;

	f->adev->timeout = 60 * HZ;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	pages = fake_pages(f);
	f->holds = true;
	since = jiffies;
	fake_close(f, filp);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, since + 20 * HZ));
	KUNIT_EXPECT_EQ(test, 1, f->num_held);
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));
	/*
	 * Unregistering does not wait for the adapter; the memory is freed
	 * after the reset.
	 */
	f->guarded = true;
	since = jiffies;
	fake_unregister(f);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, since + 20 * HZ));
	KUNIT_EXPECT_EQ(test, 0, fake_pages(f));
	KUNIT_EXPECT_FALSE(test, f->adev->broken);
}

/*
 * The adapter does not answer commands that destroy objects of four files.
 * Closing the first file waits, closing the next three does not, and all memory
 * is freed in the end.
 */
static void late_files_do_not_wait(struct kunit *test)
{
	struct fake *f = test->priv;
	struct file *filp[4];
	unsigned long since;
	u32 pages, i;

	f->adev->timeout = 60 * HZ;
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	pages = fake_pages(f);
	for (i = 0; i < ARRAY_SIZE(filp); i++)
		filp[i] = fake_open_ctx(f);
	f->holds = true;
	fake_close(f, filp[0]);
	KUNIT_EXPECT_LT(test, 0, atomic_read(&f->adev->late_files));
	since = jiffies;
	for (i = 1; i < ARRAY_SIZE(filp); i++)
		fake_close(f, filp[i]);
	KUNIT_EXPECT_TRUE(test, time_before(jiffies, since + 2 * HZ));

	for (i = 0; i < 1000 && READ_ONCE(f->num_held) < ARRAY_SIZE(filp); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, (u32)ARRAY_SIZE(filp), f->num_held);
	fake_answer(f);
	/* A domain's file is freed after the file of its last context. */
	for (i = 0; i < 1000 && (atomic_read(&f->adev->late_files) ||
				 fake_pages(f) != pages); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&f->adev->late_files));
	KUNIT_EXPECT_EQ(test, pages, fake_pages(f));

	/*
	 * The device has no objects of closed files: the next close waits
	 * again.
	 */
	fake_close(f, fake_open_ctx(f));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&f->adev->late_files));
}

static void events_over_laps(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 i, n;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	for (n = 0; n < 3 * ANG_AEQ_ENTRIES; n += ANG_AEQ_ENTRIES) {
		for (i = 0; i < ANG_AEQ_ENTRIES; i++)
			fake_event(f, ANGARA_AEV_TREE_DOWN, 3, i);
		flush_work(&f->adev->aeq_work);
		KUNIT_EXPECT_EQ(test, n + i, f->reg[ANGARA_REG_AEQ_CI / 4]);
		/*
		 * The core also writes the consumer index after half a queue of
		 * events, so the adapter finds room and drops no event.
		 */
		KUNIT_EXPECT_LE(test, 2 * (n / ANG_AEQ_ENTRIES + 1), f->ci_writes);
	}
}

/* Adds @n events; the core takes none of them before all are in the queue. */
static void add_events(struct fake *f, u32 n)
{
	down_write(&f->adev->registration_lock);
	while (n--)
		fake_event(f, ANGARA_AEV_RX_ERROR, 0, 0);
	up_write(&f->adev->registration_lock);
	flush_work(&f->adev->aeq_work);
}

/*
 * The core reads all rows again, once, if events report lost events, or if the queue
 * was full, so the adapter may have dropped events that no later event reports.
 */
static void events_lost(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 *count = &f->count[ANGARA_ADM_TREE_GET];
	struct file *filp;

	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open(f);
	KUNIT_ASSERT_EQ(test, 0, fake_tree_set(f, filp, 3, 1, 0));
	f->row[3].state = ANGARA_TREE_STATE_UNSET;
	add_events(f, ANG_AEQ_ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, 0, *count);
	KUNIT_EXPECT_TRUE(test, f->adev->own.rows.entry[3].set);
	add_events(f, ANG_AEQ_ENTRIES);
	KUNIT_EXPECT_EQ(test, FAKE_TREES, *count);
	KUNIT_EXPECT_FALSE(test, f->adev->own.rows.entry[3].set);
	f->lost = 1;
	add_events(f, ANG_AEQ_ENTRIES - 1);
	KUNIT_EXPECT_EQ(test, 2 * FAKE_TREES, *count);
}

static void interrupts(struct kunit *test)
{
	struct fake *f = test->priv;
	struct angara_adm_ctx *c = &f->last[ANGARA_ADM_CTX_CREATE].create;
	struct angara_ctl *ctl;
	struct sleeper s;
	struct file *filp;
	__le64 *ctr;

	ang_irq(f->adev, ANGARA_VEC_CTX(0)); /* before registration: must be ignored */
	KUNIT_ASSERT_EQ(test, 0, fake_register(f));
	filp = fake_open_ctx(f);
	ctl = fake_at(f, le64_to_cpu(c->ctl), sizeof(*ctl));
	ctr = fake_at(f, le64_to_cpu(c->ctr), PAGE_SIZE);
	KUNIT_ASSERT_TRUE(test, ctl && ctr);
	ctl->seen = cpu_to_le32(41);
	ctr[ANGARA_CTR_EVSEQ] = cpu_to_le64(41);
	KUNIT_EXPECT_EQ(test, 0, (__force int)sleeper_start(&s, fake_ctx_of(f, filp)));
	KUNIT_EXPECT_EQ(test, 41, f->db_arm[0]);
	ang_irq(f->adev, ANGARA_VEC_CTX(1));
	ang_irq(f->adev, ANGARA_VEC_CTX(FAKE_CTXS));
	ang_irq(f->adev, U32_MAX);
	KUNIT_EXPECT_EQ(test, 0, (__force int)s.woken);
	ctr[ANGARA_CTR_EVSEQ] = cpu_to_le64(42);
	ang_irq(f->adev, ANGARA_VEC_CTX(0));
	KUNIT_EXPECT_EQ(test, EPOLLIN | EPOLLRDNORM, (__force int)sleeper_end(&s));
	KUNIT_EXPECT_EQ(test, EPOLLIN | EPOLLRDNORM,
			(__force int)fake_poll(fake_ctx_of(f, filp), NULL));
	KUNIT_EXPECT_EQ(test, 0, (__force int)fake_poll(filp, NULL));
	fake_close(f, filp);
	ang_irq(f->adev, ANGARA_VEC_CTX(0));
}

static struct kunit_case admin_cases[] = {
	KUNIT_CASE(phases_over_laps),
	KUNIT_CASE(statuses_as_errors),
	KUNIT_CASE_PARAM(breaks_and_lets_go, fault_gen_params),
	KUNIT_CASE(stuck_keeps_its_memory),
	KUNIT_CASE(destroy_refused),
	KUNIT_CASE(many_commands_at_once),
	KUNIT_CASE(check_waits_outside),
	KUNIT_CASE(closed_before_the_answer),
	KUNIT_CASE(late_files_do_not_wait),
	KUNIT_CASE(events_over_laps),
	KUNIT_CASE(events_lost),
	KUNIT_CASE(interrupts),
	{}
};

struct kunit_suite admin_suite = {
	.name = "angara_admin",
	.suite_init = fake_suite_init,
	.suite_exit = fake_suite_exit,
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = admin_cases,
};
