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
 * @help: what it does
 * @opts: its own options
 * @run: do it; returns SIM_OK, SIM_FAILED or SIM_USAGE
 */
struct cmd {
	const char *name;
	const char *help;
	const struct sim_opt *opts;
	int (*run)(struct env *e);
};

extern const struct cmd cmd_coll;
extern const struct cmd cmd_traffic;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_stress;
extern const struct cmd cmd_gather;
extern const struct cmd cmd_spmv;
extern const struct cmd cmd_heat;
extern const struct cmd cmd_params;

/* Number of an option's text in a list, or the end of the program. */
u32 arg_choice(const char *option, const char *text, const char *const *list);
int each_size(struct env *e, const char *title, const char *columns,
	      int (*size)(struct env *e, struct out *o));
char *torus_text(const struct angara_topo *t, char *buf, size_t len);

#endif /* ANG_SIM_CMD_H */
