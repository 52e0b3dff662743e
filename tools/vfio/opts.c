// SPDX-License-Identifier: GPL-2.0-only
/* The command line. */
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "key.h"
#include "options.h"
#include "opts.h"

#define SMALL	64U	/* a fabric of more nodes has lower default limits */
#define TEXT_MOST	4095U	/* most bytes of a description that drivers read */

const char tool_name[] = "angara-vfio";

enum {
	OPT_FABRIC = OPTS_LONG,
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
	OPT_KEY,
	OPT_MANAGE_KEY,
	OPT_FAULTS,
};

static const struct opt options[] = {
	{ OPT_FABRIC, "fabric", "FABRIC",
	  "topology: torus:2x2x1, mkns:4x4, fattree:4,3, ..., or\n"
	  "file:PATH for a graph",
	  "torus: mesh: hypercube: mkns: kns: fattree: file:" },
	{ OPT_DIR, "socket-dir", "DIR",
	  "folder for the sockets: node0.sock, node1.sock, ...", "@dir" },
	{ OPT_CONTEXTS, "contexts", "N",
	  "contexts of each adapter, 1 to 128 (default 16; 4 if the\n"
	  "fabric has more than 64 nodes and switches)", NULL },
	{ OPT_TREES, "trees", "N",
	  "trees of each adapter, 1 to 64 (default 16)", NULL },
	{ OPT_THREADS, "threads", "N",
	  "threads that run the model besides those of the adapters\n"
	  "(default: a processor each, but no more than nodes)", NULL },
	{ OPT_MEMORY, "max-memory", "SIZE",
	  "memory that each client may map, such as 512M or 64G; a\n"
	  "guest needs all of its memory mapped (default: half of this\n"
	  "machine's memory)", NULL },
	{ OPT_MAPS, "max-maps", "N",
	  "ranges of memory that each client may map, 65535 to 1048576\n"
	  "(default 262144)", NULL },
	{ OPT_ONLY, "only", "LIST",
	  "serve these nodes only, such as 0,2,4-7; other nodes only\n"
	  "route", NULL },
	{ OPT_LISTEN, "listen", "[HOST:]PORT",
	  "listen for servers of other nodes; HOST is 127.0.0.1 if\n"
	  "it is left out", NULL },
	{ OPT_PEER, "peer", "[HOST:]PORT",
	  "connect to the server at that address; may be repeated", NULL },
	{ OPT_TIMEOUT, "peer-timeout", "S",
	  "declare a server lost after S seconds without a connection\n"
	  "(default 10)", NULL },
	{ OPT_KEY, "peer-key", "FILE",
	  "encrypt links between servers by TLS, with the key in FILE,\n"
	  "which all servers share; other machines need it", "@file" },
	{ OPT_MANAGE_KEY, "manage-key", "FILE",
	  "first key of all routers for in-band management, a number\n"
	  "in the first line of FILE; without it no packet writes", "@file" },
	{ OPT_FAULTS, "faults", NULL,
	  "let guests set faults of their nodes' links, for tests", NULL },
	{ OPT_READY, "ready-fd", "N",
	  "write a newline to this file descriptor when the sockets\n"
	  "exist, then close it", NULL },
	{ 0 },
};

/* The values read from the command line. */
struct given {
	struct opts *o;
	const char *only;
};

static int want_number(const char *opt, const char *text, u32 min, u32 max,
		       u32 *val)
{
	uint64_t v = 0;
	int status = opts_number(opt, text, min, max, &v);

	*val = (u32)v;
	return status;
}

static int want_size(const char *opt, const char *text, u64 *val)
{
	uint64_t v = 0;

	if (!opts_scaled(text, &v) || v < DMA_PAGE)
		return misuse("%s wants a size such as 512M or 64G, at least 4K, "
			      "not '%s'", opt, text);
	*val = v;
	return -1;
}

static int want_peer(struct opts *o, const char *peer)
{
	if (o->links.num_peers == PEERS_MAX)
		return misuse("--peer: a server has at most %u peers",
			      PEERS_MAX);
	o->peers[o->links.num_peers++] = peer;
	return -1;
}

