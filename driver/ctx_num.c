// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of contexts and of domains: the device has few, and users share them.
 *
 * A user may take only a share of the numbers that other users have not taken,
 * so the next user finds free numbers.  A few numbers are reserved for callers
 * with CAP_SYS_RESOURCE, whose share is not limited.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "ang_file.h"

#define ANG_CTX_RESERVE	16U	/* one number in 16 is reserved for privileged callers */

static uint user_share = 50;
module_param(user_share, uint, 0644);
MODULE_PARM_DESC(user_share, "share of the contexts not taken by other users that one user may take, in percent (default: 50)");

/*
 * Return: the user whose share the caller uses.  Users of a user namespace use
 * the share of its owner, since the owner can create any number of users there.
 */
static kuid_t share_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_euid();

	for (; ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static u32 share_used(struct ang_dev *adev, const struct ang_nums *nums,
		      kuid_t uid)
{
	u32 num, count = 0;

	lockdep_assert_held(&adev->files_lock);

	for_each_set_bit(num, nums->used, adev->max_ctxs)
		count += uid_eq(nums->uids[num], uid);
	return count;
}

/* Return: how many contexts a user may have while other users have @others. */
static u32 share_beside(const struct ang_dev *adev, u32 others)
{
	u32 all = adev->max_ctxs - adev->max_ctxs / ANG_CTX_RESERVE;
	u32 percent = clamp(READ_ONCE(user_share), 1U, 100U);

	return others < all ? DIV_ROUND_UP((all - others) * percent, 100) : 0;
}

/**
 * ang_num_alloc() - allocate the number of a new context or domain
 * @adev: device, after ang_dev_enter()
 * @nums: numbers of contexts or of domains
 * @num: out: the number
 *
 * Return: 0; -EBUSY none is left, or the share of the caller's user is used up.
 * Context: process.
 */
int ang_num_alloc(struct ang_dev *adev, struct ang_nums *nums, u32 *num)
{
	bool unlimited = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	kuid_t uid = share_uid();
	int ret = -EBUSY;
	u32 own, used;

	spin_lock(&adev->files_lock);
	own = share_used(adev, nums, uid);
	used = bitmap_weight(nums->used, adev->max_ctxs);
	if (used < adev->max_ctxs &&
	    (unlimited || own < share_beside(adev, used - own))) {
		*num = find_first_zero_bit(nums->used, adev->max_ctxs);
		__set_bit(*num, nums->used);
		nums->uids[*num] = uid;
		ret = 0;
	}
	spin_unlock(&adev->files_lock);
	return ret;
}

/**
 * ang_num_free() - free a number
 * @adev: device
 * @nums: as for ang_num_alloc()
 * @num: number from ang_num_alloc()
 *
 * Context: process.
 */
void ang_num_free(struct ang_dev *adev, struct ang_nums *nums, u32 num)
{
	spin_lock(&adev->files_lock);
	__clear_bit(num, nums->used);
	spin_unlock(&adev->files_lock);
}

/**
 * ang_dev_ctxs_used() - count the contexts in use
 * @adev: device, after ang_dev_enter()
 *
 * Return: their number.
 * Context: process.
 */
u32 ang_dev_ctxs_used(struct ang_dev *adev)
{
	u32 used;

	spin_lock(&adev->files_lock);
	used = bitmap_weight(adev->ctx_nums.used, adev->max_ctxs);
	spin_unlock(&adev->files_lock);
	return used;
}
