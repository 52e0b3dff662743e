// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registers, admin commands, asynchronous events.
 */
#include <string.h>

#include "test.h"

static const struct angara_tree_row row_one = {
	.tree = 5, .is_root = 1, .to_root = ANGARA_PORT_NONE, .pe = 1,
	.pkey = PKEY, .epoch = 3,
};

static void registers(void)
{
	struct host *h = host_new("4x3x2", &cfg_default);
	u32 off;

#define REG(off) ang_reg_read(&h->v, 7, ANGARA_REG_##off)
	EXPECT_EQ(REG(MAGIC), ANGARA_HW_MAGIC);
	EXPECT_EQ(REG(VERSION), ANGARA_HW_VERSION);
	EXPECT_EQ(REG(STATUS), ANGARA_STATUS_READY);
	EXPECT_EQ(REG(CONTROL), ANGARA_CONTROL_ENABLE);
	EXPECT_EQ(REG(NODE), 7);
	EXPECT_EQ(REG(NODES), 24);
	EXPECT_EQ(REG(PORTS), 6);
	EXPECT_EQ(REG(TREES), ANG_DEF_TREES);
	EXPECT_EQ(REG(CONTEXTS), 4);
	EXPECT_EQ(REG(FABRIC_LO), 0x55667788);
	EXPECT_EQ(REG(FABRIC_HI), 0x11223344);
	EXPECT_EQ(REG(ADM_ENTRIES), ADM_ENTRIES);
	EXPECT_EQ(REG(ASQ_DB), ~0U);
	EXPECT_EQ(ang_reg_read(&h->v, 24, 0), ~0U);
	EXPECT_EQ(ang_reg_read(&h->v, 7, 2), ~0U);
	EXPECT_EQ(ang_reg_read(&h->v, 7, ANGARA_DB_PAGE(0)), ~0U);
	/*
	 * Writes to registers that are read-only, absent or misaligned change
	 * nothing.
	 */
	for (off = 0; off < ANGARA_DB_PAGE(6); off += off < 0x100 ? 1 : 252)
		if (off != ANGARA_REG_CONTROL && off != ANGARA_REG_ASQ_DB)
			ang_reg_write(&h->v, 7, off, 0xFFFFFFFF);
	ang_reg_write(&h->v, 24, ANGARA_REG_CONTROL, 0);
	ang_reg_write(&h->v, 7, 0xFFFFFFFC, 1);
	host_run(h);
	EXPECT_EQ(REG(MAGIC), ANGARA_HW_MAGIC);
	EXPECT_EQ(REG(STATUS), ANGARA_STATUS_READY);
	EXPECT_EQ(REG(NODES), 24);
	EXPECT_EQ(adm_op(h, 7, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
	host_free(h);
}

static void enable_with(struct host *h, u32 entries, u32 aeq, u32 ready)
{
	host_reg(h, 0, ANGARA_REG_CONTROL, 0);
	host_run(h);
	EXPECT_EQ(ang_reg_read(&h->v, 0, ANGARA_REG_STATUS), 0);
	host_reg(h, 0, ANGARA_REG_ADM_ENTRIES, entries);
	host_reg(h, 0, ANGARA_REG_AEQ_ENTRIES, aeq);
	host_reg(h, 0, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(h);
	EXPECT_EQ(ang_reg_read(&h->v, 0, ANGARA_REG_STATUS), ready);
}

static void reset(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct host_node *n = &h->node[0];
	struct tctx *c;

	enable_with(h, 0, 64, 0);
	enable_with(h, 3, 64, 0);
	enable_with(h, 512, 64, 0);
	enable_with(h, 32, 1, 0);
	enable_with(h, 32, 0xFFFFFFFF, 0);
	/* A disabled adapter takes no command. */
	host_reg(h, 0, ANGARA_REG_ASQ_DB, 1);
	host_run(h);
	EXPECT_EQ(n->acq[0].phase, 0);
	enable_with(h, ADM_ENTRIES, AEQ_ENTRIES, ANGARA_STATUS_READY);
	/* A reset removes contexts and rows. */
	c = ctx_new(h, 0, 1, PKEY, 3, 3);
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_OK);
	enable_with(h, ADM_ENTRIES, AEQ_ENTRIES, ANGARA_STATUS_READY);
	memset(n->acq, 0, ADM_ENTRIES * sizeof(*n->acq));
	n->asq_pi = n->acq_ci = 0;
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_GET, 0, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 1, 0),
		  ANGARA_ADM_ST_ABSENT);
	free(c);
	host_free(h);
}

