// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N wrong WAY: a program that uses SHMEM wrongly, or ends early.  It
 * returns 0 if the library does not detect that.  `wrong level N` prints what
 * shmem_init_thread() says to level N.  `wrong locale` sets the locale of the environment.
 */
#include <locale.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int me, n, word;
static long flag;

static void bad_pe(void)
{
	shmem_p(&word, 1, n);
}

static void negative_pe(void)
{
	shmem_g(&word, -1);
}

static void not_symmetric(void)
{
	int local;

	shmem_put(&local, &word, 1, 0);
}

static void too_long(void)
{
	char *p = shmem_malloc(100);

	shmem_putmem(p, p, (size_t)1 << 40, 0);
}

static void bad_stride(void)
{
	shmem_iput(&word, &word, 0, 1, 2, 0);
}

static void bad_signal(void)
{
	static uint64_t sig;

	shmem_put_signal(&word, &word, 1, &sig, 1, 7, 0);
}

static void bad_cmp(void)
{
	shmem_wait_until(&flag, 9, 0);
}

static void bad_free(void)
{
	shmem_free((char *)shmem_malloc(100) + 64);
}

static void unaligned(void)
{
	shmem_atomic_inc((int *)(void *)((char *)&flag + 2), 0);
}

static void bad_set(void)
{
	shmem_barrier(0, 0, n + 1, NULL);
}

static void bad_root(void)
{
	shmem_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, n);
}

static void no_context(void)
{
	shmem_p(SHMEM_CTX_INVALID, &word, 1, 0);
}

static void finalized(void)
{
	shmem_finalize();
	shmem_barrier_all();
}

static void unequal_malloc(void)
{
	shmem_malloc(me ? 100 : 200);
}

static void unequal_realloc(void)
{
	char *block = shmem_malloc(100), *other = shmem_malloc(100);

	shmem_realloc(me ? block : other, 100);
}

static void unequal_root(void)
{
	shmem_broadcast(SHMEM_TEAM_WORLD, &word, &word, 1, me);
}

/* The other PEs wait for a PE that is killed. */
static void killed(void)
{
	if (me == 1)
		raise(SIGKILL);
	shmem_barrier_all();
}

/*
 * PE 1 is killed while the others work until they or the launcher notice its
 * death.
 */
static int killed_team_pe = 1;
static shmem_team_t killed_team;
static shmem_ctx_t killed_ctx;

static void killed_meanwhile(void (*work)(void))
{
	shmem_barrier_all();
	if (me == 1) {
		usleep(100000);
		raise(SIGKILL);
	}
	for (;;)
		work();
}

static void put_quiet(void)
{
	shmem_p(&word, 1, 1);
	shmem_quiet();
}

static void put_fence(void)
{
	shmem_p(&word, 1, 1);
	shmem_fence();
}

static void get(void)
{
	word = shmem_g(&word, 1);
}

static void fetch(void)
{
	shmem_atomic_fetch_inc(&flag, 1);
}

/* The team has PEs 1, 2 ...: PE 1 is its PE 0. */
static void team_put(void)
{
	shmem_p(killed_ctx, &word, 1, killed_team_pe);
	shmem_ctx_quiet(killed_ctx);
}

static void team_get(void)
{
	word = shmem_g(killed_ctx, &word, killed_team_pe);
}

static void team_add(void)
{
	shmem_atomic_fetch_inc(killed_ctx, &flag, killed_team_pe);
}

static void wait_for_it(void)
{
	shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

static void reduce(void)
{
	shmem_sum_reduce(SHMEM_TEAM_WORLD, &word, &word, 1);
}

static void team_sync(void)
{
	shmem_team_sync(killed_team);
}

static void request(void)
{
	shmemx_req_t req;

	shmemx_sync_nb(killed_team, &req);
	shmemx_req_wait(&req);
}

/* lock that PE 1 holds */
static long killed_lock;

static void test_for_it(void)
{
	shmem_test(&flag, SHMEM_CMP_EQ, 1);
}

static void test_lock(void)
{
	shmem_test_lock(&killed_lock);
}

static void test_request(void)
{
	static shmemx_req_t req;
	static long double sum;

	if (req == SHMEMX_REQ_INVALID)
		shmemx_longdouble_sum_reduce_nb(SHMEM_TEAM_WORLD, &sum, &sum, 1, &req);
	shmemx_req_test(&req);
}

static void lock(void)
{
	shmem_set_lock(&killed_lock);
	shmem_clear_lock(&killed_lock);
}

static void killed_put(void)
{
	killed_meanwhile(put_quiet);
}

static void killed_fence(void)
{
	killed_meanwhile(put_fence);
}

static void killed_get(void)
{
	killed_meanwhile(get);
}

static void killed_fetch(void)
{
	killed_meanwhile(fetch);
}

static void killed_wait(void)
{
	killed_meanwhile(wait_for_it);
}

static void killed_locked(void)
{
	if (me == 1)
		shmem_set_lock(&killed_lock);
	killed_meanwhile(lock);
}

static void killed_test(void)
{
	killed_meanwhile(test_for_it);
}

static void killed_test_lock(void)
{
	if (me == 1)
		shmem_set_lock(&killed_lock);
	killed_meanwhile(test_lock);
}

static void killed_test_request(void)
{
	killed_meanwhile(test_request);
}

static void killed_reduce(void)
{
	killed_meanwhile(reduce);
}

/* PE 0 is in no team, and waits until it is killed. */
static void in_team(void (*work)(void))
{
	shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, n - 1, NULL, 0, &killed_team);
	killed_team_pe = 0;
	if (me && shmem_team_create_ctx(killed_team, 0, &killed_ctx))
		exit(5);
	killed_meanwhile(me ? work : wait_for_it);
}

