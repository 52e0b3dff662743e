// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reading and writing.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>

#include "fi.h"

#define MEM	(2U << 20)
#define KEY	5

/* Lengths: for each method of transferring data at least one. */
static const size_t sizes[] = { 0, 1, 8, 256, 257, 4096, 16384, 16385, 1 << 20 };

static struct side s[2];
static char *mem[2];
static struct fid_mr *mr[2];

static void setup(const struct how *how)
{
	int i;

	open_pair_mem(s, how, mem, MEM);
	for (i = 0; i < 2; i++)
		mr[i] = reg(&s[i], mem[i], MEM, ALL_RIGHTS, KEY);
}

static void teardown(void)
{
	closed(&mr[0]->fid);
	closed(&mr[1]->fid);
	close_pair_mem(s, mem);
}

static uint64_t there(size_t off)
{
	return start_of(&s[1], mem[1]) + off;
}

/* Expects exactly one completion, that of this operation. */
static bool done(void *context, uint64_t flags)
{
	struct fi_cq_tagged_entry e = { 0 };

	return completion(&s[0], &e) && expect(e.op_context == context, true) &&
	       expect(e.flags == flags, true) && nothing(&s[0]);
}

static bool one_size(size_t len, bool with_desc, unsigned int seed)
{
	void *desc = with_desc ? fi_mr_desc(mr[0]) : NULL;
	char *own = malloc(MEM);
	char *from = with_desc ? mem[0] : own;
	int a, b;
	bool ok;

	fill(from, len, seed);
	memset(mem[1], 0, MEM);
	ok = expect(fi_write(s[0].ep, from, len, desc, s[0].peer, there(64),
			     fi_mr_key(mr[1]), &a), 0) &&
	     done(&a, FI_RMA | FI_WRITE) && filled(mem[1] + 64, len, seed) &&
	     expect(mem[1][63], 0) && expect(mem[1][64 + len], 0);
	memset(from, 0, len);
	ok = ok && expect(fi_read(s[0].ep, from, len, desc, s[0].peer, there(64),
				  fi_mr_key(mr[1]), &b), 0) &&
	     done(&b, FI_RMA | FI_READ) && filled(from, len, seed);
	free(own);
	return ok;
}

static bool all_sizes(int mr_mode, int taken)
{
	const struct how how = { .mr_mode = mr_mode };
	bool ok = true;
	size_t i;

	setup(&how);
	ok = expect(s[0].info->domain_attr->mr_mode, taken);
	for (i = 0; ok && i < sizeof(sizes) / sizeof(*sizes); i++)
		ok = one_size(sizes[i], false, (unsigned int)i) &&
		     one_size(sizes[i], true, (unsigned int)i + 100);
	ok = ok && expect(fi_cntr_read(s[0].cntr), 4 * (long long)i) &&
	     expect(fi_cntr_readerr(s[0].cntr), 0);
	teardown();
	return ok;
}

static bool offsets(void)
{
	return all_sizes(0, 0);
}

static bool provided(void)
{
	return all_sizes(BASIC, PROV_KEYS);
}

static bool addresses(void)
{
	return all_sizes(OLD_BASIC, OLD_BASIC);
}

