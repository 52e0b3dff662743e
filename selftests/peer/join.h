/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a torus with its peers, and a proxy between such parts.
 */
#ifndef PEER_JOIN_H
#define PEER_JOIN_H

#include "cases.h"

struct join {
	struct host *h;
	struct peers *ps;
	bool ours[64];
};

/* A fabric with the nodes @here, not linked yet. */
struct host *join_host(struct join *j, const char *dims,
		       const struct ang_cfg *cfg, u64 here);
/* Links the fabric to its peers; addresses may be NULL. */
void join_start(struct join *j, const char *listen, const char *peer,
		const char *peer2, u32 timeout_s);
/* Drops the state that a new process has inherited. */
void join_forget(void);
/* Ends the links of the fabric; the host may be free already. */
void join_end(struct join *j);

struct proxy {
	int listener;
	u32 to;
	u32 cut;
	u32 calls;		/* atomic */
	bool stop;		/* atomic */
	pthread_t thread;
};

/* Forwards connections to @port, each for about @cut bytes. */
u32 proxy_start(struct proxy *p, u32 port, u32 cut);
/* Ends the proxy.  Return: number of connections. */
u32 proxy_end(struct proxy *p);

#endif /* PEER_JOIN_H */
