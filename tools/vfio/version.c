// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which version of the protocol, and which limits.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "proto.h"

#define DEPTH	8	/* of a client's JSON; some three are in use */

/* What we can, if the client names it: an answer is a part of its proposal. */
static const struct {
	const char *name;
	u32 value;
} limits[] = {
	{ "max_msg_fds", VFU_MAX_FDS },
	{ "max_data_xfer_size", VFU_MAX_DATA },
	/* There may be more, but no client would believe it. */
	{ "max_dma_maps", 65535 },
	{ "pgsizes", DMA_PAGE },
};

/* Return: the client's capabilities, which go with @root; NULL if none. */
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

static int answer(json_object *caps, char *out, u32 max)
{
	json_object *root = json_object_new_object();
	json_object *mine = json_object_new_object();
	json_object *multi;
	size_t i;
	int n;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (json_object_object_get_ex(caps, limits[i].name, NULL))
			json_object_object_add(mine, limits[i].name,
				json_object_new_int64(limits[i].value));
	if (json_object_object_get_ex(caps, "write_multiple", &multi) &&
	    json_object_get_boolean(multi))
		json_object_object_add(mine, "write_multiple",
				       json_object_new_boolean(1));
	json_object_object_add(root, "capabilities", mine);
	n = snprintf(out, max, "%s", json_object_to_json_string(root)) + 1;
	json_object_put(root);
	return n;
}

/**
 * version_handle() - answer a client's first message
 * @c: card
 * @m: message
 * @out: out: body of the reply
 * @max: bytes of it, enough for all that we say
 *
 * Return: bytes of the reply's body, or -errno: there is nothing to talk about.
 */
int version_handle(struct card *c, const struct vfu_msg *m, u8 *out, u32 max)
{
	const struct vfu_version *in = (const void *)m->body;
	u32 len = m->len - (u32)sizeof(*in);
	struct vfu_version own = { 0 };
	json_object *root = NULL;
	json_object *caps = NULL;
	int ret = 0;

	if (in->major) {
		card_say(c, "the client speaks vfio-user %u.%u, here it is 0.0: use QEMU 10.1 or later",
			 in->major, in->minor);
		return -EPROTO;
	}
	if (len && in->data[len - 1])
		ret = -EINVAL;
	else if (len > 1)
		ret = parse(in->data, len - 1, &root, &caps);
	if (ret) {
		card_say(c, "the client's version data is no JSON object with capabilities");
	} else {
		memcpy(out, &own, sizeof(own));
		ret = (int)sizeof(own) +
		      answer(caps, (char *)out + sizeof(own),
			     max - (u32)sizeof(own));
	}
	json_object_put(root);
	return ret;
}
