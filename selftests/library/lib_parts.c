// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts of a test that is a job.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/angara.h>

#include "parts.h"

static unsigned int count, failures;

/* A part has passed if it has passed at every process. */
static bool everywhere(struct angara_job *job, bool mine)
{
	unsigned int size = angara_job_size(job), i;
	bool *all = calloc(size, sizeof(*all));
	bool ok = all && angara_job_allgather(job, &mine, sizeof(mine), all) == 0;

	for (i = 0; ok && i < size; i++)
		ok = all[i];
	free(all);
	return ok;
}

/* Is a part selected, by its name or that of its group? */
static bool wanted(const struct part *part, const char *only)
{
	size_t len;

	if (!only)
		return true;
	len = strlen(only);
	return !strncmp(part->name, only, len) &&
	       (!part->name[len] || part->name[len] == ':');
}

static const char *skipped;

bool parts_skip(const char *why)
{
	skipped = why;
	return true;
}

void parts_run(struct angara_job *job, const struct part *parts,
	       const char *only)
{
	const struct part *part;

	for (part = parts; part->name; part++) {
		bool ok;

		if (!wanted(part, only))
			continue;
		skipped = NULL;
		ok = everywhere(job, part->run());
		count++;
		failures += !ok;
		if (angara_job_rank(job) == 0)
			printf("%sok %u - %s%s%s\n", ok ? "" : "not ", count,
			       part->name, skipped ? " # SKIP " : "",
			       skipped ? skipped : "");
		fflush(stdout);
	}
}

int parts_end(struct angara_job *job)
{
	if (angara_job_rank(job) == 0)
		printf("1..%u\n", count);
	return failures != 0 || count == 0;
}
