// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include <angara/angara.h>

#include "afi.h"
#include "fi.h"

static struct side s[2];

static bool write_ok(uint64_t key, size_t len)
{
	struct fi_cq_tagged_entry e;
	char buf[600];

	memset(buf, (int)key + 1, sizeof(buf));
	return expect(when_room(&s[0], fi_write(s[0].ep, buf, len, NULL,
						s[0].peer, 0, key, &e)), 0) &&
	       completion(&s[0], &e);
}

static bool write_fails(uint64_t key, int err)
{
	char buf[8] = { 0 };

	return expect(when_room(&s[0], fi_write(s[0].ep, buf, sizeof(buf), NULL,
						s[0].peer, 0, key, buf)), 0) &&
	       error(&s[0], err, buf);
}

/* Keys of all kinds; each selects its region. */
static bool chosen(void)
{
	static const uint64_t keys[] = {
		0, 1, 511, 512, 513, 0xC0DE, 1ULL << 32, 1ULL << 63, ~1ULL,
	};
	const size_t n = sizeof(keys) / sizeof(*keys);
	const struct how how = { 0 };
	char mem[16][600] = { 0 };
	struct fid_mr *mr[16], *other;
	bool ok = true;
	size_t i;

	open_pair(s, &how);
	for (i = 0; i < n; i++) {
		mr[i] = reg(&s[1], mem[i], sizeof(mem[i]), FI_REMOTE_WRITE,
			    keys[i]);
		ok = ok && expect(fi_mr_key(mr[i]) == keys[i], true);
	}
	for (i = 0; ok && i < n; i++)
		ok = write_ok(keys[i], 600) && write_ok(keys[i], 8) &&
		     expect(mem[i][599], (char)(keys[i] + 1)) &&
		     expect(fi_mr_reg(s[1].domain, mem[i], 8, FI_REMOTE_READ, 0,
				      keys[i], 0, &other, NULL), -FI_ENOKEY);
	ok = ok && write_fails(514, FI_ENOKEY) && write_fails(2, FI_ENOKEY) &&
	     expect(fi_mr_reg(s[1].domain, mem, 8, FI_REMOTE_READ, 0,
			      FI_KEY_NOTAVAIL, 0, &other, NULL),
		    -FI_EKEYREJECTED);
	for (i = 0; i < n; i++) {
		ok = closed(&mr[i]->fid) && ok;
		ok = ok && write_fails(keys[i], FI_ENOKEY);
	}
	close_pair(s);
	return ok;
}

/*
 * After a region is closed, its key refers to the next region that gets this
 * key.
 */
static bool again(void)
{
	const struct how how = { 0 };
	char mem[2][600] = { 0 };
	struct fid_mr *first, *second, *third;
	bool ok;

	open_pair(s, &how);
	first = reg(&s[1], mem[0], 600, FI_REMOTE_WRITE, 70000);
	ok = write_ok(70000, 600) && closed(&first->fid);
	/* This region gets the slot of the first one in the adapter's table. */
	third = reg(&s[1], mem[0], 600, FI_REMOTE_WRITE, 80000);
	second = reg(&s[1], mem[1], 600, FI_REMOTE_WRITE, 70000);
	memset(mem, 0, sizeof(mem));
	ok = ok && write_ok(70000, 600) && expect(mem[0][0], 0) &&
	     expect(mem[1][0], (char)70001);
	closed(&second->fid);
	closed(&third->fid);
	close_pair(s);
	return ok;
}

#define MOST	20000	/* regions: more than there are keys of either kind */

/*
 * Registers regions with the keys @first, @first + 1, and so on, until there is no
 * room.  Expects room for at least @at_least regions.
 */
