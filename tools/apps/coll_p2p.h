/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ANG_APPS_COLL_P2P_H
#define ANG_APPS_COLL_P2P_H

#include "coll.h"

/** Open the same trees by puts; see coll_open(). */
struct coll *coll_p2p_open(struct app *app, unsigned int trees);

#endif /* ANG_APPS_COLL_P2P_H */
