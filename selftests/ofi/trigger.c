// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Operations that wait for counters: with FI_TRIGGER, and as deferred work.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_trigger.h>

#include "fi.h"

#define MEM	(1U << 16)

static struct side s[2];
static char *mem[2];
static struct fid_mr *mr;
static struct fid_cntr *cntr[3];	/* counters of s[0], s[0], s[1] */

static void setup_how(const struct how *how)
{
	int i;

	open_pair_mem(s, how, mem, MEM);
	mr = reg(&s[1], mem[1], MEM, ALL_RIGHTS, 1);
	for (i = 0; i < 3; i++)
		expect(fi_cntr_open(s[i / 2].domain, NULL, &cntr[i], NULL), 0);
}

static void setup(void)
{
	const struct how how = { 0 };

	setup_how(&how);
}

static void teardown(void)
{
	int i;

	closed(&mr->fid);
	for (i = 0; i < 3; i++)
		closed(&cntr[i]->fid);
	close_pair_mem(s, mem);
}

static void settle(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		fi_cq_read(s[i & 1].cq, NULL, 0);
}

static bool comes(int side, void *context, uint64_t flags)
{
	struct fi_cq_tagged_entry e = { 0 };
	ssize_t ret = -FI_EAGAIN;
	long i;

	for (i = 0; ret == -FI_EAGAIN && i < 20000000; i++) {
		fi_cq_read(s[!side].cq, NULL, 0);
		ret = fi_cq_read(s[side].cq, &e, 1);
	}
	return expect(ret, 1) && expect(e.op_context == context, true) &&
	       expect(e.flags == flags, true);
}

static struct fi_triggered_context at(struct fid_cntr *c, size_t threshold)
{
	struct fi_triggered_context t = {
		.event_type = FI_TRIGGER_THRESHOLD,
		.trigger.threshold = { c, threshold },
	};

	return t;
}

/*
 * Makes each kind of call, not in the order of thresholds: the thresholds decide when
 * an operation starts.  The description of an operation may be freed before that, but
 * not its operands.
 */
static bool memory_calls(struct fi_triggered_context *t, uint64_t *old)
{
	static uint64_t one = 1, two = 2;
	struct iovec local = { mem[0], 3000 };
	struct fi_rma_iov there = { 0, 3000, 1 };
	struct fi_ioc x = { &two, 1 }, y = { &one, 1 };
	struct fi_ioc res[2] = { { &old[0], 1 }, { &old[1], 1 } };
	struct fi_rma_ioc cell = { 8000, 1, 1 };
	struct fi_msg_rma rma = { &local, NULL, 1, s[0].peer, &there, 1, &t[0],
				  0 };
	struct fi_msg_atomic atomic = { &x, NULL, 1, s[0].peer, &cell, 1,
					FI_UINT64, FI_ATOMIC_WRITE, &t[1], 0 };
	bool ok;

	fill(mem[0], 3000, 3);
	ok = expect(fi_atomicmsg(s[0].ep, &atomic, FI_TRIGGER), 0);
	x.addr = &one;
	atomic.context = &t[2];
	atomic.op = FI_SUM;
	ok = ok && expect(fi_fetch_atomicmsg(s[0].ep, &atomic, &res[0], NULL, 1,
					     FI_TRIGGER), 0);
	x.addr = &two;
	atomic.context = &t[3];
	atomic.op = FI_CSWAP_NE;
	ok = ok && expect(fi_compare_atomicmsg(s[0].ep, &atomic, &y, NULL, 1,
					       &res[1], NULL, 1, FI_TRIGGER), 0) &&
	     expect(fi_writemsg(s[0].ep, &rma, FI_TRIGGER), 0);
	memset(&rma, 0xff, sizeof(rma));
	memset(&atomic, 0xff, sizeof(atomic));
	memset(&local, 0xff, sizeof(local));
	memset(&there, 0xff, sizeof(there));
	memset(&cell, 0xff, sizeof(cell));
	memset(res, 0xff, sizeof(res));
	return ok;
}

