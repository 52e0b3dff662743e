// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara.ko contains and exports the model's topologies and tree rules, so the
 * loopback module needs no second copy.
 */
#include "ang_dev.h"

ANG_EXPORT(ang_topo_describe);
ANG_EXPORT(ang_topo_read);
ANG_EXPORT(ang_topo_peer);
ANG_EXPORT(ang_topo_route);
ANG_EXPORT(ang_topo_longest);
ANG_EXPORT(ang_topo_keeper);
ANG_EXPORT(ang_topo_table_size);
ANG_EXPORT(ang_topo_fill_begin);
ANG_EXPORT(ang_topo_fill_router);
ANG_EXPORT(ang_tree_row_check);
ANG_EXPORT(ang_tree_row_in);
