// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A fabric that is described by its cables:
 *
 *	graph NAME
 *	node A
 *	switch S
 *	A:0 S:3
 *
 * Each node, switch and cable has a line; "#" begins a comment. Nodes are
 * numbered first, in the order of the text, then switches. Ports are 0..63.
 *
 * Routes are up*down*: a breadth-first search from a router of least
 * eccentricity ranks the routers.  A route goes up to lower ranks, then down to
 * higher ranks.  If a router has a path down to the destination, it forwards
 * the packet on that path, whatever port the packet arrived by; other routers
 * forward the packet up to the neighbour that is nearest to the destination.
 * If several ports qualify, the destination's number selects the port.
 */
#include "ang_topo_int.h"

#define GRAPH_PORT_MAX	(ANG_TOPO_PORTS - 1)

/**
 * struct graph_line - contents of a line
 * @kind: 'g' graph, 'n' node, 's' switch, 'c' cable, 0 empty, '!' wrong
 * @name: name of the node or switch; names of the two routers of a cable
 * @len: lengths of the names
 * @port: ports of a cable
 */
struct graph_line {
	char kind;
	const char *name[2];
	u32 len[2];
	u32 port[2];
};

static bool graph_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static const char *graph_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\r')
		text++;
	return text;
}

static const char *graph_word(const char *text, struct graph_line *line, u32 which)
{
	text = graph_blanks(text);
	line->name[which] = text;
	while (graph_in_name(*text))
		text++;
	line->len[which] = (u32)(text - line->name[which]);
	return text;
}

static bool graph_is(const struct graph_line *line, const char *word)
{
	u32 i;

	for (i = 0; word[i]; i++)
		if (i >= line->len[0] || line->name[0][i] != word[i])
			return false;
	return i == line->len[0];
}

/*
 * Reads ":PORT" after a name. Return: the text after it; NULL: there is no
 * port.
 */
static const char *graph_port(const char *text, u32 *port)
{
	if (*text++ != ':')
		return NULL;
	if (*text == '0' && !(text[1] >= '0' && text[1] <= '9')) {
		*port = 0;
		return text + 1;
	}
	return ang_topo_number(text, GRAPH_PORT_MAX, port);
}

/*
 * Return: the text after the words of the line; NULL: the line has no known
 * form.
 */
static const char *graph_words(const char *text, struct graph_line *line)
{
	text = graph_word(text, line, 0);
	if (*text == ':') {
		line->kind = 'c';
		text = graph_port(text, &line->port[0]);
		if (!text)
			return NULL;
		text = graph_word(text, line, 1);
		return graph_port(text, &line->port[1]);
	}
	if (graph_is(line, "graph"))
		line->kind = 'g';
	else if (graph_is(line, "node"))
		line->kind = 'n';
	else if (graph_is(line, "switch"))
		line->kind = 's';
	else
		return NULL;
	return graph_word(text, line, 0);
}

/* Reads a line.  Return: start of the next line. */
static const char *graph_line(const char *text, struct graph_line *line)
{
	const char *rest;

	memset(line, 0, sizeof(*line));
	text = graph_blanks(text);
	if (*text && *text != '\n' && *text != '#') {
		rest = graph_words(text, line);
		if (rest)
			rest = graph_blanks(rest);
		if (!rest || (*rest && *rest != '\n' && *rest != '#') ||
		    !line->len[0] || (line->kind == 'c' && !line->len[1]))
			line->kind = '!';
	}
	while (*text && *text != '\n')
		text++;
	return *text ? text + 1 : text;
}

static const char *graph_wrong(struct ang_topo_why *why, u32 line, const char *what)
{
	why->what = what;
	why->line = line;
	return NULL;
}

/*
 * Reads the text after "graph ": counts nodes and switches, and finds the
 * highest port.
 */
static const char *graph_read(struct ang_topo *topo, const char *text,
			      struct ang_topo_why *why)
{
	struct graph_line line;
	u32 switches = 0;
	u32 ports = 1;
	u32 number;

