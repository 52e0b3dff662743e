// SPDX-License-Identifier: GPL-2.0-only
/*
 * The servers of a torus: their nodes, state and loss.
 *
 * Every server has links with all other servers. A server that loses a peer
 * reports this to the remaining servers, which then drop that peer, too: so all
 * remaining servers reach each other.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "tls.h"

#define IN_BYTES	(2U * (WIRE_MAX_BODY + (u32)sizeof(struct wire_head)))
#define OUT_BYTES	(WIRE_MAX_BODY + (u32)sizeof(struct wire_head))

u64 peer_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/** peer_wake() - wake a peer's thread for new work */
void peer_wake(struct peer *p)
{
	const u64 one = 1;

	if (!ang_xchg(&p->notified, 1) && write(p->wake, &one, sizeof(one)) < 0)
		say("peer %s: %s", p->addr.name, strerror(errno));
}

/** peers_wake() - wake the threads of all peers; the caller holds the lock */
void peers_wake(struct peers *ps)
{
	u32 i;

	for (i = 0; i < ps->num; i++)
		peer_wake(ps->peer[i]);
}

/** peer_index() - the index of a peer in peers.peer */
u32 peer_index(const struct peer *p)
{
	u32 i = 0;

	while (p->all->peer[i] != p)
		i++;
	return i;
}

/**
 * peers_notify() - wake the thread of a peer: the model has work for a remote node
 * @ps: peers
 * @node: remote node, or a switch that its server keeps
 *
 * Context: any thread that runs the model.
 */
void peers_notify(struct peers *ps, u32 node)
{
	u32 keeper = ang_topo_keeper(&ps->cfg.topo, node);
	u32 owner = ang_load_acquire(&ps->owner[keeper]);

	if (owner)
		peer_wake(ps->peer[owner - 1]);
}

/** peers_fail() - record the first error, which peers_wait() reports */
void peers_fail(struct peers *ps, const char *who, const char *what)
{
	pthread_mutex_lock(&ps->lock);
	if (!ps->failed[0])
		snprintf(ps->failed, sizeof(ps->failed), "peer %s %s", who, what);
	pthread_cond_broadcast(&ps->change);
	pthread_mutex_unlock(&ps->lock);
}

/** peers_hello() - fill in the hello of this server */
void peers_hello(struct peers *ps, struct hello *h)
{
	pthread_mutex_lock(&ps->lock);
	*h = (struct hello){
		.self = ps->self,
		.cfg = ps->cfg,
		.nodes = (bool *)ps->host.ours,
		.num_nodes = ps->num_nodes,
		.era = READ_ONCE(ps->host.mem->lost),
		.fabric_id = ps->whole ? ps->host.mem->cfg.fabric_id : 0,
		.lost = wire_nodes(ps->lost, ps->num_nodes),
	};
	pthread_mutex_unlock(&ps->lock);
}

/* The nodes of a set as text, such as "0-3,7". */
static void list(const bool *nodes, u32 num, char *text, size_t size)
{
	size_t at = 0;
	u32 i, last;

	text[0] = 0;
	for (i = 0; i < num && at + 24 < size; i = last + 1) {
		for (last = i; last + 1 < num && nodes[i] && nodes[last + 1];
		     last++)
			;
		if (!nodes[i])
			continue;
		at += (size_t)snprintf(text + at, size - at, "%s%u",
				       at ? "," : "", i);
		if (last > i)
			at += (size_t)snprintf(text + at, size - at, "-%u",
					       last);
	}
}

/*
 * While this server starts: can @h be the hello of @p?  @p: NULL: of a server that
 * has dialled this one.  Return: NULL, or the error.  Caller holds the lock.
 */
static const char *hello_flaw(struct peers *ps, const struct peer *p,
			      const struct hello *h)
{
	u32 i;

	if (h->self == ps->self)
		return "is this server itself";
	for (i = 0; i < ps->num; i++)
		if (ps->peer[i] != p && ps->peer[i]->other == h->self)
			return "is already linked: name it once";
	for (i = 0; i < ps->num_nodes; i++)
		if (h->nodes[i] && ps->host.ours[i])
			return "has nodes of this server: give each server its own --only";
	for (i = 0; i < ps->num_nodes; i++)
		if (h->nodes[i] && ps->owner[i])
			return "has nodes of another server: give each server its own --only";
	return !h->fabric_id && rejoin_runs(ps) ? rejoin_later : NULL;
}

