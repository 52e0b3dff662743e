// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Incoming connections, see job_conn.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "job_conn.h"
#include "job_net.h"

#define IN_DEAF_MS	100	/* milliseconds without accepting, if there are no descriptors */
#define IN_AT_ONCE	(ANG_CONN_STRANGERS / 2)

void ang_conn_in_end(struct ang_conn_in *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->part);
	in->part = NULL;
}

/**
 * ang_conn_in_spare() - close the oldest connection of a stranger
 * @l: connections
 *
 * Return: true: one was closed, so a descriptor is free.
 */
bool ang_conn_in_spare(struct ang_conns *l)
{
	struct ang_conn_in *oldest = NULL;
	u32 i;

	for (i = 0; i < l->num_in; i++) {
		struct ang_conn_in *in = &l->in[i];

		if (in->fd >= 0 && in->stage == ANG_CONN_IN_HELLO &&
		    (!oldest || in->age < oldest->age))
			oldest = in;
	}
	if (oldest)
		ang_conn_in_end(oldest);
	return oldest;
}

static u32 in_strangers(const struct ang_conns *l)
{
	u32 i, n = 0;

	for (i = 0; i < l->num_in; i++)
		n += l->in[i].fd >= 0 && l->in[i].stage == ANG_CONN_IN_HELLO;
	return n;
}

/*
 * Makes a place for a new connection: reuses that of a connection that has ended and whose messages
 * have been taken, or adds one.  If there are too many strangers, closes their oldest connection.
 * Return: NULL: no memory.
 */
static struct ang_conn_in *in_new(struct ang_conns *l)
{
	void *mem;
	u32 i;

	if (in_strangers(l) >= ANG_CONN_STRANGERS)
		ang_conn_in_spare(l);
	for (i = 0; i < l->num_in; i++)
		if (l->in[i].fd < 0 && !l->in[i].first)
			break;
	if (i == l->num_in) {
		mem = realloc(l->in, (i + 1) * sizeof(*l->in));
		if (!mem)
			return NULL;
		l->in = mem;
		mem = realloc(l->polls, (i + 4) * sizeof(*l->polls));
		if (!mem)
			return NULL;
		l->polls = mem;
		l->num_in++;
	}
	l->in[i] = (struct ang_conn_in){ .fd = -1, .age = l->accepted++ };
	return &l->in[i];
}

/*
 * Refuses a connection; warns of strangers only once, since they may be many.
 * Return: false
 */
static bool in_refuse(struct ang_conns *l, const struct ang_conn_in *in)
{
	char name[ANG_NET_NAME];

	if (l->warned)
		return false;
	l->warned = true;
	ang_net_peer(in->fd, name);
	ang_job_say("rank %u refuses %s, which does not know the secret of the job",
		    l->rank, name);
	return false;
}

/*
 * Return: true: no hello with this number came before.  Without memory to
 * record it, a hello counts as a replay.
 */
static bool in_first_time(struct ang_conns *l, u64 nonce)
{
	size_t i;
	u64 *mem;

	for (i = 0; i < l->num_seen; i++)
		if (l->seen[i] == nonce)
			return false;
	mem = realloc(l->seen, (l->num_seen + 1) * sizeof(*mem));
	if (!mem)
		return false;
	l->seen = mem;
	mem[l->num_seen++] = nonce;
	return true;
}

/*
 * Answers a hello if its sender knows our card and the hello is not a replay.
 */
