// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files, of devices and of contexts: their life, and the way to the device.
 *
 * An open file references the device and the module of its transport, and is in
 * ang_dev.files.  What it has on the device is taken from there once: by a
 * worker when the file is closed, or by the thread that stops the device before.
 */
#include <linux/module.h>

#include "ang_file.h"

/* How long close(2) waits for the device to let go of what the file has there. */
#define CLOSE_TIMEOUT	(2 * HZ)

static struct workqueue_struct *handle_wq;

int ang_handle_start(void)
{
	handle_wq = alloc_workqueue("angara", WQ_UNBOUND, 0);
	return handle_wq ? 0 : -ENOMEM;
}

/* Files may end late: waits for them. */
void ang_handle_stop(void)
{
	destroy_workqueue(handle_wq);
}

static void handle_free(struct ang_handle *h)
{
	struct ang_dev *adev = h->adev;
	struct module *owner = adev->ops->owner;

	h->ops->free(h);
	put_device(&adev->dev);
	module_put(owner);
}

static void handle_unlist(struct ang_handle *h)
{
	spin_lock(&h->adev->files_lock);
	list_del(&h->entry);
	spin_unlock(&h->adev->files_lock);
}

static void handle_end(struct work_struct *work)
{
	struct ang_handle *h = container_of(work, struct ang_handle, end);
	struct ang_dev *adev = h->adev;

	down_read(&adev->registration_lock);
	while (!ang_handle_take(h)) {
		up_read(&adev->registration_lock);
		wait_event_idle(adev->adm_wait, !READ_ONCE(adev->stopping));
		down_read(&adev->registration_lock);
	}
	handle_unlist(h);
	up_read(&adev->registration_lock);
	if (atomic_xchg(&h->over, 1)) {
		atomic_dec(&adev->late_files);
		handle_free(h);
	} else {
		complete(&h->ended);
	}
}

/* No file waits for a device that keeps another one: a process may have many. */
static bool handle_wait(struct ang_handle *h)
{
	if (atomic_read(&h->adev->late_files))
		return try_wait_for_completion(&h->ended);
	return wait_for_completion_timeout(&h->ended, CLOSE_TIMEOUT);
}

/**
 * ang_handle_init() - set up a file that is being opened
 * @h: all zero
 * @adev: device, entered; the caller has a reference to the module of its
 *	transport and gives it away
 * @ops: of the kind of file
 *
 * From here on the device may be stopped under it.
 */
void ang_handle_init(struct ang_handle *h, struct ang_dev *adev,
		     const struct ang_handle_ops *ops)
{
	lockdep_assert_held(&adev->registration_lock);

	get_device(&adev->dev);
	h->adev = adev;
	h->ops = ops;
	init_waitqueue_head(&h->wait);
	INIT_WORK(&h->end, handle_end);
	init_completion(&h->ended);
	spin_lock(&adev->files_lock);
	list_add_tail(&h->entry, &adev->files);
	spin_unlock(&adev->files_lock);
}

/**
 * ang_handle_undo() - undo ang_handle_init() for a file that is not opened
 * @h: handle that has nothing on the device; freed by its @free
 */
void ang_handle_undo(struct ang_handle *h)
{
	lockdep_assert_held(&h->adev->registration_lock);

	handle_unlist(h);
	handle_free(h);
}

/**
 * ang_handle_release() - a file is closed
 * @h: handle; freed
 *
 * A device may take long to answer, or never do so, while a process that dies
 * must not wait: what the file has there is left to a worker after a while, at
 * once if that is so of another file of the device.
 * Else modules can be unloaded when close(2) returns.
 * Context: process; may sleep.
 */
void ang_handle_release(struct ang_handle *h)
{
	queue_work(handle_wq, &h->end);
	if (!handle_wait(h)) {
		atomic_inc(&h->adev->late_files);
		if (!atomic_xchg(&h->over, 1))
			return; /* handle_end() counts it out and frees it */
		atomic_dec(&h->adev->late_files);
		wait_for_completion(&h->ended);
	}
	handle_free(h);
}

/**
 * ang_handle_take() - take from the device what a file has there
 * @h: handle
 *
 * Return: true; false another thread is about to stop the device and does it
 * then.
 * Context: process; may sleep.
 */
bool ang_handle_take(struct ang_handle *h)
{
	lockdep_assert_held(&h->adev->registration_lock);

	if (!h->taken)
		h->taken = h->ops->take(h);
	return h->taken;
}

/**
 * ang_handle_wake() - wake whoever waits for events of a file
 * @h: handle that is listed
 * @why: what poll(2) would say
 *
 * Context: any.
 */
void ang_handle_wake(struct ang_handle *h, __poll_t why)
{
	if (h->ops->wake)
		h->ops->wake(h);
	wake_up_interruptible_poll(&h->wait, why);
}

/**
 * ang_handle_glance() - is the device of a file still there?
 * @h: handle
 *
 * Takes no lock: a moment later it may be otherwise.
 *
 * Return: 0; -ENODEV the device is gone; -ESTALE it was stopped since the file
 * was opened.
 * Context: any.
 */
int ang_handle_glance(const struct ang_handle *h)
{
	/* First, as files of a device that goes are stale once it is gone. */
	bool stale = smp_load_acquire(&h->stale);

	if (READ_ONCE(h->adev->gone))
		return -ENODEV;
	return stale ? -ESTALE : 0;
}

/**
 * ang_handle_enter() - keep the device of a file from going away
 * @h: handle
 *
 * Return: 0, undo with ang_dev_exit(); -ENODEV the device is gone; -ESTALE it
 * was stopped since the file was opened; -EINTR the caller is killed.
 * Context: process; may sleep.
 */
int ang_handle_enter(struct ang_handle *h)
{
	int ret = ang_dev_enter(h->adev);

	if (ret)
		return ret == -ENODEV || ret == -EINTR ? ret : -ESTALE;
	if (!h->stale)
		return 0;
	ang_dev_exit(h->adev);
	return -ESTALE;
}
