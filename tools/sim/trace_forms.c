// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats of a trace: VCD for GTKWave, JSON for Perfetto and Chrome.
 *
 * In both formats a node is a group, and each of its ports is a line.  While a
 * packet is in a port, the line shows its type, tree, number and source.
 */
#include "sim.h"
#include "trace.h"
#include "trace_text.h"

struct line {
	u32 node;
	u32 id;		/* number of its first signal */
	char name[32];
};

struct change {
	u64 time;
	u32 line;
	u32 order;
	const struct sim_rec *rec;	/* packet shown from now on; NULL: none */
};

struct wave {
	struct line *line;
	u32 lines;
	struct change *change;
	u32 changes;
};

static u32 line_of(struct sim *s, struct wave *w, const struct sim_rec *r)
{
	struct line *l;
	char name[32];
	u32 i;

	trace_port(s, r, name, sizeof(name));
	for (i = 0; i < w->lines; i++)
		if (w->line[i].node == r->node && !strcmp(w->line[i].name, name))
			return i;
	w->line = realloc(w->line, (w->lines + 1) * sizeof(*w->line));
	if (!w->line)
		exit(1);
	l = &w->line[w->lines];
	l->node = r->node;
	l->id = 5 * w->lines;
	memcpy(l->name, name, sizeof(name));
	return w->lines++;
}

/* Among changes at the same time, ends precede starts. */
static int by_change(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (!x->rec != !y->rec)
		return x->rec ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void changes(struct sim *s, struct wave *w, const struct sim_rec *rec,
		    u32 n)
{
	u32 i;

	w->change = sim_zalloc(2 * (size_t)n, sizeof(*w->change));
	for (i = 0; i < n; i++) {
		u32 line = line_of(s, w, &rec[i]);

		w->change[w->changes++] = (struct change){
			.time = rec[i].time, .line = line, .order = i,
			.rec = &rec[i],
		};
		w->change[w->changes++] = (struct change){
			.time = sim_max(rec[i].end, rec[i].time + 1),
			.line = line, .order = i,
		};
	}
	qsort(w->change, w->changes, sizeof(*w->change), by_change);
}

/* Short names of VCD consist of printable characters. */
static const char *vcd_id(u32 n)
{
	static char id[8];
	u32 at = 0;

	do {
		id[at++] = (char)('!' + n % 94);
		n /= 94;
	} while (n);
	id[at] = 0;
	return id;
}

static void vcd_bits(FILE *to, u32 val, u32 id)
{
	u32 bit = 31;

	fputc('b', to);
	while (bit && !(val >> bit & 1))
		bit--;
	for (; bit; bit--)
		fputc('0' + (int)(val >> bit & 1), to);
	fprintf(to, "%u %s\n", val & 1, vcd_id(id));
}

static void vcd_declare(const struct wave *w, FILE *to)
{
	static const char * const fields[] = { "tree", "number", "source" };
	u32 last = ANG_NONE, i, j;

	/*
	 * The lines of a node need not be contiguous: VCD allows a scope to be
	 * opened again.
	 */
	for (i = 0; i < w->lines; i++) {
		const struct line *l = &w->line[i];
		char name[32];

		if (l->node != last && last != ANG_NONE)
			fprintf(to, "$upscope $end\n");
		if (l->node != last)
			fprintf(to, "$scope module node%u $end\n", l->node);
		last = l->node;
		for (j = 0; l->name[j]; j++)
			name[j] = l->name[j] == ' ' ? '_' : l->name[j];
		name[j] = 0;
		fprintf(to, "$scope module %s $end\n", name);
		fprintf(to, "$var wire 1 %s busy $end\n", vcd_id(l->id));
		fprintf(to, "$var string 1 %s type $end\n", vcd_id(l->id + 1));
		for (j = 0; j < 3; j++)
			fprintf(to, "$var wire 32 %s %s $end\n",
				vcd_id(l->id + 2 + j), fields[j]);
		fprintf(to, "$upscope $end\n");
	}
	if (w->lines)
		fprintf(to, "$upscope $end\n");
}

void trace_vcd(struct sim *s, const struct sim_rec *rec, u32 n, FILE *to)
{
	struct wave w = { 0 };
	u64 now = SIM_NEVER;
	u32 i;

	changes(s, &w, rec, n);
	fprintf(to, "$version angara-sim $end\n$timescale 1ps $end\n");
	vcd_declare(&w, to);
	fprintf(to, "$enddefinitions $end\n#0\n$dumpvars\n");
	for (i = 0; i < w.lines; i++)
		fprintf(to, "0%s\n", vcd_id(w.line[i].id));
	fprintf(to, "$end\n");
	for (i = 0; i < w.changes; i++) {
		const struct change *c = &w.change[i];
		u32 id = w.line[c->line].id;

		if (c->time != now)
			fprintf(to, "#%llu\n", (unsigned long long)c->time);
		now = c->time;
		fprintf(to, "%d%s\n", !!c->rec, vcd_id(id));
		if (!c->rec)
			continue;
		fprintf(to, "s%s %s\n", ang_pkt_name(c->rec->type),
			vcd_id(id + 1));
		vcd_bits(to, c->rec->tree, id + 2);
		vcd_bits(to, c->rec->seq, id + 3);
		vcd_bits(to, c->rec->src, id + 4);
	}
	free(w.line);
	free(w.change);
}

void trace_chrome(struct sim *s, const struct sim_rec *rec, u32 n, FILE *to)
{
	struct wave w = { 0 };
	u32 i;

	fprintf(to, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (i = 0; i < n; i++) {
		const struct sim_rec *r = &rec[i];
		u64 end = sim_max(r->end, r->time);

		fprintf(to, "%s\n{\"name\":\"%s\",\"ph\":\"X\",\"ts\":%llu.%06llu,\"dur\":%llu.%06llu,\"pid\":%u,\"tid\":%u,\"args\":{\"from\":%u,\"tree\":%u,\"seq\":%u,\"flits\":%u,\"vc\":\"%s\"}}",
			i ? "," : "", ang_pkt_name(r->type),
			(unsigned long long)r->time / 1000000,
			(unsigned long long)r->time % 1000000,
			(unsigned long long)(end - r->time) / 1000000,
			(unsigned long long)(end - r->time) % 1000000,
			r->node, line_of(s, &w, r), r->src, r->tree, r->seq,
			r->flits, ang_vc_name(r->vc));
	}
	for (i = 0; i < w.lines; i++) {
		fprintf(to, "%s\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":\"%s\"}}",
			n ? "," : "", w.line[i].node, i, w.line[i].name);
		fprintf(to, ",\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"node %u\"}}",
			w.line[i].node, w.line[i].node);
	}
	fprintf(to, "\n]}\n");
	free(w.line);
}
