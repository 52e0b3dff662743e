// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": its table of commands, what changes
 * trees, and events.  Documentation/netlink/specs/angara.yaml specifies it.
 *
 * Commands run in parallel: all they touch has locks of its own.
 */
#include <linux/cred.h>
#include <linux/net.h>
#include <linux/uidgid.h>
#include <net/sock.h>

#include "ang_file.h"
#include "netlink.h"
#include "ang_nl_attrs.h"
#include "ang_nl_policy.h"

/*
 * Goes up when a device, a row or a delegation comes or goes.  Never 0, which a dump takes
 * for "not known".
 */
static atomic_t generation = ATOMIC_INIT(1);

u32 ang_nl_generation(void)
{
	return atomic_read(&generation);
}

/**
 * ang_nl_changed() - what dumps show is not what it was
 *
 * Context: any.
 */
void ang_nl_changed(void)
{
	if (!atomic_inc_return(&generation))
		atomic_inc(&generation);
}

/*
 * A socket may have been passed to a program of another user: a request then
 * needs the rights of both, as in netlink_capable().
 */
static bool is_openers(struct sk_buff *skb)
{
	struct socket *sock = NETLINK_CB(skb).sk->sk_socket;

	return sock && sock->file &&
	       uid_eq(sock->file->f_cred->euid, current_euid());
}

/**
 * ang_nl_cred() - on whose behalf a request runs
 * @skb: request
 * @cred: out
 *
 * Context: that of the request.
 */
void ang_nl_cred(struct sk_buff *skb, struct ang_cred *cred)
{
	cred->pkey = is_openers(skb) ? ang_default_pkey() : 0;
	cred->admin = netlink_capable(skb, CAP_NET_ADMIN);
}

/**
 * ang_nl_dev_enter() - find and enter the device that a request names
 * @info: request
 *
 * Return: the device, undo with ang_nl_dev_exit(), or an error pointer.
 * Context: process; may sleep.
 */
struct ang_dev *ang_nl_dev_enter(struct genl_info *info)
{
	struct nlattr *attr = info->attrs[ANG_NL_DEV];
	struct ang_dev *adev;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "dev: which device?");
		return ERR_PTR(-EINVAL);
	}
	adev = ang_dev_find(nla_get_u32(attr));
	if (adev && !ang_dev_enter(adev))
		return adev;
	if (adev)
		ang_dev_release(adev);
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "dev: there is no such device");
	return ERR_PTR(-ENODEV);
}

void ang_nl_dev_exit(struct ang_dev *adev)
{
	ang_dev_exit(adev);
	ang_dev_release(adev);
}

/**
 * ang_nl_router() - the router that a request names
 * @info: request
 * @adev: device that it names, entered
 * @attr: attribute
 * @router: out: router; without the attribute the node of the device
 *
 * Return: 0; -EINVAL there is no such router; -EPERM another node keeps it.
 */
int ang_nl_router(struct genl_info *info, const struct ang_dev *adev, int attr,
		  u32 *router)
{
	struct nlattr *named = info->attrs[attr];
	int ret;

	*router = named ? nla_get_u32(named) : adev->node;
	ret = ang_row_router(&adev->graph->topo, adev->node, ANGARA_TREE_ROUTER,
			     router);
	if (ret == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, named,
				    "router: there is no such router");
	else if (ret)
		NL_SET_ERR_MSG_ATTR(info->extack, named,
				    "router: the node of another device keeps it");
	return ret;
}

static int read_tree(struct genl_info *info, u32 *tree)
{
	if (!info->attrs[ANG_NL_ID]) {
		NL_SET_ERR_MSG(info->extack, "tree: which one?");
		return -EINVAL;
	}
	*tree = nla_get_u8(info->attrs[ANG_NL_ID]);
	return 0;
}

