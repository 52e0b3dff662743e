// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured operations, and the check of their data.
 *
 * Each byte, or element, of a source and of a result is a function of rank,
 * iteration and offset.
 */
#include <errno.h>
#include <string.h>
#include "bench.h"

#define UNWRITTEN	0xA5

static int post_put(struct bench *b, size_t bytes)
{
	return APP_POST(angara_put_nbi(b->app.ctx, b->app.peers[b->to],
			      angara_mr_key(b->data), b->dst_off, b->data, 0,
			      bytes, b->how));
}

static int post_get(struct bench *b, size_t bytes)
{
	return APP_POST(angara_get_nbi(b->app.ctx, b->app.peers[b->to],
			      angara_mr_key(b->data), 0, b->data, b->dst_off,
			      bytes, b->how));
}

/* As in a broadcast of MPI, the buffer of rank 0 is the source. */
static int post_bcast(struct bench *b, size_t bytes)
{
	uint64_t at = b->dst_off + b->part;

	return APP_POST(angara_bcast_nbi(b->team, angara_mr_key(b->data), at,
				b->data, at, bytes, NULL));
}

/*
 * A barrier that rank 0 starts after the broadcast ends after the broadcast has
 * arrived everywhere: then each process knows that all processes have the data.
 */
static int post_bcast_barrier(struct bench *b, size_t bytes)
{
	int err = b->app.rank ? 0 : post_bcast(b, bytes);

	return err ? err : APP_POST(angara_barrier_nbi(b->team, NULL));
}

static int post_reduce(struct bench *b, size_t bytes)
{
	return APP_POST(angara_reduce_nbi(b->team, b->app.rank ? NULL : b->data,
				 b->dst_off + b->part, b->data, b->part,
				 bytes / sizeof(int64_t), ANGARA_TYPE_INT64,
				 ANGARA_RED_SUM, 0, NULL));
}

static int post_allreduce(struct bench *b, size_t bytes)
{
	return APP_POST(angara_allreduce_nbi(b->team, b->data, b->dst_off + b->part,
				    b->data, b->part,
				    bytes / sizeof(int64_t), ANGARA_TYPE_INT64,
				    ANGARA_RED_SUM, NULL));
}

static int post_barrier(struct bench *b, size_t bytes)
{
	(void)bytes;
	return APP_POST(angara_barrier_nbi(b->team, NULL));
}

static int post_allgather(struct bench *b, size_t bytes)
{
	return APP_POST(angara_bcast_nbi(b->team, angara_mr_key(b->data),
				b->dst_off + b->app.rank * bytes, b->data, 0,
				bytes, NULL));
}

const struct bench_op bench_ops[] = {
	{ .name = "put", .span = BENCH_OWN, .one_sided = true,
	  .from_root = true, .post = post_put },
	{ .name = "get", .span = BENCH_OWN, .one_sided = true,
	  .from_root = true, .post = post_get },
	{ .name = "bcast", .span = BENCH_TO_LAST, .from_root = true,
	  .in_place = true, .arrivals = 1, .spreads = true,
	  .post = post_bcast },
	{ .name = "bcast-barrier", .span = BENCH_OWN, .in_place = true,
	  .spreads = true,
	  .post = post_bcast_barrier },
	{ .name = "reduce", .span = BENCH_FROM_LAST, .elements = true, .spreads = true,
	  .post = post_reduce },
	{ .name = "allreduce", .span = BENCH_OWN, .elements = true, .spreads = true,
	  .post = post_allreduce },
	{ .name = "barrier", .span = BENCH_OWN, .no_size = true,
	  .post = post_barrier },
	{ .name = "allgather", .span = BENCH_OWN,
	  .arrivals = BENCH_ARRIVE_ALL, .post = post_allgather },
};

const unsigned int bench_num_ops = sizeof(bench_ops) / sizeof(bench_ops[0]);

/* Rank 0 may measure alone for a long time, so this wait has no deadline. */
int bench_sync(struct bench *b)
{
	int err = APP_POST(angara_barrier_nbi(b->team, NULL));

	if (!err)
		err = angara_quiet(b->app.ctx, ANGARA_FOREVER);
	return err ? app_fail(&b->app, err, "barrier") : 0;
}

/* Gets the greatest of the values of all processes. */
int bench_agree_max(struct bench *b, uint64_t mine, uint64_t *max)
{
	uint64_t *flag = angara_mr_addr(b->flag);
	int err;

	flag[0] = mine;
	err = angara_allreduce_nbi(b->team, b->flag, sizeof(*flag), b->flag, 0,
				   1, ANGARA_TYPE_UINT64, ANGARA_RED_MAX, NULL);
	if (!err)
		err = angara_quiet(b->app.ctx, ANGARA_FOREVER);
	*max = flag[1];
	return err ? app_fail(&b->app, err, "cannot exchange a value with the other processes") : 0;
}

/*
 * Return: number of parts of an operation: one part for each tree in use, but each part has at
 * least a packet.  The library splits reductions itself.
 */
static unsigned int parts_of(const struct bench *b, size_t bytes)
{
	size_t most = bytes / ANGARA_PACKET_BYTES;

	if (b->op->elements)
		return 1;
	return most < b->spread ? (most ? (unsigned int)most : 1) : b->spread;
}

/* Return: offset of part @nth, a multiple of a packet; @bytes if no part has this number. */
static size_t part_start(size_t bytes, unsigned int parts, unsigned int nth)
{
	return nth == parts ? bytes : bytes / ANGARA_PACKET_BYTES * nth / parts *
				      ANGARA_PACKET_BYTES;
}

