/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ANG_APPS_COLL_OFFLOAD_H
#define ANG_APPS_COLL_OFFLOAD_H

#include "coll.h"

/** Open teams on the collective network; see coll_open(). */
struct coll *coll_offload_open(struct app *app, unsigned int trees);

/**
 * Record why angara_team_create() failed; @trees: number of trees requested.
 */
void coll_offload_explain(struct app *app, int err, unsigned int trees);

#endif /* ANG_APPS_COLL_OFFLOAD_H */
