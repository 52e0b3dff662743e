// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events at targets of reads, writes and atomic operations (FI_RMA_EVENT).
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>

#include "fi.h"

#define MEM	(1U << 16)
#define CAPS	(FI_MSG | FI_RMA | FI_ATOMIC | FI_RMA_EVENT)

static struct side s[2];
static char *mem[2];
static struct fid_mr *mr, *other;
static struct fid_cntr *cntr[2];	/* counters of writes, reads */

static struct fid_cntr *new_cntr(void)
{
	struct fid_cntr *c = NULL;

	expect(fi_cntr_open(s[1].domain, NULL, &c, NULL), 0);
	return c;
}

static void setup(int mr_mode)
{
	const struct how how = { .caps = CAPS, .mr_mode = mr_mode };

	open_pair_mem(s, &how, mem, MEM);
	mr = reg(&s[1], mem[1], MEM / 2, ALL_RIGHTS, 5);
	other = reg(&s[1], mem[1] + MEM / 2, MEM / 2, ALL_RIGHTS, 70000);
	cntr[0] = new_cntr();
	cntr[1] = new_cntr();
}

static void teardown(void)
{
	closed(&mr->fid);
	closed(&other->fid);
	closed(&cntr[0]->fid);
	closed(&cntr[1]->fid);
	close_pair_mem(s, mem);
}

static uint64_t there(void)
{
	return start_of(&s[1], mem[1]);
}

/*
 * Both sides make progress until the target's counters have these values, and
 * stay there.
 */
static bool counted(uint64_t writes, uint64_t reads)
{
	long i;

	for (i = 0; i < 20000000 && (fi_cntr_read(cntr[0]) < writes ||
				     fi_cntr_read(cntr[1]) < reads); i++)
		fi_cq_read(s[0].cq, NULL, 0);
	for (i = 0; i < 1000; i++)
		fi_cq_read(s[0].cq, NULL, 0);
	return expect(fi_cntr_read(cntr[0]), (long long)writes) &&
	       expect(fi_cntr_read(cntr[1]), (long long)reads) &&
	       expect(fi_cntr_readerr(cntr[0]), 0);
}

/* When the event is reported, data of every length has arrived. */
static bool lengths(void)
{
	static const size_t len[] = { 1, 256, 257, 16385, 30000 };
	uint64_t writes = fi_cntr_read(cntr[0]);
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < sizeof(len) / sizeof(*len); i++) {
		fill(mem[0], len[i], (unsigned int)i);
		memset(mem[1], 0, len[i]);
		ok = expect(fi_write(s[0].ep, mem[0], len[i], NULL, s[0].peer,
				     there(), fi_mr_key(mr), NULL), 0);
		while (ok && fi_cntr_read(cntr[0]) == writes + i)
			fi_cq_read(s[0].cq, NULL, 0);
		ok = ok && filled(mem[1], len[i], (unsigned int)i);
	}
	return ok && counted(writes + i, 0);
}

static ssize_t write_to(fi_addr_t peer, void *context)
{
	return fi_write(s[0].ep, mem[0], 8, NULL, peer, there(), fi_mr_key(mr),
			context);
}

/*
 * Each operation counts once, also if it is in pieces; a fetching atomic counts
 * as a read and as a write.
 */
static bool kinds(void)
{
	struct iovec local = { mem[0], 600 };
	struct fi_rma_iov remote[3] = {
		{ there(), 100, fi_mr_key(mr) },
		{ there() + 3000, 200, fi_mr_key(mr) },
		{ there() + (there() ? MEM / 2 : 0), 300, fi_mr_key(other) },
	};
	struct fi_msg_rma msg = { &local, NULL, 1, s[0].peer, remote, 3, NULL,
				  0 };
	uint64_t one = 1, old = 0;
	uint64_t writes = fi_cntr_read(cntr[0]);

	return expect(fi_writemsg(s[0].ep, &msg, 0), 0) &&
	       counted(writes + 1, 0) &&
	       expect(fi_readmsg(s[0].ep, &msg, 0), 0) &&
	       counted(writes + 1, 1) &&
	       expect(fi_inject_write(s[0].ep, mem[0], 8, s[0].peer, there(),
				      fi_mr_key(mr)), 0) &&
	       counted(writes + 2, 1) &&
	       expect(fi_atomic(s[0].ep, &one, 1, NULL, s[0].peer, there(),
				fi_mr_key(mr), FI_UINT64, FI_SUM, NULL), 0) &&
	       counted(writes + 3, 1) &&
	       expect(fi_fetch_atomic(s[0].ep, &one, 1, NULL, &old, NULL,
				      s[0].peer, there(), fi_mr_key(mr),
				      FI_UINT64, FI_SUM, NULL), 0) &&
	       counted(writes + 4, 2) &&
	       expect(fi_fetch_atomic(s[0].ep, NULL, 1, NULL, &old, NULL,
				      s[0].peer, there(), fi_mr_key(mr),
				      FI_UINT64, FI_ATOMIC_READ, NULL), 0) &&
	       counted(writes + 4, 3) &&
	       expect(fi_compare_atomic(s[0].ep, &one, 1, NULL, &one, NULL, &old,
					NULL, s[0].peer, there(), fi_mr_key(mr),
					FI_UINT64, FI_CSWAP, NULL), 0) &&
	       counted(writes + 5, 4);
}

