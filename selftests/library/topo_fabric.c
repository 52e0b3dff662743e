// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fabrics of all kinds: routes of every pair of 1600 modules, trees from every
 * root over all and some nodes, metrics compared with independent computations.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo_test.h"

static const char * const small[] = {
	"torus:4x4x2", "torus:2x2x2x2x2x2", "torus:16", "torus:5x3x2", "mesh:4x4x2",
	"hypercube:5", "mkns:8x4", "mkns:4x4x4", "mkns:2x13,ports=6", "kns:4x4",
	"kns:20x2", "fattree:4,4", "fattree:8,2", "fattree:6,3,nodes=17",
};

static const char * const large[] = {
	"mkns:8x10x10", "torus:8x8x5x5", "torus:5x5x4x2x2x2",
	"fattree:40,3,nodes=1600", "hypercube:10", "mesh:40x40", "kns:20x20x2",
};

/* A ring of switches with two nodes each: shortest paths would deadlock. */
static const char ring[] =
	"graph ring\nswitch a\nswitch b\nswitch c\nswitch d\nswitch e\n"
	"node n0\nnode n1\nnode n2\nnode n3\nnode n4\nnode n5\nnode n6\nnode n7\n"
	"node n8\nnode n9\na:0 b:1\nb:0 c:1\nc:0 d:1\nd:0 e:1\ne:0 a:1\n"
	"n0:0 a:2\nn1:0 a:3\nn2:0 b:2\nn3:0 b:3\nn4:0 c:2\nn5:0 c:3\nn6:0 d:2\n"
	"n7:0 d:3\nn8:0 e:2\nn9:0 e:3\n";

static u32 promised(const struct ang_topo *t, const u16 *from, const u16 *to)
{
	u32 half = t->switch_ports / 2U;
	u32 sum = 0;
	u32 d;

	for (d = 0; d < t->ndims; d++) {
		u32 way = from[d] > to[d] ? from[d] - to[d] : to[d] - from[d];

		if (!way)
			continue;
		switch (t->kind) {
		case ANG_TOPO_TORUS:
			sum += 2 * way > t->dims[d] ? t->dims[d] - way : way;
			break;
		case ANG_TOPO_MESH:
			sum += way;
			break;
		case ANG_TOPO_HYPERCUBE:
			sum += (u32)__builtin_popcount(from[d] ^ to[d]);
			break;
		case ANG_TOPO_FATTREE:
			return 2U * (t->levels - d);
		default:
			if (t->kind == ANG_TOPO_MKNS && !d)
				sum++;
			else if (t->dims[d] <= t->switch_ports ||
				 from[d] / half == to[d] / half)
				sum += 2;
			else
				sum += 4;
		}
	}
	return sum;
}

static bool routes_of(const char *text)
{
	struct angara_fabric *f = make(text);
	u16 from[ANG_TOPO_DIMS], to[ANG_TOPO_DIMS];
	bool good = true;
	u32 a, b;

	for (a = 0; a < f->topo.nodes && good; a++) {
		angara_fabric_digits(f, a, from);
		for (b = 0; b < f->topo.nodes && good; b++) {
			u32 in = ANGARA_PORT_NONE, at = a, steps = 0, most;

			angara_fabric_digits(f, b, to);
			most = promised(&f->topo, from, to);
			while (at != b && steps <= most) {
				u32 out = angara_fabric_route(f, at, b);

				if (!ang_topo_turn(&f->topo, at, in, out))
					break;
				at = angara_fabric_peer(f, at, out, &in);
				steps++;
			}
			good = at == b && steps == most &&
			       angara_fabric_route(f, b, b) == ANG_NONE;
			if (!good)
				printf("# %s: %u to %u: at %u after %u of %u\n", text,
				       a, b, at, steps, most);
		}
	}
	angara_fabric_close(f);
	return good;
}

