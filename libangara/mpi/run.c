// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collectives on a team, in parts that pass through its stage.
 *
 * A reduction uses one part for contribution and result.  Two parts alternate:
 * one is copied while the adapters work on the other.
 *
 * Broadcasts on a tree fill the parts for broadcasts in turn; several short ones
 * share a part.  A slow member may still copy from a part when the source is
 * already at the next.  So a part is used again only after a barrier, which each
 * member starts when it has copied all data of the part.
 *
 * A process that waits here keeps the MPI going: another one may wait for a
 * message that this process has started to send.
 */
#include <errno.h>
#include <string.h>

#include "ami.h"

#define LINE	64U	/* alignment of broadcast data */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char *reduce_part(const struct ami_team *t, u32 part)
{
	return t->stage + (AMI_PARTS + part) * AMI_PART_BYTES;
}

static u64 stage_off(const struct ami_team *t, const char *at)
{
	return (u64)(at - t->stage);
}

/* Lets the MPI carry on with its messages. */
static void run_native(void)
{
	int any;

	PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ami.world, &any,
		    MPI_STATUS_IGNORE);
}

/* Takes completions.  Return: 0; -errno the device is gone. */
static int run_poll(int timeout_ms)
{
	struct angara_completion c[8];
	int n = timeout_ms ? angara_poll_wait(ami.ctx, c, 8, timeout_ms) :
			     angara_poll(ami.ctx, c, 8);
	int i;

	for (i = 0; i < n; i++) {
		struct ami_req *req = (void *)(uintptr_t)c[i].cookie;

		req->status = c[i].status;
		req->live = false;
	}
	if (n == -ETIMEDOUT)
		run_native();
	return n < 0 && n != -ETIMEDOUT ? n : 0;
}

static struct angara_op run_how(struct ami_req *req)
{
	return (struct angara_op){
		.size = sizeof(struct angara_op), .cookie = (uintptr_t)req,
	};
}

/* Return: 0; -errno of its status, or the device is gone. */
static int run_wait(struct ami_req *req)
{
	int ret = 0;

	while (req->live && !ret)
		ret = run_poll(AMI_WAIT_MS);
	if (!ret && req->status)
		ret = angara_status_errno(req->status);
	req->live = false;
	req->status = ANGARA_ST_OK;
	return ret;
}

/* Starts an operation, as soon as there is room.  @call: uses how. */
#define RUN_POST(req, call)						\
({									\
	const struct angara_op how = run_how(req);			\
	int ret_;							\
									\
	while ((ret_ = (call)) == -EAGAIN &&				\
	       !(ret_ = run_poll(AMI_WAIT_MS)))				\
		;							\
	(req)->live = !ret_;						\
	ret_;								\
})

/** ami_run_settle() - wait for all that a team has in progress */
void ami_run_settle(struct ami_team *t)
{
	u32 i;

	for (i = 0; i < AMI_PARTS; i++) {
		run_wait(&t->freed[i]);
		run_wait(&t->reqs[i]);
	}
}

int ami_run_barrier(struct ami_team *t)
{
	struct ami_req *req = &t->reqs[0];
	int ret = RUN_POST(req, angara_barrier_nbi(t->team, &how));

	return ret ? ret : run_wait(req);
}

/* Waits for the next broadcast.  Return: 0; -errno, also when the tree is lost. */
static int bcast_arrival(struct ami_team *t)
{
	int ret;

	while ((ret = angara_team_received_wait(t->team, t->arrived + 1,
						AMI_WAIT_MS)) == -ETIMEDOUT)
		run_native();
	return ret;
}

/* The part in use is full, and this member has copied all of it. */
static int bcast_next_part(struct ami_team *t)
{
	struct ami_req *req = &t->freed[t->part];
	int ret = RUN_POST(req, angara_barrier_nbi(t->team, &how));

	t->part = (t->part + 1) % AMI_PARTS;
	t->used = 0;
	return ret ? ret : run_wait(&t->freed[t->part]);
}

static int bcast_part(struct ami_team *t, bool source, char *buf, size_t len)
{
	struct ami_req *req = &t->reqs[0];
	char *at;
	int ret = 0;

	if (len > AMI_PART_BYTES - t->used)
		ret = bcast_next_part(t);
	if (ret)
		return ret;
	at = t->stage + t->part * AMI_PART_BYTES + t->used;
	if (source) {
		memcpy(at, buf, len);
		ret = RUN_POST(req, angara_bcast_nbi(t->team,
			       angara_mr_key(t->common), stage_off(t, at), t->mine,
			       stage_off(t, at), len, &how));
		if (!ret)
			ret = run_wait(req);
	} else {
		ret = bcast_arrival(t);
		if (!ret)
			memcpy(buf, at, len);
	}
	t->arrived++;
	t->used += (len + LINE - 1) / LINE * LINE;
	return ret;
}

