// SPDX-License-Identifier: GPL-2.0-only
/* Reset of an adapter: when it is started or stopped, and when it is broken. */
#include <linux/delay.h>

#include "ang_file.h"

/* Stopping and starting get less time: their callers cannot be killed. */
#define READY_TIMEOUT	(10UL * HZ)

/**
 * ang_dev_wait_ready() - wait until a device is ready, or no longer ready
 * @adev: device
 * @want: ANGARA_STATUS_READY or 0
 *
 * A device that does not answer has no magic number: the bus returns all ones,
 * or zeros.
 *
 * Return: 0; -ENODEV it does not answer; -EIO the time is over.
 * Context: process; may sleep.
 */
int ang_dev_wait_ready(struct ang_dev *adev, u32 want)
{
	unsigned long end = jiffies + min(adev->timeout, READY_TIMEOUT);

	for (;;) {
		bool late = time_after(jiffies, end);
		u32 status = ang_read32(adev, ANGARA_REG_STATUS);

		if (ang_read32(adev, ANGARA_REG_MAGIC) != ANGARA_HW_MAGIC)
			return -ENODEV;
		if ((status & ANGARA_STATUS_READY) == want)
			return 0;
		if (late)
			return -EIO;
		usleep_range(100, 1000);
	}
}

/**
 * ang_dev_reset() - reset a device and cut it off from memory
 * @adev: device
 *
 * If neither is certain, the device is marked as stuck.  No memory that the
 * device knows is freed before.  Silence proves nothing: a device that answers
 * no register may still write to memory.
 * Context: process; may sleep.
 */
void ang_dev_reset(struct ang_dev *adev)
{
	int stop, cut = -EOPNOTSUPP;

	ang_write32(adev, ANGARA_REG_CONTROL, 0);
	stop = ang_dev_wait_ready(adev, 0);
	if (adev->ops->dma_disable)
		cut = adev->ops->dma_disable(adev);
	if (!stop || !cut || adev->stuck)
		return;
	WRITE_ONCE(adev->stuck, true);
	dev_err(&adev->dev, "the adapter does not respond to reset: its memory is not freed\n");
}

/**
 * ang_dev_break() - stop using a device that breaks the rules
 * @adev: device, registered: entered, or the caller is the one to unregister it
 * @why: for the log
 *
 * When it returns, the device is reset and cut off from memory, or is stuck.
 * This holds for each of several concurrent callers, too.  Waiters for
 * commands, in poll(2) and on eventfds wake.  A transport does not enter the
 * device for it: a thread that waits to stop the device might wait for the
 * broken command.
 * Context: process; may sleep.
 */
void ang_dev_break(struct ang_dev *adev, const char *why)
{
	struct ang_handle *h;

	mutex_lock(&adev->break_lock);
	if (!adev->broken) {
		dev_err(&adev->dev, "%s: the adapter is disabled\n",
			why);
		WRITE_ONCE(adev->broken, true);
		wake_up(&adev->adm_wait);
		spin_lock(&adev->files_lock);
		list_for_each_entry(h, &adev->files, entry)
			ang_handle_wake(h, EPOLLERR);
		spin_unlock(&adev->files_lock);
		ang_dev_reset(adev);
	}
	mutex_unlock(&adev->break_lock);
}
ANG_EXPORT(ang_dev_break);
