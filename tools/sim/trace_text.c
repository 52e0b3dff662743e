// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trace records as text; see trace_text.h.
 */
#include <string.h>
#include <strings.h>
#include "ang_types.h"
#include "trace_text.h"

static const char * const events[ANG_TR_NUM] = {
	"INJECT", "SEND", "EJECT", "REDUCE", "RESULT", "CREDIT", "DROP",
};
static const char * const types[] = {
	"?", "PUT", "GET", "ACK", "DATA", "RESULT", "BCAST", "REDUCE",
	"ALLREDUCE", "CREDIT", "ABORT", "SEND", "ATOMIC", "READY", "RNR",
	"READY_ACK", "OPEN", "MGMT",
};

static_assert(sizeof(types) / sizeof(*types) == ANG_PKT_NUM, "all have names");

static const char * const vcs[] = { "REQ", "RSP", "UP", "DOWN", "ADAPT", "MGMT" };

#define COUNT(list)	(sizeof(list) / sizeof(*(list)))

const char *ang_pkt_name(u32 type)
{
	return types[type < COUNT(types) ? type : 0];
}

const char *ang_vc_name(u32 vc)
{
	return vc < COUNT(vcs) ? vcs[vc] : "?";
}

void ang_trace_print(FILE *to, const struct ang_trace *r)
{
	fprintf(to, "%llu node %u: %s %s from %u, tree %u, seq %u, %u x %u bytes",
		(unsigned long long)r->cycle, r->node, events[r->event],
		types[r->type], r->src, r->tree, r->seq, r->npkts, r->len);
	if (r->event == ANG_TR_SEND)
		fprintf(to, ", port %u on %s", r->port, vcs[r->vc]);
	if (r->status)
		fprintf(to, ", status %u", r->status);
	fputc('\n', to);
}

/* Index of a name in a list, or -1; tracefs uses lower case. */
static int number(const char *name, const char * const *list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcasecmp(name, list[i]))
			return (int)i;
	return -1;
}

static bool names(struct ang_trace *r, const char *event, const char *type)
{
	int e = number(event, events, COUNT(events));
	int t = number(type, types, COUNT(types));

	if (e < 0 || t <= 0)
		return false;
	r->event = (u8)e;
	r->type = (u8)t;
	return true;
}

static bool parse_tracefs(const char *at, struct ang_trace *r)
{
	unsigned long long cycle;
	char event[16], type[16];
	u32 vc, tree, npkts;
	int port;

	if (sscanf(at, "cycle=%llu node=%u %15s %15s port=%d vc=%u tree=%u src=%u seq=%u npkts=%u len=%u",
		   &cycle, &r->node, event, type, &port, &vc, &tree, &r->src,
		   &r->seq, &npkts, &r->len) != 11)
		return false;
	if (port < -1 || port >= ANGARA_MAX_PORTS || (vc >= ANGARA_VC_NUM && vc != ANG_VC_MGMT) ||
	    tree >= ANGARA_MAX_TREES || npkts > 0xFFFF)
		return false;
	r->cycle = cycle;
	r->vc = (u8)vc;
	r->tree = (u8)tree;
	r->npkts = (u16)npkts;
	r->port = (u8)(port < 0 ? ANGARA_PORT_NONE : port);
	return names(r, event, type);
}

bool ang_trace_parse(const char *line, struct ang_trace *r)
{
	const char *at = strstr(line, "cycle=");
	char event[16], type[16], vc[8];
	unsigned long long cycle;
	u32 tree, npkts, port;
	int end = 0, v;

	memset(r, 0, sizeof(*r));
	r->port = ANGARA_PORT_NONE;
	if (at)
		return parse_tracefs(at, r);
	if (sscanf(line, "%llu node %u: %15s %15s from %u, tree %u, seq %u, %u x %u bytes%n",
		   &cycle, &r->node, event, type, &r->src, &tree, &r->seq,
		   &npkts, &r->len, &end) != 9 || !end)
		return false;
	if (tree >= ANGARA_MAX_TREES || npkts > 0xFFFF)
		return false;
	r->cycle = cycle;
	r->tree = (u8)tree;
	r->npkts = (u16)npkts;
	if (sscanf(line + end, ", port %u on %7[A-Z]", &port, vc) == 2) {
		v = number(vc, vcs, COUNT(vcs));
		if (v < 0 || port >= ANGARA_MAX_PORTS)
			return false;
		r->vc = (u8)v;
		r->port = (u8)port;
	}
	return names(r, event, type);
}
