/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has to be true of a fabric, for whatever test looks at one.
 */
#ifndef TEST_INVARIANT_H
#define TEST_INVARIANT_H

#include "ang_int.h"

/*
 * Fails the test if anything is not as it has to be between two steps: each
 * reference to a payload buffer has an owner, each operation stands in one
 * place, lists end, each train is under way or answered.  Nodes of @held, one
 * bit each, are within a step and not looked at; then a buffer may have more
 * references than are found.
 */
void invariants(struct ang_fabric *fab, u64 held);

/* Nodes, one bit each, that a view is in a step of. */
u64 invariants_held(struct ang_fabric *fab);

/* Nothing is under way: buffers free, rings empty, no node with work. */
void invariants_idle(struct ang_fabric *fab);

#endif /* TEST_INVARIANT_H */
