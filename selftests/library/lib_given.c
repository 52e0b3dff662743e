// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Jobs with an exchange function of the program.  The members are contexts of
 * this process, each under a lock that the exchange releases while it waits, so
 * that one context can be in several teams under construction.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define MEMBERS		4
#define GROUPS		6
#define BLOCK		256	/* limit of exchanged bytes */

/**
 * struct hall - state of a job's exchanges
 * @lock: protects all that follows
 * @met: signals @round or @broken
 * @here: members that have entered this round
 * @round: exchanges so far
 * @fail_at: from this round on member 0 fails, and then all do
 * @broken: an exchange has failed
 * @lie: false result that member 1 sends, or 0
 * @blocks: blocks of the members, by the parity of the round
 */
struct hall {
	pthread_mutex_t lock;
	pthread_cond_t met;
	unsigned int here;
	unsigned int round;
	unsigned int fail_at;
	bool broken;
	uint64_t lie;
	char blocks[2][MEMBERS][BLOCK];
};

struct lane {
	pthread_mutex_t lock;
	struct angara_ctx *ctx;
};

/**
 * struct member - a context in a job
 * @hall: state of the job
 * @lane: context
 * @rank: rank in the job
 * @attr: attributes of the team, or NULL
 * @run: test to run with its job, under the lock of the context
 * @ok: result of @run
 * @ret: result of creating the team
 * @members: number of members that this member has counted, or error
 * @tree: TreeId of its team
 */
struct member {
	struct hall *hall;
	struct lane *lane;
	unsigned int rank;
	const struct angara_team_attr *attr;
	bool (*run)(struct member *m, struct angara_job *own);
	bool ok;
	int ret;
	int members;
	unsigned int tree;
};

static struct lane lanes[MEMBERS];
static unsigned int made;	/* number of teams that exist, counted by each member; atomic */

static int meet(struct hall *h, unsigned int who, const void *mine, size_t len,
		char *all)
{
	unsigned int round, i;
	int ret = 0;

	pthread_mutex_lock(&h->lock);
	round = h->round;
	memcpy(h->blocks[round % 2][who], mine, len);
	if (++h->here == MEMBERS) {
		h->here = 0;
		h->round++;
		pthread_cond_broadcast(&h->met);
	}
	while (h->round == round && !h->broken)
		pthread_cond_wait(&h->met, &h->lock);
	if (h->round == round)
		ret = -EPIPE;
	for (i = 0; i < MEMBERS; i++)
		memcpy(all + i * len, h->blocks[round % 2][i], len);
	/*
	 * All members have entered, so the other members complete this round.
	 * Member 0 fails, and later rounds fail at all members.
	 */
	if (who == 0 && round >= h->fail_at) {
		h->broken = true;
		pthread_cond_broadcast(&h->met);
		ret = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&h->lock);
	return ret;
}

static int exchange(void *arg, const unsigned int *ranks, unsigned int n,
		    uint64_t tag, const void *mine, size_t len, void *all)
{
	static char nothing[1];
	struct member *m = arg;
	int ret;

	(void)tag;
	if (len > BLOCK || (ranks && n != MEMBERS))
		return -EMSGSIZE;
	pthread_mutex_unlock(&m->lane->lock);
	ret = meet(m->hall, m->rank, len ? mine : nothing, len, len ? all : nothing);
	pthread_mutex_lock(&m->lane->lock);
	/* To agree, members exchange four numbers; the first holds rank and error. */
	if (m->hall->lie && len == 4 * sizeof(m->hall->lie))
		memcpy((char *)all + len, &m->hall->lie, sizeof(m->hall->lie));
	return ret;
}

static void *member_run(void *arg)
{
	struct member *m = arg;
	struct angara_job *own;

	pthread_mutex_lock(&m->lane->lock);
	m->ok = expect("init", angara_job_init_with(m->rank, MEMBERS, exchange, m,
						    &own), 0) &&
		m->run(m, own);
	pthread_mutex_unlock(&m->lane->lock);
	return NULL;
}

static void hall_init(struct hall *h, unsigned int fail_at)
{
	*h = (struct hall){ .fail_at = fail_at };
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->met, NULL);
}

/* Runs all members at once, each in a thread of its own. */
static bool play_all(struct member *m, unsigned int n)
{
	pthread_t *threads = calloc(n, sizeof(*threads));
	bool ok = true;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, member_run, &m[i]))
			exit(1);
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		ok &= m[i].ok;
	}
	free(threads);
	return ok;
}

