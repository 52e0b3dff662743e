/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * angaractl: common declarations.
 *
 * Every command reads its arguments first, then opens netlink, collects records
 * (JSON objects whose keys are the names of the attributes) and passes them to
 * out.c, which writes a table or JSON.  Functions that return an exit status
 * have printed the error.
 */
#ifndef ANGARACTL_H
#define ANGARACTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include <linux/angara.h>
#include <linux/angara_nl.h>
#include <angara/fabric.h>
#include <angara/topo.h>

#include "ang_hw.h"
#include "complain.h"

#define DONE		0	/* exit status of success; failures are FAILED and MISUSED */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define NO_DEV		0xFFFFFFFFU

/* Options that only some commands take; the bits go into command.options. */
#define OPT_ALL		(1U << 0)
#define OPT_DOT		(1U << 1)
#define OPT_FABRIC	(1U << 2)
#define OPT_IN_BAND	(1U << 3)

struct options {
	bool json;
	bool help;
	const char *server;	/* folder of an angara-vfio; NULL: the kernel */
	const char *fabric;	/* description of a fabric; NULL: the devices describe it */
	unsigned int given;	/* OPT_* */
};

extern struct options options;

/* main.c: words of the command line */
struct args {
	int count;
	char **words;
};

struct command {
	const char *name;	/* NULL: the object is the command */
	const char *args;
	const char *what;
	int (*run)(struct args *args);
	unsigned int options;
};

struct object {
	const char *name;
	const char *what;
	const struct command *commands;	/* the first is the default */
	size_t count;
};

extern const struct object dev_object, link_object, route_object, tree_object,
	ctx_object, counters_object, monitor_object, top_object, capture_object, report_object,
	discover_object;

/* args.c */
char *args_next(struct args *args);
int args_end(struct args *args);
int args_value(struct args *args, const char *keyword, char **value);
struct about;
int args_about(struct args *args, const char *word, struct about *about);
int args_filter(struct args *args, struct about *about);
int parse_number(const char *text, uint64_t low, uint64_t high,
		 const char *what, uint64_t *value);
int parse_dev(const char *text, uint32_t *dev);
int parse_tree(const char *text, uint8_t *tree);
int parse_fabric(const char *text, uint64_t *fabric);
int parse_pkey(const char *text, uint32_t *pkey);
struct fabric;
int parse_node(const char *text, const struct fabric *fabric, uint32_t *node);
int parse_nodes(const char *list, uint32_t nodes, uint16_t pe, uint16_t *of);
/*
 * args_pair() - take a keyword and its value
 * @which: out: number of the keyword; -1: there are no more arguments
 * Return: DONE; MISUSED, with a message.
 */
int args_pair(struct args *args, const char *const *words, size_t count, int *which,
	      char **value);
int match_word(const char *word, const char *const *names, size_t count,
	       const char *what);

/* out.c */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct column {
	const char *key;
	const char *heading;
	const char *(*text)(struct json_object *value, char *buf, size_t size);
};

void out_records(struct json_object *array, const struct column *columns,
		 size_t count);
void out_details(struct json_object *record, const struct column *columns,
		 size_t count);
void out_json(struct json_object *object);
void out_json_line(struct json_object *object);
void out_time(char *buf, size_t size);
void out_counts(unsigned int tree, const char *key, uint32_t value);
const char *out_value(const struct column *column, struct json_object *record,
		      char *buf, size_t size);

/* names.c: records of attributes */
struct nlmsghdr;
struct json_object *record_of(struct nlmsghdr *header);
struct json_object *record_id(uint64_t id);
struct json_object *record_port(uint8_t port);
struct json_object *record_ports(uint64_t ports);
const char *attr_name(unsigned int command, unsigned int attr);
const char *pkey_text(struct json_object *value, char *buf, size_t size);
const char *pkey_name(uint32_t pkey, char *buf, size_t size);
const char *state_name(unsigned int state);
uint64_t record_number(struct json_object *record, const char *key);
const char *record_string(struct json_object *record, const char *key);
uint64_t record_fabric(struct json_object *record);
uint32_t record_dev(struct json_object *record);

/* nl.c */
struct nl {
	struct nl_sock *sock;
	int family;
	char error[256];	/* error of the last request that failed */
};

/* The filter of a dump, or the object of a request. */
struct about {
	bool has_dev, has_fabric, has_tree, has_router;
	uint32_t dev;
	uint64_t fabric;
	uint8_t tree;
	uint32_t router;	/* number of a row's router */
};

struct nl_msg;
void replace_controls(char *text, const char *keep);
int ctl_start(struct nl *nl);
void ctl_stop(struct nl *nl);
int ctl_listen(struct nl *nl, const char *group);
struct nl_msg *ctl_request(struct nl *nl, uint8_t command,
			  const struct about *about);
/*
 * Append an attribute.  Without room, *@msg becomes NULL, and ctl_call()
 * reports this.
 */
void ctl_put_u8(struct nl_msg **msg, int attr, uint8_t value);
void ctl_put_u16(struct nl_msg **msg, int attr, uint16_t value);
void ctl_put_u32(struct nl_msg **msg, int attr, uint32_t value);
void ctl_put_u64(struct nl_msg **msg, int attr, uint64_t value);
void ctl_put_bytes(struct nl_msg **msg, int attr, const void *value, size_t size);
int ctl_call(struct nl *nl, struct nl_msg *msg, struct json_object **reply);
int ctl_get(struct nl *nl, uint8_t command, const struct about *about,
	   struct json_object **reply);
