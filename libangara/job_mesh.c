// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exchanges over TCP, see job_mesh.h; job_conn.h has the connections.
 *
 * An exchange of n processes takes ceil(log2(n)) steps.  In step k the process
 * at index i sends all its blocks to the process at index i + 2^k: its own and
 * those of the processes before it.  It receives as many blocks from the
 * process at index i - 2^k. So each process communicates with a logarithmic
 * number of others, and each block reaches each process once.  Before the first
 * step a process gets the cards of all its partners, so the steps do not need
 * the launcher.
 *
 * Each message contains exchange and step; messages of one process arrive in
 * the order in which they were sent.  Early messages wait in the queue of their
 * connection.
 *
 * A process that cannot continue because another is gone still takes part in
 * the remaining steps.  It sends the error instead of blocks, so all processes
 * receive the error.
 */
#include <errno.h>
#include <stdlib.h>

#include "job.h"
#include "job_conn.h"
#include "job_mesh.h"
#include "job_net.h"
#include "lib.h"

#define MESH_GRACE_MS	1000 /* milliseconds to read data of a process that has left */
#define MESH_LOOK_MS	50	/* milliseconds between two polls without a connection */

static_assert(ANG_MESH_CARD == ANG_CONN_CARD, "a card");

/**
 * struct ang_mesh - this process's connections
 * @rank: rank of this process
 * @size: processes of the job
 * @conns: connections
 */
struct ang_mesh {
	u32 rank;
	u32 size;
	struct ang_conns *conns;
};

/**
 * ang_mesh_new() - listen for the other processes
 * @rank: rank of this process
 * @size: processes of the job
 * @here: all processes of the job are on this machine
 * @mesh: out
 *
 * Return: 0; -ENOMEM; -EADDRNOTAVAIL the machine has no address; -errno.
 */
int ang_mesh_new(u32 rank, u32 size, bool here, struct ang_mesh **mesh)
{
	struct ang_mesh *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	m->rank = rank;
	m->size = size;
	ret = ang_conns_new(rank, size, here, &m->conns);
	if (ret)
		free(m);
	else
		*mesh = m;
	return ret;
}

void ang_mesh_free(struct ang_mesh *m)
{
	if (!m)
		return;
	ang_conns_free(m->conns);
	free(m);
}

const char *ang_mesh_card(const struct ang_mesh *m)
{
	return m->conns->card;
}

/**
 * struct mesh_step - a step in progress
 * @exchange: hash of group and tag
 * @step: number
 * @to: rank that we send to
 * @from: rank that we receive from
 * @head: head of the message that we send
 * @blocks: blocks of that message
 * @sent: bytes sent of head and blocks
 * @timeout_s: seconds that the exchange may take, 0: no limit
 * @until_ms: deadline, 0 for none
 * @gone_ms: time since which @from seems to be gone; 0: it seems to be alive
 * @again: @from was dialled again since @gone_ms
 */
struct mesh_step {
	u64 exchange;
	u32 step;
	u32 to;
	u32 from;
	struct ang_conn_head head;
	const char *blocks;
	size_t sent;
	u32 timeout_s;
	u64 until_ms;
	u64 gone_ms;
	bool again;
};

/* Prints which process makes an exchange fail, and why. */
static void mesh_tell(const struct ang_mesh *m, u32 rank, const char *what, u32 seconds)
{
	const struct ang_conn_out *out = m->conns->out[rank];
	char name[ANG_NET_NAME];

	ang_net_name(out ? out->places : "",
		     out && out->stage > ANG_CONN_OUT_PAUSE ? out->place : 0, name);
	if (seconds)
		ang_job_say("rank %u: rank %u at %s %s within %u s", m->rank, rank,
			    name, what, seconds);
	else
		ang_job_say("rank %u: rank %u at %s %s", m->rank, rank, name, what);
}

static bool mesh_met(const struct ang_mesh *m, u32 rank)
{
	return m->conns->out[rank]->stage == ANG_CONN_OUT_READY ||
	       ang_conns_hear(m->conns, rank);
}

