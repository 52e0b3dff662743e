/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: the inside of a fabric.
 *
 * Only these threads may access a part of it:
 *  - a node and all of its contents: the view that holds the node
 *    (ANG_SCHED_OWNED), except for the following;
 *  - members marked "(any thread)": any thread, atomically;
 *  - an idle context: the thread in its source lane, see ang_lane.c;
 *  - the producer side of an incoming ring: the holder of the neighbour;
 *  - reference counts of payload buffers: any holder of a reference.
 * The heads of ang_link.c and ang_sched.c explain memory order.
 */
#ifndef ANG_TYPES_H
#define ANG_TYPES_H

#include "ang_pkt.h"
#include "ang_area.h"
#include "ang_port.h"
#include "ang_lane.h"
#include "ang_mgmt.h"
#include "ang_tree.h"

/**
 * struct ang_outs - outputs to which a packet of a tree has not been copied yet
 * @links: ports, one bit each: the parent on VCUp, children on VCDown
 * @pe: the node's PE. It is served last, so children get the result before
 *	later packets that the participant sends down the tree
 * @valid: @links and @pe are computed
 */
struct ang_outs {
	u64 links;
	u8 pe;
	u8 valid;
};

/**
 * struct ang_ring - queue of packets that arrive over one link on one virtual
 * channel
 * @head: consumer index
 * @todo: consumer: outputs to which the packet at the head is not yet copied
 * @fence_head: @head when the consumer was fenced; see ang_recover.c
 * @tail: producer index
 * @put: producer: index after the packets that the link has taken.  Packets
 *	from @tail on are in flight: their places are the replay buffer of
 *	ang_retry.c.  Without faults it equals @tail
 * @waiting: the producer found no room; after the next pop the consumer wakes
 *	the producer
 * @fence_tail: @put when the producer was fenced
 * @pkt: cfg.depth packets
 */
struct ang_ring {
	u32 head ____cacheline_aligned;
	u32 fence_head;
	struct ang_outs todo;
	u32 tail ____cacheline_aligned;
	u32 put;
	u32 waiting;
	u32 fence_tail;
	struct ang_pkt pkt[] ____cacheline_aligned;
};

#define ANG_OP_FREE	0
#define ANG_OP_ACTIVE	1
#define ANG_OP_HELD	3	/* fetched, waits for ang_op.after */
#define ANG_OP_GHOST	2	/* its context was destroyed, see ang_send.c */

/* Progress of a message: ang_op.phase. */
#define ANG_SEND_START	0	/* its first train is not sent yet */
#define ANG_SEND_ASKED	1	/* its first train is in flight */
#define ANG_SEND_WAITS	2	/* refused; waits for a READY */
#define ANG_SEND_REST	3	/* accepted; other trains may be sent */

/**
 * struct ang_op - a pending operation of a context
 * @state: ANG_OP_*
 * @opcode: ANGARA_OP_*, a barrier as ANGARA_OP_ALLREDUCE
 * @flags: ANGARA_WQE_*
 * @tree: TreeId
 * @redop: reduction or atomic operation
 * @type: element type
 * @status: first error, ANGARA_ST_*
 * @poison: reductions: error to send instead of data, ANGARA_ST_*
 * @sent_all: all data is injected
 * @wqe_opcode: ANGARA_OP_* for the CQE
 * @receives: reductions: this context gets the result
 * @inl: the payload was inline in the SQ, and is kept in ang_inline() until it
 *	is sent
 * @phase: SEND: ANG_SEND_*
 * @turn: SEND: a READY has arrived for the message
 * @dst_ctx: see struct angara_wqe
 * @counter: user counter at the target; SEND: code
 * @gen: generation; answers of another generation are dropped
 * @next: next operation, plus 1: next in the tree's injection order while not
 *	@sent_all; SEND: next message to the same receiver
 * @life: SEND: life of the receiver's context that refused the message
 * @after: HELD: operations that have to end before this one starts, one bit
 *	each
 * @err_node: router at fault
 * @place: SEND: place in the receiver's buffer
 * @since: SEND: value of ang_node.refused when the message was first refused;
 *	0: it was not refused
 * @sent: bytes injected
 * @bytes: bytes done
 * @trains: point to point: number of trains injected and not answered
 * @seq: reductions: number of the first packet
 * @npkts: reductions: number of packets
 * @era: point to point: ang_fabric.lost when the operation started; a later
 *	loss of a link of its path ends the operation
 * @npkts_sent: collectives: packets injected
 * @npkts_done: collectives: packets received: of the result, or of the
 *	broadcast that the operation itself has sent
 * @dst_node: target
 * @len: bytes
 * @lkey: local region that is read
 * @sink_key: local region that is written: by GET, FETCH, and the result of a
 *	reduction; SEND: partition of the sender
 * @cookie: for the CQE
 * @rkey: key of the region at the target; SEND: job key of the sender
 * @roff: offset in that region; SEND: tag
 * @loff: offset in the region of @lkey
 * @sink_off: offset in the region of @sink_key; SEND: immediate word
 */
