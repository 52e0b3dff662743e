// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Start and end of a PE, and queries.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shi.h"

struct shi_state shi = {
	.me = -1,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Prints one line and ends the job. */
void shi_die(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	shi_far_wait();
	/*
	 * If another PE ends the program, an error of this PE is a consequence:
	 * print nothing.
	 */
	if (shi_exit_begun())
		shi_exit_now(1);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (shi.me >= 0)
		fprintf(stderr, "shmem: PE %d: %s\n", shi.me, text);
	else
		fprintf(stderr, "shmem: %s\n", text);
	shi_exit_now(1);
}

void shi_need(void)
{
	if (!shi.up)
		shi_die("%s", shi.finalized ? "a call after shmem_finalize()" :
			"a call before shmem_init()");
}

static void start_check(int ret, const char *what)
{
	if (ret == -ENODEV)
		shi_die("%s: there is no adapter; see angara(7) for ANGARA_FABRIC", what);
	if (ret)
		shi_die("%s: %s", what, strerror(-ret));
}

/* Ends the program if values that must be equal at all PEs differ. */
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
		if (c->libs != mine->libs)
			shi_die("PE %u has other shared libraries with symmetric variables, "
				"or another order of them", i);
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
		.globals = shi.globals.len,
		.libs = shi_libs_hash(),
		.heap = env->symmetric_size,
		.debug = env->debug,
	};

	start_check(angara_ctx_query(shi.def.a, &info), "context");
	shi_exit_card(&mine);
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

static void world_open(void)
{
	struct angara_team *a;

	start_check(angara_team_create(shi.job, shi.coll.a, NULL, shi.n, NULL, &a),
		    "SHMEM_TEAM_WORLD");
	start_check(shi_team_open(&shi.world, a), "SHMEM_TEAM_WORLD");
}

static void region_take(struct shi_region *r, struct angara_mr *mr)
{
	r->mr = mr;
	r->key = angara_mr_key(mr);
	r->base = angara_mr_addr(mr);
	r->len = angara_mr_len(mr);
}

static void region_open(struct shi_region *r, const char *what)
{
	struct angara_mr *mr;

	start_check(angara_team_mr_reg(shi.world.a, r->base, r->len, ANGARA_ACCESS_ALL, &mr),
		    what);
	region_take(r, mr);
}

/*
 * Registers symmetric memory. All heaps have the same size, so blocks have the
 * same offsets at all PEs.
 */
static void memory_open(const struct shi_env *env)
{
	struct angara_mr *mr;
	unsigned int i;
	int ret;

	ret = angara_team_malloc(shi.world.a, env->symmetric_size, &mr);
	if (ret == -ENOMEM)
		shi_die("no memory for a symmetric heap of %zu bytes: lower "
			"SHMEM_SYMMETRIC_SIZE, or raise the limit of locked memory "
			"(ulimit -l)", env->symmetric_size);
	start_check(ret, "symmetric heap");
	region_take(&shi.heap, mr);
	if (shi.globals.len)
		region_open(&shi.globals, "variables of the program");
	for (i = 0; i < shi.n_libs; i++)
		region_open(&shi.libs[i], "variables of a shared library");
}

/* All PEs exchange the addresses of their heaps, and their places in shared memory. */
static void places_exchange(void)
{
	struct shi_place mine = { .base = (uintptr_t)shi.heap.base };
	uint64_t bases = 0;
	unsigned int i;

	if (angara_mr_place(shi.heap.mr, &mine.place))
		mine.place = SHI_NO_PLACE;
	shi.places = calloc(shi.n, sizeof(*shi.places));
	if (!shi.places)
		shi_die("no memory for the heaps of %u PEs", shi.n);
	SHI_RUN(&shi.world, "exchange of heaps",
		angara_allgather_nbi(shi.world.a, NULL, (uintptr_t)shi.places, NULL,
				     (uintptr_t)&mine, sizeof(mine), how));
	for (i = 0; i < shi.n; i++)
		bases |= shi.places[i].base;
	shi.align = bases & -bases;
}

/*
 * Creates SHMEM_TEAM_SHARED: all PEs whose heap has a place in shared memory;
 * if the heap of this PE has none, only this PE.
 */
