// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opts.h"

#define USAGE	2	/* exit status */
#define SMALL	64U	/* routers up to which all limits have their maximum */
#define TEXT_MOST	4095U	/* bytes of a description that drivers read */

enum {
	OPT_FABRIC = 256,
	OPT_DIR,
	OPT_CONTEXTS,
	OPT_TREES,
	OPT_THREADS,
	OPT_MEMORY,
	OPT_MAPS,
	OPT_ONLY,
	OPT_READY,
	OPT_LISTEN,
	OPT_PEER,
	OPT_TIMEOUT,
};

static const char usage[] =
"Usage: angara-vfio --fabric FABRIC --socket-dir DIR [OPTION...]\n"
"Serve the adapters of a fabric to virtual machines, one socket for each.\n"
"\n"
"  --fabric FABRIC   what is joined to what: torus:2x2x1, mkns:4x4, fattree:4,3,\n"
"                    ..., or file:PATH for a graph\n"
"  --socket-dir DIR  folder for the sockets: node0.sock, node1.sock, ...\n"
"  --contexts N      contexts of each adapter, 1 to 128 (default 16; 4 if the\n"
"                    fabric has more than 64 nodes and switches)\n"
"  --trees N         trees of each adapter, 1 to 64 (default 16)\n"
"  --threads N       threads that run the model besides those of the adapters\n"
"                    (default: a processor each, but no more than nodes)\n"
"  --max-memory SIZE memory that each client may map, such as 512M or 64G; a\n"
"                    guest needs all of its memory mapped (default: half of this\n"
"                    machine's memory)\n"
"  --max-maps N      ranges of memory that each client may map, 65535 to 1048576\n"
"                    (default 262144)\n"
"  --only LIST       serve these nodes only, such as 0,2,4-7; the others just\n"
"                    route\n"
"  --listen [HOST:]PORT  listen for servers of other nodes; HOST is 127.0.0.1 if\n"
"                    it is left out\n"
"  --peer [HOST:]PORT  connect with the server there; may be given several times\n"
"  --peer-timeout S  declare a server lost after S seconds without a connection\n"
"                    (default 10)\n"
"  --ready-fd N      write a newline to this file descriptor when the sockets\n"
"                    are there, and close it\n"
"  -h, --help        write this text\n"
"  -V, --version     write the version\n";

/* Return: the text behind the number, NULL if it is not one up to @max. */
static const char *number(const char *text, u32 max, u32 *val)
{
	unsigned long v;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	v = strtoul(text, &end, 10);
	*val = (u32)v;
	return errno || v > max ? NULL : end;
}

static int want_number(const char *opt, const char *text, u32 min, u32 max,
		       u32 *val)
{
	const char *end = number(text, max, val);

	if (end && !*end && *val >= min)
		return -1;
	say("%s wants a number from %u to %u, not '%s'", opt, min, max, text);
	return USAGE;
}

/* Bytes, with or without a unit. */
static int want_size(const char *opt, const char *text, u64 *val)
{
	static const char units[] = "KMGT";
	const char *unit = NULL;
	u32 count = 0, shift = 0;
	const char *end = number(text, UINT32_MAX, &count);

	if (end && *end)
		unit = strchr(units, *end);
	if (unit) {
		shift = 10 * (u32)(unit - units + 1);
		end++;
	}
	*val = (u64)count << shift;
	if (end && !*end && *val >= DMA_PAGE && *val >> shift == count)
		return -1;
	say("%s wants a size such as 512M or 64G, at least 4K, not '%s'", opt,
	    text);
	return USAGE;
}

