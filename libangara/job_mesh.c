// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Exchanges over TCP, see job_mesh.h.
 *
 * Each process listens.  Its card tells where, and a random word: who connects
 * says its rank and that word, so nobody from outside the job gets in.  A
 * connection carries messages one way, from who made it.
 *
 * An exchange of n processes takes ceil(log2(n)) steps.  In step k the process
 * at index i sends to i + 2^k what it has, its own block and those of the
 * processes before it, and gets as much from i - 2^k.  So each process talks to
 * a logarithmic number of others, and each block comes to each process once.
 *
 * Messages say exchange and step, and one process's come in the order in which
 * they were sent: those that come early wait in the queue of their connection.
 *
 * A process that cannot go on, because another is gone, takes part in the steps
 * that are left and says so instead of sending blocks: all learn of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "job_mesh.h"
#include "lib.h"

#define MESH_MAGIC	0x314D4E41U	/* "ANM1" */
#define MESH_WORD	16	/* bytes of the random word */
#define MESH_ADDRS	8	/* of a card */
#define MESH_STRANGERS	64	/* connections that have not said who they are */
#define MESH_GRACE_MS	1000	/* for what a process sent before it left */
#define MESH_CONNECT_MS	5000	/* for one of its addresses */
#define MESH_NOBODY	0xFFFFFFFFU

/* All numbers in the byte order of the machine: a job has machines of one kind. */
struct mesh_hello {
	u32 magic;
	u32 from;
	u8 word[MESH_WORD];
};

/**
 * struct mesh_head - head of a message
 * @exchange: hash of group and tag
 * @step: of the exchange
 * @status: 0, or why no blocks follow
 * @len: bytes of a block
 * @blocks: that follow
 */
struct mesh_head {
	u64 exchange;
	u32 step;
	s32 status;
	u32 len;
	u32 blocks;
};

struct mesh_message {
	struct mesh_message *next;
	struct mesh_head head;
	char blocks[];
};

/**
 * struct mesh_in - a connection that another process has made
 * @fd: socket, -1 once it has ended
 * @from: its rank, MESH_NOBODY before it has said so
 * @age: connections that came before
 * @got: bytes of what is being received
 * @hello: the first that is received
 * @head: afterwards, of each message
 * @part: the message, once its head is there
 * @first: messages that have come, the oldest first
 */
struct mesh_in {
	int fd;
	u32 from;
	u64 age;
	size_t got;
	struct mesh_hello hello;
	struct mesh_head head;
	struct mesh_message *part;
	struct mesh_message *first;
};

/**
 * struct ang_mesh - this process's connections
 * @rank: its rank
 * @size: processes of the job
 * @fd: listens
 * @word: what others have to say
 * @card: address and word
 * @out: by rank: socket to it, -1 without one
 * @in: from others
 * @num_in: their number
 * @accepted: connections that have come so far
 * @polls: room for @num_in + 3
 */
struct ang_mesh {
	u32 rank;
	u32 size;
	int fd;
	u8 word[MESH_WORD];
	char card[ANG_MESH_CARD];
	int *out;
	struct mesh_in *in;
	u32 num_in;
	u64 accepted;
	struct pollfd *polls;
};

