// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of operations with keys that are in the peer's directory: while the entries
 * of the keys have not arrived, and when the initiator knows them from earlier
 * operations.
 */
#include <poll.h>
#include <string.h>

#include <rdma/fi_atomic.h>

#include "fi.h"
#include "limits.h"

#define KEYS	(AFI_DIR_LATE_OPS + 4)	/* number of keys: more than the
					 * operations that may wait
					 */
#define RIGHTS	(FI_REMOTE_READ | FI_REMOTE_WRITE)

static struct side s[2];
static uint64_t mem[KEYS][2];
static struct fid_mr *mr[KEYS];

static uint64_t key_of(int i)
{
	return 70000 + 1000 * (uint64_t)i;
}

static void begin(void)
{
	const struct how how = { 0 };
	int i;

	memset(mem, 0, sizeof(mem));
	open_pair(s, &how);
	for (i = 0; i < KEYS; i++)
		mr[i] = reg(&s[1], mem[i], sizeof(mem[i]), RIGHTS, key_of(i));
	call_waited = false;
	harvest_stuck = true;
}

static void end(void)
{
	int i;

	harvest_stuck = false;
	for (i = 0; i < KEYS; i++)
		closed(&mr[i]->fid);
	close_pair(s);
}

static uint64_t one = 1;

static ssize_t write_to(int i)
{
	return fi_write(s[0].ep, &one, sizeof(one), NULL, s[0].peer, 0,
			key_of(i), &mem[i]);
}

/* Takes the completion of an operation on memory @i. */
static bool ended(int i)
{
	struct fi_cq_tagged_entry e;

	return completion(&s[0], &e) && expect(e.op_context == &mem[i], true);
}

/*
 * Calls are accepted while there is room, do not wait, and no operation is lost
 * or carried out twice.
 */
static bool many(void)
{
	struct fi_cq_tagged_entry e;
	bool ok = true;
	int i;

	begin();
	for (i = 0; ok && i < KEYS; i++)
		ok = expect(write_to(i), i < AFI_DIR_LATE_OPS ? 0 : -FI_EAGAIN) &&
		     nothing(&s[0]);
	ok = ok && expect(mem[0][0], 0);
	harvest_stuck = false;
	for (i = 0; ok && i < AFI_DIR_LATE_OPS; i++)
		ok = completion(&s[0], &e);
	for (i = 0; ok && i < KEYS; i++)
		ok = expect(mem[i][0], i < AFI_DIR_LATE_OPS);
	for (i = AFI_DIR_LATE_OPS; ok && i < KEYS; i++)
		ok = expect(when_room(&s[0], write_to(i)), 0) && ended(i) &&
		     expect(mem[i][0], 1);
	ok = ok && nothing(&s[0]) && expect(call_waited, false);
	end();
	return ok;
}

/* A call that was refused has no effect on a later one. */
static bool given_up(void)
{
	struct fi_cq_tagged_entry e;
	uint64_t other = 0;
	bool ok = true;
	int i;

	begin();
	for (i = 1; ok && i <= AFI_DIR_LATE_OPS; i++)
		ok = expect(write_to(i), 0);
	ok = ok && expect(write_to(0), -FI_EAGAIN);
	harvest_stuck = false;
	for (i = 0; ok && i < AFI_DIR_LATE_OPS; i++)
		ok = completion(&s[0], &e);
	closed(&mr[0]->fid);
	mr[0] = reg(&s[1], &other, sizeof(other), RIGHTS, key_of(0));
	ok = ok && expect(write_to(0), 0) && ended(0) && expect(mem[0][0], 0) &&
	     expect(other, 1);
	end();
	return ok;
}

/*
 * The region is replaced while its entry is on the way: the adapter refuses
 * the operation.
 */
static bool replaced(void)
{
	uint64_t other = 0;
	bool ok;

	begin();
	ok = expect(write_to(0), 0);
	closed(&mr[0]->fid);
	mr[0] = reg(&s[1], &other, sizeof(other), RIGHTS, key_of(0));
	harvest_stuck = false;
	ok = ok && error(&s[0], FI_ENOKEY, &mem[0]) && expect(mem[0][0], 0) &&
	     expect(other, 0) && expect(write_to(0), 0) && ended(0) &&
	     expect(other, 1);
	end();
	return ok;
}

