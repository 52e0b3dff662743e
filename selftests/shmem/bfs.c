// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N bfs: distances in a random graph, level by level.  Vertex v is
 * at PE v % N.  A PE claims a vertex by a compare and swap of the vertex's distance,
 * and puts it into the queue for the next level at the vertex's PE.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define VERTICES	2000
#define DEGREE		3
#define FAR		(-1)

static long left;	/* vertices in the next level */
static long queued[2];	/* lengths of the two queues */

/* Return: neighbour @k of vertex @v in the random graph. */
static int neighbour(int v, int k)
{
	unsigned long x = (unsigned long)v * DEGREE + (unsigned long)k + 1;

	x *= 0x9e3779b97f4a7c15UL;
	x ^= x >> 29;
	return (int)(x * 0xbf58476d1ce4e5b9UL >> 40) % VERTICES;
}

static void serial(int *distance)
{
	int *queue = malloc(VERTICES * sizeof(*queue));
	int head = 0, tail = 1, v, k;

	for (v = 0; v < VERTICES; v++)
		distance[v] = FAR;
	queue[0] = 0;
	distance[0] = 0;
	while (head < tail) {
		v = queue[head++];
		for (k = 0; k < DEGREE; k++) {
			int w = neighbour(v, k);

			if (distance[w] == FAR) {
				distance[w] = distance[v] + 1;
				queue[tail++] = w;
			}
		}
	}
	free(queue);
}

static void reach(int *distance, int *queue, long *length, int v, int level)
{
	int n = shmem_n_pes();
	long at;

	if (shmem_atomic_compare_swap(&distance[v / n], FAR, level, v % n) != FAR)
		return;
	at = shmem_atomic_fetch_inc(length, v % n);
	shmem_p(&queue[at], v, v % n);
}

int main(void)
{
	int n, me, level, i, k, wrong = 0;
	int *distance, *queue[2], *want = malloc(VERTICES * sizeof(*want));

	shmem_init();
	n = shmem_n_pes();
	me = shmem_my_pe();
	distance = shmem_malloc((VERTICES / (size_t)n + 1) * sizeof(*distance));
	for (i = 0; i < 2; i++)
		queue[i] = shmem_malloc((VERTICES / (size_t)n + 1) * sizeof(**queue));
	for (i = 0; i <= VERTICES / n; i++)
		distance[i] = FAR;
	shmem_barrier_all();
	if (!me)
		reach(distance, queue[0], &queued[0], 0, 0);
	shmem_barrier_all();
	for (level = 0;; level++) {
		int now = level % 2;

		left = queued[now];
		queued[!now] = 0;
		shmem_sum_reduce(SHMEM_TEAM_WORLD, &left, &left, 1);
		if (!left)
			break;
		for (i = 0; i < queued[now]; i++)
			for (k = 0; k < DEGREE; k++)
				reach(distance, queue[!now], &queued[!now],
				      neighbour(queue[now][i], k), level + 1);
		shmem_barrier_all();
	}
	serial(want);
	for (i = me; i < VERTICES; i += n)
		wrong += distance[i / n] != want[i];
	printf("bfs: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	free(want);
	return wrong != 0;
}
