// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Large groups whose members are endpoints of few domains in one process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_collective.h>

#include "fi.h"
#include "limits.h"

#define DOMAINS	(AFI_MEMBERS / EACH)
#define EACH	32	/* endpoints of a domain */

/**
 * struct crowd - a member
 * @ep: endpoint
 * @mc: result of joining
 * @sum: result of its reduction
 * @ended: the reduction has ended
 */
struct crowd {
	struct fid_ep *ep;
	struct fid_mc *mc;
	uint32_t sum;
	bool ended;
};

static struct side sides[DOMAINS];
static struct fid_av_set *sets[DOMAINS];
static struct crowd crowd[AFI_MEMBERS];
static struct ep_name names[AFI_MEMBERS + 1];

static bool open_ep(struct side *s, struct crowd *m)
{
	return expect(fi_endpoint(s->domain, s->info, &m->ep, m), 0) &&
	       expect(fi_ep_bind(m->ep, &s->av->fid, 0), 0) &&
	       expect(fi_ep_bind(m->ep, &s->eq->fid, 0), 0) &&
	       expect(fi_ep_bind(m->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV),
		      0) &&
	       expect(fi_enable(m->ep), 0);
}

static bool open_domain(int d, const struct how *how)
{
	bool ok = true;
	char name[16];
	int i;

	snprintf(name, sizeof(name), "angara%d", d % 6);
	open_side(&sides[d], how, name);
	for (i = d * EACH; ok && i < (d + 1) * EACH; i++) {
		ok = open_ep(&sides[d], &crowd[i]);
		names[i] = name_of(crowd[i].ep);
	}
	return ok;
}

