// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of a team in which each member has its own block.  Software
 * always executes these collectives.
 *
 * Blocks of equal length are contiguous.  The v forms have counts and
 * displacements in bytes, reductions in elements.
 */
#include <errno.h>

#include "ang_model.h"
#include "coll_run.h"

/*
 * Computes the bytes from the start of the buffer to the end of its last block.
 * The sum of all counts is checked, too, because schedules use it.
 * Return: 0; -EINVAL one of the two numbers overflows.
 */
static int blocks_extent(const struct ang_blocks *blocks, size_t count, u32 n,
			 u32 elem, u64 *bytes)
{
	u64 end = 0, at = 0, sum;
	u32 i;

	for (i = 0; i < n; i++) {
		u64 len = blocks->counts ? blocks->counts[i] : count;
		u64 from = blocks->displs ? blocks->displs[i] : at;
		u64 to;

		if (__builtin_add_overflow(at, len, &at) ||
		    __builtin_add_overflow(from, len, &to))
			return -EINVAL;
		if (len && to > end)
			end = to;
	}
	return __builtin_mul_overflow(at, elem, &sum) ||
	       __builtin_mul_overflow(end, elem, bytes) ? -EINVAL : 0;
}

/*
 * Computes the bytes of a buffer.  @all: the buffer contains the blocks of all
 * members, else only the block of this member.
 */
static int side_len(const struct ang_coll_args *a, const struct ang_blocks *blocks,
		    bool all, u32 n, u64 *bytes)
{
	const struct ang_blocks own = { NULL, NULL };

	return blocks_extent(all ? blocks : &own, a->count, all ? n : 1, a->elem, bytes);
}

/*
 * Starts a collective.  Lengths are in bytes if @call does not set the bytes of
 * an element.  @in and @out: this member uses the buffer; @in_blocks and
 * @out_blocks: the buffer contains blocks of all members.
 */
static int blocks_start(struct angara_team *team, struct ang_coll_call *call, bool in,
			bool in_blocks, bool out, bool out_blocks)
{
	struct ang_coll_args *a = &call->args;
	u32 n = team->size;
	int ret = 0;

	if (a->root >= n)
		return -EINVAL;
	if (!a->elem)
		a->elem = 1;
	if (in)
		ret = side_len(a, &a->in, in_blocks, n, &call->in.len);
	if (out && !ret)
		ret = side_len(a, &a->out, out_blocks, n, &call->out.len);
	return ret ? ret : ang_coll_software(team, call);
}

static int blocks_allgather(struct angara_team *team, const struct angara_mr *dst,
			    uint64_t dst_off, const struct angara_mr *src,
			    uint64_t src_off, size_t len, const struct angara_op *how,
			    struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_ALLGATHER, .count = len },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	return blocks_start(team, &call, true, false, true, true);
}

ANG_PUBLIC int angara_allgather_nbi(struct angara_team *team,
				    const struct angara_mr *dst,
				    uint64_t dst_off,
				    const struct angara_mr *src,
				    uint64_t src_off, size_t len,
				    const struct angara_op *how)
{
	return blocks_allgather(team, dst, dst_off, src, src_off, len, how, NULL);
}

ANG_PUBLIC int angara_allgather(struct angara_team *team,
				const struct angara_mr *dst, uint64_t dst_off,
				const struct angara_mr *src, uint64_t src_off,
				size_t len)
{
	ANG_COLL_WAIT(team, blocks_allgather(team, dst, dst_off, src, src_off, len,
					     NULL, &b));
}

static int blocks_allgatherv(struct angara_team *team, const struct angara_mr *dst,
			     uint64_t dst_off, const size_t *counts,
			     const size_t *displs, const struct angara_mr *src,
			     uint64_t src_off, const struct angara_op *how,
			     struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_ALLGATHER,
			 .count = counts[team->rank],
			 .out = { .counts = counts, .displs = displs },
			 .irregular = true },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	return blocks_start(team, &call, true, false, true, true);
}

ANG_PUBLIC int angara_allgatherv_nbi(
	struct angara_team *team, const struct angara_mr *dst, uint64_t dst_off,
	const size_t *counts, const size_t *displs, const struct angara_mr *src,
	uint64_t src_off, const struct angara_op *how)
{
	return blocks_allgatherv(team, dst, dst_off, counts, displs, src, src_off, how,
				 NULL);
}

ANG_PUBLIC int angara_allgatherv(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const size_t *counts, const size_t *displs,
				 const struct angara_mr *src, uint64_t src_off)
{
	ANG_COLL_WAIT(team, blocks_allgatherv(team, dst, dst_off, counts, displs, src,
					      src_off, NULL, &b));
}

static int blocks_gather(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t len, unsigned int root,
			 const struct angara_op *how, struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_GATHER, .count = len, .root = root },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	return blocks_start(team, &call, true, false, root == team->rank, true);
}

ANG_PUBLIC int angara_gather_nbi(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const struct angara_mr *src, uint64_t src_off,
				 size_t len, unsigned int root,
				 const struct angara_op *how)
{
	return blocks_gather(team, dst, dst_off, src, src_off, len, root, how, NULL);
}

