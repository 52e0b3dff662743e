// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sets, groups that overlap, completions, and wrong arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

static const int in_order[MOST] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static struct fi_av_set_attr range(fi_addr_t from, fi_addr_t to, uint64_t step)
{
	return (struct fi_av_set_attr){
		.start_addr = from,
		.end_addr = to,
		.stride = step,
	};
}

/* Does the set have exactly the members @bits?  Removes each and inserts it again. */
static bool holds(struct fid_av_set *set, unsigned int bits)
{
	bool ok = true;
	fi_addr_t a;

	for (a = 0; ok && a < 6; a++) {
		bool in = bits & 1U << a;

		ok = expect(fi_av_set_remove(set, a), in ? 0 : -FI_EINVAL) &&
		     (!in || expect(fi_av_set_insert(set, a), 0));
	}
	return ok;
}

static bool sets(void)
{
	struct fi_av_set_attr attr = range(0, 5, 2);
	struct fid_av_set *even, *some, *all_of_them, *none;
	fi_addr_t a, b;
	bool ok;

	open_members(6, &with_groups);
	ok = expect(fi_av_set(all[0].s.av, &attr, &even, NULL), 0) &&
	     holds(even, 0x15);
	attr = range(1, 4, 1);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &some, NULL), 0) &&
	     holds(some, 0x1E);
	attr = range(FI_ADDR_NOTAVAIL, FI_ADDR_NOTAVAIL, 0);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), 0) &&
	     holds(none, 0);
	attr.flags = FI_UNIVERSE | FI_BARRIER_SET;
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &all_of_them, NULL), 0) &&
	     holds(all_of_them, 0x3F) &&
	     expect(fi_av_set_insert(even, 2), -FI_EINVAL) &&
	     expect(fi_av_set_insert(even, 6), -FI_EINVAL) &&
	     expect(fi_av_set_remove(even, 1), -FI_EINVAL) &&
	     expect(fi_av_set_intersect(all_of_them, some), 0) &&
	     holds(all_of_them, 0x1E) &&
	     expect(fi_av_set_diff(all_of_them, even), 0) &&
	     holds(all_of_them, 0x0A) &&
	     expect(fi_av_set_union(all_of_them, even), 0) &&
	     holds(all_of_them, 0x1F) &&
	     expect(fi_av_set_union(none, all_of_them), 0) &&
	     holds(none, 0x1F) && expect(fi_av_set_diff(none, none), 0) &&
	     holds(none, 0) && expect(fi_av_set_intersect(some, some), 0) &&
	     holds(some, 0x1E) &&
	     expect(fi_av_set_addr(even, &a), 0) &&
	     expect(fi_av_set_addr(some, &b), 0) && expect(a != b, true);
	/* A set belongs to one address vector, which outlives it. */
	attr = range(0, 5, 1);
	ok = ok && expect(fi_close(&all[0].s.av->fid), -FI_EBUSY) &&
	     closed(&none->fid) &&
	     expect(fi_av_set(all[1].s.av, &attr, &none, NULL), 0) &&
	     expect(fi_av_set_union(none, even), -FI_EINVAL) &&
	     expect(fi_av_set_diff(none, even), -FI_EINVAL);
	ok = closed(&even->fid) && closed(&some->fid) && closed(&none->fid) &&
	     closed(&all_of_them->fid) && ok;
	attr = range(3, 1, 1);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), -FI_EINVAL);
	attr = range(0, 5, 0);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), -FI_EINVAL);
	attr = range(0, FI_ADDR_NOTAVAIL, 1);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), -FI_EINVAL);
	attr = range(0, 5, 1);
	attr.flags = FI_SELECTIVE_COMPLETION;
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), -FI_EINVAL);
	attr.flags = 0;
	attr.comm_key_size = 8;
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL),
			  -FI_EOPNOTSUPP);
	/* Make sets with strides, up to the largest stride. */
	attr = range(1, 5, UINT64_MAX);
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &none, NULL), 0) &&
	     holds(none, 2) && closed(&none->fid);
	close_members(6);
	return ok;
}

#define GROUPS	4
#define AT_ONCE	40	/* operations of each group in flight */

