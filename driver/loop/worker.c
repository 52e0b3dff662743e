// SPDX-License-Identifier: GPL-2.0-only
/*
 * Workers: they advance nodes that still have work when a caller stops.
 *
 * Such nodes go to the list of one worker, chosen by the processor number.  A
 * worker takes one node at a time.  For one slice, the worker advances this
 * node and the nodes that get packets from it; then it puts the nodes that
 * still have work back into its list.  Between slices the worker's view is
 * empty, so no node waits for a preempted worker.  While a worker's list has
 * more nodes, the worker wakes an idle worker.  A worker whose own list is
 * empty takes nodes from other lists.  So N workers are running after log2(N)
 * slices, and no lock is shared by all workers.
 *
 * Progress does not depend on a wake-up: a worker runs until its list is empty.
 */
#include <linux/bitmap.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "loop.h"

static struct workqueue_struct *loop_wq;

static bool worker_left(const struct loop_worker *worker)
{
	return worker->runq.head != ANG_NONE;
}

/* Append the nodes of a view to a worker's lists. */
static void worker_give(struct loop_worker *worker, struct ang_view *view)
{
	raw_spin_lock(&worker->lock);
	ang_list_splice(view->fab, &worker->runq, &view->runq);
	ang_timers_splice(view->fab, &worker->timers, &view->timers);
	WRITE_ONCE(worker->left, worker_left(worker));
	raw_spin_unlock(&worker->lock);
}

/* Take one node and all timers.  Timers expire when there is no other work. */
static bool worker_take(struct loop_worker *worker, struct ang_view *view)
{
	raw_spin_lock(&worker->lock);
	ang_list_move(view->fab, &view->runq, &worker->runq, 1);
	ang_timers_splice(view->fab, &view->timers, &worker->timers);
	view->patient = worker_left(worker);
	WRITE_ONCE(worker->left, view->patient);
	raw_spin_unlock(&worker->lock);
	return ang_view_busy(view);
}

static bool worker_take_from(struct loop_worker *worker,
			     struct loop_worker *other, struct ang_view *view)
{
	raw_spin_lock(&other->lock);
	ang_list_move(view->fab, &view->runq, &other->runq, 1);
	WRITE_ONCE(other->left, worker_left(other));
	raw_spin_unlock(&other->lock);
	if (!ang_view_busy(view))
		return false;
	view->patient = false;
	WRITE_ONCE(worker->taken, worker->taken + 1);
	return true;
}

/* Take a node from another worker, starting with the next worker by number. */
static bool worker_steal(struct loop_worker *worker, struct ang_view *view)
{
	struct loop_fabric *fabric = worker->fabric;
	u32 own = worker - fabric->worker;
	u32 i;

	for (i = 1; i < fabric->num_workers; i++) {
		u32 at = (own + i) % fabric->num_workers;
		struct loop_worker *other = &fabric->worker[at];

		if (READ_ONCE(other->left) &&
		    worker_take_from(worker, other, view))
			return true;
	}
	return false;
}

/* Wake an idle worker, which then takes nodes from other workers. */
static void worker_call(struct loop_fabric *fabric)
{
	u32 at = find_first_bit(fabric->idle, fabric->num_workers);

	if (at < fabric->num_workers && test_and_clear_bit(at, fabric->idle))
		queue_work(loop_wq, &fabric->worker[at].work);
}

/* Run one slice.  Return: false if there was no work. */
static bool worker_slice(struct loop_worker *worker, struct ang_view *view)
{
	bool busy;

	/*
	 * Do not preempt this thread: no other thread can advance the nodes on
	 * its view.
	 */
	preempt_disable();
	busy = worker_take(worker, view) || worker_steal(worker, view);
	if (busy) {
		if (READ_ONCE(worker->left))
			worker_call(worker->fabric);
		/*
		 * Refresh in each slice, since a worker may run for a long
		 * time.
		 */
		loop_view_refresh(view);
		ang_run(view, LOOP_SLICE);
		worker_give(worker, view);
		WRITE_ONCE(worker->slices, worker->slices + 1);
	}
	preempt_enable();
	return busy;
}

static void worker_run(struct work_struct *work)
{
	struct loop_worker *worker = container_of(work, struct loop_worker, work);
	struct loop_fabric *fabric = worker->fabric;
	u32 own = worker - fabric->worker;
	struct ang_view view;

	clear_bit(own, fabric->idle);
	loop_view_init(fabric, &view);
	while (worker_slice(worker, &view))
		cond_resched();
	set_bit(own, fabric->idle);
}

/**
 * loop_hand_over() - hand the nodes of a view over to a worker
 * @fabric: fabric
 * @view: view; empty afterwards
 *
 * Context: preemption is off.
 */
void loop_hand_over(struct loop_fabric *fabric, struct ang_view *view)
{
	struct loop_worker *worker;

	worker = &fabric->worker[smp_processor_id() % fabric->num_workers];
	worker_give(worker, view);
	queue_work(loop_wq, &worker->work);
}

/**
 * loop_workers_show() - print the counters of each worker
 * @fabric: fabric
 * @m: file
 */
void loop_workers_show(struct loop_fabric *fabric, struct seq_file *m)
{
	u32 i;

	seq_puts(m, "worker slices taken\n");
	for (i = 0; i < fabric->num_workers; i++)
		seq_printf(m, "%6u %llu %llu\n", i,
			   READ_ONCE(fabric->worker[i].slices),
			   READ_ONCE(fabric->worker[i].taken));
}

/**
 * loop_workers_new() - make a fabric's workers
 * @fabric: fabric
 *
 * Return: 0 or -ENOMEM.
 * Context: process; may sleep.
 */
int loop_workers_new(struct loop_fabric *fabric)
{
	u32 count = min(num_possible_cpus(), fabric->num_nodes);
	u32 i;

	fabric->worker = kvcalloc(count, sizeof(*fabric->worker), GFP_KERNEL);
	fabric->idle = bitmap_zalloc(count, GFP_KERNEL);
	if (!fabric->worker || !fabric->idle)
		return -ENOMEM;
	fabric->num_workers = count;
	bitmap_fill(fabric->idle, count);
	for (i = 0; i < count; i++) {
		struct loop_worker *worker = &fabric->worker[i];

		worker->fabric = fabric;
		INIT_WORK(&worker->work, worker_run);
		raw_spin_lock_init(&worker->lock);
		worker->runq.head = ANG_NONE;
		worker->timers.head = ANG_NONE;
	}
	return 0;
}

/** loop_workers_free() - free a fabric's workers, after loop_workers_flush() */
void loop_workers_free(struct loop_fabric *fabric)
{
	bitmap_free(fabric->idle);
	kvfree(fabric->worker);
}

/**
 * loop_workers_flush() - wait until no node has work
 * @fabric: fabric whose adapters are unregistered
 *
 * A worker stops when its list is empty, but a worker that has not been flushed
 * may wake a flushed worker.  So repeat until all workers are idle.
 *
 * Context: process; may sleep.
 */
void loop_workers_flush(struct loop_fabric *fabric)
{
	u32 i;

	do {
		for (i = 0; i < fabric->num_workers; i++)
			flush_work(&fabric->worker[i].work);
	} while (!bitmap_full(fabric->idle, fabric->num_workers));
}

int loop_wq_init(void)
{
	loop_wq = alloc_workqueue("angara_loop", WQ_UNBOUND, 0);
	return loop_wq ? 0 : -ENOMEM;
}

void loop_wq_exit(void)
{
	destroy_workqueue(loop_wq);
}
