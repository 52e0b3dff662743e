// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that the program did not register: the cost, correctness after
 * unmapping and mapping, and the contents of the cache.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib.h"
#include "pending.h"

#define MIB	((size_t)1 << 20)
#define PUTS	1000
#define ROUNDS	20
#define THREADS	3
#define PIECE	((size_t)65536)
#define CHUNK	((size_t)5000)		/* not a multiple of a page */
#define CHUNKS	1000U
#define FLIGHT	64U

/* Only the first process tests this, since each has its own registrations. */
static bool one_registration(void)
{
	struct angara_mr *dst = region(MIB);
	struct angara_mr_cache_info was, is;
	bool ok = true;
	int i;

	if (!rank) {
		char *src = pages_at(NULL, MIB);

		fill(src, MIB, 1);
		was = cache_info(dom);
		for (i = 0; ok && i < PUTS; i++)
			ok = expect("put", angara_put(ctx, alone_self(ctx),
						      angara_mr_key(dst), 0, NULL,
						      address(src), MIB), 0);
		is = cache_info(dom);
		ok = ok && filled("put", angara_mr_addr(dst), MIB, 1) &&
		     expect("registrations", is.misses - was.misses, 1) &&
		     expect("found", is.hits - was.hits, PUTS - 1) &&
		     expect("stale", is.stale - was.stale, 0);
		munmap(src, MIB);
	}
	ok &= angara_job_barrier(job) == 0;
	angara_free(dst);
	return ok;
}

/*
 * Frees memory and maps it again at the same addresses, as an allocator does.
 */
static bool new_data(void)
{
	const struct angara_peer to = peers()[(rank + 1) % size];
	struct angara_mr *dst = region(MIB);
	char *at = pages_at(NULL, MIB);
	unsigned int i;
	bool ok = angara_job_barrier(job) == 0;

	for (i = 0; ok && i < ROUNDS; i++) {
		if (i % 2)
			munmap(at, MIB);
		pages_at(at, MIB);
		fill(at, MIB, rank + i);
		ok = expect("put", angara_put(ctx, to, angara_mr_key(dst), 0,
					      NULL, address(at), MIB), 0) &&
		     expect("barrier", angara_job_barrier(job), 0) &&
		     filled("new data", angara_mr_addr(dst), MIB,
			    (rank + size - 1) % size + i) &&
		     expect("barrier", angara_job_barrier(job), 0);
	}
	munmap(at, MIB);
	ok &= angara_job_barrier(job) == 0;
	angara_free(dst);
	return ok;
}

/*
 * Data arrives in the memory that is mapped now; read-only memory can only be a
 * source.
 */
static bool get(void)
{
	const struct angara_peer to = peers()[(rank + 1) % size];
	struct angara_mr *src = region(MIB);
	char *at = pages_at(NULL, MIB);
	struct pending req;
	unsigned int i;
	bool ok = true;

	fill(angara_mr_addr(src), MIB, rank);
	ok = angara_job_barrier(job) == 0;
	for (i = 0; ok && i < 4; i++) {
		pages_at(at, MIB);
		ok = expect("get", angara_get_nbi(ctx, to, angara_mr_key(src), 0,
						  NULL, address(at) + i, MIB - i,
						  pending_op(&req)), 0) &&
		     expect("get", pending_wait(ctx, &req, LONG_MS), 0) &&
		     filled("get", at + i, MIB - i, (rank + 1) % size);
	}
	mprotect(at, MIB, PROT_READ);
	ok = ok && expect("read only",
			  angara_put(ctx, to, angara_mr_key(src), 0, NULL,
				     address(at), 4096), 0) &&
	     expect("barrier", angara_job_barrier(job), 0);
	munmap(at, MIB);
	if (!embedded())
		ok = ok && expect("unmapped",
				  angara_put(ctx, to, angara_mr_key(src), 0, NULL,
					     address(at), MIB), -EFAULT);
	ok &= angara_job_barrier(job) == 0;
	angara_free(src);
	return ok;
}

