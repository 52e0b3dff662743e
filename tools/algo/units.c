// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: times, rates and lengths on the command line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tool.h"

struct unit {
	const char *name;
	double value;
};

/* Reads a number that is not negative, with one of the units. */
static double need_unit(const char *what, const char *text, const struct unit *units)
{
	char *end;
	double value = strtod(text, &end);

	for (; units->name; units++)
		if (end != text && !strcmp(end, units->name) && isfinite(value) &&
		    value >= 0 && *text != '-')
			return value * units->value;
	exit(misuse("%s '%s': not a number with a unit, such as 1%s", what, text,
		    units[-1].name));
}

double need_time(const char *what, const char *text)
{
	static const struct unit units[] = {
		{ "ns", 1e-9 }, { "ms", 1e-3 }, { "s", 1 }, { "us", 1e-6 }, { NULL, 0 },
	};

	return strcmp(text, "0") ? need_unit(what, text, units) : 0;
}

/* Reads a rate.  Return: seconds per byte; 0 if bytes take no time. */
double need_byte_time(const char *what, const char *text)
{
	static const struct unit units[] = {
		{ "kB/s", 1e3 }, { "MB/s", 1e6 }, { "Gbit/s", 1.25e8 },
		{ "Mbit/s", 1.25e5 }, { "GB/s", 1e9 }, { NULL, 0 },
	};
	double rate = strcmp(text, "0") ? need_unit(what, text, units) : 0;

	return rate > 0 ? 1 / rate : 0;
}

size_t need_bytes(const char *what, const char *text, size_t most)
{
	uint64_t value;

	if (!opts_scaled(text, &value) || value > most)
		exit(misuse("%s '%s': not a number of bytes up to %zu, such as 64KiB",
			    what, text, most));
	return (size_t)value;
}
