// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations that the adapters execute: barrier, broadcast, reduce, allreduce.
 *
 * A group has one operation in progress at a time, in parts that fit in the
 * stage.  All members use the same parts, since they have to start the same
 * reductions and barriers in the same order.
 *
 * A reduction uses one part of the stage for contribution and result, and two
 * parts alternate: one is copied while the adapters work on the other.
 *
 * Broadcasts fill the parts of the stage in turn; several short ones share a
 * part.  A slow member may still copy from a part when the source already fills
 * the next one.  So a part is reused only after a barrier, which each member
 * starts when it has copied all data of the part.
 */
#include <string.h>

#include "offload.h"

#define AFI_LOOK_MS	100	/* ms between two checks that the tree is intact */
#define AFI_LINE	64	/* alignment of broadcast data */

static const struct {
	enum fi_datatype type;
	u8 adapter;
	bool whole;	/* integer type */
} types[] = {
	{ FI_INT32, ANGARA_TYPE_INT32, true },
	{ FI_UINT32, ANGARA_TYPE_UINT32, true },
	{ FI_INT64, ANGARA_TYPE_INT64, true },
	{ FI_UINT64, ANGARA_TYPE_UINT64, true },
	{ FI_FLOAT, ANGARA_TYPE_FLOAT, false },
	{ FI_DOUBLE, ANGARA_TYPE_DOUBLE, false },
};

static const struct {
	enum fi_op op;
	u8 adapter;
	bool bits;	/* needs a type with bitwise operations */
} ops[] = {
	{ FI_SUM, ANGARA_RED_SUM, false },
	{ FI_PROD, ANGARA_RED_PROD, false },
	{ FI_MIN, ANGARA_RED_MIN, false },
	{ FI_MAX, ANGARA_RED_MAX, false },
	{ FI_BAND, ANGARA_RED_AND, true },
	{ FI_BOR, ANGARA_RED_OR, true },
	{ FI_BXOR, ANGARA_RED_XOR, true },
};

/* Is a reduction supported?  @t, @o: out: the adapter's codes */
static bool offload_reduction(enum fi_datatype type, enum fi_op op, u8 *t, u8 *o)
{
	size_t i, j;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (j = 0; j < sizeof(ops) / sizeof(*ops); j++) {
			if (types[i].type != type || ops[j].op != op)
				continue;
			*t = types[i].adapter;
			*o = ops[j].adapter;
			return types[i].whole || !ops[j].bits;
		}
	return false;
}

bool afi_offload_query(const struct afi_domain *d, enum fi_collective_op coll,
			  enum fi_datatype type, enum fi_op op)
{
	u8 t, o;

	(void)d;
	switch (coll) {
	case FI_BARRIER:
	case FI_BROADCAST:
		return true;
	case FI_REDUCE:
	case FI_ALLREDUCE:
		return offload_reduction(type, op, &t, &o);
	default:
		return false;
	}
}

bool afi_offload_supports(const struct afi_group *g, enum fi_collective_op coll,
			     enum fi_datatype type, enum fi_op op, size_t count)
{
	(void)count;
	return afi_offload_query(g->domain, coll, type, op);
}

/**
 * afi_offload_ended() - has a request ended?
 * @o: group
 * @which: request
 * @st: out: its completion, or NULL
 *
 * Return: 0 it has succeeded, or there is none; -FI_EAGAIN it is in progress;
 * else its error.
 */
int afi_offload_ended(struct afi_offload *o, enum afi_offload_which which,
		      struct angara_completion *st)
{
	const struct afi_offload_req *req = &o->reqs[which];
	u32 bit = 1U << which;

	if (!(o->live & bit))
		return 0;
	if (req->await.live)
		return -FI_EAGAIN;
	if (st)
		*st = req->c;
	o->live &= ~bit;
	return req->err;
}

/* Return: the first member on a node; the adapters report only the node. */
static u32 member_at(const struct afi_group *g, u32 node)
{
	u32 i;

	for (i = 0; i < g->size && g->members[i].name.node != node; i++)
		;
	return i;
}

/* Ends the operation.  @st: completion of the failed request, or NULL */
static void offload_end(struct afi_offload *o, int err, const struct angara_completion *st)
{
	struct afi_call *call = o->call;
	u32 culprit = o->group->size;

	o->call = NULL;
	if (err && st && st->status) {
		AFI_WARN(EP_CTRL, "an offloaded operation failed: %s\n",
			 angara_status_str(st->status));
		culprit = member_at(o->group, st->node);
	}
	afi_call_end(call, -err, culprit);
}