static u32 describe(struct host *h, u32 offset, u32 len, u64 addr, u32 *size)
{
	struct angara_adm_cmd cmd = {
		.opcode = ANGARA_ADM_DESCRIBE,
		.text = { cpu_to_le32(offset), cpu_to_le32(len), cpu_to_le64(addr) },
	};
	struct angara_adm_cpl cpl;
	u32 status = adm(h, 0, &cmd, &cpl);

	*size = le32_to_cpu(cpl.value);
	return status;
}

/* The text, read in pieces of any size, describes the torus. */
static void description(void)
{
	static const char *const sizes[] = { "2", "4x4x2", "1x10x3x1" };
	struct ang_topo_why why;
	struct ang_topo topo;
	char text[64];
	u32 i, at, size;

	for (i = 0; i < 3; i++) {
		struct host *h = host_new(sizes[i], &cfg_default);
		u64 addr;
		char *mem = host_alloc(h, 0, 4096, &addr);

		snprintf(text, sizeof(text), "torus:%s\n", sizes[i]);
		EXPECT_EQ(describe(h, 0, 4096, addr, &size), ANGARA_ADM_ST_OK);
		EXPECT_EQ(size, strlen(text));
		EXPECT(!memcmp(mem, text, size) && !mem[size]);
		memset(mem, 0, 4096);
		for (at = 0; at < size; at++)
			EXPECT_EQ(describe(h, at, 1, addr + at, &size),
				  ANGARA_ADM_ST_OK);
		EXPECT(!strcmp(mem, text));
		EXPECT_EQ(describe(h, size, 8, addr, &at), ANGARA_ADM_ST_OK);
		EXPECT_EQ(describe(h, size + 1, 8, addr, &at), ANGARA_ADM_ST_PARAM);
		EXPECT_EQ(describe(h, 0, 8, 1ULL << 60, &at), ANGARA_ADM_ST_DMA);
		EXPECT_EQ(ang_topo_read(&topo, mem, &why), h->nodes);
		EXPECT(!memcmp(&topo, &h->cfg.topo, sizeof(topo)));
		host_free(h);
	}
	EXPECT_EQ(ang_topo_read(&topo, "torus:65535x16", &why), 65535 * 16);
	EXPECT_EQ(ang_topo_read(&topo, "torus:", &why), 0);
	EXPECT_EQ(ang_topo_read(&topo, "torus", &why), 0);
	EXPECT_EQ(ang_topo_read(&topo, "torus:2x2x2x2x2x2x2\n", &why), 0);
	EXPECT_EQ(ang_topo_read(&topo, "torus:2 \n", &why), 0);
	EXPECT_EQ(ang_topo_read(&topo, "torus:0000000000000000000000000000000000000002\n", &why), 0);
}

/* A device has the number of trees that its configuration states. */
static void number_of_trees(void)
{
	static const u16 trees[] = { 1, 16, ANGARA_MAX_TREES };
	u32 i;

	for (i = 0; i < 3; i++) {
		struct angara_adm_cmd cmd = {
			.opcode = ANGARA_ADM_TREE_SET,
			.set.row = { .is_root = 1, .to_root = ANGARA_PORT_NONE,
				 .pe = cpu_to_le16(1), .pkey = cpu_to_le32(1) },
		};
		struct ang_cfg cfg = cfg_default;
		struct host *h;

		cfg.trees = trees[i];
		h = host_new("2", &cfg);
		EXPECT_EQ(ang_reg_read(&h->v, 0, ANGARA_REG_TREES), trees[i]);
		cmd.set.row.tree = (u8)(trees[i] - 1);
		EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, trees[i] - 1U),
			  ANGARA_ADM_ST_OK);
		cmd.set.row.tree = (u8)trees[i];
		EXPECT_EQ(adm(h, 0, &cmd, NULL), trees[i] < ANGARA_MAX_TREES ?
			  ANGARA_ADM_ST_PARAM : ANGARA_ADM_ST_RULE);
		host_free(h);
	}
}

