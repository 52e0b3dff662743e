// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Groups as the program sees them: fi_join_collective() and its result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_GROUP_ADDR	(1ULL << 63)	/* flag in addresses of groups */

static struct afi_group *group_of(const struct fid *fid)
{
	return afi_of(fid, struct afi_group, fid.fid);
}

static u64 hash_of(const struct afi_group *g)
{
	u64 hash = 0xCBF29CE484222325ULL;
	u32 i;

	for (i = 0; i < g->size; i++)
		hash = afi_digest(hash, &g->members[i].name,
				sizeof(g->members[i].name));
	return hash;
}

/* Takes a slot; the address of the group contains its number. */
static int take_slot(struct afi_coll *c, struct afi_group *g)
{
	struct afi_group **slots;
	u32 i;

	for (i = 0; i < c->nslots && c->slots[i]; i++)
		;
	if (i == c->nslots) {
		slots = realloc(c->slots, (c->nslots + 64) * sizeof(*slots));
		if (!slots)
			return -FI_ENOMEM;
		memset(slots + c->nslots, 0, 64 * sizeof(*slots));
		c->slots = slots;
		c->nslots += 64;
	}
	c->slots[i] = g;
	c->gen++;
	g->fid.fi_addr = AFI_GROUP_ADDR | (u64)(c->gen & 0x3FFFFFFF) << 32 | i;
	return 0;
}

static void free_group(struct afi_group *g)
{
	afi_talk_drop(g);
	free(g->event);
	free(g->members);
	free(g);
}

/* Copies the members, and finds the rank of this endpoint. */
static int set_members(struct afi_group *g, const struct afi_set *set)
{
	u32 i;

	g->rank = g->size;
	for (i = 0; i < g->size; i++) {
		const struct afi_name *name = afi_av_get(set->av, set->list[i]);
		struct afi_member *m = &g->members[i];

		afi_list_init(&m->kept);
		m->credit = AFI_AHEAD;
		if (!name)
			return -FI_EINVAL;
		m->name = *name;
		if (afi_name_same(name, &g->ep->name))
			g->rank = i;
	}
	if (g->rank < g->size)
		return 0;
	AFI_WARN(EP_CTRL, "the joining endpoint is not in the set\n");
	return -FI_EINVAL;
}

static int new_group(struct afi_ep *ep, const struct afi_set *set,
		     struct afi_group **out)
{
	struct afi_group *g = calloc(1, sizeof(*g));
	struct afi_coll *c = ep->domain->coll;
	int ret = -FI_ENOMEM;

	if (!g)
		return ret;
	g->domain = ep->domain;
	g->ep = ep;
	g->members = calloc(set->n, sizeof(*g->members));
	g->event = calloc(1, sizeof(*g->event) + sizeof(struct fi_eq_err_entry));
	afi_list_init(&g->calls);
	if (g->members && g->event) {
		g->size = set->n;
		ret = set_members(g, set);
	}
	if (!ret)
		ret = afi_hash_add(&c->groups, &g->node, 0);
	if (ret)
		goto free_group;
	ret = take_slot(c, g);
	if (ret)
		goto unlist;
	*out = g;
	return 0;

unlist:
	afi_hash_del(&c->groups, &g->node);
free_group:
	free_group(g);
	return ret;
}

static bool join_has(const struct afi_group *g, const struct afi_name *name)
{
	u32 i;

	for (i = 0; i < g->size; i++)
		if (afi_name_same(&g->members[i].name, name))
			return true;
	return false;
}

static bool set_has(const struct afi_set *set, fi_addr_t addr)
{
	u32 i;

	for (i = 0; i < set->n; i++)
		if (set->list[i] == addr)
			return true;
	return false;
}

/*
 * Does the parent, which is a group, a set or the universe, contain all members
 * of the set?
 */
static bool part_of(const struct afi_coll *c, const struct afi_group *parent,
		    const struct afi_set *set, fi_addr_t addr)
{
	const struct afi_set *base = NULL;
	struct afi_link *link;
	u32 i;

	if (addr == FI_ADDR_NOTAVAIL || addr == set->addr)
		return true;
	for (link = c->sets.next; link != &c->sets; link = link->next)
		if (afi_of(link, struct afi_set, link)->addr == addr)
			base = afi_of(link, struct afi_set, link);
	if (!parent && (!base || base->av != set->av))
		return false;
	for (i = 0; i < set->n; i++) {
		const struct afi_name *name = afi_av_get(set->av, set->list[i]);

		if (parent ? !name || !join_has(parent, name) :
			     !set_has(base, set->list[i]))
			return false;
	}
	return true;
}

