// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N library FILE [late|other]: puts to variables of a shared
 * library, which is loaded before shmem_init(), or after it (late); or by PE 0
 * only, while the others load said.so (other).
 */
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long *data;
static char *bss;

static int load(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "library: %s\n", dlerror());
		return -1;
	}
	data = dlsym(lib, "shared_data");
	bss = dlsym(lib, "shared_bss");
	return 0;
}

/* Uses all kinds of operations that look up an address. */
static int use(int me, int n)
{
	int right = (me + 1) % n, wrong = 0;

	shmem_long_p(&data[0], me + 100, right);
	shmem_putmem(bss + 4000, bss, 1000, right);
	shmem_long_atomic_add(&data[1], me + 1, 0);
	shmem_barrier_all();
	wrong += data[0] != (me + n - 1) % n + 100;
	wrong += bss[4000] != 5 || bss[4999] != 5;
	wrong += !me && data[1] != 7 + n * (n + 1) / 2;
	data[2] = me;
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &data[3], &data[2], 1);
	wrong += data[3] != n * (n - 1) / 2;
	shmem_long_broadcast(SHMEM_TEAM_WORLD, &data[3], &data[2], 1, n - 1);
	wrong += data[3] != n - 1;
	wrong += !shmem_addr_accessible(bss, right);
	return wrong;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("ANGARA_RANK");
	int late = argc > 2 && !strcmp(argv[2], "late"), wrong;
	char said[4096];

	if (argc < 2)
		return 2;
	if (argc > 2 && !late && rank && strcmp(rank, "0")) {
		snprintf(said, sizeof(said), "%.*s/said.so",
			 (int)(strrchr(argv[1], '/') - argv[1]), argv[1]);
		argv[1] = said;
	}
	if (!late && load(argv[1]))
		return 2;
	shmem_init();
	if (late && load(argv[1]))
		return 2;
	memset(bss, 5, 1000);
	wrong = use(shmem_my_pe(), shmem_n_pes());
	printf("library: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_finalize();
	return wrong != 0;
}
