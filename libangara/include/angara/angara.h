/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: one-sided operations and offloaded collectives on an Angara
 * adapter.
 *
 * Functions return 0 or a negative errno; each has a man page.  Sizes and
 * offsets are bytes, counts are elements, times are milliseconds.  A context
 * and all that belongs to it may be used by one thread at a time; different
 * contexts are independent.
 */
#ifndef ANGARA_ANGARA_H
#define ANGARA_ANGARA_H

#include <stddef.h>
#include <stdint.h>
#include <linux/angara.h>

#ifdef __cplusplus
extern "C" {
#endif

struct angara_job;
struct angara_ctx;
struct angara_mr;
struct angara_team;

/** An operation under way; names nothing once it has been waited for. */
typedef uint64_t angara_req_t;

#define ANGARA_FOREVER		(-1)	/* timeout_ms: no deadline */
#define ANGARA_NO_NOTIFY	(-1)	/* notify: nobody is told */

/*
 * Start-up.  A job is the set of processes that angara-run(1) started, or a
 * launcher that speaks PMIx such as mpirun; a program started alone is a job
 * of one.  A program that has other means to find its peers makes jobs itself.
 */

/**
 * angara_job_init() - join the job that this process belongs to
 * @job: out
 *
 * Return: 0; -EINVAL the environment of the launcher is damaged; -EPIPE the
 * launcher is gone; -ELIBACC it speaks PMIx and libpmix cannot be loaded.
 */
int angara_job_init(struct angara_job **job);

/**
 * typedef angara_exchange_fn - exchange blocks among processes of a job
 * @arg: as given to angara_job_init_with()
 * @ranks: which take part, ascending and with this one; NULL for all
 * @n: their number, if @ranks is not NULL
 * @tag: equal at all of them; exchanges of the same ones with the same tag come
 *	in the same order everywhere
 * @mine: block of this process, NULL if @len is 0
 * @len: its bytes, equal at all of them, at most 64 KiB
 * @all: out: blocks of all that take part, in the order of ranks
 *
 * Return: 0 or a negative errno, which whoever wanted the exchange is given.
 */
typedef int (*angara_exchange_fn)(void *arg, const unsigned int *ranks,
				  unsigned int n, uint64_t tag, const void *mine,
				  size_t len, void *all);

/**
 * angara_job_init_with() - make a job of processes that know each other already
 * @rank: number of this one among them
 * @size: their number
 * @exchange: how they exchange blocks
 * @arg: handed to @exchange
 * @job: out
 *
 * A job is among whom a team is made, so it may be a part of the processes, or
 * of contexts of one process.
 *
 * Return: 0; -EINVAL @rank or @size is out of range, or @exchange is NULL;
 * -ENOMEM.
 */
int angara_job_init_with(unsigned int rank, unsigned int size,
			 angara_exchange_fn exchange, void *arg,
			 struct angara_job **job);
void angara_job_finalize(struct angara_job *job);
unsigned int angara_job_rank(const struct angara_job *job);
unsigned int angara_job_size(const struct angara_job *job);

/**
 * angara_job_allgather() - exchange a small block, out of band
 * @job: all its processes call
 * @mine: @len bytes, the same @len everywhere
 * @len: bytes, at most 64 KiB
 * @all: out: size * @len bytes, in the order of ranks
 *
 * Return: 0; -EPIPE a process of the job ended; -EMSGSIZE @len differs;
 * -ETIMEDOUT over PMIx, see ANGARA_JOB_TIMEOUT in angara(7).
 */
int angara_job_allgather(struct angara_job *job, const void *mine, size_t len,
			 void *all);
int angara_job_barrier(struct angara_job *job);

/* Devices and contexts. */

/** What a peer is addressed by. */
struct angara_peer {
	uint32_t node;
	uint16_t ctx;
	uint16_t reserved;
};

/**
 * struct angara_ctx_attr - how to open a context; zeros mean the defaults
 * @sq_entries: injection queue length, a power of two (default 256)
 * @cq_entries: completion queue length, a power of two (default 512)
 * @pkey: partition, 0 for the caller's own
 * @spin_us: how long a wait spins before it sleeps (default 20)
 * @msg_bytes: message area, a power of two from ANGARA_MIN_MSG_BYTES to
 *	angara_ctx_info.max_msg_bytes (default none), see angara/msg.h
 */
struct angara_ctx_attr {
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t pkey;
	uint32_t spin_us;
	uint32_t msg_bytes;
};

struct angara_ctx_info {
	uint32_t node;
	uint32_t nodes;
	uint32_t ndims;
	uint16_t dims[ANGARA_MAX_DIMS];
	uint16_t coord[ANGARA_MAX_DIMS];
	uint64_t fabric_id;
	uint64_t max_op_bytes;
	uint32_t max_mrs;
	uint32_t pkey;
	struct angara_peer self;
	uint32_t max_msg_bytes;
};

/**
 * angara_ctx_open() - open a device and create a context on it
 * @device: "/dev/angaraN" or "N"; NULL for the node that the launcher chose
 *	(ANGARA_DEVICE), else the one of this process's rank in a job of PMIx
 *	that it has joined before, else the first device there is
 * @attr: NULL for the defaults
 * @ctx: out
 *
 * Return: 0; -ENODEV there is no adapter; -EACCES no permission; -EBUSY no
 * context is left; -EPERM the partition is another's; -EINVAL bad @attr;
 * -EPROTO the driver speaks another ABI version; -ENOTSUP the device has no
 * message areas.
 */
int angara_ctx_open(const char *device, const struct angara_ctx_attr *attr,
		    struct angara_ctx **ctx);
/**
 * angara_ctx_close() - give back a context
 * @ctx: context, whose teams have been destroyed; NULL does nothing
 *
 * Operations under way are dropped.  Its memory regions go with it, also the
 * memory that angara_malloc() gave.
 */
void angara_ctx_close(struct angara_ctx *ctx);
int angara_ctx_query(struct angara_ctx *ctx, struct angara_ctx_info *info);

/**
 * angara_fabric_present() - is there a fabric that was meant to be used?
 *
 * Return: 1 ANGARA_FABRIC names one, or there are adapters; 0 a context would
 * be opened on an embedded fabric that nobody has asked for.
 */
int angara_fabric_present(void);

/** Descriptor for poll(2): readable when there may be something to test. */
int angara_ctx_fd(const struct angara_ctx *ctx);

/* Memory. */

/**
 * angara_mr_reg() - register memory
 * @ctx: context
 * @addr: start, any alignment
 * @len: bytes, not 0
 * @access: ANGARA_ACCESS_*
 * @mr: out
 *
 * Keys are given in order from 0, so processes that register in the same
 * order have equal keys, as broadcasts need.
 *
 * Return: 0; -ENOMEM RLIMIT_MEMLOCK; -EFAULT not mapped; -ENOSPC no key left.
 */
int angara_mr_reg(struct angara_ctx *ctx, void *addr, size_t len,
		  unsigned int access, struct angara_mr **mr);
/** As angara_mr_reg(), with a key of the caller's; -EEXIST it is taken. */
int angara_mr_reg_key(struct angara_ctx *ctx, void *addr, size_t len,
		      unsigned int access, uint32_t key, struct angara_mr **mr);
void angara_mr_dereg(struct angara_mr *mr);
uint32_t angara_mr_key(const struct angara_mr *mr);
void *angara_mr_addr(const struct angara_mr *mr);
size_t angara_mr_len(const struct angara_mr *mr);

/** Page-aligned zeroed memory, registered with all access rights. */
int angara_malloc(struct angara_ctx *ctx, size_t len, struct angara_mr **mr);
/** As angara_malloc(), with the rights of @access only. */
int angara_malloc_access(struct angara_ctx *ctx, size_t len,
			 unsigned int access, struct angara_mr **mr);
void angara_free(struct angara_mr *mr);

/*
 * One-sided operations.  The target does nothing.  Complete means: a put has
 * been written at the target, a get has arrived here.  @notify names a user
 * counter (0..ANGARA_CTR_USER_NUM-1) of the target that is counted up then.
 */

/**
 * angara_put_nbi() - write to a peer's memory
 * @ctx: context
 * @peer: target
 * @dst_key: region at the target, with ANGARA_ACCESS_REMOTE_WRITE
 * @dst_off: offset in it
 * @src: local region
 * @src_off: offset in it
 * @len: bytes, up to ANGARA_MAX_OP_BYTES; 0 only notifies
 * @notify: counter at the target, or ANGARA_NO_NOTIFY
 * @req: out: for angara_wait(); NULL: angara_quiet() waits for it
 *
 * Return: 0; -EINVAL a value out of range; -ENODEV the device is gone.  What
 * the target refuses is told by angara_wait().
 */
int angara_put_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint32_t dst_key, uint64_t dst_off, const struct angara_mr *src,
		   uint64_t src_off, size_t len, int notify, angara_req_t *req);
