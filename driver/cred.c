// SPDX-License-Identifier: GPL-2.0-only
/* Partitions and rights of a user. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <linux/angara_nl.h>

#include "ang_file.h"

/**
 * ang_default_pkey() - the default partition of the current user
 *
 * Return: the partition; 0 if the user has none: a partition number has no room
 * for a user id of 2^31 or more.
 */
u32 ang_default_pkey(void)
{
	u32 uid = from_kuid(&init_user_ns, current_euid());

	return uid > ANGARA_PKEY_UID_MAX ? 0 : ANGARA_PKEY_UID(uid);
}

/**
 * ang_file_cred() - rights of the caller of an ioctl on trees
 * @file: open file
 * @cred: out: rights; the partition is that of the file's domain, or the user's
 *	default partition if the file has no domain
 */
void ang_file_cred(struct ang_file *file, struct ang_cred *cred)
{
	struct ang_domain *dom = ang_file_domain(file);

	cred->pkey = dom ? dom->pkey : ang_default_pkey();
	/*
	 * Write no audit record if the capability is missing: most callers do
	 * not need it.
	 */
	cred->admin = ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
}
