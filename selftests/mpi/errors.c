// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives that fail because the last member has no memory, or because the
 * device disappears.
 *
 * 	mpirun -n N errors pack		the member cannot pack its elements
 * 	mpirun -n N errors request	as pack, but the members wait for requests
 * 	mpirun -n N errors start	the member cannot start a persistent collective
 * 	mpirun -n N errors together	several requests fail at once, and the error
 * 					handler of the first frees the communicator
 * 	mpirun -n N errors last		as together, but the error handler of the first
 * 					waits for the last
 * 	mpirun -n N errors free		a thread frees the communicator while its error
 * 					handler runs in another
 * 	mpirun -n N errors gone		the devices disappear during a collective
 * 	mpirun -n N errors test		MPI_Testall() of a failed and a pending request
 * 	mpirun -n N errors nested	an error handler waits for a request that fails
 * 	mpirun -n N errors args		arguments that the MPI rejects
 * 	mpirun -n N errors freed	calls on a communicator that was freed, which MPICH
 * 					detects
 *
 * 	mpirun -n N errors abort	MPI_Abort() with 7 while others wait in collectives
 * 	mpirun -n N errors death	a member is killed while others wait in collectives
 *
 * All members get errors and continue, except in the last two cases, which end
 * the job. MPI_COMM_WORLD keeps its error handler, which aborts: the library may
 * call only the handler of the communicator.  Rank 0 prints "N processes: good" at
 * the end.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gone.h"
#include "job.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define BARRIER_INIT	MPIX_Barrier_init
#else
#define BARRIER_INIT	MPI_Barrier_init
#endif

#define SPARE	(8 << 20)	/* bytes that the last member can still allocate */
#define BIG	(32 << 20)	/* bytes that the last member needs */

static struct rlimit limit;
static int handled;
static int denied;	/* allocations of libangara-mpi that will fail */

static void starve(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	check(f && fscanf(f, "%ld", &pages) == 1, "statm", 0);
	if (f)
		fclose(f);
	getrlimit(RLIMIT_AS, &limit);
	if (rank == size - 1)
		setrlimit(RLIMIT_AS, &(struct rlimit){
			.rlim_cur = (rlim_t)pages * 4096 + SPARE,
			.rlim_max = limit.rlim_max });
}

static void feed(void)
{
	setrlimit(RLIMIT_AS, &limit);
}

/* The MPI library exits if it gets no memory, so only libangara-mpi is denied memory. */
void *__libc_malloc(size_t len);

/* The first block that libangara-mpi allocates while @watched is set. */
static int watched;
static void *block;
static size_t block_len;

static int by_library(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "libangara-mpi");
}

void *malloc(size_t len)
{
	int mine = (denied || watched) && by_library(__builtin_return_address(0));
	void *p;

	if (denied && mine) {
		denied--;
		return NULL;
	}
	p = __libc_malloc(len);
	if (watched && mine) {
		watched = 0;
		block = p;
		block_len = len;
	}
	return p;
}

static void handle(MPI_Comm *comm, int *class, ...)
{
	(void)comm;
	(void)class;
	handled++;
}

/* After begin(), the communicator has a team, and all members have left its barrier. */
static void begin(MPI_Comm comm, MPI_Datatype *type)
{
	MPI_Errhandler handler;

	MPI_Type_vector(BIG / 4, 1, 3, MPI_INT, type);
	MPI_Type_commit(type);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Errhandler_free(&handler);
	MPI_Barrier(comm);
	PMPI_Barrier(MPI_COMM_WORLD);
	handled = 0;
}

static void go_on(void)
{
	int a = 1, b = 0;

	MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(b == size, "another communicator", b);
}

static void pack(void)
{
	char *buf = calloc(BIG, 3);
	MPI_Datatype type;
	int ret;

	begin(comms[1], &type);
	starve();
	ret = MPI_Bcast(buf, 1, type, 0, comms[1]);
	feed();
	check(ret != MPI_SUCCESS, "a bcast without memory succeeds", ret);
	ret = MPI_Barrier(comms[1]);
	check(ret != MPI_SUCCESS, "a barrier of a lost team succeeds", ret);
	check(handled == 2, "calls of the error handler", handled);
	go_on();
	MPI_Type_free(&type);
	free(buf);
}

