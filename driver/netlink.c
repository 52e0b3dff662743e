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
 * A socket may have been handed to a program that runs as somebody else: it
 * asks on behalf of both, as in netlink_capable().
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
 * Context: that of who asks.
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
	struct nlattr *attr = info->attrs[ANGARA_A_DEV];
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

static int read_tree(struct genl_info *info, u32 *tree)
{
	if (!info->attrs[ANGARA_A_TREE]) {
		NL_SET_ERR_MSG(info->extack, "tree: which one?");
		return -EINVAL;
	}
	*tree = nla_get_u8(info->attrs[ANGARA_A_TREE]);
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
	if (!attrs[ANGARA_A_PORTS]) {
		NL_SET_ERR_MSG(info->extack, "ports: which ports down?");
		return -EINVAL;
	}
	if (!attrs[ANGARA_A_PE]) {
		NL_SET_ERR_MSG(info->extack, "pe: how many local participants?");
		return -EINVAL;
	}
	row->tree = tree;
	row->ports = nla_get_u64(attrs[ANGARA_A_PORTS]);
	row->port_sum = hweight64(row->ports);
	row->pe = nla_get_u16(attrs[ANGARA_A_PE]);
	row->to_root = ANGARA_PORT_NONE;
	if (attrs[ANGARA_A_TO_ROOT])
		row->to_root = nla_get_u8(attrs[ANGARA_A_TO_ROOT]);
	if (attrs[ANGARA_A_IS_ROOT])
		row->is_root = nla_get_u8(attrs[ANGARA_A_IS_ROOT]);
	if (attrs[ANGARA_A_EPOCH])
		row->epoch = nla_get_u16(attrs[ANGARA_A_EPOCH]);
	row->pkey = ang_default_pkey();
	if (attrs[ANGARA_A_PKEY])
		row->pkey = nla_get_u32(attrs[ANGARA_A_PKEY]);
	if (!row->pkey) {
		NL_SET_ERR_MSG(info->extack, "pkey: which partition? you have none of your own");
		return -EINVAL;
	}
	return 0;
}

static int tree_set(struct sk_buff *skb, struct genl_info *info)
{
	struct angara_tree_row row = { 0 };
	struct ang_cred cred;
	struct ang_dev *adev;
	const char *flaw;
	int ret;

	ret = read_row(info, &row);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	if (ang_tree_row_flaw(&adev->topo, &row, &flaw)) {
		if (info->extack)
			info->extack->_msg = flaw;
		ret = -EINVAL;
	} else {
		ang_nl_cred(skb, &cred);
		ret = ang_dev_tree_set(adev, &cred, &row, 0, NULL);
		if (ret == -EBUSY)
			NL_SET_ERR_MSG(info->extack, "tree: the row is set, clear it first");
	}
	ang_nl_dev_exit(adev);
	return ret;
}

static int tree_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct ang_cred cred;
	struct ang_dev *adev;
	u32 tree;
	int ret;

	ret = read_tree(info, &tree);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_clear(adev, &cred, tree, 0);
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
	if (!info->attrs[ANGARA_A_DELEGATED]) {
		NL_SET_ERR_MSG(info->extack, "delegated: to which partition?");
		return -EINVAL;
	}
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_delegate(adev, &cred, tree,
				    nla_get_u32(info->attrs[ANGARA_A_DELEGATED]));
	ang_nl_dev_exit(adev);
	return ret;
}

static int check_fill(struct sk_buff *msg, struct genl_info *info, u32 dev,
		      const struct angara_tree_verify *check)
{
	void *hdr = genlmsg_put_reply(msg, info, &ang_nl_family, 0,
				      ANGARA_CMD_TREE_CHECK);

	if (!hdr ||
	    nla_put_u32(msg, ANGARA_A_DEV, dev) ||
	    nla_put_u8(msg, ANGARA_A_TREE, check->tree) ||
	    nla_put_u8(msg, ANGARA_A_RULE, check->rule) ||
	    nla_put_u32(msg, ANGARA_A_NODE, check->node) ||
	    nla_put_u32(msg, ANGARA_A_NODES, check->nodes))
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
	u32 dev;
	int ret;

	ret = read_tree(info, &check.tree);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	/* It takes the locks of all devices in turn: this one's not held. */
	ang_dev_exit(adev);
	ang_nl_cred(skb, &cred);
	ret = ang_dev_tree_check(adev, &cred, &check);
	dev = adev->id;
	ang_dev_release(adev);
	if (ret == -EPERM)
		NL_SET_ERR_MSG(info->extack, "tree: a row belongs to another partition");
	if (ret)
		return ret;
	msg = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	ret = check_fill(msg, info, dev, &check);
	if (ret) {
		nlmsg_free(msg);
		return ret;
	}
	return genlmsg_reply(msg, info);
}

static const struct nla_policy dev_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_FABRIC] = { .type = NLA_U64 },
};

static const struct nla_policy port_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_PORT] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_PORTS - 1),
};

static const struct nla_policy tree_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_TREE] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
};

static const struct nla_policy ctx_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_CTX] = { .type = NLA_U32 },
};

/* Rules among the fields, and those that depend on the fabric, come later. */
static const struct nla_policy set_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_IS_ROOT] = NLA_POLICY_MAX(NLA_U8, 1),
	[ANGARA_A_TO_ROOT] = { .type = NLA_U8 },
	[ANGARA_A_PORTS] = { .type = NLA_U64 },
	[ANGARA_A_PE] = NLA_POLICY_MAX(NLA_U16, ANGARA_MAX_LOCAL),
	[ANGARA_A_PKEY] = NLA_POLICY_MIN(NLA_U32, 1),
	[ANGARA_A_EPOCH] = { .type = NLA_U16 },
};

static const struct nla_policy one_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
};

static const struct nla_policy delegate_policy[] = {
	[ANGARA_A_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_DELEGATED] = { .type = NLA_U32 },
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
	ANG_NL_GET(ANGARA_CMD_DEV_GET, dev_policy),
	ANG_NL_GET(ANGARA_CMD_FABRIC_GET, dev_policy),
	ANG_NL_GET(ANGARA_CMD_PORT_GET, port_policy),
	ANG_NL_GET(ANGARA_CMD_TREE_GET, tree_policy),
	ANG_NL_GET(ANGARA_CMD_CTX_GET, ctx_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_SET, tree_set, GENL_ADMIN_PERM, set_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_CLEAR, tree_clear, GENL_ADMIN_PERM, one_policy),
	ANG_NL_DO(ANGARA_CMD_TREE_CHECK, tree_check, 0, one_policy),
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
	.maxattr = ANGARA_A_MAX,
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
	    nla_put_u32(msg, ANGARA_A_DEV, adev->id) ||
	    nla_put_u32(msg, ANGARA_A_NODE, adev->node) ||
	    nla_put_u64_64bit(msg, ANGARA_A_FABRIC, adev->fabric_id,
			      ANGARA_A_PAD) ||
	    nla_put_u8(msg, ANGARA_A_EVENT, type) ||
	    nla_put_u32(msg, ANGARA_A_INDEX, index) ||
	    nla_put_u32(msg, ANGARA_A_VALUE, value))
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
 * Nobody's business if it fails: a listener that misses a message is told by
 * its socket, and one that must know the state reads it.
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
