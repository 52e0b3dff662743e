// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Start and end of a PE, and queries.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shi.h"

/* shmem_global_exit() sends it, with the status, to PEs of its machine. */
#define EXIT_SIGNAL	(SIGRTMAX - 1)

struct shi_state shi = {
	.me = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* One line, and the end of the job. */
void shi_die(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (shi.me >= 0)
		fprintf(stderr, "shmem: PE %d: %s\n", shi.me, text);
	else
		fprintf(stderr, "shmem: %s\n", text);
	pshmem_global_exit(1);
}

void shi_need(void)
{
	if (!shi.up)
		shi_die("%s", shi.finalized ? "a call after shmem_finalize()" :
			"a call before shmem_init()");
}

/*
 * Equal for processes that can send each other signals: of one boot of one
 * machine, and of one PID namespace.
 */
static uint64_t host_id(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	uint64_t hash = 14695981039346656037ULL;
	struct stat st = { 0 };
	char name[256] = "";
	const char *p;

	if (fd < 0 || read(fd, name, sizeof(name) - 1) <= 0)
		gethostname(name, sizeof(name) - 1);
	if (fd >= 0)
		close(fd);
	for (p = name; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ULL;
	if (!stat("/proc/self/ns/pid", &st))
		hash ^= st.st_ino;
	return hash;
}

/* Ends this PE if another one has called shmem_global_exit(). */
static void exit_signal(int sig, siginfo_t *info, void *unused)
{
	unsigned int i;

	(void)sig;
	(void)unused;
	if (info->si_code != SI_QUEUE)
		return;
	/* Before the cards are here, this PE finds itself what is wrong. */
	for (i = 0; shi.cards && i < shi.n; i++)
		if (shi.cards[i].pid == info->si_pid)
			_exit(info->si_value.sival_int);
}

static void exit_listen(void)
{
	struct sigaction sa = {
		.sa_sigaction = exit_signal,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigaction(EXIT_SIGNAL, &sa, NULL);
}

static void start_check(int ret, const char *what)
{
	if (ret == -ENODEV)
		shi_die("%s: there is no adapter; see angara(7) for ANGARA_FABRIC", what);
	if (ret)
		shi_die("%s: %s", what, strerror(-ret));
}

/* Values that all PEs need to have in common. */
static void cards_check(const struct shi_card *mine)
{
	unsigned int i;

	for (i = 0; i < shi.n; i++) {
		const struct shi_card *c = &shi.cards[i];

		if (c->globals != mine->globals)
			shi_die("PE %u runs another program: it has %llu bytes of "
				"variables, this one %llu", i,
				(unsigned long long)c->globals,
				(unsigned long long)mine->globals);
		if (c->heap != mine->heap)
			shi_die("SHMEM_SYMMETRIC_SIZE is %llu bytes at PE %u, and %llu here",
				(unsigned long long)c->heap, i,
				(unsigned long long)mine->heap);
		if (c->debug != mine->debug)
			shi_die("SHMEM_DEBUG is %s at PE %u, and %s here",
				c->debug ? "set" : "not set", i,
				mine->debug ? "set" : "not set");
	}
}

static void cards_exchange(const struct shi_env *env)
{
	struct angara_ctx_info info = { .size = sizeof(info) };
	struct shi_card mine = {
		.pid = getpid(),
		.host = host_id(),
		.globals = shi.globals.len,
		.heap = env->symmetric_size,
		.debug = env->debug,
	};

	start_check(angara_ctx_query(shi.def.a, &info), "context");
	mine.peer = info.self;
	shi.cards = calloc(shi.n, sizeof(*shi.cards));
	if (!shi.cards)
		shi_die("no memory for the addresses of %u PEs", shi.n);
	start_check(angara_job_allgather(shi.job, &mine, sizeof(mine), shi.cards),
		    "exchange of addresses");
	cards_check(&mine);
}

static void fabric_open(void)
{
	struct angara_domain_attr attr = { .size = sizeof(attr) };

	start_check(angara_job_init(&shi.job), "job");
	shi.n = angara_job_size(shi.job);
	shi.me = (int)angara_job_rank(shi.job);
	attr.job = shi.job;
	start_check(angara_domain_open(NULL, &attr, &shi.dom), "adapter");
	shi.world.size = (int)shi.n;
	start_check(shi_ctx_open(&shi.coll, &shi.world, shi.level == SHMEM_THREAD_MULTIPLE,
				 0), "context of collectives");
	start_check(shi_ctx_open(&shi.def, &shi.world, shi.level == SHMEM_THREAD_MULTIPLE,
				 ANGARA_NO_MSG), "default context");
}

static void teams_open(void)
{
	const unsigned int self = (unsigned int)shi.me;
	struct angara_team_attr alone = {
		.size = sizeof(alone),
		.flags = ANGARA_TEAM_SOFTWARE,
	};
	struct angara_team *a;

	start_check(angara_team_create(shi.job, shi.coll.a, NULL, shi.n, NULL, &a),
		    "SHMEM_TEAM_WORLD");
	start_check(shi_team_open(&shi.world, a), "SHMEM_TEAM_WORLD");
	start_check(angara_team_subset(a, &self, 1, &alone, &a), "SHMEM_TEAM_SHARED");
	start_check(shi_team_open(&shi.shared, a), "SHMEM_TEAM_SHARED");
	shi.shared.pes = malloc(sizeof(*shi.shared.pes));
	if (!shi.shared.pes)
		shi_die("no memory");
	shi.shared.pes[0] = shi.me;
}

static void region_take(struct shi_region *r, struct angara_mr *mr)
{
	r->mr = mr;
	r->key = angara_mr_key(mr);
	r->base = angara_mr_addr(mr);
	r->len = angara_mr_len(mr);
}

/* The sizes of the heap are equal, so its blocks have the same offsets everywhere. */
static void memory_open(const struct shi_env *env)
{
	struct angara_mr *mr;
	int ret;

	ret = angara_team_malloc(shi.world.a, env->symmetric_size, &mr);
	if (ret == -ENOMEM)
		shi_die("no memory for a symmetric heap of %zu bytes: lower "
			"SHMEM_SYMMETRIC_SIZE, or raise the limit of locked memory "
			"(ulimit -l)", env->symmetric_size);
	start_check(ret, "symmetric heap");
	region_take(&shi.heap, mr);
	if (!shi.globals.len)
		return;
	start_check(angara_team_mr_reg(shi.world.a, shi.globals.base, shi.globals.len,
				       ANGARA_ACCESS_ALL, &mr), "variables of the program");
	region_take(&shi.globals, mr);
}

static void stop_at_exit(void)
{
	if (shi.started && shi.up)
		shi_stop();
}

void shi_start(int level)
{
	struct shi_env env;

	if (shi.up)
		return;
	if (shi.finalized)
		shi_die("shmem_init() after shmem_finalize()");
	shi.level = level;
	shi_env_read(&env);
	fabric_open();
	shi_globals_find(&shi.globals);
	exit_listen();
	cards_exchange(&env);
	teams_open();
	shi.debug = env.debug;
	memory_open(&env);
	shi.up = true;
	atexit(stop_at_exit);
	shi_env_show(&env);
	pshmem_barrier_all();
}

/* Behind the launcher's barrier, no PE has a collective under way. */
void shi_stop(void)
{
	pshmem_barrier_all();
	angara_job_barrier(shi.job);
	shi.up = false;
	shi.finalized = true;
	shi_teams_leave();
	shi_heap_free_all();
	angara_mr_dereg(shi.globals.mr);
	angara_free(shi.heap.mr);
	shi_ctx_close(&shi.def);
	shi_ctx_close(&shi.coll);
	angara_domain_close(shi.dom);
	angara_job_finalize(shi.job);
	shi.def.n_pes = 0;
}

SHI_DEF(void, init, (void))
{
	shi_start(SHMEM_THREAD_SINGLE);
}

SHI_DEF(int, init_thread, (int requested, int *provided))
{
	if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
		return -EINVAL;
	shi_start(requested);
	*provided = shi.level;
	return 0;
}

SHI_DEF(void, query_thread, (int *provided))
{
	*provided = shi.level;
}

SHI_DEF(void, finalize, (void))
{
	if (shi.up)
		shi_stop();
}

/* The launcher ends PEs on other machines, if the status is not 0. */
SHI_DEF(void, global_exit, (int status))
{
	union sigval value = { .sival_int = status };
	unsigned int i;

	fflush(NULL);
	for (i = 0; shi.cards && i < shi.n; i++)
		if ((int)i != shi.me && shi.cards[i].host == shi.cards[shi.me].host)
			sigqueue((pid_t)shi.cards[i].pid, EXIT_SIGNAL, value);
	_exit(status);
}

SHI_DEF(int, my_pe, (void))
{
	return shi.me;
}

SHI_DEF(int, n_pes, (void))
{
	return shi.up ? (int)shi.n : -1;
}

SHI_DEF(int, pe_accessible, (int pe))
{
	return shi.up && pe >= 0 && pe < (int)shi.n;
}

SHI_DEF(int, addr_accessible, (const void *addr, int pe))
{
	return pshmem_pe_accessible(pe) && shi_region_of(addr);
}

/* No memory of another PE is mapped. */
SHI_DEF(void *, ptr, (const void *dest, int pe))
{
	return pe == shi.me && shi_region_of(dest) ? (void *)(uintptr_t)dest : NULL;
}

SHI_DEF(void, info_get_version, (int *major, int *minor))
{
	*major = SHMEM_MAJOR_VERSION;
	*minor = SHMEM_MINOR_VERSION;
}

SHI_DEF(void, info_get_name, (char *name))
{
	strcpy(name, SHMEM_VENDOR_STRING);
}

/* For profiling libraries, which have one of their own. */
SHI_DEF(void, pcontrol, (int level, ...))
{
	(void)level;
}
