// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The schedules of software collectives, compared with the definition of the
 * collectives, and with the numbers of messages and bytes in algo.h.
 *
 *	algo [SEED [COLLECTIVE]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algo_sim.h"

#define MAX_DIMS	5

static unsigned int tests, failed;
static const char *only;

static void report(const char *name, bool ok)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", ++tests, name);
	if (!ok) {
		printf("# %s\n", why);
		failed++;
	}
	why[0] = '\0';
}

static struct map compose(struct map f, struct map g)
{
	return (struct map){ .a = f.a * g.a, .b = f.b * g.a + g.b };
}

static struct map sum(struct map f, struct map g)
{
	return (struct map){ .a = f.a + g.a, .b = f.b + g.b };
}

/* Return: number of elements of block @i if block lengths differ. */
static size_t odd_count(u32 i, size_t count)
{
	return i % 5 == 2 ? 0 : count + i % 3;
}

struct setup {
	struct ang_coll_args args;
	size_t counts[MAX_SIZE];
	size_t in_displs[MAX_SIZE];
	size_t out_displs[MAX_SIZE];
	size_t matrix[MAX_SIZE][MAX_SIZE];	/* ALLTOALL: counts, by sender and receiver */
	size_t to[MAX_SIZE][MAX_SIZE], from[MAX_SIZE][MAX_SIZE];
	u32 dims[MAX_DIMS];
	u32 place[MAX_SIZE], rank_of[MAX_SIZE];
	struct ang_kin kin[MAX_SIZE];
	u32 children[MAX_SIZE][MAX_SIZE];
	u32 top;	/* root of the tree that @kin describes */
	bool in_place;
};

static struct setup t;

/* Lays blocks out with gaps between them, the last one first. */
static size_t lay(const size_t *counts, size_t *displs, u32 n)
{
	size_t at = 0;
	u32 i;

	for (i = n; i--; at += counts[i] + 1)
		displs[i] = at;
	return at;
}

static bool has_blocks(enum ang_coll coll, bool in)
{
	return coll == ANG_COLL_ALLTOALL ||
	       (in ? coll == ANG_COLL_SCATTER || coll == ANG_COLL_REDUCE_SCATTER :
		     coll == ANG_COLL_GATHER || coll == ANG_COLL_ALLGATHER);
}

static void set_up_member(u32 rank)
{
	struct member *x = &m[rank];
	enum ang_coll coll = t.args.coll;
	u32 n = t.args.size, i;
	size_t own = t.args.count, in = own, out = own;

	*x = (struct member){ .args = t.args, .knows = 1ULL << rank };
	x->args.rank = rank;
	if (t.args.kin)
		x->args.kin = &t.kin[rank];
	if (t.args.irregular) {
		own = t.counts[rank];
		x->args.count = own;
		in = out = own;
		if (coll == ANG_COLL_ALLTOALL) {
			for (i = 0; i < n; i++) {
				t.to[rank][i] = t.matrix[rank][i];
				t.from[rank][i] = t.matrix[i][rank];
			}
			x->args.in.counts = t.to[rank];
			x->args.out.counts = t.from[rank];
			/*
			 * Blocks have different lengths, and no gaps between
			 * them.
			 */
			for (i = 0, in = 0, out = 0; i < n; i++) {
				in += t.to[rank][i];
				out += t.from[rank][i];
			}
		} else if (has_blocks(coll, true)) {
			in = lay(t.counts, t.in_displs, n);
			x->args.in.counts = t.counts;
			if (coll == ANG_COLL_SCATTER) {
				x->args.in.displs = t.in_displs;
			} else {
				for (i = 0, in = 0; i < n; i++)
					in += t.counts[i];
			}
		} else if (has_blocks(coll, false)) {
			out = lay(t.counts, t.out_displs, n);
			x->args.out.counts = t.counts;
			x->args.out.displs = t.out_displs;
		}
	} else {
		in = has_blocks(coll, true) ? n * own : own;
		out = has_blocks(coll, false) ? n * own : own;
	}
	if (coll == ANG_COLL_BARRIER)
		in = out = 0;
	x->len[ANG_BUF_IN] = in * sizeof(struct map);
	x->len[ANG_BUF_OUT] = out * sizeof(struct map);
	/* Members without data have no buffer. */
	if ((coll == ANG_COLL_BCAST || coll == ANG_COLL_SCATTER) && rank != t.args.root)
		x->len[ANG_BUF_IN] = 0;
	if ((coll == ANG_COLL_REDUCE || coll == ANG_COLL_GATHER) && rank != t.args.root)
		x->len[ANG_BUF_OUT] = 0;
}

