/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail, and copies from and to user space: the kernel counts
 * those of a thread, and fails the one with a given number.
 */
#ifndef ANGTEST_FAIL_H
#define ANGTEST_FAIL_H

#include <stdbool.h>

/* More than any call makes; a sweep that gets there is wrong. */
#define AT_ENDLESS	20000

/*
 * Skips the program if the kernel has no fault injection, or something is
 * missing.
 */
void at_fail_require(unsigned int what);
/* The file of this thread for at_fail_arm(), or -errno. */
int at_fail_open(void);
/* Counts the thread's allocations from now on; number @nth fails. */
int at_fail_arm(int fd, unsigned int nth);
/* Has one failed? Ends the counting. */
bool at_fail_disarm(int fd);
/* Is it an error that may report a failed allocation? */
bool at_fail_says_so(int ret);

#endif /* ANGTEST_FAIL_H */
