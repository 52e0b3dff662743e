// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of the fastest methods, as measured by angara-mpi-tune: a text file
 * of lines
 *
 *	COLLECTIVE MEMBERS BYTES WAY [MICROSECONDS]
 *
 * A line applies to messages of at most BYTES bytes; the last line of a
 * collective and number of members also applies to all longer messages.  Empty
 * lines, and lines that begin with #, are comments.  Lines are kept sorted, so
 * that a call finds its line by a binary search.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define WORDS		5U	/* most words of a line */
#define ENV_TUNE	"ANGARA_MPI_TUNE"
#ifdef OPEN_MPI
#define MPI_NAME	"openmpi"
#else
#define MPI_NAME	"mpich"
#endif

static int coll_parse(const char *word, u32 *coll)
{
	for (*coll = 0; *coll < AMI_CHOSEN; (*coll)++)
		if (!strcmp(word, ami_coll_names[*coll]))
			return 0;
	return -EINVAL;
}

/* Parses a number of digits only, without a sign, up to @most. */
static int number_parse(const char *word, u64 most, u64 *number)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno && *number <= most ?
	       0 : -EINVAL;
}

static bool is_time(const char *word)
{
	char *end;
	double us = strtod(word, &end);

	return *word >= '0' && *word <= '9' && !*end && isfinite(us);
}

/* Return: NULL, or a description of the error in the line. */
static const char *row_parse(char *line, struct ami_row *row)
{
	char *words[WORDS + 1], *rest = line;
	u64 members;
	u32 n = 0;

	while (n <= WORDS && (words[n] = strtok_r(rest, " \t\r\n", &rest)))
		n++;
	if (n < WORDS - 1 || n > WORDS)
		return "expected COLLECTIVE MEMBERS BYTES WAY [MICROSECONDS]";
	if (coll_parse(words[0], &row->coll))
		return "unknown COLLECTIVE";
	if (ami_coll_hidden(row->coll))
		return "COLLECTIVE with lengths unknown to some members: auto cannot choose by BYTES";
	if (number_parse(words[1], INT_MAX, &members) || !members)
		return "MEMBERS is not a number from 1 to 2147483647";
	row->members = (u32)members;
	if (number_parse(words[2], UINT64_MAX, &row->bytes))
		return "BYTES is not a number of at most 64 bits";
	if (ami_way_parse(row->coll, words[3], &row->way, &row->algo) ||
	    row->way == AMI_AUTO)
		return "unknown WAY of this COLLECTIVE";
	if (n == WORDS && !is_time(words[4]))
		return "MICROSECONDS is not a number";
	return NULL;
}

static bool is_comment(const char *line)
{
	line += strspn(line, " \t\n");
	return !*line || *line == '#';
}

