/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vfio-user, as described by QEMU's docs/interop/vfio-user.rst: the messages.
 * Integers have the byte order of the machine, which client and server share.
 */
#ifndef ANGARA_VFIO_PROTO_H
#define ANGARA_VFIO_PROTO_H

#include "card.h"

#define VFU_VERSION		1
#define VFU_DMA_MAP		2
#define VFU_DMA_UNMAP		3
#define VFU_DEVICE_GET_INFO	4
#define VFU_GET_REGION_INFO	5
#define VFU_GET_IRQ_INFO	7
#define VFU_SET_IRQS		8
#define VFU_REGION_READ		9
#define VFU_REGION_WRITE	10
#define VFU_DEVICE_RESET	13
#define VFU_WRITE_MULTI		15

#define VFU_TYPE		0xfU	/* bits of flags: 0 is a command */
#define VFU_REPLY		1U
#define VFU_NO_REPLY		(1U << 4)
#define VFU_ERROR		(1U << 5)

#define VFU_MAX_FDS		16U	/* most descriptors in a message to the server */
#define VFU_MAX_DATA		1048576U /* most bytes of a region in one message */
#define VFU_MAX_MAPS		65535U	/* ranges that every client may map */
#define VFU_MAX_MSG		((u32)(sizeof(struct vfu_hdr) + \
				       sizeof(struct vfu_region)) + VFU_MAX_DATA)
#define VFU_MAX_OTHER		8192U	/* most bytes of the body of another message */
#define VFU_MAX_REPLY		(sizeof(struct vfu_hdr) + \
				 sizeof(struct vfu_region) + VFU_MAX_DATA)

struct vfu_hdr {
	u16 id;
	u16 command;
	u32 size;		/* bytes of the message, including this header */
	u32 flags;
	u32 error;
};

struct vfu_version {
	u16 major;
	u16 minor;
	char data[];		/* JSON, ends with a NUL */
};

struct vfu_dma_map {
	u32 argsz;
	u32 flags;
	u64 offset;
	u64 iova;
	u64 size;
};

struct vfu_dma_unmap {
	u32 argsz;
	u32 flags;
	u64 iova;
	u64 size;
};

struct vfu_region {
	u64 offset;
	u32 region;
	u32 count;
	u8 data[];
};

struct vfu_write {
	u64 offset;
	u32 region;
	u32 count;
	u8 data[8];
};

/* A complete message. */
struct vfu_msg {
	struct vfu_hdr hdr;
	const u8 *body;
	u32 len;		/* bytes of body */
	u32 num_fds;
	bool more_fds;		/* the message had more descriptors; they are closed */
	int fds[VFU_MAX_FDS];	/* a handler that keeps a descriptor sets -1 here */
};

struct vfu_reply {
	u32 len;		/* 0: none */
	_Alignas(8) u8 bytes[VFU_MAX_REPLY];
};

bool proto_size_ok(struct card *c, const struct vfu_hdr *hdr);
int proto_handle(struct card *c, struct vfu_msg *m, struct vfu_reply *r);

/* version.c */
int version_handle(struct card *c, const struct vfu_msg *m, u8 *out, u32 max);

#endif /* ANGARA_VFIO_PROTO_H */
