/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common parts of fuzz targets of the model: running a fabric within a budget of
 * steps, and invariants of a fabric.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "host.h"
#include "input.h"
#include "test.h"

#define VIEWS		3

/* A fabric with several views; the queue of a view holds the nodes that it runs. */
struct fuzz {
	struct host *h;
	struct ang_view view[VIEWS];
	struct ang_fabric head;		/* the head after initialization */
	u64 steps;
	u64 frozen;			/* frozen nodes, one bit each */
};

void fuzz_init(struct fuzz *f, const char *dims, const struct ang_cfg *cfg);
/* Makes the host use view @which from now on. */
void fuzz_view(struct fuzz *f, u32 which);
/* Moves all queues to the host's view, and releases all frozen nodes. */
void fuzz_gather(struct fuzz *f);
/* Freezes a node, as if another thread held it, unless it is in a queue. */
void fuzz_freeze(struct fuzz *f, u32 node, int on);
/* Runs the host's view for @budget steps, then checks the fabric. */
void fuzz_steps(struct fuzz *f, u32 budget);
/*
 * Calls fuzz_gather(), and runs until the fabric is idle. Return: 0 if that took
 * more than @budget steps.
 */
int fuzz_quiet(struct fuzz *f, u64 budget);
/* Resets all adapters, frees everything, and checks that nothing is left. */
void fuzz_end(struct fuzz *f);

#endif /* FUZZ_FUZZ_H */
