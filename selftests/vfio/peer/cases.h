/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of the links between servers.
 */
#ifndef PEER_CASES_H
#define PEER_CASES_H

#include "test.h"
#include "coll.h"
#include "peer.h"

extern const struct test_case wire_cases[], tcp_cases[], tls_cases[],
			      apart_cases[];

/* The last messages that servers have printed. */
extern char said[];

/* Forgets these messages; no server may run meanwhile. */
void said_clear(void);

#endif /* PEER_CASES_H */