static int option(struct opts *o, int c, const char **only)
{
	u32 val = 0;
	int ret = -1;

	switch (c) {
	case 'h':
		fputs(usage, stdout);
		return 0;
	case 'V':
		puts("angara-vfio " VFIO_VERSION);
		return 0;
	case OPT_FABRIC:
		o->fabric = optarg;
		break;
	case OPT_DIR:
		o->dir = optarg;
		break;
	case OPT_CONTEXTS:
		ret = want_number("--contexts", optarg, 1, ANG_MAX_CTXS, &val);
		o->cfg.ctxs = (u16)val;
		break;
	case OPT_TREES:
		ret = want_number("--trees", optarg, 1, ANGARA_MAX_TREES, &val);
		o->cfg.trees = (u16)val;
		break;
	case OPT_THREADS:
		ret = want_number("--threads", optarg, 1, OPTS_MAX_THREADS,
				  &o->threads);
		break;
	case OPT_MEMORY:
		ret = want_size("--max-memory", optarg, &o->budget.bytes);
		break;
	case OPT_MAPS:
		ret = want_number("--max-maps", optarg, OPTS_MIN_MAPS,
				  OPTS_MAX_MAPS, &o->budget.maps);
		break;
	case OPT_ONLY:
		*only = optarg;
		break;
	case OPT_LISTEN:
		o->links.listen = optarg;
		break;
	case OPT_PEER:
		if (o->links.num_peers == PEERS_MAX) {
			say("--peer: a server has %u peers at the most",
			    PEERS_MAX);
			return USAGE;
		}
		o->peers[o->links.num_peers++] = optarg;
		break;
	case OPT_TIMEOUT:
		ret = want_number("--peer-timeout", optarg, 1, 3600,
				  &o->links.timeout_s);
		break;
	default:
		ret = want_number("--ready-fd", optarg, 0, 1U << 20, &val);
		o->ready_fd = (int)val;
	}
	return ret;
}

static int unknown(int c, char **argv)
{
	if (c == ':')
		say("option '%s' wants a value", argv[optind - 1]);
	else
		say("wrong option '%s'; see angara-vfio --help",
		    argv[optind - 1]);
	return USAGE;
}

/* One per processor, but not more than nodes. */
static u32 default_threads(u32 nodes)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	u32 n = cpus < 1 ? 1 : (u32)cpus;

	if (n > OPTS_MAX_THREADS)
		n = OPTS_MAX_THREADS;
	return n < nodes ? n : nodes;
}

static u64 half_of_memory(void)
{
	return (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE) / 2;
}

/* Return: the text of a file, with one byte more than drivers read; -errno. */
static int load(const char *path, char *text)
{
	FILE *file = fopen(path, "re");
	size_t got;
	int ret;

	if (!file)
		return -errno;
	got = fread(text, 1, TEXT_MOST + 1, file);
	ret = ferror(file) ? -EIO : 0;
	fclose(file);
	text[got] = 0;
	return ret;
}

/* Only filling a table tells whether a graph is a fabric; peers compare it. */
static bool fill(struct ang_cfg *cfg, struct ang_topo_why *why)
{
	void *table = malloc(ang_topo_table_size(&cfg->topo));

	if (table && ang_topo_fill(&cfg->topo, cfg->text, table, why))
		return true;
	if (!table)
		*why = (struct ang_topo_why){ .what = strerror(ENOMEM) };
	free(table);
	return false;
}

static bool read_text(struct opts *o, struct ang_topo_why *why)
{
	struct ang_cfg *cfg = &o->cfg;

	if (strlen(cfg->text) > TEXT_MOST) {
		why->what = "has more than the 4095 bytes that drivers read";
		return false;
	}
	return ang_topo_read(&cfg->topo, cfg->text, why) &&
	       (cfg->topo.kind != ANG_TOPO_GRAPH || fill(cfg, why));
}

/* Return: number of nodes; 0 with a message. */
static u32 read_fabric(struct opts *o)
{
	static char text[TEXT_MOST + 2];
	bool file = !strncmp(o->fabric, "file:", 5);
	struct ang_topo_why why = { 0 };
	int ret = file ? load(o->fabric + 5, text) : 0;

	o->cfg.text = file ? text : o->fabric;
	if (ret)
		why.what = strerror(-ret);
	else if (read_text(o, &why))
		return o->cfg.topo.nodes;
	if (why.line)
		say("--fabric '%.*s': line %u: %s", (int)strcspn(o->fabric, "\n"),
		    o->fabric, why.line, why.what);
	else
		say("--fabric '%.*s': %s", (int)strcspn(o->fabric, "\n"), o->fabric,
		    why.what);
	return 0;
}

/* The fabric, of the sizes that the loopback has too. */
static int make_cfg(struct opts *o)
{
	struct ang_cfg *cfg = &o->cfg;
	u32 nodes = read_fabric(o);
	bool small;

	if (!nodes)
		return USAGE;
	small = cfg->topo.routers <= SMALL;
	if (!cfg->ctxs)
		cfg->ctxs = small ? 16 : 4;
	if (!cfg->trees)
		cfg->trees = ANG_DEF_TREES;
	cfg->ops = small ? 64 : 16;
	cfg->bufs = small ? 64 : 16;
	cfg->depth = small ? 8 : 4;
	cfg->train = small ? 8 : 2;
	if (!o->threads)
		o->threads = default_threads(nodes);
	return -1;
}