static int bcast_software(struct ami_team *t, bool source, char *buf, size_t len,
			  u32 root)
{
	struct ami_req *req = &t->reqs[0];
	char *at = reduce_part(t, 0);
	int ret;

	if (source)
		memcpy(at, buf, len);
	ret = RUN_POST(req, angara_broadcast_nbi(t->team, t->mine,
						 stage_off(t, at), len, root,
						 &how));
	if (!ret)
		ret = run_wait(req);
	if (!ret && !source)
		memcpy(buf, at, len);
	return ret;
}

/**
 * ami_run_bcast() - broadcast
 * @c: communicator
 * @t: its team
 * @way: what the team is for
 * @buf: data of the root, room for it elsewhere
 * @len: bytes
 * @root: rank of the source
 *
 * Return: 0; -errno.
 */
int ami_run_bcast(const struct ami_comm *c, struct ami_team *t, enum ami_way way,
		  void *buf, size_t len, int root)
{
	bool source = c->rank == root;
	size_t done, part;
	int ret = 0;

	for (done = 0; done < len && !ret; done += part) {
		char *at = (char *)buf + done;

		part = least(len - done, AMI_PART_BYTES);
		ret = way == AMI_OFFLOAD ?
		      bcast_part(t, source, at, part) :
		      bcast_software(t, source, at, part, (u32)root);
	}
	return ret;
}

/* Elements as the logical operations see them. */
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

/**
 * struct reduction - a reduction in progress
 * @c: communicator
 * @t: its team
 * @type: of an element
 * @op: operation
 * @root: member that gets the result, -1: all
 * @in: contribution
 * @out: room for the result, where it is wanted
 * @len: bytes of each
 */
struct reduction {
	const struct ami_comm *c;
	struct ami_team *t;
	const struct ami_type *type;
	const struct ami_op *op;
	int root;
	const char *in;
	char *out;
	size_t len;
};

static u32 turn_of(size_t done)
{
	return (u32)(done / AMI_PART_BYTES % AMI_PARTS);
}

static bool wants_result(const struct reduction *r)
{
	return r->root < 0 || r->root == r->c->rank;
}

static int reduce_post(const struct reduction *r, size_t done)
{
	size_t len = least(r->len - done, AMI_PART_BYTES);
	u32 turn = turn_of(done);
	struct ami_team *t = r->t;
	char *at = reduce_part(t, turn);
	size_t count = len / r->type->size;
	struct angara_mr *dst = wants_result(r) ? t->mine : NULL;
	u64 off = stage_off(t, at);

	memcpy(at, r->in + done, len);
	if (r->op->logical)
		make_truths(at, len, r->type->size);
	if (r->root < 0)
		return RUN_POST(&t->reqs[turn],
				angara_allreduce_nbi(t->team, dst, off, t->mine,
						     off, count, r->type->type,
						     r->op->op, &how));
	return RUN_POST(&t->reqs[turn],
			angara_reduce_nbi(t->team, dst, off, t->mine, off, count,
					  r->type->type, r->op->op,
					  (u32)r->root, &how));
}

static int reduce_end(const struct reduction *r, size_t done)
{
	size_t len = least(r->len - done, AMI_PART_BYTES);
	u32 turn = turn_of(done);
	int ret = run_wait(&r->t->reqs[turn]);

	if (!ret && wants_result(r))
		memcpy(r->out + done, reduce_part(r->t, turn), len);
	return ret;
}

static int reduce_all(const struct reduction *r)
{
	size_t posted = 0, done = 0;
	int ret = 0;

	while (done < r->len && !ret) {
		if (posted < r->len &&
		    posted - done < AMI_PARTS * AMI_PART_BYTES) {
			ret = reduce_post(r, posted);
			posted += AMI_PART_BYTES;
		} else {
			ret = reduce_end(r, done);
			done += AMI_PART_BYTES;
		}
	}
	/* The next collective uses the requests again. */
	if (ret)
		ami_run_settle(r->t);
	return ret;
}

/**
 * ami_run_reduce() - reduce, or allreduce
 * @c: communicator
 * @t: its team
 * @all: the result is for all
 * @in: contribution, which may be @out
 * @out: room for the result, where it is wanted
 * @count: elements of MPI
 * @type: their type
 * @op: operation
 * @root: member that gets the result, unless @all
 *
 * Return: 0; -errno.
 */
int ami_run_reduce(const struct ami_comm *c, struct ami_team *t, bool all,
		   const void *in, void *out, size_t count,
		   const struct ami_type *type, const struct ami_op *op, int root)
{
	const struct reduction r = {
		.c = c, .t = t, .type = type, .op = op, .root = all ? -1 : root,
		.in = in, .out = out, .len = count * type->num * type->size,
	};

	return reduce_all(&r);
}
