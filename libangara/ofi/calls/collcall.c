// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * libfabric's calls of collective operations, in their many forms.
 *
 * If each member has a separate part of the contribution or the result, the
 * count of a call is the number of elements of one part.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_COLL_FLAGS	(FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | \
			 FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE)

/**
 * struct ask - arguments of an operation
 * @coll: FI_BARRIER .. FI_GATHER
 * @in: contribution of this member
 * @out: result of this member
 * @count: elements
 * @addr: group
 * @root: address of the root, if @coll has one
 * @type: type of elements
 * @op: reduction operation
 * @flags: FI_*
 * @context: the program's context
 */
struct ask {
	enum fi_collective_op coll;
	const void *in;
	void *out;
	size_t count;
	fi_addr_t addr;
	fi_addr_t root;
	enum fi_datatype type;
	enum fi_op op;
	u64 flags;
	void *context;
};

#define HAS_ROOT	1	/* one member is the root */
#define REDUCES		2	/* elements are combined */
#define ALL_GIVE	4	/* all members contribute, else only the root */
#define ALL_GET		8	/* all get a result, else only the root */

static const u8 kinds[] = {
	[FI_BARRIER] = 0,
	[FI_BROADCAST] = HAS_ROOT | ALL_GET,
	[FI_ALLTOALL] = ALL_GIVE | ALL_GET,
	[FI_ALLREDUCE] = REDUCES | ALL_GIVE | ALL_GET,
	[FI_ALLGATHER] = ALL_GIVE | ALL_GET,
	[FI_REDUCE_SCATTER] = REDUCES | ALL_GIVE | ALL_GET,
	[FI_REDUCE] = HAS_ROOT | REDUCES | ALL_GIVE,
	[FI_SCATTER] = HAS_ROOT | ALL_GET,
	[FI_GATHER] = HAS_ROOT | ALL_GIVE,
};

#define NUM(a)	(sizeof(a) / sizeof(*(a)))

/*
 * Return: operation of the adapters that implements @coll, possibly executed
 * once per member.
 */
static enum fi_collective_op offload_by(enum fi_collective_op coll)
{
	switch (coll) {
	case FI_ALLGATHER:
		return FI_BROADCAST;
	case FI_REDUCE_SCATTER:
		return FI_REDUCE;
	default:
		return coll;
	}
}

static bool can_offload(enum fi_collective_op coll)
{
	return coll != FI_ALLTOALL && coll != FI_SCATTER && coll != FI_GATHER;
}

static bool call_offloads(const struct afi_group *g, const struct ask *a)
{
	return g->offload && can_offload(a->coll) &&
	       g->ops->supports(g, offload_by(a->coll), a->type, a->op,
				a->count);
}

static bool type_ok(enum fi_collective_op coll, enum fi_datatype type,
		    enum fi_op op)
{
	if (coll == FI_BARRIER)
		return type == FI_VOID;
	return kinds[coll] & REDUCES ? afi_combine_valid(type, op) :
				       afi_type_size(type) != 0;
}

static bool root_of(const struct afi_group *g, fi_addr_t addr, u32 *rank)
{
	const struct afi_name *name = afi_av_get(g->ep->av, addr);
	u32 i = addr < g->size ? (u32)addr : 0;
	u32 n;

	/*
	 * Start at the rank that equals the address, since rank and address are
	 * usually equal.
	 */
	for (n = 0; name && n < g->size; n++, i = (i + 1) % g->size)
		if (afi_name_same(&g->members[i].name, name)) {
			*rank = i;
			return true;
		}
	return false;
}

/* Does the call have the buffers that it requires? */
static bool buffers_ok(const struct afi_call *call)
{
	bool is_root = call->root == call->group->rank;
	u8 kind = kinds[call->coll];

	if (!call->len)
		return true;
	return (call->in || !(is_root || (kind & ALL_GIVE)) ||
		call->coll == FI_BROADCAST) &&
	       (call->out || !(is_root || (kind & ALL_GET)));
}

static int call_check(const struct afi_ep *ep, const struct afi_group *g,
		      const struct ask *a, u32 *root)
{
	size_t size = afi_type_size(a->type);

	if (!g || g->ep != ep || (u32)a->coll >= NUM(kinds))
		return -FI_EINVAL;
	if (a->flags & ~AFI_COLL_FLAGS)
		return -FI_EBADFLAGS;
	if (g->state == AFI_GROUP_FAILED)
		return -g->err;
	if (g->state != AFI_GROUP_JOINED)
		return -FI_EOPBADSTATE;
	if (!type_ok(a->coll, a->type, a->op))
		return -FI_EOPNOTSUPP;
	if (size && a->count > ANGARA_MAX_OP_BYTES / size)
		return -FI_EMSGSIZE;
	*root = 0;
	if ((kinds[a->coll] & HAS_ROOT) && !root_of(g, a->root, root))
		return -FI_EINVAL;
	if (g->domain->coll->way == AFI_COLL_OFFLOAD && g->size > 1 &&
	    !call_offloads(g, a))
		return -FI_EOPNOTSUPP;
	return 0;
}

