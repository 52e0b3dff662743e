/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: the inside of a fabric.
 *
 * Access to each part:
 *  - a node and all of its contents: the view that holds it (ANG_SCHED_OWNED),
 *  except
 *  - ang_node.sched, doorbell words and registers: anyone, atomically;
 *  - a context at rest: the thread in its source lane, see ang_lane.c;
 *  - the producer side of an incoming ring: the holder of the neighbour;
 *  - reference counts of payload buffers: any holder of a reference.
 * Memory order is stated where it matters, in ang_link.c and ang_sched.c.
 */
#ifndef ANG_TYPES_H
#define ANG_TYPES_H

#include "ang_pkt.h"
#include "ang_area.h"
#include "ang_port.h"
#include "ang_lane.h"

/**
 * struct ang_outs - outputs that a packet of a tree still owes
 * @links: ports, one bit each: that to the parent on VCUp, others on VCDown
 * @pe: the own PE.  It comes last: a participant that has seen a result may
 *	rely on the result being ahead of anything that it sends down the tree
 *	next
 * @valid: the outputs are computed
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
 * @todo: consumer: outputs that the packet at the head still owes
 * @fence_head: @head when the consumer was fenced; see ang_recover.c
 * @tail: producer index
 * @put: producer: index behind the packets that the link has taken.  Those from
 *	@tail on are in flight: their places are the replay buffer of
 *	ang_retry.c.  Without faults it equals @tail
 * @waiting: the producer found no room; the consumer wakes it after the next pop
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
#define ANG_OP_HELD	3	/* fetched but not started: ang_op.after */
#define ANG_OP_GHOST	2	/* its context is gone, see ang_msg.c */

/* Progress of a message. */
#define ANG_SEND_START	0	/* its first train is not sent yet */
#define ANG_SEND_ASKED	1	/* its first train is in flight */
#define ANG_SEND_WAITS	2	/* the receiver refused it */
#define ANG_SEND_REST	3	/* there is room reserved for all of it */

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
 * @sent_all: nothing more to inject
 * @wqe_opcode: ANGARA_OP_* for the CQE
 * @receives: reductions: this context gets the result
 * @inl: its payload was inline, and is kept in ang_inline() until it is sent
 * @phase: SEND: ANG_SEND_*
 * @turn: SEND: a READY has arrived for it
 * @dst_ctx: see struct angara_wqe
 * @counter: user counter at the target; SEND: code
 * @gen: generation, by which late answers are refused
 * @next: operation behind it, plus 1: in the tree's injection order while not
 *	@sent_all, or SEND to the same receiver
 * @life: SEND: life of the receiver that refused it
 * @after: HELD: operations that have to end before it starts, one bit each
 * @err_node: router at fault
 * @place: SEND: in the receiver's message area
 * @since: SEND: value of ang_node.refused when it was first refused; 0: it was
 *	not
 * @sent: bytes injected
 * @bytes: bytes done
 * @trains: point to point: trains injected and not answered
 * @seq: reductions: number of the first packet
 * @npkts: reductions: packets
 * @era: point to point: ang_fabric.lost when it started; a link that goes down
 *	later ends it
 * @npkts_sent: collectives: packets injected
 * @npkts_done: collectives: packets received of the result or of the own
 *	broadcast
 * @dst_node: target
 * @len: bytes
 * @lkey: local region that is read
 * @sink_key: local region that is written: by GET, FETCH, and the result of a
 *	reduction; SEND: partition of the sender
 * @cookie: for the CQE
 * @rkey: key of the region at the target; SEND: job key of the sender
 * @roff: offset in it; SEND: tag
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

/* The fields behind it are filled from the queue entry alone. */
#define ANG_OP_ENTRY	offsetof(struct ang_op, dst_node)

static inline bool ang_op_is_p2p(const struct ang_op *op)
{
	return op->opcode < ANGARA_OP_BCAST || op->opcode > ANGARA_OP_BARRIER;
}

