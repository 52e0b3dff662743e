// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Domains: a context and its progress. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "info.h"

#define AFI_ROUNDS	64	/* of progress in one call */

/* Wakes all sleeping threads, since no event may follow. */
static void wake_all(struct afi_domain *d)
{
	u32 i, j;

	if (d->threaded)
		afi_wait_wake(&d->wake);
	for (i = 0; i < AFI_EPS; i++) {
		struct afi_ep *ep = d->eps[i];

		if (ep && ep->tx && ep->tx->waits)
			afi_wait_wake(&ep->tx->wait);
		if (ep && ep->rx && ep->rx->waits)
			afi_wait_wake(&ep->rx->wait);
		for (j = 0; ep && j < AFI_COUNTS; j++)
			if (ep->cntrs[j] && ep->cntrs[j]->waits)
				afi_wait_wake(&ep->cntrs[j]->wait);
	}
	for (i = 0; d->watched && i < d->about.max_mrs; i++)
		for (j = 0; d->watched[i] && j < 2; j++)
			if (d->watched[i]->cntrs[j] &&
			    d->watched[i]->cntrs[j]->waits)
				afi_wait_wake(&d->watched[i]->cntrs[j]->wait);
}

/* Return: whether any event was handled. */
static bool look(struct afi_domain *d)
{
	int ret = 0, n = 0;

	if (d->has_msgs)
		n = afi_arrive_progress(d);
	if (!d->dead)
		ret = afi_harvest(d);
	if (!d->dead && (ret < 0 || n < 0)) {
		AFI_WARN(DOMAIN, "the adapter is gone\n");
		d->dead = true;
		afi_await_gone(d);
		afi_wait_gone(d);
		wake_all(d);
	}
	return n > 0 || ret > 0;
}

static bool one_round(struct afi_domain *d)
{
	bool any = look(d);

	if (!afi_list_empty(&d->todo))
		any |= afi_ops_retry(d);
	if (!afi_list_empty(&d->works))
		any |= afi_work_progress(d);
	if (d->parked)
		any |= afi_unpark(d);
	if (d->has_msgs && afi_send_waits(d))
		any |= afi_send_progress(d);
	if (d->coll && (!afi_list_empty(&d->coll->busy) ||
			!afi_list_empty(&d->coll->ending)))
		any |= afi_coll_progress(d);
	return any;
}

/**
 * afi_progress() - handle events, and end operations
 * @d: domain, locked
 *
 * Repeats until there is no event, since an operation that it starts may end at
 * once.  The number of rounds is limited, so peers cannot keep it here.
 */
void afi_progress(struct afi_domain *d)
{
	u32 round;

	for (round = 0; round < AFI_ROUNDS; round++)
		if (!one_round(d) && !(d->probing && afi_probe(d)))
			return;
	wake_all(d);
}

/* With FI_PROGRESS_AUTO, independent of the program's calls. */
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
	ret = -pthread_create(&d->thread, NULL, progress_thread, d);
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

/*
 * When a program closes its last endpoint, its messages may still be in flight,
 * completed or not; closing the context would drop those that have not arrived.
 * Peers may also still need the trees of groups that were closed here.
 */
static void linger(struct afi_domain *d)
{
	u64 end = afi_deadline(AFI_LINGER_MS);
	u64 trees_end = afi_deadline(AFI_TREES_MS);
	bool messages = d->has_msgs;
	bool busy = true;

	while (busy && !afi_past(end)) {
		afi_lock(d);
		afi_progress(d);
		messages = d->has_msgs && !d->dead &&
			   (d->sends_left < AFI_SENDS || d->owed ||
			    afi_ops_busy(d));
		busy = messages || (d->coll && !afi_past(trees_end) &&
				    !afi_list_empty(&d->coll->ending));
		afi_unlock(d);
		if (busy)
			sched_yield();
	}
	if (messages)
		AFI_WARN(DOMAIN, "closed with undelivered messages\n");
}

static void domain_free(struct afi_domain *d)
{
	stop_thread(d);
	afi_coll_free(d);
	/* The context drops operations in progress. */
	angara_ctx_close(d->ctx);
	angara_domain_close(d->dom);
	angara_job_finalize(d->job);
	afi_flow_free(d);
	afi_probe_free(d);
	afi_wait_end(d);
	free(d->watched);
	afi_keys_free(d);
	free(d->early);
	free(d->ops_mem);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static int domain_close(struct fid *fid)
{
	struct afi_domain *d = afi_of(fid, struct afi_domain, fid.fid);

	if (afi_busy(&d->refs))
		return -FI_EBUSY;
	afi_unref(&d->fabric->refs);
	linger(d);
	domain_free(d);
	return 0;
}

static struct fi_ops domain_fi_ops =
	AFI_FI_OPS(domain_close, afi_no_bind, afi_domain_control);

static int no_stx_ctx(struct fid_domain *domain, struct fi_tx_attr *attr,
		      struct fid_stx **stx, void *context)
{
	(void)domain;
	(void)attr;
	(void)stx;
	(void)context;
	return -FI_ENOSYS;
}

static int no_srx_ctx(struct fid_domain *domain, struct fi_rx_attr *attr,
		      struct fid_ep **rx_ep, void *context)
{
	(void)domain;
	(void)attr;
	(void)rx_ep;
	(void)context;
	return -FI_ENOSYS;
}

static int endpoint2(struct fid_domain *domain, struct fi_info *info,
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
	.stx_ctx = no_stx_ctx,
	.srx_ctx = no_srx_ctx,
	.query_atomic = afi_query_atomic,
	.query_collective = afi_query_collective,
	.endpoint2 = endpoint2,
};

/*
 * A PMIx launcher gives this process's rank in the job, which selects the
 * adapter.
 */
static int open_ctx(struct afi_domain *d, const char *name)
{
	/* Inline payload takes up to four more entries. */
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
	/* A driver without messages supports the rest. */
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

static int setup(struct afi_domain *d, const struct fi_info *info)
{
	size_t keep = AFI_KEEP_MIB;
	int ret = open_ctx(d, info->domain_attr->name);

	fi_param_get_size_t(&afi_provider, "keep", &keep);
	d->keep_max = keep < SIZE_MAX >> 20 ? keep << 20 : SIZE_MAX;

	/* Not 0, a likely value of unrelated memory. */
	d->id = afi_serial_domain(afi_any_number(d)) | 1;
	d->serial = afi_any_number(d);
	if (!ret)
		ret = afi_keys_init(d);
	if (!ret)
		ret = afi_probe_init(d);
	if (!ret)
		ret = afi_local_init(d);
	if (!ret)
		ret = afi_await_init(d);
	if (!ret)
		ret = afi_ops_init(d);
	if (!ret && d->has_msgs)
		ret = afi_flow_init(d);
	if (!ret && d->has_msgs)
		ret = afi_coll_init(d);
	if (!ret && info->domain_attr->data_progress == FI_PROGRESS_AUTO)
		ret = start_thread(d);
	return ret;
}

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
	afi_list_init(&d->works);
	/* Legacy names for combinations of mode bits. */
	if (mode == AFI_MR_BASIC)
		mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	d->prov_keys = mode & FI_MR_PROV_KEY;
	d->virt = d->prov_keys && mode & FI_MR_VIRT_ADDR;
	d->events = info->caps & FI_RMA_EVENT;
	d->fabric = afi_of(fabric, struct afi_fabric, fid);
	ret = setup(d, info);
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
