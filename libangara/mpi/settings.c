// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the user sets in the environment; rank 0 reads it for all. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define ENV_PREFIX	"ANGARA_MPI_"
#define ENV_LONGEST	ENV_PREFIX "LONGEST"
#define ENV_STATS	ENV_PREFIX "STATS"

/* The gain of a tree is in the time of short messages. */
#define DEFAULT_LONGEST	4096U

static void setting_name(enum ami_coll coll, char name[32])
{
	size_t i;

	snprintf(name, 32, ENV_PREFIX "%s", ami_coll_names[coll]);
	for (i = sizeof(ENV_PREFIX) - 1; name[i]; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
}

static int setting_way(enum ami_coll coll, u32 *way)
{
	const char *text;
	char name[32];

	setting_name(coll, name);
	text = getenv(name);
	*way = AMI_AUTO;
	if (!text)
		return 0;
	for (*way = 0; *way <= AMI_AUTO; (*way)++)
		if (!strcmp(text, ami_way_names[*way]))
			return 0;
	ami_say("invalid %s '%s': expected offload, software, native or auto",
		name, text);
	return -EINVAL;
}

static int setting_longest(u64 *longest)
{
	const char *text = getenv(ENV_LONGEST);
	char *end;

	*longest = DEFAULT_LONGEST;
	if (!text)
		return 0;
	errno = 0;
	*longest = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno)
		return 0;
	ami_say("invalid " ENV_LONGEST " '%s': expected a number of bytes", text);
	return -EINVAL;
}

static int setting_stats(u32 *stats)
{
	const char *text = getenv(ENV_STATS);

	*stats = text && !strcmp(text, "1");
	if (!text || *stats || !strcmp(text, "0"))
		return 0;
	ami_say("invalid " ENV_STATS " '%s': expected 0 or 1", text);
	return -EINVAL;
}

/**
 * ami_settings_read() - read the settings
 * @set: out
 *
 * Return: 0; -EINVAL: a line has been printed.
 */
int ami_settings_read(struct ami_settings *set)
{
	int ret = setting_longest(&set->longest);
	u32 i;

	if (!ret)
		ret = setting_stats(&set->stats);
	for (i = 0; i < AMI_OFFLOADED && !ret; i++)
		ret = setting_way(i, &set->way[i]);
	return ret;
}
