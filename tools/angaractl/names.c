// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl: conversion of attributes to records.
 *
 * For each set of attributes, a table gives the key and the kind of value of each
 * attribute; the keys are the names in the netlink specification, with underscores.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>

#include "ang_nl_attrs.h"
#include "angaractl.h"

enum kind {
	KIND_U8, KIND_U16, KIND_U32, KIND_U64, KIND_BOOL, KIND_TEXT,
	KIND_ID, KIND_DEV, KIND_PORT, KIND_PORTS, KIND_STATE,
	KIND_RULE, KIND_COUNTERS,
};

/* Least bytes of an attribute.  A server may send shorter ones, which are left out. */
static const uint8_t least_bytes[] = {
	[KIND_U8] = 1, [KIND_U16] = 2, [KIND_U32] = 4, [KIND_U64] = 8,
	[KIND_BOOL] = 1, [KIND_TEXT] = 0, [KIND_ID] = 8, [KIND_DEV] = 4,
	[KIND_PORT] = 1, [KIND_PORTS] = 8, [KIND_STATE] = 1, [KIND_RULE] = 1,
	[KIND_COUNTERS] = 0,
};

/* Name and attribute of each word of the counters. */
static const char *const node_counters[] = ANGARA_NODE_COUNTER_NAMES;
static const char *const link_counters[] = ANGARA_LINK_COUNTER_NAMES;
static const char *const tree_counters[] = ANGARA_TREE_COUNTER_NAMES;
static const char *const ctx_counters[] = ANGARA_CTX_COUNTER_NAMES;

static const uint8_t node_words[] = ANG_NODE_COUNTER_ATTRS;
static const uint8_t port_words[] = ANG_PORT_COUNTER_ATTRS;
static const uint8_t tree_words[] = ANG_TREE_COUNTER_ATTRS;
static const uint8_t ctx_words[] = ANG_CTX_COUNTER_ATTRS;

#define NAMES(names, words)	names, words, ARRAY_SIZE(names)
#define FITS(names, words)	_Static_assert(ARRAY_SIZE(names) == \
					       ARRAY_SIZE(words), #names)

FITS(node_counters, node_words);
FITS(link_counters, port_words);
FITS(tree_counters, tree_words);
FITS(ctx_counters, ctx_words);

struct attr {
	const char *key;
	enum kind kind;
	const char *const *names;	/* KIND_COUNTERS */
	const uint8_t *words;		/* attribute of each counter; 0: it is not shown */
	size_t count;
};

/* Attributes that locate an object; each set has them. */
#define PLACE					\
	[ANG_NL_DEV] = { "dev", KIND_DEV },	\
	[ANG_NL_NODE] = { "node", KIND_U32 },	\
	[ANG_NL_FABRIC] = { "fabric", KIND_ID }

static const struct attr dev_attrs[] = {
	PLACE,
	[ANGARA_A_DEV_NODES] = { "nodes", KIND_U32 },
	[ANGARA_A_DEV_PORTS] = { "ports", KIND_U32 },
	[ANGARA_A_DEV_BUS] = { "bus", KIND_TEXT },
	[ANGARA_A_DEV_CONTEXTS] = { "contexts", KIND_U32 },
	[ANGARA_A_DEV_CONTEXTS_USED] = { "contexts_used", KIND_U32 },
	[ANGARA_A_DEV_COUNTERS] = { "counters", KIND_COUNTERS,
				    NAMES(node_counters, node_words) },
};

static const struct attr fabric_attrs[] = {
	PLACE,
	[ANGARA_A_FABRIC_NODES] = { "nodes", KIND_U32 },
	[ANGARA_A_FABRIC_DESCRIPTION] = { "description", KIND_TEXT },
};

static const struct attr port_attrs[] = {
	PLACE,
	[ANGARA_A_PORT_ROUTER] = { "router", KIND_U32 },
	[ANGARA_A_PORT_ID] = { "port", KIND_U8 },
	[ANGARA_A_PORT_NEIGHBOR] = { "neighbor", KIND_U32 },
	[ANGARA_A_PORT_NEIGHBOR_PORT] = { "neighbor_port", KIND_U8 },
	[ANGARA_A_PORT_COUNTERS] = { "counters", KIND_COUNTERS,
				     NAMES(link_counters, port_words) },
	[ANGARA_A_PORT_DOWN] = { "down", KIND_BOOL },
	[ANGARA_A_PORT_LOSS] = { "loss", KIND_U32 },
	[ANGARA_A_PORT_CORRUPT] = { "corrupt", KIND_U32 },
	[ANGARA_A_PORT_DELAY] = { "delay", KIND_U64 },
	[ANGARA_A_PORT_SEED] = { "seed", KIND_U64 },
};