static bool set_up(void)
{
	u32 rank;
	int b;

	for (rank = 0; rank < t.args.size; rank++) {
		struct member *x = &m[rank];
		size_t i;

		set_up_member(rank);
		if (ang_run_init(&x->run, &x->args, &sim_ops, x))
			return wrong("member %u: its schedule cannot be made", rank);
		x->len[ANG_BUF_TEMP] = x->run.sched.temp;
		for (b = 0; b < ANG_BUF_NUM; b++) {
			x->run.at[b] = malloc(x->len[b] + MARGIN);
			memset(x->run.at[b], FILLER, x->len[b] + MARGIN);
		}
		for (i = 0; i < x->len[ANG_BUF_IN] / sizeof(struct map); i++)
			((struct map *)x->run.at[ANG_BUF_IN])[i] = given(rank, i);
		if (t.in_place) {
			memcpy(x->run.at[ANG_BUF_OUT], x->run.at[ANG_BUF_IN], x->len[ANG_BUF_IN]);
			free(x->run.at[ANG_BUF_IN]);
			x->run.at[ANG_BUF_IN] = x->run.at[ANG_BUF_OUT];
		}
	}
	for (rank = 0; rank < t.args.size; rank++)
		if (!schedule_ok(&m[rank]))
			return false;
	return true;
}

static void take_down(void)
{
	u32 rank;
	int b;

	for (rank = 0; rank < t.args.size; rank++) {
		if (t.in_place)
			m[rank].run.at[ANG_BUF_IN] = NULL;
		for (b = 0; b < ANG_BUF_NUM; b++)
			free(m[rank].run.at[b]);
		ang_run_free(&m[rank].run);
	}
}

static struct map result(u32 rank, u32 i)
{
	return ((struct map *)m[rank].run.at[ANG_BUF_OUT])[i];
}

static bool is(u32 rank, size_t i, struct map want)
{
	struct map got = result(rank, (u32)i);

	return (got.a == want.a && got.b == want.b) ||
	       wrong("element %zu of member %u is %u,%u, not %u,%u", i, rank, got.a, got.b, want.a,
		     want.b);
}

/*
 * Return: element @i of the contributions of ranks @first to @last, combined
 * in that order.
 */
static struct map folded(u32 first, u32 last, size_t i)
{
	struct map v = given(first, i);

	while (first++ < last)
		v = op(v, given(first, i));
	return v;
}

/*
 * Return: element @i of a member and its subtree, combined from left to right.
 */
static struct map folded_tree(u32 rank, size_t i)
{
	const struct ang_kin *kin = &t.kin[rank];
	struct map v = given(rank, i);
	u32 k;

	for (k = 0; k < kin->num; k++)
		v = op(v, folded_tree(kin->children[k], i));
	return v;
}

/*
 * Return: element @i of the contributions of all members, combined in the
 * order of ranks.
 */
static struct map folded_all(size_t i)
{
	return t.args.kin ? folded_tree(t.top, i) : folded(0, t.args.size - 1, i);
}

/* Return: the offset of the block of member @k. */
static size_t begin_of(const struct ang_blocks *b, u32 k, size_t count)
{
	size_t off = 0;
	u32 i;

	if (b->displs)
		return b->displs[k];
	for (i = 0; i < k; i++)
		off += b->counts ? b->counts[i] : count;
	return off;
}

static bool is_block(u32 rank, size_t out, u32 from, size_t in, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!is(rank, out + i, given(from, in + i)))
			return false;
	return true;
}

