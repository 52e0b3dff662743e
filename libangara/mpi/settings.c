// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Settings of the user in the environment; rank 0 reads them for all processes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define ENV_PREFIX	"ANGARA_MPI_"
#define ENV_LONGEST	ENV_PREFIX "LONGEST"
#define ENV_PART	ENV_PREFIX "PART"
#define ENV_PACKET	ENV_PREFIX "ALLREDUCE_PACKET"
#define ENV_DIMS	ENV_PREFIX "ALLREDUCE_DIMS"
#define ENV_STATS	ENV_PREFIX "STATS"
#define ENV_ORDERED	ENV_PREFIX "ORDERED"

/*
 * Bytes up to which auto uses a tree if there is no table.  This is a rule of thumb:
 * the MPI alone can be faster even for short messages.  angara-mpi-tune measures
 * which method is faster.
 */
#define DEFAULT_LONGEST	4096U
#define MOST_PART	(16U << 20)

static void setting_name(enum ami_coll coll, char name[40])
{
	size_t i;

	snprintf(name, 40, ENV_PREFIX "%s", ami_coll_names[coll]);
	for (i = sizeof(ENV_PREFIX) - 1; name[i]; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
}

#define B(coll)		(1U << (coll))
#define SCATTERS	(B(AMI_REDUCE_SCATTER_BLOCK) | B(AMI_REDUCE_SCATTER))

/* Software algorithms, and the functions that support them. */
static const struct {
	const char *word;
	u32 algo;
	u32 colls;
} algos[] = {
	{ "dissemination", ANGARA_ALGO_DISSEMINATION, B(AMI_BARRIER) },
	{ "binomial", ANGARA_ALGO_BINOMIAL,
	  B(AMI_BCAST) | B(AMI_REDUCE) | B(AMI_GATHER) | B(AMI_SCATTER) },
	{ "linear", ANGARA_ALGO_LINEAR,
	  B(AMI_GATHER) | B(AMI_GATHERV) | B(AMI_SCATTER) | B(AMI_SCATTERV) },
	{ "scatter-allgather", ANGARA_ALGO_SCATTER_ALLGATHER, B(AMI_BCAST) },
	{ "doubling", ANGARA_ALGO_RECURSIVE_DOUBLING,
	  B(AMI_ALLREDUCE) | B(AMI_SCAN) | B(AMI_EXSCAN) | B(AMI_ALLGATHER) },
	{ "rabenseifner", ANGARA_ALGO_RABENSEIFNER, B(AMI_ALLREDUCE) },
	{ "ring", ANGARA_ALGO_RING,
	  B(AMI_BCAST) | B(AMI_REDUCE) | B(AMI_ALLREDUCE) | B(AMI_ALLGATHER) |
	  B(AMI_ALLGATHERV) | SCATTERS },
	{ "ring2d", ANGARA_ALGO_RING2D, B(AMI_ALLREDUCE) },
	{ "bruck", ANGARA_ALGO_BRUCK, B(AMI_ALLGATHER) | B(AMI_ALLTOALL) },
	{ "bruck-exch", ANGARA_ALGO_BRUCK_EXCH, B(AMI_ALLGATHER) },
	{ "bruck-reorder", ANGARA_ALGO_BRUCK_REORDER, B(AMI_ALLGATHER) },
	{ "doubling-exch", ANGARA_ALGO_DOUBLING_EXCH, B(AMI_ALLGATHER) },
	{ "doubling-reorder", ANGARA_ALGO_DOUBLING_REORDER, B(AMI_ALLGATHER) },
	{ "pairwise", ANGARA_ALGO_PAIRWISE,
	  B(AMI_ALLTOALL) | B(AMI_ALLTOALLV) | SCATTERS },
};
#define ALGOS		(sizeof(algos) / sizeof(*algos))
static_assert(ALGOS == AMI_ALGOS, "each algorithm has a line in the statistics");

/**
 * ami_way_parse() - find a method by its name
 * @coll: function
 * @word: name
 * @way: out: AMI_*
 * @algo: out: software algorithm, or 0
 *
 * Return: 0; -EINVAL the function has no method of this name.
 */
int ami_way_parse(u32 coll, const char *word, u32 *way, u32 *algo)
{
	size_t i;

	*algo = 0;
	for (*way = 0; *way <= AMI_AUTO; (*way)++)
		if (!strcmp(word, ami_way_names[*way]))
			return *way == AMI_OFFLOAD && coll >= AMI_OFFLOADED ?
			       -EINVAL : 0;
	*way = AMI_SOFTWARE;
	for (i = 0; i < ALGOS; i++)
		if (!strcmp(word, algos[i].word) && algos[i].colls & B(coll)) {
			*algo = algos[i].algo;
			return 0;
		}
	return -EINVAL;
}

/** ami_algo_name() - name of an algorithm in settings; "" for 0 */
const char *ami_algo_name(u32 algo)
{
	size_t i;

	for (i = 0; i < ALGOS; i++)
		if (algos[i].algo == algo)
			return algos[i].word;
	return "";
}

/* Lists the algorithms of a function, by their names in settings. */
static void algo_words(u32 coll, char *words, size_t len)
{
	size_t i;

	words[0] = '\0';
	for (i = 0; i < ALGOS; i++)
		if (algos[i].colls & B(coll)) {
			strncat(words, algos[i].word, len - strlen(words) - 1);
			strncat(words, ", ", len - strlen(words) - 1);
		}
}

static int setting_way(enum ami_coll coll, u32 *way, u32 *algo)
{
	const char *text;
	char name[40], words[160];

	setting_name(coll, name);
	text = getenv(name);
	*way = AMI_AUTO;
	*algo = 0;
	if (!text || !ami_way_parse(coll, text, way, algo))
		return 0;
	algo_words(coll, words, sizeof(words));
	ami_say("invalid %s '%s': expected %ssoftware, %snative or auto", name, text,
		coll < AMI_OFFLOADED ? "offload, " : "", words);
	return -EINVAL;
}

/* Parses a number, in bytes or with a unit.  Return: 0; -EINVAL. */
static int bytes_parse(const char *text, u64 *bytes)
{
	u64 unit = 1;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno)
		return -EINVAL;
	if (!strcmp(end, "KiB"))
		unit = 1U << 10;
	else if (!strcmp(end, "MiB"))
		unit = 1U << 20;
	else if (*end)
		return -EINVAL;
	if (*bytes > UINT64_MAX / unit)
		return -EINVAL;
	*bytes *= unit;
	return 0;
}

