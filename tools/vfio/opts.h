/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of angara-vfio.
 */
#ifndef ANGARA_VFIO_OPTS_H
#define ANGARA_VFIO_OPTS_H

#include "card.h"
#include "peer.h"

#define OPTS_MAX_CARDS	1024U	/* most adapters that one process serves */
#define OPTS_MAX_THREADS 64U

#define OPTS_MIN_MAPS	65535U	/* fewest maps: clients may assume this number */
#define OPTS_MAX_MAPS	(1U << 20)
#define OPTS_MAPS	262144U	/* enough for 1 GiB in single pages */

struct opts {
	const char *fabric;
	const char *dir;
	struct ang_cfg cfg;
	struct dma_budget budget;	/* limits of each client */
	u32 threads;
	int ready_fd;		/* -1: none */
	bool faults;		/* guests may set the faults of links */
	u32 *nodes;		/* nodes served here, ascending */
	u32 num_nodes;
	bool *ours;		/* nodes that --only lists, one bool for each node */
	struct peers_options links;
	const char *peers[PEERS_MAX];
};

int opts_parse(struct opts *o, int argc, char **argv);

#endif /* ANGARA_VFIO_OPTS_H */
