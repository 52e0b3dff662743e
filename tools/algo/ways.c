// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-algo: algorithms, and formulas of their times.
 *
 * Symbols: n members, m bytes (of one block in an allgather), a seconds to begin
 * a message, b seconds per byte, g seconds per byte combined, c seconds per byte
 * copied; r[d] members along dimension d, K packets of p bytes.  A member sends
 * one message and receives one at a time.
 *
 * With several levels, a and b are those of the uppermost level between any two
 * ranks at the distance of the step, and links between levels are assumed to be
 * free.
 */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

struct ab {
	double a;
	double b;
};


static double bytes_of(const struct job *j)
{
	return (double)(j->args.count * j->args.elem);
}

static u32 dims_of(const struct job *j)
{
	return j->args.ndims ? j->args.ndims : 1;
}

static u32 dim_of(const struct job *j, u32 d)
{
	return j->args.ndims ? j->args.dims[d] : j->args.size;
}

static struct ab at_level(const struct levels *s, u32 l)
{
	return (struct ab){ s->level[l].a, s->level[l].b };
}

/* Return: a and b of messages between neighbours along dimension @d. */
static struct ab along(const struct job *j, const struct levels *s, u32 d)
{
	u32 under = 1, r = dim_of(j, d), top = s->num - 1, rank, i, l;

	for (i = 0; i < d; i++)
		under *= dim_of(j, i);
	for (rank = 0; rank < s->ranks; rank++) {
		u32 at = rank / under % r;
		u32 next = rank - at * under + (at + 1) % r * under;

		l = level_of(s, s->core[rank], s->core[next]);
		top = rank != next && l < top ? l : top;
	}
	return at_level(s, top);
}

/* Return: a and b of messages from each number v to v + @dist; with @flip, to v ^ @dist. */
static struct ab over(const struct job *j, const struct levels *s, u32 dist, bool flip)
{
	u32 n = s->ranks, top = s->num - 1, v;

	for (v = 0; v < n; v++) {
		u32 w = flip ? v ^ dist : (v + dist) % n, p = v, q = w, l;

		if (w >= n)
			continue;
		if (j->rank_of) {
			p = j->rank_of[v];
			q = j->rank_of[w];
		}
		l = level_of(s, s->core[p], s->core[q]);
		top = l < top ? l : top;
	}
	return at_level(s, top);
}

static double bcast_torus(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t = j->copy * m, each = 0;
	u32 packets = ang_algo_packets((size_t)m, j->args.packet), d;

	for (d = 0; d < dims_of(j); d++) {
		struct ab ab = along(j, s, d);
		u32 r = dim_of(j, d);
		double one = r > 1 ? ab.a + ab.b * m / packets : 0;

		t += ((r + 1) / 2) * one;
		each += (r > 2 ? 2 : 1) * one;
	}
	return t + (packets - 1) * each;
}

static double larger(double x, double y)
{
	return x > y ? x : y;
}

/*
 * Vectors arrive from both directions of a ring; the second arrives while the
 * first is combined.
 */
static double reduce_torus(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t = j->copy * m, each = 0;
	u32 packets = ang_algo_packets((size_t)m, j->args.packet), d;

	for (d = 0; d < dims_of(j); d++) {
		struct ab ab = along(j, s, d);
		u32 r = dim_of(j, d);
		double one = r > 1 ? ab.a + ab.b * m / packets : 0;
		double sum = r > 1 ? j->add * m / packets : 0;

		t += (r / 2) * (one + sum) + (r % 2) * larger(one, sum);
		each += (r > 2 ? 2 : 1) * larger(one, sum);
	}
	return t + (packets - 1) * each;
}

static double binomial(const struct job *j, const struct levels *s)
{
	bool reduces = j->args.coll == ANG_COLL_REDUCE;
	double m = bytes_of(j), t = reduces ? 0 : j->copy * m;
	u32 bit;

	for (bit = 1; bit < s->ranks; bit *= 2) {
		struct ab ab = over(j, s, bit, false);

		t += ab.a + ab.b * m + (reduces ? j->add * m : 0);
	}
	return t;
}

