// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The smallest host of the device model: a ring of two nodes in one process. It
 * is also the driver: it creates a domain with a context on each node, then
 * node 0 puts a line into the memory of node 1.  DMA addresses are pointers.
 *
 *	cc -I libangara/env -I driver/model -I uapi \
 *	   Documentation/examples/model-host.c driver/model/ang_*.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ang_model.h"

#define NODES	2
#define ENTRIES	8
#define KEY	0x5EC2E70000ULL	/* of entry 0 of the table */
#define ADDR(p)	cpu_to_le64((u64)(unsigned long)(p))

/* One node's host memory. */
struct memory {
	struct angara_wqe sq[64];	/* a page */
	struct angara_cqe cq[128];	/* a page */
	__le64 ctr[ANGARA_CTR_NUM];	/* a page */
	struct angara_hw_mr mrt[128];	/* a page: the memory region table */
	struct angara_adm_cmd asq[ENTRIES];
	struct angara_adm_cpl acq[ENTRIES];
	struct angara_hw_event aeq[ENTRIES];
	struct angara_ctl ctl;
	__le64 sq_pages, cq_pages, mrt_pages;	/* lists of one page each */
	char data[64];
};

static struct memory mem[NODES] __attribute__((aligned(4096)));
static struct ang_view view;

static int dma_read(void *host, u32 node, u64 addr, void *buf, u32 len)
{
	(void)host, (void)node;
	memcpy(buf, (void *)(unsigned long)addr, len);
	return 0;
}

static int dma_write(void *host, u32 node, u64 addr, const void *buf, u32 len)
{
	(void)host, (void)node;
	memcpy((void *)(unsigned long)addr, buf, len);
	return 0;
}

static int dma_store64(void *host, u32 node, u64 addr, u64 val)
{
	(void)host, (void)node;
	ang_store_release((__le64 *)(unsigned long)addr, cpu_to_le64(val));
	return 0;
}

static void interrupt(void *host, u32 node, u32 vector)
{
	(void)host;
	printf("node %u: interrupt %u\n", node, vector);
}

static const struct ang_ops ops = {
	.dma_read = dma_read,
	.dma_write = dma_write,
	.dma_store64 = dma_store64,
	.interrupt = interrupt,
};

/* Writes a register, then runs the model until it has no work left. */
static void reg_write(u32 node, u32 off, u32 val)
{
	ang_reg_write(&view, node, off, val);
	while (ang_view_busy(&view))
		ang_run(&view, 100000);
}

static void write64(u32 node, u32 off, const void *to)
{
	reg_write(node, off, (u32)(unsigned long)to);
	reg_write(node, off + 4, (u32)((u64)(unsigned long)to >> 32));
}

static void bring_up(u32 node)
{
	struct memory *m = &mem[node];

	write64(node, ANGARA_REG_ASQ_LO, m->asq);
	write64(node, ANGARA_REG_ACQ_LO, m->acq);
	write64(node, ANGARA_REG_AEQ_LO, m->aeq);
	reg_write(node, ANGARA_REG_ADM_ENTRIES, ENTRIES);
	reg_write(node, ANGARA_REG_AEQ_ENTRIES, ENTRIES);
	reg_write(node, ANGARA_REG_CONTROL, ANGARA_CONTROL_ENABLE);
}

static void command(u32 node, u32 index)
{
	struct memory *m = &mem[node];

	reg_write(node, ANGARA_REG_ASQ_DB, index + 1);
	if (!m->acq[index].phase || m->acq[index].status) {
		fprintf(stderr, "node %u: command %u failed\n", node, index);
		exit(1);
	}
}

/* Creates a domain with one region, and a context in it. */
static void make_context(u32 node)
{
	struct memory *m = &mem[node];
	struct angara_adm_cmd *cmd = &m->asq[0];

	m->sq_pages = ADDR(m->sq);
	m->cq_pages = ADDR(m->cq);
	m->mrt_pages = ADDR(m->mrt);
	m->mrt[0] = (struct angara_hw_mr){
		.addr = ADDR(m->data),
		.length = cpu_to_le64(sizeof(m->data)),
		.access = ANGARA_ACCESS_ALL,
		.page_shift = 12,
		.valid = 1,
		.key = cpu_to_le64(KEY),
	};
	cmd->opcode = ANGARA_ADM_DOMAIN_CREATE;
	cmd->domain = (struct angara_adm_domain){
		.mrt = ADDR(&m->mrt_pages),
		.mrs = cpu_to_le32(1),
		.pkey = cpu_to_le32(1),
	};
	command(node, 0);
	cmd = &m->asq[1];
	cmd->opcode = ANGARA_ADM_CTX_CREATE;
	cmd->create = (struct angara_adm_ctx){
		.sq_log2 = 6,
		.cq_log2 = 7,
		.sq = ADDR(&m->sq_pages),
		.cq = ADDR(&m->cq_pages),
		.ctl = ADDR(&m->ctl),
		.ctr = ADDR(m->ctr),
	};
	command(node, 1);
}

int main(void)
{
	struct ang_cfg cfg = {
		.ctxs = 1, .ops = 4,
		.bufs = 8, .depth = 4, .train = 1, .trees = 1,
	};
	struct angara_wqe *wqe = &mem[0].sq[0];
	struct ang_topo_why why;
	void *fabric;
	u64 size;
	u32 node;

	if (ang_topo_read(&cfg.topo, "torus:2", &why) != NODES)
		return 1;
	size = (ang_fabric_size(&cfg) + 63) & ~63ULL;
	fabric = aligned_alloc(64, size);
	if (!fabric)
		return 1;
	memset(fabric, 0, size);
	if (!ang_fabric_init(fabric, &cfg, &why))
		return 1;
	ang_view_init(&view, fabric, &ops, NULL);
	for (node = 0; node < NODES; node++) {
		bring_up(node);
		make_context(node);
	}

	strcpy(mem[0].data, "hello from node 0");
	wqe->opcode = ANGARA_OP_PUT;
	wqe->dst_node = cpu_to_le32(1);
	wqe->rkey = cpu_to_le64(KEY);
	wqe->length = cpu_to_le32(sizeof(mem[0].data));
	reg_write(0, ANGARA_DB_PAGE(0) + ANGARA_DB_SQ, 1);

	printf("status %u, %u bytes; node 1 has \"%s\"\n",
	       le16_to_cpu(mem[0].cq[0].status),
	       le32_to_cpu(mem[0].cq[0].length), mem[1].data);
	free(fabric);
	return strcmp(mem[0].data, mem[1].data) != 0;
}
