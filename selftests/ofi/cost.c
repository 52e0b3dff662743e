// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Costs of messages, for a tool that counts instructions.  All work of a
 * message, on both sides, happens in measured().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_collective.h>

#include "../common/quiet.h"
#include "fi.h"

#define LEN		8
#define TAG		7
#define KEY		5
#define WARM_UP		100	/* calls that do one-time work */

static struct side s[2];
static char out[LEN], in[LEN];

static void take(struct side *side)
{
	struct fi_cq_tagged_entry entry;
	ssize_t ret;

	do {
		ret = fi_cq_read(side->cq, &entry, 1);
	} while (ret == -FI_EAGAIN);
	if (ret != 1) {
		fprintf(stderr, "completion: %zd\n", ret);
		exit(1);
	}
}

static void message(void)
{
	if (fi_trecv(s[1].ep, in, LEN, NULL, s[1].peer, TAG, 0, NULL) ||
	    fi_tsend(s[0].ep, out, LEN, NULL, s[0].peer, TAG, NULL)) {
		fprintf(stderr, "no message can be sent\n");
		exit(1);
	}
	take(&s[1]);
	take(&s[0]);
}

/* Polls an empty queue. */
static void look(void)
{
	struct fi_cq_tagged_entry entry;

	if (fi_cq_read(s[1].cq, &entry, 1) != -FI_EAGAIN)
		exit(1);
}

/*
 * Writes 8 bytes and polls for the completion, even if the queue has a descriptor
 * to wait for (FI_WAIT_FD).
 */
static void write_8(void)
{
	if (fi_write(s[0].ep, out, LEN, NULL, s[0].peer, start_of(&s[1], in), KEY,
		     NULL)) {
		fprintf(stderr, "nothing can be written\n");
		exit(1);
	}
	take(&s[0]);
}

static const struct {
	const char *name;
	void (*run)(void);
	enum fi_wait_obj wait;
	bool joined;	/* both sides are members of a group */
} ops[] = {
	{ "fi_message", message, FI_WAIT_NONE, false },
	{ "fi_look", look, FI_WAIT_NONE, false },
	{ "fi_write", write_8, FI_WAIT_NONE, false },
	{ "fi_write_wait", write_8, FI_WAIT_FD, false },
	{ "fi_write_joined", write_8, FI_WAIT_FD, true },
};

static struct fid_av_set *set[2];
static struct fid_mc *group[2];

static bool join(void)
{
	struct fi_av_set_attr attr = {
		.count = 2,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	struct fi_eq_entry entry;
	uint32_t event;
	bool ok = true;
	int i;

	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_av_set(s[i].av, &attr, &set[i], NULL), 0) &&
		     expect(fi_av_set_insert(set[i], i ? s[i].peer : s[i].self),
			    0) &&
		     expect(fi_av_set_insert(set[i], i ? s[i].self : s[i].peer),
			    0) &&
		     expect(fi_join_collective(s[i].ep, FI_ADDR_NOTAVAIL, set[i],
					       0, &group[i], NULL), 0);
	for (i = 0; ok && i < 2; i++)
		ok = expect(fi_eq_sread(s[i].eq, &event, &entry, sizeof(entry),
					LONG_MS, 0), sizeof(entry)) &&
		     expect(event, FI_JOIN_COMPLETE);
	return ok;
}

static void leave(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		closed(&group[i]->fid);
		closed(&set[i]->fid);
	}
}

void measured(void (*run)(void), int count);

/* A separate function in every build, for tools to find. */
void __attribute__((noipa)) measured(void (*run)(void), int count)
{
	while (count--)
		run();
}

int cost(const char *name, int count)
{
	struct how how = { .caps = FI_TAGGED | FI_RMA };
	struct fid_mr *mr;
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(name, ops[i].name)) {
			how.wait = ops[i].wait;
			if (ops[i].joined)
				how.caps |= FI_COLLECTIVE;
			open_pair(s, &how);
			if (ops[i].joined && !join())
				return 1;
			mr = reg(&s[1], in, sizeof(in), FI_REMOTE_WRITE, KEY);
			measured(ops[i].run, WARM_UP);
			if (getenv("COST_QUIET"))
				forbid_system_calls();
			measured(ops[i].run, count);
			if (getenv("COST_QUIET"))
				_exit(0);
			if (ops[i].joined)
				leave();
			fi_close(&mr->fid);
			close_pair(s);
			return 0;
		}
	return 2;
}
