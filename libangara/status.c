// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Meaning of the status of a completion.
 */
#include <errno.h>

#include "lib.h"

/*
 * Errno of each status, for blocking calls.  None is -EAGAIN, -ENODEV, -ENOMEM, -ENOTSUP or
 * -ETIMEDOUT, which mean that the operation has no status.  -EINVAL may also mean a bad argument.
 */
static const struct {
	int err;
	const char *text;
} statuses[ANGARA_ST_NUM] = {
	[ANGARA_ST_OK]		= { 0, "success" },
	[ANGARA_ST_DESC]	= { -EINVAL, "malformed queue entry" },
	[ANGARA_ST_KEY]		= { -ENOKEY, "no such memory region" },
	[ANGARA_ST_BOUNDS]	= { -ERANGE, "outside of the memory region" },
	[ANGARA_ST_ACCESS]	= { -EACCES, "memory region does not grant access" },
	[ANGARA_ST_PARTITION]	= { -EPERM, "target is of another partition" },
	[ANGARA_ST_TARGET]	= { -EHOSTUNREACH, "no such node or context" },
	[ANGARA_ST_NO_TREE]	= { -ENOTCONN, "tree is not set or not joined" },
	[ANGARA_ST_MISMATCH]	= { -EPROTO, "participants disagree on the operation" },
	[ANGARA_ST_TREE_DOWN]	= { -ECONNRESET, "a participant left or died" },
	[ANGARA_ST_DMA]		= { -EFAULT, "host memory is not accessible" },
	[ANGARA_ST_UNREACHABLE]	= { -ENETUNREACH, "no path to the node or back" },
	[ANGARA_ST_ALIGN]	= { -EINVAL, "target of an atomic operation is not aligned" },
};

ANG_PUBLIC int angara_status_errno(uint32_t status)
{
	return status < ANGARA_ST_NUM ? statuses[status].err : -EIO;
}

ANG_PUBLIC const char *angara_status_str(uint32_t status)
{
	return status < ANGARA_ST_NUM ? statuses[status].text : "unknown status";
}
