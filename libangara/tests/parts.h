/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of a test that is a job: every process runs every part, and a part that
 * goes wrong anywhere has failed.  Rank 0 reports in TAP.
 */
#ifndef PARTS_H
#define PARTS_H

#include <stdbool.h>

struct angara_job;

struct part {
	const char *name;
	bool (*run)(void);
};

/* Runs them, or @only the one of that name. */
void parts_run(struct angara_job *job, const struct part *parts,
	       const char *only);
/* After all.  Return: what the process exits with. */
int parts_end(struct angara_job *job);

#endif /* PARTS_H */
