// SPDX-License-Identifier: GPL-2.0-only
/* angaractl route: routes between nodes, around links that are down. */

#include <stdio.h>

#include "angaractl.h"

static int plan(struct nl *nl, struct fabric *fabric)
{
	int status = fabric_avoid(nl, fabric);

	if (status)
		return status;
	if (fabric->around)
		fabric_routes_say(fabric, "can avoid");
	else
		puts("no link is down");
	return DONE;
}

static int reroute(struct nl *nl, struct fabric *fabric)
{
	return fabric_reroute(nl, fabric) ? fail("routes: %s", nl->error) : DONE;
}

static int repair(struct nl *nl, struct fabric *fabric)
{
	int status = fabric_avoid(nl, fabric);

	if (!status)
		status = reroute(nl, fabric);
	if (status)
		return status;
	if (fabric->around)
		fabric_routes_say(fabric, "avoid");
	else
		puts("no link is down: the routes are those of the topology");
	return DONE;
}

static int restore(struct nl *nl, struct fabric *fabric)
{
	int status = reroute(nl, fabric);

	if (!status)
		puts("the routes are those of the topology");
	return status;
}

static int on_fabric(struct args *args,
		     int (*run)(struct nl *nl, struct fabric *fabric))
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
		status = run(&nl, &fabric);
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
