/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: its interface to a host.
 *
 * A fabric is one block of memory given by the host; it holds no pointers, so
 * that processes may map it at different addresses.  A caller has a view: the
 * block, the host's operations and a queue of nodes that have work.  Any number
 * of views may be used at the same time on one fabric, one thread each.  A node
 * is advanced by one view at a time; the model ensures that.
 */
#ifndef ANG_MODEL_H
#define ANG_MODEL_H

#include "ang_env.h"
#include <linux/angara.h>
#include "ang_hw.h"
#include "ang_work.h"
#include "ang_topo.h"
#include "ang_fault.h"

/* A router of a torus has two ports per dimension d: 2 * d is "+", 2 * d + 1 is "-". */
#define ANG_MAX_DIMS		4
#define ANG_MAX_DIRS		(2 * ANG_MAX_DIMS)
#define ANG_MAX_NODES		ANG_TOPO_NODES
#define ANG_MAX_PORTS		ANG_TOPO_PORTS
#define ANG_MAX_PLACES		64U	/* participants and children that a Reducer combines */
#define ANG_MAX_CTXS		128U
#define ANG_NONE		0xFFFFFFFFU
#define ANG_MAX_TRAIN	64U
#define ANG_DEF_TREES	16U	/* default: as in the adapter of document 000 */
#define ANG_REDUCE_TRAIN	8U	/* longest train of reductions */

/**
 * struct ang_cfg - size of a fabric
 * @topo: the topology, as ang_topo_read() returns it
 * @text: graph: the text that @topo was read from, needed while the fabric is
 *	made; other kinds need none
 * @ctxs: contexts per node, 1..ANG_MAX_CTXS
 * @ops: operations in flight per context, 1..64
 * @bufs: payload buffers per node, at least 8
 * @depth: packets that a link buffers per virtual channel, a power of two >= 4
 * @train: packets that travel together, a power of two up to ANG_MAX_TRAIN, at
 *	most ANG_REDUCE_TRAIN in reductions; counters count packets
 * @trees: trees per node, 1..ANGARA_MAX_TREES
 * @remote: 1: other processes play some nodes, see ang_remote_set(); else 0
 * @sealed: 1: no node may set faults of its links, since these also carry
 *	packets of others; else 0
 * @fault: initial faults of each link
 * @seed: seed of their generators, together with the number of the port
 * @fabric_id: see angara_query
 */
struct ang_cfg {
	struct ang_topo topo;
	const char *text;
	u16 ctxs;
	u16 ops;
	u16 bufs;
	u16 depth;
	u16 train;
	u16 trees;
	u16 remote;
	u16 sealed;
	struct ang_fault fault;
	u64 seed;
	u64 fabric_id;
};

/* Events of trace records. */
#define ANG_TR_INJECT	0	/* packet enters the network */
#define ANG_TR_SEND	1	/* packet leaves on a link */
#define ANG_TR_EJECT	2	/* packet reaches a processing element */
#define ANG_TR_REDUCE	3	/* Reducer took a packet */
#define ANG_TR_RESULT	4	/* Reducer gave a result */
#define ANG_TR_CREDIT	5	/* credit packet issued; port ANGARA_PORT_NONE: to PE */
#define ANG_TR_DROP	6	/* packet dropped, status: ANGARA_DROP_* */
#define ANG_TR_NUM	7

/**
 * struct ang_trace - one trace record
 * @cycle: clock of the node
 * @node: node or switch of the event
 * @event: ANG_TR_*
 * @type: type of the packet, ANG_PKT_*
 * @port: port of a SEND, else ANGARA_PORT_NONE
 * @vc: virtual channel of a SEND
 * @tree: tree of a collective packet
 * @status: see @event
 * @npkts: packets in the train
 * @len: payload bytes
 * @seq: packet number in its operation or tree
 * @src: node that injected it
 */
struct ang_trace {
	u64 cycle;
	u32 node;
	u8 event;
	u8 type;
	u8 port;
	u8 vc;
	u8 tree;
	u8 status;
	u16 npkts;
	u32 len;
	u32 seq;
	u32 src;
};

struct ang_view;
struct ang_node;

