// SPDX-License-Identifier: GPL-2.0-only
/* Tables for people, JSON for programs; see rows.h. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "colour.h"
#include "rows.h"

#define CELL	512
#define FORM	(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | \
		 JSON_C_TO_STRING_NOSLASHESCAPE)

void add_text(json_object *row, const char *key, const char *format, ...)
{
	char text[CELL];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	json_object_object_add(row, key, json_object_new_string(text));
}

void add_number(json_object *row, const char *key, uint64_t value)
{
	json_object_object_add(row, key, json_object_new_int64((int64_t)value));
}

void add_real(json_object *row, const char *key, double value)
{
	char text[DBL_MAX_10_EXP + 8];

	/* JSON has no infinity; tables show "-". */
	if (!isfinite(value)) {
		json_object_object_add(row, key, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%.3f", value);
	json_object_object_add(row, key, json_object_new_double_s(value, text));
}

static const char *cell_text(json_object *value)
{
	return value ? json_object_get_string(value) : "-";
}

static void print_row(json_object *row, json_object *head, const size_t *width,
		      bool markdown)
{
	size_t count = (size_t)json_object_object_length(head);
	size_t n = 0;

	json_object_object_foreach(head, key, first) {
		json_object *value = row ? json_object_object_get(row, key) : NULL;
		const char *text = row ? cell_text(value) : key;
		bool left = json_object_is_type(first, json_type_string);

		if (markdown)
			printf("| %s ", text);
		else if (left)
			printf("%s%-*s", n ? "  " : "", n + 1 < count ? (int)width[n] : 0,
			       text);
		else
			printf("%s%*s", n ? "  " : "", (int)width[n], text);
		n++;
	}
	puts(markdown ? "|" : "");
}

static void print_table(json_object *rows, bool markdown)
{
	json_object *head = json_object_array_get_idx(rows, 0);
	size_t width[32] = { 0 };
	size_t i, n;

	if (!head)
		return;
	n = 0;
	json_object_object_foreach(head, key, first) {
		(void)first;
		width[n] = strlen(key);
		for (i = 0; i < json_object_array_length(rows); i++) {
			json_object *row = json_object_array_get_idx(rows, i);
			size_t len = strlen(cell_text(json_object_object_get(row, key)));

			if (len > width[n])
				width[n] = len;
		}
		n++;
	}
	if (!markdown)
		colour_set(stdout, COLOUR_HEAD);
	print_row(NULL, head, width, markdown);
	if (!markdown)
		colour_set(stdout, COLOUR_NONE);
	for (i = 0; markdown && i < n; i++)
		printf("|---");
	if (markdown)
		puts("|");
	for (i = 0; i < json_object_array_length(rows); i++)
		print_row(json_object_array_get_idx(rows, i), head, width, markdown);
}

void rows_print(json_object *rows, bool json, bool markdown)
{
	if (json)
		puts(json_object_to_json_string_ext(rows, FORM));
	else
		print_table(rows, markdown);
	json_object_put(rows);
}