/* Caller holds the lock. */
static void take_nodes(struct peer *p, const struct hello *h)
{
	struct peers *ps = p->all;
	u32 index = peer_index(p);
	u32 i;

	p->other = h->self;
	memcpy(p->nodes, h->nodes, ps->num_nodes * sizeof(*p->nodes));
	for (i = 0; i < ps->num_nodes; i++)
		if (h->nodes[i])
			ang_store_release(&ps->owner[i], index + 1);
	rejoin_known(p, h);
}

/**
 * peer_meet() - process the hello of a server that this server dialled. Return:
 * NULL or the flaw
 */
const char *peer_meet(struct peer *p, const struct hello *h)
{
	const char *flaw;

	pthread_mutex_lock(&p->all->lock);
	flaw = hello_flaw(p->all, p, h);
	if (!flaw)
		take_nodes(p, h);
	pthread_mutex_unlock(&p->all->lock);
	return flaw;
}

/* Caller holds the lock. */
static void whole(struct peers *ps)
{
	u64 id = ps->self;
	u32 i;

	for (i = 0; i < ps->num; i++)
		if (ps->peer[i]->met && ps->peer[i]->other < id)
			id = ps->peer[i]->other;
	/* All servers compute the same id; the model has not run yet. */
	ps->host.mem->cfg.fabric_id = id;
	ang_store_release(&ps->whole, true);
	peers_wake(ps);
	pthread_cond_broadcast(&ps->change);
}

/**
 * peers_look() - update the state after a change of connections
 * @ps: peers; the caller holds the lock
 */
void peers_look(struct peers *ps)
{
	bool any = false;
	u32 i;

	if (ps->whole)
		return;
	for (i = 0; i < ps->num_nodes; i++) {
		const struct peer *p = ps->owner[i] ?
				       ps->peer[ps->owner[i] - 1] : NULL;

		ps->missing[i] = !p || !p->met || p->gone;
		any |= ps->missing[i] && !ps->host.ours[i];
	}
	if (rejoin_runs(ps))
		rejoin_look(ps, ps->missing);
	else if (!any)
		whole(ps);
}

/** peer_up() - mark a connection as up; both sides have agreed */
void peer_up(struct peer *p)
{
	char nodes[64];
	bool first;

	pthread_mutex_lock(&p->all->lock);
	first = !p->met;
	p->met = true;
	peers_look(p->all);
	pthread_mutex_unlock(&p->all->lock);
	list(p->nodes, p->all->num_nodes, nodes, sizeof(nodes));
	say("peer %s: %s nodes %s", p->addr.name,
	    first ? "has" : "reconnected with", nodes);
}

/** peer_lost() - drop a peer, whose nodes are lost; called by the peer's thread */
void peer_lost(struct peer *p, const char *why)
{
	struct peers *ps = p->all;
	u32 index = peer_index(p);
	char text[64];
	u32 i;

	list(p->nodes, ps->num_nodes, text, sizeof(text));
	say("peer %s: nodes %s are gone: it %s", p->addr.name, text, why);
	pthread_mutex_lock(&ps->lock);
	for (i = ps->num_nodes; i--;)
		if (p->nodes[i])
			p->fell = i;
	rejoin_lose(ps, &p->view, p->nodes);
	p->gone = true;
	p->met = false;
	p->other = 0;
	p->tell_lost = 0;
	if (!ps->whole && !ps->failed[0])
		snprintf(ps->failed, sizeof(ps->failed),
			 "peer %s was lost before all servers were connected", p->addr.name);
	pthread_cond_broadcast(&ps->change);
	for (i = 0; i < ps->num; i++) {
		if (i == index || ps->peer[i]->gone || !ps->peer[i]->met)
			continue;
		ps->peer[i]->tell_lost |= 1ULL << index;
		peer_wake(ps->peer[i]);
	}
	pthread_mutex_unlock(&ps->lock);
}

/**
 * peer_heard_lost() - process a peer's report that it has lost a third server
 * @p: peer
 * @node: node of that server
 * @era: era that began with the loss.  If the present server of the node joined
 *	later, the report is about an earlier server, and is ignored
 */
