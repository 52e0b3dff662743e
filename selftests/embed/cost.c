// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Costs of operations on an embedded fabric, in one process with a context on
 * each node.  All work of an operation, on all nodes, happens in the calls of
 * measured(), so a tool that counts within that function counts the operation.
 *
 *	cost run OPERATION COUNT	on 2 nodes, for a tool that counts
 *	cost quiet OPERATION COUNT	as run; a system call kills the program, an
 *                                         allocation makes it fail
 *	cost copies OPERATION NODES	bytes of payload copied, in units of the
 *					operation's length
 *	cost rings			doorbells of a batch of 64 puts
 *	cost memory			bytes per node and per context
 *
 * The program is linked with its own memcpy() and allocator, see below.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <angara/angara.h>

#include "../common/quiet.h"
#include "members.h"
#include "embed/embed.h"
#include "ang_types.h"

#define LEN	8
#define DOUBLES	64U
#define BULK	(1U << 20)
#define WARM_UP	100	/* rounds that include all one-time work */

static unsigned int nodes = 2;
static unsigned long copied, allocated;

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

/*
 * Counts copies of payload: packet heads and descriptors are shorter than a
 * packet's payload.
 */
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	if (n >= ANGARA_PACKET_BYTES)
		copied += n;
	return __real_memcpy(to, from, n);
}

void *__wrap_malloc(size_t n)
{
	allocated++;
	return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allocated++;
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	allocated++;
	return __real_realloc(p, n);
}

static void put(u32 i)
{
	CHECK(angara_put_inline(member[0].ctx, peers[1],
				angara_mr_key(member[1].mr), 0, &i, LEN));
}

/* Puts to the node farthest from the first one. */
static void long_put(u32 i)
{
	(void)i;
	CHECK(angara_put(member[0].ctx, peers[nodes / 2],
			 angara_mr_key(member[0].mr), 0, member[0].mr, 0, BULK));
}

static void finish(unsigned int i)
{
	CHECK(angara_quiet(member[i].ctx, ANGARA_FOREVER));
}

static void bcast_of(size_t len, u32 i)
{
	u32 n;

	CHECK(angara_bcast_nbi(&member[0].team, angara_mr_key(member[0].mr), 0,
			       member[0].mr, 0, len, NULL));
	for (n = 1; n < nodes; n++)
		CHECK(angara_team_received_wait(&member[n].team, i + 1,
						ANGARA_FOREVER));
	finish(0);
}

static void bcast(u32 i)
{
	bcast_of(LEN, i);
}

static void long_bcast(u32 i)
{
	bcast_of(BULK, i);
}

/* Inlined in each caller, so that no call is counted. */
static inline __attribute__((always_inline)) void sum(u32 type, size_t count)
{
	u32 n;

	for (n = 0; n < nodes; n++)
		CHECK(angara_allreduce_nbi(&member[n].team, member[n].mr, 1024,
					   member[n].mr, 0, count, type,
					   ANGARA_RED_SUM, NULL));
	for (n = 0; n < nodes; n++)
		finish(n);
}

static void allreduce(u32 i)
{
	(void)i;
	sum(ANGARA_TYPE_INT64, LEN / sizeof(u64));
}

/*
 * Operands of two packets whose sums are rounded; the first operand is
 * rewritten each time.
 */
static void doubles(u32 i)
{
	double *v;
	u32 n, k;

	for (n = 0; n < nodes; n++) {
		v = angara_mr_addr(member[n].mr);
		for (k = 0; !v[k] && k < DOUBLES; k++)
			v[k] = (i % 7 + 1) / (3.0 + k + n);
	}
	sum(ANGARA_TYPE_DOUBLE, DOUBLES);
}

static void barrier(u32 i)
{
	u32 n;

	(void)i;
	for (n = 0; n < nodes; n++)
		CHECK(angara_barrier_nbi(&member[n].team, NULL));
	for (n = 0; n < nodes; n++)
		finish(n);
}

static void send_one(u32 i)
{
	struct angara_head head = { .size = sizeof(head), .tag = i };
	struct angara_message msg = { .size = sizeof(msg) };

	CHECK(angara_send_inline_nbi(member[0].ctx, peers[1], &head, &i, LEN,
				     NULL));
	CHECK(angara_msg_wait(member[1].ctx, ANGARA_FOREVER, &msg));
	CHECK(angara_msg_free(member[1].ctx, &msg));
	finish(0);
}

