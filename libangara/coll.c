// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of a team in which members have one vector: by the adapter if the
 * team has a tree and the adapter supports the operation, else by software.
 * All members make the same choice, from data that they share.
 */
#include <errno.h>

#include "ang_model.h"
#include "coll_run.h"

#define ANG_LOST_MS	100	/* milliseconds between two checks of the tree */
#define SELDOM		__attribute__((noinline)) /* keeps hot code short */

static struct angara_wqe coll_wqe(const struct angara_team *team,
				  unsigned int op, size_t len)
{
	return (struct angara_wqe){
		.opcode = (u8)op,
		.tree = cpu_to_le16(team->tree),
		.length = cpu_to_le32(len),
	};
}

/*
 * Is a range of memory valid?  Memory without a region is checked later, when
 * the library registers it.
 */
static bool range_ok(const struct angara_team *team, const struct angara_mr *mr,
		     u64 off, size_t len)
{
	return ang_mr_fits(team->ctx, mr, off, len) || (!mr && (off || !len));
}

static bool mem_fits(const struct angara_team *team, const struct ang_coll_mem *m)
{
	return !m->len || range_ok(team, m->mr, m->off, m->len);
}

static void set_side(struct ang_coll_op *op, enum ang_buf buf,
		     const struct ang_coll_mem *m)
{
	if (!m->len)
		return;
	if (m->mr) {
		op->side[buf] = (struct ang_side){ .mr = m->mr, .off = m->off };
		op->run.at[buf] = (char *)m->mr->addr + m->off;
	} else {
		op->side[buf].len = m->len;
		op->run.at[buf] = (char *)(uintptr_t)m->off;
	}
}

#define SAME(name)	(ANGARA_ALGO_##name == ANG_ALGO_##name << ANGARA_ALGO_SHIFT)
static_assert(SAME(DISSEMINATION) && SAME(BINOMIAL) && SAME(LINEAR) &&
	      SAME(SCATTER_ALLGATHER) && SAME(RECURSIVE_DOUBLING) &&
	      SAME(RABENSEIFNER) && SAME(RING) && SAME(BRUCK) && SAME(PAIRWISE) &&
	      ANGARA_ALGO_RING2D >= ANG_ALGO_TREE << ANGARA_ALGO_SHIFT &&
	      ANGARA_ALGO_MASK == 0xFFU << ANGARA_ALGO_SHIFT &&
	      ANG_ALGO_NUM == ANG_ALGO_TREE + 1,
	      "the caller's names of algorithms");

/*
 * Sets up an allgather in which members use the numbers of
 * angara_team_numbers().  Return: 0; -EINVAL.
 */
static int name_numbered(const struct angara_team *team, struct ang_coll_args *a,
			 u32 name)
{
	bool doubling = name >= ANGARA_ALGO_DOUBLING_EXCH;
	const u32 *place = team->numbers[doubling ? ANG_NUMBERED_DOUBLING :
						    ANG_NUMBERED_BRUCK];

	if (a->coll != ANG_COLL_ALLGATHER || a->irregular || !place)
		return -EINVAL;
	a->algo = doubling ? ANG_ALGO_RECURSIVE_DOUBLING : ANG_ALGO_BRUCK;
	a->place = place;
	a->rank_of = place + team->size;
	a->exchange = name == ANGARA_ALGO_BRUCK_EXCH ||
		      name == ANGARA_ALGO_DOUBLING_EXCH;
	return 0;
}

/* Sets the algorithm that the caller names.  Return: 0; -EINVAL. */
static int name_algo(struct angara_team *team, struct ang_coll_args *a, u32 name)
{
	switch (name) {
	case ANGARA_ALGO_RING2D:
		if (a->coll != ANG_COLL_ALLREDUCE)
			return -EINVAL;
		ang_team_torus(team, a);
		a->algo = ANG_ALGO_RING;
		a->packet = team->packet;
		return 0;
	case ANGARA_ALGO_RING:
		a->algo = ANG_ALGO_RING;
		a->packet = a->coll == ANG_COLL_ALLREDUCE ? team->packet : 0;
		return 0;
	case ANGARA_ALGO_BRUCK_EXCH:
	case ANGARA_ALGO_BRUCK_REORDER:
	case ANGARA_ALGO_DOUBLING_EXCH:
	case ANGARA_ALGO_DOUBLING_REORDER:
		return name_numbered(team, a, name);
	default:
		a->algo = name >> ANGARA_ALGO_SHIFT;
		return 0;
	}
}

