// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is kept with a communicator, and its teams.
 *
 * A team is made in the first collective that can use it: all members are in
 * that call.  The exchanges of its making go through the MPI, on the program's
 * communicator: the members are in a collective of it, so collectives of the
 * MPI match there.
 *
 * A team ends in MPI_Comm_free() and MPI_Comm_disconnect(), which all members
 * call.  The deletion of the attribute exchanges nothing: the MPI may delete it
 * later, at a time when the members are not together.  A team that still exists
 * then is kept until MPI_Finalize().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define TAG_EXCHANGE	1	/* of messages in the private copy of the world */

/* Exchange of all members, on their communicator. */
static int comm_exchange(void *arg, const unsigned int *ranks, unsigned int n,
			 uint64_t tag, const void *mine, size_t len, void *all)
{
	const struct ami_comm *c = arg;
	char none;

	(void)tag;
	if (ranks && (int)n != c->size)
		return -ENOTSUP;
	if (PMPI_Allgather(len ? mine : &none, (int)len, MPI_BYTE,
			   len ? all : &none, (int)len, MPI_BYTE, c->comm))
		return -EPIPE;
	return 0;
}

/**
 * ami_exchange_world() - exchange blocks among processes of MPI_COMM_WORLD
 *
 * An angara_exchange_fn, also for some of the processes.
 */
int ami_exchange_world(void *arg, const unsigned int *ranks, unsigned int n,
		       uint64_t tag, const void *mine, size_t len, void *all)
{
	unsigned int i;

	(void)arg;
	(void)tag;
	if (!ranks)
		return PMPI_Allgather(mine, (int)len, MPI_BYTE, all, (int)len,
				      MPI_BYTE, ami.world) ? -EPIPE : 0;
	for (i = 0; i < n; i++) {
		char *to = (char *)all + i * len;

		if ((int)ranks[i] == ami.rank)
			memcpy(to, mine, len);
		else if (PMPI_Sendrecv(mine, (int)len, MPI_BYTE, (int)ranks[i],
				       TAG_EXCHANGE, to, (int)len, MPI_BYTE,
				       (int)ranks[i], TAG_EXCHANGE, ami.world,
				       MPI_STATUS_IGNORE))
			return -EPIPE;
	}
	return 0;
}

/** ami_vote() - is @mine true at all members? */
bool ami_vote(MPI_Comm comm, bool mine)
{
	int in = mine, out = 0;

	return !PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, comm) && out;
}

static void team_free(struct ami_team *t)
{
	angara_mr_dereg(t->common);
	angara_free(t->mine);
	angara_job_finalize(t->job);
	*t = (struct ami_team){ .tried = true, .why = AMI_WHY_TEAM };
}

/* The other members leave, too, or have nothing more to do in the team. */
static void team_leave(struct ami_team *t)
{
	angara_team_leave(t->team);
	t->team = NULL;
	team_free(t);
}

/* Return: 0; -errno of the first step that fails. */
static int team_memory(struct ami_comm *c, struct ami_team *t)
{
	int ret = angara_job_init_with((unsigned int)c->rank, (unsigned int)c->size,
				       comm_exchange, c, &t->job);

	if (!ret)
		ret = angara_malloc(ami.dom, 2 * AMI_PARTS * AMI_PART_BYTES,
				    &t->mine);
	if (!ret)
		t->stage = angara_mr_addr(t->mine);
	return ret;
}

/* All members have called, and all return the same. */
static bool team_make(struct ami_comm *c, struct ami_team *t, enum ami_way way)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr),
		.flags = way == AMI_OFFLOAD ? ANGARA_TEAM_TREE :
					      ANGARA_TEAM_SOFTWARE,
	};
	int ret;

	if (!ami_vote(c->comm, !team_memory(c, t)))
		return false;
	ret = angara_team_create(t->job, ami.ctx, NULL, 0, &attr, &t->team);
	if (!ret && way == AMI_OFFLOAD)
		ret = angara_team_mr_reg(t->team, t->stage,
					 AMI_PARTS * AMI_PART_BYTES,
					 ANGARA_ACCESS_REMOTE_WRITE, &t->common);
	if (ami_vote(c->comm, !ret))
		return true;
	t->why = ret == -ENOMEM ? AMI_WHY_TEAM :
		 way == AMI_OFFLOAD ? AMI_WHY_TREE : AMI_WHY_TEAM;
	return false;
}

/**
 * ami_team_get() - get the team of a communicator for one way
 * @c: communicator; all members call
 * @way: AMI_OFFLOAD or AMI_SOFTWARE
 *
 * Return: the team; NULL at all members if it cannot be made.
 */
