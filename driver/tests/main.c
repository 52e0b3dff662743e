// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the driver's core: the module.  They use it as a transport
 * does, through what it exports, and as a process does, through the files of
 * its devices.
 */
#include <linux/module.h>

#include "fake.h"

kunit_test_suites(&queue_suite, &mr_suite, &admin_suite, &device_suite,
		  &tree_suite, &restart_suite);

MODULE_DESCRIPTION("KUnit tests of the Angara driver");
MODULE_LICENSE("GPL");
ANG_IMPORT_NS();
