// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queries of a server: nodes, links, rows of trees, contexts, counters, with
 * the attributes of the driver's netlink family.
 *
 * Each object is read while its node is held (fabric_look()) and sent
 * afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/angara_nl.h>

#include "control.h"
#include "show.h"
#include "ang_nl_policy.h"

/* Bytes of an object: the longest has a description of 4095 bytes. */
#define MAX_OBJECT	8192

/* A router, and the node through which it is read. */
struct place {
	u32 node;
	u32 router;
};

/* Data copied from a router while it is held. */
struct look {
	u32 index;
	u32 count;		/* number of contexts to check for use */
	u32 used;
	u32 pkey;
	u32 size;		/* bytes of the counters, 0: none */
	union ang_counters counters;
	struct angara_tree_get tree;
};

/**
 * struct kind - a kind of object
 * @count: objects per router, whether they exist or not
 * @look: read number look.index of a router
 * @fill: put the object into a message.  Return: 0; -ENOENT if it does not
 *	exist; -EMSGSIZE
 * @many: ANG_NL_ID distinguishes the objects
 * @router: attribute with the number of the router; 0: only nodes have such objects
 */
struct kind {
	u32 (*count)(const struct ang_cfg *cfg);
	void (*look)(void *look, struct ang_view *v, u32 router);
	int (*fill)(struct nl_msg *msg, struct fabric *f, const struct place *at,
		    const struct look *look);
	bool many;
	u8 router;
};

/** show_send() - send a message, and free it.  Return: 0 or -EPIPE */
int show_send(struct show *s, struct nl_msg *msg)
{
	const struct nlmsghdr *hdr = nlmsg_hdr(msg);
	size_t sent = fwrite(hdr, hdr->nlmsg_len, 1, s->out);

	nlmsg_free(msg);
	return sent ? 0 : -EPIPE;
}

/**
 * show_end() - end an answer
 * @s: request
 * @error: 0 or -errno
 * @why: text of the error; NULL: none
 *
 * Return: 0 or -EPIPE.
 */
int show_end(struct show *s, int error, const char *why)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsgerr *err;
	struct nlmsghdr *hdr;

	if (!msg)
		return -EPIPE;
	hdr = nlmsg_put(msg, s->msg->nlmsg_pid, s->msg->nlmsg_seq, NLMSG_ERROR,
			sizeof(*err),
			NLM_F_CAPPED | (why ? NLM_F_ACK_TLVS : 0));
	err = nlmsg_data(hdr);
	err->error = error;
	err->msg = *s->msg;
	if (why)
		nla_put_string(msg, NLMSGERR_ATTR_MSG, why);
	return show_send(s, msg);
}

static int dump_end(struct show *s)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlmsghdr *hdr;

	if (!msg)
		return -EPIPE;
	hdr = nlmsg_put(msg, s->msg->nlmsg_pid, s->msg->nlmsg_seq, NLMSG_DONE,
			sizeof(int), NLM_F_MULTI);
	memset(nlmsg_data(hdr), 0, sizeof(int));
	return show_send(s, msg);
}

static struct nl_msg *begin(struct show *s, bool multi)
{
	struct nl_msg *msg = nlmsg_alloc_size(MAX_OBJECT);

