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

/* Makes a fabric with the nodes @here, not linked yet. */
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

/* The servers of most cases, and the proxy between them. */
extern struct join side[2];
extern struct proxy proxy;

/* File with the key of servers that start from now on; NULL: their links are plain. */
extern const char *join_key;

#define KEY_TEXT	"0123456789abcdef0123456789abcdef"

/* Return: path of a file with this text, until the process ends. */
const char *key_file(const char *text, u32 mode);

/*
 * Pairs the hosts of both servers: both are checked before one ends, since the
 * other server reacts to the end.
 */
void join_pair(struct host *h, struct host *twin);

/* Return: a connection to a port of this machine. */
int call(u32 port);
/*
 * Sends a hello, or @length bytes of it, and expects a reply with @text; a missing
 * reply counts as an empty one.
 */
void calls(u32 port, const struct hello *h, u32 length, const char *text);

#endif /* PEER_JOIN_H */
