/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: "--name value" or "--name=value", parameters of the
 * simulation among them; and tables, CSV or JSON as the answer.
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
 * @help: what it is
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
 * @argv: the first is read
 * @cfg: parameters, set
 * @opts: options of the command, and those of all, ended by a name NULL
 * @common: options that all commands have
 *
 * Ends the program if something is wrong.
 */
void args_read(int argc, char **argv, struct sim_cfg *cfg,
	       const struct sim_opt *opts, const struct sim_opt *common);

/* Values of options; those of arg_number() are checked when read. */
const char *arg_text(const char *name);
uint64_t arg_number(const char *name);
/* The list that a text with commas makes. Return: the next one, NULL at the end. */
char *arg_list(char **rest);

/* The options of the command and all parameters as one text, from malloc(). */
char *args_what(const char *cmd, const struct sim_opt *opts,
		const struct sim_cfg *cfg);

/**
 * struct out - an answer: rows of cells
 */
struct out;

struct out *out_new(const char *title, const char *columns);
/* A cell in the order of columns; after the last, the row is complete. */
void out_cell(struct out *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints as --format says to where --output says, and frees. */
void out_end(struct out *o);

#endif /* ANG_SIM_ARGS_H */
