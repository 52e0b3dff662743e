/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of trees for tools: arguments, and results as JSON.  angaractl and
 * angara-topo print the same plans.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include <linux/angara.h>
#include <angara/fabric.h>
#include <angara/plan.h>

/**
 * plan_members() - read participants
 * @fabric: fabric
 * @list: "0,4-7:2": nodes and ranges, after ":" the number on each; or "all"
 * @local: participants on a node without ":"
 * @pe: out: participants of each node, zeroed by the caller
 * @why: out: one line that says what is wrong
 * @size: bytes of @why
 *
 * Return: true if the list is valid.
 */
bool plan_members(const struct angara_fabric *fabric, const char *list,
		  uint32_t local, uint16_t *pe, char *why, size_t size);

/**
 * plan_node() - read a node
 * @fabric: fabric
 * @text: its number, or its coordinates joined by commas
 * @node: out
 *
 * Return: true if there is such a node.
 */
bool plan_node(const struct angara_fabric *fabric, const char *text, uint32_t *node);

/** plan_goal() - convert "depth" or "load" to ANGARA_PLAN_*; -1: neither */
int plan_goal(const char *text);

/**
 * plan_router() - make a router's name
 * @fabric: fabric
 * @router: router
 *
 * Return: "17 (1,2,0)", or "s2" for a switch.  The next call keeps this text,
 * the call after it may overwrite it.
 */
const char *plan_router(const struct angara_fabric *fabric, uint32_t router);

/** plan_rows() - make a row per router and tree */
json_object *plan_rows(const struct angara_fabric *fabric,
		       const struct angara_plan *plan);
/** plan_costs() - make a row per tree; NULL: no tree */
json_object *plan_costs(const struct angara_fabric *fabric,
			const struct angara_plan *plan);
/** plan_times() - make a row per number of trees; NULL: no memory */
json_object *plan_times(const struct angara_plan *plan, uint64_t bytes);
/** plan_values() - make a row per parameter of times, with its source */
json_object *plan_values(void);
/** plan_sources() - list the sources of parameters in five lines, from malloc() */
char *plan_sources(void);

#endif /* PLAN_H */