static void req_ended(struct afi_domain *d, struct afi_await *a, int err,
		      const struct angara_completion *c)
{
	struct afi_offload_req *req = afi_of(a, struct afi_offload_req, await);

	(void)d;
	req->err = err;
	req->c = c ? *c : (struct angara_completion){ 0 };
}

/* Options for posting a request. */
const struct angara_op *afi_offload_how(struct afi_offload *o,
					enum afi_offload_which which)
{
	return afi_await(o->domain, &o->reqs[which].await, req_ended);
}

/* Records whether a request was posted.  Return: @ret. */
int afi_offload_posted(struct afi_offload *o, enum afi_offload_which which,
		       int ret)
{
	if (!ret)
		o->live |= 1U << which;
	return afi_awaited(o->domain, &o->reqs[which].await, ret);
}

static size_t offload_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool gets_result(const struct afi_call *call)
{
	return call->coll == FI_ALLREDUCE || call->root == call->group->rank;
}

static int post_reduction(struct afi_offload *o, enum afi_offload_which which,
			  u64 at, size_t len)
{
	const struct afi_call *call = o->call;
	const struct angara_mr *dst = gets_result(call) ? o->mine : NULL;
	const struct angara_op *how = afi_offload_how(o, which);
	size_t count = len / call->size;
	u8 type, op;

	if (!offload_reduction(call->type, call->op, &type, &op))
		return -FI_EOPNOTSUPP;
	memcpy(o->stage + at, (const char *)call->in + o->posted, len);
	if (call->coll == FI_ALLREDUCE)
		return angara_allreduce_nbi(o->team, dst, at, o->mine, at, count,
					    type, op, how);
	return angara_reduce_nbi(o->team, dst, at, o->mine, at, count, type, op,
				 call->root, how);
}

/*
 * Return: part of the stage for the part of a reduction that starts after
 * @bytes; two parts alternate.
 */
static u32 turn_of(size_t bytes)
{
	return bytes / AFI_STAGE_BYTES % 2;
}

static u64 place_of(u32 turn)
{
	return (2 + turn) * (u64)AFI_STAGE_BYTES;
}

static bool reduce_step(struct afi_offload *o, struct angara_completion *st, int *ret)
{
	struct afi_call *call = o->call;
	u32 turn = turn_of(o->done);
	size_t len;

	if (o->posted < call->len && o->posted - o->done < 2 * AFI_STAGE_BYTES) {
		turn = turn_of(o->posted);
		len = offload_least(call->len - o->posted, AFI_STAGE_BYTES);
		*ret = afi_offload_posted(o, AFI_REQ_EVEN + turn,
			      post_reduction(o, AFI_REQ_EVEN + turn,
					     place_of(turn), len));
		o->posted += len;
		return true;
	}
	*ret = afi_offload_ended(o, AFI_REQ_EVEN + turn, st);
	if (*ret == -FI_EAGAIN)
		return false;
	len = offload_least(call->len - o->done, AFI_STAGE_BYTES);
	if (!*ret && gets_result(call))
		memcpy((char *)call->out + o->done, o->stage + place_of(turn), len);
	o->done += len;
	return true;
}

static bool barrier_step(struct afi_offload *o, struct angara_completion *st, int *ret)
{
	if (!o->posted) {
		*ret = afi_offload_posted(o, AFI_REQ_EVEN,
			      angara_barrier_nbi(o->team, afi_offload_how(o, AFI_REQ_EVEN)));
		o->posted = 1;
		return true;
	}
	*ret = afi_offload_ended(o, AFI_REQ_EVEN, st);
	if (*ret == -FI_EAGAIN)
		return false;
	o->done = 1;
	return true;
}

/*
 * Has the next broadcast arrived?  No event reports the loss of the tree to a
 * waiting receiver, so check the tree from time to time.
 */
static int offload_arrival(struct afi_offload *o, struct angara_completion *st)
{
	int ret = 0;

	if (angara_team_received(o->team) <= o->arrived) {
		if (!afi_past(o->look))
			return -FI_EAGAIN;
		o->look = afi_deadline(AFI_LOOK_MS);
		ret = angara_team_check(o->team, &st->node);
		if (ret == -ECONNRESET)
			st->status = ANGARA_ST_TREE_DOWN;
	}
	/*
	 * Check for the broadcast again: it may have arrived before the tree
	 * was lost.
	 */
	if (angara_team_received(o->team) <= o->arrived)
		return ret ? ret : -FI_EAGAIN;
	st->status = ANGARA_ST_OK;
	return angara_team_received_wait(o->team, o->arrived + 1, 0);
}