/**
 * struct ang_member - a context's part in a tree
 * @ops: pending operations, one bit each
 * @seq: number of the next reduce packet
 * @first: operation to inject next, plus 1
 * @last: operation to inject last, plus 1
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
 * @ctxs: contexts
 *
 * Threads in lanes (ang_lane.c) read it.
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
 * @ops_at: offset from its node of its operations, struct ang_op[cfg.ops]; it
 *	and @id never change
 * @id: its number
 * @db_sq: doorbell: SQ producer index (any thread)
 * @db_arm: doorbell: event sequence seen (any thread)
 * @db_armed: doorbell: ask for an interrupt (any thread)
 * @nudge: doorbell that other processes ring, see ang_reg_nudge() (any thread)
 * @life: incarnation; it and all fields down to @waiting outlive the context
 * @opgen: generation of the last operation
 * @rouse: ang_msg_wake() may have work
 * @wait_at: group whose turn is next
 * @ghosts: operations in state ANG_OP_GHOST, one bit each
 * @wait_words: words of @waiting that are not 0, one bit each
 * @waiting: groups of nodes with messages that were refused here, one bit each
 * @alive: created
 * @at: where ang_inject() continues with it, 0: with the next entry
 * @lane: a thread in a lane has its turn, and publishes its counters
 * @armed: one interrupt is wanted
 * @dirty: counters to publish, ANG_DIRTY_*
 * @dom: its domain
 * @pkey: partition of that
 * @job: job key of that
 * @sq_log2: SQ entries
 * @cq_log2: CQ entries
 * @joined: trees, one bit each
 * @place: per joined tree, its place in ang_tree.places
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
 * @seen: event sequence of @armed
 * @nops: pending operations
 * @free: free operations, one bit each
 * @held: operations in state ANG_OP_HELD, one bit each
 * @due: operations of @held that nothing holds any more
 * @p2p_tx: point-to-point operations with data to inject, one bit each
 * @sends: messages in progress, one bit each
 * @area: message area
 * @bcasts: broadcasts received, per tree
 * @rx_errors: trains of broadcasts that were not written, per tree
 * @rx_event: asynchronous event that reported such an error, plus 1; valid if
 *	@rx_told
 * @rx_told: an event has reported one
 * @user: user counters
 * @member: per tree
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
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
	u32 rouse;
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
	u8 rx_told;
	u64 user[ANGARA_CTR_USER_NUM];
	struct ang_member member[ANGARA_MAX_TREES];
	struct {
		u64 wqes, cqes, cqe_errors, tx_packets, tx_bytes, rx_packets,
		    rx_bytes, rx_errors, cq_full, interrupts, rx_msgs,
		    not_ready;
	} cnt;
};

/* The fields before it never change. */
#define ANG_CTX_STATE	offsetof(struct ang_ctx, db_sq)

#define ANG_DIRTY_EVENT	1
#define ANG_DIRTY_SQ	2

/**
 * struct ang_slot - the Reducer's memory of one ReduceId (of a train: the first)
 * @pkt: first packet, its payload combined with those that followed; npkts 0:
 *	none has arrived
 * @left: set of places that are not combined yet, see ang_tree_places()
 * @held: with order: places of @left whose payload is here and waits for others
 * @waiting: with order: buffers of @held, chained by ang_buf_link(), places
 *	ascending
 */
struct ang_slot {
	struct ang_pkt pkt;
	u64 left;
	u64 held;
	u64 waiting;
};

