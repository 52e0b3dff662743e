/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail, and copies from and to user space: the kernel counts
 * those of a thread, and fails the one whose number it is told.
 */
#ifndef ANGTEST_FAIL_H
#define ANGTEST_FAIL_H

#include <stdbool.h>

/* More than any call needs; at which a sweep has gone wrong. */
#define AT_ENDLESS	20000

/* Skips the program where the kernel cannot do it, or something is missing. */
void at_fail_require(unsigned int what);
/* A file of this thread's for at_fail_arm(), or -errno. */
int at_fail_open(void);
/* From here on the thread's allocations are counted, number @nth fails. */
int at_fail_arm(int fd, unsigned int nth);
/* Has one failed? Ends the counting. */
bool at_fail_disarm(int fd);
/* Is it an error by which a call may say that an allocation has failed? */
bool at_fail_says_so(int ret);

#endif /* ANGTEST_FAIL_H */
