/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between endpoints, and their state.
 *
 * The adapter's header of a message contains: in its code the kind of message
 * and the receiving endpoint; in its fields tag and imm, the tag and data of
 * the program.  The payload begins with a struct afi_wire.  Short data follows
 * directly.  Longer data stays in the sender's memory: the message contains the
 * keys of its regions, the receiver reads the data when it has a buffer, then
 * notifies the sender.
 *
 * Data from a peer is not trusted.
 */
#ifndef AFI_MSG_H
#define AFI_MSG_H

#include "op.h"

#define AFI_MSG_SHORT	1	/* kind: data follows */
#define AFI_MSG_LONG	2	/* data is fetched; regions follow */
#define AFI_MSG_FETCHED	3	/* the data was fetched */
#define AFI_MSG_TOUCHED	4	/* memory was written or read; slots follow */
#define AFI_MSG_TALK	15	/* between members of a group, see coll.h */

#define AFI_MSG_ASK	5	/* request for data of a LONG; tag: receiver's operation */
#define AFI_MSG_PARTS	6	/* regions of a LONG, sent on request */

#define AFI_ERRNO_MAX	4096	/* error numbers of peers are below this */

#define AFI_WIRE_TAGGED	1U	/* flag: the message has a tag */
#define AFI_WIRE_DATA	2U	/* flag: it has data for the completion queue */
#define AFI_WIRE_READ	4U	/* flag of TOUCHED: memory was read */
#define AFI_WIRE_BOTH	8U	/* flag of TOUCHED: read and changed */
#define AFI_WIRE_ACK	16U	/* flag of SHORT: answer is requested */

/**
 * struct afi_part - a region that contains a part of long data
 * @akey: key of the adapter
 * @off: offset in it
 * @len: bytes
 */
struct afi_part {
	u64 akey;
	u32 off;
	u32 len;
};

#define AFI_SHORT_MAX	(ANGARA_MAX_MSG - sizeof(struct afi_wire))

/* Replaces an invalid error number of a peer by a valid one. */
static inline int afi_peer_error(u32 err)
{
	return err < AFI_ERRNO_MAX ? (int)err : FI_EIO;
}

/* Code of a message: its kind, and number of the receiving endpoint. */
static inline u16 afi_code(u32 type, u32 to)
{
	return (u16)(type | to << 4);
}

static inline u32 afi_code_type(u16 code)
{
	return code & 15;
}

static inline u32 afi_code_to(u16 code)
{
	return code >> 4;
}

static_assert(AFI_EPS <= 1 << 12, "a code has 12 bits for the endpoint");
static_assert(sizeof(struct afi_wire) == 32, "all processes must have the same layout");

/**
 * struct afi_flow - messages to one context
 * @node: link in the table of the domain
 * @ready: link among flows that may send
 * @peer: context
 * @queue: messages that wait
 * @flying: messages in flight
 * @own: messages of the provider, waiting or in flight
 * @sends: messages of the program, waiting or in flight
 * @asked: operations that have requested data from the peer
 * @owing: link among flows with @owed
 * @owed: messages that wait for a free struct afi_send
 * @nowed: number of @owed
 * @cut: there was no path to the peer: @owed waits for afi_send_again()
 * @wants: requests of the peer to join, see group.c
 * @nwants: number of @wants
 */
struct afi_flow {
	struct afi_node node;
	struct afi_link ready;
	struct angara_peer peer;
	struct afi_link queue;
	u32 flying;
	u32 own;
	u32 sends;
	u32 asked;
	struct afi_link owing;
	struct afi_link owed;
	u32 nowed;
	bool cut;
	struct afi_link wants;
	u32 nwants;
};

/**
 * struct afi_owed - a message that must arrive and waits for room
 * @link: link in the list of the flow
 * @code: afi_code()
 * @len: bytes
 * @data: payload
 */
struct afi_owed {
	struct afi_link link;
	u16 code;
	size_t len;
	char data[];
};

/**
 * struct afi_send - a message to send, with its buffer
 * @link: link in the list of free, waiting, or in-flight messages
 * @flow: receiver
 * @ours: the message belongs to the provider, not to the program
 * @inlined: payload is inline in the descriptor
 * @op: operation that waits for it, or NULL
 * @group: address of a group that waits for it, or 0
 * @rank: member of the group that receives it
 * @seq: operation of the group, or 0
 * @head: header of the adapter's message
 * @len: bytes
 * @err: 0, or why it could not be started
 * @await: continuation
 */