static void fetch_add(u32 i)
{
	const u64 x = i;
	u64 old;

	CHECK(angara_fetch(member[0].ctx, peers[1],
			   angara_mr_key(member[1].mr), 0, &x, 1,
			   ANGARA_TYPE_UINT64, ANGARA_ATOMIC_SUM, &old));
}

/* Polls an empty completion queue. */
static void look(u32 i)
{
	struct angara_completion c;

	(void)i;
	CHECK(angara_poll(member[0].ctx, &c, 1));
}

static const struct {
	const char *name;
	void (*run)(u32 i);
} ops[] = {
	{ "send", send_one }, { "fetch_add", fetch_add }, { "look", look },
	{ "put", put }, { "allreduce", allreduce }, { "doubles", doubles },
	{ "bcast", bcast },
	{ "barrier", barrier }, { "long_put", long_put },
	{ "long_bcast", long_bcast },
};

void measured(void (*run)(u32 i), u32 first, u32 count);

/* A separate function in every build, so that tools can find it. */
void __attribute__((noipa)) measured(void (*run)(u32 i), u32 first, u32 count)
{
	u32 i;

	for (i = first; i < first + count; i++)
		run(i);
}

static void memory(void)
{
	const struct emb_dev *d = member[0].ctx->dev.priv;
	const struct ang_fabric *fab = emb_model(d->fab, emb_copy(d->fab));
	const struct ang_cfg *cfg = &fab->cfg;
	u64 ctx = sizeof(struct ang_ctx) + cfg->ops * sizeof(struct ang_op) +
		  sizeof(struct emb_ctx);

	printf("%llu bytes per node\n", fab->stride + fab->pe_size +
	       d->fab->head->node_size + ANGARA_PAGE_SIZE - cfg->ctxs * ctx);
	printf("%llu bytes per context\n", ctx + d->mem_len);
}

static const struct ang_dev_ops *real_ops;
static unsigned long rung;

static int ring(struct ang_dev *dev, u32 pi)
{
	rung++;
	return real_ops->doorbell(dev, pi);
}

/* Counts the doorbells of 64 puts, all but the last one with ANGARA_MORE. */
static void rings(void)
{
	struct ang_dev *dev = &member[0].ctx->dev;
	struct ang_dev_ops counting = *dev->ops;
	struct angara_op op = { .size = sizeof(op), .flags = ANGARA_MORE };
	u32 i;

	real_ops = dev->ops;
	counting.doorbell = ring;
	dev->ops = &counting;
	for (i = 0; i < 64; i++) {
		op.cookie = i;
		op.flags = i < 63 ? ANGARA_MORE | ANGARA_SILENT : ANGARA_SILENT;
		CHECK(angara_put_inline_nbi(member[0].ctx, peers[1],
					    angara_mr_key(member[1].mr), 0, &i,
					    sizeof(i), &op));
	}
	CHECK(angara_quiet(member[0].ctx, ANGARA_FOREVER));
	dev->ops = real_ops;
	printf("%lu\n", rung);
}

static int run(const char *how, void (*op)(u32 i), u32 count)
{
	if (!strcmp(how, "copies")) {
		nodes = count;
		count = 1;
	}
	member_area = op == send_one ? ANGARA_MIN_MSG_BYTES : 0;
	team_set_up(nodes, BULK);
	measured(op, 0, WARM_UP);
	copied = 0;
	allocated = 0;
	if (!strcmp(how, "quiet"))
		forbid_system_calls();
	measured(op, WARM_UP, count);
	if (!strcmp(how, "quiet"))
		_exit(allocated != 0);
	if (!strcmp(how, "copies"))
		printf("%lu.%02lu\n", copied / BULK,
		       copied % BULK * 100 / BULK);
	return 0;
}

int main(int argc, char **argv)
{
	u32 i;

	if (argc == 2 && !strcmp(argv[1], "memory")) {
		team_set_up(nodes, BULK);
		memory();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "rings")) {
		team_set_up(nodes, BULK);
		rings();
		return 0;
	}
	for (i = 0; argc == 4 && i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, argv[2]))
			return run(argv[1], ops[i].run, (u32)atoi(argv[3]));
	errx(2, "usage: cost run|quiet|copies OPERATION COUNT, or cost rings|memory");
}
