// SPDX-License-Identifier: GPL-2.0-only
/* Reset of an adapter when it is started, stopped or broken. */
#include <linux/delay.h>

#include "ang_file.h"

/*
 * Timeout of a wait for a device to stop or start; short, since the waiting
 * thread cannot be killed.
 */
#define READY_TIMEOUT	(10UL * HZ)

/**
 * ang_dev_wait_ready() - wait until a device is ready, or no longer ready
 * @adev: device
 * @want: ANGARA_STATUS_READY or 0
 *
 * If the device does not answer, the bus returns all ones or zeros instead of
 * the magic number.
 *
 * Return: 0; -ENODEV the device does not answer; -EIO timeout.
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
 * A device that does not answer may still write to memory.  If the device
 * neither confirms the reset nor can be cut off, it is marked as stuck.  Callers
 * free memory that the device may use only after this call.
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
	dev_err(&adev->dev, "the adapter does not respond to reset: memory that it may use is not freed\n");
}

/**
 * ang_dev_break() - stop using a faulty device
 * @adev: registered device; the caller has entered it, or will unregister it
 * @why: reason, for the log
 *
 * When this returns, the device is reset and cut off from memory, or is stuck;
 * several threads may call this at the same time.  Threads that wait for
 * commands, in poll(2) or on eventfds wake.  A transport calls this without
 * ang_dev_enter(): that might wait for a thread that holds registration_lock for
 * writing, while that thread waits for the command that failed.
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
