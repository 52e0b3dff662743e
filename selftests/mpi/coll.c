// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of MPI compared with the MPI library alone: each call is made
 * twice, as MPI_*, which libangara-mpi may execute, and as PMPI_*, which
 * libangara-mpi does not see.
 *
 * 	mpirun -n N coll each		datatypes, operations, roots, sizes, communicators
 * 	mpirun -n N coll alike		as each, but all members use equal datatypes
 * 	mpirun -n N coll types		every datatype; an operation of the program on a
 * 					derived one
 * 	mpirun -n N coll random SEED STEPS	random calls on overlapping communicators
 * 	mpirun -n N coll threads	with MPI_THREAD_MULTIPLE
 * 	mpirun -n N coll idle		members that wait use no processor time
 * 	mpirun -n N coll fork		a process forks a child
 * 	mpirun -n N coll spawn		starts processes with another MPI_COMM_WORLD
 *
 * Rank 0 prints "N processes: good" at the end if all results were equal.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reductions.h"
#include "world.h"

#define BIG		(1 << 20)	/* bytes of a message that waits for its
					 * receiver
					 */

static int alike;	/* the members of a call have equal datatypes */
static int near;	/* all processes are on one machine, with one clock */

/* Number of layouts of ints; all have the same type signature. */
#define LAYOUTS	5

static MPI_Datatype layout(int which, int count, int *num)
{
	const int lens[2] = { 1, 1 }, swapped[2] = { 1, 0 };
	MPI_Datatype type = MPI_INT;

	*num = count;
	switch (which) {
	case 1:	/* elements with gaps */
		MPI_Type_vector(count, 1, 2, MPI_INT, &type);
		*num = 1;
		break;
	case 2:	/* no gaps, another order */
		MPI_Type_indexed(2, lens, swapped, MPI_INT, &type);
		*num = count / 2;
		break;
	case 3:
		MPI_Type_contiguous(count, MPI_INT, &type);
		*num = 1;
		break;
	case 4:
		MPI_Type_create_resized(MPI_INT, 0, 12, &type);
		break;
	}
	if (type != MPI_INT)
		MPI_Type_commit(&type);
	return type;
}

/* Return: offset of element @i in a layout, in ints. */
static int place(int which, int i)
{
	const int places[LAYOUTS] = { i, 2 * i, i ^ 1, i, 3 * i };

	return places[which];
}

/*
 * Return: the layout of a member; members of one call differ, unless all are
 * @alike.
 */
static int layout_of(int which, int member, int count)
{
	int w = alike ? which % LAYOUTS : (which + member) % LAYOUTS;

	/* Open MPI does not accept zero elements in different layouts. */
	return !which || !count || (w == 2 && count % 2) ? 0 : w;
}

static void bcast(int c, int count, int which, int root)
{
	int *in = (int *)got, *out = (int *)want;
	size_t len = ((size_t)count * 3 + 16) * sizeof(int);
	MPI_Datatype type;
	int here, num, i, w;

	MPI_Comm_rank(comms[c], &here);
	for (i = 0; i < count * 3 + 16; i++)
		in[i] = here == root ? i * 17 + count : -i;
	memcpy(want, got, len);
	w = layout_of(which, here, count);
	for (i = 0; i < count; i++)
		out[place(w, i)] =
			place(layout_of(which, root, count), i) * 17 + count;
	type = layout(w, count, &num);
	MPI_Bcast(got, num, type, root, comms[c]);
	check(!memcmp(got, want, len), "bcast", comm_names[c], count);
	if (type != MPI_INT)
		MPI_Type_free(&type);
}

/*
 * Broadcasts and checks few bytes, so that many broadcasts follow each other
 * fast.
 */