	if (msg && genlmsg_put(msg, s->msg->nlmsg_pid, s->msg->nlmsg_seq,
			       CONTROL_TYPE, 0, multi ? NLM_F_MULTI : 0,
			       s->command, ANGARA_GENL_VERSION))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static int put_place(struct nl_msg *msg, const struct ang_cfg *cfg,
		     const struct place *at)
{
	NLA_PUT_U32(msg, ANG_NL_DEV, at->node);
	NLA_PUT_U32(msg, ANG_NL_NODE, at->node);
	NLA_PUT_U64(msg, ANG_NL_FABRIC, cfg->fabric_id);
	return 0;
nla_put_failure:
	return -EMSGSIZE;
}

static const u8 node_words[] = ANG_NODE_COUNTER_ATTRS;
static const u8 port_words[] = ANG_PORT_COUNTER_ATTRS;
static const u8 tree_words[] = ANG_TREE_COUNTER_ATTRS;
static const u8 ctx_words[] = ANG_CTX_COUNTER_ATTRS;

static int put_counters(struct nl_msg *msg, int attr, const u8 *words,
			const struct look *look)
{
	struct nlattr *nest;
	__le64 value;
	u32 i;

	if (!look->size)
		return 0;
	nest = nla_nest_start(msg, attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < look->size / sizeof(value); i++) {
		memcpy(&value, (const char *)&look->counters + i * sizeof(value),
		       sizeof(value));
		if (words[i])
			NLA_PUT_U64(msg, words[i], le64_to_cpu(value));
	}
	nla_nest_end(msg, nest);
	return 0;
nla_put_failure:
	return -EMSGSIZE;
}

static u32 one(const struct ang_cfg *cfg)
{
	return 1;
}

static void dev_look(void *arg, struct ang_view *v, u32 node)
{
	struct look *look = arg;
	u32 ctx;

	for (ctx = 0; ctx < look->count; ctx++)
		look->used += !!ang_look_ctx(v, node, ctx);
	look->size = ang_look_counters(v, node, ANGARA_CNT_NODE, 0,
				       &look->counters);
}

static int dev_fill(struct nl_msg *msg, struct fabric *f, const struct place *at,
		    const struct look *look)
{
	const struct ang_cfg *cfg = fabric_cfg(f);
	const char *use = fabric_use(f, at->node);	/* may change between two calls */

	if (put_place(msg, cfg, at))
		goto nla_put_failure;
	NLA_PUT_U32(msg, ANGARA_A_DEV_NODES, cfg->topo.nodes);
	NLA_PUT_U32(msg, ANGARA_A_DEV_PORTS, ang_topo_ports(&cfg->topo));
	NLA_PUT_STRING(msg, ANGARA_A_DEV_BUS, use);
	NLA_PUT_U32(msg, ANGARA_A_DEV_CONTEXTS, cfg->ctxs);
	NLA_PUT_U32(msg, ANGARA_A_DEV_CONTEXTS_USED, look->used);
	return put_counters(msg, ANGARA_A_DEV_COUNTERS, node_words, look);
nla_put_failure:
	return -EMSGSIZE;
}

static void fabric_look_nothing(void *arg, struct ang_view *v, u32 node)
{
}

static int fabric_fill(struct nl_msg *msg, struct fabric *f, const struct place *at,
		       const struct look *look)
{
	const struct ang_cfg *cfg = fabric_cfg(f);

	if (put_place(msg, cfg, at))
		goto nla_put_failure;
	NLA_PUT_U32(msg, ANGARA_A_FABRIC_NODES, cfg->topo.nodes);
	NLA_PUT_STRING(msg, ANGARA_A_FABRIC_DESCRIPTION, fabric_text(f));
	return 0;
nla_put_failure:
	return -EMSGSIZE;
}

static u32 links(const struct ang_cfg *cfg)
{
	return ang_topo_ports(&cfg->topo);
}

static void link_look(void *arg, struct ang_view *v, u32 node)
{
	struct look *look = arg;

	look->size = ang_look_counters(v, node, ANGARA_CNT_LINK, look->index,
				       &look->counters);
}

static int link_fill(struct nl_msg *msg, struct fabric *f, const struct place *at,
		     const struct look *look)
{
	const struct angara_hw_link_counters *link = &look->counters.link;
	u32 neighbor, far;

	neighbor = ang_topo_peer(fabric_topo(f), at->router, look->index, &far);
	if (neighbor == ANG_NONE)
		return -ENOENT;
	if (put_place(msg, fabric_cfg(f), at))
		goto nla_put_failure;
	NLA_PUT_U32(msg, ANGARA_A_PORT_ROUTER, at->router);
	NLA_PUT_U8(msg, ANGARA_A_PORT_ID, (u8)look->index);
	NLA_PUT_U32(msg, ANGARA_A_PORT_NEIGHBOR, neighbor);
	NLA_PUT_U8(msg, ANGARA_A_PORT_NEIGHBOR_PORT, (u8)far);
	NLA_PUT_U8(msg, ANGARA_A_PORT_DOWN, !!link->down);
	NLA_PUT_U32(msg, ANGARA_A_PORT_LOSS, le32_to_cpu(link->fault_loss));
	NLA_PUT_U32(msg, ANGARA_A_PORT_CORRUPT, le32_to_cpu(link->fault_corrupt));
	NLA_PUT_U64(msg, ANGARA_A_PORT_DELAY, (u64)ANGARA_CYCLE_NS *
		    le32_to_cpu(link->fault_delay));
	return put_counters(msg, ANGARA_A_PORT_COUNTERS, port_words, look);
nla_put_failure:
	return -EMSGSIZE;
}

static u32 trees(const struct ang_cfg *cfg)
{
	return cfg->trees;
}

static void tree_look(void *arg, struct ang_view *v, u32 node)
{
	struct look *look = arg;

	ang_look_tree(v, node, look->index, &look->tree);
	look->size = ang_look_counters(v, node, ANGARA_CNT_TREE, look->index,
				       &look->counters);
}

static int tree_fill(struct nl_msg *msg, struct fabric *f, const struct place *at,
		     const struct look *look)
{
	const struct angara_tree_get *get = &look->tree;
	const struct angara_tree_row *row = &get->row;

	if (get->state == ANGARA_TREE_STATE_UNSET)
		return -ENOENT;
	if (put_place(msg, fabric_cfg(f), at))
		goto nla_put_failure;
	NLA_PUT_U32(msg, ANGARA_A_TREE_ROUTER, at->router);
	NLA_PUT_U8(msg, ANGARA_A_TREE_ID, row->tree);
	NLA_PUT_U8(msg, ANGARA_A_TREE_STATE, (u8)get->state);
	NLA_PUT_U8(msg, ANGARA_A_TREE_IS_ROOT, row->is_root);
	NLA_PUT_U8(msg, ANGARA_A_TREE_TO_ROOT, row->to_root);
	NLA_PUT_U64(msg, ANGARA_A_TREE_PORTS, row->ports);
	NLA_PUT_U16(msg, ANGARA_A_TREE_PE, row->pe);
	NLA_PUT_U32(msg, ANGARA_A_TREE_PKEY, row->pkey);
	NLA_PUT_U16(msg, ANGARA_A_TREE_EPOCH, row->epoch);
	NLA_PUT_U8(msg, ANGARA_A_TREE_MEMBERS, (u8)get->members);
	if (get->state == ANGARA_TREE_STATE_DOWN)
		NLA_PUT_U32(msg, ANGARA_A_TREE_DOWN_NODE, get->down_node);
	return put_counters(msg, ANGARA_A_TREE_COUNTERS, tree_words, look);
nla_put_failure:
	return -EMSGSIZE;
}

static u32 contexts(const struct ang_cfg *cfg)
{
	return cfg->ctxs;
}

static void ctx_look(void *arg, struct ang_view *v, u32 node)
{
	struct look *look = arg;

	look->pkey = ang_look_ctx(v, node, look->index);
	look->size = ang_look_counters(v, node, ANGARA_CNT_CTX, look->index,
				       &look->counters);
}

static int ctx_fill(struct nl_msg *msg, struct fabric *f, const struct place *at,
		    const struct look *look)
{
	if (!look->pkey)
		return -ENOENT;
	if (put_place(msg, fabric_cfg(f), at))
		goto nla_put_failure;
	NLA_PUT_U32(msg, ANGARA_A_CTX_ID, look->index);
	NLA_PUT_U32(msg, ANGARA_A_CTX_PKEY, look->pkey);
	return put_counters(msg, ANGARA_A_CTX_COUNTERS, ctx_words, look);
nla_put_failure:
	return -EMSGSIZE;
}

static const struct kind kinds[] = {
	[ANGARA_CMD_DEV_GET] = { one, dev_look, dev_fill, false },
	[ANGARA_CMD_FABRIC_GET] = { one, fabric_look_nothing, fabric_fill, false },
	[ANGARA_CMD_PORT_GET] = { links, link_look, link_fill, true,
				  ANGARA_A_PORT_ROUTER },
	[ANGARA_CMD_TREE_GET] = { trees, tree_look, tree_fill, true,
				  ANGARA_A_TREE_ROUTER },
	[ANGARA_CMD_CTX_GET] = { contexts, ctx_look, ctx_fill, true },
};

/* Attributes that a request of each command may contain. */
static const struct form {
	const struct nla_policy *policy;
	int max;
} forms[] = {
#define FORM(_policy)	{ (_policy), sizeof(_policy) / sizeof((_policy)[0]) - 1 }
	[ANGARA_CMD_DEV_GET] = FORM(ang_nl_dev_policy),
	[ANGARA_CMD_FABRIC_GET] = FORM(ang_nl_fabric_policy),
	[ANGARA_CMD_PORT_GET] = FORM(ang_nl_port_policy),
	[ANGARA_CMD_TREE_GET] = FORM(ang_nl_tree_policy),
	[ANGARA_CMD_CTX_GET] = FORM(ang_nl_ctx_policy),
	[ANGARA_CMD_TREE_CHECK] = FORM(ang_nl_check_policy),
	[CONTROL_CMD_CAPTURE] = FORM(ang_nl_dev_policy),
#undef FORM
};

/**
 * show_parse() - read the attributes of a request into show.attr
 * @s: request
 *
 * libnl checks the lengths of the attributes that a policy names and ignores
 * other attributes; this function rejects them, as the kernel does.
 *
 * Return: 0; -EOPNOTSUPP no such command; -EINVAL.
 */
int show_parse(struct show *s)
{
	const struct form *form;
	const struct nlattr *attr;
	int rest;

	if (s->command >= sizeof(forms) / sizeof(forms[0]) ||
	    !forms[s->command].policy)
		return -EOPNOTSUPP;
	form = &forms[s->command];
	nlmsg_for_each_attr(attr, s->msg, GENL_HDRLEN, rest)
		if (nla_type(attr) > form->max ||
		    !form->policy[nla_type(attr)].type)
			return -EINVAL;
	if (rest || genlmsg_parse((struct nlmsghdr *)s->msg, 0, s->attr,
				  form->max, form->policy))
		return -EINVAL;
	return 0;
}

/* Return: 0; -ENOENT no such object; -EMSGSIZE; -EPIPE. */
static int object(struct show *s, const struct kind *kind, const struct place *at,
		  u32 index, bool multi)
{
	struct look look = { .index = index,
			     .count = fabric_cfg(s->fabric)->ctxs };
	struct nl_msg *msg;
	int ret;

	fabric_look(s->fabric, at->router, kind->look, &look);
	msg = begin(s, multi);
	if (!msg)
		return -EPIPE;
	ret = kind->fill(msg, s->fabric, at, &look);
	if (!ret)
		return show_send(s, msg);
	nlmsg_free(msg);
	return ret;
}

/* Ends the answer after object(); @ret: its result, not -ENOENT. */
static int object_end(struct show *s, int ret)
{
	if (ret == -EPIPE)
		return ret;
	return show_end(s, ret, ret ? "an object is too long for a message" : NULL);
}

static u32 number(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u8) ? nla_get_u8(attr) :
	       nla_get_u32(attr);
}

