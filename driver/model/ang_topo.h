/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device model: topologies and routes.
 *
 * A fabric consists of routers with ports, and cables that join two ports.  A
 * node is a router with a processing element; a switch is a router without one.
 * Each kind of topology computes peers and routes from its sizes.  The data
 * path must avoid divisions, so it uses a table filled with the results.  A
 * graph cannot compute its routes, so it always needs the table.
 *
 * Routes.  A node's number has digits.  A router has route registers: for each
 * digit the router's own value (or none), and a port per value of one digit.
 * The first digit in which the destination differs from the router's own value
 * determines the port.
 *
 * Deadlock.  Each channel (a cable in one direction) has a class.  A packet may
 * turn from one channel into another of a higher class only; on a ring of a
 * torus it may also continue in the same channel class, and bubble flow control
 * (ang_link.c) prevents deadlock on rings.
 */
#ifndef ANG_TOPO_H
#define ANG_TOPO_H

#include "ang_env.h"

#define ANG_TOPO_DIMS	6U	/* most digits of a node's number */
#define ANG_TOPO_PORTS	64U	/* most ports of a router */
#define ANG_TOPO_NODES	(1U << 20)
#define ANG_TOPO_GRAPH_NODES	4096U	/* most routers of a graph */

/**
 * enum ang_topo_kind - families of topologies
 * @ANG_TOPO_TORUS: "torus:4x4x2": rings; in dimension d, port 2 * d is "+",
 *	port 2 * d + 1 is "-"
 * @ANG_TOPO_MESH: "mesh:4x4x2": as TORUS, without the cables that close rings
 * @ANG_TOPO_HYPERCUBE: "hypercube:10": port d leads to the node whose number
 *	differs in bit d
 * @ANG_TOPO_MKNS: "mkns:8x10x10[,ports=10][,m=2]": nodes along dimension 1 are
 *	connected all to all, along other dimensions by switches; see ang_topo_mkns.c
 * @ANG_TOPO_KNS: "kns:8x10[,ports=10]": nodes are connected by switches along
 *	all dimensions
 * @ANG_TOPO_FATTREE: "fattree:40,3[,nodes=1600]": ports of a switch, levels
 * @ANG_TOPO_GRAPH: "graph NAME", and a line per node, switch and cable
 * @ANG_TOPO_KINDS: number of kinds
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
 * @ndims: number of digits of a node's number
 * @nports: ports of the largest router, connected or not
 * @levels: HYPERCUBE: bits; FATTREE: levels of switches
 * @dims: number of values of each digit
 * @adapter_ports: MKNS: ports of a node
 * @switch_ports: MKNS, KNS, FATTREE: ports of a switch
 * @modules: MKNS: computing modules per node
 * @nodes: number of nodes, which are routers 0..@nodes - 1
 * @routers: number of nodes and switches; switches are @nodes..@routers - 1
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
 * @what: description of the error
 * @line: wrong line of a graph's text, 0 if the error is not in a single line
 */
struct ang_topo_why {
	const char *what;
	u32 line;
};

/**
 * ang_topo_read() - read the description of a fabric
 * @topo: out
 * @text: one line, or the lines of a graph; ends with NUL.  Sizes without a
 *	kind, as in "4x4x2", describe a torus
 * @why: out: what is wrong with @text
 *
 * Return: number of nodes; 0 if @text describes no fabric.
 */
u32 ang_topo_read(struct ang_topo *topo, const char *text, struct ang_topo_why *why);

/* Bytes of the longest description, except of a graph. */
#define ANG_TOPO_TEXT	64U

/**
 * ang_topo_describe() - write the description of a fabric
 * @topo: fabric of any kind except GRAPH, whose description is the text that it
 *	was read from
 * @text: out: ANG_TOPO_TEXT bytes; the text ends with a newline and a NUL
 *
 * Return: bytes without the NUL; 0 for a graph.
 */
u32 ang_topo_describe(const struct ang_topo *topo, char *text);

