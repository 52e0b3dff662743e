// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N direct [private]: loads and stores by addresses of shmem_ptr(),
 * which give PEs of an embedded fabric access to all other heaps; and the order
 * of such accesses among puts, fences and signals.  private: PEs share no memory, so
 * a PE cannot address the heap of another one.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS	200
#define WORDS	64

/**
 * struct box - the data of a PE in its heap
 * @data: written by the left neighbour
 * @copy: copy of the data of another PE
 * @go: word or signal that announces @data
 * @back: last round that the right neighbour has read
 * @count: all PEs add to it
 */
struct box {
	uint64_t data[WORDS];
	uint64_t copy[WORDS];
	uint64_t go;
	uint64_t back;
	uint64_t count;
};

static struct box *mine, *theirs;
static uint64_t global;
static int me, n, left, right, wrong;

static void look(int ok, const char *what)
{
	if (!ok && !wrong++)
		fprintf(stderr, "direct: PE %d: %s\n", me, what);
}

static void pointers(int private)
{
	int pe, stack, near = private ? 1 : n;

	look(shmem_ptr(mine, me) == mine, "the own address differs");
	look(shmem_ptr(&global, me) == &global, "the own address of a variable differs");
	look(!shmem_ptr(&stack, me), "the stack has a symmetric address");
	look(!shmem_ptr(mine, n) && !shmem_ptr(mine, -1), "an address at a PE that does not exist");
	for (pe = 0; pe < n; pe++) {
		if (pe == me)
			continue;
		look(!shmem_ptr(&global, pe), "an address of another PE's variable");
		look((shmem_ptr(mine, pe) == NULL) == private,
		     "a wrong address in another PE's heap");
	}
	look(shmem_team_n_pes(SHMEM_TEAM_SHARED) == near, "a wrong size of SHMEM_TEAM_SHARED");
	look(shmem_team_my_pe(SHMEM_TEAM_SHARED) == (private ? 0 : me),
	     "number in the team that shares");
	look(shmem_team_translate_pe(SHMEM_TEAM_SHARED, near - 1, SHMEM_TEAM_WORLD) ==
	     (private ? me : n - 1), "last PE of the team that shares");
	look(!shmem_team_sync(SHMEM_TEAM_SHARED), "a barrier of SHMEM_TEAM_SHARED fails");
}

/* Checks the data that the left neighbour has announced. */
static void check(uint64_t round)
{
	int i;

	for (i = 0; i < WORDS; i++)
		look(mine->data[i] == round * 1000 + (uint64_t)(left * WORDS + i),
		     "data after its signal");
	shmem_uint64_p(&mine->back, round, left);
	shmem_wait_until(&mine->back, SHMEM_CMP_EQ, round);
}

static void fill(uint64_t *to, uint64_t round)
{
	int i;

	for (i = 0; i < WORDS; i++)
		to[i] = round * 1000 + (uint64_t)(me * WORDS + i);
}

/* Stores data, calls a fence, then sends a signal by the adapter. */
static void store_then_signal(uint64_t round)
{
	fill(theirs->data, round);
	shmem_fence();
	shmem_uint64_atomic_set(&mine->go, round, right);
	shmem_signal_wait_until(&mine->go, SHMEM_CMP_EQ, round);
	check(round);
}

/* Puts data by the adapter, calls a fence, then stores a flag. */
static void put_then_store(uint64_t round)
{
	uint64_t data[WORDS];

	fill(data, round);
	shmem_putmem_nbi(mine->data, data, sizeof(data), right);
	shmem_fence();
	__atomic_store_n(&theirs->go, round, __ATOMIC_RELEASE);
	shmem_wait_until(&mine->go, SHMEM_CMP_EQ, round);
	check(round);
	shmem_quiet();
}

/*
 * Stores data before a barrier; loads a word of the right neighbour after a put
 * to it.
 */
static void store_then_barrier(uint64_t round)
{
	fill(theirs->data, round);
	shmem_barrier_all();
	check(round);
	shmem_uint64_p(&mine->count, round, right);
	shmem_quiet();
	look(__atomic_load_n(&theirs->count, __ATOMIC_ACQUIRE) == round,
	     "a word that was put is missing after quiet");
	shmem_barrier_all();
}

static void check_copy(uint64_t round, int pe, const char *what)
{
	int i;

	for (i = 0; i < WORDS; i++)
		look(mine->copy[i] == round * 1000 + (uint64_t)(pe * WORDS + i), what);
	shmem_barrier_all();
}

/* Puts to and gets from the left neighbour; the local buffer is in the right one's heap. */
static void transfer(uint64_t round)
{
	fill(mine->data, round);
	shmem_barrier_all();
	shmem_putmem(mine->copy, theirs->data, sizeof(mine->copy), left);
	shmem_barrier_all();
	check_copy(round, (right + 1) % n, "a put from the memory of another PE");
	memset(mine->copy, 0, sizeof(mine->copy));
	shmem_barrier_all();
	shmem_putmem_signal(mine->copy, theirs->data, sizeof(mine->copy), &mine->go, round,
			    SHMEM_SIGNAL_SET, left);
	shmem_signal_wait_until(&mine->go, SHMEM_CMP_EQ, round);
	check_copy(round, (right + 1) % n, "a put and signal from the memory of another PE");
	shmem_getmem(theirs->copy, mine->data, sizeof(mine->copy), left);
	shmem_barrier_all();
	check_copy(round, (left + n - 1) % n, "a get to the memory of another PE");
	memset(mine->copy, 0, sizeof(mine->copy));
	shmem_barrier_all();
	shmem_getmem_nbi(theirs->copy, mine->data, sizeof(mine->copy), left);
	shmem_quiet();
	shmem_barrier_all();
	check_copy(round, (left + n - 1) % n, "a get_nbi to the memory of another PE");
}

int main(int argc, char **argv)
{
	int private = argc > 1 && !strcmp(argv[1], "private");
	uint64_t i;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	left = (me + n - 1) % n;
	right = (me + 1) % n;
	mine = shmem_calloc(1, sizeof(*mine));
	pointers(private);
	theirs = shmem_ptr(mine, right);
	for (i = 1; theirs && i < ROUNDS; i += 3) {
		store_then_signal(i);
		put_then_store(i + 1);
		store_then_barrier(i + 2);
	}
	if (theirs)
		transfer(i);
	printf("direct: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
