// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": the command that sets the faults of a link,
 * and takes it down and up.
 */
#include "ang_file.h"
#include "netlink.h"
#include "ang_nl_attrs.h"

static bool any_fault(struct nlattr **attrs)
{
	return attrs[ANGARA_A_PORT_LOSS] || attrs[ANGARA_A_PORT_CORRUPT] ||
	       attrs[ANGARA_A_PORT_DELAY] || attrs[ANGARA_A_PORT_SEED];
}

/*
 * Reads a number up to @max; the policy cannot check it, since limits in a
 * policy have 16 bits.
 */
static int read_limited(struct genl_info *info, int attr, u64 max, u64 *value,
			const char *error)
{
	struct nlattr *a = info->attrs[attr];

	*value = 0;
	if (!a)
		return 0;
	*value = nla_len(a) == sizeof(u32) ? nla_get_u32(a) : nla_get_u64(a);
	if (*value <= max)
		return 0;
	if (info->extack) {
		info->extack->bad_attr = a;
		info->extack->_msg = error;
	}
	return -ERANGE;
}

static int read_faults(struct genl_info *info, struct angara_adm_link *link)
{
	struct nlattr *seed = info->attrs[ANGARA_A_PORT_SEED];
	u64 loss, corrupt, delay;
	int ret;

	ret = read_limited(info, ANGARA_A_PORT_LOSS, ANGARA_FAULT_ONE, &loss,
			   "loss: must be at most 1000000000 (all packets)");
	if (!ret)
		ret = read_limited(info, ANGARA_A_PORT_CORRUPT,
				   ANGARA_FAULT_ONE - loss, &corrupt,
				   "corrupt: loss + corrupt must be at most 1000000000 (all packets)");
	if (!ret)
		ret = read_limited(info, ANGARA_A_PORT_DELAY, ANGARA_FAULT_MAX_NS,
				   &delay, "delay: must be at most 1000000000 ns");
	if (ret)
		return ret;
	link->loss = cpu_to_le32(loss);
	link->corrupt = cpu_to_le32(corrupt);
	link->delay = cpu_to_le32(DIV_ROUND_UP((u32)delay, ANGARA_CYCLE_NS));
	link->seed = cpu_to_le64(seed ? nla_get_u64(seed) : 0);
	link->what |= ANGARA_LINK_FAULT;
	return 0;
}

static int read_link(struct genl_info *info, struct angara_adm_link *link)
{
	struct nlattr *down = info->attrs[ANGARA_A_PORT_DOWN];

	if (!info->attrs[ANG_NL_ID]) {
		NL_SET_ERR_MSG(info->extack, "port: required");
		return -EINVAL;
	}
	link->port = cpu_to_le32(nla_get_u8(info->attrs[ANG_NL_ID]));
	if (!down && !any_fault(info->attrs)) {
		NL_SET_ERR_MSG(info->extack, "no setting: expected down, loss, corrupt or delay");
		return -EINVAL;
	}
	if (down)
		link->what = nla_get_u8(down) ? ANGARA_LINK_DOWN : ANGARA_LINK_UP;
	return any_fault(info->attrs) ? read_faults(info, link) : 0;
}

static int link_program(struct genl_info *info, struct ang_dev *adev,
			struct angara_adm_cmd *cmd)
{
	struct angara_adm_cpl cpl;
	u32 router;
	int ret;

	ret = ang_nl_router(info, adev, ANGARA_A_PORT_ROUTER, &router);
	if (ret)
		return ret;
	cmd->link.router = cpu_to_le32(router);
	ret = ang_adm_exec(adev, cmd, &cpl);
	if (ret == -ENOENT || ret == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ANG_NL_ID],
				    "port: has no link");
	else if (ret == -EOPNOTSUPP)
		NL_SET_ERR_MSG(info->extack, "the adapter does not allow nodes to set faults of links");
	return ret == -EINVAL ? -ENOENT : ret;
}

/**
 * ang_nl_port_set() - set the faults of a link, or take it down or up
 * @skb: request
 * @info: request
 *
 * Return: 0 or an error listed in linux/angara_nl.h.
 * Context: process; may sleep.
 */
int ang_nl_port_set(struct sk_buff *skb, struct genl_info *info)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_LINK_SET };
	struct ang_dev *adev;
	int ret;

	ret = read_link(info, &cmd.link);
	if (ret)
		return ret;
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	ret = link_program(info, adev, &cmd);
	ang_nl_dev_exit(adev);
	return ret;
}