/* Refused operations, and operations on other regions, do not count. */
static bool others(void)
{
	uint64_t writes = fi_cntr_read(cntr[0]);
	struct fi_cq_tagged_entry e;
	bool ok;

	while (fi_cq_read(s[0].cq, &e, 1) == 1)
		;
	ok = expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer,
			     there() + MEM, fi_mr_key(mr), mem), 0) &&
	     error(&s[0], FI_EINVAL, mem) &&
	     expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer,
			     there() + (there() ? MEM / 2 : 0),
			     fi_mr_key(other), mem), 0) &&
	     completion(&s[0], &e);
	return ok && counted(writes, 4);
}

static bool regions(int mr_mode)
{
	bool ok;

	setup(mr_mode);
	ok = expect((s[1].info->caps & FI_RMA_EVENT) != 0, true) &&
	     expect(fi_mr_bind(mr, &cntr[0]->fid, FI_REMOTE_WRITE), 0) &&
	     expect(fi_mr_bind(mr, &cntr[1]->fid, FI_REMOTE_READ), 0) &&
	     expect(fi_mr_bind(mr, &cntr[1]->fid, FI_REMOTE_WRITE),
		    -FI_EINVAL) &&
	     expect(fi_mr_bind(other, &cntr[1]->fid, FI_READ), -FI_EINVAL) &&
	     expect(fi_mr_bind(other, &s[0].cntr->fid, FI_REMOTE_READ),
		    -FI_EINVAL) &&
	     expect(fi_mr_bind(other, &s[1].cq->fid, FI_REMOTE_READ),
		    -FI_EINVAL) &&
	     expect(fi_close(&cntr[0]->fid), -FI_EBUSY) && lengths() &&
	     kinds() && others() && nothing(&s[1]);
	teardown();
	return ok;
}

static bool by_offset(void)
{
	return regions(0);
}

static bool by_address(void)
{
	return regions(BASIC);
}

/* One counter of reads and writes counts an operation of both kinds once. */
static bool of_both(void)
{
	uint64_t one = 1, old = 0;
	bool ok;

	setup(0);
	ok = expect(fi_mr_bind(mr, &cntr[0]->fid,
			       FI_REMOTE_READ | FI_REMOTE_WRITE), 0) &&
	     expect(fi_fetch_atomic(s[0].ep, &one, 1, NULL, &old, NULL,
				    s[0].peer, there(), fi_mr_key(mr),
				    FI_UINT64, FI_SUM, NULL), 0) &&
	     counted(1, 0);
	teardown();
	return ok;
}

/* A counter of an endpoint counts all operations that name this endpoint. */
static bool of_endpoints(void)
{
	struct fid_ep *ep;
	char name[64];
	size_t len = sizeof(name);
	fi_addr_t peer;
	int a, b;
	struct fi_cq_tagged_entry e;
	bool ok;

	setup(0);
	ok = expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &s[1].av->fid, 0), 0) &&
	     expect(fi_ep_bind(ep, &cntr[0]->fid, FI_REMOTE_WRITE), 0) &&
	     expect(fi_ep_bind(ep, &cntr[1]->fid, FI_REMOTE_READ), 0) &&
	     expect(fi_ep_bind(ep, &cntr[1]->fid, FI_REMOTE_READ),
		    -FI_EINVAL) &&
	     expect(fi_enable(ep), 0) &&
	     expect(fi_getname(&ep->fid, name, &len), 0) &&
	     expect(fi_av_insert(s[0].av, name, 1, &peer, 0, NULL), 1) &&
	     expect(write_to(peer, &a), 0) && completion(&s[0], &e) &&
	     expect(e.op_context == &a, true) && counted(1, 0) &&
	     expect(fi_read(s[0].ep, mem[0], 8, NULL, peer, there(),
			    fi_mr_key(mr), &b), 0) && counted(1, 1) &&
	     /* an operation that names the other endpoint does not count */
	     expect(write_to(s[0].peer, &a), 0) && completion(&s[0], &e) &&
	     counted(1, 1);
	closed(&ep->fid);
	/* A counter stops when its region is closed. */
	ok = ok && expect(fi_mr_bind(mr, &cntr[0]->fid, FI_REMOTE_WRITE), 0) &&
	     closed(&mr->fid) && expect(fi_cntr_set(cntr[0], 0), 0);
	mr = reg(&s[1], mem[1], MEM / 2, ALL_RIGHTS, 5);
	ok = ok && expect(write_to(s[0].peer, &a), 0) && counted(0, 1);
	teardown();
	return ok;
}

