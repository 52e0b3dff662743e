// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: the device through which a fabric is managed in-band, and the key. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/manage.h>

#include "angaractl.h"
#include "key.h"
#include "manager.h"

/** manager_allowed() - can management packets be sent?  Return: exit status */
int manager_allowed(void)
{
	if (options.server)
		return misuse("--server: a server sends no management packets; they need a device of the kernel");
	return DONE;
}

/** manager_args() - read "dev DEV" and "key FILE".  Return: exit status */
int manager_args(struct args *args, struct manager_args *given)
{
	static const char *const words[] = { "dev", "key" };
	int status = DONE, which;
	char *value;

	while (!status &&
	       !(status = args_pair(args, words, ARRAY_SIZE(words), &which, &value)) &&
	       which >= 0) {
		status = which ? key_read(value, &given->key) :
				 parse_dev(value, &given->dev);
		given->has_dev |= !which;
	}
	return status ? status : manager_allowed();
}

/** manager_open() - open the device.  Return: exit status */
int manager_open(const struct manager_args *given, struct angara_manager **manager)
{
	char path[32] = "";
	int ret;

	if (given->has_dev)
		snprintf(path, sizeof(path), "/dev/angara%u", given->dev);
	ret = angara_manager_open(given->has_dev ? path : NULL, manager);
	if (ret)
		return fail("%s: %s", given->has_dev ? path : "no device can be opened",
			    strerror(-ret));
	return DONE;
}

/** manager_map() - discover the fabric.  Return: exit status */
int manager_map(struct angara_manager *manager, uint64_t key, struct angara_map **map)
{
	int ret = angara_discover(manager, key, map);

	switch (ret) {
	case 0:
		return DONE;
	case -EPERM:
		return fail("management needs CAP_NET_ADMIN");
	case -EACCES:
		return fail("the router of this device needs a key: give key FILE");
	case -ENOTTY:
		return fail("the driver has no in-band management");
	default:
		return fail("the router of this device does not answer: %s",
			    strerror(-ret));
	}
}