static bool on_memory(void)
{
	struct fi_triggered_context t[4];
	uint64_t old[2] = { 0 };
	size_t i;
	bool ok;

	setup();
	for (i = 0; i < 4; i++)
		t[i] = at(cntr[0], i + 1);
	ok = memory_calls(t, old);
	settle();
	ok = ok && nothing(&s[0]) && expect(fi_close(&cntr[0]->fid), -FI_EBUSY) &&
	     expect(fi_cntr_add(cntr[0], 1), 0) &&
	     comes(0, &t[0], FI_RMA | FI_WRITE) && filled(mem[1], 3000, 3);
	settle();
	ok = ok && nothing(&s[0]) && expect(fi_cntr_add(cntr[0], 1), 0) &&
	     comes(0, &t[1], FI_ATOMIC | FI_WRITE) &&
	     expect(fi_cntr_set(cntr[0], 3), 0) &&
	     comes(0, &t[2], FI_ATOMIC | FI_READ) &&
	     expect((long long)old[0], 2) &&
	     expect(fi_cntr_set(cntr[0], 4), 0) &&
	     comes(0, &t[3], FI_ATOMIC | FI_READ) &&
	     expect((long long)old[1], 3);
	teardown();
	return ok;
}

static bool message_calls(struct fi_triggered_context *t)
{
	struct iovec local = { mem[0], 3000 }, to = { mem[1], 3000 };
	struct fi_msg msg = { &local, NULL, 1, s[0].peer, &t[0], 0 };
	struct fi_msg_tagged tagged = { &local, NULL, 1, s[0].peer, 5, 0, &t[1],
					0 };
	bool ok = expect(fi_sendmsg(s[0].ep, &msg, FI_TRIGGER), 0) &&
		  expect(fi_tsendmsg(s[0].ep, &tagged, FI_TRIGGER), 0);

	msg = (struct fi_msg){ &to, NULL, 1, FI_ADDR_UNSPEC, &t[2], 0 };
	tagged.msg_iov = &to;
	tagged.addr = FI_ADDR_UNSPEC;
	tagged.context = &t[3];
	ok = ok && expect(fi_recvmsg(s[1].ep, &msg, FI_TRIGGER), 0) &&
	     expect(fi_trecvmsg(s[1].ep, &tagged, FI_TRIGGER), 0);
	memset(&msg, 0xff, sizeof(msg));
	memset(&tagged, 0xff, sizeof(tagged));
	memset(&local, 0xff, sizeof(local));
	memset(&to, 0xff, sizeof(to));
	return ok;
}

static bool of_messages(void)
{
	struct fi_triggered_context t[4];
	bool ok;

	setup();
	t[0] = at(cntr[0], 1);
	t[1] = at(cntr[0], 2);
	t[2] = at(cntr[2], 1);
	t[3] = at(cntr[2], 1);
	fill(mem[0], 3000, 3);
	ok = message_calls(t) && expect(fi_cntr_set(cntr[0], 2), 0);
	settle();
	ok = ok && nothing(&s[1]) && expect(fi_cntr_set(cntr[2], 1), 0) &&
	     comes(1, &t[2], FI_MSG | FI_RECV) &&
	     comes(1, &t[3], FI_TAGGED | FI_RECV) && filled(mem[1], 3000, 3) &&
	     comes(0, &t[0], FI_MSG | FI_SEND) &&
	     comes(0, &t[1], FI_TAGGED | FI_SEND);
	teardown();
	return ok;
}

/*
 * Waits until the first side has completed a send and a receive, in either
 * order.
 */
static bool answered(void *context)
{
	struct fi_cq_tagged_entry e;
	int sent = 0, got = 0;
	ssize_t ret = 1;

	while (sent + got < 2 && (ret == 1 || ret == -FI_EAGAIN)) {
		fi_cq_read(s[1].cq, NULL, 0);
		ret = fi_cq_read(s[0].cq, &e, 1);
		sent += ret == 1 && e.op_context == mem;
		got += ret == 1 && e.op_context == context;
	}
	return expect(sent, 1) && expect(got, 1);
}

/*
 * One side returns the message that it receives by deferred work, without a call of
 * its program.  Work has completions at its endpoint only on request (@flags).
 */
