// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Probes of peers for which operations wait.
 *
 * The sender of a long message waits until the receiver has fetched it, which
 * may never happen: the adapter does not report the end of a remote context.
 * So while an operation waits for a long time, the provider reads the number of
 * the peer's domain from time to time, and compares it with the one in the
 * addresses of the domain's endpoints.  The read needs no action of the peer.
 * A different number means that another domain uses the context now.  A link
 * that fails is soon routed around, so only several probes in a row without a
 * path end the operation.
 *
 * A peer may have answered before it ended, so messages that have arrived are
 * handled first.
 */
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "msg.h"

/**
 * struct afi_probe - a probe of a peer
 * @peer: peer
 * @await: continuation
 * @ended: the probe has ended, and its result is not used yet
 * @err: result
 */
struct afi_probe {
	struct afi_name peer;
	struct afi_await await;
	bool ended;
	int err;
};

/**
 * struct afi_probes - all probes of a domain
 * @due: time of the next round; 0: no operation waits
 * @round: number of the round; each peer is probed once in a round
 * @flying: number of probes in flight
 * @found: results of the reads
 * @mr: region of @found
 * @probes: array of probes
 */
struct afi_probes {
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
	d->probe_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->probe_fd < 0) {
		free(p);
		return -errno;
	}
	d->probes = p;
	return angara_mr_reg(d->dom, p->found, sizeof(p->found),
			   ANGARA_ACCESS_LOCAL_WRITE, &p->mr);
}

void afi_probe_free(struct afi_domain *d)
{
	if (!d->probes)
		return;
	close(d->probe_fd);
	free(d->probes);
}

static void probe_arm(struct afi_domain *d)
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
	timerfd_settime(d->probe_fd, 0, &at, NULL);
}

/* Marks that the operation waits for an action of its peer. */
void afi_op_expect(struct afi_op *op)
{
	struct afi_domain *d = op->domain;

	op->expects = true;
	op->live++;
	op->probed = d->probes->round;
	d->expecting++;
	if (!d->probes->due)
		probe_arm(d);
}

/* Ends the wait for the peer.  Return: true if the operation waited. */
bool afi_op_unexpect(struct afi_op *op)
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

static void probe_start(struct afi_domain *d, struct afi_probe *probe,
			const struct afi_name *name)
{
	const struct angara_peer peer = afi_peer_of(name);
	struct afi_probes *p = d->probes;
	u32 i = (u32)(probe - p->probes);

	probe->peer = *name;
	p->found[i] = 0;
	/*
	 * If the read cannot be started, the adapter is gone, and end_all() ends
	 * the operations that wait.
	 */
	afi_awaited(d, &probe->await, angara_get_nbi(
		d->ctx, peer, AFI_DIR_KEY, AFI_DIR_ID * sizeof(*d->dir_mem),
		p->mr, i * sizeof(*p->found), sizeof(*p->found),
		afi_await(d, &probe->await, probe_ended)));
	p->flying += probe->await.live;
}

static struct afi_probe *probe_idle(struct afi_probes *p)
{
	u32 i;

	for (i = 0; i < AFI_LOOKS; i++)
		if (!p->probes[i].await.live && !p->probes[i].ended)
			return &p->probes[i];
	return NULL;
}

/*
 * Probes the peers that were not probed in this round.  Return: false: there was
 * no room for all of them.
 */
static bool probe_look(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	struct afi_link *link, *other;

	for (link = d->ops.next; link != &d->ops; link = link->next) {
		const struct afi_op *op = afi_of(link, struct afi_op, link);
		struct afi_probe *probe;

		if (!op->expects || op->probed == p->round)
			continue;
		probe = afi_await_room(d, 1) ? probe_idle(p) : NULL;
		if (!probe)
			return false;
		probe_start(d, probe, &op->peer);
		for (other = link; other != &d->ops; other = other->next) {
			struct afi_op *o = afi_of(other, struct afi_op, link);

			if (same_domain(&o->peer, &op->peer))
				o->probed = p->round;
		}
	}
	return true;
}

/*
 * Uses the result of a probe.  @err: 0 the peer is there; -FI_ENETUNREACH there is no
 * path to the peer now; other errors: the peer is gone.  Return: true if the error of
 * an operation was reported.
 */
static bool probe_found(struct afi_domain *d, const struct afi_name *peer, int err)
{
	struct afi_link *link, *next;
	bool any = false;

	if (err)
		AFI_INFO(EP_DATA, "context %u of node %u is %s\n", peer->ctx, peer->node,
			 err == -FI_ENETUNREACH ? "out of reach" : "gone");
	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (!op->expects || !same_domain(&op->peer, peer))
			continue;
		op->missed = err ? op->missed + 1 : 0;
		if (!err || (err == -FI_ENETUNREACH && op->missed != AFI_PROBE_MISSES))
			continue;
		/* Report the error; a copy that the peer may still read keeps its buffer. */
		op->live++;
		d->up->op_sent(op, err, NULL);
		any = true;
	}
	return any;
}

static bool probe_judge(struct afi_domain *d)
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
		if (probe->err != -FI_ENETUNREACH &&
		    (probe->err || p->found[i] != afi_serial_domain(probe->peer.serial)))
			probe->err = -FI_EHOSTUNREACH;
		any |= probe_found(d, &probe->peer, probe->err);
	}
	return any;
}

/* Ends all operations that wait: the device is gone, and no probe can end. */
static bool end_all(struct afi_domain *d)
{
	struct afi_link *link, *next;
	bool any = false;

	for (link = d->ops.next; link != &d->ops; link = next) {
		struct afi_op *op = afi_of(link, struct afi_op, link);

		next = link->next;
		if (op->expects) {
			op->domain->up->op_came(op, -FI_ENODEV);
			any = true;
		}
	}
	return any;
}

/**
 * afi_probe() - probe peers and repeat answers, if it is time
 * @d: domain, locked, whose events have all been handled
 *
 * Return: true if an operation has ended, or an answer can be repeated.
 */
bool afi_probe(struct afi_domain *d)
{
	struct afi_probes *p = d->probes;
	bool any = false;

	if (d->expecting && d->dead)
		any = end_all(d);
	/* Messages that are not handled yet may be answers. */
	if (p->flying && !d->has_held)
		any |= probe_judge(d);
	if (p->due && afi_past(p->due)) {
		u64 times;

		/*
		 * Clear the timer, so that its descriptor is not readable until
		 * the timer is armed again.
		 */
		if (read(d->probe_fd, &times, sizeof(times)) < 0)
			times = 0;
		p->due = 0;
		any |= d->cut;
		if (d->cut)
			afi_send_again(d);
		if (d->expecting) {
			p->round += probe_look(d);
			probe_arm(d);
		}
	}
	if (d->cut && !p->due)
		probe_arm(d);
	d->probing = p->due || p->flying;
	return any;
}
