// SPDX-License-Identifier: GPL-2.0-only
/* The driver's interface as a table: every entry point and its arguments. */
#include <linux/angara.h>
#include <linux/angara_nl.h>

#include "state.h"

#define BELOW(_name, _n)	{ .name = (_name), .kind = KF_BELOW, .arg = (_n) }
#define BITS(_name, _mask)	{ .name = (_name), .kind = KF_BITS, .arg = (_mask) }
#define ANY(_name)		{ .name = (_name), .kind = KF_ANY }
#define LENGTH(_name, _max)	{ .name = (_name), .kind = KF_LENGTH, .arg = (_max) }
#define ZERO(_name)		{ .name = (_name), .kind = KF_ZERO }
#define EDGE(_name, _n, _edge) \
	{ .name = (_name), .kind = KF_BELOW, .arg = (_n), .edge = (_edge) }
#define FILE_SLOT		BELOW("f", KF_FILES)

/* A member of an ioctl's structure; the last argument is the edge. */
#define IN(_struct, _member, _name, _kind, _arg, ...) {			\
	.name = (_name), .kind = (_kind), .arg = (_arg),		\
	.edge = 0 __VA_OPT__(+) __VA_ARGS__,				\
	.offset = offsetof(struct _struct, _member),			\
	.width = sizeof(((struct _struct *)0)->_member),		\
}

/* Only these two ioctls may leave trees set. */
#define LEAVES(_nr) \
	((_nr) == ANGARA_IOCTL_TREE_SET || \
	 (_nr) == ANGARA_IOCTL_TREE_DELEGATE ? KF_LEAVES_TREES : 0)

/* An ioctl.  @size 0: the right size.  @ptr: see arg_place(). */
#define IOCTL(_name, _weight, _nr, _struct, _flags, ...) {		\
	.name = (_name), .weight = (_weight), .nr = (_nr),		\
	.size = sizeof(struct _struct), .run = kf_ioctl,		\
	.leaves = LEAVES(_nr),						\
	.field = {							\
		FILE_SLOT, ZERO("size"), ZERO("ptr"),			\
		IN(_struct, flags, "flags", KF_BITS, _flags),		\
		##__VA_ARGS__						\
	},								\
}

#define OP(_name, _weight, _run, ...) {					\
	.name = (_name), .weight = (_weight), .run = (_run),		\
	.field = { __VA_ARGS__ },					\
}

/* Flags of a message, which cannot notify. */
#define NO_NOTIFY	(ANGARA_WQE_FLAGS & ~ANGARA_WQE_NOTIFY)
/* The largest receive buffer. */
#define KF_MAX_AREA	(4U << 20)

/* Fields have few values, so that different calls use the same objects. */
#define SOME_TREES	4
#define SOME_ROUTERS	14
#define ROUTER(_struct) \
	IN(_struct, router, "router", KF_BELOW, SOME_ROUTERS)