static int get(struct show *s, const struct kind *kind, u32 node)
{
	const struct nlattr *router = kind->router ? s->attr[kind->router] : NULL;
	const struct ang_topo *topo = fabric_topo(s->fabric);
	struct place at = { .node = node, .router = node };
	u32 index = 0;
	int ret;

	if (router)
		at.router = nla_get_u32(router);
	if (at.router >= topo->routers)
		return show_end(s, -EINVAL, "router: there is no such router");
	if (ang_topo_keeper(topo, at.router) != node)
		return show_end(s, -EPERM, "router: belongs to another device's node");
	if (s->attr[ANG_NL_FABRIC])
		return show_end(s, -EINVAL, "fabric: allowed in dumps only");
	if (kind->many && !s->attr[ANG_NL_ID])
		return show_end(s, -EINVAL, "the number of the port, tree or context is required");
	if (kind->many)
		index = number(s->attr[ANG_NL_ID]);
	ret = index < kind->count(fabric_cfg(s->fabric)) ?
	      object(s, kind, &at, index, false) : -ENOENT;
	if (ret == -ENOENT)
		return show_end(s, ret, "there is no such object");
	return object_end(s, ret);
}

/* Return: 0; -EMSGSIZE; -EPIPE. */
static int dump_router(struct show *s, const struct kind *kind,
		       const struct place *at)
{
	const struct ang_cfg *cfg = fabric_cfg(s->fabric);
	const struct nlattr *id = s->attr[ANG_NL_ID];
	u32 index;
	int ret;

	for (index = 0; index < kind->count(cfg); index++) {
		if (id && number(id) != index)
			continue;
		ret = object(s, kind, at, index, true);
		if (ret && ret != -ENOENT)
			return ret;
	}
	return 0;
}