static int want_option(void *to, int id, const char *value)
{
	struct given *given = to;
	struct opts *o = given->o;
	uint64_t key;
	u32 val = 0;
	int ret = -1;

	switch (id) {
	case OPT_FABRIC:
		o->fabric = value;
		break;
	case OPT_DIR:
		o->dir = value;
		break;
	case OPT_CONTEXTS:
		ret = want_number("--contexts", value, 1, ANG_MAX_CTXS, &val);
		o->cfg.ctxs = (u16)val;
		break;
	case OPT_TREES:
		ret = want_number("--trees", value, 1, ANGARA_MAX_TREES, &val);
		o->cfg.trees = (u16)val;
		break;
	case OPT_THREADS:
		return want_number("--threads", value, 1, OPTS_MAX_THREADS,
				   &o->threads);
	case OPT_MEMORY:
		return want_size("--max-memory", value, &o->budget.bytes);
	case OPT_MAPS:
		return want_number("--max-maps", value, OPTS_MIN_MAPS,
				   OPTS_MAX_MAPS, &o->budget.maps);
	case OPT_ONLY:
		given->only = value;
		break;
	case OPT_LISTEN:
		o->links.listen = value;
		break;
	case OPT_PEER:
		return want_peer(o, value);
	case OPT_TIMEOUT:
		return want_number("--peer-timeout", value, 1, 3600,
				   &o->links.timeout_s);
	case OPT_KEY:
		o->links.key = value;
		break;
	case OPT_MANAGE_KEY:
		ret = key_read(value, &key);
		o->cfg.mgmt_key = key;
		return ret ? ret : -1;
	case OPT_FAULTS:
		o->faults = true;
		break;
	default:
		ret = want_number("--ready-fd", value, 0, 1U << 20, &val);
		o->ready_fd = (int)val;
	}
	return ret;
}

static const struct opts_command vfio_command = {
	.version = ANG_RELEASE,
	.usage = " --fabric FABRIC --socket-dir DIR [OPTION...]",
	.what = "Serve the adapters of a fabric to virtual machines, one socket for each.",
	.opts = options,
	.take = want_option,
};

/* One worker per processor, at most one per node. */
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

/*
 * Read a file, at most one byte more than drivers read.  Return: 0 or -errno.
 */
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

/*
 * Fill the routing table: this checks that the graph is a fabric, and peers
 * compare the table.
 */
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
		misuse("--fabric '%.*s': line %u: %s",
		       (int)strcspn(o->fabric, "\n"), o->fabric, why.line, why.what);
	else
		misuse("--fabric '%.*s': %s", (int)strcspn(o->fabric, "\n"),
		       o->fabric, why.what);
	return 0;
}

/* Sets the fabric; the default limits are the same as those of the loopback. */
static int make_cfg(struct opts *o)
{
	struct ang_cfg *cfg = &o->cfg;
	u32 nodes = read_fabric(o);
	bool small;

	if (!nodes)
		return MISUSED;
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
	uint64_t first, last;

	while (list) {
		list = opts_digits(list, nodes - 1, &first);
		last = first;
		if (list && *list == '-')
			list = opts_digits(list + 1, nodes - 1, &last);
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
		ret = fail("no memory for %u nodes", nodes);
	} else if (only && !mark(only, on, nodes)) {
		ret = misuse("--only wants a list such as 0,2,4-7 of nodes up to %u, not '%s'",
			     nodes - 1, only);
	}
	for (i = 0; ret < 0 && i < nodes; i++) {
		if (only && !on[i])
			continue;
		if (o->num_nodes == OPTS_MAX_CARDS) {
			ret = misuse("a server has at most %u adapters, but the fabric has %u nodes: choose nodes with --only",
				     OPTS_MAX_CARDS, nodes);
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

	if (!o->fabric || !o->dir)
		return misuse("%s is missing; see angara-vfio --help",
			      o->fabric ? "--socket-dir DIR" : "--fabric FABRIC");
	if (stat(o->dir, &st) || !S_ISDIR(st.st_mode))
		return misuse("--socket-dir '%s' is not a folder: create it first",
			      o->dir);
	if ((o->links.listen || o->links.num_peers) && o->faults)
		return misuse("--faults needs a server of the whole fabric, without --listen and --peer");
	if ((o->links.listen || o->links.num_peers) && !only)
		return misuse("--listen and --peer need --only LIST, the nodes of this server");
	if (o->links.key && !o->links.listen && !o->links.num_peers)
		return misuse("--peer-key needs --listen or --peer: it is the key of links with other servers");
	o->cfg.remote = o->links.listen || o->links.num_peers;
	o->cfg.sealed = !o->faults;
	o->links.peer = o->peers;
	ret = make_cfg(o);
	if (ret < 0 && !ang_cfg_check(&o->cfg))
		return misuse("--fabric '%s': paths are too long for links to other servers",
			      o->fabric);
	return ret < 0 ? choose_nodes(o, only) : ret;
}

/**
 * opts_parse() - read the command line
 * @o: out
 * @argc: arguments
 * @argv: arguments
 *
 * Return: -1 to continue, otherwise an exit status, after a message.
 */
int opts_parse(struct opts *o, int argc, char **argv)
{
	struct given given = { .o = o };
	int status;

	*o = (struct opts){ .ready_fd = -1,
			    .budget = { half_of_memory(), OPTS_MAPS },
			    .links.timeout_s = PEER_TIMEOUT_S };
	status = opts_read(&vfio_command, &given, argc, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		return misuse("unexpected '%s'; see angara-vfio --help",
			      argv[optind]);
	status = check(o, given.only);
	if (status >= 0) {
		free((void *)o->cfg.topo.table);
		free(o->nodes);
		free(o->ours);
	}
	return status;
}
