// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters of completions.
 */
#include <sched.h>
#include <stdlib.h>

#include "afi.h"

static struct afi_cntr *cntr_of(struct fid_cntr *fid)
{
	return afi_of(fid, struct afi_cntr, fid);
}

/* Wakes threads that wait for the counter.  The domain is locked. */
void afi_cntr_changed(struct afi_cntr *cntr)
{
	if (!cntr->waits)
		return;
	afi_wait_wake(&cntr->wait);
	pthread_cond_broadcast(&cntr->left);
}

/* Counts a completion.  The domain is locked. */
void afi_cntr_count(struct afi_cntr *cntr, int err)
{
	if (!cntr)
		return;
	if (err)
		cntr->errors++;
	else
		cntr->value++;
	afi_cntr_changed(cntr);
}

/* Reads a value of a counter after progress.  @seen: where to record it */
static u64 cntr_value(struct afi_cntr *cntr, const u64 *value, u64 *seen)
{
	u64 now;

	afi_lock(cntr->domain);
	afi_progress(cntr->domain);
	now = *value;
	*seen = now;
	afi_unlock(cntr->domain);
	return now;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	return cntr_value(cntr_of(fid), &cntr_of(fid)->value, &cntr_of(fid)->seen);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	return cntr_value(cntr_of(fid), &cntr_of(fid)->errors, &cntr_of(fid)->seen_errors);
}

/* The program has changed a counter: starts deferred work that waits for it. */
static void cntr_touched(struct afi_cntr *cntr)
{
	afi_cntr_changed(cntr);
	if (!afi_list_empty(&cntr->domain->works))
		afi_progress(cntr->domain);
}

/* Sets a value of a counter, after progress. */
static int cntr_assign(struct afi_cntr *cntr, u64 *value, u64 to)
{
	afi_lock(cntr->domain);
	afi_progress(cntr->domain);
	*value = to;
	cntr_touched(cntr);
	afi_unlock(cntr->domain);
	return 0;
}

static int cntr_change(struct afi_cntr *cntr, u64 *value, u64 by)
{
	afi_lock(cntr->domain);
	*value += by;
	cntr_touched(cntr);
	afi_unlock(cntr->domain);
	return 0;
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	return cntr_change(cntr_of(fid), &cntr_of(fid)->value, value);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	return cntr_change(cntr_of(fid), &cntr_of(fid)->errors, value);
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	return cntr_assign(cntr_of(fid), &cntr_of(fid)->value, value);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	return cntr_assign(cntr_of(fid), &cntr_of(fid)->errors, value);
}

/*
 * Result of a wait.  Return: 0 the threshold is reached; -FI_EAGAIN the wait goes
 * on; -FI_EAVAIL an error was counted; -FI_ENODEV the adapter is gone.
 */
static int sleeper_result(const struct afi_cntr *cntr,
			  const struct afi_cntr_sleeper *s)
{
	if (cntr->value >= s->threshold)
		return 0;
	if (cntr->errors != s->errors)
		return -FI_EAVAIL;
	return cntr->domain->dead ? -FI_ENODEV : -FI_EAGAIN;
}

/*
 * Clears the eventfd, unless it has to wake a thread whose wait has ended: that
 * thread may still be asleep.  Return: true if the eventfd is clear.
 */
static bool cntr_quiet(struct afi_cntr *cntr)
{
	const struct afi_link *link;

	for (link = cntr->sleepers.next; link != &cntr->sleepers; link = link->next)
		if (sleeper_result(cntr, afi_of(link, struct afi_cntr_sleeper, link)) !=
		    -FI_EAGAIN)
			return false;
	afi_wait_quiet(&cntr->wait);
	return true;
}

/*
 * Checks a wait, and prepares to sleep if the wait goes on.  If the eventfd still
 * has to wake other threads, first waits for them, until @end at most.  The domain
 * is locked, except during that wait.  Return: as sleeper_result().
 */
