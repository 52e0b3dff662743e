// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The functions of wrap.c for Fortran programs that would call the MPI past this
 * library, since its Fortran library calls the profiling interface:
 *
 *   Open MPI	all of them.  The module mpi_f08 calls ompi_*_f(); mpif.h and the
 *		module mpi call mpi_*_()
 *   MPICH	functions without buffers in the module mpi_f08.  The others call
 *		the functions for C
 */
#include "ami.h"

#define EXPORT	__attribute__((visibility("default")))

#ifdef OPEN_MPI
/* All names of a function: of mpi_f08, and as compilers spell it. */
#define ALIAS(name)	__attribute__((visibility("default"), alias("ompi_" #name "_f")))
#define FORTRAN(name, ...)						\
	EXPORT void ompi_##name##_f(__VA_ARGS__);			\
	ALIAS(name) void mpi_##name(__VA_ARGS__);			\
	ALIAS(name) void mpi_##name##_(__VA_ARGS__);			\
	ALIAS(name) void mpi_##name##__(__VA_ARGS__);			\
	void ompi_##name##_f(__VA_ARGS__)
#else
#define FORTRAN(name, ...)						\
	EXPORT void mpi_##name##_f08_(__VA_ARGS__);			\
	void mpi_##name##_f08_(__VA_ARGS__)
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

FORTRAN(barrier, MPI_Fint *comm, MPI_Fint *ierr)
{
	fortran_result(ierr, MPI_Barrier(PMPI_Comm_f2c(*comm)));
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

#ifdef OPEN_MPI

/* The addresses that Fortran programs pass; NULL in a program without Fortran. */
extern int mpi_fortran_in_place_ __attribute__((weak));
extern int mpi_fortran_bottom_ __attribute__((weak));

static void *fortran_buffer(void *buf)
{
	return buf && buf == &mpi_fortran_bottom_ ? MPI_BOTTOM : buf;
}

static void *fortran_input(void *buf)
{
	return buf && buf == &mpi_fortran_in_place_ ? MPI_IN_PLACE :
						      fortran_buffer(buf);
}

FORTRAN(bcast, void *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root,
	MPI_Fint *comm, MPI_Fint *ierr)
{
	fortran_result(ierr, MPI_Bcast(fortran_buffer(buf), *count,
				       PMPI_Type_f2c(*type), *root,
				       PMPI_Comm_f2c(*comm)));
}

FORTRAN(reduce, void *in, void *out, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
	MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierr)
{
	fortran_result(ierr, MPI_Reduce(fortran_input(in), fortran_buffer(out),
					*count, PMPI_Type_f2c(*type),
					PMPI_Op_f2c(*op), *root,
					PMPI_Comm_f2c(*comm)));
}

FORTRAN(allreduce, void *in, void *out, MPI_Fint *count, MPI_Fint *type,
	MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierr)
{
	fortran_result(ierr, MPI_Allreduce(fortran_input(in), fortran_buffer(out),
					   *count, PMPI_Type_f2c(*type),
					   PMPI_Op_f2c(*op),
					   PMPI_Comm_f2c(*comm)));
}

#endif /* OPEN_MPI */
