// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Matching messages with receives, the oldest that fit.  Unexpected messages
 * are kept, up to a limit of memory.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

void afi_recv_init(struct afi_ep *ep)
{
	int i;

	for (i = 0; i < 2; i++) {
		afi_list_init(&ep->posted[i]);
		afi_list_init(&ep->kept[i]);
	}
	afi_list_init(&ep->parked);
	ep->min_multi = AFI_MIN_MULTI;
}

static bool tagged_msg(const struct afi_msg *msg)
{
	return msg->wire.flags & AFI_WIRE_TAGGED;
}

static bool fits(const struct afi_recv *r, const struct afi_msg *msg)
{
	return !msg->claim && (r->any || afi_name_same(&r->src, &msg->src)) &&
	       !((r->tag ^ msg->tag) & ~r->ignore);
}

static size_t size_of(const struct afi_msg *msg)
{
	return sizeof(*msg) + (msg->is_long ? 0 : msg->wire.len);
}

/* Keeps an unexpected message.  Return: false: no memory, or limit reached. */
static bool keep(struct afi_ep *ep, const struct afi_msg *msg)
{
	size_t len = msg->is_long ? 0 : msg->wire.len;
	struct afi_domain *d = ep->domain;
	struct afi_msg *m;

	if (d->kept_bytes + size_of(msg) > d->keep_max)
		return false;
	m = malloc(size_of(msg));
	if (!m)
		return false;
	d->kept_bytes += size_of(msg);
	*m = *msg;
	if (len)
		memcpy(m + 1, msg->body, len);
	m->body = m + 1;
	afi_list_add(&ep->kept[tagged_msg(msg)], &m->link);
	return true;
}

static void drop(struct afi_ep *ep, struct afi_msg *m)
{
	ep->domain->kept_bytes -= size_of(m);
	afi_list_del(&m->link);
	free(m);
}

/* Delivers a message to @r, which it may use up. */
static int take(struct afi_recv *r, const struct afi_msg *msg)
{
	int ret;

	/* The message may be complete at once; that must not free @r. */
	r->held = true;
	ret = afi_take_msg(r, msg);
	r->held = false;
	if (ret)
		r->ended = false;
	return ret;
}

/*
 * Delivers a message to a posted receive.  Return: 1 it is used up, and may be
 * freed; 0 it takes more; -FI_EAGAIN no room for the operation.
 */
static int give(struct afi_recv *r, const struct afi_msg *msg)
{
	size_t len = msg->wire.len < r->len ? msg->wire.len : r->len;
	int ret;

	r->ended = !r->multi || r->len - len < r->ep->min_multi;
	ret = take(r, msg);
	if (ret)
		return ret;
	if (!r->ended) {
		r->iov[0].iov_base = (char *)r->iov[0].iov_base + len;
		r->iov[0].iov_len -= len;
		r->len -= len;
		return 0;
	}
	afi_list_del(&r->link);
	afi_recv_unuse(r);
	return 1;
}

void afi_recv_free(struct afi_recv *r)
{
	if (r->also)
		afi_unref(&r->also->refs);
	free(r);
}

/* A receive is freed when it is used up and all its data has been fetched. */
void afi_recv_unuse(struct afi_recv *r)
{
	if (r->ended && !r->users && !r->held)
		afi_recv_free(r);
}

/* Return: false: no memory, deliver the message again. */
bool afi_msg_deliver(struct afi_ep *ep, const struct afi_msg *msg)
{
	struct afi_link *list = &ep->posted[tagged_msg(msg)], *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_recv *r = afi_of(link, struct afi_recv, link);

		if (fits(r, msg))
			return give(r, msg) >= 0;
	}
	return keep(ep, msg);
}

static struct afi_msg *find_kept(const struct afi_recv *r)
{
	struct afi_link *list = &r->ep->kept[r->tagged], *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_msg *m = afi_of(link, struct afi_msg, link);

		if (fits(r, m))
			return m;
	}
	return NULL;
}

/**
 * afi_recv_post() - post a receive
 * @r: receive, owned by the endpoint unless that fails
 *
 * Return: 0; -FI_EAGAIN.
 */
int afi_recv_post(struct afi_recv *r)
{
	struct afi_ep *ep = r->ep;
	bool any = false;
	struct afi_msg *m;
	int ret = 0;

	afi_list_add(&ep->posted[r->tagged], &r->link);
	while (!ret) {
		m = find_kept(r);
		if (!m)
			return 0;
		ret = give(r, m);
		if (ret >= 0) {
			drop(ep, m);
			any = true;
		}
	}
	/* Messages that it has taken already stay with it. */
	if (ret > 0 || any)
		return 0;
	afi_list_del(&r->link);
	return ret;
}

