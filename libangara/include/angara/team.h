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
 * Teams: groups of processes that execute collectives together.  If a team has
 * a collective tree, the adapters execute the collectives that they support on
 * it; otherwise the library executes all with messages and reads.
 * angara_team_query() reports which.  Members start collectives of a team in
 * the same order.
 *
 * A software collective advances only inside calls of its members:
 * angara_poll(), angara_quiet(), and calls that wait.  A program that sleeps on
 * angara_ctx_fd() while such collectives are in progress calls angara_poll() at
 * least every second; otherwise only the other members detect the death of a
 * member.
 *
 * Messages of software collectives share the receive buffer with the program's
 * messages.  When the buffer is full of messages that the program has not taken
 * and freed, software collectives stall, and a call that waits for one does not
 * return.
 */

#define ANGARA_TEAM_TREE	(1U << 0)	/* fail without a tree */
#define ANGARA_TEAM_SOFTWARE	(1U << 1)	/* use no tree */

#define ANGARA_NO_TREE		UINT32_MAX
#define ANGARA_NO_RANK		UINT32_MAX
#define ANGARA_NO_COLOR		UINT32_MAX
#define ANGARA_STRIPES_AUTO	UINT32_MAX
#define ANGARA_MAX_STRIPES	16

/**
 * struct angara_team_attr - how to create a team
 * @size: sizeof(struct angara_team_attr)
 * @flags: ANGARA_TEAM_*, or 0: a tree if there is one
 * @root: rank in the team of the process whose node is the root of the tree,
 *	unless links that are down prevent this
 * @tree: TreeId + 1: use this TreeId or fail; 0: any
 * @stripes: number of trees over which long reductions are spread, 1 to
 *	ANGARA_MAX_STRIPES; fewer if there are no more free trees or the queues
 *	of a member are short.  Each part is at least 4 KiB long. 0: as in the
 *	parent team; without a parent the value of ANGARA_STRIPES, else 1.
 *	ANGARA_STRIPES_AUTO: for each length the result of
 *	angara_plan_stripes(), with the times of angara_plan_values()
 */
struct angara_team_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t root;
	uint32_t tree;
	uint32_t stripes;
};

/**
 * angara_team_create() - create a team of processes of a job
 * @job: job
 * @ctx: this process's context, with a receive buffer
 * @ranks: ranks of the members in the job, in the order of the team, each once,
 *	including this process; NULL for all
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out
 *
 * Only the members call, with the same arguments.  Each member exchanges one
 * block through the launcher, then messages with at most log2 n other members.
 * In a job of angara_job_init_with() @ranks is ascending.
 *
 * Return: 0; -EINVAL bad list or attribute, arguments that differ among
 * members, members of different fabrics or partitions, or two members with one
 * context; -ENOTSUP a context has no receive buffer; -ENOMEM; -ECONNRESET a
 * member died, or ran out of memory (which itself gets -ENOMEM).  If a tree is
 * required: -EPERM this user may not program trees and none is delegated;
 * -ENOSPC no free tree; -EBUSY the requested tree is taken; -ENODEV a node of
 * the tree has no device on the members' machines; -ENETDOWN no tree avoids the
 * links that are down, or the tree went down meanwhile.  All members get the same
 * result, except for -ENOMEM and for errors of the exchange: -EPIPE a process
 * ended.
 */
int angara_team_create(struct angara_job *job, struct angara_ctx *ctx,
		       const unsigned int *ranks, unsigned int n,
		       const struct angara_team_attr *attr,
		       struct angara_team **team);
/**
 * angara_team_subset() - create a team of members of a team
 * @parent: team
 * @ranks: ranks of the members in @parent, in the order of the new team, each
 *	once, including this process; NULL for all
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out
 *
 * Only the members of the new team call.  The launcher is not involved.
 * @parent may be destroyed before @team.
 *
 * Return: as angara_team_create(); -ENOTCONN @parent is lost, which can happen
 * when a member runs out of memory.
 */
