/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topologies: declarations shared by the files of the kinds.
 */
#ifndef ANG_TOPO_INT_H
#define ANG_TOPO_INT_H

#include "ang_rules.h"
#include "ang_topo.h"

#define ANG_TOPO_ANY	0xFFFFU	/* the router has no own value of this digit */

/**
 * struct ang_topo_regs - route registers of a router, without the ports
 * @own: the router's own value of each digit, or ANG_TOPO_ANY
 * @by: per digit in which the destination differs first: digit of the
 *	destination that selects the port
 */
struct ang_topo_regs {
	u16 own[ANG_TOPO_DIMS];
	u8 by[ANG_TOPO_DIMS];
};

/**
 * struct ang_topo_end - the other end of a port's cable
 * @router: router, or ANG_NONE
 * @port: port of @router
 */
struct ang_topo_end {
	u32 router;
	u32 port;
};

/**
 * struct ang_topo_table - a filled table; arrays follow it
 * @nports: ports per router
 * @stride: bytes of route registers per router
 * @exits: per digit, offset in route registers of the ports for its values
 * @off_digit: offset of the digits of nodes' numbers, ndims per node
 * @off_regs: offset of the route registers
 * @off_extra: GRAPH: offset of ranks and keepers of routers
 * @end: other ends of the cables of all ports, @nports per router
 */
struct ang_topo_table {
	u32 nports;
	u32 stride;
	u32 exits[ANG_TOPO_DIMS];
	u64 off_digit;
	u64 off_regs;
	u64 off_extra;
	struct ang_topo_end end[];
};

/**
 * struct ang_topo_ops - a kind of topology
 * @most_first: the first digit of a node's number is the most significant
 * @read: reads the description after the kind's name.  Return: the text after
 *	it; NULL with @why set
 * @tail: writes the description after the sizes; NULL if there is none.
 *	Return: end of the text
 * @fill: fills the table except the digits.  Return: true; false with @why set
 *	if the text describes no fabric.  NULL: @peer, @regs and @exit fill it
 * @peer: ang_topo_peer() for a router that exists
 * @regs: sets the route registers of a router; they are zeroed before
 * @exit: port for destinations that differ first in digit @digit, given @value
 *	of the digit that selects the port; only for values that can occur
 * @class: class of the channel that leaves @router by @port
 * @longest: ang_topo_longest()
 * @keeper: ang_topo_keeper() of a switch; NULL if the kind has no switches
 */
struct ang_topo_ops {
	bool most_first;
	const char *(*read)(struct ang_topo *topo, const char *text,
			    struct ang_topo_why *why);
	char *(*tail)(const struct ang_topo *topo, char *text);
	bool (*fill)(const struct ang_topo *topo, const char *text,
		     struct ang_topo_table *table, struct ang_topo_why *why);
	u32 (*peer)(const struct ang_topo *topo, u32 router, u32 port, u32 *far);
	void (*regs)(const struct ang_topo *topo, u32 router,
		     struct ang_topo_regs *regs);
	u32 (*exit)(const struct ang_topo *topo, u32 router, u32 digit, u32 value);
	u32 (*class)(const struct ang_topo *topo, u32 router, u32 port);
	u32 (*longest)(const struct ang_topo *topo);
	u32 (*keeper)(const struct ang_topo *topo, u32 router);
};

extern const struct ang_topo_ops ang_topo_torus, ang_topo_mesh, ang_topo_hypercube,
	ang_topo_mkns, ang_topo_fattree, ang_topo_graph;

/* ang_topo.c */
const char *ang_topo_number(const char *text, u32 max, u32 *value);
const char *ang_topo_sizes(const char *text, struct ang_topo *topo, u32 max,
			   struct ang_topo_why *why);
char *ang_topo_put_number(char *text, u32 value);
/*
 * Sets @topo->nodes from the sizes. Return: that number, 0 if it is too large.
 */
u32 ang_topo_count(struct ang_topo *topo);

/* ang_topo_graph.c; bytes that only the table of a graph has */
u64 ang_topo_graph_extra(const struct ang_topo *topo);

#endif /* ANG_TOPO_INT_H */