/* Return: seconds along one dimension.  @m: bytes that the ring combines. */
static double ring_of(const struct job *j, struct ab ab, u32 r, double m)
{
	double part = m / r;
	size_t whole = (size_t)part + ((double)(size_t)part < part);
	u32 packets = ang_algo_packets(whole, j->args.packet);
	double one = ab.a + ab.b * part / packets, sum = j->add * part / packets;
	double stages = (double)(r - 1) * packets;
	double distribute = (r - 1) * (ab.a + ab.b * part);

	if (r == 1)
		return 0;
	if (packets == 1)
		return (r - 1) * (one + sum) + distribute;
	return one + (stages - 1) * larger(one, sum) + sum + distribute;
}

static double allreduce_ring(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t = j->copy * m;
	u32 d;

	for (d = 0; d < dims_of(j); d++) {
		t += ring_of(j, along(j, s, d), dim_of(j, d), m);
		m /= dim_of(j, d);
	}
	return t;
}

/*
 * Return: p, the greatest power of two up to the number of members. @t: out: time to combine
 * the vectors of the members beyond the first p, and to send these members the result.
 */
static u32 fold(const struct job *j, const struct levels *s, double *t)
{
	struct ab ab = over(j, s, 1, false);
	double m = bytes_of(j);
	u32 p = 1;

	while (2 * p <= s->ranks)
		p *= 2;
	*t = j->copy * m;
	if (p < s->ranks)
		*t += 2 * (ab.a + ab.b * m) + j->add * m + j->copy * m;
	return p;
}

static double allreduce_doubling(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t;
	u32 p = fold(j, s, &t), bit;

	for (bit = 1; bit < p; bit *= 2) {
		struct ab ab = over(j, s, bit, true);

		t += ab.a + ab.b * m + j->add * m;
	}
	/*
	 * Some members have the sum in the second of two buffers, and copy it.
	 */
	return t + (p > 1 ? j->copy * m : 0);
}

static double allreduce_halving(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t;
	u32 p = fold(j, s, &t), bit;

	for (bit = p / 2; bit; bit /= 2) {
		struct ab ab = over(j, s, bit, true);
		double part = m * bit / p;

		t += 2 * (ab.a + ab.b * part) + j->add * part;
	}
	return t;
}

static double allgather_ring(const struct job *j, const struct levels *s)
{
	struct ab ab = along(j, s, 0);
	double m = bytes_of(j);

	return (s->ranks - 1) * (ab.a + ab.b * m) + j->copy * m;
}

/*
 * Return: time to copy and exchange blocks before the steps, and to reorder blocks after the
 * steps.
 */
static double forms(const struct job *j, const struct levels *s)
{
	double m = bytes_of(j), t = j->copy * m;
	u32 i, top = s->num, l;

	for (i = 0; j->way->form == FORM_EXCHANGE && i < s->ranks; i++)
		if (j->place[i] != i) {
			l = level_of(s, s->core[i], s->core[j->place[i]]);
			top = l < top ? l : top;
		}
	if (top < s->num)
		t = s->level[top].a + s->level[top].b * m;
	if (j->args.algo == ANG_ALGO_BRUCK || j->way->form == FORM_REORDER)
		t += j->copy * m * s->ranks;
	return t;
}

static double allgather_steps(const struct job *j, const struct levels *s)
{
	bool flip = j->args.algo == ANG_ALGO_RECURSIVE_DOUBLING;
	double m = bytes_of(j), t = forms(j, s);
	u32 n = s->ranks, dist;

	for (dist = 1; dist < n; dist *= 2) {
		struct ab ab = over(j, s, dist, flip);

		t += ab.a + ab.b * m * (dist < n - dist ? dist : n - dist);
	}
	return t;
}