/* Transfers memory in pieces on both sides, with different boundaries. */
static bool vectors(void)
{
	const struct how how = { 0 };
	struct fi_rma_iov remote[3];
	struct fi_msg_rma msg = { 0 };
	struct iovec local[4];
	bool ok;

	setup(&how);
	remote[0] = (struct fi_rma_iov){ there(100), 5000, fi_mr_key(mr[1]) };
	remote[1] = (struct fi_rma_iov){ there(9000), 0, fi_mr_key(mr[1]) };
	remote[2] = (struct fi_rma_iov){ there(8000), 300, fi_mr_key(mr[1]) };
	local[0] = (struct iovec){ mem[0], 4000 };
	local[1] = (struct iovec){ mem[0] + 4000, 0 };
	local[2] = (struct iovec){ mem[0] + 4000, 1200 };
	local[3] = (struct iovec){ mem[0] + 5200, 100 };
	msg = (struct fi_msg_rma){ local, NULL, 4, s[0].peer, remote, 3, &msg, 0 };
	fill(mem[0], 5300, 1);
	ok = expect(fi_writemsg(s[0].ep, &msg, FI_DELIVERY_COMPLETE), 0) &&
	     done(&msg, FI_RMA | FI_WRITE) &&
	     !memcmp(mem[1] + 100, mem[0], 5000) &&
	     !memcmp(mem[1] + 8000, mem[0] + 5000, 300);
	memset(mem[0], 0, 5300);
	ok = ok && expect(fi_readmsg(s[0].ep, &msg, 0), 0) &&
	     done(&msg, FI_RMA | FI_READ) && filled(mem[0], 5300, 1);
	local[3].iov_len = 99;
	ok = ok && expect(fi_writemsg(s[0].ep, &msg, 0), -FI_EINVAL);
	msg.iov_count = 5;
	ok = ok && expect(fi_writemsg(s[0].ep, &msg, 0), -FI_EINVAL);
	teardown();
	return ok;
}

/* An injected buffer may be changed at once; there is no completion. */
static bool inject(void)
{
	const struct how how = { 0 };
	char buf[257];
	bool ok = true;
	unsigned int i;

	setup(&how);
	for (i = 0; ok && i < 64; i++) {
		fill(buf, 256, i);
		ok = expect(fi_inject_write(s[0].ep, buf, 256, s[0].peer,
					    there(i * 256), fi_mr_key(mr[1])), 0);
		memset(buf, 0xFF, sizeof(buf));
	}
	while (ok && fi_cntr_read(s[0].cntr) < 64)
		;
	for (i = 0; ok && i < 64; i++)
		ok = filled(mem[1] + i * 256, 256, i);
	ok = ok && nothing(&s[0]) &&
	     expect(fi_inject_write(s[0].ep, buf, 257, s[0].peer, there(0),
				    fi_mr_key(mr[1])), -FI_EMSGSIZE);
	teardown();
	return ok;
}

static bool selective(void)
{
	const struct how how = { .selective = true };
	struct iovec local = { 0 };
	struct fi_rma_iov remote;
	struct fi_msg_rma msg;
	int silent;
	bool ok;

	setup(&how);
	local = (struct iovec){ mem[0], 8 };
	remote = (struct fi_rma_iov){ there(0), 8, fi_mr_key(mr[1]) };
	msg = (struct fi_msg_rma){ &local, NULL, 1, s[0].peer, &remote, 1, &msg,
				   0 };
	ok = expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer, there(0),
			     fi_mr_key(mr[1]), &silent), 0) &&
	     expect(fi_writemsg(s[0].ep, &msg, 0), 0) &&
	     expect(fi_writemsg(s[0].ep, &msg, FI_COMPLETION), 0) &&
	     done(&msg, FI_RMA | FI_WRITE);
	while (ok && fi_cntr_read(s[0].cntr) < 3)
		;
	/* An error is reported in any case. */
	ok = ok && nothing(&s[0]) &&
	     expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer, there(0),
			     KEY + 1, &silent), 0) &&
	     error(&s[0], FI_ENOKEY, &silent);
	teardown();
	return ok;
}

