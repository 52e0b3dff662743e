/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The type classes of OpenSHMEM 1.5: X(TYPENAME, TYPE) for each of their types,
 * and X(SIZE, bytes) for the sizes.  shmem.h generates declarations from them,
 * the library definitions.
 */
#ifndef SHMEM_TYPES_H
#define SHMEM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
__extension__ typedef float _Complex shmemi_complexf;
__extension__ typedef double _Complex shmemi_complexd;
__extension__ typedef long long shmemi_longlong;
__extension__ typedef unsigned long long shmemi_ulonglong;
#else
typedef float _Complex shmemi_complexf;
typedef double _Complex shmemi_complexd;
typedef long long shmemi_longlong;
typedef unsigned long long shmemi_ulonglong;
#endif

#define SHMEMI_INTS_FIXED(X) \
	X(int8, int8_t) X(int16, int16_t) X(int32, int32_t) X(int64, int64_t) \
	X(uint8, uint8_t) X(uint16, uint16_t) X(uint32, uint32_t) \
	X(uint64, uint64_t) X(size, size_t)
#define SHMEMI_FLOATS(X) \
	X(float, float) X(double, double) X(longdouble, long double)

/* Standard types: for puts, gets and collectives that copy. */
#define SHMEMI_RMA_TYPES(X) \
	SHMEMI_FLOATS(X) X(char, char) X(schar, signed char) X(short, short) \
	X(int, int) X(long, long) X(longlong, shmemi_longlong) \
	X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) \
	X(ulong, unsigned long) X(ulonglong, shmemi_ulonglong) \
	SHMEMI_INTS_FIXED(X) X(ptrdiff, ptrdiff_t)

/* Standard, extended and bitwise types of atomic operations. */
#define SHMEMI_AMO_TYPES(X) \
	X(int, int) X(long, long) X(longlong, shmemi_longlong) \
	X(uint, unsigned int) X(ulong, unsigned long) \
	X(ulonglong, shmemi_ulonglong) X(int32, int32_t) X(int64, int64_t) \
	X(uint32, uint32_t) X(uint64, uint64_t) X(size, size_t) \
	X(ptrdiff, ptrdiff_t)
#define SHMEMI_XAMO_TYPES(X) \
	SHMEMI_AMO_TYPES(X) X(float, float) X(double, double)
#define SHMEMI_BITWISE_TYPES(X) \
	X(uint, unsigned int) X(ulong, unsigned long) \
	X(ulonglong, shmemi_ulonglong) X(int32, int32_t) X(int64, int64_t) \
	X(uint32, uint32_t) X(uint64, uint64_t)

/* Types of shmem_wait_until() and shmem_test(). */
#define SHMEMI_SYNC_TYPES(X) \
	SHMEMI_AMO_TYPES(X) X(short, short) X(ushort, unsigned short)
/* Types of the deprecated shmem_TYPENAME_wait(). */
#define SHMEMI_WAIT_TYPES(X) \
	X(short, short) X(int, int) X(long, long) X(longlong, shmemi_longlong)

/* Reductions of teams. */
#define SHMEMI_AND_TYPES(X) \
	X(uchar, unsigned char) X(ushort, unsigned short) X(uint, unsigned int) \
	X(ulong, unsigned long) X(ulonglong, shmemi_ulonglong) \
	SHMEMI_INTS_FIXED(X)
#define SHMEMI_MIN_TYPES(X) SHMEMI_RMA_TYPES(X)
#define SHMEMI_SUM_TYPES(X) \
	SHMEMI_RMA_TYPES(X) X(complexd, shmemi_complexd) \
	X(complexf, shmemi_complexf)
/* Reductions of active sets, deprecated. */
#define SHMEMI_AND_TO_ALL_TYPES(X) SHMEMI_WAIT_TYPES(X)
#define SHMEMI_MIN_TO_ALL_TYPES(X) SHMEMI_WAIT_TYPES(X) SHMEMI_FLOATS(X)
#define SHMEMI_SUM_TO_ALL_TYPES(X) \
	SHMEMI_MIN_TO_ALL_TYPES(X) X(complexd, shmemi_complexd) \
	X(complexf, shmemi_complexf)

/* Sizes in bits, each with its number of bytes. */
#define SHMEMI_SIZES(X)		X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)
#define SHMEMI_COLL_SIZES(X)	X(32, 4) X(64, 8)

#endif /* SHMEM_TYPES_H */