static void shared_open(void)
{
	unsigned int *ranks = malloc(shi.n * sizeof(*ranks));
	int *pes = malloc(shi.n * sizeof(*pes));
	struct angara_team_attr attr = { .size = sizeof(attr) };
	struct angara_team *a;
	unsigned int i, n = 0;

	if (!ranks || !pes)
		shi_die("no memory for a team of %u PEs", shi.n);
	places_exchange();
	for (i = 0; i < shi.n; i++) {
		if ((int)i != shi.me && (shi.places[i].place == SHI_NO_PLACE ||
					 shi.places[shi.me].place == SHI_NO_PLACE))
			continue;
		pes[n] = (int)i;
		ranks[n++] = i;
	}
	/* A team of one member must not take a tree that another team could use. */
	if (n == 1)
		attr.flags = ANGARA_TEAM_SOFTWARE;
	start_check(angara_team_subset(shi.world.a, ranks, n, &attr, &a),
		    "SHMEM_TEAM_SHARED");
	start_check(shi_team_open(&shi.shared, a), "SHMEM_TEAM_SHARED");
	shi.shared.pes = pes;
	free(ranks);
}

/* A child of fork(2) inherits this function, but not the PE. */
static void stop_at_exit(void)
{
	if (shi.starter == getpid())
		pshmem_finalize();
}

void shi_start(int level)
{
	struct shi_env env;

	if (shi.up)
		return;
	if (shi.finalized)
		shi_die("shmem_init() is called after shmem_finalize()");
	shi.level = level;
	shi_env_read(&env);
	fabric_open();
	shi_globals_find(&shi.globals);
	shi_exit_listen();
	cards_exchange(&env);
	shi_far_open();
	world_open();
	shi.debug = env.debug;
	shi.stats = env.stats;
	memory_open(&env);
	shared_open();
	if (shi.coll.locked)
		angara_ctx_turns(shi.coll.a, shi_coll_turn, NULL);
	shi.up = true;
	atexit(stop_at_exit);
	shi_env_show(&env);
	pshmem_barrier_all();
	angara_domain_seal(shi.dom);
}

/*
 * Ends the PE. After the launcher's barrier, no PE has a collective in
 * progress.
 */
void shi_stop(void)
{
	unsigned int i;

	shi_teams_quiet();
	pshmem_barrier_all();
	angara_job_barrier(shi.job);
	shi_far_close();
	shi_exit_ignore();
	shi.up = false;
	shi.finalized = true;
	angara_ctx_turns(shi.coll.a, NULL, NULL);
	shi_teams_leave();
	free(shi.places);
	shi.places = NULL;
	shi_heap_free_all();
	for (i = 0; i < shi.n_libs; i++)
		angara_mr_dereg(shi.libs[i].mr);
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
	/*
	 * During shmem_global_exit(), exit() may run a function that calls this
	 * one.  The other PEs are ending, so do not wait for them.
	 */
	if (shi.up && !shi_exit_begun())
		shi_stop();
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

/*
 * Turns fences into quiets from now on, and completes operations that wait
 * because of earlier fences.  Contexts that other threads may be using are not
 * touched.  Threads that begin at the same time all complete the operations of
 * the default context, so no thread returns before they are complete.
 */
static void direct_begin(void)
{
	if (__atomic_load_n(&shi.direct_begun, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&shi.direct, true, __ATOMIC_RELAXED);
	shi_quiet(&shi.def);
	if (shi.level != SHMEM_THREAD_MULTIPLE)
		shi_teams_quiet();
	__atomic_store_n(&shi.direct_begun, true, __ATOMIC_RELEASE);
}

/*
 * Processes of an embedded fabric map the heaps of all PEs.  Variables are in
 * private memory of each process, so there is no pointer to those of another PE.
 */
SHI_DEF(void *, ptr, (const void *dest, int pe))
{
	const struct shi_region *r = shi_region_of(dest);
	void *base;

	if (!r || !pshmem_pe_accessible(pe))
		return NULL;
	if (pe == shi.me)
		return (void *)(uintptr_t)dest;
	if (r != &shi.heap || shi.places[pe].place == SHI_NO_PLACE ||
	    angara_domain_place(shi.dom, shi.places[pe].place, shi.heap.len, &base))
		return NULL;
	direct_begin();
	return (char *)base + ((const char *)dest - shi.heap.base);
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

/* Does nothing: profiling libraries replace it. */
SHI_DEF(void, pcontrol, (int level, ...))
{
	(void)level;
}
