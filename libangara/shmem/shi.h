/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declarations that the files of libangara-shmem share.
 *
 *	init.c		start and end of a PE, queries
 *	exit.c, far.c	shmem_global_exit(), on this machine and on others
 *	env.c		environment variables
 *	region.c	symmetric memory: which region an address is in
 *	heap.c		blocks of the symmetric heap
 *	ctx.c		contexts: queues, locks, fence, quiet
 *	rma.c, sized.c	puts and gets, with signals
 *	amo.c		atomic operations
 *	sync.c		waiting for words
 *	lock.c		locks
 *	team.c		teams, active sets
 *	coll.c		collectives that copy, and their requests
 *	reduce.c	reductions
 *	old.c		deprecated routines
 *	ext.c		extensions
 *
 * A PE has one domain of libangara.  Each SHMEM context is a context of that
 * domain.  All teams share one more context, shi.coll, which has the receive
 * buffer.
 *
 * With SHMEM_THREAD_MULTIPLE, each context that is neither private nor
 * serialized has a lock, which protects the angara_ctx and the fields of struct
 * shmemi_ctx.  shi.lock protects the list of teams, the lists of contexts of
 * teams, and the list of locks that the PE holds.  shmem_finalize() reads these lists
 * without the lock: no other thread is in a routine then.  A thread takes the lock of a context
 * while it holds next_lock of the same context; otherwise no thread takes a lock while
 * it holds another one.
 *
 * A thread that creates or destroys a team waits inside libangara, which calls
 * shi_coll_turn() to release the lock of shi.coll from time to time.  So
 * threads of two PEs may create the same teams in different orders.
 */
#ifndef SHI_H
#define SHI_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <angara/angara.h>
#include <shmemx.h>

#define SHI_HIDDEN	__attribute__((visibility("hidden")))
#define SHI_PRINTF(n)	__attribute__((format(printf, n, (n) + 1)))
#define SHI_NAP_MS	1		/* interval of checks of a waiting PE */
#define SHI_PROBE_MS	1000		/* interval of checks whether a PE has ended */
#define SHI_LOOKS	64		/* polls of a shared context before a thread sleeps */
/* Bytes of one operation of the adapter; tests define a smaller limit. */
#ifndef SHI_CHUNK
#define SHI_CHUNK	ANGARA_MAX_OP_BYTES
#endif
#define SHI_NO_PLACE	UINT64_MAX
#define SHI_LIBS	32U		/* shared libraries with symmetric variables */

