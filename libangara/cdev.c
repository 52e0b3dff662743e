// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Backend "cdev": the character device /dev/angaraN, and the list of the
 * devices of this machine, each of which is queried once.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backend.h"
#include "scan.h"

#define CDEV_ASKS	1024	/* calls of cdev_gone() between two checks of the device */

void ang_dev_path(u32 minor, char path[ANG_DEV_PATH])
{
	snprintf(path, ANG_DEV_PATH, ANG_DEV_DIR "/" ANG_DEV_PREFIX "%u", minor);
}

static bool parse_minor(const char *name, u32 *minor)
{
	size_t prefix = sizeof(ANG_DEV_PREFIX) - 1;
	unsigned long val;
	char *end;

	for (size_t i = 0; i < prefix; i++)
		if (name[i] != ANG_DEV_PREFIX[i])
			return false;
	name += prefix;
	if (*name < '0' || *name > '9')
		return false;
	errno = 0;
	val = strtoul(name, &end, 10);
	if (errno || *end || val > 0xFFFFFFFFUL)
		return false;
	*minor = (u32)val;
	return true;
}

/* Return: 1 and the number of the next device file, or 0 at the end. */
static int next_minor(DIR *dir, u32 *minor)
{
	const struct dirent *ent;

	while ((ent = readdir(dir)))
		if (parse_minor(ent->d_name, minor))
			return 1;
	return 0;
}

/* Opens a device by its number "N", or by its path. */
static int cdev_open(struct ang_dev *dev, const struct ang_spec *spec,
		     const char *name)
{
	char path[ANG_DEV_PATH];
	unsigned long number;
	char *end;

	(void)spec;
	if (*name >= '0' && *name <= '9') {
		errno = 0;
		number = strtoul(name, &end, 10);
		if (errno || number > 0xFFFFFFFFUL)
			return -ENODEV;
		if (!*end) {
			ang_dev_path((u32)number, path);
			name = path;
		}
	}
	dev->fd = open(name, O_RDWR | O_CLOEXEC);
	return dev->fd < 0 ? -errno : 0;
}

/**
 * ang_dev_number() - number of a device
 * @name: number of the device, or path
 * @number: out: the number
 *
 * Return: 0; -ENODEV @name is neither.
 */
int ang_dev_number(const char *name, u32 *number)
{
	char text[sizeof(ANG_DEV_PREFIX) + 10];

	if (!strncmp(name, ANG_DEV_DIR "/", sizeof(ANG_DEV_DIR)))
		return parse_minor(name + sizeof(ANG_DEV_DIR), number) ? 0 : -ENODEV;
	if (snprintf(text, sizeof(text), ANG_DEV_PREFIX "%s", name) >=
	    (int)sizeof(text))
		return -ENODEV;
	return parse_minor(text, number) ? 0 : -ENODEV;
}

#define CDEV_TEXT	65536	/* limit of a file in sysfs: one page, of at most 64 KiB */

/* Reads the file "fabric" of the device in sysfs. */
static int cdev_describe(struct ang_dev *dev, char **text)
{
	char path[64];
	struct stat st;
	ssize_t n;
	int fd, ret;

	if (fstat(dev->fd, &st))
		return -errno;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/fabric",
		 major(st.st_rdev), minor(st.st_rdev));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*text = calloc(1, CDEV_TEXT + 1);
	n = *text ? read(fd, *text, CDEV_TEXT) : -1;
	ret = *text ? -errno : -ENOMEM;
	close(fd);
	if (n >= 0)
		return 0;
	free(*text);
	return ret;
}

static int cdev_links_down(struct ang_dev *dev, u64 fabric_id, struct ang_links *links)
{
	(void)dev;
	return ang_netlink_links(fabric_id, links);
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
	if (ret >= 0)
		return 0;
	/*
	 * After a reset the device works again, but not through this open file.
	 */
	return errno == ESTALE ? -ENODEV : -errno;
}

static int cdev_ctx_open(struct ang_dev *dev, void *arg, struct ang_dev *ctx)
{
	int ret = cdev_cmd(dev, ANGARA_IOCTL_CTX_CREATE, arg);

	if (ret)
		return ret;
	ctx->ops = dev->ops;
	ctx->fd = ((const struct angara_ctx_create *)arg)->fd;
	return 0;
}

