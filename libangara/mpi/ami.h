/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara-mpi: collectives of MPI programs over the adapter.
 *
 * The library is loaded before the MPI library.  It defines MPI functions, and
 * calls the MPI library by the profiling interface (PMPI_*).  Setup is part of
 * MPI_Init(), which all processes of MPI_COMM_WORLD call together.  Cleanup is
 * part of MPI_Finalize(): it runs when an attribute of MPI_COMM_SELF is
 * deleted.
 *
 * Rule: all members of a communicator use the same method in the same call.
 * The choice depends only on data that MPI requires to be equal at all of them:
 * the communicator, earlier collectives of it, the bytes of a message,
 * reduction type and operation, root.  Settings are those of rank 0.  Data that
 * only one member has (the layout of a derived datatype, addresses) affects
 * only how that member copies.  So all messages are copied through a stage:
 * memory that is registered when the communicator gets its team, since a later
 * registration could fail at one member.
 *
 * Locks, in this order:
 *
 *	ami.lock	  list of communicators, list of contexts
 *	ami_dev.lock	  a context, and everything of its teams: stages, queues, and
 *			  the operations in these queues until they have ended
 *	ami_requests_lock persistent requests (request.c)
 *
 * No lock is held during a call to the MPI that waits for other processes.
 * With MPI_THREAD_MULTIPLE each communicator has its own context, so threads
 * that create teams do not wait for each other.
 */
#ifndef AMI_H
#define AMI_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#endif

#include <angara/angara.h>

#include "ang_env.h"
#include "say.h"

#define AMI_LEAST_PART	65536U	/* minimum bytes of a part of a long message */
#define AMI_PARTS	2U	/* parts that alternate */
#define AMI_WAIT_MS	1	/* sleep between two polls of the MPI */
#define AMI_MAX_BLOCKS	4096U	/* most members, for functions with blocks */
#define AMI_MAX_DIMS	32U	/* most dimensions of rings */
#define AMI_LEVELS	8U	/* most levels of a system */
#define AMI_NUMBERED	2U	/* number of algorithms that renumber members */
#define AMI_TAG_LONG	0	/* tag in ami.self; persistent requests use other tags */

/* Prefix of the MPI's functions that create persistent collectives. */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define AMI_INIT(name)	MPI_##name##_init
#define AMI_PINIT(name)	PMPI_##name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define AMI_INIT(name)	MPIX_##name##_init
#define AMI_PINIT(name)	PMPIX_##name##_init
#endif

#define EXPORT	__attribute__((visibility("default")))

#define ami_say(...)	ang_say("libangara-mpi", __VA_ARGS__)

/** enum ami_coll - functions, each with its statistics */
enum ami_coll {
	AMI_BARRIER,
	AMI_BCAST,
	AMI_REDUCE,
	AMI_ALLREDUCE,
	AMI_OFFLOADED,		/* the functions above: adapters execute them on a tree */
	AMI_SCAN = AMI_OFFLOADED,
	AMI_EXSCAN,
	AMI_REDUCE_SCATTER_BLOCK,
	AMI_REDUCE_SCATTER,
	AMI_GATHER,
	AMI_GATHERV,
	AMI_SCATTER,
	AMI_SCATTERV,
	AMI_ALLGATHER,
	AMI_ALLGATHERV,
	AMI_ALLTOALL,
	AMI_ALLTOALLV,
	AMI_CHOSEN, /* the user can choose methods for the functions above */
	AMI_ALLTOALLW = AMI_CHOSEN,
	AMI_NEIGHBOR,
	AMI_COLLS,
};

/** enum ami_form - forms of a collective, each with its statistics */
enum ami_form {
	AMI_BLOCKING,
	AMI_NONBLOCKING,
	AMI_PERSISTENT,
	AMI_FORMS,
};

/** enum ami_way - how a collective is executed */
enum ami_way {
	AMI_OFFLOAD,		/* by adapters, on a tree */
	AMI_SOFTWARE,		/* by libangara's messages */
	AMI_NATIVE,		/* by the MPI */
	AMI_WAYS,
	AMI_AUTO = AMI_WAYS,	/* setting: choose by size and members */
};

