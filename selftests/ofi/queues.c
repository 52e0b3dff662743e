// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues, counters, event queues, address vectors.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fi.h"

static struct side s[2];
static char mem[64];
static struct fid_mr *mr;

static void setup(const struct how *how)
{
	open_pair(s, how);
	mr = reg(&s[1], mem, sizeof(mem), ALL_RIGHTS, 1);
}

static void teardown(void)
{
	closed(&mr->fid);
	close_pair(s);
}

static bool put(void)
{
	return expect(fi_write(s[0].ep, "abc", 4, NULL, s[0].peer, 0, 1, mem), 0);
}

/* The end of struct fi_cq_err_entry before version 1.20. */
#define ERR_SRC	(offsetof(struct fi_cq_err_entry, err_data_size) + \
		 sizeof(size_t))

/*
 * The provider writes an error entry only as far as the program's version of the
 * interface defines it, whatever headers the provider was built with.  Calls the
 * provider directly, since fi_cq_readerr() of newer headers writes src_addr itself.
 * @src: expected value behind the older entry
 */
static bool entry_of(uint32_t version, fi_addr_t src)
{
	const struct how how = { .version = version };
	struct fi_cq_tagged_entry e;
	struct {
		struct fi_cq_err_entry err;
		uint64_t room;
	} to;
	char lent[8] = "lent";
	ssize_t ret;
	fi_addr_t got;
	bool ok;

	memset(&to, 0x5a, sizeof(to));
	to.err.err_data = lent;
	to.err.err_data_size = sizeof(lent);
	setup(&how);
	ok = expect(fi_write(s[0].ep, "abc", 4, NULL, s[0].peer, 0, 2, &to), 0);
	do
		ret = fi_cq_read(s[0].cq, &e, 1);
	while (ok && ret == -FI_EAGAIN);
	ok = ok && expect(ret, -FI_EAVAIL) &&
	     expect(s[0].cq->ops->readerr(s[0].cq, &to.err, 0), 1) &&
	     expect(to.err.op_context == &to, true) &&
	     expect(to.err.err, FI_ENOKEY) &&
	     expect(to.err.err_data == lent, true) &&
	     expect(to.err.err_data_size, 0);
	memcpy(&got, (char *)&to + ERR_SRC, sizeof(got));
	ok = ok && expect((long long)got, (long long)src);
	teardown();
	return ok;
}

static bool entries_of_versions(void)
{
	return entry_of(API, 0x5a5a5a5a5a5a5a5aULL) &&
	       (FI_VERSION_LT(fi_version(), FI_VERSION(1, 20)) ||
		entry_of(FI_VERSION(1, 20), FI_ADDR_NOTAVAIL));
}

/* Takes many completions at once; an error between them is reported in its place. */
static bool batch(void)
{
	const struct how how = { 0 };
	struct fi_cq_tagged_entry e[16];
	struct fi_cq_err_entry err = { 0 };
	int i, n = 0;
	bool ok = true;

	setup(&how);
	for (i = 0; i < 5; i++)
		ok = ok && put();
	while (ok && fi_cntr_read(s[0].cntr) < 5)
		;
	ok = ok && expect(fi_write(s[0].ep, "abc", 4, NULL, s[0].peer, 0, 2,
				   &err), 0);
	while (ok && fi_cntr_readerr(s[0].cntr) < 1)
		;
	for (i = 0; i < 5; i++)
		ok = ok && put();
	while (ok && fi_cntr_read(s[0].cntr) < 10)
		;
	n = (int)fi_cq_read(s[0].cq, e, 16);
	ok = ok && expect(n, 5) &&
	     expect(fi_cq_read(s[0].cq, e, 16), -FI_EAVAIL) &&
	     expect(fi_cq_readerr(s[0].cq, &err, 0), 1) &&
	     expect(err.err, FI_ENOKEY) && expect(err.prov_errno != 0, true) &&
	     expect(strcmp(fi_cq_strerror(s[0].cq, err.prov_errno, NULL, NULL, 0),
			   "no such memory region"), 0) &&
	     expect(fi_cq_readerr(s[0].cq, &err, 0), -FI_EAGAIN) &&
	     expect(fi_cq_read(s[0].cq, e, 3), 3) &&
	     expect(fi_cq_read(s[0].cq, e, 3), 2) && nothing(&s[0]);
	teardown();
	return ok;
}