/* An access without the right is an error at the initiator only. */
static bool refused(int mr_mode)
{
	const struct how how = { .mr_mode = mr_mode };
	struct fid_mr *ro, *wo;
	char *more;
	bool ok;

	setup(&how);
	more = calloc(2, 4096);
	ro = reg(&s[1], more, 4096, FI_REMOTE_READ, 7);
	wo = reg(&s[1], more + 4096, 4096, FI_REMOTE_WRITE, 8);
	fill(mem[0], 4096, 9);
	ok = expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer,
			     there(MEM - 7), fi_mr_key(mr[1]), more), 0) &&
	     error(&s[0], FI_EINVAL, more) &&
	     expect(fi_read(s[0].ep, mem[0], 8, NULL, s[0].peer,
			    there(0) - 8, fi_mr_key(mr[1]), more), 0) &&
	     error(&s[0], FI_EINVAL, more) &&
	     expect(fi_write(s[0].ep, mem[0], 8, NULL, s[0].peer,
			     start_of(&s[1], more), fi_mr_key(ro), more), 0) &&
	     error(&s[0], FI_EACCES, more) &&
	     expect(fi_read(s[0].ep, mem[0], 8, NULL, s[0].peer,
			    start_of(&s[1], more + 4096), fi_mr_key(wo), more),
		    0) &&
	     error(&s[0], FI_EACCES, more) &&
	     expect(fi_cntr_readerr(s[0].cntr), 4) &&
	     expect(fi_cntr_read(s[0].cntr), 0);
	ok = ok && expect(more[0], 0) && filled(mem[0], 4096, 9) &&
	     nothing(&s[1]) && one_size(4096, false, 1);
	closed(&ro->fid);
	closed(&wo->fid);
	free(more);
	teardown();
	return ok;
}

static bool refused_offsets(void)
{
	return refused(0);
}

static bool refused_provided(void)
{
	return refused(BASIC);
}

static bool refused_addresses(void)
{
	return refused(OLD_BASIC);
}

/* Operations on a peer that has exited, and on one that never existed. */
static bool gone(void)
{
	const struct how how = { 0 };
	struct side a, b;
	char buf[300] = { 0 };
	fi_addr_t peer;
	bool ok;

	open_side(&a, &how, "angara0");
	open_side(&b, &how, "angara5");
	introduce(&a, &b, &peer);
	close_side(&b);
	ok = expect(fi_write(a.ep, buf, 300, NULL, peer, 0, 1, &ok), 0) &&
	     error(&a, FI_EHOSTUNREACH, &ok) &&
	     expect(fi_read(a.ep, buf, 300, NULL, peer, 0, 99999, &ok), 0) &&
	     error(&a, FI_EHOSTUNREACH, &ok) &&
	     expect(fi_write(a.ep, buf, 300, NULL, peer + 1, 0, 1, &ok),
		    -FI_EINVAL);
	close_side(&a);
	return ok;
}

/*
 * With FI_FENCE a call returns -FI_EAGAIN until all earlier operations have
 * ended.
 */
static bool fence(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	struct iovec local;
	struct fi_rma_iov remote;
	struct fi_msg_rma msg;
	uint64_t round;
	bool ok = true;

	setup(&how);
	local = (struct iovec){ mem[0] + MEM / 2, 8 };
	remote = (struct fi_rma_iov){ there(0), 8, fi_mr_key(mr[1]) };
	msg = (struct fi_msg_rma){ &local, NULL, 1, s[0].peer, &remote, 1, &msg,
				   0 };
	for (round = 1; ok && round < 50; round++) {
		uint64_t *seen = (uint64_t *)(void *)(mem[0] + MEM / 2);
		ssize_t ret;

		fill(mem[0], 40000, (unsigned int)round);
		memcpy(mem[0], &round, sizeof(round));
		ok = expect(fi_write(s[0].ep, mem[0], 40000, NULL, s[0].peer,
				     there(0), fi_mr_key(mr[1]), &ok), 0);
		do {
			ret = fi_readmsg(s[0].ep, &msg, FI_FENCE);
		} while (ret == -FI_EAGAIN);
		ok = ok && expect(ret, 0) && completion(&s[0], &e) &&
		     completion(&s[0], &e) && expect((long long)*seen,
						     (long long)round);
	}
	teardown();
	return ok;
}