/* Tells the queue, if there is one, of a receive that has no data. */
static int end_empty(struct afi_recv *r, int err)
{
	const struct afi_done done = {
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.tag = r->tag,
		.src = FI_ADDR_NOTAVAIL,
		.err = err,
	};

	if (!r->ep->rx)
		return 0;
	if (!afi_cq_promise_more(r->ep->rx))
		return -FI_EAGAIN;
	afi_cq_put(r->ep->rx, &done);
	return 0;
}

/* Return: 0; -FI_ENOENT there is no receive of that context. */
int afi_recv_cancel(struct afi_ep *ep, void *context)
{
	int i, ret;

	for (i = 0; i < 2; i++) {
		struct afi_link *list = &ep->posted[i], *link;

		for (link = list->next; link != list; link = link->next) {
			struct afi_recv *r = afi_of(link, struct afi_recv, link);

			if (r->context != context)
				continue;
			ret = end_empty(r, FI_ECANCELED);
			if (ret)
				return ret;
			afi_cntr_count(ep->cntrs[AFI_COUNT_RECV], FI_ECANCELED);
			afi_cntr_count(r->also, FI_ECANCELED);
			afi_list_del(&r->link);
			r->ended = true;
			afi_recv_unuse(r);
			return 0;
		}
	}
	return -FI_ENOENT;
}

static struct afi_msg *find_claimed(const struct afi_recv *r)
{
	struct afi_link *list = &r->ep->kept[r->tagged], *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_msg *m = afi_of(link, struct afi_msg, link);

		if (m->claim && m->claim == r->context)
			return m;
	}
	return NULL;
}

/* Reports a message without its data. */
static int tell(struct afi_recv *r, const struct afi_msg *m, size_t len)
{
	struct afi_done done = {
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.len = len,
		.tag = m->tag,
		.src = afi_av_find(r->ep->av, &m->src),
	};

	if (m->wire.flags & AFI_WIRE_DATA) {
		done.flags |= FI_REMOTE_CQ_DATA;
		done.data = m->data;
	}
	if (!r->ep->rx)
		return 0;
	if (!afi_cq_promise_more(r->ep->rx))
		return -FI_EAGAIN;
	afi_cq_put(r->ep->rx, &done);
	return 0;
}

/* Its sender need not wait any longer. */
static int discard(struct afi_ep *ep, struct afi_msg *m)
{
	if (m->is_long &&
	    !afi_answer(ep->domain, &m->src, ep->name.ep, &m->wire, 0))
		return -FI_EAGAIN;
	drop(ep, m);
	return 0;
}

static int claimed(struct afi_recv *r, u64 flags)
{
	struct afi_msg *m = find_claimed(r);
	int ret;

	if (!m)
		return -FI_EINVAL;
	if (flags & FI_DISCARD) {
		ret = tell(r, m, 0);
		return ret ? ret : discard(r->ep, m);
	}
	r->ended = true;
	ret = take(r, m);
	if (ret)
		return ret;
	drop(r->ep, m);
	afi_recv_unuse(r);
	return 1;
}

/**
 * afi_recv_peek() - find a message, claim it, or receive a claimed one
 * @r: what to match
 * @flags: FI_PEEK, FI_CLAIM, FI_DISCARD
 *
 * Return: 1 @r is owned by the endpoint; 0; -FI_EAGAIN; -FI_EINVAL nothing was
 * claimed.
 */
int afi_recv_peek(struct afi_recv *r, u64 flags)
{
	struct afi_msg *m;
	int ret;

	if (!(flags & FI_PEEK))
		return claimed(r, flags);
	m = find_kept(r);
	if (!m)
		return end_empty(r, FI_ENOMSG);
	ret = tell(r, m, m->wire.len);
	if (ret)
		return ret;
	if (flags & FI_DISCARD)
		return discard(r->ep, m);
	if (flags & FI_CLAIM)
		m->claim = r->context;
	return 0;
}

/* Notifies senders whose data will not be fetched. */
void afi_recv_close(struct afi_ep *ep)
{
	int i;

	afi_park_close(ep);
	for (i = 0; i < 2; i++) {
		while (!afi_list_empty(&ep->posted[i])) {
			struct afi_recv *r = afi_of(ep->posted[i].next,
						    struct afi_recv, link);

			afi_list_del(&r->link);
			r->ended = true;
			afi_recv_unuse(r);
		}
		while (!afi_list_empty(&ep->kept[i])) {
			struct afi_msg *m = afi_of(ep->kept[i].next,
						   struct afi_msg, link);
			const struct afi_msg msg = *m;

			drop(ep, m);
			/*
			 * The memory of the message holds the answer, so none
			 * has to be allocated.
			 */
			if (msg.is_long)
				afi_answer(ep->domain, &msg.src, ep->name.ep,
					   &msg.wire, FI_EHOSTUNREACH);
		}
	}
}
