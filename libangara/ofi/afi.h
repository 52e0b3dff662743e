/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The libfabric provider "angara": declarations that its files share.
 *
 *   fabric -- event queues
 *     domain: one context of libangara
 *       memory regions, address vectors, completion queues, counters
 *       endpoints, numbered within their domain
 *
 * A libangara context serves one thread at a time.  So each domain has one
 * lock, which every call on an object of the domain takes; any number of
 * threads may use the objects (FI_THREAD_SAFE).  If a program declares that it
 * uses a domain from one thread at a time (FI_THREAD_DOMAIN), its calls take no
 * lock, unless the domain has threads of the provider: the thread that monitors
 * groups ends some time after the last group.  Locks, in order: afi_domain.lock,
 * afi_eq.lock.
 *
 * afi_progress() ends operations.  It runs in the caller's thread whenever
 * completions are read or waited for.  With FI_PROGRESS_AUTO it also runs in a
 * thread of the domain.
 */
#ifndef AFI_H
#define AFI_H

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <angara/angara.h>

#include "ang_env.h"

#include "hash.h"
#include "limits.h"
#include "list.h"
#include "objects.h"

/* Later versions of libfabric's headers lack these. */
#define AFI_PROV_SPECIFIC	(1U << 31)
#define AFI_MR_BASIC		(1 << 0)
#define AFI_MR_SCALABLE		(1 << 1)
/* Earlier versions of libfabric's headers lack these. */
#define AFI_ERR_SIZE_VERSION	FI_VERSION(1, 5)	/* first version with err_data_size */
#define AFI_ERR_SRC_VERSION	FI_VERSION(1, 20)	/* first with src_addr, at AFI_ERR_SRC */
#define AFI_ERR_SRC	(offsetof(struct fi_cq_err_entry, err_data_size) + \
			 sizeof(size_t))
#define AFI_PROGRESS_UNIFIED	3

extern struct fi_provider afi_provider;
struct fi_provider *fi_prov_ini(void);

#define AFI_WARN(sys, ...)	FI_WARN(&afi_provider, FI_LOG_##sys, __VA_ARGS__)
#define AFI_INFO(sys, ...)	FI_INFO(&afi_provider, FI_LOG_##sys, __VA_ARGS__)

/**
 * struct afi_name - address of an endpoint
 * @fabric_id: fabric
 * @node: node in the fabric
 * @ctx: context on that node
 * @ep: number of the endpoint in that context
 * @serial: distinguishes successive endpoints with this address: number of the
 *	domain and number in the domain, with AFI_SERIAL_EVENTS if the endpoint
 *	requests notification of operations on its memory
 * @reserved: 0
 */
struct afi_name {
	u64 fabric_id;
	u32 node;
	u16 ctx;
	u16 ep;
	u32 serial;
	u32 reserved;
};

#define AFI_SERIAL_EVENTS	(1U << 31)
#define AFI_SERIAL_BITS		12	/* lowest bits: number of the endpoint */

/* Number of the domain in a serial. */
static inline u32 afi_serial_domain(u32 serial)
{
	return (serial & ~AFI_SERIAL_EVENTS) >> AFI_SERIAL_BITS;
}

static inline bool afi_name_same(const struct afi_name *a,
				 const struct afi_name *b)
{
	return a->node == b->node && a->ctx == b->ctx && a->ep == b->ep &&
	       a->serial == b->serial;
}

/* Context of an endpoint, as the adapter addresses it. */
static inline struct angara_peer afi_peer_of(const struct afi_name *name)
{
	return (struct angara_peer){ .node = name->node, .ctx = name->ctx };
}

/**
 * struct afi_fabric - a fabric
 * @fid: the program's handle
 * @refs: objects opened on it (atomic)
 * @version: version of libfabric's interface that the program uses
 */
struct afi_fabric {
	struct fid_fabric fid;
	u32 refs;
	u32 version;
};

struct afi_av;
struct afi_domain;
struct afi_ep;
struct afi_cq;
struct afi_cntr;
struct afi_coll;
struct afi_done;
struct afi_flow;
struct afi_group;
struct afi_late;
struct afi_mr;
struct afi_op;
struct afi_probes;
struct afi_rest;
struct afi_send;
struct afi_share;
struct afi_talk;

/**
 * struct afi_wait - wait object: descriptors on which threads sleep
 * @link: link in the list of its domain
 * @epfd: epoll descriptor that the program polls; watches @evfd and events of
 *	the domain
 * @evfd: eventfd, readable if another thread has added an event
 * @raised: @evfd is readable (atomic)
 */
