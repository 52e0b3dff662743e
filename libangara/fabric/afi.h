/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The libfabric provider "angara": what its files share.
 *
 *   fabric -- event queues
 *     domain: one context of libangara
 *       memory regions, address vectors, completion queues, counters
 *       endpoints, numbered within their domain
 *
 * One context is one thread's, so each domain has one lock, and every call on
 * what belongs to the domain takes it: objects may be used by any number of
 * threads (FI_THREAD_SAFE).  Locks, in order: afi_domain.lock, afi_eq.lock.
 *
 * Operations end in afi_progress(), which runs in the caller's thread whenever
 * completions are read or waited for, and with FI_PROGRESS_AUTO in a thread of
 * the domain's own as well.
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

#include "limits.h"
#include "list.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* What later headers have dropped. */
#define AFI_PROV_SPECIFIC	(1U << 31)
#define AFI_MR_BASIC		(1 << 0)
#define AFI_MR_SCALABLE		(1 << 1)
/* What earlier ones do not have. */
#define AFI_PROGRESS_UNIFIED	3

extern struct fi_provider afi_provider;
struct fi_provider *fi_prov_ini(void);

#define AFI_WARN(sys, ...)	FI_WARN(&afi_provider, FI_LOG_##sys, __VA_ARGS__)
#define AFI_INFO(sys, ...)	FI_INFO(&afi_provider, FI_LOG_##sys, __VA_ARGS__)

/**
 * struct afi_name - address of an endpoint
 * @fabric_id: fabric
 * @node: node in it
 * @ctx: context on that
 * @ep: endpoint of that
 * @serial: tells endpoints apart that had this address one after the other:
 *	number of the domain, number in that; with AFI_SERIAL_EVENTS, if it
 *	wants to know what others do to its memory
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
#define AFI_SERIAL_BITS		12	/* of the endpoint; the domain's above */

/* Number of the domain, in a serial. */
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

struct afi_fabric {
	struct fid_fabric fid;
	u32 refs;	/* atomic */
};

struct afi_av;
struct afi_domain;
struct afi_ep;
struct afi_cq;
struct afi_cntr;
struct afi_coll;
struct afi_done;
struct afi_flow;
struct afi_mr;
struct afi_op;
struct afi_probes;
struct afi_send;
struct afi_share;

/**
 * struct afi_wait - what a thread sleeps on
 * @epfd: what the program polls: @evfd, and the context's descriptor
 * @evfd: eventfd, readable if something has been put where the thread waits
 * @raised: it is readable (atomic)
 */
struct afi_wait {
	int epfd;
	int evfd;
	bool raised;
};

struct afi_await;

/*
 * An operation of the adapter has ended: @err as angara_status_errno(), @c how,
 * or NULL if the adapter is gone.
 */
typedef void (*afi_ended_fn)(struct afi_domain *d, struct afi_await *a, int err,
			     const struct angara_completion *c);

/**
 * struct afi_await - what waits for an operation of the adapter
 * @link: among those under way
 * @ended: is called when it has ended
 * @live: it is under way
 */
struct afi_await {
	struct afi_link link;
	afi_ended_fn ended;
	bool live;
};

/**
 * struct afi_mr - a memory region
 * @fid: what the program sees
 * @domain: whose
 * @mr: region of the context
 * @base: start
 * @len: bytes
 * @writable: it may be written to by operations of this side
 * @cntrs: count what others do: write, [1]: read; or NULL
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
 * struct afi_pool - registered memory that is lent out for operations
 * @mem: AFI_POOL_PLACES of AFI_PLACE_BYTES
 * @mr: region of them
 * @used: a bit for each
 */
struct afi_pool {
	char *mem;
	struct angara_mr *mr;
	u64 used;
};

/**
 * struct afi_dir_entry - a key of the program's and where it leads
 * @key: of the program
 * @akey: of the adapter, plus 1; 0: nowhere
 */
struct afi_dir_entry {
	u64 key;
	u64 akey;
};

/**
 * struct afi_look - a read of a peer's directory of keys
 * @await: for its end
 * @begun: there is one, of which nothing has been made yet
 * @err: how it has ended
 * @peer: peer
 * @key: key that it is for
 */
struct afi_look {
	struct afi_await await;
	bool begun;
	int err;
	struct angara_peer peer;
	u64 key;
};

