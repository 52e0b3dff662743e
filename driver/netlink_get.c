// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": commands that show objects.
 *
 * A table has an entry for each kind of object: devices, links, rows of trees,
 * contexts.  A device has the links and rows of its node, then those of each
 * switch that the node keeps.  A dump stores the number of the next device and
 * the index of the next object of that device, so it continues where it
 * stopped, even if objects were added or removed meanwhile; NLM_F_DUMP_INTR
 * reports such a change.
 *
 * Any user may send requests at any rate, so users other than administrators
 * get answers of the device from a cache, see counters.c and
 * ang_dev_tree_look().
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/user_namespace.h>

#include "ang_nl_attrs.h"
#include "ang_file.h"
#include "netlink.h"

/**
 * struct ang_nl_asker - the sender of a request: rights and namespaces
 * @cred: rights
 * @pid_ns: namespace of the process ids shown
 * @user_ns: namespace of the user ids shown
 */
struct ang_nl_asker {
	struct ang_cred cred;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
};

/**
 * struct ang_nl_dump - state of a dump, in netlink_callback.ctx
 * @fabric: only devices of this fabric, if @by_fabric
 * @asker: sender of the request; another process may read the answer
 * @dev: next device
 * @last: last device of the dump
 * @index: next object of @dev
 * @tree: only rows of this tree, if @by_tree
 * @by_fabric: see @fabric
 * @by_tree: see @tree
 */
struct ang_nl_dump {
	u64 fabric;
	struct ang_nl_asker asker;
	u32 dev;
	u32 last;
	u32 index;
	u8 tree;
	bool by_fabric;
	bool by_tree;
};

/**
 * struct ang_nl_kind - a kind of object
 * @count: number of objects of a router, present or not
 * @fill: put object @index of @router into a message.  Return: 0; -ENOENT there
 *	is no such object; -EPERM the sender may not see the object; -EMSGSIZE
 *	no room; -EIO
 * @missing: error text if ANG_NL_ID is missing; NULL: a device has only one
 *	object of this kind, so requests need no ANG_NL_ID
 * @router: attribute that names the router; 0: only nodes have such objects
 * @text: maximum bytes of text of an object, in addition to the room of any
 *	message
 *
 * @count and @fill are called with the device entered.
 */
struct ang_nl_kind {
	u32 (*count)(struct ang_dev *adev);
	int (*fill)(struct sk_buff *skb, struct ang_dev *adev,
		    const struct ang_nl_asker *asker, u32 router, u32 index);
	const char *missing;
	u8 router;
	size_t text;
};

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, ANG_NL_PAD);
}

static const u8 node_words[] = ANG_NODE_COUNTER_ATTRS;
static const u8 port_words[] = ANG_PORT_COUNTER_ATTRS;
static const u8 tree_words[] = ANG_TREE_COUNTER_ATTRS;
static const u8 ctx_words[] = ANG_CTX_COUNTER_ATTRS;

/*
 * Most counters that one object has.  The structures of counters have 64-bit
 * words only.
 */
#define MAX_COUNTERS	18

#define WORDS(_attr, _words, _struct, _pad) \
	.attr = (_attr), .words = (_words), .pad = (_pad), \
	.count = ARRAY_SIZE(_words) + \
		 BUILD_BUG_ON_ZERO(sizeof(struct _struct) != 8 * ARRAY_SIZE(_words)) + \
		 BUILD_BUG_ON_ZERO(ARRAY_SIZE(_words) > MAX_COUNTERS)

/**
 * struct ang_nl_counters - attributes for the counters of a kind of object
 * @words: attribute of each word, 0 for a word that is not shown
 * @count: number of @words
 * @attr: attribute that the words are nested in
 * @pad: padding attribute of the nested attributes
 */
struct ang_nl_counters {
	const u8 *words;
	u8 count;
	u8 attr;
	u8 pad;
};

