/* SPDX-License-Identifier: GPL-2.0-only */
/* angara-algo: common declarations. */
#ifndef TOOL_H
#define TOOL_H

#include "algo/algo.h"
#include "algo/map.h"
#include "complain.h"
#include "rows.h"

#define LEVELS_MOST	8U
#define DIMS_MOST	32U

/**
 * struct level - a level of the system, from the top
 * @name: name of the parts that the level joins, if it was found on the machine; or NULL
 * @part: number of each core's part among all parts that the level joins; NULL: the
 *	level joins @count parts of equal size
 * @count: number of parts that the level joins: modules of the next level, or cores
 * @a: seconds to begin a message through the level
 * @b: seconds per byte
 * @links: number of messages that may pass between a part and this level at one time, in each
 *	direction; 0: any number
 */
struct level {
	const char *name;
	u32 *part;
	u32 count;
	double a;
	double b;
	u32 links;
};

/**
 * struct levels - a system as a tree of levels, and the ranks on its cores
 * @level: levels from the top
 * @num: number of levels
 * @ranks: ranks of the program
 * @core: core of each rank
 * @fitted: @a and @b of the levels were measured
 */
struct levels {
	struct level level[LEVELS_MOST];
	u32 num;
	u32 ranks;
	u32 *core;
	bool fitted;
};

/**
 * struct job - a collective by an algorithm
 * @args: arguments of each member, except the rank; elements are doubles
 * @way: algorithm
 * @dims: memory of args.dims
 * @place: memory of args.place; NULL: none
 * @rank_of: memory of args.rank_of
 * @add: seconds per byte that a member combines
 * @copy: seconds per byte that a member copies within its memory
 */
struct job {
	struct ang_coll_args args;
	const struct way *way;
	u32 dims[DIMS_MOST];
	u32 *place;
	u32 *rank_of;
	double add;
	double copy;
};

/* How an allgather handles blocks if its members are renumbered. */
enum form { FORM_NONE, FORM_EXCHANGE, FORM_REORDER };

/**
 * struct way - an algorithm of a collective
 * @name: name on the command line
 * @coll: ANG_COLL_*
 * @algo: ANG_ALGO_*
 * @form: FORM_*
 * @formula: time, as text
 * @source: source of the formula
 * @time: the formula as a function
 */
struct way {
	const char *name;
	enum ang_coll coll;
	enum ang_algo algo;
	enum form form;
	const char *formula;
	const char *source;
	double (*time)(const struct job *j, const struct levels *s);
};

/**
 * struct traffic - messages of all members
 * @messages: number of messages by the level through which they pass
 * @bytes: bytes of these messages, by level
 */
struct traffic {
	u64 messages[LEVELS_MOST];
	u64 bytes[LEVELS_MOST];
};

/**
 * struct opts - options of the command line
 * @json: -j
 * @markdown: --markdown
 * @levels: --levels
 * @place: --place; NULL: block
 * @dims: --dims
 * @bytes: --bytes, a list
 * @packet: --packet
 * @root: --root
 * @ranks: --ranks
 * @add: --add, seconds per byte; negative: not given
 * @copy: --copy, in the same way
 * @repeat: --repeat
 */
struct opts {
	bool json;
	bool markdown;
	const char *levels;
	const char *place;
	const char *dims;
	const char *bytes;
	size_t packet;
	u32 root;
	u32 ranks;
	double add;
	double copy;
	u32 repeat;
};

/* ways.c */
extern const struct way ways[];
const struct way *need_way(const char *name);

/* levels.c: functions end the program if the text is wrong. */
void need_levels(struct levels *s, const char *text, const char *place);
/* Makes a system from the places of processes, ANG_PLACE_LEVELS numbers for each. */
void levels_of_places(struct levels *s, u32 ranks, const u32 *places);
void levels_free(struct levels *s);
u32 level_of(const struct levels *s, u32 p, u32 q);
/* Return: number of the part that contains a core, among all parts that level @l joins. */
u32 part_of(const struct levels *s, u32 core, u32 l);

/* units.c: functions end the program if the text is wrong. */
double need_time(const char *what, const char *text);
double need_byte_time(const char *what, const char *text);
size_t need_bytes(const char *what, const char *text, size_t most);

/* job.c */
void need_job(struct job *j, const struct opts *o, const struct way *w,
	      const struct levels *s, size_t bytes);
/*
 * Ends the program if all members together have more than @most steps.  @first: steps of the
 * first member.
 */
void need_steps(const struct job *j, u32 first, u64 most);
void job_free(struct job *j);
/* Counts messages of the schedules of all members. */
void job_traffic(const struct job *j, const struct levels *s, struct traffic *t);

/* simulate.c.  Return: seconds. */
double simulate(const struct job *j, const struct levels *s, struct traffic *t);

/* numbers.c: the graph of an algorithm; ends the program if the algorithm has none. */
void need_graph(struct ang_graph *g, const struct way *w, u32 n);
/* Numbers the members so that few bytes go through upper levels. */
void map_ranks(const struct way *w, const struct levels *s, u32 *place, u32 *rank_of,
	       double *seconds);

/* dims.c: chooses the sizes of two dimensions that are fastest by the formula. */
void choose_dims(struct job *j, const struct levels *s);

/*
 * commands.c: adds messages and bytes of each level to a row, and a and b if
 * they were fitted.
 */
void add_levels(json_object *row, const struct levels *s, const struct traffic *t);

int cmd_list(const struct opts *o, int argc, char **argv);
int cmd_cost(const struct opts *o, int argc, char **argv);
int cmd_simulate(const struct opts *o, int argc, char **argv);
int cmd_map(const struct opts *o, int argc, char **argv);
int cmd_run(const struct opts *o, int argc, char **argv);

#endif /* TOOL_H */