static bool chain(size_t len, uint64_t flags)
{
	struct iovec got = { mem[1], len };
	struct fi_op_msg recv = {
		.ep = s[1].ep,
		.msg = { &got, NULL, 1, FI_ADDR_UNSPEC, &recv, 0 },
		.flags = flags,
	};
	struct fi_op_msg send = {
		.ep = s[1].ep,
		.msg = { &got, NULL, 1, s[1].peer, &send, 0 },
		.flags = flags,
	};
	struct fid_cntr *received = NULL, *sent = NULL;
	struct fi_deferred_work work[2] = { 0 };
	uint64_t sends = fi_cntr_read(s[1].cntr);
	bool ok;

	ok = expect(fi_cntr_open(s[1].domain, NULL, &received, NULL), 0) &&
	     expect(fi_cntr_open(s[1].domain, NULL, &sent, NULL), 0);
	work[0].triggering_cntr = received;
	work[0].completion_cntr = received;
	work[0].op_type = FI_OP_RECV;
	work[0].op.msg = &recv;
	work[1].threshold = 1;
	work[1].triggering_cntr = received;
	work[1].completion_cntr = sent;
	work[1].op_type = FI_OP_SEND;
	work[1].op.msg = &send;
	fill(mem[0], len, (unsigned int)len);
	ok = ok && expect(fi_control(&s[1].domain->fid, FI_QUEUE_WORK, &work[1]),
			  0) &&
	     expect(fi_control(&s[1].domain->fid, FI_QUEUE_WORK, &work[0]), 0) &&
	     expect(fi_recv(s[0].ep, mem[0] + MEM / 2, len, NULL, s[0].peer,
			    &got), 0) &&
	     expect(fi_send(s[0].ep, mem[0], len, NULL, s[0].peer, mem), 0) &&
	     answered(&got) &&
	     filled(mem[0] + MEM / 2, len, (unsigned int)len) &&
	     (!flags || (comes(1, &recv, FI_MSG | FI_RECV) &&
			 comes(1, &send, FI_MSG | FI_SEND)));
	settle();
	ok = ok && nothing(&s[1]) && expect(fi_cntr_read(received), 1) &&
	     expect(fi_cntr_read(sent), 1) &&
	     expect(fi_cntr_read(s[1].cntr) - sends, flags != 0);
	return closed(&received->fid) && closed(&sent->fid) && ok;
}

static bool chains(void)
{
	bool ok;

	setup();
	ok = chain(100, FI_COMPLETION) && chain(30000, FI_COMPLETION) &&
	     chain(100, 0) && chain(30000, 0);
	teardown();
	return ok;
}

/*
 * Queues more work than fits at a time, then work that sets a counter and adds
 * to it.
 */
