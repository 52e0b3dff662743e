// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line; see args.h.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "args.h"
#include "complain.h"
#include "options.h"

#define MAX_OPTS	64	/* most options of a command, including those of all commands */
#define FIRST_PARAM	(OPTS_LONG + MAX_OPTS)

static struct given {
	const struct sim_opt *opt;
	const char *text;
	uint64_t number;
} given[MAX_OPTS];
static unsigned int ngiven;
static uint64_t params_given;	/* parameters that the command line sets, a bit for each */

/**
 * struct reading - a command line being read
 * @param: numbers of the parameters that the command line sets, in order
 * @text: values of these parameters
 * @n: number of these parameters
 */
struct reading {
	unsigned int *param;
	const char **text;
	unsigned int n;
};

void bad_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	exit(SIM_USAGE);
}

/* Return: greatest value of an option for which the table gives none. */
static uint64_t most_of(unsigned int type)
{
	if (type == SIM_T_TIME)
		return SIM_TIME_MOST;
	return type == SIM_T_BYTES ? SIM_BYTES_MOST : UINT64_MAX;
}

static void value_set(struct given *g, const char *text)
{
	const struct sim_opt *o = g->opt;
	char why[128];

	g->text = text;
	if (!text || o->type >= SIM_T_TEXT)
		return;
	if (sim_value(o->type, text, o->min, o->max ? o->max : most_of(o->type),
		      &g->number, why, sizeof(why)))
		bad_usage("--%s '%s': %s", o->name, text, why);
}

static void defaults(const struct sim_opt *opts)
{
	for (; opts->name; opts++) {
		if (ngiven == MAX_OPTS)
			abort();
		given[ngiven].opt = opts;
		value_set(&given[ngiven++], opts->value);
	}
}

static struct given *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ngiven; i++)
		if (!strcmp(given[i].opt->name, name))
			return &given[i];
	return NULL;
}

/* Return: completion words of a value, made from its choices, or NULL. */
static char *words_of(const char *choices)
{
	char *words = choices ? need_memory(strlen(choices) + 1, 1) : NULL, *at;

	if (!words)
		return NULL;
	strcpy(words, choices);
	for (at = words; (at = strchr(at, '|')); )
		*at = ' ';
	return words;
}

/* Add an option to a table for tools/common, unless it has the name already. */
static void table_add(struct opt *table, unsigned int *n, struct opt new)
{
	unsigned int i;

	for (i = 0; i < *n; i++)
		if (!strcmp(table[i].name, new.name))
			return;
	table[(*n)++] = new;
}

static void table_opts(struct opt *table, unsigned int *n, int id,
		       const struct sim_opt *opts)
{
	for (; opts->name; opts++)
		table_add(table, n, (struct opt){
			id++, opts->name, opts->type == SIM_T_FLAG ? NULL : "VALUE",
			opts->help, opts->type == SIM_T_FILE ? "@file" : NULL });
}

static void table_params(struct opt *table, unsigned int *n)
{
	const struct sim_param *p;

	table_add(table, n, (struct opt){ 'j', "json", NULL, "", NULL });
	for (p = sim_params; p->name; p++)
		table_add(table, n, (struct opt){
			FIRST_PARAM + (int)(p - sim_params), p->name, "VALUE",
			sim_param_help(p), words_of(p->choices) });
}

static int take(void *to, int id, const char *value)
{
	struct reading *r = to;

	if (id >= FIRST_PARAM) {
		r->param[r->n] = (unsigned int)(id - FIRST_PARAM);
		r->text[r->n++] = value;
	} else if (id == 'h') {
		value_set(find("help"), "yes");
	} else if (id == 'j') {
		value_set(find("format"), "json");
	} else {
		value_set(&given[id - OPTS_LONG], value ? value : "yes");
	}
	return -1;
}

/*
 * Set the parameters: first those of a configuration file, even if --config
 * comes last.
 */
static void params_set(const struct reading *r, struct sim_cfg *cfg)
{
	const char *path = arg_text("config");
	unsigned int i;
	char err[512];

	if (path && sim_cfg_file(cfg, path, err, sizeof(err)))
		bad_usage("%s", err);
	for (i = 0; i < r->n; i++)
		params_given |= 1ULL << r->param[i];
	for (i = 0; i < r->n; i++)
		if (sim_cfg_set(cfg, sim_params[r->param[i]].name, r->text[i], err,
				sizeof(err)))
			bad_usage("--%s", err);
	if (sim_cfg_check(cfg, err, sizeof(err)))
		bad_usage("%s", err);
}