/* A node, and the switches that it keeps.  Return: as dump_router() */
static int dump_node(struct show *s, const struct kind *kind, u32 node)
{
	const struct ang_topo *topo = fabric_topo(s->fabric);
	struct place at = { .node = node, .router = node };
	int ret = dump_router(s, kind, &at);

	if (!kind->router)
		return ret;
	for (at.router = topo->nodes; !ret && at.router < topo->routers; at.router++)
		if (ang_topo_keeper(topo, at.router) == node)
			ret = dump_router(s, kind, &at);
	return ret;
}

static int dump(struct show *s, const struct kind *kind, u32 first, u32 last)
{
	const struct nlattr *fabric = s->attr[ANG_NL_FABRIC];
	bool odd = (s->attr[ANG_NL_ID] && kind->fill != tree_fill) ||
		   (kind->router && s->attr[kind->router]);
	u32 node;
	int ret;

	if (odd)
		return show_end(s, -EINVAL, "a dump can be filtered by dev, fabric or tree only");
	if (fabric && nla_get_u64(fabric) != fabric_cfg(s->fabric)->fabric_id)
		return dump_end(s);
	for (node = first; node <= last; node++) {
		if (fabric_remote(s->fabric, node))
			continue;
		ret = dump_node(s, kind, node);
		if (ret)
			return object_end(s, ret);
	}
	return dump_end(s);
}

