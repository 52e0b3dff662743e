// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions of this library for Fortran programs.  Without them a program would
 * bypass this library, since the Fortran library of the MPI calls the profiling
 * interface:
 *
 *   Open MPI	in all functions.  The module mpi_f08 calls ompi_*_f(); mpif.h and the
 *		module mpi call mpi_*_()
 *   MPICH	in functions of the module mpi_f08 that have no buffers.  All other
 *		functions call the functions for C
 */
#include <assert.h>
#include <stdlib.h>

#include "ami.h"
#include "colls.h"

#ifdef OPEN_MPI
/*
 * Defines all names of a function: the name in mpi_f08, and the spellings of
 * gfortran.  The spelling without an underscore is not defined: a program in C may
 * have its own function of that name, and this library would take its place.
 */
#define ALIAS(func)	__attribute__((visibility("default"), alias(#func)))
#define FORTRAN(name, ...)	FORTRAN_NAMES(name, ompi_##name##_f, mpi_##name, __VA_ARGS__)
#define FORTRAN_NAMES(name, func, spelt, ...)				\
	EXPORT void func(__VA_ARGS__);					\
	ALIAS(func) void spelt##_(__VA_ARGS__);				\
	ALIAS(func) void spelt##__(__VA_ARGS__);			\
	void func(__VA_ARGS__)
/* The MPI's own function; NULL in a program without Fortran. */
#define PROFILED(name)	pmpi_##name##_
#else
#define FORTRAN(name, ...)						\
	EXPORT void mpi_##name##_f08_(__VA_ARGS__);			\
	void mpi_##name##_f08_(__VA_ARGS__)
#define PROFILED(name)	pmpir_##name##_f08_
#endif

static void fortran_result(MPI_Fint *ierr, int ret)
{
	if (ierr)
		*ierr = ret;
}

FORTRAN(init, MPI_Fint *ierr)
{
	fortran_result(ierr, MPI_Init(NULL, NULL));
}

FORTRAN(init_thread, MPI_Fint *wanted, MPI_Fint *given, MPI_Fint *ierr)
{
	int level = 0;
	int ret = MPI_Init_thread(NULL, NULL, *wanted, &level);

	if (!ret)
		*given = level;
	fortran_result(ierr, ret);
}

FORTRAN(comm_free, MPI_Fint *comm, MPI_Fint *ierr)
{
	MPI_Comm c = PMPI_Comm_f2c(*comm);
	int ret = MPI_Comm_free(&c);

	if (!ret)
		*comm = PMPI_Comm_c2f(c);
	fortran_result(ierr, ret);
}

FORTRAN(comm_disconnect, MPI_Fint *comm, MPI_Fint *ierr)
{
	MPI_Comm c = PMPI_Comm_f2c(*comm);
	int ret = MPI_Comm_disconnect(&c);

	if (!ret)
		*comm = PMPI_Comm_c2f(c);
	fortran_result(ierr, ret);
}

/*
 * Fortran and C statuses have one layout; only the addresses that mean "ignore"
 * differ.
 */
#ifdef MPI_F_STATUS_SIZE
static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint),
	      "statuses differ");
#endif

#ifdef OPEN_MPI
static MPI_Status *fortran_status(MPI_Fint *status)
{
	return status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ?
	       MPI_STATUS_IGNORE : (MPI_Status *)status;
}
#else
/* In a program without Fortran, the addresses of these variables are NULL. */
extern MPI_F08_status *MPI_F08_STATUS_IGNORE __attribute__((weak));
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE __attribute__((weak));

static MPI_Status *fortran_status(MPI_Fint *status)
{
	const void *s = status;

	return (&MPI_F08_STATUS_IGNORE && s == MPI_F08_STATUS_IGNORE) ||
	       (&MPI_F08_STATUSES_IGNORE && s == MPI_F08_STATUSES_IGNORE) ?
	       MPI_STATUS_IGNORE : (MPI_Status *)status;
}
#endif

#define ARRAY(many, ...)							\
	((struct ami_done){ .num = (many), .base = 1, __VA_ARGS__ })
#define NONE			ARRAY(0, .freqs = NULL)
#define THIS(done)		ARRAY(done, .freqs = req)
#define ANY(done)		ARRAY(done, .places = index, .freqs = reqs)
#define ALL(done)		ARRAY((done) ? *n : 0, .freqs = reqs)
#define SOME			ARRAY(*num, .places = indices, .freqs = reqs)
#define ONE_OF(done)		ami_failed_one(err, done, fortran_status(status))
#define SOME_OF(done)		ami_failed_some(err, done, fortran_status(statuses))