static bool many(void)
{
	enum { COUNT = 1000 };
	struct fi_deferred_work *work = calloc(COUNT + 2, sizeof(*work));
	struct fi_op_rma *op = calloc(COUNT, sizeof(*op));
	struct fi_rma_iov *there = calloc(COUNT, sizeof(*there));
	struct iovec *local = calloc(COUNT, sizeof(*local));
	uint32_t *from, *to;
	struct fi_op_cntr set, add;
	struct fi_cq_tagged_entry e;
	bool ok = true;
	uint32_t i;

	setup();
	from = (void *)mem[0];
	to = (void *)mem[1];
	set = (struct fi_op_cntr){ s[0].cntr, 7000 };
	add = (struct fi_op_cntr){ s[0].cntr, 70 };
	for (i = 0; ok && i < COUNT; i++) {
		from[i] = i + 1;
		local[i] = (struct iovec){ &from[i], 4 };
		there[i] = (struct fi_rma_iov){ i * 4, 4, 1 };
		op[i] = (struct fi_op_rma){
			s[0].ep,
			{ &local[i], NULL, 1, s[0].peer, &there[i], 1, NULL, 0 },
			0
		};
		work[i].threshold = 10;
		work[i].triggering_cntr = cntr[0];
		work[i].completion_cntr = cntr[1];
		work[i].op_type = FI_OP_WRITE;
		work[i].op.rma = &op[i];
		ok = expect(fi_control(&s[0].domain->fid, FI_QUEUE_WORK,
				       &work[i]), 0);
	}
	work[i].threshold = COUNT;
	work[i].triggering_cntr = cntr[1];
	work[i].completion_cntr = cntr[1];
	work[i].op_type = FI_OP_CNTR_SET;
	work[i].op.cntr = &set;
	work[i + 1] = work[i];
	work[i + 1].threshold = COUNT + 1;
	work[i + 1].op_type = FI_OP_CNTR_ADD;
	work[i + 1].op.cntr = &add;
	ok = ok &&
	     expect(fi_control(&s[0].domain->fid, FI_QUEUE_WORK, &work[i]), 0) &&
	     expect(fi_control(&s[0].domain->fid, FI_QUEUE_WORK, &work[i + 1]),
		    0) &&
	     expect(fi_cntr_read(cntr[1]), 0) && expect(fi_cntr_add(cntr[0], 10), 0);
	while (ok && fi_cntr_read(cntr[1]) < COUNT + 2)
		fi_cq_read(s[0].cq, &e, 1);
	ok = ok && expect(fi_cntr_read(s[0].cntr), 7070);
	for (i = 0; ok && i < COUNT; i++)
		ok = expect(to[i], i + 1);
	teardown();
	free(work);
	free(op);
	free(there);
	free(local);
	return ok;
}

/*
 * Cancelled work does not start.  The error of bad work is reported when the work
 * starts.  @work: a send of @op, to be started by cntr[0].
 */
static bool cancelled(struct fid *d, struct fi_deferred_work *work,
		      struct fi_op_msg *op)
{
	struct fi_deferred_work other = *work;
	struct fi_op_msg bad;
	bool ok;

	ok = expect(fi_control(d, FI_CANCEL_WORK, work), -FI_ENOENT) &&
	     expect(fi_control(d, FI_QUEUE_WORK, work), 0) &&
	     expect(fi_control(d, FI_QUEUE_WORK, &other), 0) &&
	     expect(fi_close(&cntr[1]->fid), -FI_EBUSY) &&
	     expect(fi_control(d, FI_CANCEL_WORK, work), 0) &&
	     expect(fi_control(d, FI_CANCEL_WORK, work), -FI_ENOENT) &&
	     expect(fi_control(d, FI_FLUSH_WORK, NULL), 0) &&
	     expect(fi_cntr_add(cntr[0], 1), 0);
	settle();
	ok = ok && nothing(&s[0]) && expect(fi_cntr_read(cntr[1]), 0);
	bad = *op;
	bad.msg.addr = 1000;
	work->op.msg = &bad;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, work), 0) &&
	     error(&s[0], FI_EINVAL, op) &&
	     expect(fi_cntr_readerr(cntr[1]), 1) &&
	     expect(fi_cntr_readerr(s[0].cntr), 0);
	work->op.msg = op;
	return ok;
}

/* Writes with a trigger do not accept FI_INJECT, or unknown kinds of events. */
static bool refused_writes(void)
{
	struct fi_triggered_context t = at(cntr[0], 5);
	struct fi_op_rma inject = { 0 };
	bool ok;

	inject.msg.addr = s[0].peer;
	inject.msg.context = &t;
	ok = expect(fi_writemsg(s[0].ep, &inject.msg, FI_TRIGGER | FI_INJECT),
		    -FI_EINVAL);
	t.event_type = FI_TRIGGER_XPU;
	return ok && expect(fi_writemsg(s[0].ep, &inject.msg, FI_TRIGGER),
			    -FI_ENOSYS);
}

