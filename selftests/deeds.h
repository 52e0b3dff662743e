/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that make random calls at random times on the files of their process.
 */
#ifndef ANGTEST_DEEDS_H
#define ANGTEST_DEEDS_H

#include <stdbool.h>
#include <stdint.h>

#define AT_DEED_FILES	3
#define AT_DEED_TREE	13
#define AT_DEED_MEM	(1U << 18)

/**
 * struct at_deeds - shared by the threads of a process
 * @first: number of the first device that they use
 * @devs: number of devices that they use
 * @go: devices may disappear while they are in use
 * @pkey: partition
 * @fd: open files; any thread may replace any of them
 * @mem: AT_DEED_MEM bytes for all regions
 * @sq_offset: offset at which queues are mapped; the same for all contexts
 * @ctl_offset: likewise
 * @stop: ends the threads
 */
struct at_deeds {
	unsigned int first;
	unsigned int devs;
	bool go;
	uint32_t pkey;
	int fd[AT_DEED_FILES];
	int ctx[AT_DEED_FILES];
	char *mem;
	volatile uint64_t sq_offset;
	volatile uint64_t ctl_offset;
	volatile bool stop;
};

/**
 * struct at_doer - a thread
 * @d: state of its process
 * @seed: determines its calls
 * @bad: results that no call may return
 * @calls: calls so far
 */
struct at_doer {
	struct at_deeds *d;
	unsigned long seed;
	volatile unsigned int bad;
	volatile unsigned long calls;
};

/* Opens @first, which must be there. */
int at_deeds_open(struct at_deeds *d, unsigned int first, unsigned int devs,
		  bool go);
void at_deeds_close(struct at_deeds *d);
/* Thread function, of a struct at_doer. */
void *at_deeds_work(void *doer);

#endif /* ANGTEST_DEEDS_H */
