// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tests of memory that is passed without a descriptor: how often it is registered,
 * that data belongs to the pages that are mapped now, and that a closed endpoint
 * leaves no registration.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "afi.h"
#include "fi.h"

#define LEN	((size_t)1 << 20)
#define MANY	1000
#define WINDOW	64

static struct side s[2];
static char *mem[2];

/* Maps LEN bytes, not as a part of a huge page. */
static char *pages_at(void *at)
{
	char *p = mmap(at, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, LEN, MADV_NOHUGEPAGE);
	return p;
}

static void setup(void)
{
	const struct how how = { 0 };

	open_pair(s, &how);
	mem[0] = pages_at(NULL);
	mem[1] = pages_at(NULL);
}

static void teardown(void)
{
	close_pair(s);
	munmap(mem[0], LEN);
	munmap(mem[1], LEN);
}

static struct angara_mr_cache_info info(const struct side *side)
{
	struct angara_mr_cache_info i = { .size = sizeof(i) };

	if (angara_mr_cache_query(afi_domain_of(side->domain)->dom, &i))
		exit(1);
	return i;
}

static long long registrations(const struct side *side)
{
	return (long long)info(side).misses;
}

/* Opens one more endpoint in a side's domain. */
static struct fid_ep *another(struct side *of)
{
	struct fid_ep *ep = NULL;

	if (!expect(fi_endpoint(of->domain, of->info, &ep, NULL), 0) ||
	    !expect(fi_ep_bind(ep, &of->av->fid, 0), 0) ||
	    !expect(fi_ep_bind(ep, &of->cq->fid, FI_TRANSMIT | FI_RECV), 0) ||
	    !expect(fi_enable(ep), 0))
		exit(1);
	return ep;
}

static bool send_to(struct fid_ep *ep, fi_addr_t to, uint64_t tag)
{
	return expect(when_room(&s[0], fi_tsend(ep, mem[0], LEN, NULL, to, tag,
						mem)), 0);
}

static bool send_from(struct fid_ep *ep, uint64_t tag)
{
	return send_to(ep, s[0].peer, tag);
}

static bool receive_to(uint64_t tag)
{
	return expect(when_room(&s[1], fi_trecv(s[1].ep, mem[1], LEN, NULL,
						FI_ADDR_UNSPEC, tag, 0, s)), 0);
}

/* Waits for the receiver's completion and, if @sender, the sender's. */
static bool received(bool sender)
{
	struct fi_cq_tagged_entry e;
	ssize_t ret;

	do {
		fi_cq_read(s[0].cq, NULL, 0);
		ret = fi_cq_read(s[1].cq, &e, 1);
	} while (ret == -FI_EAGAIN);
	return expect(ret, 1) && (!sender || completion(&s[0], &e));
}

static bool transfer(uint64_t tag)
{
	return send_from(s[0].ep, tag) && receive_to(tag) && received(true);
}

/* A message costs one registration at the sender, one at the receiver. */
static bool messages(void)
{
	bool ok = true;
	int i;

	setup();
	for (i = 0; ok && i < MANY; i++) {
		if (i % 100 == 0)
			fill(mem[0], LEN, (unsigned int)i);
		ok = transfer((uint64_t)i) &&
		     (i % 100 || filled(mem[1], LEN, (unsigned int)i));
	}
	ok = ok && expect(registrations(&s[0]), 1) &&
	     expect(registrations(&s[1]), 1) &&
	     expect((long long)info(&s[0]).bytes, (long long)LEN);
	teardown();
	return ok;
}

/* Sends many messages from one buffer that are in flight at once. */
static bool window(void)
{
	bool ok = true;
	int i, round;

	setup();
	fill(mem[0], LEN, 6);
	for (round = 0; ok && round < 4; round++) {
		for (i = 0; ok && i < WINDOW; i++)
			ok = send_from(s[0].ep, (uint64_t)i);
		for (i = 0; ok && i < WINDOW; i++)
			ok = receive_to((uint64_t)i) && received(true);
	}
	ok = ok && filled(mem[1], LEN, 6) && expect(registrations(&s[0]), 1);
	teardown();
	return ok;
}