static int mesh_nonblocking(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fcntl(fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

/* Card: the word in hex, the port, the addresses. */
static int card_write(struct ang_mesh *m, bool here)
{
	struct sockaddr_in self = { .sin_family = AF_INET };
	socklen_t len = sizeof(self);
	struct ifaddrs *all = NULL, *i;
	char *at = m->card;
	u32 n = 0;

	if (getsockname(m->fd, (struct sockaddr *)&self, &len))
		return -errno;
	for (n = 0; n < MESH_WORD; n++)
		at += sprintf(at, "%02x", m->word[n]);
	at += sprintf(at, "-%04x", ntohs(self.sin_port));
	if (here) {
		sprintf(at, "-%08x", (u32)INADDR_LOOPBACK);
		return 0;
	}
	if (getifaddrs(&all))
		return -errno;
	for (i = all, n = 0; i && n < MESH_ADDRS; i = i->ifa_next) {
		struct sockaddr_in sin;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
			continue;
		memcpy(&sin, i->ifa_addr, sizeof(sin));
		at += sprintf(at, "-%08x", ntohl(sin.sin_addr.s_addr));
		n++;
	}
	freeifaddrs(all);
	return n ? 0 : -EADDRNOTAVAIL;
}

/**
 * ang_mesh_new() - listen for the other processes
 * @rank: of this process
 * @size: processes
 * @here: all are on this machine
 * @mesh: out
 *
 * Return: 0; -ENOMEM; -EADDRNOTAVAIL the machine has no IPv4 address; -errno.
 */
int ang_mesh_new(u32 rank, u32 size, bool here, struct ang_mesh **mesh)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(here ? INADDR_LOOPBACK : INADDR_ANY),
	};
	struct ang_mesh *m = calloc(1, sizeof(*m));
	int ret = -ENOMEM;
	u32 i;

	if (!m)
		return -ENOMEM;
	m->rank = rank;
	m->size = size;
	m->fd = -1;
	m->out = calloc(size, sizeof(*m->out));
	m->polls = calloc(3, sizeof(*m->polls));
	if (!m->out || !m->polls)
		goto free_mesh;
	for (i = 0; i < size; i++)
		m->out[i] = -1;
	ret = -EIO;
	if (getrandom(m->word, sizeof(m->word), 0) != sizeof(m->word))
		goto free_mesh;
	m->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->fd < 0 || bind(m->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(m->fd, SOMAXCONN)) {
		ret = -errno;
		goto free_mesh;
	}
	ret = card_write(m, here);
	if (ret)
		goto free_mesh;
	*mesh = m;
	return 0;

free_mesh:
	ang_mesh_free(m);
	return ret;
}

static void in_end(struct mesh_in *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->part);
	in->part = NULL;
}

void ang_mesh_free(struct ang_mesh *m)
{
	u32 i;

	if (!m)
		return;
	for (i = 0; m->out && i < m->size; i++)
		if (m->out[i] >= 0)
			close(m->out[i]);
	for (i = 0; i < m->num_in; i++) {
		in_end(&m->in[i]);
		while (m->in[i].first) {
			struct mesh_message *next = m->in[i].first->next;

			free(m->in[i].first);
			m->in[i].first = next;
		}
	}
	if (m->fd >= 0)
		close(m->fd);
	free(m->out);
	free(m->in);
	free(m->polls);
	free(m);
}

const char *ang_mesh_card(const struct ang_mesh *m)
{
	return m->card;
}

/* Return: 0 connected; -errno. */
static int connect_to(const struct sockaddr_in *addr, int *out)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t len = sizeof(err);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err = errno;
	if (err == EINPROGRESS) {
		err = poll(&p, 1, MESH_CONNECT_MS) == 1 ? 0 : ETIMEDOUT;
		if (!err && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
			err = errno;
	}
	if (!err)
		err = -mesh_nonblocking(fd);
	if (err)
		close(fd);
	else
		*out = fd;
	return -err;
}

/* Return: 0 there is a connection to @rank; -EPIPE it cannot be had; -errno. */
static int out_open(struct ang_mesh *m, ang_mesh_card_fn get, void *arg, u32 rank)
{
	struct mesh_hello hello = { .magic = MESH_MAGIC, .from = m->rank };
	struct sockaddr_in addr = { .sin_family = AF_INET };
	char card[ANG_MESH_CARD];
	unsigned int port, byte, host;
	const char *at = card;
	int ret, n, i;

	if (m->out[rank] >= 0)
		return 0;
	ret = get(arg, rank, card);
	if (ret)
		return ret;
	for (i = 0; i < MESH_WORD; i++, at += 2) {
		if (sscanf(at, "%2x", &byte) != 1)
			return -EPIPE;
		hello.word[i] = (u8)byte;
	}
	if (sscanf(at, "-%4x%n", &port, &n) != 1)
		return -EPIPE;
	addr.sin_port = htons((u16)port);
	ret = -EPIPE;
	for (at += n; ret && sscanf(at, "-%8x%n", &host, &n) == 1; at += n) {
		addr.sin_addr.s_addr = htonl(host);
		ret = connect_to(&addr, &m->out[rank]);
	}
	if (ret)
		return ret == -ENOMEM || ret == -EMFILE ? ret : -EPIPE;
	/* The first bytes of a connection always find room. */
	if (send(m->out[rank], &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello))
		return -EPIPE;
	return 0;
}

