/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finding the adapters of a fabric; shared with angara-run.
 */
#ifndef ANG_SCAN_H
#define ANG_SCAN_H

#include "ang_env.h"

struct ang_spec;
struct angara_adapter;

#define ANG_DEV_DIR	"/dev"
#define ANG_DEV_PREFIX	"angara"
#define ANG_DEV_PATH	32	/* bytes of the longest path, with its NUL */

/**
 * struct ang_found - a device that responded
 * @fabric_id: fabric that the device is in
 * @node: node that the device connects
 * @minor: number of the device: N of /dev/angaraN
 */
struct ang_found {
	u64 fabric_id;
	u32 node;
	u32 minor;
};

/**
 * struct ang_scan - all devices that responded, sorted by fabric and then node
 * @devs: array
 * @n: devices in it
 * @room: capacity of @devs
 * @present: device files seen
 * @err: -errno of the first device that did not respond, or 0
 */
struct ang_scan {
	struct ang_found *devs;
	size_t n;
	size_t room;
	size_t present;
	int err;
};

/* scan.c */
int ang_scan_add(struct ang_scan *scan, const struct ang_found *found);
int ang_scan_nodes(struct ang_scan *scan, u32 nodes);
void ang_scan_sort(struct ang_scan *scan);
void ang_scan_free(struct ang_scan *scan);
const struct ang_found *ang_scan_find(const struct ang_scan *scan,
				      u64 fabric_id, u32 node);
const struct ang_found *ang_scan_fabric(const struct ang_scan *scan,
					u64 fabric_id, size_t *n);

/* sysfs.c */
void ang_sysfs_adapter(const char *dir, struct angara_adapter *adapter);

/* cdev.c */
int ang_scan_cdev(const struct ang_spec *spec, struct ang_scan *scan);
void ang_cdev_bus(u32 minor, struct angara_adapter *adapter);
int ang_dev_number(const char *name, u32 *number);
int ang_scan_cdev_first(const struct ang_spec *spec, u32 *minor);
void ang_dev_path(u32 minor, char path[ANG_DEV_PATH]);

/* scan_place.c */
u64 ang_scan_default(const struct ang_scan *scan, const struct ang_spec *spec);
u32 ang_scan_per_node(u32 procs, size_t nodes);
int ang_scan_place(const struct ang_spec *spec, u32 rank, u32 size, u32 *minor);

#endif /* ANG_SCAN_H */
