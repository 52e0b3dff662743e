/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of all adapters, routers, links and trees of an embedded fabric. */
#ifndef EMBED_COUNTS_H
#define EMBED_COUNTS_H

#include <angara/angara.h>

/*
 * Collective over the job: no operation is in progress at any member.  Member 0
 * reads the counters, and writes by how much they have grown since the first
 * call to the file that the environment variable COUNTS names.  If COUNTS is not
 * set, the function does nothing.
 */
void counts_note(struct angara_job *job, struct angara_ctx *ctx);

#endif /* EMBED_COUNTS_H */
