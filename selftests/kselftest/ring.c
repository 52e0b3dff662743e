// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations: the injection and completion queues of a context.
 *
 * Ordering required by the ABI: entries are written before sq_pi, which is
 * released to the device; the last eight bytes of a completion are read first
 * (acquire), the rest after them.
 */
#include <endian.h>
#include <poll.h>
#include <string.h>

#include "angtest.h"

#define SPINS	64
#define NAP_MS	100

uint64_t at_counter(const struct at_ctx *x, unsigned int n)
{
	return le64toh(__atomic_load_n(&x->ctr[n], __ATOMIC_ACQUIRE));
}

int at_post(struct at_ctx *x, const struct angara_wqe *w, const void *payload)
{
	unsigned int i, n = 0, mask = x->c.sq_entries - 1;
	uint32_t len = le32toh(w->length), part;

	if ((w->flags & ANGARA_WQE_INLINE) && payload)
		n = (len + sizeof(*w) - 1) / sizeof(*w);
	if (x->pi - (uint32_t)at_counter(x, ANGARA_CTR_SQ_CI) + n + 1 >
	    x->c.sq_entries)
		return -EAGAIN;
	x->sq[x->pi & mask] = *w;
	for (i = 0; i < n; i++) {
		part = len < sizeof(*w) ? len : sizeof(*w);
		memcpy(&x->sq[(x->pi + 1 + i) & mask],
		       (const char *)payload + i * sizeof(*w), part);
		len -= part;
	}
	x->pi += n + 1;
	__atomic_store_n(&x->ctl->sq_pi, htole32(x->pi), __ATOMIC_RELEASE);
	return 0;
}

static int kick(struct at_ctx *x, unsigned int flags)
{
	struct angara_kick k = { .size = sizeof(k), .flags = flags };

	return at_ioctl(x->fd, ANGARA_IOCTL_KICK, &k);
}

int at_kick(struct at_ctx *x)
{
	return kick(x, ANGARA_KICK_SQ);
}

int at_arm(struct at_ctx *x)
{
	return kick(x, ANGARA_KICK_ARM);
}

bool at_poll_cqe(struct at_ctx *x, struct angara_cqe *cqe)
{
	const struct angara_cqe *e = &x->cq[x->ci & (x->c.cq_entries - 1)];
	unsigned int lap = x->ci / x->c.cq_entries;

	if ((__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE) & 1) != (~lap & 1))
		return false;
	*cqe = *e;
	x->ci++;
	__atomic_store_n(&x->ctl->cq_ci, htole32(x->ci), __ATOMIC_RELEASE);
	return true;
}

/*
 * Sleeps until the event sequence differs from @seen, but for at most @ms and at
 * most NAP_MS, since credits change without an event.  Only the test poll checks
 * for lost events.
 */
static int wait_event(struct at_ctx *x, uint32_t seen, unsigned int ms)
{
	struct pollfd p = { .fd = x->fd, .events = POLLIN };
	int ret;

	if (ms > NAP_MS)
		ms = NAP_MS;
	__atomic_store_n(&x->ctl->seen, htole32(seen), __ATOMIC_RELEASE);
	ret = at_arm(x);
	if (ret)
		return ret;
	ret = poll(&p, 1, ms);
	if (ret < 0)
		return -errno;
	return p.revents & POLLHUP ? -ENODEV : 0;
}

int at_wait_cqe(struct at_ctx *x, struct angara_cqe *cqe, unsigned int ms)
{
	uint64_t end = at_now_ms() + ms, now;
	unsigned int spin = 0;
	uint32_t seen;
	int ret;

	for (;;) {
		seen = at_counter(x, ANGARA_CTR_EVSEQ);
		if (at_poll_cqe(x, cqe))
			return 0;
		if (spin++ < SPINS)
			continue;
		now = at_now_ms();
		if (now >= end)
			return -ETIMEDOUT;
		ret = wait_event(x, seen, end - now);
		if (ret)
			return ret;
	}
}

int at_wait_counter(struct at_ctx *x, unsigned int n, uint64_t value,
		    unsigned int ms)
{
	uint64_t end = at_now_ms() + ms, now;
	uint32_t seen;
	int ret;

	for (;;) {
		seen = at_counter(x, ANGARA_CTR_EVSEQ);
		if (at_counter(x, n) >= value)
			return 0;
		now = at_now_ms();
		if (now >= end)
			return -ETIMEDOUT;
		ret = wait_event(x, seen, end - now);
		if (ret)
			return ret;
	}
}

