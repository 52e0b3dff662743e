// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Teams: of every subset of processes, many at once, when no trees are left,
 * and with a member that dies.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "pending.h"

#define SURVIVOR	"# survived"

/* Checks by an allreduce that exactly the members of the team take part. */
bool works(struct angara_team *team)
{
	struct angara_mr *mr = own_region(8);
	uint64_t *v = angara_mr_addr(mr);
	struct pending req;
	bool ok;

	*v = 1;
	ok = expect("allreduce", angara_allreduce_nbi(team, mr, 0, mr, 0, 1,
						      ANGARA_TYPE_UINT64,
						      ANGARA_RED_SUM, pending_op(&req)), 0) &&
	     expect("wait", pending_wait(ctx, &req, LONG_MS), 0) &&
	     expect("members", (long long)*v, angara_team_size(team));
	angara_free(mr);
	return ok;
}

static bool subset(unsigned int set, unsigned int root)
{
	struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE, .root = root,
	};
	unsigned int ranks[32], n = 0, mine = 99, r;
	struct angara_team *team;
	bool ok;

	for (r = 0; r < size; r++)
		if (set >> r & 1) {
			if (r == rank)
				mine = n;
			ranks[n++] = r;
		}
	attr.root %= n;
	if (mine == 99)
		return expect("not a member",
			      angara_team_create(job, ctx, ranks, n, &attr, &team),
			      -EINVAL);
	ok = expect("create", angara_team_create(job, ctx, ranks, n, &attr, &team), 0);
	if (!ok)
		return false;
	ok = expect("rank", angara_team_rank(team), mine) &&
	     expect("size", angara_team_size(team), n) &&
	     expect("peer", angara_team_peer(team, mine).node, peers()[rank].node) &&
	     expect("no peer", angara_team_peer(team, n).node, UINT32_MAX) && works(team);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static bool subsets(void)
{
	unsigned int set, step = size > 5 ? 7 : 1, limit = size > 8 ? 8 : size;
	bool ok = true;

	for (set = 1; ok && set < 1U << limit; set += step)
		ok = subset(set, set / 3);
	return ok;
}

#define MAX_TREES	64	/* most trees of any device */

static unsigned int max_trees(void)
{
	return alone_about(ctx).max_trees;
}

/* Uses all trees; one more team works in software, and reports that. */
static bool all_trees(void)
{
	struct angara_team_attr wants = { .size = sizeof(wants), .flags = ANGARA_TEAM_TREE };
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *teams[MAX_TREES], *more;
	uint64_t seen = 0;
	bool ok = true;
	int trees, n = 0, i;
	unsigned int tree;

	trees = (int)max_trees();
	while (n < trees) {
		struct angara_team_attr attr = { .size = sizeof(attr), .root = (uint32_t)n % size };

		if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr,
							 &teams[n]), 0))
			break;
		tree = angara_team_tree(teams[n++]);
		if (!expect("has a tree", tree < MAX_TREES, 1))
			break;
		seen |= 1ULL << tree;
	}
	ok = expect("trees", seen == ~0ULL >> (64 - trees), true) &&
	     expect("team with a tree", angara_team_create(job, ctx, NULL, 0, &wants, &more),
		    -ENOSPC) &&
	     expect("team in software", angara_team_create(job, ctx, NULL, 0, NULL, &more), 0);
	if (ok)
		ok = works(more) && expect("query", angara_team_query(more, &info), 0) &&
		     expect("offloaded", info.offloaded, 0) &&
		     expect("tree", info.tree, ANGARA_NO_TREE) &&
		     expect("by device", (long long)info.by_device, 0) &&
		     expect("by software", info.by_software > 0, 1) &&
		     expect("destroy", angara_team_destroy(more), 0);
	for (i = 0; ok && i < n; i++)
		ok = works(teams[i]) && expect("query", angara_team_query(teams[i], &info), 0) &&
		     expect("offloaded", info.offloaded, 1) &&
		     expect("by device", (long long)info.by_device, 1);
	for (i = 0; i < n; i++)
		ok &= expect("destroy", angara_team_destroy(teams[i]), 0);
	return ok;
}

static bool chosen_tree(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .tree = 10 };
	struct angara_team *team, *other;
	bool ok;

	ok = expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0);
	if (!ok)
		return false;
	ok = expect("tree", angara_team_tree(team), 9) &&
	     expect("taken", angara_team_create(job, ctx, NULL, 0, &attr, &other), -EBUSY);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

/*
 * A wrong argument of one process is an error at all processes, and no row is
 * left.
 */
