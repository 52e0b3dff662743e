/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions and types that the device model needs from its environment, for
 * user space.
 *
 * For the kernel, driver/env/ang_env.h defines the same names with the same
 * meaning.  This file needs a compiler and linux/types.h, but no C library: it
 * works with -ffreestanding.  Read-modify-write operations are sequentially
 * consistent, as in the kernel if they return a value.
 */
#ifndef ANG_ENV_H
#define ANG_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#ifdef __CHECKER__
#define __force __attribute__((force))
#else
#define __force
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ANG_SWAP(bits, x)	(x)
#else
#define ANG_SWAP(bits, x)	__builtin_bswap##bits(x)
#endif

#define cpu_to_le16(x)	((__force __le16)(u16)ANG_SWAP(16, (u16)(x)))
#define cpu_to_le32(x)	((__force __le32)(u32)ANG_SWAP(32, (u32)(x)))
#define cpu_to_le64(x)	((__force __le64)(u64)ANG_SWAP(64, (u64)(x)))
#define le16_to_cpu(x)	((u16)ANG_SWAP(16, (__force u16)(__le16)(x)))
#define le32_to_cpu(x)	((u32)ANG_SWAP(32, (__force u32)(__le32)(x)))
#define le64_to_cpu(x)	((u64)ANG_SWAP(64, (__force u64)(__le64)(x)))

/*
 * Identical to the definitions of the C library, whose headers may also be
 * included.
 */
#ifndef static_assert
#define static_assert _Static_assert
#endif

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#define ____cacheline_aligned	__attribute__((aligned(64)))

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))

#ifdef __CHECKER__	/* sparse supports these for integers only */
#define ang_load_acquire(p)	(*(p))
#define ang_store_release(p, v)	((void)(*(p) = (v)))
#else
#define ang_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define ang_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#endif
#define ang_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

/* All of these return the old value, as in the kernel. */
#define ang_xchg(p, v)		__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
#define ang_fetch_add(p, v)	__atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST)
#define ang_fetch_or(p, v)	__atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST)
#define ang_fetch_and(p, v)	__atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST)
#define ang_cmpxchg(p, old, new)					\
({									\
	__typeof__(*(p)) ang_old_ = (old);				\
									\
	(void)__atomic_compare_exchange_n((p), &ang_old_, (new), false,	\
					  __ATOMIC_SEQ_CST,		\
					  __ATOMIC_SEQ_CST);		\
	ang_old_;							\
})

#endif /* ANG_ENV_H */
