// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl: attributes become records.
 *
 * One table says, per attribute, its key and what kind of value it holds; the
 * keys are the names of the netlink specification with underscores.
 */

#include <stdio.h>
#include <string.h>
#include <netlink/attr.h>

#include "ang_counter_attrs.h"
#include "angaractl.h"

enum kind {
	KIND_NONE, KIND_U8, KIND_U16, KIND_U32, KIND_U64, KIND_BOOL, KIND_TEXT,
	KIND_ID, KIND_DEV, KIND_DIR, KIND_PORTS, KIND_STATE,
	KIND_RULE, KIND_COUNTERS,
};

/* Counters word by word: what each is called, and its attribute. */
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

static const struct attr {
	const char *key;
	enum kind kind;
	const char *const *names;	/* KIND_COUNTERS */
	const uint8_t *words;		/* 0 is not shown */
	size_t count;
} attrs_known[ANGARA_A_MAX + 1] = {
	[ANGARA_A_DEV] = { "dev", KIND_DEV },
	[ANGARA_A_NODE] = { "node", KIND_U32 },
	[ANGARA_A_NODES] = { "nodes", KIND_U32 },
	[ANGARA_A_FABRIC] = { "fabric", KIND_ID },
	[ANGARA_A_NUM_PORTS] = { "ports", KIND_U32 },
	[ANGARA_A_DESCRIPTION] = { "description", KIND_TEXT },
	[ANGARA_A_BUS] = { "bus", KIND_TEXT },
	[ANGARA_A_CONTEXTS] = { "contexts", KIND_U32 },
	[ANGARA_A_CONTEXTS_USED] = { "contexts_used", KIND_U32 },
	[ANGARA_A_NODE_COUNTERS] = { "counters", KIND_COUNTERS,
				     NAMES(node_counters, node_words) },
	[ANGARA_A_PORT_COUNTERS] = { "counters", KIND_COUNTERS,
				     NAMES(link_counters, port_words) },
	[ANGARA_A_TREE_COUNTERS] = { "counters", KIND_COUNTERS,
				     NAMES(tree_counters, tree_words) },
	[ANGARA_A_CTX_COUNTERS] = { "counters", KIND_COUNTERS,
				    NAMES(ctx_counters, ctx_words) },
	[ANGARA_A_PORT] = { "dir", KIND_DIR },
	[ANGARA_A_NEIGHBOR] = { "neighbor", KIND_U32 },
	[ANGARA_A_NEIGHBOR_PORT] = { "neighbor_dir", KIND_DIR },
	[ANGARA_A_TREE] = { "tree", KIND_U8 },
	[ANGARA_A_STATE] = { "state", KIND_STATE },
	[ANGARA_A_IS_ROOT] = { "is_root", KIND_BOOL },
	[ANGARA_A_TO_ROOT] = { "to_root", KIND_DIR },
	[ANGARA_A_PORTS] = { "ports", KIND_PORTS },
	[ANGARA_A_PE] = { "pe", KIND_U16 },
	[ANGARA_A_PKEY] = { "pkey", KIND_U32 },
	[ANGARA_A_EPOCH] = { "epoch", KIND_U16 },
	[ANGARA_A_MEMBERS] = { "members", KIND_U8 },
	[ANGARA_A_DOWN_NODE] = { "down_node", KIND_U32 },
	[ANGARA_A_DELEGATED] = { "delegated", KIND_U32 },
	[ANGARA_A_RULE] = { "rule", KIND_RULE },
	[ANGARA_A_CTX] = { "ctx", KIND_U32 },
	[ANGARA_A_PID] = { "pid", KIND_U32 },
	[ANGARA_A_UID] = { "uid", KIND_U32 },
	[ANGARA_A_MRS] = { "mrs", KIND_U32 },
	[ANGARA_A_PINNED] = { "pinned", KIND_U64 },
	[ANGARA_A_EVENT] = { "event", KIND_U8 },
	[ANGARA_A_INDEX] = { "index", KIND_U32 },
	[ANGARA_A_VALUE] = { "value", KIND_U32 },
};

const char *attr_name(unsigned int attr)
{
	const char *key = attr <= ANGARA_A_MAX ? attrs_known[attr].key : NULL;

	return key ? key : "?";
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

static struct json_object *dir_value(uint8_t dir)
{
	return dir == ANGARA_PORT_NONE ? NULL :
	       json_object_new_string(angara_dir_name(dir));
}

static struct json_object *ports_value(uint64_t ports)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int d = 0; d < ANGARA_MAX_DIRS; d++) {
		if (ports >> d & 1)
			json_object_array_add(array, dir_value(d));
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
 * Not a number: a program's JSON reader need not keep 64 bits.  The same form
 * as people see and type.
 */
static struct json_object *id_value(uint64_t id)
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
		return json_object_new_string(nla_get_string(attr));
	case KIND_ID:
		return id_value(nla_get_u64(attr));
	case KIND_DEV:
		return dev_value(nla_get_u32(attr));
	case KIND_DIR:
		return dir_value(nla_get_u8(attr));
	case KIND_PORTS:
		return ports_value(nla_get_u64(attr));
	case KIND_STATE:
		return json_object_new_string(state_name(nla_get_u8(attr)));
	case KIND_RULE:
		return json_object_new_int(nla_get_u8(attr));
	case KIND_COUNTERS:
		return counters_value(known, attr);
	case KIND_NONE:
		break;
	}
	return NULL;
}

/* The JSON object that holds all known attributes of a message. */
struct json_object *record_of(struct nlattr **attrs)
{
	struct json_object *record = json_object_new_object();

	for (unsigned int a = 0; a <= ANGARA_A_MAX; a++) {
		const struct attr *known = &attrs_known[a];

		if (attrs[a] && known->kind != KIND_NONE)
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

/* "2x2x2" */
const char *dims_text(struct json_object *value, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < json_object_array_length(value) && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%d", i ? "x" : "",
			       json_object_get_int(
				       json_object_array_get_idx(value, i)));
	return buf;
}
