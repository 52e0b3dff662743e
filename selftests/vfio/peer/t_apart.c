// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each server is a process of its own.  One of them is killed, restarted, or
 * unreachable: the other servers get an error that names a lost node.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "join.h"

#define TREE		2
#define FLIGHT		4	/* operations in flight per context */

static struct join me;
static struct tctx *ctx[64];	/* context of each node; NULL: not in this process */
static u32 pending[64];
static u32 done[64], bad[64];
static u64 lost;		/* nodes named by errors */
static int ready[2], go[2];	/* pipes: a server writes its port to @ready, and
				 * waits for a byte in @go */

static void nap(void)
{
	const struct timespec time = { .tv_nsec = 1000000 };

	nanosleep(&time, NULL);
}

/* Sets the rows of one tree over the whole torus at the local nodes. */
static void tree_lay(const char *dims)
{
	struct angara_topo topo;
	struct angara_tree_row rows[64];
	u16 pe[64];
	u32 i;

	EXPECT(!angara_topo_parse(dims, &topo));
	for (i = 0; i < me.h->nodes; i++)
		pe[i] = 1;
	memset(rows, 0, sizeof(rows));
	EXPECT(angara_tree_build(&topo, 0, pe, TREE, rows) > 0);
	for (i = 0; i < me.h->nodes; i++) {
		if (!me.ours[i])
			continue;
		rows[i].pkey = PKEY;
		EXPECT_EQ(adm_row(me.h, i, &rows[i]), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(me.h, i, ANGARA_ADM_JOIN, 0, TREE),
			  ANGARA_ADM_ST_OK);
	}
}

/* Replaces the rows of a tree that is down. */
static void tree_lay_again(const char *dims)
{
	u32 i;

	for (i = 0; i < me.h->nodes; i++) {
		if (!me.ours[i])
			continue;
		EXPECT_EQ(adm_op(me.h, i, ANGARA_ADM_LEAVE, 0, TREE),
			  ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(me.h, i, ANGARA_ADM_TREE_CLEAR, 0, TREE),
			  ANGARA_ADM_ST_OK);
	}
	tree_lay(dims);
}

/* Makes a context on each local node, and one tree over the whole torus. */
static void work_start(const char *dims)
{
	u32 i;

	host_start(me.h);
	memset(ctx, 0, sizeof(ctx));
	memset(pending, 0, sizeof(pending));
	memset(done, 0, sizeof(done));
	memset(bad, 0, sizeof(bad));
	lost = 0;
	for (i = 0; i < me.h->nodes; i++) {
		if (!me.ours[i])
			continue;
		ctx[i] = ctx_new(me.h, i, 0, PKEY, 6, 6);
		ctx_buffer(ctx[i], 65536);
	}
	tree_lay(dims);
}

/* Reads the next word of a server; fails if a server ends instead. */
static u32 server_word(void)
{
	struct pollfd fd = { .fd = ready[0], .events = POLLIN };
	siginfo_t end = { 0 };
	u32 word;

	while (!poll(&fd, 1, 100)) {
		EXPECT(!waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT));
		EXPECT_EQ(end.si_pid, 0);
	}
	EXPECT(read(ready[0], &word, sizeof(word)) == sizeof(word));
	return word;
}

static void server_tell(u32 word)
{
	if (write(ready[1], &word, sizeof(word)) != sizeof(word))
		_exit(6);
}

/* All servers begin when all of them have set their rows. */
static void together(u32 others)
{
	u32 i;

	for (i = 0; i < others; i++)
		server_word();
	for (i = 0; i < others; i++)
		EXPECT(write(go[1], "", 1) == 1);
}

static void issue(u32 node, u32 n)
{
	struct angara_wqe w;

	if (n % 2)
		w = wqe_coll(ANGARA_OP_ALLREDUCE, TREE, 0, 32768, 3000);
	else
		w = wqe_p2p(n % 4 ? ANGARA_OP_PUT : ANGARA_OP_GET,
			    (node + n / 4) % me.h->nodes, 0, 0, 32768, 30000);
	post(ctx[node], &w, NULL);
	kick(ctx[node]);
	pending[node]++;
}