/*
 * Starts a collective whose algorithm the caller names with a flag.  Removes
 * the flag from the options.
 */
static int SELDOM coll_named(struct angara_team *team,
			     const struct ang_coll_call *call)
{
	struct ang_coll_call named = *call;
	struct angara_op how = *call->how;

	named.args.kin = NULL;
	if (how.size != sizeof(how) ||
	    name_algo(team, &named.args, how.flags & ANGARA_ALGO_MASK))
		return -EINVAL;
	how.flags &= ~ANGARA_ALGO_MASK;
	named.how = &how;
	return ang_coll_software(team, &named);
}

/**
 * ang_coll_software() - start a collective by software
 * @team: team
 * @call: collective
 *
 * Return: as ang_coll_start(); -EINVAL a range is outside of its region.
 */
int ang_coll_software(struct angara_team *team, const struct ang_coll_call *call)
{
	struct ang_coll_op *op;
	int ret;

	if (!mem_fits(team, &call->in) || !mem_fits(team, &call->out))
		return -EINVAL;
	if (call->how && call->how->flags & ANGARA_ALGO_MASK)
		return coll_named(team, call);
	ret = ang_coll_new(team, &call->args, &op);
	if (ret)
		return ret;
	set_side(op, ANG_BUF_IN, &call->in);
	set_side(op, ANG_BUF_OUT, &call->out);
	op->type = call->type;
	op->redop = call->redop;
	if (call->by)
		op->by = *call->by;
	ret = ang_coll_start(op, call->how, call->b);
	if (!ret)
		team->by_software++;
	return ret;
}

/*
 * Records an allreduce or a barrier, the next entry of the SQ, so that the
 * doorbell may put it on a board.
 * @op: see ang_near_op()
 */
static void coll_near(struct angara_team *team, u64 op, const void *src, void *dst)
{
	struct angara_ctx *ctx = team->ctx;

	if (!ctx->dev.boards)
		return;
	ang_board_settle(ctx);
	if (ctx->by_tree[1 + team->tree] || ctx->rung != ctx->pi)
		return;
	ctx->dev.near = (struct ang_near){
		.set = true, .tree = team->tree, .pi = ctx->pi + 1, .op = op,
		.received = angara_team_received(team),
		.src = src, .dst = dst,
	};
}

/* Starts a collective on the tree. */
static int coll_device(struct angara_team *team, struct angara_wqe *wqe,
		       const struct angara_op *how, struct ang_blocked *b)
{
	int ret = b ? ang_blocked_post(team->ctx, wqe, NULL, 0, b) :
		      ang_post(team->ctx, wqe, NULL, 0, how);

	if (ret)
		team->ctx->dev.near.set = false;
	team->by_device += !ret;
	return ret;
}

/**
 * struct unreg - memory of a collective that is not registered
 * @in: in: address of the contribution; out: offset of the contribution in its
 *	region
 * @out: in: address of the result; out: offset of the result in its region
 * @len: bytes of the contribution, and of the result
 * @held: out: regions that contain contribution and result
 */
struct unreg {
	u64 in;
	u64 out;
	size_t len;
	struct ang_held held;
};

/*
 * Registers the contribution (if @in) and the result (if @out) until the
 * operation is complete.  If the queues have no room, nothing is registered.
 * Return: as ang_hold_begin(); -EAGAIN.
 */
