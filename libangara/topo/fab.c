// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Fabrics of any topology: the public interface.  The device model
 * (driver/model) computes neighbours and routes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fab.h"
#include "text.h"

static int fab_lists(struct angara_fabric *f)
{
	u32 all = f->topo.routers * f->topo.nports;
	u32 *arc = malloc(all * sizeof(u32) + 1);
	u32 r, p, n = 0;

	f->first = malloc((f->topo.routers + 1) * sizeof(u32));
	f->to = malloc(all * sizeof(u32) + 1);
	f->port = malloc(all * sizeof(u32) + 1);
	f->back = malloc(all * sizeof(u32) + 1);
	if (!arc || !f->first || !f->to || !f->port || !f->back) {
		free(arc);
		return -ENOMEM;
	}
	for (r = 0; r < f->topo.routers; r++) {
		f->first[r] = n;
		for (p = 0; p < f->topo.nports; p++) {
			u32 to = ang_topo_peer(&f->topo, r, p, NULL);

			if (to == ANG_NONE)
				continue;
			arc[r * f->topo.nports + p] = n;
			f->port[n] = p;
			f->to[n++] = to;
		}
	}
	f->first[r] = n;
	for (r = 0; r < f->topo.routers; r++)
		for (n = f->first[r]; n < f->first[r + 1]; n++) {
			u32 far;

			ang_topo_peer(&f->topo, r, f->port[n], &far);
			f->back[n] = arc[f->to[n] * f->topo.nports + far];
		}
	free(arc);
	return 0;
}

static int fab_make(struct angara_fabric *f, const char *text, struct ang_topo_why *why)
{
	if (!ang_topo_read(&f->topo, text, why))
		return -EINVAL;
	f->table = malloc(ang_topo_table_size(&f->topo));
	if (!f->table)
		return -ENOMEM;
	if (!ang_topo_fill(&f->topo, text, f->table, why))
		return -EINVAL;
	return fab_lists(f);
}

ANG_PUBLIC int angara_fabric_open(const char *text, struct angara_fabric **fabric,
				  char *why, size_t size)
{
	struct angara_fabric *f = calloc(1, sizeof(*f));
	const char *path = strncmp(text, "file:", 5) ? NULL : text + 5;
	struct ang_topo_why wrong = { .what = NULL };
	char *loaded = NULL;
	int ret = f ? 0 : -ENOMEM;

	if (!ret && path) {
		ret = ang_text_load(path, &loaded);
		text = loaded;
	}
	if (!ret)
		ret = fab_make(f, text, &wrong);
	free(loaded);
	if (ret && why && size) {
		if (!wrong.what)
			snprintf(why, size, "%s", strerror(-ret));
		else if (wrong.line)
			snprintf(why, size, "line %u: %s", wrong.line, wrong.what);
		else
			snprintf(why, size, "%s", wrong.what);
	}
	if (ret) {
		angara_fabric_close(f);
		return ret;
	}
	*fabric = f;
	return 0;
}

ANG_PUBLIC void angara_fabric_close(struct angara_fabric *fabric)
{
	if (!fabric)
		return;
	free(fabric->table);
	free(fabric->first);
	free(fabric->to);
	free(fabric->port);
	free(fabric->back);
	free(fabric->failed);
	free(fabric->around);
	free(fabric->height);
	free(fabric);
}

ANG_PUBLIC uint32_t angara_fabric_nodes(const struct angara_fabric *fabric)
{
	return fabric->topo.nodes;
}

ANG_PUBLIC uint32_t angara_fabric_routers(const struct angara_fabric *fabric)
{
	return fabric->topo.routers;
}

ANG_PUBLIC uint32_t angara_fabric_ports(const struct angara_fabric *fabric)
{
	return fabric->topo.nports;
}

ANG_PUBLIC uint32_t angara_fabric_peer(const struct angara_fabric *fabric,
				       uint32_t router, uint32_t port, uint32_t *far)
{
	if (router >= fabric->topo.routers)
		return ANG_NONE;
	return ang_topo_peer(&fabric->topo, router, port, far);
}

ANG_PUBLIC uint32_t angara_fabric_route(const struct angara_fabric *fabric,
					uint32_t router, uint32_t node)
{
	u32 port;

	if (router >= fabric->topo.routers || node >= fabric->topo.nodes)
		return ANG_NONE;
	port = fab_route(fabric, router, node);
	return port == ANGARA_PORT_NONE ? ANG_NONE : port;
}

ANG_PUBLIC unsigned int angara_fabric_digits(const struct angara_fabric *fabric,
					     uint32_t node,
					     uint16_t digits[ANGARA_FABRIC_DIGITS])
{
	static_assert(ANGARA_FABRIC_DIGITS == ANG_TOPO_DIMS, "one number");

	if (node >= fabric->topo.nodes)
		return 0;
	ang_topo_coord(&fabric->topo, node, digits);
	return fabric->topo.ndims;
}

ANG_PUBLIC uint32_t angara_fabric_keeper(const struct angara_fabric *fabric,
					 uint32_t router)
{
	return router < fabric->topo.routers ?
	       ang_topo_keeper(&fabric->topo, router) : ANG_NONE;
}
