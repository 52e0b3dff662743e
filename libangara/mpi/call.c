// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A collective call: choose its method, from arguments that are equal at all
 * members, and execute it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

/** struct traits - kinds of arguments that a function has */
static const struct traits {
	bool rooted;
	bool vector;	/* a reduction */
	bool blocks; /* members have blocks, which share a part of the stage */
	bool hidden;	/* some members do not know all lengths */
} traits[AMI_CHOSEN] = {
	[AMI_BCAST] = { .rooted = true },
	[AMI_REDUCE] = { .rooted = true, .vector = true },
	[AMI_ALLREDUCE] = { .vector = true },
	[AMI_SCAN] = { .vector = true },
	[AMI_EXSCAN] = { .vector = true },
	[AMI_REDUCE_SCATTER_BLOCK] = { .vector = true, .blocks = true },
	[AMI_REDUCE_SCATTER] = { .vector = true, .blocks = true },
	[AMI_GATHER] = { .rooted = true, .blocks = true },
	[AMI_GATHERV] = { .rooted = true, .blocks = true, .hidden = true },
	[AMI_SCATTER] = { .rooted = true, .blocks = true },
	[AMI_SCATTERV] = { .rooted = true, .blocks = true, .hidden = true },
	[AMI_ALLGATHER] = { .blocks = true },
	[AMI_ALLGATHERV] = { .blocks = true },
	[AMI_ALLTOALL] = { .blocks = true },
	[AMI_ALLTOALLV] = { .blocks = true, .hidden = true },
};

/** ami_coll_hidden() - are there members that do not know all lengths? */
bool ami_coll_hidden(u32 coll)
{
	return traits[coll].hidden;
}

/*
 * Do the arguments of the contribution determine the lengths of blocks at this
 * member?  Otherwise the arguments of the result do.
 */
static bool measures_in(const struct ami_call *k, int rank)
{
	switch (k->coll) {
	case AMI_GATHER:
		return rank != k->root;
	case AMI_GATHERV:
		return rank != k->root || k->in != MPI_IN_PLACE;
	case AMI_SCATTER:
		return rank == k->root;
	case AMI_ALLTOALLV:
		return k->in != MPI_IN_PLACE;
	default:
		return false;
	}
}

/* Sum of counts.  Return: -1: a count is negative. */
static MPI_Count counts_sum(const struct ami_call *k, const void *counts, int size)
{
	MPI_Count sum = 0;
	u32 i;

	for (i = 0; i < (u32)size; i++) {
		MPI_Count n = ami_count_of(counts, k->wide, i);

		if (n < 0)
			return -1;
		sum += n;
	}
	return sum;
}

/*
 * Number of elements that measure this member's message; -1: a count is
 * negative.
 */
static MPI_Count call_elements(const struct ami_call *k, bool in, int rank,
			       int size)
{
	switch (k->coll) {
	case AMI_REDUCE_SCATTER:
	case AMI_ALLGATHERV:
		return counts_sum(k, k->ms, size);
	case AMI_ALLTOALLV:
		return counts_sum(k, in ? k->ns : k->ms, size);
	case AMI_SCATTERV:
		return rank == k->root ? 0 : k->m;
	case AMI_GATHERV:
		return in ? k->n : 0;
	default:
		return in ? k->n : k->m;
	}
}

/* As ami_call_uses(), at rank @rank. */
static bool call_uses(const struct ami_call *k, bool in, int rank)
{
	bool here = rank == k->root;

	switch (k->coll) {
	case AMI_BCAST:
		return !in;
	case AMI_GATHER:
	case AMI_GATHERV:
		return in ? k->in != MPI_IN_PLACE : here;
	case AMI_SCATTER:
	case AMI_SCATTERV:
		return in ? here : k->out != MPI_IN_PLACE;
	case AMI_ALLGATHER:
	case AMI_ALLGATHERV:
	case AMI_ALLTOALL:
	case AMI_ALLTOALLV:
		return !in || k->in != MPI_IN_PLACE;
	default:
		return false;
	}
}

/*
 * Are the counts and the datatype of @in, or of @out, valid, if this member uses
 * them?
 */
