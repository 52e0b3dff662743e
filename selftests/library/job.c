// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A process of a job without adapters, for selftests/host/run.t and pmix.t:
 *
 *	job MODE [FILE]
 *
 * It exits with status 0 if the exchanges ended as MODE requires; else it
 * prints the difference and exits with 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <angara/angara.h>

#include "job.h"
#include "job_conn.h"

static struct angara_job *job;
static unsigned int rank, size;
static const char *file;

static int expect(const char *what, int got, int want)
{
	if (got == want)
		return 0;
	fprintf(stderr, "rank %u: %s gives %d, not %d\n", rank, what, got, want);
	return 1;
}

static void fill(unsigned char *block, size_t len, unsigned int from, unsigned int round)
{
	for (size_t i = 0; i < len; i++)
		block[i] = (unsigned char)(i * 7 + from * 13 + round * 31);
}

/* Runs one exchange among @n processes, and checks the contents. */
static int exchange(const u32 *ranks, u32 n, size_t len, unsigned int round)
{
	unsigned char *mine = malloc(len + 1), *want = malloc(len + 1);
	unsigned char *all = malloc(n * len + 1);
	int bad;

	if (!mine || !want || !all)
		return 1;
	fill(mine, len, rank, round);
	bad = expect("exchange", ang_job_exchange(job, ranks, n, round, mine, len, all),
		     0);
	for (u32 i = 0; !bad && i < n; i++) {
		fill(want, len, ranks ? ranks[i] : i, round);
		bad = expect("block", memcmp(all + i * len, want, len), 0);
	}
	free(mine);
	free(want);
	free(all);
	return bad;
}

static int mode_gather(void)
{
	static const size_t lens[] = { 0, 1, 8, 4095, 65536, 3 };
	int bad = 0;

	for (unsigned int i = 0; !bad && i < 12; i++)
		bad = exchange(NULL, size, lens[i % 6], i);
	return bad | expect("barrier", angara_job_barrier(job), 0);
}

/*
 * Odd and even ranks exchange separately, at different speeds, then all
 * together.
 */
static int mode_groups(void)
{
	u32 *ranks = malloc(size * sizeof(*ranks));
	u32 n = 0, round;
	int bad = 0;

	for (u32 r = rank % 2; r < size; r += 2)
		ranks[n++] = r;
	for (round = 0; !bad && round < 20 + 30 * (rank % 2); round++)
		bad = exchange(ranks, n, 100, round);
	free(ranks);
	return bad | exchange(NULL, size, 10, 99);
}

static int mode_uneven(void)
{
	char block[8] = { 0 };
	char *all = malloc(size * sizeof(block));
	size_t len = rank == size - 1 ? 8 : 4;
	int bad = expect("uneven", angara_job_allgather(job, block, len, all),
			 -EMSGSIZE);

	free(all);
	return bad | expect("barrier", angara_job_barrier(job), 0) |
	       expect("too long", angara_job_allgather(job, NULL, 65537, NULL),
		      -EINVAL);
}

/*
 * One process leaves, in a way given by the mode; every later exchange of the
 * other processes fails.  With PMIx it may fail with a timeout: PMIx does not
 * notify all processes if one leaves regularly.
 */
static int survive(void)
{
	int first = angara_job_barrier(job);

	if (first != -ETIMEDOUT || !job->pmix)
		first = expect("barrier", first, -EPIPE) ? 0 : -EPIPE;
	return !first || expect("barrier", angara_job_barrier(job), first);
}

static int mode_leave(void)
{
	return rank == 1 ? 0 : survive();
}

static int mode_die(void)
{
	if (rank != 1)
		return survive();
	usleep(50000);
	raise(SIGKILL);
	return 1;
}

/* A malformed request ends the connection, and has no other effect. */
static int mode_garbage(void)
{
	struct ang_job_request req = { .magic = ANG_JOB_MAGIC, .nranks = 2 };
	u32 twice[2] = { 0, 0 };

	if (rank == 1) {
		if (write(job->fd, "this is not a request at all......", 34) < 0)
			return 1;
		return survive();
	}
	if (rank == 2) {
		if (write(job->fd, &req, sizeof(req)) < 0 ||
		    write(job->fd, twice, sizeof(twice)) < 0)
			return 1;
	}
	return survive();
}

/*
 * A launcher sends more data than requested: the rest must not count as a later
 * reply.
 */
static int mode_liar(void)
{
	u32 all[2], value = 0;

	return expect("allgather", angara_job_allgather(job, &value, sizeof(value), all),
		      -EPIPE) |
	       expect("barrier", angara_job_barrier(job), -EPIPE);
}

/*
 * All processes get the same key, which is in no process's environment; a
 * second request needs no other process.  Keys of jobs differ: the test
 * compares the key with those in FILE.
 */
