/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading an input of a fuzz target.
 *
 * A target is LLVMFuzzerTestOneInput().  libFuzzer calls it with generated
 * inputs.  replay.c, which needs no clang, calls it with files.  A finding is a
 * failed EXPECT() or a sanitizer's report; both end the process.
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "ang_env.h"

/* An input; bytes after its end read as 0. */
struct input {
	const u8 *at;
	size_t left;
};

u8 in_u8(struct input *in);
u16 in_u16(struct input *in);
u32 in_u32(struct input *in);
u64 in_u64(struct input *in);
/* Return: a number below @n, which is at most 256. */
u32 in_below(struct input *in, u32 n);
/* Return: a number that is mostly small; takes 1, 2 or 5 bytes. */
u32 in_size(struct input *in);
void in_bytes(struct input *in, void *to, u32 len);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* FUZZ_INPUT_H */
