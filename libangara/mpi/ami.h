/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara-mpi: collectives of MPI programs over the adapter.
 *
 * The library is loaded before the MPI library.  It defines MPI functions, and
 * calls the MPI library by the profiling interface (PMPI_*).  Setup is part of
 * MPI_Init(), where all processes of MPI_COMM_WORLD are together; the end is
 * part of MPI_Finalize(), as the deletion of an attribute of MPI_COMM_SELF.
 *
 * Rule: all members of a communicator take the same way in the same call.  The
 * choice depends only on what MPI requires to be equal at all of them: the
 * communicator, the bytes of a message, reduction type and operation, root.
 * Settings are those of rank 0.  What only one member knows (the layout of a
 * derived datatype, addresses) decides how that member copies, nothing else.
 * So all messages pass through a stage, memory that is registered when the
 * communicator gets its team: a registration cannot fail at one member later.
 *
 * Threads: none of this has a lock.  With MPI_THREAD_MULTIPLE every collective
 * passes through to the MPI, and only the atomic counts of statistics change;
 * with less, the program calls MPI from one thread at a time.
 */
#ifndef AMI_H
#define AMI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <angara/angara.h>

#include "ang_env.h"
#include "say.h"

#define AMI_PART_BYTES	65536U	/* a long message goes in parts of this size */
#define AMI_PARTS	2U	/* that alternate */
#define AMI_WAIT_MS	1	/* sleep between two looks at the MPI's messages */

#define ami_say(...)	ang_say("libangara-mpi", __VA_ARGS__)

/** enum ami_coll - the functions that statistics tell apart */
enum ami_coll {
	AMI_BARRIER,
	AMI_BCAST,
	AMI_REDUCE,
	AMI_ALLREDUCE,
	AMI_OFFLOADED,		/* the ones above have a choice */
	AMI_OTHER = AMI_OFFLOADED,
	AMI_NONBLOCKING,
	AMI_COLLS,
};

/** enum ami_way - how a collective is carried out */
enum ami_way {
	AMI_OFFLOAD,		/* by the adapters, on a tree */
	AMI_SOFTWARE,		/* by libangara's messages */
	AMI_NATIVE,		/* by the MPI */
	AMI_WAYS,
	AMI_AUTO = AMI_WAYS,	/* a setting: offload or native, by size */
};

/** enum ami_why - why a collective passes through to the MPI */
enum ami_why {
	AMI_WHY_NOT,		/* it does not */
	AMI_WHY_OFF,
	AMI_WHY_SETTING,
	AMI_WHY_LONG,
	AMI_WHY_EMPTY,
	AMI_WHY_ALONE,
	AMI_WHY_INTER,
	AMI_WHY_FOREIGN,
	AMI_WHY_TYPE,
	AMI_WHY_OP,
	AMI_WHY_ARGS,
	AMI_WHY_TREE,
	AMI_WHY_TEAM,
	AMI_WHY_THREADS,
	AMI_WHY_FORM,
	AMI_WHYS,
};

/**
 * struct ami_req - an operation of libangara
 * @live: it has not ended
 * @status: ANGARA_ST_*, when it has
 */
struct ami_req {
	bool live;
	u32 status;
};

/**
 * struct ami_team - a team of the members of a communicator
 * @tried: it was to be made
 * @why: why there is none
 * @job: exchanges of its members
 * @team: libangara's
 * @mine: memory of the stage
 * @common: the same memory with a key that all members have; on a tree only
 * @stage: its address: AMI_PARTS for broadcasts, then AMI_PARTS for reductions
 * @part: part in use for broadcasts
 * @used: bytes of it that are used
 * @arrived: broadcasts on the tree so far
 * @freed: barrier after which a part may be used again
 * @reqs: parts of the collective in progress
 */
struct ami_team {
	bool tried;
	enum ami_why why;
	struct angara_job *job;
	struct angara_team *team;
	struct angara_mr *mine;
	struct angara_mr *common;
	char *stage;
	u32 part;
	size_t used;
	u64 arrived;
	struct ami_req freed[AMI_PARTS];
	struct ami_req reqs[AMI_PARTS];
};

/**
 * struct ami_comm - what is kept with a communicator, as an attribute
 * @next: in the list of all
 * @comm: communicator; MPI_COMM_NULL once it is freed
 * @rank: of this process
 * @size: members
 * @why: why every collective of it passes through, or AMI_WHY_NOT
 * @teams: by AMI_OFFLOAD and AMI_SOFTWARE
 */