static struct afi_call *new_call(struct afi_group *g, const struct ask *a,
				 u32 root)
{
	struct afi_call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->group = g;
	call->coll = a->coll;
	call->type = a->type;
	call->op = a->op;
	call->size = afi_type_size(a->type);
	call->count = a->count;
	call->len = call->size * a->count;
	call->root = root;
	call->in = a->in;
	call->out = a->out;
	call->done.context = a->context;
	call->done.flags = FI_COLLECTIVE;
	call->done.src = FI_ADDR_NOTAVAIL;
	call->end = afi_deadline(g->domain->coll->call_ms);
	return call;
}

/*
 * Return: number of the next operation: never 0, and without the highest bit,
 * which marks numbers of exchanges.
 */
static u32 next_seq(struct afi_group *g)
{
	u32 seq = g->seq;

	g->seq = seq == INT32_MAX ? 1 : seq + 1;
	return seq;
}

static void free_parts(struct afi_call **parts, u32 n)
{
	while (n--)
		free(parts[n]);
	free(parts);
}

/* Adds a separate operation for each member, with that member as the root. */
static int add_parts(struct afi_call *call, const struct ask *a)
{
	struct afi_group *g = call->group;
	struct afi_call **parts = calloc(g->size, sizeof(*parts));
	struct ask part = *a;
	u32 i;

	part.coll = offload_by(a->coll);
	for (i = 0; parts && i < g->size; i++) {
		size_t at = i * call->len;

		if (a->coll == FI_ALLGATHER) {
			part.out = (char *)a->out + at;
			part.in = part.out;
		} else {
			part.in = (const char *)a->in + at;
			part.out = i == g->rank ? a->out : NULL;
		}
		parts[i] = new_call(g, &part, i);
		if (!parts[i])
			break;
	}
	if (i < g->size) {
		free_parts(parts, parts ? i : 0);
		return -FI_ENOMEM;
	}
	if (a->coll == FI_ALLGATHER)
		memmove((char *)a->out + g->rank * call->len, a->in, call->len);
	call->parts = g->size;
	for (i = 0; i < g->size; i++) {
		parts[i]->parent = call;
		parts[i]->offloaded = true;
		afi_call_add(parts[i], next_seq(g));
	}
	free(parts);
	return 0;
}

static int call_add(struct afi_call *call, const struct ask *a)
{
	struct afi_group *g = call->group;
	int ret;

	if (call_offloads(g, a)) {
		if (offload_by(a->coll) != a->coll)
			return add_parts(call, a);
		call->offloaded = true;
	} else {
		ret = afi_schedule(call);
		if (ret)
			return ret;
	}
	afi_call_add(call, next_seq(g));
	return 0;
}

static int call_start(struct afi_group *g, const struct ask *a, u32 root)
{
	struct afi_call *call = new_call(g, a, root);
	bool offloaded = call_offloads(g, a);
	struct afi_ep *ep = g->ep;
	int ret = 0;

	if (!call)
		return -FI_ENOMEM;
	if (!buffers_ok(call))
		ret = -FI_EINVAL;
	else if (ep->tx && !afi_cq_promise_more(ep->tx))
		ret = -FI_EAGAIN;
	if (ret) {
		free(call);
		return ret;
	}
	call->cq = ep->tx;
	call->report = !ep->tx_selective || (a->flags & FI_COMPLETION);
	/*
	 * Without elements there is no work, so the operation is complete at
	 * once.
	 */
	if (!a->count && a->coll != FI_BARRIER) {
		afi_list_init(&call->link);
		afi_call_end(call, 0, g->size);
		return 0;
	}
	ret = call_add(call, a);
	if (ret) {
		if (call->cq)
			call->cq->promised--;
		free(call);
		return ret;
	}
	if (offloaded)
		g->by_offload++;
	else
		g->by_software++;
	return 0;
}

static ssize_t call_ask(struct fid_ep *fid, const struct ask *a)
{
	struct afi_ep *ep = afi_ep_of(fid);
	struct afi_group *g;
	u32 root = 0;
	int ret;

	afi_lock(ep->domain);
	g = afi_group_at(ep->domain, a->addr);
	ret = call_check(ep, g, a, &root);
	if (!ret)
		ret = call_start(g, a, root);
	if (!ret)
		afi_coll_progress(ep->domain);
	afi_unlock(ep->domain);
	return ret;
}