static bool many(uint64_t first, size_t at_least)
{
	static char mem[8];
	static struct fid_mr *mr[MOST];
	struct fid_mr *more;
	size_t i, n = 0;
	int ret = 0;
	bool ok;

	while (n < MOST && !ret) {
		ret = fi_mr_reg(s[1].domain, mem, sizeof(mem), FI_REMOTE_WRITE,
				0, first + n, 0, &mr[n], NULL);
		n += !ret;
	}
	ok = expect(ret, -FI_ENOSPC) && expect(n >= at_least, true) &&
	     write_ok(first ? first : fi_mr_key(mr[n - 1]), 8);
	/* A key without a region is not mistaken for another key. */
	for (i = 0; i < 8; i++)
		ok = ok && write_fails(first + n + i, FI_ENOKEY);
	for (i = 0; i < n; i++)
		ok = closed(&mr[i]->fid) && ok;
	ok = ok && expect(fi_mr_reg(s[1].domain, mem, 8, FI_REMOTE_WRITE, 0,
				    first, 0, &more, NULL), 0) &&
	     closed(&more->fid);
	return ok;
}

/* Random numbers, all different: a step of splitmix64. */
static uint64_t scattered(uint64_t n)
{
	n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9ULL;
	n = (n ^ n >> 27) * 0x94D049BB133111EBULL;
	return n ^ n >> 31;
}

/* There is room for as many regions as promised, whatever their keys are. */
static bool promised(int mr_mode, size_t n)
{
	const struct how how = { .mr_mode = mr_mode };
	static struct fid_mr *mr[AFI_REGIONS];
	static char mem[8];
	bool ok = true;
	size_t i;

	open_pair(s, &how);
	if (!(mr_mode & FI_MR_PROV_KEY))
		ok = expect((long long)s[1].info->domain_attr->mr_cnt,
			    (long long)n);
	for (i = 0; ok && i < n; i++)
		ok = expect(fi_mr_reg(s[1].domain, mem, sizeof(mem),
				      FI_REMOTE_WRITE, 0, scattered(i + 1), 0,
				      &mr[i], NULL), 0);
	while (i-- > 0)
		ok = (!mr[i] || closed(&mr[i]->fid)) && ok;
	close_pair(s);
	return ok;
}

static bool as_many(void)
{
	return promised(0, AFI_CHOSEN_REGIONS) &&
	       promised(OLD_BASIC, AFI_VIRT_REGIONS) &&
	       promised(PROV_KEYS, AFI_REGIONS);
}

static bool all_keys(void)
{
	const struct how how = { 0 };
	bool ok;

	open_pair(s, &how);
	ok = many(0, 9000) && many(100000, 9000);
	close_pair(s);
	return ok;
}

#define REGIONS		2000	/* regions: more than there are small keys */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Keys of the provider: each selects its region, and no key reveals another.
 */
static bool provided(int mr_mode)
{
	const struct how how = { .mr_mode = mr_mode };
	static struct fid_mr *mr[REGIONS];
	static uint64_t above[REGIONS];
	static char mem[REGIONS][8];
	struct fi_cq_tagged_entry e;
	char buf[8] = { 1 };
	bool ok = true;
	size_t i;

	open_pair(s, &how);
	memset(mem, 0, sizeof(mem));
	for (i = 0; i < REGIONS; i++) {
		mr[i] = reg(&s[1], mem[i], sizeof(mem[i]), FI_REMOTE_WRITE, 7);
		above[i] = fi_mr_key(mr[i]) >> 16;
	}
	for (i = 0; ok && i < REGIONS; i += 333)
		ok = expect(fi_write(s[0].ep, buf, 8, NULL, s[0].peer, start_of(&s[1], mem[i]),
				     fi_mr_key(mr[i]), &e), 0) &&
		     completion(&s[0], &e) && expect(mem[i][0], 1) &&
		     expect(i + 1 < REGIONS && mem[i + 1][0], 0);
	/* A key reduced to its slot, or with a changed bit, is invalid. */
	ok = ok && write_fails(fi_mr_key(mr[0]) & 0xFFFF, FI_ENOKEY) &&
	     write_fails(fi_mr_key(mr[0]) ^ 1ULL << 63, FI_ENOKEY);
	qsort(above, REGIONS, sizeof(*above), by_value);
	for (i = 0; ok && i < REGIONS; i++)
		ok = expect(above[i] && (!i || above[i] != above[i - 1]), true);
	for (i = 0; i < REGIONS; i++)
		ok = closed(&mr[i]->fid) && ok;
	close_pair(s);
	return ok;
}

static bool provided_keys(void)
{
	return provided(BASIC);
}

