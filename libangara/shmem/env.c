// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Environment variables of the specification.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shi.h"

#define ENV_SIZE	(32ULL << 20)	/* symmetric heap by default */
#define ENV_MIN		4096ULL

/* Any value that is not a number, or is not 0, switches on. */
static bool env_flag(const char *name)
{
	const char *value = getenv(name);
	char *end;

	if (!value || !*value)
		return false;
	return strtol(value, &end, 0) || *end;
}

/* A number, also with a fraction, and a unit: K, M, G or T, powers of 1024. */
static size_t env_size(const char *name, size_t otherwise)
{
	static const char units[] = "KMGT";
	const char *value = getenv(name);
	const char *unit;
	double n;
	char *end;

	if (!value || !*value)
		return otherwise;
	errno = 0;
	n = strtod(value, &end);
	unit = isalpha((unsigned char)*end) ?
	       strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		n *= (double)(1ULL << 10 * (unit - units + 1));
		end++;
	}
	if (errno || end == value || *end || !(n >= ENV_MIN && n < 1e15))
		shi_die("%s=%s: not a size of at least %llu bytes, such as 64M or 1.5G",
			name, value, ENV_MIN);
	return (size_t)n;
}

void shi_env_read(struct shi_env *env)
{
	env->symmetric_size = env_size("SHMEM_SYMMETRIC_SIZE", ENV_SIZE);
	env->info = env_flag("SHMEM_INFO");
	env->version = env_flag("SHMEM_VERSION");
	env->debug = env_flag("SHMEM_DEBUG");
}

/* One PE prints for all. */
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
		printf("SHMEM_DEBUG           %d  check the arguments of collectives\n",
		       env->debug);
		printf("SHMEM_SYMMETRIC_SIZE  %zu  bytes of the symmetric heap\n",
		       env->symmetric_size);
		printf("collectives           %s\n", shi.world.offloaded ?
		       "by the adapters, see shmem(7)" : "by software: no free tree");
	}
	fflush(stdout);
}