int angara_team_subset(struct angara_team *parent, const unsigned int *ranks,
		       unsigned int n, const struct angara_team_attr *attr,
		       struct angara_team **team);
/**
 * angara_team_strided() - create a team of members at equal distances in a team
 * @parent: team
 * @start: rank of the first member
 * @stride: distance in ranks, not 0
 * @n: number of members
 * @attr: NULL for the defaults
 * @team: out; NULL in processes that are not members, which need not call
 *
 * Return: as angara_team_subset().
 */
int angara_team_strided(struct angara_team *parent, unsigned int start,
			unsigned int stride, unsigned int n,
			const struct angara_team_attr *attr,
			struct angara_team **team);
/**
 * angara_team_split() - split a team
 * @parent: team; all members call
 * @color: members with the same color form a team; ANGARA_NO_COLOR: no team
 * @key: orders the members of the new team; members with equal keys keep their
 *	order in @parent
 * @attr: NULL for the defaults
 * @team: out; NULL without a color
 *
 * Return: as angara_team_subset().
 */
int angara_team_split(struct angara_team *parent, unsigned int color,
		      unsigned int key, const struct angara_team_attr *attr,
		      struct angara_team **team);
/**
 * angara_team_mr_reg() - register memory with the same key at all members
 * @team: all members call, in the same order as their collectives
 * @addr: start, any alignment; members may differ
 * @len: bytes, not 0; members may differ
 * @access: ANGARA_ACCESS_*; members may differ
 * @mr: out; the region belongs to this member, and may outlive the team
 *
 * Broadcasts need such a key.  The member with rank 0 draws 48 bits of the key
 * at random; only members know the key.
 *
 * Return: 0 at all members.  Otherwise no member has registered the memory, and
 * all get the error of the lowest rank that failed, as angara_mr_reg(), or
 * -ENOTCONN, -ECONNRESET a member left or died.
 */
int angara_team_mr_reg(struct angara_team *team, void *addr, size_t len,
		       unsigned int access, struct angara_mr **mr);
/**
 * angara_team_malloc() - allocate memory, and register it as by angara_team_mr_reg()
 * @team: all members call
 * @len: bytes, not 0; members may differ
 * @mr: out
 *
 * The address is a multiple of the greatest power of two that is not above @len, or of the page
 * size if the address space has no room for that alignment.
 *
 * Return: as angara_team_mr_reg(); -ENOMEM.
 */
int angara_team_malloc(struct angara_team *team, size_t len,
		       struct angara_mr **mr);
/**
 * angara_team_destroy() - destroy a team
 * @team: all members call; freed in any case
 *
 * Waits for outstanding operations of all members first.
 * Return: 0; -ECONNRESET or -EPIPE a member had left or died before.
 */
int angara_team_destroy(struct angara_team *team);
/**
 * angara_team_leave() - leave a team without waiting for the others
 * @team: freed
 *
 * Operations of the team in progress at any member end with -ECONNRESET, and
 * later ones with -ECONNRESET or -ENOTCONN.  The job may already be finalized.
 */
void angara_team_leave(struct angara_team *team);
/**
 * angara_team_check() - check that a team is intact
 * @team: team
 * @node: out: node that took the tree down: a member left or died there, or the
 *	process that programmed its row ended; UINT32_MAX if none is known
 *
 * Queries the device.  Programs need this if they wait for other members while
 * no operation is in progress that would report the loss of a member.
 *
 * Return: 0; -ECONNRESET a member left or died; -ENODEV the device is gone.
 */
int angara_team_check(const struct angara_team *team, uint32_t *node);
unsigned int angara_team_rank(const struct angara_team *team);
unsigned int angara_team_size(const struct angara_team *team);
/** Return: TreeId; ANGARA_NO_TREE if the team has no tree. */
unsigned int angara_team_tree(const struct angara_team *team);

