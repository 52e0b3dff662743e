/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls, with a valid call of each: the base of the sweeps.
 */
#ifndef ANGTEST_CALLS_H
#define ANGTEST_CALLS_H

#include "angtest.h"

/**
 * struct state - objects that the calls use
 * @dev: device
 * @fd: open file of the device
 * @ctx: file of the newest context, or -1
 * @efd: eventfd
 * @tree: an unused tree
 * @key: newest region
 * @pkey: partition of this process
 * @mem: a page
 * @end: end of that page; the next page is unmapped
 */
struct state {
	unsigned int dev;
	int fd;
	int ctx;
	int efd;
	unsigned int tree;
	uint64_t key;
	unsigned int pkey;
	void *mem;
	char *end;
};

/**
 * struct call - one ioctl, and a valid call of it
 * @cmd: number
 * @size: current size
 * @first: first published size, if it differs
 * @flags: known flags
 * @reserved: ranges of reserved bytes, offset and length
 * @on_ctx: the call is for a context's file
 * @needs_domain: returns -ENXIO without a domain
 * @answers: writes to its argument
 * @before: prepares the valid request
 * @fill: makes a valid request
 * @after: undoes the request
 */
struct call {
	unsigned long cmd;
	size_t size;
	size_t first;
	uint32_t flags;
	struct {
		unsigned int off;
		unsigned int len;
	} reserved[3];
	bool on_ctx;
	bool needs_domain;
	bool answers;
	int (*before)(struct state *s);
	void (*fill)(struct state *s, void *buf);
	int (*after)(struct state *s, const void *buf);
};

extern const struct call call_query, call_domain_create, call_ctx_create, call_mr_reg,
	call_mr_dereg, call_tree_set, call_tree_get, call_tree_clear,
	call_tree_delegate, call_tree_check, call_join, call_leave, call_kick,
	call_eventfd, call_manage;

int state_init(struct state *s);
/* state_file() returns the file that @c is for; state_call() makes the call. */
int state_file(const struct state *s, const struct call *c);
int state_call(struct state *s, const struct call *c, void *arg);
void state_close(struct state *s);

#endif /* ANGTEST_CALLS_H */
