// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a server shows: nodes, links, rows of trees, contexts, counters, with
 * the attributes by which the driver shows those of a machine.
 *
 * Each is read while its node is held (fabric_look()) and sent afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/angara_nl.h>

#include "ang_counter_attrs.h"
#include "control.h"
#include "show.h"

/* What is copied of a node that is looked at. */
struct look {
	u32 index;
	u32 count;		/* of contexts, to be counted */
	u32 used;
	u32 pkey;
	u32 size;		/* of the counters, 0: none */
	union ang_counters counters;
	struct angara_tree_get tree;
};

/**
 * struct kind - a kind of object
 * @count: how many a node has, present or not
 * @look: read number look.index of a node
 * @fill: put it into a message. Return: 0; -ENOENT there is none
 * @index: attribute that tells one from another, 0 if there is only one
 */
struct kind {
	u32 (*count)(const struct ang_cfg *cfg);
	void (*look)(void *look, struct ang_view *v, u32 node);
	int (*fill)(struct nl_msg *msg, struct fabric *f, u32 node,
		    const struct look *look);
	u32 index;
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
 * @why: what is wrong; NULL: nothing
 *
 * Return: 0 or -EPIPE, as all of these.
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
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && genlmsg_put(msg, s->msg->nlmsg_pid, s->msg->nlmsg_seq,
			       CONTROL_TYPE, 0, multi ? NLM_F_MULTI : 0,
			       s->command, ANGARA_GENL_VERSION))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static void put_place(struct nl_msg *msg, const struct ang_cfg *cfg, u32 node)
{
	nla_put_u32(msg, ANGARA_A_DEV, node);
	nla_put_u32(msg, ANGARA_A_NODE, node);
	nla_put_u64(msg, ANGARA_A_FABRIC, cfg->fabric_id);
}

static const u8 node_words[] = ANG_NODE_COUNTER_ATTRS;
static const u8 port_words[] = ANG_PORT_COUNTER_ATTRS;
static const u8 tree_words[] = ANG_TREE_COUNTER_ATTRS;
static const u8 ctx_words[] = ANG_CTX_COUNTER_ATTRS;

static const u8 *const counter_words[] = {
	[ANGARA_A_NODE_COUNTERS] = node_words,
	[ANGARA_A_PORT_COUNTERS] = port_words,
	[ANGARA_A_TREE_COUNTERS] = tree_words,
	[ANGARA_A_CTX_COUNTERS] = ctx_words,
};

