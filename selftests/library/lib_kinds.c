// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fabrics of any kind: each process is the root once, of a tree over all
 * processes and of one over some; all send to all.
 */
#include <stdlib.h>
#include <string.h>

#include "lib.h"
#include "pending.h"

#define COUNT	300		/* elements of 8 bytes: ten packets */
#define BYTES	(COUNT * sizeof(uint64_t))
#define MOST	64		/* processes */

static struct angara_mr *from, *to;

static bool ends(const char *what, int ret, struct pending *req)
{
	return expect(what, ret, 0) &&
	       expect(what, pending_wait(ctx, req, LONG_MS), 0);
}

static uint64_t element(unsigned int of, unsigned int i, unsigned int turn)
{
	return (of + 1) * 1000003ULL + i * 7919ULL + turn;
}

static void elements(unsigned int turn)
{
	uint64_t *v = angara_mr_addr(from);
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		v[i] = element(rank, i, turn);
	memset(angara_mr_addr(to), 0, BYTES);
}

static bool summed(const unsigned int *ranks, unsigned int n, unsigned int turn)
{
	const uint64_t *v = angara_mr_addr(to);
	unsigned int i, k;

	for (i = 0; i < COUNT; i++) {
		uint64_t want = 0;

		for (k = 0; k < n; k++)
			want += element(ranks[k], i, turn);
		if (!expect("sum", (long long)v[i], (long long)want))
			return false;
	}
	return true;
}

/* Executes each operation, with another root or source in each round. */
static bool operate(struct angara_team *team, const unsigned int *ranks,
		    unsigned int n, unsigned int turn)
{
	unsigned int me = angara_team_rank(team), source = turn % n;
	unsigned int target = (turn + 1) % n;
	struct pending req;
	bool ok;

	elements(turn);
	ok = ends("allreduce", angara_allreduce_nbi(team, to, 0, from, 0, COUNT,
						    ANGARA_TYPE_UINT64, ANGARA_RED_SUM,
						    pending_op(&req)), &req) &&
	     summed(ranks, n, turn);
	elements(turn + 1);
	ok &= ends("reduce", angara_reduce_nbi(team, to, 0, from, 0, COUNT,
					       ANGARA_TYPE_UINT64, ANGARA_RED_SUM,
					       target, pending_op(&req)), &req) &&
	      (me != target || summed(ranks, n, turn + 1));
	memset(angara_mr_addr(to), 0, BYTES);
	ok &= ends("barrier", angara_barrier_nbi(team, pending_op(&req)), &req);
	if (me == source) {
		fill(angara_mr_addr(from), BYTES, turn);
		ok &= ends("bcast", angara_bcast_nbi(team, angara_mr_key(to), 0, from, 0,
						     BYTES, pending_op(&req)), &req);
	}
	ok &= expect("received", angara_team_received_wait(team, 1, LONG_MS), 0) &&
	      filled("bcast", angara_mr_addr(to), BYTES, turn);
	return ok & ends("barrier", angara_barrier_nbi(team, pending_op(&req)), &req);
}

/* Creates a tree over the processes @ranks, with member @root as the root. */
static bool tree_over(const unsigned int *ranks, unsigned int n, unsigned int root,
		      unsigned int turn)
{
	struct angara_team_info info = { .size = sizeof(info) };
	struct angara_team_attr attr = {
		.size = sizeof(attr), .flags = ANGARA_TEAM_TREE, .root = root,
	};
	struct angara_team *team;
	bool ok;

	if (!expect("create", angara_team_create(job, ctx, ranks, n, &attr, &team), 0))
		return false;
	ok = operate(team, ranks, n, turn) &&
	     expect("query", angara_team_query(team, &info), 0) &&
	     expect("by device", (long long)info.by_device, 5 - (angara_team_rank(team) !=
								 turn % n)) &&
	     expect("by software", (long long)info.by_software, 0);
	return ok & expect("destroy", angara_team_destroy(team), 0);
}

static bool all_roots(void)
{
	unsigned int ranks[MOST], root, i;
	bool ok = expect("number of processes within the limit", size <= MOST, 1);
	uint64_t seed = 1;

	if (!ok)
		return false;
	from = region(BYTES);
	to = region(BYTES);
	for (root = 0; ok && root < size; root++) {
		unsigned int n = 0, place = 0;
		bool member = false;

		for (i = 0; i < size; i++)
			ranks[i] = i;
		ok = tree_over(ranks, size, root, root);
		for (i = 0; i < size; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			if (i == root)
				place = n;
			else if ((seed >> 33) % 3)
				continue;
			member |= i == rank;
			ranks[n++] = i;
		}
		if (member)
			ok &= tree_over(ranks, n, place, root);
	}
	angara_free(from);
	angara_free(to);
	return ok;
}

/*
 * Executes a put, a message and a get between all pairs; each sender has its
 * own slice of the region.
 */
static bool all_pairs(void)
{
	const struct angara_peer *all = peers();
	struct angara_message msg = { .size = sizeof(msg) };
	bool seen[MOST] = { false };
	bool ok = expect("number of processes within the limit", size <= MOST, 1);
	unsigned int i;

	if (!ok)
		return false;
	from = region(BYTES);
	to = region(MOST * BYTES);
	fill(angara_mr_addr(from), BYTES, rank);
	for (i = 0; ok && i < size; i++) {
		struct angara_head head = { .size = sizeof(head), .tag = rank };
		struct pending put, sent;

		ok = ends("put", angara_put_nbi(ctx, all[i], angara_mr_key(to), rank * BYTES,
						from, 0, BYTES, pending_op(&put)), &put) &&
		     ends("send", angara_send_inline_nbi(ctx, all[i], &head, &rank,
							 sizeof(rank), pending_op(&sent)),
			  &sent);
	}
	for (i = 0; ok && i < size; i++) {
		ok = expect("message", angara_msg_wait(ctx, LONG_MS, &msg), 0) &&
		     expect("the tag is of a new sender",
			    msg.head.tag < size && !seen[msg.head.tag], 1);
		if (ok)
			seen[msg.head.tag] = true;
		angara_msg_free(ctx, &msg);
	}
	/* A message arrives after the put before it. */
	for (i = 0; ok && i < size; i++)
		ok = filled("put", (char *)angara_mr_addr(to) + i * BYTES, BYTES, i);
	ok &= expect("barrier", angara_job_barrier(job), 0);
	for (i = 0; ok && i < size; i++) {
		struct pending req;

		ok = ends("get", angara_get_nbi(ctx, all[i], angara_mr_key(from), 0, to, 0,
						BYTES, pending_op(&req)), &req) &&
		     filled("get", angara_mr_addr(to), BYTES, i);
	}
	ok &= expect("barrier", angara_job_barrier(job), 0);
	angara_free(from);
	angara_free(to);
	return ok;
}

const struct part kinds_parts[] = {
	{ "all roots", all_roots },
	{ "all pairs", all_pairs },
	{ NULL, NULL },
};
