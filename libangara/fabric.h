/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which fabric to use, as ANGARA_FABRIC says it; shared with angara-run.
 *
 *   loop                    the adapters that a driver shows as /dev/angara*
 *   /dev/angaraN            the same; the fabric of that adapter
 *   embedded[:DIMS][,OPT]   a torus that processes play among themselves
 *
 * Without it: the adapters if there are any, else an embedded one.
 */
#ifndef ANG_FABRIC_H
#define ANG_FABRIC_H

#include "ang_env.h"

#include <angara/topo.h>

#define ANG_ENV_FABRIC	"ANGARA_FABRIC"
#define ANG_ENV_PTRACER	"ANGARA_PTRACER"

#define ANG_FABRIC_CDEV		0
#define ANG_FABRIC_EMBEDDED	1

#define ANG_NAME_BYTES	48	/* of the longest name, with its end */
#define ANG_SPEC_BYTES	256	/* of the longest ANGARA_FABRIC */
#define ANG_EMBED_NODES	4096U	/* in an embedded fabric, at most */
#define ANG_EMBED_PROCS	4096U	/* processes that use one, at most */
#define ANG_EMBED_SMALL	64U	/* with more in a job, it needs to know */

/**
 * struct ang_spec - a fabric
 * @kind: ANG_FABRIC_*
 * @device: cdev: path of an adapter of it, empty for any
 * @topo: embedded, as all that follows: the torus; no dimensions for the
 *	default
 * @ctxs: contexts per node, 0 for the default
 * @trees: trees, 0 for the default
 * @train: packets that travel together, 0 for the default
 * @procs: processes that may use it at a time, 0 for the default
 * @heap_mib: memory that a process may have of angara_malloc(), 0 for the
 *	default
 * @name: processes of a user that say the same name share the fabric; empty:
 *	nobody shares it
 * @fd: inherited descriptor of the segment, -1 for none
 */
struct ang_spec {
	u32 kind;
	char device[ANG_NAME_BYTES];
	struct angara_topo topo;
	u32 ctxs;
	u32 trees;
	u32 train;
	u32 procs;
	u32 heap_mib;
	char name[ANG_NAME_BYTES];
	int fd;
};

int ang_spec_parse(const char *text, struct ang_spec *spec, const char **why);
int ang_spec_print(const struct ang_spec *spec, char *text, size_t len);
void ang_spec_size(struct ang_spec *spec, u32 nodes);

#endif /* ANG_FABRIC_H */
