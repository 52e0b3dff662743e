// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Regions of the cache: read by peers, revoked, more than the limit; operations
 * on many elements and atomic operations in unregistered memory.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define PAGE	((size_t)4096)
#define SHOWN	ANGARA_ACCESS_REMOTE_READ
#define LW	ANGARA_ACCESS_LOCAL_WRITE
#define KEPT	1024U	/* most ranges that a cache keeps */

static char *pages(size_t n)
{
	return pages_at(NULL, n * PAGE);
}

/**
 * struct place - a domain with a context and an empty cache
 * @d: domain
 * @c: context
 */
struct place {
	struct angara_domain *d;
	struct angara_ctx *c;
};

static bool place_open(struct place *p)
{
	*p = (struct place){ 0 };
	return expect("domain", angara_domain_open(NULL, NULL, &p->d), 0) &&
	       expect("context", angara_ctx_open(p->d, NULL, &p->c), 0);
}

static void place_close(struct place *p)
{
	angara_ctx_close(p->c);
	angara_domain_close(p->d);
}

/* Reads @len bytes of a region by its key, as a peer does. */
static int read_by_key(const struct place *p, uint64_t key, uint64_t off, void *to,
		       size_t len)
{
	return angara_get_inline(p->c, alone_self(p->c), key, off, to, len);
}

/* Peers can read the bytes requested, and no others. */
static bool shown(void)
{
	char *at = pages(4), got[64];
	struct angara_mr *mr, *same, *other;
	struct place p;
	uint64_t key;
	bool ok;

	if (!place_open(&p))
		return false;
	fill(at, 4 * PAGE, 3);
	ok = expect("hold", angara_mr_hold(p.d, at + 100, 5000, SHOWN, NULL, &mr), 0);
	if (!ok)
		return false;
	key = angara_mr_key(mr);
	ok = expect("start", angara_mr_addr(mr) == at + 100, 1) &&
	     expect("length", (long long)angara_mr_len(mr), 5000) &&
	     expect("first", read_by_key(&p, key, 0, got, 64), 0) &&
	     expect("bytes", memcmp(got, at + 100, 64), 0) &&
	     expect("last", read_by_key(&p, key, 5000 - 64, got, 64), 0) &&
	     expect("read beyond the end", read_by_key(&p, key, 5000 - 63, got, 64), -ERANGE) &&
	     expect("written", angara_put_inline(p.c, alone_self(p.c), key, 0, got, 8), -EACCES);
	/*
	 * The cache finds the range for a part of it.  It makes another region
	 * for one byte more, although both ranges have the same pages.
	 */
	ok = ok && expect("part", angara_mr_hold(p.d, at + 200, 100, SHOWN, NULL, &same), 0) &&
	     expect("the same range is found", same == mr, 1);
	angara_mr_release(same);
	ok = ok && expect("hold", angara_mr_hold(p.d, at + 200, 100, 0, NULL, &other), 0) &&
	     expect("a region that peers cannot read", other != mr, 1);
	angara_mr_release(other);
	ok = ok &&
	     expect("hold of a longer range",
		    angara_mr_hold(p.d, at + 99, 5001, SHOWN, NULL, &other), 0) &&
	     expect("the longer range has another region", other != mr, 1) &&
	     expect("read", read_by_key(&p, angara_mr_key(other), 0, got, 64), 0);
	angara_mr_release(other);
	angara_mr_release(mr);
	place_close(&p);
	munmap(at, 4 * PAGE);
	return ok;
}

/* The process unmaps the bytes that peers read. */
static bool shown_and_unmapped(void)
{
	char *at = pages(64), *to = pages(64);
	struct angara_mr *mr, *dst;
	struct place p;
	uint64_t key;
	bool ok;
	int ret;

	if (!place_open(&p))
		return false;
	fill(at, 64 * PAGE, 5);
	ok = expect("hold", angara_mr_hold(p.d, at, 64 * PAGE, SHOWN, NULL, &mr), 0) &&
	     expect("reg", angara_mr_reg(p.d, to, 64 * PAGE, LW, &dst), 0);
	if (!ok)
		return false;
	key = angara_mr_key(mr);
	ok = expect("read", angara_get(p.c, alone_self(p.c), key, 0, dst, 0, 64 * PAGE),
		    0) && filled("read", to, 64 * PAGE, 5);
	angara_mr_release(mr);
	munmap(at, 64 * PAGE);
	/*
	 * With a driver the pages stay until the next search in the cache;
	 * embedded fabrics lose them at once.
	 */
	ret = angara_get(p.c, alone_self(p.c), key, 0, dst, 0, 64 * PAGE);
	ok = ok && expect("unmapped", ret == 0 || ret == -EFAULT, 1);
	angara_mr_dereg(dst);
	place_close(&p);
	munmap(to, 64 * PAGE);
	return ok;
}

