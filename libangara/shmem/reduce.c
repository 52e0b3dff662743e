// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions.
 *
 *	integers of 4 and 8 bytes,	by the adapter, unchanged
 *	float, double
 *	sums of complex numbers		by the adapter, as twice as many floats
 *	integers of 1 and 2 bytes	by the adapter, as integers of 32 bits
 *	long double, products of	by software: libangara's messages along the
 *	complex numbers			team's tree, combined by functions of this
 *					file in the order of the adapters
 *
 * Lower bits of integer sums and products do not depend on the higher ones, so
 * wider integers give the same result.  All reductions give the same bits at
 * all members and in each run.
 */
#include <stdlib.h>

#include "shi.h"

#define REDUCE_BYTES	65536U	/* bytes of a temporary buffer */
/* Longest reduction by software: libangara allocates registered buffers of up to twice this. */
#define SOFTWARE_BYTES	(SHI_CHUNK < (1U << 20) ? SHI_CHUNK : 1U << 20)

static void reduce_by_device(struct shmemi_team *t, const struct shi_kind *kind,
			     struct shi_local to, struct shi_local from, size_t n)
{
	size_t most = SHI_CHUNK / kind->size;
	size_t done, count;

	for (done = 0; done < n; done += count) {
		size_t off = done * kind->size;

		count = n - done < most ? n - done : most;
		SHI_RUN(t, "reduction",
			angara_allreduce_nbi(t->a, to.mr, to.off + off, from.mr,
					     from.off + off, count * kind->parts,
					     (unsigned int)kind->device, kind->op, how));
	}
}

static void *reduce_alloc(size_t len)
{
	void *p = malloc(len);

	if (!p)
		shi_die("reduction: no memory for %zu bytes", len);
	return p;
}

static void reduce_narrow(struct shmemi_team *t, const struct shi_kind *kind, char *dest,
			  const char *source, size_t n)
{
	const size_t most = REDUCE_BYTES / sizeof(int32_t);
	int32_t *wide = reduce_alloc((n < most ? n : most) * sizeof(*wide));
	struct shi_kind as = {
		.size = sizeof(*wide),
		.device = ANGARA_TYPE_INT32,
		.op = kind->op,
		.parts = 1,
	};
	struct shi_local at = { .off = (uintptr_t)wide };
	size_t done, count;

	for (done = 0; done < n; done += count) {
		count = n - done < most ? n - done : most;
		kind->widen(wide, source + done * kind->size, count);
		reduce_by_device(t, &as, at, at, count);
		kind->narrow(dest + done * kind->size, wide, count);
	}
	free(wide);
}

/*
 * Reduces in parts: the result does not depend on the parts, since elements are
 * combined independently.
 */
static void reduce_by_software(struct shmemi_team *t, const struct shi_kind *kind,
			       struct shi_local to, struct shi_local from, size_t n)
{
	const struct angara_reducer by = shi_reducer(kind);
	size_t most = SOFTWARE_BYTES / kind->size;
	size_t done, count;

	for (done = 0; done < n; done += count) {
		size_t off = done * kind->size;

		count = n - done < most ? n - done : most;
		SHI_RUN(t, "reduction",
			angara_allreduce_fn_nbi(t->a, to.mr, to.off + off, from.mr,
						from.off + off, count, &by, how));
	}
}

/**
 * shi_reduce() - combine elements of all members
 * @t: team
 * @kind: types and operation
 * @dest: symmetric; may be @source
 * @source: symmetric
 * @n: elements, equal at all members
 */
void shi_reduce(struct shmemi_team *t, const struct shi_kind *kind, void *dest,
		const void *source, size_t n)
{
	size_t len = shi_times(n, kind->size);
	struct shi_local to = shi_local_of(dest, len);
	struct shi_local from = shi_local_of(source, len);

	shi_same(t, n, "reduction");
	if (!n)
		return;
	if (!to.mr || !from.mr)
		shi_die("reduction: %zu bytes at %p are not symmetric", len,
			to.mr ? source : dest);
	if (kind->device == SHI_NARROW)
		reduce_narrow(t, kind, dest, source, n);
	else if (kind->device == SHI_SOFTWARE)
		reduce_by_software(t, kind, to, from, n);
	else
		reduce_by_device(t, kind, to, from, n);
}

#define REAL(T)		__typeof__(__real__(T)0)
#define IS_COMPLEX(T)	(sizeof(T) != sizeof(REAL(T)))
#define DEVICE(T, OP) \
	(sizeof(REAL(T)) > 8 || (IS_COMPLEX(T) && (OP) == ANGARA_RED_PROD) ? SHI_SOFTWARE : \
	 sizeof(T) < 4 ? SHI_NARROW : (int)SHI_TYPE(REAL(T)))

#define DO_and(a, b)	((a) & (b))
#define DO_or(a, b)	((a) | (b))
#define DO_xor(a, b)	((a) ^ (b))
#define DO_min(a, b)	((b) < (a) ? (b) : (a))
#define DO_max(a, b)	((b) > (a) ? (b) : (a))
#define DO_sum(a, b)	((a) + (b))
#define DO_prod(a, b)	((a) * (b))

