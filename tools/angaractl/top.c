// SPDX-License-Identifier: GPL-2.0-only
/*
 * angaractl top: current rates of links and trees, from two readings of their
 * counters.  Links are sorted by load; idle links are not shown.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "angaractl.h"

#define MOST_SECONDS	3600
#define KEY_BYTES	64
#define HEADINGS	6	/* lines of a screen that are not rows of a table */

static const struct column link_columns[] = {
	{ "dev", "DEV" }, { "router", "ROUTER" }, { "name", "PORT" },
	{ "neighbor", "TO" }, { "flits", "FLITS/S" }, { "packets", "PACKETS/S" },
	{ "stalls", "STALLS/S" }, { "retransmitted", "AGAIN/S" }, { "state", "STATE" },
};

static const struct column tree_columns[] = {
	{ "fabric", "FABRIC" }, { "tree", "TREE" }, { "rows", "ROWS" },
	{ "bcast_packets", "BCAST/S" }, { "reduce_packets", "REDUCE/S" },
	{ "reduce_results", "RESULTS/S" }, { "in_flight", "IN FLIGHT" },
	{ "up_credits", "CREDITS" }, { "state", "STATE" },
};

static const char *const link_rates[] = { "flits", "packets", "stalls", "retransmitted" };
static const char *const tree_rates[] = {
	"bcast_packets", "reduce_packets", "reduce_results",
};

struct top {
	struct about about;
	uint64_t interval;	/* seconds between readings */
	uint64_t count;		/* readings still to show, if has_count is set */
	bool has_count;
};

/* Counters at one time; each object has a record for each link or tree, by key. */
struct reading {
	double at;		/* seconds of the monotonic clock */
	struct json_object *links, *trees;
};

static void put_reading(struct reading *r)
{
	json_object_put(r->links);
	json_object_put(r->trees);
}

static void add_number(struct json_object *to, const char *key, uint64_t value)
{
	json_object_object_add(to, key, json_object_new_uint64(value));
}

static int read_links(struct nl *nl, const struct top *top, struct json_object *by_key)
{
	struct json_object *records;
	char key[KEY_BYTES];
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_PORT_GET, &top->about, &records);

	if (status)
		return status;
	link_add_faults(nl, records);
	for (size_t i = 0; i < json_object_array_length(records); i++) {
		struct json_object *link = json_object_array_get_idx(records, i);

		snprintf(key, sizeof(key), "%s %llu %llu", record_string(link, "fabric"),
			 (unsigned long long)record_number(link, "router"),
			 (unsigned long long)record_number(link, "port"));
		json_object_object_add(by_key, key, json_object_get(link));
	}
	json_object_put(records);
	return DONE;
}

/* The record of a tree, to which its rows are added. */
static struct json_object *tree_record(struct json_object *by_key, struct json_object *row)
{
	struct json_object *tree;
	char key[KEY_BYTES];

	snprintf(key, sizeof(key), "%s %llu", record_string(row, "fabric"),
		 (unsigned long long)record_number(row, "tree"));
	if (json_object_object_get_ex(by_key, key, &tree))
		return tree;
	tree = json_object_new_object();
	json_object_object_add(tree, "fabric",
			       json_object_new_string(record_string(row, "fabric")));
	add_number(tree, "tree", record_number(row, "tree"));
	json_object_object_add(tree, "state", json_object_new_string("up"));
	json_object_object_add(by_key, key, tree);
	return tree;
}

/* A tree is up if all its rows are; its credits are the least of all rows. */
static void add_row(struct json_object *tree, struct json_object *row)
{
	static const char *const sums[] = {
		"bcast_packets", "reduce_packets", "reduce_results", "in_flight",
	};
	uint64_t rows = record_number(tree, "rows"), credits;
	struct json_object *counters;

	add_number(tree, "rows", rows + 1);
	if (strcmp(record_string(row, "state"), "up"))
		json_object_object_add(tree, "state",
			json_object_new_string(record_string(row, "state")));
	if (!json_object_object_get_ex(row, "counters", &counters))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		add_number(tree, sums[i], record_number(tree, sums[i]) +
					  record_number(counters, sums[i]));
	credits = record_number(counters, "up_credits");
	if (!rows || credits < record_number(tree, "up_credits"))
		add_number(tree, "up_credits", credits);
}

static int read_trees(struct nl *nl, const struct top *top, struct json_object *by_key)
{
	struct json_object *records;
	int status = ctl_dump_or_fail(nl, ANGARA_CMD_TREE_GET, &top->about, &records);

	if (status)
		return status;
	for (size_t i = 0; i < json_object_array_length(records); i++) {
		struct json_object *row = json_object_array_get_idx(records, i);

		if (strcmp(record_string(row, "state"), "unset"))
			add_row(tree_record(by_key, row), row);
	}
	json_object_put(records);
	return DONE;
}

static int read_counters(struct nl *nl, const struct top *top, struct reading *r)
{
	struct timespec now;
	int status;

	r->links = json_object_new_object();
	r->trees = json_object_new_object();
	status = read_links(nl, top, r->links);
	if (!status)
		status = read_trees(nl, top, r->trees);
	clock_gettime(CLOCK_MONOTONIC, &now);
	r->at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (status)
		put_reading(r);
	return status;
}

/* A counter that is less than before was reset: it counts from 0. */
static uint64_t rate(struct json_object *now, struct json_object *before, const char *key,
		     double seconds)
{
	uint64_t n = record_number(now, key), old = before ? record_number(before, key) : n;

	return (uint64_t)((double)(n >= old ? n - old : n) / seconds + 0.5);
}

