// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives on a team, in parts that pass through its stage.  A step does all
 * work that is possible at the moment, and never waits, since several
 * operations may be in progress (work.c).  All functions here run under the
 * lock of the context.
 *
 * A reduction uses one part for contribution and result.  Two parts alternate:
 * one is copied while the adapters work on the other.
 *
 * Broadcasts on a tree fill the parts for broadcasts in turn; several short
 * ones share a part.  A slow member may still copy from a part when the source
 * already fills the next one.  So a part is reused only after a barrier, which
 * each member starts when it has copied all data of the part.
 *
 * If members have blocks, one part carries a piece of each block to send, the
 * other part a piece of each block to receive.  If some members do not know the
 * longest block, a reduction finds its length first, so that all members execute
 * the same number of rounds.
 */
#include <errno.h>
#include <string.h>

#include "ami.h"

#define LINE	64U	/* alignment of broadcast data, and of pieces */
#define UNIT	16U	/* bytes of the longest element of a reduction */

#define LOOKS_PER_CHECK	1024U

static size_t run_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char *stage_part(const struct ami_team *t, u32 part)
{
	return t->stage + (AMI_PARTS + part) * ami.set.part;
}

static u64 stage_off(const struct ami_team *t, const char *at)
{
	return (u64)(at - t->stage);
}

/* Options of an operation.  @k: call that chooses the algorithm, or NULL. */
static struct angara_op run_how(const struct ami_call *k, struct ami_req *req)
{
	return (struct angara_op){
		.size = sizeof(struct angara_op), .cookie = (uintptr_t)req,
		.flags = k ? k->algo : 0,
	};
}

/*
 * Starts an operation, if there is room.  @k: the program's call, or NULL if the
 * library needs the operation: the algorithm is then chosen automatically.
 * @call: call of libangara that passes &how.  Result: 1: started; 0: the queues
 * are full; -errno.
 */
#define RUN_POST(k, req, call)						\
({									\
	const struct angara_op how = run_how(k, req);			\
	int ret_ = (call);						\
									\
	(req)->live = !ret_;						\
	(req)->status = ANGARA_ST_OK;					\
	ret_ == -EAGAIN ? 0 : ret_ ? ret_ : 1;				\
})

/*
 * Has an operation ended? Return: 1: it has succeeded; 0: not yet; -errno of
 * its status.
 */
static int run_ended(const struct ami_req *req)
{
	if (req->live)
		return 0;
	return req->status ? angara_status_errno(req->status) : 1;
}

static int step_barrier(struct ami_work *w)
{
	struct ami_req *req = &w->reqs[0];
	int ret;

	if (!w->posted) {
		ret = RUN_POST(&w->k, req, angara_barrier_nbi(w->k.t->team, &how));
		if (ret <= 0)
			return ret;
		w->posted = 1;
	}
	return run_ended(req);
}

/*
 * Turns to the next part: the part in use is full, and this member has copied
 * all of it.
 * Return: 1: the next part is free; 0: not yet; -errno.
 */
static int bcast_turn(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	int ret;

	if (!t->turning) {
		struct ami_req *req = &t->freed[t->part];

		ret = RUN_POST(NULL, req, angara_barrier_nbi(t->team, &how));
		if (ret <= 0)
			return ret;
		t->part = (t->part + 1) % AMI_PARTS;
		t->turning = true;
	}
	ret = run_ended(&t->freed[t->part]);
	if (ret > 0) {
		t->turning = false;
		t->used = 0;
	}
	return ret;
}

static int bcast_send(struct ami_work *w, const char *buf, char *at, size_t len)
{
	struct ami_team *t = w->k.t;
	struct ami_req *req = &w->reqs[0];
	int ret;

	if (w->posted == w->done) {
		memcpy(at, buf, len);
		ret = RUN_POST(&w->k, req,
			       angara_bcast_nbi(t->team, angara_mr_key(t->common),
						stage_off(t, at), t->mine,
						stage_off(t, at), len, &how));
		if (ret <= 0)
			return ret;
		w->posted += len;
	}
	return run_ended(req);
}

/*
 * Receives a broadcast. From time to time it also checks whether the tree is
 * lost.
 */
