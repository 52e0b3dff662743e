// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fabric of a job.  An embedded fabric without a name is a file that only
 * the processes of the job have open, so it disappears when they have ended in
 * any way.  An embedded fabric with a name is shared with other programs of the
 * user.  The last process that leaves the fabric removes it.  If that process was
 * killed, the launcher removes the fabric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "embed/name.h"
#include "run.h"

static int from_environment(struct ang_spec *spec)
{
	const struct ang_spec any = { .kind = ANG_FABRIC_CDEV };
	const char *text = getenv(ANG_ENV_FABRIC);
	const char *why;
	u32 number;

	if (!text) {
		*spec = (struct ang_spec){ .fd = -1 };
		if (ang_scan_cdev_first(&any, &number))
			spec->kind = ANG_FABRIC_EMBEDDED;
		return 0;
	}
	if (!ang_spec_parse(text, spec, &why))
		return 0;
	run_say("invalid " ANG_ENV_FABRIC " '%s': %s", text, why);
	return RUN_EXIT_USAGE;
}

/**
 * run_fabric() - choose the job's fabric
 * @job: job
 *
 * Return: 0, else an exit status after printing a message.
 */
int run_fabric(struct run_job *job)
{
	const struct run_opts *opts = job->opts;
	struct ang_spec *spec = &job->spec;
	int status = 0;

	if (opts->has_spec)
		*spec = opts->spec;
	else if (!opts->has_fabric)
		status = from_environment(spec);
	if (status || spec->kind != ANG_FABRIC_EMBEDDED)
		return status;
	ang_spec_size(spec, job->n);
	if (!spec->procs && job->n > ANG_EMBED_SMALL)
		spec->procs = job->n;
	if (spec->name[0] || spec->fd >= 0)
		return 0;
	spec->fd = memfd_create("angara", MFD_CLOEXEC);
	if (spec->fd >= 0)
		return 0;
	run_say("cannot make an embedded fabric: %s", strerror(errno));
	return RUN_EXIT_FAILURE;
}

/**
 * run_fabric_end() - remove the embedded fabric if the job has left it
 * @job: job that has ended
 */
void run_fabric_end(const struct run_job *job)
{
	if (job->spec.kind == ANG_FABRIC_EMBEDDED && job->spec.name[0])
		emb_name_sweep(job->spec.name);
}
