/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of angara-vfio that uses the protocol as QEMU does, or breaks it.
 *
 * The environment names the server: VFIO_DIR is its folder, VFIO_PID its
 * process, and VFIO_LOG the file of its standard error.
 */
#ifndef VFIO_CLIENT_H
#define VFIO_CLIENT_H

#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>

#include "proto.h"
#include "test.h"

#define CLOSED		(-1)	/* result if the server closes the connection */
#define CONFIG		VFIO_PCI_CONFIG_REGION_INDEX
#define MAX_MEMORY	(1ULL << 30)	/* see LIMITS in server.sh */
#define MAX_MAPS	65535U
#define MEMORY		(16U << 20)	/* bytes of a node's memory, at DMA address 0 */

struct cl {
	int fd;
	u16 id;
	struct vfu_hdr hdr;	/* header of the last reply */
	u32 len;
	_Alignas(8) u8 body[2 << 20];
};

/* Connects, but does not negotiate. */
struct cl *cl_open(u32 node);
/* Connects and negotiates the version. */
struct cl *cl_attach(u32 node);
void cl_close(struct cl *cl);

int cl_version(struct cl *cl, u32 major, u32 minor, const char *json);
void cl_bytes(struct cl *cl, const void *bytes, size_t len, const int *fds,
	      u32 num_fds);
void cl_send(struct cl *cl, u32 command, u32 flags, const void *body, u32 len,
	     const int *fds, u32 num_fds);
/* Return: the error of the reply, 0 or positive, or CLOSED. */
int cl_recv(struct cl *cl);
int cl_call(struct cl *cl, u32 command, const void *body, u32 len);
int cl_call_fds(struct cl *cl, u32 command, const void *body, u32 len,
		const int *fds, u32 num_fds);

int cl_region_read(struct cl *cl, u32 region, u64 off, void *buf, u32 len);
int cl_region_write(struct cl *cl, u32 region, u64 off, const void *buf, u32 len);
/* These functions fail the test if the server returns an error. */
u32 cl_get(struct cl *cl, u32 region, u64 off, u32 len);
void cl_put(struct cl *cl, u32 region, u64 off, u32 len, u32 val);
/* Writes a register like QEMU, without a reply. */
void cl_post(struct cl *cl, u64 off, u32 val);

int cl_dma_map(struct cl *cl, u64 iova, u64 size, u64 offset, u32 flags, int fd);
int cl_dma_unmap(struct cl *cl, u64 iova, u64 size, u32 flags);
int cl_irqs(struct cl *cl, u32 flags, u32 index, u32 start, u32 count,
	    const void *data, u32 len, const int *fds, u32 num_fds);
/* Sets a new eventfd for one vector, or INTx.  Return: the eventfd. */
int cl_wire(struct cl *cl, u32 index, u32 vector);

int memfd(u64 size, bool sealed);
int eventfd_new(void);
/* Waits until an eventfd is signalled, and reads it.  Return: the count. */
u64 eventfd_wait(int fd);
/*
 * Is an eventfd not signalled? Call this function after the server has
 * answered.
 */
bool eventfd_quiet(int fd);

/* Waits until the server has printed @text. */
bool said(const char *text);
u32 server_fds(void);
/* Return: number of mappings of memfds in the server. */
u32 server_maps(void);

/* Functions of vhost.c, besides those of host.h */
struct cl *client_of(u32 node);
void host_memory(struct host *h, u32 node);
void host_enable(struct host *h, u32 node);
/* Waits until CQ of a context has an entry, and takes it.  Return: its status */
u32 wait_cq(struct tctx *c, struct angara_cqe *cqe);
/* Disconnects the client of a node, which ends its contexts. */
void host_leave(struct host *h, u32 node);
void host_rejoin(struct host *h, u32 node);

extern const struct test_case version_cases[], proto_cases[], pci_cases[],
	dma_cases[], irq_cases[], work_cases[], manage_cases[];

#endif /* VFIO_CLIENT_H */
