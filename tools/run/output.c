// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the processes, line by line, so that lines do not mix.
 *
 * Only a line longer than RUN_LINE_MAX is passed on in parts.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

#define RUN_HEARD_MS	1000	/* longest wait for standard error's reader */

/**
 * run_heard() - check that a message can be written to standard error without
 * waiting
 */
bool run_heard(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, RUN_HEARD_MS) != 0;
}

/*
 * Reports that output is lost, and lets the job fail.  EPIPE is no failure: the reader has left,
 * and the processes get SIGPIPE or EPIPE, as without the launcher.  Return: false.
 */
static bool write_failed(struct run_job *job, int fd, int err)
{
	if (err != EPIPE && !job->status) {
		job->status = RUN_EXIT_FAILURE;
		run_say("standard %s cannot be written: %s",
			fd == STDOUT_FILENO ? "output" : "error", strerror(err));
	}
	return false;
}

/*
 * Writes all @len bytes, at most PIPE_BUF bytes at a time: such a write to a pipe with room does
 * not wait.
 *
 * Return: false if the reader has closed the launcher's output, or does not read it.
 */
static bool write_all(struct run_job *job, int fd, const char *from, size_t len)
{
	while (len) {
		ssize_t n;

		if (!run_writable(job, fd))
			return false;
		n = write(fd, from, len < PIPE_BUF ? len : PIPE_BUF);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return write_failed(job, fd, errno);
		if (n > 0) {
			from += n;
			len -= (size_t)n;
		}
	}
	return true;
}

int run_stream_init(struct run_stream *s)
{
	s->buf = malloc(RUN_TAG_BYTES + RUN_LINE_FIRST);
	s->size = RUN_LINE_FIRST;
	return s->buf ? 0 : -ENOMEM;
}

static char *text(struct run_stream *s)
{
	return s->buf + RUN_TAG_BYTES;
}

/*
 * Write @len bytes at @start, a line or a part of one.  The tag is put right
 * before these bytes, over output already written, so that one write is enough.
 */
static bool put(struct run_job *job, struct run_stream *s, size_t start,
		size_t len)
{
	char *from = text(s) + start;

	if (job->opts->tag && !s->inside) {
		char tag[RUN_TAG_BYTES];
		int n = snprintf(tag, sizeof(tag), "[%u] ", s->rank);

		s->inside = from[len - 1] != '\n';
		return write_all(job, s->to, memcpy(from - n, tag, (size_t)n),
				 (size_t)n + len);
	}
	s->inside = from[len - 1] != '\n';
	return write_all(job, s->to, from, len);
}

/* Enlarges the buffer of a line.  Return: false: the line has to be passed on in parts. */
static bool grow(struct run_stream *s)
{
	char *buf;

	if (s->size >= RUN_LINE_MAX)
		return false;
	buf = realloc(s->buf, RUN_TAG_BYTES + 2 * s->size);
	if (!buf)
		return false;
	s->buf = buf;
	s->size *= 2;
	return true;
}

static bool put_lines(struct run_job *job, struct run_stream *s)
{
	size_t start = 0;
	char *end;

	while ((end = memchr(text(s) + start, '\n', s->len - start))) {
		size_t len = (size_t)(end - text(s)) + 1 - start;

		if (!put(job, s, start, len))
			return false;
		start += len;
	}
	if (start == 0 && s->len == s->size && !grow(s)) {
		if (!put(job, s, 0, s->len))
			return false;
		start = s->len;
	}
	memmove(text(s), text(s) + start, s->len - start);
	s->len -= start;
	return true;
}

/**
 * run_stream_end() - close a pipe
 * @job: job
 * @s: pipe
 *
 * Passes on the rest of the last line.  With tags it also completes the line,
 * since the next output starts with a tag.
 */
void run_stream_end(struct run_job *job, struct run_stream *s)
{
	bool ok = true;

	if (s->len)
		ok = put(job, s, 0, s->len);
	if (ok && s->inside && job->opts->tag)
		write_all(job, s->to, "\n", 1);
	close(s->from);
	s->from = -1;
	free(s->buf);
	s->buf = NULL;
}

/**
 * run_stream_read() - pass on output of a process
 * @job: job
 * @s: pipe that is readable or at its end
 *
 * If the reader has closed the launcher's output, close the pipe: the process
 * gets SIGPIPE or EPIPE, as without the launcher.
 *
 * Return: number of bytes read.
 */
size_t run_stream_read(struct run_job *job, struct run_stream *s)
{
	ssize_t n = read(s->from, text(s) + s->len, s->size - s->len);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0) {
		s->len += (size_t)n;
		if (put_lines(job, s))
			return (size_t)n;
		s->len = 0;
		s->inside = false;
	}
	run_stream_end(job, s);
	return n > 0 ? (size_t)n : 0;
}
