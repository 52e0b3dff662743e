/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace records of the device model in a capture file.
 */
#ifndef ANG_TRACE_PCAPNG_H
#define ANG_TRACE_PCAPNG_H

#include <stdio.h>
#include "ang_model.h"

/* First bytes of a pcapng file.  A reader of text lines sees them as two lines. */
#define ANG_PCAPNG_START	"\n\r\r\n"

#define ANG_CAPTURE_MOST	(1U << 24)	/* blocks of a capture */

/**
 * struct ang_capture - a capture file being read
 * @f: file, read up to the end of ANG_PCAPNG_START
 * @block: number of the last block, from 1 on
 * @started: the first block has been read
 */
struct ang_capture {
	FILE *f;
	u32 block;
	bool started;
};

/**
 * ang_capture_next() - read the next record, past blocks of other kinds
 * @c: file
 * @r: out
 * @err: out: what is wrong with block @c->block
 * @len: size of @err
 *
 * Return: 1; 0 at the end of the file; -EINVAL.
 */
int ang_capture_next(struct ang_capture *c, struct ang_trace *r, char *err,
		     size_t len);

#endif /* ANG_TRACE_PCAPNG_H */
