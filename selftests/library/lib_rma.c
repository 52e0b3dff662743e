// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts and gets: to the next process in a ring, of many lengths; full queues;
 * errors of the target; completions and counters.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define MIB	(1024 * 1024)
#define BIG	(MIB + 4096)

static const size_t lengths[] = { 0, 1, 255, 256, 257, 4096, MIB + 1 };

#define LENGTHS	(sizeof(lengths) / sizeof(*lengths))

static struct angara_peer next_peer(void)
{
	return peers()[(rank + 1) % size];
}

static unsigned int before(void)
{
	return (rank + size - 1) % size;
}

static bool done(const char *what, int ret, struct pending *req, int want)
{
	return expect(what, ret, 0) &&
	       expect(what, pending_wait(ctx, req, LONG_MS), want);
}

static bool put(void)
{
	struct angara_mr *src = region(BIG), *dst = region(BIG);
	uint64_t count = angara_counter(ctx, 3);
	bool ok = angara_job_barrier(job) == 0;
	size_t i;

	for (i = 0; ok && i < LENGTHS; i++) {
		struct pending req;
		int ret;

		fill(angara_mr_addr(src), lengths[i] + 3, rank + (unsigned int)i);
		ret = angara_put_nbi(ctx, next_peer(), angara_mr_key(dst), 5, src, 3,
				     lengths[i], pending_notify(&req, 3));
		ok = done("put", ret, &req, 0) &&
		     expect("counter", angara_counter_wait(ctx, 3, count + i + 1,
							   LONG_MS), 0);
		/* The pattern starts at offset 3 in the source, at offset 5 here. */
		if (ok && lengths[i]) {
			char *to = angara_mr_addr(dst);

			memmove(to + 3, to + 5, lengths[i]);
			fill(to, 3, before() + (unsigned int)i);
			ok = filled("put", to, lengths[i] + 3,
				    before() + (unsigned int)i);
		}
		ok &= angara_job_barrier(job) == 0;
	}
	angara_free(dst);
	angara_free(src);
	return ok;
}

/* Peers put to and get from memory that the library did not allocate. */
static bool own_memory(void)
{
	static char from[70001], to[70001], back[70001];
	struct angara_mr *src = NULL, *dst = NULL, *got = NULL;
	const unsigned int all = ANGARA_ACCESS_ALL;
	struct pending req;
	bool ok;
	int ret;

	ok = expect("src", angara_team_mr_reg(everybody(), from, sizeof(from), 0, &src), 0) &&
	     expect("dst", angara_team_mr_reg(everybody(), to, sizeof(to), all, &dst), 0) &&
	     expect("got", angara_mr_reg(dom, back, sizeof(back), all, &got), 0);
	fill(from, sizeof(from), rank);
	ok &= angara_job_barrier(job) == 0;
	if (ok) {
		ret = angara_put_nbi(ctx, next_peer(), angara_mr_key(dst), 0, src,
				     0, sizeof(from), pending_op(&req));
		ok = done("put", ret, &req, 0);
	}
	ok &= angara_job_barrier(job) == 0;
	ok = ok && filled("put", to, sizeof(to), before());
	if (ok) {
		ret = angara_get_nbi(ctx, next_peer(), angara_mr_key(dst), 0, got,
				     0, sizeof(back), pending_op(&req));
		ok = done("get", ret, &req, 0) &&
		     filled("get", back, sizeof(back), rank);
	}
	ok &= angara_job_barrier(job) == 0;
	angara_mr_dereg(got);
	angara_mr_dereg(dst);
	angara_mr_dereg(src);
	return ok;
}

static bool put_inline(void)
{
	struct angara_mr *dst = region(256);
	char data[256];
	bool ok = true;
	size_t i, len;

	for (i = 0; ok && i < 4; i++) {
		uint64_t count = angara_counter(ctx, 255);
		struct pending req;

		len = lengths[i];
		ok = angara_job_barrier(job) == 0;
		fill(data, len, rank);
		ok &= done("inline", angara_put_inline_nbi(ctx, next_peer(),
						       angara_mr_key(dst), 0, data,
						       len, pending_notify(&req, 255)), &req, 0) &&
		      expect("counter", angara_counter_wait(ctx, 255, count + 1,
							    LONG_MS), 0) &&
		      filled("inline", angara_mr_addr(dst), len, before());
		ok &= angara_job_barrier(job) == 0;
	}
	ok &= expect("257 inline", angara_put_inline_nbi(ctx, next_peer(), 0, 0, data, 257,
						     NULL), -EINVAL);
	angara_free(dst);
	return ok;
}

