// SPDX-License-Identifier: GPL-2.0-only
/*
 * List of all test cases of angara-vfio.
 */
#include "client.h"

const struct test_case *const test_cases[] = {
	version_cases, proto_cases, pci_cases, dma_cases, irq_cases, work_cases, manage_cases, NULL,
};

int test_option(const char *option)
{
	(void)option;
	return -1;
}