static const struct attr tree_attrs[] = {
	PLACE,
	[ANGARA_A_TREE_ROUTER] = { "router", KIND_U32 },
	[ANGARA_A_TREE_ID] = { "tree", KIND_U8 },
	[ANGARA_A_TREE_STATE] = { "state", KIND_STATE },
	[ANGARA_A_TREE_IS_ROOT] = { "is_root", KIND_BOOL },
	[ANGARA_A_TREE_TO_ROOT] = { "to_root", KIND_PORT },
	[ANGARA_A_TREE_PORTS] = { "ports", KIND_PORTS },
	[ANGARA_A_TREE_PE] = { "pe", KIND_U16 },
	[ANGARA_A_TREE_PKEY] = { "pkey", KIND_U32 },
	[ANGARA_A_TREE_EPOCH] = { "epoch", KIND_U16 },
	[ANGARA_A_TREE_MEMBERS] = { "members", KIND_U8 },
	[ANGARA_A_TREE_DOWN_NODE] = { "down_node", KIND_U32 },
	[ANGARA_A_TREE_DELEGATED] = { "delegated", KIND_U32 },
	[ANGARA_A_TREE_OWNED] = { "owned", KIND_BOOL },
	[ANGARA_A_TREE_COUNTERS] = { "counters", KIND_COUNTERS,
				     NAMES(tree_counters, tree_words) },
};

static const struct attr route_attrs[] = {
	PLACE,
	[ANGARA_A_ROUTE_ID] = { "router", KIND_U32 },
	[ANGARA_A_ROUTE_ROW] = { "row", KIND_TEXT },
	[ANGARA_A_ROUTE_USE] = { "use", KIND_U8 },
};

static const struct attr check_attrs[] = {
	PLACE,
	[ANGARA_A_CHECK_ID] = { "tree", KIND_U8 },
	[ANGARA_A_CHECK_RULE] = { "rule", KIND_RULE },
	[ANGARA_A_CHECK_NODES] = { "nodes", KIND_U32 },
};

static const struct attr ctx_attrs[] = {
	PLACE,
	[ANGARA_A_CTX_ID] = { "ctx", KIND_U32 },
	[ANGARA_A_CTX_PKEY] = { "pkey", KIND_U32 },
	[ANGARA_A_CTX_PID] = { "pid", KIND_U32 },
	[ANGARA_A_CTX_UID] = { "uid", KIND_U32 },
	[ANGARA_A_CTX_MRS] = { "mrs", KIND_U32 },
	[ANGARA_A_CTX_PINNED] = { "pinned", KIND_U64 },
	[ANGARA_A_CTX_COUNTERS] = { "counters", KIND_COUNTERS,
				    NAMES(ctx_counters, ctx_words) },
};

static const struct attr event_attrs[] = {
	PLACE,
	[ANGARA_A_EVENT_TYPE] = { "event", KIND_U8 },
	[ANGARA_A_EVENT_INDEX] = { "index", KIND_U32 },
	[ANGARA_A_EVENT_VALUE] = { "value", KIND_U32 },
};

#define MAX_ATTRS	32

#define SET(_attrs)	{ (_attrs), ARRAY_SIZE(_attrs) }

/* The set of attributes that belongs to each command. */
static const struct set {
	const struct attr *attrs;
	size_t count;
} sets[] = {
	[ANGARA_CMD_DEV_GET] = SET(dev_attrs),
	[ANGARA_CMD_FABRIC_GET] = SET(fabric_attrs),
	[ANGARA_CMD_PORT_GET] = SET(port_attrs),
	[ANGARA_CMD_PORT_SET] = SET(port_attrs),
	[ANGARA_CMD_ROUTE_SET] = SET(route_attrs),
	[ANGARA_CMD_TREE_GET] = SET(tree_attrs),
	[ANGARA_CMD_TREE_SET] = SET(tree_attrs),
	[ANGARA_CMD_TREE_CLEAR] = SET(tree_attrs),
	[ANGARA_CMD_TREE_DELEGATE] = SET(tree_attrs),
	[ANGARA_CMD_TREE_CHECK] = SET(check_attrs),
	[ANGARA_CMD_CTX_GET] = SET(ctx_attrs),
	[ANGARA_CMD_EVENT] = SET(event_attrs),
};

static const struct attr *attr_of(unsigned int command, unsigned int attr)
{
	if (command >= ARRAY_SIZE(sets) || attr >= sets[command].count ||
	    !sets[command].attrs[attr].key)
		return NULL;
	return &sets[command].attrs[attr];
}

/* Name of an attribute of a command. */
const char *attr_name(unsigned int command, unsigned int attr)
{
	const struct attr *known = attr_of(command, attr);

	return known ? known->key : "?";
}

const char *state_name(unsigned int state)
{
	static const char *const names[] = {
		[ANGARA_TREE_STATE_UNSET] = "unset",
		[ANGARA_TREE_STATE_UP] = "up",
		[ANGARA_TREE_STATE_DOWN] = "down",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

struct json_object *record_port(uint8_t port)
{
	return port == ANGARA_PORT_NONE ? NULL : json_object_new_int(port);
}

struct json_object *record_ports(uint64_t ports)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int p = 0; p < ANGARA_MAX_PORTS; p++) {
		if (ports >> p & 1)
			json_object_array_add(array, record_port(p));
	}
	return array;
}