/*
 * With virtual addresses: the key of a closed region is invalid, whether or not the
 * initiator has used the key before, also if another region has the key's slot.
 */
static bool provided_starts(void)
{
	const struct how how = { .mr_mode = OLD_BASIC };
	struct fi_cq_tagged_entry e;
	char mem[3][8] = { 0 }, buf[8] = { 1 };
	uint64_t used, unused, start;
	struct fid_mr *mr[3];
	bool ok;

	if (!provided(OLD_BASIC))
		return false;
	open_pair(s, &how);
	mr[0] = reg(&s[1], mem[0], 8, FI_REMOTE_WRITE, 0);
	mr[1] = reg(&s[1], mem[1], 8, FI_REMOTE_WRITE, 0);
	used = fi_mr_key(mr[0]);
	unused = fi_mr_key(mr[1]);
	start = start_of(&s[1], mem[0]);
	ok = expect(fi_write(s[0].ep, buf, 8, NULL, s[0].peer, start, used, &e), 0) &&
	     completion(&s[0], &e) && expect(mem[0][0], 1);
	ok = closed(&mr[0]->fid) && closed(&mr[1]->fid) && ok;
	ok = ok && write_fails(used, FI_ENOKEY) && write_fails(unused, FI_ENOKEY);
	mr[0] = reg(&s[1], mem[2], 8, FI_REMOTE_WRITE, 0);
	mr[1] = reg(&s[1], mem[2], 8, FI_REMOTE_WRITE, 0);
	ok = ok && expect((fi_mr_key(mr[0]) & 0xFFFF) == (used & 0xFFFF), true) &&
	     write_fails(used, FI_ENOKEY) && write_fails(unused, FI_ENOKEY) &&
	     expect(mem[2][0], 0);
	ok = closed(&mr[0]->fid) && closed(&mr[1]->fid) && ok;
	close_pair(s);
	return ok;
}

/* Invalid registrations are refused. */
static bool bad(void)
{
	const struct how how = { 0 };
	struct iovec iov[2] = { 0 };
	char mem[64];
	struct fid_mr *mr;
	struct fid_domain *d;
	bool ok;

	open_pair(s, &how);
	d = s[0].domain;
	iov[0].iov_base = mem;
	iov[0].iov_len = 8;
	ok = expect(fi_mr_reg(d, mem, 0, FI_REMOTE_READ, 0, 1, 0, &mr, NULL),
		    -FI_EINVAL) &&
	     expect(fi_mr_reg(d, mem, 8, FI_REMOTE_READ, 4, 1, 0, &mr, NULL),
		    -FI_EINVAL) &&
	     expect(fi_mr_reg(d, mem, 8, FI_ATOMIC, 0, 1, 0, &mr, NULL),
		    -FI_EINVAL) &&
	     expect(fi_mr_reg(d, mem, 8, FI_READ, 0, 1, FI_RMA_EVENT, &mr, NULL),
		    -FI_EINVAL) &&
	     expect(fi_mr_regv(d, iov, 2, FI_READ, 0, 1, 0, &mr, NULL),
		    -FI_EINVAL) &&
	     expect(fi_mr_reg(d, (void *)4096, 4096, FI_REMOTE_READ, 0, 1, 0,
			      &mr, NULL), -FI_EFAULT) &&
	     expect(fi_mr_regv(d, iov, 1, FI_READ, 0, 1, 0, &mr, NULL), 0) &&
	     expect(fi_close(&s[0].domain->fid), -FI_EBUSY) && closed(&mr->fid) &&
	     expect(fi_mr_reg(d, mem, 8, FI_SEND | FI_RECV | FI_COLLECTIVE, 0, 1, 0,
			      &mr, NULL), 0) && closed(&mr->fid);
	close_pair(s);
	return ok;
}

void (*at_poll)(void);
_Atomic bool harvest_stuck, stuck_until_arm; /* atomic: several threads poll */
bool call_waited;
int cut_off;
struct loss loss;
struct pace pace;

