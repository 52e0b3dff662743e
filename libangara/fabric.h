/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which fabric to use, as given in ANGARA_FABRIC; shared with angara-run.
 *
 *   loop the adapters of a driver, /dev/angara*
 *   /dev/angaraN            the same; the fabric of that adapter
 *   embedded[:FABRIC][,OPT] a fabric emulated by the processes themselves: of any kind that
 *   ang_topo_read() knows, or file:PATH
 *
 * Default: the adapters if there are any, else an embedded one.
 */
#ifndef ANG_FABRIC_H
#define ANG_FABRIC_H

#include "ang_env.h"

#include <stdint.h>
#include "ang_model.h"

#define ANG_ENV_EXPRESS	"ANGARA_EXPRESS"
#define ANG_ENV_FABRIC	"ANGARA_FABRIC"
#define ANG_ENV_PACKETS	"ANGARA_PACKETS"
#define ANG_ENV_PTRACER	"ANGARA_PTRACER"

#define ANG_FABRIC_CDEV		0
#define ANG_FABRIC_EMBEDDED	1

#define ANG_NAME_BYTES	48	/* bytes of the longest name, with its NUL */
#define ANG_FILE_BYTES	256	/* bytes of the longest path of a graph, with its NUL */
#define ANG_FLAW_BYTES	128	/* bytes of an error message about a file */
#define ANG_SPEC_BYTES	512	/* bytes of the longest ANGARA_FABRIC */
#define ANG_EMBED_NODES	4096U	/* most nodes and switches of an embedded fabric */
#define ANG_EMBED_PROCS	4096U	/* processes that use one, at most */
#define ANG_EMBED_SMALL	64U	/* jobs with more processes must set procs */

/**
 * struct ang_spec - a fabric
 * @kind: ANG_FABRIC_*
 * @device: cdev: path of an adapter of it, empty for any
 * @topo: embedded, as all that follows: topology; no nodes for the default
 * @file: file that describes it, if it is a graph
 * @flaw: buffer for a message about an error in the file
 * @ctxs: contexts per node, 0 for the default
 * @trees: trees, 0 for the default
 * @train: packets that travel together, 0 for the default
 * @procs: processes that may use it at a time, 0 for the default
 * @heap_mib: limit per process on memory from angara_malloc(), 0 for the
 *	default
 * @fault: faults that each link begins with
 * @seed: start of their generators
 * @name: processes of a user that give the same name share the fabric; empty:
 *	private to one process or job
 * @own: the library has made the name, for a job
 * @fd: inherited descriptor of the segment, -1 for none
 */
struct ang_spec {
	u32 kind;
	char device[ANG_NAME_BYTES];
	struct ang_topo topo;
	char file[ANG_FILE_BYTES];
	char flaw[ANG_FLAW_BYTES];
	u32 ctxs;
	u32 trees;
	u32 train;
	u32 procs;
	u32 heap_mib;
	struct ang_fault fault;
	u32 seed;
	char name[ANG_NAME_BYTES];
	bool own;
	int fd;
};

int ang_spec_parse(const char *text, struct ang_spec *spec, const char **why);
int ang_spec_print(const struct ang_spec *spec, char *text, size_t len);
const char *ang_spec_load(struct ang_spec *spec, const char *path);
void ang_spec_size(struct ang_spec *spec, u32 nodes);

#endif /* ANG_FABRIC_H */
