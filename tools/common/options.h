/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of commands: one table defines how the command line is read, the text
 * of --help, and the completion of words in bash.
 *
 * Every command has -h (--help), -V (--version) and --bash-completion without an
 * entry in its table.  For a wrong option the command prints one line on
 * standard error, which begins with the name of the command; its exit status is
 * MISUSED.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct opt - an option; a table ends with an empty option
 * @id: letter of the option; without a letter, a number from OPTS_LONG on
 * @name: long name, or NULL
 * @value: name of its value in --help, or NULL
 * @what: text of --help; lines after the first are separated by newlines
 * @words: completion of the value: "@file", "@dir", "@command" or words
 */
struct opt {
	int id;
	const char *name;
	const char *value;
	const char *what;
	const char *words;
};

#define OPTS_LONG	256	/* first id without a letter */
#define OPTS_MOST	120	/* options of a command */

/**
 * struct opts_word - a first operand, and its second operands
 * @name: the operand
 * @words: completion of the second operand, as struct opt.words, or NULL
 */
struct opts_word {
	const char *name;
	const char *words;
};

/**
 * struct opts_command - a command, its options and operands
 * @version: text of --version after the command's name
 * @usage: operands in the first line of --help
 * @what: text of --help before the options; NULL: take() handles -h
 * @opts: its options
 * @operands: completion of operands, as struct opt.words, or NULL
 * @words: instead of @operands: completion of the first two operands; the last
 *	entry has no name
 * @stop: options end at the first operand, which begins another command; -np is
 *	-n, as in launchers of MPI
 * @quiet: print no help and no errors, since another process of the job prints them
 * @take: gives an option to the command.  Return: -1 to continue, or the exit
 *	status, with a line printed
 */
struct opts_command {
	const char *version;
	const char *usage;
	const char *what;
	const struct opt *opts;
	const char *operands;
	const struct opts_word *words;
	bool stop;
	bool quiet;
	int (*take)(void *to, int id, const char *value);
};

/**
 * opts_read() - read a command line
 * @c: the command; tool_name is its name
 * @to: passed to take()
 * @argc: arguments
 * @argv: arguments; operands follow from the index optind
 *
 * Return: -1 to continue, or the exit status.
 */
int opts_read(const struct opts_command *c, void *to, int argc, char **argv);

/**
 * opts_number() - read the number of an option
 * @option: name of the option, for the message
 * @text: decimal, or hexadecimal after 0x
 * @min: least
 * @max: greatest
 * @value: out
 *
 * Return: -1 to continue, or MISUSED with a line printed.
 */
int opts_number(const char *option, const char *text, uint64_t min, uint64_t max,
		uint64_t *value);

/**
 * opts_digits() - read a number
 * @text: decimal, or hexadecimal after 0x
 * @max: greatest
 * @value: out
 *
 * Return: the text after the number; NULL if there is no number up to @max.
 */
const char *opts_digits(const char *text, uint64_t max, uint64_t *value);

/**
 * opts_scaled() - read a number of bytes, such as 4096, 4K or 4KiB
 * @text: a number, then nothing or K, M, G or T, each also with "iB"
 * @value: out
 *
 * Return: whether the text is such a number, below 2^64.
 */
bool opts_scaled(const char *text, uint64_t *value);

#endif /* OPTIONS_H */
