// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Matches messages and receives: a message takes the oldest matching receive,
 * and a receive the oldest matching message.  Unexpected messages are kept, up
 * to a limit of memory.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

static bool tagged_msg(const struct afi_msg *msg)
{
	return msg->wire.flags & AFI_WIRE_TAGGED;
}

static bool match_fits(const struct afi_recv *r, const struct afi_msg *msg)
{
	return !msg->claim && (r->any || afi_name_same(&r->src, &msg->src)) &&
	       !((r->tag ^ msg->tag) & ~r->ignore);
}

static size_t size_of(const struct afi_msg *msg)
{
	return sizeof(*msg) + (msg->is_long ? 0 : msg->wire.len);
}

/* Keeps an unexpected message.  Return: false: no memory, or limit reached. */
static bool match_keep(struct afi_ep *ep, const struct afi_msg *msg)
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
	m->ep = ep;
	if (len)
		memcpy(m + 1, msg->body, len);
	m->body = m + 1;
	afi_list_add(&ep->box->kept[tagged_msg(msg)], &m->link);
	return true;
}

static void match_drop(struct afi_msg *m)
{
	m->ep->domain->kept_bytes -= size_of(m);
	afi_list_del(&m->link);
	free(m);
}

/* Delivers a message to @r; if @r->ended is set @r takes no more messages. */
static int match_take(struct afi_ep *ep, struct afi_recv *r, const struct afi_msg *msg)
{
	int ret;

	/* Keep @r even if the operation completes at once. */
	r->held = true;
	ret = afi_take_msg(ep, r, msg);
	r->held = false;
	if (ret)
		r->ended = false;
	return ret;
}

/*
 * Delivers a message to a posted receive.
 * Return: 1 the receive is used up, and may be freed; 0 it takes more messages;
 * -FI_EAGAIN there is no room for the operation.
 */
static int match_give(struct afi_ep *ep, struct afi_recv *r, const struct afi_msg *msg)
{
	size_t len = msg->wire.len < r->len ? msg->wire.len : r->len;
	int ret;

	r->ended = !r->multi || r->len - len < r->ep->min_multi || r->len == len;
	ret = match_take(ep, r, msg);
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

/* Return: false: no memory, deliver the message again. */
bool afi_msg_deliver(struct afi_ep *ep, const struct afi_msg *msg)
{
	struct afi_link *list = &ep->box->posted[tagged_msg(msg)], *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_recv *r = afi_of(link, struct afi_recv, link);

		if (match_fits(r, msg))
			return match_give(ep, r, msg) >= 0;
	}
	return match_keep(ep, msg);
}

static struct afi_msg *find_kept(const struct afi_recv *r)
{
	struct afi_link *list = &r->ep->kept[r->tagged], *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_msg *m = afi_of(link, struct afi_msg, link);

		if (match_fits(r, m))
			return m;
	}
	return NULL;
}

/* Posts a receive before the receive at @next.  Return: as afi_recv_post(). */
static int match_post(struct afi_recv *r, struct afi_link *next)
{
	bool any = false;
	struct afi_msg *m;
	int ret = 0;

	afi_list_add(next, &r->link);
	while (!ret) {
		m = find_kept(r);
		if (!m)
			return 0;
		ret = match_give(m->ep, r, m);
		if (ret >= 0) {
			match_drop(m);
			any = true;
		}
	}
	if (ret > 0)
		return 0;
	afi_list_del(&r->link);
	if (!any)
		return ret;
	/*
	 * The receive has already taken a message, so posting has succeeded.  Keep
	 * it out of the list until it can take the next kept message: a later
	 * message must not overtake that message.
	 */
	afi_list_add(&r->domain->returned, &r->link);
	return 0;
}

/**
 * afi_recv_post() - post a receive
 * @r: receive; owned by the endpoint on success
 *
 * Return: 0; -FI_EAGAIN.
 */
int afi_recv_post(struct afi_recv *r)
{
	r->seq = r->ep->posts++;
	return match_post(r, &r->ep->posted[r->tagged]);
}

/*
 * Posts a receive again at its old position in the list, which follows from its
 * number.
 */
static int post_again(struct afi_recv *r)
{
	struct afi_link *list = &r->ep->posted[r->tagged];
	struct afi_link *next = list->next;

	while (next != list && afi_of(next, struct afi_recv, link)->seq < r->seq)
		next = next->next;
	return match_post(r, next);
}

/* Posts returned receives again.  Return: true if there was room for any. */
bool afi_recv_again(struct afi_domain *d)
{
	struct afi_link *list = &d->returned, *link;
	bool any = false;

	for (link = list->next; link != list; link = list->next) {
		struct afi_recv *r = afi_of(link, struct afi_recv, link);

		afi_list_del(link);
		if (post_again(r)) {
			afi_list_add(list, link);
			break;
		}
		any = true;
	}
	return any;
}

/* Reports the end of a receive without data to the queue, if there is one. */
static int end_empty(struct afi_recv *r, int err)
{
	if (!r->ep->rx)
		return 0;
	if (!afi_cq_promise_more(r->ep->rx))
		return -FI_EAGAIN;
	afi_recv_end(r, r->ep->rx, err);
	return 0;
}