/* Rows agree, make allowed turns, and reach exactly the participants. */
static bool tree_holds(const struct angara_fabric *f, u32 root, const u16 *pe,
		       const struct angara_tree_row *rows, int count)
{
	int found = 0;
	u32 i;

	for (i = 0; i < f->topo.routers; i++) {
		u32 at = i, in = ANGARA_PORT_NONE, steps = 0;
		u64 set;

		if (i < f->topo.nodes && pe[i] && !angara_tree_has(&rows[i]))
			return false;
		if (!angara_tree_has(&rows[i]))
			continue;
		found++;
		if (rows[i].pe != (i < f->topo.nodes ? pe[i] : 0) ||
		    (!rows[i].pe && !rows[i].ports && i != root) ||
		    rows[i].is_root != (i == root) ||
		    __builtin_popcountll(rows[i].ports) != rows[i].port_sum)
			return false;
		for (set = rows[i].ports; set; set &= set - 1) {
			u32 port = (u32)__builtin_ctzll(set), far;
			u32 to = ang_topo_peer(&f->topo, i, port, &far);

			if (to == ANG_NONE || rows[to].to_root != far ||
			    port == rows[i].to_root ||
			    !ang_topo_turn(&f->topo, i, rows[i].is_root ?
					   ANGARA_PORT_NONE : rows[i].to_root, port))
				return false;
		}
		for (; at != root && steps <= f->topo.routers; steps++)
			at = ang_topo_peer(&f->topo, at, rows[at].to_root, &in);
		if (at != root)
			return false;
	}
	return found == count;
}

static bool trees_of(const char *text)
{
	struct angara_fabric *f = make(text);
	struct angara_tree_row *rows = calloc(f->topo.routers, sizeof(*rows));
	u16 *pe = calloc(f->topo.nodes, sizeof(*pe));
	u32 seed = 1, root, round, i;
	bool good = true;

	for (root = 0; root < f->topo.nodes && good; root++)
		for (round = 0; round < 4 && good; round++) {
			struct angara_tree_cost cost = { .size = sizeof(cost) };
			int count;

			for (i = 0; i < f->topo.nodes; i++) {
				seed = seed * 1103515245 + 12345;
				pe[i] = !round || seed >> 16 & (1U << (round - 1));
			}
			pe[(root + round) % f->topo.nodes] = 3;
			count = angara_fabric_tree(f, root, pe, NULL, rows);
			good = count > 0 && tree_holds(f, root, pe, rows, count) &&
			       !angara_fabric_cost(f, rows, NULL, &cost) &&
			       cost.cables == (u32)count - 1;
			if (!good)
				printf("# %s: root %u, round %u\n", text, root, round);
		}
	free(rows);
	free(pe);
	angara_fabric_close(f);
	return good;
}

/*
 * Diameter of the smallest tree over @nodes nodes, whose centre is a router or a
 * cable.  @d: distances between @n routers.
 */
static u32 smallest_tree(const u32 *d, u32 n, u32 nodes)
{
	u32 a, b, c, tree = ANG_NONE;

	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++) {
			u32 far = 0;

			if (d[a * n + b] > 1)
				continue;
			for (c = 0; c < nodes; c++) {
				u32 near = d[a * n + c] < d[b * n + c] ?
					   d[a * n + c] : d[b * n + c];

				if (near > far)
					far = near;
			}
			if (2 * far + (a != b) < tree)
				tree = 2 * far + (a != b);
		}
	return tree;
}

/*
 * Compares metrics with distances by Floyd and Warshall, with degrees, and with
 * the smallest tree by its definition.
 */
static bool measures_of(const char *text)
{
	struct angara_fabric *f = make(text);
	struct angara_fabric_metrics m = { .size = sizeof(m) };
	u32 n = f->topo.routers, nodes = f->topo.nodes;
	u32 *d = malloc((size_t)n * n * sizeof(*d));
	u32 a, b, c, p, diameter = 0, cables = 0, tree, least = ANG_NONE;
	double sum = 0;
	bool good;

	for (a = 0; a < n * n; a++)
		d[a] = a / n == a % n ? 0 : 100000;
	for (a = 0; a < n; a++) {
		for (p = 0; p < f->topo.nports; p++) {
			b = ang_topo_peer(&f->topo, a, p, NULL);
			if (b == ANG_NONE)
				continue;
			d[a * n + b] = 1;
			cables++;
		}
		if (a && a < nodes && angara_fabric_flow(f, 0, a) < least)
			least = (u32)angara_fabric_flow(f, 0, a);
	}
	for (c = 0; c < n; c++)
		for (a = 0; a < n; a++)
			for (b = 0; b < n; b++)
				if (d[a * n + c] + d[c * n + b] < d[a * n + b])
					d[a * n + b] = d[a * n + c] + d[c * n + b];
	for (a = 0; a < nodes; a++)
		for (b = 0; b < nodes; b++) {
			sum += d[a * n + b];
			if (d[a * n + b] > diameter)
				diameter = d[a * n + b];
		}
	tree = smallest_tree(d, n, nodes);
	good = !angara_fabric_measure(f, &m) && m.diameter == diameter &&
	       2 * m.cables == cables && m.joined == cables && m.tree_diameter == tree &&
	       m.connectivity == least && m.switches == n - nodes &&
	       (nodes > 16) == !m.bisection;
	sum /= (double)nodes * (nodes - 1);
	good = good && m.distance > sum - 1e-9 && m.distance < sum + 1e-9;
	if (!good)
		printf("# %s: %u %u, %u %u, %u %u, %u %u, %f %f\n", text, m.diameter,
		       diameter, m.cables, cables / 2, m.tree_diameter, tree,
		       m.connectivity, least, m.distance, sum);
	free(d);
	angara_fabric_close(f);
	return good;
}