#define KUMAR	"Kumar, Grama, Gupta, Karypis: Introduction to Parallel Computing"
#define GATHER	"Thakur, Rabenseifner, Gropp 2005"
#define RINGS	"cyclic forwarding"
#define STEPS	"a log2 n + (n - 1) b m"

const struct way ways[] = {
	{ "bcast-torus", ANG_COLL_BCAST, ANG_ALGO_RING, FORM_NONE,
	  "sum over d of ceil(r[d] / 2) (a + b p) + (K - 1) children (a + b p)",
	  KUMAR " (K = 1)", bcast_torus },
	{ "bcast-binomial", ANG_COLL_BCAST, ANG_ALGO_BINOMIAL, FORM_NONE,
	  "ceil(log2 n) (a + b m)", KUMAR, binomial },
	{ "reduce-torus", ANG_COLL_REDUCE, ANG_ALGO_RING, FORM_NONE,
	  "as bcast-torus, and the combining of each child",
	  KUMAR " (K = 1, g = 0)", reduce_torus },
	{ "reduce-binomial", ANG_COLL_REDUCE, ANG_ALGO_BINOMIAL, FORM_NONE,
	  "ceil(log2 n) (a + b m + g m)", GATHER, binomial },
	{ "allreduce-ring", ANG_COLL_ALLREDUCE, ANG_ALGO_RING, FORM_NONE,
	  "sum over d of (r[d] - 1) (2 a + (2 b + g) m / (r[1] ... r[d])); K > 1: g hidden",
	  RINGS, allreduce_ring },
	{ "allreduce-doubling", ANG_COLL_ALLREDUCE, ANG_ALGO_RECURSIVE_DOUBLING, FORM_NONE,
	  "log2 n (a + b m + g m)", GATHER, allreduce_doubling },
	{ "allreduce-rabenseifner", ANG_COLL_ALLREDUCE, ANG_ALGO_RABENSEIFNER, FORM_NONE,
	  "2 a log2 n + (2 b + g) m (n - 1) / n", GATHER, allreduce_halving },
	{ "allgather-ring", ANG_COLL_ALLGATHER, ANG_ALGO_RING, FORM_NONE,
	  "(n - 1) (a + b m)", GATHER, allgather_ring },
	{ "allgather-doubling", ANG_COLL_ALLGATHER, ANG_ALGO_RECURSIVE_DOUBLING, FORM_NONE,
	  STEPS, GATHER, allgather_steps },
	{ "allgather-doubling-exch", ANG_COLL_ALLGATHER, ANG_ALGO_RECURSIVE_DOUBLING,
	  FORM_EXCHANGE, STEPS " + a + b m", "from the steps", allgather_steps },
	{ "allgather-doubling-reorder", ANG_COLL_ALLGATHER, ANG_ALGO_RECURSIVE_DOUBLING,
	  FORM_REORDER, STEPS " + c n m", "from the steps", allgather_steps },
	{ "allgather-bruck", ANG_COLL_ALLGATHER, ANG_ALGO_BRUCK, FORM_NONE,
	  "a ceil(log2 n) + (n - 1) b m + c n m", GATHER, allgather_steps },
	{ "allgather-bruck-exch", ANG_COLL_ALLGATHER, ANG_ALGO_BRUCK, FORM_EXCHANGE,
	  "as allgather-bruck + a + b m", "from the steps", allgather_steps },
	{ "allgather-bruck-reorder", ANG_COLL_ALLGATHER, ANG_ALGO_BRUCK, FORM_REORDER,
	  "as allgather-bruck", "from the steps", allgather_steps },
	{ NULL, 0, 0, 0, NULL, NULL, NULL },
};

const struct way *need_way(const char *name)
{
	const struct way *w;

	for (w = ways; w->name; w++)
		if (!strcmp(w->name, name))
			return w;
	exit(misuse("unknown algorithm '%s': see angara-algo list", name));
}