/*
 * Turns to the next part: the current one is full, and this member has copied
 * all its data.
 */
static int next_part(struct afi_offload *o)
{
	u32 which = AFI_REQ_FREED + o->part;

	o->part = !o->part;
	o->used = 0;
	return afi_offload_posted(o, which, angara_barrier_nbi(o->team, afi_offload_how(o, which)));
}

static int send_part(struct afi_offload *o, u64 at, size_t len)
{
	const struct afi_call *call = o->call;

	memcpy(o->stage + at, (const char *)call->in + o->done, len);
	o->posted = o->done + len;
	return afi_offload_posted(o, AFI_REQ_BCAST,
		      angara_bcast_nbi(o->team, angara_mr_key(o->common), at,
				       o->mine, at, len,
				       afi_offload_how(o, AFI_REQ_BCAST)));
}

static bool bcast_step(struct afi_offload *o, struct angara_completion *st, int *ret)
{
	struct afi_call *call = o->call;
	bool source = call->root == o->group->rank;
	size_t left = call->len - o->done;
	size_t len = offload_least(left, AFI_STAGE_BYTES);
	u64 at;

	if (o->used && len > AFI_STAGE_BYTES - o->used) {
		*ret = next_part(o);
		return true;
	}
	/*
	 * Wait until all members have copied the earlier data of the part, before
	 * the source fills it.  A receiver waits, too: it may start the next
	 * barrier of the part only when this one has ended.
	 */
	*ret = afi_offload_ended(o, AFI_REQ_FREED + o->part, st);
	if (*ret)
		return *ret != -FI_EAGAIN;
	at = o->part * (u64)AFI_STAGE_BYTES + o->used;
	if (source && o->posted == o->done) {
		*ret = send_part(o, at, len);
		return true;
	}
	*ret = source ? afi_offload_ended(o, AFI_REQ_BCAST, st) : offload_arrival(o, st);
	if (*ret)
		return *ret != -FI_EAGAIN;
	if (!source)
		memcpy((char *)call->out + o->done, o->stage + at, len);
	o->arrived++;
	o->done += len;
	o->used += (len + AFI_LINE - 1) / AFI_LINE * AFI_LINE;
	return true;
}

/*
 * Executes one step if possible.  Return: true if a step was done.  @ret: out:
 * error
 */
static bool offload_step(struct afi_offload *o, struct angara_completion *st, int *ret)
{
	if (!afi_await_room(o->domain, 1))
		return false;
	switch (o->call->coll) {
	case FI_BARRIER:
		return barrier_step(o, st, ret);
	case FI_BROADCAST:
		return bcast_step(o, st, ret);
	default:
		return reduce_step(o, st, ret);
	}
}

static bool offload_is_over(const struct afi_offload *o)
{
	return o->done >= (o->call->coll == FI_BARRIER ? 1 : o->call->len);
}

bool afi_offload_progress(struct afi_group *g)
{
	struct angara_completion st = { 0 };
	struct afi_offload *o = g->offload;
	bool any = false;
	int ret = 0;

	while (o->call && offload_step(o, &st, &ret)) {
		any = true;
		if (ret || offload_is_over(o))
			offload_end(o, ret, &st);
	}
	return any;
}

/* Only afi_offload_progress() ends the operation, since the caller still uses it. */
int afi_offload_start(struct afi_group *g, struct afi_call *call)
{
	struct angara_completion st;
	struct afi_offload *o = g->offload;
	int ret = 0;

	if (o->call)
		return -FI_EAGAIN;
	o->call = call;
	o->posted = 0;
	o->done = 0;
	o->look = afi_deadline(AFI_LOOK_MS);
	if (call->coll == FI_BROADCAST && call->root != g->rank)
		return 0;
	/*
	 * The first step cannot end an operation; it only waits for other
	 * members.
	 */
	if (offload_step(o, &st, &ret) && ret) {
		o->call = NULL;
		return ret;
	}
	return 0;
}

/*
 * Abandons the operation: the adapter continues in the provider's memory, and
 * the tree stays until the group is closed.  So messages tell the other members
 * the reason of the failure before their adapters report that the tree is gone.
 */
void afi_offload_stop(struct afi_group *g)
{
	struct afi_offload *o = g->offload;

	o->call = NULL;
}
