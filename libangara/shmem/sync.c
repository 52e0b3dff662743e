// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiting for words.  In libangara a waiting PE polls for some microseconds,
 * then sleeps and polls once a millisecond.  Words of 16 bits, which libangara
 * does not support, are compared in this file.
 *
 * Threads that share the default context poll words, and sleep, without holding
 * the context, so that other threads can put and get.
 */
#include <errno.h>
#include <stdlib.h>

#include "shi.h"

/**
 * struct sync_words - words to compare
 * @w: words of 4 or 8 bytes, for libangara
 * @bytes: size of a word
 * @is_signed: words of 16 bits are signed
 */
struct sync_words {
	struct angara_words w;
	size_t bytes;
	bool is_signed;
};

static int short_load(const struct sync_words *s, const void *base, size_t i)
{
	if (s->is_signed)
		return __atomic_load_n((const short *)base + i, __ATOMIC_ACQUIRE);
	return __atomic_load_n((const unsigned short *)base + i, __ATOMIC_ACQUIRE);
}

/*
 * Does a comparison hold?  @order: below 0, 0 or above 0 if the word is less
 * than, equal to or greater than the value
 */
static bool order_holds(int cmp, int order)
{
	switch (cmp) {
	case SHMEM_CMP_EQ:
		return order == 0;
	case SHMEM_CMP_NE:
		return order != 0;
	case SHMEM_CMP_GT:
		return order > 0;
	case SHMEM_CMP_GE:
		return order >= 0;
	case SHMEM_CMP_LT:
		return order < 0;
	default:
		return order <= 0;
	}
}

static bool short_holds(const struct sync_words *s, size_t i)
{
	return order_holds((int)s->w.cmp,
			   short_load(s, s->w.words, i) -
			   short_load(s, s->w.values,
				      s->w.flags & ANGARA_WORDS_EACH ? i : 0));
}

/*
 * Return: number of words for which the comparison holds, at most @max; if
 * @index is NULL, 1 if it holds for all words.
 */
static int short_find(const struct sync_words *s, uint32_t *index, uint32_t max)
{
	uint32_t found = 0;
	uint32_t i;

	for (i = 0; i < s->w.n; i++) {
		bool holds;

		if (s->w.skip && s->w.skip[i])
			continue;
		holds = short_holds(s, i);
		if (!index && !holds)
			return 0;
		if (index && holds) {
			index[found++] = i;
			if (found == max)
				break;
		}
	}
	return index ? (int)found : 1;
}

/* Are words of 16 bits? They are compared in this file. */
static bool is_short(const struct sync_words *s)
{
	return s->bytes == sizeof(short);
}

static struct sync_words words_of(const void *ivars, size_t n, const int *status, int cmp,
				  const void *values, bool each, size_t size,
				  bool is_signed)
{
	struct sync_words s = {
		.w = {
			.size = sizeof(s.w),
			.flags = each ? ANGARA_WORDS_EACH : 0,
			.type = size == 4 ?
				is_signed ? ANGARA_TYPE_INT32 : ANGARA_TYPE_UINT32 :
				is_signed ? ANGARA_TYPE_INT64 : ANGARA_TYPE_UINT64,
			.cmp = (uint32_t)cmp,
			.n = (uint32_t)n,
			.words = ivars,
			.values = values,
			.skip = status,
		},
		.bytes = size,
		.is_signed = is_signed,
	};

	_Static_assert(SHMEM_CMP_EQ == ANGARA_CMP_EQ && SHMEM_CMP_NE == ANGARA_CMP_NE &&
		       SHMEM_CMP_GT == ANGARA_CMP_GT && SHMEM_CMP_GE == ANGARA_CMP_GE &&
		       SHMEM_CMP_LT == ANGARA_CMP_LT && SHMEM_CMP_LE == ANGARA_CMP_LE,
		       "comparisons have equal numbers");
	if (!shi.up)
		shi_need();
	if (cmp < SHMEM_CMP_EQ || cmp > SHMEM_CMP_LE)
		shi_die("wait or test: the comparison %d is not one of SHMEM_CMP_*", cmp);
	if (n > INT32_MAX)
		shi_die("wait or test: %zu words exceed the limit of 2^31 - 1", n);
	if ((uintptr_t)ivars & (size - 1))
		shi_die("wait or test: %p is not aligned to %zu bytes", ivars, size);
	if (shi.debug && n && !shi_local_of(ivars, n * size).mr)
		shi_die("wait or test: %zu bytes at %p are not symmetric", n * size, ivars);
	return s;
}

