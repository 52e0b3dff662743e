// SPDX-License-Identifier: GPL-2.0-only
/* angaractl link: the links of nodes and switches, and their counters. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "angaractl.h"

#define NS_PER_S	1000000000U

/* Text of a probability, which records give as a multiple of 1 / ANGARA_FAULT_ONE. */
static const char *share_text(struct json_object *value, char *buf, size_t size)
{
	snprintf(buf, size, "%g", json_object_get_double(value) / ANGARA_FAULT_ONE);
	return buf;
}

static const char *delay_text(struct json_object *value, char *buf, size_t size)
{
	uint64_t ns = json_object_get_int64(value);

	if (!ns)
		return "0";
	snprintf(buf, size, ns % 1000 ? "%lluns" : "%lluus",
		 (unsigned long long)(ns % 1000 ? ns : ns / 1000));
	return buf;
}

static const struct column columns[] = {
	{ "dev", "DEV" }, { "router", "ROUTER" }, { "name", "PORT" },
	{ "neighbor", "TO" }, { "packets", "PACKETS" }, { "flits", "FLITS" },
	{ "stalls", "STALLS" }, { "state", "STATE" },
};

static const struct column fault_columns[] = {
	{ "dev", "DEV" }, { "router", "ROUTER" }, { "name", "PORT" },
	{ "neighbor", "TO" }, { "state", "STATE" }, { "loss", "LOSS", share_text },
	{ "corrupt", "CORRUPT", share_text }, { "delay", "DELAY", delay_text },
	{ "lost", "LOST" }, { "wrong", "WRONG" }, { "retransmitted", "AGAIN" },
	{ "timeouts", "TIMEOUTS" },
};

/* Sums the counters of one kind over the virtual channels. */
static int64_t sum(struct json_object *record, const char *kind)
{
	struct json_object *counters;
	int64_t total = 0;

	if (!json_object_object_get_ex(record, "counters", &counters))
		return 0;
	json_object_object_foreach(counters, name, value) {
		if (!strncmp(name, kind, strlen(kind)))
			total += json_object_get_int64(value);
	}
	return total;
}

static void add_sums(struct nl *nl, struct json_object *links)
{
	static const char *const kinds[] = { "packets", "flits", "stalls" };

	fabric_add_names(nl, links);
	for (size_t i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			json_object_object_add(link, kinds[k],
				json_object_new_int64(sum(link, kinds[k])));
		json_object_object_add(link, "state",
			json_object_new_string(record_number(link, "down") ?
					       "down" : "up"));
	}
}

/*
 * Adds the sums of counters to links, also those of faults.  The key "corrupt" is the setting, so
 * the number of corrupted packets has the key "wrong".
 */
void link_add_faults(struct nl *nl, struct json_object *links)
{
	static const char *const kinds[] = {
		"lost", "corrupt", "retransmitted", "timeouts",
	};
	static const char *const keys[] = {
		"lost", "wrong", "retransmitted", "timeouts",
	};

	add_sums(nl, links);
	for (size_t i = 0; i < json_object_array_length(links); i++) {
		struct json_object *link = json_object_array_get_idx(links, i);

		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			json_object_object_add(link, keys[k],
				json_object_new_int64(sum(link, kinds[k])));
	}
}

static int link_show(struct args *args)
{
	return list_objects(args, ANGARA_CMD_PORT_GET, add_sums, columns,
			    ARRAY_SIZE(columns));
}

static int link_faults(struct args *args)
{
	return list_objects(args, ANGARA_CMD_PORT_GET, link_add_faults, fault_columns,
			    ARRAY_SIZE(fault_columns));
}

/* The settings of a link that the command line requests. */
struct setting {
	bool has_down, has_fault;
	uint8_t down;
	uint32_t loss, corrupt;
	uint64_t delay, seed;
};

static int parse_share(const char *text, const char *what, uint32_t *share)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno == ERANGE || !(value >= 0 && value <= 1))
		return misuse("\"%s\": %s is a probability from 0 to 1, such as 1e-3",
			      text, what);
	*share = (uint32_t)(value * ANGARA_FAULT_ONE + 0.5);
	return DONE;
}

static int parse_delay(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double value;
	char *end;

	value = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_SIZE(units) && end != text; i++) {
		if (strcmp(end, units[i].name))
			continue;
		value *= units[i].ns;
		if (!(value >= 0 && value <= ANGARA_FAULT_MAX_NS))
			break;
		*ns = (uint64_t)(value + 0.5);
		return DONE;
	}
	return misuse("\"%s\": a delay is a time of at most 1s, such as 5us or 100ns",
		      text);
}

static int parse_fault(struct args *args, const char *word, struct setting *s)
{
	char *text;
	int status = args_value(args, word, &text);

	s->has_fault = true;
	if (status)
		return status;
	if (!strcmp(word, "loss"))
		return parse_share(text, word, &s->loss);
	if (!strcmp(word, "corrupt"))
		return parse_share(text, word, &s->corrupt);
	if (!strcmp(word, "delay"))
		return parse_delay(text, &s->delay);
	return parse_number(text, 0, UINT64_MAX, "a seed", &s->seed);
}

