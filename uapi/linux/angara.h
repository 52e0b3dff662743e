/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Angara collective-offload adapter: the character device /dev/angaraN.
 *
 * An open file of the device owns at most one domain: a partition and memory
 * regions (MR).  Each context of the domain has a file of its own, as a VCPU of
 * KVM has.  A context has an injection queue (SQ), a completion queue (CQ), a
 * page of event counters, and memberships in collective trees.  All contexts of
 * a domain share its regions.  Closing a file destroys the objects that the
 * file owns.  A domain is destroyed when its own file and the files of all of
 * its contexts are closed.
 *
 * Every ioctl argument starts with @size (bytes the caller knows) and @flags.
 * If a program is older than the kernel, its shorter structure is extended with
 * zeros.  If a program is newer, its longer structure is accepted if all bytes
 * that the kernel does not know are zero.
 *
 * Errors common to all ioctls:
 *   -ENOTTY      unknown ioctl number, or one for the other kind of file
 *   -EFAULT      the argument cannot be read or written
 *   -EINVAL      @size below the first published size, or a bad value
 *   -E2BIG       bytes that this kernel does not know are not zero, or @size is
 *		  above 4096 bytes
 *   -EOPNOTSUPP  unknown bit in @flags, or a reserved field is not zero
 *   -ENODEV      the device is gone; only close() works
 *   -ESTALE      the device was reset or suspended since the file, or the file
 *		  of its domain, was opened; only close() works: open the
 *		  device again
 *   -EIO         the device refused a command or does not answer
 *   -ENXIO       the file has no domain yet (ANGARA_IOCTL_DOMAIN_CREATE)
 *   -ENOMEM      no memory
 * Other errors are listed at each structure.  open(2) fails with -EBUSY while
 * the device is being reset or is suspended, and with -EIO if the device did
 * not start again after that.
 */
#ifndef _UAPI_LINUX_ANGARA_H
#define _UAPI_LINUX_ANGARA_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ANGARA_ABI_VERSION	1

#define ANGARA_MAX_PORTS	64	/* ports of a router */
#define ANGARA_MAX_TREES	64	/* a device may have fewer: max_trees */
#define ANGARA_MAX_REDUCES	16	/* ReduceId 0..15, per tree */
#define ANGARA_MAX_LOCAL	16	/* local participants of a tree */
#define ANGARA_PACKET_BYTES	256	/* payload of one packet */
#define ANGARA_FLIT_BYTES	16
#define ANGARA_MAX_INLINE	256
#define ANGARA_MAX_OP_BYTES	(1U << 30)
#define ANGARA_MAX_MSG		4096	/* bytes of payload of a message */
#define ANGARA_MAX_ATOMIC	256	/* bytes of operands of an atomic operation */

#define ANGARA_IOC_TYPE		0xE4

#define ANGARA_PORT_NONE		0xFF	/* no port */

/* Commands on the device's file. */
#define ANGARA_IOCTL_QUERY		_IO(ANGARA_IOC_TYPE, 0)
#define ANGARA_IOCTL_DOMAIN_CREATE	_IO(ANGARA_IOC_TYPE, 1)
#define ANGARA_IOCTL_CTX_CREATE		_IO(ANGARA_IOC_TYPE, 2)
#define ANGARA_IOCTL_MR_REG		_IO(ANGARA_IOC_TYPE, 3)
#define ANGARA_IOCTL_MR_DEREG		_IO(ANGARA_IOC_TYPE, 4)
#define ANGARA_IOCTL_TREE_SET		_IO(ANGARA_IOC_TYPE, 5)
#define ANGARA_IOCTL_TREE_GET		_IO(ANGARA_IOC_TYPE, 6)
#define ANGARA_IOCTL_TREE_CLEAR		_IO(ANGARA_IOC_TYPE, 7)
#define ANGARA_IOCTL_TREE_DELEGATE	_IO(ANGARA_IOC_TYPE, 8)
#define ANGARA_IOCTL_TREE_CHECK		_IO(ANGARA_IOC_TYPE, 9)
#define ANGARA_IOCTL_MANAGE		_IO(ANGARA_IOC_TYPE, 10)	/* linux/angara_mgmt.h */

