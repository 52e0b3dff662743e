/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace to replay.
 */
#ifndef ANG_SIM_REPLAY_H
#define ANG_SIM_REPLAY_H

#include "ang_model.h"
#include "sim.h"

struct key;

/**
 * struct act - an operation that a host starts
 * @time: when, in ps
 * @node: node
 * @order: number of its record
 * @op: operation
 */
struct act {
	u64 time;
	u32 node;
	u32 order;
	struct sim_op op;
};

/**
 * struct replay - a trace and the packets to inject
 * @rec: records
 * @chapter: chapter of each record
 * @n: number of records
 * @room: records that fit
 * @act: injections, sorted by node
 * @acts: number of injections
 * @first: first injection of each node
 * @ejected: ejections, sorted by key
 * @ejections: number of ejections
 * @answer: answers that adapters injected, sorted by node, number and index
 * @answers: number of answers in @answer
 * @arrival: record of the arrival of each record's packet, see replay_targets()
 * @links: links that the packet of each record of an arrival crosses in the trace
 * @reductions: the trace has reductions
 * @adaptive: packets of the trace take the adaptive channel
 * @sum: of each tree, the result of a reduction to which each participant adds
 *	the number of its node plus one
 */
struct replay {
	struct ang_trace *rec;
	u32 *chapter;
	u32 n;
	u32 room;
	struct act *act;
	u32 acts;
	u32 *first;
	struct key *ejected;
	u32 ejections;
	struct key *answer;
	u32 answers;
	u32 *arrival;
	u32 *links;
	bool reductions;
	bool adaptive;
	u64 sum[ANGARA_MAX_TREES];
};

static inline bool is_reduction(const struct ang_trace *r)
{
	return r->type == ANG_PKT_REDUCE || r->type == ANG_PKT_ALLREDUCE;
}

/* Did a host inject the packet?  Adapters create all other packets. */
static inline bool injected(const struct ang_trace *r)
{
	return r->event == ANG_TR_INJECT &&
	       (sim_is_request(r->type) || is_reduction(r) ||
		r->type == ANG_PKT_BCAST);
}

static inline bool has_target(const struct ang_trace *r)
{
	return sim_is_request(r->type) || r->type == ANG_PKT_REDUCE;
}

/**
 * replay_targets() - find the arrival of each packet
 * @w: trace, of which @arrival is allocated and filled in
 */
void replay_targets(struct replay *w);

/**
 * replay_links() - count the links that each request crosses
 * @w: trace, of which @links is allocated and filled in; 0 if the trace has no
 *	record of a link
 * @topo: fabric of the trace
 */
void replay_links(struct replay *w, const struct ang_topo *topo);

/**
 * replay_answers() - find the answers of adapters
 * @w: trace, of which @answer is allocated and filled in
 */
void replay_answers(struct replay *w);

/**
 * replay_fetched() - get the length of the answer to the atomic operation of
 * record @i
 */
u32 replay_fetched(const struct replay *w, u32 i);

#endif /* ANG_SIM_REPLAY_H */