/* Passes memory without a region to all forms of a put; completions are as usual. */
static bool forms(void)
{
	const struct angara_peer to = peers()[(rank + 1) % size];
	struct angara_mr *dst = region(2 * MIB);
	char *at = pages_at(NULL, MIB);
	const struct angara_signal sig = {
		.size = sizeof(sig), .op = ANGARA_SIGNAL_ADD,
		.key = angara_mr_key(dst), .off = 2 * MIB - 8, .value = 1,
	};
	uint64_t *word = (uint64_t *)((char *)angara_mr_addr(dst) + 2 * MIB - 8);
	struct pending req, req2;
	bool ok;

	fill(at, MIB, rank + 40);
	ok = expect("barrier", angara_job_barrier(job), 0) &&
	     expect("start of a put",
		    angara_put_nbi(ctx, to, angara_mr_key(dst), 0, NULL, address(at), MIB,
				   pending_op(&req)),
		    0) &&
	     expect("counted",
		    angara_put_nbi(ctx, to, angara_mr_key(dst), MIB, NULL, address(at), 1000, NULL),
		    0) &&
	     expect("short",
		    angara_put_nbi(ctx, to, angara_mr_key(dst), MIB, NULL, address(at), 8, NULL),
		    0) &&
	     expect("put of no bytes",
		    angara_put_nbi(ctx, to, angara_mr_key(dst), MIB, NULL, 0, 0, NULL), 0) &&
	     expect("refused",
		    angara_put_nbi(ctx, to, angara_mr_key(dst), 2 * MIB - 8, NULL, address(at),
				   4096, pending_op(&req2)),
		    0) &&
	     expect("end of the put", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("end of the refused put", pending_wait(ctx, &req2, LONG_MS), -ERANGE) &&
	     expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
	     expect("signal",
		    angara_put_signal(ctx, to, angara_mr_key(dst), 0, NULL, address(at), MIB, &sig),
		    0) &&
	     expect("signal nbi",
		    angara_put_signal_nbi(ctx, to, angara_mr_key(dst), 0, NULL, address(at), MIB,
					  &sig, pending_op(&req)),
		    0) &&
	     expect("signal ends", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("barrier", angara_job_barrier(job), 0) &&
	     expect("signals", (long long)*word, 2) &&
	     filled("forms", angara_mr_addr(dst), MIB, (rank + size - 1) % size + 40);
	ok = ok && expect("length beyond the limit",
			  angara_put(ctx, to, angara_mr_key(dst), 0, NULL,
				     address(at), (size_t)1 << 31), -EINVAL);
	munmap(at, MIB);
	ok &= angara_job_barrier(job) == 0;
	angara_free(dst);
	return ok;
}

static bool holds(struct angara_domain *d, char *at, size_t len,
		  unsigned int access, struct angara_mr **mr)
{
	char *from;

	if (!expect("hold", angara_mr_hold(d, at, len, access, NULL, mr), 0))
		return false;
	from = angara_mr_addr(*mr);
	return from <= at && at + len <= from + angara_mr_len(*mr);
}

/* Ranges may overlap; a range that is held stays until it is released. */
static bool ranges(void)
{
	struct angara_mr *a, *b, *c;
	char *at = pages_at(NULL, 8 * PIECE);
	struct angara_domain *d;
	bool ok;

	if (!expect("domain", angara_domain_open(NULL, NULL, &d), 0))
		return false;
	ok = holds(d, at + PIECE, PIECE, 0, &a) && holds(d, at + 4 * PIECE, PIECE, 0, &b) &&
	     expect("ranges after two holds", cache_info(d).ranges, 2) &&
	     holds(d, at + PIECE + 100, 10, 0, &c) &&
	     expect("a part is in the first range", c == a, 1);
	angara_mr_release(c);
	ok = ok && holds(d, at + PIECE + PIECE / 2, 3 * PIECE, 0, &c) &&
	     expect("ranges after three holds", cache_info(d).ranges, 3) &&
	     expect("bytes", (long long)cache_info(d).bytes, 5 * PIECE) &&
	     expect("misses", (long long)cache_info(d).misses, 3);
	angara_mr_release(a);
	angara_mr_release(b);
	angara_mr_release(c);
	/* Each range is found for bytes that no other range contains. */
	ok = ok && holds(d, at + PIECE, PIECE, 0, &c) && expect("first", c == a, 1);
	angara_mr_release(c);
	ok = ok && holds(d, at + 2 * PIECE, 2 * PIECE, 0, &c) &&
	     expect("misses", (long long)cache_info(d).misses, 3);
	angara_mr_release(c);
	/* A range that contains another replaces it. */
	ok = ok && holds(d, at + 6 * PIECE, PIECE, 0, &a) &&
	     holds(d, at + 6 * PIECE, 2 * PIECE, 0, &b) &&
	     expect("ranges after a longer hold", cache_info(d).ranges, 4) &&
	     expect("held", (long long)cache_info(d).bytes, 8 * PIECE);
	angara_mr_dereg(a);	/* has the same effect as angara_mr_release() */
	ok = ok && expect("bytes after a release", (long long)cache_info(d).bytes, 7 * PIECE) &&
	     holds(d, at + 6 * PIECE, PIECE, 0, &c) &&
	     expect("the longer range is found", c == b, 1);
	angara_free(c);
	ok = ok && expect("bytes while one is held", (long long)cache_info(d).bytes, 7 * PIECE) &&
	     expect("at", angara_mr_addr(b) == at + 6 * PIECE, 1);
	angara_mr_release(b);
	/* This range needs a right that the first range lacks. */
	ok = ok && holds(d, at + PIECE, 1, ANGARA_ACCESS_LOCAL_WRITE, &a) &&
	     holds(d, at + PIECE, 1, 0, &b) &&
	     expect("a weaker right finds the range", a == b, 1) &&
	     expect("misses", (long long)cache_info(d).misses, 6);
	angara_mr_release(a);
	angara_mr_release(b);
	ok = ok && expect("hold of no bytes", angara_mr_hold(d, at, 0, 0, NULL, &a),
			  -EINVAL) &&
	     expect("hold with an unknown right", angara_mr_hold(d, at, 1, 8, NULL, &a), -EINVAL) &&
	     expect("hold for writes of peers",
		    angara_mr_hold(d, at, 1, ANGARA_ACCESS_REMOTE_WRITE, NULL, &a),
		    -EINVAL) &&
	     expect("hold of unmapped memory", angara_mr_hold(d, (void *)-1UL, 1, 0, NULL, &a),
		    -EFAULT);
	/*
	 * Closing the domain frees everything, also this range, which is held.
	 */
	ok = ok && holds(d, at, 1, 0, &a);
	munmap(at, 8 * PIECE);
	angara_domain_close(d);
	return ok;
}

/* Each chunk shares a page with the previous one, which is in flight. */
static bool chunks(void)
{
	struct angara_mr *mr[FLIGHT] = { NULL };
	char *at = pages_at(NULL, CHUNKS * CHUNK);
	struct angara_domain *d;
	long long most = 0;
	size_t sum = 0;
	unsigned int i;
	bool ok;

	if (!expect("domain", angara_domain_open(NULL, NULL, &d), 0))
		return false;
	ok = expect("bytes at the start", (long long)cache_info(d).bytes, 0);
	for (i = 0; ok && i < CHUNKS; i++) {
		struct angara_mr **next = &mr[i % FLIGHT];

		angara_mr_release(*next);
		ok = holds(d, at + i * CHUNK, CHUNK, 0, next);
		if (ok)
			sum += angara_mr_len(*next);
	}
	most = (long long)cache_info(d).bytes;
	for (i = 0; i < FLIGHT; i++)
		angara_mr_release(mr[i]);
	ok = ok && expect("registered", sum <= 3 * CHUNKS * CHUNK, 1) &&
	     expect("pinned", most <= (long long)(3 * CHUNKS * CHUNK), 1) &&
	     expect("misses", cache_info(d).misses <= CHUNKS, 1);
	angara_domain_close(d);
	munmap(at, CHUNKS * CHUNK);
	return ok;
}

/* An operation that cannot be posted registers nothing. */
static bool no_room(void)
{
	const struct angara_ctx_attr attr = { .size = sizeof(attr),
					      .cq_entries = 64 };
	const struct angara_op op = { .size = sizeof(op) };
	struct angara_mr *dst = own_region(PIECE);
	char *at = pages_at(NULL, 4 * PIECE);
	struct angara_mr_cache_info was;
	struct angara_signal sig = {
		.size = sizeof(sig), .op = ANGARA_SIGNAL_ADD,
		.key = angara_mr_key(dst), .off = 0, .value = 1,
	};
	uint64_t key = angara_mr_key(dst);
	struct angara_peer self;
	struct angara_ctx *own;
	int i, ret = 0;
	bool ok;

	if (!expect("context", angara_ctx_open(dom, &attr, &own), 0))
		return false;
	self = alone_self(own);
	/* Leave the completions unread. */
	for (i = 0; !ret && i < 1000; i++)
		ret = angara_put_inline_nbi(own, self, key, 8, at, 8, &op);
	was = cache_info(dom);
	ok = expect("put into a full queue", ret, -EAGAIN) &&
	     expect("put", angara_put_nbi(own, self, key, 0, NULL, address(at), PIECE, &op),
		    -EAGAIN) &&
	     expect("get", angara_get_nbi(own, self, key, 0, NULL, address(at + PIECE), PIECE, &op),
		    -EAGAIN) &&
	     expect("signal",
		    angara_put_signal_nbi(own, self, key, 0, NULL, address(at + 2 * PIECE), PIECE,
					  &sig, &op),
		    -EAGAIN) &&
	     expect("registered", (long long)(cache_info(dom).misses - was.misses), 0);
	angara_ctx_close(own);
	munmap(at, 4 * PIECE);
	angara_free(dst);
	return ok;
}

/* The cache stays within its limits, and evicts the oldest ranges first. */
static bool limits(void)
{
	char *at = pages_at(NULL, 32 * PIECE);
	struct angara_domain *d;
	struct angara_mr *mr, *kept = NULL;
	unsigned int i;
	bool ok;

	setenv("ANGARA_MR_CACHE", "1", 1);
	if (!expect("domain", angara_domain_open(NULL, NULL, &d), 0))
		return false;
	ok = holds(d, at, PIECE, 0, &kept);
	for (i = 1; ok && i < 32; i++) {
		ok = holds(d, at + i * PIECE, PIECE, 0, &mr);
		angara_mr_release(mr);
	}
	ok = ok && expect("bytes", (long long)cache_info(d).bytes, MIB) &&
	     expect("dropped", (long long)cache_info(d).dropped, 16) &&
	     holds(d, at + 31 * PIECE, PIECE, 0, &mr) &&
	     expect("the last range is found", (long long)cache_info(d).hits, 1);
	angara_mr_release(mr);
	ok = ok && holds(d, at, PIECE, 0, &mr) &&
	     expect("held ranges stay", mr == kept, 1);
	angara_mr_release(mr);
	angara_mr_release(kept);
	angara_domain_close(d);

	setenv("ANGARA_MR_CACHE", "0", 1);
	ok = ok && expect("domain", angara_domain_open(NULL, NULL, &d), 0);
	for (i = 0; ok && i < 2; i++) {
		ok = holds(d, at, PIECE, 0, &mr);
		angara_mr_release(mr);
	}
	ok = ok && expect("no range is kept", (long long)cache_info(d).bytes, 0) &&
	     expect("misses", (long long)cache_info(d).misses, 2);
	angara_domain_close(d);
	unsetenv("ANGARA_MR_CACHE");
	munmap(at, 32 * PIECE);
	return ok;
}

/**
 * struct user - a thread with its own context, and memory that it changes
 * @thread: thread
 * @all: memory from which all threads put pieces
 * @to: region that it writes to
 * @key: key of @to
 * @seed: seed of its generator
 * @ok: no failure yet
 */
struct user {
	pthread_t thread;
	const char *all;
	char *to;
	uint64_t key;
	unsigned int seed;
	bool ok;
};

/* Regions become stale, and are dropped, while other threads use the cache. */
static void *use(void *arg)
{
	struct user *u = arg;
	struct angara_ctx *own;
	char *at = pages_at(NULL, PIECE);
	unsigned int i;

	u->ok = expect("context", angara_ctx_open(dom, NULL, &own), 0);
	for (i = 0; u->ok && i < 200; i++) {
		size_t len = PIECE - i % 16 * 4096;
		const char *from;

		if (i % 3 == 0)
			pages_at(at, PIECE);
		fill(at, len, u->seed + i);
		u->ok = expect("put", angara_put(own, alone_self(own), u->key, 0,
						 NULL, address(at), len), 0) &&
			filled("thread", u->to, len, u->seed + i);
		from = u->all + (u->seed + i * 12347) % PIECE;
		u->ok = u->ok &&
			expect("put of a piece",
			       angara_put(own, alone_self(own), u->key, 0, NULL, address(from),
					  len),
			       0) &&
			expect("data of the piece differs", memcmp(u->to, from, len), 0);
	}
	angara_ctx_close(own);
	munmap(at, PIECE);
	return NULL;
}

static bool threads(void)
{
	struct user user[THREADS];
	struct angara_mr *mr[THREADS];
	char *all = pages_at(NULL, 2 * PIECE);
	unsigned int i;
	bool ok = true;

	fill(all, 2 * PIECE, rank);
	for (i = 0; i < THREADS; i++) {
		mr[i] = own_region(PIECE);
		user[i] = (struct user){
			.all = all, .to = angara_mr_addr(mr[i]),
			.seed = i * 1000,
			.key = angara_mr_key(mr[i]),
		};
		if (pthread_create(&user[i].thread, NULL, use, &user[i]))
			exit(1);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(user[i].thread, NULL);
		ok &= user[i].ok;
	}
	for (i = 0; i < THREADS; i++)
		angara_free(mr[i]);
	munmap(all, 2 * PIECE);
	return ok;
}

const struct part cache_parts[] = {
	{ "cache: 1000 puts cost a registration", one_registration },
	{ "cache: memory that is mapped again has the new data", new_data },
	{ "cache: gets", get },
	{ "cache: all forms", forms },
	{ "cache: ranges", ranges },
	{ "cache: adjacent chunks", chunks },
	{ "cache: no room", no_room },
	{ "cache: limits", limits },
	{ "cache: threads", threads },
	{ NULL, NULL }
};
