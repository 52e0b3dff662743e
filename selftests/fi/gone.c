// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An embedded fabric that is lost: each caller gets the error, once, and no
 * thread spins.
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
#include "../alone.h"
#include "fi.h"

#define IDLE_MS	1000	/* time without events */
#define BUSY_MS	250	/* more work than that within it is not idle */
#define TELL_MS	5000	/* limit for all to get the error */

/* This process's own mapping of its fabric, which has no name. */
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

/* Nothing arrives on @fd, and no thread of the process runs. */
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

/* Sleepers in the call wake, and operations under way are reported first. */
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
	/* The call that found the loss may have made it readable once more. */
	queue = &a.cq->fid;
	ok = ok && expect(fi_trywait(a.fabric, &queue, 1), -FI_EAGAIN) &&
	     idle(fd);
	close_side(&a);
	return ok;
}

/*
 * A program with a loop of its own sees the descriptor, polls, and gets the
 * error.
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

/* The last ones: each ends the fabric of the process. */
const struct part gone_parts[] = {
	{ "a fabric that is lost wakes sleepers once", sleepers },
	{ "a fabric that is lost makes a descriptor readable once", pollers },
	{ NULL, NULL },
};
