/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accesses to memory of processes: no other node may wait for them. */
#ifndef WATCH_H
#define WATCH_H

#include "host.h"

/*
 * From now on, an access to memory of processes on node @slow fails the test if node
 * @other is held.  @stores: so does a store of an event counter or of the end of a
 * completion.
 */
void watch_begin(struct host *h, u32 slow, u32 other, bool stores);
/* Return: number of accesses to memory of @slow since watch_begin(). */
u32 watch_end(struct host *h);

#endif /* WATCH_H */
