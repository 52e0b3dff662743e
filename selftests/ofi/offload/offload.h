/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common parts of the test.  The test is a job of angara-run; every process is
 * a member of groups.
 */
#ifndef FI_OFFLOAD_H
#define FI_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <angara/angara.h>
#include <linux/angara.h>

#include "parts.h"

#define MAX_RANKS	16
#define LONG_S		120	/* limit for any wait */

extern struct angara_job *job;
extern unsigned int rank, size;
extern unsigned int nodes;	/* number of nodes with members */
extern struct fid_domain *domain;
extern struct fid_ep *ep;

/**
 * struct group - a group that this process is in
 * @set: addresses
 * @mc: group
 * @addr: address in operations
 * @size: members
 * @rank: rank of this process in it
 * @ranks: ranks of all members, in the job
 */
struct group {
	struct fid_av_set *set;
	struct fid_mc *mc;
	fi_addr_t addr;
	unsigned int size;
	unsigned int rank;
	unsigned int ranks[MAX_RANKS];
};

/* Packets that links have carried for trees: to roots, and from them. */
struct links {
	unsigned long long up;
	unsigned long long down;
};

bool expect_at(const char *file, int line, const char *what, long long got,
	       long long want);
#define expect(got, want) expect_at(__FILE__, __LINE__, #got, (got), (want))

/* Joins a group of @ranks; NULL: of all processes of the job. */
bool join(struct group *g, const unsigned int *ranks, unsigned int n);
/* join_start() does not wait; join_wait() waits for @n started joins. */
bool join_start(struct group *g, const unsigned int *ranks, unsigned int n);
bool join_wait(unsigned int n);
bool leave(struct group *g);
fi_addr_t addr_of(const struct group *g, unsigned int member);

/* Waits for the operation with this context.  Return: 0 or FI_E*. */
int await(void *context);
/* As await(), for an operation just started; @started: that call's result. */
int done(ssize_t started, void *context);
void look(void);
double now(void);

/* Gets the packets that links have carried so far, between barriers. */
bool links(struct links *l);
bool together(void);

extern const struct part result_parts[];
extern const struct part group_parts[];
/* These parts run by name only: they need their own job, or check nothing. */
extern const struct part lone_parts[];
extern const struct part time_parts[];

#endif /* FI_OFFLOAD_H */
