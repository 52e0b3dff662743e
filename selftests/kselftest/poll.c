// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping: poll(2), eventfd and arming. No wake-up is lost, none is spurious. */
#include <endian.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "at_harness.h"
#include "angtest.h"

AT_REQUIRE(AT_ROOT | AT_TORUS)

#define COUNTER	3	/* user counter that peers increment */

FIXTURE(sleep) {
	struct at_fabric f;
	struct at_ctx x;
	struct at_ctx y;
};

FIXTURE_SETUP(sleep)
{
	ASSERT_EQ(0, at_fabric_find(&self->f, 8));
	ASSERT_EQ(0, at_ctx_open(&self->x, self->f.dev[0], NULL));
	ASSERT_EQ(0, at_ctx_open(&self->y, self->f.dev[7], NULL));
}

FIXTURE_TEARDOWN(sleep)
{
	at_ctx_close(&self->x);
	at_ctx_close(&self->y);
}

/* Increments the counter of @to, without a completion at @from. */
static int increment(struct at_ctx *from, struct at_ctx *to)
{
	struct angara_wqe w = at_put(to, 0, 0, 0, 0, 0);
	int ret;

	w.flags = ANGARA_WQE_NOTIFY | ANGARA_WQE_QUIET;
	w.counter = htole16(COUNTER);
	ret = at_post(from, &w, NULL);
	return ret ? ret : at_kick(from);
}

static uint64_t count_of(const struct at_ctx *x)
{
	return at_counter(x, ANGARA_CTR_USER(COUNTER));
}

static uint32_t take_note(struct at_ctx *x)
{
	uint32_t seq = at_counter(x, ANGARA_CTR_EVSEQ);

	__atomic_store_n(&x->ctl->seen, htole32(seq), __ATOMIC_SEQ_CST);
	return seq;
}

/* Return: events of poll(2) within @ms. */
static int polled(struct at_ctx *x, int ms)
{
	struct pollfd p = { .fd = x->fd, .events = POLLIN };

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

/* One of two partners that increment each other's counter in turn. */
struct side {
	struct at_ctx *me;
	struct at_ctx *peer;
	unsigned int rounds;
	bool serves;
	int efd;		/* -1: sleep in poll(2) */
	int result;
};

/*
 * Sleeps until the count is @n: exactly by the protocol of the ABI, without
 * further checks.
 */
static int sleep_until(struct side *s, uint64_t n)
{
	struct pollfd p = { .fd = s->efd, .events = POLLIN };
	uint64_t count;
	int ret;

	for (;;) {
		take_note(s->me);
		if (count_of(s->me) >= n)
			return 0;
		if (s->efd < 0) {
			ret = polled(s->me, AT_DEADLINE_MS);
			if (ret != POLLIN)
				return ret ? -EIO : -ETIMEDOUT;
			continue;
		}
		ret = at_arm(s->me);
		if (ret)
			return ret;
		if (poll(&p, 1, AT_DEADLINE_MS) != 1)
			return -ETIMEDOUT;
		if (read(s->efd, &count, sizeof(count)) != sizeof(count))
			return -errno;
	}
}

static void *side_run(void *arg)
{
	struct side *s = arg;
	unsigned int i;

	for (i = 1; i <= s->rounds && !s->result; i++) {
		if (s->serves)
			s->result = increment(s->me, s->peer);
		if (!s->result)
			s->result = sleep_until(s, i);
		if (!s->result && !s->serves)
			s->result = increment(s->me, s->peer);
	}
	return NULL;
}

static void ping_pong(struct __test_metadata *_metadata,
		      FIXTURE_DATA(sleep) *self, bool eventfds)
{
	struct side s[2] = {
		{ .me = &self->x, .peer = &self->y, .serves = true, .efd = -1 },
		{ .me = &self->y, .peer = &self->x, .efd = -1 },
	};
	pthread_t t[2];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		s[i].rounds = at_scale(1000);
		if (!eventfds)
			continue;
		s[i].efd = eventfd(0, EFD_CLOEXEC);
		struct angara_eventfd e = { .size = sizeof(e), .fd = s[i].efd };

		ASSERT_EQ(0, at_ioctl(s[i].me->fd, ANGARA_IOCTL_EVENTFD, &e));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_create(&t[i], NULL, side_run, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(t[i], NULL));
		EXPECT_EQ(0, s[i].result) {
			TH_LOG("side %u after %llu increments", i,
			       (unsigned long long)count_of(s[i].me));
		}
	}
}

