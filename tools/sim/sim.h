/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angara-sim: the shape of it.
 *
 * A node has sources (FIFOs: one per link and virtual channel that packets
 * come in on, and those within the adapter) and outputs (links, the processing
 * element, the Reducer, the root's PEGroup FIFO).  The head of a source asks
 * for outputs; an output serves one at a time, in turn, when it is free and
 * whatever the packet needs beyond it has room.  What asks for what is decided
 * by the device model's rules (driver/model/ang_rules.h, ang_topo, ang_tree,
 * ang_combine); clocks, buffers and contention are here.
 *
 * Time is in picoseconds.  Nodes act on each other over links only, never
 * sooner than the link's latency.  So time is cut into windows of that length:
 * within a window each node runs its own events in the order of (time, kind,
 * port), and what it does to others falls into later windows.  In which order
 * nodes run, and in which thread or process, makes no difference to any of
 * them: results are the same to the bit for any number of either.
 *
 * A node without events costs nothing: its memory is zero until it is used,
 * and zero is a valid state.  Packets and events live in pools of a partition,
 * nothing is allocated for one.
 *
 * Credits take no events.  Who frees a place of a buffer writes down when the
 * news reaches the sender, which reads them when it wants to send; only if it
 * waits is it woken.
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
#define SIM_VC_ADAPT	ANGARA_VC_NUM	/* requests on any shortest way */
#define SIM_NVC		(ANGARA_VC_NUM + 1)

/* Sources behind those of the links, which are dir * SIM_NVC + vc. */
#define SIM_SRC_PE	0	/* PEGroup FIFO: injected collectives */
#define SIM_SRC_ROOT	1	/* PEGroup FIFO: what this root distributes */
#define SIM_SRC_INJ	2	/* injected requests, point to point */
#define SIM_SRC_RSP	3	/* answers, point to point */
#define SIM_SRC_CREDIT	4	/* credit unit */
#define SIM_SRC_RESULT	5	/* results of the Reducer, one per tree */
#define SIM_SRC_NUM	(SIM_SRC_RESULT + ANG_DEF_TREES)

/* Outputs; links come first, by direction. */
#define SIM_OUT_PE	ANG_MAX_DIRS
#define SIM_OUT_RED	(ANG_MAX_DIRS + 1)
#define SIM_OUT_ROOT	(ANG_MAX_DIRS + 2)
#define SIM_OUT_NUM	(ANG_MAX_DIRS + 3)

static_assert(ANG_OUT_PE == 1U << SIM_OUT_PE, "outputs as in the model");
static_assert(ANG_MAX_DIRS * SIM_NVC + SIM_SRC_NUM <= 64, "a word of sources");

/**
 * struct sim_pkt - a packet, or a train of some that travel together
 * @tail: when all of it is in the buffer where it stands
 * @elig: when it may leave from there at the earliest
 * @born: when its host asked for it
 * @value: what reductions combine: a sample of the payload
 * @src: node that injected it
 * @dst: target, ANG_NONE for a collective; of a reduce the receiver
 * @seq: reductions: as in struct ang_pkt; others: free for the workload
 * @next: packet behind it, or in the list of free ones
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
 * @todo: outputs that the head still owes
 * @len: packets
 * @vc: virtual channel that the head leaves on, unless it is adaptive
 * @adaptive: the head is
 */
struct sim_fifo {
	u64 ready;
	u64 free;
	u32 head;
	u32 tail;
	u16 todo;
	u16 len;
	u8 vc;
	u8 adaptive;
};

/**
 * struct sim_out - an output
 * @free: when the tail of what it carries has left
 * @kick: when it is going to look again, 0 if no event says so
 * @want: sources whose heads ask for it
 * @flits: carried
 * @pkts: carried, per virtual channel
 * @turn: source that is first to be served
 */
struct sim_out {
	u64 free;
	u64 kick;
	u64 want;
	u64 flits;
	u32 pkts[SIM_NVC];
	u8 turn;
};

