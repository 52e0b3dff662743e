// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Scalable endpoints: refused calls, limits, and closing.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_collective.h>

#include "limits.h"
#include "sep.h"

#define LEN	70000	/* bytes of a message that its receiver fetches */

static struct side s;
static struct fid_ep *sep;
static struct fid_ep *tx, *rx;

/* Opens an endpoint with 2 transmit and 3 receive contexts, one each open. */
static void setup(uint64_t caps)
{
	const struct how how = { .caps = caps };

	open_side(&s, &how, "angara0");
	sep = new_sep(&s, 2, 3);
	expect(fi_tx_context(sep, 1, NULL, &tx, NULL), 0);
	expect(fi_rx_context(sep, 2, NULL, &rx, NULL), 0);
}

static void teardown(void)
{
	closed(&tx->fid);
	closed(&rx->fid);
	closed(&sep->fid);
	close_side(&s);
}

/* Contexts that do not exist, or are open already, cannot be opened. */
static bool opening(void)
{
	struct fid_ep *ep, *other;
	struct fi_info *info;
	bool ok;

	setup(0);
	info = s.info;
	ok = expect(fi_tx_context(sep, -1, NULL, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_tx_context(sep, 2, NULL, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_rx_context(sep, -1, NULL, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_rx_context(sep, 3, NULL, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_tx_context(sep, 1, NULL, &ep, NULL), -FI_EBUSY) &&
	     expect(fi_rx_context(sep, 2, NULL, &ep, NULL), -FI_EBUSY) &&
	     expect(fi_tx_context(s.ep, 0, NULL, &ep, NULL), -FI_ENOSYS) &&
	     expect(fi_rx_context(s.ep, 0, NULL, &ep, NULL), -FI_ENOSYS) &&
	     expect(fi_tx_context(tx, 0, NULL, &ep, NULL), -FI_ENOSYS);
	info->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &ep, NULL), -FI_EINVAL);
	info->ep_attr->tx_ctx_cnt = CTXS;
	info->ep_attr->rx_ctx_cnt = CTXS + 1;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &ep, NULL), -FI_EINVAL);
	/* The default is one context each way. */
	info->ep_attr->tx_ctx_cnt = 0;
	info->ep_attr->rx_ctx_cnt = 0;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &ep, NULL), 0) &&
	     expect(fi_tx_context(ep, 1, NULL, &other, NULL), -FI_EINVAL) &&
	     expect(fi_rx_context(ep, 1, NULL, &other, NULL), -FI_EINVAL) &&
	     expect(fi_rx_context(ep, 0, NULL, &other, NULL), 0) &&
	     closed(&other->fid) && closed(&ep->fid) &&
	     expect(fi_scalable_ep(s.domain, NULL, &ep, NULL), -FI_EINVAL);
	info->ep_attr->type = FI_EP_MSG;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &ep, NULL), -FI_EINVAL);
	info->ep_attr->type = FI_EP_RDM;
	info->caps |= FI_MULTICAST;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &ep, NULL), -FI_EINVAL);
	teardown();
	return ok;
}