static bool is_right(u32 rank)
{
	const struct ang_coll_args *a = &m[rank].args;
	u32 n = a->size, k;
	size_t i;

	switch (a->coll) {
	case ANG_COLL_BARRIER:
		return m[rank].knows == (1ULL << n) - 1 ||
		       wrong("member %u leaves the barrier before all have entered it", rank);
	case ANG_COLL_BCAST:
		return is_block(rank, 0, a->root, 0, a->count);
	case ANG_COLL_ALLREDUCE:
	case ANG_COLL_REDUCE:
		for (i = 0; i < a->count; i++)
			if ((a->coll == ANG_COLL_ALLREDUCE || rank == a->root) &&
			    !is(rank, i, folded_all(i)))
				return false;
		return true;
	case ANG_COLL_SCAN:
		for (i = 0; i < a->count; i++)
			if (!is(rank, i, folded(0, rank, i)))
				return false;
		return true;
	case ANG_COLL_EXSCAN:
		for (i = 0; rank && i < a->count; i++)
			if (!is(rank, i, folded(0, rank - 1, i)))
				return false;
		return true;
	case ANG_COLL_REDUCE_SCATTER:
		k = rank;
		for (i = 0; i < a->count; i++)
			if (!is(rank, i, folded(0, n - 1,
						begin_of(&a->in, k, a->count) + i)))
				return false;
		return true;
	case ANG_COLL_SCATTER:
		return is_block(rank, 0, a->root,
				begin_of(&m[a->root].args.in, rank, a->count), a->count);
	case ANG_COLL_GATHER:
	case ANG_COLL_ALLGATHER:
		for (k = 0; k < n; k++)
			if ((a->coll == ANG_COLL_ALLGATHER || rank == a->root) &&
			    !is_block(rank, begin_of(&a->out, k, a->count), k, 0,
				      m[k].args.count))
				return false;
		return true;
	case ANG_COLL_ALLTOALL:
		for (k = 0; k < n; k++)
			if (!is_block(rank, begin_of(&a->out, k, a->count), k,
				      begin_of(&m[k].args.in, rank, m[k].args.count),
				      a->out.counts ? a->out.counts[k] : a->count))
				return false;
		return true;
	default:
		return true;
	}
}

static bool untouched(u32 rank)
{
	int b;
	u32 i;

	for (b = 0; b < ANG_BUF_NUM; b++)
		for (i = 0; i < MARGIN; i++)
			if ((u8)m[rank].run.at[b][m[rank].len[b] + i] != FILLER)
				return wrong("a byte after buffer %d of member %u has changed", b, rank);
	for (i = 0; !t.in_place && i < m[rank].len[ANG_BUF_IN] / sizeof(struct map); i++) {
		struct map v = ((struct map *)m[rank].run.at[ANG_BUF_IN])[i];

		if (v.a != given(rank, i).a || v.b != given(rank, i).b)
			return wrong("the contribution of member %u has changed", rank);
	}
	return true;
}

static bool costs(void)
{
	const struct ang_coll_args *a = &t.args;
	u64 num, total;

	formula(a, &num, &total);
	/*
	 * The formulas do not hold for blocks of different lengths, nor for
	 * fewer elements than members.
	 */
	if (a->irregular || (a->coll != ANG_COLL_BARRIER && a->count < a->size))
		return true;
	if (num != SKIP && num != messages)
		return wrong("sends %llu messages, not %llu", (unsigned long long)messages,
			     (unsigned long long)num);
	if (total != SKIP && total != bytes)
		return wrong("sends %llu bytes, not %llu", (unsigned long long)bytes,
			     (unsigned long long)total);
	if (a->algo == ANG_ALGO_SCATTER_ALLGATHER &&
	    messages >= (u64)a->size * (a->size + log2_up(a->size)))
		return wrong("sends %llu messages, as many as a ring", (unsigned long long)messages);
	return true;
}

/*
 * No member receives more messages than the bound.  If all members have blocks,
 * one member receives exactly as many as the bound.
 */
