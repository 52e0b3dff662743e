/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common parts of the provider's test.  One process has both sides: two domains
 * on adapters of one fabric.
 */
#ifndef FI_TEST_H
#define FI_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#define API		FI_VERSION(1, 17)
#define LONG_MS		60000	/* limit for any wait */
#define ALL_RIGHTS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)
/* Modes that a program offers; modes of the domain that open_side() opens for BASIC. */
#define BASIC		(FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define PROV_KEYS	(FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* Old names of FI_MR_*, deprecated in later headers. */
#define OLD_BASIC	(1 << 0)
#define OLD_SCALABLE	(1 << 1)

/**
 * struct how - differences from the defaults
 * @mr_mode: FI_MR_*
 * @caps: FI_*
 * @progress: mode of data progress
 * @threading: FI_THREAD_*
 * @cq_size: entries of the completion queue
 * @wait: wait object
 * @order: FI_ORDER_*
 * @selective: completions are reported only on request
 * @version: libfabric's interface version, or 0
 */
struct how {
	int mr_mode;
	uint64_t caps;
	enum fi_progress progress;
	enum fi_threading threading;
	size_t cq_size;
	enum fi_wait_obj wait;
	uint64_t order;
	bool selective;
	uint32_t version;
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_eq *eq;	/* only with FI_COLLECTIVE */
	struct fid_ep *ep;
	fi_addr_t peer;	/* the other side's address */
	fi_addr_t self;
};

/* An address as returned by fi_getname(). */
struct ep_name {
	uint64_t fabric;
	uint32_t node;
	uint16_t ctx;
	uint16_t ep;
	uint32_t serial;
	uint32_t reserved;
};

/* Prints an error and returns false if @got is not @want. */
bool expect_at(const char *file, int line, const char *what, long long got,
	       long long want);
#define expect(got, want) expect_at(__FILE__, __LINE__, #got, (got), (want))

/* Repeats the call while it returns -FI_EAGAIN, with progress on @side. */
#define when_room(side, call) ({					\
	ssize_t ret_;							\
									\
	do {								\
		fi_cq_read((side)->cq, NULL, 0);			\
		ret_ = (call);						\
	} while (ret_ == -FI_EAGAIN);					\
	ret_;								\
})

/* Fills memory with data that depends on its position and @seed. */
void fill(void *at, size_t len, unsigned int seed);
bool filled(const void *at, size_t len, unsigned int seed);

struct fi_info *hints_of(const struct how *how, const char *domain);
void open_side(struct side *s, const struct how *how, const char *domain);
void close_side(struct side *s);
/* Opens two sides that have each other's addresses. */
void open_pair(struct side s[2], const struct how *how);
void close_pair(struct side s[2]);
/* As open_pair(), with @len zero bytes of memory for each side. */
void open_pair_mem(struct side s[2], const struct how *how, char *mem[2],
		   size_t len);
void close_pair_mem(struct side s[2], char *mem[2]);

struct fid_mr *reg(struct side *s, void *addr, size_t len, uint64_t access,
		   uint64_t key);
/* Return: the address by which peers access the start of a region. */
uint64_t start_of(const struct side *s, const void *addr);

/* Takes the next completion; the test fails if it is an error or missing. */
bool completion(struct side *s, struct fi_cq_tagged_entry *entry);
/* Takes the next completion; the test fails if it is not this error. */
bool error(struct side *s, int err, void *context);
struct ep_name name_of(struct fid_ep *ep);
fi_addr_t insert(struct fid_av *av, const struct ep_name *name);
/* Inserts the address of @who in the address vector of @to; @addr: out. */
void introduce(struct side *to, struct side *who, fi_addr_t *addr);
bool nothing(struct side *s);
bool closed(struct fid *fid);
/* Do all other threads, at least @least of them, block all signals? */
bool threads_take_no_signals(int least);

/* Called for each poll of the provider, with the domain locked; or NULL. */
extern void (*at_poll)(void);
/* If true, the provider sees no completions of the adapter. */
extern _Atomic bool harvest_stuck;
/* If true, @harvest_stuck becomes false when a context is armed. */
extern _Atomic bool stuck_until_arm;
/**
 * struct loss - messages that do not arrive: there is no path to the receiver
 * @kind: kind of these messages, AFI_MSG_*
 * @count: number of next messages that are lost
 * @cookie: cookie of the lost message in flight, or 0
 */
struct loss {
	unsigned int kind;
	int count;
	uint64_t cookie;
};

extern struct loss loss;
/* Number of completions, from the next one on, that report: no path to the node or back. */
extern int cut_off;
/**
 * struct pace - how often the provider probes peers
 * @rounds: how often the provider has set the timer
 * @probes: number of reads of a peer's directory
 */
struct pace {
	_Atomic int rounds;
	_Atomic int probes;
};

extern struct pace pace;
/* Set when a call of the provider waits for a completion. */
extern bool call_waited;

/* Defined in cost.c. Return: 0, or 2 if there is no such operation. */
int cost(const char *name, int count);

struct part {
	const char *name;
	bool (*run)(void);
};

extern const struct part info_parts[];
extern const struct part nic_parts[];
extern const struct part service_parts[];
extern const struct part rma_parts[];
extern const struct part key_parts[];
extern const struct part late_parts[];
extern const struct part queue_parts[];
extern const struct part msg_parts[];
extern const struct part load_parts[];
extern const struct part greedy_parts[];
extern const struct part cache_parts[];
extern const struct part atomic_parts[];
extern const struct part coll_parts[];
extern const struct part colltype_parts[];
extern const struct part collset_parts[];
extern const struct part collfail_parts[];
extern const struct part event_parts[];
extern const struct part lost_parts[];
extern const struct part gone_parts[];
/* Return: why the tests of gone.c cannot run here, or NULL. */
const char *gone_lacks(void);
extern const struct part order_parts[];
extern const struct part sep_parts[];
extern const struct part sepfail_parts[];
extern const struct part sepload_parts[];
extern const struct part crowd_parts[];
extern const struct part shared_parts[];
extern const struct part many_parts[];
extern const struct part share_parts[];
extern const struct part trigger_parts[];
extern const struct part alias_parts[];
extern const struct part table_parts[];

#endif /* FI_TEST_H */