static struct json_object *counters_value(const struct attr *known,
					  struct nlattr *attr)
{
	struct json_object *counters = json_object_new_object();

	for (size_t i = 0; i < known->count; i++) {
		struct nlattr *value = known->words[i] ?
			nla_find(nla_data(attr), nla_len(attr), known->words[i]) :
			NULL;

		if (value && nla_len(value) >= (int)sizeof(uint64_t))
			json_object_object_add(counters, known->names[i],
				json_object_new_uint64(nla_get_u64(value)));
	}
	return counters;
}

/*
 * Return: an id as text, written as in tables and arguments.  JSON readers may not
 * keep all 64 bits of a number.
 */
struct json_object *record_id(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)id);
	return json_object_new_string(text);
}

static struct json_object *dev_value(uint32_t dev)
{
	char text[24];

	snprintf(text, sizeof(text), "angara%u", dev);
	return json_object_new_string(text);
}

/*
 * A server may leave out the zero byte.  Control characters would reach the
 * terminal: replace them, except those that a description of a fabric needs.
 */
static struct json_object *text_value(struct nlattr *attr)
{
	char *text = strndup(nla_data(attr), (size_t)nla_len(attr));
	struct json_object *value;

	if (!text)
		return NULL;
	replace_controls(text, "\n\t");
	value = json_object_new_string(text);
	free(text);
	return value;
}

/* Converts an attribute, which has enough bytes for its kind. */
static struct json_object *value_of(const struct attr *known,
				    struct nlattr *attr)
{
	switch (known->kind) {
	case KIND_U8:
		return json_object_new_int(nla_get_u8(attr));
	case KIND_U16:
		return json_object_new_int(nla_get_u16(attr));
	case KIND_U32:
		return json_object_new_int64(nla_get_u32(attr));
	case KIND_U64:
		return json_object_new_uint64(nla_get_u64(attr));
	case KIND_BOOL:
		return json_object_new_boolean(nla_get_u8(attr));
	case KIND_TEXT:
		return text_value(attr);
	case KIND_ID:
		return record_id(nla_get_u64(attr));
	case KIND_DEV:
		return dev_value(nla_get_u32(attr));
	case KIND_PORT:
		return record_port(nla_get_u8(attr));
	case KIND_PORTS:
		return record_ports(nla_get_u64(attr));
	case KIND_STATE:
		return json_object_new_string(state_name(nla_get_u8(attr)));
	case KIND_RULE:
		return json_object_new_int(nla_get_u8(attr));
	case KIND_COUNTERS:
		return counters_value(known, attr);
	}
	return NULL;
}

/*
 * Return: a JSON object with the attributes of a message; NULL if the message cannot
 * be read.  Unknown attributes of a newer kernel, and attributes that are too short,
 * are left out.
 */
struct json_object *record_of(struct nlmsghdr *header)
{
	struct nlattr *attrs[MAX_ATTRS];
	struct json_object *record;
	unsigned int command;

	if (!genlmsg_valid_hdr(header, 0) ||
	    genlmsg_parse(header, 0, attrs, MAX_ATTRS - 1, NULL))
		return NULL;
	command = genlmsg_hdr(header)->cmd;
	record = json_object_new_object();
	for (unsigned int a = 0; a < MAX_ATTRS; a++) {
		const struct attr *known = attr_of(command, a);

		if (attrs[a] && known && nla_len(attrs[a]) >= least_bytes[known->kind])
			json_object_object_add(record, known->key,
					       value_of(known, attrs[a]));
	}
	return record;
}

uint64_t record_number(struct json_object *record, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(record, key, &value) ?
	       json_object_get_uint64(value) : 0;
}

const char *record_string(struct json_object *record, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(record, key, &value) && value ?
	       json_object_get_string(value) : "-";
}

uint64_t record_fabric(struct json_object *record)
{
	unsigned long long id = 0;

	sscanf(record_string(record, "fabric"), "0x%llx", &id);
	return id;
}

uint32_t record_dev(struct json_object *record)
{
	uint32_t dev = NO_DEV;

	sscanf(record_string(record, "dev"), "angara%u", &dev);
	return dev;
}

const char *pkey_name(uint32_t pkey, char *buf, size_t size)
{
	if (!pkey)
		return "none";
	if (pkey >= ANGARA_PKEY_UID(0))
		snprintf(buf, size, "uid:%u", pkey & ANGARA_PKEY_UID_MAX);
	else
		snprintf(buf, size, "0x%x", pkey);
	return buf;
}

const char *pkey_text(struct json_object *value, char *buf, size_t size)
{
	return pkey_name(json_object_get_int64(value), buf, size);
}