static void *signal_later(void *arg)
{
	poll(NULL, 0, 20);
	fi_cq_signal(arg);
	return NULL;
}

static bool sleeping(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct fid *fids[2];
	struct fi_cq_tagged_entry e;
	struct pollfd p = { .events = POLLIN };
	pthread_t thread;
	bool ok;

	setup(&how);
	fids[0] = &s[0].cq->fid;
	fids[1] = &s[0].cntr->fid;
	ok = expect(fi_cq_sread(s[0].cq, &e, 1, NULL, 0), -FI_EAGAIN) &&
	     expect(fi_cq_sread(s[0].cq, &e, 1, NULL, 30), -FI_EAGAIN) && put() &&
	     expect(fi_cq_sread(s[0].cq, &e, 1, NULL, LONG_MS), 1) &&
	     expect(e.op_context == mem, true) &&
	     expect(fi_cntr_wait(s[0].cntr, 1, LONG_MS), 0) &&
	     expect(fi_cntr_wait(s[0].cntr, 2, 30), -FI_ETIMEDOUT);
	pthread_create(&thread, NULL, signal_later, s[0].cq);
	ok = ok && expect(fi_cq_sread(s[0].cq, &e, 1, NULL, LONG_MS), -FI_EAGAIN);
	pthread_join(thread, NULL);
	/* The program itself sleeps, in poll(2). */
	ok = ok && expect(fi_control(fids[0], FI_GETWAIT, &p.fd), 0) &&
	     expect(fi_trywait(s[0].fabric, fids, 2), 0) &&
	     expect(poll(&p, 1, 0), 0) && put() &&
	     expect(poll(&p, 1, LONG_MS), 1);
	while (ok && fi_trywait(s[0].fabric, fids, 1) != -FI_EAGAIN)
		ok = expect(poll(&p, 1, LONG_MS), 1);
	ok = ok && expect(fi_cq_read(s[0].cq, &e, 1), 1) && nothing(&s[0]);
	teardown();
	return ok;
}

/* Without a wait object a call cannot sleep; a wait for a counter polls. */
static bool sleepless(void)
{
	const struct how how = { .wait = FI_WAIT_NONE };
	struct fi_cq_attr cq = { .wait_obj = FI_WAIT_SET };
	struct fi_cntr_attr cntr = { .wait_obj = FI_WAIT_MUTEX_COND };
	struct fi_cq_tagged_entry e;
	struct fid_cq *q;
	struct fid_cntr *c;
	int fd;
	bool ok;

	setup(&how);
	ok = expect(fi_cq_sread(s[0].cq, &e, 1, NULL, 0), -FI_ENOSYS) &&
	     expect(fi_cntr_wait(s[0].cntr, 1, 0), -FI_ETIMEDOUT) && put() &&
	     expect(fi_cntr_wait(s[0].cntr, 1, LONG_MS), 0) &&
	     expect(fi_cq_signal(s[0].cq), -FI_ENOSYS) &&
	     expect(fi_control(&s[0].cq->fid, FI_GETWAIT, &fd), -FI_ENODATA) &&
	     expect(fi_cq_open(s[0].domain, &cq, &q, NULL), -FI_ENOSYS) &&
	     expect(fi_cntr_open(s[0].domain, &cntr, &c, NULL), -FI_ENOSYS);
	cq = (struct fi_cq_attr){ .size = 1U << 30 };
	ok = ok && expect(fi_cq_open(s[0].domain, &cq, &q, NULL), -FI_EINVAL);
	teardown();
	return ok;
}