/* Operations that started earlier succeed although memory is missing. */
static void request(void)
{
	int a = 1, b = 0, last = rank == size - 1, got = 0, ret, i;
	char *buf = calloc(BIG, 3);
	MPI_Status statuses[3];
	MPI_Datatype type;
	MPI_Request r[3];

	begin(comms[6], &type);
	MPI_Irecv(&got, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[2]);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[6], &r[0]);
	starve();
	MPI_Ibcast(buf, 1, type, 0, comms[6], &r[1]);
	feed();
	MPI_Send(&a, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
	ret = MPI_Waitall(3, r, statuses);
	check(ret == MPI_ERR_IN_STATUS, "waitall", ret);
	check(statuses[1].MPI_ERROR != MPI_SUCCESS, "a bcast without memory", 0);
	check(statuses[2].MPI_ERROR == MPI_SUCCESS && got == 1, "a message", got);
	check(!last || (statuses[0].MPI_ERROR == MPI_SUCCESS && b == size),
	      "what was called before", b);
	check(handled == 1 || (!last && handled == 2), "calls of the error handler",
	      handled);
	for (i = 0; i < 3; i++)
		check(r[i] == MPI_REQUEST_NULL, "a request is not freed", i);
	MPI_Ibarrier(comms[6], &r[0]);
	ret = MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	check(ret != MPI_SUCCESS, "a barrier of a lost team succeeds", ret);
	go_on();
	MPI_Type_free(&type);
	free(buf);
}

/* A request that failed to start is inactive: a wait returns at once. */
static void start(void)
{
	MPI_Datatype type;
	MPI_Request r;
	int ret, flag = 0;

	begin(comms[1], &type);
	BARRIER_INIT(comms[1], MPI_INFO_NULL, &r);
	denied = rank == size - 1;
	ret = MPI_Start(&r);
	check(!denied, "nothing was allocated", denied);
	if (rank == size - 1) {
		check(ret != MPI_SUCCESS, "a start without memory succeeds", ret);
		ret = MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		check(!ret && flag, "the request is active", ret);
	} else {
		ret = MPI_Wait(&r, MPI_STATUS_IGNORE);
		check(ret != MPI_SUCCESS, "a barrier of a lost team succeeds", ret);
	}
	check(handled == 1, "calls of the error handler", handled);
	MPI_Request_free(&r);
	go_on();
	MPI_Type_free(&type);
}

#define TOGETHER	4

/*
 * The handler of the first failed operation frees the communicator.  That ends
 * the other operations, which also call the handler, before the communicator is gone.
 */
static void handle_and_free(MPI_Comm *comm, int *class, ...)
{
	MPI_Comm mine = *comm;
	int n = 0;

	(void)class;
	MPI_Comm_size(*comm, &n);
	check(n == size, "communicator of an error handler", n);
	if (handled++)
		return;
	MPI_Comm_free(&mine);
	check(handled == TOGETHER, "operations that had ended before", handled);
}

static MPI_Request pending[TOGETHER];

/* The handler of the first failed operation waits for the last one. */
static void handle_the_last(MPI_Comm *comm, int *class, ...)
{
	int ret;

	(void)comm;
	(void)class;
	if (handled++)
		return;
	ret = MPI_Wait(&pending[TOGETHER - 1], MPI_STATUS_IGNORE);
	check(ret != MPI_SUCCESS, "a request of a lost team, in an error handler", ret);
	check(handled == TOGETHER, "operations that had ended before", handled);
}

static void last(void)
{
	char *buf = calloc(BIG, 3);
	MPI_Errhandler handler;
	MPI_Datatype type;
	int ret, i;

	begin(comms[1], &type);
	MPI_Comm_create_errhandler(handle_the_last, &handler);
	MPI_Comm_set_errhandler(comms[1], handler);
	MPI_Errhandler_free(&handler);
	starve();
	MPI_Ibcast(buf, 1, type, 0, comms[1], &pending[0]);
	feed();
	for (i = 1; i < TOGETHER; i++)
		MPI_Ibarrier(comms[1], &pending[i]);
	for (i = 0; i < TOGETHER - 1; i++) {
		ret = MPI_Wait(&pending[i], MPI_STATUS_IGNORE);
		check(ret != MPI_SUCCESS, "a request of a lost team", i);
	}
	check(pending[i] == MPI_REQUEST_NULL, "a request is not freed", i);
	check(handled == TOGETHER, "calls of the error handler", handled);
	go_on();
	MPI_Type_free(&type);
	free(buf);
}

