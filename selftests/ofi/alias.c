// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Aliases of an endpoint, which differ from it in default flags only.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_trigger.h>

#include "fi.h"

#define MEM	(1U << 16)

static struct side s[2];
static char *mem[2];
static struct fid_mr *mr;

/* Binds queues such that completions are reported only on request. */
static void setup(void)
{
	const struct how how = { .selective = true };

	open_pair_mem(s, &how, mem, MEM);
	mr = reg(&s[1], mem[1], MEM, ALL_RIGHTS, 1);
}

static void teardown(void)
{
	closed(&mr->fid);
	close_pair_mem(s, mem);
}

static struct fid_ep *alias_of(struct fid_ep *ep, uint64_t flags)
{
	struct fid_ep *alias = NULL;

	expect(fi_ep_alias(ep, &alias, flags), 0);
	return alias;
}

static uint64_t flags_of(struct fid_ep *ep, uint64_t way)
{
	expect(fi_control(&ep->fid, FI_GETOPSFLAG, &way), 0);
	return way;
}

/* Sends through @ep; the other side receives through @at. */
static bool passes(struct fid_ep *ep, struct fid_ep *at, void *context)
{
	fill(mem[0], 100, 7);
	memset(mem[1], 0, 100);
	return expect(fi_recv(at, mem[1], 100, NULL, FI_ADDR_UNSPEC, context),
		      0) &&
	       expect(fi_send(ep, mem[0], 100, NULL, s[0].peer, context), 0);
}

static bool told(struct side *side, void *context)
{
	struct fi_cq_tagged_entry e;

	return completion(side, &e) && expect(e.op_context == context, true);
}

/* Each handle has its own flags; everything else is shared. */
static bool flags(void)
{
	struct fid_ep *tx, *rx, *both;
	struct fid_ep *none = NULL;
	bool ok;
	int a, b;

	setup();
	tx = alias_of(s[0].ep, FI_TRANSMIT | FI_COMPLETION);
	rx = alias_of(s[1].ep, FI_RECV | FI_COMPLETION);
	both = alias_of(tx, FI_TRANSMIT);
	ok = expect(flags_of(tx, FI_TRANSMIT) == FI_COMPLETION, true) &&
	     expect(flags_of(both, FI_TRANSMIT) == 0, true) &&
	     expect(flags_of(s[0].ep, FI_TRANSMIT) == 0, true) &&
	     expect(flags_of(rx, FI_RECV) == FI_COMPLETION, true) &&
	     expect(flags_of(rx, FI_TRANSMIT) == 0, true) &&
	     expect(fi_ep_alias(tx, &none, 0), -FI_EINVAL) &&
	     expect(fi_ep_alias(tx, &none, FI_TRANSMIT | FI_RECV), -FI_EINVAL) &&
	     expect(fi_ep_alias(tx, &none, FI_TRANSMIT | FI_PEEK), -FI_EINVAL) &&
	     expect(none == NULL, true) &&
	     expect(name_of(tx).serial, name_of(s[0].ep).serial);
	/* Only calls through aliases with FI_COMPLETION report completions. */
	ok = ok && passes(tx, s[1].ep, &a) && told(&s[0], &a) &&
	     passes(s[0].ep, rx, &b) && told(&s[1], &b) &&
	     filled(mem[1], 100, 7) && nothing(&s[0]) && nothing(&s[1]) &&
	     expect(fi_write(both, mem[0], 8, NULL, s[0].peer, 0, 1, &a), 0) &&
	     expect(fi_write(tx, mem[0], 8, NULL, s[0].peer, 0, 1, &b), 0) &&
	     told(&s[0], &b) && nothing(&s[0]);
	/* A receive of the endpoint is cancelled through its alias. */
	ok = ok && expect(fi_recv(s[1].ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, &a),
			  0) &&
	     expect(fi_cancel(&rx->fid, &a), 0) &&
	     error(&s[1], FI_ECANCELED, &a);
	ok = expect(fi_close(&s[0].ep->fid), -FI_EBUSY) && ok;
	ok = closed(&tx->fid) && ok;
	ok = expect(fi_close(&s[0].ep->fid), -FI_EBUSY) && ok;
	ok = closed(&both->fid) && closed(&rx->fid) && ok;
	teardown();
	return ok;
}