/* Number of lines that sort before the given values. */
static u32 rows_before(const struct ami_settings *set, u32 coll, u32 members,
		       u64 bytes)
{
	u32 from = 0, to = set->rows;

	while (from < to) {
		u32 mid = (from + to) / 2;
		const struct ami_row *row = &set->row[mid];

		if (row->coll != coll ? row->coll < coll :
		    row->members != members ? row->members < members :
					      row->bytes < bytes)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/*
 * Inserts a line. Of lines that differ only in their method, the first one in
 * the file applies.
 */
static void row_insert(struct ami_settings *set, const struct ami_row *row)
{
	u32 i = rows_before(set, row->coll, row->members, row->bytes);

	if (i < set->rows && set->row[i].coll == row->coll &&
	    set->row[i].members == row->members && set->row[i].bytes == row->bytes)
		return;
	memmove(&set->row[i + 1], &set->row[i],
		(set->rows++ - i) * sizeof(set->row[0]));
	set->row[i] = *row;
}

static int table_load(struct ami_settings *set, FILE *f, const char *name)
{
	const char *wrong;
	struct ami_row row;
	char line[256];
	u32 num = 0;

	while (fgets(line, sizeof(line), f)) {
		num++;
		if (strlen(line) == sizeof(line) - 1) {
			ami_say("%s:%u: the line is longer than %zu characters", name, num,
				sizeof(line) - 2);
			return -EINVAL;
		}
		if (is_comment(line))
			continue;
		if (set->rows == AMI_MAX_ROWS) {
			ami_say("%s: more than %u lines", name, AMI_MAX_ROWS);
			return -EINVAL;
		}
		wrong = row_parse(line, &row);
		if (wrong) {
			ami_say("%s:%u: %s", name, num, wrong);
			return -EINVAL;
		}
		row_insert(set, &row);
	}
	return 0;
}

/* Gets the file to which angara-mpi-tune writes the table by default. */
static void table_default(char *name, size_t len)
{
	const char *home = getenv("XDG_CONFIG_HOME");
	const char *sub = "";

	if (!home || !*home) {
		home = getenv("HOME");
		sub = "/.config";
	}
	snprintf(name, len, "%s%s/angara/mpi-" MPI_NAME ".tune", home ? home : "",
		 sub);
}

/**
 * ami_table_read() - read the table
 * @set: out
 *
 * Return: 0, also if there is no default file; -EINVAL after a message on
 * standard error.
 */
int ami_table_read(struct ami_settings *set)
{
	const char *given = getenv(ENV_TUNE);
	char name[512];
	FILE *f;
	int ret;

	set->rows = 0;
	if (given && !*given)
		return 0;
	if (given)
		snprintf(name, sizeof(name), "%s", given);
	else
		table_default(name, sizeof(name));
	f = fopen(name, "r");
	if (!f && given) {
		ami_say("invalid " ENV_TUNE " '%s': %s", given, strerror(errno));
		return -EINVAL;
	}
	if (!f)
		return 0;
	ret = table_load(set, f, name);
	fclose(f);
	return ret;
}

static bool is_row(u32 i, u32 coll, u32 members)
{
	return i < ami.set.rows && ami.set.row[i].coll == coll &&
	       ami.set.row[i].members == members;
}

/*
 * Number of members to search for in the table: the greatest number in the
 * table up to @members; if there is none, the smallest number in the table.
 * Return: 0: the table has no line for the function.
 */
static u32 nearest_members(u32 coll, u32 members)
{
	u32 i = rows_before(&ami.set, coll, members + 1, 0);

	if (i && ami.set.row[i - 1].coll == coll)
		return ami.set.row[i - 1].members;
	return i < ami.set.rows && ami.set.row[i].coll == coll ?
	       ami.set.row[i].members : 0;
}

/**
 * ami_table_ways() - find the methods that auto may choose
 * @coll: function
 * @members: number of members of the communicator
 * @wanted: out: per method that needs a team: may auto choose it?
 *
 * If the table has no line for the function, auto may choose a tree, for short
 * messages.
 */
void ami_table_ways(u32 coll, u32 members, bool wanted[AMI_NATIVE])
{
	u32 near = nearest_members(coll, members), i;

	if (!near && coll < AMI_OFFLOADED)
		wanted[AMI_OFFLOAD] = true;
	for (i = rows_before(&ami.set, coll, near, 0); is_row(i, coll, near); i++)
		if (ami.set.row[i].way < AMI_NATIVE)
			wanted[ami.set.row[i].way] = true;
}

/**
 * ami_table_find() - find the line of the table for a message
 * @coll: function
 * @members: number of members of the communicator
 * @bytes: bytes of the message
 *
 * Return: the line; NULL: the table has none for the function.
 */
const struct ami_row *ami_table_find(u32 coll, u32 members, u64 bytes)
{
	u32 near = nearest_members(coll, members), i;

	if (!near)
		return NULL;
	i = rows_before(&ami.set, coll, near, bytes);
	if (!is_row(i, coll, near))
		i = rows_before(&ami.set, coll, near, ami.set.row[i - 1].bytes);
	return &ami.set.row[i];
}