static void give_way(struct member *m)
{
	pthread_mutex_unlock(&m->lane->lock);
	sched_yield();
	pthread_mutex_lock(&m->lane->lock);
}

/* Releases the lock between polls, since other threads need the context. */
static int await(struct member *m, struct pending *req)
{
	int ret;

	while ((ret = pending_test(m->lane->ctx, req)) == -EAGAIN)
		give_way(m);
	return ret;
}

/* Counts the members of the team.  Return: their number, or an error. */
static int count(struct member *m, struct angara_team *team)
{
	struct angara_mr *mr;
	struct pending req;
	uint32_t *v;
	int ret;

	if (alone_malloc(m->lane->ctx, sizeof(*v), &mr))
		return -ENOMEM;
	v = angara_mr_addr(mr);
	*v = 1;
	ret = angara_allreduce_nbi(team, mr, 0, mr, 0, 1, ANGARA_TYPE_UINT32,
				   ANGARA_RED_SUM, pending_op(&req));
	if (!ret)
		ret = await(m, &req);
	if (!ret)
		ret = (int)*v;
	angara_free(mr);
	return ret;
}

static bool one_of_many(struct member *m, struct angara_job *own)
{
	struct angara_team *team;
	bool ok;

	if (!expect("create", angara_team_create(own, m->lane->ctx, NULL, 0, m->attr,
						 &team), 0))
		exit(1);
	m->tree = angara_team_tree(team);
	/* Wait until all teams exist at the same time. */
	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&made, __ATOMIC_RELAXED) < GROUPS * MEMBERS)
		give_way(m);
	ok = expect("rank", angara_team_rank(team), m->rank) &&
	     expect("count", count(m, team), MEMBERS) &&
	     expect("meet", exchange(m, NULL, 0, 0, NULL, 0, NULL), 0);
	/* The job is not needed any more. */
	angara_job_finalize(own);
	angara_team_leave(team);
	return ok;
}

/* Every context is in all groups, and joins them in its own order. */
static bool many(void)
{
	struct member m[GROUPS * MEMBERS];
	struct hall halls[GROUPS];
	unsigned int g, i, seen = 0;
	bool ok;

	made = 0;
	for (g = 0; g < GROUPS; g++)
		hall_init(&halls[g], ~0U);
	for (i = 0; i < GROUPS * MEMBERS; i++) {
		unsigned int who = i % MEMBERS;

		g = (i / MEMBERS * (who % 2 ? GROUPS - 1 : 1) + who) % GROUPS;
		m[i] = (struct member){
			.hall = &halls[g], .lane = &lanes[who], .rank = who,
			.run = one_of_many,
		};
	}
	ok = play_all(m, GROUPS * MEMBERS);
	for (i = 0; ok && i < GROUPS * MEMBERS; i++)
		seen |= 1U << m[i].tree;
	return ok && expect("trees", __builtin_popcount(seen), GROUPS);
}

static bool destroyed(struct member *m, struct angara_job *own)
{
	struct angara_team *team;
	bool ok;

	ok = expect("create", angara_team_create(own, m->lane->ctx, NULL, 0, m->attr,
						 &team), 0) &&
	     expect("count", count(m, team), MEMBERS) &&
	     expect("destroy", angara_team_destroy(team), 0);
	angara_job_finalize(own);
	return ok;
}

static bool forsaken(struct member *m, struct angara_job *own)
{
	struct angara_team *team;

	m->ret = angara_team_create(own, m->lane->ctx, NULL, 0, m->attr, &team);
	if (team) {
		m->members = count(m, team);
		/* Wait until all members have counted. This may fail. */
		exchange(m, NULL, 0, 0, NULL, 0, NULL);
	}
	angara_team_leave(team);
	angara_job_finalize(own);
	return true;
}

/* All attempts use this tree: if an attempt does not clean up, the next one fails. */
static const struct angara_team_attr third_tree = { .size = sizeof(third_tree), .tree = 3, .root = 1 };

static bool one_job(struct member m[MEMBERS], struct hall *h,
		    bool (*run)(struct member *m, struct angara_job *own))
{
	unsigned int i;

	for (i = 0; i < MEMBERS; i++)
		m[i] = (struct member){
			.hall = h, .lane = &lanes[i], .rank = i,
			.attr = &third_tree, .run = run,
		};
	return play_all(m, MEMBERS);
}

