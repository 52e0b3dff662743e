// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Environment variables of the processes of a job and their launcher. */
#include <errno.h>
#include <stdlib.h>

#include "job.h"

#define ENV_TIMEOUT	"ANGARA_JOB_TIMEOUT"

/**
 * ang_env_number() - read a number from the environment
 * @name: variable
 * @max: greatest number
 * @val: out, unchanged on an error
 *
 * Return: 0; -ENOENT it is not set; -EINVAL it is not a number up to @max.
 */
int ang_env_number(const char *name, u32 max, u32 *val)
{
	const char *text = getenv(name);
	unsigned long v;
	char *end;

	if (!text)
		return -ENOENT;
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v > max)
		return -EINVAL;
	*val = (u32)v;
	return 0;
}

/**
 * ang_job_timeout() - read the time that an exchange may take
 * @seconds: out: 0: no limit
 *
 * Return: 0; -EINVAL the environment variable is not a number of seconds in
 * range.
 */
int ang_job_timeout(u32 *seconds)
{
	int ret = ang_env_number(ENV_TIMEOUT, ANG_JOB_MAX_TIMEOUT_S, seconds);

	if (ret == -ENOENT)
		*seconds = ANG_JOB_TIMEOUT_S;
	return ret == -EINVAL ? ret : 0;
}