static uint32_t gave[GROUPS][AT_ONCE][MOST], got[GROUPS][AT_ONCE][MOST];

/* Takes all completions of @n members: @left[i] completions of member i. */
static bool take_all(int n, const unsigned int *left)
{
	int seen[MOST] = { 0 };
	long spins;
	int i, more = n;

	for (spins = 0; more && spins < 200000000; spins++) {
		struct fi_cq_tagged_entry e;
		ssize_t ret;

		i = (int)(spins % n);
		ret = fi_cq_read(all[i].s.cq, &e, 1);
		if (ret == -FI_EAGAIN)
			continue;
		if (!expect(ret, 1))
			return false;
		more -= ++seen[i] == (int)left[i];
	}
	return expect(more, 0);
}

static int rank_of(const struct team *t, int who)
{
	int r;

	for (r = 0; r < t->n && t->who[r] != who; r++)
		;
	return r;
}

/* Joins of several groups end in any order. */
static bool hears_of_all(struct team *t, int who)
{
	struct fi_eq_entry entry;
	uint32_t event;
	int g, n = 0;
	bool ok = true;

	for (g = 0; g < GROUPS; g++)
		n += rank_of(&t[g], who) < t[g].n;
	while (ok && n--) {
		int r;

		ok = expect(fi_eq_sread(all[who].s.eq, &event, &entry,
					sizeof(entry), LONG_MS, 0),
			    sizeof(entry)) &&
		     expect(event, FI_JOIN_COMPLETE);
		for (g = 0; ok && g < GROUPS && entry.context != &t[g]; g++)
			;
		ok = ok && expect(g < GROUPS, true);
		r = ok ? rank_of(&t[g], who) : 0;
		ok = ok && expect(entry.fid == &t[g].mc[r]->fid, true) &&
		     expect(t[g].coll[r], 0);
		if (ok)
			t[g].coll[r] = fi_mc_addr(t[g].mc[r]);
	}
	return ok;
}

static bool overlap_done(const char *way)
{
	static const struct {
		int n;
		int who[MOST];
	} of_whom[GROUPS] = {
		{ 5, { 0, 1, 2, 3, 4 } },
		{ 3, { 4, 2, 0 } },
		{ 3, { 4, 2, 0 } },	/* a second group with the same members */
		{ 2, { 3, 1 } },
	};
	unsigned int left[MOST] = { 0 };
	struct team t[GROUPS];
	bool ok = true;
	int g, i, r, k;

	open_members_for(5, way);
	/* The order in which members join differs from that of ranks. */
	for (g = 0; ok && g < GROUPS; g++)
		ok = start_join(&t[g], of_whom[g].n, of_whom[g].who, ~0U);
	for (i = 0; ok && i < 5; i++)
		ok = hears_of_all(t, i);
	/* Each member calls the operations of its groups in its own order. */
	for (k = 0; ok && k < 5 * GROUPS * AT_ONCE; k++) {
		int who = k / (GROUPS * AT_ONCE);

		g = (k + who) % GROUPS;
		i = k / GROUPS % AT_ONCE;
		r = rank_of(&t[g], who);
		if (r == t[g].n)
			continue;
		left[who]++;
		gave[g][i][r] = (uint32_t)(g * 1000 + i * 10 + r);
		if (i % 4 == 3)
			ok = expect(fi_barrier(all[who].s.ep, t[g].coll[r],
					       &gave[g][i]), 0);
		else
			ok = expect(fi_allreduce(all[who].s.ep, &gave[g][i][r], 1,
						 NULL, &got[g][i][r], NULL,
						 t[g].coll[r], FI_UINT32, FI_SUM,
						 0, &gave[g][i]), 0);
	}
	ok = ok && take_all(5, left);
	for (k = 0; ok && k < GROUPS * AT_ONCE; k++) {
		uint32_t sum = 0;

		g = k % GROUPS;
		i = k / GROUPS;
		for (r = 0; r < t[g].n; r++)
			sum += gave[g][i][r];
		for (r = 0; ok && i % 4 != 3 && r < t[g].n; r++)
			ok = expect(got[g][i][r], sum);
	}
	for (g = 0; g < GROUPS; g++)
		leave(&t[g], ~0U);
	close_members(5);
	return ok;
}

