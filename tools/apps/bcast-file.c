// SPDX-License-Identifier: GPL-2.0-only
/*
 * angara-bcast-file: broadcast a file to all processes and verify it.
 *
 * The file is sent in chunks through two windows in every process.  While chunk
 * k is in flight into one window, the processes read chunk k - 1 from the
 * second window; the barrier after chunk k - 1 shows the source that its window
 * is free.  The checksum of the received data is compared with that of the
 * file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "coll.h"
#include "outfile.h"

#define SOURCE		0U
#define HEADER		64U	/* bytes before the data of a window */
#define DEFAULT_CHUNK	(256U << 10)
#define MAX_CHUNK	(64U << 20)

/* Header of a window. */
struct header {
	uint64_t len;		/* bytes of data after the header */
	int64_t err;		/* -errno: the source could not read further */
};

/**
 * struct options - command line
 * @app: this process
 * @file: file to broadcast
 * @out: folder for copies, or NULL
 * @chunk: bytes of a chunk
 * @run: all other options
 */
struct options {
	struct app *app;
	const char *file;
	const char *out;
	uint64_t chunk;
	struct app_options run;
};

/**
 * struct transfer - a broadcast in progress
 * @app: this process
 * @opt: command line
 * @coll: trees
 * @fd: the file, at the source
 * @size: bytes of the file
 * @chunks: number of chunks
 * @windows: two windows, at the same place in every process
 * @stage: two windows to send from, at the source
 * @bcast: broadcast into each window
 * @out: copy
 * @sent: checksum of the data read, at the source
 * @got: checksum of the data received
 */
struct transfer {
	struct app *app;
	const struct options *opt;
	struct coll *coll;
	int fd;
	uint64_t size;
	uint64_t chunks;
	struct angara_mr *windows;
	struct angara_mr *stage;
	struct coll_bcast bcast[2];
	struct outfile out;
	uint32_t sent;
	uint32_t got;
};

const char tool_name[] = "angara-bcast-file";

enum { OPT_CHUNK = APP_OPT_OWN };

static const struct opt opts[] = {
	{ 'o', "out", "DIR", "each process writes its copy to DIR/rank.N", "@dir" },
	{ OPT_CHUNK, "chunk", "SIZE", "bytes of one broadcast (default 256K)", NULL },
	APP_OPT_P2P("by puts over the same tree, not on the collective network"),
	APP_OPT_FLIP("corrupt a byte at RANK, to test the check"),
	APP_OPT_JSON,
	{ 0 }
};

static int take(void *to, int id, const char *value)
{
	struct options *o = to;

	switch (id) {
	case 'o':
		o->out = value;
		return -1;
	case OPT_CHUNK:
		return app_taken(app_number(o->app, "--chunk", value, 1, MAX_CHUNK,
					    &o->chunk));
	default:
		return app_option(o->app, id, value, &o->run);
	}
}

static const struct opts_command command = {
	.version = ANG_RELEASE,
	.usage = " [OPTION]... FILE",
	.what = "Broadcasts FILE from rank 0 to all processes and verifies the copies.",
	.opts = opts,
	.operands = "@file",
	.take = take,
};

static bool parse(struct app *app, int argc, char **argv, struct options *o)
{
	*o = (struct options) {
		.app = app, .chunk = DEFAULT_CHUNK, .run.flip = APP_NO_RANK,
	};
	if (!app_read(app, &command, o, argc, argv))
		return false;
	if (argc - optind != 1)
		app_bad_input(app, "needs one FILE, got %d; see %s --help",
			      argc - optind, tool_name);
	else
		o->file = argv[optind];
	return true;
}

/* Only the source needs the file; all other processes get its size. */
static void open_file(struct transfer *t)
{
	const char *file = t->opt->file;
	struct stat st;

	t->fd = -1;
	if (t->app->rank != SOURCE)
		return;
	t->fd = open(file, O_RDONLY);
	if (t->fd < 0 || fstat(t->fd, &st)) {
		app_bad_input(t->app, "%s: %s", file, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode))
		app_bad_input(t->app, "%s: not a regular file", file);
	t->size = (uint64_t)st.st_size;
}

