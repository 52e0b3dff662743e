// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Poll sets: report which completion queues have entries and which counters
 * have changed.
 */
#include <stdlib.h>

#include "afi.h"

#define AFI_POLL_FIRST	8U

/**
 * struct poll_entry - a member of a set
 * @cq: completion queue; NULL: the member is a counter
 * @cntr: counter; NULL: the member is a completion queue
 * @value: value of @cntr at the last report
 * @errors: errors of @cntr at the last report
 */
struct poll_entry {
	struct afi_cq *cq;
	struct afi_cntr *cntr;
	u64 value;
	u64 errors;
};

/**
 * struct afi_poll - a poll set; under the domain's lock
 * @fid: the program's handle
 * @domain: its domain
 * @entries: members, checked round robin, so that none is omitted if all are
 *	ready
 * @n: number of @entries
 * @room: capacity
 * @next: member to check first
 */
struct afi_poll {
	struct fid_poll fid;
	struct afi_domain *domain;
	struct poll_entry *entries;
	u32 n;
	u32 room;
	u32 next;
};

static struct afi_poll *poll_of(struct fid_poll *fid)
{
	return afi_of(fid, struct afi_poll, fid);
}

/* Return: true if the member is ready.  @context: out: its context */
static bool has_news(struct poll_entry *e, void **context)
{
	if (e->cq) {
		*context = e->cq->fid.fid.context;
		return e->cq->head != e->cq->tail;
	}
	*context = e->cntr->fid.fid.context;
	if (e->cntr->value == e->value && e->cntr->errors == e->errors)
		return false;
	e->value = e->cntr->value;
	e->errors = e->cntr->errors;
	return true;
}

static int poll_poll(struct fid_poll *fid, void **context, int count)
{
	struct afi_poll *p = poll_of(fid);
	int found = 0;
	u32 i;

	afi_lock(p->domain);
	afi_progress(p->domain);
	for (i = 0; i < p->n && found < count; i++) {
		found += has_news(&p->entries[p->next], &context[found]);
		p->next = (p->next + 1) % p->n;
	}
	afi_unlock(p->domain);
	return found;
}

/*
 * Makes the entry for an object. Return: 0; -FI_EINVAL its type or domain is
 * wrong.
 */
static int entry_of(const struct afi_poll *p, struct fid *fid, u64 flags,
		    struct poll_entry *e)
{
	const struct afi_domain *d = NULL;

	*e = (struct poll_entry){ 0 };
	if (fid->fclass == FI_CLASS_CQ) {
		e->cq = afi_of(fid, struct afi_cq, fid.fid);
		d = e->cq->domain;
	} else if (fid->fclass == FI_CLASS_CNTR) {
		e->cntr = afi_of(fid, struct afi_cntr, fid.fid);
		d = e->cntr->domain;
	}
	return flags || d != p->domain ? -FI_EINVAL : 0;
}

static u32 poll_place(const struct afi_poll *p, const struct poll_entry *e)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->entries[i].cq == e->cq && p->entries[i].cntr == e->cntr)
			break;
	return i;
}

static u32 *refs_of(const struct poll_entry *e)
{
	return e->cq ? &e->cq->refs : &e->cntr->refs;
}

static int poll_insert(struct afi_poll *p, struct poll_entry *e)
{
	u32 room = p->room ? 2 * p->room : AFI_POLL_FIRST;
	struct poll_entry *entries;

	if (poll_place(p, e) < p->n)
		return -FI_EINVAL;
	if (p->n == p->room) {
		entries = realloc(p->entries, room * sizeof(*entries));
		if (!entries)
			return -FI_ENOMEM;
		p->entries = entries;
		p->room = room;
	}
	if (e->cntr) {
		e->value = e->cntr->value;
		e->errors = e->cntr->errors;
	}
	afi_ref(refs_of(e));
	p->entries[p->n++] = *e;
	return 0;
}

static int poll_add(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct afi_poll *p = poll_of(fid);
	struct poll_entry e;
	int ret = entry_of(p, event_fid, flags, &e);

	if (ret)
		return ret;
	afi_lock(p->domain);
	ret = poll_insert(p, &e);
	afi_unlock(p->domain);
	return ret;
}

static int poll_del(struct fid_poll *fid, struct fid *event_fid, uint64_t flags)
{
	struct afi_poll *p = poll_of(fid);
	struct poll_entry e;
	int ret = entry_of(p, event_fid, flags, &e);
	u32 i;

	if (ret)
		return ret;
	afi_lock(p->domain);
	i = poll_place(p, &e);
	ret = i < p->n ? 0 : -FI_EINVAL;
	if (!ret) {
		afi_unref(refs_of(&e));
		p->entries[i] = p->entries[--p->n];
		p->next = 0;
	}
	afi_unlock(p->domain);
	return ret;
}

static int poll_close(struct fid *fid)
{
	struct afi_poll *p = afi_of(fid, struct afi_poll, fid.fid);
	u32 i;

	for (i = 0; i < p->n; i++)
		afi_unref(refs_of(&p->entries[i]));
	afi_unref(&p->domain->refs);
	free(p->entries);
	free(p);
	return 0;
}

static struct fi_ops poll_fi_ops =
	AFI_FI_OPS(poll_close, afi_no_bind, afi_no_control);

static struct fi_ops_poll poll_ops = {
	.size = sizeof(struct fi_ops_poll),
	.poll = poll_poll,
	.poll_add = poll_add,
	.poll_del = poll_del,
};

int afi_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		  struct fid_poll **out)
{
	struct afi_poll *p;

	if (attr && attr->flags)
		return -FI_EINVAL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -FI_ENOMEM;
	p->domain = afi_domain_of(domain);
	p->fid.fid.fclass = FI_CLASS_POLL;
	p->fid.fid.ops = &poll_fi_ops;
	p->fid.ops = &poll_ops;
	afi_ref(&p->domain->refs);
	*out = &p->fid;
	return 0;
}