/** enum ami_why - why a collective passes through to the MPI */
enum ami_why {
	AMI_WHY_NOT,		/* it does not pass through */
	AMI_WHY_OFF,
	AMI_WHY_SETTING,
	AMI_WHY_LONG,
	AMI_WHY_TABLE,
	AMI_WHY_LENGTHS,
	AMI_WHY_EMPTY,
	AMI_WHY_ALONE,
	AMI_WHY_MANY,
	AMI_WHY_INTER,
	AMI_WHY_FOREIGN,
	AMI_WHY_TYPE,
	AMI_WHY_OP,
	AMI_WHY_USER,
	AMI_WHY_ARGS,
	AMI_WHY_TREE,
	AMI_WHY_TEAM,
	AMI_WHY_CONTEXT,
	AMI_WHY_LATER,
	AMI_WHY_POWER,
	AMI_WHY_NUMBERS,
	AMI_WHY_FORM,
	AMI_WHY_ORDER,
	AMI_WHYS,
};

/**
 * struct ami_req - an operation of libangara
 * @live: the operation has not ended
 * @status: ANGARA_ST_*, once it has ended
 */
struct ami_req {
	bool live;
	u32 status;
};

struct ami_work;

/**
 * struct ami_dev - a context of the adapter
 * @next: next in the list of all
 * @lock: protects the members below, the context, and its teams
 * @ctx: context
 * @busy: teams with operations in progress
 * @ended: operations with a request whose transfers have ended; the next thread
 *	of the program that polls completes the requests
 * @dead: -errno once the device is gone; the context is then never polled again
 * @wanted: threads that wait for the lock; atomic
 */
struct ami_dev {
	struct ami_dev *next;
	pthread_mutex_t lock;
	struct angara_ctx *ctx;
	struct ami_team *busy;
	struct ami_work *ended;
	int dead;
	u32 wanted;
};

/**
 * struct ami_team - a team of the members of a communicator
 * @tried: the creation of the team was attempted
 * @why: reason if there is no team
 * @dev: context
 * @job: job of the members, for their exchanges
 * @team: team of libangara
 * @mine: memory of the stage
 * @common: the stage's parts for broadcasts, as a region with the same key at all
 *	members; NULL: the team has no tree
 * @stage: address of the stage: AMI_PARTS parts for broadcasts, then AMI_PARTS
 *	for other collectives
 * @sizes: buffer for counts and displacements of calls to libangara
 * @part: part in use for broadcasts
 * @used: used bytes of @part
 * @turning: a part is full, and this member waits for the next part
 * @arrived: broadcasts on the tree so far
 * @freed: for each part for broadcasts, the barrier after which it may be used
 *	again
 * @next_busy: next in the list of teams with operations in progress
 * @first: operations in the order of the calls; only the first makes progress
 * @last: where to store the pointer to the next operation
 * @numbered: members were renumbered by topology, for the Bruck and for the
 *	recursive-doubling algorithms
 * @unclosed: operations with a request that no thread of the program has closed
 *	yet; atomic
 */
struct ami_team {
	bool tried;
	enum ami_why why;
	struct ami_dev *dev;
	struct angara_job *job;
	struct angara_team *team;
	struct angara_mr *mine;
	struct angara_mr *common;
	char *stage;
	size_t *sizes;
	u32 part;
	size_t used;
	bool turning;
	u64 arrived;
	struct ami_req freed[AMI_PARTS];
	struct ami_team *next_busy;
	struct ami_work *first;
	struct ami_work **last;
	bool numbered[AMI_NUMBERED];
	u32 unclosed;
};

/**
 * struct ami_comm - data of a communicator, kept as an attribute
 * @next: next in the list of all
 * @comm: communicator; MPI_COMM_NULL once it is freed
 * @rank: rank of this process
 * @size: members
 * @why: reason if all of its collectives pass through, else AMI_WHY_NOT
 * @dev: its context
 * @teams: teams of the members, indexed by AMI_OFFLOAD and AMI_SOFTWARE
 */
struct ami_comm {
	struct ami_comm *next;
	MPI_Comm comm;
	int rank;
	int size;
	enum ami_why why;
	struct ami_dev *dev;
	struct ami_team teams[AMI_NATIVE];
};

/**
 * struct ami_type - a reduction type of MPI, in terms of the adapter
 * @type: ANGARA_TYPE_*
 * @size: bytes of an element of the adapter
 * @num: number of elements of the adapter in one element of MPI
 * @whole: integer
 * @pair: value and index
 * @complex: real and imaginary part
 */
struct ami_type {
	u32 type;
	u32 size;
	u32 num;
	bool whole;
	bool pair;
	bool complex;
};

/**
 * struct ami_op - a predefined operation
 * @op: ANGARA_RED_*
 * @logical: elements count as true or false
 */
struct ami_op {
	u32 op;
	bool logical;
};