static int read_row(struct genl_info *info, struct angara_tree_row *row)
{
	struct nlattr **attrs = info->attrs;
	u32 tree;
	int ret;

	ret = read_tree(info, &tree);
	if (ret)
		return ret;
	if (!attrs[ANGARA_A_TREE_PORTS]) {
		NL_SET_ERR_MSG(info->extack, "ports: which ports down?");
		return -EINVAL;
	}
	if (!attrs[ANGARA_A_TREE_PE]) {
		NL_SET_ERR_MSG(info->extack, "pe: how many local participants?");
		return -EINVAL;
	}
	row->tree = tree;
	row->ports = nla_get_u64(attrs[ANGARA_A_TREE_PORTS]);
	row->port_sum = hweight64(row->ports);
	row->pe = nla_get_u16(attrs[ANGARA_A_TREE_PE]);
	row->to_root = ANGARA_PORT_NONE;
	if (attrs[ANGARA_A_TREE_TO_ROOT])
		row->to_root = nla_get_u8(attrs[ANGARA_A_TREE_TO_ROOT]);
	if (attrs[ANGARA_A_TREE_IS_ROOT])
		row->is_root = nla_get_u8(attrs[ANGARA_A_TREE_IS_ROOT]);
	if (attrs[ANGARA_A_TREE_EPOCH])
		row->epoch = nla_get_u16(attrs[ANGARA_A_TREE_EPOCH]);
	row->pkey = ang_default_pkey();
	if (attrs[ANGARA_A_TREE_PKEY])
		row->pkey = nla_get_u32(attrs[ANGARA_A_TREE_PKEY]);
	if (!row->pkey) {
		NL_SET_ERR_MSG(info->extack, "pkey: which partition? you have none of your own");
		return -EINVAL;
	}
	return 0;
}

static int row_program(struct sk_buff *skb, struct genl_info *info,
		       struct ang_dev *adev, const struct angara_tree_row *row)
{
	struct ang_cred cred;
	const char *flaw;
	u32 router;
	int ret;

	ret = ang_nl_router(info, adev, ANGARA_A_TREE_ROUTER, &router);
	if (ret)
		return ret;
	if (ang_tree_row_flaw(&adev->graph->topo, router, row, &flaw)) {
		if (info->extack)
			info->extack->_msg = flaw;
		return -EINVAL;
	}
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_set(adev, &cred, router, row, 0, NULL);
	if (ret == -EBUSY)
		NL_SET_ERR_MSG(info->extack, "tree: the row is set, clear it first");
	return ret;
}

static int tree_set(struct sk_buff *skb, struct genl_info *info)
{
	struct angara_tree_row row = { 0 };
	struct ang_dev *adev;
	int ret;

	ret = read_row(info, &row);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ret = row_program(skb, info, adev, &row);
	ang_nl_dev_exit(adev);
	return ret;
}

static int tree_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct ang_cred cred;
	struct ang_dev *adev;
	u32 tree, router;
	int ret;

	ret = read_tree(info, &tree);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_nl_router(info, adev, ANGARA_A_TREE_ROUTER, &router);
	if (!ret)
		ret = ang_dev_tree_clear(adev, &cred, router, tree, 0);
	if (ret == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "tree: the row is not set");
	ang_nl_dev_exit(adev);
	return ret;
}

static int tree_delegate(struct sk_buff *skb, struct genl_info *info)
{
	struct ang_cred cred;
	struct ang_dev *adev;
	u32 tree;
	int ret;

	ret = read_tree(info, &tree);
	if (ret)
		return ret;
	if (!info->attrs[ANGARA_A_TREE_DELEGATED]) {
		NL_SET_ERR_MSG(info->extack, "delegated: to which partition?");
		return -EINVAL;
	}
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_delegate(adev, &cred, tree,
				    nla_get_u32(info->attrs[ANGARA_A_TREE_DELEGATED]));
	ang_nl_dev_exit(adev);
	return ret;
}

