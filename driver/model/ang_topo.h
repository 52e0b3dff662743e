/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: topologies and routes.
 *
 * A fabric is routers with ports, and cables that join two ports.  A node is a
 * router with a processing element; a switch is a router without one.  Each
 * kind of topology knows peers and routes by arithmetic from its sizes; a
 * table, filled by the same arithmetic, holds them for the data path, where
 * nothing is divided.  A graph has no arithmetic: it always needs its table.
 *
 * Routes.  A node's number has digits.  A router has route registers: for each
 * digit its own value (or none), and a port per value of one digit.  The
 * first digit in which the destination differs from the router's own tells
 * the port.
 *
 * Deadlock.  Each channel (a cable in one direction) has a class.  A packet may
 * turn from one channel into another of a higher class only; on a ring of a
 * torus it may go straight on, too, and bubble flow control (ang_link.c) keeps
 * rings from deadlock.
 */
#ifndef ANG_TOPO_H
#define ANG_TOPO_H

#include "ang_env.h"

#define ANG_TOPO_DIMS	6U	/* digits of a node's number */
#define ANG_TOPO_PORTS	64U	/* of a router */
#define ANG_TOPO_NODES	(1U << 20)
#define ANG_TOPO_GRAPH_NODES	4096U	/* of a fabric that is described by its cables */

/**
 * enum ang_topo_kind - families of topologies
 * @ANG_TOPO_TORUS: "torus:4x4x2": rings; port 2 * d is "+", 2 * d + 1 is "-" of
 *	dimension d
 * @ANG_TOPO_MESH: "mesh:4x4x2": the same without the cables that close rings
 * @ANG_TOPO_HYPERCUBE: "hypercube:10": port d is bit d
 * @ANG_TOPO_MKNS: "mkns:8x10x10[,ports=10][,m=2]": dimension 1 everyone with
 *	everyone, others through switches (document 001)
 * @ANG_TOPO_KNS: "kns:8x10[,ports=10]": all dimensions through switches
 * @ANG_TOPO_FATTREE: "fattree:40,3[,nodes=1600]": ports of a switch, levels
 * @ANG_TOPO_GRAPH: "graph NAME", and a line per node, switch and cable
 * @ANG_TOPO_KINDS: how many there are
 */
enum ang_topo_kind {
	ANG_TOPO_TORUS,
	ANG_TOPO_MESH,
	ANG_TOPO_HYPERCUBE,
	ANG_TOPO_MKNS,
	ANG_TOPO_KNS,
	ANG_TOPO_FATTREE,
	ANG_TOPO_GRAPH,
	ANG_TOPO_KINDS,
};

struct ang_topo_table;

/**
 * struct ang_topo - a topology
 * @kind: ANG_TOPO_*
 * @ndims: digits of a node's number
 * @nports: ports of the largest router, joined to something or not
 * @levels: HYPERCUBE: bits; FATTREE: levels of switches
 * @dims: values of each digit
 * @adapter_ports: MKNS: ports of a node
 * @switch_ports: MKNS, KNS, FATTREE: ports of a switch
 * @modules: MKNS: computing modules per node
 * @nodes: routers with a processing element: numbers 0..@nodes - 1
 * @routers: nodes, and switches: numbers @nodes..@routers - 1
 * @table: filled table, or NULL; a pointer of this process
 */
struct ang_topo {
	u8 kind;
	u8 ndims;
	u8 nports;
	u8 levels;
	u16 dims[ANG_TOPO_DIMS];
	u16 adapter_ports;
	u16 switch_ports;
	u16 modules;
	u32 nodes;
	u32 routers;
	const struct ang_topo_table *table;
};

/**
 * struct ang_topo_why - what is wrong with a description
 * @what: in words
 * @line: line of a graph's text, 0 if it is of no one line
 */
struct ang_topo_why {
	const char *what;
	u32 line;
};

/**
 * ang_topo_read() - read the description of a fabric
 * @topo: out
 * @text: one line, or the lines of a graph; ends with NUL.  Sizes without a
 *	kind, "4x4x2", are those of a torus
 * @why: out: what is wrong with it
 *
 * Return: number of nodes; 0 if it describes no fabric.
 */
u32 ang_topo_read(struct ang_topo *topo, const char *text, struct ang_topo_why *why);

/* Bytes of the description of any kind but a graph. */
#define ANG_TOPO_TEXT	64U

/**
 * ang_topo_describe() - write the description of a fabric
 * @topo: fabric of any kind but GRAPH, whose text is what it was read from
 * @text: out: ANG_TOPO_TEXT bytes; ends with a newline, and a NUL behind it
 *
 * Return: bytes without the NUL; 0 for a graph.
 */
u32 ang_topo_describe(const struct ang_topo *topo, char *text);

/**
 * ang_topo_parse() - read sizes as people write them
 * @text: such as "2x2x2"; each size 1..65535
 * @dims: out: the first @max of them
 * @max: places in @dims
 *
 * Return: how many there are, which may be too many; 0 if it is no such text.
 */
