// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs a schedule; see run.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/**
 * ang_run_init() - prepare to run a schedule
 * @run: out: free with ang_run_free(); may not be moved
 * @args: collective
 * @ops: executor
 * @arg: argument of the functions in @ops
 *
 * Return: 0; an error of ang_schedule_make(): then there is nothing to free.
 */
int ang_run_init(struct ang_run *run, const struct ang_coll_args *args,
		 const struct ang_run_ops *ops, void *arg)
{
	struct ang_schedule *sched = &run->sched;
	u32 chains = 1;
	int ret;

	*run = (struct ang_run){ .ops = ops, .arg = arg, .last = &run->queue };
	ret = ang_schedule_make(args, sched);
	while (chains < sched->width)
		chains *= 2;
	run->mask = chains - 1;
	if (!ret)
		run->steps = calloc(1, sched->n * sizeof(*run->steps) +
				       chains * sizeof(*run->waits) +
				       (ops->has_temp ? 0 : sched->temp));
	if (!run->steps) {
		ang_run_free(run);
		return ret ? ret : -ENOMEM;
	}
	run->waits = (struct ang_run_step **)(run->steps + sched->n);
	run->at[ANG_BUF_TEMP] = (char *)(run->waits + chains);
	return 0;
}

void ang_run_free(struct ang_run *run)
{
	ang_schedule_free(&run->sched);
	free(run->steps);
	run->steps = NULL;
}

static struct ang_run_step **run_chain(const struct ang_run *run, u32 peer)
{
	return &run->waits[peer & run->mask];
}

/**
 * ang_run_set() - change the state of a step
 * @run: run
 * @i: step, which has begun; a step in state SENDS changes only in ops->send
 * @state: new state, ANG_RUN_*
 */
void ang_run_set(struct ang_run *run, u32 i, enum ang_run_state state)
{
	struct ang_run_step **at = run_chain(run, run->sched.steps[i].peer);
	struct ang_run_step *s = &run->steps[i];

	if (s->state == ANG_RUN_WAITS) {
		while (*at != s)
			at = &(*at)->next;
		*at = s->next;
	}
	s->state = state;
	run->moved = true;
	if (state == ANG_RUN_SENDS) {
		s->next = NULL;
		*run->last = s;
		run->last = &s->next;
	} else if (state == ANG_RUN_WAITS) {
		s->next = *at;
		*at = s;
	}
	while (run->prefix < run->begun &&
	       run->steps[run->prefix].state == ANG_RUN_ENDED)
		run->prefix++;
}

/**
 * ang_run_find() - find the step that waits for a message.  Return: the step,
 * or ANG_NO_STEP
 */
u32 ang_run_find(const struct ang_run *run, enum ang_step_kind kind, u32 peer,
		 u32 tag)
{
	const struct ang_run_step *w;

	for (w = *run_chain(run, peer); w; w = w->next) {
		u32 i = (u32)(w - run->steps);
		const struct ang_step *s = &run->sched.steps[i];

		if (s->kind == kind && s->peer == peer && s->tag == tag)
			return i;
	}
	return ANG_NO_STEP;
}

static int step_begin(struct ang_run *run, u32 i)
{
	const struct ang_step *s = &run->sched.steps[i];

	switch (s->kind) {
	case ANG_STEP_SEND:
		ang_run_set(run, i, ANG_RUN_SENDS);
		return 0;
	case ANG_STEP_RECV:
		ang_run_set(run, i, ANG_RUN_WAITS);
		return run->ops->recv ? run->ops->recv(run->arg, i) : 0;
	case ANG_STEP_COPY:
		memmove(ang_run_at(run, s->dst), ang_run_at(run, s->src), s->len);
		break;
	case ANG_STEP_COMBINE:
		run->ops->combine(run->arg, ang_run_at(run, s->dst),
				  ang_run_at(run, s->src), s->len);
		break;
	}
	ang_run_set(run, i, ANG_RUN_ENDED);
	return 0;
}

/* Sends all pending messages.  Return: 0; -errno. */
static int run_queue(struct ang_run *run)
{
	struct ang_run_step **at = &run->queue, *s;

	while ((s = *at)) {
		u32 i = (u32)(s - run->steps);
		int ret = run->ops->send(run->arg, i);

		if (ret == -EBUSY) {
			at = &s->next;
			continue;
		}
		if (ret < 0)
			return ret == -EAGAIN ? 0 : ret;
		run->moved = true;
		if (ret)
			continue;
		*at = s->next;
		if (run->last == &s->next)
			run->last = at;
		if (s->state == ANG_RUN_SENDS)
			ang_run_set(run, i, ANG_RUN_WAITS);
	}
	return 0;
}

/**
 * ang_run_go() - begin the steps that can begin, and send
 * @run: run
 *
 * Return: 1 if something has changed, else 0; -errno of a function of the
 * executor.  After such an error this function does not access the run, since
 * the executor may have freed it.
 */
int ang_run_go(struct ang_run *run)
{
	const struct ang_schedule *sched = &run->sched;
	u32 prefix;
	int ret;

	run->moved = false;
	do {
		while (run->begun < sched->n &&
		       sched->steps[run->begun].after <= run->prefix) {
			ret = step_begin(run, run->begun++);
			if (ret)
				return ret;
		}
		prefix = run->prefix;
		ret = run_queue(run);
		if (ret)
			return ret;
	} while (run->prefix != prefix);
	return run->moved;
}
