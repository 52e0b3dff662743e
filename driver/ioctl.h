/* SPDX-License-Identifier: GPL-2.0-only */
/* Angara adapter: tables of ioctls. */
#ifndef ANG_IOCTL_H
#define ANG_IOCTL_H

#include <linux/ioctl.h>

#include "ang_file.h"

union ang_ioctl_arg {
	struct angara_query query;
	struct angara_domain_create domain_create;
	struct angara_ctx_create ctx_create;
	struct angara_mr_register mr_reg;
	struct angara_mr_deregister mr_dereg;
	struct angara_tree_set tree_set;
	struct angara_tree_get tree_get;
	struct angara_tree_clear tree_clear;
	struct angara_tree_delegate tree_delegate;
	struct angara_tree_verify tree_check;
	struct angara_manage manage;
	struct angara_join join;
	struct angara_kick kick;
	struct angara_eventfd eventfd;
};

/**
 * struct ang_ioctl_op - one ioctl
 * @size: bytes of the argument
 * @min_size: bytes of the argument in its first published version
 * @answers: the argument is copied back to the caller
 * @enters: @execute enters the device by itself
 * @execute: executes the ioctl; called with the device entered unless @enters
 */
struct ang_ioctl_op {
	size_t size;
	size_t min_size;
	bool answers;
	bool enters;
	int (*execute)(struct ang_ucmd *ucmd, void *arg);
};

/*
 * @_last: last member of the first published version of @_struct.  This member
 * never changes.
 */
#define ANG_IOCTL_OP(_ioctl, _fn, _struct, _last, _answers, ...)	\
	[_IOC_NR(_ioctl)] = {						\
		.size = sizeof(_struct) +				\
			BUILD_BUG_ON_ZERO(sizeof(union ang_ioctl_arg) <	\
					  sizeof(_struct)),		\
		.min_size = offsetofend(_struct, _last),		\
		.answers = _answers,					\
		.execute = _fn,						\
		__VA_ARGS__						\
	}

long ang_ioctl_call(struct ang_ucmd *ucmd, unsigned int cmd,
		    const struct ang_ioctl_op *ops, size_t num);

#endif /* ANG_IOCTL_H */
