// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: execute schedules with point-to-point messages of MPI. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "algo/run.h"
#include "exec.h"
#include "mpi/place_all.h"

const char exec_name[] = "MPI";

/**
 * struct flight - a collective in progress
 * @run: its steps
 * @reqs: requests of steps in progress
 * @step: step of each request
 * @num: number of requests
 * @done: indices of requests that have ended
 */
struct flight {
	struct ang_run run;
	MPI_Request *reqs;
	u32 *step;
	int num;
	int *done;
};

static char *memory;
static MPI_Comm comm = MPI_COMM_WORLD;	/* processes that exec_run() runs between */

/* Messages to each rank, and their bytes, since the last exec_traffic(). */
static u64 (*sent)[2];
static u32 own, members;

void exec_start(u32 *rank, u32 *size)
{
	int r, n;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	*rank = own = (u32)r;
	*size = members = (u32)n;
	sent = need_memory(members, sizeof(*sent));
}

void exec_end(void)
{
	free(memory);
	free(sent);
	MPI_Finalize();
}

char *exec_memory(size_t bytes)
{
	memory = need_memory(bytes, 1);
	return memory;
}

static void flight_add(struct flight *f, u32 i, MPI_Request req)
{
	f->reqs[f->num] = req;
	f->step[f->num++] = i;
	ang_run_set(&f->run, i, ANG_RUN_BUSY);
}

static int flight_send(void *arg, u32 i)
{
	struct flight *f = arg;
	const struct ang_step *s = &f->run.sched.steps[i];
	MPI_Request req;

	if (s->len > INT_MAX || MPI_Isend(ang_run_data(&f->run, i), (int)s->len, MPI_BYTE,
					  (int)s->peer, (int)s->tag, comm, &req))
		return -EIO;
	sent[s->peer][0]++;
	sent[s->peer][1] += s->len;
	flight_add(f, i, req);
	return 0;
}

static int flight_recv(void *arg, u32 i)
{
	struct flight *f = arg;
	const struct ang_step *s = &f->run.sched.steps[i];
	MPI_Request req;

	if (s->len > INT_MAX || MPI_Irecv(ang_run_data(&f->run, i), (int)s->len, MPI_BYTE,
					  (int)s->peer, (int)s->tag, comm, &req))
		return -EIO;
	flight_add(f, i, req);
	return 0;
}

void exec_combine(void *dst, const void *src, size_t len)
{
	const double *from = src;
	double *to = dst;
	size_t i;

	for (i = 0; i < len / sizeof(*to); i++)
		to[i] += from[i];
}

static void flight_combine(void *arg, void *dst, const void *src, size_t len)
{
	(void)arg;
	exec_combine(dst, src, len);
}

static const struct ang_run_ops flight_ops = {
	.send = flight_send,
	.recv = flight_recv,
	.combine = flight_combine,
};

/* Completes steps whose messages have arrived. */
static void flight_look(struct flight *f)
{
	int n, i, kept = 0;

	if (!f->num)
		return;
	MPI_Waitsome(f->num, f->reqs, &n, f->done, MPI_STATUSES_IGNORE);
	for (i = 0; i < n; i++)
		ang_run_set(&f->run, f->step[f->done[i]], ANG_RUN_ENDED);
	for (i = 0; i < f->num; i++) {
		if (f->reqs[i] == MPI_REQUEST_NULL)
			continue;
		f->reqs[kept] = f->reqs[i];
		f->step[kept++] = f->step[i];
	}
	f->num = kept;
}

void exec_run(const struct ang_coll_args *args, char *in, char *out)
{
	struct flight f = { .num = 0 };

	if (ang_run_init(&f.run, args, &flight_ops, &f))
		exit(fail("no memory for a schedule of %u ranks", args->size));
	f.run.at[ANG_BUF_IN] = in;
	f.run.at[ANG_BUF_OUT] = out;
	f.reqs = need_memory(f.run.sched.width, sizeof(*f.reqs));
	f.step = need_memory(f.run.sched.width, sizeof(*f.step));
	f.done = need_memory(f.run.sched.width, sizeof(*f.done));
	do {
		if (ang_run_go(&f.run) < 0)
			exit(fail("the MPI cannot start a message"));
		flight_look(&f);
	} while (!ang_run_done(&f.run));
	free(f.reqs);
	free(f.step);
	free(f.done);
	ang_run_free(&f.run);
}

void exec_pair(u32 p, u32 q)
{
	MPI_Comm_split(MPI_COMM_WORLD, own == p || own == q ? 0 : MPI_UNDEFINED, (int)own,
		       &comm);
}

void exec_pair_end(void)
{
	if (comm != MPI_COMM_NULL)
		MPI_Comm_free(&comm);
	comm = MPI_COMM_WORLD;
}

void exec_places(u32 *places)
{
	if (ang_place_all(MPI_COMM_WORLD, places))
		exit(fail("cannot get the places of the processes from the MPI"));
}

void exec_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

double exec_most(double value)
{
	double most;

	MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

void exec_traffic(const struct levels *s, struct traffic *t)
{
	u32 i, l;

	*t = (struct traffic){ 0 };
	for (i = 0; i < members; i++) {
		l = level_of(s, s->core[own], s->core[i]);
		t->messages[l] += sent[i][0];
		t->bytes[l] += sent[i][1];
		sent[i][0] = sent[i][1] = 0;
	}
	MPI_Allreduce(MPI_IN_PLACE, t, sizeof(*t) / sizeof(u64), MPI_UINT64_T, MPI_SUM,
		      MPI_COMM_WORLD);
}

bool exec_native(const struct ang_coll_args *args, char *in, char *out)
{
	int count = (int)args->count, root = (int)args->root;

	if (args->count > INT_MAX)
		return false;
	switch (args->coll) {
	case ANG_COLL_BCAST:
		MPI_Bcast(args->rank == args->root ? in : out, count, MPI_DOUBLE, root,
			  MPI_COMM_WORLD);
		return true;
	case ANG_COLL_REDUCE:
		MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
		return true;
	case ANG_COLL_ALLREDUCE:
		MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		return true;
	case ANG_COLL_ALLGATHER:
		MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE,
			      MPI_COMM_WORLD);
		return true;
	default:
		return false;
	}
}