	text = graph_line(text - 6, &line);
	if (line.kind != 'g')
		return graph_wrong(why, 1, "graph: must be followed by a name");
	for (number = 2; *text; number++) {
		text = graph_line(text, &line);
		if (line.kind == '!' || line.kind == 'g')
			return graph_wrong(why, number,
				"must be 'node NAME', 'switch NAME' or 'NAME:PORT NAME:PORT', ports from 0 to 63");
		if (line.kind == 'n')
			topo->nodes++;
		if (line.kind == 's')
			switches++;
		if (line.kind == 'c' && line.port[0] >= ports)
			ports = line.port[0] + 1;
		if (line.kind == 'c' && line.port[1] >= ports)
			ports = line.port[1] + 1;
	}
	topo->routers = topo->nodes + switches;
	if (!topo->nodes || topo->routers > ANG_TOPO_GRAPH_NODES)
		return graph_wrong(why, 0, topo->nodes ?
				   "graph: more than 4096 nodes and switches" :
				   "graph: has no node");
	topo->ndims = 1;
	topo->dims[0] = (u16)topo->nodes;
	topo->nports = (u8)ports;
	return text;
}

/**
 * struct graph_work - state while a table is filled
 * @topo: fabric
 * @t: table
 * @text: description
 * @hash: hash table: numbers of routers, plus 1, by the hash of their names
 * @slots: places of @hash, a power of 2
 * @name: offset in @text of each router's name
 * @order: routers by rank; also the queue of searches
 * @dist: distance of each router in a search
 */
struct graph_work {
	const struct ang_topo *topo;
	struct ang_topo_table *t;
	const char *text;
	u32 *hash;
	u32 slots;
	u32 *name;
	u32 *order;
	u32 *dist;
};

static u32 graph_slots(const struct ang_topo *topo)
{
	u32 slots = 2;

	while (slots < 2 * topo->routers)
		slots *= 2;
	return slots;
}

u64 ang_topo_graph_extra(const struct ang_topo *topo)
{
	return ((u64)graph_slots(topo) + 5ULL * topo->routers) * sizeof(u32);
}

static u32 *graph_rank(const struct ang_topo_table *t)
{
	return (u32 *)((u8 *)t + t->off_extra);
}

static u32 *graph_keepers(const struct ang_topo *topo, const struct ang_topo_table *t)
{
	return graph_rank(t) + topo->routers;
}

static struct ang_topo_end *graph_end(const struct graph_work *w, u32 router, u32 port)
{
	return &w->t->end[router * w->topo->nports + port];
}

/*
 * Return: place of a name in @hash; a free place if the name is not in @hash.
 */
static u32 *graph_find(const struct graph_work *w, const char *name, u32 len)
{
	u32 hash = 2166136261U;
	u32 i, at;

	for (i = 0; i < len; i++)
		hash = (hash ^ (u8)name[i]) * 16777619U;
	for (at = hash & (w->slots - 1);; at = (at + 1) & (w->slots - 1)) {
		const char *other;

		if (!w->hash[at])
			return &w->hash[at];
		other = w->text + w->name[w->hash[at] - 1];
		for (i = 0; i < len && other[i] == name[i]; i++)
			;
		if (i == len && !graph_in_name(other[len]))
			return &w->hash[at];
	}
}

static bool graph_names(struct graph_work *w, struct ang_topo_why *why)
{
	u32 next[2] = { 0, w->topo->nodes };
	const char *text = w->text;
	struct graph_line line;
	u32 number;

	for (number = 1; *text; number++) {
		u32 *at, id;

		text = graph_line(text, &line);
		if (line.kind != 'n' && line.kind != 's')
			continue;
		id = next[line.kind == 's']++;
		at = graph_find(w, line.name[0], line.len[0]);
		if (*at) {
			graph_wrong(why, number, "name: another router has the same name");
			return false;
		}
		w->name[id] = (u32)(line.name[0] - w->text);
		*at = id + 1;
	}
	return true;
}

static const char *graph_cable(struct graph_work *w, const struct graph_line *line)
{
	u32 id[2];
	u32 i;

	for (i = 0; i < 2; i++) {
		id[i] = *graph_find(w, line->name[i], line->len[i]);
		if (!id[i]--)
			return "cable: one of its routers is not declared";
	}
	if (id[0] == id[1])
		return "cable: is a loop: both ends are at the same router";
	for (i = 0; i < 2; i++) {
		struct ang_topo_end *end = graph_end(w, id[i], line->port[i]);

		if (end->router != ANG_NONE)
			return "cable: a port is used twice";
		end->router = id[!i];
		end->port = line->port[!i];
	}
	return NULL;
}

