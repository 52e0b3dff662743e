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
 * Teams: processes that do collectives together.  A team has a collective tree,
 * and the adapters do what they can on it, or it has none, and the library does
 * everything by messages and reads; angara_team_query() says which.  Members
 * start collectives of a team in the same order.
 *
 * A collective by software goes on while its members look at their contexts:
 * angara_poll(), angara_quiet(), and whatever waits.  A program that sleeps on
 * angara_ctx_fd() with such collectives under way looks at least every second, or
 * the death of a member is found out by others only.
 *
 * Their messages come to the same message area as the program's.  When that is
 * full of messages that the program has not taken and freed, a collective by
 * software does not go on, and a call that waits for one does not return.
 */

#define ANGARA_TEAM_TREE	(1U << 0)	/* a tree, or an error */
#define ANGARA_TEAM_SOFTWARE	(1U << 1)	/* no tree */

#define ANGARA_NO_TREE		UINT32_MAX
#define ANGARA_NO_RANK		UINT32_MAX
#define ANGARA_NO_COLOR		UINT32_MAX

/**
 * struct angara_team_attr - how to make a team
 * @size: sizeof(struct angara_team_attr)
 * @flags: ANGARA_TEAM_*, or 0: a tree if there is one
 * @root: rank in the team of the process whose node is the root of the tree
 * @tree: TreeId + 1: this one or an error; 0: any
 */
struct angara_team_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t root;
	uint32_t tree;
};

/**
 * angara_team_create() - make a team of processes of a job
 * @job: job
 * @ctx: this process's context, with a message area
 * @ranks: members, in the order that they have in the team, each once and this
 *	process among them; NULL for all
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out
 *
 * The members call, with the same arguments, and nobody else.  They exchange one
 * block each through the launcher; all else goes by messages, to at most log2 n
 * others each.  In a job of angara_job_init_with() @ranks is ascending.
 *
 * Return: 0; -EINVAL bad list or attribute, members that differ in them, of
 * different fabrics or partitions, or two of one context; -ENOTSUP a context has
 * no message area; -ECONNRESET a member died.  If a tree is asked for: -EPERM
 * trees may not be programmed by this user and none is delegated; -ENOSPC no free
 * tree; -EBUSY the one asked for is taken; -ENODEV a node of the tree has no
 * device on the members' machines.  All members get the same, but for what an
 * exchange gives: -EPIPE a process ended.
 */
int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
		       const unsigned int *ranks, unsigned int n,
		       const struct angara_team_attr *attr,
		       struct angara_team **team);
/**
 * angara_team_subset() - make a team of members of a team
 * @parent: team
 * @ranks: ranks in @parent, in the order that they have in the new team, each once
 *	and this one's among them; NULL for all
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out
 *
 * The members of the new team call, and nobody else.  The launcher is not asked.
 * @parent may be destroyed before @team.
 *
 * Return: as angara_team_create(); -ENOTCONN @parent is lost.
 */
int angara_team_subset(struct angara_team *parent, const unsigned int *ranks,
		       unsigned int n, const struct angara_team_attr *attr,
		       struct angara_team **team);
/**
 * angara_team_strided() - make a team of every so many members of a team
 * @parent: team
 * @start: rank of the first
 * @stride: from one to the next, not 0
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out; NULL in those that are not members, who need not call
 *
 * Return: as angara_team_subset().
 */
int angara_team_strided(struct angara_team *parent, unsigned int start,
			unsigned int stride, unsigned int n,
			const struct angara_team_attr *attr,
			struct angara_team **team);
/**
 * angara_team_split() - part a team
 * @parent: team; all members call
 * @color: members with the same one make a team; ANGARA_NO_COLOR: none
 * @key: order of the members in it; equal ones in the order of @parent
 * @attr: NULL for the defaults
 * @team: out; NULL without a color
 *
 * Return: as angara_team_subset().
 */
