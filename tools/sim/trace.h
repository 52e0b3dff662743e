/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of a simulation.  A record is an event of a packet in a FIFO or an output of a router.
 */
#ifndef ANG_SIM_TRACE_H
#define ANG_SIM_TRACE_H

#include "ang_env.h"

struct sim;
struct sim_part;
struct sim_pkt;

#define SIM_TR_ARRIVE	ANG_TR_NUM	/* received in the FIFO of a source */

/**
 * struct sim_rec - a record
 * @time: start, in picoseconds
 * @end: end
 * @node: node
 * @src: node that injected the packet
 * @seq: see struct sim_pkt
 * @bytes: payload
 * @order: number of the record in its partition
 * @flits: length of the packet
 * @event: ANG_TR_* or SIM_TR_ARRIVE
 * @type: ANG_PKT_*
 * @vc: virtual channel
 * @tree: TreeId
 * @port: number of the source or output, see sim.h
 */
struct sim_rec {
	u64 time;
	u64 end;
	u32 node;
	u32 src;
	u32 seq;
	u32 bytes;
	u32 order;
	u16 flits;
	u8 event;
	u8 type;
	u8 vc;
	u8 tree;
	u16 port;
};

/**
 * struct sim_trace - records of a partition
 * @rec: records
 * @n: number of records
 * @size: capacity
 */
struct sim_trace {
	struct sim_rec *rec;
	u32 n;
	u32 size;
};

/* Add a record if the node is watched. */
void sim_trace_add(struct sim_part *p, u32 event, u32 node,
		   const struct sim_pkt *k, u32 port, u64 from, u64 to);

/*
 * Watch the nodes listed in @nodes, separated by commas; NULL: all nodes.
 * Return: 0 or -EINVAL.
 */
int sim_trace_start(struct sim *s, const char *nodes);

/**
 * sim_trace_write() - write all records
 * @s: simulation
 * @path: file; its extension selects the format: .vcd, .json, otherwise text
 *
 * Return: 0 or -errno.
 */
int sim_trace_write(struct sim *s, const char *path);

/* The formats; records are in the order of time. */
void trace_vcd(struct sim *s, const struct sim_rec *rec, u32 n, FILE *to);
void trace_chrome(struct sim *s, const struct sim_rec *rec, u32 n, FILE *to);

/* Return the name of the port of a record: "X+ UP", "PEGroup", "to Reducer", ... */
char *trace_port(struct sim *s, const struct sim_rec *r, char *buf, size_t len);

/** sim_heatmap_write() - write the load of each link. Return: 0 or -errno. */
int sim_heatmap_write(struct sim *s, const char *path);

#endif /* ANG_SIM_TRACE_H */
