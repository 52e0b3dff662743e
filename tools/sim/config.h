/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parameters of a simulation, from a file and the command line.
 */
#ifndef ANG_SIM_CONFIG_H
#define ANG_SIM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <angara/fabric.h>
#include <angara/topo.h>
#include <linux/angara.h>

#define SIM_MAX_PORTS	61	/* most ports of a router */
#define SIM_TEXT	256	/* most bytes of a fabric's description */

/**
 * struct sim_cfg - parameters; sim_params[] in config.c describes each
 *
 * Times are in picoseconds, rates in bit/s.  A torus of up to four dimensions
 * is @torus; any other fabric is @fabric, described by @text.
 */
struct sim_cfg {
	struct angara_topo torus;
	struct angara_fabric *fabric;
	char text[SIM_TEXT];
	uint64_t modules;
	uint64_t clock;
	uint64_t link_rate;
	uint64_t link_latency;
	uint64_t host_rate;
	uint64_t host_header;
	uint64_t inject;
	uint64_t eject;
	uint64_t overhead;
	uint64_t combine;
	uint64_t router;
	uint64_t switch_cycles;
	uint64_t switch_latency;
	uint64_t switch_buffer;
	uint64_t pegroup;
	uint64_t reducer;
	uint64_t buffer;
	uint64_t packet;
	uint64_t loss;
	uint64_t corrupt;
	uint64_t fault_delay;
	uint64_t local;
	uint64_t vc;		/* SIM_CUT_THROUGH, ... */
	uint64_t reduce;	/* SIM_BY_PACKET, ... */
	uint64_t copies;	/* SIM_LINKS_FIRST, ... */
	uint64_t routing;	/* SIM_DETERMINISTIC, ... */
	uint64_t acks;
	uint64_t credit_results;
	uint64_t credit_cycles;
	uint64_t accuracy;	/* SIM_BY_PACKETS, ... */
	uint64_t seed;
};

#define SIM_LOSS_ONE	1000000000U	/* probability, scaled so that ANGARA_FAULT_ONE is 1 */
#define SIM_DELAY_MOST	1000000U	/* cycles by which faults delay packets */
#define SIM_CUT_THROUGH		0
#define SIM_STORE_FORWARD	1
#define SIM_BY_PACKET		0
#define SIM_BY_FLIT		1
#define SIM_LINKS_FIRST		0
#define SIM_AT_ONCE		1
#define SIM_DETERMINISTIC	0
#define SIM_ADAPTIVE		1
#define SIM_BY_PACKETS		0
#define SIM_BY_FLITS		1

#define SIM_T_TORUS	0
#define SIM_T_TIME	1
#define SIM_T_RATE	2
#define SIM_T_FREQ	3	/* stored as a period */
#define SIM_T_NUMBER	4
#define SIM_T_BYTES	5
#define SIM_T_CHOICE	6
#define SIM_T_FABRIC	7

/**
 * struct sim_param - a parameter
 * @name: as on the command line, without "--"
 * @type: SIM_T_*
 * @off: offset in struct sim_cfg
 * @value: default, as on the command line, or NULL; see sim_param_default()
 * @min: least value
 * @max: greatest
 * @choices: values of a SIM_T_CHOICE, joined by "|"
 * @help: description, or NULL: see angara_plan_values()
 */
struct sim_param {
	const char *name;
	unsigned int type;
	size_t off;
	const char *value;
	uint64_t min;
	uint64_t max;
	const char *choices;
	const char *help;
};

extern const struct sim_param sim_params[];

/**
 * sim_param_default() - get the default of a parameter
 * @p: parameter
 * @buf: room for the text
 * @len: its size
 *
 * Return: the default as on the command line, or NULL.
 */
const char *sim_param_default(const struct sim_param *p, char *buf, size_t len);
/** sim_param_help() - get the description of a parameter */
const char *sim_param_help(const struct sim_param *p);

void sim_cfg_default(struct sim_cfg *cfg);

/**
 * sim_cfg_set() - set a parameter
 * @cfg: parameters
 * @name: name of the parameter
 * @text: value, with its unit
 * @err: out: one line that says what is wrong
 * @len: size of @err
 *
 * Return: 0; -ENOENT there is no such parameter; -EINVAL.
 */
int sim_cfg_set(struct sim_cfg *cfg, const char *name, const char *text,
		char *err, size_t len);

/** sim_cfg_nodes() - count the nodes of the fabric */
uint32_t sim_cfg_nodes(const struct sim_cfg *cfg);

/** sim_cfg_modules() - count the computing modules of a node */
uint32_t sim_cfg_modules(const struct sim_cfg *cfg);

/**
 * sim_cfg_name() - name the fabric
 * @cfg: parameters
 * @buf: room for the sizes of a torus
 * @len: its size
 *
 * Return: text that --torus or --fabric takes.
 */
const char *sim_cfg_name(const struct sim_cfg *cfg, char *buf, size_t len);

/** sim_cfg_file() - read "name = value" lines. Return: 0; -EINVAL with one line in @err. */
int sim_cfg_file(struct sim_cfg *cfg, const char *path, char *err, size_t len);

/** sim_cfg_print() - write the parameters as a file that sim_cfg_file() reads */
void sim_cfg_print(const struct sim_cfg *cfg, FILE *to);

/**
 * sim_cfg_check() - check that parameters are consistent.  Return: 0; -EINVAL with one line in
 * @err.
 */
int sim_cfg_check(const struct sim_cfg *cfg, char *err, size_t len);

/**
 * sim_value() - read a value with its unit
 * @type: SIM_T_TIME, _RATE, _FREQ, _NUMBER or _BYTES
 * @text: "80ns", "75Gbit/s", "500MHz", "16", "256" or "4KiB"
 * @min: least value; of a frequency, the least period
 * @max: greatest
 * @value: out
 * @why: out: text such as "not a time from 1ns to 1s"
 * @len: size of @why
 *
 * Return: 0 or -EINVAL.
 */
int sim_value(unsigned int type, const char *text, uint64_t min, uint64_t max,
	      uint64_t *value, char *why, size_t len);

#endif /* ANG_SIM_CONFIG_H */