/**
 * angara_numbers() - numbers for the members of an allgather
 * @algo: ANGARA_ALGO_BRUCK or ANGARA_ALGO_RECURSIVE_DOUBLING
 * @n: members
 * @modules: location of each member: @levels numbers, one for each level of the
 *	system from the top; members with equal numbers up to a level are in the
 *	same module of that level
 * @levels: number of levels, 0 to 16
 * @numbers: out: number of each member
 *
 * With these numbers, members that exchange much data are in the same module.
 * Results depend on the version of METIS, so one member must compute the
 * numbers for all.
 *
 * Return: 0; -EINVAL there is no such algorithm of @n members; -E2BIG too many
 * members; -EOPNOTSUPP there is no METIS, which splits graphs; -EIO it fails;
 * -ENOMEM.
 */
int angara_numbers(uint32_t algo, unsigned int n, const uint32_t *modules,
		   unsigned int levels, uint32_t *numbers);
/**
 * angara_team_numbers() - set the numbers under which members take part in
 * allgathers
 * @team: team
 * @algo: as in angara_numbers(); the EXCH and REORDER forms of this algorithm
 *	use the numbers
 * @numbers: number of each member, copied; the same at all members
 *
 * Does not communicate.  Do not call this function while collectives of the team
 * are in progress.
 *
 * Return: 0; -EINVAL unknown algorithm, or a number is out of range or occurs
 * twice; -ENOMEM.
 */
int angara_team_numbers(struct angara_team *team, uint32_t algo,
			const uint32_t *numbers);
/**
 * angara_team_rings() - set the rings of a team's allreduces
 * @team: team
 * @dims: sizes of the dimensions of ANGARA_ALGO_RING2D, copied; their product is
 *	the number of members; the coordinate of the first changes most quickly
 *	with the rank
 * @ndims: number of dimensions, up to 32; 0: two, whose sizes are as equal as
 *	possible, as without this call
 * @packet: with ANGARA_ALGO_RING and ANGARA_ALGO_RING2D: bytes of a packet; a
 *	member combines one packet while it receives the next; 0: messages are
 *	whole, as without this call
 *
 * A message has at most 64 packets: packets are longer than @packet if
 * necessary. Does not communicate; all members must pass the same values. Do
 * not call this function while collectives of the team are in progress.
 *
 * Return: 0; -EINVAL too many dimensions, or their product is not the number of
 * members.
 */
int angara_team_rings(struct angara_team *team, const uint32_t *dims,
		      unsigned int ndims, size_t packet);

/**
 * struct angara_team_info - properties of a team
 * @size: set before the call: sizeof(struct angara_team_info)
 * @rank: rank of this process
 * @members: number of members
 * @offloaded: 1: the adapters execute reductions, barriers and broadcasts to
 *	equal keys; 0: software executes all
 * @tree: TreeId, or ANGARA_NO_TREE
 * @lost: rank of the member whose loss software collectives have detected;
 *	ANGARA_NO_RANK: none
 * @by_device: collectives that this member has started on the tree
 * @by_software: collectives that this member has started in software
 * @messages: messages that this member has sent for software collectives and
 *	for the creation of the team
 * @trees: number of trees over which the team's longest reductions are spread;
 *	0: software
 * @reserved: 0
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
	uint32_t trees;
	uint32_t reserved;
};

/** Get properties of a team.  Return: 0; -EINVAL @info->size is too small. */
int angara_team_query(const struct angara_team *team,
		      struct angara_team_info *info);
/** Address of member @rank of the team. */
struct angara_peer angara_team_peer(const struct angara_team *team,
				    unsigned int rank);

/**
 * angara_bcast_nbi() - write to all members' memory
 * @team: only the source calls
 * @dst_key: region at every member, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it, equal at all members
 * @src: local region, or NULL as for angara_put_nbi()
 * @src_off: offset in it
 * @len: bytes
 * @how: options and completion, or NULL
 *
 * The operation is complete when the source's own copy has arrived.
 *
 * Other members detect it with angara_team_received(), or with a barrier of the
 * team that the source starts later: when the barrier is complete, earlier
 * broadcasts have arrived.
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
/*
 * Return: number of broadcasts of the team that have arrived at this member
 * since the team was created.
 */
