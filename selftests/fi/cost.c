// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What messages cost, for a tool that counts instructions.  All that one takes,
 * on both sides, happens in the calls of measured().
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fi.h"

#define LEN		8
#define TAG		7
#define KEY		5
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

/* By a program that could sleep, and does not. */
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
} ops[] = {
	{ "fi_message", message, FI_WAIT_NONE },
	{ "fi_look", look, FI_WAIT_NONE },
	{ "fi_write", write_8, FI_WAIT_NONE },
	{ "fi_write_wait", write_8, FI_WAIT_FD },
};

/* From here on the thread makes no system call but to end the program. */
static void forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = {
		.len = sizeof(code) / sizeof(*code), .filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("seccomp");
		exit(1);
	}
}

void measured(void (*run)(void), int count);

/* A function of its own in every build, so that tools find it. */
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
			open_pair(s, &how);
			mr = reg(&s[1], in, sizeof(in), FI_REMOTE_WRITE, KEY);
			measured(ops[i].run, WARM_UP);
			if (getenv("COST_QUIET"))
				forbid_system_calls();
			measured(ops[i].run, count);
			if (getenv("COST_QUIET"))
				_exit(0);
			fi_close(&mr->fid);
			close_pair(s);
			return 0;
		}
	return 2;
}