static int check_fill(struct sk_buff *msg, struct genl_info *info,
		      const struct ang_dev *adev,
		      const struct angara_tree_verify *check)
{
	void *hdr = genlmsg_put_reply(msg, info, &ang_nl_family, 0,
				      ANGARA_CMD_TREE_CHECK);

	if (!hdr ||
	    nla_put_u32(msg, ANGARA_A_CHECK_DEV, adev->id) ||
	    nla_put_u32(msg, ANGARA_A_CHECK_NODE, check->node) ||
	    nla_put_u64_64bit(msg, ANGARA_A_CHECK_FABRIC, adev->fabric_id,
			      ANGARA_A_CHECK_PAD) ||
	    nla_put_u8(msg, ANGARA_A_CHECK_ID, check->tree) ||
	    nla_put_u8(msg, ANGARA_A_CHECK_RULE, check->rule) ||
	    nla_put_u32(msg, ANGARA_A_CHECK_NODES, check->nodes))
		return -EMSGSIZE;
	genlmsg_end(msg, hdr);
	return 0;
}

static int tree_check(struct sk_buff *skb, struct genl_info *info)
{
	struct angara_tree_verify check = { 0 };
	struct ang_cred cred;
	struct ang_dev *adev;
	struct sk_buff *msg;
	int ret;

	ret = read_tree(info, &check.tree);
	if (ret)
		return ret;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev)) {
		ret = PTR_ERR(adev);
		goto err_free;
	}
	/* It takes the locks of all devices in turn: this one's not held. */
	ang_dev_exit(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_check(adev, &cred, &check);
	if (ret == -EPERM)
		NL_SET_ERR_MSG(info->extack, "tree: a row belongs to another partition");
	if (!ret)
		ret = check_fill(msg, info, adev, &check);
	ang_dev_release(adev);
	if (ret)
		goto err_free;
	return genlmsg_reply(msg, info);

err_free:
	nlmsg_free(msg);
	return ret;
}

/* Rules among the fields, and those that depend on the fabric, come later. */
static const struct nla_policy set_policy[] = {
	[ANGARA_A_TREE_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_TREE_IS_ROOT] = NLA_POLICY_MAX(NLA_U8, 1),
	[ANGARA_A_TREE_TO_ROOT] = { .type = NLA_U8 },
	[ANGARA_A_TREE_PORTS] = { .type = NLA_U64 },
	[ANGARA_A_TREE_PE] = NLA_POLICY_MAX(NLA_U16, ANGARA_MAX_LOCAL),
	[ANGARA_A_TREE_PKEY] = NLA_POLICY_MIN(NLA_U32, 1),
	[ANGARA_A_TREE_EPOCH] = { .type = NLA_U16 },
	[ANGARA_A_TREE_ROUTER] = { .type = NLA_U32 },
};

static const struct nla_policy clear_policy[] = {
	[ANGARA_A_TREE_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_TREE_ROUTER] = { .type = NLA_U32 },
};

static const struct nla_policy delegate_policy[] = {
	[ANGARA_A_TREE_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_TREE_DELEGATED] = { .type = NLA_U32 },
};

#define ANG_POLICY(_policy) \
	.policy = (_policy), .maxattr = ARRAY_SIZE(_policy) - 1

#define ANG_NL_GET(_cmd, _policy) {		\
	.cmd = (_cmd),				\
	.doit = ang_nl_get,			\
	.start = ang_nl_dump_start,		\
	.dumpit = ang_nl_dump,			\
	.done = ang_nl_dump_done,		\
	ANG_POLICY(_policy),			\
}

#define ANG_NL_DO(_cmd, _doit, _flags, _policy) {	\
	.cmd = (_cmd),					\
	.doit = (_doit),				\
	.flags = (_flags),				\
	ANG_POLICY(_policy),				\
}

/* Kernel 6.1 has no genl_split_ops; dumps check by themselves what they take. */
static const struct genl_ops ops[] = {
	ANG_NL_GET(ANGARA_CMD_DEV_GET, ang_nl_dev_policy),
	ANG_NL_GET(ANGARA_CMD_FABRIC_GET, ang_nl_fabric_policy),
	ANG_NL_GET(ANGARA_CMD_PORT_GET, ang_nl_port_policy),
	ANG_NL_GET(ANGARA_CMD_TREE_GET, ang_nl_tree_policy),
	ANG_NL_GET(ANGARA_CMD_CTX_GET, ang_nl_ctx_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_SET, tree_set, GENL_ADMIN_PERM, set_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_CLEAR, tree_clear, GENL_ADMIN_PERM,
		  clear_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_CHECK, tree_check, 0, ang_nl_check_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_DELEGATE, tree_delegate, GENL_ADMIN_PERM,
		  delegate_policy),
};