uint64_t angara_team_received(struct angara_team *team);
/**
 * angara_team_received_wait() - wait for broadcasts of other members
 * @team: team
 * @n: wait until angara_team_received() is at least this number
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; -ECONNRESET a member left or died before; -EIO the
 * broadcasts have arrived, but one is incomplete (returned once); -ENOTSUP the
 * team has no tree; -ENODEV the device is gone.
 */
int angara_team_received_wait(struct angara_team *team, uint64_t n,
			      int timeout_ms);

/*
 * Collectives that all members call.  A form whose name ends in _nbi returns
 * before the collective is complete.  Until then its memory must not be
 * touched; counts and displacements may be reused at once.
 *
 * A region of NULL means memory that is not registered; then the offset is its
 * address.  The library registers and holds the memory until the collective is
 * complete, as with angara_mr_hold().
 *
 * In software, results longer than ANGARA_MAX_MSG bytes are read from regions
 * with ANGARA_ACCESS_REMOTE_READ into regions with ANGARA_ACCESS_LOCAL_WRITE;
 * regions of angara_malloc(3) have both.
 *
 * Return: 0; -EAGAIN the queues are full now (_nbi); -EINVAL a value out of
 * range; -EACCES a region lacks a right; -ENOTCONN the team is lost; -ENOMEM;
 * -ENODEV the device is gone; with NULL also as angara_mr_hold().  The result
 * of the collective is in the completion, or returned: -ECONNRESET a member
 * left or died; -EPROTO members disagree.
 */

/** Start a barrier, which is complete when all members have started it. */
int angara_barrier_nbi(struct angara_team *team, const struct angara_op *how);
/** As angara_barrier_nbi(), and wait until it is complete. */
int angara_barrier(struct angara_team *team);
/**
 * angara_broadcast_nbi() - copy data of one member to all
 * @team: all members call
 * @mr: region
 * @off: offset in it
 * @len: bytes, equal at all members
 * @root: member that has the data
 * @how: options and completion, or NULL
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
 * @dst: region for the result at @root; ignored at other members
 * @dst_off: offset in it
 * @src: local region with the contribution; may be @dst
 * @src_off: offset in it
 * @count: elements
 * @type: ANGARA_TYPE_*
 * @op: ANGARA_RED_*, one of @type's
 * @root: member that gets the result
 * @how: options and completion, or NULL
 *
 * Complete at @root when the result is stored, at other members when @src may
 * be reused.
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
/**
 * struct angara_reducer - an operation of the program
 * @size: sizeof(struct angara_reducer)
 * @elem: bytes of an element
 * @combine: for each of @count elements: dst = dst op src.  The operation must
 *	be associative and commutative, except for rounding.  Calls that poll
 *	the context call the function; it must not call the library
 * @arg: last argument of @combine
 */
struct angara_reducer {
	uint32_t size;
	uint32_t elem;
	void (*combine)(void *dst, const void *src, size_t count, void *arg);
	void *arg;
};

/**
 * angara_allreduce_fn_nbi() - combine elementwise by a function of the program
 * @team: all members call
 * @dst: region for the result; may be @src
 * @dst_off: offset in it
 * @src: region with the contribution
 * @src_off: offset in it
 * @count: elements
 * @by: operation, which is copied; the same at all members
 * @how: options and completion, or NULL
 *
 * Uses messages, even if the team has a tree.  Contributions are combined in
 * the order in which adapters would combine them on the team's tree, or on the
 * tree that the team would have.  All members get the same bits, in every run.
 * @by->combine gets elements that are as aligned as the caller's memory, up to
 * 64 bytes.
 */