/* Defines pshmem_NAME, and shmem_NAME as its weak alias. */
#define SHI_DEF(ret, name, args) \
	extern __typeof__(pshmem_##name) shmem_##name \
		__attribute__((weak, alias("pshmem_" #name))); \
	ret pshmem_##name args

/* Defines pshmemx_NAME for an extension, and shmemx_NAME as its weak alias. */
#define SHI_EXT(ret, name, args) \
	extern __typeof__(pshmemx_##name) shmemx_##name \
		__attribute__((weak, alias("pshmemx_" #name))); \
	ret pshmemx_##name args

#define SHI_UNWRAP(...)	__VA_ARGS__
/*
 * Defines a routine of the default context, and its form with a context.  Both
 * have the parameters @args and execute @call, in which ctx is the context.
 */
#define SHI_BOTH(ret, name, args, call) \
	SHI_DEF(ret, name, (SHI_UNWRAP args)) \
	{ \
		shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
		call; \
	} \
	SHI_DEF(ret, ctx_##name, (shmem_ctx_t ctx, SHI_UNWRAP args)) \
	{ \
		call; \
	}

/* ANGARA_TYPE_* of an integer type of 4 or 8 bytes, of float or double. */
#define SHI_TYPE(T) \
	((T)0.5 != 0 ? (sizeof(T) == 4 ? ANGARA_TYPE_FLOAT : ANGARA_TYPE_DOUBLE) : \
	 SHI_SIGNED(T) ? (sizeof(T) == 4 ? ANGARA_TYPE_INT32 : ANGARA_TYPE_INT64) : \
			 (sizeof(T) == 4 ? ANGARA_TYPE_UINT32 : ANGARA_TYPE_UINT64))
#define SHI_SIGNED(T)	((T)-1 < (T)1)

/**
 * struct shmemi_ctx - a context
 * @a: queues of the adapter
 * @pes: number in the world of each PE of the team; NULL: the numbers are the
 *	same
 * @n_pes: number of PEs of the team
 * @locked: several threads may use it at once
 * @dirty: operations have started since the last quiet
 * @fenced: there was a fence since the last quiet, so operations wait for
 *	earlier ones to the same node
 * @next_lock: taken before @lock, so that a waiting thread gets @lock next
 * @lock: protects @a, @dirty, @fenced
 * @team: team of the context
 * @next: next context of the team
 */
struct shmemi_ctx {
	struct angara_ctx *a;
	const int *pes;
	unsigned int n_pes;
	bool locked;
	bool dirty;
	bool fenced;
	pthread_mutex_t next_lock;
	pthread_mutex_t lock;
	struct shmemi_team *team;
	struct shmemi_ctx *next;
};

/**
 * struct shmemi_team - a team, or an active set of deprecated collectives
 * @a: team of the library
 * @pes: number in the world of each PE; NULL for the world
 * @rank: rank of this PE
 * @size: number of PEs
 * @bcasts: broadcasts of the adapter that this team has started
 * @offloaded: the team has a tree
 * @config: configuration that the program has given
 * @ctxs: contexts of the team, to be destroyed with it
 * @next: next one of shi.teams
 * @start: active set: first PE; -1: this is a team
 * @log_stride: active set: logarithm of the distance
 */
struct shmemi_team {
	struct angara_team *a;
	int *pes;
	int rank;
	int size;
	uint64_t bcasts;
	bool offloaded;
	shmem_team_config_t config;
	struct shmemi_ctx *ctxs;
	struct shmemi_team *next;
	int start;
	int log_stride;
};

/**
 * struct shi_region - symmetric memory
 * @base: address at this PE
 * @len: bytes
 * @key: key, equal at all PEs
 * @mr: region at this PE
 */
struct shi_region {
	char *base;
	size_t len;
	uint64_t key;
	struct angara_mr *mr;
};

/**
 * struct shi_at - a location at a PE
 * @peer: address of the PE
 * @key: key of the region
 * @off: offset in the region
 */
struct shi_at {
	struct angara_peer peer;
	uint64_t key;
	uint64_t off;
};

/**
 * struct shi_local - local memory for an operation
 * @mr: region; NULL: none
 * @off: offset in @mr; without @mr, the address
 */
struct shi_local {
	struct angara_mr *mr;
	uint64_t off;
};

/**
 * struct shi_card - data that PEs exchange at start-up
 * @peer: address
 * @pid: process, for shmem_global_exit()
 * @begun: start time of the process, in ticks since the boot of the machine; 0:
 *	not known
 * @host: number of the machine and PID namespace
 * @globals: bytes of the program's data and bss
 * @libs: hash of the shared libraries with symmetric variables
 * @heap: bytes of its symmetric heap
 * @debug: SHMEM_DEBUG is set
 */
struct shi_card {
	struct angara_peer peer;
	int64_t pid;
	uint64_t begun;
	uint64_t host;
	uint64_t globals;
	uint64_t libs;
	uint64_t heap;
	uint64_t debug;
};

/**
 * struct shi_place - the heap of a PE
 * @place: see angara_mr_place(), or SHI_NO_PLACE
 * @base: address of the heap in the process of that PE
 */
struct shi_place {
	uint64_t place;
	uint64_t base;
};

/**
 * struct shi_state - the PE
 * @up: between shmem_init() and shmem_finalize()
 * @finalized: shmem_finalize() has been called
 * @starter: process that has called start_pes(): shmem_finalize() is called when this
 *	process exits; 0: none
 * @debug: SHMEM_DEBUG: check arguments of collectives, and locks
 * @stats: ANGARA_SHMEM_STATS: print a line about each team when it is destroyed
 * @level: SHMEM_THREAD_*
 * @me: number of this PE
 * @n: number of PEs
 * @cards: cards of all PEs
 * @places: locations of the heaps of all PEs
 * @align: power of two; the heaps of all PEs begin at multiples of @align
 * @direct: the program has an address in the heap of another PE, or is about to
 *	get one (atomic)
 * @direct_begun: operations started before @direct was set are complete
 *	(atomic)
 * @job: job of all PEs
 * @dom: domain of the PE's memory regions and contexts
 * @def: default context
 * @coll: context of all teams
 * @world: SHMEM_TEAM_WORLD
 * @shared: SHMEM_TEAM_SHARED
 * @requests: open requests of collectives (atomic)
 * @teams: all other teams; those that remain are destroyed when the PE ends
 * @heap: symmetric heap
 * @globals: data and bss of the program; len 0: none
 * @libs: data and bss of shared libraries, in the order of their constructors
 * @n_libs: number of @libs
 * @lock: see the head of this file
 */
struct shi_state {
	bool up;
	bool finalized;
	pid_t starter;
	bool debug;
	bool stats;
	int level;
	int me;
	unsigned int n;
	struct shi_card *cards;
	struct shi_place *places;
	uint64_t align;
	bool direct;
	bool direct_begun;
	struct angara_job *job;
	struct angara_domain *dom;
	struct shmemi_ctx def;
	struct shmemi_ctx coll;
	struct shmemi_team world;
	struct shmemi_team shared;
	unsigned int requests;
	struct shmemi_team *teams;
	struct shi_region heap;
	struct shi_region globals;
	struct shi_region libs[SHI_LIBS];
	unsigned int n_libs;
	pthread_mutex_t lock;
};

extern SHI_HIDDEN struct shi_state shi;

/* init.c */
SHI_HIDDEN void shi_die(const char *fmt, ...) SHI_PRINTF(1) __attribute__((noreturn));
SHI_HIDDEN void shi_need(void);
SHI_HIDDEN void shi_start(int level);
SHI_HIDDEN void shi_stop(void);

/* exit.c */
SHI_HIDDEN void shi_exit_listen(void);
SHI_HIDDEN void shi_exit_ignore(void);
SHI_HIDDEN bool shi_exit_begun(void);
SHI_HIDDEN void shi_exit_self(int status);
SHI_HIDDEN void shi_exit_now(int status) __attribute__((noreturn));
SHI_HIDDEN void shi_exit_card(struct shi_card *mine);

/* far.c */
SHI_HIDDEN void shi_thread_start(pthread_t *thread, void *(*run)(void *));
SHI_HIDDEN void shi_far_open(void);
SHI_HIDDEN void shi_far_close(void);
SHI_HIDDEN void shi_far_exit(int status);
SHI_HIDDEN void shi_far_wait(void);

/**
 * struct shi_env - settings of the user
 * @symmetric_size: SHMEM_SYMMETRIC_SIZE, bytes
 * @info: SHMEM_INFO
 * @version: SHMEM_VERSION
 * @debug: SHMEM_DEBUG
 * @stats: ANGARA_SHMEM_STATS
 */
struct shi_env {
	size_t symmetric_size;
	bool info;
	bool version;
	bool debug;
	bool stats;
};

SHI_HIDDEN void shi_env_read(struct shi_env *env);
SHI_HIDDEN void shi_env_show(const struct shi_env *env);

/* region.c */
SHI_HIDDEN void shi_globals_find(struct shi_region *r);
SHI_HIDDEN void shi_lib_add(const void *addr);
SHI_HIDDEN uint64_t shi_libs_hash(void);
SHI_HIDDEN const struct shi_region *shi_region_of(const void *addr);
SHI_HIDDEN struct shi_local shi_local_of(const void *addr, size_t len);
SHI_HIDDEN void shi_at_pe(const struct shmemi_ctx *c, const void *addr, size_t len, int pe,
			  const char *what, struct shi_at *at);

/*
 * Product of sizes given by the program; SIZE_MAX, which exceeds all memory, if
 * it overflows.
 */
static inline size_t shi_times(size_t a, size_t b)
{
	size_t product;

	return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* heap.c */
SHI_HIDDEN void shi_heap_free_all(void);

/* ctx.c */
SHI_HIDDEN int shi_ctx_open(struct shmemi_ctx *c, struct shmemi_team *team, bool locked,
			    unsigned int msg_bytes);
SHI_HIDDEN void shi_ctx_close(struct shmemi_ctx *c);
SHI_HIDDEN struct shmemi_ctx *shi_ctx(shmem_ctx_t ctx);
SHI_HIDDEN void shi_ctx_lock(struct shmemi_ctx *c);
SHI_HIDDEN void shi_ctx_unlock(struct shmemi_ctx *c);
SHI_HIDDEN bool shi_ctx_trylock(struct shmemi_ctx *c);
SHI_HIDDEN void shi_ctx_sleep(struct shmemi_ctx *c);
SHI_HIDDEN void shi_ctx_turn(struct shmemi_ctx *c);
SHI_HIDDEN void shi_coll_turn(void *unused);
SHI_HIDDEN bool shi_ctx_room(struct shmemi_ctx *c, int ret);
SHI_HIDDEN void shi_ctx_settle(struct shmemi_ctx *c);
SHI_HIDDEN void shi_quiet(struct shmemi_ctx *c);
SHI_HIDDEN void shi_probe(const char *what);
SHI_HIDDEN int64_t shi_now_ms(void);
SHI_HIDDEN void shi_missed(const char *what);
SHI_HIDDEN bool shi_pe_ended(struct angara_ctx *a, int pe);
SHI_HIDDEN void shi_pe_nap(struct angara_ctx *a);
SHI_HIDDEN int shi_ended(struct shmemi_ctx *c, const struct shmemi_team *t, uint32_t node);
SHI_HIDDEN void shi_check(int ret, const char *what);
SHI_HIDDEN void shi_pe_failed(struct shmemi_ctx *c, int ret, const char *what, int pe)
	__attribute__((noreturn));

SHI_HIDDEN void shi_local_failed(const char *what, const void *addr, size_t len,
				 unsigned int access);

/* Ends the program if an operation has failed because of its local memory. */
static inline void shi_check_local(int ret, const char *what, const void *addr, size_t len,
				   unsigned int access)
{
	if (__builtin_expect(ret < 0, 0))
		shi_local_failed(what, addr, len, access);
}

/* Ends the program if an operation on a PE of the context's team has failed. */
static inline void shi_check_pe(struct shmemi_ctx *c, int ret, const char *what, int pe)
{
	if (__builtin_expect(ret < 0, 0))
		shi_pe_failed(c, ret, what, pe);
}

/* Options of an operation without a completion. */
#define SHI_HOW(c)	((c)->fenced ? &shi_fenced : NULL)
extern SHI_HIDDEN const struct angara_op shi_fenced;
/* Repeats an operation until there is room for it; the context is locked. */
#define SHI_POST(c, call) \
	({ \
		int post_; \
		do { \
			post_ = (call); \
		} while (shi_ctx_room(c, post_)); \
		post_; \
	})

/* rma.c */
SHI_HIDDEN void shi_put(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe);
SHI_HIDDEN void shi_put_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
			    int pe);
SHI_HIDDEN void shi_get(shmem_ctx_t ctx, void *dest, const void *source, size_t len, int pe);
SHI_HIDDEN void shi_get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
			    int pe);

/**
 * struct shi_stride - elements at equal distances
 * @dst: distance in the destination, in elements
 * @sst: distance in the source, in elements
 * @size: bytes of an element
 * @n: elements
 */
struct shi_stride {
	ptrdiff_t dst;
	ptrdiff_t sst;
	size_t size;
	size_t n;
};

/*
 * Bytes from the start of the first of @n elements to the end of the last one;
 * @n is not 0.
 */
static inline size_t shi_span(size_t size, size_t n, ptrdiff_t stride)
{
	size_t last = shi_times(shi_times(n - 1, (size_t)stride), size);

	return last > SIZE_MAX - size ? SIZE_MAX : last + size;
}

SHI_HIDDEN void shi_stride_check(struct shi_stride s, const char *what);
SHI_HIDDEN void shi_iput(shmem_ctx_t ctx, void *dest, const void *source,
			 struct shi_stride s, int pe);
SHI_HIDDEN void shi_iget(shmem_ctx_t ctx, void *dest, const void *source,
			 struct shi_stride s, int pe);

/**
 * struct shi_signal - signal of a put
 * @addr: word
 * @value: value of the signal
 * @op: SHMEM_SIGNAL_*
 */
struct shi_signal {
	uint64_t *addr;
	uint64_t value;
	int op;
};

SHI_HIDDEN void shi_put_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t len,
			       struct shi_signal sig, int pe);
SHI_HIDDEN void shi_put_signal_nbi(shmem_ctx_t ctx, void *dest, const void *source,
				   size_t len, struct shi_signal sig, int pe);

/* amo.c */
/**
 * struct shi_amo - an atomic operation on one element
 * @addr: element
 * @type: ANGARA_TYPE_*
 * @op: ANGARA_ATOMIC_*
 * @size: bytes of the element
 */
struct shi_amo {
	const void *addr;
	unsigned int type;
	unsigned int op;
	size_t size;
};

SHI_HIDDEN void shi_amo(shmem_ctx_t ctx, struct shi_amo amo, const void *x, int pe);
SHI_HIDDEN void shi_amo_fetch(shmem_ctx_t ctx, struct shi_amo amo, const void *x,
			      const void *cond, void *old, int pe);
SHI_HIDDEN void shi_amo_fetch_nbi(shmem_ctx_t ctx, struct shi_amo amo, const void *x,
				  const void *cond, void *old, int pe);

/* sync.c */
SHI_HIDDEN void shi_wait_long(long *ivar, int cmp, long value);

/* team.c */
SHI_HIDDEN int shi_team_open(struct shmemi_team *t, struct angara_team *a);
SHI_HIDDEN struct shmemi_team *shi_team(shmem_team_t team);
SHI_HIDDEN struct shmemi_team *shi_set(int start, int log_stride, int size);
SHI_HIDDEN void shi_teams_leave(void);
SHI_HIDDEN void shi_teams_quiet(void);

/* coll.c */
/**
 * struct shi_req - a collective in progress
 * @done: it is complete
 * @status: ANGARA_ST_*
 * @node: node at fault
 */
struct shi_req {
	bool done;
	uint32_t status;
	uint32_t node;
};

SHI_HIDDEN struct angara_op shi_req_op(struct shi_req *r);
SHI_HIDDEN void shi_req_poll(void);
SHI_HIDDEN void shi_turn(void);
SHI_HIDDEN void shi_req_nap(unsigned int *looks);
SHI_HIDDEN void shi_req_wait(struct shmemi_team *t, struct shi_req *r, int ret,
			     const char *what);
SHI_HIDDEN void shi_coll_failed(struct shmemi_team *t, int ret, uint32_t node,
				const char *what) __attribute__((noreturn));
/* Starts a collective by @call when there is room for it. */
#define SHI_START(call) \
	({ \
		unsigned int looks_ = 0; \
		int start_; \
		for (;;) { \
			shi_ctx_lock(&shi.coll); \
			start_ = (call); \
			shi_ctx_unlock(&shi.coll); \
			if (start_ != -EAGAIN) \
				break; \
			shi_req_nap(&looks_); \
		} \
		start_; \
	})
/*
 * Starts a collective of team @t by @call, whose options are in the variable
 * how, and waits for it.
 */
#define SHI_RUN(t, what, call) \
	do { \
		struct shi_req req_ = { 0 }; \
		const struct angara_op how_ = shi_req_op(&req_), *how = &how_; \
		int ret_ = SHI_START(call); \
		shi_req_wait(t, &req_, ret_, what); \
	} while (0)

SHI_HIDDEN void shi_sync(struct shmemi_team *t);
SHI_HIDDEN void shi_differ(const char *what, uint64_t mine, uint64_t least, uint64_t most)
	__attribute__((noreturn));
SHI_HIDDEN void shi_same_check(struct shmemi_team *t, uint64_t value, const char *what);
SHI_HIDDEN void shi_same_place_check(struct shmemi_team *t, const void *addr, const char *what);

/* With SHMEM_DEBUG: ends the program if a value differs among members. */
static inline void shi_same(struct shmemi_team *t, uint64_t value, const char *what)
{
	if (shi.debug)
		shi_same_check(t, value, what);
}

/*
 * With SHMEM_DEBUG: ends the program if a symmetric address differs among
 * members.
 */
static inline void shi_same_place(struct shmemi_team *t, const void *addr, const char *what)
{
	if (shi.debug)
		shi_same_place_check(t, addr, what);
}

SHI_HIDDEN void shi_broadcast(struct shmemi_team *t, void *dest, const void *source,
			      size_t len, int root, bool to_root);
SHI_HIDDEN void shi_collect(struct shmemi_team *t, void *dest, const void *source,
			    size_t len);
SHI_HIDDEN void shi_fcollect(struct shmemi_team *t, void *dest, const void *source,
			     size_t len);
SHI_HIDDEN void shi_alltoall(struct shmemi_team *t, void *dest, const void *source,
			     size_t len);
SHI_HIDDEN void shi_alltoalls(struct shmemi_team *t, void *dest, const void *source,
			      struct shi_stride s);

/* reduce.c */
/**
 * struct shi_kind - a reduction
 * @size: bytes of an element
 * @device: ANGARA_TYPE_* of the elements, or SHI_NARROW, SHI_SOFTWARE
 * @op: ANGARA_RED_*
 * @parts: number of device elements per element: 2 for sums of complex numbers
 * @widen: SHI_NARROW: converts elements to 32 bits
 * @narrow: SHI_NARROW: converts the result back
 * @combine: SHI_SOFTWARE: a = a op b, see struct angara_reducer
 */
struct shi_kind {
	size_t size;
	int device;
	unsigned int op;
	unsigned int parts;
	void (*widen)(int32_t *to, const void *from, size_t n);
	void (*narrow)(void *to, const int32_t *from, size_t n);
	void (*combine)(void *a, const void *b, size_t n, void *unused);
};

#define SHI_NARROW	(-1)
#define SHI_SOFTWARE	(-2)

/* Return: the operation of a SHI_SOFTWARE reduction, for libangara. */
static inline struct angara_reducer shi_reducer(const struct shi_kind *kind)
{
	return (struct angara_reducer){
		.size = sizeof(struct angara_reducer),
		.elem = (uint32_t)kind->size,
		.combine = kind->combine,
	};
}

SHI_HIDDEN void shi_reduce(struct shmemi_team *t, const struct shi_kind *kind, void *dest,
			   const void *source, size_t n);

/* ext.c */
SHI_HIDDEN int shi_reduce_nb(shmem_team_t team, const struct shi_kind *kind, void *dest,
			     const void *source, size_t n, shmemx_req_t *req);

#endif /* SHI_H */