/* Prints the processes that are late, after the deadline has passed. */
static int step_late(const struct ang_mesh *m, const struct mesh_step *s, bool got,
		     bool sent)
{
	if (!got)
		mesh_tell(m, s->from, mesh_met(m, s->from) ?
			  "has connected but sent nothing" : "has not connected", s->timeout_s);
	if (!sent && (got || s->to != s->from))
		mesh_tell(m, s->to, mesh_met(m, s->to) ?
			  "has connected but received nothing" : "has not connected", s->timeout_s);
	return -ETIMEDOUT;
}

/*
 * Checks that @s->from, which has sent nothing yet, is alive.  A process with an open connection to
 * or from this process is alive.  A process without one may have closed just that connection, so
 * dials it once more before giving up.
 * Return: 0: the process may be alive; -errno: it cannot be reached.
 */
static int step_alive(struct ang_mesh *m, struct mesh_step *s)
{
	const struct ang_conn_out *out = m->conns->out[s->from];
	u64 now = ang_conn_now_ms();

	if (mesh_met(m, s->from))
		s->again = false;
	if (mesh_met(m, s->from) || out->stage == ANG_CONN_OUT_ANSWER) {
		s->gone_ms = 0;
	} else if (out->stage == ANG_CONN_OUT_NONE && s->again) {
		if (out->err == -EPIPE)
			mesh_tell(m, s->from, "has ended or closed its connections", 0);
		return out->err;
	} else if (!s->gone_ms) {
		s->gone_ms = now;
	} else if (out->stage == ANG_CONN_OUT_NONE &&
		   now - s->gone_ms > MESH_GRACE_MS) {
		s->again = true;
		ang_conns_dial(m->conns, s->from);
	}
	return 0;
}

/*
 * Return: milliseconds that a poll may sleep: until the deadline, but at most MESH_LOOK_MS if a
 * connection is missing, or if no connections are accepted now.
 */
static int step_wait_ms(const struct ang_mesh *m, const struct mesh_step *s)
{
	const struct ang_conns *l = m->conns;
	u64 now = ang_conn_now_ms();
	u64 wait = s->until_ms ? s->until_ms - now : 60000;

	if (s->until_ms && now >= s->until_ms)
		return 0;
	if (l->out[s->to]->stage < ANG_CONN_OUT_ANSWER ||
	    l->out[s->from]->stage < ANG_CONN_OUT_ANSWER || l->deaf_ms > now)
		wait = wait < MESH_LOOK_MS ? wait : MESH_LOOK_MS;
	return wait < 60000 ? (int)wait : 60000;
}

/*
 * Sends our blocks, and receives those of @s->from.  If one of the two
 * processes is gone, this process still communicates with the other.  Return:
 * 0; the error of receiving or sending.
 */
static int step_run(struct ang_mesh *m, struct mesh_step *s,
		    struct ang_conn_message **msg)
{
	struct ang_conns *l = m->conns;
	int sent = -EAGAIN, ret = 0;

	*msg = NULL;
	while (!ret) {
		if (sent == -EAGAIN) {
			sent = ang_conn_send(l->out[s->to], &s->head, s->blocks,
					     &s->sent);
			if (sent == -EPIPE)
				mesh_tell(m, s->to, "has ended or closed its connections", 0);
		}
		if (!*msg)
			*msg = ang_conns_take(l, s->from, s->exchange, s->step);
		if (*msg && sent != -EAGAIN)
			return sent;
		if (s->until_ms && ang_conn_now_ms() >= s->until_ms)
			ret = step_late(m, s, *msg, sent != -EAGAIN);
		if (!ret)
			ret = ang_conns_poll(l, s->to, sent == -EAGAIN, s->from,
					     step_wait_ms(m, s));
		if (!ret && !*msg)
			ret = step_alive(m, s);
	}
	/*
	 * After a part of a message, no other message can be sent: end the
	 * connection.
	 */
	if (sent == -EAGAIN && s->sent)
		ang_conn_out_end(l->out[s->to], -EPIPE);
	return ret;
}

/*
 * Executes a step: sends @more blocks, and appends the received blocks to the @have blocks of @len
 * bytes at @tmp.  @verdict: error of an earlier step, which is sent instead of blocks; 0: none
 */
