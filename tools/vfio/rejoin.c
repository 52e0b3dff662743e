// SPDX-License-Identifier: GPL-2.0-only
/*
 * A new server takes over the nodes of lost servers, while the other servers run.
 *
 * The new server links with all other servers.  Their hellos contain the era of
 * the fabric (ang_fabric.lost) and the set of nodes that are lost.  When the new
 * server is linked with the servers of all nodes that are not lost, it chooses an
 * era later than that of each server, and sends a JOIN to each.  A server that
 * receives a JOIN waits until its nodes have ended all operations that need the
 * lost nodes, begins the era, connects its links to the new server, and answers
 * JOINED.
 *
 * The new server runs no node before every server has answered.  So each server
 * has begun the era before it receives a packet that needs the new nodes.  If a
 * server does not answer, the new server ends; for the servers that have
 * answered, it is then one more lost server.
 *
 * Servers accept one new server at a time.  They close the connection of a second
 * new server, which tries again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/*
 * Most by which an era may be ahead of the current one: ang_later() takes an
 * era that is too far ahead for an earlier one.
 */
#define ERA_STEP	0x10000U

const char rejoin_later[] = "has to wait: its nodes are not lost yet, or another server is joining";

/* The routers that a set of nodes keeps.  Return: list to free; NULL: no memory. */
static u32 *routers(const struct peers *ps, const bool *nodes, u32 *num)
{
	const struct ang_topo *topo = &ps->cfg.topo;
	u32 *list = calloc(topo->routers, sizeof(*list));
	u32 i;

	*num = 0;
	for (i = 0; list && i < topo->routers; i++)
		if (nodes[ang_topo_keeper(topo, i)])
			list[(*num)++] = i;
	return list;
}

/**
 * rejoin_lose() - report nodes to the fabric as lost
 * @ps: peers; the caller holds the lock
 * @view: view of the caller
 * @nodes: the nodes, one bool each
 */
void rejoin_lose(struct peers *ps, struct ang_view *view, const bool *nodes)
{
	const struct ang_topo *topo = &ps->cfg.topo;
	u32 num, i;
	u32 *list = routers(ps, nodes, &num);

	if (list && num)
		ang_remote_lost(view, list, num);
	else if (!list)
		/* Without memory for the list, report the nodes one at a time. */
		for (i = 0; i < topo->routers; i++)
			if (nodes[ang_topo_keeper(topo, i)])
				ang_remote_lost(view, &i, 1);
	free(list);
	for (i = 0; i < ps->num_nodes; i++)
		ps->lost[i] |= nodes[i];
}

static bool same_nodes(const struct peers *ps, const bool *a, const bool *b)
{
	return !memcmp(a, b, ps->num_nodes * sizeof(*a));
}

/**
 * rejoin_admit() - find the peer whose place a new server takes
 * @ps: peers of a fabric that runs; the caller holds the lock
 * @h: hello of the new server
 * @place: out: a lost peer with the same nodes; NULL: none
 *
 * Return: NULL, or the error; rejoin_later: the server may try again.
 */
const char *rejoin_admit(struct peers *ps, const struct hello *h,
		       struct peer **place)
{
	u32 i;

	*place = NULL;
	if (h->fabric_id)
		return "was declared lost, or belongs to another fabric: restart it";
	for (i = 0; i < ps->num_nodes; i++) {
		struct peer *p;

		if (!h->nodes[i])
			continue;
		if (ps->host.ours[i])
			return "has nodes of this server: give each server its own --only";
		if (!ps->owner[i])
			return rejoin_later;
		p = ps->peer[ps->owner[i] - 1];
		if (!ps->lost[i])
			return p->linked ?
			       "has nodes of another server: give each server its own --only" :
			       rejoin_later;
		if (same_nodes(ps, p->nodes, h->nodes))
			*place = p;
	}
	return ps->joining && ps->joining != *place ? rejoin_later : NULL;
}

/**
 * rejoin_fits() - can a server that this server has dialled take the place of @p?
 * @p: lost peer, with the address that was dialled
 * @h: hello of the server
 *
 * Return: NULL, or the error; rejoin_later: try again later.
 */
const char *rejoin_fits(struct peer *p, const struct hello *h)
{
	struct peers *ps = p->all;
	struct peer *place;
	const char *flaw;
	u32 i;

	pthread_mutex_lock(&ps->lock);
	flaw = rejoin_admit(ps, h, &place);
	for (i = 0; i < ps->num_nodes && !flaw; i++)
		if (p->nodes[i] && !h->nodes[i])
			flaw = "has other nodes than the lost server: give it the same --only";
	pthread_mutex_unlock(&ps->lock);
	return flaw;
}

/**
 * rejoin_begin() - let a new server begin to replace a lost peer
 * @p: lost peer whose nodes, if any, are among @nodes
 * @self: number of the new server
 * @nodes: its nodes
 *
 * Return: false if the server has to try again.
 */