/* Tries valid and invalid binds: too early, in time and too late. */
static bool binding(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid *av, *cq, *cntr;
	struct fid_eq *eq;
	bool ok;

	setup(0);
	av = &s.av->fid;
	cq = &s.cq->fid;
	cntr = &s.cntr->fid;
	ok = expect(fi_eq_open(s.fabric, &attr, &eq, NULL), 0) &&
	     expect(fi_scalable_ep_bind(sep, cq, FI_TRANSMIT), -FI_EINVAL) &&
	     expect(fi_scalable_ep_bind(sep, cntr, FI_SEND), -FI_EINVAL) &&
	     expect(fi_ep_bind(tx, av, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(rx, &eq->fid, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(tx, cq, FI_RECV), -FI_EINVAL) &&
	     expect(fi_ep_bind(tx, cq, FI_TRANSMIT | FI_RECV), -FI_EINVAL) &&
	     expect(fi_ep_bind(rx, cq, FI_TRANSMIT), -FI_EINVAL) &&
	     expect(fi_ep_bind(rx, cq, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(tx, cntr, FI_RECV), -FI_EINVAL) &&
	     expect(fi_ep_bind(rx, cntr, FI_RECV | FI_WRITE), -FI_EINVAL) &&
	     expect(fi_enable(sep), -FI_ENOAV) && expect(fi_enable(tx), -FI_ENOAV) &&
	     expect(fi_scalable_ep_bind(sep, &eq->fid, 0), 0) &&
	     expect(fi_scalable_ep_bind(sep, av, 0), 0) &&
	     expect(fi_scalable_ep_bind(sep, av, 0), -FI_EINVAL) &&
	     expect(fi_enable(sep), 0) && expect(fi_enable(sep), 0) &&
	     expect(fi_enable(tx), -FI_ENOCQ) && expect(fi_enable(rx), -FI_ENOCQ) &&
	     expect(fi_ep_bind(tx, cq, FI_TRANSMIT), 0) &&
	     expect(fi_ep_bind(tx, cq, FI_TRANSMIT), -FI_EINVAL) &&
	     expect(fi_ep_bind(rx, cntr, FI_RECV), 0) &&
	     expect(fi_send(tx, "", 1, NULL, 0, NULL), -FI_EOPBADSTATE) &&
	     expect(fi_recv(rx, &eq, 1, NULL, 0, NULL), -FI_EOPBADSTATE) &&
	     expect(fi_enable(tx), 0) && expect(fi_enable(rx), 0) &&
	     expect(fi_ep_bind(tx, cntr, FI_SEND), 0) &&
	     expect(fi_ep_bind(sep, av, 0), -FI_EOPBADSTATE) &&
	     expect(fi_close(&eq->fid), -FI_EBUSY);
	closed(&tx->fid);
	closed(&rx->fid);
	closed(&sep->fid);
	closed(&eq->fid);
	close_side(&s);
	return ok;
}

static void enable_all(void)
{
	expect(fi_scalable_ep_bind(sep, &s.av->fid, 0), 0);
	expect(fi_enable(sep), 0);
	expect(fi_ep_bind(tx, &s.cq->fid, FI_TRANSMIT), 0);
	expect(fi_ep_bind(rx, &s.cq->fid, FI_RECV), 0);
	expect(fi_enable(tx), 0);
	expect(fi_enable(rx), 0);
}

/* Calls are available on contexts only, each for its direction. */
static bool calls(void)
{
	uint64_t flags, one = 1;
	size_t min = 8, len = sizeof(min);
	struct ep_name name, own[2];
	fi_addr_t self;
	char buf[8];
	bool ok;

	setup(0);
	enable_all();
	name = name_of(sep);
	self = insert(s.av, &name);
	ok = expect(fi_send(sep, buf, 8, NULL, self, NULL), -FI_ENOSYS) &&
	     expect(fi_trecv(sep, buf, 8, NULL, self, 0, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_write(sep, buf, 8, NULL, self, 0, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_atomic(sep, &one, 1, NULL, self, 0, 0, FI_UINT64, FI_SUM,
			      NULL), -FI_ENOSYS) &&
	     expect(fi_barrier(sep, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_barrier(tx, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_cancel(&sep->fid, buf), -FI_ENOSYS) &&
	     expect(fi_getopt(&sep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			      &min, &len), -FI_ENOPROTOOPT) &&
	     expect(fi_setopt(&sep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			      &min, len), -FI_ENOPROTOOPT) &&
	     expect(fi_setopt(&rx->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
			      &min, len), 0) &&
	     expect(fi_send(rx, buf, 8, NULL, self, NULL), -FI_EOPNOTSUPP) &&
	     expect(fi_write(rx, buf, 8, NULL, self, 0, 0, NULL),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_recv(tx, buf, 8, NULL, self, NULL), -FI_EOPNOTSUPP) &&
	     expect(fi_trecv(tx, buf, 8, NULL, self, 0, 0, NULL), -FI_EOPNOTSUPP);
	/* Get default flags of the wrong direction, then of the right one: there are none. */
	flags = FI_RECV;
	ok = ok && expect(fi_control(&tx->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL);
	flags = FI_TRANSMIT;
	ok = ok && expect(fi_control(&tx->fid, FI_GETOPSFLAG, &flags), 0) &&
	     expect((long long)flags, 0);
	flags = FI_TRANSMIT;
	ok = ok &&
	     expect(fi_control(&sep->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL) &&
	     expect(fi_control(&rx->fid, FI_GETOPSFLAG, &flags), -FI_EINVAL);
	/* All contexts have the same address. */
	own[0] = name_of(tx);
	own[1] = name_of(rx);
	ok = ok && expect(memcmp(&own[0], &name, sizeof(name)), 0) &&
	     expect(memcmp(&own[1], &name, sizeof(name)), 0);
	teardown();
	return ok;
}

/* A context cannot join a group. */
static bool groups(void)
{
	struct fid_av_set *set;
	struct fi_av_set_attr attr = {
		.count = 1,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	struct fid_mc *mc;
	struct ep_name name;
	bool ok;

	setup(0);
	enable_all();
	name = name_of(s.ep);
	insert(s.av, &name);
	ok = expect((s.info->caps & FI_COLLECTIVE) != 0, true) &&
	     expect(fi_av_set(s.av, &attr, &set, NULL), 0) &&
	     expect(fi_join_collective(tx, FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
		    -FI_EOPNOTSUPP) &&
	     expect(fi_join_collective(sep, FI_ADDR_NOTAVAIL, set, 0, &mc, NULL),
		    -FI_EOPNOTSUPP) && closed(&set->fid);
	teardown();
	return ok;
}

static int vector(int bits)
{
	struct fi_av_attr attr = { .rx_ctx_bits = bits };
	struct fid_av *av;
	int ret = fi_av_open(s.domain, &attr, &av, NULL);

	if (!ret)
		closed(&av->fid);
	return ret;
}

/*
 * Invalid addresses are refused, and so are numbers of context bits that leave no room
 * for addresses.
 */
static bool addresses(void)
{
	const struct how how = { 0 };
	char *buf = calloc(1, LEN);
	struct fid_ep *ep;
	struct fid_cq *cq;
	bool ok;

	setup(0);
	ok = expect(vector(-1), -FI_EINVAL) && expect(vector(45), -FI_EINVAL) &&
	     expect(vector(64), -FI_EINVAL) && expect(vector(44), 0);
	teardown();
	open_scalables(&how, 3);
	ep = q[0].tx[0].ep;
	cq = q[0].tx[0].cq;
	ok = ok &&
	     expect(fi_send(ep, buf, 8, NULL, FI_ADDR_UNSPEC, NULL),
		    -FI_EINVAL) &&
	     expect(fi_send(ep, buf, 8, NULL, q[0].peer + 100, NULL),
		    -FI_EINVAL) &&
	     expect(fi_recv(q[0].rx[0].ep, buf, 8, NULL, q[0].peer + 100, NULL),
		    -FI_EINVAL) &&
	     /* Transmit contexts have no addresses. */
	     expect(fi_send(ep, buf, LEN, NULL, to_ctx(&q[0], 3), buf), 0) &&
	     fails(cq, FI_EHOSTUNREACH, buf) &&
	     expect(fi_send(ep, buf, 8, NULL, to_ctx(&q[0], 3), buf), 0) &&
	     next_is(cq, FI_SEND | FI_MSG, buf) && silent() &&
	     /* Unused numbers are not addresses either. */
	     expect(fi_send(ep, buf, LEN, NULL, to_ctx(&q[0], 15), buf), 0) &&
	     fails(cq, FI_EHOSTUNREACH, buf) && silent();
	close_scalables();
	free(buf);
	return ok;
}

/* An address can name more contexts than an endpoint can have: it is refused. */
static bool indices(void)
{
	const struct how how = { .caps = FI_MSG | FI_RMA | FI_ATOMIC };
	struct fi_av_attr attr = { .rx_ctx_bits = 6 };
	struct fid_av *av;
	struct ep_name name;
	uint64_t one = 1;
	fi_addr_t to, far;
	bool ok;

	open_side(&s, &how, "angara0");
	sep = new_sep(&s, 1, 1);
	name = name_of(sep);
	ok = expect(fi_av_open(s.domain, &attr, &av, NULL), 0) &&
	     expect(fi_scalable_ep_bind(sep, &av->fid, 0), 0) &&
	     expect(fi_tx_context(sep, 0, NULL, &tx, NULL), 0) &&
	     expect(fi_rx_context(sep, 0, NULL, &rx, NULL), 0) &&
	     expect(fi_ep_bind(tx, &s.cq->fid, FI_TRANSMIT), 0) &&
	     expect(fi_enable(tx), 0);
	to = insert(av, &name);
	name.ep = AFI_EPS - 2;
	far = insert(av, &name);
	ok = ok &&
	     expect(fi_send(tx, "", 1, NULL, fi_rx_addr(to, CTXS, 6), NULL),
		    -FI_EINVAL) &&
	     expect(fi_send(tx, "", 1, NULL, fi_rx_addr(to, 63, 6), NULL),
		    -FI_EINVAL) &&
	     expect(fi_write(tx, &one, 1, NULL, fi_rx_addr(to, CTXS, 6), 0, 0,
			     NULL), -FI_EINVAL) &&
	     expect(fi_atomic(tx, &one, 1, NULL, fi_rx_addr(to, CTXS, 6), 0, 0,
			      FI_UINT64, FI_SUM, NULL), -FI_EINVAL) &&
	     expect(fi_inject(tx, "", 1, fi_rx_addr(to, CTXS - 1, 6)), 0) &&
	     /* The last number is valid; no number follows it. */
	     expect(fi_inject(tx, "", 1, fi_rx_addr(far, 1, 6)), 0) &&
	     expect(fi_inject(tx, "", 1, fi_rx_addr(far, 2, 6)), -FI_EINVAL);
	closed(&tx->fid);
	closed(&rx->fid);
	closed(&sep->fid);
	closed(&av->fid);
	close_side(&s);
	return ok;
}

/*
 * A context may have fewer capabilities than its endpoint; it reports its own
 * attributes.
 */
static bool attributes(void)
{
	const uint64_t send = FI_MSG | FI_SEND;
	struct fi_tx_attr a = { .caps = send, .size = 3,
				.op_flags = FI_DELIVERY_COMPLETE };
	struct fi_rx_attr b = { .caps = FI_TAGGED };
	struct fi_tx_attr bad_a = { .size = 257 };
	struct fi_rx_attr bad_b = { .caps = FI_RMA_EVENT };
	struct fid_ep *ep = NULL, *other = NULL;
	uint64_t flags = FI_TRANSMIT;
	char buf[8];
	bool ok;

	setup(0);
	enable_all();
	ok = expect(fi_tx_context(sep, 0, &bad_a, &ep, NULL), -FI_EINVAL);
	bad_a = (struct fi_tx_attr){ .caps = FI_RMA_EVENT };
	ok = ok && expect(fi_tx_context(sep, 0, &bad_a, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_rx_context(sep, 0, &bad_b, &ep, NULL), -FI_EINVAL);
	bad_b = (struct fi_rx_attr){ .op_flags = FI_INJECT };
	ok = ok && expect(fi_rx_context(sep, 0, &bad_b, &ep, NULL), -FI_EINVAL) &&
	     expect(fi_tx_context(sep, 0, &a, &ep, &a), 0) &&
	     expect(ep->fid.context == &a, true) &&
	     expect((long long)a.caps, (long long)send) &&
	     expect((long long)a.size, 3) &&
	     expect((long long)a.inject_size, 256) &&
	     expect((a.msg_order & FI_ORDER_SAS) != 0, true) &&
	     expect(fi_ep_bind(ep, &s.cq->fid, FI_TRANSMIT), 0) &&
	     expect(fi_enable(ep), 0) && expect(ep->ops->tx_size_left(ep), 3) &&
	     expect(tx->ops->tx_size_left(tx), 256) &&
	     expect(fi_control(&ep->fid, FI_GETOPSFLAG, &flags), 0) &&
	     expect((long long)flags, FI_DELIVERY_COMPLETE) &&
	     expect(fi_tsend(ep, buf, 1, NULL, 0, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_write(ep, buf, 1, NULL, 0, 0, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_rx_context(sep, 0, &b, &other, NULL), 0) &&
	     expect((long long)b.caps, (long long)(FI_TAGGED | FI_RECV)) &&
	     expect((long long)b.size, 65536) &&
	     expect(fi_ep_bind(other, &s.cq->fid, FI_RECV), 0) &&
	     expect(fi_enable(other), 0) &&
	     expect(fi_recv(other, buf, 8, NULL, 0, NULL), -FI_ENOSYS) &&
	     expect(fi_trecv(other, buf, 8, NULL, FI_ADDR_UNSPEC, 0, 0, NULL), 0);
	if (ep)
		closed(&ep->fid);
	if (other)
		closed(&other->fid);
	teardown();
	return ok;
}

/* Contexts accept the attributes of fi_getinfo(), and remove FI_COLLECTIVE from them. */
static bool own_attributes(void)
{
	struct fid_ep *a = NULL, *b = NULL;
	struct fi_tx_attr tx_attr;
	struct fi_rx_attr rx_attr;
	bool ok;

	setup(0);
	tx_attr = *s.info->tx_attr;
	rx_attr = *s.info->rx_attr;
	ok = expect((tx_attr.caps & rx_attr.caps & FI_COLLECTIVE) != 0, true) &&
	     expect(fi_tx_context(sep, 0, &tx_attr, &a, NULL), 0) &&
	     expect(fi_rx_context(sep, 0, &rx_attr, &b, NULL), 0) &&
	     /* Contexts have all capabilities except groups. */
	     expect((long long)(s.info->tx_attr->caps ^ tx_attr.caps),
		    FI_COLLECTIVE) &&
	     expect((long long)(s.info->rx_attr->caps ^ rx_attr.caps),
		    FI_COLLECTIVE) &&
	     expect(fi_barrier(a, 0, NULL), -FI_ENOSYS);
	if (a)
		closed(&a->fid);
	if (b)
		closed(&b->fid);
	teardown();
	return ok;
}

static uint64_t flags_of(struct fid_ep *ep, uint64_t way)
{
	uint64_t flags = way;

	expect(fi_control(&ep->fid, FI_GETOPSFLAG, &flags), 0);
	return flags;
}

/*
 * A context opened without attributes inherits its endpoint's; one with
 * attributes has its own.
 */
static bool inherited(void)
{
	const struct how how = { 0 };
	struct fi_rx_attr own = { .op_flags = FI_COMPLETION, .size = 100 };
	struct fid_ep *other;
	bool ok;

	open_side(&s, &how, "angara0");
	s.info->tx_attr->size = 16;
	s.info->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	s.info->rx_attr->op_flags = FI_MULTI_RECV;
	sep = new_sep(&s, 1, 2);
	ok = expect(fi_tx_context(sep, 0, NULL, &tx, NULL), 0) &&
	     expect(fi_rx_context(sep, 0, NULL, &rx, NULL), 0) &&
	     expect(fi_rx_context(sep, 1, &own, &other, NULL), 0) &&
	     expect((long long)flags_of(tx, FI_TRANSMIT), FI_DELIVERY_COMPLETE) &&
	     expect((long long)flags_of(rx, FI_RECV), FI_MULTI_RECV) &&
	     expect((long long)flags_of(other, FI_RECV), FI_COMPLETION) &&
	     expect((long long)own.size, 100);
	closed(&other->fid);
	enable_all();
	ok = ok && expect(tx->ops->tx_size_left(tx), 16);
	teardown();
	return ok;
}

#define ROOM	(4 * CTXS)	/* numbers of contexts that fill_up() leaves free */

static struct fid_ep *filler[AFI_EPS];

/* Takes numbers, lowest first, until ROOM are left; one is taken already. */
static bool fill_up(void)
{
	bool ok = true;
	unsigned int i;

	for (i = 1; ok && i <= AFI_EPS - ROOM; i++)
		ok = expect(fi_endpoint(s.domain, s.info, &filler[i], NULL), 0);
	return ok;
}

static void drain(void)
{
	unsigned int i;

	for (i = 1; i <= AFI_EPS - ROOM; i++)
		if (filler[i])
			closed(&filler[i]->fid);
	memset(filler, 0, sizeof(filler));
}

/* A scalable endpoint takes consecutive numbers; closing it frees them. */
static bool limits(void)
{
	const struct how how = { 0 };
	struct fid_ep *big = NULL, *half, *last, *single;
	struct ep_name a, b;
	struct fi_info *info;
	bool ok;

	open_side(&s, &how, "angara0");
	info = s.info;
	ok = fill_up();
	big = new_sep(&s, CTXS, CTXS);
	a = name_of(big);
	info->ep_attr->tx_ctx_cnt = CTXS;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &half, NULL), -FI_ENOSPC);
	half = new_sep(&s, CTXS - 1, CTXS - 2);
	b = name_of(half);
	ok = ok && expect(b.ep - a.ep, 2 * CTXS) && expect(b.serial != a.serial, true);
	last = new_sep(&s, 1, 1);
	ok = ok && expect(fi_endpoint(s.domain, info, &single, NULL), -FI_ENOSPC) &&
	     closed(&half->fid) && closed(&big->fid);
	ok = ok && expect(fi_endpoint(s.domain, info, &single, NULL), 0);
	info->ep_attr->tx_ctx_cnt = CTXS;
	info->ep_attr->rx_ctx_cnt = CTXS;
	ok = ok && expect(fi_scalable_ep(s.domain, info, &big, NULL), 0) &&
	     expect(name_of(big).ep > name_of(single).ep, true) &&
	     expect(fi_scalable_ep(s.domain, info, &half, NULL), -FI_ENOSPC) &&
	     closed(&single->fid) && closed(&big->fid) && closed(&last->fid) &&
	     expect(fi_scalable_ep(s.domain, info, &big, NULL), 0) &&
	     closed(&big->fid);
	drain();
	close_side(&s);
	return ok;
}

/*
 * A scalable endpoint needs consecutive numbers: two free ranges with a used
 * number in between are not enough.
 */
static bool gaps(void)
{
	const struct how how = { 0 };
	struct fid_ep *ep[4], *big;
	struct ep_name name;
	bool ok;
	int i;

	open_side(&s, &how, "angara0");
	ok = fill_up();
	for (i = 0; i < 4; i++)
		ep[i] = new_sep(&s, i == 1 ? 1 : 10, i == 1 ? 1 : 10);
	closed(&ep[0]->fid);
	closed(&ep[2]->fid);
	s.info->ep_attr->tx_ctx_cnt = CTXS;
	s.info->ep_attr->rx_ctx_cnt = CTXS;
	ok = ok &&
	     expect(fi_scalable_ep(s.domain, s.info, &big, NULL), -FI_ENOSPC) &&
	     closed(&ep[1]->fid) &&
	     expect(fi_scalable_ep(s.domain, s.info, &big, NULL), 0) &&
	     closed(&big->fid);
	/* Numbers of a closed context still belong to its endpoint. */
	big = new_sep(&s, 2, 2);
	name = name_of(big);
	ok = ok && expect(fi_rx_context(big, 1, NULL, &rx, NULL), 0) &&
	     closed(&rx->fid) &&
	     expect(fi_endpoint(s.domain, s.info, &tx, NULL), 0) &&
	     expect(name_of(tx).ep, name.ep + 4) && closed(&tx->fid);
	closed(&big->fid);
	closed(&ep[3]->fid);
	drain();
	close_side(&s);
	return ok;
}

const struct part sepfail_parts[] = {
	{ "sep: contexts that do not exist", opening },
	{ "sep: valid and invalid binds", binding },
	{ "sep: calls of the wrong object", calls },
	{ "sep: contexts join no group", groups },
	{ "sep: invalid addresses", addresses },
	{ "sep: indices of contexts", indices },
	{ "sep: attributes of a context", attributes },
	{ "sep: attributes of fi_getinfo()", own_attributes },
	{ "sep: inherited attributes", inherited },
	{ "sep: limits", limits },
	{ "sep: consecutive numbers", gaps },
	{ 0 },
};
