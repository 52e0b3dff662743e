// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a program in a process, by one thread or two.  Then restores state that
 * outlives the process, and checks that the state is as before.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "angtest.h"
#include "nl.h"
#include "state.h"

#define PATIENCE	120	/* limit of seconds for a program */
#define TICK		2	/* seconds between reads of the kernel's log */
#define EVERY		16	/* programs between checks for leftovers */

static struct at_loop base;	/* the permanent fabric */
static char base_dims[64];
static unsigned int base_devices;
static unsigned int family;
/* Results from the processes of a program. */
static struct {
	struct kf_result result;
	unsigned int left;	/* set of KF_LEAVES_* */
} *shared;
static unsigned int unchecked;	/* programs since the last check */
static bool can_fail;

/* State of the process that runs a program */
static struct kf_file files[KF_FILES];
static uint64_t map_bytes[KF_MAPS];
static struct kf_state states[KF_THREADS];
static pthread_barrier_t start;
static __thread struct kf_state *me;
static __thread volatile sig_atomic_t guarded;

static void on_fault(int signal)
{
	(void)signal;
	if (!guarded)
		_exit(99);
	siglongjmp(me->fault, 1);
}

static void guard(void)
{
	struct sigaction act = {
		.sa_handler = on_fault, .sa_flags = SA_NODEFER,
	};

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
}

/* Makes allocation number @nth from here on fail; 0 for none. */
static void fail_nth(struct kf_state *s, unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (!can_fail)
		return;
	if (s->fail_fd < 0)
		s->fail_fd = open(AT_FAIL_NTH, O_WRONLY);
	/* The injected failure may hit the write itself, but only once. */
	if (pwrite(s->fail_fd, text, len, 0) < 0 && !nth)
		pwrite(s->fail_fd, text, len, 0);
}

static long run_call(struct kf_state *s, const struct kf_call *c)
{
	const struct kf_op *op = &kf_ops[c->op];
	unsigned int fail = s->fail;
	long ret;

	__atomic_fetch_or(&shared->left, op->leaves, __ATOMIC_RELAXED);
	if (sigsetjmp(s->fault, 0)) {
		ret = -EFAULT;
	} else {
		guarded = 1;
		s->fail = 0;
		if (fail)
			fail_nth(s, fail);
		ret = op->run(s, op, c->v);
	}
	guarded = 0;
	if (fail)
		fail_nth(s, 0);
	return ret;
}

void kf_run_calls(struct kf_state *s, unsigned int end, long *answer)
{
	me = s;
	for (; s->at < end; s->at++) {
		unsigned int at = s->at;

		answer[at] = run_call(s, &s->p->call[at]);
	}
}

static void *run_thread(void *state)
{
	struct kf_state *s = state;
	long answers[KF_CALLS];

	if (s->p->threads > 1)
		pthread_barrier_wait(&start);
	kf_args_init(s);
	kf_cover_start(s->lane);
	kf_run_calls(s, s->p->calls, s->lane ? answers : shared->result.answer);
	kf_cover_stop(s->lane);
	return NULL;
}

static void *fixed(unsigned long at, size_t len, int prot, int flags)
{
	return mmap((void *)at, len, prot, flags | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0);
}

