// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Collective operations as rounds, in each of which a member sends something to
 * one other and receives something from one.  What a round is follows from its
 * number alone, so nothing is kept of those to come, however long they are.
 *
 * Reductions combine in the order of ranks, along a binomial tree that rank 0
 * is the root of, whoever the result is for: the same contributions of the same
 * number of members give the same bits, in all operations, whatever arrives
 * first.  Trees are gone through part by part, so that long data flows.
 */
#include "coll.h"

#define AFI_PART	32000	/* bytes; a multiple of each type's */

/**
 * struct share - what a tree is to move or to reduce
 * @rank: of this member
 * @n: members
 * @root: where it is from, or goes to
 * @all: all collect in their @out, and it goes nowhere from rank 0
 * @in: contribution
 * @out: result, or NULL
 * @len: bytes
 * @step: of its first round
 */
struct share {
	u32 rank;
	u32 n;
	u32 root;
	bool all;
	const char *in;
	char *out;
	size_t len;
	u32 step;
};

static u32 levels(u32 n)
{
	u32 l = 0;

	while (1U << l < n)
		l++;
	return l;
}

static u32 parts(size_t len)
{
	return (u32)((len + AFI_PART - 1) / AFI_PART);
}

static size_t part_len(size_t len, u32 part)
{
	size_t left = len - (size_t)part * AFI_PART;

	return left < AFI_PART ? left : AFI_PART;
}

static void send(struct afi_round *r, u32 to, const void *data, size_t len,
		 u32 step)
{
	r->sends = true;
	r->to = to;
	r->out = data;
	r->out_len = len;
	r->out_step = step;
}

static void receive(struct afi_round *r, u32 from, void *data, size_t len,
		    u32 step)
{
	r->receives = true;
	r->from = from;
	r->in = data;
	r->in_len = len;
	r->in_step = step;
}

static void copy(struct afi_round *r, void *to, const void *from, size_t len)
{
	if (to == from)
		return;
	r->copy_to = to;
	r->copy_from = from;
	r->copy_len = len;
}

static u32 spread_turns(const struct share *s)
{
	return parts(s->len) * (1 + levels(s->n));
}

/*
 * A binomial tree.  Ranks are counted from the root; a member receives from the
 * one whose number has its lowest bit less, and sends to those that have one
 * more below that, the one with most behind it first.
 */
static void spread(const struct share *s, u32 turn, struct afi_round *r)
{
	u32 l = levels(s->n);
	u32 part = turn / (1 + l);
	u32 v = (s->rank + s->n - s->root) % s->n;
	u32 low = v & -v;
	char *at = s->out + (size_t)part * AFI_PART;
	size_t len = part_len(s->len, part);
	u32 step = s->step + 2 * part + 1;
	u32 bit;

	turn %= 1 + l;
	if (!turn) {
		if (v)
			receive(r, (v - low + s->root) % s->n, at, len, step);
		return;
	}
	bit = 1U << (l - turn);
	if ((!v || bit < low) && v + bit < s->n)
		send(r, (v + bit + s->root) % s->n, at, len, step);
}

static u32 reduce_turns(const struct share *s)
{
	return parts(s->len) * (levels(s->n) + 2);
}

/*
 * Who has collected what the ranks behind it have, up to the next that has its
 * lowest bit, hands that on to the one before.  In the end rank 0 has it all,
 * and the root gets it from there.
 */
static void reduce(const struct share *s, char *temp, u32 turn,
		   struct afi_round *r)
{
	u32 l = levels(s->n);
	u32 part = turn / (l + 2);
	size_t len = part_len(s->len, part);
	size_t at = (size_t)part * AFI_PART;
	char *sum = s->all || s->rank == s->root ? s->out + at : temp;
	u32 step = s->step + 2 * part;
	u32 bit;

	turn %= l + 2;
	if (!turn) {
		copy(r, sum, s->in + at, len);
	} else if (turn > l) {
		if (s->all || !s->root)
			return;
		if (!s->rank)
			send(r, s->root, sum, len, step + 1);
		else if (s->rank == s->root)
			receive(r, 0, sum, len, step + 1);
	} else {
		bit = 1U << (turn - 1);
		if (s->rank & (bit - 1))
			return;
		if (s->rank & bit) {
			send(r, s->rank - bit, sum, len, step);
		} else if (s->rank + bit < s->n) {
			receive(r, s->rank + bit, temp + AFI_PART, len, step);
			r->combine = sum;
		}
	}
}

static struct share share_of(const struct afi_call *c)
{
	return (struct share){
		.rank = c->group->rank,
		.n = c->group->size,
		.root = c->root,
		.in = c->in,
		.out = c->out,
		.len = c->len,
	};
}

