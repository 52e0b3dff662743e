// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes outside of the job that use its ports or connect to it, see mesh.c. */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mesh.h"

/*
 * A process that does not know the card claims to be rank 0. Rank 0 has ended,
 * and rank 1 still detects that.
 */
static void test_stranger(void)
{
	const struct ang_conn_hello hello = { .magic = ANG_CONN_MAGIC, .nonce = 1 };
	char card[ANG_MESH_CARD], line[SAID_MAX];
	int fd;

	if (!make(2, true)) {
		ok(false, "a stranger connects");
		return;
	}
	fd = connect_to(places(1));
	if (fd < 0 || send(fd, &hello, sizeof(hello), 0) != sizeof(hello)) {
		ok(false, "a stranger connects");
		return;
	}
	read_card(&parts[1], 0, card);
	parts[1].cards[0] = card;
	said_start();
	pthread_create(&parts[1].thread, NULL, part_main, &parts[1]);
	usleep(500000);
	ang_mesh_free(parts[0].mesh);
	parts[0].mesh = NULL;
	pthread_join(parts[1].thread, NULL);
	said_end(line);
	ok(parts[1].ret == -EPIPE, "a stranger is not taken for a process that is gone");
	close(fd);
	drop();
}

/* Behaviour of a stranger that listens at the port that rank 1 had. */
enum impostor {
	SILENT, GARBAGE, ECHO, HANGS_UP,
};

struct trap {
	enum impostor kind;
	int listens;
	bool stop;
	unsigned char heard[4096];
	size_t len;
	char card[ANG_MESH_CARD];
	pthread_t thread;
};

