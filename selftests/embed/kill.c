// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kills a process of a job at an instruction, over and over, and looks what
 * becomes of the others.
 *
 *	kill ROUNDS [SEED]
 *
 * A round is a job of some processes on an embedded fabric that do collectives
 * and puts without end.  One of them is stopped at a random moment, goes on for
 * a random number of single instructions, and is killed.  The others must get
 * an error in time, of the kind that a death has; after it, a context of theirs
 * works, on the old fabric or a new one.  Nothing may be left in /dev/shm.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <angara/angara.h>

#define LIMIT_MS	10000	/* an error that takes longer has not come */
#define MAX_PROCS	6
#define MAX_STEPS	3000	/* single instructions before the end */
#define MAX_DELAY_US	4000

static unsigned int rnd(unsigned long *state, unsigned int below)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned int)(*state >> 33) % below;
}

/* What the processes do. */

struct worker {
	struct angara_job *job;
	struct angara_ctx *ctx;
	struct angara_team *team;
	struct angara_mr *mr;
	struct angara_peer next;
	unsigned int rank, size;
};

static int finish(struct worker *w, int ret, angara_req_t req)
{
	return ret ? ret : angara_wait(w->ctx, req, LIMIT_MS, NULL);
}

static int allreduce(struct worker *w, unsigned int count)
{
	int32_t *data = angara_mr_addr(w->mr);
	angara_req_t req = 0;
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		data[i] = (int32_t)(w->rank + i);
	ret = angara_allreduce_nbi(w->team, w->mr, 32768, w->mr, 0, count,
				   ANGARA_TYPE_INT32, ANGARA_RED_SUM, &req);
	ret = finish(w, ret, req);
	for (i = 0; !ret && i < count; i++)
		if (data[8192 + i] != (int32_t)(w->size * (w->size - 1) / 2 +
						w->size * i))
			return -EBADMSG;
	return ret;
}

static int barrier(struct worker *w)
{
	angara_req_t req = 0;
	int ret = angara_barrier_nbi(w->team, &req);

	return finish(w, ret, req);
}

static int put(struct worker *w, struct angara_peer to, size_t len)
{
	angara_req_t req = 0;
	int ret = angara_put_nbi(w->ctx, to, angara_mr_key(w->mr), 65536, w->mr,
				 0, len, 0, &req);

	return finish(w, ret, req);
}

static int bcast(struct worker *w, unsigned int from, size_t len)
{
	angara_req_t req = 0;
	int ret = 0;

	if (from == w->rank) {
		ret = angara_bcast_nbi(w->team, angara_mr_key(w->mr), 65536,
				       w->mr, 0, len, &req);
		ret = finish(w, ret, req);
	}
	return ret ? ret : barrier(w);
}

static int churn(struct worker *w, unsigned long seed)
{
	int ret = 0;

	while (!ret) {
		switch (rnd(&seed, 4)) {
		case 0:
			ret = allreduce(w, 1 + rnd(&seed, 2000));
			break;
		case 1:
			ret = barrier(w);
			break;
		case 2:
			ret = put(w, w->next, rnd(&seed, 20000));
			break;
		default:
			ret = bcast(w, rnd(&seed, w->size), rnd(&seed, 20000));
		}
	}
	return ret;
}

static int set_up(struct worker *w)
{
	struct angara_peer all[MAX_PROCS];
	struct angara_ctx_info info;
	int ret;

	ret = angara_job_init(&w->job);
	if (ret)
		return ret;
	w->rank = angara_job_rank(w->job);
	w->size = angara_job_size(w->job);
	ret = angara_ctx_open(NULL, NULL, &w->ctx);
	if (!ret)
		ret = angara_malloc(w->ctx, 131072, &w->mr);
	if (!ret)
		ret = angara_ctx_query(w->ctx, &info);
	if (!ret)
		ret = angara_job_allgather(w->job, &info.self, sizeof(info.self),
					   all);
	w->next = all[(w->rank + 1) % w->size];
	if (!ret)
		ret = angara_team_create(w->job, w->ctx, NULL, 0, NULL, &w->team);
	return ret;
}

static int put_to_self(struct worker *w)
{
	struct angara_ctx_info info;
	int ret = angara_ctx_query(w->ctx, &info);

	return ret ? ret : put(w, info.self, 5000);
}

/* The fabric serves one who goes on, or another that takes its place does. */
static int go_on(struct worker *w)
{
	int ret = -ENODEV;

	angara_team_destroy(w->team);
	if (w->mr)
		ret = put_to_self(w);
	if (ret == -ENODEV) {
		angara_ctx_close(w->ctx);
		ret = angara_ctx_open(NULL, NULL, &w->ctx);
		if (!ret)
			ret = angara_malloc(w->ctx, 131072, &w->mr);
		if (!ret)
			ret = put_to_self(w);
	}
	angara_ctx_close(w->ctx);
	return ret;
}