static void run_process(const struct kf_prog *p)
{
	pthread_t thread;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	guard();
	fixed(KF_AT_MEM, KF_MEM, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	fixed(KF_AT_CONST, 16 * KF_PAGE, PROT_READ, MAP_PRIVATE);
	fixed(KF_AT_SHARED, 16 * KF_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED);
	for (i = 0; i < KF_THREADS; i++)
		states[i] = (struct kf_state) {
			.lane = i, .file = files, .map_bytes = map_bytes,
			.family = family, .fabric = base.id, .fail_fd = -1,
			.p = p,
		};
	if (p->threads > 1) {
		pthread_barrier_init(&start, NULL, 2);
		if (pthread_create(&thread, NULL, run_thread, &states[1]))
			_exit(98);
	}
	run_thread(&states[0]);
	if (p->threads > 1)
		pthread_join(thread, NULL);
	_exit(0);
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* waitpid(), which a signal interrupts every TICK seconds. */
static pid_t wait_tick(pid_t pid)
{
	struct itimerval on = {
		.it_interval.tv_sec = TICK, .it_value.tv_sec = TICK,
	};
	struct itimerval off = { 0 };
	int status;
	pid_t got;

	setitimer(ITIMER_REAL, &on, NULL);
	got = waitpid(pid, &status, 0);
	setitimer(ITIMER_REAL, &off, NULL);
	return got;
}

/*
 * Waits for the end of a process.  Reads the log meanwhile, since the process
 * may hang in the kernel because of a report.
 */
static const char *wait_end(pid_t pid)
{
	const char *report = NULL;
	unsigned int waited;

	for (waited = 0; waited < PATIENCE; waited += TICK) {
		if (wait_tick(pid) == pid)
			return kf_watch();
		report = kf_watch();
		if (report)
			break;
	}
	kill(pid, SIGKILL);
	return report ? report : "the program does not end";
}

static void clear_tree(void *failed, const struct at_nl_obj *obj)
{
	unsigned int dev = obj->val[ANGARA_A_TREE_DEV];
	unsigned int tree = obj->val[ANGARA_A_TREE_ID];
	int fd = at_open(dev);

	/* Another call may have cleared the tree. */
	if (fd < 0) {
		*(int *)failed = fd;
		return;
	}
	at_tree_clear(fd, tree);
	at_delegate(fd, tree, 0);
	close(fd);
}

static bool is_base(const struct at_loop *l, int n)
{
	return n == 1 && l->num == base.num && l->id == base.id &&
	       l->nodes == base.nodes;
}

static void let_open(void)
{
	unsigned int dev;
	char path[32];

	for (dev = 0; dev < base_devices; dev++) {
		at_dev_path(dev, path);
		chmod(path, 0666);
	}
}

static int restore_fabrics(void)
{
	struct at_loop list[AT_MAX_LOOPS];
	int i, n, ret;

	at_write_file("/sys/kernel/tracing/events/angara/enable", "0");
	at_write_file("/sys/module/angara_loop/parameters/contexts", "0");
	n = at_loop_list(list, AT_MAX_LOOPS);
	if (n < 0 || is_base(list, n))
		return n < 0 ? n : 0;
	for (i = 0; i < n; i++) {
		ret = at_loop_remove(&list[i]);
		if (ret)
			return ret;
	}
	ret = at_loop_add(base_dims, &base);
	let_open();
	return ret;
}

/* Restores state.  Return: NULL, or what has changed. */
static const char *restore(unsigned int what)
{
	static const struct at_usage nothing;
	int ret, failed = 0;

	ret = what & KF_LEAVES_FABRICS ? restore_fabrics() : 0;
	if (ret)
		return "the fabric cannot be made again";
	ret = what & KF_LEAVES_TREES ?
	      at_nl_dump(ANGARA_CMD_TREE_GET, clear_tree, &failed) : 0;
	if (ret || failed)
		return "rows of trees cannot be cleared";
	if (++unchecked < EVERY)
		return NULL;
	unchecked = 0;
	if (at_usage_wait(&nothing, AT_DEADLINE_MS))
		return "contexts or regions are left by one of the last programs";
	return NULL;
}

const char *kf_exec(const struct kf_prog *p, struct kf_result *result)
{
	const char *report, *state;
	pid_t pid;

	kf_journal(p);
	kf_cover_clear();
	memset(shared, 0, sizeof(*shared));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return "there is no process";
	if (!pid)
		run_process(p);
	report = wait_end(pid);
	if (report)
		return report;
	state = restore(shared->left);
	report = kf_watch();
	if (result)
		*result = shared->result;
	return report ? report : state;
}

static bool find_base(void)
{
	struct at_loop list[2];

	if (at_loop_list(list, 2) != 1)
		return false;
	base = list[0];
	base_devices = base.nodes;
	at_loop_dims(base_dims, sizeof(base_dims));
	let_open();
	return base_dims[0] && at_devices() == base_devices;
}

const char *kf_exec_init(void)
{
	struct sigaction act = { .sa_handler = on_alarm };
	int id = at_nl_family();

	if (id < 0)
		return "there is no netlink family";
	if (!find_base())
		return "needs a loopback with the fabric that it was loaded with, and no other device";
	family = id;
	can_fail = !at_failing_init();
	sigaction(SIGALRM, &act, NULL);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? "no memory" : NULL;
}