static void bad_commands(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct angara_adm_cmd cmd;
	u32 i;

	for (i = ANGARA_ADM_NUM; i < 256; i++)
		EXPECT_EQ(adm_op(h, 0, i, 0, 0), ANGARA_ADM_ST_OPCODE);
	for (i = 0; i < ANGARA_ADM_NUM; i++) {
		EXPECT_EQ(adm_op(h, 0, i, 0, ANG_DEF_TREES),
			  ANGARA_ADM_ST_PARAM);
		memset(&cmd, 0, sizeof(cmd));
		cmd.opcode = (u8)i;
		cmd.reserved = 1;
		EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_PARAM);
		cmd.reserved = 0;
		cmd.place = 1;
		EXPECT_EQ(adm(h, 0, &cmd, NULL), i == ANGARA_ADM_JOIN ?
			  ANGARA_ADM_ST_ABSENT : ANGARA_ADM_ST_PARAM);
	}
	/* More commands than the queue holds are ignored, and the device continues. */
	host_reg(h, 0, ANGARA_REG_ASQ_DB, h->node[0].asq_pi + ADM_ENTRIES + 1);
	host_run(h);
	host_reg(h, 0, ANGARA_REG_ASQ_DB, h->node[0].asq_pi - 1);
	host_run(h);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_FENCE, 0, 0), ANGARA_ADM_ST_OK);
	host_free(h);
}

static u32 create(struct host *h, u32 id, u32 dom, u32 sq, u32 cq, u32 reserved)
{
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_CTX_CREATE };

	cmd.ctx = cpu_to_le16((u16)id);
	cmd.create.dom = cpu_to_le16((u16)dom);
	cmd.create.sq_log2 = (u8)sq;
	cmd.create.cq_log2 = (u8)cq;
	if (reserved)
		cmd.create.reserved[reserved - 1] = 1;
	return adm(h, 0, &cmd, NULL);
}

static u32 domain(struct host *h, u32 opcode, u32 dom, u64 job, u32 mrs,
		  u32 pkey)
{
	struct angara_adm_cmd cmd = { .opcode = (u8)opcode };

	cmd.ctx = cpu_to_le16((u16)dom);
	cmd.domain.job = cpu_to_le64(job);
	cmd.domain.mrs = cpu_to_le32(mrs);
	cmd.domain.pkey = cpu_to_le32(pkey);
	return adm(h, 0, &cmd, NULL);
}