/* Too many strangers: the one that has been silent for longest goes. */
static void strangers_end(struct ang_mesh *m)
{
	struct mesh_in *oldest = NULL;
	u32 i, n = 0;

	for (i = 0; i < m->num_in; i++) {
		struct mesh_in *in = &m->in[i];

		if (in->fd < 0 || in->from != MESH_NOBODY)
			continue;
		n++;
		if (!oldest || in->age < oldest->age)
			oldest = in;
	}
	if (n >= MESH_STRANGERS)
		in_end(oldest);
}

/* What strangers have left makes room for others. */
static struct mesh_in *in_new(struct ang_mesh *m)
{
	struct mesh_in *in;
	void *mem;
	u32 i;

	strangers_end(m);
	for (i = 0; i < m->num_in; i++)
		if (m->in[i].fd < 0 && m->in[i].from == MESH_NOBODY)
			break;
	if (i == m->num_in) {
		mem = realloc(m->in, (i + 1) * sizeof(*m->in));
		if (!mem)
			return NULL;
		m->in = mem;
		mem = realloc(m->polls, (i + 4) * sizeof(*m->polls));
		if (!mem)
			return NULL;
		m->polls = mem;
		m->num_in++;
	}
	in = &m->in[i];
	*in = (struct mesh_in){ .fd = -1, .from = MESH_NOBODY, .age = m->accepted++ };
	return in;
}

/* All of the word is looked at, however soon it differs. */
static bool hello_right(const struct ang_mesh *m, const struct mesh_hello *hello)
{
	u8 wrong = 0;
	u32 i;

	for (i = 0; i < MESH_WORD; i++)
		wrong |= hello->word[i] ^ m->word[i];
	return !wrong && hello->magic == MESH_MAGIC && hello->from < m->size;
}

/* Where the next bytes go, and how many are missing there. */
static void *in_place(struct mesh_in *in, size_t *missing)
{
	size_t whole;
	char *base;

	if (in->from == MESH_NOBODY) {
		base = (char *)&in->hello;
		whole = sizeof(in->hello);
	} else if (!in->part) {
		base = (char *)&in->head;
		whole = sizeof(in->head);
	} else {
		base = in->part->blocks;
		whole = (size_t)in->head.len * in->head.blocks;
	}
	*missing = whole - in->got;
	return base + in->got;
}

/* What was being received is whole.  Return: the connection goes on. */
static bool in_whole(struct ang_mesh *m, struct mesh_in *in)
{
	struct mesh_message **end;

	in->got = 0;
	if (in->from == MESH_NOBODY) {
		if (!hello_right(m, &in->hello))
			return false;
		in->from = in->hello.from;
		return true;
	}
	if (!in->part) {
		if (in->head.len > ANG_JOB_MAX_BLOCK || in->head.blocks > m->size)
			return false;
		in->part = malloc(sizeof(*in->part) +
				  (size_t)in->head.len * in->head.blocks);
		if (!in->part)
			return false;
		in->part->head = in->head;
		in->part->next = NULL;
		return true;
	}
	for (end = &in->first; *end; end = &(*end)->next)
		;
	*end = in->part;
	in->part = NULL;
	return true;
}

static void in_read(struct ang_mesh *m, struct mesh_in *in)
{
	while (in->fd >= 0) {
		size_t missing;
		void *to = in_place(in, &missing);
		ssize_t n = missing ? recv(in->fd, to, missing, 0) : 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n > 0)
			in->got += (size_t)n;
		if ((missing && n <= 0) ||
		    ((size_t)n == missing && !in_whole(m, in)))
			in_end(in);
	}
}

