// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives that always pass through to the MPI: this library only counts
 * them.
 */
#include "ami.h"

#define PASS(coll_, form_, func, profiled, params, args)		\
EXPORT int func params							\
{									\
	struct ami_call k = {						\
		.coll = AMI_##coll_, .form = AMI_##form_,		\
		.way = AMI_NATIVE, .since = ami_now_ns(),		\
		.why = ami.off ? ami.off : AMI_WHY_FORM,		\
	};								\
	int ret = profiled args;					\
									\
	return ami.open ? ami_call_passed(&k, ret) : ret;		\
}

#define PARAMS(...)	__VA_ARGS__
#ifdef AMI_INIT
#define PASS_INIT(coll, Name, params, args)				\
	PASS(coll, PERSISTENT, AMI_INIT(Name), AMI_PINIT(Name),		\
	     (PARAMS params, MPI_Info info, MPI_Request *req),		\
	     (PARAMS args, info, req))
#else
#define PASS_INIT(coll, Name, params, args)
#endif

/* Defines all forms of a function. */
#define FORMS(coll, Name, name, params, args)				\
	PASS(coll, BLOCKING, MPI_##Name, PMPI_##Name, params, args)	\
	PASS(coll, NONBLOCKING, MPI_I##name, PMPI_I##name,		\
	     (PARAMS params, MPI_Request *req), (PARAMS args, req))	\
	PASS_INIT(coll, Name, params, args)

#define LARGE(coll, Name, name, params, args)				\
	PASS(coll, BLOCKING, MPI_##Name##_c, PMPI_##Name##_c, params, args) \
	PASS(coll, NONBLOCKING, MPI_I##name##_c, PMPI_I##name##_c,	\
	     (PARAMS params, MPI_Request *req), (PARAMS args, req))	\
	PASS(coll, PERSISTENT, MPI_##Name##_init_c, PMPI_##Name##_init_c, \
	     (PARAMS params, MPI_Info info, MPI_Request *req),		\
	     (PARAMS args, info, req))

#define PASSED(X)							\
X(ALLTOALLW, Alltoallw, alltoallw,					\
  (const void *in, const CNT ns[], const DSP displs[],			\
   const MPI_Datatype types[], void *out, const CNT ms[],		\
   const DSP odispls[], const MPI_Datatype otypes[], MPI_Comm comm),	\
  (in, ns, displs, types, out, ms, odispls, otypes, comm))		\
X(NEIGHBOR, Neighbor_allgather, neighbor_allgather,			\
  (const void *in, CNT n, MPI_Datatype type, void *out, CNT m,		\
   MPI_Datatype otype, MPI_Comm comm), (in, n, type, out, m, otype, comm)) \
X(NEIGHBOR, Neighbor_allgatherv, neighbor_allgatherv,			\
  (const void *in, CNT n, MPI_Datatype type, void *out, const CNT ms[],	\
   const DSP odispls[], MPI_Datatype otype, MPI_Comm comm),		\
  (in, n, type, out, ms, odispls, otype, comm))				\
X(NEIGHBOR, Neighbor_alltoall, neighbor_alltoall,			\
  (const void *in, CNT n, MPI_Datatype type, void *out, CNT m,		\
   MPI_Datatype otype, MPI_Comm comm), (in, n, type, out, m, otype, comm)) \
X(NEIGHBOR, Neighbor_alltoallv, neighbor_alltoallv,			\
  (const void *in, const CNT ns[], const DSP displs[],			\
   MPI_Datatype type, void *out, const CNT ms[], const DSP odispls[],	\
   MPI_Datatype otype, MPI_Comm comm),					\
  (in, ns, displs, type, out, ms, odispls, otype, comm))		\
X(NEIGHBOR, Neighbor_alltoallw, neighbor_alltoallw,			\
  (const void *in, const CNT ns[], const MPI_Aint displs[],		\
   const MPI_Datatype types[], void *out, const CNT ms[],		\
   const MPI_Aint odispls[], const MPI_Datatype otypes[], MPI_Comm comm), \
  (in, ns, displs, types, out, ms, odispls, otypes, comm))

#define CNT	int
#define DSP	int
PASSED(FORMS)
#undef CNT
#undef DSP

#if MPI_VERSION >= 4
#define CNT	MPI_Count
#define DSP	MPI_Aint
PASSED(LARGE)
#endif
