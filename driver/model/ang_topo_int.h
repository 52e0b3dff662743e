/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topologies: operations of a kind.
 */
#ifndef ANG_TOPO_INT_H
#define ANG_TOPO_INT_H

#include "ang_rules.h"
#include "ang_topo.h"

#define ANG_TOPO_ANY	0xFFFFU	/* own value of a digit that the router does not have */

/**
 * struct ang_topo_regs - route registers of a router, but for the ports
 * @own: own value of each digit, or ANG_TOPO_ANY
 * @by: digit by whose value the port is chosen if this digit differs
 */
struct ang_topo_regs {
	u16 own[ANG_TOPO_DIMS];
	u8 by[ANG_TOPO_DIMS];
};

/**
 * struct ang_topo_end - what a port is joined to
 * @router: router, or ANG_NONE
 * @port: port of it
 */
struct ang_topo_end {
	u32 router;
	u32 port;
};

/**
 * struct ang_topo_table - a filled table; arrays follow it
 * @nports: ports per router
 * @stride: bytes of route registers per router
 * @exits: where the ports of a digit are in route registers
 * @off_digit: where digits of nodes start, ndims each
 * @off_regs: where route registers start
 * @off_extra: GRAPH: where ranks and keepers of routers start
 * @end: ends of all ports, @nports per router
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
 * @most_first: the first digit of a node's number counts most
 * @read: reads what follows the name.  Return: what follows it all; NULL with
 *	@why set
 * @tail: writes what follows the sizes, or NULL.  Return: its end
 * @fill: fills the table but for the digits, or NULL: by @peer, @regs, @exit.
 *	Return: is it a fabric? If not, @why is set
 * @peer: ang_topo_peer() for a router that exists
 * @regs: sets route registers of a router, which are 0 before
 * @exit: port for a value of digit @by of the destination, where it differs in
 *	digit @digit and the value is one that can occur there
 * @class: class of the channel that leaves @router by @port
 * @longest: ang_topo_longest()
 * @keeper: ang_topo_keeper() of a switch, or NULL where there are none
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
/* Sets @topo->nodes from the sizes.  Return: it, 0 if it is too large. */
u32 ang_topo_count(struct ang_topo *topo);

/* ang_topo_graph.c: bytes that a table has for a graph alone */
u64 ang_topo_graph_extra(const struct ang_topo *topo);

#endif /* ANG_TOPO_INT_H */
