/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the library needs of whatever carries its commands.
 *
 * Commands are those of linux/angara.h, by number and structure.  A handle is
 * one open file of one node: with a context for the process's own traffic,
 * without one for programming the node's rows of trees.
 */
#ifndef ANG_BACKEND_H
#define ANG_BACKEND_H

#include "ang_env.h"

#include <linux/angara.h>

/**
 * struct ang_dev - an open device
 * @ops: who carries its commands
 * @fd: for poll(2)
 */
struct ang_dev {
	const struct ang_dev_ops *ops;
	int fd;
};

/**
 * struct ang_dev_ops - carrier of commands
 * @open: open the device @name. Return: 0 or -errno
 * @close: close it; gives back the context, its regions and its trees
 * @cmd: ANGARA_IOCTL_* @nr on @arg, whose size member is set by the caller.
 *	Return: 0 or -errno
 * @map: map @len bytes at @offset. Return: address, NULL if that fails
 * @unmap: undo @map
 * @wait: sleep until the event sequence differs from angara_ctl.seen, at most
 *	@timeout_ms (< 0: no limit). Return: 0 for an event or a signal,
 *	-ETIMEDOUT, -ENODEV the device is gone
 */
struct ang_dev_ops {
	int (*open)(struct ang_dev *dev, const char *name);
	void (*close)(struct ang_dev *dev);
	int (*cmd)(struct ang_dev *dev, unsigned int nr, void *arg);
	void *(*map)(struct ang_dev *dev, u64 offset, size_t len, bool write);
	void (*unmap)(struct ang_dev *dev, void *addr, size_t len);
	int (*wait)(struct ang_dev *dev, int timeout_ms);
};

extern const struct ang_dev_ops ang_cdev_ops;

/* Sets size and flags as every command wants them. */
#define ANG_CMD_INIT(type)	((type) { .size = sizeof(type) })

static inline int ang_dev_open(struct ang_dev *dev, const char *name)
{
	dev->ops = &ang_cdev_ops;
	return dev->ops->open(dev, name);
}

static inline void ang_dev_close(struct ang_dev *dev)
{
	dev->ops->close(dev);
}

static inline int ang_dev_cmd(struct ang_dev *dev, unsigned int nr, void *arg)
{
	return dev->ops->cmd(dev, nr, arg);
}

#endif /* ANG_BACKEND_H */
