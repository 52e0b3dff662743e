// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* libfabric's calls of atomic operations, in their many forms. */
#include <rdma/fi_trigger.h>

#include "msg.h"

/**
 * struct one - arguments of an atomic operation on one piece of remote memory
 * @ioc: local memory
 * @there: remote memory
 * @msg: message
 */
struct one {
	struct fi_ioc ioc;
	struct fi_rma_ioc there;
	struct fi_msg_atomic msg;
};

static const struct fi_msg_atomic *atomic_many(struct one *o, const struct fi_ioc *iov,
					       void **desc, size_t count, size_t total,
					       fi_addr_t peer, u64 addr, u64 key,
					       enum fi_datatype type, enum fi_op op,
					       void *context)
{
	o->there = (struct fi_rma_ioc){
		.addr = addr,
		.count = total,
		.key = key,
	};
	o->msg = (struct fi_msg_atomic){
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = peer,
		.rma_iov = &o->there,
		.rma_iov_count = 1,
		.datatype = type,
		.op = op,
		.context = context,
	};
	return &o->msg;
}

static struct fi_ioc ioc_of(const void *addr, size_t count)
{
	return (struct fi_ioc){
		.addr = (void *)(uintptr_t)addr,
		.count = count,
	};
}

static ssize_t atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
			       uint64_t flags)
{
	if (flags & FI_TRIGGER) {
		struct fi_op_atomic op = { ep, *msg, flags & ~FI_TRIGGER };
		struct fi_deferred_work work = {
			.op_type = FI_OP_ATOMIC,
			.op.atomic = &op,
		};

		return afi_trigger(afi_ep_of(ep), &work, msg->context);
	}
	return afi_atomic(ep, msg, flags, false);
}

static ssize_t atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
		      size_t count, fi_addr_t dest_addr, uint64_t addr,
		      uint64_t key, enum fi_datatype datatype, enum fi_op op,
		      void *context)
{
	struct one o;

	return atomic_writemsg(ep, atomic_many(&o, iov, desc, count, afi_ioc_elements(iov, count),
					       dest_addr, addr, key, datatype, op, context),
			       afi_tx_flags(ep));
}

static ssize_t write_one(struct fid_ep *ep, const void *buf, size_t count,
			 void *desc, fi_addr_t dest_addr, uint64_t addr,
			 uint64_t key, enum fi_datatype datatype, enum fi_op op,
			 void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count);

	return atomic_writev(ep, &iov, &desc, 1, dest_addr, addr, key, datatype, op,
		      context);
}

static ssize_t atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
			     fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			     enum fi_datatype datatype, enum fi_op op)
{
	const struct fi_ioc iov = ioc_of(buf, count);
	struct one o;

	return afi_atomic(ep, atomic_many(&o, &iov, NULL, 1, count, dest_addr, addr,
					  key, datatype, op, NULL), FI_INJECT, true);
}

static ssize_t atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   struct fi_ioc *resultv, void **result_desc,
				   size_t result_count, uint64_t flags)
{
	if (flags & FI_TRIGGER) {
		struct fi_op_fetch_atomic op = {
			ep, *msg, { resultv, result_desc, result_count },
			flags & ~FI_TRIGGER
		};
		struct fi_deferred_work work = {
			.op_type = FI_OP_FETCH_ATOMIC,
			.op.fetch_atomic = &op,
		};

		return afi_trigger(afi_ep_of(ep), &work, msg->context);
	}
	return afi_atomic_fetch(ep, msg, resultv, result_desc, result_count,
				flags);
}

static ssize_t atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov,
				 void **desc, size_t count, struct fi_ioc *resultv,
				 void **result_desc, size_t result_count,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	size_t total = afi_ioc_elements(resultv, result_count);
	struct one o;

	return atomic_readwritemsg(ep, atomic_many(&o, iov, desc, count, total, dest_addr,
						   addr, key, datatype, op, context),
				   resultv, result_desc, result_count,
				   afi_tx_flags(ep));
}

static ssize_t atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count,
				void *desc, void *result, void *result_desc,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count);
	struct fi_ioc res = ioc_of(result, count);

	return atomic_readwritev(ep, &iov, &desc, 1, &res, &result_desc, 1, dest_addr,
				 addr, key, datatype, op, context);
}

static ssize_t atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				   const struct fi_ioc *comparev, void **compare_desc,
				   size_t compare_count, struct fi_ioc *resultv,
				   void **result_desc, size_t result_count,
				   uint64_t flags)
{
	if (flags & FI_TRIGGER) {
		struct fi_op_compare_atomic op = {
			ep, *msg, { resultv, result_desc, result_count },
			{ comparev, compare_desc, compare_count },
			flags & ~FI_TRIGGER
		};
		struct fi_deferred_work work = {
			.op_type = FI_OP_COMPARE_ATOMIC,
			.op.compare_atomic = &op,
		};

		return afi_trigger(afi_ep_of(ep), &work, msg->context);
	}
	return afi_atomic_compare(ep, msg, comparev, compare_count, resultv,
				  result_desc, result_count, flags);
}

static ssize_t atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov,
				 void **desc, size_t count,
				 const struct fi_ioc *comparev, void **compare_desc,
				 size_t compare_count, struct fi_ioc *resultv,
				 void **result_desc, size_t result_count,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op,
				 void *context)
{
	struct one o;

	return atomic_compwritemsg(ep, atomic_many(&o, iov, desc, count,
						   afi_ioc_elements(iov, count), dest_addr, addr, key, datatype, op,
						   context),
				   comparev, compare_desc, compare_count, resultv,
				   result_desc, result_count, afi_tx_flags(ep));
}

static ssize_t atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count,
				void *desc, const void *compare, void *compare_desc,
				void *result, void *result_desc, fi_addr_t dest_addr,
				uint64_t addr, uint64_t key, enum fi_datatype datatype,
				enum fi_op op, void *context)
{
	const struct fi_ioc iov = ioc_of(buf, count);
	const struct fi_ioc y = ioc_of(compare, count);
	struct fi_ioc res = ioc_of(result, count);

	return atomic_compwritev(ep, &iov, &desc, 1, &y, &compare_desc, 1, &res,
				 &result_desc, 1, dest_addr, addr, key, datatype, op,
				 context);
}

struct fi_ops_atomic afi_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = write_one,
	.writev = atomic_writev,
	.writemsg = atomic_writemsg,
	.inject = atomic_inject,
	.readwrite = atomic_readwrite,
	.readwritev = atomic_readwritev,
	.readwritemsg = atomic_readwritemsg,
	.compwrite = atomic_compwrite,
	.compwritev = atomic_compwritev,
	.compwritemsg = atomic_compwritemsg,
	.writevalid = afi_atomic_valid,
	.readwritevalid = afi_fetch_valid,
	.compwritevalid = afi_compare_valid,
};