#define GROUP_EVENTS	0
#define GROUP_ADMIN	1

static const struct genl_multicast_group groups[] = {
	[GROUP_EVENTS] = { .name = ANGARA_GENL_MCGRP },
	[GROUP_ADMIN] = {
		.name = ANGARA_GENL_MCGRP_ADMIN,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

struct genl_family ang_nl_family __ro_after_init = {
	.name = ANGARA_GENL_NAME,
	.version = ANGARA_GENL_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int event_fill(struct sk_buff *msg, const struct ang_dev *adev, u8 type,
		      u32 index, u32 value)
{
	void *hdr = genlmsg_put(msg, 0, 0, &ang_nl_family, 0, ANGARA_CMD_EVENT);

	if (!hdr ||
	    nla_put_u32(msg, ANGARA_A_EVENT_DEV, adev->id) ||
	    nla_put_u32(msg, ANGARA_A_EVENT_NODE, adev->node) ||
	    nla_put_u64_64bit(msg, ANGARA_A_EVENT_FABRIC, adev->fabric_id,
			      ANGARA_A_EVENT_PAD) ||
	    nla_put_u8(msg, ANGARA_A_EVENT_TYPE, type) ||
	    nla_put_u32(msg, ANGARA_A_EVENT_INDEX, index) ||
	    nla_put_u32(msg, ANGARA_A_EVENT_VALUE, value))
		return -EMSGSIZE;
	genlmsg_end(msg, hdr);
	return 0;
}

static void event_send(const struct ang_dev *adev, unsigned int group, u8 type,
		       u32 index, u32 value)
{
	struct sk_buff *msg;

	if (!genl_has_listeners(&ang_nl_family, &init_net, group))
		return;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return;
	if (event_fill(msg, adev, type, index, value)) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_multicast(&ang_nl_family, msg, 0, group, GFP_KERNEL);
}

/* Events that belong to no partition.  A device may make up others. */
static bool event_is_public(u8 type)
{
	switch (type) {
	case ANGARA_AEV_LINK_DOWN:
	case ANGARA_NLE_DEV_NEW:
	case ANGARA_NLE_DEV_DEL:
	case ANGARA_NLE_LOST:
		return true;
	default:
		return false;
	}
}

/**
 * ang_nl_event() - tell listeners of something
 * @adev: device
 * @type: ANGARA_AEV_* or ANGARA_NLE_*
 * @index: what it is about, see there
 * @value: see there
 *
 * Failures are not reported: a listener that misses a message is told by its
 * socket, and one that must know the state reads it.
 * Context: process; may sleep.
 */
void ang_nl_event(struct ang_dev *adev, u8 type, u32 index, u32 value)
{
	if (type == ANGARA_AEV_TREE_DOWN)
		atomic_inc(&adev->downs); /* see row_ask() */
	if (type != ANGARA_AEV_RX_ERROR && type != ANGARA_NLE_LOST)
		ang_nl_changed();
	event_send(adev, GROUP_ADMIN, type, index, value);
	if (event_is_public(type))
		event_send(adev, GROUP_EVENTS, type, index, value);
}

void ang_nl_dev_new(struct ang_dev *adev)
{
	ang_nl_event(adev, ANGARA_NLE_DEV_NEW, 0, 0);
}

void ang_nl_dev_del(struct ang_dev *adev)
{
	ang_nl_event(adev, ANGARA_NLE_DEV_DEL, 0, 0);
}

int __init ang_nl_init(void)
{
	return genl_register_family(&ang_nl_family);
}

void ang_nl_exit(void)
{
	genl_unregister_family(&ang_nl_family);
}