/**
 * struct ang_ops - operations that a host gives to the model
 * @dma_read: copy @len bytes from @node's host memory at @addr; it crosses
 *	pages only if the driver named larger pages or none, or placed its admin
 *	queues so.  Return: 0 or -errno
 * @dma_write: likewise, to the host's memory
 * @dma_store64: store one aligned little-endian word; all earlier writes are
 *	visible before it.  Return: 0 or -errno
 * @interrupt: raise vector ANGARA_VEC_*
 * @trace: take a trace record, or NULL
 * @look: @node is held, as ang_look() asked for; NULL if unused
 * @remote: there is work for a node that ang_remote_set() named; called once
 *	until the next ang_remote_look(); not needed without such nodes
 *
 * Context: that of the caller of ang_run().  They must not call the model,
 * except that @look may call ang_look_counters() and similar functions.
 */
struct ang_ops {
	int (*dma_read)(void *host, u32 node, u64 addr, void *buf, u32 len);
	int (*dma_write)(void *host, u32 node, u64 addr, const void *buf, u32 len);
	int (*dma_store64)(void *host, u32 node, u64 addr, u64 val);
	void (*interrupt)(void *host, u32 node, u32 vector);
	void (*trace)(void *host, const struct ang_trace *rec);
	void (*look)(struct ang_view *v, u32 node);
	void (*remote)(void *host, u32 node);
};

/**
 * struct ang_list - queue of nodes, linked through the nodes themselves
 * @head: first node or ANG_NONE
 * @tail: last node
 */
struct ang_list {
	u32 head;
	u32 tail;
};

/**
 * struct ang_view - a caller's handle on a fabric
 * @fab: the fabric
 * @ops: operations of the host
 * @host: handed to @ops
 * @topo: its topology, with the table in the fabric's memory
 * @runq: nodes with work that this view is going to advance
 * @timers: nodes with a credit timer; fired when @runq is empty, and one at a
 *	time at intervals while it is not
 * @patient: do not fire timers when @runq is empty: ang_run() returns, the host
 *	decides when to fire them, and ang_view_busy() may stay true.  A node
 *	that is found to wait for credits gets them at once
 * @packets: all operations use packets; false: see ang_express.c for those that
 *	do not
 * @express: injected trains do without links, if their target can be taken
 * @calm: small operations of a node in a row after which several threads may be
 *	in it at once, see ang_lane.c; 0: it opens no node for that
 * @hop: held node that has the next turn, or NULL; see ang_hop.c
 * @climb: a neighbor that gets work becomes @hop
 * @small: small operations carried out
 * @steps: steps made
 * @work: units of work done, see ang_work.h
 * @stop: value of @work at which the current node stops
 * @turn: units that a node may do before others have their turn
 */
struct ang_view {
	struct ang_fabric *fab;
	const struct ang_ops *ops;
	void *host;
	struct ang_topo topo;
	struct ang_list runq;
	struct ang_list timers;
	bool patient;
	bool packets;
	bool express;
	struct ang_node *hop;
	bool climb;
	u32 calm;
	u32 small;
	u32 steps;
	u32 turn;
	u64 work;
	u64 stop;
};

/**
 * ang_cfg_check() - is a configuration within bounds?
 * @cfg: configuration
 *
 * Return: number of nodes, or 0 if it is not; switches are not among them.
 */
u32 ang_cfg_check(const struct ang_cfg *cfg);

/**
 * ang_fabric_size() - memory that a fabric needs
 * @cfg: a configuration that ang_cfg_check() accepts
 *
 * Return: bytes.
 */
u64 ang_fabric_size(const struct ang_cfg *cfg);

/**
 * ang_fabric_init() - make a fabric in zeroed memory
 * @mem: ang_fabric_size() bytes, aligned to 64, all zero
 * @cfg: configuration
 * @why: out: description of an error in a graph
 *
 * Return: false if cfg.text describes no fabric, which is found only when its
 * table is filled; other kinds never fail.
 */
bool ang_fabric_init(void *mem, const struct ang_cfg *cfg,
		     struct ang_topo_why *why);

/**
 * ang_fabric_begin() - ang_fabric_init() in parts, for a host that yields between them
 * @mem: see ang_fabric_init()
 * @cfg: see there
 * @why: see there
 *
 * The fabric is made after ang_fabric_add() for each router, in any order.
 * Return: as ang_fabric_init().
 */
bool ang_fabric_begin(void *mem, const struct ang_cfg *cfg,
		      struct ang_topo_why *why);
/** ang_fabric_add() - make a router of a fabric */
void ang_fabric_add(void *mem, u32 router);