static ssize_t coll_barrier2(struct fid_ep *ep, fi_addr_t coll_addr,
			     uint64_t flags, void *context)
{
	const struct ask a = {
		.coll = FI_BARRIER,
		.addr = coll_addr,
		.type = FI_VOID,
		.op = FI_NOOP,
		.flags = flags,
		.context = context,
	};

	return call_ask(ep, &a);
}

static u64 tx_flags(struct fid_ep *ep)
{
	return afi_tx_flags(ep) & ~FI_INJECT;
}

static ssize_t coll_barrier(struct fid_ep *ep, fi_addr_t coll_addr,
			    void *context)
{
	return coll_barrier2(ep, coll_addr, tx_flags(ep), context);
}

static ssize_t with_root(struct fid_ep *ep, enum fi_collective_op coll,
			 const void *buf, size_t count, void *result,
			 fi_addr_t coll_addr, fi_addr_t root_addr,
			 enum fi_datatype datatype, enum fi_op op,
			 uint64_t flags, void *context)
{
	const struct ask a = {
		.coll = coll,
		.in = buf,
		.out = result,
		.count = count,
		.addr = coll_addr,
		.root = root_addr,
		.type = datatype,
		.op = op,
		.flags = flags,
		.context = context,
	};

	return call_ask(ep, &a);
}

static ssize_t without_root(struct fid_ep *ep, enum fi_collective_op coll,
			    const void *buf, size_t count, void *result,
			    fi_addr_t coll_addr, enum fi_datatype datatype,
			    enum fi_op op, uint64_t flags, void *context)
{
	return with_root(ep, coll, buf, count, result, coll_addr,
			 FI_ADDR_NOTAVAIL, datatype, op, flags, context);
}

static ssize_t coll_broadcast(struct fid_ep *ep, void *buf, size_t count,
			      void *desc, fi_addr_t coll_addr,
			      fi_addr_t root_addr, enum fi_datatype datatype,
			      uint64_t flags, void *context)
{
	(void)desc;
	return with_root(ep, FI_BROADCAST, buf, count, buf, coll_addr, root_addr,
			 datatype, FI_NOOP, flags, context);
}

static ssize_t coll_alltoall(struct fid_ep *ep, const void *buf, size_t count,
			     void *desc, void *result, void *result_desc,
			     fi_addr_t coll_addr, enum fi_datatype datatype,
			     uint64_t flags, void *context)
{
	(void)desc;
	(void)result_desc;
	return without_root(ep, FI_ALLTOALL, buf, count, result, coll_addr,
			    datatype, FI_NOOP, flags, context);
}

static ssize_t coll_allreduce(struct fid_ep *ep, const void *buf, size_t count,
			      void *desc, void *result, void *result_desc,
			      fi_addr_t coll_addr, enum fi_datatype datatype,
			      enum fi_op op, uint64_t flags, void *context)
{
	(void)desc;
	(void)result_desc;
	return without_root(ep, FI_ALLREDUCE, buf, count, result, coll_addr,
			    datatype, op, flags, context);
}

static ssize_t coll_allgather(struct fid_ep *ep, const void *buf, size_t count,
			      void *desc, void *result, void *result_desc,
			      fi_addr_t coll_addr, enum fi_datatype datatype,
			      uint64_t flags, void *context)
{
	(void)desc;
	(void)result_desc;
	return without_root(ep, FI_ALLGATHER, buf, count, result, coll_addr,
			    datatype, FI_NOOP, flags, context);
}

static ssize_t coll_reduce_scatter(struct fid_ep *ep, const void *buf,
				   size_t count, void *desc, void *result,
				   void *result_desc, fi_addr_t coll_addr,
				   enum fi_datatype datatype, enum fi_op op,
				   uint64_t flags, void *context)
{
	(void)desc;
	(void)result_desc;
	return without_root(ep, FI_REDUCE_SCATTER, buf, count, result, coll_addr,
			    datatype, op, flags, context);
}

static ssize_t coll_reduce(struct fid_ep *ep, const void *buf, size_t count,
			   void *desc, void *result, void *result_desc,
			   fi_addr_t coll_addr, fi_addr_t root_addr,
			   enum fi_datatype datatype, enum fi_op op,
			   uint64_t flags, void *context)
{
	(void)desc;
	(void)result_desc;
	return with_root(ep, FI_REDUCE, buf, count, result, coll_addr, root_addr,
			 datatype, op, flags, context);
}

