// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer sends anything to the libfabric provider: messages of its protocol,
 * mostly about operations that are in flight at the provider.  The peer's
 * directory of keys, which the provider reads, and the memory of an address
 * vector that both share may hold anything, too.
 *
 * The input is a list of actions, of the peer and of the program that the
 * provider serves.  Each operation of the program completes at most once, a
 * buffer for several messages is not used after it is released, and at the end
 * all objects can be closed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "coll.h"
#include "input.h"

#include "../common/alone.h"

#define MEM	16384	/* bytes of the program's memory */
#define PIECE	4096	/* bytes of a receive buffer */
#define OPS	256	/* maximum of operations per input */
#define KEY	9	/* key of the peer's memory */
#define FAR_KEY	70000	/* second key of that memory, which only the directory has */
#define SHARED	16	/* entries of the shared address vector */

#define EXPECT(what) ((what) ? (void)0 : finding(#what, __LINE__))

/* State of an operation of the program. */
enum state {
	UNUSED,
	POSTED,
	POSTED_MULTI,
	ENDED,
};

/**
 * struct world - the objects of a program, and its hostile peer
 * @prov: provider
 * @info: attributes from fi_getinfo()
 * @fabric: the program's fabric
 * @domain: the program's domain
 * @av: address vector of the endpoints
 * @cq: completion queue of the endpoints
 * @eq: event queue of the endpoints
 * @ep: endpoints, of which one may be closed and opened again
 * @name: names of the endpoints
 * @set: members of the collective group: endpoint 0 and the peer
 * @mc: collective group, or NULL
 * @peer: address of the peer in @av
 * @told: address in @av of the same peer, as an endpoint that requests an event for each write
 * @mr: region of @mem; @cntr counts remote writes to it
 * @cntr: counter of remote writes to @mr
 * @seen: last value of @cntr
 * @share: address vector in shared memory, which other processes may change
 * @table: mapping of the memory of @share
 * @table_len: bytes of @table
 * @mem: memory of the program
 * @ops: state of each operation; the operation's context points to it
 * @nops: number of operations so far
 * @evil: context of the peer
 * @dir: key directory of the peer; the peer's memory follows it
 * @self: name of the peer
 * @wire: header of the message that the peer received last
 * @talk: header of the group's message that the peer received last
 */
struct world {
	struct fi_provider *prov;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_eq *eq;
	struct fid_ep *ep[2];
	struct afi_name name[2];
	struct fid_av_set *set;
	struct fid_mc *mc;
	fi_addr_t peer;
	fi_addr_t told;
	struct fid_mr *mr;
	struct fid_cntr *cntr;
	u64 seen;
	struct fid_av *share;
	char *table;
	size_t table_len;
	char mem[MEM];
	u8 ops[OPS];
	u32 nops;
	struct angara_ctx *evil;
	struct afi_dir_entry *dir;
	struct afi_name self;
	struct afi_wire wire;
	struct afi_talk talk;
};

static struct world w;

static void __attribute__((noreturn)) finding(const char *what, int line)
{
	fprintf(stderr, "finding: fuzz_provider.c:%d: %s\n", line, what);
	abort();
}

static void open_ep(u32 i)
{
	size_t len = sizeof(w.name[i]);

	EXPECT(!fi_endpoint(w.domain, w.info, &w.ep[i], NULL));
	EXPECT(!fi_ep_bind(w.ep[i], &w.av->fid, 0));
	EXPECT(!fi_ep_bind(w.ep[i], &w.cq->fid, FI_TRANSMIT | FI_RECV));
	EXPECT(!fi_ep_bind(w.ep[i], &w.eq->fid, 0));
	EXPECT(!fi_enable(w.ep[i]));
	EXPECT(!fi_getname(&w.ep[i]->fid, &w.name[i], &len));
}

#define DIR_BYTES	((AFI_DIR_ID + 1) * sizeof(struct afi_dir_entry))

/* Opens the peer's memory: the adapter knows its KEY, its directory has FAR_KEY. */
static void open_memory(void)
{
	struct angara_domain *dom = angara_ctx_domain(w.evil);
	struct angara_mr *mr;

	w.dir = calloc(1, DIR_BYTES + PIECE);
	EXPECT(w.dir);
	w.dir[AFI_DIR_ID].key = 77;
	EXPECT(!angara_mr_reg_key(dom, w.dir, DIR_BYTES,
				  ANGARA_ACCESS_REMOTE_READ, AFI_DIR_KEY, &mr));
	EXPECT(!angara_mr_reg_key(dom, (char *)w.dir + DIR_BYTES, PIECE,
				  ANGARA_ACCESS_REMOTE_READ |
				  ANGARA_ACCESS_REMOTE_WRITE, KEY + 1, &mr));
}

