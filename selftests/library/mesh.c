// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exchanges of job_mesh.c among threads of one process, for
 * selftests/host/pmi.t:
 *
 *	mesh [apart]		"apart": as if the threads were on different machines
 *
 * Prints TAP.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "mesh.h"
#include "siphash.h"

static unsigned int count, failed;

void ok(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++count, what);
	failed += !good;
}

struct part parts[MAX_RANKS];
u32 deadline_s = 3;

int read_card(void *arg, u32 rank, char card[ANG_MESH_CARD])
{
	struct part *p = arg;

	p->asked[rank]++;
	snprintf(card, ANG_MESH_CARD, "%s", p->cards[rank]);
	return 0;
}

void *part_main(void *arg)
{
	unsigned char mine[BLOCK];
	struct part *p = arg;

	memset(mine, p->fill, sizeof(mine));
	usleep(p->delay_ms * 1000);
	p->ret = ang_mesh_exchange(p->mesh, read_card, p,
				   p->deadline_s ? p->deadline_s : deadline_s, NULL, 0, 1,
				   mine, sizeof(mine), p->all);
	return NULL;
}

bool make(unsigned int size, bool here)
{
	unsigned int i, j;

	memset(parts, 0, sizeof(parts));
	for (i = 0; i < size; i++) {
		parts[i].rank = i;
		parts[i].size = size;
		if (ang_mesh_new(i, size, here, &parts[i].mesh))
			return false;
	}
	for (i = 0; i < size; i++)
		for (j = 0; j < size; j++)
			parts[i].cards[j] = ang_mesh_card(parts[j].mesh);
	return true;
}

void drop(void)
{
	unsigned int i;

	for (i = 0; i < MAX_RANKS; i++)
		ang_mesh_free(parts[i].mesh);
}

void exchange(unsigned int size, unsigned char fill)
{
	unsigned int i;

	for (i = 0; i < size; i++) {
		parts[i].fill = (unsigned char)(fill + i);
		pthread_create(&parts[i].thread, NULL, part_main, &parts[i]);
	}
	for (i = 0; i < size; i++)
		pthread_join(parts[i].thread, NULL);
}

/* Does rank @to have the blocks that exchange(@size, @fill) must return? */
bool got(unsigned int to, unsigned int size, unsigned char fill)
{
	unsigned int i;

	for (i = 0; i < size * BLOCK; i++)
		if (parts[to].all[i] != (unsigned char)(fill + i / BLOCK))
			return false;
	return !parts[to].ret;
}

double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Return: the address at which rank @rank listens. */
const char *places(unsigned int rank)
{
	return ang_mesh_card(parts[rank].mesh) + WORD_TEXT;
}

int connect_to(const char *where)
{
	int fd, ret;

	if (ang_net_dial(where, 0, &fd))
		return -1;
	while ((ret = ang_net_dialled(fd)) == -EINPROGRESS)
		usleep(1000);
	if (!ret)
		return fd;
	close(fd);
	return -1;
}

/* Reads without waiting.  Return: bytes. */
size_t read_some(int fd, void *to, size_t size)
{
	ssize_t n = recv(fd, to, size, MSG_DONTWAIT);

	return n > 0 ? (size_t)n : 0;
}

/* Messages of the library during a test, instead of on standard error. */
static FILE *said_file;
static int said_before;

void said_start(void)
{
	said_file = tmpfile();
	fflush(stderr);
	said_before = dup(2);
	dup2(fileno(said_file), 2);
}

/*
 * Ends the capture and prints what was captured.
 * Return: the number of lines; @line gets the first.
 */
unsigned int said_end(char line[SAID_MAX])
{
	unsigned int n = 0;
	char other[SAID_MAX];

	fflush(stderr);
	dup2(said_before, 2);
	close(said_before);
	rewind(said_file);
	line[0] = 0;
	while (fgets(n ? other : line, SAID_MAX, said_file))
		printf("# %s", n++ ? other : line);
	fclose(said_file);
	return n;
}

static void test_exchange(bool here)
{
	unsigned int size, round, i;
	bool good = true;

	for (size = 1; size <= MAX_RANKS; size++) {
		good &= make(size, here);
		for (round = 0; good && round < 3; round++) {
			exchange(size, (unsigned char)(10 * round));
			for (i = 0; i < size; i++)
				good &= got(i, size, (unsigned char)(10 * round));
		}
		drop();
	}
	ok(good, "blocks of 1 to 7 processes");
}

/* A listener with a full queue: connections to it stay pending. */
struct hole {
	int listens;
	int held[8];
};

static bool hole_make(struct hole *h, int listens, const char *where)
{
	size_t i;

	h->listens = listens;
	for (i = 0; i < 8; i++)
		h->held[i] = -1;
	if (listens < 0 || listen(listens, 0))
		return false;
	for (i = 0; i < 8; i++)
		ang_net_dial(where, 0, &h->held[i]);
	usleep(50000);
	return true;
}

static void hole_end(struct hole *h)
{
	size_t i;

	for (i = 0; i < 8; i++)
		close(h->held[i]);
}

/* Return: the socket on which rank @rank listens. */
static int listener_of(unsigned int rank)
{
	char text[ANG_MESH_CARD];
	socklen_t len;
	int on, fd;

	for (fd = 3; fd < 256; fd++) {
		len = sizeof(on);
		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) && on &&
		    !ang_net_place(fd, true, text, sizeof(text)) &&
		    !strcmp(text, places(rank)))
			return fd;
	}
	return -1;
}

/*
 * The address of rank 1 drops all packets: the exchange ends at its deadline.
 */