int angara_team_split(struct angara_team *parent, unsigned int color,
		      unsigned int key, const struct angara_team_attr *attr,
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
/** TreeId; ANGARA_NO_TREE without one. */
unsigned int angara_team_tree(const struct angara_team *team);

/**
 * struct angara_team_info - what a team is
 * @size: set before the call: sizeof(struct angara_team_info)
 * @rank: of this process
 * @members: their number
 * @offloaded: 1: the adapters do reductions, barriers and broadcasts to equal
 *	keys; 0: all is done by software
 * @tree: TreeId, or ANGARA_NO_TREE
 * @lost: rank of the member that the team was lost by, as collectives by software
 *	found out; ANGARA_NO_RANK: it is not
 * @by_device: collectives that this member has started on the tree
 * @by_software: those that it has started without
 * @messages: messages that it has sent to others for that, and to make the team
 */
struct angara_team_info {
	uint32_t size;
	uint32_t rank;
	uint32_t members;
	uint32_t offloaded;
	uint32_t tree;
	uint32_t lost;
	uint64_t by_device;
	uint64_t by_software;
	uint64_t messages;
};

/** Return: 0; -EINVAL @info->size is too small. */
int angara_team_query(const struct angara_team *team,
		      struct angara_team_info *info);
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
 * Return: as angara_put_nbi(); -ENOTSUP the team has no tree, see
 * angara_broadcast().
 */
int angara_bcast_nbi(struct angara_team *team, uint64_t dst_key, uint64_t dst_off,
		     const struct angara_mr *src, uint64_t src_off, size_t len,
		     const struct angara_op *how);
/** As angara_bcast_nbi(), and wait until it is complete. */
int angara_bcast(struct angara_team *team, uint64_t dst_key, uint64_t dst_off,
		 const struct angara_mr *src, uint64_t src_off, size_t len);
/** Broadcasts of the team that have arrived here since it was created. */
uint64_t angara_team_received(struct angara_team *team);
/**
 * angara_team_received_wait() - wait for broadcasts of others
 * @team: team
 * @n: until angara_team_received() is at least this
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; -ECONNRESET a member left or died before; -EIO they
 * have arrived, but one not whole: said once; -ENOTSUP the team has no tree;
 * -ENODEV the device is gone.
 */
int angara_team_received_wait(struct angara_team *team, uint64_t n,
			      int timeout_ms);

/*
 * Collectives that all members call.  A form whose name ends in _nbi returns
 * before the collective is complete, and its memory is the library's until then;
 * counts and displacements may be reused at once.
 *
 * By software, results longer than ANGARA_MAX_MSG bytes are read from regions with
 * ANGARA_ACCESS_REMOTE_READ into regions with ANGARA_ACCESS_LOCAL_WRITE; all
 * regions of angara_malloc(3) are such ones.
 *
 * Return: 0; -EAGAIN there is no room in the queues now (_nbi); -EINVAL a value
 * out of range; -EACCES a region lacks a right; -ENOTCONN the team is lost;
 * -ENOMEM; -ENODEV the device is gone.  How the collective ends is told by the
 * completion, or returned: -ECONNRESET a member left or died; -EPROTO members
 * disagree.
 */

/** Complete when all members have started it. */
int angara_barrier_nbi(struct angara_team *team, const struct angara_op *how);
/** As angara_barrier_nbi(), and wait until it is complete. */
int angara_barrier(struct angara_team *team);
/**
 * angara_broadcast_nbi() - copy what one member has to all
 * @team: all members call
 * @mr: region
 * @off: offset in it
 * @len: bytes, equal at all members
 * @root: member that has them
 * @how: what the caller wants of the operation, or NULL
 */
int angara_broadcast_nbi(struct angara_team *team, const struct angara_mr *mr,
			 uint64_t off, size_t len, unsigned int root,
			 const struct angara_op *how);
/** As angara_broadcast_nbi(), and wait until it is complete. */
int angara_broadcast(struct angara_team *team, const struct angara_mr *mr,
		     uint64_t off, size_t len, unsigned int root);
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
 */
int angara_reduce_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t count, unsigned int type,
		      unsigned int op, unsigned int root,
		      const struct angara_op *how);
/** As angara_reduce_nbi(), and wait until it is complete. */
int angara_reduce(struct angara_team *team, const struct angara_mr *dst,
		  uint64_t dst_off, const struct angara_mr *src,
		  uint64_t src_off, size_t count, unsigned int type,
		  unsigned int op, unsigned int root);
