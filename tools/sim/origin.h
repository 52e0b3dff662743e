/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where defaults come from: the single source of the tables in documentation and
 * report.
 */
#ifndef ANG_SIM_ORIGIN_H
#define ANG_SIM_ORIGIN_H

/**
 * struct sim_origin - origin of a default
 * @command: command that has the option; NULL: a parameter of all commands;
 *	"rule": a rule of the simulator without a parameter
 * @name: name of the parameter, option or rule
 * @kind: "given": document 000 names it; "fitted": set so that a published
 *	number comes out; "chosen": chosen with knowledge of published numbers;
 *	"free": none of these
 * @basis: section or table of the document, and what its sentence says; the
 *	number fitted to; or the reason
 * @range: plausible values of a chosen or free default, or the default and the
 *	given value if the default departs from it: "LEAST..MOST" with units, or
 *	choices joined by "|"; NULL: the default has no effect on published
 *	numbers, or other values are not simulated
 * @rule: what a rule does, in place of a default
 */
struct sim_origin {
	const char *command;
	const char *name;
	const char *kind;
	const char *basis;
	const char *range;
	const char *rule;
};

/** The table; the last entry has no name. */
extern const struct sim_origin sim_origins[];

/**
 * sim_origin() - look up an origin
 * @command: command, or NULL
 * @name: option or parameter
 *
 * Return: its entry, or NULL: the option selects what is simulated and has no
 * origin.
 */
const struct sim_origin *sim_origin(const char *command, const char *name);

#endif /* ANG_SIM_ORIGIN_H */