static int work(unsigned long seed)
{
	struct worker w = { 0 };
	int end, ret;

	printf("begins %s %d\n", getenv("ANGARA_RANK"), getpid());
	fflush(stdout);
	end = set_up(&w);
	if (!end) {
		printf("ready %u %d\n", w.rank, getpid());
		fflush(stdout);
		end = churn(&w, seed);
	}
	/* The last is of what a launcher does, the one before of a team's end. */
	if (end != -ENODEV && end != -ECONNRESET && end != -EHOSTUNREACH &&
	    end != -ENETDOWN && end != -ENOTCONN && end != -EPIPE) {
		printf("rank %u: %s\n", w.rank, strerror(-end));
		return 1;
	}
	ret = go_on(&w);
	if (ret) {
		printf("rank %u after %s: %s\n", w.rank, strerror(-end),
		       strerror(-ret));
		return 1;
	}
	printf("%s %u\n", end == -ENODEV ? "broken" : "fine", w.rank);
	return 0;
}

/* What happens to them. */

struct round {
	unsigned int n;
	unsigned int victim;
	bool early;
	unsigned int delay_us;
	unsigned int steps;
	unsigned long seed;
	pid_t launcher;
	pid_t pids[MAX_PROCS];
	FILE *out;
	unsigned int broken, fine;
};

static char fabric[64];

static void launch(struct round *r, const char *self)
{
	char n[16], seed[32];
	int fds[2];

	snprintf(n, sizeof(n), "%u", r->n);
	snprintf(seed, sizeof(seed), "%lu", r->seed);
	if (pipe(fds))
		err(1, "pipe");
	fflush(stdout);
	r->launcher = fork();
	if (r->launcher < 0)
		err(1, "fork");
	if (!r->launcher) {
		/* That a process was killed is no news. */
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		execlp("angara-run", "angara-run", "-n", n, "--keep-going",
		       "--timeout", "60", "--fabric", fabric, self, "work", seed,
		       (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	r->out = fdopen(fds[0], "r");
	if (!r->out)
		err(1, "fdopen");
}

/* Waits until the victim begins, or until all are at work. */
static bool all_ready(struct round *r)
{
	const char *sign = r->early ? "begins" : "ready";
	unsigned int ready = 0, rank;
	char line[256], word[16];
	int pid;

	while (fgets(line, sizeof(line), r->out)) {
		if (sscanf(line, "%15s %u %d", word, &rank, &pid) != 3 ||
		    rank >= r->n) {
			printf("# %s", line);
			return false;
		}
		if (strcmp(word, sign))
			continue;
		r->pids[rank] = pid;
		if (r->early ? rank == r->victim : ++ready == r->n)
			return true;
	}
	return false;
}

static void strike(struct round *r)
{
	pid_t pid = r->pids[r->victim];
	unsigned int i;
	int status;

	usleep(r->delay_us);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL))
		err(1, "ptrace");
	if (waitpid(pid, &status, __WALL) != pid)
		err(1, "waitpid");
	for (i = 0; i < r->steps; i++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			break;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
}

/* What the survivors report.  Return: did all, and nothing else? */
static bool survivors(struct round *r)
{
	bool good = true;
	char line[256];

	while (fgets(line, sizeof(line), r->out)) {
		if (!strncmp(line, "broken ", 7))
			r->broken++;
		else if (!strncmp(line, "fine ", 5))
			r->fine++;
		else if (strncmp(line, "begins ", 7) && strncmp(line, "ready ", 6))
			good = !printf("# %s", line);
	}
	return good && r->broken + r->fine == r->n - 1;
}

static bool one_round(struct round *r, const char *self, const char *file)
{
	bool good;
	int status;

	launch(r, self);
	good = all_ready(r);
	if (good) {
		strike(r);
		good = survivors(r);
	}
	fclose(r->out);
	if (waitpid(r->launcher, &status, 0) != r->launcher)
		err(1, "waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		errx(1, "angara-run is not in PATH");
	if (!access(file, F_OK))
		good = !printf("# %s is left\n", file);
	return good;
}

static bool play(unsigned long seed, const char *self, const char *file,
		 unsigned int *broken)
{
	unsigned long state = seed;
	struct round r = {
		.n = 2 + rnd(&state, MAX_PROCS - 1),
		.delay_us = rnd(&state, MAX_DELAY_US),
		.steps = rnd(&state, MAX_STEPS),
		.early = rnd(&state, 4) == 0,
		.seed = seed,
	};

	r.victim = rnd(&state, r.n);
	if (!one_round(&r, self, file)) {
		printf("# seed %lu: %u processes, rank %u %s after %u us and %u instructions: %u fine, %u broken\n",
		       seed, r.n, r.victim, r.early ? "begins," : "at work,",
		       r.delay_us, r.steps, r.fine, r.broken);
		return false;
	}
	*broken += r.broken != 0;
	return true;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) :
					(unsigned long)time(NULL);
	unsigned int i, bad = 0, broken = 0;
	char file[96];

	if (argc == 3 && !strcmp(argv[1], "work"))
		return work(seed);
	if (!rounds)
		errx(2, "usage: kill ROUNDS [SEED]");
	snprintf(fabric, sizeof(fabric), "embedded:2x2,name=kill-%d", getpid());
	snprintf(file, sizeof(file), "/dev/shm/angara-%u-kill-%d", geteuid(),
		 getpid());
	for (i = 0; i < rounds; i++) {
		if (isatty(2) && i % 10 == 0)
			fprintf(stderr, "\r%u of %u rounds", i, rounds);
		bad += !play(seed + i, argv[0], file, &broken);
	}
	if (isatty(2))
		fputc('\n', stderr);
	printf("%u rounds from seed %lu: %u wrong; the fabric broke in %u\n",
	       rounds, seed, bad, broken);
	return bad != 0;
}
