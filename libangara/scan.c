// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finding adapters: lists the /dev/angaraN of this machine and queries each
 * once.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "scan.h"

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

static int scan_ask(u32 minor, struct ang_found *found)
{
	struct angara_query q = ANG_CMD_INIT(struct angara_query);
	char path[ANG_DEV_PATH];
	struct ang_dev dev;
	int ret;

	dev.ops = &ang_cdev_ops;
	ang_dev_path(minor, path);
	ret = dev.ops->open(&dev, NULL, path);
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

static int found_compare(const void *a, const void *b)
{
	const struct ang_found *x = a, *y = b;

	if (x->fabric_id != y->fabric_id)
		return x->fabric_id < y->fabric_id ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->minor > y->minor) - (x->minor < y->minor);
}

/* Return: 0; -ENOMEM. */
int ang_scan_add(struct ang_scan *scan, const struct ang_found *found)
{
	if (scan->n == scan->room) {
		size_t n = scan->room ? 2 * scan->room : 64;
		void *devs = realloc(scan->devs, n * sizeof(*scan->devs));

		if (!devs)
			return -ENOMEM;
		scan->devs = devs;
		scan->room = n;
	}
	scan->devs[scan->n++] = *found;
	return 0;
}

void ang_scan_sort(struct ang_scan *scan)
{
	if (scan->n)
		qsort(scan->devs, scan->n, sizeof(*scan->devs), found_compare);
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
		int err = scan_ask(minor, &found);

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

void ang_scan_free(struct ang_scan *scan)
{
	free(scan->devs);
	*scan = (struct ang_scan){ 0 };
}

const struct ang_found *ang_scan_find(const struct ang_scan *scan,
				      u64 fabric_id, u32 node)
{
	size_t lo = 0, hi = scan->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct ang_found *f = &scan->devs[mid];

		if (f->fabric_id == fabric_id && f->node == node)
			return f;
		if (f->fabric_id < fabric_id ||
		    (f->fabric_id == fabric_id && f->node < node))
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The devices of a fabric, by node; NULL if there are none. */
const struct ang_found *ang_scan_fabric(const struct ang_scan *scan,
					u64 fabric_id, size_t *n)
{
	size_t i = 0, end;

	while (i < scan->n && scan->devs[i].fabric_id != fabric_id)
		i++;
	for (end = i; end < scan->n && scan->devs[end].fabric_id == fabric_id;)
		end++;
	*n = end - i;
	return *n ? &scan->devs[i] : NULL;
}

/*
 * Fabric of the device that @spec names; otherwise that of the first device,
 * since ids are random and give no order.
 */
u64 ang_scan_default(const struct ang_scan *scan, const struct ang_spec *spec)
{
	const struct ang_found *first = &scan->devs[0];
	bool named = spec->device[0];
	u32 minor = 0;
	size_t i;

	if (named && ang_scan_cdev_first(spec, &minor))
		named = false;
	for (i = 0; i < scan->n; i++) {
		if (named && scan->devs[i].minor == minor)
			return scan->devs[i].fabric_id;
		if (scan->devs[i].minor < first->minor)
			first = &scan->devs[i];
	}
	return first->fabric_id;
}

/* Processes are placed in blocks, with as few on a node as possible. */
u32 ang_scan_per_node(u32 procs, size_t nodes)
{
	return (u32)((procs + nodes - 1) / nodes);
}

/*
 * Device of a process whose launcher chose none.
 * Return: 0; -ENODEV; -ENOMEM; the error of the devices.
 */
int ang_scan_place(const struct ang_spec *spec, u32 rank, u32 size, u32 *minor)
{
	struct ang_scan scan = { 0 };
	int ret = ang_scan_cdev(spec, &scan);
	const struct ang_found *devs;
	size_t n;

	if (!ret && scan.n) {
		devs = ang_scan_fabric(&scan, ang_scan_default(&scan, spec), &n);
		*minor = devs[rank / ang_scan_per_node(size, n)].minor;
	} else if (!ret) {
		ret = scan.err ? scan.err : -ENODEV;
	}
	ang_scan_free(&scan);
	return ret;
}

/**
 * ang_scan_cdev_first() - find the device file with the lowest number
 * @spec: if it names a device, the number of that device
 * @minor: out
 *
 * Return: 0; -ENODEV there is none.
 */
int ang_scan_cdev_first(const struct ang_spec *spec, u32 *minor)
{
	size_t dir_len = sizeof(ANG_DEV_DIR);
	int ret = -ENODEV;
	DIR *dir;
	u32 m;

	if (spec->device[0])
		return !strncmp(spec->device, ANG_DEV_DIR "/", dir_len) &&
		       parse_minor(spec->device + dir_len, minor) ? 0 : -ENODEV;
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
