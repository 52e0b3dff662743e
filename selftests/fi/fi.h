/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the provider's test share.  One process plays both sides:
 * two domains on adapters of one fabric.
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
#define LONG_MS		60000	/* nothing here takes that long */
#define ALL_RIGHTS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | \
			 FI_REMOTE_READ | FI_REMOTE_WRITE)
#define BASIC		(FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* Words of old for FI_MR_*, which later headers warn of. */
#define OLD_BASIC	(1 << 0)
#define OLD_SCALABLE	(1 << 1)

/**
 * struct how - what is to be different from the defaults
 * @mr_mode: FI_MR_*
 * @caps: FI_*
 * @progress: of data
 * @cq_size: entries of the completion queue
 * @wait: what can be slept on
 * @order: FI_ORDER_*
 * @selective: completions are told of if asked for
 */
struct how {
	int mr_mode;
	uint64_t caps;
	enum fi_progress progress;
	size_t cq_size;
	enum fi_wait_obj wait;
	uint64_t order;
	bool selective;
};

struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_cntr *cntr;
	struct fid_eq *eq;	/* with FI_COLLECTIVE */
	struct fid_ep *ep;
	fi_addr_t peer;	/* the other */
	fi_addr_t self;
};

/* An address, as fi_getname() gives it. */
struct ep_name {
	uint64_t fabric;
	uint32_t node;
	uint16_t ctx;
	uint16_t ep;
	uint32_t serial;
	uint32_t reserved;
};

/* Says what is wrong and is false, if @got is not @want. */
bool expect_at(const char *file, int line, const char *what, long long got,
	       long long want);
#define expect(got, want) expect_at(__FILE__, __LINE__, #got, (got), (want))

/* Calls again as long as there is no room, and lets @side go on, as programs do. */
#define when_room(side, call) ({					\
	ssize_t ret_;							\
									\
	do {								\
		fi_cq_read((side)->cq, NULL, 0);			\
		ret_ = (call);						\
	} while (ret_ == -FI_EAGAIN);					\
	ret_;								\
})

/* Data that tells where it belongs. */
void fill(void *at, size_t len, unsigned int seed);
bool filled(const void *at, size_t len, unsigned int seed);

struct fi_info *hints_of(const struct how *how, const char *domain);
void open_side(struct side *s, const struct how *how, const char *domain);
void close_side(struct side *s);
/* Two sides that know each other. */
void open_pair(struct side s[2], const struct how *how);
void close_pair(struct side s[2]);
/* The same with @len bytes for each, all zero. */
void open_pair_mem(struct side s[2], const struct how *how, char *mem[2],
		   size_t len);
void close_pair_mem(struct side s[2], char *mem[2]);

struct fid_mr *reg(struct side *s, void *addr, size_t len, uint64_t access,
		   uint64_t key);
/* What peers address the start of a region by. */
uint64_t start_of(const struct side *s, const void *addr);

/* The next completion; fails the test if it is an error, or none comes. */
bool completion(struct side *s, struct fi_cq_tagged_entry *entry);
/* The next one is this error. */
bool error(struct side *s, int err, void *context);
struct ep_name name_of(struct fid_ep *ep);
fi_addr_t insert(struct fid_av *av, const struct ep_name *name);
/* One to whom it tells the other's address. */
void introduce(struct side *to, struct side *who, fi_addr_t *addr);
bool nothing(struct side *s);
bool closed(struct fid *fid);

/* cost.c.  Return: 0; 2 there is no such operation. */
int cost(const char *name, int count);

struct part {
	const char *name;
	bool (*run)(void);
};

extern const struct part info_parts[];
extern const struct part rma_parts[];
extern const struct part key_parts[];
extern const struct part queue_parts[];
extern const struct part msg_parts[];
extern const struct part load_parts[];
extern const struct part greedy_parts[];
extern const struct part atomic_parts[];
extern const struct part coll_parts[];
extern const struct part colltype_parts[];
extern const struct part collset_parts[];
extern const struct part collfail_parts[];
extern const struct part event_parts[];
extern const struct part lost_parts[];
extern const struct part gone_parts[];
/* Return: why these cannot run here, or NULL. */
const char *gone_lacks(void);
extern const struct part order_parts[];
extern const struct part sep_parts[];
extern const struct part sepfail_parts[];
extern const struct part sepload_parts[];
extern const struct part share_parts[];
extern const struct part trigger_parts[];

#endif /* FI_TEST_H */
