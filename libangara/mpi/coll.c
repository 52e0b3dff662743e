// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of MPI, for C, in all their forms: blocking, non-blocking,
 * persistent, and with large counts if the MPI supports them.  Each builds a
 * struct ami_call from its arguments; a call that is not executed here goes to
 * the profiling interface with unchanged arguments.
 */
#include "ami.h"
#include "colls.h"

#define P_IN(x)		const void *x
#define P_OUT(x)	void *x
#define P_CNT(x)	CNT x
#define P_CNTS(x)	const CNT x[]
#define P_DSPS(x)	const DSP x[]
#define P_TYPE(x)	MPI_Datatype x
#define P_OP(x)		MPI_Op x
#define P_INT(x)	int x
#define P_COMM(x)	MPI_Comm x
#define A_IN(x)		x
#define A_OUT(x)	x
#define A_CNT(x)	x
#define A_CNTS(x)	x
#define A_DSPS(x)	x
#define A_TYPE(x)	x
#define A_OP(x)		x
#define A_INT(x)	x
#define A_COMM(x)	x
#define LIST(...)	__VA_ARGS__

#define CALL(coll_, form_, ...)						\
	((struct ami_call){ .coll = AMI_##coll_, .form = AMI_##form_,	\
			    .wide = sizeof(CNT) > sizeof(int), __VA_ARGS__ })

#define DEFINE_FORM(func, profiled, run, params, args, call_)		\
EXPORT int func params							\
{									\
	struct ami_call k;						\
									\
	if (!ami.open)							\
		return profiled args;					\
	k = call_;							\
	if (run)							\
		return k.ret;						\
	return ami_call_passed(&k, profiled args);			\
}

#define DEFINE_BOTH(coll, Name, name, params, args, ...)		\
	DEFINE_FORM(MPI_##Name, PMPI_##Name, ami_call_run(&k), params, args, \
		    CALL(coll, BLOCKING, __VA_ARGS__))			\
	DEFINE_FORM(MPI_I##name, PMPI_I##name, ami_call_start(&k, req),	\
		    (LIST params, MPI_Request *req), (LIST args, req),	\
		    CALL(coll, NONBLOCKING, __VA_ARGS__))

#define DEFINE_INIT(coll, Name, name, params, args, ...)		\
	DEFINE_FORM(AMI_INIT(Name), AMI_PINIT(Name), ami_call_init(&k, req), \
		    (LIST params, MPI_Info info, MPI_Request *req),	\
		    (LIST args, info, req), CALL(coll, PERSISTENT, __VA_ARGS__))

/* Forms for large counts. */
#define DEFINE_LARGE(coll, Name, name, params, args, ...)		\
	DEFINE_FORM(MPI_##Name##_c, PMPI_##Name##_c, ami_call_run(&k), params, \
		    args, CALL(coll, BLOCKING, __VA_ARGS__))		\
	DEFINE_FORM(MPI_I##name##_c, PMPI_I##name##_c, ami_call_start(&k, req), \
		    (LIST params, MPI_Request *req), (LIST args, req),	\
		    CALL(coll, NONBLOCKING, __VA_ARGS__))		\
	DEFINE_FORM(MPI_##Name##_init_c, PMPI_##Name##_init_c,		\
		    ami_call_init(&k, req),				\
		    (LIST params, MPI_Info info, MPI_Request *req),	\
		    (LIST args, info, req), CALL(coll, PERSISTENT, __VA_ARGS__))

#define CNT	int
#define DSP	int
AMI_COLLS_PLAIN(DEFINE_BOTH)
AMI_COLLS_DATA(DEFINE_BOTH)
#ifdef AMI_INIT
AMI_COLLS_PLAIN(DEFINE_INIT)
AMI_COLLS_DATA(DEFINE_INIT)
#endif
#undef CNT
#undef DSP

#if MPI_VERSION >= 4
#define CNT	MPI_Count
#define DSP	MPI_Aint
AMI_COLLS_DATA(DEFINE_LARGE)
#endif