static ssize_t write_more(size_t place, uint64_t flags)
{
	const struct iovec local = { mem[0] + place, 8 };
	const struct fi_rma_iov remote = { there(place), 8, fi_mr_key(mr[1]) };
	const struct fi_msg_rma msg = { &local, NULL, 1, s[0].peer, &remote, 1,
					mem[0] + place, 0 };

	return fi_writemsg(s[0].ep, &msg, flags);
}

static ssize_t add_more(size_t place, uint64_t flags)
{
	const struct fi_ioc local = { mem[0] + place, 1 };
	const struct fi_rma_ioc remote = { there(place), 1, fi_mr_key(mr[1]) };
	const struct fi_msg_atomic msg = { &local, NULL, 1, s[0].peer, &remote,
					   1, FI_UINT64, FI_SUM,
					   mem[0] + place, 0 };

	return fi_atomicmsg(s[0].ep, &msg, flags);
}

static ssize_t send_more(size_t place, uint64_t flags)
{
	const struct iovec local = { mem[0] + place, 8 };
	const struct fi_msg msg = { &local, NULL, 1, s[0].peer, mem[0] + place,
				    0 };

	return fi_sendmsg(s[0].ep, &msg, flags);
}

/* Does the data reach @place when the target alone makes progress? */
static bool there_alone(size_t place)
{
	int i;

	for (i = 0; i < 1000; i++)
		fi_cq_read(s[1].cq, NULL, 0);
	return mem[1][place];
}

/*
 * With FI_MORE the adapter is notified of an operation only by the next call without
 * the flag, by a call that fails, or by a poll for completions.
 */
static bool more(void)
{
	ssize_t (*const calls[])(size_t, uint64_t) = { write_more, add_more,
						       send_more };
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	size_t at = 0;
	bool ok = true;
	int i;

	setup(&how);
	memset(mem[0], 1, 4096);
	/* post receives for the three messages */
	for (i = 0; i < 3; i++)
		ok = ok && expect(fi_recv(s[1].ep, mem[1] + 128 +
					  (i ? 8 + 8 * i : 0), 8, NULL,
					  FI_ADDR_UNSPEC, mem), 0);
	for (i = 0; ok && i < 3; i++, at += 64) {
		ok = expect(calls[i](at, FI_MORE), 0) &&
		     expect(there_alone(at), false) &&
		     expect(write_more(at + 8, 0), 0) &&
		     expect(there_alone(at), true) && completion(&s[0], &e) &&
		     completion(&s[0], &e) &&
		     /* an operation with FI_MORE, then a call that fails */
		     expect(calls[i](at + 16, FI_MORE), 0) &&
		     expect(there_alone(at + 16), false) &&
		     expect(calls[i](at, FI_PEEK), -FI_EBADFLAGS) &&
		     expect(there_alone(at + 16), true) &&
		     completion(&s[0], &e) &&
		     /* an operation with FI_MORE, then a poll */
		     expect(calls[i](at + 24, FI_MORE), 0) &&
		     completion(&s[0], &e) && nothing(&s[0]);
	}
	teardown();
	return ok;
}

#define WINDOW	4	/* messages in flight to a context */

/* An operation that waits in software does not delay earlier operations with FI_MORE. */
static bool more_before_queued(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	bool ok = true;
	int i;

	setup(&how);
	memset(mem[0], 1, 4096);
	for (i = 0; ok && i <= WINDOW; i++)
		ok = expect(fi_recv(s[1].ep, mem[1] + 1024, 8, NULL,
				    FI_ADDR_UNSPEC, mem), 0);
	for (i = 0; ok && i < WINDOW; i++)
		ok = expect(send_more(0, 0), 0);
	ok = ok && expect(write_more(8, FI_MORE), 0) &&
	     expect(there_alone(8), false) && expect(send_more(0, 0), 0) &&
	     expect(there_alone(8), true);
	for (i = 0; ok && i < WINDOW + 2; i++)
		ok = completion(&s[0], &e);
	teardown();
	return ok;
}

