/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Software collectives of teams: shared by the public calls (coll.c), their
 * execution (coll_run.c), and the messages between members (coll_hear.c,
 * coll_talk.c, coll_kept.c).  Each file knows those after it.
 */
#ifndef ANG_COLL_RUN_H
#define ANG_COLL_RUN_H

#include "algo/run.h"
#include "team.h"

/* Kinds of messages between members, stored in the lowest bits of imm. */
enum ang_talk {
	ANG_TALK_DATA,	/* bytes of a step */
	ANG_TALK_OFFER,	/* address of a long message: struct ang_offer */
	ANG_TALK_TAKEN,	/* the receiver has read the offered bytes */
	ANG_TALK_ABORT,	/* the team is lost: struct ang_abort */
	ANG_TALK_NUM
};

/** struct ang_offer - where the sender keeps a long message, for the receiver to read */
struct ang_offer {
	u64 key;
	u64 off;
	u64 len;
};

#define ANG_NOTIFY_MS	1000	/* longest time to notify members on leaving a team */

/** struct ang_abort - why a team is lost */
struct ang_abort {
	u32 culprit;
	u32 status;
};

/**
 * struct ang_said - decoded header of a message between members
 * @team: number of the team
 * @seq: number of the collective, modulo ANG_SEQ_NUM
 * @tag: tag of the step
 * @from: rank of the sender
 * @kind: ANG_TALK_*
 */
struct ang_said {
	u64 team;
	u32 seq;
	u32 tag;
	u32 from;
	u32 kind;
};

#define ANG_SEQ_NUM	(1U << 24)

/**
 * struct ang_side - a buffer of a collective; its address is in ang_run.at
 * @mr: region of the buffer; NULL: the library registers the buffer if messages
 *	need a region
 * @off: offset in @mr
 * @len: without @mr, bytes that the library may register; 0: it must not, so
 *	messages of the buffer must be short
 */
struct ang_side {
	const struct angara_mr *mr;
	u64 off;
	u64 len;
};

/**
 * struct ang_coll_op - a software collective in progress
 * @next: next collective of the team, started later; or next orphan
 * @team: team; NULL: the team is destroyed, but the adapter still executes
 *	parts of this collective
 * @args: collective
 * @run: steps of the collective
 * @side: buffers, indexed by enum ang_buf
 * @held: regions of the caller's buffers, if the caller gave none
 * @scratch: memory for ANG_BUF_TEMP, or NULL
 * @type: ANGARA_TYPE_*, of reductions
 * @redop: ANGARA_RED_*
 * @by: the caller's operation; used instead of @redop if its function is not
 *	NULL
 * @seq: number, the same at all members
 * @slot: slot of the completion, see completion.c; ANG_NO_SLOT: no completion
 * @sends: messages posted to the adapter
 * @gets: reads posted to the adapter
 */
struct ang_coll_op {
	struct ang_coll_op *next;
	struct angara_team *team;
	struct ang_coll_args args;
	struct ang_run run;
	struct ang_side side[ANG_BUF_NUM];
	struct ang_held held;
	struct ang_scratch *scratch;
	u32 type;
	u32 redop;
	struct angara_reducer by;
	u32 seq;
	u32 slot;
	u32 sends;
	u32 gets;
};

/**
 * struct ang_stray - a message that arrived before its collective started here
 * @next: next in order of arrival
 * @said: header of the message
 * @peer: sender
 * @len: bytes of data
 * @data: the data
 */
struct ang_stray {
	struct ang_stray *next;
	struct ang_said said;
	struct angara_peer peer;
	size_t len;
	char data[];
};

/**
 * struct ang_scratch - registered memory of the library
 * @next: next free structure
 * @mr: region
 */
struct ang_scratch {
	struct ang_scratch *next;
	struct angara_mr *mr;
};

#define ANG_NO_SLOT	0xFFFFFFFFU

/* Bytes that a kept message uses in addition to its data. */
#define ANG_KEPT_HEAD	64U
/*
 * The members of a team run an internal barrier before a collective if
 * ANG_AHEAD_COLLS collectives have started since the last barrier, or if early
 * messages of these collectives can make a member keep ANG_AHEAD_BYTES bytes.
 */
#define ANG_AHEAD_COLLS	64U
#define ANG_AHEAD_BYTES	(256U << 10)

/*
 * Bytes that a collective counts towards ANG_AHEAD_BYTES: the same at all
 * members.
 */
static inline u64 ang_coll_weight(const struct ang_coll_args *args)
{
	size_t longest;
	u64 n = ang_algo_arrivals(args, &longest), bytes;

	bytes = n * (ANG_KEPT_HEAD +
		     (longest < ANGARA_MAX_MSG ? longest : ANGARA_MAX_MSG));
	return bytes > ANG_AHEAD_BYTES / ANG_AHEAD_COLLS ?
	       bytes : ANG_AHEAD_BYTES / ANG_AHEAD_COLLS;
}

