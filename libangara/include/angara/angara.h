/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: one-sided operations and offloaded collectives on an Angara
 * adapter.
 *
 * Functions return 0 or a negative errno; each has a man page.  Sizes and
 * offsets are bytes, counts are elements, times are milliseconds.  One thread
 * at a time may use a context and the objects that belong to it; different
 * contexts are independent.
 */
#ifndef ANGARA_ANGARA_H
#define ANGARA_ANGARA_H

#include <angara/types.h>
#include <angara/job.h>
#include <angara/domain.h>
#include <angara/ops.h>
#include <angara/msg.h>
#include <angara/team.h>
#include <angara/topo.h>
#include <angara/fabric.h>
#include <angara/manage.h>
#include <angara/plan.h>

#endif /* ANGARA_ANGARA_H */