/* The program changes the memory after the call: the earlier value is written. */
static bool injected(void)
{
	uint64_t value = 5;
	bool ok;

	begin();
	ok = expect(fi_inject_write(s[0].ep, &value, sizeof(value), s[0].peer, 8,
				    key_of(1)), 0);
	value = 6;
	harvest_stuck = false;
	while (ok && !fi_cntr_read(s[0].cntr))
		ok = nothing(&s[0]);
	ok = ok && expect(mem[1][1], 5);
	end();
	return ok;
}

static ssize_t write_both(uint64_t first, uint64_t second, uint64_t flags)
{
	static uint64_t buf[2] = { 3, 4 };
	const struct iovec iov = { buf, sizeof(buf) };
	const struct fi_rma_iov there[] = {
		{ .addr = 8, .len = 8, .key = first },
		{ .addr = 0, .len = 8, .key = second },
	};
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.addr = s[0].peer,
		.rma_iov = there,
		.rma_iov_count = 2,
		.context = mem[2],
	};

	return fi_writemsg(s[0].ep, &msg, FI_COMPLETION | flags);
}

/*
 * An operation with several keys has one completion, also if a key is missing;
 * then no part is written.
 */
static bool several(void)
{
	bool ok;

	begin();
	ok = expect(write_both(key_of(2), key_of(3), 0), 0) && nothing(&s[0]);
	harvest_stuck = false;
	ok = ok && ended(2) && expect(mem[2][1], 3) && expect(mem[3][0], 4);
	harvest_stuck = true;
	ok = ok && expect(write_both(key_of(4), 1234567, 0), 0) && nothing(&s[0]);
	harvest_stuck = false;
	ok = ok && error(&s[0], FI_ENOKEY, mem[2]) && nothing(&s[0]) &&
	     expect(mem[4][1], 0);
	end();
	return ok;
}

/* A fence waits for an operation that has not started. */
static bool fenced(void)
{
	bool ok;

	begin();
	ok = expect(write_to(2), 0) &&
	     expect(write_both(key_of(5), key_of(6), FI_FENCE), -FI_EAGAIN);
	harvest_stuck = false;
	ok = ok && ended(2) &&
	     expect(write_both(key_of(5), key_of(6), FI_FENCE), 0) && ended(2) &&
	     expect(mem[6][0], 4);
	end();
	return ok;
}

/* Reads and atomic operations get their results. */
static bool results(void)
{
	uint64_t add = 7, want = 20, got[3] = { 0 };
	bool ok;

	begin();
	mem[7][0] = 10;
	mem[8][0] = 20;
	mem[9][0] = 30;
	ok = expect(fi_fetch_atomic(s[0].ep, &add, 1, NULL, &got[0], NULL,
				    s[0].peer, 0, key_of(7), FI_UINT64, FI_SUM,
				    &mem[7]), 0);
	ok = ok && expect(fi_compare_atomic(s[0].ep, &add, 1, NULL, &want, NULL,
					    &got[1], NULL, s[0].peer, 0,
					    key_of(8), FI_UINT64, FI_CSWAP,
					    &mem[8]), 0) &&
	     expect(fi_read(s[0].ep, &got[2], 8, NULL, s[0].peer, 0, key_of(9),
			    &mem[9]), 0);
	/* Change the operand: the call has already read it. */
	add = 100;
	want = 200;
	ok = ok && nothing(&s[0]) && expect(mem[7][0], 10);
	harvest_stuck = false;
	ok = ok && ended(7) && ended(8) && ended(9) && expect(mem[7][0], 17) &&
	     expect(got[0], 10) && expect(mem[8][0], 7) && expect(got[1], 20) &&
	     expect(got[2], 30);
	end();
	return ok;
}

/* Opens a second endpoint of the same domain, with the same queue. */
static struct fid_ep *other_endpoint(void)
{
	struct fid_ep *ep = NULL;

	if (expect(fi_endpoint(s[0].domain, s[0].info, &ep, NULL), 0) &&
	    expect(fi_ep_bind(ep, &s[0].av->fid, 0), 0) &&
	    expect(fi_ep_bind(ep, &s[0].cq->fid, FI_TRANSMIT | FI_RECV), 0))
		expect(fi_enable(ep), 0);
	return ep;
}