void ang_view_init(struct ang_view *v, void *mem, const struct ang_ops *ops,
		   void *host);

/**
 * ang_reg_read() - read a register of a node
 * @v: view
 * @node: node
 * @off: offset in BAR 0
 *
 * Return: value; all ones if there is no register.
 */
u32 ang_reg_read(struct ang_view *v, u32 node, u32 off);

/**
 * ang_reg_write() - write a register or doorbell of a node
 * @v: view; a node that has work now is put on its run queue
 * @node: node
 * @off: offset in BAR 0; a write without a register there is ignored
 * @val: value
 *
 * Any thread may write at any time; ang_run() does the work.
 */
void ang_reg_write(struct ang_view *v, u32 node, u32 off, u32 val);

/**
 * ang_reg_ring() - write a register, for a caller that calls ang_run() next
 * @v: view
 * @node: node
 * @off: as for ang_reg_write()
 * @val: value
 *
 * As ang_reg_write(), but the work of a doorbell may be done at once, by this
 * node and those that its packets reach: at most as much as in one step of a
 * node.
 */
void ang_reg_ring(struct ang_view *v, u32 node, u32 off, u32 val);

/**
 * ang_reg_nudge() - ring the doorbell of a context in place of its process
 * @v: view
 * @node: node
 * @ctx: context
 * @life: its incarnation, from ang_tree_look(); in another one this has no effect
 * @pi: producer index: entries up to it are in the queue for good
 *
 * An index that is older than one that the node knows has no effect, so this
 * may come late.  Any thread may call this at any time; ang_run() does the work.
 */
void ang_reg_nudge(struct ang_view *v, u32 node, u32 ctx, u16 life, u32 pi);

/** ang_wqe_places() - how many places of the SQ an entry takes, with its payload */
u32 ang_wqe_places(const struct angara_wqe *w);

/**
 * struct ang_tree_look - a row of a tree that is open, and its participants
 * @row: row
 * @life: life of the row
 * @root: router at the root
 * @ctx: context of each participant, by place; row.pe of them
 * @ctx_life: incarnation of each
 */
struct ang_tree_look {
	struct angara_tree_row row;
	u32 life;
	u32 root;
	u16 ctx[ANGARA_MAX_LOCAL];
	u16 ctx_life[ANGARA_MAX_LOCAL];
};

/**
 * ang_tree_look() - look at a row of a tree
 * @v: view; a router that has work meanwhile is put on its run queue
 * @router: router
 * @tree: TreeId
 * @look: out
 *
 * Return: false: the router is busy, the tree is not open there, or
 * participants are missing.
 */
bool ang_tree_look(struct ang_view *v, u32 router, u32 tree,
		   struct ang_tree_look *look);

/**
 * ang_tree_lives() - is a row up, in this life?
 * @fab: fabric
 * @router: router that exists
 * @tree: TreeId, in range
 * @life: from ang_tree_look()
 *
 * Any thread may ask at any time; the answer may be old.
 */
bool ang_tree_lives(struct ang_fabric *fab, u32 router, u32 tree, u32 life);

/**
 * ang_run() - advance the nodes on a view's run queue
 * @v: view
 * @budget: units of work after which no other step begins, see ang_work.h; with
 *	1 it makes one step
 *
 * How work is divided into calls changes neither the work nor its order.
 *
 * Return: units left over: 0 if work may remain on the view's queues, which
 * the caller then runs again or hands on with ang_list_splice().
 */
u32 ang_run(struct ang_view *v, u32 budget);

/**
 * ang_work_piece() - bound of the work between two checks of the budget
 * @cfg: configuration
 *
 * Return: units.
 */
u64 ang_work_piece(const struct ang_cfg *cfg);

/**
 * ang_work_bound() - bound of the work of one call of ang_run()
 * @cfg: configuration
 * @budget: of the call
 *
 * Return: units, if no node has been lost.
 */
u64 ang_work_bound(const struct ang_cfg *cfg, u32 budget);

/**
 * ang_look() - let the next holder of a node inspect it
 * @v: view
 * @node: node
 *
 * ang_ops.look is called for it, once for several requests at a time.
 */
void ang_look(struct ang_view *v, u32 node);

/** Counters, as ANGARA_ADM_COUNTERS reads them. */
union ang_counters {
	struct angara_hw_node_counters node;
	struct angara_hw_link_counters link;
	struct angara_hw_tree_counters tree;
	struct angara_hw_ctx_counters ctx;
};