static bool call_valid(const struct ami_call *k, bool in, int rank, int size)
{
	const void *counts = in ? k->ns : k->ms;
	MPI_Count n = in ? k->n : k->m;

	if (!call_uses(k, in, rank))
		return true;
	if (counts)
		n = counts_sum(k, counts, size);
	return n >= 0 && (in ? k->type : k->otype) != MPI_DATATYPE_NULL;
}

/*
 * Sets the bytes of this member's message.  Sets why the call passes through if an
 * argument is invalid or, unless lengths are hidden, if the message is empty or too
 * long.  @size: members.
 */
static void call_measure(struct ami_call *k, int rank, int size)
{
	bool in = measures_in(k, rank), hidden = traits[k->coll].hidden;
	MPI_Datatype type = in ? k->type : k->otype;
	MPI_Count n, bytes;

	if (k->coll == AMI_BARRIER)
		return;
	n = call_elements(k, in, rank, size);
	if (k->coll == AMI_SCATTERV && rank == k->root)
		type = k->type;
	if (n < 0 || type == MPI_DATATYPE_NULL ||
	    !call_valid(k, true, rank, size) || !call_valid(k, false, rank, size)) {
		k->why = AMI_WHY_ARGS;
		return;
	}
	PMPI_Type_size_x(type, &bytes);
	if (!hidden && (bytes < 0 ||
			(n && bytes > INT_MAX / n / (traits[k->coll].blocks ?
						     size : 1)))) {
		k->why = AMI_WHY_LONG;
		return;
	}
	k->bytes = (size_t)n * (size_t)bytes;
	if (!hidden && !k->bytes)
		k->why = AMI_WHY_EMPTY;
}

/* Sets type and operation of a reduction for the adapter, or why the call passes through. */
static void call_reduction(struct ami_call *k)
{
	if (k->op == MPI_OP_NULL)
		k->why = AMI_WHY_ARGS;
	else if (ami_op_user(k->op))
		k->why = AMI_WHY_USER;
	else if (!ami_type_get(k->otype, &k->rtype))
		k->why = AMI_WHY_TYPE;
	else if (!ami_op_get(k->op, &k->rtype, &k->rop))
		k->why = AMI_WHY_OP;
}

/*
 * Sets the method if the setting is auto and there is no table: a tree for
 * short messages.
 */
static void call_default(struct ami_call *k)
{
	bool tree = k->coll < AMI_OFFLOADED;

	if (tree && k->bytes <= ami.set.longest)
		k->way = AMI_OFFLOAD;
	else
		k->why = tree ? AMI_WHY_LONG : AMI_WHY_TABLE;
}

/*
 * Sets the method that the settings select, or the reason why the call passes
 * through.
 */
static void call_wanted(struct ami_call *k, int size)
{
	const struct ami_row *row;

	k->way = ami.set.way[k->coll];
	k->algo = ami.set.algo[k->coll];
	if (k->way == AMI_NATIVE)
		k->why = AMI_WHY_SETTING;
	if (k->way != AMI_AUTO)
		return;
	k->way = AMI_NATIVE;
	if (traits[k->coll].hidden) {
		k->why = AMI_WHY_LENGTHS;
		return;
	}
	row = ami_table_find(k->coll, (u32)size, k->bytes);
	if (!row) {
		call_default(k);
		return;
	}
	k->way = row->way;
	k->algo = row->algo;
	if (k->way == AMI_NATIVE)
		k->why = AMI_WHY_TABLE;
}

static struct ami_comm *call_comm(struct ami_call *k, int *rank, int *size)
{
	struct ami_comm *c;
	int inter = 0;

	if (k->comm == MPI_COMM_NULL) {
		k->why = AMI_WHY_ARGS;
		return NULL;
	}
	c = ami_comm_get(k->comm, false);
	if (c) {
		*rank = c->rank;
		*size = c->size;
		k->why = c->why;
		return c;
	}
	if (PMPI_Comm_size(k->comm, size) || PMPI_Comm_rank(k->comm, rank) ||
	    PMPI_Comm_test_inter(k->comm, &inter))
		k->why = AMI_WHY_ARGS;
	else if (inter)
		k->why = AMI_WHY_INTER;
	return NULL;
}

