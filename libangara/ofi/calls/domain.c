// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Domains: a context and its progress. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "info.h"

#define AFI_ROUNDS	64	/* rounds of progress in one call */

/* Handles events once.  Return: true if any event was handled. */
static bool domain_look(struct afi_domain *d)
{
	int ret = 0, n = 0;

	afi_ring(d);
	if (d->has_msgs)
		n = afi_arrive_progress(d);
	if (!d->dead)
		ret = afi_harvest(d);
	if (!d->dead && (ret < 0 || n < 0)) {
		AFI_WARN(DOMAIN, "the adapter is gone\n");
		d->dead = true;
		afi_await_gone(d);
		afi_wait_gone(d);
		/*
		 * Wake threads that wait for events: there may be no further
		 * event.
		 */
		afi_wait_wake_all(d);
	}
	return n > 0 || ret > 0;
}

static bool one_round(struct afi_domain *d)
{
	bool any = domain_look(d);

	if (!afi_list_empty(&d->todo))
		any |= afi_ops_retry(d);
	if (!afi_list_empty(&d->works))
		any |= afi_work_progress(d);
	if (d->parked)
		any |= afi_unpark(d);
	if (!afi_list_empty(&d->returned))
		any |= afi_recv_again(d);
	if (d->has_msgs && afi_send_waits(d))
		any |= afi_send_progress(d);
	if (d->coll && (!afi_list_empty(&d->coll->busy) ||
			!afi_list_empty(&d->coll->ending)))
		any |= afi_coll_progress(d);
	return any;
}

/* See afi_progress(). */
static void domain_progress(struct afi_domain *d)
{
	u32 round;

	for (round = 0; round < AFI_ROUNDS; round++)
		if (!one_round(d) && !(d->probing && afi_probe(d)))
			return;
	afi_wait_wake_all(d);
}

/*
 * Makes progress with FI_PROGRESS_AUTO, independently of the program's calls.
 */
static void *progress_thread(void *arg)
{
	struct afi_domain *d = arg;
	bool stop = false;

	while (!stop) {
		afi_lock(d);
		afi_wait_quiet(&d->wake);
		afi_wait_arm(d);
		stop = d->stop;
		afi_unlock(d);
		if (!stop)
			afi_wait_sleep(&d->wake, UINT64_MAX);
	}
	return NULL;
}

static int start_thread(struct afi_domain *d)
{
	int ret = afi_wait_open(&d->wake, d);

	if (ret)
		return ret;
	ret = afi_thread_start(&d->thread, progress_thread, d);
	if (ret)
		afi_wait_close(&d->wake);
	d->threaded = !ret;
	return ret;
}

static void stop_thread(struct afi_domain *d)
{
	if (!d->threaded)
		return;
	afi_lock(d);
	d->stop = true;
	afi_unlock(d);
	afi_wait_wake(&d->wake);
	pthread_join(d->thread, NULL);
	afi_wait_close(&d->wake);
}

/* Return: true if there are messages that have not been delivered. */
static bool domain_delivers(const struct afi_domain *d)
{
	return d->has_msgs && !d->dead &&
	       (d->sends_left < AFI_SENDS || d->owed || afi_ops_busy(d));
}

/*
 * Waits before the context is closed: closing drops messages in flight, whose
 * completions the program may already have got.  Peers may also still need the
 * trees of groups that were closed here.
 */
static void domain_linger(struct afi_domain *d)
{
	u64 end = afi_deadline(AFI_LINGER_MS);
	u64 trees_end = afi_deadline(AFI_TREES_MS);
	struct afi_wait w;
	bool messages, trees, sleeps = false;
	u32 spins = 0;

	afi_lock(d);
	do {
		if (sleeps) {
			afi_unlock(d);
			afi_wait_sleep(&w, afi_deadline(AFI_LINGER_TICK_MS));
			afi_lock(d);
			afi_wait_quiet(&w);
			afi_wait_arm(d);
		} else {
			if (spins++ >= AFI_LINGER_SPINS) {
				sleeps = !afi_wait_open(&w, d);
				afi_unlock(d);
				sched_yield();
				afi_lock(d);
			}
			afi_progress(d);
		}
		messages = domain_delivers(d);
		trees = d->coll && !afi_list_empty(&d->coll->ending) &&
			!afi_past(trees_end);
	} while ((messages || trees) && !afi_past(end));
	if (sleeps)
		afi_wait_close(&w);
	afi_unlock(d);
	if (messages)
		AFI_WARN(DOMAIN, "the domain is closed with undelivered messages\n");
}

static void domain_free(struct afi_domain *d)
{
	stop_thread(d);
	afi_coll_free(d);
	/* Closing the context drops operations in progress. */
	angara_ctx_close(d->ctx);
	angara_domain_close(d->dom);
	angara_job_finalize(d->job);
	afi_flow_free(d);
	afi_probe_free(d);
	afi_wait_end(d);
	free(d->watched);
	afi_keys_free(d);
	afi_plans_free(d);
	free(d->ops_mem);
	free(d->rests);
	afi_objects_free(&d->recvs);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static int domain_close(struct fid *fid)
{
	struct afi_domain *d = afi_of(fid, struct afi_domain, fid.fid);

	if (afi_busy(&d->refs))
		return -FI_EBUSY;
	afi_unref(&d->fabric->refs);
	domain_linger(d);
	domain_free(d);
	return 0;
}

static struct fi_ops domain_fi_ops =
	AFI_FI_OPS(domain_close, afi_no_bind, afi_domain_control);

static int domain_endpoint2(struct fid_domain *domain, struct fi_info *info,
			    struct fid_ep **ep, uint64_t flags, void *context)
{
	return flags ? -FI_EINVAL : afi_ep_open(domain, info, ep, context);
}

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = afi_av_open,
	.cq_open = afi_cq_open,
	.endpoint = afi_ep_open,
	.scalable_ep = afi_sep_open,
	.cntr_open = afi_cntr_open,
	.poll_open = afi_poll_open,
	.stx_ctx = afi_stx_open,
	.srx_ctx = afi_srx_open,
	.query_atomic = afi_query_atomic,
	.query_collective = afi_query_collective,
	.endpoint2 = domain_endpoint2,
};

