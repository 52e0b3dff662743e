// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libfabric's calls that read and write a peer's memory. */
#include <rdma/fi_trigger.h>

#include "msg.h"

static ssize_t rma_call(struct fid_ep *fid, const struct fi_msg_rma *msg, u64 flags,
			bool quiet, bool write)
{
	struct afi_ep *ep = afi_ep_of(fid);
	int ret;

	afi_lock(ep->domain);
	ret = afi_rma_now(ep, msg, flags, quiet, write);
	if (ret == -FI_EAGAIN) {
		afi_progress(ep->domain);
		ret = afi_rma_now(ep, msg, flags, quiet, write);
	}
	if (ret || !(flags & FI_MORE))
		afi_ring(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}

static ssize_t rma_rmamsg(struct fid_ep *ep, const struct fi_msg_rma *msg, u64 flags,
			  bool write)
{
	if (flags & FI_TRIGGER) {
		struct fi_op_rma op = { ep, *msg, flags & ~FI_TRIGGER };
		struct fi_deferred_work work = {
			.op_type = write ? FI_OP_WRITE : FI_OP_READ,
			.op.rma = &op,
		};

		return afi_trigger(afi_ep_of(ep), &work, msg->context);
	}
	return rma_call(ep, msg, flags, false, write);
}

static ssize_t rma_vector(struct fid_ep *fid, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t peer, u64 addr, u64 key,
			  void *context, bool write)
{
	const struct fi_rma_iov there = {
		.addr = addr,
		.len = afi_iov_bytes(iov, count),
		.key = key,
	};
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = peer,
		.rma_iov = &there,
		.rma_iov_count = 1,
		.context = context,
	};
	u64 flags = afi_tx_flags(fid);

	/* FI_INJECT among the default flags is for writes: a read cannot inject. */
	return rma_rmamsg(fid, &msg, write ? flags : flags & ~FI_INJECT, write);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src_addr,
			 uint64_t addr, uint64_t key, void *context)
{
	return rma_vector(ep, iov, desc, count, src_addr, addr, key, context, false);
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key,
			void *context)
{
	const struct iovec iov = { .iov_base = buf, .iov_len = len };

	return rma_readv(ep, &iov, &desc, 1, src_addr, addr, key, context);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return rma_rmamsg(ep, msg, flags, false);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t dest_addr,
			  uint64_t addr, uint64_t key, void *context)
{
	return rma_vector(ep, iov, desc, count, dest_addr, addr, key, context, true);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len,
			 void *desc, fi_addr_t dest_addr, uint64_t addr,
			 uint64_t key, void *context)
{
	const struct iovec iov = {
		.iov_base = (void *)(uintptr_t)buf,
		.iov_len = len,
	};

	return rma_writev(ep, &iov, &desc, 1, dest_addr, addr, key, context);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return rma_rmamsg(ep, msg, flags, true);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	const struct iovec iov = {
		.iov_base = (void *)(uintptr_t)buf,
		.iov_len = len,
	};
	const struct fi_rma_iov there = { .addr = addr, .len = len, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = dest_addr,
		.rma_iov = &there,
		.rma_iov_count = 1,
	};

	return rma_call(ep, &msg, FI_INJECT, true, true);
}

/* Writes, then puts data into the target's completion queue. */
static ssize_t write_data(struct fid_ep *fid, const void *buf, size_t len,
			  void *desc, u64 data, fi_addr_t peer, u64 addr, u64 key,
			  void *context, u64 flags, bool quiet)
{
	const struct iovec iov = {
		.iov_base = (void *)(uintptr_t)buf,
		.iov_len = len,
	};
	const struct fi_rma_iov there = { .addr = addr, .len = len, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = peer,
		.rma_iov = &there,
		.rma_iov_count = 1,
		.context = context,
		.data = data,
	};

	flags |= FI_REMOTE_CQ_DATA;
	return quiet ? rma_call(fid, &msg, flags, true, true) :
		       rma_rmamsg(fid, &msg, flags, true);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len,
			     void *desc, uint64_t data, fi_addr_t dest_addr,
			     uint64_t addr, uint64_t key, void *context)
{
	return write_data(ep, buf, len, desc, data, dest_addr, addr, key,
			  context, afi_tx_flags(ep), false);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest_addr, uint64_t addr,
			      uint64_t key)
{
	return write_data(ep, buf, len, NULL, data, dest_addr, addr, key, NULL,
			  FI_INJECT, true);
}

struct fi_ops_rma afi_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
