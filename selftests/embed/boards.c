// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reductions on boards whose members stop, sleep, die or disagree.
 *
 *	angara-run -n N boards CASE
 *
 *	stopped		the first member is stopped after it has contributed; the
 *			others complete the reduction
 *	armed		members sleep in poll(2), having posted after they armed
 *	killed		the first member dies after it has contributed
 *	absent		the first member dies when the others have contributed
 *	asleep		members sleep until the last one contributes
 *	unmet		members wait longer than a reduction stays on its board
 *	disagree	the first member posts another length
 *	bcast		barriers follow broadcasts
 *	received	barriers follow broadcasts that all members have received
 *	behind		a member contributes before a broadcast has arrived
 *	late		the first member polls for its completion late
 *	left		the first member leaves the team before it polls
 *	freed		the first member frees messages while senders wait for room
 *	full		an operation waits for room behind a reduction without a doorbell
 *
 * A case is repeated; a member that waits for too long exits with an error.
 */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <angara/angara.h>

#include "check.h"
#include "lib.h"
#include "team.h"
#include "embed/embed.h"
#include "../library/pending.h"

#define LIMIT	20000
#define DEADLINE 5000		/* ms in which a member's death must cause an error */
#define PROMPT	40000000ULL	/* ns; a sleeper that is not woken checks after 50 ms */
#define NAPS	10U	/* of 2 ms, in which the others go to sleep */
#define TIMES	20U
#define BULK	(1U << 20)
#define WARM_UP	50U
#define MESSAGES	40U	/* more than a receive buffer has room for */
#define MESSAGE_BYTES	4000U

static struct angara_job *job;
static struct angara_ctx *ctx;
static struct angara_mr *mr;
static struct angara_team *team;
static unsigned int rank, size;
static int32_t *data;
static pid_t pids[64];
static sigset_t posted;		/* SIGRTMIN: a member has posted; such signals are queued */

/* Sums @count numbers; the result is stored after them. */
static int post(struct pending *req, unsigned int count, int32_t salt,
		uint32_t flags)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		data[i] = (int32_t)(rank + i) + salt;
	pending_op(req);
	req->op.flags = flags;
	return angara_allreduce_nbi(team, mr, 4096, mr, 0, count,
				    ANGARA_TYPE_INT32, ANGARA_RED_SUM, &req->op);
}

static void expect(unsigned int count, int32_t salt)
{
	int32_t base = (int32_t)(size * (size - 1) / 2);
	unsigned int i;

	for (i = 0; i < count; i++)
		if (data[1024 + i] != base + (int32_t)size * ((int32_t)i + salt))
			errx(1, "element %u of a result is %d, not %d", i,
			     data[1024 + i],
			     base + (int32_t)size * ((int32_t)i + salt));
}

/*
 * The second member wakes the first one until the first takes part again.
 * Every second time the second member sets the fence flag, which makes the
 * reduction use packets.
 */
static void stopped(unsigned int time)
{
	struct pending req = { 0 };

	if (rank)
		usleep(20000);
	CHECK(post(&req, 2, (int32_t)time, rank == 1 && time % 2 ?
		   ANGARA_FENCE : 0));
	if (!rank)
		raise(SIGSTOP);
	CHECK(pending_wait(ctx, &req, LIMIT));
	expect(2, (int32_t)time);
	CHECK(angara_barrier_nbi(team, pending_op(&req)));
	while (rank == 1 && pending_wait(ctx, &req, 10) == -ETIMEDOUT)
		kill(pids[0], SIGCONT);
	CHECK(pending_wait(ctx, &req, LIMIT));
}

static void armed(unsigned int time)
{
	struct pollfd pfd = { .events = POLLIN, .fd = angara_ctx_fd(ctx) };
	struct pending req = { 0 };
	int ret;

	if (pfd.fd < 0)
		errx(1, "angara_ctx_fd: %s", strerror(-pfd.fd));
	CHECK(angara_barrier(team));
	do
		ret = angara_ctx_arm(ctx);
	while (ret == -EAGAIN);
	CHECK(ret);
	if (rank == time % size)
		usleep(2000);
	CHECK(post(&req, 2, (int32_t)time, 0));
	do {
		if (poll(&pfd, 1, LIMIT) == 0)
			errx(1, "no event in %u ms", LIMIT);
		do
			ret = pending_test(ctx, &req);
		while (ret == -EAGAIN && angara_ctx_arm(ctx) == -EAGAIN);
	} while (ret == -EAGAIN);
	CHECK(ret);
	expect(2, (int32_t)time);
}

