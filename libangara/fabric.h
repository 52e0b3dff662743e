/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric selected by ANGARA_FABRIC; shared with angara-run.
 *
 *   loop			the adapters of a driver, /dev/angara*
 *   /dev/angaraN		the fabric of that adapter
 *   embedded[:FABRIC][,OPT]	a fabric that the processes emulate themselves:
 *				a description for ang_topo_read(), or file:PATH
 *
 * Default: the adapters if there are any, else an embedded fabric.
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
#define ANG_EMBED_NODES	4096U	/* limit of nodes and switches */
#define ANG_EMBED_PROCS	4096U	/* limit of processes that may use a fabric */
#define ANG_EMBED_SMALL	64U	/* jobs with more processes must set procs */

/**
 * struct ang_spec - a fabric
 * @kind: ANG_FABRIC_*
 * @device: for cdev: path of an adapter of the fabric, empty for any
 * @topo: topology; without nodes: the default.  This member and those below are
 *	for embedded fabrics
 * @file: file that describes the topology, if this is a graph
 * @flaw: buffer for a message about an error in the file
 * @ctxs: contexts per node, 0 for the default
 * @trees: trees, 0 for the default
 * @train: packets that travel together, 0 for the default
 * @procs: processes that may use the fabric at a time, 0 for the default
 * @heap_mib: limit per process on memory from angara_malloc(), 0 for the
 *	default
 * @fault: initial faults of each link
 * @seed: seed of the generators of faults
 * @name: processes of a user that give the same name share the fabric; empty:
 *	private to one process or job
 * @own: the library has generated @name, for the fabric of one job
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