struct ang_op {
	u8 state;
	u8 opcode;
	u8 flags;
	u8 tree;
	u8 redop;
	u8 type;
	u8 status;
	u8 poison;
	u8 sent_all;
	u8 wqe_opcode;
	u8 receives;
	u8 inl;
	u8 phase;
	u8 turn;
	u16 dst_ctx;
	u16 counter;
	u16 gen;
	u16 next;
	u16 life;
	u64 after;
	u32 err_node;
	u32 place;
	u32 since;
	u32 sent;
	u32 bytes;
	u32 trains;
	u32 seq;
	union {
		u32 npkts;
		u32 era;
	};
	u32 npkts_sent;
	u32 npkts_done;
	u32 dst_node;
	u32 len;
	u32 lkey;
	u32 sink_key;
	u64 cookie;
	u64 rkey;
	u64 roff;
	u64 loff;
	u64 sink_off;
};

/* Fields from this offset on depend only on the queue entry. */
#define ANG_OP_ENTRY	offsetof(struct ang_op, dst_node)

static inline bool ang_op_is_p2p(const struct ang_op *op)
{
	return op->opcode < ANGARA_OP_BCAST || op->opcode > ANGARA_OP_BARRIER;
}

/**
 * struct ang_member - a context's part in a tree
 * @ops: pending operations, one bit each
 * @seq: number of the next reduce packet
 * @first: first operation in injection order, plus 1
 * @last: last operation in injection order, plus 1
 */
struct ang_member {
	u64 ops;
	u32 seq;
	u16 first;
	u16 last;
};

/**
 * struct ang_dom - a domain: memory regions, and the contexts that share them
 * @job: job key, 0 for none
 * @mrt: pages of the memory region table
 * @mrs: entries of that table
 * @pkey: partition; 0: there is no such domain
 * @ctxs: number of contexts
 *
 * Threads in lanes (ang_lane.c) read this structure.
 */
struct ang_dom {
	u64 job;
	struct ang_pages mrt;
	u32 mrs;
	u32 pkey;
	u32 ctxs;
};

/**
 * struct ang_ctx - a context
 * @ops_at: offset of the context's operations from its node, struct
 *	ang_op[cfg.ops]; @ops_at and @id never change
 * @id: number of the context
 * @db_sq: doorbell: SQ producer index (any thread)
 * @db_arm: doorbell: event sequence seen (any thread)
 * @db_armed: doorbell: an interrupt is requested (any thread)
 * @nudge: doorbell that other processes ring, see ang_reg_nudge() (any thread)
 * @life: number of the context's life, the time from creation to destruction;
 *	a new context of the same @id inherits all fields from @life to @waiting
 * @opgen: generation of the last operation
 * @wake: ang_msg_wake() may have work
 * @wait_at: group of @waiting that has the next turn
 * @ghosts: operations in state ANG_OP_GHOST, one bit each
 * @wait_words: words of @waiting that are not 0, one bit each
 * @waiting: groups of nodes with messages that this context has refused, one
 *	bit each; with remote nodes, its second half has the groups that are
 *	known to wait, see ang_msg.c
 * @alive: the context exists
 * @at: position at which ang_inject() continues; 0: at the next entry
 * @lane: a thread in a lane runs the context, and publishes its counters
 * @armed: an interrupt is requested
 * @dirty: counters to publish, ANG_DIRTY_*
 * @dom: number of its domain
 * @pkey: partition of @dom
 * @job: job key of @dom
 * @sq_log2: log2 of SQ entries
 * @cq_log2: log2 of CQ entries
 * @joined: trees, one bit each
 * @place: per joined tree, the context's place in ang_tree.places
 * @tree_tx: trees with data to inject, one bit each
 * @ctl: DMA address of struct angara_ctl
 * @ctr: DMA address of the counters
 * @sq: SQ pages
 * @cq: CQ pages
 * @sq_pi: SQ producer index
 * @sq_ci: SQ consumer index
 * @cq_pi: CQ producer index
 * @cq_ci: CQ consumer index as last read
 * @evseq: events so far
 * @seen: event sequence that the process has seen, valid with @armed
 * @nops: pending operations
 * @free: free operations, one bit each
 * @held: operations in state ANG_OP_HELD, one bit each
 * @due: operations of @held that may start now
 * @p2p_tx: point-to-point operations with data to inject, one bit each
 * @sends: messages in progress, one bit each
 * @area: receive buffer
 * @bcasts: broadcasts received, per tree
 * @rx_errors: trains of broadcasts that were not written, per tree
 * @rx_event: asynchronous event that reported a write error, plus 1; valid if
 *	@rx_reported
 * @rx_reported: an event has reported a write error
 * @user: user counters
 * @member: per tree, the context's part in the tree
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
 *
 * Any thread may access members marked "(any thread)".
 */
