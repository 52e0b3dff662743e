// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A job whose members make teams while an allocation of one member fails: first
 * its first allocation, then the second, and so on. Each time no member has the
 * team, and none waits forever. Linked with
 * --wrap=malloc,--wrap=calloc,--wrap=realloc.
 *
 *	nomem
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define MUST(x) do {							\
	if (!(x)) {							\
		fprintf(stderr, "rank %u: %s: allocation %u of rank %u failed: expected %s\n", \
			rank, scene->name, place, victim, #x);		\
		exit(1);						\
	}								\
} while (0)

#define MANY	2000U	/* more allocations than any team makes */

/**
 * struct scene - a method to make a team
 * @name: name in messages
 * @flags: flags of the team
 * @make: makes the team
 */
struct scene {
	const char *name;
	unsigned int flags;
	int (*make)(const struct scene *scene, struct angara_team **team);
};

static struct angara_job *job;
static struct angara_ctx *ctx;
static struct angara_team *parent;
static unsigned int rank, size, victim, place;

static __thread unsigned int left;	/* allocations until the failing one,
					 * counted down to 1 */
static bool struck;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *mem, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *mem, size_t size);

static bool fails(void)
{
	if (!left || --left)
		return false;
	struck = true;
	return true;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *mem, size_t bytes)
{
	return fails() ? NULL : __real_realloc(mem, bytes);
}

#define ATTR(scene)	{ .size = sizeof(struct angara_team_attr), .flags = (scene)->flags }

static int of_job(const struct scene *scene, struct angara_team **team)
{
	struct angara_team_attr attr = ATTR(scene);

	return angara_team_create(job, ctx, NULL, 0, &attr, team);
}

static int of_some(const struct scene *scene, struct angara_team **team)
{
	struct angara_team_attr attr = ATTR(scene);
	unsigned int ranks[] = { 2, 0, 1 };

	return angara_team_create(job, ctx, ranks, 3, &attr, team);
}

static int of_subset(const struct scene *scene, struct angara_team **team)
{
	struct angara_team_attr attr = ATTR(scene);
	unsigned int ranks[] = { 2, 0, 1 };

	return angara_team_subset(parent, ranks, 3, &attr, team);
}

static int of_stride(const struct scene *scene, struct angara_team **team)
{
	struct angara_team_attr attr = ATTR(scene);

	return angara_team_strided(parent, 0, 1, 3, &attr, team);
}

static int of_color(const struct scene *scene, struct angara_team **team)
{
	struct angara_team_attr attr = ATTR(scene);

	return angara_team_split(parent, 0, size - rank, &attr, team);
}

/* Agrees on a key for all members of a team; does not make a team. */
static int of_key(const struct scene *scene, struct angara_team **team)
{
	struct angara_mr *mr;
	int ret = angara_team_malloc(parent, 64, &mr);

	(void)scene;
	*team = NULL;
	angara_free(mr);
	return ret;
}

static const struct scene scenes[] = {
	{ "of a job, a tree", ANGARA_TEAM_TREE, of_job },
	{ "of a job, by software", ANGARA_TEAM_SOFTWARE, of_job },
	{ "of members of a job", 0, of_some },
	{ "a subset, a tree", ANGARA_TEAM_TREE, of_subset },
	{ "a subset, by software", ANGARA_TEAM_SOFTWARE, of_subset },
	{ "a stride, a tree", ANGARA_TEAM_TREE, of_stride },
	{ "a stride, by software", ANGARA_TEAM_SOFTWARE, of_stride },
	{ "a color, a tree", ANGARA_TEAM_TREE, of_color },
	{ "a color, by software", ANGARA_TEAM_SOFTWARE, of_color },
	{ "a key", 0, of_key },
};

/* Return: number of members whose @yes is true. */
static unsigned int count(const struct scene *scene, bool yes)
{
	unsigned char *all = __real_calloc(size, 1), mine = yes;
	unsigned int r, n = 0;

	MUST(all && !angara_job_allgather(job, &mine, 1, all));
	for (r = 0; r < size; r++)
		n += all[r];
	free(all);
	return n;
}

/* Makes a team of @scene.  Return: has an allocation of any member failed? */
static bool scene_run(const struct scene *scene)
{
	struct angara_team *team = NULL;
	struct angara_team_attr soft = {
		.size = sizeof(soft), .flags = ANGARA_TEAM_SOFTWARE,
	};
	unsigned int without, failed;
	int ret;

	MUST(!angara_team_create(job, ctx, NULL, 0, &soft, &parent));
	/* All members have the parent: now an allocation of the victim may fail. */
	MUST(!angara_job_barrier(job));
	struck = false;
	left = rank == victim ? place : 0;
	ret = scene->make(scene, &team);
	left = 0;
	MUST(!ret || !team);
	without = count(scene, ret);
	MUST(!without || without == size);
	failed = count(scene, ret || (team && angara_barrier(team)));
	MUST(failed == (without ? size : 0));
	angara_team_leave(team);
	angara_team_leave(parent);
	return count(scene, struck);
}

/* Memory that the library registers for itself must not have a remote write right. */
static void look_at_scratch(void)
{
	const struct angara_mr *mr;

	for (mr = ctx->dom->mrs; mr; mr = mr->next)
		if (mr->access & ANGARA_ACCESS_REMOTE_WRITE) {
			fprintf(stderr, "rank %u: peers may write to a region of the library\n",
				rank);
			exit(1);
		}
}

int main(void)
{
	struct angara_domain *dom;
	size_t i;

	if (angara_job_init(&job) || angara_domain_open(NULL, NULL, &dom) ||
	    angara_ctx_open(dom, NULL, &ctx))
		return 1;
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		for (victim = 0; victim < 2; victim++) {
			for (place = 1; place < MANY && scene_run(&scenes[i]); place++)
				;
			if (place == 1 || place == MANY)
				return 1;
			if (!rank)
				printf("%s, rank %u: %u places\n", scenes[i].name, victim,
				       place - 1);
			look_at_scratch();
		}
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	angara_job_finalize(job);
	return 0;
}
