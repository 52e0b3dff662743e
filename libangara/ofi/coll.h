/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collective operations: groups of endpoints and their operations.
 *
 *   avset.c    address sets, from which groups are created
 *   join.c     groups, as the program sees them
 *   exchange.c an exchange of all members, to create a tree
 *   group.c    joining: all members agree on a number for the group
 *   groups.c   the groups of a domain
 *   watchdog.c deadlines, and probes of members for which operations wait
 *   talk.c     messages between members, separate from the program's
 *   schedule.c operations as schedules of such messages
 *   combine.c  types and operations of reductions
 *   coll.c     operations in progress
 *   collcall.c libfabric's calls
 *   tree.c     trees of groups on the adapters
 *   offload.c  operations that the adapters execute
 *
 * The adapters' trees execute an operation if the group has a tree and the
 * adapters support the operation; else messages do.  All members make the same
 * choice, since it depends only on data that all of them have.
 *
 * The domain's lock protects groups and operations.  Data from a peer is not
 * trusted: it is accepted only from a member, as identified by the fabric, and
 * the memory that a member can make this process use is limited.
 */
#ifndef AFI_COLL_H
#define AFI_COLL_H

#include "algo/run.h"

#include "msg.h"

struct afi_group;

/**
 * struct afi_set - an ordered set of addresses
 * @fid: the program's handle
 * @av: vector of the addresses
 * @link: link in the list of the domain
 * @addr: address of the set in calls that join
 * @list: addresses
 * @n: number of addresses
 * @room: capacity of @list
 */
struct afi_set {
	struct fid_av_set fid;
	struct afi_av *av;
	struct afi_link link;
	fi_addr_t addr;
	fi_addr_t *list;
	u32 n;
	u32 room;
};

/* Method of executing operations, set by FI_ANGARA_COLL. */
enum afi_coll_way {
	AFI_COLL_AUTO,		/* by the adapters if possible */
	AFI_COLL_OFFLOAD,	/* by the adapters, else an error */
	AFI_COLL_SOFTWARE,
};

/**
 * struct afi_call - an operation of a group in progress
 * @link: link in the list of the group, oldest first
 * @group: group
 * @coll: FI_BARRIER .. FI_GATHER
 * @type: type of elements
 * @op: reduction operation
 * @size: bytes of an element
 * @count: elements; elements of a part if each member has a part
 * @len: bytes of @count elements
 * @root: rank
 * @in: contribution of this member, or NULL; equals @out in a broadcast
 * @out: result of this member, or NULL
 * @seq: number of the operation, the same at all members
 * @offloaded: the adapters execute the operation
 * @parent: operation of which this is a part, or NULL
 * @parts: number of its parts in progress
 * @begun: the operation was passed to the adapters
 * @run: steps of this member, if not @offloaded
 * @flying: messages of the operation in flight
 * @internal: the operation belongs to afi_group_exchange(), not to the program
 * @ended: an internal operation has ended
 * @cq: completion queue in which an entry is reserved, or NULL
 * @report: write a completion on success, too
 * @done: result
 * @end: deadline
 */
struct afi_call {
	struct afi_link link;
	struct afi_group *group;
	enum fi_collective_op coll;
	enum fi_datatype type;
	enum fi_op op;
	size_t size;
	size_t count;
	size_t len;
	u32 root;
	const void *in;
	void *out;
	u32 seq;
	bool offloaded;
	struct afi_call *parent;
	u32 parts;
	bool begun;
	struct ang_run run;
	u32 flying;
	bool internal;
	bool ended;
	struct afi_cq *cq;
	bool report;
	struct afi_done done;
	u64 end;
};

/**
 * struct afi_member - a member of a group
 * @name: its endpoint
 * @kept: data that arrived before this member was ready for it
 * @nkept: number of messages in @kept
 * @credit: number of messages that may be sent to it
 * @used: number of its messages that were consumed and not credited yet
 * @flying: messages to it in flight
 * @next: number of the next operation that this member will start, as it last
 *	reported
 * @wants: known to its parent: it has requested to join
 * @ready: known to its parent: all members below it in the tree know the number
 *	of the group
 * @ticket: known to its parent: number of its join
 */
struct afi_member {
	struct afi_name name;
	struct afi_link kept;
	u32 nkept;
	u32 credit;
	u32 used;
	u32 flying;
	u32 next;
	bool wants;
	bool ready;
	u64 ticket;
};

/* State of a group. */
enum afi_group_state {
	AFI_GROUP_WANT,		/* waits for other members to join */
	AFI_GROUP_WELCOME,	/* the group has a number */
	AFI_GROUP_AGREED,	/* all members know the number and may send data */
	AFI_GROUP_JOINED,	/* the program has been notified */
	AFI_GROUP_FAILED,
};