/* Commands on a context's file. */
#define ANGARA_IOCTL_JOIN		_IO(ANGARA_IOC_TYPE, 16)
#define ANGARA_IOCTL_LEAVE		_IO(ANGARA_IOC_TYPE, 17)
#define ANGARA_IOCTL_KICK		_IO(ANGARA_IOC_TYPE, 18)
#define ANGARA_IOCTL_EVENTFD		_IO(ANGARA_IOC_TYPE, 19)

/**
 * struct angara_query - ioctl(ANGARA_IOCTL_QUERY)
 * @size: sizeof(struct angara_query)
 * @flags: must be 0
 * @abi: out: ANGARA_ABI_VERSION
 * @node: out: number of this node
 * @nodes: out: number of nodes in the fabric
 * @ports: out: ports of each node's router, 1..ANGARA_MAX_PORTS; the device's
 *	file "fabric" in sysfs describes how they are connected
 * @fabric_id: out: equal on all devices of one fabric
 * @max_contexts: out: contexts per device
 * @max_sq_entries: out: entries of the largest SQ
 * @max_cq_entries: out: entries of the largest CQ
 * @max_mrs: out: memory regions per domain
 * @max_op_bytes: out: bytes of the longest operation
 * @pkey: out: partition that this caller gets by default
 * @caps: out: ANGARA_CAP_*
 * @max_msg_bytes: out: bytes of the largest receive buffer, with ANGARA_CAP_MSG
 * @max_trees: out: trees of the device; TreeIds are below this
 *
 * Needs no domain.
 */
struct angara_query {
	__u32 size;
	__u32 flags;
	__u32 abi;
	__u32 node;
	__u32 nodes;
	__u32 ports;
	__aligned_u64 fabric_id;
	__u32 max_contexts;
	__u32 max_sq_entries;
	__u32 max_cq_entries;
	__u32 max_mrs;
	__aligned_u64 max_op_bytes;
	__u32 pkey;
	__u32 caps;
	__u32 max_msg_bytes;
	__u32 max_trees;
};

/*
 * A process can map the doorbell page of its context.  To ring the doorbell,
 * the process stores angara_ctl.sq_pi, then the same value as 32 bits at the
 * start of the page.  ANGARA_KICK_SQ has the same effect, and needs no mapping.
 */
#define ANGARA_CAP_DOORBELL_MMAP	(1U << 0)
/* Contexts can have a receive buffer; ANGARA_OP_SEND and atomics are supported. */
#define ANGARA_CAP_MSG			(1U << 1)

/**
 * struct angara_domain_create - ioctl(ANGARA_IOCTL_DOMAIN_CREATE)
 * @size: sizeof(struct angara_domain_create)
 * @flags: ANGARA_DOMAIN_PKEY or 0
 * @pkey: in: requested partition (with ANGARA_DOMAIN_PKEY); out: assigned
 *	partition.  A partition other than the caller's own
 *	(angara_query.pkey) needs CAP_NET_ADMIN.
 * @reserved: must be 0
 * @job: key of the job, random bits that its processes share; 0 for none.
 *	Contexts reach only contexts with the same partition and the same key.
 * @watch_offset: out: mmap offset of struct angara_watch in the device's file,
 *	read only
 * @watch_bytes: out: bytes that can be mapped there: struct angara_watch and a
 *	bit for each of angara_query.max_mrs slots
 *
 * Creates the domain of the file, in which contexts and regions are created.
 * The limits on the number of contexts, of a device and of a user, also apply to
 * domains.
 * Errors: -EBUSY the file has a domain already, the device has no more domains,
 * or the user's share is used up; -EPERM the partition belongs to another user.
 */
struct angara_domain_create {
	__u32 size;
	__u32 flags;
	__u32 pkey;
	__u32 reserved;
	__aligned_u64 job;
	__aligned_u64 watch_offset;
	__aligned_u64 watch_bytes;
};

