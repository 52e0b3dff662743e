/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flit engine: routers that move single flits, tick by tick.
 *
 * A tick is the time of a flit on a link.  It equals a cycle of the routers if
 * links carry a flit per cycle; otherwise delays are rounded to ticks.
 *
 * A router has inputs and outputs: first the VCs of its links, by port, then the
 * inputs from its hosts and the outputs to its hosts.  In a tick the head flits
 * at the front of inputs request outputs (allocation of VCs), and inputs that
 * have an output request the port of this output (allocation of the switch).
 * Both allocations serve requests in turn.  An output belongs to one packet until
 * the packet's tail has left, so flits of packets never mix in a VC; VCs share a
 * link flit by flit.  A flit that leaves a router becomes an arrival at the next
 * router some ticks later, and a credit for the previous router.
 *
 * Routers affect each other by arrivals and credits only, so their order within
 * a tick makes no difference.  Routers and hosts without flits cost nothing.
 *
 * Invariant of each VC of a link, see flit_check(): the depth of the buffer is
 * the sum of the room that the sender knows of, the flits and credits on the
 * cable, the flits in the buffer, and the room reserved for packets.
 */
#ifndef ANG_SIM_FLIT_H
#define ANG_SIM_FLIT_H

#include "work.h"

#define FLIT_NONE	0xFFFFFFFFU

/**
 * struct flit - a flit
 * @pkt: packet of the flit
 * @nr: number of the flit in the packet; 0 is the head
 */
struct flit {
	u32 pkt;
	u32 nr;
};

/**
 * struct flit_pkt - a packet
 * @born: time of its generation, in ps
 * @entered: tick when its head left the host
 * @value: identity, see traffic.c
 * @src: node
 * @dst: node
 * @rank: target module
 * @next: next packet of its host, or next free packet
 * @flits: length
 * @got: flits that have reached the target
 * @hops: links crossed
 * @ties: torus: a bit per dimension: the direction to take if both are equally
 *	short
 */
struct flit_pkt {
	u64 born;
	u64 entered;
	u64 value;
	u32 src;
	u32 dst;
	u32 rank;
	u32 next;
	u16 flits;
	u16 got;
	u16 hops;
	u16 ties;
};

/**
 * struct flit_in - an input: the buffer of a VC
 * @at: index of the buffer in flit_net.ring
 * @size: capacity in flits
 * @head: first flit
 * @len: flits
 * @out: output of the packet at its front; FLIT_NONE: none yet
 * @since: first tick in which its flits may pass the switch
 * @known: packet to which @det and @outs belong, FLIT_NONE: none
 * @det: output on the fabric's route
 * @turn: output to hosts to try first
 * @outs: ports of all shortest paths
 */
struct flit_in {
	u32 at;
	u32 size;
	u32 head;
	u32 len;
	u32 out;
	u32 known;
	u32 det;
	u32 turn;
	u64 since;
	u64 outs;
};

/**
 * struct flit_out - an output: a VC behind a port
 * @owner: input whose packet uses this output, FLIT_NONE: none
 * @turn: input to serve first
 * @room: flits that the buffer behind the output can take, as far as the router knows
 * @rest: flits of the owner's packet for which @room has been reserved
 * @pad: room that a packet occupies beyond its flits, see struct flit_rule
 * @free: PCIe: time when the channel of the output can take the next flit, in ps
 */
struct flit_out {
	u32 owner;
	u32 turn;
	u32 room;
	u32 rest;
	u32 pad;
	u64 free;
};

/**
 * struct flit_port - the far end of a port
 * @router: router, ANG_NONE: nothing
 * @in: first input of this port there
 * @depth: flits of each VC's buffer
 * @delay: ticks from the switch to the buffer
 * @credit: ticks from the far switch to a credit at this port
 */
struct flit_port {
	u32 router;
	u32 in;
	u32 depth;
	u32 delay;
	u32 credit;
};

/**
 * struct flit_host - a computing module, or the terminal of a node
 * @next: time of the next packet, in ps; SIM_NEVER: no more packets
 * @free: PCIe: time when the channel from the host is free, in ps
 * @count: packets generated
 * @first: terminal: first packet that waits; FLIT_NONE: none
 * @last: terminal: last packet that waits
 * @sent: terminal: flits of @first that have left
 * @fifo: PCIe: packets in the adapter's FIFO
 * @vc: terminal: VC of the packet being sent, or last sent
 * @listed: PCIe: the host is in @due of struct flit_net
 * @room: terminal: room of the router's buffer, by VC
 */
