// SPDX-License-Identifier: GPL-2.0-only
/*
 * See join.h.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "join.h"

#define JOINS	2

static struct join *joins[JOINS];

struct join side[2];
struct proxy proxy;
const char *join_key;

static void remote_work(void *host, u32 node)
{
	u32 i;

	for (i = 0; i < JOINS; i++)
		if (joins[i] && joins[i]->h == host && joins[i]->ps)
			peers_notify(joins[i]->ps, node);
}

static void run(void *host, struct ang_view *v)
{
	while (ang_view_busy(v))
		ang_run(v, 1000000);
}

void join_forget(void)
{
	memset(joins, 0, sizeof(joins));
}

struct host *join_host(struct join *j, const char *dims,
		       const struct ang_cfg *cfg, u64 here)
{
	u32 i;

	j->h = host_half(dims, cfg, here);
	j->h->ops.remote = remote_work;
	j->ps = NULL;
	for (i = 0; i < j->h->nodes; i++)
		j->ours[i] = here >> i & 1;
	for (i = 0; i < JOINS && joins[i]; i++)
		;
	EXPECT(i < JOINS);
	joins[i] = j;
	return j->h;
}

void join_start(struct join *j, const char *listen, const char *peer,
		const char *peer2, u32 timeout_s)
{
	const char *const peers[2] = { peer, peer2 };
	const struct peers_options o = {
		.listen = listen, .peer = peers,
		.num_peers = !!peer + !!peer2, .timeout_s = timeout_s,
		.key = join_key,
	};
	const struct peers_host host = {
		.mem = j->h->fab, .ops = &j->h->ops, .host = j->h, .run = run,
		.ours = j->ours,
	};

	j->ps = peers_new(&host, &o);
	EXPECT(j->ps);
}

void join_end(struct join *j)
{
	u32 i;

	peers_free(j->ps);
	j->ps = NULL;
	for (i = 0; i < JOINS; i++)
		if (joins[i] == j)
			joins[i] = NULL;
}

static int socket_to(u32 port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons((u16)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (!connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	close(fd);
	return -1;
}

/* Forwards bytes, until @left of them have passed or one side ends. */
static void pass(struct proxy *p, int a, int b, s64 left)
{
	struct pollfd fds[2] = {
		{ .fd = a, .events = POLLIN }, { .fd = b, .events = POLLIN },
	};
	char buf[4096];
	u32 i;

	while (left > 0 && !ang_load_acquire(&p->stop)) {
		if (poll(fds, 2, 50) <= 0)
			continue;
		for (i = 0; i < 2; i++) {
			ssize_t n, at, sent;

			if (!fds[i].revents)
				continue;
			n = recv(fds[i].fd, buf, sizeof(buf), 0);
			if (n <= 0)
				return;
			/* Cut the data, often in the middle of a frame. */
			if (n > left)
				n = left;
			for (at = 0; at < n; at += sent) {
				sent = send(fds[!i].fd, buf + at,
					    (size_t)(n - at), MSG_NOSIGNAL);
				if (sent <= 0)
					return;
			}
			left -= n;
		}
	}
}

static void *proxy_main(void *arg)
{
	struct proxy *p = arg;
	struct pollfd fd = { .fd = p->listener, .events = POLLIN };
	u64 chance = 1234567;

	while (!ang_load_acquire(&p->stop)) {
		int a, b;

		if (poll(&fd, 1, 50) <= 0)
			continue;
		a = accept(p->listener, NULL, NULL);
		b = socket_to(p->to);
		ang_fetch_add(&p->calls, 1);
		if (a >= 0 && b >= 0)
			pass(p, a, b, p->cut / 2 + (s64)(rnd(&chance) % p->cut));
		if (a >= 0)
			close(a);
		if (b >= 0)
			close(b);
	}
	return NULL;
}

u32 proxy_start(struct proxy *p, u32 port, u32 cut)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(sa);

	*p = (struct proxy){ .to = port, .cut = cut };
	p->listener = socket(AF_INET, SOCK_STREAM, 0);
	EXPECT(!bind(p->listener, (struct sockaddr *)&sa, sizeof(sa)));
	EXPECT(!listen(p->listener, 5));
	EXPECT(!getsockname(p->listener, (struct sockaddr *)&sa, &len));
	EXPECT(!pthread_create(&p->thread, NULL, proxy_main, p));
	return ntohs(sa.sin_port);
}

u32 proxy_end(struct proxy *p)
{
	ang_store_release(&p->stop, true);
	pthread_join(p->thread, NULL);
	close(p->listener);
	return p->calls;
}

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 100000 };

	nanosleep(&time, NULL);
}

/* Waits until no packet is in flight: all have arrived, or wait for an action of the test. */
static int quiet(struct host *h)
{
	u32 times = 0;

	while (times < 2) {
		times = peers_idle(side[0].ps) && peers_idle(side[1].ps) ?
			times + 1 : 0;
		nap();
	}
	return 0;
}

static void part(struct host *h)
{
	u32 i;

	for (i = 0; i < 2; i++)
		join_end(&side[i]);
	if (proxy.to)
		EXPECT(proxy_end(&proxy) > 2);
	proxy.to = 0;
}

void join_pair(struct host *h, struct host *twin)
{
	h->pump = twin->pump = quiet;
	h->ending = part;
	h->twin = twin;
	twin->twin = h;
}

int call(u32 port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons((u16)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	EXPECT(fd >= 0 && !connect(fd, (struct sockaddr *)&sa, sizeof(sa)));
	return fd;
}

/* Reads the reply up to the end of the connection; it is empty if there is none. */
static void answer(int fd, char *text)
{
	u8 buf[sizeof(struct wire_head) + WIRE_MAX_TEXT];
	struct wire_head *h = (void *)buf;
	size_t got = 0;
	ssize_t n;

	while (got < sizeof(buf) &&
	       (n = recv(fd, buf + got, sizeof(buf) - got, 0)) > 0)
		got += (size_t)n;
	close(fd);
	text[0] = 0;
	if (got < sizeof(*h))
		return;
	EXPECT(!wire_head_flaw(h) && h->type == WIRE_REFUSE);
	EXPECT_EQ(got, sizeof(*h) + le32_to_cpu(h->length));
	wire_text_get(h, h + 1, text);
}

void calls(u32 port, const struct hello *h, u32 length, const char *text)
{
	u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY];
	char got[WIRE_MAX_TEXT + 1];
	u32 size = wire_hello_put(frame, h);
	int fd = call(port);

	if (length)
		size = length;
	EXPECT(send(fd, frame, size, MSG_NOSIGNAL) == (ssize_t)size);
	shutdown(fd, SHUT_WR);
	answer(fd, got);
	if (!strstr(got, text))
		test_fail(__FILE__, __LINE__, "'%s' lacks '%s'", got, text);
}

const char *key_file(const char *text, u32 mode)
{
	static char path[8][32];
	static u32 next;
	char *at = path[next++ % NUM(path)];
	int fd = memfd_create("key", 0);

	EXPECT(fd >= 0 && !fchmod(fd, mode));
	EXPECT(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(at, sizeof(path[0]), "/proc/self/fd/%d", fd);
	return at;
}
