// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* SipHash-2-4 by Aumasson and Bernstein, see siphash.h. */
#include "siphash.h"

static inline u64 sip_rotl(u64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void siphash_round(u64 v[4])
{
	v[0] += v[1];
	v[1] = sip_rotl(v[1], 13) ^ v[0];
	v[0] = sip_rotl(v[0], 32);
	v[2] += v[3];
	v[3] = sip_rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = sip_rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = sip_rotl(v[1], 17) ^ v[2];
	v[2] = sip_rotl(v[2], 32);
}

static void siphash_word(struct ang_siphash *s, u64 word)
{
	s->v[3] ^= word;
	siphash_round(s->v);
	siphash_round(s->v);
	s->v[0] ^= word;
}

static u64 word_le(const u8 *p)
{
	__le64 word;

	memcpy(&word, p, sizeof(word));
	return le64_to_cpu(word);
}

void ang_siphash_init(struct ang_siphash *s, const u8 key[ANG_SIPHASH_KEY])
{
	u64 k0 = word_le(key), k1 = word_le(key + 8);

	*s = (struct ang_siphash){
		.v = {
			k0 ^ 0x736F6D6570736575ULL, k1 ^ 0x646F72616E646F6DULL,
			k0 ^ 0x6C7967656E657261ULL, k1 ^ 0x7465646279746573ULL,
		},
	};
}

void ang_siphash_add(struct ang_siphash *s, const void *data, size_t len)
{
	const u8 *p = data;

	while (len) {
		if (!(s->len % 8) && len >= 8) {
			siphash_word(s, word_le(p));
			s->len += 8;
			p += 8;
			len -= 8;
			continue;
		}
		s->tail |= (u64)*p++ << (8 * (s->len++ % 8));
		len--;
		if (!(s->len % 8)) {
			siphash_word(s, s->tail);
			s->tail = 0;
		}
	}
}

u64 ang_siphash_end(struct ang_siphash *s)
{
	int i;

	siphash_word(s, s->tail | s->len << 56);
	s->v[2] ^= 0xFF;
	for (i = 0; i < 4; i++)
		siphash_round(s->v);
	return s->v[0] ^ s->v[1] ^ s->v[2] ^ s->v[3];
}
