// SPDX-License-Identifier: GPL-2.0-only
/* Keys of routers; see key.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "key.h"
#include "options.h"

int key_read(const char *path, uint64_t *key)
{
	FILE *file = fopen(path, "re");
	char line[64] = "";
	const char *end;
	bool any;

	*key = 0;
	if (!file)
		return fail("%s: %s", path, strerror(errno));
	any = fgets(line, sizeof(line), file);
	fclose(file);
	line[strcspn(line, "\n")] = 0;
	end = any ? opts_digits(line, UINT64_MAX, key) : NULL;
	if (!end || *end || !*key)
		return fail("%s: its first line has to be a key, a number from 1 to 2^64 - 1",
			    path);
	return 0;
}
