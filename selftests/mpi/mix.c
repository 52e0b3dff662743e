// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * All collectives of MPI in all forms: blocking, non-blocking, persistent, and
 * with large counts if the MPI library has them.  The test computes the results
 * from the members' numbers, without the MPI library.
 *
 * 	mpirun -n N mix each		each collective with each sort of argument
 * 	mpirun -n N mix random SEED STEPS	random calls, many in progress at once,
 * 					completed in another order by each process
 * 	mpirun -n N mix order		members wait in orders that could deadlock
 * 	mpirun -n N mix threads STEPS	threads on communicators of their own
 * 	mpirun -n N mix many		threads, and more communicators than contexts
 * 	mpirun -n N mix late		non-blocking calls before a communicator has a team
 * 	mpirun -n N mix world		the first call is non-blocking, on MPI_COMM_WORLD
 * 	mpirun -n N mix status		MPI_Request_get_status of several requests, of MPI 4.1
 * 	mpirun -n N mix starts		persistent collectives, started in other orders by members
 * 	mpirun -n N mix native		waits, also for a persistent request of the MPI library
 * 	mpirun -n N mix long		elements of more than 1 GiB; 6 GB of memory
 * 	mpirun -n N mix longer		elements of more than 2 GiB; 10 GB
 *
 * Rank 0 prints "N processes: good" at the end if all results were as computed.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forms.h"
#include "job.h"

/* MPICH itself fails in MPI_Testall() of active persistent requests. */
#ifdef OPEN_MPI
#define PERSIST_IN_ARRAYS	1
#else
#define PERSIST_IN_ARRAYS	0
#endif

#define JOBS	12
#define MANY	300	/* communicators: more than a node has contexts */

/*
 * MPICH itself repeats these collectives wrongly: it copies the data when a
 * request is made.
 */
static int only_once(enum coll coll)
{
#ifdef OPEN_MPI
	(void)coll;
	return 0;
#else
	return coll == GATHER || coll == SCATTER;
#endif
}

/* Verifies a completed collective; repeats it if it is persistent. */
static void finish(struct job *j)
{
	int i;

	verify(j);
	if (j->form == PERSIST && j->req != MPI_REQUEST_NULL) {
		for (i = only_once(j->coll) ? 2 : 0; i < 2; i++) {
			/*
			 * Contribute other numbers, unless the salt determines
			 * the counts, too.
			 */
			if (j->coll != REDUCE_SCATTER && !is_v(j->coll))
				j->salt++;
			fill(j);
			MPI_Startall(1, &j->req);
			MPI_Wait(&j->req, MPI_STATUS_IGNORE);
			verify(j);
		}
		MPI_Request_free(&j->req);
	}
	release(j);
}

static void once(struct job j)
{
	if (comms[j.c] == MPI_COMM_NULL)
		return;
	prepare(&j);
	start(&j);
	if (j.req != MPI_REQUEST_NULL)
		MPI_Wait(&j.req, MPI_STATUS_IGNORE);
	finish(&j);
}

static const int lengths[] = { 0, 1, 2, 5, 64, 1000, 7000, 17000 };
#define LENGTHS	((int)(sizeof(lengths) / sizeof(*lengths)))

static void each(void)
{
	int coll, form, c, i, root;

	for (c = 0; c < COMMS; c++)
		for (coll = 0; coll < COLLS; coll++)
			for (form = 0; form < FORMS; form++)
				for (i = 0; i < LENGTHS * 3; i++)
					once((struct job){
						.coll = coll, .form = form, .c = c,
						.root = i, .salt = i + c,
						.count = lengths[i % LENGTHS],
						.type = i % TYPES,
						.op = (i / 3) % OPS,
						.in_place = i % 5 == 1,
						.gaps = { (rank + i) % 4 == 1,
							  (rank + i) % 4 > 1 },
					});
	/* Use each rank as the root in turn. */
	for (coll = 0; coll < COLLS; coll++)
		for (root = 0; root < size; root++)
			for (form = 0; form < 2; form++)
				once((struct job){
					.coll = coll, .form = form, .root = root,
					.salt = root, .count = 33,
					.in_place = root % 2,
				});
}

