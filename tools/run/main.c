// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-run: start the processes of a job on one machine.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* One line on standard error, whole, whatever the processes write there. */
void run_say(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "angara-run: %s\n", text);
}

int main(int argc, char **argv)
{
	struct run_opts opts;
	struct run_job job = { .opts = &opts };
	int status;

	status = run_opts_parse(&opts, argc, argv);
	if (status >= 0)
		goto out;
	/* Standard error goes out line by line, in one write each. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	job.n = opts.n;
	job.procs = calloc(job.n, sizeof(*job.procs));
	if (!job.procs) {
		run_say("no memory for %u processes", job.n);
		status = RUN_EXIT_FAILURE;
		goto out;
	}
	status = opts.no_device ? 0 : run_fabric(&job);
	if (!status)
		status = opts.no_device ? 0 : run_place(&job);
	if (!status)
		status = run_loop(&job);
	run_fabric_end(&job);
	free(job.procs);
out:
	free(opts.nodes);
	return status;
}
