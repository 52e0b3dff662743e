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
 * Domains: what an open device owns.  A domain has a partition and memory
 * regions; its contexts share them.  Several threads may use a domain at once,
 * each with a context of its own.
 */

struct angara_domain;
struct angara_job;

#define ANGARA_NO_MSG	UINT32_MAX

/**
 * struct angara_domain_attr - how to open a domain; zeros mean the defaults
 * @size: sizeof(struct angara_domain_attr)
 * @flags: 0
 * @pkey: partition, 0 for the caller's own
 * @reserved: 0
 * @job: job whose key the domain gets, NULL for none: all of the job call then.
 *	Contexts reach those of the same job only
 */
struct angara_domain_attr {
	uint32_t size;
	uint32_t flags;
	uint32_t pkey;
	uint32_t reserved;
	struct angara_job *job;
};

/**
 * struct angara_domain_info - what a domain has
 * @size: in: sizeof(struct angara_domain_info)
 * @node: node
 * @nodes: nodes of the fabric
 * @ports: ports of a node; angara_domain_topo() tells what they are joined to
 * @fabric_id: equal on all nodes of the fabric
 * @max_op_bytes: longest operation
 * @max_mrs: memory regions
 * @pkey: partition
 * @max_msg_bytes: largest message area of a context, 0 if there are none
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
 * @device: "/dev/angaraN" or "N"; NULL for the node that the launcher chose
 *	(ANGARA_DEVICE), else the one of this process's rank in a job of PMIx
 *	that it has joined before, else the first device there is, or on an
 *	embedded fabric that has a name one that few processes have
 * @attr: NULL for the defaults
 * @dom: out
 *
 * Return: 0; -ENODEV there is no adapter; -EACCES no permission; -EPERM the
 * partition is another's; -EINVAL bad @attr; -EPROTO the driver speaks another
 * ABI version.
 */
int angara_domain_open(const char *device, const struct angara_domain_attr *attr,
		       struct angara_domain **dom);
/**
 * angara_domain_close() - give back a domain
 * @dom: domain; NULL does nothing
 *
 * Its memory regions go with it, also the memory that angara_malloc() gave, but
 * not before its last context is closed.
 */
void angara_domain_close(struct angara_domain *dom);
/**
 * angara_domain_query() - tell of a domain
 * @dom: domain
 * @info: out; of it the size is set
 *
 * Return: 0; -EINVAL @info is too small to be one; -E2BIG too large.
 */
int angara_domain_query(const struct angara_domain *dom,
			struct angara_domain_info *info);

/* Contexts: what a thread uses. */

/**
 * struct angara_ctx_attr - how to open a context; zeros mean the defaults
 * @size: sizeof(struct angara_ctx_attr)
 * @flags: 0
 * @sq_entries: injection queue length, a power of two (default 256)
 * @cq_entries: completion queue length, a power of two (default 512)
 * @spin_us: how long a wait spins before it sleeps (default 20)
 * @msg_bytes: message area, a power of two from ANGARA_MIN_MSG_BYTES to
 *	angara_domain_info.max_msg_bytes (default none), see angara/msg.h
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
 * struct angara_ctx_info - what a context has
 * @size: in: sizeof(struct angara_ctx_info)
 * @self: its address, for peers
 * @sq_entries: length of the injection queue
 * @cq_entries: length of the completion queue
 * @msg_bytes: message area
 */
struct angara_ctx_info {
	uint32_t size;
	struct angara_peer self;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t msg_bytes;
};

/**
 * angara_ctx_open() - create a context in a domain
 * @dom: domain
 * @attr: NULL for the defaults
 * @ctx: out
 *
 * Return: 0; -EBUSY no context is left; -EINVAL bad @attr; -ENODEV the device
 * is gone; -ENOTSUP the device has no message areas.
 */
int angara_ctx_open(struct angara_domain *dom, const struct angara_ctx_attr *attr,
		    struct angara_ctx **ctx);
/**
 * angara_ctx_close() - give back a context
 * @ctx: context, whose teams have been destroyed; NULL does nothing
 *
 * Operations under way are dropped.
 */
void angara_ctx_close(struct angara_ctx *ctx);
/**
 * angara_ctx_query() - tell of a context
 * @ctx: context
 * @info: out; of it the size is set
 *
 * Return: 0; -EINVAL @info is too small to be one; -E2BIG too large.
 */
int angara_ctx_query(const struct angara_ctx *ctx, struct angara_ctx_info *info);
/** The domain that a context was created in. */
struct angara_domain *angara_ctx_domain(const struct angara_ctx *ctx);

/**
 * angara_fabric_present() - is there a fabric that was meant to be used?
 *
 * Return: 1 ANGARA_FABRIC names one, or there are adapters; 0 a context would
 * be opened on an embedded fabric that nobody has asked for.
 */
int angara_fabric_present(void);

/* Memory: any context of the domain may use it. */

/**
 * angara_mr_reg() - register memory
 * @dom: domain
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
int angara_mr_reg(struct angara_domain *dom, void *addr, size_t len,
		  unsigned int access, struct angara_mr **mr);
/** As angara_mr_reg(), with a key of the caller's; -EEXIST it is taken. */
int angara_mr_reg_key(struct angara_domain *dom, void *addr, size_t len,
		      unsigned int access, uint64_t key, struct angara_mr **mr);
void angara_mr_dereg(struct angara_mr *mr);
uint64_t angara_mr_key(const struct angara_mr *mr);
void *angara_mr_addr(const struct angara_mr *mr);
size_t angara_mr_len(const struct angara_mr *mr);

/** Page-aligned zeroed memory, registered with all access rights. */
int angara_malloc(struct angara_domain *dom, size_t len, struct angara_mr **mr);
/** As angara_malloc(), with the rights of @access only. */
int angara_malloc_access(struct angara_domain *dom, size_t len,
			 unsigned int access, struct angara_mr **mr);
void angara_free(struct angara_mr *mr);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_DOMAIN_H */
