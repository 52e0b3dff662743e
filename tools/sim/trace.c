// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recording, and the formats of records; see trace.h.
 */
#include <errno.h>
#include "sim.h"
#include "trace.h"
#include "trace_text.h"

void sim_trace_add(struct sim_part *p, u32 event, u32 node,
		   const struct sim_pkt *k, u32 port, u64 from, u64 to)
{
	struct sim_trace *t = p->trace;
	u32 id = p->sim->base + node;

	if (p->sim->watched && !(p->sim->watched[id / 8] & 1 << id % 8))
		return;
	if (t->n == t->size) {
		t->size = t->size ? 2 * t->size : 1024;
		t->rec = realloc(t->rec, t->size * sizeof(*t->rec));
		if (!t->rec) {
			fprintf(stderr, "angara-sim: out of memory for the trace; watch fewer nodes\n");
			exit(1);
		}
	}
	t->rec[t->n] = (struct sim_rec){
		.time = from, .end = to, .node = id, .src = k->src,
		.seq = k->seq, .bytes = k->bytes, .order = t->n,
		.flits = k->flits, .event = (u8)event, .type = k->type,
		.vc = k->vc, .tree = k->tree, .port = (u16)port,
	};
	t->n++;
}

int sim_trace_start(struct sim *s, const char *nodes)
{
	u32 i;

	for (i = 0; i < s->threads; i++)
		s->part[i].trace = sim_zalloc(1, sizeof(*s->part[i].trace));
	if (!nodes)
		return 0;
	s->watched = sim_zalloc(s->topo.routers / 8 + 1, 1);
	while (*nodes) {
		char *end;
		unsigned long id = strtoul(nodes, &end, 10);

		if (end == nodes || (*end && *end != ',') ||
		    id >= s->topo.routers)
			return -EINVAL;
		s->watched[id / 8] |= (u8)(1 << id % 8);
		nodes = *end ? end + 1 : end;
	}
	return 0;
}

/* Sorts by time; records of a node keep the order in which they were made. */
static int by_time(const void *a, const void *b)
{
	const struct sim_rec *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static struct sim_rec *collect(struct sim *s, u32 *count)
{
	struct sim_rec *all;
	u32 i, n = 0;

	for (i = 0; i < s->threads; i++)
		n += s->part[i].trace->n;
	all = sim_zalloc(n, sizeof(*all));
	*count = n;
	for (i = 0, n = 0; i < s->threads; i++) {
		struct sim_trace *t = s->part[i].trace;

		if (t->n)
			memcpy(all + n, t->rec, t->n * sizeof(*all));
		n += t->n;
	}
	qsort(all, n, sizeof(*all), by_time);
	return all;
}

static void trace_text(struct sim *s, const struct sim_rec *rec, u32 n, FILE *to)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct ang_trace r = {
			.cycle = rec[i].time / s->cfg.clock,
			.node = rec[i].node, .event = rec[i].event,
			.type = rec[i].type, .tree = rec[i].tree,
			.npkts = 1, .len = rec[i].bytes,
			.seq = rec[i].seq, .src = rec[i].src,
			.port = rec[i].port, .vc = rec[i].vc,
		};

		if (r.event < ANG_TR_NUM)
			ang_trace_print(to, &r);
	}
}

#define PORT_NAME	16

static const char *port_name(const struct sim *s, u32 port, char *buf)
{
	if (s->coord)
		return angara_dir_name(port);
	snprintf(buf, PORT_NAME, "port %u", port);
	return buf;
}

char *trace_port(struct sim *s, const struct sim_rec *r, char *buf, size_t len)
{
	static const char * const sources[SIM_SRC_MODULE] = {
		"PEGroup FIFO", "root FIFO", "injection", "answers",
		"credit unit",
	};
	static const char * const outs[] = { "to PE", "to Reducer", "to root FIFO" };
	char name[PORT_NAME];
	u32 port = r->port;

	switch (r->event) {
	case SIM_TR_ARRIVE:
		if (port < s->src0)
			snprintf(buf, len, "from %s %s",
				 port_name(s, port / SIM_NVC, name),
				 ang_vc_name(port % SIM_NVC));
		else if (port < s->src0 + SIM_SRC_MODULE)
			snprintf(buf, len, "%s", sources[port - s->src0]);
		else if (sim_is_result(s, port))
			snprintf(buf, len, "results of tree %u",
				 port - sim_result(s, 0));
		else
			snprintf(buf, len, "injection of module %u",
				 port - s->src0 - SIM_SRC_MODULE + 1);
		break;
	case ANG_TR_SEND:
		snprintf(buf, len, "to %s", port_name(s, port, name));
		break;
	case ANG_TR_EJECT:
		snprintf(buf, len, "%s", outs[0]);
		break;
	case ANG_TR_REDUCE:
		snprintf(buf, len, "%s", outs[1]);
		break;
	case ANG_TR_INJECT:
		snprintf(buf, len, "from PE");
		break;
	default:
		snprintf(buf, len, "credit unit");
	}
	return buf;
}

static bool ends_in(const char *path, const char *end)
{
	size_t a = strlen(path), b = strlen(end);

	return a > b && !strcmp(path + a - b, end);
}

static int close_file(FILE *f)
{
	int err = fflush(f) ? -errno : 0;

	return fclose(f) && !err ? -errno : err;
}

int sim_trace_write(struct sim *s, const char *path)
{
	FILE *to = fopen(path, "w");
	struct sim_rec *rec;
	u32 n;

	if (!to)
		return -errno;
	rec = collect(s, &n);
	if (ends_in(path, ".vcd"))
		trace_vcd(s, rec, n, to);
	else if (ends_in(path, ".json"))
		trace_chrome(s, rec, n, to);
	else
		trace_text(s, rec, n, to);
	free(rec);
	return close_file(to);
}

int sim_heatmap_write(struct sim *s, const char *path)
{
	FILE *to = fopen(path, "w");
	u32 node, port, vc, d;
	char name[PORT_NAME];
	u64 last = 0;

	if (!to)
		return -errno;
	for (d = 0; d < s->threads; d++)
		last = sim_max(last, s->part[d].acc.last);
	fprintf(to, "node,%s,to,flits,load",
		s->coord ? "x,y,z,w,direction" : "port");
	for (vc = 0; vc < SIM_NVC; vc++)
		fprintf(to, ",%s", ang_vc_name(vc));
	fputc('\n', to);
	for (node = 0; node < s->nodes; node++) {
		const u16 *at = s->coord ? s->coord[s->base + node] : NULL;

		for (port = 0; port < s->nports; port++) {
			const struct sim_out *o = sim_out(s, node, port);
			u32 nb = sim_end(s, node, port)->router;

			if (nb == ANG_NONE)
				continue;
			fprintf(to, "%u,", s->base + node);
			if (at)
				fprintf(to, "%u,%u,%u,%u,", at[0], at[1], at[2],
					at[3]);
			fprintf(to, "%s,%u,%llu,%.6f",
				port_name(s, port, name), nb,
				(unsigned long long)o->flits,
				last ? (double)o->flits * (double)s->link_ps[1] /
				       (double)last : 0);
			for (vc = 0; vc < SIM_NVC; vc++)
				fprintf(to, ",%u", o->pkts[vc]);
			fputc('\n', to);
		}
	}
	return close_file(to);
}
