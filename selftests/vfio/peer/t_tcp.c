// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two fabrics in one process, joined over TCP by the threads of two servers, in
 * some cases over a proxy that cuts connections.  Also connections of unrelated
 * programs.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cases.h"
#include "join.h"

/*
 * A fabric in two parts.  With @cut, each connection ends after that many
 * bytes.  Only the servers of such fabrics use join_key.
 */
static struct host *joined(const char *dims, const struct ang_cfg *cfg, u64 here,
			   u32 cut)
{
	struct host *h, *twin;
	char text[32];
	u32 port;

	h = join_host(&side[0], dims, cfg, here);
	twin = join_host(&side[1], dims, cfg, ~here);
	join_start(&side[0], "127.0.0.1:0", NULL, NULL, 60);
	port = peers_port(side[0].ps);
	EXPECT(port);
	if (cut)
		port = proxy_start(&proxy, port, cut);
	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	join_start(&side[1], NULL, text, NULL, 60);
	EXPECT_EQ(peers_wait(side[0].ps, 60000), 1);
	EXPECT_EQ(peers_wait(side[1].ps, 60000), 1);
	join_key = NULL;
	EXPECT_EQ(h->fab->cfg.fabric_id, twin->fab->cfg.fabric_id);
	join_pair(h, twin);
	host_start(h);
	return h;
}

static void everything_over(u32 cut)
{
	struct ang_cfg cfg = cfg_default;
	struct traffic one, two;

	cfg.train = 8;
	work_everything(host_new("2x2x2", &cfg), 3, &one);
	work_everything(joined("2x2x2", &cfg, 0x0F, cut), 3, &two);
	/* Credits that are due together go as one packet, so their number depends on timing. */
	one.link[ANGARA_VC_DOWN] = two.link[ANGARA_VC_DOWN];
	EXPECT(!memcmp(&one, &two, sizeof(one)));
}

static void everything(void)
{
	everything_over(0);
}

static void everything_cut(void)
{
	everything_over(30000);
}

static void everything_tls(void)
{
	join_key = key_file(KEY_TEXT, 0600);
	everything_over(60000);
}

static void crowd(void)
{
	work_crowd(joined("5", &cfg_tight, 0x15, 50000));
}

/* A caller that is not part of the torus is refused, and has no effect. */
static void strangers(void)
{
	struct host *h = join_host(&side[0], "2x2", &cfg_default, 1);
	bool nodes[4] = { 0, 1, 1, 1 };
	struct hello hello = { .self = 77, .cfg = h->fab->cfg, .nodes = nodes,
			       .num_nodes = 4 };
	char text[32];
	u8 junk[4096];
	u64 seed = 99;
	u32 port, i, k;
	int fd[40];

	join_start(&side[0], "0", NULL, NULL, 60);
	port = peers_port(side[0].ps);
	for (i = 1; i < sizeof(struct wire_head) + 48; i++)
		calls(port, &hello, i, "");
	hello.cfg.ctxs++;
	calls(port, &hello, 0, "--contexts");
	hello.cfg = h->fab->cfg;
	ang_topo_init(&hello.cfg.topo, 2, (const u16[]){ 3, 1 });
	calls(port, &hello, 0, "--fabric");
	hello.cfg = h->fab->cfg;
	hello.other = 5;
	calls(port, &hello, 0, "earlier server");
	hello.other = 0;
	hello.self = side[0].ps->self;
	calls(port, &hello, 0, "itself");
	hello.self = 78;
	nodes[0] = 1;
	calls(port, &hello, 0, "nodes of this server");
	for (i = 0; i < 50; i++) {
		for (k = 0; k < sizeof(junk); k++)
			junk[k] = (u8)rnd(&seed);
		/* Half of the callers begin with a valid frame. */
		if (i % 2)
			wire_hello_put(junk, &hello);
		fd[0] = call(port);
		send(fd[0], junk, sizeof(junk), MSG_NOSIGNAL);
		close(fd[0]);
	}
	/* More silent callers connect than there are slots. */
	for (i = 0; i < NUM(fd); i++)
		fd[i] = call(port);
	EXPECT(!peers_wait(side[0].ps, 0));
	join_pair(h, join_host(&side[1], "2x2", &cfg_default, ~1ULL));
	snprintf(text, sizeof(text), "%u", port);
	join_start(&side[1], NULL, text, NULL, 60);
	EXPECT_EQ(peers_wait(side[0].ps, 60000), 1);
	EXPECT_EQ(peers_wait(side[1].ps, 60000), 1);
	/* The torus is complete now. */
	nodes[0] = 0;
	hello.self = 79;
	calls(port, &hello, 0, "nodes of another");
	for (i = 0; i < NUM(fd); i++)
		close(fd[i]);
	host_free(h);
}

