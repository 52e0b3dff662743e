// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of the processes, line by line, so that lines do not mix.
 *
 * Only a line longer than RUN_LINE_MAX is handed on in parts.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
 * Writes @len bytes at @start, a line or a part of one.  The tag goes right
 * before them, over what has been written already, so that one write does it.
 */
static bool put(const struct run_job *job, struct run_stream *s, size_t start,
		size_t len)
{
	char *from = text(s) + start;

	if (job->opts->tag && !s->inside) {
		char tag[RUN_TAG_BYTES];
		int n = snprintf(tag, sizeof(tag), "[%u] ", s->rank);

		s->inside = from[len - 1] != '\n';
		return write_all(s->to, memcpy(from - n, tag, (size_t)n),
				 (size_t)n + len);
	}
	s->inside = from[len - 1] != '\n';
	return write_all(s->to, from, len);
}

/* Return: false if the line is to be handed on in parts. */
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

static bool put_lines(const struct run_job *job, struct run_stream *s)
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
 * Hands on the rest of the last line; with tags on, it is ended, since what
 * comes next starts with a tag.
 */
void run_stream_end(struct run_job *job, struct run_stream *s)
{
	bool ok = true;

	if (s->len)
		ok = put(job, s, 0, s->len);
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
	ssize_t n = read(s->from, text(s) + s->len, s->size - s->len);

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
