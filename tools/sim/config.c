// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters with units; the defaults are document 000's (table 1) where it
 * has a value.  Documentation/simulator.rst says where the others come from.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"

#define AT(field)	offsetof(struct sim_cfg, field)
#define SEC		1000000000000ULL	/* in picoseconds */

const struct sim_param sim_params[] = {
	{ "torus", SIM_T_TORUS, AT(torus), "4x4x4", 0, 0, NULL,
	  "sizes of the torus" },
	{ "clock", SIM_T_FREQ, AT(clock), "500MHz", 1, 1000000, NULL,
	  "clock of the routers" },
	{ "link-rate", SIM_T_RATE, AT(link_rate), "75Gbit/s", 1000000,
	  100 * SEC, NULL, "bandwidth of a link" },
	{ "link-latency", SIM_T_TIME, AT(link_latency), "80ns", 1000, SEC, NULL,
	  "latency of a link" },
	{ "host-rate", SIM_T_RATE, AT(host_rate), "64Gbit/s", 1000000,
	  100 * SEC, NULL,
	  "bandwidth of PCIe, each way (gen2 x16)" },
	{ "host-header", SIM_T_BYTES, AT(host_header), "24", 0, 4096, NULL,
	  "what PCIe adds to a packet: headers, numbers, checks" },
	{ "inject", SIM_T_TIME, AT(inject), "300ns", 0, SEC, NULL,
	  "latency of injection" },
	{ "eject", SIM_T_TIME, AT(eject), "300ns", 0, SEC, NULL,
	  "latency of ejection" },
	{ "overhead", SIM_T_TIME, AT(overhead), "0ns", 0, SEC, NULL,
	  "host's time for each message that it sends" },
	{ "combine", SIM_T_TIME, AT(combine), "0ns", 0, SEC, NULL,
	  "host's time to combine one packet of a reduction" },
	{ "router", SIM_T_NUMBER, AT(router), "2", 0, 1000, NULL,
	  "cycles through a router" },
	{ "pegroup", SIM_T_NUMBER, AT(pegroup), "10", 0, 1000, NULL,
	  "cycles through the PEGroup FIFO" },
	{ "reducer", SIM_T_NUMBER, AT(reducer), "4", 0, 1000, NULL,
	  "cycles of the Reducer besides one per flit" },
	{ "buffer", SIM_T_NUMBER, AT(buffer), "8", 4, 1024, NULL,
	  "packets that a link buffers per virtual channel" },
	{ "packet", SIM_T_BYTES, AT(packet), "256", 16, 65536, NULL,
	  "payload of a packet" },
	{ "train", SIM_T_NUMBER, AT(train), "1", 1, 64, NULL,
	  "packets that are simulated as one" },
	{ "local", SIM_T_NUMBER, AT(local), "1", 1, ANGARA_MAX_LOCAL, NULL,
	  "participants of a node" },
	{ "vc", SIM_T_CHOICE, AT(vc), "cut-through", 0, 0,
	  "cut-through|store-and-forward",
	  "may a packet leave before all of it has come?" },
	{ "reduce", SIM_T_CHOICE, AT(reduce), "packet", 0, 0, "packet|flit",
	  "what the Reducer waits for" },
	{ "routing", SIM_T_CHOICE, AT(routing), "adaptive", 0, 0,
	  "deterministic|adaptive", "of point-to-point requests" },
	{ "acks", SIM_T_CHOICE, AT(acks), "no", 0, 0, "no|yes",
	  "is a put answered?" },
	{ "credit-results", SIM_T_NUMBER, AT(credit_results), "128", 1, 65536,
	  NULL, "results after which the PE gets a credit packet" },
	{ "credit-cycles", SIM_T_NUMBER, AT(credit_cycles), "4096", 1,
	  1000000000, NULL, "cycles after which it gets one anyway" },
	{ "seed", SIM_T_NUMBER, AT(seed), "1", 0, UINT64_MAX, NULL,
	  "of random numbers" },
	{ NULL },
};

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
	{ "", 1 }, { "B", 1 }, { "KiB", 1024 }, { "MiB", 1 << 20 },
	{ "GiB", 1 << 30 }, { NULL, 0 },
};