struct afi_send {
	struct afi_link link;
	struct afi_flow *flow;
	bool ours;
	bool inlined;
	struct afi_op *op;
	fi_addr_t group;
	u32 rank;
	u32 seq;
	struct angara_head head;
	size_t len;
	int err;
	struct afi_await await;
};

/**
 * struct afi_recv - a receive that the program has posted
 * @link: link in the list of the endpoint
 * @domain: its domain
 * @ep: endpoint, or shared receive context; NULL: it is closed
 * @context: the program's context
 * @iov: buffers
 * @desc: descriptors of @iov, or NULL
 * @count: number of buffers
 * @len: bytes of all buffers
 * @tag: tag to match
 * @ignore: bits of the tag to ignore
 * @any: it matches any sender
 * @src: sender to match, without @any
 * @also: counter of its completion, if it was deferred work
 * @silent: deferred work whose success is not reported at its endpoint
 * @tagged: it receives tagged messages
 * @seq: its number among the receives of @ep, in the order of posting
 * @report: write a completion on success.  In a shared receive context: the
 *	program has requested it by FI_COMPLETION; otherwise the endpoint's queue
 *	decides, see pull_reports()
 * @multi: multi-receive: takes several messages
 * @ended: it takes no more messages
 * @cancelled: the program has cancelled it while data was being fetched: its end
 *	is reported after the data
 * @ends_in: queue in which an entry for the end of a cancelled receive is
 *	reserved, or NULL
 * @held: a function that has not returned uses it: it must not be freed
 * @users: number of its messages that are being fetched
 */
struct afi_recv {
	struct afi_link link;
	struct afi_domain *domain;
	struct afi_ep *ep;
	void *context;
	struct iovec iov[AFI_IOV_LIMIT];
	void *desc[AFI_IOV_LIMIT];
	size_t count;
	size_t len;
	u64 tag;
	u64 ignore;
	bool any;
	struct afi_name src;
	struct afi_cntr *also;
	bool silent;
	bool tagged;
	u64 seq;
	bool report;
	bool multi;
	bool ended;
	bool cancelled;
	struct afi_cq *ends_in;
	bool held;
	u32 users;
};

/* The receive's endpoint is being closed: nothing reports the end of the receive. */
static inline void afi_recv_hush(struct afi_recv *r)
{
	if (r->ends_in)
		r->ends_in->promised--;
	r->ends_in = NULL;
	r->cancelled = false;
}

/**
 * struct afi_msg - a message that has arrived
 * @link: link among unexpected messages
 * @ep: receiver
 * @src: sender
 * @wire: header
 * @is_long: data must be fetched
 * @tag: tag
 * @data: data for the completion queue
 * @claim: context of the receive that has claimed it, or NULL
 * @nparts: number of @parts; 0: they must be requested from the sender
 * @parts: regions of the data
 * @body: short data; after the structure, if the message is kept
 */
struct afi_msg {
	struct afi_link link;
	struct afi_ep *ep;
	struct afi_name src;
	struct afi_wire wire;
	bool is_long;
	u64 tag;
	u64 data;
	void *claim;
	u32 nparts;
	struct afi_part parts[AFI_IOV_LIMIT];
	const void *body;
};

/* flow.c */
int afi_flow_init(struct afi_domain *d);
void afi_flow_free(struct afi_domain *d);
struct afi_flow *afi_flow_of(struct afi_domain *d, struct angara_peer peer);
struct afi_send *afi_send_new(struct afi_domain *d, bool ours,
			      struct angara_peer peer);
struct afi_wire *afi_send_wire(struct afi_domain *d, struct afi_send *s);
void afi_send_go(struct afi_domain *d, struct afi_send *s, struct afi_op *op);
void afi_send_drop(struct afi_domain *d, struct afi_send *s);
bool afi_send_progress(struct afi_domain *d);
void afi_send_again(struct afi_domain *d);

/* Has afi_send_progress() any work? */
static inline bool afi_send_waits(const struct afi_domain *d)
{
	return !afi_list_empty(&d->sends_failed) ||
	       !afi_list_empty(&d->flows_owing) ||
	       !afi_list_empty(&d->flows_ready);
}
void afi_send_forget(struct afi_domain *d, const struct afi_op *op);
bool afi_owe(struct afi_domain *d, struct angara_peer peer, u16 code,
	     const void *data, size_t len);
bool afi_reply(struct afi_domain *d, struct angara_peer peer, u16 code,
	       const struct afi_wire *wire);
