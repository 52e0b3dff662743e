// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of memory regions.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <angara/angara.h>

#include "fi.h"
#include "limits.h"

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
	/* This region gets the adapter's key of the first one. */
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
 * Registers as many regions as possible: first with small keys, then with large
 * ones.
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
	/* No missing key is mistaken for one of the others. */
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
 * Keys of the provider: as many as there are slots, and no key reveals another.
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
 * With addresses as offsets: the key of a closed region is invalid, whether or
 * not the initiator has used it before, also if its slot is in use again.
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
	     expect(fi_close(&s[0].domain->fid), -FI_EBUSY) && closed(&mr->fid);
	close_pair(s);
	return ok;
}

void (*at_poll)(void);
bool harvest_stuck, call_waited;

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

int angara_poll(struct angara_ctx *ctx, struct angara_completion *out,
		unsigned int n)
{
	static int (*real)(struct angara_ctx *ctx, struct angara_completion *out,
			   unsigned int n);
	void *at;

	/* Resolved once, because the instructions of a call are counted. */
	if (!__atomic_load_n(&real, __ATOMIC_RELAXED)) {
		at = dlsym(RTLD_NEXT, "angara_poll");
		__atomic_store_n((void **)&real, at, __ATOMIC_RELAXED);
	}
	if (at_poll)
		at_poll();
	return harvest_stuck ? 0 : real(ctx, out, n);
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
