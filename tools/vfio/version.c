// SPDX-License-Identifier: GPL-2.0-only
/*
 * Negotiation of the protocol's version and limits.
 *
 * A proposal that the server cannot meet is answered with an error, and then
 * the connection is closed; see proto_handle().
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "proto.h"

#define DEPTH	8	/* nesting of a client's JSON; clients use about three levels */

static bool is_number(json_object *val)
{
	return json_object_is_type(val, json_type_int) &&
	       json_object_get_int64(val) >= 0;
}

static bool is_bool(json_object *val)
{
	return json_object_is_type(val, json_type_boolean);
}

static bool has_page(json_object *val)
{
	return is_number(val) && json_object_get_int64(val) & DMA_PAGE;
}

/* The second socket is for commands of the server, which sends none. */
static bool is_twin(json_object *val)
{
	json_object *supported;

	return json_object_is_type(val, json_type_object) &&
	       (!json_object_object_get_ex(val, "supported", &supported) ||
		is_bool(supported));
}

/*
 * The capabilities of protocol 0.0.  The answer is a subset of the client's
 * proposal, so the server keeps to the default of a capability that the client
 * does not name: 1 MiB of data, 65535 maps, pages of 4 KiB.  One descriptor in
 * a message is the default; more do no harm.
 *
 * Clients accept no max_dma_maps above the default.
 */
static const struct {
	const char *name;
	bool (*ok)(json_object *val);
	u32 value;		/* limit in the answer; 0: not a number */
} known[] = {
	{ "max_msg_fds", is_number, VFU_MAX_FDS },
	{ "max_data_xfer_size", is_number, VFU_MAX_DATA },
	{ "max_dma_maps", is_number, VFU_MAX_MAPS },
	{ "pgsizes", has_page, DMA_PAGE },
	{ "write_multiple", is_bool },
	{ "twin_socket", is_twin },
};

#define NUM_KNOWN	(sizeof(known) / sizeof(known[0]))

/* Parses the client's capabilities: @caps, a part of @root; NULL: none.  Return: 0 or -errno. */
static int parse(const char *text, u32 len, json_object **root,
		 json_object **caps)
{
	json_tokener *tok = json_tokener_new_ex(DEPTH);
	enum json_tokener_error err;
	bool whole;

	*root = NULL;
	*caps = NULL;
	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
			       JSON_TOKENER_VALIDATE_UTF8);
	*root = json_tokener_parse_ex(tok, text, (int)len);
	err = json_tokener_get_error(tok);
	whole = json_tokener_get_parse_end(tok) == len;
	json_tokener_free(tok);
	if (err != json_tokener_success || !whole ||
	    !json_object_is_type(*root, json_type_object))
		return -EINVAL;
	if (!json_object_object_get_ex(*root, "capabilities", caps))
		return 0;
	return json_object_is_type(*caps, json_type_object) ? 0 : -EINVAL;
}

/* Return: the name of an invalid capability; NULL if none. */
static const char *flaw(json_object *caps)
{
	json_object *val;
	size_t i;

	for (i = 0; i < NUM_KNOWN; i++)
		if (json_object_object_get_ex(caps, known[i].name, &val) &&
		    !known[i].ok(val))
			return known[i].name;
	return NULL;
}

static int answer(json_object *caps, char *out, u32 max)
{
	json_object *root = json_object_new_object();
	json_object *mine = json_object_new_object();
	json_object *multi;
	size_t i;
	int n;

	for (i = 0; i < NUM_KNOWN; i++)
		if (known[i].value &&
		    json_object_object_get_ex(caps, known[i].name, NULL))
			json_object_object_add(mine, known[i].name,
				json_object_new_int64(known[i].value));
	if (json_object_object_get_ex(caps, "write_multiple", &multi) &&
	    json_object_get_boolean(multi))
		json_object_object_add(mine, "write_multiple",
				       json_object_new_boolean(1));
	json_object_object_add(root, "capabilities", mine);
	/* QEMU cannot receive an answer that is longer than its proposal. */
	n = snprintf(out, max, "%s", json_object_to_json_string_ext(root,
						JSON_C_TO_STRING_PLAIN)) + 1;
	json_object_put(root);
	return n;
}

/**
 * version_handle() - answer a client's first message
 * @c: card
 * @m: message
 * @out: out: body of the reply
 * @max: its size, enough for every answer
 *
 * Return: bytes of the reply's body, or -errno: the versions are incompatible.
 */
int version_handle(struct card *c, const struct vfu_msg *m, u8 *out, u32 max)
{
	const struct vfu_version *in = (const void *)m->body;
	u32 len = m->len - (u32)sizeof(*in);
	struct vfu_version own = { 0 };
	json_object *root = NULL;
	json_object *caps = NULL;
	const char *bad = NULL;
	int ret = 0;

	if (in->major) {
		card_say(c, "the client speaks vfio-user %u.%u, the server only 0.0: use QEMU 10.1 or later",
			 in->major, in->minor);
		return -EPROTO;
	}
	if (len && in->data[len - 1])
		ret = -EINVAL;
	else if (len > 1)
		ret = parse(in->data, len - 1, &root, &caps);
	if (!ret)
		bad = flaw(caps);
	if (ret) {
		card_say(c, "the client's version data is not a JSON object with capabilities");
	} else if (bad) {
		card_say(c, "the client's capability %s is malformed or cannot be met",
			 bad);
		ret = -EINVAL;
	} else {
		memcpy(out, &own, sizeof(own));
		ret = (int)sizeof(own) +
		      answer(caps, (char *)out + sizeof(own),
			     max - (u32)sizeof(own));
	}
	json_object_put(root);
	return ret;
}