/* A poll set of a queue and a counter reports which of them have news. */
static bool sets(void)
{
	const struct how how = { 0 };
	struct fid_cntr *cntr;
	struct fid_poll *set;
	struct fi_cq_tagged_entry e;
	void *who[2] = { NULL, NULL };
	int n = 0, rounds;
	bool ok;

	setup(&how);
	s[0].cq->fid.context = &n;
	s[0].cntr->fid.context = &rounds;
	ok = expect(fi_poll_open(s[0].domain, NULL, &set), 0) &&
	     expect(fi_poll_add(set, &s[0].cq->fid, 0), 0) &&
	     expect(fi_poll_add(set, &s[0].cntr->fid, 0), 0) &&
	     expect(fi_poll_add(set, &s[0].cntr->fid, 0), -FI_EINVAL) &&
	     expect(fi_poll_add(set, &s[1].cq->fid, 0), -FI_EINVAL) &&
	     expect(fi_poll_add(set, &s[0].av->fid, 0), -FI_EINVAL) &&
	     expect(fi_poll(set, who, 2), 0) && put();
	while (ok && fi_cntr_read(s[0].cntr) < 1)
		;
	/*
	 * Two polls for one object each report both objects; afterwards only the CQ
	 * has news.
	 */
	ok = ok && expect(fi_poll(set, &who[0], 1), 1) &&
	     expect(fi_poll(set, &who[1], 1), 1) &&
	     expect(who[0] == &n && who[1] == &rounds, true) &&
	     expect(fi_poll(set, who, 2), 1) && expect(who[0] == &n, true) &&
	     completion(&s[0], &e) && expect(fi_poll(set, who, 2), 0) &&
	     expect(fi_cntr_open(s[0].domain, NULL, &cntr, who), 0) &&
	     expect(fi_poll_add(set, &cntr->fid, 0), 0) &&
	     expect(fi_close(&cntr->fid), -FI_EBUSY) &&
	     expect(fi_cntr_adderr(cntr, 1), 0) &&
	     expect(fi_poll(set, who, 2), 1) && expect(who[0] == who, true) &&
	     expect(fi_poll_del(set, &cntr->fid, 0), 0) &&
	     expect(fi_poll_del(set, &cntr->fid, 0), -FI_EINVAL) &&
	     closed(&cntr->fid);
	ok = closed(&set->fid) && ok;
	teardown();
	return ok;
}

static void *fail_later(void *arg)
{
	poll(NULL, 0, 20);
	fi_write(s[0].ep, mem, 1, NULL, s[0].peer, 0, 9, NULL);
	return arg;
}

static bool counting(void)
{
	const struct how how = { .wait = FI_WAIT_UNSPEC };
	pthread_t thread;
	bool ok;

	setup(&how);
	ok = expect(fi_cntr_set(s[0].cntr, 10), 0) &&
	     expect(fi_cntr_add(s[0].cntr, 5), 0) &&
	     expect(fi_cntr_wait(s[0].cntr, 15, 0), 0) && put() &&
	     expect(fi_cntr_wait(s[0].cntr, 16, LONG_MS), 0) &&
	     expect(fi_cntr_seterr(s[0].cntr, 3), 0) &&
	     expect(fi_cntr_adderr(s[0].cntr, 4), 0) &&
	     expect(fi_cntr_readerr(s[0].cntr), 7) &&
	     expect(!pthread_create(&thread, NULL, fail_later, NULL), true) &&
	     expect(fi_cntr_wait(s[0].cntr, 17, LONG_MS), -FI_EAVAIL) &&
	     expect(pthread_join(thread, NULL), 0) &&
	     expect(fi_cntr_readerr(s[0].cntr), 8);
	teardown();
	return ok;
}

#define SLEEPERS	3
#define ROUNDS	2000
#define LOST_MS	10000	/* a wake-up that has not come by now is lost */

/**
 * struct sleeper - a thread that waits for each value of the counter
 * @thread: the thread
 * @rounds: number of waits that have ended (atomic)
 * @ok: all of them have ended well (atomic)
 */
struct sleeper {
	pthread_t thread;
	int rounds;
	bool ok;
};