static bool end_in_order(void)
{
	struct member m[MEMBERS];
	struct hall h;

	hall_init(&h, ~0U);
	return one_job(m, &h, destroyed);
}

/* Gathers a word of each member, by messages.  Return: 0 or an error. */
static int gather(struct member *m, struct angara_team *team)
{
	struct angara_mr *mr;
	struct pending req;
	int ret;

	if (alone_malloc(m->lane->ctx, (1 + MEMBERS) * sizeof(uint32_t), &mr))
		return -ENOMEM;
	ret = angara_allgather_nbi(team, mr, sizeof(uint32_t), mr, 0, sizeof(uint32_t),
				   pending_op(&req));
	if (!ret)
		ret = await(m, &req);
	angara_free(mr);
	return ret;
}

/* A member leaves while the others wait for its messages, with or without a tree. */
static bool left_alone(struct member *m, struct angara_job *own)
{
	struct angara_team *team;
	bool ok;
	int ret;

	ok = expect("create", angara_team_create(own, m->lane->ctx, NULL, 0, m->attr,
						 &team), 0) &&
	     expect("count", count(m, team), MEMBERS) &&
	     expect("meet", exchange(m, NULL, 0, 0, NULL, 0, NULL), 0);
	if (ok && m->rank) {
		ret = gather(m, team);
		ok = expect("a member has left", ret == -ECONNRESET || ret == -ENOTCONN, 1);
	}
	angara_team_leave(team);
	angara_job_finalize(own);
	return ok;
}

static bool software_left(const struct angara_team_attr *attr)
{
	struct member m[MEMBERS];
	struct hall h;
	unsigned int i;

	hall_init(&h, ~0U);
	for (i = 0; i < MEMBERS; i++)
		m[i] = (struct member){
			.hall = &h, .lane = &lanes[i], .rank = i,
			.attr = attr, .run = left_alone,
		};
	return play_all(m, MEMBERS);
}

/*
 * The exchange fails at each step of creating a team.  Then there is no team,
 * or the members that have it get an error from it.
 */
static bool failures_of_exchange(void)
{
	struct member m[MEMBERS];
	unsigned int fail_at = 0, i;
	struct hall h;
	bool ok = true;

	do {
		hall_init(&h, fail_at);
		one_job(m, &h, forsaken);
		for (i = 0; i < MEMBERS; i++) {
			if (!m[0].ret)
				ok &= expect("members", m[i].members, MEMBERS);
			else if (!m[i].ret)
				ok &= expect("members", m[i].members == -ECONNRESET ||
					     m[i].members == -ENOTCONN, 1);
			else
				ok &= expect("create", m[i].ret,
					     i ? -EPIPE : -ETIMEDOUT);
		}
		if (!ok)
			return expect("result when this exchange fails", fail_at, -1);
		fail_at++;
	} while (m[0].ret);
	return expect("exchanges", fail_at > 3, 1);
}

/*
 * A member sends numbers that are no error codes: creating the team fails with
 * -EPROTO.
 */
static bool unknown_errors(void)
{
	static const uint64_t lies[] = { 1ULL << 32, 1ULL << 32 | 4096, 1ULL << 32 | ~0U };
	struct member m[MEMBERS];
	unsigned int n, i;
	struct hall h;
	bool ok = true;

	for (n = 0; n < sizeof(lies) / sizeof(*lies); n++) {
		hall_init(&h, ~0U);
		h.lie = lies[n];
		one_job(m, &h, forsaken);
		for (i = 0; i < MEMBERS; i++)
			ok &= expect("create", m[i].ret, -EPROTO);
	}
	return ok;
}

static bool refused(struct member *m, struct angara_job *own)
{
	struct angara_team *team;
	int ret = angara_team_create(own, m->lane->ctx, NULL, 0, m->attr, &team);

	angara_job_finalize(own);
	return expect("the same context twice", ret, -EINVAL) &
	       expect("no team", team == NULL, 1);
}

/**
 * struct pair - a job of two members that open domains
 * @met: both have arrived
 * @blocks: block that each member gives to an exchange
 */
struct pair {
	pthread_barrier_t met;
	char blocks[2][BLOCK];
};

