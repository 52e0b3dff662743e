/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of a fabric, for readers.
 *
 * Each reader has a ring.  Records are put into it while the model runs, and
 * the reader takes them out.  A reader that is too slow misses records and gets
 * the number of lost records; the model never waits.
 *
 *   traces.lock	the list, all rings
 *   traces.count	atomic; number of readers
 */
#ifndef ANGARA_VFIO_TRACE_H
#define ANGARA_VFIO_TRACE_H

#include <pthread.h>

#include "ang_model.h"

#define TRACE_RING	16384U	/* records */
#define TRACE_ALL	ANG_NONE

/**
 * struct trace_rec - a record
 * @ns: time, since 1970
 * @lost: records that were lost directly before this record
 * @rec: the record of the model
 */
struct trace_rec {
	u64 ns;
	u64 lost;
	struct ang_trace rec;
};

/**
 * struct tracer - a reader
 * @next: next reader in the list
 * @node: node whose packets are recorded, or TRACE_ALL
 * @head: records taken
 * @tail: records put in
 * @lost: records lost since the last record in @ring
 * @ring: records
 */
struct tracer {
	struct tracer *next;
	u32 node;
	u32 head;
	u32 tail;
	u64 lost;
	struct trace_rec ring[TRACE_RING];
};

struct traces {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct tracer *list;
	u32 count;
};

void traces_init(struct traces *t);
void traces_destroy(struct traces *t);
struct tracer *traces_add(struct traces *t, u32 node);
void traces_remove(struct traces *t, struct tracer *tracer);
void traces_record(struct traces *t, const struct ang_trace *rec);
u32 traces_take(struct traces *t, struct tracer *tracer, struct trace_rec *out,
		u32 max, u32 wait_ms);

/* pcapng.c: blocks of a capture file. */
#define PCAPNG_MAX_BLOCK	256U	/* most bytes of a block */

u32 pcapng_header(void *buf);
u32 pcapng_interface(void *buf, u32 node);
u32 pcapng_packet(void *buf, u32 interface, const struct trace_rec *rec);

#endif /* ANGARA_VFIO_TRACE_H */
