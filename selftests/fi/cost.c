// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What messages cost, for a tool that counts instructions.  All that one takes,
 * on both sides, happens in the calls of measured().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fi.h"

#define LEN		8
#define TAG		7
#define WARM_UP		100	/* what happens but once has happened then */

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

/* Of a queue that nothing comes to. */
static void look(void)
{
	struct fi_cq_tagged_entry entry;

	if (fi_cq_read(s[1].cq, &entry, 1) != -FI_EAGAIN)
		exit(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} ops[] = {
	{ "fi_message", message }, { "fi_look", look },
};

void measured(void (*run)(void), int count);

/* A function of its own in every build, so that tools find it. */
void __attribute__((noipa)) measured(void (*run)(void), int count)
{
	while (count--)
		run();
}

int cost(const char *name, int count)
{
	const struct how how = { .caps = FI_TAGGED };
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(name, ops[i].name)) {
			open_pair(s, &how);
			measured(ops[i].run, WARM_UP);
			measured(ops[i].run, count);
			close_pair(s);
			return 0;
		}
	return 2;
}
