// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and sizes in options; see options.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

const char *opts_digits(const char *text, uint64_t max, uint64_t *value)
{
	int base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, base);
	return errno || *value > max ? NULL : end;
}

bool opts_scaled(const char *text, uint64_t *value)
{
	static const char units[] = "KMGT";
	const char *end = opts_digits(text, UINT64_MAX, value);
	const char *unit = end && *end ? strchr(units, *end) : NULL;
	unsigned int shift = 0;

	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
		if (!strcmp(end, "iB"))
			end += 2;
	}
	if (!end || *end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}
