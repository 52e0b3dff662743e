// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Address sets: ordered lists of addresses, which become the ranks of a group.
 */
#include <stdlib.h>
#include <string.h>

#include "coll.h"

#define AFI_SET_ADDR	(1ULL << 62)	/* flag in addresses of sets */
#define AFI_SET_FIRST	16U

/* Hints about the use of a set have no effect here. */
#define AFI_SET_FLAGS	(FI_UNIVERSE | FI_BARRIER_SET | FI_BROADCAST_SET | \
			 FI_ALLTOALL_SET | FI_ALLREDUCE_SET | \
			 FI_ALLGATHER_SET | FI_REDUCE_SCATTER_SET | \
			 FI_REDUCE_SET | FI_SCATTER_SET | FI_GATHER_SET)

static struct afi_set *set_of(const struct fid_av_set *fid)
{
	return afi_of(fid, struct afi_set, fid);
}

/* Return: index of an address, or afi_set.n. */
static u32 set_place(const struct afi_set *set, fi_addr_t addr)
{
	u32 i;

	for (i = 0; i < set->n && set->list[i] != addr; i++)
		;
	return i;
}

static int set_append(struct afi_set *set, fi_addr_t addr)
{
	u32 room = set->room ? 2 * set->room : AFI_SET_FIRST;
	fi_addr_t *list;

	if (set->n == AFI_MEMBERS)
		return -FI_ENOSPC;
	if (set->n == set->room) {
		list = realloc(set->list, room * sizeof(*list));
		if (!list)
			return -FI_ENOMEM;
		set->list = list;
		set->room = room;
	}
	set->list[set->n++] = addr;
	return 0;
}

static void take_out(struct afi_set *set, u32 at)
{
	set->n--;
	memmove(&set->list[at], &set->list[at + 1],
		(set->n - at) * sizeof(*set->list));
}

static int set_insert(struct fid_av_set *fid, fi_addr_t addr)
{
	struct afi_set *set = set_of(fid);
	int ret = -FI_EINVAL;

	afi_lock(set->av->domain);
	if (afi_av_get(set->av, addr) && set_place(set, addr) == set->n)
		ret = set_append(set, addr);
	afi_unlock(set->av->domain);
	return ret;
}

static int set_remove(struct fid_av_set *fid, fi_addr_t addr)
{
	struct afi_set *set = set_of(fid);
	int ret = -FI_EINVAL;
	u32 at;

	afi_lock(set->av->domain);
	at = set_place(set, addr);
	if (at < set->n) {
		take_out(set, at);
		ret = 0;
	}
	afi_unlock(set->av->domain);
	return ret;
}

static int set_union(struct fid_av_set *dst, const struct fid_av_set *src)
{
	struct afi_set *to = set_of(dst);
	const struct afi_set *from = set_of(src);
	u32 before = to->n;
	int ret = 0;
	u32 i;

	if (to->av != from->av)
		return -FI_EINVAL;
	afi_lock(to->av->domain);
	for (i = 0; i < from->n && !ret; i++)
		if (set_place(to, from->list[i]) == to->n)
			ret = set_append(to, from->list[i]);
	if (ret)
		to->n = before;
	afi_unlock(to->av->domain);
	return ret;
}

/* Keeps only the addresses that are (@in), or are not, in the other set. */
static int set_leave(struct fid_av_set *dst, const struct fid_av_set *src, bool in)
{
	struct afi_set *to = set_of(dst);
	const struct afi_set *from = set_of(src);
	u32 n = 0;
	u32 i;

	if (to->av != from->av)
		return -FI_EINVAL;
	afi_lock(to->av->domain);
	/*
	 * Source and destination may be the same set: check before changing it.
	 */
	if (to == from)
		n = in ? to->n : 0;
	for (i = 0; to != from && i < to->n; i++)
		if ((set_place(from, to->list[i]) < from->n) == in)
			to->list[n++] = to->list[i];
	to->n = n;
	afi_unlock(to->av->domain);
	return 0;
}

static int set_intersect(struct fid_av_set *dst, const struct fid_av_set *src)
{
	return set_leave(dst, src, true);
}

static int set_diff(struct fid_av_set *dst, const struct fid_av_set *src)
{
	return set_leave(dst, src, false);
}

static int set_addr(struct fid_av_set *fid, fi_addr_t *coll_addr)
{
	*coll_addr = set_of(fid)->addr;
	return 0;
}

static struct fi_ops_av_set set_ops = {
	.size = sizeof(struct fi_ops_av_set),
	.set_union = set_union,
	.intersect = set_intersect,
	.diff = set_diff,
	.insert = set_insert,
	.remove = set_remove,
	.addr = set_addr,
};

static int set_close(struct fid *fid)
{
	struct afi_set *set = afi_of(fid, struct afi_set, fid.fid);
	struct afi_domain *d = set->av->domain;

	afi_lock(d);
	afi_list_del(&set->link);
	afi_unlock(d);
	afi_unref(&set->av->refs);
	free(set->list);
	free(set);
	return 0;
}

static struct fi_ops set_fi_ops =
	AFI_FI_OPS(set_close, afi_no_bind, afi_no_control);

/* Fills a new set with addresses that exist in the address vector. */
static int set_fill(struct afi_set *set, const struct fi_av_set_attr *attr)
{
	u64 last = attr->end_addr, stride = attr->stride;
	u64 at = attr->start_addr;
	int ret = 0;

	if (attr->flags & FI_UNIVERSE) {
		afi_av_sync(set->av);
		/* A lookup applies the changes of other processes. */
		afi_av_get(set->av, 0);
		at = 0;
		last = set->av->num;
		stride = 1;
	} else if (at == FI_ADDR_NOTAVAIL && last == FI_ADDR_NOTAVAIL) {
		return stride ? -FI_EINVAL : 0;
	}
	if (!stride || at > last || last > AFI_AV_MAX)
		return -FI_EINVAL;
	for (; !ret && at <= last; at += stride) {
		if (afi_av_get(set->av, at))
			ret = set_append(set, at);
		if (stride > last)
			break;
	}
	return ret;
}

int afi_av_set_open(struct fid_av *fid, struct fi_av_set_attr *attr,
		    struct fid_av_set **out, void *context)
{
	struct afi_av *av = afi_of(fid, struct afi_av, fid);
	struct afi_domain *d = av->domain;
	struct afi_set *set;
	int ret;

	if (!d->coll)
		return -FI_EOPNOTSUPP;
	if (!attr || (attr->flags & ~AFI_SET_FLAGS))
		return -FI_EINVAL;
	/* The program cannot set a key of membership. */
	if (attr->comm_key_size)
		return -FI_EOPNOTSUPP;
	set = calloc(1, sizeof(*set));
	if (!set)
		return -FI_ENOMEM;
	set->av = av;
	afi_lock(d);
	ret = set_fill(set, attr);
	if (!ret) {
		set->addr = AFI_SET_ADDR | d->coll->nsets++;
		afi_list_add(&d->coll->sets, &set->link);
	}
	afi_unlock(d);
	if (ret) {
		free(set->list);
		free(set);
		return ret;
	}
	set->fid.fid.fclass = FI_CLASS_AV_SET;
	set->fid.fid.context = context;
	set->fid.fid.ops = &set_fi_ops;
	set->fid.ops = &set_ops;
	afi_ref(&av->refs);
	*out = &set->fid;
	return 0;
}