struct afi_offload_ops;

/**
 * struct afi_group - a group: data at one member
 * @fid: the program's handle
 * @domain: its domain
 * @ep: endpoint that is the member
 * @node: link in the table of the domain, by @id
 * @busy: link among groups with work
 * @is_busy: it is in the list of @busy
 * @id: number, the same at all members; 0 until they agree
 * @list: hash of the members' names, the same at all of them
 * @ticket: number of the join, unique in this domain
 * @rank: rank of this member
 * @size: members
 * @members: array of members, by rank
 * @state: AFI_GROUP_*
 * @asked: this member has sent JOIN or, in AFI_GROUP_WELCOME, READY to its parent
 * @count: number of children that have requested to join, or are ready
 * @tell: AFI_TALK_*, message about the last change of @state, to be sent to
 *	other members
 * @told: members with lower ranks have been notified
 * @near: the group failed before all members knew its number, so only
 *	neighbours in the tree are notified
 * @err: FI_E* if it failed
 * @culprit: rank of the member that did not join or was lost
 * @end: deadline of the join at parents of leaves in the tree; see
 *	afi_group_end()
 * @event: event of the join, NULL once it is reported
 * @context: the program's context
 * @tree: all members request offloading if possible
 * @calls: operations in progress
 * @seq: number of the next operation
 * @inner_seq: number of the next exchange
 * @probed: last member that was probed
 * @owes: credits must be returned to members
 * @ops: implementation of offloading, or NULL
 * @offload: state of @ops; NULL: the group has no tree
 * @maker: state of @ops while a tree is created
 * @why: reason why it has no tree
 * @forming: @ops is creating a tree
 * @closing: fi_close() waits for @forming to end
 * @by_offload: operations that the adapters executed
 * @by_software: operations executed by messages
 */
struct afi_group {
	struct fid_mc fid;
	struct afi_domain *domain;
	struct afi_ep *ep;
	struct afi_node node;
	struct afi_link busy;
	bool is_busy;
	u64 id;
	u64 list;
	u64 ticket;
	u32 rank;
	u32 size;
	struct afi_member *members;
	enum afi_group_state state;
	bool asked;
	u32 count;
	u32 tell;
	u32 told;
	bool near;
	int err;
	u32 culprit;
	u64 end;
	struct afi_event *event;
	void *context;
	bool tree;
	struct afi_link calls;
	u32 seq;
	u32 inner_seq;
	u32 probed;
	bool owes;
	const struct afi_offload_ops *ops;
	void *offload;
	void *maker;
	char why[96];
	bool forming;
	bool closing;
	u64 by_offload;
	u64 by_software;
};

/**
 * struct afi_offload_ops - implementation of operations on the adapters' trees
 * @form: create a tree, if possible, in a separate thread, which always ends
 *	with a call of afi_group_formed().  All members of a group call it.
 *	Return: 0; -FI_E*: the thread cannot be created, and afi_group_formed()
 *	is not called
 * @supports: is the operation supported?  The same at all members
 * @start: start an operation, which ends with afi_call_end(); all members start
 *	operations in the same order.  Return: 0; -FI_EAGAIN call again later;
 *	-FI_E*
 * @progress: handle events.  Return: true if there were any
 * @stop: abandon all operations without afi_call_end(), since the caller ends
 *	them; do not access the program's memory from now on
 * @close: undo @form, after its call of afi_group_formed(); the domain is not
 *	locked
 * @linger: advance the end of groups that have been closed.  Return: whether
 *	there was any progress
 * @drop: the domain is being closed: forget its groups
 * @query: is the operation supported in groups that have a tree?
 *
 * The domain is locked, except in @close.
 */
struct afi_offload_ops {
	int (*form)(struct afi_group *g);
	bool (*supports)(const struct afi_group *g, enum fi_collective_op coll,
			 enum fi_datatype type, enum fi_op op, size_t count);
	int (*start)(struct afi_group *g, struct afi_call *call);
	bool (*progress)(struct afi_group *g);
	void (*stop)(struct afi_group *g);
	void (*close)(struct afi_group *g);
	bool (*linger)(struct afi_domain *d);
	void (*drop)(struct afi_domain *d);
	bool (*query)(const struct afi_domain *d, enum fi_collective_op coll,
		      enum fi_datatype type, enum fi_op op);
};

/* tree.c */
extern const struct afi_offload_ops afi_offload_ops;

/* Interface for implementations of offloading. */

