// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Views and budgets of steps; see fuzz.h.
 */
#include <stdarg.h>
#include <string.h>

#include "fuzz.h"
#include "invariant.h"

#define RESET_STEPS	20000	/* more steps than any reset fabric may need */

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

void fuzz_init(struct fuzz *f, const char *dims, const struct ang_cfg *cfg)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->h = host_new(dims, cfg);
	EXPECT(f->h->nodes <= 64);
	memcpy(&f->head, f->h->fab, sizeof(f->head));
	for (i = 0; i < VIEWS; i++) {
		ang_view_init(&f->view[i], f->h->fab, &f->h->ops, f->h);
		/* One view sends packets only, while the others may bypass links. */
		f->view[i].packets = i == 0;
	}
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

/*
 * Checks that the head of the fabric is unchanged, and that the contents are
 * consistent.
 */
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