static void killed_in_team(void)
{
	in_team(team_sync);
}

static void killed_request(void)
{
	in_team(request);
}

static void killed_team_put(void)
{
	in_team(team_put);
}

static void killed_team_get(void)
{
	in_team(team_get);
}

static void killed_team_fetch(void)
{
	in_team(team_add);
}

/* Makes a process with the id @pid, which sleeps until it is killed. */
static pid_t process_of(pid_t pid)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
		pid_t got;

		if (!last || fprintf(last, "%d", (int)pid - 1) < 0 || fclose(last))
			break;
		got = fork();
		if (!got) {
			signal(SIGRTMAX - 1, SIG_DFL);
			for (;;)
				pause();
		}
		if (got == pid)
			return got;
		kill(got, SIGKILL);
		waitpid(got, NULL, 0);
	}
	perror("wrong: no process has the number of PE 1");
	_exit(5);
}

/*
 * Another process has the id of PE 1, which has exited: shmem_global_exit() must
 * not end that process.  A child calls shmem_global_exit(), so that this process can
 * check afterwards.
 */
static void reused(void)
{
	static long pid;
	pid_t other, child;

	if (me == 1) {
		shmem_long_p(&pid, getpid(), 0);
		shmem_quiet();
		raise(SIGKILL);
	}
	shmem_long_wait_until(&pid, SHMEM_CMP_NE, 0);
	while (!kill((pid_t)pid, 0))
		usleep(1000);
	other = process_of((pid_t)pid);
	child = fork();
	if (!child)
		shmem_global_exit(0);
	waitpid(child, NULL, 0);
	usleep(100000);
	printf("wrong: the other process %s\n", waitpid(other, NULL, WNOHANG) ?
	       "was ended" : "goes on");
	kill(other, SIGKILL);
	fflush(stdout);
	_exit(0);
}

/* Puts so many elements that their size in bytes overflows. */
static void wrap_put(void)
{
	static int64_t a[2];

	shmem_int64_put(a, a, SIZE_MAX / 8 + 2, 0);
}

static void wrap_stride(void)
{
	shmem_int_iput(&word, &word, PTRDIFF_MAX / 2 + 1, 1, 3, 0);
}

static void wrap_collect(void)
{
	shmem_fcollectmem(SHMEM_TEAM_WORLD, &word, &word, SIZE_MAX / 2 + 1);
}

static void wrap_alltoall(void)
{
	shmem_alltoallmem(SHMEM_TEAM_WORLD, &word, &word, SIZE_MAX / 2 + 1);
}

static void wrap_alltoalls(void)
{
	shmem_int_alltoalls(SHMEM_TEAM_WORLD, &word, &word, PTRDIFF_MAX / 2 + 1, 1, 2);
}

static void wrap_reduce(void)
{
	shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, (int64_t *)&flag, (int64_t *)&flag,
			       SIZE_MAX / 8 + 2);
}

static void unequal_dest(void)
{
	static int dest[2];

	shmem_broadcast(SHMEM_TEAM_WORLD, dest + !me, &word, 1, 0);
}

static void unequal_nb(void)
{
	static int dest[2];
	shmemx_req_t req;

	shmemx_int_sum_reduce_nb(SHMEM_TEAM_WORLD, dest, dest, me ? 1 : 2, &req);
	shmemx_req_wait(&req);
}

static void unequal_root_nb(void)
{
	shmemx_req_t req;

	shmemx_int_broadcast_nb(SHMEM_TEAM_WORLD, &word, &word, 1, me, &req);
	shmemx_req_wait(&req);
}

static void clear_free(void)
{
	shmem_clear_lock(&flag);
}