#define DOM(op, dom, job, mrs, pkey, status)				\
	EXPECT_EQ(domain(h, ANGARA_ADM_DOMAIN_##op, dom, job, mrs, pkey),	\
		  ANGARA_ADM_ST_##status)

static void domains(void)
{
	struct host *h = host_new("2", &cfg_default);

	DOM(CREATE, 4, 0, 8, PKEY, PARAM);
	DOM(CREATE, 65535, 0, 8, PKEY, PARAM);
	DOM(CREATE, 1, 0, 8, 0, PARAM);
	DOM(CREATE, 1, 0, 65537, PKEY, PARAM);
	DOM(DESTROY, 1, 0, 0, 0, ABSENT);
	DOM(DESTROY, 4, 0, 0, 0, ABSENT);
	DOM(TABLE, 1, 0, 8, 0, ABSENT);
	DOM(CREATE, 1, 5, 65536, PKEY, OK);
	DOM(CREATE, 1, 5, 8, PKEY, EXISTS);
	DOM(TABLE, 1, 5, 8, 0, PARAM);
	DOM(TABLE, 1, 0, 8, PKEY, PARAM);
	DOM(TABLE, 1, 0, 65537, 0, PARAM);
	DOM(TABLE, 1, 0, 65536, 0, OK);
	DOM(TABLE, 4, 0, 8, 0, ABSENT);
	/* A domain can be destroyed only after its contexts. */
	EXPECT_EQ(create(h, 0, 1, 3, 3, 0), ANGARA_ADM_ST_OK);
	EXPECT_EQ(create(h, 3, 1, 3, 3, 0), ANGARA_ADM_ST_OK);
	DOM(DESTROY, 1, 0, 0, 0, EXISTS);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 3, 0),
		  ANGARA_ADM_ST_OK);
	DOM(DESTROY, 1, 0, 0, 0, EXISTS);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 0, 0),
		  ANGARA_ADM_ST_OK);
	DOM(DESTROY, 1, 0, 0, 0, OK);
	DOM(DESTROY, 1, 0, 0, 0, ABSENT);
	EXPECT_EQ(create(h, 0, 1, 3, 3, 0), ANGARA_ADM_ST_ABSENT);
	/* A reset removes all domains. */
	DOM(CREATE, 1, 5, 8, PKEY, OK);
	host_reg(h, 0, ANGARA_REG_CONTROL, 0);
	host_run(h);
	h->node[0].asq_pi = 0;
	h->node[0].acq_ci = 0;
	memset(h->node[0].acq, 0, ADM_ENTRIES * sizeof(*h->node[0].acq));
	host_reg(h, 0, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(h);
	DOM(DESTROY, 1, 0, 0, 0, ABSENT);
	host_free(h);
}

#undef DOM

static void contexts(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct tctx *c;
	u32 i;

	EXPECT_EQ(create(h, 0, 3, 3, 3, 0), ANGARA_ADM_ST_ABSENT);
	c = ctx_new(h, 0, 3, PKEY, 3, 3);
	EXPECT_EQ(create(h, 3, 3, 3, 3, 0), ANGARA_ADM_ST_EXISTS);
	EXPECT_EQ(create(h, 4, 3, 3, 3, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(create(h, 65535, 3, 3, 3, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(create(h, 0, 2, 3, 3, 0), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(create(h, 0, 65535, 3, 3, 0), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(create(h, 0, 3, 2, 3, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(create(h, 0, 3, 16, 3, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(create(h, 0, 3, 3, 2, 0), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(create(h, 0, 3, 3, 17, 0), ANGARA_ADM_ST_PARAM);
	for (i = 1; i <= 4; i++)
		EXPECT_EQ(create(h, 0, 3, 3, 3, i), ANGARA_ADM_ST_PARAM);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 2, 0),
		  ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_CTX_DESTROY, 4, 0),
		  ANGARA_ADM_ST_ABSENT);
	ctx_del(c);
	c = ctx_new(h, 0, 3, PKEY, 3, 3);
	ctx_del(c);
	host_free(h);
}

static void rows(void)
{
	struct host *h = host_new("3x3", &cfg_default);
	struct angara_adm_cmd get = { .opcode = ANGARA_ADM_TREE_GET, .tree = 5 };
	struct angara_tree_row row = row_one;
	struct angara_adm_cpl cpl;

	row.pkey = 0;
	EXPECT_EQ(adm_row(h, 0, &row), ANGARA_ADM_ST_PARAM);
	row = row_one;
	row.port_sum = 1;
	EXPECT_EQ(adm_row(h, 0, &row), ANGARA_ADM_ST_RULE);
	row.tree = 16;
	EXPECT_EQ(adm_row(h, 0, &row), ANGARA_ADM_ST_RULE);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_GET, 0, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5),
		  ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_EXISTS);
	EXPECT_EQ(adm(h, 0, &get, &cpl), ANGARA_ADM_ST_OK);
	EXPECT_EQ(cpl.row.tree, 5);
	EXPECT_EQ(cpl.row.is_root, 1);
	EXPECT_EQ(cpl.row.to_root, ANGARA_PORT_NONE);
	EXPECT_EQ(le16_to_cpu(cpl.row.pe), 1);
	EXPECT_EQ(le32_to_cpu(cpl.row.pkey), PKEY);
	EXPECT_EQ(le16_to_cpu(cpl.row.epoch), 3);
	EXPECT_EQ(cpl.row.state, ANGARA_TREE_STATE_UP);
	EXPECT_EQ(cpl.row.members, 0);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5), ANGARA_ADM_ST_OK);
	host_free(h);
}

static void membership(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct tctx *a = ctx_new(h, 0, 0, PKEY, 3, 3);
	struct tctx *b = ctx_new(h, 0, 1, PKEY, 3, 3);
	struct tctx *other = ctx_new(h, 0, 2, PKEY + 1, 3, 3);

	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 3, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 999, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 2, 5), ANGARA_ADM_ST_PARTITION);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_LEAVE, 0, 5), ANGARA_ADM_ST_ABSENT);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 0, 5), ANGARA_ADM_ST_EXISTS);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_FULL);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_LEAVE, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_JOIN, 1, 5), ANGARA_ADM_ST_DOWN);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5), ANGARA_ADM_ST_OK);
	ctx_del(a);
	ctx_del(b);
	ctx_del(other);
	host_free(h);
}

