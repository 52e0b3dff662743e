/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * List of the collectives that this library can execute: coll.c generates the C
 * functions from the list, fortran.c the Fortran functions.
 *
 *	X(NAME, Name, name, (parameters), (arguments), members of struct ami_call)
 *
 * The includer defines how a parameter is declared, and how it is passed on:
 *
 *	IN, OUT	buffers that are read and written	TYPE, OP, COMM	handles
 *	CNT	a number of elements		CNTS, DSPS	arrays of counts
 *	INT	a number						and displacements
 */
#ifndef AMI_COLLS_H
#define AMI_COLLS_H

#define AMI_COLLS_PLAIN(X)						\
X(BARRIER, Barrier, barrier, (P_COMM(comm)), (A_COMM(comm)),		\
  .comm = comm)

#define AMI_COLLS_DATA(X)						\
X(BCAST, Bcast, bcast,							\
  (P_OUT(buf), P_CNT(m), P_TYPE(type), P_INT(root), P_COMM(comm)),	\
  (A_OUT(buf), A_CNT(m), A_TYPE(type), A_INT(root), A_COMM(comm)),	\
  .out = buf, .m = m, .otype = type, .root = root, .comm = comm)	\
X(REDUCE, Reduce, reduce,						\
  (P_IN(in), P_OUT(out), P_CNT(m), P_TYPE(type), P_OP(op), P_INT(root),	\
   P_COMM(comm)),							\
  (A_IN(in), A_OUT(out), A_CNT(m), A_TYPE(type), A_OP(op), A_INT(root),	\
   A_COMM(comm)),							\
  .in = in, .out = out, .m = m, .otype = type, .op = op, .root = root,	\
  .comm = comm)								\
X(ALLREDUCE, Allreduce, allreduce,					\
  (P_IN(in), P_OUT(out), P_CNT(m), P_TYPE(type), P_OP(op), P_COMM(comm)), \
  (A_IN(in), A_OUT(out), A_CNT(m), A_TYPE(type), A_OP(op), A_COMM(comm)), \
  .in = in, .out = out, .m = m, .otype = type, .op = op, .comm = comm)	\
X(SCAN, Scan, scan,							\
  (P_IN(in), P_OUT(out), P_CNT(m), P_TYPE(type), P_OP(op), P_COMM(comm)), \
  (A_IN(in), A_OUT(out), A_CNT(m), A_TYPE(type), A_OP(op), A_COMM(comm)), \
  .in = in, .out = out, .m = m, .otype = type, .op = op, .comm = comm)	\
X(EXSCAN, Exscan, exscan,						\
  (P_IN(in), P_OUT(out), P_CNT(m), P_TYPE(type), P_OP(op), P_COMM(comm)), \
  (A_IN(in), A_OUT(out), A_CNT(m), A_TYPE(type), A_OP(op), A_COMM(comm)), \
  .in = in, .out = out, .m = m, .otype = type, .op = op, .comm = comm)	\
X(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, reduce_scatter_block,	\
  (P_IN(in), P_OUT(out), P_CNT(m), P_TYPE(type), P_OP(op), P_COMM(comm)), \
  (A_IN(in), A_OUT(out), A_CNT(m), A_TYPE(type), A_OP(op), A_COMM(comm)), \
  .in = in, .out = out, .m = m, .otype = type, .op = op, .comm = comm)	\
X(REDUCE_SCATTER, Reduce_scatter, reduce_scatter,			\
  (P_IN(in), P_OUT(out), P_CNTS(ms), P_TYPE(type), P_OP(op),		\
   P_COMM(comm)),							\
  (A_IN(in), A_OUT(out), A_CNTS(ms), A_TYPE(type), A_OP(op),		\
   A_COMM(comm)),							\
  .in = in, .out = out, .ms = ms, .otype = type, .op = op, .comm = comm) \
X(GATHER, Gather, gather,						\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNT(m), P_TYPE(otype), \
   P_INT(root), P_COMM(comm)),						\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNT(m), A_TYPE(otype), \
   A_INT(root), A_COMM(comm)),						\
  .in = in, .n = n, .type = type, .out = out, .m = m, .otype = otype,	\
  .root = root, .comm = comm)						\
X(GATHERV, Gatherv, gatherv,						\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNTS(ms), P_DSPS(od), \
   P_TYPE(otype), P_INT(root), P_COMM(comm)),				\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNTS(ms), A_DSPS(od), \
   A_TYPE(otype), A_INT(root), A_COMM(comm)),				\
  .in = in, .n = n, .type = type, .out = out, .ms = ms, .odispls = od,	\
  .otype = otype, .root = root, .comm = comm)				\
X(SCATTER, Scatter, scatter,						\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNT(m), P_TYPE(otype), \
   P_INT(root), P_COMM(comm)),						\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNT(m), A_TYPE(otype), \
   A_INT(root), A_COMM(comm)),						\
  .in = in, .n = n, .type = type, .out = out, .m = m, .otype = otype,	\
  .root = root, .comm = comm)						\
X(SCATTERV, Scatterv, scatterv,						\
  (P_IN(in), P_CNTS(ns), P_DSPS(id), P_TYPE(type), P_OUT(out), P_CNT(m), \
   P_TYPE(otype), P_INT(root), P_COMM(comm)),				\
  (A_IN(in), A_CNTS(ns), A_DSPS(id), A_TYPE(type), A_OUT(out), A_CNT(m), \
   A_TYPE(otype), A_INT(root), A_COMM(comm)),				\
  .in = in, .ns = ns, .displs = id, .type = type, .out = out, .m = m,	\
  .otype = otype, .root = root, .comm = comm)				\
X(ALLGATHER, Allgather, allgather,					\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNT(m), P_TYPE(otype), \
   P_COMM(comm)),							\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNT(m), A_TYPE(otype), \
   A_COMM(comm)),							\
  .in = in, .n = n, .type = type, .out = out, .m = m, .otype = otype,	\
  .comm = comm)								\
X(ALLGATHERV, Allgatherv, allgatherv,					\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNTS(ms), P_DSPS(od), \
   P_TYPE(otype), P_COMM(comm)),					\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNTS(ms), A_DSPS(od), \
   A_TYPE(otype), A_COMM(comm)),					\
  .in = in, .n = n, .type = type, .out = out, .ms = ms, .odispls = od,	\
  .otype = otype, .comm = comm)						\
X(ALLTOALL, Alltoall, alltoall,						\
  (P_IN(in), P_CNT(n), P_TYPE(type), P_OUT(out), P_CNT(m), P_TYPE(otype), \
   P_COMM(comm)),							\
  (A_IN(in), A_CNT(n), A_TYPE(type), A_OUT(out), A_CNT(m), A_TYPE(otype), \
   A_COMM(comm)),							\
  .in = in, .n = n, .type = type, .out = out, .m = m, .otype = otype,	\
  .comm = comm)								\
X(ALLTOALLV, Alltoallv, alltoallv,					\
  (P_IN(in), P_CNTS(ns), P_DSPS(id), P_TYPE(type), P_OUT(out),		\
   P_CNTS(ms), P_DSPS(od), P_TYPE(otype), P_COMM(comm)),		\
  (A_IN(in), A_CNTS(ns), A_DSPS(id), A_TYPE(type), A_OUT(out),		\
   A_CNTS(ms), A_DSPS(od), A_TYPE(otype), A_COMM(comm)),		\
  .in = in, .ns = ns, .displs = id, .type = type, .out = out, .ms = ms,	\
  .odispls = od, .otype = otype, .comm = comm)

#endif /* AMI_COLLS_H */
