// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Random collectives, for a comparison of both tiers, boards and packets.  The
 * members of a job post the same collectives, some of which are queued, in two
 * teams at a time.  Delays and methods of waiting depend on a member's own
 * seed.
 *
 *	angara-run -n N tiers OPERATIONS SEED
 *
 * Each member prints a line: its rank, a digest of all results and statuses,
 * and how many of its reductions boards have completed.  The digests depend on
 * the number of members, the fabric, OPERATIONS and SEED alone, and so do the
 * counters of the fabric, see counts.h.
 */
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "counts.h"
#include "team.h"
#include "embed/embed.h"
#include "../library/pending.h"

#define QUEUED	6U		/* most operations at a time */
#define ROOM	8192U		/* bytes of each buffer of an operation */
#define MOST	4096U		/* most bytes of an operation */
#define LIMIT	60000

static struct angara_job *job;
static struct angara_ctx *ctx;
static struct angara_mr *mr;
static struct angara_team *teams[2];	/* of all members; of those with even ranks, or NULL */
static unsigned int rank, size;
/*
 * States of random generators: one that is equal at all members, one of this
 * member, and one for delays and methods of waiting.
 */
static unsigned long common, mine, own;
static u64 digest = ANG_HASH_INIT;

static unsigned int rnd(unsigned long *state, unsigned int below)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned int)(*state >> 33) % below;
}

static void note(const void *data, size_t len)
{
	const unsigned char *at = data;

	while (len--)
		digest = ang_hash(digest, *at++);
}

static char *place(unsigned int i)
{
	return (char *)angara_mr_addr(mr) + i * 2 * ROOM;
}

/* Fractions of very different sizes: each order of adding gives another sum. */
static void fill(char *to, unsigned int type, size_t count)
{
	unsigned int mine = rnd(&common, 1U << 30) + rank * 7919;
	unsigned long state = mine;
	size_t i;

	for (i = 0; i < count; i++) {
		unsigned int r = rnd(&state, 1U << 30);
		double value = (r % 1000 - 500.0) / 3;

		if (r / 1000 % 2)
			value *= 1e9;
		if (type == ANGARA_TYPE_DOUBLE)
			memcpy(to + 8 * i, &value, 8);
		else
			memcpy(to + 4 * i, &r, 4);
	}
}

/**
 * struct posted - an operation of a member
 * @req: completion
 * @at: memory of the operation
 * @len: bytes of the result at this member
 */
struct posted {
	struct pending req;
	char *at;
	size_t len;
};

static int reduction_post(struct posted *p, struct angara_team *team,
			  unsigned int i, bool to_one)
{
	static const unsigned int types[] = {
		ANGARA_TYPE_DOUBLE, ANGARA_TYPE_DOUBLE, ANGARA_TYPE_UINT32,
		ANGARA_TYPE_INT32,
	};
	unsigned int type = types[rnd(&common, 4)];
	unsigned int op = rnd(&common, type == ANGARA_TYPE_DOUBLE ? 4 : 7);
	unsigned int elem = type == ANGARA_TYPE_DOUBLE ? 8 : 4;
	unsigned int most = rnd(&common, 4) ? 256 : MOST;
	unsigned int count = 1 + rnd(&common, most / elem);
	unsigned int root = rnd(&common, size) % angara_team_size(team);
	u64 off = i * 2 * ROOM;

	fill(place(i), type, count);
	p->len = count * elem;
	if (!to_one)
		return angara_allreduce_nbi(team, mr, off + ROOM, mr, off, count,
					    type, op, pending_op(&p->req));
	if (angara_team_rank(team) != root)
		p->len = 0;
	return angara_reduce_nbi(team, p->len ? mr : NULL, off + ROOM, mr, off,
				 count, type, op, root, pending_op(&p->req));
}

/* A broadcast has arrived everywhere when the barrier after it is complete. */
static int bcast_post(struct posted *p, struct angara_team *team, unsigned int i)
{
	unsigned int root = rnd(&common, size) % angara_team_size(team);
	unsigned int byte = rnd(&common, 256);
	size_t len = 1 + rnd(&common, MOST);
	u64 off = i * 2 * ROOM;

	p->len = len;
	memset(place(i), (int)byte, len);
	if (angara_team_rank(team) == root)
		CHECK((rnd(&mine, 2) ? angara_bcast_nbi(team, angara_mr_key(mr),
						       off + ROOM, mr, off, len,
						       NULL) :
				      angara_bcast(team, angara_mr_key(mr),
						   off + ROOM, mr, off, len)));
	return angara_barrier_nbi(team, pending_op(&p->req));
}

static int post(struct posted *p, struct angara_team *team, unsigned int i)
{
	p->at = place(i) + ROOM;
	p->len = 0;
	switch (rnd(&common, 8)) {
	case 0:
		return bcast_post(p, team, i);
	case 1:
		return reduction_post(p, team, i, true);
	case 2:
	case 3:
		return angara_barrier_nbi(team, pending_op(&p->req));
	default:
		return reduction_post(p, team, i, false);
	}
}

