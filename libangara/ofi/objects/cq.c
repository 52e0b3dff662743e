// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues.
 *
 * Completion queues cannot overflow: when an operation starts, an entry for its
 * completion is reserved; if the queue is full, the start returns -FI_EAGAIN.
 * For messages, the queue grows instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op.h"

static struct afi_cq *cq_of(struct fid_cq *fid)
{
	return afi_of(fid, struct afi_cq, fid);
}

/* Reserves an entry for a completion. */
bool afi_cq_promise(struct afi_cq *cq)
{
	if (cq->tail - cq->head + cq->promised >= cq->size)
		return false;
	cq->promised++;
	return true;
}

/* As afi_cq_promise(), but grows the queue if it is full. */
bool afi_cq_promise_more(struct afi_cq *cq)
{
	struct afi_done *ring;
	u32 i;

	if (afi_cq_promise(cq))
		return true;
	ring = cq->size < AFI_CQ_MAX ? calloc(2 * cq->size, sizeof(*ring)) : NULL;
	if (!ring)
		return false;
	for (i = cq->head; i != cq->tail; i++)
		ring[i & (2 * cq->size - 1)] = cq->ring[i & (cq->size - 1)];
	free(cq->ring);
	cq->ring = ring;
	cq->size *= 2;
	return afi_cq_promise(cq);
}

/*
 * As afi_cq_promise_more(), with a lower limit, for completions that peers
 * cause.
 */
bool afi_cq_promise_told(struct afi_cq *cq)
{
	return cq->size < AFI_CQ_TOLD ? afi_cq_promise_more(cq) :
					afi_cq_promise(cq);
}

/* Fills a reserved entry. */
void afi_cq_put(struct afi_cq *cq, const struct afi_done *done)
{
	cq->promised--;
	cq->ring[cq->tail++ & (cq->size - 1)] = *done;
	if (cq->waits)
		afi_wait_wake(&cq->wait);
}

static size_t entry_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return sizeof(struct fi_cq_entry);
	}
}

/*
 * Copies an entry to the program; each format is a prefix of the next longer
 * one.
 */
static void cq_give(const struct afi_cq *cq, const struct afi_done *done, void *buf)
{
	const struct fi_cq_tagged_entry entry = {
		.op_context = done->context,
		.flags = done->flags,
		.len = done->len,
		.buf = done->buf,
		.data = done->data,
		.tag = done->tag,
	};

	memcpy(buf, &entry, entry_size(cq->format));
}

static ssize_t cq_take(struct afi_cq *cq, void *buf, size_t count, fi_addr_t *src)
{
	size_t n = 0;

	for (; n < count && cq->head != cq->tail; n++, cq->head++) {
		const struct afi_done *done =
			&cq->ring[cq->head & (cq->size - 1)];

		if (done->err)
			return n ? (ssize_t)n : -FI_EAVAIL;
		cq_give(cq, done, (char *)buf + n * entry_size(cq->format));
		if (src)
			src[n] = done->src;
	}
	if (n)
		return (ssize_t)n;
	if (cq->head != cq->tail)
		return cq->ring[cq->head & (cq->size - 1)].err ? -FI_EAVAIL : 0;
	/*
	 * Report that the context is gone only after the errors of all
	 * operations in progress.
	 */
	return cq->domain->dead ? -FI_ENODEV : -FI_EAGAIN;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			   fi_addr_t *src_addr)
{
	struct afi_cq *cq = cq_of(fid);
	ssize_t ret;

	afi_lock(cq->domain);
	/*
	 * If entries are available, no progress is needed; a call with a count
	 * of 0 requests progress.
	 */
	if (!count || cq->head == cq->tail)
		afi_progress(cq->domain);
	else
		afi_ring(cq->domain);
	ret = cq_take(cq, buf, count, src_addr);
	afi_unlock(cq->domain);
	return ret;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return cq_readfrom(fid, buf, count, NULL);
}

/*
 * Copies an error to the program.  The program's headers may be older or newer than
 * the provider's, so this function writes only the members of the interface version
 * that the program has requested.
 */
static void cq_give_error(const struct afi_cq *cq, const struct afi_done *done,
			  struct fi_cq_err_entry *buf)
{
	const u32 version = cq->domain->fabric->version;

	buf->op_context = done->context;
	buf->flags = done->flags;
	buf->len = done->len;
	buf->buf = done->buf;
	buf->data = done->data;
	buf->tag = done->tag;
	buf->olen = done->olen;
	buf->err = done->err;
	buf->prov_errno = done->prov_err;
	/*
	 * Errors have no further data, so the program's buffer for such data
	 * stays empty.
	 */
	if (FI_VERSION_LT(version, AFI_ERR_SIZE_VERSION)) {
		buf->err_data = NULL;
		return;
	}
	if (!buf->err_data_size)
		buf->err_data = NULL;
	buf->err_data_size = 0;
	if (FI_VERSION_GE(version, AFI_ERR_SRC_VERSION))
		memcpy((char *)buf + AFI_ERR_SRC, &done->src, sizeof(done->src));
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf,
			  uint64_t flags)
{
	struct afi_cq *cq = cq_of(fid);
	const struct afi_done *done;
	ssize_t ret = -FI_EAGAIN;

	if (flags)
		return -FI_EINVAL;
	afi_lock(cq->domain);
	afi_progress(cq->domain);
	done = &cq->ring[cq->head & (cq->size - 1)];
	if (cq->head != cq->tail && done->err) {
		cq_give_error(cq, done, buf);
		cq->head++;
		ret = 1;
	}
	afi_unlock(cq->domain);
	return ret;
}

