// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Fabrics: opening domains and event queues. */
#include <stdlib.h>
#include <string.h>

#include "info.h"

static int fabric_close(struct fid *fid)
{
	struct afi_fabric *f = afi_of(fid, struct afi_fabric, fid.fid);

	if (afi_busy(&f->refs))
		return -FI_EBUSY;
	free(f);
	return 0;
}

static struct fi_ops fabric_fi_ops =
	AFI_FI_OPS(fabric_close, afi_no_bind, afi_no_control);

AFI_NO_CALL(int, no_passive_ep, struct fid_fabric *fabric, struct fi_info *info,
	    struct fid_pep **pep, void *context)

AFI_NO_CALL(int, no_wait_open, struct fid_fabric *fabric,
	    struct fi_wait_attr *attr, struct fid_wait **waitset)

/* May the caller sleep on the descriptors of all objects? */
static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids,
			  int count)
{
	int i, ret = 0;

	(void)fabric;
	for (i = 0; !ret && i < count; i++) {
		switch (fids[i]->fclass) {
		case FI_CLASS_CQ:
			ret = afi_cq_trywait(afi_of(fids[i], struct afi_cq,
						    fid.fid));
			break;
		case FI_CLASS_EQ:
			ret = afi_eq_trywait(afi_of(fids[i], struct afi_eq,
						    fid.fid));
			break;
		case FI_CLASS_CNTR:
			ret = afi_cntr_trywait(afi_of(fids[i], struct afi_cntr,
						      fid.fid));
			break;
		default:
			ret = -FI_EINVAL;
		}
	}
	return ret;
}

static int fabric_domain2(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_domain **domain, uint64_t flags,
			  void *context)
{
	return flags ? -FI_EINVAL :
		       afi_domain_open(fabric, info, domain, context);
}

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = afi_domain_open,
	.passive_ep = no_passive_ep,
	.eq_open = afi_eq_open,
	.wait_open = no_wait_open,
	.trywait = fabric_trywait,
	.domain2 = fabric_domain2,
};

int afi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context)
{
	struct afi_fabric *f;

	if (strcmp(attr->name, AFI_NAME))
		return -FI_ENODATA;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -FI_ENOMEM;
	f->version = attr->api_version;
	f->fid.fid.fclass = FI_CLASS_FABRIC;
	f->fid.fid.context = context;
	f->fid.fid.ops = &fabric_fi_ops;
	f->fid.ops = &fabric_ops;
	*fabric = &f->fid;
	return 0;
}