/**
 * struct ami_call - a collective call
 * @coll: function
 * @form: its form
 * @wide: arrays contain counts of type MPI_Count and displacements of type
 *	MPI_Aint; else int
 * @in: contribution of this member
 * @n: elements of @in, or of each block
 * @ns: elements of each block, if they differ
 * @displs: start of each block
 * @type: type of an element
 * @out: result at this member; @m, @ms, @odispls, @otype describe it as @n,
 *	@ns, @displs, @type describe @in, and also describe vectors of
 *	reductions and broadcasts
 * @op: operation of a reduction
 * @root: rank
 * @comm: communicator
 * @since: time at which the call began, ns
 * @bytes: bytes of this process's message, which determine the method
 * @way: method of execution, AMI_*
 * @algo: ANGARA_ALGO_* of software, or 0: libangara chooses
 * @why: reason if the call passes through
 * @c: data of the communicator, unless the call passes through
 * @t: the team, unless the call passes through
 * @rtype: type of a reduction, in terms of the adapter
 * @rop: operation of a reduction, in terms of the adapter
 * @ret: return value of the function, unless the call passes through
 */
struct ami_call {
	enum ami_coll coll;
	enum ami_form form;
	bool wide;
	const void *in;
	MPI_Count n;
	const void *ns;
	const void *displs;
	MPI_Datatype type;
	void *out;
	MPI_Count m;
	const void *ms;
	const void *odispls;
	MPI_Datatype otype;
	MPI_Op op;
	int root;
	MPI_Comm comm;
	u64 since;
	size_t bytes;
	enum ami_way way;
	u32 algo;
	enum ami_why why;
	struct ami_comm *c;
	struct ami_team *t;
	struct ami_type rtype;
	struct ami_op rop;
	int ret;
};

/**
 * struct ami_data - a buffer of the program, as blocks of bytes
 * @user: the program's address
 * @wide: as in struct ami_call
 * @num: number of blocks
 * @first: index of the first block that is used
 * @count: elements of each block
 * @counts: elements of each block, if they differ
 * @displs: start of each block, in elements; NULL: the blocks are contiguous
 * @type: type of an element
 * @held: copy of @type, if elements are packed
 * @unit: bytes of an element
 * @base: bytes of the blocks: @user or @packed
 * @packed: copy without gaps, if the buffer has gaps
 * @offs: start of each block in @base; NULL: @displs or @count determine it
 * @shares: the memory of @packed and @offs belongs to another ami_data
 */
struct ami_data {
	char *user;
	bool wide;
	u32 num;
	u32 first;
	MPI_Count count;
	const void *counts;
	const void *displs;
	MPI_Datatype type;
	MPI_Datatype held;
	size_t unit;
	char *base;
	char *packed;
	ptrdiff_t *offs;
	bool shares;
};

/**
 * struct ami_done - requests that an MPI function has completed
 * @num: number of requests; with Waitsome it may be MPI_UNDEFINED
 * @places: their indices in an array; NULL: the first @num
 * @base: value of the first index: 0 in C, 1 in Fortran
 * @reqs: the array in C
 * @freqs: the array in Fortran; one of the two arrays is NULL
 */
struct ami_done {
	int num;
	const int *places;
	int base;
	const MPI_Request *reqs;
	const MPI_Fint *freqs;
};

/** enum ami_end - how the program is notified of the end of an operation */
enum ami_end {
	AMI_END_CALL,		/* the call waits */
	AMI_END_REQUEST,	/* a generalized request */
	AMI_END_MESSAGE,	/* an empty message to this process itself */
};

/**
 * struct ami_work - a collective in progress
 * @next: next operation in a queue
 * @k: call
 * @in: contribution, if this member has one
 * @out: result, if this member gets one
 * @len: bytes of the vector or the longest block
 * @chunk: bytes of a block that a part carries
 * @agreed: @len is the maximum over all members
 * @posted: bytes of @len that were started
 * @done: bytes of @len that have ended
 * @reqs: operations of libangara on parts in progress
 * @looks: number of unsuccessful polls for a broadcast
 * @err: 0, or -errno
 * @breaks: this member cannot take part in the operation
 * @over: the transfers have ended; atomic, set under the lock
 * @end: how the program is notified of the end
 * @request: generalized request
 * @tag: tag of the message
 */
struct ami_work {
	struct ami_work *next;
	struct ami_call k;
	struct ami_data in;
	struct ami_data out;
	size_t len;
	size_t chunk;
	bool agreed;
	size_t posted;
	size_t done;
	struct ami_req reqs[AMI_PARTS];
	u32 looks;
	int err;
	bool breaks;
	bool over;
	enum ami_end end;
	MPI_Request request;
	int tag;
};

