// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Collectives that always pass through to the MPI: they are only counted. */
#include "ami.h"

#define EXPORT	__attribute__((visibility("default")))

#define PASS(coll, name, params, args)					\
EXPORT int MPI_##name params						\
{									\
	u64 since = ami_now_ns();					\
	int ret = PMPI_##name args;					\
									\
	if (ami.open)							\
		ami_count_call(coll, AMI_NATIVE,			\
			       ami.off ? ami.off : AMI_WHY_FORM, 0, since); \
	return ret;							\
}

/* One with a form that blocks and one that does not. */
#define BOTH(name, iname, params, args)					\
	PASS(AMI_OTHER, name, (PARAMS params), (ARGS args))		\
	PASS(AMI_NONBLOCKING, iname, (PARAMS params, MPI_Request *req),	\
	     (ARGS args, req))
#define PARAMS(...)	__VA_ARGS__
#define ARGS(...)	__VA_ARGS__

PASS(AMI_NONBLOCKING, Ibarrier, (MPI_Comm comm, MPI_Request *req), (comm, req))
PASS(AMI_NONBLOCKING, Ibcast,
     (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm,
      MPI_Request *req), (buf, n, type, root, comm, req))
PASS(AMI_NONBLOCKING, Ireduce,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root,
      MPI_Comm comm, MPI_Request *req), (in, out, n, type, op, root, comm, req))
PASS(AMI_NONBLOCKING, Iallreduce,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm, MPI_Request *req), (in, out, n, type, op, comm, req))

BOTH(Scan, Iscan,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm), (in, out, n, type, op, comm))
BOTH(Exscan, Iexscan,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm), (in, out, n, type, op, comm))
BOTH(Reduce_scatter, Ireduce_scatter,
     (const void *in, void *out, const int ns[], MPI_Datatype type, MPI_Op op,
      MPI_Comm comm), (in, out, ns, type, op, comm))
BOTH(Reduce_scatter_block, Ireduce_scatter_block,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
      MPI_Comm comm), (in, out, n, type, op, comm))
BOTH(Gather, Igather,
     (const void *in, int n, MPI_Datatype type, void *out, int m,
      MPI_Datatype otype, int root, MPI_Comm comm),
     (in, n, type, out, m, otype, root, comm))
BOTH(Gatherv, Igatherv,
     (const void *in, int n, MPI_Datatype type, void *out, const int ms[],
      const int displs[], MPI_Datatype otype, int root, MPI_Comm comm),
     (in, n, type, out, ms, displs, otype, root, comm))
BOTH(Scatter, Iscatter,
     (const void *in, int n, MPI_Datatype type, void *out, int m,
      MPI_Datatype otype, int root, MPI_Comm comm),
     (in, n, type, out, m, otype, root, comm))
BOTH(Scatterv, Iscatterv,
     (const void *in, const int ns[], const int displs[], MPI_Datatype type,
      void *out, int m, MPI_Datatype otype, int root, MPI_Comm comm),
     (in, ns, displs, type, out, m, otype, root, comm))
BOTH(Allgather, Iallgather,
     (const void *in, int n, MPI_Datatype type, void *out, int m,
      MPI_Datatype otype, MPI_Comm comm), (in, n, type, out, m, otype, comm))
BOTH(Allgatherv, Iallgatherv,
     (const void *in, int n, MPI_Datatype type, void *out, const int ms[],
      const int displs[], MPI_Datatype otype, MPI_Comm comm),
     (in, n, type, out, ms, displs, otype, comm))
BOTH(Alltoall, Ialltoall,
     (const void *in, int n, MPI_Datatype type, void *out, int m,
      MPI_Datatype otype, MPI_Comm comm), (in, n, type, out, m, otype, comm))
BOTH(Alltoallv, Ialltoallv,
     (const void *in, const int ns[], const int displs[], MPI_Datatype type,
      void *out, const int ms[], const int odispls[], MPI_Datatype otype,
      MPI_Comm comm), (in, ns, displs, type, out, ms, odispls, otype, comm))
BOTH(Alltoallw, Ialltoallw,
     (const void *in, const int ns[], const int displs[],
      const MPI_Datatype types[], void *out, const int ms[], const int odispls[],
      const MPI_Datatype otypes[], MPI_Comm comm),
     (in, ns, displs, types, out, ms, odispls, otypes, comm))
