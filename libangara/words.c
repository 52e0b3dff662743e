// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiting for words in memory that peers write.
 *
 * A put raises no event at its target, so after spinning a wait sleeps at most
 * a millisecond between two checks; an event of the context ends the sleep.
 * Words are loaded with acquire: a caller that sees a word also sees data that was written before
 * the word.
 */
#include <errno.h>

#include "lib.h"

#define ANG_WORD_MS	1

static s64 load_signed(const void *at, u32 type)
{
	return type == ANGARA_TYPE_INT32 ? ang_load_acquire((const s32 *)at) :
					   ang_load_acquire((const s64 *)at);
}

static u64 load_unsigned(const void *at, u32 type)
{
	return type == ANGARA_TYPE_UINT32 ? ang_load_acquire((const u32 *)at) :
					    ang_load_acquire((const u64 *)at);
}

/*
 * Return: -1, 0 or 1 if the word is less than, equal to or greater than the
 * value.
 */
static int word_compare(const void *word, const void *value, u32 type)
{
	if (type == ANGARA_TYPE_INT32 || type == ANGARA_TYPE_INT64) {
		s64 a = load_signed(word, type), b = load_signed(value, type);

		return (a > b) - (a < b);
	} else {
		u64 a = load_unsigned(word, type), b = load_unsigned(value, type);

		return (a > b) - (a < b);
	}
}

static size_t word_size(u32 type)
{
	return type == ANGARA_TYPE_INT32 || type == ANGARA_TYPE_UINT32 ? 4 : 8;
}

static bool word_holds(const struct angara_words *w, u32 i)
{
	size_t size = word_size(w->type);
	const char *value = w->values;
	int c;

	if (w->flags & ANGARA_WORDS_EACH)
		value += i * size;
	c = word_compare((const char *)w->words + i * size, value, w->type);
	switch (w->cmp) {
	case ANGARA_CMP_EQ:
		return c == 0;
	case ANGARA_CMP_NE:
		return c != 0;
	case ANGARA_CMP_GT:
		return c > 0;
	case ANGARA_CMP_GE:
		return c >= 0;
	case ANGARA_CMP_LT:
		return c < 0;
	default:
		return c <= 0;
	}
}

static int words_take(struct angara_words *w, const struct angara_words *from)
{
	int ret = ang_sized_take(w, sizeof(*w), from,
				 ANG_SIZED_FIRST(angara_words, skip));
	size_t mask;

	if (ret)
		return ret;
	mask = word_size(w->type) - 1;
	if (w->reserved || w->type > ANGARA_TYPE_UINT64 || w->cmp > ANGARA_CMP_LE ||
	    w->flags & ~ANGARA_WORDS_EACH || (w->n && (!w->words || !w->values)) ||
	    (uintptr_t)w->words & mask || (uintptr_t)w->values & mask)
		return -EINVAL;
	return 0;
}

/*
 * Finds words that satisfy the comparison, at most @max.  Return: number of
 * these words.
 */
static u32 words_find(const struct angara_words *w, u32 *index, u32 max)
{
	u32 found = 0;
	u32 i;

	for (i = 0; i < w->n && found < max; i++)
		if (!(w->skip && w->skip[i]) && word_holds(w, i))
			index[found++] = i;
	return found;
}

static bool words_all(const struct angara_words *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (!(w->skip && w->skip[i]) && !word_holds(w, i))
			return false;
	return true;
}

/* Does the caller skip all words? */
static bool words_none(const struct angara_words *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (!(w->skip && w->skip[i]))
			return false;
	return true;
}

ANG_PUBLIC int angara_words_find(const struct angara_words *words, uint32_t *index,
				 uint32_t max)
{
	struct angara_words w;
	int ret = words_take(&w, words);

	if (ret)
		return ret;
	return index ? (int)words_find(&w, index, max) : words_all(&w);
}

ANG_PUBLIC int angara_test_all(struct angara_ctx *ctx,
			       const struct angara_words *words)
{
	struct angara_words w;
	int ret = words_take(&w, words);

	if (ret)
		return ret;
	if (words_all(&w))
		return 1;
	ang_idle(ctx, ANG_IDLE_WORDS);
	return ctx->dead ? -ENODEV : 0;
}

ANG_PUBLIC int angara_test_some(struct angara_ctx *ctx,
				const struct angara_words *words,
				uint32_t *index, uint32_t max)
{
	struct angara_words w;
	int ret = words_take(&w, words);

	if (ret)
		return ret;
	ret = (int)words_find(&w, index, max);
	if (ret)
		return ret;
	ang_idle(ctx, ANG_IDLE_WORDS);
	return ctx->dead ? -ENODEV : 0;
}

/**
 * struct words_wait - state of a wait for words
 * @w: words
 * @index: out: words that satisfy the comparison; NULL: all words must satisfy
 *	it
 * @max: capacity of @index
 * @found: out: number of entries in @index
 */
struct words_wait {
	const struct angara_words *w;
	u32 *index;
	u32 max;
	u32 *found;
};

static bool words_done(struct angara_ctx *ctx, const void *arg)
{
	const struct words_wait *wait = arg;

	(void)ctx;
	if (!wait->index)
		return words_all(wait->w);
	*wait->found = words_find(wait->w, wait->index, wait->max);
	return *wait->found;
}

static int words_wait(struct angara_ctx *ctx, const struct words_wait *wait,
		      int timeout_ms)
{
	int left = timeout_ms;
	int ret;

	/*
	 * A write to a word raises no event, so only a spinning wait sees the write at once: spin
	 * as long as allowed.
	 */
	ctx->spin_ns = ctx->spin_most;
	do {
		int ms = left < 0 || left > ANG_WORD_MS ? ANG_WORD_MS : left;

		ret = ang_wait_until(ctx, words_done, wait, ms);
		if (left > 0)
			left -= ms;
	} while (ret == -ETIMEDOUT && left);
	return ret;
}

ANG_PUBLIC int angara_wait_all(struct angara_ctx *ctx,
			       const struct angara_words *words, int timeout_ms)
{
	struct angara_words w;
	const struct words_wait wait = { .w = &w };
	int ret = words_take(&w, words);

	return ret ? ret : words_wait(ctx, &wait, timeout_ms);
}

ANG_PUBLIC int angara_wait_some(struct angara_ctx *ctx,
				const struct angara_words *words,
				int timeout_ms, uint32_t *index, uint32_t max)
{
	struct angara_words w;
	u32 found = 0;
	const struct words_wait wait = {
		.w = &w, .index = index, .max = max, .found = &found,
	};
	int ret = words_take(&w, words);

	if (ret)
		return ret;
	if (!index || !max || words_none(&w))
		return -EINVAL;
	ret = words_wait(ctx, &wait, timeout_ms);
	return ret ? ret : (int)found;
}