/* Replaces the function of libangara, for the provider as well. */
int angara_poll_wait(struct angara_ctx *ctx, struct angara_completion *out,
		     unsigned int n, int timeout_ms)
{
	int (*real)(struct angara_ctx *ctx, struct angara_completion *out,
		    unsigned int n, int timeout_ms);
	void *at = dlsym(RTLD_NEXT, "angara_poll_wait");

	memcpy(&real, &at, sizeof(real));
	call_waited = true;
	return real(ctx, out, n, timeout_ms);
}

/* Resolves a function once, because the instructions of a call are counted. */
static inline void resolve(void **real, const char *name)
{
	if (!__atomic_load_n(real, __ATOMIC_RELAXED))
		__atomic_store_n(real, dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
}

/* Makes the completion, if there is one (@n), report that there is no path.  Return: @n. */
static int cut(struct angara_completion *out, int n)
{
	if (n == 1) {
		cut_off--;
		out->status = ANGARA_ST_UNREACHABLE;
	}
	return n;
}

/* Makes the completion of the lost message report that there is no path.  Return: @n. */
static int loss_end(struct angara_completion *out, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (out[i].cookie == loss.cookie) {
			out[i].status = ANGARA_ST_UNREACHABLE;
			loss.cookie = 0;
		}
	return n;
}

int angara_ctx_arm(struct angara_ctx *ctx)
{
	static __typeof__(&angara_ctx_arm) real;
	int ret;

	resolve((void **)&real, "angara_ctx_arm");
	ret = real(ctx);
	harvest_stuck &= !stuck_until_arm;
	return ret;
}

int angara_poll(struct angara_ctx *ctx, struct angara_completion *out,
		unsigned int n)
{
	static __typeof__(&angara_poll) real;

	resolve((void **)&real, "angara_poll");
	if (at_poll)
		at_poll();
	if (harvest_stuck)
		return 0;
	if (cut_off)
		return cut(out, real(ctx, out, 1));
	return loss.cookie ? loss_end(out, real(ctx, out, n)) : real(ctx, out, n);
}

/* Return: @head, or if this message is to be lost, a header that no receiver knows. */
static const struct angara_head *head_of(const struct angara_head *head,
					 const struct angara_op *how)
{
	static struct angara_head none;

	if (!loss.count || loss.cookie || (head->code & 15) != loss.kind)
		return head;
	loss.count--;
	loss.cookie = how->cookie;
	none = *head;
	none.code &= ~15;
	return &none;
}

int angara_get_nbi(struct angara_ctx *ctx, struct angara_peer peer, uint64_t src_key,
		   uint64_t src_off, const struct angara_mr *dst, uint64_t dst_off,
		   size_t len, const struct angara_op *op)
{
	static __typeof__(&angara_get_nbi) real;

	resolve((void **)&real, "angara_get_nbi");
	pace.probes += src_key == AFI_DIR_KEY;
	return real(ctx, peer, src_key, src_off, dst, dst_off, len, op);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new,
		    struct itimerspec *old)
{
	static __typeof__(&timerfd_settime) real;

	resolve((void **)&real, "timerfd_settime");
	pace.rounds += new->it_value.tv_sec || new->it_value.tv_nsec;
	return real(fd, flags, new, old);
}

int angara_send_nbi(struct angara_ctx *ctx, struct angara_peer peer,
		    const struct angara_head *head, const struct angara_mr *mr,
		    uint64_t off, size_t len, const struct angara_op *how)
{
	static __typeof__(&angara_send_nbi) real;

	resolve((void **)&real, "angara_send_nbi");
	return real(ctx, peer, head_of(head, how), mr, off, len, how);
}

int angara_send_inline_nbi(struct angara_ctx *ctx, struct angara_peer peer,
			   const struct angara_head *head, const void *data,
			   size_t len, const struct angara_op *how)
{
	static __typeof__(&angara_send_inline_nbi) real;

	resolve((void **)&real, "angara_send_inline_nbi");
	return real(ctx, peer, head_of(head, how), data, len, how);
}

const struct part key_parts[] = {
	{ "keys: of the program", chosen },
	{ "keys: reused", again },
	{ "keys: as many as possible", all_keys },
	{ "keys: as many as promised", as_many },
	{ "keys: of the provider", provided_keys },
	{ "keys: of the provider, offsets in regions", provided_starts },
	{ "keys: invalid registrations", bad },
	{ 0 },
};
