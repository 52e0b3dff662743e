// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": the command that changes the routes of a
 * fabric.
 */
#include "ang_file.h"
#include "netlink.h"
#include "ang_nl_attrs.h"

/* Report why the device refuses a row or a change.  Return: the error. */
static int route_failed(struct genl_info *info, int ret)
{
	struct nlattr *row = info->attrs[ANGARA_A_ROUTE_ROW];

	switch (ret) {
	case -EINVAL:
		if (row)
			NL_SET_ERR_MSG_ATTR(info->extack, row,
					    "row: there is no such router, or the row is too long");
		else
			NL_SET_ERR_MSG(info->extack,
				       "use: a route does not end at its node, has no way back, or could deadlock");
		return ret;
	case -EEXIST:
		NL_SET_ERR_MSG(info->extack, "another device is changing the routes");
		return -EBUSY;
	case -ENOSPC:
		NL_SET_ERR_MSG(info->extack, "the fabric is too large for a table of routes");
		return -EOPNOTSUPP;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG(info->extack, "the adapter does not allow nodes to change routes");
		return ret;
	default:
		return ret;
	}
}

static int row_give(struct genl_info *info, struct ang_dev *adev)
{
	struct nlattr *row = info->attrs[ANGARA_A_ROUTE_ROW];

	return ang_adm_route_row(adev, nla_get_u32(info->attrs[ANG_NL_ID]), nla_data(row),
				 nla_len(row));
}

/**
 * ang_nl_route_set() - give a row of a new table of routes, or change the routes
 * @skb: request
 * @info: request
 *
 * Return: 0 or an error listed in linux/angara_nl.h; -EBUSY another device is
 * changing the routes; -EOPNOTSUPP the adapter does not allow nodes to change
 * routes, or the fabric is too large for a table.
 * Context: process; may sleep.
 */
int ang_nl_route_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *row = info->attrs[ANGARA_A_ROUTE_ROW];
	struct nlattr *use = info->attrs[ANGARA_A_ROUTE_USE];
	struct ang_dev *adev;
	int ret;

	if (!row == !use || !row != !info->attrs[ANG_NL_ID]) {
		NL_SET_ERR_MSG(info->extack, "expected either a router and its row, or use");
		return -EINVAL;
	}
	adev = ang_nl_dev_enter(info);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	if (row)
		ret = row_give(info, adev);
	else
		ret = ang_adm_route_use(adev, nla_get_u8(use) ? ANGARA_ROUTE_USE :
						 ANGARA_ROUTE_OWN);
	ang_nl_dev_exit(adev);
	return route_failed(info, ret);
}