static bool overlapping(void)
{
	return overlap_done("software") && overlap_done("auto");
}

#define LONG	40000	/* bytes: more than a member's receive buffers */
#define MANY	20	/* long broadcasts */

/*
 * Each member starts its long broadcasts after the member before it has
 * started all of its own.
 */
static bool far_ahead(void)
{
	char *data[MANY], *mine[MANY], *others[MANY];
	unsigned int left[MOST] = { MANY, MANY, MANY };
	struct team t;
	bool ok;
	int i, r;

	open_members_for(3, "software");
	ok = join(&t, 3, in_order);
	for (i = 0; i < MANY; i++) {
		data[i] = malloc(LONG);
		mine[i] = malloc(LONG);
		others[i] = malloc(LONG);
		fill(data[i], LONG, (unsigned int)i);
	}
	for (r = 0; ok && r < 3; r++) {
		char **buf = r == 0 ? data : r == 1 ? mine : others;

		for (i = 0; ok && i < MANY; i++)
			ok = expect(fi_broadcast(all[r].s.ep, buf[i], LONG, NULL,
						 t.coll[r], all[r].addr[0],
						 FI_UINT8, 0, &t), 0);
		for (i = 0; i < 3000; i++)
			fi_cq_read(all[i % (r + 1)].s.cq, NULL, 0);
	}
	ok = ok && take_all(3, left);
	for (i = 0; i < MANY; i++) {
		ok = ok && filled(mine[i], LONG, (unsigned int)i) &&
		     filled(others[i], LONG, (unsigned int)i);
		free(data[i]);
		free(mine[i]);
		free(others[i]);
	}
	leave(&t, ~0U);
	close_members(3);
	return ok;
}

/*
 * A member sends data early, up to the limit, then the data that others wait
 * for.
 */
static bool first_things_first(void)
{
	const size_t len = 10 * LONG;
	unsigned int first, second;
	uint32_t in = 5, out[3];
	char *data[3];
	struct team t;
	bool ok;
	int r;

	open_members_for(3, "software");
	ok = join(&t, 3, in_order);
	for (r = 0; r < 3; r++)
		data[r] = malloc(len);
	fill(data[0], len, 9);
	for (r = 0; ok && r < 3; r++) {
		int i;

		ok = expect(fi_allreduce(all[r].s.ep, &in, 1, NULL, &out[r], NULL,
					 t.coll[r], FI_UINT32, FI_SUM, 0,
					 &first), 0) &&
		     (r || expect(fi_broadcast(all[0].s.ep, data[0], len, NULL,
					       t.coll[0], all[0].addr[0],
					       FI_UINT8, 0, &second), 0));
		for (i = 0; i < 3000; i++)
			fi_cq_read(all[i % 2].s.cq, NULL, 0);
	}
	ok = ok && ended(&t, 0, &first) && expect(out[1], 15) &&
	     expect(out[2], 15);
	for (r = 1; ok && r < 3; r++)
		ok = expect(fi_broadcast(all[r].s.ep, data[r], len, NULL,
					 t.coll[r], all[r].addr[0], FI_UINT8, 0,
					 &second), 0);
	ok = ok && ended(&t, 0, &second) && filled(data[1], len, 9) &&
	     filled(data[2], len, 9);
	for (r = 0; r < 3; r++)
		free(data[r]);
	leave(&t, ~0U);
	close_members(3);
	return ok;
}