static void together(void)
{
	char *buf = calloc(BIG, 3);
	MPI_Status statuses[TOGETHER];
	MPI_Errhandler handler;
	MPI_Request r[TOGETHER];
	MPI_Datatype type;
	MPI_Comm comm;
	int ret, i;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	begin(comm, &type);
	MPI_Comm_create_errhandler(handle_and_free, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Errhandler_free(&handler);
	starve();
	MPI_Ibcast(buf, 1, type, 0, comm, &r[0]);
	feed();
	for (i = 1; i < TOGETHER; i++)
		MPI_Ibarrier(comm, &r[i]);
	ret = MPI_Waitall(TOGETHER, r, statuses);
	check(ret == MPI_ERR_IN_STATUS, "waitall", ret);
	for (i = 0; i < TOGETHER; i++) {
		check(statuses[i].MPI_ERROR != MPI_SUCCESS, "a request of a lost team", i);
		check(r[i] == MPI_REQUEST_NULL, "a request is not freed", i);
	}
	check(handled == TOGETHER, "calls of the error handler", handled);
	go_on();
	MPI_Type_free(&type);
	free(buf);
}

static int entered, freed;	/* accessed atomically */

static void handle_slowly(MPI_Comm *comm, int *class, ...)
{
	int i;

	(void)class;
	__atomic_store_n(&entered, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 300 && !__atomic_load_n(&freed, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	check(i == 300, "a communicator is freed while its error handler runs", i);
	MPI_Comm_size(*comm, &i);
	check(i == size, "communicator of an error handler", i);
}

static void *free_comm(void *arg)
{
	while (!__atomic_load_n(&entered, __ATOMIC_ACQUIRE))
		usleep(100);
	MPI_Comm_free(arg);
	__atomic_store_n(&freed, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void free_in_thread(void)
{
	char *buf = calloc(BIG, 3);
	MPI_Errhandler handler;
	MPI_Datatype type;
	pthread_t thread;
	MPI_Request r;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	begin(comm, &type);
	MPI_Comm_create_errhandler(handle_slowly, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Errhandler_free(&handler);
	pthread_create(&thread, NULL, free_comm, &comm);
	starve();
	MPI_Ibcast(buf, 1, type, 0, comm, &r);
	feed();
	check(MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a bcast without memory",
	      0);
	pthread_join(thread, NULL);
	check(comm == MPI_COMM_NULL, "the communicator is not freed", 0);
	go_on();
	MPI_Type_free(&type);
	free(buf);
}

#define TAKES	64	/* allocations until the program gets a freed block */
#define FILL	0xa5

/*
 * The program allocates the memory of an operation that ended with the device.
 * When a later call ends the team, nothing may write to this memory.
 */
static void gone(void)
{
	int a = 1, b = 0, ret, i;
	void *taken[TAKES];
	MPI_Datatype type;
	unsigned char *p;
	MPI_Request r;
	size_t at;

	begin(comms[1], &type);
	watched = 1;
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[1], &r);
	__atomic_store_n(&device_gone, 1, __ATOMIC_RELEASE);
	ret = MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(ret != MPI_SUCCESS || size == 1, "an allreduce without a device", ret);
	check(block != NULL, "no operation was allocated", 0);
	for (i = 0, p = NULL; i < TAKES && p != block; i++)
		p = taken[i] = malloc(block_len);
	check(p == block, "the operation was not freed", i);
	memset(p, FILL, block_len);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[1], &r);
	ret = MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(ret != MPI_SUCCESS, "an allreduce of a lost team succeeds", ret);
	for (at = 0; at < block_len && p[at] == FILL; at++)
		;
	check(at == block_len, "freed memory is written at", (int)at);
	check(handled == 2, "calls of the error handler", handled);
	while (i--)
		free(taken[i]);
	MPI_Type_free(&type);
}

/* MPI_Testall() reports the error when all requests are complete, not before. */
static void test(void)
{
	int a = 1, b = 0, got = 0, flag = 0, ret = 0, i;
	MPI_Status statuses[2];
	MPI_Datatype type;
	MPI_Request r[2];

	begin(comms[1], &type);
	__atomic_store_n(&device_gone, 1, __ATOMIC_RELEASE);
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[1], &r[0]);
	MPI_Irecv(&got, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &r[1]);
	while (!flag)
		ret = MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
	check(ret != MPI_SUCCESS, "an allreduce without a device", ret);
	for (i = 0; i < 3; i++) {
		ret = MPI_Testall(2, r, &flag, statuses);
		check(!ret && !flag, "testall of a pending request", ret);
	}
	MPI_Send(&a, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
	for (flag = 0, ret = 0; !flag && !ret;)
		ret = MPI_Testall(2, r, &flag, statuses);
	check(ret == MPI_ERR_IN_STATUS && flag, "testall", ret);
	check(statuses[0].MPI_ERROR != MPI_SUCCESS, "status of a failed request", 0);
	check(statuses[1].MPI_ERROR == MPI_SUCCESS && got == 1, "a message", got);
	for (i = 0; i < 2; i++)
		check(r[i] == MPI_REQUEST_NULL, "a request is not freed", i);
	MPI_Type_free(&type);
}

/*
 * An error handler that waits for a request of its own, which fails, too, and then
 * sends the message for which the program waits.
 */
static void handle_and_wait(MPI_Comm *comm, int *class, ...)
{
	int a = 1, b = 0;
	MPI_Request r;

	(void)class;
	if (handled++)
		return;
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, *comm, &r);
	a = MPI_Wait(&r, MPI_STATUS_IGNORE);
	check(a != MPI_SUCCESS, "an allreduce in an error handler", a);
	MPI_Send(&a, 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
}

#define WAITS	5

/* Return: result of one of the functions that wait for @r, or test it. */
static int wait_by(int function, MPI_Request *r)
{
	int ret = 0, flag = 0, num = 0;

	switch (function) {
	case 0:
		return MPI_Wait(r, MPI_STATUS_IGNORE);
	case 1:
		return MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
	case 2:
		return MPI_Waitany(1, r, &num, MPI_STATUS_IGNORE);
	case 3:
		return MPI_Waitsome(1, r, &num, &flag, MPI_STATUSES_IGNORE);
	default:
		while (!flag && !ret)
			ret = MPI_Test(r, &flag, MPI_STATUS_IGNORE);
		return ret;
	}
}

/* The wait of an error handler does not change the result of the program's wait. */
static void nested(void)
{
	int a = 1, b = 0, got = 0, ret, i;
	MPI_Errhandler handler;
	MPI_Request r, message;
	MPI_Datatype type;

	begin(comms[1], &type);
	MPI_Comm_create_errhandler(handle_and_wait, &handler);
	MPI_Comm_set_errhandler(comms[1], handler);
	MPI_Errhandler_free(&handler);
	__atomic_store_n(&device_gone, 1, __ATOMIC_RELEASE);
	for (i = 0; i < WAITS; i++) {
		handled = 0;
		MPI_Irecv(&got, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &message);
		MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comms[1], &r);
		ret = wait_by(i, &message);
		check(ret == MPI_SUCCESS, "a message fails", i);
		check(handled == 2, "calls of the error handler", handled);
		ret = wait_by(i, &r);
		check(ret != MPI_SUCCESS, "an allreduce without a device", i);
	}
	MPI_Type_free(&type);
}

#define INVALID	8	/* calls with an invalid argument */

/* Makes a call whose count or type is invalid on the side that does not give the length. */
static int invalid(int call, int n, MPI_Datatype type, int counts[], const int displs[])
{
	static int in[MAX_MEMBERS], out[MAX_MEMBERS];
	MPI_Datatype other = rank ? type : MPI_INT;
	int m = rank ? n : 1, ones[MAX_MEMBERS], i;

	for (i = 0; i < size; i++)
		ones[i] = 1;
	switch (call) {
	case 0:
		return MPI_Allgather(in, n, type, out, 1, MPI_INT, comms[1]);
	case 1:
		return MPI_Allgatherv(in, n, type, out, ones, displs, MPI_INT,
				      comms[1]);
	case 2:
		return MPI_Alltoall(in, n, type, out, 1, MPI_INT, comms[1]);
	case 3:
		return MPI_Alltoallv(in, ones, displs, MPI_INT, out, counts, displs,
				     type, comms[1]);
	case 4:
		return MPI_Gather(in, n, type, out, 1, MPI_INT, 0, comms[1]);
	case 5:
		return MPI_Gatherv(in, m, other, out, counts, displs, type, 0,
				   comms[1]);
	case 6:
		return MPI_Scatter(in, 1, MPI_INT, out, n, type, 0, comms[1]);
	default:
		return MPI_Scatterv(in, counts, displs, type, out, m, other, 0,
				    comms[1]);
	}
}

static void args(void)
{
	int counts[MAX_MEMBERS], displs[MAX_MEMBERS], ret, i;
	MPI_Datatype type;

	begin(comms[1], &type);
	for (i = 0; i < size; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	for (i = 0; i < INVALID; i++) {
		ret = invalid(i, 1, MPI_DATATYPE_NULL, counts, displs);
		check(ret != MPI_SUCCESS, "a call without a datatype succeeds", i);
	}
	counts[size - 1] = -1;
	for (i = 0; i < INVALID; i++) {
		ret = invalid(i, -1, MPI_INT, counts, displs);
		check(ret != MPI_SUCCESS, "a call with a negative count succeeds", i);
	}
	check(handled == 2 * INVALID, "calls of the error handler", handled);
	go_on();
	MPI_Type_free(&type);
}

/* MPI reports these errors to MPI_COMM_WORLD. */
static void on_freed(void)
{
	int in[2] = { 1, 1 }, out[MAX_MEMBERS], ret;
	MPI_Comm comm, stale;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	stale = comm;
	MPI_Comm_free(&comm);
	ret = MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, stale);
	check(ret != MPI_SUCCESS, "an allgather on a freed communicator", ret);
	ret = MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, stale);
	check(ret != MPI_SUCCESS, "an allreduce on a freed communicator", ret);
	ret = MPI_Barrier(stale);
	check(ret != MPI_SUCCESS, "a barrier on a freed communicator", ret);
	go_on();
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The last member aborts the job or kills itself while the others wait. */
static void end(int by_abort)
{
	int a = 1, b = 0, i;
	MPI_Request r;

	for (i = 0; i < 100; i++)
		MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(b == size, "before the end", b);
	if (rank == size - 1) {
		usleep(50000);
		if (by_abort)
			MPI_Abort(comms[1], 7);
		raise(SIGKILL);
	}
	MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
	if (rank % 2)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	printf("rank %d goes on\n", rank);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int all, level;

	MPI_Init_thread(&argc, &argv, strcmp(mode, "free") ? MPI_THREAD_SINGLE :
			MPI_THREAD_MULTIPLE, &level);
	comms_make();
	if (!strcmp(mode, "pack"))
		pack();
	else if (!strcmp(mode, "request"))
		request();
	else if (!strcmp(mode, "start"))
		start();
	else if (!strcmp(mode, "together"))
		together();
	else if (!strcmp(mode, "last"))
		last();
	else if (!strcmp(mode, "free"))
		free_in_thread();
	else if (!strcmp(mode, "gone"))
		gone();
	else if (!strcmp(mode, "test"))
		test();
	else if (!strcmp(mode, "nested"))
		nested();
	else if (!strcmp(mode, "args"))
		args();
	else if (!strcmp(mode, "freed"))
		on_freed();
	else if (!strcmp(mode, "abort") || !strcmp(mode, "death"))
		end(!strcmp(mode, "abort"));
	else
		check(0, "unknown mode", argc);
	comms_free();
	PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank && !all)
		printf("%d processes: good\n", size);
	MPI_Finalize();
	return all != 0;
}
