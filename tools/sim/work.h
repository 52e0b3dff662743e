/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workloads: operations of hosts.
 */
#ifndef ANG_SIM_WORK_H
#define ANG_SIM_WORK_H

#include <angara/plan.h>
#include "sim.h"

#define WORK_OFFLOAD	0	/* in the network */
#define WORK_P2P	1	/* by messages of hosts along the same tree */

/**
 * struct coll - one collective operation
 * @type: ANG_PKT_BCAST, ANG_PKT_REDUCE or ANG_PKT_ALLREDUCE
 * @mode: WORK_*
 * @bytes: of the message, or of each node's contribution; 0 for a barrier
 * @root: node; root of the first tree
 * @source: node; of a broadcast, or the receiver of a reduce
 * @trees: trees that share the message, from number 0 on
 * @spread: roots of the trees are spread evenly, instead of being the same
 * @shallowest: messages go to the shallowest subtree first, not the deepest
 * @block: nodes that take part, a block from node 0 on; no dimensions: all
 * @plan: the trees, instead of @root, @spread and @block; or NULL
 * @packets: number of packets of the message
 * @height: nodes on the longest path down, by tree and node
 * @tree_root: root of each tree
 * @sum: result of the reduction
 */
struct coll {
	u32 type;
	u32 mode;
	u32 bytes;
	u32 root;
	u32 source;
	u32 trees;
	bool spread;
	bool shallowest;
	struct angara_topo block;
	const struct angara_plan *plan;
	u32 packets;
	u16 *height[ANG_DEF_TREES];
	u32 tree_root[ANG_DEF_TREES];
	u64 sum;
};

/**
 * struct result - result of a run
 * @time: from the start until the last host has its data
 * @wall: seconds that the simulation took
 * @acc: counts, of all partitions
 * @lost: packets that never arrived, a deadlock
 * @nodes: nodes of the fabric
 * @ranks: their computing modules
 */
struct result {
	u64 time;
	double wall;
	struct sim_acc acc;
	u64 lost;
	u64 nodes;
	u64 ranks;
};

/**
 * struct traffic - random traffic
 * @pattern: from pattern_find()
 * @load: flits per router cycle and computing module
 * @bytes: payload of a packet
 * @hot: percent of packets to the one node of a hot spot
 * @warmup: time from which on packets are measured
 * @end: time from which on they are no longer measured
 * @stop: time when generation of packets ends, not before @end
 * @gap: times between packets
 */
struct traffic {
	u32 pattern;
	double load;
	u32 bytes;
	u32 hot;
	u64 warmup;
	u64 end;
	u64 stop;
	u64 *gap;
};

/**
 * struct env - where simulations are run
 * @cfg: parameters
 * @comm: processes
 * @threads: of each process
 * @runs: simulations so far
 * @trace: file for a trace, or NULL
 * @watch: nodes in it; NULL: all
 * @routes: file of ways to take instead of the topology's, or NULL
 * @heatmap: file for the loads of links, or NULL
 * @what: see struct sim, as all members below
 */
struct env {
	struct sim_cfg cfg;
	struct sim_comm comm;
	u32 threads;
	u32 runs;
	const char *trace;
	const char *watch;
	const char *routes;
	const char *heatmap;
	const char *what;
	const char *checkpoint;
	const char *restore;
	u64 every;
	u64 stop_at;
};

/* Runs a collective on a new fabric.  Return: 0, or -EINVAL and a message. */
int coll_run(struct env *e, struct coll *c, struct result *r);

#define GATHER_TREES	0	/* broadcasts of all nodes */
#define GATHER_DOUBLING	1
#define GATHER_RING	2
#define GATHER_BRUCK	3

/**
 * struct gather - an allgather, or an allreduce by messages
 * @algo: GATHER_*
 * @reduce: it is an allreduce: by doubling or a ring
 * @bytes: of each node
 * @trees: for broadcasts
 * @stripe: split each node's bytes over all trees, instead of one tree per node
 * @reverse: neighbouring ranks are along the last dimension, not along X
 */
struct gather {
	u32 algo;
	bool reduce;
	u32 bytes;
	u32 trees;
	bool stripe;
	bool reverse;
};

int gather_algo(const char *name);
int gather_run(struct env *e, struct gather *g, struct result *r);
int traffic_run(struct env *e, struct traffic *c, struct result *r);

/* pattern.c */
int pattern_find(const char *name);
u64 pattern_draw(u64 *state);
u32 pattern_target(const struct sim *s, const struct traffic *c, u32 rank,
		   u32 count, u64 *rng);
u32 pattern_targets(const struct sim *s, u32 pattern, u32 rank, u32 *list);

/* Common functions of workloads. */
int work_begin(struct env *e, struct sim *s);
int work_trees(struct sim *s, u32 trees, u32 first_root, bool spread);
int work_trees_on(struct sim *s, u32 trees, u32 first_root, bool spread,
		  const struct angara_topo *block);
int work_trees_planned(struct sim *s, u32 trees, const struct angara_plan *plan);
u32 work_local(const struct sim *s);
int work_end(struct env *e, struct sim *s, struct result *r);

#endif /* ANG_SIM_WORK_H */
