/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts the public torus, which the caller fills in, to the model's torus,
 * which has checked sizes and derived values.
 */
#ifndef ANG_TOPO_INTERNAL_H
#define ANG_TOPO_INTERNAL_H

#include "ang_model.h"

#include <angara/topo.h>
#include <linux/angara.h>

#define ANG_PUBLIC	__attribute__((visibility("default")))

/* Return: number of nodes, 0 if @topo is out of range. */
static inline u32 ang_topo_from(struct ang_topo *t, const struct angara_topo *topo)
{
	return ang_topo_init(t, topo->ndims, topo->dims);
}

#endif /* ANG_TOPO_INTERNAL_H */