/**
 * struct sim_vc - a link's virtual channel, as its sender sees it
 * @used: places of the buffer beyond that are not known to be free
 * @head: first entry of @back
 * @count: entries of @back
 * @wait: there was no room and nothing on its way back
 * @back: when places become known as free, in order; cfg.buffer entries
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
 * @finish: when what it holds is complete
 * @start: when its first flits were
 * @pkt: packet, its value combined with that of those that followed
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
 * @pe_done: results that the PE knows of
 * @told: results that the PE has been told of
 * @credit_pend: credits to issue next
 * @credit_on: a credit packet of this tree is on its way out
 * @credits: results that the parent may get beyond the first 16
 * @slot: memory
 */
struct sim_tree {
	u32 issued;
	u32 done;
	u32 pe_done;
	u32 told;
	u32 credit_pend;
	u32 credit_on;
	u32 credits;
	u32 pad;
	struct sim_slot slot[ANGARA_MAX_REDUCES];
};

/**
 * struct sim_op - something a host has asked for
 * @start: when the adapter may begin with it
 * @born: when the host asked
 * @value: see struct sim_pkt
 * @next: operation behind it, or in the list of free ones
 * @dst: see struct sim_pkt
 * @tag: sim_pkt.seq of the next packet
 * @left: bytes still to inject
 * @type: ANG_PKT_*
 * @tree: TreeId
 * @many: packets are numbered, instead of all being @tag
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
	u8 pad;
};

/**
 * struct sim_nic - what else a node has
 * @cpu_free: when its host is done with what it was asked to send
 * @inj_free: when the injection channel is free
 * @timer: when the PE gets a credit packet, 0 for none
 * @rng: state of the workload's random numbers
 * @ops: first operation under way, 0 for none
 * @last: last one
 * @unreported: results that the PE has not been told of, over all trees
 * @credit: a credit packet for the PE is on its way
 */
struct sim_nic {
	u64 cpu_free;
	u64 inj_free;
	u64 timer;
	u64 rng;
	u32 ops;
	u32 last;
	u32 unreported;
	u32 credit;
};

/* Kinds of events; at one time a node takes them in this order. */
#define SIM_EV_ARRIVE	0	/* @arg: packet; @port: source */
#define SIM_EV_HOST	1	/* @arg: the workload's */
#define SIM_EV_CREDIT	2	/* the PE learns of results; @arg: how many */
#define SIM_EV_TIMER	3	/* of the credit unit */
#define SIM_EV_KICK	4	/* an output looks again; @port: which */

/**
 * struct sim_ev - an event
 * @time: when
 * @node: where, counted from the first of this process
 * @arg: see SIM_EV_*
 * @next: used within a window
 * @key: SIM_EV_* << 8 | port
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
 * struct sim_mail - what one partition sends another
 * @time: when it arrives
 * @node: where, in the whole torus
 * @port: source that it arrives at; for a credit: output * SIM_NVC + vc
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

#define SIM_WINDOWS	64	/* held in vectors; what is later is in a heap */