static bool get(void)
{
	struct angara_mr *src = region(BIG), *dst = region(BIG);
	bool ok = true;
	size_t i;

	fill(angara_mr_addr(src), BIG, rank);
	angara_job_barrier(job);
	for (i = 0; ok && i < LENGTHS; i++) {
		struct pending req;
		int ret;

		memset(angara_mr_addr(dst), 0, BIG);
		ret = angara_get_nbi(ctx, next_peer(), angara_mr_key(src), 0, dst, 0,
				     lengths[i], pending_op(&req));
		ok = expect("get", ret, 0) &&
		     expect("get", pending_wait(ctx, &req, LONG_MS), 0) &&
		     expect("status", req.c.status, ANGARA_ST_OK) &&
		     expect("length", (long long)req.c.length, (long long)lengths[i]) &&
		     filled("get", angara_mr_addr(dst), lengths[i],
			    (rank + 1) % size);
	}
	angara_job_barrier(job);
	angara_free(dst);
	angara_free(src);
	return ok;
}

static int put_byte(struct angara_mr *mr, unsigned int at, const char *byte,
		    const struct angara_op *op)
{
	int ret;

	do {
		ret = angara_put_inline_nbi(ctx, next_peer(), angara_mr_key(mr), at,
					    byte, 1, op);
	} while (ret == -EAGAIN);
	return ret;
}

/* Posts more operations than any queue holds, with and without completions. */
static bool full_queues(void)
{
	enum { N = 3000 };
	struct angara_mr *mr = region(N);
	struct pending first, last;
	uint64_t count = angara_counter(ctx, 9);
	char byte = (char)(rank + 1);
	bool ok = angara_job_barrier(job) == 0;
	unsigned int i;

	for (i = 0; ok && i < N; i++)
		ok = expect("put", put_byte(mr, i, &byte, i == 0 ? pending_notify(&first, 9) :
					    i == N - 1 ? pending_notify(&last, 9) :
					    PENDING_COUNT(9)), 0);
	ok = ok && expect("quiet", angara_quiet(ctx, LONG_MS), 0) &&
	     expect("test", pending_test(ctx, &first), 0) &&
	     expect("test", pending_test(ctx, &last), 0) &&
	     expect("test", last.ended, 1) &&
	     expect("all arrived", angara_counter_wait(ctx, 9, count + N, LONG_MS), 0);
	for (i = 0; ok && i < N; i++)
		ok = expect("byte", ((char *)angara_mr_addr(mr))[i], (char)(before() + 1));
	angara_job_barrier(job);
	angara_free(mr);
	return ok;
}

