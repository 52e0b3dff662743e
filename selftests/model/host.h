/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A host for the device model.  It checks everything that the model does.
 *
 * Host memory consists of segments with gaps between them; a DMA access that is
 * not within one segment fails and is counted.  Trees come from libangara's
 * builder, so the model is tested with the library's trees.
 */
#ifndef TEST_HOST_H
#define TEST_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include "ang_int.h"
#include <angara/topo.h>
#include <linux/angara.h>

#define PKEY		0x1234U
#define MRS		8	/* entries of a memory region table */
#define BUF_KEY		0	/* region that ctx_buffer() registers */
#define SEGMENTS	2048	/* per node */

struct angara_fabric;

struct segment {
	u64 addr;
	u64 len;
	char *mem;
	int readonly;
};

struct host_node {
	struct segment seg[SEGMENTS];
	u32 nsegs;
	u64 next;		/* DMA address of the next new segment */
	struct angara_adm_cmd *asq;
	struct angara_adm_cpl *acq;
	struct angara_hw_event *aeq;
	u32 asq_pi;
	u32 acq_ci;
	u32 aeq_ci;
	u32 interrupts[ANG_MAX_CTXS + 1];
};

/* One context, as driver and process see it. */
struct tctx {
	struct host *h;
	u32 node;
	u32 id;
	u32 dom;
	int own_dom;
	u32 sq_n;
	u32 cq_n;
	u32 sq_pi;
	u32 cq_ci;
	struct angara_wqe *sq;
	struct angara_cqe *cq;
	struct angara_ctl *ctl;
	__le64 *ctr;
	struct angara_hw_mr *mrt;
	char *buf;		/* region BUF_KEY */
	u64 buf_len;
};

struct host {
	struct ang_cfg cfg;
	struct ang_fabric *fab;
	u64 fab_size;		/* bytes of its mapping, with the inaccessible pages */
	struct ang_view v;
	struct ang_ops ops;
	struct host_node *node;
	u32 nodes;
	u64 faults;		/* DMA outside of every segment */
	u64 dropped;		/* packets that the test expects to be dropped */
	FILE *trace;
	/*
	 * The twin: a separate fabric with the other nodes of the torus; see
	 * host_twins().
	 */
	struct host *twin;
	u64 here;		/* nodes that this fabric hosts, one bit each */
	int notified;		/* the model has work for a router of the
				 * twin */
	int dead;		/* abandoned: not run or checked any more */
	int (*pump)(struct host *h);
	void (*ending)(struct host *h);	/* called before the host is freed, or NULL */
};

#define ADM_ENTRIES	32
#define AEQ_ENTRIES	64

/*
 * Makes a fabric with all adapters enabled: a torus of "2x2x2", or a
 * description for ang_topo_read(); the rest of @cfg is used.
 */
struct host *host_new(const char *dims, const struct ang_cfg *cfg);
/* Faults of every link of a new fabric; none if their member what is 0. */
extern struct angara_adm_link host_faults;
extern const struct ang_cfg cfg_default;
extern const struct ang_cfg cfg_tight;	/* the smallest allowed value of each
					 * member */
/*
 * Makes two fabrics as host_new() does, which together host one torus of up to 64 nodes: the
 * returned fabric hosts @here, its twin the other nodes.  Functions that take
 * a node find its fabric.  @pump carries packets between the fabrics, and
 * returns whether it moved any.
 */
struct host *host_twins(const char *dims, const struct ang_cfg *cfg, u64 here,
			int (*pump)(struct host *h));
/*
 * Makes one of the two fabrics of host_twins(), without its twin, and does not
 * start it: no host has the other nodes.
 */
struct host *host_half(const char *dims, const struct ang_cfg *cfg, u64 here);
void host_start(struct host *h);
/* Carries packets both ways as long as there is room. */
int twins_pump(struct host *h);

/* Stops running and checking the twin. */
void host_abandon_twin(struct host *h);