static bool graph_cables(struct graph_work *w, struct ang_topo_why *why)
{
	const char *text = w->text;
	struct graph_line line;
	u32 number;

	for (number = 1; *text; number++) {
		text = graph_line(text, &line);
		if (line.kind != 'c')
			continue;
		why->what = graph_cable(w, &line);
		why->line = number;
		if (why->what)
			return false;
	}
	why->line = 0;
	return true;
}

/*
 * Breadth-first search from the first @tail routers of w->order.
 * Return: number of routers reached; the last router in w->order is the
 * farthest.
 */
static u32 graph_search(const struct graph_work *w, u32 tail)
{
	u32 head, i, port;

	for (i = 0; i < w->topo->routers; i++)
		w->dist[i] = ANG_NONE;
	for (i = 0; i < tail; i++)
		w->dist[w->order[i]] = 0;
	for (head = 0; head < tail; head++) {
		u32 at = w->order[head];

		for (port = 0; port < w->topo->nports; port++) {
			u32 to = graph_end(w, at, port)->router;

			if (to == ANG_NONE || w->dist[to] != ANG_NONE)
				continue;
			w->dist[to] = w->dist[at] + 1;
			w->order[tail++] = to;
		}
	}
	return tail;
}

static bool graph_is_whole(struct graph_work *w, struct ang_topo_why *why)
{
	const char *at;
	u32 i;

	w->order[0] = 0;
	if (graph_search(w, 1) == w->topo->routers)
		return true;
	for (i = 0; w->dist[i] != ANG_NONE; i++)
		;
	why->what = "router: cannot be reached from the first node";
	why->line = 1;
	for (at = w->text; at < w->text + w->name[i]; at++)
		why->line += *at == '\n';
	return false;
}

static void graph_set_ranks(struct graph_work *w)
{
	u32 *rank = graph_rank(w->t);
	u32 best = 0, least = ANG_NONE;
	u32 i;

	for (i = 0; i < w->topo->routers; i++) {
		w->order[0] = i;
		graph_search(w, 1);
		if (w->dist[w->order[w->topo->routers - 1]] < least) {
			least = w->dist[w->order[w->topo->routers - 1]];
			best = i;
		}
	}
	w->order[0] = best;
	graph_search(w, 1);
	for (i = 0; i < w->topo->routers; i++)
		rank[w->order[i]] = i;
}

/*
 * Set the keeper of each switch to the nearest node.  Of several nearest nodes, it is the
 * one with the lowest number: a switch takes the lowest keeper of its neighbours that are
 * one cable nearer to a node.
 */
static void graph_set_keepers(struct graph_work *w)
{
	u32 *keeper = graph_keepers(w->topo, w->t);
	u32 i, port;

	for (i = 0; i < w->topo->nodes; i++)
		w->order[i] = i;
	graph_search(w, w->topo->nodes);
	for (i = 0; i < w->topo->routers; i++) {
		u32 at = w->order[i];

		keeper[at] = w->dist[at] ? ANG_NONE : at;
		for (port = 0; w->dist[at] && port < w->topo->nports; port++) {
			u32 to = graph_end(w, at, port)->router;

			if (to != ANG_NONE && w->dist[to] + 1 == w->dist[at])
				keeper[at] = ang_min(keeper[at], keeper[to]);
		}
	}
}

static u8 *graph_exits(const struct graph_work *w, u32 router)
{
	return (u8 *)w->t + w->t->off_regs + (u64)router * w->t->stride +
	       w->t->exits[0];
}

/*
 * Return: a port of @at that leads down (@down) or up to a neighbour at distance @dist
 * from @dst.
 */
static u32 graph_pick(const struct graph_work *w, u32 at, u32 dist, bool down, u32 dst)
{
	const u32 *rank = graph_rank(w->t);
	u32 found = 0;
	u32 pass, port;

	for (pass = 0; pass < 2; pass++) {
		u32 skip = pass && found ? dst % found : 0;

		for (port = 0; port < w->topo->nports; port++) {
			u32 to = graph_end(w, at, port)->router;

			if (to == ANG_NONE || w->dist[to] != dist ||
			    (rank[to] > rank[at]) != down)
				continue;
			if (!pass)
				found++;
			else if (!skip--)
				return port;
		}
	}
	return ANGARA_PORT_NONE;
}

/*
 * Set each router's port to @dst: first for routers with a path down to @dst,
 * by the length of that path, then for all others.
 */