/**
 * struct ang_tree - routing table row, Reducer and credit unit of one tree
 * @life: number of the row's life; incremented when the row is set again
 * @row: the row; it and all fields below belong to one life; row.tree etc. are
 *	meaningful in states UP and DOWN
 * @job: job key of the row, 0 for none
 * @state: ANGARA_TREE_STATE_*
 * @open: all rows of the tree have met, so participants may inject
 * @root: router at the root, known with @open
 * @met: ports whose neighbor has announced that it knows this life
 * @whole: children that have announced the same for all nodes below them
 * @open_todo: ports that still get an OPEN packet
 * @members: participants that have joined
 * @taken: their places
 * @places: places of all contributors, see ang_tree_places()
 * @credit_cur: credits in the packets being issued to children
 * @credit_todo: children that still get such a packet
 * @credit_pend: credits to issue next
 * @abort_todo: ports that still get an abort packet
 * @abort: that packet
 * @down_node: node that took the tree down
 * @done: number of the next result
 * @next_result: no earlier result is taken from the parent
 * @pe_done: results that were reported to the PE
 * @up_credits: results that the parent can take
 * @in_flight: ReduceIds in use
 * @member: contexts of the participants
 * @slot: Reducer memory
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
 */
struct ang_tree {
	u32 life;
	struct angara_tree_row row;
	u64 job;
	u8 state;
	u8 members;
	u16 taken;
	u8 open;
	u32 root;
	u64 met;
	u64 whole;
	u64 open_todo;
	u64 places;
	u64 credit_todo;
	u32 credit_cur;
	u32 credit_pend;
	u64 abort_todo;
	struct ang_pkt abort;
	u32 down_node;
	u32 done;
	u32 next_result;
	u32 pe_done;
	u32 up_credits;
	u32 in_flight;
	u16 member[ANGARA_MAX_LOCAL];
	struct ang_slot slot[ANGARA_MAX_REDUCES];
	struct {
		u64 bcast_requests, bcast_packets, reduce_packets,
		    reduce_results, credits_sent, credits_received,
		    credits_pe_count, credits_pe_timer, max_in_flight;
	} cnt;
};

/* The fields behind it belong to one life. */
#define ANG_TREE_LIFE	offsetof(struct ang_tree, row)

/* Purposes of payload buffers; see ang_link.c. */
#define ANG_BUF_REQ	0	/* puts and broadcasts that the node injects */
#define ANG_BUF_RSP	1	/* its answers to others */
#define ANG_BUF_RED	2	/* reductions that it injects */
#define ANG_BUF_TREE(t)	(3U + (t)) /* next packet in a tree */
#define ANG_BUF_KINDS	(3U + ANGARA_MAX_TREES)
#define ANG_TREE_BUFS	2	/* ANG_BUF_TREE buffers per tree, besides cfg.bufs */

#define ANG_MAX_LINK_BUFS	65536U /* most buffers of links per node */

#define ANG_CREDIT_DOWN	8	/* results per credit packet to the children */
#define ANG_CREDIT_PE	128	/* results, all trees, per credit packet to the PE */
#define ANG_CREDIT_TIME	4096	/* cycles after which the PE gets one in any case */
/*
 * The clock of a busy node adds up the cycles of about eight blocks that work
 * in parallel, so then the limit is eight times as high.
 */
#define ANG_CREDIT_BUSY	(7 * ANG_CREDIT_TIME)

#define ANG_FIFO_ROOT	0	/* packets to distribute from this root: requests, results */
#define ANG_FIFO_PE	1	/* injected by the PE */
#define ANG_FIFO_NUM	2
#define ANG_FIFO	16	/* packets */

/**
 * struct ang_fifo - a PEGroup FIFO
 * @head: consumer
 * @tail: producer
 * @todo: outputs that the packet at the head still owes
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
	u32 fatal;		/* ANGARA_STATUS_FATAL */
	u32 fetched;		/* cmd is the entry at asq_ci */
	struct angara_adm_cmd cmd;
};

/* Owner of the box; see ang_switch.c. */
#define ANG_BOX_EMPTY	0	/* the keeper */
#define ANG_BOX_ASKED	1	/* the switch: to carry out a command */
#define ANG_BOX_RESET	2	/* the switch: to forget all rows */
#define ANG_BOX_DONE	3	/* the keeper, which has not looked yet */