static bool arrivals(void)
{
	size_t longest;
	u64 most = ang_algo_arrivals(&t.args, &longest), max = 0;
	u32 rank, i;

	for (rank = 0; rank < t.args.size; rank++) {
		u64 num = 0;

		for (i = 0; i < m[rank].run.sched.n; i++) {
			if (m[rank].run.sched.steps[i].kind != ANG_STEP_RECV)
				continue;
			if (m[rank].run.sched.steps[i].len > longest)
				return wrong("a member sends %zu bytes to member %u at once, expected at most %zu",
					     m[rank].run.sched.steps[i].len, rank, longest);
			num++;
		}
		max = num > max ? num : max;
	}
	if (max > most)
		return wrong("a member receives %llu messages, expected at most %llu",
			     (unsigned long long)max, (unsigned long long)most);
	return max == most || t.args.irregular || t.args.count < t.args.size ||
	       (t.args.packet && t.args.count % t.args.size) ||
	       (t.args.exchange && moved(&t.args) != t.args.size) ||
	       t.args.size != 16 || t.args.algo == ANG_ALGO_SCATTER_ALLGATHER ||
	       wrong("a member receives %llu messages, not %llu", (unsigned long long)max,
		     (unsigned long long)most);
}

static bool once(void)
{
	bool ok = set_up() && run(t.args.size) && costs() && arrivals();
	u32 rank;

	for (rank = 0; ok && rank < t.args.size; rank++)
		ok = is_right(rank) && untouched(rank);
	take_down();
	if (!ok)
		printf("# %u members, root %u, %zu elements, %u dimensions, packets of %zu%s%s\n",
		       t.args.size, t.args.root, t.args.count, t.args.ndims, t.args.packet,
		       t.args.irregular ? ", blocks differ" : "",
		       t.in_place ? ", in place" : "");
	return ok;
}

static bool rooted(enum ang_coll coll)
{
	return coll == ANG_COLL_BCAST || coll == ANG_COLL_REDUCE ||
	       coll == ANG_COLL_GATHER || coll == ANG_COLL_SCATTER;
}

/* Does an algorithm combine contributions in the order of ranks? */
static bool ordered(enum ang_coll coll, enum ang_algo algo)
{
	return algo == ANG_ALGO_RECURSIVE_DOUBLING || algo == ANG_ALGO_TREE ||
	       (coll == ANG_COLL_REDUCE && algo == ANG_ALGO_BINOMIAL && !t.args.root);
}

static bool may_be_in_place(enum ang_coll coll)
{
	return coll == ANG_COLL_ALLREDUCE || coll == ANG_COLL_SCAN ||
	       coll == ANG_COLL_EXSCAN;
}

static bool all_counts(bool irregular)
{
	static const size_t counts[] = { 0, 1, 3, 34, 101 };
	unsigned int c, i, k;

	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		t.args.count = counts[c];
		t.args.irregular = irregular;
		for (i = 0; i < t.args.size; i++) {
			t.counts[i] = odd_count(i, counts[c]);
			for (k = 0; k < t.args.size; k++)
				t.matrix[i][k] = odd_count(i + 2 * k, counts[c]);
		}
		for (i = 0; i <= (!irregular && may_be_in_place(t.args.coll)); i++) {
			t.in_place = i;
			op = ordered(t.args.coll, t.args.algo) ? compose : sum;
			if (!once())
				return false;
		}
	}
	return true;
}

static bool can_differ(enum ang_coll coll)
{
	return has_blocks(coll, true) || has_blocks(coll, false);
}

static bool needs_power(enum ang_coll coll, enum ang_algo algo)
{
	return coll == ANG_COLL_ALLGATHER && algo == ANG_ALGO_RECURSIVE_DOUBLING;
}

static bool all_sizes(enum ang_coll coll, enum ang_algo algo, bool irregular)
{
	u32 n, root;

	for (n = 1; n <= MAX_SIZE; n++)
		for (root = 0; root < (rooted(coll) ? n : 1); root++) {
			t.args = (struct ang_coll_args){
				.coll = coll, .algo = algo, .size = n, .root = root,
				.elem = sizeof(struct map), .irregular = irregular,
			};
			if (needs_power(coll, algo) && n & (n - 1))
				continue;
			if (!ang_algo_valid(&t.args))
				return wrong("ang_algo_valid() refuses this schedule");
			if (!all_counts(irregular))
				return false;
		}
	return true;
}

/*
 * Tests counts that are multiples of the number of members, and others, in
 * packets of several lengths.
 */
