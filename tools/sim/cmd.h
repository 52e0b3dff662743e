/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands of angara-sim.
 */
#ifndef ANG_SIM_CMD_H
#define ANG_SIM_CMD_H

#include "args.h"
#include "work.h"

/**
 * struct cmd - a command
 * @name: its name
 * @help: description
 * @opts: its own options
 * @run: runs it; returns SIM_OK, SIM_FAILED or SIM_USAGE
 * @idle: the command runs no simulation, so options for runs are errors
 */
struct cmd {
	const char *name;
	const char *help;
	const struct sim_opt *opts;
	int (*run)(struct env *e);
	bool idle;
};

extern const struct cmd cmd_coll;
extern const struct cmd cmd_traffic;
extern const struct cmd cmd_capacity;
extern const struct cmd cmd_curve;
extern const struct cmd cmd_flits;
extern const struct cmd cmd_pairs;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_stress;
extern const struct cmd cmd_gather;
extern const struct cmd cmd_stripe;
extern const struct cmd cmd_spmv;
extern const struct cmd cmd_heat;
extern const struct cmd cmd_params;

/* Return: index of the option's text in @list; exits if @list lacks this text. */
u32 arg_choice(const char *option, const char *text, const char *const *list);
/* Does --children say that the shallowest subtree gets messages first? */
bool coll_shallowest(void);
/* Does --ranks say that neighbouring ranks are along the last dimension? */
bool gather_reverse(void);
int each_size(struct env *e, const char *title, const char *columns,
	      int (*size)(struct env *e, struct out *o));
/* Exits unless --pattern and --bytes are right for the fabric. */
void need_pattern(const struct env *e, const char *pattern);
/* Exits unless --bytes fit into a packet. */
void need_one_packet(const struct env *e);
/* Reads a load of --load; exits if the text is not a load. */
double need_load(const char *text);
/* Reads an option that names a node; exits if the fabric lacks the node. */
u32 need_node(const struct env *e, const char *option);
/* Exits unless the fabric is a torus of up to four dimensions. */
void need_torus(const struct env *e, const char *what);

#endif /* ANG_SIM_CMD_H */