static int unreg_hold(struct angara_team *team, struct unreg *u, bool in, bool out,
		      u32 ops, const struct angara_op *how,
		      const struct ang_blocked *b)
{
	int ret = b ? 0 : ang_room(team->ctx, ops, 0, how);

	u->held = (struct ang_held){ { NULL } };
	if (!ret && out)
		ret = ang_hold_begin(team->ctx, &u->out, u->len,
				     ANGARA_ACCESS_LOCAL_WRITE, &u->held.mr[1]);
	if (!ret && in)
		ret = ang_hold_begin(team->ctx, &u->in, u->len, 0,
				     &u->held.mr[0]);
	if (ret)
		ang_held_release(&u->held);
	return ret;
}

static int bcast_device(struct angara_team *team, struct angara_wqe *wqe,
			const struct angara_mr *src, u64 src_off,
			const struct angara_op *how, struct ang_blocked *b)
{
	wqe->lkey = cpu_to_le32(ANG_MR_SLOT(src->key));
	wqe->loff = cpu_to_le64(src_off);
	return coll_device(team, wqe, how, b);
}

static int SELDOM bcast_unreg(struct angara_team *team, struct angara_wqe *wqe,
			      u64 src, size_t len, const struct angara_op *how,
			      struct ang_blocked *b)
{
	struct unreg u = { .in = src, .len = len };
	int ret;

	if (len && !src)
		return -EINVAL;
	ret = unreg_hold(team, &u, true, false, 1, how, b);
	if (ret)
		return ret;
	ret = bcast_device(team, wqe, u.held.mr[0], u.in, how, b);
	return ang_hold_posted(team->ctx, wqe, &u.held, ret);
}

static int coll_bcast(struct angara_team *team, u64 dst_key, u64 dst_off,
		      const struct angara_mr *src, u64 src_off, size_t len,
		      const struct angara_op *how, struct ang_blocked *b)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BCAST, len);

	if (!team->offloaded)
		return -ENOTSUP;
	if (len > team->ctx->dom->query.max_op_bytes)
		return -EINVAL;
	wqe.rkey = cpu_to_le64(dst_key);
	wqe.roff = cpu_to_le64(dst_off);
	if (!ang_mr_fits(team->ctx, src, src_off, len))
		return src ? -EINVAL : bcast_unreg(team, &wqe, src_off, len, how, b);
	return bcast_device(team, &wqe, src, src_off, how, b);
}

ANG_PUBLIC int angara_bcast_nbi(struct angara_team *team, uint64_t dst_key,
				uint64_t dst_off, const struct angara_mr *src,
				uint64_t src_off, size_t len,
				const struct angara_op *how)
{
	return coll_bcast(team, dst_key, dst_off, src, src_off, len, how, NULL);
}

ANG_PUBLIC int angara_bcast(struct angara_team *team, uint64_t dst_key,
			    uint64_t dst_off, const struct angara_mr *src,
			    uint64_t src_off, size_t len)
{
	ANG_COLL_WAIT(team, coll_bcast(team, dst_key, dst_off, src, src_off, len,
				       NULL, &b));
}

/* Bytes of @count elements.  Return: 0; -EINVAL. */
static int vector_bytes(const struct angara_team *team, size_t count, u32 type,
			u32 redop, size_t *len)
{
	u32 size = ang_reduction_size(type, redop);

	if (!size || count > team->ctx->dom->query.max_op_bytes / size)
		return -EINVAL;
	*len = count * size;
	return 0;
}

/*
 * Computes the bytes of @count elements, and checks the ranges of @src and
 * @dst.  @dst is NULL if the member gets no result.
 * Return: 0; -EINVAL.
 */
static int vector_len(const struct angara_team *team, const struct angara_mr *dst,
		      u64 dst_off, const struct angara_mr *src, u64 src_off,
		      size_t count, u32 type, u32 redop, size_t *len)
{
	int ret = vector_bytes(team, count, type, redop, len);

	if (ret)
		return ret;
	return ang_mr_fits(team->ctx, src, src_off, *len) &&
	       (!dst || ang_mr_fits(team->ctx, dst, dst_off, *len)) ?
	       0 : -EINVAL;
}

static struct angara_wqe vector_wqe(const struct angara_team *team,
				    enum ang_coll coll, u32 root, size_t len)
{
	struct angara_wqe wqe = coll_wqe(team, coll == ANG_COLL_REDUCE ?
					 ANGARA_OP_REDUCE : ANGARA_OP_ALLREDUCE,
					 len);

