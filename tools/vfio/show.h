/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers to queries of a server: netlink messages about its nodes.
 */
#ifndef ANGARA_VFIO_SHOW_H
#define ANGARA_VFIO_SHOW_H

#include <stdio.h>
#include <netlink/genl/genl.h>

#include "ang_nl_attrs.h"
#include "card.h"

/**
 * struct show - a request, and the destination of its answer
 * @fabric: subject of the request
 * @out: socket
 * @msg: the request, whole
 * @command: ANGARA_CMD_*
 * @attr: its attributes, with checked sizes; show_parse() fills this in.  The
 *	array is long enough for each command, since trees have the most attributes
 */
struct show {
	struct fabric *fabric;
	FILE *out;
	const struct nlmsghdr *msg;
	u8 command;
	struct nlattr *attr[ANGARA_A_TREE_MAX + 1];
};

int show_parse(struct show *s);
int show_send(struct show *s, struct nl_msg *msg);
int show_end(struct show *s, int error, const char *why);
int show_answer(struct show *s);

#endif /* ANGARA_VFIO_SHOW_H */
