/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: jobs: the processes that work together, and what they exchange.
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
 * Start-up.  A job is the set of processes that angara-run(1) started, or a
 * launcher that speaks PMIx or PMI such as mpirun or mpiexec.hydra; a program
 * started alone is a job of one.  A program that has other means to find its
 * peers makes jobs itself.
 *
 * Threads: angara_job_init() and angara_job_init_with() may be called at once.
 * One thread at a time uses a job; all that angara_job_init() gives in a process
 * count as one job in this.  Ranks and sizes may be asked for at any time.
 */

/**
 * angara_job_init() - join the job that this process belongs to
 * @job: out
 *
 * Over PMI it waits for all processes of the job.
 *
 * Return: 0; -EINVAL the environment of the launcher is damaged; -EPIPE the
 * launcher is gone; -ELIBACC it speaks PMIx and libpmix cannot be loaded;
 * -ETIMEDOUT over PMI, see ANGARA_JOB_TIMEOUT in angara(7).
 */
int angara_job_init(struct angara_job **job);

/**
 * typedef angara_exchange_fn - exchange blocks among processes of a job
 * @arg: as given to angara_job_init_with()
 * @ranks: which take part, ascending and with this one; NULL for all
 * @n: their number, if @ranks is not NULL
 * @tag: equal at all of them; exchanges of the same ones with the same tag come
 *	in the same order everywhere
 * @mine: block of this process, NULL if @len is 0
 * @len: its bytes, equal at all of them, at most 64 KiB
 * @all: out: blocks of all that take part, in the order of ranks
 *
 * Return: 0 or a negative errno, which whoever wanted the exchange is given.
 */
typedef int (*angara_exchange_fn)(void *arg, const unsigned int *ranks,
				  unsigned int n, uint64_t tag, const void *mine,
				  size_t len, void *all);

/**
 * angara_job_init_with() - make a job of processes that know each other already
 * @rank: number of this one among them
 * @size: their number
 * @exchange: how they exchange blocks
 * @arg: handed to @exchange
 * @job: out
 *
 * A job is among whom a team is made, so it may be a part of the processes, or
 * of contexts of one process.
 *
 * Return: 0; -EINVAL @rank or @size is out of range, or @exchange is NULL;
 * -ENOMEM.
 */
int angara_job_init_with(unsigned int rank, unsigned int size,
			 angara_exchange_fn exchange, void *arg,
			 struct angara_job **job);
void angara_job_finalize(struct angara_job *job);
unsigned int angara_job_rank(const struct angara_job *job);
unsigned int angara_job_size(const struct angara_job *job);

/**
 * angara_job_allgather() - exchange a small block, out of band
 * @job: all its processes call
 * @mine: @len bytes, the same @len everywhere
 * @len: bytes, at most 64 KiB
 * @all: out: size * @len bytes, in the order of ranks
 *
 * Return: 0; -EPIPE a process of the job ended; -EMSGSIZE @len differs;
 * -ETIMEDOUT over PMIx or PMI, see ANGARA_JOB_TIMEOUT in angara(7).
 */
int angara_job_allgather(struct angara_job *job, const void *mine, size_t len,
			 void *all);
int angara_job_barrier(struct angara_job *job);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_JOB_H */
