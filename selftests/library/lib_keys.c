// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keys of regions: random ones, those that the members of a team agree on, and
 * those that the caller chooses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../libangara/lib.h"
#include "lib.h"

#define REGIONS		1000U
#define AGREED		40U
#define THREADS		4U
#define TURNS		300U
#define SLOT		0xFFFFULL

static char memory[64];

static bool chosen(void)
{
	struct angara_mr *a = NULL, *b = NULL;
	bool ok;

	ok = expect("reg", angara_mr_reg_key(dom, memory, 64, ANGARA_ACCESS_ALL, 77, &a),
		    0) &&
	     expect("key", angara_mr_key(a), 77) &&
	     expect("addr", angara_mr_addr(a) == memory, 1) &&
	     expect("len", (long long)angara_mr_len(a), 64) &&
	     expect("taken", angara_mr_reg_key(dom, memory, 64, ANGARA_ACCESS_ALL, 77,
					       &b), -EEXIST) &&
	     expect("unmapped", angara_mr_reg(dom, (void *)4096, 64, 0, &b), -EFAULT) &&
	     expect("empty", angara_malloc(dom, 0, &b), -EINVAL);
	angara_mr_dereg(a);
	angara_mr_dereg(NULL);
	return ok;
}

/*
 * The library assigns no slot below first_slot; only the caller may choose
 * these.
 */
static bool left(void)
{
	struct angara_domain_attr attr = { .size = sizeof(attr), .first_slot = UINT32_MAX };
	struct angara_mr *mr[3] = { NULL };
	struct angara_domain *own = NULL;
	bool ok = expect("first_slot beyond the last slot", angara_domain_open(NULL, &attr, &own),
			 -EINVAL);

	attr.first_slot = 100;
	ok = ok && expect("open", angara_domain_open(NULL, &attr, &own), 0) &&
	     expect("reg", angara_mr_reg(own, memory, 64, 0, &mr[0]), 0) &&
	     expect("malloc", angara_malloc(own, 64, &mr[1]), 0) &&
	     expect("slot", angara_mr_key(mr[0]) & SLOT, 100) &&
	     expect("slot", angara_mr_key(mr[1]) & SLOT, 101) &&
	     expect("left", angara_mr_reg_key(own, memory, 64, 0, 5, &mr[2]), 0);
	angara_domain_close(own);
	return ok;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Do @n keys differ in the bits above their slots? */
static bool random_above(uint64_t *keys, unsigned int n)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < n; i++)
		keys[i] >>= 16;
	qsort(keys, n, sizeof(*keys), by_value);
	for (i = 0; ok && i < n; i++)
		ok = expect("bits above", !keys[i] || (i && keys[i] == keys[i - 1]), 0);
	return ok;
}

static bool many_regions(struct angara_domain *of, struct angara_mr **mr, uint64_t *keys)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; ok && i < REGIONS; i++) {
		ok = expect("reg", i % 8 ? angara_mr_reg(of, memory, 64, ANGARA_ACCESS_ALL, &mr[i]) :
			    angara_malloc(of, 64, &mr[i]), 0);
		if (ok)
			keys[i] = angara_mr_key(mr[i]);
	}
	return ok;
}

/* selftests/host/embed.t compares the keys of two runs. */
bool said_keys(void)
{
	struct angara_mr *mr[REGIONS] = { NULL };
	uint64_t keys[REGIONS];
	unsigned int i;

	if (!many_regions(dom, mr, keys))
		return false;
	for (i = 0; i < REGIONS; i++)
		printf("# above %012llx\n", (unsigned long long)keys[i] >> 16);
	for (i = 0; i < REGIONS; i++)
		angara_mr_dereg(mr[i]);
	return true;
}

static int put_to(unsigned int r, uint64_t key)
{
	return angara_put_inline(ctx, peers()[r], key, 0, "x", 1);
}

/* A key does not help a peer to guess another key. */
static bool unguessable(void)
{
	struct angara_mr *mr[2][REGIONS] = { { NULL } };
	struct angara_domain *other = NULL;
	uint64_t keys[2 * REGIONS], key = 0;
	bool ok = expect("open", angara_domain_open(NULL, NULL, &other), 0);
	unsigned int i, next = (rank + 1) % size;

	ok = ok && many_regions(dom, mr[0], keys) && many_regions(other, mr[1], keys + REGIONS);
	if (ok)
		key = keys[0];
	ok = ok && random_above(keys, 2 * REGIONS);
	ok &= angara_job_barrier(job) == 0;
	/*
	 * The next member uses the same slot, too, but its key has other upper
	 * bits.
	 */
	if (ok && next != rank)
		ok = expect("another's", put_to(next, key), -ENOKEY);
	ok = ok && expect("slot", put_to(next, key & SLOT), -ENOKEY) &&
	     expect("put with a wrong first bit", put_to(rank, key ^ 1ULL << 63), -ENOKEY) &&
	     expect("put with a wrong bit", put_to(rank, key ^ 1ULL << 16), -ENOKEY) &&
	     expect("put with the right key", put_to(rank, key), 0);
	ok &= angara_job_barrier(job) == 0;
	for (i = 0; i < REGIONS; i++)
		angara_mr_dereg(mr[0][i]);
	angara_domain_close(other);
	return ok;
}

static bool equal_at_all(uint64_t key, uint64_t *theirs)
{
	bool ok = expect("keys", angara_job_allgather(job, &key, sizeof(key), theirs), 0);
	unsigned int r;

	for (r = 0; ok && r < size; r++)
		ok = expect("equal", theirs[r] == key, 1);
	return ok;
}

/*
 * All members get the same key, even if their earlier regions differ.
 */