/* Writes four pieces to the memory of a key. */
static ssize_t write_pieces(int i)
{
	static char data[4] = { 1, 2, 3, 4 };
	const struct iovec iov[4] = {
		{ data, 1 }, { data + 1, 1 }, { data + 2, 1 }, { data + 3, 1 },
	};

	return fi_writev(s[0].ep, iov, NULL, 4, s[0].peer, 0, key_of(i), mem);
}

/*
 * When the entries arrive, other operations have taken all places of the context: the
 * pieces start as the other operations end.
 */
static bool no_room(void)
{
	struct fid_ep *eps[2], *other;
	struct fi_cq_tagged_entry e;
	int i, n = 0, which;
	uint64_t small = 0;
	struct fid_mr *at;
	bool ok = true;

	begin();
	at = reg(&s[1], &small, sizeof(small), RIGHTS, 1);
	other = other_endpoint();
	eps[0] = s[0].ep;
	eps[1] = other;
	for (i = 0; ok && i < AFI_DIR_LATE_OPS; i++)
		ok = expect(write_pieces(i), 0);
	for (which = 0; which < 2; which++)
		while (!fi_write(eps[which], &one, 8, NULL, s[0].peer, 0, 1, mem))
			n++;
	/* There is no room left before the second endpoint has reached its own limit. */
	ok = ok && expect(n < 2 * AFI_TX_SIZE - AFI_DIR_LATE_OPS, true);
	harvest_stuck = false;
	for (i = 0; ok && i < n + AFI_DIR_LATE_OPS; i++)
		ok = completion(&s[0], &e);
	ok = ok && nothing(&s[0]) && expect(small, 1);
	for (i = 0; ok && i < AFI_DIR_LATE_OPS; i++)
		ok = expect(!memcmp(mem[i], "\1\2\3\4", 4), true);
	closed(&other->fid);
	closed(&at->fid);
	end();
	return ok;
}

/* Closing the endpoint gives up operations that wait. */
static bool closed_early(void)
{
	bool ok;
	int i;

	begin();
	ok = expect(write_to(10), 0) && closed(&s[0].ep->fid);
	harvest_stuck = false;
	for (i = 0; ok && i < 100; i++)
		ok = nothing(&s[0]);
	ok = ok && expect(mem[10][0], 0) &&
	     expect(fi_endpoint(s[0].domain, s[0].info, &s[0].ep, NULL), 0);
	end();
	return ok;
}

/*
 * Makes the initiator learn the entry of key_of(0).  Then replaces the region of this
 * key by @instead, if that is not NULL.
 */
static bool learned(uint64_t *instead)
{
	bool ok;

	begin();
	harvest_stuck = false;
	ok = expect(write_to(0), 0) && ended(0) && expect(mem[0][0], 1);
	mem[0][0] = 0;
	if (!instead)
		return ok;
	ok = closed(&mr[0]->fid) && ok;
	mr[0] = reg(&s[1], instead, sizeof(*instead), RIGHTS, key_of(0));
	return ok;
}

/* An entry that is known is not read again: the adapter writes at once. */
static bool known(void)
{
	bool ok = learned(NULL);
	int ms;

	harvest_stuck = true;
	ok = ok && expect(write_to(0), 0);
	for (ms = 0; ok && !__atomic_load_n(&mem[0][0], __ATOMIC_ACQUIRE) &&
		     ms < LONG_MS; ms++)
		ok = nothing(&s[0]) && expect(poll(NULL, 0, 1), 0);
	ok = ok && expect(mem[0][0], 1);
	harvest_stuck = false;
	ok = ok && ended(0) && nothing(&s[0]);
	for (ms = 0; ok && ms < 2 * AFI_DIR_LATE_OPS; ms++)
		ok = expect(write_to(0), 0) && ended(0);
	end();
	return ok;
}

/* The region of a known entry was replaced: the new region is found. */
static bool outdated(void)
{
	uint64_t other = 0, value = 5;
	bool ok = learned(&other) && expect(write_to(0), 0) && ended(0) &&
		  nothing(&s[0]) && expect(other, 1) && expect(mem[0][0], 0);

	end();
	ok = learned(&other) && ok;
	ok = ok && expect(fi_inject_write(s[0].ep, &value, sizeof(value),
					  s[0].peer, 0, key_of(0)), 0);
	value = 6;
	while (ok && fi_cntr_read(s[0].cntr) < 2)
		ok = nothing(&s[0]);
	ok = ok && expect(other, 5) && expect(mem[0][0], 0);
	end();
	return ok;
}