TEST_F(sleep, ping_pong_by_poll)
{
	ping_pong(_metadata, self, false);
}

TEST_F(sleep, ping_pong_by_eventfd)
{
	ping_pong(_metadata, self, true);
}

/*
 * Thread that increments the peer's counter many times, while the peer goes to sleep
 * repeatedly.
 */
static void *shower(void *arg)
{
	struct side *s = arg;
	unsigned int i;

	for (i = 0; i < s->rounds && !s->result; i++) {
		s->result = increment(s->me, s->peer);
		if (s->result == -EAGAIN) {
			s->result = 0;
			i--;
			usleep(100);
		}
		if (i % 7 == 0)
			usleep(i % 5 * 30);
	}
	return NULL;
}

TEST_F(sleep, shower)
{
	const unsigned int rounds = at_scale(1500);
	struct side s[2] = {
		{ .me = &self->x, .peer = &self->y, .rounds = rounds },
		{ .me = &self->y, .efd = -1 },
	};
	uint64_t n;
	pthread_t t;

	ASSERT_EQ(0, pthread_create(&t, NULL, shower, &s[0]));
	for (n = 0; n < rounds; n = count_of(&self->y)) {
		ASSERT_EQ(0, sleep_until(&s[1], n + 1)) {
			TH_LOG("asleep after %llu of %u increments", (unsigned long long)n,
			       rounds);
		}
	}
	ASSERT_EQ(0, pthread_join(t, NULL));
	EXPECT_EQ(0, s[0].result);
	EXPECT_EQ(rounds, count_of(&self->y));
}

TEST_F(sleep, readable_until_noted)
{
	take_note(&self->y);
	EXPECT_EQ(0, polled(&self->y, 0));
	ASSERT_EQ(0, increment(&self->x, &self->y));
	ASSERT_EQ(0, at_wait_counter(&self->y, ANGARA_CTR_USER(COUNTER), 1,
				     AT_DEADLINE_MS));
	self->y.ctl->seen = htole32(at_counter(&self->y, ANGARA_CTR_EVSEQ) - 1);
	EXPECT_EQ(POLLIN, polled(&self->y, 0));
	EXPECT_EQ(POLLIN, polled(&self->y, 0));
	take_note(&self->y);
	EXPECT_EQ(0, polled(&self->y, 0));
	/* Every number except the current one means "not seen". */
	self->y.ctl->seen = htole32(at_counter(&self->y, ANGARA_CTR_EVSEQ) + 9);
	EXPECT_EQ(POLLIN, polled(&self->y, 0));
}

TEST_F(sleep, nothing_without_a_context)
{
	struct pollfd p = { .events = POLLIN };

	p.fd = at_open(self->f.dev[0]);
	ASSERT_LE(0, p.fd);
	EXPECT_EQ(0, poll(&p, 1, 0));
	close(p.fd);
}

TEST_F(sleep, epoll)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = 7 }, got;
	int ep = epoll_create1(EPOLL_CLOEXEC);

	take_note(&self->y);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->y.fd, &ev));
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
	ASSERT_EQ(0, increment(&self->x, &self->y));
	EXPECT_EQ(1, epoll_wait(ep, &got, 1, AT_DEADLINE_MS));
	EXPECT_EQ(7, got.data.u32);
	take_note(&self->y);
	EXPECT_EQ(0, epoll_wait(ep, &got, 1, 0));
	close(ep);
}

static int use_eventfd(struct at_ctx *x, int fd)
{
	struct angara_eventfd e = { .size = sizeof(e), .fd = fd };

	return at_ioctl(x->fd, ANGARA_IOCTL_EVENTFD, &e);
}

/* Return: signals of @efd, -1 if none arrives within @ms. */
static int signals(int efd, int ms)
{
	struct pollfd p = { .fd = efd, .events = POLLIN };
	uint64_t n;

	if (poll(&p, 1, ms) != 1)
		return -1;
	return read(efd, &n, sizeof(n)) == sizeof(n) ? (int)n : -2;
}

