/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the tests: finding the devices of a fabric, a context driven
 * straight through the ABI and the kernel's accounting.  The tests do not use
 * the library, so that tests and library can expose each other's errors.
 *
 * Functions return 0 or -errno unless they say otherwise.
 */
#ifndef ANGTEST_H
#define ANGTEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/angara.h>

#define AT_MAX_NODES	64
#define AT_PAGE		4096UL
/* AT_DEADLINE_MS: limit for any wait, on a busy emulated machine. */
#define AT_TREES	16	/* number of trees of every tested device */
#define AT_DEADLINE_MS	60000
#define AT_NOBODY	65534

/* env.c: where the test runs */

#define AT_ROOT		1U	/* needs root */
#define AT_DEVICE	2U	/* needs one device */
#define AT_TORUS	4U	/* needs a complete fabric of 8 to 64 nodes */
#define AT_LOOP		8U	/* needs the loopback's sysfs files */
#define AT_CARD		16U	/* needs two adapters on PCI Express */
#define AT_HUGE		32U	/* needs huge pages of 2 MiB */

void at_require(unsigned int what);

/* Ends the program with SKIP before any test if something is missing. */
#define AT_REQUIRE(what)						\
	static void __attribute__((constructor)) at_require_this(void)	\
	{								\
		at_require(what);					\
	}

/* Scales @n by ANGARA_TEST_SCALE, a percentage; at least 1. */
unsigned int at_scale(unsigned int n);
/* The seed of this run: ANGARA_TEST_SEED or the time. */
unsigned long at_seed(void);
unsigned int at_rand(unsigned long *state, unsigned int below);
uint64_t at_now_ms(void);
void at_sleep_ms(unsigned int ms);

/* A value of /proc/self/status or /proc/meminfo given in kB, in bytes. */
long at_proc_bytes(const char *file, const char *name);
/* VmLck + VmPin: memory that this process is charged for. */
long at_charged(void);

/*
 * As at_charged(), for memory that the kernel frees in the background: waits
 * until the charge is at most @allowed, or until a deadline.
 */
long at_charged_soon(long allowed);

/* Memory that is available on the machine, in bytes. */
long at_memory(void);
/*
 * Decrease of at_memory() since it was @before. Memory may be freed late: waits
 * until the decrease is at most @allowed, or until a deadline.
 */
long at_memory_lost(long before, long allowed);

/* Return: bytes written, or -errno. */
int at_write_file(const char *path, const char *text);

/*
 * A thread writes a number here to make the kernel fail that allocation or
 * copy.
 */
#define AT_FAIL_NTH	"/proc/thread-self/fail-nth"

/* Return: NULL, or the missing file without which allocations cannot fail. */
const char *at_failing_init(void);

#define AT_MAX_LOOPS	256

/* A fabric of the loopback: its number, its nodes, its fabric id. */
struct at_loop {
	unsigned int num;
	unsigned int nodes;
	uint64_t id;
};

/* Fills @list with at most @max loopback fabrics. Return: their number. */
int at_loop_list(struct at_loop *list, unsigned int max);
int at_loop_add(const char *dims, struct at_loop *made);
/* Writes @num to del_fabric. */
int at_loop_del(const char *num);
int at_loop_remove(const struct at_loop *loop);
/* Gets the dimensions in the module's parameter, "" for none. */
void at_loop_dims(char *dims, size_t len);
/* Unloads and loads the modules again, with the same dimensions. */
int at_reload(void);
int at_run_command(const char *command);

/*
 * In a child process: becomes user @uid, without privileges or unlimited locked
 * memory.
 */
int at_become(unsigned int uid);
/*
 * Waits for @pid.  Return: its exit status; -signal that ended it; -ETIMEDOUT
 * after @ms: the child was killed.
 */
int at_wait_child(pid_t pid, unsigned int ms);

/* device.c: devices and contexts */

/**
 * struct at_fabric - a torus all of whose nodes are on this machine
 * @id: fabric id
 * @nodes: number of nodes
 * @ndims: number of dimensions
 * @dims: size of each dimension
 * @dev: number of the device of each node
 */
struct at_fabric {
	uint64_t id;
	unsigned int nodes;
	unsigned int ndims;
	uint16_t dims[4];
	unsigned int dev[AT_MAX_NODES];
};

/* Reads the torus of a device from file "fabric" into @ndims and @dims. */
int at_torus(unsigned int dev, struct at_fabric *f);
int at_fabric_find(struct at_fabric *f, unsigned int min_nodes);
int at_fabric_find_id(struct at_fabric *f, uint64_t id);
/* The highest device number plus 1; 0 without devices. */
unsigned int at_devices(void);
void at_dev_path(unsigned int dev, char path[32]);

int at_open(unsigned int dev);
int at_ioctl(int fd, unsigned long cmd, void *arg);
int at_query(int fd, struct angara_query *q);

/**
 * struct at_ctx - a context and its mapped queues
 * @dom: file of the device, with the domain
 * @shares: @dom is not closed with the context
 * @fd: the context's file
 * @pkey: partition of the domain
 * @q: attributes of the device
 * @c: attributes of the context
 * @sq: injection queue
 * @cq: completion queue
 * @ctl: indices
 * @ctr: event counters
 * @db: doorbell page, or NULL
 * @msg: receive buffer, or NULL
 * @pi: SQ entries written
 * @ci: CQ entries taken
 * @mi: units of the receive buffer given back
 */