/**
 * ang_look_counters() - read counters of a node that is being inspected
 * @v: view that ang_ops.look was given
 * @node: node that it was given
 * @kind: ANGARA_CNT_*
 * @index: which link, tree or context
 * @out: out
 *
 * Return: bytes of the structure that belongs to @kind; 0: there is no such
 * object.
 */
u32 ang_look_counters(struct ang_view *v, u32 node, u32 kind, u32 index,
		      union ang_counters *out);
/** Read the row of @tree < cfg.trees, with state, members and down_node. */
void ang_look_tree(struct ang_view *v, u32 node, u32 tree,
		   struct angara_tree_get *get);
/** Return: partition of a context, 0 if there is none. */
u32 ang_look_ctx(struct ang_view *v, u32 node, u32 ctx);

/** Is any node left on the view's queues? */
bool ang_view_busy(const struct ang_view *v);

/*
 * Move the first @count nodes of @from, or all, to the end of @to; the caller
 * locks.
 */
void ang_list_move(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, u32 count);
/** Append the nodes of @from to @to and empty @from; the caller locks. */
void ang_list_splice(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from);
/** Does the caller of ang_list_pick() want this node? */
typedef bool (*ang_want_fn)(const void *arg, u32 node);
/*
 * Append to @to the nodes of @from for which @want is true; the others stay.
 */
void ang_list_pick(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, ang_want_fn want, const void *arg);
/** As ang_list_pick(), for a list of credit timers. */
void ang_timers_pick(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from, ang_want_fn want, const void *arg);
/** As ang_list_splice(), for a list of credit timers. */
void ang_timers_splice(struct ang_fabric *fab, struct ang_list *to,
		       struct ang_list *from);

/*
 * Nodes that are played elsewhere: the block holds the whole fabric, and if a
 * link leads to another process the host carries its packets.  A thread of the
 * host holds such a node permanently; all calls for one node come from one
 * thread at a time, with a view; nodes that get work are put on its run queue.
 */
struct ang_pkt;

/**
 * ang_remote_set() - let another host play a router
 * @v: view of a fabric with cfg.remote that is not used yet
 * @node: node or switch; a switch is played by the host of its keeper
 */
void ang_remote_set(struct ang_view *v, u32 node);

/**
 * ang_remote_look() - collect the work of a remote node
 * @v: view
 * @node: remote node
 *
 * Then ang_remote_next() returns the rings with packets; packets that
 * ang_remote_give() refused may have room now.
 */
void ang_remote_look(struct ang_view *v, u32 node);

/**
 * ang_remote_next() - find the next ring of a remote node that holds packets
 * @v: view
 * @node: remote node
 * @from: first ring to consider
 *
 * Return: dir * ANGARA_VC_NUM + vc, at least @from; ANG_NONE if there is none.
 */
u32 ang_remote_next(struct ang_view *v, u32 node, u32 from);

/**
 * ang_remote_head() - get the oldest packet in a remote node's ring
 * @v: view
 * @node: remote node
 * @dir: link of that node
 * @vc: virtual channel
 * @data: out: its payload, @len of the packet; NULL if it has none
 *
 * Return: the packet, which stays until ang_remote_pop(); NULL if there is none.
 */
const struct ang_pkt *ang_remote_head(struct ang_view *v, u32 node, u32 dir,
				      u32 vc, const void **data);
void ang_remote_pop(struct ang_view *v, u32 node, u32 dir, u32 vc);

/**
 * ang_remote_flaw() - check a packet that a peer sends in the name of a remote node
 * @v: view
 * @node: remote node or switch that sends it; any value
 * @dir: link of that node; any value
 * @vc: virtual channel; any value
 * @p: packet of a peer that is not trusted; @p->buf is ignored
 * @len: bytes of payload that came with it
 *
 * Return: NULL if it is valid; else a description of the error.
 */
const char *ang_remote_flaw(struct ang_view *v, u32 node, u32 dir, u32 vc,
			    const struct ang_pkt *p, u32 len);

/**
 * ang_remote_give() - put a packet of a remote node on the link to its
 * neighbour here
 * @v: view
 * @node: remote node
 * @dir: link of that node
 * @vc: virtual channel
 * @p: packet without a flaw
 * @data: its payload, NULL for none
 *
 * Return: false if it has to wait until @remote is called for the node.
 */
