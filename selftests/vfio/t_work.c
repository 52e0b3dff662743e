// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adapters at work: transfers between machines, and machines that end.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

#define LEN		65536U
#define IN_FLIGHT	16

static struct angara_wqe put(struct tctx *from, struct tctx *to, u32 len)
{
	(void)from;
	return wqe_p2p(ANGARA_OP_PUT, to->node, to->id, 0, LEN, len);
}

static struct tctx *member(struct host *h, u32 node)
{
	struct tctx *c = ctx_new(h, node, 1, PKEY, 6, 6);

	ctx_buffer(c, 2 * LEN);
	return c;
}

static void check_put(struct tctx *from, struct tctx *to, u32 seed)
{
	struct angara_wqe w = put(from, to, LEN);
	u32 i;

	for (i = 0; i < LEN; i++)
		from->buf[i] = (char)(i * 7 + seed);
	post(from, &w, NULL);
	kick(from);
	EXPECT_EQ(wait_cq(from, NULL), ANGARA_ST_OK);
	EXPECT(!memcmp(from->buf, to->buf + LEN, LEN));
}

static void transfers(void)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *c[4];
	u32 i, k;

	for (i = 0; i < 4; i++)
		c[i] = member(h, i);
	for (i = 0; i < 4; i++)
		for (k = 0; k < 4; k++)
			if (i != k)
				check_put(c[i], c[k], i * 4 + k);
	for (i = 0; i < 4; i++)
		ctx_del(c[i]);
	host_free(h);
}

/* Broadcasts and reductions over four machines. */
static void collectives(void)
{
	struct host *h = host_new("", &cfg_default);
	struct angara_wqe w = wqe_coll(ANGARA_OP_ALLREDUCE, 3, 0, LEN, 4096);
	struct angara_tree_row row = { .tree = 3, .pe = 1, .pkey = PKEY,
				       .epoch = 1 };
	struct tctx *c[4];
	u32 i, k;

	/* A tree on a torus: 1 and 2 are children of 0, 3 is a child of 1. */
	static const struct {
		u8 root, up, n;
		u16 down;
	} rows[4] = {
		{ 1, ANGARA_PORT_NONE, 2, 1 << 0 | 1 << 2 },
		{ 0, 1, 1, 1 << 2 }, { 0, 3, 0, 0 }, { 0, 3, 0, 0 },
	};

	w.redop = ANGARA_RED_SUM;
	for (i = 0; i < 4; i++) {
		c[i] = member(h, i);
		row.is_root = rows[i].root;
		row.to_root = rows[i].up;
		row.port_sum = rows[i].n;
		row.ports = rows[i].down;
		EXPECT_EQ(adm_row(h, i, &row), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, i, ANGARA_ADM_JOIN, 1, 3), ANGARA_ADM_ST_OK);
		for (k = 0; k < 1024; k++)
			((u32 *)c[i]->buf)[k] = k * (i + 1);
	}
	for (i = 0; i < 4; i++) {
		post(c[i], &w, NULL);
		kick(c[i]);
	}
	for (i = 0; i < 4; i++) {
		EXPECT_EQ(wait_cq(c[i], NULL), ANGARA_ST_OK);
		for (k = 0; k < 1024; k++)
			EXPECT_EQ(((u32 *)(c[i]->buf + LEN))[k], k * 10);
	}
	/*
	 * One machine ends in the middle: the other machines get an error that
	 * names it.
	 */
	for (i = 0; i < 4; i++) {
		if (i == 2)
			continue;
		post(c[i], &w, NULL);
		kick(c[i]);
	}
	host_leave(h, 2);
	for (i = 0; i < 4; i++) {
		struct angara_cqe cqe;

		if (i == 2)
			continue;
		EXPECT(wait_cq(c[i], &cqe) != ANGARA_ST_OK);
		EXPECT_EQ(le32_to_cpu(cqe.node), 2);
	}
	host_free(h);
}

static void await_fatal(struct cl *cl)
{
	u32 want = ANGARA_STATUS_READY | ANGARA_STATUS_FATAL;
	u32 i;

	for (i = 0; i < 10000; i++) {
		if (cl_get(cl, 0, ANGARA_REG_STATUS, 4) == want)
			return;
		usleep(1000);
	}
	EXPECT_EQ(cl_get(cl, 0, ANGARA_REG_STATUS, 4), want);
}

/* The adapter does not access memory before the guest enables bus mastering. */
static void no_master(void)
{
	struct host *h = host_new("", &cfg_default);
	struct cl *cl = client_of(0);
	struct host_node *n = &h->node[0];
	struct angara_adm_cmd *at = &n->asq[0];

	cl_put(cl, CONFIG, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	at->opcode = ANGARA_ADM_NOP;
	host_reg(h, 0, ANGARA_REG_ASQ_DB, 1);
	await_fatal(cl);
	EXPECT(!memcmp(n->acq, (char[32]){ 0 }, 32));
	host_free(h);
}

/*
 * The guest unmaps the queues that the adapter needs for answers: a register
 * reports the error.
 */
static void no_queues(void)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *to = member(h, 1);
	struct cl *cl = client_of(0);

	EXPECT_EQ(cl_dma_unmap(cl, 0, MEMORY, 0), 0);
	host_reg(h, 0, ANGARA_REG_ASQ_DB, 1);
	await_fatal(cl);
	/*
	 * The server still works for other guests and, after a reset, for this
	 * guest.
	 */
	check_put(to, member(h, 2), 1);
	cl_put(cl, 0, ANGARA_REG_CONTROL, 4, 0);
	while (cl_get(cl, 0, ANGARA_REG_STATUS, 4))
		sched_yield();
	munmap(h->node[0].seg[0].mem, MEMORY);
	host_memory(h, 0);
	host_enable(h, 0);
	check_put(member(h, 0), to, 2);
	host_free(h);
}

