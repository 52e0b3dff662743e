/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: its interface to a host.
 *
 * A fabric is one block of memory that the host provides.  It holds no
 * pointers, so processes may map it at different addresses.  A caller has a
 * view: the block, the host's operations and a queue of nodes that have work.
 * Any number of views may be used on a fabric at the same time, each by one
 * thread.  The model ensures that only one view at a time advances a node: that
 * view holds the node.
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
#define ANG_MAX_PLACES		64U	/* most contributors to a result */
#define ANG_MAX_CTXS		128U
#define ANG_NONE		0xFFFFFFFFU
#define ANG_MAX_TRAIN	64U
#define ANG_DEF_TREES	16U	/* default number of trees, as in document 000 */
#define ANG_REDUCE_TRAIN	8U	/* longest train of reductions */

/**
 * struct ang_cfg - size of a fabric
 * @topo: the topology from ang_topo_read()
 * @text: graph: the text that @topo was read from, needed only while the fabric
 *	is created; NULL for other kinds
 * @ctxs: contexts per node, 1..ANG_MAX_CTXS
 * @ops: most operations in flight per context, 1..64
 * @bufs: payload buffers per node, at least 8
 * @depth: packets that a link buffers per virtual channel, a power of two >= 4
 * @train: packets that travel together, a power of two up to ANG_MAX_TRAIN, at
 *	most ANG_REDUCE_TRAIN in reductions; counters count packets
 * @trees: trees per node, 1..ANGARA_MAX_TREES
 * @remote: 1: other processes run some nodes, see ang_remote_set(); else 0
 * @sealed: 1: no node may set faults of its links, since its links also carry
 *	packets of other nodes; else 0
 * @fault: initial faults of each link
 * @seed: together with the number of the port, seed of the random generator of
 *	a link's faults
 * @fabric_id: see angara_query
 * @mgmt_key: initial key of every router for in-band management, 0 for none
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
	u64 mgmt_key;
};

/* Events of trace records. */
#define ANG_TR_INJECT	0	/* packet enters the network */
#define ANG_TR_SEND	1	/* packet leaves on a link */
#define ANG_TR_EJECT	2	/* packet reaches a processing element */
#define ANG_TR_REDUCE	3	/* Reducer takes a packet */
#define ANG_TR_RESULT	4	/* Reducer issues a result */
#define ANG_TR_CREDIT	5	/* credits issued; without a port: to the PE */
#define ANG_TR_DROP	6	/* packet is dropped, status: ANGARA_DROP_* */
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
 * @npkts: number of packets in the train
 * @len: payload bytes
 * @seq: packet number in its operation or tree
 * @src: node that injected the packet
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
 * struct ang_aside - number of reductions of a tree that the host has executed
 * itself, see ang_aside.c
 * @ops: allreduces and barriers
 * @packets: packets that one contribution to each of them would take
 * @flits: flits of these packets
 * @bytes: bytes of these packets
 */
struct ang_aside {
	u64 ops;
	u64 packets;
	u64 flits;
	u64 bytes;
};

/**
 * struct ang_ops - operations that a host gives to the model
 * @dma_read: copy @len bytes from @node's host memory at @addr.  The range
 *	crosses a 4 KiB page only in regions with larger pages or without a list
 *	of pages, and in admin queues.  Return: 0 or -errno
 * @dma_write: copy to @node's host memory, else as @dma_read
 * @dma_store64: store one aligned little-endian word; all earlier writes are
 *	visible before it.  Return: 0 or -errno
 * @interrupt: raise vector ANGARA_VEC_*
 * @trace: receives each trace record; NULL: no records
 * @look: called with @node held, after ang_look(); NULL if unused
 * @remote: called when there is work for a remote node, see ang_remote_set(),
 *	but not again before the next ang_remote_look(); not needed without
 *	remote nodes
 * @aside: returns the number of reductions of a tree that the host has executed
 *	itself, counted from any time before the first ang_tree_aside(); not
 *	needed without that function
 *
 * Context: as the caller of ang_run().  An operation must not call the model,
 * except that @look may call ang_look_counters(), ang_look_tree() and
 * ang_look_ctx().
 */
