/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generic routines of OpenSHMEM 1.5 for C11: the type of the first data
 * argument selects the routine; the number of arguments selects the form with
 * or without a context.
 */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

/* Associations of _Generic: a type, and the routine PRE TYPENAME POST. */
#define SHMEMI_GEN_UINTS(pre, post) \
	unsigned int: pre##uint##post, unsigned long: pre##ulong##post, \
	unsigned long long: pre##ulonglong##post
#define SHMEMI_GEN_AMO(pre, post) \
	SHMEMI_GEN_UINTS(pre, post), int: pre##int##post, long: pre##long##post, \
	long long: pre##longlong##post
#define SHMEMI_GEN_XAMO(pre, post) \
	SHMEMI_GEN_AMO(pre, post), float: pre##float##post, double: pre##double##post
#define SHMEMI_GEN_BITWISE(pre, post) \
	SHMEMI_GEN_UINTS(pre, post), int32_t: pre##int32##post, \
	int64_t: pre##int64##post
#define SHMEMI_GEN_SYNC(pre, post) \
	SHMEMI_GEN_AMO(pre, post), short: pre##short##post, \
	unsigned short: pre##ushort##post
#define SHMEMI_GEN_RMA(pre, post) \
	SHMEMI_GEN_XAMO(pre, post), long double: pre##longdouble##post, \
	char: pre##char##post, signed char: pre##schar##post, \
	unsigned char: pre##uchar##post, short: pre##short##post, \
	unsigned short: pre##ushort##post
#define SHMEMI_GEN_AND(pre, post) \
	SHMEMI_GEN_BITWISE(pre, post), unsigned char: pre##uchar##post, \
	unsigned short: pre##ushort##post, int8_t: pre##int8##post, \
	int16_t: pre##int16##post
#define SHMEMI_GEN_SUM(pre, post) \
	SHMEMI_GEN_RMA(pre, post), float _Complex: pre##complexf##post, \
	double _Complex: pre##complexd##post

/*
 * SHMEMI_OFn(arguments, with, without, 0) is "with" if there are n arguments,
 * "without" if there are n - 1.
 */
#define SHMEMI_OF3(a, b, c, name, ...)			name
#define SHMEMI_OF4(a, b, c, d, name, ...)		name
#define SHMEMI_OF5(a, b, c, d, e, name, ...)		name
#define SHMEMI_OF7(a, b, c, d, e, f, g, name, ...)	name
#define SHMEMI_OF8(a, b, c, d, e, f, g, h, name, ...)	name

/*
 * Selects the routine by the type of the first argument, or of the second one
 * after a context or team.
 */
