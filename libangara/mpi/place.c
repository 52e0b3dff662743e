// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the processors to which this process is bound, by hwloc. */
#ifdef ANG_HAVE_HWLOC
#include <hwloc.h>
#endif

#include "place.h"

#ifdef ANG_HAVE_HWLOC
/*
 * Return: number of the object of @type that contains @obj; 0: none.
 */
static u32 object_of(hwloc_topology_t topo, hwloc_obj_t obj, hwloc_obj_type_t type)
{
	if (obj->type != type)
		obj = hwloc_get_ancestor_obj_by_type(topo, type, obj);
	return obj ? obj->logical_index + 1 : 0;
}

static void place_find(hwloc_topology_t topo, hwloc_bitmap_t set,
		       u32 place[ANG_PLACE_LEVELS])
{
	hwloc_obj_t obj;

	if (hwloc_topology_load(topo) ||
	    hwloc_get_cpubind(topo, set, HWLOC_CPUBIND_PROCESS))
		return;
	obj = hwloc_get_obj_covering_cpuset(topo, set);
	if (!obj)
		return;
	place[1] = object_of(topo, obj, HWLOC_OBJ_PACKAGE);
	place[2] = object_of(topo, obj, HWLOC_OBJ_L3CACHE);
}
#endif

/**
 * ang_place_own() - find the place of this process on its node
 * @place: out: processor and L3 cache; 0: the process may run on several, or
 *	there is no hwloc.  The element of the node is not changed
 */
void ang_place_own(u32 place[ANG_PLACE_LEVELS])
{
	u32 i;

	for (i = 1; i < ANG_PLACE_LEVELS; i++)
		place[i] = 0;
#ifdef ANG_HAVE_HWLOC
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	hwloc_topology_t topo;

	if (set && !hwloc_topology_init(&topo)) {
		place_find(topo, set, place);
		hwloc_topology_destroy(topo);
	}
	hwloc_bitmap_free(set);
#endif
}