int args_read(int argc, char **argv, struct sim_cfg *cfg,
	      const struct sim_opt *opts, const struct sim_opt *common)
{
	struct opt table[OPTS_MOST + 1] = { 0 };
	struct opts_command c = { .version = ANG_RELEASE, .opts = table, .take = take };
	struct reading r = {
		.param = need_memory((size_t)argc + 1, sizeof(*r.param)),
		.text = need_memory((size_t)argc + 1, sizeof(*r.text)),
	};
	unsigned int n = 0;
	int status;

	ngiven = 0;
	defaults(opts);
	table_opts(table, &n, OPTS_LONG, opts);
	table_opts(table, &n, OPTS_LONG + (int)ngiven, common);
	defaults(common);
	table_params(table, &n);
	status = opts_read(&c, &r, argc, argv);
	if (status < 0 && optind < argc)
		bad_usage("unexpected argument '%s'", argv[optind]);
	if (status < 0 && !arg_text("help"))
		params_set(&r, cfg);
	free(r.param);
	free(r.text);
	return status;
}

int args_first(int argc, char **argv, const char *what, const struct opts_word *words,
	       const struct sim_opt *const *opts)
{
	struct opt table[OPTS_MOST + 1] = { 0 };
	struct opts_command c = {
		.version = ANG_RELEASE, .usage = " COMMAND [OPTION]...", .what = what,
		.opts = table, .words = words, .stop = true, .take = take,
	};
	unsigned int n = 0;

	/* Completion needs the options of all commands. */
	if (argc > 1 && !strcmp(argv[1], "--bash-completion")) {
		for (; *opts; opts++)
			table_opts(table, &n, OPTS_LONG, *opts);
		table_params(table, &n);
	}
	return opts_read(&c, NULL, argc, argv);
}

static struct given *known(const char *name)
{
	struct given *g = find(name);

	if (!g)
		abort();	/* the command's table of options lacks @name */
	return g;
}

const char *arg_text(const char *name)
{
	return known(name)->text;
}

uint64_t arg_number(const char *name)
{
	return known(name)->number;
}

const char *args_unused(const char *const *used)
{
	uint64_t set;
	unsigned int i;

	for (set = params_given; set; set &= set - 1) {
		const char *name = sim_params[__builtin_ctzll(set)].name;

		for (i = 0; used[i] && strcmp(used[i], name); i++)
			;
		if (!used[i])
			return name;
	}
	return NULL;
}

/* Checksum of a file's bytes: FNV-1a. */
static uint64_t sum_of(const char *option, const char *path)
{
	uint64_t sum = 0xCBF29CE484222325ULL;
	FILE *f = fopen(path, "re");
	struct stat st;
	int c;

	if (!f || fstat(fileno(f), &st) || !S_ISREG(st.st_mode))
		bad_usage("--%s %s: has to be a regular file, as the run has a checkpoint",
			  option, path);
	while ((c = getc(f)) != EOF)
		sum = (sum ^ (uint64_t)c) * 0x100000001B3ULL;
	fclose(f);
	return sum;
}

static void what_opt(FILE *f, const struct sim_opt *opt)
{
	const char *text = arg_text(opt->name);

	fprintf(f, "%s = %s\n", opt->name, text ? text : "");
	if (text && opt->type == SIM_T_FILE)
		fprintf(f, "sum = %llx\n",
			(unsigned long long)sum_of(opt->name, text));
}

char *args_what(const char *cmd, const struct sim_opt *opts,
		const struct sim_opt *routes, const struct sim_opt *faults,
		const struct sim_cfg *cfg)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		exit(SIM_FAILED);
	fprintf(f, "%s\n", cmd);
	for (; opts->name; opts++)
		what_opt(f, opts);
	what_opt(f, routes);
	what_opt(f, faults);
	sim_cfg_print(cfg, f);
	fclose(f);
	return text;
}

char *arg_list(char **rest)
{
	char *item = *rest;

	if (!item)
		return NULL;
	*rest = strchr(item, ',');
	if (*rest)
		*(*rest)++ = 0;
	return item;
}
