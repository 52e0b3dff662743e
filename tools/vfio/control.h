/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: the protocol of angara-vfio and angaractl.
 *
 * A stream of netlink messages, framed by their lengths, in the form of the
 * family "angara" (linux/angara_nl.h).  A server answers DEV_GET, FABRIC_GET,
 * PORT_GET, TREE_GET, CTX_GET and TREE_CHECK; a device is a node and has the
 * node's number.  One more request makes the server send captured packets.
 */
#ifndef ANGARA_VFIO_CONTROL_H
#define ANGARA_VFIO_CONTROL_H

#define CONTROL_SOCKET	"control.sock"
#define CONTROL_TYPE	0x10	/* nlmsg_type */
#define CONTROL_MAX_MSG	4096	/* bytes of a request */
#define CONTROL_SESSIONS 16U	/* most clients; the connections of others are closed */

/*
 * The server acknowledges the request, then sends a pcapng file until one side
 * closes the socket.  ANGARA_A_DEV_ID limits the capture to a node.
 */
#define CONTROL_CMD_CAPTURE	128

struct fabric;
struct control;

struct control *control_start(struct fabric *f, const char *dir);
void control_stop(struct control *c, const char *dir);

#endif /* ANGARA_VFIO_CONTROL_H */
