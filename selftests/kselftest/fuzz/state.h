/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State of a program.  All objects have fixed numbers and addresses, so two
 * threads may use them at once, and closing a number twice affects no other
 * file.
 */
#ifndef KFUZZ_STATE_H
#define KFUZZ_STATE_H

#include <setjmp.h>
#include <linux/angara.h>

#include "kfuzz.h"

/* File descriptors */
#define KF_FD_FILE	100
#define KF_FD_EVENTFD	110
#define KF_FD_NETLINK	120
#define KF_FD_CTX	130

/* Addresses */
#define KF_PAGE		4096UL
#define KF_AT_ARGS	0x200000000000UL	/* arguments of calls, by thread */
#define KF_AT_MEM	0x210000000000UL	/* private memory, written */
#define KF_AT_CONST	0x220000000000UL	/* private memory, read-only */
#define KF_AT_SHARED	0x230000000000UL
#define KF_AT_MAPS	0x300000000000UL
#define KF_AT_FILES	0x400000000000UL
#define KF_MEM		(64 * KF_PAGE)
#define KF_STRIDE	(1UL << 32)
#define KF_RING(f, kind) \
	((void *)(KF_AT_FILES + (f) * KF_STRIDE + (kind) * (KF_STRIDE / 16)))

#define KF_AREA_KIND	4
#define KF_KINDS	6	/* kinds of a context's memory; no object owns the last one */

/* Objects whose netlink attributes differ in size. */
enum {
	KF_NL_OTHER,
	KF_NL_PORT,
	KF_NL_TREE,
	KF_NL_OBJECTS
};

/* Number of regions that calls on memory, and calls that register it, may use. */
#define KF_REGIONS	(KF_MAPS + 6)

struct kf_file {
	uint64_t offset[KF_KINDS];
	uint64_t bytes[KF_KINDS];
	uint32_t sq_entries;
	uint32_t pi;
};

/**
 * struct kf_state - state of one thread
 * @lane: number of the thread
 * @args: where arguments of ioctls are
 * @file: contexts' answers; the same in all threads
 * @map_bytes: lengths of the mappings; the same in all threads
 * @family: number of the netlink family
 * @fabric: id of the first fabric
 * @attrs: attributes of the next message
 * @attrs_len: bytes of @attrs
 * @fail_fd: file fail-nth of this thread, or -1
 * @fail: number of the allocation that fails in the next call
 * @p: the program
 * @at: number of the current call
 * @fault: where to continue if memory cannot be accessed
 */
struct kf_state {
	unsigned int lane;
	char *args;
	struct kf_file *file;
	uint64_t *map_bytes;
	unsigned int family;
	uint64_t fabric;
	char attrs[1024];
	size_t attrs_len;
	int fail_fd;
	unsigned int fail;
	const struct kf_prog *p;
	unsigned int at;
	sigjmp_buf fault;
};

static inline int kf_fd(uint64_t f)
{
	return KF_FD_FILE + f % KF_FILES;
}

/* Each file of a device has a slot for the file of a context. */
static inline int kf_ctx_fd(uint64_t f)
{
	return KF_FD_CTX + f % KF_FILES;
}

/* Return: address of region @r, with its length in @len. */
void *kf_region(struct kf_state *s, uint64_t r, uint64_t *len);

/* files.c */
void kf_args_init(struct kf_state *s);

/* exec.c */
void kf_run_calls(struct kf_state *s, unsigned int end, long *answer);

typedef long kf_run_fn(struct kf_state *s, const struct kf_op *op,
		       const uint64_t *v);

/* files.c */
kf_run_fn kf_open, kf_close, kf_end, kf_dup, kf_ioctl, kf_ioctl_any, kf_wqe, kf_send,
	kf_atomic, kf_take, kf_ctl, kf_poll, kf_file_call, kf_eventfd;
/* memory.c */
kf_run_fn kf_map, kf_unmap, kf_protect, kf_remap, kf_advise, kf_touch;
/* others.c */
kf_run_fn kf_attr, kf_nl, kf_nl_join, kf_fabric_new, kf_fabric_del,
	kf_contexts, kf_debugfs, kf_trace, kf_as, kf_wait, kf_fail, kf_child;

#endif /* KFUZZ_STATE_H */
