/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections between the processes of a job, over TCP: each end proves that it
 * belongs to the job, messages are authenticated, and no function here blocks.
 *
 * Each process listens.  The launcher gives the card of each process to the
 * processes of the job only.  The card has the addresses, and a random word,
 * the key of SipHash MACs, which is never sent over a connection.  A connection
 * carries messages one way, from the process that connected (the dialler) to
 * the listener:
 *
 *	hello	dialler		its rank, a random number, a MAC
 *	answer	listener	a random number, a MAC over both numbers
 *	proof	dialler		a MAC over both numbers
 *	message	dialler		head and blocks, each with a MAC over both
 *				numbers and the place of the message
 *
 * The key of all MACs is the word of the listener, and each MAC covers its
 * purpose, so no MAC can replace another.  So the dialler sends no blocks to a
 * stranger (a process outside of the job) that listens at an address of the card.  A
 * stranger on the same network can neither connect, nor replay a connection
 * that it has seen, nor change a message.  Contents are not encrypted.
 *
 * Messages of a pair of processes arrive in the order in which they were sent,
 * and none is missing.  So if a connection that has carried a message ends, the
 * process does not connect again: the sender cannot know which messages have
 * arrived.
 *
 * A connection without a valid hello counts as a stranger's.  The number of
 * such connections is limited: the oldest is closed if there are too many, or
 * if descriptors run out.  So a process whose connection ends before the
 * answer dials again.
 */
#ifndef ANG_JOB_CONN_H
#define ANG_JOB_CONN_H

#include "ang_env.h"
#include "siphash.h"

#define ANG_CONN_CARD		512	/* bytes of the longest card, with its NUL */
#define ANG_CONN_MAGIC		0x334D4E41U	/* "ANM3" */
#define ANG_CONN_STRANGERS	64	/* most connections without a hello */

/*
 * Numbers have the byte order of the machine, so all machines of a job must have the same byte
 * order.
 */
struct ang_conn_hello {
	u32 magic;
	u32 from;
	u64 nonce;
	u64 mac;
};

struct ang_conn_answer {
	u64 nonce;
	u64 mac;
};

struct ang_conn_proof {
	u64 mac;
};

/**
 * struct ang_conn_head - head of a message
 * @exchange: hash of group and tag
 * @step: step of the exchange
 * @status: 0, or the error because of which no blocks follow
 * @len: bytes of a block
 * @blocks: blocks that follow
 * @blocks_mac: MAC of the blocks
 * @mac: MAC of the fields above
 */
struct ang_conn_head {
	u64 exchange;
	u32 step;
	s32 status;
	u32 len;
	u32 blocks;
	u64 blocks_mac;
	u64 mac;
};

struct ang_conn_message {
	struct ang_conn_message *next;
	struct ang_conn_head head;
	char blocks[];
};

/* Purposes of MACs. */
enum ang_conn_mac {
	ANG_CONN_HELLO = 1,
	ANG_CONN_ANSWER,
	ANG_CONN_PROOF,
	ANG_CONN_HEAD,
	ANG_CONN_BLOCKS,
};

/**
 * struct ang_conn_session - data that every MAC of a connection covers
 * @from: rank that dialled
 * @to: rank that listens
 * @asked: random number of @from
 * @answered: random number of @to, 0 before it is known
 * @count: number of messages before this one
 */
struct ang_conn_session {
	u32 from;
	u32 to;
	u64 asked;
	u64 answered;
	u64 count;
};

enum ang_conn_in_stage {
	ANG_CONN_IN_HELLO,
	ANG_CONN_IN_PROOF,
	ANG_CONN_IN_HEAD,
	ANG_CONN_IN_BLOCKS,
};

/**
 * struct ang_conn_in - a connection that another process has made
 * @fd: socket, -1 once it has ended
 * @stage: kind of the part that is expected next
 * @age: number of connections accepted before this one
 * @got: bytes of this part received so far
 * @session: data that MACs cover; @session.from and @session.asked are known
 *	after the hello
 * @hello: first part
 * @proof: second part
 * @head: head of each message
 * @part: message whose blocks are being received; NULL: none
 * @first: messages that have arrived, the oldest first
 */
struct ang_conn_in {
	int fd;
	enum ang_conn_in_stage stage;
	u64 age;
	size_t got;
	struct ang_conn_session session;
	struct ang_conn_hello hello;
	struct ang_conn_proof proof;
	struct ang_conn_head head;
	struct ang_conn_message *part;
	struct ang_conn_message *first;
};

