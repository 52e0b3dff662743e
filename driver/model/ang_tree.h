/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of a tree at a router: its row, the Reducer and the credit unit. */
#ifndef ANG_TREE_H
#define ANG_TREE_H

#include "ang_model.h"
#include "ang_pkt.h"

/**
 * struct ang_slot - the Reducer's memory for one ReduceId; a train uses the
 * slot of its first ReduceId
 * @pkt: first contribution; later ones are combined into its payload; npkts is
 *	0 before the first one arrives
 * @left: set of places that are not combined yet, see ang_tree_places()
 * @held: if the order matters: places of @left whose contribution waits for
 *	contributions of earlier places
 * @waiting: if the order matters: buffers of @held, chained by ang_buf_link(),
 *	in the order of places
 */
struct ang_slot {
	struct ang_pkt pkt;
	u64 left;
	u64 held;
	u64 waiting;
};

/**
 * struct ang_tree - routing table row, Reducer and credit unit of one tree
 * @life: number of the row's life, the time between setting and clearing the
 *	row; incremented when the row is set again
 * @row: the row, valid in states UP and DOWN; @row and all fields below belong
 *	to one life
 * @job: job key of the row, 0 for none
 * @state: ANGARA_TREE_STATE_*
 * @open: participants may inject: all neighboring rows of the tree have
 *	exchanged their lives, see ang_tree_open.c
 * @root: router at the root, known with @open
 * @met: ports whose neighbor has sent this row's life back, one bit each
 * @whole: children that have reported that all rows below them have met
 * @open_todo: ports by which an OPEN packet has to be sent
 * @members: number of participants that have joined
 * @taken: places of these participants
 * @places: places of all contributors, see ang_tree_places()
 * @credit_cur: credits in the packets being issued to children
 * @credit_todo: children to which @credit_cur has to be sent
 * @credit_pend: credits to issue in the next packets
 * @abort_todo: ports by which an ABORT packet has to be sent
 * @abort: the ABORT packet
 * @down_node: node that took the tree down
 * @done: number of the next result
 * @next_result: first result that the parent may send; earlier ones are refused
 * @pe_done: @done when results of packets were last reported to the PE
 * @pe_told: number of all results that were reported to the PE
 * @up_credits: number of results that the parent has room for
 * @in_flight: ReduceIds in use
 * @aside: the host executes reductions itself, see ang_aside.c
 * @aside_hops: hops of the results of such reductions to this router
 * @counted: number of such reductions that the counters include
 * @aside_results: packets of the results of such reductions, in this life
 * @aside_credits: credits for these results that @cnt includes
 * @member: contexts of the participants
 * @slot: Reducer memory
 * @cnt: counters, as ANGARA_ADM_COUNTERS reads them, in host byte order
 */
struct ang_tree {
	u32 life;
	struct angara_tree_row row;
	u64 job;
	u8 state;
	u8 members;
	u16 taken;
	u8 open;
	u32 root;
	u64 met;
	u64 whole;
	u64 open_todo;
	u64 places;
	u64 credit_todo;
	u32 credit_cur;
	u32 credit_pend;
	u64 abort_todo;
	struct ang_pkt abort;
	u32 down_node;
	u32 done;
	u32 next_result;
	u32 pe_done;
	u64 pe_told;
	u32 up_credits;
	u32 in_flight;
	u8 aside;
	u32 aside_hops;
	struct ang_aside counted;
	u64 aside_results;
	u64 aside_credits;
	u16 member[ANGARA_MAX_LOCAL];
	struct ang_slot slot[ANGARA_MAX_REDUCES];
	struct {
		u64 bcast_requests, bcast_packets, reduce_packets,
		    reduce_results, credits_sent, credits_received,
		    credits_pe_count, credits_pe_timer, max_in_flight;
	} cnt;
};

/* Fields from this offset on belong to one life. */
#define ANG_TREE_LIFE	offsetof(struct ang_tree, row)

#endif /* ANG_TREE_H */
