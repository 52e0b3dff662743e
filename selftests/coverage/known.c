// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module whose executed lines are known: during load, during unload, in a
 * timer or a work item, or never.  Comments mark the lines; see
 * selftests/debug/coverage.t.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

static bool refuse;
module_param(refuse, bool, 0);
MODULE_PARM_DESC(refuse, "do not load");

static int worked;
static int ticked;

static void work(struct work_struct *w)
{
	WRITE_ONCE(worked, READ_ONCE(worked) + 1);	/* reached */
	if (worked > 1000)
		WRITE_ONCE(worked, 0);			/* never */
}

static DECLARE_WORK(known_work, work);

static void tick(struct timer_list *t)
{
	WRITE_ONCE(ticked, READ_ONCE(ticked) + 1);	/* reached */
	if (ticked > 1000)
		WRITE_ONCE(ticked, 0);			/* never */
}

static DEFINE_TIMER(known_timer, tick);

static int __init known_init(void)
{
	/* The compiler makes no separate line of a returned number. */
	if (refuse) {
		pr_err("known: refused\n");		/* never */
		return -EPERM;
	}
	schedule_work(&known_work);			/* reached */
	mod_timer(&known_timer, jiffies + 1);		/* reached */
	return 0;
}

static void __exit known_exit(void)
{
	flush_work(&known_work);			/* reached */
	while (!READ_ONCE(ticked))
		cpu_relax();
	del_timer_sync(&known_timer);			/* reached */
	if (!worked)
		pr_err("known: no work was done\n");	/* never */
}

module_init(known_init);
module_exit(known_exit);

MODULE_DESCRIPTION("Lines that are reached, or not");
MODULE_LICENSE("GPL");
