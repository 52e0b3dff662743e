/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space environment for tests of races.  A thread may pause before it
 * reads data that others write.  READ_ONCE and WRITE_ONCE are atomic accesses,
 * since ThreadSanitizer treats volatile accesses as plain ones.
 */
#include "../../../libangara/env/ang_env.h"

#ifndef ANG_PAUSE_H
#define ANG_PAUSE_H

/* In pause.c: may let other threads run, depending on a seed. */
void test_pause(void);

#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)							\
	(test_pause(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

#undef ang_load_acquire
#undef ang_store_release
#undef ang_xchg
#undef ang_fetch_add
#undef ang_fetch_or
#undef ang_fetch_and
#define ang_load_acquire(p)						\
	(test_pause(), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define ang_store_release(p, v)						\
	(test_pause(), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define ang_xchg(p, v)							\
	(test_pause(), __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_add(p, v)						\
	(test_pause(), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_or(p, v)						\
	(test_pause(), __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_and(p, v)						\
	(test_pause(), __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))

#endif /* ANG_PAUSE_H */
