// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The provider's own threads. */
#include "afi.h"
#include "thread.h"

/**
 * afi_thread_start() - start a thread that takes no signals
 * @thread: out
 * @run: function of the thread
 * @arg: argument of @run
 *
 * Signals of the program must be handled by its own threads.
 *
 * Return: 0; -FI_EAGAIN as pthread_create(3).
 */
int afi_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	return -ang_thread_start(thread, run, arg);
}
