// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Inputs, views and budgets; see fuzz.h.
 */
#include <stdarg.h>
#include <string.h>

#include "fuzz.h"
#include "invariant.h"

#define RESET_STEPS	20000	/* more steps than any reset fabric may need */

/* Small inputs allocate little, and often. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "malloc_context_size=4:quarantine_size_mb=4";
}

void test_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list args;

	fprintf(stderr, "finding: %s:%d: ", base ? base + 1 : file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

u8 in_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

u16 in_u16(struct input *in)
{
	u16 low = in_u8(in);

	return (u16)(low | in_u8(in) << 8);
}

u32 in_u32(struct input *in)
{
	u32 low = in_u16(in);

	return low | (u32)in_u16(in) << 16;
}

u64 in_u64(struct input *in)
{
	u64 low = in_u32(in);

	return low | (u64)in_u32(in) << 32;
}

u32 in_below(struct input *in, u32 n)
{
	return in_u8(in) % n;
}

u32 in_size(struct input *in)
{
	u8 first = in_u8(in);

	if (first < 0xC0)
		return first;
	if (first < 0xFC)
		return (u32)(first & 0x3F) << 8 | in_u8(in);
	return in_u32(in);
}

void in_bytes(struct input *in, void *to, u32 len)
{
	u8 *bytes = to;

	while (len--)
		*bytes++ = in_u8(in);
}

void fuzz_init(struct fuzz *f, const char *dims, const struct ang_cfg *cfg)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->h = host_new(dims, cfg);
	EXPECT(f->h->nodes <= 64);
	memcpy(&f->head, f->h->fab, sizeof(f->head));
	for (i = 0; i < VIEWS; i++)
		ang_view_init(&f->view[i], f->h->fab, &f->h->ops, f->h);
}

void fuzz_view(struct fuzz *f, u32 which)
{
	struct ang_view now = f->h->v;

	f->h->v = f->view[which];
	f->view[which] = now;
}

void fuzz_freeze(struct fuzz *f, u32 node, int on)
{
	u64 sched = ang_node(f->h->fab, node)->sched;
	u64 bit = 1ULL << node;

	if (on && !(sched & (ANG_SCHED_WORK | ANG_SCHED_OWNED))) {
		host_freeze(f->h, node, 1);
		f->frozen |= bit;
	} else if (!on && f->frozen & bit) {
		host_freeze(f->h, node, 0);
		f->frozen &= ~bit;
	}
}

void fuzz_gather(struct fuzz *f)
{
	struct host *h = f->h;
	u32 i;

	for (i = 0; i < h->nodes; i++)
		fuzz_freeze(f, i, 0);
	for (i = 0; i < VIEWS; i++) {
		ang_list_splice(h->fab, &h->v.runq, &f->view[i].runq);
		ang_timers_splice(h->fab, &h->v.timers, &f->view[i].timers);
	}
}

/* Parameters of the fabric, and its contents. */
static void look(const struct fuzz *f)
{
	EXPECT(!memcmp(&f->head, f->h->fab, sizeof(f->head)));
	invariants(f->h->fab, 0);
}

void fuzz_steps(struct fuzz *f, u32 budget)
{
	u32 before = f->h->v.steps;

	run_steps(&f->h->v, budget);
	f->steps += f->h->v.steps - before;
	look(f);
}

int fuzz_quiet(struct fuzz *f, u64 budget)
{
	fuzz_gather(f);
	while (ang_view_busy(&f->h->v)) {
		if (budget < 256)
			return 0;
		fuzz_steps(f, 256);
		budget -= 256;
	}
	look(f);
	return 1;
}

void fuzz_end(struct fuzz *f)
{
	struct host *h = f->h;
	u32 i;

	fuzz_gather(f);
	for (i = 0; i < h->nodes; i++)
		host_reg(h, i, ANGARA_REG_CONTROL, 0);
	EXPECT(fuzz_quiet(f, RESET_STEPS));
	for (i = 0; i < h->nodes; i++)
		EXPECT_EQ(ang_reg_read(&h->v, i, ANGARA_REG_STATUS), 0);
	host_free(h);
}