struct afi_wait {
	struct afi_link link;
	int epfd;
	int evfd;
	bool raised;
};

struct afi_await;

/*
 * Called when an operation of the adapter has ended.  @err is as from
 * angara_status_errno(); @c is the completion, or NULL if the adapter is gone.
 */
typedef void (*afi_ended_fn)(struct afi_domain *d, struct afi_await *a, int err,
			     const struct angara_completion *c);

/**
 * struct afi_await - continuation of an operation of the adapter
 * @link: link among continuations of operations in progress
 * @ended: called when the operation has ended
 * @live: the operation is in progress
 */
struct afi_await {
	struct afi_link link;
	afi_ended_fn ended;
	bool live;
};

/**
 * struct afi_mr - a memory region
 * @fid: the program's handle
 * @domain: its domain
 * @mr: region in the adapter's domain
 * @base: start
 * @len: bytes
 * @writable: local operations may write to it
 * @cntrs: [0]: counter of remote writes to it, [1]: of remote reads; NULL: none
 */
struct afi_mr {
	struct fid_mr fid;
	struct afi_domain *domain;
	struct angara_mr *mr;
	char *base;
	size_t len;
	bool writable;
	struct afi_cntr *cntrs[2];
};

/**
 * struct afi_pool - registered memory, of which operations borrow buffers
 * @mem: AFI_POOL_PLACES buffers of AFI_PLACE_BYTES each
 * @mr: region of @mem
 * @used: a bit for each buffer in use
 */
struct afi_pool {
	char *mem;
	struct angara_mr *mr;
	u64 used;
};

/**
 * struct afi_dir_entry - entry of the directory that translates keys of the
 * program to keys of the adapter
 * @key: key that the program chose
 * @akey: key of the adapter plus 1; 0: no region.  If peers address memory by
 *	virtual address, there is an entry per slot of the adapter's table, and
 *	@akey is the start of the region
 */
struct afi_dir_entry {
	u64 key;
	u64 akey;
};

/**
 * struct afi_listed - an entry of a peer's directory
 * @key: key that the program uses
 * @akey: as in struct afi_dir_entry; 0: nothing is cached
 * @peer: peer
 */
struct afi_listed {
	u64 key;
	u64 akey;
	struct angara_peer peer;
};

/**
 * struct afi_up - functions by which lower layers call upper layers
 * @progress: handle events and end operations, see afi_progress()
 * @op_sent: a message of an operation has been sent or, with @err, has failed
 * @op_fetched: the data of a receive has been fetched: writes its completion
 * @op_show: answer the receiver's request for the data of a send.  Return: true:
 *	it was answered
 * @op_came: the peer has completed the action that an operation waited for or,
 *	with @err, has failed
 * @plan_resume: an operation with afi_op.late may find room now
 * @plan_again: the piece of an operation with afi_op.late has failed.  Return:
 *	true: the operation is repeated
 * @plan_ended: an operation with afi_op.late has ended
 * @talk_arrived: a message that claims to be from a member of a group has
 *	arrived.  Return: false: cannot be handled now, deliver it again
 * @talk_sent: a message between members of a group has been sent or, with @err,
 *	has failed
 * @group_heard: a message about joining a group has arrived.  Return: false:
 *	cannot be handled now, deliver it again
 * @group_misses: does the group need a member that is gone?  See
 *	afi_group_misses()
 * @group_fail: a group has failed, see afi_group_fail()
 * @calls_fail: end the operations of a group that has failed
 * @thread_left: the domain has just been locked, with afi_domain.leaves set
 */
struct afi_up {
	void (*progress)(struct afi_domain *d);
	void (*op_sent)(struct afi_op *op, int err,
			const struct angara_completion *c);
	void (*op_fetched)(struct afi_op *op);
	bool (*op_show)(struct afi_op *op);
	void (*op_came)(struct afi_op *op, int err);
	bool (*plan_resume)(struct afi_op *op);
	bool (*plan_again)(struct afi_op *op, int err);
	void (*plan_ended)(struct afi_op *op);
	bool (*talk_arrived)(struct afi_domain *d, const struct angara_message *in);
	void (*talk_sent)(struct afi_domain *d, fi_addr_t group, u32 rank,
			  u32 seq, int err);
	bool (*group_heard)(struct afi_domain *d, struct afi_ep *ep,
			    const struct afi_name *src, const struct afi_talk *t);
	bool (*group_misses)(const struct afi_group *g, u32 rank);
	void (*group_fail)(struct afi_group *g, int err, u32 culprit);
	void (*calls_fail)(struct afi_group *g);
	void (*thread_left)(struct afi_domain *d);
};