/*
 * After a revocation no operation reaches the range, and the next search
 * creates a new one.
 */
static bool revoked(void)
{
	char *at = pages(16), got[8];
	struct angara_mr *mr, *twin, *next = NULL;
	struct place p;
	uint64_t key;
	int group;
	bool ok;

	if (!place_open(&p))
		return false;
	ok = expect("hold", angara_mr_hold(p.d, at, 16 * PAGE, SHOWN, &group, &mr), 0) &&
	     expect("second hold", angara_mr_hold(p.d, at, 16 * PAGE, SHOWN, &group, &twin), 0) &&
	     expect("shared", mr == twin, 1);
	if (!ok)
		return false;
	key = angara_mr_key(mr);
	ok = expect("read", read_by_key(&p, key, 0, got, 8), 0);
	angara_mr_revoke(mr);
	ok = ok && expect("read by a revoked key", read_by_key(&p, key, 0, got, 8), -ENOKEY) &&
	     expect("bytes", (long long)cache_info(p.d).bytes, 0) &&
	     expect("hold", angara_mr_hold(p.d, at, 16 * PAGE, SHOWN, &group, &next), 0) &&
	     expect("the hold gets a new region", next != mr, 1) &&
	     expect("slot", (angara_mr_key(next) & 0xFFFF) != (key & 0xFFFF), 1) &&
	     expect("read", read_by_key(&p, angara_mr_key(next), 0, got, 8), 0);
	angara_mr_revoke(twin);
	angara_mr_release(mr);
	angara_mr_release(twin);
	ok = ok &&
	     expect("read after the revocation", read_by_key(&p, angara_mr_key(next), 0, got, 8),
		    0) &&
	     expect("bytes", (long long)cache_info(p.d).bytes, 16 * PAGE);
	angara_mr_release(next);
	angara_mr_revoke(NULL);
	place_close(&p);
	munmap(at, 16 * PAGE);
	return ok;
}

/* A range that a put uses is revoked, too; the put fails. */
static bool revoked_source(void)
{
	struct angara_mr *dst, *mr;
	char *at = pages(16);
	struct place p;
	bool ok;

	if (!place_open(&p))
		return false;
	ok = expect("malloc", angara_malloc(p.d, 16 * PAGE, &dst), 0) &&
	     expect("hold", angara_mr_hold(p.d, at, 16 * PAGE, 0, &at, &mr), 0);
	if (!ok)
		return false;
	ok = expect("put", angara_put(p.c, alone_self(p.c), angara_mr_key(dst), 0, mr, 0,
				      16 * PAGE), 0);
	angara_mr_revoke(mr);
	ok = ok && expect("put", angara_put(p.c, alone_self(p.c), angara_mr_key(dst), 0, mr,
					    0, 16 * PAGE), -ENOKEY);
	angara_mr_release(mr);
	/* The cache does not revoke regions of the program. */
	angara_mr_revoke(dst);
	ok = ok && expect("put", angara_put(p.c, alone_self(p.c), angara_mr_key(dst), 0,
					    NULL, address(at), 16 * PAGE), 0);
	angara_free(dst);
	place_close(&p);
	munmap(at, 16 * PAGE);
	return ok;
}

/* While two groups hold the same memory, each has a range of its own. */
static bool groups(void)
{
	struct angara_mr *a, *b, *c;
	struct angara_domain *d;
	char *at = pages(8);
	int one, two;
	bool ok;

	if (!expect("domain", angara_domain_open(NULL, NULL, &d), 0))
		return false;
	ok = expect("hold of a", angara_mr_hold(d, at, 8 * PAGE, LW, &one, &a), 0) &&
	     expect("hold of b", angara_mr_hold(d, at, PAGE, 0, &two, &b), 0) &&
	     expect("b is not a", a != b, 1) &&
	     expect("misses", (long long)cache_info(d).misses, 2) &&
	     expect("hold of c", angara_mr_hold(d, at, PAGE, 0, &two, &c), 0) &&
	     expect("c is b", b == c, 1) && expect("ranges", cache_info(d).ranges, 1);
	angara_mr_revoke(a);
	ok = ok && expect("bytes after a is revoked", (long long)cache_info(d).bytes, PAGE);
	angara_mr_release(a);
	angara_mr_release(b);
	angara_mr_release(c);
	/*
	 * A group that holds the memory while no other group does shares an
	 * existing range.
	 */
	ok = ok && expect("second hold of a", angara_mr_hold(d, at, PAGE, 0, &one, &a), 0) &&
	     expect("a is b", a == b, 1);
	angara_mr_release(a);
	angara_domain_close(d);
	munmap(at, 8 * PAGE);
	return ok;
}

