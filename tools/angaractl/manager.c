// SPDX-License-Identifier: GPL-2.0-only
/* angaractl: the device through which a fabric is managed, and its keys. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/manage.h>

#include "angaractl.h"
#include "manager.h"

/**
 * manager_key() - read the key of routers from a file
 * @path: file, with a number from 1 to 2^64 - 1 such as 0x1F in its first line
 * @key: out
 *
 * A key on the command line could be read by every user.
 * Return: DONE; MISUSED or FAILED, with a message.
 */
int manager_key(const char *path, uint64_t *key)
{
	char line[64], *end;
	FILE *file = fopen(path, "re");
	bool any;

	if (!file)
		return fail("%s: %s", path, strerror(errno));
	any = fgets(line, sizeof(line), file);
	fclose(file);
	if (any)
		line[strcspn(line, "\n")] = 0;
	errno = 0;
	*key = any && line[0] >= '0' && line[0] <= '9' ? strtoull(line, &end, 0) : 0;
	if (!*key || errno || *end)
		return fail("%s: its first line has to be a key, a number from 1 to 2^64 - 1",
			    path);
	return DONE;
}

/** manager_allowed() - can packets of management be sent?  Return: exit status */
int manager_allowed(void)
{
	if (options.server)
		return misuse("--server: management packets leave by a device of the kernel");
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
		status = which ? manager_key(value, &given->key) :
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
