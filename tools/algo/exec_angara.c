// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: execute schedules with the library's messages and one-sided
 * reads.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ang_model.h"
#include "lib.h"
#include "coll_run.h"
#include "team.h"
#include "exec.h"
#include "mpi/place.h"

#define WAIT_MS	60000

const char exec_name[] = "libangara";

static struct {
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct angara_team *team;
	struct angara_team *pair;	/* team of exec_pair(), or NULL */
	struct angara_mr *mr;
	struct ang_tally *tally;	/* traffic since the last exec_traffic() */
} me;

static void need(int ret, const char *what)
{
	if (ret)
		exit(fail("%s: %s", what, strerror(-ret)));
}

void exec_start(u32 *rank, u32 *size)
{
	const struct angara_team_attr attr = { .size = sizeof(attr) };

	need(angara_job_init(&me.job), "job");
	*rank = angara_job_rank(me.job);
	*size = angara_job_size(me.job);
	need(angara_domain_open(NULL, NULL, &me.dom), "adapter");
	need(angara_ctx_open(me.dom, NULL, &me.ctx), "context");
	need(angara_team_create(me.job, me.ctx, NULL, 0, &attr, &me.team), "team");
	me.tally = need_memory(me.team->size, sizeof(*me.tally));
}

void exec_end(void)
{
	angara_team_destroy(me.team);
	angara_mr_dereg(me.mr);
	angara_ctx_close(me.ctx);
	angara_domain_close(me.dom);
	angara_job_finalize(me.job);
	free(me.tally);
}

char *exec_memory(size_t bytes)
{
	need(angara_malloc(me.dom, bytes, &me.mr), "memory");
	return angara_mr_addr(me.mr);
}

static struct ang_coll_mem range(char *at, size_t len)
{
	return (struct ang_coll_mem){
		.mr = me.mr, .off = (u64)(at - (char *)angara_mr_addr(me.mr)), .len = len,
	};
}

void exec_run(const struct ang_coll_args *args, char *in, char *out)
{
	size_t len = args->count * args->elem;
	const struct angara_op how = { .size = sizeof(how), .cookie = 1 };
	const struct ang_coll_call call = {
		.args = *args, .in = range(in, len),
		.out = range(out, args->coll == ANG_COLL_ALLGATHER ? len * args->size : len),
		.type = ANGARA_TYPE_DOUBLE, .redop = ANGARA_RED_SUM, .how = &how,
	};
	struct angara_completion c;
	int n;

	me.team->tally = me.tally;
	need(ang_coll_software(me.pair ? me.pair : me.team, &call), "collective");
	n = angara_poll_wait(me.ctx, &c, 1, WAIT_MS);
	me.team->tally = NULL;
	need(n < 0 ? n : n ? angara_status_errno(c.status) : -EIO, "collective");
}

void exec_combine(void *dst, const void *src, size_t len)
{
	ang_combine(dst, src, (u32)len, ANGARA_TYPE_DOUBLE, ANGARA_RED_SUM);
}

void exec_barrier(void)
{
	need(angara_barrier(me.team), "barrier");
}

void exec_pair(u32 p, u32 q)
{
	const struct angara_team_attr attr = { .size = sizeof(attr),
					       .flags = ANGARA_TEAM_SOFTWARE };

	if (me.team->rank == p || me.team->rank == q)
		need(angara_team_strided(me.team, p, q - p, 2, &attr, &me.pair), "team");
}

void exec_pair_end(void)
{
	angara_team_destroy(me.pair);
	me.pair = NULL;
}

#define NAME_MOST	64U

/* Processes whose machines have the same name are on one node. */
void exec_places(u32 *places)
{
	u32 n = me.team->size, own[ANG_PLACE_LEVELS] = { 0 }, i;
	char *names = need_memory(n, NAME_MOST), name[NAME_MOST] = "";

	gethostname(name, sizeof(name) - 1);
	need(angara_job_allgather(me.job, name, sizeof(name), names), "allgather");
	for (i = 0; memcmp(names + i * NAME_MOST, name, sizeof(name)); i++)
		;
	free(names);
	own[0] = i;
	ang_place_own(own);
	need(angara_job_allgather(me.job, own, sizeof(own), places), "allgather");
}

double exec_most(double value)
{
	double *all = need_memory(me.team->size, sizeof(*all)), most = value;
	u32 i;

	need(angara_job_allgather(me.job, &value, sizeof(value), all), "allgather");
	for (i = 0; i < me.team->size; i++)
		most = all[i] > most ? all[i] : most;
	free(all);
	return most;
}

void exec_traffic(const struct levels *s, struct traffic *t)
{
	struct traffic *all = need_memory(me.team->size, sizeof(*all)), own = { 0 };
	u32 i, l;

	for (i = 0; i < me.team->size; i++) {
		l = level_of(s, s->core[me.team->rank], s->core[i]);
		own.messages[l] += me.tally[i].messages;
		own.bytes[l] += me.tally[i].bytes;
		me.tally[i] = (struct ang_tally){ 0 };
	}
	need(angara_job_allgather(me.job, &own, sizeof(own), all), "allgather");
	*t = (struct traffic){ 0 };
	for (i = 0; i < me.team->size; i++)
		for (l = 0; l < s->num; l++) {
			t->messages[l] += all[i].messages[l];
			t->bytes[l] += all[i].bytes[l];
		}
	free(all);
}

bool exec_native(const struct ang_coll_args *args, char *in, char *out)
{
	(void)args;
	(void)in;
	(void)out;
	return false;
}
