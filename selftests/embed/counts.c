// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters of an embedded fabric, see counts.h.  What depends on timing is left
 * out, see Documentation/model.rst.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ang_int.h"
#include "check.h"
#include "counts.h"
#include "team.h"
#include "embed/embed.h"
#include "../model/timing.h"

#define MOST	65536U		/* objects with counters */
#define TRIES	1000000U

/** struct counted - counters of an object */
struct counted {
	u32 router;
	u32 kind;
	u32 index;
	u64 word[sizeof(union ang_counters) / 8];
};

static struct counted *first, *last;
static u32 first_n, last_n;

/*
 * Clears two counters that may differ between boards and packets: a state, and
 * interrupts.
 */
static void host_drop(u32 kind, union ang_counters *c)
{
	/*
	 * Not a count, but the number of packets that may be sent at the
	 * moment.
	 */
	if (kind == ANGARA_CNT_TREE)
		c->tree.up_credits = 0;
	if (kind == ANGARA_CNT_CTX)
		c->ctx.interrupts = 0;
}

/*
 * Contexts of a node are in the order of their opening, which varies.  So their
 * counters are added up.
 */
static struct counted *object(struct counted *to, u32 *n, u32 router, u32 kind,
			      u32 index)
{
	if (kind == ANGARA_CNT_CTX && *n && to[*n - 1].router == router &&
	    to[*n - 1].kind == kind)
		return &to[*n - 1];
	if (*n == MOST)
		errx(1, "more than %u objects have counters", MOST);
	to[*n] = (struct counted){ .router = router, .kind = kind, .index = index };
	return &to[(*n)++];
}

static void object_read(struct emb_run *r, struct counted *to, u32 *n, u32 router,
			u32 kind, u32 index)
{
	u64 word[sizeof(union ang_counters) / 8];
	union ang_counters is;
	struct counted *c;
	u32 i;

	if (!ang_look_counters(&r->view, router, kind, index, &is))
		return;
	timing_drop(kind, &is);
	host_drop(kind, &is);
	memcpy(word, &is, sizeof(is));
	c = object(to, n, router, kind, index);
	for (i = 0; i < sizeof(word) / 8; i++)
		c->word[i] += word[i];
}

static void router_read(struct emb_run *r, u32 router, struct counted *to, u32 *n)
{
	struct ang_node *node = ang_node(r->view.fab, router);
	const struct ang_cfg *cfg = &r->fab->head->cfg;
	u32 i, tries = 0;

	while (!ang_node_seize(&r->view, node))
		if (ang_run(&r->view, 1U << 20) || ++tries == TRIES)
			errx(1, "router %u does not come to rest", router);
	object_read(r, to, n, router, ANGARA_CNT_NODE, 0);
	for (i = 0; i < r->view.fab->nports; i++)
		object_read(r, to, n, router, ANGARA_CNT_LINK, i);
	for (i = 0; i < cfg->trees; i++)
		object_read(r, to, n, router, ANGARA_CNT_TREE, i);
	for (i = 0; i < cfg->ctxs; i++)
		object_read(r, to, n, router, ANGARA_CNT_CTX, i);
	ang_node_leave(&r->view, node);
}

static void all_read(struct emb_dev *d, struct counted **to, u32 *n)
{
	struct emb_run *r = &d->run;
	u32 i;

	*to = calloc(MOST, sizeof(**to));
	if (!*to)
		err(1, "calloc");
	/* Wait, since packets of credits may still be on their way. */
	for (i = 0; i < 1000; i++)
		emb_help(r, true);
	for (i = 0; i < d->fab->head->routers; i++)
		router_read(r, i, *to, n);
}

static void growth_write(const char *path)
{
	FILE *f = fopen(path, "w");
	u32 i, k;

	if (!f)
		err(1, "%s", path);
	for (i = 0; i < last_n; i++) {
		const struct counted *c = &last[i];
		const struct counted *was = &first[i];

		if (first_n != last_n || c->router != was->router ||
		    c->kind != was->kind || c->index != was->index)
			errx(1, "the two readings of counters have different objects");
		fprintf(f, "router %u kind %u index %u:", c->router, c->kind,
			c->index);
		for (k = 0; k < sizeof(c->word) / 8; k++)
			fprintf(f, " %llu",
				(unsigned long long)(c->word[k] - was->word[k]));
		fputc('\n', f);
	}
	if (fclose(f))
		err(1, "%s", path);
}

void counts_note(struct angara_job *job, struct angara_ctx *ctx)
{
	const char *path = getenv("COUNTS");

	if (!path)
		return;
	CHECK(angara_job_barrier(job));
	if (!angara_job_rank(job) && !first) {
		all_read(ctx->dev.priv, &first, &first_n);
	} else if (!angara_job_rank(job)) {
		all_read(ctx->dev.priv, &last, &last_n);
		growth_write(path);
	}
	CHECK(angara_job_barrier(job));
}
