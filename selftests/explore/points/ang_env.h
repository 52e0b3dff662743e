/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space environment in which every access to data that views share is
 * a point, where another routine may continue, and where a store may be
 * delayed; see turns.c.
 */
#include "../../../libangara/env/ang_env.h"

#ifndef EXPLORE_ENV_H
#define EXPLORE_ENV_H

/* Number of points until the next turn. */
extern long explore_left;

void explore_point(const char *file, int line, const char *what);
/* Called before a store of up to 8 bytes, which may be delayed. */
void explore_store(void *at, u32 size);
/* Makes all stores so far visible to all routines. */
void explore_fence(void);

#define EXPLORE(what)							\
do {									\
	if (--explore_left <= 0)					\
		explore_point(__FILE__, __LINE__, what);		\
} while (0)

#define EXPLORE_LATE(p)	explore_store((void *)(p), sizeof(*(p)))

#undef READ_ONCE
#undef WRITE_ONCE
#undef ang_load_acquire
#undef ang_store_release
#undef ang_mb
#undef ang_xchg
#undef ang_fetch_add
#undef ang_fetch_or
#undef ang_fetch_and
#undef ang_cmpxchg

#define READ_ONCE(x)							\
({									\
	EXPLORE("read " #x);						\
	*(const volatile __typeof__(x) *)&(x);				\
})
#define ang_load_acquire(p)						\
({									\
	EXPLORE("load " #p);						\
	__atomic_load_n((p), __ATOMIC_ACQUIRE);				\
})
#define WRITE_ONCE(x, v)						\
do {									\
	__typeof__(x) val_ = (v);					\
									\
	EXPLORE("write " #x);						\
	EXPLORE_LATE(&(x));						\
	*(volatile __typeof__(x) *)&(x) = val_;				\
} while (0)
#define ang_store_release(p, v)						\
do {									\
	__typeof__(*(p)) val_ = (v);					\
									\
	EXPLORE("store " #p);						\
	EXPLORE_LATE(p);						\
	*(volatile __typeof__(*(p)) *)(p) = val_;			\
} while (0)
#define ang_mb()							\
do {									\
	EXPLORE("barrier");						\
	explore_fence();						\
} while (0)

#define EXPLORE_RMW(name, p, op)					\
({									\
	EXPLORE(name " " #p);						\
	explore_fence();						\
	op;								\
})
#define ang_xchg(p, v)							\
	EXPLORE_RMW("xchg", p, __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_add(p, v)						\
	EXPLORE_RMW("add", p, __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_or(p, v)						\
	EXPLORE_RMW("or", p, __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST))
#define ang_fetch_and(p, v)						\
	EXPLORE_RMW("and", p, __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))
#define ang_cmpxchg(p, old, new)					\
({									\
	__typeof__(*(p)) ang_old_ = (old);				\
									\
	EXPLORE("cmpxchg " #p);						\
	explore_fence();						\
	(void)__atomic_compare_exchange_n((p), &ang_old_, (new), false,	\
					  __ATOMIC_SEQ_CST,		\
					  __ATOMIC_SEQ_CST);		\
	ang_old_;							\
})

#endif /* EXPLORE_ENV_H */
