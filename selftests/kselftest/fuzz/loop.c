// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing: changes known programs, and keeps those that reach new places.  A
 * program is kept if repeated runs reach these places, too.  Calls without
 * which the program still reaches them are removed first.
 */
#include <stdlib.h>
#include <string.h>

#include "angtest.h"
#include "kfuzz.h"

#define EVERY_MS	10000	/* milliseconds between reports */
#define AGAIN		2	/* repeated runs that have to reach a new place */

struct fuzz {
	struct kf_corpus *corpus;
	const struct kf_options *o;
	unsigned int given;	/* programs of the initial corpus */
	unsigned long runs;
	unsigned long calls;
	unsigned long kept_at;	/* number of the last run that found a new place */
	uint64_t seed;
	uint64_t began;
	uint64_t said;
	struct kf_set all;
	struct kf_set fresh;
};

static void say(struct fuzz *f)
{
	uint64_t now = at_now_ms();

	if (now < f->said + EVERY_MS)
		return;
	f->said = now;
	fprintf(stderr, "kfuzz: %lu s, %lu programs, %lu calls, %u kept, %u places\n",
		(unsigned long)(now - f->began) / 1000, f->runs, f->calls,
		f->corpus->count, kf_cover_places());
}

static int found(const struct kf_prog *p, const char *why)
{
	printf("kfuzz: found: %s\n", why);
	printf("kfuzz: the program was\n");
	kf_print(stdout, p);
	return -1;
}

/* Runs a program, and stores its places in @all and @fresh. */
static int run(struct fuzz *f, const struct kf_prog *p)
{
	const char *why = kf_exec(p, NULL);

	f->runs++;
	f->calls += p->calls;
	if (why)
		return found(p, why);
	kf_cover_take(&f->all, &f->fresh);
	say(f);
	return 0;
}

static bool over(const struct fuzz *f)
{
	if (f->o->runs && f->runs >= f->o->runs)
		return true;
	return f->o->seconds &&
	       at_now_ms() >= f->began + f->o->seconds * 1000;
}

/* Removes each call without which @p still reaches @want.  Return: 0; -1: a fault was found. */
static int shorten(struct fuzz *f, struct kf_prog *p, const struct kf_set *want)
{
	struct kf_prog less;
	unsigned int at;

	for (at = p->calls; at-- > 0 && p->calls > 1; ) {
		less = *p;
		kf_remove(&less, at);
		if (run(f, &less))
			return -1;
		if (kf_set_within(want, &f->all))
			*p = less;
	}
	return 0;
}

static int keep(struct fuzz *f, struct kf_prog *p)
{
	struct kf_set want = { .count = f->fresh.count };
	int i, ret = 0;

	want.id = malloc(want.count * sizeof(*want.id));
	if (!want.id)
		return -1;
	memcpy(want.id, f->fresh.id, want.count * sizeof(*want.id));
	for (i = 0; !ret && want.count && i < AGAIN; i++) {
		ret = run(f, p);
		kf_set_keep(&want, &f->all);
	}
	if (!ret && want.count) {
		ret = shorten(f, p, &want);
		snprintf(p->name, sizeof(p->name), "seed-%llu-run-%lu",
			 (unsigned long long)f->o->seed, f->runs);
		kf_add(f->corpus, p);
		f->kept_at = f->runs;
	}
	free(want.id);
	return ret;
}

static int first_runs(struct fuzz *f)
{
	unsigned int i;

	for (i = 0; i < f->given && !over(f); i++)
		if (run(f, &f->corpus->prog[i]))
			return -1;
	return 0;
}

static int next(struct fuzz *f)
{
	struct kf_prog p;

	if (!f->corpus->count || !kf_below(&f->seed, 16))
		kf_make(&p, &f->seed);
	else
		kf_mutate(&p, f->corpus, &f->seed);
	if (f->o->threads > 1)
		p.threads = 1 + kf_below(&f->seed, f->o->threads);
	if (run(f, &p))
		return -1;
	return f->fresh.count ? keep(f, &p) : 0;
}

int kf_fuzz(struct kf_corpus *corpus, const struct kf_options *o)
{
	struct fuzz f = {
		.corpus = corpus, .o = o, .given = corpus->count,
		.seed = o->seed, .began = at_now_ms(), .said = at_now_ms(),
	};
	int ret = first_runs(&f);

	if (!ret)
		fprintf(stderr, "kfuzz: %u programs loaded, %u places\n",
			f.given, kf_cover_places());
	while (!ret && !over(&f))
		ret = next(&f);
	printf("kfuzz: seed %llu: %lu programs, %lu calls, %u kept, %u of them new, %u places\n",
	       (unsigned long long)o->seed, f.runs, f.calls, corpus->count,
	       corpus->count - f.given, kf_cover_places());
	return ret;
}

static int by_length(const void *a, const void *b)
{
	const struct kf_prog *p = a, *q = b;

	return (p->calls > q->calls) - (p->calls < q->calls);
}

int kf_merge(const struct kf_corpus *corpus, const char *path)
{
	struct kf_corpus least = { .count = 0 };
	struct kf_set all = { .count = 0 }, fresh = { .count = 0 };
	const char *why;
	unsigned int i;

	qsort(corpus->prog, corpus->count, sizeof(corpus->prog[0]), by_length);
	for (i = 0; i < corpus->count; i++) {
		unsigned int places = kf_cover_places();

		why = kf_exec(&corpus->prog[i], NULL);
		if (why)
			return found(&corpus->prog[i], why);
		kf_cover_take(&all, &fresh);
		if (kf_cover_places() > places)
			kf_add(&least, &corpus->prog[i]);
	}
	printf("kfuzz: %u of %u programs reach all %u places\n", least.count,
	       corpus->count, kf_cover_places());
	return kf_write(&least, path);
}