/* The PE that holds the lock is not the one that clears it. */
static void clear_other(void)
{
	static long lock;

	if (me)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	if (!me)
		shmem_clear_lock(&lock);
	shmem_barrier_all();
}

static void wait_local(void)
{
	int local = 1;

	shmem_wait_until(&local, SHMEM_CMP_EQ, 1);
}

static void odd_signal(void)
{
	static uint64_t sig[2];

	shmem_put_signal(&word, &word, 1, (uint64_t *)((char *)sig + 4), 1, SHMEM_SIGNAL_SET, 0);
}

static void exits(int status)
{
	if (me == n - 1)
		shmem_global_exit(status);
	shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
}

static void exit_0(void)
{
	exits(0);
	_exit(5);
}

/* As exit_0(), without a free file descriptor. */
static void exit_full(void)
{
	while (dup(STDOUT_FILENO) >= 0)
		;
	exit_0();
}

/* As exit_0(), without a free context. */
static void exit_contexts(void)
{
	shmem_ctx_t ctx;

	while (me == n - 1 && !shmem_ctx_create(0, &ctx))
		;
	exit_0();
}

/* As exit_0(), while PE 0 cannot get a signal for a while. */
static void exit_queued(void)
{
	struct rlimit limit, none;

	getrlimit(RLIMIT_SIGPENDING, &limit);
	none = (struct rlimit){ 0, limit.rlim_max };
	if (!me)
		setrlimit(RLIMIT_SIGPENDING, &none);
	shmem_barrier_all();
	if (!me) {
		usleep(300000);
		setrlimit(RLIMIT_SIGPENDING, &limit);
	}
	exit_0();
}

static void at_exit(void)
{
	printf("PE %d: at the end\n", me);
}

/* Output that is still in buffers, and functions of atexit(), are not lost. */
static void exit_output(void)
{
	printf("PE %d: output\n", me);
	atexit(at_exit);
	shmem_barrier_all();
	exits(0);
}

/* As exit_output(), with a function of atexit() that finalizes. */
static void at_exit_finalize(void)
{
	shmem_finalize();
}

static void exit_finalize(void)
{
	atexit(at_exit_finalize);
	exit_output();
}

/* As exit_output(), while the other PEs have blocked all signals. */
static void exit_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	exit_output();
}

static void exit_7(void)
{
	exits(7);
}

/*
 * The system forbids access to the variables of PE 0, which computes for a while: the
 * library must not take PE 0 for ended.  Processes of root keep their access.
 */
static void closed_late(void)
{
	long *there = shmem_calloc(1, sizeof(*there));

	if (me) {
		shmem_wait_until(there, SHMEM_CMP_EQ, 1);
		printf("wrong: PE 0 goes on\n");
		return;
	}
	prctl(PR_SET_DUMPABLE, 0);
	sleep(3);
	shmem_p(there, 1, 1);
}

/* PE 0 puts to variables of PE 1 that it cannot access, while PE 1 is in no routine. */
static void closed_to(void (*put)(void))
{
	if (me)
		prctl(PR_SET_DUMPABLE, 0);
	shmem_barrier_all();
	if (me)
		sleep(60);
	put();
}

static void put_long(void)
{
	static char to[1000];
	char from[1000] = "";

	shmem_putmem(to, from, sizeof(from), 1);
}

static void closed_put(void)
{
	closed_to(put_long);
}

static void closed_quiet(void)
{
	closed_to(put_quiet);
}

/* A child ends by exit(); then the PE ends, without shmem_finalize(). */
static void forks(void)
{
	int status = -1;
	pid_t child;

	start_pes(0);
	child = fork();
	if (!child)
		exit(7);
	waitpid(child, &status, 0);
	printf("wrong: the child %s\n", WIFEXITED(status) && WEXITSTATUS(status) == 7 ?
	       "ended" : "crashed");
	exit(0);
}

#define CLOSED	(1UL << 20)	/* bytes of memory without access */

