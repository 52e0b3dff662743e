// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collective operations of the libfabric provider that the adapters execute.
 * Rank 0 reports in TAP.
 *
 *	angara-run -n N fi-offload [PART]
 *
 * FI_COUNTERS is a command that prints the number of packets that links have
 * carried for trees, to roots and from them.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offload.h"

struct angara_job *job;
unsigned int rank, size, nodes;
struct fid_domain *domain;
struct fid_ep *ep;

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_eq *eq;
static fi_addr_t addrs[MAX_RANKS];

/* Completions that arrived before the program waited for them. */
static struct {
	void *context;
	int err;
} early[256];
static unsigned int nearly;

bool expect_at(const char *file, int line, const char *what, long long got,
	       long long want)
{
	if (got == want)
		return true;
	printf("# rank %u: %s:%d: %s: %lld, not %lld\n", rank, file, line, what,
	       got, want);
	return false;
}

static void must(const char *what, long ret)
{
	if (!ret)
		return;
	printf("Bail out! rank %u: %s: %s\n", rank, what, fi_strerror((int)-ret));
	exit(1);
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Takes at most one completion from the queue. */
void look(void)
{
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry e;
	ssize_t ret = fi_cq_read(cq, &e, 1);

	if (ret == -FI_EAGAIN)
		return;
	if (nearly == sizeof(early) / sizeof(*early))
		must("room for completions", -FI_ENOMEM);
	if (ret == 1) {
		early[nearly].context = e.op_context;
		early[nearly++].err = 0;
		return;
	}
	must("fi_cq_read", ret == -FI_EAVAIL ? 0 : ret);
	must("fi_cq_readerr", fi_cq_readerr(cq, &err, 0) != 1);
	early[nearly].context = err.op_context;
	early[nearly++].err = err.err;
}

int await(void *context)
{
	double end = now() + LONG_S;
	unsigned int i;
	int err;

	for (;;) {
		for (i = 0; i < nearly; i++) {
			if (early[i].context != context)
				continue;
			err = early[i].err;
			early[i] = early[--nearly];
			return err;
		}
		if (now() > end)
			return FI_ETIMEDOUT;
		look();
		sched_yield();
	}
}

int done(ssize_t started, void *context)
{
	return started ? (int)-started : await(context);
}

bool join_start(struct group *g, const unsigned int *ranks, unsigned int n)
{
	struct fi_av_set_attr attr = {
		.count = MAX_RANKS,
		.start_addr = FI_ADDR_NOTAVAIL,
		.end_addr = FI_ADDR_NOTAVAIL,
	};
	unsigned int i;

	*g = (struct group){ .size = ranks ? n : size };
	if (!expect(fi_av_set(av, &attr, &g->set, NULL), 0))
		return false;
	for (i = 0; i < g->size; i++) {
		g->ranks[i] = ranks ? ranks[i] : i;
		if (g->ranks[i] == rank)
			g->rank = i;
		if (!expect(fi_av_set_insert(g->set, addrs[g->ranks[i]]), 0))
			return false;
	}
	return expect(fi_join_collective(ep, FI_ADDR_NOTAVAIL, g->set, 0, &g->mc, g),
		      0);
}

static bool join_end(void)
{
	struct fi_eq_err_entry err = { 0 };
	struct fi_eq_entry e;
	double end = now() + LONG_S;
	struct group *g;
	uint32_t event;
	ssize_t ret;

	do {
		look();
		sched_yield();
		ret = fi_eq_read(eq, &event, &e, sizeof(e), 0);
	} while (ret == -FI_EAGAIN && now() < end);
	if (ret == -FI_EAVAIL) {
		fi_eq_readerr(eq, &err, 0);
		return expect(err.err, 0);
	}
	if (!expect(ret, sizeof(e)) || !expect(event, FI_JOIN_COMPLETE))
		return false;
	g = e.context;
	g->addr = fi_mc_addr(g->mc);
	return expect(e.fid == &g->mc->fid, 1);
}

bool join_wait(unsigned int n)
{
	while (n--)
		if (!join_end())
			return false;
	return true;
}

bool join(struct group *g, const unsigned int *ranks, unsigned int n)
{
	return join_start(g, ranks, n) && join_wait(1);
}

bool leave(struct group *g)
{
	return expect(fi_close(&g->mc->fid), 0) & expect(fi_close(&g->set->fid), 0);
}

fi_addr_t addr_of(const struct group *g, unsigned int member)
{
	return addrs[g->ranks[member]];
}

bool together(void)
{
	return expect(angara_job_barrier(job), 0);
}

bool links(struct links *l)
{
	const char *command = getenv("FI_COUNTERS");
	bool ok = true;
	FILE *f;

	*l = (struct links){ 0 };
	if (!together())
		return false;
	if (!rank) {
		f = command ? popen(command, "r") : NULL;
		ok = expect(f && fscanf(f, "%llu %llu", &l->up, &l->down) == 2, 1);
		if (f)
			ok &= expect(pclose(f), 0);
	}
	return ok & together();
}

static void open_all(void)
{
	struct fi_info *hints = fi_allocinfo();
	struct fi_cq_attr cq_attr = { .size = 256, .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };

	hints->caps = FI_MSG | FI_COLLECTIVE;
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup("angara");
	must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	must("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
	must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	must("fi_ep_bind, address vector", fi_ep_bind(ep, &av->fid, 0));
	must("fi_ep_bind, completion queue", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	must("fi_ep_bind, event queue", fi_ep_bind(ep, &eq->fid, 0));
	must("fi_enable", fi_enable(ep));
}

/* Exchanges the addresses; counts the nodes. */
static void introduce(void)
{
	char name[64] = "", all[MAX_RANKS][64];
	size_t len = sizeof(name);
	unsigned int i, j;

	must("the job has too many processes", size > MAX_RANKS ? -FI_EINVAL : 0);
	must("fi_getname", fi_getname(&ep->fid, name, &len));
	must("allgather", angara_job_allgather(job, name, sizeof(name), all));
	for (i = 0; i < size; i++) {
		must("fi_av_insert",
		     fi_av_insert(av, all[i], 1, &addrs[i], 0, NULL) != 1);
		/* The first 12 bytes of an address are fabric and node. */
		for (j = 0; j < i && memcmp(all[i], all[j], 12); j++)
			;
		nodes += i == j;
	}
}

static void close_all(void)
{
	must("close ep", fi_close(&ep->fid));
	must("close eq", fi_close(&eq->fid));
	must("close cq", fi_close(&cq->fid));
	must("close av", fi_close(&av->fid));
	must("close domain", fi_close(&domain->fid));
	must("close fabric", fi_close(&fabric->fid));
	fi_freeinfo(info);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must("job", angara_job_init(&job));
	rank = angara_job_rank(job);
	size = angara_job_size(job);
	open_all();
	introduce();
	parts_run(job, result_parts, only);
	parts_run(job, group_parts, only);
	if (only) {
		parts_run(job, lone_parts, only);
		parts_run(job, time_parts, only);
	}
	ret = parts_end(job);
	close_all();
	angara_job_finalize(job);
	return ret;
}