/* Do the settings select an allgather that needs a power of two of members? */
static bool is_doubling(const struct ami_call *k)
{
	return k->coll == AMI_ALLGATHER &&
	       (k->algo == ANGARA_ALGO_RECURSIVE_DOUBLING ||
		k->algo == ANGARA_ALGO_DOUBLING_EXCH ||
		k->algo == ANGARA_ALGO_DOUBLING_REORDER);
}

/* Gets the team that the call needs, or sets why there is none. */
static void call_team(struct ami_call *k)
{
	bool may_make = k->form != AMI_NONBLOCKING;
	u32 numbered = ami_algo_numbered(k->algo);

	if (!k->c)
		k->c = ami_comm_get(k->comm, may_make);
	if (!k->c) {
		k->why = may_make ? AMI_WHY_TEAM : AMI_WHY_LATER;
		return;
	}
	k->why = k->c->why;
	if (k->why)
		return;
	k->t = ami_team_get(k->c, k->way, may_make);
	if (!k->t)
		k->why = k->c->teams[k->way].tried ? k->c->teams[k->way].why :
						     AMI_WHY_LATER;
	else if (numbered < AMI_NUMBERED && !k->t->numbered[numbered])
		k->why = AMI_WHY_NUMBERS;
}

/*
 * Do all members start persistent collectives of the communicator in the same
 * order?  MPI-4.0, 6.13, does not require this: only the calls that create the
 * collectives are in the same order.  But a team executes collectives in the order
 * of their starts.  MPI 4.1 has a key by which a program asserts this order, with
 * the same value at all members.
 */
static bool starts_ordered(MPI_Comm comm)
{
	static const char key[] = "mpi_assert_strict_persistent_collective_ordering";
	char value[MPI_MAX_INFO_VAL + 1] = "";
	MPI_Info info = MPI_INFO_NULL;
	int has = 0;

	if (ami.set.ordered)
		return true;
	/* The keys of Open MPI cannot be that long. */
	if (sizeof(key) > MPI_MAX_INFO_KEY)
		return false;
	if (PMPI_Comm_get_info(comm, &info) || info == MPI_INFO_NULL)
		return false;
	if (PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &has))
		has = 0;
	PMPI_Info_free(&info);
	return has && !strcmp(value, "true");
}

/*
 * Chooses the method of a call.
 * Return: false: the call passes through.
 */
static bool call_choose(struct ami_call *k)
{
	int rank = 0, size = 0;

	k->since = ami_now_ns();
	k->why = ami.off;
	if (!k->why)
		k->c = call_comm(k, &rank, &size);
	if (!k->why && k->form == AMI_PERSISTENT && !starts_ordered(k->comm))
		k->why = AMI_WHY_ORDER;
	if (!k->why && traits[k->coll].rooted && (k->root < 0 || k->root >= size))
		k->why = AMI_WHY_ARGS;
	if (!k->why)
		call_measure(k, rank, size);
	if (!k->why && traits[k->coll].vector)
		call_reduction(k);
	if (!k->why && traits[k->coll].blocks && (u32)size > AMI_MAX_BLOCKS)
		k->why = AMI_WHY_MANY;
	if (!k->why)
		call_wanted(k, size);
	if (!k->why && is_doubling(k) && size & (size - 1))
		k->why = AMI_WHY_POWER;
	if (!k->why)
		call_team(k);
	if (k->why)
		k->way = AMI_NATIVE;
	return !k->why;
}

/**
 * ami_call_passed() - count a call that has passed through and returned @ret
 */
int ami_call_passed(struct ami_call *k, int ret)
{
	ami_count_call(k);
	return ret;
}


static struct ami_data vector_data(const struct ami_call *k, const void *user)
{
	return (struct ami_data){
		.user = (char *)(uintptr_t)user, .base = (char *)(uintptr_t)user,
		.num = 1, .count = k->m, .unit = k->rtype.num * k->rtype.size,
		.type = k->otype,
	};
}

static struct ami_data plain_data(const struct ami_call *k, bool in, u32 num)
{
	struct ami_data d = {
		.user = (char *)(uintptr_t)(in ? k->in : k->out),
		.wide = k->wide, .num = num, .count = in ? k->n : k->m,
		.counts = in ? k->ns : k->ms,
		.displs = in ? k->displs : k->odispls,
		.type = in ? k->type : k->otype,
	};
	MPI_Count unit;

