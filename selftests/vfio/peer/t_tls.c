// SPDX-License-Identifier: GPL-2.0-only
/*
 * TLS between servers: keys in files, handshakes that break at any byte or meet
 * another key, and servers whose peer does not use TLS.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "join.h"
#include "tls.h"

#define ROUNDS	100	/* rounds after which a handshake that does not end is given up */

/*
 * Two streams, and the socket pairs between them, whose far ends the test has.
 * @passed: bytes moved so far
 * @cut: both streams lose their connection after this number of bytes
 * @flip: the byte that changes on its way
 */
struct wire {
	struct stream *side[2];
	int far[2];
	int state[2];		/* state of the handshake, as stream_shake() returns it */
	const char *flaw[2];
	u32 passed;
	u32 cut;
	u32 flip;
};

static struct tls_key *key_of(const char *text)
{
	struct tls_key *key = tls_key_load(key_file(text, 0600));

	EXPECT(key);
	return key;
}

static void wire_start(struct wire *w, const struct tls_key *dials,
		       const struct tls_key *listens)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->cut = w->flip = ~0U;
	for (i = 0; i < 2; i++) {
		int pair[2];

		EXPECT(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
				   pair));
		w->side[i] = stream_new(pair[0]);
		w->far[i] = pair[1];
		EXPECT(!stream_secure(w->side[i], i ? listens : dials, !i));
	}
}

static void wire_break(struct wire *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		if (w->far[i] >= 0)
			close(w->far[i]);
		w->far[i] = -1;
	}
}

static void wire_end(struct wire *w)
{
	u32 i;

	wire_break(w);
	for (i = 0; i < 2; i++)
		stream_free(w->side[i]);
}

/* Moves what both sides have sent, and checks that it is encrypted. */
static void wire_move(struct wire *w)
{
	u8 buf[4096];
	ssize_t n;
	u32 i;

	for (i = 0; i < 2 && w->far[i] >= 0; i++) {
		n = recv(w->far[i], buf, ang_min(sizeof(buf), w->cut - w->passed),
			 MSG_DONTWAIT);
		EXPECT(n <= 0 || !memmem(buf, (size_t)n, "word", 4));
		if (n > 0 && w->flip - w->passed < (u32)n)
			buf[w->flip - w->passed] ^= 0x10;
		if (n > 0) {
			w->passed += (u32)n;
			EXPECT(send(w->far[!i], buf, (size_t)n, MSG_NOSIGNAL) == n);
		}
		if (w->passed == w->cut)
			wire_break(w);
	}
}

/* Return: have both sides completed the handshake? */
static int wire_shake(struct wire *w)
{
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++)
			if (!w->state[i])
				w->state[i] = stream_shake(w->side[i],
							   &w->flaw[i]);
		wire_move(w);
		if (w->state[0] && w->state[1])
			break;
	}
	return w->state[0] > 0 && w->state[1] > 0;
}

/*
 * Both sides send a word. Return: whether both words have arrived. Other data
 * never arrives.
 */
static int wire_talk(struct wire *w)
{
	u32 round, i, got = 0;
	char buf[16];

	for (i = 0; i < 2; i++)
		if (w->state[i] > 0)
			stream_send(w->side[i], "word", 4, false);
	for (round = 0; round < 4; round++) {
		wire_move(w);
		for (i = 0; i < 2; i++) {
			ssize_t n = w->state[i] > 0 ?
				stream_recv(w->side[i], buf, sizeof(buf)) : -1;

			EXPECT(n <= 0 || (n == 4 && !memcmp(buf, "word", 4)));
			got |= (n > 0 ? 1U : 0) << i;
		}
	}
	return got == 3;
}