static bool all_packets(void)
{
	static const size_t packets[] = { 0, 1, 3, 9 };
	size_t counts[] = { 0, 1, 34, 6 * t.args.size, 70 * t.args.size };
	unsigned int c, p, i;

	for (c = 0; c < sizeof(counts) / sizeof(*counts); c++)
		for (p = 0; p < sizeof(packets) / sizeof(*packets); p++)
			for (i = 0; i <= may_be_in_place(t.args.coll); i++) {
				t.args.count = counts[c];
				t.args.packet = packets[p] * t.args.elem;
				t.in_place = i;
				op = ordered(t.args.coll, t.args.algo) ? compose : sum;
				if (!once())
					return false;
			}
	return true;
}

static bool one_torus(enum ang_coll coll, const u32 *dims)
{
	u32 n = 1, d = 0, root;

	for (; d < MAX_DIMS && dims[d]; d++) {
		t.dims[d] = dims[d];
		n *= dims[d];
	}
	/* The roots are a corner and the middle of the torus. */
	for (root = 0; root < (rooted(coll) ? n : 1); root += n / 2 + 1) {
		t.args = (struct ang_coll_args){
			.coll = coll, .algo = ANG_ALGO_RING, .size = n, .root = root,
			.elem = sizeof(struct map), .ndims = d, .dims = t.dims,
		};
		if (!ang_algo_valid(&t.args))
			return wrong("ang_algo_valid() refuses this schedule");
		if (!all_packets())
			return false;
	}
	return true;
}

