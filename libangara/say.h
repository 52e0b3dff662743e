/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages to the user, on standard error. */
#ifndef ANG_SAY_H
#define ANG_SAY_H

#include "ang_env.h"

#define ANG_SAY_BYTES	512	/* bytes of the longest message, with NUL */
#define ANG_SAY_RANGES	8	/* limit of ranges of ranks in a message */

/**
 * struct ang_ranks - a list of ranks for a message, which begins as { 0 }
 * @n: number of ranks
 * @ranges: ranges of adjacent ranks
 * @first: first rank of the last range
 * @last: last rank of the last range
 * @more: number of ranks after the last range, which the message does not name
 * @text: text of the ranges before the last one
 */
struct ang_ranks {
	u32 n;
	u32 ranges;
	u32 first;
	u32 last;
	u32 more;
	char text[ANG_SAY_RANGES * sizeof(", 65535-65535") + 32];
};

void ang_say(const char *program, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void ang_ranks_add(struct ang_ranks *ranks, u32 rank);
const char *ang_ranks_text(struct ang_ranks *ranks);

#endif /* ANG_SAY_H */