static void bcast_short(int c, int salt)
{
	unsigned char buf[512];
	int n, here, i, len = salt % 500 + 1, good = 1;

	MPI_Comm_size(comms[c], &n);
	MPI_Comm_rank(comms[c], &here);
	memset(buf, here == salt % n ? salt : 0, sizeof(buf));
	MPI_Bcast(buf, len, MPI_BYTE, salt % n, comms[c]);
	for (i = 0; i < len; i++)
		good &= buf[i] == (unsigned char)salt;
	check(good, "short bcast", comm_names[c], salt);
}

/*
 * Return: the time of a clock that all processes of a machine share, unlike
 * MPI_Wtime().
 */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/*
 * According to the common clock, no member leaves before the last one has
 * arrived.
 */
static void barrier(int c, int salt)
{
	double begun = now(), in, out, first, last;
	int n, here;

	MPI_Comm_size(comms[c], &n);
	MPI_Comm_rank(comms[c], &here);
	if (here == salt % n)
		while (now() - begun < 0.002)
			;
	in = now();
	MPI_Barrier(comms[c]);
	out = now();
	PMPI_Allreduce(&in, &last, 1, MPI_DOUBLE, MPI_MAX, comms[c]);
	PMPI_Allreduce(&out, &first, 1, MPI_DOUBLE, MPI_MIN, comms[c]);
	check(!near || first >= last, "barrier", comm_names[c], n);
}

/* Member 1 enters the barrier while member 0 still sends it a message. */
static void pending(int c)
{
	static unsigned char big[BIG];
	MPI_Request req;
	int here, n;

	MPI_Comm_rank(comms[c], &here);
	MPI_Comm_size(comms[c], &n);
	if (n < 2)
		return;
	if (!here)
		MPI_Isend(big, BIG, MPI_BYTE, 1, 5, comms[c], &req);
	if (here == 1)
		MPI_Recv(big, BIG, MPI_BYTE, 0, 5, comms[c], MPI_STATUS_IGNORE);
	MPI_Barrier(comms[c]);
	if (!here)
		MPI_Wait(&req, MPI_STATUS_IGNORE);
}

/*
 * Requests of the MPI library are in flight across collectives of the adapter.
 */
static void mixed(int c, int salt)
{
	MPI_Request reqs[3];
	int a = rank + salt, b = 0, sum = 0, one = 0, all = 0, wanted;

	MPI_Ibarrier(comms[c], &reqs[0]);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[c], &reqs[1]);
	MPI_Allreduce(&a, &sum, 1, MPI_INT, MPI_SUM, comms[c]);
	MPI_Ibcast(&one, 1, MPI_INT, 0, comms[c], &reqs[2]);
	MPI_Waitall(3, reqs, MPI_STATUSES_IGNORE);
	PMPI_Allreduce(&a, &wanted, 1, MPI_INT, MPI_SUM, comms[c]);
	MPI_Scan(&a, &all, 1, MPI_INT, MPI_SUM, comms[c]);
	check(b == wanted && sum == wanted, "mixed requests", comm_names[c], salt);
}

static void user_sum(void *in, void *out, int *n, MPI_Datatype *type)
{
	int i;

	(void)type;
	for (i = 0; i < *n; i++)
		((int *)out)[i] += 2 * ((int *)in)[i];
}

static void user_op(int c)
{
	MPI_Op op;
	int a = rank + 1, b, w;

	MPI_Op_create(user_sum, 0, &op);
	MPI_Allreduce(&a, &b, 1, MPI_INT, op, comms[c]);
	PMPI_Allreduce(&a, &w, 1, MPI_INT, op, comms[c]);
	check(b == w, "user operation", comm_names[c], 1);
	MPI_Op_free(&op);
}

/* Adds the two ints of each element, which has gaps between and after them. */
static void gap_sum(void *in, void *out, int *n, MPI_Datatype *type)
{
	MPI_Aint lb, extent;
	int i, k;

	MPI_Type_get_extent(*type, &lb, &extent);
	for (i = 0; i < *n; i++)
		for (k = 0; k < 2; k++) {
			size_t at = (size_t)i * (size_t)extent + (size_t)k * 2 * sizeof(int);

			*(int *)((char *)out + at) += *(int *)((char *)in + at);
		}
}

