// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters with units.  An entry without a description has the default and
 * the description of angara_plan_values(), which the plans' expected times use
 * too.  origin.c has the source of each default.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <angara/plan.h>
#include "fab.h"
#include "config.h"
#include "lines.h"
#include "options.h"

#define AT(field)	offsetof(struct sim_cfg, field)
#define SEC		1000000000000ULL	/* in picoseconds */

const struct sim_param sim_params[] = {
	{ "torus", SIM_T_TORUS, AT(torus), "4x4x4", 0, 0, NULL,
	  "sizes of the torus" },
	{ "fabric", SIM_T_FABRIC, AT(fabric), NULL, 0, 0, NULL,
	  "any fabric instead, as mkns:8x10x10,m=2; angara-topo(1) lists them" },
	{ "modules", SIM_T_NUMBER, AT(modules), "0", 0, ANGARA_MAX_LOCAL, NULL,
	  "computing modules of a node; 0: one, or as many as m= says" },
	{ "clock", SIM_T_FREQ, AT(clock), .min = 1, .max = 1000000 },
	{ "link-rate", SIM_T_RATE, AT(link_rate), .min = 1000000,
	  .max = 100 * SEC },
	{ "link-latency", SIM_T_TIME, AT(link_latency), .min = 1000,
	  .max = SEC },
	{ "host-rate", SIM_T_RATE, AT(host_rate), .min = 1000000,
	  .max = 100 * SEC },
	{ "host-header", SIM_T_BYTES, AT(host_header), .min = 0, .max = 4096 },
	{ "inject", SIM_T_TIME, AT(inject), .min = 0, .max = SEC },
	{ "eject", SIM_T_TIME, AT(eject), .min = 0, .max = SEC },
	{ "overhead", SIM_T_TIME, AT(overhead), "0ns", 0, SEC, NULL,
	  "host time for each message sent" },
	{ "combine", SIM_T_TIME, AT(combine), "0ns", 0, SEC, NULL,
	  "host time to combine one packet of a reduction" },
	{ "router", SIM_T_NUMBER, AT(router), .min = 0, .max = 1000 },
	{ "switch", SIM_T_NUMBER, AT(switch_cycles), .min = 0, .max = 1000 },
	{ "switch-latency", SIM_T_TIME, AT(switch_latency), .min = 1000,
	  .max = SEC },
	{ "switch-buffer", SIM_T_NUMBER, AT(switch_buffer), "8", 4, 1024, NULL,
	  "packets of the greatest length that a switch buffers per port and virtual channel" },
	{ "pegroup", SIM_T_NUMBER, AT(pegroup), .min = 0, .max = 1000 },
	{ "reducer", SIM_T_NUMBER, AT(reducer), .min = 0, .max = 1000 },
	{ "buffer", SIM_T_NUMBER, AT(buffer), "8", 4, 1024, NULL,
	  "packets of the greatest length that a link buffers per virtual channel" },
	{ "packet", SIM_T_BYTES, AT(packet), .min = 16, .max = 65536 },
	{ "local", SIM_T_NUMBER, AT(local), "1", 1, ANGARA_MAX_LOCAL, NULL,
	  "participants of a node" },
	{ "vc", SIM_T_CHOICE, AT(vc), "cut-through", 0, 0,
	  "cut-through|store-and-forward",
	  "may a packet leave before its tail has arrived?" },
	{ "reduce", SIM_T_CHOICE, AT(reduce), "packet", 0, 0, "packet|flit",
	  "unit that the Reducer waits for" },
	{ "copies", SIM_T_CHOICE, AT(copies), "links-first", 0, 0, "links-first|at-once",
	  "does a node's host get its copy of a broadcast after the links, or with them?" },
	{ "routing", SIM_T_CHOICE, AT(routing), "adaptive", 0, 0,
	  "deterministic|adaptive", "routing of point-to-point requests" },
	{ "acks", SIM_T_CHOICE, AT(acks), "no", 0, 0, "no|yes",
	  "are puts acknowledged?" },
	{ "credit-results", SIM_T_NUMBER, AT(credit_results), .min = 1,
	  .max = 65536 },
	{ "credit-cycles", SIM_T_NUMBER, AT(credit_cycles), .min = 1,
	  .max = 1000000000 },
	{ "loss", SIM_T_NUMBER, AT(loss), "0", 0, SIM_LOSS_ONE / 2, NULL,
	  "of 1000000000 packets on a link, how many are lost and sent again" },
	{ "corrupt", SIM_T_NUMBER, AT(corrupt), "0", 0, SIM_LOSS_ONE / 2, NULL,
	  "how many of them arrive with wrong bits and are sent again" },
	{ "fault-delay", SIM_T_NUMBER, AT(fault_delay), "0", 0, SIM_DELAY_MOST, NULL,
	  "additional cycles of packets on a link with faults" },
	{ "accuracy", SIM_T_CHOICE, AT(accuracy), "packet", 0, 0, "packet|flit",
	  "unit that is simulated: packets, or flits (traffic and curve only)" },
	{ "seed", SIM_T_NUMBER, AT(seed), "1", 0, UINT64_MAX, NULL,
	  "seed of random numbers" },
	{ NULL },
};