/*
 * Opens the context.  With a PMIx launcher, the rank of this process in the job
 * selects the adapter.
 */
static int open_ctx(struct afi_domain *d, const char *name)
{
	/* An inline payload takes up to four more entries of the queue. */
	struct angara_ctx_attr attr = {
		.size = sizeof(attr),
		.sq_entries = 8 * AFI_AWAITS,
		.cq_entries = AFI_AWAITS,
		.msg_bytes = AFI_MSG_AREA,
	};
	const struct angara_domain_attr keys = afi_keys_attr();
	struct angara_ctx_info own = { .size = sizeof(own) };
	const char *device;
	char *param = NULL;
	int ret = 0;

	if (!afi_domain_device(name, &device))
		return -FI_EINVAL;
	if (!device && !fi_param_get_str(&afi_provider, "device", &param))
		device = param;
	if (!device && getenv("PMIX_NAMESPACE"))
		ret = angara_job_init(&d->job);
	if (!ret)
		ret = angara_domain_open(device, &keys, &d->dom);
	d->about.size = sizeof(d->about);
	if (!ret)
		ret = angara_domain_query(d->dom, &d->about);
	/* A driver without messages supports all other operations. */
	d->has_msgs = d->about.max_msg_bytes;
	if (!d->has_msgs)
		attr.msg_bytes = 0;
	if (!ret)
		ret = angara_ctx_open(d->dom, &attr, &d->ctx);
	if (!ret)
		ret = angara_ctx_query(d->ctx, &own);
	d->self = own.self;
	if (ret)
		AFI_WARN(DOMAIN, "cannot open a context on adapter %s: %s\n",
			 device ? device : "of this process", strerror(-ret));
	return ret;
}

static int domain_setup(struct afi_domain *d, const struct fi_info *info)
{
	size_t keep = AFI_KEEP_MIB;
	int ret = open_ctx(d, info->domain_attr->name);

	fi_param_get_size_t(&afi_provider, "keep", &keep);
	d->keep_max = keep < SIZE_MAX >> 20 ? keep << 20 : SIZE_MAX;

	/*
	 * The number must not be 0: peers that probe this domain may read
	 * unrelated memory, which is likely to contain 0.
	 */
	d->id = afi_serial_domain(afi_any_number(d)) | 1;
	d->serial = afi_any_number(d);
	if (!ret)
		ret = afi_keys_init(d);
	if (!ret)
		ret = afi_plans_init(d);
	if (!ret)
		ret = afi_probe_init(d);
	if (!ret)
		ret = afi_local_init(d);
	afi_await_init(d);
	if (!ret)
		ret = afi_ops_init(d);
	if (!ret && d->has_msgs)
		ret = afi_flow_init(d);
	if (!ret && d->has_msgs)
		ret = afi_coll_init(d, &afi_offload_ops);
	if (!ret && info->domain_attr->data_progress == FI_PROGRESS_AUTO)
		ret = start_thread(d);
	return ret;
}

static const struct afi_up domain_up = {
	.progress = domain_progress,
	.op_sent = afi_op_sent,
	.op_fetched = afi_pulled,
	.op_show = afi_show_asked,
	.op_came = afi_op_came,
	.plan_resume = afi_plan_resume,
	.plan_again = afi_plan_again,
	.plan_ended = afi_plan_ended,
	.talk_arrived = afi_talk_arrived,
	.talk_sent = afi_talk_sent,
	.group_heard = afi_group_heard,
	.group_misses = afi_group_misses,
	.group_fail = afi_group_fail,
	.calls_fail = afi_calls_fail,
	.thread_left = afi_watchdog_left,
};

int afi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context)
{
	int mode = info->domain_attr->mr_mode;
	struct afi_domain *d;
	int ret;

	d = calloc(1, sizeof(*d));
	if (!d)
		return -FI_ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->up = &domain_up;
	afi_list_init(&d->waits);
	afi_list_init(&d->works);
	afi_list_init(&d->returned);
	afi_objects_init(&d->recvs, sizeof(struct afi_recv));
	/* Legacy names for combinations of mode bits. */
	if (mode == AFI_MR_BASIC)
		mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	d->prov_keys = mode & FI_MR_PROV_KEY;
	d->virt = d->prov_keys && mode & FI_MR_VIRT_ADDR;
	d->events = info->caps & FI_RMA_EVENT;
	d->single = info->domain_attr->threading == FI_THREAD_DOMAIN &&
		    info->domain_attr->data_progress != FI_PROGRESS_AUTO;
	d->alone = d->single;
	d->fabric = afi_of(fabric, struct afi_fabric, fid);
	ret = domain_setup(d, info);
	if (ret) {
		domain_free(d);
		return ret;
	}
	d->fid.fid.fclass = FI_CLASS_DOMAIN;
	d->fid.fid.context = context;
	d->fid.fid.ops = &domain_fi_ops;
	d->fid.ops = &domain_ops;
	d->fid.mr = &afi_mr_ops;
	afi_ref(&d->fabric->refs);
	*domain = &d->fid;
	return 0;
}