	if (coll == ANG_COLL_REDUCE) {
		wqe.dst_node = cpu_to_le32(team->peers[root].node);
		wqe.dst_ctx = cpu_to_le16(team->peers[root].ctx);
	}
	return wqe;
}

/*
 * Records a reduction for a board only if its regions are valid: boards do not
 * check regions, the adapter does.
 */
static void vector_near(struct angara_team *team, const struct angara_wqe *wqe,
			const struct angara_mr *dst, u64 dst_off,
			const struct angara_mr *src, u64 src_off)
{
	if (wqe->opcode == ANGARA_OP_ALLREDUCE && !src->revoked &&
	    !dst->revoked && dst->access & ANGARA_ACCESS_LOCAL_WRITE)
		coll_near(team,
			  ang_near_op(wqe->type, wqe->redop,
				      le32_to_cpu(wqe->length)),
			  (const char *)src->addr + src_off,
			  (char *)dst->addr + dst_off);
}

/* Posts a reduction on the tree.  @wqe comes from vector_wqe(). */
static int vector_device(struct angara_team *team, struct angara_wqe *wqe,
			 const struct angara_mr *dst, u64 dst_off,
			 const struct angara_mr *src, u64 src_off, u32 type,
			 u32 redop, const struct angara_op *how,
			 struct ang_blocked *b)
{
	u32 stripes;
	int ret;

	wqe->redop = (u8)redop;
	wqe->type = (u8)type;
	wqe->lkey = cpu_to_le32(ANG_MR_SLOT(src->key));
	wqe->loff = cpu_to_le64(src_off);
	if (dst) {
		wqe->aux_key = cpu_to_le32(ANG_MR_SLOT(dst->key));
		wqe->aux = cpu_to_le64(dst_off);
	}
	stripes = ang_stripes(team, le32_to_cpu(wqe->length));
	if (stripes == 1) {
		vector_near(team, wqe, dst, dst_off, src, src_off);
		return coll_device(team, wqe, how, b);
	}
	ret = ang_stripes_post(team, wqe, stripes, ang_reduction_size(type, redop),
			       how, b);
	team->by_device += !ret;
	return ret;
}

static int vector_software(struct angara_team *team, enum ang_coll coll, u32 root,
			   bool result, const struct angara_mr *dst, u64 dst_off,
			   const struct angara_mr *src, u64 src_off, size_t len,
			   u32 type, u32 redop, const struct angara_op *how,
			   struct ang_blocked *b)
{
	u32 size = ang_type_size(type);
	const struct ang_coll_call call = {
		.args = { .coll = coll, .root = root, .elem = size,
			  .count = len / size },
		.in = { .mr = src, .off = src_off, .len = len },
		.out = { .mr = dst, .off = dst_off, .len = result ? len : 0 },
		.type = type, .redop = redop, .how = how, .b = b,
	};

	return ang_coll_software(team, &call);
}

/*
 * Starts a reduction whose contribution, result or both are not registered.
 * @result: this member gets the result
 */
static int SELDOM vector_unreg(struct angara_team *team, enum ang_coll coll,
			       u32 root, bool result,
			       const struct angara_mr *dst, u64 dst_off,
			       const struct angara_mr *src, u64 src_off,
			       size_t count, u32 type, u32 redop,
			       const struct angara_op *how, struct ang_blocked *b)
{
	bool device = team->offloaded &&
		      (coll == ANG_COLL_REDUCE || coll == ANG_COLL_ALLREDUCE);
	struct unreg u = { .in = src_off, .out = dst_off };
	struct angara_wqe wqe;
	u32 ops;
	int ret = vector_bytes(team, count, type, redop, &u.len);

	if (ret)
		return ret;
	if (!range_ok(team, src, src_off, u.len) ||
	    (result && !range_ok(team, dst, dst_off, u.len)))
		return -EINVAL;
	if (!device)
		return vector_software(team, coll, root, result, dst, dst_off,
				       src, src_off, u.len, type, redop, how, b);
	/*
	 * A reduction in several parts takes an additional slot for the whole
	 * operation.
	 */
	ops = ang_stripes(team, u.len);
	ret = unreg_hold(team, &u, !src, result && !dst, ops > 1 ? ops + 1 : 1,
			 how, b);
	if (ret)
		return ret;
	wqe = vector_wqe(team, coll, root, u.len);
	ret = vector_device(team, &wqe, result && !dst ? u.held.mr[1] : dst,
			    u.out, src ? src : u.held.mr[0], u.in, type, redop,
			    how, b);
	return ang_hold_posted(team->ctx, &wqe, &u.held, ret);
}