/** As angara_reduce_nbi(), with the result at every member. */
int angara_allreduce_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t count, unsigned int type,
			 unsigned int op, const struct angara_op *how);
/** As angara_allreduce_nbi(), and wait until it is complete. */
int angara_allreduce(struct angara_team *team, const struct angara_mr *dst,
		     uint64_t dst_off, const struct angara_mr *src,
		     uint64_t src_off, size_t count, unsigned int type,
		     unsigned int op);
/** As angara_allreduce_nbi(), of the members up to this one. */
int angara_scan_nbi(struct angara_team *team, const struct angara_mr *dst,
		    uint64_t dst_off, const struct angara_mr *src,
		    uint64_t src_off, size_t count, unsigned int type,
		    unsigned int op, const struct angara_op *how);
/** As angara_scan_nbi(), and wait until it is complete. */
int angara_scan(struct angara_team *team, const struct angara_mr *dst,
		uint64_t dst_off, const struct angara_mr *src, uint64_t src_off,
		size_t count, unsigned int type, unsigned int op);
/** Of the members before this one; what member 0 has at @dst stays. */
int angara_exscan_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t count, unsigned int type,
		      unsigned int op, const struct angara_op *how);
/** As angara_exscan_nbi(), and wait until it is complete. */
int angara_exscan(struct angara_team *team, const struct angara_mr *dst,
		  uint64_t dst_off, const struct angara_mr *src,
		  uint64_t src_off, size_t count, unsigned int type,
		  unsigned int op);
/**
 * angara_reduce_scatter_nbi() - combine elementwise, each member gets a part
 * @team: all members call
 * @dst: region for the result, @count elements; must not overlap @src
 * @dst_off: offset in it
 * @src: region with @count elements for each member, in the order of ranks
 * @src_off: offset in it
 * @count: elements of a part
 * @type: ANGARA_TYPE_*
 * @op: ANGARA_RED_*, one of @type's
 * @how: what the caller wants of the operation, or NULL
 */
int angara_reduce_scatter_nbi(struct angara_team *team,
			      const struct angara_mr *dst, uint64_t dst_off,
			      const struct angara_mr *src, uint64_t src_off,
			      size_t count, unsigned int type, unsigned int op,
			      const struct angara_op *how);
/** As angara_reduce_scatter_nbi(), and wait until it is complete. */
int angara_reduce_scatter(struct angara_team *team, const struct angara_mr *dst,
			  uint64_t dst_off, const struct angara_mr *src,
			  uint64_t src_off, size_t count, unsigned int type,
			  unsigned int op);
/** As angara_reduce_scatter_nbi(), with counts[i] elements for member i. */
int angara_reduce_scatterv_nbi(struct angara_team *team,
			       const struct angara_mr *dst, uint64_t dst_off,
			       const struct angara_mr *src, uint64_t src_off,
			       const size_t *counts, unsigned int type,
			       unsigned int op, const struct angara_op *how);
/** As angara_reduce_scatterv_nbi(), and wait until it is complete. */
int angara_reduce_scatterv(struct angara_team *team,
			   const struct angara_mr *dst, uint64_t dst_off,
			   const struct angara_mr *src, uint64_t src_off,
			   const size_t *counts, unsigned int type,
			   unsigned int op);
/**
 * angara_allgather_nbi() - bring a block of each member to all
 * @team: all members call
 * @dst: region for the blocks, in the order of ranks; must not overlap @src
 * @dst_off: offset in it
 * @src: local region with this one's
 * @src_off: offset in it
 * @len: bytes of a block
 * @how: what the caller wants of the operation, or NULL
 */
int angara_allgather_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t len,
			 const struct angara_op *how);
/** As angara_allgather_nbi(), and wait until it is complete. */
int angara_allgather(struct angara_team *team, const struct angara_mr *dst,
		     uint64_t dst_off, const struct angara_mr *src,
		     uint64_t src_off, size_t len);
/**
 * angara_allgatherv_nbi() - as angara_allgather_nbi(), of blocks of any length
 * @team: all members call
 * @dst: region for the blocks
 * @dst_off: offset in it
 * @counts: bytes of the block of each member, equal at all members
 * @displs: where each begins from @dst_off on; NULL: one behind the other
 * @src: local region with this one's
 * @src_off: offset in it
 * @how: what the caller wants of the operation, or NULL
 */