struct ami_team *ami_team_get(struct ami_comm *c, enum ami_way way)
{
	struct ami_team *t = &c->teams[way];
	enum ami_why why;

	if (t->tried)
		return t->team ? t : NULL;
	t->tried = true;
	if (team_make(c, t, way))
		return t;
	why = t->why ? t->why : AMI_WHY_TEAM;
	team_leave(t);
	t->why = why;
	return NULL;
}

/*
 * Return: are all members processes of this MPI_COMM_WORLD?  Members of other
 * worlds may not have this library, or have other settings; so this is decided
 * without an exchange, and is the same at all members.
 */
static bool all_known(MPI_Comm comm, int size)
{
	MPI_Group group, both;
	int known;

	PMPI_Comm_group(comm, &group);
	PMPI_Group_intersection(group, ami.group, &both);
	PMPI_Group_size(both, &known);
	PMPI_Group_free(&both);
	PMPI_Group_free(&group);
	return known == size;
}

static struct ami_comm *comm_new(MPI_Comm comm)
{
	struct ami_comm *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->comm = comm;
	PMPI_Comm_rank(comm, &c->rank);
	PMPI_Comm_size(comm, &c->size);
	if (PMPI_Comm_set_attr(comm, ami.comm_key, c)) {
		free(c);
		return NULL;
	}
	c->next = ami.comms;
	ami.comms = c;
	return c;
}

/**
 * ami_comm_get() - get what is kept with an intracommunicator
 * @comm: communicator; all members call
 *
 * Return: it; NULL no memory: at all members, or members are of other worlds.
 */
struct ami_comm *ami_comm_get(MPI_Comm comm)
{
	struct ami_comm *c = NULL;
	void *value;
	int has = 0;
	int size;

	PMPI_Comm_get_attr(comm, ami.comm_key, &value, &has);
	if (has)
		return value;
	PMPI_Comm_size(comm, &size);
	c = comm_new(comm);
	if (!all_known(comm, size)) {
		if (c)
			c->why = AMI_WHY_FOREIGN;
		return c;
	}
	if (ami_vote(comm, c)) {
		c->why = size == 1 ? AMI_WHY_ALONE : AMI_WHY_NOT;
		return c;
	}
	if (c)
		PMPI_Comm_delete_attr(comm, ami.comm_key);
	return NULL;
}

static void comm_free(struct ami_comm *c)
{
	struct ami_comm **at;

	for (at = &ami.comms; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	free(c);
}

/* The attribute's delete function. */
int ami_comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	struct ami_comm *c = value;
	int i;

	(void)comm;
	(void)key;
	(void)extra;
	for (i = 0; i < AMI_NATIVE; i++)
		if (c->teams[i].team) {
			c->comm = MPI_COMM_NULL;
			return MPI_SUCCESS;
		}
	comm_free(c);
	return MPI_SUCCESS;
}

/**
 * ami_comm_end() - end the teams of a communicator that is about to be freed
 * @comm: communicator; all members call
 */
void ami_comm_end(MPI_Comm comm)
{
	struct ami_comm *c;
	void *value;
	int has = 0;
	int i;

	if (!ami.open || comm == MPI_COMM_NULL)
		return;
	PMPI_Comm_get_attr(comm, ami.comm_key, &value, &has);
	if (!has)
		return;
	c = value;
	for (i = 0; i < AMI_NATIVE; i++) {
		struct ami_team *t = &c->teams[i];

		if (!t->team)
			continue;
		/* Nothing of the context may wait for this member afterwards. */
		ami_run_settle(t);
		/* Members that come late may wait for messages of this one. */
		PMPI_Barrier(comm);
		angara_team_destroy(t->team);
		t->team = NULL;
		team_free(t);
	}
}

/** ami_comms_close() - end all teams; all processes have come to the end */
void ami_comms_close(void)
{
	struct ami_comm *c, *next;
	int i;

	for (c = ami.comms; c; c = c->next)
		for (i = 0; i < AMI_NATIVE; i++)
			if (c->teams[i].team)
				ami_run_settle(&c->teams[i]);
	PMPI_Barrier(ami.world);
	for (c = ami.comms; c; c = next) {
		next = c->next;
		for (i = 0; i < AMI_NATIVE; i++)
			if (c->teams[i].team)
				team_leave(&c->teams[i]);
		if (c->comm == MPI_COMM_NULL)
			comm_free(c);
		else
			PMPI_Comm_delete_attr(c->comm, ami.comm_key);
	}
}