static int cdev_doorbell(struct ang_dev *dev, u32 pi)
{
	struct angara_kick arg = ANG_CMD_INIT(struct angara_kick);

	(void)pi;
	arg.flags = ANGARA_KICK_SQ;
	return cdev_cmd(dev, ANGARA_IOCTL_KICK, &arg);
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

static int cdev_poll_fd(struct ang_dev *dev)
{
	return dev->fd;
}

/*
 * No action needed: poll(2) itself compares angara_ctl.seen and arms the
 * context.
 */
static int cdev_arm(struct ang_dev *dev)
{
	(void)dev;
	return 0;
}

static bool cdev_gone(struct ang_dev *dev)
{
	return ++dev->asked % CDEV_ASKS == 0 && cdev_wait(dev, 0) == -ENODEV;
}

static bool cdev_relax(struct ang_dev *dev, bool can_sleep)
{
	(void)can_sleep;
	(void)dev;
	ang_cpu_relax();
	return true;
}

/*
 * Reserves an address range that contains an aligned range of @len bytes, and
 * releases the addresses around the aligned range.
 */
static int cdev_alloc(struct ang_dev *dev, size_t len, size_t align, void **mem)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t slack = align > page ? align - page : 0, before;
	char *all = len + slack < len ? MAP_FAILED :
		    mmap(NULL, len + slack, slack ? PROT_NONE : PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)dev;
	if (all == MAP_FAILED)
		return -ENOMEM;
	before = -(uintptr_t)all & (align - 1);
	*mem = all + before;
	if (before)
		munmap(all, before);
	if (slack > before)
		munmap(all + before + len, slack - before);
	if (!slack || !mprotect(*mem, len, PROT_READ | PROT_WRITE))
		return 0;
	munmap(*mem, len);
	return -ENOMEM;
}

/* Describes the bus of a device, if sysfs is mounted. */
void ang_cdev_bus(u32 number, struct angara_adapter *adapter)
{
	char path[ANG_DEV_PATH], dir[64];
	struct stat st;

	ang_dev_path(number, path);
	if (stat(path, &st))
		return;
	snprintf(dir, sizeof(dir), "/sys/dev/char/%u:%u/device",
		 major(st.st_rdev), minor(st.st_rdev));
	ang_sysfs_adapter(dir, adapter);
}

static int cdev_ask(u32 minor, struct ang_found *found)
{
	struct angara_query q = ANG_CMD_INIT(struct angara_query);
	char path[ANG_DEV_PATH];
	struct ang_dev dev;
	int ret;

	dev.ops = &ang_cdev_ops;
	ang_dev_path(minor, path);
	ret = cdev_open(&dev, NULL, path);
	if (ret)
		return ret;
	ret = ang_dev_cmd(&dev, ANGARA_IOCTL_QUERY, &q);
	ang_dev_close(&dev);
	if (ret)
		return ret;
	found->fabric_id = q.fabric_id;
	found->node = q.node;
	found->minor = minor;
	return 0;
}

/**
 * ang_scan_cdev() - query all devices of this machine
 * @spec: not used: devices of all fabrics are listed
 * @scan: empty; ang_scan_free() frees it, also after an error
 *
 * Devices that do not respond are left out; @scan->err is the first error.
 *
 * Return: 0; -ENOMEM.
 */
int ang_scan_cdev(const struct ang_spec *spec, struct ang_scan *scan)
{
	struct ang_found found;
	int ret = 0;
	DIR *dir;
	u32 minor;

	(void)spec;
	dir = opendir(ANG_DEV_DIR);
	if (!dir) {
		if (errno == ENOMEM)
			return -ENOMEM;
		if (errno != ENOENT)
			scan->err = -errno;
		return 0;
	}
	while (!ret && next_minor(dir, &minor)) {
		int err = cdev_ask(minor, &found);

		scan->present++;
		if (!err)
			ret = ang_scan_add(scan, &found);
		else if (!scan->err)
			scan->err = err;
	}
	closedir(dir);
	ang_scan_sort(scan);
	return ret;
}

/**
 * ang_scan_cdev_first() - find the device file with the lowest number
 * @spec: fabric; if it names a device, that device is returned
 * @minor: out: number of the device file
 *
 * Return: 0; -ENODEV there is no device file.
 */
int ang_scan_cdev_first(const struct ang_spec *spec, u32 *minor)
{
	int ret = -ENODEV;
	DIR *dir;
	u32 m;

	if (spec->device[0])
		return ang_dev_number(spec->device, minor);
	dir = opendir(ANG_DEV_DIR);
	if (!dir)
		return -ENODEV;
	while (next_minor(dir, &m)) {
		if (ret || m < *minor)
			*minor = m;
		ret = 0;
	}
	closedir(dir);
	return ret;
}

const struct ang_dev_ops ang_cdev_ops = {
	.spin_us = 20,
	.scan = ang_scan_cdev,
	.first = ang_scan_cdev_first,
	.open = cdev_open,
	.close = cdev_close,
	.ctx_open = cdev_ctx_open,
	.cmd = cdev_cmd,
	.describe = cdev_describe,
	.links_down = cdev_links_down,
	.doorbell = cdev_doorbell,
	.map = cdev_map,
	.unmap = cdev_unmap,
	.wait = cdev_wait,
	.poll_fd = cdev_poll_fd,
	.arm = cdev_arm,
	.gone = cdev_gone,
	.relax = cdev_relax,
	.alloc = cdev_alloc,
	.free = cdev_unmap,
};
