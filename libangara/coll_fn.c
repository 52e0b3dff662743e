// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions by a function of the program.  Software executes them on all
 * teams, since the adapter cannot call the function, and combines in the order
 * of the team's tree (team_kin.c), as adapters do.
 */
#include <errno.h>

#include "coll_run.h"
#include "sized.h"

#define ANG_FN_PACKET	32768U	/* least packet size, in bytes, that fn_packet() chooses */

/*
 * Return: bytes of a packet, for a reduction of @len bytes along the tree of
 * @kin.  Packets are long enough that no member receives more packets than
 * ang_early_max() allows.
 */
static size_t fn_packet(const struct angara_team *team, const struct ang_kin *kin, size_t len)
{
	u32 most = kin->arrivals ? (team->size + 64) / kin->arrivals : 1;
	size_t packet = (len + most - 1) / most;

	return packet < ANG_FN_PACKET ? ANG_FN_PACKET : packet;
}

static int coll_allreduce_fn(struct angara_team *team, const struct angara_mr *dst,
			     u64 dst_off, const struct angara_mr *src, u64 src_off,
			     size_t count, const struct angara_reducer *by,
			     const struct angara_op *how, struct ang_blocked *b)
{
	struct angara_reducer mine;
	struct ang_coll_call call = {
		.args = {
			.coll = ANG_COLL_ALLREDUCE, .algo = ANG_ALGO_TREE, .count = count,
		},
		.in = { .mr = src, .off = src_off },
		.out = { .mr = dst, .off = dst_off },
		.by = &mine, .how = how, .b = b,
	};
	int ret = ang_sized_take(&mine, sizeof(mine), by,
				 ANG_SIZED_FIRST(angara_reducer, arg));

	if (ret)
		return ret;
	if (!mine.combine || !mine.elem ||
	    count > team->ctx->dom->query.max_op_bytes / mine.elem)
		return -EINVAL;
	call.args.elem = mine.elem;
	call.in.len = count * mine.elem;
	call.out.len = call.in.len;
	ret = ang_team_kin(team, &call.args.kin);
	if (ret)
		return ret;
	call.args.packet = fn_packet(team, call.args.kin, call.in.len);
	return ang_coll_software(team, &call);
}

ANG_PUBLIC int angara_allreduce_fn_nbi(struct angara_team *team,
				       const struct angara_mr *dst,
				       uint64_t dst_off,
				       const struct angara_mr *src,
				       uint64_t src_off, size_t count,
				       const struct angara_reducer *by,
				       const struct angara_op *how)
{
	return coll_allreduce_fn(team, dst, dst_off, src, src_off, count, by, how,
				 NULL);
}

ANG_PUBLIC int angara_allreduce_fn(struct angara_team *team,
				   const struct angara_mr *dst, uint64_t dst_off,
				   const struct angara_mr *src, uint64_t src_off,
				   size_t count, const struct angara_reducer *by)
{
	ANG_COLL_WAIT(team, coll_allreduce_fn(team, dst, dst_off, src, src_off, count,
					      by, NULL, &b));
}