/* Starts one operation, each part on its own tree. */
static int post(struct bench *b, size_t bytes)
{
	unsigned int parts = parts_of(b, bytes), i;
	unsigned int first = b->op->elements && b->spread > 1;
	int err = 0;

	for (i = 0; i < parts && !err; i++) {
		b->team = b->teams[first + i];
		b->part = part_start(bytes, parts, i);
		err = b->op->post(b, part_start(bytes, parts, i + 1) - b->part);
	}
	b->team = b->teams[0];
	b->part = 0;
	return err;
}

static int finish(struct bench *b, size_t bytes, bool posted)
{
	unsigned int arrivals = b->op->arrivals == BENCH_ARRIVE_ALL ?
				b->app.size : b->op->arrivals;
	unsigned int i;
	int err = 0;

	for (i = 0; arrivals && i < parts_of(b, bytes) && !err; i++) {
		b->arrived[i] += b->window * arrivals;
		err = angara_team_received_wait(b->teams[i], b->arrived[i],
						APP_TIMEOUT_MS);
	}
	if (!err && posted)
		err = angara_quiet(b->app.ctx, APP_TIMEOUT_MS);
	return err;
}

/*
 * Runs this process's part of one window of operations, and waits for their completion.  If rates
 * are measured, all puts or gets of the window share a doorbell.
 */
int bench_window(struct bench *b, size_t bytes)
{
	static const struct angara_op more = {
		.size = sizeof(more), .flags = ANGARA_MORE | ANGARA_SILENT,
	};
	bool posts = !b->op->from_root || !b->app.rank;
	uint64_t i;
	int err = 0;

	for (i = 0; posts && i < b->window && !err; i++) {
		b->how = b->mode == BENCH_RATE && i + 1 < b->window ? &more : NULL;
		err = post(b, bytes);
	}
	if (!err)
		err = finish(b, bytes, posts);
	return err ? app_fail(&b->app, err, "%s of %zu bytes failed", b->op->name,
			      bytes) : 0;
}

static unsigned char byte_of(unsigned int rank, unsigned int iter, size_t at)
{
	return (unsigned char)(rank * 59 + iter * 31 + at * 7 + at / 251);
}

static int64_t element_of(unsigned int rank, unsigned int iter, size_t at)
{
	return (rank + 1LL) * 1000003 - iter * 7919LL + (int64_t)at;
}

static void fill_source(struct bench *b, unsigned char *to, size_t bytes,
			unsigned int iter)
{
	size_t i;

	if (b->op->elements) {
		for (i = 0; i < bytes / sizeof(int64_t); i++)
			((int64_t *)(void *)to)[i] =
				element_of(b->app.rank, iter, i);
		return;
	}
	for (i = 0; i < bytes; i++)
		to[i] = byte_of(b->app.rank, iter, i);
}

static size_t result_bytes(const struct bench *b, size_t bytes)
{
	return b->op->arrivals == BENCH_ARRIVE_ALL ? b->app.size * bytes : bytes;
}

/* Overwrite the destination, so no data of an earlier iteration is left. */
void bench_fill(struct bench *b, size_t bytes, unsigned int iter)
{
	unsigned char *src = angara_mr_addr(b->data);
	unsigned char *dst = src + b->dst_off;

	memset(dst, UNWRITTEN, result_bytes(b, bytes));
	if (!b->op->in_place)
		fill_source(b, src, bytes, iter);
	else if (!b->app.rank)
		fill_source(b, dst, bytes, iter);
}

static bool has_result(const struct bench *b)
{
	if (b->op->one_sided)
		return b->app.rank == (b->op->post == post_put ? b->to : 0);
	return b->op->span != BENCH_FROM_LAST || !b->app.rank;
}

/* Rank whose bytes arrive at this offset of the result. */
static unsigned int source_of(const struct bench *b, size_t bytes, size_t at)
{
	if (b->op->arrivals == BENCH_ARRIVE_ALL)
		return (unsigned int)(at / bytes);
	return b->op->post == post_get ? (unsigned int)b->to : 0;
}

static int wrong(struct bench *b, size_t bytes, unsigned int iter, size_t at,
		 long long got, long long want)
{
	return app_fail(&b->app, 0, "wrong result: %s of %zu bytes, iteration "
			"%u, offset %zu: %lld, expected %lld", b->op->name,
			bytes, iter, at, got, want);
}

int bench_verify(struct bench *b, size_t bytes, unsigned int iter)
{
	const unsigned char *dst =
		(unsigned char *)angara_mr_addr(b->data) + b->dst_off;
	long long n = b->app.size;
	size_t i;

	if (!has_result(b))
		return 0;
	for (i = 0; b->op->elements && i < bytes / sizeof(int64_t); i++) {
		int64_t got = ((const int64_t *)(const void *)dst)[i];
		int64_t want = n * element_of(0, iter, i) +
			       n * (n - 1) / 2 * 1000003;

		if (got != want)
			return wrong(b, bytes, iter, i * sizeof(got), got, want);
	}
	for (i = 0; !b->op->elements && i < result_bytes(b, bytes); i++) {
		unsigned char want = byte_of(source_of(b, bytes, i), iter,
					     i % bytes);

		if (dst[i] != want)
			return wrong(b, bytes, iter, i, dst[i], want);
	}
	return 0;
}