/* With FI_INJECT as a default, writes inject; reads work as without the flag. */
static bool injected(void)
{
	const uint64_t flags = FI_TRANSMIT | FI_COMPLETION | FI_INJECT;
	struct iovec iov = { .iov_len = 200 };
	struct fid_ep *tx;
	int a, b, c;
	bool ok;

	setup();
	iov.iov_base = mem[0] + 4096;
	tx = alias_of(s[0].ep, flags);
	fill(mem[0], 200, 3);
	ok = expect(fi_write(tx, mem[0], 200, NULL, s[0].peer, 0, 1, &a), 0);
	memset(mem[0], 0, 200);
	ok = ok && told(&s[0], &a) && filled(mem[1], 200, 3) &&
	     expect(fi_write(tx, mem[0], 4096, NULL, s[0].peer, 0, 1, &a),
		    -FI_EMSGSIZE) &&
	     expect(fi_read(tx, mem[0], 200, NULL, s[0].peer, 0, 1, &b), 0) &&
	     told(&s[0], &b) && filled(mem[0], 200, 3) &&
	     expect(fi_readv(tx, &iov, NULL, 1, s[0].peer, 0, 1, &c), 0) &&
	     told(&s[0], &c) && filled(iov.iov_base, 200, 3);
	closed(&tx->fid);
	teardown();
	return ok;
}

/* With FI_TRIGGER as a default each call waits for its counter. */
static bool triggered(void)
{
	struct fi_triggered_context t[6] = { 0 };
	uint64_t one = 1, old[2] = { 9, 9 };
	struct fid_ep *tx, *rx;
	struct fid_cntr *c[2];
	bool ok = true;
	int i;

	setup();
	for (i = 0; i < 2; i++)
		expect(fi_cntr_open(s[i].domain, NULL, &c[i], NULL), 0);
	for (i = 0; i < 6; i++) {
		t[i].event_type = FI_TRIGGER_THRESHOLD;
		t[i].trigger.threshold.cntr = c[i == 5];
		t[i].trigger.threshold.threshold = (size_t)i + 1;
	}
	tx = alias_of(s[0].ep, FI_TRANSMIT | FI_TRIGGER | FI_COMPLETION);
	rx = alias_of(s[1].ep, FI_RECV | FI_TRIGGER | FI_COMPLETION);
	fill(mem[0], 64, 5);
	ok = ok && expect(fi_write(tx, mem[0], 64, NULL, s[0].peer, 4096, 1,
				   &t[0]), 0) &&
	     expect(fi_atomic(tx, &one, 1, NULL, s[0].peer, 0, 1, FI_UINT64,
			      FI_SUM, &t[1]), 0) &&
	     expect(fi_fetch_atomic(tx, &one, 1, NULL, &old[0], NULL, s[0].peer,
				    0, 1, FI_UINT64, FI_SUM, &t[2]), 0) &&
	     expect(fi_compare_atomic(tx, &one, 1, NULL, &one, NULL, &old[1],
				      NULL, s[0].peer, 0, 1, FI_UINT64,
				      FI_CSWAP_NE, &t[3]), 0) &&
	     expect(fi_send(tx, mem[0], 64, NULL, s[0].peer, &t[4]), 0) &&
	     expect(fi_recv(rx, mem[1] + 8192, 64, NULL, FI_ADDR_UNSPEC, &t[5]),
		    0) && nothing(&s[0]);
	for (i = 0; ok && i < 5; i++)
		ok = expect(fi_cntr_add(c[0], 1), 0) && told(&s[0], &t[i]);
	ok = ok && nothing(&s[1]) && expect(fi_cntr_add(c[1], 6), 0) &&
	     told(&s[1], &t[5]) && filled(mem[1] + 8192, 64, 5) &&
	     filled(mem[1] + 4096, 64, 5) && expect((long long)old[0], 1) &&
	     expect((long long)old[1], 2) &&
	     expect((long long)*(uint64_t *)mem[1], 1);
	/* A triggered call without a counter to wait for is an error. */
	ok = ok && expect(fi_write(tx, mem[0], 8, NULL, s[0].peer, 0, 1, NULL),
			  -FI_EINVAL);
	closed(&tx->fid);
	closed(&rx->fid);
	for (i = 0; i < 2; i++)
		closed(&c[i]->fid);
	teardown();
	return ok;
}

const struct part alias_parts[] = {
	{ "aliases: flags", flags },
	{ "aliases: reads with FI_INJECT as a default", injected },
	{ "aliases: calls that wait for counters", triggered },
	{ 0 },
};
