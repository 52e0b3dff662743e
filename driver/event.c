// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the generic netlink family "angara".  All files of the driver
 * report events, so this file calls no other file; netlink.c adds the commands.
 */
#include "netlink.h"

/*
 * Incremented when a device, a row or a delegation is added or removed. Skips
 * 0, which a dump treats as "not known".
 */
static atomic_t generation = ATOMIC_INIT(1);

u32 ang_nl_generation(void)
{
	return atomic_read(&generation);
}

/**
 * ang_nl_changed() - note that the content of dumps has changed
 *
 * Context: any.
 */
void ang_nl_changed(void)
{
	if (!atomic_inc_return(&generation))
		atomic_inc(&generation);
}

#define GROUP_EVENTS	0
#define GROUP_ADMIN	1

static const struct genl_multicast_group groups[] = {
	[GROUP_EVENTS] = { .name = ANGARA_GENL_MCGRP },
	[GROUP_ADMIN] = {
		.name = ANGARA_GENL_MCGRP_ADMIN,
		.flags = GENL_MCAST_CAP_NET_ADMIN,
	},
};

/* ang_nl_init() adds the commands. */
struct genl_family ang_nl_family __ro_after_init = {
	.name = ANGARA_GENL_NAME,
	.version = ANGARA_GENL_VERSION,
	.module = THIS_MODULE,
	.parallel_ops = true,
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

/*
 * May any user see events of this type?  A faulty device may send unknown
 * types.
 */
static bool event_is_public(u8 type)
{
	switch (type) {
	case ANGARA_AEV_LINK_DOWN:
	case ANGARA_AEV_LINK_UP:
	case ANGARA_NLE_DEV_NEW:
	case ANGARA_NLE_DEV_DEL:
	case ANGARA_NLE_LOST:
		return true;
	default:
		return false;
	}
}

/**
 * ang_nl_event() - send an event to listeners
 * @adev: device
 * @type: ANGARA_AEV_* or ANGARA_NLE_*
 * @index: number of the object; linux/angara_nl.h says which for each @type
 * @value: value of the event, as linux/angara_nl.h defines it for @type
 *
 * Failures are not reported to the caller: a listener that misses a message
 * gets an error from its socket, and can then read the state.
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
