// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Repeatedly kills a process of a job at a random instruction, and checks the
 * other processes.
 *
 *	kill ROUNDS [SEED [stop]]
 *
 * A round is a job of several processes on an embedded fabric that do
 * collectives and puts in a loop.  One of them is stopped at a random time,
 * runs for a random number of single steps, and is killed.  In some rounds
 * another process is killed while the rest recover.  The survivors must get an
 * error in time, of a kind that a death causes.  After that their contexts must
 * work, or new ones that they open.
 *
 * With "stop" the process is not killed. It stays stopped until all others have
 * got an error, which may be a timeout, and work again. Then it continues, and
 * must get an error and work again, too.
 *
 * Each process has a node of its own.  A death resets the nodes that the
 * process held in the model: survivors on at most MAX_TORN nodes lose their
 * contexts.
 *
 * All rounds run on one fabric. Bystanders, a job on other nodes, use it from
 * the first round to the last: they do the same operations, must not get any
 * error, and must make progress after each round. In the end nothing is left in
 * /dev/shm.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <angara/angara.h>

#include "../library/pending.h"
#include "../common/alone.h"

#define LIMIT_MS	60000	/* limit for an error to arrive */
#define SHORT_MS	4000	/* limit for processes that wait for a
				 * stopped one */
#define MAX_PROCS	6
#define MAX_STEPS	3000	/* most single steps before the kill */
#define MAX_DELAY_US	4000
#define MAX_SECOND_US	120000	/* most microseconds until another process is
				 * killed
				 */
#define BYSTANDERS	3
#define MAX_TORN	3U	/* limit of nodes that a thread holds in the
				 * model: the node that it advances, a
				 * neighbor, and the next one */
#define TOPOLOGY	"8x2"
#define NODES		"0-7"	/* nodes of the jobs that lose processes */
#define OTHER_NODES	"8-15"	/* nodes of the bystanders; no route connects
				 * the two sets */

/* State of the bystanders, in shared memory. */
struct stand {
	unsigned int stop;
	unsigned int errors;
	unsigned long done[BYSTANDERS];
};

static unsigned int rnd(unsigned long *state, unsigned int below)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned int)(*state >> 33) % below;
}

/* Operations of the job that loses a process, and of the bystanders. */

static int limit_ms = LIMIT_MS;

struct worker {
	struct angara_job *job;
	struct angara_ctx *ctx;
	struct angara_team *team;
	struct angara_mr *mr;
	struct angara_peer next;
	unsigned int rank, size, node;
};

static int finish(struct worker *w, int ret, struct pending *req)
{
	return ret ? ret : pending_wait(w->ctx, req, limit_ms);
}

static int allreduce(struct worker *w, unsigned int count)
{
	int32_t *data = angara_mr_addr(w->mr);
	struct pending req = { 0 };
	unsigned int i;
	int ret;

	for (i = 0; i < count; i++)
		data[i] = (int32_t)(w->rank + i);
	ret = angara_allreduce_nbi(w->team, w->mr, 32768, w->mr, 0, count,
				   ANGARA_TYPE_INT32, ANGARA_RED_SUM, pending_op(&req));
	ret = finish(w, ret, &req);
	for (i = 0; !ret && i < count; i++)
		if (data[8192 + i] != (int32_t)(w->size * (w->size - 1) / 2 +
						w->size * i))
			return -EBADMSG;
	return ret;
}

static int barrier(struct worker *w)
{
	struct pending req = { 0 };
	int ret = angara_barrier_nbi(w->team, pending_op(&req));

	return finish(w, ret, &req);
}

static int put(struct worker *w, struct angara_peer to, size_t len)
{
	struct pending req = { 0 };
	int ret = angara_put_nbi(w->ctx, to, angara_mr_key(w->mr), 65536, w->mr,
				 0, len, pending_notify(&req, 0));

	return finish(w, ret, &req);
}

static int bcast(struct worker *w, unsigned int from, size_t len)
{
	struct pending req = { 0 };
	int ret = 0;

	if (from == w->rank) {
		ret = angara_bcast_nbi(w->team, angara_mr_key(w->mr), 65536,
				       w->mr, 0, len, pending_op(&req));
		ret = finish(w, ret, &req);
	}
	return ret ? ret : barrier(w);
}

static int one_of_all(struct worker *w, unsigned long *seed)
{
	switch (rnd(seed, 4)) {
	case 0:
		/* A short reduction may use a board. */
		return allreduce(w, 1 + rnd(seed, rnd(seed, 2) ? 64 : 2000));
	case 1:
		return barrier(w);
	case 2:
		return put(w, w->next, rnd(seed, 20000));
	default:
		return bcast(w, rnd(seed, w->size), rnd(seed, 20000));
	}
}

