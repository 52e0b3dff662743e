/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between libangara and the fabric manager, tools/fm.
 *
 * The manager listens on a UNIX socket of type SOCK_SEQPACKET.  A client sends one
 * request per connection, and gets one reply.  After ANG_FM_GET with err 0, the
 * client has a lease: its user may program the tree through the devices of this
 * machine.  The lease ends when the connection is closed.  After any other reply
 * the manager closes the connection.
 *
 * The manager gets the user of a connection from the kernel; requests contain no
 * user. Numbers have the byte order of the machine.
 */
#ifndef ANG_FM_H
#define ANG_FM_H

#include "ang_env.h"

#define ANG_FM_SOCKET	"/run/angara-fm/socket"
#define ANG_FM_ENV	"ANGARA_FM"	/* variable: path of another socket; empty: no manager */
#define ANG_FM_VERSION	0x464D0001U

#define ANG_FM_GET	1U		/* lease any tree */
#define ANG_FM_LIST	2U		/* list leases: those of the caller; for root, all */
#define ANG_FM_MOST	512U		/* most leases in a list */

/**
 * struct ang_fm_request - what a client sends
 * @version: ANG_FM_VERSION
 * @op: ANG_FM_*
 * @fabric: fabric of the tree; LIST: 0
 * @avoid: TreeIds that the client cannot use, a bit for each
 * @pkey: partition of the rows; it must be that of the client's user
 * @zero: 0
 */
struct ang_fm_request {
	u32 version;
	u32 op;
	u64 fabric;
	u64 avoid;
	u32 pkey;
	u32 zero;
};

/**
 * struct ang_fm_reply - what the manager answers
 * @version: ANG_FM_VERSION
 * @err: 0, or -errno: -EAGAIN no tree is free for this user now; -EDQUOT the user
 *	has all trees that one user may have; -EPERM the client is root, which needs
 *	no lease, or its partition is not that of its user; -ENODEV no such fabric;
 *	-EIO a device does not respond
 * @tree: TreeId of the lease
 * @count: LIST: number of struct ang_fm_lease after this structure
 * @reserved: TreeIds that the client must not use without a lease, a bit for each
 */
struct ang_fm_reply {
	u32 version;
	s32 err;
	u32 tree;
	u32 count;
	u64 reserved;
};

/**
 * struct ang_fm_lease - a lease in a list
 * @fabric: fabric
 * @tree: TreeId
 * @uid: user
 * @connected: 0: the holder's connection is closed, or was made to an earlier
 *	manager
 * @zero: 0
 */
struct ang_fm_lease {
	u64 fabric;
	u32 tree;
	u32 uid;
	u32 connected;
	u32 zero;
};

static_assert(sizeof(struct ang_fm_request) == 32, "no padding");
static_assert(sizeof(struct ang_fm_reply) == 24, "no padding");
static_assert(sizeof(struct ang_fm_lease) == 24, "no padding");

#endif /* ANG_FM_H */
