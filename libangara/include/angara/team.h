/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: teams and their offloaded collectives.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_TEAM_H
#define ANGARA_TEAM_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Teams: members of a collective tree.  Members start reductions and barriers
 * of a team in the same order.
 */

/**
 * struct angara_team_attr - zeros mean the defaults
 * @size: sizeof(struct angara_team_attr)
 * @root: index in the member list of the process whose node is the root
 * @tree: TreeId + 1, or 0 for any free one
 */
struct angara_team_attr {
	uint32_t size;
	uint32_t root;
	uint32_t tree;
};

/**
 * angara_team_create() - lay a tree over the nodes of some processes
 * @job: the job; all its processes call, also those that are not members
 * @ctx: this process's context
 * @ranks: members, ascending; NULL for all
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out; NULL in those that are not members
 *
 * The same result in all processes: 0; -EPERM trees may not be programmed by
 * this user and none is delegated; -ENOSPC no free tree; -EBUSY the tree asked
 * for is taken; -ENODEV a node of the tree has no device on this machine;
 * -EINVAL bad list or attribute, or members of different fabrics or
 * partitions, or two of one context; -EPIPE a process ended.  If an exchange
 * fails: what that gives here, and perhaps something else there.
 */
int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
		       const unsigned int *ranks, unsigned int n,
		       const struct angara_team_attr *attr,
		       struct angara_team **team);
/**
 * angara_team_destroy() - end a team
 * @team: all members call; gone afterwards in any case
 *
 * Outstanding operations of all members are finished first.
 * Return: 0; -ECONNRESET or -EPIPE a member had left or died before.
 */
int angara_team_destroy(struct angara_team *team);
/**
 * angara_team_leave() - end one's own part in a team, and wait for nobody
 * @team: gone afterwards
 *
 * Operations of the team that are under way anywhere end with -ECONNRESET, those
 * that others start later so or with -ENOTCONN.  The job may have been finalized
 * before.
 */
void angara_team_leave(struct angara_team *team);
/**
 * angara_team_check() - is a team what it was?
 * @team: team
 * @node: out: node where the tree was lost: of a member that left or died, or
 *	whose row is gone with who programmed it; UINT32_MAX if none is known
 *
 * Asks the device: for who waits without an operation under way.
 *
 * Return: 0; -ECONNRESET a member left or died; -ENODEV the device is gone.
 */
int angara_team_check(const struct angara_team *team, uint32_t *node);
unsigned int angara_team_rank(const struct angara_team *team);
unsigned int angara_team_size(const struct angara_team *team);
unsigned int angara_team_tree(const struct angara_team *team);
/** Address of member @rank of the team. */
struct angara_peer angara_team_peer(const struct angara_team *team,
				    unsigned int rank);

/**
 * angara_bcast_nbi() - write to all members' memory
 * @team: only the source calls
 * @dst_key: region in every member, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it, equal everywhere
 * @src: local region
 * @src_off: offset in it
 * @len: bytes
 * @how: what the caller wants of the operation, or NULL
 *
 * Complete when the source's own copy is back.
 *
 * Others learn of it by angara_team_received(), or by a barrier of the team
 * that the source starts later: broadcasts started before it have arrived.
 *
 * Return: as angara_put_nbi().
 */
int angara_bcast_nbi(struct angara_team *team, uint32_t dst_key, uint64_t dst_off,
		     const struct angara_mr *src, uint64_t src_off, size_t len,
		     const struct angara_op *how);
/** Broadcasts of the team that have arrived here since it was created. */
uint64_t angara_team_received(struct angara_team *team);
/**
 * angara_team_received_wait() - wait for broadcasts of others
 * @team: team
 * @n: until angara_team_received() is at least this
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; -ECONNRESET a member left or died before; -EIO they
 * have arrived, but one not whole: said once; -ENODEV the device is gone.
 */
int angara_team_received_wait(struct angara_team *team, uint64_t n,
			      int timeout_ms);

/**
 * angara_reduce_nbi() - combine elementwise, result at one member
 * @team: all members call
 * @dst: region for the result, at @root only (else NULL)
 * @dst_off: offset in it
 * @src: local region with the contribution; may be @dst
 * @src_off: offset in it
 * @count: elements
 * @type: ANGARA_TYPE_*
 * @op: ANGARA_RED_*, one of @type's
 * @root: member that gets the result
 * @how: what the caller wants of the operation, or NULL
 *
 * Complete at @root when the result is there, elsewhere when @src may be
 * reused.
 *
 * Return: as angara_put_nbi().
 */
int angara_reduce_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t count, unsigned int type,
		      unsigned int op, unsigned int root, const struct angara_op *how);
/** As angara_reduce_nbi(), with the result at every member. */
int angara_allreduce_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t count, unsigned int type,
			 unsigned int op, const struct angara_op *how);
/** Complete when all members have started it. */
int angara_barrier_nbi(struct angara_team *team, const struct angara_op *how);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_TEAM_H */