/* An operation of the program on elements of a derived datatype. */
static void user_op_derived(int c)
{
	int in[20], out[20], n, here, i, good = 1;
	MPI_Datatype pair, element;
	MPI_Op op;

	MPI_Comm_size(comms[c], &n);
	MPI_Comm_rank(comms[c], &here);
	MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
	MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &element);
	MPI_Type_commit(&element);
	MPI_Op_create(gap_sum, 1, &op);
	for (i = 0; i < 20; i++) {
		in[i] = here * 100 + i;
		out[i] = -1;
	}
	MPI_Allreduce(in, out, 5, element, op, comms[c]);
	for (i = 0; i < 20; i++)
		good &= out[i] == (i % 2 ? -1 : n * (n - 1) * 50 + n * i);
	check(good, "user operation on a derived type", comm_names[c], n);
	MPI_Op_free(&op);
	MPI_Type_free(&element);
	MPI_Type_free(&pair);
}

static void inter(void)
{
	MPI_Comm half, both;
	int a = rank + 1, b = 0, w = 0, other;

	if (size < 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	other = rank % 2 ? 0 : 1;
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 7, &both);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, both);
	PMPI_Allreduce(&a, &w, 1, MPI_INT, MPI_SUM, both);
	MPI_Barrier(both);
	check(b == w, "allreduce", "intercommunicator", 1);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

/* Creates and frees communicators, more than there are trees. */
static void come_and_go(void)
{
	MPI_Comm dup;
	int i, a, b;

	for (i = 0; i < 70; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		a = rank + i;
		MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, dup);
		check(b == size * (size - 1) / 2 + size * i, "allreduce",
		      "short-lived communicator", i);
		MPI_Comm_free(&dup);
	}
}

static void find_near(void)
{
	MPI_Comm here;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			    &here);
	MPI_Comm_size(here, &near);
	near = near == size;
	MPI_Comm_free(&here);
}

/* Tests every length, root and layout, on one communicator. */
static void each_length(int c)
{
	int n, i, root;

	MPI_Comm_size(comms[c], &n);
	for (i = 0; i < COUNTS; i++) {
		allreduce(c, &types[2], &ops[0], counts[i], i % 2);
		allreduce(c, &types[7], &ops[3], counts[i], 1);
		for (root = 0; root < n; root++) {
			reduce(c, &types[4], &ops[0], counts[i], root % 2, root);
			bcast(c, counts[i], root, root);
			bcast(c, counts[i], 0, root);
		}
	}
}

static void each(void)
{
	int c, i;

	for (c = 0; c < COMMS; c++) {
		if (comms[c] == MPI_COMM_NULL)
			continue;
		each_reduction(c);
		each_scattering(c);
		each_length(c);
		user_op(c);
		user_op_derived(c);
		pending(c);
		mixed(c, c);
		for (i = 0; i < 20; i++)
			barrier(c, i);
		/* more short broadcasts than fit into the stage of libangara-mpi */
		for (i = 0; i < 3000; i++)
			bcast_short(c, i);
	}
	inter();
	come_and_go();
}

static void every_type(void)
{
	each_type(0);
	user_op_derived(0);
}

