// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The system as a tree of levels, and numbers for the members of a communicator.
 *
 * To number members for the exch and reorder forms of allgather (see
 * angara_numbers()), the library has to know which processes share a node, a
 * processor or a cache.  The MPI gets the nodes from its launcher; hwloc finds
 * processors and caches, if processes are bound (place.c). Alternatively a file
 * describes the levels.  A part of a level, such as one node, is called a module.
 * Every process keeps the modules of all processes.  Rank 0 of a communicator
 * computes the numbers for all members, since other versions of METIS may compute
 * other numbers.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"
#include "place_all.h"

#define ENV_LEVELS	"ANGARA_MPI_LEVELS"
#define FILE_PREFIX	"file:"

static const u32 plain_algos[AMI_NUMBERED] = {
	ANGARA_ALGO_BRUCK, ANGARA_ALGO_RECURSIVE_DOUBLING,
};

/**
 * ami_algo_numbered() - find the kind of numbers that an algorithm needs;
 * AMI_NUMBERED: it needs none
 */
u32 ami_algo_numbered(u32 algo)
{
	switch (algo) {
	case ANGARA_ALGO_BRUCK_EXCH:
	case ANGARA_ALGO_BRUCK_REORDER:
		return 0;
	case ANGARA_ALGO_DOUBLING_EXCH:
	case ANGARA_ALGO_DOUBLING_REORDER:
		return 1;
	default:
		return AMI_NUMBERED;
	}
}

/* Does a setting, or a line of the table, need numbers of kind @which? */
static bool is_wanted(u32 which)
{
	u32 i;

	for (i = 0; i < AMI_CHOSEN; i++)
		if (ami_algo_numbered(ami.set.algo[i]) == which)
			return true;
	for (i = 0; i < ami.set.rows; i++)
		if (ami_algo_numbered(ami.set.row[i].algo) == which)
			return true;
	return false;
}

/*
 * Return: count of numbers in a line, one per level; 0: the line is malformed
 * or has too many.
 */
static u32 line_parse(const char *line, u32 out[AMI_LEVELS])
{
	unsigned long value;
	u32 n = 0;
	char *end;

	while (*(line += strspn(line, " \t\n"))) {
		errno = 0;
		value = strtoul(line, &end, 10);
		if (!isdigit((unsigned char)*line) || errno || value >= UINT32_MAX ||
		    !strchr(" \t\n", *end) || n == AMI_LEVELS)
			return 0;
		out[n++] = (u32)value;
		line = end;
	}
	return n;
}

/* Reads a line for each rank; there is room for @size lines. */
static int file_load(struct ami_levels *l, FILE *f, const char *name, u32 size)
{
	u32 line[AMI_LEVELS], rank = 0, num = 0, n;
	char text[256];

	while (fgets(text, sizeof(text), f)) {
		num++;
		if (strlen(text) == sizeof(text) - 1) {
			ami_say("%s:%u: the line is longer than %zu characters", name, num,
				sizeof(text) - 2);
			return -EINVAL;
		}
		text[strcspn(text, "#")] = '\0';
		if (!text[strspn(text, " \t\n")])
			continue;
		n = line_parse(text, line);
		if (!n || (rank && n != l->num)) {
			ami_say("%s:%u: expected 1 to %u numbers, one per level, and the same count in each line",
				name, num, AMI_LEVELS);
			return -EINVAL;
		}
		if (rank < size)
			memcpy(l->modules + (size_t)rank * n, line, n * sizeof(*line));
		l->num = n;
		rank++;
	}
	if (rank == size)
		return 0;
	ami_say("%s: has lines for %u processes, but there are %u", name, rank, size);
	return -EINVAL;
}

/**
 * ami_levels_read() - read the levels from a file, if there is one
 * @l: out
 * @size: processes
 *
 * Return: 0; -EINVAL: a line has been printed; -ENOMEM.
 */
