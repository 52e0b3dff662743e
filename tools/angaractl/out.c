// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: tables for people, JSON for programs, errors for both. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "angaractl.h"
#include "colour.h"

#define CELL_BYTES	128
#define JSON_FORM	(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | \
			 JSON_C_TO_STRING_NOSLASHESCAPE)

void warn(const char *format, ...)
{
	va_list list;

	fprintf(stderr, "%s: warning: ", tool_name);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

static const char *join_array(struct json_object *array, char *buf, size_t size)
{
	size_t at = 0;

	snprintf(buf, size, "-");
	for (size_t i = 0; i < json_object_array_length(array); i++) {
		struct json_object *e = json_object_array_get_idx(array, i);

		at += snprintf(buf + at, at < size ? size - at : 0, "%s%s",
			       i ? "," : "", json_object_get_string(e));
		if (at >= size)
			break;
	}
	return buf;
}

/* Makes the text of a cell, in @buf or in @record. */
const char *out_value(const struct column *column, struct json_object *record,
		      char *buf, size_t size)
{
	struct json_object *value;

	if (!json_object_object_get_ex(record, column->key, &value))
		return "-";
	if (column->text)
		return column->text(value, buf, size);
	switch (json_object_get_type(value)) {
	case json_type_array:
		return join_array(value, buf, size);
	case json_type_boolean:
		return json_object_get_boolean(value) ? "yes" : "no";
	default:
		return json_object_get_string(value);
	}
}

/* Is the value of a column a number?  Then the column is aligned to the right. */
static bool is_number(const struct column *column, struct json_object *record)
{
	struct json_object *value;

	return json_object_object_get_ex(record, column->key, &value) &&
	       !column->text && (json_object_is_type(value, json_type_int) ||
				 json_object_is_type(value, json_type_double));
}

/*
 * Colour of the state of a link or a tree; NULL if it is neither up nor down.
 */
static const char *colour_of(const struct column *column, const char *text)
{
	if (strcmp(column->key, "state"))
		return NULL;
	return !strcmp(text, "up") ? COLOUR_GOOD :
	       !strcmp(text, "down") ? COLOUR_BAD : NULL;
}

static void print_cell(const char *text, const char *colour, size_t width,
		       bool right, bool last)
{
	if (colour)
		fputs(colour, stdout);
	if (right)
		printf("%*s", (int)width, text);
	else if (last)
		fputs(text, stdout);
	else
		printf("%-*s", (int)width, text);
	if (colour)
		fputs(COLOUR_NONE, stdout);
	fputs(last ? "\n" : "  ", stdout);
}

static void print_table(struct json_object *array, const struct column *columns,
			size_t count)
{
	size_t rows = json_object_array_length(array);
	size_t *width = need_memory(count, sizeof(*width));
	bool *right = need_memory(count, sizeof(*right));
	bool colours = colour_on(stdout);
	char buf[CELL_BYTES];

	for (size_t c = 0; c < count; c++) {
		width[c] = strlen(columns[c].heading);
		for (size_t r = 0; r < rows; r++) {
			struct json_object *record =
				json_object_array_get_idx(array, r);
			size_t len = strlen(out_value(&columns[c], record, buf,
						      sizeof(buf)));

			if (len > width[c])
				width[c] = len;
			right[c] |= is_number(&columns[c], record);
		}
	}
	for (size_t c = 0; c < count; c++)
		print_cell(columns[c].heading, colours ? COLOUR_HEAD : NULL,
			   width[c], right[c], c + 1 == count);
	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < count; c++) {
			const char *text = out_value(&columns[c],
				json_object_array_get_idx(array, r),
				buf, sizeof(buf));

			print_cell(text,
				   colours ? colour_of(&columns[c], text) : NULL,
				   width[c], right[c], c + 1 == count);
		}
	}
	free(width);
	free(right);
}

/* Writes an array of records and drops it. */
void out_records(struct json_object *array, const struct column *columns,
		 size_t count)
{
	if (options.json)
		puts(json_object_to_json_string_ext(array, JSON_FORM));
	else
		print_table(array, columns, count);
	json_object_put(array);
}

/* Writes one record line by line, or as JSON, and drops it. */
void out_details(struct json_object *record, const struct column *columns,
		 size_t count)
{
	char buf[CELL_BYTES];
	size_t width = 0;

	if (options.json) {
		out_json(record);
		return;
	}
	for (size_t c = 0; c < count; c++) {
		if (strlen(columns[c].heading) > width)
			width = strlen(columns[c].heading);
	}
	for (size_t c = 0; c < count; c++)
		printf("%-*s  %s\n", (int)width, columns[c].heading,
		       out_value(&columns[c], record, buf, sizeof(buf)));
	json_object_put(record);
}

void out_json(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_FORM));
	json_object_put(object);
}

/* Writes one object per line, for the reader of a stream. */
void out_json_line(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object,
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

/* Local time: "12:00:00.123" for people, with date and zone for programs. */
void out_time(char *buf, size_t size)
{
	char zone[8] = "";
	struct timespec ts;
	struct tm tm;
	size_t at;

	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	at = strftime(buf, size, options.json ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S",
		      &tm);
	if (options.json)
		strftime(zone, sizeof(zone), "%z", &tm);
	snprintf(buf + at, size - at, ".%03ld%s", ts.tv_nsec / 1000000, zone);
}

/* Writes the result of a change of a tree, for programs. */
void out_counts(unsigned int tree, const char *key, uint32_t value)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "tree", json_object_new_int(tree));
	json_object_object_add(o, key, json_object_new_int64(value));
	out_json(o);
}