/*
 * Lines of the statistics of one form of a function: one for each method, and
 * one for each algorithm that a setting or the table names.  Numbers of
 * algorithms begin at 1 and have no gap, so the last one counts them.
 */
#define AMI_ALGOS	(ANGARA_ALGO_DOUBLING_REORDER >> ANGARA_ALGO_SHIFT)
#define AMI_LINES	(AMI_WAYS + AMI_ALGOS)

/**
 * struct ami_count - a line of the statistics
 * @calls: number of calls
 * @bytes: bytes of this process's message
 * @ns: total time of the calls
 */
struct ami_count {
	u64 calls;
	u64 bytes;
	u64 ns;
};

/**
 * struct ami_row - a line of the table of the fastest methods
 * @coll: AMI_*
 * @members: number of members of the communicator
 * @bytes: length up to which the line applies
 * @way: AMI_*
 * @algo: ANGARA_ALGO_*
 */
struct ami_row {
	u32 coll;
	u32 members;
	u64 bytes;
	u32 way;
	u32 algo;
};

#define AMI_MAX_ROWS	1024U

/** enum ami_rings - kinds of rings of an allreduce, each with its statistics */
enum ami_rings {
	AMI_RING,		/* one ring of all members */
	AMI_RING_SQUARE,	/* two dimensions that the library chooses */
	AMI_RING_SET,		/* dimensions that the user has set */
	AMI_RINGS,
};

/**
 * struct ami_settings - settings of the user, read at rank 0
 * @way: method for each function
 * @algo: algorithm of software, for each function
 * @stats: print statistics at the end
 * @ordered: all members start persistent collectives in the same order
 * @longest: bytes up to which auto chooses the adapter
 * @part: bytes of a part of a long message, a multiple of AMI_LEAST_PART
 * @packet: bytes of a packet around the rings of an allreduce; 0: messages are
 *	whole
 * @ndims: number of dimensions of an allreduce by ring2d, 0: not set
 * @dims: their sizes
 * @product: product of @dims: communicators with this number of members use
 *	@dims; 0: none
 * @rows: number of lines of the table, 0: there is none
 * @row: lines, sorted by function, members, bytes
 */
struct ami_settings {
	u32 way[AMI_CHOSEN];
	u32 algo[AMI_CHOSEN];
	u32 stats;
	u32 ordered;
	u64 longest;
	u32 part;
	u32 packet;
	u32 ndims;
	u32 dims[AMI_MAX_DIMS];
	u32 product;
	u32 rows;
	struct ami_row row[AMI_MAX_ROWS];
};

/**
 * struct ami_levels - the system as a tree of levels
 * @wanted: settings name algorithms that renumber members (Bruck, recursive
 *	doubling)
 * @known: the following fields are set, at all processes
 * @num: number of levels
 * @modules: for each process of the world, the number of its module (such as a
 *	node) at each level, from the top
 */
struct ami_levels {
	bool wanted[AMI_NUMBERED];
	bool known;
	u32 num;
	u32 *modules;
};

/**
 * struct ami - this process
 * @open: between setup and cleanup
 * @off: reason if all collectives pass through, else AMI_WHY_NOT
 * @threads: the program has MPI_THREAD_MULTIPLE
 * @set: settings
 * @levels: locations of the processes, if settings need them
 * @numbered: number of communicators whose numbers this process has computed
 * @world: a private copy of MPI_COMM_WORLD
 * @self: a private copy of MPI_COMM_SELF
 * @group: group of the world
 * @rank: rank of this process in @group
 * @size: members of @group
 * @comm_key: key of the attribute of communicators
 * @self_key: key of the attribute of MPI_COMM_SELF
 * @lock: protects @comms and @devs
 * @comms: communicators with an attribute, and freed ones that still have a
 *	team
 * @devs: contexts
 * @job: job of all processes
 * @dom: domain
 * @dev: the context of all communicators, unless @threads
 * @count: statistics
 * @passed: number of calls that passed through, by reason
 * @rings: number of allreduces around rings, by kind
 * @messages: messages of libangara sent by teams that have ended
 */
struct ami {
	bool open;
	enum ami_why off;
	bool threads;
	struct ami_settings set;
	struct ami_levels levels;
	struct ami_count numbered;
	MPI_Comm world;
	MPI_Comm self;
	MPI_Group group;
	int rank;
	int size;
	int comm_key;
	int self_key;
	pthread_mutex_t lock;
	struct ami_comm *comms;
	struct ami_dev *devs;
	struct angara_job *job;
	struct angara_domain *dom;
	struct ami_dev *dev;
	struct ami_count count[AMI_COLLS][AMI_FORMS][AMI_LINES];
	u64 passed[AMI_COLLS][AMI_FORMS][AMI_WHYS];
	u64 rings[AMI_RINGS];
	u64 messages;
};

