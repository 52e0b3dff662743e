// SPDX-License-Identifier: GPL-2.0-only
/*
 * SIGKILL of a process of a job at a random time: the other processes get errors
 * from the library before a deadline, and nothing is left behind.
 * ANGARA_TEST_SEED repeats the times.
 *
 * The program uses the harness of kselftest, and helpers of selftests/kselftest,
 * which count the objects that the driver holds for processes.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "at_harness.h"
#include "angtest.h"
#include "nl.h"
#include "survivors.h"

#define MEMBER	"--member"

/* Runs before the harness, since this may be a process of a job. */
static void __attribute__((constructor)) as_member(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], MEMBER))
		_exit(job_member(argv[2]));
}

AT_REQUIRE(AT_ROOT | AT_TORUS)

FIXTURE(survivors) {
	struct at_usage use;
	char path[64];
	char program[256];
	struct job_shared *sh;
	pid_t launcher;
	unsigned long seed;
};

FIXTURE_SETUP(survivors)
{
	int fd;

	ASSERT_EQ(0, at_usage(&self->use));
	ASSERT_LT(0, readlink("/proc/self/exe", self->program,
			      sizeof(self->program) - 1));
	fd = memfd_create("angara-job", MFD_CLOEXEC);
	ASSERT_LE(0, fd);
	snprintf(self->path, sizeof(self->path), "/proc/%d/fd/%d", getpid(),
		 fd);
	ASSERT_EQ(0, ftruncate(fd, sizeof(*self->sh)));
	self->sh = mmap(NULL, sizeof(*self->sh), PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, self->sh);
	self->seed = at_seed();
	TH_LOG("ANGARA_TEST_SEED=%lu", self->seed);
}

FIXTURE_TEARDOWN(survivors)
{
	if (self->launcher > 0) {
		kill(self->launcher, SIGTERM);
		at_wait_child(self->launcher, AT_DEADLINE_MS);
	}
}

/* Starts eight processes that make teams, use them and destroy them. */
static int launch(FIXTURE_DATA(survivors) *self)
{
	memset(self->sh, 0, sizeof(*self->sh));
	self->launcher = fork();
	if (self->launcher)
		return self->launcher < 0 ? -errno : 0;
	execlp("angara-run", "angara-run", "-n", "8", "--keep-going",
	       "--timeout", "200", self->program, MEMBER, self->path, NULL);
	_exit(127);
}

/* Waits until all processes are in their loops.  Return: false: timeout, or a process has ended. */
static bool running(FIXTURE_DATA(survivors) *self)
{
	uint64_t end = at_now_ms() + AT_DEADLINE_MS;
	unsigned int i;

	for (i = 0; i < JOB_SIZE; i++)
		while (!self->sh->p[i].rounds) {
			if (at_now_ms() > end || self->sh->p[i].result)
				return false;
			usleep(1000);
		}
	return true;
}

TEST_F(survivors, of_a_team)
{
	unsigned int i, k, victim, rounds = at_scale(8);
	unsigned long state = self->seed;

	if (at_run_command("command -v angara-run >/dev/null"))
		SKIP(return, "angara-run is not in the PATH");
	for (k = 0; k < rounds; k++) {
		ASSERT_EQ(0, launch(self));
		ASSERT_TRUE(running(self)) {
			for (i = 0; i < JOB_SIZE; i++)
				TH_LOG("rank %u: %d, round %u", i,
				       self->sh->p[i].result,
				       self->sh->p[i].rounds);
		}
		victim = at_rand(&state, JOB_SIZE);
		usleep(at_rand(&state, 100000));
		ASSERT_EQ(0, kill(self->sh->p[victim].pid, SIGKILL));
		EXPECT_LE(0, at_wait_child(self->launcher,
					   2 * AT_DEADLINE_MS));
		self->launcher = 0;
		for (i = 0; i < JOB_SIZE; i++) {
			if (i == victim)
				continue;
			EXPECT_GT(0, self->sh->p[i].result) {
				TH_LOG("victim %u: rank %u ended with %d in %s",
				       victim, i, self->sh->p[i].result,
				       job_steps[self->sh->p[i].step]);
			}
			EXPECT_NE(-ETIMEDOUT, self->sh->p[i].result);
		}
		EXPECT_EQ(0, at_usage_wait(&self->use, AT_DEADLINE_MS));
	}
}

TEST_HARNESS_MAIN