ANG_PUBLIC int angara_gather(struct angara_team *team,
			     const struct angara_mr *dst, uint64_t dst_off,
			     const struct angara_mr *src, uint64_t src_off,
			     size_t len, unsigned int root)
{
	ANG_COLL_WAIT(team, blocks_gather(team, dst, dst_off, src, src_off, len, root,
					  NULL, &b));
}

static int blocks_gatherv(struct angara_team *team, const struct angara_mr *dst,
			  uint64_t dst_off, const size_t *counts, const size_t *displs,
			  const struct angara_mr *src, uint64_t src_off, size_t len,
			  unsigned int root, const struct angara_op *how,
			  struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_GATHER,
			 .count = len,
			 .root = root,
			 .out = { .counts = counts, .displs = displs },
			 .irregular = true },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	if (root == team->rank && counts[root] != len)
		return -EINVAL;
	return blocks_start(team, &call, true, false, root == team->rank, true);
}

ANG_PUBLIC int angara_gatherv_nbi(struct angara_team *team,
				  const struct angara_mr *dst, uint64_t dst_off,
				  const size_t *counts, const size_t *displs,
				  const struct angara_mr *src, uint64_t src_off,
				  size_t len, unsigned int root,
				  const struct angara_op *how)
{
	return blocks_gatherv(team, dst, dst_off, counts, displs, src, src_off, len,
			      root, how, NULL);
}

ANG_PUBLIC int angara_gatherv(struct angara_team *team,
			      const struct angara_mr *dst, uint64_t dst_off,
			      const size_t *counts, const size_t *displs,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t len, unsigned int root)
{
	ANG_COLL_WAIT(team, blocks_gatherv(team, dst, dst_off, counts, displs, src,
					   src_off, len, root, NULL, &b));
}

static int blocks_scatter(struct angara_team *team, const struct angara_mr *dst,
			  uint64_t dst_off, const struct angara_mr *src,
			  uint64_t src_off, size_t len, unsigned int root,
			  const struct angara_op *how, struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_SCATTER, .count = len, .root = root },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	return blocks_start(team, &call, root == team->rank, true, true, false);
}

ANG_PUBLIC int angara_scatter_nbi(struct angara_team *team,
				  const struct angara_mr *dst, uint64_t dst_off,
				  const struct angara_mr *src, uint64_t src_off,
				  size_t len, unsigned int root,
				  const struct angara_op *how)
{
	return blocks_scatter(team, dst, dst_off, src, src_off, len, root, how, NULL);
}

ANG_PUBLIC int angara_scatter(struct angara_team *team,
			      const struct angara_mr *dst, uint64_t dst_off,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t len, unsigned int root)
{
	ANG_COLL_WAIT(team, blocks_scatter(team, dst, dst_off, src, src_off, len, root,
					   NULL, &b));
}

static int blocks_scatterv(struct angara_team *team, const struct angara_mr *dst,
			   uint64_t dst_off, const struct angara_mr *src,
			   uint64_t src_off, const size_t *counts,
			   const size_t *displs, size_t len, unsigned int root,
			   const struct angara_op *how, struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_SCATTER,
			 .count = len,
			 .root = root,
			 .in = { .counts = counts, .displs = displs },
			 .irregular = true },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	if (root == team->rank && counts[root] != len)
		return -EINVAL;
	return blocks_start(team, &call, root == team->rank, true, true, false);
}

ANG_PUBLIC int angara_scatterv_nbi(
	struct angara_team *team, const struct angara_mr *dst, uint64_t dst_off,
	const struct angara_mr *src, uint64_t src_off, const size_t *counts,
	const size_t *displs, size_t len, unsigned int root,
	const struct angara_op *how)
{
	return blocks_scatterv(team, dst, dst_off, src, src_off, counts, displs, len,
			       root, how, NULL);
}

ANG_PUBLIC int angara_scatterv(struct angara_team *team,
			       const struct angara_mr *dst, uint64_t dst_off,
			       const struct angara_mr *src, uint64_t src_off,
			       const size_t *counts, const size_t *displs,
			       size_t len, unsigned int root)
{
	ANG_COLL_WAIT(team, blocks_scatterv(team, dst, dst_off, src, src_off, counts,
					    displs, len, root, NULL, &b));
}

static int blocks_alltoall(struct angara_team *team, const struct angara_mr *dst,
			   uint64_t dst_off, const struct angara_mr *src,
			   uint64_t src_off, size_t len, const struct angara_op *how,
			   struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_ALLTOALL, .count = len },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	return blocks_start(team, &call, true, true, true, true);
}

ANG_PUBLIC int angara_alltoall_nbi(struct angara_team *team,
				   const struct angara_mr *dst,
				   uint64_t dst_off,
				   const struct angara_mr *src,
				   uint64_t src_off, size_t len,
				   const struct angara_op *how)
{
	return blocks_alltoall(team, dst, dst_off, src, src_off, len, how, NULL);
}

