// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the processes, line by line, so that lines do not mix.
 *
 * A line without an end, or longer than the buffer, is handed on in parts.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run.h"

/* Return: false if nobody reads any more. */
static bool write_all(int fd, const char *from, size_t len)
{
	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			return false;
		} else if (n > 0) {
			from += n;
			len -= (size_t)n;
		}
	}
	return true;
}

/* Writes a line or a part of one. */
static bool put(const struct run_job *job, struct run_stream *s,
		const char *text, size_t len)
{
	char line[RUN_LINE_BYTES + 32];
	int tag = 0;

	if (job->opts->tag && !s->inside)
		tag = snprintf(line, sizeof(line), "[%u] ", s->rank);
	memcpy(line + tag, text, len);
	s->inside = text[len - 1] != '\n';
	return write_all(s->to, line, (size_t)tag + len);
}

static bool put_lines(const struct run_job *job, struct run_stream *s)
{
	size_t start = 0;
	char *end;

	while ((end = memchr(s->buf + start, '\n', s->len - start))) {
		size_t len = (size_t)(end - (s->buf + start)) + 1;

		if (!put(job, s, s->buf + start, len))
			return false;
		start += len;
	}
	if (start == 0 && s->len == RUN_LINE_BYTES) {
		if (!put(job, s, s->buf, s->len))
			return false;
		start = s->len;
	}
	memmove(s->buf, s->buf + start, s->len - start);
	s->len -= start;
	return true;
}

/**
 * run_stream_end() - close a pipe
 * @job: job
 * @s: pipe
 *
 * Hands on the rest of the last line; with tags on, it is ended, since what
 * comes next starts with a tag.
 */
void run_stream_end(struct run_job *job, struct run_stream *s)
{
	bool ok = true;

	if (s->len)
		ok = put(job, s, s->buf, s->len);
	if (ok && s->inside && job->opts->tag)
		write_all(s->to, "\n", 1);
	close(s->from);
	s->from = -1;
	free(s->buf);
	s->buf = NULL;
	job->streams--;
}

/**
 * run_stream_read() - hand on what a process wrote
 * @job: job
 * @s: pipe that is readable or at its end
 *
 * If nobody reads our output, the pipe is closed, and the process learns of
 * it as it would without us.
 */
void run_stream_read(struct run_job *job, struct run_stream *s)
{
	ssize_t n = read(s->from, s->buf + s->len, RUN_LINE_BYTES - s->len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		s->len += (size_t)n;
		if (put_lines(job, s))
			return;
		s->len = 0;
		s->inside = false;
	}
	run_stream_end(job, s);
}
