// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's topology and rules of trees stand once in the kernel, in
 * angara.ko; the loopback takes them from here.
 */
#include "ang_dev.h"

ANG_EXPORT(ang_topo_describe);
ANG_EXPORT(ang_topo_parse);
ANG_EXPORT(ang_topo_init);
ANG_EXPORT(ang_topo_coord);
ANG_EXPORT(ang_topo_node);
ANG_EXPORT(ang_topo_neighbor);
ANG_EXPORT(ang_topo_route);
ANG_EXPORT(ang_tree_row_check);
ANG_EXPORT(ang_tree_check);
