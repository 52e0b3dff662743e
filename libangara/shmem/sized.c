// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Puts and gets for each type and size.
 */
#include "shi.h"

#define SIG	((struct shi_signal){ sig_addr, signal, sig_op })
#define STRIDE(bytes)	((struct shi_stride){ dst, sst, bytes, nelems })

#define RMA(N, T) \
	SHI_BOTH(void, N##_put, (T *dest, const T *source, size_t nelems, int pe), \
		 shi_put(ctx, dest, source, shi_times(nelems, sizeof(T)), pe)) \
	SHI_BOTH(void, N##_p, (T *dest, T value, int pe), \
		 shi_put(ctx, dest, &value, sizeof(T), pe)) \
	SHI_BOTH(void, N##_iput, (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
				  size_t nelems, int pe), \
		 shi_iput(ctx, dest, source, STRIDE(sizeof(T)), pe)) \
	SHI_BOTH(void, N##_get, (T *dest, const T *source, size_t nelems, int pe), \
		 shi_get(ctx, dest, source, shi_times(nelems, sizeof(T)), pe)) \
	SHI_BOTH(T, N##_g, (const T *source, int pe), \
		 T value; shi_get(ctx, &value, source, sizeof(T), pe); return value) \
	SHI_BOTH(void, N##_iget, (T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
				  size_t nelems, int pe), \
		 shi_iget(ctx, dest, source, STRIDE(sizeof(T)), pe)) \
	SHI_BOTH(void, N##_put_nbi, (T *dest, const T *source, size_t nelems, int pe), \
		 shi_put_nbi(ctx, dest, source, shi_times(nelems, sizeof(T)), pe)) \
	SHI_BOTH(void, N##_get_nbi, (T *dest, const T *source, size_t nelems, int pe), \
		 shi_get_nbi(ctx, dest, source, shi_times(nelems, sizeof(T)), pe)) \
	SHI_BOTH(void, N##_put_signal, (T *dest, const T *source, size_t nelems, \
					uint64_t *sig_addr, uint64_t signal, int sig_op, \
					int pe), \
		 shi_put_signal(ctx, dest, source, shi_times(nelems, sizeof(T)), SIG, pe)) \
	SHI_BOTH(void, N##_put_signal_nbi, (T *dest, const T *source, size_t nelems, \
					    uint64_t *sig_addr, uint64_t signal, \
					    int sig_op, int pe), \
		 shi_put_signal_nbi(ctx, dest, source, shi_times(nelems, sizeof(T)), SIG, pe))
SHMEMI_RMA_TYPES(RMA)

#define RMA_PLAIN(S, B) \
	SHI_BOTH(void, put##S, (void *dest, const void *source, size_t nelems, int pe), \
		 shi_put(ctx, dest, source, shi_times(nelems, B), pe)) \
	SHI_BOTH(void, get##S, (void *dest, const void *source, size_t nelems, int pe), \
		 shi_get(ctx, dest, source, shi_times(nelems, B), pe)) \
	SHI_BOTH(void, put##S##_nbi, (void *dest, const void *source, size_t nelems, int pe), \
		 shi_put_nbi(ctx, dest, source, shi_times(nelems, B), pe)) \
	SHI_BOTH(void, get##S##_nbi, (void *dest, const void *source, size_t nelems, int pe), \
		 shi_get_nbi(ctx, dest, source, shi_times(nelems, B), pe)) \
	SHI_BOTH(void, put##S##_signal, (void *dest, const void *source, size_t nelems, \
					 uint64_t *sig_addr, uint64_t signal, int sig_op, \
					 int pe), \
		 shi_put_signal(ctx, dest, source, shi_times(nelems, B), SIG, pe)) \
	SHI_BOTH(void, put##S##_signal_nbi, (void *dest, const void *source, size_t nelems, \
					     uint64_t *sig_addr, uint64_t signal, \
					     int sig_op, int pe), \
		 shi_put_signal_nbi(ctx, dest, source, shi_times(nelems, B), SIG, pe))
#define RMA_SIZE(S, B) \
	RMA_PLAIN(S, B) \
	SHI_BOTH(void, iput##S, (void *dest, const void *source, ptrdiff_t dst, \
				 ptrdiff_t sst, size_t nelems, int pe), \
		 shi_iput(ctx, dest, source, STRIDE(B), pe)) \
	SHI_BOTH(void, iget##S, (void *dest, const void *source, ptrdiff_t dst, \
				 ptrdiff_t sst, size_t nelems, int pe), \
		 shi_iget(ctx, dest, source, STRIDE(B), pe))
SHMEMI_SIZES(RMA_SIZE)
RMA_PLAIN(mem, 1)