struct flit_host {
	u64 next;
	u64 free;
	u32 count;
	u32 first;
	u32 last;
	u32 sent;
	u32 fifo;
	u32 vc;
	bool listed;
	u32 room[2];
};

/*
 * An arrival: @in is the number of an input, over all routers, or FLIT_TO_HOST |
 * the number of an output to a host.
 */
struct flit_arrival {
	u32 in;
	struct flit flit;
};

#define FLIT_TO_HOST	0x80000000U

/**
 * struct flit_slot - arrivals and credits of a tick
 * @arrival: flits that arrive
 * @credit: outputs, or FLIT_TO_HOST | inputs of hosts, that get a credit
 * @arrivals: number of @arrival
 * @arrivals_size: room in @arrival
 * @credits: number of @credit
 * @credits_size: room in @credit
 */
struct flit_slot {
	struct flit_arrival *arrival;
	u32 *credit;
	u32 arrivals;
	u32 arrivals_size;
	u32 credits;
	u32 credits_size;
};

/**
 * struct flit_rule - how routers and hosts work
 * @tick: time of a flit on a link, in ps
 * @nvc: VCs of a link
 * @hvc: inputs of hosts at a router, and outputs to them
 * @alloc: ticks from the allocation of a VC to that of the switch
 * @one_way: the inputs of a port share one input of the switch; otherwise each
 *	input has its own input of the switch
 * @whole: a packet leaves only if there is room for all of it
 * @place: with @whole: flits of a buffer of VC 0 that each packet occupies; 0:
 *	the packet's length
 * @spare: with @whole: further room in flits that a packet needs to enter a
 *	ring of a torus
 * @longest: flits of the longest packet
 * @date_line: packets take dimension order, and VC 1 along a ring whose date line
 *	they cross; otherwise they take the routes of the fabric on VC 0
 * @crossing: with @date_line: packets take VC 1 only from the hop across the date
 *	line on
 * @adaptive: packets take any shortest path on VC 1
 * @host_in: flits that an input of a host holds
 * @hosts: kind of hosts
 */
struct flit_rule {
	u64 tick;
	u32 nvc;
	u32 hvc;
	u32 alloc;
	bool one_way;
	bool whole;
	u32 place;
	u32 spare;
	u32 longest;
	bool date_line;
	bool crossing;
	bool adaptive;
	u32 host_in;
	const struct flit_hosts *hosts;
};

struct flit_net;

/**
 * struct flit_hosts - a kind of hosts
 * @start: set up hosts
 * @tick: generate packets of hosts that are due, and send flits
 * @left: note that the head of a packet has left an input of hosts
 * @may: check whether an output may take a flit now
 * @take: let an output take a flit in this tick
 * @arrive: note that a flit reaches a terminal
 * @pcie: hosts are behind PCI Express, whose delays apply
 */
struct flit_hosts {
	void (*start)(struct flit_net *n);
	void (*tick)(struct flit_net *n);
	void (*left)(struct flit_net *n, u32 router, u32 host);
	bool (*may)(const struct flit_net *n, const struct flit_out *o);
	void (*take)(struct flit_net *n, u32 router, u32 out, struct flit f);
	void (*arrive)(struct flit_net *n, u32 out, struct flit f);
	bool pcie;
};

extern const struct flit_hosts flit_pcie;
extern const struct flit_hosts flit_terminals;

/**
 * struct flit_due - when a host generates its next packet
 * @tick: tick
 * @host: host
 */
struct flit_due {
	u64 tick;
	u32 host;
};

/**
 * struct flit_count - counters of a run
 * @entered: flits that left hosts
 * @left: flits that reached their target
 * @crossed: links crossed by flits
 * @packets: packets delivered
 * @net_sum: sum over measured packets: ticks from the host to the target, for
 *	the tail
 * @switched: flits that passed a switch
 * @moved: last tick in which a flit passed a switch
 * @worked: routers that had flits, summed over ticks
 */
struct flit_count {
	u64 entered;
	u64 left;
	u64 crossed;
	u64 packets;
	u64 net_sum;
	u64 switched;
	u64 moved;
	u64 worked;
};