/*
 * Functions that wait for requests, as in request.c: the corresponding test
 * function does the work, with the Fortran arguments.
 */
#define WAIT(name, params, args, test, test_params, test_args, tested, result) \
	extern void PROFILED(name) params __attribute__((weak));	\
	extern void PROFILED(test) test_params __attribute__((weak));	\
	FORTRAN(name, PARAMS params)					\
	{								\
		MPI_Fint flag = 0, err = MPI_SUCCESS;			\
		u32 turns = 0;						\
									\
		(void)flag;						\
		for (; ami_pending(); ami_relax(turns++)) {		\
			ami_progress();					\
			ami_failed_none();				\
			PROFILED(test) test_args;			\
			if (err || (tested)) {				\
				fortran_result(ierr, result);		\
				return;					\
			}						\
		}							\
		ami_failed_none();					\
		PROFILED(name) args;					\
		fortran_result(ierr, result);				\
	}

#define TEST_BY(define, profiled, params, args, result)		\
	extern void profiled params __attribute__((weak));		\
	define								\
	{								\
		MPI_Fint err = MPI_SUCCESS;				\
									\
		if (ami_pending())					\
			ami_progress();					\
		ami_failed_none();					\
		profiled args;						\
		fortran_result(ierr, result);				\
	}

/* In the module mpi_f08 of Open MPI, the functions that test requests call pmpi_*_(). */
#ifdef OPEN_MPI
#define TEST(name, params, args, result)				\
	TEST_BY(FORTRAN(name, PARAMS params), PROFILED(name), params, args, \
		result)							\
	EXPORT void mpi_##name##_f08_ params;				\
	TEST_BY(void mpi_##name##_f08_ params, pmpi_##name##_f08_, params, args, \
		result)
#else
#define TEST(name, params, args, result)				\
	TEST_BY(FORTRAN(name, PARAMS params), PROFILED(name), params, args, \
		result)
#endif

#define PARAMS(...)	__VA_ARGS__

WAIT(wait, (MPI_Fint *req, MPI_Fint *status, MPI_Fint *ierr),
     (req, status, &err), test,
     (MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *),
     (req, &flag, status, &err), flag, ONE_OF(THIS(1)))
WAIT(waitany, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *index, MPI_Fint *status,
	       MPI_Fint *ierr), (n, reqs, index, status, &err), testany,
     (MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *),
     (n, reqs, index, &flag, status, &err), flag, ONE_OF(ANY(1)))
WAIT(waitsome, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *num, MPI_Fint *indices,
		MPI_Fint *statuses, MPI_Fint *ierr),
     (n, reqs, num, indices, statuses, &err), testsome,
     (MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *),
     (n, reqs, num, indices, statuses, &err), *num, SOME_OF(SOME))

extern void PROFILED(waitall)(MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *statuses,
			      MPI_Fint *ierr) __attribute__((weak));

FORTRAN(waitall, MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *statuses, MPI_Fint *ierr)
{
	MPI_Fint err = MPI_SUCCESS;

	ami_requests_wait(ALL(true));
	ami_failed_none();
	PROFILED(waitall)(n, reqs, statuses, &err);
	fortran_result(ierr, SOME_OF(ALL(true)));
}

TEST(test, (MPI_Fint *req, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierr),
     (req, flag, status, &err), ONE_OF(THIS(*flag)))
TEST(testall, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *flag, MPI_Fint *statuses,
	       MPI_Fint *ierr), (n, reqs, flag, statuses, &err),
     *flag ? SOME_OF(ALL(true)) : err)
TEST(testany, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *index, MPI_Fint *flag,
	       MPI_Fint *status, MPI_Fint *ierr),
     (n, reqs, index, flag, status, &err), ONE_OF(ANY(*flag)))
TEST(testsome, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *num, MPI_Fint *indices,
		MPI_Fint *statuses, MPI_Fint *ierr),
     (n, reqs, num, indices, statuses, &err), SOME_OF(SOME))
TEST(request_get_status, (MPI_Fint *req, MPI_Fint *flag, MPI_Fint *status,
			  MPI_Fint *ierr), (req, flag, status, &err), ONE_OF(NONE))

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
TEST(request_get_status_all, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *flag,
			      MPI_Fint *statuses, MPI_Fint *ierr),
     (n, reqs, flag, statuses, &err), *flag ? SOME_OF(NONE) : err)
TEST(request_get_status_any, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *index,
			      MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierr),
     (n, reqs, index, flag, status, &err), ONE_OF(NONE))
