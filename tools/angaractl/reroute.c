// SPDX-License-Identifier: GPL-2.0-only
/* Routes of a fabric around links that are down; angara-fm uses this file, too. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "angaractl.h"

/* Return: some device of the fabric, since each takes the rows of all routers; or NO_DEV. */
static uint32_t any_dev(const struct fabric *fabric)
{
	for (uint32_t n = 0; n < fabric->nodes; n++)
		if (fabric->dev[n] != NO_DEV)
			return fabric->dev[n];
	return NO_DEV;
}

static int use_routes(struct nl *nl, uint32_t dev, bool table)
{
	const struct about about = { .has_dev = true, .dev = dev };
	struct nl_msg *msg = ctl_request(nl, ANGARA_CMD_ROUTE_SET, &about);

	ctl_put_u8(&msg, ANGARA_A_ROUTE_USE, table);
	return ctl_call(nl, msg, NULL);
}

/* Sends all rows of a new table to @dev.  @router: out: router of a row that is refused */
static int give_rows(struct nl *nl, const struct fabric *fabric, uint32_t dev,
		     uint32_t *router)
{
	const struct about about = { .has_dev = true, .dev = dev };
	size_t size = 2 * (size_t)fabric->ports + fabric->nodes;
	void *row = need_memory(size, 1);
	int ret = 0;

	for (uint32_t r = 0; !ret && r < fabric->routers; r++) {
		struct nl_msg *msg = ctl_request(nl, ANGARA_CMD_ROUTE_SET, &about);
		int bytes = angara_fabric_row(fabric->around, r, row, size);

		ctl_put_u32(&msg, ANGARA_A_ROUTE_ID, r);
		ctl_put_bytes(&msg, ANGARA_A_ROUTE_ROW, row, bytes > 0 ? bytes : 0);
		ret = ctl_call(nl, msg, NULL);
		if (ret)
			*router = r;
	}
	free(row);
	return ret;
}

/**
 * fabric_reroute() - change the routes between nodes
 * @nl: socket for requests
 * @fabric: fabric from fabric_find().  If fabric_avoid() has found links that are
 *	down, the routes lead around them; else they are those of the topology
 *
 * Return: 0; -errno with nl->error: -EBUSY another device is changing the routes,
 * -EOPNOTSUPP the adapter does not allow it.
 */
int fabric_reroute(struct nl *nl, const struct fabric *fabric)
{
	uint32_t dev = any_dev(fabric), router;
	char name[ROUTER_NAME], error[sizeof(nl->error)];
	int ret;

	if (!fabric->around)
		return use_routes(nl, dev, false);
	ret = give_rows(nl, fabric, dev, &router);
	if (!ret)
		return use_routes(nl, dev, true);
	snprintf(error, sizeof(error), "%s", nl->error);
	snprintf(nl->error, sizeof(nl->error), "row of %s: %.150s",
		 fabric_router(fabric, router, name), error);
	return ret;
}

/**
 * fabric_routes_say() - print a line about the routes around links that are down
 * @fabric: fabric, after fabric_avoid()
 * @verb: "avoid" or "can avoid"
 */
void fabric_routes_say(const struct fabric *fabric, const char *verb)
{
	const struct angara_detours *d = &fabric->detours;

	printf("%u link%s down: the routes %s %s", fabric->down,
	       fabric->down == 1 ? " is" : "s are", verb,
	       fabric->down == 1 ? "it" : "them");
	printf(d->updown ? ", all of them up*down*\n" : ", %llu entries of tables change\n",
	       (unsigned long long)d->changed);
	if (d->lost)
		warn("%llu pairs of nodes have no route", (unsigned long long)d->lost);
}