static const struct ang_nl_counters counter_kinds[] = {
	[ANGARA_CNT_NODE] = { WORDS(ANGARA_A_DEV_COUNTERS, node_words,
				    angara_hw_node_counters,
				    ANGARA_A_NODE_COUNTER_PAD) },
	[ANGARA_CNT_LINK] = { WORDS(ANGARA_A_PORT_COUNTERS, port_words,
				    angara_hw_link_counters,
				    ANGARA_A_PORT_COUNTER_PAD) },
	[ANGARA_CNT_TREE] = { WORDS(ANGARA_A_TREE_COUNTERS, tree_words,
				    angara_hw_tree_counters,
				    ANGARA_A_TREE_COUNTER_PAD) },
	[ANGARA_CNT_CTX] = { WORDS(ANGARA_A_CTX_COUNTERS, ctx_words,
				   angara_hw_ctx_counters,
				   ANGARA_A_CTX_COUNTER_PAD) },
};

static int put_words(struct sk_buff *skb, const struct ang_nl_counters *counters,
		     const __le64 *values)
{
	struct nlattr *nest;
	u32 i;

	nest = nla_nest_start(skb, counters->attr);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < counters->count; i++)
		if (counters->words[i] &&
		    nla_put_u64_64bit(skb, counters->words[i],
				      le64_to_cpu(values[i]), counters->pad))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Puts counters into a message; leaves them out if the device does not answer. */
static int put_counters(struct sk_buff *skb, struct ang_dev *adev,
			const struct ang_cred *cred, u32 router, u32 kind,
			u32 index)
{
	const struct ang_nl_counters *counters = &counter_kinds[kind];
	__le64 values[MAX_COUNTERS] = { 0 };

	if (ang_dev_counters(adev, cred, router, kind, index, values,
			     8 * counters->count))
		return 0;
	return put_words(skb, counters, values);
}

static int put_place(struct sk_buff *skb, const struct ang_dev *adev)
{
	return nla_put_u32(skb, ANG_NL_DEV, adev->id) ||
	       nla_put_u32(skb, ANG_NL_NODE, adev->node) ||
	       put_u64(skb, ANG_NL_FABRIC, adev->fabric_id);
}

static u32 dev_count(struct ang_dev *adev)
{
	return 1;
}

static int dev_fill(struct sk_buff *skb, struct ang_dev *adev,
		    const struct ang_nl_asker *asker, u32 router, u32 index)
{
	if (put_place(skb, adev) ||
	    nla_put_u32(skb, ANGARA_A_DEV_NODES, adev->nodes) ||
	    nla_put_u32(skb, ANGARA_A_DEV_PORTS, adev->ports) ||
	    nla_put_string(skb, ANGARA_A_DEV_BUS, adev->ops->name) ||
	    nla_put_u32(skb, ANGARA_A_DEV_CONTEXTS, adev->max_ctxs) ||
	    nla_put_u32(skb, ANGARA_A_DEV_CONTEXTS_USED, ang_dev_ctxs_used(adev)) ||
	    put_counters(skb, adev, &asker->cred, router, ANGARA_CNT_NODE, 0))
		return -EMSGSIZE;
	return 0;
}

static int fabric_fill(struct sk_buff *skb, struct ang_dev *adev,
		       const struct ang_nl_asker *asker, u32 router, u32 index)
{
	if (put_place(skb, adev) ||
	    nla_put_u32(skb, ANGARA_A_FABRIC_NODES, adev->nodes) ||
	    nla_put_string(skb, ANGARA_A_FABRIC_DESCRIPTION,
			   adev->graph->text))
		return -EMSGSIZE;
	return 0;
}

static u32 port_count(struct ang_dev *adev)
{
	return adev->ports;
}

/*
 * Puts the counters, state and settings of a link, which one command reads, into a
 * message; leaves them out if the device does not answer.
 */