/**
 * ang_topo_parse() - read sizes such as 4x4x2
 * @text: such as "2x2x2"; each size 1..65535
 * @dims: out: the first @max of them
 * @max: places in @dims
 *
 * Return: number of sizes in the text, which may exceed @max; 0 if the text is
 * not of this form.
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
 * ang_topo_fill() - fill the table of a topology, and set @topo->table
 * @topo: topology from ang_topo_read()
 * @text: GRAPH: the text that @topo was read from; may be NULL for other kinds
 * @table: ang_topo_table_size() bytes, aligned to 8
 * @why: out: what is wrong with a graph
 *
 * The table holds no pointers: another process that maps it only has to set
 * @topo->table.
 * Return: number of nodes; 0 if the graph is invalid.
 */
u32 ang_topo_fill(struct ang_topo *topo, const char *text, void *table,
		  struct ang_topo_why *why);

/**
 * ang_topo_fill_begin() - start to fill a table in parts, for a caller that
 * yields between the parts
 * @topo: topology from ang_topo_read()
 * @text: see ang_topo_fill()
 * @table: see ang_topo_fill()
 * @why: see ang_topo_fill()
 *
 * Then call ang_topo_fill_router() for each router, in any order.  The table of
 * a graph is filled here, since the size of its text bounds the work.
 * Return: true; false if the graph is invalid.
 */
bool ang_topo_fill_begin(const struct ang_topo *topo, const char *text, void *table,
			 struct ang_topo_why *why);
/** ang_topo_fill_router() - fill the part of the table for a router */
void ang_topo_fill_router(const struct ang_topo *topo, void *table, u32 router);

/*
 * ang_topo_ports() - number of ports of the largest router, connected or not
 */
static inline u32 ang_topo_ports(const struct ang_topo *topo)
{
	return topo->nports;
}

/*
 * ang_topo_is_switch() - is a router a switch, which has no processing element?
 */
static inline bool ang_topo_is_switch(const struct ang_topo *topo, u32 router)
{
	return router >= topo->nodes;
}

/**
 * ang_topo_peer() - get the other end of a port's cable
 * @topo: fabric
 * @router: router
 * @port: port of @router, any number
 * @far: out: port at the other end of the cable, or NULL
 *
 * Return: router at the other end, ANG_NONE if the port has no cable.
 */
u32 ang_topo_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far);

/** ang_topo_neighbor() - ang_topo_peer() without the port at the other end */
static inline u32 ang_topo_neighbor(const struct ang_topo *topo, u32 router, u32 port)
{
	return ang_topo_peer(topo, router, port, NULL);
}

/**
 * ang_topo_route() - get the port by which packets to a node leave a router
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
 * @in: port by which it arrived, ANGARA_PORT_NONE: from the processing element
 * @out: port by which it leaves; both ports have a cable
 *
 * No packet leaves by the port by which it arrived. Routes make allowed turns
 * only, and allowed turns form no cycle of channels, except rings of a torus.
 */
bool ang_topo_turn(const struct ang_topo *topo, u32 router, u32 in, u32 out);

/*
 * ang_topo_class() - get the class of a port's outgoing channel
 */
u32 ang_topo_class(const struct ang_topo *topo, u32 router, u32 port);

/**
 * ang_topo_longest() - bound the length of a path from a tree's root to a leaf
 * @topo: fabric
 *
 * Such a path, like any route, uses channels of increasing classes; on a ring
 * of a torus it may stay in one class, but visits no router twice.
 *
 * Return: maximum number of cables.
 */
u32 ang_topo_longest(const struct ang_topo *topo);

/**
 * ang_topo_keeper() - get the node that keeps a router, that is, programs it
 * @topo: fabric
 * @router: node or switch
 *
 * Return: @router if it is a node; for a switch, the nearest node by number of
 * cables, and of several nearest nodes the one with the lowest number.
 */
u32 ang_topo_keeper(const struct ang_topo *topo, u32 router);

/** ang_topo_blocks() - MKNS, KNS: switches of a line of dimension @d */
u32 ang_topo_blocks(const struct ang_topo *topo, u32 d);

/** ang_topo_coord() - get the @topo->ndims digits of a node's number */
void ang_topo_coord(const struct ang_topo *topo, u32 node, u16 *coord);
/** ang_topo_node() - get the number of the node with these digits, in range */
u32 ang_topo_node(const struct ang_topo *topo, const u16 *coord);

#endif /* ANG_TOPO_H */
