/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: fabrics of any topology: routers, ports, cables, routes, trees,
 * metrics.
 *
 * One text describes a fabric: "torus:4x4x2", "mesh:4x4", "hypercube:10",
 * "mkns:8x10x10", "kns:4x4", "fattree:40,3", or the lines of a graph.  Routers
 * are numbered from 0: nodes first, then switches.
 */
#ifndef ANGARA_FABRIC_H
#define ANGARA_FABRIC_H

#include <stddef.h>
#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ANGARA_FABRIC_DIGITS	6	/* limit of digits of a node's number */

struct angara_fabric;
struct angara_tree_row;

/**
 * angara_fabric_open() - create a fabric from its description
 * @text: description, or "file:PATH" for a file that contains it
 * @fabric: out
 * @why: out: one-line description of the error in @text, or NULL
 * @size: bytes of @why
 *
 * Return: 0; -EINVAL @text describes no fabric; -errno the file cannot be read.
 */
int angara_fabric_open(const char *text, struct angara_fabric **fabric, char *why,
		       size_t size);
void angara_fabric_close(struct angara_fabric *fabric);

uint32_t angara_fabric_nodes(const struct angara_fabric *fabric);
/** Number of routers: nodes and switches. */
uint32_t angara_fabric_routers(const struct angara_fabric *fabric);
/** Number of ports of the largest router. */
uint32_t angara_fabric_ports(const struct angara_fabric *fabric);
/** Return: router at the other end of a cable; UINT32_MAX: no cable.  @far: out: port there. */
uint32_t angara_fabric_peer(const struct angara_fabric *fabric, uint32_t router,
			    uint32_t port, uint32_t *far);
/** Port of @router towards @node; UINT32_MAX: @router is @node, or there is no route. */
uint32_t angara_fabric_route(const struct angara_fabric *fabric, uint32_t router,
			     uint32_t node);
/**
 * angara_fabric_digits() - coordinates of a node
 * @fabric: fabric
 * @node: node
 * @digits: out
 *
 * Return: number of coordinates; 0: there is no such node.
 */
unsigned int angara_fabric_digits(const struct angara_fabric *fabric, uint32_t node,
				  uint16_t digits[ANGARA_FABRIC_DIGITS]);
/*
 * Node that represents a router: the router itself, or the node nearest to a
 * switch.
 */
uint32_t angara_fabric_keeper(const struct angara_fabric *fabric, uint32_t router);

/**
 * angara_fabric_tree() - build a tree from @root over some nodes
 * @fabric: fabric
 * @root: node
 * @pe: number of local participants of every node; a node with 0 is in the tree
 *	only if it connects other nodes
 * @load: number of trees on each channel, indexed by router * ports + port, or
 *	NULL.  Among equally short paths the least loaded is taken.  The new
 *	tree is added
 * @rows: out: a row per router; for a router outside of the tree to_root is
 *	ANGARA_PORT_NONE, is_root 0
 *
 * Paths are the shortest from the root that make only allowed turns.
 * Return: routers in the tree; -EINVAL @root or a count out of range, or no
 * node takes part; -EHOSTUNREACH failures keep a participant from @root;
 * -ENOMEM.
 */
int angara_fabric_tree(const struct angara_fabric *fabric, uint32_t root,
		       const uint16_t *pe, uint16_t *load,
		       struct angara_tree_row *rows);

/**
 * angara_fabric_tree_check() - check that rows are a valid tree
 * @fabric: fabric
 * @rows: one per router, as from angara_fabric_tree(), with a tree and epoch
 * @router: out: a router that breaks the rule; may be NULL
 *
 * Return: 0 or ANGARA_TREE_RULE_*.  The driver checks with the same function.
 */
int angara_fabric_tree_check(const struct angara_fabric *fabric,
			     const struct angara_tree_row *rows, uint32_t *router);

#define ANGARA_FAILED_ROUTER	0xFFFFFFFFU	/* as angara_failure.port */

/**
 * struct angara_failure - a part of a fabric that has failed
 * @router: router
 * @port: port of @router whose cable has failed, in both directions;
 *	ANGARA_FAILED_ROUTER: the router with all its cables
 */
struct angara_failure {
	uint32_t router;
	uint32_t port;
};

/**
 * struct angara_detours - how routes avoid failures
 * @size: sizeof(struct angara_detours)
 * @updown: 1: all routes are up*down* on the rest of the fabric; 0: only routes
 *	that crossed a failure have changed
 * @changed: entries of routing tables that have changed, one per router and
 *	destination
 * @lost: pairs of intact nodes without a route
 * @circle: number of channels that are in cycles of the channel dependency
 *	graph, or wait for channels in cycles; 0: the routes are free of
 *	deadlock.  If @updown is 0, this also holds while some packets still
 *	follow routes of the whole fabric
 */
struct angara_detours {
	uint32_t size;
	uint32_t updown;
	uint64_t changed;
	uint64_t lost;
	uint64_t circle;
};

/**
 * angara_fabric_avoid() - make routes and trees avoid failures
 * @fabric: fabric
 * @failures: all failures; replaces those of earlier calls
 * @count: number of failures; 0: routes are those of the whole fabric again
 * @detours: out: what has changed, or NULL; the caller sets its size
 *
 * From now on angara_fabric_route(), angara_fabric_tree(), angara_fabric_root()
 * and plans avoid the failures.  Queries of cables and metrics still describe
 * the whole fabric.  The same failures give the same routes.
 * Return: 0; -EINVAL size, no such router, or a port without a cable;
 * -EOPNOTSUPP all routes would have to change, on more than 4096 routers;
 * -ENOMEM.  After an error nothing has changed.
 */