static int put_link(struct sk_buff *skb, struct ang_dev *adev,
		    const struct ang_cred *cred, u32 router, u32 port)
{
	union {
		struct angara_hw_link_counters link;
		__le64 words[MAX_COUNTERS];
	} read = { .words = { 0 } };
	const struct angara_hw_link_counters *l = &read.link;

	if (ang_dev_counters(adev, cred, router, ANGARA_CNT_LINK, port, &read,
			     sizeof(*l)))
		return 0;
	return nla_put_u8(skb, ANGARA_A_PORT_DOWN, !!l->down) ||
	       nla_put_u32(skb, ANGARA_A_PORT_LOSS, le32_to_cpu(l->fault_loss)) ||
	       nla_put_u32(skb, ANGARA_A_PORT_CORRUPT,
			   le32_to_cpu(l->fault_corrupt)) ||
	       put_u64(skb, ANGARA_A_PORT_DELAY, (u64)ANGARA_CYCLE_NS *
		       le32_to_cpu(l->fault_delay)) ||
	       put_words(skb, &counter_kinds[ANGARA_CNT_LINK], read.words);
}

static int port_fill(struct sk_buff *skb, struct ang_dev *adev,
		     const struct ang_nl_asker *asker, u32 router, u32 port)
{
	u32 neighbor, far;

	neighbor = ang_topo_peer(&adev->graph->topo, router, port, &far);
	if (neighbor == ANG_NONE)
		return -ENOENT;
	if (put_place(skb, adev) ||
	    nla_put_u32(skb, ANGARA_A_PORT_ROUTER, router) ||
	    nla_put_u8(skb, ANGARA_A_PORT_ID, port) ||
	    nla_put_u32(skb, ANGARA_A_PORT_NEIGHBOR, neighbor) ||
	    nla_put_u8(skb, ANGARA_A_PORT_NEIGHBOR_PORT, far) ||
	    put_link(skb, adev, &asker->cred, router, port))
		return -EMSGSIZE;
	return 0;
}

static u32 tree_count(struct ang_dev *adev)
{
	return adev->own.rows.num;
}

static int put_row(struct sk_buff *skb, struct ang_dev *adev,
		   const struct ang_cred *cred,
		   const struct angara_tree_get *get, bool owned)
{
	const struct angara_tree_row *row = &get->row;

	return nla_put_u8(skb, ANGARA_A_TREE_IS_ROOT, row->is_root) ||
	       nla_put_u8(skb, ANGARA_A_TREE_TO_ROOT, row->to_root) ||
	       put_u64(skb, ANGARA_A_TREE_PORTS, row->ports) ||
	       nla_put_u16(skb, ANGARA_A_TREE_PE, row->pe) ||
	       nla_put_u32(skb, ANGARA_A_TREE_PKEY, row->pkey) ||
	       nla_put_u16(skb, ANGARA_A_TREE_EPOCH, row->epoch) ||
	       nla_put_u8(skb, ANGARA_A_TREE_MEMBERS, get->members) ||
	       nla_put_u8(skb, ANGARA_A_TREE_OWNED, owned) ||
	       (get->state == ANGARA_TREE_STATE_DOWN &&
		nla_put_u32(skb, ANGARA_A_TREE_DOWN_NODE, get->down_node)) ||
	       put_counters(skb, adev, cred, get->router, ANGARA_CNT_TREE,
			    row->tree);
}

static int tree_fill(struct sk_buff *skb, struct ang_dev *adev,
		     const struct ang_nl_asker *asker, u32 router, u32 tree)
{
	struct angara_tree_get get = { .row.tree = tree, .router = router };
	bool owned;
	int ret;

	ret = ang_dev_tree_look(adev, &asker->cred, &get, &owned);
	if (ret)
		return ret;
	if (put_place(skb, adev) ||
	    nla_put_u32(skb, ANGARA_A_TREE_ROUTER, router) ||
	    nla_put_u8(skb, ANGARA_A_TREE_ID, tree) ||
	    nla_put_u8(skb, ANGARA_A_TREE_STATE, get.state) ||
	    nla_put_u32(skb, ANGARA_A_TREE_DELEGATED, get.delegated) ||
	    (get.state != ANGARA_TREE_STATE_UNSET &&
	     put_row(skb, adev, &asker->cred, &get, owned)))
		return -EMSGSIZE;
	return 0;
}

