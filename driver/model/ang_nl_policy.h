/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes that requests of the netlink family may contain; the driver and
 * angara-vfio share these policies. selftests/host/netlink-spec.t compares
 * them, and the commands for which both programs use them, with
 * Documentation/netlink/specs/angara.yaml.
 *
 * Files that include this header include linux/angara_nl.h and ang_hw.h first,
 * and either net/netlink.h of the kernel or netlink/attr.h of libnl.  libnl
 * checks no ranges: instead of -ERANGE, angara-vfio answers -ENOENT.
 */
#ifndef ANG_NL_POLICY_H
#define ANG_NL_POLICY_H

#ifndef NLA_POLICY_MAX
#define NLA_POLICY_MAX(_type, _max)	{ .type = (_type) }
#endif

static const struct nla_policy ang_nl_dev_policy[] = {
	[ANGARA_A_DEV_ID] = { .type = NLA_U32 },
	[ANGARA_A_DEV_FABRIC] = { .type = NLA_U64 },
};

static const struct nla_policy ang_nl_fabric_policy[] = {
	[ANGARA_A_FABRIC_DEV] = { .type = NLA_U32 },
	[ANGARA_A_FABRIC_ID] = { .type = NLA_U64 },
};

static const struct nla_policy ang_nl_port_policy[] = {
	[ANGARA_A_PORT_DEV] = { .type = NLA_U32 },
	[ANGARA_A_PORT_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_PORT_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_PORTS - 1),
	[ANGARA_A_PORT_ROUTER] = { .type = NLA_U32 },
};

static const struct nla_policy ang_nl_tree_policy[] = {
	[ANGARA_A_TREE_DEV] = { .type = NLA_U32 },
	[ANGARA_A_TREE_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_TREE_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
	[ANGARA_A_TREE_ROUTER] = { .type = NLA_U32 },
};

static const struct nla_policy ang_nl_check_policy[] = {
	[ANGARA_A_CHECK_DEV] = { .type = NLA_U32 },
	[ANGARA_A_CHECK_ID] = NLA_POLICY_MAX(NLA_U8, ANGARA_MAX_TREES - 1),
};

static const struct nla_policy ang_nl_ctx_policy[] = {
	[ANGARA_A_CTX_DEV] = { .type = NLA_U32 },
	[ANGARA_A_CTX_FABRIC] = { .type = NLA_U64 },
	[ANGARA_A_CTX_ID] = { .type = NLA_U32 },
};

#endif /* ANG_NL_POLICY_H */