static void open_peer(void)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr), .msg_bytes = 65536 };
	struct angara_peer self;

	EXPECT(!alone_open("1", &attr, &w.evil));
	open_memory();
	self = alone_self(w.evil);
	w.self = (struct afi_name){
		.fabric_id = alone_about(w.evil).fabric_id,
		.node = self.node,
		.ctx = self.ctx,
		.serial = 77,
	};
}

/* Opens a region of the program, with a counter of the peers' writes. */
static void open_region(void)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_NONE };

	EXPECT(!fi_cntr_open(w.domain, &attr, &w.cntr, NULL));
	EXPECT(!fi_mr_reg(w.domain, w.mem, MEM, FI_REMOTE_READ | FI_REMOTE_WRITE,
			  0, KEY, 0, &w.mr, NULL));
	EXPECT(!fi_mr_bind(w.mr, &w.cntr->fid, FI_REMOTE_WRITE));
}

/* Opens an address vector that any other process of the user may change. */
static void open_share(void)
{
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .count = SHARED };
	char name[32], path[64];
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "fuzz-%d", getpid());
	snprintf(path, sizeof(path), "/angara-av-%u-%s", geteuid(), name);
	attr.name = name;
	EXPECT(!fi_av_open(w.domain, &attr, &w.share, NULL));
	fd = shm_open(path, O_RDWR, 0);
	EXPECT(fd >= 0 && !fstat(fd, &st));
	w.table_len = (size_t)st.st_size;
	w.table = mmap(NULL, w.table_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);
	EXPECT(w.table != MAP_FAILED);
	close(fd);
}

static void begin(void)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq = { 0 };
	struct afi_name told;
	struct fi_info *hints = fi_allocinfo();

	memset(&w, 0, sizeof(w));
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RMA_EVENT |
		      FI_COLLECTIVE | FI_MULTI_RECV | FI_DIRECTED_RECV;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->name = strdup("angara0");
	hints->fabric_attr->prov_name = strdup("angara");
	w.prov = fi_prov_ini();
	EXPECT(!w.prov->getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &w.info));
	fi_freeinfo(hints);
	EXPECT(!w.prov->fabric(w.info->fabric_attr, &w.fabric, NULL));
	EXPECT(!fi_domain(w.fabric, w.info, &w.domain, NULL));
	EXPECT(!fi_av_open(w.domain, &av, &w.av, NULL));
	EXPECT(!fi_cq_open(w.domain, &cq, &w.cq, NULL));
	EXPECT(!fi_eq_open(w.fabric, &eq, &w.eq, NULL));
	open_ep(0);
	open_ep(1);
	open_peer();
	EXPECT(fi_av_insert(w.av, &w.self, 1, &w.peer, 0, NULL) == 1);
	told = w.self;
	told.serial |= AFI_SERIAL_EVENTS;
	EXPECT(fi_av_insert(w.av, &told, 1, &w.told, 0, NULL) == 1);
	open_region();
	open_share();
}

/*
 * Return: the context of a new operation; NULL if the input has made enough of
 * them.
 */
static u8 *new_op(enum state state)
{
	if (w.nops == OPS)
		return NULL;
	w.ops[w.nops] = (u8)state;
	return &w.ops[w.nops++];
}

static void completed(const struct fi_cq_tagged_entry *e, bool failed)
{
	u8 *op = e->op_context;

	/* Without a context, the event is a peer's notice of a write. */
	if (!op) {
		EXPECT(e->flags & FI_REMOTE_WRITE);
		return;
	}
	EXPECT(op >= w.ops && op < w.ops + w.nops);
	EXPECT(*op == POSTED || *op == POSTED_MULTI);
	EXPECT(failed || !(e->flags & FI_RECV) || e->len <= PIECE);
	if (*op == POSTED || failed || (e->flags & FI_MULTI_RECV))
		*op = ENDED;
}

static void reap(void)
{
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret;

	while ((ret = fi_cq_read(w.cq, &e, 1)) != -FI_EAGAIN) {
		if (ret == 1) {
			completed(&e, false);
			continue;
		}
		EXPECT(ret == -FI_EAVAIL && fi_cq_readerr(w.cq, &err, 0) == 1);
		e.op_context = err.op_context;
		e.flags = err.flags;
		e.len = err.len;
		/* A truncated message does not end a buffer for several messages. */
		completed(&e, err.err != FI_ETRUNC);
	}
}

