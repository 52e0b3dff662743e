// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libfabric's calls that send and receive untagged messages, and the part of
 * receiving that tagged messages share.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_trigger.h>

#include "msg.h"

#define AFI_RECV_FLAGS	(FI_COMPLETION | FI_MULTI_RECV | FI_MORE | FI_PEEK | \
			 FI_CLAIM | FI_DISCARD)

static int msg_check(const struct afi_ep *ep, const struct fi_msg_tagged *msg,
		     u64 flags)
{
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (flags & ~AFI_RECV_FLAGS)
		return -FI_EBADFLAGS;
	if (!(ep->caps & FI_RECV) || ep->box != ep)
		return -FI_EOPNOTSUPP;
	/*
	 * A peek at a shared context has no endpoint whose queue could report
	 * that there is no message.
	 */
	if ((flags & (FI_PEEK | FI_CLAIM)) && afi_is_srx(ep))
		return -FI_EOPNOTSUPP;
	if (msg->iov_count > AFI_IOV_LIMIT ||
	    ((flags & FI_MULTI_RECV) && msg->iov_count != 1) ||
	    ((flags & FI_DISCARD) && !(flags & (FI_PEEK | FI_CLAIM))) ||
	    ((flags & FI_CLAIM) && !msg->context))
		return -FI_EINVAL;
	return 0;
}

/* Return: 0; -FI_EINVAL there is no such sender. */
static int msg_fill(struct afi_recv *r, struct afi_ep *ep,
		    const struct fi_msg_tagged *msg, u64 flags, bool tagged)
{
	const struct afi_name *src = NULL;
	size_t i;

	r->also = ep->domain->also;
	if (r->also)
		afi_ref(&r->also->refs);
	r->context = msg->context;
	r->tag = msg->tag;
	r->ignore = tagged ? msg->ignore : UINT64_MAX;
	r->tagged = tagged;
	r->report = (!afi_is_srx(ep) && !ep->rx_selective) ||
		    (flags & FI_COMPLETION);
	r->multi = flags & FI_MULTI_RECV;
	r->count = msg->iov_count;
	for (i = 0; i < r->count; i++) {
		r->iov[i] = msg->msg_iov[i];
		r->desc[i] = msg->desc ? msg->desc[i] : NULL;
		if (__builtin_add_overflow(r->len, r->iov[i].iov_len, &r->len))
			return -FI_EINVAL;
	}
	r->any = !(ep->caps & FI_DIRECTED_RECV) ||
		 msg->addr == FI_ADDR_UNSPEC;
	if (r->any)
		return 0;
	src = afi_av_get(ep->av, afi_av_entry(ep->av, msg->addr));
	if (!src)
		return -FI_EINVAL;
	r->src = *src;
	return 0;
}

static int msg_receive(struct afi_recv *r, u64 flags)
{
	int ret;

	if (!(flags & (FI_PEEK | FI_CLAIM)))
		return afi_recv_post(r);
	ret = afi_recv_peek(r, flags);
	if (!ret)
		afi_recv_free(r);
	return ret > 0 ? 0 : ret;
}

/* The domain is locked.  Return: as fi_recvmsg(). */
int afi_receive_now(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged)
{
	struct afi_recv *r;
	int ret = msg_check(ep, msg, flags);

	if (ret)
		return ret;
	r = afi_recv_new(ep);
	if (!r)
		return -FI_ENOMEM;
	ret = msg_fill(r, ep, msg, flags, tagged);
	if (!ret)
		ret = msg_receive(r, flags);
	if (ret)
		afi_recv_free(r);
	return ret;
}

/* Implements fi_recvmsg() and fi_trecvmsg(). */
ssize_t afi_receive(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged)
{
	int ret;

	afi_lock(ep->domain);
	/*
	 * Handle messages that have arrived first, so that FI_PEEK finds the
	 * latest.
	 */
	if (flags & FI_PEEK)
		afi_progress(ep->domain);
	ret = afi_receive_now(ep, msg, flags, tagged);
	if (ret == -FI_EAGAIN) {
		afi_progress(ep->domain);
		ret = afi_receive_now(ep, msg, flags, tagged);
	}
	afi_unlock(ep->domain);
	return ret;
}

/* With FI_TRIGGER the operation is deferred. */
static ssize_t msg_later(struct fid_ep *ep, const struct fi_msg *msg, u64 flags,
			 enum fi_op_type type)
{
	struct fi_op_msg op = { ep, *msg, flags & ~FI_TRIGGER };
	struct fi_deferred_work work = { .op_type = type, .op.msg = &op };

	return afi_trigger(afi_ep_of(ep), &work, msg->context);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	const struct fi_msg_tagged tagged = afi_untagged(msg);

	if (flags & FI_TRIGGER)
		return msg_later(ep, msg, flags, FI_OP_RECV);
	return afi_receive(afi_ep_of(ep), &tagged, flags, false);
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src_addr,
			 void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = src_addr,
		.context = context,
	};

	return msg_recvmsg(ep, &msg, afi_handle_of(ep)->rx_flags);
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = afi_one(buf, len);

	return msg_recvv(ep, &iov, &desc, 1, src_addr, context);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	const struct afi_out out = {
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.to = msg->addr,
		.data = msg->data,
		.context = msg->context,
		.flags = flags,
		.has_data = flags & FI_REMOTE_CQ_DATA,
	};

	if (flags & FI_TRIGGER)
		return msg_later(ep, msg, flags, FI_OP_SEND);
	return afi_push(afi_ep_of(ep), &out);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest_addr,
			 void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest_addr,
		.context = context,
	};

	return msg_sendmsg(ep, &msg, afi_tx_flags(ep));
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = afi_one(buf, len);

	return msg_sendv(ep, &iov, &desc, 1, dest_addr, context);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr)
{
	const struct iovec iov = afi_one(buf, len);
	const struct afi_out out = {
		.iov = &iov,
		.count = 1,
		.to = dest_addr,
		.flags = FI_INJECT,
		.quiet = true,
	};

	return afi_push(afi_ep_of(ep), &out);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest_addr,
			    void *context)
{
	const struct iovec iov = afi_one(buf, len);
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = dest_addr,
		.context = context,
		.data = data,
	};

	return msg_sendmsg(ep, &msg, afi_tx_flags(ep) | FI_REMOTE_CQ_DATA);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr)
{
	const struct iovec iov = afi_one(buf, len);
	const struct afi_out out = {
		.iov = &iov,
		.count = 1,
		.to = dest_addr,
		.data = data,
		.flags = FI_INJECT,
		.has_data = true,
		.quiet = true,
	};

	return afi_push(afi_ep_of(ep), &out);
}

struct fi_ops_msg afi_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
