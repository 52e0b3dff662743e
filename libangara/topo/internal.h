/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The caller fills in the public torus.  The model's torus also has derived
 * values, and its sizes are checked.
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