/* Calls fail when the queue or the list of operations is full; no operation is lost. */
static bool overload(void)
{
	const struct how how = { .cq_size = 8 };
	struct fi_cq_tagged_entry e;
	long started = 0, ended = 0;
	bool again = false, ok = true;

	setup(&how);
	while (ok && ended < 1000) {
		ssize_t ret = started == 1000 ? -FI_EAGAIN :
			      fi_write(s[0].ep, &started, sizeof(started), NULL,
				       s[0].peer, there((size_t)started * 8),
				       fi_mr_key(mr[1]), (void *)(started + 1));

		started += !ret;
		ok = ret == 0 || expect(ret, -FI_EAGAIN);
		again |= ret && started < 1000;
		if (ret && ok && completion(&s[0], &e))
			ended++;
		ok = ok && expect(started - ended <= 8, true);
	}
	ok = ok && expect(again, true) && nothing(&s[0]);
	for (started = 0; ok && started < 1000; started++)
		ok = expect(((long *)(void *)mem[1])[started], started);
	teardown();
	return ok;
}

/* Slots of the memory, one per operation, and the expected content of both sides. */
#define SLOT	3000
#define SLOTS	64

static char ref[2][SLOT * SLOTS];

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525U + 1013904223U;
	return *state >> 8;
}

static ssize_t random_op(uint32_t *state, char *own, unsigned int slot)
{
	size_t off = slot * SLOT + next_random(state) % 100;
	size_t len = next_random(state) % (SLOT - 100);
	uint64_t key = fi_mr_key(mr[1]);

	switch (next_random(state) % 4) {
	case 0:
		memcpy(ref[0] + off, ref[1] + off, len);
		return fi_read(s[0].ep, own + off, len, NULL, s[0].peer,
			       there(off), key, NULL);
	case 1:
		len %= 257;
		fill(own + off, len, next_random(state));
		memcpy(ref[0] + off, own + off, len);
		memcpy(ref[1] + off, own + off, len);
		return fi_inject_write(s[0].ep, own + off, len, s[0].peer,
				       there(off), key);
	default:
		fill(own + off, len, next_random(state));
		memcpy(ref[0] + off, own + off, len);
		memcpy(ref[1] + off, own + off, len);
		return fi_write(s[0].ep, own + off, len,
				own == mem[0] ? fi_mr_desc(mr[0]) : NULL,
				s[0].peer, there(off), key, NULL);
	}
}

/* Runs concurrent operations on different parts of the memory. */
static bool mixed(void)
{
	const struct how how = { .mr_mode = BASIC };
	uint32_t state = 20261120;
	uint64_t begun = 0;
	unsigned int i, slot;
	bool ok = true;

	setup(&how);
	memset(ref, 0, sizeof(ref));
	for (i = 0; ok && i < 1000; i += SLOTS) {
		struct fi_cq_tagged_entry e[SLOTS];

		for (slot = 0; ok && slot < SLOTS; slot++) {
			ssize_t ret = random_op(&state, mem[0], slot);

			ok = expect(ret, 0);
			begun++;
		}
		while (ok && fi_cntr_read(s[0].cntr) < begun)
			ok = expect(fi_cntr_readerr(s[0].cntr), 0);
		while (fi_cq_read(s[0].cq, e, SLOTS) > 0)
			;
	}
	ok = ok && expect(memcmp(mem[0], ref[0], sizeof(ref[0])), 0) &&
	     expect(memcmp(mem[1], ref[1], sizeof(ref[1])), 0);
	teardown();
	return ok;
}

#define THREADS	4
#define EACH	200

/* Any number of threads may use an endpoint. */
static void *writer(void *arg)
{
	size_t base = (size_t)(uintptr_t)arg * EACH;
	struct fi_cq_tagged_entry e;
	size_t i;

	for (i = base; i < base + EACH; i++) {
		uint64_t v = i + 1;

		while (fi_inject_write(s[0].ep, &v, sizeof(v), s[0].peer,
				       there(i * 8), fi_mr_key(mr[1])))
			fi_cq_read(s[0].cq, &e, 1);
	}
	return NULL;
}