int angara_fabric_avoid(struct angara_fabric *fabric,
			const struct angara_failure *failures, uint32_t count,
			struct angara_detours *detours);

/**
 * angara_fabric_row() - get a router's row of the routes around failures
 * @fabric: fabric with failures, see angara_fabric_avoid()
 * @router: router
 * @row: out: per port a height of 16 bits, in little-endian order; then, per
 *	node, the port towards it, 255: none
 * @size: bytes of @row
 *
 * On each route the heights of the ports decrease; along an intact ring of a
 * torus they are equal.  This proves that the routes are free of deadlock.
 * Adapters take such rows by ANGARA_CMD_ROUTE_SET of linux/angara_nl.h.
 * Return: bytes of the row; -EINVAL no such router, no failures, or @size is too
 * small; -EOVERFLOW a height does not fit into 16 bits.
 */
int angara_fabric_row(const struct angara_fabric *fabric, uint32_t router, void *row,
		      size_t size);

/**
 * struct angara_tree_cost - cost of a tree
 * @size: sizeof(struct angara_tree_cost)
 * @depth: cables from the root to the farthest participant
 * @cables: cables of the tree
 * @transit: routers of the tree without participants
 * @children: maximum number of ports down at one router
 * @load: maximum number of trees on one channel, including this tree
 */
struct angara_tree_cost {
	uint32_t size;
	uint32_t depth;
	uint32_t cables;
	uint32_t transit;
	uint32_t children;
	uint32_t load;
};

/**
 * angara_fabric_cost() - compute the cost of a tree
 * @fabric: fabric
 * @rows: as from angara_fabric_tree()
 * @load: the array passed to angara_fabric_tree(), or NULL
 * @cost: out; the caller sets its size
 *
 * Return: 0; -EINVAL size, or the rows do not form a tree.
 */
int angara_fabric_cost(const struct angara_fabric *fabric,
		       const struct angara_tree_row *rows, const uint16_t *load,
		       struct angara_tree_cost *cost);

/**
 * angara_fabric_root() - find the best root of a tree
 * @fabric: fabric
 * @pe: local participants of every node
 * @load: NULL: take the root with the least depth.  Else as for
 *	angara_fabric_tree(), but not changed: the root is chosen by the highest
 *	load of a channel of the tree, then by the most children that one router
 *	has in all trees, then by the sum of the loads of the tree's channels,
 *	then by the depth
 *
 * Among equal trees, the root nearest to the participants is chosen; a node
 * with several participants counts several times.
 *
 * Up to 1024 nodes every node is tried, participants first; above that, at most
 * 127 participants, evenly chosen.
 * Return: node; -EINVAL no node takes part; -EHOSTUNREACH failures keep the
 * participants apart; -ENOMEM.
 */
int64_t angara_fabric_root(const struct angara_fabric *fabric, const uint16_t *pe,
			   const uint16_t *load);

/**
 * struct angara_fabric_metrics - metrics of a graph
 * @size: sizeof(struct angara_fabric_metrics)
 * @diameter: cables between the two nodes that are farthest apart
 * @tree_diameter: least diameter of a spanning tree
 * @connectivity: least number of cables whose removal separates two nodes, over
 *	@pairs pairs of nodes
 * @pairs: pairs that were tried; 0: all
 * @bisection: least number of cables that cut the nodes in halves; 0: unknown,
 *	because there are more than 16 nodes
 * @cables: cables
 * @switches: routers that are not nodes
 * @ports: ports of all routers, connected or not
 * @joined: ports with a cable
 * @distance: average over pairs of different nodes
 */
struct angara_fabric_metrics {
	uint32_t size;
	uint32_t diameter;
	uint32_t tree_diameter;
	uint32_t connectivity;
	uint32_t pairs;
	uint32_t bisection;
	uint32_t cables;
	uint32_t switches;
	uint64_t ports;
	uint64_t joined;
	double distance;
};

/**
 * angara_fabric_measure() - compute the metrics of a graph by search
 * @fabric: fabric
 * @metrics: out; the caller sets its size
 *
 * All metrics are exact, except @connectivity of large fabrics.
 * Return: 0; -EINVAL size; -ENOMEM.
 */
int angara_fabric_measure(const struct angara_fabric *fabric,
			  struct angara_fabric_metrics *metrics);

/**
 * angara_fabric_formula() - compute the metrics by the formulas of document
 * 001, the publication on MKNS
 * @fabric: fabric
 * @metrics: out; the caller sets its size; a metric is 0 if it has no formula
 *
 * Return: 0; -EINVAL size.
 */
int angara_fabric_formula(const struct angara_fabric *fabric,
			  struct angara_fabric_metrics *metrics);

/**
 * angara_fabric_flow() - compute the minimum cut between two routers, by
 * maximum flow
 * @fabric: fabric
 * @a: router
 * @b: another
 *
 * Return: least number of cables whose removal separates the two routers;
 * -EINVAL; -ENOMEM.
 */
int64_t angara_fabric_flow(const struct angara_fabric *fabric, uint32_t a, uint32_t b);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_FABRIC_H */
