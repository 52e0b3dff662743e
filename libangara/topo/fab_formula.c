// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Metrics by the formulas of document 001, the publication on MKNS (table 1 and
 * its text).
 */
#include <errno.h>

#include "fab.h"

static void formula_torus(const struct ang_topo *t, struct angara_fabric_metrics *m)
{
	u32 largest = 1;
	u32 d;

	for (d = 0; d < t->ndims; d++) {
		m->diameter += t->dims[d] / 2U;
		m->tree_diameter += t->dims[d] - 1U;
		if (t->dims[d] > largest)
			largest = t->dims[d];
	}
	m->bisection = 2 * t->nodes / largest;
	m->connectivity = 2U * t->ndims;
	m->cables = t->ndims * t->nodes;
	m->ports = 2ULL * t->ndims * t->nodes;
}

static void formula_hypercube(const struct ang_topo *t, struct angara_fabric_metrics *m)
{
	m->diameter = t->levels;
	m->bisection = t->nodes / 2;
	m->connectivity = t->levels;
	m->cables = t->levels * t->nodes / 2;
	m->ports = (u64)t->levels * t->nodes;
}

static void formula_mesh(const struct ang_topo *t, struct angara_fabric_metrics *m)
{
	u32 d;

	for (d = 0; d < t->ndims; d++) {
		m->diameter += t->dims[d] - 1U;
		m->connectivity += t->dims[d] > 1;
		m->cables += t->nodes - t->nodes / t->dims[d];
	}
	m->ports = 2ULL * t->ndims * t->nodes;
}

static void formula_mkns(const struct ang_topo *t, struct angara_fabric_metrics *m)
{
	bool direct = t->kind == ANG_TOPO_MKNS;
	u32 n = t->ndims;
	u32 d;

	m->diameter = direct;
	m->connectivity = direct ? t->dims[0] - 1U + n - 1 : n;
	m->cables = (n - direct) * t->nodes;
	if (direct) {
		m->cables += t->nodes * (t->dims[0] - 1U) / 2;
		m->tree_diameter = n > 1 ? 4 * (n - 1) : 2;
	}
	for (d = direct; d < n; d++) {
		u32 blocks = ang_topo_blocks(t, d);
		u32 leaves = blocks > 1 ? (t->dims[d] + t->switch_ports / 2U - 1) /
					  (t->switch_ports / 2U) : 0;

		m->diameter += blocks > 1 ? 4 : 2;
		m->switches += t->nodes / t->dims[d] * blocks;
		/*
		 * Cables between leaf and top switches; the formula of document
		 * 001 omits them.
		 */
		m->cables += t->nodes / t->dims[d] * leaves * (t->switch_ports / 2U);
	}
	m->bisection = t->nodes / 2;
	m->ports = (u64)t->adapter_ports * t->nodes + (u64)t->switch_ports * m->switches;
}

static void formula_fattree(const struct ang_topo *t, struct angara_fabric_metrics *m)
{
	m->diameter = 2U * t->levels;
	m->tree_diameter = m->diameter;
	m->bisection = t->nodes / 2;
	m->connectivity = t->switch_ports / 2U;
	m->cables = t->levels * t->nodes;
	m->ports = 2ULL * t->levels * t->nodes;
}

ANG_PUBLIC int angara_fabric_formula(const struct angara_fabric *fabric,
				     struct angara_fabric_metrics *metrics)
{
	static void (*const formulas[ANG_TOPO_KINDS])(const struct ang_topo *,
						      struct angara_fabric_metrics *) = {
		[ANG_TOPO_TORUS] = formula_torus,
		[ANG_TOPO_MESH] = formula_mesh,
		[ANG_TOPO_HYPERCUBE] = formula_hypercube,
		[ANG_TOPO_MKNS] = formula_mkns,
		[ANG_TOPO_KNS] = formula_mkns,
		[ANG_TOPO_FATTREE] = formula_fattree,
	};

	if (metrics->size != sizeof(*metrics))
		return -EINVAL;
	*metrics = (struct angara_fabric_metrics){ .size = sizeof(*metrics) };
	if (formulas[fabric->topo.kind])
		formulas[fabric->topo.kind](&fabric->topo, metrics);
	return 0;
}
