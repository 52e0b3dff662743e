/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices of a fabric, opened to program their rows.
 */
#ifndef ANG_POOL_H
#define ANG_POOL_H

#include "ang_env.h"

struct ang_dev;
struct ang_pool;
struct ang_spec;

int ang_pool_new(const struct ang_spec *spec, u64 fabric_id, u32 nodes,
		 struct ang_pool **pool);
void ang_pool_free(struct ang_pool *pool);
int ang_pool_hold(struct ang_pool *pool, u32 node);
void ang_pool_drop(struct ang_pool *pool, u32 node);
struct ang_dev *ang_pool_dev(struct ang_pool *pool, u32 node);

#endif /* ANG_POOL_H */
