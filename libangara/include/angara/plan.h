/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libangara: plans of trees: their roots and paths, their cost, and the
 * expected times of operations, before a tree is programmed.
 *
 * Participants of one node share the node's row: on every tree, the adapter
 * combines their data before it sends them to the parent.
 */
#ifndef ANGARA_PLAN_H
#define ANGARA_PLAN_H

#include <angara/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The goal that a plan minimises first; the other goal decides among equal
 * plans.
 */
#define ANGARA_PLAN_DEPTH	0	/* cables to the farthest participant */
#define ANGARA_PLAN_LOAD	1	/* trees on the most loaded channel */

#define ANGARA_PLAN_ROOT_ANY	UINT32_MAX

/**
 * struct angara_plan_attr - parameters of a plan
 * @size: sizeof(struct angara_plan_attr)
 * @trees: number of trees, 1 to ANGARA_MAX_TREES
 * @root: node that is the root of all trees, or ANGARA_PLAN_ROOT_ANY: for each
 *	tree the root chosen by angara_fabric_root()
 * @goal: ANGARA_PLAN_DEPTH or ANGARA_PLAN_LOAD
 * @load: number of existing trees on each channel, indexed by router * ports +
 *	port; or NULL: none
 */
struct angara_plan_attr {
	uint32_t size;
	uint32_t trees;
	uint32_t root;
	uint32_t goal;
	const uint16_t *load;
};

struct angara_plan;

/**
 * angara_plan_open() - plan trees over some nodes
 * @fabric: fabric; it has to outlive the plan
 * @pe: number of local participants of every node
 * @attr: parameters
 * @plan: out
 *
 * Each tree is planned after the trees before it, so the first n trees of a
 * plan equal a plan of n trees.
 *
 * Return: 0; -EINVAL a value out of range, or no node takes part; -E2BIG a newer
 * @attr; -ENOMEM.
 */
int angara_plan_open(const struct angara_fabric *fabric, const uint16_t *pe,
		     const struct angara_plan_attr *attr,
		     struct angara_plan **plan);
void angara_plan_close(struct angara_plan *plan);

/** Number of trees. */
uint32_t angara_plan_trees(const struct angara_plan *plan);
/**
 * angara_plan_rows() - rows of a tree, one per router
 * @plan: plan
 * @tree: number of the tree in the plan, also the TreeId of the rows
 *
 * Return: as from angara_fabric_tree(); NULL: there is no such tree.
 */
const struct angara_tree_row *angara_plan_rows(const struct angara_plan *plan,
					       uint32_t tree);
/** Root of a tree; UINT32_MAX: there is no such tree. */
uint32_t angara_plan_root(const struct angara_plan *plan, uint32_t tree);
/**
 * angara_plan_cost() - cost of a tree
 * @plan: plan
 * @tree: number of the tree
 * @cost: out; the caller sets its size; the load is that of all trees of the
 *	plan, and of those of angara_plan_attr.load
 *
 * Return: 0; -EINVAL @cost's size, or no such tree.
 */
int angara_plan_cost(const struct angara_plan *plan, uint32_t tree,
		     struct angara_tree_cost *cost);

/**
 * angara_plan_time() - expected time of an operation
 * @plan: plan
 * @trees: number of trees over which the packets are spread: the first ones of
 *	the plan
 * @op: ANGARA_OP_BCAST, by the root of the first tree; or ANGARA_OP_ALLREDUCE
 * @bytes: length, at most 2^30
 *
 * This is the time on an idle fabric with the parameters of
 * angara_plan_values(), from the start of the operation until the last
 * participant has its data.
 *
 * Return: picoseconds; 0: a value is out of range, or there is no memory.
 */
uint64_t angara_plan_time(const struct angara_plan *plan, uint32_t trees,
			  unsigned int op, uint64_t bytes);

/**
 * angara_plan_stripes() - number of trees over which to spread an operation
 * @plan: plan
 * @op: as for angara_plan_time()
 * @bytes: as for angara_plan_time()
 *
 * Return: the least number of trees whose expected time is within 1 % of the
 * minimum; 0: as angara_plan_time().
 */
uint32_t angara_plan_stripes(const struct angara_plan *plan, unsigned int op,
			     uint64_t bytes);

/**
 * struct angara_plan_value - a parameter of expected times
 * @name: name, as in angara-sim(1)
 * @value: value in @unit
 * @unit: "MHz", "Gbit/s", "ns", "cycles", "B" or "results"
 * @source: "given": from the adapter's specification (document 000); "fitted":
 *	set to reproduce a result of that document; "chosen": with knowledge of
 *	its results; "free": none of these
 * @help: description
 */
struct angara_plan_value {
	const char *name;
	uint64_t value;
	const char *unit;
	const char *source;
	const char *help;
};

/** Parameters of the model of times; the last entry has the name NULL. */
const struct angara_plan_value *angara_plan_values(void);

#ifdef __cplusplus
}
#endif

#endif /* ANGARA_PLAN_H */
