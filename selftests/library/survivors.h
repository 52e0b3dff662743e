/* SPDX-License-Identifier: GPL-2.0-only */
/* What survivors.c and the processes of its job share. */
#ifndef ANG_SURVIVORS_H
#define ANG_SURVIVORS_H

#include <sys/types.h>

#define JOB_SIZE	8

enum job_step {
	JOB_START,
	JOB_TEAM_CREATE,
	JOB_BARRIER,
	JOB_ALLREDUCE,
	JOB_BCAST,
	JOB_PUT,
	JOB_TEAM_DESTROY,
	JOB_STEPS
};

__attribute__((unused))
static const char *const job_steps[JOB_STEPS] = {
	"start", "team create", "barrier", "allreduce", "broadcast", "put",
	"team destroy",
};

/**
 * struct job_shared - state that the processes write and the test reads
 * @pid: process of that rank
 * @step: current step
 * @rounds: teams made and destroyed
 * @result: 0 while the process runs, then why it ended: -errno, or 1 for wrong data
 */
struct job_shared {
	struct {
		volatile pid_t pid;
		volatile int step;
		volatile unsigned int rounds;
		volatile int result;
	} p[JOB_SIZE];
};

/* Main function of a process of the job; @path: file with struct job_shared. */
int job_member(const char *path);

#endif /* ANG_SURVIVORS_H */
