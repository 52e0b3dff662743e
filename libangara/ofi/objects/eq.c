// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Event queues: a list of events, read in order. */
#include <stdlib.h>
#include <string.h>

#include "afi.h"

static struct afi_eq *eq_of(struct fid_eq *fid)
{
	return afi_of(fid, struct afi_eq, fid);
}

void afi_eq_append(struct afi_eq *eq, struct afi_event *ev)
{
	pthread_mutex_lock(&eq->lock);
	*eq->last = ev;
	eq->last = &ev->next;
	if (eq->waits)
		afi_wait_wake(&eq->wait);
	pthread_mutex_unlock(&eq->lock);
}

static void eq_pop(struct afi_eq *eq)
{
	struct afi_event *ev = eq->first;

	eq->first = ev->next;
	if (!eq->first)
		eq->last = &eq->first;
	free(ev);
}

static ssize_t eq_take(struct afi_eq *eq, u32 *event, void *buf, size_t len,
		       u64 flags)
{
	const struct afi_event *ev = eq->first;
	size_t size;

	if (!ev) {
		if (eq->waits)
			afi_wait_quiet(&eq->wait);
		return -FI_EAGAIN;
	}
	if (ev->error)
		return -FI_EAVAIL;
	if (len < ev->len)
		return -FI_ETOOSMALL;
	size = ev->len;
	*event = ev->event;
	if (size)
		memcpy(buf, ev->data, size);
	if (!(flags & FI_PEEK))
		eq_pop(eq);
	return (ssize_t)size;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf,
		       size_t len, uint64_t flags)
{
	struct afi_eq *eq = eq_of(fid);
	ssize_t ret;

	if (flags & ~FI_PEEK)
		return -FI_EINVAL;
	pthread_mutex_lock(&eq->lock);
	ret = eq_take(eq, event, buf, len, flags);
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags)
{
	const struct afi_eq *eq = eq_of(fid);
	u64 end = afi_deadline(timeout);
	ssize_t ret;

	if (!eq->waits)
		return -FI_ENOSYS;
	for (;;) {
		ret = eq_read(fid, event, buf, len, flags);
		if (ret != -FI_EAGAIN || afi_past(end))
			return ret;
		ret = afi_wait_sleep(&eq->wait, end);
		if (ret)
			return ret;
	}
}

/* The program's buffer for more error data stays empty. */
static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf,
			  uint64_t flags)
{
	struct afi_eq *eq = eq_of(fid);
	ssize_t ret = -FI_EAGAIN;

	if (flags & ~FI_PEEK)
		return -FI_EINVAL;
	pthread_mutex_lock(&eq->lock);
	if (eq->first && eq->first->error) {
		memcpy(buf, eq->first->data, sizeof(*buf));
		ret = sizeof(*buf);
		if (!(flags & FI_PEEK))
			eq_pop(eq);
	}
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf,
			size_t len, uint64_t flags)
{
	struct afi_eq *eq = eq_of(fid);
	struct afi_event *ev;

	if (!eq->writable || flags)
		return -FI_EINVAL;
	ev = calloc(1, sizeof(*ev) + len);
	if (!ev)
		return -FI_ENOMEM;
	ev->event = event;
	ev->len = len;
	if (len)
		memcpy(ev->data, buf, len);
	afi_eq_append(eq, ev);
	return (ssize_t)len;
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	(void)fid;
	(void)err_data;
	return afi_error_text(prov_errno, buf, len);
}

/*
 * May the caller sleep?  Clears the eventfd only if there is no event: it may have
 * to wake another thread, which is still asleep.
 */
int afi_eq_trywait(struct afi_eq *eq)
{
	int ret = 0;

	if (!eq->waits)
		return -FI_EINVAL;
	pthread_mutex_lock(&eq->lock);
	if (eq->first)
		ret = -FI_EAGAIN;
	else
		afi_wait_quiet(&eq->wait);
	pthread_mutex_unlock(&eq->lock);
	return ret;
}

static int eq_control(struct fid *fid, int command, void *arg)
{
	struct afi_eq *eq = afi_of(fid, struct afi_eq, fid.fid);

	return afi_wait_control(&eq->wait, eq->waits, command, arg);
}

static int eq_close(struct fid *fid)
{
	struct afi_eq *eq = afi_of(fid, struct afi_eq, fid.fid);

	if (afi_busy(&eq->refs))
		return -FI_EBUSY;
	while (eq->first)
		eq_pop(eq);
	if (eq->waits)
		afi_wait_close(&eq->wait);
	pthread_mutex_destroy(&eq->lock);
	afi_unref(&eq->fabric->refs);
	free(eq);
	return 0;
}

static struct fi_ops eq_fi_ops = AFI_FI_OPS(eq_close, afi_no_bind, eq_control);

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int afi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **out, void *context)
{
	struct afi_eq *eq;
	bool waits;
	int ret;

	if (!afi_wait_kind(attr ? attr->wait_obj : FI_WAIT_NONE, &waits))
		return -FI_ENOSYS;
	if (attr && (attr->flags & ~(FI_WRITE | FI_AFFINITY)))
		return -FI_EINVAL;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	ret = waits ? afi_wait_open(&eq->wait, NULL) : 0;
	if (ret) {
		free(eq);
		return ret;
	}
	eq->waits = waits;
	eq->writable = attr && (attr->flags & FI_WRITE);
	eq->last = &eq->first;
	eq->fabric = afi_of(fabric, struct afi_fabric, fid);
	pthread_mutex_init(&eq->lock, NULL);
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &eq_fi_ops;
	eq->fid.ops = &eq_ops;
	afi_ref(&eq->fabric->refs);
	*out = &eq->fid;
	return 0;
}