/**
 * struct flit_net - a network
 * @s: fabric, routes, patterns; its sums and times are filled in
 * @c: traffic
 * @rule: rules of routers and hosts
 * @nports: ports of a router, without hosts
 * @inputs: number of inputs of a router; it has as many outputs
 * @words: words of a set of inputs
 * @routers: routers
 * @hosts: hosts
 * @now: tick
 * @ring: flits of all inputs
 * @in: inputs, [routers][@inputs]
 * @out: outputs, [routers][@inputs]
 * @port: ports, [routers][@nports]
 * @in_port: port of each input; @nports: hosts
 * @held: per router, inputs that have an output; words of 64
 * @busy: per router, inputs with flits
 * @active: routers with flits, a bit each
 * @sending: terminals with packets, a bit each
 * @host: hosts
 * @slot: the next @slots ticks
 * @slots: a power of two
 * @pkt: packets
 * @pkts: number of packets in @pkt
 * @pkt_free: first free packet, FLIT_NONE: none
 * @pkt_live: packets in flight
 * @due: hosts that generate packets, a binary heap by tick
 * @dues: number of hosts in @due
 * @acc: sums and times, as in the packet engine
 * @way_turn: [routers][@nports + 1] with one_way: VC of a port to serve first
 * @port_turn: [routers][@nports + 1] input, or port, that a port serves first
 * @count: counters
 * @best: request to grant for each output or port, while a router is served
 * @best_key: distance of @best from the request to serve first
 * @asked: outputs or ports that are requested
 * @wrong: an invariant that does not hold, or NULL
 */
struct flit_net {
	struct sim *s;
	const struct traffic *c;
	struct flit_rule rule;
	u32 nports;
	u32 inputs;
	u32 words;
	u32 routers;
	u32 hosts;
	u64 now;
	struct flit *ring;
	struct flit_in *in;
	struct flit_out *out;
	struct flit_port *port;
	u32 *in_port;
	u64 *held;
	u64 *busy;
	u64 *active;
	u64 *sending;
	struct flit_host *host;
	struct flit_slot *slot;
	u32 slots;
	struct flit_pkt *pkt;
	u32 pkts;
	u32 pkt_free;
	u32 pkt_live;
	struct flit_due *due;
	u32 dues;
	struct sim_acc *acc;
	u32 *way_turn;
	u32 *port_turn;
	struct flit_count count;
	u32 *best;
	u32 *best_key;
	u32 *asked;
	const char *wrong;
};

static inline struct flit_port *flit_port(struct flit_net *n, u32 router, u32 port)
{
	return &n->port[(size_t)router * n->nports + port];
}

static inline struct flit_in *flit_in(struct flit_net *n, u32 router, u32 in)
{
	return &n->in[(size_t)router * n->inputs + in];
}

static inline struct flit_out *flit_out(struct flit_net *n, u32 router, u32 out)
{
	return &n->out[(size_t)router * n->inputs + out];
}

/* Return: flits that a packet occupies in the buffer behind output @out, or of input @out. */
static inline u32 flit_place(const struct flit_net *n, u32 out, u32 flits)
{
	return n->rule.place && !(out % n->rule.nvc) ? n->rule.place : flits;
}

/* Return: number of the first input from hosts, which is also that of the first output to hosts. */
static inline u32 flit_host0(const struct flit_net *n)
{
	return n->nports * n->rule.nvc;
}

/* flit_net.c */
int flit_init(struct flit_net *n, struct sim *s, const struct traffic *c,
	      const struct flit_rule *rule);
void flit_free(struct flit_net *n);
u32 flit_pkt_new(struct flit_net *n);
void flit_pkt_free(struct flit_net *n, u32 k);
void flit_arrive_at(struct flit_net *n, u32 in, struct flit f, u64 ticks);
void flit_credit_at(struct flit_net *n, u32 out, u64 ticks);
void flit_put(struct flit_net *n, u32 in, struct flit f);
void flit_due_add(struct flit_net *n, u64 tick, u32 host);
bool flit_due_take(struct flit_net *n, u32 *host);

/* flit_route.c */
u32 flit_pick(struct flit_net *n, u32 router, u32 in);

/* flit_router.c */
void flit_serve(struct flit_net *n, u32 router);

/* flit_host.c */
void flit_got(struct flit_net *n, struct flit f, u64 time);
void flit_describe(struct flit_net *n, u32 k, u32 rank);

/* flit_check.c */
const char *flit_check(struct flit_net *n);

/* flit_run.c */
void flit_run(struct flit_net *n, bool check);

#endif /* ANG_SIM_FLIT_H */
