// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiting for words, and testing them: the left neighbour writes.
 */
#include "t.h"

#define WORDS	5

#define SYNC(N, T) \
	static T words_##N[WORDS]; \
	static void reset_##N(void) \
	{ \
		int i; \
		shmem_barrier_all(); \
		for (i = 0; i < WORDS; i++) \
			words_##N[i] = 0; \
		shmem_barrier_all(); \
	} \
	static void write_##N(int first, int last) \
	{ \
		int i; \
		for (i = first; i <= last; i++) \
			shmem_##N##_p(&words_##N[i], (T)(10 + i), right); \
		shmem_quiet(); \
	} \
	static void waits_##N(void) \
	{ \
		T values[WORDS] = { 10, 11, 12, 13, 14 }; \
		const int skip[WORDS] = { 1, 0, 1, 0, 0 }; \
		size_t found[WORDS], some, any; \
		T *w = words_##N; \
		reset_##N(); \
		write_##N(0, 0); \
		shmem_##N##_wait_until(w, SHMEM_CMP_EQ, 10); \
		write_##N(1, 4); \
		shmem_##N##_wait_until_all(w, WORDS, skip, SHMEM_CMP_GE, 11); \
		EXPECT(w[1] == 11 && w[3] == 13 && w[4] == 14); \
		shmem_##N##_wait_until_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values); \
		EXPECT(w[2] == 12); \
		any = shmem_##N##_wait_until_any(w, WORDS, skip, SHMEM_CMP_GT, 12); \
		EXPECT(any == 3 || any == 4); \
		values[1] = 1; \
		any = shmem_##N##_wait_until_any_vector(w, WORDS, skip, SHMEM_CMP_NE, values); \
		EXPECT(any == 1); \
		some = shmem_##N##_wait_until_some(w, WORDS, found, NULL, SHMEM_CMP_LE, 11); \
		EXPECT(some == 2 && found[0] == 0 && found[1] == 1); \
		some = shmem_##N##_wait_until_some_vector(w, WORDS, found, skip, SHMEM_CMP_EQ, \
							  values); \
		EXPECT(some == 2 && found[0] == 3 && found[1] == 4); \
		EXPECT(shmem_##N##_wait_until_any(w, 0, NULL, SHMEM_CMP_EQ, 0) == SIZE_MAX); \
	} \
	/* With no words, or only excluded words, waits return. */ \
	static void none_##N(void) \
	{ \
		T values[WORDS] = { 99, 99, 99, 99, 99 }; \
		const int skip[WORDS] = { 1, 1, 1, 1, 1 }; \
		const size_t lengths[2] = { 0, WORDS }; \
		size_t found[WORDS]; \
		T *w = words_##N; \
		int i; \
		for (i = 0; i < 2; i++) { \
			const size_t l = lengths[i]; \
			shmem_##N##_wait_until_all(w, l, skip, SHMEM_CMP_EQ, 99); \
			shmem_##N##_wait_until_all_vector(w, l, skip, SHMEM_CMP_EQ, values); \
			EXPECT(shmem_##N##_wait_until_any(w, l, skip, SHMEM_CMP_NE, 99) == \
			       SIZE_MAX); \
			EXPECT(shmem_##N##_wait_until_any_vector(w, l, skip, SHMEM_CMP_NE, \
								 values) == SIZE_MAX); \
			EXPECT(!shmem_##N##_wait_until_some(w, l, found, skip, SHMEM_CMP_NE, \
							    99)); \
			EXPECT(!shmem_##N##_wait_until_some_vector(w, l, found, skip, \
								   SHMEM_CMP_NE, values)); \
			EXPECT(shmem_##N##_test_all(w, l, skip, SHMEM_CMP_EQ, 99)); \
			EXPECT(shmem_##N##_test_all_vector(w, l, skip, SHMEM_CMP_EQ, values)); \
			EXPECT(shmem_##N##_test_any(w, l, skip, SHMEM_CMP_NE, 99) == SIZE_MAX); \
			EXPECT(shmem_##N##_test_any_vector(w, l, skip, SHMEM_CMP_NE, values) == \
			       SIZE_MAX); \
			EXPECT(!shmem_##N##_test_some(w, l, found, skip, SHMEM_CMP_NE, 99)); \
			EXPECT(!shmem_##N##_test_some_vector(w, l, found, skip, SHMEM_CMP_NE, \
							     values)); \
		} \
	} \
	/* The comparison holds for all words: repeated calls return each index. */ \
	static void all_##N(void) \
	{ \
		T values[WORDS] = { 10, 11, 12, 13, 14 }; \
		unsigned int seen[4] = { 0 }; \
		T *w = words_##N; \
		int i; \
		for (i = 0; i < 200; i++) { \
			seen[0] |= 1U << shmem_##N##_test_any(w, WORDS, NULL, SHMEM_CMP_GT, 0); \
			seen[1] |= 1U << shmem_##N##_test_any_vector(w, WORDS, NULL, \
								     SHMEM_CMP_EQ, values); \
			seen[2] |= 1U << shmem_##N##_wait_until_any(w, WORDS, NULL, \
								    SHMEM_CMP_GT, 0); \
			seen[3] |= 1U << shmem_##N##_wait_until_any_vector(w, WORDS, NULL, \
									   SHMEM_CMP_EQ, \
									   values); \
		} \
		for (i = 0; i < 4; i++) \
			EXPECT(seen[i] == (1U << WORDS) - 1); \
	} \
	static void tests_##N(void) \
	{ \
		T values[WORDS] = { 10, 11, 12, 13, 14 }; \
		const int skip[WORDS] = { 1, 0, 1, 0, 0 }; \
		size_t found[WORDS]; \
		T *w = words_##N; \
		reset_##N(); \
		EXPECT(!shmem_##N##_test(w, SHMEM_CMP_NE, 0)); \
		EXPECT(!shmem_##N##_test_all(w, WORDS, skip, SHMEM_CMP_GT, 0)); \
		EXPECT(!shmem_##N##_test_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values)); \
		EXPECT(shmem_##N##_test_any(w, WORDS, skip, SHMEM_CMP_GT, 0) == SIZE_MAX); \
		EXPECT(shmem_##N##_test_any_vector(w, WORDS, skip, SHMEM_CMP_EQ, values) == \
		       SIZE_MAX); \
		EXPECT(!shmem_##N##_test_some(w, WORDS, found, skip, SHMEM_CMP_GT, 0)); \
		EXPECT(!shmem_##N##_test_some_vector(w, WORDS, found, skip, SHMEM_CMP_EQ, \
						     values)); \
		shmem_barrier_all(); \
		write_##N(0, 4); \
		while (!shmem_##N##_test(w + 4, SHMEM_CMP_EQ, 14)) \
			; \
		while (!shmem_##N##_test_all(w, WORDS, NULL, SHMEM_CMP_GE, 10)) \
			; \
		EXPECT(shmem_##N##_test_all_vector(w, WORDS, NULL, SHMEM_CMP_EQ, values)); \
		EXPECT(shmem_##N##_test_any(w, WORDS, skip, SHMEM_CMP_LT, 13) == 1); \
		values[1] = values[3] = 0; \
		EXPECT(shmem_##N##_test_any_vector(w, WORDS, skip, SHMEM_CMP_EQ, values) == 4); \
		EXPECT(shmem_##N##_test_some(w, WORDS, found, skip, SHMEM_CMP_GT, 11) == 2 && \
		       found[0] == 3 && found[1] == 4); \
		EXPECT(shmem_##N##_test_some_vector(w, WORDS, found, NULL, SHMEM_CMP_NE, \
						    values) == 2 && found[1] == 3); \
		all_##N(); \
		group("wait and test " #N); \
	}
SHMEMI_SYNC_TYPES(SYNC)

#define WAIT(N, T) \
	static void wait_##N(void) \
	{ \
		reset_##N(); \
		write_##N(0, 0); \
		shmem_##N##_wait(words_##N, 0); \
		EXPECT(words_##N[0] == 10); \
	}
SHMEMI_WAIT_TYPES(WAIT)

/* Unsigned words are compared unsigned, signed words signed. */
static void test_signs(void)
{
	static long s[1];
	static unsigned long u[1];
	static short ss[1];
	static unsigned short us[1];

	s[0] = -1;
	u[0] = -1UL;
	ss[0] = -1;
	us[0] = 0xffff;
	EXPECT(shmem_long_test(s, SHMEM_CMP_LT, 0) && shmem_short_test(ss, SHMEM_CMP_LT, 0));
	EXPECT(shmem_ulong_test(u, SHMEM_CMP_GT, 0) && shmem_ushort_test(us, SHMEM_CMP_GT, 0));
	group("comparisons with and without a sign");
}

void test_sync(void)
{
#define RUN(N, T) \
	waits_##N(); \
	none_##N(); \
	tests_##N();
#define RUN_WAIT(N, T)	wait_##N();
	SHMEMI_SYNC_TYPES(RUN)
	SHMEMI_WAIT_TYPES(RUN_WAIT)
	reset_long();
	write_long(1, 1);
	shmem_wait(words_long + 1, 0);
	write_long(2, 2);
	/* calls the function, not the generic macro */
	(shmem_wait_until)(words_long + 2, SHMEM_CMP_EQ, 12);
	EXPECT(words_long[1] == 11);
	group("deprecated waits");
	test_signs();
}
