/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: "--name value" or "--name=value", including parameters of
 * the simulation; and output as a table, CSV or JSON.
 */
#ifndef ANG_SIM_ARGS_H
#define ANG_SIM_ARGS_H

#include "config.h"

/* Exit statuses. */
#define SIM_OK		0
#define SIM_FAILED	1	/* a simulation or a check failed */
#define SIM_USAGE	2	/* bad arguments or input */

/**
 * struct sim_opt - an option of a command
 * @name: without "--"
 * @type: SIM_T_TIME, _RATE, _BYTES, _NUMBER, or SIM_T_TEXT
 * @value: default; NULL for none
 * @help: description
 */
struct sim_opt {
	const char *name;
	unsigned int type;
	const char *value;
	const char *help;
};

#define SIM_T_TEXT	100
#define SIM_T_FLAG	101	/* takes no value; "yes" if given */

/* Ends the program with one line and SIM_USAGE. */
void bad_usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/**
 * args_read() - read a command line
 * @argc: arguments
 * @argv: the first one is the first to be read
 * @cfg: parameters; set
 * @opts: options of the command; ended by a NULL name
 * @common: options of all commands; ended by a NULL name
 *
 * Exits with SIM_USAGE if an argument is wrong.
 */
void args_read(int argc, char **argv, struct sim_cfg *cfg,
	       const struct sim_opt *opts, const struct sim_opt *common);

/* Values of options; those of arg_number() are checked when read. */
const char *arg_text(const char *name);
uint64_t arg_number(const char *name);
/* Split a text at commas.  Return: the next part, NULL at the end. */
char *arg_list(char **rest);

/* The options of the command and all parameters as one text, from malloc(). */
char *args_what(const char *cmd, const struct sim_opt *opts,
		const struct sim_cfg *cfg);

/**
 * struct out - the output: rows of cells
 */
struct out;

struct out *out_new(const char *title, const char *columns);
/* Append a cell; the last column completes the row. */
void out_cell(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Print in the form of --format to the file of --output, and free. */
void out_end(struct out *o);

#endif /* ANG_SIM_ARGS_H */
