// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * oshrun -np N bits: reductions of numbers whose sums and products are rounded.
 * All PEs must get the same bits, each time.  Prints a hash of them, to compare
 * with another run.
 */
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LEN	37
#define ROUNDS	20

static int me, n, wrong;
static uint64_t hash = 14695981039346656037ULL, lowest, highest;

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	const unsigned char *c = data;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ c[i]) * 1099511628211ULL;
	return h;
}

/* Do all PEs have the same hash? */
static void compare(const char *what)
{
	lowest = highest = hash;
	shmem_uint64_min_reduce(SHMEM_TEAM_WORLD, &lowest, &lowest, 1);
	shmem_uint64_max_reduce(SHMEM_TEAM_WORLD, &highest, &highest, 1);
	if (lowest == highest)
		return;
	fprintf(stderr, "bits: PE %d: %s differs among PEs\n", me, what);
	wrong++;
}

/* Values whose sum and product do not fit exactly in a number. */
#define VALUE(T, pe, i)	((T)1 / (T)(3 + 2 * (pe) + 7 * (i)) * (T)(1 + (pe) % 3 * 1e6))

/* @bytes: size of the value in an element; a long double has padding */
#define REDUCE(N, T, op, bytes, value) \
	static void N##_##op(void) \
	{ \
		static T in[LEN], first[LEN], out[LEN], by_request[LEN]; \
		shmemx_req_t req; \
		int i, round; \
		for (i = 0; i < LEN; i++) \
			in[i] = value; \
		for (round = 0; round < ROUNDS; round++) { \
			shmem_barrier_all(); \
			shmem_##N##_##op##_reduce(SHMEM_TEAM_WORLD, round ? out : first, in, \
						  LEN); \
			shmemx_##N##_##op##_reduce_nb(SHMEM_TEAM_WORLD, by_request, in, LEN, \
						      &req); \
			shmemx_req_wait(&req); \
			for (i = 0; i < LEN; i++) \
				wrong += (round && memcmp(&first[i], &out[i], bytes)) || \
					 memcmp(&first[i], &by_request[i], bytes); \
		} \
		for (i = 0; i < LEN; i++) \
			hash = mix(hash, &first[i], bytes); \
		compare(#op " of " #N); \
	}

#define LONG_BYTES	(__LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double))
#define COMPLEX(T)	(VALUE(T, me, i) + VALUE(T, me + 1, i) * (T)1.0i)

REDUCE(float, float, sum, sizeof(float), VALUE(float, me, i))
REDUCE(float, float, prod, sizeof(float), VALUE(float, me, i))
REDUCE(double, double, sum, sizeof(double), VALUE(double, me, i))
REDUCE(double, double, prod, sizeof(double), VALUE(double, me, i))
REDUCE(longdouble, long double, sum, LONG_BYTES, VALUE(long double, me, i))
REDUCE(longdouble, long double, prod, LONG_BYTES, VALUE(long double, me, i))
REDUCE(complexf, float _Complex, sum, 2 * sizeof(float), COMPLEX(float _Complex))
REDUCE(complexf, float _Complex, prod, 2 * sizeof(float), COMPLEX(float _Complex))
REDUCE(complexd, double _Complex, sum, 2 * sizeof(double), COMPLEX(double _Complex))
REDUCE(complexd, double _Complex, prod, 2 * sizeof(double), COMPLEX(double _Complex))

#define MANY	20000

/*
 * Software combines products of complex numbers in the order of the adapters: a product of
 * numbers whose imaginary parts are 0 is bit-identical to a product of doubles.  Elements with
 * the same contributions are bit-identical, at any offset and for any number of elements.
 */
static void order(void)
{
	static double _Complex in[MANY], out[MANY], one;
	static double real, product;
	int i;

	real = VALUE(double, me, 0);
	for (i = 0; i < MANY; i++)
		in[i] = real;
	shmem_barrier_all();
	shmem_double_prod_reduce(SHMEM_TEAM_WORLD, &product, &real, 1);
	shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, &one, in, 1);
	shmem_complexd_prod_reduce(SHMEM_TEAM_WORLD, out, in, MANY);
	if (memcmp(&one, &product, sizeof(product))) {
		fprintf(stderr, "bits: PE %d: not combined in the order of the adapters\n", me);
		wrong++;
	}
	for (i = 0; i < MANY; i++)
		wrong += !!memcmp(&out[i], &one, sizeof(one));
}

int main(void)
{
	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	float_sum();
	float_prod();
	double_sum();
	double_prod();
	longdouble_sum();
	longdouble_prod();
	complexf_sum();
	complexf_prod();
	complexd_sum();
	complexd_prod();
	order();
	if (!me)
		printf("bits: %d PEs: %016llx\n", n, (unsigned long long)hash);
	printf("bits: PE %d: %d errors\n", me, wrong);
	shmem_finalize();
	return wrong != 0;
}
