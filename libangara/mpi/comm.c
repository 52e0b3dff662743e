// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Data of a communicator, and its teams.
 *
 * A team is created in the first call that can use it and may wait for all
 * members: a blocking collective, or the creation of a persistent one.  A
 * non-blocking collective must not wait, so it passes through if there is no
 * team yet.  The teams of MPI_COMM_WORLD are created in MPI_Init().  The
 * exchanges are collectives of the MPI on the program's communicator.  They
 * match, since all members are in the same collective of this communicator.
 *
 * A team ends in MPI_Comm_free() and MPI_Comm_disconnect(), which all members
 * call.  The deletion of the attribute exchanges nothing: the MPI may delete it
 * later, at different times at the members.  A team that still exists when its
 * attribute is deleted is kept until MPI_Finalize().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ami.h"

#define TAG_EXCHANGE	1	/* tag of messages in the private copy of the world */

/*
 * Exchanges blocks of all members, on their communicator.  The caller has
 * locked the context.  The lock is released meanwhile: other members may wait
 * for operations that this process has to advance.
 */
static int comm_exchange(void *arg, const unsigned int *ranks, unsigned int n,
			 uint64_t tag, const void *mine, size_t len, void *all)
{
	const struct ami_comm *c = arg;
	char none;
	int ret;

	(void)tag;
	if (ranks && (int)n != c->size)
		return -ENOTSUP;
	ami_unlock(c->dev);
	ret = PMPI_Allgather(len ? mine : &none, (int)len, MPI_BYTE,
			     len ? all : &none, (int)len, MPI_BYTE, c->comm);
	ami_lock(c->dev);
	return ret ? -EPIPE : 0;
}

/**
 * ami_exchange_world() - exchange blocks among processes of MPI_COMM_WORLD
 *
 * An angara_exchange_fn, for all or some of the processes.
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

/*
 * As ami_vote(), during the creation of a team: the caller has locked the
 * context, which is unlocked during the vote.
 */
static bool team_vote(const struct ami_comm *c, bool mine)
{
	bool all;

	ami_unlock(c->dev);
	all = ami_vote(c->comm, mine);
	ami_lock(c->dev);
	return all;
}

static void team_free(struct ami_team *t)
{
	angara_mr_dereg(t->common);
	angara_free(t->mine);
	angara_job_finalize(t->job);
	free(t->sizes);
	*t = (struct ami_team){ .tried = true, .why = AMI_WHY_TEAM };
}

/* Counts the messages of a team that is about to end. */
static void team_count(const struct ami_team *t)
{
	struct angara_team_info info = { .size = sizeof(info) };

	if (t->team && !angara_team_query(t->team, &info))
		ang_fetch_add(&ami.messages, info.messages);
}

/*
 * Leaves a team. The other members also leave the team, or have no more
 * operations in it.
 */
static void team_leave(struct ami_team *t)
{
	struct ami_dev *dev = t->dev;

	ami_lock(dev);
	team_count(t);
	if (t->team)
		angara_team_leave(t->team);
	t->team = NULL;
	team_free(t);
	ami_unlock(dev);
}

/*
 * Allocates the memory of a team. Return: 0; -errno of the first step that
 * failed.
 */
static int team_memory(struct ami_comm *c, struct ami_team *t)
{
	int ret = angara_job_init_with((unsigned int)c->rank, (unsigned int)c->size,
				       comm_exchange, c, &t->job);

	if (!ret)
		ret = angara_malloc(ami.dom, 2 * AMI_PARTS * (size_t)ami.set.part,
				    &t->mine);
	if (!ret)
		t->stage = angara_mr_addr(t->mine);
	/* Sizes and offsets of the blocks to send and to receive. */
	t->sizes = calloc(4 * (size_t)c->size, sizeof(*t->sizes));
	return ret ? ret : t->sizes ? 0 : -ENOMEM;
}

/*
 * Creates a team. All members call, and all return the same. The context is
 * locked.
 */