/**
 * afi_group_exchange() - exchange a block with all members
 * @g: group, whose domain is locked; the lock is released during the wait
 * @mine: block
 * @len: bytes, the same at all members, at most AFI_BLOCK_MAX
 * @all: out: blocks in the order of ranks
 * @end: deadline from afi_deadline()
 *
 * Called from the thread of afi_offload_ops.form, before its call of
 * afi_group_formed().  All members make the same number of calls.
 *
 * Return: 0; -FI_ETIMEDOUT; -FI_ECANCELED the group is being closed;
 * -FI_EHOSTUNREACH a member is gone; -FI_EMSGSIZE the lengths differ;
 * -FI_ENOMEM.  After any error but -FI_ETIMEDOUT, the group has failed for all
 * members.
 */
int afi_group_exchange(struct afi_group *g, const void *mine, size_t len,
		       void *all, u64 end);
/**
 * afi_group_formed() - report whether the group has a tree
 * @g: group, whose domain is locked
 * @offload: becomes afi_group.offload; NULL: no tree
 * @why: reason if there is no tree, in a few words
 */
void afi_group_formed(struct afi_group *g, void *offload, const char *why);
/**
 * afi_call_end() - end an operation
 * @call: operation, whose domain is locked; it is freed
 * @err: 0 or FI_E*
 * @culprit: rank of the lost member, or of another member on its node, since
 *	only the node is reported; afi_group.size: none
 */
void afi_call_end(struct afi_call *call, int err, u32 culprit);

/*
 * Kinds of messages between members, after struct afi_wire and before the data.
 */
enum afi_talk_kind {
	AFI_TALK_JOIN = 1,	/* to the parent: request to join */
	AFI_TALK_WELCOME,	/* from the parent: number of the group */
	AFI_TALK_READY,		/* to the parent: number received */
	AFI_TALK_GO,		/* from the parent: all members have the number */
	AFI_TALK_CANCEL,	/* to the parent: request withdrawn */
	AFI_TALK_FAIL,		/* the group has failed */
	AFI_TALK_DATA,		/* data of an operation */
	AFI_TALK_CREDIT,	/* credit: messages consumed */
	AFI_TALK_PROBE,		/* request for HERE or GONE */
	AFI_TALK_GONE,		/* the endpoint or group does not exist */
	AFI_TALK_HERE,		/* the group exists; sender's next operation */
};

/**
 * struct afi_talk - header of a message between members
 * @group: number of the group, 0 if it has none yet; JOIN: hash of its members
 * @ticket: number of the join at the receiver; JOIN, READY, CANCEL, PROBE: at
 *	the sender
 * @kind: AFI_TALK_*
 * @from: rank of the sender
 * @to: rank of the receiver
 * @seq: DATA: operation; JOIN: number of members; FAIL, CANCEL: rank of the
 *	culprit; CREDIT: messages consumed; HERE: number of the next operation
 * @step: DATA: step of the operation; JOIN, GO: offload if possible; FAIL,
 *	CANCEL: FI_E*
 * @reserved: 0
 * @off: DATA: offset in the step
 * @len: DATA: bytes of the step
 */
struct afi_talk {
	u64 group;
	u64 ticket;
	u32 kind;
	u32 from;
	u32 to;
	u32 seq;
	u32 step;
	u32 reserved;
	u64 off;
	u64 len;
};

static_assert(sizeof(struct afi_talk) == 56, "all processes must have the same layout");
static_assert(sizeof(struct afi_wire) + sizeof(struct afi_talk) +
	      AFI_BLOCK_MAX <= ANGARA_MAX_MSG, "a block must fit into one message");

/**
 * struct afi_heard - data that arrived before this member was ready for it
 * @link: link in the list of the member
 * @talk: header
 * @len: bytes of data
 * @data: the data
 */
struct afi_heard {
	struct afi_link link;
	struct afi_talk talk;
	size_t len;
	char data[];
};

/**
 * struct afi_want - a request to join a group that this process has not joined
 * yet
 * @link: link in the list of the domain
 * @same: link among the requests of @flow
 * @flow: messages to the context of @src
 * @src: member that sent the request
 * @to: serial of the endpoint here
 * @talk: header
 */
struct afi_want {
	struct afi_link link;
	struct afi_link same;
	struct afi_flow *flow;
	struct afi_name src;
	u32 to;
	struct afi_talk talk;
};

