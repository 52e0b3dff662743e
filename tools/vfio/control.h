/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control socket: the protocol of angara-vfio and angaractl.
 *
 * A stream of netlink messages, framed by their lengths, in the form of the
 * family "angara" (linux/angara_nl.h), of which a server answers DEV_GET,
 * FABRIC_GET, PORT_GET, TREE_GET, CTX_GET and TREE_CHECK; a device is a node,
 * and has its number.  One more request makes the server send packets from then on.
 */
#ifndef ANGARA_VFIO_CONTROL_H
#define ANGARA_VFIO_CONTROL_H

#define CONTROL_SOCKET	"control.sock"
#define CONTROL_TYPE	0x10	/* nlmsg_type */
#define CONTROL_MAX_MSG	4096	/* bytes of a request */

/*
 * Acknowledged; then the socket carries a pcapng file until one side closes
 * it.  Narrowed by ANGARA_A_DEV_ID.
 */
#define CONTROL_CMD_CAPTURE	128

struct fabric;
struct control;

struct control *control_start(struct fabric *f, const char *dir);
void control_stop(struct control *c, const char *dir);

#endif /* ANGARA_VFIO_CONTROL_H */
