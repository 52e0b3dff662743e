// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * angara-run -n 8 ./bcast: rank 0 writes to the memory of all processes and
 * then puts a word to its right neighbour, which detects both without a
 * receive.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include <angara/angara.h>

#define TIMEOUT_MS	10000
#define DONE		0	/* user counter that the put increments */

static void check(int ret, const char *what)
{
	if (ret)
		errx(1, "%s: %s", what, strerror(-ret));
}

static void send_all(struct angara_ctx *ctx, struct angara_team *team,
		     struct angara_mr *mr, uint64_t key)
{
	struct angara_peer right = angara_team_peer(team,
						    1 % angara_team_size(team));
	static const char text[] = "from rank 0";
	const struct angara_op op = {
		.size = sizeof(op),
		.flags = ANGARA_NOTIFY | ANGARA_SILENT,
		.notify = DONE,
	};

	memcpy(angara_mr_addr(mr), text, sizeof(text));
	check(angara_bcast_nbi(team, key, 0, mr, 0, sizeof(text), NULL),
	      "broadcast");
	check(angara_put_inline_nbi(ctx, right, key, 64, "right", 6, &op),
	      "put");
	/* Neither has its own completion: quiet waits for both. */
	check(angara_quiet(ctx, TIMEOUT_MS), "quiet");
}

int main(void)
{
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	struct angara_team *team;
	unsigned int rank, right;
	const char *mem;

	check(angara_job_init(&job), "job");
	rank = angara_job_rank(job);
	right = 1 % angara_job_size(job);
	check(angara_domain_open(NULL, NULL, &dom), "domain");
	check(angara_ctx_open(dom, NULL, &ctx), "context");
	check(angara_team_create(job, ctx, NULL, 0, NULL, &team), "team");
	/* The key is the same at all members. */
	check(angara_team_malloc(team, 4096, &mr), "memory");
	mem = angara_mr_addr(mr);

	if (rank == 0)
		send_all(ctx, team, mr, angara_mr_key(mr));
	check(angara_team_received_wait(team, 1, TIMEOUT_MS), "arrival");
	if (rank == right)
		check(angara_counter_wait(ctx, DONE, 1, TIMEOUT_MS), "notice");
	printf("rank %u: \"%s\" \"%s\"\n", rank, mem, mem + 64);

	check(angara_team_destroy(team), "team");
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	angara_job_finalize(job);
	return 0;
}