/**
 * struct afi_domain - a domain; all under @lock except @refs and @alone
 * @fid: the program's handle
 * @up: functions of the upper layers
 * @fabric: its fabric
 * @lock: protects the domain, see the head of this file
 * @single: the program uses the domain from one thread at a time, and no thread
 *	of the provider makes progress for it; constant
 * @alone: one thread at a time uses the domain, so nothing takes @lock: it is
 *	@single, and has no thread of the provider
 * @leaves: the last thread of the provider in a @single domain will not lock the
 *	domain again: the next call that locks the domain sets @alone
 * @refs: objects opened on it (atomic)
 * @job: the job, if it determines this process's adapter
 * @dom: domain of libangara
 * @ctx: context
 * @about: properties of @dom
 * @self: address of @ctx
 * @prov_keys: the provider chooses keys, else the program
 * @virt: with @prov_keys: peers address memory by virtual address
 * @events: endpoints may request notification of operations on their memory
 * @watched: regions with counters of operations on their memory, by slot of the
 *	adapter; or NULL
 * @dead: the context is gone
 * @waits: wait objects on which threads sleep for events of the domain
 * @has_events: @events_fd is open
 * @events_fd: epoll of the context's descriptor, for all sleeping threads
 * @id: random number, which distinguishes the domain from earlier users of @ctx
 * @serial: number of the next endpoint
 * @probes: probes of peers that operations wait for
 * @probe_fd: timer of @probes, which wakes sleeping threads when a probe is due
 * @expecting: operations that wait for an action of their peers
 * @probing: a round of probes is scheduled or in flight: progress calls afi_probe()
 * @works: operations that wait for counters; those of one counter in the order in
 *	which they start
 * @works_pass: number of passes through @works
 * @also: counter of the deferred work that is being started, or NULL
 * @silent: the endpoint does not report the success of that work
 * @awaits: operations of the adapter in progress
 * @awaiting: number of @awaits
 * @how: options of the operation that is being started
 * @more: the program starts another operation soon, FI_MORE
 * @unrung: the queue has operations that the adapter was not notified of
 * @ops_mem: all operations
 * @rests: parts of operations that only some kinds use, struct afi_rest
 * @ops: operations in progress
 * @todo: operations in progress that wait for room
 * @idle: free operations, @ops_left of them
 * @asking: number of operations that have requested data from senders
 * @recvs: receives of all endpoints
 * @parked: number of messages of all endpoints that wait to be fetched
 * @returned: receives that will be posted again: receives of a shared context
 *	whose endpoint was closed before their data arrived, and multi-receive
 *	buffers that had no room to take the next kept message
 * @bounce: buffers for local memory that is not registered
 * @stage: buffers for data of messages, which the receivers read
 * @dir_mem: directory of large keys, followed by room for entries that are read
 *	from peers' directories
 * @dir: region of the directory, which peers read
 * @window: region of the second part of @dir_mem, into which entries are read
 * @late_ops: operations that wait for entries of peers' directories
 * @listed: cached entries of peers' directories, by key
 * @temps: number of regions of the library's cache that operations hold
 * @numbers: a bit for each endpoint number in use
 * @eps: endpoints and contexts by number
 * @eps_top: numbers from this one up have never been used
 * @has_msgs: the context has messages; else the members below are not used
 * @sends: messages to send
 * @sends_mem: their buffers
 * @sends_mr: region of them
 * @sends_idle: free messages
 * @sends_failed: messages that could not be started
 * @flows_ready: receivers to which a message may be sent
 * @flows_owing: receivers of owed messages
 * @flows: flows to all receivers, at most one per context of the fabric, by
 *	node and context
 * @sends_left: number of @sends_idle
 * @owed: number of owed messages
 * @cut: there was no path to some receivers of owed messages
 * @flying: messages in flight
 * @flying_max: limit of @flying
 * @inlined: messages of @flying that are inline in their descriptors
 * @held: message that could not be handled yet
 * @has_held: @held is valid
 * @delivered: the endpoint has received @held; only the answer is missing
 * @kept_bytes: size of unexpected messages, at most @keep_max
 * @coll: collective operations, NULL without messages
 * @stop: requests @thread to end
 * @threaded: the thread exists
 * @thread: makes progress, with FI_PROGRESS_AUTO
 * @wake: wakes @thread
 */