/* Takes completions.  Return: were there any? */
static int reap(u32 node)
{
	struct angara_cqe cqe;
	int any = 0;

	while (poll_cq(ctx[node], &cqe)) {
		any = 1;
		pending[node]--;
		done[node]++;
		if (cqe.status == ANGARA_ST_OK)
			continue;
		EXPECT(cqe.status == ANGARA_ST_UNREACHABLE ||
		       cqe.status == ANGARA_ST_TREE_DOWN);
		lost |= 1ULL << le32_to_cpu(cqe.node);
		bad[node]++;
	}
	return any;
}

/*
 * Works until each context has @enough completions, including @errors errors.
 */
static void work(u32 enough, u32 errors)
{
	u32 n[64] = { 0 };
	u32 i, busy;

	do {
		int any = 0;

		busy = 0;
		for (i = 0; i < me.h->nodes; i++) {
			if (!ctx[i])
				continue;
			while (pending[i] < FLIGHT)
				issue(i, n[i]++);
			host_run(me.h);
			any |= reap(i);
			busy |= done[i] < enough || bad[i] < errors;
		}
		if (!any)
			nap();
	} while (busy);
}

/* Waits until all operations in flight have ended. */
static void drain(void)
{
	u32 i, left;

	do {
		left = 0;
		for (i = 0; i < me.h->nodes; i++) {
			if (!ctx[i])
				continue;
			host_run(me.h);
			reap(i);
			left += pending[i];
		}
		if (left)
			nap();
	} while (left);
}

static void work_end(void)
{
	u32 i;

	for (i = 0; i < me.h->nodes; i++)
		if (ctx[i])
			ctx_del(ctx[i]);
	EXPECT_EQ(me.h->faults, 0);
	join_end(&me);
	host_free(me.h);
}

static u32 link_events(u32 node, u32 type)
{
	struct angara_hw_event ev;
	u32 n = 0;

	while (aeq_poll(me.h, node, &ev))
		n += ev.type == type;
	return n;
}

/* Waits for events of links of a node. */
static void links_wait(u32 node, u32 type, u32 links)
{
	u32 n = 0;

	while (n < links) {
		nap();
		host_run(me.h);
		n += link_events(node, type);
	}
	EXPECT_EQ(n, links);
}

/* Does a put of one local node to another one arrive? */
static void put_arrives(u32 from, u32 to)
{
	struct angara_wqe w = wqe_p2p(ANGARA_OP_PUT, to, 0, 0, 32768, 5000);
	struct angara_cqe cqe;

	post(ctx[from], &w, NULL);
	kick(ctx[from]);
	host_run(me.h);
	while (!poll_cq(ctx[from], &cqe)) {
		nap();
		host_run(me.h);
	}
	EXPECT_EQ(cqe.status, ANGARA_ST_OK);
}

/* Forgets the completions so far, so that work() counts from 0. */
static void work_anew(void)
{
	memset(done, 0, sizeof(done));
	memset(bad, 0, sizeof(bad));
	lost = 0;
}

/*
 * Starts a process that hosts the nodes @here.  It works until it is killed or, with
 * @until, until each of its contexts has an error.  With @listen it reports its port
 * at once.  Each process reports when its rows are set.
 */
static pid_t server(const char *dims, u64 here, const char *listen,
		    const char *peer, const char *peer2, u32 timeout, int until)
{
	pid_t pid = fork();
	char byte;

	EXPECT(pid >= 0);
	if (pid)
		return pid;
	alarm(600);
	if (setjmp(test_failed)) {
		fprintf(stderr, "server of %s: %s; %s\n", dims, test_why, said);
		_exit(9);
	}
	memset(&me, 0, sizeof(me));
	join_forget();
	join_host(&me, dims, &cfg_default, here);
	join_start(&me, listen, peer, peer2, timeout);
	if (listen)
		server_tell(peers_port(me.ps));
	if (peers_wait(me.ps, 60000) != 1) {
		if (strstr(said, "restart"))
			_exit(3);
		fprintf(stderr, "server of %s: not all servers have connected; %s\n", dims, said);
		_exit(4);
	}
	work_start(dims);
	server_tell(0);
	if (read(go[0], &byte, 1) != 1)
		_exit(6);
	work(0, until ? 1 : ~0U);
	drain();
	_exit(lost & here ? 5 : 0);
}

