/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: domains, contexts and memory.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_DOMAIN_H
#define ANGARA_DOMAIN_H

#include <angara/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Domains.  A domain belongs to an open device.  It has a partition and memory
 * regions, which its contexts share.  Several threads may use a domain at once,
 * each with its own context.
 */

struct angara_domain;
struct angara_job;

#define ANGARA_NO_MSG	UINT32_MAX

/**
 * struct angara_domain_attr - how to open a domain; zeros mean the defaults
 * @size: sizeof(struct angara_domain_attr)
 * @flags: 0
 * @pkey: partition, 0 for the caller's own
 * @first_slot: only angara_mr_reg_key() uses key slots below this
 * @job: job whose key the domain gets; then all processes of the job must call.
 *	Contexts of the domain reach only contexts of the same job.  NULL: none
 */
struct angara_domain_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t pkey;
	uint32_t first_slot;
	struct angara_job *job;
};

/**
 * struct angara_domain_info - properties of a domain
 * @size: in: sizeof(struct angara_domain_info)
 * @node: number of this node
 * @nodes: nodes of the fabric
 * @ports: ports of a node; angara_domain_topo() returns how they are connected
 * @fabric_id: equal on all nodes of the fabric
 * @max_op_bytes: longest operation
 * @max_mrs: memory regions
 * @pkey: partition
 * @max_msg_bytes: largest receive buffer of a context, 0: no messages
 * @max_trees: trees of the fabric: TreeIds are below this
 */
struct angara_domain_info {
	uint32_t size;
	uint32_t node;
	uint32_t nodes;
	uint32_t ports;
	uint64_t fabric_id;
	uint64_t max_op_bytes;
	uint32_t max_mrs;
	uint32_t pkey;
	uint32_t max_msg_bytes;
	uint32_t max_trees;
};

/**
 * angara_domain_open() - open a device
 * @device: "/dev/angaraN" or "N", or NULL.  With NULL the library takes the
 *	first of these that exists: the node that the launcher chose
 *	(ANGARA_DEVICE); if the process has joined a PMIx job before, the node
 *	for its rank in that job; the first device, or on a named embedded
 *	fabric a node that few processes use
 * @attr: NULL for the defaults
 * @dom: out
 *
 * Return: 0; -ENODEV there is no adapter; -EACCES no permission; -EPERM the
 * partition belongs to another user; -EINVAL bad @attr; -EPROTO the driver has
 * another ABI version.
 */
int angara_domain_open(const char *device, const struct angara_domain_attr *attr,
		       struct angara_domain **dom);
/**
 * angara_domain_close() - close a domain
 * @dom: domain; NULL does nothing
 *
 * Frees its memory regions, including memory from angara_malloc(), once its
 * last context is closed.
 */
void angara_domain_close(struct angara_domain *dom);
/**
 * angara_domain_query() - get the properties of a domain
 * @dom: domain
 * @info: out; the caller sets its size
 *
 * Return: 0; -EINVAL size of @info is too small; -E2BIG too large.
 */
int angara_domain_query(const struct angara_domain *dom,
			struct angara_domain_info *info);

/* Adapters that angara_domain_open() can open. */

struct angara_adapters;

/* Kinds of adapters. */
#define ANGARA_ADAPTER_UNKNOWN	0	/* sysfs is not mounted */
#define ANGARA_ADAPTER_EMBEDDED	1	/* a node of an embedded fabric: no device */
#define ANGARA_ADAPTER_LOOP	2	/* a device of the driver's software loopback */
#define ANGARA_ADAPTER_PCI	3	/* a card on a PCI bus */

#define ANGARA_ADAPTER_DRIVER	32	/* bytes of a driver's name, with its NUL */

/**
 * struct angara_adapter - an adapter
 * @size: in: sizeof(struct angara_adapter)
 * @kind: ANGARA_ADAPTER_*
 * @number: name for angara_domain_open(): N of /dev/angaraN, or a node of an
 *	embedded fabric
 * @node: node that it connects
 * @fabric_id: fabric; 0: an embedded one, which gets its id when the first
 *	process opens it
 * @chosen: 1: angara_domain_open(NULL, ...) opens this adapter
 * @pci_domain: bus address of an ANGARA_ADAPTER_PCI; the members that begin
 *	with pci_ are 0 for other kinds
 * @pci_bus: bus
 * @pci_device: device
 * @pci_function: function
 * @pci_revision: revision of the card
 * @pci_vendor_id: vendor of the card
 * @pci_device_id: type of the card
 * @driver: name of its kernel driver; empty: none, or it is not known
 */
struct angara_adapter {
	uint32_t size;
	uint32_t kind;
	uint32_t number;
	uint32_t node;
	uint64_t fabric_id;
	uint32_t chosen;
	uint32_t pci_domain;
	uint8_t pci_bus;
	uint8_t pci_device;
	uint8_t pci_function;
	uint8_t pci_revision;
	uint16_t pci_vendor_id;
	uint16_t pci_device_id;
	char driver[ANGARA_ADAPTER_DRIVER];
};