static int check_reply(struct show *s, u32 tree, u32 rule, u32 bad, u32 count)
{
	struct nl_msg *msg = begin(s, false);

	if (!msg)
		return -EPIPE;
	NLA_PUT_U32(msg, ANGARA_A_CHECK_DEV, number(s->attr[ANG_NL_DEV]));
	NLA_PUT_U32(msg, ANGARA_A_CHECK_NODE, bad);
	NLA_PUT_U64(msg, ANGARA_A_CHECK_FABRIC,
		    fabric_cfg(s->fabric)->fabric_id);
	NLA_PUT_U8(msg, ANGARA_A_CHECK_ID, (u8)tree);
	NLA_PUT_U8(msg, ANGARA_A_CHECK_RULE, (u8)rule);
	NLA_PUT_U32(msg, ANGARA_A_CHECK_NODES, count);
	return object_end(s, show_send(s, msg));
nla_put_failure:
	nlmsg_free(msg);
	return object_end(s, -EMSGSIZE);
}

static int tree_check(struct show *s)
{
	const struct ang_cfg *cfg = fabric_cfg(s->fabric);
	struct angara_tree_row *rows;
	const struct ang_topo *topo = fabric_topo(s->fabric);
	u32 rule, bad, count, i;
	struct look look = { 0 };

	if (!s->attr[ANG_NL_ID] ||
	    number(s->attr[ANG_NL_ID]) >= cfg->trees)
		return show_end(s, -EINVAL, "tree: required");
	look.index = number(s->attr[ANG_NL_ID]);
	rows = calloc(topo->routers, sizeof(*rows));
	if (!rows)
		return show_end(s, -ENOMEM, NULL);
	for (i = 0; i < topo->routers; i++) {
		if (fabric_remote(s->fabric, i)) {
			free(rows);
			return show_end(s, -EOPNOTSUPP,
					"some rows of the tree belong to other servers");
		}
		fabric_look(s->fabric, i, tree_look, &look);
		rows[i] = look.tree.row;
		if (look.tree.state == ANGARA_TREE_STATE_UNSET)
			rows[i].to_root = ANGARA_PORT_NONE;
	}
	rule = ang_tree_check(topo, rows, &bad, &count);
	free(rows);
	return check_reply(s, look.index, rule, bad, count);
}

/**
 * show_answer() - answer a request that show_parse() has read
 * @s: request, except CONTROL_CMD_CAPTURE
 *
 * Return: 0, or -EPIPE: close the connection.
 */
int show_answer(struct show *s)
{
	u32 nodes = ang_cfg_check(fabric_cfg(s->fabric));
	const struct nlattr *dev = s->attr[ANG_NL_DEV];
	bool all = s->msg->nlmsg_flags & NLM_F_DUMP;
	const struct kind *kind = NULL;

	if (s->command < sizeof(kinds) / sizeof(kinds[0]) &&
	    kinds[s->command].count)
		kind = &kinds[s->command];
	if (dev && nla_get_u32(dev) >= nodes)
		return show_end(s, -ENODEV, "there is no such node");
	if (dev && fabric_remote(s->fabric, nla_get_u32(dev)))
		return show_end(s, -ENODEV, "that node belongs to another server");
	if (!dev && (!all || !kind))
		return show_end(s, -EINVAL, "dev: required");
	if (!kind)
		return tree_check(s);
	if (!all)
		return get(s, kind, nla_get_u32(dev));
	return dump(s, kind, dev ? nla_get_u32(dev) : 0,
		    dev ? nla_get_u32(dev) : nodes - 1);
}