static char *closed_memory(int rights)
{
	char *p = mmap(NULL, CLOSED, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(5);
	return p;
}

static void unreadable(void)
{
	shmem_putmem(shmem_malloc(1000), closed_memory(PROT_NONE), 1000, n - 1);
}

static void unreadable_nbi(void)
{
	shmem_putmem_nbi(shmem_malloc(1000), closed_memory(PROT_NONE), 1000, n - 1);
}

static void unwritable(void)
{
	shmem_getmem(closed_memory(PROT_READ), shmem_malloc(1000), 1000, n - 1);
}

static void unwritable_fetch(void)
{
	shmem_atomic_fetch_inc_nbi((long *)(void *)closed_memory(PROT_READ), &flag, n - 1);
}

/* Broadcasts with a request, whose lengths are of all kinds. */
static void nb_broadcast(void)
{
	static const size_t lens[] = { 3000, 3004, 3001, 3, 0 };
	static char from[3004], to[3004];
	shmemx_req_t req[5];
	int i;

	for (i = 0; i < 5; i++)
		shmemx_broadcastmem_nb(SHMEM_TEAM_WORLD, to, from, lens[i], i % n, &req[i]);
	for (i = 0; i < 5; i++)
		shmemx_req_wait(&req[i]);
}

static double processor_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#define LAZY_MOST	0.1	/* seconds of processor time in one second */

static void lazy(const char *what, double since)
{
	double used = processor_time() - since;

	if (used > LAZY_MOST) {
		printf("PE %d used %g s of 1 s in a %s, more than %g\n", me, used, what,
		       LAZY_MOST);
		shmem_global_exit(3);
	}
}

/* PE 0 is a second late; the others wait in several routines. */
static void waiting(void)
{
	static long lock;
	double since = processor_time();

	if (!me) {
		sleep(1);
		for (int i = 1; i < n; i++)
			shmem_p(&flag, 1, i);
	}
	shmem_wait_until(&flag, SHMEM_CMP_EQ, me ? 1 : 0);
	lazy("wait", since);
	if (!me)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	since = processor_time();
	if (!me)
		sleep(1);
	else
		shmem_set_lock(&lock);
	shmem_clear_lock(&lock);
	lazy("lock", since);
	since = processor_time();
	if (!me)
		sleep(1);
	shmem_barrier_all();
	lazy("barrier", since);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "bad-pe", bad_pe }, { "negative-pe", negative_pe },
	{ "not-symmetric", not_symmetric }, { "too-long", too_long },
	{ "bad-stride", bad_stride }, { "bad-signal", bad_signal }, { "bad-cmp", bad_cmp },
	{ "bad-free", bad_free }, { "unaligned", unaligned }, { "bad-set", bad_set },
	{ "bad-root", bad_root }, { "no-context", no_context }, { "finalized", finalized },
	{ "unequal-malloc", unequal_malloc }, { "unequal-root", unequal_root },
	{ "unequal-realloc", unequal_realloc },
	{ "killed", killed }, { "killed-put", killed_put }, { "killed-fence", killed_fence },
	{ "killed-get", killed_get }, { "killed-fetch", killed_fetch },
	{ "killed-wait", killed_wait }, { "killed-lock", killed_locked },
	{ "killed-test", killed_test }, { "killed-test_lock", killed_test_lock },
	{ "killed-reduce_nb", killed_test_request },
	{ "killed-reduce", killed_reduce }, { "killed-team", killed_in_team },
	{ "killed-request", killed_request }, { "killed-team-put", killed_team_put },
	{ "killed-team-get", killed_team_get }, { "killed-team-fetch", killed_team_fetch },
	{ "reused", reused }, { "wrap-put", wrap_put }, { "wrap-stride", wrap_stride },
	{ "wrap-collect", wrap_collect }, { "wrap-alltoall", wrap_alltoall },
	{ "wrap-alltoalls", wrap_alltoalls }, { "wrap-reduce", wrap_reduce },
	{ "unequal-dest", unequal_dest }, { "clear-free", clear_free },
	{ "unequal-nb", unequal_nb }, { "unequal-root-nb", unequal_root_nb },
	{ "exit-0", exit_0 }, { "exit-7", exit_7 },
	{ "exit-contexts", exit_contexts }, { "exit-queued", exit_queued },
	{ "exit-full", exit_full }, { "exit-output", exit_output },
	{ "exit-blocked", exit_blocked }, { "exit-finalize", exit_finalize },
	{ "clear-other", clear_other },
	{ "wait-local", wait_local }, { "odd-signal", odd_signal },
	{ "closed-late", closed_late }, { "closed-put", closed_put },
	{ "closed-quiet", closed_quiet },
	{ "forks", forks }, { "unreadable", unreadable }, { "unreadable-nbi", unreadable_nbi },
	{ "unwritable", unwritable }, { "unwritable-fetch", unwritable_fetch },
	{ "waiting", waiting }, { "nb-broadcast", nb_broadcast },
};

/* Starts the library with a level of threads, which may not exist. */
static int level(int requested)
{
	int provided = -1, queried = -1, ret = shmem_init_thread(requested, &provided);

	if (!ret) {
		shmem_query_thread(&queried);
		shmem_finalize();
	}
	printf("level %d: %s, provided %d, query %d\n", requested, ret ? "refused" : "started",
	       provided, queried);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc > 2 && !strcmp(argv[1], "level"))
		return level(atoi(argv[2]));

	if (argc > 1 && !strcmp(argv[1], "before")) {
		shmem_barrier_all();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "locale"))
		setlocale(LC_ALL, "");
	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name))
			ways[i].run();
	shmem_finalize();
	return 0;
}