static void pipes(void)
{
	EXPECT(!pipe(ready) && !pipe(go));
}

static void pipes_end(void)
{
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	close(go[1]);
}

static void end_of(pid_t pid)
{
	int status;

	EXPECT(!kill(pid, SIGKILL));
	EXPECT(waitpid(pid, &status, 0) == pid);
}

/* Kills a server, and waits until operations have ended with errors because of that. */
static void lose(pid_t pid)
{
	end_of(pid);
	work(0, 3);
	drain();
}

/*
 * Waits for a new server that has set its rows, replaces the rows here, and
 * continues with it.
 */
static void resume(const char *dims, u32 nodes)
{
	u32 i;

	for (i = 0; i < nodes; i++)
		links_wait(i, ANGARA_AEV_LINK_UP, 2);
	tree_lay_again(dims);
	EXPECT(write(go[1], "", 1) == 1);
	work_anew();
}

/*
 * A server is killed and started again, several times, while the other one
 * works.
 */
static void killed(void)
{
	char at[32];
	int round;
	pid_t pid;
	u32 i;

	pipes();
	join_host(&me, "2x2x2", &cfg_default, 0x0F);
	join_start(&me, "127.0.0.1:0", NULL, NULL, 1);
	snprintf(at, sizeof(at), "127.0.0.1:%u", peers_port(me.ps));
	pid = server("2x2x2", 0xF0, NULL, at, NULL, 1, 0);
	EXPECT_EQ(peers_wait(me.ps, 60000), 1);
	work_start("2x2x2");
	together(1);
	for (round = 0; round < 3; round++) {
		work(30, 0);
		EXPECT(!lost);
		lose(pid);
		EXPECT(lost && !(lost & 0x0F));
		EXPECT(strstr(said, "nodes 4-7 are gone"));
		for (i = 0; i < 4; i++)
			links_wait(i, ANGARA_AEV_LINK_DOWN, 2);
		/* Operations that do not need the lost nodes continue. */
		for (i = 0; i < 4; i++)
			put_arrives(i, 3 - i);
		pid = server("2x2x2", 0xF0, NULL, at, NULL, 1, 0);
		/* The new server reports that its rows are set. */
		server_word();
		resume("2x2x2", 4);
	}
	work(30, 0);
	EXPECT(!lost);
	lose(pid);
	work_end();
	pipes_end();
}

/* A listening server is restarted while the other one is linked. */
static void restarted(void)
{
	char at[32];
	pid_t pid;

	pipes();
	join_host(&me, "2x2", &cfg_default, 0x3);
	pid = server("2x2", 0xC, "127.0.0.1:0", NULL, NULL, 20, 0);
	snprintf(at, sizeof(at), "127.0.0.1:%u", server_word());
	join_start(&me, NULL, at, NULL, 20);
	EXPECT_EQ(peers_wait(me.ps, 60000), 1);
	work_start("2x2");
	together(1);
	work(10, 0);
	end_of(pid);
	pid = server("2x2", 0xC, at, NULL, NULL, 20, 0);
	server_word();
	/* The new server reports the restart, long before the timeout. */
	work(0, 3);
	drain();
	EXPECT(lost && !(lost & 0x3));
	EXPECT(strstr(said, "earlier server"));
	/* The new server reports that it has joined. */
	server_word();
	resume("2x2", 2);
	work(10, 0);
	EXPECT(!lost);
	lose(pid);
	work_end();
	pipes_end();
}