/*
 * Jobs in progress, except blocking ones, in one array of requests; after them
 * a receive from one neighbor and a send to the other.
 */
#define REQS	(JOBS + 2)
static struct job jobs[JOBS];
static MPI_Request reqs[REQS];
static int numbers[2];

static void over(int i)
{
	if (i == JOBS)
		check(numbers[1] == numbers[0], "message", numbers[1]);
	if (i < JOBS) {
		verify(&jobs[i]);
		release(&jobs[i]);
		if (jobs[i].form == PERSIST && reqs[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&reqs[i]);
	}
	reqs[i] = MPI_REQUEST_NULL;
}

static void complete_one(int i)
{
	MPI_Status status;
	int flag = 0;

	if (reqs[i] == MPI_REQUEST_NULL)
		return;
	MPI_Request_get_status(reqs[i], &flag, &status);
	if (flag)
		MPI_Wait(&reqs[i], &status);
	else
		MPI_Test(&reqs[i], &flag, &status);
	if (flag)
		over(i);
}

/* Completes one, some or all of the jobs, as this process chooses at random. */
static void complete(unsigned long *mine)
{
	int indices[REQS], n = 0, i, flag = 0;
	MPI_Status status;

	switch (draw(mine) % 6) {
	case 0:
		MPI_Waitany(REQS, reqs, &i, &status);
		if (i != MPI_UNDEFINED)
			over(i);
		break;
	case 1:
		MPI_Testsome(REQS, reqs, &n, indices, MPI_STATUSES_IGNORE);
		for (i = 0; n != MPI_UNDEFINED && i < n; i++)
			over(indices[i]);
		break;
	case 2:
		MPI_Waitsome(REQS, reqs, &n, indices, MPI_STATUSES_IGNORE);
		for (i = 0; n != MPI_UNDEFINED && i < n; i++)
			over(indices[i]);
		break;
	case 3:
		MPI_Testany(REQS, reqs, &i, &flag, &status);
		if (flag && i != MPI_UNDEFINED)
			over(i);
		break;
	case 4:
		complete_one((int)(draw(mine) % REQS));
		break;
	default:
		i = (int)(draw(mine) % REQS);
		if (reqs[i] == MPI_REQUEST_NULL)
			break;
		MPI_Wait(&reqs[i], &status);
		over(i);
		break;
	}
}

static void complete_all(int from, int to)
{
	MPI_Request copy[REQS];
	int i, flag = 0;

	memcpy(copy, reqs, sizeof(copy));
	if (from == to)
		return;
	if ((rank + from) % 2)
		MPI_Waitall(to - from, reqs + from, MPI_STATUSES_IGNORE);
	else
		while (!flag)
			MPI_Testall(to - from, reqs + from, &flag,
				    MPI_STATUSES_IGNORE);
	for (i = from; i < to; i++)
		if (copy[i] != MPI_REQUEST_NULL)
			over(i);
}

/* Sends a message around the ring, in progress alongside collectives. */
static void message(int salt)
{
	complete_all(JOBS, REQS);
	numbers[0] = salt;
	numbers[1] = -1;
	MPI_Irecv(&numbers[1], 1, MPI_INT, (rank + size - 1) % size, 9,
		  MPI_COMM_WORLD, &reqs[JOBS]);
	MPI_Isend(&numbers[0], 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD,
		  &reqs[JOBS + 1]);
}

static struct job drawn(unsigned long *state)
{
	unsigned int a = draw(state), b = draw(state), d = draw(state);
	unsigned int e = draw(state);

	return (struct job){
		.coll = a % COLLS, .form = a / 64 % 8 < 4 ? NONBLOCKING :
					   a / 64 % FORMS,
		.c = (int)(b % COMMS), .root = (int)(b / 64 % 64),
		.count = d % 16 ? lengths[d / 16 % 6] : lengths[d / 16 % LENGTHS],
		.type = (int)(e % TYPES), .op = (int)(e / 8 % OPS),
		.in_place = e / 64 % 4 == 0, .salt = (int)(d / 256 % 50),
		.gaps = { (e / 512 + (unsigned int)rank) % 4 == 0,
			  (e / 2048 + (unsigned int)rank) % 4 == 0 },
	};
}

static void random_calls(unsigned long seed, long steps)
{
	unsigned long state = seed, mine = seed * 31 + (unsigned long)rank;
	long step;
	int i;

	for (i = 0; i < REQS; i++)
		reqs[i] = MPI_REQUEST_NULL;
	for (step = 0; step < steps; step++) {
		struct job j = drawn(&state);
		int what = (int)(draw(&state) % 16);

		if (!what)
			message((int)step);
		if (comms[j.c] == MPI_COMM_NULL)
			continue;
		/*
		 * once() repeats every second persistent job, which waits for
		 * the other members: all members do that at the same step.
		 */
		if (j.form != NONBLOCKING &&
		    (j.form != PERSIST || what % 2 || !PERSIST_IN_ARRAYS)) {
			once(j);
			continue;
		}
		for (i = 0; i < JOBS && reqs[i] != MPI_REQUEST_NULL; i++)
			;
		while (i == JOBS) {
			complete(&mine);
			for (i = 0; i < JOBS && reqs[i] != MPI_REQUEST_NULL; i++)
				;
		}
		jobs[i] = j;
		prepare(&jobs[i]);
		start(&jobs[i]);
		reqs[i] = jobs[i].req;
		if (what % 4 == 1)
			complete(&mine);
	}
	complete_all(0, JOBS);
	complete_all(JOBS, REQS);
}

/*
 * Rank 0 first waits for a collective, then sends; the others first receive, and
 * wait for their collectives afterwards, in the reverse order.
 */
static void order(void)
{
	int a[3] = { rank, rank + 1, rank + 2 }, b[3], got = 0, i, t;
	int sum = size * (size - 1) / 2;
	MPI_Request r[3];

	MPI_Barrier(MPI_COMM_WORLD);
	for (t = 0; t < 50; t++) {
		for (i = 0; i < 3; i++)
			MPI_Iallreduce(&a[i], &b[i], 1, MPI_INT, MPI_SUM,
				       comms[i % 2], &r[i]);
		if (!rank) {
			MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
			for (i = 1; i < size; i++)
				MPI_Send(&t, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			check(got == t, "message", got);
			for (i = 2; i >= 0; i--)
				MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		}
		for (i = 0; i < 3; i++)
			check(b[i] == sum + size * i, "sum", b[i]);
	}
}

/*
 * The first collective of a communicator makes its team: some members call it
 * only after operations that need the progress of the others.
 */
static void order_of_teams(void)
{
	int a = rank, b[2], i, t;
	MPI_Request r[2];
	MPI_Comm fresh;

	for (t = 0; t < 10; t++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
		for (i = 0; i < 2; i++)
			MPI_Iallreduce(&a, &b[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
				       &r[i]);
		if (rank % 2)
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Barrier(fresh);
		if (rank % 2 == 0)
			MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (i = 0; i < 2; i++)
			check(b[i] == size * (size - 1) / 2, "sum beside a new team", b[i]);
		MPI_Comm_free(&fresh);
	}
}

/* A type may be freed while a collective uses it. */
static void types_freed(void)
{
	MPI_Datatype every_second, pair;
	MPI_Request r[2];
	int i, t;

	for (t = 0; t < 20; t++) {
		int to[8], all[4 * MAX_MEMBERS], mine[4];

		for (i = 0; i < 8; i++)
			to[i] = rank ? -1 : i + t;
		for (i = 0; i < 4; i++)
			mine[i] = 4 * rank + i + t;
		for (i = 0; i < 4 * size; i++)
			all[i] = -1;
		MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
		MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
		MPI_Type_commit(&every_second);
		MPI_Type_commit(&pair);
		MPI_Ibcast(to, 1, every_second, 0, MPI_COMM_WORLD, &r[0]);
		/* In a block of three ints, the second one stays. */
		MPI_Iallgather(mine, 1, pair, all, 1, pair, MPI_COMM_WORLD, &r[1]);
		MPI_Type_free(&every_second);
		MPI_Type_free(&pair);
		/* A new type may get the handle of a freed one. */
		MPI_Type_contiguous(5, MPI_INT, &pair);
		MPI_Type_commit(&pair);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Type_free(&pair);
		for (i = 0; i < 7; i++)
			check(to[i] == (i % 2 && rank ? -1 : i + t), "freed vector", to[i]);
		for (i = 0; i < 3 * size; i++)
			check(all[i] == (i % 3 == 1 ? -1 : 4 * (i / 3) + i % 3 + t),
			      "freed pair", all[i]);
	}
}

#ifdef PERSISTENT
/* A type may also be freed before a persistent collective starts. */
static void types_freed_early(void)
{
	MPI_Datatype every_second;
	MPI_Request r;
	int to[8], i, t;

	MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
	MPI_Type_commit(&every_second);
	for (t = 0; t < 3; t++) {
		if (!t) {
			INIT(Bcast)(to, 1, every_second, 0, MPI_COMM_WORLD,
				    MPI_INFO_NULL, &r);
			MPI_Type_free(&every_second);
			/*
			 * A new datatype may get the handle of the freed one.
			 */
			MPI_Type_contiguous(5, MPI_INT, &every_second);
			MPI_Type_commit(&every_second);
		}
		for (i = 0; i < 8; i++)
			to[i] = rank ? -1 : i + t;
		MPI_Start(&r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		for (i = 0; i < 7; i++)
			check(to[i] == (i % 2 && rank ? -1 : i + t),
			      "vector freed before the start", to[i]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Request_free(&r);
	MPI_Type_free(&every_second);
}
#else
static void types_freed_early(void)
{
}
#endif

static void *thread(void *arg)
{
	const int *which = arg;
	int i, a, b, n, me, all[MAX_MEMBERS], good;
	MPI_Request r[2];

	MPI_Comm_size(comms[which[0]], &n);
	MPI_Comm_rank(comms[which[0]], &me);
	for (i = 0; i < which[1]; i++) {
		a = i + me;
		MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[which[0]]);
		good = b == i * n + n * (n - 1) / 2;
		b = 0;
		MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_MAX, comms[which[0]], &r[0]);
		MPI_Iallgather(&a, 1, MPI_INT, all, 1, MPI_INT, comms[which[0]],
			       &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		check(good && b == i + n - 1 && all[n - 1] == b, "thread", i);
		if (i % 16 == 15)
			MPI_Barrier(comms[which[0]]);
	}
	return NULL;
}

/* Threads make their communicators' teams in different orders. */
static void threads(int steps)
{
	int which[3][2] = { { 1, steps }, { 6, steps }, { 0, steps } };
	pthread_t t[2];
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, which[(i + rank) % 2]);
	thread(which[2]);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

/* Makes more communicators than the adapter has contexts. */
static void many(void)
{
	MPI_Comm all[MANY];
	int i, t, a = rank, b;

	for (i = 0; i < MANY; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &all[i]);
	for (t = 0; t < 3; t++)
		for (i = 0; i < MANY; i++) {
			MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, all[i]);
			check(b == size * (size - 1) / 2, "many communicators", b);
		}
	for (i = 0; i < MANY; i++)
		MPI_Comm_free(&all[i]);
}

/* A non-blocking call needs a team: MPI_COMM_WORLD has one at the start. */
static void world(void)
{
	int a = rank, b = -1;
	MPI_Request r;

	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(b == size * (size - 1) / 2, "the world's first", b);
}

static void late(void)
{
	int a = rank, b = -1;
	MPI_Request r;

	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[1], &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(b == size * (size - 1) / 2, "before there is a team", b);
	MPI_Barrier(comms[1]);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_MAX, comms[1], &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(b == size - 1, "with a team", b);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/*
 * Functions that tell which requests are complete let collectives make progress,
 * also if the program only repeats these calls; the requests stay.
 */
static int several(int which, MPI_Request r[3], int *at)
{
	int flag = 0, done = 0, indices[3] = { 0 };

	switch (which) {
	case 0:
		MPI_Request_get_status_all(3, r, &flag, MPI_STATUSES_IGNORE);
		return flag;
	case 1:
		MPI_Request_get_status_any(3, r, at, &flag, MPI_STATUS_IGNORE);
		return flag;
	default:
		MPI_Request_get_status_some(3, r, &done, indices, MPI_STATUSES_IGNORE);
		*at = indices[0];
		return done > 0;
	}
}

static void status(void)
{
	int a[3] = { rank, rank + 1, rank + 2 }, b[3], i, t, at;
	double until = MPI_Wtime() + 60;
	MPI_Request r[3];

	for (t = 0; t < 30; t++) {
		at = 0;
		for (i = 0; i < 3; i++)
			MPI_Iallreduce(&a[i], &b[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
				       &r[i]);
		while (!several(t % 3, r, &at) && MPI_Wtime() < until)
			;
		check(MPI_Wtime() < until, "no request is complete", t);
		check(at >= 0 && at < 3 && b[at] == size * (size - 1) / 2 + size * at, "sum", b[at]);
		for (i = 0; i < 3; i++)
			check(r[i] != MPI_REQUEST_NULL, "request that stays", i);
		MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
		for (i = 0; i < 3; i++)
			check(b[i] == size * (size - 1) / 2 + size * i, "sum", b[i]);
	}
}
#else
static void status(void)
{
	check(0, "no MPI 4.1", MPI_VERSION);
}
#endif

#ifdef PERSISTENT
/* A collective of the MPI library is in progress when the wait starts. */
static void native(void)
{
	short a = (short)rank, b;
	int c = rank, d, i;
	MPI_Request r[2];

	INIT(Allreduce)(&a, &b, 1, MPI_SHORT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
			&r[0]);
	for (i = 0; i < 20; i++) {
		b = -1;
		d = -1;
		if (rank == size - 1)
			usleep(20000);
		MPI_Start(&r[0]);
		MPI_Iallreduce(&c, &d, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		check(b == size * (size - 1) / 2, "the MPI's", b);
		check(d == size - 1, "beside the MPI's", d);
	}
	MPI_Request_free(&r[0]);
}

/*
 * Members start the same persistent reductions in different orders, alone, as an
 * array, and with a blocking reduction between them.
 */
static void starts(void)
{
	enum { NUM = 4 };
	int in[NUM], out[NUM], one = 1, sum, round, i;
	MPI_Request r[NUM], turned[NUM];

	for (i = 0; i < NUM; i++) {
		INIT(Allreduce)(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
				MPI_INFO_NULL, &r[i]);
	}
	for (round = 0; round < 30; round++) {
		for (i = 0; i < NUM; i++)
			in[i] = 100 * i + round;
		for (i = 0; i < NUM; i++)
			turned[i] = r[(i + rank) % NUM];
		if (round % 3 == 0) {
			MPI_Startall(NUM, turned);
		} else {
			for (i = 0; i < NUM; i++) {
				if (round % 3 == 1 && i == rank % NUM)
					MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM,
						      MPI_COMM_WORLD);
				MPI_Start(&turned[i]);
			}
		}
		MPI_Waitall(NUM, r, MPI_STATUSES_IGNORE);
		for (i = 0; i < NUM; i++)
			check(out[i] == size * in[i], "a sum of another reduction", out[i]);
		check(round % 3 != 1 || sum == size, "a sum between them", sum);
	}
	for (i = 0; i < NUM; i++)
		MPI_Request_free(&r[i]);
}
#else
static void native(void)
{
	check(0, "no persistent collectives", 0);
}

static void starts(void)
{
	native();
}
#endif

#define MIB_DOUBLES	(1 << 17)	/* doubles in 1 MiB */

/* Checks a message that repeats the same MiB of doubles. */
static void check_mibs(const double *all, int mibs, int from, const char *what)
{
	long i, wrong = 0;

	for (i = 0; i < (long)mibs * MIB_DOUBLES; i += 4099)
		wrong += all[i] != from * 1000.0 + (double)(i % MIB_DOUBLES);
	check(!wrong, what, (int)wrong);
}

/* Two processes send an element of @mibs MiB, the same MiB repeated. */
static void long_elements(int mibs)
{
	double *one = malloc(MIB_DOUBLES * sizeof(*one)), *all = NULL;
	int last = size - 1, zero = 0, counts[MAX_MEMBERS] = { 0 };
	int displs[MAX_MEMBERS] = { 0 }, i;
	MPI_Datatype thin, wide;

	check(size == 2, "not two processes", size);
	for (i = 0; i < MIB_DOUBLES; i++)
		one[i] = rank * 1000.0 + i;
	MPI_Type_create_hvector(mibs, MIB_DOUBLES, 0, MPI_DOUBLE, &thin);
	MPI_Type_commit(&thin);
	MPI_Type_contiguous(mibs * MIB_DOUBLES, MPI_DOUBLE, &wide);
	MPI_Type_commit(&wide);
	if (!rank)
		all = malloc((size_t)mibs << 20);
	counts[last] = mibs * MIB_DOUBLES;
	MPI_Gatherv(one, rank == last, thin, all, counts, displs, MPI_DOUBLE, 0,
		    MPI_COMM_WORLD);
	if (!rank)
		check_mibs(all, mibs, last, "a long element");
	free(all);
	all = rank == last ? malloc((size_t)mibs << 20) : NULL;
	counts[last] = 1;
	MPI_Scatterv(one, counts, displs, thin, rank == last ? (void *)all : &zero,
		     rank == last, wide, 0, MPI_COMM_WORLD);
	if (rank == last)
		check_mibs(all, mibs, 0, "a long element from the root");
	MPI_Barrier(MPI_COMM_WORLD);
	if (mibs < 2048) {
		if (rank == last)
			memset(all, 0, (size_t)mibs << 20);
		MPI_Bcast(rank ? all : one, 1, rank ? wide : thin, 0, MPI_COMM_WORLD);
		if (rank)
			check_mibs(all, mibs, 0, "a long element to all");
	}
	free(all);
	free(one);
	MPI_Type_free(&thin);
	MPI_Type_free(&wide);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	long number = argc > 2 ? atol(argv[2]) : 1;
	long steps = argc > 3 ? atol(argv[3]) : 1000;
	int level, all;

	MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") && strcmp(mode, "many") ?
			MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
	comms_make();
	ops_make();
	forms_make();
	if (!strcmp(mode, "each"))
		each();
	else if (!strcmp(mode, "random"))
		random_calls((unsigned long)number, steps);
	else if (!strcmp(mode, "order")) {
		order();
		order_of_teams();
		types_freed();
		types_freed_early();
	} else if (!strcmp(mode, "threads"))
		threads((int)number);
	else if (!strcmp(mode, "many"))
		many();
	else if (!strcmp(mode, "late"))
		late();
	else if (!strcmp(mode, "world"))
		world();
	else if (!strcmp(mode, "status"))
		status();
	else if (!strcmp(mode, "starts"))
		starts();
	else if (!strcmp(mode, "native"))
		native();
	else if (!strcmp(mode, "long"))
		long_elements(1100);
	else if (!strcmp(mode, "longer"))
		long_elements(2100);
	else
		check(0, "unknown mode", argc);
	comms_free();
	ops_free();
	forms_free();
	PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank && !all && strcmp(mode, "random"))
		printf("%d processes: good\n", size);
	else if (!rank && !all)
		printf("# seed %ld, %ld steps\n%d processes: good\n", number, steps,
		       size);
	MPI_Finalize();
	return all != 0;
}
