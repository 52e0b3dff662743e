// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * All test cases of the device model. --golden prints the golden trace,
 * --stress=N the trace of a random scenario.
 */
#include <string.h>

#include "test.h"

const struct test_case *const test_cases[] = {
	topo_cases, topo_kinds_cases, graph_cases, tree_cases, combine_cases, float_cases, mr_cases,
	domain_cases, link_cases,
	admin_cases, queue_cases, p2p_cases, coll_cases, credit_cases,
	down_cases, order_cases, stress_cases, hostile_cases, remote_cases,
	lost_cases, msg_cases, msg_fault_cases, msg_check_cases,
	msg_lost_cases, recover_cases, atomic_cases, life_cases, forge_cases,
	slice_cases, fence_cases, express_cases, lane_cases, hop_cases, cast_cases, retry_cases,
	fault_cases, detour_cases, route_cases, route_bad_cases, route_change_cases,
	mgmt_cases, mgmt_bad_cases, NULL,
};

int test_option(const char *option)
{
	if (!strncmp(option, "--stress=", 9))
		return stress_print(stdout, strtoull(option + 9, NULL, 0));
	return strcmp(option, "--golden") ? -1 : golden_print(stdout);
}
