// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices of a fabric, opened to program their rows.
 *
 * A row that was set with ANGARA_TREE_OWNED is cleared when the file that set
 * it is closed, so the coordinator of a team keeps all devices of the tree
 * open.  All teams of a context share one file per node; the last team to
 * release it closes it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "backend.h"
#include "pool.h"
#include "scan.h"

/**
 * struct pool_node - a device
 * @dev: handle, open while @holds is not 0
 * @holds: teams that use it
 */
struct pool_node {
	struct ang_dev dev;
	u32 holds;
};

/**
 * struct ang_pool - the devices of a fabric
 * @spec: fabric, as configured
 * @fabric_id: id of the fabric
 * @scan: result of the last scan
 * @nodes: one per node of the fabric
 */
struct ang_pool {
	struct ang_spec spec;
	u64 fabric_id;
	struct ang_scan scan;
	struct pool_node nodes[];
};

/*
 * Raises the limit of open files: a tree of thousands of nodes needs more than
 * the default.
 */
static bool raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur >= lim.rlim_max)
		return false;
	lim.rlim_cur = lim.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &lim) == 0;
}

int ang_pool_new(const struct ang_spec *spec, u64 fabric_id, u32 nodes,
		 struct ang_pool **out)
{
	struct ang_pool *pool;
	int ret;

	pool = calloc(1, sizeof(*pool) + nodes * sizeof(pool->nodes[0]));
	if (!pool)
		return -ENOMEM;
	pool->spec = *spec;
	pool->fabric_id = fabric_id;
	ret = ang_backend(spec)->scan(spec, &pool->scan);
	if (!ret && pool->scan.err == -EMFILE && raise_file_limit()) {
		ang_scan_free(&pool->scan);
		ret = ang_backend(spec)->scan(spec, &pool->scan);
	}
	if (ret) {
		ang_pool_free(pool);
		return ret;
	}
	*out = pool;
	return 0;
}

/*
 * Frees the pool.  The files of its devices are closed already: the last team that holds a device
 * closes the file.
 */
void ang_pool_free(struct ang_pool *pool)
{
	if (!pool)
		return;
	ang_scan_free(&pool->scan);
	free(pool);
}

/*
 * Checks that a device is still at this node, since the last scan may be out of
 * date.
 */
static int pool_verify(struct ang_pool *pool, struct ang_dev *dev, u32 node)
{
	struct angara_query q = ANG_CMD_INIT(struct angara_query);
	int ret = ang_dev_cmd(dev, ANGARA_IOCTL_QUERY, &q);

	if (ret)
		return ret;
	return q.fabric_id == pool->fabric_id && q.node == node ? 0 : -ENODEV;
}

static int open_node(struct ang_pool *pool, u32 node)
{
	const struct ang_found *found =
		ang_scan_find(&pool->scan, pool->fabric_id, node);
	struct ang_dev *dev = &pool->nodes[node].dev;
	char number[16];
	int ret;

	if (!found)
		return pool->scan.err ? pool->scan.err : -ENODEV;
	snprintf(number, sizeof(number), "%u", found->minor);
	ret = ang_dev_open(dev, &pool->spec, number);
	if (ret == -EMFILE && raise_file_limit())
		ret = ang_dev_open(dev, &pool->spec, number);
	if (ret)
		return ret;
	ret = pool_verify(pool, dev, node);
	if (ret)
		ang_dev_close(dev);
	return ret;
}

/*
 * Opens the device of a node, or counts another use.
 * Return: 0; -ENODEV the node has no device here; -EACCES; -EMFILE; or the
 * error of a device that did not respond.
 */
int ang_pool_hold(struct ang_pool *pool, u32 node)
{
	if (!pool->nodes[node].holds) {
		int ret = open_node(pool, node);

		if (ret)
			return ret;
	}
	pool->nodes[node].holds++;
	return 0;
}

void ang_pool_drop(struct ang_pool *pool, u32 node)
{
	if (--pool->nodes[node].holds == 0)
		ang_dev_close(&pool->nodes[node].dev);
}

/* Return: device of a node that the caller holds. */
struct ang_dev *ang_pool_dev(struct ang_pool *pool, u32 node)
{
	return &pool->nodes[node].dev;
}
