// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Code that both directions of connections share, see job_conn.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "job_conn.h"
#include "job_net.h"
#include "lib.h"

/*
 * Makes the card: the word in hex, then the addresses of the listening socket.
 */
static int conns_card(struct ang_conns *l, bool here)
{
	char *at = l->card;
	u32 n;

	for (n = 0; n < ANG_SIPHASH_KEY; n++)
		at += sprintf(at, "%02x", l->word[n]);
	return ang_net_place(l->fd, here, at, sizeof(l->card) - (size_t)(at - l->card));
}

/**
 * ang_conns_new() - listen for the other processes
 * @rank: rank of this process
 * @size: processes of the job
 * @here: all processes of the job are on this machine
 * @conns: out
 *
 * Return: 0; -ENOMEM; -EADDRNOTAVAIL the machine has no address; -errno.
 */
int ang_conns_new(u32 rank, u32 size, bool here, struct ang_conns **conns)
{
	struct ang_conns *l = calloc(1, sizeof(*l));
	int ret = -ENOMEM;

	if (!l)
		return -ENOMEM;
	l->rank = rank;
	l->size = size;
	l->fd = -1;
	l->out = calloc(size, sizeof(struct ang_conn_out *));
	l->polls = calloc(3, sizeof(*l->polls));
	if (!l->out || !l->polls)
		goto free_conns;
	ret = -EIO;
	if (getrandom(l->word, sizeof(l->word), 0) != sizeof(l->word))
		goto free_conns;
	ret = ang_net_listen(here, &l->fd);
	if (!ret)
		ret = conns_card(l, here);
	if (ret)
		goto free_conns;
	*conns = l;
	return 0;

free_conns:
	ang_conns_free(l);
	return ret;
}

/**
 * ang_conns_end() - close all connections, so the peers detect that this
 * process has left
 */
void ang_conns_end(struct ang_conns *l)
{
	u32 i;

	for (i = 0; l->out && i < l->size; i++)
		if (l->out[i])
			ang_conn_out_end(l->out[i], -EPIPE);
	for (i = 0; i < l->num_in; i++)
		ang_conn_in_end(&l->in[i]);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

void ang_conns_free(struct ang_conns *l)
{
	struct ang_conn_message *first;
	u32 i;

	if (!l)
		return;
	ang_conns_end(l);
	for (i = 0; l->out && i < l->size; i++)
		free(l->out[i]);
	for (i = 0; i < l->num_in; i++)
		while ((first = l->in[i].first)) {
			l->in[i].first = first->next;
			free(first);
		}
	free(l->out);
	free(l->in);
	free(l->seen);
	free(l->polls);
	free(l);
}

/**
 * ang_conns_learn() - take the card of another process
 * @l: connections
 * @rank: rank of that process
 * @card: card from ang_conns_new() of that process
 *
 * Return: 0; -EPIPE @card is not valid; -ENOMEM.
 */
int ang_conns_learn(struct ang_conns *l, u32 rank, const char *card)
{
	const size_t digits = 2 * ANG_SIPHASH_KEY;
	struct ang_conn_out *out;
	unsigned int byte;
	int i;

	if (strspn(card, "0123456789abcdef") != digits || card[digits] != '-' ||
	    strlen(card) >= ANG_CONN_CARD)
		return -EPIPE;
	out = calloc(1, sizeof(*out));
	if (!out)
		return -ENOMEM;
	out->fd = -1;
	for (i = 0; i < ANG_SIPHASH_KEY; i++) {
		sscanf(card + 2 * i, "%2x", &byte);
		out->word[i] = (u8)byte;
	}
	snprintf(out->places, sizeof(out->places), "%s", card + digits);
	l->out[rank] = out;
	return 0;
}

static struct pollfd out_poll(const struct ang_conn_out *out, bool sends)
{
	struct pollfd p = { .fd = out->fd, .events = POLLIN };

	if (out->stage == ANG_CONN_OUT_DIAL)
		p.events = POLLOUT;
	if (sends && out->stage == ANG_CONN_OUT_READY)
		p.events |= POLLOUT;
	return p;
}

/**
 * ang_conns_poll() - sleep until a connection is ready, and receive
 * @l: connections
 * @to: rank to send to; its card and that of @from are known
 * @sends: data for @to is pending
 * @from: rank to receive from
 * @wait_ms: milliseconds at most
 *
 * Return: 0, also if a signal came; -errno.
 */
int ang_conns_poll(struct ang_conns *l, u32 to, bool sends, u32 from, int wait_ms)
{
	u64 now = ang_conn_now_ms();
	struct pollfd *p = l->polls;
	u32 i;

	p[0] = (struct pollfd){
		.fd = l->deaf_ms > now ? -1 : l->fd, .events = POLLIN,
	};
	p[1] = out_poll(l->out[to], sends);
	p[2] = out_poll(l->out[from], false);
	for (i = 0; i < l->num_in; i++)
		p[3 + i] = (struct pollfd){ .fd = l->in[i].fd, .events = POLLIN };
	if (poll(p, 3 + l->num_in, wait_ms) < 0 && errno != EINTR)
		return -errno;
	ang_conns_receive(l);
	ang_conn_out_event(l, l->out[to]);
	ang_conn_out_event(l, l->out[from]);
	return 0;
}