bool ang_remote_give(struct ang_view *v, u32 node, u32 dir, u32 vc,
		     const struct ang_pkt *p, const void *data);

/**
 * ang_remote_lost() - report that remote nodes were lost with their host
 * @v: view
 * @nodes: the nodes
 * @count: number of nodes
 *
 * Ends all operations and trees that need them.  Their rings continue to fill
 * and have to be emptied.
 */
void ang_remote_lost(struct ang_view *v, const u32 *nodes, u32 count);

/*
 * Recovery after a thread has ended inside ang_run() or ang_reg_write(), for
 * example because its process was killed.  The host has no other thread call
 * the model meanwhile, and forgets the lists of all views.  Calls are made in
 * this order; if the calling thread ends before the last one, another thread
 * repeats them all.  Not for fabrics with cfg.remote.
 *
 * If a stopped thread may continue later, the first two calls leave the block
 * to it: all other threads use the copy, with new views.  The thread stops at
 * the end of its step; the lists of its view are then invalid.
 */

/** ang_recover_fence() - confine a thread to the nodes that it holds */
void ang_recover_fence(struct ang_fabric *fab);
/** ang_recover_copy() - make @to, ang_fabric_size() bytes, a copy of @from */
void ang_recover_copy(void *to, const struct ang_fabric *from);

/**
 * ang_recover_find() - mark the nodes that are held as torn
 * @fab: fabric
 *
 * Return: number of torn nodes.
 */
u32 ang_recover_find(struct ang_fabric *fab);
/** ang_recover_mark() - mark one more node, for a reason of the host */
void ang_recover_mark(struct ang_fabric *fab, u32 node);
/** ang_recover_torn() - is a node marked as torn? */
bool ang_recover_torn(struct ang_fabric *fab, u32 node);
/**
 * ang_recover() - reset torn nodes, and repair everything that refers to them
 * @v: an empty view; afterwards all nodes are on its lists
 *
 * Torn nodes are disabled, like new ones.  Operations with them end with
 * ANGARA_ST_UNREACHABLE, trees through them go down; both name the node.
 */
void ang_recover(struct ang_view *v);

/** Return: bytes of an element of @type (ANGARA_TYPE_*), which is in range. */
u32 ang_type_size(u32 type);

/**
 * ang_reduction_size() - is there such a reduction?
 * @type: ANGARA_TYPE_*, or any other value
 * @redop: ANGARA_RED_*, or any other value
 *
 * Return: bytes of an element; 0 if one is out of range, or @redop does
 * not apply to @type.
 */
u32 ang_reduction_size(u32 type, u32 redop);

/* Software reductions use the same function. */
void ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop);

static inline bool ang_reduction_valid(u32 type, u32 redop)
{
	return ang_reduction_size(type, redop) != 0;
}

/** Does an atomic operation (ANGARA_ATOMIC_*) apply to elements of @type? */
bool ang_atomic_valid(u32 aop, u32 type);

/* Trees. */

/**
 * ang_tree_row_check() - check the rules for a single row
 * @topo: fabric
 * @router: node or switch
 * @row: row of it
 *
 * Return: ANGARA_TREE_RULE_* that is broken, or 0.
 */
u32 ang_tree_row_check(const struct ang_topo *topo, u32 router,
		       const struct angara_tree_row *row);

/**
 * ang_tree_row_flaw() - as ang_tree_row_check(), with a description
 * @topo: fabric
 * @router: node or switch
 * @row: row of it
 * @flaw: out: text that names the wrong field, and why; NULL if there is none
 *
 * Return: as ang_tree_row_check().
 */
u32 ang_tree_row_flaw(const struct ang_topo *topo, u32 router,
		      const struct angara_tree_row *row, const char **flaw);

/**
 * ang_tree_check() - check the rules of a whole tree
 * @topo: fabric
 * @rows: row of each router; the row of a router outside of the tree has
 *	neither is_root nor to_root (ANGARA_PORT_NONE)
 * @bad: out: a router that breaks the rule
 * @count: out: routers in the tree
 *
 * Return: ANGARA_TREE_RULE_* that is broken, or 0.
 */
u32 ang_tree_check(const struct ang_topo *topo,
		   const struct angara_tree_row *rows, u32 *bad, u32 *count);

#endif /* ANG_MODEL_H */