/*
 * Limit on the bytes of early messages of a team at one member, if all members
 * follow these rules.  The messages belong to two groups of collectives: those
 * since the last internal barrier, and those before this barrier that the member
 * has not finished.  The last collective of either group may exceed
 * ANG_AHEAD_BYTES.  From one collective, a member receives at most size + 64
 * messages with any algorithm that ang_algo_choose() takes.  A ring with packets,
 * which a program may name, sends each part in up to ANG_ALGO_PACKETS packets
 * and a message.
 */
static inline u64 ang_early_max(const struct angara_team *team)
{
	u64 parts = team->packet ? 1 + ANG_ALGO_PACKETS : 1;
	u64 any = (team->size * parts + 64) * (ANG_KEPT_HEAD + ANGARA_MAX_MSG);

	return 2 * (ANG_AHEAD_BYTES + any);
}

/* Memory for messages to teams that do not exist yet, per queue of senders. */
#define ANG_STRAY_BYTES	(64U << 10)

/* Is @peer the address of the member with rank @rank? */
static inline bool ang_is_member(const struct angara_team *team, u32 rank,
				 struct angara_peer peer)
{
	return rank < team->size && rank != team->rank &&
	       team->peers[rank].node == peer.node &&
	       team->peers[rank].ctx == peer.ctx;
}

/* coll_run.c */
int ang_coll_new(struct angara_team *team, const struct ang_coll_args *args,
		 struct ang_coll_op **op);
int ang_coll_wait(struct ang_coll_op *op);
int ang_coll_start(struct ang_coll_op *op, const struct angara_op *how,
		   struct ang_blocked *b);
void ang_coll_drop(struct ang_coll_op *op);
void ang_coll_progress(struct angara_ctx *ctx);

/* coll.c */

/**
 * struct ang_coll_mem - memory of the caller
 * @mr: region; NULL: it is not registered
 * @off: offset in it, or address
 * @len: bytes; 0: not used
 */
struct ang_coll_mem {
	const struct angara_mr *mr;
	u64 off;
	u64 len;
};

/**
 * struct ang_coll_call - arguments of a collective
 * @args: algorithmic part
 * @in: contribution
 * @out: result
 * @type: ANGARA_TYPE_*, of reductions
 * @redop: ANGARA_RED_*
 * @by: NULL, or the caller's operation, instead of @type and @redop
 * @how: options and completion
 * @b: NULL, or the blocking call that waits for the collective
 */
struct ang_coll_call {
	struct ang_coll_args args;
	struct ang_coll_mem in;
	struct ang_coll_mem out;
	u32 type;
	u32 redop;
	const struct angara_reducer *by;
	const struct angara_op *how;
	struct ang_blocked *b;
};

int ang_coll_software(struct angara_team *team, const struct ang_coll_call *call);

/*
 * Body of a blocking function.  @started: call that starts the collective; its
 * last argument is the address of @b, which this macro defines.
 */
#define ANG_COLL_WAIT(team, started)					\
do {									\
	struct ang_blocked b = { 0 };					\
	int ret = (started);						\
									\
	return ret ? ret : ang_blocked_wait((team)->ctx, &b);		\
} while (0)

/* coll_hear.c */
void ang_coll_hear(struct angara_ctx *ctx, const struct angara_message *msg);
bool ang_coll_early(struct angara_team *team);

/* coll_talk.c */
struct ang_said ang_said_unpack(const struct angara_head *head);
int ang_talk_step(void *arg, u32 step);
int ang_talk_get(struct ang_coll_op *op, u32 step, const struct ang_offer *offer);
void ang_talk_spread(struct angara_team *team);

/*
 * Has a member notified all members that it has to notify of a loss?  @spread:
 * members notified so far.
 */
static inline bool ang_all_notified(u32 spread, u32 size)
{
	return 1ULL << spread / 2 >= size;
}

void ang_talk_look(struct angara_team *team);
void ang_talk_landed(struct ang_coll_op *op, u32 step, bool get, u32 status);
void ang_talk_open(struct angara_team *team);
void ang_talk_refuse(const struct angara_team *parent,
		     const struct ang_picks *picks, u64 id, u32 self);
void ang_talk_close(struct angara_team *team);
void ang_talk_end(struct angara_ctx *ctx);

/* coll_kept.c */
void ang_coll_fail(struct angara_team *team, u32 culprit, u32 status);
void ang_kept_early(struct angara_team *team, const struct ang_said *said,
		    const struct angara_message *msg);
void ang_kept_stray(struct ang_colls *c, const struct ang_said *said,
		    const struct angara_message *msg);
struct ang_stray *ang_kept_take(struct ang_kept *k, struct ang_stray **at);
bool ang_kept_open(struct angara_team *team);
void ang_kept_free(struct ang_kept *k);
void ang_kept_end(struct ang_colls *c);

/* scratch.c */
void ang_scratch_end(struct angara_ctx *ctx);
int ang_scratch_get(struct angara_ctx *ctx, size_t len, struct ang_scratch **out);
void ang_scratch_put(struct angara_ctx *ctx, struct ang_scratch *s);

#endif /* ANG_COLL_RUN_H */