struct at_ctx {
	int dom;
	bool shares;
	int fd;
	unsigned int pkey;
	struct angara_query q;
	struct angara_ctx_create c;
	struct angara_wqe *sq;
	const struct angara_cqe *cq;
	struct angara_ctl *ctl;
	const uint64_t *ctr;
	volatile uint32_t *db;
	const char *msg;
	uint32_t pi;
	uint32_t ci;
	uint32_t mi;
};

struct at_attr {
	unsigned int sq;	/* entries, 0: 64 */
	unsigned int cq;	/* entries, 0: 128 */
	unsigned int pkey;	/* 0: the caller's own */
	unsigned int msg;	/* bytes of the receive buffer */
	uint64_t job;		/* key of the job, 0: none */
};

/* Makes a domain; @pkey 0: the caller's own. Return: partition or -errno. */
long at_domain_create(int fd, unsigned int pkey);
/* Opens a domain with one context. */
int at_ctx_open(struct at_ctx *x, unsigned int dev, const struct at_attr *attr);
/* As at_ctx_open(), on an open file of a device. */
int at_ctx_create(struct at_ctx *x, int fd, const struct at_attr *attr);
/* Adds a context to the domain of an open file; the caller closes the file. */
int at_ctx_add(struct at_ctx *x, int dom, const struct at_attr *attr);
/* Maps the memory of a context that another process made. */
int at_ctx_map(struct at_ctx *x);
void at_ctx_close(struct at_ctx *x);

/* Registers memory under the lowest free key. Return: the key, or -errno. */
int at_mr(struct at_ctx *x, const void *addr, size_t len, unsigned int access);
/* Registers memory, key by the driver. Return: 0 if *@ret is -errno. */
uint64_t at_mr_any(struct at_ctx *x, const void *addr, size_t len,
		   unsigned int access, int *ret);
int at_mr_dereg(struct at_ctx *x, uint64_t key);

/* Place of the second of two contexts, seen from the first on node 0. */
enum at_where {
	AT_SAME_CTX,
	AT_SAME_NODE,
	AT_NEIGHBOUR,
	AT_FAR,
};

/**
 * struct at_ends - two contexts of one fabric, each with a region
 * @f: fabric, of at least 8 nodes
 * @xx: memory for the first
 * @yy: memory for the second, unless the first serves as both
 * @x: the first context: @xx
 * @y: the second context: @yy, or @xx
 * @xmem: memory of @x
 * @ymem: memory of @y
 * @xkey: key of the region of @xmem, which has all rights
 * @ykey: key of the region of @ymem
 */
struct at_ends {
	struct at_fabric f;
	struct at_ctx xx;
	struct at_ctx yy;
	struct at_ctx *x;
	struct at_ctx *y;
	char *xmem;
	char *ymem;
	int xkey;
	int ykey;
};

/* @mem: bytes of each region. Close @p even after an error. */
int at_ends_open(struct at_ends *p, enum at_where where,
		 const struct at_attr *attr, size_t mem);
void at_ends_close(struct at_ends *p);
/* Allocates page-aligned zeroed memory. */
void *at_pages(size_t len);

int at_tree_set(int fd, const struct angara_tree_row *row, unsigned int flags);
int at_tree_get(int fd, unsigned int tree, struct angara_tree_get *get);
int at_tree_clear(int fd, unsigned int tree);
int at_tree_check(int fd, unsigned int tree, struct angara_tree_verify *check);
int at_delegate(int fd, unsigned int tree, unsigned int pkey);
int at_join(int fd, unsigned int tree);
int at_join_place(int fd, unsigned int tree, unsigned int place);
int at_leave(int fd, unsigned int tree);

/* ring.c: operations */

/* Writes an entry and its inline payload; -EAGAIN if the queue is full. */
int at_post(struct at_ctx *x, const struct angara_wqe *w, const void *payload);
int at_kick(struct at_ctx *x);
int at_arm(struct at_ctx *x);
/* Takes a completion, if there is one. */
bool at_poll_cqe(struct at_ctx *x, struct angara_cqe *cqe);
int at_wait_cqe(struct at_ctx *x, struct angara_cqe *cqe, unsigned int ms);
/* Post, kick, wait. Return: ANGARA_ST_* or -errno. */
int at_do(struct at_ctx *x, const struct angara_wqe *w, const void *payload);
uint64_t at_counter(const struct at_ctx *x, unsigned int n);
int at_wait_counter(struct at_ctx *x, unsigned int n, uint64_t value,
		    unsigned int ms);

/* Waits for the next message; NULL if none arrives. */
const struct angara_msg *at_wait_msg(struct at_ctx *x, unsigned int ms);
/* Returns @m to the receive buffer; kicks if senders wait. */
int at_free_msg(struct at_ctx *x, const struct angara_msg *m);

struct angara_wqe at_put(const struct at_ctx *to, uint64_t rkey, uint64_t roff,
			 uint64_t lkey, uint64_t loff, uint32_t len);
struct angara_wqe at_get(const struct at_ctx *from, uint64_t rkey, uint64_t roff,
			 uint64_t lkey, uint64_t loff, uint32_t len);
struct angara_wqe at_coll(unsigned int opcode, unsigned int tree,
			  uint64_t src_key, uint64_t dst_key, uint32_t len);
/* Sets the destination of a collective of at_coll(). */
void at_coll_dst(struct angara_wqe *w, uint64_t off);

/* at_fill() fills @p with a pattern of @seed, at_filled() checks it. */
void at_fill(void *p, size_t len, unsigned int seed);
bool at_filled(const void *p, size_t len, unsigned int seed);
/* Are all bytes @byte? */
bool at_all(const void *p, size_t len, unsigned char byte);

#endif /* ANGTEST_H */
