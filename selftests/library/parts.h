/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a test that is a job: every process runs every part, and a part
 * fails if it fails at any process.  Rank 0 reports in TAP.
 */
#ifndef PARTS_H
#define PARTS_H

#include <stdbool.h>

struct angara_job;

struct part {
	const char *name;
	bool (*run)(void);
};

/*
 * Runs all parts, or only the one named @only, or only those of the group @only,
 * whose names begin with it and a colon.
 */
void parts_run(struct angara_job *job, const struct part *parts,
	       const char *only);
/* Skips a part, at all processes.  Return: its result. */
bool parts_skip(const char *why);
/* After all parts.  Return: exit status of the process. */
int parts_end(struct angara_job *job);

#endif /* PARTS_H */
