// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files, of devices and of contexts: their lifetime, and their access to
 * the device.
 *
 * An open file references the device and the module of the device's transport,
 * and is in ang_dev.files.  The file's objects on the device are destroyed
 * once: by a work item when the file is closed, or earlier by the thread that
 * stops the device.
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

/* Wait for files whose objects are destroyed after close(2) has returned. */
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

/*
 * Do not wait if the device still has objects of another closed file: a process
 * may have many files, and their waits would add up.
 */
static bool handle_wait(struct ang_handle *h)
{
	if (atomic_read(&h->adev->late_files))
		return try_wait_for_completion(&h->ended);
	return wait_for_completion_timeout(&h->ended, CLOSE_TIMEOUT);
}

/**
 * ang_handle_init() - set up a file that is being opened
 * @h: all zero
 * @adev: device, after ang_dev_enter(); the caller's reference to the module of
 *	the device's transport passes to @h
 * @ops: operations of the kind of file
 *
 * After this, ang_dev_down() in another thread may call @ops for @h.
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
 * @h: handle that has no objects on the device; freed by ang_handle_ops.free
 */
void ang_handle_undo(struct ang_handle *h)
{
	lockdep_assert_held(&h->adev->registration_lock);

	handle_unlist(h);
	handle_free(h);
}

/**
 * ang_handle_release() - close a file
 * @inode: not used
 * @filp: the file; its handle is freed
 *
 * A device may take long to answer, or never answer, but a process that dies
 * must not wait for it.  A work item destroys the file's objects; the caller
 * waits at most CLOSE_TIMEOUT, or not at all if the device still has objects of
 * another closed file.  If no wait timed out, modules can be unloaded when
 * close(2) returns.
 * Context: process; may sleep.
 */
int ang_handle_release(struct inode *inode, struct file *filp)
{
	struct ang_handle *h = filp->private_data;

	queue_work(handle_wq, &h->end);
	if (!handle_wait(h)) {
		atomic_inc(&h->adev->late_files);
		if (!atomic_xchg(&h->over, 1))
			return 0; /* handle_end() frees the handle later */
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
 * Return: true; false: another thread is about to stop the device, and will
 * destroy the objects.
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
 * @h: handle in ang_dev.files
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
	/*
	 * Read @gone after @stale: pairs with the release in
	 * files_make_stale().
	 */
	bool stale = smp_load_acquire(&h->stale);

	if (READ_ONCE(h->adev->gone))
		return -ENODEV;
	return stale ? -ESTALE : 0;
}

/**
 * ang_handle_enter() - keep the device of a file registered
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
 * @wait: table of the poll(2) call
 * @events: get the events of this kind of file, called with the device entered;
 *	NULL if files of this kind report only errors
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