static int sleeper_check(struct afi_cntr *cntr, const struct afi_cntr_sleeper *s,
			 u64 end)
{
	int ret;

	afi_progress(cntr->domain);
	for (;;) {
		ret = sleeper_result(cntr, s);
		if (ret != -FI_EAGAIN || !cntr->waits)
			return ret;
		if (cntr_quiet(cntr))
			break;
		if (afi_past(end))
			return ret;
		afi_cond_wait(&cntr->left, &cntr->domain->lock, end);
	}
	afi_wait_arm(cntr->domain);
	return sleeper_result(cntr, s);
}

/*
 * Waits for a counter; an error that occurs during the wait ends it.  If the
 * counter has no wait object, the caller polls.
 */
static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct afi_cntr_sleeper s = { .threshold = threshold };
	struct afi_cntr *cntr = cntr_of(fid);
	u64 end = afi_deadline(timeout);
	int ret;

	afi_lock(cntr->domain);
	s.errors = cntr->errors;
	afi_list_add(&cntr->sleepers, &s.link);
	for (;;) {
		ret = sleeper_check(cntr, &s, end);
		if (ret == -FI_EAGAIN && afi_past(end))
			ret = -FI_ETIMEDOUT;
		if (ret != -FI_EAGAIN)
			break;
		afi_unlock(cntr->domain);
		ret = cntr->waits ? afi_wait_sleep(&cntr->wait, end) : sched_yield();
		afi_lock(cntr->domain);
		if (ret)
			break;
	}
	afi_list_del(&s.link);
	pthread_cond_broadcast(&cntr->left);
	/* The program learns whether the threshold is reached, not a larger value. */
	cntr->seen = cntr->value < threshold ? cntr->value : threshold;
	afi_unlock(cntr->domain);
	return ret;
}

/* Does the program know the values of the counter? */
static bool cntr_known(const struct afi_cntr *cntr)
{
	return cntr->value == cntr->seen && cntr->errors == cntr->seen_errors;
}

/*
 * May the caller sleep?  Not if the program has not read the present value and
 * number of errors: it may be waiting for them, and no later change would wake
 * it.
 */
int afi_cntr_trywait(struct afi_cntr *cntr)
{
	int ret;

	if (!cntr->waits)
		return -FI_EINVAL;
	afi_lock(cntr->domain);
	if (cntr_known(cntr)) {
		cntr_quiet(cntr);
		afi_wait_arm(cntr->domain);
	}
	ret = !cntr_known(cntr) || cntr->domain->dead ? -FI_EAGAIN : 0;
	afi_unlock(cntr->domain);
	return ret;
}

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

static int cntr_control(struct fid *fid, int command, void *arg)
{
	struct afi_cntr *cntr = afi_of(fid, struct afi_cntr, fid.fid);

	return afi_wait_control(&cntr->wait, cntr->waits, command, arg);
}

static int cntr_close(struct fid *fid)
{
	struct afi_cntr *cntr = afi_of(fid, struct afi_cntr, fid.fid);

	if (afi_busy(&cntr->refs))
		return -FI_EBUSY;
	afi_lock(cntr->domain);
	if (cntr->waits)
		afi_wait_close(&cntr->wait);
	afi_unlock(cntr->domain);
	afi_unref(&cntr->domain->refs);
	pthread_cond_destroy(&cntr->left);
	free(cntr);
	return 0;
}

static struct fi_ops cntr_fi_ops =
	AFI_FI_OPS(cntr_close, afi_no_bind, cntr_control);

int afi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **out, void *context)
{
	struct afi_cntr *cntr;
	bool waits = true;
	int ret;

	if (attr && !afi_wait_kind(attr->wait_obj, &waits))
		return -FI_ENOSYS;
	if (attr && (attr->events != FI_CNTR_EVENTS_COMP || attr->flags))
		return -FI_EINVAL;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	cntr->domain = afi_domain_of(domain);
	afi_list_init(&cntr->sleepers);
	afi_lock(cntr->domain);
	ret = waits ? afi_wait_open(&cntr->wait, cntr->domain) : 0;
	afi_unlock(cntr->domain);
	if (ret) {
		free(cntr);
		return ret;
	}
	pthread_cond_init(&cntr->left, NULL);
	cntr->waits = waits;
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fi_ops;
	cntr->fid.ops = &cntr_ops;
	afi_ref(&cntr->domain->refs);
	*out = &cntr->fid;
	return 0;
}