static bool all_tori(enum ang_coll coll)
{
	static const u32 tori[][MAX_DIMS] = {
		{ 0 }, { 1 }, { 2 }, { 5 }, { 16 }, { 1, 1 }, { 1, 7 }, { 7, 1 }, { 2, 2 },
		{ 2, 8 }, { 8, 2 }, { 4, 4 }, { 3, 5 }, { 5, 6 }, { 11, 3 }, { 2, 3, 4 },
		{ 4, 3, 2 }, { 3, 3, 3 }, { 2, 2, 2, 2 }, { 2, 2, 2, 2, 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(tori) / sizeof(*tori); i++)
		if (!one_torus(coll, tori[i]))
			return false;
	return true;
}

/* Tests members whose numbers are a random permutation of their ranks. */
static bool all_places(enum ang_algo algo, bool exchange)
{
	u32 n, i, k;

	for (n = 1; n <= MAX_SIZE; n++) {
		if (needs_power(ANG_COLL_ALLGATHER, algo) && n & (n - 1))
			continue;
		for (i = 0; i < n; i++) {
			k = any(i + 1);
			t.place[i] = t.place[k];
			t.place[k] = i;
		}
		for (i = 0; i < n; i++)
			t.rank_of[t.place[i]] = i;
		t.args = (struct ang_coll_args){
			.coll = ANG_COLL_ALLGATHER, .algo = algo, .size = n,
			.elem = sizeof(struct map), .place = t.place, .rank_of = t.rank_of,
			.exchange = exchange,
		};
		if (!ang_algo_valid(&t.args))
			return wrong("ang_algo_valid() refuses this schedule");
		if (!all_counts(false))
			return false;
	}
	return true;
}

/*
 * Makes a tree in which each member but the first has a random parent, and a
 * random place among the children of that parent.
 */
static void grow(u32 n, u32 fan)
{
	u32 i, k, most = 0, *children;

	for (i = 0; i < n; i++) {
		k = any(i + 1);
		t.rank_of[i] = t.rank_of[k];
		t.rank_of[k] = i;
		t.kin[i] = (struct ang_kin){ .children = t.children[i] };
	}
	t.top = t.rank_of[0];
	t.kin[t.top].parent = t.top;
	for (i = 1; i < n; i++) {
		u32 parent = t.rank_of[i <= fan ? 0 : i - 1 - any(fan)];

		t.kin[t.rank_of[i]].parent = parent;
		children = t.children[parent];
		k = any(++t.kin[parent].num);
		children[t.kin[parent].num - 1] = children[k];
		children[k] = t.rank_of[i];
	}
	for (i = 0; i < n; i++) {
		k = t.kin[i].num + (i != t.top);
		most = k > most ? k : most;
	}
	for (i = 0; i < n; i++)
		t.kin[i].arrivals = most;
}

/* Tests trees that are chains, stars, and shapes between these two. */
static bool all_trees(void)
{
	static const u32 fans[] = { 1, 2, 5, MAX_SIZE };
	u32 n;
	size_t i;

	for (n = 1; n <= MAX_SIZE; n++)
		for (i = 0; i < sizeof(fans) / sizeof(*fans); i++) {
			grow(n, fans[i]);
			t.args = (struct ang_coll_args){
				.coll = ANG_COLL_ALLREDUCE, .algo = ANG_ALGO_TREE, .size = n,
				.elem = sizeof(struct map), .kin = t.kin,
			};
			if (!ang_algo_valid(&t.args))
				return wrong("ang_algo_valid() refuses this schedule");
			if (!all_packets())
				return false;
		}
	return true;
}

const char *const coll_names[ANG_COLL_NUM] = {
	"barrier", "broadcast", "reduce", "allreduce", "allgather", "gather", "scatter",
	"alltoall", "reduce_scatter", "scan", "exscan",
};

static void all(void)
{
	int coll, algo, irregular;
	char name[80];

	for (coll = 0; coll < ANG_COLL_NUM; coll++)
		for (algo = 0; algo < ANG_ALGO_NUM; algo++)
			for (irregular = 0; irregular <= can_differ(coll); irregular++) {
				struct ang_coll_args a = {
					.coll = coll, .algo = algo, .size = 1, .elem = 1,
					.irregular = irregular,
				};

				if (!ang_algo_valid(&a))
					continue;
				snprintf(name, sizeof(name), "%s, %s%s", coll_names[coll],
					 ang_algo_name(algo),
					 irregular ? ", blocks of any length" : "");
				if (!only || !strcmp(only, name))
					report(name, all_sizes(coll, algo, irregular));
			}
}

static void shapes(void)
{
	static const enum ang_coll tori[] = {
		ANG_COLL_BCAST, ANG_COLL_REDUCE, ANG_COLL_ALLREDUCE,
	};
	static const enum ang_algo placed[] = {
		ANG_ALGO_RECURSIVE_DOUBLING, ANG_ALGO_BRUCK,
	};
	char name[80];
	size_t i;
	int k;

	for (i = 0; i < sizeof(tori) / sizeof(*tori); i++) {
		snprintf(name, sizeof(name), "%s, torus", coll_names[tori[i]]);
		if (!only || !strcmp(only, name))
			report(name, all_tori(tori[i]));
	}
	if (!only || !strcmp(only, "allreduce, tree"))
		report("allreduce, tree", all_trees());
	for (i = 0; i < sizeof(placed) / sizeof(*placed); i++)
		for (k = 0; k < 2; k++) {
			snprintf(name, sizeof(name), "allgather, %s, %s",
				 ang_algo_name(placed[i]), k ? "exchange" : "reorder");
			if (!only || !strcmp(only, name))
				report(name, all_places(placed[i], k));
		}
}

/* A member with different arguments must be detected. */
static bool catches_mismatch(void)
{
	struct member *x = &m[5];
	struct ang_run was;
	bool ok;

	t.args = (struct ang_coll_args){ .coll = ANG_COLL_BCAST, .size = 8, .count = 10,
					 .algo = ANG_ALGO_BINOMIAL, .elem = 8 };
	t.in_place = false;
	ok = set_up();
	was = x->run;
	ang_run_free(&was);
	x->args.root = 1;
	ok = ok && !ang_run_init(&x->run, &x->args, &sim_ops, x);
	memcpy(x->run.at, was.at, sizeof(was.at));
	ok = ok && !run(8);
	take_down();
	return ok;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	only = argc > 2 ? argv[2] : NULL;
	all();
	shapes();
	if (!only) {
		report("a member with other arguments is detected",
		       catches_mismatch());
		report("bad arguments", refuses());
		report("choice of the algorithm", chooses());
		report("few messages of each of 1000 members", scales());
	}
	printf("1..%u\n", tests);
	return failed || !tests ? 1 : 0;
}
