// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: words of the command line, parsed. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

/* Partition 0 does not exist. */
#define PKEY_FIRST	1

char *args_next(struct args *args)
{
	if (!args->count)
		return NULL;
	args->count--;
	return *args->words++;
}

int args_end(struct args *args)
{
	if (args->count)
		return misuse("\"%s\": unexpected argument", args->words[0]);
	return DONE;
}

int args_value(struct args *args, const char *keyword, char **value)
{
	*value = args_next(args);
	if (!*value)
		return misuse("\"%s\" needs a value", keyword);
	return DONE;
}

/* Writes "a, b, c" for an error message. */
static const char *join(const char *const *names, size_t count, char *buf,
			size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
			       names[i]);
	return buf;
}

/* Returns the index of the name that @word is or abbreviates, otherwise -1. */
int match_word(const char *word, const char *const *names, size_t count,
	       const char *what)
{
	const char *fits[16];
	char buf[256];
	size_t n = 0;
	int found = -1;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(word, names[i]))
			return i;
		if (*word && !strncmp(word, names[i], strlen(word))) {
			fits[n++] = names[i];
			found = i;
		}
	}
	if (n == 1)
		return found;
	if (n)
		misuse("\"%s\" is ambiguous: %s", word,
		       join(fits, n, buf, sizeof(buf)));
	else
		misuse("\"%s\": no such %s; there are: %s", word, what,
		       join(names, count, buf, sizeof(buf)));
	return -1;
}

int args_pair(struct args *args, const char *const *words, size_t count, int *which,
	      char **value)
{
	char *word = args_next(args);

	*which = -1;
	if (!word)
		return DONE;
	*which = match_word(word, words, count, "argument");
	return *which < 0 ? MISUSED : args_value(args, words[*which], value);
}

/*
 * Reads a number.  Base 0: decimal, or hexadecimal after 0x; a leading 0 is not
 * octal.
 */
static bool read_number(const char *text, int base, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	if (!base)
		base = text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10;
	errno = 0;
	*value = strtoull(text, &end, base);
	return !errno && !*end;
}

int parse_number(const char *text, uint64_t low, uint64_t high,
		 const char *what, uint64_t *value)
{
	if (!read_number(text, 0, value) || *value < low || *value > high)
		return misuse("\"%s\": %s is a number from %llu to %llu", text,
			      what, (unsigned long long)low,
			      (unsigned long long)high);
	return DONE;
}

int parse_dev(const char *text, uint32_t *dev)
{
	const char *number = text;
	uint64_t value;

	if (!strncmp(number, "/dev/", 5))
		number += 5;
	if (!strncmp(number, "angara", 6))
		number += 6;
	if (!read_number(number, 10, &value) || value >= NO_DEV)
		return misuse("\"%s\": a device is angaraN or N", text);
	*dev = value;
	return DONE;
}

int parse_tree(const char *text, uint8_t *tree)
{
	uint64_t value = 0;
	int status = parse_number(text, 0, ANGARA_MAX_TREES - 1, "a tree",
				  &value);

	if (!status)
		*tree = value;
	return status;
}

int parse_fabric(const char *text, uint64_t *fabric)
{
	if (!read_number(text, 0, fabric))
		return misuse("\"%s\": a fabric is a number as \"dev list\" shows it, 0x...",
			      text);
	return DONE;
}

int parse_pkey(const char *text, uint32_t *pkey)
{
	uint64_t value;

	if (!strncmp(text, "uid:", 4)) {
		if (!read_number(text + 4, 10, &value) ||
		    value > ANGARA_PKEY_UID_MAX)
			return misuse("\"%s\": a user is uid:N, N from 0 to %u",
				      text, ANGARA_PKEY_UID_MAX);
		*pkey = ANGARA_PKEY_UID((uint32_t)value);
		return DONE;
	}
	if (!read_number(text, 0, &value) || value < PKEY_FIRST ||
	    value > UINT32_MAX)
		return misuse("\"%s\": a partition is uid:N, or a number from %d to 0x%x",
			      text, PKEY_FIRST, UINT32_MAX);
	*pkey = value;
	return DONE;
}

/* Reads numbers joined by commas.  Returns their count; 0: not such a list. */
static uint32_t read_digits(const char *text, uint16_t digits[FABRIC_DIGITS])
{
	const char *at = text;
	uint32_t n = 0;
	char *end;

	for (;; at = end + 1) {
		unsigned long value = strtoul(at, &end, 10);

		if (*at < '0' || *at > '9' || value > UINT16_MAX || n == FABRIC_DIGITS)
			return 0;
		digits[n++] = value;
		if (*end != ',')
			return *end ? 0 : n;
	}
}

static int parse_coord(const char *text, const struct fabric *fabric, uint32_t *node)
{
	uint16_t want[FABRIC_DIGITS], has[FABRIC_DIGITS];
	uint32_t n = read_digits(text, want), dims = 0;

	for (*node = 0; *node < fabric->nodes; ++*node) {
		dims = fabric_digits(fabric, *node, has);
		if (n == dims && !memcmp(want, has, n * sizeof(want[0])))
			return DONE;
	}
	return misuse("\"%s\": coordinates are %u numbers joined by commas, each below the size of its dimension",
		      text, dims);
}

/* Reads a node: its number or, in more than one dimension, its coordinates. */
int parse_node(const char *text, const struct fabric *fabric, uint32_t *node)
{
	uint64_t value = 0;
	int status;

	if (strchr(text, ','))
		return parse_coord(text, fabric, node);
	status = parse_number(text, 0, fabric->nodes - 1, "a node", &value);
	if (!status)
		*node = value;
	return status;
}

/* Sets @of[node] to @pe for each node of a list such as "0-3,6" or "all". */
int parse_nodes(const char *list, uint32_t nodes, uint16_t pe, uint16_t *of)
{
	unsigned long long low, high;
	const char *at = list;
	char *end;

	if (!strcmp(list, "all")) {
		for (uint32_t n = 0; n < nodes; n++)
			of[n] = pe;
		return DONE;
	}
	do {
		if (*at < '0' || *at > '9')
			goto wrong;
		low = strtoull(at, &end, 10);
		high = low;
		if (*end == '-') {
			at = end + 1;
			if (*at < '0' || *at > '9')
				goto wrong;
			high = strtoull(at, &end, 10);
		}
		if (low > high || high >= nodes)
			goto wrong;
		for (uint64_t n = low; n <= high; n++)
			of[n] = pe;
		at = end + 1;
	} while (*end == ',');
	if (!*end)
		return DONE;
wrong:
	return misuse("\"%s\": nodes are \"all\" or a list like 0-3,6 of numbers from 0 to %u",
		      list, nodes - 1);
}

/* Reads the argument of "dev" or "fabric", which limits a dump. */
int args_about(struct args *args, const char *word, struct about *about)
{
	char *value;
	int status = args_value(args, word, &value);

	if (status)
		return status;
	if (!strcmp(word, "dev")) {
		about->has_dev = true;
		return parse_dev(value, &about->dev);
	}
	about->has_fabric = true;
	return parse_fabric(value, &about->fabric);
}

/* Reads "dev DEV" and "fabric ID". */
int args_filter(struct args *args, struct about *about)
{
	static const char *const words[] = { "dev", "fabric" };
	int status = DONE;
	char *word;

	while (!status && (word = args_next(args))) {
		int i = match_word(word, words, ARRAY_SIZE(words), "argument");

		if (i < 0)
			return MISUSED;
		status = args_about(args, words[i], about);
	}
	return status;
}
