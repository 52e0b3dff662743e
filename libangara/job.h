/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The exchange between the processes of a job, and its protocol; angara-run is
 * the server.
 *
 * A process has at most one exchange in progress.  The process sends a request:
 * header, @nranks ranks in ascending order, @len bytes.  When all processes of
 * the group have sent a request with the same tag, each gets a reply: header,
 * then the blocks of the group in the order of ranks.  The connection is a
 * local stream socket; numbers are in the machine's byte order.
 *
 * An exchange has ANGARA_JOB_TIMEOUT seconds from its first request.  A process
 * that has not sent its request by then is called late: this exchange, and
 * every later exchange of a group that contains the late process, ends with
 * -ETIMEDOUT.
 */
#ifndef ANG_JOB_H
#define ANG_JOB_H

#include "ang_env.h"
#include "say.h"

#include <angara/angara.h>

#define ANG_JOB_MAGIC		0x314A4E41U	/* "ANJ1" */
#define ANG_JOB_MAX_BLOCK	65536U
#define ANG_JOB_MAX_SIZE	65536U
#define ANG_JOB_TIMEOUT_S	600U	/* default of ANGARA_JOB_TIMEOUT */
#define ANG_JOB_MAX_TIMEOUT_S	1000000U

#define ANG_ENV_RANK	"ANGARA_RANK"
#define ANG_ENV_SIZE	"ANGARA_SIZE"
#define ANG_ENV_FD	"ANGARA_JOB_FD"
#define ANG_ENV_DEVICE	"ANGARA_DEVICE"
#define ANG_ENV_TTY	"ANGARA_TTY"

/**
 * struct ang_job_request - one process's part of an exchange
 * @magic: ANG_JOB_MAGIC
 * @nranks: processes in the group; 0: the whole job
 * @len: bytes of the block, at most ANG_JOB_MAX_BLOCK
 * @reserved: 0
 * @tag: distinguishes exchanges of one group
 */
struct ang_job_request {
	u32 magic;
	u32 nranks;
	u32 len;
	u32 reserved;
	u64 tag;
};

/**
 * struct ang_job_reply - result of an exchange
 * @magic: ANG_JOB_MAGIC
 * @status: 0; -EPIPE a process of the group ended; -EMSGSIZE the lengths
 *	differ; -ETIMEDOUT a process of the group is late; -ENOMEM
 * @len: bytes that follow, 0 unless @status is 0
 */
struct ang_job_reply {
	u32 magic;
	s32 status;
	u64 len;
};

/**
 * struct ang_team_card - data that processes exchange to create a team
 * @fabric_id: fabric of the context of the process
 * @id: number of the team that this process proposes; the first member's number
 *	is used
 * @list: hash of the list of members
 * @n: members in the list
 * @root: as in struct angara_team_attr
 * @tree: as in struct angara_team_attr
 * @pkey: partition of the context
 * @node: node of the context
 * @ctx: number of the context
 * @err: error that keeps this member from taking part, or 0
 * @flags: as in struct angara_team_attr
 * @stripes: as in struct angara_team_attr, not 0
 */
struct ang_team_card {
	u64 fabric_id;
	u64 id;
	u64 list;
	u32 n;
	u32 root;
	u32 tree;
	u32 pkey;
	u32 node;
	u32 ctx;
	s32 err;
	u32 flags;
	u32 stripes;
};

struct angara_job;
struct ang_pmix;
struct ang_pmi;

/**
 * struct ang_job_ops - support for one kind of launcher
 * @open: fill in the job if this launcher started the process; -ENOENT if not;
 *	NULL: the program creates the job itself
 * @exchange: as ang_job_exchange(), for groups of any size
 * @close: undo @open
 */
struct ang_job_ops {
	int (*open)(struct angara_job *job);
	int (*exchange)(struct angara_job *job, const u32 *ranks, u32 nranks,
			u64 tag, const void *mine, size_t len, void *all);
	void (*close)(struct angara_job *job);
};

/**
 * struct angara_job - a job
 * @ops: launcher
 * @fd: connection to angara-run, else -1
 * @pmix: state of PMIx, else NULL
 * @pmi: state of PMI, else NULL
 * @given: the program's exchange function, else NULL
 * @arg: argument of @given
 * @rank: rank of this process
 * @size: processes
 * @key: result of ang_job_key() in a job that the program created; 0 before the
 *	first call
 * @cards: room for a card of each process.  Allocated with the job: creating a
 *	team must not fail between two exchanges
 * @order: room for the ranks of a team's members, also allocated with the job
 */
struct angara_job {
	const struct ang_job_ops *ops;
	int fd;
	struct ang_pmix *pmix;
	struct ang_pmi *pmi;
	angara_exchange_fn given;
	void *arg;
	u32 rank;
	u32 size;
	u64 key;
	struct ang_team_card *cards;
	u32 *order;
};

/**
 * struct ang_job_place - place of this process among the processes of its job
 * on this machine
 * @name: identifies the job; "" in a job of one process
 * @rank: rank of this process among those on this machine
 * @size: number of processes on this machine
 */
struct ang_job_place {
	char name[256];
	u32 rank;
	u32 size;
};

extern const struct ang_job_ops ang_job_run;
extern const struct ang_job_ops ang_job_pmix;
extern const struct ang_job_ops ang_job_pmi;

/*
 * Prints details that an error number does not contain, such as which process
 * is missing.
 */
#define ang_job_say(...)	ang_say("libangara", __VA_ARGS__)

int ang_env_number(const char *name, u32 max, u32 *val);
int ang_job_timeout(u32 *seconds);

int ang_job_exchange(struct angara_job *job, const u32 *ranks, u32 nranks,
		     u64 tag, const void *mine, size_t len, void *all);
int ang_job_bcast(struct angara_job *job, void *data, size_t len);
int ang_job_key(struct angara_job *job, u64 *key);
const struct ang_job_place *ang_job_place(void);
void ang_job_set_place(const struct ang_job_place *place);
u64 ang_ranks_hash(const u32 *ranks, u32 n);

#endif /* ANG_JOB_H */
