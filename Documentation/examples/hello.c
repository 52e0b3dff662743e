// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* angara-run -n 8 ./hello: the sum of the ranks, computed in the network */
#include <angara/angara.h>
#include <err.h>
#include <stdio.h>

#define CHECK(call) ({ int r_ = (call); if (r_) errx(1, "%s: %d", #call, r_); })

int main(void)
{
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	struct angara_team *team;

	CHECK(angara_job_init(&job));
	CHECK(angara_domain_open(NULL, NULL, &dom));
	CHECK(angara_ctx_open(dom, NULL, &ctx));
	CHECK(angara_malloc(dom, sizeof(int32_t), &mr));
	CHECK(angara_team_create(job, ctx, NULL, 0, NULL, &team));

	int32_t *sum = angara_mr_addr(mr);

	*sum = (int32_t)angara_job_rank(job);
	CHECK(angara_allreduce_nbi(team, mr, 0, mr, 0, 1, ANGARA_TYPE_INT32,
				   ANGARA_RED_SUM, NULL));
	CHECK(angara_quiet(ctx, ANGARA_FOREVER));
	printf("rank %u: %d\n", angara_job_rank(job), *sum);
	angara_team_destroy(team);
	angara_ctx_close(ctx);
	angara_domain_close(dom);
	angara_job_finalize(job);
	return 0;
}