static u32 ctx_count(struct ang_dev *adev)
{
	return adev->max_ctxs;
}

static int ctx_fill(struct sk_buff *skb, struct ang_dev *adev,
		    const struct ang_nl_asker *asker, u32 router, u32 index)
{
	struct ang_ctx_info ctx;
	int ret;

	ret = ang_dev_ctx_info(adev, index, asker->pid_ns, &ctx);
	if (ret)
		return ret;
	if (!ang_cred_sees(&asker->cred, ctx.pkey))
		return -EPERM;
	if (put_place(skb, adev) ||
	    nla_put_u32(skb, ANGARA_A_CTX_ID, ctx.ctx) ||
	    nla_put_u32(skb, ANGARA_A_CTX_PKEY, ctx.pkey) ||
	    (ctx.pid && nla_put_u32(skb, ANGARA_A_CTX_PID, ctx.pid)) ||
	    nla_put_u32(skb, ANGARA_A_CTX_UID,
			from_kuid_munged(asker->user_ns, ctx.uid)) ||
	    nla_put_u32(skb, ANGARA_A_CTX_MRS, ctx.mrs) ||
	    put_u64(skb, ANGARA_A_CTX_PINNED, ctx.pinned) ||
	    put_counters(skb, adev, &asker->cred, router, ANGARA_CNT_CTX, index))
		return -EMSGSIZE;
	return 0;
}

/*
 * The longest description fits into a sysfs file and into a netlink attribute.
 */
static_assert(ANG_MAX_TEXT < PAGE_SIZE && NLA_HDRLEN + ANG_MAX_TEXT + 1 <= U16_MAX);

static const struct ang_nl_kind kinds[] = {
	[ANGARA_CMD_DEV_GET] = { dev_count, dev_fill },
	[ANGARA_CMD_FABRIC_GET] = { dev_count, fabric_fill, .text = ANG_MAX_TEXT + 1 },
	[ANGARA_CMD_PORT_GET] = { port_count, port_fill, "port: required",
				  .router = ANGARA_A_PORT_ROUTER },
	[ANGARA_CMD_TREE_GET] = { tree_count, tree_fill, "tree: required",
				  .router = ANGARA_A_TREE_ROUTER },
	[ANGARA_CMD_CTX_GET] = { ctx_count, ctx_fill, "ctx: required" },
};

static u32 attr_index(const struct nlattr *attr)
{
	return nla_len(attr) == sizeof(u8) ? nla_get_u8(attr) :
	       nla_get_u32(attr);
}

static bool find_index(const struct ang_nl_kind *kind, struct genl_info *info,
		       u32 *index)
{
	*index = 0;
	if (!kind->missing)
		return true;
	if (!info->attrs[ANG_NL_ID]) {
		if (info->extack)
			info->extack->_msg = kind->missing;
		return false;
	}
	*index = attr_index(info->attrs[ANG_NL_ID]);
	return true;
}

/*
 * Sets rights and namespaces of the caller; takes no references to the
 * namespaces.
 */
static void asker_init(struct ang_nl_asker *asker, struct sk_buff *skb)
{
	ang_nl_cred(skb, &asker->cred);
	asker->pid_ns = task_active_pid_ns(current);
	asker->user_ns = current_user_ns();
}