bool rejoin_begin(struct peer *p, u64 self, const bool *nodes)
{
	struct peers *ps = p->all;
	u32 index = peer_index(p);
	bool ours = true;
	u32 i;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->num_nodes; i++)
		ours &= !nodes[i] || ps->lost[i];
	ours &= !ps->joining || ps->joining == p;
	if (ours) {
		ps->joining = p;
		p->other = self;
		/* Other lost peers give up these nodes, see rejoin_cede(). */
		for (i = 0; i < ps->num_nodes; i++) {
			if (nodes[i])
				ang_store_release(&ps->owner[i], index + 1);
			p->nodes[i] = nodes[i];
		}
		peers_wake(ps);
	}
	pthread_mutex_unlock(&ps->lock);
	p->join_era = 0;
	return ours;
}

/** rejoin_cancel() - the connection of a new server ended before it joined */
void rejoin_cancel(struct peer *p)
{
	pthread_mutex_lock(&p->all->lock);
	if (p->all->joining == p) {
		p->all->joining = NULL;
		p->other = 0;
	}
	pthread_mutex_unlock(&p->all->lock);
	p->join_era = 0;
}

/**
 * rejoin_cede() - give up lost nodes that another peer has taken
 * @p: lost peer; the caller holds the lock
 *
 * Return: true if the links of @p have to be found again.
 */
bool rejoin_cede(struct peer *p)
{
	struct peers *ps = p->all;
	u32 index = peer_index(p);
	bool ceded = false;
	u32 i;

	for (i = 0; i < ps->num_nodes; i++) {
		if (!p->nodes[i] || ps->owner[i] == index + 1)
			continue;
		p->nodes[i] = false;
		ceded = true;
	}
	if (ceded)
		peers_wake(ps);
	return ceded;
}

/** rejoin_alone() - is @p the only peer whose thread empties the rings of its nodes? */
bool rejoin_alone(struct peer *p)
{
	struct peers *ps = p->all;
	bool alone = true;
	u32 i, k;

	pthread_mutex_lock(&ps->lock);
	for (i = 0; i < ps->num; i++)
		for (k = 0; ps->peer[i] != p && k < ps->num_nodes; k++)
			alone &= !p->nodes[k] || !ps->peer[i]->nodes[k];
	pthread_mutex_unlock(&ps->lock);
	return alone;
}

/** rejoin_asked() - process a JOIN. Return: NULL, or the error */
const char *rejoin_asked(struct peer *p, const void *body)
{
	u32 now = READ_ONCE(p->all->host.mem->lost);
	struct wire_join w;

	memcpy(&w, body, sizeof(w));
	if (p->join_era)
		return "a second JOIN";
	if (w.reserved || !ang_later(le32_to_cpu(w.era), now) ||
	    le32_to_cpu(w.era) - now > ERA_STEP)
		return "a JOIN with an era out of range";
	p->join_era = le32_to_cpu(w.era);
	p->join_lost = le64_to_cpu(w.lost);
	return NULL;
}

/**
 * rejoin_accept() - let the new server join if no operation needs the lost
 * nodes
 * @p: peer of the new server, which has sent a JOIN; its links are empty
 *
 * Return: 1: it has joined; 0: not yet; -1: other servers were lost meanwhile.
 */
int rejoin_accept(struct peer *p)
{
	struct peers *ps = p->all;
	u32 num, i;
	u32 *list;
	int ret = -1;

	if (!ang_remote_settled(&p->view))
		return 0;
	list = routers(ps, p->nodes, &num);
	if (!list)
		return 0;
	pthread_mutex_lock(&ps->lock);
	/* Losses need the lock, so the era cannot change meanwhile. */
	if (ang_later(p->join_era, READ_ONCE(ps->host.mem->lost)) &&
	    p->join_lost == wire_nodes(ps->lost, ps->num_nodes)) {
		ang_remote_back(&p->view, list, num, p->join_era);
		for (i = 0; i < ps->num_nodes; i++)
			ps->lost[i] &= !p->nodes[i];
		p->born = p->join_era;
		p->gone = false;
		p->tell_lost = 0;
		ps->joining = NULL;
		ret = 1;
	}
	pthread_mutex_unlock(&ps->lock);
	free(list);
	p->join_era = 0;
	return ret;
}

/*
 * rejoin_known() - remember what a server's hello says about its fabric; caller
 * holds the lock
 */
void rejoin_known(struct peer *p, const struct hello *h)
{
	struct peers *ps = p->all;
	u32 i;

	p->fabric_id = h->fabric_id;
	p->era = h->era;
	p->lost_set = h->lost;
	/* A server that is starting, too, has to join later: disconnect it. */
	for (i = 0; h->fabric_id && i < ps->num; i++)
		if (ps->peer[i] != p && ps->peer[i]->other &&
		    !ps->peer[i]->fabric_id) {
			ps->peer[i]->part = true;
			peer_wake(ps->peer[i]);
		}
}

