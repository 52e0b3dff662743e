/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations, and copies from and to user space, that fail: the kernel counts
 * those of a thread and fails the one with a given number.
 */
#ifndef ANGTEST_FAIL_H
#define ANGTEST_FAIL_H

#include <stdbool.h>

/* More allocations than any call makes; a sweep that gets there is wrong. */
#define AT_ENDLESS	20000

/*
 * Skips the program if the kernel has no fault injection, or if the machine
 * lacks something in @what.
 */
void at_fail_require(unsigned int what);
/* Opens the thread's file for at_fail_arm().  Return: the file, or -errno. */
int at_fail_open(void);
/* Counts the thread's allocations from now on; number @nth fails. */
int at_fail_arm(int fd, unsigned int nth);
/* Ends the counting. Return: has an allocation failed? */
bool at_fail_disarm(int fd);
/* May the error @ret report a failed allocation? */
bool at_fail_says_so(int ret);

#endif /* ANGTEST_FAIL_H */