/* Writes from memory without a descriptor, and reads into it. */
static bool rma(void)
{
	struct fi_cq_tagged_entry e;
	struct fid_mr *mr;
	uint64_t at, key;
	bool ok = true;
	int i;

	setup();
	mr = reg(&s[1], mem[1], LEN, ALL_RIGHTS, 3);
	at = start_of(&s[1], mem[1]);
	key = fi_mr_key(mr);
	for (i = 0; ok && i < MANY; i++) {
		if (i % 100 == 0)
			fill(mem[0], LEN, (unsigned int)i);
		ok = expect(when_room(&s[0], fi_write(s[0].ep, mem[0], LEN, NULL,
						      s[0].peer, at, key, mem)),
			    0) && completion(&s[0], &e) &&
		     (i % 100 || filled(mem[1], LEN, (unsigned int)i));
	}
	ok = ok && expect(registrations(&s[0]), 1);
	for (i = 0; ok && i < MANY; i++) {
		if (i % 100 == 0)
			fill(mem[1], LEN, (unsigned int)i + 7);
		ok = expect(when_room(&s[0], fi_read(s[0].ep, mem[0], LEN, NULL,
						     s[0].peer, at, key, mem)),
			    0) && completion(&s[0], &e) &&
		     (i % 100 || filled(mem[0], LEN, (unsigned int)i + 7));
	}
	ok = ok && expect(registrations(&s[0]), 2);
	closed(&mr->fid);
	teardown();
	return ok;
}

/* Frees memory and maps it again at the same address, as allocators do. */
static bool mapped_anew(void)
{
	unsigned int i;
	bool ok = true;

	setup();
	for (i = 0; ok && i < 20; i++) {
		if (i % 2) {
			munmap(mem[0], LEN);
			munmap(mem[1], LEN);
		}
		pages_at(mem[0]);
		pages_at(mem[1]);
		fill(mem[0], LEN, i);
		ok = transfer(i) && filled(mem[1], LEN, i);
	}
	teardown();
	return ok;
}

/* After fork() the child has copies; the registrations stay the parent's. */
static bool forked(void)
{
	unsigned int i;
	bool ok = true;
	int status;

	setup();
	ok = transfer(0);
	for (i = 0; ok && i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			memset(mem[0], 0xEE, LEN);
			memset(mem[1], 0xEE, LEN);
			_exit(0);
		}
		fill(mem[0], LEN, i);
		if (i % 2)
			waitpid(pid, &status, 0);
		ok = transfer(i) && filled(mem[1], LEN, i);
		if (!(i % 2))
			waitpid(pid, &status, 0);
	}
	ok = ok && expect(registrations(&s[0]), 1) &&
	     expect(registrations(&s[1]), 1);
	teardown();
	return ok;
}

/* Makes progress until nothing more arrives. */
static void settle(void)
{
	int i;

	for (i = 0; i < 200; i++) {
		fi_cq_read(s[0].cq, NULL, 0);
		fi_cq_read(s[1].cq, NULL, 0);
	}
}

/*
 * A receiver that posts its receive after the sender's endpoint was closed gets an
 * error, and no new data of the sender's memory.
 */
static bool closed_sender(void)
{
	struct fid_ep *ep;
	size_t i;
	bool ok;

	setup();
	ep = another(&s[0]);
	fill(mem[0], LEN, 1);
	memset(mem[1], 0, LEN);
	ok = send_from(ep, 5);
	settle();
	ok = ok && expect(registrations(&s[0]), 1) &&
	     expect((long long)info(&s[0]).bytes, (long long)LEN);
	ok = closed(&ep->fid) && ok &&
	     expect((long long)info(&s[0]).bytes, 0) &&
	     expect(info(&s[0]).ranges, 0);
	memset(mem[0], 0x77, LEN);
	ok = ok && receive_to(5) && error(&s[1], FI_ENOKEY, s);
	for (i = 0; ok && i < LEN; i++)
		ok = expect(mem[1][i], 0);
	/* Other endpoints still send from this memory. */
	ok = ok && transfer(6) && expect(mem[1][LEN - 1], 0x77) &&
	     expect(registrations(&s[0]), 2);
	teardown();
	return ok;
}

