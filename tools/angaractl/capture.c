// SPDX-License-Identifier: GPL-2.0-only
/* angaractl capture: the packets of a server, as a file for Wireshark. */

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <netlink/msg.h>

#include "angaractl.h"
#include "../vfio/control.h"

#define BLOCK_LEAST	12U	/* bytes of an empty block: type and, twice, length */

struct request {
	struct about about;
	const char *file;
};

/*
 * Returns a descriptor that is readable after a signal that ends the capture.
 * With a handler, a signal between a check and the next blocking call would
 * have no effect.
 */
static int catch_end(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int read_request(struct args *args, struct request *request)
{
	char *word, *value;
	int status;

	while ((word = args_next(args))) {
		if (strcmp(word, "dev")) {
			if (request->file)
				return misuse("\"%s\": capture writes one file only", word);
			request->file = word;
			continue;
		}
		status = args_value(args, word, &value);
		if (!status)
			status = parse_dev(value, &request->about.dev);
		if (status)
			return status;
		request->about.has_dev = true;
	}
	if (!request->file && isatty(STDOUT_FILENO))
		return misuse("capture: name a file, or pipe the output to a program: | tshark -r -");
	return DONE;
}

/* Return: bytes of the complete blocks of a pcapng file at the start of @buf. */
static size_t whole_blocks(const char *buf, size_t have)
{
	size_t at = 0;
	uint32_t head[2];

	while (have - at >= BLOCK_LEAST) {
		size_t len;

		memcpy(head, buf + at, sizeof(head));
		len = le32toh(head[1]);
		if (len < BLOCK_LEAST || len > have - at)
			break;
		at += len;
	}
	return at;
}

/* Copies whole blocks until @end is readable. */
static int copy(FILE *to, const char *name, int end)
{
	size_t have = 0, whole, n;
	char buf[65536];

	while (server_wait(end)) {
		n = server_read(buf + have, sizeof(buf) - have);
		if (!n)
			return fail("the server has ended the capture: it is gone, or this capture could not write for 10 s");
		have += n;
		whole = whole_blocks(buf, have);
		if (whole && (!fwrite(buf, whole, 1, to) || fflush(to)))
			return fail("%s: %s", name, strerror(errno));
		have -= whole;
		memmove(buf, buf + whole, have);
		if (have == sizeof(buf))
			return fail("the server does not send a capture");
	}
	return DONE;
}

static int capture(struct nl *nl, const struct request *request)
{
	const char *name = request->file ? request->file : "standard output";
	FILE *to = stdout;
	int status, end;

	if (ctl_call(nl, ctl_request(nl, CONTROL_CMD_CAPTURE, &request->about),
		     NULL))
		return fail("%s", nl->error);
	if (request->file)
		to = fopen(request->file, "we");
	if (!to)
		return fail("%s: %s", name, strerror(errno));
	if (!options.json && isatty(STDERR_FILENO))
		fprintf(stderr, "capturing; Ctrl-C ends it\n");
	/* Until here a signal ends the program, since nothing has been written. */
	end = catch_end();
	status = end < 0 ? fail("cannot create a signalfd: %s", strerror(errno)) :
			   copy(to, name, end);
	if (end >= 0)
		close(end);
	if (request->file && fclose(to) && !status)
		status = fail("%s: %s", name, strerror(errno));
	return status;
}

static int capture_run(struct args *args)
{
	struct request request = { .file = NULL };
	struct nl nl;
	int status;

	status = read_request(args, &request);
	if (!status && !options.server)
		status = misuse("capture needs --server DIR; packets of the kernel are in its tracepoint angara:angara_packet");
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = capture(&nl, &request);
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ NULL, "[FILE] [dev DEV]",
	  "packets of an angara-vfio as pcapng, until it is interrupted",
	  capture_run, 0 },
};

const struct object capture_object = {
	"capture", "packets, for Wireshark", commands, ARRAY_SIZE(commands),
};
