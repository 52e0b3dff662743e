/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other servers that host a part of the same torus.  A server that ends can be
 * started again: see rejoin.c.
 *
 * Each peer has a thread; only this thread touches the peer's socket, links and
 * nodes.  Members that other threads touch are under peers.lock, or atomic, and
 * an eventfd wakes the thread.
 */
#ifndef ANGARA_VFIO_PEER_H
#define ANGARA_VFIO_PEER_H

#include <pthread.h>
#include <sys/socket.h>

#include "link.h"
#include "stream.h"

#define PEERS_MAX	64U
#define PEER_TIMEOUT_S	10U	/* default */
#define PEER_NAME	80

struct peers;

/**
 * struct peers_host - what peers need of the host of the fabric
 * @mem: fabric with cfg.remote set; ang_remote_set() is called for all nodes that
 *	are not @ours
 * @ops: operations of views; @ops->remote calls peers_notify()
 * @host: argument of @ops and @run
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
	PEER_SHAKE,	/* handshake of TLS */
	PEER_HELLO,	/* waiting for the other side's hello */
	PEER_JOIN,	/* a new server is connected and has not joined yet */
	PEER_UP,
};

struct peer {
	struct peers *all;
	struct address addr;
	bool dials;		/* this side dials; else the other side */
	pthread_t thread;
	int wake;		/* eventfd */
	u32 notified;		/* atomic: there is work */
	u32 idle;		/* atomic: nothing is in flight */
	/* Under peers.lock. */
	u64 other;		/* random number of the peer's server, 0: unknown */
	bool *nodes;		/* nodes of the peer, if known */
	struct stream *handed;	/* a new connection, NULL: none */
	struct hello handed_hello;
	bool *handed_nodes;	/* nodes of @handed_hello */
	bool met;		/* both hellos have arrived */
	bool linked;		/* the peer has a connection now */
	bool gone;		/* the peer's nodes are lost */
	u32 born;		/* era in which this server or the peer joined; 0: none */
	/* While this server joins a fabric, see rejoin.c: */
	u64 fabric_id;		/* from the peer's hello; 0: the peer is starting, too */
	u32 era;		/* from the peer's hello */
	u64 lost_set;		/* from the peer's hello */
	bool part;		/* disconnect: the peer has to join later */
	bool joined;		/* the peer has answered the JOIN */
	char doom[WIRE_MAX_TEXT + 1];	/* the reason to drop the peer, or empty */
	u64 tell_lost;		/* lost peers to report, one bit each */
	u32 fell;		/* a node that the peer's server had when it was lost */
	/* Used by the peer's thread only. */
	struct ang_view view;
	struct link link;
	enum peer_state state;
	bool lost;		/* copy of @gone in the peer's thread */
	bool relink;		/* the peer's links must be found again */
	bool join_sent;
	u32 join_era;		/* era of a JOIN without an answer yet; 0: none */
	u64 join_lost;
	struct stream *s;	/* NULL: no connection */
	char said[WIRE_MAX_TEXT];	/* last reason printed why a server cannot join */
	const char *flaw;	/* the reason why the last connection failed, or NULL */
	u64 since;		/* ms: when the connection ended or @state began */
	u64 heard;		/* ms: last frame received */
	u64 spoke;		/* ms: last frame sent */
	u64 retry;		/* ms: time of the next dial */
	u64 ack_told;
	u32 sent;		/* bytes sent of the frame link.next */
	u8 *out;		/* a frame without a number, to be sent */
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
	struct tls_key *key;	/* NULL: connections are plain */
	pthread_mutex_t lock;	/* all members below, except constant ones */
	pthread_cond_t change;
	struct peer *peer[PEERS_MAX];
	u32 num;
	u32 *owner;		/* by node: the peer's index plus 1; 0: none */
	bool *lost;		/* by node: its server is lost */
	struct peer *joining;	/* lost peer that a new server replaces, or NULL */
	bool *missing;		/* scratch of peers_look() */
	u32 join_era;		/* atomic: era in which this server joins; 0: none */
	u64 join_lost;		/* hash of the nodes that were lost when this server asked to
				 * join, including the nodes of this server
				 */
	bool whole;		/* atomic: all nodes have a server, or are lost */
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
	const char *key;	/* file; NULL: plain connections, on this machine only */
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
void peers_wake(struct peers *ps);
u32 peer_index(const struct peer *p);
struct peer *peer_new(struct peers *ps, const struct address *addr, bool dials);
void *peer_main(void *arg);
const char *peers_admit(struct peers *ps, struct hello *h, struct stream *s,
			const struct address *from);
const char *peer_meet(struct peer *p, const struct hello *h);
void peer_up(struct peer *p);
void peers_look(struct peers *ps);
void peer_lost(struct peer *p, const char *why);
void peer_heard_lost(struct peer *p, u32 node, u32 era);
void peers_fail(struct peers *ps, const char *who, const char *what);
void peers_hello(struct peers *ps, struct hello *h);
const char *address_parse(const char *text, struct address *out);
const char *peers_address(const struct peers *ps, const char *text,
			  struct address *out);

extern const char rejoin_later[];
const char *rejoin_admit(struct peers *ps, const struct hello *h,
		       struct peer **place);
const char *rejoin_fits(struct peer *p, const struct hello *h);
bool rejoin_begin(struct peer *p, u64 self, const bool *nodes);
void rejoin_cancel(struct peer *p);
bool rejoin_cede(struct peer *p);
bool rejoin_alone(struct peer *p);
const char *rejoin_asked(struct peer *p, const void *body);
int rejoin_accept(struct peer *p);
void rejoin_lose(struct peers *ps, struct ang_view *view, const bool *nodes);
void rejoin_known(struct peer *p, const struct hello *h);
bool rejoin_runs(const struct peers *ps);
void rejoin_look(struct peers *ps, const bool *missing);
u32 rejoin_put(struct peers *ps, void *frame);
const char *rejoin_answered(struct peer *p);
bool rejoin_forget(struct peer *p);

void *peers_listen(void *arg);
int peers_listen_open(struct peers *ps, const char *text);

/* The program that hosts the fabric defines say(). */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* ANGARA_VFIO_PEER_H */