static void events(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct angara_hw_event ev;
	u32 i, before = h->node[0].interrupts[0];

	EXPECT(!aeq_poll(h, 0, &ev));
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
	EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5), ANGARA_ADM_ST_OK);
	EXPECT(aeq_poll(h, 0, &ev));
	EXPECT_EQ(ev.type, ANGARA_AEV_TREE_SET);
	EXPECT_EQ(le32_to_cpu(ev.index), 5);
	EXPECT(aeq_poll(h, 0, &ev));
	EXPECT_EQ(ev.type, ANGARA_AEV_TREE_DOWN);
	EXPECT_EQ(le32_to_cpu(ev.value), 0);
	EXPECT(aeq_poll(h, 0, &ev));
	EXPECT_EQ(ev.type, ANGARA_AEV_TREE_CLEAR);
	EXPECT(!aeq_poll(h, 0, &ev));
	EXPECT_EQ(h->node[0].interrupts[0] - before, 5);
	/* The driver reads no events: events without room are lost and counted. */
	for (i = 0; i < 30; i++) {
		EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
		EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_TREE_CLEAR, 0, 5),
			  ANGARA_ADM_ST_OK);
	}
	for (i = 0; i < AEQ_ENTRIES; i++) {
		EXPECT(aeq_poll(h, 0, &ev));
		EXPECT_EQ(ev.lost, 0);
	}
	EXPECT(!aeq_poll(h, 0, &ev));
	EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
	EXPECT(aeq_poll(h, 0, &ev));
	EXPECT_EQ(ev.type, ANGARA_AEV_TREE_SET);
	EXPECT_EQ(ev.lost, 90 - AEQ_ENTRIES);
	host_free(h);
}

static void counters(void)
{
	static const struct {
		u32 kind, index, len, status;
	} reads[] = {
		{ ANGARA_CNT_NODE, 0, sizeof(struct angara_hw_node_counters),
		  ANGARA_ADM_ST_OK },
		{ ANGARA_CNT_NODE, 0, sizeof(struct angara_hw_node_counters) - 1,
		  ANGARA_ADM_ST_PARAM },
		{ ANGARA_CNT_LINK, 3, sizeof(struct angara_hw_link_counters),
		  ANGARA_ADM_ST_OK },
		{ ANGARA_CNT_LINK, 4, 4096, ANGARA_ADM_ST_PARAM },
		{ ANGARA_CNT_TREE, 15, 4096, ANGARA_ADM_ST_OK },
		{ ANGARA_CNT_TREE, 16, 4096, ANGARA_ADM_ST_PARAM },
		{ ANGARA_CNT_CTX, 0, 4096, ANGARA_ADM_ST_PARAM },
		{ ANGARA_CNT_CTX, 4, 4096, ANGARA_ADM_ST_PARAM },
		{ 4, 0, 4096, ANGARA_ADM_ST_PARAM },
	};
	struct host *h = host_new("2x2", &cfg_default);
	struct angara_adm_cmd cmd = { .opcode = ANGARA_ADM_COUNTERS };
	char out[4096];
	u32 i;

	for (i = 0; i < NUM(reads); i++)
		EXPECT_EQ(adm_counters_get(h, 0, reads[i].kind, reads[i].index,
					   out, reads[i].len), reads[i].status);
	cmd.counters.addr = cpu_to_le64(0xBAD000);
	cmd.counters.length = cpu_to_le32(4096);
	EXPECT_EQ(adm(h, 0, &cmd, NULL), ANGARA_ADM_ST_DMA);
	EXPECT_EQ(h->faults, 1);
	host_free(h);
}