struct opener {
	struct pair *pair;
	unsigned int rank;
	const char *device;
	int ret;
};

static int pair_exchange(void *arg, const unsigned int *ranks, unsigned int n,
			 uint64_t tag, const void *mine, size_t len, void *all)
{
	struct opener *o = arg;
	unsigned int i;

	(void)ranks;
	(void)tag;
	if (len > BLOCK || n != 2)
		return -EMSGSIZE;
	memcpy(o->pair->blocks[o->rank], mine, len);
	pthread_barrier_wait(&o->pair->met);
	for (i = 0; i < 2; i++)
		memcpy((char *)all + i * len, o->pair->blocks[i], len);
	pthread_barrier_wait(&o->pair->met);
	return 0;
}

static void *opener_run(void *arg)
{
	struct angara_domain_attr attr = { .size = sizeof(attr) };
	struct opener *o = arg;
	struct angara_domain *own = NULL;

	o->ret = angara_job_init_with(o->rank, 2, pair_exchange, o, &attr.job);
	if (!o->ret)
		o->ret = angara_domain_open(o->device, &attr, &own);
	angara_domain_close(own);
	angara_job_finalize(attr.job);
	return NULL;
}

/*
 * If one member has no device, the other member must not wait for ever in the
 * exchange.
 */
static bool device_missing(void)
{
	struct pair pair;
	struct opener o[2] = {
		{ .pair = &pair, .rank = 0 },
		{ .pair = &pair, .rank = 1, .device = "/dev/null/none" },
	};
	pthread_t thread;

	pthread_barrier_init(&pair.met, NULL, 2);
	alarm(LONG_MS / 1000);
	if (pthread_create(&thread, NULL, opener_run, &o[1]))
		exit(1);
	opener_run(&o[0]);
	pthread_join(thread, NULL);
	alarm(0);
	pthread_barrier_destroy(&pair.met);
	return expect("open", o[0].ret, 0) & expect("no device", o[1].ret, -ENODEV);
}

static bool bad_jobs(void)
{
	struct member m[MEMBERS];
	struct angara_job *own;
	struct hall h;
	unsigned int i;
	bool ok;

	ok = expect("rank", angara_job_init_with(2, 2, exchange, m, &own), -EINVAL) &
	     expect("size", angara_job_init_with(0, 65537, exchange, m, &own), -EINVAL) &
	     expect("a job of 0 members", angara_job_init_with(0, 0, exchange, m, &own), -EINVAL) &
	     expect("exchange", angara_job_init_with(0, 1, NULL, m, &own), -EINVAL) &
	     expect("no job", own == NULL, 1);
	angara_team_leave(NULL);
	hall_init(&h, ~0U);
	for (i = 0; i < MEMBERS; i++)
		m[i] = (struct member){
			.hall = &h, .lane = &lanes[i & 2], .rank = i, .run = refused,
		};
	return ok & play_all(m, MEMBERS);
}

/* Opens a context on each of several nodes, if the fabric has several. */
static int lane_open(unsigned int i)
{
	struct angara_domain_info mine = alone_about(ctx);
	char device[16];

	snprintf(device, sizeof(device), "%u", i % mine.nodes);
	pthread_mutex_init(&lanes[i].lock, NULL);
	if (!alone_open(device, NULL, &lanes[i].ctx)) {
		if (alone_about(lanes[i].ctx).fabric_id == mine.fabric_id)
			return 0;
		angara_ctx_close(lanes[i].ctx);
	}
	return alone_open(NULL, NULL, &lanes[i].ctx);
}

/*
 * Only one process runs this; the others wait in the next exchange of the job.
 */
static bool given(void)
{
	static const struct angara_team_attr software = {
		.size = sizeof(software), .flags = ANGARA_TEAM_SOFTWARE,
	};
	unsigned int i;
	bool ok = true;

	if (rank)
		return true;
	for (i = 0; i < MEMBERS; i++)
		if (!expect("open", lane_open(i), 0))
			return false;
	ok = bad_jobs() && device_missing() && end_in_order() && many() &&
	     failures_of_exchange() && unknown_errors() && software_left(&software) &&
	     software_left(NULL) && end_in_order();
	for (i = 0; i < MEMBERS; i++)
		angara_ctx_close(lanes[i].ctx);
	return ok;
}

const struct part given_parts[] = {
	{ "exchanges by a function of the program", given },
	{ NULL, NULL },
};
