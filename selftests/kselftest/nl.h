/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family's data on devices, trees and contexts; by raw
 * sockets, so that tests need no library.
 *
 * Functions return 0 or -errno.
 */
#ifndef ANGTEST_NL_H
#define ANGTEST_NL_H

#include <stdbool.h>
#include <linux/angara_nl.h>

/* Attributes of an object's location, with the same numbers in each set. */
enum {
	AT_NL_DEV = ANGARA_A_TREE_DEV,
	AT_NL_NODE = ANGARA_A_TREE_NODE,
	AT_NL_FABRIC = ANGARA_A_TREE_FABRIC,
	AT_NL_ID = ANGARA_A_TREE_ID,
};

#define AT_NL_ATTRS	32	/* more attributes than any set has */

/**
 * struct at_nl_obj - an object
 * @cmd: command that returned it
 * @has: attributes that it has, by number
 * @val: their values
 * @cnt: its counters, by number of their attribute, ANGARA_A_*_COUNTER_*
 */
struct at_nl_obj {
	unsigned int cmd;
	unsigned int has[AT_NL_ATTRS];
	unsigned long long val[AT_NL_ATTRS];
	unsigned long long cnt[AT_NL_ATTRS];
};

typedef void (*at_nl_fn)(void *arg, const struct at_nl_obj *obj);

/* Return: number of the family, or -errno. */
int at_nl_family(void);
/* Passes all objects of a command to @fn. */
int at_nl_dump(unsigned int cmd, at_nl_fn fn, void *arg);
int at_nl_dev(unsigned int dev, struct at_nl_obj *obj);
int at_nl_tree(unsigned int dev, unsigned int tree, struct at_nl_obj *obj);
int at_nl_ctx(unsigned int dev, unsigned int ctx, struct at_nl_obj *obj);
/* Sends a command that changes a tree, without further attributes. */
int at_nl_tree_cmd(unsigned int cmd, unsigned int dev, unsigned int tree);

/* A numeric attribute of @size bytes. */
struct at_nl_attr {
	unsigned int type;
	unsigned int size;
	unsigned long long val;
};

/* Requests one object, by a request of @n attributes. */
int at_nl_get(unsigned int cmd, const struct at_nl_attr *attrs, unsigned int n,
	      struct at_nl_obj *obj);
/* Sends a request of @n attributes; discards the answer. */
int at_nl_ask(unsigned int cmd, bool dump, const struct at_nl_attr *attrs,
	      unsigned int n);

/* Opens a socket in a multicast group. Return: socket or -errno. */
int at_nl_listen(const char *group);
/* Waits for the next event; -EAGAIN if none arrives. */
int at_nl_hear(int fd, struct at_nl_obj *obj);

/* Rows that are set, and trees delegated, over all devices. */
struct at_trees {
	unsigned long long rows;
	unsigned long long delegated;
};

int at_trees(struct at_trees *trees);

/* Objects that programs hold, over all devices. */
struct at_usage {
	unsigned long long contexts;
	unsigned long long mrs;
	unsigned long long pinned;
};

int at_usage(struct at_usage *use);
/* Waits until programs hold at most @want. Return: 0 or -ETIMEDOUT. */
int at_usage_wait(const struct at_usage *want, unsigned int ms);

#endif /* ANGTEST_NL_H */