/** As angara_put_nbi() for at most ANGARA_MAX_INLINE bytes anywhere in memory. */
int angara_put_inline(struct angara_ctx *ctx, struct angara_peer peer,
		      uint32_t dst_key, uint64_t dst_off, const void *data,
		      size_t len, int notify, angara_req_t *req);
/** Read a peer's memory, from a region with ANGARA_ACCESS_REMOTE_READ. */
int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		   uint32_t src_key, uint64_t src_off, const struct angara_mr *dst,
		   uint64_t dst_off, size_t len, int notify, angara_req_t *req);

/* Completion. */

/**
 * struct angara_status - how an operation ended
 * @status: ANGARA_ST_*
 * @node: node at fault if @status is not ANGARA_ST_OK
 * @length: bytes done
 */
struct angara_status {
	uint32_t status;
	uint32_t node;
	uint64_t length;
};

/**
 * angara_test() - has an operation ended?
 * @ctx: context
 * @req: operation
 * @status: out, or NULL
 *
 * Return: 0 it ended well; -EAGAIN not yet; -ENOENT no such operation; else
 * the errno of its status, see angara_status_errno().
 */
int angara_test(struct angara_ctx *ctx, angara_req_t req,
		struct angara_status *status);
/**
 * angara_progress() - take in what has happened, without waiting
 * @ctx: context
 *
 * For programs that have many operations under way: one look, and then
 * angara_ended() for each of them.  angara_ctx_fd() is quiet after it.
 *
 * Return: 0; -ENODEV the device is gone.
 */