/*
 * Copies of the records of @now with rates instead of counters, sorted by the
 * first of @rates.  Records whose rates are all 0 are left out, unless @all is
 * set or they are down.
 */
static struct json_object *rates_of(struct json_object *now, struct json_object *before,
				    const struct column *columns, size_t num_columns,
				    const char *const *rates, size_t num, double seconds,
				    bool all)
{
	struct json_object *array = json_object_new_array(), *old, *value;

	json_object_object_foreach(now, key, record) {
		struct json_object *shown = json_object_new_object();
		bool busy = all || !strcmp(record_string(record, "state"), "down");

		for (size_t i = 0; i < num_columns; i++)
			if (json_object_object_get_ex(record, columns[i].key, &value))
				json_object_object_add(shown, columns[i].key,
						       json_object_get(value));
		if (!json_object_object_get_ex(before, key, &old))
			old = NULL;
		for (size_t i = 0; i < num; i++) {
			uint64_t r = rate(record, old, rates[i], seconds);

			add_number(shown, rates[i], r);
			busy |= r != 0;
		}
		if (busy)
			json_object_array_add(array, shown);
		else
			json_object_put(shown);
	}
	return array;
}

static int by_flits(const void *a, const void *b)
{
	uint64_t x = record_number(*(struct json_object *const *)a, "flits");
	uint64_t y = record_number(*(struct json_object *const *)b, "flits");

	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Rows of links that fit on the terminal; SIZE_MAX if output is not to a
 * terminal.
 */
static size_t rows_that_fit(size_t trees)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    !size.ws_row)
		return SIZE_MAX;
	return size.ws_row > trees + HEADINGS ? size.ws_row - trees - HEADINGS : 1;
}

/*
 * Prints a screen for people.  On a terminal it replaces the previous screen.
 */
static void show_tables(struct json_object *links, struct json_object *trees,
			size_t all_links, double seconds, const char *time)
{
	size_t busy = json_object_array_length(links);
	size_t fit = rows_that_fit(json_object_array_length(trees));

	if (isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	if (options.given & OPT_ALL)
		printf("%s: rates of %.1f s; %zu links", time, seconds, all_links);
	else
		printf("%s: rates of %.1f s; %zu of %zu links are busy or down", time, seconds,
		       busy, all_links);
	if (busy > fit) {
		printf(", the busiest %zu", fit);
		json_object_array_del_idx(links, fit, busy - fit);
	}
	puts("");
	out_records(links, link_columns, ARRAY_SIZE(link_columns));
	puts("");
	out_records(trees, tree_columns, ARRAY_SIZE(tree_columns));
	puts("");
}

static void show(const struct reading *now, const struct reading *before)
{
	double seconds = now->at - before->at;
	struct json_object *links, *trees, *line;
	char time[48];

	links = rates_of(now->links, before->links, link_columns, ARRAY_SIZE(link_columns),
			 link_rates, ARRAY_SIZE(link_rates), seconds,
			 options.given & OPT_ALL);
	trees = rates_of(now->trees, before->trees, tree_columns, ARRAY_SIZE(tree_columns),
			 tree_rates, ARRAY_SIZE(tree_rates), seconds, true);
	json_object_array_sort(links, by_flits);
	out_time(time, sizeof(time));
	if (!options.json) {
		show_tables(links, trees, (size_t)json_object_object_length(now->links),
			    seconds, time);
		return;
	}
	line = json_object_new_object();
	json_object_object_add(line, "time", json_object_new_string(time));
	json_object_object_add(line, "seconds", json_object_new_double(seconds));
	json_object_object_add(line, "links", links);
	json_object_object_add(line, "trees", trees);
	out_json_line(line);
}

static int follow(struct nl *nl, struct top *top)
{
	struct reading before, now;
	int status = read_counters(nl, top, &before);

	if (status)
		return status;
	while (!top->has_count || top->count--) {
		sleep((unsigned int)top->interval);
		status = read_counters(nl, top, &now);
		if (status)
			break;
		show(&now, &before);
		put_reading(&before);
		before = now;
		if (fflush(stdout) || ferror(stdout))
			break;	/* main() reports the error */
	}
	put_reading(&before);
	return status;
}

static int read_request(struct args *args, struct top *top)
{
	static const char *const words[] = { "dev", "fabric", "interval", "count" };
	char *word, *value;
	int status = DONE;

	while (!status && (word = args_next(args))) {
		int i = match_word(word, words, ARRAY_SIZE(words), "argument");

		if (i < 0)
			return MISUSED;
		if (i < 2) {
			status = args_about(args, words[i], &top->about);
			continue;
		}
		status = args_value(args, words[i], &value);
		if (!status && i == 2)
			status = parse_number(value, 1, MOST_SECONDS, "an interval in seconds",
					      &top->interval);
		else if (!status)
			status = parse_number(value, 1, UINT32_MAX, "count", &top->count);
		top->has_count |= i == 3;
	}
	return status;
}

static int top_run(struct args *args)
{
	struct top top = { .interval = 1 };
	struct nl nl;
	int status;

	status = read_request(args, &top);
	if (!status)
		status = ctl_start(&nl);
	if (status)
		return status;
	status = follow(&nl, &top);
	ctl_stop(&nl);
	return status;
}

static const struct command commands[] = {
	{ NULL, "[dev DEV] [fabric ID] [interval SECONDS] [count N] [--all]",
	  "rates of busy links and of trees, repeatedly; ends after N readings;\n"
	  "      --all: idle links, too",
	  top_run, OPT_ALL },
};

const struct object top_object = {
	"top", "load of links and trees, live", commands, ARRAY_SIZE(commands),
};
