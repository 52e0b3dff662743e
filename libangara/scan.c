// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of adapters that a backend has found, sorted by fabric and node. */
#include <errno.h>
#include <stdlib.h>

#include "scan.h"

static int found_compare(const void *a, const void *b)
{
	const struct ang_found *x = a, *y = b;

	if (x->fabric_id != y->fabric_id)
		return x->fabric_id < y->fabric_id ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->minor > y->minor) - (x->minor < y->minor);
}

/* Adds a device.  Return: 0; -ENOMEM. */
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

/**
 * ang_scan_nodes() - add the nodes of an embedded fabric
 * @scan: empty
 * @nodes: number of nodes
 *
 * Works before any process has created the fabric: the size is known, the id is
 * not.
 *
 * Return: 0; -ENOMEM.
 */
int ang_scan_nodes(struct ang_scan *scan, u32 nodes)
{
	int ret = 0;
	u32 node;

	for (node = 0; !ret && node < nodes; node++) {
		const struct ang_found found = { .node = node, .minor = node };

		ret = ang_scan_add(scan, &found);
	}
	return ret;
}

void ang_scan_sort(struct ang_scan *scan)
{
	if (scan->n)
		qsort(scan->devs, scan->n, sizeof(*scan->devs), found_compare);
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

/* Return: the devices of one fabric, sorted by node; NULL: there are none. */
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