/* Cancelled work does not start, and invalid work is refused. */
static bool refused(void)
{
	struct iovec local;
	struct fi_op_msg op;
	struct fi_deferred_work work = { 0 };
	struct fid *d;
	bool ok;

	setup();
	d = &s[0].domain->fid;
	local = (struct iovec){ mem[0], 8 };
	op = (struct fi_op_msg){ s[0].ep, { &local, NULL, 1, s[0].peer, &op, 0 },
				 0 };
	work.threshold = 1;
	work.triggering_cntr = cntr[0];
	work.completion_cntr = cntr[1];
	work.op_type = FI_OP_SEND;
	work.op.msg = &op;
	ok = cancelled(d, &work, &op);
	work.triggering_cntr = cntr[2];
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_EINVAL);
	work.triggering_cntr = NULL;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_EINVAL);
	work.triggering_cntr = cntr[0];
	work.op_type = FI_OP_CNTR_ADD + 1;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_ENOSYS);
	work.op_type = FI_OP_SEND;
	op.ep = s[1].ep;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_EINVAL) &&
	     expect(fi_control(d, FI_QUEUE_WORK, NULL), -FI_EINVAL) &&
	     expect(fi_control(d, FI_ENABLE, &work), -FI_ENOSYS);
	op.ep = s[0].ep;
	op.msg.iov_count = 5;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), -FI_EINVAL);
	ok = ok && refused_writes();
	/* Closing an endpoint ends its pending work. */
	op.msg.iov_count = 1;
	work.threshold = 9;
	ok = ok && expect(fi_control(d, FI_QUEUE_WORK, &work), 0);
	closed(&s[0].ep->fid);
	ok = ok && expect(fi_cntr_set(cntr[0], 9), 0) &&
	     expect(fi_endpoint(s[0].domain, s[0].info, &s[0].ep, NULL), 0);
	teardown();
	return ok;
}

/* Opens an endpoint of the second side that counts its receives. */
static bool open_counted(struct fid_ep **ep, fi_addr_t *to)
{
	struct ep_name name;
	bool ok;

	ok = expect(fi_endpoint(s[1].domain, s[1].info, ep, NULL), 0) &&
	     expect(fi_ep_bind(*ep, &s[1].av->fid, 0), 0) &&
	     expect(fi_ep_bind(*ep, &s[1].cq->fid, FI_TRANSMIT | FI_RECV), 0) &&
	     expect(fi_ep_bind(*ep, &cntr[2]->fid, FI_RECV), 0) &&
	     expect(fi_enable(*ep), 0);
	name = name_of(*ep);
	*to = insert(s[0].av, &name);
	return ok;
}

/* Waits until a message has arrived that the provider keeps. */
static bool arrived(struct fid_ep *ep)
{
	struct fi_msg_tagged msg = { .addr = FI_ADDR_UNSPEC };
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t ret = -FI_EAVAIL;

	while (ret == -FI_EAVAIL && !fi_trecvmsg(ep, &msg, FI_PEEK)) {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, &e, 1);
		if (ret == -FI_EAVAIL)
			fi_cq_readerr(s[1].cq, &err, 0);
	}
	return expect(ret, 1);
}

/*
 * With FI_PROGRESS_AUTO a receive that takes a message at once starts work: no
 * further call of the program is needed.
 */
static bool by_receive(void)
{
	const struct how how = { .progress = FI_PROGRESS_AUTO };
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_FD };
	struct fi_deferred_work work = { .threshold = 1,
					 .op_type = FI_OP_CNTR_ADD };
	struct pollfd p = { .events = POLLIN };
	struct fi_op_cntr add = { .value = 1 };
	struct fid_ep *ep;
	struct fid *fid;
	fi_addr_t to;
	bool ok;

	setup_how(&how);
	ok = open_counted(&ep, &to) &&
	     expect(fi_cntr_open(s[1].domain, &attr, &add.cntr, NULL), 0) &&
	     expect(fi_tsend(s[0].ep, mem[0], 8, NULL, to, 0, NULL), 0) &&
	     arrived(ep);
	work.triggering_cntr = cntr[2];
	work.op.cntr = &add;
	fid = &add.cntr->fid;
	ok = ok && expect(fi_control(&s[1].domain->fid, FI_QUEUE_WORK, &work), 0) &&
	     expect(fi_control(fid, FI_GETWAIT, &p.fd), 0) &&
	     expect(fi_trywait(s[1].fabric, &fid, 1), 0);
	poll(NULL, 0, 100);
	ok = ok && expect(poll(&p, 1, 0), 0) &&
	     expect(fi_trecv(ep, mem[1], 8, NULL, FI_ADDR_UNSPEC, 0, 0, NULL), 0) &&
	     expect(poll(&p, 1, 5000), 1) && expect(fi_cntr_read(add.cntr), 1);
	ok = closed(&ep->fid) && closed(fid) && ok;
	teardown();
	return ok;
}

