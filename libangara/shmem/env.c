// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Environment variables of the specification.
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shi.h"

#define ENV_SIZE	(32ULL << 20)	/* default symmetric heap */
#define ENV_PAGE	4096ULL		/* sizes are multiples of this */
#define ENV_MOST	0x1p34		/* bytes: 16G, the longest region of an adapter */

/**
 * struct env_var - an environment variable
 * @name: its name; the deprecated name SMA_... if only that one is set
 * @value: its value; NULL: both are unset or empty
 */
struct env_var {
	const char *name;
	const char *value;
};

static struct env_var env_get(const char *name, const char *old)
{
	struct env_var v = { name, getenv(name) };

	if (old && (!v.value || !*v.value))
		v = (struct env_var){ old, getenv(old) };
	if (v.value && !*v.value)
		v.value = NULL;
	return v;
}

/* Return: true if the variable is set, except to the number 0. */
static bool env_flag(const char *name, const char *old)
{
	const char *value = env_get(name, old).value;
	char *end;

	if (!value)
		return false;
	return strtol(value, &end, 0) || *end;
}

/* strtod(3) with a point before the fraction, whichever locale the program has set. */
static double env_number(const char *text, char **end)
{
	locale_t c = newlocale(LC_NUMERIC_MASK, "C", NULL);
	double n;

	if (!c)
		shi_die("no memory to read the environment");
	errno = 0;
	n = strtod_l(text, end, c);
	freelocale(c);
	return n;
}

/*
 * Parses a number, possibly with a fraction, and a unit: K, M, G or T, powers
 * of 1024.  Return: bytes, rounded up to whole pages.
 */
static size_t env_size(const char *name, const char *old, size_t otherwise)
{
	static const char units[] = "KMGT";
	struct env_var v = env_get(name, old);
	const char *value = v.value;
	const char *unit;
	size_t bytes;
	double n;
	char *end;

	if (!value)
		return otherwise;
	n = env_number(value, &end);
	unit = isalpha((unsigned char)*end) ?
	       strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		n *= (double)(1ULL << 10 * (unit - units + 1));
		end++;
	}
	if (errno || end == value || *end || !(n > 0))
		shi_die("%s=%s: not a size above 0, such as 64M or 1.5G", v.name, value);
	if (n > ENV_MOST)
		shi_die("%s=%s: above 16G, the longest heap", v.name, value);
	bytes = (size_t)n;
	bytes += (double)bytes < n;
	return (bytes + ENV_PAGE - 1) & ~(size_t)(ENV_PAGE - 1);
}

void shi_env_read(struct shi_env *env)
{
	env->symmetric_size = env_size("SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE", ENV_SIZE);
	env->info = env_flag("SHMEM_INFO", "SMA_INFO");
	env->version = env_flag("SHMEM_VERSION", "SMA_VERSION");
	env->debug = env_flag("SHMEM_DEBUG", "SMA_DEBUG");
	env->stats = env_flag("ANGARA_SHMEM_STATS", NULL);
}

/* Prints version and settings at PE 0, if the variables request that. */
void shi_env_show(const struct shi_env *env)
{
	uint32_t v = angara_version();

	if (shi.me)
		return;
	if (env->version || env->info)
		printf("OpenSHMEM %d.%d, %s %u.%u.%u\n", SHMEM_MAJOR_VERSION,
		       SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING, v >> 16, v >> 8 & 255,
		       v & 255);
	if (env->info) {
		printf("SHMEM_VERSION         %d  print the version at the start\n",
		       env->version);
		printf("SHMEM_INFO            %d  print this list at the start\n",
		       env->info);
		printf("SHMEM_DEBUG           %d  check arguments of collectives, and locks\n",
		       env->debug);
		printf("SHMEM_SYMMETRIC_SIZE  %zu  bytes of the symmetric heap\n",
		       env->symmetric_size);
		printf("ANGARA_SHMEM_STATS    %d  print a line about each team when it is destroyed\n",
		       env->stats);
		printf("collectives           %s\n", shi.world.offloaded ?
		       "by the adapters, see shmem(7)" : "by software: no free tree");
	}
	fflush(stdout);
}