static void random_step(unsigned long *state)
{
	unsigned int what = draw(state), pick = draw(state), len = draw(state);
	int c = (int)(pick % COMMS), n, root;
	int count = counts[len % COUNTS] / (pick % 3 + 1);
	const struct type *t = &types[pick / 8 % TYPES];
	const struct op *op = &ops[len / 16 % OPS];
	MPI_Comm dup;

	if (comms[c] == MPI_COMM_NULL)
		return;
	MPI_Comm_size(comms[c], &n);
	root = (int)(what / 64 % (unsigned int)n);
	if (!(op->kinds & B(t->kind)))
		op = t->kind == PAIR ? &ops[10] : &ops[0];
	switch (what % 16) {
	case 0:
		barrier(c, (int)len & 0xFFFF);
		break;
	case 1:
		pending(c);
		break;
	case 2:
		mixed(c, (int)len % 100);
		break;
	case 3:
		dup = comms[c];
		MPI_Comm_dup(dup, &comms[c]);
		allreduce(c, t, op, count % 64, 0);
		MPI_Comm_free(&comms[c]);
		comms[c] = dup;
		break;
	case 4: case 5: case 6:
		bcast(c, count, (int)len % LAYOUTS, root);
		break;
	case 7: case 8: case 9:
		reduce(c, t, op, count, (int)len % 2, root);
		break;
	case 10: case 11: case 12:
		bcast_short(c, (int)(len % 100));
		break;
	case 13:
		scattered(c, (enum scattering)(len / 2 % SCATTERINGS), t, op, count / 16,
			  (int)len % 2);
		break;
	default:
		allreduce(c, t, op, count, (int)len % 2);
		break;
	}
}

static void *thread(void *arg)
{
	int *c = arg, i, a, b, n;

	MPI_Comm_size(comms[*c], &n);
	for (i = 0; i < 200; i++) {
		a = i;
		MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[*c]);
		check(b == i * n, "allreduce of threads", comm_names[*c], i);
	}
	return NULL;
}

static void threads(void)
{
	static int which[2] = { 1, 6 };
	pthread_t other;

	pthread_create(&other, NULL, thread, &which[0]);
	thread(&which[1]);
	pthread_join(other, NULL);
}

/* Waiting for rank 0, which is late, uses little processor time. */
static void idle(void)
{
	struct timespec late = { .tv_sec = 2 };
	struct rusage before, after;
	double used;

	MPI_Barrier(MPI_COMM_WORLD);
	getrusage(RUSAGE_SELF, &before);
	if (!rank)
		nanosleep(&late, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	getrusage(RUSAGE_SELF, &after);
	used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
	       (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) * 1e-6 +
	       (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec) * 1e-6;
	check(used < 1, "processor time of a wait of 2 s, in ms", "world",
	      (int)(used * 1e3));
}

/* The child calls exit(), which runs the exit handlers of libraries. */
static void forked(void)
{
	int a = rank, b, status = 1;
	pid_t pid;

	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	pid = fork();
	if (!pid)
		exit(0);
	waitpid(pid, &status, 0);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(b == size * (size - 1) / 2 && !status, "allreduce after a fork",
	      "world", b);
}

/* Parents and children each use adapters; together they use only the MPI library. */
static void spawned(char *program, MPI_Comm parent)
{
	char word[] = "spawn", *args[] = { word, NULL };
	MPI_Comm both = parent, all;
	int a = 1, b = 0;

	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(program, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
			       &both, MPI_ERRCODES_IGNORE);
	MPI_Barrier(both);
	MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &all);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, all);
	check(b == (parent == MPI_COMM_NULL ? size + 2 : b), "allreduce",
	      "parents and children", b);
	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(b == size, "allreduce", "own world", b);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&both);
}

int main(int argc, char **argv)
{
	char *program = argv[0];
	MPI_Comm parent;
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned long state = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	long steps = argc > 3 ? atol(argv[3]) : 1000;
	int level, all;

	MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") ?
			MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
	comms_make();
	reductions_open();
	MPI_Comm_get_parent(&parent);
	find_near();
	alike = !strcmp(mode, "alike");
	if (alike || !strcmp(mode, "each"))
		each();
	else if (!strcmp(mode, "types"))
		every_type();
	else if (!strcmp(mode, "random"))
		while (steps--)
			random_step(&state);
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "idle"))
		idle();
	else if (!strcmp(mode, "fork"))
		forked();
	else if (!strcmp(mode, "spawn"))
		spawned(program, parent);
	else
		check(0, "mode", mode, argc);
	comms_free();
	PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank && !all && parent == MPI_COMM_NULL)
		printf("%d processes: good\n", size);
	MPI_Finalize();
	reductions_close();
	return all != 0;
}