/* Return: true if fi_cq_signal() was called since the last check. */
static bool was_signaled(struct afi_cq *cq)
{
	bool signaled;

	afi_lock(cq->domain);
	signaled = cq->signaled;
	cq->signaled = false;
	afi_unlock(cq->domain);
	return signaled;
}

/* Is there nothing that a sleeping thread would be woken for? */
static bool cq_idle(const struct afi_cq *cq)
{
	return cq->head == cq->tail && !cq->signaled && !cq->domain->dead;
}

/*
 * Return: true if the caller may sleep; later events wake it.  The eventfd stays
 * readable as long as there is an entry: the caller may take one entry, and another
 * thread, which still sleeps, has to take the next.
 */
static bool ready_to_sleep(struct afi_cq *cq)
{
	bool ready;

	afi_lock(cq->domain);
	if (cq_idle(cq))
		afi_wait_quiet(&cq->wait);
	afi_wait_arm(cq->domain);
	ready = cq_idle(cq);
	afi_unlock(cq->domain);
	return ready;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
			    fi_addr_t *src_addr, const void *cond, int timeout)
{
	struct afi_cq *cq = cq_of(fid);
	u64 end = afi_deadline(timeout);
	ssize_t ret;

	(void)cond; /* attr.wait_cond is always FI_CQ_COND_NONE */
	if (!cq->waits)
		return -FI_ENOSYS;
	for (;;) {
		bool signaled = was_signaled(cq);

		ret = cq_readfrom(fid, buf, count, src_addr);
		if (ret != -FI_EAGAIN || signaled || afi_past(end))
			return ret;
		if (!ready_to_sleep(cq))
			continue;
		ret = afi_wait_sleep(&cq->wait, end);
		if (ret)
			return ret;
	}
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count,
			const void *cond, int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	struct afi_cq *cq = cq_of(fid);

	if (!cq->waits)
		return -FI_ENOSYS;
	afi_lock(cq->domain);
	cq->signaled = true;
	afi_wait_wake(&cq->wait);
	afi_unlock(cq->domain);
	return 0;
}

/*
 * Describes an error. @prov_err: ANGARA_ST_*, plus 1; AFI_PROV_NODE(); 0: no
 * details
 */
const char *afi_error_text(int prov_err, char *buf, size_t len)
{
	const char *text = prov_err > 0 ? angara_status_str((u32)prov_err - 1) :
			   prov_err < 0 ? "a node failed or timed out" :
					  "no error of the adapter";

	if (!buf || !len)
		return text;
	if (prov_err < 0)
		snprintf(buf, len, "node %u failed or timed out",
			 (u32)(-1 - prov_err));
	else
		snprintf(buf, len, "%s", text);
	return buf;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	(void)fid;
	(void)err_data;
	return afi_error_text(prov_errno, buf, len);
}

/*
 * May the caller sleep? Makes progress first, which may make the descriptor
 * readable.
 */
int afi_cq_trywait(struct afi_cq *cq)
{
	int ret = 0;

	if (!cq->waits)
		return -FI_EINVAL;
	afi_lock(cq->domain);
	if (cq->head == cq->tail)
		afi_wait_quiet(&cq->wait);
	afi_wait_arm(cq->domain);
	if (cq->head != cq->tail || cq->domain->dead)
		ret = -FI_EAGAIN;
	afi_unlock(cq->domain);
	return ret;
}

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

static int cq_control(struct fid *fid, int command, void *arg)
{
	struct afi_cq *cq = afi_of(fid, struct afi_cq, fid.fid);

	return afi_wait_control(&cq->wait, cq->waits, command, arg);
}

static int cq_close(struct fid *fid)
{
	struct afi_cq *cq = afi_of(fid, struct afi_cq, fid.fid);

	if (afi_busy(&cq->refs))
		return -FI_EBUSY;
	afi_lock(cq->domain);
	if (cq->waits)
		afi_wait_close(&cq->wait);
	afi_unlock(cq->domain);
	afi_unref(&cq->domain->refs);
	free(cq->ring);
	free(cq);
	return 0;
}

static struct fi_ops cq_fi_ops = AFI_FI_OPS(cq_close, afi_no_bind, cq_control);

static int attr_errno(const struct fi_cq_attr *attr, bool *waits)
{
	*waits = false;
	if (!attr)
		return 0;
	if (attr->size > AFI_CQ_MAX || attr->format > FI_CQ_FORMAT_TAGGED ||
	    (attr->flags & ~FI_AFFINITY))
		return -FI_EINVAL;
	if (!afi_wait_kind(attr->wait_obj, waits) ||
	    attr->wait_cond != FI_CQ_COND_NONE)
		return -FI_ENOSYS;
	return 0;
}

static u32 up_to_power(size_t size)
{
	u32 n = 1;

	while (n < size)
		n *= 2;
	return n;
}

int afi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **out, void *context)
{
	struct afi_cq *cq;
	bool waits;
	int ret = attr_errno(attr, &waits);

	if (ret)
		return ret;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->domain = afi_domain_of(domain);
	cq->size = up_to_power(attr && attr->size ? attr->size : AFI_CQ_SIZE);
	cq->ring = calloc(cq->size, sizeof(*cq->ring));
	ret = cq->ring ? 0 : -FI_ENOMEM;
	if (!ret && waits) {
		afi_lock(cq->domain);
		ret = afi_wait_open(&cq->wait, cq->domain);
		afi_unlock(cq->domain);
	}
	if (ret) {
		free(cq->ring);
		free(cq);
		return ret;
	}
	cq->waits = waits;
	cq->format = attr && attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fi_ops;
	cq->fid.ops = &cq_ops;
	afi_ref(&cq->domain->refs);
	*out = &cq->fid;
	return 0;
}