/* All have heard of all when each has heard of twice as many each time. */
static bool barrier(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	u32 n = c->group->size, rank = c->group->rank;

	if (turn >= levels(n))
		return false;
	send(r, (rank + (1U << turn)) % n, NULL, 0, turn);
	receive(r, (rank + n - (1U << turn)) % n, NULL, 0, turn);
	return true;
}

static bool broadcast(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	const struct share s = share_of(c);

	if (turn >= spread_turns(&s))
		return false;
	spread(&s, turn, r);
	return true;
}

static bool reduce_to_root(const struct afi_call *c, u32 turn,
			   struct afi_round *r)
{
	const struct share s = share_of(c);

	if (turn >= reduce_turns(&s))
		return false;
	reduce(&s, c->temp, turn, r);
	return true;
}

/* All collect in their result, which is where the others' comes to then. */
static bool allreduce(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	struct share s = share_of(c);
	u32 first = reduce_turns(&s);

	if (turn >= first + spread_turns(&s))
		return false;
	s.all = true;
	if (turn < first)
		reduce(&s, c->temp, turn, r);
	else
		spread(&s, turn - first, r);
	return true;
}

/* The part of each member in turn. */
static bool reduce_scatter(const struct afi_call *c, u32 turn,
			   struct afi_round *r)
{
	struct share s = share_of(c);
	u32 each = reduce_turns(&s);

	s.root = turn / each;
	if (s.root >= s.n)
		return false;
	s.in += s.root * s.len;
	s.step = s.root * 2 * parts(s.len);
	reduce(&s, c->temp, turn % each, r);
	return true;
}

/* Parts go around a ring. */
static bool allgather(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	const struct share s = share_of(c);
	u32 out = (s.rank + s.n - turn) % s.n;
	u32 in = (out + s.n - 1) % s.n;

	if (turn && turn >= s.n - 1)
		return false;
	if (!turn)
		copy(r, s.out + s.rank * s.len, s.in, s.len);
	if (s.n == 1)
		return true;
	send(r, (s.rank + 1) % s.n, s.out + out * s.len, s.len, turn);
	receive(r, (s.rank + s.n - 1) % s.n, s.out + in * s.len, s.len, turn);
	return true;
}

static bool alltoall(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	const struct share s = share_of(c);
	u32 to = (s.rank + turn) % s.n;
	u32 from = (s.rank + s.n - turn) % s.n;

	if (turn >= s.n)
		return false;
	if (!turn) {
		copy(r, s.out + to * s.len, s.in + to * s.len, s.len);
	} else {
		send(r, to, s.in + to * s.len, s.len, 0);
		receive(r, from, s.out + from * s.len, s.len, 0);
	}
	return true;
}

static bool scatter(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	const struct share s = share_of(c);

	if (turn >= (s.rank == s.root ? s.n : 1))
		return false;
	if (s.rank != s.root)
		receive(r, s.root, s.out, s.len, 0);
	else if (turn == s.root)
		copy(r, s.out, s.in + turn * s.len, s.len);
	else
		send(r, turn, s.in + turn * s.len, s.len, 0);
	return true;
}

static bool gather(const struct afi_call *c, u32 turn, struct afi_round *r)
{
	const struct share s = share_of(c);

	if (turn >= (s.rank == s.root ? s.n : 1))
		return false;
	if (s.rank != s.root)
		send(r, s.root, s.in, s.len, 0);
	else if (turn == s.root)
		copy(r, s.out + turn * s.len, s.in, s.len);
	else
		receive(r, turn, s.out + turn * s.len, s.len, 0);
	return true;
}

/**
 * afi_algo_round() - what a member does in one round of an operation
 * @call: operation
 * @turn: number of the round
 * @round: out: empty if there is nothing to do for this one
 *
 * Return: false: there is no such round, the operation is over.
 */
bool afi_algo_round(const struct afi_call *call, u32 turn,
		    struct afi_round *round)
{
	static bool (*const algos[])(const struct afi_call *call, u32 turn,
				     struct afi_round *round) = {
		[FI_BARRIER] = barrier,
		[FI_BROADCAST] = broadcast,
		[FI_ALLTOALL] = alltoall,
		[FI_ALLREDUCE] = allreduce,
		[FI_ALLGATHER] = allgather,
		[FI_REDUCE_SCATTER] = reduce_scatter,
		[FI_REDUCE] = reduce_to_root,
		[FI_SCATTER] = scatter,
		[FI_GATHER] = gather,
	};

	*round = (struct afi_round){ 0 };
	return algos[call->coll](call, turn, round);
}

/* Bytes of memory that an operation needs of its own. */
size_t afi_algo_temp(const struct afi_call *call)
{
	return call->coll == FI_REDUCE || call->coll == FI_ALLREDUCE ||
	       call->coll == FI_REDUCE_SCATTER ? 2 * AFI_PART : 0;
}
