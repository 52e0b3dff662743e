/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of the library, the provider and the interposer.
 */
#ifndef ANG_THREAD_H
#define ANG_THREAD_H

#include <pthread.h>
#include <signal.h>

/*
 * Starts a thread that takes no signals: the program's threads handle them.
 * Return: as pthread_create(3).
 */
static inline int ang_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

#endif /* ANG_THREAD_H */