static int mode_key(void)
{
	extern char **environ;
	u64 key = 0, again = 0;
	u64 *all = calloc(size, sizeof(*all));
	char text[32];
	int bad;

	bad = expect("key", ang_job_key(job, &key), 0) | expect("the key is 0", !key, 0) |
	      expect("gather", angara_job_allgather(job, &key, sizeof(key), all), 0);
	for (u32 r = 0; r < size; r++)
		bad |= expect("equal", all[r] != key, 0);
	free(all);
	for (u32 base = 0; base < 2; base++) {
		snprintf(text, sizeof(text), base ? "%llx" : "%llu",
			 (unsigned long long)key);
		for (char **e = environ; *e; e++)
			bad |= expect("the key is in the environment", strstr(*e, text) != NULL, 0);
	}
	if (!bad && !rank) {
		FILE *f = fopen(file, "a");

		bad = !f || fprintf(f, "%s\n", text) < 0 || fclose(f);
	}
	/* Only the last process asks for the key again. */
	if (rank == size - 1)
		bad |= expect("again", ang_job_key(job, &again), 0) |
		       expect("another key at the second call", again != key, 0);
	return bad;
}

/* Finds @what in the writable memory of the parent. */
static unsigned int found_in_parent(const void *what, size_t len)
{
	unsigned int found = 0;
	char path[64], line[512];
	int mem;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
	mem = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%d/maps", getppid());
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char *copy;
		ssize_t n;

		/* Sanitizers map terabytes for their own use. */
		if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || to - from > 64 << 20)
			continue;
		copy = malloc(to - from);
		n = copy ? pread(mem, copy, to - from, (off_t)from) : -1;
		if (n > 0 && memmem(copy, (size_t)n, what, len)) {
			fprintf(stderr, "in %s", line);
			found++;
		}
		free(copy);
	}
	if (maps)
		fclose(maps);
	if (mem < 0 || !maps)
		return expect("memory of the launcher", -errno, 0);
	close(mem);
	return found;
}

/* The launcher has passed the key on and erased its copy. */
static int mode_wiped(void)
{
	u64 key = 0;
	int bad = expect("key", ang_job_key(job, &key), 0) |
		  expect("barrier", angara_job_barrier(job), 0);

	if (!rank)
		bad |= expect("found", (int)found_in_parent(&key, sizeof(key)), 0);
	return bad | expect("barrier", angara_job_barrier(job), 0);
}

static int mode_single(void)
{
	u32 value = 42, all = 0;
	char name[257];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	return expect("long name", angara_job_place(name, 0, 1), -EINVAL) |
	       expect("no name", angara_job_place("", 0, 1), -EINVAL) |
	       expect("rank of place", angara_job_place("x", 2, 2), -EINVAL) |
	       expect("place", angara_job_place(name + 1, 1, 2), 0) |
	       expect("size", (int)size, 1) | expect("rank", (int)rank, 0) |
	       expect("allgather", angara_job_allgather(job, &value, 4, &all), 0) |
	       expect("value", (int)all, 42) |
	       expect("barrier", angara_job_barrier(job), 0);
}

static const char *sign_of(unsigned int r, char *buf, size_t len)
{
	snprintf(buf, len, "%s.%u", file, r);
	return buf;
}

static void sign_await(unsigned int r)
{
	char sign[256];

	while (access(sign_of(r, sign, sizeof(sign)), F_OK))
		usleep(10000);
}

static int sign(void)
{
	char buf[256];

	return creat(sign_of(rank, buf, sizeof(buf)), 0600) < 0;
}

/* One process joins only after the others have timed out. */
static int mode_absent(void)
{
	if (rank == size - 1) {
		for (unsigned int r = 0; r < rank; r++)
			sign_await(r);
		return 0;
	}
	return expect("barrier", angara_job_barrier(job), -ETIMEDOUT) |
	       expect("barrier", angara_job_barrier(job), -ETIMEDOUT) | sign();
}

/* Every third process joins, so more processes are missing than the message lists. */
static int mode_third(void)
{
	if (rank % 3 == 0)
		return expect("barrier", angara_job_barrier(job), -ETIMEDOUT) | sign();
	for (unsigned int r = 0; r < size; r += 3)
		sign_await(r);
	return 0;
}

/* The last process joins too late.  The others continue without it. */
static int mode_slow(void)
{
	u32 others[64], n;

	if (rank == size - 1) {
		for (unsigned int r = 0; r < rank; r++)
			sign_await(r);
		return expect("barrier", angara_job_barrier(job), -ETIMEDOUT);
	}
	for (n = 0; n < size - 1; n++)
		others[n] = n;
	return expect("barrier", angara_job_barrier(job), -ETIMEDOUT) |
	       exchange(others, n, 100, 1) | sign();
}

