/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test cases and expectations.  A failed expectation ends its case.
 */
#ifndef TEST_TEST_H
#define TEST_TEST_H

#include <setjmp.h>
#include "host.h"

struct test_case {
	const char *name;
	void (*run)(void);
};

extern jmp_buf test_failed;
extern char test_why[512];	/* text of the last failure */

__attribute__((noreturn, format(printf, 3, 4)))
void test_fail(const char *file, int line, const char *format, ...);

#define EXPECT(cond)							\
do {									\
	if (!(cond))							\
		test_fail(__FILE__, __LINE__, "%s", #cond);		\
} while (0)

#define EXPECT_EQ(a, b)							\
do {									\
	unsigned long long a_ = (unsigned long long)(a);		\
	unsigned long long b_ = (unsigned long long)(b);		\
									\
	if (a_ != b_)							\
		test_fail(__FILE__, __LINE__, "%s is %llu, %s is %llu",	\
			  #a, a_, #b, b_);				\
} while (0)

#define NUM(array)	(sizeof(array) / sizeof(*(array)))

extern const struct test_case topo_cases[], topo_kinds_cases[], graph_cases[], tree_cases[],
	combine_cases[], float_cases[], mr_cases[], domain_cases[], link_cases[], admin_cases[], queue_cases[],
	p2p_cases[], coll_cases[], credit_cases[], down_cases[], order_cases[],
	stress_cases[], hostile_cases[], remote_cases[], lost_cases[],
	msg_cases[], msg_fault_cases[], msg_check_cases[], msg_lost_cases[],
	recover_cases[], atomic_cases[], life_cases[], forge_cases[], slice_cases[],
	fence_cases[], express_cases[], lane_cases[], hop_cases[], cast_cases[], retry_cases[],
	fault_cases[], detour_cases[], route_cases[], route_bad_cases[], route_change_cases[],
	mgmt_cases[], mgmt_bad_cases[];

/* The lists of cases of a program, up to a NULL. */
extern const struct test_case *const test_cases[];
/* Return: exit status of the program, or -1 if the option is unknown. */
int test_option(const char *option);

int golden_print(FILE *to);
/*
 * Runs and checks a random scenario of t_stress.c, and prints its fabric, its
 * packets and the sums of all counters.  Return: 1 if it failed.
 */
int stress_print(FILE *to, u64 seed);

#endif /* TEST_TEST_H */
