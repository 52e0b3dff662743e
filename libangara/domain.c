// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Domains: opening a device and querying its properties.
 *
 * A domain is freed when it and all of its contexts have been closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <stdio.h>

#include "job.h"
#include "lib.h"
#include "scan.h"
#include "sized.h"

#define ANG_NUMBER_BYTES	16	/* bytes of a device number as text, with NUL */

/*
 * Finds the fabric and the device in it.  A path is a device of the driver,
 * whatever the environment says; without a name the launcher's choice applies.
 */
static int find_device(const char *device, struct ang_spec *spec, char *buf,
		       const char **name)
{
	u32 number;
	int ret;

	if (!device)
		device = getenv(ANG_ENV_DEVICE);
	*name = device;
	if (device && (*device < '0' || *device > '9')) {
		*spec = (struct ang_spec){ .kind = ANG_FABRIC_CDEV };
		return 0;
	}
	ret = ang_fabric_get(spec);
	if (ret || device)
		return ret;
	ret = ang_dev_choose(spec, &number);
	if (ret)
		return ret;
	snprintf(buf, ANG_NUMBER_BYTES, "%u", number);
	*name = buf;
	return 0;
}

static int open_errno(int ret)
{
	switch (ret) {
	case -ENOENT:
	case -ENOTDIR:
	case -ENXIO:
		return -ENODEV;
	case -EPERM:
		return -EACCES;
	default:
		return ret;
	}
}

static int domain_about(struct angara_domain *dom)
{
	int ret;

	dom->query = ANG_CMD_INIT(struct angara_query);
	ret = ang_dev_cmd(&dom->dev, ANGARA_IOCTL_QUERY, &dom->query);
	/* Not an Angara device file. */
	if (ret == -ENOTTY)
		return -ENODEV;
	if (ret)
		return ret;
	return dom->query.abi == ANGARA_ABI_VERSION ? 0 : -EPROTO;
}

static int domain_create(struct angara_domain *dom,
			 const struct angara_domain_attr *attr, u64 job)
{
	struct angara_domain_create arg =
		ANG_CMD_INIT(struct angara_domain_create);
	int ret;

	arg.job = job;
	if (attr->pkey) {
		arg.flags = ANGARA_DOMAIN_PKEY;
		arg.pkey = attr->pkey;
	}
	ret = ang_dev_cmd(&dom->dev, ANGARA_IOCTL_DOMAIN_CREATE, &arg);
	dom->pkey = arg.pkey;
	dom->watch_offset = arg.watch_offset;
	dom->watch_bytes = arg.watch_bytes;
	return ret;
}

static int domain_start(struct angara_domain *dom, const char *name,
			const struct angara_domain_attr *attr, u64 job)
{
	int ret = open_errno(ang_dev_open(&dom->dev, &dom->spec, name));

	if (ret)
		return ret;
	ret = domain_about(dom);
	if (!ret && attr->first_slot >= dom->query.max_mrs)
		ret = -EINVAL;
	if (!ret)
		ret = domain_create(dom, attr, job);
	if (ret)
		ang_dev_close(&dom->dev);
	return ret;
}

ANG_PUBLIC int angara_domain_open(const char *device,
				  const struct angara_domain_attr *given,
				  struct angara_domain **out)
{
	const size_t first = ANG_SIZED_FIRST(angara_domain_attr, job);
	struct angara_domain_attr attr;
	char buf[ANG_NUMBER_BYTES];
	struct angara_domain *dom;
	const char *name;
	u64 job = 0;
	int ret;

	*out = NULL;
	ret = ang_sized_take(&attr, sizeof(attr), given, first);
	if (!ret && attr.flags)
		ret = -EINVAL;
	/*
	 * Exchange first: all members take part, and a later local failure must
	 * not leave the others waiting.
	 */
	if (!ret && attr.job)
		ret = ang_job_key(attr.job, &job);
	if (ret)
		return ret;
	dom = calloc(1, sizeof(*dom));
	if (!dom)
		return -ENOMEM;
	ret = find_device(device, &dom->spec, buf, &name);
	if (!ret)
		ret = domain_start(dom, name, &attr, job);
	if (ret) {
		free(dom);
		return ret;
	}
	dom->first_slot = attr.first_slot;
	dom->refs = 1;
	pthread_mutex_init(&dom->lock, NULL);
	*out = dom;
	return 0;
}

/* Takes a reference.  Return: @dom. */
struct angara_domain *ang_dom_hold(struct angara_domain *dom)
{
	ang_fetch_add(&dom->refs, 1);
	return dom;
}

void ang_dom_drop(struct angara_domain *dom)
{
	if (ang_fetch_add(&dom->refs, (u32)-1) != 1)
		return;
	ang_mr_cache_free(dom);
	while (dom->mrs)
		angara_mr_dereg(dom->mrs);
	ang_dev_close(&dom->dev);
	pthread_mutex_destroy(&dom->lock);
	free(dom);
}

ANG_PUBLIC void angara_domain_close(struct angara_domain *dom)
{
	if (dom)
		ang_dom_drop(dom);
}

ANG_PUBLIC int angara_domain_query(const struct angara_domain *dom,
				   struct angara_domain_info *info)
{
	const size_t first = ANG_SIZED_FIRST(angara_domain_info, max_trees);
	const struct angara_query *q = &dom->query;
	const struct angara_domain_info all = {
		.node = q->node,
		.nodes = q->nodes,
		.ports = q->ports,
		.fabric_id = q->fabric_id,
		.max_op_bytes = q->max_op_bytes,
		.max_mrs = q->max_mrs,
		.max_msg_bytes = q->caps & ANGARA_CAP_MSG ? q->max_msg_bytes : 0,
		.max_trees = q->max_trees,
		.pkey = dom->pkey,
	};

	return ang_sized_give(info, &all, sizeof(all), first);
}