/* The child has copies of the pages, and the parent the registration. */
static bool forked(void)
{
	struct angara_mr *dst = own_region(64 * PAGE);
	char *at = pages(64);
	uint64_t misses;
	unsigned int i;
	bool ok = true;
	int status;

	fill(at, 64 * PAGE, 1);
	ok = expect("put", angara_put(ctx, alone_self(ctx), angara_mr_key(dst), 0, NULL,
				      address(at), 64 * PAGE), 0);
	misses = cache_info(dom).misses;
	for (i = 0; ok && i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			memset(at, 0xEE, 64 * PAGE);
			_exit(0);
		}
		fill(at, 64 * PAGE, i);
		if (i % 2)
			waitpid(pid, &status, 0);
		ok = expect("put", angara_put(ctx, alone_self(ctx), angara_mr_key(dst), 0,
					      NULL, address(at), 64 * PAGE), 0) &&
		     filled("after fork", angara_mr_addr(dst), 64 * PAGE, i);
		if (!(i % 2))
			waitpid(pid, &status, 0);
	}
	ok = ok && expect("registrations", (long long)(cache_info(dom).misses - misses), 0);
	angara_free(dst);
	munmap(at, 64 * PAGE);
	return ok;
}

/*
 * An allocator may return the same addresses again, with the same memory or new
 * memory.
 */
static bool allocated(void)
{
	enum { LEN = 1 << 20 };
	struct angara_mr *dst = own_region(LEN);
	uint64_t misses = cache_info(dom).misses;
	unsigned int i, again = 0;
	char *last = NULL;
	bool ok = true;

	for (i = 0; ok && i < 50; i++) {
		char *at = malloc(LEN);

		if (!at)
			exit(1);
		again += at == last;
		last = at;
		fill(at, LEN, i);
		ok = expect("put", angara_put(ctx, alone_self(ctx), angara_mr_key(dst), 0,
					      NULL, address(at), LEN), 0) &&
		     filled("allocated", angara_mr_addr(dst), LEN, i);
		free(at);
	}
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	ok = ok && expect("same addresses", again > 0, 1);
#endif
	ok = ok &&
	     expect("registrations", cache_info(dom).misses - misses <= 50, 1);
	angara_free(dst);
	return ok;
}

/*
 * On an emulated guest a registration takes some milliseconds, so parts that
 * concern one process run only on the first process there.
 */
static bool is_spared(void)
{
	return !embedded() && rank;
}

/*
 * Registers more buffers than the cache keeps, and than an embedded domain has
 * regions.
 */
static bool buffers(void)
{
	enum { PIECE = 512 };
	const unsigned int all = embedded() ? 100000 : 4 * (KEPT + 100);
	struct angara_mr *dst, *mr;
	struct angara_domain *d;
	unsigned int i;
	char *at;
	bool ok;

	if (is_spared())
		return true;
	if (!expect("domain", angara_domain_open(NULL, NULL, &d), 0))
		return false;
	at = pages(all / 4);
	dst = own_region(PIECE);
	ok = true;
	for (i = 0; ok && i < all; i++) {
		/*
		 * Take a quarter of each page: the first quarter of all pages,
		 * then the second.
		 */
		char *p = at + (size_t)(i % (all / 4)) * PAGE + i / (all / 4) * 1024;

		ok = expect("hold", angara_mr_hold(d, p, PIECE, 0, NULL, &mr), 0);
		angara_mr_release(mr);
	}
	ok = ok && expect("ranges", cache_info(d).ranges, KEPT) &&
	     expect("bytes", (long long)cache_info(d).bytes, (long long)(KEPT * PAGE)) &&
	     expect("misses", (long long)cache_info(d).misses, all) &&
	     expect("dropped", (long long)cache_info(d).dropped, (long long)(all - KEPT)) &&
	     expect("put",
		    angara_put(ctx, alone_self(ctx), angara_mr_key(dst), 0, NULL, address(at),
			       PIECE),
		    0);
	angara_domain_close(d);
	angara_free(dst);
	munmap(at, all / 4 * PAGE);
	return ok;
}

