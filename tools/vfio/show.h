/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers to those who look at a server: netlink messages about its nodes.
 */
#ifndef ANGARA_VFIO_SHOW_H
#define ANGARA_VFIO_SHOW_H

#include <stdio.h>
#include <netlink/genl/genl.h>

#include "card.h"

/**
 * struct show - a request, and where its answer goes
 * @fabric: what it is about
 * @out: socket
 * @msg: the request, whole
 * @command: ANGARA_CMD_*
 * @attr: its attributes, of the right sizes, by ANGARA_A_*
 */
struct show {
	struct fabric *fabric;
	FILE *out;
	const struct nlmsghdr *msg;
	u8 command;
	struct nlattr **attr;
};

int show_send(struct show *s, struct nl_msg *msg);
int show_end(struct show *s, int error, const char *why);
int show_answer(struct show *s);

#endif /* ANGARA_VFIO_SHOW_H */
