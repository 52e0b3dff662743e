// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The functions of MPI that this library defines, for C; fortran.c has those for
 * Fortran.  Each collective chooses its way from arguments that are equal at all
 * members, and counts itself.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define EXPORT	__attribute__((visibility("default")))

/**
 * struct call - a collective call
 * @coll: function
 * @comm: communicator
 * @since: when it began
 * @bytes: of this process's message
 * @way: how it is carried out
 * @why: if it passes through
 * @c: what is kept with the communicator, unless it passes through
 * @t: the team, likewise
 */
struct call {
	enum ami_coll coll;
	MPI_Comm comm;
	u64 since;
	size_t bytes;
	enum ami_way way;
	enum ami_why why;
	struct ami_comm *c;
	struct ami_team *t;
};

static struct call call_begin(enum ami_coll coll, MPI_Comm comm)
{
	return (struct call){
		.coll = coll, .comm = comm, .since = ami_now_ns(),
		.way = AMI_NATIVE, .why = ami.off,
	};
}

static int call_end(const struct call *k, int ret)
{
	ami_count_call(k->coll, k->way, k->why, k->bytes, k->since);
	return ret;
}

/* @err: -errno of the library.  Return: error class of MPI. */
static int call_failed(const struct call *k, int err)
{
	int class = err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;

	ami_say("rank %d: %s over the adapter has failed: %s", ami.rank,
		ami_coll_names[k->coll], strerror(-err));
	PMPI_Comm_call_errhandler(k->comm, class);
	return call_end(k, class);
}

static int call_done(const struct call *k, int err)
{
	return err ? call_failed(k, err) : call_end(k, MPI_SUCCESS);
}

/* Of data: bytes of the message, and whether there are any. */
static void call_measure(struct call *k, int count, MPI_Datatype type)
{
	MPI_Count size;

	if (count < 0 || type == MPI_DATATYPE_NULL) {
		k->why = AMI_WHY_ARGS;
		return;
	}
	PMPI_Type_size_x(type, &size);
	if (size < 0 || (count && size > INT_MAX / count)) {
		k->why = AMI_WHY_LONG;
		return;
	}
	k->bytes = (size_t)count * (size_t)size;
	if (!k->why && !k->bytes)
		k->why = AMI_WHY_EMPTY;
}

/* Return: the way that the settings want. */
static enum ami_way call_wanted(struct call *k)
{
	enum ami_way way = ami.set.way[k->coll];

	if (way == AMI_NATIVE)
		k->why = AMI_WHY_SETTING;
	if (way != AMI_AUTO)
		return way;
	if (k->bytes <= ami.set.longest)
		return AMI_OFFLOAD;
	k->why = AMI_WHY_LONG;
	return AMI_NATIVE;
}

static bool is_inter(MPI_Comm comm)
{
	int inter;

	PMPI_Comm_test_inter(comm, &inter);
	return inter;
}

/*
 * Chooses the way of a call that nothing has ruled out yet.
 * Return: whether it does not pass through.
 */
static bool call_choose(struct call *k, int root)
{
	enum ami_way way;

	if (k->why)
		return false;
	if (k->comm == MPI_COMM_NULL || is_inter(k->comm)) {
		k->why = k->comm == MPI_COMM_NULL ? AMI_WHY_ARGS : AMI_WHY_INTER;
		return false;
	}
	way = call_wanted(k);
	if (way == AMI_NATIVE)
		return false;
	k->c = ami_comm_get(k->comm);
	k->why = k->c ? k->c->why : AMI_WHY_TEAM;
	if (!k->why && (root < 0 || root >= k->c->size))
		k->why = AMI_WHY_ARGS;
	if (k->why)
		return false;
	k->t = ami_team_get(k->c, way);
	if (!k->t)
		k->why = k->c->teams[way].why;
	if (!k->why)
		k->way = way;
	return !k->why;
}

EXPORT int MPI_Barrier(MPI_Comm comm)
{
	struct call k;

	if (!ami.open)
		return PMPI_Barrier(comm);
	k = call_begin(AMI_BARRIER, comm);
	if (!call_choose(&k, 0))
		return call_end(&k, PMPI_Barrier(comm));
	return call_done(&k, ami_run_barrier(k.t));
}

