/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-sim: structure of the simulation.
 *
 * A router, of a node or a switch, has sources (FIFOs: one per incoming link and
 * virtual channel, and those within the adapter) and outputs (links, the
 * processing element, the Reducer, the root's PEGroup FIFO).  The head of a source requests outputs. An
 * output serves one source at a time, in turn, when it is free and there is
 * room behind it.  The device model's rules decide which outputs a packet
 * requests (driver/model/ang_rules.h, ang_topo, ang_tree, ang_combine); clocks,
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
#include "ang_rules.h"
#include <angara/topo.h>
#include <linux/angara.h>
#include "config.h"
#include "trace.h"

#define SIM_NEVER	(~0ULL)

/* Virtual channels: those of the adapter, ANGARA_VC_*, and one more. */
#define SIM_VC_ADAPT	ANGARA_VC_NUM	/* requests on any shortest path */
#define SIM_NVC		(ANGARA_VC_NUM + 1)

/* Sources after those of the links, which are port * SIM_NVC + vc. */
#define SIM_SRC_PE	0	/* PEGroup FIFO: injected collectives */
#define SIM_SRC_ROOT	1	/* PEGroup FIFO: this root distributes */
#define SIM_SRC_INJ	2	/* injected requests, point to point */
#define SIM_SRC_RSP	3	/* answers, point to point */
#define SIM_SRC_CREDIT	4	/* credit unit */
#define SIM_SRC_RESULT	5	/* results of the Reducer, one per tree */
#define SIM_SRC_NUM	(SIM_SRC_RESULT + ANG_DEF_TREES)
/* Behind them requests of modules 1, 2, ...; SIM_SRC_INJ has those of module 0. */
#define SIM_SRC_MOST	(SIM_SRC_NUM + ANGARA_MAX_LOCAL - 1)

/*
 * Outputs; links come first, by port.  They make a set of one word, so a router
 * has at most SIM_MAX_PORTS.
 */
#define SIM_OUT_PE(s)	((s)->nports)
#define SIM_OUT_RED(s)	((s)->nports + 1)
#define SIM_OUT_ROOT(s)	((s)->nports + 2)
#define SIM_OUT_NUM(s)	((s)->nports + 3)

#define SIM_PE(s)	(1ULL << SIM_OUT_PE(s))

static_assert(SIM_MAX_PORTS + 3 == 64, "a word of outputs");

/**
 * struct sim_pkt - a packet, or a train of some that travel together
 * @tail: when all of it is in the current buffer
 * @elig: when it may leave from there at the earliest
 * @born: when its host posted it
 * @value: operand of reductions: a sample of the payload
 * @src: node that injected it
 * @dst: target, ANG_NONE for a collective; of a reduce the receiver
 * @seq: reductions: as in struct ang_pkt; others: free for the workload
 * @next: packet behind it, or next free one
 * @flits: length
 * @hops: links crossed
 * @type: ANG_PKT_*
 * @tree: TreeId
 * @npkts: packets
 * @vc: virtual channel that it leaves on
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
	u8 npkts;
	u8 vc;
	u32 bytes;
};

/**
 * struct sim_fifo - a source
 * @ready: when the head may leave
 * @free: when the tail of the last packet that left has left
 * @head: first packet, 0 for none
 * @tail: last packet
 * @len: packets, those of a train by number
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
 * @free: when the tail of its current packet has left
 * @kick: when it checks its sources again, 0 if there is no such event
 * @flits: number of flits carried
 * @pkts: number of packets carried, per virtual channel
 * @turn: source that is first to be served
 * @want: sources whose heads request it; sim.words words
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
 * @depth: packets that the other end buffers per virtual channel
 * @latency: of the cable
 */
struct sim_end {
	u32 router;
	u16 port;
	u16 depth;
	u64 latency;
};

/**
 * struct sim_vc - a link's virtual channel, as its sender sees it
 * @used: slots of the buffer behind the link that are not known to be free, and
 *	those that the rest of a train takes later
 * @head: first entry of @back
 * @count: entries of @back
 * @wait: there was no room and no credit under way
 * @back: when slots become known as free, in order; sim.backs entries
 *
 * A packet takes a slot when its head leaves for the buffer.  A train may leave
 * if each of its packets has a slot by the time of its own head; so @used may
 * exceed the buffer by a train and by credits that come while it leaves.
 */
struct sim_vc {
	u16 used;
	u16 head;
	u16 count;
	u16 wait;
	u64 back[];
};

/**
 * struct sim_slot - the Reducer's memory of one ReduceId
 * @finish: when its contents are complete
 * @start: when the first flits of its contents were
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
 * @pe_done: results that the PE has credits for
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
 * @start: when the adapter may start it
 * @born: when the host posted it
 * @value: see struct sim_pkt
 * @next: operation behind it, or in the list of free ones
 * @dst: see struct sim_pkt
 * @tag: sim_pkt.seq of the next packet
 * @left: bytes still to inject
 * @type: ANG_PKT_*
 * @tree: TreeId
 * @many: packets are numbered; otherwise all have number @tag
 * @module: computing module of the node that injects it
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
};

/**
 * struct sim_nic - other state of a node
 * @cpu_free: when its host has finished its sends
 * @timer: when the PE gets a credit packet, 0 for none
 * @rng: state of the workload's random numbers
 * @ops: first operation under way, 0 for none
 * @last: last one
 * @colls: those of them that are collectives
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

/* Kinds of events; a node handles those of one time in this order. */
#define SIM_EV_ARRIVE	0	/* @arg: packet; @port: source */
#define SIM_EV_HOST	1	/* @arg: the workload's */
#define SIM_EV_CREDIT	2	/* the PE learns of @arg results */
#define SIM_EV_TIMER	3	/* of the credit unit */
#define SIM_EV_KICK	4	/* output @port checks its sources */

#define SIM_EV_SHIFT	12
#define SIM_EV_PORT	((1U << SIM_EV_SHIFT) - 1)

static_assert(SIM_MAX_PORTS * SIM_NVC + SIM_SRC_MOST <= SIM_EV_PORT,
	      "a source is the port of an event");

/**
 * struct sim_ev - an event
 * @time: when it happens
 * @node: node, counted from the first of this process
 * @arg: see SIM_EV_*
 * @next: used within a window
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
 * @time: when it arrives
 * @node: target, in the whole fabric
 * @port: source at which it arrives; for a credit: output * SIM_NVC + vc
 * @credit: it is a credit, and has no packet
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

#define SIM_WINDOWS	64	/* held in vectors; later ones are in a heap */

/**
 * struct sim_acc - counts of a partition
 * @last: when the last packet reached a host
 * @first: least of the values that a workload compares, see there
 * @events: packets that arrived or left, events of hosts and timers
 * @injected: packets injected
 * @ejected: packets that reached a host
 * @inj_flits: flits injected
 * @ej_flits: flits that reached a host
 * @hops: links crossed by those
 * @sent: packets put on links
 * @reduced: packets taken by Reducers
 * @results: results issued
 * @credits: credit packets to children
 * @pe_credits: credit packets to the PE
 * @done: units of the workload, for progress and completeness
 * @wrong: wrong values
 * @posted: identities of packets that were generated, added up; 0 without any
 * @fetched: the same of those that reached their host
 * @lat_n: packets measured
 * @lat_sum: their time from born to delivered
 * @lat_max: longest
 * @busy: picoseconds of link time used while measuring
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
 * @hi: behind the last
 * @index: number among all partitions of all processes
 * @now: time of the event being run
 * @end: end of the window being run
 * @pkt: packets, [0] is unused
 * @op: operations, [0] is unused
 * @win: events of the next SIM_WINDOWS windows
 * @heap: later ones, a binary heap by time
 * @cur: events of the node being run
 * @cur_at: the next one of them
 * @node: that node
 * @active: nodes with events in the window
 * @pushes: events put on @heap
 * @out: mail for each partition
 * @acc: counts
 * @trace: records, if wanted
 * @next: when it has its next event
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
} ____cacheline_aligned;	/* threads do not share lines */

/**
 * struct sim_work - a workload
 * @name: its name
 * @start: start the operations of @node, or push events; may be NULL
 * @eject: a packet reaches the host of @node at @time, which is not before now
 * @host: an event that the workload pushed
 * @next: the next packet of an endless stream, see inject.c; may be NULL
 */
struct sim_work {
	const char *name;
	void (*start)(struct sim_part *p, u32 node);
	void (*eject)(struct sim_part *p, u32 node, const struct sim_pkt *k,
		      u64 time);
	void (*host)(struct sim_part *p, u32 node, u32 arg);
	bool (*stream)(struct sim_part *p, u32 node, struct sim_op *op);
};

/**
 * struct sim - a simulation
 * @cfg: parameters
 * @topo: fabric
 * @base: first router of this process
 * @nodes: routers of this process, nodes and switches
 * @nports: ports of the largest router
 * @nsrc: sources of a router
 * @src0: first source that is not of a link
 * @words: words of a set of sources
 * @bubble: see ang_room_needed()
 * @modules: computing modules of a node
 * @out_stride: bytes of a struct sim_out
 * @vc_stride: bytes of a struct sim_vc
 * @backs: see struct sim_vc
 * @window: no cable has less latency
 * @link_ps: time of a packet on a link, by flits
 * @host_ps: time to or from the host, by flits
 * @header_ps: additional time of each packet there
 * @end: ends of cables, [nodes][nports]
 * @coord: TORUS of at most ANG_MAX_DIMS dimensions: coordinates of all nodes;
 *	else NULL
 * @route: ports that --routes gives, [routers][nodes] of the whole fabric, or
 *	NULL: the topology's
 * @near: @coord is NULL: cables from each router to each node, [routers][nodes]
 *	of the whole fabric
 * @rows: of each tree, for all routers of the fabric; NULL if there is no such
 * @row: during the run, those of the routers of this process, [nodes][ntrees]
 * @fifo: [nodes][nsrc]
 * @out: [nodes][SIM_OUT_NUM] of @out_stride
 * @vc: [nodes][nports][SIM_NVC] of @vc_stride
 * @tree: [nodes][ntrees], only if there are reductions
 * @nic: [nodes]
 * @inj_free: when the injection channel of a module is free, [nodes][modules]
 * @work: workload
 * @arg: its parameters
 * @state: its memory, @state_size per node
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
	u32 bubble;
	u32 modules;
	u32 out_stride;
	u32 vc_stride;
	u32 backs;
	u32 ntrees;
	u64 window;
	u64 *link_ps;
	u64 *host_ps;
	u64 header_ps;
	u32 max_flits;
	struct sim_end *end;
	u16 (*coord)[ANG_MAX_DIMS];
	u8 *route;
	u8 *near;
	struct angara_tree_row *rows[ANG_DEF_TREES];
	struct angara_tree_row *row;
	struct sim_fifo *fifo;
	char *out;
	char *vc;
	struct sim_tree *tree;
	struct sim_nic *nic;
	u64 *inj_free;
	u32 *ev_head;
	const struct sim_work *work;
	void *arg;
	char *state;
	u32 state_size;
	u32 nparts;	/* in all processes */
	u32 part0;	/* first of this process */
	u32 threads;
	u32 *owner_lo;	/* first router of each partition, in the whole fabric */
	struct sim_part *part;
	u64 expect;	/* final sum of acc.done; 0: not known */
	u64 until;	/* or the approximate end */
	u8 *watched;	/* nodes to trace, a bit each; NULL: all */
	struct sim_mails *inbox;	/* from other processes, by partition */
	const char *title;
	const char *what;	/* command and parameters, see checkpoint.c */
	const char *checkpoint;	/* file, or NULL */
	const char *restore;
	u64 every;		/* seconds between checkpoints */
	u64 stop_at;		/* write one and stop */
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
	return (struct sim_vc *)(s->vc + (((size_t)node * s->nports + port) *
					  SIM_NVC + vc) * s->vc_stride);
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

/* Cycles through a router. */
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
	return s->src0 + (module ? SIM_SRC_NUM - 1 + module : SIM_SRC_INJ);
}

static inline bool sim_is_inj(const struct sim *s, u32 src)
{
	return src == s->src0 + SIM_SRC_INJ || src >= s->src0 + SIM_SRC_NUM;
}

/* Is it one of results of a Reducer? */
static inline bool sim_is_result(const struct sim *s, u32 src)
{
	return src >= s->src0 + SIM_SRC_RESULT && src < s->src0 + SIM_SRC_NUM;
}

/* The next edge of the routers' clock. */
static inline u64 sim_align(const struct sim *s, u64 time)
{
	return (time + s->cfg.clock - 1) / s->cfg.clock * s->cfg.clock;
}

static inline u64 sim_cycles(const struct sim *s, u32 n)
{
	return s->cfg.clock * n;
}

/* Time of packets to or from the host. */
static inline u64 sim_host_time(const struct sim *s, u32 npkts, u32 flits)
{
	return s->host_ps[flits] + npkts * s->header_ps;
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