static int bcast_receive(struct ami_work *w, char *buf, const char *at, size_t len)
{
	const struct ami_team *t = w->k.t;
	int ret;

	if (angara_team_received(t->team) <= t->arrived &&
	    ++w->looks % LOOKS_PER_CHECK)
		return 0;
	ret = angara_team_received_wait(t->team, t->arrived + 1, 0);
	if (ret == -ETIMEDOUT)
		return 0;
	if (!ret)
		memcpy(buf, at, len);
	return ret ? ret : 1;
}

static int step_bcast(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	bool source = w->k.c->rank == w->k.root;

	while (w->done < w->len) {
		size_t len = run_least(w->len - w->done, ami.set.part);
		char *buf = w->out.base + w->done, *at;
		int ret;

		if (t->turning || len > ami.set.part - t->used) {
			ret = bcast_turn(w);
			if (ret <= 0)
				return ret;
		}
		at = t->stage + t->part * ami.set.part + t->used;
		ret = source ? bcast_send(w, buf, at, len) :
			       bcast_receive(w, buf, at, len);
		if (ret <= 0)
			return ret;
		t->arrived++;
		t->used += (len + LINE - 1) / LINE * LINE;
		w->done += len;
	}
	return 1;
}

/** ami_run_receives() - is an operation waiting for a broadcast on a tree? */
bool ami_run_receives(const struct ami_work *w)
{
	return w->k.coll == AMI_BCAST && w->k.way == AMI_OFFLOAD &&
	       w->k.c->rank != w->k.root && !w->k.t->turning && !w->err;
}

static int step_bcast_software(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	struct ami_req *req = &w->reqs[0];
	bool source = w->k.c->rank == w->k.root;
	char *at = stage_part(t, 0);

	while (w->done < w->len) {
		size_t len = run_least(w->len - w->done, ami.set.part);
		char *buf = w->out.base + w->done;
		int ret;

		if (w->posted == w->done) {
			if (source)
				memcpy(at, buf, len);
			ret = RUN_POST(&w->k, req,
				       angara_broadcast_nbi(t->team, t->mine,
							    stage_off(t, at), len,
							    (u32)w->k.root,
							    &how));
			if (ret <= 0)
				return ret;
			w->posted += len;
		}
		ret = run_ended(req);
		if (ret <= 0)
			return ret;
		if (!source)
			memcpy(buf, at, len);
		w->done += len;
	}
	return 1;
}

/* Replaces elements by 0 or 1, the operands of logical operations. */
static void make_truths(char *at, size_t len, u32 size)
{
	size_t i;

	for (i = 0; i < len; i += size) {
		u64 v = 0;

		memcpy(&v, at + i, size);
		v = v != 0;
		memcpy(at + i, &v, size);
	}
}

static u32 turn_of(size_t done)
{
	return (u32)(done / ami.set.part % AMI_PARTS);
}

/* Starts the reduction of @count elements at @off of the stage. */
static int vector_post(struct ami_work *w, struct ami_req *req, u64 off,
		       size_t count)
{
	const struct ami_call *k = &w->k;
	struct angara_team *team = k->t->team;
	struct angara_mr *mine = k->t->mine;
	u32 type = k->rtype.type, op = k->rop.op;

	switch (k->coll) {
	case AMI_REDUCE:
		return RUN_POST(k, req, angara_reduce_nbi(team,
				k->c->rank == k->root ? mine : NULL, off, mine,
				off, count, type, op, (u32)k->root, &how));
	case AMI_ALLREDUCE:
		return RUN_POST(k, req, angara_allreduce_nbi(team, mine, off, mine,
				off, count, type, op, &how));
	case AMI_SCAN:
		return RUN_POST(k, req, angara_scan_nbi(team, mine, off, mine, off,
				count, type, op, &how));
	default:
		return RUN_POST(k, req, angara_exscan_nbi(team, mine, off, mine,
				off, count, type, op, &how));
	}
}

/* Return: 1: a part has been started; 0: there is no room; -errno. */
static int vector_begin(struct ami_work *w)
{
	size_t len = run_least(w->len - w->posted, ami.set.part);
	u32 turn = turn_of(w->posted), size = w->k.rtype.size;
	char *at = stage_part(w->k.t, turn);
	int ret;

	memcpy(at, w->in.base + w->posted, len);
	if (w->k.rop.logical)
		make_truths(at, len, size);
	ret = vector_post(w, &w->reqs[turn], stage_off(w->k.t, at), len / size);
	if (ret > 0)
		w->posted += len;
	return ret;
}

