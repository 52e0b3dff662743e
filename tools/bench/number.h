/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers among the arguments of a benchmark's program. */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#define EXIT_USAGE	2

/* Return: the number in @text; the program ends if it is not within the bounds. */
static inline long number(const char *what, const char *text, long min, long max)
{
	char *end;
	long val;

	errno = 0;
	val = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || val < min || val > max)
		errx(EXIT_USAGE, "%s '%s': not a number from %ld to %ld", what,
		     text, min, max);
	return val;
}

#endif /* BENCH_NUMBER_H */
