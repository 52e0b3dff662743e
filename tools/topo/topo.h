/* SPDX-License-Identifier: GPL-2.0-only */
/* angara-topo: common declarations. */
#ifndef TOPO_H
#define TOPO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <linux/angara.h>
#include <angara/topo.h>
#include <angara/fabric.h>

#include "complain.h"
#include "rows.h"

/**
 * struct opts - options of the command line
 * @json: -j
 * @study: --study
 * @markdown: --markdown
 * @prices: --prices
 * @nodes: --nodes
 * @root: --root
 * @failed: --failed, or NULL: no failures
 * @routes: --routes
 * @goal: --goal, or NULL: the goal depends on the number of trees
 * @trees: --trees
 * @bytes: --bytes
 * @local: --local
 * @output: -o
 */
struct opts {
	bool json;
	const char *study;
	bool markdown;
	const char *prices;
	const char *nodes;
	const char *root;
	const char *failed;
	bool routes;
	const char *goal;
	uint32_t trees;
	uint32_t bytes;
	uint32_t local;
	const char *output;
};

/* Opens a fabric; ends the program if the text describes none. */
struct angara_fabric *need_fabric(const char *text);
bool read_number(const char *text, uint32_t most, uint32_t *value);

static inline void out_rows(const struct opts *o, json_object *rows)
{
	rows_print(rows, o->json, o->markdown);
}

/* Does a description of a fabric name a file of Graphviz? */
bool is_graphviz(const char *text);
/*
 * Reads a Graphviz file as a list of cables; ends the program if it is not such
 * a file.
 */
char *graphviz_text(const char *path);

/* Return: cables between two halves of the nodes, as METIS finds; 0: built without METIS. */
uint32_t metis_halves(const struct angara_fabric *f);

/*
 * Lets routes and trees avoid a list of failures; ends the program if the list
 * is wrong.
 */
void avoid_failures(struct angara_fabric *f, const char *list,
		    struct angara_detours *detours);

int cmd_avoid(const struct opts *o, int argc, char **argv);
int cmd_show(const struct opts *o, int argc, char **argv);
int cmd_metrics(const struct opts *o, int argc, char **argv);
int cmd_compare(const struct opts *o, int argc, char **argv);
int cmd_route(const struct opts *o, int argc, char **argv);
int cmd_tree(const struct opts *o, int argc, char **argv);
int cmd_dot(const struct opts *o, int argc, char **argv);
int cmd_svg(const struct opts *o, int argc, char **argv);
int study_mkns(const struct opts *o);

#endif /* TOPO_H */
