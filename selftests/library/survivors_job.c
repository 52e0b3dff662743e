// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process of a job that makes a team, uses it and destroys it, in a loop,
 * until something fails. survivors.c starts eight of them by angara-run, as copies
 * of itself with other arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include <angara/angara.h>

#include "survivors.h"

#define COUNT		500U
#define BYTES		(COUNT * sizeof(int32_t))
#define DEADLINE_MS	60000

struct self {
	struct angara_job *job;
	struct angara_ctx *ctx;
	struct angara_mr *mr;
	struct job_shared *sh;
	unsigned int rank;
};

static void at_step(struct self *s, enum job_step step)
{
	s->sh->p[s->rank].step = step;
}

static int wait_for(struct self *s, int started)
{
	return started ? started : angara_quiet(s->ctx, DEADLINE_MS);
}

static int use(struct self *s, struct angara_team *team)
{
	unsigned int i, next = (s->rank + 1) % JOB_SIZE;
	int32_t *mem;
	int ret = 0;

	if (!s->mr)
		ret = angara_team_malloc(team, 1 << 16, &s->mr);
	if (ret)
		return ret;
	mem = angara_mr_addr(s->mr);
	at_step(s, JOB_BARRIER);
	ret = wait_for(s, angara_barrier_nbi(team, NULL));
	if (ret)
		return ret;
	at_step(s, JOB_ALLREDUCE);
	for (i = 0; i < COUNT; i++)
		mem[i] = (int32_t)(i + s->rank);
	ret = wait_for(s, angara_allreduce_nbi(team, s->mr, BYTES, s->mr, 0,
					       COUNT, ANGARA_TYPE_INT32,
					       ANGARA_RED_SUM, NULL));
	if (ret)
		return ret;
	for (i = 0; i < COUNT; i++)
		if (mem[COUNT + i] != (int32_t)(JOB_SIZE * i + 28))
			return 1;
	at_step(s, JOB_BCAST);
	ret = wait_for(s, angara_bcast_nbi(team, angara_mr_key(s->mr),
					   (2 + s->rank) * BYTES, s->mr, 0,
					   BYTES, NULL));
	if (ret)
		return ret;
	at_step(s, JOB_PUT);
	return wait_for(s, angara_put_nbi(s->ctx, angara_team_peer(team, next),
					  angara_mr_key(s->mr), 0x8000, s->mr,
					  0, BYTES, NULL));
}

static int loop(struct self *s)
{
	struct angara_team *team;
	int ret, err;

	for (;;) {
		at_step(s, JOB_TEAM_CREATE);
		ret = angara_team_create(s->job, s->ctx, NULL, 0, NULL, &team);
		if (ret)
			return ret;
		ret = use(s, team);
		if (!ret)
			at_step(s, JOB_TEAM_DESTROY);
		err = angara_team_destroy(team);
		if (ret || err)
			return ret ? ret : err;
		s->sh->p[s->rank].rounds++;
	}
}

static int prepare(struct self *s, const char *path)
{
	struct angara_domain *dom;
	int fd, ret;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	s->sh = mmap(NULL, sizeof(*s->sh), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	close(fd);
	if (s->sh == MAP_FAILED)
		return -errno;
	ret = angara_job_init(&s->job);
	if (ret)
		return ret;
	if (angara_job_size(s->job) != JOB_SIZE)
		return -EINVAL;
	s->rank = angara_job_rank(s->job);
	s->sh->p[s->rank].pid = getpid();
	ret = angara_domain_open(NULL, NULL, &dom);
	if (ret)
		return ret;
	ret = angara_ctx_open(dom, NULL, &s->ctx);
	angara_domain_close(dom);
	return ret;
}

int job_member(const char *path)
{
	struct self s = { 0 };
	int ret;

	ret = prepare(&s, path);
	if (ret) {
		fprintf(stderr, "a member cannot join its job: %s\n", strerror(-ret));
		if (s.sh && s.sh != MAP_FAILED && s.job)
			s.sh->p[s.rank].result = ret;
		return 1;
	}
	s.sh->p[s.rank].result = loop(&s);
	angara_free(s.mr);
	angara_ctx_close(s.ctx);
	angara_job_finalize(s.job);
	return 0;
}
