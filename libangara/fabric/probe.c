// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peers that are waited for.
 *
 * Whoever has sent a long message waits until the receiver has fetched it, and
 * that may never be: the adapter tells nobody that a context has ended.  So
 * while something has waited for long the peer's domain is looked at, now and
 * then, by a read of its number, which its endpoints have in their addresses.
 * The peer does nothing for that, and its context may be another's by now.
 *
 * A peer that is gone may have answered before: what has arrived counts first.
 */
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "msg.h"

/**
 * struct afi_probe - a look at a peer
 * @peer: peer
 * @await: for its end
 * @ended: it has, and nothing has been made of that yet
 * @err: how
 */
struct afi_probe {
	struct afi_name peer;
	struct afi_await await;
	bool ended;
	int err;
};

/**
 * struct afi_probes - all looks of a domain
 * @timer: timerfd, which wakes who sleeps when @due
 * @due: time of the next look; 0: nobody waits
 * @round: of looks, in which each peer has its turn
 * @flying: number of looks under way
 * @found: what they read
 * @mr: region of that
 * @probes: they
 */
struct afi_probes {
	int timer;
	u64 due;
	u32 round;
	u32 flying;
	u64 found[AFI_LOOKS];
	struct angara_mr *mr;
	struct afi_probe probes[AFI_LOOKS];
};

int afi_probe_init(struct afi_domain *d)
{
	struct afi_probes *p = calloc(1, sizeof(*p));

	if (!p)
		return -FI_ENOMEM;
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->timer < 0) {
		free(p);
		return -errno;
	}
	d->probes = p;
	return afi_low_reg(d, p->found, sizeof(p->found),
			   ANGARA_ACCESS_LOCAL_WRITE, &p->mr);
}

void afi_probe_free(struct afi_domain *d)
{
	if (!d->probes)
		return;
	close(d->probes->timer);
	free(d->probes);
}

/* Readable when somebody has to call afi_progress(). */
int afi_probe_fd(const struct afi_domain *d)
{
	return d->probes->timer;
}

static void arm(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	const struct itimerspec at = {
		.it_value = {
			.tv_sec = AFI_PROBE_MS / 1000,
			.tv_nsec = AFI_PROBE_MS % 1000 * 1000000L,
		},
	};

	d->probing = true;
	p->due = afi_deadline(AFI_PROBE_MS);
	timerfd_settime(p->timer, 0, &at, NULL);
}

/* From now on the operation waits for something that its peer does. */
void afi_op_expect(struct afi_op *op)
{
	struct afi_domain *d = op->domain;

	op->expects = true;
	op->live++;
	op->probed = d->probes->round;
	d->expecting++;
	if (!d->probes->due)
		arm(d);
}

/* Return: did it wait for its peer?  It does no longer. */
bool afi_op_relent(struct afi_op *op)
{
	if (!op->expects)
		return false;
	op->expects = false;
	op->live--;
	op->domain->expecting--;
	return true;
}

static bool same_domain(const struct afi_name *a, const struct afi_name *b)
{
	return a->node == b->node && a->ctx == b->ctx &&
	       afi_serial_domain(a->serial) == afi_serial_domain(b->serial);
}

static void probe_ended(struct afi_domain *d, struct afi_await *a, int err,
			const struct angara_completion *c)
{
	struct afi_probe *probe = afi_of(a, struct afi_probe, await);

	(void)d;
	(void)c;
	probe->ended = true;
	probe->err = err;
}

static void start(struct afi_domain *d, struct afi_probe *probe,
		  const struct afi_name *name)
{
	const struct angara_peer peer = { .node = name->node, .ctx = name->ctx };
	struct afi_probes *p = d->probes;
	u32 i = (u32)(probe - p->probes);

	probe->peer = *name;
	p->found[i] = 0;
	/* If the adapter is gone, who waits is told so by others. */
	afi_awaited(d, &probe->await, angara_get_nbi(
		d->ctx, peer, AFI_DIR_KEY, AFI_DIR_ID * sizeof(*d->dir_mem),
		p->mr, i * sizeof(*p->found), sizeof(*p->found),
		afi_await(d, &probe->await, probe_ended)));
	p->flying += probe->await.live;
}

static struct afi_probe *idle(struct afi_probes *p)
{
	u32 i;

	for (i = 0; i < AFI_LOOKS; i++)
		if (!p->probes[i].await.live && !p->probes[i].ended)
			return &p->probes[i];
	return NULL;
}

/* Starts a look at each peer whose turn it is.  Return: was there any? */
static bool look(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	struct afi_link *link, *other;
	bool any = false;

	for (link = d->ops.next; link != &d->ops; link = link->next) {
		const struct afi_op *op = afi_of(link, struct afi_op, link);
		struct afi_probe *probe;

		if (!op->expects || op->probed == p->round)
			continue;
		any = true;
		probe = afi_await_room(d, 1) ? idle(p) : NULL;
		if (!probe)
			break;
		start(d, probe, &op->peer);
		for (other = link; other != &d->ops; other = other->next) {
			struct afi_op *o = afi_of(other, struct afi_op, link);

			if (same_domain(&o->peer, &op->peer))
				o->probed = p->round;
		}
	}
	return any;
}

static void give_up(struct afi_domain *d, const struct afi_name *peer)
{
	struct afi_link *link, *next;

	AFI_INFO(EP_DATA, "context %u of node %u is gone\n", peer->ctx,
		 peer->node);
	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (op->expects && same_domain(&op->peer, peer))
			afi_op_came(op, -FI_EHOSTUNREACH);
	}
}

static bool judge(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	bool any = false;
	u32 i;

	for (i = 0; i < AFI_LOOKS; i++) {
		struct afi_probe *probe = &p->probes[i];

		if (!probe->ended)
			continue;
		probe->ended = false;
		p->flying--;
		if (!probe->err && p->found[i] == afi_serial_domain(probe->peer.serial))
			continue;
		any = true;
		give_up(d, &probe->peer);
	}
	return any;
}

/* Of a device that is gone nobody learns anything. */
static bool end_all(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (op->expects) {
			afi_op_came(op, -FI_ENODEV);
			any = true;
		}
	}
	return any;
}

/**
 * afi_probe() - look at peers, if it is time
 * @d: domain, locked, which has taken in all that there was
 *
 * Return: has anything ended?
 */
bool afi_probe(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	bool any = false;

	if (d->expecting && d->dead)
		any = end_all(d);
	/* Messages that have not been taken in may be answers. */
	if (p->flying && !d->has_held)
		any |= judge(d);
	if (p->due && afi_past(p->due)) {
		u64 times;

		/* Quiet, until it is armed again. */
		if (read(p->timer, &times, sizeof(times)) < 0)
			times = 0;
		p->due = 0;
		if (d->expecting) {
			p->round += !look(d);
			arm(d);
		}
	}
	d->probing = p->due || p->flying;
	return any;
}