/* Marks the nodes of @list. */
static bool mark(const char *list, bool *on, u32 nodes)
{
	u32 first, last;

	while (list) {
		list = number(list, nodes - 1, &first);
		last = first;
		if (list && *list == '-')
			list = number(list + 1, nodes - 1, &last);
		if (!list || last < first)
			return false;
		while (first <= last)
			on[first++] = true;
		if (!*list)
			return true;
		list = *list == ',' ? list + 1 : NULL;
	}
	return false;
}

static int choose_nodes(struct opts *o, const char *only)
{
	u32 nodes = ang_cfg_check(&o->cfg);
	bool *on = calloc(nodes, sizeof(*on));
	int ret = -1;
	u32 i;

	o->nodes = calloc(OPTS_MAX_CARDS, sizeof(*o->nodes));
	if (!on || !o->nodes) {
		say("no memory for %u nodes", nodes);
		ret = 1;
	} else if (only && !mark(only, on, nodes)) {
		say("--only wants a list such as 0,2,4-7 of nodes up to %u, not '%s'",
		    nodes - 1, only);
		ret = USAGE;
	}
	for (i = 0; ret < 0 && i < nodes; i++) {
		if (only && !on[i])
			continue;
		if (o->num_nodes == OPTS_MAX_CARDS) {
			say("one server has %u adapters at the most: choose some of the %u with --only",
			    OPTS_MAX_CARDS, nodes);
			ret = USAGE;
			break;
		}
		o->nodes[o->num_nodes++] = i;
	}
	o->ours = on;
	return ret;
}

static int check(struct opts *o, const char *only)
{
	struct stat st;
	int ret;

	if (!o->fabric || !o->dir) {
		say("%s is missing; see angara-vfio --help",
		    o->fabric ? "--socket-dir DIR" : "--fabric FABRIC");
		return USAGE;
	}
	if (stat(o->dir, &st) || !S_ISDIR(st.st_mode)) {
		say("--socket-dir '%s' is no folder: make it first", o->dir);
		return USAGE;
	}
	if ((o->links.listen || o->links.num_peers) && !only) {
		say("--listen and --peer need --only LIST, the nodes of this server");
		return USAGE;
	}
	o->cfg.remote = o->links.listen || o->links.num_peers;
	o->links.peer = o->peers;
	ret = make_cfg(o);
	if (ret < 0 && !ang_cfg_check(&o->cfg)) {
		say("--fabric '%s': paths are too long for links to other servers",
		    o->fabric);
		return USAGE;
	}
	return ret < 0 ? choose_nodes(o, only) : ret;
}

/**
 * opts_parse() - read the command line
 * @o: out
 * @argc: arguments
 * @argv: arguments
 *
 * Return: -1 to go on, else an exit status, after a message.
 */
int opts_parse(struct opts *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "fabric", required_argument, NULL, OPT_FABRIC },
		{ "socket-dir", required_argument, NULL, OPT_DIR },
		{ "contexts", required_argument, NULL, OPT_CONTEXTS },
		{ "trees", required_argument, NULL, OPT_TREES },
		{ "threads", required_argument, NULL, OPT_THREADS },
		{ "max-memory", required_argument, NULL, OPT_MEMORY },
		{ "max-maps", required_argument, NULL, OPT_MAPS },
		{ "only", required_argument, NULL, OPT_ONLY },
		{ "ready-fd", required_argument, NULL, OPT_READY },
		{ "listen", required_argument, NULL, OPT_LISTEN },
		{ "peer", required_argument, NULL, OPT_PEER },
		{ "peer-timeout", required_argument, NULL, OPT_TIMEOUT },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	const char *only = NULL;
	int c, status;

	*o = (struct opts){ .ready_fd = -1,
			    .budget = { half_of_memory(), OPTS_MAPS },
			    .links.timeout_s = PEER_TIMEOUT_S };
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:hV", longs, NULL)) != -1) {
		status = c == '?' || c == ':' ? unknown(c, argv) :
						option(o, c, &only);
		if (status >= 0)
			return status;
	}
	if (optind < argc) {
		say("unexpected '%s'; see angara-vfio --help", argv[optind]);
		return USAGE;
	}
	status = check(o, only);
	if (status >= 0) {
		free((void *)o->cfg.topo.table);
		free(o->nodes);
		free(o->ours);
	}
	return status;
}