static bool in_hello(struct ang_conns *l, struct ang_conn_in *in)
{
	const struct ang_conn_hello *hello = &in->hello;
	struct ang_conn_answer answer;

	in->session = (struct ang_conn_session){
		.from = hello->from, .to = l->rank, .asked = hello->nonce,
	};
	if (hello->magic != ANG_CONN_MAGIC || hello->from >= l->size ||
	    hello->mac != ang_conn_mac(l->word, ANG_CONN_HELLO, &in->session, NULL, 0) ||
	    !in_first_time(l, hello->nonce))
		return in_refuse(l, in);
	if (ang_conn_nonce(&answer.nonce))
		return false;
	in->session.answered = answer.nonce;
	answer.mac = ang_conn_mac(l->word, ANG_CONN_ANSWER, &in->session, NULL, 0);
	in->stage = ANG_CONN_IN_PROOF;
	/*
	 * The socket buffer always has room for the first bytes of a
	 * connection.
	 */
	return send(in->fd, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

static bool in_proof(struct ang_conns *l, struct ang_conn_in *in)
{
	if (in->proof.mac != ang_conn_mac(l->word, ANG_CONN_PROOF, &in->session, NULL, 0))
		return in_refuse(l, in);
	in->stage = ANG_CONN_IN_HEAD;
	return true;
}

static bool in_head(struct ang_conns *l, struct ang_conn_in *in)
{
	const struct ang_conn_head *head = &in->head;

	if (head->mac != ang_conn_mac(l->word, ANG_CONN_HEAD, &in->session, head,
				      offsetof(struct ang_conn_head, mac)))
		return in_refuse(l, in);
	if (head->len > ANG_JOB_MAX_BLOCK || head->blocks > l->size)
		return false;
	in->part = malloc(sizeof(*in->part) + (size_t)head->len * head->blocks);
	if (!in->part)
		return false;
	in->part->head = *head;
	in->part->next = NULL;
	in->stage = ANG_CONN_IN_BLOCKS;
	return true;
}

static bool in_blocks(struct ang_conns *l, struct ang_conn_in *in)
{
	struct ang_conn_message **end;

	if (in->head.blocks_mac !=
	    ang_conn_mac(l->word, ANG_CONN_BLOCKS, &in->session, in->part->blocks,
			 (size_t)in->head.len * in->head.blocks))
		return in_refuse(l, in);
	in->session.count++;
	for (end = &in->first; *end; end = &(*end)->next)
		;
	*end = in->part;
	in->part = NULL;
	in->stage = ANG_CONN_IN_HEAD;
	return true;
}

/*
 * A part has been received completely. Return: true if the connection stays
 * open.
 */
static bool in_whole(struct ang_conns *l, struct ang_conn_in *in)
{
	in->got = 0;
	switch (in->stage) {
	case ANG_CONN_IN_HELLO:
		return in_hello(l, in);
	case ANG_CONN_IN_PROOF:
		return in_proof(l, in);
	case ANG_CONN_IN_HEAD:
		return in_head(l, in);
	default:
		return in_blocks(l, in);
	}
}

/*
 * Return: address for the next bytes of the current part; @missing: number of
 * bytes until it is complete.
 */
static void *in_place(struct ang_conn_in *in, size_t *missing)
{
	size_t whole;
	char *base;

	switch (in->stage) {
	case ANG_CONN_IN_HELLO:
		base = (char *)&in->hello;
		whole = sizeof(in->hello);
		break;
	case ANG_CONN_IN_PROOF:
		base = (char *)&in->proof;
		whole = sizeof(in->proof);
		break;
	case ANG_CONN_IN_HEAD:
		base = (char *)&in->head;
		whole = sizeof(in->head);
		break;
	default:
		base = in->part->blocks;
		whole = (size_t)in->head.len * in->head.blocks;
	}
	*missing = whole - in->got;
	return base + in->got;
}

static void in_read(struct ang_conns *l, struct ang_conn_in *in)
{
	while (in->fd >= 0) {
		size_t missing;
		void *to = in_place(in, &missing);
		ssize_t n = missing ? recv(in->fd, to, missing, 0) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0)
			in->got += (size_t)n;
		if ((missing && n <= 0) ||
		    ((size_t)n == missing && !in_whole(l, in)))
			ang_conn_in_end(in);
	}
}

/*
 * Accepts a few connections at a time, so that each is read before newer ones
 * replace it.  A process without a free descriptor cannot accept a connection:
 * the connection stays in the queue, and the listening socket readable.  If no
 * stranger has a descriptor to free, the socket is ignored for a while.
 */
static void in_accept(struct ang_conns *l)
{
	int fd, n;

	l->deaf_ms = 0;
	for (n = 0; n < IN_AT_ONCE; n++) {
		struct ang_conn_in *in;

		fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && errno == EAGAIN)
			return;
		if (fd < 0 && (errno == EMFILE || errno == ENFILE) &&
		    ang_conn_in_spare(l))
			continue;
		if (fd < 0) {
			l->deaf_ms = ang_conn_now_ms() + IN_DEAF_MS;
			return;
		}
		in = ang_net_nonblocking(fd) ? NULL : in_new(l);
		if (in)
			in->fd = fd;
		else
			close(fd);
	}
}

/** ang_conns_receive() - accept connections and receive messages that have arrived */
void ang_conns_receive(struct ang_conns *l)
{
	u32 i;

	in_accept(l);
	for (i = 0; i < l->num_in; i++)
		in_read(l, &l->in[i]);
}

/** ang_conns_hear() - is there an open connection from @from? */
bool ang_conns_hear(const struct ang_conns *l, u32 from)
{
	u32 i;

	for (i = 0; i < l->num_in; i++)
		if (l->in[i].fd >= 0 && l->in[i].stage >= ANG_CONN_IN_HEAD &&
		    l->in[i].session.from == from)
			return true;
	return false;
}

/**
 * ang_conns_take() - take a message
 * @l: connections
 * @from: rank that sent it
 * @exchange: exchange of the message
 * @step: step of the message
 *
 * Return: the message, to be freed; NULL if it has not arrived.
 */
struct ang_conn_message *ang_conns_take(struct ang_conns *l, u32 from, u64 exchange,
					u32 step)
{
	struct ang_conn_message **at, *msg;
	u32 i;

	for (i = 0; i < l->num_in; i++) {
		if (!l->in[i].first || l->in[i].session.from != from)
			continue;
		for (at = &l->in[i].first; (msg = *at); at = &msg->next) {
			if (msg->head.exchange != exchange || msg->head.step != step)
				continue;
			*at = msg->next;
			return msg;
		}
	}
	return NULL;
}
