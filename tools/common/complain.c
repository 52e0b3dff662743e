// SPDX-License-Identifier: GPL-2.0-only
/* Errors of commands; see complain.h. */
#include <stdio.h>
#include <stdlib.h>

#include "colour.h"
#include "complain.h"

void complain(const char *format, va_list list)
{
	colour_set(stderr, COLOUR_BAD);
	fprintf(stderr, "%s: ", tool_name);
	colour_set(stderr, COLOUR_NONE);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
}

int fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	complain(format, list);
	va_end(list);
	return FAILED;
}

int misuse(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	complain(format, list);
	va_end(list);
	return MISUSED;
}

void *need_memory(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		exit(fail("no memory for an array of %zu * %zu bytes", count, size));
	return memory;
}
