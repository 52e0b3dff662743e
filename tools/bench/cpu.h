/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Binding to processors; needs _GNU_SOURCE. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

#include <sched.h>

/*
 * Binds this thread to one of the N processors that it may use: the one with index @n modulo N.
 * Index 0 is the first of these processors, -1 the last.
 * Return: 0, or -1 with errno.
 */
static inline int cpu_bind(long n)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -1;
	n %= CPU_COUNT(&all);
	if (n < 0)
		n += CPU_COUNT(&all);
	while (!CPU_ISSET(cpu, &all) || n--)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

#endif /* BENCH_CPU_H */