static int parse_setting(struct args *args, struct about *about, struct setting *s)
{
	static const char *const names[] = {
		"down", "up", "loss", "corrupt", "delay", "seed", "fabric",
	};
	const char *word;
	int status = DONE;

	while (!status && (word = args_next(args))) {
		int which = match_word(word, names, ARRAY_SIZE(names),
				       "a setting of a link");

		if (which < 0)
			return MISUSED;
		if (which == 6) {
			status = args_about(args, names[which], about);
		} else if (which > 1) {
			status = parse_fault(args, names[which], s);
		} else {
			if (s->has_down && s->down != !which)
				return misuse("a link is set either down or up");
			s->has_down = true;
			s->down = !which;
		}
	}
	if (status)
		return status;
	if (!s->has_down && !s->has_fault)
		return misuse("no setting: give down, up, loss, corrupt, delay or seed");
	if ((uint64_t)s->loss + s->corrupt > ANGARA_FAULT_ONE)
		return misuse("the sum of loss and corrupt must be at most 1");
	return DONE;
}

/* Reads a port by number or, on a torus, by direction. */
static int parse_port(const char *text, const struct fabric *fabric, uint8_t *port)
{
	uint64_t value = 0;
	char name[PORT_NAME];
	int status;

	for (uint32_t p = 0; p < fabric->ports; p++)
		if (!strcmp(text, fabric_port(fabric, p, name))) {
			*port = p;
			return DONE;
		}
	status = parse_number(text, 0, fabric->ports - 1,
			      fabric->graph ? "a port" : "a port is X+, X-, ..., or", &value);
	*port = value;
	return status;
}

static int parse_router(const char *text, const struct fabric *fabric,
			uint32_t *router)
{
	uint64_t value = 0;
	int status;

	if (strchr(text, ','))
		return parse_node(text, fabric, router);
	status = parse_number(text, 0, fabric->routers - 1, "a node or switch",
			      &value);
	*router = value;
	return status;
}

static int send_setting(struct nl *nl, const struct fabric *fabric,
			uint32_t router, uint8_t port, const struct setting *s)
{
	struct about about = { .has_dev = true, .dev = fabric_dev(fabric, router) };
	struct nl_msg *msg;
	char name[ROUTER_NAME], to[PORT_NAME];

	if (about.dev == NO_DEV)
		return fail("%s has no device on this machine",
			    fabric_router(fabric, router, name));
	msg = ctl_request(nl, ANGARA_CMD_PORT_SET, &about);
	ctl_put_u8(&msg, ANGARA_A_PORT_ID, port);
	ctl_put_u32(&msg, ANGARA_A_PORT_ROUTER, router);
	if (s->has_down)
		ctl_put_u8(&msg, ANGARA_A_PORT_DOWN, s->down);
	if (s->has_fault) {
		ctl_put_u32(&msg, ANGARA_A_PORT_LOSS, s->loss);
		ctl_put_u32(&msg, ANGARA_A_PORT_CORRUPT, s->corrupt);
		ctl_put_u64(&msg, ANGARA_A_PORT_DELAY, s->delay);
		ctl_put_u64(&msg, ANGARA_A_PORT_SEED, s->seed);
	}
	if (ctl_call(nl, msg, NULL))
		return fail("link %s of %s: %s", fabric_port(fabric, port, to),
			    fabric_router(fabric, router, name), nl->error);
	return DONE;
}

static int link_set(struct args *args)
{
	struct setting s = { 0 };
	struct about about = { 0 };
	struct fabric fabric;
	char *node = args_next(args), *port = args_next(args);
	uint32_t router = 0;
	uint8_t number = 0;
	struct nl nl;
	int status;

	if (!port)
		return misuse("no link: give a node and its port");
	status = parse_setting(args, &about, &s);
	if (status)
		return status;
	status = ctl_start(&nl);
	if (status)
		return status;
	status = fabric_find(&nl, &about, &fabric);
	if (status)
		goto stop;
	status = parse_router(node, &fabric, &router);
	if (!status)
		status = parse_port(port, &fabric, &number);
	if (!status)
		status = send_setting(&nl, &fabric, router, number, &s);
	fabric_free(&fabric);
stop:
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ "show", "[dev DEV] [fabric ID]", "links, with the traffic sent on each",
	  link_show, 0 },
	{ "faults", "[dev DEV] [fabric ID]",
	  "faults of links, and the packets that were retransmitted", link_faults, 0 },
	{ "set", "NODE PORT {down | up | loss P | corrupt P | delay T | seed N}... [fabric ID]",
	  "take a link down or up, or let it lose packets, for tests", link_set, 0 },
};

const struct object link_object = {
	"link", "links between neighbours", commands, ARRAY_SIZE(commands),
};