/*
 * If all ranges are held, each further one is registered for one operation only.  If no slot is
 * left, unused ranges are freed; if there are none, the call fails.
 */
static bool no_slot(void)
{
	enum { MANY = 1500, LEFT = 2500 };
	static struct angara_mr *held[MANY], *mr;
	struct angara_domain_info about = { .size = sizeof(about) };
	struct angara_domain_attr attr = { .size = sizeof(attr) };
	struct angara_mr *filler[LEFT] = { NULL };
	struct angara_domain *d;
	unsigned int i;
	char *at;
	bool ok;

	if (is_spared())
		return true;
	if (!expect("query", angara_domain_query(dom, &about), 0))
		return false;
	attr.first_slot = about.max_mrs - LEFT;
	if (!expect("domain", angara_domain_open(NULL, &attr, &d), 0))
		return false;
	at = pages(MANY);
	ok = true;
	for (i = 0; ok && i < MANY; i++)
		ok = expect("hold", angara_mr_hold(d, at + i * PAGE, 1, 0, NULL, &held[i]), 0);
	ok = ok && expect("ranges", cache_info(d).ranges, KEPT) &&
	     expect("bytes of all holds", (long long)cache_info(d).bytes, (long long)(MANY * PAGE));
	for (i = 0; ok && i < LEFT - MANY; i++)
		ok = expect("reg", angara_mr_reg(d, at, 1, 0, &filler[i]), 0);
	ok = ok &&
	     expect("hold without a free slot", angara_mr_hold(d, at, 2 * PAGE, 0, NULL, &mr),
		    -ENOSPC) &&
	     expect("found", angara_mr_hold(d, at, 1, 0, NULL, &mr), 0);
	angara_mr_release(mr);
	/* The first is the oldest of the kept ranges. */
	angara_mr_release(held[0]);
	ok = ok && expect("hold in place of the oldest",
			  angara_mr_hold(d, at + PAGE, 2 * PAGE, 0, NULL, &mr), 0);
	angara_mr_release(mr);
	for (i = 1; i < MANY; i++)
		angara_mr_release(held[i]);
	ok = ok && expect("ranges", cache_info(d).ranges <= KEPT, 1) &&
	     expect("bytes", cache_info(d).bytes <= (KEPT + 1) * PAGE, 1);
	/* Unused ranges are freed to make room for the program's regions, too. */
	for (i = LEFT - MANY; ok && i < LEFT; i++)
		ok = expect("reg", angara_mr_reg(d, at, 1, 0, &filler[i]), 0);
	ok = ok && expect("reg without a free slot", angara_mr_reg(d, at, 1, 0, &mr), -ENOSPC) &&
	     expect("ranges that are left", cache_info(d).ranges, 0) &&
	     expect("bytes that are left", (long long)cache_info(d).bytes, 0);
	angara_domain_close(d);
	munmap(at, MANY * PAGE);
	return ok;
}

/**
 * struct holder - a thread that holds and revokes ranges, which other threads hold, too
 * @thread: thread
 * @at: memory of all threads
 * @d: domain of all threads
 * @seed: seed of the thread's generator
 * @ok: no failure yet
 */
struct holder {
	pthread_t thread;
	char *at;
	struct angara_domain *d;
	unsigned int seed;
	bool ok;
};

static unsigned int held_rounds(void)
{
	return embedded() ? 3000 : 300;
}

static void *hold_some(void *arg)
{
	struct holder *h = arg;
	unsigned int i;

	h->ok = true;
	for (i = 0; h->ok && i < held_rounds(); i++) {
		unsigned int x = (h->seed += 12345) * 2654435761U >> 8;
		char *p = h->at + x % 64 * PAGE;
		size_t len = (1 + x / 64 % 8) * PAGE;
		struct angara_mr *mr;
		char *from;

		h->ok = expect("hold", angara_mr_hold(h->d, p, len, x & 1 ? SHOWN : LW,
						      x & 2 ? h : NULL, &mr), 0);
		if (!h->ok)
			break;
		from = angara_mr_addr(mr);
		h->ok = expect("has it", from <= p && p + len <= from + angara_mr_len(mr), 1);
		if ((x & 0x32) == 2)
			angara_mr_revoke(mr);
		angara_mr_release(mr);
	}
	return NULL;
}

