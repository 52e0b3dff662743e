/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Colours of text on a terminal. There are no colours in files and pipes, on a
 * terminal that TERM calls "dumb", or if NO_COLOR is in the environment
 * (no-color.org). A process that mpirun starts has no colours either: its
 * terminal belongs to mpirun, whose output may go to a file.
 */
#ifndef COLOUR_H
#define COLOUR_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLOUR_HEAD	"\033[1m"	/* bold: headings */
#define COLOUR_BAD	"\033[1;31m"	/* bold red: errors, objects that are down */
#define COLOUR_GOOD	"\033[32m"	/* green: objects that are up */
#define COLOUR_NONE	"\033[0m"

/** colour_on() - whether text of a stream is coloured */
static inline bool colour_on(FILE *stream)
{
	const char *none = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return !(none && *none) && !getenv("PMIX_RANK") && term &&
	       strcmp(term, "dumb") && isatty(fileno(stream));
}

/**
 * colour_set() - colour the text that follows
 * @stream: stream of the text; nothing is written if its text has no colours
 * @colour: COLOUR_HEAD and the like; COLOUR_NONE ends a colour
 */
static inline void colour_set(FILE *stream, const char *colour)
{
	if (colour_on(stream))
		fputs(colour, stream);
}

#endif /* COLOUR_H */
