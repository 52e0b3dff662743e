// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An embedded fabric that is lost: each caller gets the error, once, and no
 * thread busy-waits.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <angara/angara.h>

#include "embed.h"
#include "../common/alone.h"
#include "fi.h"

#define IDLE_MS	1000	/* duration without events */
#define BUSY_MS	250	/* processor time that counts as busy */
#define TELL_MS	60000	/* limit for the error to arrive */

/* Finds this process's mapping of its fabric, which has no name. */
static struct emb_head *fabric_head(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start = 0, at;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:angara") &&
		    sscanf(line, "%lx-", &at) == 1 &&
		    !((struct emb_head *)at)->broken)
			start = at;
	if (maps)
		fclose(maps);
	return (struct emb_head *)start;
}

static bool break_fabric(void)
{
	struct emb_head *head = fabric_head();

	if (!expect(head && head->magic == EMB_MAGIC, true))
		return false;
	WRITE_ONCE(head->broken, 1);
	return true;
}

static long cpu_ms(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000 +
	       (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000;
}

/*
 * Return: true if no event arrives on @fd, and no thread of the process runs.
 */
static bool idle(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long before = cpu_ms();
	bool quiet = expect(poll(&p, 1, IDLE_MS), 0);

	return quiet && expect(cpu_ms() - before < BUSY_MS, true);
}

static void *break_later(void *arg)
{
	const struct timespec ts = { .tv_nsec = 200000000 };

	nanosleep(&ts, NULL);
	return break_fabric() ? arg : NULL;
}

/* Sleepers wake; operations in flight are reported before the loss. */
static bool sleepers(void)
{
	const struct how how = { .wait = FI_WAIT_FD,
				 .progress = FI_PROGRESS_AUTO };
	struct fi_cq_tagged_entry e;
	static char data[64];
	pthread_t breaker;
	void *broke = NULL;
	struct fid *queue;
	struct side a;
	int fd = -1;
	bool ok;

	open_side(&a, &how, "angara0");
	ok = expect(fi_recv(a.ep, data, sizeof(data), NULL, FI_ADDR_UNSPEC,
			    data), 0) &&
	     expect(fi_control(&a.cq->fid, FI_GETWAIT, &fd), 0) &&
	     expect(pthread_create(&breaker, NULL, break_later, &a), 0);
	if (ok) {
		ok = expect(fi_cq_sread(a.cq, &e, 1, NULL, TELL_MS),
			    -FI_ENODEV);
		pthread_join(breaker, &broke);
	}
	ok = ok && expect(broke == &a, true) &&
	     expect(fi_cntr_wait(a.cntr, 1, TELL_MS), -FI_ENODEV) &&
	     expect(fi_cq_read(a.cq, &e, 1), -FI_ENODEV);
	/* The call that found the loss may have written to the descriptor. */
	queue = &a.cq->fid;
	ok = ok && expect(fi_trywait(a.fabric, &queue, 1), -FI_EAGAIN) &&
	     idle(fd);
	close_side(&a);
	return ok;
}

struct sleeper {
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	int ret;
};

static void *sleep_on(void *arg)
{
	struct sleeper *z = arg;
	struct fi_cq_tagged_entry e;

	z->ret = z->cq ? (int)fi_cq_sread(z->cq, &e, 1, NULL, -1) :
			 fi_cntr_wait(z->cntr, 1, -1);
	return NULL;
}

/* Return: true if the thread ends, false if it still sleeps. */
static bool woken(pthread_t thread)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += TELL_MS / 1000;
	if (expect(pthread_timedjoin_np(thread, NULL, &end), 0))
		return true;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	return false;
}

/*
 * Sleepers wake although another thread has found the loss, and no endpoint
 * uses their queue or counter, as with shared contexts and deferred work.
 */
static bool strays(void)
{
	const struct timespec ts = { .tv_nsec = 200000000 };
	const struct how how = { .wait = FI_WAIT_FD };
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED,
				   .wait_obj = FI_WAIT_FD };
	struct fi_cntr_attr count = { .wait_obj = FI_WAIT_FD };
	struct sleeper z[2] = { 0 };
	struct fi_cq_tagged_entry e;
	pthread_t threads[2];
	struct side a;
	ssize_t ret = -FI_EAGAIN;
	bool ok = true;
	int i;

	open_side(&a, &how, "angara0");
	ok = expect(fi_cq_open(a.domain, &attr, &z[0].cq, NULL), 0) &&
	     expect(fi_cntr_open(a.domain, &count, &z[1].cntr, NULL), 0);
	for (i = 0; ok && i < 2; i++)
		ok = expect(pthread_create(&threads[i], NULL, sleep_on, &z[i]),
			    0);
	nanosleep(&ts, NULL);
	ok = ok && break_fabric();
	while (ok && ret == -FI_EAGAIN)
		ret = fi_cq_read(a.cq, &e, 1);
	ok = ok && expect(ret, -FI_ENODEV);
	for (i = 0; ok && i < 2; i++)
		ok = woken(threads[i]);
	ok = ok && expect(z[0].ret, -FI_ENODEV) && expect(z[1].ret, -FI_ENODEV) &&
	     closed(&z[0].cq->fid) && closed(&z[1].cntr->fid);
	close_side(&a);
	return ok;
}

/*
 * A program with its own event loop sees the descriptor readable, polls, and
 * gets the error.
 */
static bool pollers(void)
{
	struct pollfd p = { .events = POLLIN };
	struct angara_completion c;
	struct angara_ctx *ctx;
	bool ok;

	if (!expect(alone_open(NULL, NULL, &ctx), 0))
		return false;
	p.fd = angara_ctx_fd(ctx);
	ok = expect(angara_ctx_arm(ctx), 0) &&
	     expect(poll(&p, 1, 0), 0) && break_fabric() &&
	     expect(poll(&p, 1, TELL_MS), 1) &&
	     expect(angara_ctx_arm(ctx), -ENODEV) &&
	     expect(angara_poll(ctx, &c, 1), -ENODEV);
	angara_ctx_close(ctx);
	return ok;
}

const char *gone_lacks(void)
{
	const char *fabric = getenv("ANGARA_FABRIC");

	if (fabric ? !strncmp(fabric, "embedded", 8) :
		     access("/dev/angara0", F_OK))
		return NULL;
	return "only an embedded fabric can be lost";
}

/* These parts come last: each ends the process's fabric. */
const struct part gone_parts[] = {
	{ "a fabric that is lost wakes sleepers once", sleepers },
	{ "a fabric that is lost wakes sleepers without an endpoint", strays },
	{ "a fabric that is lost makes a descriptor readable once", pollers },
	{ NULL, NULL },
};
