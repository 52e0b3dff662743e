// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: a system as a tree of levels.
 *
 * Cores of a module have consecutive numbers.  Two cores communicate through
 * the lowest module that contains both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* COUNT:LATENCY:RATE[:LINKS] */
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

/* A file has a level on each line; # begins a comment. */
static char *file_text(const char *path)
{
	size_t size = 1, room = 0, n;
	FILE *f = fopen(path, "re");
	char *text = need_memory(size, 1), *line = NULL;

	if (!f)
		exit(misuse("--levels: %s: %s", path, strerror(errno)));
	while (getline(&line, &room, f) > 0) {
		line[strcspn(line, "# \t\n")] = '\0';
		n = strlen(line);
		if (!n)
			continue;
		text = realloc(text, size + n + 1);
		if (!text)
			exit(fail("no memory"));
		sprintf(text + size - 1, "%s%s", size > 1 ? "," : "", line);
		size += n + (size > 1);
	}
	free(line);
	fclose(f);
	return text;
}

/* Cores of a module below level @l. */
static u32 below(const struct levels *s, u32 l)
{
	u32 cores = 1;

	while (++l < s->num)
		cores *= s->level[l].count;
	return cores;
}

u32 part_of(const struct levels *s, u32 core, u32 l)
{
	return core / below(s, l);
}

/** level_of() - find the level through which two cores communicate */
u32 level_of(const struct levels *s, u32 p, u32 q)
{
	u32 l = 0;

	while (l + 1 < s->num && part_of(s, p, l) == part_of(s, q, l))
		l++;
	return l;
}

/* Cores of each rank, as a list. */
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
			exit(misuse("--place: '%s': not block, cyclic, or each core once", part));
		used[core] = true;
		s->core[rank++] = (u32)core;
	}
	if (rank < s->ranks)
		exit(misuse("--place: %u cores for %u ranks", rank, s->ranks));
	free(used);
	free(text);
}

/**
 * need_levels() - read a system, all of whose cores have a rank
 * @s: out
 * @text: levels separated by commas, or file:PATH
 * @place: block, cyclic (around the modules of the top level), or the core of
 *	each rank
 */
void need_levels(struct levels *s, const char *text, const char *place)
{
	char *copy = strncmp(text, "file:", 5) ? strdup(text) : file_text(text + 5);
	char *rest = copy, *part;
	u64 cores = 1;
	u32 i;

	*s = (struct levels){ 0 };
	while ((part = strsep(&rest, ","))) {
		if (s->num == LEVELS_MOST)
			exit(misuse("--levels: more than %u", LEVELS_MOST));
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

		s->core[i] = strcmp(place, "cyclic") ? i : i % top * each + i / top;
	}
	if (strcmp(place, "cyclic") && strcmp(place, "block"))
		need_list(s, place);
}

void levels_free(struct levels *s)
{
	free(s->core);
}