/* Works with all servers, then kills the servers @pid. */
static void work_and_lose(pid_t *pid, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		EXPECT(write(go[1], "", 1) == 1);
	work_anew();
	work(20, 0);
	EXPECT(!lost);
	for (i = 0; i < num; i++)
		end_of(pid[i]);
	work(0, 2);
	drain();
	EXPECT(lost && !(lost & 1));
}

/*
 * Two of three servers are lost and return one after the other; then both are
 * lost, and one server takes the nodes of both.
 */
static void two_return(void)
{
	char at[2][32];
	pid_t pid[2];

	pipes();
	join_host(&me, "3", &cfg_default, 1);
	join_start(&me, "127.0.0.1:0", NULL, NULL, 1);
	snprintf(at[0], sizeof(at[0]), "127.0.0.1:%u", peers_port(me.ps));
	pid[0] = server("3", 2, "127.0.0.1:0", at[0], NULL, 1, 0);
	snprintf(at[1], sizeof(at[1]), "127.0.0.1:%u", server_word());
	pid[1] = server("3", 4, NULL, at[0], at[1], 1, 0);
	EXPECT_EQ(peers_wait(me.ps, 60000), 1);
	work_start("3");
	server_word();
	server_word();
	work_and_lose(pid, 2);
	links_wait(0, ANGARA_AEV_LINK_DOWN, 2);
	pid[0] = server("3", 2, "127.0.0.1:0", at[0], NULL, 1, 0);
	snprintf(at[1], sizeof(at[1]), "127.0.0.1:%u", server_word());
	server_word();
	links_wait(0, ANGARA_AEV_LINK_UP, 1);
	put_arrives(0, 1);
	pid[1] = server("3", 4, NULL, at[0], at[1], 1, 0);
	server_word();
	links_wait(0, ANGARA_AEV_LINK_UP, 1);
	put_arrives(0, 2);
	tree_lay_again("3");
	work_and_lose(pid, 2);
	pid[0] = server("3", 6, NULL, at[0], NULL, 1, 0);
	server_word();
	links_wait(0, ANGARA_AEV_LINK_UP, 2);
	put_arrives(0, 2);
	tree_lay_again("3");
	work_and_lose(pid, 1);
	work_end();
	pipes_end();
}

/* Two of three servers no longer reach each other: all operations end. */
static void parted(void)
{
	struct proxy relay;
	char at[2][32];
	int status, i;
	pid_t pid[2];

	pipes();
	join_host(&me, "3", &cfg_default, 1);
	join_start(&me, "127.0.0.1:0", NULL, NULL, 2);
	snprintf(at[0], sizeof(at[0]), "127.0.0.1:%u", peers_port(me.ps));
	pid[0] = server("3", 2, "127.0.0.1:0", at[0], NULL, 2, 1);
	snprintf(at[1], sizeof(at[1]), "127.0.0.1:%u",
		 proxy_start(&relay, server_word(), 1U << 30));
	pid[1] = server("3", 4, NULL, at[0], at[1], 2, 1);
	EXPECT_EQ(peers_wait(me.ps, 60000), 1);
	work_start("3");
	together(2);
	work(20, 0);
	EXPECT(!lost);
	proxy_end(&relay);
	work(0, 1);
	drain();
	EXPECT(lost && !(lost & 1));
	EXPECT(strstr(said, "no longer reachable from") ||
	       strstr(said, "says: "));
	for (i = 0; i < 2; i++) {
		EXPECT(waitpid(pid[i], &status, 0) == pid[i]);
		EXPECT(WIFEXITED(status));
		EXPECT_EQ(WEXITSTATUS(status), 0);
	}
	work_end();
	pipes_end();
}

const struct test_case apart_cases[] = {
	{ "apart: a server is killed and started again", killed },
	{ "apart: a listening server is restarted", restarted },
	{ "apart: two servers return", two_return },
	{ "apart: two of three lose each other", parted },
	{ NULL, NULL },
};