/** rejoin_runs() - has this server met a running fabric during its start? */
bool rejoin_runs(const struct peers *ps)
{
	u32 i;

	for (i = 0; i < ps->num; i++)
		if (ps->peer[i]->other && ps->peer[i]->fabric_id)
			return true;
	return false;
}

/**
 * rejoin_look() - start to join if all servers of the fabric are linked
 * @ps: peers; the caller holds the lock
 * @missing: nodes of this server, and nodes without a linked server
 */
void rejoin_look(struct peers *ps, const bool *missing)
{
	u64 lost = wire_nodes(missing, ps->num_nodes);
	u64 id = 0;
	u32 era = 0;
	u32 i;

	if (ps->join_era)
		return;
	for (i = 0; i < ps->num; i++) {
		const struct peer *p = ps->peer[i];

		if (!p->met)
			continue;
		if (p->lost_set != lost || (id && p->fabric_id != id))
			return;
		era = !id || ang_later(p->era, era) ? p->era : era;
		id = p->fabric_id;
	}
	ps->host.mem->cfg.fabric_id = id;
	for (i = 0; i < ps->num_nodes; i++)
		ps->lost[i] = missing[i] && !ps->host.ours[i];
	ps->join_lost = lost;
	/* An era of 0 would mean that this server does not join. */
	ang_store_release(&ps->join_era, era + 1 ? era + 1 : 1);
	peers_wake(ps);
}

/** rejoin_put() - make the JOIN of this server. Return: bytes of the frame */
u32 rejoin_put(struct peers *ps, void *frame)
{
	u32 size;

	pthread_mutex_lock(&ps->lock);
	size = wire_join_put(frame, ps->join_era, ps->join_lost);
	pthread_mutex_unlock(&ps->lock);
	return size;
}

/* All servers have answered.  Caller holds the lock. */
static void joined(struct peers *ps, struct ang_view *view)
{
	struct peer *p;
	u32 i;

	for (i = 0; i < ps->num; i++) {
		ps->peer[i]->born = ps->join_era;
		ps->peer[i]->gone = !ps->peer[i]->met;
	}
	if (memchr(ps->lost, true, ps->num_nodes * sizeof(*ps->lost))) {
		const struct address nobody = { .name = "without a server" };

		p = peer_new(ps, &nobody, false);
		if (!p) {
			snprintf(ps->failed, sizeof(ps->failed),
				 "this server cannot join: too many peers, or no memory");
			return;
		}
		rejoin_lose(ps, view, ps->lost);
		p->gone = true;
		for (i = 0; i < ps->num_nodes; i++) {
			p->nodes[i] = ps->lost[i];
			if (p->nodes[i])
				ang_store_release(&ps->owner[i], peer_index(p) + 1);
		}
	}
	ang_remote_join(view, ps->join_era);
	ang_store_release(&ps->whole, true);
	peers_wake(ps);
}

/** rejoin_answered() - process a JOINED. Return: NULL, or the error */
const char *rejoin_answered(struct peer *p)
{
	struct peers *ps = p->all;
	const char *flaw = NULL;
	bool all = true;
	u32 i;

	pthread_mutex_lock(&ps->lock);
	if (!p->join_sent || p->joined) {
		flaw = "a JOINED that answers no JOIN";
	} else {
		p->joined = true;
		for (i = 0; i < ps->num; i++)
			all &= !ps->peer[i]->met || ps->peer[i]->joined;
		/* If a server has left meanwhile (@failed), this server ends. */
		if (all && !ps->failed[0])
			joined(ps, &p->view);
		pthread_cond_broadcast(&ps->change);
	}
	pthread_mutex_unlock(&ps->lock);
	return flaw;
}

/**
 * rejoin_forget() - forget a server whose connection ended while this server starts
 * @p: peer
 *
 * Return: true: forgotten; false: not forgotten, as this server has started, or the
 * other one is starting, too, and may connect again.
 */
bool rejoin_forget(struct peer *p)
{
	struct peers *ps = p->all;
	u32 index = peer_index(p);
	bool forget;
	u32 i;

	pthread_mutex_lock(&ps->lock);
	forget = !ps->whole && (p->fabric_id || p->part);
	if (forget && ps->join_era && !ps->failed[0])
		snprintf(ps->failed, sizeof(ps->failed),
			 "peer %s left while this server joined: start this server again",
			 p->addr.name);
	if (forget) {
		for (i = 0; i < ps->num_nodes; i++) {
			if (ps->owner[i] == index + 1)
				ang_store_release(&ps->owner[i], 0);
			p->nodes[i] = false;
		}
		p->other = p->fabric_id = 0;
		p->met = p->part = p->joined = false;
		peers_look(ps);
		pthread_cond_broadcast(&ps->change);
	}
	pthread_mutex_unlock(&ps->lock);
	return forget;
}