int angara_allgatherv_nbi(struct angara_team *team, const struct angara_mr *dst,
			  uint64_t dst_off, const size_t *counts,
			  const size_t *displs, const struct angara_mr *src,
			  uint64_t src_off, const struct angara_op *how);
/** As angara_allgatherv_nbi(), and wait until it is complete. */
int angara_allgatherv(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const size_t *counts,
		      const size_t *displs, const struct angara_mr *src,
		      uint64_t src_off);
/** As angara_allgather_nbi(), to @root only; elsewhere @dst is NULL. */
int angara_gather_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t len, unsigned int root,
		      const struct angara_op *how);
/** As angara_gather_nbi(), and wait until it is complete. */
int angara_gather(struct angara_team *team, const struct angara_mr *dst,
		  uint64_t dst_off, const struct angara_mr *src,
		  uint64_t src_off, size_t len, unsigned int root);
/** Of @len bytes of each member; @counts and @displs are for @root only. */
int angara_gatherv_nbi(struct angara_team *team, const struct angara_mr *dst,
		       uint64_t dst_off, const size_t *counts,
		       const size_t *displs, const struct angara_mr *src,
		       uint64_t src_off, size_t len, unsigned int root,
		       const struct angara_op *how);
/** As angara_gatherv_nbi(), and wait until it is complete. */
int angara_gatherv(struct angara_team *team, const struct angara_mr *dst,
		   uint64_t dst_off, const size_t *counts, const size_t *displs,
		   const struct angara_mr *src, uint64_t src_off, size_t len,
		   unsigned int root);
/** A block for each member from @root; elsewhere @src is NULL. */
int angara_scatter_nbi(struct angara_team *team, const struct angara_mr *dst,
		       uint64_t dst_off, const struct angara_mr *src,
		       uint64_t src_off, size_t len, unsigned int root,
		       const struct angara_op *how);
/** As angara_scatter_nbi(), and wait until it is complete. */
int angara_scatter(struct angara_team *team, const struct angara_mr *dst,
		   uint64_t dst_off, const struct angara_mr *src,
		   uint64_t src_off, size_t len, unsigned int root);
/** @len bytes for this member; @counts and @displs are for @root only. */
int angara_scatterv_nbi(struct angara_team *team, const struct angara_mr *dst,
			uint64_t dst_off, const struct angara_mr *src,
			uint64_t src_off, const size_t *counts,
			const size_t *displs, size_t len, unsigned int root,
			const struct angara_op *how);
/** As angara_scatterv_nbi(), and wait until it is complete. */
int angara_scatterv(struct angara_team *team, const struct angara_mr *dst,
		    uint64_t dst_off, const struct angara_mr *src,
		    uint64_t src_off, const size_t *counts,
		    const size_t *displs, size_t len, unsigned int root);
/** A block of @len bytes from each member to each. */
int angara_alltoall_nbi(struct angara_team *team, const struct angara_mr *dst,
			uint64_t dst_off, const struct angara_mr *src,
			uint64_t src_off, size_t len,
			const struct angara_op *how);
/** As angara_alltoall_nbi(), and wait until it is complete. */
int angara_alltoall(struct angara_team *team, const struct angara_mr *dst,
		    uint64_t dst_off, const struct angara_mr *src,
		    uint64_t src_off, size_t len);
/** As angara_alltoall_nbi(), with counts and places of its own for each. */
int angara_alltoallv_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const size_t *dst_counts,
			 const size_t *dst_displs, const struct angara_mr *src,
			 uint64_t src_off, const size_t *src_counts,
			 const size_t *src_displs, const struct angara_op *how);
/** As angara_alltoallv_nbi(), and wait until it is complete. */
int angara_alltoallv(struct angara_team *team, const struct angara_mr *dst,
		     uint64_t dst_off, const size_t *dst_counts,
		     const size_t *dst_displs, const struct angara_mr *src,
		     uint64_t src_off, const size_t *src_counts,
		     const size_t *src_displs);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_TEAM_H */