static void graph_set_routes(const struct graph_work *w, u32 *queue, u32 dst)
{
	const u32 *rank = graph_rank(w->t);
	u32 tail = 1;
	u32 head, i, port;

	for (i = 0; i < w->topo->routers; i++)
		w->dist[i] = ANG_NONE;
	w->dist[dst] = 0;
	queue[0] = dst;
	for (head = 0; head < tail; head++) {
		u32 at = queue[head];

		for (port = 0; port < w->topo->nports; port++) {
			u32 to = graph_end(w, at, port)->router;

			if (to == ANG_NONE || w->dist[to] != ANG_NONE ||
			    rank[to] > rank[at])
				continue;
			w->dist[to] = w->dist[at] + 1;
			queue[tail++] = to;
		}
	}
	for (i = 1; i < tail; i++)
		graph_exits(w, queue[i])[dst] =
			(u8)graph_pick(w, queue[i], w->dist[queue[i]] - 1, true, dst);
	graph_exits(w, dst)[dst] = ANGARA_PORT_NONE;
	for (i = 0; i < w->topo->routers; i++) {
		u32 at = w->order[i];
		u32 least = ANG_NONE;

		if (w->dist[at] != ANG_NONE)
			continue;
		for (port = 0; port < w->topo->nports; port++) {
			u32 to = graph_end(w, at, port)->router;

			if (to != ANG_NONE && rank[to] < rank[at])
				least = ang_min(least, w->dist[to]);
		}
		w->dist[at] = least + 1;
		graph_exits(w, at)[dst] = (u8)graph_pick(w, at, least, false, dst);
	}
}

static void graph_set_regs(const struct graph_work *w)
{
	u32 i;

	for (i = 0; i < w->topo->routers; i++) {
		struct ang_topo_regs *regs = (struct ang_topo_regs *)
			(graph_exits(w, i) - w->t->exits[0]);

		memset(regs, 0, sizeof(*regs));
		regs->own[0] = (u16)(ang_topo_is_switch(w->topo, i) ? ANG_TOPO_ANY : i);
	}
}

static bool graph_fill(const struct ang_topo *topo, const char *text,
		       struct ang_topo_table *t, struct ang_topo_why *why)
{
	u32 *extra = graph_rank(t);
	struct graph_work w = {
		.topo = topo, .t = t, .text = text,
		.name = extra + 2 * topo->routers,
		.order = extra + 3 * topo->routers,
		.dist = extra + 4 * topo->routers,
		.hash = extra + 5 * topo->routers,
		.slots = graph_slots(topo),
	};
	u32 i;

	memset(w.hash, 0, w.slots * sizeof(u32));
	for (i = 0; i < topo->routers * topo->nports; i++)
		t->end[i] = (struct ang_topo_end){ ANG_NONE, ANGARA_PORT_NONE };
	if (!graph_names(&w, why) || !graph_cables(&w, why) || !graph_is_whole(&w, why))
		return false;
	graph_set_keepers(&w);
	graph_set_ranks(&w);
	graph_set_regs(&w);
	/* w.name is not needed any more, and serves as the queue of the searches. */
	for (i = 0; i < topo->nodes; i++)
		graph_set_routes(&w, w.name, i);
	return true;
}

static u32 graph_peer(const struct ang_topo *topo, u32 router, u32 port, u32 *far)
{
	return ANG_NONE;
}

static void graph_regs(const struct ang_topo *topo, u32 router,
		       struct ang_topo_regs *regs)
{
	regs->own[0] = (u16)router;
	regs->by[0] = 0;
}

static u32 graph_exit(const struct ang_topo *topo, u32 router, u32 digit, u32 value)
{
	return ANGARA_PORT_NONE;
}

static u32 graph_class(const struct ang_topo *topo, u32 router, u32 port)
{
	const u32 *rank = graph_rank(topo->table);
	u32 to = ang_topo_peer(topo, router, port, NULL);

	return rank[to] < rank[router] ? topo->routers - rank[router] :
					 topo->routers + 1 + rank[router];
}

/* A route that goes up, then down, visits no router twice. */
static u32 graph_longest(const struct ang_topo *topo)
{
	return topo->routers - 1;
}

static u32 graph_keeper(const struct ang_topo *topo, u32 router)
{
	return graph_keepers(topo, topo->table)[router];
}

const struct ang_topo_ops ang_topo_graph = {
	.read = graph_read,
	.fill = graph_fill,
	.peer = graph_peer,
	.regs = graph_regs,
	.exit = graph_exit,
	.class = graph_class,
	.longest = graph_longest,
	.keeper = graph_keeper,
};
