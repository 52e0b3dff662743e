// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A machine with more processors than a cpu_set_t holds: checks how many of
 * them a fabric counts.
 *
 *	cpus
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "embed/embed.h"

#define CPUS	3000	/* processors of the machine; the process may use every third one */

/* Replaces the function of the C library. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	unsigned int i;

	(void)pid;
	if (size < CPU_ALLOC_SIZE(CPUS)) {
		errno = EINVAL;
		return -1;
	}
	memset(set, 0, size);
	for (i = 0; i < CPUS; i += 3)
		CPU_SET_S(i, size, set);
	return 0;
}

int main(void)
{
	struct emb_fab *fab;
	struct ang_spec spec;
	const char *why;

	if (ang_spec_parse("embedded:2", &spec, &why) || emb_attach(&spec, &fab))
		return 1;
	printf("%u\n", fab->head->num_cpus);
	emb_detach(fab);
	return 0;
}