/* Checks the words once.  Return: as short_find(). */
static int words_look(const struct sync_words *s, uint32_t *index, uint32_t max)
{
	int ret;

	if (is_short(s))
		return short_find(s, index, max);
	ret = angara_words_find(&s->w, index, max);
	shi_check(ret, "wait or test");
	return ret;
}

/*
 * Can libangara wait for the words? Only if it supports them, no other thread needs
 * the context, and no collective with a request needs progress.
 */
static bool wait_below(const struct sync_words *s)
{
	return !is_short(s) && !shi.def.locked &&
	       !__atomic_load_n(&shi.requests, __ATOMIC_RELAXED);
}

/* Waits by polling in this file. */
static int words_wait(const struct sync_words *s, uint32_t *index, uint32_t max)
{
	unsigned int looks = 0;
	int ret;

	while (!(ret = words_look(s, index, max))) {
		shi_turn();
		if (looks++ < SHI_LOOKS)
			continue;
		shi_ctx_sleep(&shi.def);
		shi_missed("wait");
	}
	return ret;
}

static int test_some(struct sync_words *s, uint32_t *index, uint32_t max)
{
	int ret = words_look(s, index, max);

	if (!ret) {
		shi_turn();
		shi_missed("test");
	}
	return ret;
}

/* Return: 1 if the comparison holds for all words. */
static int test_all(struct sync_words *s)
{
	return test_some(s, NULL, 0);
}

static void wait_all(struct sync_words *s)
{
	int ret;

	if (!wait_below(s)) {
		words_wait(s, NULL, 0);
		return;
	}
	while ((ret = angara_wait_all(shi.def.a, &s->w, SHI_PROBE_MS)) == -ETIMEDOUT)
		shi_probe("wait");
	shi_check(ret, "wait");
}

static bool all_skipped(const struct sync_words *s)
{
	uint32_t i;

	for (i = 0; i < s->w.n; i++)
		if (!s->w.skip || !s->w.skip[i])
			return false;
	return true;
}

/* Return: number of words for which the comparison holds; 0 if all are skipped. */
static int wait_some(struct sync_words *s, uint32_t *index, uint32_t max)
{
	int ret;

	if (all_skipped(s))
		return 0;
	if (!wait_below(s))
		return words_wait(s, index, max);
	while ((ret = angara_wait_some(shi.def.a, &s->w, SHI_PROBE_MS, index, max)) ==
	       -ETIMEDOUT)
		shi_probe("wait");
	shi_check(ret, "wait");
	return ret;
}

/* A random number below @n, by Lehmer's generator. */
static uint32_t words_random(uint32_t n)
{
	static __thread uint64_t seed = 1;

	seed = seed * 48271 % 0x7fffffff;
	return (uint32_t)(seed * n >> 31);
}

/* The words from @first on. */
static struct sync_words words_from(const struct sync_words *s, uint32_t first)
{
	struct sync_words rest = *s;

	rest.w.n -= first;
	rest.w.words = (const char *)s->w.words + first * s->bytes;
	if (s->w.flags & ANGARA_WORDS_EACH)
		rest.w.values = (const char *)s->w.values + first * s->bytes;
	if (s->w.skip)
		rest.w.skip += first;
	return rest;
}

/*
 * Return: index of a word for which the comparison holds; SIZE_MAX: none.  The
 * search begins at a random word: if the comparison goes on to hold for a word,
 * repeated calls return its index sooner or later, as the specification
 * demands.
 */
static size_t words_any(struct sync_words *s, int (*find)(struct sync_words *, uint32_t *,
							  uint32_t))
{
	uint32_t first = words_random(s->w.n), index;

	if (first) {
		struct sync_words rest = words_from(s, first);

		if (words_look(&rest, &index, 1))
			return first + index;
	}
	return find(s, &index, 1) ? index : SIZE_MAX;
}