static int step_vector(struct ami_work *w)
{
	int ret;

	while (w->done < w->len) {
		size_t len = run_least(w->len - w->done, ami.set.part);
		u32 turn = turn_of(w->done);

		while (w->posted < w->len &&
		       w->posted - w->done < AMI_PARTS * ami.set.part) {
			ret = vector_begin(w);
			if (ret < 0)
				return ret;
			if (!ret)
				break;
		}
		if (w->posted == w->done)
			return 0;
		ret = run_ended(&w->reqs[turn]);
		if (ret <= 0)
			return ret;
		if (w->out.num)
			memcpy(w->out.base + w->done, stage_part(w->k.t, turn),
			       len);
		w->done += len;
	}
	return 1;
}

/* Finds the longest block of all members.  Return: 1; 0 not yet; -errno. */
static int blocks_agree(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	char *at = stage_part(t, 0);
	u64 len = w->len, off = stage_off(t, at);
	int ret;

	if (!w->posted) {
		memcpy(at, &len, sizeof(len));
		ret = RUN_POST(NULL, &w->reqs[0],
			       angara_allreduce_nbi(t->team, t->mine, off,
						    t->mine, off, 1,
						    ANGARA_TYPE_UINT64,
						    ANGARA_RED_MAX, &how));
		if (ret <= 0)
			return ret;
		w->posted = 1;
	}
	ret = run_ended(&w->reqs[0]);
	if (ret <= 0)
		return ret;
	memcpy(&len, at, sizeof(len));
	w->len = len;
	w->posted = 0;
	w->agreed = true;
	return 1;
}

/* Bytes of a block in the round that starts at @done. */
static size_t vector_piece(const struct ami_work *w, const struct ami_data *d, u32 i)
{
	size_t len = ami_block_len(d, i);

	return len > w->done ? run_least(len - w->done, w->chunk) : 0;
}

/*
 * Copies the pieces of all blocks to the stage, or from there; stores their
 * sizes, and after these their offsets, in @sizes.
 */
static void move_pieces(const struct ami_work *w, const struct ami_data *d,
			char *stage, bool out, size_t *sizes)
{
	size_t *displs = sizes + w->k.c->size, at = 0;
	u32 i;

	for (i = 0; i < d->num; i++) {
		size_t len = vector_piece(w, d, i);

		sizes[i] = len;
		displs[i] = at;
		if (len && out)
			memcpy(ami_block(d, i) + w->done, stage + at, len);
		if (len && !out)
			memcpy(stage + at, ami_block(d, i) + w->done, len);
		at += len;
	}
}

/*
 * Stores the sizes of the pieces to receive, as move_pieces() does for pieces
 * to send.
 */
static void size_pieces(const struct ami_work *w, const struct ami_data *d,
			size_t *sizes)
{
	size_t *displs = sizes + w->k.c->size, at = 0;
	u32 i;

	for (i = 0; i < d->num; i++) {
		sizes[i] = vector_piece(w, d, i);
		displs[i] = at;
		at += sizes[i];
	}
}

static int reduce_scatter_post(struct ami_work *w, u64 in, u64 out, size_t *ins,
			       size_t len)
{
	const struct ami_call *k = &w->k;
	struct angara_mr *mine = k->t->mine;
	u32 size = k->rtype.size, i;

	if (k->rop.logical)
		make_truths(k->t->stage + in, (size_t)k->c->size * w->chunk, size);
	if (k->coll == AMI_REDUCE_SCATTER_BLOCK)
		return RUN_POST(k, &w->reqs[0], angara_reduce_scatter_nbi(
				k->t->team, mine, out, mine, in, len / size,
				k->rtype.type, k->rop.op, &how));
	for (i = 0; i < (u32)k->c->size; i++)
		ins[i] /= size;
	return RUN_POST(k, &w->reqs[0], angara_reduce_scatterv_nbi(
			k->t->team, mine, out, mine, in, ins, k->rtype.type,
			k->rop.op, &how));
}