/**
 * struct sim_acc - what a partition counts
 * @last: when the last packet reached a host
 * @first: least of those that a workload compares, see there
 * @events: packets that came or left, and what hosts and timers did
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
 * @done: the workload's own units, for progress and completeness
 * @wrong: values that came out wrong
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
	u64 lat_n;
	u64 lat_sum;
	u64 lat_max;
	u64 meas_flits;
};

struct sim;

/**
 * struct sim_part - nodes that one thread runs
 * @sim: the simulation
 * @lo: first node, counted from the first of this process
 * @hi: behind the last
 * @index: number among all partitions of all processes
 * @now: time of the event being run
 * @end: end of the window being run
 * @pkt: packets, [0] is nobody
 * @op: operations, [0] is nobody
 * @win: events of the next SIM_WINDOWS windows
 * @heap: later ones, a binary heap by time
 * @cur: events of the node being run
 * @cur_at: the next of them
 * @node: that node
 * @active: nodes with events in the window
 * @pushes: events put on @heap
 * @out: mail for each partition
 * @acc: counts
 * @trace: records, if wanted
 * @next: when it has something to do
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
 * @start: ask for what @node does of itself, or push events; may be NULL
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
 * @topo: torus
 * @base: first node of this process
 * @nodes: nodes of this process
 * @ndirs: directions
 * @nsrc: sources of a node
 * @vc_stride: bytes of a struct sim_vc
 * @link_ps: time of a packet on a link, by flits
 * @host_ps: time on the way to or from the host, by flits
 * @header_ps: that each packet takes there besides
 * @nb: neighbours, [nodes][ndirs], in the whole torus
 * @coord: coordinates of all nodes of the torus
 * @rows: of each tree, for all nodes of the torus; NULL if there is no such
 * @row: once it runs, those of the nodes of this process, [nodes][ntrees]
 * @fifo: [nodes][nsrc]
 * @out: [nodes][SIM_OUT_NUM]
 * @vc: [nodes][ndirs][SIM_NVC] of @vc_stride
 * @tree: [nodes][ntrees], only if there are reductions
 * @nic: [nodes]
 * @work: workload
 * @arg: its parameters
 * @state: its memory, @state_size per node
 */
struct sim {
	struct sim_cfg cfg;
	struct ang_topo topo;
	u32 base;
	u32 nodes;
	u32 ndirs;
	u32 nsrc;
	u32 src0;
	u32 vc_stride;
	u32 ntrees;
	u64 window;
	u64 *link_ps;
	u64 *host_ps;
	u64 header_ps;
	u32 max_flits;
	u32 *nb;
	u16 (*coord)[ANG_MAX_DIMS];
	struct angara_tree_row *rows[ANG_DEF_TREES];
	struct angara_tree_row *row;
	struct sim_fifo *fifo;
	struct sim_out *out;
	char *vc;
	struct sim_tree *tree;
	struct sim_nic *nic;
	u32 *ev_head;
	const struct sim_work *work;
	void *arg;
	char *state;
	u32 state_size;
	u32 nparts;	/* in all processes */
	u32 part0;	/* first of this process */
	u32 threads;
	u32 *owner_lo;	/* first node of each partition, in the whole torus */
	struct sim_part *part;
	u64 expect;	/* sum of acc.done when all is done; 0: not known */
	u64 until;	/* or the time when it is, about */
	u8 *watched;	/* nodes whose records are kept, a bit each; NULL: all */
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
	return &s->out[(size_t)node * SIM_OUT_NUM + out];
}

static inline struct sim_vc *sim_vc(struct sim *s, u32 node, u32 dir, u32 vc)
{
	return (struct sim_vc *)(s->vc + ((size_t)(node * s->ndirs + dir) *
					  SIM_NVC + vc) * s->vc_stride);
}

static inline struct sim_tree *sim_tree(struct sim *s, u32 node, u32 tree)
{
	return &s->tree[(size_t)node * s->ntrees + tree];
}

static inline void *sim_state(struct sim *s, u32 node)
{
	return s->state + (size_t)node * s->state_size;
}

/* The row of a node of this process. */
static inline const struct angara_tree_row *sim_row(struct sim *s, u32 node,
						    u32 tree)
{
	return &s->row[(size_t)node * s->ntrees + tree];
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

/* Time that packets take on the way to or from the host. */
static inline u64 sim_host_time(const struct sim *s, u32 npkts, u32 flits)
{
	return s->host_ps[flits] + npkts * s->header_ps;
}

static inline u64 sim_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* As sim_trace_add(), and nothing if nobody wants to know. */
static inline void sim_note(struct sim_part *p, u32 event, u32 node,
			    const struct sim_pkt *k, u32 port, u64 from, u64 to)
{
	if (__builtin_expect(!!p->trace, 0))
		sim_trace_add(p, event, node, k, port, from, to);
}

#include "funcs.h"

#endif /* ANG_SIM_H */