struct afi_domain {
	struct fid_domain fid;
	const struct afi_up *up;
	struct afi_fabric *fabric;
	pthread_mutex_t lock;
	bool single;
	bool alone;
	bool leaves;
	u32 refs;
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_domain_info about;
	struct angara_peer self;
	bool prov_keys;
	bool virt;
	bool events;
	struct afi_mr **watched;
	bool dead;
	struct afi_link waits;
	bool has_events;
	int events_fd;
	u32 id;
	u32 serial;
	struct afi_probes *probes;
	int probe_fd;
	u32 expecting;
	bool probing;
	struct afi_link works;
	u64 works_pass;
	struct afi_cntr *also;
	bool silent;
	struct afi_link awaits;
	u32 awaiting;
	struct angara_op how;
	bool more;
	bool unrung;
	struct afi_op *ops_mem;
	struct afi_rest *rests;
	struct afi_link ops;
	struct afi_link todo;
	struct afi_link idle;
	u32 ops_left;
	u32 asking;
	struct afi_objects recvs;
	u32 parked;
	struct afi_link returned;
	struct afi_pool bounce;
	struct afi_pool stage;
	struct afi_dir_entry *dir_mem;
	struct angara_mr *dir;
	struct angara_mr *window;
	struct afi_late *late_ops;
	struct afi_listed *listed;
	u32 temps;
	u64 numbers[AFI_EPS / 64];
	struct afi_ep *eps[AFI_EPS];
	u32 eps_top;
	bool has_msgs;
	struct afi_send *sends;
	void *sends_mem;
	struct angara_mr *sends_mr;
	struct afi_link sends_idle;
	struct afi_link sends_failed;
	struct afi_link flows_ready;
	struct afi_link flows_owing;
	struct afi_hash flows;
	u32 sends_left;
	u32 owed;
	bool cut;
	u32 flying;
	u32 flying_max;
	u32 inlined;
	struct angara_message held;
	bool has_held;
	bool delivered;
	size_t kept_bytes;
	size_t keep_max;
	struct afi_coll *coll;
	bool stop;
	bool threaded;
	pthread_t thread;
	struct afi_wait wake;
};

/**
 * struct afi_cq - a completion queue; under the domain's lock
 * @fid: the program's handle
 * @domain: its domain
 * @refs: endpoints bound to it
 * @format: format of its entries
 * @ring: array of @size entries
 * @size: a power of two
 * @head: next entry to read, free running
 * @tail: next entry to write, free running
 * @promised: entries reserved for operations in progress
 * @wait: wait object, if @waits
 * @waits: there is a wait object
 * @signaled: fi_cq_signal() has been called
 */
struct afi_cq {
	struct fid_cq fid;
	struct afi_domain *domain;
	u32 refs;
	enum fi_cq_format format;
	struct afi_done *ring;
	u32 size;
	u32 head;
	u32 tail;
	u32 promised;
	struct afi_wait wait;
	bool waits;
	bool signaled;
};

/**
 * struct afi_cntr_sleeper - a call of fi_cntr_wait()
 * @link: link in the list of the counter
 * @threshold: value that ends the call
 * @errors: number of errors when the call began; any other number ends the call
 */
struct afi_cntr_sleeper {
	struct afi_link link;
	u64 threshold;
	u64 errors;
};

/**
 * struct afi_cntr - a counter; under the domain's lock
 * @fid: the program's handle
 * @domain: its domain
 * @refs: endpoints bound to it
 * @value: completions
 * @errors: completions in error
 * @seen: @value that the program has learned last
 * @seen_errors: @errors that the program has read last
 * @wait: wait object, if @waits
 * @waits: there is a wait object
 * @sleepers: calls of fi_cntr_wait() in progress
 * @stalled: pass through afi_domain.works in which an operation that waits for the
 *	counter found no room
 * @left: signaled when the counter changes, and when a call of @sleepers returns
 */
struct afi_cntr {
	struct fid_cntr fid;
	struct afi_domain *domain;
	u32 refs;
	u64 value;
	u64 errors;
	u64 seen;
	u64 seen_errors;
	struct afi_wait wait;
	bool waits;
	struct afi_link sleepers;
	u64 stalled;
	pthread_cond_t left;
};