static int join_check(const struct afi_ep *ep, const struct fi_collective_addr *addr,
		      u64 flags)
{
	const struct afi_set *set;

	if (!(flags & FI_COLLECTIVE))
		return -FI_ENOSYS;
	if (flags & ~FI_COLLECTIVE)
		return -FI_EBADFLAGS;
	if (!(ep->caps & FI_COLLECTIVE))
		return -FI_EOPNOTSUPP;
	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (!ep->eq)
		return -FI_ENOEQ;
	if (!addr || !addr->set)
		return -FI_EINVAL;
	set = afi_of(addr->set, struct afi_set, fid);
	if (set->av->domain != ep->domain || !set->n || set->n > AFI_MEMBERS ||
	    !part_of(ep->domain->coll, afi_group_at(ep->domain, addr->coll_addr),
		     set, addr->coll_addr))
		return -FI_EINVAL;
	return 0;
}

static void join_begin(struct afi_group *g)
{
	struct afi_coll *c = g->domain->coll;

	g->list = hash_of(g);
	g->ticket = ++c->ticket;
	g->end = afi_deadline(c->join_ms);
	g->tree = c->way != AFI_COLL_SOFTWARE;
	g->seq = 1;
	g->inner_seq = 1U << 31;
	g->members[g->rank].wants = true;
	c->joining++;
	g->ep->groups++;
	afi_group_set_busy(g);
	afi_group_take_wants(g);
	afi_watchdog_wake(g->domain);
	afi_progress(g->domain);
}

static int mc_close(struct fid *fid);

static int mc_tostr(const struct fid *fid, char *buf, size_t len)
{
	const struct afi_group *g = group_of(fid);

	afi_lock(g->domain);
	snprintf(buf, len,
		 "rank %u of %u, %s%s, %llu offloaded, %llu by software",
		 g->rank, g->size, g->offload ? "offloaded" : "by software: ", g->why,
		 (unsigned long long)g->by_offload,
		 (unsigned long long)g->by_software);
	afi_unlock(g->domain);
	return 0;
}

static struct fi_ops mc_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = mc_close,
	.bind = afi_no_bind,
	.control = afi_no_control,
	.ops_open = afi_no_ops_open,
	.tostr = mc_tostr,
	.ops_set = afi_no_ops_set,
};

int afi_join(struct fid_ep *fid, const void *addr, uint64_t flags,
	     struct fid_mc **mc, void *context)
{
	struct afi_ep *ep = afi_ep_of(fid);
	const struct fi_collective_addr *coll = addr;
	struct afi_group *g = NULL;
	int ret;

	afi_lock(ep->domain);
	ret = join_check(ep, coll, flags);
	if (!ret)
		ret = afi_watchdog_start(ep->domain);
	if (!ret)
		ret = new_group(ep, afi_of(coll->set, struct afi_set, fid), &g);
	if (!ret) {
		g->context = context;
		g->fid.fid.fclass = FI_CLASS_MC;
		g->fid.fid.context = context;
		g->fid.fid.ops = &mc_fi_ops;
		*mc = &g->fid;
		join_begin(g);
	}
	afi_unlock(ep->domain);
	return ret;
}

/*
 * Closes a group.  A member that leaves during an operation makes the group
 * fail for all members; a member that leaves between operations notifies no other
 * member.
 */
static int mc_close(struct fid *fid)
{
	struct afi_group *g = group_of(fid);
	struct afi_domain *d = g->domain;
	struct afi_coll *c = d->coll;

	afi_lock(d);
	g->closing = true;
	if (g->state < AFI_GROUP_JOINED || !afi_list_empty(&g->calls))
		afi_group_fail(g, FI_ECANCELED, g->rank);
	while (g->forming)
		pthread_cond_wait(&c->ended, &d->lock);
	/* From now on progress in other threads ignores the tree. */
	g->offload = NULL;
	if (g->ops) {
		afi_unlock(d);
		g->ops->close(g);
		afi_lock(d);
	}
	/* Sends the remaining notifications. */
	afi_progress(d);
	afi_group_tell_rest(g);
	AFI_INFO(EP_CTRL,
		 "group %016llx closes: adapters executed %llu of its operations, software %llu\n",
		 (unsigned long long)g->id,
		 (unsigned long long)g->by_offload,
		 (unsigned long long)g->by_software);
	c->slots[(u32)g->fid.fi_addr] = NULL;
	g->ep->groups--;
	afi_hash_del(&c->groups, &g->node);
	if (g->is_busy)
		afi_list_del(&g->busy);
	free_group(g);
	afi_unlock(d);
	return 0;
}