static void reap_events(void)
{
	struct fi_eq_err_entry err;
	struct fi_eq_entry entry;
	uint32_t event;

	while (fi_eq_read(w.eq, &event, &entry, sizeof(entry), 0) == -FI_EAVAIL)
		EXPECT(fi_eq_readerr(w.eq, &err, 0) == sizeof(err));
}

/* Return: mostly @right, sometimes any number. */
static u64 about(struct input *in, u64 right)
{
	u32 how = in_u8(in);

	return how < 208 ? right : how < 240 ? in_size(in) : in_u64(in);
}

static size_t put_parts(struct input *in, char *to)
{
	u32 n = in_below(in, 6), i;

	for (i = 0; i < n; i++) {
		const struct afi_part part = {
			.akey = about(in, KEY),
			.off = in_size(in),
			.len = (u32)about(in, PIECE / 2),
		};

		memcpy(to + i * sizeof(part), &part, sizeof(part));
	}
	return n * sizeof(struct afi_part);
}

/* Return: hash of the members' names, as in requests to join. */
static u64 list_of(bool first)
{
	const u64 start = 0xCBF29CE484222325ULL;
	u64 hash = afi_digest(start, first ? &w.self : &w.name[0], sizeof(w.self));

	return afi_digest(hash, first ? &w.name[0] : &w.self, sizeof(w.self));
}

static size_t put_talk(struct input *in, char *to)
{
	u32 kind = in_below(in, 13), rest = in_below(in, 40);
	struct afi_talk talk = {
		.kind = kind,
		.group = about(in, kind == AFI_TALK_JOIN ? list_of(in_u8(in) & 1) :
				   w.talk.group && kind != AFI_TALK_WELCOME ?
					   w.talk.group : 5),
		.ticket = about(in, w.talk.ticket),
		.from = (u32)about(in, w.talk.to),
		.to = (u32)about(in, w.talk.from),
		.seq = (u32)about(in, kind == AFI_TALK_JOIN ? 2 : 1),
		.step = in_size(in),
		.off = about(in, 0),
		.len = about(in, rest),
	};

	memcpy(to, &talk, sizeof(talk));
	in_bytes(in, to + sizeof(talk), rest);
	return sizeof(talk) + rest;
}

static size_t put_body(struct input *in, u32 type, char *to)
{
	u32 n;

	switch (type) {
	case AFI_MSG_LONG:
	case AFI_MSG_PARTS:
		return put_parts(in, to);
	case AFI_MSG_TALK:
		return put_talk(in, to);
	default:
		n = in_below(in, 48);
		in_bytes(in, to, n);
		return n;
	}
}

static void say(struct input *in)
{
	static const u8 types[] = {
		AFI_MSG_SHORT, AFI_MSG_LONG, AFI_MSG_FETCHED, AFI_MSG_TOUCHED,
		AFI_MSG_ASK, AFI_MSG_PARTS, AFI_MSG_TALK, AFI_MSG_TALK, 0, 7,
	};
	const struct angara_peer peer = {
		.node = w.name[0].node,
		.ctx = w.name[0].ctx,
	};
	u32 type = types[in_below(in, sizeof(types))];
	u32 to = in_u8(in) & 1;
	char msg[ANGARA_MAX_INLINE];
	struct afi_wire wire;
	size_t len = put_body(in, type, msg + sizeof(wire));
	struct angara_head head = {
		.size = sizeof(head),
		.tag = type == AFI_MSG_ASK ? about(in, 1ULL << 32 | 1) : in_u8(in) & 3,
		.imm = in_u8(in),
		.code = afi_code(type, (u32)about(in, w.name[to].ep)),
	};

	wire = (struct afi_wire){
		.to = (u32)about(in, w.name[to].serial),
		.from = (u32)about(in, w.self.serial),
		.flags = in_below(in, 64),
		.err = (u16)in_size(in),
		.ep = (u16)about(in, in_u8(in) & 3),
		.op = (u32)about(in, w.wire.op),
		.gen = (u32)about(in, w.wire.gen),
		.len = about(in, type == AFI_MSG_LONG ? 5000 : len),
	};
	memcpy(msg, &wire, sizeof(wire));
	len += sizeof(wire);
	if (in_u8(in) == 255)
		len = in_below(in, 32);
	/* A message for which there is no room is not sent. */
	angara_send_inline_nbi(w.evil, peer, &head, msg, len, NULL);
}

