// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a device, for readers over netlink.
 *
 * A read by an administrator always queries the device.  For other users the
 * last answer is cached for a while, so the device gets at most one command per
 * object in that time, whatever the number of readers.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "ang_dev.h"

/**
 * struct kept - an answer of the device
 * @read_at: jiffies at which the command returned
 * @ret: what the command returned
 * @value: the counters, if @ret is 0
 */
struct kept {
	unsigned long read_at;
	int ret;
	__le64 value[18];
};

#define INDEX_BITS	7
#define KIND_BITS	2

/* A key from kept_key() fits into 32 bits. */
static_assert(ANG_MAX_CTXS <= 1 << INDEX_BITS && ANGARA_MAX_TREES <= 1 << INDEX_BITS &&
	      ANGARA_MAX_PORTS <= 1 << INDEX_BITS && ANGARA_CNT_CTX < 1 << KIND_BITS);

static unsigned long kept_key(u32 router, u32 kind, u32 index)
{
	return ((unsigned long)router << KIND_BITS | kind) << INDEX_BITS | index;
}

/**
 * ang_is_kept() - is a cached answer recent enough to be used again?
 * @adev: device
 * @read_at: jiffies at which the answer was read
 *
 * Return: true if it is recent enough.
 */
bool ang_is_kept(const struct ang_dev *adev, unsigned long read_at)
{
	return time_before(jiffies, read_at + adev->keep);
}

static struct kept *kept_get(struct ang_dev *adev, unsigned long key)
{
	struct kept *kept = xa_load(&adev->kept, key);

	if (kept)
		return kept;
	kept = kzalloc(sizeof(*kept), GFP_KERNEL);
	if (!kept)
		return NULL;
	kept->read_at = jiffies - adev->keep;
	if (xa_err(xa_store(&adev->kept, key, kept, GFP_KERNEL))) {
		kfree(kept);
		return NULL;
	}
	return kept;
}

static int kept_read(struct ang_dev *adev, u32 router, u32 kind, u32 index,
		     void *buf, size_t len)
{
	struct kept *kept = kept_get(adev, kept_key(router, kind, index));

	lockdep_assert_held(&adev->kept_lock);

	if (!kept)
		return -ENOMEM;
	if (len > sizeof(kept->value))
		return -EINVAL;
	if (!ang_is_kept(adev, kept->read_at)) {
		kept->ret = ang_adm_counters(adev, router, kind, index, kept->value,
					     len);
		if (!ang_adm_undecided(kept->ret))
			kept->read_at = jiffies;
	}
	if (!kept->ret)
		memcpy(buf, kept->value, len);
	return kept->ret;
}

/**
 * ang_dev_counters() - read counters
 * @adev: device, after ang_dev_enter()
 * @cred: rights of the caller
 * @router: this node, or a switch that it keeps
 * @kind: ANGARA_CNT_*
 * @index: number of the link, tree or context
 * @buf: out: the structure that belongs to @kind
 * @len: size of that structure
 *
 * Return: as ang_adm_counters(); -ENOMEM, -EINTR.
 * Context: process; may sleep.
 */
int ang_dev_counters(struct ang_dev *adev, const struct ang_cred *cred, u32 router,
		     u32 kind, u32 index, void *buf, size_t len)
{
	int ret;

	if (cred->admin)
		return ang_adm_counters(adev, router, kind, index, buf, len);
	if (mutex_lock_killable(&adev->kept_lock))
		return -EINTR;
	ret = kept_read(adev, router, kind, index, buf, len);
	mutex_unlock(&adev->kept_lock);
	return ret;
}

/**
 * ang_dev_counters_forget() - drop the cached counters of an object that was
 * removed, or replaced by a new one
 * @adev: device
 * @router: this node, or a switch that it keeps
 * @kind: ANGARA_CNT_*
 * @index: number of the link, tree or context
 *
 * Context: process; may sleep.
 */
void ang_dev_counters_forget(struct ang_dev *adev, u32 router, u32 kind, u32 index)
{
	mutex_lock(&adev->kept_lock);
	kfree(xa_erase(&adev->kept, kept_key(router, kind, index)));
	mutex_unlock(&adev->kept_lock);
}

/**
 * ang_dev_counters_forget_all() - drop all cached counters
 * @adev: device that is stopped or freed
 *
 * Context: process; may sleep.
 */
void ang_dev_counters_forget_all(struct ang_dev *adev)
{
	struct kept *kept;
	unsigned long key;

	mutex_lock(&adev->kept_lock);
	xa_for_each(&adev->kept, key, kept)
		kfree(kept);
	xa_destroy(&adev->kept);
	mutex_unlock(&adev->kept_lock);
}