static bool holders(void)
{
	struct holder h[4];
	struct angara_domain *d;
	char *at = pages(72);
	unsigned int i;
	bool ok = expect("domain", angara_domain_open(NULL, NULL, &d), 0);

	if (!ok)
		return false;
	for (i = 0; i < 4; i++) {
		h[i] = (struct holder){ .at = at, .d = d, .seed = i * 777 + rank };
		if (pthread_create(&h[i].thread, NULL, hold_some, &h[i]))
			exit(1);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(h[i].thread, NULL);
		ok &= h[i].ok;
	}
	ok = ok && expect("calls", (long long)(cache_info(d).hits + cache_info(d).misses),
			  4 * held_rounds());
	angara_domain_close(d);
	munmap(at, 72 * PAGE);
	return ok;
}

/*
 * Puts and gets elements by strides and by lists.  The library copies short
 * elements.
 */
static bool elements(size_t len, size_t n)
{
	struct angara_mr *there = own_region(n * len);
	const size_t apart = 2 * len + 8;
	char *at = malloc(n * apart), *back = malloc(n * apart);
	uint64_t *here = calloc(n, sizeof(*here)), *offs = calloc(n, sizeof(*offs));
	uint64_t key = angara_mr_key(there);
	struct angara_peer self = alone_self(ctx);
	bool ok = true;
	size_t i;

	if (!at || !back || !here || !offs)
		exit(1);
	fill(at, n * apart, 2);
	memset(back, 0, n * apart);
	ok = expect("put", angara_put_strided(ctx, self, key, 0, (int64_t)len, NULL,
					      address(at), (int64_t)apart, len, n), 0) &&
	     expect("get", angara_get_strided(ctx, self, key, (n - 1) * len, -(int64_t)len,
					      NULL, address(back), (int64_t)apart, len, n), 0);
	for (i = 0; ok && i < n; i++)
		ok = expect("strided", memcmp(back + i * apart, at + (n - 1 - i) * apart, len),
			    0) && expect("byte after an element", back[i * apart + len], 0);
	for (i = 0; i < n; i++) {
		here[i] = address(at + (i * 7 % n) * apart);
		offs[i] = i * len;
	}
	ok = ok && expect("put", angara_put_indexed(ctx, self, key, offs, NULL, here, len, n),
			  0);
	for (i = 0; i < n; i++)
		here[i] = address(back + i * apart);
	ok = ok && expect("get", angara_get_indexed(ctx, self, key, offs, NULL, here, len, n),
			  0);
	for (i = 0; ok && i < n; i++)
		ok = expect("indexed", memcmp(back + i * apart, at + (i * 7 % n) * apart, len), 0);
	here[n - 1] = 0;
	memset(angara_mr_addr(there), 1, n * len);
	ok = ok &&
	     expect("put without an address",
		    angara_put_indexed(ctx, self, key, offs, NULL, here, len, n), -EINVAL) &&
	     expect("no element was written", *(char *)angara_mr_addr(there), 1) &&
	     expect("elements outside of the region",
		    angara_get_strided(ctx, self, key, n * len, 0, NULL, address(back), 0, len, 1),
		    -ERANGE);
	free(at);
	free(back);
	free(here);
	free(offs);
	angara_free(there);
	return ok;
}

static bool all_elements(void)
{
	uint64_t misses = cache_info(dom).misses;

	return elements(8, 40000) && elements(16384, 40) &&
	       expect("registrations", (long long)(cache_info(dom).misses - misses), 0) &&
	       elements(16385, 40) && elements(100000, 20) &&
	       expect("put of no elements",
		      angara_put_strided(ctx, alone_self(ctx), 0, 0, 0, NULL, 0, 0, 8, 0), 0);
}

