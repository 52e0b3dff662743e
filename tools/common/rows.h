/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of commands: rows of named values, as a table or as JSON. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <json-c/json.h>

/* Prints and frees an array of objects with the same keys. */
void rows_print(json_object *rows, bool json, bool markdown);
void add_text(json_object *row, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void add_number(json_object *row, const char *key, uint64_t value);
/* Makes a number with three digits after the decimal point. */
void add_real(json_object *row, const char *key, double value);

#endif /* ROWS_H */
