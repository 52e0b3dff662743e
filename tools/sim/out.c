// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output: a table for people, CSV or JSON for programs.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "args.h"

#define MAX_COLUMNS	24

struct out {
	const char *title;
	char *names;
	char *column[MAX_COLUMNS];
	unsigned int columns;
	char **cell;
	unsigned int cells;
};

struct out *out_new(const char *title, const char *columns)
{
	struct out *o = calloc(1, sizeof(*o));
	char *rest;

	if (!o)
		exit(SIM_FAILED);
	o->title = title;
	o->names = strdup(columns);
	rest = o->names;
	while (rest && o->columns < MAX_COLUMNS)
		o->column[o->columns++] = arg_list(&rest);
	return o;
}

void out_cell(struct out *o, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	o->cell = realloc(o->cell, (o->cells + 1) * sizeof(*o->cell));
	if (!o->cell)
		exit(SIM_FAILED);
	o->cell[o->cells++] = strdup(text);
}

static bool is_number(const char *text)
{
	char *end;

	if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
		return false;
	strtod(text, &end);
	return !*end;
}

static void print_table(const struct out *o, FILE *to)
{
	int width[MAX_COLUMNS];
	unsigned int i;

	for (i = 0; i < o->columns; i++)
		width[i] = (int)strlen(o->column[i]);
	for (i = 0; i < o->cells; i++) {
		int len = (int)strlen(o->cell[i]);

		if (len > width[i % o->columns])
			width[i % o->columns] = len;
	}
	fprintf(to, "%s\n", o->title);
	for (i = 0; i < o->columns; i++)
		fprintf(to, "%*s%s", width[i], o->column[i],
			i + 1 < o->columns ? "  " : "\n");
	for (i = 0; i < o->cells; i++)
		fprintf(to, "%*s%s", width[i % o->columns], o->cell[i],
			(i + 1) % o->columns ? "  " : "\n");
}

/* A cell with a comma or a quote is quoted. */
static void csv_cell(const char *text, FILE *to)
{
	bool quoted = strpbrk(text, ",\"");

	if (quoted)
		fputc('"', to);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', to);
		fputc(*text, to);
	}
	if (quoted)
		fputc('"', to);
}

static void json_text(const char *text, FILE *to)
{
	fputc('"', to);
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20) {
			fprintf(to, "\\u%04x", *text);
			continue;
		}
		if (*text == '"' || *text == '\\')
			fputc('\\', to);
		fputc(*text, to);
	}
	fputc('"', to);
}

static void print_csv(const struct out *o, FILE *to)
{
	unsigned int i;

	for (i = 0; i < o->columns; i++)
		fprintf(to, "%s%s", o->column[i],
			i + 1 < o->columns ? "," : "\n");
	for (i = 0; i < o->cells; i++) {
		csv_cell(o->cell[i], to);
		fputc((i + 1) % o->columns ? ',' : '\n', to);
	}
}

static void print_json(const struct out *o, FILE *to)
{
	unsigned int i;

	fprintf(to, "[");
	for (i = 0; i < o->cells; i++) {
		bool first = i % o->columns == 0;

		fprintf(to, "%s\"%s\":", first ? (i ? ",\n{" : "\n{") : ",",
			o->column[i % o->columns]);
		if (is_number(o->cell[i]))
			fputs(o->cell[i], to);
		else
			json_text(o->cell[i], to);
		if ((i + 1) % o->columns == 0)
			fputc('}', to);
	}
	fprintf(to, "\n]\n");
}

FILE *out_open(void)
{
	const char *path = arg_text("output");
	FILE *to = path ? fopen(path, "we") : stdout;

	if (!to)
		bad_usage("--output %s: %s", path, strerror(errno));
	return to;
}

void out_close(FILE *to)
{
	const char *path = arg_text("output");

	if (!fflush(to) && (!path || !fclose(to)))
		return;
	fprintf(stderr, "angara-sim: %s: %s\n", path ? path : "output", strerror(errno));
	exit(SIM_FAILED);
}

void out_end(struct out *o)
{
	const char *format = arg_text("format");
	FILE *to = out_open();
	unsigned int i;

	if (!strcmp(format, "csv"))
		print_csv(o, to);
	else if (!strcmp(format, "json"))
		print_json(o, to);
	else
		print_table(o, to);
	out_close(to);
	for (i = 0; i < o->cells; i++)
		free(o->cell[i]);
	free(o->cell);
	free(o->names);
	free(o);
}