/**
 * struct ang_box - command of a keeper to a switch
 * @state: ANG_BOX_*, which names the owner: only it may touch the rest
 * @reset: the keeper was reset, and has asked for a reset here
 * @cmd: command
 * @cpl: answer to it
 * @counters: answer to COUNTERS; the keeper writes them to its host's memory
 */
struct ang_box {
	u32 state;
	u32 reset;
	struct angara_adm_cmd cmd;
	struct angara_adm_cpl cpl;
	union ang_counters counters;
};

#define ANG_WAYS	16U	/* paths that a node remembers */

/**
 * struct ang_leg - known state of a path
 * @lost: lost node on it, or router behind a link that is down; ANG_NONE: none
 * @fell: the latest ang_port.fell of its links
 * @behind: router behind that link
 */
struct ang_leg {
	u32 lost;
	u32 fell;
	u32 behind;
};

/**
 * struct ang_way - what a node knows of its path to another one, and back
 * @to: that node, plus 1; 0: nothing is known
 * @seen: ang_fabric.lost before the paths were walked
 * @there: path to that node
 * @back: path from there
 */
struct ang_way {
	u32 to;
	u32 seen;
	struct ang_leg there;
	struct ang_leg back;
};

/* The fabric that plays a node; see ang_remote.c. */
#define ANG_REMOTE_NO		0	/* this fabric */
#define ANG_REMOTE_YES		1	/* another fabric, which the host reaches */
#define ANG_REMOTE_GONE		2	/* lost: no fabric plays it */

/*
 * Scheduling word of a node; the low 32 bits are rings with new packets: ring
 * port * ANGARA_VC_NUM + vc has bit ring >> ang_fabric.ring_shift.
 */
#define ANG_SCHED_RX		0xFFFFFFFFULL
#define ANG_SCHED_WORK		(1ULL << 32)	/* there is work */
#define ANG_SCHED_OWNED		(1ULL << 33)	/* a view is advancing it */
#define ANG_SCHED_TIMER		(1ULL << 34)	/* on a timer list */
#define ANG_SCHED_FIRE		(1ULL << 35)	/* its timer has run out */
#define ANG_SCHED_LOOK		(1ULL << 36)	/* ang_look() asked to inspect it */
#define ANG_SCHED_REMOTE	(1ULL << 37)	/* the host holds it permanently */
#define ANG_SCHED_WOKEN		(1ULL << 38)	/* woken by ang_wake(), not by its holder */
#define ANG_SCHED_FENCED	(1ULL << 39)	/* it continues in a copy of the fabric */

#define ANG_CTX_WORDS		(ANG_MAX_CTXS / 64)