enum ang_conn_out_stage {
	ANG_CONN_OUT_NONE,	/* no connection, see @err */
	ANG_CONN_OUT_PAUSE,	/* pause before dialling again */
	ANG_CONN_OUT_DIAL,	/* connection in progress */
	ANG_CONN_OUT_ANSWER,	/* waits for the answer that proves the peer's rank */
	ANG_CONN_OUT_READY,	/* ready for messages */
};

/**
 * struct ang_conn_out - a connection to another process
 * @fd: socket, -1 without one
 * @stage: stage of the connection
 * @err: error because of which there is no connection, or 0
 * @word: word of that process
 * @places: addresses at which that process listens
 * @place: index of the address that is dialled
 * @until_ms: end of the stage, in ANG_CONN_OUT_PAUSE and ANG_CONN_OUT_DIAL
 * @got: bytes of the answer that have arrived
 * @again: a connection ended before its answer: after the last address, begin with the first again
 * @late: a connection was not made in time: as for @again, but not after @late_ms
 * @late_ms: time after which @late has no effect
 * @warned: the user was warned of a stranger at an address of that process
 * @used: a message was sent, or a part of one: never connect again
 * @session: data that MACs of this connection cover
 * @answer: the peer's answer
 */
struct ang_conn_out {
	int fd;
	enum ang_conn_out_stage stage;
	int err;
	u8 word[ANG_SIPHASH_KEY];
	char places[ANG_CONN_CARD];
	u32 place;
	u64 until_ms;
	size_t got;
	bool again;
	bool late;
	u64 late_ms;
	bool warned;
	bool used;
	struct ang_conn_session session;
	struct ang_conn_answer answer;
};

/**
 * struct ang_conns - the connections of a process
 * @rank: rank of the process
 * @size: processes of the job
 * @fd: listening socket
 * @deaf_ms: time from which connections are accepted again, see in_accept()
 * @word: key of MACs in connections to this process
 * @card: word and addresses of this process, as text
 * @out: by rank: connection to that process, NULL before its card is known
 * @in: connections from other processes
 * @num_in: number of @in
 * @accepted: connections accepted so far
 * @seen: random numbers of the received hellos
 * @num_seen: number of @seen
 * @warned: the user was warned of a stranger that connected
 * @polls: room for @num_in + 3
 */
struct ang_conns {
	u32 rank;
	u32 size;
	int fd;
	u64 deaf_ms;
	u8 word[ANG_SIPHASH_KEY];
	char card[ANG_CONN_CARD];
	struct ang_conn_out **out;
	struct ang_conn_in *in;
	u32 num_in;
	u64 accepted;
	u64 *seen;
	size_t num_seen;
	bool warned;
	struct pollfd *polls;
};

/* job_conn_mac.c */
int ang_conn_nonce(u64 *nonce);
u64 ang_conn_mac(const u8 *word, enum ang_conn_mac what,
		 const struct ang_conn_session *session, const void *data, size_t len);
u64 ang_conn_now_ms(void);

/* job_conn.c */
int ang_conns_new(u32 rank, u32 size, bool here, struct ang_conns **conns);
void ang_conns_end(struct ang_conns *l);
void ang_conns_free(struct ang_conns *l);
int ang_conns_learn(struct ang_conns *l, u32 rank, const char *card);
int ang_conns_poll(struct ang_conns *l, u32 to, bool sends, u32 from, int wait_ms);

/* job_conn_in.c */
void ang_conn_in_end(struct ang_conn_in *in);
bool ang_conn_in_spare(struct ang_conns *l);
void ang_conns_receive(struct ang_conns *l);
bool ang_conns_hear(const struct ang_conns *l, u32 from);
struct ang_conn_message *ang_conns_take(struct ang_conns *l, u32 from, u64 exchange,
					u32 step);

/* job_conn_out.c */
void ang_conn_out_end(struct ang_conn_out *out, int err);
void ang_conns_dial(struct ang_conns *l, u32 rank);
void ang_conn_out_event(struct ang_conns *l, struct ang_conn_out *out);
int ang_conn_send(struct ang_conn_out *out, struct ang_conn_head *head,
		  const char *blocks, size_t *sent);

#endif /* ANG_JOB_CONN_H */
