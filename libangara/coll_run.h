/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Software collectives of teams: what executing them (coll_run.c), talking to
 * other members (coll_talk.c) and the calls (coll.c) share.
 */
#ifndef ANG_COLL_RUN_H
#define ANG_COLL_RUN_H

#include "algo/algo.h"
#include "team.h"

/* What a message between members is; in the lowest bits of its imm. */
enum ang_talk {
	ANG_TALK_DATA,	/* bytes of a step */
	ANG_TALK_OFFER,	/* where they can be read: struct ang_offer */
	ANG_TALK_TAKEN,	/* they have been read */
	ANG_TALK_ABORT,	/* the team is lost: struct ang_abort */
	ANG_TALK_NUM
};

/** struct ang_offer - memory of the sender */
struct ang_offer {
	u64 key;
	u64 off;
	u64 len;
};

/** struct ang_abort - why a team is lost */
struct ang_abort {
	u32 culprit;
	u32 status;
};

/**
 * struct ang_said - what a message says beside its data
 * @team: number of the team
 * @seq: of the collective, modulo ANG_SEQ_NUM
 * @tag: of the step
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

/* State of a step. */
#define ANG_STEP_IDLE	0	/* not begun */
#define ANG_STEP_BEGUN	1	/* waits for a message, or for its own to be sent */
#define ANG_STEP_GETS	2	/* a long message is read */
#define ANG_STEP_OWES	3	/* it is here: the sender is to be told */
#define ANG_STEP_ENDED	4

/**
 * struct ang_side - a buffer of a collective
 * @at: its memory
 * @mr: region that this is in; NULL: only short messages come from here
 * @off: offset in that
 */
struct ang_side {
	char *at;
	const struct angara_mr *mr;
	u64 off;
};

/**
 * struct ang_coll_op - a software collective under way
 * @next: the next of the team, younger; or of the orphans
 * @team: team; NULL: that is gone, and only the adapter still has parts of it
 * @args: collective
 * @sched: what is to be done
 * @side: buffers, by enum ang_buf
 * @scratch: memory for ANG_BUF_TEMP, or NULL
 * @type: ANGARA_TYPE_*, of reductions
 * @redop: ANGARA_RED_*
 * @seq: number, the same at all members
 * @slot: of the completion, see completion.c; ANG_NO_SLOT: nobody is told
 * @begun: steps begun, from the first on
 * @prefix: steps ended, from the first on
 * @sends: messages that the adapter has
 * @gets: reads that it has
 * @owes: steps in state OWES
 * @state: of each step, ANG_STEP_*
 */
struct ang_coll_op {
	struct ang_coll_op *next;
	struct angara_team *team;
	struct ang_coll_args args;
	struct ang_schedule sched;
	struct ang_side side[3];
	struct ang_scratch *scratch;
	u32 type;
	u32 redop;
	u32 seq;
	u32 slot;
	u32 begun;
	u32 prefix;
	u32 sends;
	u32 gets;
	u32 owes;
	u8 *state;
};

/**
 * struct ang_stray - a message that came before it was asked for
 * @next: the next that came
 * @said: what it says
 * @peer: sender
 * @len: bytes of data
 * @data: they
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
 * @next: the next that is free
 * @mr: region
 */
struct ang_scratch {
	struct ang_scratch *next;
	struct angara_mr *mr;
};

#define ANG_NO_SLOT	0xFFFFFFFFU

/* coll_run.c */
int ang_coll_new(struct angara_team *team, const struct ang_coll_args *args,
		 struct ang_coll_op **op);
int ang_coll_wait(struct ang_coll_op *op);
int ang_coll_start(struct ang_coll_op *op, const struct angara_op *how,
		   struct ang_blocked *b);
void ang_coll_drop(struct ang_coll_op *op);
bool ang_coll_take(struct angara_team *team, const struct ang_said *said,
		   const void *data, size_t len);
void ang_coll_fail(struct angara_team *team, u32 culprit, u32 status);

/* coll.c */

/**
 * struct ang_coll_mem - memory of the caller's
 * @mr: region, or NULL
 * @off: offset in it
 * @len: bytes; 0: none is needed
 */
struct ang_coll_mem {
	const struct angara_mr *mr;
	u64 off;
	u64 len;
};

/**
 * struct ang_coll_call - a collective as it is called
 * @args: what it is
 * @in: contribution
 * @out: result
 * @type: ANGARA_TYPE_*, of reductions
 * @redop: ANGARA_RED_*
 * @how: what the caller wants of it
 * @b: NULL, or what waits for it
 */
struct ang_coll_call {
	struct ang_coll_args args;
	struct ang_coll_mem in;
	struct ang_coll_mem out;
	u32 type;
	u32 redop;
	const struct angara_op *how;
	struct ang_blocked *b;
};

int ang_coll_software(struct angara_team *team, const struct ang_coll_call *call);

/* The form of a call that waits, from the one that starts it with @b. */
#define ANG_COLL_WAIT(team, started)					\
do {									\
	struct ang_blocked b = { 0 };					\
	int ret = (started);						\
									\
	return ret ? ret : ang_blocked_wait((team)->ctx, &b);		\
} while (0)

/* coll_talk.c */
int ang_talk_data(struct ang_coll_op *op, u32 step);
int ang_talk_taken(struct ang_coll_op *op, u32 step);
int ang_talk_get(struct ang_coll_op *op, u32 step, const struct ang_offer *offer);
bool ang_talk_early(struct angara_team *team);
void ang_talk_spread(struct angara_team *team);
void ang_talk_look(struct angara_team *team);
void ang_talk_landed(struct ang_coll_op *op, u32 step, bool get, u32 status);

int ang_talk_open(struct angara_team *team);
void ang_talk_close(struct angara_team *team);
void ang_talk_end(struct angara_ctx *ctx);

/* scratch.c */
void ang_scratch_end(struct angara_ctx *ctx);
struct ang_scratch *ang_scratch_get(struct angara_ctx *ctx, size_t len);
void ang_scratch_put(struct angara_ctx *ctx, struct ang_scratch *s);

#endif /* ANG_COLL_RUN_H */
