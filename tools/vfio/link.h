/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The links to one other server: packets of the fabric become frames, and frames
 * become packets.  This file uses no sockets and starts no threads; one thread at
 * a time calls the functions for a link.
 */
#ifndef ANGARA_VFIO_LINK_H
#define ANGARA_VFIO_LINK_H

#include "wire.h"

/* An unacknowledged frame. */
struct link_frame {
	struct link_frame *next;
	u64 seq;
	u32 size;
	u8 bytes[] __attribute__((aligned(8)));
};

/* A packet that has arrived and waits for the fabric. */
struct link_packet {
	struct link_packet *next;
	u64 seq;
	u32 vc;
	u32 len;
	struct ang_pkt pkt;
	u8 data[];
};

struct link_channel {
	struct link_packet *head;
	struct link_packet **tail;
	u32 count;		/* packets in the FIFO */
	u32 taken;		/* packets taken since the last report to the other side */
};

/*
 * A link that begins at port @from_dir of the remote node @from and ends at a
 * local node.
 */
struct link_in {
	u32 node;
	u32 dir;
	u32 from;
	u32 from_dir;
	struct link_channel ch[WIRE_CHANNELS];
};

/* A link that ends at a remote node; packets in its rings go there. */
struct link_out {
	u32 node;
	u32 dir;
	u32 used[WIRE_CHANNELS];	/* packets sent, and not reported as taken */
};

struct link {
	struct ang_view *view;
	struct link_in *in;
	u32 num_in;
	struct link_out *out;
	u32 num_out;
	u32 *nodes;		/* nodes of the other side that have links to local nodes */
	u32 num_nodes;
	u64 sent;		/* number of the last frame made */
	u64 acked;		/* number of the last acknowledged frame */
	u64 written;		/* number of the last frame written to a
				 * connection */
	u64 seen;		/* number of the last frame received */
	struct link_frame *head;	/* frames after @acked */
	struct link_frame **tail;
	struct link_frame *next;	/* first frame that this connection has not sent whole */
	u32 frames_taken;	/* WIRE_TAKEN frames in the list */
	u32 frames_mgmt;	/* WIRE_MGMT frames in the list */
	u32 frames_packet;	/* WIRE_PACKET frames in the list */
	u32 used;		/* sum of link_out.used */
	u64 packets_out;
	u64 packets_in;
	u64 resent;
};

int link_init(struct link *l, struct ang_view *view, const bool *theirs);
void link_free(struct link *l);

void link_collect(struct link *l);
void link_deliver(struct link *l);
void link_drop(struct link *l);
const char *link_receive(struct link *l, const struct wire_head *h,
			 const void *body);
int link_report_lost(struct link *l, u32 node, u32 era);
const char *link_resume(struct link *l, u64 seen);
bool link_idle(const struct link *l);

#endif /* ANGARA_VFIO_LINK_H */
