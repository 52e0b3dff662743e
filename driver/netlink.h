/* SPDX-License-Identifier: GPL-2.0-only */
/* Angara adapter: declarations shared by the files of the netlink family. */
#ifndef ANG_NETLINK_H
#define ANG_NETLINK_H

#include <net/genetlink.h>
#include <linux/angara_nl.h>

#include "ang_dev.h"

/* event.c */
extern struct genl_family ang_nl_family;
u32 ang_nl_generation(void);

/* netlink_req.c */
void ang_nl_cred(struct sk_buff *skb, struct ang_cred *cred);
struct ang_dev *ang_nl_dev_enter(struct genl_info *info);
void ang_nl_dev_exit(struct ang_dev *adev);
int ang_nl_router(struct genl_info *info, const struct ang_dev *adev, int attr,
		  u32 *router);

/* netlink_get.c */
int ang_nl_get(struct sk_buff *skb, struct genl_info *info);
int ang_nl_dump_start(struct netlink_callback *cb);
int ang_nl_dump(struct sk_buff *skb, struct netlink_callback *cb);
int ang_nl_dump_done(struct netlink_callback *cb);

/* netlink_port.c */
int ang_nl_port_set(struct sk_buff *skb, struct genl_info *info);

/* netlink_route.c */
int ang_nl_route_set(struct sk_buff *skb, struct genl_info *info);

#endif /* ANG_NETLINK_H */