static void *sleep_on_counter(void *arg)
{
	struct sleeper *z = arg;
	bool ok = true;
	int i;

	for (i = 1; ok && i <= ROUNDS; i++) {
		ok = expect(fi_cntr_wait(s[0].cntr, (uint64_t)i, LOST_MS), 0);
		__atomic_store_n(&z->ok, ok, __ATOMIC_RELEASE);
		__atomic_store_n(&z->rounds, i, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Waits until a thread has ended @rounds waits, or has failed. */
static bool wait_ended(const struct sleeper *z, int rounds)
{
	while (__atomic_load_n(&z->rounds, __ATOMIC_ACQUIRE) < rounds &&
	       __atomic_load_n(&z->ok, __ATOMIC_ACQUIRE))
		sched_yield();
	return __atomic_load_n(&z->ok, __ATOMIC_ACQUIRE);
}

/*
 * Each value wakes all threads, though the first one that wakes waits for the
 * next value at once.
 */
static bool sleepers(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct sleeper z[SLEEPERS];
	int i, k, n = 0;
	bool ok = true;

	setup(&how);
	while (ok && n < SLEEPERS) {
		z[n] = (struct sleeper){ .ok = true };
		ok = expect(pthread_create(&z[n].thread, NULL, sleep_on_counter, &z[n]),
			    0);
		n += ok;
	}
	for (i = 1; ok && i <= ROUNDS; i++) {
		ok = expect(fi_cntr_add(s[0].cntr, 1), 0);
		for (k = 0; ok && k < n; k++)
			ok = wait_ended(&z[k], i);
	}
	for (k = 0; k < n; k++)
		pthread_join(z[k].thread, NULL);
	teardown();
	return ok;
}

/*
 * While the queue has an entry, its descriptor is readable: after one thread has taken
 * an entry, another thread still wakes for the next entry.
 */
static bool readable(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct pollfd p = { .events = POLLIN };
	struct fi_cq_tagged_entry e;
	struct fid *queue;
	bool ok;

	setup(&how);
	queue = &s[0].cq->fid;
	ok = expect(fi_control(queue, FI_GETWAIT, &p.fd), 0) &&
	     expect(fi_trywait(s[0].fabric, &queue, 1), 0) && put() && put();
	while (ok && fi_cntr_read(s[0].cntr) < 2)
		;
	ok = ok && expect(fi_trywait(s[0].fabric, &queue, 1), -FI_EAGAIN) &&
	     expect(poll(&p, 1, 0), 1) && expect(fi_cq_read(s[0].cq, &e, 1), 1) &&
	     expect(fi_trywait(s[0].fabric, &queue, 1), -FI_EAGAIN) &&
	     expect(poll(&p, 1, 0), 1) && expect(fi_cq_read(s[0].cq, &e, 1), 1) &&
	     expect(fi_trywait(s[0].fabric, &queue, 1), 0) &&
	     expect(poll(&p, 1, 0), 0);
	teardown();
	return ok;
}

/*
 * A program that has read everything may sleep.  A late event may make the descriptor readable
 * once more: then the program tries again.
 */
static bool may_sleep(struct fid *fid, struct pollfd *p)
{
	unsigned int tries = LONG_MS;
	int ret, events;

	do {
		ret = fi_trywait(s[0].fabric, &fid, 1);
		events = poll(p, 1, 1);
	} while ((ret || events) && --tries);
	return expect(ret, 0) && expect(events, 0);
}

/*
 * A program may sleep until a counter changes only after it has read the present
 * values, also if another call has made the progress that changed them.
 */
static bool unread(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct pollfd p = { .events = POLLIN };
	struct fid *fid;
	bool ok;

	setup(&how);
	fid = &s[0].cntr->fid;
	ok = expect(fi_control(fid, FI_GETWAIT, &p.fd), 0) &&
	     expect(fi_trywait(s[0].fabric, &fid, 1), 0) && put() &&
	     expect(poll(&p, 1, LONG_MS), 1);
	while (ok && fi_cq_read(s[0].cq, NULL, 0) == -FI_EAGAIN)
		;
	ok = ok && expect(fi_trywait(s[0].fabric, &fid, 1), -FI_EAGAIN) &&
	     expect(poll(&p, 1, 0), 1) && expect(fi_cntr_read(s[0].cntr), 1) &&
	     may_sleep(fid, &p) &&
	     expect(fi_cntr_adderr(s[0].cntr, 1), 0) &&
	     expect(fi_trywait(s[0].fabric, &fid, 1), -FI_EAGAIN) &&
	     expect(fi_cntr_readerr(s[0].cntr), 1) &&
	     expect(fi_trywait(s[0].fabric, &fid, 1), 0);
	teardown();
	return ok;
}

/*
 * A thread is about to sleep while a message cannot be handled yet: it still sees a
 * completion that arrives before it sleeps.
 */
static bool full(void)
{
	const struct how how = { .wait = FI_WAIT_FD };
	struct fi_cq_tagged_entry e;
	time_t begin;
	bool ok;
	int i;

	/* Keep no unexpected messages. */
	setenv("FI_ANGARA_KEEP", "0", 1);
	setup(&how);
	unsetenv("FI_ANGARA_KEEP");
	ok = expect(fi_inject(s[1].ep, "abc", 4, s[1].peer), 0);
	for (i = 0; i < 1000; i++)
		fi_cq_read(s[i & 1].cq, NULL, 0);
	harvest_stuck = true;
	stuck_until_arm = true;
	begin = time(NULL);
	ok = ok && put() &&
	     expect(fi_cq_sread(s[0].cq, &e, 1, NULL, LONG_MS / 6), 1) &&
	     expect(time(NULL) - begin < 5, true);
	harvest_stuck = false;
	stuck_until_arm = false;
	ok = ok && expect(fi_recv(s[0].ep, mem, 4, NULL, FI_ADDR_UNSPEC, NULL), 0) &&
	     completion(&s[0], &e);
	teardown();
	return ok;
}

static bool events(void)
{
	const struct how how = { 0 };
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_FD, .flags = FI_WRITE };
	struct fi_eq_entry in = { .context = &attr, .data = 7 }, out = { 0 };
	struct fi_eq_err_entry err = { 0 };
	struct pollfd p = { .events = POLLIN };
	struct fid_eq *eq;
	uint32_t event = 0;
	struct fid *fid;
	bool ok;

	setup(&how);
	ok = expect(fi_eq_open(s[0].fabric, &attr, &eq, NULL), 0);
	fid = &eq->fid;
	ok = ok && expect(fi_eq_read(eq, &event, &out, sizeof(out), 0),
			  -FI_EAGAIN) &&
	     expect(fi_trywait(s[0].fabric, &fid, 1), 0) &&
	     expect(fi_eq_sread(eq, &event, &out, sizeof(out), 20, 0),
		    -FI_EAGAIN) &&
	     expect(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0),
		    sizeof(in)) &&
	     expect(fi_trywait(s[0].fabric, &fid, 1), -FI_EAGAIN) &&
	     /* The descriptor stays readable: another thread may sleep on it. */
	     expect(fi_control(fid, FI_GETWAIT, &p.fd), 0) &&
	     expect(poll(&p, 1, 0), 1) &&
	     expect(fi_eq_read(eq, &event, &out, 1, 0), -FI_ETOOSMALL) &&
	     expect(fi_eq_read(eq, &event, &out, sizeof(out), FI_PEEK),
		    sizeof(out)) &&
	     expect(fi_eq_sread(eq, &event, &out, sizeof(out), LONG_MS, 0),
		    sizeof(out)) &&
	     expect(event, FI_NOTIFY) && expect(out.context == &attr, true) &&
	     expect((long long)out.data, 7) &&
	     expect(fi_eq_readerr(eq, &err, 0), -FI_EAGAIN) &&
	     expect(fi_eq_write(eq, FI_NOTIFY, &in, sizeof(in), 0),
		    sizeof(in)) &&
	     expect(fi_close(&s[0].fabric->fid), -FI_EBUSY);
	ok = closed(fid) && ok;
	teardown();
	return ok;
}

static bool vectors_of_addresses(void)
{
	const struct how how = { 0 };
	char name[64], back[64], text[128], tiny[4];
	char damaged[64];
	size_t len = sizeof(name), size;
	fi_addr_t addr[2] = { 0 };
	int errs[2] = { -1, -1 };
	bool ok;

	setup(&how);
	ok = expect(fi_getname(&s[1].ep->fid, name, &len), 0);
	size = 4;
	ok = ok && expect(fi_getname(&s[1].ep->fid, tiny, &size),
			  -FI_ETOOSMALL) && expect(size, len);
	size = sizeof(back);
	ok = ok && expect(fi_av_lookup(s[0].av, s[0].peer, back, &size), 0) &&
	     expect(size, len) && expect(memcmp(name, back, len), 0);
	size = sizeof(text);
	fi_av_straddr(s[0].av, name, text, &size);
	ok = ok && expect(size, strlen(text) + 1) &&
	     expect(fi_av_insertsvc(s[0].av, text, NULL, addr, 0, NULL), 1) &&
	     expect(fi_av_remove(s[0].av, &s[0].peer, 1, 0), 0) &&
	     expect(fi_write(s[0].ep, "abc", 4, NULL, s[0].peer, 0, 1, NULL),
		    -FI_EINVAL) &&
	     expect(fi_av_remove(s[0].av, &s[0].peer, 1, 0), -FI_EINVAL);
	s[0].peer = addr[0];
	ok = ok && put() && expect(fi_av_insertsvc(s[0].av, "nonsense", NULL,
						   addr, 0, NULL), -FI_EINVAL);
	/* Insert an address of another fabric before a valid one. */
	memcpy(damaged, name, len);
	damaged[0] ^= 1;
	{
		char two[128];

		memcpy(two, damaged, len);
		memcpy(two + len, name, len);
		ok = ok && expect(fi_av_insert(s[0].av, two, 2, addr,
					       FI_SYNC_ERR, errs), 1) &&
		     expect(errs[0], FI_EINVAL) && expect(errs[1], 0) &&
		     expect(addr[0] == FI_ADDR_NOTAVAIL, true) &&
		     expect(addr[1] != FI_ADDR_NOTAVAIL, true);
	}
	ok = ok && expect(fi_close(&s[0].av->fid), -FI_EBUSY) &&
	     expect(fi_close(&s[0].cq->fid), -FI_EBUSY) &&
	     expect(fi_close(&s[0].cntr->fid), -FI_EBUSY);
	teardown();
	return ok;
}

/* A vector reuses the entries of removed peers, the lowest first. */
static bool entries_again(void)
{
	const struct how how = { 0 };
	struct ep_name name;
	fi_addr_t first[3], again[3];
	bool ok = true;
	int i;

	setup(&how);
	name = name_of(s[1].ep);
	for (i = 0; i < 3; i++) {
		name.serial++;
		first[i] = insert(s[0].av, &name);
	}
	/* Remove two entries from the middle. */
	ok = expect(fi_av_remove(s[0].av, &first[0], 1, 0), 0) &&
	     expect(fi_av_remove(s[0].av, &first[1], 1, 0), 0);
	for (i = 0; i < 3; i++) {
		struct ep_name back;
		size_t len = sizeof(back);

		name.serial++;
		again[i] = insert(s[0].av, &name);
		ok = ok && expect(fi_av_lookup(s[0].av, again[i], &back, &len),
				  0) &&
		     expect(back.serial, name.serial);
	}
	ok = ok && expect((long long)again[0], (long long)first[0]) &&
	     expect((long long)again[1], (long long)first[1]) &&
	     expect(again[2] > first[2], true) && put();
	teardown();
	return ok;
}

#define MOST	2048	/* endpoints, more than a domain has */

/*
 * Endpoints that are not ready cannot be used, and too many cannot be opened.
 */
static bool endpoints(void)
{
	const struct how how = { 0 };
	static struct fid_ep *ep[MOST];
	struct fi_cq_tagged_entry e;
	uint64_t flags = FI_TRANSMIT;
	int ret = 0, n = 0;
	bool ok;

	setup(&how);
	while (n < MOST && !ret) {
		ret = fi_endpoint(s[0].domain, s[0].info, &ep[n], NULL);
		n += !ret;
	}
	ok = expect(ret, -FI_ENOSPC) &&
	     expect(n, (int)s[0].info->domain_attr->ep_cnt - 1) &&
	     expect(fi_enable(ep[0]), -FI_ENOAV) &&
	     expect(fi_ep_bind(ep[0], &s[0].av->fid, 0), 0) &&
	     expect(fi_enable(ep[0]), -FI_ENOCQ) &&
	     expect(fi_ep_bind(ep[0], &s[0].cq->fid, 0), -FI_EINVAL) &&
	     expect(fi_ep_bind(ep[0], &s[1].cq->fid, FI_TRANSMIT),
		    -FI_EINVAL) &&
	     expect(fi_write(ep[0], mem, 1, NULL, s[0].peer, 0, 1, NULL),
		    -FI_EOPBADSTATE) &&
	     expect(fi_ep_bind(ep[0], &s[0].cq->fid, FI_TRANSMIT), 0) &&
	     expect(fi_enable(ep[0]), 0) &&
	     expect(fi_ep_bind(ep[0], &s[0].av->fid, 0), -FI_EOPBADSTATE) &&
	     /* Queues and counters may be bound later. */
	     expect(fi_ep_bind(ep[0], &s[0].cntr->fid, FI_WRITE), 0) &&
	     expect(fi_ep_bind(ep[0], &s[0].cntr->fid, FI_WRITE), -FI_EINVAL) &&
	     expect(fi_ep_bind(ep[0], &s[0].cq->fid, FI_RECV), 0) &&
	     expect(fi_write(ep[0], "abc", 4, NULL, s[0].peer, 0, 1, mem), 0) &&
	     completion(&s[0], &e) &&
	     expect((long long)fi_cntr_read(s[0].cntr), 1) &&
	     expect(fi_control(&ep[0]->fid, FI_GETOPSFLAG, &flags), 0) &&
	     expect((long long)flags, 0);
	while (n--)
		ok = closed(&ep[n]->fid) && ok;
	teardown();
	return ok;
}

#define HUNDREDS	300
#define SIZE	5000	/* bytes of a message that the receiver fetches */

static struct fid_ep *crowd[2][HUNDREDS];
static fi_addr_t to[2][HUNDREDS];

static bool open_crowd(int side, int i)
{
	struct side *a = &s[side];
	struct ep_name at;

	if (!expect(fi_endpoint(a->domain, a->info, &crowd[side][i], NULL), 0) ||
	    !expect(fi_ep_bind(crowd[side][i], &a->av->fid, 0), 0) ||
	    !expect(fi_ep_bind(crowd[side][i], &a->cq->fid,
			       FI_TRANSMIT | FI_RECV), 0) ||
	    !expect(fi_enable(crowd[side][i]), 0))
		return false;
	at = name_of(crowd[side][i]);
	to[!side][i] = insert(s[!side].av, &at);
	return true;
}

/*
 * Sends a message from an endpoint of @from to its counterpart, which receives from
 * this endpoint only.  @flags: FI_DELIVERY_COMPLETE: an answer has to find the sender
 */
static bool meets(int from, int i, char *buf, size_t len, uint64_t flags)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	const struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = to[from][i],
		.context = crowd[from][i],
	};
	struct fi_cq_tagged_entry e;

	fill(buf, len, (unsigned int)i);
	return expect(fi_recv(crowd[!from][i], buf + SIZE, SIZE, NULL,
			      to[!from][i], crowd[!from][i]), 0) &&
	       expect(when_room(&s[from], fi_sendmsg(crowd[from][i], &msg,
						     flags)), 0) &&
	       completion(&s[!from], &e) &&
	       expect(e.op_context == crowd[!from][i], true) &&
	       expect(e.len, len) &&
	       expect(filled(buf + SIZE, len, (unsigned int)i), true) &&
	       completion(&s[from], &e) &&
	       expect(e.op_context == crowd[from][i], true);
}