/* Two endpoints of a domain send from the same memory; one is closed. */
static bool closed_one(void)
{
	struct fid_ep *ep;
	bool ok;

	setup();
	ep = another(&s[0]);
	fill(mem[0], LEN, 2);
	ok = send_from(ep, 5) && send_from(s[0].ep, 6);
	settle();
	ok = ok && expect(registrations(&s[0]), 2);
	ok = closed(&ep->fid) && ok &&
	     receive_to(6) && received(true) && filled(mem[1], LEN, 2) &&
	     receive_to(5) && error(&s[1], FI_ENOKEY, s);
	teardown();
	return ok;
}

/* Soon after an endpoint is closed, the adapter no longer writes data of its reads. */
static bool closed_reader(void)
{
	struct fid_mr *mr;
	struct fid_ep *ep;
	uint64_t at;
	unsigned int i;
	bool ok = true;

	setup();
	mr = reg(&s[1], mem[1], LEN, ALL_RIGHTS, 3);
	at = start_of(&s[1], mem[1]);
	fill(mem[1], LEN, 9);
	for (i = 0; ok && i < 20; i++) {
		ep = another(&s[0]);
		ok = expect(when_room(&s[0], fi_read(ep, mem[0], LEN, NULL,
						     s[0].peer, at,
						     fi_mr_key(mr), mem)), 0);
		ok = closed(&ep->fid) && ok;
		/* A later access by an embedded adapter would crash the process. */
		munmap(mem[0], LEN);
		settle();
		ok = ok && expect((long long)info(&s[0]).bytes, 0);
		pages_at(mem[0]);
	}
	closed(&mr->fid);
	teardown();
	return ok;
}

/* A failed message releases its memory, but no other message's. */
static bool failed(void)
{
	struct ep_name name;
	struct fid_ep *ep;
	fi_addr_t to;
	bool ok;

	setup();
	ep = another(&s[1]);
	name = name_of(ep);
	to = insert(s[0].av, &name);
	fill(mem[0], LEN, 3);
	ok = send_to(s[0].ep, to, 1) && send_from(s[0].ep, 1);
	settle();
	ok = closed(&ep->fid) && ok && error(&s[0], FI_EHOSTUNREACH, mem) &&
	     receive_to(1) && received(true) && filled(mem[1], LEN, 3) &&
	     expect(registrations(&s[0]), 1);
	ep = another(&s[1]);
	name = name_of(ep);
	to = insert(s[0].av, &name);
	ok = ok && send_to(s[0].ep, to, 1);
	settle();
	ok = closed(&ep->fid) && ok && error(&s[0], FI_EHOSTUNREACH, mem) &&
	     expect((long long)info(&s[0]).bytes, 0) &&
	     expect(registrations(&s[0]), 1);
	teardown();
	return ok;
}

/* Messages use more buffers than the cache holds. */
static bool buffers(void)
{
	enum { PIECES = 1500, PIECE = 65536 + 64 };
	char *many;
	struct fi_cq_tagged_entry e;
	unsigned int i;
	bool ok = true;

	setup();
	many = malloc((size_t)PIECES * PIECE);
	if (!many)
		exit(1);
	for (i = 0; ok && i < PIECES; i++) {
		char *at = many + (size_t)i * PIECE;

		memset(at, (int)i, PIECE);
		ok = expect(when_room(&s[0], fi_tsend(s[0].ep, at, PIECE, NULL,
						      s[0].peer, i, NULL)), 0) &&
		     receive_to(i) && received(false) && completion(&s[0], &e) &&
		     expect(mem[1][PIECE - 1], (char)i);
	}
	ok = ok && expect(registrations(&s[0]), PIECES) &&
	     expect(info(&s[0]).ranges, 1024) &&
	     expect((long long)info(&s[0]).dropped, PIECES - 1024);
	teardown();
	free(many);
	return ok;
}

const struct part cache_parts[] = {
	{ "cache: 1000 messages from one buffer", messages },
	{ "cache: messages in flight from one buffer", window },
	{ "cache: 1000 writes and reads", rma },
	{ "cache: memory that is mapped again", mapped_anew },
	{ "cache: fork", forked },
	{ "cache: a sender that is closed", closed_sender },
	{ "cache: one of two senders is closed", closed_one },
	{ "cache: a reader that is closed", closed_reader },
	{ "cache: a message that fails", failed },
	{ "cache: more buffers than the cache holds", buffers },
	{ 0 },
};
