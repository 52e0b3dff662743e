// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Execution of reads, writes and atomic operations in pieces: translates the
 * keys of the peer, and starts the pieces.
 *
 * If a key has to be looked up in the peer's directory, the call only starts
 * the read of the entries, and returns: the operation is then in progress.
 * Each operation reads the entries of its own keys, so an entry is not older
 * than the call.
 *
 * An operation of one piece first tries an entry that an earlier operation has
 * read.  If the region no longer exists, the target's adapter refuses the key
 * and changes nothing; the operation then reads the entries, as above.
 *
 * A domain stores the pieces of all these operations, of at most
 * AFI_DIR_LATE_OPS at a time.  Further calls return -FI_EAGAIN.
 */
#include <stdlib.h>
#include <string.h>

#include "msg.h"

/**
 * struct afi_look - a read of entries of a peer's directory
 * @await: continuation
 * @late: operation that waits for it
 */
struct afi_look {
	struct afi_await await;
	struct afi_late *late;
};

/**
 * struct afi_late - an operation that needs entries of its peer's directory
 * @op: operation; NULL: not in use
 * @unknown: a bit for each key of @plan whose entry has to be read
 * @looks: reads of the entries, by key
 * @asked: remote memory in the program's terms, while a known entry is tried
 * @plan: the operation's pieces
 */
struct afi_late {
	struct afi_op *op;
	u32 unknown;
	struct afi_look looks[AFI_RMA_IOV_LIMIT];
	struct afi_there asked;
	struct afi_plan plan;
};

int afi_plans_init(struct afi_domain *d)
{
	d->late_ops = calloc(AFI_DIR_LATE_OPS, sizeof(*d->late_ops));
	return d->late_ops ? 0 : -FI_ENOMEM;
}

void afi_plans_free(struct afi_domain *d)
{
	free(d->late_ops);
}

/* Starts all pieces; keys have been translated to keys of the adapter. */
static void plan_post(struct afi_op *op, const struct afi_plan *plan)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < plan->keys; i++)
		afi_op_touch(op, afi_slot(plan->there[i].key));
	for (i = 0; i < plan->n && !ret; i++) {
		struct afi_piece *piece = &op->rest->pieces[i];

		ret = plan->post(op, piece, plan, &plan->parts[i],
				 afi_peer_of(&op->peer));
		afi_piece_started(piece, ret);
	}
	if (ret)
		afi_op_fail(op, ret, NULL);
	afi_op_start(op);
}

/* Return: place, see afi_key_read(), of the directory entries for key @key of @late. */
static u32 look_number(const struct afi_late *late, u32 key)
{
	return (u32)(late - late->op->domain->late_ops) * AFI_RMA_IOV_LIMIT + key;
}

/**
 * afi_plan_resume() - start the pieces of an operation whose reads have ended
 * @op: operation with afi_op.late
 *
 * Return: false: there is no room; op.c calls this function again.
 */
bool afi_plan_resume(struct afi_op *op)
{
	struct afi_late *late = op->late;
	u32 i;

	if (op->ep && !op->done.err &&
	    !afi_await_room(op->domain, AFI_PIECES)) {
		afi_op_later(op);
		return false;
	}
	/* The endpoint is closed, and its operations are abandoned. */
	if (!op->ep)
		afi_op_fail(op, -FI_ECANCELED, NULL);
	for (i = 0; i < late->plan.keys && !op->done.err; i++) {
		int ret = 0;

		if (late->unknown & 1U << i)
			ret = afi_key_entry(op->domain, afi_peer_of(&op->peer),
					    look_number(late, i),
					    &late->plan.there[i]);
		if (ret)
			afi_op_fail(op, ret, NULL);
	}
	/*
	 * The pieces are started: this function is not called again for the
	 * operation.
	 */
	op->late = NULL;
	if (op->done.err)
		afi_op_start(op);
	else
		plan_post(op, &late->plan);
	late->op = NULL;
	return true;
}

static void look_ended(struct afi_domain *d, struct afi_await *a, int err,
		       const struct angara_completion *c)
{
	struct afi_op *op = afi_of(a, struct afi_look, await)->late->op;

	(void)d;
	op->live--;
	if (err)
		afi_op_fail(op, err, c);
	if (!op->live)
		afi_plan_resume(op);
}

static int look_start(struct afi_late *late, u32 key)
{
	struct afi_op *op = late->op;
	struct afi_look *look = &late->looks[key];
	int ret;

	look->late = late;
	ret = afi_key_read(op->domain, afi_peer_of(&op->peer), look_number(late, key),
			   late->plan.there[key].key,
			   afi_await(op->domain, &look->await, look_ended));
	op->live += !ret;
	return afi_awaited(op->domain, &look->await, ret);
}