static bool agreed_keys(void)
{
	struct angara_mr *own[8] = { NULL }, *mr[AGREED] = { NULL }, *none = NULL;
	uint64_t *theirs = calloc(size, sizeof(*theirs)), keys[AGREED];
	struct angara_team *team = everybody();
	bool ok = theirs;
	unsigned int i;

	for (i = 0; ok && i <= rank % 8; i++)
		ok = expect("reg", angara_mr_reg(dom, memory, 64, 0, &own[i]), 0);
	for (i = 0; ok && i < AGREED; i++) {
		ok = expect("team reg", i % 2 ? angara_team_malloc(team, 64, &mr[i]) :
			    angara_team_mr_reg(team, memory, 64, ANGARA_ACCESS_ALL,
					       &mr[i]), 0);
		if (!ok)
			break;
		keys[i] = angara_mr_key(mr[i]);
		ok = equal_at_all(keys[i], theirs);
		/*
		 * A region deregistered before leaves a gap, which is free at
		 * some members only.
		 */
		if (ok && i == rank % 8) {
			angara_mr_dereg(own[0]);
			own[0] = NULL;
		}
	}
	ok = ok && random_above(keys, AGREED);
	/* The last member fails: no member gets a region. */
	ok &= expect("refused", angara_team_mr_reg(team, rank == size - 1 ? (void *)4096 : memory,
						   64, ANGARA_ACCESS_ALL, &none), -EFAULT) &&
	      expect("none", none == NULL, 1) &&
	      expect("empty", angara_team_malloc(team, rank ? 64 : 0, &none), -EINVAL) &&
	      expect("none", none == NULL, 1);
	for (i = 0; i < AGREED; i++)
		angara_mr_dereg(mr[i]);
	for (i = 0; i < 8; i++)
		angara_mr_dereg(own[i]);
	free(theirs);
	return ok;
}

static bool is_aligned(const char *what, const void *at, size_t align)
{
	return expect(what, (long long)((uintptr_t)at & (align - 1)), 0);
}

/* angara_team_malloc() aligns to the greatest power of two up to the length. */
static bool aligned_by_length(size_t len)
{
	struct angara_mr *mr = NULL;
	bool ok = expect("team malloc", angara_team_malloc(everybody(), len, &mr), 0) &&
		  is_aligned("team", angara_mr_addr(mr),
			     (size_t)1 << (63 - __builtin_clzll(len)));

	if (ok) {
		fill(angara_mr_addr(mr), len, rank);
		ok = filled("team", angara_mr_addr(mr), len, rank);
	}
	angara_mr_dereg(mr);
	return ok;
}

/*
 * Memory is aligned as the backend @ops promises, whichever backend this
 * process uses.
 */
static bool aligned_by_backend(const struct ang_dev_ops *ops, struct ang_dev *dev,
			       const char *what, size_t align)
{
	const size_t len = 3 * 4096;
	void *mem[3] = { NULL };
	bool ok = true;
	int i;

	for (i = 0; ok && i < 3; i++) {
		ok = expect(what, ops->alloc(dev, len, align, &mem[i]), 0) &&
		     is_aligned(what, mem[i], align);
		if (ok)
			fill(mem[i], len, (unsigned int)i);
	}
	for (i = 0; ok && i < 3; i++)
		ok = filled(what, mem[i], len, (unsigned int)i);
	for (i = 0; i < 3; i++)
		if (mem[i])
			ops->free(dev, mem[i], len);
	return ok;
}

static bool aligned(void)
{
	static const size_t lens[] = { 1, 4096, 5 << 12, 1 << 16, 3 << 20 };
	struct ang_dev none = { 0 };
	size_t i, align;
	bool ok = true;

	for (i = 0; ok && i < sizeof(lens) / sizeof(*lens); i++)
		ok = aligned_by_length(lens[i]);
	for (align = 1; ok && align <= 1 << 22; align *= 4)
		ok = aligned_by_backend(&ang_cdev_ops, &none, "driver", align) &&
		     (!embedded() || aligned_by_backend(dom->dev.ops, &dom->dev, "embedded",
							align));
	return ok;
}

static void *churn(void *arg)
{
	struct angara_mr *mr[3];
	int *ret = arg;
	unsigned int i, k;

	for (i = 0; !*ret && i < TURNS; i++) {
		for (k = 0; !*ret && k < 3; k++)
			*ret = angara_mr_reg(dom, memory, 64, 0, &mr[k]);
		while (k-- > 0)
			angara_mr_dereg(mr[k]);
	}
	return NULL;
}

/* Members agree on a key although other threads take and free slots meanwhile. */
static bool at_once(void)
{
	pthread_t threads[THREADS];
	int ret[THREADS] = { 0 };
	struct angara_mr *mr;
	uint64_t *theirs = calloc(size, sizeof(*theirs));
	bool ok = theirs;
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, churn, &ret[i]))
			exit(1);
	for (i = 0; ok && i < TURNS / 10; i++) {
		ok = expect("team reg", angara_team_mr_reg(everybody(), memory, 64, 0, &mr), 0) &&
		     equal_at_all(angara_mr_key(mr), theirs);
		angara_mr_dereg(mr);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ok &= expect("reg", ret[i], 0);
	}
	free(theirs);
	return ok;
}

const struct part keys_parts[] = {
	{ "keys that the caller chooses", chosen },
	{ "slots that are left to the caller", left },
	{ "keys cannot be guessed", unguessable },
	{ "keys that are agreed on", agreed_keys },
	{ "keys of several threads at once", at_once },
	{ "memory at aligned addresses", aligned },
	{ NULL, NULL },
};
