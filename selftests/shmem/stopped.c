// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np 2 stopped: PE 1 stops its process while it is in no routine.  PE 0
 * then puts to it, gets from it and adds to it.  These operations complete without
 * the process.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define N	100

static long pid, count, got, words[N];
static int wrong;

static void look(int ok, const char *what)
{
	if (!ok && !wrong++)
		fprintf(stderr, "stopped: PE %d: %s\n", shmem_my_pe(), what);
}

/* Is the process stopped? */
static int is_stopped(long number)
{
	char path[64], text[256] = "";
	const char *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", number);
	f = fopen(path, "r");
	if (!f)
		return 0;
	at = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return at && at[1] == ' ' && at[2] == 'T';
}

/* @heap: words of the symmetric heap; @words, @count and @got are variables */
static void work(long *heap)
{
	long from[N], back[N] = { 0 };
	int i;

	for (i = 0; i < N; i++) {
		from[i] = i + 1;
		shmem_long_p(&heap[i], -i, 1);
		shmem_long_atomic_inc(&count, 1);
		look(shmem_long_atomic_fetch_add(&got, 2, 1) == 2 * i,
		     "a fetch and add returns a wrong value");
	}
	shmem_long_put(words, from, N, 1);
	shmem_quiet();
	shmem_long_get(back, words, N, 1);
	look(!memcmp(back, from, sizeof(back)), "a get from variables returns wrong data");
	shmem_long_get(back, heap, N, 1);
	look(back[N - 1] == -(N - 1), "a get from the heap returns wrong data");
}

int main(void)
{
	long *heap;
	int i;

	shmem_init();
	heap = shmem_calloc(N, sizeof(*heap));
	if (shmem_my_pe()) {
		shmem_long_p(&pid, getpid(), 0);
		shmem_quiet();
		raise(SIGSTOP);
		look(count == N && got == 2 * N, "sums of atomic operations are wrong");
		for (i = 0; i < N; i++)
			look(words[i] == i + 1 && heap[i] == -i, "words that were put are wrong");
	} else {
		shmem_long_wait_until(&pid, SHMEM_CMP_NE, 0);
		while (!is_stopped(pid))
			usleep(1000);
		work(heap);
		look(is_stopped(pid), "the process goes on");
		kill((pid_t)pid, SIGCONT);
	}
	printf("stopped: PE %d: %d errors\n", shmem_my_pe(), wrong);
	shmem_barrier_all();
	shmem_finalize();
	return wrong != 0;
}