#define ANGARA_DOMAIN_PKEY	(1U << 0)

/**
 * struct angara_ctx_create - ioctl(ANGARA_IOCTL_CTX_CREATE)
 * @size: sizeof(struct angara_ctx_create)
 * @flags: must be 0
 * @sq_entries: injection queue length, a power of two, 8..max_sq_entries
 * @cq_entries: completion queue length, a power of two, 8..max_cq_entries
 * @fd: out: the context's file, closed on exec(2).  Map the queues from this
 *	file; JOIN, LEAVE, KICK, EVENTFD and poll(2) apply to this file.
 * @ctx: out: number of the context on this node, part of its address for peers
 * @sq_offset: out: mmap offset of the SQ, sq_entries * 64 bytes, read/write
 * @cq_offset: out: mmap offset of the CQ, cq_entries * 32 bytes, read only
 * @ctl_offset: out: mmap offset of struct angara_ctl, one page, read/write
 * @ctr_offset: out: mmap offset of the event counters, one page, read only
 * @db_offset: out: mmap offset of the doorbell page (ANGARA_CAP_DOORBELL_MMAP)
 * @msg_bytes: bytes of the receive buffer, a power of two, ANGARA_MIN_MSG_BYTES
 *	to max_msg_bytes; 0: the context cannot receive messages
 * @reserved: must be 0
 * @msg_offset: out: mmap offset of the receive buffer, msg_bytes bytes, read
 *	only; 0 without a receive buffer
 *
 * Creates a context in the file's domain.  The domain exists until the
 * context's file is closed.
 *
 * A user without CAP_SYS_RESOURCE gets at most half of the contexts that other
 * users have not taken, or another share (module parameter user_share).
 * Errors: -EBUSY the device has no more contexts, or the user's share is used
 * up; -EMFILE, -ENFILE the process, or the system, has no more descriptors.
 */
struct angara_ctx_create {
	__u32 size;
	__u32 flags;
	__u32 sq_entries;
	__u32 cq_entries;
	__s32 fd;
	__u32 ctx;
	__aligned_u64 sq_offset;
	__aligned_u64 cq_offset;
	__aligned_u64 ctl_offset;
	__aligned_u64 ctr_offset;
	__aligned_u64 db_offset;
	__u32 msg_bytes;
	__u32 reserved;
	__aligned_u64 msg_offset;
};

/* Smallest receive buffer: room for the largest message at any position. */
#define ANGARA_MIN_MSG_BYTES	16384

/* Access rights of a memory region; the region's own domain can always read. */
#define ANGARA_ACCESS_LOCAL_WRITE	(1U << 0)
#define ANGARA_ACCESS_REMOTE_READ	(1U << 1)
#define ANGARA_ACCESS_REMOTE_WRITE	(1U << 2)
#define ANGARA_ACCESS_ALL		7U

/**
 * struct angara_mr_register - ioctl(ANGARA_IOCTL_MR_REG)
 * @size: sizeof(struct angara_mr_register)
 * @flags: ANGARA_MR_KEY, ANGARA_MR_WATCH or both
 * @addr: start of the memory, any alignment
 * @length: bytes, not 0; the pages that contain the memory may have at most 16 GiB
 * @access: ANGARA_ACCESS_*
 * @reserved: must be 0
 * @key: in: requested key (with ANGARA_MR_KEY); out: assigned key.  The low 16
 *	bits are the region's slot, below max_mrs; the other bits are random,
 *	unless the caller chooses them.  Queue entries name a region of the
 *	same domain by slot, and a region of another domain by key.
 *
 * All contexts of the file's domain may use the region.  The pages are pinned
 * and counted against RLIMIT_MEMLOCK.  Offsets in queue entries count from
 * @addr.
 * Errors: -EEXIST the key's slot is taken; -ENOSPC no free slot, or
 * ANGARA_MAX_WATCHED regions of the domain are watched; -EFAULT the memory is
 * not mapped, or @access allows writes to memory that is not writable; -ENOMEM
 * no memory, or RLIMIT_MEMLOCK is exceeded;
 * -EINTR interrupted by a fatal signal, or by any signal with ANGARA_MR_WATCH;
 * -EREMOTEIO the device could access the memory through bounce buffers only.
 */
