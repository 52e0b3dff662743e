/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text files, line by line.  A file that is not text gives an error at its
 * first line, even an endless file such as /dev/zero.  An endless file of valid
 * lines gives an error at the limit of lines.
 */
#ifndef ANG_SIM_LINES_H
#define ANG_SIM_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_LINES_FEW	(1U << 16)	/* of parameters, and of tables of times */
#define SIM_LINES_MOST	(1U << 24)	/* routes of 4096 nodes to each other fit */

/**
 * struct sim_lines - a file being read
 * @f: file
 * @path: its name, for errors
 * @number: number of the line in @text, from 1 on
 * @most: limit of lines
 * @text: line, with the newline
 */
struct sim_lines {
	FILE *f;
	const char *path;
	unsigned int number;
	unsigned int most;
	char text[512];
};

/**
 * sim_lines_open() - open a text file
 * @l: out
 * @path: file
 * @most: limit of lines
 * @err: out: one line that says what is wrong, with @path
 * @len: size of @err
 *
 * Return: 0 or -EINVAL.
 */
int sim_lines_open(struct sim_lines *l, const char *path, unsigned int most, char *err,
		   size_t len);

/**
 * sim_lines_next() - read the next line
 * @l: file
 * @err: out: one line that says what is wrong, with the path
 * @len: size of @err
 *
 * The file is closed unless there is a line.
 * Return: 1; 0 at the end of the file; -EINVAL.
 */
int sim_lines_next(struct sim_lines *l, char *err, size_t len);

/** sim_lines_close() - close the file before its end */
void sim_lines_close(struct sim_lines *l);

/**
 * sim_lines_numbers() - read the numbers at the beginning of a line
 * @line: numbers separated by blanks; a comment begins with '#'
 * @most: numbers to read at most
 * @value: out: numbers below 2^32
 * @n: out: number of values
 *
 * Return: the text that follows, "" if there is only a comment or nothing.
 */
const char *sim_lines_numbers(const char *line, uint32_t most, uint32_t *value,
			      uint32_t *n);

/* Is @text the word, and nothing more but blanks or a comment? */
bool sim_lines_word(const char *text, const char *word);

#endif /* ANG_SIM_LINES_H */
