/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collective operations: groups of endpoints, and what they do together.
 *
 *   avset.c    sets of addresses, which groups are made of
 *   join.c     groups as the program has them
 *   group.c    joining: all members agree on a number for the group
 *   minder.c   deadlines, and whether those that one waits for are still there
 *   talk.c     what members say to each other, beside the program's messages
 *   algo.c     the operations as rounds of that
 *   combine.c  types and operations of reductions
 *   coll.c     operations under way
 *   collcall.c libfabric's calls
 *
 * An operation of a group is done by the adapters' trees where the group has
 * any and they know it, else by rounds of messages: all members come to the
 * same answer, since it hangs on nothing but what they all know.
 *
 * All under the domain's lock.  Nothing that comes from a peer is trusted: it
 * is looked at if it is from a member, as the fabric tells, and what a member
 * may make this side keep is limited.
 */
#ifndef AFI_COLL_H
#define AFI_COLL_H

#include "msg.h"

struct afi_group;

/**
 * struct afi_set - a set of addresses, in an order
 * @fid: what the program sees
 * @av: where they are
 * @link: among those of the domain
 * @addr: what joins may name it by
 * @list: addresses
 * @n: their number
 * @room: in @list
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

/* How an operation is done; FI_ANGARA_COLL. */
enum afi_coll_way {
	AFI_COLL_AUTO,		/* by the adapters where they can */
	AFI_COLL_OFFLOAD,	/* by them or not at all */
	AFI_COLL_SOFTWARE,
};

/**
 * struct afi_round - what a member does at once in an operation
 * @copy_to: first copied to here, or NULL
 * @copy_from: from here
 * @copy_len: bytes
 * @sends: something goes to another member
 * @to: its rank
 * @out: data
 * @out_len: bytes
 * @out_step: tells it from what else goes there in this operation
 * @out_off: bytes that have been sent
 * @out_done: all has
 * @receives: something comes from another
 * @from: its rank
 * @in: where to
 * @in_len: bytes
 * @in_step: as @out_step
 * @in_off: bytes that have come
 * @in_done: all has
 * @combine: what has come is then combined with what is here, or NULL
 */
struct afi_round {
	void *copy_to;
	const void *copy_from;
	size_t copy_len;
	bool sends;
	u32 to;
	const char *out;
	size_t out_len;
	u32 out_step;
	size_t out_off;
	bool out_done;
	bool receives;
	u32 from;
	char *in;
	size_t in_len;
	u32 in_step;
	size_t in_off;
	bool in_done;
	void *combine;
};

/**
 * struct afi_call - an operation of a group that is under way
 * @link: among those of the group, oldest first
 * @group: group
 * @coll: FI_BARRIER .. FI_GATHER
 * @type: of elements
 * @op: what combines them
 * @size: bytes of an element
 * @count: elements; where each member has a part of its own, of each part
 * @len: bytes of these
 * @root: rank
 * @in: what this member gives, or NULL; of a broadcast the same as @out
 * @out: what it gets, or NULL
 * @seq: number of the operation, the same at all members
 * @offloaded: the adapters do it
 * @parent: operation that this one is a part of, or NULL
 * @parts: parts of it that are under way
 * @turn: number of the round
 * @round: round
 * @begun: there is one
 * @over: it was the last
 * @flying: messages of it under way
 * @temp: memory of its own
 * @internal: not the program's: afi_group_exchange() waits for it
 * @ended: that has ended
 * @cq: a place in it is set aside for the completion, or NULL
 * @report: success is told there, too
 * @done: how it ends
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
	u32 turn;
	struct afi_round round;
	bool begun;
	bool over;
	u32 flying;
	void *temp;
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
 * @kept: what it has sent before this side has asked for it
 * @nkept: number of that
 * @credit: messages that may be sent to it until it has told of some
 * @used: messages of it that have been taken in and not told of
 * @flying: messages to it under way
 * @next: number of its next operation, as far as it has told
 * @wants: it wants to join, at rank 0
 * @ready: it knows the number of the group, at rank 0
 * @ticket: number of its join, at rank 0
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

/* What has become of a group. */
enum afi_group_state {
	AFI_GROUP_WANT,		/* waits for others to join */
	AFI_GROUP_WELCOME,	/* has a number */
	AFI_GROUP_AGREED,	/* all know it: members may talk */
	AFI_GROUP_JOINED,	/* the program knows */
	AFI_GROUP_FAILED,
};

struct afi_offload_ops;

