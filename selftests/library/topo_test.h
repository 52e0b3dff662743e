/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions for tests of topologies: report results, open fabrics. */
#ifndef TOPO_TEST_H
#define TOPO_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo/fab.h"

static unsigned int tests, failures;

static inline void result(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failures += !good;
}

/* Opens the fabric that a text describes. */
static inline struct angara_fabric *make(const char *text)
{
	struct angara_fabric *f;
	char why[128];

	if (angara_fabric_open(text, &f, why, sizeof(why))) {
		printf("Bail out! %s: %s\n", text, why);
		exit(1);
	}
	return f;
}

#endif /* TOPO_TEST_H */