static int coll_reduce(struct angara_team *team, const struct angara_mr *dst,
		       u64 dst_off, const struct angara_mr *src, u64 src_off,
		       size_t count, u32 type, u32 redop, u32 root,
		       const struct angara_op *how, struct ang_blocked *b)
{
	bool here = root == team->rank;
	struct angara_wqe wqe;
	size_t len;
	int ret;

	if (root >= team->size)
		return -EINVAL;
	if (!here)
		dst = NULL;
	if (!src || (here && !dst))
		return vector_unreg(team, ANG_COLL_REDUCE, root, here, dst,
				    dst_off, src, src_off, count, type, redop,
				    how, b);
	ret = vector_len(team, dst, dst_off, src, src_off, count, type, redop,
			 &len);
	if (ret)
		return ret;
	if (!team->offloaded)
		return vector_software(team, ANG_COLL_REDUCE, root, here, dst,
				       dst_off, src, src_off, len, type, redop,
				       how, b);
	wqe = vector_wqe(team, ANG_COLL_REDUCE, root, len);
	return vector_device(team, &wqe, dst, dst_off, src, src_off, type, redop,
			     how, b);
}

ANG_PUBLIC int angara_reduce_nbi(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const struct angara_mr *src, uint64_t src_off,
				 size_t count, unsigned int type,
				 unsigned int op, unsigned int root,
				 const struct angara_op *how)
{
	return coll_reduce(team, dst, dst_off, src, src_off, count, type, op, root,
			   how, NULL);
}

ANG_PUBLIC int angara_reduce(struct angara_team *team,
			     const struct angara_mr *dst, uint64_t dst_off,
			     const struct angara_mr *src, uint64_t src_off,
			     size_t count, unsigned int type, unsigned int op,
			     unsigned int root)
{
	ANG_COLL_WAIT(team, coll_reduce(team, dst, dst_off, src, src_off, count, type,
					op, root, NULL, &b));
}

static int coll_allreduce(struct angara_team *team, const struct angara_mr *dst,
			  u64 dst_off, const struct angara_mr *src, u64 src_off,
			  size_t count, u32 type, u32 redop,
			  const struct angara_op *how, struct ang_blocked *b)
{
	struct angara_wqe wqe;
	size_t len;
	int ret;

	if (!src || !dst)
		return vector_unreg(team, ANG_COLL_ALLREDUCE, 0, true, dst,
				    dst_off, src, src_off, count, type, redop,
				    how, b);
	ret = vector_len(team, dst, dst_off, src, src_off, count, type, redop,
			 &len);
	if (ret)
		return ret;
	if (!team->offloaded)
		return vector_software(team, ANG_COLL_ALLREDUCE, 0, true, dst,
				       dst_off, src, src_off, len, type, redop,
				       how, b);
	wqe = vector_wqe(team, ANG_COLL_ALLREDUCE, 0, len);
	return vector_device(team, &wqe, dst, dst_off, src, src_off, type, redop,
			     how, b);
}

ANG_PUBLIC int angara_allreduce_nbi(struct angara_team *team,
				    const struct angara_mr *dst,
				    uint64_t dst_off,
				    const struct angara_mr *src,
				    uint64_t src_off, size_t count,
				    unsigned int type, unsigned int op,
				    const struct angara_op *how)
{
	return coll_allreduce(team, dst, dst_off, src, src_off, count, type, op, how,
			      NULL);
}