/*
 * Starts a server of node 0 of 2x2, which waits for a server of the other nodes; fills in a hello
 * of such a server.  Return: port.
 */
static u32 awaits(struct hello *hello, bool nodes[4])
{
	struct host *h = join_host(&side[0], "2x2", &cfg_default, 1);

	join_start(&side[0], "0", NULL, NULL, 60);
	nodes[0] = false;
	nodes[1] = nodes[2] = nodes[3] = true;
	*hello = (struct hello){ .self = 77, .cfg = h->fab->cfg, .nodes = nodes,
				 .num_nodes = 4 };
	return peers_port(side[0].ps);
}

static void awaits_end(void)
{
	struct host *h = side[0].h;

	join_end(&side[0]);
	host_run(h);
	host_free(h);
}

static void sends(int fd, const void *frame, size_t size)
{
	EXPECT(send(fd, frame, size, MSG_NOSIGNAL) == (ssize_t)size);
}

/* Reads frames until one of a type. Return: false: the connection has ended. */
static bool hears(int fd, u32 type, struct wire_head *head, u8 *body)
{
	do {
		if (recv(fd, head, sizeof(*head), MSG_WAITALL) != sizeof(*head))
			return false;
		if (head->length)
			EXPECT(recv(fd, body, le32_to_cpu(head->length), MSG_WAITALL) > 0);
	} while (head->type != type);
	return true;
}

/* Connects to side 0 as a server that sends @hello, and starts side 0.  Return: the connection. */
static int links(u32 port, const struct hello *hello)
{
	u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY];
	struct wire_head head;
	int fd = call(port);

	sends(fd, frame, wire_hello_put(frame, hello));
	EXPECT(hears(fd, WIRE_HELLO, &head, frame));
	EXPECT_EQ(peers_wait(side[0].ps, 60000), 1);
	host_start(side[0].h);
	return fd;
}

static bool is_lost(u32 node)
{
	struct peers *ps = side[0].ps;
	bool lost;

	pthread_mutex_lock(&ps->lock);
	lost = ps->lost[node];
	pthread_mutex_unlock(&ps->lock);
	return lost;
}

/* A frame with a correct checksum that breaks a rule ends the peer. */
static void malformed(void)
{
	u8 frame[sizeof(struct wire_head) + 8] = { 0 }, body[WIRE_MAX_BODY];
	char text[WIRE_MAX_TEXT + 1];
	struct wire_head head;
	struct hello hello;
	bool nodes[4];
	u32 port = awaits(&hello, nodes);
	int fd = links(port, &hello);

	wire_seal(frame, WIRE_ALIVE, 8, 0, 0);
	sends(fd, frame, sizeof(frame));
	EXPECT(hears(fd, WIRE_REFUSE, &head, body));
	wire_text_get(&head, body, text);
	EXPECT(strstr(text, "sent a frame with a body that must not have one"));
	close(fd);
	/* The peer is lost, and its thread has run the work that follows. */
	while (!is_lost(1) || !peers_idle(side[0].ps))
		usleep(1000);
	awaits_end();
}