/* Makes a set of the first @n members, with equal addresses in each domain. */
static bool make_set(int d, int n)
{
	struct fi_av_set_attr attr = {
		.count = AFI_MEMBERS + 1,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	bool ok = expect(fi_av_set(sides[d].av, &attr, &sets[d], NULL), 0);
	int i;

	for (i = 0; ok && i < n; i++)
		ok = expect(fi_av_set_insert(sets[d], insert(sides[d].av,
							     &names[i])), 0);
	return ok;
}

/* Takes the event of a member that has joined, if there is one, and counts it in @n. */
static bool joined(struct side *s, int *n)
{
	struct fi_eq_entry entry;
	uint32_t event = 0;
	ssize_t ret = fi_eq_read(s->eq, &event, &entry, sizeof(entry), 0);

	*n += ret == sizeof(entry);
	return ret == -FI_EAGAIN || (expect(ret, sizeof(entry)) &&
				     expect(event, FI_JOIN_COMPLETE));
}

static bool start_join_of(int i)
{
	return expect(fi_join_collective(crowd[i].ep, FI_ADDR_NOTAVAIL,
					 sets[i / EACH], 0, &crowd[i].mc, NULL),
		      0);
}

static bool all_join(void)
{
	bool ok = true;
	int i, n = 0;

	for (i = AFI_MEMBERS; ok && i--;)
		ok = start_join_of(i);
	for (i = 0; ok && n < AFI_MEMBERS; i = (i + 1) % DOMAINS) {
		fi_cq_read(sides[i].cq, NULL, 0);
		ok = joined(&sides[i], &n);
	}
	return ok;
}

static bool all_reduce(void)
{
	const uint32_t one = 1;
	int i, n = 0;
	bool ok = true;

	for (i = 0; ok && i < AFI_MEMBERS; i++)
		ok = expect(when_room(&sides[i / EACH],
				      fi_allreduce(crowd[i].ep, &one, 1, NULL,
						   &crowd[i].sum, NULL,
						   fi_mc_addr(crowd[i].mc),
						   FI_UINT32, FI_SUM, 0,
						   &crowd[i])), 0);
	for (i = 0; ok && n < AFI_MEMBERS; i = (i + 1) % DOMAINS) {
		struct fi_cq_tagged_entry e;
		ssize_t ret = fi_cq_read(sides[i].cq, &e, 1);

		if (ret == -FI_EAGAIN)
			continue;
		ok = expect(ret, 1) &&
		     expect(((struct crowd *)e.op_context)->sum, AFI_MEMBERS);
		n++;
	}
	return ok;
}

/* A set has no room for more members. */
static bool too_many(void)
{
	names[AFI_MEMBERS] = names[0];
	names[AFI_MEMBERS].serial++;
	return expect(fi_av_set_insert(sets[0], insert(sides[0].av,
						       &names[AFI_MEMBERS])),
		      -FI_ENOSPC);
}

static bool open_crowd(int domains)
{
	const struct how how = { .caps = FI_COLLECTIVE | FI_MSG };
	bool ok = true;
	int i;

	setenv("FI_ANGARA_COLL", "software", 1);
	for (i = 0; ok && i < domains; i++)
		ok = open_domain(i, &how);
	unsetenv("FI_ANGARA_COLL");
	for (i = 0; ok && i < domains; i++)
		ok = make_set(i, domains * EACH);
	return ok;
}

static void leave_join(struct crowd *m)
{
	if (m->mc)
		closed(&m->mc->fid);
	m->mc = NULL;
}

static void close_crowd(int domains)
{
	int i;

	for (i = 0; i < domains * EACH; i++) {
		leave_join(&crowd[i]);
		if (crowd[i].ep)
			closed(&crowd[i].ep->fid);
		crowd[i].ep = NULL;
	}
	for (i = 0; i < domains && sets[i]; i++) {
		closed(&sets[i]->fid);
		close_side(&sides[i]);
		sets[i] = NULL;
	}
}

static bool largest(void)
{
	bool ok = open_crowd(DOMAINS) && all_join() && all_reduce() && too_many();

	close_crowd(DOMAINS);
	return ok;
}

#define FEW		2	/* domains of a group with two levels below rank 0 */
#define LAST		(FEW * EACH - 1)
#define LEAF		(AFI_JOIN_WAYS - 1)	/* member below rank 0 */
#define ABOVE_LAST	((LAST - 1) / AFI_JOIN_WAYS)

/* Takes events of failed joins that name @culprit.  Return: their number. */
static int canceled(struct side *s, const char *culprit)
{
	struct fi_eq_err_entry bad = { 0 };
	struct fi_eq_entry entry;
	uint32_t event;
	char line[64];
	int n = 0;

	while (fi_eq_read(s->eq, &event, &entry, sizeof(entry), 0) ==
	       -FI_EAVAIL) {
		if (fi_eq_readerr(s->eq, &bad, 0) != sizeof(bad) ||
		    !expect(bad.err, FI_ECANCELED) ||
		    !expect(strcmp(fi_eq_strerror(s->eq, bad.prov_errno, NULL,
						  line, sizeof(line)),
				   culprit), 0))
			return -LAST;
		n++;
	}
	return n;
}

/* All members but @missing join, then member @leaves leaves: the others get errors. */
static bool gives_up(int missing, int leaves, const char *culprit)
{
	bool ok = true;
	int i, n = 0;

	for (i = 0; ok && i <= LAST; i++)
		ok = i == missing || start_join_of(i);
	for (i = 0; i < 1000; i++)
		fi_cq_read(sides[i % FEW].cq, NULL, 0);
	leave_join(&crowd[leaves]);
	for (i = 0; ok && n >= 0 && n < LAST - 1; i = (i + 1) % FEW) {
		fi_cq_read(sides[i].cq, NULL, 0);
		n += canceled(&sides[i], culprit);
	}
	for (i = 0; i <= LAST; i++)
		leave_join(&crowd[i]);
	return ok && expect(n, LAST - 1);
}

/*
 * A member leaves: a leaf whose part of the tree has joined; a member between
 * leaves and rank 0 whose part has not; rank 0.  The last member is on the
 * third level.
 */
static bool leaving(void)
{
	bool ok = open_crowd(FEW) &&
		  gives_up(LEAF, LAST, "node 1 failed or timed out") &&
		  gives_up(LAST, ABOVE_LAST, "node 0 failed or timed out") &&
		  gives_up(LEAF, 0, "node 0 failed or timed out");

	close_crowd(FEW);
	return ok;
}

const struct part crowd_parts[] = {
	{ "the largest group", largest },
	{ "a member leaves a large group early", leaving },
	{ 0 },
};