ANG_PUBLIC int angara_allreduce(struct angara_team *team,
				const struct angara_mr *dst, uint64_t dst_off,
				const struct angara_mr *src, uint64_t src_off,
				size_t count, unsigned int type,
				unsigned int op)
{
	ANG_COLL_WAIT(team, coll_allreduce(team, dst, dst_off, src, src_off, count,
					   type, op, NULL, &b));
}

static int coll_scan(struct angara_team *team, enum ang_coll coll,
		     const struct angara_mr *dst, u64 dst_off,
		     const struct angara_mr *src, u64 src_off, size_t count, u32 type,
		     u32 redop, const struct angara_op *how, struct ang_blocked *b)
{
	size_t len;
	int ret;

	if (!src || !dst)
		return vector_unreg(team, coll, 0, true, dst, dst_off, src,
				    src_off, count, type, redop, how, b);
	ret = vector_len(team, dst, dst_off, src, src_off, count, type, redop,
			 &len);
	if (ret)
		return ret;
	return vector_software(team, coll, 0, true, dst, dst_off, src, src_off,
			       len, type, redop, how, b);
}

ANG_PUBLIC int angara_scan_nbi(struct angara_team *team,
			       const struct angara_mr *dst, uint64_t dst_off,
			       const struct angara_mr *src, uint64_t src_off,
			       size_t count, unsigned int type, unsigned int op,
			       const struct angara_op *how)
{
	return coll_scan(team, ANG_COLL_SCAN, dst, dst_off, src, src_off, count, type,
			 op, how, NULL);
}

ANG_PUBLIC int angara_scan(struct angara_team *team, const struct angara_mr *dst,
			   uint64_t dst_off, const struct angara_mr *src,
			   uint64_t src_off, size_t count, unsigned int type,
			   unsigned int op)
{
	ANG_COLL_WAIT(team, coll_scan(team, ANG_COLL_SCAN, dst, dst_off, src, src_off,
				      count, type, op, NULL, &b));
}

ANG_PUBLIC int angara_exscan_nbi(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const struct angara_mr *src, uint64_t src_off,
				 size_t count, unsigned int type,
				 unsigned int op, const struct angara_op *how)
{
	return coll_scan(team, ANG_COLL_EXSCAN, dst, dst_off, src, src_off, count, type,
			 op, how, NULL);
}

ANG_PUBLIC int angara_exscan(struct angara_team *team,
			     const struct angara_mr *dst, uint64_t dst_off,
			     const struct angara_mr *src, uint64_t src_off,
			     size_t count, unsigned int type, unsigned int op)
{
	ANG_COLL_WAIT(team, coll_scan(team, ANG_COLL_EXSCAN, dst, dst_off, src, src_off,
				      count, type, op, NULL, &b));
}

/*
 * Broadcasts by software, to any region: the adapter needs equal keys, see
 * angara_bcast().
 */
static int coll_broadcast(struct angara_team *team, const struct angara_mr *mr,
			  u64 off, size_t len, u32 root, const struct angara_op *how,
			  struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_BCAST, .root = root, .elem = 1,
			  .count = len },
		.in = { .mr = mr, .off = off, .len = len },
		.out = { .mr = mr, .off = off, .len = len },
		.how = how, .b = b,
	};

	if (root >= team->size || len > team->ctx->dom->query.max_op_bytes)
		return -EINVAL;
	return ang_coll_software(team, &call);
}

ANG_PUBLIC int angara_broadcast_nbi(struct angara_team *team,
				    const struct angara_mr *mr, uint64_t off,
				    size_t len, unsigned int root,
				    const struct angara_op *how)
{
	return coll_broadcast(team, mr, off, len, root, how, NULL);
}

ANG_PUBLIC int angara_broadcast(struct angara_team *team,
				const struct angara_mr *mr, uint64_t off,
				size_t len, unsigned int root)
{
	ANG_COLL_WAIT(team, coll_broadcast(team, mr, off, len, root, NULL, &b));
}