static int churn(struct worker *w, unsigned long seed)
{
	int ret = 0;

	while (!ret)
		ret = one_of_all(w, &seed);
	return ret;
}

static int set_up(struct worker *w)
{
	struct angara_peer all[MAX_PROCS];
	struct angara_peer self;
	int ret;

	ret = angara_job_init(&w->job);
	if (ret)
		return ret;
	w->rank = angara_job_rank(w->job);
	w->size = angara_job_size(w->job);
	ret = alone_open(NULL, NULL, &w->ctx);
	if (ret)
		return ret;
	self = alone_self(w->ctx);
	w->node = self.node;
	ret = angara_job_allgather(w->job, &self, sizeof(self), all);
	w->next = all[(w->rank + 1) % w->size];
	if (!ret)
		ret = angara_team_create(w->job, w->ctx, NULL, 0, NULL, &w->team);
	if (!ret)
		ret = angara_team_malloc(w->team, 131072, &w->mr);
	return ret;
}

static int put_to_self(struct worker *w)
{
	return put(w, alone_self(w->ctx), 5000);
}

/*
 * Checks that the fabric works for a process that continues.  If the context of
 * the process was reset, the process opens a new one.
 */
static int go_on(struct worker *w)
{
	int ret = -ENODEV;

	/* Destroying a team waits for all members, also for a stopped one. */
	if (limit_ms == LIMIT_MS)
		angara_team_destroy(w->team);
	if (w->mr)
		ret = put_to_self(w);
	/* Other processes may give up a stopped process during this operation, too. */
	if (ret == -ENODEV || (limit_ms != LIMIT_MS && ret == -ECONNRESET)) {
		angara_ctx_close(w->ctx);
		ret = alone_open(NULL, NULL, &w->ctx);
		if (!ret)
			ret = alone_malloc(w->ctx, 131072, &w->mr);
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
	/*
	 * EPIPE comes from a launcher, ENOTCONN from the end of a team, ENOKEY
	 * from a peer that has reopened a context.
	 */
	if (end != -ENODEV && end != -ECONNRESET && end != -EHOSTUNREACH &&
	    end != -ENETDOWN && end != -ENETUNREACH && end != -ENOTCONN &&
	    end != -EPIPE && end != -ENOKEY &&
	    (end != -ETIMEDOUT || limit_ms == LIMIT_MS)) {
		printf("rank %u: %s\n", w.rank, strerror(-end));
		return 1;
	}
	ret = go_on(&w);
	if (ret) {
		printf("rank %u after %s: %s\n", w.rank, strerror(-end),
		       strerror(-ret));
		return 1;
	}
	printf("%s %u %u\n", end == -ENODEV ? "reset" : "fine", w.rank, w.node);
	return 0;
}

/* Runs a bystander; @file is where it reports. */
static int stand_by(unsigned long seed, const char *file)
{
	int fd = open(file, O_RDWR | O_CLOEXEC);
	struct worker w = { 0 };
	struct stand *stand;
	int ret;

	stand = mmap(NULL, sizeof(*stand), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (stand == MAP_FAILED)
		err(1, "%s", file);
	ret = set_up(&w);
	while (!ret && !__atomic_load_n(&stand->stop, __ATOMIC_ACQUIRE)) {
		ret = one_of_all(&w, &seed);
		if (!ret)
			__atomic_fetch_add(&stand->done[w.rank], 1,
					   __ATOMIC_RELEASE);
	}
	/*
	 * The first bystander that sees the end returns without an error, and
	 * must not disturb the others.
	 */
	if (!ret || __atomic_load_n(&stand->stop, __ATOMIC_ACQUIRE))
		return 0;
	__atomic_fetch_add(&stand->errors, 1, __ATOMIC_RELEASE);
	printf("# bystander %u: %s\n", w.rank, strerror(-ret));
	return 1;
}

/* The parameters of a round, and what has happened in it. */

struct round {
	unsigned int n;
	unsigned int victim;
	bool early;
	unsigned int delay_us;
	unsigned int steps;
	unsigned int second;	/* rank of the second victim, n for none */
	unsigned int second_us;
	unsigned long seed;
	pid_t launcher;
	pid_t pids[MAX_PROCS];
	FILE *out;
	unsigned int killed, reset, fine;
	unsigned long torn;	/* nodes whose contexts were reset, one bit each */
	bool wrong;
};

static char fabric[64];
static bool stops;	/* processes are stopped, not killed */
static unsigned int missed;	/* rounds whose victim ended too early */
static struct stand *stand;
static pid_t standers;

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
		/* The launcher's message about a killed process is expected. */
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 2);
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		execlp("angara-run", "angara-run", "-n", n, "--keep-going",
		       "--timeout", "60", "--fabric", fabric, "--nodes", NODES,
		       self, stops ? "wait" : "work", seed, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	r->out = fdopen(fds[0], "r");
	if (!r->out)
		err(1, "fdopen");
}

static void stand_start(const char *self)
{
	int fd = memfd_create("kill-test", 0);
	char file[64], n[16];

	if (fd < 0 || ftruncate(fd, sizeof(*stand)))
		err(1, "memfd");
	stand = mmap(NULL, sizeof(*stand), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (stand == MAP_FAILED)
		err(1, "mmap");
	snprintf(file, sizeof(file), "/proc/%d/fd/%d", getpid(), fd);
	snprintf(n, sizeof(n), "%d", BYSTANDERS);
	fflush(stdout);
	standers = fork();
	if (standers < 0)
		err(1, "fork");
	if (!standers) {
		/* If this test ends by an error, the launcher ends the bystanders. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execlp("angara-run", "angara-run", "-n", n, "--fabric", fabric,
		       "--nodes", OTHER_NODES, self, "stand", "1", file,
		       (char *)NULL);
		_exit(127);
	}
}

/* Return: have all bystanders made progress since @before? */
static bool stand_goes_on(const struct stand *before)
{
	unsigned int ms, i = 0;

	for (ms = 0; ms < LIMIT_MS && i < BYSTANDERS; ms++) {
		if (__atomic_load_n(&stand->errors, __ATOMIC_ACQUIRE))
			return false;
		if (__atomic_load_n(&stand->done[i], __ATOMIC_ACQUIRE) >
		    before->done[i])
			i++;
		else
			usleep(1000);
	}
	return i == BYSTANDERS;
}

static bool stand_end(void)
{
	int status;

	__atomic_store_n(&stand->stop, 1, __ATOMIC_RELEASE);
	if (waitpid(standers, &status, 0) != standers)
		err(1, "waitpid");
	return !stand->errors;
}

/* Waits until the victim begins, or until all processes are working. */
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

/*
 * Stops the victim, lets it run single steps, and kills it (and a second
 * victim), or leaves it stopped.  Return: false if the victim had already
 * ended, as on a busy machine.
 */
static bool strike(struct round *r)
{
	pid_t pid = r->pids[r->victim];
	unsigned int i;
	int status;

	usleep(r->delay_us);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL)) {
		/*
		 * EPERM: the victim has ended, and its parent has not waited
		 * for it.
		 */
		if (errno == ESRCH || errno == EPERM)
			return false;
		err(1, "ptrace");
	}
	if (waitpid(pid, &status, __WALL) != pid)
		err(1, "waitpid");
	for (i = 0; i < r->steps; i++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			break;
	}
	if (stops) {
		ptrace(PTRACE_DETACH, pid, NULL, (void *)SIGSTOP);
		return true;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
	r->killed = 1;
	if (r->second >= r->n || !r->pids[r->second])
		return true;
	usleep(r->second_us);
	kill(r->pids[r->second], SIGKILL);
	r->killed++;
	return true;
}

/* Reads the next report.  Return: false if there is none, or it is wrong. */
static bool report(struct round *r)
{
	unsigned int rank, node;
	char line[256];

	while (fgets(line, sizeof(line), r->out)) {
		if (sscanf(line, "reset %u %u", &rank, &node) == 2 && node < 64) {
			r->torn |= 1UL << node;
			return ++r->reset;
		}
		if (!strncmp(line, "fine ", 5))
			return ++r->fine;
		if (strncmp(line, "begins ", 7) && strncmp(line, "ready ", 6)) {
			printf("# %s", line);
			r->wrong = true;
			return false;
		}
	}
	return false;
}

/*
 * Reads the reports of the survivors.  A killed process may have reported
 * before its end, if it was single-stepped for so long that the others
 * continued without it.  Return: all have reported, and there is no other
 * report?
 */
static bool survivors(struct round *r)
{
	while (report(r))
		;
	return !r->wrong && r->reset + r->fine >= r->n - r->killed;
}

/* Reads the reports of all but the stopped process, then that of the stopped one. */
static bool waiters(struct round *r)
{
	while (r->reset + r->fine < r->n - 1 && report(r))
		;
	if (r->reset + r->fine < r->n - 1)
		return false;
	kill(r->pids[r->victim], SIGCONT);
	return report(r) && !report(r) && !r->wrong;
}

/* Return: number of nodes that a round has reset. */
static unsigned int torn(const struct round *r)
{
	return (unsigned int)__builtin_popcountl(r->torn);
}

static bool one_round(struct round *r, const char *self)
{
	struct stand before;
	bool good, struck = false;
	int status;

	launch(r, self);
	good = all_ready(r);
	if (good) {
		struck = strike(r);
		missed += !struck;
		before = *stand;
		good = stops && struck ? waiters(r) : survivors(r);
		/* If others fail, kill the stopped process, so that the round ends. */
		if (stops && struck && !good)
			kill(r->pids[r->victim], SIGKILL);
	}
	fclose(r->out);
	if (waitpid(r->launcher, &status, 0) != r->launcher)
		err(1, "waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		errx(1, "angara-run is not in PATH");
	if (good && torn(r) > MAX_TORN * (stops ? struck : r->killed))
		good = !printf("# %u nodes were reset\n", torn(r));
	if (good && !stand_goes_on(&before))
		good = !printf("# the bystanders make no progress\n");
	return good;
}

static bool round_run(unsigned long seed, const char *self, unsigned int *resets)
{
	unsigned long state = seed;
	struct round r = {
		.n = 2 + rnd(&state, MAX_PROCS - 1),
		.delay_us = rnd(&state, MAX_DELAY_US),
		.steps = rnd(&state, MAX_STEPS),
		.early = rnd(&state, 4) == 0 && !stops,
		.second_us = rnd(&state, MAX_SECOND_US),
		.seed = seed,
	};

	r.victim = rnd(&state, r.n);
	r.second = rnd(&state, 4) ? r.n : rnd(&state, r.n);
	if (r.second == r.victim || r.n == 2 || stops)
		r.second = r.n;
	if (!one_round(&r, self)) {
		printf("# seed %lu: %u processes, rank %u %s after %u us and %u instructions, %u killed: %u fine, %u reset\n",
		       seed, r.n, r.victim, r.early ? "begins," : "at work,",
		       r.delay_us, r.steps, r.killed, r.fine, r.reset);
		return false;
	}
	resets[torn(&r)]++;
	return true;
}

/* A bystander that has not begun yet may miss a death, so wait until all work. */
static bool stand_begins(void)
{
	static const struct stand nothing;

	return stand_goes_on(&nothing);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	unsigned long seed = argc > 2 ? strtoul(argv[2], NULL, 0) :
					(unsigned long)time(NULL);
	unsigned int i, bad = 0, resets[65] = { 0 };
	char file[96];

	if (argc == 3 && !strcmp(argv[1], "work"))
		return work(seed);
	if (argc == 3 && !strcmp(argv[1], "wait")) {
		limit_ms = SHORT_MS;
		return work(seed);
	}
	if (argc == 4 && !strcmp(argv[1], "stand"))
		return stand_by(seed, argv[3]);
	if (!rounds || argc > 4 || (argc == 4 && strcmp(argv[3], "stop")))
		errx(2, "usage: kill ROUNDS [SEED [stop]]");
	stops = argc == 4;
	snprintf(fabric, sizeof(fabric), "embedded:" TOPOLOGY ",name=kill-%d",
		 getpid());
	snprintf(file, sizeof(file), "/dev/shm/angara-%u-kill-%d", geteuid(),
		 getpid());
	stand_start(argv[0]);
	if (!stand_begins())
		errx(1, "the job on the other nodes does not start");
	for (i = 0; i < rounds && !stand->errors; i++) {
		if (isatty(2) && i % 10 == 0)
			fprintf(stderr, "\r%u of %u rounds", i, rounds);
		bad += !round_run(seed + i, argv[0], resets);
	}
	if (isatty(2))
		fputc('\n', stderr);
	if (!stand_end())
		bad++;
	if (!access(file, F_OK))
		bad += printf("# %s is left\n", file) > 0;
	if (missed > rounds / 2)
		bad += printf("# in %u of %u rounds the victim ended too early\n",
			      missed, rounds) > 0;
	printf("%u rounds from seed %lu: %u wrong; survivors lost no node in %u, one in %u, two in %u, three in %u; %lu operations of %d bystanders, %u errors\n",
	       i, seed, bad, resets[0], resets[1], resets[2], resets[3],
	       stand->done[0] + stand->done[1] + stand->done[2], BYSTANDERS,
	       stand->errors);
	return bad != 0;
}