/* The peer receives messages about operations and groups. */
static void hear(void)
{
	struct angara_message m = { .size = sizeof(m) };
	u32 n;

	for (n = 0; n < 16 && !angara_msg_next(w.evil, &m); n++) {
		size_t len = m.len;

		if (len >= sizeof(w.wire))
			memcpy(&w.wire, m.data, sizeof(w.wire));
		if (afi_code_type(m.head.code) == AFI_MSG_TALK &&
		    len >= sizeof(w.wire) + sizeof(w.talk))
			memcpy(&w.talk, (const char *)m.data + sizeof(w.wire),
			       sizeof(w.talk));
		angara_msg_free(w.evil, &m);
	}
}

static void receive(struct input *in)
{
	u32 how = in_u8(in);
	bool multi = how & 1;
	u8 *op = new_op(multi ? POSTED_MULTI : POSTED);
	char *buf = w.mem + PIECE * (how >> 6);
	struct iovec iov = { .iov_base = buf, .iov_len = PIECE };
	const struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .context = op,
		.addr = how & 2 ? w.peer : FI_ADDR_UNSPEC,
	};
	struct fid_ep *ep = w.ep[how >> 2 & 1];

	if (!op)
		return;
	if (multi || how & 8)
		EXPECT(!fi_recvmsg(ep, &msg, multi ? FI_MULTI_RECV : 0));
	else
		EXPECT(!fi_trecv(ep, buf, PIECE, NULL, msg.addr, how >> 4 & 3, 1,
				 op));
}

static void send(struct input *in)
{
	u32 how = in_u8(in);
	struct iovec iov = { .iov_base = w.mem, .iov_len = how & 1 ? MEM : 8 };
	struct fi_msg msg = {
		.msg_iov = &iov, .iov_count = 1, .addr = w.peer,
		.context = new_op(POSTED),
	};
	u8 *op = msg.context;
	ssize_t ret;

	if (!op)
		return;
	ret = fi_sendmsg(w.ep[how >> 1 & 1], &msg,
			 how & 4 ? FI_DELIVERY_COMPLETE : 0);
	EXPECT(!ret || ret == -FI_EAGAIN);
	if (ret)
		*op = UNUSED;
}

static void cancel(struct input *in)
{
	u32 i = in_u8(in);

	if (i < w.nops)
		fi_cancel(&w.ep[i & 1]->fid, &w.ops[i]);
}

static void reopen(void)
{
	EXPECT(!fi_close(&w.ep[1]->fid));
	open_ep(1);
}

static void leave(void)
{
	if (!w.mc)
		return;
	EXPECT(!fi_close(&w.mc->fid));
	EXPECT(!fi_close(&w.set->fid));
	w.mc = NULL;
}