bool afi_answer(struct afi_domain *d, const struct afi_name *to, u32 from_ep,
		const struct afi_wire *about, int err);

/* arrive.c */
int afi_arrive_progress(struct afi_domain *d);

/* recv.c */
void afi_recv_init(struct afi_ep *ep);
struct afi_recv *afi_recv_new(struct afi_ep *ep);
void afi_recv_free(struct afi_recv *r);
void afi_recv_unuse(struct afi_recv *r);
void afi_recv_count(const struct afi_ep *ep, const struct afi_recv *r, int err);
void afi_recv_end(const struct afi_recv *r, struct afi_cq *cq, int err);
int afi_recv_withdraw(struct afi_recv *r);
void afi_recv_return(struct afi_recv *r, void *buf, size_t len);

/* match.c */
void afi_recv_close(struct afi_ep *ep);
bool afi_recv_again(struct afi_domain *d);
int afi_recv_post(struct afi_recv *r);
bool afi_msg_deliver(struct afi_ep *ep, const struct afi_msg *msg);
int afi_recv_cancel(struct afi_ep *ep, void *context);
int afi_recv_peek(struct afi_recv *r, u64 flags);

/* pull.c */
int afi_take_msg(struct afi_ep *ep, struct afi_recv *r,
		 const struct afi_msg *msg);
void afi_pulled(struct afi_op *op);
bool afi_shown(struct afi_domain *d, const struct afi_msg *msg);
bool afi_unpark(struct afi_domain *d);
void afi_park_close(struct afi_ep *ep);

/* event.c */
void afi_op_touch(struct afi_op *op, u32 slot);
bool afi_tell(struct afi_op *op);
void afi_touched(struct afi_domain *d, const struct afi_msg *msg);
bool afi_told(struct afi_ep *ep, const struct afi_msg *msg);

/* Does the target request notification of operations on its memory? */
static inline bool afi_wants_events(const struct afi_name *name)
{
	return name->serial & AFI_SERIAL_EVENTS;
}

/* show.c */
struct afi_out;
void afi_gather(char *to, const struct afi_out *out);
int afi_show(struct afi_op *op, struct afi_part *parts,
	     const struct afi_out *out, size_t len);
bool afi_show_asked(struct afi_op *op);
bool afi_asked(struct afi_domain *d, const struct afi_msg *msg, u32 from_ep);

/* push.c */
/**
 * struct afi_out - a message that the program sends
 * @iov: data
 * @desc: descriptors of @iov, or NULL
 * @count: pieces
 * @to: receiver
 * @tag: tag
 * @data: data for the receiver's completion queue
 * @context: the program's context
 * @flags: FI_*
 * @tagged: it has a tag
 * @has_data: it has data for the completion queue
 * @quiet: no completion on success
 */
struct afi_out {
	const struct iovec *iov;
	void **desc;
	size_t count;
	fi_addr_t to;
	u64 tag;
	u64 data;
	void *context;
	u64 flags;
	bool tagged;
	bool has_data;
	bool quiet;
};

int afi_push_now(struct afi_ep *ep, const struct afi_out *out);
ssize_t afi_push(struct afi_ep *ep, const struct afi_out *out);

/* Vector of one element, for calls without a vector. */
static inline struct iovec afi_one(const void *buf, size_t len)
{
	return (struct iovec){
		.iov_base = (void *)(uintptr_t)buf,
		.iov_len = len,
	};
}

/* Converts a message without a tag; the tag is 0. */
static inline struct fi_msg_tagged afi_untagged(const struct fi_msg *msg)
{
	return (struct fi_msg_tagged){
		.msg_iov = msg->msg_iov,
		.desc = msg->desc,
		.iov_count = msg->iov_count,
		.addr = msg->addr,
		.context = msg->context,
		.data = msg->data,
	};
}

/* trigger.c */
struct fi_deferred_work;
ssize_t afi_trigger(struct afi_ep *ep, struct fi_deferred_work *work,
		    const void *context);
bool afi_work_progress(struct afi_domain *d);
void afi_work_close(struct afi_ep *ep);
int afi_domain_control(struct fid *fid, int command, void *arg);

/* msg.c, tagged.c */
extern struct fi_ops_msg afi_msg_ops;
extern struct fi_ops_tagged afi_tagged_ops;

/* receive.c */
int afi_receive_now(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged);
ssize_t afi_receive(struct afi_ep *ep, const struct fi_msg_tagged *msg,
		    u64 flags, bool tagged);

#endif /* AFI_MSG_H */
