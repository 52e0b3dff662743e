/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's harness, with a longer timeout: a guest on a busy machine may
 * take twenty times as long as on an idle one.
 */
#ifndef ANGTEST_HARNESS_H
#define ANGTEST_HARNESS_H

#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	240

#endif /* ANGTEST_HARNESS_H */