/*
 * The node that programs and hosts a router: a switch's keeper, or a node
 * itself.
 */
u32 host_keeper(const struct host *h, u32 router);

static inline struct host *host_at(struct host *h, u32 router)
{
	return !h->twin || h->here >> host_keeper(h, router) & 1 ? h : h->twin;
}

/* Frees the host, and checks that the fabric is idle. */
void host_free(struct host *h);

void *host_alloc(struct host *h, u32 node, u64 len, u64 *addr);
/* Allocates @len bytes in scattered 4 KiB pages; @pages gets their addresses. */
void *host_alloc_pages(struct host *h, u32 node, u64 len, __le64 *pages);
int host_dma(struct host *h, u32 node, u64 addr, void *buf, u32 len, int write);

/* Runs the fabric until it is idle; fails the test if it never is. */
void host_run(struct host *h);
/* Runs @steps steps of nodes, or fewer if the fabric becomes idle. */
static inline void run_steps(struct ang_view *v, u32 steps)
{
	while (steps--)
		ang_run(v, 1);
}

/* Resets the step counts of views.  After some steps, a view fires timers early. */
void host_steps_reset(struct host *h);
void host_reg(struct host *h, u32 node, u32 off, u32 val);
/* Resets a node and enables it again, as a new driver does.  Its contexts end. */
void driver_new(struct host *h, u32 node);
/* Stops a node, as if another thread held it, or lets it continue. */
void host_freeze(struct host *h, u32 node, int on);
/* Frees the head of an incoming ring of a node. */
void host_pop(struct host *h, struct ang_node *n, u32 dir, u32 vc);
/*
 * Takes all packets for a remote node, as if they had been sent to its server.
 * Return: 1 if there were any.
 */
int host_drain(struct host *h, u32 node);
/* Prints the remaining state of a fabric that should be idle. */
void host_dump(struct host *h);
/* Checks that all payload buffers are free, all rings empty, and no node has work. */
void host_check_idle(struct host *h);

u32 adm(struct host *h, u32 node, const struct angara_adm_cmd *cmd,
	struct angara_adm_cpl *cpl);
u32 adm_op(struct host *h, u32 node, u32 opcode, u32 ctx, u32 tree);
/* @place: requested place plus 1; 0 for none */
u32 adm_join(struct host *h, u32 node, u32 ctx, u32 tree, u32 place);
u32 adm_row(struct host *h, u32 node, const struct angara_tree_row *row);
/* As adm_row(), for the contexts of one job only. */
u32 adm_job_row(struct host *h, u32 node, const struct angara_tree_row *row,
		u64 job);
/* Sets the faults in @link for @port of @router. */
u32 adm_link(struct host *h, u32 router, u32 port,
	     const struct angara_adm_link *link);
/* Return: a command that changes routes: ANGARA_ROUTE_ROW, USE or OWN. */
struct angara_adm_cmd adm_route_cmd(u32 what);
/* Gives node 0 all rows of the routes around failures of @plan, which has some. */
void adm_route_rows(struct host *h, const struct angara_fabric *plan);
u32 adm_counters_get(struct host *h, u32 node, u32 kind, u32 index, void *out,
		     u32 len);
/* Return: 1 and the next asynchronous event, or 0. */
int aeq_poll(struct host *h, u32 node, struct angara_hw_event *ev);

/*
 * Creates a domain with a table of @mrs entries, or replaces the table of a
 * domain by one that has the first @filled entries of the old one.
 */
struct angara_hw_mr *dom_new(struct host *h, u32 node, u32 dom, u32 pkey,
			     u64 job, u32 mrs);
struct angara_hw_mr *dom_table(struct host *h, u32 node, u32 dom, u32 mrs,
			       const struct angara_hw_mr *old, u32 filled);
/* Makes a context in domain @dom, whose table is @mrt. */
struct tctx *ctx_in(struct host *h, u32 node, u32 id, u32 dom,
		    struct angara_hw_mr *mrt, u32 sq_log2, u32 cq_log2);