int angara_allreduce_fn_nbi(struct angara_team *team, const struct angara_mr *dst,
			    uint64_t dst_off, const struct angara_mr *src,
			    uint64_t src_off, size_t count,
			    const struct angara_reducer *by,
			    const struct angara_op *how);
/** As angara_allreduce_fn_nbi(), and wait until it is complete. */
int angara_allreduce_fn(struct angara_team *team, const struct angara_mr *dst,
			uint64_t dst_off, const struct angara_mr *src,
			uint64_t src_off, size_t count,
			const struct angara_reducer *by);
/*
 * As angara_allreduce_nbi(), but combines the contributions of the members up
 * to and including this member.
 */
int angara_scan_nbi(struct angara_team *team, const struct angara_mr *dst,
		    uint64_t dst_off, const struct angara_mr *src,
		    uint64_t src_off, size_t count, unsigned int type,
		    unsigned int op, const struct angara_op *how);
/** As angara_scan_nbi(), and wait until it is complete. */
int angara_scan(struct angara_team *team, const struct angara_mr *dst,
		uint64_t dst_off, const struct angara_mr *src, uint64_t src_off,
		size_t count, unsigned int type, unsigned int op);
/*
 * As angara_scan_nbi(), but combines only the contributions of the members
 * before this member; @dst is unchanged at member 0.
 */
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
 * @how: options and completion, or NULL
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
 * angara_allgather_nbi() - gather a block of each member at all members
 * @team: all members call
 * @dst: region for the blocks, in the order of ranks; must not overlap @src
 * @dst_off: offset in it
 * @src: local region with this member's block
 * @src_off: offset in it
 * @len: bytes of a block
 * @how: options and completion, or NULL
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
 * angara_allgatherv_nbi() - as angara_allgather_nbi(), with blocks of any
 * length
 * @team: all members call
 * @dst: region for the blocks
 * @dst_off: offset in it
 * @counts: bytes of the block of each member, equal at all members
 * @displs: start of each block, relative to @dst_off; NULL: contiguous
 * @src: local region with this member's block
 * @src_off: offset in it
 * @how: options and completion, or NULL
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
/*
 * As angara_allgather_nbi(), but only @root gets the blocks; at other members
 * @dst is NULL.
 */
int angara_gather_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t len, unsigned int root,
		      const struct angara_op *how);
/** As angara_gather_nbi(), and wait until it is complete. */
int angara_gather(struct angara_team *team, const struct angara_mr *dst,
		  uint64_t dst_off, const struct angara_mr *src,
		  uint64_t src_off, size_t len, unsigned int root);
/*
 * As angara_gather_nbi(), with @len bytes from this member; @counts and @displs
 * are used at @root only.
 */
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
/** Send one block from @root to each member; at other members @src is NULL. */
int angara_scatter_nbi(struct angara_team *team, const struct angara_mr *dst,
		       uint64_t dst_off, const struct angara_mr *src,
		       uint64_t src_off, size_t len, unsigned int root,
		       const struct angara_op *how);
/** As angara_scatter_nbi(), and wait until it is complete. */
int angara_scatter(struct angara_team *team, const struct angara_mr *dst,
		   uint64_t dst_off, const struct angara_mr *src,
		   uint64_t src_off, size_t len, unsigned int root);
/*
 * As angara_scatter_nbi(), with @len bytes for this member; @counts and @displs
 * are used at @root only.
 */
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
/** Send a block of @len bytes from each member to every member. */
int angara_alltoall_nbi(struct angara_team *team, const struct angara_mr *dst,
			uint64_t dst_off, const struct angara_mr *src,
			uint64_t src_off, size_t len,
			const struct angara_op *how);
/** As angara_alltoall_nbi(), and wait until it is complete. */
int angara_alltoall(struct angara_team *team, const struct angara_mr *dst,
		    uint64_t dst_off, const struct angara_mr *src,
		    uint64_t src_off, size_t len);
/** As angara_alltoall_nbi(), with counts and offsets for each member. */
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
