// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups for tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define NODES	6	/* nodes of each fabric */

struct member all[MOST];
const struct how with_groups = { .caps = FI_COLLECTIVE | FI_MSG };

void open_members(int n, const struct how *how)
{
	char name[16];
	int i, j;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "angara%d", i % NODES);
		open_side(&all[i].s, how, name);
	}
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			introduce(&all[i].s, &all[j].s, &all[i].addr[j]);
}

void open_members_for(int n, const char *way)
{
	setenv("FI_ANGARA_COLL", way, 1);
	open_members(n, &with_groups);
	unsetenv("FI_ANGARA_COLL");
}

void close_members(int n)
{
	while (n--)
		close_side(&all[n].s);
}

static bool make_set(struct member *m, int n, const int *who,
		     struct fid_av_set **set)
{
	struct fi_av_set_attr attr = {
		.count = (size_t)n,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	bool ok = expect(fi_av_set(m->s.av, &attr, set, NULL), 0);
	int i;

	for (i = 0; ok && i < n; i++)
		ok = expect(fi_av_set_insert(*set, m->addr[who[i]]), 0);
	return ok;
}

bool start_join(struct team *t, int n, const int *who, unsigned int which)
{
	bool ok = true;
	int r;

	memset(t, 0, sizeof(*t));
	t->n = n;
	memcpy(t->who, who, (size_t)n * sizeof(*who));
	for (r = 0; ok && r < n; r++) {
		struct member *m = of(t, r);
		fi_addr_t base;

		if (!(which & 1U << r))
			continue;
		ok = make_set(m, n, who, &t->set[r]) &&
		     expect(fi_av_set_addr(t->set[r], &base), 0) &&
		     expect(fi_join_collective(m->s.ep, base, t->set[r], 0,
					       &t->mc[r], t), 0);
	}
	return ok;
}

bool hears(struct team *t, int r, int err, const char *text)
{
	struct fid_eq *eq = of(t, r)->s.eq;
	struct fi_eq_err_entry bad = { 0 };
	struct fi_eq_entry entry = { 0 };
	char line[64];
	uint32_t event = 0;
	ssize_t ret = fi_eq_sread(eq, &event, &entry, sizeof(entry), LONG_MS, 0);

	if (!err) {
		t->coll[r] = fi_mc_addr(t->mc[r]);
		return expect(ret, sizeof(entry)) &&
		       expect(event, FI_JOIN_COMPLETE) &&
		       expect(entry.fid == &t->mc[r]->fid, true) &&
		       expect(entry.context == t, true);
	}
	return expect(ret, -FI_EAVAIL) &&
	       expect(fi_eq_readerr(eq, &bad, 0), sizeof(bad)) &&
	       expect(bad.err, err) &&
	       expect(bad.fid == &t->mc[r]->fid, true) &&
	       expect(bad.context == t, true) &&
	       (!text || expect(strcmp(fi_eq_strerror(eq, bad.prov_errno, NULL,
						      line, sizeof(line)),
				       text), 0));
}

bool join(struct team *t, int n, const int *who)
{
	bool ok = start_join(t, n, who, ~0U);
	int r;

	for (r = 0; ok && r < n; r++)
		ok = hears(t, r, 0, NULL);
	return ok;
}

void leave(struct team *t, unsigned int which)
{
	int r;

	for (r = 0; r < t->n; r++) {
		if (!(which & 1U << r))
			continue;
		if (t->mc[r])
			closed(&t->mc[r]->fid);
		if (t->set[r])
			closed(&t->set[r]->fid);
		t->mc[r] = NULL;
		t->set[r] = NULL;
	}
}

bool ended(const struct team *t, unsigned int not, void *context)
{
	unsigned int left = ((1U << t->n) - 1) & ~not;
	long spins;

	for (spins = 0; left && spins < 200000000; spins++) {
		int r = (int)(spins % t->n);
		struct fi_cq_tagged_entry e = { 0 };
		struct fi_cq_err_entry err = { 0 };
		ssize_t ret;

		if (!(left & 1U << r)) {
			fi_cq_read(of(t, r)->s.cq, NULL, 0);
			continue;
		}
		ret = fi_cq_read(of(t, r)->s.cq, &e, 1);
		if (ret == -FI_EAGAIN)
			continue;
		if (ret == -FI_EAVAIL &&
		    fi_cq_readerr(of(t, r)->s.cq, &err, 0) == 1)
			printf("# rank %d: %s\n", r, fi_strerror(err.err));
		if (!expect(ret, 1) ||
		    !expect((long long)e.flags, (long long)FI_COLLECTIVE) ||
		    !expect(e.op_context == context, true))
			return false;
		left &= ~(1U << r);
	}
	return expect(left, 0);
}