static void test_hole(void)
{
	char line[SAID_MAX], where[ANG_NET_NAME];
	struct hole h;
	double before;

	if (!make(2, true) || !hole_make(&h, listener_of(1), places(1))) {
		ok(false, "an address that drops packets");
		return;
	}
	ang_net_name(places(1), 0, where);
	said_start();
	before = seconds();
	part_main(&parts[0]);
	before = seconds() - before;
	ok(said_end(line) == 1 && strstr(line, "rank 1 at") && strstr(line, where) &&
	   strstr(line, "has not connected within 3 s"),
	   "the message names the missing process");
	printf("# ends with %d after %.1f s\n", parts[0].ret, before);
	ok(parts[0].ret == -ETIMEDOUT && before < 20,
	   "an address that drops packets does not exceed the time limit");
	hole_end(&h);
	drop();
}

static void on_signal(int sig)
{
	(void)sig;
}

static bool signals_end;

/* Sends a signal each millisecond; the handler interrupts blocking calls. */
static void *signals_main(void *arg)
{
	const pthread_t *to = arg;

	while (!__atomic_load_n(&signals_end, __ATOMIC_RELAXED)) {
		pthread_kill(*to, SIGUSR1);
		usleep(1000);
	}
	return NULL;
}

/*
 * Rank 0 gets signals all the time, while its connection to rank 1 is in
 * progress for a second, and in exchanges.
 */
static void test_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t sender, self = pthread_self();
	struct hole h;
	unsigned int i;
	bool good;

	sigaction(SIGUSR1, &act, NULL);
	signals_end = false;
	if (!make(2, true) || !hole_make(&h, listener_of(1), places(1))) {
		ok(false, "signals");
		return;
	}
	pthread_create(&sender, NULL, signals_main, &self);
	parts[1].delay_ms = 200;
	parts[1].fill = 2;
	parts[0].fill = 1;
	pthread_create(&parts[1].thread, NULL, part_main, &parts[1]);
	part_main(&parts[0]);
	pthread_join(parts[1].thread, NULL);
	good = got(0, 2, 1) && got(1, 2, 1);
	parts[1].delay_ms = 0;
	for (i = 0; good && i < 100; i++) {
		parts[0].fill = (unsigned char)i;
		parts[1].fill = (unsigned char)(i + 1);
		pthread_create(&parts[1].thread, NULL, part_main, &parts[1]);
		part_main(&parts[0]);
		pthread_join(parts[1].thread, NULL);
		good = got(0, 2, (unsigned char)i) && got(1, 2, (unsigned char)i);
	}
	__atomic_store_n(&signals_end, true, __ATOMIC_RELAXED);
	pthread_join(sender, NULL);
	ok(good, "signals do not end an exchange");
	hole_end(&h);
	drop();
}

/* Only rank 0 of seven takes part: it gets the cards of all partners before the first step. */
static void test_cards(void)
{
	char line[SAID_MAX];
	unsigned int i, asked = 0;

	if (!make(MAX_RANKS, true)) {
		ok(false, "cards");
		return;
	}
	said_start();
	part_main(&parts[0]);
	said_end(line);
	for (i = 1; i < MAX_RANKS; i++)
		asked += parts[0].asked[i] == 1;
	ok(parts[0].ret == -ETIMEDOUT && asked == MAX_RANKS - 1,
	   "all cards are requested before the first step, once");
	drop();
}

/* A malformed card is refused, and not read beyond its end. */
static void test_bad_cards(void)
{
	static const char *const bad[] = {
		"", "0", "00-1-", "0123456789abcdef0123456789abcde",
		"0123456789abcdef0123456789abcde-0050-127.0.0.1",
		"0123456789abcdef0123456789abcdef",
		"0123456789abcdef0123456789abcdef0-0050-127.0.0.1",
		"0123456789abcdef+1 3456789abcdef-0050-127.0.0.1",
	};
	struct ang_conns *l;
	size_t i, refused = 0;
	char *card;

	if (ang_conns_new(0, 2, true, &l)) {
		ok(false, "invalid cards");
		return;
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		card = strdup(bad[i]);
		refused += ang_conns_learn(l, 1, card) == -EPIPE;
		free(card);
	}
	ok(refused == i && !l->out[1], "invalid cards");
	ang_conns_free(l);
}

static void test_siphash(void)
{
	static const struct {
		size_t len;
		u64 hash;
	} known[] = {
		{ 0, 0x726FDB47DD0E0E31ULL }, { 8, 0x93F5F5799A932462ULL },
		{ 15, 0xA129CA6149BE45E5ULL },
	};
	struct ang_siphash s;
	bool good = true;
	u8 key[ANG_SIPHASH_KEY], text[16];
	size_t i, cut;

	for (i = 0; i < sizeof(key); i++)
		key[i] = text[i] = (u8)i;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		for (cut = 0; cut <= known[i].len; cut++) {
			ang_siphash_init(&s, key);
			ang_siphash_add(&s, text, cut);
			ang_siphash_add(&s, text + cut, known[i].len - cut);
			good &= ang_siphash_end(&s) == known[i].hash;
		}
	ok(good, "SipHash-2-4: test vectors of its authors");
}

int main(int argc, char **argv)
{
	bool here = argc < 2 || strcmp(argv[1], "apart");

	test_exchange(here);
	if (here) {
		test_siphash();
		test_repeat();
		test_change();
		test_loss();
		test_bad_cards();
		test_strangers();
		test_hole();
		test_signals();
		test_cards();
	}
	printf("1..%u\n", count);
	return !!failed;
}
