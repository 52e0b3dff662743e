// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "angara": sender, device and router of a request.
 */
#include <linux/cred.h>
#include <linux/net.h>
#include <linux/uidgid.h>
#include <net/sock.h>

#include "ang_file.h"
#include "netlink.h"
#include "ang_nl_attrs.h"

/*
 * Did the user who sends the request also open the socket?  A socket may have
 * been passed to a program of another user: then the request is allowed only if
 * both users have the right, as in netlink_capable().
 */
static bool is_openers(struct sk_buff *skb)
{
	struct socket *sock = NETLINK_CB(skb).sk->sk_socket;

	return sock && sock->file &&
	       uid_eq(sock->file->f_cred->euid, current_euid());
}

/**
 * ang_nl_cred() - get the rights of the sender of a request
 * @skb: request
 * @cred: out: rights
 *
 * Context: process that has sent the request.
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
		NL_SET_ERR_MSG(info->extack, "dev: required");
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
 * ang_nl_router() - get the router that a request names
 * @info: request
 * @adev: device that the request names, after ang_dev_enter()
 * @attr: attribute with the router's number
 * @router: out: router; the node of the device if the attribute is missing
 *
 * Return: 0; -EINVAL there is no such router; -EPERM another node keeps the
 * router.
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
				    "router: belongs to another device's node");
	return ret;
}
