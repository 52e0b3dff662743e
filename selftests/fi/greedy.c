// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peers that take nothing in: nobody else is held up.
 */
#include <stdlib.h>
#include <string.h>

#include <angara/msg.h>

#include "fi.h"

#define LEN		4100	/* of a message that is fetched */

/* An address, as fi_getname() gives it. */
struct name {
	uint64_t fabric;
	uint32_t node;
	uint16_t ctx;
	uint16_t ep;
	uint32_t serial;
	uint32_t reserved;
};

static struct side s[2];
static struct name victim;	/* of s[1] */
static struct angara_ctx *greedy;
static char *mem;

static bool setup(void)
{
	const struct how how = { 0 };
	struct angara_ctx_attr attr = { .msg_bytes = 65536 };
	size_t len = sizeof(victim);

	open_pair(s, &how);
	mem = calloc(1, 2 * LEN);
	return expect(fi_getname(&s[1].ep->fid, &victim, &len), 0) &&
	       expect(angara_ctx_open("5", &attr, &greedy), 0);
}

static void teardown(void)
{
	angara_ctx_close(greedy);
	close_pair(s);
	free(mem);
}

/* Two messages, a short and a long one. */
static bool talk(int from)
{
	static const size_t lens[2] = { 8, LEN };
	struct fi_cq_tagged_entry e;
	bool ok = true;
	int i;

	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_recv(s[!from].ep, mem + LEN, LEN, NULL,
				    s[!from].peer, mem), 0) &&
		     expect(fi_send(s[from].ep, mem, lens[i], NULL,
				    s[from].peer, NULL), 0);
	for (i = 0; ok && i < 4; i++) {
		ssize_t ret = -FI_EAGAIN;
		long spins;

		for (spins = 0; ret == -FI_EAGAIN && spins < 1000000; spins++) {
			fi_cq_read(s[i & 1].cq, NULL, 0);
			ret = fi_cq_read(s[!(i & 1)].cq, &e, 1);
		}
		ok = expect(ret, 1);
	}
	return ok;
}

#define UNREAD		600	/* messages, more than it has room for */

/* What is sent to one who takes nothing in leaves the adapter to others. */
static bool unread(void)
{
	struct angara_ctx_info about;
	struct name name;
	fi_addr_t addr;
	bool ok = setup() && expect(angara_ctx_query(greedy, &about), 0);
	int i;

	name = victim;
	name.node = about.self.node;
	name.ctx = about.self.ctx;
	ok = ok && expect(fi_av_insert(s[1].av, &name, 1, &addr, 0, NULL), 1);
	for (i = 0; ok && i < UNREAD; i++)
		while (fi_inject(s[1].ep, mem, 8, addr) == -FI_EAGAIN)
			fi_cq_read(s[1].cq, NULL, 0);
	ok = ok && talk(1) && talk(0);
	teardown();
	return ok;
}

const struct part greedy_parts[] = {
	{ "greedy: takes no messages", unread },
	{ 0 },
};