/* Makes a group with both sides as members; either one may be first. */
static void join(struct input *in)
{
	struct fi_av_set_attr attr = {
		.count = 2,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	bool first = in_u8(in) & 1;
	fi_addr_t own;

	leave();
	EXPECT(fi_av_insert(w.av, &w.name[0], 1, &own, 0, NULL) == 1);
	EXPECT(!fi_av_set(w.av, &attr, &w.set, NULL));
	EXPECT(!fi_av_set_insert(w.set, first ? w.peer : own));
	EXPECT(!fi_av_set_insert(w.set, first ? own : w.peer));
	EXPECT(!fi_join_collective(w.ep[0], FI_ADDR_NOTAVAIL, w.set, 0, &w.mc,
				   NULL));
	w.talk = (struct afi_talk){ .ticket = 1, .from = !first, .to = first };
}

static void barrier(void)
{
	u8 *op = w.mc ? new_op(POSTED) : NULL;

	if (op && fi_barrier(w.ep[0], fi_mc_addr(w.mc), op))
		*op = UNUSED;
}

/* Posts a read, write or atomic operation on the peer's memory. */
static void touch(struct input *in)
{
	u32 how = in_u8(in);
	u64 key = how & 1 ? FAR_KEY : KEY, at = about(in, 8 * (how >> 5));
	fi_addr_t to = how & 2 ? w.told : w.peer;
	struct fid_ep *ep = w.ep[how >> 4 & 1];
	u8 *op = new_op(POSTED);
	ssize_t ret;

	if (!op)
		return;
	switch (how >> 2 & 3) {
	case 0:
		ret = fi_write(ep, w.mem, 8, NULL, to, at, key, op);
		break;
	case 1:
		ret = fi_read(ep, w.mem, PIECE / 2, NULL, to, at, key, op);
		break;
	case 2:
		ret = fi_atomic(ep, w.mem, 1, NULL, to, at, key, FI_UINT64,
				FI_SUM, op);
		break;
	default:
		ret = fi_fetch_atomic(ep, w.mem, 1, NULL, w.mem + PIECE, NULL,
				      to, at, key, FI_UINT64, FI_SUM, op);
	}
	EXPECT(!ret || ret == -FI_EAGAIN);
	if (ret)
		*op = UNUSED;
}

/* Changes what the peer's directory says about FAR_KEY, or about its domain's life. */
static void list(struct input *in)
{
	u32 place = (u32)(FAR_KEY * 0x9E3779B97F4A7C15ULL >> 32) %
		    AFI_DIR_ENTRIES + in_below(in, AFI_DIR_WINDOW);
	u32 how = in_u8(in);

	if (how & 1)
		w.dir[AFI_DIR_ID].key = about(in, 77);
	w.dir[place] = (struct afi_dir_entry){
		.key = about(in, FAR_KEY),
		.akey = about(in, KEY + 2),
	};
}

/* Another process changes the shared table, with valid data or not. */
static void change(struct input *in)
{
	u32 at = in_below(in, (u32)w.table_len - 8), n = in_below(in, 9);

	in_bytes(in, w.table + at, n);
}

/*
 * The program inserts, removes or looks up an address in its shared address
 * vector, which another process may have filled with anything.
 */
static void share(struct input *in)
{
	u32 how = in_u8(in);
	fi_addr_t at = in_below(in, 2 * SHARED);
	struct afi_name name;
	size_t len = sizeof(name);

	switch (how & 3) {
	case 0:
		fi_av_insert(w.share, &w.self, 1, &at, 0, NULL);
		break;
	case 1:
		fi_av_remove(w.share, &at, 1, 0);
		break;
	default:
		if (fi_av_lookup(w.share, at, &name, &len))
			break;
		EXPECT(len == sizeof(name) && name.ep < AFI_EPS &&
		       name.fabric_id == w.self.fabric_id);
	}
}

/* No message of a peer may decrease a count. */
static void look(void)
{
	u64 now = fi_cntr_read(w.cntr);

	EXPECT(now >= w.seen && !fi_cntr_readerr(w.cntr));
	w.seen = now;
}

static void act(struct input *in)
{
	switch (in_u8(in) % 20) {
	case 0:
	case 1:
		receive(in);
		break;
	case 2:
		send(in);
		break;
	case 3:
		hear();
		break;
	case 4:
		cancel(in);
		break;
	case 5:
		reopen();
		break;
	case 6:
		join(in);
		break;
	case 7:
		barrier();
		break;
	case 8:
		leave();
		break;
	case 9:
		touch(in);
		break;
	case 10:
		list(in);
		break;
	case 11:
		change(in);
		break;
	case 12:
		share(in);
		break;
	default:
		say(in);
	}
	reap();
	look();
	reap_events();
}

static void end(void)
{
	angara_ctx_close(w.evil);
	reap();
	leave();
	EXPECT(!fi_close(&w.ep[0]->fid));
	EXPECT(!fi_close(&w.ep[1]->fid));
	EXPECT(!fi_close(&w.mr->fid));
	EXPECT(!fi_close(&w.cntr->fid));
	munmap(w.table, w.table_len);
	EXPECT(!fi_close(&w.share->fid));
	free(w.dir);
	EXPECT(!fi_close(&w.cq->fid));
	EXPECT(!fi_close(&w.eq->fid));
	EXPECT(!fi_close(&w.av->fid));
	EXPECT(!fi_close(&w.domain->fid));
	EXPECT(!fi_close(&w.fabric->fid));
	fi_freeinfo(w.info);
}

/* A context that keeps the fabric between inputs, since creating a fabric is slow. */
static struct angara_ctx *keeper;

static void keep_fabric(void)
{
	struct angara_ctx_attr attr = { .size = sizeof(attr) };

	if (keeper)
		return;
	setenv("ANGARA_FABRIC", "embedded:2", 1);
	setenv("FI_ANGARA_COLL", "software", 1);
	EXPECT(!alone_open("1", &attr, &keeper));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	keep_fabric();
	begin();
	while (in.left)
		act(&in);
	end();
	return 0;
}
