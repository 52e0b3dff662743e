// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Statistics: counted by each process, summed and printed at the end. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ami.h"

const char *const ami_coll_names[AMI_COLLS] = {
	[AMI_BARRIER] = "barrier",
	[AMI_BCAST] = "bcast",
	[AMI_REDUCE] = "reduce",
	[AMI_ALLREDUCE] = "allreduce",
	[AMI_OTHER] = "other collectives",
	[AMI_NONBLOCKING] = "non-blocking",
};

const char *const ami_way_names[AMI_AUTO + 1] = {
	[AMI_OFFLOAD] = "offload",
	[AMI_SOFTWARE] = "software",
	[AMI_NATIVE] = "native",
	[AMI_AUTO] = "auto",
};

static const char *const reasons[AMI_WHYS] = {
	[AMI_WHY_OFF] = "no adapter is open",
	[AMI_WHY_SETTING] = "the user has set native",
	[AMI_WHY_LONG] = "longer than auto takes",
	[AMI_WHY_EMPTY] = "no data",
	[AMI_WHY_ALONE] = "one member",
	[AMI_WHY_INTER] = "intercommunicator",
	[AMI_WHY_FOREIGN] = "members of another MPI_COMM_WORLD",
	[AMI_WHY_TYPE] = "datatype of a reduction",
	[AMI_WHY_OP] = "operation of a reduction",
	[AMI_WHY_ARGS] = "argument that the MPI rejects",
	[AMI_WHY_TREE] = "no tree for the members",
	[AMI_WHY_TEAM] = "no team for the members",
	[AMI_WHY_THREADS] = "MPI_THREAD_MULTIPLE",
	[AMI_WHY_FORM] = "function without an offload",
};

u64 ami_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/**
 * ami_count_call() - count a call that has ended
 * @coll: function
 * @way: that it took
 * @why: if it passed through
 * @bytes: of this process's message
 * @since: when it began
 */
void ami_count_call(enum ami_coll coll, enum ami_way way, enum ami_why why,
		    size_t bytes, u64 since)
{
	struct ami_count *n = &ami.count[coll][way];

	ang_fetch_add(&n->calls, 1);
	ang_fetch_add(&n->bytes, bytes);
	ang_fetch_add(&n->ns, ami_now_ns() - since);
	if (way == AMI_NATIVE)
		ang_fetch_add(&ami.passed[coll][why], 1);
}

static void print_row(enum ami_coll coll, enum ami_way way,
		      const struct ami_count *n)
{
	fprintf(stderr, "libangara-mpi: %-18s %-9s %10llu %14llu %12.1f\n",
		ami_coll_names[coll], ami_way_names[way],
		(unsigned long long)n->calls, (unsigned long long)n->bytes,
		(double)n->ns / 1e3 / (double)n->calls);
}

static void print_reasons(u64 passed[AMI_COLLS][AMI_WHYS])
{
	u32 i, k;

	for (i = 0; i < AMI_COLLS; i++)
		for (k = 1; k < AMI_WHYS; k++)
			if (passed[i][k])
				fprintf(stderr,
					"libangara-mpi: passed through: %s, %llu calls: %s\n",
					ami_coll_names[i],
					(unsigned long long)passed[i][k],
					reasons[k]);
}

/** ami_stats_print() - print the sums over all processes, at rank 0 */
void ami_stats_print(void)
{
	struct ami_count all[AMI_COLLS][AMI_WAYS];
	u64 passed[AMI_COLLS][AMI_WHYS];
	u32 i, k;

	PMPI_Reduce(ami.count, all, sizeof(all) / sizeof(u64), MPI_UINT64_T,
		    MPI_SUM, 0, ami.world);
	PMPI_Reduce(ami.passed, passed, sizeof(passed) / sizeof(u64),
		    MPI_UINT64_T, MPI_SUM, 0, ami.world);
	if (ami.rank)
		return;
	fprintf(stderr, "libangara-mpi: %-18s %-9s %10s %14s %12s\n",
		"collective", "way", "calls", "bytes", "us per call");
	for (i = 0; i < AMI_COLLS; i++)
		for (k = 0; k < AMI_WAYS; k++)
			if (all[i][k].calls)
				print_row(i, k, &all[i][k]);
	print_reasons(passed);
}