int angara_progress(struct angara_ctx *ctx);
/** As angara_test(), but only tells what the last look has brought. */
int angara_ended(struct angara_ctx *ctx, angara_req_t req,
		 struct angara_status *status);
/**
 * angara_wait() - wait for an operation: spin briefly, then sleep
 * @ctx: context
 * @req: operation
 * @timeout_ms: deadline, or ANGARA_FOREVER
 * @status: out, or NULL
 *
 * Return: as angara_test(); -ETIMEDOUT the deadline passed, the operation
 * goes on.
 */
int angara_wait(struct angara_ctx *ctx, angara_req_t req, int timeout_ms,
		struct angara_status *status);
/**
 * angara_quiet() - wait for all operations of a context
 * @ctx: context
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; the errno of the first that failed among those that
 * were started without a request.
 */
int angara_quiet(struct angara_ctx *ctx, int timeout_ms);

/** User counter @n; memory it tells of may be read after this. */
uint64_t angara_counter(struct angara_ctx *ctx, unsigned int n);
/** Wait until user counter @n is at least @value. */
int angara_counter_wait(struct angara_ctx *ctx, unsigned int n, uint64_t value,
			int timeout_ms);

int angara_status_errno(uint32_t status);
const char *angara_status_str(uint32_t status);

/*
 * Teams: members of a collective tree.  Members start reductions and barriers
 * of a team in the same order.
 */

/**
 * struct angara_team_attr - zeros mean the defaults
 * @root: index in the member list of the process whose node is the root
 * @tree: TreeId + 1, or 0 for any free one
 */
struct angara_team_attr {
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
 * @req: out: complete when the source's own copy is back; NULL for quiet
 *
 * Others learn of it by angara_team_received(), or by a barrier of the team
 * that the source starts later: broadcasts started before it have arrived.
 *
 * Return: as angara_put_nbi().
 */
int angara_bcast_nbi(struct angara_team *team, uint32_t dst_key, uint64_t dst_off,
		     const struct angara_mr *src, uint64_t src_off, size_t len,
		     angara_req_t *req);
/** Broadcasts of the team that have arrived here since it was created. */
uint64_t angara_team_received(struct angara_team *team);
/**
 * angara_team_received_wait() - wait for broadcasts of others
 * @team: team
 * @n: until angara_team_received() is at least this
 * @timeout_ms: deadline, or ANGARA_FOREVER
 *
 * Return: 0; -ETIMEDOUT; -ECONNRESET a member left or died before; -EIO they
 * have arrived, but one, of this team or another of the context, not whole:
 * said once; -ENODEV the device is gone.
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
 * @req: out, or NULL
 *
 * Complete at @root when the result is there, elsewhere when @src may be
 * reused.
 *
 * Return: as angara_put_nbi().
 */
int angara_reduce_nbi(struct angara_team *team, const struct angara_mr *dst,
		      uint64_t dst_off, const struct angara_mr *src,
		      uint64_t src_off, size_t count, unsigned int type,
		      unsigned int op, unsigned int root, angara_req_t *req);
/** As angara_reduce_nbi(), with the result at every member. */
int angara_allreduce_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t count, unsigned int type,
			 unsigned int op, angara_req_t *req);
/** Complete when all members have started it. */
int angara_barrier_nbi(struct angara_team *team, angara_req_t *req);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_ANGARA_H */
