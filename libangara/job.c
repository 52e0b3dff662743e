// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process's side of the job, whoever has started it: angara-run
 * (job_run.c), a launcher that speaks PMIx (job_pmix.c), or nobody, which
 * makes a job of one.  And jobs that the program makes itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "job.h"
#include "lib.h"

/* Set once, by the first job that is joined, read when a context is opened. */
static struct ang_job_place here = { .size = 1 };

/** ang_job_place() - where this process stands on this machine */
const struct ang_job_place *ang_job_place(void)
{
	return &here;
}

void ang_job_set_place(const struct ang_job_place *place)
{
	here = *place;
}

static int single_open(struct angara_job *job)
{
	job->rank = 0;
	job->size = 1;
	return 0;
}

static int single_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			   u64 tag, const void *mine, size_t len, void *all)
{
	(void)job;
	(void)ranks;
	(void)nranks;
	(void)tag;
	if (len)
		memmove(all, mine, len);
	return 0;
}

static void single_close(struct angara_job *job)
{
	(void)job;
}

static const struct ang_job_ops single = {
	.open = single_open,
	.exchange = single_exchange,
	.close = single_close,
};

/* The first that knows this process has it: angara-run may run under PMIx. */
static const struct ang_job_ops *const launchers[] = {
	&ang_job_run, &ang_job_pmix, &single,
};

static int given_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			  u64 tag, const void *mine, size_t len, void *all)
{
	int ret = job->given(job->arg, ranks, nranks, tag, mine, len, all);

	return ret > 0 ? -EIO : ret;
}

/* There is no such launcher to be found: no way to open it. */
static const struct ang_job_ops given = {
	.exchange = given_exchange,
	.close = single_close,
};

static struct angara_job *job_new(void)
{
	struct angara_job *job = calloc(1, sizeof(*job));

	if (job)
		job->fd = -1;
	return job;
}

static int cards_new(struct angara_job *job)
{
	job->cards = calloc(job->size, sizeof(*job->cards));
	return job->cards ? 0 : -ENOMEM;
}

ANG_PUBLIC int angara_job_init_with(unsigned int rank, unsigned int size,
				    angara_exchange_fn exchange, void *arg,
				    struct angara_job **out)
{
	struct angara_job *job;

	*out = NULL;
	if (!exchange || size > ANG_JOB_MAX_SIZE || rank >= size)
		return -EINVAL;
	job = job_new();
	if (!job)
		return -ENOMEM;
	job->ops = &given;
	job->given = exchange;
	job->arg = arg;
	job->rank = rank;
	job->size = size;
	if (cards_new(job)) {
		free(job);
		return -ENOMEM;
	}
	*out = job;
	return 0;
}

ANG_PUBLIC int angara_job_init(struct angara_job **out)
{
	struct angara_job *job = job_new();
	int ret = -ENOENT;
	size_t i;

	*out = NULL;
	if (!job)
		return -ENOMEM;
	for (i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		job->ops = launchers[i];
		ret = job->ops->open(job);
		if (ret != -ENOENT)
			break;
	}
	if (ret)
		goto free_job;
	ret = cards_new(job);
	if (ret)
		goto close_job;
	*out = job;
	return 0;

close_job:
	job->ops->close(job);
free_job:
	free(job);
	return ret;
}

ANG_PUBLIC void angara_job_finalize(struct angara_job *job)
{
	if (!job)
		return;
	job->ops->close(job);
	free(job->cards);
	free(job);
}

ANG_PUBLIC unsigned int angara_job_rank(const struct angara_job *job)
{
	return job->rank;
}

ANG_PUBLIC unsigned int angara_job_size(const struct angara_job *job)
{
	return job->size;
}

/* To tell whether all name the same ranks. */
u64 ang_ranks_hash(const u32 *ranks, u32 n)
{
	u64 h = ANG_HASH_INIT;
	u32 i;

	for (i = 0; i < n; i++)
		h = ang_hash(h, ranks[i]);
	return h;
}

/**
 * ang_job_exchange() - exchange blocks among some processes
 * @job: job
 * @ranks: group, ascending and with this process; NULL for all
 * @nranks: processes in it
 * @tag: equal at all of them
 * @mine: block
 * @len: its bytes
 * @all: out: blocks in the order of the group
 *
 * Return: 0; -EPIPE; -EMSGSIZE; -EINVAL; -ETIMEDOUT over PMIx; what an exchange
 * of the program's own gives.
 */
int ang_job_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
		     u64 tag, const void *mine, size_t len, void *all)
{
	if (len > ANG_JOB_MAX_BLOCK)
		return -EINVAL;
	return job->ops->exchange(job, ranks, nranks, tag, mine, len, all);
}

ANG_PUBLIC int angara_job_allgather(struct angara_job *job, const void *mine,
				    size_t len, void *all)
{
	return ang_job_exchange(job, NULL, 0, 0, mine, len, all);
}

ANG_PUBLIC int angara_job_barrier(struct angara_job *job)
{
	return ang_job_exchange(job, NULL, 0, 0, NULL, 0, NULL);
}
