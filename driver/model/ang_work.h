/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work: the model counts its work, so that a host can bound the duration of one
 * call, whatever operations the users request.
 *
 * A unit is about a nanosecond of a current processor.  The count depends only
 * on the actions of the model: the same inputs give the same count on any
 * machine.  Each action is counted where it is done, by the weights below.  An
 * action that costs little compared to a counted action has no weight.  Tracing
 * is not counted.
 *
 * A step of a node (ang_node.c) ends when it has done ang_view.turn units.  It
 * may end only between these pieces:
 *
 *  - an access to host memory, an entry of a queue, a train of one operation;
 *  - the packet at the head of one ring or FIFO: it is delivered to all local
 *    participants, or combined with all contributions that have waited for it
 *    in a Reducer;
 *  - a READY, which visits every message that the node sends;
 *  - a tree that goes down: every operation of its participants ends;
 *  - an admin command; to destroy a context takes one piece per tree of the
 *    context.
 *
 * A packet of a tree that bypasses a link (ang_hop.c) belongs to the piece that
 * sends it.  A piece has at most one such packet: when the step's work is used
 * up, packets use links.
 *
 * ang_work_piece() is the maximum of one piece.  At its end the step publishes
 * events to contexts, which takes at most ANG_WORK_TELL.  Thus a step takes at
 * most
 *
 *	turn + ang_work_piece() + ANG_WORK_TELL
 *
 * and ang_run() takes at most its budget and a step.  The handling of losses
 * (ang_lost.c) may end between links, trees and operations; each piece includes
 * a search of the longest path there and back.
 */
#ifndef ANG_WORK_H
#define ANG_WORK_H

#define ANG_WORK_STEP	100U	/* a node is taken and released */
#define ANG_WORK_DMA	25U	/* an access to host memory, plus its bytes */
#define ANG_WORK_BYTES	8U	/* bytes copied per unit */
#define ANG_WORK_PKT	50U	/* a packet is sent, received, or has to wait */
#define ANG_WORK_WQE	100U	/* an entry of a queue is fetched, or has to wait */
#define ANG_WORK_CMD	1000U	/* an admin command */
#define ANG_WORK_LOOK	2U	/* an operation visited in a search */
#define ANG_WORK_HOP	20U	/* a hop of a route, in a search */
#define ANG_WORK_IRQ	1000U	/* an interrupt */

/* Longest route of a train that bypasses links; one piece walks the route. */
#define ANG_EXPRESS_HOPS	64U

/* Units of a node's step before other nodes have their turn. */
#define ANG_WORK_TURN	16384U
/* Further units for publishing events; the next step publishes the rest. */
#define ANG_WORK_TELL	8192U
/* Units for publishing the events of one context. */
#define ANG_WORK_TELL_ONE	(2 * ANG_WORK_DMA + ANG_WORK_IRQ)

#endif /* ANG_WORK_H */
