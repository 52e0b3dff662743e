// SPDX-License-Identifier: GPL-2.0-only
/* Plans of trees: arguments, and results as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <angara/topo.h>
#include <linux/angara_queue.h>

#include "plan.h"

#define PART	32	/* most bytes of one item of a list of nodes */

/* Reads a number from @least to @most; nothing may follow it in the text. */
static bool plan_number(const char *text, uint32_t least, uint32_t most,
			uint32_t *value)
{
	unsigned long number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	*value = (uint32_t)number;
	return !errno && !*end && number >= least && number <= most;
}

/* Parses an item of a list, such as 4-7:2: nodes 4 to 7, 2 participants each. */
static bool plan_part(const struct angara_fabric *fabric, char *part,
		      uint32_t local, uint16_t *pe, char *why, size_t size)
{
	uint32_t most = angara_fabric_nodes(fabric) - 1;
	char *colon = strchr(part, ':'), *dash;
	uint32_t first, last;

	if (colon) {
		*colon++ = 0;
		if (!plan_number(colon, 1, ANGARA_MAX_LOCAL, &local)) {
			snprintf(why, size, "'%s' participants: must be from 1 to %u",
				 colon, ANGARA_MAX_LOCAL);
			return false;
		}
	}
	dash = strchr(part, '-');
	if (dash)
		*dash++ = 0;
	if (!plan_number(part, 0, most, &first) ||
	    !plan_number(dash ? dash : part, 0, most, &last)) {
		snprintf(why, size, "'%s': must be a node from 0 to %u",
			 plan_number(part, 0, most, &first) ? dash : part, most);
		return false;
	}
	if (last < first) {
		snprintf(why, size, "range %u-%u is empty", first, last);
		return false;
	}
	for (; first <= last; first++)
		pe[first] = (uint16_t)local;
	return true;
}

bool plan_members(const struct angara_fabric *fabric, const char *list,
		  uint32_t local, uint16_t *pe, char *why, size_t size)
{
	uint32_t i;

	for (i = 0; !strcmp(list, "all") && i < angara_fabric_nodes(fabric); i++)
		pe[i] = (uint16_t)local;
	if (i)
		return true;
	for (;;) {
		size_t len = strcspn(list, ",");
		char part[PART];

		if (len >= sizeof(part)) {
			snprintf(why, size, "'%.20s...': must be numbers and ranges, as in 0,4-7",
				 list);
			return false;
		}
		memcpy(part, list, len);
		part[len] = 0;
		if (!plan_part(fabric, part, local, pe, why, size))
			return false;
		if (!list[len])
			return true;
		list += len + 1;
	}
}

/* Reads numbers joined by commas.  Return: their count; 0: not such a list. */
static unsigned int plan_digits(const char *text, uint16_t *digits)
{
	unsigned int n = 0;
	char *end;

	for (;; text = end + 1) {
		unsigned long value = strtoul(text, &end, 10);

		if (*text < '0' || *text > '9' || value > UINT16_MAX ||
		    n == ANGARA_FABRIC_DIGITS)
			return 0;
		digits[n++] = (uint16_t)value;
		if (*end != ',')
			return *end ? 0 : n;
	}
}

bool plan_node(const struct angara_fabric *fabric, const char *text, uint32_t *node)
{
	uint16_t want[ANGARA_FABRIC_DIGITS], has[ANGARA_FABRIC_DIGITS];
	uint32_t nodes = angara_fabric_nodes(fabric);
	unsigned int n;

	if (!strchr(text, ','))
		return plan_number(text, 0, nodes - 1, node);
	n = plan_digits(text, want);
	for (*node = 0; n && *node < nodes; ++*node)
		if (angara_fabric_digits(fabric, *node, has) == n &&
		    !memcmp(want, has, n * sizeof(*want)))
			return true;
	return false;
}

int plan_goal(const char *text)
{
	if (!strcmp(text, "depth"))
		return ANGARA_PLAN_DEPTH;
	return strcmp(text, "load") ? -1 : ANGARA_PLAN_LOAD;
}

const char *plan_router(const struct angara_fabric *fabric, uint32_t router)
{
	static char text[2][80];
	static int which;
	char *at = text[which ^= 1];
	uint16_t digits[ANGARA_FABRIC_DIGITS];
	unsigned int n = angara_fabric_digits(fabric, router, digits);
	unsigned int i;
	int len;

	if (!n) {
		snprintf(at, sizeof(text[0]), "s%u",
			 router - angara_fabric_nodes(fabric));
		return at;
	}
	len = snprintf(at, sizeof(text[0]), "%u", router);
	for (i = 0; n > 1 && i < n; i++)
		len += snprintf(at + len, sizeof(text[0]) - (size_t)len, "%s%u",
				i ? "," : " (", digits[i]);
	if (n > 1)
		snprintf(at + len, sizeof(text[0]) - (size_t)len, ")");
	return at;
}

static void add_text(json_object *row, const char *key, const char *text)
{
	json_object_object_add(row, key, json_object_new_string(text));
}

