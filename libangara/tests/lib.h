/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the library's test share.
 */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include <angara/angara.h>
#include <linux/angara.h>

#include "../../selftests/alone.h"
#include "parts.h"

#define LONG_MS		60000	/* nothing here takes that long */

extern struct angara_job *job;
extern struct angara_domain *dom;
extern struct angara_ctx *ctx;
extern unsigned int rank, size;

/* Says what is wrong and is false, if @got is not @want. */
bool expect(const char *what, long long got, long long want);

/* A region of @len bytes at every process, with the same key. */
struct angara_mr *region(size_t len);
void fill(void *at, size_t len, unsigned int seed);
bool filled(const char *what, const void *at, size_t len, unsigned int seed);

/* All peers by rank, from an exchange. */
const struct angara_peer *peers(void);

extern const struct part open_parts[];
extern const struct part rma_parts[];
extern const struct part onesided_parts[];
extern const struct part msg_parts[];
extern const struct part coll_parts[];
extern const struct part soft_parts[];
extern const struct part room_parts[];
extern const struct part given_parts[];
extern const struct part team_parts[];
/* Run by name only: they want something of their surroundings. */
extern const struct part named_parts[];

/* What of opening is about the adapters of a driver; lib_open.c */
bool device_names(void);
bool device_none(void);
bool device_partition(void);

/* On a file of this process's device, or the first there is, of a driver. */
int device_ioctl(unsigned long nr, void *arg);

/* Each process has one device; lib_apart.c */
bool apart(void);
/* Reduces until a node is lost; lib_endless.c */
bool endless(void);

/* A team of all does its work.  Also counts its members. */
bool works(struct angara_team *team);

#endif /* LIB_TEST_H */