static void *trap_main(void *arg)
{
	static const unsigned char garbage[64] = { 1, 2, 3 };
	struct trap *t = arg;
	int fd = -1;
	ssize_t n;

	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		usleep(1000);
		if (fd < 0) {
			fd = accept(t->listens, NULL, NULL);
			if (fd >= 0 && t->kind == GARBAGE)
				send(fd, garbage, sizeof(garbage), MSG_NOSIGNAL);
		}
		if (fd < 0 || t->len == sizeof(t->heard))
			continue;
		n = recv(fd, t->heard + t->len, sizeof(t->heard) - t->len,
			 MSG_DONTWAIT);
		if (n > 0 && t->kind == ECHO)
			send(fd, t->heard + t->len, (size_t)n, MSG_NOSIGNAL);
		if (n > 0)
			t->len += (size_t)n;
		if (!n || t->kind == HANGS_UP) {
			close(fd);
			fd = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

/*
 * A stranger listens at the address that rank 0 has for rank 1; rank 1 does
 * not take part.
 */
static void test_impostor(enum impostor kind, int want, const char *tells,
			  const char *what)
{
	struct trap t = { .kind = kind };
	char line[SAID_MAX], block[BLOCK];
	unsigned int n;
	double before;

	if (!make(2, true) || ang_net_listen(true, &t.listens) ||
	    ang_net_place(t.listens, true, t.card + WORD_TEXT,
			  sizeof(t.card) - WORD_TEXT)) {
		ok(false, what);
		return;
	}
	memcpy(t.card, ang_mesh_card(parts[1].mesh), WORD_TEXT);
	parts[0].cards[1] = t.card;
	parts[0].fill = 0x5A;
	memset(block, 0x5A, sizeof(block));
	pthread_create(&t.thread, NULL, trap_main, &t);
	said_start();
	before = seconds();
	part_main(&parts[0]);
	before = seconds() - before;
	n = said_end(line);
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	pthread_join(t.thread, NULL);
	printf("# ends with %d after %.1f s, %zu bytes heard\n", parts[0].ret, before,
	       t.len);
	ok(parts[0].ret == want && n && strstr(line, tells) && before < 20 &&
	   !memmem(t.heard, t.len, block, sizeof(block)), what);
	close(t.listens);
	drop();
}

/* Return: socket that listens at 127.0.0.2 and the port of @places; -1: error. */
static int listen_beside(const char *places)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unsigned int port;

	if (fd >= 0 && sscanf(places, "-%4x", &port) == 1) {
		at.sin_port = htons((uint16_t)port);
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
		if (!bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 8))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * A stranger at the first address of rank 1 closes each connection; rank 1 is at
 * the second address.
 */
static void test_second_address(void)
{
	struct trap t = { .kind = HANGS_UP };

	if (!make(2, true) || (t.listens = listen_beside(places(1))) < 0) {
		ok(false, "a process at its second address");
		return;
	}
	snprintf(t.card, sizeof(t.card), "%.*s%.5s-127.0.0.2%s", WORD_TEXT,
		 ang_mesh_card(parts[1].mesh), places(1), places(1) + 5);
	parts[0].cards[1] = t.card;
	pthread_create(&t.thread, NULL, trap_main, &t);
	exchange(2, 5);
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	pthread_join(t.thread, NULL);
	printf("# ends with %d and %d, card %s\n", parts[0].ret, parts[1].ret,
	       t.card + WORD_TEXT);
	ok(got(0, 2, 5) && got(1, 2, 5) && t.len, "a process at its second address");
	close(t.listens);
	drop();
}

/* A card that names no port. */
static void test_no_port(void)
{
	char card[ANG_MESH_CARD];

	if (!make(2, true)) {
		ok(false, "a card without a port");
		return;
	}
	snprintf(card, sizeof(card), "%.*s-zz-127.0.0.1", WORD_TEXT,
		 ang_mesh_card(parts[1].mesh));
	parts[0].cards[1] = card;
	part_main(&parts[0]);
	ok(parts[0].ret == -EPIPE, "a card without a port");
	drop();
}

static double cpu_seconds(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/*
 * While a connection is pending for which there is no descriptor, the process
 * still sleeps.
 */
static void test_no_descriptors(void)
{
	struct rlimit limit, old;
	int fd = -1, held[64], n = 0;
	double before;

	if (!make(2, true) || (fd = connect_to(places(1))) < 0) {
		ok(false, "a connection that waits");
		return;
	}
	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = 64;
	setrlimit(RLIMIT_NOFILE, &limit);
	while (n < 64 && (held[n] = dup(fd)) >= 0)
		n++;
	before = cpu_seconds();
	part_main(&parts[1]);
	setrlimit(RLIMIT_NOFILE, &old);
	while (n--)
		close(held[n]);
	printf("# ends with %d after %.3f s of processor time\n", parts[1].ret,
	       cpu_seconds() - before);
	ok(parts[1].ret && cpu_seconds() - before < 0.3,
	   "without a free descriptor it sleeps");
	close(fd);
	drop();
}

/*
 * Strangers use up all descriptors and keep their connections open with a byte
 * from time to time; the ranks still get descriptors.
 */
static void test_hogs(void)
{
	enum { HOGS = 40, FREE = 16 };
	struct rlimit limit, old;
	int hogs[HOGS], i, top, status = -1;
	pid_t pid;

	if (!make(2, true)) {
		ok(false, "strangers with descriptors");
		return;
	}
	for (i = 0; i < HOGS; i++)
		hogs[i] = connect_to(places(1));
	parts[0].fill = 7;
	parts[1].fill = 8;
	parts[1].delay_ms = 300;
	/* A child process is rank 0, with its own descriptor table. */
	pid = fork();
	if (!pid) {
		part_main(&parts[0]);
		_exit(!got(0, 2, 7));
	}
	top = dup(hogs[0]);
	close(top);
	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)top + FREE;
	setrlimit(RLIMIT_NOFILE, &limit);
	pthread_create(&parts[1].thread, NULL, part_main, &parts[1]);
	for (i = 0; i < 20 * HOGS; i++) {
		send(hogs[i % HOGS], "x", 1, MSG_NOSIGNAL);
		usleep(500);
	}
	pthread_join(parts[1].thread, NULL);
	setrlimit(RLIMIT_NOFILE, &old);
	waitpid(pid, &status, 0);
	printf("# ends with %d, the other one with status %d\n", parts[1].ret, status);
	ok(!status && got(1, 2, 7), "strangers do not keep descriptors from the processes");
	for (i = 0; i < HOGS; i++)
		close(hogs[i]);
	drop();
}

struct flood {
	bool stop;
	unsigned int n;
	pthread_t thread;
};

/* Opens many connections at a time, until the test ends. */
static void *flood_main(void *arg)
{
	struct flood *f = arg;
	int fds[100], i;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 100; i++)
			f->n += !ang_net_dial(places(i % 2), 0, &fds[i]);
		for (i = 0; i < 100; i++)
			close(fds[i]);
	}
	return NULL;
}

static void test_flood(void)
{
	struct flood f = { 0 };
	bool good;

	if (!make(2, true)) {
		ok(false, "a flood");
		return;
	}
	pthread_create(&f.thread, NULL, flood_main, &f);
	parts[1].delay_ms = 1000;
	exchange(2, 9);
	good = got(0, 2, 9) && got(1, 2, 9);
	__atomic_store_n(&f.stop, true, __ATOMIC_RELAXED);
	pthread_join(f.thread, NULL);
	printf("# ends with %d and %d; %u strangers\n", parts[0].ret, parts[1].ret, f.n);
	ok(good, "exchanges end in time despite a flood of strangers");
	drop();
}

void test_strangers(void)
{
	test_stranger();
	test_impostor(SILENT, -ETIMEDOUT, "rank 0: rank 1 at ",
		      "a silent stranger in place of a process");
	test_impostor(GARBAGE, -EPIPE, "which is not rank 1",
		      "a stranger in place of a process is refused");
	test_impostor(ECHO, -EPIPE, "which is not rank 1",
		      "a stranger that echoes data is refused");
	test_impostor(HANGS_UP, -ETIMEDOUT, "rank 0: rank 1 at ",
		      "a stranger that hangs up");
	test_second_address();
	test_no_port();
	test_no_descriptors();
	test_hogs();
	test_flood();
}