/**
 * struct afi_domain - a domain; all under @lock but for @refs
 * @fid: what the program sees
 * @fabric: whose
 * @lock: see above
 * @refs: objects opened on it (atomic)
 * @job: the job, if that tells which adapter is this process's
 * @dom: its domain
 * @ctx: context
 * @about: what that says of itself
 * @prov_keys: the provider chooses keys, else the program
 * @events: endpoints may ask to be told of what others do to their memory
 * @watched: regions with counters of that, by key of the adapter's; or NULL
 * @dead: the context is gone
 * @has_events: @events_fd is open
 * @events_fd: epoll of the context's descriptor, for all who sleep
 * @id: number that tells it from others that had its context before
 * @serial: number of the next endpoint
 * @probes: looks at peers that are waited for
 * @expecting: operations that wait for what their peers do
 * @probing: there are, or have been a short while ago
 * @works: operations that wait for counters
 * @also: counter of the one that is being started, or NULL
 * @awaits: operations of the adapter under way
 * @awaiting: number of them
 * @how: of the one that is being started
 * @early: completions that have been taken before their time, @num_early
 * @num_early: number of them
 * @ops_mem: all operations
 * @ops: under way
 * @todo: of them, those that wait for room
 * @idle: free, @ops_left of them
 * @asking: operations that have asked senders for data
 * @parked: messages of all endpoints that wait to be fetched
 * @bounce: stands for memory of operations here that is not registered
 * @stage: data of messages, for their receivers to read
 * @dir_mem: where large keys lead; behind it, what is read of a peer's
 * @dir: region of it, for peers to read
 * @window: region of what is read
 * @look: the read
 * @low_used: keys of the lower half that are taken
 * @high_used: a bit for each of the upper half, with @prov_keys
 * @numbers: a bit for each number of an endpoint that is taken
 * @eps: endpoints by number, and contexts
 * @has_msgs: the context knows messages; else none of the following is used
 * @sends: messages to send
 * @sends_mem: their buffers
 * @sends_mr: region of them
 * @sends_idle: those that are free
 * @sends_failed: those that could not be started
 * @flows_ready: receivers that one may be sent to
 * @flows_owing: those that something waits for, apart from messages
 * @flows: all receivers, by hash
 * @sends_left: number of @sends_idle
 * @owed: what waits, apart from messages
 * @flying: number of those under way
 * @flying_max: at most
 * @inlined: of these, those that go with their descriptors
 * @held: message that could not be taken in yet
 * @has_held: there is one
 * @kept_bytes: messages that nobody has asked for; @keep_max at most
 * @coll: collective operations, NULL without messages
 * @stop: the thread shall end
 * @threaded: there is one
 * @thread: progress, with FI_PROGRESS_AUTO
 * @wake: wakes it
 */
struct afi_domain {
	struct fid_domain fid;
	struct afi_fabric *fabric;
	pthread_mutex_t lock;
	u32 refs;
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_domain_info about;
	struct angara_peer self;
	bool prov_keys;
	bool events;
	struct afi_mr **watched;
	bool dead;
	bool has_events;
	int events_fd;
	u32 id;
	u32 serial;
	struct afi_probes *probes;
	u32 expecting;
	bool probing;
	struct afi_link works;
	struct afi_cntr *also;
	struct afi_link awaits;
	u32 awaiting;
	struct angara_op how;
	struct angara_completion *early;
	u32 num_early;
	struct afi_op *ops_mem;
	struct afi_link ops;
	struct afi_link todo;
	struct afi_link idle;
	u32 ops_left;
	u32 asking;
	u32 parked;
	struct afi_pool bounce;
	struct afi_pool stage;
	struct afi_dir_entry *dir_mem;
	struct angara_mr *dir;
	struct angara_mr *window;
	struct afi_look look;
	u32 low_used;
	u64 high_used[AFI_DIRECT_KEYS / 64];
	u64 numbers;
	struct afi_ep *eps[AFI_EPS];
	bool has_msgs;
	struct afi_send *sends;
	void *sends_mem;
	struct angara_mr *sends_mr;
	struct afi_link sends_idle;
	struct afi_link sends_failed;
	struct afi_link flows_ready;
	struct afi_link flows_owing;
	struct afi_flow *flows[AFI_FLOW_CHAINS];
	u32 sends_left;
	u32 owed;
	u32 flying;
	u32 flying_max;
	u32 inlined;
	struct angara_message held;
	bool has_held;
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
 * @fid: what the program sees
 * @domain: whose
 * @refs: endpoints bound to it
 * @format: of its entries
 * @ring: entries, @size of them
 * @size: a power of two
 * @head: next to read, free running
 * @tail: next to write
 * @promised: places set aside for operations under way
 * @wait: how to sleep; @waits says whether
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
 * struct afi_cntr - a counter; under the domain's lock
 * @fid: what the program sees
 * @domain: whose
 * @refs: endpoints bound to it
 * @value: completions
 * @errors: of them, those with an error
 * @wait: how to sleep; @waits says whether
 * @waits: there is a wait object
 */
struct afi_cntr {
	struct fid_cntr fid;
	struct afi_domain *domain;
	u32 refs;
	u64 value;
	u64 errors;
	struct afi_wait wait;
	bool waits;
};

/**
 * struct afi_event - an event
 * @next: behind it
 * @event: FI_*, or what the program makes of it
 * @error: @data is a struct fi_eq_err_entry
 * @len: bytes
 * @data: they
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
 * @fid: what the program sees
 * @fabric: whose
 * @lock: protects all that follows
 * @refs: objects bound to it
 * @first: oldest event
 * @last: where the next one goes
 * @wait: how to sleep; @waits says whether
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

static inline void afi_lock(struct afi_domain *d)
{
	pthread_mutex_lock(&d->lock);
}

static inline void afi_unlock(struct afi_domain *d)
{
	pthread_mutex_unlock(&d->lock);
}

/* info.c */
int afi_getinfo(u32 version, const char *node, const char *service, u64 flags,
		const struct fi_info *hints, struct fi_info **info);

/* fabric.c */
int afi_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);