int at_do(struct at_ctx *x, const struct angara_wqe *w, const void *payload)
{
	struct angara_cqe cqe;
	int ret;

	ret = at_post(x, w, payload);
	if (!ret)
		ret = at_kick(x);
	if (!ret)
		ret = at_wait_cqe(x, &cqe, AT_DEADLINE_MS);
	if (ret)
		return ret;
	if (cqe.cookie != w->cookie)
		return -EBADMSG;
	return le16toh(cqe.status);
}

struct angara_wqe at_put(const struct at_ctx *to, uint64_t rkey, uint64_t roff,
			 uint64_t lkey, uint64_t loff, uint32_t len)
{
	return (struct angara_wqe) {
		.opcode = ANGARA_OP_PUT,
		.dst_ctx = htole16(to->c.ctx),
		.dst_node = htole32(to->q.node),
		.length = htole32(len),
		.rkey = htole64(rkey),
		.roff = htole64(roff),
		.lkey = htole32((uint32_t)lkey),
		.loff = htole64(loff),
	};
}

struct angara_wqe at_get(const struct at_ctx *from, uint64_t rkey, uint64_t roff,
			 uint64_t lkey, uint64_t loff, uint32_t len)
{
	struct angara_wqe w = at_put(from, rkey, roff, lkey, loff, len);

	w.opcode = ANGARA_OP_GET;
	return w;
}

struct angara_wqe at_coll(unsigned int opcode, unsigned int tree,
			  uint64_t src_key, uint64_t dst_key, uint32_t len)
{
	struct angara_wqe w = {
		.opcode = opcode,
		.tree = htole16(tree),
		.length = htole32(len),
		.lkey = htole32((uint32_t)src_key),
	};

	if (opcode == ANGARA_OP_BCAST)
		w.rkey = htole64(dst_key);
	else if (opcode != ANGARA_OP_BARRIER)
		w.aux_key = htole32((uint32_t)dst_key);
	return w;
}

void at_coll_dst(struct angara_wqe *w, uint64_t off)
{
	if (w->opcode == ANGARA_OP_BCAST)
		w->roff = htole64(off);
	else if (w->opcode != ANGARA_OP_BARRIER)
		w->aux = htole64(off);
}

static unsigned char pattern(size_t i, unsigned int seed)
{
	/* The pattern differs between neighbouring bytes, packets and seeds. */
	return (i * 7 + (i >> 8) * 31 + seed * 101 + (seed >> 8)) & 0xff;
}

void at_fill(void *p, size_t len, unsigned int seed)
{
	unsigned char *c = p;
	size_t i;

	for (i = 0; i < len; i++)
		c[i] = pattern(i, seed);
}

bool at_filled(const void *p, size_t len, unsigned int seed)
{
	const unsigned char *c = p;
	size_t i;

	for (i = 0; i < len; i++)
		if (c[i] != pattern(i, seed))
			return false;
	return true;
}

bool at_all(const void *p, size_t len, unsigned char byte)
{
	const unsigned char *c = p;
	size_t i;

	for (i = 0; i < len; i++)
		if (c[i] != byte)
			return false;
	return true;
}

static uint32_t units(const struct angara_msg *m)
{
	return 1 + (le32toh(m->length) + ANGARA_MSG_UNIT - 1) / ANGARA_MSG_UNIT;
}

static int give_back(struct at_ctx *x, const struct angara_msg *m)
{
	x->mi += units(m);
	__atomic_store_n(&x->ctl->msg_ci, htole32(x->mi), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return at_counter(x, ANGARA_CTR_MSG_WAIT) ? at_kick(x) : 0;
}

const struct angara_msg *at_wait_msg(struct at_ctx *x, unsigned int ms)
{
	uint64_t end = at_now_ms() + ms, now;
	const struct angara_msg *m;
	uint32_t place, seen;

	for (;;) {
		seen = at_counter(x, ANGARA_CTR_EVSEQ);
		place = x->mi & (x->c.msg_bytes / ANGARA_MSG_UNIT - 1);
		m = (const void *)(x->msg + place * ANGARA_MSG_UNIT);
		switch (__atomic_load_n(&m->kind, __ATOMIC_ACQUIRE)) {
		case ANGARA_MSG_DATA:
			return m;
		case ANGARA_MSG_NONE:
			break;
		default:
			if (give_back(x, m))
				return NULL;
			continue;
		}
		now = at_now_ms();
		if (now >= end || wait_event(x, seen, (unsigned int)(end - now)))
			return NULL;
	}
}

int at_free_msg(struct at_ctx *x, const struct angara_msg *m)
{
	return give_back(x, m);
}
