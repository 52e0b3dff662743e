// SPDX-License-Identifier: GPL-2.0-only
/* angaractl route: routes between nodes, around links that are down. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "angaractl.h"

/* A device of the fabric, which takes all rows, or NO_DEV. */
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
	return ctl_call(nl, msg, NULL) ? fail("routes: %s", nl->error) : DONE;
}

static int give_rows(struct nl *nl, const struct fabric *fabric, uint32_t dev)
{
	const struct about about = { .has_dev = true, .dev = dev };
	size_t size = 2 * (size_t)fabric->ports + fabric->nodes;
	void *row = need_memory(size, 1);
	int status = DONE;

	for (uint32_t r = 0; !status && r < fabric->routers; r++) {
		struct nl_msg *msg = ctl_request(nl, ANGARA_CMD_ROUTE_SET, &about);
		int bytes = angara_fabric_row(fabric->around, r, row, size);
		char name[ROUTER_NAME];

		ctl_put_u32(&msg, ANGARA_A_ROUTE_ID, r);
		ctl_put_bytes(&msg, ANGARA_A_ROUTE_ROW, row, bytes > 0 ? bytes : 0);
		if (ctl_call(nl, msg, NULL))
			status = fail("routes of %s: %s", fabric_router(fabric, r, name),
				      nl->error);
	}
	free(row);
	return status;
}

/* Reports the routes around links that are down. */
static void report(const struct fabric *fabric, const char *verb)
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

static int plan(struct nl *nl, struct fabric *fabric, uint32_t dev)
{
	int status = fabric_avoid(nl, fabric);

	(void)dev;
	if (status)
		return status;
	if (fabric->around)
		report(fabric, "can avoid");
	else
		puts("no link is down");
	return DONE;
}

static int repair(struct nl *nl, struct fabric *fabric, uint32_t dev)
{
	int status = fabric_avoid(nl, fabric);

	if (!status && fabric->around)
		status = give_rows(nl, fabric, dev);
	if (!status)
		status = use_routes(nl, dev, fabric->around);
	if (status)
		return status;
	if (fabric->around)
		report(fabric, "avoid");
	else
		puts("no link is down: the routes are those of the topology");
	return DONE;
}

static int restore(struct nl *nl, struct fabric *fabric, uint32_t dev)
{
	int status = use_routes(nl, dev, false);

	(void)fabric;
	if (!status)
		puts("the routes are those of the topology");
	return status;
}

static int on_fabric(struct args *args,
		     int (*run)(struct nl *nl, struct fabric *fabric, uint32_t dev))
{
	struct about about = { 0 };
	struct fabric fabric;
	struct nl nl;
	int status = args_filter(args, &about);

	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = fabric_find(&nl, &about, &fabric);
	if (!status) {
		status = run(&nl, &fabric, any_dev(&fabric));
		fabric_free(&fabric);
	}
	ctl_stop(&nl);
	return status;
}

static int route_plan(struct args *args)
{
	return on_fabric(args, plan);
}

static int route_repair(struct args *args)
{
	return on_fabric(args, repair);
}

static int route_restore(struct args *args)
{
	return on_fabric(args, restore);
}

static const struct command commands[] = {
	{ "plan", "[fabric ID]", "show what repair would change", route_plan, 0 },
	{ "repair", "[fabric ID]", "lead routes between nodes around links that are down",
	  route_repair, 0 },
	{ "restore", "[fabric ID]", "use the routes of the topology again", route_restore, 0 },
};

const struct object route_object = {
	"route", "routes between nodes", commands, ARRAY_SIZE(commands),
};