int ami_levels_read(struct ami_levels *l, u32 size)
{
	const char *text = getenv(ENV_LEVELS);
	FILE *f;
	int ret;

	if (!text || !strcmp(text, "machine"))
		return 0;
	if (strncmp(text, FILE_PREFIX, strlen(FILE_PREFIX))) {
		ami_say("invalid " ENV_LEVELS " '%s': expected machine or file:NAME",
			text);
		return -EINVAL;
	}
	text += strlen(FILE_PREFIX);
	f = fopen(text, "r");
	if (!f) {
		ami_say("invalid " ENV_LEVELS " '" FILE_PREFIX "%s': %s", text,
			strerror(errno));
		return -EINVAL;
	}
	l->modules = calloc((size_t)size * AMI_LEVELS, sizeof(*l->modules));
	ret = l->modules ? file_load(l, f, text, size) : -ENOMEM;
	fclose(f);
	return ret;
}

/**
 * ami_levels_share() - distribute the location of every process to all
 *
 * Called in MPI_Init().  Nothing is exchanged if no setting needs numbers.
 */
void ami_levels_share(void)
{
	struct ami_levels *l = &ami.levels;
	bool have;
	u32 i;

	for (i = 0; i < AMI_NUMBERED; i++)
		l->wanted[i] = is_wanted(i);
	if (!l->wanted[0] && !l->wanted[1])
		return;
	PMPI_Bcast(&l->num, 1, MPI_UINT32_T, 0, ami.world);
	if (!l->modules)
		l->modules = calloc((size_t)ami.size * AMI_LEVELS,
				    sizeof(*l->modules));
	have = ami_vote(ami.world, l->modules);
	if (have && l->num) {
		PMPI_Bcast(l->modules, (int)l->num * ami.size, MPI_UINT32_T, 0,
			   ami.world);
	} else if (have) {
		l->num = ANG_PLACE_LEVELS;
		have = !ang_place_all(ami.world, l->modules);
	}
	l->known = ami_vote(ami.world, have);
}

void ami_levels_free(void)
{
	free(ami.levels.modules);
	ami.levels.modules = NULL;
}

/* Modules of the members, by rank.  Return: NULL: no memory. */
static u32 *comm_modules(const struct ami_comm *c)
{
	const struct ami_levels *l = &ami.levels;
	u32 *modules = calloc((size_t)c->size * l->num, sizeof(*modules));
	MPI_Group group;
	int i, world;

	if (!modules)
		return NULL;
	PMPI_Comm_group(c->comm, &group);
	for (i = 0; i < c->size; i++) {
		PMPI_Group_translate_ranks(group, 1, &i, ami.group, &world);
		memcpy(modules + (size_t)i * l->num,
		       l->modules + (size_t)world * l->num,
		       l->num * sizeof(*modules));
	}
	PMPI_Group_free(&group);
	return modules;
}

/*
 * Computes the numbers at rank 0, and broadcasts them. Return: true if every
 * member has them.
 */
static bool numbers_make(struct ami_comm *c, struct ami_team *t, u32 which)
{
	u32 n = (u32)c->size, *numbers = calloc(n + 1, sizeof(*numbers)), *modules;
	bool made = false;

	/* Rank 0 sets the first element to 1 if it has computed the numbers. */
	if (!ami_vote(c->comm, numbers)) {
		free(numbers);
		return false;
	}
	modules = c->rank ? NULL : comm_modules(c);
	if (modules)
		numbers[0] = !angara_numbers(plain_algos[which], n, modules,
					     ami.levels.num, numbers + 1);
	free(modules);
	PMPI_Bcast(numbers, (int)n + 1, MPI_UINT32_T, 0, c->comm);
	if (numbers[0]) {
		ami_lock(t->dev);
		made = !angara_team_numbers(t->team, plain_algos[which], numbers + 1);
		ami_unlock(t->dev);
	}
	free(numbers);
	return ami_vote(c->comm, made);
}

/**
 * ami_numbers_make() - compute the numbers of a communicator that settings need
 * @c: communicator; all members call
 * @t: its team, which was just created
 */
void ami_numbers_make(struct ami_comm *c, struct ami_team *t)
{
	u64 start = ami_now_ns();
	u32 i;

	if (!ami.levels.known)
		return;
	for (i = 0; i < AMI_NUMBERED; i++)
		if (ami.levels.wanted[i] && (!i || !(c->size & (c->size - 1))))
			t->numbered[i] = numbers_make(c, t, i);
	if (c->rank || !(t->numbered[0] || t->numbered[1]))
		return;
	ang_fetch_add(&ami.numbered.calls, 1);
	ang_fetch_add(&ami.numbered.ns, ami_now_ns() - start);
}
