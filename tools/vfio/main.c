// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-vfio: serve adapters of one fabric to virtual machines.
 *
 * The main thread starts all other threads, then waits for a terminating
 * signal, and checks once a second whether a client blocks the thread of its
 * card.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "card.h"
#include "control.h"
#include "opts.h"

struct server {
	struct opts opts;
	struct fabric *fabric;
	struct control *control;
	struct card *cards;
	u32 num_cards;		/* cards created so far */
	u32 num_threads;
};

/*
 * A lock on the folder ensures that only one of two servers takes over a stale
 * socket.
 */
static int listen_all(struct server *s)
{
	const char *dir = s->opts.dir;
	int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[CARD_SOCKET_LEN];
	int ret = 0;
	u32 i;

	if (lock < 0 || flock(lock, LOCK_EX)) {
		ret = -errno;
		say("--socket-dir '%s': %s", dir, strerror(-ret));
	}
	for (i = 0; !ret && i < s->num_cards; i++) {
		card_socket(&s->cards[i], name);
		ret = listener_open(&s->cards[i].listener, dir, name, 0);
	}
	if (!ret) {
		s->control = control_start(s->fabric, dir);
		ret = s->control ? 0 : -EIO;
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

/* A card needs descriptors for its sockets, and an eventfd for each vector. */
static int raise_limit(const struct server *s)
{
	u64 want = 64 + (u64)s->opts.num_nodes * (s->opts.cfg.ctxs + 32U);
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	if (limit.rlim_cur >= want)
		return 0;
	if (limit.rlim_max < want) {
		say("%u adapters of %u contexts need %llu open files, %llu are allowed: raise `ulimit -n`, or serve fewer",
		    s->opts.num_nodes, s->opts.cfg.ctxs,
		    (unsigned long long)want,
		    (unsigned long long)limit.rlim_max);
		return -EMFILE;
	}
	limit.rlim_cur = want;
	return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : 0;
}

static int make_cards(struct server *s)
{
	int ret;

	s->cards = calloc(s->opts.num_nodes, sizeof(*s->cards));
	if (!s->cards)
		return -ENOMEM;
	for (; s->num_cards < s->opts.num_nodes; s->num_cards++) {
		ret = card_init(&s->cards[s->num_cards], s->fabric,
				s->opts.nodes[s->num_cards], s->opts.cfg.ctxs,
				&s->opts.budget);
		if (ret)
			return ret;
	}
	return 0;
}

/* Return: 0 when every node belongs to a server. */
static int wait_until_whole(struct server *s, const sigset_t *ends)
{
	const struct timespec now = { 0 };
	int ret = fabric_whole(s->fabric, 1000);

	if (!ret)
		say("waiting for the servers of the other nodes");
	while (!ret && sigtimedwait(ends, NULL, &now) < 0)
		ret = fabric_whole(s->fabric, 200);
	return ret > 0 ? 0 : -EIO;
}

static int start(struct server *s, const sigset_t *ends)
{
	int ret = sandbox_begin();

	if (!ret)
		ret = raise_limit(s);
	if (ret)
		return ret;
	if (getrandom(&s->opts.cfg.fabric_id, sizeof(u64), 0) != sizeof(u64))
		return -EIO;
	s->fabric = fabric_new(&s->opts.cfg, s->opts.threads);
	ret = s->fabric ? make_cards(s) : -errno;
	if (ret) {
		say("cannot make a fabric of %u nodes: %s", ang_cfg_check(&s->opts.cfg),
		    strerror(-ret));
		return ret;
	}
	if (s->opts.cfg.remote)
		ret = fabric_link(s->fabric, &s->opts.links, s->opts.ours);
	if (!ret)
		ret = wait_until_whole(s, ends);
	if (!ret)
		ret = listen_all(s);
	if (!ret)
		ret = sandbox_enter(s->opts.cfg.remote);
	for (; !ret && s->num_threads < s->num_cards; s->num_threads++) {
		ret = server_start(&s->cards[s->num_threads]);
		if (ret) {
			say("node %u: cannot start a thread: %s",
			    s->cards[s->num_threads].node, strerror(-ret));
			break;
		}
	}
	return ret;
}

static void stop(struct server *s)
{
	char name[CARD_SOCKET_LEN];
	u32 i;

	if (s->control)
		control_stop(s->control, s->opts.dir);
	for (i = 0; i < s->num_threads; i++)
		server_stop(&s->cards[i]);
	for (i = 0; i < s->num_cards; i++) {
		card_socket(&s->cards[i], name);
		listener_close(&s->cards[i].listener, s->opts.dir, name);
		card_destroy(&s->cards[i]);
	}
	if (s->fabric)
		fabric_free(s->fabric);
	free(s->cards);
	free((void *)s->opts.cfg.topo.table);
	free(s->opts.nodes);
	free(s->opts.ours);
}

static int ready(const struct server *s)
{
	printf("angara-vfio: %u adapters of fabric %s in %s\n", s->num_cards,
	       s->opts.fabric, s->opts.dir);
	fflush(stdout);
	if (s->opts.ready_fd < 0)
		return 0;
	if (write(s->opts.ready_fd, "\n", 1) != 1) {
		say("--ready-fd %d: %s", s->opts.ready_fd, strerror(errno));
		return -EBADF;
	}
	close(s->opts.ready_fd);
	return 0;
}

/* Interrupt calls that are blocked by a client; see card_block(). */
static void watch(struct server *s)
{
	u64 now = seconds();
	u32 i;

	for (i = 0; i < s->num_cards; i++) {
		u64 since = ang_load_acquire(&s->cards[i].since);

		if (since && now - since > CARD_STUCK_S)
			pthread_kill(s->cards[i].thread, SIGUSR1);
	}
}

static void wait_for_end(struct server *s, const sigset_t *ends)
{
	const struct timespec second = { .tv_sec = 1 };

	while (sigtimedwait(ends, NULL, &second) < 0)
		watch(s);
}

static void nothing(int sig)
{
	(void)sig;
}

static void signals(sigset_t *ends)
{
	/* Without SA_RESTART, so the signal interrupts calls. */
	struct sigaction action = { .sa_handler = nothing };

	sigaction(SIGUSR1, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	/* All threads inherit the signal mask. */
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

int main(int argc, char **argv)
{
	struct server s = { 0 };
	sigset_t ends;
	int status = opts_parse(&s.opts, argc, argv);

	if (status >= 0)
		return status;
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	signals(&ends);
	status = start(&s, &ends) || ready(&s);
	if (!status)
		wait_for_end(&s, &ends);
	stop(&s);
	return status;
}
