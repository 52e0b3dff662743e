// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Setup in MPI_Init(), and cleanup in MPI_Finalize(). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ami.h"

struct ami ami = { .lock = PTHREAD_MUTEX_INITIALIZER };

/*
 * Reads the settings at rank 0, which apply to all processes.  If a setting is
 * invalid, all processes end with status 2.
 */
static void setup_settings(void)
{
	int bad = 0;

	if (!ami.rank)
		bad = ami_settings_read(&ami.set) ||
		      ami_levels_read(&ami.levels, (u32)ami.size);
	PMPI_Bcast(&bad, 1, MPI_INT, 0, ami.world);
	if (bad) {
		PMPI_Finalize();
		exit(2);
	}
	PMPI_Bcast(&ami.set, sizeof(ami.set), MPI_BYTE, 0, ami.world);
}

/*
 * Tells libangara which processes share this machine.  They share one embedded
 * fabric, for which the first of these processes draws a random name.
 */
static int setup_place(void)
{
	char name[32] = "";
	int rank, size, ret;
	MPI_Comm machine;
	u64 draw;

	PMPI_Comm_split_type(ami.world, MPI_COMM_TYPE_SHARED, ami.rank,
			     MPI_INFO_NULL, &machine);
	PMPI_Comm_rank(machine, &rank);
	PMPI_Comm_size(machine, &size);
	if (!rank && getrandom(&draw, sizeof(draw), 0) == sizeof(draw))
		snprintf(name, sizeof(name), "mpi-%016llx",
			 (unsigned long long)draw);
	PMPI_Bcast(name, sizeof(name), MPI_CHAR, 0, machine);
	PMPI_Comm_free(&machine);
	ret = name[0] ? 0 : -EIO;
	return ret ? ret : angara_job_place(name, (unsigned int)rank,
					    (unsigned int)size);
}

/* All processes vote after each step, so no process waits for a failed one. */
static int setup_adapter(void)
{
	struct angara_domain_attr attr = { .size = sizeof(attr) };
	int ret = setup_place();

	if (!ami_vote(ami.world, !ret))
		return ret ? ret : -ECANCELED;
	ret = angara_job_init_with((unsigned int)ami.rank, (unsigned int)ami.size,
				   ami_exchange_world, NULL, &ami.job);
	if (!ami_vote(ami.world, !ret))
		return ret ? ret : -ECANCELED;
	attr.job = ami.job;
	ret = angara_domain_open(NULL, &attr, &ami.dom);
	if (ret)
		return ret;
	ami.dev = ami_dev_open();
	return ami.dev ? 0 : -EBUSY;
}

static void close_adapter(void)
{
	if (ami.dev)
		ami_dev_close(ami.dev);
	angara_domain_close(ami.dom);
	angara_job_finalize(ami.job);
	ami.dev = NULL;
	ami.dom = NULL;
	ami.job = NULL;
}

static const char *setup_reason(int err)
{
	switch (err) {
	case -ENODEV:
		return "there is no adapter";
	case -EACCES:
		return "no permission to open the adapter";
	case -EBUSY:
		return "all contexts of the adapter are in use";
	case -EINVAL:
		return "ANGARA_FABRIC or ANGARA_DEVICE is invalid";
	default:
		return strerror(-err);
	}
}

/*
 * Opens the adapters.  Return: true if every process has opened its adapter.
 * If not, the first process that failed prints the reason.
 */
static bool setup_fabric(void)
{
	int err, failed, lowest;

	if (!ami_vote(ami.world, angara_fabric_present())) {
		if (!ami.rank)
			ami_say("no adapter, and ANGARA_FABRIC is not set: all collectives pass through to the MPI");
		return false;
	}
	err = setup_adapter();
	failed = err && err != -ECANCELED ? ami.rank : ami.size;
	PMPI_Allreduce(&failed, &lowest, 1, MPI_INT, MPI_MIN, ami.world);
	if (lowest == ami.rank)
		ami_say("rank %d: %s: all collectives pass through to the MPI",
			ami.rank, setup_reason(err));
	if (lowest == ami.size)
		return true;
	close_adapter();
	return false;
}

/* The delete function of the attribute of MPI_COMM_SELF: MPI_Finalize() has begun. */
static int setup_end(MPI_Comm comm, int key, void *value, void *extra)
{
	(void)comm;
	(void)key;
	(void)value;
	(void)extra;
	ami.open = false;
	ami_comms_close();
	ami_helper_end();
	if (ami.set.stats)
		ami_stats_print();
	close_adapter();
	ami_levels_free();
	PMPI_Comm_free_keyval(&ami.comm_key);
	PMPI_Group_free(&ami.group);
	PMPI_Comm_free(&ami.self);
	PMPI_Comm_free(&ami.world);
	return MPI_SUCCESS;
}

static bool many_threads(void)
{
	int level;

	PMPI_Query_thread(&level);
	/*
	 * All processes decide the same, so they have equal numbers of
	 * contexts.
	 */
	return !ami_vote(ami.world, level != MPI_THREAD_MULTIPLE);
}

/** ami_open() - set up, in MPI_Init() of all processes */
void ami_open(void)
{
	PMPI_Comm_dup(MPI_COMM_WORLD, &ami.world);
	PMPI_Comm_dup(MPI_COMM_SELF, &ami.self);
	PMPI_Comm_set_errhandler(ami.self, MPI_ERRORS_RETURN);
	PMPI_Comm_rank(ami.world, &ami.rank);
	PMPI_Comm_size(ami.world, &ami.size);
	PMPI_Comm_group(ami.world, &ami.group);
	setup_settings();
	ami.threads = many_threads();
	if (!setup_fabric())
		ami.off = AMI_WHY_OFF;
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ami_comm_deleted,
				&ami.comm_key, NULL);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, setup_end, &ami.self_key,
				NULL);
	PMPI_Comm_set_attr(MPI_COMM_SELF, ami.self_key, NULL);
	if (!ami.off) {
		ami_levels_share();
		ami_comm_world();
	}
	ami.open = true;
}