#define SHMEMI_1(gen, name, x, ...) \
	_Generic(*(x), SHMEMI_GEN_##gen(shmem_, _##name))(x, __VA_ARGS__)
#define SHMEMI_2(gen, name, c, x, ...) \
	_Generic(*(x), SHMEMI_GEN_##gen(shmem_ctx_, _##name))(c, x, __VA_ARGS__)
#define SHMEMI_TEAM(gen, name, t, x, ...) \
	_Generic(*(x), SHMEMI_GEN_##gen(shmem_, _##name))(t, x, __VA_ARGS__)
#define SHMEMI_G(gen, name, n, ...) \
	SHMEMI_OF##n(__VA_ARGS__, SHMEMI_2, SHMEMI_1, 0)(gen, name, __VA_ARGS__)

#define shmem_put(...)			SHMEMI_G(RMA, put, 5, __VA_ARGS__)
#define shmem_p(...)			SHMEMI_G(RMA, p, 4, __VA_ARGS__)
#define shmem_iput(...)			SHMEMI_G(RMA, iput, 7, __VA_ARGS__)
#define shmem_get(...)			SHMEMI_G(RMA, get, 5, __VA_ARGS__)
#define shmem_g(...)			SHMEMI_G(RMA, g, 3, __VA_ARGS__)
#define shmem_iget(...)			SHMEMI_G(RMA, iget, 7, __VA_ARGS__)
#define shmem_put_nbi(...)		SHMEMI_G(RMA, put_nbi, 5, __VA_ARGS__)
#define shmem_get_nbi(...)		SHMEMI_G(RMA, get_nbi, 5, __VA_ARGS__)
#define shmem_put_signal(...)		SHMEMI_G(RMA, put_signal, 8, __VA_ARGS__)
#define shmem_put_signal_nbi(...)	SHMEMI_G(RMA, put_signal_nbi, 8, __VA_ARGS__)

#define shmem_atomic_fetch(...)		SHMEMI_G(XAMO, atomic_fetch, 3, __VA_ARGS__)
#define shmem_atomic_set(...)		SHMEMI_G(XAMO, atomic_set, 4, __VA_ARGS__)
#define shmem_atomic_swap(...)		SHMEMI_G(XAMO, atomic_swap, 4, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)	SHMEMI_G(AMO, atomic_compare_swap, 5, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)	SHMEMI_G(AMO, atomic_fetch_inc, 3, __VA_ARGS__)
#define shmem_atomic_inc(...)		SHMEMI_G(AMO, atomic_inc, 3, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)	SHMEMI_G(AMO, atomic_fetch_add, 4, __VA_ARGS__)
#define shmem_atomic_add(...)		SHMEMI_G(AMO, atomic_add, 4, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)	SHMEMI_G(BITWISE, atomic_fetch_and, 4, __VA_ARGS__)
#define shmem_atomic_and(...)		SHMEMI_G(BITWISE, atomic_and, 4, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)	SHMEMI_G(BITWISE, atomic_fetch_or, 4, __VA_ARGS__)
#define shmem_atomic_or(...)		SHMEMI_G(BITWISE, atomic_or, 4, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)	SHMEMI_G(BITWISE, atomic_fetch_xor, 4, __VA_ARGS__)
#define shmem_atomic_xor(...)		SHMEMI_G(BITWISE, atomic_xor, 4, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)	SHMEMI_G(XAMO, atomic_fetch_nbi, 4, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)	SHMEMI_G(XAMO, atomic_swap_nbi, 5, __VA_ARGS__)
#define SHMEMI_OF6(a, b, c, d, e, f, name, ...)	name
#define shmem_atomic_compare_swap_nbi(...) \
	SHMEMI_G(AMO, atomic_compare_swap_nbi, 6, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)	SHMEMI_G(AMO, atomic_fetch_inc_nbi, 4, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)	SHMEMI_G(AMO, atomic_fetch_add_nbi, 5, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) \
	SHMEMI_G(BITWISE, atomic_fetch_and_nbi, 5, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) \
	SHMEMI_G(BITWISE, atomic_fetch_or_nbi, 5, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) \
	SHMEMI_G(BITWISE, atomic_fetch_xor_nbi, 5, __VA_ARGS__)

#define shmem_wait_until(...)		SHMEMI_1(SYNC, wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...)	SHMEMI_1(SYNC, wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)	SHMEMI_1(SYNC, wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)	SHMEMI_1(SYNC, wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHMEMI_1(SYNC, wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHMEMI_1(SYNC, wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
	SHMEMI_1(SYNC, wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...)			SHMEMI_1(SYNC, test, __VA_ARGS__)
#define shmem_test_all(...)		SHMEMI_1(SYNC, test_all, __VA_ARGS__)
#define shmem_test_any(...)		SHMEMI_1(SYNC, test_any, __VA_ARGS__)
#define shmem_test_some(...)		SHMEMI_1(SYNC, test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)	SHMEMI_1(SYNC, test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)	SHMEMI_1(SYNC, test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)	SHMEMI_1(SYNC, test_some_vector, __VA_ARGS__)

#define shmem_broadcast(...)		SHMEMI_TEAM(RMA, broadcast, __VA_ARGS__)
#define shmem_collect(...)		SHMEMI_TEAM(RMA, collect, __VA_ARGS__)
#define shmem_fcollect(...)		SHMEMI_TEAM(RMA, fcollect, __VA_ARGS__)
#define shmem_alltoall(...)		SHMEMI_TEAM(RMA, alltoall, __VA_ARGS__)
#define shmem_alltoalls(...)		SHMEMI_TEAM(RMA, alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...)		SHMEMI_TEAM(AND, and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)		SHMEMI_TEAM(AND, or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)		SHMEMI_TEAM(AND, xor_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)		SHMEMI_TEAM(RMA, min_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)		SHMEMI_TEAM(RMA, max_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)		SHMEMI_TEAM(SUM, sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...)		SHMEMI_TEAM(SUM, prod_reduce, __VA_ARGS__)

/* Selects the routine for a team, or the deprecated one for an active set. */
#define shmem_sync(...) \
	SHMEMI_OF4(__VA_ARGS__, shmem_sync, 0, 0, shmem_team_sync, 0)(__VA_ARGS__)

/* Deprecated. */
#define shmem_fetch(...)		SHMEMI_1(XAMO, fetch, __VA_ARGS__)
#define shmem_set(...)			SHMEMI_1(XAMO, set, __VA_ARGS__)
#define shmem_swap(...)			SHMEMI_1(XAMO, swap, __VA_ARGS__)
#define shmem_cswap(...)		SHMEMI_1(AMO, cswap, __VA_ARGS__)
#define shmem_finc(...)			SHMEMI_1(AMO, finc, __VA_ARGS__)
#define shmem_inc(...)			SHMEMI_1(AMO, inc, __VA_ARGS__)
#define shmem_fadd(...)			SHMEMI_1(AMO, fadd, __VA_ARGS__)
#define shmem_add(...)			SHMEMI_1(AMO, add, __VA_ARGS__)

#endif /* SHMEM_GENERIC_H */