/**
 * struct afi_coll - collective operations of a domain
 * @way: FI_ANGARA_COLL
 * @offload: how adapters execute operations
 * @join_ms: deadline of joins; < 0: none
 * @call_ms: deadline of operations
 * @sets: sets of addresses
 * @nsets: number of the next set
 * @groups: groups by number
 * @slots: groups by the slot in their addresses
 * @nslots: room in @slots
 * @gen: distinguishes successive groups of one slot
 * @busy: groups with work, oldest first
 * @wants: requests to join groups that this process has not joined yet
 * @nwants: number of @wants
 * @ending: trees of closed groups that are not destroyed yet
 * @given_back: number of trees destroyed so far
 * @ticket: number of the last join
 * @joining: groups that are being joined
 * @ended: signalled when an operation for which an internal thread waits has
 *	ended
 * @has_watchdog: @watchdog exists
 * @stop: requests @watchdog to end
 * @watchdog: thread
 * @all: epoll that wakes @watchdog during joins, also for events of the context
 * @own: eventfd that wakes @watchdog at other times
 */
struct afi_coll {
	enum afi_coll_way way;
	const struct afi_offload_ops *offload;
	int join_ms;
	int call_ms;
	struct afi_link sets;
	u32 nsets;
	struct afi_hash groups;
	struct afi_group **slots;
	u32 nslots;
	u32 gen;
	struct afi_link busy;
	struct afi_link wants;
	u32 nwants;
	struct afi_link ending;
	u64 given_back;
	u64 ticket;
	u32 joining;
	pthread_cond_t ended;
	bool has_watchdog;
	bool stop;
	pthread_t watchdog;
	struct afi_wait all;
	struct afi_wait own;
};

/*
 * Time within which a member that knows the culprit has to notify the next
 * member.
 */
#define AFI_TELL_MS	5000

/* watchdog.c */
int afi_coll_init(struct afi_domain *d, const struct afi_offload_ops *offload);
void afi_coll_free(struct afi_domain *d);
int afi_watchdog_start(struct afi_domain *d);
void afi_watchdog_wake(struct afi_domain *d);
void afi_watchdog_left(struct afi_domain *d);
u32 afi_call_waits_for(const struct afi_call *call);

/* avset.c */
int afi_av_set_open(struct fid_av *av, struct fi_av_set_attr *attr,
		    struct fid_av_set **set, void *context);

/* join.c */
int afi_join(struct fid_ep *ep, const void *addr, uint64_t flags,
	     struct fid_mc **mc, void *context);

/* Encodes a culprit for completions and events; afi_error_text() decodes it. */
static inline int afi_culprit_of(const struct afi_group *g, u32 rank)
{
	return rank < g->size ? AFI_PROV_NODE(g->members[rank].name.node) : 0;
}

/* group.c */
void afi_group_take_wants(struct afi_group *g);
void afi_group_fail(struct afi_group *g, int err, u32 culprit);
bool afi_group_awaits(const struct afi_group *g, u32 rank);
u64 afi_group_end(const struct afi_group *g);
bool afi_group_misses(const struct afi_group *g, u32 rank);
bool afi_group_heard(struct afi_domain *d, struct afi_ep *ep,
		     const struct afi_name *src, const struct afi_talk *t);
bool afi_group_progress(struct afi_group *g);
void afi_group_tell_rest(struct afi_group *g);

/* groups.c */
u64 afi_digest(u64 hash, const void *data, size_t len);
void afi_group_set_busy(struct afi_group *g);
struct afi_group *afi_group_at(const struct afi_domain *d, fi_addr_t addr);
struct afi_group *afi_group_by_id(const struct afi_domain *d,
				  const struct afi_ep *ep, u64 id);

/* talk.c */
bool afi_talk_say(struct afi_group *g, u32 to, struct afi_talk talk);
void afi_talk_owe(struct afi_group *g, u32 to, struct afi_talk talk);
bool afi_talk_arrived(struct afi_domain *d, const struct angara_message *in);
void afi_talk_sent(struct afi_domain *d, fi_addr_t group, u32 to, u32 seq,
		   int err);
int afi_talk_send(void *arg, u32 step);
int afi_talk_begin(void *arg, u32 step);
bool afi_talk_credit(struct afi_group *g);
void afi_talk_drop(struct afi_group *g);

/* schedule.c */
int afi_schedule(struct afi_call *call);

/* combine.c */
size_t afi_type_size(enum fi_datatype type);
bool afi_combine_valid(enum fi_datatype type, enum fi_op op);
void afi_combine(enum fi_datatype type, enum fi_op op, void *acc,
		 const void *with, size_t count);

/* coll.c */
void afi_call_add(struct afi_call *call, u32 seq);
bool afi_coll_progress(struct afi_domain *d);
void afi_calls_fail(struct afi_group *g);

/* collcall.c */
int afi_query_collective(struct fid_domain *domain, enum fi_collective_op coll,
			 struct fi_collective_attr *attr, uint64_t flags);
extern struct fi_ops_collective afi_collective_ops;

#endif /* AFI_COLL_H */