struct ang_ctx {
	u64 ops_at ____cacheline_aligned;
	u32 id;
	u32 db_sq;
	u32 db_arm;
	u32 db_armed;
	u64 nudge;
	u16 life;
	u16 opgen;
	u32 wake;
	u32 wait_at;
	u64 ghosts;
	u64 wait_words;
	u64 waiting[ANG_WAIT_GROUPS / 64];
	u8 alive;
	u8 at;
	u8 lane;
	u8 armed;
	u8 dirty;
	u16 dom;
	u32 pkey;
	u64 job;
	u8 sq_log2;
	u8 cq_log2;
	u64 joined;
	u64 tree_tx;
	u8 place[ANGARA_MAX_TREES];
	u64 ctl;
	u64 ctr;
	struct ang_pages sq;
	struct ang_pages cq;
	u32 sq_pi;
	u32 sq_ci;
	u32 cq_pi;
	u32 cq_ci;
	u32 evseq;
	u32 seen;
	u32 nops;
	u64 free;
	u64 held;
	u64 due;
	u64 p2p_tx;
	u64 sends;
	struct ang_area area;
	u64 bcasts[ANGARA_MAX_TREES];
	u64 rx_errors[ANGARA_MAX_TREES];
	u32 rx_event;
	u8 rx_reported;
	u64 user[ANGARA_CTR_USER_NUM];
	struct ang_member member[ANGARA_MAX_TREES];
	struct {
		u64 wqes, cqes, cqe_errors, tx_packets, tx_bytes, rx_packets,
		    rx_bytes, rx_errors, cq_full, interrupts, rx_msgs,
		    not_ready;
	} cnt;
};

/* Fields before this offset never change. */
#define ANG_CTX_STATE	offsetof(struct ang_ctx, db_sq)

#define ANG_DIRTY_EVENT	1
#define ANG_DIRTY_SQ	2

/* Purposes of payload buffers; see ang_link.c. */
#define ANG_BUF_REQ	0	/* puts and broadcasts that the node injects */
#define ANG_BUF_RSP	1	/* answers that the node injects */
#define ANG_BUF_RED	2	/* reductions that the node injects */
#define ANG_BUF_TREE(t)	(3U + (t)) /* reserved for the next packet of a tree */
#define ANG_BUF_KINDS	(3U + ANGARA_MAX_TREES)
#define ANG_TREE_BUFS	2	/* ANG_BUF_TREE buffers per tree */

#define ANG_MAX_LINK_BUFS	65536U /* most buffers of links per node */

#define ANG_CREDIT_DOWN	8	/* results per credit packet to the children */
#define ANG_CREDIT_PE	128	/* results, all trees, per credit packet to the PE */
#define ANG_CREDIT_TIME	4096	/* most cycles between credit packets to the PE */
/*
 * Cycles by which a busy node may exceed ANG_CREDIT_TIME.  Its clock adds up the
 * cycles of about eight blocks, which work in parallel in an adapter.
 */