/* Return: the address of a closed endpoint, or of one of another domain. */
static fi_addr_t address_of_gone(bool foreign)
{
	struct ep_name name;
	struct fid_ep *ep;

	expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0);
	name = name_of(ep);
	if (foreign)
		name.serial ^= 1 << 20;
	closed(&ep->fid);
	return insert(s[0].av, &name);
}

/*
 * Regions belong to the domain: they count operations that name a closed
 * endpoint.
 */
static bool of_nobody(void)
{
	struct fi_cq_tagged_entry e;
	fi_addr_t gone, foreign;
	bool ok;
	int a;

	setup(0);
	gone = address_of_gone(false);
	foreign = address_of_gone(true);
	ok = expect(fi_mr_bind(mr, &cntr[0]->fid, FI_REMOTE_WRITE), 0) &&
	     expect(fi_mr_bind(mr, &cntr[1]->fid, FI_REMOTE_READ), 0) &&
	     expect(write_to(gone, &a), 0) && completion(&s[0], &e) &&
	     counted(1, 0) &&
	     expect(fi_read(s[0].ep, mem[0], 8, NULL, gone, there(),
			    fi_mr_key(mr), &a), 0) && counted(1, 1) &&
	     completion(&s[0], &e) &&
	     /* Operations for an earlier domain do not count. */
	     expect(write_to(foreign, &a), 0) && completion(&s[0], &e) &&
	     counted(1, 1) && nothing(&s[1]);
	teardown();
	return ok;
}

static int reg_flags(uint64_t flags, struct fid_mr **region)
{
	return fi_mr_reg(s[1].domain, mem[1], 64, ALL_RIGHTS, 0, 6, flags, region, NULL);
}

/* A program may request events when it registers the region. */
static bool requested(void)
{
	struct fid_mr *region;
	int a;
	bool ok;

	setup(0);
	ok = expect(reg_flags(FI_RMA_EVENT | FI_RMA_PMEM, &region), -FI_EINVAL) &&
	     expect(reg_flags(FI_RMA_EVENT, &region), 0);
	if (ok) {
		ok = expect(fi_mr_bind(region, &cntr[0]->fid, FI_REMOTE_WRITE), 0) &&
		     expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer, there(),
				     fi_mr_key(region), &a), 0) && counted(1, 0);
		closed(&region->fid);
	}
	teardown();
	return ok;
}

/* Without the capability the call fails and nothing is reported. */
static bool unasked(void)
{
	const struct how how = { 0 };
	struct fid_mr *region;
	struct fid_ep *ep;
	bool ok;

	open_pair_mem(s, &how, mem, MEM);
	mr = reg(&s[1], mem[1], MEM, ALL_RIGHTS, 5);
	cntr[0] = new_cntr();
	ok = expect((s[1].info->caps & FI_RMA_EVENT) != 0, false) &&
	     expect(reg_flags(FI_RMA_EVENT, &region), -FI_EINVAL) &&
	     expect(fi_mr_bind(mr, &cntr[0]->fid, FI_REMOTE_WRITE),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_endpoint(s[1].domain, s[1].info, &ep, NULL), 0) &&
	     expect(fi_ep_bind(ep, &cntr[0]->fid, FI_REMOTE_WRITE),
		    -FI_EOPNOTSUPP) &&
	     /* The call makes the counter count receives only. */
	     expect(fi_ep_bind(ep, &cntr[0]->fid, FI_RECV | FI_REMOTE_WRITE),
		    0) &&
	     expect(fi_ep_bind(ep, &cntr[0]->fid, FI_RECV), -FI_EINVAL) &&
	     closed(&ep->fid);
	closed(&mr->fid);
	closed(&cntr[0]->fid);
	close_pair_mem(s, mem);
	return ok;
}

const struct part event_parts[] = {
	{ "events: of regions, by offset", by_offset },
	{ "events: of regions, by address", by_address },
	{ "events: of regions, by one counter", of_both },
	{ "events: of endpoints", of_endpoints },
	{ "events: of regions, for closed endpoints", of_nobody },
	{ "events: requested with a region", requested },
	{ "events: only with the capability", unasked },
	{ 0 },
};
