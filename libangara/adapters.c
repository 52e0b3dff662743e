// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The list of adapters that angara_domain_open() can open.  Opening the list
 * does not create an embedded fabric.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib.h"
#include "scan.h"

/**
 * struct angara_adapters - a list of adapters
 * @n: number of adapters
 * @all: adapters, sorted by fabric and node
 */
struct angara_adapters {
	u32 n;
	struct angara_adapter all[];
};

/*
 * @chosen: number of the adapter that angara_domain_open() opens without a
 *	name, or NULL
 */
static void adapter_fill(struct angara_adapter *a, const struct ang_found *found,
			 const struct ang_spec *spec, const u32 *chosen)
{
	a->number = found->minor;
	a->node = found->node;
	a->fabric_id = found->fabric_id;
	a->chosen = chosen && *chosen == found->minor;
	if (spec->kind == ANG_FABRIC_EMBEDDED)
		a->kind = ANGARA_ADAPTER_EMBEDDED;
	else
		ang_cdev_bus(found->minor, a);
}

static int adapters_scan(struct ang_spec *spec, struct ang_scan *scan)
{
	int ret;

	if (spec->kind == ANG_FABRIC_EMBEDDED) {
		ang_spec_size(spec, 1);
		return ang_scan_nodes(scan, spec->topo.nodes);
	}
	ret = ang_scan_cdev(spec, scan);
	/* If no adapter responds, return the error of the first adapter. */
	return !ret && !scan->n ? scan->err : ret;
}

ANG_PUBLIC int angara_adapters_open(struct angara_adapters **out)
{
	struct angara_adapters *list = NULL;
	struct ang_scan scan = { 0 };
	char buf[ANG_NUMBER_BYTES];
	struct ang_spec spec;
	bool is_chosen;
	const char *name;
	u32 chosen, i;
	int ret;

	*out = NULL;
	ret = ang_dev_find(NULL, &spec, buf, &name);
	is_chosen = !ret && !ang_dev_number(name, &chosen);
	if (!ret || ret == -ENODEV)
		ret = adapters_scan(&spec, &scan);
	if (!ret) {
		list = calloc(1, sizeof(*list) + scan.n * sizeof(list->all[0]));
		ret = list ? 0 : -ENOMEM;
	}
	if (!ret) {
		list->n = (u32)scan.n;
		for (i = 0; i < list->n; i++)
			adapter_fill(&list->all[i], &scan.devs[i], &spec,
				     is_chosen ? &chosen : NULL);
		*out = list;
	}
	ang_scan_free(&scan);
	return ret;
}

ANG_PUBLIC void angara_adapters_close(struct angara_adapters *list)
{
	free(list);
}

ANG_PUBLIC uint32_t angara_adapters_count(const struct angara_adapters *list)
{
	return list->n;
}

ANG_PUBLIC int angara_adapters_query(const struct angara_adapters *list,
				     uint32_t index,
				     struct angara_adapter *adapter)
{
	const size_t first = ANG_SIZED_FIRST(angara_adapter, driver);

	if (index >= list->n)
		return -EINVAL;
	return ang_sized_give(adapter, &list->all[index], sizeof(list->all[0]),
			      first);
}