/* Starts IN_FLIGHT puts each way. */
static void put_both_ways(struct tctx *from, struct tctx *to)
{
	struct angara_wqe w = put(from, to, LEN);
	struct angara_wqe back = put(to, from, LEN);
	u32 i;

	for (i = 0; i < IN_FLIGHT; i++) {
		post(from, &w, NULL);
		post(to, &back, NULL);
	}
	kick(from);
	kick(to);
}

/* The adapter is reset again and again while transfers are in flight. */
static void reset_at_work(bool flr)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *to = member(h, 1);
	struct angara_cqe cqe;
	u32 round, i;

	for (round = 0; round < 20; round++) {
		struct tctx *from = member(h, 0);

		put_both_ways(from, to);
		if (flr)
			cl_put(client_of(0), CONFIG, 0x60 + PCI_EXP_DEVCTL, 2,
			       PCI_EXP_DEVCTL_BCR_FLR);
		else
			EXPECT_EQ(cl_call(client_of(0), VFU_DEVICE_RESET, NULL,
					  0), 0);
		/* The adapter writes nothing after the reset. */
		memset(h->node[0].seg[0].mem, 0x5A, 1 << 20);
		for (i = 0; i < IN_FLIGHT; i++)
			wait_cq(to, &cqe);
		for (i = 0; i < 1 << 20; i++)
			EXPECT_EQ(h->node[0].seg[0].mem[i], 0x5A);
		memset(h->node[0].seg[0].mem, 0, 1 << 20);
		h->node[0].next = 0x10000;
		free(from);
		host_enable(h, 0);
	}
	ctx_del(to);
	host_free(h);
}

static void device_reset(void)
{
	reset_at_work(false);
}

static void function_reset(void)
{
	reset_at_work(true);
}

/* Machines that die with transfers in flight release their cards. */
static void hang_up(void)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *to = member(h, 1);
	u32 fds, round, i;

	check_put(to, member(h, 2), 1);
	fds = server_fds();
	for (round = 0; round < 20; round++) {
		struct tctx *from = member(h, 0);

		put_both_ways(from, to);
		host_leave(h, 0);
		/* Each operation ends, with or without an error. */
		for (i = 0; i < IN_FLIGHT; i++)
			wait_cq(to, NULL);
		free(from);
		host_rejoin(h, 0);
	}
	EXPECT_EQ(server_fds(), fds);
	EXPECT_EQ(server_maps(), 4);
	check_put(to, member(h, 0), 2);
	host_free(h);
}

/* Memory is unmapped while the adapter uses it, as with an IOMMU. */
static void unmap_at_work(void)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *from = member(h, 0);
	struct tctx *to = member(h, 1);
	struct angara_wqe w = put(from, to, LEN);
	u64 at = 1ULL << 32;
	u32 round, i, bad = 0;
	int fd = memfd(2 * LEN, true);

	to->mrt[BUF_KEY].addr = cpu_to_le64(at);
	for (round = 0; round < 50; round++) {
		EXPECT_EQ(cl_dma_map(client_of(1), at, 2 * LEN, 0, 3, fd), 0);
		for (i = 0; i < 8; i++)
			post(from, &w, NULL);
		kick(from);
		EXPECT_EQ(cl_dma_unmap(client_of(1), at, 2 * LEN, 0), 0);
		for (i = 0; i < 8; i++)
			bad += wait_cq(from, NULL) != ANGARA_ST_OK;
	}
	/* Without mappings all operations fail, and have no other effect. */
	for (i = 0; i < 8; i++)
		post(from, &w, NULL);
	kick(from);
	for (i = 0; i < 8; i++)
		EXPECT(wait_cq(from, NULL) != ANGARA_ST_OK);
	EXPECT(bad <= 400);
	EXPECT_EQ(server_maps(), 4);
	close(fd);
	host_free(h);
}

/* Each of four machines rings doorbells as often as it can. */
static void storm(void)
{
	struct host *h = host_new("", &cfg_default);
	struct tctx *c[4];
	u32 sent[4] = { 0 }, got[4] = { 0 };
	u32 i, k, done = 0;

	for (i = 0; i < 4; i++)
		c[i] = member(h, i);
	while (done < 4) {
		for (i = 0, done = 0; i < 4; i++) {
			struct angara_cqe cqe;

			for (k = 0; k < 4 && sent[i] < 400 &&
			     sent[i] - got[i] < 32; k++) {
				struct angara_wqe w = put(c[i], c[(i + 1 + k % 3) % 4],
							  777 * k);

				post(c[i], &w, NULL);
				kick(c[i]);
				sent[i]++;
			}
			while (poll_cq(c[i], &cqe)) {
				EXPECT_EQ(le16_to_cpu(cqe.status), ANGARA_ST_OK);
				got[i]++;
			}
			done += got[i] == 400;
		}
		sched_yield();
	}
	host_free(h);
}

const struct test_case work_cases[] = {
	{ "work: transfers between machines", transfers },
	{ "work: collectives, and a machine that ends", collectives },
	{ "work: no bus master, no DMA", no_master },
	{ "work: queues that are unmapped", no_queues },
	{ "work: the device is reset", device_reset },
	{ "work: the function is reset", function_reset },
	{ "work: machines that die", hang_up },
	{ "work: memory is unmapped during transfers", unmap_at_work },
	{ "work: all machines at once", storm },
	{ NULL, NULL },
};
