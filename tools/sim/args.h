/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: "--name value" or "--name=value", including parameters of
 * the simulation; and output as a table, CSV or JSON.
 */
#ifndef ANG_SIM_ARGS_H
#define ANG_SIM_ARGS_H

#include "config.h"
#include "options.h"

/* Exit statuses. */
#define SIM_OK		0
#define SIM_FAILED	1	/* a simulation or a check failed */
#define SIM_USAGE	2	/* bad arguments or input */

/**
 * struct sim_opt - an option of a command
 * @name: without "--"
 * @type: SIM_T_TIME, _RATE, _BYTES, _NUMBER, SIM_T_TEXT, _FLAG or _FILE
 * @value: default; NULL for none
 * @help: description
 * @min: least value of a time, a number or a number of bytes
 * @max: greatest value; 0: SIM_TIME_MOST, SIM_BYTES_MOST, or any number below 2^64
 */
struct sim_opt {
	const char *name;
	unsigned int type;
	const char *value;
	const char *help;
	uint64_t min;
	uint64_t max;
};

#define SIM_TIME_MOST	1000000000000000000ULL	/* in ps: sums of a few stay below 2^64 */
#define SIM_BYTES_MOST	(1U << 30)

#define SIM_T_TEXT	100
#define SIM_T_FLAG	101	/* takes no value; "yes" if given */
#define SIM_T_FILE	102	/* a file that is read */

/* Print one line and exit with SIM_USAGE. */
void bad_usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * args_read() - read a command line
 * @argc: arguments
 * @argv: the first one is the command
 * @cfg: parameters; set
 * @opts: options of the command; ended by a NULL name
 * @common: options of all commands; ended by a NULL name
 *
 * Exits with SIM_USAGE if an argument is wrong.  With --help, parameters are not
 * read.
 * Return: -1 if a command is to run, otherwise the exit status.
 */
int args_read(int argc, char **argv, struct sim_cfg *cfg,
	      const struct sim_opt *opts, const struct sim_opt *common);

/**
 * args_first() - read the options before the command
 * @argc: arguments
 * @argv: arguments; the command has the index optind
 * @what: text of --help
 * @words: commands
 * @opts: options of all commands and of each, ended by NULL
 *
 * Return: -1 if a command is to run, otherwise the exit status.
 */
int args_first(int argc, char **argv, const char *what, const struct opts_word *words,
	       const struct sim_opt *const *opts);

/*
 * Values of options; args_read() has checked the values that arg_number()
 * returns.
 */
const char *arg_text(const char *name);
uint64_t arg_number(const char *name);
/*
 * Return: name of a parameter that the command line sets, but @used, a list ended by NULL, lacks;
 * NULL: there is none.
 */
const char *args_unused(const char *const *used);
/* Split a text at commas.  Return: the next part, NULL at the end. */
char *arg_list(char **rest);

/**
 * args_what() - describe the simulation in one text
 * @cmd: command
 * @opts: its options
 * @routes: option that names a file of routes
 * @faults: option that names a file of link faults
 * @cfg: parameters
 *
 * Files appear as their names and the checksums of their bytes.
 * Return: text from malloc().
 */
char *args_what(const char *cmd, const struct sim_opt *opts,
		const struct sim_opt *routes, const struct sim_opt *faults,
		const struct sim_cfg *cfg);

/* Open the file of --output, or standard output; exit if that fails. */
FILE *out_open(void);
/* Close the output; exit if it could not be written. */
void out_close(FILE *to);

/**
 * struct out - the output: rows of cells
 */
struct out;

struct out *out_new(const char *title, const char *columns);
/* Append a cell; the last column completes the row. */
void out_cell(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Print @o in the form of --format to the file of --output, and free @o. */
void out_end(struct out *o);

#endif /* ANG_SIM_ARGS_H */