/*
 * Makes a context in a domain of its own. The domain has the same number as the
 * context, and no job.
 */
struct tctx *ctx_new(struct host *h, u32 node, u32 id, u32 pkey, u32 sq_log2,
		     u32 cq_log2);
void ctx_del(struct tctx *c);
/* Registers @addr as region @key with @levels 0. */
void ctx_mr(struct tctx *c, u64 key, u64 addr, u64 len, u32 access);
/* Gives the context @len bytes of memory as region BUF_KEY. */
void ctx_buffer(struct tctx *c, u64 len);
u64 ctx_counter(const struct tctx *c, u32 index);
void ctx_counters(struct tctx *c, struct angara_hw_ctx_counters *out);

/* Operations that this thread has posted so far. */
extern _Thread_local u64 host_posted;
/* Puts an entry, and its inline payload, into the SQ. */
void post(struct tctx *c, const struct angara_wqe *w, const void *payload);
void post_bytes(struct tctx *c, const struct angara_wqe *w, const void *payload,
		u32 len);
void kick(struct tctx *c);
/* Return: 1 and the next completion, or 0. */
int poll_cq(struct tctx *c, struct angara_cqe *cqe);
/* Runs until quiet and takes exactly one completion. Return: its status. */
u32 finish(struct tctx *c, struct angara_cqe *cqe);
/* Posts one operation and finishes it. Return: its status. */
u32 status_of(struct tctx *c, struct angara_wqe w);

/*
 * Set the offset of the source or the destination of an entry, for any opcode.
 */
void wqe_src(struct angara_wqe *w, u64 off);
void wqe_dst(struct angara_wqe *w, u64 off);
struct angara_wqe wqe_p2p(u32 op, u32 node, u32 ctx, u64 src, u64 dst, u32 len);
struct angara_wqe wqe_coll(u32 op, u32 tree, u64 src, u64 dst, u32 len);

/* A receive buffer, as the process sees it. */
struct tarea {
	struct tctx *c;
	char *mem;
	u32 units;
	u32 ci;			/* next record to read */
	struct segment *seg;	/* segment of its first page */
};

/* Gives a context a receive buffer of 2^@log2 bytes. */
struct tarea *area_new(struct tctx *c, u32 log2);
/* Return: the next message, or NULL.  Adds the number of void messages to @voids. */
const struct angara_msg *area_next(struct tarea *a, u32 *voids);
/* Frees the message that area_next() returned, and kicks if needed. */
void area_free(struct tarea *a, const struct angara_msg *m);

/* A tree on a fabric with its participants. */
struct ttree {
	struct host *h;
	u32 tree;
	u32 root;
	u32 in_tree;		/* nodes */
	u32 n;			/* participants */
	struct tctx **ctx;
	u32 *place;		/* of each participant, among the participants of its node */
	u16 *pe;
	struct angara_tree_row *rows;
};

/* @place: place of each of @ctxs; NULL: they join in order, without places. */
struct ttree *tree_placed(struct host *h, u32 tree, u32 root, const u16 *pe,
			  struct tctx **ctxs, const u32 *place, u32 n, u32 epoch);
/* Makes a tree of @count given rows over all of @ctxs. */
struct ttree *tree_given(struct host *h, u32 tree, u32 root, const u16 *pe,
			 const struct angara_tree_row *rows, u32 count,
			 struct tctx **ctxs, u32 n, u32 epoch);
struct ttree *tree_new(struct host *h, u32 tree, u32 root, const u16 *pe,
		       struct tctx **ctxs, u32 n, u32 epoch);
void tree_del(struct ttree *t);
/* Makes a tree over the first pe[node] contexts of @all on each node. */
struct ttree *tree_over(struct host *h, u32 tree, u32 root, struct tctx **all,
			u32 nall, const u16 *pe, u32 epoch);

u64 rnd(u64 *state);

#endif /* TEST_HOST_H */