struct angara_mr_register {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 access;
	__u32 reserved;
	__aligned_u64 key;
};

#define ANGARA_MR_KEY		(1U << 0)
/*
 * Report in struct angara_watch if the addresses of the region, in whole pages,
 * may no longer map the pages that the region has pinned: after munmap(2),
 * mmap(2) or mremap(2) of them, or madvise(2) that drops pages.  The region
 * keeps its pinned pages.
 */
#define ANGARA_MR_WATCH		(1U << 1)
#define ANGARA_MAX_WATCHED	4096	/* watched regions of a domain */

/**
 * struct angara_watch - notice of regions with ANGARA_MR_WATCH, mapped read
 * only
 * @seq: incremented each time a region becomes stale, after its bit is set
 * @reserved: 0
 *
 * 64-bit words follow: bit (slot % 64) of word (slot / 64) is set while the
 * region of that slot is stale.  Registering another region in the slot,
 * watched or not, clears the bit.  The total length is
 * angara_domain_create.watch_bytes.  The bit is set before the system call that
 * changes the addresses returns.  On a kernel without MMU notifiers, watched
 * regions are stale from the beginning.
 */
struct angara_watch {
	__u64 seq;
	__u64 reserved[7];
};

/**
 * struct angara_mr_deregister - ioctl(ANGARA_IOCTL_MR_DEREG)
 * @size: sizeof(struct angara_mr_deregister)
 * @flags: must be 0
 * @key: key of the region
 *
 * When the ioctl returns, the device no longer accesses the memory; operations
 * that still name the key end with ANGARA_ST_KEY.
 * Errors: -ENOENT no region has this key.
 */
struct angara_mr_deregister {
	__u32 size;
	__u32 flags;
	__aligned_u64 key;
};

/**
 * struct angara_tree_row - one row of a router's collective routing table
 * @tree: TreeId
 * @is_root: 1: the router is the root; 0: it is not
 * @to_root: port to the parent, ANGARA_PORT_NONE at the root
 * @port_sum: number of ports to children
 * @pe: local participants, 0 for a transit node, at most ANGARA_MAX_LOCAL
 * @epoch: equal in all rows of the tree; routers drop packets of another epoch
 * @ports: set of ports to children, bit p for port p
 * @pkey: partition that may use the tree
 * @reserved: must be 0
 *
 * Source: document 000, section 3.1; there, pe is one bit instead of a count.
 */
struct angara_tree_row {
	__u8 tree;
	__u8 is_root;
	__u8 to_root;
	__u8 port_sum;
	__u16 pe;
	__u16 epoch;
	__aligned_u64 ports;
	__u32 pkey;
	__u32 reserved;
};

/**
 * struct angara_tree_set - ioctl(ANGARA_IOCTL_TREE_SET)
 * @size: sizeof(struct angara_tree_set)
 * @flags: ANGARA_TREE_OWNED, ANGARA_TREE_JOB, ANGARA_TREE_ROUTER
 * @row: the row
 * @router: router of the row, with ANGARA_TREE_ROUTER; else must be 0
 * @reserved: must be 0
 *
 * Needs no domain.  The caller needs CAP_NET_ADMIN; else the tree must be
 * delegated to the caller's partition, and @row must name that partition.
 * Errors: -EPERM a right is missing, or another node keeps @router; -EBUSY the
 * row is set, clear it first; -EINVAL there is no such @router, or the row
 * breaks a rule for single rows (ANGARA_IOCTL_TREE_CHECK checks the rules that
 * span routers).
 */
struct angara_tree_set {
	__u32 size;
	__u32 flags;
	struct angara_tree_row row;
	__u32 router;
	__u32 reserved;
};