/* Elements with gaps travel as MPI_Pack() packs them: without. */
static int bcast_packed(const struct call *k, void *buf, int count,
			MPI_Datatype type, int root)
{
	char *flat = malloc(k->bytes);
	int ret = 0, pos = 0;

	/* The other members would wait for this one. */
	if (!flat) {
		ami_say("rank %d: no memory to pack %zu bytes of MPI_Bcast",
			ami.rank, k->bytes);
		PMPI_Abort(k->comm, 1);
	}
	if (k->c->rank == root &&
	    (PMPI_Pack(buf, count, type, flat, (int)k->bytes, &pos, k->comm) ||
	     pos != (int)k->bytes))
		ret = -EINVAL;
	if (!ret)
		ret = ami_run_bcast(k->c, k->t, k->way, flat, k->bytes, root);
	pos = 0;
	if (!ret && k->c->rank != root &&
	    PMPI_Unpack(flat, (int)k->bytes, &pos, buf, count, type, k->comm))
		ret = -EINVAL;
	free(flat);
	return ret;
}

EXPORT int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root,
		     MPI_Comm comm)
{
	struct call k;

	if (!ami.open)
		return PMPI_Bcast(buf, count, type, root, comm);
	k = call_begin(AMI_BCAST, comm);
	call_measure(&k, count, type);
	if (!call_choose(&k, root))
		return call_end(&k, PMPI_Bcast(buf, count, type, root, comm));
	if (!ami_type_flat(type))
		return call_done(&k, bcast_packed(&k, buf, count, type, root));
	return call_done(&k, ami_run_bcast(k.c, k.t, k.way, buf, k.bytes, root));
}

/* Bytes of a reduction, and whether the adapter knows it. */
static void reduce_measure(struct call *k, int count, MPI_Datatype type, MPI_Op op,
			   struct ami_type *t, struct ami_op *o)
{
	call_measure(k, count, type);
	if (!k->why && op == MPI_OP_NULL)
		k->why = AMI_WHY_ARGS;
	if (!k->why && !ami_type_get(type, t))
		k->why = AMI_WHY_TYPE;
	if (!k->why && !ami_op_get(op, t, o))
		k->why = AMI_WHY_OP;
}

EXPORT int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type,
		      MPI_Op op, int root, MPI_Comm comm)
{
	struct ami_type t;
	struct ami_op o;
	struct call k;

	if (!ami.open)
		return PMPI_Reduce(in, out, count, type, op, root, comm);
	k = call_begin(AMI_REDUCE, comm);
	reduce_measure(&k, count, type, op, &t, &o);
	if (!call_choose(&k, root))
		return call_end(&k, PMPI_Reduce(in, out, count, type, op, root,
						comm));
	if (in == MPI_IN_PLACE)
		in = k.c->rank == root ? out : NULL;
	if (!in)
		return call_failed(&k, -EFAULT);
	return call_done(&k, ami_run_reduce(k.c, k.t, false, in, out,
					    (size_t)count, &t, &o, root));
}

EXPORT int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type,
			 MPI_Op op, MPI_Comm comm)
{
	struct ami_type t;
	struct ami_op o;
	struct call k;

	if (!ami.open)
		return PMPI_Allreduce(in, out, count, type, op, comm);
	k = call_begin(AMI_ALLREDUCE, comm);
	reduce_measure(&k, count, type, op, &t, &o);
	if (!call_choose(&k, 0))
		return call_end(&k, PMPI_Allreduce(in, out, count, type, op,
						   comm));
	if (in == MPI_IN_PLACE)
		in = out;
	return call_done(&k, ami_run_reduce(k.c, k.t, true, in, out,
					    (size_t)count, &t, &o, 0));
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
	int ret = PMPI_Init(argc, argv);

	if (!ret)
		ami_open();
	return ret;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
	int ret = PMPI_Init_thread(argc, argv, wanted, given);

	if (!ret)
		ami_open();
	return ret;
}

EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
	ami_comm_end(*comm);
	return PMPI_Comm_free(comm);
}

EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
	ami_comm_end(*comm);
	return PMPI_Comm_disconnect(comm);
}
