/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls, and for each how it is used well: what the sweep starts from.
 */
#ifndef ANGTEST_CALLS_H
#define ANGTEST_CALLS_H

#include "angtest.h"

/**
 * struct state - what the calls work on
 * @dev: device
 * @fd: open file of the device
 * @ctx: file of the context made last, or -1
 * @efd: eventfd
 * @tree: a tree that nobody uses
 * @key: region registered last
 * @pkey: partition of this process
 * @mem: a page
 * @end: of the page before an unmapped one
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
 * struct call - one ioctl, and how to use it well
 * @cmd: number
 * @size: size that is known now
 * @first: first published size, if another
 * @flags: flags it knows
 * @reserved: ranges of reserved bytes, offset and length
 * @on_ctx: of a context's file
 * @needs_domain: answers -ENXIO without a domain
 * @answers: writes to its argument
 * @before: makes the valid request possible
 * @fill: makes a valid request
 * @after: undoes it
 */
struct call {
	unsigned long cmd;
	size_t size;
	size_t first;
	uint32_t flags;
	struct {
		unsigned int off;
		unsigned int len;
	} reserved[2];
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
	call_eventfd;

int state_init(struct state *s);
/* The file that @c is for; and an ioctl on it. */
int state_file(const struct state *s, const struct call *c);
int state_call(struct state *s, const struct call *c, void *arg);
void state_close(struct state *s);

#endif /* ANGTEST_CALLS_H */
