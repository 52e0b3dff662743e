// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Backend "cdev": the character device /dev/angaraN.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend.h"

static int cdev_open(struct ang_dev *dev, const char *name)
{
	dev->fd = open(name, O_RDWR | O_CLOEXEC);
	return dev->fd < 0 ? -errno : 0;
}

static void cdev_close(struct ang_dev *dev)
{
	close(dev->fd);
	dev->fd = -1;
}

static int cdev_cmd(struct ang_dev *dev, unsigned int nr, void *arg)
{
	int ret;

	do {
		ret = ioctl(dev->fd, nr, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

static void *cdev_map(struct ang_dev *dev, u64 offset, size_t len, bool write)
{
	int prot = write ? PROT_READ | PROT_WRITE : PROT_READ;
	void *addr = mmap(NULL, len, prot, MAP_SHARED, dev->fd, (off_t)offset);

	return addr == MAP_FAILED ? NULL : addr;
}

static void cdev_unmap(struct ang_dev *dev, void *addr, size_t len)
{
	(void)dev;
	munmap(addr, len);
}

static int cdev_wait(struct ang_dev *dev, int timeout_ms)
{
	struct pollfd p = { .fd = dev->fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	if (n == 0)
		return -ETIMEDOUT;
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	return p.revents & (POLLHUP | POLLERR | POLLNVAL) ? -ENODEV : 0;
}

const struct ang_dev_ops ang_cdev_ops = {
	.open = cdev_open,
	.close = cdev_close,
	.cmd = cdev_cmd,
	.map = cdev_map,
	.unmap = cdev_unmap,
	.wait = cdev_wait,
};
