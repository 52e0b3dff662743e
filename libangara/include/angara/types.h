/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: what all its headers have in common: addresses, requests, status.
 *
 * Conventions are those of angara/angara.h.
 */
#ifndef ANGARA_TYPES_H
#define ANGARA_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <linux/angara.h>

#ifdef __cplusplus
extern "C" {
#endif

struct angara_job;
struct angara_ctx;
struct angara_mr;
struct angara_team;

/** An operation under way; names nothing once it has been waited for. */
typedef uint64_t angara_req_t;

#define ANGARA_FOREVER		(-1)	/* timeout_ms: no deadline */
#define ANGARA_NO_NOTIFY	(-1)	/* notify: nobody is told */

/** What a peer is addressed by. */
struct angara_peer {
	uint32_t node;
	uint16_t ctx;
	uint16_t reserved;
};

/**
 * struct angara_status - how an operation ended
 * @status: ANGARA_ST_*
 * @node: node at fault if @status is not ANGARA_ST_OK
 * @length: bytes done
 */
struct angara_status {
	uint32_t status;
	uint32_t node;
	uint64_t length;
};

int angara_status_errno(uint32_t status);
const char *angara_status_str(uint32_t status);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_TYPES_H */