extern struct ami ami;
extern const char *const ami_coll_names[AMI_COLLS];
extern const char *const ami_way_names[AMI_AUTO + 1];

/* setup.c */
void ami_open(void);

/* settings.c, table.c */
int ami_settings_read(struct ami_settings *set);
int ami_way_parse(u32 coll, const char *word, u32 *way, u32 *algo);
const char *ami_algo_name(u32 algo);
int ami_table_read(struct ami_settings *set);
void ami_table_ways(u32 coll, u32 members, bool wanted[AMI_NATIVE]);
const struct ami_row *ami_table_find(u32 coll, u32 members, u64 bytes);

/* levels.c */
int ami_levels_read(struct ami_levels *l, u32 size);
void ami_levels_share(void);
void ami_levels_free(void);
u32 ami_algo_numbered(u32 algo);
void ami_numbers_make(struct ami_comm *c, struct ami_team *t);

/* comm.c */
int ami_exchange_world(void *arg, const unsigned int *ranks, unsigned int n,
		       uint64_t tag, const void *mine, size_t len, void *all);
struct ami_dev *ami_dev_open(void);
void ami_dev_close(struct ami_dev *dev);
struct ami_comm *ami_comm_get(MPI_Comm comm, bool may_make);
struct ami_team *ami_team_get(struct ami_comm *c, enum ami_way way, bool may_make);
void ami_comm_world(void);
void ami_comm_end(MPI_Comm comm);
void ami_comms_close(void);
bool ami_vote(MPI_Comm comm, bool mine);
int ami_comm_deleted(MPI_Comm comm, int key, void *value, void *extra);

/* type.c */
bool ami_type_get(MPI_Datatype type, struct ami_type *out);
bool ami_op_user(MPI_Op op);
bool ami_op_get(MPI_Op op, const struct ami_type *type, struct ami_op *out);
bool ami_type_flat(MPI_Datatype type);

/* data.c */
MPI_Count ami_count_of(const void *counts, bool wide, u32 i);
size_t ami_block_len(const struct ami_data *d, u32 i);
char *ami_block(const struct ami_data *d, u32 i);
size_t ami_longest_block(const struct ami_data *d);
int ami_data_open(struct ami_data *d, bool fill);
int ami_data_unpack(const struct ami_data *d);
void ami_data_close(struct ami_data *d);

/* call.c */
bool ami_coll_hidden(u32 coll);
bool ami_call_run(struct ami_call *k);
bool ami_call_start(struct ami_call *k, MPI_Request *req);
bool ami_call_init(struct ami_call *k, MPI_Request *req);
int ami_call_again(struct ami_call *k, int tag);
int ami_call_passed(struct ami_call *k, int ret);
bool ami_call_uses(const struct ami_call *k, bool in);
int ami_work_open(struct ami_work *w, const struct ami_call *k);
int ami_work_close(struct ami_work *w);
void ami_work_failed(const struct ami_work *w, int class);

/* run.c */
void ami_run_fail(struct ami_work *w, int err);
int ami_run_step(struct ami_work *w);
bool ami_run_receives(const struct ami_work *w);

/* work.c */
void ami_lock(struct ami_dev *dev);
void ami_unlock(struct ami_dev *dev);
void ami_work_add(struct ami_work *w);
void ami_work_wait(struct ami_work *w);
bool ami_pending(void);
void ami_pending_add(void);
void ami_pending_end(void);
void ami_progress(void);
void ami_team_drain(struct ami_team *t);
void ami_relax(u32 turns);
void ami_helper_end(void);

/* request.c */
void ami_failed_none(void);
void ami_requests_wait(struct ami_done d);
int ami_failed_one(int ret, struct ami_done d, MPI_Status *status);
int ami_failed_some(int ret, struct ami_done d, MPI_Status *statuses);
int ami_request_begin(struct ami_work *w, enum ami_end end, MPI_Request *req);
int ami_request_keep(const struct ami_call *k, MPI_Request *req);
void ami_request_end(struct ami_work *w, int class);
void ami_requests_forget(const struct ami_comm *c);

/* stats.c */
u64 ami_now_ns(void);
void ami_count_call(const struct ami_call *k);
void ami_stats_print(void);

#endif /* AMI_H */
