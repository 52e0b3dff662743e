// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Outgoing connections, see job_conn.h. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "job_conn.h"
#include "job_net.h"

#define OUT_DIAL_MS	5000	/* milliseconds to connect to one address */
#define OUT_PAUSE_MS	50	/* milliseconds between two connections to a process */
#define OUT_LATE_MS	30000	/* milliseconds after which late connections are given up */

void ang_conn_out_end(struct ang_conn_out *out, int err)
{
	if (out->fd >= 0)
		close(out->fd);
	out->fd = -1;
	out->stage = ANG_CONN_OUT_NONE;
	out->err = err;
}

/*
 * All addresses have been dialled.  Begins with the first again after a pause, if
 * the peer may be at one of them.
 */
static void out_last(struct ang_conn_out *out)
{
	bool late = out->late && ang_conn_now_ms() < out->late_ms;

	if (!out->again && !late) {
		out->err = -EPIPE;
		return;
	}
	out->again = false;
	out->late = false;
	out->stage = ANG_CONN_OUT_PAUSE;
	out->until_ms = ang_conn_now_ms() + OUT_PAUSE_MS;
}

/* Dials addresses from @out->place on, until a connection is in progress. */
static void out_dial(struct ang_conns *l, struct ang_conn_out *out)
{
	int ret;

	ang_conn_out_end(out, 0);
	while ((ret = ang_net_dial(out->places, out->place, &out->fd)) != 0) {
		if ((ret == -EMFILE || ret == -ENFILE) && ang_conn_in_spare(l))
			continue;
		if (ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM) {
			out->err = ret;
			return;
		}
		if (ret == -ENOENT) {
			out_last(out);
			return;
		}
		out->place++;
	}
	out->stage = ANG_CONN_OUT_DIAL;
	out->until_ms = ang_conn_now_ms() + OUT_DIAL_MS;
}

static void out_dial_next(struct ang_conns *l, struct ang_conn_out *out)
{
	out->place++;
	out_dial(l, out);
}

/**
 * ang_conns_dial() - ensure that a connection exists or is in progress
 * @l: connections
 * @rank: process to connect to; its card is known
 */
void ang_conns_dial(struct ang_conns *l, u32 rank)
{
	struct ang_conn_out *out = l->out[rank];

	if (out->stage != ANG_CONN_OUT_NONE || out->used)
		return;
	out->session.from = l->rank;
	out->session.to = rank;
	out->place = 0;
	out->again = false;
	out->late = false;
	out->late_ms = ang_conn_now_ms() + OUT_LATE_MS;
	out_dial(l, out);
}

static void out_hello(struct ang_conn_out *out)
{
	struct ang_conn_hello hello = {
		.magic = ANG_CONN_MAGIC, .from = out->session.from,
	};

	if (ang_conn_nonce(&out->session.asked)) {
		ang_conn_out_end(out, -EIO);
		return;
	}
	out->session.answered = 0;
	out->session.count = 0;
	out->got = 0;
	out->stage = ANG_CONN_OUT_ANSWER;
	hello.nonce = out->session.asked;
	hello.mac = ang_conn_mac(out->word, ANG_CONN_HELLO, &out->session, NULL, 0);
	/*
	 * The socket buffer always has room for the first bytes of a
	 * connection. If the connection has ended, receiving the answer fails,
	 * too.
	 */
	send(out->fd, &hello, sizeof(hello), MSG_NOSIGNAL);
}

static void out_dialled(struct ang_conns *l, struct ang_conn_out *out)
{
	int ret = ang_net_dialled(out->fd);
	bool late = ret == -EINPROGRESS && ang_conn_now_ms() >= out->until_ms;

	if (!ret) {
		out_hello(out);
	} else if (ret != -EINPROGRESS || late) {
		/* The connection may be late because the peer's accept queue is full. */
		out->late |= late;
		out_dial_next(l, out);
	}
}

/*
 * The process at this address cannot prove that it is the peer.  Tries the next
 * address of the peer.
 */