/* Endpoints of one domain can be members of one group. */
static bool one_domain(void)
{
	struct member *m = &all[0];
	struct fi_av_set_attr attr = range(0, 1, 1);
	struct fi_cq_tagged_entry e;
	struct fid_av_set *set;
	struct fi_eq_entry entry;
	struct fid_mc *mc[2];
	struct fid_ep *ep[2];
	char name[64];
	size_t len = sizeof(name);
	uint32_t event, in[2] = { 3, 4 }, out[2] = { 0, 0 };
	fi_addr_t addr;
	bool ok;
	int i;

	open_members(1, &with_groups);
	ep[0] = m->s.ep;
	ok = expect(fi_endpoint(m->s.domain, m->s.info, &ep[1], NULL), 0) &&
	     expect(fi_ep_bind(ep[1], &m->s.av->fid, 0), 0) &&
	     expect(fi_ep_bind(ep[1], &m->s.eq->fid, 0), 0) &&
	     expect(fi_ep_bind(ep[1], &m->s.cq->fid, FI_TRANSMIT | FI_RECV), 0) &&
	     expect(fi_enable(ep[1]), 0) &&
	     expect(fi_getname(&ep[1]->fid, name, &len), 0) &&
	     expect(fi_av_insert(m->s.av, name, 1, &addr, 0, NULL), 1) &&
	     expect(fi_av_set(m->s.av, &attr, &set, NULL), 0);
	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_join_collective(ep[i], FI_ADDR_NOTAVAIL, set, 0,
					       &mc[i], NULL), 0);
	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_eq_sread(m->s.eq, &event, &entry, sizeof(entry),
					LONG_MS, 0), sizeof(entry)) &&
		     expect(event, FI_JOIN_COMPLETE);
	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_allreduce(ep[i], &in[i], 1, NULL, &out[i], NULL,
					 fi_mc_addr(mc[i]), FI_UINT32, FI_PROD, 0,
					 &out[i]), 0);
	ok = ok && completion(&m->s, &e) && completion(&m->s, &e) &&
	     expect(out[0], 12) && expect(out[1], 12) &&
	     expect(fi_close(&ep[1]->fid), -FI_EBUSY) && closed(&mc[0]->fid) &&
	     closed(&mc[1]->fid) && closed(&set->fid) && closed(&ep[1]->fid);
	close_members(1);
	return ok;
}

/* A completion is reported if requested, and always counted as a write. */
static bool telling(void)
{
	const struct how how = {
		.caps = FI_COLLECTIVE | FI_MSG,
		.selective = true,
	};
	struct fi_cq_tagged_entry e;
	struct team t;
	char line[128];
	bool ok;
	int r, i;

	open_members(2, &how);
	ok = join(&t, 2, in_order);
	for (i = 0; ok && i < 3; i++)
		for (r = 0; ok && r < 2; r++)
			ok = expect(fi_barrier2(all[r].s.ep, t.coll[r],
						i == 1 ? FI_COMPLETION : 0,
						&line[i]), 0);
	while (ok && (fi_cntr_read(all[0].s.cntr) < 3 ||
		      fi_cntr_read(all[1].s.cntr) < 3))
		;
	for (r = 0; ok && r < 2; r++)
		ok = completion(&all[r].s, &e) &&
		     expect(e.op_context == &line[1], true) &&
		     nothing(&all[r].s) &&
		     expect(fi_cntr_readerr(all[r].s.cntr), 0);
	ok = ok && expect(t.mc[1]->fid.ops->tostr(&t.mc[1]->fid, line,
						  sizeof(line)), 0) &&
	     expect(strncmp(line, "rank 1 of 2, ", 13), 0) &&
	     expect(strstr(line, "3 offloaded") || strstr(line, "3 by software"),
		    true);
	leave(&t, ~0U);
	close_members(2);
	return ok;
}

