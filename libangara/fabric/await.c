// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations of the adapter in progress.  The cookie of each is the address of
 * its struct afi_await, so a completion leads to its continuation.
 *
 * There are never more in progress than the context has room for, so a
 * multi-part operation is never refused after its first part.
 */
#include <stdlib.h>
#include <string.h>

#include "afi.h"

#define AFI_HARVEST	16	/* completions at a time */

int afi_await_init(struct afi_domain *d)
{
	afi_list_init(&d->awaits);
	d->early = calloc(AFI_AWAITS, sizeof(*d->early));
	return d->early ? 0 : -FI_ENOMEM;
}

/* Is there room for @n operations?  If not, the caller returns -FI_EAGAIN. */
bool afi_await_room(const struct afi_domain *d, u32 n)
{
	return d->awaiting + n <= AFI_AWAITS - AFI_AWAITS_SPARE;
}

/**
 * afi_await() - prepare an operation of the adapter
 * @d: domain, locked
 * @a: its continuation
 * @ended: called when it has ended
 *
 * Return: last argument for the library's call, whose result goes to
 * afi_awaited().
 */
const struct angara_op *afi_await(struct afi_domain *d, struct afi_await *a,
				  afi_ended_fn ended)
{
	a->ended = ended;
	d->how = (struct angara_op){
		.size = sizeof(d->how), .cookie = (uintptr_t)a,
	};
	return &d->how;
}

/* Records whether the operation was started.  Return: @ret */
int afi_awaited(struct afi_domain *d, struct afi_await *a, int ret)
{
	a->live = !ret;
	if (ret)
		return ret;
	afi_list_add(&d->awaits, &a->link);
	d->awaiting++;
	return 0;
}

/* The operation may still end; its end is ignored. */
void afi_await_drop(struct afi_domain *d, struct afi_await *a)
{
	if (!a->live)
		return;
	a->live = false;
	afi_list_del(&a->link);
	d->awaiting--;
}

/*
 * An operation that was dropped, or ended by afi_await_gone(), is not reported
 * again.
 */
static void end(struct afi_domain *d, struct afi_await *a, int err,
		const struct angara_completion *c)
{
	if (!a->live)
		return;
	afi_await_drop(d, a);
	a->ended(d, a, err, c);
}

static void end_all(struct afi_domain *d, const struct angara_completion *c,
		    u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		end(d, (struct afi_await *)(uintptr_t)c[i].cookie,
		    angara_status_errno(c[i].status), &c[i]);
}

/* Completions that afi_await_one() has taken come first. */
static u32 take_early(struct afi_domain *d, struct angara_completion *c)
{
	u32 n = d->num_early < AFI_HARVEST ? d->num_early : AFI_HARVEST;

	memcpy(c, d->early, n * sizeof(*c));
	d->num_early -= n;
	memmove(d->early, d->early + n, d->num_early * sizeof(*c));
	return n;
}

/**
 * afi_harvest() - handle completions of the adapter
 * @d: domain, locked
 *
 * Return: their number; -ENODEV the adapter is gone.
 */
int afi_harvest(struct afi_domain *d)
{
	struct angara_completion c[AFI_HARVEST];
	int n = d->num_early ? (int)take_early(d, c) :
			       angara_poll(d->ctx, c, AFI_HARVEST);

	if (n > 0)
		end_all(d, c, (u32)n);
	return n;
}

/* The adapter is gone: ends all operations in progress. */
void afi_await_gone(struct afi_domain *d)
{
	while (!afi_list_empty(&d->awaits))
		end(d, afi_of(d->awaits.next, struct afi_await, link),
		    -FI_ENODEV, NULL);
}

/**
 * afi_await_one() - wait until one operation has ended
 * @d: domain, locked
 * @a: its continuation
 * @timeout_ms: limit
 *
 * Other completions are left for afi_harvest(), since the caller may be in the
 * middle of a change.
 *
 * Return: 0 it has ended; -ETIMEDOUT; -ENODEV.
 */
int afi_await_one(struct afi_domain *d, const struct afi_await *a,
		  int timeout_ms)
{
	u64 deadline = afi_deadline(timeout_ms);
	struct angara_completion c;
	int ret;

	while (a->live) {
		ret = angara_poll_wait(d->ctx, &c, 1, timeout_ms);
		if (ret < 0)
			return ret;
		if (c.cookie == (uintptr_t)a)
			end_all(d, &c, 1);
		else
			d->early[d->num_early++] = c;
		if (a->live && afi_past(deadline))
			return -ETIMEDOUT;
	}
	return 0;
}
