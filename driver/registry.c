// SPDX-License-Identifier: GPL-2.0-only
/* The set of all adapters; functions that keep an adapter registered. */
#include "ang_dev.h"

/* All devices, by ang_dev.id, from ang_dev_alloc() to ang_dev_put(). */
static DEFINE_XARRAY_ALLOC(ang_devs);

/**
 * ang_dev_add() - give an adapter a number
 * @adev: device; out: @id
 *
 * Return: 0; -EBUSY all numbers are in use; -ENOMEM.
 * Context: process; may sleep.
 */
int ang_dev_add(struct ang_dev *adev)
{
	return xa_alloc(&ang_devs, &adev->id, adev,
			XA_LIMIT(0, ANG_MAX_DEVS - 1), GFP_KERNEL);
}

/**
 * ang_dev_del() - undo ang_dev_add()
 * @adev: device
 */
void ang_dev_del(struct ang_dev *adev)
{
	xa_erase(&ang_devs, adev->id);
}

/**
 * ang_dev_enter() - keep a device registered and up until ang_dev_exit()
 * @adev: device, referenced
 *
 * Return: 0; -ENODEV the device is gone; -EBUSY it is stopped; -EIO it failed
 * to restart; -EINTR the caller is killed.
 * Context: process; may sleep.
 */
int ang_dev_enter(struct ang_dev *adev)
{
	int ret = down_read_killable(&adev->registration_lock);

	if (ret)
		return ret;
	if (adev->gone)
		ret = -ENODEV;
	else if (adev->down)
		ret = adev->broken ? -EIO : -EBUSY;
	if (ret)
		up_read(&adev->registration_lock);
	return ret;
}

/**
 * ang_dev_exit() - undo ang_dev_enter()
 * @adev: device
 */
void ang_dev_exit(struct ang_dev *adev)
{
	up_read(&adev->registration_lock);
}

/**
 * ang_dev_next() - walk over all devices
 * @id: in: lowest number to return; out: number of the device found
 *
 * Return: the device, undo with ang_dev_release(), or NULL.
 * Context: process.
 */
struct ang_dev *ang_dev_next(u32 *id)
{
	unsigned long index = *id;
	struct ang_dev *adev;

	xa_lock(&ang_devs);
	adev = xa_find(&ang_devs, &index, ULONG_MAX, XA_PRESENT);
	if (adev)
		get_device(&adev->dev);
	xa_unlock(&ang_devs);
	*id = index;
	return adev;
}

/**
 * ang_dev_find() - find a device by its number
 * @id: N of /dev/angaraN
 *
 * Return: the device, undo with ang_dev_release(), or NULL.
 * Context: process.
 */
struct ang_dev *ang_dev_find(u32 id)
{
	struct ang_dev *adev;

	xa_lock(&ang_devs);
	adev = xa_load(&ang_devs, id);
	if (adev)
		get_device(&adev->dev);
	xa_unlock(&ang_devs);
	return adev;
}

/**
 * ang_dev_release() - undo ang_dev_next() or ang_dev_find()
 * @adev: device
 */
void ang_dev_release(struct ang_dev *adev)
{
	put_device(&adev->dev);
}