static bool every(bool (*test)(const char *), const char *const *texts, size_t n)
{
	bool good = true;

	while (n-- > 0)
		good &= test(texts[n]);
	return good;
}

static u32 halves(const char *text)
{
	struct angara_fabric_metrics m = { .size = sizeof(m) };
	struct angara_fabric *f = make(text);

	angara_fabric_measure(f, &m);
	angara_fabric_close(f);
	return m.bisection;
}

/*
 * Tests known bisections: complete graphs, rings, meshes, cubes; with switches
 * in between.
 */
static bool known_halves(void)
{
	return halves("mkns:8") == 16 && halves("torus:7") == 2 && halves("mesh:4x4") == 4 &&
	       halves("hypercube:4") == 8 && halves("kns:6") == 3 &&
	       halves("fattree:4,3") == 4 && halves("torus:2x2x2") == 8 &&
	       halves(ring) == 3;	/* two of the ring, one to a node */
}

/* Tests known cuts: a bridge, and a node that has one cable. */
static bool known_cuts(void)
{
	struct angara_fabric *f = make(ring);
	/* switches are numbered after the ten nodes */
	bool good = angara_fabric_flow(f, 10, 12) == 2 && angara_fabric_flow(f, 0, 5) == 1 &&
		    angara_fabric_flow(f, 0, 0) == -EINVAL;

	angara_fabric_close(f);
	f = make("fattree:40,2,nodes=160");
	good = good && angara_fabric_flow(f, 160, 161) == 20;
	angara_fabric_close(f);
	return good;
}

/* Cables between the routers in @set and the others. */
static u32 cut_of(const struct angara_fabric *f, u32 set)
{
	u32 cut = 0;
	u32 r, arc;

	for (r = 0; r < f->topo.routers; r++)
		for (arc = f->first[r]; set >> r & 1 && arc < f->first[r + 1]; arc++)
			cut += !(set >> f->to[arc] & 1);
	return cut;
}

/* Max-flow equals the minimum cut over all sets, on random graphs. */
static bool flows_are_cuts(void)
{
	/*
	 * The first graph has an augmenting path that goes back along an
	 * earlier one.
	 */
	u32 seed = 3681540135U, round, a, b, set, i;
	bool good = true;

	for (round = 0; round < 40 && good; round++) {
		char text[2048] = "graph chance\n";
		struct angara_fabric *f;
		u32 used[8] = { 0 };

		for (i = 0; i < 8; i++)
			sprintf(text + strlen(text), "node n%u\n", i);
		for (i = 0; i < 14; i++) {
			seed = seed * 1103515245 + 12345;
			a = i < 7 ? i + 1 : seed >> 16 & 7;
			b = i < 7 ? (seed >> 20) % a : seed >> 20 & 7;
			if (a != b)
				sprintf(text + strlen(text), "n%u:%u n%u:%u\n", a, used[a]++,
					b, used[b]++);
		}
		f = make(text);
		for (a = 0; a < 8; a++)
			for (b = 0; b < a; b++) {
				u32 least = ANG_NONE;

				for (set = 0; set < 256; set++)
					if (set >> a & 1 && !(set >> b & 1) &&
					    cut_of(f, set) < least)
						least = cut_of(f, set);
				good &= angara_fabric_flow(f, a, b) == least;
			}
		if (good)
			good = trees_of(text) && measures_of(text);
		if (!good)
			printf("# in round %u\n", round);
		angara_fabric_close(f);
	}
	return good;
}

static bool says(const char *text, const char *what)
{
	struct angara_fabric *f = NULL;
	char why[128] = "";
	int ret = angara_fabric_open(text, &f, why, sizeof(why));

	if (ret >= 0 || !strstr(why, what) || strchr(why, '\n'))
		printf("# '%s': %d, '%s'\n", text, ret, why);
	return ret < 0 && strstr(why, what) && !strchr(why, '\n');
}