static void mesh_accept(struct ang_mesh *m)
{
	int fd;

	while ((fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		struct mesh_in *in = mesh_nonblocking(fd) ? NULL : in_new(m);

		if (!in) {
			close(fd);
			continue;
		}
		in->fd = fd;
		in_read(m, in);
	}
}

/* Takes the message of @from for a step, NULL if it has not come. */
static struct mesh_message *mesh_take(struct ang_mesh *m, u32 from, u64 exchange,
				      u32 step)
{
	struct mesh_message **at, *msg;
	u32 i;

	for (i = 0; i < m->num_in; i++) {
		if (m->in[i].from != from)
			continue;
		for (at = &m->in[i].first; (msg = *at); at = &msg->next) {
			if (msg->head.exchange != exchange || msg->head.step != step)
				continue;
			*at = msg->next;
			return msg;
		}
	}
	return NULL;
}

/* Return: is there a connection of @from that goes on? */
static bool mesh_hears(const struct ang_mesh *m, u32 from)
{
	u32 i;

	for (i = 0; i < m->num_in; i++)
		if (m->in[i].fd >= 0 && m->in[i].from == from)
			return true;
	return false;
}

/**
 * struct mesh_step - a step under way
 * @card: finds the card of another process
 * @arg: handed to it
 * @exchange: hash of group and tag
 * @step: number
 * @to: rank that gets what we have
 * @from: rank that sends
 * @head: of what we send
 * @blocks: it
 * @bytes: of both, together
 * @sent: of these
 * @until_ms: deadline, 0 for none
 * @gone_ms: since when @from seems to be gone, 0 if it does not
 */
struct mesh_step {
	ang_mesh_card_fn card;
	void *arg;
	u64 exchange;
	u32 step;
	u32 to;
	u32 from;
	struct mesh_head head;
	const char *blocks;
	size_t bytes;
	size_t sent;
	u64 until_ms;
	u64 gone_ms;
};

static int step_send(struct ang_mesh *m, struct mesh_step *s)
{
	while (s->sent < s->bytes) {
		bool head = s->sent < sizeof(s->head);
		const char *at = head ? (const char *)&s->head + s->sent :
				 s->blocks + (s->sent - sizeof(s->head));
		size_t left = head ? sizeof(s->head) - s->sent : s->bytes - s->sent;
		ssize_t n = send(m->out[s->to], at, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno != EINTR)
			return -EPIPE;
		if (n > 0)
			s->sent += (size_t)n;
	}
	return 0;
}

/* Sleeps until something can be done, and does it.  Return: 0 or -errno. */
static int step_poll(struct ang_mesh *m, struct mesh_step *s)
{
	u64 now = ang_now_ns() / 1000000;
	struct pollfd *p = m->polls;
	int wait = -1, n;
	bool dead;
	u32 i;

	if (s->until_ms && now >= s->until_ms)
		return -ETIMEDOUT;
	if (s->until_ms)
		wait = (int)(s->until_ms - now < 60000 ? s->until_ms - now : 60000);
	if (m->out[s->from] < 0 && !mesh_hears(m, s->from))
		wait = 50;
	p[0] = (struct pollfd){ .fd = m->fd, .events = POLLIN };
	p[1] = (struct pollfd){
		.fd = s->sent < s->bytes ? m->out[s->to] : -1, .events = POLLOUT,
	};
	/* Nothing comes from there but the end. */
	p[2] = (struct pollfd){
		.fd = m->out[s->from], .events = POLLIN,
	};
	for (i = 0; i < m->num_in; i++)
		p[3 + i] = (struct pollfd){ .fd = m->in[i].fd, .events = POLLIN };
	n = poll(p, 3 + m->num_in, wait);
	if (n < 0 && errno != EINTR)
		return -errno;
	dead = n > 0 && p[2].revents;
	mesh_accept(m);
	for (i = 0; i < m->num_in; i++)
		in_read(m, &m->in[i]);
	if (dead) {
		close(m->out[s->from]);
		m->out[s->from] = -1;
	}
	if (mesh_hears(m, s->from) || m->out[s->from] >= 0) {
		s->gone_ms = 0;
		return 0;
	}
	if (!s->gone_ms)
		s->gone_ms = now;
	if (now - s->gone_ms <= MESH_GRACE_MS)
		return 0;
	/* It may only have closed that connection. */
	return out_open(m, s->card, s->arg, s->from);
}

/*
 * Sends what we have, and gets what @s->from has.  Whoever is gone, the other
 * one is still served.  Return: 0; why no message could be had, or sent.
 */
static int step_run(struct ang_mesh *m, struct mesh_step *s,
		    struct mesh_message **msg)
{
	int sent = 0, ret = 0;

	*msg = NULL;
	while (!ret && (!*msg || (!sent && s->sent < s->bytes))) {
		if (!sent)
			sent = step_send(m, s);
		if (sent)
			s->sent = s->bytes;
		if (!*msg)
			*msg = mesh_take(m, s->from, s->exchange, s->step);
		if (!*msg || s->sent < s->bytes)
			ret = step_poll(m, s);
	}
	return ret ? ret : sent;
}

/* One step; @have blocks of @len at @tmp grow by those that come. */
static int mesh_step(struct ang_mesh *m, struct mesh_step *s, char *tmp, u32 have,
		     u32 more, size_t len, int verdict)
{
	struct mesh_message *msg;
	int ret;

	s->head = (struct mesh_head){
		.exchange = s->exchange,
		.step = s->step,
		.status = verdict,
		.len = (u32)len,
		.blocks = verdict ? 0 : more,
	};
	s->blocks = tmp;
	s->bytes = sizeof(s->head) + s->head.blocks * len;
	s->sent = m->out[s->to] < 0 ? s->bytes : 0;
	s->gone_ms = 0;
	ret = step_run(m, s, &msg);
	if (verdict)
		ret = verdict;
	if (!ret && msg->head.status)
		ret = msg->head.status < 0 ? msg->head.status : -EPIPE;
	if (!ret && msg->head.len != len)
		ret = -EMSGSIZE;
	if (!ret && msg->head.blocks != more)
		ret = -EPIPE;
	if (!ret)
		memcpy(tmp + have * len, msg->blocks, more * len);
	free(msg);
	return ret;
}

/**
 * ang_mesh_exchange() - exchange blocks
 * @m: mesh
 * @card: finds the card of another process
 * @arg: handed to it
 * @timeout_s: seconds that it may take, 0 for any time
 * @ranks: as for ang_job_exchange(), and what follows
 * @nranks: processes
 * @tag: of the exchange
 * @mine: block
 * @len: its bytes
 * @all: out
 *
 * Return: 0; -EPIPE a process is gone; -EMSGSIZE; -ETIMEDOUT; -ENOMEM; -errno.
 */
int ang_mesh_exchange(struct ang_mesh *m, ang_mesh_card_fn card, void *arg,
		      long timeout_s, const u32 *ranks, u32 nranks, u64 tag,
		      const void *mine, size_t len, void *all)
{
	u32 n = ranks ? nranks : m->size, me = m->rank, have = 1, step, i;
	int ret;
	struct mesh_step s = {
		.card = card,
		.arg = arg,
		.exchange = ang_hash(ranks ? ang_ranks_hash(ranks, n) : 0, tag),
		.until_ms = timeout_s ? ang_now_ns() / 1000000 +
					(u64)timeout_s * 1000 : 0,
	};
	char *tmp = malloc(n * len + 1);
	int verdict = tmp ? 0 : -ENOMEM;

	for (i = 0; ranks && i < n; i++)
		if (ranks[i] == m->rank)
			me = i;
	if (tmp && len)
		memcpy(tmp, mine, len);
	for (step = 0; have < n; step++) {
		u32 more = have < n - have ? have : n - have;
		u32 to = (me + have) % n, from = (me + n - have) % n;

		s.step = step;
		s.to = ranks ? ranks[to] : to;
		s.from = ranks ? ranks[from] : from;
		ret = out_open(m, card, arg, s.to);
		if (!verdict)
			verdict = ret;
		/*
		 * It shows whether the other one lives; one that has sent all and
		 * left is none to wait for.
		 */
		mesh_accept(m);
		if (!mesh_hears(m, s.from))
			out_open(m, card, arg, s.from);
		verdict = mesh_step(m, &s, tmp, have, more, len, verdict);
		have += more;
	}
	for (i = 0; !verdict && i < n; i++)
		if (len)
			memcpy((char *)all + (me + n - i) % n * len, tmp + i * len, len);
	free(tmp);
	return verdict;
}