static bool refused(void)
{
	struct angara_mr *mr = region(100), *ro = NULL;
	static char memory[64];
	struct angara_peer nobody = { .node = 0x7FFFFFFF };
	struct angara_peer next = next_peer();
	struct pending req;
	bool ok;

	ok = expect("reg", angara_team_mr_reg(everybody(), memory, 64, ANGARA_ACCESS_REMOTE_READ,
					 &ro), 0);
	angara_job_barrier(job);
	ok &= done("key", angara_put_nbi(ctx, next, 200, 0, mr, 0, 8, pending_op(&req)), &req,
		   -ENOKEY);
	ok &= done("bounds", angara_put_nbi(ctx, next, angara_mr_key(mr), 93, mr, 0, 8,
					    pending_op(&req)), &req, -ERANGE);
	ok &= done("access", angara_put_nbi(ctx, next, angara_mr_key(ro), 0, mr, 0, 8,
					    pending_op(&req)), &req, -EACCES);
	ok &= done("target", angara_put_nbi(ctx, nobody, 0, 0, mr, 0, 8, pending_op(&req)), &req,
		   -EHOSTUNREACH);
	ok &= expect("get", angara_get_nbi(ctx, next, 200, 0, mr, 0, 8, pending_op(&req)), 0) &&
	      expect("get", pending_wait(ctx, &req, LONG_MS), -ENOKEY) &&
	      expect("node", req.c.node, next.node);
	ok &= expect("put", angara_put_nbi(ctx, next, 200, 0, mr, 0, 8, NULL), 0) &&
	      expect("quiet", angara_quiet(ctx, LONG_MS), -ENOKEY) &&
	      expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	ok &= expect("local bounds", angara_put_nbi(ctx, next, 0, 0, mr, 93, 8, NULL),
		     -EINVAL) &&
	      expect("counter 256", angara_put_nbi(ctx, next, 0, 0, mr, 0, 8, PENDING_COUNT(256)),
		     -EINVAL) &&
	      expect("counter -2", angara_put_nbi(ctx, next, 0, 0, mr, 0, 8, PENDING_COUNT(-2)),
		     -EINVAL);
	angara_job_barrier(job);
	angara_mr_dereg(ro);
	angara_free(mr);
	return ok;
}

/* Tests sleeping in poll(2) in the program, and deadlines. */
static bool sleeping(void)
{
	struct pollfd p = { .fd = angara_ctx_fd(ctx), .events = POLLIN };
	uint64_t count = angara_counter(ctx, 11);
	bool ok = true;

	angara_job_barrier(job);
	ok = expect("deadline", angara_counter_wait(ctx, 11, count + 1, 50), -ETIMEDOUT);
	ok &= expect("arm", angara_ctx_arm(ctx), 0);
	ok &= expect("quiet descriptor", poll(&p, 1, 50), 0);
	angara_job_barrier(job);
	ok &= expect("put", angara_put_inline_nbi(ctx, next_peer(), 0, 0, NULL, 0, PENDING_COUNT(11)),
		     0);
	ok &= expect("poll", poll(&p, 1, LONG_MS), 1);
	ok &= expect("counter", angara_counter_wait(ctx, 11, count + 1, LONG_MS), 0);
	ok &= expect("quiet", angara_quiet(ctx, LONG_MS), 0);
	ok &= expect("no counter", angara_counter_wait(ctx, 256, 0, 0), -EINVAL);
	return ok;
}

/*
 * Memory must permit the access rights of the region, and all of it must be
 * mapped.
 */
static bool mapped(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 3 * page;
	unsigned char *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct angara_mr *mr = NULL;
	bool ok;

	fill(mem, len, 5);
	ok = expect("write", angara_mr_reg(angara_ctx_domain(ctx), mem, len, ANGARA_ACCESS_ALL, &mr), 0) &&
	     filled("unchanged", mem, len, 5);
	angara_mr_dereg(mr);
	mprotect(mem + page, page, PROT_READ);
	ok &= expect("not writable", angara_mr_reg(angara_ctx_domain(ctx), mem, len, ANGARA_ACCESS_ALL,
						   &mr), -EFAULT) &
	      expect("read", angara_mr_reg(angara_ctx_domain(ctx), mem, len, ANGARA_ACCESS_REMOTE_READ,
					   &mr), 0);
	angara_mr_dereg(mr);
	munmap(mem + page, page);
	ok &= expect("a hole", angara_mr_reg(angara_ctx_domain(ctx), mem, len, ANGARA_ACCESS_REMOTE_READ,
					     &mr), -EFAULT) &
	      expect("a hole to write", angara_mr_reg(angara_ctx_domain(ctx), mem, len, ANGARA_ACCESS_ALL,
						      &mr), -EFAULT);
	munmap(mem, len);
	return ok;
}

const struct part rma_parts[] = {
	{ "mapped memory", mapped },
	{ "put", put },
	{ "own memory", own_memory },
	{ "put inline", put_inline },
	{ "get", get },
	{ "full queues", full_queues },
	{ "refused", refused },
	{ "sleeping", sleeping },
	{ NULL, NULL },
};