static bool team_make_locked(struct ami_comm *c, struct ami_team *t, enum ami_way way)
{
	const struct angara_team_attr attr = {
		.size = sizeof(attr),
		.flags = way == AMI_OFFLOAD ? ANGARA_TEAM_TREE :
					      ANGARA_TEAM_SOFTWARE,
	};
	int ret;

	if (!team_vote(c, !team_memory(c, t)))
		return false;
	ret = angara_team_create(t->job, t->dev->ctx, NULL, 0, &attr, &t->team);
	if (!ret && way == AMI_OFFLOAD)
		ret = angara_team_mr_reg(t->team, t->stage,
					 AMI_PARTS * (size_t)ami.set.part,
					 ANGARA_ACCESS_REMOTE_WRITE, &t->common);
	if (team_vote(c, !ret))
		return true;
	t->why = ret == -ENOMEM ? AMI_WHY_TEAM :
		 way == AMI_OFFLOAD ? AMI_WHY_TREE : AMI_WHY_TEAM;
	return false;
}

static bool team_make(struct ami_comm *c, struct ami_team *t, enum ami_way way)
{
	bool made;

	t->dev = c->dev;
	ami_lock(t->dev);
	made = team_make_locked(c, t, way);
	ami_unlock(t->dev);
	return made;
}

/*
 * Sets the rings of allreduces.  If the user's dimensions do not fit the number
 * of members, the library chooses two.
 */
static void team_rings(const struct ami_comm *c, struct ami_team *t)
{
	const struct ami_settings *set = &ami.set;
	u32 ndims = (u32)c->size == set->product ? set->ndims : 0;

	ami_lock(t->dev);
	angara_team_rings(t->team, set->dims, ndims, set->packet);
	ami_unlock(t->dev);
}

/**
 * ami_team_get() - get the team of a communicator for one method
 * @c: communicator; all members call
 * @way: AMI_OFFLOAD or AMI_SOFTWARE
 * @may_make: the call may wait for the other members
 *
 * Return: the team; NULL at all members if there is none.
 */
struct ami_team *ami_team_get(struct ami_comm *c, enum ami_way way, bool may_make)
{
	struct ami_team *t = &c->teams[way];
	enum ami_why why;

	/* Also return a lost team: its collectives fail at all members. */
	if (t->tried)
		return t->job ? t : NULL;
	if (!may_make)
		return NULL;
	t->tried = true;
	if (team_make(c, t, way)) {
		if (way == AMI_SOFTWARE) {
			team_rings(c, t);
			ami_numbers_make(c, t);
		}
		return t;
	}
	why = t->why ? t->why : AMI_WHY_TEAM;
	team_leave(t);
	t->why = why;
	return NULL;
}

/*
 * Are all members processes of this MPI_COMM_WORLD?  Members of other worlds
 * may not have this library, or have other settings.  Compares groups without
 * an exchange; the result is the same at all members.
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

/**
 * ami_dev_open() - open a context. Return: the context; NULL: none is
 * available.
 */
struct ami_dev *ami_dev_open(void)
{
	struct ami_dev *dev = calloc(1, sizeof(*dev));

	if (!dev)
		return NULL;
	if (angara_ctx_open(ami.dom, NULL, &dev->ctx)) {
		free(dev);
		return NULL;
	}
	pthread_mutex_init(&dev->lock, NULL);
	pthread_mutex_lock(&ami.lock);
	dev->next = ami.devs;
	ami.devs = dev;
	pthread_mutex_unlock(&ami.lock);
	return dev;
}

/** ami_dev_close() - close a context that has no operations in progress */
void ami_dev_close(struct ami_dev *dev)
{
	struct ami_dev **at;

	pthread_mutex_lock(&ami.lock);
	for (at = &ami.devs; *at != dev; at = &(*at)->next)
		;
	*at = dev->next;
	pthread_mutex_unlock(&ami.lock);
	angara_ctx_close(dev->ctx);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
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
	pthread_mutex_lock(&ami.lock);
	c->next = ami.comms;
	ami.comms = c;
	pthread_mutex_unlock(&ami.lock);
	return c;
}

/*
 * Gives a communicator its context.  If a member gets no context, all members
 * record AMI_WHY_CONTEXT, so the next call does not try again.
 * Return: true if every member has memory for @c.
 */
static bool comm_open(MPI_Comm comm, struct ami_comm *c)
{
	int have[2] = { 0, 0 }, all[2];

	if (c && c->size > 1)
		c->dev = ami.threads ? ami_dev_open() : ami.dev;
	have[0] = c != NULL;
	have[1] = c && (c->dev || c->size == 1);
	if (PMPI_Allreduce(have, all, 2, MPI_INT, MPI_MIN, comm) || !all[0])
		return false;
	c->why = c->size == 1 ? AMI_WHY_ALONE :
		 all[1] ? AMI_WHY_NOT : AMI_WHY_CONTEXT;
	if (!all[1] && c->dev && c->dev != ami.dev)
		ami_dev_close(c->dev);
	if (!all[1])
		c->dev = NULL;
	return true;
}

