// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Selects the backend and the fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend.h"
#include "job.h"
#include "lib.h"
#include "scan.h"

static bool has_adapters(void)
{
	const struct ang_spec any = { .kind = ANG_FABRIC_CDEV };
	u32 number;

	return !ang_scan_cdev_first(&any, &number);
}

static void backend_complain(const char *text, const char *why)
{
	static bool said;

	if (!said)
		fprintf(stderr, "libangara: invalid " ANG_ENV_FABRIC " '%s': %s\n",
			text, why);
	said = true;
}

ANG_PUBLIC int angara_fabric_present(void)
{
	return getenv(ANG_ENV_FABRIC) || has_adapters();
}

/*
 * Adapts an embedded fabric to the job's processes on this machine.  The fabric
 * gets a node for each process, unless the user gave a size, and a name that no
 * other job has, unless the user or angara-run has selected a fabric.
 */
static void for_job(struct ang_spec *spec, const struct ang_job_place *place)
{
	u64 hash = ANG_HASH_INIT;
	const char *c;

	if (place->size == 1)
		return;
	ang_spec_size(spec, place->size);
	if (spec->name[0] || spec->fd >= 0)
		return;
	for (c = place->name; *c; c++)
		hash = ang_hash(hash, (u8)*c);
	snprintf(spec->name, sizeof(spec->name), "job-%016llx", hash);
	spec->own = true;
	if (!spec->procs && place->size > ANG_EMBED_SMALL)
		spec->procs = place->size;
}

/**
 * ang_fabric_get() - get the fabric that the environment selects
 * @spec: out: the fabric
 *
 * Return: 0; -EINVAL the environment names no valid fabric; a message has been
 * printed.
 */
int ang_fabric_get(struct ang_spec *spec)
{
	const char *text = getenv(ANG_ENV_FABRIC);
	const char *why;
	int ret = 0;

	if (text) {
		ret = ang_spec_parse(text, spec, &why);
		if (ret)
			backend_complain(text, why);
	} else {
		*spec = (struct ang_spec){
			.kind = has_adapters() ? ANG_FABRIC_CDEV :
						 ANG_FABRIC_EMBEDDED,
			.fd = -1,
		};
	}
	if (!ret && spec->kind == ANG_FABRIC_EMBEDDED)
		for_job(spec, ang_job_place());
	return ret;
}

const struct ang_dev_ops *ang_backend(const struct ang_spec *spec)
{
	return spec->kind == ANG_FABRIC_EMBEDDED ? &ang_embed_ops : &ang_cdev_ops;
}

/**
 * ang_dev_choose() - choose the device if the caller names none
 * @spec: fabric
 * @number: out: number of the device
 *
 * Processes of a job are spread over the fabric in blocks, unless their
 * launcher has named a device.
 *
 * Return: 0; -ENODEV there is no device; -errno.
 */
int ang_dev_choose(const struct ang_spec *spec, u32 *number)
{
	const struct ang_job_place *place = ang_job_place();

	if (place->size == 1)
		return ang_backend(spec)->first(spec, number);
	if (spec->kind == ANG_FABRIC_CDEV)
		return ang_scan_place(spec, place->rank, place->size, number);
	*number = place->rank /
		  ang_scan_per_node(place->size, spec->topo.nodes);
	return 0;
}