static int mesh_step(struct ang_mesh *m, struct mesh_step *s, char *tmp, u32 have,
		     u32 more, size_t len, int verdict)
{
	struct ang_conn_message *msg;
	int ret;

	s->head = (struct ang_conn_head){
		.exchange = s->exchange,
		.step = s->step,
		.status = verdict,
		.len = (u32)len,
		.blocks = verdict ? 0 : more,
	};
	s->blocks = tmp;
	s->sent = 0;
	s->gone_ms = 0;
	s->again = false;
	ang_conns_dial(m->conns, s->to);
	/*
	 * A connection shows that @s->from is alive.  If @s->from has none to this process, dial
	 * it: do not wait for a process that has sent everything and left.
	 */
	ang_conns_receive(m->conns);
	if (!ang_conns_hear(m->conns, s->from))
		ang_conns_dial(m->conns, s->from);
	ret = step_run(m, s, &msg);
	if (verdict)
		ret = verdict;
	if (!ret && msg->head.status)
		ret = msg->head.status < 0 ? msg->head.status : -EPIPE;
	if (!ret && msg->head.len != len)
		ret = -EMSGSIZE;
	if (!ret && msg->head.blocks != more)
		ret = -EPIPE;
	if (!ret)
		memcpy(tmp + have * len, msg->blocks, more * len);
	free(msg);
	return ret;
}

/* Gets the card of @rank unless it is known.  Return: 0 or -errno. */
static int mesh_learn(struct ang_mesh *m, ang_mesh_card_fn card, void *arg, u32 rank)
{
	char text[ANG_MESH_CARD];
	int ret;

	if (m->conns->out[rank])
		return 0;
	ret = card(arg, rank, text);
	return ret ? ret : ang_conns_learn(m->conns, rank, text);
}

/* Sets the partners of the step in which the process has @have blocks. */
static void step_peers(struct mesh_step *s, const u32 *ranks, u32 n, u32 me, u32 have)
{
	u32 to = (me + have) % n, from = (me + n - have) % n;

	s->to = ranks ? ranks[to] : to;
	s->from = ranks ? ranks[from] : from;
}

/**
 * ang_mesh_exchange() - exchange blocks
 * @m: mesh
 * @card: function that gets the card of another process
 * @arg: argument of @card
 * @timeout_s: seconds that the exchange may take, 0: no limit
 * @ranks: group, ascending and with this process; NULL for all
 * @nranks: processes in the group
 * @tag: equal at all processes of the group
 * @mine: block of this process
 * @len: bytes of the block
 * @all: out: blocks in the order of the group
 *
 * Prints on standard error which process is late or gone.
 *
 * Return: 0; -EPIPE a process is gone; -EMSGSIZE; -ETIMEDOUT; -ENOMEM; -errno;
 * an error of @card.
 */
int ang_mesh_exchange(struct ang_mesh *m, ang_mesh_card_fn card, void *arg,
		      u32 timeout_s, const u32 *ranks, u32 nranks, u64 tag,
		      const void *mine, size_t len, void *all)
{
	u32 n = ranks ? nranks : m->size, me = m->rank, have = 1, step, i;
	struct mesh_step s = {
		.exchange = ang_hash(ranks ? ang_ranks_hash(ranks, n) : 0, tag),
		.timeout_s = timeout_s,
		.until_ms = timeout_s ? ang_conn_now_ms() + (u64)timeout_s * 1000 : 0,
	};
	int verdict = 0;
	char *tmp;

	for (i = 0; ranks && i < n; i++)
		if (ranks[i] == m->rank)
			me = i;
	for (; !verdict && have < n; have += have) {
		step_peers(&s, ranks, n, me, have);
		verdict = mesh_learn(m, card, arg, s.to);
		if (!verdict)
			verdict = mesh_learn(m, card, arg, s.from);
	}
	/*
	 * A card is missing: close the connections, so that the other processes detect the error.
	 */
	if (verdict) {
		ang_conns_end(m->conns);
		return verdict;
	}
	tmp = malloc(n * len + 1);
	if (!tmp)
		verdict = -ENOMEM;
	if (tmp && len)
		memcpy(tmp, mine, len);
	have = 1;
	for (step = 0; have < n; step++) {
		u32 more = have < n - have ? have : n - have;

		s.step = step;
		step_peers(&s, ranks, n, me, have);
		verdict = mesh_step(m, &s, tmp, have, more, len, verdict);
		have += more;
	}
	for (i = 0; !verdict && i < n; i++)
		if (len)
			memcpy((char *)all + (me + n - i) % n * len, tmp + i * len, len);
	free(tmp);
	return verdict;
}