#define ANG_CREDIT_BUSY	(7 * ANG_CREDIT_TIME)

#define ANG_FIFO_ROOT	0	/* packets that this root distributes */
#define ANG_FIFO_PE	1	/* packets that the PE injects */
#define ANG_FIFO_NUM	2
#define ANG_FIFO	16	/* packets */

/**
 * struct ang_fifo - a PEGroup FIFO
 * @head: consumer index
 * @tail: producer index
 * @todo: outputs to which the packet at the head is not yet copied
 * @pkt: packets
 */
struct ang_fifo {
	u32 head;
	u32 tail;
	struct ang_outs todo;
	struct ang_pkt pkt[ANG_FIFO];
};

struct ang_admin {
	u64 asq;
	u64 acq;
	u64 aeq;
	u32 entries;
	u32 aeq_entries;
	u32 asq_ci;
	u32 acq_pi;
	u32 aeq_pi;
	u32 aeq_lost;
	u32 fatal;		/* ANGARA_STATUS_FATAL, or 0 */
	u32 fetched;		/* cmd is a copy of the entry at asq_ci */
	struct angara_adm_cmd cmd;
};

/* States of struct ang_box; each state has one owner, see ang_switch.c. */
#define ANG_BOX_EMPTY	0	/* owner: keeper */
#define ANG_BOX_ASKED	1	/* owner: switch, has to execute a command */
#define ANG_BOX_RESET	2	/* owner: switch, has to clear all rows */
#define ANG_BOX_DONE	3	/* owner: keeper, has to read the answer */

/**
 * struct ang_box - command of a keeper to a switch
 * @state: ANG_BOX_*; only the owner accesses the other members
 * @reset: the keeper was reset, and has requested a reset of this switch
 * @cmd: command
 * @cpl: answer to @cmd
 * @counters: answer to COUNTERS, which the keeper writes to its host's memory
 */
struct ang_box {
	u32 state;
	u32 reset;
	struct angara_adm_cmd cmd;
	struct angara_adm_cpl cpl;
	union ang_counters counters;
};

#define ANG_WAYS	16U	/* paths that a node caches */

/**
 * struct ang_leg - known state of a path in one direction
 * @lost: lost node on the path, or router behind a link that is down; ANG_NONE:
 *	none
 * @fell: latest ang_port.fell of the links on the path
 * @behind: router behind the link of @fell
 */
struct ang_leg {
	u32 lost;
	u32 fell;
	u32 behind;
};

/**
 * struct ang_way - cached paths from a node to another one, and back
 * @to: the other node, plus 1; 0: the entry is empty
 * @seen: ang_fabric.lost before the paths were searched
 * @there: path to the other node
 * @back: path from the other node
 */
struct ang_way {
	u32 to;
	u32 seen;
	struct ang_leg there;
	struct ang_leg back;
};

/* Which process runs a node: ang_node.remote; see ang_remote.c. */
#define ANG_REMOTE_NO		0	/* this process */
#define ANG_REMOTE_YES		1	/* another process */
#define ANG_REMOTE_GONE		2	/* none: the node is lost */

/*
 * Scheduling word of a node.  The low 32 bits mark rings with new packets: ring
 * number r = port * ANGARA_VC_NUM + vc has bit r >> ang_fabric.ring_shift.
 */
#define ANG_SCHED_RX		0xFFFFFFFFULL
#define ANG_SCHED_WORK		(1ULL << 32)	/* there is work */
#define ANG_SCHED_OWNED		(1ULL << 33)	/* a view holds the node */
#define ANG_SCHED_TIMER		(1ULL << 34)	/* on a timer list */
#define ANG_SCHED_FIRE		(1ULL << 35)	/* its timer has expired */
#define ANG_SCHED_LOOK		(1ULL << 36)	/* ang_look() was called */
#define ANG_SCHED_REMOTE	(1ULL << 37)	/* the host always holds the node */
#define ANG_SCHED_WOKEN		(1ULL << 38)	/* ang_wake() added work */
#define ANG_SCHED_FENCED	(1ULL << 39)	/* held by ang_recover_fence() */

#define ANG_CTX_WORDS		(ANG_MAX_CTXS / 64)

