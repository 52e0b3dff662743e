// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "say.h"

/**
 * ang_say() - print one line on standard error
 * @program: name at the start of the line
 * @fmt: as for printf(3)
 *
 * Uses one write(2), so lines of several processes do not mix.
 */
void ang_say(const char *program, const char *fmt, ...)
{
	char text[ANG_SAY_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s: %s\n", program, text);
}

static void ranks_put(struct ang_ranks *r, const char *before, u32 number,
		      const char *after)
{
	size_t at = strlen(r->text);

	snprintf(r->text + at, sizeof(r->text) - at, "%s%u%s", before, number, after);
}

static void ranks_put_range(struct ang_ranks *r)
{
	ranks_put(r, r->ranges > 1 ? ", " : "", r->first, "");
	if (r->last > r->first)
		ranks_put(r, "-", r->last, "");
}

/**
 * ang_ranks_add() - add a rank to a list
 * @r: list
 * @rank: greater than all ranks that were added before
 */
void ang_ranks_add(struct ang_ranks *r, u32 rank)
{
	if (r->n++ && !r->more && rank == r->last + 1) {
		r->last = rank;
		return;
	}
	if (r->ranges == ANG_SAY_RANGES) {
		r->more++;
		return;
	}
	if (r->ranges)
		ranks_put_range(r);
	r->ranges++;
	r->first = rank;
	r->last = rank;
}

/**
 * ang_ranks_text() - format a list as text, such as "3, 5-7 and 12 more"
 * @r: list with at least one rank; no rank is added after this call
 */
const char *ang_ranks_text(struct ang_ranks *r)
{
	ranks_put_range(r);
	if (r->more)
		ranks_put(r, " and ", r->more, " more");
	return r->text;
}
