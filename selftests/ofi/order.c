// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Orders of reads, writes and atomic operations, for programs that request
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>

#include "fi.h"

#define LEN	(1U << 20)	/* bytes: so many that a later operation could overtake */
#define ROUNDS	5

static struct side s[2];
static char *mem[2], *last;
static struct fid_mr *mr;

static bool setup(uint64_t order)
{
	const struct how how = { .order = order };

	open_pair_mem(s, &how, mem, LEN + 8);
	last = mem[0] + LEN;
	mr = reg(&s[1], mem[1], LEN, ALL_RIGHTS, 1);
	return expect((s[0].info->tx_attr->msg_order & order) == order, true);
}

static void teardown(void)
{
	closed(&mr->fid);
	close_pair_mem(s, mem);
}

enum { READ, WRITE };

/* Starts an operation as soon as there is room: on all memory, or on the last 8 bytes. */
static bool start(int what, bool all)
{
	char *buf = all ? mem[0] : last;
	size_t len = all ? LEN : 8;
	uint64_t off = all ? 0 : LEN - 8;
	ssize_t ret;

	do {
		ret = what == READ ? fi_read(s[0].ep, buf, len, NULL, s[0].peer,
					     off, 1, NULL) :
				     fi_write(s[0].ep, buf, len, NULL, s[0].peer,
					      off, 1, NULL);
	} while (ret == -FI_EAGAIN);
	return expect(ret, 0);
}

static bool both_done(void)
{
	struct fi_cq_tagged_entry e;

	return completion(&s[0], &e) && completion(&s[0], &e) &&
	       nothing(&s[0]);
}

/*
 * A long operation starts first, then a short one, whose result shows the
 * order.
 */
static bool in_order(uint64_t order, int second, int first)
{
	bool ok = setup(order);
	unsigned int round;

	for (round = 1; ok && round < ROUNDS; round++) {
		fill(mem[0], LEN, round);
		fill(last, 8, round + 1000);
		if (first == READ)
			fill(mem[1], LEN, round + 2000);
		ok = start(first, true) && start(second, false) && both_done();
		if (first == READ)
			ok = ok && filled(mem[0], LEN, round + 2000);
		else if (second == READ)
			ok = ok && expect(memcmp(last, mem[0] + LEN - 8, 8), 0);
		if (second == WRITE)
			ok = ok && filled(mem[1] + LEN - 8, 8, round + 1000);
	}
	teardown();
	return ok;
}

static bool of_rma(void)
{
	return in_order(FI_ORDER_RMA_WAW, WRITE, WRITE) &&
	       in_order(FI_ORDER_RMA_RAW, READ, WRITE) &&
	       in_order(FI_ORDER_RMA_WAR, WRITE, READ);
}

static bool of_both(void)
{
	return in_order(FI_ORDER_WAW, WRITE, WRITE) &&
	       in_order(FI_ORDER_RAW, READ, WRITE) &&
	       in_order(FI_ORDER_WAR, WRITE, READ);
}

#define MANY	200

/* Each atomic operation finds the result of the operation before. */
static bool of_atomics(void)
{
	uint64_t one = 1, old[MANY] = { 0 }, done = 0;
	bool ok = setup(FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
			FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW);
	struct fi_cq_tagged_entry e;
	int i;

	for (i = 0; ok && i < MANY; i++) {
		ssize_t ret;

		do {
			ret = i % 3 ? fi_fetch_atomic(s[0].ep, &one, 1, NULL,
						      &old[i], NULL, s[0].peer,
						      0, 1, FI_UINT64, FI_SUM,
						      NULL) :
				      fi_atomic(s[0].ep, &one, 1, NULL,
						s[0].peer, 0, 1, FI_UINT64,
						FI_SUM, NULL);
			done += fi_cq_read(s[0].cq, &e, 1) == 1;
		} while (ret == -FI_EAGAIN);
		ok = expect(ret, 0);
	}
	while (ok && done < MANY)
		done += fi_cq_read(s[0].cq, &e, 1) == 1;
	for (i = 0; ok && i < MANY; i++)
		ok = !(i % 3) || expect((long long)old[i], i);
	teardown();
	return ok;
}

/* The provider grants the requested orders, with their sizes. */
static bool sizes(void)
{
	bool ok = setup(FI_ORDER_RMA_RAW | FI_ORDER_ATOMIC_WAW) &&
		  expect((s[0].info->tx_attr->msg_order & FI_ORDER_SAS) != 0,
			 true) &&
		  expect((s[0].info->tx_attr->msg_order & FI_ORDER_WAR) != 0,
			 false) &&
		  expect(s[0].info->ep_attr->max_order_raw_size,
			 s[0].info->ep_attr->max_msg_size) &&
		  expect(s[0].info->ep_attr->max_order_war_size, 0) &&
		  expect(s[0].info->ep_attr->max_order_waw_size,
			 s[0].info->ep_attr->max_msg_size);

	teardown();
	return ok;
}

const struct part order_parts[] = {
	{ "order: granted orders", sizes },
	{ "order: reads and writes", of_rma },
	{ "order: reads and writes, by orders of all operations", of_both },
	{ "order: atomic operations", of_atomics },
	{ 0 },
};
