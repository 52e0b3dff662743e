/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes of two partitions on one fabric, and their invariants; see
 * fuzz_fabric.c.
 */
#ifndef FUZZ_NET_H
#define FUZZ_NET_H

#include "fuzz.h"

#define LOCAL		3		/* contexts of a node; the last one has the secret */
#define SECRET_PKEY	0x77U
#define SECRET_TREE	5
#define SECRET		0xA7
#define BUFFER		2048
#define SEALED_KEY	1		/* region without rights for others */
#define SEALED_LEN	64
#define SEALED		0x33
#define COOKIES		64		/* operations of a process */
#define TREES		4
#define MAX_NODES	8
#define NOW		(MAX_NODES * LOCAL)	/* processes that exist at the same time */
#define EVER		128			/* processes that exist over the whole input */

/**
 * struct process - a context and its process
 * @t: context
 * @area: its receive buffer
 * @sealed: region SEALED_KEY
 * @life: number among all processes so far
 * @place: number among the processes that exist now
 * @cookies: number of cookies used
 * @pending: by cookie: no completion yet
 * @quiet: by cookie: must not complete
 * @refused: by cookie: the operation has to be reported as malformed
 * @sound: by cookie: the operation is not malformed
 * @sent: by cookie: a valid message
 * @done: by cookie: a message whose send has completed
 * @got: by cookie: a message that has arrived
 * @to: by cookie: life of a message's receiver at the time of posting
 * @len: by cookie: bytes of a message
 * @last: by place of the receiver: cookie of the last message that arrived there, plus 1
 */
struct process {
	struct tctx *t;
	struct tarea *area;
	char *sealed;
	u32 life;
	u32 place;
	u32 cookies;
	u64 pending;
	u64 quiet;
	u64 refused;
	u64 sound;
	u64 sent;
	u64 done;
	u64 got;
	u32 to[COOKIES];
	u32 len[COOKIES];
	u32 last[NOW];
};

struct net {
	struct fuzz f;
	struct host *h;
	struct input *in;
	struct process *p[NOW];
	struct process *ever[EVER];
	struct ttree *tree[TREES];
	struct ttree *secret;
	u32 epoch;
	u32 n;				/* contexts */
	u32 lives;
	int spoilt;			/* some entries were malformed */
};

static inline int is_secret(const struct tctx *t)
{
	return t->id == LOCAL - 1;
}

/* Starts a process at place @i; there must be room for it in @ever. */
void process_new(struct net *net, u32 i);
/* Turns an entry into a message that the receiver will recognize as one of @p's. */
void process_sends(struct net *net, struct process *p, struct angara_wqe *w);
/* Takes all completions and messages of @p that have arrived. */
void process_reap(struct net *net, struct process *p);

/* Checks the invariants at the end, then resets and frees everything. */
void net_finish(struct net *net);

#endif /* FUZZ_NET_H */