static void open_out(struct transfer *t)
{
	char name[32];
	int err;

	t->out.fd = -1;
	if (!t->opt->out)
		return;
	snprintf(name, sizeof(name), "rank.%u", t->app->rank);
	err = outfile_open(&t->out, t->opt->out, name);
	if (err)
		app_bad_input(t->app, "--out %s: %s", t->opt->out,
			      strerror(-err));
}

static int share_size(struct transfer *t)
{
	uint64_t *sizes = calloc(t->app->size, sizeof(*sizes));
	int err;

	if (!sizes)
		return app_fail(t->app, -ENOMEM, "cannot exchange the size of the file");
	err = app_allgather(t->app, &t->size, sizeof(t->size), sizes);
	t->size = sizes[SOURCE];
	t->chunks = (t->size + t->opt->chunk - 1) / t->opt->chunk;
	free(sizes);
	return err;
}

static int prepare(struct transfer *t)
{
	size_t window = HEADER + t->opt->chunk;
	int err;

	open_file(t);
	open_out(t);
	err = app_agree(t->app);
	if (!err)
		err = share_size(t);
	if (!err)
		err = app_open(t->app);
	if (err)
		return err;
	if (!app_malloc_all(t->app, 2 * window, &t->windows) &&
	    (t->app->rank != SOURCE ||
	     !app_malloc(t->app, 2 * window, &t->stage)))
		t->coll = coll_open(t->app, t->opt->run.p2p, 1);
	return app_agree(t->app);
}

static uint64_t chunk_len(const struct transfer *t, uint64_t k)
{
	uint64_t left = t->size - k * t->opt->chunk;

	return left < t->opt->chunk ? left : t->opt->chunk;
}

