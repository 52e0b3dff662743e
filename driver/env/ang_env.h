/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device model needs from its environment, for the kernel.
 *
 * libangara/env/ang_env.h defines the same names with the same meaning for
 * processes.  All read-modify-write operations are fully ordered and return the
 * previous value.
 */
#ifndef ANG_ENV_H
#define ANG_ENV_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#define ang_load_acquire(p)	smp_load_acquire(p)	/* explained at each use */
#define ang_store_release(p, v)	smp_store_release(p, v)	/* explained at each use */
#define ang_mb()		smp_mb()		/* explained at each use */

#define ang_cmpxchg(p, old, new)	cmpxchg(p, old, new)
#define ang_xchg(p, v)			xchg(p, v)

/* Fetch operations on plain words; the kernel has them for atomic_t only. */
#define ANG_FETCH(p, op, v)						\
({									\
	typeof(p) ang_p_ = (p);						\
	typeof(*ang_p_) ang_v_ = (v);					\
	typeof(*ang_p_) ang_old_ = READ_ONCE(*ang_p_);			\
									\
	while (!try_cmpxchg(ang_p_, &ang_old_, ang_old_ op ang_v_))	\
		;							\
	ang_old_;							\
})

#define ang_fetch_or(p, v)	ANG_FETCH(p, |, v)
#define ang_fetch_and(p, v)	ANG_FETCH(p, &, v)
#define ang_fetch_add(p, v)	ANG_FETCH(p, +, v)

#endif /* ANG_ENV_H */