static bool disagreement(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .root = rank == size - 1 };
	unsigned int beyond[] = { 0, size };
	struct angara_team *team;
	bool ok;

	ok = expect("roots", angara_team_create(job, ctx, NULL, 0, &attr, &team), -EINVAL);
	ok &= expect("rank", angara_team_create(job, ctx, beyond, 2, NULL, &team),
		     -EINVAL);
	ok &= expect("no context", angara_team_create(job, rank ? ctx : NULL, NULL, 0,
						      NULL, &team), -EINVAL);
	attr = (struct angara_team_attr){ .size = sizeof(attr), .flags = 1U << 31 };
	ok &= expect("flags", angara_team_create(job, ctx, NULL, 0, &attr, &team), -EINVAL);
	attr.flags = ANGARA_TEAM_TREE | ANGARA_TEAM_SOFTWARE;
	ok &= expect("both", angara_team_create(job, ctx, NULL, 0, &attr, &team), -EINVAL);
	return ok & (subset(3, 0) & chosen_tree());
}

/*
 * When a process destroys the team, the team's rows are cleared, and the device
 * no longer knows the reason of the failure.  So each survivor waits until the
 * other survivors have called angara_team_check().
 */
static bool looked(const struct angara_team *team, const struct angara_mr *mr,
		   unsigned int victim)
{
	const unsigned int counter = 3;
	bool ok = true;
	unsigned int i;

	for (i = 0; ok && i < size; i++)
		if (i != victim)
			ok = expect("put", angara_put_inline_nbi(ctx, angara_team_peer(team, i),
							     angara_mr_key(mr), 4096,
							     &rank, sizeof(rank),
							     PENDING_COUNT((int)counter)), 0);
	return ok && expect("all have checked", angara_counter_wait(ctx, counter, size - 1,
								   LONG_MS), 0);
}

/* Polls for LONG_MS at most until an operation is complete. */
static int polled(struct pending *req)
{
	time_t end = time(NULL) + LONG_MS / 1000;
	int ret;

	do
		ret = pending_test(ctx, req);
	while (ret == -EAGAIN && time(NULL) < end);
	return ret;
}

/*
 * In a separate job, process LIB_VICTIM kills itself while each other process waits for
 * an allreduce or a broadcast: all get an error, and none hangs.  @polls: all of them
 * poll for an allreduce, and do not sleep.
 */
static int bereaved(unsigned int victim, bool polls)
{
	struct angara_team *team;
	struct angara_mr *mr;
	struct pending req = { 0 };
	uint32_t node;
	int ret;

	if (angara_team_create(job, ctx, NULL, 0, NULL, &team) ||
	    !expect("check", angara_team_check(team, &node), 0) ||
	    angara_team_malloc(team, 8192, &mr) || angara_job_barrier(job))
		return 1;
	if (rank == victim) {
		usleep(200000);
		raise(SIGKILL);
	}
	/* Half of the members have no operation in progress that could end. */
	if (rank % 2 && !polls)
		ret = angara_team_received_wait(team, 1, ANGARA_FOREVER);
	else
		ret = angara_allreduce_nbi(team, mr, 0, mr, 0, 512,
					   ANGARA_TYPE_INT64, 0, pending_op(&req));
	if (!ret)
		ret = polls ? polled(&req) : pending_wait(ctx, &req, LONG_MS);
	if (!expect("notified", ret, -ECONNRESET) ||
	    !expect("check", angara_team_check(team, &node), -ECONNRESET) ||
	    /* All rows of the first process are cleared at its death, so any node may be named. */
	    (victim && !expect("node", node, angara_team_peer(team, victim).node)) ||
	    !looked(team, mr, victim))
		return 1;
	ret = angara_team_destroy(team);
	if (!expect("destroy", ret == -ECONNRESET || ret == -EPIPE || ret == -ENOTCONN, 1))
		return 1;
	if (!expect("create", angara_team_create(job, ctx, NULL, 0, NULL, &team),
		    -EPIPE))
		return 1;
	puts(SURVIVOR);
	return 0;
}

/*
 * As bereaved(), on a team without a tree: no device reports the death, so the
 * members detect it, and notify each other.
 */
static int bereaved_by_software(unsigned int victim)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *team, *part;
	struct pending req[3];
	struct angara_mr *mr;
	uint32_t node;
	int i, ret;

	if (angara_team_create(job, ctx, NULL, 0, &attr, &team) ||
	    angara_malloc(dom, 200000, &mr) || angara_job_barrier(job))
		return 1;
	if (rank == victim) {
		usleep(200000);
		raise(SIGKILL);
	}
	/*
	 * Start a short collective, a long one, and one in which a member
	 * learns of the death only from others.
	 */
	if (angara_barrier_nbi(team, pending_op(&req[0])) ||
	    angara_allreduce_nbi(team, mr, 0, mr, 0, 10000, ANGARA_TYPE_INT64, 0,
				 pending_op(&req[1])) ||
	    angara_broadcast_nbi(team, mr, 0, 200000, victim, pending_op(&req[2])))
		return 1;
	for (i = 0; i < 3; i++)
		if (!expect("notified", pending_wait(ctx, &req[i], LONG_MS), -ECONNRESET) ||
		    !expect("node", req[i].c.node, angara_team_peer(team, victim).node))
			return 1;
	if (!expect("check", angara_team_check(team, &node), -ECONNRESET) ||
	    !expect("node", node, angara_team_peer(team, victim).node) ||
	    !expect("query", angara_team_query(team, &info), 0) ||
	    !expect("lost", info.lost, victim) ||
	    !expect("barrier", angara_barrier(team), -ENOTCONN) ||
	    !expect("subset", angara_team_subset(team, NULL, 0, NULL, &part), -ENOTCONN))
		return 1;
	ret = angara_team_destroy(team);
	if (!expect("destroy", ret, -ECONNRESET))
		return 1;
	puts(SURVIVOR);
	return 0;
}

