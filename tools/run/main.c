// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-run: start the processes of a job on one machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"

/*
 * Keep descriptors 0, 1 and 2 for input and output, even if the launcher starts
 * without them: otherwise a line could go into another file.
 */
static void files_open(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct run_opts opts;
	struct run_job job = { .opts = &opts };
	int status;

	files_open();
	status = run_opts_parse(&opts, argc, argv);
	if (status >= 0)
		goto out;
	/* Standard error is line buffered: one write per line. */
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