/* domain.c */
int afi_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
void afi_progress(struct afi_domain *d);

/* await.c */
int afi_await_init(struct afi_domain *d);
bool afi_await_room(const struct afi_domain *d, u32 n);
const struct angara_op *afi_await(struct afi_domain *d, struct afi_await *a,
				  afi_ended_fn ended);
int afi_awaited(struct afi_domain *d, struct afi_await *a, int ret);
void afi_await_drop(struct afi_domain *d, struct afi_await *a);
void afi_await_gone(struct afi_domain *d);
int afi_await_one(struct afi_domain *d, const struct afi_await *a,
		  int timeout_ms);
int afi_harvest(struct afi_domain *d);

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

#define AFI_DIR_KEY	0	/* of the directory of keys: a context's first */
#define AFI_DIR_ID	(AFI_DIR_ENTRIES + AFI_DIR_WINDOW) /* entry: afi_domain.id */

/* mr.c, keys.c, event.c */
extern struct fi_ops_mr afi_mr_ops;
int afi_keys_init(struct afi_domain *d);
int afi_mr_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
void afi_mr_unwatch(struct afi_mr *mr);
u32 afi_low_keys(const struct afi_domain *d);
int afi_low_reg(struct afi_domain *d, void *addr, size_t len,
		unsigned int access, struct angara_mr **mr);
void afi_low_dereg(struct afi_domain *d, struct angara_mr *mr);
bool afi_low_spare(const struct afi_domain *d, u32 part, u32 n);
int afi_key_take(struct afi_domain *d, u64 want, void *addr, size_t len,
		 unsigned int access, struct afi_mr *mr);
void afi_key_give(struct afi_domain *d, struct afi_mr *mr);
int afi_key_find(struct afi_domain *d, struct angara_peer peer, u64 key,
		 u64 addr, u32 *akey, u64 *off);

/* cq.c */
int afi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
		struct fid_cq **cq, void *context);
bool afi_cq_promise(struct afi_cq *cq);
bool afi_cq_promise_more(struct afi_cq *cq);
bool afi_cq_promise_told(struct afi_cq *cq);
void afi_cq_put(struct afi_cq *cq, const struct afi_done *done);
int afi_cq_trywait(struct afi_cq *cq);
const char *afi_error_text(int prov_err, char *buf, size_t len);

/* What errors of collective operations say: a node, which did not come. */
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
void afi_wait_quiet(struct afi_wait *w);
void afi_wait_arm(struct afi_domain *d);
int afi_wait_control(const struct afi_wait *w, bool waits, int command,
		     void *arg);
int afi_wait_sleep(const struct afi_wait *w, u64 end);
u64 afi_deadline(int timeout);
bool afi_past(u64 end);

/* cm.c, unused.c, rma.c */
extern struct fi_ops_cm afi_cm_ops;
extern struct fi_ops_msg afi_no_msg_ops;
extern struct fi_ops_tagged afi_no_tagged_ops;
extern struct fi_ops_rma afi_no_rma_ops;
extern struct fi_ops_rma afi_rma_ops;
extern struct fi_ops_atomic afi_no_atomic_ops;
extern struct fi_ops_collective afi_no_collective_ops;
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