/* Return: 0 or -1; *@value is @text's number times the scale of its unit. */
static int with_unit(const char *text, const struct unit *units, double *value)
{
	char *end;
	double number;

	/* strtod() takes hexadecimal, "inf" and signs, too. */
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

static const char *parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return "a whole number";
	errno = 0;
	*value = strtoull(text, &end, 10);
	return *end || errno ? "a whole number" : NULL;
}

const char *sim_parse(unsigned int type, const char *text, uint64_t *value)
{
	double number = 0;

	switch (type) {
	case SIM_T_TIME:
		if (with_unit(text, times, &number))
			return "a time, as 80ns";
		break;
	case SIM_T_RATE:
		if (with_unit(text, rates, &number))
			return "a rate, as 75Gbit/s";
		break;
	case SIM_T_BYTES:
		if (with_unit(text, sizes, &number))
			return "a number of bytes, as 256 or 4KiB";
		break;
	case SIM_T_FREQ:
		if (with_unit(text, freqs, &number) || number < 1)
			return "a frequency, as 500MHz";
		number = SEC / number;
		break;
	default:
		return parse_number(text, value);
	}
	*value = (uint64_t)llround(number);
	return NULL;
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

static int set(struct sim_cfg *cfg, const struct sim_param *p, const char *text,
	       char *err, size_t len)
{
	uint64_t *at = (uint64_t *)((char *)cfg + p->off);
	const char *right;
	uint64_t value;

	if (p->type == SIM_T_TORUS) {
		if (!angara_topo_parse(text, &cfg->torus))
			return 0;
		snprintf(err, len, "%s '%s': not 1 to 4 sizes as 4x4x2, 2^20 nodes at most",
			 p->name, text);
		return -EINVAL;
	}
	if (p->type == SIM_T_CHOICE) {
		if (!parse_choice(p, text, at))
			return 0;
		snprintf(err, len, "%s '%s': not %s", p->name, text, p->choices);
		return -EINVAL;
	}
	right = sim_parse(p->type, text, &value);
	if (right) {
		snprintf(err, len, "%s '%s': not %s", p->name, text, right);
		return -EINVAL;
	}
	if (value < p->min || value > p->max) {
		snprintf(err, len, "%s '%s': out of range", p->name, text);
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
	char err[128];

	memset(cfg, 0, sizeof(*cfg));
	for (p = sim_params; p->name; p++)
		set(cfg, p, p->value, err, sizeof(err));
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
	FILE *f = fopen(path, "r");
	unsigned int number = 0;
	char line[256], why[192];
	int rc = 0;

	if (!f) {
		snprintf(err, len, "%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	while (!rc && fgets(line, sizeof(line), f)) {
		number++;
		rc = file_line(cfg, line, why, sizeof(why));
		if (rc)
			snprintf(err, len, "%s:%u: %s", path, number, why);
	}
	if (!rc && ferror(f)) {
		snprintf(err, len, "%s: %s", path, strerror(errno));
		rc = -EINVAL;
	}
	fclose(f);
	return rc ? -EINVAL : 0;
}

static void print_torus(const struct sim_cfg *cfg, FILE *to)
{
	uint32_t d;

	for (d = 0; d < cfg->torus.ndims; d++)
		fprintf(to, "%s%u", d ? "x" : "", cfg->torus.dims[d]);
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

		fprintf(to, "%s = ", p->name);
		if (p->type == SIM_T_TORUS)
			print_torus(cfg, to);
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
	uint64_t flits = cfg->train * (1 + (cfg->packet + 15) / 16);

	if (flits > UINT16_MAX) {
		snprintf(err, len,
			 "packet and train: %llu flits together, 65535 at most",
			 (unsigned long long)flits);
		return -EINVAL;
	}
	if (cfg->train & (cfg->train - 1)) {
		snprintf(err, len, "train %llu: not a power of two",
			 (unsigned long long)cfg->train);
		return -EINVAL;
	}
	return 0;
}