static bool wrong_joins(struct fid_av_set *set, fi_addr_t base)
{
	struct fid_ep *ep = all[0].s.ep;
	struct fi_collective_addr addr = { .set = set, .coll_addr = base };
	struct fid_mc *mc;
	struct fid_ep *bare;
	struct fid_av_set *other;
	struct fi_av_set_attr attr = range(1, 1, 1);
	bool ok;

	ok = expect(fi_join(ep, &addr, 0, &mc, NULL), -FI_ENOSYS) &&
	     expect(fi_join_collective(ep, base, set, FI_SEND, &mc, NULL),
		    -FI_EBADFLAGS) &&
	     expect(fi_join_collective(ep, 5, set, 0, &mc, NULL), -FI_EINVAL) &&
	     expect(fi_join_collective(ep, base, NULL, 0, &mc, NULL),
		    -FI_EINVAL);
	/* The caller is not in the set; the set is not a part of the other set. */
	ok = ok && expect(fi_av_set(all[0].s.av, &attr, &other, NULL), 0) &&
	     expect(fi_join_collective(ep, base, other, 0, &mc, NULL),
		    -FI_EINVAL) &&
	     expect(fi_av_set_addr(other, &base), 0) &&
	     expect(fi_join_collective(ep, base, set, 0, &mc, NULL),
		    -FI_EINVAL) &&
	     expect(fi_av_set_remove(other, 1), 0) &&
	     expect(fi_join_collective(ep, base, other, 0, &mc, NULL),
		    -FI_EINVAL) && closed(&other->fid);
	/* Without an event queue the end of a join cannot be reported. */
	return ok &&
	     expect(fi_endpoint(all[0].s.domain, all[0].s.info, &bare, NULL), 0) &&
	     expect(fi_ep_bind(bare, &all[0].s.av->fid, 0), 0) &&
	     expect(fi_ep_bind(bare, &all[0].s.cq->fid, FI_TRANSMIT), 0) &&
	     expect(fi_join_collective(bare, FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
		    -FI_EOPBADSTATE) &&
	     expect(fi_enable(bare), 0) &&
	     expect(fi_join_collective(bare, FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
		    -FI_ENOEQ) && closed(&bare->fid);
}

static bool wrong_calls(const struct team *t)
{
	struct fid_ep *ep = all[0].s.ep;
	fi_addr_t coll = t->coll[0];
	uint32_t x = 1, y[2];
	struct fi_ioc ioc[2] = { { &x, 1 }, { &x, 1 } }, res = { y, 1 };
	struct fi_msg_collective msg = {
		.msg_iov = ioc,
		.iov_count = 1,
		.coll_addr = coll,
		.coll = FI_ALLGATHER,
		.datatype = FI_UINT32,
		.op = FI_NOOP,
	};
	bool ok;

	ok = expect(fi_barrier(ep, coll + 1, NULL), -FI_EINVAL) &&
	     expect(fi_barrier(ep, FI_ADDR_NOTAVAIL, NULL), -FI_EINVAL) &&
	     expect(fi_barrier(all[1].s.ep, coll ^ 1ULL << 40, NULL),
		    -FI_EINVAL) &&
	     expect(fi_barrier2(ep, coll, FI_PEEK, NULL), -FI_EBADFLAGS) &&
	     expect(fi_broadcast(ep, &x, 1, NULL, coll, 7, FI_UINT32, 0, NULL),
		    -FI_EINVAL) &&
	     expect(fi_broadcast(ep, &x, 1, NULL, coll, 0, FI_VOID, 0, NULL),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_broadcast(ep, NULL, 1, NULL, coll, 0, FI_UINT32, 0, NULL),
		    -FI_EINVAL) &&
	     expect(fi_broadcast(ep, &x, (1 << 28) + 1, NULL, coll, 0, FI_UINT32,
				 0, NULL), -FI_EMSGSIZE) &&
	     expect(fi_broadcast(ep, &x, SIZE_MAX, NULL, coll, 0, FI_UINT32, 0,
				 NULL), -FI_EMSGSIZE) &&
	     expect(fi_allreduce(ep, &x, 1, NULL, NULL, NULL, coll, FI_UINT32,
				 FI_SUM, 0, NULL), -FI_EINVAL) &&
	     expect(fi_allreduce(ep, &x, 1, NULL, y, NULL, coll,
				 (enum fi_datatype)77, FI_SUM, 0, NULL),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_reduce(ep, &x, 1, NULL, NULL, NULL, coll, 0, FI_UINT32,
			      FI_SUM, 0, NULL), -FI_EINVAL) &&
	     expect(fi_gather(ep, NULL, 1, NULL, y, NULL, coll, 0, FI_UINT32, 0,
			      NULL), -FI_EINVAL);
	/* Two words arrive, and there is room for one. */
	ok = ok && expect(ep->collective->msg(ep, &msg, &res, NULL, 1, 0),
			  -FI_EINVAL);
	res.count = 2;
	msg.iov_count = 2;
	ok = ok && expect(ep->collective->msg(ep, &msg, &res, NULL, 1, 0),
			  -FI_EINVAL);
	msg.iov_count = 1;
	msg.coll = (enum fi_collective_op)9;
	return ok && expect(ep->collective->msg(ep, &msg, &res, NULL, 1, 0),
			    -FI_EINVAL);
}

static bool wrong(void)
{
	struct team t, part;
	fi_addr_t base;
	bool ok;

	open_members(2, &with_groups);
	ok = start_join(&t, 2, in_order, 1);
	/* The group is not usable before the join ends. */
	ok = ok && expect(fi_barrier(all[0].s.ep, fi_mc_addr(t.mc[0]), NULL),
			  -FI_EOPBADSTATE) &&
	     expect(fi_close(&all[0].s.ep->fid), -FI_EBUSY);
	leave(&t, 1);
	ok = ok && join(&t, 2, in_order) &&
	     expect(fi_av_set_addr(t.set[0], &base), 0) &&
	     wrong_joins(t.set[0], base) && wrong_calls(&t) && nothing(&all[0].s);
	/*
	 * Join a part of a group. This works, so the refused calls had no
	 * effect.
	 */
	memset(&part, 0, sizeof(part));
	ok = ok && expect(fi_join_collective(all[0].s.ep, t.coll[0], t.set[0], 0,
					     &part.mc[0], &part), 0) &&
	     expect(fi_join_collective(all[1].s.ep, t.coll[1], t.set[1], 0,
				       &part.mc[1], &part), 0);
	part.n = 2;
	part.who[1] = 1;
	ok = ok && hears(&part, 0, 0, NULL) && hears(&part, 1, 0, NULL) &&
	     expect(fi_barrier(all[0].s.ep, part.coll[0], &t), 0) &&
	     expect(fi_barrier(all[1].s.ep, part.coll[1], &t), 0) &&
	     ended(&part, 0, &t);
	leave(&part, ~0U);
	leave(&t, ~0U);
	close_members(2);
	return ok;
}

/* Queries and calls agree; see also colltype.c. */
static bool queries(void)
{
	struct fi_collective_attr attr = {
		.op = FI_NOOP,
		.datatype = FI_VOID,
	};
	struct fid_domain *d;
	bool ok;

	open_members(1, &with_groups);
	d = all[0].s.domain;
	ok = expect(fi_query_collective(d, FI_BARRIER, &attr, 0), 0) &&
	     expect(attr.max_members, 1024) &&
	     expect(fi_query_collective(d, FI_BROADCAST, &attr, 0),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_query_collective(d, FI_BARRIER, NULL, 0), -FI_EINVAL) &&
	     expect(fi_query_collective(d, FI_BARRIER, &attr, FI_COMPLETION),
		    -FI_EINVAL) &&
	     expect(fi_query_collective(d, (enum fi_collective_op)9, &attr, 0),
		    -FI_EINVAL);
	attr.datatype = FI_INT16;
	ok = ok && expect(fi_query_collective(d, FI_ALLTOALL, &attr, 0), 0) &&
	     expect(attr.datatype_attr.size, 2) &&
	     expect(attr.datatype_attr.count, 1 << 29) &&
	     expect(fi_query_collective(d, FI_BARRIER, &attr, 0),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_query_collective(d, FI_REDUCE_SCATTER, &attr, 0),
		    -FI_EOPNOTSUPP);
	attr.op = FI_BXOR;
	ok = ok && expect(fi_query_collective(d, FI_REDUCE_SCATTER, &attr, 0), 0);
	attr.mode = 1;
	ok = ok && expect(fi_query_collective(d, FI_REDUCE, &attr, 0), -FI_EINVAL);
	close_members(1);
	return ok;
}

const struct part collset_parts[] = {
	{ "sets of addresses", sets },
	{ "groups that overlap", overlapping },
	{ "members that are far ahead", far_ahead },
	{ "data that others wait for is sent first", first_things_first },
	{ "a group within one domain", one_domain },
	{ "completions of collective operations", telling },
	{ "wrong joins and calls", wrong },
	{ "queries of collective operations", queries },
	{ NULL, NULL },
};
