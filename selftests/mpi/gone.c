// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions of libangara, called by libangara-mpi, that act as if the device had disappeared, which
 * emulated devices cannot do.  Allreduces fail to start, and a poll returns only completions that
 * libangara makes itself, when it ends the collectives of a team.
 */
#include <dlfcn.h>
#include <errno.h>

#include <angara/angara.h>

#include "gone.h"

int device_gone;		/* accessed atomically */
static int team_left;

static int is_gone(void)
{
	return __atomic_load_n(&device_gone, __ATOMIC_ACQUIRE);
}

int angara_allreduce_nbi(struct angara_team *team, const struct angara_mr *dst,
			 uint64_t dst_off, const struct angara_mr *src,
			 uint64_t src_off, size_t count, unsigned int type,
			 unsigned int op, const struct angara_op *how)
{
	__typeof__(&angara_allreduce_nbi) real =
		dlsym(RTLD_NEXT, "angara_allreduce_nbi");

	return is_gone() ? -ENODEV : real(team, dst, dst_off, src, src_off, count,
					  type, op, how);
}

void angara_team_leave(struct angara_team *team)
{
	__typeof__(&angara_team_leave) real = dlsym(RTLD_NEXT, "angara_team_leave");

	real(team);
	team_left = 1;
}

int angara_poll(struct angara_ctx *ctx, struct angara_completion *out,
		unsigned int n)
{
	__typeof__(&angara_poll) real = dlsym(RTLD_NEXT, "angara_poll");
	int ret = is_gone() && !team_left ? 0 : real(ctx, out, n);

	return !ret && is_gone() ? -ENODEV : ret;
}

int angara_poll_wait(struct angara_ctx *ctx, struct angara_completion *out,
		     unsigned int n, int timeout_ms)
{
	__typeof__(&angara_poll_wait) real = dlsym(RTLD_NEXT, "angara_poll_wait");

	return is_gone() ? angara_poll(ctx, out, n) : real(ctx, out, n, timeout_ms);
}