/**
 * struct afi_event - an event
 * @next: next event
 * @event: FI_*, or a number chosen by the program
 * @error: @data is a struct fi_eq_err_entry
 * @len: bytes
 * @data: contents
 */
struct afi_event {
	struct afi_event *next;
	u32 event;
	bool error;
	size_t len;
	char data[];
};

/**
 * struct afi_eq - an event queue
 * @fid: the program's handle
 * @fabric: its fabric
 * @lock: protects the members below
 * @refs: objects bound to it
 * @first: oldest event
 * @last: address of the pointer to set to the next event
 * @wait: wait object, if @waits
 * @waits: there is a wait object
 * @writable: the program may write
 */
struct afi_eq {
	struct fid_eq fid;
	struct afi_fabric *fabric;
	pthread_mutex_t lock;
	u32 refs;
	struct afi_event *first;
	struct afi_event **last;
	struct afi_wait wait;
	bool waits;
	bool writable;
};

static inline void afi_ref(u32 *refs)
{
	__atomic_add_fetch(refs, 1, __ATOMIC_RELAXED);
}

static inline void afi_unref(u32 *refs)
{
	__atomic_sub_fetch(refs, 1, __ATOMIC_RELEASE);
}

static inline bool afi_busy(const u32 *refs)
{
	return __atomic_load_n(refs, __ATOMIC_ACQUIRE) != 0;
}

static inline struct afi_domain *afi_domain_of(struct fid_domain *fid)
{
	return afi_of(fid, struct afi_domain, fid);
}

/*
 * Return: the endpoint or context with this number; NULL: there is none.  The
 * number may come from a peer, so it can have any value.
 */
static inline struct afi_ep *afi_ep_at(const struct afi_domain *d, u32 number)
{
	return number < AFI_EPS ? d->eps[number] : NULL;
}

/**
 * afi_progress() - handle events, and end operations
 * @d: domain, locked
 *
 * Repeats until there is no event, since an operation that it starts may end at
 * once.  The number of rounds is limited, so peers cannot prevent the call from
 * returning.
 */
static inline void afi_progress(struct afi_domain *d)
{
	d->up->progress(d);
}

/*
 * Called at the end of calls that may have made room: makes progress if deferred
 * work waits, or a message that could not be handled yet.  No event would wake
 * the thread of FI_PROGRESS_AUTO to do so.
 */
static inline void afi_continue(struct afi_domain *d)
{
	if (d->has_held || !afi_list_empty(&d->works))
		afi_progress(d);
}

static inline void afi_lock(struct afi_domain *d)
{
	if (d->alone)
		return;
	pthread_mutex_lock(&d->lock);
	if (d->leaves)
		d->up->thread_left(d);
}

static inline void afi_unlock(struct afi_domain *d)
{
	if (!d->alone)
		pthread_mutex_unlock(&d->lock);
}

/* info.c */
int afi_getinfo(uint32_t version, const char *node, const char *service,
		uint64_t flags, const struct fi_info *hints, struct fi_info **info);

/* fabric.c */
int afi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* domain.c */
int afi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);

/* await.c */
void afi_await_init(struct afi_domain *d);
bool afi_await_room(const struct afi_domain *d, u32 n);
const struct angara_op *afi_await(struct afi_domain *d, struct afi_await *a,
				  afi_ended_fn ended);
int afi_awaited(struct afi_domain *d, struct afi_await *a, int ret);
void afi_await_drop(struct afi_domain *d, struct afi_await *a);
void afi_await_gone(struct afi_domain *d);
int afi_harvest(struct afi_domain *d);
void afi_ring(struct afi_domain *d);

/* clock.c */
u64 afi_deadline(int timeout);
bool afi_past(u64 end);
int afi_left(u64 end);
void afi_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, u64 end);

/* hints.c */
bool afi_hint(const char *name, bool ok, const char *wanted, const char *supported);
bool afi_hint_most(const char *name, u64 wanted, u64 most);
bool afi_hint_bits(const char *name, u64 wanted, u64 given, enum fi_type type);

/* thread.c */
int afi_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* eq.c */
int afi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq, void *context);
void afi_eq_append(struct afi_eq *eq, struct afi_event *ev);
int afi_eq_trywait(struct afi_eq *eq);

/* name.c */
u32 afi_any_number(const void *salt);
int afi_name_print(const struct afi_name *name, char *text, size_t len);
int afi_name_parse(const char *text, struct afi_name *name);
int afi_name_give(const struct afi_name *name, void *addr, size_t *len);

