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
	/* Credits that are due at once go as one packet. */
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
	{ "tcp: addresses", addresses },
	{ NULL, NULL },
};