/* The entry of angara_plan_values() for a parameter, or NULL. */
static const struct angara_plan_value *shared(const struct sim_param *p)
{
	const struct angara_plan_value *v;

	for (v = angara_plan_values(); v->name; v++)
		if (!strcmp(v->name, p->name))
			return v;
	return NULL;
}

const char *sim_param_help(const struct sim_param *p)
{
	return p->help ? p->help : shared(p)->help;
}

const char *sim_param_default(const struct sim_param *p, char *buf, size_t len)
{
	const struct angara_plan_value *v;

	if (p->help)
		return p->value;
	v = shared(p);
	snprintf(buf, len, "%u%s", (unsigned int)v->value, p->type == SIM_T_NUMBER ||
		 p->type == SIM_T_BYTES ? "" : v->unit);
	return buf;
}

struct unit {
	const char *name;
	double scale;
};

static const struct unit times[] = {
	{ "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 }, { "s", 1e12 },
	{ NULL, 0 },
};

static const struct unit rates[] = {
	{ "bit/s", 1 }, { "kbit/s", 1e3 }, { "Mbit/s", 1e6 },
	{ "Gbit/s", 1e9 }, { "Tbit/s", 1e12 }, { NULL, 0 },
};

static const struct unit freqs[] = {
	{ "Hz", 1 }, { "kHz", 1e3 }, { "MHz", 1e6 }, { "GHz", 1e9 },
	{ NULL, 0 },
};

static const struct unit sizes[] = {
	{ "", 1 }, { "KiB", 1024 }, { "MiB", 1 << 20 },
	{ "GiB", 1 << 30 }, { NULL, 0 },
};

/* Units by type, smallest first; types without a unit have no entry. */
static const struct unit * const units_of[] = {
	[SIM_T_TIME] = times, [SIM_T_RATE] = rates, [SIM_T_FREQ] = freqs,
	[SIM_T_NUMBER] = NULL, [SIM_T_BYTES] = sizes,
};

/* Return: 0 or -1; *@value is @text's number times the scale of its unit. */
static int with_unit(const char *text, const struct unit *units, double *value)
{
	char *end;
	double number;

	/* strtod() accepts hexadecimal, "inf" and signs, too. */
	if (strspn(text, "0123456789.") == 0 || text[1] == 'x')
		return -1;
	number = strtod(text, &end);
	while (*end == ' ')
		end++;
	for (; units->name; units++) {
		if (strcmp(units->name, end))
			continue;
		*value = number * units->scale;
		return *value < 1.8e19 ? 0 : -1;
	}
	return -1;
}

static bool parse_number(const char *text, uint64_t *value)
{
	const char *end = opts_digits(text, UINT64_MAX, value);

	return end && !*end;
}

/* Return: is @text a value below 2^64? */
static bool parse(unsigned int type, const char *text, uint64_t *value)
{
	double number;

	if (type == SIM_T_NUMBER)
		return parse_number(text, value);
	if (type == SIM_T_BYTES)
		return opts_scaled(text, value);
	if (with_unit(text, units_of[type], &number))
		return false;
	if (type == SIM_T_FREQ) {
		if (number < 1)
			return false;
		number = SEC / number;
	}
	*value = (uint64_t)llround(number);
	return true;
}

/* Prints a value with the largest unit of which the value is a multiple. */
static void value_text(unsigned int type, uint64_t value, char *buf, size_t len)
{
	const struct unit *u = units_of[type];
	double number = (double)value;

	if (!u) {
		snprintf(buf, len, "%llu", (unsigned long long)value);
		return;
	}
	if (type == SIM_T_FREQ)
		number = (double)SEC / number;
	while (u[1].name && number >= u[1].scale && fmod(number, u[1].scale) == 0)
		u++;
	snprintf(buf, len, "%.10g%s", number / u->scale, u->name);
}

int sim_value(unsigned int type, const char *text, uint64_t min, uint64_t max,
	      uint64_t *value, char *why, size_t len)
{
	static const char * const what[] = {
		[SIM_T_TIME] = "time", [SIM_T_RATE] = "rate",
		[SIM_T_FREQ] = "frequency", [SIM_T_NUMBER] = "number",
		[SIM_T_BYTES] = "number of bytes",
	};
	char least[32], most[32];

	if (parse(type, text, value) && *value >= min && *value <= max)
		return 0;
	value_text(type, type == SIM_T_FREQ ? max : min, least, sizeof(least));
	value_text(type, type == SIM_T_FREQ ? min : max, most, sizeof(most));
	snprintf(why, len, "not a %s from %s to %s", what[type], least, most);
	return -EINVAL;
}

static int parse_choice(const struct sim_param *p, const char *text,
			uint64_t *value)
{
	const char *at = p->choices;
	uint64_t i;

	for (i = 0; at; i++) {
		size_t len = strcspn(at, "|");

		if (strlen(text) == len && !strncmp(at, text, len)) {
			*value = i;
			return 0;
		}
		at = at[len] ? at + len + 1 : NULL;
	}
	return -EINVAL;
}

static int set_torus(struct sim_cfg *cfg, const char *name, const char *text,
		     char *err, size_t len)
{
	struct angara_topo torus;

	if (angara_topo_parse(text, &torus)) {
		snprintf(err, len, "%s '%s': not 1 to 4 sizes such as 4x4x2, 2^20 nodes at most",
			 name, text);
		return -EINVAL;
	}
	angara_fabric_close(cfg->fabric);
	cfg->fabric = NULL;
	cfg->torus = torus;
	return 0;
}

/* A torus of up to four dimensions needs no tables. */
static bool is_small_torus(const struct ang_topo *t)
{
	return t->kind == ANG_TOPO_TORUS && t->ndims <= ANGARA_MAX_DIMS;
}

static void fabric_torus(struct sim_cfg *cfg, const struct ang_topo *t)
{
	angara_fabric_close(cfg->fabric);
	cfg->fabric = NULL;
	cfg->torus.ndims = t->ndims;
	memcpy(cfg->torus.dims, t->dims, sizeof(cfg->torus.dims));
}

static int set_fabric(struct sim_cfg *cfg, const char *name, const char *text,
		      char *err, size_t len)
{
	struct angara_fabric *fabric = NULL;
	struct ang_topo_why why;
	struct ang_topo t;
	char flaw[128];

	if (ang_topo_read(&t, text, &why) && is_small_torus(&t)) {
		fabric_torus(cfg, &t);
		return 0;
	}
	if (angara_fabric_open(text, &fabric, flaw, sizeof(flaw))) {
		snprintf(err, len, "%s '%s': %s", name, text, flaw);
		return -EINVAL;
	}
	if (is_small_torus(&fabric->topo)) {
		fabric_torus(cfg, &fabric->topo);
		angara_fabric_close(fabric);
		return 0;
	}
	flaw[0] = 0;
	if (strlen(text) >= sizeof(cfg->text))
		snprintf(flaw, sizeof(flaw), "longer than %zu bytes",
			 sizeof(cfg->text) - 1);
	if (angara_fabric_ports(fabric) > SIM_MAX_PORTS)
		snprintf(flaw, sizeof(flaw), "a router of more than %u ports",
			 SIM_MAX_PORTS);
	if (flaw[0]) {
		snprintf(err, len, "%s '%.200s': %s", name, text, flaw);
		angara_fabric_close(fabric);
		return -EINVAL;
	}
	angara_fabric_close(cfg->fabric);
	cfg->fabric = fabric;
	strcpy(cfg->text, text);
	return 0;
}

uint32_t sim_cfg_nodes(const struct sim_cfg *cfg)
{
	return cfg->fabric ? angara_fabric_nodes(cfg->fabric) :
			     angara_topo_nodes(&cfg->torus);
}

uint32_t sim_cfg_modules(const struct sim_cfg *cfg)
{
	uint32_t there = cfg->fabric ? cfg->fabric->topo.modules : 0;

	if (cfg->modules)
		return (uint32_t)cfg->modules;
	return there ? there : 1;
}

const char *sim_cfg_name(const struct sim_cfg *cfg, char *buf, size_t len)
{
	size_t at = 0;
	uint32_t d;

	if (cfg->fabric)
		return cfg->text;
	for (d = 0; d < cfg->torus.ndims; d++)
		at += (size_t)snprintf(buf + at, len - at, "%s%u", d ? "x" : "",
				       cfg->torus.dims[d]);
	return buf;
}

static int set(struct sim_cfg *cfg, const struct sim_param *p, const char *text,
	       char *err, size_t len)
{
	uint64_t *at = (uint64_t *)((char *)cfg + p->off);
	uint64_t value;
	char why[128];

	if (p->type == SIM_T_TORUS)
		return set_torus(cfg, p->name, text, err, len);
	if (p->type == SIM_T_FABRIC)
		return set_fabric(cfg, p->name, text, err, len);
	if (p->type == SIM_T_CHOICE) {
		if (!parse_choice(p, text, at))
			return 0;
		snprintf(err, len, "%s '%s': not %s", p->name, text, p->choices);
		return -EINVAL;
	}
	if (sim_value(p->type, text, p->min, p->max, &value, why, sizeof(why))) {
		snprintf(err, len, "%s '%s': %s", p->name, text, why);
		return -EINVAL;
	}
	*at = value;
	return 0;
}

int sim_cfg_set(struct sim_cfg *cfg, const char *name, const char *text,
		char *err, size_t len)
{
	const struct sim_param *p;

	for (p = sim_params; p->name; p++)
		if (!strcmp(p->name, name))
			return set(cfg, p, text, err, len);
	snprintf(err, len, "no parameter '%s'", name);
	return -ENOENT;
}

void sim_cfg_default(struct sim_cfg *cfg)
{
	const struct sim_param *p;
	char err[128], text[32];

	memset(cfg, 0, sizeof(*cfg));
	for (p = sim_params; p->name; p++) {
		const char *value = sim_param_default(p, text, sizeof(text));

		if (value)
			set(cfg, p, value, err, sizeof(err));
	}
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = 0;
	return text + strspn(text, " \t");
}

static int file_line(struct sim_cfg *cfg, char *line, char *err, size_t len)
{
	char *value;

	line[strcspn(line, "#")] = 0;
	line = trim(line);
	if (!*line)
		return 0;
	value = strchr(line, '=');
	if (!value) {
		snprintf(err, len, "'%s': not 'name = value'", line);
		return -EINVAL;
	}
	*value++ = 0;
	return sim_cfg_set(cfg, trim(line), trim(value), err, len);
}

int sim_cfg_file(struct sim_cfg *cfg, const char *path, char *err, size_t len)
{
	struct sim_lines l;
	char why[256];
	int rc = sim_lines_open(&l, path, SIM_LINES_FEW, err, len);

	if (rc)
		return rc;
	while ((rc = sim_lines_next(&l, err, len)) > 0) {
		if (!file_line(cfg, l.text, why, sizeof(why)))
			continue;
		snprintf(err, len, "%s:%u: %s", path, l.number, why);
		sim_lines_close(&l);
		return -EINVAL;
	}
	return rc;
}

static void print_choice(const struct sim_param *p, uint64_t value, FILE *to)
{
	const char *at = p->choices;

	while (value--)
		at += strcspn(at, "|") + 1;
	fprintf(to, "%.*s", (int)strcspn(at, "|"), at);
}

void sim_cfg_print(const struct sim_cfg *cfg, FILE *to)
{
	const struct sim_param *p;

	for (p = sim_params; p->name; p++) {
		uint64_t value = *(const uint64_t *)((const char *)cfg + p->off);
		bool fabric = p->type == SIM_T_FABRIC;
		char buf[32];

		if (cfg->fabric ? p->type == SIM_T_TORUS : fabric)
			continue;
		fprintf(to, "%s = ", p->name);
		if (fabric || p->type == SIM_T_TORUS)
			fputs(sim_cfg_name(cfg, buf, sizeof(buf)), to);
		else if (p->type == SIM_T_CHOICE)
			print_choice(p, value, to);
		else if (p->type == SIM_T_FREQ)
			fprintf(to, "%.17gHz", (double)SEC / (double)value);
		else
			fprintf(to, "%llu%s", (unsigned long long)value,
				p->type == SIM_T_TIME ? "ps" :
				p->type == SIM_T_RATE ? "bit/s" : "");
		fputc('\n', to);
	}
}

int sim_cfg_check(const struct sim_cfg *cfg, char *err, size_t len)
{
	if (cfg->loss + cfg->corrupt > SIM_LOSS_ONE / 2) {
		snprintf(err, len, "loss and corrupt: more than half of the packets");
		return -EINVAL;
	}
	if (cfg->local * sim_cfg_modules(cfg) > ANGARA_MAX_LOCAL) {
		snprintf(err, len,
			 "local and modules: %llu participants of a node, %u at most",
			 (unsigned long long)cfg->local * sim_cfg_modules(cfg),
			 ANGARA_MAX_LOCAL);
		return -EINVAL;
	}
	return 0;
}