/**
 * ami_comm_get() - get the data of an intracommunicator
 * @comm: communicator; all members call
 * @may_make: the call may wait for the other members
 *
 * Return: the data, with @why set if there are members of other worlds; NULL: no
 * memory, or no data yet.  If one member gets NULL or a set @why, all members do.
 */
struct ami_comm *ami_comm_get(MPI_Comm comm, bool may_make)
{
	struct ami_comm *c = NULL;
	void *value;
	int has = 0;
	int size;

	PMPI_Comm_get_attr(comm, ami.comm_key, &value, &has);
	if (has)
		return value;
	if (!may_make)
		return NULL;
	PMPI_Comm_size(comm, &size);
	c = comm_new(comm);
	if (!all_known(comm, size)) {
		if (c)
			c->why = AMI_WHY_FOREIGN;
		return c;
	}
	if (comm_open(comm, c))
		return c;
	if (c)
		PMPI_Comm_delete_attr(comm, ami.comm_key);
	return NULL;
}

/**
 * ami_comm_world() - create the teams of MPI_COMM_WORLD that settings need
 *
 * So even the first non-blocking collectives can use the teams.  Called in
 * MPI_Init() by all processes.
 */
void ami_comm_world(void)
{
	struct ami_comm *c = ami_comm_get(MPI_COMM_WORLD, true);
	bool wanted[AMI_NATIVE] = { 0 };
	u32 i;

	if (!c || c->why)
		return;
	for (i = 0; i < AMI_CHOSEN; i++)
		if (ami.set.way[i] < AMI_NATIVE)
			wanted[ami.set.way[i]] = true;
		else if (ami.set.way[i] == AMI_AUTO)
			ami_table_ways(i, (u32)c->size, wanted);
	for (i = 0; i < AMI_NATIVE; i++)
		if (wanted[i])
			ami_team_get(c, i, true);
}

static void comm_free(struct ami_comm *c)
{
	struct ami_comm **at;

	pthread_mutex_lock(&ami.lock);
	for (at = &ami.comms; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	pthread_mutex_unlock(&ami.lock);
	if (c->dev && c->dev != ami.dev)
		ami_dev_close(c->dev);
	free(c);
}

/* Called when the attribute of a communicator is deleted. */
int ami_comm_deleted(MPI_Comm comm, int key, void *value, void *extra)
{
	struct ami_comm *c = value;
	int i;

	(void)comm;
	(void)key;
	(void)extra;
	for (i = 0; i < AMI_NATIVE; i++)
		if (c->teams[i].job) {
			c->comm = MPI_COMM_NULL;
			return MPI_SUCCESS;
		}
	comm_free(c);
	return MPI_SUCCESS;
}

static void team_destroy(struct ami_team *t)
{
	struct ami_dev *dev = t->dev;

	ami_lock(dev);
	team_count(t);
	if (t->team)
		angara_team_destroy(t->team);
	t->team = NULL;
	team_free(t);
	ami_unlock(dev);
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

		if (!t->job)
			continue;
		/*
		 * Wait until this member has no operations in the team.
		 */
		ami_team_drain(t);
		/* Slower members may still wait for messages of this one. */
		PMPI_Barrier(comm);
		team_destroy(t);
	}
	ami_requests_forget(c);
}

/**
 * ami_comms_close() - end all teams, when all processes are in MPI_Finalize()
 */
void ami_comms_close(void)
{
	struct ami_comm *c, *next;
	int i;

	for (c = ami.comms; c; c = c->next)
		for (i = 0; i < AMI_NATIVE; i++)
			if (c->teams[i].job)
				ami_team_drain(&c->teams[i]);
	PMPI_Barrier(ami.world);
	for (c = ami.comms; c; c = next) {
		next = c->next;
		for (i = 0; i < AMI_NATIVE; i++)
			if (c->teams[i].job)
				team_leave(&c->teams[i]);
		if (c->comm == MPI_COMM_NULL)
			comm_free(c);
		else
			PMPI_Comm_delete_attr(c->comm, ami.comm_key);
	}
}