/* Finds a receive of an endpoint in a list.  Return: NULL: there is none. */
static struct afi_recv *find_posted(const struct afi_ep *ep, const struct afi_link *list,
				    const void *context)
{
	struct afi_link *link;

	for (link = list->next; link != list; link = link->next) {
		struct afi_recv *r = afi_of(link, struct afi_recv, link);

		if (r->ep == ep && r->context == context)
			return r;
	}
	return NULL;
}

/*
 * Cancels a receive.  Return: 0; -FI_ENOENT no receive has this context;
 * -FI_EAGAIN.
 */
int afi_recv_cancel(struct afi_ep *ep, void *context)
{
	struct afi_recv *r;

	afi_recv_again(ep->domain);
	r = find_posted(ep, &ep->posted[0], context);
	if (!r)
		r = find_posted(ep, &ep->posted[1], context);
	if (!r)
		r = find_posted(ep, &ep->domain->returned, context);
	return r ? afi_recv_withdraw(r) : -FI_ENOENT;
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

/* Ends the wait of the sender of a discarded message.  Return: false: no memory. */
static bool match_refuse(const struct afi_msg *m)
{
	return !m->is_long || afi_answer(m->ep->domain, &m->src, m->ep->name.ep,
					 &m->wire, 0);
}

/*
 * Reports a message without its data.  @discard: drop the message, too.  Return: 0;
 * -FI_EAGAIN: nothing has changed.
 */
static int match_tell(struct afi_recv *r, struct afi_msg *m, size_t len, bool discard)
{
	struct afi_done done = {
		.context = r->context,
		.flags = FI_RECV | (r->tagged ? FI_TAGGED : FI_MSG),
		.len = len,
		.tag = m->tag,
		.src = afi_av_find(r->ep->av, &m->src),
	};
	struct afi_cq *cq = r->ep->rx;

	if (m->wire.flags & AFI_WIRE_DATA) {
		done.flags |= FI_REMOTE_CQ_DATA;
		done.data = m->data;
	}
	if (cq && !afi_cq_promise_more(cq))
		return -FI_EAGAIN;
	if (discard && !match_refuse(m)) {
		if (cq)
			cq->promised--;
		return -FI_EAGAIN;
	}
	if (cq)
		afi_cq_put(cq, &done);
	if (discard)
		match_drop(m);
	return 0;
}

static int match_claimed(struct afi_recv *r, u64 flags)
{
	struct afi_msg *m = find_claimed(r);
	int ret;

	if (!m)
		return -FI_EINVAL;
	if (flags & FI_DISCARD)
		return match_tell(r, m, 0, true);
	r->ended = true;
	ret = match_take(m->ep, r, m);
	if (ret)
		return ret;
	match_drop(m);
	afi_recv_unuse(r);
	return 1;
}

/**
 * afi_recv_peek() - find a message, claim it, or receive a claimed one
 * @r: receive that describes the message
 * @flags: FI_PEEK, FI_CLAIM, FI_DISCARD
 *
 * Return: 1 @r is owned by the endpoint; 0 the result has been reported;
 * -FI_EAGAIN; -FI_EINVAL no message was claimed with this context.
 */
int afi_recv_peek(struct afi_recv *r, u64 flags)
{
	struct afi_msg *m;
	int ret;

	if (!(flags & FI_PEEK))
		return match_claimed(r, flags);
	m = find_kept(r);
	if (!m)
		return end_empty(r, FI_ENOMSG);
	ret = match_tell(r, m, m->wire.len, flags & FI_DISCARD);
	if (!ret && (flags & FI_CLAIM) && !(flags & FI_DISCARD))
		m->claim = r->context;
	return ret;
}

/* Drops the unexpected messages of an endpoint, and notifies their senders. */
static void forget_kept(struct afi_ep *ep, struct afi_link *list)
{
	struct afi_link *link, *next;

	for (link = list->next; link != list; link = next) {
		struct afi_msg *m = afi_of(link, struct afi_msg, link);
		const struct afi_msg msg = *m;

		next = link->next;
		if (m->ep != ep)
			continue;
		match_drop(m);
		/* Free the message first: its memory can hold the answer. */
		if (msg.is_long)
			afi_answer(ep->domain, &msg.src, ep->name.ep, &msg.wire,
				   FI_EHOSTUNREACH);
	}
}

/*
 * Frees the receives of an endpoint, or of a shared context, that are in a
 * list.
 */
static void forget_posted(const struct afi_ep *ep, struct afi_link *list)
{
	struct afi_link *link, *next;

	for (link = list->next; link != list; link = next) {
		struct afi_recv *r = afi_of(link, struct afi_recv, link);

		next = link->next;
		if (r->ep != ep)
			continue;
		afi_list_del(&r->link);
		r->ended = true;
		afi_recv_unuse(r);
	}
}

/*
 * Notifies senders whose data will not be fetched.  Receives of a shared context
 * stay, for its other endpoints.
 */
void afi_recv_close(struct afi_ep *ep)
{
	int i;

	afi_park_close(ep);
	forget_posted(ep, &ep->domain->returned);
	for (i = 0; i < 2; i++) {
		forget_posted(ep, &ep->posted[i]);
		forget_kept(ep, &ep->box->kept[i]);
	}
}
