// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reader of Matrix Market files.  Files are not trusted: the list grows with
 * the lines that are in the file, not with the count in the header.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "mtx.h"

#define MAX_N	UINT32_MAX

/**
 * struct reader - a file being read
 * @app: process that records messages
 * @path: name of the file
 * @file: the file
 * @text: current line
 * @room: bytes of @text
 * @line: number of the current line
 * @pattern: elements have no value
 * @integer: values are integers
 * @symmetric: only the lower triangle is listed
 * @expected: number of elements in the header
 * @taken: lines of elements so far
 * @list_room: elements that fit into the list
 */
struct reader {
	struct app *app;
	const char *path;
	FILE *file;
	char *text;
	size_t room;
	uint64_t line;
	bool pattern;
	bool integer;
	bool symmetric;
	uint64_t expected;
	uint64_t taken;
	uint64_t list_room;
};

static int bad(struct reader *r, const char *what)
{
	return app_bad_input(r->app, "%s:%llu: %s", r->path,
			     (unsigned long long)r->line, what);
}

/* Read a line.  Return: 1; 0 at the end of the file; -errno and a message. */
static int next_line(struct reader *r)
{
	ssize_t n;

	errno = 0;
	n = getline(&r->text, &r->room, r->file);
	if (n < 0 && (ferror(r->file) || errno))
		return app_bad_input(r->app, "%s: %s", r->path,
				     strerror(errno ? errno : EIO));
	if (n < 0)
		return 0;
	r->line++;
	if (strlen(r->text) != (size_t)n)
		return bad(r, "a zero byte: not a text file");
	return 1;
}

static bool is_blank(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return !*s;
}

/* Read up to the next line that is neither blank nor a comment.  Return: as next_line(). */
static int next_data(struct reader *r)
{
	int got;

	do {
		got = next_line(r);
	} while (got > 0 && (r->text[0] == '%' || is_blank(r->text)));
	return got;
}

static int read_banner(struct reader *r)
{
	char object[16], format[16], field[16], symmetry[16], rest;
	int got = next_line(r);

	if (got < 0)
		return got;
	if (!got || sscanf(r->text, "%%%%MatrixMarket %15s %15s %15s %15s %c",
			   object, format, field, symmetry, &rest) != 4)
		return bad(r, "not '%%MatrixMarket matrix coordinate FIELD "
			   "SYMMETRY'");
	if (strcasecmp(object, "matrix") || strcasecmp(format, "coordinate"))
		return bad(r, "expected 'matrix coordinate': other formats are not supported");
	r->pattern = !strcasecmp(field, "pattern");
	r->integer = !strcasecmp(field, "integer");
	if (!r->pattern && !r->integer && strcasecmp(field, "real"))
		return bad(r, "expected the field 'real', 'integer' or 'pattern'");
	r->symmetric = !strcasecmp(symmetry, "symmetric");
	if (!r->symmetric && strcasecmp(symmetry, "general"))
		return bad(r, "expected the symmetry 'general' or 'symmetric'");
	return 0;
}

/* Read an unsigned decimal, and move @s after it. */
static bool take_number(char **s, uint64_t *n)
{
	while (isspace((unsigned char)**s))
		++*s;
	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	*n = strtoull(*s, s, 10);
	return !errno && (!**s || isspace((unsigned char)**s));
}

static int read_size(struct reader *r, struct mtx *m)
{
	uint64_t columns;
	char *s;
	int got = next_data(r);

	if (got < 0)
		return got;
	s = r->text;
	if (!got || !take_number(&s, &m->n) || !take_number(&s, &columns) ||
	    !take_number(&s, &r->expected) || !is_blank(s))
		return bad(r, "not 'ROWS COLUMNS ELEMENTS'");
	if (m->n != columns)
		return bad(r, "the matrix is not square");
	if (!m->n || m->n > MAX_N)
		return bad(r, "expected a size from 1 to 4294967295");
	return 0;
}

static int add(struct reader *r, struct mtx *m, uint64_t row, uint64_t col,
	       double val)
{
	struct csr_entry *list = m->list;

	if (m->count == r->list_room) {
		r->list_room = r->list_room ? 2 * r->list_room : 1024;
		list = realloc(list, r->list_room * sizeof(*list));
		if (!list)
			return app_fail(r->app, -ENOMEM, "%s: matrix", r->path);
		m->list = list;
	}
	list[m->count++] = (struct csr_entry) {
		.row = (uint32_t)row - 1, .col = (uint32_t)col - 1, .val = val,
	};
	return 0;
}

static int take_value(struct reader *r, char **s, double *val)
{
	char *end;

	*val = 1;
	if (r->pattern)
		return 0;
	errno = 0;
	*val = r->integer ? (double)strtoll(*s, &end, 10) : strtod(*s, &end);
	if (end == *s || (r->integer && errno) ||
	    (*end && !isspace((unsigned char)*end)))
		return bad(r, r->integer ? "the value is not an integer" :
					   "the value is not a number");
	if (!isfinite(*val))
		return bad(r, "the value is not finite");
	*s = end;
	return 0;
}

static int read_element(struct reader *r, struct mtx *m)
{
	uint64_t row, col;
	char *s = r->text;
	double val;
	int err;

	if (r->taken++ == r->expected)
		return bad(r, "more elements than the size line says");
	if (!take_number(&s, &row) || !take_number(&s, &col))
		return bad(r, r->pattern ? "not 'ROW COLUMN'" :
					   "not 'ROW COLUMN VALUE'");
	if (!row || row > m->n || !col || col > m->n)
		return bad(r, "row or column outside of the matrix; they count "
			   "from 1");
	if (r->symmetric && col > row)
		return bad(r, "an element above the diagonal of a symmetric "
			   "matrix");
	err = take_value(r, &s, &val);
	if (err)
		return err;
	if (!is_blank(s))
		return bad(r, "expected the end of the line after the element");
	err = add(r, m, row, col, val);
	if (!err && r->symmetric && row != col)
		err = add(r, m, col, row, val);
	return err;
}

static int read_all(struct reader *r, struct mtx *m)
{
	int got, err = read_banner(r);

	if (!err)
		err = read_size(r, m);
	while (!err && (got = next_data(r)) != 0)
		err = got < 0 ? got : read_element(r, m);
	if (!err && r->taken < r->expected)
		return app_bad_input(r->app, "%s:%llu: the file ends after %llu "
				     "of %llu elements", r->path,
				     (unsigned long long)r->line,
				     (unsigned long long)r->taken,
				     (unsigned long long)r->expected);
	return err;
}

int mtx_read(struct app *app, const char *path, struct mtx *m)
{
	struct reader r = { .app = app, .path = path };
	int err;

	*m = (struct mtx) { };
	r.file = fopen(path, "r");
	if (!r.file)
		return app_bad_input(app, "%s: %s", path, strerror(errno));
	err = read_all(&r, m);
	fclose(r.file);
	free(r.text);
	if (err)
		mtx_free(m);
	return err;
}

void mtx_free(struct mtx *m)
{
	free(m->list);
	m->list = NULL;
	m->count = 0;
}
