// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that sleep until an event while collectives by software are in progress; programs
 * that only check for completions.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define ROUNDS	300
#define VALUES	128	/* of 8 bytes: a message that does not fit its descriptor */

/*
 * Each step of a collective raises an event, so no poll(2) times out, though the
 * program calls angara_poll() only after an event.
 */
static bool asleep_until(const struct pending *req)
{
	struct pollfd p = { .events = POLLIN, .fd = angara_ctx_fd(ctx) };
	bool ok = expect("descriptor", p.fd >= 0, 1);

	while (ok && !req->ended) {
		struct angara_completion c;
		int n = angara_poll(ctx, &c, 1);

		if (n > 0)
			pending_end(&c, n);
		else if (!n && !angara_ctx_arm(ctx))
			ok = expect("event", poll(&p, 1, LONG_MS / 4), 1);
		else
			ok = !n || expect("poll", n, 0);
	}
	return ok && expect("status", req->c.status, ANGARA_ST_OK);
}

static bool asleep(void)
{
	const struct angara_team_attr attr = { .size = sizeof(attr),
					       .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_mr *mr = own_region(2 * 8 * VALUES);
	struct angara_team *team;
	struct pending req;
	unsigned int i;
	bool ok;

	ok = expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0);
	if (!ok)
		exit(1);
	for (i = 0; ok && i < ROUNDS; i++) {
		pending_op(&req);
		ok = expect("barrier", angara_barrier_nbi(team, &req.op), 0) &&
		     asleep_until(&req);
		pending_op(&req);
		ok = ok && expect("allreduce", angara_allreduce_nbi(team, mr, 8 * VALUES,
				  mr, 0, VALUES, ANGARA_TYPE_UINT64, ANGARA_RED_SUM,
				  &req.op), 0) && asleep_until(&req);
	}
	angara_free(mr);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/*
 * If a link loses a packet, its router has to send the packet again.  Members that only check, with
 * a timeout of 0, advance the router.
 */
static bool checked(void)
{
	struct angara_team *team;
	struct pending req;
	unsigned int i;
	bool ok;

	ok = expect("team", angara_team_create(job, ctx, NULL, 0, NULL, &team), 0);
	if (!ok)
		exit(1);
	for (i = 0; ok && i < ROUNDS; i++) {
		unsigned int checks = LONG_MS;
		int ret;

		pending_op(&req);
		ok = expect("barrier", angara_barrier_nbi(team, &req.op), 0);
		while (ok && (ret = pending_wait(ctx, &req, 0)) == -ETIMEDOUT && checks--)
			usleep(100);
		ok = ok && expect("status", ret, 0);
	}
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

const struct part event_parts[] = {
	{ "collectives of programs that only check", checked },
	{ "collectives while the program sleeps", asleep },
	{ NULL, NULL },
};