/* After a cut, both sides notice: no side waits for ever. */
static void noticed(struct wire *w)
{
	char buf[16];
	u32 i;

	for (i = 0; i < 2; i++) {
		ssize_t n = w->state[i];

		if (n > 0)
			n = stream_recv(w->side[i], buf, sizeof(buf));
		/* The word may have arrived before the cut. */
		if (n > 0)
			n = stream_recv(w->side[i], buf, sizeof(buf));
		EXPECT(w->state[i] > 0 ? n != -EAGAIN : n < 0);
		/* A connection that breaks is not reported as a wrong key. */
		EXPECT(!w->flaw[i]);
	}
}

static void broken(void)
{
	struct tls_key *key = key_of(KEY_TEXT);
	u32 total, at, unnoticed = 0;
	struct wire w;

	wire_start(&w, key, key);
	EXPECT(wire_shake(&w) && wire_talk(&w));
	total = w.passed;
	wire_end(&w);
	for (at = 1; at < total; at++) {
		wire_start(&w, key, key);
		w.cut = at;
		EXPECT(!(wire_shake(&w) && wire_talk(&w)));
		noticed(&w);
		wire_end(&w);
		wire_start(&w, key, key);
		w.flip = at;
		/* TLS 1.3 ignores versions in heads of records: changes there are not noticed. */
		unnoticed += wire_shake(&w) && wire_talk(&w);
		wire_end(&w);
	}
	EXPECT(unnoticed < 20);
	tls_key_free(key);
}

static void other_key(void)
{
	struct tls_key *key = key_of(KEY_TEXT);
	struct tls_key *other = key_of("fedcba98765432100123456789abcdef");
	struct tls_key *near = key_of(KEY_TEXT "00");
	struct wire w;
	u32 i;

	for (i = 0; i < 4; i++) {
		wire_start(&w, i % 2 ? key : i ? near : other,
			   i % 2 ? i > 1 ? near : other : key);
		EXPECT(!wire_shake(&w));
		EXPECT(w.flaw[0] && strstr(w.flaw[0], "another key"));
		EXPECT(w.flaw[1] && strstr(w.flaw[1], "another key"));
		wire_end(&w);
	}
	tls_key_free(near);
	tls_key_free(other);
	tls_key_free(key);
}

/*
 * The sender has more data than the socket takes; it is sent in pieces of any
 * size.
 */
static void flood(void)
{
	enum { TOTAL = 3000000 };
	struct tls_key *key = key_of(KEY_TEXT);
	static u8 piece[50000], got[7000];
	u32 sent = 0, taken = 0, owed = 0, i;
	u64 seed = 5;
	struct wire w;

	wire_start(&w, key, key);
	EXPECT(wire_shake(&w));
	while (taken < TOTAL) {
		u32 size = ang_min(1 + rnd(&seed) % sizeof(piece), TOTAL - sent);
		ssize_t n = 0;

		for (i = 0; i < size; i++)
			piece[i] = (u8)((sent + i) % 251);
		if (size)
			n = stream_send(w.side[0], piece, size, size % 2);
		else
			EXPECT(stream_flush(w.side[0]) <= 0);
		EXPECT(n >= 0 || n == -EAGAIN);
		sent += n > 0 ? (u32)n : 0;
		owed += stream_owes(w.side[0]);
		/* Move data only sometimes, as a slow connection does. */
		if (rnd(&seed) % 3 == 0)
			wire_move(&w);
		do {
			n = stream_recv(w.side[1], got,
					1 + rnd(&seed) % sizeof(got));
			for (i = 0; n > 0 && i < (u32)n; i++)
				EXPECT_EQ(got[i], (taken + i) % 251);
			taken += n > 0 ? (u32)n : 0;
		} while (stream_pending(w.side[1]));
		EXPECT(n > 0 || n == -EAGAIN);
	}
	EXPECT(owed);
	EXPECT_EQ(sent, TOTAL);
	wire_end(&w);
	tls_key_free(key);
}