/* Has a member died, before the operation was posted or after? */
static bool team_lost(int ret)
{
	return ret == -ECONNRESET || ret == -ENOTCONN;
}

static void killed(unsigned int time)
{
	struct pending req = { 0 };
	int ret;

	(void)time;
	if (rank)
		usleep(20000);
	CHECK(post(&req, 2, 0, 0));
	if (!rank)
		raise(SIGKILL);
	ret = pending_wait(ctx, &req, LIMIT);
	if (!team_lost(ret))
		CHECK(ret);
	if (!ret)
		ret = angara_barrier(team);
	if (!team_lost(ret))
		errx(1, "a barrier after the death of a member ends with: %s", strerror(-ret));
}

static void absent(unsigned int time)
{
	struct pending req = { 0 };
	unsigned int i;
	int ret;

	(void)time;
	if (!rank) {
		for (i = 1; i < size; i++)
			if (sigwaitinfo(&posted, NULL) < 0)
				err(1, "sigwaitinfo");
		raise(SIGKILL);
	}
	CHECK(post(&req, 2, 0, 0));
	kill(pids[0], SIGRTMIN);
	ret = pending_wait(ctx, &req, DEADLINE);
	if (ret != -ECONNRESET)
		errx(1, "a reduction without a dead member ends with: %s", strerror(-ret));
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* Does this process, which has one thread, sleep in the kernel? */
static bool sleeps(pid_t pid)
{
	char path[64], line[512] = "";
	const char *name_end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f))
		err(1, "%s", path);
	fclose(f);
	name_end = strrchr(line, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

/*
 * Waits until the other members sleep, but not for long: sleepers leave the board after
 * 50 ms.
 */
static void wait_for_sleepers(void)
{
	unsigned int i, naps;

	for (naps = 0; naps < NAPS; naps++) {
		usleep(2000);
		for (i = 0; i < size; i++)
			if (i != rank && !sleeps(pids[i]))
				break;
		if (i == size)
			return;
	}
}

/* At least half of the sleepers wake up in time, also on a busy machine. */
static void asleep(unsigned int time)
{
	static unsigned int slow;
	struct pending req = { 0 };
	uint64_t start;

	CHECK(angara_barrier(team));
	start = now_ns();
	if (rank == time % size)
		wait_for_sleepers();
	CHECK(post(&req, 2, (int32_t)time, 0));
	CHECK(pending_wait(ctx, &req, LIMIT));
	expect(2, (int32_t)time);
	slow += now_ns() - start > PROMPT;
	if (slow > TIMES / 2)
		errx(1, "%u reductions took more than %llu ns", slow, PROMPT);
}

static void unmet(unsigned int time)
{
	struct pending req = { 0 };
	int ret = 0;

	if (!rank)
		usleep(400000);
	CHECK(post(&req, 2, (int32_t)time, 0));
	if (rank)
		ret = pending_wait(ctx, &req, 4 * EMB_LOOK_MS);
	if (ret == -ETIMEDOUT && ctx->dev.boarded)
		errx(1, "the reduction is still on its board after %d ms",
		     4 * EMB_LOOK_MS);
	CHECK(pending_wait(ctx, &req, LIMIT));
	expect(2, (int32_t)time);
}

static void disagree(unsigned int time)
{
	struct pending req = { 0 };
	int ret;

	(void)time;
	CHECK(post(&req, rank ? 4 : 2, 0, 0));
	ret = pending_wait(ctx, &req, LIMIT);
	/* The other member has ended already. */
	if (ret != -EPROTO && ret != -ECONNRESET)
		errx(1, "a reduction of different lengths ends with: %s", strerror(-ret));
}

/* The barrier completes only after the broadcast has arrived everywhere. */
static void bcast(unsigned int time)
{
	const u_char *got = (const u_char *)data + BULK;
	unsigned int from = time % size;
	size_t i;

	if (rank == from) {
		memset(data, (int)(time + 1), BULK);
		CHECK(angara_bcast(team, angara_mr_key(mr), BULK, mr, 0, BULK));
	}
	CHECK(angara_barrier(team));
	for (i = 0; i < BULK; i += 64)
		if (got[i] != time + 1)
			errx(1, "byte %zu of broadcast %u is missing", i, time);
	CHECK(angara_barrier(team));
}

/*
 * If all members have received a broadcast, the barrier after it uses the
 * board.
 */
static void received(unsigned int time)
{
	const struct emb_dev *d = ctx->dev.priv;
	static uint64_t arrived, before;
	struct pending req = { 0 };

	if (rank == time % size)
		CHECK(angara_bcast(team, angara_mr_key(mr), BULK, mr, 0, 8));
	CHECK(angara_team_received_wait(team, ++arrived, LIMIT));
	pending_op(&req);
	CHECK(angara_barrier_nbi(team, &req.op));
	CHECK(pending_wait(ctx, &req, LIMIT));
	if (!time)
		before = d->by_board;
	if (time == TIMES - 1 && d->by_board == before)
		errx(1, "%u barriers after broadcasts: none used the board", TIMES);
}

/*
 * According to its counter, the first member has received one broadcast less
 * than the others: the barrier uses packets, which follow the broadcast.
 */
static void behind(unsigned int time)
{
	const struct emb_dev *d = ctx->dev.priv;
	__le64 *counter = (__le64 *)(uintptr_t)&d->ctr[ANGARA_CTR_BCAST(team->tree)];
	uint64_t before = d->by_board;
	__le64 all = *counter;

	(void)time;
	if (!rank)
		*counter = cpu_to_le64(le64_to_cpu(all) - 1);
	CHECK(angara_barrier(team));
	if (d->by_board != before)
		errx(1, "a barrier used the board, before a broadcast");
	if (!rank)
		*counter = all;
	CHECK(angara_barrier(team));
}

static void late(unsigned int time)
{
	struct pending req = { 0 };

	CHECK(post(&req, 60, (int32_t)time, 0));
	if (!rank)
		usleep(3000);
	CHECK(pending_wait(ctx, &req, LIMIT));
	expect(60, (int32_t)time);
}

/*
 * The first member leaves the team when its barrier is done on the board, and takes the
 * completion afterwards.
 */
static void left(unsigned int time)
{
	struct pending req = { 0 };

	CHECK(angara_barrier_nbi(team, pending_op(&req)));
	CHECK(angara_job_allgather(job, &time, sizeof(time), &(unsigned int [64]){ 0 }));
	if (!rank && !ctx->dev.boarded)
		errx(1, "the barrier does not use the board");
	if (!rank)
		angara_team_leave(team);
	CHECK(pending_wait(ctx, &req, LIMIT));
}

/* All members meet.  Nothing polls the context meanwhile. */
static void meet(unsigned int time)
{
	CHECK(angara_job_allgather(job, &time, sizeof(time), &(unsigned int [64]){ 0 }));
}

/* The first member posts a barrier, which waits on the board for the other members. */
static void barrier_first(struct pending *req)
{
	if (rank)
		return;
	CHECK(angara_barrier_nbi(team, pending_op(req)));
	if (!ctx->dev.boarded)
		errx(1, "the barrier does not use the board");
}

/*
 * The other members post the barrier.  When it is complete, a put of the first member has
 * to complete, too.
 */
static void barrier_others(struct pending *req)
{
	if (rank)
		CHECK(angara_barrier_nbi(team, pending_op(req)));
	CHECK(pending_wait(ctx, req, LIMIT));
	if (rank)
		return;
	CHECK(angara_put_nbi(ctx, angara_team_peer(team, 1), angara_mr_key(mr), BULK, mr, 0,
			     8, pending_op(req)));
	CHECK(pending_wait(ctx, req, LIMIT));
}

/* Frees all messages that have arrived.  Return: their number. */
static unsigned int messages_free(void)
{
	struct angara_message msg = { .size = sizeof(msg) };
	unsigned int n = 0;

	for (; !angara_msg_next(ctx, &msg); n++)
		CHECK(angara_msg_free(ctx, &msg));
	return n;
}

static void freed(unsigned int time)
{
	const struct angara_head head = { .size = sizeof(head) };
	struct pending req = { 0 }, sent[MESSAGES] = { 0 };
	unsigned int i, n = 0;

	for (i = 0; rank == 1 && i < MESSAGES; i++)
		CHECK(angara_send_nbi(ctx, angara_team_peer(team, 0), &head, mr, 0,
				      MESSAGE_BYTES, pending_op(&sent[i])));
	meet(time);
	barrier_first(&req);
	if (!rank)
		n = messages_free();
	if (!rank && !n)
		errx(1, "there are no messages");
	meet(time);
	barrier_others(&req);
	for (i = 0; rank == 1 && i < MESSAGES; i++)
		CHECK(pending_wait(ctx, &sent[i], LIMIT));
	while (!rank && n < MESSAGES) {
		n += messages_free();
		angara_poll(ctx, &req.c, 0);
	}
	meet(time);
}

/*
 * The first member fills most of its completion queue, and posts a barrier without a
 * doorbell (ANGARA_MORE).  The barrier usually takes the last place, so the put after it
 * has to make room.
 */
static void full(unsigned int time)
{
	struct angara_ctx_info info = { .size = sizeof(info) };
	struct pending req = { 0 }, put = { 0 };
	unsigned int i;
	int ret = 0;

	CHECK(angara_ctx_query(ctx, &info));
	meet(time);
	if (!rank) {
		for (i = 1; i < info.cq_entries && !ret; i++)
			ret = angara_put_nbi(ctx, angara_team_peer(team, 1),
					     angara_mr_key(mr), BULK, mr, 0, 8, NULL);
		if (ret != -EAGAIN)
			CHECK(ret);
		pending_op(&req);
		req.op.flags = ANGARA_MORE;
		while ((ret = angara_barrier_nbi(team, &req.op)) == -EAGAIN)
			angara_poll(ctx, &put.c, 1);
		CHECK(ret);
		CHECK(angara_put_nbi(ctx, angara_team_peer(team, 1), angara_mr_key(mr), BULK,
				     mr, 0, 8, pending_op(&put)));
		CHECK(pending_wait(ctx, &put, LIMIT));
	}
	barrier_others(&req);
	meet(time);
}

static const struct {
	const char *name;
	unsigned int times;
	void (*run)(unsigned int time);
} cases[] = {
	{ "stopped", TIMES, stopped },
	{ "armed", TIMES, armed },
	{ "killed", 1, killed },
	{ "absent", 1, absent },
	{ "asleep", TIMES, asleep },
	{ "unmet", 1, unmet },
	{ "disagree", 1, disagree },
	{ "bcast", TIMES, bcast },
	{ "received", TIMES, received },
	{ "behind", TIMES, behind },
	{ "late", TIMES, late },
	{ "left", 1, left },
	{ "freed", 1, freed },
	{ "full", TIMES, full },
};

int main(int argc, char **argv)
{
	const struct angara_ctx_attr attr = { .size = sizeof(attr), .spin_us = 1 };
	struct angara_domain *dom;
	pid_t self = getpid();
	unsigned int i, k;

	sigemptyset(&posted);
	sigaddset(&posted, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &posted, NULL);
	CHECK(angara_job_init(&job));
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	CHECK(angara_job_allgather(job, &self, sizeof(self), pids));
	CHECK(angara_domain_open(NULL, NULL, &dom));
	CHECK(angara_ctx_open(dom, &attr, &ctx));
	CHECK(angara_team_create(job, ctx, NULL, 0, NULL, &team));
	CHECK(angara_team_malloc(team, 2 * BULK, &mr));
	data = angara_mr_addr(mr);
	/* The library plans the tree during these barriers. */
	for (i = 0; i < WARM_UP; i++)
		CHECK(angara_barrier(team));
	for (k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		if (argc != 2 || strcmp(argv[1], cases[k].name) != 0)
			continue;
		for (i = 0; i < cases[k].times; i++)
			cases[k].run(i);
		return 0;
	}
	errx(2, "usage: boards CASE");
}
