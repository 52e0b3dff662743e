/* SPDX-License-Identifier: GPL-2.0-only */
/* angara-topo: what its files have in common. */
#ifndef TOPO_H
#define TOPO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <json-c/json.h>
#include <linux/angara.h>
#include <angara/topo.h>
#include <angara/fabric.h>

#include "complain.h"

/**
 * struct opts - options of the command line
 * @json: -j
 * @study: --study
 * @markdown: --markdown
 * @prices: --prices
 * @nodes: --nodes
 * @root: --root
 * @goal: --goal, or NULL: by the number of trees
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
	const char *goal;
	uint32_t trees;
	uint32_t bytes;
	uint32_t local;
	const char *output;
};

/* Opens a fabric; ends the program if the text describes none. */
struct angara_fabric *need_fabric(const char *text);
bool read_number(const char *text, uint32_t most, uint32_t *value);

/* Prints an array of objects of the same keys: as JSON, or as a table. */
void out_rows(const struct opts *o, json_object *rows);
void add_text(json_object *row, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void add_number(json_object *row, const char *key, uint64_t value);
void add_real(json_object *row, const char *key, double value);

/* Is a description a file of Graphviz? */
bool is_graphviz(const char *text);
/* Such a file as a list of cables; ends the program if it is none. */
char *graphviz_text(const char *path);

/* Cables that part the nodes in halves, as METIS finds; 0: built without. */
uint32_t metis_halves(const struct angara_fabric *f);

int cmd_show(const struct opts *o, int argc, char **argv);
int cmd_metrics(const struct opts *o, int argc, char **argv);
int cmd_compare(const struct opts *o, int argc, char **argv);
int cmd_route(const struct opts *o, int argc, char **argv);
int cmd_tree(const struct opts *o, int argc, char **argv);
int cmd_dot(const struct opts *o, int argc, char **argv);
int cmd_svg(const struct opts *o, int argc, char **argv);
int study_mkns(const struct opts *o);

#endif /* TOPO_H */