/**
 * struct afi_group - a group, as one endpoint sees it
 * @fid: what the program sees
 * @domain: whose
 * @ep: endpoint that is the member
 * @chain: among those of the domain
 * @busy: among those that have something to do
 * @is_busy: it is there
 * @id: number, the same at all members; 0 until they agree
 * @list: hash of the members' names, the same at all of them
 * @ticket: number of the join, of this domain's
 * @rank: of this member
 * @size: members
 * @members: they, in the order of ranks
 * @state: AFI_GROUP_*
 * @asked: rank 0 has been asked, or answered
 * @count: at rank 0: members that want, or are ready
 * @tell: what members are being told of the last change, AFI_TALK_*
 * @told: those below have been
 * @err: FI_E* if it failed
 * @culprit: rank of who did not come or was lost
 * @end: deadline of the join
 * @event: tells the program of the join, NULL: it has
 * @context: the program's
 * @tree: all members want operations offloaded where they can be
 * @calls: operations under way
 * @seq: number of the next
 * @inner_seq: number of the next exchange
 * @probed: members that have been asked whether they are there, of late
 * @owes: it is to tell members that it has taken in what they sent
 * @ops: what offloads them, or NULL
 * @offload: state of that, NULL: the group has no tree
 * @maker: what makes that, for @ops
 * @why: why it has none
 * @forming: @ops is at work on it
 * @formed: it has been; afi_offload_ops.close has something to undo
 * @closing: fi_close() waits for that
 * @by_offload: operations that the adapters did
 * @by_software: that messages did
 */
struct afi_group {
	struct fid_mc fid;
	struct afi_domain *domain;
	struct afi_ep *ep;
	struct afi_link chain;
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
	bool formed;
	bool closing;
	u64 by_offload;
	u64 by_software;
};

/**
 * struct afi_offload_ops - what does operations by the adapters' trees
 * @form: make a tree, if there can be one, in a thread of its own; that calls
 *	afi_group_formed() in the end, whatever comes out.  All members of a group
 *	call it.  Return: 0; -FI_E*: there is no thread, nothing will be called
 * @supports: can it do such an operation?  The same at all members
 * @start: start one; it ends with afi_call_end().  In the same order at all
 *	members.  Return: 0; -FI_EAGAIN not now: it is called again; -FI_E*
 * @progress: take in what has happened.  Return: was there anything?
 * @stop: abandon all; touch no memory of the program's from now on.  Ends none
 *	by afi_call_end(): the caller does
 * @close: undo @form, which has called afi_group_formed(); the domain is not
 *	locked
 * @query: can it do such an operation, in groups that have a tree?
 *
 * But for @close, the domain is locked.
 */
struct afi_offload_ops {
	int (*form)(struct afi_group *g);
	bool (*supports)(const struct afi_group *g, enum fi_collective_op coll,
			 enum fi_datatype type, enum fi_op op, size_t count);
	int (*start)(struct afi_group *g, struct afi_call *call);
	bool (*progress)(struct afi_group *g);
	void (*stop)(struct afi_group *g);
	void (*close)(struct afi_group *g);
	bool (*query)(const struct afi_domain *d, enum fi_collective_op coll,
		      enum fi_datatype type, enum fi_op op);
};

/* offload.c */
extern const struct afi_offload_ops afi_offload_ops;

/* For what offloads. */

/**
 * afi_group_exchange() - give a block to all members, and get theirs
 * @g: group, whose domain is locked; that is let go while this waits
 * @mine: block
 * @len: bytes, the same at all members, at most AFI_BLOCK_MAX
 * @all: out: blocks in the order of ranks
 * @end: deadline, as afi_deadline() gives it
 *
 * From the thread of afi_offload_ops.form, before that has called
 * afi_group_formed(); all members call it equally often.
 *
 * Return: 0; -FI_ETIMEDOUT; -FI_ECANCELED the group is being closed;
 * -FI_EHOSTUNREACH a member is gone; -FI_EMSGSIZE the lengths differ;
 * -FI_ENOMEM.  But for the first, the group has failed for all members.
 */
int afi_group_exchange(struct afi_group *g, const void *mine, size_t len,
		       void *all, u64 end);
/**
 * afi_group_formed() - the group has a tree, or has none
 * @g: group, whose domain is locked
 * @offload: becomes afi_group.offload; NULL: it has none
 * @why: why it has none, in a few words
 */
void afi_group_formed(struct afi_group *g, void *offload, const char *why);
/**
 * afi_call_end() - an operation has ended
 * @call: operation, whose domain is locked; it is gone afterwards
 * @err: 0 or FI_E*
 * @culprit: rank of who was lost, or of another on the same node: that is what
 *	is told; afi_group.size: nobody
 */
void afi_call_end(struct afi_call *call, int err, u32 culprit);

/*
 * What members say.  Behind struct afi_wire, and before data.
 */
enum afi_talk_kind {
	AFI_TALK_JOIN = 1,	/* to rank 0: I want to join */
	AFI_TALK_WELCOME,	/* from it: all do; this is the group's number */
	AFI_TALK_READY,		/* to it: I know */
	AFI_TALK_GO,		/* from it: all know */
	AFI_TALK_CANCEL,	/* to it: I do not want to any longer */
	AFI_TALK_FAIL,		/* the group has failed */
	AFI_TALK_DATA,		/* data of an operation */
	AFI_TALK_CREDIT,	/* I have taken in some of your data */
	AFI_TALK_PROBE,		/* are you there? */
	AFI_TALK_GONE,		/* no */
	AFI_TALK_HERE,		/* yes, and I have called as many operations */
};

