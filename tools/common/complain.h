/* SPDX-License-Identifier: GPL-2.0-only */
/* Errors of commands: a line on standard error, and an exit status. */
#ifndef COMPLAIN_H
#define COMPLAIN_H

#include <stdarg.h>
#include <stddef.h>

#define FAILED		1	/* exit status of an error at run time */
#define MISUSED		2	/* exit status of a wrong argument */

/* First word of each line; each command defines it. */
extern const char tool_name[];

/** complain() - print "tool_name: ", the text and the end of the line */
void complain(const char *format, va_list list);
/** fail() - complain.  Return: FAILED */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** misuse() - complain.  Return: MISUSED */
int misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** need_memory() - allocate zeroed memory; end the program if there is none */
void *need_memory(size_t count, size_t size);

#endif /* COMPLAIN_H */