static int get_fill(struct sk_buff *msg, struct ang_dev *adev,
		    struct genl_info *info, const struct ang_nl_asker *asker,
		    u32 index)
{
	const struct ang_nl_kind *kind = &kinds[info->genlhdr->cmd];
	u32 router = adev->node;
	void *hdr;
	int ret = 0;

	if (kind->router)
		ret = ang_nl_router(info, adev, kind->router, &router);
	if (ret)
		return ret;
	if (index >= kind->count(adev))
		return -ENOENT;
	hdr = genlmsg_put_reply(msg, info, &ang_nl_family, 0,
				info->genlhdr->cmd);
	if (!hdr)
		return -EMSGSIZE;
	ret = kind->fill(msg, adev, asker, router, index);
	if (!ret)
		genlmsg_end(msg, hdr);
	return ret;
}

static void nl_explain(struct genl_info *info, int error)
{
	if (info->extack && info->extack->_msg)
		return;
	if (error == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "there is no such object");
	else if (error == -EPERM)
		NL_SET_ERR_MSG(info->extack, "the object belongs to another partition");
	else if (error == -EIO)
		NL_SET_ERR_MSG(info->extack, "the device does not answer");
}

/**
 * ang_nl_get() - answer with one object
 * @skb: request
 * @info: attributes of the request
 *
 * Return: 0 or -errno.
 */
int ang_nl_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct ang_nl_kind *kind = &kinds[info->genlhdr->cmd];
	struct ang_nl_asker asker;
	struct ang_dev *adev;
	struct sk_buff *msg;
	u32 index;
	int ret;

	if (info->attrs[ANG_NL_FABRIC]) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ANG_NL_FABRIC],
				    "fabric: allowed in dumps only");
		return -EINVAL;
	}
	if (!find_index(kind, info, &index))
		return -EINVAL;
	msg = genlmsg_new(NLMSG_GOODSIZE + kind->text, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev)) {
		ret = PTR_ERR(adev);
		goto err_free;
	}
	asker_init(&asker, skb);
	ret = get_fill(msg, adev, info, &asker, index);
	ang_nl_dev_exit(adev);
	if (ret) {
		nl_explain(info, ret);
		goto err_free;
	}
	return genlmsg_reply(msg, info);

err_free:
	nlmsg_free(msg);
	return ret;
}

static const struct ang_nl_kind *dump_kind(struct netlink_callback *cb)
{
	const struct genlmsghdr *hdr = nlmsg_data(cb->nlh);

	return &kinds[hdr->cmd];
}

/**
 * ang_nl_dump_start() - read the filters of a dump
 * @cb: dump
 *
 * Return: 0; -ENODEV; -EINVAL an attribute that is not a filter.
 * Context: process that has sent the request.
 */
int ang_nl_dump_start(struct netlink_callback *cb)
{
	struct ang_nl_dump *dump = (struct ang_nl_dump *)cb->ctx;
	const struct ang_nl_kind *kind = dump_kind(cb);
	struct nlattr **attrs = ang_dump_attrs(cb);
	struct nlattr *id = kind->missing ? attrs[ANG_NL_ID] : NULL;
	struct nlattr *odd = kind->router ? attrs[kind->router] : NULL;
	struct ang_dev *adev;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));

	if (!odd && kind->fill != tree_fill)
		odd = id;
	if (odd) {
		NL_SET_ERR_MSG_ATTR(cb->extack, odd,
				    "a dump can be filtered by dev, fabric or tree only");
		return -EINVAL;
	}
	if (kind->text)
		cb->min_dump_alloc = NLMSG_GOODSIZE + kind->text;
	dump->last = U32_MAX;
	if (attrs[ANG_NL_DEV]) {
		dump->dev = nla_get_u32(attrs[ANG_NL_DEV]);
		dump->last = dump->dev;
		adev = ang_dev_find(dump->dev);
		if (!adev) {
			NL_SET_ERR_MSG_ATTR(cb->extack, attrs[ANG_NL_DEV],
					    "dev: there is no such device");
			return -ENODEV;
		}
		ang_dev_release(adev);
	}
	if (attrs[ANG_NL_FABRIC]) {
		dump->by_fabric = true;
		dump->fabric = nla_get_u64(attrs[ANG_NL_FABRIC]);
	}
	if (id) {
		dump->by_tree = true;
		dump->tree = nla_get_u8(id);
	}
	/*
	 * Store the rights of the sender: another process may read the rest of
	 * the dump.
	 */
	asker_init(&dump->asker, cb->skb);
	get_pid_ns(dump->asker.pid_ns);
	get_user_ns(dump->asker.user_ns);
	return 0;
}

