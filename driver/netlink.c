// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": its table of commands, and the commands
 * that change trees.  Documentation/netlink/specs/angara.yaml specifies the
 * family.
 *
 * Commands run in parallel: every object has its own lock.
 */
#include "ang_file.h"
#include "netlink.h"
#include "ang_nl_attrs.h"
#include "ang_nl_policy.h"

static int read_tree(struct genl_info *info, u32 *tree)
{
	if (!info->attrs[ANG_NL_ID]) {
		NL_SET_ERR_MSG(info->extack, "tree: required");
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
		NL_SET_ERR_MSG(info->extack, "ports: the ports to the children are needed");
		return -EINVAL;
	}
	if (!attrs[ANGARA_A_TREE_PE]) {
		NL_SET_ERR_MSG(info->extack, "pe: the number of local participants is needed");
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
		NL_SET_ERR_MSG(info->extack, "pkey: required, since this user has no partition");
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
		NL_SET_ERR_MSG(info->extack, "delegated: the partition is needed");
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
	/*
	 * The check may wait for the tree locks of all devices, one after the
	 * other.  Leave this device, so it can be stopped meanwhile.
	 */
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

/*
 * Limits of single fields.  Rules that involve several fields or the fabric are
 * checked later.
 */
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

static const struct nla_policy port_set_policy[] = {
	[ANGARA_A_PORT_DEV] = { .type = NLA_U32 },
	[ANGARA_A_PORT_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_PORTS - 1),
	[ANGARA_A_PORT_ROUTER] = { .type = NLA_U32 },
	[ANGARA_A_PORT_DOWN] = NLA_POLICY_MAX(NLA_U8, 1),
	[ANGARA_A_PORT_LOSS] = { .type = NLA_U32 },
	[ANGARA_A_PORT_CORRUPT] = { .type = NLA_U32 },
	[ANGARA_A_PORT_DELAY] = { .type = NLA_U64 },
	[ANGARA_A_PORT_SEED] = { .type = NLA_U64 },
};

static const struct nla_policy route_set_policy[] = {
	[ANGARA_A_ROUTE_DEV] = { .type = NLA_U32 },
	[ANGARA_A_ROUTE_ID] = { .type = NLA_U32 },
	[ANGARA_A_ROUTE_ROW] = { .type = NLA_BINARY },
	[ANGARA_A_ROUTE_USE] = NLA_POLICY_MAX(NLA_U8, 1),
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

/*
 * Kernel 6.1 has no genl_split_ops, so ang_nl_dump_start() checks the
 * attributes of a dump.
 */
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
	ANG_NL_DO(ANGARA_CMD_PORT_SET, ang_nl_port_set, GENL_ADMIN_PERM,
		  port_set_policy),
	ANG_NL_DO(ANGARA_CMD_ROUTE_SET, ang_nl_route_set, GENL_ADMIN_PERM,
		  route_set_policy),
};

int __init ang_nl_init(void)
{
	ang_nl_family.ops = ops;
	ang_nl_family.n_ops = ARRAY_SIZE(ops);
	return genl_register_family(&ang_nl_family);
}

void ang_nl_exit(void)
{
	genl_unregister_family(&ang_nl_family);
}
