// SPDX-License-Identifier: GPL-2.0-only
/* angara-topo: halves of a large graph, by METIS if it is installed. */
#include <stdlib.h>

#include "topo.h"

#ifdef ANG_HAVE_METIS
#include <metis.h>

#define TRIES	4	/* seeds with which METIS is tried */

/**
 * struct halves - a graph in two parts
 * @f: fabric
 * @half: part of each router, 0 or 1
 * @start: index in @to of a router's first peer
 * @to: peers
 */
struct halves {
	const struct angara_fabric *f;
	idx_t *half;
	idx_t *start;
	idx_t *to;
};

/* Return: number of cables by which the cut grows if a router moves to the other part. */
static int64_t growth(const struct halves *h, uint32_t router)
{
	int64_t sum = 0;
	idx_t i;

	for (i = h->start[router]; i < h->start[router + 1]; i++)
		sum += h->half[h->to[i]] == h->half[router] ? 1 : -1;
	return sum;
}

/*
 * Moves nodes until both parts have the same number, or differ by one. METIS
 * returns approximate halves.
 */
static void balance(const struct halves *h)
{
	uint32_t nodes = angara_fabric_nodes(h->f), routers = angara_fabric_routers(h->f);
	uint32_t count[2] = { 0, 0 };
	bool moved = true;
	uint32_t i;

	for (i = 0; i < nodes; i++)
		count[h->half[i]]++;
	while (count[0] > count[1] + 1 || count[1] > count[0] + 1) {
		idx_t large = count[1] > count[0];
		uint32_t best = UINT32_MAX;

		for (i = 0; i < nodes; i++)
			if (h->half[i] == large &&
			    (best == UINT32_MAX || growth(h, i) < growth(h, best)))
				best = i;
		h->half[best] = !large;
		count[large]--;
		count[!large]++;
	}
	/* Moves switches to the part in which they cut fewer cables. */
	while (moved) {
		moved = false;
		for (i = nodes; i < routers; i++)
			if (growth(h, i) < 0) {
				h->half[i] = !h->half[i];
				moved = true;
			}
	}
}

static uint32_t count_cut(const struct halves *h)
{
	uint32_t cut = 0;
	uint32_t router;
	idx_t i;

	for (router = 0; router < angara_fabric_routers(h->f); router++)
		for (i = h->start[router]; i < h->start[router + 1]; i++)
			cut += h->half[router] < h->half[h->to[i]];
	return cut;
}

/* Splits a graph in which nodes weigh 1 and switches nothing; METIS may miss the best cut. */
uint32_t metis_halves(const struct angara_fabric *f)
{
	idx_t count = (idx_t)angara_fabric_routers(f), one = 1, two = 2, cut = 0;
	uint32_t ports = angara_fabric_ports(f), best = 0;
	struct halves h = {
		.f = f,
		.half = need_memory((size_t)count, sizeof(idx_t)),
		.start = need_memory((size_t)count + 1, sizeof(idx_t)),
		.to = need_memory((size_t)count * ports, sizeof(idx_t)),
	};
	idx_t *weight = need_memory((size_t)count, sizeof(*weight));
	idx_t options[METIS_NOPTIONS];
	uint32_t router, port;
	idx_t n = 0;

	for (router = 0; router < (uint32_t)count; router++) {
		h.start[router] = n;
		weight[router] = router < angara_fabric_nodes(f);
		for (port = 0; port < ports; port++) {
			uint32_t peer = angara_fabric_peer(f, router, port, NULL);

			if (peer != UINT32_MAX)
				h.to[n++] = (idx_t)peer;
		}
	}
	h.start[router] = n;
	METIS_SetDefaultOptions(options);
	options[METIS_OPTION_UFACTOR] = 1;
	for (n = 0; n < TRIES; n++) {
		options[METIS_OPTION_SEED] = n + 1;
		if (METIS_PartGraphRecursive(&count, &one, h.start, h.to, weight, NULL,
					     NULL, &two, NULL, NULL, options, &cut,
					     h.half) != METIS_OK)
			break;
		balance(&h);
		if (!best || count_cut(&h) < best)
			best = count_cut(&h);
	}
	free(h.start);
	free(h.to);
	free(h.half);
	free(weight);
	return best;
}
#else
uint32_t metis_halves(const struct angara_fabric *f)
{
	(void)f;
	return 0;
}
#endif