static void put_counters(struct nl_msg *msg, int attr, const struct look *look)
{
	const u8 *words = counter_words[attr];
	struct nlattr *nest;
	__le64 value;
	u32 i;

	if (!look->size)
		return;
	nest = nla_nest_start(msg, attr);
	for (i = 0; i < look->size / sizeof(value); i++) {
		memcpy(&value, (const char *)&look->counters + i * sizeof(value),
		       sizeof(value));
		if (words[i])
			nla_put_u64(msg, words[i], le64_to_cpu(value));
	}
	nla_nest_end(msg, nest);
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

static int dev_fill(struct nl_msg *msg, struct fabric *f, u32 node,
		    const struct look *look)
{
	const struct ang_cfg *cfg = fabric_cfg(f);
	struct ang_topo topo;

	ang_topo_init(&topo, cfg->ndims, cfg->dims);
	put_place(msg, cfg, node);
	nla_put_u32(msg, ANGARA_A_NODES, topo.nodes);
	nla_put_u32(msg, ANGARA_A_NUM_PORTS, ang_topo_ports(&topo));
	nla_put_string(msg, ANGARA_A_BUS, fabric_use(f, node));
	nla_put_u32(msg, ANGARA_A_CONTEXTS, cfg->ctxs);
	nla_put_u32(msg, ANGARA_A_CONTEXTS_USED, look->used);
	put_counters(msg, ANGARA_A_NODE_COUNTERS, look);
	return 0;
}

static void fabric_look_nothing(void *arg, struct ang_view *v, u32 node)
{
}

static int fabric_fill(struct nl_msg *msg, struct fabric *f, u32 node,
		       const struct look *look)
{
	const struct ang_cfg *cfg = fabric_cfg(f);
	char text[ANG_TOPO_TEXT];
	struct ang_topo topo;

	ang_topo_init(&topo, cfg->ndims, cfg->dims);
	ang_topo_describe(&topo, text);
	put_place(msg, cfg, node);
	nla_put_u32(msg, ANGARA_A_NODES, topo.nodes);
	nla_put_string(msg, ANGARA_A_DESCRIPTION, text);
	return 0;
}

static u32 links(const struct ang_cfg *cfg)
{
	return 2 * cfg->ndims;
}

static void link_look(void *arg, struct ang_view *v, u32 node)
{
	struct look *look = arg;

	look->size = ang_look_counters(v, node, ANGARA_CNT_LINK, look->index,
				       &look->counters);
}

static int link_fill(struct nl_msg *msg, struct fabric *f, u32 node,
		     const struct look *look)
{
	const struct ang_cfg *cfg = fabric_cfg(f);
	struct ang_topo topo;
	u32 neighbor, far;

	ang_topo_init(&topo, cfg->ndims, cfg->dims);
	neighbor = ang_topo_peer(&topo, node, look->index, &far);
	if (neighbor == ANG_NONE)
		return -ENOENT;
	put_place(msg, cfg, node);
	nla_put_u8(msg, ANGARA_A_PORT, (u8)look->index);
	nla_put_u32(msg, ANGARA_A_NEIGHBOR, neighbor);
	nla_put_u8(msg, ANGARA_A_NEIGHBOR_PORT, (u8)far);
	put_counters(msg, ANGARA_A_PORT_COUNTERS, look);
	return 0;
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

static int tree_fill(struct nl_msg *msg, struct fabric *f, u32 node,
		     const struct look *look)
{
	const struct angara_tree_get *get = &look->tree;
	const struct angara_tree_row *row = &get->row;

	if (get->state == ANGARA_TREE_STATE_UNSET)
		return -ENOENT;
	put_place(msg, fabric_cfg(f), node);
	nla_put_u8(msg, ANGARA_A_TREE, row->tree);
	nla_put_u8(msg, ANGARA_A_STATE, (u8)get->state);
	nla_put_u8(msg, ANGARA_A_IS_ROOT, row->is_root);
	nla_put_u8(msg, ANGARA_A_TO_ROOT, row->to_root);
	nla_put_u64(msg, ANGARA_A_PORTS, row->ports);
	nla_put_u16(msg, ANGARA_A_PE, row->pe);
	nla_put_u32(msg, ANGARA_A_PKEY, row->pkey);
	nla_put_u16(msg, ANGARA_A_EPOCH, row->epoch);
	nla_put_u8(msg, ANGARA_A_MEMBERS, (u8)get->members);
	if (get->state == ANGARA_TREE_STATE_DOWN)
		nla_put_u32(msg, ANGARA_A_DOWN_NODE, get->down_node);
	put_counters(msg, ANGARA_A_TREE_COUNTERS, look);
	return 0;
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

static int ctx_fill(struct nl_msg *msg, struct fabric *f, u32 node,
		    const struct look *look)
{
	if (!look->pkey)
		return -ENOENT;
	put_place(msg, fabric_cfg(f), node);
	nla_put_u32(msg, ANGARA_A_CTX, look->index);
	nla_put_u32(msg, ANGARA_A_PKEY, look->pkey);
	put_counters(msg, ANGARA_A_CTX_COUNTERS, look);
	return 0;
}

static const struct kind kinds[] = {
	[ANGARA_CMD_DEV_GET] = { one, dev_look, dev_fill, 0 },
	[ANGARA_CMD_FABRIC_GET] = { one, fabric_look_nothing, fabric_fill, 0 },
	[ANGARA_CMD_PORT_GET] = { links, link_look, link_fill, ANGARA_A_PORT },
	[ANGARA_CMD_TREE_GET] = { trees, tree_look, tree_fill, ANGARA_A_TREE },
	[ANGARA_CMD_CTX_GET] = { contexts, ctx_look, ctx_fill, ANGARA_A_CTX },
};

/* Return: 0; -ENOENT there is no such thing; -EPIPE. */
static int object(struct show *s, const struct kind *kind, u32 node, u32 index,
		  bool multi)
{
	struct look look = { .index = index,
			     .count = fabric_cfg(s->fabric)->ctxs };
	struct nl_msg *msg;

	fabric_look(s->fabric, node, kind->look, &look);
	msg = begin(s, multi);
	if (!msg)
		return -EPIPE;
	if (!kind->fill(msg, s->fabric, node, &look))
		return show_send(s, msg);
	nlmsg_free(msg);
	return -ENOENT;
}

static u32 number(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u8) ? nla_get_u8(attr) :
	       nla_get_u32(attr);
}

static int get(struct show *s, const struct kind *kind, u32 node)
{
	u32 index = 0;
	int ret;

	if (kind->index && !s->attr[kind->index])
		return show_end(s, -EINVAL, "which one?");
	if (kind->index)
		index = number(s->attr[kind->index]);
	ret = index < kind->count(fabric_cfg(s->fabric)) ?
	      object(s, kind, node, index, false) : -ENOENT;
	if (ret == -ENOENT)
		return show_end(s, ret, "there is no such object");
	return ret ? ret : show_end(s, 0, NULL);
}

static int dump(struct show *s, const struct kind *kind, u32 first, u32 last)
{
	const struct nlattr *fabric = s->attr[ANGARA_A_FABRIC];
	const struct ang_cfg *cfg = fabric_cfg(s->fabric);
	const struct nlattr *tree = s->attr[ANGARA_A_TREE];
	u32 node, index;
	int ret;

	if (fabric && nla_get_u64(fabric) != cfg->fabric_id)
		return dump_end(s);
	for (node = first; node <= last; node++) {
		if (fabric_remote(s->fabric, node))
			continue;
		for (index = 0; index < kind->count(cfg); index++) {
			if (tree && kind->index == ANGARA_A_TREE &&
			    number(tree) != index)
				continue;
			ret = object(s, kind, node, index, true);
			if (ret && ret != -ENOENT)
				return ret;
		}
	}
	return dump_end(s);
}

static int check_reply(struct show *s, u32 tree, u32 rule, u32 bad, u32 count)
{
	struct nl_msg *msg = begin(s, false);
	int ret;

	if (!msg)
		return -EPIPE;
	nla_put_u32(msg, ANGARA_A_DEV, number(s->attr[ANGARA_A_DEV]));
	nla_put_u8(msg, ANGARA_A_TREE, (u8)tree);
	nla_put_u8(msg, ANGARA_A_RULE, (u8)rule);
	nla_put_u32(msg, ANGARA_A_NODE, bad);
	nla_put_u32(msg, ANGARA_A_NODES, count);
	ret = show_send(s, msg);
	return ret ? ret : show_end(s, 0, NULL);
}

static int tree_check(struct show *s)
{
	const struct ang_cfg *cfg = fabric_cfg(s->fabric);
	struct angara_tree_row *rows;
	u32 rule, bad, count, node;
	struct look look = { 0 };
	struct ang_topo topo;

	if (!s->attr[ANGARA_A_TREE] ||
	    number(s->attr[ANGARA_A_TREE]) >= cfg->trees)
		return show_end(s, -EINVAL, "tree: which one?");
	look.index = number(s->attr[ANGARA_A_TREE]);
	ang_topo_init(&topo, cfg->ndims, cfg->dims);
	rows = calloc(topo.nodes, sizeof(*rows));
	if (!rows)
		return show_end(s, -ENOMEM, NULL);
	for (node = 0; node < topo.nodes; node++) {
		if (fabric_remote(s->fabric, node)) {
			free(rows);
			return show_end(s, -EOPNOTSUPP,
					"other servers have a part of the rows");
		}
		fabric_look(s->fabric, node, tree_look, &look);
		rows[node] = look.tree.row;
		if (look.tree.state == ANGARA_TREE_STATE_UNSET)
			rows[node].to_root = ANGARA_PORT_NONE;
	}
	rule = ang_tree_check(&topo, rows, &bad, &count);
	free(rows);
	return check_reply(s, look.index, rule, bad, count);
}

/** show_answer() - answer a request.  Return: 0, or -EPIPE: hang up */
int show_answer(struct show *s)
{
	u32 nodes = ang_cfg_check(fabric_cfg(s->fabric));
	const struct nlattr *dev = s->attr[ANGARA_A_DEV];
	bool all = s->msg->nlmsg_flags & NLM_F_DUMP;
	const struct kind *kind = NULL;

	if (s->command < sizeof(kinds) / sizeof(kinds[0]) &&
	    kinds[s->command].count)
		kind = &kinds[s->command];
	if (!kind && s->command != ANGARA_CMD_TREE_CHECK)
		return show_end(s, -EOPNOTSUPP,
				"a server only shows: change things in a guest");
	if (dev && nla_get_u32(dev) >= nodes)
		return show_end(s, -ENODEV, "there is no such node");
	if (dev && fabric_remote(s->fabric, nla_get_u32(dev)))
		return show_end(s, -ENODEV, "another server plays that node");
	if (!dev && (!all || !kind))
		return show_end(s, -EINVAL, "dev: which node?");
	if (!kind)
		return tree_check(s);
	if (!all)
		return get(s, kind, nla_get_u32(dev));
	return dump(s, kind, dev ? nla_get_u32(dev) : 0,
		    dev ? nla_get_u32(dev) : nodes - 1);
}
