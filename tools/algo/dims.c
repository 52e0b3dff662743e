// SPDX-License-Identifier: GPL-2.0-only
/* angara-algo: choice of the sizes of two dimensions. */
#include "tool.h"

/**
 * choose_dims() - find the sizes of two dimensions with the shortest time
 * @j: collective; this function sets its sizes: n and 1 if no other sizes are faster
 * @s: system
 *
 * The publication on cyclic forwarding has a rule for messages that are not combined
 * asynchronously: r[1] is as small as possible if 2 b + g is greater along dimension 1, and as
 * large as possible otherwise. The formula also counts the number of messages.
 */
void choose_dims(struct job *j, const struct levels *s)
{
	u32 n = s->ranks, best = n, r;
	double least, t;

	j->args.ndims = 2;
	j->dims[0] = n;
	j->dims[1] = 1;
	least = j->way->time(j, s);
	for (r = 2; r < n; r++) {
		if (n % r)
			continue;
		j->dims[0] = r;
		j->dims[1] = n / r;
		t = j->way->time(j, s);
		if (t < least) {
			least = t;
			best = r;
		}
	}
	j->dims[0] = best;
	j->dims[1] = n / best;
}
