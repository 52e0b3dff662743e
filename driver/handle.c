// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files, of devices and of contexts: their lifetime, and their access to the device.
 *
 * An open file references the device and the module of its transport, and is in
 * ang_dev.files.  Its objects on the device are destroyed once: by a worker when the file is
 * closed, or earlier by the thread that stops the device.
 */
#include <linux/module.h>

#include "ang_file.h"

/* How long close(2) waits for the device to destroy the file's objects. */
#define CLOSE_TIMEOUT	(2 * HZ)

static struct workqueue_struct *handle_wq;

int ang_handle_start(void)
{
	handle_wq = alloc_workqueue("angara", WQ_UNBOUND, 0);
	return handle_wq ? 0 : -ENOMEM;
}

/* Wait for files that end after close(2). */
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

/* No file waits if another file of the device is late already: a process may have many. */
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
 * From here on another thread may stop the device.
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
 * @inode: not used
 * @filp: the file; its handle is freed
 *
 * A device may take long to answer, or never answer, but a process that dies
 * must not wait.  After a while the caller leaves the file's objects to a
 * worker; at once if another file of the device is late already.  If no file is
 * late, modules can be unloaded when close(2) returns.
 * Context: process; may sleep.
 */
int ang_handle_release(struct inode *inode, struct file *filp)
{
	struct ang_handle *h = filp->private_data;

	queue_work(handle_wq, &h->end);
	if (!handle_wait(h)) {
		atomic_inc(&h->adev->late_files);
		if (!atomic_xchg(&h->over, 1))
			return 0; /* handle_end() counts it out and frees it */
		atomic_dec(&h->adev->late_files);
		wait_for_completion(&h->ended);
	}
	handle_free(h);
	return 0;
}

/**
 * ang_handle_take() - destroy the objects that a file has on the device
 * @h: handle
 *
 * Return: true; false another thread is about to stop the device and destroys
 * them then.
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
 * ang_handle_wake() - wake threads that wait for events of a file
 * @h: handle that is listed
 * @why: events that poll(2) reports
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
 * Takes no lock: the result may be out of date at once.
 *
 * Return: 0; -ENODEV the device is gone; -ESTALE it was stopped since the file
 * was opened.
 * Context: any.
 */
int ang_handle_glance(const struct ang_handle *h)
{
	/* Read @gone first: files of a device become stale before it is gone. */
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

/**
 * ang_handle_poll() - wait for events of a file
 * @filp: the file
 * @wait: where the caller waits
 * @events: events of the kind of file, with the device entered; NULL if it has
 *	none but errors
 *
 * Return: EPOLL*.
 * Context: process; may sleep.
 */
__poll_t ang_handle_poll(struct file *filp, poll_table *wait,
			 __poll_t (*events)(struct ang_handle *h))
{
	struct ang_handle *h = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &h->wait, wait);
	if (ang_handle_enter(h))
		return EPOLLHUP | EPOLLERR;
	if (READ_ONCE(h->adev->broken))
		mask = EPOLLERR;
	else if (events)
		mask = events(h);
	ang_dev_exit(h->adev);
	return mask;
}