static void add_number(json_object *row, const char *key, uint64_t value)
{
	json_object_object_add(row, key, json_object_new_int64((int64_t)value));
}

static json_object *row_of(const struct angara_fabric *fabric, uint32_t router,
			   const struct angara_tree_row *row)
{
	json_object *o = json_object_new_object();
	char up[12], ports[256] = "";
	uint64_t set;

	for (set = row->ports; set; set &= set - 1)
		snprintf(ports + strlen(ports), sizeof(ports) - strlen(ports),
			 "%s%d", *ports ? "," : "", __builtin_ctzll(set));
	snprintf(up, sizeof(up), "%u", row->to_root);
	add_number(o, "tree", row->tree);
	add_text(o, "router", plan_router(fabric, router));
	add_number(o, "participants", row->pe);
	add_text(o, "up", row->is_root ? "root" : up);
	add_text(o, "down", *ports ? ports : "-");
	return o;
}

json_object *plan_rows(const struct angara_fabric *fabric,
		       const struct angara_plan *plan)
{
	json_object *all = json_object_new_array();
	uint32_t tree, i;

	for (tree = 0; tree < angara_plan_trees(plan); tree++) {
		const struct angara_tree_row *rows = angara_plan_rows(plan, tree);

		for (i = 0; i < angara_fabric_routers(fabric); i++)
			if (angara_tree_has(&rows[i]))
				json_object_array_add(all, row_of(fabric, i,
								  &rows[i]));
	}
	return all;
}

json_object *plan_costs(const struct angara_fabric *fabric,
			const struct angara_plan *plan)
{
	json_object *all = json_object_new_array();
	uint32_t tree;

	for (tree = 0; tree < angara_plan_trees(plan); tree++) {
		struct angara_tree_cost cost = { .size = sizeof(cost) };
		json_object *o = json_object_new_object();

		json_object_array_add(all, o);
		if (angara_plan_cost(plan, tree, &cost)) {
			json_object_put(all);
			return NULL;
		}
		add_number(o, "tree", tree);
		add_text(o, "root", plan_router(fabric,
						angara_plan_root(plan, tree)));
		add_number(o, "depth", cost.depth);
		add_number(o, "links", cost.cables);
		add_number(o, "transit", cost.transit);
		add_number(o, "children", cost.children);
		add_number(o, "load", cost.load);
	}
	return all;
}

static void add_us(json_object *row, const char *key, uint64_t ps)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", (double)ps / 1e6);
	json_object_object_add(row, key,
			       json_object_new_double_s((double)ps / 1e6, text));
}

json_object *plan_times(const struct angara_plan *plan, uint64_t bytes)
{
	uint32_t bcast = angara_plan_stripes(plan, ANGARA_OP_BCAST, bytes);
	uint32_t reduce = angara_plan_stripes(plan, ANGARA_OP_ALLREDUCE, bytes);
	json_object *all = json_object_new_array();
	uint32_t n;

	for (n = 1; n <= angara_plan_trees(plan); n++) {
		uint64_t down = angara_plan_time(plan, n, ANGARA_OP_BCAST, bytes);
		uint64_t both = angara_plan_time(plan, n, ANGARA_OP_ALLREDUCE,
						 bytes);
		json_object *o = json_object_new_object();

		json_object_array_add(all, o);
		if (!down || !both || !bcast || !reduce) {
			json_object_put(all);
			return NULL;
		}
		add_number(o, "trees", n);
		add_us(o, "broadcast us", down);
		add_us(o, "allreduce us", both);
		add_text(o, "best for", n == bcast && n == reduce ? "both" :
			 n == bcast ? "broadcast" :
			 n == reduce ? "allreduce" : "-");
	}
	return all;
}

json_object *plan_values(void)
{
	const struct angara_plan_value *v;
	json_object *all = json_object_new_array();

	for (v = angara_plan_values(); v->name; v++) {
		json_object *o = json_object_new_object();

		add_text(o, "parameter", v->name);
		add_number(o, "value", v->value);
		add_text(o, "unit", v->unit);
		add_text(o, "source", v->source);
		json_object_array_add(all, o);
	}
	return all;
}

char *plan_sources(void)
{
	static const struct {
		const char *source;
		const char *text;
	} kinds[] = {
		{ "given", "given by document 000" },
		{ "fitted", "fitted to one of its results" },
		{ "chosen", "chosen with knowledge of published results" },
		{ "free", "free" },
	};
	const struct angara_plan_value *v;
	size_t size, i;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("Times are expected on an idle fabric. Their parameters are", f);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *between = ": ";

		fprintf(f, "%s\n  %s", i ? ";" : "", kinds[i].text);
		for (v = angara_plan_values(); v->name; v++) {
			if (strcmp(v->source, kinds[i].source))
				continue;
			fprintf(f, "%s%s", between, v->name);
			between = ", ";
		}
	}
	fputs(".", f);
	return fclose(f) ? NULL : text;
}