/**
 * struct ang_node - a node (adapter and router), or a switch (router only)
 * @sched: ANG_SCHED_* (any thread)
 * @lanes: ANG_LANES_*, written by the holder (any thread)
 * @db: contexts whose doorbell rang (any thread)
 * @db_admin: ang_admin() may have work, for example since a register was
 *	written (any thread)
 * @buf_waiting: the node waits for a payload buffer (any thread)
 * @next: next node on the run queue, plus 1 (the setter of ANG_SCHED_WORK, then
 *	the view)
 * @timer_next: next node on the timer list, plus 1
 * @reg: registers as written, by offset / 4 (any thread)
 * @lost: value of ang_fabric.lost that the node has handled
 * @losing: value of ang_fabric.lost that the node is handling
 * @lost_at: part at which handling of @losing continues, see ang_lost()
 * @dead_links: ports whose link is down or leads to a lost node, one bit each
 * @way: cached paths to other nodes, by node number; see ang_lost.c
 * @torn: the node's holder died; see ang_recover.c
 * @pass: packet that the node is forwarding
 * @fence_pass: @pass when the node was fenced
 * @id: router number: nodes first, then switches
 * @keeper: switch: node that programs it
 * @pe: node: offset of its contexts and domains in the fabric; 0 for a switch
 * @enabled: the node is enabled: value of CONTROL that is in effect
 * @resetting: a reset has begun and not ended
 * @rx: rings that may hold packets, bits as in ANG_SCHED_RX
 * @remote: ANG_REMOTE_*: process that runs the node (any thread)
 * @clock: clock of the node, in router cycles
 * @stage: stage at which an unfinished round continues, see ang_node.c
 * @at: position at which an unfinished stage continues, 0: its start
 * @moved: there was progress in this round
 * @calm: number of small operations without other activity, see calm_add()
 * @spell: @calm before ang_lanes_visit() reduced it
 * @timer: cycle at which the PE gets a credit packet, 0 for none
 * @unreported: results that were not reported to the PE, over all trees
 * @red_trees: trees with a result to issue, one bit each
 * @ctl_trees: trees with OPEN, credit or ABORT packets to issue, one bit each
 * @tx: contexts with an entry to fetch or data to inject, one bit each
 * @turn: context that injects first in the next round
 * @first: context that injects first in this round
 * @unpublished: the last step has not published all events of contexts
 * @dirty: contexts with counters to publish, one bit each
 * @retry_ports: ports whose links have packets in flight, see ang_retry.c
 * @retry_due: clock at which the first of these ports is due, 0 for none
 * @refused: number of messages of this node that receivers have refused
 * @buf_hint: start of the search for a free payload buffer, per ANG_BUF_*
 * @adm: node: admin queue
 * @box: switch: box for commands of its keeper
 * @fifo: PEGroup FIFOs, ANG_FIFO_*
 * @drops: number of dropped packets, by cause ANGARA_DROP_*
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
 * @tree: routing table, Reducer, credit unit: cfg.trees of them
 *
 * Any thread may access members marked "(any thread)".
 */
struct ang_node {
	u64 sched ____cacheline_aligned;
	u32 lanes;
	u64 db[ANG_CTX_WORDS];
	u32 db_admin;
	u32 buf_waiting;
	u32 next;
	u32 timer_next;
	u32 reg[24];
	u32 lost;
	u32 losing;
	u32 lost_at;
	u64 dead_links;
	struct ang_way way[ANG_WAYS];
	u32 torn;
	struct ang_pass pass;
	struct ang_pass fence_pass;
	u32 id ____cacheline_aligned;
	u32 keeper;
	u64 pe;
	u32 enabled;
	u32 resetting;
	u32 rx;
	u32 remote;
	u64 clock;
	u8 stage;
	bool moved;
	bool unpublished;
	u32 at;
	u32 calm;
	u32 spell;
	u64 timer;
	u32 unreported;
	u64 red_trees;
	u64 ctl_trees;
	u64 tx[ANG_CTX_WORDS];
	u32 turn;
	u32 first;
	u64 dirty[ANG_CTX_WORDS];
	u64 retry_ports;
	u64 retry_due;
	u32 refused;
	u16 buf_hint[ANG_BUF_KINDS];
	union {
		struct ang_admin adm;
		struct ang_box box;
	};
	struct ang_fifo fifo[ANG_FIFO_NUM];
	u64 drops[ANGARA_DROP_NUM];
	struct {
		u64 injected_packets, ejected_packets, injected_flits,
		    ejected_flits, hops, no_buffer;
	} cnt;
	struct ang_tree tree[];
};

