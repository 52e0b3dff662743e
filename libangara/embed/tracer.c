// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Permission for other processes to access the memory of this process, if the
 * kernel has Yama.
 *
 * Any process of the fabric may execute a transfer from or to memory outside of
 * the segment, with process_vm_readv(2) and process_vm_writev(2).  If
 * kernel.yama.ptrace_scope is 1, the process that owns the memory has to permit
 * such transfers.  As long as such memory is registered, the process permits
 * transfers to one process, the tracer, and to its descendants.  These include
 * the processes of the job.  Without Yama prctl(2) fails, and no permission is
 * needed.
 *
 * The kernel has one tracer per process, so all fabrics of a process share the
 * tracer.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "embed.h"

#define NOBODY	0
#define ANYBODY	PR_SET_PTRACER_ANY

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u32 regions;	/* registered regions that need a tracer; under lock */

/*
 * Return: the process that started the job: the one named by the launcher, else
 * the parent.  Never process 1: its descendants are all processes, and it
 * becomes the parent of every orphan.
 */
static unsigned long tracer_choose(const struct emb_fab *fab)
{
	const char *text = getenv(ANG_ENV_PTRACER);
	unsigned long pid;
	char *end;

	if (!fab->path[0] && fab->asked.fd < 0)
		return NOBODY;	/* no other process can join this fabric */
	if (!text)
		return fab->parent > 1 ? (unsigned long)fab->parent : NOBODY;
	if (!strcmp(text, "any"))
		return ANYBODY;
	pid = strtoul(text, &end, 10);
	return *end || pid > INT_MAX ? NOBODY : pid;
}

/**
 * emb_tracer_get() - permit transfers, before a region outside of the segment
 * becomes valid
 * @fab: fabric
 */
void emb_tracer_get(const struct emb_fab *fab)
{
	unsigned long tracer = tracer_choose(fab);

	pthread_mutex_lock(&lock);
	regions++;
	if (tracer != NOBODY)
		prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
	pthread_mutex_unlock(&lock);
}

/**
 * emb_tracer_put() - undo emb_tracer_get(), after a region outside of the segment
 * was deregistered; the last call withdraws the permission
 */
void emb_tracer_put(void)
{
	pthread_mutex_lock(&lock);
	if (--regions == 0)
		prctl(PR_SET_PTRACER, NOBODY, 0, 0, 0);
	pthread_mutex_unlock(&lock);
}

/**
 * emb_tracer_forget() - reset the state in a child of fork(2), which has no
 * region yet
 */
void emb_tracer_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	regions = 0;
}
