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
#define SMALL	64U	/* nodes up to which there is as much as can be of all */

enum {
	OPT_DIMS = 256,
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
"Usage: angara-vfio --dims DIMS --socket-dir DIR [OPTION...]\n"
"Serve the adapters of a torus to virtual machines, one socket for each.\n"
"\n"
"  --dims DIMS       size of the torus, such as 2x2x1\n"
"  --socket-dir DIR  folder for the sockets: node0.sock, node1.sock, ...\n"
"  --contexts N      contexts of each adapter, 1 to 128 (default 16; 4 if the\n"
"                    torus has more than 64 nodes)\n"
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
"  --listen [HOST:]PORT  let servers that play other nodes connect here; HOST is\n"
"                    127.0.0.1 if it is left out\n"
"  --peer [HOST:]PORT  connect with the server there; may be given several times\n"
"  --peer-timeout S  take a server for lost after that many seconds without a\n"
"                    connection (default 10)\n"
"  --ready-fd N      write a newline to this file descriptor when the sockets\n"
"                    are there, and close it\n"
"  -h, --help        write this text\n"
"  -V, --version     write the version\n";

/* Return: what follows the number, NULL if there is none up to @max. */
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

/* Bytes, with a unit or without. */
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
	case OPT_DIMS:
		o->dims = optarg;
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

/* As many threads as make sense. */
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

/* The torus, of the sizes that the loopback has too. */
static int make_cfg(struct opts *o)
{
	struct ang_topo topo;
	struct ang_cfg *cfg = &o->cfg;
	u32 nodes;
	bool small;

	cfg->ndims = ang_topo_parse(o->dims, cfg->dims);
	nodes = ang_topo_init(&topo, cfg->ndims, cfg->dims);
	if (!nodes) {
		say("--dims '%s': must be 1 to %u sizes like 2x2x1, at most %u nodes",
		    o->dims, ANG_MAX_DIMS, ANG_MAX_NODES);
		return USAGE;
	}
	small = nodes <= SMALL;
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

	if (!o->dims || !o->dir) {
		say("%s is missing; see angara-vfio --help",
		    o->dims ? "--socket-dir DIR" : "--dims DIMS");
		return USAGE;
	}
	if (stat(o->dir, &st) || !S_ISDIR(st.st_mode)) {
		say("--socket-dir '%s' is no folder: make it first", o->dir);
		return USAGE;
	}
	if ((o->links.listen || o->links.num_peers) && !only) {
		say("--listen and --peer want --only LIST: the nodes that this server plays");
		return USAGE;
	}
	o->cfg.remote = o->links.listen || o->links.num_peers;
	o->links.peer = o->peers;
	ret = make_cfg(o);
	if (ret < 0 && !ang_cfg_check(&o->cfg)) {
		say("--dims '%s': rings too long for links to other servers",
		    o->dims);
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
 * Return: -1 to go on, else an exit status; what is wrong has been said.
 */
int opts_parse(struct opts *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "dims", required_argument, NULL, OPT_DIMS },
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
		free(o->nodes);
		free(o->ours);
	}
	return status;
}
