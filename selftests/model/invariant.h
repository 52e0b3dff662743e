/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Invariants of a fabric, for all tests of the model.
 */
#ifndef TEST_INVARIANT_H
#define TEST_INVARIANT_H

#include "ang_int.h"

/*
 * Fails the test if an invariant between two steps does not hold: each
 * reference to a payload buffer has an owner, each operation is in one list,
 * lists end, each train is in flight or answered.  Nodes of @held, one bit
 * each, are within a step and not checked; then a buffer may have more
 * references than are found.
 */
void invariants(struct ang_fabric *fab, u64 held);

/* Return: the nodes, one bit each, in which a view is within a step. */
u64 invariants_held(struct ang_fabric *fab);

/* Checks that the fabric is idle: buffers free, rings empty, no node with work. */
void invariants_idle(struct ang_fabric *fab);

#endif /* TEST_INVARIANT_H */
