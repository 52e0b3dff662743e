/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other servers that host a part of the same torus.
 *
 * Each peer has a thread; only this thread touches its socket, links and remote
 * nodes.  Members that other threads touch are under peers.lock, or atomic, and
 * an eventfd wakes the thread.
 */
#ifndef ANGARA_VFIO_PEER_H
#define ANGARA_VFIO_PEER_H

#include <pthread.h>
#include <sys/socket.h>

#include "link.h"

#define PEERS_MAX	64U
#define PEER_TIMEOUT_S	10U	/* default */
#define PEER_NAME	80

struct peers;

/**
 * struct peers_host - what peers need of the host of the fabric
 * @mem: fabric, with cfg.remote; ang_remote_set() is called for all nodes that
 *	are not @ours
 * @ops: of views; @ops->remote calls peers_notify()
 * @host: for @ops and @run
 * @run: runs a view, and leaves it empty
 * @ours: local nodes, one bool each
 */
struct peers_host {
	struct ang_fabric *mem;
	const struct ang_ops *ops;
	void *host;
	void (*run)(void *host, struct ang_view *v);
	const bool *ours;
};

struct address {
	struct sockaddr_storage sa;
	socklen_t len;
	char name[PEER_NAME];
};

enum peer_state {
	PEER_IDLE,	/* no connection */
	PEER_CONNECT,	/* in progress */
	PEER_HELLO,	/* waiting for the other side's hello */
	PEER_UP,
	PEER_GONE,	/* lost permanently */
};

struct peer {
	struct peers *all;
	struct address addr;
	bool dials;		/* otherwise the other side dials */
	pthread_t thread;
	int wake;		/* eventfd */
	u32 notified;		/* atomic: there is work */
	u32 idle;		/* atomic: nothing is in flight */
	/* Under peers.lock. */
	u64 other;		/* number of its incarnation, 0: unknown */
	bool *nodes;		/* its nodes, if known */
	int handed;		/* a new connection, -1: none */
	struct hello handed_hello;
	bool met;		/* both hellos have arrived */
	bool gone;
	char doom[WIRE_MAX_TEXT + 1];	/* the reason to drop it, or empty */
	u64 tell_lost;		/* lost peers to report, one bit each */
	/* Used by the peer's thread only. */
	struct ang_view view;
	struct link link;
	enum peer_state state;
	int fd;
	u64 since;		/* ms: since when it has no connection, or is in this state */
	u64 heard;		/* ms: last frame received */
	u64 spoke;		/* ms: last frame sent */
	u64 retry;		/* ms: time of the next dial */
	u64 ack_told;
	u32 sent;		/* bytes of the frame at link.next */
	u8 *out;		/* a frame without a number */
	u32 out_at;
	u32 out_size;
	u8 *in;
	u32 in_size;
	bool *scratch;		/* nodes of a hello */
};

struct peers {
	struct peers_host host;
	struct ang_cfg cfg;
	u32 num_nodes;
	u64 self;
	u32 timeout_ms;
	pthread_mutex_t lock;	/* all members below, except constant ones */
	pthread_cond_t change;
	struct peer *peer[PEERS_MAX];
	u32 num;
	u32 *owner;		/* by node: the peer's index plus 1; 0: none */
	bool whole;
	bool stop;		/* atomic */
	char failed[WIRE_MAX_TEXT + PEER_NAME + 32];
	int listener;
	int listener_wake;
	pthread_t listen_thread;
	bool listens;
};

struct peers_options {
	const char *listen;	/* NULL: none */
	const char *const *peer;
	u32 num_peers;
	u32 timeout_s;
};

struct peers *peers_new(const struct peers_host *host,
			const struct peers_options *o);
int peers_wait(struct peers *ps, u32 ms);
u32 peers_port(const struct peers *ps);
void peers_notify(struct peers *ps, u32 node);
void peers_free(struct peers *ps);
bool peers_idle(struct peers *ps);

/* Functions shared by peer.c, dialled.c and conn.c. */
u64 peer_ms(void);
void peer_wake(struct peer *p);
struct peer *peer_new(struct peers *ps, const struct address *addr, bool dials);
void *peer_main(void *arg);
const char *peers_admit(struct peers *ps, struct hello *h, int fd,
			const struct address *from);
const char *peer_meet(struct peer *p, const struct hello *h);
void peer_up(struct peer *p);
void peer_lost(struct peer *p, const char *why);
void peer_heard_lost(struct peer *p, u32 node);
void peers_fail(struct peers *ps, const char *who, const char *what);
void peers_hello(struct peers *ps, struct hello *h);
const char *address_parse(const char *text, struct address *out);
void *peers_listen(void *arg);
int peers_listen_open(struct peers *ps, const char *text);

/* The host's. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* ANGARA_VFIO_PEER_H */
