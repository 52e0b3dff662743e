/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory for objects of one size that are allocated and freed with operations.
 * It grows to the largest number in use, and is freed as a whole.
 */
#ifndef AFI_OBJECTS_H
#define AFI_OBJECTS_H

#include "list.h"

/**
 * struct afi_objects - objects of one size
 * @idle: free objects, linked through their first bytes
 * @chunks: allocated memory
 * @size: bytes of an object, at least a link
 */
struct afi_objects {
	struct afi_link idle;
	struct afi_link chunks;
	size_t size;
};

void afi_objects_init(struct afi_objects *o, size_t size);
void *afi_objects_take(struct afi_objects *o);
void afi_objects_give(struct afi_objects *o, void *object);
void afi_objects_free(struct afi_objects *o);

#endif /* AFI_OBJECTS_H */
