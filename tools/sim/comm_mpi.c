// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several processes with MPI: the same functions as in comm.c.
 *
 * One thread at a time calls them, while all other threads wait.
 */
#include <mpi.h>
#include "sim.h"

static int size;
static int *counts;	/* bytes by process: [0] to send, [2] to receive; [1], [3]: offsets */
static struct sim_mail *sendbuf;
static struct sim_mail *recvbuf;
static size_t sendsize, recvsize;

void sim_comm_init(struct sim_comm *c, int *argc, char ***argv)
{
	int provided, rank;

	MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (provided < MPI_THREAD_SERIALIZED) {
		fprintf(stderr, "angara-sim: this MPI does not support MPI_THREAD_SERIALIZED\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	c->rank = (u32)rank;
	c->size = (u32)size;
	counts = sim_zalloc(4 * (size_t)size, sizeof(*counts));
}

void sim_comm_end(void)
{
	free(counts);
	free(sendbuf);
	free(recvbuf);
	MPI_Finalize();
}

u64 sim_comm_min(u64 val)
{
	unsigned long long in = val, out;

	MPI_Allreduce(&in, &out, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN,
		      MPI_COMM_WORLD);
	return out;
}

void sim_comm_sum(u64 *vals, u32 n)
{
	MPI_Allreduce(MPI_IN_PLACE, vals, (int)n, MPI_UNSIGNED_LONG_LONG,
		      MPI_SUM, MPI_COMM_WORLD);
}

void sim_comm_max(u64 *vals, u32 n)
{
	MPI_Allreduce(MPI_IN_PLACE, vals, (int)n, MPI_UNSIGNED_LONG_LONG,
		      MPI_MAX, MPI_COMM_WORLD);
}

static struct sim_mail *room(struct sim_mail *buf, size_t *have, size_t need)
{
	if (need <= *have)
		return buf;
	*have = 2 * need;
	buf = realloc(buf, *have * sizeof(*buf));
	if (!buf) {
		fprintf(stderr, "angara-sim: out of memory for packets to other processes\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return buf;
}

/* Collects the mail for the partitions of one process, one partition after another. */
static size_t collect(struct sim *s, u32 rank, size_t at)
{
	u32 q, i;

	for (q = rank * s->threads; q < (rank + 1) * s->threads; q++) {
		for (i = 0; i < s->threads; i++) {
			struct sim_mails *box = &s->part[i].out[q];

			sendbuf = room(sendbuf, &sendsize, at + box->n);
			if (box->n)
				memcpy(sendbuf + at, box->m,
				       box->n * sizeof(*box->m));
			at += box->n;
			box->n = 0;
		}
	}
	return at;
}

static void sort_in(struct sim *s, const struct sim_mail *m)
{
	struct sim_mails *box;
	u32 i = 0;

	while (s->owner_lo[s->part0 + i + 1] <= m->node)
		i++;
	box = &s->inbox[i];
	if (box->n == box->size) {
		size_t have = box->size;

		box->m = room(box->m, &have, have + 64);
		box->size = (u32)have;
	}
	box->m[box->n++] = *m;
}

void sim_comm_exchange(struct sim *s)
{
	int *send = counts, *at = counts + size;
	int *recv = counts + 2 * size, *from = counts + 3 * size;
	size_t n = 0, total = 0, i;
	int r;

	if (!s->inbox)
		s->inbox = sim_zalloc(s->threads, sizeof(*s->inbox));
	for (r = 0; r < size; r++) {
		size_t before = n;

		at[r] = (int)(n * sizeof(*sendbuf));
		if ((u32)r * s->threads != s->part0)
			n = collect(s, (u32)r, n);
		send[r] = (int)((n - before) * sizeof(*sendbuf));
	}
	MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
	for (r = 0; r < size; r++) {
		from[r] = (int)(total * sizeof(*recvbuf));
		total += (size_t)recv[r] / sizeof(*recvbuf);
	}
	recvbuf = room(recvbuf, &recvsize, total);
	MPI_Alltoallv(sendbuf, send, at, MPI_BYTE, recvbuf, recv, from,
		      MPI_BYTE, MPI_COMM_WORLD);
	for (i = 0; i < total; i++)
		sort_in(s, &recvbuf[i]);
}