ANG_PUBLIC int angara_alltoall(struct angara_team *team,
			       const struct angara_mr *dst, uint64_t dst_off,
			       const struct angara_mr *src, uint64_t src_off,
			       size_t len)
{
	ANG_COLL_WAIT(team, blocks_alltoall(team, dst, dst_off, src, src_off, len,
					    NULL, &b));
}

static int blocks_alltoallv(struct angara_team *team, const struct angara_mr *dst,
			    uint64_t dst_off, const size_t *dst_counts,
			    const size_t *dst_displs, const struct angara_mr *src,
			    uint64_t src_off, const size_t *src_counts,
			    const size_t *src_displs, const struct angara_op *how,
			    struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_ALLTOALL,
			 .in = { .counts = src_counts, .displs = src_displs },
			 .out = { .counts = dst_counts, .displs = dst_displs },
			 .irregular = true },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.how = how,
		.b = b,
	};

	if (src_counts[team->rank] != dst_counts[team->rank])
		return -EINVAL;
	return blocks_start(team, &call, true, true, true, true);
}

ANG_PUBLIC int angara_alltoallv_nbi(
	struct angara_team *team, const struct angara_mr *dst, uint64_t dst_off,
	const size_t *dst_counts, const size_t *dst_displs,
	const struct angara_mr *src, uint64_t src_off, const size_t *src_counts,
	const size_t *src_displs, const struct angara_op *how)
{
	return blocks_alltoallv(team, dst, dst_off, dst_counts, dst_displs, src,
				src_off, src_counts, src_displs, how, NULL);
}

ANG_PUBLIC int angara_alltoallv(struct angara_team *team,
				const struct angara_mr *dst, uint64_t dst_off,
				const size_t *dst_counts,
				const size_t *dst_displs,
				const struct angara_mr *src, uint64_t src_off,
				const size_t *src_counts,
				const size_t *src_displs)
{
	ANG_COLL_WAIT(team,
		      blocks_alltoallv(team, dst, dst_off, dst_counts, dst_displs, src,
				       src_off, src_counts, src_displs, NULL, &b));
}

static int reduce_scatter(struct angara_team *team, const struct angara_mr *dst,
			  uint64_t dst_off, const struct angara_mr *src,
			  uint64_t src_off, size_t count, unsigned int type,
			  unsigned int op, const struct angara_op *how,
			  struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_REDUCE_SCATTER, .count = count },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.type = type,
		.redop = op,
		.how = how,
		.b = b,
	};

	call.args.elem = ang_reduction_size(type, op);
	if (!call.args.elem)
		return -EINVAL;
	return blocks_start(team, &call, true, true, true, false);
}

ANG_PUBLIC int angara_reduce_scatter_nbi(
	struct angara_team *team, const struct angara_mr *dst, uint64_t dst_off,
	const struct angara_mr *src, uint64_t src_off, size_t count,
	unsigned int type, unsigned int op, const struct angara_op *how)
{
	return reduce_scatter(team, dst, dst_off, src, src_off, count, type, op,
			      how, NULL);
}

ANG_PUBLIC int angara_reduce_scatter(struct angara_team *team,
				     const struct angara_mr *dst,
				     uint64_t dst_off,
				     const struct angara_mr *src,
				     uint64_t src_off, size_t count,
				     unsigned int type, unsigned int op)
{
	ANG_COLL_WAIT(team, reduce_scatter(team, dst, dst_off, src, src_off,
					   count, type, op, NULL, &b));
}

static int reduce_scatterv(struct angara_team *team,
			   const struct angara_mr *dst, uint64_t dst_off,
			   const struct angara_mr *src, uint64_t src_off,
			   const size_t *counts, unsigned int type,
			   unsigned int op, const struct angara_op *how,
			   struct ang_blocked *b)
{
	struct ang_coll_call call = {
		.args = { .coll = ANG_COLL_REDUCE_SCATTER,
			 .count = counts[team->rank],
			 .in = { .counts = counts },
			 .irregular = true },
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.type = type,
		.redop = op,
		.how = how,
		.b = b,
	};

	call.args.elem = ang_reduction_size(type, op);
	if (!call.args.elem)
		return -EINVAL;
	return blocks_start(team, &call, true, true, true, false);
}

ANG_PUBLIC int angara_reduce_scatterv_nbi(
	struct angara_team *team, const struct angara_mr *dst, uint64_t dst_off,
	const struct angara_mr *src, uint64_t src_off, const size_t *counts,
	unsigned int type, unsigned int op, const struct angara_op *how)
{
	return reduce_scatterv(team, dst, dst_off, src, src_off, counts, type,
			       op, how, NULL);
}

ANG_PUBLIC int angara_reduce_scatterv(struct angara_team *team,
				      const struct angara_mr *dst,
				      uint64_t dst_off,
				      const struct angara_mr *src,
				      uint64_t src_off, const size_t *counts,
				      unsigned int type, unsigned int op)
{
	ANG_COLL_WAIT(team, reduce_scatterv(team, dst, dst_off, src, src_off,
					    counts, type, op, NULL, &b));
}