/* Conversions of elements to 32 bits and back; only types of 1 and 2 bytes use them. */
#define WIDEN(N, T) \
	static inline void widen_##N(int32_t *to, const void *from, size_t n) \
	{ \
		const T *x = from; \
		size_t i; \
		for (i = 0; i < n; i++) \
			to[i] = (int32_t)x[i]; \
	} \
	static inline void narrow_##N(void *to, const int32_t *from, size_t n) \
	{ \
		T *x = to; \
		size_t i; \
		for (i = 0; i < n; i++) \
			x[i] = (T)from[i]; \
	}
SHMEMI_SUM_TYPES(WIDEN)

#define REDUCE(N, T, what, OP) \
	static inline void combine_##N##_##what(void *to, const void *from, size_t n, \
						void *unused) \
	{ \
		T *a = to; \
		const T *b = from; \
		size_t i; \
		for (i = 0; i < n; i++) \
			a[i] = (T)DO_##what(a[i], b[i]); \
		(void)unused; \
	} \
	static const struct shi_kind kind_##N##_##what = { \
		.size = sizeof(T), \
		.device = DEVICE(T, ANGARA_RED_##OP), \
		.op = ANGARA_RED_##OP, \
		.parts = IS_COMPLEX(T) ? 2 : 1, \
		.widen = sizeof(T) < 4 ? widen_##N : NULL, \
		.narrow = sizeof(T) < 4 ? narrow_##N : NULL, \
		.combine = DEVICE(T, ANGARA_RED_##OP) == SHI_SOFTWARE ? \
			   combine_##N##_##what : NULL, \
	}; \
	SHI_DEF(int, N##_##what##_reduce, (shmem_team_t team, T *dest, const T *source, \
					 size_t nreduce)) \
	{ \
		if (team == SHMEM_TEAM_INVALID) \
			return -1; \
		shi_reduce(shi_team(team), &kind_##N##_##what, dest, source, nreduce); \
		return 0; \
	} \
	SHI_EXT(int, N##_##what##_reduce_nb, (shmem_team_t team, T *dest, const T *source, \
					      size_t nreduce, shmemx_req_t *req)) \
	{ \
		return shi_reduce_nb(team, &kind_##N##_##what, dest, source, nreduce, req); \
	}
#define REDUCE_MIN(N, T)	REDUCE(N, T, min, MIN) REDUCE(N, T, max, MAX)
#define REDUCE_SUM(N, T)	REDUCE(N, T, sum, SUM) REDUCE(N, T, prod, PROD)
#define REDUCE_AND(N, T) \
	REDUCE(N, T, and, AND) REDUCE(N, T, or, OR) REDUCE(N, T, xor, XOR)
SHMEMI_AND_TYPES(REDUCE_AND)
SHMEMI_MIN_TYPES(REDUCE_MIN)
SHMEMI_SUM_TYPES(REDUCE_SUM)

/* Only active sets have bitwise reductions of signed types. */
#define KIND_SIGNED(N, T, what, OP) \
	static const struct shi_kind kind_##N##_##what = { \
		.size = sizeof(T), \
		.device = DEVICE(T, ANGARA_RED_##OP), \
		.op = ANGARA_RED_##OP, \
		.parts = 1, \
		.widen = sizeof(T) < 4 ? widen_##N : NULL, \
		.narrow = sizeof(T) < 4 ? narrow_##N : NULL, \
	};
#define KINDS_SIGNED(N, T) \
	KIND_SIGNED(N, T, and, AND) KIND_SIGNED(N, T, or, OR) KIND_SIGNED(N, T, xor, XOR)
SHMEMI_AND_TO_ALL_TYPES(KINDS_SIGNED)

#define TO_ALL(N, T, op) \
	SHI_DEF(void, N##_##op##_to_all, (T *dest, const T *source, int nreduce, \
					  SHMEMI_SET, T *pWrk, long *pSync)) \
	{ \
		(void)pWrk; \
		(void)pSync; \
		if (nreduce < 0) \
			shi_die("reduction: the number of elements %d is negative", nreduce); \
		shi_reduce(shi_set(PE_start, logPE_stride, PE_size), &kind_##N##_##op, dest, \
			   source, (size_t)nreduce); \
	}
#define TO_ALL_AND(N, T)	TO_ALL(N, T, and) TO_ALL(N, T, or) TO_ALL(N, T, xor)
#define TO_ALL_MIN(N, T)	TO_ALL(N, T, min) TO_ALL(N, T, max)
#define TO_ALL_SUM(N, T)	TO_ALL(N, T, sum) TO_ALL(N, T, prod)
SHMEMI_AND_TO_ALL_TYPES(TO_ALL_AND)
SHMEMI_MIN_TO_ALL_TYPES(TO_ALL_MIN)
SHMEMI_SUM_TO_ALL_TYPES(TO_ALL_SUM)