struct ang_ops {
	int (*dma_read)(void *host, u32 node, u64 addr, void *buf, u32 len);
	int (*dma_write)(void *host, u32 node, u64 addr, const void *buf, u32 len);
	int (*dma_store64)(void *host, u32 node, u64 addr, u64 val);
	void (*interrupt)(void *host, u32 node, u32 vector);
	void (*trace)(void *host, const struct ang_trace *rec);
	void (*look)(struct ang_view *v, u32 node);
	void (*remote)(void *host, u32 node);
	void (*aside)(void *host, u32 root, u32 tree, struct ang_aside *a);
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
 * @host: argument for @ops
 * @topo: topology of @fab, with the table in the fabric's memory
 * @runq: nodes with work that this view will advance
 * @timers: nodes with a running timer, of credits or of links.  All timers
 *	expire when @runq is empty; else one timer expires every TIMER_STEPS
 *	steps
 * @patient: timers do not expire when @runq is empty: ang_run() returns, the
 *	host decides when they expire, and ang_view_busy() may stay true.  A
 *	reduction that needs credits gets them at once, see ang_reduce_room()
 * @packets: true: all operations use packets; false: some operations are
 *	executed without packets, see ang_express.c
 * @express: injected trains bypass links if their target is idle
 * @calm: number of small operations in a row, without other activity, after
 *	which the lanes of a node are opened to several threads, see ang_lane.c;
 *	0: never
 * @hop: held node that has the next turn, or NULL; see ang_hop.c
 * @climb: a neighbor that gets work from a packet becomes @hop
 * @small: number of small operations executed
 * @steps: number of steps
 * @work: units of work done, see ang_work.h
 * @stop: value of @work at which the current node stops
 * @turn: units of work that a node may do in one step
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
 * Return: number of nodes, without switches; 0 if @cfg is out of bounds.
 */
u32 ang_cfg_check(const struct ang_cfg *cfg);

/**
 * ang_fabric_size() - compute how much memory a fabric needs
 * @cfg: a configuration that ang_cfg_check() accepts
 *
 * Return: bytes.
 */
u64 ang_fabric_size(const struct ang_cfg *cfg);

/**
 * ang_fabric_init() - create a fabric in zeroed memory
 * @mem: ang_fabric_size() bytes, aligned to 64, all zero
 * @cfg: configuration
 * @why: out: description of an error in a graph
 *
 * Return: true; false if cfg.text describes no valid graph, which is detected
 * only when the table is filled.  Other kinds of topologies never fail.
 */
bool ang_fabric_init(void *mem, const struct ang_cfg *cfg,
		     struct ang_topo_why *why);

/**
 * ang_fabric_begin() - start to create a fabric in parts, for a host that
 * yields between the parts
 * @mem: see ang_fabric_init()
 * @cfg: see ang_fabric_init()
 * @why: see ang_fabric_init()
 *
 * Then call ang_fabric_add() for each router, in any order.
 * Return: as ang_fabric_init().
 */
bool ang_fabric_begin(void *mem, const struct ang_cfg *cfg,
		      struct ang_topo_why *why);
/** ang_fabric_add() - create one router of a fabric */
void ang_fabric_add(void *mem, u32 router);

void ang_view_init(struct ang_view *v, void *mem, const struct ang_ops *ops,
		   void *host);

/**
 * ang_reg_read() - read a register of a node
 * @v: view
 * @node: node
 * @off: offset in BAR 0
 *
 * Return: value; all ones if there is no register at @off.
 */
u32 ang_reg_read(struct ang_view *v, u32 node, u32 off);

/**
 * ang_reg_write() - write a register or doorbell of a node
 * @v: view; the node is put on its run queue if the write makes work
 * @node: node
 * @off: offset in BAR 0; if there is no register, the write is ignored
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
 * As ang_reg_write(), but this call may do the work of a doorbell at once, on
 * this node and on nodes that its packets reach: at most as much work as in one
 * step of a node.
 */
void ang_reg_ring(struct ang_view *v, u32 node, u32 off, u32 val);

/**
 * ang_reg_nudge() - ring the doorbell of a context in place of its process
 * @v: view
 * @node: node
 * @ctx: context
 * @life: life of the context, from ang_tree_look(); if the context was created
 *	again since then, the call has no effect
 * @pi: producer index: entries before @pi are complete
 *
 * An index that is older than that of the node has no effect, so a call after
 * the process has rung the doorbell does no harm.  Any thread may call this at
 * any time; ang_run() does the work.
 */
void ang_reg_nudge(struct ang_view *v, u32 node, u32 ctx, u16 life, u32 pi);

/** ang_wqe_places() - count the SQ places of an entry and its inline payload */
u32 ang_wqe_places(const struct angara_wqe *w);

/**
 * struct ang_tree_look - a row of a tree that is open, and its participants
 * @row: row
 * @life: life of the row
 * @root: router at the root
 * @ctx: contexts of the row.pe participants, by place
 * @ctx_life: life of each context
 */
struct ang_tree_look {
	struct angara_tree_row row;
	u32 life;
	u32 root;
	u16 ctx[ANGARA_MAX_LOCAL];
	u16 ctx_life[ANGARA_MAX_LOCAL];
};

/**
 * ang_tree_look() - read a row of a tree
 * @v: view; if the router gets work meanwhile, it is put on the view's run
 *	queue
 * @router: router
 * @tree: TreeId
 * @look: out: the row and its participants
 *
 * Return: true; false: the router is busy, the tree is not open there, or
 * participants are missing.
 */
bool ang_tree_look(struct ang_view *v, u32 router, u32 tree,
		   struct ang_tree_look *look);

/**
 * ang_tree_lives() - is a row up, still in the life that was looked up?
 * @fab: fabric
 * @router: router that exists
 * @tree: TreeId, in range
 * @life: from ang_tree_look()
 *
 * Any thread may call this at any time; the result may be outdated.
 */
bool ang_tree_lives(struct ang_fabric *fab, u32 router, u32 tree, u32 life);

/**
 * ang_links_down() - get the ports whose link is down, or leads to a lost node
 * @fab: fabric
 * @router: router that exists
 *
 * Any thread may call this at any time; the result may be outdated.
 *
 * Return: the ports, one bit each.
 */
u64 ang_links_down(struct ang_fabric *fab, u32 router);

/* ang_aside.c */
bool ang_tree_aside(struct ang_view *v, u32 router, u32 tree, u32 life, u32 hops);
void ang_tree_report(struct ang_view *v, u32 router, u32 tree);

/**
 * ang_run() - advance the nodes on a view's run queue
 * @v: view
 * @budget: units of work after which no further step begins, see ang_work.h; 1:
 *	a single step
 *
 * The work and its order do not depend on how the work is divided into calls.
 *
 * Return: units that were not used.  If 0, work may remain on the view's
 * queues: the caller has to call ang_run() again, or to pass the queues on with
 * ang_list_splice().
 */
u32 ang_run(struct ang_view *v, u32 budget);

/**
 * ang_work_piece() - bound the work between two checks of the budget
 * @cfg: configuration
 *
 * Return: units.
 */
u64 ang_work_piece(const struct ang_cfg *cfg);

/**
 * ang_work_bound() - bound the work of one call of ang_run()
 * @cfg: configuration
 * @budget: budget of the call
 *
 * Return: units; the bound does not hold after nodes have been lost.
 */
u64 ang_work_bound(const struct ang_cfg *cfg, u32 budget);

/**
 * ang_look() - request a call of ang_ops.look for a node
 * @v: view
 * @node: node
 *
 * The next view that holds the node makes the call; several requests may lead
 * to one call.
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
 * ang_look_counters() - read counters of a node, inside ang_ops.look
 * @v: view that ang_ops.look got
 * @node: node that ang_ops.look got
 * @kind: ANGARA_CNT_*
 * @index: number of the link, tree or context
 * @out: out: the counters
 *
 * Return: bytes of the structure that belongs to @kind; 0: there is no such
 * object.
 */
u32 ang_look_counters(struct ang_view *v, u32 node, u32 kind, u32 index,
		      union ang_counters *out);
/** Read the row of @tree, below cfg.trees, and the state of the tree. */
void ang_look_tree(struct ang_view *v, u32 node, u32 tree,
		   struct angara_tree_get *get);
/** Return: partition of a context, 0 if there is none. */
u32 ang_look_ctx(struct ang_view *v, u32 node, u32 ctx);

/** Is any node left on the view's queues? */
bool ang_view_busy(const struct ang_view *v);

/*
 * Move the first @count nodes of @from, or all if there are fewer, to the end of
 * @to.  The caller locks both lists.
 */
void ang_list_move(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, u32 count);
/** Move all nodes of @from to the end of @to.  The caller locks both lists. */
void ang_list_splice(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from);
/** Should ang_list_pick() move this node? */
typedef bool (*ang_want_fn)(const void *arg, u32 node);
/*
 * Move the nodes of @from for which @want returns true to the end of @to.
 */
void ang_list_pick(struct ang_fabric *fab, struct ang_list *to,
		   struct ang_list *from, ang_want_fn want, const void *arg);
/** As ang_list_pick(), for a list of timers (ang_view.timers). */
void ang_timers_pick(struct ang_fabric *fab, struct ang_list *to,
		     struct ang_list *from, ang_want_fn want, const void *arg);
/** As ang_list_splice(), for a list of timers (ang_view.timers). */
void ang_timers_splice(struct ang_fabric *fab, struct ang_list *to,
		       struct ang_list *from);

/*
 * Remote nodes are nodes that other processes run.  The block contains the
 * whole fabric, and the host transports the packets of links that lead to
 * another process.  A thread of the host holds each remote node permanently.
 * Only one thread at a time makes calls for a remote node, with a view; nodes
 * that get work are put on the run queue of that view.
 */
struct ang_pkt;

/**
 * ang_remote_set() - let another host run a router
 * @v: view of a fabric with cfg.remote that is not used yet
 * @node: node or switch; a switch belongs to the host of its keeper
 */
void ang_remote_set(struct ang_view *v, u32 node);

/**
 * ang_remote_look() - collect the work of a remote node
 * @v: view
 * @node: remote node
 *
 * After this call ang_remote_next() returns the rings with packets, and there
 * may be room for packets that ang_remote_give() has refused.
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
 * @data: out: payload of the packet, ang_pkt.len bytes; NULL if it has none
 *
 * Return: the packet, which stays until ang_remote_pop(); NULL if there is none.
 */
const struct ang_pkt *ang_remote_head(struct ang_view *v, u32 node, u32 dir,
				      u32 vc, const void **data);
void ang_remote_pop(struct ang_view *v, u32 node, u32 dir, u32 vc);

/**
 * ang_remote_flaw() - check a packet that a peer sends in the name of a remote node
 * @v: view
 * @node: remote node or switch that sends the packet; any value
 * @dir: link of that node; any value
 * @vc: virtual channel; any value
 * @p: packet from an untrusted peer; @p->buf is ignored
 * @len: bytes of payload that came with the packet
 *
 * Return: NULL if it is valid; else a description of the error.
 */
const char *ang_remote_flaw(struct ang_view *v, u32 node, u32 dir, u32 vc,
			    const struct ang_pkt *p, u32 len);

/**
 * ang_remote_give() - put a packet of a remote node on the link to its local
 * neighbour
 * @v: view
 * @node: remote node
 * @dir: link of that node
 * @vc: virtual channel
 * @p: packet that ang_remote_flaw() accepts
 * @data: payload of the packet, NULL for none
 *
 * Return: false if there is no room: try again after the next call of
 * ang_ops.remote for the node.
 */
bool ang_remote_give(struct ang_view *v, u32 node, u32 dir, u32 vc,
		     const struct ang_pkt *p, const void *data);

/**
 * ang_remote_mgmt_flaw() - as ang_remote_flaw(), for a management packet
 * @v: view
 * @node: remote node or switch that sends the packet; any value
 * @dir: link of that node; any value
 * @p: packet from an untrusted peer
 *
 * Return: NULL if it is valid; else a description of the error.
 */
const char *ang_remote_mgmt_flaw(struct ang_view *v, u32 node, u32 dir,
				 const struct angara_mgmt *p);

/**
 * ang_remote_mgmt_give() - put a management packet of a remote node on the link
 * to its local neighbour
 * @v: view
 * @node: remote node
 * @dir: link of that node
 * @p: packet that ang_remote_mgmt_flaw() accepts
 *
 * Return: true; false if there was no room, so the packet is dropped.
 */
bool ang_remote_mgmt_give(struct ang_view *v, u32 node, u32 dir,
			  const struct angara_mgmt *p);

/**
 * ang_remote_mgmt_take() - take the oldest management packet for a remote node
 * @v: view
 * @node: remote node
 * @dir: link of that node
 * @p: out: the packet
 *
 * Return: true; false if there is no packet.
 */
bool ang_remote_mgmt_take(struct ang_view *v, u32 node, u32 dir,
			  struct angara_mgmt *p);

/**
 * ang_remote_lost() - report that remote nodes were lost with their host
 * @v: view
 * @nodes: the nodes
 * @count: number of nodes
 *
 * Ends all operations and trees that need these nodes.  The host still has to
 * empty the rings of these nodes.
 */
void ang_remote_lost(struct ang_view *v, const u32 *nodes, u32 count);

/**
 * ang_remote_settled() - has every node that this host runs ended all
 * operations that need lost nodes?
 * @v: view
 *
 * Disabled nodes do not count.
 */
bool ang_remote_settled(struct ang_view *v);

/**
 * ang_remote_back() - another host runs lost nodes again
 * @v: view
 * @nodes: nodes that ang_remote_lost() was called for
 * @count: number of nodes
 * @era: new value of ang_fabric.lost, see ang_lost.c: later than the era of
 *	every host, and the same in all hosts
 *
 * Call this when ang_remote_settled() returns true and the links to the nodes
 * are empty, and not at the same time as ang_remote_lost().  The new host must
 * not pass packets on before all hosts of the fabric have made this call.
 */
void ang_remote_back(struct ang_view *v, const u32 *nodes, u32 count, u32 era);

/**
 * ang_remote_join() - join a running fabric, as the new host of lost nodes
 * @v: view of a fabric that is not used yet
 * @era: the era that the other hosts pass to ang_remote_back()
 *
 * Before this call, report nodes that have no host by ang_remote_lost().
 */
void ang_remote_join(struct ang_view *v, u32 era);

/*
 * Recovery after a thread has ended inside ang_run() or ang_reg_write(), for
 * example because its process was killed.  During recovery no other thread of
 * the host may call the model, and the lists of all views become invalid.  Make
 * the calls in the following order.  If the calling thread ends before the last
 * call, another thread repeats all of them.  Fabrics with cfg.remote cannot be
 * recovered.
 *
 * If the thread was only stopped and may continue later, ang_recover_fence()
 * and ang_recover_copy() leave the block to that thread: all other threads use
 * the copy, with new views.  The stopped thread leaves the model at the end of
 * its step; then the lists of its view are invalid, too.
 */

/** ang_recover_fence() - take all nodes that a stopped thread does not hold */
void ang_recover_fence(struct ang_fabric *fab);
/** ang_recover_copy() - copy fabric @from to @to, ang_fabric_size() bytes */
void ang_recover_copy(void *to, const struct ang_fabric *from);

/**
 * ang_recover_find() - mark all held nodes as torn: they may be in any state
 * @fab: fabric
 *
 * Return: number of torn nodes.
 */
u32 ang_recover_find(struct ang_fabric *fab);
/** ang_recover_mark() - mark one more node as torn */
void ang_recover_mark(struct ang_fabric *fab, u32 node);
/** ang_recover_torn() - is a node marked as torn? */
bool ang_recover_torn(struct ang_fabric *fab, u32 node);
/**
 * ang_recover() - reset torn nodes, and repair everything that refers to them
 * @v: an empty view; afterwards all nodes are on its lists
 *
 * Torn nodes are disabled, like new nodes.  Operations with a torn node end
 * with ANGARA_ST_UNREACHABLE, and trees through a torn node go down; both
 * report the node.
 */
void ang_recover(struct ang_view *v);

/** Return: bytes of an element of @type (ANGARA_TYPE_*), which is in range. */
u32 ang_type_size(u32 type);

/**
 * ang_reduction_size() - check a reduction, and get the size of its elements
 * @type: ANGARA_TYPE_*, or any other value
 * @redop: ANGARA_RED_*, or any other value
 *
 * Return: bytes of an element; 0 if @type or @redop is out of range, or @redop
 * does not apply to @type.
 */
u32 ang_reduction_size(u32 type, u32 redop);

/* Software reductions of a host use this function, too. */
void ang_combine(void *acc, const void *in, u32 len, u32 type, u32 redop);

static inline bool ang_reduction_valid(u32 type, u32 redop)
{
	return ang_reduction_size(type, redop) != 0;
}

/** Does an atomic operation (ANGARA_ATOMIC_*) apply to elements of @type? */
bool ang_atomic_valid(u32 aop, u32 type);

/* Trees. */

/**
 * ang_tree_row_check() - check the rules that a single row can break
 * @topo: fabric
 * @router: node or switch
 * @row: row of that router
 *
 * Return: ANGARA_TREE_RULE_* that is broken, or 0.
 */
u32 ang_tree_row_check(const struct ang_topo *topo, u32 router,
		       const struct angara_tree_row *row);

/** ang_tree_row_in() - convert a row from the device's format */
void ang_tree_row_in(struct angara_tree_row *row, const struct angara_hw_row *hw);

/**
 * ang_tree_row_flaw() - as ang_tree_row_check(), with a description
 * @topo: fabric
 * @router: node or switch
 * @row: row of that router
 * @flaw: out: text that names the wrong field and the reason; NULL if the row
 *	is valid
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
 * @count: out: number of routers in the tree
 *
 * Return: ANGARA_TREE_RULE_* that is broken, or 0.
 */
u32 ang_tree_check(const struct ang_topo *topo,
		   const struct angara_tree_row *rows, u32 *bad, u32 *count);

#endif /* ANG_MODEL_H */
