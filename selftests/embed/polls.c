// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread registers, allocates or frees memory whose pages the kernel adds or
 * removes slowly.  Meanwhile other threads of the process poll, use memory that
 * is not registered, and run commands, also when another process dies.  Linked
 * with --wrap=madvise and --wrap=fallocate.  Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embed/embed.h"
#include "lib.h"

#define LEN		65536
#define LIMIT_S		30	/* limit for a call that waits for the slow thread */

static unsigned int count, failed;
static char slow[LEN] __attribute__((aligned(4096)));
static char any[LEN] __attribute__((aligned(4096)));
static sem_t begun, may_end;
static __thread bool is_slow;	/* slow down this thread's next call that adds or removes pages */
static bool ended;
static struct angara_domain *dom;
static struct angara_mr *slow_mr;

int __real_madvise(void *addr, size_t len, int advice);
int __wrap_madvise(void *addr, size_t len, int advice);
int __real_fallocate(int fd, int mode, off_t at, off_t len);
int __wrap_fallocate(int fd, int mode, off_t at, off_t len);

/* Blocks the call until the test lets it end, as a slow kernel would. */
static void take_time(void)
{
	if (!is_slow)
		return;
	is_slow = false;
	sem_post(&begun);
	while (sem_wait(&may_end) && errno == EINTR)
		;
}

int __wrap_madvise(void *addr, size_t len, int advice)
{
	take_time();
	return __real_madvise(addr, len, advice);
}

int __wrap_fallocate(int fd, int mode, off_t at, off_t len)
{
	take_time();
	return __real_fallocate(fd, mode, at, len);
}

static void ok(bool good, const char *call, const char *what)
{
	printf("%sok %u - %s: %s\n", good ? "" : "not ", ++count, call, what);
	failed += !good;
	fflush(stdout);
}

static int slow_register(void)
{
	return angara_mr_reg(dom, slow, sizeof(slow), ANGARA_ACCESS_ALL, &slow_mr);
}

static int slow_allocate(void)
{
	return angara_malloc(dom, LEN, &slow_mr);
}

static int slow_free(void)
{
	angara_free(slow_mr);
	slow_mr = NULL;
	return 0;
}

static const struct call {
	const char *name;
	int (*run)(void);
} calls[] = {
	{ "registration", slow_register },
	{ "allocation", slow_allocate },
	{ "release", slow_free },
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

static void *slow_main(void *arg)
{
	const struct call *call = arg;
	int ret;

	is_slow = true;
	ret = call->run();
	__atomic_store_n(&ended, true, __ATOMIC_RELEASE);
	return (void *)(intptr_t)ret;
}

/* Starts a process that has a context on the same fabric until it is killed. */
static pid_t other_process(void)
{
	struct angara_domain *its;
	struct angara_ctx *ctx;
	int fd[2];
	char byte;
	pid_t pid;

	if (pipe(fd))
		return -1;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!angara_domain_open("1", NULL, &its) &&
		    !angara_ctx_open(its, NULL, &ctx) && write(fd[1], "r", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(fd[1]);
	if (pid > 0 && read(fd[0], &byte, 1) != 1)
		pid = -1;
	close(fd[0]);
	return pid;
}

static bool put(struct angara_ctx *ctx, const struct angara_mr *to,
		const struct angara_mr *from, const void *at)
{
	const struct angara_op op = { .size = sizeof(op), .cookie = 7 };
	struct angara_ctx_info info = { .size = sizeof(info) };
	struct angara_completion c = { 0 };
	int ret = 0;

	if (angara_ctx_query(ctx, &info) ||
	    angara_put_nbi(ctx, info.self, angara_mr_key(to), 0, from,
			   from ? 0 : (uintptr_t)at, LEN, &op))
		return false;
	while (!ret)
		ret = angara_poll(ctx, &c, 1);
	return ret == 1 && c.cookie == 7 && c.status == ANGARA_ST_OK;
}

/* A waiting process checks from time to time whether others have died. */
static void wait_for(struct angara_ctx *ctx, unsigned int ms)
{
	u64 end = emb_now_ms() + ms;
	struct angara_completion c;

	while (emb_now_ms() < end)
		angara_poll_wait(ctx, &c, 1, EMB_LOOK_MS);
}

/*
 * Runs a slow call.  Process @pid dies during the call; @left other processes
 * remain.
 */
static void slowly(struct angara_ctx *ctx, const struct call *call, pid_t pid, u32 left)
{
	const struct emb_fab *fab = ((const struct emb_dev *)ctx->dev.priv)->fab;
	struct angara_mr *mr, *more = NULL;
	pthread_t thread;
	void *ret;

	ended = false;
	if (angara_malloc(dom, LEN, &mr) ||
	    pthread_create(&thread, NULL, slow_main, (void *)(uintptr_t)call)) {
		ok(false, call->name, "begins");
		return;
	}
	while (sem_wait(&begun) && errno == EINTR)
		;
	alarm(LIMIT_S);
	ok(put(ctx, mr, mr, NULL), call->name, "a put completes");
	ok(put(ctx, mr, NULL, any), call->name,
	   "a put from memory that is not registered completes");
	ok(!angara_mr_reg(dom, any, sizeof(any), ANGARA_ACCESS_ALL, &more) &&
	   put(ctx, mr, more, NULL), call->name, "other memory is registered and used");
	angara_mr_dereg(more);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	wait_for(ctx, 5 * EMB_LOOK_MS);
	ok(put(ctx, mr, mr, NULL), call->name, "a put completes after a process has died");
	ok(READ_ONCE(fab->head->here) == 1 + left, call->name,
	   "the dead process is no longer counted");
	ok(!__atomic_load_n(&ended, __ATOMIC_ACQUIRE), call->name, "the slow call still runs");
	sem_post(&may_end);
	pthread_join(thread, &ret);
	ok(!ret && (!slow_mr || put(ctx, slow_mr, mr, NULL)), call->name,
	   "the slow call ends, and its memory is used");
	alarm(0);
	angara_free(mr);
}

int main(void)
{
	struct angara_ctx *ctx;
	pid_t pid[CALLS];
	size_t i;

	/* Without a cache, unused ranges are deregistered at once. */
	setenv("ANGARA_MR_CACHE", "0", 1);
	for (i = 0; i < CALLS; i++) {
		pid[i] = other_process();
		if (pid[i] < 0) {
			puts("Bail out! the other process did not start");
			return 1;
		}
	}
	if (angara_domain_open("0", NULL, &dom) || angara_ctx_open(dom, NULL, &ctx) ||
	    sem_init(&begun, 0, 0) || sem_init(&may_end, 0, 0)) {
		puts("Bail out! cannot open a context of a device");
		return 1;
	}
	for (i = 0; i < CALLS; i++)
		slowly(ctx, &calls[i], pid[i], (u32)(CALLS - 1 - i));
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	printf("1..%u\n", count);
	return !!failed;
}