static u32 status_reg(struct host *h)
{
	host_run(h);
	return ang_reg_read(&h->v, 0, ANGARA_REG_STATUS);
}

/* Posts a command that the adapter does not answer. */
static void unanswered(struct host *h)
{
	struct host_node *n = &h->node[0];
	struct angara_adm_cpl *cpl = &n->acq[n->acq_ci % ADM_ENTRIES];

	n->asq[n->asq_pi++ % ADM_ENTRIES] = (struct angara_adm_cmd){ 0 };
	host_reg(h, 0, ANGARA_REG_ASQ_DB, n->asq_pi);
	host_run(h);
	EXPECT_EQ(cpl->phase & 1, !!(n->acq_ci & ADM_ENTRIES));
}

/*
 * If a queue is unreachable, only a register can report it.  The adapter uses
 * none of the queues until it is reset.
 */
static void fatal_queues(void)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		struct host *h = host_new("2", &cfg_default);
		struct host_node *n = &h->node[0];
		struct ang_admin *adm = &ang_node(h->fab, 0)->adm;
		u64 *queue[] = { &adm->asq, &adm->acq, &adm->aeq };
		u64 good = *queue[i];

		EXPECT_EQ(status_reg(h), ANGARA_STATUS_READY);
		*queue[i] = 0xDEAD0000;
		if (i < 2)
			unanswered(h);
		else
			EXPECT_EQ(adm_row(h, 0, &row_one), ANGARA_ADM_ST_OK);
		EXPECT_EQ(status_reg(h), ANGARA_STATUS_READY | ANGARA_STATUS_FATAL);
		*queue[i] = good;
		unanswered(h);
		EXPECT_EQ(h->faults, 1);
		enable_with(h, ADM_ENTRIES, AEQ_ENTRIES, ANGARA_STATUS_READY);
		memset(n->acq, 0, ADM_ENTRIES * sizeof(*n->acq));
		n->asq_pi = 0;
		n->acq_ci = 0;
		EXPECT_EQ(adm_op(h, 0, ANGARA_ADM_NOP, 0, 0), ANGARA_ADM_ST_OK);
		EXPECT_EQ(status_reg(h), ANGARA_STATUS_READY);
		host_free(h);
	}
}

static struct {
	u32 times, node, pkey, none;
	struct angara_tree_get set, unset;
	union ang_counters counters;
	u32 size, no_size;
} seen;

static void look(struct ang_view *v, u32 node)
{
	seen.times++;
	seen.node = node;
	seen.pkey = ang_look_ctx(v, node, 1);
	seen.none = ang_look_ctx(v, node, 0) | ang_look_ctx(v, node, 9999);
	ang_look_tree(v, node, row_one.tree, &seen.set);
	ang_look_tree(v, node, row_one.tree + 1, &seen.unset);
	seen.size = ang_look_counters(v, node, ANGARA_CNT_CTX, 1, &seen.counters);
	seen.no_size = ang_look_counters(v, node, ANGARA_CNT_LINK, 2,
					 &seen.counters);
	ang_look_counters(v, node, ANGARA_CNT_NODE, 0, &seen.counters);
}

/*
 * A host reads a node while another thread holds the node, and while no thread
 * holds it.
 */