/*
 * Arms the queue and sleeps in poll(2); the descriptor must become readable in
 * time.
 */
static void sleep_by_fd(struct posted *p)
{
	struct pollfd pfd = { .events = POLLIN, .fd = angara_ctx_fd(ctx) };
	int ret;

	if (pfd.fd < 0)
		errx(1, "angara_ctx_fd: %s", strerror(-pfd.fd));
	while ((ret = pending_test(ctx, &p->req)) == -EAGAIN)
		if (!angara_ctx_arm(ctx) && poll(&pfd, 1, LIMIT) == 0)
			errx(1, "no event in %u ms", LIMIT);
}

/* Waits in one of several ways. */
static void finish(struct posted *p)
{
	switch (rnd(&own, 8)) {
	case 0:
		while (pending_test(ctx, &p->req) == -EAGAIN)
			;
		break;
	case 1:
		sleep_by_fd(p);
		break;
	case 2:
		while (pending_wait(ctx, &p->req, 0) == -ETIMEDOUT)
			usleep(rnd(&own, 100));
		break;
	default:
		CHECK(pending_wait(ctx, &p->req, LIMIT));
	}
}

static void result_note(const struct posted *p)
{
	int ret = angara_status_errno(p->req.c.status);

	note(&ret, sizeof(ret));
	note(&p->req.c.length, sizeof(p->req.c.length));
	note(p->at, p->len);
}

/* Puts a word to this member itself, between operations of its teams. */
static void disturb(void)
{
	u64 word = mine;
	struct angara_peer self = { 0 };
	struct angara_ctx_info info = { .size = sizeof(info) };

	CHECK(angara_ctx_query(ctx, &info));
	self = info.self;
	CHECK(angara_put_inline_nbi(ctx, self, angara_mr_key(mr),
				    QUEUED * 2 * ROOM, &word, sizeof(word), NULL));
}

/* Posts some operations, then waits for them, sometimes in reverse order. */
static unsigned int batch(void)
{
	struct posted all[QUEUED] = { 0 };
	bool used[QUEUED] = { false };
	unsigned int n = rnd(&common, 3) ? 1 : 1 + rnd(&common, QUEUED);
	bool reverse = !rnd(&own, 2);
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct angara_team *team = teams[!rnd(&common, 4)];
		unsigned long ahead = common;

		/*
		 * The members of the other team draw the same numbers, to stay
		 * in step.
		 */
		if (team)
			CHECK(post(&all[i], team, i));
		used[i] = team;
		common = ahead * 31 + 17;
		if (!rnd(&mine, 10))
			disturb();
		if (!rnd(&own, 40))
			usleep(rnd(&own, 300));
	}
	for (i = 0; i < n; i++) {
		unsigned int at = reverse ? n - 1 - i : i;

		if (used[at])
			finish(&all[at]);
	}
	for (i = 0; i < n; i++)
		if (used[i])
			result_note(&all[i]);
	/* Broadcasts of the next batch write to the same memory. */
	CHECK(angara_barrier(teams[0]));
	return n;
}

static void set_up(void)
{
	struct angara_domain *dom;
	u32 even[64];
	unsigned int i;

	CHECK(angara_job_init(&job));
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	CHECK(angara_domain_open(NULL, NULL, &dom));
	CHECK(angara_ctx_open(dom, NULL, &ctx));
	CHECK(angara_team_create(job, ctx, NULL, 0, NULL, &teams[0]));
	for (i = 0; 2 * i < size; i++)
		even[i] = 2 * i;
	if (!(rank % 2) && i > 1)
		CHECK(angara_team_create(job, ctx, even, i, NULL, &teams[1]));
	CHECK(angara_team_malloc(teams[0], (QUEUED * 2 + 1) * ROOM, &mr));
	for (i = 0; i < 2; i++)
		if (teams[i] && !teams[i]->offloaded)
			errx(1, "team %u has no tree", i);
}

int main(int argc, char **argv)
{
	unsigned int left;

	if (argc != 3)
		errx(2, "usage: tiers OPERATIONS SEED");
	set_up();
	common = strtoul(argv[2], NULL, 0);
	mine = common * 31 + rank;
	own = mine + getpid();
	counts_note(job, ctx);
	for (left = (unsigned int)atoi(argv[1]); left; ) {
		unsigned int n = batch();

		left -= n < left ? n : left;
	}
	CHECK(angara_quiet(ctx, LIMIT));
	counts_note(job, ctx);
	printf("%u %016llx %llu\n", rank, (unsigned long long)digest,
	       (unsigned long long)((struct emb_dev *)ctx->dev.priv)->by_board);
	fflush(stdout);
	angara_team_destroy(teams[1]);
	angara_team_destroy(teams[0]);
	angara_ctx_close(ctx);
	angara_job_finalize(job);
	return 0;
}
