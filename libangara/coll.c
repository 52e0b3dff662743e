// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of a team.
 */
#include <errno.h>

#include "team.h"

static struct angara_wqe coll_wqe(const struct angara_team *team,
				  unsigned int op, size_t len)
{
	return (struct angara_wqe){
		.opcode = (u8)op,
		.tree = (u8)team->tree,
		.length = cpu_to_le32(len),
	};
}

ANG_PUBLIC int angara_bcast_nbi(struct angara_team *team, uint32_t dst_key,
				uint64_t dst_off, const struct angara_mr *src,
				uint64_t src_off, size_t len, angara_req_t *req)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BCAST, len);
	struct angara_ctx *ctx = team->ctx;

	if (len > ctx->query.max_op_bytes || !ang_mr_fits(ctx, src, src_off, len))
		return -EINVAL;
	wqe.src_key = cpu_to_le32(src->key);
	wqe.src_off = cpu_to_le64(src_off);
	wqe.dst_key = cpu_to_le32(dst_key);
	wqe.dst_off = cpu_to_le64(dst_off);
	return ang_post(ctx, &wqe, NULL, req);
}

static size_t type_bytes(unsigned int type)
{
	return type == ANGARA_TYPE_INT32 || type == ANGARA_TYPE_UINT32 ? 4 : 8;
}

/* What reduce and allreduce have in common; @dst is NULL where none is wanted. */
static int reduction(struct angara_team *team, struct angara_wqe *wqe,
		     const struct angara_mr *dst, u64 dst_off,
		     const struct angara_mr *src, u64 src_off, size_t count,
		     unsigned int type, unsigned int op, angara_req_t *req)
{
	struct angara_ctx *ctx = team->ctx;
	size_t len;

	if (type >= ANGARA_TYPE_NUM || op >= ANGARA_RED_NUM ||
	    count > ctx->query.max_op_bytes / type_bytes(type))
		return -EINVAL;
	len = count * type_bytes(type);
	if (!ang_mr_fits(ctx, src, src_off, len) ||
	    (dst && !ang_mr_fits(ctx, dst, dst_off, len)))
		return -EINVAL;
	wqe->redop = (u8)op;
	wqe->type = (u8)type;
	wqe->length = cpu_to_le32(len);
	wqe->src_key = cpu_to_le32(src->key);
	wqe->src_off = cpu_to_le64(src_off);
	if (dst) {
		wqe->dst_key = cpu_to_le32(dst->key);
		wqe->dst_off = cpu_to_le64(dst_off);
	}
	return ang_post(ctx, wqe, NULL, req);
}

ANG_PUBLIC int angara_reduce_nbi(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const struct angara_mr *src, uint64_t src_off,
				 size_t count, unsigned int type,
				 unsigned int op, unsigned int root,
				 angara_req_t *req)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_REDUCE, 0);
	bool here = root == team->rank;

	if (root >= team->size || (here && !dst))
		return -EINVAL;
	wqe.dst_node = cpu_to_le32(team->peers[root].node);
	wqe.dst_ctx = cpu_to_le16(team->peers[root].ctx);
	return reduction(team, &wqe, here ? dst : NULL, dst_off, src, src_off,
			 count, type, op, req);
}

ANG_PUBLIC int angara_allreduce_nbi(struct angara_team *team,
				    const struct angara_mr *dst,
				    uint64_t dst_off,
				    const struct angara_mr *src,
				    uint64_t src_off, size_t count,
				    unsigned int type, unsigned int op,
				    angara_req_t *req)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_ALLREDUCE, 0);

	if (!dst)
		return -EINVAL;
	return reduction(team, &wqe, dst, dst_off, src, src_off, count, type,
			 op, req);
}

ANG_PUBLIC int angara_barrier_nbi(struct angara_team *team, angara_req_t *req)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BARRIER, 0);

	return ang_post(team->ctx, &wqe, NULL, req);
}

ANG_PUBLIC uint64_t angara_team_received(struct angara_team *team)
{
	return ang_counter(team->ctx, ANGARA_CTR_BCAST(team->tree)) -
	       team->received;
}

ANG_PUBLIC int angara_team_received_wait(struct angara_team *team, uint64_t n,
					 int timeout_ms)
{
	return ang_wait_counter(team->ctx, ANGARA_CTR_BCAST(team->tree),
				team->received + n, timeout_ms);
}