static void looks(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct angara_hw_node_counters counters;
	struct tctx *c = ctx_new(h, 1, 1, PKEY, 3, 3);

	memset(&seen, 0, sizeof(seen));
	EXPECT_EQ(adm_row(h, 1, &row_one), ANGARA_ADM_ST_OK);
	ang_look(&h->v, 1);
	host_run(h);
	EXPECT_EQ(seen.times, 0);

	h->ops.look = look;
	host_freeze(h, 1, 1);
	ang_look(&h->v, 1);
	ang_look(&h->v, 1);
	host_run(h);
	EXPECT_EQ(seen.times, 0);
	host_freeze(h, 1, 0);
	host_run(h);
	EXPECT_EQ(seen.times, 1);
	EXPECT_EQ(seen.node, 1);
	EXPECT_EQ(seen.pkey, PKEY);
	EXPECT_EQ(seen.none, 0);
	EXPECT_EQ(seen.set.state, ANGARA_TREE_STATE_UP);
	EXPECT(!memcmp(&seen.set.row, &row_one, sizeof(row_one)));
	EXPECT_EQ(seen.unset.state, ANGARA_TREE_STATE_UNSET);
	EXPECT_EQ(seen.unset.row.tree, row_one.tree + 1);
	EXPECT_EQ(seen.size, sizeof(struct angara_hw_ctx_counters));
	EXPECT_EQ(seen.no_size, 0);
	adm_counters_get(h, 1, ANGARA_CNT_NODE, 0, &counters, sizeof(counters));
	EXPECT(!memcmp(&seen.counters.node, &counters, sizeof(counters)));
	EXPECT_EQ(seen.times, 1);

	EXPECT_EQ(adm_op(h, 1, ANGARA_ADM_TREE_CLEAR, 0, row_one.tree),
		  ANGARA_ADM_ST_OK);
	ctx_del(c);
	host_free(h);
}

/* A driver whose queues are unaligned reads no partially stored word. */
static void unaligned(void)
{
	struct host *h = host_new("2", &cfg_default);
	struct host_node *n = &h->node[0];
	u64 acq = ang_reg_read(&h->v, 0, ANGARA_REG_ACQ_LO);
	u64 aeq = ang_reg_read(&h->v, 0, ANGARA_REG_AEQ_LO);

	host_reg(h, 0, ANGARA_REG_CONTROL, 0);
	host_run(h);
	host_reg(h, 0, ANGARA_REG_ACQ_LO, (u32)acq + 4);
	host_reg(h, 0, ANGARA_REG_AEQ_LO, (u32)aeq + 4);
	host_reg(h, 0, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
	host_run(h);
	n->asq[0].opcode = ANGARA_ADM_TREE_SET;
	n->asq[0].set.row.is_root = 1;
	n->asq[0].set.row.to_root = ANGARA_PORT_NONE;
	n->asq[0].set.row.pe = cpu_to_le16(1);
	n->asq[0].set.row.pkey = cpu_to_le32(PKEY);
	host_reg(h, 0, ANGARA_REG_ASQ_DB, 1);
	host_run(h);
	EXPECT_EQ(ang_node(h->fab, 0)->tree[0].state, ANGARA_TREE_STATE_UP);
	EXPECT_EQ(n->acq[0].phase | n->aeq[0].phase, 0);
	EXPECT_EQ(n->interrupts[ANGARA_VEC_ADMIN], 0);
	EXPECT_EQ(h->faults, 0);
	EXPECT_EQ(status_reg(h), ANGARA_STATUS_READY | ANGARA_STATUS_FATAL);
	host_free(h);
}

const struct test_case admin_cases[] = {
	{ "admin: registers", registers },
	{ "admin: reset, and sizes that are refused", reset },
	{ "admin: number of trees", number_of_trees },
	{ "admin: description of the fabric", description },
	{ "admin: unknown commands, bad doorbells", bad_commands },
	{ "admin: domains", domains },
	{ "admin: contexts", contexts },
	{ "admin: rows", rows },
	{ "admin: joining and leaving", membership },
	{ "admin: asynchronous events", events },
	{ "admin: counters", counters },
	{ "admin: a host reads a node", looks },
	{ "admin: queues that are out of reach", fatal_queues },
	{ "admin: queues that are not aligned", unaligned },
	{ NULL, NULL },
};
