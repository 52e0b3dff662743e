// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libfabric's calls that send and receive untagged messages. */
#include <rdma/fi_trigger.h>

#include "msg.h"

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