/* Errors of a counter start deferred work, but not calls with FI_TRIGGER. */
static bool by_errors(void)
{
	struct fi_deferred_work work = { .threshold = 3,
					 .op_type = FI_OP_CNTR_ADD };
	struct fi_op_cntr add = { .value = 1 };
	struct iovec local = { 0 };
	struct fi_triggered_context t;
	struct fi_msg msg = { &local, NULL, 1, 0, &t, 0 };
	bool ok;

	setup();
	t = at(cntr[0], 3);
	local = (struct iovec){ mem[0], 8 };
	msg.addr = s[0].peer;
	add.cntr = cntr[1];
	work.triggering_cntr = cntr[0];
	work.op.cntr = &add;
	ok = expect(fi_sendmsg(s[0].ep, &msg, FI_TRIGGER), 0) &&
	     expect(fi_control(&s[0].domain->fid, FI_QUEUE_WORK, &work), 0) &&
	     expect(fi_cntr_add(cntr[0], 1), 0) &&
	     expect(fi_cntr_adderr(cntr[0], 1), 0) &&
	     expect(fi_cntr_read(cntr[1]), 0) &&
	     expect(fi_cntr_adderr(cntr[0], 1), 0) &&
	     expect(fi_cntr_read(cntr[1]), 1);
	settle();
	ok = ok && nothing(&s[0]) && expect(fi_cntr_add(cntr[0], 2), 0) &&
	     comes(0, &t, FI_MSG | FI_SEND);
	teardown();
	return ok;
}

#define SENDS	400	/* more messages than there is room for at a time */

/*
 * A counter that grows by more than one starts its operations in the order of
 * their thresholds, also those that find no room at first.
 */
static bool in_order(void)
{
	struct fi_triggered_context t[SENDS + 1];
	struct fi_cq_tagged_entry e;
	struct iovec local = { 0 };
	struct fi_msg msg = { &local, NULL, 1, 0, NULL, 0 };
	uint64_t got[SENDS + 1];
	bool ok = true;
	int i, n = 0;

	setup();
	msg.addr = s[0].peer;
	for (i = 0; ok && i <= SENDS; i++) {
		int number = i ? i - 1 : SENDS;

		memcpy(mem[0] + number * 8, &(uint64_t){ (uint64_t)number }, 8);
		local = (struct iovec){ mem[0] + number * 8, 8 };
		/* Each threshold has two calls, but the last call is queued first. */
		t[number] = at(cntr[0], (size_t)number / 2 + 1);
		msg.context = &t[number];
		ok = expect(fi_recv(s[1].ep, &got[i], 8, NULL, FI_ADDR_UNSPEC, NULL),
			    0) &&
		     expect(fi_sendmsg(s[0].ep, &msg, FI_TRIGGER), 0);
	}
	ok = ok && expect(fi_cntr_add(cntr[0], SENDS), 0);
	while (ok && n <= SENDS) {
		fi_cq_read(s[0].cq, &e, 1);
		n += fi_cq_read(s[1].cq, &e, 1) == 1;
	}
	for (i = 0; ok && i <= SENDS; i++)
		ok = expect((long long)got[i], i);
	teardown();
	return ok;
}

const struct part trigger_parts[] = {
	{ "trigger: reads, writes, atomic operations", on_memory },
	{ "trigger: messages", of_messages },
	{ "trigger: chains of deferred work", chains },
	{ "trigger: work that a receive starts", by_receive },
	{ "trigger: errors of the counter", by_errors },
	{ "trigger: order of thresholds", in_order },
	{ "trigger: more than there is room for", many },
	{ "trigger: cancelled and refused work", refused },
	{ 0 },
};