#define ROW(_member, _kind, ...) \
	IN(angara_tree_set, row._member, #_member, _kind, __VA_ARGS__)

#define PKT(_member, _kind, ...) \
	IN(angara_manage, pkt._member, #_member, _kind, __VA_ARGS__)

const struct kf_op kf_ops[] = {
	OP("open", 12, kf_open, FILE_SLOT, BELOW("dev", 8), BELOW("mode", 4)),
	OP("close", 6, kf_close, FILE_SLOT, BELOW("keep", 2)),
	OP("end", 4, kf_end, FILE_SLOT, BELOW("ctx", 2)),
	OP("dup", 1, kf_dup, FILE_SLOT, BELOW("to", KF_FILES)),
	IOCTL("query", 2, ANGARA_IOCTL_QUERY, angara_query, 0),
	IOCTL("domain_create", 12, ANGARA_IOCTL_DOMAIN_CREATE,
	      angara_domain_create, ANGARA_DOMAIN_PKEY,
	      IN(angara_domain_create, pkey, "pkey", KF_PKEY, 0),
	      IN(angara_domain_create, job, "job", KF_BELOW, 3),
	      IN(angara_domain_create, reserved, "reserved", KF_ZERO, 0)),
	/* The context's file gets a slot that is @to slots away. */
	IOCTL("ctx_create", 14, ANGARA_IOCTL_CTX_CREATE, angara_ctx_create, 0,
	      BELOW("to", KF_FILES),
	      IN(angara_ctx_create, sq_entries, "sq", KF_POW2, 0, 65536),
	      IN(angara_ctx_create, cq_entries, "cq", KF_POW2, 0, 131072),
	      IN(angara_ctx_create, msg_bytes, "msg", KF_AREA,
		 ANGARA_MIN_MSG_BYTES, 2 * KF_MAX_AREA),
	      IN(angara_ctx_create, reserved, "reserved", KF_ZERO, 0)),
	/* The address is that of @region plus @off bytes. */
	IOCTL("mr_reg", 14, ANGARA_IOCTL_MR_REG, angara_mr_register,
	      ANGARA_MR_KEY | ANGARA_MR_WATCH,
	      BELOW("region", KF_REGIONS), LENGTH("off", KF_MEM),
	      IN(angara_mr_register, length, "len", KF_LENGTH, KF_MEM),
	      IN(angara_mr_register, access, "access", KF_BITS, ANGARA_ACCESS_ALL),
	      IN(angara_mr_register, key, "key", KF_BELOW, 4, 65536),
	      IN(angara_mr_register, reserved, "reserved", KF_ZERO, 0)),
	IOCTL("mr_dereg", 6, ANGARA_IOCTL_MR_DEREG, angara_mr_deregister, 0,
	      IN(angara_mr_deregister, key, "key", KF_BELOW, 4, 65536)),
	IOCTL("tree_set", 14, ANGARA_IOCTL_TREE_SET, angara_tree_set,
	      ANGARA_TREE_OWNED | ANGARA_TREE_JOB | ANGARA_TREE_ROUTER,
	      ROW(tree, KF_BELOW, SOME_TREES, ANGARA_MAX_TREES),
	      ROW(is_root, KF_BELOW, 2), ROW(to_root, KF_BELOW, 7),
	      ROW(port_sum, KF_BELOW, 4), ROW(ports, KF_BITS, 0x3F, 0x40),
	      ROW(pe, KF_BELOW, 4, ANGARA_MAX_LOCAL + 1), ROW(pkey, KF_PKEY, 0),
	      ROW(epoch, KF_BELOW, 2), ROW(reserved, KF_ZERO, 0),
	      ROUTER(angara_tree_set),
	      IN(angara_tree_set, reserved, "zero", KF_ZERO, 0)),
	IOCTL("tree_get", 2, ANGARA_IOCTL_TREE_GET, angara_tree_get,
	      ANGARA_TREE_ROUTER,
	      IN(angara_tree_get, row.tree, "tree", KF_BELOW,
		 SOME_TREES, ANGARA_MAX_TREES),
	      ROUTER(angara_tree_get),
	      IN(angara_tree_get, reserved, "zero", KF_ZERO, 0)),
	IOCTL("tree_clear", 5, ANGARA_IOCTL_TREE_CLEAR, angara_tree_clear,
	      ANGARA_TREE_CLEAR_OWNED | ANGARA_TREE_ROUTER,
	      IN(angara_tree_clear, tree, "tree", KF_BELOW, SOME_TREES,
		 ANGARA_MAX_TREES),
	      ROUTER(angara_tree_clear)),
	IOCTL("tree_delegate", 3, ANGARA_IOCTL_TREE_DELEGATE,
	      angara_tree_delegate, 0,
	      IN(angara_tree_delegate, tree, "tree", KF_BELOW,
		 SOME_TREES, ANGARA_MAX_TREES),
	      IN(angara_tree_delegate, pkey, "pkey", KF_PKEY, 0)),
	IOCTL("tree_check", 3, ANGARA_IOCTL_TREE_CHECK, angara_tree_verify, 0,
	      IN(angara_tree_verify, tree, "tree", KF_BELOW,
		 SOME_TREES, ANGARA_MAX_TREES)),
	/*
	 * Packets set no key: a router with a key would refuse all later
	 * requests.
	 */
	IOCTL("manage", 6, ANGARA_IOCTL_MANAGE, angara_manage, 0,
	      IN(angara_manage, timeout_ms, "ms", KF_BELOW, 3, 2000),
	      IN(angara_manage, reserved, "zero", KF_ZERO, 0),
	      PKT(method, KF_BELOW, 3), PKT(attr, KF_BELOW, 5, 255),
	      PKT(hops, KF_BELOW, 5, 255), PKT(at, KF_ZERO, 0),
	      PKT(modifier, KF_BELOW, SOME_TREES, ANGARA_MAX_TREES),
	      PKT(writes, KF_BELOW, 4), PKT(path[0], KF_BELOW, 6, 255),
	      PKT(path[1], KF_BELOW, 6, 255), PKT(path[2], KF_BELOW, 6, 255),
	      PKT(data[20], KF_BELOW, 2), PKT(data[21], KF_BELOW, 7)),
	IOCTL("join", 12, ANGARA_IOCTL_JOIN, angara_join, ANGARA_JOIN_PLACE,
	      IN(angara_join, tree, "tree", KF_BELOW, SOME_TREES,
		 ANGARA_MAX_TREES),
	      IN(angara_join, place, "place", KF_BELOW, 2, ANGARA_MAX_LOCAL)),
	IOCTL("leave", 4, ANGARA_IOCTL_LEAVE, angara_join, 0,
	      IN(angara_join, tree, "tree", KF_BELOW, SOME_TREES,
		 ANGARA_MAX_TREES),
	      IN(angara_join, place, "place", KF_ZERO, 0)),
	IOCTL("kick", 14, ANGARA_IOCTL_KICK, angara_kick,
	      ANGARA_KICK_SQ | ANGARA_KICK_ARM),
	IOCTL("eventfd", 5, ANGARA_IOCTL_EVENTFD, angara_eventfd, 0,
	      IN(angara_eventfd, fd, "fd", KF_BELOW, 5),
	      IN(angara_eventfd, reserved, "reserved", KF_ZERO, 0)),
	OP("ioctl", 1, kf_ioctl_any, FILE_SLOT, ANY("cmd"), BELOW("nr", 20),
	   ANY("size"), BELOW("ptr", 8), BELOW("ctx", 2)),
	/*
	 * An entry goes where the next one belongs.  @skip: further entries to
	 * claim.
	 */
	OP("wqe", 30, kf_wqe, FILE_SLOT, ZERO("skip"),
	   BELOW("op", ANGARA_OP_NUM), BITS("flags", ANGARA_WQE_FLAGS),
	   EDGE("tree", SOME_TREES, ANGARA_MAX_TREES), BELOW("redop", ANGARA_RED_NUM),
	   BELOW("type", ANGARA_TYPE_NUM),
	   EDGE("ctx", 3, 16), BELOW("node", 8), LENGTH("len", 3 * KF_PAGE),
	   EDGE("lkey", 3, 1024), EDGE("rkey", 3, 1024),
	   LENGTH("loff", KF_PAGE), LENGTH("roff", KF_PAGE),
	   EDGE("aux_key", 3, 1024), LENGTH("aux", KF_PAGE)),
	OP("send", 12, kf_send, FILE_SLOT, BITS("flags", NO_NOTIFY),
	   EDGE("ctx", 3, 16), BELOW("node", 8),
	   LENGTH("len", ANGARA_MAX_MSG + 1), EDGE("lkey", 3, 1024),
	   LENGTH("loff", KF_PAGE), ANY("tag"), BELOW("code", 2)),
	OP("atomic", 12, kf_atomic, FILE_SLOT, BELOW("fetch", 2),
	   BITS("flags", ANGARA_WQE_FLAGS), BELOW("aop", ANGARA_ATOMIC_NUM),
	   EDGE("type", ANGARA_TYPE_DOUBLE + 1, ANGARA_TYPE_NUM),
	   EDGE("ctx", 3, 16), BELOW("node", 8),
	   LENGTH("len", 2 * ANGARA_MAX_ATOMIC), EDGE("lkey", 3, 1024),
	   EDGE("rkey", 3, 1024), LENGTH("loff", KF_PAGE),
	   LENGTH("roff", KF_PAGE), BELOW("counter", ANGARA_CTR_USER_NUM),
	   EDGE("aux_key", 3, 1024), LENGTH("aux", KF_PAGE)),
	/* Frees messages that have arrived in a receive buffer. */
	OP("take", 6, kf_take, FILE_SLOT, BELOW("more", 8)),
	OP("ctl", 5, kf_ctl, FILE_SLOT, BELOW("word", 4), BELOW("add", 2),
	   ANY("value")),
	OP("poll", 5, kf_poll, FILE_SLOT, BELOW("ms", 3)),
	OP("eventfd_new", 1, kf_eventfd, BELOW("e", KF_EVENTFDS),
	   BELOW("close", 2)),
	OP("file", 1, kf_file_call, FILE_SLOT, BELOW("what", 16)),
	OP("mmap", 5, kf_map, BELOW("m", KF_MAPS), FILE_SLOT,
	   BELOW("kind", KF_KINDS), ZERO("more"), ZERO("off"),
	   BELOW("prot", 8), BELOW("flags", 8)),
	OP("munmap", 2, kf_unmap, BELOW("region", KF_REGIONS), ZERO("off"),
	   ZERO("pages")),
	OP("mprotect", 1, kf_protect, BELOW("region", KF_REGIONS),
	   BELOW("prot", 8)),
	OP("mremap", 1, kf_remap, BELOW("m", KF_MAPS), BELOW("pages", 8),
	   BELOW("flags", 4)),
	OP("madvise", 2, kf_advise, BELOW("region", KF_REGIONS),
	   BELOW("advice", 24)),
	OP("touch", 2, kf_touch, BELOW("region", KF_REGIONS),
	   LENGTH("off", KF_MEM), ANY("value"), BELOW("write", 2)),
	/*
	 * Adds an attribute to the next message.  @len 0: the size that
	 * requests for @object use for this type.
	 */
	OP("attr", 16, kf_attr, BELOW("type", ANGARA_A_TREE_MAX + 2),
	   ANY("value"), ZERO("len"), BELOW("object", KF_NL_OBJECTS)),
	{
		.name = "nl", .weight = 8, .run = kf_nl,
		.leaves = KF_LEAVES_TREES,
		.field = {
			BELOW("cmd", ANGARA_CMD_MAX + 1),
			BITS("flags", 0xF07), ZERO("version"),
			BELOW("take", 4), ZERO("cut"),
		},
	},
	OP("nl_join", 1, kf_nl_join, BELOW("group", 2)),
	{
		.name = "fabric_new", .weight = 1, .run = kf_fabric_new,
		.leaves = KF_LEAVES_FABRICS,
		.field = { BELOW("dims", 12) },
	},
	{
		.name = "fabric_del", .weight = 1, .run = kf_fabric_del,
		.leaves = KF_LEAVES_FABRICS,
		.field = { BELOW("num", 16) },
	},
	{
		.name = "contexts", .weight = 1, .run = kf_contexts,
		.leaves = KF_LEAVES_FABRICS,
		.field = { ANY("value") },
	},
	OP("debugfs", 2, kf_debugfs, BELOW("dev", 8), BELOW("file", 4),
	   LENGTH("len", KF_PAGE)),
	OP("trace", 1, kf_trace, BELOW("on", 2)),
	OP("as", 3, kf_as, BELOW("who", 5)),
	OP("wait", 1, kf_wait, BELOW("us", 1000)),
	/* Makes allocation or copy @nth of the next call fail. */
	OP("fail", 5, kf_fail, BELOW("nth", 24)),
	/* Runs the next calls in a child, which is killed if @kill is set. */
	OP("child", 3, kf_child, BELOW("calls", 6), BELOW("kill", 2),
	   BELOW("us", 2000)),
};

const unsigned int kf_num_ops = sizeof(kf_ops) / sizeof(kf_ops[0]);

unsigned int kf_fields(const struct kf_op *op)
{
	unsigned int n = 0;

	while (n < KF_FIELDS && op->field[n].name)
		n++;
	return n;
}
