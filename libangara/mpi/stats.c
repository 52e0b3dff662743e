// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Statistics: counted by each process, summed and printed at the end. */
#include <stdio.h>
#include <time.h>

#include "ami.h"

const char *const ami_coll_names[AMI_COLLS] = {
	[AMI_BARRIER] = "barrier",
	[AMI_BCAST] = "bcast",
	[AMI_REDUCE] = "reduce",
	[AMI_ALLREDUCE] = "allreduce",
	[AMI_SCAN] = "scan",
	[AMI_EXSCAN] = "exscan",
	[AMI_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
	[AMI_REDUCE_SCATTER] = "reduce_scatter",
	[AMI_GATHER] = "gather",
	[AMI_GATHERV] = "gatherv",
	[AMI_SCATTER] = "scatter",
	[AMI_SCATTERV] = "scatterv",
	[AMI_ALLGATHER] = "allgather",
	[AMI_ALLGATHERV] = "allgatherv",
	[AMI_ALLTOALL] = "alltoall",
	[AMI_ALLTOALLV] = "alltoallv",
	[AMI_ALLTOALLW] = "alltoallw",
	[AMI_NEIGHBOR] = "neighbor",
};

static const char *const form_marks[AMI_FORMS] = {
	[AMI_BLOCKING] = "",
	[AMI_NONBLOCKING] = " i",
	[AMI_PERSISTENT] = " init",
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
	[AMI_WHY_LONG] = "longer than the limit of auto",
	[AMI_WHY_TABLE] = "auto selects the MPI",
	[AMI_WHY_LENGTHS] = "lengths unknown to some members",
	[AMI_WHY_EMPTY] = "no data",
	[AMI_WHY_ALONE] = "one member",
	[AMI_WHY_MANY] = "too many members",
	[AMI_WHY_INTER] = "intercommunicator",
	[AMI_WHY_FOREIGN] = "members of another MPI_COMM_WORLD",
	[AMI_WHY_TYPE] = "unsupported datatype",
	[AMI_WHY_OP] = "unsupported operation",
	[AMI_WHY_USER] = "user-defined operation",
	[AMI_WHY_ARGS] = "argument that the MPI rejects",
	[AMI_WHY_TREE] = "no tree for the members",
	[AMI_WHY_TEAM] = "no team for the members",
	[AMI_WHY_CONTEXT] = "no context for the communicator",
	[AMI_WHY_LATER] = "no team yet",
	[AMI_WHY_POWER] = "members are not a power of two",
	[AMI_WHY_NUMBERS] = "ranks cannot be renumbered",
	[AMI_WHY_FORM] = "function that is not offloaded",
	[AMI_WHY_ORDER] = "members may start them in different orders",
};

u64 ami_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ULL + (u64)ts.tv_nsec;
}

/* Counts an allreduce around rings. */
static void count_rings(const struct ami_call *k)
{
	enum ami_rings kind = AMI_RING;

	if (k->algo == ANGARA_ALGO_RING2D)
		kind = (u32)k->c->size == ami.set.product ? AMI_RING_SET :
							    AMI_RING_SQUARE;
	ang_fetch_add(&ami.rings[kind], 1);
}

static bool is_around(const struct ami_call *k)
{
	return k->coll == AMI_ALLREDUCE && k->way == AMI_SOFTWARE &&
	       (k->algo == ANGARA_ALGO_RING || k->algo == ANGARA_ALGO_RING2D);
}

/* Line of a call.  Only calls by software have an algorithm. */
static u32 line_of(const struct ami_call *k)
{
	return k->way == AMI_SOFTWARE && k->algo ?
	       AMI_WAYS - 1 + (k->algo >> ANGARA_ALGO_SHIFT) : k->way;
}

/** ami_count_call() - count a completed call */
void ami_count_call(const struct ami_call *k)
{
	struct ami_count *n = &ami.count[k->coll][k->form][line_of(k)];

	ang_fetch_add(&n->calls, 1);
	ang_fetch_add(&n->bytes, k->bytes);
	ang_fetch_add(&n->ns, ami_now_ns() - k->since);
	if (k->way == AMI_NATIVE)
		ang_fetch_add(&ami.passed[k->coll][k->form][k->why], 1);
	if (is_around(k))
		count_rings(k);
}

static const char *name_of(enum ami_coll coll, enum ami_form form, char text[32])
{
	snprintf(text, 32, "%s%s", ami_coll_names[coll], form_marks[form]);
	return text;
}

