// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Costs of the calls of one PE to itself, for host/cost.t.  All work of an
 * operation happens in the calls of measured(), so a tool that counts within
 * that function counts the operation.  A call that does not wait is counted
 * with the quiet that completes it.
 *
 * 	cost run OPERATION COUNT	for a tool that counts
 * 	cost quiet OPERATION COUNT	a system call kills the program
 */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/quiet.h"

#define WARM_UP	100	/* calls that do one-time work */

static long word, data[2];
static uint64_t sig;
static shmem_ctx_t alone;	/* private context */

static void putmem(long i)
{
	shmem_putmem(&word, &i, sizeof(i), 0);
	shmem_quiet();
}

static void p(long i)
{
	shmem_long_p(&word, i, 0);
	shmem_quiet();
}

static void ctx_p(long i)
{
	shmem_ctx_long_p(alone, &word, i, 0);
	shmem_ctx_quiet(alone);
}

static void put_signal(long i)
{
	shmem_long_put_signal(&word, &i, 1, &sig, (uint64_t)i, SHMEM_SIGNAL_SET, 0);
	shmem_quiet();
}

/* Waits for a value that the word already has. */
static void wait_until(long i)
{
	data[0] = i;
	shmem_long_wait_until(data, SHMEM_CMP_EQ, i);
}

static void put_nbi(long i)
{
	data[0] = i;
	shmem_long_put_nbi(&word, data, 1, 0);
	shmem_quiet();
}

static void g(long i)
{
	data[i % 2] = shmem_long_g(&word, 0);
}

static void add(long i)
{
	shmem_long_atomic_add(&word, i, 0);
	shmem_quiet();
}

static void fetch_add(long i)
{
	data[0] = shmem_long_atomic_fetch_add(&word, i, 0);
}

static void barrier(long i)
{
	(void)i;
	shmem_barrier_all();
}

static void reduce(long i)
{
	data[0] = i;
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, data + 1, data, 1);
}

static void broadcast(long i)
{
	data[0] = i;
	shmem_long_broadcast(SHMEM_TEAM_WORLD, data + 1, data, 1, 0);
}

static void reduce_nb(long i)
{
	shmemx_req_t req;

	data[0] = i;
	shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, data + 1, data, 1, &req);
	shmemx_req_wait(&req);
}

static const struct {
	const char *name;
	void (*run)(long i);
} ops[] = {
	{ "shmem_put", putmem }, { "shmem_p", p }, { "shmem_put_nbi", put_nbi },
	{ "shmem_g", g }, { "shmem_add", add }, { "shmem_fetch_add", fetch_add },
	{ "shmem_barrier", barrier }, { "shmem_reduce", reduce },
	{ "shmem_broadcast", broadcast }, { "shmem_ctx_p", ctx_p },
	{ "shmem_put_signal", put_signal }, { "shmem_wait_until", wait_until },
	{ "shmemx_reduce_nb", reduce_nb },
};

void measured(void (*run)(long i), long count);

/* A separate function in every build, for tools to find. */
void __attribute__((noipa)) measured(void (*run)(long i), long count)
{
	long i;

	for (i = 0; i < count; i++)
		run(i);
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 4 && i < sizeof(ops) / sizeof(*ops); i++) {
		if (strcmp(ops[i].name, argv[2]))
			continue;
		shmem_init();
		if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &alone))
			return 1;
		measured(ops[i].run, WARM_UP);
		if (!strcmp(argv[1], "quiet"))
			forbid_system_calls();
		measured(ops[i].run, atol(argv[3]));
		if (!strcmp(argv[1], "quiet"))
			_exit(0);
		shmem_finalize();
		return 0;
	}
	fprintf(stderr, "usage: cost run|quiet OPERATION COUNT\n");
	return 2;
}