/*
 * Copies the data of an injected write, since the program may change its
 * memory.
 */
static void late_copy(struct afi_plan *plan)
{
	char *to = plan->x;
	u32 i;

	for (i = 0; plan->inject && i < plan->n; i++) {
		struct afi_plan_part *part = &plan->parts[i];

		if (part->len)
			memcpy(to, part->addr, part->len);
		part->addr = to;
		to += part->len;
	}
}

/*
 * Keeps the pieces of an operation.  @unknown: a bit for each key whose entry has to
 * be read from the peer's directory.  Return: NULL: there is no room.
 */
static struct afi_late *late_keep(struct afi_op *op, const struct afi_plan *plan,
				  u32 unknown)
{
	struct afi_late *late = op->domain->late_ops;
	u32 i;

	for (i = 0; i < AFI_DIR_LATE_OPS && late->op; i++)
		late++;
	if (i == AFI_DIR_LATE_OPS)
		return NULL;
	late->op = op;
	late->unknown = unknown;
	late->plan = *plan;
	late_copy(&late->plan);
	return late;
}

/* Reads the entries of the keys @unknown; the pieces start when the reads have ended. */
static int plan_wait(struct afi_op *op, const struct afi_plan *plan, u32 unknown)
{
	struct afi_late *late = late_keep(op, plan, unknown);
	int ret = 0;
	u32 i;

	if (!late)
		return -FI_EAGAIN;
	for (i = 0; i < plan->keys && !ret; i++)
		if (unknown & 1U << i)
			ret = look_start(late, i);
	if (!op->live) {
		late->op = NULL;
		return ret;
	}
	/* The operation ends when the reads that were started have ended. */
	if (ret)
		afi_op_fail(op, ret, NULL);
	op->late = late;
	afi_op_start(op);
	return 0;
}

/*
 * Starts the piece with the key from an entry that an earlier operation has
 * read.
 */
static int plan_try(struct afi_op *op, const struct afi_plan *plan,
		    struct afi_there known)
{
	struct afi_late *late = late_keep(op, plan, 1);

	if (!late)
		return -FI_EAGAIN;
	late->asked = plan->there[0];
	late->plan.there[0] = known;
	op->late = late;
	plan_post(op, &late->plan);
	return 0;
}

/**
 * afi_plan_again() - may an operation that the target refused be repeated?
 * @op: operation with afi_op.late, which has tried a known entry
 * @err: error of the piece
 *
 * Return: true: it is in progress again.
 */
bool afi_plan_again(struct afi_op *op, int err)
{
	struct afi_late *late = op->late;
	int ret;

	if (err != -ENOKEY)
		return false;
	late->plan.there[0] = late->asked;
	op->nslots = 0;
	afi_key_forget(op->domain, late->asked.key);
	/* The read takes the place of the piece among operations in progress. */
	ret = look_start(late, 0);
	if (ret) {
		afi_op_fail(op, ret, NULL);
		afi_op_start(op);
	}
	return true;
}

/* Frees the state of an operation that has ended. */
void afi_plan_ended(struct afi_op *op)
{
	op->late->op = NULL;
	op->late = NULL;
}

/**
 * afi_plan_start() - start an operation
 * @op: operation, with its peer and with local memory of its pieces
 * @plan: the pieces
 *
 * The completion reports errors of the peer, even if they are detected here.
 *
 * Return: 0: the operation is in progress, or has ended; else it is not started:
 * -FI_EAGAIN; -FI_ENODEV.
 */
int afi_plan_start(struct afi_op *op, struct afi_plan *plan)
{
	struct afi_there known;
	u32 unknown = 0;
	int ret = 0;
	u32 i;

	if (plan->n == 1 && plan->keys == 1 &&
	    afi_key_listed(op->domain, afi_peer_of(&op->peer), &plan->there[0], &known))
		return plan_try(op, plan, known);
	for (i = 0; i < plan->keys && !ret; i++) {
		ret = afi_key_known(op->domain, afi_peer_of(&op->peer), &plan->there[i]);
		if (ret == -FI_EINPROGRESS) {
			unknown |= 1U << i;
			ret = 0;
		}
	}
	if (!ret && !unknown) {
		plan_post(op, plan);
		return 0;
	}
	if (!ret)
		ret = plan_wait(op, plan, unknown);
	if (!ret || ret == -FI_EAGAIN || ret == -FI_ENODEV)
		return ret;
	afi_op_fail(op, ret, NULL);
	afi_op_start(op);
	return 0;
}
