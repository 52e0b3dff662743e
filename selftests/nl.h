/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the generic netlink family tells of devices, trees and contexts; raw
 * sockets, so that a test needs no library for it.
 *
 * Functions return 0 or -errno.
 */
#ifndef ANGTEST_NL_H
#define ANGTEST_NL_H

#include <stdbool.h>
#include <linux/angara_nl.h>

#include "ang_hw.h"

/* An object: numbers by attribute, and its counters. */
struct at_nl_obj {
	unsigned int has[ANGARA_A_MAX + 1];
	unsigned long long val[ANGARA_A_MAX + 1];
	union {
		struct angara_hw_node_counters node;
		struct angara_hw_link_counters link;
		struct angara_hw_tree_counters tree;
		struct angara_hw_ctx_counters ctx;
	} cnt;
};

typedef void (*at_nl_fn)(void *arg, const struct at_nl_obj *obj);

/* Number of the family, or -errno. */
int at_nl_family(void);
/* All objects that a command gives. */
int at_nl_dump(unsigned int cmd, at_nl_fn fn, void *arg);
int at_nl_dev(unsigned int dev, struct at_nl_obj *obj);
int at_nl_tree(unsigned int dev, unsigned int tree, struct at_nl_obj *obj);
int at_nl_ctx(unsigned int dev, unsigned int ctx, struct at_nl_obj *obj);
/* A command that changes a tree, with ANGARA_A_DEV and ANGARA_A_TREE only. */
int at_nl_tree_cmd(unsigned int cmd, unsigned int dev, unsigned int tree);

/* A number, of @size bytes. */
struct at_nl_attr {
	unsigned int type;
	unsigned int size;
	unsigned long long val;
};

/* Any request, of @n attributes; what it answers is left aside. */
int at_nl_ask(unsigned int cmd, bool dump, const struct at_nl_attr *attrs,
	      unsigned int n);

/* A socket in the group of that name, or -errno. */
int at_nl_listen(const char *group);
/* Waits for the next event; -EAGAIN if none comes. */
int at_nl_hear(int fd, struct at_nl_obj *obj);

/* Rows that are set, and trees delegated, over all devices. */
struct at_trees {
	unsigned long long rows;
	unsigned long long delegated;
};

int at_trees(struct at_trees *trees);

/* What programs hold, over all devices. */
struct at_usage {
	unsigned long long contexts;
	unsigned long long mrs;
	unsigned long long pinned;
};

int at_usage(struct at_usage *use);
/* Waits until nothing more than @want is held; -ETIMEDOUT. */
int at_usage_wait(const struct at_usage *want, unsigned int ms);

#endif /* ANGTEST_NL_H */