/* A process joins again: while it is in the job, then after all have left. */
static int mode_again(void)
{
	struct angara_job *first = job;
	int bad = 0;

	for (unsigned int i = 0; !bad && i < 3; i++) {
		bad = expect("init", angara_job_init(&job), 0) ||
		      exchange(NULL, size, 100, i);
		angara_job_finalize(first);
		first = job;
	}
	angara_job_finalize(job);
	/* With PMIx, blocks of a process that has left are no longer available. */
	return bad | expect("init", angara_job_init(&job), 0) ||
	       exchange(NULL, size, 100, 3) ||
	       expect("barrier", angara_job_barrier(job), 0);
}

/*
 * Every process gets an error for a team without contexts, and the job
 * continues.
 */
static int mode_teamless(void)
{
	unsigned int wrong[2] = { 1, 1 };
	struct angara_team *team;

	return expect("no context", angara_team_create(job, NULL, NULL, 0, NULL, &team),
		      -EINVAL) |
	       expect("bad list", angara_team_create(job, NULL, wrong, 2, NULL, &team),
		      -EINVAL) |
	       expect("destroy", angara_team_destroy(NULL), 0) |
	       expect("barrier", angara_job_barrier(job), 0);
}

/*
 * Process 1 gets no notification, see pmix-deaf.c; the others do not wait for
 * it.
 */
static int mode_deaf(void)
{
	return expect("barrier", angara_job_barrier(job), rank == 1 ? -EPIPE : 0);
}

/* Connects to the listening socket of this process, and sends @len bytes. */
static int intrude(const void *what, size_t len)
{
	struct sockaddr_in at;
	int on, fd, to = -1;
	socklen_t n;

	for (fd = 3; fd < 256; fd++) {
		n = sizeof(on);
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) || !on ||
		    !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			continue; /* the launcher's socket */
		n = sizeof(at);
		if (getsockname(fd, (struct sockaddr *)&at, &n))
			continue;
		to = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(to, (struct sockaddr *)&at, n) ||
		    send(to, what, len, MSG_NOSIGNAL) != (ssize_t)len)
			return -1;
	}
	return to;
}

/*
 * Strangers, silent or with a forged hello, are refused and do not delay the
 * job.  They use the protocol of job_conn.h, but do not know the key of its
 * MACs, which is the random word in a process's card.
 */
static int mode_stranger(void)
{
	struct {
		struct ang_conn_hello hello;
		struct ang_conn_proof proof;
		struct ang_conn_head head;
	} lie = {
		.hello = {
			.magic = ANG_CONN_MAGIC, .from = (rank + size - 1) % size,
		},
		.head = { .status = -EIO },
	};

	for (int i = 0; i < 200; i++)
		if (expect("a stranger connects", intrude(&lie, i % 2 ? sizeof(lie) : 4) < 0, 0))
			return 1;
	return mode_gather();
}

/*
 * Once all have joined, the library sends no more requests to the PMI server.
 */
static int mode_quiet(void)
{
	int fd = atoi(getenv("PMI_FD")), kept = dup(fd), pair[2], bad;
	u64 key;

	if (kept < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    dup2(pair[0], fd) < 0)
		return 1;
	close(pair[0]);
	close(pair[1]);
	bad = expect("key", ang_job_key(job, &key), 0) | mode_gather();
	/* angara_job_finalize() sends a last request. */
	if (dup2(kept, fd) < 0)
		return 1;
	close(kept);
	return bad;
}

static const struct {
	const char *name;
	int (*run)(void);
} modes[] = {
	{ "gather", mode_gather }, { "groups", mode_groups },
	{ "uneven", mode_uneven }, { "leave", mode_leave },
	{ "die", mode_die }, { "garbage", mode_garbage },
	{ "liar", mode_liar }, { "wiped", mode_wiped },
	{ "single", mode_single }, { "teamless", mode_teamless },
	{ "absent", mode_absent }, { "third", mode_third },
	{ "slow", mode_slow }, { "again", mode_again },
	{ "deaf", mode_deaf }, { "key", mode_key },
	{ "stranger", mode_stranger }, { "quiet", mode_quiet },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int ret;

	file = argc > 2 ? argv[2] : "";
	ret = angara_job_init(&job);
	if (!strcmp(name, "damaged"))
		return expect("init", ret, -EINVAL);
	if (!strcmp(name, "gone"))
		return expect("init", ret, -EPIPE);
	if (!strcmp(name, "late"))
		return expect("init", ret, -ETIMEDOUT);
	if (!strcmp(name, "lacking"))
		return expect("init", ret, -ELIBACC);
	if (expect("init", ret, 0))
		return 1;
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (strcmp(name, modes[i].name))
			continue;
		ret = modes[i].run();
		angara_job_finalize(job);
		return ret;
	}
	fprintf(stderr, "unknown mode '%s'\n", name);
	return 1;
}