/* Clear the row when this file and the files of its contexts are closed. */
#define ANGARA_TREE_OWNED	(1U << 0)
/*
 * Only the job of the file's domain may use the tree.  Clearing the row needs
 * the same job or CAP_NET_ADMIN.  -ENXIO: there is no domain; -EINVAL: the
 * domain has no job.  TREE_GET does not return the job's key.
 */
#define ANGARA_TREE_JOB		(1U << 1)
/*
 * The command applies to the row of @router: this node, or a switch that this
 * node keeps (programs).  Without the flag, it applies to the row of this node.
 * The description of the fabric determines which switches exist, and which node
 * keeps each.
 */
#define ANGARA_TREE_ROUTER	(1U << 2)

/**
 * struct angara_tree_get - ioctl(ANGARA_IOCTL_TREE_GET)
 * @size: sizeof(struct angara_tree_get)
 * @flags: ANGARA_TREE_ROUTER or 0
 * @row: in: row.tree; out: the row
 * @state: out: ANGARA_TREE_STATE_*
 * @members: out: local participants that have joined
 * @down_node: out: in state DOWN, the node that took the tree down; if a switch
 *	took it down, the node that programs the switch
 * @delegated: out: partition that the tree is delegated to, 0 for none
 * @router: in: as in struct angara_tree_set
 * @reserved: must be 0
 *
 * Needs no domain.
 * Errors: -EPERM the row is of a partition that is not the caller's, or another
 * node keeps @router; -EINVAL there is no such @router; -ENOENT the row is not
 * set and the tree is not delegated.
 */
struct angara_tree_get {
	__u32 size;
	__u32 flags;
	struct angara_tree_row row;
	__u32 state;
	__u32 members;
	__u32 down_node;
	__u32 delegated;
	__u32 router;
	__u32 reserved;
};

#define ANGARA_TREE_STATE_UNSET	0
#define ANGARA_TREE_STATE_UP	1
#define ANGARA_TREE_STATE_DOWN	2

/**
 * struct angara_tree_clear - ioctl(ANGARA_IOCTL_TREE_CLEAR)
 * @size: sizeof(struct angara_tree_clear)
 * @flags: ANGARA_TREE_CLEAR_OWNED, ANGARA_TREE_ROUTER
 * @tree: TreeId
 * @router: as in struct angara_tree_set
 *
 * Operations in progress on the tree end with ANGARA_ST_TREE_DOWN on all nodes.
 * Errors: -EPERM as for ANGARA_IOCTL_TREE_SET, or the row is of another job;
 * -EINVAL as for ANGARA_IOCTL_TREE_SET; -ENOENT the row is not set, or, with
 * ANGARA_TREE_CLEAR_OWNED, the file does not own the row.
 */
struct angara_tree_clear {
	__u32 size;
	__u32 flags;
	__u32 tree;
	__u32 router;
};

/*
 * Clear the row only if this file was the last to set it, with
 * ANGARA_TREE_OWNED.  If another file has set the row since then, the row
 * stays.  Needs no other right.
 */
#define ANGARA_TREE_CLEAR_OWNED	(1U << 0)

/**
 * struct angara_tree_delegate - ioctl(ANGARA_IOCTL_TREE_DELEGATE)
 * @size: sizeof(struct angara_tree_delegate)
 * @flags: must be 0
 * @tree: TreeId
 * @pkey: partition whose users may program the tree's rows of this node and of
 *	all switches that the node keeps; 0 ends the delegation
 *
 * Needs CAP_NET_ADMIN.
 */
struct angara_tree_delegate {
	__u32 size;
	__u32 flags;
	__u32 tree;
	__u32 pkey;
};

/**
 * struct angara_tree_verify - ioctl(ANGARA_IOCTL_TREE_CHECK)
 * @size: sizeof(struct angara_tree_verify)
 * @flags: must be 0
 * @tree: TreeId
 * @rule: out: ANGARA_TREE_RULE_* that is broken, 0 if the tree is valid
 * @node: out: a router that breaks the rule
 * @nodes: out: number of routers that belong to the tree
 *
 * Checks the rows of all devices of this fabric on this machine together.
 * Returns 0 for an invalid tree, too, with @rule set.
 * Errors: -EPERM a row is of a partition that is not the caller's.
 */
