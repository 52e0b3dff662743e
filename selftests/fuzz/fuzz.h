/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common parts of fuzz targets: reading an input, running a fabric within a
 * budget of steps, and invariants of a fabric.
 *
 * A target is LLVMFuzzerTestOneInput().  libFuzzer calls it with generated
 * inputs; replay.c, which needs no clang, with files.  A finding is a failed
 * EXPECT() or a sanitizer's report; both end the process.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "host.h"
#include "test.h"

/* An input; bytes after its end read as 0. */
struct input {
	const u8 *at;
	size_t left;
};

u8 in_u8(struct input *in);
u16 in_u16(struct input *in);
u32 in_u32(struct input *in);
u64 in_u64(struct input *in);
/* A number below @n, at most 256. */
u32 in_below(struct input *in, u32 n);
/* Mostly small, sometimes any number: 1, 2 or 5 bytes. */
u32 in_size(struct input *in);
void in_bytes(struct input *in, void *to, u32 len);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define VIEWS		3

/* A fabric with several views; the queue of a view has the nodes it runs. */
struct fuzz {
	struct host *h;
	struct ang_view view[VIEWS];
	struct ang_fabric head;		/* as it was initialized */
	u64 steps;
	u64 frozen;			/* nodes, one bit each */
};

void fuzz_init(struct fuzz *f, const char *dims, const struct ang_cfg *cfg);
/* The host uses view @which from now on. */
void fuzz_view(struct fuzz *f, u32 which);
/* Moves all queues to the host's view; no node stays frozen. */
void fuzz_gather(struct fuzz *f);
/* As if another thread held the node, if it is in no queue. */
void fuzz_freeze(struct fuzz *f, u32 node, int on);
/* Runs the host's view for @budget steps, then checks the fabric. */
void fuzz_steps(struct fuzz *f, u32 budget);
/* Gathers, runs until idle.  Return: 0 if that took more than @budget steps. */
int fuzz_quiet(struct fuzz *f, u64 budget);
/* Resets all adapters, frees everything, and checks that nothing is left. */
void fuzz_end(struct fuzz *f);

#endif /* FUZZ_FUZZ_H */