static void print_row(enum ami_coll coll, enum ami_form form, u32 line,
		      const struct ami_count *n)
{
	enum ami_way way = line < AMI_WAYS ? line : AMI_SOFTWARE;
	u32 algo = line < AMI_WAYS ? 0 : (line - AMI_WAYS + 1) << ANGARA_ALGO_SHIFT;
	char name[32];

	fprintf(stderr, "libangara-mpi: %-25s %-8s %10llu %12llu %11.1f%s%s\n",
		name_of(coll, form, name), ami_way_names[way],
		(unsigned long long)n->calls, (unsigned long long)n->bytes,
		(double)n->ns / 1e3 / (double)n->calls, algo ? "  " : "",
		ami_algo_name(algo));
}

static void print_reasons(enum ami_coll coll, enum ami_form form,
			  const u64 passed[AMI_WHYS])
{
	char name[32];
	u32 k;

	for (k = 1; k < AMI_WHYS; k++)
		if (passed[k])
			fprintf(stderr,
				"libangara-mpi: passed through: %s, %llu calls: %s\n",
				name_of(coll, form, name),
				(unsigned long long)passed[k], reasons[k]);
}

/* Prints allreduces around rings, with the settings that they have used. */
static void print_rings(const u64 rings[AMI_RINGS])
{
	static const char *const kinds[AMI_RINGS] = {
		[AMI_RING] = "ring", [AMI_RING_SQUARE] = "ring2d of two dimensions",
		[AMI_RING_SET] = "ring2d of ",
	};
	u32 i, d;

	for (i = 0; i < AMI_RINGS; i++) {
		if (!rings[i])
			continue;
		fprintf(stderr, "libangara-mpi: allreduce by %s", kinds[i]);
		for (d = 0; i == AMI_RING_SET && d < ami.set.ndims; d++)
			fprintf(stderr, "%s%u", d ? "x" : "", ami.set.dims[d]);
		fprintf(stderr, ": %llu calls, parts of %u bytes, ",
			(unsigned long long)rings[i], ami.set.part);
		if (ami.set.packet)
			fprintf(stderr, "packets of %u bytes\n", ami.set.packet);
		else
			fprintf(stderr, "whole messages\n");
	}
}

/** ami_stats_print() - print the sums over all processes, at rank 0 */
void ami_stats_print(void)
{
	static struct ami_count all[AMI_COLLS][AMI_FORMS][AMI_LINES];
	static u64 passed[AMI_COLLS][AMI_FORMS][AMI_WHYS];
	struct ami_count numbered;
	u64 rings[AMI_RINGS], messages;
	u32 i, f, k;

	PMPI_Reduce(ami.count, all, sizeof(all) / sizeof(u64), MPI_UINT64_T,
		    MPI_SUM, 0, ami.world);
	PMPI_Reduce(ami.passed, passed, sizeof(passed) / sizeof(u64),
		    MPI_UINT64_T, MPI_SUM, 0, ami.world);
	PMPI_Reduce(&ami.numbered, &numbered, sizeof(numbered) / sizeof(u64),
		    MPI_UINT64_T, MPI_SUM, 0, ami.world);
	PMPI_Reduce(ami.rings, rings, AMI_RINGS, MPI_UINT64_T, MPI_SUM, 0, ami.world);
	PMPI_Reduce(&ami.messages, &messages, 1, MPI_UINT64_T, MPI_SUM, 0, ami.world);
	if (ami.rank)
		return;
	fprintf(stderr, "libangara-mpi: %-25s %-8s %10s %12s %11s  algorithm\n",
		"collective", "way", "calls", "bytes", "us per call");
	for (i = 0; i < AMI_COLLS; i++)
		for (f = 0; f < AMI_FORMS; f++)
			for (k = 0; k < AMI_LINES; k++)
				if (all[i][f][k].calls)
					print_row(i, f, k, &all[i][f][k]);
	for (i = 0; i < AMI_COLLS; i++)
		for (f = 0; f < AMI_FORMS; f++)
			print_reasons(i, f, passed[i][f]);
	print_rings(rings);
	if (messages)
		fprintf(stderr, "libangara-mpi: messages sent by software: %llu\n",
			(unsigned long long)messages);
	if (numbered.calls)
		fprintf(stderr,
			"libangara-mpi: ranks renumbered by levels: %llu communicators, %.1f us each\n",
			(unsigned long long)numbered.calls,
			(double)numbered.ns / 1e3 / (double)numbered.calls);
}