static bool threads(void)
{
	const struct how how = { .progress = FI_PROGRESS_AUTO,
				 .wait = FI_WAIT_UNSPEC };
	pthread_t thread[THREADS];
	uintptr_t i;
	bool ok = true;

	setup(&how);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, writer, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	ok = expect(fi_cntr_wait(s[0].cntr, THREADS * EACH, LONG_MS), 0) &&
	     expect(fi_cntr_read(s[0].cntr), THREADS * EACH);
	for (i = 0; ok && i < THREADS * EACH; i++)
		ok = expect(((long *)(void *)mem[1])[i], (long)i + 1);
	teardown();
	return ok;
}

/* An endpoint may be closed while it is busy. */
static bool close_busy(void)
{
	const struct how how = { 0 };
	int i;

	setup(&how);
	for (i = 0; i < 20; i++)
		fi_read(s[0].ep, mem[0], MEM, NULL, s[0].peer, there(0),
			fi_mr_key(mr[1]), NULL);
	teardown();
	return true;
}

/* A call that cannot start does not copy old data of the provider's buffers to memory. */
static bool not_begun(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	char *own = malloc(1000);
	const struct iovec iov[2] = {
		{ own, 1000 },
		{ (void *)4096, 1 << 18 },
	};
	bool ok;

	setup(&how);
	fill(mem[1], 1000, 1);
	ok = expect(fi_read(s[0].ep, own, 1000, NULL, s[0].peer, there(0), KEY,
			    NULL), 0) &&
	     completion(&s[0], &e) && expect(filled(own, 1000, 1), true);
	memset(own, 0, 1000);
	ok = ok && expect(fi_readv(s[0].ep, iov, NULL, 2, s[0].peer, there(0),
				   KEY, NULL), -FI_EFAULT) &&
	     nothing(&s[0]) && expect(own[0] || own[500] || own[999], false);
	teardown();
	free(own);
	return ok;
}

#define PLACES	64	/* buffers for memory that is not registered */

/* A read of nothing needs no buffer. */
static bool read_nothing(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e;
	uint64_t own[PLACES];
	bool ok = true;
	int i;

	setup(&how);
	harvest_stuck = true;
	for (i = 0; ok && i < PLACES; i++)
		ok = expect(fi_read(s[0].ep, &own[i], 8, NULL, s[0].peer, there(0),
				    KEY, NULL), 0);
	ok = ok && expect(fi_read(s[0].ep, own, 0, NULL, s[0].peer, there(0), KEY,
				  NULL), 0);
	harvest_stuck = false;
	for (i = 0; ok && i <= PLACES; i++)
		ok = completion(&s[0], &e);
	teardown();
	return ok;
}

const struct part rma_parts[] = {
	{ "rma: all sizes, by offset", offsets },
	{ "rma: all sizes, by keys of the provider", provided },
	{ "rma: all sizes, by address", addresses },
	{ "rma: memory in pieces", vectors },
	{ "rma: inject", inject },
	{ "rma: selective completion", selective },
	{ "rma: refused operations, by offset", refused_offsets },
	{ "rma: refused operations, by keys of the provider", refused_provided },
	{ "rma: refused operations, by address", refused_addresses },
	{ "rma: peers that do not exist", gone },
	{ "rma: calls that cannot start", not_begun },
	{ "rma: fence", fence },
	{ "rma: FI_MORE", more },
	{ "rma: FI_MORE before an operation that waits", more_before_queued },
	{ "rma: more than there is room for", overload },
	{ "rma: reads of nothing while all buffers are in use", read_nothing },
	{ "rma: 1000 random operations", mixed },
	{ "rma: threads", threads },
	{ "rma: close while busy", close_busy },
	{ 0 },
};