/* As outdated(), with an atomic operation, which must be carried out once. */
static bool outdated_atomic(void)
{
	uint64_t other = 40, add = 2, got = 0;
	bool ok = learned(&other) &&
		  expect(fi_fetch_atomic(s[0].ep, &add, 1, NULL, &got, NULL,
					 s[0].peer, 0, key_of(0), FI_UINT64,
					 FI_SUM, &mem[0]), 0);

	add = 100;
	ok = ok && ended(0) && nothing(&s[0]) && expect(other, 42) &&
	     expect(got, 40) && expect(mem[0][0], 0);
	end();
	return ok;
}

/* The region of a known entry was closed: each write gives one error. */
static bool gone(void)
{
	uint64_t other = 0;
	bool ok = learned(&other);
	int i;

	ok = closed(&mr[0]->fid) && ok;
	for (i = 0; ok && i < 2 * AFI_DIR_LATE_OPS; i++)
		ok = expect(write_to(0), 0) &&
		     error(&s[0], FI_ENOKEY, &mem[0]) && nothing(&s[0]);
	mr[0] = reg(&s[1], &other, sizeof(other), RIGHTS, key_of(0));
	ok = ok && expect(write_to(0), 0) && ended(0) && expect(other, 1);
	end();
	return ok;
}

/* The endpoint is closed before the refusal arrives: nothing is repeated. */
static bool outdated_closed(void)
{
	uint64_t other = 0;
	bool ok = learned(&other);
	int i;

	harvest_stuck = true;
	ok = ok && expect(write_to(0), 0) && closed(&s[0].ep->fid);
	harvest_stuck = false;
	for (i = 0; ok && i < 100; i++)
		ok = nothing(&s[0]);
	ok = ok && expect(other, 0) &&
	     expect(fi_endpoint(s[0].domain, s[0].info, &s[0].ep, NULL), 0);
	end();
	return ok;
}

static ssize_t write_data(uint64_t key, uint64_t data)
{
	return fi_writedata(s[0].ep, &one, sizeof(one), NULL, data, s[0].peer, 0,
			    key, NULL);
}

/*
 * More writes end at once than messages with their data can be in flight.  Writes by a
 * known entry wait for room for their messages, and are not repeated.
 */
static bool known_data(void)
{
	const int direct = AFI_TX_SIZE - AFI_DIR_LATE_OPS;
	struct fi_cq_tagged_entry e;
	uint64_t small = 0, sum = 0;
	bool ok = learned(NULL);
	struct fid_mr *at = reg(&s[1], &small, sizeof(small), RIGHTS, 1);
	int i;

	harvest_stuck = true;
	for (i = 0; ok && i < direct; i++)
		ok = expect(write_data(1, 1), 0);
	for (i = 0; ok && i < AFI_DIR_LATE_OPS; i++)
		ok = expect(write_data(key_of(0), 1000), 0);
	harvest_stuck = false;
	for (i = 0; ok && i < AFI_TX_SIZE; i++)
		ok = completion(&s[0], &e);
	for (i = 0; ok && i < AFI_TX_SIZE; i++) {
		ok = completion(&s[1], &e);
		sum += e.data;
	}
	ok = ok && expect((long long)sum, direct + 1000 * AFI_DIR_LATE_OPS) &&
	     nothing(&s[0]) && nothing(&s[1]);
	closed(&at->fid);
	end();
	return ok;
}

const struct part late_parts[] = {
	{ "late keys: more than may wait", many },
	{ "late keys: a refused call", given_up },
	{ "late keys: a region that is replaced", replaced },
	{ "late keys: injected data", injected },
	{ "late keys: several keys in an operation", several },
	{ "late keys: a fence", fenced },
	{ "late keys: results", results },
	{ "late keys: no room for the pieces of an operation", no_room },
	{ "late keys: a closed endpoint", closed_early },
	{ "known keys: no entry is read", known },
	{ "known keys: a region that was replaced", outdated },
	{ "known keys: an atomic operation", outdated_atomic },
	{ "known keys: a region that is gone", gone },
	{ "known keys: a closed endpoint", outdated_closed },
	{ "known keys: data that waits for room", known_data },
	{ 0 },
};
