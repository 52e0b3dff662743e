// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions.
 */
#include <stdlib.h>

#include "afi.h"

static int mr_close(struct fid *fid)
{
	struct afi_mr *mr = afi_of(fid, struct afi_mr, fid.fid);
	struct afi_domain *d = mr->domain;

	afi_lock(d);
	afi_mr_unwatch(mr);
	afi_key_give(d, mr);
	afi_unlock(d);
	afi_unref(&d->refs);
	free(mr);
	return 0;
}

static struct fi_ops mr_fi_ops =
	AFI_FI_OPS(mr_close, afi_mr_bind, afi_no_control);

static unsigned int mr_rights(u64 access)
{
	unsigned int r = 0;

	if (access & (FI_RECV | FI_READ))
		r |= ANGARA_ACCESS_LOCAL_WRITE;
	if (access & FI_REMOTE_READ)
		r |= ANGARA_ACCESS_REMOTE_READ;
	if (access & FI_REMOTE_WRITE)
		r |= ANGARA_ACCESS_REMOTE_WRITE;
	return r;
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
		      uint64_t flags, struct fid_mr **out)
{
	const u64 all = FI_SEND | FI_RECV | FI_READ | FI_WRITE |
			FI_REMOTE_READ | FI_REMOTE_WRITE | FI_COLLECTIVE;
	struct afi_domain *d;
	struct afi_mr *mr;
	int ret;

	if (fid->fclass != FI_CLASS_DOMAIN || attr->iov_count != 1 ||
	    attr->offset || (attr->access & ~all) || attr->auth_key_size)
		return -FI_EINVAL;
	d = afi_of(fid, struct afi_domain, fid.fid);
	/* FI_RMA_EVENT changes nothing: any region may count operations on it. */
	if (flags & ~(d->events ? FI_RMA_EVENT : 0))
		return -FI_EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	mr->domain = d;
	mr->base = attr->mr_iov->iov_base;
	mr->len = attr->mr_iov->iov_len;
	mr->writable = attr->access & (FI_RECV | FI_READ);
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = attr->context;
	mr->fid.fid.ops = &mr_fi_ops;
	mr->fid.mem_desc = mr;
	afi_lock(d);
	ret = afi_key_take(d, attr->requested_key, mr->base, mr->len,
			   mr_rights(attr->access), mr);
	afi_unlock(d);
	if (ret) {
		free(mr);
		return ret;
	}
	afi_ref(&d->refs);
	*out = &mr->fid;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t requested_key,
		   uint64_t flags, struct fid_mr **mr, void *context)
{
	const struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = requested_key,
		.context = context,
	};

	return mr_regattr(fid, &attr, flags, mr);
}

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		  uint64_t offset, uint64_t requested_key, uint64_t flags,
		  struct fid_mr **mr, void *context)
{
	const struct iovec iov = {
		.iov_base = (void *)(uintptr_t)buf,
		.iov_len = len,
	};

	return mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr,
		       context);
}

struct fi_ops_mr afi_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};
