/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara loopback: fabrics that the device model emulates in this kernel.
 *
 * Each node is an adapter (&struct ang_dev) of its own.  The thread that writes
 * a register or doorbell advances the fabric itself, within a budget; a worker
 * does the remaining work.  Advancing a node takes no lock: the model hands nodes
 * from one view to another.  Each worker has its own lists of nodes with remaining
 * work.
 *
 * Locks: loop_lock (main.c) protects the set of fabrics, loop_worker.lock the
 * lists of that worker; only one loop_worker.lock is held at a time.  Locks of
 * the core are taken under loop_lock, and loop_worker.lock under locks of the
 * core.
 */
#ifndef ANG_LOOP_H
#define ANG_LOOP_H

#include "../ang_dev.h"

#define LOOP_MAX_ROUTERS	4096U	/* most nodes and switches of a fabric */
#define LOOP_MAX_FABRICS	64U
/*
 * Budget of a slice, in units of work (ang_work.h); the scheduler runs between
 * slices.  A thread that has to be preempted runs on for at most
 * 2 * ang_work_bound() of this budget: for a doorbell and for one slice.  With the
 * configurations of make_cfg() this bound is half a million units, about half a
 * millisecond.
 */
#define LOOP_SLICE		16384U

/**
 * struct loop_worker - advances nodes that still have work when a caller stops
 * @fabric: fabric of the nodes
 * @work: the work item
 * @lock: protects @runq and @timers
 * @runq: nodes with work; under @lock
 * @timers: nodes with a credit timer; under @lock
 * @left: @runq is not empty; written under @lock, read without it
 * @slices: number of slices that the worker has run; only @work writes it
 * @taken: number of nodes taken from other workers; only @work writes it
 */
struct loop_worker {
	struct loop_fabric *fabric;
	struct work_struct work;
	raw_spinlock_t lock;
	struct ang_list runq;
	struct ang_list timers;
	bool left;
	u64 slices;
	u64 taken;
} ____cacheline_aligned_in_smp;

/**
 * struct loop_node - a node; constant
 * @fabric: fabric of the node
 * @adev: adapter of the node
 * @id: number of the node
 */
struct loop_node {
	struct loop_fabric *fabric;
	struct ang_dev *adev;
	u32 id;
};

/**
 * struct loop_fabric - a fabric
 * @dev: device on the bus angara_loop; its release frees the fabric
 * @cfg: configuration; constant
 * @id: number; constant
 * @num_nodes: number of nodes; constant
 * @num_workers: number of workers; constant
 * @mem: the model's memory
 * @node: array of nodes
 * @worker: array of workers
 * @idle: workers without work, one bit each; may be outdated
 */
struct loop_fabric {
	struct device dev;
	struct ang_cfg cfg;
	u32 id;
	u32 num_nodes;
	u32 num_workers;
	void *mem;
	struct loop_node *node;
	struct loop_worker *worker;
	unsigned long *idle;
};

/* Each file calls only files before it. */

/* view.c */
void loop_view_init(struct loop_fabric *fabric, struct ang_view *view);
void loop_view_refresh(struct ang_view *view);

/* worker.c */
void loop_hand_over(struct loop_fabric *fabric, struct ang_view *view);
void loop_workers_show(struct loop_fabric *fabric, struct seq_file *m);
int loop_workers_new(struct loop_fabric *fabric);
void loop_workers_free(struct loop_fabric *fabric);
void loop_workers_flush(struct loop_fabric *fabric);
int loop_wq_init(void);
void loop_wq_exit(void);

/* transport.c */
extern const struct ang_bus_ops loop_bus_ops;

/* fabric.c */
struct loop_fabric *loop_fabric_new(const struct ang_cfg *cfg, u32 id,
				    struct bus_type *bus);
void loop_fabric_delete(struct loop_fabric *fabric);
int loop_refuse(const char *text, const struct ang_topo_why *why);

#endif /* ANG_LOOP_H */
