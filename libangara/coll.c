// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives of a team.
 */
#include <errno.h>

#include "ang_model.h"
#include "team.h"

#define ANG_LOST_MS	100	/* between two looks at a tree while waiting */

static struct angara_wqe coll_wqe(const struct angara_team *team,
				  unsigned int op, size_t len)
{
	return (struct angara_wqe){
		.opcode = (u8)op,
		.tree = cpu_to_le16(team->tree),
		.length = cpu_to_le32(len),
	};
}

ANG_PUBLIC int angara_bcast_nbi(struct angara_team *team, uint32_t dst_key,
				uint64_t dst_off, const struct angara_mr *src,
				uint64_t src_off, size_t len, const struct angara_op *how)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BCAST, len);
	struct angara_ctx *ctx = team->ctx;

	if (len > ctx->query.max_op_bytes || !ang_mr_fits(ctx, src, src_off, len))
		return -EINVAL;
	wqe.rkey = cpu_to_le64(dst_key);
	wqe.roff = cpu_to_le64(dst_off);
	wqe.lkey = cpu_to_le32(src->key);
	wqe.loff = cpu_to_le64(src_off);
	return ang_post(ctx, &wqe, NULL, 0, how);
}

/* What reduce and allreduce have in common; @dst is NULL where none is wanted. */
static int reduction(struct angara_team *team, struct angara_wqe *wqe,
		     const struct angara_mr *dst, u64 dst_off,
		     const struct angara_mr *src, u64 src_off, size_t count,
		     unsigned int type, unsigned int op, const struct angara_op *how)
{
	struct angara_ctx *ctx = team->ctx;
	u32 size = ang_reduction_size(type, op);
	size_t len;

	if (!size || count > ctx->query.max_op_bytes / size)
		return -EINVAL;
	len = count * size;
	if (!ang_mr_fits(ctx, src, src_off, len) ||
	    (dst && !ang_mr_fits(ctx, dst, dst_off, len)))
		return -EINVAL;
	wqe->redop = (u8)op;
	wqe->type = (u8)type;
	wqe->length = cpu_to_le32(len);
	wqe->lkey = cpu_to_le32(src->key);
	wqe->loff = cpu_to_le64(src_off);
	if (dst) {
		wqe->aux_key = cpu_to_le32(dst->key);
		wqe->aux = cpu_to_le64(dst_off);
	}
	return ang_post(ctx, wqe, NULL, 0, how);
}

ANG_PUBLIC int angara_reduce_nbi(struct angara_team *team,
				 const struct angara_mr *dst, uint64_t dst_off,
				 const struct angara_mr *src, uint64_t src_off,
				 size_t count, unsigned int type,
				 unsigned int op, unsigned int root,
				 const struct angara_op *how)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_REDUCE, 0);
	bool here = root == team->rank;

	if (root >= team->size || (here && !dst))
		return -EINVAL;
	wqe.dst_node = cpu_to_le32(team->peers[root].node);
	wqe.dst_ctx = cpu_to_le16(team->peers[root].ctx);
	return reduction(team, &wqe, here ? dst : NULL, dst_off, src, src_off,
			 count, type, op, how);
}

ANG_PUBLIC int angara_allreduce_nbi(struct angara_team *team,
				    const struct angara_mr *dst,
				    uint64_t dst_off,
				    const struct angara_mr *src,
				    uint64_t src_off, size_t count,
				    unsigned int type, unsigned int op,
				    const struct angara_op *how)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_ALLREDUCE, 0);

	if (!dst)
		return -EINVAL;
	return reduction(team, &wqe, dst, dst_off, src, src_off, count, type,
			 op, how);
}

ANG_PUBLIC int angara_barrier_nbi(struct angara_team *team, const struct angara_op *how)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BARRIER, 0);

	return ang_post(team->ctx, &wqe, NULL, 0, how);
}

/* Waits for a barrier of the team. */
int ang_team_barrier(struct angara_team *team)
{
	struct angara_wqe wqe = coll_wqe(team, ANGARA_OP_BARRIER, 0);

	return ang_post_wait(team->ctx, &wqe, NULL, 0);
}

ANG_PUBLIC uint64_t angara_team_received(struct angara_team *team)
{
	return ang_counter(team->ctx, ANGARA_CTR_BCAST(team->tree)) -
	       team->received;
}

/* Is the tree the team's still, and up? */
ANG_PUBLIC int angara_team_check(const struct angara_team *team, uint32_t *node)
{
	struct angara_tree_get arg = ANG_CMD_INIT(struct angara_tree_get);
	int ret;

	*node = UINT32_MAX;
	arg.row.tree = (u8)team->tree;
	ret = ang_dev_cmd(&team->ctx->dev, ANGARA_IOCTL_TREE_GET, &arg);
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

/* The adapter counts what it could not write before it counts the arrival. */
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
		 * Nothing else tells who only waits for others' broadcasts.
		 * What arrived before the tree was lost counts: look again.
		 */
		lost = angara_team_check(team, &node);
		if (!lost && !timeout_ms)
			return ret;
	}
}