/*
 * Reads a number of bytes from @least to @most, a multiple of @step.  @bytes: in: the
 * default; out: the number.
 */
static int setting_bytes(const char *name, u64 least, u64 most, u64 step,
			 const char *expected, u64 *bytes)
{
	const char *text = getenv(name);
	u64 value;

	if (!text)
		return 0;
	if (bytes_parse(text, &value) || value < least || value > most ||
	    value % step) {
		ami_say("invalid %s '%s': expected %s", name, text, expected);
		return -EINVAL;
	}
	*bytes = value;
	return 0;
}

static int setting_lengths(struct ami_settings *set)
{
	u64 part = AMI_LEAST_PART, packet = 0;
	int ret;

	set->longest = DEFAULT_LONGEST;
	ret = setting_bytes(ENV_LONGEST, 0, UINT64_MAX, 1,
			    "a number of bytes, such as 8192 or 8KiB",
			    &set->longest);
	if (!ret)
		ret = setting_bytes(ENV_PART, AMI_LEAST_PART, MOST_PART,
				    AMI_LEAST_PART,
				    "a multiple of 64KiB, up to 16MiB", &part);
	if (!ret)
		ret = setting_bytes(ENV_PACKET, 0, MOST_PART, 1,
				    "bytes up to 16MiB, such as 64KiB, or 0: whole messages",
				    &packet);
	set->part = (u32)part;
	set->packet = (u32)packet;
	return ret;
}

/*
 * Return: 0; -EINVAL: @text is no list of sizes, or their product exceeds the
 * number of processes.
 */
static int dims_parse(const char *text, struct ami_settings *set)
{
	u64 product = 1;

	for (;; text++) {
		unsigned long size;
		char *end;

		errno = 0;
		size = strtoul(text, &end, 10);
		if (!isdigit((unsigned char)*text) || errno || !size ||
		    size > (u64)ami.size / product || set->ndims == AMI_MAX_DIMS)
			return -EINVAL;
		product *= size;
		set->dims[set->ndims++] = (u32)size;
		text = end;
		if (*text != 'x')
			break;
	}
	set->product = (u32)product;
	return *text ? -EINVAL : 0;
}

static int setting_dims(struct ami_settings *set)
{
	const char *text = getenv(ENV_DIMS);

	set->ndims = 0;
	set->product = 0;
	if (!text || !dims_parse(text, set))
		return 0;
	ami_say("invalid " ENV_DIMS " '%s': expected up to %u sizes, such as 4x2, with a product of at most %d, the number of processes",
		text, AMI_MAX_DIMS, ami.size);
	return -EINVAL;
}

static int setting_flag(const char *name, u32 *flag)
{
	const char *text = getenv(name);

	*flag = text && !strcmp(text, "1");
	if (!text || *flag || !strcmp(text, "0"))
		return 0;
	ami_say("invalid %s '%s': expected 0 or 1", name, text);
	return -EINVAL;
}

/**
 * ami_settings_read() - read the settings
 * @set: out
 *
 * Return: 0; -EINVAL: a line has been printed.
 */
int ami_settings_read(struct ami_settings *set)
{
	int ret = setting_lengths(set);
	u32 i;

	if (!ret)
		ret = setting_dims(set);
	if (!ret)
		ret = setting_flag(ENV_STATS, &set->stats);
	if (!ret)
		ret = setting_flag(ENV_ORDERED, &set->ordered);
	for (i = 0; i < AMI_CHOSEN && !ret; i++)
		ret = setting_way(i, &set->way[i], &set->algo[i]);
	return ret ? ret : ami_table_read(set);
}