#define AFI_DIR_KEY	0	/* key of the directory's region */
#define AFI_DIR_ID	(AFI_DIR_ENTRIES + AFI_DIR_WINDOW) /* entry with afi_domain.id */

/* mr.c, keys.c, event.c */
extern struct fi_ops_mr afi_mr_ops;
struct angara_domain_attr afi_keys_attr(void);
int afi_keys_init(struct afi_domain *d);
void afi_keys_free(struct afi_domain *d);
int afi_mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
void afi_mr_unwatch(struct afi_mr *mr);
/* Index of an adapter's key in the adapter's table. */
static inline u32 afi_slot(u64 akey)
{
	return (u32)akey & 0xFFFF;
}

int afi_temp_hold(struct afi_domain *d, const struct afi_ep *ep, void *addr,
		  size_t len, unsigned int access, struct angara_mr **mr,
		  u64 *off);
void afi_temp_release(struct afi_domain *d, struct angara_mr *mr);
bool afi_temp_spare(const struct afi_domain *d, u32 part, u32 n);
int afi_key_take(struct afi_domain *d, u64 want, void *addr, size_t len,
		 unsigned int access, struct afi_mr *mr);
void afi_key_give(struct afi_domain *d, struct afi_mr *mr);

/* cq.c */
int afi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq, void *context);
bool afi_cq_promise(struct afi_cq *cq);
bool afi_cq_promise_more(struct afi_cq *cq);
bool afi_cq_promise_told(struct afi_cq *cq);
void afi_cq_put(struct afi_cq *cq, const struct afi_done *done);
int afi_cq_trywait(struct afi_cq *cq);
const char *afi_error_text(int prov_err, char *buf, size_t len);

/*
 * Values of prov_errno for collective operations: they identify the node that
 * did not take part.
 */
#define AFI_PROV_NODE(node)	(-1 - (int)(node))

/* cntr.c */
int afi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);
void afi_cntr_changed(struct afi_cntr *cntr);
void afi_cntr_count(struct afi_cntr *cntr, int err);
int afi_cntr_trywait(struct afi_cntr *cntr);

/* poll.c */
int afi_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		  struct fid_poll **poll);

/* wait.c */
bool afi_wait_kind(enum fi_wait_obj obj, bool *waits);
int afi_wait_open(struct afi_wait *w, struct afi_domain *d);
void afi_wait_gone(struct afi_domain *d);
void afi_wait_end(struct afi_domain *d);
void afi_wait_close(struct afi_wait *w);
void afi_wait_wake(struct afi_wait *w);
void afi_wait_wake_all(struct afi_domain *d);
void afi_wait_quiet(struct afi_wait *w);
void afi_wait_arm(struct afi_domain *d);
int afi_wait_control(const struct afi_wait *w, bool waits, int command,
		     void *arg);
int afi_wait_sleep(const struct afi_wait *w, u64 end);

/* cm.c, unused.c, rma.c */
extern struct fi_ops_cm afi_cm_ops;
extern struct fi_ops_msg afi_no_msg_ops;
extern struct fi_ops_tagged afi_no_tagged_ops;
extern struct fi_ops_rma afi_no_rma_ops;
extern struct fi_ops_rma afi_rma_ops;
extern struct fi_ops_atomic afi_no_atomic_ops;
extern struct fi_ops_collective afi_no_collective_ops;

/*
 * Defines a call that is not supported: libfabric calls through its tables without
 * a check, so every entry must be filled.
 */
#define AFI_NO_CALL(type, name, ...)					\
	_Pragma("GCC diagnostic push")					\
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")	\
	static type name(__VA_ARGS__)					\
	{								\
		return -FI_ENOSYS;					\
	}								\
	_Pragma("GCC diagnostic pop")

int afi_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int afi_no_control(struct fid *fid, int command, void *arg);
int afi_no_ops_open(struct fid *fid, const char *name, uint64_t flags,
		    void **ops, void *context);
int afi_no_tostr(const struct fid *fid, char *buf, size_t len);
int afi_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
		   void *context);

#define AFI_FI_OPS(close_fn, bind_fn, control_fn) {	\
	.size = sizeof(struct fi_ops),			\
	.close = close_fn,				\
	.bind = bind_fn,				\
	.control = control_fn,				\
	.ops_open = afi_no_ops_open,			\
	.tostr = afi_no_tostr,				\
	.ops_set = afi_no_ops_set,			\
}

#include "av.h"
#include "ep.h"

#endif /* AFI_H */