/* Starts a round.  @len: bytes of a piece, if all are equal. */
static int blocks_post(struct ami_work *w, size_t len)
{
	const struct ami_call *k = &w->k;
	struct ami_team *t = k->t;
	struct angara_team *team = t->team;
	struct angara_mr *mine = t->mine;
	struct ami_req *req = &w->reqs[0];
	bool here = k->c->rank == k->root;
	u64 in = stage_off(t, stage_part(t, 0)), out = in + ami.set.part;
	size_t n = (size_t)k->c->size, *ins = t->sizes, *outs = t->sizes + 2 * n;
	u32 root = (u32)k->root;

	switch (k->coll) {
	case AMI_GATHER:
		return RUN_POST(k, req, angara_gather_nbi(team, here ? mine : NULL,
				out, mine, in, len, root, &how));
	case AMI_GATHERV:
		return RUN_POST(k, req, angara_gatherv_nbi(team,
				here ? mine : NULL, out, here ? outs : NULL,
				here ? outs + n : NULL, mine, in, ins[0], root,
				&how));
	case AMI_SCATTER:
		return RUN_POST(k, req, angara_scatter_nbi(team, mine, out,
				here ? mine : NULL, in, len, root, &how));
	case AMI_SCATTERV:
		return RUN_POST(k, req, angara_scatterv_nbi(team, mine, out,
				here ? mine : NULL, in, here ? ins : NULL,
				here ? ins + n : NULL,
				w->out.num ? outs[0] : ins[k->c->rank], root,
				&how));
	case AMI_ALLGATHER:
		return RUN_POST(k, req, angara_allgather_nbi(team, mine, out, mine,
				in, len, &how));
	case AMI_ALLGATHERV:
		return RUN_POST(k, req, angara_allgatherv_nbi(team, mine, out, outs,
				outs + n, mine, in, &how));
	case AMI_ALLTOALL:
		return RUN_POST(k, req, angara_alltoall_nbi(team, mine, out, mine,
				in, len, &how));
	case AMI_ALLTOALLV:
		return RUN_POST(k, req, angara_alltoallv_nbi(team, mine, out, outs,
				outs + n, mine, in, ins, ins + n, &how));
	default:
		return reduce_scatter_post(w, in, out, ins, len);
	}
}

static int step_blocks(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	size_t *outs = t->sizes + 2 * (size_t)w->k.c->size;
	int ret = w->agreed ? 1 : blocks_agree(w);

	if (ret <= 0)
		return ret;
	w->chunk = ami.set.part / (size_t)w->k.c->size / UNIT * UNIT;
	while (w->done < w->len) {
		size_t len = run_least(w->len - w->done, w->chunk);

		if (w->posted == w->done) {
			move_pieces(w, &w->in, stage_part(t, 0), false, t->sizes);
			size_pieces(w, &w->out, outs);
			ret = blocks_post(w, len);
			if (ret <= 0)
				return ret;
			w->posted += len;
		}
		ret = run_ended(&w->reqs[0]);
		if (ret <= 0)
			return ret;
		move_pieces(w, &w->out, stage_part(t, 1), true, outs);
		w->done += len;
	}
	return 1;
}

static int step_of(struct ami_work *w)
{
	switch (w->k.coll) {
	case AMI_BARRIER:
		return step_barrier(w);
	case AMI_BCAST:
		return w->k.way == AMI_OFFLOAD ? step_bcast(w) :
						 step_bcast_software(w);
	case AMI_REDUCE:
	case AMI_ALLREDUCE:
	case AMI_SCAN:
	case AMI_EXSCAN:
		return step_vector(w);
	default:
		return step_blocks(w);
	}
}

/** ami_run_fail() - record that this member cannot complete an operation */
void ami_run_fail(struct ami_work *w, int err)
{
	w->err = err;
	w->breaks = true;
}

/**
 * ami_run_step() - advance an operation as far as possible
 * @w: the first operation of its team
 *
 * Return: true if the operation has ended; @w->err is its result.
 */
int ami_run_step(struct ami_work *w)
{
	struct ami_team *t = w->k.t;
	u32 i;
	int ret;

	if (!w->err && !t->team)
		w->err = -ENOTCONN;
	if (!w->err && t->dev->dead)
		ami_run_fail(w, t->dev->dead);
	if (!w->err) {
		ret = step_of(w);
		if (ret >= 0)
			return ret;
		ami_run_fail(w, ret);
	}
	/* Parts in progress still use the requests: wait for them. */
	for (i = 0; i < AMI_PARTS; i++)
		if (w->reqs[i].live)
			return 0;
	/*
	 * This member cannot take part, and the other members wait for it: leave
	 * the team, so that they detect the failure.  Earlier calls have ended.
	 */
	if (w->breaks && t->team) {
		angara_team_leave(t->team);
		t->team = NULL;
	}
	return 1;
}
