// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations of the adapter in progress.  The cookie of each is the address of
 * its struct afi_await, so a completion leads to its continuation.
 *
 * At most as many operations are in progress as the context has room for, so an
 * operation of several parts is never refused after its first part.
 */
#include "afi.h"

#define AFI_HARVEST	16	/* completions per call */

void afi_await_init(struct afi_domain *d)
{
	afi_list_init(&d->awaits);
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
 * Return: last argument for the library's call; the caller passes the result of
 * that call to afi_awaited().
 */
const struct angara_op *afi_await(struct afi_domain *d, struct afi_await *a,
				  afi_ended_fn ended)
{
	a->ended = ended;
	d->how = (struct angara_op){
		.size = sizeof(d->how), .cookie = (uintptr_t)a,
		.flags = d->more ? ANGARA_MORE : 0,
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
	d->unrung = d->more;
	return 0;
}

/* Notifies the adapter of operations that were started with FI_MORE. */
void afi_ring(struct afi_domain *d)
{
	if (!d->unrung)
		return;
	d->unrung = false;
	/* Ignore an error: the next call detects that the context is gone. */
	angara_flush(d->ctx);
}

/* Drops a continuation: the end of its operation will be ignored. */
void afi_await_drop(struct afi_domain *d, struct afi_await *a)
{
	if (!a->live)
		return;
	a->live = false;
	afi_list_del(&a->link);
	d->awaiting--;
}

/* Ends a continuation, unless it was dropped, or ended by afi_await_gone(). */
static void await_end(struct afi_domain *d, struct afi_await *a, int err,
		      const struct angara_completion *c)
{
	if (!a->live)
		return;
	afi_await_drop(d, a);
	a->ended(d, a, err, c);
}

/**
 * afi_harvest() - handle completions of the adapter
 * @d: domain, locked
 *
 * Return: number of completions; -ENODEV the adapter is gone.
 */
int afi_harvest(struct afi_domain *d)
{
	struct angara_completion c[AFI_HARVEST];
	int n = angara_poll(d->ctx, c, AFI_HARVEST);
	int i;

	for (i = 0; i < n; i++)
		await_end(d, (struct afi_await *)(uintptr_t)c[i].cookie,
			  angara_status_errno(c[i].status), &c[i]);
	return n;
}

/* The adapter is gone: ends all operations in progress. */
void afi_await_gone(struct afi_domain *d)
{
	while (!afi_list_empty(&d->awaits))
		await_end(d, afi_of(d->awaits.next, struct afi_await, link),
			  -FI_ENODEV, NULL);
}