/**
 * struct ang_node - adapter and router, or a switch: a router alone
 * @sched: ANG_SCHED_* (any thread)
 * @lanes: ANG_LANES_*, written by the holder (any thread)
 * @db: contexts whose doorbell rang (any thread)
 * @db_admin: registers or the admin doorbell were written (any thread)
 * @buf_waiting: the owner wants a payload buffer (any thread)
 * @next: link of the run queue, plus 1 (the setter of ANG_SCHED_WORK, then the view)
 * @timer_next: link of the timer list, plus 1
 * @reg: registers as written, by offset / 4 (any thread)
 * @lost: the ang_fabric.lost that the node has handled
 * @losing: the one that it is handling
 * @lost_at: progress of that, see ang_lost()
 * @dead_links: ports to lost routers, one bit each
 * @way: paths to other nodes that it walked, by their number; see ang_lost.c
 * @torn: its holder ended in the middle of it; see ang_recover.c
 * @pass: packet that it is forwarding
 * @fence_pass: @pass when it was fenced
 * @id: number, of a node or, behind those, of a switch
 * @keeper: of a switch: node by which it is programmed
 * @pe: node: where in the fabric its contexts and domains are; 0: a switch has none
 * @enabled: state of CONTROL that is in effect
 * @resetting: a reset has begun and not ended
 * @rx: rings that may hold packets, bits as in ANG_SCHED_RX
 * @remote: ANG_REMOTE_*, which fabric plays it (any thread)
 * @clock: own clock, router cycles
 * @stage: where an unfinished round continues, see ang_node.c
 * @at: where an unfinished stage continues, 0: at its start
 * @moved: something was done in this round
 * @calm: small operations in a row, see ang_lane.c
 * @spell: @calm before it was taken outside of ang_run()
 * @timer: cycle at which the PE gets a credit packet, 0 for none
 * @unreported: results that were not reported to the PE, over all trees
 * @red_trees: trees with a result to issue
 * @ctl_trees: trees with OPEN, credit or abort packets to issue
 * @tx: contexts with an entry to fetch or data to inject
 * @turn: context that injects first next time
 * @first: context that was the first in this round
 * @untold: contexts to which the last step did not report its events
 * @dirty: contexts with counters to publish
 * @retry_ports: ports whose links hold packets, see ang_retry.c
 * @retry_due: clock at which the first of these ports is due, 0 for none
 * @refused: messages from here that were refused by their receivers
 * @buf_hint: where to search first for a free payload buffer, per ANG_BUF_*
 * @adm: node: admin queue
 * @box: switch: command of its keeper
 * @fifo: PEGroup FIFOs, ANG_FIFO_*
 * @drops: dropped packets by cause
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
 * @tree: routing table, Reducer, credit unit: cfg.trees of them
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
	bool untold;
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
 * struct ang_fabric - head of the block of memory
 * @cfg: configuration
 * @stride: bytes per router
 * @pe_size: bytes of contexts and domains, per node
 * @off_table: offset in the block of the topology's table, behind the routers
 *	and the contexts and domains of nodes
 * @off_text: offset of the topology's description, behind the table
 * @text_size: bytes of the description, without its NUL
 * @off_dom: offset from ang_node.pe, behind the contexts, of a node's domains,
 *	struct ang_dom[cfg.ctxs]
 * @off_lane: likewise of lanes, struct ang_lane[2 * ANG_LANES]
 * @off_op: likewise of operations, struct ang_op[cfg.ctxs][cfg.ops]
 * @off_inl: likewise of inline payload of operations, [cfg.ctxs][cfg.ops] of
 *	ANGARA_MAX_INLINE bytes
 * @off_port: offset in a router of its ports, struct ang_port[@nports]
 * @off_life: per tree and port, the life of the neighbor's row, 0 if it is
 *	unknown: u32[cfg.trees][@nports]
 * @off_ring: rings, [@nports][ANGARA_VC_NUM] of @ring_size
 * @off_ref: reference counts of payload buffers, u32[bufs]
 * @off_link: per payload buffer, the buffer that waits behind it in a Reducer,
 *	u64[bufs]
 * @off_buf: payload buffers, [bufs] of @buf_size
 * @nports: largest number of ports of a router
 * @ring_shift: low bits of a ring's number that ANG_SCHED_RX leaves out
 * @bubble: it is a torus: bubble flow control, see ang_link.c
 * @express: trains may do without links, see ang_express.c
 * @ring_size: bytes of a ring
 * @buf_size: bytes of a payload buffer
 * @bufs: payload buffers of a node: cfg.bufs, those of the trees, and with
 *	cfg.remote those of links
 * @lost: how often nodes were lost, or links went down or up, see ang_lost.c (any
 *	thread)
 * @flawed: links with ANG_FLAW_*, counted per direction, and losses of nodes
 *	(any thread)
 * @broken: ports with ANG_FLAW_DOWN, and losses of nodes (any thread)
 * @up_waits: a command waits until all nodes have handled @lost (any thread)
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
	u32 flawed;
	u32 broken;
	u32 up_waits;
};

#define ANG_HEAD_SIZE	256	/* bytes of struct ang_fabric, before the first node */

/**
 * ang_links_perfect() - are all links of a fabric up and without faults?
 * @fab: fabric
 *
 * Only then may an operation do without links.
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
 * ang_lives() - get the lives of a tree's rows at a node's neighbors, by port
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

#endif /* ANG_TYPES_H */