int ctl_delegate(struct nl *nl, uint32_t dev, uint8_t tree, uint32_t pkey);
int ctl_dump(struct nl *nl, uint8_t command, const struct about *about,
	    struct json_object **records);
int ctl_dump_or_fail(struct nl *nl, uint8_t command, const struct about *about,
		    struct json_object **records);

/* server.c */
struct nl_cb;
int server_start(struct nl *nl, const char *dir);
void server_stop(void);
void server_attach(struct nl *nl, struct nl_cb *cb);
bool server_wait(int end);
size_t server_read(void *buf, size_t size);

/* list.c */
int list_objects(struct args *args, uint8_t command,
		 void (*complete)(struct nl *nl, struct json_object *records),
		 const struct column *columns, size_t count);

/* link.c */
void link_add_faults(struct nl *nl, struct json_object *links);

/* fabric.c */
#define FABRIC_DIGITS	6	/* most coordinates of a node */
#define ROUTER_NAME	64	/* most bytes of a text */
#define PORT_NAME	16
#define COUNT_TEXT	48

/* Routers are the nodes, followed by the switches. */
struct fabric {
	uint64_t id;
	char name[64];		/* first line of its description */
	struct angara_topo torus;
	struct angara_fabric *graph;	/* NULL: a torus */
	struct angara_fabric *around;	/* fabric_avoid(): avoids links; NULL: none is down */
	uint32_t down;		/* fabric_avoid(): cables that are down */
	struct angara_detours detours;	/* fabric_avoid(): changes of routes around them */
	uint32_t nodes;
	uint32_t routers;
	uint32_t ports;		/* ports of the largest router */
	uint32_t present;	/* nodes with a device on this machine */
	uint32_t *dev;		/* device of each node, or NO_DEV; NULL: unknown */
};

bool fabric_read(const char *text, struct fabric *fabric);
int fabric_find(struct nl *nl, const struct about *about, struct fabric *fabric);
int fabric_avoid_links(struct nl *nl, uint64_t id, struct angara_fabric *graph,
		       uint32_t *down, struct angara_detours *detours);
int fabric_avoid(struct nl *nl, struct fabric *fabric);
void fabric_free(struct fabric *fabric);
void fabric_add_places(struct nl *nl, struct json_object *devs);
void fabric_add_names(struct nl *nl, struct json_object *links);
uint32_t fabric_peer(const struct fabric *fabric, uint32_t router, uint32_t port);
uint32_t fabric_keeper(const struct fabric *fabric, uint32_t router);
uint32_t fabric_dev(const struct fabric *fabric, uint32_t router);
uint32_t fabric_digits(const struct fabric *fabric, uint32_t node,
		       uint16_t digits[FABRIC_DIGITS]);
const char *fabric_router(const struct fabric *fabric, uint32_t router,
			  char buf[ROUTER_NAME]);
const char *fabric_port(const struct fabric *fabric, uint32_t port,
			char buf[PORT_NAME]);
const char *fabric_count(uint32_t nodes, uint32_t switches, char buf[COUNT_TEXT]);

/* reroute.c */
int fabric_reroute(struct nl *nl, const struct fabric *fabric);
void fabric_routes_say(const struct fabric *fabric, const char *verb);

/* tree.c, tree_rows.c, tree_create.c, tree_lay.c, tree_draw.c, tree_inband.c */
struct tree_router {
	struct angara_tree_row row;
	uint8_t state;
	uint16_t members;
	uint32_t down_node;
	uint32_t delegated;
};

struct tree {
	uint8_t id;
	struct fabric fabric;
	struct tree_router *at;		/* rows, one per router of the fabric */
	struct json_object *records;	/* the rows as received */
	uint32_t set;			/* number of rows that exist */
	uint32_t switches;		/* of these, rows of switches */
	uint32_t root;			/* a root; fabric.routers: there is none */
};

int tree_load(struct nl *nl, const struct about *about, struct tree *tree);
void tree_free(struct tree *tree);
const char *tree_noun(const struct fabric *fabric, uint32_t router);
int tree_rule(struct nl *nl, uint32_t dev, uint8_t id, uint8_t *rule,
	      uint32_t *router);
struct about tree_row(const struct fabric *fabric, uint32_t router, uint8_t id);
void tree_note(struct tree *tree, uint32_t router);
uint32_t tree_dev(const struct tree *tree);
int tree_print(struct tree *tree);
int tree_report_check(const struct tree *tree, uint8_t rule, uint32_t router);
int tree_report_cleared(const struct tree *tree);
int tree_clear_row(struct nl *nl, const struct tree *tree, uint32_t router);
int tree_clear(struct nl *nl, const struct tree *tree);
int tree_create(struct args *args);
int tree_repair(struct nl *nl, const struct tree *tree, const char *before);
int tree_delegate(struct args *args);
int inband_show(struct args *args);
int inband_check(struct args *args);
int inband_delete(struct args *args);
void tree_draw(const struct tree *tree);
void tree_draw_dot(const struct tree *tree);

/* tree_plan.c */
int tree_plan(struct args *args);

#endif /* ANGARACTL_H */