static int read_full(int fd, char *data, uint64_t len)
{
	while (len) {
		ssize_t n = read(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		data += n;
		len -= (uint64_t)n;
	}
	return 0;
}

/* At the source: read chunk @k from the file into the stage. */
static void fill(struct transfer *t, const struct coll_bcast *b, uint64_t k)
{
	char *stage = (char *)angara_mr_addr(t->stage) + b->src_off;
	struct header h = { .len = chunk_len(t, k) };

	h.err = read_full(t->fd, stage + HEADER, h.len);
	memcpy(stage, &h, sizeof(h));
	if (!h.err)
		t->sent = (uint32_t)crc32_z(t->sent, (Bytef *)stage + HEADER,
					     h.len);
}

static int start_chunk(struct transfer *t, uint64_t k)
{
	struct coll_bcast *b = &t->bcast[k % 2];
	uint64_t off = k % 2 * (HEADER + t->opt->chunk);

	*b = (struct coll_bcast) {
		.source = SOURCE,
		.dst = t->windows,
		.dst_off = off,
		.src = t->stage,
		.src_off = off,
		.len = HEADER + chunk_len(t, k),
	};
	if (t->app->rank == SOURCE)
		fill(t, b, k);
	return t->coll->ops->bcast_start(t->coll, b);
}

/*
 * Read chunk @k from its window.  A process that cannot write its copy
 * continues, so that other processes need not wait for it.
 */
static int consume(struct transfer *t, uint64_t k)
{
	char *window = (char *)angara_mr_addr(t->windows) +
		       t->bcast[k % 2].dst_off;
	struct header h;
	int err;

	memcpy(&h, window, sizeof(h));
	if (h.err || h.len != chunk_len(t, k))
		return app_fail(t->app, 0, "%s: %s", t->opt->file,
				h.err == -ENODATA ? "the file was truncated while it was sent" :
				h.err ? strerror((int)-h.err) :
					"a chunk arrived with a wrong length");
	if (t->opt->run.flip == t->app->rank && !k)
		window[HEADER] ^= 1;
	t->got = (uint32_t)crc32_z(t->got, (Bytef *)window + HEADER, h.len);
	err = outfile_write(&t->out, window + HEADER, h.len);
	if (err) {
		app_fail(t->app, err, "%s", t->out.path);
		outfile_abort(&t->out);
	}
	return 0;
}

/*
 * Send all chunks.  Chunk k starts before the barrier after chunk k - 1, so it
 * is in flight while the slowest process reads chunk k - 1.
 */
static int transfer(struct transfer *t)
{
	const struct coll_ops *ops = t->coll->ops;
	uint64_t k;
	int err = 0;

	for (k = 0; k < t->chunks && !err; k++) {
		err = start_chunk(t, k);
		if (!err && k)
			err = ops->barrier_start(t->coll);
		if (!err)
			err = ops->bcast_finish(t->coll, &t->bcast[k % 2]);
		if (!err && k)
			err = ops->barrier_finish(t->coll);
		if (!err)
			err = consume(t, k);
	}
	return err;
}

/* Every process compares its checksum with that of the source. */
static int verify(struct transfer *t)
{
	uint32_t mine[2] = { t->sent, t->got };
	uint32_t *all = calloc(t->app->size, sizeof(mine));
	int err;

	if (!all)
		return app_fail(t->app, -ENOMEM, "checksums");
	err = app_allgather(t->app, mine, sizeof(mine), all);
	if (!err) {
		t->sent = all[2 * SOURCE];
		if (t->got != t->sent)
			err = app_fail(t->app, 0, "received data differ: CRC-32 "
				       "%08x instead of %08x", t->got, t->sent);
	}
	free(all);
	return err;
}

static void report(const struct transfer *t, double seconds)
{
	uint64_t packets = t->chunks ? (t->chunks - 1) *
		((HEADER + t->opt->chunk + ANGARA_PACKET_BYTES - 1) /
		 ANGARA_PACKET_BYTES) +
		(HEADER + chunk_len(t, t->chunks - 1) + ANGARA_PACKET_BYTES - 1) /
		ANGARA_PACKET_BYTES : 0;

	if (t->opt->run.json)
		printf("{\"program\":\"bcast-file\",\"mode\":\"%s\","
		       "\"ranks\":%u,\"bytes\":%llu,\"chunks\":%llu,"
		       "\"packets\":%llu,\"us\":%.1f,\"crc32\":\"%08x\","
		       "\"check\":\"ok\"}\n", t->coll->ops->name, t->app->size,
		       (unsigned long long)t->size,
		       (unsigned long long)t->chunks,
		       (unsigned long long)packets, seconds * 1e6, t->sent);
	else
		printf("bcast-file: %llu bytes to %u processes (%s): %llu chunks, "
		       "%llu packets, %.3f ms, %.1f MB/s, CRC-32 %08x ok\n",
		       (unsigned long long)t->size, t->app->size,
		       t->coll->ops->name, (unsigned long long)t->chunks,
		       (unsigned long long)packets, seconds * 1e3,
		       seconds > 0 ? (double)t->size / seconds * 1e-6 : 0,
		       t->sent);
}

static void run(struct transfer *t)
{
	double start, seconds;

	if (prepare(t))
		return;
	start = app_now();
	transfer(t);
	if (app_agree(t->app))
		return;
	seconds = app_now() - start;
	verify(t);
	if (app_agree(t->app))
		return;
	if (outfile_commit(&t->out))
		app_fail(t->app, 0, "cannot rename the received file to %s", t->out.path);
	if (app_agree(t->app))
		return;
	if (!t->app->rank)
		report(t, seconds);
	coll_close(t->coll);
}

int main(int argc, char **argv)
{
	struct transfer t = { .fd = -1, .out.fd = -1 };
	struct options opt;
	struct app app;
	int err = app_start(&app);

	if (err)
		return err;
	t.app = &app;
	t.opt = &opt;
	if (parse(&app, argc, argv, &opt) && !app_agree(&app))
		run(&t);
	outfile_abort(&t.out);
	if (t.fd >= 0)
		close(t.fd);
	return app_finish(&app);
}
