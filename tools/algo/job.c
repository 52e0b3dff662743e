// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: a collective, and properties of its schedules. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

#define STEPS_MOST	2000000000ULL	/* counting this many steps takes half a minute */

static void need_dims(struct job *j, const char *text)
{
	char *copy = strdup(text), *rest = copy, *part, *end;
	u64 product = 1;

	while ((part = strsep(&rest, "x"))) {
		unsigned long r = strtoul(part, &end, 10);

		if (*part < '0' || *part > '9' || *end || !r || r > j->args.size ||
		    j->args.ndims == DIMS_MOST)
			exit(misuse("--dims '%s': not sizes joined by x, such as 4x4", text));
		j->dims[j->args.ndims++] = (u32)r;
		product *= r;
		if (product > j->args.size)
			break;
	}
	free(copy);
	if (product != j->args.size)
		exit(misuse("--dims '%s': the product of the sizes must be the number of members, %u",
			    text, j->args.size));
}

static bool has_dims(const struct way *w)
{
	return w->algo == ANG_ALGO_RING && w->coll != ANG_COLL_ALLGATHER;
}

/**
 * need_job() - set up a collective; end the program if it is invalid
 * @j: out; job_free()
 * @o: dimensions, packets, root, times
 * @w: algorithm
 * @s: system
 * @bytes: bytes of the vector; of one block in an allgather
 */
void need_job(struct job *j, const struct opts *o, const struct way *w,
	      const struct levels *s, size_t bytes)
{
	*j = (struct job){
		.way = w, .add = o->add, .copy = o->copy,
		.args = {
			.coll = w->coll, .algo = w->algo, .size = s->ranks,
			.root = o->root, .elem = sizeof(double),
			.count = bytes / sizeof(double),
			.exchange = w->form == FORM_EXCHANGE,
		},
	};
	if (bytes % sizeof(double))
		exit(misuse("--bytes %zu: not a multiple of %zu", bytes, sizeof(double)));
	if (o->root >= s->ranks)
		exit(misuse("--root %u: there are only %u ranks", o->root, s->ranks));
	if (w->form) {
		j->place = need_memory(s->ranks, sizeof(u32));
		j->rank_of = need_memory(s->ranks, sizeof(u32));
		map_ranks(w, s, j->place, j->rank_of, NULL);
		j->args.place = j->place;
		j->args.rank_of = j->rank_of;
	}
	if (has_dims(w)) {
		j->args.dims = j->dims;
		j->args.packet = o->packet;
		if (o->dims && !strcmp(o->dims, "best"))
			choose_dims(j, s);
		else if (o->dims)
			need_dims(j, o->dims);
	}
	if (!ang_algo_valid(&j->args))
		exit(misuse("%s: does not support %u ranks", w->name, s->ranks));
}

void job_free(struct job *j)
{
	free(j->place);
	free(j->rank_of);
}

/* Estimates the steps of all members by @first, the steps of the first member. */
void need_steps(const struct job *j, u32 first, u64 most)
{
	u64 all = (u64)first * j->args.size;

	if (all > most)
		exit(misuse("%s: all ranks together take %llu steps, the limit is %llu: take fewer ranks or longer packets",
			    j->way->name, (unsigned long long)all,
			    (unsigned long long)most));
}

void job_traffic(const struct job *j, const struct levels *s, struct traffic *t)
{
	struct ang_coll_args args = j->args;
	struct ang_schedule sched;
	u32 i, l;

	*t = (struct traffic){ 0 };
	for (args.rank = 0; args.rank < args.size; args.rank++) {
		if (ang_schedule_make(&args, &sched))
			exit(fail("no memory for a schedule of %u ranks", args.size));
		if (!args.rank)
			need_steps(j, sched.n, STEPS_MOST);
		for (i = 0; i < sched.n; i++) {
			const struct ang_step *step = &sched.steps[i];

			if (step->kind != ANG_STEP_SEND)
				continue;
			l = level_of(s, s->core[args.rank], s->core[step->peer]);
			t->messages[l]++;
			t->bytes[l] += step->len;
		}
		ang_schedule_free(&sched);
	}
}