void peer_heard_lost(struct peer *p, u32 node, u32 era)
{
	struct peers *ps = p->all;
	struct peer *q;

	pthread_mutex_lock(&ps->lock);
	if (node < ps->num_nodes && ps->owner[node]) {
		q = ps->peer[ps->owner[node] - 1];
		if (q != p && !q->gone && ang_later(era, q->born)) {
			snprintf(q->doom, sizeof(q->doom),
				 "is no longer reachable from %s", p->addr.name);
			peer_wake(q);
		}
	}
	pthread_mutex_unlock(&ps->lock);
}

static void peer_free(struct peer *p)
{
	stream_free(p->handed);
	free(p->handed_nodes);
	if (p->wake >= 0)
		close(p->wake);
	link_free(&p->link);
	free(p->nodes);
	free(p->out);
	free(p->in);
	free(p->scratch);
	free(p);
}

/** peer_new() - make a peer and its thread; caller holds the lock. Return: peer or NULL */
struct peer *peer_new(struct peers *ps, const struct address *addr, bool dials)
{
	struct peer *p = ps->num < PEERS_MAX ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->all = ps;
	p->addr = *addr;
	p->dials = dials;
	p->since = peer_ms();
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->nodes = calloc(ps->num_nodes, sizeof(*p->nodes));
	p->out = malloc(OUT_BYTES);
	p->in = malloc(IN_BYTES);
	p->scratch = calloc(ps->num_nodes, sizeof(*p->scratch));
	p->handed_nodes = calloc(ps->num_nodes, sizeof(*p->handed_nodes));
	ang_view_init(&p->view, ps->host.mem, ps->host.ops, ps->host.host);
	/* Store the peer before its thread starts: the thread may search for the peer here. */
	ps->peer[ps->num] = p;
	if (p->wake < 0 || !p->nodes || !p->out || !p->in || !p->scratch ||
	    !p->handed_nodes ||
	    pthread_create(&p->thread, NULL, peer_main, p)) {
		ps->peer[ps->num] = NULL;
		peer_free(p);
		return NULL;
	}
	ps->num++;
	return p;
}

static struct peer *find(struct peers *ps, u64 self)
{
	u32 i;

	for (i = 0; i < ps->num; i++)
		if (ps->peer[i]->other == self)
			return ps->peer[i];
	return NULL;
}

/*
 * Return: a peer that this server does not dial and that is unused, or a new peer; NULL: too
 * many peers, or no memory.
 */
static struct peer *vacant(struct peers *ps, const struct address *from)
{
	u32 i, k;

	for (i = 0; i < ps->num; i++) {
		struct peer *p = ps->peer[i];

		for (k = 0; k < ps->num_nodes && !p->nodes[k]; k++)
			;
		if (k == ps->num_nodes && !p->dials && !p->other && !p->handed) {
			p->addr = *from;
			return p;
		}
	}
	return peer_new(ps, from, false);
}

/* Caller holds the lock. */
static const char *admit(struct peers *ps, struct hello *h, struct stream *s,
			 const struct address *from)
{
	struct peer *p = find(ps, h->self);
	const char *flaw;

	if (p && p->dials)
		return "is already linked: name it once";
	if (!p) {
		if (h->other)
			return h->other == ps->self ?
			       "was declared lost: restart it" :
			       "was linked with an earlier server here";
		flaw = ps->whole ? rejoin_admit(ps, h, &p) : hello_flaw(ps, NULL, h);
		if (flaw)
			return flaw;
		if (!p)
			p = vacant(ps, from);
		if (!p)
			return "exceeds the number of peers";
		if (ps->whole)
			p->gone = true;
		else
			take_nodes(p, h);
	}
	stream_free(p->handed);
	p->handed = s;
	p->handed_hello = *h;
	p->handed_hello.nodes = p->handed_nodes;
	memcpy(p->handed_nodes, h->nodes, ps->num_nodes * sizeof(*h->nodes));
	peer_wake(p);
	return NULL;
}

/**
 * peers_admit() - admit a server that has dialled and sent its hello
 * @ps: peers
 * @h: hello
 * @s: connection; owned by this function if it succeeds
 * @from: its address
 *
 * Return: NULL, or the error.
 */
const char *peers_admit(struct peers *ps, struct hello *h, struct stream *s,
			const struct address *from)
{
	const char *flaw;

	pthread_mutex_lock(&ps->lock);
	flaw = admit(ps, h, s, from);
	pthread_mutex_unlock(&ps->lock);
	return flaw;
}

/**
 * peers_wait() - wait until every node belongs to a connected server
 * @ps: peers
 * @ms: how long to wait
 *
 * Return: 1: yes; 0: not yet; -1: never, after a message.
 */