struct angara_tree_verify {
	__u32 size;
	__u32 flags;
	__u32 tree;
	__u32 rule;
	__u32 node;
	__u32 nodes;
};

/*
 * Rules that a tree can break (document 000, section 2).  A single row can
 * break FIELD, TORUS and ORDER; the other rules involve several rows.
 */
#define ANGARA_TREE_VALID		0
#define ANGARA_TREE_RULE_ROOT		1 /* not exactly one root */
#define ANGARA_TREE_RULE_LINK		2 /* a child has another parent */
#define ANGARA_TREE_RULE_TORUS		3 /* torus: the tree is not in dimension order */
#define ANGARA_TREE_RULE_FIELD		4 /* wrong field, or fields disagree */
#define ANGARA_TREE_RULE_SHARED		5 /* partition or epoch differs among rows */
#define ANGARA_TREE_RULE_REACH		6 /* the root does not reach a row */
#define ANGARA_TREE_RULE_ORDER		7 /* other topologies: not in channel order */

/**
 * struct angara_join - ioctl(ANGARA_IOCTL_JOIN) and ioctl(ANGARA_IOCTL_LEAVE)
 * @size: sizeof(struct angara_join)
 * @flags: JOIN: ANGARA_JOIN_PLACE or 0; LEAVE: must be 0
 * @tree: TreeId
 * @place: with ANGARA_JOIN_PLACE: place among the local participants, below the
 *	row's pe; else must be 0
 *
 * Makes the context one of the local participants that the row counts in pe.
 * When a participant leaves, or its process dies, the tree goes down for all
 * other participants.
 *
 * Floats are summed in the order of places.  Without ANGARA_JOIN_PLACE a
 * context gets the lowest free place, so the order depends on which context
 * joins first; see Documentation/reductions.rst.
 * Errors: -ENOENT the row is not set; -EPERM the tree is of another partition;
 * -EALREADY joined; -ENOTCONN not joined (LEAVE); -ENOSPC all pe places are
 * taken, or place @place is; -EINVAL @place is not below pe; -ENETDOWN the tree
 * is down.
 */
struct angara_join {
	__u32 size;
	__u32 flags;
	__u32 tree;
	__u32 place;
};

#define ANGARA_JOIN_PLACE	(1U << 0)

/**
 * struct angara_kick - ioctl(ANGARA_IOCTL_KICK)
 * @size: sizeof(struct angara_kick)
 * @flags: ANGARA_KICK_SQ, ANGARA_KICK_ARM or both
 *
 * ANGARA_KICK_SQ passes angara_ctl.sq_pi to the device.  ANGARA_KICK_ARM
 * requests one signal (poll(2), eventfd), sent as soon as the event sequence
 * differs from angara_ctl.seen.
 */
struct angara_kick {
	__u32 size;
	__u32 flags;
};

#define ANGARA_KICK_SQ		(1U << 0)
#define ANGARA_KICK_ARM		(1U << 1)

/**
 * struct angara_eventfd - ioctl(ANGARA_IOCTL_EVENTFD)
 * @size: sizeof(struct angara_eventfd)
 * @flags: must be 0
 * @fd: descriptor from eventfd(2) to signal, -1 for none
 * @reserved: must be 0
 *
 * Errors: -EBADF @fd is not open; -EINVAL @fd is not an eventfd.
 */
struct angara_eventfd {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 reserved;
};

/*
 * poll(2) of a context's file: EPOLLIN while the event sequence
 * (ANGARA_CTR_EVSEQ) differs from angara_ctl.seen; EPOLLERR if the device no
 * longer responds; EPOLLHUP | EPOLLERR once the device is removed, or was reset
 * or suspended since the domain's file was opened.  poll(2) of the device's
 * file reports the same errors, but never EPOLLIN.
 */

#include <linux/angara_mgmt.h>
#include <linux/angara_queue.h>

#endif /* _UAPI_LINUX_ANGARA_H */
