// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Runs scenarios in many schedules; TAP on stdout.
 *
 * explore [--count N] [--first SEED] [FAMILY]...  N schedules of each, or of
 * all
 * explore --show FAMILY SEED      one schedule; prints each point
 * explore --list          names of the families
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "turns.h"

static const struct family *const families[] = { FAMILIES, NULL };

static const struct family *current;
static u64 seed;

static const struct family *find(const char *name)
{
	u32 i;

	for (i = 0; families[i]; i++)
		if (!strcmp(families[i]->name, name))
			return families[i];
	fprintf(stderr, "explore: unknown family '%s'; explore --list lists them\n", name);
	exit(2);
}

static void fault(const char *why)
{
	printf("# %s, seed %llu: %s\n", current->name,
	       (unsigned long long)seed, why);
	printf("# to repeat: explore --show %s %llu\n", current->name,
	       (unsigned long long)seed);
}

/* Called by a signal in a loop without a point: ends the process. */
static void loop(void)
{
	fault("a step of a node does not end");
	printf("not ok - %s\n", current->name);
	fflush(stdout);
	_exit(1);
}

/* Return: 1 if a schedule with a fault was found, else 0. */
static int explore(const struct family *f, u32 number, u64 first, u64 count)
{
	clock_t start = clock();
	const char *why;

	current = f;
	seed = first;
	why = explore_set_up(f);
	while (!why && seed - first < count) {
		why = explore_one(seed);
		seed += !why;
	}
	if (why)
		fault(why);
	printf("%sok %u - %s: %llu interleavings (%s)\n", why ? "not " : "",
	       number, f->name, (unsigned long long)(seed - first), f->what);
	printf("# %s: %.1f s of a processor\n", f->name,
	       (double)(clock() - start) / CLOCKS_PER_SEC);
	fflush(stdout);
	return !!why;
}

static int show(const char *name, u64 which)
{
	const char *why;

	current = find(name);
	seed = which;
	why = explore_set_up(current);
	tracing = true;
	if (!why)
		why = explore_one(seed);
	printf("%sok 1 - %s, seed %llu%s%s\n1..1\n", why ? "not " : "", name,
	       (unsigned long long)seed, why ? ": " : "", why ? why : "");
	return !!why;
}

int main(int argc, char **argv)
{
	u64 count = 1000, first = 1;
	u32 number = 0;
	int bad = 0;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	explore_watch(loop);
	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--count"))
			count = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--first"))
			first = strtoull(argv[i + 1], NULL, 0);
		else
			break;
	}
	if (i < argc && !strcmp(argv[i], "--list")) {
		for (i = 0; families[i]; i++)
			printf("%-16s %s\n", families[i]->name,
			       families[i]->what);
		return 0;
	}
	if (i + 2 < argc && !strcmp(argv[i], "--show"))
		return show(argv[i + 1], strtoull(argv[i + 2], NULL, 0));
	if (i < argc && argv[i][0] == '-') {
		fprintf(stderr, "usage: explore [--count N] [--first SEED] [FAMILY]...\n"
			"       explore --show FAMILY SEED\n"
			"       explore --list\n");
		return 2;
	}
	if (i == argc)
		for (; families[number]; )
			bad |= explore(families[number], number + 1, first, count),
			number++;
	for (; i < argc; i++)
		bad |= explore(find(argv[i]), ++number, first, count);
	printf("1..%u\n", number);
	return bad;
}