/* Opens hundreds of endpoints of a domain, each with its own number. */
static bool hundreds(void)
{
	const struct how how = { .caps = FI_MSG | FI_DIRECTED_RECV | FI_SOURCE };
	char *buf = calloc(2, SIZE);
	bool ok = true;
	int side, i;

	open_pair(s, &how);
	for (i = 0; ok && i < HUNDREDS; i++)
		ok = open_crowd(0, i) && open_crowd(1, i);
	for (i = 0; ok && i < HUNDREDS; i++)
		ok = meets(i & 1, i, buf, 8, 0) &&
		     meets(i & 1, i, buf, 8, FI_DELIVERY_COMPLETE) &&
		     meets(!(i & 1), i, buf, SIZE, 0);
	for (side = 0; side < 2; side++)
		for (i = 0; i < HUNDREDS; i++)
			if (crowd[side][i])
				ok = closed(&crowd[side][i]->fid) && ok;
	close_pair(s);
	free(buf);
	return ok;
}

const struct part queue_parts[] = {
	{ "cq: several completions, and an error between", batch },
	{ "cq: error entries of the program's version", entries_of_versions },
	{ "cq and counter: sleeping", sleeping },
	{ "cq and counter: without wait objects", sleepless },
	{ "cq and counter: poll sets", sets },
	{ "counter: values", counting },
	{ "counter: threads that sleep on one", sleepers },
	{ "cq: readable as long as there is an entry", readable },
	{ "cq: sleeping while a message waits for room", full },
	{ "counter: a program sleeps only if it has read all values", unread },
	{ "eq", events },
	{ "av", vectors_of_addresses },
	{ "av: entries of removed peers are reused", entries_again },
	{ "endpoints", endpoints },
	{ "endpoints: hundreds", hundreds },
	{ 0 },
};
