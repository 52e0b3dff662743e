/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: jobs: the processes of a parallel program, and their data
 * exchange.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_JOB_H
#define ANGARA_JOB_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Start-up.  A job is the set of processes that were started by angara-run(1),
 * or by a launcher that speaks PMIx or PMI, such as mpirun or mpiexec.hydra.  A
 * program without a launcher is a job of one process.  A program that finds its
 * peers in another way creates jobs itself, with angara_job_init_with().
 *
 * Threads: several threads may call angara_job_init() and
 * angara_job_init_with() at once.  One thread at a time uses a job; for this
 * rule all jobs that a process gets from angara_job_init() count as one job.
 * Rank and size may be read at any time.
 */

/**
 * angara_job_init() - join the job of this process
 * @job: out
 *
 * With PMI the call waits for all processes of the job.
 *
 * Return: 0; -EINVAL the launcher's environment variables are malformed; -EPIPE
 * the launcher is gone; -ELIBACC the launcher speaks PMIx, and libpmix cannot
 * be loaded; -ETIMEDOUT with PMI, see ANGARA_JOB_TIMEOUT in angara(7).
 */
int angara_job_init(struct angara_job **job);

/**
 * typedef angara_exchange_fn - exchange blocks among processes of a job
 * @arg: argument given to angara_job_init_with()
 * @ranks: ranks of the participants, ascending, including this process; NULL
 *	for all
 * @n: length of @ranks, if it is not NULL
 * @tag: equal at all participants; if the same processes exchange several
 *	blocks with the same tag, all of them do so in the same order
 * @mine: block of this process, NULL if @len is 0
 * @len: bytes of @mine, equal at all participants, at most 64 KiB
 * @all: out: blocks of all participants, in the order of ranks
 *
 * Return: 0 or a negative errno, which the call that needed the exchange
 * returns.
 */
typedef int (*angara_exchange_fn)(void *arg, const unsigned int *ranks,
				  unsigned int n, uint64_t tag, const void *mine,
				  size_t len, void *all);

/**
 * angara_job_init_with() - create a job of processes that can already
 * communicate
 * @rank: number of this process among the processes of the job
 * @size: number of processes
 * @exchange: function that exchanges blocks among these processes
 * @arg: passed to @exchange
 * @job: out
 *
 * A job may consist of only some processes of the program, or of several
 * contexts of one process: teams are created within the job.
 *
 * Return: 0; -EINVAL @rank or @size is out of range, or @exchange is NULL;
 * -ENOMEM.
 */
int angara_job_init_with(unsigned int rank, unsigned int size,
			 angara_exchange_fn exchange, void *arg,
			 struct angara_job **job);
/**
 * angara_job_place() - set the place of this process among those of its job on
 * this machine
 * @name: identifies the job: equal at its processes on this machine, and
 *	different in every other job; 1 to 255 characters
 * @rank: rank of this process among those on this machine
 * @size: number of processes on this machine
 *
 * Needed only without angara_job_init(), which gets the place from the
 * launcher.  angara_domain_open() then chooses an adapter by @rank, and the
 * processes share an embedded fabric.  Call it before angara_domain_open().
 *
 * Return: 0; -EINVAL.
 */
int angara_job_place(const char *name, unsigned int rank, unsigned int size);
void angara_job_finalize(struct angara_job *job);
unsigned int angara_job_rank(const struct angara_job *job);
unsigned int angara_job_size(const struct angara_job *job);

/**
 * angara_job_allgather() - exchange a small block through the launcher
 * @job: job; all its processes call
 * @mine: @len bytes, the same @len at all of them
 * @len: bytes, at most 64 KiB
 * @all: out: size * @len bytes, in the order of ranks
 *
 * Return: 0; -EPIPE a process of the job ended; -EMSGSIZE @len differs;
 * -ETIMEDOUT see ANGARA_JOB_TIMEOUT in angara(7).
 */
int angara_job_allgather(struct angara_job *job, const void *mine, size_t len,
			 void *all);
int angara_job_barrier(struct angara_job *job);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_JOB_H */
