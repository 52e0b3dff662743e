/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Capture files of packets: pcapng (IETF draft-ietf-opsawg-pcapng), little
 * endian, link type USER0.  An interface is a node.  A packet of the fabric is
 * recorded as a frame; Documentation/trace.rst describes it.
 */
#ifndef ANG_PCAPNG_H
#define ANG_PCAPNG_H

#include "ang_env.h"

/* Blocks: type, length, body, length. */
#define PCAPNG_SECTION	0x0A0D0D0AU	/* as text, these bytes are line ends */
#define PCAPNG_INTERFACE	1U
#define PCAPNG_PACKET	6U

#define PCAPNG_BYTE_ORDER	0x1A2B3C4DU
#define PCAPNG_LINKTYPE	147U	/* USER0 */

#define PCAPNG_OPT_END	0U
#define PCAPNG_OPT_IF_NAME	2U
#define PCAPNG_OPT_IF_TSRESOL	9U
#define PCAPNG_OPT_DROPCOUNT	4U	/* records lost before a packet */

#define PCAPNG_FRAME_VERSION	1U
#define PCAPNG_FRAME_BYTES	40U

struct pcapng_frame {
	u8 version;
	u8 event;	/* ANG_TR_* */
	u8 type;	/* ANG_PKT_* */
	u8 port;	/* port of a SEND, otherwise 255 */
	u8 vc;
	u8 tree;
	u8 status;
	u8 reserved;
	__le16 npkts;
	__le16 reserved1;
	__le32 node;
	__le32 src;
	__le32 len;
	__le32 seq;
	__le32 reserved2;
	__le64 cycle;
};

static_assert(sizeof(struct pcapng_frame) == PCAPNG_FRAME_BYTES, "no padding");

#endif /* ANG_PCAPNG_H */
