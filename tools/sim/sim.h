/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-sim: structure of the simulation.
 *
 * A router, of a node or a switch, has sources (FIFOs: one per incoming link and
 * virtual channel, and those within the adapter) and outputs (links, the
 * processing element, the Reducer, the root's PEGroup FIFO).  The head of a
 * source requests outputs.  An output serves one source at a time, in turn, when
 * it is free and there is room behind it.  The device model's rules decide which
 * outputs a packet requests (driver/model/ang_rules.h, ang_topo, ang_tree,
 * ang_combine); clocks,
 * buffers and contention are here.
 *
 * Time is in picoseconds.  Nodes affect each other over links only, never
 * sooner than a cable's latency.  So time is cut into windows of that length:
 * within a window each node runs its own events in the order of (time, kind,
 * port), and its effects on other nodes fall into later windows.  The order of
 * nodes, and their thread or process, makes no difference: results are the same
 * to the bit for any number of threads and processes.
 *
 * A node without events costs nothing: its memory is zero until it is used, and
 * zero is a valid state.  Packets and events come from pools of a partition,
 * without an allocation for each.
 *
 * Credits need no events.  A receiver that frees a slot records when the sender
 * learns of it; the sender reads these records when it wants to send, and is
 * woken only if it waits.
 */
#ifndef ANG_SIM_H
#define ANG_SIM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ang_fault.h"
#include "ang_rules.h"
#include <angara/topo.h>
#include <linux/angara.h>
#include "config.h"
#include "trace.h"

#define SIM_NEVER	(~0ULL)

/* Virtual channels: those of the adapter, ANGARA_VC_*, and one more. */
#define SIM_VC_ADAPT	ANGARA_VC_NUM	/* requests that may take any shortest path */
#define SIM_NVC		(ANGARA_VC_NUM + 1)

/*
 * Sources after the sources of links; port * SIM_NVC + vc is the source of a
 * link.
 */
#define SIM_SRC_PE	0	/* PEGroup FIFO: injected collectives */
#define SIM_SRC_ROOT	1	/* PEGroup FIFO: this root distributes */
#define SIM_SRC_INJ	2	/* injected requests, point to point */
#define SIM_SRC_RSP	3	/* answers, point to point */
#define SIM_SRC_CREDIT	4	/* credit unit */
#define SIM_SRC_MODULE	5	/* requests of modules 1, 2, ...; module 0: SIM_SRC_INJ */
/* Sources of the Reducer's results follow, one per tree: sim_result(). */
#define SIM_SRC_MOST	(SIM_SRC_MODULE + ANGARA_MAX_LOCAL - 1 + ANGARA_MAX_TREES)

/*
 * Outputs; links come first, by port.  A set of outputs is one word, so a
 * router has at most SIM_MAX_PORTS.
 */
#define SIM_OUT_PE(s)	((s)->nports)
#define SIM_OUT_RED(s)	((s)->nports + 1)
#define SIM_OUT_ROOT(s)	((s)->nports + 2)
#define SIM_OUT_NUM(s)	((s)->nports + 3)

#define SIM_PE(s)	(1ULL << SIM_OUT_PE(s))

static_assert(SIM_MAX_PORTS + 3 == 64, "a word of outputs");

/**
 * struct sim_pkt - a packet
 * @tail: time when all of the packet is in the current buffer
 * @elig: earliest time when the packet may leave the buffer
 * @born: time when its host posted it
 * @value: operand of a reduction, a sample of the payload; other packets: free for the workload
 * @src: node that injected the packet
 * @dst: target; for a reduce, the receiver of the result; ANG_NONE: other collectives
 * @seq: reductions: as in struct ang_pkt; other packets: free for the workload
 * @next: next packet of the source, or next free packet
 * @flits: length
 * @hops: links crossed
 * @type: ANG_PKT_*
 * @tree: TreeId
 * @vc: virtual channel on which the packet leaves
 * @bytes: payload
 * @fetch: bytes of the answer to an atomic operation
 */
struct sim_pkt {
	u64 tail;
	u64 elig;
	u64 born;
	u64 value;
	u32 src;
	u32 dst;
	u32 seq;
	u32 next;
	u16 flits;
	u16 hops;
	u8 type;
	u8 tree;
	u8 vc;
	u8 pad;
	u32 bytes;
	u32 fetch;
};

/**
 * struct sim_fifo - a source
 * @ready: time from which the head may leave
 * @free: time when the tail of the previous packet has left
 * @head: first packet, 0 for none
 * @tail: last packet
 * @len: packets
 * @todo: outputs that the head still has to reach
 * @vc: virtual channel that the head leaves on, unless it is adaptive
 * @adaptive: the head is adaptive
 */
struct sim_fifo {
	u64 ready;
	u64 free;
	u32 head;
	u32 tail;
	u64 todo;
	u16 len;
	u8 vc;
	u8 adaptive;
};

/**
 * struct sim_out - an output
 * @free: time when the tail of the current packet has left
 * @kick: time of the event at which the output checks its sources again, 0: none
 * @flits: number of flits carried
 * @pkts: number of packets carried, per virtual channel
 * @turn: source to serve first
 * @want: sources whose heads request the output; sim.words words
 */
struct sim_out {
	u64 free;
	u64 kick;
	u64 flits;
	u32 pkts[SIM_NVC];
	u16 turn;
	u64 want[];
};

/**
 * struct sim_end - what a port is joined to
 * @router: router, in the whole fabric, ANG_NONE: nothing
 * @port: port at the other end
 * @depth: flits that the other end buffers per virtual channel
 * @latency: latency of the cable
 */
struct sim_end {
	u32 router;
	u32 port;
	u32 depth;
	u64 latency;
};

/**
 * struct sim_vc - a link's virtual channel, as its sender sees it
 * @used: flits of the buffer behind the link that are not known to be free
 * @wait: an output waits for a credit, and no credit is in flight
 * @first: first credit that the sender has not counted, 0 for none
 * @last: last credit that the sender has not counted
 *
 * A packet takes its room, see sim_place(), when its head leaves for the
 * buffer.
 */
struct sim_vc {
	u32 used;
	u32 wait;
	u32 first;
	u32 last;
};

/**
 * struct sim_credit - room of a packet that has left a buffer
 * @time: time when the sender learns of the room
 * @next: next credit of the same virtual channel, or next free credit
 * @flits: room
 */
struct sim_credit {
	u64 time;
	u32 next;
	u32 flits;
};

/**
 * struct sim_retry - the sender of a link with faults, see retry.c
 * @resend: time when the sender sends packets again, 0: it does not
 * @rng: state of the generator that selects the packets
 * @open_ps: sum of the times that the @open packets take on the link
 * @open: packets that the far end has taken without the sender's knowledge
 * @first: first of the packets that the far end did not take, 0 for none
 * @last: last of these packets
 * @held: number of these packets
 */
struct sim_retry {
	u64 resend;
	u64 rng;
	u64 open_ps;
	u32 open;
	u32 first;
	u32 last;
	u32 held;
};

/**
 * struct sim_slot - the Reducer's memory of one ReduceId
 * @finish: time when all flits of its contents have been read
 * @start: time when the first flits of all its contents had arrived
 * @pkt: packet, its value combined with those of later packets
 * @count: packets taken
 */
struct sim_slot {
	u64 finish;
	u64 start;
	u32 pkt;
	u32 count;
};

/**
 * struct sim_tree - Reducer and credit unit of one tree at one node
 * @issued: number of the next result to queue
 * @done: number of the next result to leave
 * @pe_done: results that have left as far as the PE knows
 * @reported: results reported to the PE
 * @credit_pend: credits to issue next
 * @credit_on: a credit packet of this tree is leaving
 * @credits: results that the parent accepts beyond the first 16
 * @slot: memory
 */
struct sim_tree {
	u32 issued;
	u32 done;
	u32 pe_done;
	u32 reported;
	u32 credit_pend;
	u32 credit_on;
	u32 credits;
	u32 pad;
	struct sim_slot slot[ANGARA_MAX_REDUCES];
};

/**
 * struct sim_op - an operation of a host
 * @start: time when the adapter may start it
 * @born: time when the host posted it
 * @value: see struct sim_pkt
 * @next: next operation of the host, or next free operation
 * @dst: see struct sim_pkt
 * @tag: sim_pkt.seq of the next packet
 * @left: bytes that are not injected yet
 * @type: ANG_PKT_*
 * @tree: TreeId
 * @many: packets are numbered from @tag; otherwise each has the number @tag
 * @module: computing module that injects the operation
 * @fetch: see struct sim_pkt
 */
struct sim_op {
	u64 start;
	u64 born;
	u64 value;
	u32 next;
	u32 dst;
	u32 tag;
	u32 left;
	u8 type;
	u8 tree;
	u8 many;
	u8 module;
	u32 fetch;
};

/**
 * struct sim_nic - other state of a node
 * @cpu_free: time when the host has finished its sends
 * @timer: time when the PE gets a credit packet, 0 for none
 * @rng: state of the workload's random numbers
 * @ops: first operation in progress, 0 for none
 * @last: last operation in progress
 * @colls: number of collectives among the operations
 * @unreported: results not reported to the PE, over all trees
 * @credit: a credit packet for the PE is on its way
 */
struct sim_nic {
	u64 cpu_free;
	u64 timer;
	u64 rng;
	u32 ops;
	u32 last;
	u32 colls;
	u32 unreported;
	u32 credit;
	u32 pad;
};

/* Kinds of events; a node handles events of the same time in this order. */
#define SIM_EV_ARRIVE	0	/* @arg: packet; @port: source */
#define SIM_EV_HOST	1	/* @arg: see the workload */
#define SIM_EV_CREDIT	2	/* the PE learns of @arg results */
#define SIM_EV_TIMER	3	/* a timer of the credit unit */
#define SIM_EV_RETRY	4	/* a link with faults sends again */
#define SIM_EV_KICK	5	/* output @port checks its sources */

#define SIM_EV_SHIFT	12
#define SIM_EV_PORT	((1U << SIM_EV_SHIFT) - 1)

static_assert(SIM_MAX_PORTS * SIM_NVC + SIM_SRC_MOST <= SIM_EV_PORT,
	      "a source is the port of an event");

/**
 * struct sim_ev - an event
 * @time: when it happens
 * @node: node, counted from the first of this process
 * @arg: see SIM_EV_*
 * @next: link or number that event.c uses
 * @key: SIM_EV_* << SIM_EV_SHIFT | port
 */
struct sim_ev {
	u64 time;
	u32 node;
	u32 arg;
	u32 next;
	u16 key;
	u16 pad;
};

/**
 * struct sim_mail - packet or credit from one partition to another
 * @time: arrival
 * @node: target, in the whole fabric
 * @port: source at which it arrives; for a credit: output * SIM_NVC + vc
 * @credit: flits of a credit, which has no packet; 0: no credit
 * @pkt: packet
 */
struct sim_mail {
	u64 time;
	u32 node;
	u16 port;
	u16 credit;
	struct sim_pkt pkt;
};

struct sim_evs {
	struct sim_ev *ev;
	u32 n;
	u32 size;
};

struct sim_mails {
	struct sim_mail *m;
	u32 n;
	u32 size;
};

#define SIM_WINDOWS	64	/* held in vectors; later events are in a heap */

/**
 * struct sim_acc - counts of a partition
 * @last: when the last packet reached a host
 * @first: least of the values that a workload compares
 * @events: packets that arrived or left, events of hosts and timers
 * @injected: packets injected
 * @ejected: packets that reached a host
 * @inj_flits: flits injected
 * @ej_flits: flits that reached a host
 * @hops: links crossed by the packets in @ejected
 * @sent: packets put on links
 * @reduced: packets taken by Reducers
 * @results: results issued
 * @credits: credit packets to children
 * @pe_credits: credit packets to the PE
 * @done: units of the workload, for progress and completeness
 * @wrong: wrong values
 * @bytes: payload that a workload has received
 * @refused: operations whose route crosses a link that is down
 * @traced: replays: links that packets cross in the trace
 * @others: replays: packets that cross another number of links than in the trace
 * @posted: identities of packets that were generated, added up; 0 without any
 * @fetched: identities of packets that reached their host, added up
 * @lat_n: packets measured
 * @lat_sum: sum of their times from posting to delivery
 * @lat_max: longest of these times
 * @meas_flits: flits that reached a host during the measurement
 */
struct sim_acc {
	u64 last;
	u64 first;
	u64 events;
	u64 injected;
	u64 ejected;
	u64 inj_flits;
	u64 ej_flits;
	u64 hops;
	u64 sent;
	u64 reduced;
	u64 results;
	u64 credits;
	u64 pe_credits;
	u64 done;
	u64 wrong;
	u64 bytes;
	u64 refused;
	u64 traced;
	u64 others;
	u64 posted;
	u64 fetched;
	u64 lat_n;
	u64 lat_sum;
	u64 lat_max;
	u64 meas_flits;
};

struct sim;

/**
 * struct sim_part - nodes of one thread
 * @sim: the simulation
 * @lo: first node, counted from the first of this process
 * @hi: node after the last
 * @index: number among all partitions of all processes
 * @now: time of the event being run
 * @end: end of the window being run
 * @pkt: packets, [0] is unused
 * @op: operations, [0] is unused
 * @cr: credits, [0] is unused
 * @win: events of the next SIM_WINDOWS windows
 * @heap: later events, a binary heap by time
 * @cur: events of the node being run
 * @cur_at: index of the next event in @cur
 * @node: the node being run
 * @active: nodes with events in the window
 * @pushes: events put on @heap
 * @out: mail for each partition
 * @acc: counts
 * @trace: records, if the run is traced
 * @next: time of the next event of the partition
 */
struct sim_part {
	struct sim *sim;
	u32 lo;
	u32 hi;
	u32 index;
	u32 node;
	u64 now;
	u64 end;
	u64 window;
	struct sim_pkt *pkt;
	u32 pkts;
	u32 pkt_free;
	u32 pkt_live;
	u32 ops;
	u32 op_free;
	u32 op_live;
	struct sim_op *op;
	struct sim_credit *cr;
	u32 crs;
	u32 cr_free;
	u32 cr_live;
	struct sim_evs win[SIM_WINDOWS];
	struct sim_evs heap;
	struct sim_evs cur;
	u32 cur_at;
	u32 nactive;
	u32 pushes;
	u32 *active;
	u64 pending;
	struct sim_mails *out;
	struct sim_acc acc;
	struct sim_trace *trace;
	u64 next;
	u64 counted;
} ____cacheline_aligned;	/* threads do not share cache lines */

/**
 * struct sim_work - a workload
 * @name: name of the workload
 * @start: start the operations of @node, or push events; may be NULL
 * @eject: handle a packet that reaches the host of @node at @time, now or later
 * @host: handle an event that the workload pushed
 * @stream: return the next packet of an endless stream, see inject.c; may be
 *	NULL
 * @shortest: with @stream: return the bytes of the shortest packet of the stream
 * @acks: @eject gets acknowledgements as well
 */
struct sim_work {
	const char *name;
	void (*start)(struct sim_part *p, u32 node);
	void (*eject)(struct sim_part *p, u32 node, const struct sim_pkt *k,
		      u64 time);
	void (*host)(struct sim_part *p, u32 node, u32 arg);
	bool (*stream)(struct sim_part *p, u32 node, struct sim_op *op);
	u32 (*shortest)(const struct sim *s);
	bool acks;
};

/**
 * struct sim - a simulation
 * @cfg: parameters
 * @topo: fabric
 * @base: first router of this process
 * @nodes: routers of this process, nodes and switches
 * @nports: ports of the largest router
 * @nsrc: sources of a router
 * @src0: first source that does not belong to a link
 * @words: words of a set of sources
 * @place: tori: the length of the run's longest packet in flits.  Each packet
 *	occupies that much of a buffer, except on the adaptive channel, and
 *	leaves that much free when it enters a ring; 0: the packet's length
 * @modules: computing modules of a node
 * @out_stride: bytes of a struct sim_out
 * @window: length of a window, not above the latency of any cable
 * @link_ps: time of a packet on a link, by flits
 * @host_ps: time to or from the host, by flits
 * @header_ps: additional time of each packet to or from the host
 * @end: ends of cables, [nodes][nports]
 * @fault: faults of the cables, [nodes][nports]; NULL: none
 * @retry: senders of the cables, [nodes][nports], if @fault is not NULL
 * @down: for each router of the fabric, ports whose links are down; NULL: none
 * @coord: TORUS of at most ANG_MAX_DIMS dimensions: coordinates of all nodes;
 *	else NULL
 * @route: ports that --routes gives, [routers][nodes] of the whole fabric, or
 *	NULL: the routes of the topology
 * @near: if @coord is NULL: cables from each router to each node,
 *	[routers][nodes] of the whole fabric
 * @rows: rows of each tree, for all routers of the fabric; NULL for an unused
 *	TreeId
 * @row: during the run, rows of this process's routers, [nodes][ntrees]
 * @fifo: [nodes][nsrc]
 * @out: [nodes][SIM_OUT_NUM] of @out_stride
 * @vc: [nodes][nports][SIM_NVC]
 * @tree: [nodes][ntrees], only if there are reductions
 * @nic: [nodes]
 * @inj_free: time when the injection channel of a module is free,
 *	[nodes][modules]
 * @pe_free: time when the channel to a module is free, [nodes][modules]
 * @work: workload
 * @arg: parameters of the workload
 * @state: memory of the workload, @state_size bytes per node
 */
struct sim {
	struct sim_cfg cfg;
	struct ang_topo topo;
	u32 base;
	u32 nodes;
	u32 nports;
	u32 nsrc;
	u32 src0;
	u32 words;
	u32 place;
	u32 modules;
	u32 out_stride;
	u32 room;	/* TreeIds of a router */
	u32 ntrees;
	u64 window;
	u64 *link_ps;
	u64 *host_ps;
	u64 header_ps;
	u32 max_flits;
	struct sim_end *end;
	struct ang_fault *fault;
	struct sim_retry *retry;
	u64 *down;
	u16 (*coord)[ANG_MAX_DIMS];
	u8 *route;
	u8 *near;
	struct angara_tree_row *rows[ANGARA_MAX_TREES];
	struct angara_tree_row *row;
	struct sim_fifo *fifo;
	char *out;
	struct sim_vc *vc;
	struct sim_tree *tree;
	struct sim_nic *nic;
	u64 *inj_free;
	u64 *pe_free;
	u32 *ev_head;
	const struct sim_work *work;
	void *arg;
	char *state;
	u32 state_size;
	u32 nparts;	/* partitions in all processes */
	u32 part0;	/* first of this process */
	u32 threads;
	u32 *owner_lo;	/* first router of each partition, in the whole fabric */
	struct sim_part *part;
	u64 expect;	/* expected sum of acc.done; 0: not known */
	u64 until;		/* approximate end of the run, if @expect is 0 */
	u8 *watched;	/* nodes to trace, a bit each; NULL: all */
	struct sim_mails *inbox;	/* mail from other processes, by partition */
	const char *title;
	const char *what;	/* command and parameters, see checkpoint.c */
	const char *checkpoint;	/* file, or NULL */
	const char *restore;
	u64 every;		/* seconds between checkpoints */
	u64 busiest;		/* events of the busiest partition, over windows */
	u64 stop_at;		/* time to write a checkpoint and stop */
	bool stopped;
};

static inline struct sim_fifo *sim_fifo(struct sim *s, u32 node, u32 src)
{
	return &s->fifo[(size_t)node * s->nsrc + src];
}

static inline struct sim_out *sim_out(struct sim *s, u32 node, u32 out)
{
	return (struct sim_out *)(s->out + ((size_t)node * SIM_OUT_NUM(s) + out) *
					   s->out_stride);
}

static inline struct sim_vc *sim_vc(struct sim *s, u32 node, u32 port, u32 vc)
{
	return &s->vc[((size_t)node * s->nports + port) * SIM_NVC + vc];
}

static inline const struct sim_end *sim_end(const struct sim *s, u32 node,
					    u32 port)
{
	return &s->end[(size_t)node * s->nports + port];
}

static inline bool sim_is_switch(const struct sim *s, u32 node)
{
	return ang_topo_is_switch(&s->topo, s->base + node);
}

/* Return: flits of the longest packet. */
static inline u32 sim_longest(const struct sim *s)
{
	return ang_flits_of(1, (u32)s->cfg.packet);
}

/*
 * Return: flits of a buffer that a packet occupies.  On a torus a packet takes a place as long as
 * the longest packet, as in adapters: otherwise free room might be split into parts that are each
 * too small for the longest packet.
 */
static inline u32 sim_place(const struct sim *s, u32 vc, u32 flits)
{
	return s->place && vc != SIM_VC_ADAPT ? s->place : flits;
}

/*
 * Is it a point-to-point packet of a host?  Point-to-point packets of other types are answers of
 * adapters.
 */
static inline bool sim_is_request(u32 type)
{
	return type == ANG_PKT_PUT || type == ANG_PKT_GET ||
	       type == ANG_PKT_SEND || type == ANG_PKT_ATOMIC;
}

/* Return: cycles that a packet takes through a router. */
static inline u32 sim_hop(const struct sim *s, u32 node)
{
	return (u32)(sim_is_switch(s, node) ? s->cfg.switch_cycles :
					      s->cfg.router);
}

static inline struct sim_tree *sim_tree(struct sim *s, u32 node, u32 tree)
{
	return &s->tree[(size_t)node * s->ntrees + tree];
}

static inline void *sim_state(struct sim *s, u32 node)
{
	return s->state + (size_t)node * s->state_size;
}

/* The row of a router of this process. */
static inline const struct angara_tree_row *sim_row(struct sim *s, u32 node,
						    u32 tree)
{
	return &s->row[(size_t)node * s->ntrees + tree];
}

/* Source of a module's requests. */
static inline u32 sim_inj(const struct sim *s, u32 module)
{
	return s->src0 + (module ? SIM_SRC_MODULE - 1 + module : SIM_SRC_INJ);
}

static inline bool sim_is_inj(const struct sim *s, u32 src)
{
	return src == s->src0 + SIM_SRC_INJ ||
	       (src >= s->src0 + SIM_SRC_MODULE &&
		src < s->src0 + SIM_SRC_MODULE + s->modules - 1);
}

/* Source of a tree's results. */
static inline u32 sim_result(const struct sim *s, u32 tree)
{
	return s->src0 + SIM_SRC_MODULE + s->modules - 1 + tree;
}

/* Flits of a credit packet for the PE: a count of each tree. */
static inline u32 sim_credit_flits(const struct sim *s)
{
	return ang_flits_of(1, s->room * (u32)sizeof(u64));
}

/* Is it a source of a Reducer's results? */
static inline bool sim_is_result(const struct sim *s, u32 src)
{
	return src >= sim_result(s, 0);
}

/* Return: the edge of the routers' clock at or after @time. */
static inline u64 sim_align(const struct sim *s, u64 time)
{
	return (time + s->cfg.clock - 1) / s->cfg.clock * s->cfg.clock;
}

static inline u64 sim_cycles(const struct sim *s, u32 n)
{
	return s->cfg.clock * n;
}

/* Return: time that a packet takes to or from the host. */
static inline u64 sim_host_time(const struct sim *s, u32 flits)
{
	return s->host_ps[flits] + s->header_ps;
}

static inline u64 sim_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* As sim_trace_add(); does nothing without a trace. */
static inline void sim_note(struct sim_part *p, u32 event, u32 node,
			    const struct sim_pkt *k, u32 port, u64 from, u64 to)
{
	if (__builtin_expect(!!p->trace, 0))
		sim_trace_add(p, event, node, k, port, from, to);
}

#include "funcs.h"

#endif /* ANG_SIM_H */
