// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connections between processes of a job: clock, nonces, MACs.  See job_conn.h. */
#include <errno.h>
#include <sys/random.h>

#include "job_conn.h"
#include "lib.h"

u64 ang_conn_now_ms(void)
{
	return ang_now_ns() / 1000000;
}

/*
 * ang_conn_nonce() - draw a random number that is used once.  Return: 0; -EIO
 * no random numbers.
 */
int ang_conn_nonce(u64 *nonce)
{
	return getrandom(nonce, sizeof(*nonce), 0) == sizeof(*nonce) ? 0 : -EIO;
}

/**
 * ang_conn_mac() - MAC of a part of a connection
 * @word: word of the process that listens
 * @what: part
 * @session: session of the connection
 * @data: further data that the MAC covers
 * @len: bytes of @data
 *
 * MACs are compared as one word, in a time that does not depend on their bytes.
 */
u64 ang_conn_mac(const u8 *word, enum ang_conn_mac what,
		 const struct ang_conn_session *session, const void *data, size_t len)
{
	struct ang_siphash s;
	u32 label = what;

	ang_siphash_init(&s, word);
	ang_siphash_add(&s, &label, sizeof(label));
	ang_siphash_add(&s, session, sizeof(*session));
	ang_siphash_add(&s, data, len);
	return ang_siphash_end(&s);
}