/**
 * struct ang_fabric - head of the block of memory that holds a fabric
 * @cfg: configuration
 * @stride: bytes per router
 * @pe_size: bytes of the contexts and domains of one node
 * @off_table: offset in the block of the topology's table, after the routers
 *	and the contexts and domains of nodes
 * @off_text: offset of the topology's description, after the table
 * @text_size: bytes of the description, without its NUL
 * @off_dom: offset from ang_node.pe, after the contexts, of a node's domains,
 *	struct ang_dom[cfg.ctxs]
 * @off_lane: offset from ang_node.pe of lanes, struct ang_lane[2 * ANG_LANES]
 * @off_op: offset from ang_node.pe of operations, struct
 *	ang_op[cfg.ctxs][cfg.ops]
 * @off_inl: offset from ang_node.pe of inline payload of operations,
 *	[cfg.ctxs][cfg.ops] of ANGARA_MAX_INLINE bytes
 * @off_port: offset in a router of its ports, struct ang_port[@nports]
 * @off_mgmt: offset in a router of its struct ang_mgmt
 * @off_life: offset in a router of the lives of the neighbors' rows, per tree
 *	and port, u32[cfg.trees][@nports]; 0: unknown
 * @off_ring: offset in a router of rings, [@nports][ANGARA_VC_NUM] of
 *	@ring_size
 * @off_ref: offset in a router of reference counts of payload buffers,
 *	u32[bufs]
 * @off_link: offset in a router of u64[bufs]: per buffer that waits in a
 *	Reducer, the handle of the buffer that waits behind it
 * @off_buf: offset in a router of payload buffers, [bufs] of @buf_size
 * @nports: ports of the router with the most ports
 * @ring_shift: number of low bits of a ring's number that are dropped in
 *	ANG_SCHED_RX
 * @bubble: bubble flow control is used (on a torus), see ang_link.c
 * @express: trains may bypass links, see ang_express.c
 * @ring_size: bytes of a ring
 * @buf_size: bytes of a payload buffer
 * @bufs: payload buffers of a node: cfg.bufs, those of the trees, and with
 *	cfg.remote those of links
 * @lost: the era: a count that advances when nodes are lost or come back, when
 *	links go down or up, and while routes change; see ang_lost.c (any thread)
 * @born: era in which this process joined a running fabric; 0: the process was
 *	there from the start
 * @flawed: number of links with ANG_FLAW_*, per direction, and of lost nodes,
 *	plus 1 if @detour is not 0 (any thread)
 * @broken: number of ports with ANG_FLAW_DOWN, and of lost nodes, plus 1 if
 *	@detour is not 0 (any thread)
 * @up_waits: a command waits until all nodes have handled @lost (any thread)
 * @off_detour: offset of two tables of routes, after the description; see
 *	ang_detour.c
 * @detour_row: bytes of a row of these tables; 0: the fabric is too large
 * @detour: routes of packets, ANG_DETOUR_* (any thread)
 * @detour_by: node that changes the routes, plus 1; 0: none (any thread)
 * @detour_step: step of the change that @detour_by makes, see ang_detour.c
 * @detour_at: next entry of the new table that the change checks
 *
 * Any thread may access members marked "(any thread)".
 */
struct ang_fabric {
	struct ang_cfg cfg;
	u64 stride;
	u64 pe_size;
	u64 off_table;
	u64 off_text;
	u32 text_size;
	u32 off_dom;
	u32 off_lane;
	u32 off_op;
	u32 off_inl;
	u32 off_port;
	u32 off_mgmt;
	u32 off_life;
	u32 off_ring;
	u32 off_ref;
	u32 off_link;
	u32 off_buf;
	u8 nports;
	u8 ring_shift;
	u8 bubble;
	u8 express;
	u32 ring_size;
	u32 buf_size;
	u32 bufs;
	u32 lost;
	u32 born;
	u32 flawed;
	u32 broken;
	u32 up_waits;
	u64 off_detour;
	u32 detour_row;
	u32 detour;
	u32 detour_by;
	u32 detour_step;
	u32 detour_at;
};