static void out_refuse(struct ang_conns *l, struct ang_conn_out *out)
{
	char name[ANG_NET_NAME];

	if (!out->warned) {
		out->warned = true;
		ang_net_name(out->places, out->place, name);
		ang_job_say("rank %u refuses %s, which is not rank %u", l->rank, name,
			    out->session.to);
	}
	out_dial_next(l, out);
}

static void out_answer(struct ang_conns *l, struct ang_conn_out *out)
{
	ssize_t n = recv(out->fd, (char *)&out->answer + out->got,
			 sizeof(out->answer) - out->got, 0);
	struct ang_conn_proof proof;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		/* A stranger listened here, or the peer has closed the connection for room. */
		out->again = true;
		out_dial_next(l, out);
		return;
	}
	out->got += (size_t)n;
	if (out->got < sizeof(out->answer))
		return;
	out->session.answered = out->answer.nonce;
	if (out->answer.mac !=
	    ang_conn_mac(out->word, ANG_CONN_ANSWER, &out->session, NULL, 0)) {
		out_refuse(l, out);
		return;
	}
	proof.mac = ang_conn_mac(out->word, ANG_CONN_PROOF, &out->session, NULL, 0);
	if (send(out->fd, &proof, sizeof(proof), MSG_NOSIGNAL) == sizeof(proof))
		out->stage = ANG_CONN_OUT_READY;
	else
		ang_conn_out_end(out, -EPIPE);
}

/* After the answer, the only event is the end of the connection. */
static void out_listen(struct ang_conn_out *out)
{
	char byte;
	ssize_t n = recv(out->fd, &byte, 1, 0);

	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		ang_conn_out_end(out, -EPIPE);
}

/**
 * ang_conn_out_event() - handle an event of a connection
 * @l: connections
 * @out: one of the connections
 */
void ang_conn_out_event(struct ang_conns *l, struct ang_conn_out *out)
{
	switch (out->stage) {
	case ANG_CONN_OUT_NONE:
		break;
	case ANG_CONN_OUT_PAUSE:
		if (ang_conn_now_ms() < out->until_ms)
			break;
		out->place = 0;
		out_dial(l, out);
		break;
	case ANG_CONN_OUT_DIAL:
		out_dialled(l, out);
		break;
	case ANG_CONN_OUT_ANSWER:
		out_answer(l, out);
		break;
	case ANG_CONN_OUT_READY:
		out_listen(out);
	}
}

/**
 * ang_conn_send() - send as much of a message as there is room for
 * @out: connection
 * @head: head of the message; out: its MACs
 * @blocks: the other bytes of the message
 * @sent: in: bytes sent before; out: incremented by those sent now
 *
 * Return: 0: all is sent; -EAGAIN there is more to send; -errno there is no
 * connection.
 */
int ang_conn_send(struct ang_conn_out *out, struct ang_conn_head *head,
		  const char *blocks, size_t *sent)
{
	size_t len = (size_t)head->len * head->blocks, all = sizeof(*head) + len;

	if (out->stage == ANG_CONN_OUT_NONE)
		return out->err;
	if (out->stage != ANG_CONN_OUT_READY)
		return *sent ? -EPIPE : -EAGAIN;
	if (!*sent) {
		head->blocks_mac = ang_conn_mac(out->word, ANG_CONN_BLOCKS,
						&out->session, blocks, len);
		head->mac = ang_conn_mac(out->word, ANG_CONN_HEAD, &out->session, head,
					 offsetof(struct ang_conn_head, mac));
	}
	while (*sent < all) {
		bool of_head = *sent < sizeof(*head);
		const char *at = of_head ? (const char *)head + *sent :
				 blocks + (*sent - sizeof(*head));
		size_t left = of_head ? sizeof(*head) - *sent : all - *sent;
		ssize_t n = send(out->fd, at, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return -EAGAIN;
		if (n < 0 && errno != EINTR) {
			ang_conn_out_end(out, -EPIPE);
			return -EPIPE;
		}
		if (n > 0) {
			*sent += (size_t)n;
			out->used = true;
		}
	}
	out->session.count++;
	return 0;
}
