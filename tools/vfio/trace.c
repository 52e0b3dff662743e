// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of the fabric's packets, and their queued records; see trace.h.
 */
#include <stdlib.h>
#include <time.h>

#include "trace.h"

void traces_init(struct traces *t)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->more, &attr);
	pthread_condattr_destroy(&attr);
	t->list = NULL;
	t->count = 0;
}

void traces_destroy(struct traces *t)
{
	pthread_cond_destroy(&t->more);
	pthread_mutex_destroy(&t->lock);
}

/**
 * traces_add() - add a reader
 * @t: readers of the fabric
 * @node: record only this node, or TRACE_ALL
 *
 * Return: argument of traces_remove(), or NULL: out of memory.
 */
struct tracer *traces_add(struct traces *t, u32 node)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer)
		return NULL;
	tracer->node = node;
	pthread_mutex_lock(&t->lock);
	tracer->next = t->list;
	t->list = tracer;
	ang_store_release(&t->count, t->count + 1);
	pthread_mutex_unlock(&t->lock);
	return tracer;
}

void traces_remove(struct traces *t, struct tracer *tracer)
{
	struct tracer **at;

	pthread_mutex_lock(&t->lock);
	for (at = &t->list; *at != tracer; at = &(*at)->next)
		;
	*at = tracer->next;
	ang_store_release(&t->count, t->count - 1);
	pthread_mutex_unlock(&t->lock);
	free(tracer);
}

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* Caller holds the lock. */
static void put(struct tracer *tracer, u64 ns, const struct ang_trace *rec)
{
	if (tracer->node != TRACE_ALL && tracer->node != rec->node)
		return;
	if (tracer->tail - tracer->head == TRACE_RING) {
		tracer->lost++;
		return;
	}
	tracer->ring[tracer->tail++ % TRACE_RING] = (struct trace_rec){
		.ns = ns, .lost = tracer->lost, .rec = *rec,
	};
	tracer->lost = 0;
}

/** traces_record() - append a record to the rings of all readers */
void traces_record(struct traces *t, const struct ang_trace *rec)
{
	struct tracer *tracer;
	u64 ns;

	pthread_mutex_lock(&t->lock);
	/* Read the clock under the lock, so times in a ring never decrease. */
	ns = now_ns();
	for (tracer = t->list; tracer; tracer = tracer->next)
		put(tracer, ns, rec);
	pthread_cond_broadcast(&t->more);
	pthread_mutex_unlock(&t->lock);
}

/**
 * traces_take() - take records
 * @t: readers of the fabric
 * @tracer: the reader
 * @out: out
 * @max: room in @out
 * @wait_ms: how long to wait for the first record
 *
 * Return: number of records.
 */
u32 traces_take(struct traces *t, struct tracer *tracer, struct trace_rec *out,
		u32 max, u32 wait_ms)
{
	struct timespec end;
	u32 n = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	end.tv_sec += wait_ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&t->lock);
	while (tracer->head == tracer->tail &&
	       !pthread_cond_timedwait(&t->more, &t->lock, &end))
		;
	while (n < max && tracer->head != tracer->tail)
		out[n++] = tracer->ring[tracer->head++ % TRACE_RING];
	pthread_mutex_unlock(&t->lock);
	return n;
}
