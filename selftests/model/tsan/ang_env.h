/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space environment for ThreadSanitizer, which takes a volatile
 * access for a plain one.
 */
#include "../../../libangara/env/ang_env.h"

#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