/* The hello of the first connection arrives again when frames have been exchanged. */
static void late_hello(void)
{
	u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY], body[WIRE_MAX_BODY];
	struct wire_lost nobody = { .node = cpu_to_le32(99) };
	struct wire_head head;
	struct hello hello;
	bool nodes[4];
	u32 port = awaits(&hello, nodes);
	int fd = links(port, &hello), late;

	memcpy(frame + sizeof(head), &nobody, sizeof(nobody));
	wire_seal(frame, WIRE_LOST, sizeof(nobody), 1, 0);
	sends(fd, frame, sizeof(head) + sizeof(nobody));
	do {
		EXPECT(hears(fd, WIRE_ALIVE, &head, body));
	} while (!head.ack);
	late = call(port);
	sends(late, frame, wire_hello_put(frame, &hello));
	EXPECT(!hears(late, WIRE_REFUSE, &head, body));
	EXPECT(hears(fd, WIRE_ALIVE, &head, body));
	close(late);
	close(fd);
	awaits_end();
}

/* Silent callers from one address do not displace a caller from another. */
static void crowded(void)
{
	struct sockaddr_in other = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1),
	};
	u8 frame[sizeof(struct wire_head) + WIRE_MAX_BODY];
	struct wire_head head;
	struct hello hello;
	bool nodes[4];
	int fd[40], slow;
	u32 closed, i, port = awaits(&hello, nodes);
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((u16)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	slow = call(port);
	for (i = 0; i < NUM(fd); i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		EXPECT(!bind(fd[i], (struct sockaddr *)&other, sizeof(other)));
		EXPECT(!connect(fd[i], (struct sockaddr *)&to, sizeof(to)));
	}
	/* The server has room for 16 callers: it has accepted all when it has closed the rest. */
	do {
		for (closed = i = 0; i < NUM(fd); i++)
			closed += !recv(fd[i], frame, 1, MSG_DONTWAIT);
	} while (closed + 15 < NUM(fd));
	sends(slow, frame, wire_hello_put(frame, &hello));
	EXPECT(hears(slow, WIRE_HELLO, &head, frame));
	for (i = 0; i < NUM(fd); i++)
		close(fd[i]);
	close(slow);
	awaits_end();
}

/* Tests valid and invalid addresses that users may give. */
static void addresses(void)
{
	static const char *const bad[] = {
		"", "x", "host:", "host:99999", ":1x", "127.0.0.1",
		"no.such.host.invalid:1", "1:2:3:4",
	};
	struct address a;
	u32 i;

	for (i = 0; i < NUM(bad); i++)
		EXPECT(address_parse(bad[i], &a));
	EXPECT(!address_parse("7000", &a));
	EXPECT(!strcmp(a.name, "127.0.0.1:7000"));
	EXPECT(!address_parse(":7000", &a));
	EXPECT(!strcmp(a.name, "127.0.0.1:7000"));
	EXPECT(!address_parse("[::1]:7000", &a));
	EXPECT(!strcmp(a.name, "[::1]:7000"));
	/* The name of the interface would take a system call that is filtered. */
	EXPECT(!address_parse("[fe80::1%lo]:7000", &a));
	EXPECT(!strcmp(a.name, "[fe80::1]:7000"));
	EXPECT(((struct sockaddr_in6 *)&a.sa)->sin6_scope_id);
	EXPECT(!address_parse("127.0.0.2:1", &a));
	EXPECT(!strcmp(a.name, "127.0.0.2:1"));
}

const struct test_case tcp_cases[] = {
	{ "tcp: two servers give the results of one fabric", everything },
	{ "tcp: the same over connections that are cut", everything_cut },
	{ "tcp: the same by TLS", everything_tls },
	{ "tcp: all to all with little room, cut", crowd },
	{ "tcp: callers that are no servers", strangers },
	{ "tcp: a malformed frame", malformed },
	{ "tcp: a hello that is late", late_hello },
	{ "tcp: many callers from one address", crowded },
	{ "tcp: addresses", addresses },
	{ NULL, NULL },
};
