/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef EXPLORE_TURNS_H
#define EXPLORE_TURNS_H

#include "explore.h"

/* Sets up the scenarios of a family.  Return: the fault that the set-up found, or NULL. */
const char *explore_set_up(const struct family *f);
/* Runs one scenario of that family, in the schedule of @seed. */
const char *explore_one(u64 seed);
/* Calls @loop if a step does not end. */
void explore_watch(void (*loop)(void));

#endif /* EXPLORE_TURNS_H */
