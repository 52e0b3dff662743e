// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generates and changes programs.
 */
#include <string.h>

#include "kfuzz.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

uint64_t kf_rand(uint64_t *seed)
{
	uint64_t z = *seed += 0x9E3779B97F4A7C15U;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
	z = (z ^ z >> 27) * 0x94D049BB133111EBU;
	return z ^ z >> 31;
}

uint64_t kf_below(uint64_t *seed, uint64_t n)
{
	return n ? kf_rand(seed) % n : 0;
}

static bool one_in(uint64_t *seed, unsigned int n)
{
	return !kf_below(seed, n);
}

/* Numbers at boundaries, for any field. */
static uint64_t anything(uint64_t *seed)
{
	uint64_t v;

	switch (kf_below(seed, 5)) {
	case 0:
		return kf_below(seed, 16);
	case 1:
		return -kf_below(seed, 16);
	case 2:
		v = 1ULL << kf_below(seed, 64);
		return v + kf_below(seed, 3) - 1;
	case 3:
		return kf_rand(seed) >> kf_below(seed, 64);
	default:
		return kf_below(seed, 0x10000);
	}
}

static uint64_t length(uint64_t *seed, uint64_t max)
{
	static const uint16_t ends[] = {
		0, 1, 4, 8, 16, 64, 100, 128, 255, 256, 257, 512, 1024, 2048,
		4095, 4096, 4097, 8192,
	};

	if (one_in(seed, 3))
		return kf_below(seed, max + 1);
	return ends[kf_below(seed, ARRAY_SIZE(ends))];
}

/* The users root and nobody may use their own partitions; others need a grant. */
static uint64_t pkey(uint64_t *seed)
{
	static const uint32_t keys[] = {
		0x80000000, 0x80000000, 0x80000000, 0x80000000 | 65534,
		0x5A5A5A, 0,
	};

	return keys[kf_below(seed, ARRAY_SIZE(keys))];
}

static uint64_t value(const struct kf_field *f, uint64_t *seed)
{
	uint64_t edge = f->edge ? f->edge : f->arg;

	if (one_in(seed, 24))
		return anything(seed);
	if (edge && one_in(seed, 24))
		return edge - kf_below(seed, 2);
	switch (f->kind) {
	case KF_BELOW:
		return kf_below(seed, f->arg);
	case KF_BITS:
		return kf_rand(seed) & f->arg;
	case KF_ZERO:
		return 0;
	case KF_POW2:
		return 8ULL << kf_below(seed, 4);
	case KF_AREA:
		return one_in(seed, 3) ? 0 : f->arg << kf_below(seed, 3);
	case KF_LENGTH:
		return length(seed, f->arg);
	case KF_PKEY:
		return pkey(seed);
	case KF_ANY:
		break;
	}
	return anything(seed);
}

static unsigned int choose_op(uint64_t *seed)
{
	unsigned int sum = 0, op;
	uint64_t at;

	for (op = 0; op < kf_num_ops; op++)
		sum += kf_ops[op].weight;
	at = kf_below(seed, sum);
	for (op = 0; at >= kf_ops[op].weight; op++)
		at -= kf_ops[op].weight;
	return op;
}

static void make_call(struct kf_call *c, uint64_t *seed)
{
	const struct kf_op *op;
	unsigned int i;

	memset(c, 0, sizeof(*c));
	c->op = choose_op(seed);
	op = &kf_ops[c->op];
	for (i = 0; i < kf_fields(op); i++)
		c->v[i] = value(&op->field[i], seed);
}

void kf_make(struct kf_prog *p, uint64_t *seed)
{
	memset(p, 0, sizeof(*p));
	p->threads = 1;
	p->calls = 3 + kf_below(seed, KF_CALLS / 2);
	for (unsigned int i = 0; i < p->calls; i++)
		make_call(&p->call[i], seed);
}

static struct kf_call *insert(struct kf_prog *p, unsigned int at)
{
	memmove(&p->call[at + 1], &p->call[at],
		(p->calls - at) * sizeof(p->call[0]));
	p->calls++;
	return &p->call[at];
}

void kf_remove(struct kf_prog *p, unsigned int at)
{
	p->calls--;
	memmove(&p->call[at], &p->call[at + 1],
		(p->calls - at) * sizeof(p->call[0]));
}

static void change_field(struct kf_prog *p, uint64_t *seed)
{
	struct kf_call *c = &p->call[kf_below(seed, p->calls)];
	const struct kf_op *op = &kf_ops[c->op];
	unsigned int i;

	if (!kf_fields(op))
		return;
	i = kf_below(seed, kf_fields(op));
	switch (kf_below(seed, 8)) {
	case 0:
		c->v[i] = anything(seed);
		break;
	case 1:
		c->v[i] ^= 1ULL << kf_below(seed, 32);
		break;
	case 2:
		c->v[i] += kf_below(seed, 9) - 4;
		break;
	default:
		c->v[i] = value(&op->field[i], seed);
	}
}

/* Joins the start of @p and the end of another program. */
static void splice(struct kf_prog *p, const struct kf_corpus *from,
		   uint64_t *seed)
{
	const struct kf_prog *other = &from->prog[kf_below(seed, from->count)];
	unsigned int keep = kf_below(seed, p->calls + 1);
	unsigned int start = kf_below(seed, other->calls);
	unsigned int i;

	for (i = start; i < other->calls && keep < KF_CALLS; i++)
		p->call[keep++] = other->call[i];
	p->calls = keep;
}

static void change(struct kf_prog *p, const struct kf_corpus *from,
		   uint64_t *seed)
{
	bool room = p->calls < KF_CALLS;
	struct kf_call c;

	switch (kf_below(seed, 16)) {
	case 0 ... 2:
		if (!room)
			return;
		make_call(&c, seed);
		*insert(p, kf_below(seed, p->calls + 1)) = c;
		return;
	case 3:
		c = p->call[kf_below(seed, p->calls)];
		if (room)
			*insert(p, kf_below(seed, p->calls + 1)) = c;
		return;
	case 4:
		if (p->calls > 1)
			kf_remove(p, kf_below(seed, p->calls));
		return;
	case 5 ... 6:
		splice(p, from, seed);
		return;
	case 7:
		c = p->call[kf_below(seed, p->calls)];
		make_call(&p->call[kf_below(seed, p->calls)], seed);
		p->call[kf_below(seed, p->calls)] = c;
		return;
	default:
		change_field(p, seed);
	}
}

void kf_mutate(struct kf_prog *p, const struct kf_corpus *from, uint64_t *seed)
{
	*p = from->prog[kf_below(seed, from->count)];
	p->name[0] = 0;
	do
		change(p, from, seed);
	while (!one_in(seed, 5));
	if (!p->calls)
		kf_make(p, seed);
}