static ssize_t coll_scatter(struct fid_ep *ep, const void *buf, size_t count,
			    void *desc, void *result, void *result_desc,
			    fi_addr_t coll_addr, fi_addr_t root_addr,
			    enum fi_datatype datatype, uint64_t flags,
			    void *context)
{
	(void)desc;
	(void)result_desc;
	return with_root(ep, FI_SCATTER, buf, count, result, coll_addr,
			 root_addr, datatype, FI_NOOP, flags, context);
}

static ssize_t coll_gather(struct fid_ep *ep, const void *buf, size_t count,
			   void *desc, void *result, void *result_desc,
			   fi_addr_t coll_addr, fi_addr_t root_addr,
			   enum fi_datatype datatype, uint64_t flags,
			   void *context)
{
	(void)desc;
	(void)result_desc;
	return with_root(ep, FI_GATHER, buf, count, result, coll_addr, root_addr,
			 datatype, FI_NOOP, flags, context);
}

/* Return: number of elements in the result of a call with @count. */
static size_t results_of(const struct afi_group *g,
			 enum fi_collective_op coll, size_t count)
{
	bool all = coll == FI_ALLTOALL || coll == FI_ALLGATHER ||
		   coll == FI_GATHER;

	return all ? count * g->size : count;
}

/*
 * Implements fi_ops_collective.msg: contribution and result are one piece each.
 * The count of the contribution is the count of the other calls.
 */
static ssize_t coll_msg(struct fid_ep *ep, const struct fi_msg_collective *msg,
			struct fi_ioc *resultv, void **result_desc,
			size_t result_count, uint64_t flags)
{
	struct ask a = {
		.coll = msg->coll,
		.addr = msg->coll_addr,
		.root = msg->root_addr,
		.type = msg->datatype,
		.op = msg->op,
		.flags = flags,
		.context = msg->context,
	};

	(void)result_desc;
	if (msg->iov_count > 1 || result_count > 1 ||
	    (!msg->iov_count && msg->coll != FI_BARRIER))
		return -FI_EINVAL;
	if (msg->coll == FI_BARRIER)
		a.type = FI_VOID;
	if (msg->iov_count) {
		a.in = msg->msg_iov->addr;
		a.count = msg->msg_iov->count;
	}
	if (msg->coll == FI_BROADCAST)
		a.out = msg->iov_count ? msg->msg_iov->addr : NULL;
	else if (result_count)
		a.out = resultv->addr;
	if (result_count && msg->coll != FI_BROADCAST) {
		const struct afi_group *g;
		bool fits;

		afi_lock(afi_ep_of(ep)->domain);
		g = afi_group_at(afi_ep_of(ep)->domain, a.addr);
		fits = g && a.count <= ANGARA_MAX_OP_BYTES &&
		       resultv->count >= results_of(g, a.coll, a.count);
		afi_unlock(afi_ep_of(ep)->domain);
		if (!fits)
			return -FI_EINVAL;
	}
	return call_ask(ep, &a);
}

struct fi_ops_collective afi_collective_ops = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = coll_barrier,
	.broadcast = coll_broadcast,
	.alltoall = coll_alltoall,
	.allreduce = coll_allreduce,
	.allgather = coll_allgather,
	.reduce_scatter = coll_reduce_scatter,
	.reduce = coll_reduce,
	.scatter = coll_scatter,
	.gather = coll_gather,
	.msg = coll_msg,
	.barrier2 = coll_barrier2,
};

/*
 * Implements fi_query_collective(): which operations can groups of this domain
 * support?
 */
int afi_query_collective(struct fid_domain *fid, enum fi_collective_op coll,
			 struct fi_collective_attr *attr, uint64_t flags)
{
	struct afi_domain *d = afi_domain_of(fid);
	size_t size;

	if (!attr || flags || attr->mode || (u32)coll >= NUM(kinds))
		return -FI_EINVAL;
	if (!d->coll || !type_ok(coll, attr->datatype, attr->op))
		return -FI_EOPNOTSUPP;
	if (d->coll->way == AFI_COLL_OFFLOAD &&
	    (!can_offload(coll) ||
	     !d->coll->offload->query(d, offload_by(coll), attr->datatype,
				    attr->op)))
		return -FI_EOPNOTSUPP;
	size = afi_type_size(attr->datatype);
	attr->datatype_attr.size = size;
	attr->datatype_attr.count = size ? ANGARA_MAX_OP_BYTES / size : 0;
	attr->max_members = AFI_MEMBERS;
	return 0;
}