int peers_wait(struct peers *ps, u32 ms)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&ps->lock);
	while (!ret && !ps->whole && !ps->failed[0])
		ret = pthread_cond_timedwait(&ps->change, &ps->lock, &until);
	ret = ps->failed[0] && !ps->whole ? -1 : ps->whole;
	pthread_mutex_unlock(&ps->lock);
	if (ret < 0)
		say("%s", ps->failed);
	return ret;
}

static int dial_all(struct peers *ps, const struct peers_options *o)
{
	struct address addr;
	struct peer *p;
	u32 i;

	for (i = 0; i < o->num_peers; i++) {
		const char *flaw = peers_address(ps, o->peer[i], &addr);

		if (flaw) {
			say("--peer '%s': %s", o->peer[i], flaw);
			return -EINVAL;
		}
		pthread_mutex_lock(&ps->lock);
		p = peer_new(ps, &addr, true);
		pthread_mutex_unlock(&ps->lock);
		if (!p) {
			say("peer '%s': cannot start a thread", o->peer[i]);
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * peers_new() - link with other servers
 * @host: fabric, of which no node has run
 * @o: options of the user
 *
 * Return: peers; NULL after a message.
 */
struct peers *peers_new(const struct peers_host *host,
			const struct peers_options *o)
{
	struct peers *ps = calloc(1, sizeof(*ps));
	struct ang_view v;
	int ret = -ENOMEM;
	u32 i;

	if (!ps)
		return NULL;
	ps->host = *host;
	ps->cfg = host->mem->cfg;
	ps->cfg.topo = ang_fab_topo(host->mem);
	ps->num_nodes = ps->cfg.topo.nodes;
	ps->timeout_ms = o->timeout_s * 1000;
	ps->listener = ps->listener_wake = -1;
	pthread_mutex_init(&ps->lock, NULL);
	pthread_cond_init(&ps->change, NULL);
	ps->owner = calloc(ps->num_nodes, sizeof(*ps->owner));
	ps->lost = calloc(ps->num_nodes, sizeof(*ps->lost));
	ps->missing = calloc(ps->num_nodes, sizeof(*ps->missing));
	ang_view_init(&v, host->mem, host->ops, host->host);
	for (i = 0; i < ps->cfg.topo.routers; i++)
		if (!host->ours[ang_topo_keeper(&ps->cfg.topo, i)])
			ang_remote_set(&v, i);
	if (ps->owner && ps->lost && ps->missing)
		ret = getrandom(&ps->self, sizeof(ps->self), 0) ==
		      sizeof(ps->self) ? 0 : -EIO;
	ps->self |= !ps->self;
	if (!ret && o->key) {
		ps->key = tls_key_load(o->key);
		ret = ps->key ? 0 : -EINVAL;
	}
	if (!ret && o->listen)
		ret = peers_listen_open(ps, o->listen);
	if (!ret)
		ret = dial_all(ps, o);
	if (!ret)
		return ps;
	peers_free(ps);
	return NULL;
}

/** peers_idle() - check that nothing is in flight; for tests, may be outdated at once */
bool peers_idle(struct peers *ps)
{
	bool idle = true;
	u32 i;

	for (i = 0; i < ps->num; i++)
		idle &= ang_load_acquire(&ps->peer[i]->idle) &&
			!ang_load_acquire(&ps->peer[i]->notified) &&
			ang_load_acquire(&ps->peer[i]->idle);
	return idle;
}

/** peers_free() - end all links; the model must not run any more */
void peers_free(struct peers *ps)
{
	const u64 one = 1;
	u32 i;

	ang_store_release(&ps->stop, true);
	if (ps->listens) {
		if (write(ps->listener_wake, &one, sizeof(one)) == sizeof(one))
			pthread_join(ps->listen_thread, NULL);
	}
	for (i = 0; i < ps->num; i++) {
		peer_wake(ps->peer[i]);
		pthread_join(ps->peer[i]->thread, NULL);
	}
	for (i = 0; i < ps->num; i++)
		peer_free(ps->peer[i]);
	if (ps->listener >= 0)
		close(ps->listener);
	if (ps->listener_wake >= 0)
		close(ps->listener_wake);
	pthread_cond_destroy(&ps->change);
	pthread_mutex_destroy(&ps->lock);
	tls_key_free(ps->key);
	free(ps->owner);
	free(ps->lost);
	free(ps->missing);
	free(ps);
}
