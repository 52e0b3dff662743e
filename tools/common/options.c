// SPDX-License-Identifier: GPL-2.0-only
/* Options of commands; see options.h. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "complain.h"
#include "options.h"

#define MAX_OPTS	(OPTS_MOST + 3)	/* with the options that every command has */
#define COLUMN		20	/* where texts of --help begin */

enum {
	OPTS_HELP = 'h',
	OPTS_VERSION = 'V',
	OPTS_COMPLETION = OPTS_LONG - 1,
};

/* Options of every command. */
static const struct opt common[] = {
	{ OPTS_HELP, "help", NULL, "print this text", NULL },
	{ OPTS_VERSION, "version", NULL, "print the version", NULL },
	{ 0 },
};

static bool has_letter(const struct opt *opt)
{
	return opt->id < OPTS_COMPLETION;
}

static void help_option(const struct opt *opt)
{
	int width = printf("  ");
	const char *text = opt->what, *end;

	if (has_letter(opt))
		width += printf("-%c%s", opt->id, opt->name ? ", " : "");
	if (opt->name)
		width += printf("--%s", opt->name);
	if (opt->value)
		width += printf(" %s", opt->value);
	printf("%*s", width < COLUMN - 1 ? COLUMN - width : 2, "");
	while ((end = strchr(text, '\n'))) {
		printf("%.*s\n%*s", (int)(end - text), text, COLUMN, "");
		text = end + 1;
	}
	puts(text);
}

static void help(const struct opts_command *c)
{
	const struct opt *opt;

	printf("Usage: %s%s\n%s\n\n", tool_name, c->usage, c->what);
	for (opt = c->opts; opt->id; opt++)
		help_option(opt);
	for (opt = common; opt->id; opt++)
		help_option(opt);
}

/* Prints the bash command that completes the current word from @words. */
static void complete_by(const char *words)
{
	if (!words)
		printf(":");
	else if (words[0] == '@')
		printf("COMPREPLY=($(compgen -A %s -- \"$cur\"))",
		       strcmp(words, "@dir") ? words + 1 : "directory");
	else
		printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", words);
}

static void complete_values(const struct opts_command *c)
{
	const struct opt *opt;

	printf("\tcase $prev in\n");
	for (opt = c->opts; opt->id; opt++) {
		if (!opt->value)
			continue;
		printf("\t");
		if (has_letter(opt))
			printf("-%c%s", opt->id, opt->name ? " | " : "");
		if (opt->name)
			printf("--%s", opt->name);
		printf(") ");
		complete_by(opt->words);
		puts("; return ;;");
	}
	for (const struct opts_word *w = c->words; w && w->name; w++) {
		printf("\t%s) [ \"$cur\" = \"${cur#-}\" ] && { ", w->name);
		complete_by(w->words);
		puts("; return; } ;;");
	}
	puts("\tesac");
}

static void complete_names(const struct opt *opt)
{
	for (; opt->id; opt++)
		if (opt->name)
			printf(" --%s", opt->name);
		else
			printf(" -%c", opt->id);
}

/* Prints a script for bash: the command's completion function and its registration. */
static void complete(const struct opts_command *c)
{
	char function[64];

	snprintf(function, sizeof(function), "_%s", tool_name);
	for (char *at = function; (at = strchr(at, '-')); )
		*at = '_';
	printf("# bash completion of %s, made by %s --bash-completion\n"
	       "# shellcheck shell=bash disable=SC2207\n"
	       "%s()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	       "\n\tCOMPREPLY=()\n", tool_name, tool_name, function);
	complete_values(c);
	printf("\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W '");
	complete_names(c->opts);
	complete_names(common);
	printf("' -- \"$cur\")) ;;\n\t*) ");
	if (c->words) {
		printf("COMPREPLY=($(compgen -W '");
		for (const struct opts_word *w = c->words; w->name; w++)
			printf(" %s", w->name);
		printf("' -- \"$cur\"))");
	} else {
		complete_by(c->operands);
	}
	printf(" ;;\n\tesac\n}\ncomplete -F %s %s\n", function, tool_name);
}

/* Fills the tables of getopt_long().  Return: the number of long options. */
static size_t fill(const struct opt *opt, struct option *longs, size_t n,
		   char *letters)
{
	char *at = letters + strlen(letters);

	for (; opt->id && n < MAX_OPTS; opt++) {
		if (opt->name)
			longs[n++] = (struct option) {
				opt->name, opt->value ? required_argument :
							no_argument,
				NULL, opt->id };
		if (!has_letter(opt))
			continue;
		*at++ = (char)opt->id;
		if (opt->value)
			*at++ = ':';
	}
	*at = '\0';
	return n;
}

int opts_number(const char *option, const char *text, uint64_t min, uint64_t max,
		uint64_t *value)
{
	const char *end = opts_digits(text, max, value);

	if (end && !*end && *value >= min)
		return -1;
	return misuse("%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'",
		      option, min, max, text);
}

static int wrong(const struct opts_command *c, int found, char **argv)
{
	const char *word = argv[optind - 1];

	if (c->quiet)
		return MISUSED;
	if (found == ':')
		return misuse("option '%s' wants a value", word);
	if (optopt && !strncmp(word, "--", 2))
		return misuse("option '%s' takes no value", word);
	/*
	 * A letter may be within a word, so name it alone; a long option is the
	 * whole word.
	 */
	if (optopt)
		return misuse("unknown option '-%c'; see %s --help", optopt,
			      tool_name);
	return misuse("unknown option '%s'; see %s --help", word, tool_name);
}

int opts_read(const struct opts_command *c, void *to, int argc, char **argv)
{
	static char dash_n[] = "-n";
	static const struct opt made[] = {
		{ OPTS_COMPLETION, "bash-completion", NULL, NULL, NULL }, { 0 }
	};
	struct option longs[MAX_OPTS + 1] = { 0 };
	char letters[2 * MAX_OPTS + 3];
	size_t n;
	int found, status;

	strcpy(letters, c->stop ? "+:" : ":");
	n = fill(c->opts, longs, 0, letters);
	n = fill(common, longs, n, letters);
	fill(made, longs, n, letters);
	opterr = 0;
	for (;;) {
		/* Launchers of MPI use -np for this option. */
		if (c->stop && optind < argc && !strcmp(argv[optind], "-np"))
			argv[optind] = dash_n;
		found = getopt_long(argc, argv, letters, longs, NULL);
		if (found == -1)
			return -1;
		switch (found) {
		case ':':
		case '?':
			return wrong(c, found, argv);
		case OPTS_HELP:
			if (!c->what)
				break;
			if (!c->quiet)
				help(c);
			return 0;
		case OPTS_VERSION:
			if (!c->quiet)
				printf("%s %s\n", tool_name, c->version);
			return 0;
		case OPTS_COMPLETION:
			if (!c->quiet)
				complete(c);
			return 0;
		}
		status = c->take(to, found, optarg);
		if (status >= 0)
			return status;
	}
}