static size_t words_some(struct sync_words *s, size_t *indices,
			 int (*find)(struct sync_words *, uint32_t *, uint32_t))
{
	uint32_t *index;
	int found, i;

	if (!s->w.n)
		return 0;
	index = malloc(s->w.n * sizeof(*index));
	if (!index)
		shi_die("wait or test: no memory for %u indices", s->w.n);
	found = find(s, index, s->w.n);
	for (i = 0; i < found; i++)
		indices[i] = index[i];
	free(index);
	return (size_t)found;
}

void shi_wait_long(long *ivar, int cmp, long value)
{
	struct sync_words s = words_of(ivar, 1, NULL, cmp, &value, false, sizeof(long), true);

	wait_all(&s);
}

#define WORDS(T, n, status, values, each) \
	struct sync_words s = words_of(ivars, n, status, cmp, values, each, sizeof(T), \
				       SHI_SIGNED(T))
#define LIST(T)		T *ivars, size_t nelems, const int *status, int cmp
#define LIST_SOME(T)	T *ivars, size_t nelems, size_t *indices, const int *status, int cmp
#define ONE(T)		WORDS(T, nelems, status, &value, false)
#define EACH(T)		WORDS(T, nelems, status, values, true)

#define SYNC(N, T) \
	SHI_DEF(void, N##_wait_until, (T *ivars, int cmp, T value)) \
	{ WORDS(T, 1, NULL, &value, false); wait_all(&s); } \
	SHI_DEF(int, N##_test, (T *ivars, int cmp, T value)) \
	{ WORDS(T, 1, NULL, &value, false); return test_all(&s); } \
	SHI_DEF(void, N##_wait_until_all, (LIST(T), T value)) \
	{ ONE(T); wait_all(&s); } \
	SHI_DEF(size_t, N##_wait_until_any, (LIST(T), T value)) \
	{ ONE(T); return words_any(&s, wait_some); } \
	SHI_DEF(size_t, N##_wait_until_some, (LIST_SOME(T), T value)) \
	{ ONE(T); return words_some(&s, indices, wait_some); } \
	SHI_DEF(void, N##_wait_until_all_vector, (LIST(T), T *values)) \
	{ EACH(T); wait_all(&s); } \
	SHI_DEF(size_t, N##_wait_until_any_vector, (LIST(T), T *values)) \
	{ EACH(T); return words_any(&s, wait_some); } \
	SHI_DEF(size_t, N##_wait_until_some_vector, (LIST_SOME(T), T *values)) \
	{ EACH(T); return words_some(&s, indices, wait_some); } \
	SHI_DEF(int, N##_test_all, (LIST(T), T value)) \
	{ ONE(T); return test_all(&s); } \
	SHI_DEF(size_t, N##_test_any, (LIST(T), T value)) \
	{ ONE(T); return words_any(&s, test_some); } \
	SHI_DEF(size_t, N##_test_some, (LIST_SOME(T), T value)) \
	{ ONE(T); return words_some(&s, indices, test_some); } \
	SHI_DEF(int, N##_test_all_vector, (LIST(T), T *values)) \
	{ EACH(T); return test_all(&s); } \
	SHI_DEF(size_t, N##_test_any_vector, (LIST(T), T *values)) \
	{ EACH(T); return words_any(&s, test_some); } \
	SHI_DEF(size_t, N##_test_some_vector, (LIST_SOME(T), T *values)) \
	{ EACH(T); return words_some(&s, indices, test_some); }
SHMEMI_SYNC_TYPES(SYNC)

SHI_DEF(uint64_t, signal_wait_until, (uint64_t *ivars, int cmp, uint64_t value))
{
	uint64_t v;
	WORDS(uint64_t, 1, NULL, &value, false);

	/* A later signal may have changed the word again. */
	do {
		wait_all(&s);
		v = __atomic_load_n(ivars, __ATOMIC_ACQUIRE);
	} while (!order_holds(cmp, (v > value) - (v < value)));
	return v;
}

#define WAIT(N, T) \
	SHI_DEF(void, N##_wait, (T *ivar, T cmp_value)) \
	{ pshmem_##N##_wait_until(ivar, SHMEM_CMP_NE, cmp_value); }
SHMEMI_WAIT_TYPES(WAIT)