/**
 * struct afi_talk - what a message says
 * @group: number of the group, 0 if it has none yet; JOIN: hash of its members
 * @ticket: number of the join, of who is addressed; of the sender from who
 *	wants to join, and in what asks
 * @kind: AFI_TALK_*
 * @from: rank of the sender
 * @to: rank of who is addressed
 * @seq: DATA: operation; JOIN: number of members; FAIL: rank of the culprit;
 *	CREDIT: messages taken in; HERE: operation that will be the next
 * @step: DATA: which of it; JOIN, GO: offload where that is possible;
 *	FAIL, CANCEL: FI_E*
 * @reserved: 0
 * @off: DATA: where in that this belongs
 * @len: DATA: bytes of it all
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

static_assert(sizeof(struct afi_talk) == 56, "the same for all processes");
static_assert(sizeof(struct afi_wire) + sizeof(struct afi_talk) +
	      AFI_BLOCK_MAX <= ANGARA_MAX_MSG, "a block is one message");

/**
 * struct afi_heard - data that this side has not asked for yet
 * @link: among those of the member
 * @talk: what it says
 * @len: bytes of data
 * @data: they
 */
struct afi_heard {
	struct afi_link link;
	struct afi_talk talk;
	size_t len;
	char data[];
};

/**
 * struct afi_want - a member that wants to join what is not joined here yet
 * @link: among those of the domain
 * @src: member
 * @to: serial of the endpoint here
 * @talk: what it says
 */
struct afi_want {
	struct afi_link link;
	struct afi_name src;
	u32 to;
	struct afi_talk talk;
};

/**
 * struct afi_coll - what a domain has of collective operations
 * @way: FI_ANGARA_COLL
 * @join_ms: deadline of joins; < 0: none
 * @call_ms: of operations
 * @sets: sets of addresses
 * @nsets: number of the next
 * @chains: groups by number
 * @slots: groups by what programs address them by
 * @nslots: room in @slots
 * @gen: tells groups apart that had a slot one after the other
 * @busy: groups that have something to do, oldest first
 * @wants: members that want to join what is not joined here yet
 * @nwants: their number
 * @ending: trees of groups that have been closed, to be given back
 * @given_back: of these, so far
 * @ticket: number of the last join
 * @joining: groups that are being joined
 * @ended: an operation has ended that a thread of ours waits for
 * @minded: there is a minder
 * @stop: it shall end
 * @minder: thread
 * @all: wakes it, as the context does, while there is joining
 * @own: wakes it else
 */
struct afi_coll {
	enum afi_coll_way way;
	int join_ms;
	int call_ms;
	struct afi_link sets;
	u32 nsets;
	struct afi_link chains[AFI_GROUP_CHAINS];
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
	bool minded;
	bool stop;
	pthread_t minder;
	struct afi_wait all;
	struct afi_wait own;
};

/* For who knows whose fault it is, to tell the others. */
#define AFI_TELL_MS	5000

/* minder.c */
int afi_coll_init(struct afi_domain *d);
void afi_coll_free(struct afi_domain *d);
int afi_minder_start(struct afi_domain *d);
void afi_minder_wake(struct afi_domain *d);
u32 afi_call_waits_for(const struct afi_call *call);

/* avset.c */
int afi_av_set_open(struct fid_av *av, struct fi_av_set_attr *attr,
		    struct fid_av_set **set, void *context);

/* join.c */
int afi_join(struct fid_ep *ep, const void *addr, uint64_t flags,
	     struct fid_mc **mc, void *context);

/* What completions and events say of a culprit; afi_error_text() reads it. */
static inline int afi_culprit_of(const struct afi_group *g, u32 rank)
{
	return rank < g->size ? AFI_PROV_NODE(g->members[rank].name.node) : 0;
}

/* group.c */
u64 afi_hash(u64 hash, const void *data, size_t len);
void afi_group_take_wants(struct afi_group *g);
void afi_group_fail(struct afi_group *g, int err, u32 culprit);
bool afi_group_misses(const struct afi_group *g, u32 rank);
bool afi_group_heard(struct afi_domain *d, struct afi_ep *ep,
		     const struct afi_name *src, const struct afi_talk *t);
bool afi_group_progress(struct afi_group *g);
void afi_group_tell_rest(struct afi_group *g);
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
bool afi_talk_round(struct afi_call *call);
void afi_talk_begin(struct afi_call *call);
bool afi_talk_credit(struct afi_group *g);
void afi_talk_drop(struct afi_group *g);

/* algo.c */
bool afi_algo_round(const struct afi_call *call, u32 turn,
		    struct afi_round *round);
size_t afi_algo_temp(const struct afi_call *call);

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