struct ami_comm {
	struct ami_comm *next;
	MPI_Comm comm;
	int rank;
	int size;
	enum ami_why why;
	struct ami_team teams[AMI_NATIVE];
};

/**
 * struct ami_count - statistics of one way of one function
 * @calls: of it
 * @bytes: of this process's message
 * @ns: that they took
 */
struct ami_count {
	u64 calls;
	u64 bytes;
	u64 ns;
};

/**
 * struct ami_settings - what the user has set, at rank 0
 * @way: for each function
 * @stats: print statistics at the end
 * @longest: bytes up to which auto takes the adapter
 */
struct ami_settings {
	u32 way[AMI_OFFLOADED];
	u32 stats;
	u64 longest;
};

/**
 * struct ami - this process
 * @open: between setup and end
 * @off: why everything passes through, or AMI_WHY_NOT
 * @set: settings
 * @world: a private copy of MPI_COMM_WORLD
 * @group: its group
 * @rank: in it
 * @size: its members
 * @comm_key: of the attribute of communicators
 * @self_key: of the attribute of MPI_COMM_SELF
 * @comms: communicators with an attribute, and those freed with a team
 * @job: of all processes
 * @dom: domain
 * @ctx: context
 * @count: statistics
 * @passed: calls that passed through, by reason
 */
struct ami {
	bool open;
	enum ami_why off;
	struct ami_settings set;
	MPI_Comm world;
	MPI_Group group;
	int rank;
	int size;
	int comm_key;
	int self_key;
	struct ami_comm *comms;
	struct angara_job *job;
	struct angara_domain *dom;
	struct angara_ctx *ctx;
	struct ami_count count[AMI_COLLS][AMI_WAYS];
	u64 passed[AMI_COLLS][AMI_WHYS];
};

/**
 * struct ami_type - a reduction type of MPI as the adapter has it
 * @type: ANGARA_TYPE_*
 * @size: bytes of an element of the adapter
 * @num: elements of the adapter in one of MPI
 * @whole: integer
 * @pair: value and index
 * @complex: real and imaginary part
 */
struct ami_type {
	u32 type;
	u32 size;
	u32 num;
	bool whole;
	bool pair;
	bool complex;
};

/**
 * struct ami_op - a predefined operation
 * @op: ANGARA_RED_*
 * @logical: elements count as true or false
 */
struct ami_op {
	u32 op;
	bool logical;
};

extern struct ami ami;
extern const char *const ami_coll_names[AMI_COLLS];
extern const char *const ami_way_names[AMI_AUTO + 1];

/* setup.c */
void ami_open(void);

/* settings.c */
int ami_settings_read(struct ami_settings *set);

/* comm.c */
int ami_exchange_world(void *arg, const unsigned int *ranks, unsigned int n,
		       uint64_t tag, const void *mine, size_t len, void *all);
struct ami_comm *ami_comm_get(MPI_Comm comm);
struct ami_team *ami_team_get(struct ami_comm *c, enum ami_way way);
void ami_comm_end(MPI_Comm comm);
void ami_comms_close(void);
bool ami_vote(MPI_Comm comm, bool mine);
int ami_comm_deleted(MPI_Comm comm, int key, void *value, void *extra);

/* type.c */
bool ami_type_get(MPI_Datatype type, struct ami_type *out);
bool ami_op_get(MPI_Op op, const struct ami_type *type, struct ami_op *out);
bool ami_type_flat(MPI_Datatype type);

/* run.c */
int ami_run_barrier(struct ami_team *t);
int ami_run_bcast(const struct ami_comm *c, struct ami_team *t, enum ami_way way,
		  void *buf, size_t len, int root);
int ami_run_reduce(const struct ami_comm *c, struct ami_team *t, bool all,
		   const void *in, void *out, size_t count,
		   const struct ami_type *type, const struct ami_op *op, int root);
void ami_run_settle(struct ami_team *t);

/* stats.c */
u64 ami_now_ns(void);
void ami_count_call(enum ami_coll coll, enum ami_way way, enum ami_why why,
		    size_t bytes, u64 since);
void ami_stats_print(void);

#endif /* AMI_H */
