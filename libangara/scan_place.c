// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chooses the adapter of this machine that a process uses. */
#include <errno.h>

#include "backend.h"
#include "scan.h"

/*
 * Return: fabric of the device that @spec names; if it names none, the fabric
 * of the device with the lowest number.  Fabric ids are random, so they define
 * no order.
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

/*
 * Return: number of processes per node.  Processes are placed in blocks, as few
 * as possible on each node.
 */
u32 ang_scan_per_node(u32 procs, size_t nodes)
{
	return (u32)((procs + nodes - 1) / nodes);
}

/*
 * Finds the device of a process whose launcher has chosen none.
 * Return: 0; -ENODEV; -ENOMEM; the error of the first device that did not
 * respond.
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