TEST(request_get_status_some, (MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *num,
			       MPI_Fint *indices, MPI_Fint *statuses,
			       MPI_Fint *ierr),
     (n, reqs, num, indices, statuses, &err), SOME_OF(NONE))
#endif

FORTRAN(start, MPI_Fint *req, MPI_Fint *ierr)
{
	MPI_Request r = PMPI_Request_f2c(*req);
	int ret = MPI_Start(&r);

	*req = PMPI_Request_c2f(r);
	fortran_result(ierr, ret);
}

FORTRAN(startall, MPI_Fint *n, MPI_Fint *reqs, MPI_Fint *ierr)
{
	MPI_Fint i;
	int ret = MPI_SUCCESS;

	/*
	 * If one request fails, start the next ones, too: other members may wait
	 * for their collectives.
	 */
	for (i = 0; i < *n; i++) {
		MPI_Request r = PMPI_Request_f2c(reqs[i]);
		int err = MPI_Start(&r);

		ret = ret ? ret : err;
		reqs[i] = PMPI_Request_c2f(r);
	}
	fortran_result(ierr, ret);
}

FORTRAN(request_free, MPI_Fint *req, MPI_Fint *ierr)
{
	MPI_Request r = PMPI_Request_f2c(*req);
	int ret = MPI_Request_free(&r);

	*req = PMPI_Request_c2f(r);
	fortran_result(ierr, ret);
}

#define P_IN(x)		void *x
#define P_OUT(x)	void *x
#define P_CNT(x)	MPI_Fint *x
#define P_CNTS(x)	MPI_Fint *x
#define P_DSPS(x)	MPI_Fint *x
#define P_TYPE(x)	MPI_Fint *x
#define P_OP(x)		MPI_Fint *x
#define P_INT(x)	MPI_Fint *x
#define P_COMM(x)	MPI_Fint *x
#define A_IN(x)		fortran_buffer(x)
#define A_OUT(x)	fortran_buffer(x)
#define A_CNT(x)	(*x)
#define A_CNTS(x)	x
#define A_DSPS(x)	x
#define A_TYPE(x)	PMPI_Type_f2c(*x)
#define A_OP(x)		PMPI_Op_f2c(*x)
#define A_INT(x)	(*x)
#define A_COMM(x)	PMPI_Comm_f2c(*x)

/* The request is only valid if the call has succeeded. */
static void fortran_request(MPI_Fint *req, MPI_Request r, MPI_Fint *ierr, int ret)
{
	if (!ret)
		*req = PMPI_Request_c2f(r);
	fortran_result(ierr, ret);
}

#define DEFINE(coll, Name, name, params, args, ...)			\
	FORTRAN(name, PARAMS params, MPI_Fint *ierr)			\
	{								\
		fortran_result(ierr, MPI_##Name args);			\
	}								\
	FORTRAN(i##name, PARAMS params, MPI_Fint *req, MPI_Fint *ierr)	\
	{								\
		MPI_Request r = MPI_REQUEST_NULL;			\
		int ret = MPI_I##name(PARAMS args, &r);			\
									\
		fortran_request(req, r, ierr, ret);			\
	}

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define FORTRAN_INIT(name, ...)						\
	FORTRAN_NAMES(name, ompix_##name##_init_f, mpix_##name##_init,	\
		      __VA_ARGS__)
#else
#define FORTRAN_INIT(name, ...)	FORTRAN(name##_init, __VA_ARGS__)
#endif

#define DEFINE_INIT(coll, Name, name, params, args, ...)		\
	FORTRAN_INIT(name, PARAMS params, MPI_Fint *info, MPI_Fint *req, \
		     MPI_Fint *ierr)					\
	{								\
		MPI_Request r = MPI_REQUEST_NULL;			\
		int ret = AMI_INIT(Name)(PARAMS args,			\
					 PMPI_Info_f2c(*info), &r);	\
									\
		fortran_request(req, r, ierr, ret);			\
	}

AMI_COLLS_PLAIN(DEFINE)
#ifdef AMI_INIT
AMI_COLLS_PLAIN(DEFINE_INIT)
#endif

#ifdef OPEN_MPI

/*
 * Variables whose addresses Fortran programs pass with a special meaning; their
 * addresses are NULL in a program without Fortran.
 */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void *fortran_buffer(void *buf)
{
	if (buf && buf == &mpi_fortran_bottom_)
		return MPI_BOTTOM;
	return buf && buf == &mpi_fortran_in_place_ ? MPI_IN_PLACE : buf;
}

AMI_COLLS_DATA(DEFINE)
#ifdef AMI_INIT
AMI_COLLS_DATA(DEFINE_INIT)
#endif

#endif /* OPEN_MPI */