	PMPI_Type_size_x(d.type, &unit);
	d.unit = (size_t)unit;
	return d;
}

/*
 * Opens a reduction whose contributions are vectors of @num blocks; each member gets
 * one block of the result.
 */
static int open_scattered(struct ami_work *w, u32 rank, u32 num)
{
	const struct ami_call *k = &w->k;
	bool in_place = k->in == MPI_IN_PLACE;

	w->in = vector_data(k, in_place ? k->out : k->in);
	w->in.wide = k->wide;
	w->in.num = num;
	w->in.counts = k->ms;
	w->out = vector_data(k, k->out);
	if (k->ms) {
		w->in.offs = malloc(num * sizeof(*w->in.offs));
		if (!w->in.offs)
			return -ENOMEM;
		w->out.count = ami_count_of(k->ms, k->wide, rank);
	}
	if (w->in.offs) {
		ptrdiff_t at = 0;
		u32 i;

		for (i = 0; i < num; i++) {
			w->in.offs[i] = at;
			at += (ptrdiff_t)ami_block_len(&w->in, i);
		}
	}
	w->len = ami_longest_block(&w->in);
	return 0;
}

static int open_vector(struct ami_work *w, u32 rank, u32 num)
{
	const struct ami_call *k = &w->k;

	if (traits[k->coll].blocks)
		return open_scattered(w, rank, num);
	w->in = vector_data(k, k->in == MPI_IN_PLACE ? k->out : k->in);
	if ((k->coll != AMI_REDUCE || (int)rank == k->root) &&
	    (k->coll != AMI_EXSCAN || rank))
		w->out = vector_data(k, k->out);
	w->len = ami_block_len(&w->in, 0);
	return w->in.user || !w->len ? 0 : -EFAULT;
}

static int open_bcast(struct ami_work *w, bool source)
{
	int ret;

	w->out = plain_data(&w->k, false, 1);
	ret = ami_data_open(&w->out, source);
	w->len = ami_block_len(&w->out, 0);
	return ret;
}

/*
 * For MPI_IN_PLACE: sets @in to blocks of @out, which contain this member's
 * contribution.
 */
static void share_data(struct ami_work *w, u32 first, u32 num)
{
	w->in = w->out;
	w->in.shares = true;
	w->in.first = first;
	w->in.num = num;
}

/*
 * Opens a gather, a scatter or an exchange: this member has one block, or
 * several, as contribution and as result.
 */
static int open_blocks(struct ami_work *w, u32 rank, u32 size)
{
	const struct ami_call *k = &w->k;
	bool here = (int)rank == k->root, in_place = k->in == MPI_IN_PLACE;
	bool gathers = k->coll == AMI_GATHER || k->coll == AMI_GATHERV;
	bool scatters = k->coll == AMI_SCATTER || k->coll == AMI_SCATTERV;
	bool all_in = k->coll == AMI_ALLTOALL || k->coll == AMI_ALLTOALLV;
	int ret = 0;

	if (scatters ? k->out != MPI_IN_PLACE : !gathers || here) {
		w->out = plain_data(k, false, scatters ? 1 : size);
		ret = ami_data_open(&w->out, in_place);
	}
	if (ret)
		return ret;
	if (in_place && !scatters) {
		share_data(w, all_in ? 0 : rank, all_in ? size : 1);
	} else if (!scatters || here) {
		w->in = plain_data(k, true, scatters || all_in ? size : 1);
		ret = ami_data_open(&w->in, true);
	}
	w->len = ami_longest_block(&w->in);
	if (ami_longest_block(&w->out) > w->len)
		w->len = ami_longest_block(&w->out);
	w->agreed = !traits[k->coll].hidden;
	return ret;
}

/** ami_call_uses() - does this member use elements of @in, or of @out? */
bool ami_call_uses(const struct ami_call *k, bool in)
{
	return call_uses(k, in, k->c->rank);
}

/**
 * ami_work_open() - prepare an operation
 * @w: out
 * @k: call that does not pass through
 *
 * Return: 0; -errno.  The caller calls ami_work_close() in any case.
 */
