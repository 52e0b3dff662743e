// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The torus: the public interface.  The device model (driver/model) does the
 * arithmetic.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

ANG_PUBLIC int angara_topo_parse(const char *text, struct angara_topo *topo)
{
	struct angara_topo t = { .ndims = 0 };
	struct ang_topo model;

	t.ndims = ang_topo_parse(text, t.dims, ANGARA_MAX_DIMS);
	if (!t.ndims)
		return -EINVAL;
	if (!ang_topo_from(&model, &t))
		return -E2BIG;
	*topo = t;
	return 0;
}

ANG_PUBLIC int angara_topo_read(const char *text, struct angara_topo *topo)
{
	static const char torus[] = "torus:";
	char sizes[ANG_TOPO_TEXT];
	size_t n;

	if (strncmp(text, torus, sizeof(torus) - 1) != 0)
		return -EOPNOTSUPP;
	text += sizeof(torus) - 1;
	n = strcspn(text, "\n");
	if (n >= sizeof(sizes))
		return -EINVAL;
	memcpy(sizes, text, n);
	sizes[n] = 0;
	return angara_topo_parse(sizes, topo);
}

ANG_PUBLIC uint32_t angara_topo_nodes(const struct angara_topo *topo)
{
	struct ang_topo t;

	return ang_topo_from(&t, topo);
}

ANG_PUBLIC void angara_topo_coord(const struct angara_topo *topo, uint32_t node,
				  uint16_t coord[ANGARA_MAX_DIMS])
{
	struct ang_topo t;

	memset(coord, 0, ANGARA_MAX_DIMS * sizeof(*coord));
	if (ang_topo_from(&t, topo))
		ang_topo_coord(&t, node, coord);
}

ANG_PUBLIC uint32_t angara_topo_node(const struct angara_topo *topo,
				     const uint16_t coord[ANGARA_MAX_DIMS])
{
	struct ang_topo t;

	return ang_topo_from(&t, topo) ? ang_topo_node(&t, coord) : ANG_NONE;
}

ANG_PUBLIC uint32_t angara_topo_neighbor(const struct angara_topo *topo,
					 uint32_t node, unsigned int dir)
{
	struct ang_topo t;

	return ang_topo_from(&t, topo) ? ang_topo_neighbor(&t, node, dir) : ANG_NONE;
}

ANG_PUBLIC uint32_t angara_topo_distance(const struct angara_topo *topo,
					 uint32_t a, uint32_t b)
{
	u16 from[ANGARA_MAX_DIMS], to[ANGARA_MAX_DIMS];
	struct ang_topo t;
	u32 sum = 0;
	u32 d;

	if (!ang_topo_from(&t, topo))
		return ANG_NONE;
	ang_topo_coord(&t, a, from);
	ang_topo_coord(&t, b, to);
	for (d = 0; d < t.ndims; d++) {
		u32 way = from[d] > to[d] ? from[d] - to[d] : to[d] - from[d];
		u32 round = t.dims[d] - way;

		sum += way < round ? way : round;
	}
	return sum;
}

ANG_PUBLIC const char *angara_dir_name(unsigned int dir)
{
	static const char names[ANG_MAX_DIRS][3] = {
		"X+", "X-", "Y+", "Y-", "Z+", "Z-", "W+", "W-",
	};

	return dir < ANG_MAX_DIRS ? names[dir] : "-";
}
