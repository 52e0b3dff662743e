// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process's side of the job.  The launcher is angara-run (job_run.c), or a
 * launcher that speaks PMIx (job_pmix.c) or PMI (job_pmi.c); a process without
 * a launcher is a job of one process.  A program can also create jobs itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "job.h"
#include "lib.h"

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

/*
 * Tried in this order.  angara-run is first: under PMIx, its processes have the environment of both
 * launchers.
 */
static const struct ang_job_ops *const launchers[] = {
	&ang_job_run, &ang_job_pmix, &ang_job_pmi, &single,
};

static int given_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
			  u64 tag, const void *mine, size_t len, void *all)
{
	int ret = job->given(job->arg, ranks, nranks, tag, mine, len, all);

	return ret > 0 ? -EIO : ret;
}

/*
 * Jobs that the program creates with angara_job_init_with(); angara_job_init()
 * never opens one.
 */
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
	job->order = calloc(job->size, sizeof(*job->order));
	if (job->cards && job->order)
		return 0;
	free(job->cards);
	free(job->order);
	return -ENOMEM;
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
	free(job->order);
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

/*
 * Protects the connection to the launcher, which all jobs of this process
 * share.
 */
static pthread_mutex_t exchange_lock = PTHREAD_MUTEX_INITIALIZER;

/**
 * ang_job_exchange() - exchange blocks among some processes
 * @job: job
 * @ranks: group, ascending and with this process; NULL for all
 * @nranks: processes in the group
 * @tag: equal at all processes of the group
 * @mine: block of this process
 * @len: bytes of the block
 * @all: out: blocks in the order of the group
 *
 * Return: 0; -EPIPE; -EMSGSIZE; -EINVAL; -ETIMEDOUT; an error of the program's
 * exchange function.
 */
int ang_job_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
		     u64 tag, const void *mine, size_t len, void *all)
{
	int ret;

	if (len > ANG_JOB_MAX_BLOCK)
		return -EINVAL;
	if (job->ops == &given)
		return given_exchange(job, ranks, nranks, tag, mine, len, all);
	pthread_mutex_lock(&exchange_lock);
	ret = job->ops->exchange(job, ranks, nranks, tag, mine, len, all);
	pthread_mutex_unlock(&exchange_lock);
	return ret;
}

/* Distinguishes the exchanges of ang_job_bcast() from those of teams. */
#define TAG_BCAST	(0x42ULL << 56)

/**
 * ang_job_bcast() - distribute a block of rank 0
 * @job: job; all of its processes call this
 * @data: in at rank 0, out at the other ranks
 * @len: bytes, at most ANG_JOB_MAX_BLOCK
 *
 * Blocks are exchanged between pairs of processes along a binomial tree, so
 * each process takes part in a logarithmic number of exchanges.
 *
 * Return: as ang_job_exchange().
 */
int ang_job_bcast(struct angara_job *job, void *data, size_t len)
{
	u32 pair[2];
	char *both;
	u64 step;
	int ret = 0;

	both = malloc(2 * len + 1);
	if (!both)
		return -ENOMEM;
	for (step = 1; !ret && step < job->size; step *= 2) {
		bool gives = job->rank < step;

		if (job->rank >= 2 * step || (gives && job->rank + step >= job->size))
			continue;
		pair[0] = gives ? job->rank : job->rank - (u32)step;
		pair[1] = pair[0] + (u32)step;
		ret = ang_job_exchange(job, pair, 2, TAG_BCAST, data, len, both);
		if (!ret && len)
			memcpy(data, both, len);
	}
	explicit_bzero(both, 2 * len);
	free(both);
	return ret;
}

/*
 * The key of jobs that a launcher started: all jobs of this process share it.
 */
static u64 launched_key;
static pthread_mutex_t launched_lock = PTHREAD_MUTEX_INITIALIZER;

static int draw_key(u64 *key)
{
	do {
		if (getrandom(key, sizeof(*key), 0) != sizeof(*key))
			return -EIO;
	} while (!*key);
	return 0;
}

static int agree_key(struct angara_job *job, u64 *key)
{
	int ret = 0;

	if (*key)
		return 0;
	if (!job->rank)
		ret = draw_key(key);
	if (!ret)
		ret = ang_job_bcast(job, key, sizeof(*key));
	if (!ret && !*key)
		ret = -EIO;
	if (ret)
		*key = 0;
	return ret;
}

/**
 * ang_job_key() - get the key that protects the job's memory from other jobs
 * @job: job; its processes make their first calls together
 * @key: out: random, not 0
 *
 * Rank 0 draws the key, and an exchange of the job distributes it.  The key is
 * secret: it is never in the environment or in a file, and is never printed.
 *
 * Return: 0; errors of ang_job_exchange(); -EIO no random numbers are
 * available.
 */
int ang_job_key(struct angara_job *job, u64 *key)
{
	int ret;

	if (job->ops == &given) {
		ret = agree_key(job, &job->key);
		*key = job->key;
		return ret;
	}
	pthread_mutex_lock(&launched_lock);
	ret = agree_key(job, &launched_key);
	*key = launched_key;
	pthread_mutex_unlock(&launched_lock);
	return ret;
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
