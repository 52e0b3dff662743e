// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Unsupported calls. libfabric calls through its tables without a check, so
 * every entry must be filled; calls that the provider does not support end
 * here.  Calls with the same parameters share a function.
 */
#include "afi.h"

/* No function of this file uses its arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

int afi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_EINVAL;
}

int afi_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int afi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context)
{
	return -FI_ENOSYS;
}

int afi_no_tostr(const struct fid *fid, char *buf, size_t len)
{
	return -FI_ENOSYS;
}

int afi_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		   void *context)
{
	return -FI_ENOSYS;
}

AFI_NO_CALL(ssize_t, no_msg_recv, struct fid_ep *ep, void *buf, size_t len,
	    void *desc, fi_addr_t src_addr, void *context)
AFI_NO_CALL(ssize_t, no_msg_vector, struct fid_ep *ep, const struct iovec *iov,
	    void **desc, size_t count, fi_addr_t peer, void *context)
AFI_NO_CALL(ssize_t, no_msg_msg, struct fid_ep *ep, const struct fi_msg *msg,
	    uint64_t flags)
AFI_NO_CALL(ssize_t, no_msg_send, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, fi_addr_t dest_addr, void *context)
AFI_NO_CALL(ssize_t, no_msg_inject, struct fid_ep *ep, const void *buf,
	    size_t len, fi_addr_t dest_addr)
AFI_NO_CALL(ssize_t, no_msg_senddata, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, uint64_t data, fi_addr_t dest_addr,
	    void *context)
AFI_NO_CALL(ssize_t, no_msg_injectdata, struct fid_ep *ep, const void *buf,
	    size_t len, uint64_t data, fi_addr_t dest_addr)

struct fi_ops_msg afi_no_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = no_msg_recv,
	.recvv = no_msg_vector,
	.recvmsg = no_msg_msg,
	.send = no_msg_send,
	.sendv = no_msg_vector,
	.sendmsg = no_msg_msg,
	.inject = no_msg_inject,
	.senddata = no_msg_senddata,
	.injectdata = no_msg_injectdata,
};

AFI_NO_CALL(ssize_t, no_tagged_recv, struct fid_ep *ep, void *buf, size_t len,
	    void *desc, fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
	    void *context)
AFI_NO_CALL(ssize_t, no_tagged_recvv, struct fid_ep *ep,
	    const struct iovec *iov, void **desc, size_t count,
	    fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
AFI_NO_CALL(ssize_t, no_tagged_msg, struct fid_ep *ep,
	    const struct fi_msg_tagged *msg, uint64_t flags)
AFI_NO_CALL(ssize_t, no_tagged_send, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, fi_addr_t dest_addr, uint64_t tag,
	    void *context)
AFI_NO_CALL(ssize_t, no_tagged_sendv, struct fid_ep *ep,
	    const struct iovec *iov, void **desc, size_t count,
	    fi_addr_t dest_addr, uint64_t tag, void *context)
AFI_NO_CALL(ssize_t, no_tagged_inject, struct fid_ep *ep, const void *buf,
	    size_t len, fi_addr_t dest_addr, uint64_t tag)
AFI_NO_CALL(ssize_t, no_tagged_senddata, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, uint64_t data, fi_addr_t dest_addr,
	    uint64_t tag, void *context)
AFI_NO_CALL(ssize_t, no_tagged_injectdata, struct fid_ep *ep, const void *buf,
	    size_t len, uint64_t data, fi_addr_t dest_addr, uint64_t tag)

struct fi_ops_tagged afi_no_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = no_tagged_recv,
	.recvv = no_tagged_recvv,
	.recvmsg = no_tagged_msg,
	.send = no_tagged_send,
	.sendv = no_tagged_sendv,
	.sendmsg = no_tagged_msg,
	.inject = no_tagged_inject,
	.senddata = no_tagged_senddata,
	.injectdata = no_tagged_injectdata,
};

AFI_NO_CALL(ssize_t, no_rma_read, struct fid_ep *ep, void *buf, size_t len,
	    void *desc, fi_addr_t src_addr, uint64_t addr, uint64_t key,
	    void *context)
AFI_NO_CALL(ssize_t, no_rma_vector, struct fid_ep *ep, const struct iovec *iov,
	    void **desc, size_t count, fi_addr_t peer, uint64_t addr,
	    uint64_t key, void *context)
AFI_NO_CALL(ssize_t, no_rma_msg, struct fid_ep *ep,
	    const struct fi_msg_rma *msg, uint64_t flags)
AFI_NO_CALL(ssize_t, no_rma_write, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, fi_addr_t dest_addr, uint64_t addr,
	    uint64_t key, void *context)
AFI_NO_CALL(ssize_t, no_rma_inject, struct fid_ep *ep, const void *buf,
	    size_t len, fi_addr_t dest_addr, uint64_t addr, uint64_t key)
AFI_NO_CALL(ssize_t, no_rma_writedata, struct fid_ep *ep, const void *buf,
	    size_t len, void *desc, uint64_t data, fi_addr_t dest_addr,
	    uint64_t addr, uint64_t key, void *context)
AFI_NO_CALL(ssize_t, no_rma_injectdata, struct fid_ep *ep, const void *buf,
	    size_t len, uint64_t data, fi_addr_t dest_addr, uint64_t addr,
	    uint64_t key)

struct fi_ops_rma afi_no_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = no_rma_read,
	.readv = no_rma_vector,
	.readmsg = no_rma_msg,
	.write = no_rma_write,
	.writev = no_rma_vector,
	.writemsg = no_rma_msg,
	.inject = no_rma_inject,
	.writedata = no_rma_writedata,
	.injectdata = no_rma_injectdata,
};

AFI_NO_CALL(ssize_t, no_atomic_write, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, fi_addr_t dest_addr, uint64_t addr,
	    uint64_t key, enum fi_datatype datatype, enum fi_op op,
	    void *context)
AFI_NO_CALL(ssize_t, no_atomic_writev, struct fid_ep *ep,
	    const struct fi_ioc *iov, void **desc, size_t count,
	    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
	    enum fi_datatype datatype, enum fi_op op, void *context)
AFI_NO_CALL(ssize_t, no_atomic_writemsg, struct fid_ep *ep,
	    const struct fi_msg_atomic *msg, uint64_t flags)
AFI_NO_CALL(ssize_t, no_atomic_inject, struct fid_ep *ep, const void *buf,
	    size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
	    enum fi_datatype datatype, enum fi_op op)
AFI_NO_CALL(ssize_t, no_atomic_readwrite, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, void *result, void *result_desc,
	    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
	    enum fi_datatype datatype, enum fi_op op, void *context)
AFI_NO_CALL(ssize_t, no_atomic_readwritev, struct fid_ep *ep,
	    const struct fi_ioc *iov, void **desc, size_t count,
	    struct fi_ioc *resultv, void **result_desc, size_t result_count,
	    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
	    enum fi_datatype datatype, enum fi_op op, void *context)
AFI_NO_CALL(ssize_t, no_atomic_readwritemsg, struct fid_ep *ep,
	    const struct fi_msg_atomic *msg, struct fi_ioc *resultv,
	    void **result_desc, size_t result_count, uint64_t flags)
AFI_NO_CALL(ssize_t, no_atomic_compwrite, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, const void *compare, void *compare_desc,
	    void *result, void *result_desc, fi_addr_t dest_addr, uint64_t addr,
	    uint64_t key, enum fi_datatype datatype, enum fi_op op,
	    void *context)
AFI_NO_CALL(ssize_t, no_atomic_compwritev, struct fid_ep *ep,
	    const struct fi_ioc *iov, void **desc, size_t count,
	    const struct fi_ioc *comparev, void **compare_desc,
	    size_t compare_count, struct fi_ioc *resultv, void **result_desc,
	    size_t result_count, fi_addr_t dest_addr, uint64_t addr,
	    uint64_t key, enum fi_datatype datatype, enum fi_op op,
	    void *context)
AFI_NO_CALL(ssize_t, no_atomic_compwritemsg, struct fid_ep *ep,
	    const struct fi_msg_atomic *msg, const struct fi_ioc *comparev,
	    void **compare_desc, size_t compare_count, struct fi_ioc *resultv,
	    void **result_desc, size_t result_count, uint64_t flags)
AFI_NO_CALL(int, no_atomic_valid, struct fid_ep *ep, enum fi_datatype datatype,
	    enum fi_op op, size_t *count)

struct fi_ops_atomic afi_no_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = no_atomic_write,
	.writev = no_atomic_writev,
	.writemsg = no_atomic_writemsg,
	.inject = no_atomic_inject,
	.readwrite = no_atomic_readwrite,
	.readwritev = no_atomic_readwritev,
	.readwritemsg = no_atomic_readwritemsg,
	.compwrite = no_atomic_compwrite,
	.compwritev = no_atomic_compwritev,
	.compwritemsg = no_atomic_compwritemsg,
	.writevalid = no_atomic_valid,
	.readwritevalid = no_atomic_valid,
	.compwritevalid = no_atomic_valid,
};

AFI_NO_CALL(ssize_t, no_coll_barrier, struct fid_ep *ep, fi_addr_t coll_addr,
	    void *context)
AFI_NO_CALL(ssize_t, no_coll_broadcast, struct fid_ep *ep, void *buf,
	    size_t count, void *desc, fi_addr_t coll_addr, fi_addr_t root_addr,
	    enum fi_datatype datatype, uint64_t flags, void *context)
AFI_NO_CALL(ssize_t, no_coll_all, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, void *result, void *result_desc,
	    fi_addr_t coll_addr, enum fi_datatype datatype, uint64_t flags,
	    void *context)
AFI_NO_CALL(ssize_t, no_coll_reduce_all, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, void *result, void *result_desc,
	    fi_addr_t coll_addr, enum fi_datatype datatype, enum fi_op op,
	    uint64_t flags, void *context)
AFI_NO_CALL(ssize_t, no_coll_reduce, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, void *result, void *result_desc,
	    fi_addr_t coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
	    enum fi_op op, uint64_t flags, void *context)
AFI_NO_CALL(ssize_t, no_coll_root, struct fid_ep *ep, const void *buf,
	    size_t count, void *desc, void *result, void *result_desc,
	    fi_addr_t coll_addr, fi_addr_t root_addr, enum fi_datatype datatype,
	    uint64_t flags, void *context)
AFI_NO_CALL(ssize_t, no_coll_msg, struct fid_ep *ep,
	    const struct fi_msg_collective *msg, struct fi_ioc *resultv,
	    void **result_desc, size_t result_count, uint64_t flags)
AFI_NO_CALL(ssize_t, no_coll_barrier2, struct fid_ep *ep, fi_addr_t coll_addr,
	    uint64_t flags, void *context)

struct fi_ops_collective afi_no_collective_ops = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = no_coll_barrier,
	.broadcast = no_coll_broadcast,
	.alltoall = no_coll_all,
	.allreduce = no_coll_reduce_all,
	.allgather = no_coll_all,
	.reduce_scatter = no_coll_reduce_all,
	.reduce = no_coll_reduce,
	.scatter = no_coll_root,
	.gather = no_coll_root,
	.msg = no_coll_msg,
	.barrier2 = no_coll_barrier2,
};