int ami_work_open(struct ami_work *w, const struct ami_call *k)
{
	u32 rank = (u32)k->c->rank, size = (u32)k->c->size;

	*w = (struct ami_work){ .k = *k };
	switch (k->coll) {
	case AMI_BARRIER:
		return 0;
	case AMI_BCAST:
		return open_bcast(w, (int)rank == k->root);
	default:
		w->agreed = true;
		return traits[k->coll].vector ? open_vector(w, rank, size) :
						open_blocks(w, rank, size);
	}
}

/**
 * ami_work_close() - close an operation whose transfers have ended
 *
 * Called in a thread of the program.  Return: MPI_SUCCESS, or an error class,
 * for ami_work_failed().
 */
int ami_work_close(struct ami_work *w)
{
	bool source = w->k.coll == AMI_BCAST && w->k.c->rank == w->k.root;

	if (!w->err && w->out.num && !source)
		w->err = ami_data_unpack(&w->out);
	ami_data_close(&w->in);
	ami_data_close(&w->out);
	ami_count_call(&w->k);
	return !w->err ? MPI_SUCCESS : w->err == -ENOMEM ? MPI_ERR_NO_MEM :
							   MPI_ERR_OTHER;
}

/**
 * ami_work_failed() - call the error handler of the communicator
 * @w: operation, closed
 * @class: class of its error; MPI_SUCCESS: do nothing
 */
void ami_work_failed(const struct ami_work *w, int class)
{
	if (!class)
		return;
	ami_say("rank %d: %s over the adapter has failed: %s", ami.rank,
		ami_coll_names[w->k.coll], strerror(-w->err));
	PMPI_Comm_call_errhandler(w->k.comm, class);
}

/* Executes an operation, and waits for it. */
static int work_run(struct ami_work *w)
{
	int class;

	ami_work_add(w);
	ami_work_wait(w);
	class = ami_work_close(w);
	ami_work_failed(w, class);
	return class;
}

/**
 * ami_call_run() - execute a collective
 * @k: call
 *
 * Return: false: it has to pass through.
 */
bool ami_call_run(struct ami_call *k)
{
	struct ami_work w;
	int err;

	if (!call_choose(k))
		return false;
	err = ami_work_open(&w, k);
	w.err = err;
	k->ret = work_run(&w);
	return true;
}

/*
 * Starts an operation that reports its end by a request of kind @end.  If
 * memory is short, this member cannot take part.
 */
static int work_start(const struct ami_call *k, enum ami_end end, int tag,
		      MPI_Request *req)
{
	struct ami_work *w = malloc(sizeof(*w)), lost = { .k = *k };
	int ret = MPI_ERR_NO_MEM, err;

	if (w) {
		err = ami_work_open(w, k);
		w->err = err;
		w->tag = tag;
		ret = ami_request_begin(w, end, req);
		if (!ret) {
			ami_work_add(w);
			return MPI_SUCCESS;
		}
		ami_data_close(&w->in);
		ami_data_close(&w->out);
	}
	free(w);
	lost.err = -ENOMEM;
	return work_run(&lost);
}

/**
 * ami_call_start() - start a collective
 * @k: call
 * @req: out: request
 *
 * Return: false: it has to pass through.
 */
bool ami_call_start(struct ami_call *k, MPI_Request *req)
{
	if (!call_choose(k))
		return false;
	k->ret = work_start(k, AMI_END_REQUEST, 0, req);
	return true;
}

/**
 * ami_call_init() - create a persistent collective
 * @k: call
 * @req: out: request
 *
 * Return: false: it has to pass through.
 */
bool ami_call_init(struct ami_call *k, MPI_Request *req)
{
	if (!call_choose(k))
		return false;
	k->ret = ami_request_keep(k, req);
	return true;
}

/**
 * ami_call_again() - start a persistent collective
 * @k: call
 * @tag: tag of the message that reports its end
 *
 * Return: MPI_SUCCESS, or an error class.
 */
int ami_call_again(struct ami_call *k, int tag)
{
	if (!k->c) {
		ami_say("rank %d: a persistent %s is started after its communicator was freed",
			ami.rank, ami_coll_names[k->coll]);
		return MPI_ERR_REQUEST;
	}
	k->since = ami_now_ns();
	return work_start(k, AMI_END_MESSAGE, tag, NULL);
}
