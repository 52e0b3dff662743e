/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Angara adapter: tracepoints, under events/angara in tracefs.
 *
 * angara_packet shows trace records of the device model in angara_loop.ko,
 * which gives the model a trace operation only while this tracepoint is
 * enabled.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM angara

#if !defined(ANG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ANG_TRACE_H

#include <linux/tracepoint.h>

#include "ang_dev.h"
#include "ang_types.h"	/* ANG_PKT_* */
#include "mr_mem.h"

/*
 * Events in addition to ANGARA_AEV_*.  The driver generates them; the device
 * does not report them.
 */
#define ANG_TRACE_JOIN		128
#define ANG_TRACE_LEAVE		129

/* The format files in tracefs contain these names, for trace-cmd. */
#define show_packet_event(event)			\
	__print_symbolic(event,				\
	{ ANG_TR_INJECT,	"inject" },		\
	{ ANG_TR_SEND,		"send" },		\
	{ ANG_TR_EJECT,		"eject" },		\
	{ ANG_TR_REDUCE,	"reduce" },		\
	{ ANG_TR_RESULT,	"result" },		\
	{ ANG_TR_CREDIT,	"credit" },		\
	{ ANG_TR_DROP,		"drop" })

#define show_type(type)					\
	__print_symbolic(type,				\
	{ ANG_PKT_PUT,		"put" },		\
	{ ANG_PKT_GET,		"get" },		\
	{ ANG_PKT_ACK,		"ack" },		\
	{ ANG_PKT_DATA,		"data" },		\
	{ ANG_PKT_RESULT,	"result" },		\
	{ ANG_PKT_BCAST,	"bcast" },		\
	{ ANG_PKT_REDUCE,	"reduce" },		\
	{ ANG_PKT_ALLREDUCE,	"allreduce" },		\
	{ ANG_PKT_CREDIT,	"credit" },		\
	{ ANG_PKT_ABORT,	"abort" },		\
	{ ANG_PKT_SEND,		"send" },		\
	{ ANG_PKT_ATOMIC,	"atomic" },		\
	{ ANG_PKT_READY,	"ready" },		\
	{ ANG_PKT_RNR,		"rnr" },		\
	{ ANG_PKT_READY_ACK,	"ready_ack" },		\
	{ ANG_PKT_OPEN,		"open" },		\
	{ ANG_PKT_MGMT,		"mgmt" })

#define show_tree_event(event)				\
	__print_symbolic(event,				\
	{ ANGARA_AEV_TREE_SET,		"set" },	\
	{ ANGARA_AEV_TREE_CLEAR,	"clear" },	\
	{ ANGARA_AEV_TREE_DOWN,		"down" },	\
	{ ANG_TRACE_JOIN,		"join" },	\
	{ ANG_TRACE_LEAVE,		"leave" })

TRACE_EVENT(angara_doorbell,
	TP_PROTO(const struct ang_dev *adev, u32 ctx, u32 sq_pi),
	TP_ARGS(adev, ctx, sq_pi),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, node)
		__field(u32, ctx)
		__field(u32, sq_pi)
	),
	TP_fast_assign(
		__entry->dev = adev->id;
		__entry->node = adev->node;
		__entry->ctx = ctx;
		__entry->sq_pi = sq_pi;
	),
	TP_printk("dev=angara%u node=%u ctx=%u sq_pi=%u",
		  __entry->dev, __entry->node, __entry->ctx, __entry->sq_pi)
);

TRACE_EVENT(angara_completion,
	TP_PROTO(const struct ang_dev *adev, u32 ctx, u32 evseq),
	TP_ARGS(adev, ctx, evseq),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, node)
		__field(u32, ctx)
		__field(u32, evseq)
	),
	TP_fast_assign(
		__entry->dev = adev->id;
		__entry->node = adev->node;
		__entry->ctx = ctx;
		__entry->evseq = evseq;
	),
	TP_printk("dev=angara%u node=%u ctx=%u evseq=%u",
		  __entry->dev, __entry->node, __entry->ctx, __entry->evseq)
);

/*
 * @value is the node at fault for "down", the context for "join" and "leave".
 */
TRACE_EVENT(angara_tree,
	TP_PROTO(const struct ang_dev *adev, u32 event, u32 tree, u32 value),
	TP_ARGS(adev, event, tree, value),
	TP_STRUCT__entry(
		__field(u32, dev)
		__field(u32, node)
		__field(u32, event)
		__field(u32, tree)
		__field(u32, value)
	),
	TP_fast_assign(
		__entry->dev = adev->id;
		__entry->node = adev->node;
		__entry->event = event;
		__entry->tree = tree;
		__entry->value = value;
	),
	TP_printk("dev=angara%u node=%u tree=%u %s value=%u",
		  __entry->dev, __entry->node, __entry->tree,
		  show_tree_event(__entry->event),
		  __entry->value)
);

/*
 * @slot is the low bits of the key, which are not secret; @lists is the number
 * of lists of the device's pages.
 */
TRACE_EVENT(angara_mr,
	TP_PROTO(const struct ang_dev *adev, u32 slot, u64 length,
		 const struct ang_mr_mem *mem),
	TP_ARGS(adev, slot, length, mem),
	TP_STRUCT__entry(
		__field(u64, length)
		__field(u32, dev)
		__field(u32, node)
		__field(u32, slot)
		__field(u32, page_shift)
		__field(u32, lists)
	),
	TP_fast_assign(
		__entry->length = length;
		__entry->dev = adev->id;
		__entry->node = adev->node;
		__entry->slot = slot;
		__entry->page_shift = mem->page_shift;
		__entry->lists = mem->num_lists;
	),
	TP_printk("dev=angara%u node=%u slot=%u length=%llu page_shift=%u lists=%u",
		  __entry->dev, __entry->node, __entry->slot, __entry->length,
		  __entry->page_shift, __entry->lists)
);

/*
 * @node is a node or switch; @port is the port by which the packet leaves, -1
 * if it does not leave the router.
 */
TRACE_EVENT(angara_packet,
	TP_PROTO(u64 fabric_id, const struct ang_trace *rec),
	TP_ARGS(fabric_id, rec),
	TP_STRUCT__entry(
		__field(u64, fabric)
		__field(u64, cycle)
		__field(u32, node)
		__field(u32, src)
		__field(u32, len)
		__field(u32, seq)
		__field(u16, npkts)
		__field(u8, event)
		__field(u8, type)
		__field(s8, port)
		__field(u8, vc)
		__field(u8, tree)
		__field(u8, status)
	),
	TP_fast_assign(
		__entry->fabric = fabric_id;
		__entry->cycle = rec->cycle;
		__entry->node = rec->node;
		__entry->src = rec->src;
		__entry->len = rec->len;
		__entry->seq = rec->seq;
		__entry->npkts = rec->npkts;
		__entry->event = rec->event;
		__entry->type = rec->type;
		__entry->port = (s8)rec->port;
		__entry->vc = rec->vc;
		__entry->tree = rec->tree;
		__entry->status = rec->status;
	),
	TP_printk("fabric=%#llx cycle=%llu node=%u %s %s port=%d vc=%u tree=%u src=%u seq=%u npkts=%u len=%u status=%u",
		  __entry->fabric, __entry->cycle, __entry->node,
		  show_packet_event(__entry->event),
		  show_type(__entry->type),
		  __entry->port, __entry->vc, __entry->tree, __entry->src, __entry->seq,
		  __entry->npkts, __entry->len, __entry->status)
);

#endif /* ANG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