static int coll_barrier(struct angara_team *team, bool offload,
			const struct angara_op *how, struct ang_blocked *b)
{
	struct angara_wqe wqe;

	if (offload) {
		wqe = coll_wqe(team, ANGARA_OP_BARRIER, 0);
		coll_near(team, 0, NULL, NULL);
		return coll_device(team, &wqe, how, b);
	}
	return ang_coll_software(team, &(const struct ang_coll_call){
		.args = { .coll = ANG_COLL_BARRIER, .elem = 1 },
		.how = how, .b = b,
	});
}

ANG_PUBLIC int angara_barrier_nbi(struct angara_team *team,
				  const struct angara_op *how)
{
	return coll_barrier(team, team->offloaded, how, NULL);
}

ANG_PUBLIC int angara_barrier(struct angara_team *team)
{
	ANG_COLL_WAIT(team, coll_barrier(team, team->offloaded, NULL, &b));
}

/* Executes a barrier by software, even if the team has a tree. */
int ang_team_meet(struct angara_team *team)
{
	ANG_COLL_WAIT(team, coll_barrier(team, false, NULL, &b));
}

ANG_PUBLIC uint64_t angara_team_received(struct angara_team *team)
{
	if (!team->offloaded)
		return 0;
	return ang_counter(team->ctx, ANGARA_CTR_BCAST(team->tree)) -
	       team->received;
}

/*
 * Checks that the team has lost no member, and that its tree still belongs to it
 * and is up.  Return: as angara_team_check().
 */
static int tree_check(const struct angara_team *team, u32 *node)
{
	struct angara_tree_get arg = ANG_CMD_INIT(struct angara_tree_get);
	int ret;

	*node = UINT32_MAX;
	if (team->lost) {
		*node = team->peers[team->culprit].node;
		return -ECONNRESET;
	}
	if (!team->offloaded)
		return team->ctx->dead ? -ENODEV : 0;
	arg.row.tree = (u8)team->tree;
	ret = ang_dev_cmd(&team->ctx->dom->dev, ANGARA_IOCTL_TREE_GET, &arg);
	if (ret == -ENODEV || ret == -EIO)
		return -ENODEV;
	if (ret || arg.row.epoch != team->epoch)
		return -ECONNRESET;
	if (arg.state == ANGARA_TREE_STATE_UP)
		return 0;
	if (arg.state == ANGARA_TREE_STATE_DOWN)
		*node = arg.down_node;
	return -ECONNRESET;
}

ANG_PUBLIC int angara_team_check(const struct angara_team *team, uint32_t *node)
{
	int ret = tree_check(team, node);
	u32 i;

	for (i = 0; i < team->nstripes && !ret; i++)
		ret = tree_check(team->stripes[i], node);
	return ret;
}

/*
 * Has no broadcast failed since the last call?  The adapter counts the error of
 * a broadcast before its arrival.  Return: 0; -EIO.
 */
static int arrived_whole(struct angara_team *team)
{
	u64 errors = ang_counter(team->ctx, ANGARA_CTR_RX_ERRORS(team->tree));
	bool whole = errors == team->rx_errors;

	team->rx_errors = errors;
	return whole ? 0 : -EIO;
}

ANG_PUBLIC int angara_team_received_wait(struct angara_team *team, uint64_t n,
					 int timeout_ms)
{
	u64 until = team->received + n;
	u32 node;
	int lost = 0;
	int ret, ms;

	if (!team->offloaded)
		return -ENOTSUP;
	for (;;) {
		ms = timeout_ms < 0 || timeout_ms > ANG_LOST_MS ? ANG_LOST_MS :
								  timeout_ms;
		ret = ang_wait_counter(team->ctx, ANGARA_CTR_BCAST(team->tree),
				       until, lost ? 0 : ms);
		if (!ret)
			return arrived_whole(team);
		if (ret != -ETIMEDOUT || lost)
			return lost ? lost : ret;
		if (timeout_ms > 0)
			timeout_ms -= ms;
		/*
		 * This check is the only way in which a member that waits for
		 * broadcasts detects that the tree is lost.  Broadcasts that
		 * arrived before the loss are valid, so check the counter once
		 * more.
		 */
		lost = tree_check(team, &node);
		if (!lost && !timeout_ms)
			return ret;
	}
}
