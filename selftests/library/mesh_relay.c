// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connections through a relay, which records and can change the data that it
 * passes on, see mesh.c.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mesh.h"

/* A relay of the data between rank 0 and rank 1, in both directions. */
struct relay {
	int listens, in, out;
	char card[ANG_MESH_CARD];
	unsigned char seen[4096];
	size_t len;
	size_t flip;		/* byte to change, counted from 1; 0: none */
	size_t back;		/* bytes from the listener so far */
	size_t flip_back;	/* byte to change from the listener; 0: none */
	size_t cut;		/* bytes after which the first connection ends */
	bool stop;
	pthread_t thread;
};

/* Passes on received data.  Return: false at the end. */
static bool relay_pass(int from, int to, unsigned char *at, size_t room, size_t *count_,
		       size_t flip)
{
	ssize_t n = recv(from, at, room, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		return false;
	if (flip > *count_ && flip <= *count_ + (size_t)n)
		at[flip - *count_ - 1] ^= 0x10;
	*count_ += (size_t)n;
	return send(to, at, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Return: whether a connection was accepted. */
static bool relay_accept(struct relay *r)
{
	do
		r->in = accept(r->listens, NULL, NULL);
	while (r->in < 0 && errno == EAGAIN &&
	       !__atomic_load_n(&r->stop, __ATOMIC_RELAXED) && !usleep(1000));
	return r->in >= 0;
}

static void relay_serve(struct relay *r)
{
	const size_t most = r->cut ? r->cut : sizeof(r->seen);
	unsigned char back[256];
	struct pollfd p[2];

	do {
		p[0] = (struct pollfd){ .fd = r->in, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = r->out, .events = POLLIN };
		poll(p, 2, -1);
	} while (relay_pass(r->in, r->out, r->seen + r->len, most - r->len, &r->len,
			    r->flip) &&
		 relay_pass(r->out, r->in, back, sizeof(back), &r->back, r->flip_back) &&
		 !(r->cut && r->len == r->cut));
}

static void *relay_main(void *arg)
{
	struct relay *r = arg;

	if (relay_accept(r))
		relay_serve(r);
	if (r->cut) {
		/*
		 * Data of this connection is lost; the next connection works.
		 */
		usleep(200000);
		close(r->in);
		close(r->out);
		r->cut = 0;
		r->len = 0;
		r->out = connect_to(places(1));
		if (relay_accept(r))
			relay_serve(r);
	}
	shutdown(r->out, SHUT_RDWR);
	shutdown(r->in, SHUT_RDWR);
	return NULL;
}

static bool relay_start(struct relay *r, size_t flip, size_t flip_back, size_t cut)
{
	memset(r, 0, sizeof(*r));
	r->cut = cut;
	r->flip = flip;
	r->flip_back = flip_back;
	memcpy(r->card, ang_mesh_card(parts[1].mesh), WORD_TEXT);
	r->out = connect_to(places(1));
	if (r->out < 0 || ang_net_listen(true, &r->listens) ||
	    ang_net_place(r->listens, true, r->card + WORD_TEXT,
			  sizeof(r->card) - WORD_TEXT))
		return false;
	parts[0].cards[1] = r->card;
	return !pthread_create(&r->thread, NULL, relay_main, r);
}

static void relay_end(struct relay *r)
{
	__atomic_store_n(&r->stop, true, __ATOMIC_RELAXED);
	pthread_join(r->thread, NULL);
	close(r->listens);
	close(r->in);
	close(r->out);
}

static bool has_word(const struct relay *r)
{
	u8 word[ANG_SIPHASH_KEY];
	unsigned int byte, i;

	for (i = 0; i < sizeof(word); i++) {
		sscanf(r->card + 2 * i, "%2x", &byte);
		word[i] = (u8)byte;
	}
	return memmem(r->seen, r->len, word, sizeof(word));
}

/* A recorded connection contains no secret, and cannot be replayed. */
void test_repeat(void)
{
	unsigned char answer[64];
	char line[SAID_MAX];
	struct relay r;
	int fd;

	if (!make(2, true) || !relay_start(&r, 0, 0, 0)) {
		ok(false, "a relay between two processes");
		return;
	}
	exchange(2, 1);
	ok(got(0, 2, 1) && got(1, 2, 1) && r.len > BLOCK,
	   "a relay between two processes");
	ok(!has_word(&r), "a connection does not show the word of the card");
	fd = connect_to(places(1));
	ok(fd >= 0 && send(fd, r.seen, r.len, MSG_NOSIGNAL) == (ssize_t)r.len,
	   "a stranger repeats a connection");
	parts[0].delay_ms = 500;
	said_start();
	exchange(2, 50);
	ok(said_end(line) == 1 && strstr(line, "rank 1 refuses "),
	   "one line says so");
	ok(got(1, 2, 50), "its message is not accepted as a new one");
	ok(!read_some(fd, answer, sizeof(answer)), "it gets no answer");
	close(fd);
	drop();
	relay_end(&r);
}

/*
 * Changes one byte each of the hello, the proof, the head and the blocks of the
 * first message, and the answer.
 */
void test_change(void)
{
	static const struct {
		size_t byte, back;
		const char *what;
	} cases[] = {
		{ 1 + offsetof(struct ang_conn_hello, from), 0,
		  "a changed rank is refused" },
		{ 1 + offsetof(struct ang_conn_hello, nonce), 0,
		  "a changed nonce is refused" },
		{ 0, 1 + offsetof(struct ang_conn_answer, nonce),
		  "a changed nonce in the answer is refused" },
		{ 0, 1 + offsetof(struct ang_conn_answer, mac),
		  "a changed answer is refused" },
		{ sizeof(struct ang_conn_hello) + 1, 0, "a changed proof is refused" },
		{ sizeof(struct ang_conn_hello) + sizeof(struct ang_conn_proof) + 1 +
		  offsetof(struct ang_conn_head, step), 0,
		  "a changed step is refused" },
		{ sizeof(struct ang_conn_hello) + sizeof(struct ang_conn_proof) + 1 +
		  offsetof(struct ang_conn_head, status), 0,
		  "a changed status is refused" },
		{ sizeof(struct ang_conn_hello) + sizeof(struct ang_conn_proof) + 1 +
		  offsetof(struct ang_conn_head, len), 0,
		  "a changed length is refused" },
		{ sizeof(struct ang_conn_hello) + sizeof(struct ang_conn_proof) +
		  sizeof(struct ang_conn_head) + 7, 0, "a changed block is refused" },
	};
	char line[SAID_MAX];
	struct relay r;
	size_t i;

	deadline_s = 1;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!make(2, true) || !relay_start(&r, cases[i].byte, cases[i].back, 0)) {
			ok(false, cases[i].what);
			continue;
		}
		said_start();
		exchange(2, 1);
		said_end(line);
		ok((parts[1].ret == -EPIPE || parts[1].ret == -ETIMEDOUT) &&
		   strstr(line, " refuses "), cases[i].what);
		drop();
		relay_end(&r);
	}
	deadline_s = 3;
}

/*
 * A message is lost with its connection.  The sender has completed its exchange
 * and continues: the next message must not be taken for the lost one.
 */
void test_loss(void)
{
	const size_t proved = sizeof(struct ang_conn_hello) + sizeof(struct ang_conn_proof);
	char line[SAID_MAX];
	struct relay r;
	unsigned char i;

	if (!make(2, true) || !relay_start(&r, 0, 0, proved)) {
		ok(false, "a message that is lost");
		return;
	}
	said_start();
	parts[1].deadline_s = 4;
	parts[1].fill = 99;
	pthread_create(&parts[1].thread, NULL, part_main, &parts[1]);
	parts[0].deadline_s = 1;
	for (i = 1; i <= 3; i++) {
		parts[0].fill = i;
		part_main(&parts[0]);
		if (i == 1)
			ok(!parts[0].ret, "the sender of a lost message continues");
	}
	pthread_join(parts[1].thread, NULL);
	said_end(line);
	ok(parts[0].ret && parts[1].ret, "no other message is taken for a lost one");
	drop();
	relay_end(&r);
}
