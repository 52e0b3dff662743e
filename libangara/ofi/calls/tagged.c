// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libfabric's calls that send and receive tagged messages. */
#include <rdma/fi_trigger.h>

#include "msg.h"

/* With FI_TRIGGER the operation is deferred. */
static ssize_t tagged_later(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			    u64 flags, enum fi_op_type type)
{
	struct fi_op_tagged op = { ep, *msg, flags & ~FI_TRIGGER };
	struct fi_deferred_work work = { .op_type = type, .op.tagged = &op };

	return afi_trigger(afi_ep_of(ep), &work, msg->context);
}

static ssize_t tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			      uint64_t flags)
{
	if (flags & FI_TRIGGER)
		return tagged_later(ep, msg, flags, FI_OP_TRECV);
	return afi_receive(afi_ep_of(ep), msg, flags, true);
}

static ssize_t tagged_recvv(struct fid_ep *ep, const struct iovec *iov,
			    void **desc, size_t count, fi_addr_t src_addr,
			    uint64_t tag, uint64_t ignore, void *context)
{
	const struct fi_msg_tagged msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = src_addr,
		.tag = tag,
		.ignore = ignore,
		.context = context,
	};

	/*
	 * FI_MULTI_RECV is removed: multi-receive buffers are for untagged
	 * messages.
	 */
	return tagged_recvmsg(ep, &msg,
			      afi_handle_of(ep)->rx_flags & ~FI_MULTI_RECV);
}

static ssize_t tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			   fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			   void *context)
{
	const struct iovec iov = afi_one(buf, len);

	return tagged_recvv(ep, &iov, &desc, 1, src_addr, tag, ignore, context);
}

static ssize_t tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
			      uint64_t flags)
{
	const struct afi_out out = {
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.to = msg->addr,
		.tag = msg->tag,
		.data = msg->data,
		.context = msg->context,
		.flags = flags,
		.tagged = true,
		.has_data = flags & FI_REMOTE_CQ_DATA,
	};

	if (flags & FI_TRIGGER)
		return tagged_later(ep, msg, flags, FI_OP_TSEND);
	return afi_push(afi_ep_of(ep), &out);
}

static ssize_t tagged_sendv(struct fid_ep *ep, const struct iovec *iov,
			    void **desc, size_t count, fi_addr_t dest_addr,
			    uint64_t tag, void *context)
{
	const struct fi_msg_tagged msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest_addr,
		.tag = tag,
		.context = context,
	};

	return tagged_sendmsg(ep, &msg, afi_tx_flags(ep));
}

static ssize_t tagged_send(struct fid_ep *ep, const void *buf, size_t len,
			   void *desc, fi_addr_t dest_addr, uint64_t tag,
			   void *context)
{
	const struct iovec iov = afi_one(buf, len);

	return tagged_sendv(ep, &iov, &desc, 1, dest_addr, tag, context);
}

static ssize_t tagged_senddata(struct fid_ep *ep, const void *buf, size_t len,
			       void *desc, uint64_t data, fi_addr_t dest_addr,
			       uint64_t tag, void *context)
{
	const struct iovec iov = afi_one(buf, len);
	const struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = dest_addr,
		.tag = tag,
		.context = context,
		.data = data,
	};

	return tagged_sendmsg(ep, &msg, afi_tx_flags(ep) | FI_REMOTE_CQ_DATA);
}

static ssize_t tagged_send_now(struct fid_ep *ep, const void *buf, size_t len,
			       bool has_data, u64 data, fi_addr_t dest_addr, u64 tag)
{
	const struct iovec iov = afi_one(buf, len);
	const struct afi_out out = {
		.iov = &iov,
		.count = 1,
		.to = dest_addr,
		.tag = tag,
		.data = data,
		.flags = FI_INJECT,
		.tagged = true,
		.has_data = has_data,
		.quiet = true,
	};

	return afi_push(afi_ep_of(ep), &out);
}

static ssize_t tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
			     fi_addr_t dest_addr, uint64_t tag)
{
	return tagged_send_now(ep, buf, len, false, 0, dest_addr, tag);
}

static ssize_t tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len,
				 uint64_t data, fi_addr_t dest_addr,
				 uint64_t tag)
{
	return tagged_send_now(ep, buf, len, true, data, dest_addr, tag);
}

struct fi_ops_tagged afi_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tagged_recv,
	.recvv = tagged_recvv,
	.recvmsg = tagged_recvmsg,
	.send = tagged_send,
	.sendv = tagged_sendv,
	.sendmsg = tagged_sendmsg,
	.inject = tagged_inject,
	.senddata = tagged_senddata,
	.injectdata = tagged_injectdata,
};