static bool bad_texts(void)
{
	return says("ring:4", "unknown") & says("mkns:9x4", "dimension 1") &
	       says("torus:0", "sizes") & says("fattree:5,2", "even") &
	       says("file:/nonexistent/x", "No such file") &
	       says("graph g\nnode a\nnode b\na:0 a:1\n", "line 4: cable: is a loop") &
	       says("graph g\nnode a\nnode b\nnode c\na:0 b:0\nb:0 c:0\n",
		    "line 6: cable: a port is used twice") &
	       says("graph g\nnode a\nnode b\n", "line 3: router: cannot be reached");
}

static bool bad_trees(void)
{
	struct angara_fabric *f = make("torus:4");
	struct angara_tree_cost cost = { .size = 1 };
	struct angara_tree_row rows[4];
	u16 none[4] = { 0 }, many[4] = { 1, ANGARA_MAX_LOCAL + 1 };
	bool good = angara_fabric_tree(f, 0, none, NULL, rows) == -EINVAL &&
		    angara_fabric_tree(f, 0, many, NULL, rows) == -EINVAL &&
		    angara_fabric_root(f, none, NULL) == -EINVAL &&
		    angara_fabric_cost(f, rows, NULL, &cost) == -EINVAL;

	many[1] = 1;
	good = good && angara_fabric_tree(f, 4, many, NULL, rows) == -EINVAL;
	angara_fabric_close(f);
	return good;
}

/* The root of a line is its middle; among equally good nodes, a participant. */
static bool best_roots(void)
{
	struct angara_fabric *f = make("mesh:7");
	u16 pe[7] = { 1, 1, 1, 1, 1, 1, 1 };
	bool good = angara_fabric_root(f, pe, NULL) == 3;

	memset(pe, 0, sizeof(pe));
	pe[0] = pe[6] = 1;
	good = good && angara_fabric_root(f, pe, NULL) == 3;
	pe[2] = 1;
	good = good && angara_fabric_root(f, pe, NULL) == 3;
	angara_fabric_close(f);
	return good;
}

/*
 * A line of even length has two middles: the root is the one that is nearer to
 * more participants.
 */
static bool placed_roots(void)
{
	struct angara_fabric *f = make("mesh:8");
	u16 pe[8] = { 1, 1, 1, 1, 1, 1, 1, 2 };
	bool good = angara_fabric_root(f, pe, NULL) == 4;

	pe[0] = 16;
	good = good && angara_fabric_root(f, pe, NULL) == 3;
	angara_fabric_close(f);
	return good;
}

static u32 worst(const char *text, unsigned int trees, bool spread)
{
	struct angara_fabric *f = make(text);
	u32 n = f->topo.routers * f->topo.nports, most = 0, i;
	struct angara_tree_row *rows = calloc(f->topo.routers, sizeof(*rows));
	u16 *load = calloc(n, sizeof(*load)), *pe = calloc(f->topo.nodes, sizeof(*pe));

	for (i = 0; i < f->topo.nodes; i++)
		pe[i] = 1;
	while (trees-- > 0)
		angara_fabric_tree(f, spread ? (u32)angara_fabric_root(f, pe, load) : 0, pe,
				   load, rows);
	for (i = 0; i < n; i++)
		if (load[i] > most)
			most = load[i];
	free(rows);
	free(load);
	free(pe);
	angara_fabric_close(f);
	return most;
}

static bool little_overlap(void)
{
	return worst("torus:8x8", 4, false) == 4 && worst("torus:8x8", 4, true) < 4 &&
	       worst("fattree:8,2", 4, true) == 4 &&	/* a node of a fat tree has one cable */
	       worst("mkns:8x4", 4, true) == 3;
}

int main(void)
{
	const char *one[] = { ring };

	result(every(routes_of, small, sizeof(small) / sizeof(*small)),
	       "routes of small fabrics are as long as promised");
	result(every(routes_of, large, sizeof(large) / sizeof(*large)),
	       "routes of every pair of 1600 modules");
	result(every(trees_of, small, sizeof(small) / sizeof(*small)),
	       "trees from every root over all nodes and some");
	result(every(trees_of, one, 1), "trees of a ring of switches");
	result(every(measures_of, small, sizeof(small) / sizeof(*small)),
	       "measures are those of distances between all");
	result(every(measures_of, one, 1), "measures of a graph");
	result(known_halves(), "least halves of known graphs");
	result(known_cuts(), "least cuts of known graphs");
	result(flows_are_cuts(), "flows, trees, measures on graphs of chance");
	result(bad_texts(), "one line says what is wrong with a description");
	result(bad_trees(), "trees without participants, with too many, of wrong roots");
	result(best_roots(), "the root of the least deep tree");
	result(placed_roots(), "the root is near to most participants");
	result(little_overlap(), "several trees share few channels");
	printf("1..%u\n", tests);
	return failures != 0;
}
