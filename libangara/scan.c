// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finding the adapters of this machine: every /dev/angaraN is asked once.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Return: 1 and the next device file's number, or 0 at the end. */
static int next_minor(DIR *dir, u32 *minor)
{
	const struct dirent *ent;

	while ((ent = readdir(dir)))
		if (parse_minor(ent->d_name, minor))
			return 1;
	return 0;
}

static int ask(u32 minor, struct ang_found *found)
{
	struct angara_query q = ANG_CMD_INIT(struct angara_query);
	char path[ANG_DEV_PATH];
	struct ang_dev dev;
	int ret;

	ang_dev_path(minor, path);
	ret = ang_dev_open(&dev, path);
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

static int compare(const void *a, const void *b)
{
	const struct ang_found *x = a, *y = b;

	if (x->fabric_id != y->fabric_id)
		return x->fabric_id < y->fabric_id ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->minor > y->minor) - (x->minor < y->minor);
}

static int add(struct ang_scan *scan, size_t *room, const struct ang_found *found)
{
	if (scan->n == *room) {
		size_t n = *room ? 2 * *room : 64;
		void *devs = realloc(scan->devs, n * sizeof(*scan->devs));

		if (!devs)
			return -ENOMEM;
		scan->devs = devs;
		*room = n;
	}
	scan->devs[scan->n++] = *found;
	return 0;
}

/**
 * ang_scan() - ask all devices who they are
 * @scan: out; ang_scan_free() frees it
 *
 * Devices that do not answer are left out; @scan->err tells why.
 *
 * Return: 0; -ENOMEM.
 */
int ang_scan(struct ang_scan *scan)
{
	struct ang_found found;
	size_t room = 0;
	int ret = 0;
	DIR *dir;
	u32 minor;

	*scan = (struct ang_scan){ 0 };
	dir = opendir(ANG_DEV_DIR);
	if (!dir)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!ret && next_minor(dir, &minor)) {
		int err = ask(minor, &found);

		scan->present++;
		if (!err)
			ret = add(scan, &room, &found);
		else if (!scan->err)
			scan->err = err;
	}
	closedir(dir);
	if (ret)
		ang_scan_free(scan);
	else if (scan->n)
		qsort(scan->devs, scan->n, sizeof(*scan->devs), compare);
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

/* Ids are random: the fabric of the first device is the one to expect. */
u64 ang_scan_default(const struct ang_scan *scan)
{
	const struct ang_found *first = &scan->devs[0];
	size_t i;

	for (i = 1; i < scan->n; i++)
		if (scan->devs[i].minor < first->minor)
			first = &scan->devs[i];
	return first->fabric_id;
}

/* Processes stand in blocks, as few on a node as there must be. */
u32 ang_scan_per_node(u32 procs, size_t nodes)
{
	return (u32)((procs + nodes - 1) / nodes);
}

/*
 * The device of a process whose launcher chose none.
 * Return: 0; -ENODEV; -ENOMEM; why the devices do not answer.
 */
int ang_scan_place(u32 rank, u32 size, u32 *minor)
{
	const struct ang_found *devs;
	struct ang_scan scan;
	int ret = ang_scan(&scan);
	size_t n;

	if (ret)
		return ret;
	if (scan.n) {
		devs = ang_scan_fabric(&scan, ang_scan_default(&scan), &n);
		*minor = devs[rank / ang_scan_per_node(size, n)].minor;
	} else {
		ret = scan.err ? scan.err : -ENODEV;
	}
	ang_scan_free(&scan);
	return ret;
}

/* The device file with the lowest number.  Return: 0; -ENODEV there is none. */
int ang_scan_first(u32 *minor)
{
	DIR *dir = opendir(ANG_DEV_DIR);
	int ret = -ENODEV;
	u32 m;

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
