/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that make random calls at random times on the files of their process.
 */
#ifndef ANGTEST_RANDCALLS_H
#define ANGTEST_RANDCALLS_H

#include <stdbool.h>
#include <stdint.h>

#define AT_RANDCALLS_FILES	3
#define AT_RANDCALLS_TREE	13
#define AT_RANDCALLS_MEM	(1U << 18)

/**
 * struct at_randcalls - shared by the threads of a process
 * @first: number of the first device that they use
 * @devs: number of devices that they use
 * @go: devices may be removed while they are in use
 * @pkey: partition
 * @fd: open files; any thread may replace any of them
 * @mem: AT_RANDCALLS_MEM bytes for all regions
 * @sq_offset: offset for mapping queues; the same for all contexts
 * @ctl_offset: offset for mapping struct angara_ctl; the same for all contexts
 * @stop: ends the threads
 */
struct at_randcalls {
	unsigned int first;
	unsigned int devs;
	bool go;
	uint32_t pkey;
	int fd[AT_RANDCALLS_FILES];
	int ctx[AT_RANDCALLS_FILES];
	char *mem;
	volatile uint64_t sq_offset;
	volatile uint64_t ctl_offset;
	volatile bool stop;
};

/**
 * struct at_caller - a thread
 * @d: state of its process
 * @seed: determines its calls
 * @bad: number of results that no call may return
 * @calls: calls so far
 */
struct at_caller {
	struct at_randcalls *d;
	unsigned long seed;
	volatile unsigned int bad;
	volatile unsigned long calls;
};

/* Opens the devices from @first on; @first itself has to exist. */
int at_randcalls_open(struct at_randcalls *d, unsigned int first, unsigned int devs,
		      bool go);
void at_randcalls_close(struct at_randcalls *d);
/* Thread function; its argument is a struct at_caller. */
void *at_randcalls_work(void *caller);

#endif /* ANGTEST_RANDCALLS_H */