/* ang_fabric.detour; 0: packets follow the topology's routes. */
#define ANG_DETOUR_TABLE	3U		/* number of the table in use, plus 1 */
#define ANG_DETOUR_HALT		(1U << 31)	/* nodes send no requests and results */

#define ANG_HEAD_SIZE	320	/* bytes before the first node */

/**
 * ang_links_perfect() - are all links of a fabric up and without faults?
 * @fab: fabric
 *
 * Operations may bypass links only while this is true.
 */
static inline bool ang_links_perfect(const struct ang_fabric *fab)
{
	return !READ_ONCE(fab->flawed);
}

/** ang_is_switch() - is a router a switch, without a processing element? */
static inline bool ang_is_switch(const struct ang_fabric *fab,
				 const struct ang_node *n)
{
	return n->id >= fab->cfg.topo.nodes;
}

static inline struct ang_node *ang_node(struct ang_fabric *fab, u32 id)
{
	u64 at = ANG_HEAD_SIZE + fab->stride * id;

	return (struct ang_node *)((char *)fab + at);
}

/** ang_fab_topo() - get the topology of a fabric, with its table */
static inline struct ang_topo ang_fab_topo(const struct ang_fabric *fab)
{
	struct ang_topo topo = fab->cfg.topo;

	topo.table = (const void *)((const char *)fab + fab->off_table);
	return topo;
}

static inline struct ang_ctx *ang_ctx(struct ang_fabric *fab,
				      struct ang_node *n, u32 ctx)
{
	return (struct ang_ctx *)((char *)fab + n->pe) + ctx;
}

static inline struct ang_dom *ang_dom(struct ang_fabric *fab,
				      struct ang_node *n, u32 dom)
{
	return (struct ang_dom *)((char *)fab + n->pe + fab->off_dom) + dom;
}

static inline struct ang_op *ang_op(struct ang_node *n,
				    const struct ang_ctx *ctx, u32 slot)
{
	return (struct ang_op *)((char *)n + ctx->ops_at) + slot;
}

static inline u32 ang_op_slot(struct ang_node *n, const struct ang_ctx *ctx,
			      const struct ang_op *op)
{
	return (u32)(op - ang_op(n, ctx, 0));
}

static inline u8 *ang_inline(struct ang_fabric *fab, struct ang_node *n,
			     const struct ang_ctx *ctx, const struct ang_op *op)
{
	u32 at = ctx->id * fab->cfg.ops + ang_op_slot(n, ctx, op);

	return (u8 *)fab + n->pe + fab->off_inl + (u64)at * ANGARA_MAX_INLINE;
}

static inline struct ang_port *ang_port(struct ang_fabric *fab,
					struct ang_node *n, u32 port)
{
	return (struct ang_port *)((char *)n + fab->off_port) + port;
}

/*
 * ang_lives() - get the array of lives of the neighbors' rows, by port
 */
static inline u32 *ang_lives(struct ang_fabric *fab, struct ang_node *n,
			     u32 tree)
{
	return (u32 *)((char *)n + fab->off_life) + tree * fab->nports;
}

static inline struct ang_ring *ang_ring(struct ang_fabric *fab,
					struct ang_node *n, u32 dir, u32 vc)
{
	return (struct ang_ring *)((char *)n + fab->off_ring +
				   (dir * ANGARA_VC_NUM + vc) * fab->ring_size);
}

/** ang_is_coll() - is an operation (ANGARA_OP_*) a collective? */
static inline bool ang_is_coll(u32 opcode)
{
	return opcode >= ANGARA_OP_BCAST && opcode <= ANGARA_OP_BARRIER;
}

/** ang_is_atomic() - is an operation an atomic one? */
static inline bool ang_is_atomic(u32 opcode)
{
	return opcode == ANGARA_OP_ATOMIC || opcode == ANGARA_OP_FETCH;
}

/** ang_returns_data() - does the target of a point-to-point operation return data? */
static inline bool ang_returns_data(u32 opcode)
{
	return opcode == ANGARA_OP_GET || opcode == ANGARA_OP_FETCH;
}

#endif /* ANG_TYPES_H */
