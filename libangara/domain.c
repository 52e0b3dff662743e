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

/**
 * ang_dev_find() - find the fabric and the device in it
 * @device: name, or NULL: the device that the launcher has chosen
 * @spec: out: fabric.  A path always names a device of the driver, whatever the
 *	environment says
 * @buf: room for a number as text
 * @name: out: name of the device: @device, @buf or a string of the environment
 *
 * Return: 0; -EINVAL the environment names no valid fabric; -ENODEV there is no
 * device to choose; errors of ang_dev_choose().
 */
int ang_dev_find(const char *device, struct ang_spec *spec,
		 char buf[ANG_NUMBER_BYTES], const char **name)
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

/**
 * ang_device_open() - open an adapter by its name
 * @device: as for angara_domain_open()
 * @spec: out: its fabric
 * @dev: out
 *
 * Return: 0 or an error of angara_domain_open().
 */
int ang_device_open(const char *device, struct ang_spec *spec, struct ang_dev *dev)
{
	char buf[ANG_NUMBER_BYTES];
	const char *name;
	int ret = ang_dev_find(device, spec, buf, &name);

	return ret ? ret : open_errno(ang_dev_open(dev, spec, name));
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

static int domain_start(struct angara_domain *dom, const char *device,
			const struct angara_domain_attr *attr, u64 job)
{
	int ret = ang_device_open(device, &dom->spec, &dom->dev);

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
	struct angara_domain *dom;
	u64 job = 0;
	int ret;

	*out = NULL;
	ret = ang_sized_take(&attr, sizeof(attr), given, first);
	if (!ret && attr.flags)
		ret = -EINVAL;
	/*
	 * Exchange the key before anything can fail: all processes of the job
	 * take part, and would wait for a process that has returned an error.
	 */
	if (!ret && attr.job)
		ret = ang_job_key(attr.job, &job);
	if (ret)
		return ret;
	dom = calloc(1, sizeof(*dom));
	if (!dom)
		return -ENOMEM;
	ret = domain_start(dom, device, &attr, job);
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