/*
 * Runs this program again under a new launcher.  The launcher's status reports
 * only the killed process, so count the survivors.
 */
static bool death(unsigned int victim, const char *variable)
{
	const char *env = getenv("LIB_VICTIM"), *soft = getenv("LIB_SOFTWARE");
	unsigned int survivors = 0;
	char line[256];
	int status;
	FILE *f;

	if (env && soft)
		exit(bereaved_by_software((unsigned int)atoi(env)));
	if (env)
		exit(bereaved((unsigned int)atoi(env), getenv("LIB_POLLS")));
	if (rank)
		return true;
	snprintf(line, sizeof(line),
		 "unset ANGARA_RANK ANGARA_SIZE ANGARA_JOB_FD; LIB_VICTIM=%u %s"
		 "angara-run -n %u --grace 30 /proc/%d/exe death 2>/dev/null",
		 victim, variable, size, getpid());
	f = popen(line, "r");
	if (!f)
		return expect("popen", errno, 0);
	while (fgets(line, sizeof(line), f))
		if (!strcmp(line, SURVIVOR "\n"))
			survivors++;
		else
			fputs(line, stdout);
	status = pclose(f);
	return expect("survivors", survivors, size - 1) &
	       expect("job", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 137);
}

static bool death_of_member(void)
{
	return death(size - 1, "");
}

/* The first process programs the rows, which are cleared at its death. */
static bool death_of_coordinator(void)
{
	return death(0, "");
}

static bool death_by_software(void)
{
	return size < 2 || death(size / 2, "LIB_SOFTWARE=1 ");
}

/* No survivor sleeps. */
static bool death_while_all_poll(void)
{
	return death(size - 1, "LIB_POLLS=1 ");
}

/* When a member leaves, operations that wait for it fail. */
static bool leaving(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team *team;
	bool ok;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0))
		return false;
	/* On bad links the barrier may end much later at another member. */
	ok = expect("barrier", angara_barrier(team), 0) &
	     expect("all", angara_job_barrier(job), 0);
	if (rank == size - 1) {
		usleep(20000);
		angara_team_leave(team);
		return ok;
	}
	ok &= expect("barrier after a member left", angara_barrier(team), -ECONNRESET) &&
	      expect("query", angara_team_query(team, &info), 0) &&
	      expect("lost", info.lost, size - 1);
	return ok & expect("destroy", angara_team_destroy(team), -ECONNRESET);
}

/*
 * Members report another member as lost, which is alive: it is notified that the
 * team is lost.
 */
static bool blamed(void)
{
	struct angara_team_attr attr = { .size = sizeof(attr), .flags = ANGARA_TEAM_SOFTWARE };
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_mr *mr = own_region(64);
	struct angara_team *team;
	struct pending req;
	bool ok = true;
	int ret;

	if (!expect("create", angara_team_create(job, ctx, NULL, 0, &attr, &team), 0) ||
	    !expect("barrier of the job", angara_job_barrier(job), 0))
		return false;
	/* The root ends at once, unless it is notified while it still sends. */
	ret = angara_broadcast(team, mr, 0, rank && rank == size - 1 ? 16 : 8, 0);
	if (!rank)
		ok = expect("root", !ret || ret == -EPROTO || ret == -ENOTCONN, true);
	ret = angara_barrier_nbi(team, pending_op(&req));
	if (!ret)
		ret = pending_wait(ctx, &req, LONG_MS);
	if (size > 1)
		ok &= expect("notified", ret == -EPROTO || ret == -ENOTCONN, true) &&
		      expect("query", angara_team_query(team, &info), 0) &&
		      expect("a lost member is named", info.lost < size - 1, true);
	angara_team_leave(team);
	angara_free(mr);
	return ok & expect("barrier of the job", angara_job_barrier(job), 0);
}

const struct part team_parts[] = {
	{ "disagreement", disagreement },
	{ "subsets", subsets },
	{ "chosen tree", chosen_tree },
	{ "all trees", all_trees },
	{ "death", death_of_member },
	{ "death of the coordinator", death_of_coordinator },
	{ "death without a tree", death_by_software },
	{ "death while all others poll", death_while_all_poll },
	{ "a member leaves", leaving },
	{ "a member that others blame", blamed },
	{ "all trees again", all_trees },
	{ NULL, NULL },
};
