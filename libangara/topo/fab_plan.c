// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Plans of trees: each tree avoids the channels that earlier trees have loaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"
#include "sized.h"
#include "values.h"

static int plan_alloc(struct angara_plan *p, const struct angara_plan_attr *attr)
{
	size_t routers = p->f->topo.routers;
	size_t channels = routers * p->f->topo.nports;

	p->load = calloc(channels, sizeof(*p->load));
	p->rows = calloc(routers * attr->trees, sizeof(*p->rows));
	p->roots = calloc(attr->trees, sizeof(*p->roots));
	if (!p->load || !p->rows || !p->roots)
		return -ENOMEM;
	if (attr->load)
		memcpy(p->load, attr->load, channels * sizeof(*p->load));
	return 0;
}

static int plan_tree(struct angara_plan *p, const uint16_t *pe,
		     const struct angara_plan_attr *attr)
{
	u32 routers = p->f->topo.routers;
	struct angara_tree_row *rows = p->rows + (size_t)routers * p->trees;
	int64_t root = attr->root;
	u32 i;
	int n;

	if (attr->root == ANGARA_PLAN_ROOT_ANY)
		root = fab_root(p->f, pe, p->load, attr->goal);
	if (root < 0)
		return (int)root;
	n = angara_fabric_tree(p->f, (u32)root, pe, p->load, rows);
	if (n < 0)
		return n;
	for (i = 0; i < routers; i++)
		rows[i].tree = (u8)p->trees;
	p->roots[p->trees++] = (u32)root;
	return 0;
}

ANG_PUBLIC int angara_plan_open(const struct angara_fabric *fabric,
				const uint16_t *pe,
				const struct angara_plan_attr *attr,
				struct angara_plan **plan)
{
	struct angara_plan_attr a;
	struct angara_plan *p;
	int ret = ang_sized_take(&a, sizeof(a), attr,
				 ANG_SIZED_FIRST(angara_plan_attr, load));

	if (ret)
		return ret;
	if (!a.trees || a.trees > ANGARA_MAX_TREES || a.goal > ANGARA_PLAN_LOAD)
		return -EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->f = fabric;
	ret = plan_alloc(p, &a);
	while (!ret && p->trees < a.trees)
		ret = plan_tree(p, pe, &a);
	if (ret) {
		angara_plan_close(p);
		return ret;
	}
	*plan = p;
	return 0;
}

ANG_PUBLIC void angara_plan_close(struct angara_plan *plan)
{
	if (!plan)
		return;
	free(plan->load);
	free(plan->rows);
	free(plan->roots);
	free(plan);
}

ANG_PUBLIC uint32_t angara_plan_trees(const struct angara_plan *plan)
{
	return plan->trees;
}

ANG_PUBLIC const struct angara_tree_row *
angara_plan_rows(const struct angara_plan *plan, uint32_t tree)
{
	if (tree >= plan->trees)
		return NULL;
	return plan->rows + (size_t)plan->f->topo.routers * tree;
}

ANG_PUBLIC uint32_t angara_plan_root(const struct angara_plan *plan, uint32_t tree)
{
	return tree < plan->trees ? plan->roots[tree] : ANG_NONE;
}

ANG_PUBLIC int angara_plan_cost(const struct angara_plan *plan, uint32_t tree,
				struct angara_tree_cost *cost)
{
	if (tree >= plan->trees)
		return -EINVAL;
	return angara_fabric_cost(plan->f, angara_plan_rows(plan, tree),
				  plan->load, cost);
}

ANG_PUBLIC const struct angara_plan_value *angara_plan_values(void)
{
#define PLAN_VALUE(symbol, name, value, unit, source, help, basis, range) \
	{ name, value, unit, source, help },
	static const struct angara_plan_value values[] = {
		ANG_VALUES(PLAN_VALUE)
		{ NULL, 0, NULL, NULL, NULL },
	};
#undef PLAN_VALUE

	return values;
}
