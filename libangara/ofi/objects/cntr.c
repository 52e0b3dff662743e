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

/* Sets a value of a counter or adds to it, after progress. */
static u64 cntr_value(struct afi_cntr *cntr, u64 *value, bool set, u64 to)
{
	u64 now;

	afi_lock(cntr->domain);
	afi_progress(cntr->domain);
	if (set) {
		*value = to;
		afi_cntr_changed(cntr);
	}
	now = *value;
	if (set && !afi_list_empty(&cntr->domain->works))
		afi_progress(cntr->domain);
	afi_unlock(cntr->domain);
	return now;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	return cntr_value(cntr_of(fid), &cntr_of(fid)->value, false, 0);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	return cntr_value(cntr_of(fid), &cntr_of(fid)->errors, false, 0);
}

static int cntr_change(struct afi_cntr *cntr, u64 *value, u64 by)
{
	afi_lock(cntr->domain);
	*value += by;
	afi_cntr_changed(cntr);
	if (!afi_list_empty(&cntr->domain->works))
		afi_progress(cntr->domain);
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
	cntr_value(cntr_of(fid), &cntr_of(fid)->value, true, value);
	return 0;
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	cntr_value(cntr_of(fid), &cntr_of(fid)->errors, true, value);
	return 0;
}

/*
 * Result of a wait.  Return: 0 the value is reached; -FI_EAGAIN it goes on;
 * -FI_EAVAIL; -FI_ENODEV.
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
 * Checks a wait, and prepares to sleep if it goes on.  The domain is locked, but
 * not while the caller waits, until @end at most, for threads that the eventfd has
 * to wake.
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
	afi_unlock(cntr->domain);
	return ret;
}

/*
 * May the caller sleep?  The provider does not know which value the program has
 * read last.  So the answer is yes, unless the counter changes during this
 * call.
 */
int afi_cntr_trywait(struct afi_cntr *cntr)
{
	u64 before, errors;
	int ret;

	if (!cntr->waits)
		return -FI_EINVAL;
	afi_lock(cntr->domain);
	cntr_quiet(cntr);
	before = cntr->value;
	errors = cntr->errors;
	afi_wait_arm(cntr->domain);
	ret = cntr->value != before || cntr->errors != errors ||
	      cntr->domain->dead ? -FI_EAGAIN : 0;
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
