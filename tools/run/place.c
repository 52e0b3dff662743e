// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assigns devices to processes: in blocks, node by node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/**
 * struct fabric - the devices of one fabric, by node
 * @devs: first device
 * @n: number of devices
 */
struct fabric {
	const struct ang_found *devs;
	size_t n;
};

static int no_devices(const struct ang_scan *scan)
{
	if (!scan->present)
		run_say("no adapter (" ANG_DEV_DIR "/" ANG_DEV_PREFIX
			"*): load the driver, such as by 'modprobe angara_loop "
			"fabric=torus:2x2x2', or set " ANG_ENV_FABRIC "=embedded");
	else
		run_say("cannot use " ANG_DEV_DIR "/" ANG_DEV_PREFIX "*: %s",
			strerror(-scan->err));
	return RUN_EXIT_FAILURE;
}

static int choose_fabric(const struct run_opts *opts, const struct ang_spec *spec,
			 const struct ang_scan *scan, struct fabric *fab)
{
	u64 first = ang_scan_default(scan, spec);
	u64 id = opts->has_fabric ? opts->fabric : first;

	fab->devs = ang_scan_fabric(scan, id, &fab->n);
	if (!fab->devs) {
		run_say("there is no fabric 0x%llx; that of the first device is 0x%llx",
			id, first);
		return RUN_EXIT_USAGE;
	}
	return 0;
}

/* Return: the @i-th device to use; NULL: the @i-th node has no device. */
static const struct ang_found *device(const struct run_opts *opts,
				      const struct ang_scan *scan,
				      const struct fabric *fab, size_t i)
{
	if (!opts->nodes)
		return &fab->devs[i];
	return ang_scan_find(scan, fab->devs[0].fabric_id, opts->nodes[i]);
}

static int assign(struct run_job *job, const struct ang_scan *scan,
		  const struct fabric *fab)
{
	const struct run_opts *opts = job->opts;
	size_t nodes = opts->nodes ? opts->num_nodes : fab->n;
	u32 per_node = opts->per_node;
	u32 rank;

	if (!per_node)
		per_node = ang_scan_per_node(job->n, nodes);
	if ((u64)per_node * nodes < job->n) {
		run_say("%u processes do not fit: %zu nodes take %llu at %u per node",
			job->n, nodes, (u64)per_node * nodes, per_node);
		return RUN_EXIT_USAGE;
	}
	for (rank = 0; rank < job->n; rank++) {
		size_t i = rank / per_node;
		const struct ang_found *dev = device(opts, scan, fab, i);

		if (!dev) {
			run_say("node %u has no device here; fabric 0x%llx has nodes %u to %u",
				opts->nodes[i], fab->devs[0].fabric_id,
				fab->devs[0].node, fab->devs[fab->n - 1].node);
			return RUN_EXIT_USAGE;
		}
		if (job->spec.kind == ANG_FABRIC_EMBEDDED)
			snprintf(job->procs[rank].device, ANG_DEV_PATH, "%u",
				 dev->node);
		else
			ang_dev_path(dev->minor, job->procs[rank].device);
	}
	return 0;
}

/**
 * run_place() - choose a device for every process
 * @job: job
 *
 * Return: 0, otherwise an exit status after printing a message.
 */
int run_place(struct run_job *job)
{
	struct fabric fab = { 0 };
	struct ang_scan scan = { 0 };
	int status;

	if (job->spec.kind == ANG_FABRIC_EMBEDDED ?
	    ang_scan_nodes(&scan, job->spec.topo.nodes) :
	    ang_scan_cdev(&job->spec, &scan)) {
		run_say("no memory for the list of devices");
		return RUN_EXIT_FAILURE;
	}
	if (!scan.n)
		status = no_devices(&scan);
	else
		status = choose_fabric(job->opts, &job->spec, &scan, &fab);
	if (!status)
		status = assign(job, &scan, &fab);
	ang_scan_free(&scan);
	return status;
}