TEST_F(sleep, one_signal_per_arming)
{
	unsigned int i;
	int efd;

	efd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_EQ(0, use_eventfd(&self->y, efd));
	take_note(&self->y);
	ASSERT_EQ(0, at_arm(&self->y));
	EXPECT_EQ(-1, signals(efd, 20));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, increment(&self->x, &self->y));
	}
	EXPECT_EQ(1, signals(efd, AT_DEADLINE_MS));
	/* poll(2) would arm the context, so sleep here. */
	for (i = 0; count_of(&self->y) < 5 && i < AT_DEADLINE_MS; i++)
		at_sleep_ms(1);
	ASSERT_EQ(5, count_of(&self->y));
	EXPECT_EQ(-1, signals(efd, 20));
	take_note(&self->y);
	ASSERT_EQ(0, increment(&self->x, &self->y));
	EXPECT_EQ(-1, signals(efd, 20));
	/* Arming after an event signals at once. */
	ASSERT_EQ(0, at_arm(&self->y));
	EXPECT_EQ(1, signals(efd, AT_DEADLINE_MS));
	close(efd);
}

TEST_F(sleep, eventfd_replaced_and_closed)
{
	int a = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int b = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	ASSERT_EQ(0, use_eventfd(&self->y, a));
	ASSERT_EQ(0, use_eventfd(&self->y, b));
	take_note(&self->y);
	ASSERT_EQ(0, at_arm(&self->y));
	ASSERT_EQ(0, increment(&self->x, &self->y));
	EXPECT_EQ(1, signals(b, AT_DEADLINE_MS));
	EXPECT_EQ(-1, signals(a, 20));

	ASSERT_EQ(0, use_eventfd(&self->y, -1));
	take_note(&self->y);
	ASSERT_EQ(0, at_arm(&self->y));
	ASSERT_EQ(0, increment(&self->x, &self->y));
	EXPECT_EQ(-1, signals(b, 20));

	/* After the owner has closed the eventfd, signals are dropped. */
	ASSERT_EQ(0, use_eventfd(&self->y, a));
	close(a);
	take_note(&self->y);
	ASSERT_EQ(0, at_arm(&self->y));
	ASSERT_EQ(0, increment(&self->x, &self->y));
	ASSERT_EQ(0, at_wait_counter(&self->y, ANGARA_CTR_USER(COUNTER), 3,
				     AT_DEADLINE_MS));
	close(b);
}

struct sleeper {
	struct at_ctx *x;
	int events;
};

static void *sleep_long(void *arg)
{
	struct sleeper *s = arg;

	take_note(s->x);
	s->events = polled(s->x, AT_DEADLINE_MS);
	return NULL;
}

TEST_F(sleep, woken_by_removal)
{
	struct sleeper s;
	struct at_loop loop;
	struct at_fabric f;
	struct at_ctx x;
	uint64_t start;
	pthread_t t;

	if (at_loop_add("2x2", &loop))
		SKIP(return, "cannot create a fabric: is angara_loop loaded?");
	ASSERT_EQ(0, at_fabric_find_id(&f, loop.id));
	ASSERT_EQ(0, at_ctx_open(&x, f.dev[1], NULL));
	s = (struct sleeper) { .x = &x };
	ASSERT_EQ(0, pthread_create(&t, NULL, sleep_long, &s));
	at_sleep_ms(50);
	start = at_now_ms();
	EXPECT_EQ(0, at_loop_remove(&loop));
	ASSERT_EQ(0, pthread_join(t, NULL));
	EXPECT_GT(AT_DEADLINE_MS / 2, at_now_ms() - start);
	EXPECT_TRUE(s.events > 0 && (s.events & POLLHUP) &&
		    (s.events & POLLERR)) {
		TH_LOG("events %x", s.events);
	}
	/* POLLHUP stays set. */
	EXPECT_TRUE(polled(&x, 0) & POLLHUP);
	EXPECT_EQ(-ENODEV, at_arm(&x));
	at_ctx_close(&x);
}

TEST_HARNESS_MAIN
