/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-2-4: a keyed hash of 64 bits that authenticates short messages.
 */
#ifndef ANG_SIPHASH_H
#define ANG_SIPHASH_H

#include "ang_env.h"

#define ANG_SIPHASH_KEY	16	/* bytes of a key */

/**
 * struct ang_siphash - state of a hash
 * @v: state
 * @tail: bytes of an incomplete word, the first one lowest
 * @len: bytes so far
 */
struct ang_siphash {
	u64 v[4];
	u64 tail;
	u64 len;
};

void ang_siphash_init(struct ang_siphash *s, const u8 key[ANG_SIPHASH_KEY]);
void ang_siphash_add(struct ang_siphash *s, const void *data, size_t len);
u64 ang_siphash_end(struct ang_siphash *s);

#endif /* ANG_SIPHASH_H */
