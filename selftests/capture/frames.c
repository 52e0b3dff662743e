// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames FILE: writes a capture with a frame of every event and type, by
 * angara-vfio's own code, and prints how a reader must show each frame.
 *
 * frames --lost FILE: writes the capture of a reader that was too slow.
 *
 * frames --records FILE: writes the capture of the records on standard input.
 *
 * frames --read FILE: reads a capture by the simulator's reader and prints the
 * records, or the error, with exit status 3.
 */
#include <stdio.h>
#include <string.h>

#include "ang_types.h"
#include "trace.h"
#include "trace_pcapng.h"
#include "trace_text.h"

static FILE *to;
static struct traces traces;

static void put(const struct trace_rec *rec)
{
	u8 block[PCAPNG_MAX_BLOCK];

	/* The capture has one interface, since only node 3 is active. */
	fwrite(block, pcapng_packet(block, 0, rec), 1, to);
}

static struct ang_trace record(u32 event, u32 type)
{
	return (struct ang_trace){
		.cycle = 1ULL << 40 | event << 8 | type, .node = 3,
		.event = (u8)event, .type = (u8)type, .port = type % 64,
		.vc = type % ANGARA_VC_NUM, .tree = type % ANG_DEF_TREES,
		.status = event == ANG_TR_DROP ? type % 7 : type % 3,
		.npkts = (u16)(type + 1), .len = 256 * type,
		.seq = 0xFFFFFFF0U + type, .src = 70000 + type,
	};
}

static void all(struct tracer *tracer)
{
	struct trace_rec rec;
	u32 event, type;

	for (event = 0; event < ANG_TR_NUM; event++) {
		for (type = 1; *ang_pkt_name(type) != '?'; type++) {
			struct ang_trace r = record(event, type);

			traces_record(&traces, &r);
			if (traces_take(&traces, tracer, &rec, 1, 0) == 1)
				put(&rec);
			ang_trace_print(stdout, &r);
		}
	}
	/* A record of another node, which this reader does not capture. */
	rec.rec = record(0, 1);
	rec.rec.node = 4;
	traces_record(&traces, &rec.rec);
	if (traces_take(&traces, tracer, &rec, 1, 0))
		put(&rec);
}

static void lost(struct tracer *tracer)
{
	struct ang_trace r = record(0, 1);
	struct trace_rec rec;
	u32 i;

	for (i = 0; i < TRACE_RING + 7; i++)
		traces_record(&traces, &r);
	for (i = 0; i < 10; i++)
		traces_take(&traces, tracer, &rec, 1, 0);
	traces_record(&traces, &r);
	while (traces_take(&traces, tracer, &rec, 1, 0))
		put(&rec);
}

static void records(void)
{
	struct trace_rec rec = { 0 };
	char line[512];

	while (fgets(line, sizeof(line), stdin))
		if (ang_trace_parse(line, &rec.rec))
			put(&rec);
}

static int print(const char *path)
{
	struct ang_capture c = { .f = fopen(path, "r") };
	char start[4], err[128] = "no capture";
	struct ang_trace r;
	int ret = -1;

	if (!c.f)
		return 2;
	if (fread(start, 1, 4, c.f) == 4 && !memcmp(start, ANG_PCAPNG_START, 4))
		while ((ret = ang_capture_next(&c, &r, err, sizeof(err))) > 0)
			ang_trace_print(stdout, &r);
	if (ret)
		fprintf(stderr, "block %u: %s\n", c.block, err);
	fclose(c.f);
	return ret ? 3 : 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc == 3 ? argv[1] : "";
	u8 block[PCAPNG_MAX_BLOCK];
	struct tracer *tracer;

	if (!strcmp(mode, "--read"))
		return print(argv[2]);
	to = fopen(argv[argc - 1], "w");
	if (argc < 2 || !to)
		return 2;
	traces_init(&traces);
	tracer = traces_add(&traces, 3);
	if (!tracer)
		return 1;
	fwrite(block, pcapng_header(block), 1, to);
	fwrite(block, pcapng_interface(block, 3), 1, to);
	if (!strcmp(mode, "--lost"))
		lost(tracer);
	else if (!strcmp(mode, "--records"))
		records();
	else
		all(tracer);
	traces_remove(&traces, tracer);
	traces_destroy(&traces);
	return fclose(to) ? 1 : 0;
}
