/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the parts of the library's test. */
#ifndef LIB_TEST_H
#define LIB_TEST_H

#include <stdbool.h>
#include <stdint.h>

#include <angara/angara.h>
#include <linux/angara.h>

#include "../common/alone.h"
#include "parts.h"

#define LONG_MS		60000	/* limit that no step reaches */

extern struct angara_job *job;
extern struct angara_domain *dom;
extern struct angara_ctx *ctx;
extern unsigned int rank, size;

/* If @got is not @want, prints @what and returns false. */
bool expect(const char *what, long long got, long long want);

/* Return: a team of all processes, in software; all processes call this. */
struct angara_team *everybody(void);
/* Return: a region of @len bytes at every process, with the same key. */
struct angara_mr *region(size_t len);
/* Return: a region of @len bytes of this process. */
struct angara_mr *own_region(size_t len);
void fill(void *at, size_t len, unsigned int seed);
bool filled(const char *what, const void *at, size_t len, unsigned int seed);

/*
 * Maps memory that is not registered, at the address @at, or at any address if
 * @at is NULL.
 */
char *pages_at(void *at, size_t len);
struct angara_mr_cache_info cache_info(struct angara_domain *d);
/*
 * Is the fabric embedded?  Then it copies data with memcpy(3), without a cache
 * of addresses.
 */
bool embedded(void);

static inline uint64_t address(const void *p)
{
	return (uintptr_t)p;
}

/* Return: the addresses of all processes, by rank. */
const struct angara_peer *peers(void);

extern const struct part open_parts[];
extern const struct part adapters_parts[];
extern const struct part keys_parts[];
extern const struct part rma_parts[];
extern const struct part cache_parts[];
extern const struct part held_parts[];
extern const struct part onesided_parts[];
extern const struct part msg_parts[];
extern const struct part coll_parts[];
extern const struct part soft_parts[];
extern const struct part reducer_parts[];
extern const struct part numbers_parts[];
extern const struct part event_parts[];
extern const struct part rings_parts[];
extern const struct part room_parts[];
extern const struct part stray_parts[];
extern const struct part given_parts[];
extern const struct part team_parts[];
extern const struct part stripes_parts[];
extern const struct part manage_parts[];
/*
 * These and the following parts are run by name only: they need a prepared
 * environment.
 */
extern const struct part kinds_parts[];
extern const struct part lease_parts[];
extern const struct part named_parts[];

/* Opens adapters of a driver by name; lib_open.c */
bool device_names(void);
bool device_none(void);
bool device_partition(void);

/* Calls ioctl() on this process's device file of the driver, or on the first device's. */
int device_ioctl(unsigned long nr, void *arg);

/* Teams of processes that each have only one device; lib_apart.c */
bool apart(void);
/* Prints the keys of many regions; lib_keys.c */
bool said_keys(void);
/* Prints the number of trees of a team by default; lib_stripes.c */
bool said_trees(void);
/* Reduces until a node is lost; lib_endless.c */
bool endless(void);

/* Checks by an allreduce that exactly the members of the team take part. */
bool works(struct angara_team *team);

#endif /* LIB_TEST_H */
