/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work: what the model does is counted, so that a host can bound what it does
 * in one go, whatever the users of the fabric ask for.
 *
 * A unit is about what a processor of today does in a nanosecond.  The count
 * follows from what is done alone; the same inputs give the same count on any
 * machine.  Each thing is counted where it is done, by the weights below; what
 * costs little beside something that is counted has no weight of its own.
 * Tracing is not counted.
 *
 * A step of a node (ang_node.c) ends when it has done ang_view.turn units.  It
 * is cut between pieces that are never cut:
 *
 *	an access to host memory, an entry of a queue, a train of one operation
 *	the head of one ring or FIFO: delivered to all local participants, or
 *	combined with all that has waited for it in a Reducer
 *	a READY, which looks at every message that the node sends
 *	a tree that goes down: every operation of its participants ends
 *	an admin command; the end of a context is one per tree that it is in
 *
 * A packet of a tree that goes to a neighbor without links is part of the piece
 * that sends it, one at the most: none goes that way once the step is over.
 *
 * ang_work_piece() is the most that one piece can be; then the step tells
 * contexts of what has happened, ANG_WORK_TELL at the most.  Thus a step does
 * at most
 *
 *	turn + ang_work_piece() + ANG_WORK_TELL
 *
 * and ang_run() at most its budget and a step.  What a node does about losses
 * (ang_lost.c) is cut between links, trees and operations, each with the longest
 * way there and back.
 */
#ifndef ANG_WORK_H
#define ANG_WORK_H

#define ANG_WORK_STEP	100U	/* a node is taken and let go */
#define ANG_WORK_DMA	25U	/* an access to host memory, beside its bytes */
#define ANG_WORK_BYTES	8U	/* bytes copied per unit */
#define ANG_WORK_PKT	50U	/* a packet is sent, received, or has to wait */
#define ANG_WORK_WQE	100U	/* an entry of a queue is fetched, or has to wait */
#define ANG_WORK_CMD	1000U	/* an admin command */
#define ANG_WORK_LOOK	2U	/* an operation visited in a search */
#define ANG_WORK_HOP	20U	/* a hop of a route, in a search */
#define ANG_WORK_IRQ	1000U	/* an interrupt */

/* Longer routes are not walked in one piece: such trains are sent as packets. */
#define ANG_EXPRESS_HOPS	64U

/* Units of a node's step, before other nodes have their turn. */
#define ANG_WORK_TURN	16384U
/* Units beyond that for publishing events; other contexts wait for the next step. */
#define ANG_WORK_TELL	8192U
/* Units for publishing the events of one context. */
#define ANG_WORK_TELL_ONE	(2 * ANG_WORK_DMA + ANG_WORK_IRQ)

#endif /* ANG_WORK_H */