static void refuses(const char *path, const char *text)
{
	said_clear();
	EXPECT(!tls_key_load(path));
	if (!strstr(said, text) || !strstr(said, "--peer-key"))
		test_fail(__FILE__, __LINE__, "'%s' lacks '%s'", said, text);
}

static void keys(void)
{
	static const struct {
		const char *text, *flaw;
	} bad[] = {
		{ "", "32 to 128" }, { "\n", "32 to 128" },
		{ "0123456789abcdef0123456789abcd", "32 to 128" },
		{ KEY_TEXT "0", "even" },
		{ KEY_TEXT KEY_TEXT KEY_TEXT KEY_TEXT "00", "32 to 128" },
		{ KEY_TEXT "\n\n", "digits only" },
		{ " " KEY_TEXT, "digits only" },
		{ "angara:" KEY_TEXT, "digits only" },
		{ "0123456789abcdefghij0123456789ab", "digits only" },
	};
	int fd[2];
	char path[64];
	u32 i;

	for (i = 0; i < NUM(bad); i++)
		refuses(key_file(bad[i].text, 0600), bad[i].flaw);
	refuses("/no/such/file", "No such file");
	refuses("/", "not a regular file");
	refuses(key_file(KEY_TEXT, 0640), "chmod 600");
	refuses(key_file(KEY_TEXT, 0602), "chmod 600");
	EXPECT(!pipe(fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	refuses(path, "not a regular file");
	close(fd[0]);
	close(fd[1]);
	tls_key_free(key_of(KEY_TEXT));
	tls_key_free(key_of(KEY_TEXT "\n"));
	tls_key_free(key_of("0123456789ABCDEF0123456789abcdef"));
	tls_key_free(key_of(KEY_TEXT KEY_TEXT KEY_TEXT KEY_TEXT "\n"));
}

/*
 * Gets the first bytes that a client with the key sends.  Return: their
 * number.
 */
static u32 client_hello(u8 *buf, u32 size)
{
	struct tls_key *key = key_of(KEY_TEXT);
	struct wire w;
	ssize_t n;

	wire_start(&w, key, key);
	EXPECT(!stream_shake(w.side[0], &w.flaw[0]));
	n = recv(w.far[0], buf, size, 0);
	EXPECT(n > 100);
	wire_end(&w);
	tls_key_free(key);
	return (u32)n;
}

static void sends(u32 port, const void *bytes, u32 size)
{
	int fd = call(port);
	char buf[4096];

	send(fd, bytes, size, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	while (recv(fd, buf, sizeof(buf), 0) > 0)
		;
	close(fd);
}

/* A server with a key accepts a server that has the key, after any other callers. */
static void strangers(void)
{
	struct host *h = join_host(&side[0], "2x2", &cfg_default, 1);
	static const bool nodes[4] = { 0, 1, 1, 1 };
	const struct hello plain = { .self = 77, .cfg = h->fab->cfg,
				     .nodes = (bool *)nodes, .num_nodes = 4 };
	u8 hello[2048], junk[2048];
	u32 size = client_hello(hello, sizeof(hello));
	char text[32];
	u64 seed = 3;
	u32 port, i, k;

	join_key = key_file(KEY_TEXT, 0600);
	join_start(&side[0], "0", NULL, NULL, 60);
	port = peers_port(side[0].ps);
	calls(port, &plain, 0, "does not use TLS");
	for (i = 1; i < size; i++)
		sends(port, hello, i);
	for (i = 0; i < 100; i++) {
		for (k = 0; k < sizeof(junk); k++)
			junk[k] = (u8)rnd(&seed);
		/* Half of these callers begin as a client does. */
		if (i % 2)
			memcpy(junk, hello, rnd(&seed) % size);
		junk[0] = TLS_RECORD;
		sends(port, junk, sizeof(junk));
	}
	EXPECT(strstr(said, "refused"));
	join_pair(h, join_host(&side[1], "2x2", &cfg_default, ~1ULL));
	snprintf(text, sizeof(text), "%u", port);
	join_start(&side[1], NULL, text, NULL, 60);
	EXPECT_EQ(peers_wait(side[0].ps, 60000), 1);
	EXPECT_EQ(peers_wait(side[1].ps, 60000), 1);
	join_key = NULL;
	host_free(h);
}

/* Return: a socket that listens, and its port as text. */
static int listener(char *text, size_t size)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	EXPECT(!bind(fd, (struct sockaddr *)&sa, sizeof(sa)) && !listen(fd, 5));
	EXPECT(!getsockname(fd, (struct sockaddr *)&sa, &len));
	snprintf(text, size, "%u", ntohs(sa.sin_port));
	return fd;
}

/* A server that dials a listener without TLS prints that once, and ends. */
static void impostors(void)
{
	static const char *const bytes[] = {
		"HTTP/1.0 400 Bad Request\r\n\r\n", "\x15\x03\x03", "", "\x16\x03\x03\x02",
	};
	char text[32];
	u32 i, k;
	int fd;

	for (i = 0; i < NUM(bytes); i++) {
		struct host *h = join_host(&side[0], "2x2", &cfg_default, 1);

		said_clear();
		fd = listener(text, sizeof(text));
		join_key = key_file(KEY_TEXT, 0600);
		join_start(&side[0], NULL, text, NULL, 60);
		join_key = NULL;
		/*
		 * After a connection that is only cut, the server tries again.
		 */
		for (k = 0; k < (i ? 3 : 1); k++) {
			int one = accept(fd, NULL, NULL);

			send(one, bytes[i], strlen(bytes[i]), MSG_NOSIGNAL);
			shutdown(one, SHUT_WR);
			if (!i)
				EXPECT_EQ(peers_wait(side[0].ps, 60000), -1);
			close(one);
		}
		EXPECT_EQ(peers_wait(side[0].ps, 0), i ? 0 : -1);
		EXPECT(!i == !!strstr(said, "does not use TLS"));
		close(fd);
		join_end(&side[0]);
		host_free(h);
	}
}

/*
 * Two servers with different keys, or one without a key: they refuse each
 * other, and a message has @line.
 */
static void mismatch(const char *listens, const char *dials, const char *line)
{
	struct host *h = join_host(&side[0], "2x2", &cfg_default, 1);
	struct host *twin = join_host(&side[1], "2x2", &cfg_default, ~1ULL);
	char text[32];

	said_clear();
	join_key = listens;
	join_start(&side[0], "0", NULL, NULL, 60);
	snprintf(text, sizeof(text), "%u", peers_port(side[0].ps));
	join_key = dials;
	join_start(&side[1], NULL, text, NULL, 60);
	join_key = NULL;
	EXPECT_EQ(peers_wait(side[1].ps, 60000), -1);
	EXPECT(!peers_wait(side[0].ps, 0));
	join_end(&side[0]);
	join_end(&side[1]);
	/* The threads of both servers have ended, so none writes a message. */
	if (!strstr(said, line) || !strstr(said, "refused"))
		test_fail(__FILE__, __LINE__, "'%s' lacks '%s'", said, line);
	host_free(h);
	host_free(twin);
}

static void mismatches(void)
{
	const char *key = key_file(KEY_TEXT, 0600);
	const char *other = key_file(KEY_TEXT "22", 0600);

	mismatch(key, other, "has another key");
	mismatch(key, NULL, "does not use TLS");
	mismatch(NULL, key, "uses TLS");
}

const struct test_case tls_cases[] = {
	{ "tls: a handshake breaks at any byte", broken },
	{ "tls: another key", other_key },
	{ "tls: more than the socket takes", flood },
	{ "tls: files of keys", keys },
	{ "tls: callers without the key", strangers },
	{ "tls: a listener that does not use TLS", impostors },
	{ "tls: servers with different keys", mismatches },
	{ NULL, NULL },
};