/**
 * ang_nl_dump_done() - free the state of a dump that has ended or was aborted
 * @cb: dump
 *
 * Return: 0.
 */
int ang_nl_dump_done(struct netlink_callback *cb)
{
	struct ang_nl_dump *dump = (struct ang_nl_dump *)cb->ctx;

	put_pid_ns(dump->asker.pid_ns);
	put_user_ns(dump->asker.user_ns);
	return 0;
}

/* Number of objects of the node and of all switches that it keeps. */
static u32 dump_count(struct ang_dev *adev, const struct ang_nl_kind *kind)
{
	u32 routers = 1;
	const u32 *kept;

	if (kind->router)
		routers += ang_graph_kept(adev->graph, adev->node, &kept);
	return routers * kind->count(adev);
}

static u32 dump_router(const struct ang_dev *adev, u32 number)
{
	const u32 *kept;

	if (!number)
		return adev->node;
	ang_graph_kept(adev->graph, adev->node, &kept);
	return kept[number - 1];
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct ang_nl_kind *kind, struct ang_dev *adev)
{
	struct ang_nl_dump *dump = (struct ang_nl_dump *)cb->ctx;
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	u32 count = kind->count(adev);
	u32 index = dump->index % count;
	void *hdr;
	int ret;

	if (dump->by_tree && dump->tree != index)
		return 0;
	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &ang_nl_family, NLM_F_MULTI, request->cmd);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(cb, hdr);
	ret = kind->fill(skb, adev, &dump->asker,
			 dump_router(adev, dump->index / count), index);
	if (ret) {
		genlmsg_cancel(skb, hdr);
		/*
		 * Objects that do not exist, or that the caller may not see,
		 * are left out.
		 */
		return ret == -EMSGSIZE ? ret : 0;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static int dump_dev(struct sk_buff *skb, struct netlink_callback *cb,
		    struct ang_dev *adev)
{
	struct ang_nl_dump *dump = (struct ang_nl_dump *)cb->ctx;
	const struct ang_nl_kind *kind = dump_kind(cb);
	int ret = 0;
	u32 count;

	if (ang_dev_enter(adev))
		return 0;
	if (dump->by_fabric && dump->fabric != adev->fabric_id)
		goto out;
	count = dump_count(adev, kind);
	for (; dump->index < count; dump->index++) {
		ret = dump_one(skb, cb, kind, adev);
		if (ret)
			break;
		cond_resched();
	}
out:
	ang_dev_exit(adev);
	return ret;
}

/**
 * ang_nl_dump() - continue a dump
 * @skb: message to fill
 * @cb: dump
 *
 * Return: bytes filled in, 0 at the end; -EMSGSIZE an object does not fit any
 * message.
 */
int ang_nl_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct ang_nl_dump *dump = (struct ang_nl_dump *)cb->ctx;

	cb->seq = ang_nl_generation();
	while (dump->dev <= dump->last) {
		u32 wanted = dump->dev;
		struct ang_dev *adev;
		int ret = 0;

		adev = ang_dev_next(&dump->dev);
		if (!adev)
			break;
		if (dump->dev != wanted)
			dump->index = 0;
		if (dump->dev <= dump->last)
			ret = dump_dev(skb, cb, adev);
		ang_dev_release(adev);
		cond_resched();
		if (ret)
			return skb->len ? skb->len : ret;
		dump->index = 0;
		dump->dev++;
	}
	return skb->len;
}
