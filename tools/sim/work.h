/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workloads: operations of hosts.
 */
#ifndef ANG_SIM_WORK_H
#define ANG_SIM_WORK_H

#include <angara/plan.h>
#include "algo/algo.h"
#include "sim.h"

#define WORK_OFFLOAD	0	/* in the network */
#define WORK_P2P	1	/* by messages between hosts along the same tree */

/**
 * struct coll - one collective operation
 * @type: ANG_PKT_BCAST, ANG_PKT_REDUCE or ANG_PKT_ALLREDUCE
 * @mode: WORK_*
 * @bytes: bytes of the message, or of each node's contribution; 0 for a barrier
 * @root: root of the first tree
 * @source: source of a broadcast, or receiver of a reduce
 * @trees: trees that share the message, from number 0 on
 * @spread: roots of the trees are spread evenly, instead of being the same
 * @shallowest: messages go to the shallowest subtree first, not the deepest
 * @block: sizes of the block of nodes, from node 0 on, that takes part; no dimensions: all nodes
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
 * struct span - duration of a simulation, or a point in time
 * @wall: seconds of wall clock
 * @cpu: seconds of processors, of all threads and processes
 */
struct span {
	double wall;
	double cpu;
};

/**
 * struct result - result of a run
 * @time: from the start until the last host has its data
 * @spent: duration of the simulation
 * @busy: flit engine: share of routers that had flits, mean over ticks; 0: not
 *	counted
 * @acc: counts of all partitions
 * @lost: packets that never arrived, if the run deadlocked
 * @balance: mean events of a partition over events of the busiest, both summed
 *	over the windows after which partitions wait for each other: the greatest
 *	utilization of threads and processes if all events cost the same
 * @nodes: nodes of the fabric
 * @ranks: computing modules of these nodes
 */
struct result {
	u64 time;
	struct span spent;
	double busy;
	struct sim_acc acc;
	u64 lost;
	double balance;
	u64 nodes;
	u64 ranks;
};

/**
 * struct traffic - random traffic
 * @pattern: from pattern_find()
 * @load: flits per router cycle and computing module
 * @bytes: payload of a packet
 * @brief: percent of packets that have 16 bytes of payload at most
 * @hot: percent of packets to the one node of a hot spot
 * @warmup: start of the measurement of packets
 * @end: end of the measurement
 * @stop: time when generation of packets ends, not before @end
 * @gap: times between packets
 * @flits: length of a packet; 0: that of @bytes
 * @self: "uniform" includes the module itself
 */
struct traffic {
	u32 pattern;
	double load;
	u32 bytes;
	u32 brief;
	u32 hot;
	u64 warmup;
	u64 end;
	u64 stop;
	u64 *gap;
	u32 flits;
	bool self;
};

/**
 * struct env - environment of simulations
 * @cfg: parameters
 * @comm: processes
 * @threads: threads of each process
 * @runs: simulations so far
 * @trees: TreeIds that the workload uses, if more than ANG_DEF_TREES
 * @trace: file for a trace, or NULL
 * @watch: nodes in the trace; NULL: all
 * @routes: file of routes that replace those of the topology, or NULL
 * @faults: file of faults of links, or NULL
 * @heatmap: file for the loads of links, or NULL
 * @what: this member and the members after it: see struct sim
 */
struct env {
	struct sim_cfg cfg;
	struct sim_comm comm;
	u32 threads;
	u32 runs;
	u32 trees;
	const char *trace;
	const char *watch;
	const char *routes;
	const char *faults;
	const char *heatmap;
	const char *what;
	const char *checkpoint;
	const char *restore;
	u64 every;
	u64 stop_at;
};

/* Runs a collective on a new fabric.  Return: 0, or -EINVAL and a message. */
int coll_run(struct env *e, struct coll *c, struct result *r);

/**
 * struct gather - a collective by messages, or an allgather by broadcasts
 * @bcasts: use broadcasts of all nodes, not messages
 * @coll: ANG_COLL_*
 * @algo: ANG_ALGO_*
 * @bytes: bytes of the vector, or of each node's block
 * @root: rank, in collectives that have one
 * @dims: sizes of the torus of the algorithm; no dimensions: a ring
 * @cut: bytes of a packet of the algorithm, 0: messages are not split
 * @moved: nodes are renumbered to suit the torus
 * @exchange: with @moved: blocks are exchanged first, not reordered at the end
 * @trees: number of trees for broadcasts
 * @stripe: split each node's bytes over all trees, instead of one tree per node
 * @reverse: neighbouring ranks are along the last dimension, not the first
 * @sizes: memory of the sizes in @dims, during a run
 * @place: with @moved, during a run: new number of each rank, then the inverse
 * @sched: schedules of the nodes of this process, during a run
 * @sum: bytes of all messages of the schedules
 */
struct gather {
	bool bcasts;
	enum ang_coll coll;
	enum ang_algo algo;
	u32 bytes;
	u32 root;
	struct angara_topo dims;
	u32 cut;
	bool moved;
	bool exchange;
	u32 trees;
	bool stripe;
	bool reverse;
	u32 sizes[ANG_MAX_DIMS];
	u32 *place;
	struct ang_schedule *sched;
	u64 sum;
};

/* gather_algo() - find an algorithm by name, or ANG_ALGO_NUM */
enum ang_algo gather_algo(const char *name);
bool gather_valid(const struct gather *g, u32 nodes);
int gather_run(struct env *e, struct gather *g, struct result *r);
int traffic_run(struct env *e, struct traffic *c, struct result *r);
u64 traffic_identity(u32 rank, u32 count);
u32 traffic_bytes(const struct traffic *c, u64 identity);
double traffic_flits(const struct traffic *c);
/* flit/flit_sim.c: traffic_run() on the flit engine; @s is freed. */
int flit_traffic(struct env *e, struct sim *s, const struct traffic *c,
		 struct result *r);

/* pattern.c */
int pattern_find(const char *name);
u64 pattern_draw(u64 *state);
u32 pattern_target(const struct sim *s, const struct traffic *c, u32 rank,
		   u32 count, u64 *rng);
u32 pattern_targets(const struct sim *s, u32 pattern, u32 rank, u32 *list);

/* Common functions of workloads. */
void work_begin(struct env *e, struct sim *s);
int work_trees(struct sim *s, u32 trees, u32 first_root, bool spread);
int work_trees_on(struct sim *s, u32 trees, u32 first_root, bool spread,
		  const struct angara_topo *block);
int work_trees_planned(struct sim *s, u32 trees, const struct angara_plan *plan);
u32 work_local(const struct sim *s);
int work_end(struct env *e, struct sim *s, struct result *r);
struct span work_now(void);
struct span work_since(const struct span *start);

#endif /* ANG_SIM_WORK_H */
