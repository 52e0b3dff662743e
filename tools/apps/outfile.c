// SPDX-License-Identifier: GPL-2.0-only
/* A file that appears only when it is complete: see outfile.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "outfile.h"

/* Name of the temporary file, for the signal handler; a process has one file. */
static const char *volatile unfinished;

static void on_signal(int sig)
{
	const char *temp = unfinished;

	if (temp)
		unlink(temp);
	raise(sig);	/* ends the process when the handler returns, by SA_RESETHAND */
}

static void catch_signals(void)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = {
		.sa_handler = on_signal,
		.sa_flags = SA_RESETHAND,
	};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}

int outfile_open(struct outfile *f, const char *dir, const char *name)
{
	mode_t mask;
	int n;

	f->fd = -1;
	n = snprintf(f->path, sizeof(f->path), "%s/%s", dir, name);
	if (n < 0 || (size_t)n >= sizeof(f->path))
		return -ENAMETOOLONG;
	n = snprintf(f->temp, sizeof(f->temp), "%s/.%s.XXXXXX", dir, name);
	if (n < 0 || (size_t)n >= sizeof(f->temp))
		return -ENAMETOOLONG;
	f->fd = mkstemp(f->temp);
	if (f->fd < 0)
		return -errno;
	unfinished = f->temp;
	catch_signals();
	/*
	 * mkstemp() makes a file that only its owner can read: set the usual
	 * permissions.
	 */
	mask = umask(0);
	umask(mask);
	if (fchmod(f->fd, 0666 & ~mask)) {
		int err = -errno;

		outfile_abort(f);
		return err;
	}
	return 0;
}

int outfile_write(struct outfile *f, const void *data, size_t len)
{
	const char *p = data;

	while (f->fd >= 0 && len) {
		ssize_t n = write(f->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int outfile_commit(struct outfile *f)
{
	int err = 0;

	if (f->fd < 0)
		return 0;
	if (close(f->fd) || rename(f->temp, f->path)) {
		err = -errno;
		unlink(f->temp);
	}
	unfinished = NULL;
	f->fd = -1;
	return err;
}

void outfile_abort(struct outfile *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	unlink(f->temp);
	unfinished = NULL;
	f->fd = -1;
}
