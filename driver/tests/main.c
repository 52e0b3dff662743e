// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module with KUnit tests of the driver's core.  The tests use the core as
 * a transport does, through exported functions, and as a process does, through
 * device files.
 */
#include <linux/module.h>

#include "fake.h"

kunit_test_suites(&queue_suite, &mr_suite, &admin_suite, &device_suite,
		  &tree_suite, &restart_suite);

MODULE_DESCRIPTION("KUnit tests of the Angara driver");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