/**
 * angara_adapters_open() - list the adapters
 * @list: out: adapters of this machine, or nodes of the embedded fabric that
 *	the environment selects, sorted by fabric and node; may be empty
 *
 * Adapters that do not respond are left out.
 *
 * Return: 0; -EINVAL the environment names no valid fabric; -ENOMEM; if no
 * adapter responds, the error of the first adapter, such as -EACCES.
 */
int angara_adapters_open(struct angara_adapters **list);
/** Frees a list; NULL does nothing. */
void angara_adapters_close(struct angara_adapters *list);
/** Number of adapters in a list. */
uint32_t angara_adapters_count(const struct angara_adapters *list);
/**
 * angara_adapters_query() - get the properties of an adapter
 * @list: list
 * @index: adapter, below angara_adapters_count()
 * @adapter: out; the caller sets its size
 *
 * Return: 0; -EINVAL no such adapter, or size of @adapter is too small; -E2BIG
 * too large.
 */
int angara_adapters_query(const struct angara_adapters *list, uint32_t index,
			  struct angara_adapter *adapter);

/* Contexts: the queues that one thread uses. */

/**
 * struct angara_ctx_attr - how to open a context; zeros mean the defaults
 * @size: sizeof(struct angara_ctx_attr)
 * @flags: 0
 * @sq_entries: injection queue length, a power of two (default 256)
 * @cq_entries: completion queue length, a power of two (default 512)
 * @spin_us: how long a wait spins before it sleeps.  Default: 20 with a driver; on
 *	an embedded fabric 500 while waits end in that time, less after longer
 *	waits, 20 at least
 * @msg_bytes: receive buffer, a power of two from ANGARA_MIN_MSG_BYTES to
 *	angara_domain_info.max_msg_bytes (default 65536), or ANGARA_NO_MSG; see
 *	angara/msg.h
 */
struct angara_ctx_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t spin_us;
	uint32_t msg_bytes;
};

/**
 * struct angara_ctx_info - properties of a context
 * @size: in: sizeof(struct angara_ctx_info)
 * @self: address of the context, for peers
 * @sq_entries: length of the injection queue
 * @cq_entries: length of the completion queue
 * @msg_bytes: size of the receive buffer
 * @failed_node: node at fault of the last error that angara_quiet() has returned;
 *	UINT32_MAX: it has returned none
 */
struct angara_ctx_info {
	uint32_t size;
	struct angara_peer self;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t msg_bytes;
	uint32_t failed_node;
};

/**
 * angara_ctx_open() - create a context in a domain
 * @dom: domain
 * @attr: NULL for the defaults
 * @ctx: out
 *
 * Return: 0; -EBUSY no context is left; -EINVAL bad @attr; -ENODEV the device
 * is gone; -ENOTSUP the device has no receive buffers.
 */
int angara_ctx_open(struct angara_domain *dom, const struct angara_ctx_attr *attr,
		    struct angara_ctx **ctx);
/**
 * angara_ctx_close() - close a context
 * @ctx: context, whose teams have been destroyed; NULL does nothing
 *
 * Drops operations in progress.
 */
void angara_ctx_close(struct angara_ctx *ctx);
/**
 * angara_ctx_query() - get the properties of a context
 * @ctx: context
 * @info: out; the caller sets its size
 *
 * Return: 0; -EINVAL size of @info is too small; -E2BIG too large.
 */
int angara_ctx_query(const struct angara_ctx *ctx, struct angara_ctx_info *info);
/** Return: the domain in which a context was created. */
struct angara_domain *angara_ctx_domain(const struct angara_ctx *ctx);

/**
 * angara_fabric_present() - does this machine have a configured fabric?
 *
 * Return: 1 if ANGARA_FABRIC names one, or there are adapters; 0 if a context
 * would be opened on the default embedded fabric.
 */
int angara_fabric_present(void);

/* Memory: every context of the domain may use it. */

/**
 * angara_mr_reg() - register memory
 * @dom: domain
 * @addr: start, any alignment
 * @len: bytes, not 0
 * @access: ANGARA_ACCESS_*
 * @mr: out
 *
 * The upper 48 bits of the key are random, so the program has to send the key to
 * its peers.  See angara_team_mr_reg() for a key that is equal at all members of a
 * team.
 *
 * Return: 0; -ENOMEM RLIMIT_MEMLOCK; -EFAULT not mapped; -ENOSPC no slot left;
 * -EIO no random bits.
 */
int angara_mr_reg(struct angara_domain *dom, void *addr, size_t len,
		  unsigned int access, struct angara_mr **mr);
/*
 * As angara_mr_reg(), with a key that the caller chooses; -EEXIST the slot of
 * the key is in use.
 */
int angara_mr_reg_key(struct angara_domain *dom, void *addr, size_t len,
		      unsigned int access, uint64_t key, struct angara_mr **mr);
