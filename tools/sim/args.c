// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line; see args.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"

#define MAX_OPTS	64

static struct given {
	const struct sim_opt *opt;
	const char *text;
	uint64_t number;
} given[MAX_OPTS];
static unsigned int ngiven;

void bad_usage(const char *fmt, ...)
{
	va_list ap;

	fputs("angara-sim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(SIM_USAGE);
}

static void value_set(struct given *g, const char *text)
{
	const char *right;

	g->text = text;
	if (!text || g->opt->type >= SIM_T_TEXT)
		return;
	right = sim_parse(g->opt->type, text, &g->number);
	if (right)
		bad_usage("--%s '%s': not %s", g->opt->name, text, right);
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

static struct given *find(const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < ngiven; i++)
		if (strlen(given[i].opt->name) == len &&
		    !strncmp(given[i].opt->name, name, len))
			return &given[i];
	return NULL;
}

static bool is_param(const char *name, size_t len)
{
	const struct sim_param *p;

	for (p = sim_params; p->name; p++)
		if (strlen(p->name) == len && !strncmp(p->name, name, len))
			return true;
	return false;
}

static void set_param(struct sim_cfg *cfg, const char *arg, size_t len,
		      const char *value)
{
	char name[32], err[256];

	snprintf(name, sizeof(name), "%.*s", (int)len, arg);
	if (sim_cfg_set(cfg, name, value, err, sizeof(err)))
		bad_usage("--%s", err);
}

/* The configuration file is read first, whatever the order of arguments. */
static void read_config(int argc, char **argv, struct sim_cfg *cfg)
{
	const char *path = NULL;
	char err[512];
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "--config=", 9))
			path = argv[i] + 9;
		else if (!strcmp(argv[i], "--config") && i + 1 < argc)
			path = argv[i + 1];
	}
	if (path && sim_cfg_file(cfg, path, err, sizeof(err)))
		bad_usage("%s", err);
}

void args_read(int argc, char **argv, struct sim_cfg *cfg,
	       const struct sim_opt *opts, const struct sim_opt *common)
{
	char err[256];
	int i;

	ngiven = 0;
	defaults(opts);
	defaults(common);
	read_config(argc, argv, cfg);
	for (i = 0; i < argc; i++) {
		const char *name = argv[i] + 2, *value;
		struct given *g;
		size_t len;

		if (strncmp(argv[i], "--", 2))
			bad_usage("unexpected argument '%s'", argv[i]);
		len = strcspn(name, "=");
		value = name[len] ? name + len + 1 : NULL;
		g = find(name, len);
		if (!g && !is_param(name, len))
			bad_usage("unknown option '--%.*s'; try --help",
				  (int)len, name);
		if (g && g->opt->type == SIM_T_FLAG) {
			g->text = "yes";
			continue;
		}
		if (!value && i + 1 < argc)
			value = argv[++i];
		if (!value)
			bad_usage("option '--%s' needs an argument", name);
		if (g)
			value_set(g, value);
		else
			set_param(cfg, name, len, value);
	}
	if (sim_cfg_check(cfg, err, sizeof(err)))
		bad_usage("%s", err);
}

static struct given *known(const char *name)
{
	struct given *g = find(name, strlen(name));

	if (!g)
		abort();	/* the command's table lacks it */
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

char *args_what(const char *cmd, const struct sim_opt *opts,
		const struct sim_cfg *cfg)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		exit(SIM_FAILED);
	fprintf(f, "%s\n", cmd);
	for (; opts->name; opts++)
		fprintf(f, "%s = %s\n", opts->name,
			arg_text(opts->name) ? arg_text(opts->name) : "");
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