u32 ang_topo_parse(const char *text, u16 *dims, u32 max);

/**
 * ang_topo_init() - make a torus from its sizes
 * @topo: out
 * @ndims: dimensions, at most ANG_MAX_DIMS
 * @dims: sizes
 *
 * Return: number of nodes, 0 if a size is out of range.
 */
u32 ang_topo_init(struct ang_topo *topo, u32 ndims, const u16 *dims);

/** ang_topo_table_size() - bytes of a topology's table, a multiple of 8 */
u64 ang_topo_table_size(const struct ang_topo *topo);

/**
 * ang_topo_fill() - fill a table, and use it from now on
 * @topo: as from ang_topo_read()
 * @text: GRAPH: the same text as it was read from; NULL does for others
 * @table: ang_topo_table_size() bytes, aligned to 8
 * @why: out: what is wrong with a graph
 *
 * The table holds no pointers: another process that maps it sets @topo->table
 * to it.
 * Return: number of nodes; 0 if the graph is none.
 */
u32 ang_topo_fill(struct ang_topo *topo, const char *text, void *table,
		  struct ang_topo_why *why);

/**
 * ang_topo_fill_begin() - ang_topo_fill() in parts, for a caller that yields between them
 * @topo: as from ang_topo_read()
 * @text: see ang_topo_fill()
 * @table: see there
 * @why: see there
 *
 * The table is filled after ang_topo_fill_router() for each router, in any order.
 * A graph, whose text bounds the work, is filled here.
 * Return: is it a fabric?
 */
bool ang_topo_fill_begin(const struct ang_topo *topo, const char *text, void *table,
			 struct ang_topo_why *why);
/** ang_topo_fill_router() - fill the part of a router */
void ang_topo_fill_router(const struct ang_topo *topo, void *table, u32 router);

/** ang_topo_ports() - ports that the largest router has, joined or not */
static inline u32 ang_topo_ports(const struct ang_topo *topo)
{
	return topo->nports;
}

/** ang_topo_is_switch() - is a router one without a processing element? */
static inline bool ang_topo_is_switch(const struct ang_topo *topo, u32 router)
{
	return router >= topo->nodes;
}

/**
 * ang_topo_peer() - the far end of a port's cable
 * @topo: fabric
 * @router: router
 * @port: port of it, any number
 * @far: out: port at the other end of the cable, or NULL
 *
 * Return: router at the other end, ANG_NONE if the port is joined to none.
 */
u32 ang_topo_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far);

/** ang_topo_neighbor() - ang_topo_peer() for a caller that needs no far port */
static inline u32 ang_topo_neighbor(const struct ang_topo *topo, u32 router, u32 port)
{
	return ang_topo_peer(topo, router, port, NULL);
}

/**
 * ang_topo_route() - next port on the way to a node
 * @topo: fabric
 * @router: node or switch
 * @dst: node
 *
 * Return: port; ANGARA_PORT_NONE if @router is @dst.
 */
u32 ang_topo_route(const struct ang_topo *topo, u32 router, u32 dst);

/**
 * ang_topo_turn() - may a packet turn from one port to another?
 * @topo: fabric
 * @router: router that has the packet
 * @in: port that it came by, ANGARA_PORT_NONE: from the processing element
 * @out: port that it leaves by; both are joined to something
 *
 * No packet turns back to the port that it came by. Routes make allowed turns
 * only, and allowed turns make no cycle of channels but rings of a torus.
 */
bool ang_topo_turn(const struct ang_topo *topo, u32 router, u32 in, u32 out);

/** ang_topo_class() - class of the channel that leaves by a port that is joined */
u32 ang_topo_class(const struct ang_topo *topo, u32 router, u32 port);

/**
 * ang_topo_longest() - the longest path down a tree
 * @topo: fabric
 *
 * A path down, like any route, takes channels of growing classes; on a ring of a
 * torus it may stay in one class, but has no router twice.
 *
 * Return: maximum number of cables.
 */
u32 ang_topo_longest(const struct ang_topo *topo);

/**
 * ang_topo_keeper() - the node that keeps a router
 * @topo: fabric
 * @router: node or switch
 *
 * Return: @router if it is a node; for a switch, the nearest node over cables,
 * of several the one of lowest number.
 */
u32 ang_topo_keeper(const struct ang_topo *topo, u32 router);

/** ang_topo_blocks() - switches that join a line of dimension @d of MKNS or KNS */
u32 ang_topo_blocks(const struct ang_topo *topo, u32 d);

/** ang_topo_coord() - digits of a node: @topo->ndims of them */
void ang_topo_coord(const struct ang_topo *topo, u32 node, u16 *coord);
/** ang_topo_node() - number of the node with these digits, each in range */
u32 ang_topo_node(const struct ang_topo *topo, const u16 *coord);

#endif /* ANG_TOPO_H */