void angara_mr_dereg(struct angara_mr *mr);
uint64_t angara_mr_key(const struct angara_mr *mr);
void *angara_mr_addr(const struct angara_mr *mr);
size_t angara_mr_len(const struct angara_mr *mr);
/**
 * angara_mr_place() - get the location of a region in memory that processes
 * share
 * @mr: region from angara_malloc() or angara_team_malloc(), on an embedded
 *	fabric
 * @place: out: to be passed to angara_domain_place() by processes of this fabric
 *
 * Return: 0; -EOPNOTSUPP other processes cannot reach it.
 */
int angara_mr_place(const struct angara_mr *mr, uint64_t *place);
/**
 * angara_domain_place() - get the address of another process's region
 * @dom: domain, of the same fabric
 * @place: location from angara_mr_place() in that process
 * @len: bytes
 * @addr: out: for loads and stores, and as unregistered local memory of operations,
 *	until that process frees the region
 *
 * Return: 0; -EOPNOTSUPP the location is invalid.
 */
int angara_domain_place(struct angara_domain *dom, uint64_t place, size_t len,
			void **addr);
/**
 * angara_domain_seal() - declare that no other process of the job will open a
 * domain
 * @dom: domain; must stay open as long as any process of the job has a domain
 *
 * An embedded fabric that the library has named for the job loses its name, so
 * no file remains in /dev/shm, however the processes end.
 */
void angara_domain_seal(struct angara_domain *dom);

/**
 * angara_mr_hold() - get a region for memory that the program did not register
 * @dom: domain
 * @addr: start
 * @len: bytes, not 0
 * @access: minimum rights: 0, ANGARA_ACCESS_LOCAL_WRITE,
 *	ANGARA_ACCESS_REMOTE_READ or both
 * @group: callers with the same @group may share a region and revoke it
 *	together, see angara_mr_revoke(); a region has one @group at a time.
 *	NULL: callers that never revoke
 * @mr: out: a region that contains these bytes and possibly more around them;
 *	it starts at angara_mr_addr()
 *
 * The domain caches such regions, so memory that is used again is registered
 * only once.  The memory may be unmapped as soon as no caller holds a region of
 * it; other memory that is mapped there later is registered again.
 * angara_mr_dereg() and angara_free() of such a region act as
 * angara_mr_release().
 *
 * Regions consist of whole pages.  Those with ANGARA_ACCESS_REMOTE_READ are an
 * exception: they contain only bytes that callers have passed with that right.
 * Peers that know the key may read these bytes until the domain evicts the
 * region, also after its release.
 *
 * Several threads may call this function at once.  The call blocks while
 * another thread registers memory.
 *
 * Return: 0, release it with angara_mr_release(); -ENOMEM RLIMIT_MEMLOCK, even
 * with an empty cache; -EFAULT not mapped; -ENOSPC no key left; -EINVAL.
 */
int angara_mr_hold(struct angara_domain *dom, const void *addr, size_t len,
		   unsigned int access, const void *group, struct angara_mr **mr);
/** Release a region of angara_mr_hold(), when no operation uses it. */
void angara_mr_release(struct angara_mr *mr);
/**
 * angara_mr_revoke() - invalidate a region of angara_mr_hold() at once
 * @mr: region; NULL or one of angara_mr_reg() does nothing
 *
 * When the call returns, no adapter accesses memory by this region any more.
 * Operations and peers that still use the region get ANGARA_ST_KEY.  The call
 * affects all holders of the region, which belong to one group.  Each holder
 * still calls angara_mr_release() when its operations have ended.
 */
void angara_mr_revoke(struct angara_mr *mr);

/**
 * struct angara_mr_cache_info - state of the cache that angara_mr_hold() uses
 * @size: in: sizeof(struct angara_mr_cache_info)
 * @ranges: ranges in the cache now
 * @bytes: bytes registered: in the cache, and in evicted regions still held
 * @hits: calls that found a region
 * @misses: calls that registered memory
 * @stale: ranges evicted because the memory was unmapped
 * @dropped: ranges evicted for lack of room
 */
struct angara_mr_cache_info {
	uint32_t size;
	uint32_t ranges;
	uint64_t bytes;
	uint64_t hits;
	uint64_t misses;
	uint64_t stale;
	uint64_t dropped;
};

/**
 * angara_mr_cache_query() - get the state of a domain's registration cache
 * @dom: domain
 * @info: out; the caller sets its size
 *
 * Return: 0; -EINVAL size of @info is too small; -E2BIG too large.
 */
int angara_mr_cache_query(struct angara_domain *dom,
			  struct angara_mr_cache_info *info);

/** Allocate page-aligned zeroed memory, registered with all access rights. */
int angara_malloc(struct angara_domain *dom, size_t len, struct angara_mr **mr);
/** As angara_malloc(), with the access rights @access only. */
int angara_malloc_access(struct angara_domain *dom, size_t len,
			 unsigned int access, struct angara_mr **mr);
void angara_free(struct angara_mr *mr);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_DOMAIN_H */