/* The old values may go to unregistered memory. */
static bool atomics(void)
{
	struct angara_mr *there = own_region(64);
	struct angara_peer self = alone_self(ctx);
	uint64_t key = angara_mr_key(there), *word = angara_mr_addr(there);
	uint64_t one = 1, was = 9, want = 5, got = 9;
	struct pending req;
	bool ok;

	*word = 4;
	ok = expect("fetch",
		    angara_fetch_nbi(ctx, self, key, 0, &one, 1, ANGARA_TYPE_UINT64,
				     ANGARA_ATOMIC_SUM, NULL, address(&was), pending_op(&req)),
		    0) &&
	     expect("ends", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("value before", (long long)was, 4) &&
	     expect("value after", (long long)*word, 5) &&
	     expect("compare",
		    angara_compare_nbi(ctx, self, key, 0, &one, &want, 1, ANGARA_TYPE_UINT64,
				       ANGARA_ATOMIC_CSWAP, NULL, address(&got), pending_op(&req)),
		    0) &&
	     expect("ends", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("value before", (long long)got, 5) &&
	     expect("value after", (long long)*word, 1) &&
	     expect("no result requested",
		    angara_compare_nbi(ctx, self, key, 0, &want, &one, 1, ANGARA_TYPE_UINT64,
				       ANGARA_ATOMIC_CSWAP, NULL, 0, pending_op(&req)),
		    0) &&
	     expect("ends", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("value after", (long long)*word, 5) &&
	     expect("fetch without an address",
		    angara_fetch_nbi(ctx, self, key, 0, &one, 1, ANGARA_TYPE_UINT64,
				     ANGARA_ATOMIC_SUM, NULL, 0, NULL),
		    -EINVAL) &&
	     expect("no bytes", angara_get_nbi(ctx, self, key, 0, NULL, 0, 0, pending_op(&req)),
		    0) &&
	     expect("ends", pending_wait(ctx, &req, LONG_MS), 0);
	angara_free(there);
	return ok;
}

/* Broadcasts on the tree from each source, also no bytes. */
static bool broadcast(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_TREE };
	struct angara_mr *to = region(16 * PAGE);
	struct angara_team *team;
	char *at = pages(16);
	uint64_t misses;
	bool ok;

	if (!expect("team", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		return false;
	fill(at, 16 * PAGE, 8);
	misses = cache_info(dom).misses;
	ok = rank ||
	     (expect("bcast",
		     angara_bcast(team, angara_mr_key(to), 0, NULL, address(at), 16 * PAGE), 0) &&
	      expect("again",
		     angara_bcast(team, angara_mr_key(to), 0, NULL, address(at), 16 * PAGE), 0) &&
	      expect("registrations", cache_info(dom).misses - misses <= 1, 1) &&
	      expect("broadcast without an address",
		     angara_bcast(team, angara_mr_key(to), 0, NULL, 0, 8), -EINVAL));
	ok = ok && expect("arrived", angara_team_received_wait(team, 2, LONG_MS), 0) &&
	     filled("broadcast", angara_mr_addr(to), 16 * PAGE, 8) &&
	     expect("no elements", angara_allreduce(team, NULL, 0, NULL, 0, 0,
						    ANGARA_TYPE_INT64, ANGARA_RED_SUM), 0);
	ok &= expect("destroy", angara_team_destroy(team), 0);
	angara_free(to);
	munmap(at, 16 * PAGE);
	return ok;
}

/*
 * A member offers memory, and the team is lost before the others read it: the
 * memory is revoked.
 */
static bool lost_team(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team *team;
	struct pending req;
	char *at = pages(16);
	struct place p;
	bool ok;

	if (!place_open(&p) ||
	    !expect("team", angara_team_create(job, p.c, NULL, 0, &attr, &team), 0))
		return false;
	ok = rank || size == 1 ||
	     (expect("broadcast",
		     angara_broadcast_nbi(team, NULL, address(at), 16 * PAGE, 0, pending_op(&req)),
		     0) &&
	      expect("bytes that peers can read", (long long)cache_info(p.d).bytes, 16 * PAGE));
	ok &= expect("barrier", angara_job_barrier(job), 0);
	if (!rank && size > 1)
		ok = ok && expect("lost", pending_wait(p.c, &req, LONG_MS), -ECONNRESET) &&
		     expect("hidden", (long long)cache_info(p.d).bytes, 0);
	angara_team_leave(team);
	ok &= expect("barrier", angara_job_barrier(job), 0);
	place_close(&p);
	munmap(at, 16 * PAGE);
	return ok;
}

const struct part held_parts[] = {
	{ "held: shown to peers", shown },
	{ "held: shown and unmapped", shown_and_unmapped },
	{ "held: revoked", revoked },
	{ "held: a revoked source", revoked_source },
	{ "held: groups", groups },
	{ "held: fork", forked },
	{ "held: an allocator", allocated },
	{ "held: more buffers than are kept", buffers },
	{ "held: no slot is left", no_slot },
	{ "held: threads", holders },
	{ "held: elements", all_elements },
	{ "held: atomic operations", atomics },
	{ "held: broadcasts", broadcast },
	{ "held: a team that is lost", lost_team },
	{ NULL, NULL },
};
