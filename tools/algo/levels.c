// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: a system as a tree of levels.
 *
 * Two cores communicate through the lowest module that contains both.  Cores of
 * a module have consecutive numbers; with --levels machine a core has the
 * number of its process instead.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/place.h"
#include "tool.h"

#define CORES_MOST	(1U << 22)

static u32 need_count(const char *text, u32 most)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || !value || value > most)
		exit(misuse("--levels: '%s': must be from 1 to %u", text, most));
	return (u32)value;
}

/* Reads a level: COUNT:LATENCY:RATE[:LINKS]. */
static struct level need_level(char *text)
{
	char *count = strsep(&text, ":"), *a = strsep(&text, ":");
	char *b = strsep(&text, ":"), *links = strsep(&text, ":");

	if (!a || !b || text)
		exit(misuse("--levels: '%s': must be COUNT:LATENCY:RATE[:LINKS]", count));
	return (struct level){
		.count = need_count(count, CORES_MOST),
		.a = need_time("--levels: latency", a),
		.b = need_byte_time("--levels: rate", b),
		.links = !links ? 1 : strcmp(links, "any") ? need_count(links, 1U << 16) : 0,
	};
}

/*
 * Return: the levels in a file, joined by commas.  The file has a level on each line; # begins a
 * comment.
 */
static char *file_text(const char *path)
{
	size_t size = 1, room = 0, n;
	FILE *f = fopen(path, "re");
	char *text = need_memory(size, 1), *line = NULL, *at;

	if (!f)
		exit(misuse("--levels: %s: %s", path, strerror(errno)));
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "#\r\n")] = '\0';
		at = line + strspn(line, " \t");
		for (n = strlen(at); n && strchr(" \t", at[n - 1]); n--)
			at[n - 1] = '\0';
		if (!n)
			continue;
		text = realloc(text, size + n + 1);
		if (!text)
			exit(fail("no memory for a list of %zu bytes", size + n + 1));
		sprintf(text + size - 1, "%s%s", size > 1 ? "," : "", at);
		size += n + (size > 1);
	}
	free(line);
	fclose(f);
	return text;
}

/* Return: number of cores in each part that level @l joins. */
static u32 below(const struct levels *s, u32 l)
{
	u32 cores = 1;

	while (++l < s->num)
		cores *= s->level[l].count;
	return cores;
}

u32 part_of(const struct levels *s, u32 core, u32 l)
{
	return s->level[l].part ? s->level[l].part[core] : core / below(s, l);
}

/** level_of() - find the level through which two cores communicate */
u32 level_of(const struct levels *s, u32 p, u32 q)
{
	u32 l = 0;

	while (l + 1 < s->num && part_of(s, p, l) == part_of(s, q, l))
		l++;
	return l;
}

/* Reads the core of each rank from a list. */
static void need_list(struct levels *s, const char *place)
{
	bool *used = need_memory(s->ranks, sizeof(*used));
	char *text = strdup(place), *rest = text, *part;
	u32 rank = 0;

	while ((part = strsep(&rest, ","))) {
		char *end;
		unsigned long core = strtoul(part, &end, 10);

		if (*part < '0' || *part > '9' || *end || core >= s->ranks ||
		    rank == s->ranks || used[core])
			exit(misuse("--place: '%s': must be block, cyclic, or a list that names each core once", part));
		used[core] = true;
		s->core[rank++] = (u32)core;
	}
	if (rank < s->ranks)
		exit(misuse("--place: names %u cores, but there are %u ranks", rank, s->ranks));
	free(used);
	free(text);
}

/**
 * need_levels() - read a system, all of whose cores have a rank
 * @s: out
 * @text: levels separated by commas, or file:PATH
 * @place: block, cyclic (around the modules of the top level), or the core of
 *	each rank; NULL: block
 */
void need_levels(struct levels *s, const char *text, const char *place)
{
	char *copy = strncmp(text, "file:", 5) ? strdup(text) : file_text(text + 5);
	char *rest = copy, *part;
	bool cyclic = place && !strcmp(place, "cyclic");
	u64 cores = 1;
	u32 i;

	*s = (struct levels){ 0 };
	while ((part = strsep(&rest, ","))) {
		if (s->num == LEVELS_MOST)
			exit(misuse("--levels: more than %u levels", LEVELS_MOST));
		s->level[s->num] = need_level(part);
		cores *= s->level[s->num++].count;
		if (cores > CORES_MOST)
			exit(misuse("--levels: more than %u cores", CORES_MOST));
	}
	free(copy);
	s->ranks = (u32)cores;
	s->core = need_memory(cores, sizeof(*s->core));
	for (i = 0; i < s->ranks; i++) {
		u32 top = s->level[0].count, each = s->ranks / top;

		s->core[i] = cyclic ? i % top * each + i / top : i;
	}
	if (place && !cyclic && strcmp(place, "block"))
		need_list(s, place);
}

/* Numbers the modules down to level @l in the order of ranks.  Return: their number. */
static u32 number_modules(u32 *part, u32 ranks, const u32 *places, u32 l)
{
	size_t size = (l + 1) * sizeof(*places);
	u32 parts = 0, i, k;

	for (i = 0; i < ranks; i++) {
		for (k = 0; k < i; k++)
			if (!memcmp(places + k * ANG_PLACE_LEVELS,
				    places + i * ANG_PLACE_LEVELS, size))
				break;
		part[i] = k < i ? part[k] : parts++;
	}
	return parts;
}

/**
 * levels_of_places() - make the tree of levels from the places of processes
 * @s: out: without times, and without levels that divide no part of the level above
 * @ranks: number of processes, 2 or more
 * @places: ANG_PLACE_LEVELS numbers for each process, from the top level
 *
 * Process i has core i.
 */
void levels_of_places(struct levels *s, u32 ranks, const u32 *places)
{
	static const char *const names[ANG_PLACE_LEVELS + 1] = {
		"nodes", "processors", "L3 caches", "processes",
	};
	u32 above = 1, i, l;

	*s = (struct levels){ .ranks = ranks, .fitted = true };
	s->core = need_memory(ranks, sizeof(*s->core));
	for (i = 0; i < ranks; i++)
		s->core[i] = i;
	for (l = 0; l <= ANG_PLACE_LEVELS; l++) {
		struct level *at = &s->level[s->num];

		*at = (struct level){ .name = names[l], .links = 1, .count = ranks };
		at->part = need_memory(ranks, sizeof(*at->part));
		for (i = 0; i < ranks; i++)
			at->part[i] = i;
		if (l < ANG_PLACE_LEVELS)
			at->count = number_modules(at->part, ranks, places, l);
		if (at->count == above)
			free(at->part);
		else
			s->num++;
		above = at->count;
	}
}

void levels_free(struct levels *s)
{
	u32 l;

	for (l = 0; l < s->num; l++)
		free(s->level[l].part);
	free(s->core);
}
