// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The place of this process among the processes of its job; hashes of groups. */
#include <errno.h>
#include <string.h>

#include "job.h"
#include "lib.h"

/*
 * The place of this process.  A launcher sets it when the process joins the job, or the program
 * sets it by angara_job_place().  The backend reads it.
 */
static struct ang_job_place here = { .size = 1 };

/**
 * ang_job_place() - get the place of this process among the processes of its
 * job on this machine
 */
const struct ang_job_place *ang_job_place(void)
{
	return &here;
}

void ang_job_set_place(const struct ang_job_place *place)
{
	here = *place;
}

ANG_PUBLIC int angara_job_place(const char *name, unsigned int rank,
				unsigned int size)
{
	struct ang_job_place place = { .rank = rank, .size = size };
	size_t len = name ? strlen(name) : 0;

	if (!len || len >= sizeof(place.name) || rank >= size ||
	    size > ANG_JOB_MAX_SIZE)
		return -EINVAL;
	memcpy(place.name, name, len + 1);
	ang_job_set_place(&place);
	return 0;
}

/* Hash of a list of ranks, to check that all processes use the same list. */
u64 ang_ranks_hash(const u32 *ranks, u32 n)
{
	u64 h = ANG_HASH_INIT;
	u32 i;

	for (i = 0; i < n; i++)
		h = ang_hash(h, ranks[i]);
	return h;
}
