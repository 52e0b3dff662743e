/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A schedule in progress: one member's part in a collective.
 *
 * The runner decides when a step begins, and executes copies.  Its caller, the
 * executor, transfers messages and combines elements:
 *
 *	executor		   runner
 *	ang_run_go()	      -->  begins steps; calls ops->send, recv, combine
 *	a message has arrived -->  ang_run_find(): finds the step of the message
 *	a step is complete    -->  ang_run_set(): later steps may begin
 *
 * No function waits or allocates, except ang_run_init().  ang_run_go() visits
 * only the steps that begin and those that have a message to send.
 */
#ifndef ANG_ALGO_RUN_H
#define ANG_ALGO_RUN_H

#include "algo.h"

/** enum ang_run_state - state of a step */
enum ang_run_state {
	ANG_RUN_IDLE,	/* has not begun */
	ANG_RUN_SENDS,	/* has a message to send */
	ANG_RUN_WAITS,	/* waits for a message, see ang_run_find() */
	ANG_RUN_BUSY,	/* the executor works on the step */
	ANG_RUN_ENDED,
};

/**
 * struct ang_run_step - progress of a step
 * @next: SENDS: next step in the queue; WAITS: next step in the chain of its
 *	hash
 * @done: bytes sent or received, as the executor counts them
 * @state: ANG_RUN_*
 */
struct ang_run_step {
	struct ang_run_step *next;
	size_t done;
	enum ang_run_state state;
};

/**
 * struct ang_run_ops - an executor
 * @send: send the message of a step in state SENDS.  For a SEND, this is the
 *	data.  A step of another kind is in this state only if the executor has
 *	set the state, to send a message of its own.
 * Return: 0 the step waits for its peer now, unless @send has changed its
 * state; 1 the step has more to send; -EBUSY the peer of the step cannot take a
 * message now; -EAGAIN no step can send now; other -errno: ang_run_go() fails
 * @recv: a RECV has begun; may be NULL.
 * Return: 0; -errno: ang_run_go() fails
 * @combine: dst = dst op src, for @len bytes
 * @has_temp: the executor has memory for ANG_BUF_TEMP, and sets ang_run.at
 *
 * @arg is the argument given to ang_run_init().  A function that makes
 * ang_run_go() fail may have freed the run.
 */
struct ang_run_ops {
	int (*send)(void *arg, u32 step);
	int (*recv)(void *arg, u32 step);
	void (*combine)(void *arg, void *dst, const void *src, size_t len);
	bool has_temp;
};

/**
 * struct ang_run - a schedule in progress
 * @sched: steps of the schedule
 * @at: memory of each buffer, by enum ang_buf; set by the executor
 * @ops: executor
 * @arg: argument of the functions in @ops
 * @steps: progress of each step
 * @waits: steps that wait for their peer, by the hash of the peer
 * @mask: number of chains in @waits, minus 1
 * @begun: number of steps that have begun; steps begin in their order
 * @prefix: number of steps before the first step that has not ended
 * @moved: set when a state changes; cleared by ang_run_go()
 * @queue: steps that have a message to send, oldest first
 * @last: address of the pointer to which the next step is appended
 */
struct ang_run {
	struct ang_schedule sched;
	char *at[ANG_BUF_NUM];
	const struct ang_run_ops *ops;
	void *arg;
	struct ang_run_step *steps;
	struct ang_run_step **waits;
	u32 mask;
	u32 begun;
	u32 prefix;
	bool moved;
	struct ang_run_step *queue;
	struct ang_run_step **last;
};

#define ANG_NO_STEP	0xFFFFFFFFU

int ang_run_init(struct ang_run *run, const struct ang_coll_args *args,
		 const struct ang_run_ops *ops, void *arg);
void ang_run_free(struct ang_run *run);
int ang_run_go(struct ang_run *run);
u32 ang_run_find(const struct ang_run *run, enum ang_step_kind kind, u32 peer,
		 u32 tag);
void ang_run_set(struct ang_run *run, u32 step, enum ang_run_state state);

static inline bool ang_run_done(const struct ang_run *run)
{
	return run->prefix == run->sched.n;
}

static inline char *ang_run_at(const struct ang_run *run, struct ang_range r)
{
	return run->at[r.buf] + r.off;
}

/* Memory that a SEND reads, or that any other step writes. */
static inline char *ang_run_data(const struct ang_run *run, u32 step)
{
	const struct ang_step *s = &run->sched.steps[step];

	return ang_run_at(run, s->kind == ANG_STEP_SEND ? s->src : s->dst);
}

#endif /* ANG_ALGO_RUN_H */
